package repl

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3"
	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	jdbccatalog "github.com/sluice-sql/sluice/catalog/jdbc"
	"github.com/sluice-sql/sluice/catalog/memory"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/datagen"
	"github.com/sluice-sql/sluice/connector/jdbc"
	"github.com/sluice-sql/sluice/connector/print"
	"github.com/sluice-sql/sluice/session"
)

// runLive is the shell on a real session, with src.db and dst.db of a folder as the catalogs i and o.
func runLive(dir string) int {
	screen := NewScreen(os.Stdin, os.Stdout, os.Stderr)
	s, err := session.New(session.Config{
		Env: &connector.Env{Clock: time.Now, TempDir: dir, StateDir: filepath.Join(dir, "state"), Memory: connector.NewMemory(4 << 30),
			Files: connector.NewFiles(), Waits: &connector.Waits{}, Out: screen.Out(), Err: screen.Err()},
		Catalogs:   []catalog.Factory{memory.Factory{}, jdbccatalog.Factory{}},
		Connectors: []connector.Factory{jdbc.Connector{}, datagen.Connector{}, print.Connector{}},
	})
	if err != nil {
		fmt.Println(err)
		return 3
	}
	for name, file := range map[string]string{"i": "src.db", "o": "dst.db"} {
		text := fmt.Sprintf("CREATE CATALOG %s WITH ('type'='jdbc', 'base-url'='jdbc:sqlite:%s')", name, filepath.Join(dir, file))
		if _, err := s.Execute(ctx, session.Text{SQL: text}); err != nil {
			fmt.Println(err)
			return 3
		}
	}
	code := Run(ctx, Config{Session: s, Screen: screen})
	if err := s.Close(); err != nil {
		fmt.Println(err)
		return 3
	}
	return code
}

func openSQLite(t *testing.T, file string) *sql.DB {
	db, err := sql.Open("sqlite3", file)
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db
}

// liveFolder makes the files of a real shell.
func liveFolder(t *testing.T) string {
	dir := t.TempDir()
	in, out := openSQLite(t, filepath.Join(dir, "src.db")), openSQLite(t, filepath.Join(dir, "dst.db"))
	_, err := in.Exec(`CREATE VIEW endless AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c;
		CREATE VIEW million AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 1000000) SELECT x FROM c`)
	require.NoError(t, err)
	require.NoError(t, in.Close())
	_, err = out.Exec(`CREATE TABLE kept (x INT); INSERT INTO kept VALUES (1), (2), (3)`)
	require.NoError(t, err)
	require.NoError(t, out.Close())
	return dir
}

// startLive starts a shell on real files: i has a view that never ends and one whose pairs would take
// days; o has a table of three rows.
func startLive(t *testing.T) (s *terminal, dir string) {
	dir = liveFolder(t)
	s = startShell(t, "SLUICE_TEST_LIVE="+dir)
	s.expect("Sluice SQL> ")
	return s, dir
}

// unchanged checks that a canceled statement has left the target as it was, and nothing beside it.
func unchanged(t *testing.T, dir string) {
	t.Helper()
	db := openSQLite(t, filepath.Join(dir, "dst.db"))
	defer db.Close()
	var tables, rows int
	var sound string
	require.NoError(t, db.QueryRow(`SELECT (SELECT count(*) FROM sqlite_master), (SELECT count(*) FROM kept)`).Scan(&tables, &rows))
	require.NoError(t, db.QueryRow(`PRAGMA integrity_check`).Scan(&sound))
	require.Equal(t, []any{1, 3, "ok"}, []any{tables, rows, sound})
	files, err := filepath.Glob(filepath.Join(dir, "*.db*"))
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(dir, "dst.db"), filepath.Join(dir, "src.db")}, files)
}

// Statements that would never end by themselves, and what shows that they are at it.
func endless() map[string][2]string {
	return map[string][2]string{
		"scan":        {"CREATE TABLE o.dst.t AS SELECT x FROM i.src.endless;\r", "written, "},
		"sort":        {"CREATE TABLE o.dst.t AS SELECT x FROM i.src.endless ORDER BY x DESC;\r", "rows read, "},
		"aggregation": {"CREATE TABLE o.dst.t AS SELECT x / 1000000 AS m, COUNT(*) AS n FROM i.src.endless GROUP BY x / 1000000;\r", "rows read, "},
		"join":        {"CREATE TABLE o.dst.t AS SELECT a.x FROM i.src.million a JOIN i.src.million b ON a.x + b.x < 0;\r", "rows read, "},
	}
}

// Ctrl-C in a CREATE TABLE AS brings the prompt back, whatever the statement is at, and nothing is left.
func TestCtrlCInCTAS(t *testing.T) {
	for name, c := range endless() {
		t.Run(name, func(t *testing.T) {
			s, dir := startLive(t)
			for range 2 { // the shell goes on, and so can the statement
				s.send(c[0])
				s.expect(c[1])
				s.send(ctrlC)
				began := time.Now()
				s.expect("[INFO] The statement was canceled")
				s.expect("Sluice SQL> ")
				t.Logf("the prompt came back after %v", time.Since(began))
				unchanged(t, dir)
			}
			s.send("SELECT COUNT(*) AS n FROM o.dst.kept;\r")
			s.expect("| 3 |")
			s.expect("Sluice SQL> ")
			s.send(ctrlD)
			require.Zero(t, s.code())
		})
	}
}

// So does one while another process has the file locked for ever.
func TestCtrlCInLockWait(t *testing.T) {
	s, dir := startLive(t)
	db := openSQLite(t, filepath.Join(dir, "dst.db"))
	_, err := db.Exec("BEGIN IMMEDIATE")
	require.NoError(t, err)
	s.send("CREATE TABLE o.dst.t AS SELECT x FROM i.src.million;\r")
	s.expect("waiting for dst.db, locked by process ")
	s.expect("; Ctrl-C ends it")
	s.send(ctrlC)
	s.expect("[INFO] The statement was canceled")
	s.expect("is locked")
	s.expect("Sluice SQL> ")
	_, err = db.Exec("ROLLBACK")
	require.NoError(t, err)
	unchanged(t, dir)
	s.send("CREATE TABLE o.dst.t AS SELECT x FROM i.src.million;\r")
	s.expect("1000000 rows written")
	s.expect("Sluice SQL> ")
	s.send(ctrlD)
	require.Zero(t, s.code())
}

// A terminal that is closed ends the shell with what the statement had done undone.
func TestTerminalGoneInCTAS(t *testing.T) {
	for name, c := range endless() {
		t.Run(name, func(t *testing.T) {
			s, dir := startLive(t)
			s.send(c[0])
			s.expect(c[1])
			require.NoError(t, s.master.Close())
			require.Equal(t, 129, s.code())
			unchanged(t, dir)
		})
	}
}

// A signal that comes too late for a commit says what the commit waits for, and the commit is made.
func TestSignalInCommitWait(t *testing.T) {
	s, dir := startLive(t)
	db := openSQLite(t, filepath.Join(dir, "dst.db"))
	reading, err := db.Query("SELECT x FROM kept") // its lock keeps a commit out
	require.NoError(t, err)
	require.True(t, reading.Next())
	s.send("CREATE TABLE o.dst.t AS SELECT x FROM i.src.million WHERE x <= 10;\r")
	s.expect("committing, waiting for the store")
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
	s.expect("[INFO] The statement is committing, waiting for the store and its readers, please wait.")
	require.NoError(t, reading.Close())
	s.expect("10 rows written")
	require.Equal(t, 143, s.code())
	n := 0
	require.NoError(t, db.QueryRow("SELECT count(*) FROM t").Scan(&n))
	require.Equal(t, 10, n)
}
