package mysql

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/types"
)

// keyedRows is a batch of rows of a key and a number; minus makes a row one that is deleted.
func keyedRows(typ types.Type, rows ...string) *column.Batch {
	b := column.NewBatch([]types.Type{typ, types.Of(types.Int)}, len(rows))
	b.Kind = make([]types.RowKind, len(rows))
	for i, text := range rows {
		if text[0] == '-' {
			b.Kind[i] = types.Delete
		}
		b.Cols[0].AppendString(text[1:])
		b.Cols[1].AppendI64(int64(i))
	}
	b.N = len(rows)
	return b
}

// A key that is told apart here and not by the server would have one row overwrite another's: such keys are refused.
func TestUpsertKeys(t *testing.T) {
	f := setUp(t)
	updating := f.server(f.ts.Addr(), nil, map[string]string{"sink.on-conflict": "update"})
	for declared, want := range map[string]string{
		"k VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, n INT, PRIMARY KEY (k)":            "column k has the collation utf8mb4_general_ci",
		"k VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, n INT, PRIMARY KEY (k)":                   "column k has the collation utf8mb4_bin",
		"k VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin, n INT, PRIMARY KEY (k)":             "",
		"k VARCHAR(10) CHARACTER SET ascii COLLATE ascii_nopad_bin, n INT, PRIMARY KEY (k)":                 "",
		"k VARCHAR(10) CHARACTER SET cp932 COLLATE cp932_nopad_bin, n INT, PRIMARY KEY (k)":                 "column k has the collation cp932_nopad_bin",
		"k VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin, n INT, PRIMARY KEY (k(3))":          "only the beginning of a column",
		"k CHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin, n INT, PRIMARY KEY (k)":                "",
		"k ENUM('a','b') CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, n INT, PRIMARY KEY (k)":          "",
		"k VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin, n INT, PRIMARY KEY (n), KEY (k(3))": "",
		"k VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, n INT, PRIMARY KEY (n)":            "",
		"k VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin, n INT UNSIGNED, PRIMARY KEY (n, k)": "",
		"k VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_nopad_ci, n INT, PRIMARY KEY (n, k)":   "column k has the collation utf8mb4_unicode_nopad_ci",
		"k VARCHAR(10) CHARACTER SET utf8mb3 COLLATE utf8mb3_nopad_bin, n INT, PRIMARY KEY (k)":             "",
		"k VARCHAR(10) CHARACTER SET latin1 COLLATE latin1_swedish_ci, n INT, PRIMARY KEY (n, k)":           "column k has the collation latin1_swedish_ci",
	} {
		f.sql("DROP TABLE IF EXISTS t; CREATE TABLE t (" + declared + ") ENGINE=InnoDB")
		tab := f.openBy(updating, "t")
		var key []int
		for _, name := range tab.t.primary() {
			key = append(key, tab.schema.Index(name))
		}
		_, upsertErr := tab.Upsert(f.ctx, connector.Upsert{Columns: []int{0, 1}, Key: key})
		_, insertErr := tab.Transaction(f.ctx, connector.Insert{Columns: []int{0, 1}})
		for _, err := range []error{upsertErr, insertErr} {
			if want == "" {
				require.NoError(t, err, declared)
				continue
			}
			require.ErrorContains(t, err, want, declared)
			require.ErrorContains(t, err, "table t", declared)
		}
	}
}

// A table of ours has keys that the server tells apart as they are here, of every type that a key may have.
func TestUpsertOwnTable(t *testing.T) {
	f := setUp(t)
	for _, x := range []struct {
		typ  string
		rows []string
		want string
	}{
		{"VARCHAR(4)", []string{"+a", "+A", "+a ", "+ä", "+a\x00", "-a"}, "A|1\na\x00|4\na |2\nä|3\n"},
		{"CHAR(2)", []string{"+a ", "+A ", "+a\t", "-a ", "+b "}, "A |1\na\t|2\nb |4\n"},
		{"BINARY(2)", []string{"+a\x00", "+a ", "-a\x00"}, "x'6120'|1\n"},
		{"VARBINARY(4)", []string{"+a", "+a ", "+a\x00", "-a"}, "x'6100'|2\nx'6120'|1\n"},
	} {
		s := schema(t, "k "+x.typ+" NOT NULL", "n INT")
		s.PrimaryKey = []string{"k"}
		f.sql("DROP TABLE IF EXISTS t")
		_, err := f.s.CreateTable(f.ctx, f.db, "t", server.Definition{Schema: s})
		require.NoError(t, err)
		tab := f.open("t")
		tx, err := tab.Upsert(f.ctx, connector.Upsert{Columns: []int{0, 1}, Key: []int{0}})
		require.NoError(t, err, x.typ)
		// The rows to delete are there before: the deletes of a batch come first.
		last := len(x.rows)
		for i, r := range x.rows {
			if r[0] == '-' {
				last = i
				break
			}
		}
		f.done(tx, keyedRows(s.Columns[0].Type, x.rows[:last]...))
		tx, err = tab.Upsert(f.ctx, connector.Upsert{Columns: []int{0, 1}, Key: []int{0}})
		require.NoError(t, err, x.typ)
		b := keyedRows(s.Columns[0].Type, x.rows[last:]...)
		for i := range b.N {
			b.Cols[1].I32[i] += int32(last)
		}
		f.done(tx, b)
		require.Equal(t, x.want, f.text(tab), x.typ)
	}
	require.Empty(t, f.ours())
}

// A key that another session alters between the plan and the transaction is found before the first row.
func TestUpsertKeyAltered(t *testing.T) {
	f := setUp(t)
	for alter, want := range map[string]string{
		"MODIFY k VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL": "column k was altered",
		"ADD UNIQUE u (n)":                     "unique index u",
		"DROP PRIMARY KEY, ADD PRIMARY KEY(n)": "PRIMARY KEY",
	} {
		f.sql("DROP TABLE IF EXISTS t; CREATE TABLE t (k VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL, n INT NOT NULL, PRIMARY KEY (k)) ENGINE=InnoDB")
		tab := f.open("t")
		tx, err := tab.Upsert(f.ctx, connector.Upsert{Columns: []int{0, 1}, Key: []int{0}})
		require.NoError(t, err)
		f.sql("ALTER TABLE t " + alter)
		require.ErrorContains(t, tx.Begin(f.ctx, connector.NewJobID()), want, alter)
		require.NoError(t, tx.Abort(f.ctx))
	}
}
