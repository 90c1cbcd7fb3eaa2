package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/chzyer/readline"

	"github.com/sluice-sql/sluice/sqlparse"
)

// The prompts: of a new statement, and of one that goes on.
const (
	promptNew  = "Sluice SQL> "
	promptMore = "> "
)

// promptFor returns the prompt of what is open: a quote that has not been closed stands in it.
func promptFor(o sqlparse.Open) string {
	switch o {
	case sqlparse.OpenNothing:
		return promptNew
	case sqlparse.OpenString:
		return "'> "
	case sqlparse.OpenName:
		return "`> "
	case sqlparse.OpenDoubleQuote:
		return "\"> "
	case sqlparse.OpenComment:
		return "/*> "
	}
	return promptMore
}

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
	keys := newTyping(sh.engine)
	drawn := &drawer{w: shown, width: readline.GetScreenWidth}
	ed := editor{in, keys, &keyAtWork{}}
	rl, err := readline.NewEx(&readline.Config{
		Prompt: promptNew, Stdin: in, Stdout: drawn, Stderr: shown,
		HistoryLimit: historyLines, DisableAutoSaveHistory: true, HistorySearchFold: true,
		Listener: ed, Painter: painter{ed, drawn}, AutoComplete: noCompletion{},
		InterruptPrompt: "^C", EOFPrompt: "\n", FuncFilterInputRune: ed.keys.begin,
		FuncIsTerminal: func() bool { return true }, FuncMakeRaw: term.raw, FuncExitRaw: term.running,
	})
	if err != nil {
		return 0, err
	}
	keys.rl = rl
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

	sh.watched = true
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
	code := sh.dialogue(ctx, rl, ed, h)
	if sh.signals.ended() != nil {
		sh.leave(ctx)
	}
	return code, nil
}

// answer puts a question in the place of the prompt.
func (sh *shell) answer(rl *readline.Instance, ed editor, question string) string {
	rl.SetPrompt(question)
	ed.typing.begin(sqlparse.OpenComment) // nothing is completed or coloured
	sh.screen.showPrompt(abovePrompt{rl, ed.keys})
	line, err := rl.Readline()
	sh.screen.showPrompt(nil)
	if err != nil {
		return ""
	}
	return line
}

// dialogue is the loop of lines.
func (sh *shell) dialogue(ctx context.Context, rl *readline.Instance, ed editor, h *history) int {
	var split sqlparse.Splitter
	hinted := false // that a quote is open
	ask := func(question string) string { return sh.answer(rl, ed, question) }
	for {
		rl.SetPrompt(promptFor(split.Pending()))
		ed.typing.begin(split.Pending())
		sh.screen.showPrompt(abovePrompt{rl, ed.keys})
		line, err := rl.Readline()
		sh.screen.showPrompt(nil)
		switch {
		case errors.Is(err, readline.ErrInterrupt):
			split.Reset()
			continue
		case err != nil:
			if code, gone := sh.gone(ed); gone {
				return code
			}
			if err != io.EOF {
				sh.screen.message(fmt.Sprintf("[ERROR] Cannot read from the terminal: %s\n", err))
				return exitError
			}
			if split.Pending() != sqlparse.OpenNothing {
				sh.screen.message("[INFO] The statement without its ; was not run.\n")
				split.Reset()
			}
			if sh.mayLeave(ctx, ask) {
				return exitOK
			}
			if code, gone := sh.gone(ed); gone {
				return code
			}
			continue
		}
		line = manyLines(line)
		open := split.Pending()
		if open == sqlparse.OpenNothing && sh.dotted(line) {
			continue
		}
		word, ok := bareWord(line)
		if ok && open == sqlparse.OpenNothing {
			line = word + ";"
		}
		split.Feed(line + "\n")
		ed.typing.fed(line + "\n")
		if end := closing(open); ok && end != "" && !hinted {
			hinted = true
			sh.screen.message(fmt.Sprintf("[INFO] %s is part of what %s will close; Ctrl-C drops the statement.\n", word, end))
		}
		if word, ok := typedCommand(line); ok && open == sqlparse.OpenStatement {
			sh.screen.message(fmt.Sprintf("[INFO] %s is part of the statement that goes on; Ctrl-C drops it.\n", word))
		}
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
			sh.remember(rl, h, t)
			t.Line, t.Column = 1, 1
			sh.signals.resume()
			switch out := sh.execute(ctx, "", t); {
			case out == quit:
				if sh.mayLeave(ctx, ask) {
					return exitOK
				}
				split.Reset()
			case out == unread:
				return exitUnread
			case out == canceled: // and so is the rest of the line
				split.Reset()
			}
			if s := sh.signals.ended(); s != nil {
				return signalExit(s)
			}
		}
	}
}

// gone reports whether a signal, or the end of the terminal, ends the shell, and with which exit code.
func (sh *shell) gone(ed editor) (code int, gone bool) {
	if s := sh.signals.ended(); s != nil {
		return signalExit(s), true
	}
	if ed.in.hungUp() { // noticed before its signal
		return signalExit(syscall.SIGHUP), true
	}
	return 0, false
}

// closing returns what closes an open quote or comment; "" for anything else.
func closing(o sqlparse.Open) string {
	switch o {
	case sqlparse.OpenString:
		return "'"
	case sqlparse.OpenName:
		return "`"
	case sqlparse.OpenDoubleQuote:
		return "\""
	case sqlparse.OpenComment:
		return "*/"
	}
	return ""
}

// bareWord reports whether a line is one of the shell's words that need no semicolon, and returns it.
func bareWord(line string) (string, bool) {
	word := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(line), ";"))
	switch upper := strings.ToUpper(word); upper {
	case "QUIT", "EXIT", "HELP", "CLEAR":
		return upper, true
	}
	if first, _, more := strings.Cut(word, " "); more && strings.EqualFold(first, "HELP") {
		return word, true
	}
	return "", false
}

// remember puts a statement into the history.
func (sh *shell) remember(rl *readline.Instance, h *history, t sqlparse.StatementText) {
	s := t.Text
	if t.Command {
		s = withoutValues(s)
	} else {
		if _, err := sqlparse.Parse(s); err != nil {
			s = withoutValues(sqlparse.MaskUnparsed(s, nil))
		}
		s = sh.engine.Masked(s)
		if t.Vertical {
			s += " \\G"
		} else {
			s += ";"
		}
	}
	added, err := h.add(s)
	if added {
		_ = rl.SaveHistory(oneLine(s)) // in memory: readline has no file
	}
	if err != nil {
		sh.screen.message(fmt.Sprintf("[WARN] The history cannot be written: %s\n", err))
		h.path = ""
	}
}

// editor puts texts that came in one go into the line that readline edits, and has it completed and coloured.
type editor struct {
	in     *input
	typing *typing
	keys   *keyAtWork
}

// Paint returns what is drawn of a line. A text that is about to take the place of pasted is drawn as a
// space until then, as wide as readline takes pasted to be.
func (e editor) Paint(line []rune, pos int) []rune {
	if pos == 0 || pos > len(line) || line[pos-1] != pasted || !e.in.expects() {
		return e.typing.paint(line, pos)
	}
	shown := slices.Clone(line)
	shown[pos-1] = ' '
	return e.typing.paint(shown, pos)
}

// OnChange is called after every key, with the line as the key has made it.
func (e editor) OnChange(line []rune, pos int, key rune) ([]rune, int, bool) {
	if key == 0 { // a line begins: readline calls from another goroutine than for a key
		return nil, 0, false
	}
	defer e.keys.end()
	if key != pasted {
		return e.typing.tab(line, pos, key)
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

// keyAtWork is held while readline works at a key: it takes no lock of its own for all that it does then.
type keyAtWork struct {
	mu   sync.Mutex
	held bool // by readline's goroutine, which alone looks
}

// begin is called with every key before readline does anything about it. Some keys have no end: they end with the next.
func (k *keyAtWork) begin(r rune) (rune, bool) {
	k.end()
	k.mu.Lock()
	k.held = true
	return r, true
}

func (k *keyAtWork) end() {
	if k.held {
		k.held = false
		k.mu.Unlock()
	}
}

// abovePrompt writes above the prompt, which is lifted and drawn again.
type abovePrompt struct {
	rl   *readline.Instance
	keys *keyAtWork
}

// Write waits for a moment at which the prompt stands there and no key is at work: only then readline lifts
// it. Such moments are between any two keys; a limit keeps a writer from waiting for one that lists names.
func (a abovePrompt) Write(p []byte) (int, error) {
	for limit := time.Now().Add(promptWait); time.Now().Before(limit); time.Sleep(time.Millisecond) {
		if !a.keys.mu.TryLock() {
			continue
		}
		if a.rl.Terminal.IsReading() {
			defer a.keys.mu.Unlock()
			return a.rl.Stdout().Write(p)
		}
		a.keys.mu.Unlock()
	}
	return a.rl.Stdout().Write(p)
}

// promptWait is how long a message from the background waits for the prompt at most.
const promptWait = 100 * time.Millisecond
