package repl

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/catalog/memory"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/internal/testfile"
	"github.com/sluice-sql/sluice/session"
)

// capture runs f on a screen of files and returns what was written.
func capture(t *testing.T, stdin *os.File, f func(Config) int) (code int, stdout, stderr string) {
	t.Helper()
	out, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer out.Close()
	errs, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer errs.Close()
	if stdin == nil {
		stdin, err = os.Open(os.DevNull)
		require.NoError(t, err)
		defer stdin.Close()
	}
	code = f(Config{Screen: NewScreen(stdin, out, errs)})
	o, err := os.ReadFile(out.Name())
	require.NoError(t, err)
	e, err := os.ReadFile(errs.Name())
	require.NoError(t, err)
	return code, string(o), string(e)
}

var ctx = context.Background()

// await waits until a screen has written text on standard error.
func await(s *Screen, text string) {
	for range 20_000 {
		if b, _ := os.ReadFile(s.err.Name()); strings.Contains(string(b), text) {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// scriptFile writes a script to a file.
func scriptFile(t *testing.T, text string) string {
	name := filepath.Join(t.TempDir(), "s.sql")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

// ways are the roads on which a script reaches the shell.
func ways(t *testing.T, newEngine func() engine, text string) map[string]func() (int, string, string) {
	pipe := func(pieces ...string) func() (int, string, string) {
		return func() (int, string, string) {
			r, w, err := os.Pipe()
			require.NoError(t, err)
			defer r.Close()
			go func() {
				for _, p := range pieces {
					_, _ = io.WriteString(w, p)
				}
				w.Close()
			}()
			return capture(t, r, func(c Config) int { return run(ctx, newEngine(), c) })
		}
	}
	letters := strings.Split(text, "")
	return map[string]func() (int, string, string){
		"file": func() (int, string, string) {
			name := scriptFile(t, text)
			return capture(t, nil, func(c Config) int { return runScript(ctx, newEngine(), c, name) })
		},
		"stdin":     pipe(text),
		"in pieces": pipe(letters...),
		"stdin as -": func() (int, string, string) {
			f, err := os.Open(scriptFile(t, text))
			require.NoError(t, err)
			defer f.Close()
			return capture(t, f, func(c Config) int { return runScript(ctx, newEngine(), c, "-") })
		},
		"command": func() (int, string, string) {
			return capture(t, nil, func(c Config) int { return runCommand(ctx, newEngine(), c, text) })
		},
		"SOURCE": func() (int, string, string) {
			name := scriptFile(t, text)
			code, out, errs := capture(t, nil, func(c Config) int { return runCommand(ctx, newEngine(), c, "SOURCE "+literal(name)) })
			errs = strings.ReplaceAll(errs, name+" is run by "+commandName+":1:1\n", "")
			// the SOURCE is a statement too
			errs = failures.ReplaceAllStringFunc(errs, func(s string) string {
				var failed, ran int
				_, _ = fmt.Sscanf(failures.ReplaceAllString(s, "$1 $3"), "%d %d", &failed, &ran)
				return failures.ReplaceAllString(s, "[INFO] ${1} ${2} of "+strconv.Itoa(ran-1)+" failed.")
			})
			return code, out, errs
		},
	}
}

// scriptName is the name of a script file.
var scriptName = regexp.MustCompile(`/\S*s\.sql`)

// failures is what a script says that has gone on after errors.
var failures = regexp.MustCompile(`\[INFO\] (\d+) (statements?) of (\d+) failed\.`)

// The files hold scripts and what comes of them: the same on every road, but for the name of the text.
func TestScripts(t *testing.T) {
	runScripts(t, "testdata/scripts", func() engine { return newFake() })
}

// Cases from bug reports of other shells, on a real session.
func TestCases(t *testing.T) {
	runScripts(t, "testdata/cases", func() engine { return live{realSession(t)} })
	t.Run("C4", testC4)
	t.Run("typed and pasted", func(t *testing.T) { runOnTerminal(t, "testdata/cases") })
}

// testC4 is one INSERT of 20 MB on one line: it works, or is over a limit that it names, whole or not at all.
func testC4(t *testing.T) {
	var b strings.Builder
	b.WriteString("create table t (a int, b string); insert into t values (0, '')")
	n := 1
	for ; b.Len() < 20<<20; n++ {
		fmt.Fprintf(&b, ",(%d,'%060d')", n, n)
	}
	b.WriteString("; select count(*) as n, max(a) as a from t;")
	code, out, errs := ways(t, func() engine { return live{realSession(t)} }, b.String())["stdin"]()
	require.Zero(t, code, errs)
	require.Contains(t, out, fmt.Sprintf("| %d | %d |", n, n-1))

	long := "create table t (b string); insert into t values ('a'), ('" + strings.Repeat("é日👍x", 2_000_000) + "'); "
	for _, way := range []string{"file", "stdin"} {
		e := live{realSession(t)}
		code, _, errs := ways(t, func() engine { return e }, long)[way]()
		require.Equal(t, 1, code)
		require.Contains(t, errs, ":1:57: the string that starts here has more than 16 MiB, the longest allowed\n")
		_, out, _ := capture(t, nil, func(c Config) int { return runCommand(ctx, e, c, "select count(*) as n from t") })
		require.Contains(t, out, "| 0 |")
	}
}

// realSession returns a session that can only keep tables in memory.
func realSession(t *testing.T) *session.Session {
	s, err := session.New(session.Config{
		Env:      &connector.Env{Clock: time.Now, TempDir: t.TempDir(), Memory: connector.NewMemory(256 << 20), Files: connector.NewFiles(), Out: io.Discard, Err: io.Discard},
		Catalogs: []catalog.Factory{memory.Factory{}},
		Options:  map[string]string{"table.local-time-zone": "UTC"},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// scriptOf is the script of a case.
func scriptOf(c *testfile.Case) string {
	if !testfile.Has(c, "escaped") {
		return c.Input
	}
	return strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\ufeff`, "\ufeff", `\xff`, "\xff", `\x1b`, "\x1b").Replace(c.Input)
}

func runScripts(t *testing.T, dir string, newEngine func() engine) {
	testfile.Walk(t, dir, ".test", func(t *testing.T, path string) {
		testfile.Run(t, path, func(t *testing.T, c *testfile.Case) string {
			text := scriptOf(c)
			var first, from string
			for name, way := range ways(t, newEngine, text) {
				code, out, errs := way()
				for _, n := range []string{stdinName, commandName} {
					errs = strings.ReplaceAll(errs, n, "s.sql")
				}
				errs = scriptName.ReplaceAllString(errs, "s.sql")
				got := fmt.Sprintf("exit %d\nstdout:\n%sstderr:\n%s", code, out, errs)
				if first == "" {
					first, from = got, name
				}
				require.Equal(t, first, got, "%s and %s differ", from, name)
			}
			return first
		})
	})
}

// Statements of a pipe run as they come, not when the pipe ends.
func TestStatementsRunAsTheyCome(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	e := newFake()
	result := make(chan int)
	go func() {
		code, _, _ := capture(t, r, func(c Config) int { return run(ctx, e, c) })
		result <- code
	}()
	_, err = io.WriteString(w, "WRITE 1; WRI")
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(e.statements()) == 1 }, time.Minute, time.Millisecond)
	_, err = io.WriteString(w, "TE 2")
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.Zero(t, <-result)
	require.Equal(t, []string{"WRITE 1", "WRITE 2"}, e.statements())
}

func TestMissingScript(t *testing.T) {
	code, out, errs := capture(t, nil, func(c Config) int { return runScript(ctx, newFake(), c, "no/such\x1b.sql") })
	require.Equal(t, 1, code)
	require.Empty(t, out)
	require.Equal(t, "[ERROR] Cannot read the script no/such␛.sql: no such file or directory\n", errs)
	code, _, errs = capture(t, nil, func(c Config) int { return runScript(ctx, newFake(), c, "testdata") })
	require.Equal(t, 1, code)
	require.Equal(t, "[ERROR] Cannot read the script testdata: is a directory\n", errs)
}

// UTF-16 with its mark is decoded, in either order; text of more than one unit and CRLF stay whole.
func TestUTF16(t *testing.T) {
	const text = "\ufeffECHO 7;\r\n-- c\r\nECHO 'x\r\n👍é';\r\n"
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		var b []byte
		for _, u := range utf16.Encode([]rune(text)) {
			b = append(b, 0, 0)
			order.PutUint16(b[len(b)-2:], u)
		}
		e := newFake()
		code, _, _ := capture(t, nil, func(c Config) int { return runScript(ctx, e, c, scriptFile(t, string(b))) })
		require.Zero(t, code)
		require.Equal(t, []string{"ECHO 7", "ECHO 'x\r\n👍é'"}, e.ran)

		code, _, errs := capture(t, nil, func(c Config) int { return runScript(ctx, newFake(), c, scriptFile(t, string(b[:len(b)-1]))) })
		require.Equal(t, 1, code)
		require.Contains(t, errs, "not valid UTF-16; save the script as UTF-8")
	}
}

// The decoder gives the same text however the bytes are cut.
func FuzzDecoder(f *testing.F) {
	f.Add([]byte("\xff\xfea\x00=\xd8M\xdc"), 3)
	f.Add([]byte("\ufeffé日👍"), 1)
	f.Add([]byte("a\xe9b"), 2)
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		read := func(size int) (string, error) {
			d := decoder{r: &chunks{b, max(size, 1)}}
			var all strings.Builder
			for {
				s, err := d.read()
				all.WriteString(s)
				if err != nil {
					return all.String(), err
				}
			}
		}
		whole, err1 := read(len(b) + 1)
		cut, err2 := read(size)
		if whole != cut || err1.Error() != err2.Error() {
			t.Fatalf("%q %v, in pieces %q %v", whole, err1, cut, err2)
		}
		if err1 == io.EOF && !(bytes.HasPrefix(b, []byte{0xff, 0xfe}) || bytes.HasPrefix(b, []byte{0xfe, 0xff})) && whole != string(b) {
			t.Fatalf("%q became %q", b, whole)
		}
	})
}

type chunks struct {
	b    []byte
	size int
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.b[:min(c.size, len(c.b))])
	c.b = c.b[n:]
	return n, nil
}

// A long statement is read in linear time.
func TestLongStatement(t *testing.T) {
	e := newFake()
	text := "ECHO '" + strings.Repeat("x", 8<<20) + "';"
	code, _, _ := capture(t, nil, func(c Config) int { return runScript(ctx, e, c, scriptFile(t, text)) })
	require.Zero(t, code)
	require.Len(t, e.ran[0], len(text)-1)
}

// Nobody reads any more: a query ends, with the code of a process that SIGPIPE ended; what writes does not.
func TestClosedPipe(t *testing.T) {
	pipe := func(text string) (int, []string, string) {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		require.NoError(t, r.Close())
		defer w.Close()
		e := newFake()
		errs, err := os.CreateTemp(t.TempDir(), "")
		require.NoError(t, err)
		defer errs.Close()
		code := runCommand(ctx, e, Config{Screen: NewScreen(os.Stdin, w, errs)}, text)
		b, err := os.ReadFile(errs.Name())
		require.NoError(t, err)
		return code, e.ran, string(b)
	}
	code, ran, errs := pipe("WRITE 1; ROWS 100000; WRITE 2;")
	require.Equal(t, 141, code)
	require.Equal(t, []string{"WRITE 1", "ROWS 100000"}, ran)
	require.Equal(t, "[INFO] Complete execution of the SQL update statement.\n1 row written\n", errs)
	code, _, _ = pipe("ROWS 1")
	require.Equal(t, 141, code)
	code, _, _ = pipe("HELP")
	require.Equal(t, 141, code)
	code, _, _ = pipe("WRITE 1; WRITE 2")
	require.Zero(t, code)
}

// A full disk is an error, not a success.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full")
	}
	defer full.Close()
	errs, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer errs.Close()
	require.Equal(t, 1, runCommand(ctx, newFake(), Config{Screen: NewScreen(os.Stdin, full, errs)}, "ROWS 3; WRITE 1"))
	b, err := os.ReadFile(errs.Name())
	require.NoError(t, err)
	require.Contains(t, string(b), "write the result: write /dev/full: no space left on device")
	require.NotContains(t, string(b), "written")
}

// Signals of a script: what they cancel, the exit code, and what is said.
func TestSignals(t *testing.T) {
	for _, c := range []struct {
		name, text string
		signal     syscall.Signal
		code       int
		ran        []string
		stderr     string
	}{
		{"SIGINT", "WAIT; WRITE 1", syscall.SIGINT, 130, []string{"WAIT"}, "[INFO] The statement was canceled.\n"},
		{"SIGTERM", "WAIT; WRITE 1", syscall.SIGTERM, 143, []string{"WAIT"}, "[INFO] The statement was canceled.\n"},
		{"SIGHUP", "WAIT; WRITE 1", syscall.SIGHUP, 129, []string{"WAIT"}, "[INFO] The statement was canceled.\n"},
		{"SIGINT at the commit of the last statement", "COMMIT", syscall.SIGINT, 0, []string{"COMMIT"},
			"[INFO] The statement is committing, please wait.\n[INFO] Complete execution of the SQL update statement.\n1 row written\n"},
		{"SIGINT at the commit of another statement", "COMMIT; WRITE 1", syscall.SIGINT, 130, []string{"COMMIT"},
			"[INFO] The statement is committing, please wait.\n[INFO] Complete execution of the SQL update statement.\n1 row written\n"},
		{"SIGTERM at the commit of the last statement", "COMMIT;\n", syscall.SIGTERM, 0, []string{"COMMIT"},
			"[INFO] The statement is committing, please wait.\n[INFO] Complete execution of the SQL update statement.\n1 row written\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newFake()
			code, _, errs := capture(t, nil, func(cfg Config) int {
				go func() {
					sql := <-e.started
					_ = syscall.Kill(os.Getpid(), c.signal)
					if sql == "COMMIT" {
						await(cfg.Screen, "please wait")
					}
					close(e.unstick)
				}()
				return runScript(ctx, e, cfg, scriptFile(t, c.text))
			})
			require.Equal(t, c.code, code)
			require.Equal(t, c.ran, e.ran)
			require.Equal(t, c.stderr, errs)
		})
	}
}

// The second Ctrl-C says what is waited for.
func TestSecondSignal(t *testing.T) {
	e := newFake()
	code, _, errs := capture(t, nil, func(cfg Config) int {
		go func() {
			<-e.started
			_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
			<-e.started // the statement has heard it
			_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
			await(cfg.Screen, "Canceling")
			close(e.unstick)
		}()
		return runCommand(ctx, e, cfg, "STUCK")
	})
	require.Equal(t, 130, code)
	require.Equal(t, "[INFO] Canceling, waiting for a lock to be freed. Once more ends the shell at once.\n[INFO] The statement was canceled.\n", errs)
}

// A signal at a commit leaves unknown what else would have come down a pipe that stays open.
func TestSignalAtCommitOfPipe(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	_, err = io.WriteString(w, "COMMIT;")
	require.NoError(t, err)
	e := newFake()
	code, _, errs := capture(t, r, func(c Config) int {
		go func() {
			<-e.started
			_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
			await(c.Screen, "please wait")
			close(e.unstick)
		}()
		return run(ctx, e, c)
	})
	require.Equal(t, 143, code)
	require.Contains(t, errs, "1 row written")
}

// A signal ends the wait for more of a script.
func TestSignalWhileReading(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	_, err = io.WriteString(w, "WRITE 1; WRITE")
	require.NoError(t, err)
	e := newFake()
	go func() {
		for len(e.statements()) == 0 { // listening by then, and soon reading again
			time.Sleep(time.Millisecond)
		}
		time.Sleep(20 * time.Millisecond)
		_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
	}()
	code, _, errs := capture(t, r, func(c Config) int { return run(ctx, e, c) })
	require.Equal(t, 130, code)
	require.Equal(t, []string{"WRITE 1"}, e.statements())
	require.Contains(t, errs, "1 row written")
}

// Whoever sees no progress line is told of a lock once it has been waited for a while, once for each.
func TestLockWaitOffTerminal(t *testing.T) {
	code, out, errs := runIn(t, t.TempDir(), "LOCKED 1; LOCKED 0; ROWS 1; LOCKED 0")
	require.Zero(t, code)
	require.Equal(t, "+---+\n| n |\n+---+\n| 1 |\n+---+\n", out)
	says := "[INFO] Waiting for /data/shop.db, locked by process 12 (sqlite3). There is no time limit; Ctrl-C ends the wait.\n"
	ok := "[INFO] Execute statement succeeded.\n"
	require.Equal(t, ok+says+ok+"1 row in set\n"+says+ok, errs)
}
