package session_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A column that is SQLite's rowid gets a value by itself, and INSERT may leave it out; no other key may be.
func TestRowidKey(t *testing.T) {
	w := newWorld(t, nil)
	db, err := sql.Open("sqlite3", filepath.Join(w.tmp, "k.db"))
	require.NoError(t, err)
	_, err = db.Exec(`create table ai(id integer primary key autoincrement, name text not null default 'd', n int);
		create table plain(name text, id INTEGER PRIMARY KEY);
		create table descending(id integer primary key desc, name text);
		create table unrowed(id integer primary key, name text) without rowid;
		create table other(id int primary key, name text);
		create table two(a integer, b integer, name text, primary key (a, b))`)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	require.Equal(t, "ok\nok\n", w.script(t, "CREATE CATALOG k WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:"+w.tmp+"/k.db'); USE CATALOG k;", false))

	require.Contains(t, w.script(t, "DESCRIBE ai", false), "id | BIGINT | FALSE | PRI(id) | DEFAULT | \n")
	require.NotContains(t, w.script(t, "DESCRIBE two; DESCRIBE other; DESCRIBE unrowed; DESCRIBE descending", false), "DEFAULT")
	require.Contains(t, w.script(t, "INSERT INTO ai (name) VALUES ('x'), ('y'); INSERT INTO ai (n) SELECT 7 FROM ai; SELECT * FROM ai", false),
		"id BIGINT NOT NULL | name STRING NOT NULL | n INT\n1 | x | <NULL>\n2 | y | <NULL>\n3 | d | 7\n4 | d | 7\n")
	require.Contains(t, w.script(t, "INSERT INTO plain (name) VALUES ('x'); SELECT * FROM plain", false), "x | 1\n")
	for _, table := range []string{"descending", "unrowed", "other"} {
		require.Contains(t, w.script(t, "INSERT INTO "+table+" (name) VALUES ('x')", false), "Column 'id' has no default value and does not allow NULLs.", table)
	}
	require.Contains(t, w.script(t, "INSERT INTO two (a, name) VALUES (1, 'x')", false), "Column 'b' has no default value and does not allow NULLs.")
}
