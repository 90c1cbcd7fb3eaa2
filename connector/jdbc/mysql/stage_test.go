package mysql

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
)

// A table is there with all its rows, or not at all; nothing of ours stays.
func TestStage(t *testing.T) {
	f := setUp(t)
	tx := f.stage("t", server.Create, schema(t, "a INT"))
	n, err := f.write(tx, numbers(0, 2000), numbers(2000, 500))
	require.NoError(t, err)
	require.EqualValues(t, 2500, n)
	names, err := f.s.ListTables(f.ctx, f.db)
	require.NoError(t, err)
	require.Empty(t, names)
	out, err := tx.Commit(f.ctx)
	require.NoError(t, err)
	require.Equal(t, connector.Done, out)
	out, err = tx.Commit(f.ctx) // repeatable
	require.NoError(t, err)
	require.Equal(t, connector.Done, out)
	require.NoError(t, tx.Abort(f.ctx))
	require.Equal(t, "2500\t3123750\n", f.sql("SELECT COUNT(*), SUM(a) FROM t"))
	require.Empty(t, f.ours())

	tx = f.stage("t2", server.Create, schema(t, "a INT"))
	_, err = f.write(tx, numbers(0, 10))
	require.NoError(t, err)
	require.NoError(t, tx.Abort(f.ctx))
	require.NoError(t, tx.Abort(f.ctx))
	require.Empty(t, f.ours())
	require.Equal(t, "t\n", f.sql("SHOW TABLES"))

	// A replaced table stands to the end.
	tx = f.stage("t", server.Replace, schema(t, "a INT", "b STRING"))
	require.NoError(t, tx.Begin(f.ctx, connector.NewJobID()))
	require.Equal(t, "2500\n", f.sql("SELECT COUNT(*) FROM t"))
	_, err = tx.Seal(f.ctx)
	require.NoError(t, err)
	out, err = tx.Commit(f.ctx)
	require.NoError(t, err)
	require.Equal(t, connector.Done, out)
	require.Equal(t, "0\n", f.sql("SELECT COUNT(b) FROM t"))
	require.Empty(t, f.ours())
}

// Rows go into a table that is there in one transaction.
func TestInsert(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE t (a INT NOT NULL PRIMARY KEY) ENGINE=InnoDB; INSERT INTO t VALUES (5)")
	tab := f.open("t")
	tx, err := tab.Transaction(f.ctx, connector.Insert{Columns: []int{0}})
	require.NoError(t, err)
	require.EqualValues(t, 100, f.done(tx, numbers(10, 100)))
	require.Equal(t, "101\n", f.sql("SELECT COUNT(*) FROM t"))

	tx, err = tab.Transaction(f.ctx, connector.Insert{Columns: []int{0}})
	require.NoError(t, err)
	tx.(connector.Evident).NoteEvidence(func(string) error { return nil })
	_, err = f.write(tx, numbers(200, 50), numbers(3, 4))
	require.ErrorContains(t, err, "table t, row 53: duplicate key '5' of 'PRIMARY'")
	require.NoError(t, tx.Abort(f.ctx))
	require.Equal(t, "101\n", f.sql("SELECT COUNT(*) FROM t"))
	require.Empty(t, f.ours())
}
