package repl

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
)

// inFolder writes files into a new current directory.
func inFolder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o777))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
	}
}

// runFile runs a file on a real session.
func runFile(t *testing.T, name string) (code int, stdout, stderr string) {
	t.Helper()
	return capture(t, nil, func(c Config) int { return runScript(ctx, live{realSession(t)}, c, name) })
}

// SOURCE runs a file where it stands; its own statements, short forms and settings hold from there on.
func TestSource(t *testing.T) {
	inFolder(t, map[string]string{
		"main.sql":          "SET 'sluice.format' = 'csv';\nSOURCE 'sub/tables.sql';\n\\i sub/it's rows.sql\nSELECT * FROM t;\nsource -- 'no'\n 'sub/empty.sql'; SELECT 'source ''x''' AS s;",
		"sub/tables.sql":    "CREATE TABLE t (x INT)", // without its semicolon
		"sub/it's rows.sql": "\ufeffINSERT INTO t VALUES (1), (2);\r\n\\i sub/empty.sql\r\nQUIT; INSERT INTO t VALUES (3);",
		"sub/empty.sql":     "-- nothing\n",
	})
	code, out, errs := runFile(t, "main.sql")
	require.Zero(t, code, errs)
	require.Equal(t, "x\n1\n2\ns\nsource 'x'\n", out)
	require.Equal(t, "[INFO] Execute statement succeeded.\n[INFO] Execute statement succeeded.\n[INFO] Complete execution of the SQL update statement.\n2 rows written\n2 rows in set\n1 row in set\n", errs)
}

// An error ends everything, and says which files led to it.
func TestSourceError(t *testing.T) {
	files := map[string]string{
		"a.sql":        "SELECT 1 AS n;\n  SOURCE 'b.sql';\nCREATE TABLE after_b (x INT);",
		"b.sql":        "\\i c.sql\nCREATE TABLE after_c (x INT);",
		"c.sql":        "CREATE TABLE before (x INT);\nSELECT x,\n  nosuch FROM before; CREATE TABLE after (x INT);",
		"open.sql":     "SELECT 'a",
		"run_open.sql": "SOURCE 'open.sql'",
		"missing.sql":  "SELECT 2 AS n;\nSOURCE\n  'no\x1bsuch.sql';\nSELECT 3;",
		"folder.sql":   "SOURCE '.'",
		"bad.sql":      "\\i latin.sql",
		"latin.sql":    "SELECT 1 AS n;\nSELECT '\xe9';",
		"itself.sql":   "SOURCE './itself.sql';",
		"x.sql":        "\nSOURCE 'y.sql'",
		"y.sql":        "SOURCE 'x.sql'",
	}
	for i := range 20 {
		files[fmt.Sprintf("deep%d.sql", i)] = fmt.Sprintf("\\i deep%d.sql", i+1)
	}
	inFolder(t, files)
	const failed = "[ERROR] Could not execute SQL statement. Reason:\n"
	for name, want := range map[string]string{
		"a.sql": "1 row in set\n[INFO] Execute statement succeeded.\n" + failed +
			"c.sql:3:3: Column 'nosuch' not found in any table\n    nosuch FROM before\n    ^^^^^^\n" +
			"c.sql is run by b.sql:1:1\nb.sql is run by a.sql:2:3\n",
		"run_open.sql": failed + "open.sql:1:8: the string that starts here is not closed\n  SELECT 'a\n         ^\nhint: close it with '; a single quote inside a string is written twice, not with a backslash\n" +
			"open.sql is run by run_open.sql:1:1\n",
		"missing.sql": "1 row in set\n" + failed + "missing.sql:3:3: cannot read the script no␛such.sql: no such file or directory\n    'no�such.sql'\n    ^^^^^^^^^^^^^\n",
		"folder.sql":  failed + "folder.sql:1:8: cannot read the script .: is a directory\n  SOURCE '.'\n         ^^^\n",
		"bad.sql":     "1 row in set\n" + failed + "latin.sql:2:9: byte 0xE9 is not UTF-8; save the script as UTF-8\nlatin.sql is run by bad.sql:1:1\n",
		"itself.sql":  failed + "itself.sql:1:8: ./itself.sql is being run already, and cannot run itself\n  SOURCE './itself.sql'\n         ^^^^^^^^^^^^^^\n",
		"x.sql":       failed + "y.sql:1:8: x.sql is being run already, and cannot run itself\n  SOURCE 'x.sql'\n         ^^^^^^^\ny.sql is run by x.sql:2:1\n",
	} {
		code, _, errs := runFile(t, name)
		require.Equal(t, 1, code, name)
		require.Equal(t, want, errs, name)
	}
	code, _, errs := runFile(t, "deep0.sql")
	require.Equal(t, 1, code)
	require.Contains(t, errs, "deep15.sql:1:8: 16 files run each other, and no more can\n")
	require.Contains(t, errs, "deep15.sql is run by deep14.sql:1:1\n")
	require.True(t, strings.HasSuffix(errs, "deep1.sql is run by deep0.sql:1:1\n"))
}

// A script that goes on after errors runs everything else, counts them, and fails all the same.
func TestOnErrorContinue(t *testing.T) {
	inFolder(t, map[string]string{
		"a.sql":   "SET 'sluice.on-error' = 'continue'; FAIL one; ECHO 1; \\x maybe\n\\i b.sql\n\\i nosuch.sql\nECHO 4",
		"b.sql":   "ECHO 2; FAIL two; ECHO 3; ECHO 'open",
		"one.sql": "SET 'sluice.on-error' = 'continue'; FAIL one",
	})
	e := newFake()
	code, out, errs := capture(t, nil, func(c Config) int { return runScript(ctx, e, c, "a.sql") })
	require.Equal(t, 1, code)
	for _, n := range []string{"1", "2", "3", "4"} {
		require.Contains(t, out, " "+n+" |")
	}
	require.Equal(t, []string{"SET 'sluice.on-error' = 'continue'", "FAIL one", "ECHO 1", "ECHO 2", "FAIL two", "ECHO 3", "ECHO 4"}, e.statements())
	require.Contains(t, errs, "two\nb.sql is run by a.sql:2:1\n")
	require.Contains(t, errs, "the string that starts here is not closed")
	require.True(t, strings.HasSuffix(errs, "[INFO] 5 statements of 11 failed.\n"), errs)

	code, _, errs = capture(t, nil, func(c Config) int { return runScript(ctx, newFake(), c, "one.sql") })
	require.Equal(t, 1, code)
	require.Contains(t, errs, "[INFO] 1 statement of 2 failed.\n")
}

// An init file prepares, and does nothing else; what it does well it does without a word.
func TestInit(t *testing.T) {
	inFolder(t, map[string]string{
		"good.sql": "\xef\xbb\xbfSET 'sluice.format' = 'csv';\r\nCREATE DATABASE d; USE d;\nCREATE TABLE t (x INT); \\i more.sql\n\\f json\nRESET 'parallelism.default';",
		"more.sql": "DROP TABLE t; CREATE TABLE u (x INT);",
	})
	init := func(name string) (int, string, string, engine) {
		e := live{realSession(t)}
		code, out, errs := capture(t, nil, func(c Config) int { return runInit(ctx, e, c, name) })
		return code, out, errs, e
	}
	code, out, errs, e := init("good.sql")
	require.Zero(t, code, errs)
	require.Empty(t, out+errs)
	require.Equal(t, "json", e.Option("sluice.format"))
	_, out, _ = capture(t, nil, func(c Config) int {
		return runCommand(ctx, e, c, "SET 'sluice.format' = 'csv'; SHOW CURRENT DATABASE; SHOW TABLES")
	})
	require.Equal(t, "current database name\nd\ntable name\nu\n", out)

	for sql, why := range map[string]string{
		"SELECT 1;": "bad.sql:1:1: SELECT cannot stand in an init file: it prints rows\n  SELECT 1\n  ^^^^^^\n",
		"SET 'a' = 'b'; INSERT INTO t VALUES (1)":           "unknown option 'a'",
		"CREATE TABLE t (x INT);\nINSERT INTO t VALUES (1)": "bad.sql:2:1: INSERT INTO cannot stand in an init file: it runs a job\n",
		"CREATE TABLE t AS SELECT 1 AS x":                   "CREATE TABLE AS cannot stand in an init file: it runs a job\n",
		"\\dt":                                              "bad.sql:1:1: SHOW TABLES cannot stand in an init file: it prints rows\n",
		"EXPLAIN SELECT 1":                                  "EXPLAIN cannot stand in an init file: it prints rows\n",
		"HELP":                                              "HELP cannot stand in an init file: it prints rows\n",
		"\n  nonsense":                                      "bad.sql:2:3: found \"nonsense\", expected a statement\n",
		"SET 'sluice.on-error' = 'continue'; CREATE TABLE t (x INT); CREATE TABLE t (x INT); CREATE TABLE u (x INT)": "already exist",
	} {
		require.NoError(t, os.WriteFile("bad.sql", []byte(sql), 0o666))
		code, out, errs, _ := init("bad.sql")
		require.Equal(t, 1, code, sql)
		require.Empty(t, out)
		require.Contains(t, errs, why)
	}
	code, _, errs, _ = init("nosuch.sql")
	require.Equal(t, 1, code)
	require.Equal(t, "[ERROR] Cannot read the script nosuch.sql: no such file or directory\n", errs)
}

// SOURCE and init files may be UTF-16 as scripts may.
func TestSourceEncoding(t *testing.T) {
	var b []byte
	for _, u := range utf16.Encode([]rune("\ufeffSET 'sluice.format' = 'json';\r\n")) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	inFolder(t, map[string]string{"wide.sql": string(b), "a.sql": "SOURCE 'wide.sql'; VALUES (1);"})
	code, out, errs := runFile(t, "a.sql")
	require.Zero(t, code, errs)
	require.Equal(t, "{\"EXPR$0\":1}\n", out)
	e := live{realSession(t)}
	code, _, errs = capture(t, nil, func(c Config) int { return runInit(ctx, e, c, "wide.sql") })
	require.Zero(t, code, errs)
	require.Equal(t, "json", e.Option("sluice.format"))
}

// A signal ends a script in the file that it is in, also while that waits for more.
func TestSignalInSource(t *testing.T) {
	inFolder(t, map[string]string{"a.sql": "\\i b.sql\nWRITE 2", "b.sql": "WAIT; WRITE 1", "c.sql": "\\i pipe\nWRITE 2"})
	e := newFake()
	code, _, errs := capture(t, nil, func(cfg Config) int {
		go func() { <-e.started; _ = syscall.Kill(os.Getpid(), syscall.SIGINT) }()
		return runScript(ctx, e, cfg, "a.sql")
	})
	require.Equal(t, 130, code, errs)
	require.Equal(t, []string{"WAIT"}, e.ran)

	require.NoError(t, syscall.Mkfifo("pipe", 0o600))
	e2 := newFake()
	ended := make(chan struct{})
	go func() {
		w, err := os.OpenFile("pipe", os.O_WRONLY, 0)
		if err == nil {
			_, _ = w.WriteString("WRITE 1; WRI")
			for len(e2.statements()) == 0 {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(50 * time.Millisecond) // reading again
			_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
			<-ended
			_ = w.Close()
		}
	}()
	code, _, errs = capture(t, nil, func(cfg Config) int { return runScript(ctx, e2, cfg, "c.sql") })
	close(ended)
	require.Equal(t, 143, code, errs)
	require.Equal(t, []string{"WRITE 1"}, e2.ran)
}
