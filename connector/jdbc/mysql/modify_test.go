package mysql

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// A row that a foreign key's cascade deletes before its turn comes is one that was to go; one that is not there at all is
// not.
func TestDeleteCascades(t *testing.T) {
	f := setUp(t)
	remove := func(tab *Table, keys ...int) (int64, error) {
		tx, err := tab.Modify(f.ctx, connector.Modify{})
		require.NoError(t, err)
		b := column.NewBatch([]types.Type{types.Of(types.Int)}, len(keys))
		for _, k := range keys {
			b.Cols[0].AppendI64(int64(k))
		}
		b.N = len(keys)
		n, err := f.write(tx, b)
		if err != nil {
			require.NoError(t, tx.Abort(f.ctx))
			return n, err
		}
		out, err := tx.Commit(f.ctx)
		require.Equal(t, connector.Done, out)
		return n, err
	}
	for _, ddl := range []string{
		"CREATE TABLE s (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES s (id) ON DELETE CASCADE) ENGINE=InnoDB",
		// The way back leads over another table.
		"CREATE TABLE s (id INT PRIMARY KEY, p INT) ENGINE=InnoDB; CREATE TABLE o (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES s (id) ON DELETE CASCADE) ENGINE=InnoDB; ALTER TABLE s ADD FOREIGN KEY (p) REFERENCES o (id) ON DELETE CASCADE",
	} {
		f.sql("SET foreign_key_checks=0; DROP TABLE IF EXISTS s, o; SET foreign_key_checks=1; " + ddl + "; INSERT INTO s VALUES (1, NULL), (2, NULL), (3, NULL), (4, NULL), (5, NULL)")
		if f.sql("SHOW TABLES LIKE 'o'") != "" {
			f.sql("INSERT INTO o SELECT id FROM s")
		}
		f.sql("UPDATE s SET p = 1 WHERE id IN (2, 3); UPDATE s SET p = 3 WHERE id = 4")
		tab := f.open("s")
		_, err := remove(tab, 1, 2, 99)
		require.ErrorContains(t, err, "3 rows of table s were to be deleted, and 2 of them are there: others were at it")
		require.Equal(t, "5\n", f.sql("SELECT COUNT(*) FROM s"))
		n, err := remove(tab, 1, 2, 4)
		require.NoError(t, err)
		require.EqualValues(t, 3, n)
		require.Equal(t, "5\n", f.sql("SELECT id FROM s"))
		n, err = remove(tab, 5)
		require.NoError(t, err)
		require.EqualValues(t, 1, n)
	}
	require.Empty(t, f.ours())
}

// Two codes of a character set that are one character here do not tell rows apart: the other row would be deleted.
func TestRowKeyOfTwoCodes(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE c (s VARCHAR(10) CHARACTER SET cp932 COLLATE cp932_bin PRIMARY KEY, n INT) ENGINE=InnoDB; INSERT INTO c VALUES (_cp932 x'ED40', 1), (_cp932 x'FA5C', 2)")
	require.Equal(t, "纊|1\n纊|2\n", f.text(f.open("c")))
	_, err := f.open("c").RowKey(f.ctx)
	require.ErrorContains(t, err, "by which its rows could be told apart (index PRIMARY: column s has the character set cp932, which has two codes for some characters)")
	f.sql("ALTER TABLE c ADD UNIQUE u (n), MODIFY n INT NOT NULL")
	key, err := f.open("c").RowKey(f.ctx)
	require.NoError(t, err)
	require.Equal(t, []int{1}, key.Columns)
}
