package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/internal/testfile"
)

func parseArguments(args ...string) (a arguments, code int, done bool, stdout, stderr string) {
	var out, err bytes.Buffer
	a, code, done = parse(args, &out, &err)
	return a, code, done, out.String(), err.String()
}

func TestArguments(t *testing.T) {
	a, _, done, _, _ := parseArguments("-c", "SELECT 1, 2", "--command=SELECT 3", "-D", "a=b=c", "-Dsluice.max-rows=5", "--format", "csv", "x.db", "y.db")
	require.False(t, done)
	require.Equal(t, []string{"SELECT 1, 2", "SELECT 3"}, a.commands)
	require.Equal(t, map[string]string{"a": "b=c", "sluice.max-rows": "5", "sluice.format": "csv"}, a.options)
	require.Equal(t, []string{"x.db", "y.db"}, a.catalogs)
	require.Nil(t, a.history)

	a, _, done, _, _ = parseArguments("-i", "a.sql", "--init", "b.sql", "--no-init", "--on-error", "continue", "--output", "f", "--history", "", "-f", "-", "-f", "x")
	require.False(t, done)
	require.Equal(t, []string{"a.sql", "b.sql"}, a.inits)
	require.True(t, a.noInit)
	require.Equal(t, map[string]string{"sluice.on-error": "continue", "sluice.output": "f"}, a.options)
	require.Empty(t, *a.history)
	require.Equal(t, []string{"-", "x"}, a.files)

	_, code, done, out, _ := parseArguments("--version")
	require.True(t, done)
	require.Zero(t, code)
	require.Regexp(t, `^sluice \S+\nGo 1\.\d+.*\nSQLite 3\.[\d.]+\n$`, out)

	for _, args := range [][]string{{"--nope"}, {"-f"}, {"-D", "x"}, {"-D", "=x"}, {"-f", "a", "-c", "b"},
		{"--format", "xml"}, {"--on-error", "ignore"}, {"--completion", "cmd"}, {"--history", "a", "--history", "b"}} {
		_, code, done, out, err := parseArguments(args...)
		require.True(t, done, args)
		require.Equal(t, 2, code, args)
		require.Empty(t, out, args)
		require.Contains(t, err, "--help", args)
	}
}

// The help fits a screen of 80 by 24 with the line it was asked for on, and names every flag.
func TestHelpFitsAScreen(t *testing.T) {
	_, code, done, out, _ := parseArguments("-h")
	require.True(t, done)
	require.Zero(t, code)
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	require.LessOrEqual(t, len(lines), 23, out)
	for _, l := range lines {
		require.LessOrEqual(t, runewidth.StringWidth(l), 80, l)
	}
	for _, f := range flags() {
		require.Equal(t, !f.hidden, strings.Contains(out, f.spelling()), f.name)
	}
}

// printed compares a file with what the tables say, or writes it.
func printed(t *testing.T, file, want string) {
	t.Helper()
	if testfile.Updating() {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
	}
	have, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, want, string(have), "%s is stale: run go test . -run TestManual -update", file)
}

func TestManual(t *testing.T) {
	printed(t, "docs/sluice.1", manual())
	for _, tool := range [][]string{{"groff", "-ww", "-man", "-Tutf8", "-z", "docs/sluice.1"}, {"mandoc", "-T", "lint", "-W", "warning", "docs/sluice.1"}} {
		if _, err := exec.LookPath(tool[0]); err != nil {
			continue
		}
		said, err := exec.Command(tool[0], tool[1:]...).CombinedOutput()
		require.NoError(t, err, string(said))
		require.Empty(t, string(said), tool[0])
	}
}

// The completion scripts are fresh, name every flag, and are read by the shells that are installed.
func TestManualOfShells(t *testing.T) {
	for shell, file := range map[string]string{"bash": "sluice.bash", "zsh": "_sluice", "fish": "sluice.fish"} {
		file = filepath.Join("scripts", "completions", file)
		_, code, done, out, _ := parseArguments("--completion", shell)
		require.True(t, done)
		require.Zero(t, code)
		printed(t, file, out)
		for _, f := range flags() {
			require.Contains(t, out, f.name, shell)
		}
		if _, err := exec.LookPath(shell); err == nil {
			said, err := exec.Command(shell, "-n", file).CombinedOutput()
			require.NoError(t, err, string(said))
		}
	}
}

// The completion of bash, as bash does it.
func TestBashCompletion(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"sluice", "--no"}, "--no-init"},
		{[]string{"sluice", "--format", "js"}, "json"},
		{[]string{"sluice", "--on-error", "="}, "stop continue"},
		{[]string{"sluice", "--on-error", "=", "c"}, "continue"},
		{[]string{"sluice", "-D", "sluice.max"}, "sluice.max-rows="},
		{[]string{"sluice", "-c", "SEL"}, ""},
		{[]string{"sluice", "main_t"}, "main_test.go"},
		{[]string{"sluice", "-f", "main_t"}, "main_test.go"},
	} {
		script := "source scripts/completions/sluice.bash; compopt() { :; }; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($#-1)); _sluice; echo -n \"${COMPREPLY[*]}\""
		out, err := exec.Command(bash, append([]string{"-c", script, "bash"}, c.words...)...).CombinedOutput()
		require.NoError(t, err, string(out))
		require.Equal(t, c.want, string(out), c.words)
	}
}

// The completion of fish, as fish does it.
func TestFishCompletion(t *testing.T) {
	fish, err := exec.LookPath("fish")
	if err != nil {
		t.Skip("no fish")
	}
	for typed, want := range map[string]string{
		"sluice --no": "--no-init", "sluice --format js": "json", "sluice -D sluice.max": "sluice.max-rows=", "sluice -f main_t": "main_test.go", "sluice -c SEL": "",
	} {
		out, err := exec.Command(fish, "--no-config", "-c", "source scripts/completions/sluice.fish; complete -C $argv[1]", typed).CombinedOutput()
		require.NoError(t, err, string(out))
		word, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\t")
		require.Equal(t, want, word, typed)
	}
}

func TestMemoryBudget(t *testing.T) {
	require.GreaterOrEqual(t, memoryBudget(), int64(64<<20))
	if total, ok := meminfo(); ok {
		require.LessOrEqual(t, memoryBudget(), max(total/4, 64<<20))
	}
}

// runStart runs the program with nothing to read.
func runStart(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return runStartIn(t, t.TempDir(), args...)
}

// runStartIn is runStart that has its output in the files out and err of a directory meanwhile.
func runStartIn(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	in, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer in.Close()
	out, err := os.Create(filepath.Join(dir, "out"))
	require.NoError(t, err)
	defer out.Close()
	diag, err := os.Create(filepath.Join(dir, "err"))
	require.NoError(t, err)
	defer diag.Close()
	code = start(args, in, out, diag)
	o, err := os.ReadFile(out.Name())
	require.NoError(t, err)
	e, err := os.ReadFile(diag.Name())
	require.NoError(t, err)
	return code, string(o), string(e)
}

// inFolder makes an empty folder the current one, and the home of state and configuration.
func inFolder(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o777))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
	}
}

// Init files come first, the command line stands against them, and databases are opened last. The user's own
// is for terminals only.
func TestInitFiles(t *testing.T) {
	inFolder(t, map[string]string{
		"config/sluice/init.sql": "SET 'sluice.format' = 'json';",
		"a.sql":                  "SET 'sluice.format' = 'csv'; SET 'sluice.max-rows' = '7'; CREATE DATABASE d; USE d;",
		"b.sql":                  "CREATE TABLE t (x INT);",
		"bad.sql":                "CREATE TABLE t (x INT);\nINSERT INTO t VALUES (1);",
		"shop.db":                "",
	})
	code, out, errs := runStart(t, "-i", "a.sql", "--init", "b.sql", "-c", "SHOW TABLES; SET 'sluice.max-rows'")
	require.Zero(t, code, errs)
	require.Contains(t, out, "table name\nt\n")
	require.Contains(t, out, "sluice.max-rows,7,")
	code, out, errs = runStart(t, "-i", "a.sql", "--format", "json", "-D", "sluice.max-rows=9", "shop.db", "-c", "SHOW CURRENT CATALOG; SET 'sluice.max-rows'")
	require.Zero(t, code, errs)
	require.Contains(t, out, "{\"current catalog name\":\"shop\"}\n")
	require.Contains(t, out, "\"value\":\"9\"")
	code, out, errs = runStart(t, "-i", "bad.sql", "-c", "SELECT 1")
	require.Equal(t, 1, code)
	require.Empty(t, out)
	require.Contains(t, errs, "bad.sql:2:1: INSERT INTO cannot stand in an init file: it runs a job\n")
	code, _, errs = runStart(t, "-i", "nosuch.sql", "-c", "SELECT 1")
	require.Equal(t, 1, code)
	require.Equal(t, "[ERROR] Cannot read the script nosuch.sql: no such file or directory\n", errs)
	code, _, errs = runStart(t, "-D", "sluice.formt=csv", "-c", "SELECT 1")
	require.Equal(t, 2, code)
	require.Contains(t, errs, "did you mean 'sluice.format'?")
}

// Several scripts are one: an error ends all of them, or none with --on-error continue.
func TestSeveralScripts(t *testing.T) {
	inFolder(t, map[string]string{
		"a.sql": "VALUES (1); SELECT nosuch; VALUES (2);",
		"b.sql": "VALUES (3); QUIT; VALUES (4);",
		"c.sql": "VALUES (5)",
	})
	for _, c := range []struct {
		args []string
		code int
		out  string
		err  string
	}{
		{[]string{"-f", "b.sql", "-f", "c.sql"}, 0, "3 5 ", ""},
		{[]string{"-f", "a.sql", "-f", "b.sql"}, 1, "1 ", "a.sql:1:20: "},
		{[]string{"-f", "a.sql", "-f", "nosuch.sql", "-f", "b.sql", "-f", "c.sql", "--on-error=continue"}, 1, "1 2 3 5 ", "[INFO] 1 statement of 3 failed.\n[ERROR] Cannot read the script nosuch.sql: no such file or directory\n"},
		{[]string{"-c", "VALUES (1); nonsense", "-c", "VALUES (2)"}, 1, "1 ", "<command>:1:13: "},
		{[]string{"-c", "VALUES (1); nonsense; VALUES (2)", "-c", "VALUES (3)", "--on-error", "continue"}, 1, "1 2 3 ", "[INFO] 1 statement of 3 failed.\n"},
		{[]string{"-c", "SELECT 'open", "-c", "VALUES (3)", "--on-error", "continue"}, 1, "3 ", "[INFO] 1 statement of 1 failed.\n"},
	} {
		code, out, errs := runStart(t, append(c.args, "--format", "tsv")...)
		require.Equal(t, c.code, code, c.args)
		require.Equal(t, c.out, strings.ReplaceAll(strings.ReplaceAll(out, "EXPR$0\n", ""), "\n", " "), c.args)
		require.Contains(t, errs, c.err, c.args)
	}
	code, out, errs := runStart(t, "--output", "rows.csv", "--format", "csv", "-c", "VALUES (1), (2)")
	require.Zero(t, code, errs)
	require.Empty(t, out)
	rows, err := os.ReadFile("rows.csv")
	require.NoError(t, err)
	require.Equal(t, "EXPR$0\n1\n2\n", string(rows))
}

// Files are opened whatever they are called, under a name that SQL can say; what cannot be is refused with
// what to do, and nothing of a name reaches the terminal raw.
func TestOddDatabases(t *testing.T) {
	inFolder(t, map[string]string{
		"it's a \"b\" `c`.db": "", "semi;colon.db": "", " blank .db": "", "100%25.db": "", "#h.sqlite3": "", "no.db": "hello\n", "d/shop.db": "", "shop.db": "", "-.db": "",
	})
	for _, file := range []string{"it's a \"b\" `c`.db", "semi;colon.db", " blank .db", "100%25.db", "#h.sqlite3", "./-.db", "d"} {
		code, out, errs := runStart(t, file, "--format", "tsv", "-c", "CREATE TABLE t (x INT); INSERT INTO t VALUES (1); SELECT * FROM t; SHOW CURRENT CATALOG")
		if file == "d" {
			file = "d.d"
		}
		require.Zero(t, code, errs)
		name := filepath.Base(file)
		require.Equal(t, "x\n1\ncurrent catalog name\n"+strings.TrimSuffix(name, filepath.Ext(name))+"\n", out)
	}
	for _, c := range []struct {
		files []string
		code  int
		err   string
	}{
		{[]string{"no\x1bsuch.db"}, 2, "sluice: cannot open no␛such.db: no such file or directory\nhint: an empty file is a new database: touch FILE.db makes one\n"},
		{[]string{"no.db"}, 1, "no.db: the file is not a SQLite database\n"},
		{[]string{"shop.db", "d/shop.db"}, 1, "sluice: open d/shop.db: Catalog shop already exists.\nhint: catalogs are named after their files, and two cannot have one name; in the shell CREATE CATALOG opens a file by any name\n"},
	} {
		code, out, errs := runStart(t, append(c.files, "-c", "SELECT 1")...)
		require.Equal(t, c.code, code)
		require.Empty(t, out)
		require.Contains(t, errs, c.err)
	}
}

// A file of the command line is opened for this session: a store of catalogs does not get it, and an init file
// may have opened it already.
func TestDatabaseAndCatalogStore(t *testing.T) {
	inFolder(t, map[string]string{
		"shop.db": "", "other/shop.db": "",
		"a.sql": "CREATE CATALOG shop WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:shop.db')",
	})
	keep := []string{"-D", "table.catalog-store.kind=file", "--format", "tsv", "-c", "SHOW CATALOGS; SHOW CREATE CATALOG shop"}
	for range 2 {
		code, out, errs := runStart(t, append([]string{"other/shop.db"}, keep...)...)
		require.Zero(t, code, errs)
		require.Contains(t, out, "default_catalog\nshop\n")
		require.Contains(t, out, "/other/shop.db'")
		require.NoFileExists(t, "config/sluice/catalogs/shop.yaml")
	}
	code, _, errs := runStart(t, append([]string{"-i", "a.sql", "shop.db"}, keep...)...)
	require.Zero(t, code, errs)
	require.FileExists(t, "config/sluice/catalogs/shop.yaml")
	code, out, errs := runStart(t, append([]string{"other/shop.db"}, keep...)...) // in front of the one that is kept
	require.Zero(t, code, errs)
	require.Contains(t, out, "/other/shop.db'")
	code, out, errs = runStart(t, keep...)
	require.Zero(t, code, errs)
	require.NotContains(t, out, "/other/")
}

// A script given in the place of a database is refused at once, whatever else is to be done.
func TestScriptAsDatabase(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	script, empty := filepath.Join(dir, "a.sql"), filepath.Join(dir, "empty.db")
	require.NoError(t, os.WriteFile(script, []byte("SELECT 1;\n"), 0o666))
	require.NoError(t, os.WriteFile(empty, nil, 0o666))
	run := func(args ...string) (code int, stderr string) {
		code, _, stderr = runStart(t, args...)
		return code, stderr
	}
	code, stderr := run(script, "-c", "SELECT 1")
	require.Equal(t, 1, code)
	require.Equal(t, "sluice: open "+script+": database "+script+": the file is not a SQLite database\n"+
		"hint: if it is a script, sluice -f "+script+" runs it\n", stderr)
	rows := filepath.Join(dir, "it's.csv")
	require.NoError(t, os.WriteFile(rows, []byte("a,b\n1,2\n"), 0o666))
	_, stderr = run(rows, "-c", "SELECT 1")
	require.Contains(t, stderr, "\nhint: a file is read as a table: CREATE TABLE t WITH ('connector' = 'filesystem', 'path' = '"+strings.ReplaceAll(rows, "'", "''")+"', 'format' = 'csv') in the shell lists its columns\n")
	code, stderr = run(empty, "-c", "SELECT 1") // which is how SQLite makes a new database
	require.Equal(t, 0, code, stderr)
	code, stderr = run(dir, "-c", "SELECT 1")
	require.Equal(t, 0, code, stderr)
}
