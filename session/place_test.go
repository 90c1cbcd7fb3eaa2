package session_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/session"
)

// reason runs statements up to the first that fails and returns its error as it is shown.
func (w *world) reason(t *testing.T, statement string) string {
	t.Helper()
	ctx := context.Background()
	res, err := w.Execute(ctx, session.Text{SQL: statement})
	if err == nil {
		_, err = fetch(ctx, res)
		require.NoError(t, res.Close())
	}
	var e *session.Error
	require.True(t, errors.As(err, &e), "%s: %v", statement, err)
	return e.Render()
}

// A job that runs out of memory shows the clause, where only one can be meant; else the statement.
func TestOutOfMemoryPlace(t *testing.T) {
	w := newWorld(t, nil)
	w.script(t, `CREATE TABLE ten AS SELECT * FROM (VALUES 0, 1, 2, 3, 4, 5, 6, 7, 8, 9) AS v (n);
		CREATE TABLE many AS SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 10000 * e.n AS n, 'some text' AS s
		FROM ten a, ten b, ten c, ten d, ten e;
		SET 'sluice.memory' = '1 mb';`, false)
	for _, c := range []struct{ sql, place, excerpt string }{
		{"SELECT n FROM many\nORDER BY s, n", "2:10: ORDER BY is out of memory", "  ORDER BY s, n\n           ^^^^\n"},
		{"SELECT s, n, COUNT(*) AS c\nFROM many GROUP BY s, n", "2:11: the aggregation is", "  FROM many GROUP BY s, n\n            ^^^^^^^^^^^^^\n"},
		{"\n SELECT DISTINCT s, n FROM many", "2:2: the aggregation is", "   SELECT DISTINCT s, n FROM many\n   ^^^^^^^^^^^^^^^^^^^^\n"},
		{"SELECT COUNT(DISTINCT n) AS c FROM many", "1:8: the aggregation is", "         ^^^^^^^^^^^^^^^^^\n"},
		{"SELECT n FROM many UNION SELECT n + 1 FROM many", "1:26: the aggregation is", "                           ^^^^^^^^^^^^^^^^^^^^^^\n"},
		{"SELECT COUNT(*) AS c FROM many a JOIN many b ON a.n = b.n + 1", "1:39: the join is", "                                        ^^^^^^\n"},
		{"SELECT s, n FROM (SELECT DISTINCT s, n\nFROM many) GROUP BY n, s", "1:1: the aggregation is", "  SELECT s, n FROM (SELECT DISTINCT s, n\n  ^^^^^^\n"},
	} {
		got := w.reason(t, c.sql)
		require.True(t, strings.HasPrefix(got, c.place), got)
		require.Contains(t, got, c.excerpt)
	}
}

// A table that cannot be read is shown where the statement names it, and its name is said once.
func TestReadErrorPlace(t *testing.T) {
	w := newWorld(t, nil)
	file := filepath.Join(w.tmp, "s.db")
	db, err := sql.Open("sqlite3", file)
	require.NoError(t, err)
	_, err = db.Exec("CREATE TABLE m (id INT, n INT); INSERT INTO m VALUES (1, 2), (2, 'abc')")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	require.Equal(t, "ok\nok\n", w.script(t, "CREATE CATALOG s WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:"+file+"'); CREATE TABLE m (id INT);", false))

	fault := "read table s.s.m: column n, rowid 2: the TEXT value 'abc' is not of type INT; "
	for _, c := range []struct{ sql, place, excerpt string }{
		{"SELECT * \n  FROM s.s.m", "2:8: " + fault, "    FROM s.s.m\n         ^^^^^\n"},
		{"SELECT m.id FROM m JOIN `s`.`s`.`m` AS b ON m.id = b.n", "1:25: " + fault, "                          ^^^^^^^^^^^\n"},
		{"WITH m AS (SELECT * FROM s.s.m) SELECT * FROM m", "1:26: " + fault, "                           ^^^^^\n"},
		{"INSERT INTO s.s.m SELECT * FROM s.s.m", "1:33: " + fault, "                                  ^^^^^\n"},
		{"CREATE TABLE t AS TABLE s.s.m", "1:25: " + fault, "                          ^^^^^\n"},
		{"SELECT id FROM default_catalog.default_database.m WHERE id IN (SELECT n FROM s.s.m)", "1:78: " + fault, "^^^^^\n"},
	} {
		got := w.reason(t, c.sql)
		require.True(t, strings.HasPrefix(got, c.place), "%s", got)
		require.Contains(t, got, c.excerpt)
	}
}
