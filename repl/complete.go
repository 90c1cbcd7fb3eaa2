package repl

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/chzyer/readline"

	"github.com/sluice-sql/sluice/session"
	"github.com/sluice-sql/sluice/sqlparse"
)

// completer is an engine that can complete. Complete must return within a moment.
type completer interface {
	Complete(ctx context.Context, text string, pos int) session.Completion
}

// typing completes and colours the line that readline edits. It knows the lines before of the same
// statement: the prompt calls begin before each line that it reads and fed after it, paint where readline
// paints, and tab with every key that readline has seen, as a Listener. readline's own completion is kept out by
// noCompletion: it can only append to what is typed, so it corrects no letters' case and quotes no name,
// and its list of candidates fails where one is wider than the screen.
type typing struct {
	engine engine
	width  func() int // of the terminal

	// rl is set once readline is made, before its first line.
	rl *readline.Instance

	mu     sync.Mutex // readline's goroutine and the prompt's
	before strings.Builder
	open   sqlparse.Open

	// The line and place that the last key, a Tab, has left as they were; of readline's goroutine.
	tabbed   []rune
	tabbedAt int
}

func newTyping(e engine) *typing {
	return &typing{engine: e, width: readline.GetScreenWidth, tabbedAt: -1}
}

// begin notes, before a line is read, what the lines before have left open.
func (t *typing) begin(open sqlparse.Open) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = open
	if open == sqlparse.OpenNothing {
		t.before.Reset()
	}
}

// fed notes a line that the splitter has been fed with, its newline included.
func (t *typing) fed(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.before.WriteString(line)
}

// paint returns what readline is to draw for a line with the cursor at pos.
func (t *typing) paint(line []rune, pos int) []rune {
	if len(line) == 0 {
		return line
	}
	t.mu.Lock()
	before := opening(t.open)
	if t.before.Len() <= farBack {
		before = t.before.String()
	}
	room := t.width() - len(promptFor(t.open))
	t.mu.Unlock()
	painted := line
	if wantsColours(t.engine.Option("sluice.color")) {
		painted = coloured(line, before)
	}
	if n := backspaces(line, pos, room); n != 0 {
		painted = append(slices.Clip(painted), []rune(moveLeft(n))...)
	}
	return painted
}

// backspaces returns how many columns the cursor must go left from the end of a line, beyond the one for each
// rune that readline will go: wide characters take two, combining ones none. A line that does not fit the screen
// has none: there readline counts rows as well.
func backspaces(line []rune, pos, room int) int {
	if plain([]byte(string(line[min(pos, len(line)):]))) || width([]byte(string(line))) >= room {
		return 0
	}
	rest := line[pos:]
	return width([]byte(string(rest))) - len(rest)
}

// moveLeft moves a terminal's cursor.
func moveLeft(columns int) string {
	if columns < 0 {
		return fmt.Sprintf("\x1b[%dC", -columns)
	}
	return fmt.Sprintf("\x1b[%dD", columns)
}

// farBack is how many bytes of a statement's earlier lines are looked at again with every key, to know what a
// word means. Of longer ones it is known whether a quote is open.
const farBack = 4 << 10

// noCompletion is what readline gets for a completer.
type noCompletion struct{}

func (noCompletion) Do([]rune, int) ([][]rune, int) { return nil, 0 }

// completionTime is how long a Tab may take.
const completionTime = 200 * time.Millisecond

// tab is called with every key that readline has seen, and acts on Tab: the first one completes what all
// candidates have in common, and one that could not complete anything lists them when it comes again.
func (t *typing) tab(line []rune, pos int, key rune) ([]rune, int, bool) {
	if key != readline.CharTab || t.rl.Operation.IsSearchMode() {
		t.tabbedAt = -1
		return nil, 0, false
	}
	again := pos == t.tabbedAt && slices.Equal(line, t.tabbed)
	t.tabbed, t.tabbedAt = slices.Clone(line), pos
	done := t.complete(line, pos)
	if done.changed {
		t.tabbedAt = -1
		return done.line, done.pos, true
	}
	if !again || len(done.items) == 0 {
		t.rl.Terminal.Bell()
		return nil, 0, false
	}
	_, _ = io.WriteString(t.rl.Stdout(), candidateLines(done.items, t.width()))
	return nil, 0, false
}

// completed is what a Tab comes to: another line, or candidates that have nothing more in common.
type completed struct {
	line    []rune
	pos     int
	changed bool
	items   []session.CompletionItem
}

func (t *typing) complete(line []rune, pos int) completed {
	e, ok := t.engine.(completer)
	if !ok {
		return completed{}
	}
	t.mu.Lock()
	before, open := t.before.String(), t.open
	t.mu.Unlock()
	head, tail := manyLines(string(line[:pos])), manyLines(string(line[pos:]))
	ctx, cancel := context.WithTimeout(context.Background(), completionTime)
	defer cancel()
	var c session.Completion
	if word, rest, ok := shortForm(head); ok && open == sqlparse.OpenNothing {
		c = completeShortForm(ctx, e, word, rest)
		c.Start += len(head) - len(rest)
	} else {
		c = e.Complete(ctx, before+head+tail, len(before)+len(head))
		c.Start -= len(before)
	}
	if c.Start < 0 || c.Start > len(head) || len(c.Items) == 0 {
		return completed{}
	}
	typed := head[c.Start:]
	insert := common(c.Items, typed)
	if len(c.Items) == 1 && insert != "" && c.Items[0].Kind == session.CompleteKeyword {
		if r, _ := utf8.DecodeRuneInString(tail); tail == "" || !unicode.IsSpace(r) {
			insert += " "
		}
	}
	if insert == "" || insert == typed || strings.Contains(typed, "\n") {
		return completed{items: c.Items}
	}
	kept := pos - utf8.RuneCountInString(typed)
	out := slices.Concat(line[:kept:kept], []rune(insert), line[pos:])
	return completed{line: out, pos: len(out) - len(line[pos:]), changed: true}
}

// shortForm cuts a line that begins with a backslash into its first word and what is typed behind that. While
// the word is being typed, that is what is typed.
func shortForm(head string) (word, rest string, ok bool) {
	line := strings.TrimLeftFunc(head, unicode.IsSpace)
	if !strings.HasPrefix(line, `\`) {
		return "", "", false
	}
	i := strings.IndexFunc(line, unicode.IsSpace)
	if i < 0 {
		return "", line, true
	}
	return line[:i], strings.TrimLeftFunc(line[i:], unicode.IsSpace), true
}

// completeShortForm completes as the statement does that a short form stands for. A Start of 0 is where rest
// begins.
func completeShortForm(ctx context.Context, e completer, word, rest string) session.Completion {
	if word == "" {
		var c session.Completion
		for _, command := range Commands() {
			if strings.HasPrefix(command.word(), rest) {
				c.Items = append(c.Items, session.CompletionItem{Text: command.word(), Kind: session.CompleteKeyword, Doc: command.Doc})
			}
		}
		return c
	}
	head := map[string]string{`\d`: "DESCRIBE ", `\d+`: "SHOW CREATE TABLE ", `\c`: "USE ", `\h`: "HELP ",
		`\i`: "SOURCE '", `\o`: "SOURCE '", `\f`: "SET 'sluice.format' = '"}[word]
	if head == "" {
		return session.Completion{}
	}
	bare := strings.HasSuffix(head, "'")
	sql := head + rest
	if bare {
		rest = strings.TrimPrefix(rest, "'")
		sql = head + strings.ReplaceAll(rest, "'", "''")
	}
	c := e.Complete(ctx, sql, len(sql))
	c.Start -= len(head)
	if bare { // what is quoted in the statement is not quoted here
		c.Start = 0
		for i, item := range c.Items {
			text := strings.TrimSuffix(strings.TrimPrefix(item.Text, "'"), "'")
			c.Items[i].Text = strings.ReplaceAll(text, "''", "'")
		}
	}
	if word != `\h` { // names only
		c.Items = slices.DeleteFunc(c.Items, func(item session.CompletionItem) bool { return item.Kind == session.CompleteKeyword })
	}
	return c
}

// common returns what takes the place of what is typed: the candidate, or the longest start that all
// candidates have, blind to case. It is "" where that is less than what is typed, and has no character that
// a terminal would act on: readline would send it there.
func common(items []session.CompletionItem, typed string) string {
	first := items[0].Text
	n := len(first)
	same := true // so far in case as well
	for _, item := range items[1:] {
		i := 0
		for i < n && i < len(item.Text) {
			r, size := utf8.DecodeRuneInString(first[i:])
			q, qsize := utf8.DecodeRuneInString(item.Text[i:])
			if size != qsize || r != q && unicode.ToLower(r) != unicode.ToLower(q) {
				break
			}
			same = same && r == q
			i += size
		}
		n = i
	}
	text := first[:n]
	if i := strings.IndexFunc(text, hidden); i >= 0 {
		if len(items) == 1 {
			return "" // it cannot be typed either
		}
		text = text[:i]
	}
	if len(items) == 1 {
		return text
	}
	if bare, quoted := strings.CutPrefix(text, "`"); quoted && !strings.HasPrefix(typed, "`") {
		if len(bare) <= len(typed) {
			return ""
		}
		return text
	}
	switch {
	case len(text) < len(typed):
		return ""
	case !same && len(text) == len(typed): // which of the spellings is meant is for the user to type
		return typed
	}
	return text
}

// most is how many candidates are listed.
const most = 200

// candidateLines returns the candidates as lines for a terminal of that many columns: few with what they are, one
// on each line; more of them side by side.
func candidateLines(items []session.CompletionItem, columns int) string {
	if columns <= 0 {
		columns = 80
	}
	columns-- // a terminal may wrap what fills its last column
	shown := items[:min(len(items), most)]
	names := make([][]byte, len(shown))
	widest, docs := 0, false
	for i, item := range shown {
		name := item.Text
		if item.Kind == session.CompleteFile {
			name = lastPart(name)
		}
		names[i] = cut(appendVisible(nil, []byte(name), false), columns)
		widest = max(widest, width(names[i]))
		docs = docs || item.Doc != ""
	}
	var b strings.Builder
	pad := func(name []byte, to int) {
		b.Write(name)
		b.WriteString(strings.Repeat(" ", max(0, to-width(name))))
	}
	if docs && len(items) <= 12 && widest+10 < columns {
		for i, item := range shown {
			doc := appendVisible(nil, []byte(item.Doc), false)
			if len(doc) == 0 {
				b.Write(names[i])
			} else {
				pad(names[i], widest+2)
				b.Write(cut(doc, columns-widest-2))
			}
			b.WriteByte('\n')
		}
		return b.String()
	}
	across := max(1, (columns+2)/(widest+2))
	down := (len(names) + across - 1) / across
	for row := range down {
		for i := row; i < len(names); i += down {
			if i+down < len(names) {
				pad(names[i], widest+2)
			} else {
				b.Write(names[i])
			}
		}
		b.WriteByte('\n')
	}
	if more := len(items) - len(shown); more > 0 {
		fmt.Fprintf(&b, "… and %d more\n", more)
	}
	return b.String()
}

// lastPart is what a list shows of a file: its name without the folders and quotes around it.
func lastPart(text string) string {
	name := strings.TrimSuffix(text, "'")
	folder := strings.HasSuffix(name, "/")
	name = strings.TrimSuffix(name, "/")
	if i := strings.LastIndexAny(name, "/:'"); i >= 0 && i+1 < len(name) {
		name = name[i+1:]
	}
	if folder {
		name += "/"
	}
	return name
}
