package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
	"github.com/stretchr/testify/require"
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

	for _, args := range [][]string{{"--nope"}, {"-f"}, {"-D", "x"}, {"-D", "=x"}, {"-f", "a", "-c", "b"}} {
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
	require.LessOrEqual(t, len(lines), 24)
	for _, l := range lines {
		require.LessOrEqual(t, runewidth.StringWidth(l), 80, l)
	}
	for _, flag := range []string{"-f, --file", "-c, --command", "-D, --define", "--format", "-h, --help", "--version"} {
		require.Contains(t, out, flag)
	}
}

func TestMemoryBudget(t *testing.T) {
	require.GreaterOrEqual(t, memoryBudget(), int64(64<<20))
	if total, ok := meminfo(); ok {
		require.LessOrEqual(t, memoryBudget(), max(total/4, 64<<20))
	}
}

// A script given in the place of a database is refused at once, whatever else is to be done.
func TestScriptAsDatabase(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	script, empty := filepath.Join(dir, "a.sql"), filepath.Join(dir, "empty.db")
	require.NoError(t, os.WriteFile(script, []byte("SELECT 1;\n"), 0o666))
	require.NoError(t, os.WriteFile(empty, nil, 0o666))
	run := func(args ...string) (code int, stderr string) {
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
		text, err := os.ReadFile(diag.Name())
		require.NoError(t, err)
		return code, string(text)
	}
	code, stderr := run(script, "-c", "SELECT 1")
	require.Equal(t, 1, code)
	require.Equal(t, "sluice: open "+script+": database "+script+": the file is not a SQLite database\n"+
		"hint: if it is a script, sluice -f "+script+" runs it\n", stderr)
	code, stderr = run(empty, "-c", "SELECT 1") // which is how SQLite makes a new database
	require.Equal(t, 0, code, stderr)
	code, stderr = run(dir, "-c", "SELECT 1")
	require.Equal(t, 0, code, stderr)
}
