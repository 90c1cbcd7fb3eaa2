package repl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pager returns the command that shows results too long for the terminal; "" where there is none. Only a
// user at the prompt has one: a script would stand still.
func (sh *shell) pager() string {
	if sh.signals.tty == nil || !sh.screen.outTTY {
		return ""
	}
	switch p := sh.engine.Option("sluice.pager"); p {
	case "off", "":
		return ""
	case "auto":
		return autoPager(os.LookupEnv, exec.LookPath)
	default:
		return p
	}
}

// autoPager is the pager of the environment: $SLUICE_PAGER, else $PAGER, else less or more. A variable that
// is empty, or cat, asks for none.
func autoPager(env func(string) (string, bool), find func(string) (string, error)) string {
	for _, key := range []string{"SLUICE_PAGER", "PAGER"} {
		if p, ok := env(key); ok {
			if p = strings.TrimSpace(p); p == "cat" {
				p = ""
			}
			return p
		}
	}
	for _, p := range []string{"less", "more"} {
		if _, err := find(p); err == nil {
			return p
		}
	}
	return ""
}

// spool holds a result until it is whole, for the pager or, if it fits, the screen. So a query has ended,
// and its sources are free, before anybody reads: a reader who takes an hour over the first page keeps no
// lock on a SQLite file. Leaving the pager early leaves nothing running. What is more than a little is kept
// in a file without a name, whatever 'sluice.max-rows' is.
type spool struct {
	sh     *shell
	pager  string
	text   []byte
	file   *os.File // what came before text; nil while it is little
	failed error    // of the file: the rest goes to the screen
	// grid says that the lines are those of a table, which folded ones make unreadable.
	grid bool
}

// spoolSize is how much of a result is kept in memory. A screen holds less.
const spoolSize = 1 << 20

func (d *spool) terminal() bool { return true }

func (d *spool) flush() error { return nil }

func (d *spool) Write(p []byte) (int, error) {
	if d.failed != nil {
		return results{d.sh.screen}.Write(p)
	}
	d.text = append(d.text, p...)
	if len(d.text) < spoolSize {
		return len(p), nil
	}
	if err := d.toFile(); err != nil {
		if err := d.unspool(err); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// toFile moves the text to the file.
func (d *spool) toFile() error {
	if d.file == nil {
		f, err := os.CreateTemp("", "sluice-page-*")
		if err != nil {
			return err
		}
		d.file = f
		if err := os.Remove(f.Name()); err != nil {
			return err
		}
	}
	n, err := d.file.Write(d.text)
	d.text = d.text[n:]
	if err == nil {
		d.text = d.text[:0]
	}
	return err
}

// unspool gives up on the file: all goes to the screen.
func (d *spool) unspool(because error) error {
	d.failed = because
	d.sh.screen.message(fmt.Sprintf("[WARN] The result is shown without the pager, since it cannot be kept in %s: %s\n", os.TempDir(), errnoText(because)))
	return d.print()
}

// print shows what there is on the screen.
func (d *spool) print() error {
	w := results{d.sh.screen}
	if d.file != nil {
		if _, err := d.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.Copy(w, d.file); err != nil {
			return err
		}
		d.drop()
	}
	if _, err := w.Write(d.text); err != nil {
		return err
	}
	d.text = nil
	return d.sh.screen.Flush()
}

func (d *spool) drop() {
	if d.file != nil {
		_ = d.file.Close() // it has no name: it is gone
		d.file = nil
	}
}

func (d *spool) commit(ctx context.Context) error {
	if d.failed != nil {
		return d.sh.screen.Flush()
	}
	if d.file == nil && d.sh.screen.fits(d.text, d.grid) {
		return d.print()
	}
	if err := d.toFile(); err != nil {
		return d.unspool(err)
	}
	defer d.drop()
	// What has come of a query that was canceled is read at leisure; only the shell's end ends the pager.
	ctx, release := d.sh.signals.begin(context.WithoutCancel(ctx))
	defer release()
	if ctx.Err() != nil {
		return d.print()
	}
	if err := d.sh.page(ctx, d.pager, d.file); err != nil {
		d.sh.screen.message(fmt.Sprintf("[WARN] The pager %s. The result is shown without it; SET 'sluice.pager' = 'off' does so from now on.\n", err))
		return d.print()
	}
	return nil
}

// fits reports whether text fits the terminal with a line behind it and the prompt; of a grid no line may be
// folded.
func (s *Screen) fits(text []byte, grid bool) bool {
	rows, columns := s.size()
	if rows == 0 || columns == 0 {
		return true // not a window: nobody could page
	}
	left := rows - 2
	for len(text) > 0 && left >= 0 {
		line, rest := text, []byte(nil)
		for i, c := range text {
			if c == '\n' {
				line, rest = text[:i], text[i+1:]
				break
			}
		}
		wide := width(line)
		if grid && wide > columns {
			return false
		}
		left -= max(1, (wide+columns-1)/columns)
		text = rest
	}
	return left >= 0
}

// size returns the size of the terminal in characters, 0 if it is not known.
func (s *Screen) size() (rows, columns int) {
	f := s.out
	if !s.outTTY {
		f = s.err
	}
	w, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	return int(w.Row), int(w.Col)
}

// page shows a file in a pager and waits for the user to leave it. The terminal is the pager's meanwhile:
// Ctrl-C is a key of it, Ctrl-Z stops it and us, and messages of jobs wait. An error says that nothing has
// been shown.
func (sh *shell) page(ctx context.Context, command string, f *os.File) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	cmd, err := pagerCommand(ctx, command)
	if err != nil {
		return err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = f, sh.screen.out, sh.screen.out
	cmd.Env = pagerEnv(os.Environ())
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second // for a pager that does not mind the signal

	sh.signals.page(true)
	sh.screen.pause(true)
	defer sh.screen.pause(false)
	defer sh.signals.page(false)
	if err := sh.signals.tty.restore(); err != nil {
		return fmt.Errorf("%s cannot have the terminal: %w", command, err)
	}
	defer func() { _ = sh.signals.tty.running() }() // the prompt sets its own modes
	_, _ = sh.screen.out.WriteString(pasteOff)
	defer func() { _, _ = sh.screen.out.WriteString(pasteOn) }()

	// A command inherits what is ignored, and a pipeline needs the signal.
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	err = cmd.Start()
	signal.Ignore(syscall.SIGPIPE)
	if err != nil {
		return fmt.Errorf("%s cannot be started: %s", command, errnoText(err))
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return nil
	}
	switch status, _ := exit.Sys().(syscall.WaitStatus); {
	case status.Signaled(): // it could not put the terminal in order
		_, _ = sh.screen.out.WriteString("\x1b[0m\x1b[?1l\x1b>\x1b[?25h\r\n")
	case exit.ExitCode() == 127:
		return fmt.Errorf("%s was not found", command)
	case exit.ExitCode() == 126:
		return fmt.Errorf("%s cannot be run", command)
	}
	return nil
}

// pagerCommand makes a command of a pager's text. What only a shell understands is given to one.
func pagerCommand(ctx context.Context, text string) (*exec.Cmd, error) {
	if strings.ContainsAny(text, "|&;<>()$`\\\"'*?[#~=%{\n") {
		return exec.CommandContext(ctx, "/bin/sh", "-c", text), nil
	}
	words := strings.Fields(text)
	path, err := exec.LookPath(words[0])
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%s was not found", words[0])
	case err != nil:
		return nil, fmt.Errorf("%s cannot be run: %s", words[0], errnoText(err))
	}
	return exec.CommandContext(ctx, path, words[1:]...), nil
}

// pagerEnv is the environment of a pager. less leaves what it has shown on the screen and does not fold
// long lines, and reads UTF-8, unless the user has other wishes.
func pagerEnv(env []string) []string {
	for key, value := range map[string]string{"LESS": "-SX", "LESSCHARSET": "utf-8"} {
		if _, ok := os.LookupEnv(key); !ok {
			env = append(env, key+"="+value)
		}
	}
	return env
}

// errnoText is an error of the system without the names of the call and the file.
func errnoText(err error) string {
	var e syscall.Errno
	if errors.As(err, &e) {
		return e.Error()
	}
	return err.Error()
}

// page says that a pager has the terminal, or no longer does. Until then an interrupt is its own business.
func (g *signals) page(on bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.paging = on
}

// mostHeld is how many bytes are kept back while a pager shows. What is more is written into its picture.
const mostHeld = 4 << 20

// pause keeps back what is written while a pager shows; with false it is written.
func (s *Screen) pause(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holding = on
	if !on {
		s.release()
	}
}

// held is something to be written later.
type held struct {
	write func(*Screen, []byte) error
	text  []byte
}

// hold keeps something to be written later and reports whether it has. The caller holds mu.
func (s *Screen) hold(write func(*Screen, []byte) error, text []byte) bool {
	if !s.holding {
		return false
	}
	if s.heldSize+len(text) > mostHeld {
		s.holding = false
		s.release()
		return false
	}
	s.held = append(s.held, held{write, bytes.Clone(text)})
	s.heldSize += len(text)
	return true
}

// release writes what was held back. The caller holds mu.
func (s *Screen) release() {
	for _, h := range s.held {
		_ = h.write(s, h.text) // as in message, there is no place to say so
	}
	s.held, s.heldSize = nil, 0
	_ = s.flush() // kept in outErr
}
