package repl

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestMain runs the shell instead of the tests in the children that the tests below start.
func TestMain(m *testing.M) {
	if os.Getenv("SLUICE_TEST_SHELL") == "" {
		os.Exit(m.Run())
	}
	if dir := os.Getenv("SLUICE_TEST_LIVE"); dir != "" {
		os.Exit(runLive(dir))
	}
	e := newFake()
	begins := make(chan os.Signal, 1)
	signal.Notify(begins, syscall.SIGUSR1)
	go func() {
		<-begins
		e.begins()
	}()
	interrupts := make(chan os.Signal, 8)
	signal.Notify(interrupts, os.Interrupt)
	go func() {
		for sql := range e.started {
			switch sql {
			case "COMMIT":
				time.Sleep(500 * time.Millisecond)
				e.unstick <- struct{}{}
			case "COMMIT readers": // which stay until they see that the user has lost patience
				for len(interrupts) > 0 { // of earlier statements
					<-interrupts
				}
				<-interrupts
				time.Sleep(500 * time.Millisecond)
				e.unstick <- struct{}{}
			}
		}
	}()
	cfg := Config{Screen: NewScreen(os.Stdin, os.Stdout, os.Stderr), History: os.Getenv("SLUICE_TEST_HISTORY"), Version: "1.2.3"}
	e.err = cfg.Screen.Err()
	if name := os.Getenv("SLUICE_TEST_SCRIPT"); name != "" {
		os.Exit(runScript(ctx, e, cfg, name))
	}
	os.Exit(run(ctx, e, cfg))
}

// patience is how long a shell may take to show something on a machine that does much else.
const patience = 2 * time.Minute

// terminal is a shell in a child process on a pseudo-terminal of its own.
type terminal struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd

	mu   sync.Mutex
	seen bytes.Buffer // not yet expected
	all  bytes.Buffer
	more chan struct{}
}

// openPTY returns the two ends of a new pseudo-terminal.
func openPTY(t *testing.T) (master, slave *os.File) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals: %v", err)
	}
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 100}))
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	return os.NewFile(uintptr(fd), "/dev/ptmx"), slave
}

func startShell(t *testing.T, env ...string) *terminal {
	master, slave := openPTY(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SLUICE_TEST_SHELL=1", "TERM=xterm", "GORACE=atexit_sleep_ms=0") // else the race detector ends it a second late
	cmd.Env = append(cmd.Env, env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, cmd.Start())
	require.NoError(t, slave.Close())
	s := &terminal{t: t, master: master, cmd: cmd, more: make(chan struct{}, 1)}
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := master.Read(b)
			s.mu.Lock()
			s.seen.Write(b[:n])
			s.all.Write(b[:n])
			s.mu.Unlock()
			select {
			case s.more <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		_ = master.Close()
	})
	return s
}

// escapes are what readline draws with.
var escapes = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]")

// expect waits until the terminal shows text and forgets everything up to its end.
func (s *terminal) expect(text string) {
	s.t.Helper()
	deadline := time.After(patience)
	for {
		s.mu.Lock()
		i := strings.Index(s.seen.String(), text)
		if i >= 0 {
			s.seen.Next(i + len(text))
		}
		shown := s.seen.String()
		s.mu.Unlock()
		if i >= 0 {
			return
		}
		select {
		case <-s.more:
		case <-deadline:
			s.t.Fatalf("%q is not shown; the terminal has\n%q", text, shown)
		}
	}
}

func (s *terminal) send(keys string) {
	s.t.Helper()
	_, err := s.master.WriteString(keys)
	require.NoError(s.t, err)
}

// code waits for the shell's end.
func (s *terminal) code() int {
	s.t.Helper()
	done := make(chan error, 1)
	go func() { done <- s.cmd.Wait() }()
	select {
	case err := <-done:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			s.t.Fatal(err)
		}
		return s.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		s.mu.Lock()
		defer s.mu.Unlock()
		s.t.Fatalf("the shell does not end; the terminal has\n%q", s.all.String())
		return 0
	}
}

// transcript is everything shown, without what readline draws with.
func (s *terminal) transcript() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return escapes.ReplaceAllString(s.all.String(), "")
}

const (
	ctrlC = "\x03"
	ctrlD = "\x04"
	up    = "\x1b[A"
)

func TestPrompt(t *testing.T) {
	s := startShell(t)
	s.expect("Sluice 1.2.3: a shell and an engine for Flink SQL.")
	s.expect("QUIT; or Ctrl-D ends")
	s.expect("Sluice SQL> ")
	s.send("ECHO 1;\r")
	s.expect("|  1:1 |    1 |"[2:])
	s.expect("1 row in set (0.12 seconds)")
	s.expect("Sluice SQL> ")

	// A statement goes on until its semicolon, and several may stand on a line.
	s.send("ECHO a\r")
	s.expect("> ")
	s.send("'b;\r")
	s.expect("> ")
	s.send("c'; WRITE 2; WRI\r")
	s.expect("| a␊'b;␊c' |")
	s.expect("2 rows written (0.12 seconds)")
	s.expect("> ")
	s.send("TE 3;\r")
	s.expect("no such statement: WRI") // WRI⏎TE
	s.expect("Sluice SQL> ")

	// An error does not end the shell, and what it says cannot move the cursor.
	s.send("FAIL no\r;\r")
	s.expect("[ERROR] Could not execute SQL statement. Reason:\r\nno")
	s.expect("Sluice SQL> ")
	s.send("help\r")
	s.expect("what there is")
	s.expect("Sluice SQL> ")
	s.send(ctrlD)
	require.Zero(t, s.code())
}

func TestQuit(t *testing.T) {
	for _, word := range []string{"QUIT;", "quit", "exit", "EXIT ;"} {
		s := startShell(t)
		s.expect("Sluice SQL> ")
		s.send(word + "\r")
		require.Zero(t, s.code(), word)
	}
}

// Ctrl-C at the prompt clears the line and the statement begun.
func TestCtrlCAtPrompt(t *testing.T) {
	s := startShell(t)
	s.expect("Sluice SQL> ")
	s.send("ECHO 'never\r")
	s.expect("> ")
	s.send("mind" + ctrlC)
	s.expect("^C")
	s.expect("Sluice SQL> ")
	s.send("ECHO 2;\r")
	s.expect("|   1:1 |    2 |")
	s.expect("Sluice SQL> ")
	require.NoError(t, s.cmd.Process.Signal(os.Interrupt)) // the signal does what the key does
	s.expect("^C")
	s.expect("Sluice SQL> ")
	s.send("ECHO 'open\r")
	s.expect("> ")
	s.send(ctrlD)
	s.expect("[INFO] The statement without its ; was not run.")
	require.Zero(t, s.code())
}

// Ctrl-C during a statement cancels it and keeps the shell; progress shows meanwhile and goes.
func TestCtrlCInStatement(t *testing.T) {
	s := startShell(t)
	s.expect("Sluice SQL> ")
	s.send("WAIT;\r")
	s.expect("12,345,678 rows read, 1.5 s, waiting for a lock")
	s.send(ctrlC)
	s.expect("\r\x1b[K[INFO] The statement was canceled.")
	s.expect("Sluice SQL> ")
	s.send("ECHO 1;\r")
	s.expect("1 row in set")
	s.expect("Sluice SQL> ")

	// Too late for a commit: it is waited for and told truly, and so is what it waits for.
	s.send("COMMIT readers;\r")
	s.expect("5 rows read, 5 written, 0.0 s, committing, waiting for readers")
	s.send(ctrlC)
	s.expect("[INFO] The statement is committing, waiting for readers, please wait.")
	s.expect("1 row written")
	s.expect("Sluice SQL> ")

	// The third ends the process at once, and gives the terminal back as it was.
	s.send("STUCK;\r")
	s.expect("rows read")
	s.send(ctrlC)
	s.expect("waiting for a lock to be freed") // the statement has heard it
	s.send(ctrlC)
	s.expect("Canceling, waiting for a lock to be freed. Once more ends the shell at once.")
	s.send(ctrlC)
	require.Equal(t, 130, s.code())
	modes, err := unix.IoctlGetTermios(int(s.master.Fd()), unix.TCGETS)
	require.NoError(t, err)
	require.NotZero(t, modes.Lflag&unix.ECHO)
	require.NotZero(t, modes.Lflag&unix.ICANON)
}

func TestSignalsOnTerminal(t *testing.T) {
	for sig, code := range map[os.Signal]int{syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		s := startShell(t)
		s.expect("Sluice SQL> ")
		require.NoError(t, s.cmd.Process.Signal(sig))
		require.Equal(t, code, s.code())

		s = startShell(t)
		s.expect("Sluice SQL> ")
		s.send("WAIT;\r")
		s.expect("rows read")
		require.NoError(t, s.cmd.Process.Signal(sig))
		s.expect("The statement was canceled.")
		require.Equal(t, code, s.code())
	}
}

// The terminal goes away: the same as SIGHUP, whichever is noticed first.
func TestTerminalGone(t *testing.T) {
	s := startShell(t)
	s.expect("Sluice SQL> ")
	require.NoError(t, s.master.Close())
	require.Equal(t, 129, s.code())
}

// Statements can be recalled, in the same shell and in the next, masked and as one line.
func TestHistory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state", "history")
	s := startShell(t, "SLUICE_TEST_HISTORY="+file)
	s.expect("Sluice SQL> ")
	s.send("ECHO\r")
	s.expect("> ")
	s.send("two;\r")
	s.expect("Sluice SQL> ")
	s.send("WRITE 1; -- hunter2\r")
	s.expect("1 row written")
	s.expect("Sluice SQL> ")
	s.send("WRITE 1;\r")
	s.expect("1 row written")
	s.expect("Sluice SQL> ")
	s.send("ECHO hunter2;\r")
	s.expect("1 row in set")
	s.expect("Sluice SQL> ")
	s.send("CREATE CATALOG c WITH 'password' = 'tops3cret', oops;\r") // does not parse
	s.expect("no such statement")
	s.expect("Sluice SQL> ")
	s.send("\\set 'password'='tops3cret'\r")
	s.expect("there is no short form")
	s.expect("Sluice SQL> ")
	s.send(up + up + up + up + up)
	s.expect("ECHO⏎\ufe0etwo;")
	s.send("\r")
	s.expect("no such statement: ECHO\r\n") // ECHO⏎two: the newline is one again
	s.expect("Sluice SQL> ")
	s.send(ctrlD)
	require.Zero(t, s.code())

	b, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, `"ECHO\ntwo;"
"WRITE 1;"
"ECHO *******;"
"CREATE CATALOG c WITH 'password' = '****', oops;"
"\\set 'password'= '****'"
"ECHO\ntwo;"
`, string(b))
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	s = startShell(t, "SLUICE_TEST_HISTORY="+file)
	s.expect("Sluice SQL> ")
	s.send(up + up + up + up)
	s.expect("ECHO *******;")
	s.send(ctrlC)
	s.expect("Sluice SQL> ")
	s.send(ctrlD)
	require.Zero(t, s.code())
}

// A history that cannot be kept is said once and does not hinder.
func TestHistoryUnwritable(t *testing.T) {
	s := startShell(t, "SLUICE_TEST_HISTORY=/dev/null/history")
	s.expect("[WARN] The history cannot be read: mkdir /dev/null: not a directory")
	s.expect("Sluice SQL> ")
	s.send("WRITE 1;\r")
	s.expect("1 row written")
	s.expect("Sluice SQL> ")
	s.send("WRITE 2;\r")
	s.expect("2 rows written")
	s.send(ctrlD)
	require.Zero(t, s.code())
	require.Equal(t, 1, strings.Count(s.transcript(), "[WARN]"))
}

// A paste is text: tabs are spaces, its newlines end lines, control characters are left out, and what it
// holds runs as the same file does, also while earlier statements of it take their time.
func TestPaste(t *testing.T) {
	script := "-- it's; here\n/* ; ' */ SET 'a'='b'; ECHO 123; -- c\nECHO '--' as a,\t1 as `1--`;\nECHO '1;\n';\nCOMMIT;\n-- t\n" +
		"ECHO 'a;b''c' " + strings.Repeat("x", 5000) + ";\n;;\nROWS 2;\nWRITE 9;\n-- end\n"
	_, out, errs := capture(t, nil, func(c Config) int {
		e := newFake()
		go func() { <-e.started; close(e.unstick) }()
		return runScript(ctx, e, c, scriptFile(t, strings.ReplaceAll(script, "\t", " ")))
	})
	s := startShell(t)
	s.expect("Sluice SQL> ")
	s.send(pasteStart + strings.ReplaceAll(script, "\n", "\r") + "\a\x1b" + pasteEnd)
	s.expect("9 rows written")
	s.expect("Sluice SQL> ")
	s.send(ctrlD)
	require.Zero(t, s.code())
	shown := s.transcript()
	require.NotContains(t, shown, "\a")

	// The same rows and messages in the same order, once the prompts, echoes and times are gone.
	place := regexp.MustCompile(`\d+:\d+`)
	lines := func(text string) (kept []string) {
		for _, l := range strings.Split(strings.ReplaceAll(text, "\r", ""), "\n") {
			l = strings.TrimSuffix(place.ReplaceAllString(l, "1:1"), " (0.12 seconds)")
			if (strings.HasPrefix(l, "| ") || strings.HasPrefix(l, "[INFO]") || strings.Contains(l, " row")) && !strings.Contains(l, "place") && !strings.Contains(l, "Sluice SQL>") {
				kept = append(kept, strings.Join(strings.Fields(l), " "))
			}
		}
		return kept
	}
	want, got := lines(out+errs), lines(shown)
	for i, l := range got { // cut on a terminal only
		if strings.Contains(l, "…") {
			got[i] = "| 1:1 | 'a;b''c' " + strings.Repeat("x", 5000) + " |"
		}
	}
	require.ElementsMatch(t, want, withoutNotes(got))
}

func withoutNotes(lines []string) (kept []string) {
	for _, l := range lines {
		if !strings.Contains(l, "was cut to 30 columns") {
			kept = append(kept, l)
		}
	}
	return kept
}

// A long line is pasted in linear time, its characters cut anywhere by the terminal's buffer. A short one
// may be pasted into the middle of another.
func TestPasteLongLine(t *testing.T) {
	s := startShell(t)
	s.expect("Sluice SQL> ")
	s.send("ECHO ad;\x1b[D\x1b[D" + pasteStart + "é日" + pasteEnd + "c\r")
	s.expect("| aé日cd |")
	s.expect("Sluice SQL> ")
	s.send("ECHO '")
	long := strings.Repeat("é日👍x", 10_000)
	go func() { _, _ = s.master.WriteString(pasteStart + long + pasteEnd + "';\r") }()
	s.expect("1 row in set")
	s.expect("Sluice SQL> ")
	s.send("ECHO 2;" + ctrlC)
	s.expect("Sluice SQL> ")
	s.send(ctrlD)
	require.Zero(t, s.code())
}

// drawn returns how many bytes the terminal has been sent.
func (s *terminal) drawn() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.Len()
}

// A long line that the terminal does not mark as a paste is not drawn again for every character of it, and
// what stands for text that is still to be put in is never drawn.
func TestLongLine(t *testing.T) {
	s := startShell(t)
	s.expect("Sluice SQL> ")
	long := strings.Repeat("é日👍x", 4000)
	go func() { _, _ = s.master.WriteString("ECHO 1; ECHO '" + long + "';\r") }()
	s.expect("1 row in set")
	s.expect("| '" + "é日👍xé日👍x")
	s.expect("Sluice SQL> ")
	require.Less(t, s.drawn(), 100*len(long))

	// Character by character, as fast as they are taken, with keys in between.
	for _, c := range "ECHO '" + long[:1300] + "\b\b\b" + "end';" {
		s.send(string(c))
	}
	s.send("\x1b[D\x1b[D\x1bOD\x1bOD!" + "\r")
	s.expect("1 row in set")
	s.expect("Sluice SQL> ")

	// A search of the history takes keys.
	s.send("ECHO findme;\r")
	s.expect("| findme |")
	s.expect("Sluice SQL> ")
	s.send("ECHO 3;\r")
	s.expect("|    3 |")
	s.expect("Sluice SQL> ")
	s.send("\x12findme\r")
	s.expect("| findme |")
	s.expect("Sluice SQL> ")
	s.send("\x12" + pasteStart + "findme" + pasteEnd + "\r")
	s.expect("| findme |")
	s.expect("Sluice SQL> ")
	s.send("ECHO a" + string(pasted) + "b;\r") // the user's own stays
	s.expect("a\U0010fffdb |")
	s.expect("Sluice SQL> ")
	s.send(ctrlD)
	require.Zero(t, s.code())
}

// What stands for pasted text until it is put in never shows.
func TestPasteDoesNotFlash(t *testing.T) {
	s := startShell(t)
	s.expect("Sluice SQL> ")
	s.send(pasteStart + "ECHO 1;\rECHO '\r2';\r" + pasteEnd)
	s.expect("1 row in set")
	s.expect("1 row in set")
	s.expect("Sluice SQL> ")
	s.send(ctrlD)
	require.Zero(t, s.code())
	require.NotContains(t, s.transcript(), string(pasted))
}

// The prompt shows what is open, and a word that was meant for the shell is not swallowed in silence.
func TestPromptOfWhatIsOpen(t *testing.T) {
	s := startShell(t)
	s.expect("Sluice SQL> ")
	for _, c := range []struct{ open, prompt, end string }{{"'", "'> ", "'"}, {"`", "`> ", "`"}, {"\"", "\"> ", "\""}, {"/* ", "/*> ", "*/"}} {
		s.send("ECHO " + c.open + "\r")
		s.expect("\n\x1b[J\x1b[2K\r" + c.prompt)
		s.send("; it\r")
		s.expect("\n\x1b[J\x1b[2K\r" + c.prompt)
		if c.open == "'" {
			s.send("help;\r")
			s.expect("[INFO] HELP is part of what ' will close; Ctrl-C drops the statement.\r\n")
			s.expect(c.prompt)
			s.send("quit\r") // said once
			s.expect(c.prompt)
		}
		s.send(c.end + "\r")
		s.expect("\n\x1b[J\x1b[2K\r> ")
		s.send(ctrlC)
		s.expect("Sluice SQL> ")
	}
	s.send("\r/* \r")
	s.expect("/*> ")
	s.send("*/ quit\r;\r")
	require.Zero(t, s.code())
	require.Equal(t, 1, strings.Count(s.transcript(), "[INFO]"))
}

// On a terminal values are cut and rows end, each with a note.
func TestTerminalLimits(t *testing.T) {
	s := startShell(t)
	s.expect("Sluice SQL> ")
	s.send("SET 'sluice.max-rows' = '5';\r")
	s.expect("Sluice SQL> ")
	s.send("ROWS 10000;\r")
	s.expect("| 5 |\r\n+---+\r\n")
	s.expect("The first 5 rows (0.12 seconds); the query was ended there. SET 'sluice.max-rows' = '…' shows more.")
	s.expect("Sluice SQL> ")
	s.send("ROWS 5;\r")
	s.expect("5 rows in set")
	s.expect("Sluice SQL> ")
	s.send("ECHO " + strings.Repeat("w", 40) + ";\r")
	s.expect(strings.Repeat("w", 29) + "… |")
	s.expect("1 value was cut to 30 columns, shown by …; SET 'table.display.max-column-width' = '…' shows more.")
	s.expect("Sluice SQL> ")
	s.send("SHOW\x20x;\r")
	s.expect("CREATE TABLE t (\r\n  a INT\r\n)\r\n1 row")
	s.expect("Sluice SQL> ")
	s.send("CLEAR;\r")
	s.expect("\x1b[H\x1b[2J")
	s.send(ctrlD)
	require.Zero(t, s.code())
}

// What the background has to say lifts the prompt and what has been typed, and puts them back.
func TestBackgroundMessage(t *testing.T) {
	s := startShell(t)
	s.expect("Sluice SQL> ")
	s.send("LATER;\r")
	s.expect("succeeded.")
	s.expect("Sluice SQL> ")
	s.send("ECHO typ")
	s.expect("ECHO typ")
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGUSR1))
	s.expect("\rjob x has failed\r\n")
	s.expect("Sluice SQL> ECHO typ")
	s.send("ed;\r")
	s.expect("| typed |")
	s.expect("Sluice SQL> ")
	s.send(ctrlD)
	require.Zero(t, s.code())
}

// A script run on a terminal shows times, but no banner and no prompt, and ends at its first error.
func TestScriptOnTerminal(t *testing.T) {
	s := startShell(t, "SLUICE_TEST_SCRIPT="+scriptFile(t, "ECHO 1; FAIL two; ECHO 3;"))
	require.Equal(t, 1, s.code())
	s.expect("1 row in set (0.12 seconds)")
	s.expect("two")
	shown := s.transcript()
	require.NotContains(t, shown, "Sluice")
	require.NotContains(t, shown, " 3 |")
}

// The filter of a terminal's keys gives the same however the bytes are cut.
func TestPasteFilter(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"abc\r", "abc\r"},
		{"a\x00b\t", "ab\t"},
		{"a\tb\r", "a b\r"}, // no paste marks, yet more behind the tab
		{"x\x1b[200~a\tb\r\nc\nd\re\x03\x1b\x7f\x1b[201~\t", "xa b\rc\rd\re\t"},
		{"\x1b[A\x1b[20~\x1bOP", "\x1b[A\x1b[20~\x1bOP"},
		{"\x1b[200~\x1b[A\x1b[201~", "[A"},
		{"é日\x1b[1;5D👍\x1bbx\x1bOHy\x1b\x1b[Dz", "é日\x1b[1;5D👍\x1bbx\x1bOHy\x1b\x1b[Dz"},
		{"ab\xff", "ab\ufffd"}, // no UTF-8
		{"\x12find\x7fme\rmore", "\x12find\x7fme\rmore"},
		{"a\U0010fffdb\U0010fffd", "a\U0010fffdb\U0010fffd"},
		{strings.Repeat("long ", 40) + "\r", strings.Repeat("long ", 40) + "\r"},
	} {
		for size := 1; size <= len(c.keys); size++ {
			if size < len(c.keys) && strings.Contains(c.keys, "a\tb\r") && !strings.Contains(c.keys, "200~") {
				continue // what stands behind the tab must come with it
			}
			in := &input{keys: true}
			for k := c.keys; k != ""; k = k[min(size, len(k)):] {
				in.filter([]byte(k[:min(size, len(k))]))
				in.settle()
			}
			in.release()
			in.flush()
			parts := strings.Split(string(in.ready), string(pasted))
			text := parts[0]
			for _, part := range parts[1:] {
				text += in.nextPasted() + part
			}
			require.Equal(t, c.want, text, "%q by %d", c.keys, size)
		}
	}
}
