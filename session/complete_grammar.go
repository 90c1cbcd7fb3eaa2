package session

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/sluice-sql/sluice/sqlparse"
)

// The grammar that completion follows is the one that HELP prints: the Syntax of sqlparse.Forms, read as the
// notation that it is. WORDS stand for themselves, small words for a name or a part of SQL (a hole), [x] may
// be left out, {x | y} is a choice, “, …” repeats what stands before it, “…” alone is anything.
//
// Each form becomes a small program in the manner of regular expressions, and all forms run side by side
// over the tokens before the cursor: what the programs that are still alive would take next is what may
// stand there. A hole that is an expression, a query or anything takes tokens up to one that a program
// expects by name.

// gop is an operation of a grammar's program.
type gop uint8

const (
	gWord  gop = iota // the word text
	gSign             // the sign text
	gHole             // something that text names
	gSplit            // goes on at both x and y
	gMatch            // the end
)

type ginst struct {
	op   gop
	text string
	form string // of a hole: the name of the form that it belongs to
	x, y int    // where it goes on
}

// grammar is a program; it is not changed once it is made.
type grammar struct {
	prog   []ginst
	starts []int
}

// expectation is a word, or a hole, that may come next.
type expectation struct {
	word       string
	hole, form string
	inside     bool // the hole has taken something already
	depth      int  // … and so many parentheses of it are open
}

// supportedForms returns the forms that can be run.
func supportedForms() []sqlparse.Form {
	runs := map[string]bool{}
	for _, f := range families() {
		for _, st := range f.statements {
			runs[st.form] = true
		}
	}
	return slices.DeleteFunc(sqlparse.Forms(), func(f sqlparse.Form) bool {
		return !f.Supported() || !runs[f.Name] && f.Name != "WITH" && f.Name != "VALUES" && f.Name != "TABLE"
	})
}

// statementGrammar is the grammar of every statement.
var statementGrammar = sync.OnceValue(func() *grammar {
	g := &grammar{}
	for _, f := range supportedForms() {
		g.add(f.Name, f.Syntax)
	}
	return g
})

// tableRef is what a table in FROM may be, and what may join it; the forms only say “table, …”.
const tableRef = `{table | ( query ) | LATERAL TABLE (expr) | UNNEST (expr)} [[AS] alias [(column, …)]] ` +
	`[* {[INNER] | CROSS | NATURAL | {LEFT | RIGHT | FULL} [OUTER]} JOIN {table | ( query ) | LATERAL TABLE (expr) | UNNEST (expr)} [[AS] alias [(column, …)]] ` +
	`[ON expr | USING (column, …)]]`

// queryGrammar is the grammar of a query, with the clauses spelt out that the form of SELECT leaves open.
var queryGrammar = sync.OnceValue(func() *grammar {
	spell := strings.NewReplacer(
		"FROM table", "FROM "+tableRef, "WHERE …", "WHERE expr", "HAVING …", "HAVING expr", "GROUP BY …", "GROUP BY expr, …",
		"ORDER BY …", "ORDER BY expr [ASC | DESC] [NULLS {FIRST | LAST}], …")
	const more = " [{UNION | INTERSECT | EXCEPT} [ALL | DISTINCT] query]"
	g := &grammar{}
	for _, f := range sqlparse.Forms() {
		switch f.Name {
		case "SELECT", "VALUES":
			g.add(f.Name, spell.Replace(f.Syntax)+more)
		case "WITH":
			g.add(f.Name, f.Syntax)
		}
	}
	return g
})

// add adds the program of a form.
func (g *grammar) add(form, syntax string) {
	syntax, parts, _ := strings.Cut(syntax, "; a part is ")
	r := &notation{g: g, form: form, text: splitNotation(syntax), parts: parts}
	frag := r.choice()
	end := g.emit(ginst{op: gMatch})
	g.patch(frag.out, end)
	g.starts = append(g.starts, frag.start)
}

func (g *grammar) emit(i ginst) int {
	g.prog = append(g.prog, i)
	return len(g.prog) - 1
}

// dangling names a place in a program that is not filled in yet.
type dangling struct {
	pc int
	y  bool
}

func (g *grammar) patch(out []dangling, to int) {
	for _, h := range out {
		if h.y {
			g.prog[h.pc].y = to
		} else {
			g.prog[h.pc].x = to
		}
	}
}

// fragment is a part of a program: where it starts, and what leads out of it.
type fragment struct {
	start int
	out   []dangling
}

// notation reads the syntax of a form.
type notation struct {
	g     *grammar
	form  string
	text  []string
	parts string // what the hole part stands for: alternatives with commas between
}

// splitNotation cuts a syntax into signs, words and literals.
func splitNotation(s string) []string {
	s = strings.NewReplacer("[catalog.]", "", "[database.]", "").Replace(s)
	var list []string
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == ' ':
			i++
		case strings.HasPrefix(s[i:], "…"):
			list = append(list, "…")
			i += len("…")
		case c == '\'':
			n := strings.IndexByte(s[i+1:], '\'') + 2
			if n < 2 {
				n = len(s) - i
			}
			list = append(list, s[i:i+n])
			i += n
		case isNotationWord(rune(c)):
			n := strings.IndexFunc(s[i:], func(r rune) bool { return !isNotationWord(r) })
			if n < 0 {
				n = len(s) - i
			}
			list = append(list, s[i:i+n])
			i += n
		case strings.HasPrefix(s[i:], "[*"):
			list = append(list, "[*")
			i += 2
		default:
			list = append(list, s[i:i+1])
			i++
		}
	}
	return list
}

func isNotationWord(r rune) bool {
	return r == '_' || r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

func (n *notation) peek(i int) string {
	if i < len(n.text) {
		return n.text[i]
	}
	return ""
}

func (n *notation) next() string {
	s := n.peek(0)
	if s != "" {
		n.text = n.text[1:]
	}
	return s
}

// choice: sequence {"|" sequence}
func (n *notation) choice() fragment {
	f := n.sequence()
	for n.peek(0) == "|" {
		n.next()
		other := n.sequence()
		split := n.g.emit(ginst{op: gSplit, x: f.start, y: other.start})
		f = fragment{split, append(f.out, other.out...)}
	}
	return f
}

// sequence: items up to the end of the group
func (n *notation) sequence() fragment {
	var items []fragment
	repeatable := 0 // where in items begins what “, …” repeats
	for {
		tok := n.peek(0)
		switch {
		case tok == "" || tok == "|" || tok == "]" || tok == "}":
			return n.joined(items)
		case tok == "," && n.peek(1) == "…":
			n.next()
			n.next()
			if repeatable >= len(items) {
				repeatable = max(0, len(items)-1)
			}
			if len(items) > 0 {
				items = append(items[:repeatable], n.repeated(n.joined(items[repeatable:]), ","))
			}
			continue
		}
		behindWord := repeatable == len(items) && len(items) > 0
		f := n.item()
		items = append(items, f)
		if tok == "[" && behindWord { // as ALL or DISTINCT behind SELECT
			repeatable = len(items)
		}
		if tok == "," || tok == "(" || isKeywordNotation(tok) {
			repeatable = len(items)
		}
		if tok == "(" { // up to its end it is a sequence of its own
			inner := n.untilClosed()
			items = append(items[:len(items)-1], n.joined(append([]fragment{f}, inner...)))
			repeatable = len(items) - 1
		}
	}
}

// untilClosed reads what stands in parentheses, and their end.
func (n *notation) untilClosed() []fragment {
	depth, end := 0, len(n.text)
	for i, t := range n.text {
		if t == "(" {
			depth++
		} else if t == ")" {
			if depth == 0 {
				end = i
				break
			}
			depth--
		}
	}
	inside := &notation{g: n.g, form: n.form, text: n.text[:end:end], parts: n.parts}
	list := []fragment{inside.choice()}
	n.text = n.text[end:]
	if n.peek(0) == ")" {
		list = append(list, n.item())
	}
	return list
}

func isKeywordNotation(tok string) bool { return tok != "" && unicode.IsUpper(rune(tok[0])) }

// item: a word, a sign, a hole or a group
func (n *notation) item() fragment {
	g := n.g
	switch tok := n.next(); {
	case tok == "[", tok == "[*":
		inner := n.choice()
		n.next() // ]
		split := g.emit(ginst{op: gSplit, x: inner.start})
		if tok == "[*" {
			g.patch(inner.out, split)
			return fragment{split, []dangling{{split, true}}}
		}
		return fragment{split, append(inner.out, dangling{split, true})}
	case tok == "{":
		f := n.choice()
		n.next() // }
		return f
	case isKeywordNotation(tok):
		pc := g.emit(ginst{op: gWord, text: tok})
		return fragment{pc, []dangling{{pc, false}}}
	case tok == "…" || tok[0] == '\'' || unicode.IsLower(rune(tok[0])):
		if tok == "part" && n.parts != "" {
			text := splitNotation(alternatives(n.parts))
			return (&notation{g: g, form: n.form, text: text}).choice()
		}
		if tok == "column" && n.peek(0) == "type" {
			tok = "new"
		}
		pc := g.emit(ginst{op: gHole, text: tok, form: n.form})
		return fragment{pc, []dangling{{pc, false}}}
	default:
		pc := g.emit(ginst{op: gSign, text: tok})
		return fragment{pc, []dangling{{pc, false}}}
	}
}

// alternatives writes “a, b (c, d), or e” as “a | b (c, d) | e”.
func alternatives(s string) string {
	depth := 0
	var b strings.Builder
	for i, r := range s {
		switch r {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				b.WriteString(" |")
				continue
			}
		case 'o':
			if depth == 0 && strings.HasPrefix(s[i:], "or ") && strings.HasSuffix(s[:i], ", ") {
				b.WriteString("")
				continue
			}
		case 'r':
			if depth == 0 && strings.HasSuffix(s[:i], ", o") {
				continue
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}

// joined puts fragments one behind the other.
func (n *notation) joined(items []fragment) fragment {
	if len(items) == 0 {
		pc := n.g.emit(ginst{op: gSplit})
		return fragment{pc, []dangling{{pc, false}, {pc, true}}}
	}
	f := items[0]
	for _, next := range items[1:] {
		n.g.patch(f.out, next.start)
		f.out = next.out
	}
	return f
}

// repeated lets a fragment come again behind a sign.
func (n *notation) repeated(f fragment, sign string) fragment {
	again := n.g.emit(ginst{op: gSign, text: sign, x: f.start})
	split := n.g.emit(ginst{op: gSplit, x: again})
	n.g.patch(f.out, split)
	return fragment{f.start, []dangling{{split, true}}}
}

// thread is a program at work: at an operation, and how far a hole has come.
type thread struct {
	pc    int
	taken holeState
	depth int // parentheses of the hole that are open
}

type holeState uint8

const (
	holeEmpty holeState = iota
	holeFull            // it may end here
	holeDot             // a name that goes on
)

// expected returns what may come behind the tokens.
func (g *grammar) expected(toks []lexeme) []expectation {
	var now []thread
	seen := map[thread]bool{}
	// follow adds a thread and those that it may go on as without a token.
	var follow func(t thread, operand bool)
	follow = func(t thread, operand bool) {
		if seen[t] {
			return
		}
		seen[t] = true
		switch in := &g.prog[t.pc]; in.op {
		case gSplit:
			follow(thread{pc: in.x}, operand)
			follow(thread{pc: in.y}, operand)
			return
		case gHole:
			ends := t.taken == holeFull && t.depth == 0 && (operand || !isExpression(in.text))
			if in.text == "…" && t.taken == holeEmpty {
				ends = true
			}
			now = append(now, t)
			if ends {
				follow(thread{pc: in.x}, operand)
			}
			return
		}
		now = append(now, t)
	}
	for _, pc := range g.starts {
		follow(thread{pc: pc}, false)
	}
	for i := range toks {
		threads := now
		now = nil
		clear(seen)
		operand := endsOperand(toks, i)
		named := false // the token is what some program expects by name
		for _, t := range threads {
			in := &g.prog[t.pc]
			named = named || in.op == gWord && toks[i].word == in.text
		}
		for _, t := range threads {
			in := &g.prog[t.pc]
			switch in.op {
			case gWord:
				if toks[i].word == in.text {
					follow(thread{pc: in.x}, operand)
				}
			case gSign:
				if toks[i].text == in.text {
					follow(thread{pc: in.x}, operand)
				}
			case gHole:
				if named && t.depth == 0 {
					continue
				}
				if isExpression(in.text) && t.depth == 0 && t.taken == holeFull && beginsOperand(&toks[i]) && endsOperand(toks, i-1) {
					continue // two operands one behind the other: the second is an alias
				}
				if next, ok := take(in.text, t, &toks[i]); ok {
					follow(next, operand)
				}
			}
		}
	}
	var list []expectation
	for _, t := range now {
		var e expectation
		switch in := &g.prog[t.pc]; in.op {
		case gWord:
			e.word = in.text
		case gHole:
			if t.taken == holeFull && !isExpression(in.text) && in.text != "…" && in.text != "type" {
				continue
			}
			e = expectation{hole: in.text, form: in.form, inside: t.taken != holeEmpty, depth: t.depth}
		default:
			continue
		}
		if !slices.Contains(list, e) {
			list = append(list, e)
		}
	}
	return list
}

// isExpression reports whether a hole is an expression, which does not end behind an operator.
func isExpression(hole string) bool { return hole == "expr" || hole == "value" }

// take gives a token to a hole.
func take(hole string, t thread, tok *lexeme) (thread, bool) {
	switch {
	case hole[0] == '\'':
		t.taken = holeFull
		return t, tok.Class == sqlparse.String
	case hole == "n":
		t.taken = holeFull
		return t, tok.Class == sqlparse.Number
	case hole == "expr", hole == "value", hole == "query", hole == "insert", hole == "update", hole == "delete", hole == "type", hole == "…":
		return takeAny(hole, t, tok)
	}
	// A name of one or several parts.
	switch {
	case tok.text == "." && t.taken == holeFull:
		t.taken = holeDot
	case tok.name != "" && t.taken != holeFull:
		t.taken = holeFull
	default:
		return t, false
	}
	return t, true
}

func takeAny(hole string, t thread, tok *lexeme) (thread, bool) {
	opens, closes := tok.text == "(" || tok.text == "[", tok.text == ")" || tok.text == "]"
	if hole == "type" {
		opens, closes = opens || tok.text == "<", closes || tok.text == ">"
	}
	switch {
	case opens:
		t.depth++
	case closes:
		if t.depth == 0 {
			return t, false
		}
		t.depth--
	case tok.text == "," && t.depth == 0 && hole != "…" && hole != "query":
		return t, false
	}
	t.taken = holeFull
	return t, true
}

// endsOperand reports whether an operand of an expression may end with token i.
func endsOperand(toks []lexeme, i int) bool {
	t := &toks[i]
	switch t.Class {
	case sqlparse.String, sqlparse.Number:
		return true
	case sqlparse.Name:
		return true
	case sqlparse.Keyword:
		switch t.word {
		case "END", "NULL", "TRUE", "FALSE", "UNKNOWN":
			return true
		}
		if strings.HasPrefix(t.word, "CURRENT_") || strings.HasPrefix(t.word, "LOCALTIME") {
			return true
		}
		return plainWord(t.word)
	}
	switch t.text {
	case ")", "]":
		return true
	case "*":
		return i == 0 || !endsOperand(toks, i-1)
	}
	return false
}

// beginsOperand reports whether a token is an operand and nothing else.
func beginsOperand(t *lexeme) bool {
	return t.Class == sqlparse.Number || t.Class == sqlparse.Name && (t.word == "" || plainWord(t.word))
}

// plainWord reports whether a keyword may be a name as well.
func plainWord(word string) bool {
	_, err := sqlparse.Parse("SELECT 1 AS " + word)
	return err == nil
}
