package sqlite

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
)

// TestCollisions: which tables are changed by an INSERT whose rows all collide, and that it does what an UPDATE does.
func TestCollisions(t *testing.T) {
	for _, c := range []struct {
		def, more   string
		fast, noKey bool // noKey: id is not part of a key
	}{
		{"CREATE TABLE t (id INTEGER PRIMARY KEY, a INT, b TEXT)", "", true, false},
		{"CREATE TABLE t (id INTEGER PRIMARY KEY NOT NULL, a INT NOT NULL, b TEXT NOT NULL COLLATE NOCASE)", "", true, false},
		{"CREATE TABLE t (id INT, a INT DEFAULT 7, b TEXT NOT NULL DEFAULT NULL)", "", true, true},
		{"CREATE TABLE t (id INT PRIMARY KEY, a INT, b TEXT UNIQUE)", "", true, false},
		{"CREATE TABLE t (id INT UNIQUE NOT NULL, a INT, b TEXT NOT NULL, rowid TEXT, oid TEXT NOT NULL DEFAULT 'x')", "", true, true},
		{"CREATE TABLE t (id INTEGER, a INT, b TEXT NOT NULL, PRIMARY KEY (id, b))", "", false, false},
		{"CREATE TABLE t (id INTEGER PRIMARY KEY DESC NOT NULL, a INT, b TEXT)", "", false, false},
		{"CREATE TABLE t (id INT PRIMARY KEY NOT NULL DEFAULT 3, a INT, b TEXT)", "", false, false},
		{"CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a INT, b TEXT)", "", false, false},
		{"CREATE TABLE t (id INTEGER PRIMARY KEY, a INT CHECK (a > 0), b TEXT)", "", false, false},
		{"CREATE TABLE t (id INTEGER PRIMARY KEY, a INT, b TEXT UNIQUE ON CONFLICT REPLACE)", "", false, false},
		{"CREATE TABLE t (id INTEGER PRIMARY KEY, a INT, b TEXT NOT NULL) STRICT", "", false, false},
		{"CREATE TABLE t (id INTEGER PRIMARY KEY, a INT, b TEXT, g INT AS (a + 1))", "", false, false},
		{"CREATE TABLE t (id INTEGER PRIMARY KEY, a INT, b TEXT) WITHOUT ROWID", "", false, false},
		{"CREATE TABLE t (id INTEGER PRIMARY KEY, a INT, b TEXT)", "CREATE TRIGGER g BEFORE INSERT ON t BEGIN SELECT RAISE(ABORT, 'no'); END", false, false},
		{"CREATE TABLE t (id INTEGER PRIMARY KEY, a INT REFERENCES other, b TEXT)", "CREATE TABLE other (id INTEGER PRIMARY KEY); INSERT INTO other SELECT id FROM t", false, false},
	} {
		for i, set := range []string{"a", "b", "id", "a", "b", "id"} {
			mode := modes[i/3]
			s := inMode(t, mode, c.def, "CREATE INDEX x ON t (b, a)", "CREATE INDEX y ON t (a + 1) WHERE a > 500",
				thousand+"INSERT INTO t (id, a, b) SELECT i * 2, i * 2 % 500 * 2 + 2, 'row ' || i FROM n")
			if c.more != "" {
				exe(t, s.Path, c.more)
			}
			tab, schema := openIn(t, s, "t")
			txn, err := tab.Modify(context.Background(), connector.Modify{Set: []int{schema.Index(set)}})
			require.NoError(t, err, c.def)
			tx := txn.(*Transaction)
			require.NoError(t, tx.Begin(context.Background(), connector.NewJobID()))
			sql, err := tx.fastest()
			require.NoError(t, err)
			require.NoError(t, tx.Abort(context.Background()))
			require.Equal(t, c.fast && (set != "id" || c.noKey), sql[:6] == "INSERT", "%s: %s", c.def, sql)
			failing := strings.Contains(c.def, "UNIQUE") || strings.Contains(c.def, set+" TEXT NOT NULL") || strings.Contains(c.def, set+" INT NOT NULL")
			require.Equal(t, mode == "wal" && sql[:6] == "INSERT" && !failing, tx.changes, "%s, SET %s", c.def, set)

			exe(t, s.Path, fmt.Sprintf("CREATE TABLE want AS SELECT * FROM t; UPDATE want SET %s = %s WHERE id %% 6 = 0", set, map[string]string{"a": "id", "b": "id || '!'", "id": "-id"}[set]))
			n, _, err := modify(t, s, "t", []string{set}, func(row []string, to []*column.Vector) bool {
				var id int64
				_, _ = fmt.Sscan(row[schema.Index("id")], &id)
				if id%6 != 0 {
					return false
				}
				switch set {
				case "a":
					to[0].AppendI64(id)
				case "b":
					to[0].AppendString(fmt.Sprint(id, "!"))
				default:
					to[0].AppendI64(-id)
				}
				return true
			})
			require.NoError(t, err, c.def)
			require.EqualValues(t, 333, n)
			require.Equal(t, "0", one(t, s.Path, "SELECT count(*) FROM (SELECT id, a, b FROM t EXCEPT SELECT id, a, b FROM want)"), c.def)
			require.Equal(t, "1000 ok", one(t, s.Path, "SELECT count(*) || ' ' || (SELECT * FROM pragma_integrity_check) FROM t"), c.def)
		}
	}
}
