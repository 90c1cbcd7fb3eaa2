package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/chzyer/readline"

	"github.com/sluice-sql/sluice/session"
	"github.com/sluice-sql/sluice/sqlparse"
)

// The prompts: of a new statement, and of one that goes on.
const (
	promptNew  = "Sluice SQL> "
	promptMore = "> "
)

// prompt talks to the user until QUIT or Ctrl-D, and returns the exit code.
func (sh *shell) prompt(ctx context.Context, cfg Config) int {
	code, err := sh.converse(ctx, cfg)
	if err != nil {
		sh.screen.message(fmt.Sprintf("[ERROR] Cannot read from the terminal: %s\n", err))
		return exitError
	}
	return code
}

func (sh *shell) converse(ctx context.Context, cfg Config) (int, error) {
	term, err := openTTY(sh.screen.in)
	if err != nil {
		return 0, err
	}
	in, err := newInput(sh.screen.in, true)
	if err != nil {
		return 0, err
	}
	defer in.free()
	shown := sh.screen.out // where the prompt shows
	if !sh.screen.outTTY {
		shown = sh.screen.err
	}
	rl, err := readline.NewEx(&readline.Config{
		Prompt: promptNew, Stdin: in, Stdout: shown, Stderr: shown,
		HistoryLimit: historyLines, DisableAutoSaveHistory: true, HistorySearchFold: true,
		Listener:        editor{in},
		InterruptPrompt: "^C", EOFPrompt: "\n",
		FuncIsTerminal: func() bool { return true }, FuncMakeRaw: term.raw, FuncExitRaw: term.running,
	})
	if err != nil {
		return 0, err
	}
	fmt.Fprint(shown, pasteOn)
	sh.signals.tty = term
	sh.signals.stop = in.stop
	sh.signals.idle = func() { in.typeKey(readline.CharInterrupt) }
	sh.signals.listen()
	defer func() {
		sh.signals.close()
		in.stop()      // ends readline's reader, which Close waits for
		_ = rl.Close() // only restores modes that are restored next
		_ = term.restore()
		fmt.Fprint(shown, pasteOff)
	}()

	h := &history{path: cfg.History}
	old, err := h.load()
	if err != nil {
		sh.screen.message(fmt.Sprintf("[WARN] The history cannot be read: %s\n", err))
		h.path = ""
	}
	for _, s := range old {
		_ = rl.SaveHistory(oneLine(s)) // in memory: readline has no file
	}
	name := "Sluice"
	if cfg.Version != "" {
		name += " " + cfg.Version
	}
	sh.screen.message(name + ": a shell and an engine for Flink SQL.\n" +
		"Statements end with ;  HELP; lists what there is, QUIT; or Ctrl-D ends.\n\n")
	return sh.dialogue(ctx, rl, h), nil
}

// dialogue is the loop of lines.
func (sh *shell) dialogue(ctx context.Context, rl *readline.Instance, h *history) int {
	var split sqlparse.Splitter
	for {
		if split.Pending() == sqlparse.OpenNothing {
			rl.SetPrompt(promptNew)
		} else {
			rl.SetPrompt(promptMore)
		}
		sh.screen.showPrompt(rl.Stdout())
		line, err := rl.Readline()
		sh.screen.showPrompt(nil)
		switch {
		case errors.Is(err, readline.ErrInterrupt):
			split.Reset()
			continue
		case err != nil:
			if s := sh.signals.ended(); s != nil {
				return signalExit(s)
			}
			if err != io.EOF {
				sh.screen.message(fmt.Sprintf("[ERROR] Cannot read from the terminal: %s\n", err))
				return exitError
			}
			if split.Pending() != sqlparse.OpenNothing {
				sh.screen.message("[INFO] The statement without its ; was not run.\n")
			}
			return exitOK
		}
		line = manyLines(line)
		if word, ok := command(line); ok && split.Pending() == sqlparse.OpenNothing {
			line = word + ";"
		}
		split.Feed(line + "\n")
		for {
			t, ok, err := split.Next()
			if err != nil {
				sh.misread("", t, err)
				split.Reset()
				break
			}
			if !ok {
				break
			}
			sh.remember(rl, h, t.Text)
			switch out := sh.run(ctx, session.Text{SQL: t.Text, Line: 1, Column: 1}); {
			case out == quit:
				return exitOK
			case out == unread:
				return exitUnread
			}
			if s := sh.signals.ended(); s != nil {
				return signalExit(s)
			}
		}
	}
}

// command reports whether a line is one of the shell's words that need no semicolon.
func command(line string) (string, bool) {
	word := strings.ToUpper(strings.TrimSpace(line))
	switch word {
	case "QUIT", "EXIT", "HELP", "CLEAR":
		return word, true
	}
	return "", false
}

// remember puts a statement into the history.
func (sh *shell) remember(rl *readline.Instance, h *history, sql string) {
	if _, err := sqlparse.Parse(sql); err != nil {
		sql = withoutValues(sql)
	}
	s := sh.engine.Masked(sql) + ";"
	added, err := h.add(s)
	if added {
		_ = rl.SaveHistory(oneLine(s)) // in memory: readline has no file
	}
	if err != nil {
		sh.screen.message(fmt.Sprintf("[WARN] The history cannot be written: %s\n", err))
		h.path = ""
	}
}

// editor puts pasted texts into the line that readline edits.
type editor struct{ in *input }

// OnChange is called after every key, with the line as the key has made it.
func (e editor) OnChange(line []rune, pos int, key rune) ([]rune, int, bool) {
	if key != pasted {
		return nil, 0, false
	}
	text := []rune(e.in.nextPasted())
	at := pos - 1
	if at < 0 || at >= len(line) || line[at] != pasted { // readline is searching its history
		return nil, 0, false
	}
	whole := make([]rune, 0, len(line)-1+len(text))
	whole = append(append(append(whole, line[:at]...), text...), line[pos:]...)
	return whole, at + len(text), true
}
