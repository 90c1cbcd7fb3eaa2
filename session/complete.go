package session

import (
	"context"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/sqlparse"
)

// CompletionKind says what a candidate is.
type CompletionKind string

// The kinds of candidates.
const (
	CompleteKeyword  CompletionKind = "keyword"
	CompleteCatalog  CompletionKind = "catalog"
	CompleteDatabase CompletionKind = "database"
	CompleteTable    CompletionKind = "table"
	CompleteColumn   CompletionKind = "column"
	CompleteFunction CompletionKind = "function"
	CompleteType     CompletionKind = "type"
	CompleteOption   CompletionKind = "option"
	CompleteValue    CompletionKind = "value"
	CompleteFile     CompletionKind = "file"
	CompleteTopic    CompletionKind = "topic"
)

// CompletionItem is one candidate. Text takes the place of what is typed; it may hold any character, as names
// from data may: whoever shows it makes the hidden ones visible. Doc is a short text about it, or "".
type CompletionItem struct {
	Text string
	Kind CompletionKind
	Doc  string
}

// Completion is what may stand at a place: each item's text replaces the bytes from Start to the cursor.
type Completion struct {
	Start int
	Items []CompletionItem
}

// longest is the text that is looked at.
const longest = 64 << 10

// completionWait is how long Complete waits for names that it has not seen yet.
const completionWait = 150 * time.Millisecond

// Complete returns what may stand at byte pos of a text: the whole of a statement so far, or several, not
// necessarily complete and with text behind the cursor or not.
//
// What the grammar allows comes from sqlparse.Forms, names from the catalogs that are open, options from
// what their owners declare. It returns within 200 ms: a name that its store does not tell in time is left
// out, or is the one known from before. It opens no catalog. It may be called while no statement runs.
func (s *Session) Complete(ctx context.Context, text string, pos int) Completion {
	ctx, cancel := context.WithTimeout(ctx, completionWait)
	defer cancel()
	if pos < 0 || pos > len(text) {
		return Completion{Start: pos}
	}
	c := &completing{s: s, ctx: ctx, text: text, pos: pos, start: pos, rest: text[pos:]}
	if len(text) > longest || !c.lex() {
		return Completion{Start: pos}
	}
	if t := c.typed; t != nil && t.End > pos && (t.text[0] == '`' || t.text[0] == '\'') && c.leftOpen(t.text[0]) {
		// What is behind the cursor is not part of the name or string that is begun before it.
		c.text, c.unclosed = text[:pos]+t.text[:1]+text[pos:], true
		if !c.lex() || c.typed == nil {
			return Completion{Start: pos}
		}
	}
	if c.inString() {
		c.stringItems()
	} else {
		c.wordItems()
	}
	return Completion{Start: c.start, Items: c.sorted()}
}

// lexeme is a token of the statement that is completed.
type lexeme struct {
	sqlparse.Token
	text string
	word string // in upper case, of a word without quotes
	name string // of a word or a quoted name
	pair int    // of a parenthesis: the index of its other one, or -1
}

// completing is one call of Complete.
type completing struct {
	s     *Session
	ctx   context.Context
	text  string
	pos   int
	rest  string   // what stands behind the cursor
	toks  []lexeme // of the statement that pos is in
	at    int      // how many of them stand before what is being typed
	typed *lexeme  // what is being typed, from its start to its end, or nil
	start int      // where the text that the items replace begins

	unclosed bool // the quote of what is being typed ends at the cursor, and not by the user

	prefix string   // what is typed of a name: its meaning, without quotes
	quoted bool     // … in back-quotes
	path   []string // the parts of the name before it
	items  []CompletionItem
	seen   map[CompletionItem]bool
}

// lex finds the statement around the cursor; false where nothing can be completed.
func (c *completing) lex() bool {
	var all []lexeme
	for _, t := range sqlparse.Tokens(c.text) {
		text := c.text[t.Start:t.End]
		open := t.Class == sqlparse.OpenToken
		comment := t.Class == sqlparse.Comment || open && strings.HasPrefix(text, "/*")
		if comment {
			unclosed := open || strings.HasPrefix(text, "--")
			if t.Start < c.pos && (c.pos < t.End || unclosed && c.pos == t.End) {
				return false
			}
			continue
		}
		l := lexeme{Token: t, text: text, pair: -1}
		switch {
		case text[0] == '`':
			l.name = unquoteName(text)
		case (t.Class == sqlparse.Keyword || t.Class == sqlparse.Name):
			l.name, l.word = text, strings.ToUpper(text)
		}
		if text == ";" {
			if t.End <= c.pos {
				all = all[:0]
				continue
			}
			break
		}
		all = append(all, l)
	}
	c.toks = all
	// A statement inside another begins anew where its first word stands.
	if i := c.inner(); i > 0 {
		c.toks = c.toks[i:]
	}
	var opened []int
	for i, t := range c.toks {
		switch t.text {
		case "(":
			opened = append(opened, i)
		case ")":
			if n := len(opened); n > 0 {
				c.toks[opened[n-1]].pair, c.toks[i].pair = i, opened[n-1]
				opened = opened[:n-1]
			}
		}
	}
	c.at = len(c.toks)
	for i := range c.toks {
		t := &c.toks[i]
		if t.End <= c.pos && !c.touches(t) {
			continue
		}
		c.at = i
		if t.Start < c.pos {
			c.typed, c.start = t, t.Start
		}
		break
	}
	return true
}

// leftOpen reports whether the quotes of the statement do not come in pairs.
func (c *completing) leftOpen(quote byte) bool {
	last := c.toks[len(c.toks)-1]
	return last.Class == sqlparse.OpenToken && last.text[0] == quote
}

// touches reports whether a token that ends at the cursor is still being typed.
func (c *completing) touches(t *lexeme) bool {
	if t.End != c.pos {
		return false
	}
	return t.word != "" || t.Class == sqlparse.OpenToken || t.Class == sqlparse.Number
}

// inner returns where a statement begins that is part of another: what is explained, or one of a set.
func (c *completing) inner() int {
	if len(c.toks) == 0 {
		return 0
	}
	switch c.toks[0].word {
	case "EXPLAIN", "EXECUTE", "COMPILE":
	default:
		return 0
	}
	for i, t := range c.toks[1:] {
		if t.word == "CREATE" || t.word == "UPDATE" || t.word == "DELETE" || t.word == "INSERT" && c.toks[i].word != "EXECUTE" {
			if t.End < c.pos {
				return i + 1
			}
			break
		}
	}
	return 0
}

// inString reports whether the cursor is in a string.
func (c *completing) inString() bool {
	return c.typed != nil && (c.typed.Class == sqlparse.String || c.typed.Class == sqlparse.OpenToken) && c.typed.text[0] != '`'
}

// wordItems completes everything that is no string.
func (c *completing) wordItems() {
	if t := c.typed; t != nil {
		switch {
		case t.text[0] == '`':
			c.quoted, c.prefix = true, unquoteName(c.text[t.Start:c.pos])
		case t.word != "":
			c.prefix = c.text[t.Start:c.pos]
		default:
			return // a number
		}
	}
	before := c.at
	for before >= 2 && c.toks[before-1].text == "." && c.toks[before-2].name != "" {
		c.path = append([]string{c.toks[before-2].name}, c.path...)
		before -= 2
	}
	if before >= 1 && c.toks[before-1].text == "." {
		return
	}
	if len(c.toks) > 0 && c.toks[0].word == "HELP" && c.at > 0 {
		c.topics()
		return
	}
	c.place(before)
}

// place adds what the grammar allows behind the first n tokens.
func (c *completing) place(n int) {
	from, query := c.queryStart(n)
	p := statementGrammar()
	if query {
		p = queryGrammar()
	}
	inCase := query && c.openCase(from, n)
	for _, e := range p.expected(c.toks[from:n]) {
		if e.word != "" {
			if len(c.path) == 0 && !c.quoted && !inCase {
				c.keyword(e.word, n)
			}
			continue
		}
		c.hole(e, from, n)
	}
}

// queryStart returns where the query begins that the place behind the first n tokens is in: at the first
// word of it, in the innermost parentheses that hold one.
func (c *completing) queryStart(n int) (start int, ok bool) {
	starts := []int{-1}
	for i, t := range c.toks[:n] {
		switch {
		case t.text == "(":
			starts = append(starts, -1)
		case t.text == ")" && len(starts) > 1:
			starts = starts[:len(starts)-1]
		case c.beginsQuery(i):
			starts[len(starts)-1] = i
		}
	}
	for i := len(starts) - 1; i >= 0; i-- {
		if starts[i] >= 0 {
			return starts[i], true
		}
	}
	return 0, false
}

// beginsQuery reports whether token i is the first of a query.
func (c *completing) beginsQuery(i int) bool {
	switch c.toks[i].word {
	case "SELECT", "VALUES":
		return true
	case "WITH": // of a common table expression, not of options
		return i == 0 || i+1 < len(c.toks) && c.toks[i+1].text != "(" && c.toks[i+1].name != ""
	}
	return false
}

// keyword adds a keyword in the case that is typed.
func (c *completing) keyword(word string, n int) {
	if hasPrefixFold(word, c.prefix) {
		c.add(CompletionItem{Text: c.cased(word, n), Kind: CompleteKeyword})
	}
}

// cased writes a word of the language in small letters where the user writes it so: in what is typed of it,
// else in the keyword before.
func (c *completing) cased(word string, n int) string {
	sample := c.prefix
	for i := n - 1; sample == "" && i >= 0; i-- {
		if c.toks[i].Class == sqlparse.Keyword {
			sample = c.toks[i].text
		}
	}
	if sample != "" && strings.IndexFunc(sample, unicode.IsUpper) < 0 && strings.IndexFunc(sample, unicode.IsLower) >= 0 {
		return strings.ToLower(word)
	}
	return word
}

// name adds a name of something, with more behind it, if it begins as typed.
func (c *completing) name(name, more string, kind CompletionKind, doc string) {
	if name == "" || !hasPrefixFold(name, c.prefix) {
		return
	}
	text := name
	if c.quoted || !c.s.names.plain(name) {
		text = sqlparse.QuoteIdent(name)
		if c.quoted && c.typed.Class != sqlparse.OpenToken && !c.unclosed { // its end stands behind the cursor
			text, more = strings.TrimSuffix(text, "`"), ""
		}
	}
	c.add(CompletionItem{Text: text + more, Kind: kind, Doc: doc})
}

func (c *completing) add(item CompletionItem) {
	key := CompletionItem{Text: item.Text, Kind: item.Kind}
	if c.seen == nil {
		c.seen = map[CompletionItem]bool{}
	}
	if !c.seen[key] {
		c.seen[key] = true
		c.items = append(c.items, item)
	}
}

// sorted returns the items, names before words of the language, each by name.
func (c *completing) sorted() []CompletionItem {
	rank := func(k CompletionKind) int {
		return slices.Index([]CompletionKind{CompleteColumn, CompleteTable, CompleteDatabase, CompleteCatalog, CompleteType, CompleteKeyword, CompleteFunction}, k)
	}
	sort.SliceStable(c.items, func(i, j int) bool {
		a, b := c.items[i], c.items[j]
		if ra, rb := rank(a.Kind), rank(b.Kind); ra != rb {
			return ra < rb
		}
		if la, lb := strings.ToLower(a.Text), strings.ToLower(b.Text); la != lb {
			return la < lb
		}
		return a.Text < b.Text
	})
	return c.items
}

// topics adds what HELP knows, the words behind HELP being one text.
func (c *completing) topics() {
	c.start = c.toks[0].End
	for c.start < c.pos && c.text[c.start] == ' ' {
		c.start++
	}
	if c.start == c.toks[0].End {
		return // the word HELP itself is being typed
	}
	c.prefix = strings.Join(strings.Fields(c.text[c.start:c.pos]), " ")
	topic := func(name, doc string) {
		if hasPrefixFold(name, c.prefix) {
			c.add(CompletionItem{Text: name, Kind: CompleteTopic, Doc: doc})
		}
	}
	for _, f := range supportedForms() {
		topic(c.cased(f.Name, 1), "")
	}
	for _, f := range allFunctions() {
		if !f.operator {
			topic(c.cased(f.names[0], 1), f.syntax)
		}
	}
	for _, o := range Options() {
		topic(o.Key, o.Doc)
	}
	for _, t := range dataTypes() {
		topic(c.cased(t.names[0], 1), t.doc)
	}
	for _, d := range c.s.declarers() {
		topic(d.name, d.kind)
		for _, o := range d.options {
			topic(strings.TrimSuffix(o.Key, "."), o.Doc)
		}
	}
	for _, cl := range clauses() {
		topic(c.cased(cl.names[0], 1), cl.doc)
	}
	for _, word := range []string{"FUNCTIONS", "OPTIONS", "STATEMENTS", "TYPES", "CONNECTORS", "FORMATS", "CATALOG TYPES"} {
		topic(c.cased(word, 1), "")
	}
}

// plainName reports whether a name needs no back-quotes.
func plainName(name string) bool {
	const head = "SELECT "
	t := sqlparse.Tokens(head + name)
	if len(t) != 2 || t[1].Class != sqlparse.Name || t[1].End-t[1].Start != len(name) || name[0] == '`' {
		return false
	}
	_, err := sqlparse.Parse(head + name)
	return err == nil
}

// unquoteName returns the name that a word means, or one in back-quotes, closed or not.
func unquoteName(text string) string {
	if !strings.HasPrefix(text, "`") {
		return text
	}
	text = text[1:]
	if n := len(text) - len(strings.TrimRight(text, "`")); n%2 == 1 {
		text = text[:len(text)-1]
	}
	return strings.ReplaceAll(text, "``", "`")
}

// hasPrefixFold reports whether a text begins with another, blind to case.
func hasPrefixFold(text, prefix string) bool {
	for _, p := range prefix {
		r, size := utf8.DecodeRuneInString(text)
		if size == 0 || r != p && unicode.ToLower(r) != unicode.ToLower(p) {
			return false
		}
		text = text[size:]
	}
	return true
}
