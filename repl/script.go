package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/sluice-sql/sluice/session"
	"github.com/sluice-sql/sluice/sqlparse"
)

// Config is what a shell is made of.
type Config struct {
	Session *session.Session
	Screen  *Screen
	// History is the file that statements typed at the prompt are kept in; "" keeps none.
	History string
	// Version is shown in the banner.
	Version string
}

// Visible returns a text as a terminal may be given it: names and errors in it cannot move the cursor.
func Visible(text string) string { return visible(text) }

// Exit codes, besides 128 + a signal's number.
const (
	exitOK     = 0
	exitError  = 1
	exitUnread = 141 // as of a process that SIGPIPE ended
)

// Names of texts that come from no file.
const (
	stdinName   = "<stdin>"
	commandName = "<command>"
)

// Run talks to the user when there is one (see [Screen.Interactive]); else it runs standard input as a
// script. It returns the process's exit code.
func Run(ctx context.Context, cfg Config) int {
	return run(ctx, live{cfg.Session}, cfg)
}

func run(ctx context.Context, e engine, cfg Config) int {
	if cfg.Screen.Interactive() {
		return newShell(e, cfg).prompt(ctx, cfg)
	}
	return newShell(e, cfg).file(ctx, stdinName, cfg.Screen.in)
}

// RunScript runs a file, "-" being standard input, statement by statement up to the first error, and
// returns the process's exit code.
func RunScript(ctx context.Context, cfg Config, name string) int {
	return runScript(ctx, live{cfg.Session}, cfg, name)
}

func runScript(ctx context.Context, e engine, cfg Config, name string) int {
	return newShell(e, cfg).named(ctx, name)
}

// named runs the file of a name as a script.
func (sh *shell) named(ctx context.Context, name string) int {
	if name == "-" {
		return sh.file(ctx, stdinName, sh.screen.in)
	}
	f, err := openScript(name)
	if err != nil {
		sh.screen.message(fmt.Sprintf("[ERROR] Cannot read the script %s: %s\n", visible(name), err))
		return exitError
	}
	defer f.Close()
	return sh.file(ctx, name, f)
}

// openScript opens a file. The error does not name it.
func openScript(name string) (*os.File, error) {
	f, err := os.Open(name)
	if err == nil {
		info, serr := f.Stat()
		if serr != nil || !info.IsDir() {
			return f, nil
		}
		_ = f.Close() // it was only read
		err = errors.New("is a directory")
	}
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return nil, err
}

// RunCommand runs the statements of a text as RunScript does those of a file.
func RunCommand(ctx context.Context, cfg Config, sql string) int {
	return runCommand(ctx, live{cfg.Session}, cfg, sql)
}

func runCommand(ctx context.Context, e engine, cfg Config, sql string) int {
	sh := newShell(e, cfg)
	sh.signals.stop, sh.signals.hurry = func() {}, func() {}
	sh.signals.listen()
	defer sh.signals.close()
	return sh.script(ctx, commandName, strings.NewReader(sql))
}

func newShell(e engine, cfg Config) *shell {
	sh := &shell{engine: e, screen: cfg.Screen, signals: &signals{screen: cfg.Screen, engine: e, exit: os.Exit}}
	e.OnJobEnd(sh.jobEnded)
	return sh
}

// reading is what a shell knows of the texts it reads.
type reading struct {
	files  []runningFile
	init   bool   // only what an init file may hold is run
	ran    int    // statements of scripts
	failed int    // and how many of them failed
	before string // the format before \x
}

// runningFile is a file that is being run.
type runningFile struct {
	name string
	info os.FileInfo // nil for what is no file
	by   string      // where the statement stands that runs it, as file:line:column
}

// file runs a file as a script. A signal ends the wait for more of it.
func (sh *shell) file(ctx context.Context, name string, f *os.File) int {
	in, err := newInput(f, false)
	if err != nil {
		sh.screen.message(fmt.Sprintf("[ERROR] Cannot read the script %s: %s\n", visible(name), err))
		return exitError
	}
	sh.signals.stop, sh.signals.hurry = in.stop, in.stopWaiting
	sh.signals.listen()
	defer in.free()
	defer sh.signals.close()
	info, _ := f.Stat() // only tells whether a file is run in itself
	sh.files = []runningFile{{name: name, info: info}}
	return sh.script(ctx, name, in)
}

// script runs the statements of a text and returns the process's exit code.
func (sh *shell) script(ctx context.Context, name string, r io.Reader) int {
	out := sh.statements(ctx, name, r)
	sh.sum()
	out = sh.settle(ctx, out)
	if sh.failed > 0 && (out == done || out == quit) {
		out = failed
	}
	return sh.exit(out)
}

// sum says how many statements failed, where an error has not ended the script.
func (sh *shell) sum() {
	if sh.failed > 0 && sh.goesOn() {
		what := "1 statement of " + strconv.Itoa(sh.ran)
		if sh.failed > 1 {
			what = fmt.Sprintf("%d statements of %d", sh.failed, sh.ran)
		}
		sh.screen.message("[INFO] " + what + " failed.\n")
	}
}

// goesOn reports whether a script goes on after an error.
func (sh *shell) goesOn() bool { return !sh.init && sh.engine.Option("sluice.on-error") == "continue" }

// statements runs the statements of a text as it comes: each one as soon as its semicolon has been read.
func (sh *shell) statements(ctx context.Context, name string, r io.Reader) outcome {
	var split sqlparse.Splitter
	dec := decoder{r: r}
	for {
		text, rerr := dec.read()
		split.Feed(text)
		for {
			t, ok, err := split.Next()
			if err != nil {
				return sh.lost(sh.misread(name, t, err))
			}
			if !ok {
				break
			}
			if out := sh.step(ctx, name, t); out != done {
				return out
			}
		}
		if rerr == nil {
			continue
		}
		if rerr == errStopped {
			return canceled
		}
		if e := (*encodingError)(nil); errors.As(rerr, &e) {
			return sh.lost(sh.report(fmt.Errorf("%s:%w", name, rerr)))
		}
		if rerr != io.EOF {
			return sh.lost(sh.report(fmt.Errorf("read the script %s: %w", name, rerr)))
		}
		t, ok, err := split.Finish()
		if err != nil {
			return sh.lost(sh.misread(name, t, err))
		}
		if ok {
			return sh.step(ctx, name, t)
		}
		return done
	}
}

// step runs one statement of a script; anything but done says that it was the last one.
func (sh *shell) step(ctx context.Context, name string, t sqlparse.StatementText) outcome {
	if sh.signals.ends() != nil || sh.signals.isHalted() {
		return canceled
	}
	sh.ran++
	out := sh.execute(ctx, name, t)
	if out == failed {
		sh.fail(out)
	}
	if (out == failed || out == failedBelow) && sh.goesOn() {
		return done
	}
	return out
}

// lost is fail for a text that cannot be read on, which is one statement at least.
func (sh *shell) lost(out outcome) outcome {
	sh.ran++
	return sh.fail(out)
}

// fail counts an error of a script, and says which files run the one it is in.
func (sh *shell) fail(out outcome) outcome {
	if out != failed {
		return out
	}
	sh.failed++
	for i := len(sh.files) - 1; i >= 0 && sh.files[i].by != ""; i-- {
		sh.screen.message(visible(sh.files[i].name+" is run by "+sh.files[i].by) + "\n")
	}
	return out
}

// execute runs what the splitter has cut off: a statement, a short form, or SOURCE.
func (sh *shell) execute(ctx context.Context, name string, t sqlparse.StatementText) outcome {
	if t.Command {
		return sh.command(ctx, name, t)
	}
	if file, span, ok := sourced(t.Text); ok {
		return sh.source(ctx, name, t, file, span)
	}
	text := session.Text{Name: name, SQL: t.Text, Line: t.Line, Column: t.Column}
	if sh.init {
		return sh.define(ctx, text)
	}
	return sh.run(ctx, text, t.Vertical)
}

// exit returns the exit code of a script that ends with an outcome.
func (sh *shell) exit(out outcome) int {
	switch out {
	case failed, failedBelow:
		return exitError
	case canceled:
		if s := sh.signals.ends(); s != nil {
			return signalExit(s)
		}
		return exitError
	case unread:
		return exitUnread
	}
	return exitOK
}

// misread reports what the splitter cannot read, or what is wrong with a short form.
func (sh *shell) misread(name string, t sqlparse.StatementText, err error) outcome {
	text := err.Error() + "\n"
	t.Text = sqlparse.MaskUnparsed(t.Text, nil)
	var e *sqlparse.Error
	if errors.As(err, &e) {
		text = e.Render(t.Source(name))
	}
	sh.screen.message("[ERROR] Could not execute SQL statement. Reason:\n" + visible(text))
	return failed
}
