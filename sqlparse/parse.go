package sqlparse

import (
	"fmt"
	"strings"
)

// Parse makes the tree of one statement, which may end with a semicolon. An
// error is an *Error. Spans count from the start of text.
func Parse(text string) (Statement, error) {
	p, err := newParser(text)
	if err != nil {
		return nil, err
	}
	s := p.statement(forms)
	p.end()
	if p.err != nil {
		return nil, p.err
	}
	return s, nil
}

// parser reads tokens from a lexer. The first error sticks: from then on the
// current token is the end of the text, so that every loop ends and every
// method returns soon, with something that is not used.
type parser struct {
	lex   lexer
	tok   token   // the current token
	ahead []token // tokens read beyond it, from head on
	head  int
	prev  int // end of the token before tok
	err   *Error

	forms  []Form
	depth  int // nesting, at most MaxDepth
	height int // operators above one another in the tree being built, at most MaxChain

	plainNames []int // where keywords were taken as names, for Tokens; nil: not kept

	literals []Literal // cut off piece by piece: one allocation for many
	exprs    []Expr    // likewise, for lists
	star     bool      // whether x.* may come next
	list     []Expr    // stack of lists being read
}

func newParser(text string) (*parser, error) {
	if err := checkText(text); err != nil {
		return nil, err
	}
	p := &parser{lex: lexer{src: text, pos: skipBOM(text)}}
	p.next()
	return p, nil
}

// next moves to the next token.
func (p *parser) next() {
	if p.err != nil {
		return
	}
	p.prev = p.tok.end
	if p.head < len(p.ahead) {
		p.tok = p.ahead[p.head]
		if p.head++; p.head == len(p.ahead) {
			p.ahead, p.head = p.ahead[:0], 0
		}
	} else {
		p.tok = p.lex.next()
	}
	if p.tok.kind == tokBad {
		if p.prev == 0 && p.tok.text[0] == '\\' {
			p.failAt(p.tok.span(), `found "\", expected a statement`, hintMetaCommand)
			return
		}
		p.fail(badToken(p.tok))
	}
}

// peek returns the n-th token after the current one (1 is the next).
func (p *parser) peek(n int) token {
	if p.err != nil {
		return p.tok
	}
	for len(p.ahead)-p.head < n {
		p.ahead = append(p.ahead, p.lex.next())
	}
	return p.ahead[p.head+n-1]
}

// fail notes the first error and ends the reading.
func (p *parser) fail(e *Error) {
	if p.err != nil {
		return
	}
	p.err = e
	p.tok = token{kind: tokEOF, start: p.tok.start, end: p.tok.start}
	p.ahead, p.head = p.ahead[:0], 0
}

func (p *parser) failAt(s Span, msg, hint string) {
	p.fail(&Error{Span: s, Msg: msg, Hint: hint})
}

// unexpected fails at the current token.
func (p *parser) unexpected(expected string) {
	if p.err != nil {
		return
	}
	t := p.tok
	e := &Error{Span: t.span(), Msg: "found " + p.found(t) + ", expected " + expected}
	switch {
	case t.kind == tokEOF || t.kind == tokOp && t.text == ";":
	case t.kind == tokOp && t.text == "?":
		e.Hint = "parameters are not supported; write the value"
	case t.kind == tokOp && t.text == "=" && p.prev == t.start && t.start > 0 && p.lex.src[t.start-1] == '=':
		e.Hint = "equal is written with one ="
	case t.kind == tokOp && t.text == "[" && expectsName(expected):
		e.Hint = "names are written plain or in back-quotes, not in brackets"
	case t.kw == "ILIKE":
		e.Hint = "write LOWER(x) LIKE LOWER(pattern)"
		p.fail(e)
		return
	case t.kind == tokOp && t.text == ":":
		if p.peek(1).text == ":" && p.peek(1).start == t.end {
			e.Hint = "write CAST(x AS type) instead of x::type"
		}
	case t.reserved && expectsName(expected):
		e.Hint = fmt.Sprintf("%s is a reserved word; to use it as a name write `%s`", t.kw, t.text)
	}
	p.misspelt(e, expected)
	p.fail(e)
}

// commaMissing fails at the current token where the next item of a list starts
// without a comma.
func (p *parser) commaMissing(expected string) {
	if p.err != nil {
		return
	}
	e := &Error{Span: p.tok.span(), Msg: "found " + p.found(p.tok) + ", expected " + expected, Hint: "a comma may be missing before it"}
	p.misspelt(e, expected)
	p.fail(e)
}

func expectsName(expected string) bool {
	return strings.Contains(expected, "name") || strings.Contains(expected, "expression") || strings.Contains(expected, "alias")
}

// found shows a token in an error.
func (p *parser) found(t token) string {
	switch {
	case t.kind == tokEOF:
		return "the end of the statement"
	case t.kind == tokOp && t.text == ";":
		return `";"`
	case t.kind == tokHintBegin:
		return `a hint "/*+"`
	case t.kind == tokBad:
		return quoteFound(t.text)
	}
	return quoteFound(t.text)
}

// end checks that the statement is over.
func (p *parser) end() {
	if p.isOp(";") {
		p.next()
	}
	if p.tok.kind != tokEOF {
		p.unexpected("the end of the statement")
	}
}

func (p *parser) isWord(kw string) bool { return p.tok.kw == kw }

func (p *parser) isOp(op string) bool { return p.tok.kind == tokOp && p.tok.text == op }

func (p *parser) peekIsWord(n int, kw string) bool { return p.peek(n).kw == kw }

func (p *parser) peekIsOp(n int, op string) bool {
	t := p.peek(n)
	return t.kind == tokOp && t.text == op
}

// isWords looks for several keywords in a row.
func (p *parser) isWords(kws ...string) bool {
	if !p.isWord(kws[0]) {
		return false
	}
	for i, kw := range kws[1:] {
		if !p.peekIsWord(i+1, kw) {
			return false
		}
	}
	return true
}

// accept takes the given keywords, if they are next.
func (p *parser) accept(kws ...string) bool {
	if len(kws) == 1 {
		if p.tok.kw != kws[0] {
			return false
		}
		p.next()
		return true
	}
	if !p.isWords(kws...) {
		return false
	}
	for range kws {
		p.next()
	}
	return true
}

func (p *parser) acceptOp(op string) bool {
	if !p.isOp(op) {
		return false
	}
	p.next()
	return true
}

// expect takes the given keywords or fails.
func (p *parser) expect(kws ...string) {
	for _, kw := range kws {
		if !p.accept(kw) {
			p.unexpected(kw)
			return
		}
	}
}

func (p *parser) expectOp(op string) {
	if !p.acceptOp(op) {
		p.unexpected(`"` + op + `"`)
	}
}

// expectList takes the comma between, or the parenthesis behind, the items of a
// list; it returns whether another item follows.
func (p *parser) listGoesOn() bool {
	if p.acceptOp(",") {
		if p.isOp(")") {
			p.failAt(Span{p.prev - 1, p.prev}, `found "," before ")", expected another item`, "remove the last comma")
			return false
		}
		return true
	}
	if p.acceptOp(")") {
		return false
	}
	if p.err == nil && (p.tok.kind == tokWord && !p.tok.reserved || p.tok.kind >= tokQuoted && p.tok.kind <= tokBinary) {
		p.commaMissing(`"," or ")"`)
		return false
	}
	p.unexpected(`"," or ")"`)
	return false
}

// pos is the position from a start to the last token taken.
func (p *parser) pos(start int) Pos { return At(Span{start, max(p.prev, start)}) }

// enter counts a level of nesting; leave ends it.
func (p *parser) enter() {
	p.depth++
	if p.depth > MaxDepth {
		p.tooDeep()
	}
}

func (p *parser) tooDeep() {
	p.failAt(p.tok.span(), fmt.Sprintf("the statement is nested more than %d levels deep, the most allowed", MaxDepth), "")
}

func (p *parser) leave() { p.depth-- }

// grow counts an operator on top of what was read since height was last kept.
func (p *parser) grow() {
	p.height++
	if p.height > MaxChain {
		p.failAt(p.tok.span(), fmt.Sprintf("more than %d operators in one chain, the most allowed", MaxChain), "")
	}
}

// checkColumns fails when a list gets longer than MaxColumns.
func (p *parser) checkColumns(n int) {
	if n > MaxColumns {
		p.failAt(p.tok.span(), fmt.Sprintf("more than %d columns, the most allowed", MaxColumns), "")
	}
}

// ident: a name, or a non-reserved word.
func (p *parser) ident(expected string) Ident {
	t := p.tok
	switch {
	case t.kind == tokWord && !t.reserved:
		if t.kw != "" && p.plainNames != nil {
			p.plainNames = append(p.plainNames, t.start)
		}
		p.next()
		return Ident{At(t.span()), t.text}
	case t.kind == tokQuoted:
		p.next()
		return Ident{At(t.span()), unquote(t.text, '`')}
	}
	p.unexpected(expected)
	return Ident{}
}

func (p *parser) isIdent() bool {
	return p.tok.kind == tokWord && !p.tok.reserved || p.tok.kind == tokQuoted
}

// unquote returns what is between quotes, doubled quotes made single.
func unquote(s string, quote byte) string {
	s = s[1 : len(s)-1]
	if strings.IndexByte(s, quote) < 0 {
		return s
	}
	q := string(quote)
	return strings.ReplaceAll(s, q+q, q)
}

// objectName: name {. name}, at most max parts.
func (p *parser) objectName(expected string, max int) ObjectName {
	start := p.tok.start
	n := ObjectName{Parts: []Ident{p.ident(expected)}}
	for p.isOp(".") {
		if len(n.Parts) == max {
			p.failAt(p.tok.span(), fmt.Sprintf(`found ".", but %s has at most %s`, expected, parts(max)), "a name that contains a dot is written in back-quotes")
			break
		}
		p.next()
		n.Parts = append(n.Parts, p.ident("a name"))
	}
	n.Pos = p.pos(start)
	return n
}

func parts(n int) string {
	if n == 1 {
		return "one part"
	}
	return fmt.Sprint(n, " parts")
}

func (p *parser) tableName() ObjectName    { return p.objectName("a table name", 3) }
func (p *parser) databaseName() ObjectName { return p.objectName("a database name", 2) }

// identList: ( name, … )
func (p *parser) identList(expected string) []Ident {
	p.expectOp("(")
	var list []Ident
	for p.err == nil {
		list = append(list, p.ident(expected))
		p.checkColumns(len(list))
		if !p.listGoesOn() {
			break
		}
	}
	return list
}

// options: WITH ( ['k' = 'v', …] )
func (p *parser) optionsClause() *Options {
	start := p.tok.start
	p.expect("WITH")
	o := &Options{Items: p.optionList()}
	o.Pos = p.pos(start)
	return o
}

func (p *parser) optionList() []Option {
	p.expectOp("(")
	if p.acceptOp(")") {
		return nil
	}
	var list []Option
	for p.err == nil {
		list = append(list, p.option())
		if !p.listGoesOn() {
			break
		}
	}
	return list
}

func (p *parser) option() Option {
	start := p.tok.start
	o := Option{Key: p.stringLiteral("an option's key in single quotes")}
	p.expectOp("=")
	o.Value = p.stringLiteral("the option's value in single quotes")
	o.Pos = p.pos(start)
	return o
}

// comment: [COMMENT 'text']
func (p *parser) comment() *Literal {
	if !p.accept("COMMENT") {
		return nil
	}
	return p.stringLiteral("the comment in single quotes")
}

func (p *parser) ifNotExists() bool { return p.accept("IF", "NOT", "EXISTS") }
func (p *parser) ifExists() bool    { return p.accept("IF", "EXISTS") }
