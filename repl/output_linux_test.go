package repl

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/session"
)

// The scripts of this file run in a directory of their own; $DIR stands for it.
func runIn(t *testing.T, dir, script string) (code int, stdout, stderr string) {
	t.Helper()
	script = strings.ReplaceAll(script, "$DIR", dir)
	code, stdout, stderr = capture(t, nil, func(c Config) int { return runCommand(ctx, newFake(), c, script) })
	return code, stdout, strings.ReplaceAll(stderr, dir, "$DIR")
}

func textOf(sql string) session.Text { return session.Text{SQL: sql, Line: 1, Column: 1} }

// cancelingEngine is one whose statements are canceled once their first rows have been taken.
type cancelingEngine struct {
	*fakeEngine
	cancel func()
}

func (e *cancelingEngine) Execute(ctx context.Context, t session.Text) (*session.Result, rows, error) {
	res, r, err := e.fakeEngine.Execute(ctx, t)
	return res, &cancelingRows{r, e.cancel, 5}, err
}

type cancelingRows struct {
	rows
	cancel func()
	left   int // batches until then
}

func (r *cancelingRows) Next(ctx context.Context) (*column.Batch, error) {
	if r.left--; r.left < 0 {
		r.cancel()
	}
	return r.rows.Next(ctx)
}

func contents(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(b)
}

// holdsOnly checks which files a directory holds.
func holdsOnly(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	got := []string{}
	for _, e := range entries {
		got = append(got, e.Name())
	}
	require.ElementsMatch(t, names, got)
}

// A file holds the results since the SET, in whatever format; the screen has none of them.
func TestOutput(t *testing.T) {
	dir := t.TempDir()
	code, out, errs := runIn(t, dir, `ROWS 1; SET 'sluice.output' = '$DIR/f'; SET 'sluice.format' = 'csv'; ROWS 3; SHOW x; NONE;
		WRITE 1; RESET 'sluice.output'; SET 'sluice.output' = ''; ROWS 2;`)
	require.Zero(t, code)
	require.Equal(t, "+---+\n| n |\n+---+\n| 1 |\n+---+\nn\n1\n2\n", out)
	require.Equal(t, `1 row in set
[INFO] Execute statement succeeded.
[INFO] Execute statement succeeded.
[INFO] 3 rows written to $DIR/f
[INFO] 1 row appended to $DIR/f
[INFO] 0 rows appended to $DIR/f
[INFO] Complete execution of the SQL update statement.
1 row written
[INFO] Execute statement succeeded.
[INFO] Execute statement succeeded.
2 rows in set
`, errs)
	require.Equal(t, "n\n1\n2\n3\nresult\n\"CREATE TABLE t (\n  a INT\n)\n\"\nn\n", contents(t, filepath.Join(dir, "f")))
	holdsOnly(t, dir, "f")
}

// What a file held before is gone with the first result of a process; setting the option again, also by way of
// another file or name, begins nothing anew.
func TestOutputBeginsAnew(t *testing.T) {
	dir := t.TempDir()
	f := filepath.Join(dir, "f")
	require.NoError(t, os.WriteFile(f, []byte("old\n"), 0o600))
	set := "SET 'sluice.format' = 'csv'; SET 'sluice.output' = '$DIR/f'; "
	_, _, _ = runIn(t, dir, set+"WRITE 1;")
	require.Equal(t, "old\n", contents(t, f))
	_, _, _ = runIn(t, dir, set+"ROWS 1;")
	require.Equal(t, "n\n1\n", contents(t, f))
	info, err := os.Stat(f)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode(), "the mode stays")
	_, _, _ = runIn(t, dir, set+"ROWS 1; ROWS 1; SET 'sluice.output' = '$DIR/f'; ROWS 2;")
	require.Equal(t, "n\n1\nn\n1\nn\n1\n2\n", contents(t, f))
	_, _, errs := runIn(t, dir, set+"ROWS 1; SET 'sluice.output' = '$DIR/g'; ROWS 1; RESET 'sluice.output'; SET 'sluice.output' = '$DIR/./f'; NONE;")
	require.Equal(t, "n\n1\nn\n", contents(t, f))
	require.Contains(t, errs, "[INFO] 0 rows appended to $DIR/./f\n")

	// A file that somebody has taken away or put in place of ours is not added to.
	e := newFake()
	_, _, _ = capture(t, nil, func(c Config) int {
		sh := newShell(e, c)
		e.options = map[string]string{"sluice.format": "csv", "sluice.output": f}
		for i, between := range []func() error{
			func() error { return os.Rename(f, f+".1") },
			func() error { return os.WriteFile(f, []byte("edited\n"), 0o600) },
			func() error { return nil },
		} {
			require.Equal(t, done, sh.run(ctx, textOf("ROWS "+fmt.Sprint(i+1)), false))
			require.NoError(t, between())
		}
		require.Equal(t, done, sh.run(ctx, textOf("NONE"), false))
		return 0
	})
	require.Equal(t, "n\n1\n", contents(t, f+".1"))
	require.Equal(t, "n\n1\n2\n3\nn\n", contents(t, f))
	holdsOnly(t, dir, "f", "f.1", "g")
}

// The scripts and commands of one command line write one file.
func TestOutputOfSeveralScripts(t *testing.T) {
	dir := t.TempDir()
	f := filepath.Join(dir, "f")
	require.NoError(t, os.WriteFile(f, []byte("old\n"), 0o600))
	e := newFake()
	e.options = map[string]string{"sluice.format": "csv", "sluice.output": f}
	_, _, errs := capture(t, nil, func(c Config) int {
		for i, sql := range []string{"ROWS 1", "ROWS 2; NONE"} {
			require.Zero(t, runCommand(ctx, e, c, sql))
			script := filepath.Join(t.TempDir(), "s.sql")
			require.NoError(t, os.WriteFile(script, []byte(fmt.Sprintf("ROWS %d;", i+3)), 0o600))
			require.Zero(t, runScript(ctx, e, c, script))
		}
		return 0
	})
	require.Equal(t, "n\n1\nn\n1\n2\n3\nn\n1\n2\nn\nn\n1\n2\n3\n4\n", contents(t, f))
	require.Equal(t, 1, strings.Count(errs, "written to"))
	require.Equal(t, 4, strings.Count(errs, "appended to"))
}

// A result that fails half-way leaves what was there, and nothing beside it.
func TestOutputWholeOrNot(t *testing.T) {
	dir := t.TempDir()
	f := filepath.Join(dir, "f")
	script := "SET 'sluice.format' = 'csv'; SET 'sluice.output' = '$DIR/f'; "
	code, out, errs := runIn(t, dir, script+"BREAK 100000;")
	require.Equal(t, exitError, code)
	require.Empty(t, out)
	require.Contains(t, errs, "the last row is bad")
	require.Contains(t, errs, "[INFO] Nothing was written to $DIR/f.\n")
	holdsOnly(t, dir)
	code, _, _ = runIn(t, dir, script+"ROWS 2; BREAK 5;")
	require.Equal(t, exitError, code)
	require.Equal(t, "n\n1\n2\n", contents(t, f))
	holdsOnly(t, dir, "f")

	// So does one that is canceled.
	e := newFake()
	e.options = map[string]string{"sluice.output": f, "sluice.format": "csv"}
	stopped, cancel := context.WithCancel(ctx)
	_, _, errs = capture(t, nil, func(c Config) int {
		sh := newShell(&cancelingEngine{e, cancel}, c)
		require.Equal(t, canceled, sh.run(stopped, textOf("ROWS 1000000"), false))
		return 0
	})
	require.Contains(t, errs, "[INFO] The statement was canceled.\n")
	require.Equal(t, "n\n1\n2\n", contents(t, f))
	holdsOnly(t, dir, "f")
}

// Places that cannot be written to are refused with the reason, at the SET and at every result.
func TestOutputRefused(t *testing.T) {
	for name, c := range map[string]struct{ file, says string }{
		"a directory":          {"$DIR", "is a directory"},
		"no directory":         {"$DIR/no/such/f", "there is no directory $DIR/no/such"},
		"a file as directory":  {"$DIR/file/f", "not a directory"},
		"a full disk":          {"/dev/full", "no space left on device"},
		"a long name":          {"$DIR/" + strings.Repeat("x", 300), "file name too long"},
		"links in a circle":    {"$DIR/circle", "too many levels of symbolic links"},
		"a socket":             {"$DIR/socket", "is neither a file, a pipe nor a terminal"},
		"nowhere, by a link":   {"$DIR/dangling", "there is no directory $DIR/gone"},
		"control characters":   {"$DIR/\x1b[2J/f", "there is no directory $DIR/␛[2J"},
		"a home of somebody":   {"~nobody/f", "there is no directory ~nobody"},
		"a directory in use":   {"/proc", "is a directory"},
		"what the kernel says": {"/proc/self/nosuch", "no file can be made in /proc/self"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
			require.NoError(t, os.Symlink("circle", filepath.Join(dir, "circle")))
			require.NoError(t, os.Symlink("gone/f", filepath.Join(dir, "dangling")))
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			require.NoError(t, err)
			defer unix.Close(fd)
			if bind := unix.Bind(fd, &unix.SockaddrUnix{Name: filepath.Join(dir, "socket")}); bind != nil {
				require.NoError(t, os.Symlink("circle", filepath.Join(dir, "socket")))
				if name == "a socket" {
					t.Skip(bind)
				}
			}
			code, out, errs := runIn(t, dir, "SET 'sluice.output' = '"+c.file+"'; ROWS 3; ROWS 4;")
			require.Equal(t, exitError, code)
			require.Empty(t, out)
			require.Contains(t, errs, "[ERROR] Could not execute SQL statement. Reason:\n")
			require.Contains(t, errs, c.says)
			if name != "a full disk" && name != "what the kernel says" { // seen only when it is tried
				require.Equal(t, 1, strings.Count(errs, "[WARN] The result cannot be written to"), errs)
			}
			require.Equal(t, 1, strings.Count(errs, "[ERROR]"), errs)
			holdsOnly(t, dir, "circle", "dangling", "file", "socket")
		})
	}
}

// A database is not replaced by rows: neither one that is in use, under any name, nor one by its name.
func TestOutputOntoDatabase(t *testing.T) {
	for file, says := range map[string]string{
		"shop":     "it is the database of catalog shop",
		"old.db":   "it is a database by its name",
		"o.SQLite": "it is a database by its name",
		"link":     "it is a database by its name",
	} {
		t.Run(file, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range []string{"old.db", "o.SQLite"} {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("rows"), 0o600))
			}
			require.NoError(t, os.Symlink("old.db", filepath.Join(dir, "link")))
			code, _, errs := runIn(t, dir, "SET 'sluice.output' = '$DIR/"+file+"'; ROWS 3;")
			require.Equal(t, exitError, code)
			require.Contains(t, errs, "[WARN] The result cannot be written to $DIR/"+file+" ('sluice.output'): "+says)
			require.Contains(t, errs, "\nthe result cannot be written to $DIR/"+file+" ('sluice.output'): "+says)
			require.Equal(t, "rows", contents(t, filepath.Join(dir, "old.db")))
			holdsOnly(t, dir, "old.db", "o.SQLite", "link")
		})
	}
	// One of that name that is new, or ours, is a file like others.
	dir := t.TempDir()
	code, _, errs := runIn(t, dir, "SET 'sluice.format' = 'csv'; SET 'sluice.output' = '$DIR/new.db'; ROWS 1; NONE;")
	require.Zero(t, code, errs)
	require.Equal(t, "n\n1\nn\n", contents(t, filepath.Join(dir, "new.db")))
}

// A file that may not be written, or a directory, is refused to whoever is not root.
func TestOutputPermissions(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write anywhere")
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), []byte("kept"), 0o400))
	code, _, errs := runIn(t, dir, "SET 'sluice.output' = '$DIR/f'; ROWS 3;")
	require.Equal(t, exitError, code)
	require.Contains(t, errs, "permission denied")
	require.NoError(t, os.Chmod(dir, 0o500))
	defer os.Chmod(dir, 0o700)
	code, _, errs = runIn(t, dir, "SET 'sluice.output' = '$DIR/g'; ROWS 3;")
	require.Equal(t, exitError, code)
	require.Contains(t, errs, "no file can be made in $DIR: permission denied")
}

// A disk that is too small leaves the old file.
func TestOutputDiskFull(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("no small disk: %v", err)
	}
	defer func() { require.NoError(t, unix.Unmount(dir, 0)) }()
	code, out, errs := runIn(t, dir, "SET 'sluice.format' = 'csv'; SET 'sluice.output' = '$DIR/f'; ROWS 3; ROWS 100000;")
	require.Equal(t, exitError, code)
	require.Empty(t, out)
	require.Contains(t, errs, "the result cannot be written to $DIR/f ('sluice.output'): no space left on device")
	require.Contains(t, errs, "[INFO] Nothing was written to $DIR/f.\n")
	require.Equal(t, "n\n1\n2\n3\n", contents(t, filepath.Join(dir, "f")))
	holdsOnly(t, dir, "f")
}

// Links are followed; other names of standard output are the screen; pipes get rows as they come.
func TestOutputElsewhere(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	require.NoError(t, os.Mkdir("sub", 0o700))
	require.NoError(t, os.Symlink("sub/real", "link"))
	set := "SET 'sluice.format' = 'csv'; SET 'sluice.output' = "
	for range 2 { // there is nothing behind the link at first
		code, _, errs := runIn(t, dir, set+"'link'; ROWS 1;")
		require.Zero(t, code, errs)
		require.Equal(t, "n\n1\n", contents(t, "sub/real"))
		to, err := os.Readlink("link")
		require.NoError(t, err)
		require.Equal(t, "sub/real", to)
	}
	holdsOnly(t, "sub", "real")
	code, _, errs := runIn(t, dir, set+"'"+strings.Repeat("n", 255)+"'; ROWS 1;")
	require.Zero(t, code, errs)

	code, _, errs = runIn(t, dir, set+"'/dev/null'; ROWS 1;")
	require.Zero(t, code, errs)
	require.Contains(t, errs, "[INFO] 1 row written to /dev/null\n")

	// The shell's own standard output, by another name.
	_, out, errs := capture(t, nil, func(c Config) int {
		return runCommand(ctx, newFake(), c, set+"'"+c.Screen.out.Name()+"'; ROWS 1; RESET 'sluice.output'; ROWS 2;")
	})
	require.Equal(t, "n\n1\nn\n1\n2\n", out)
	require.Contains(t, errs, "1 row in set\n")

	// And its standard error.
	_, out, errs = capture(t, nil, func(c Config) int {
		return runCommand(ctx, newFake(), c, set+"'"+c.Screen.err.Name()+"'; ROWS 1; ECHO;")
	})
	require.Empty(t, out)
	require.Contains(t, errs, "succeeded.\nn\n1\n[INFO] 1 row written to /")

	require.NoError(t, unix.Mkfifo("pipe", 0o600))
	cmd := exec.Command("cat", "pipe")
	var read bytes.Buffer
	cmd.Stdout = &read
	require.NoError(t, cmd.Start())
	code, _, errs = runIn(t, dir, set+"'pipe'; ROWS 5000;")
	require.Zero(t, code, errs)
	require.NoError(t, cmd.Wait())
	require.Equal(t, 5001, strings.Count(read.String(), "\n"))

	// A reader that leaves ends the statement, not the shell.
	cmd = exec.Command("head", "-1", "pipe")
	require.NoError(t, cmd.Start())
	code, _, errs = runIn(t, dir, set+"'pipe'; ROWS 1000000;")
	require.Equal(t, exitError, code)
	require.Contains(t, errs, "the result cannot be written to pipe ('sluice.output'): its reader is gone\n")
	require.NoError(t, cmd.Wait())

	// A pipe that nobody reads is waited for until the statement is canceled.
	waiting, cancel := context.WithCancel(ctx)
	time.AfterFunc(100*time.Millisecond, cancel)
	e := newFake()
	e.options["sluice.output"] = "pipe"
	_, _, errs = capture(t, nil, func(c Config) int {
		require.Equal(t, canceled, newShell(e, c).run(waiting, textOf("ROWS 3"), false))
		return 0
	})
	require.Contains(t, errs, "[INFO] The statement was canceled.\n")
}

// A process that is killed in the middle of a result leaves the old file and nothing else.
func TestOutputKilled(t *testing.T) {
	dir := t.TempDir()
	f := filepath.Join(dir, "f")
	require.NoError(t, os.WriteFile(f, []byte("old\n"), 0o600))
	script := scriptFile(t, "SET 'sluice.output' = '"+f+"'; SET 'sluice.format' = 'csv'; ROWS 1000000000;")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SLUICE_TEST_SHELL=1", "SLUICE_TEST_SCRIPT="+script)
	require.NoError(t, cmd.Start())
	time.Sleep(300 * time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	require.Equal(t, "old\n", contents(t, f))
	if fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR, 0o600); err != nil {
		t.Skipf("files without a name: %v", err)
	} else {
		require.NoError(t, unix.Close(fd))
	}
	holdsOnly(t, dir, "f")
}

// A file system that has no files without a name gets one with a made-up name, gone at the end.
func TestOutputNamedTemporary(t *testing.T) {
	dir := t.TempDir()
	f, temp, err := createNamed(filepath.Join(dir, "f"))
	require.NoError(t, err)
	holdsOnly(t, dir, filepath.Base(temp))
	o := &output{}
	d := &outputFile{output: o, name: "f", path: filepath.Join(dir, "f"), temp: temp, f: f, w: bufio.NewWriter(f)}
	_, err = d.Write([]byte("x"))
	require.NoError(t, err)
	require.NoError(t, d.commit(ctx))
	require.Equal(t, "x", contents(t, filepath.Join(dir, "f")))
	holdsOnly(t, dir, "f")
	f, temp, err = createNamed(filepath.Join(dir, "f"))
	require.NoError(t, err)
	(&outputFile{output: o, path: filepath.Join(dir, "f"), temp: temp, f: f, w: bufio.NewWriter(f)}).drop()
	holdsOnly(t, dir, "f")
}

// Off a terminal nothing is cut, limited, coloured or said on standard output, whatever the format.
func TestWideResultIsWhole(t *testing.T) {
	big := strings.Repeat("0123456789", 1000)
	var columns []string
	for i := range 99 {
		columns = append(columns, fmt.Sprintf("%d AS c%d", i, i))
	}
	sql := "SELECT " + strings.Join(columns, ", ") + ", '" + big + "' AS big"
	for _, format := range formats() {
		t.Run(format, func(t *testing.T) {
			run := func(sql string) (int, string, string) {
				return capture(t, nil, func(c Config) int { return runCommand(ctx, live{realSession(t)}, c, sql) })
			}
			code, out, errs := run("SET 'sluice.format' = '" + format + "'; " + sql)
			require.Zero(t, code, errs)
			require.Equal(t, 1, strings.Count(out, big))
			require.Contains(t, out, "c98")
			for _, r := range []string{"\x1b", "…", "\r"} {
				require.NotContains(t, out, r)
			}
			require.Equal(t, "[INFO] Execute statement succeeded.\n1 row in set\n", errs)

			// So it is in a file.
			name := filepath.Join(t.TempDir(), "f")
			code, nothing, errs := run("SET 'sluice.format' = '" + format + "'; SET 'sluice.output' = '" + name + "'; " + sql)
			require.Zero(t, code, errs)
			require.Empty(t, nothing)
			require.Equal(t, out, contents(t, name))
		})
	}
}
