package sqlite

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// keyedTable opens the table t of a file, whose columns are a text k and a number n.
func keyedTable(t *testing.T, path string, options map[string]string) *Table {
	schema := types.Schema{Columns: []types.Column{{Name: "k", Type: types.String()}, {Name: "n", Type: types.Of(types.BigInt)}}}
	table, err := NewStore(path, options, newEnv()).OpenTable(context.Background(), "t", schema)
	require.NoError(t, err)
	return table
}

// keyedRows are rows of a text and the number n, each to be deleted where the text has a minus before it.
func keyedRows(n int64, texts ...string) *column.Batch {
	b := column.NewBatch([]types.Type{types.String(), types.Of(types.BigInt)}, 0)
	for _, text := range texts {
		kind := types.Insert
		if text[0] == '-' {
			kind, text = types.Delete, text[1:]
		}
		b.Kind = append(b.Kind, kind)
		b.Cols[0].AppendString(text)
		b.Cols[1].AppendI64(n)
		b.N++
	}
	return b
}

// looseKeys are tables, and what is said where a row with another key could be lost.
var looseKeys = []struct{ ddl, want string }{
	{"CREATE TABLE t (k TEXT COLLATE NOCASE PRIMARY KEY, n INT)", "column k of the PRIMARY KEY has the collation NOCASE"},
	{"CREATE TABLE t (k TEXT COLLATE nocase PRIMARY KEY, n INT) WITHOUT ROWID", "column k of the PRIMARY KEY has the collation nocase"},
	{"CREATE TABLE t (k TEXT NOT NULL, n INT, PRIMARY KEY (k COLLATE RTRIM))", "column k of the PRIMARY KEY has the collation RTRIM"},
	{"CREATE TABLE t (n INT NOT NULL, k TEXT COLLATE NOCASE NOT NULL, PRIMARY KEY (n, k))", "column k of the PRIMARY KEY has the collation NOCASE"},
	{"CREATE TABLE t (k COLLATE RTRIM PRIMARY KEY, n INT)", "column k of the PRIMARY KEY has the collation RTRIM"},
	{"CREATE TABLE t (k TEXT PRIMARY KEY, n INT); CREATE UNIQUE INDEX u ON t (k COLLATE NOCASE)", `column k of the unique index u has the collation NOCASE, under which texts are equal that differ here, such as 'a' and 'A', or 'a' and 'a '; DROP INDEX "u"`},
	{"CREATE TABLE t (n INT, k TEXT, PRIMARY KEY (n, k)); CREATE UNIQUE INDEX u ON t (k COLLATE NOCASE, n)", "column k of the unique index u has the collation NOCASE"},
	{"CREATE TABLE t (k TEXT PRIMARY KEY, n INT, UNIQUE (k COLLATE RTRIM))", "column k of a UNIQUE constraint has the collation RTRIM"},
	{"CREATE TABLE t (k TEXT PRIMARY KEY, n INT); CREATE UNIQUE INDEX u ON t (k COLLATE NOCASE) WHERE n > 5", ""},
	{"CREATE TABLE t (k TEXT PRIMARY KEY, n INT); CREATE UNIQUE INDEX u ON t (k COLLATE NOCASE, n)", ""},
	{"CREATE TABLE t (k TEXT PRIMARY KEY, n INT); CREATE UNIQUE INDEX u ON t (lower(k))", ""},
	{"CREATE TABLE t (k TEXT PRIMARY KEY, n INT); CREATE INDEX u ON t (k COLLATE NOCASE)", ""},
	{"CREATE TABLE t (k TEXT COLLATE NOCASE, n INT PRIMARY KEY)", ""},
	{"CREATE TABLE t (k TEXT, n INTEGER PRIMARY KEY COLLATE NOCASE)", ""},
	{"CREATE TABLE t (k TEXT, n INT COLLATE NOCASE PRIMARY KEY)", ""},
	{"CREATE TABLE t (k TEXT COLLATE binary PRIMARY KEY, n INT)", ""},
	{"CREATE TABLE t (k TEXT COLLATE NOCASE, n INT, PRIMARY KEY (k COLLATE BINARY))", ""},
}

// A row does not take the place of one whose key is another text.
func TestLooseKeys(t *testing.T) {
	ctx := context.Background()
	for _, x := range looseKeys {
		for _, conflict := range []string{"update", "ignore", ""} {
			options := map[string]string{"sink.on-conflict": conflict}
			path := file(t, x.ddl)
			table := keyedTable(t, path, options)
			write := func(table *Table) (connector.Transaction, error) {
				if conflict != "" {
					return table.Transaction(ctx, connector.Insert{Columns: []int{0, 1}})
				}
				up := connector.Upsert{Columns: []int{0, 1}}
				for _, k := range table.info.PrimaryKey {
					up.Key = append(up.Key, table.schema.Index(k))
				}
				return table.Upsert(ctx, up)
			}
			tx, err := write(table)
			if x.want == "" {
				require.NoError(t, err, x.ddl)
				require.NoError(t, tx.Begin(ctx, connector.NewJobID()), x.ddl)
				require.NoError(t, tx.Abort(ctx))
				continue
			}
			require.ErrorContains(t, err, "table t: a row with another PRIMARY KEY could be overwritten or deleted: "+x.want, x.ddl)

			// The same of a table that came in the place of the one planned for.
			exact := "CREATE TABLE t (k TEXT, n INT, PRIMARY KEY (" + quoteAll(table.info.PrimaryKey) + "))"
			exe(t, path, "DROP TABLE t", exact)
			tx, err = write(keyedTable(t, path, options))
			require.NoError(t, err)
			exe(t, path, "DROP TABLE t", x.ddl)
			require.ErrorContains(t, tx.Begin(ctx, connector.NewJobID()), x.want, x.ddl)
			require.NoError(t, tx.Abort(ctx))
		}
	}
}

// A collation that another program has defined is named, too.
func TestForeignCollation(t *testing.T) {
	path := file(t, "CREATE TABLE t (k TEXT PRIMARY KEY, n INT)")
	exe(t, path, "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE t (k TEXT COLLATE german PRIMARY KEY, n INT)' WHERE name = 't'")
	table := keyedTable(t, path, map[string]string{"sink.on-conflict": "update"})
	_, err := table.Transaction(context.Background(), connector.Insert{Columns: []int{0, 1}})
	require.ErrorContains(t, err, "column k of the PRIMARY KEY has the collation german")
}

// Where the column has another collation than its key, the key's tells which rows go.
func TestKeyOfOtherCollation(t *testing.T) {
	ctx := context.Background()
	for _, without := range []string{"", " WITHOUT ROWID"} {
		path := file(t, "CREATE TABLE t (k TEXT COLLATE NOCASE, n INT, PRIMARY KEY (k COLLATE BINARY))"+without, "INSERT INTO t VALUES ('a', 1), ('A', 2), ('b', 3), ('B', 4)",
			"CREATE TRIGGER gone AFTER DELETE ON t BEGIN SELECT 1; END")
		table := keyedTable(t, path, nil)
		tx, err := table.Upsert(ctx, connector.Upsert{Columns: []int{0, 1}, Key: []int{0}})
		require.NoError(t, err)
		_, _, err = write(tx.(*Transaction), batches(keyedRows(9, "-a", "B", "c")))
		require.NoError(t, err)
		require.Equal(t, "A2,B9,b3,c9", one(t, path, "SELECT group_concat(k || n) FROM (SELECT * FROM t ORDER BY k COLLATE BINARY)"))

		if without == "" {
			continue
		}
		tx, err = table.Modify(ctx, connector.Modify{})
		require.NoError(t, err)
		b := column.NewBatch([]types.Type{types.String()}, 0)
		b.Cols[0].AppendString("b")
		b.N = 1
		n, _, err := write(tx.(*Transaction), batches(b))
		require.NoError(t, err)
		require.Equal(t, int64(1), n)
		tx, err = table.Modify(ctx, connector.Modify{Set: []int{1}})
		require.NoError(t, err)
		b = keyedRows(7, "A", "c")
		b.Kind = nil
		_, _, err = write(tx.(*Transaction), batches(b))
		require.NoError(t, err)
		require.Equal(t, "A7,B9,c7", one(t, path, "SELECT group_concat(k || n) FROM (SELECT * FROM t ORDER BY k COLLATE BINARY)"))
	}
}

// UPDATE and DELETE of rows by a key under which texts are equal change those rows and no others.
func TestModifyByLooseKey(t *testing.T) {
	ctx := context.Background()
	path := file(t, "CREATE TABLE t (k TEXT, n INT, PRIMARY KEY (k COLLATE NOCASE)) WITHOUT ROWID", "INSERT INTO t VALUES ('A', 1), ('b ', 2), ('b', 3)")
	table := keyedTable(t, path, nil)
	tx, err := table.Modify(ctx, connector.Modify{Set: []int{1}})
	require.NoError(t, err)
	b := keyedRows(7, "A", "b ")
	b.Kind = nil
	n, _, err := write(tx.(*Transaction), batches(b))
	require.NoError(t, err)
	require.Equal(t, int64(2), n)
	require.Equal(t, "A7,b3,b 7", one(t, path, "SELECT group_concat(k || n) FROM (SELECT * FROM t ORDER BY k)"))
}

// A text that SQLite would take for a number is no key: '1' and '01' would be one.
func TestNumericKey(t *testing.T) {
	ctx := context.Background()
	for _, ddl := range []string{"CREATE TABLE t (k NUMERIC PRIMARY KEY, n INT)", "CREATE TABLE t (k INT PRIMARY KEY, n INT)", "CREATE TABLE t (k REAL NOT NULL, n INT, PRIMARY KEY (k)) WITHOUT ROWID"} {
		path := file(t, ddl, "INSERT INTO t VALUES (1, 1)")
		for _, row := range []string{"01", "1.0", " 1", "1e0", "-01", "-1.0"} {
			tx, err := keyedTable(t, path, nil).Upsert(ctx, connector.Upsert{Columns: []int{0, 1}, Key: []int{0}})
			require.NoError(t, err)
			_, out, err := write(tx.(*Transaction), batches(keyedRows(9, row)))
			require.ErrorContains(t, err, "k", row)
			require.Equal(t, connector.NotDone, out)
		}
		require.Equal(t, "11", one(t, path, "SELECT group_concat(CAST(k AS INT) || n) FROM t"))
	}
}

// A UNIQUE constraint by which SQLite itself replaces rows, or drops them, is not left to take those of other keys.
func TestKeyBesideReplace(t *testing.T) {
	ctx := context.Background()
	for _, clause := range []string{"REPLACE", "ignore"} {
		ddl := "CREATE TABLE t (k TEXT PRIMARY KEY, n INT UNIQUE ON CONFLICT " + clause + ")"
		path := file(t, ddl, "INSERT INTO t VALUES ('a', 1)")
		want := "table t: a row with another PRIMARY KEY could be overwritten or deleted, or not be stored: a UNIQUE constraint beside the PRIMARY KEY (n) may have the clause ON CONFLICT REPLACE or IGNORE"
		_, err := keyedTable(t, path, nil).Upsert(ctx, connector.Upsert{Columns: []int{0, 1}, Key: []int{0}})
		require.ErrorContains(t, err, want)
		for _, conflict := range []string{"update", "ignore"} {
			_, err = keyedTable(t, path, map[string]string{"sink.on-conflict": conflict}).Transaction(ctx, connector.Insert{Columns: []int{0, 1}})
			require.ErrorContains(t, err, want)
		}
	}
	for _, ddl := range []string{
		"CREATE TABLE t (k TEXT PRIMARY KEY ON CONFLICT REPLACE, n INT)",
		"CREATE TABLE t (k TEXT PRIMARY KEY, n INT UNIQUE ON CONFLICT FAIL)",
		"CREATE TABLE t (k TEXT PRIMARY KEY ON CONFLICT REPLACE, n INT); CREATE UNIQUE INDEX u ON t (n)",
	} {
		path := file(t, ddl, "INSERT INTO t VALUES ('a', 1)")
		tx, err := keyedTable(t, path, nil).Upsert(ctx, connector.Upsert{Columns: []int{0, 1}, Key: []int{0}})
		require.NoError(t, err)
		_, _, err = write(tx.(*Transaction), batches(keyedRows(2, "a")))
		require.NoError(t, err)
		require.Equal(t, "a2", one(t, path, "SELECT group_concat(k || n) FROM t"))
	}
}
