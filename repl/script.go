package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
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
	sh := newShell(e, cfg)
	if name == "-" {
		return sh.file(ctx, stdinName, cfg.Screen.in)
	}
	f, err := os.Open(name)
	if err == nil {
		defer f.Close()
		if info, serr := f.Stat(); serr == nil && info.IsDir() {
			err = errors.New("is a directory")
		}
	}
	if err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		sh.screen.message(fmt.Sprintf("[ERROR] Cannot read the script %s: %s\n", visible(name), err))
		return exitError
	}
	return sh.file(ctx, name, f)
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
	return &shell{engine: e, screen: cfg.Screen, signals: &signals{screen: cfg.Screen, engine: e, exit: os.Exit}}
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
	return sh.script(ctx, name, in)
}

// script runs the statements of a text as it comes: each one as soon as its semicolon has been read.
func (sh *shell) script(ctx context.Context, name string, r io.Reader) int {
	var split sqlparse.Splitter
	dec := decoder{r: r}
	for {
		text, rerr := dec.read()
		split.Feed(text)
		for {
			t, ok, err := split.Next()
			if err != nil {
				return sh.exit(sh.misread(name, t, err))
			}
			if !ok {
				break
			}
			if code, stop := sh.step(ctx, name, t); stop {
				return code
			}
		}
		if rerr == nil {
			continue
		}
		if rerr == errStopped {
			return signalExit(sh.signals.ends())
		}
		if e := (*encodingError)(nil); errors.As(rerr, &e) {
			return sh.exit(sh.report(fmt.Errorf("%s:%w", name, rerr)))
		}
		if rerr != io.EOF {
			return sh.exit(sh.report(fmt.Errorf("read the script %s: %w", name, rerr)))
		}
		t, ok, err := split.Finish()
		if err != nil {
			return sh.exit(sh.misread(name, t, err))
		}
		if ok {
			if code, stop := sh.step(ctx, name, t); stop {
				return code
			}
		}
		return exitOK
	}
}

// step runs one statement of a script; stop says that it was the last one.
func (sh *shell) step(ctx context.Context, name string, t sqlparse.StatementText) (code int, stop bool) {
	if s := sh.signals.ends(); s != nil {
		return signalExit(s), true
	}
	out := sh.run(ctx, session.Text{Name: name, SQL: t.Text, Line: t.Line, Column: t.Column}, false)
	return sh.exit(out), out != done
}

// exit returns the exit code of a script that ends with an outcome.
func (sh *shell) exit(out outcome) int {
	switch out {
	case failed:
		return exitError
	case canceled:
		if s := sh.signals.ended(); s != nil {
			return signalExit(s)
		}
		return exitError
	case unread:
		return exitUnread
	}
	return exitOK
}

// misread reports what the splitter cannot read: an open quote or comment, or a statement too long.
func (sh *shell) misread(name string, t sqlparse.StatementText, err error) outcome {
	text := err.Error() + "\n"
	var e *sqlparse.Error
	if errors.As(err, &e) {
		text = e.Render(t.Source(name))
	}
	sh.screen.message("[ERROR] Could not execute SQL statement. Reason:\n" + visible(text))
	return failed
}
