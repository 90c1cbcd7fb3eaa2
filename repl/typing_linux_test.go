package repl

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/sluice-sql/sluice/internal/testfile"
)

const ctrlR = "\x12"

// resize changes the terminal's size, and tells the shell so, as terminals do.
func (s *terminal) resize(rows, columns uint16) {
	s.t.Helper()
	require.NoError(s.t, unix.IoctlSetWinsize(int(s.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns}))
}

// Short forms, \G and SOURCE at the prompt: no semicolon, an error brings the prompt back, and the history
// gives each back as it was.
func TestShortFormsAtPrompt(t *testing.T) {
	dir := t.TempDir()
	file, history := filepath.Join(dir, "it's.sql"), filepath.Join(dir, "history")
	require.NoError(t, os.WriteFile(file, []byte("ECHO 1;\nFAIL two;\nECHO 3;"), 0o666))
	s := startShell(t, "SLUICE_TEST_HISTORY="+history)
	s.expect("Sluice SQL> ")
	s.send("  \\dv t;\r")
	s.expect("CREATE TABLE t (")
	s.expect("Sluice SQL> ")
	s.send("\\dtt\r")
	s.expect("1:1: there is no short form \\dtt\r\n  \\dtt\r\n  ^^^^\r\nhint: did you mean \\dt?")
	s.expect("Sluice SQL> ")
	s.send("\\i " + file + "\r")
	s.expect("|   1:1 |    1 |")
	s.expect("two\r\n")
	s.expect("Sluice SQL> ")
	s.send("SOURCE 'nosuch.sql';\r")
	s.expect("1:8: cannot read the script nosuch.sql: no such file or directory\r\n")
	s.expect("Sluice SQL> ")
	s.send("WRITE 1;\r")
	s.expect("1 row written")
	s.expect("Sluice SQL> ")
	s.send("ECHO a\r\\\rb\\G\r") // a backslash inside a statement is the statement's
	s.expect(" text: a\r\n       \\\r\n       b\r\n")
	s.expect("Sluice SQL> ")
	s.send("ECHO a\r\\q\r")
	s.expect("[INFO] \\q is part of the statement that goes on; Ctrl-C drops it.\r\n")
	s.send(ctrlC)
	s.expect("Sluice SQL> ")
	s.send(".tables\r") // at once, with no prompt for more
	s.expect("commands do not begin with a dot here\r\n  .tables\r\n  ^^^^^^^\r\nhint: \\dt lists the tables\r\n")
	s.expect("Sluice SQL> ")
	s.send("help create table\r")
	s.expect("what there is")
	s.expect("Sluice SQL> ")
	s.send("\\?\r")
	s.expect("  \\timing [on|off] ")
	s.expect("Sluice SQL> ")
	s.send("\\q\r")
	require.Zero(t, s.code())
	require.NotContains(t, s.transcript(), "|    3 |")

	b, err := os.ReadFile(history)
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("%q\n%q\n%q\n%q\n%q\n%q\n%q\n%q\n%q\n",
		`\dv t`, `\dtt`, `\i `+file, "SOURCE 'nosuch.sql';", "WRITE 1;", "ECHO a\n\\\nb \\G", "help create table;", `\?`, `\q`), string(b))

	s = startShell(t, "SLUICE_TEST_HISTORY="+history)
	s.expect("Sluice SQL> ")
	s.send(up + up + up + up) // the statement of three lines, on one
	s.expect("ECHO a⏎\ufe0e\\⏎\ufe0eb \\G")
	s.send("\r")
	s.expect(" text: a\r\n       \\\r\n       b\r\n")
	s.expect("Sluice SQL> ")
	s.send(ctrlD)
	require.Zero(t, s.code())
}

// Ctrl-R finds statements of several lines by any of their words, oldest of equals last, and runs them as
// they were.
func TestSearchOfHistory(t *testing.T) {
	history := filepath.Join(t.TempDir(), "history")
	require.NoError(t, os.WriteFile(history, []byte("\"ECHO first\\n  second\\n  needle;\"\n\"ECHO other;\"\n\"ECHO 'it''s'\\n\\tlast;\"\n"), 0o600))
	s := startShell(t, "SLUICE_TEST_HISTORY="+history)
	s.expect("Sluice SQL> ")
	s.send(ctrlR + "NEED")
	s.expect("bck-i-search")
	s.send("\r")
	s.expect("first␊  second␊  needle")
	s.expect("Sluice SQL> ")
	s.send(ctrlR + "last\r")
	s.expect("'it''s'␊␉last")
	s.expect("Sluice SQL> ")
	s.send(ctrlR + "nosuchthing")
	s.expect("failing bck-i-search: nosuchthing")
	s.send(ctrlC)
	s.expect("Sluice SQL> ")
	s.send("ECHO 5;\r")
	s.expect("|    5 |")
	s.expect("Sluice SQL> ")
	s.send(ctrlD)
	require.Zero(t, s.code())
}

// Ctrl-C in a file run at the prompt ends the file, whatever it is at, and keeps the shell.
func TestCtrlCInSource(t *testing.T) {
	dir := t.TempDir()
	inner, outer, pipe := filepath.Join(dir, "inner.sql"), filepath.Join(dir, "outer.sql"), filepath.Join(dir, "pipe")
	require.NoError(t, os.WriteFile(inner, []byte("ECHO 1; WAIT; ECHO never;"), 0o666))
	require.NoError(t, os.WriteFile(outer, []byte("SOURCE '"+inner+"'; ECHO never;"), 0o666))
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	s := startShell(t)
	s.expect("Sluice SQL> ")
	s.send("SOURCE '" + outer + "'; ECHO after;\r")
	s.expect("rows read")
	s.send(ctrlC)
	s.expect("[INFO] The statement was canceled.")
	s.expect("[INFO] The rest of " + inner + " was not run.")
	s.expect("[INFO] The rest of " + outer + " was not run.")
	s.expect("Sluice SQL> ")

	require.NotContains(t, s.transcript(), "| after |") // the rest of the line is not run either

	// too late for a commit, which is the last thing done
	require.NoError(t, os.WriteFile(inner, []byte("COMMIT readers; ECHO never;"), 0o666))
	s.send("\\i " + outer + "\r")
	s.expect("committing")
	s.send(ctrlC)
	s.expect("1 row written")
	s.expect("[INFO] The rest of " + outer + " was not run.")
	s.expect("Sluice SQL> ")

	// a file that does not come to an end
	s.send("\\i " + pipe + "\r")
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = w.WriteString("ECHO 2; ECHO ")
	require.NoError(t, err)
	s.expect("|    2 |")
	time.Sleep(20 * time.Millisecond) // reading again
	s.send(ctrlC)
	s.expect("[INFO] The rest of " + pipe + " was not run.")
	s.expect("Sluice SQL> ")
	require.NoError(t, w.Close())
	s.send("ECHO 4;\r")
	s.expect("|    4 |")
	s.expect("Sluice SQL> ")
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 143, s.code())
	require.NotContains(t, s.transcript(), "never |")
}

// SIGHUP and SIGTERM end a shell also in a file that it runs.
func TestSignalsInSourceAtPrompt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.sql")
	require.NoError(t, os.WriteFile(file, []byte("WAIT; ECHO never;"), 0o666))
	for sig, code := range map[os.Signal]int{syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		s := startShell(t)
		s.expect("Sluice SQL> ")
		s.send("\\i " + file + "\r")
		s.expect("rows read")
		require.NoError(t, s.cmd.Process.Signal(sig))
		require.Equal(t, code, s.code())
		require.NotContains(t, s.transcript(), "never |")
	}
}

// The terminal changes its size while a line longer than it is typed, and while rows are printed: what is
// typed and what is printed stays what it is.
func TestResize(t *testing.T) {
	s := startShell(t)
	s.expect("Sluice SQL> ")
	long := strings.Repeat("0123456789", 25)
	for i, c := range "ECHO '" + long + "'" {
		s.send(string(c))
		if i%40 == 20 {
			s.resize(uint16(10+i%7), uint16(30+(i*37)%90))
		}
	}
	s.resize(5, 20)
	s.send("\x01\x05") // to the start and the end of it
	s.resize(40, 100)
	s.send(";\r")
	s.expect("1 row in set")
	s.expect("Sluice SQL> ")
	s.send("WRITE 7;\r")
	s.expect("7 rows written")
	s.expect("Sluice SQL> ")

	s.send("SET 'sluice.max-rows' = '100000';\r")
	s.expect("Sluice SQL> ")
	s.send("SET 'sluice.pager' = 'off';\r")
	s.expect("Sluice SQL> ")
	s.send("ROWS 50000;\r")
	for i := range 20 {
		s.expect(fmt.Sprintf("| %5d |\r\n", 1+i*2000))
		s.resize(uint16(5+i), uint16(100-4*i))
	}
	s.expect("| 50000 |")
	s.expect("50000 rows in set")
	s.expect("Sluice SQL> ")
	s.send(ctrlD)
	require.Zero(t, s.code())
}

// A script of 500 lines with tabs that is pasted gives the statements, rows and messages that its file
// gives, whether the terminal marks pastes or not.
func TestPasteOfALongScript(t *testing.T) {
	var b strings.Builder
	b.WriteString("create table t (\n\tid\tint,\n\tname\tstring\n);\n")
	for i := 0; b.Len() < 100_000 && strings.Count(b.String(), "\n") < 490; i++ {
		switch i % 5 {
		case 0:
			fmt.Fprintf(&b, "insert into t values\t-- it's row %d;\n\t(%d,\t'name; %d');\n", i, i, i)
		case 1:
			fmt.Fprintf(&b, "select\n\tid,\n\tname\nfrom\tt\nwhere\tid\t= %d;\n", i-1)
		case 2:
			fmt.Fprintf(&b, "/* a comment\n\tof lines; */ select count(*) as n from t; select '%d\n;' as s;\n", i)
		case 3:
			b.WriteString("\n\\d t\n")
		case 4:
			fmt.Fprintf(&b, "values (%d)\\G\n", i)
		}
	}
	for strings.Count(b.String(), "\n") < 499 {
		b.WriteString("-- filler\n")
	}
	b.WriteString("select 'the end' as e;\n")
	script := b.String()
	require.Equal(t, 500, strings.Count(script, "\n"))

	file := filepath.Join(t.TempDir(), "s.sql")
	require.NoError(t, os.WriteFile(file, []byte(script), 0o600))
	_, out, errs := capture(t, nil, func(c Config) int { return runScript(ctx, live{realSession(t)}, c, file) })
	wantRows, wantMessages := splitShown(out + errs)
	require.Greater(t, len(wantMessages), 200)
	for name, marks := range map[string][2]string{"marked": {pasteStart, pasteEnd}, "unmarked": {"", ""}} {
		t.Run(name, func(t *testing.T) {
			s := startShell(t, "SLUICE_TEST_LIVE="+liveFolder(t))
			s.expect("Sluice SQL> ")
			go func() { _, _ = s.master.WriteString(marks[0] + strings.ReplaceAll(script, "\n", "\r") + marks[1]) }()
			s.expect("| the end |\r\n")
			s.expect("Sluice SQL> ")
			s.send(ctrlD)
			require.Zero(t, s.code())
			gotRows, gotMessages := splitShown(s.transcript())
			require.Equal(t, wantRows, gotRows)
			require.Equal(t, wantMessages, gotMessages)
		})
	}
}

// However much the background has to say while a statement of several long lines is typed, each of its
// messages stands on a line of its own, and what is typed stays what it is.
func TestBackgroundChatter(t *testing.T) {
	s := startShell(t)
	s.expect("Sluice SQL> ")
	const notes = 200
	s.send(fmt.Sprintf("CHATTER %d;\r", notes))
	s.expect("note 0 ")
	long := strings.Repeat("é日👍x", 60)
	for _, c := range "ECHO first\r" + long + "\rlast" {
		s.send(string(c))
		time.Sleep(time.Millisecond)
	}
	s.expect(fmt.Sprintf("note %d of the background", notes-1))
	s.send(";\r")
	s.expect("1 row in set")
	s.expect("Sluice SQL> ")
	s.send(up + "\r")
	s.expect("1 row in set")
	s.send(ctrlD)
	require.Zero(t, s.code())
	shown := s.transcript()
	for i := range notes {
		require.Regexp(t, fmt.Sprintf("[\r\n]note %d of the background\r\n", i), shown)
	}
	require.Contains(t, shown, "first␊")
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Regexp(t, `(?s)1:1.*first␊é日👍xé日👍`, s.all.String())
}

// took is what a terminal says in addition.
var took = regexp.MustCompile(` \(\d+\.\d+ seconds\)`)

// splitShown returns the lines of results and those of messages, without prompts, echoes and times.
func splitShown(text string) (rows, messages []string) {
	for _, l := range strings.Split(strings.ReplaceAll(text, "\r", ""), "\n") {
		l = took.ReplaceAllString(l, "")
		switch {
		case strings.HasSuffix(l, " in set"), strings.HasSuffix(l, " written"), l == "Empty set", strings.HasPrefix(l, "["):
			messages = append(messages, l)
		case strings.HasPrefix(l, "| "), strings.HasPrefix(l, "+-"), strings.HasPrefix(l, "*"), strings.HasPrefix(l, "EXPR$"):
			rows = append(rows, l)
		}
	}
	return rows, messages
}

// runOnTerminal types and pastes the scripts that end well: they give the rows and the messages that they
// give from a file.
func runOnTerminal(t *testing.T, dir string) {
	well := 0
	defer func() { require.Greater(t, well, 5) }()
	testfile.Walk(t, dir, ".test", func(t *testing.T, path string) {
		testfile.Run(t, path, func(t *testing.T, c *testfile.Case) string {
			if !strings.HasPrefix(c.Expected, "exit 0\n") || strings.Contains(c.Expected, "fail") {
				return c.Expected
			}
			well++
			wantRows, wantMessages := splitShown(c.Expected)
			text := strings.TrimPrefix(strings.TrimRight(scriptOf(c), "\n"), "\ufeff")
			if !strings.HasSuffix(text, ";") && !strings.Contains(text, "-- end") {
				text += ";"
			}
			for name, marks := range map[string][2]string{"typed": {"", ""}, "pasted": {pasteStart, pasteEnd}} {
				s := startShell(t, "SLUICE_TEST_LIVE="+liveFolder(t))
				s.expect("Sluice SQL> ")
				s.send(marks[0] + strings.NewReplacer("\r\n", "\r", "\n", "\r").Replace(text) + "\r" + marks[1])
				for range wantMessages {
					s.expectMessage()
				}
				s.expect("Sluice SQL> ")
				s.send(ctrlD)
				require.Zero(t, s.code())
				gotRows, gotMessages := splitShown(s.transcript())
				if strings.Contains(text, "\r\n") { // a terminal knows one kind of line end
					wantRows = slices.DeleteFunc(slices.Clone(wantRows), func(l string) bool { return strings.Contains(l, "␍") })
					gotRows = slices.DeleteFunc(gotRows, func(l string) bool { return strings.Contains(l, "␊") })
				}
				require.Equal(t, wantRows, gotRows, name)
				require.Equal(t, wantMessages, gotMessages, name)
			}
			return c.Expected
		})
	})
}

// expectMessage waits for the next line that says how a statement ended.
func (s *terminal) expectMessage() {
	s.t.Helper()
	message := regexp.MustCompile(`(?m)^(Empty set|\d+ rows? (in set|written)|\[INFO\]).*\r\n`)
	for deadline := time.Now().Add(patience); ; {
		s.mu.Lock()
		at := message.FindIndex(s.seen.Bytes())
		if at != nil {
			s.seen.Next(at[1])
		}
		shown := s.seen.String()
		s.mu.Unlock()
		if at != nil {
			return
		}
		select {
		case <-s.more:
		case <-time.After(time.Until(deadline)):
			s.t.Fatalf("no further message is shown; the terminal has\n%q", shown)
		}
	}
}
