package session_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	_ "github.com/mattn/go-sqlite3"
	"github.com/stretchr/testify/require"
)

// Views that SQLite itself has are listed, read and shown as they are written there, and are changed by nothing but DROP VIEW.
func TestNativeViews(t *testing.T) {
	w := newWorld(t, nil)
	db, err := sql.Open("sqlite3", filepath.Join(w.tmp, "n.db"))
	require.NoError(t, err)
	_, err = db.Exec(`create table t(a integer primary key, b text); insert into t values(1, 'x');
		create view v(x, y) as select a, b from t -- the base
		where a > 0;
		create view broken as select * from gone;
		create view "we""ird; drop table x; --" as select 1 as q`)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	require.Equal(t, "ok\nok\n", w.script(t, "CREATE CATALOG n WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:"+w.tmp+"/n.db'); USE CATALOG n;", false))

	require.Equal(t, "view name\nbroken\nv\nwe\"ird; drop table x; --\ntable name\nbroken\nt\nv\nwe\"ird; drop table x; --\n", w.script(t, "SHOW VIEWS; SHOW TABLES", false))
	require.Equal(t, "x BIGINT | y STRING\n1 | x\n", w.script(t, "SELECT * FROM v", false))
	require.Equal(t, "result\n-- a view of the store's own, in the store's own SQL\nCREATE VIEW v(x, y) as select a, b from t -- the base\n\t\twhere a > 0\n\n", w.script(t, "SHOW CREATE VIEW v", false))
	require.Contains(t, w.script(t, "SHOW CREATE VIEW `we\"ird; drop table x; --`", false), `CREATE VIEW "we""ird; drop table x; --" as select 1 as q`)
	for _, c := range []struct{ statement, says string }{
		{"SHOW CREATE TABLE v", "SHOW CREATE TABLE is only supported for tables, but `n`.`n`.`v` is a view."},
		{"SELECT * FROM broken", "n.db: view broken is broken: no such table: main.gone; DROP VIEW drops it"},
		{"DESCRIBE broken", "n.db: view broken is broken: no such table: main.gone; DROP VIEW drops it"},
		{"ALTER TABLE t RENAME TO u", "SQLite changes no names while a view is broken, and broken is: no such table: main.gone; DROP VIEW drops it"},
		{"DROP VIEW t", "hint: it is a table: DROP TABLE drops it"},
		{"DROP TABLE v", "hint: it is a view of the store's own: DROP VIEW drops it"},
		{"DROP TABLE broken", "hint: it is a view of the store's own: DROP VIEW drops it"},
		{"ALTER VIEW v AS SELECT 1 AS a", "View n.n.v is the store's own and cannot be altered here"},
		{"ALTER VIEW v RENAME TO w", "v is a view of SQLite"},
		{"INSERT INTO v VALUES (1, 'a')", "n.n.v is a view and cannot be written"},
		{"CREATE VIEW w AS SELECT 1 AS a", "Catalog `n` cannot store a view"},
	} {
		require.Contains(t, w.script(t, c.statement, false), c.says, c.statement)
	}
	// A view of ours may read it, and goes with the session.
	require.Equal(t, "ok\nok\ny STRING\nx\n", w.script(t, "CREATE TEMPORARY VIEW w AS SELECT y FROM v; CREATE VIEW default_catalog.default_database.stored AS SELECT x FROM v; SELECT * FROM w", false))

	// DROP VIEW drops one, and a broken one too, after which tables can be renamed.
	require.Equal(t, "ok\nok\nok\nok\nview name\nw\ntable name\nu\nw\n", w.script(t,
		"DROP VIEW broken; DROP VIEW v; DROP VIEW `we\"ird; drop table x; --`; ALTER TABLE t RENAME TO u; SHOW VIEWS; SHOW TABLES", false))
	require.Contains(t, w.script(t, "DROP VIEW v", false), "does not exist")
}
