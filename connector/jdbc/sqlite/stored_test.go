package sqlite

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// TestStoredRows: rows that the table's own triggers or clauses take away again fail the write, however
// they do it, and nothing is kept.
func TestStoredRows(t *testing.T) {
	for _, staging := range []string{"false", "true"} {
		for _, c := range []struct {
			name, want string
			ddl        []string
		}{
			{"one deleted after", "1 of 1,000 rows were not stored; table t has triggers: g",
				[]string{"CREATE TABLE t (id INT, s TEXT)", "CREATE TRIGGER g AFTER INSERT ON t WHEN NEW.id = 900 BEGIN DELETE FROM t WHERE id = NEW.id; END"}},
			{"all deleted after", "1,000 of 1,000 rows were not stored; table t has triggers: g",
				[]string{"CREATE TABLE t (id INT, s TEXT)", "CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END"}},
			{"duplicates replaced", "999 of 1,000 rows were not stored, or took the place of others; table t has the clause ON CONFLICT REPLACE or IGNORE",
				[]string{"CREATE TABLE t (id INT, s TEXT UNIQUE ON CONFLICT REPLACE)"}},
			{"key replaced", "1 of 1,000 rows were not stored, or took the place of others; table t has the clause ON CONFLICT REPLACE or IGNORE; 'sink.on-conflict' = 'update' allows it for the primary key",
				[]string{"CREATE TABLE t (id INTEGER PRIMARY KEY ON CONFLICT REPLACE, s TEXT)", "INSERT INTO t VALUES (5, 'was')"}},
			{"ignored", "1 of 1,000 rows were not stored; table t has the clause ON CONFLICT REPLACE or IGNORE; 'sink.on-conflict' = 'ignore' allows it for the primary key",
				[]string{"CREATE TABLE t (id INTEGER PRIMARY KEY ON CONFLICT IGNORE, s TEXT)", "INSERT INTO t VALUES (5, 'was')"}},
		} {
			t.Run(c.name+" "+staging, func(t *testing.T) {
				path := file(t, c.ddl...)
				before := one(t, path, "SELECT count(*) || coalesce(max(s), '') FROM t")
				s := NewStore(path, map[string]string{"sink.staging": staging}, newEnv())
				_, _, err := write(NewTransaction(Target{Store: s, Table: "t", Columns: numbersSchema().Columns}), batches(numbers(1, 500), numbers(501, 500)))
				require.EqualError(t, err, c.want)
				require.Equal(t, before, one(t, path, "SELECT count(*) || coalesce(max(s), '') FROM t"))
			})
		}
		// A trigger that adds rows is no fault.
		path := file(t, "CREATE TABLE t (id INT, s TEXT)", "CREATE TRIGGER g AFTER INSERT ON t WHEN NEW.id < 10000 BEGIN INSERT INTO t VALUES (NEW.id + 10000, 'more'); END")
		s := NewStore(path, map[string]string{"sink.staging": staging}, newEnv())
		n, _, err := write(NewTransaction(Target{Store: s, Table: "t", Columns: numbersSchema().Columns}), batches(numbers(1, 500)))
		require.NoError(t, err)
		require.EqualValues(t, 500, n)
		require.Equal(t, "1000", one(t, path, "SELECT count(*) FROM t"))
	}
}

// TestForeignKeys: rows without a parent are refused, whenever the key is checked; rows of one statement
// may be each other's parents; orphans that were there before do not matter.
func TestForeignKeys(t *testing.T) {
	for _, kind := range []string{"delete", "wal"} {
		for _, staging := range []string{"false", "true"} {
			for _, clause := range []string{"", " DEFERRABLE INITIALLY DEFERRED"} {
				path := file(t, "PRAGMA journal_mode = "+kind, "CREATE TABLE par (i INTEGER PRIMARY KEY)", "INSERT INTO par VALUES (1), (2), (3)",
					"CREATE TABLE t (id INTEGER REFERENCES par (i)"+clause+", s TEXT)", "INSERT INTO t VALUES (77, 'an orphan')",
					"CREATE TABLE tree (id INTEGER PRIMARY KEY, up INTEGER REFERENCES tree)")
				s := NewStore(path, map[string]string{"sink.staging": staging}, newEnv())
				_, _, err := write(NewTransaction(Target{Store: s, Table: "t", Columns: numbersSchema().Columns}), batches(numbers(1, 3), numbers(4, 1)))
				require.EqualError(t, err, "table t: FOREIGN KEY constraint failed: no row of table par has i = 4 (id of table t)")
				require.Equal(t, "1", one(t, path, "SELECT count(*) FROM t"))
				n, _, err := write(NewTransaction(Target{Store: s, Table: "t", Columns: numbersSchema().Columns}), batches(numbers(1, 3)))
				require.NoError(t, err)
				require.EqualValues(t, 3, n)
				b := column.NewBatch([]types.Type{types.Of(types.BigInt), types.Of(types.BigInt)}, 2)
				ints(b.Cols[0], 1, 2)
				ints(b.Cols[1], 2, 1)
				b.N = 2
				tree := []types.Column{{Name: "id", Type: types.Of(types.BigInt)}, {Name: "up", Type: types.Of(types.BigInt)}}
				_, _, err = write(NewTransaction(Target{Store: s, Table: "tree", Columns: tree}), batches(b))
				require.NoError(t, err)
				b = column.NewBatch([]types.Type{types.Of(types.BigInt), types.Of(types.BigInt)}, 2)
				ints(b.Cols[0], 3, 4)
				ints(b.Cols[1], 4, 5)
				b.N = 2
				_, _, err = write(NewTransaction(Target{Store: s, Table: "tree", Columns: tree}), batches(b))
				require.EqualError(t, err, "table tree: FOREIGN KEY constraint failed: no row of table tree has id = 5 (up of table tree)")
			}
		}
	}
}
