package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/internal/testserver"
)

// The password of a server is in nothing that the program shows, writes to a log or keeps: not where it is typed, not
// where the login fails because of it, not of a job that was stopped in the middle of its commit.
func TestPasswordsOfServers(t *testing.T) {
	bin := buildSluice(t)
	servers := []*testserver.Server{testserver.Postgres(t), testserver.MariaDB(t)}
	inFolder(t, nil)
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("SLUICE_TEST_CANARY", testserver.Password)
	file := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(file, []byte(testserver.Password+"\n"), 0o600))
	typed := "'" + strings.ReplaceAll(testserver.Password, "'", "''") + "'"
	for _, s := range servers {
		db := s.Database(t)
		s.Query(t, db, "CREATE TABLE t (a int PRIMARY KEY, b varchar(20)); INSERT INTO t VALUES (1, 'x')")
		with := func(key, password string) string {
			return "'" + key + "' = '" + s.URL(db) + "', 'username' = '" + testserver.User + "', 'password' = " + password
		}
		wrong := "'not-" + strings.TrimPrefix(typed, "'") // begins otherwise, so that the login fails with it
		statements := func(password string) []string {
			return []string{
				"CREATE CATALOG c WITH ('type' = 'jdbc', " + with("base-url", password) + ")",
				"CREATE CATALOG c WITH ('type' = 'jdbc', " + with("base-url", password) + ")",
				"SHOW CREATE CATALOG c", "DESCRIBE CATALOG EXTENDED c", "SHOW CATALOGS", "USE CATALOG c",
				"SHOW TABLES", "DESCRIBE t", "SHOW CREATE TABLE t", "SELECT * FROM t",
				"CREATE TABLE u AS SELECT * FROM t", "EXPLAIN CREATE TABLE v AS SELECT * FROM t", "EXPLAIN JSON_EXECUTION_PLAN INSERT INTO t SELECT * FROM u",
				"INSERT INTO t SELECT * FROM u", "INSERT INTO t VALUES (2, " + password + ", 3)", "SELECT nosuch FROM t", "SHOW JOBS",
				"CREATE TEMPORARY TABLE w (a INT, b STRING) WITH ('connector' = 'jdbc', " + with("url", password) + ", 'table-name' = 't')",
				"SELECT * FROM w", "SHOW CREATE TABLE w", "INSERT INTO w SELECT a, b FROM w", "EXPLAIN INSERT INTO w SELECT * FROM w",
				"ALTER CATALOG c SET ('password' = " + wrong + ")", "ALTER CATALOG c SET ('passwort' = " + password + ")",
				"CREATE CATALOG x WITH ('type' = 'jdbc', " + with("base-url", wrong) + ")",
				"CREATE CATALOG x WITH ('type' = 'jdbc', " + with("base-url", password) + ", 'nosuch' = " + password + ")",
				"CREATE CATALOG x WITH ('type' = 'jdbc', 'base-url' = '" + strings.Replace(s.URL(db), "://", "://me:"+strings.Trim(password, "'")+"@", 1) + "')",
				"CREATE CATALOG x WITH ('type' = 'jdbc', 'base-url' = '" + s.URL(db) + "?password=" + strings.Trim(password, "'") + "', 'username' = 'me')",
				"CREATE CATALOG x WITH ('type' = 'jdbc' " + with("base-url", password) + ")", "SET 'password' = " + password,
				"SHOW CREATE CATALOG c", "SET",
			}
		}
		args := []string{"-D", "sluice.on-error=continue", "-D", "sluice.format=csv"}
		for _, q := range statements(typed) {
			args = append(args, "-c", q)
		}
		_, out, errs := runStart(t, args...)
		require.Contains(t, out, "'password' = '****'", errs)
		require.Contains(t, out, "1,x", errs)
		clean(t, "standard output", out)
		clean(t, "standard error", errs)

		// Typed: the terminal echoes it, and what is kept of it does not have it.
		_, shown := converse(t, strings.Join(statements(typed), ";\r")+";\rQUIT;\r", "--no-init", "-D", "sluice.on-error=continue", "-D", "sluice.pager=off")
		require.Contains(t, shown, "'password' = '****'")
		kept, err := os.ReadFile("state/sluice/history")
		require.NoError(t, err)
		require.Contains(t, string(kept), "CREATE CATALOG c WITH")
		require.Contains(t, string(kept), "SHOW CREATE CATALOG c")

		// Only its place is named: it is not even in the catalog store, and the next session has it all the same.
		store := []string{"-D", "table.catalog-store.kind=file", "-D", "table.catalog-store.file.path=" + s.Kind + "-store", "-D", "sluice.format=csv"}
		for _, place := range []string{"env:SLUICE_TEST_CANARY", "file:" + file} {
			name := place[:4]
			code, out, errs := runStart(t, append(store, "-c", "CREATE CATALOG `"+name+"` WITH ('type' = 'jdbc', "+with("base-url", "'"+place+"'")+"); SHOW CREATE CATALOG `"+name+"`")...)
			require.Zero(t, code, errs)
			require.Contains(t, out, "'password' = '"+place+"'")
			code, again, errs := runStart(t, append(store, "-c", "SELECT b FROM `"+name+"`."+db+".t WHERE a = 1; SHOW CREATE CATALOG `"+name+"`")...)
			require.Zero(t, code, errs)
			require.Contains(t, again, "b\nx\n")
			for _, text := range []string{out, errs, again} {
				clean(t, place, text)
			}
		}

		// A program that is killed while it waits for the answer to its commit leaves a journal.
		asked := make(chan struct{})
		var once sync.Once
		proxy := testserver.NewProxy(t, s.Addr(), func(d testserver.Direction, b []byte) testserver.Verdict {
			if d == testserver.ToServer && (bytes.Contains(b, []byte("\x0bCOMMIT\x00")) || bytes.Contains(b, []byte("RENAME TABLE"))) {
				once.Do(func() { close(asked) })
				return testserver.Drop
			}
			return testserver.Pass
		})
		through := strings.Replace(with("base-url", "'env:SLUICE_TEST_CANARY'"), s.Addr(), proxy.Addr(), 1)
		killed := exec.Command(bin, "-c", "CREATE CATALOG c WITH ('type' = 'jdbc', "+through+"); CREATE TABLE c."+db+".lost AS SELECT 1 AS a")
		var said bytes.Buffer
		killed.Stdout, killed.Stderr = &said, &said
		require.NoError(t, killed.Start())
		select {
		case <-asked:
		case <-time.After(2 * time.Minute):
			t.Error("no COMMIT and no RENAME TABLE in two minutes")
		}
		require.NoError(t, killed.Process.Kill())
		_ = killed.Wait()
		clean(t, "the output", said.String())
		proxy.CutAll()
		s.NoSessions(t)
	}
	journals, err := filepath.Glob("state/sluice/jobs/*")
	require.NoError(t, err)
	require.Len(t, journals, len(servers))
	for _, root := range []string{".", os.Getenv("TMPDIR")} {
		require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			clean(t, path, string(text))
			return nil
		}))
	}
}

// clean fails the test where a text has the password, or the part of it that no quoting touches.
func clean(t *testing.T, where, text string) {
	t.Helper()
	for _, piece := range []string{testserver.Password, "canary-pw-7f3a"} {
		if i := strings.Index(text, piece); i >= 0 {
			t.Fatalf("%s has the password: %q", where, text[max(0, i-300):min(len(text), i+100)])
		}
	}
}
