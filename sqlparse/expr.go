package sqlparse

// ColumnRef is a name or a dotted path of names: a, t.a, c.d.t.a or, where a is
// a ROW, a.f; which it is only resolving can tell.
type ColumnRef struct {
	Pos
	Parts []Ident
}

// Field is x.f where x is not a plain path: (x).f, f(x).y, a[1].b.
type Field struct {
	Pos
	X    Expr
	Name Ident
}

// Star is * or t.* in a select list. X is nil except for (x).* and f(x).*,
// the fields of a ROW.
type Star struct {
	Pos
	Qualifier []Ident
	X         Expr
}

// Index is x[i]: element of an ARRAY, value of a MAP.
type Index struct {
	Pos
	X, I Expr
}

// Op is an operator of Unary, Binary or Quantified.
type Op uint8

// The operators.
const (
	OpOr Op = iota
	OpAnd
	OpNot
	OpEq
	OpNe
	OpLt
	OpLe
	OpGt
	OpGe
	OpIsDistinct    // IS DISTINCT FROM
	OpIsNotDistinct // IS NOT DISTINCT FROM
	OpOverlaps      // periods: (start, end) OVERLAPS (start, end)
	OpContains
	OpPeriodEquals
	OpPrecedes
	OpSucceeds
	OpImmediatelyPrecedes
	OpImmediatelySucceeds
	OpMemberOf
	OpSubmultisetOf
	OpAdd
	OpSub
	OpMul
	OpDiv
	OpMod
	OpConcat
	OpAtTimeZone
	OpPlus  // unary
	OpMinus // unary
)

// Unary is NOT x, +x or -x.
type Unary struct {
	Pos
	Op Op
	X  Expr
}

// Binary is an operator between two operands. Chains lean to the left and may
// be MaxChain long; Operands flattens one.
type Binary struct {
	Pos
	Op          Op
	Left, Right Expr
}

// Is is the test x IS [NOT] NULL, TRUE, JSON VALUE, ….
type Is struct {
	Pos
	X    Expr
	Not  bool
	Test IsTest
}

// IsTest is what an Is asks.
type IsTest uint8

// The tests after IS.
const (
	IsNull IsTest = iota
	IsTrue
	IsFalse
	IsUnknown
	IsJSONValue // IS JSON, IS JSON VALUE
	IsJSONObject
	IsJSONArray
	IsJSONScalar
	IsASet
	IsEmpty
)

// Between is x [NOT] BETWEEN [SYMMETRIC] low AND high.
type Between struct {
	Pos
	X         Expr
	Not       bool
	Symmetric bool
	Low, High Expr
}

// In is x [NOT] IN (a, b, …) or x [NOT] IN (query): one of List and Query is set.
type In struct {
	Pos
	X     Expr
	Not   bool
	List  []Expr
	Query Query
}

// Like is x [NOT] LIKE pattern [ESCAPE e], or SIMILAR TO.
type Like struct {
	Pos
	X       Expr
	Not     bool
	Similar bool
	Pattern Expr
	Escape  Expr // nil: none
}

// Quantified is x op {ANY|ALL} (query). SOME is ANY. List is set instead of
// Query for x op ANY (a, b).
type Quantified struct {
	Pos
	X     Expr
	Op    Op
	All   bool
	Query Query
	List  []Expr
}

// Exists is EXISTS (query).
type Exists struct {
	Pos
	Query Query
}

// Subquery is a query in parentheses used as a value.
type Subquery struct {
	Pos
	Query Query
}

// Row is a row constructor: ROW(a, b) or (a, b). Explicit is set for ROW(…).
type Row struct {
	Pos
	Explicit bool
	Items    []Expr
}

// CollectionKind is the kind of a Collection.
type CollectionKind uint8

// The kinds of collections.
const (
	ArrayCollection CollectionKind = iota
	MapCollection
	MultisetCollection
)

// Collection is ARRAY[a, b], MAP[k, v, k, v] or MULTISET[a, b]; with Query set,
// ARRAY(query), MAP(query) or MULTISET(query).
type Collection struct {
	Pos
	Kind  CollectionKind
	Items []Expr
	Query Query
}

// Case is CASE [operand] WHEN … THEN … [ELSE …] END.
type Case struct {
	Pos
	Operand Expr // nil: searched CASE
	Whens   []When
	Else    Expr // nil: none
}

// When is one WHEN … THEN … of a Case. Conds holds more than one only for a
// CASE with an operand: WHEN 1, 2 THEN ….
type When struct {
	Pos
	Conds []Expr
	Then  Expr
}

// Cast is CAST(x AS type) or TRY_CAST(x AS type).
type Cast struct {
	Pos
	Try  bool
	X    Expr
	Type TypeName
}

func (*ColumnRef) expr()  {}
func (*Field) expr()      {}
func (*Star) expr()       {}
func (*Index) expr()      {}
func (*Unary) expr()      {}
func (*Binary) expr()     {}
func (*Is) expr()         {}
func (*Between) expr()    {}
func (*In) expr()         {}
func (*Like) expr()       {}
func (*Quantified) expr() {}
func (*Exists) expr()     {}
func (*Subquery) expr()   {}
func (*Row) expr()        {}
func (*Collection) expr() {}
func (*Case) expr()       {}
func (*Cast) expr()       {}

// Operands flattens what is joined by one operator, a AND (b AND c) AND d: the
// operands from left to right. e itself is the only one where it is no such Binary.
func Operands(e Expr, op Op) []Expr {
	var list []Expr
	stack := []Expr{e}
	for len(stack) > 0 {
		e := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if b, ok := e.(*Binary); ok && b.Op == op {
			stack = append(stack, b.Right, b.Left)
			continue
		}
		list = append(list, e)
	}
	return list
}

// How tightly operators bind, as in Calcite: IS less than =, || like *.
const (
	precOr      = 22
	precAnd     = 24
	precNot     = 26
	precIs      = 28
	precCompare = 30
	precLike    = 32 // LIKE, IN, BETWEEN, the predicates of periods and multisets
	precAdd     = 40
	precMul     = 60
	precZone    = 70
	precUnary   = 80
	precPrimary = 100
)

// opNames is the text of each operator and how tightly it binds.
var opNames = [...]struct {
	text string
	prec int
}{
	OpOr:                  {"OR", precOr},
	OpAnd:                 {"AND", precAnd},
	OpNot:                 {"NOT", precNot},
	OpEq:                  {"=", precCompare},
	OpNe:                  {"<>", precCompare},
	OpLt:                  {"<", precCompare},
	OpLe:                  {"<=", precCompare},
	OpGt:                  {">", precCompare},
	OpGe:                  {">=", precCompare},
	OpIsDistinct:          {"IS DISTINCT FROM", precCompare},
	OpIsNotDistinct:       {"IS NOT DISTINCT FROM", precCompare},
	OpOverlaps:            {"OVERLAPS", precLike},
	OpContains:            {"CONTAINS", precLike},
	OpPeriodEquals:        {"EQUALS", precLike},
	OpPrecedes:            {"PRECEDES", precLike},
	OpSucceeds:            {"SUCCEEDS", precLike},
	OpImmediatelyPrecedes: {"IMMEDIATELY PRECEDES", precLike},
	OpImmediatelySucceeds: {"IMMEDIATELY SUCCEEDS", precLike},
	OpMemberOf:            {"MEMBER OF", precLike},
	OpSubmultisetOf:       {"SUBMULTISET OF", precLike},
	OpAdd:                 {"+", precAdd},
	OpSub:                 {"-", precAdd},
	OpMul:                 {"*", precMul},
	OpDiv:                 {"/", precMul},
	OpMod:                 {"%", precMul},
	OpConcat:              {"||", precMul},
	OpAtTimeZone:          {"AT TIME ZONE", precZone},
	OpPlus:                {"+", precUnary},
	OpMinus:               {"-", precUnary},
}

// String returns the operator as it is written.
func (op Op) String() string { return opNames[op].text }

func precOf(e Expr) int {
	switch e := e.(type) {
	case *Unary:
		return opNames[e.Op].prec
	case *Binary:
		return opNames[e.Op].prec
	case *Is:
		return precIs
	case *Quantified:
		return precCompare
	case *Between, *In, *Like:
		return precLike
	}
	return precPrimary
}

// expr: any expression
func (p *parser) expr() Expr {
	p.enter()
	star := p.star
	p.star = false
	e := p.operators(0)
	p.star = star
	p.leave()
	return e
}

// operators: operand {operator operand}, of operators that bind at least as
// tightly as min. Chains of one level are read in the loop, not by recursion.
func (p *parser) operators(min int) Expr {
	start, height, star := p.tok.start, p.height, p.star
	p.height = 0
	if min > 0 {
		p.star = false
	}
	left := p.prefix(min)
	if _, ok := left.(*Star); !ok {
		for p.err == nil {
			e := p.operator(start, left, min)
			if e == nil {
				break
			}
			left = e
			p.grow()
		}
	}
	p.height, p.star = max(height, p.height), star
	return left
}

// prefix: {NOT|+|-} operand
func (p *parser) prefix(min int) Expr {
	var op Op
	switch {
	case p.isWord("NOT"):
		if min > precNot {
			p.failAt(p.tok.span(), `found "NOT", expected an expression`, "put the negation in parentheses: (NOT …)")
		}
		op = OpNot
	case p.isOp("-"):
		op = OpMinus
	case p.isOp("+"):
		op = OpPlus
	default:
		return p.postfix(p.primary())
	}
	start := p.tok.start
	p.next()
	p.enter()
	x := p.operators(opNames[op].prec)
	p.leave()
	return &Unary{p.pos(start), op, x}
}

// infix returns the operator at the current token, and how many tokens it has.
func (p *parser) infix() (op Op, tokens int) {
	if p.tok.kind == tokOp {
		switch p.tok.text {
		case "=":
			return OpEq, 1
		case "<>", "!=":
			return OpNe, 1
		case "<":
			return OpLt, 1
		case "<=":
			return OpLe, 1
		case ">":
			return OpGt, 1
		case ">=":
			return OpGe, 1
		case "+":
			return OpAdd, 1
		case "-":
			return OpSub, 1
		case "*":
			return OpMul, 1
		case "/":
			return OpDiv, 1
		case "%":
			return OpMod, 1
		case "||":
			return OpConcat, 1
		}
		return 0, 0
	}
	switch p.tok.kw {
	case "OR":
		return OpOr, 1
	case "AND":
		return OpAnd, 1
	case "OVERLAPS":
		return OpOverlaps, 1
	case "CONTAINS":
		return OpContains, 1
	case "EQUALS":
		return OpPeriodEquals, 1
	case "PRECEDES":
		return OpPrecedes, 1
	case "SUCCEEDS":
		return OpSucceeds, 1
	case "IMMEDIATELY":
		if p.peekIsWord(1, "PRECEDES") {
			return OpImmediatelyPrecedes, 2
		}
		if p.peekIsWord(1, "SUCCEEDS") {
			return OpImmediatelySucceeds, 2
		}
	case "MEMBER":
		if p.peekIsWord(1, "OF") {
			return OpMemberOf, 2
		}
		return OpMemberOf, 1
	case "SUBMULTISET":
		if p.peekIsWord(1, "OF") {
			return OpSubmultisetOf, 2
		}
		return OpSubmultisetOf, 1
	case "AT":
		if p.isWords("AT", "TIME", "ZONE") {
			return OpAtTimeZone, 3
		}
	case "IS":
		if p.peekIsWord(1, "DISTINCT") && p.peekIsWord(2, "FROM") {
			return OpIsDistinct, 3
		}
		if p.peekIsWord(1, "NOT") && p.peekIsWord(2, "DISTINCT") && p.peekIsWord(3, "FROM") {
			return OpIsNotDistinct, 4
		}
	}
	return 0, 0
}

// operator reads one operator behind left, with its right operand; nil when
// none follows that binds as tightly as min.
func (p *parser) operator(start int, left Expr, min int) Expr {
	if p.tok.kind != tokOp && p.tok.kw == "" {
		return nil
	}
	if op, tokens := p.infix(); tokens > 0 {
		prec := opNames[op].prec
		if prec < min {
			return nil
		}
		for range tokens {
			p.next()
		}
		if op >= OpEq && op <= OpGe && (p.isWord("ANY") || p.isWord("SOME") || p.isWord("ALL")) {
			return p.quantified(start, left, op)
		}
		right := p.operators(prec + 1)
		return &Binary{p.pos(start), op, left, right}
	}
	not := p.isWord("NOT")
	word := p.tok.kw
	if not {
		word = p.peek(1).kw
	}
	switch word {
	case "IS":
		if not || precIs < min {
			return nil
		}
		return p.is(start, left)
	case "BETWEEN", "IN", "LIKE", "SIMILAR":
		if precLike < min {
			return nil
		}
		if not {
			p.next()
		}
	default:
		return nil
	}
	switch word {
	case "BETWEEN":
		return p.between(start, left, not)
	case "IN":
		return p.in(start, left, not)
	}
	return p.like(start, left, not)
}

// quantified: x op {ANY|SOME|ALL} ( query | list )
func (p *parser) quantified(start int, x Expr, op Op) Expr {
	q := &Quantified{X: x, Op: op, All: p.isWord("ALL")}
	p.next()
	q.List, q.Query = p.listOrQuery()
	q.Pos = p.pos(start)
	return q
}

// listOrQuery: ( query ) or ( expr, … )
func (p *parser) listOrQuery() ([]Expr, Query) {
	p.expectOp("(")
	if p.isQueryStart() {
		q := p.query()
		p.expectOp(")")
		return nil, q
	}
	base := len(p.list)
	for p.err == nil {
		p.list = append(p.list, p.expr())
		if len(p.list) == base+1 {
			if sub, ok := p.list[base].(*Subquery); ok && (p.isOp(")") || p.isQueryGoingOn()) {
				p.list = p.list[:base]
				q := p.queryRest(sub.Span().Start, sub.Query)
				p.expectOp(")")
				return nil, q
			}
		}
		if !p.listGoesOn() {
			break
		}
	}
	return p.cutList(base), nil
}

// cutList takes the expressions read since base off the stack. Lists are cut
// from larger pieces: the rows of an INSERT are many.
func (p *parser) cutList(base int) []Expr {
	n := len(p.list) - base
	if n == 0 {
		return nil
	}
	if cap(p.exprs)-len(p.exprs) < n {
		p.exprs = make([]Expr, 0, max(n, min(max(2*cap(p.exprs), 4), 1024)))
	}
	at := len(p.exprs)
	p.exprs = append(p.exprs, p.list[base:]...)
	clear(p.list[base:])
	p.list = p.list[:base]
	return p.exprs[at : at+n : at+n]
}

// is: x IS [NOT] {NULL|TRUE|FALSE|UNKNOWN|JSON [VALUE|OBJECT|ARRAY|SCALAR]|A SET|EMPTY}
func (p *parser) is(start int, x Expr) Expr {
	e := &Is{X: x}
	p.next()
	e.Not = p.accept("NOT")
	switch {
	case p.accept("NULL"):
		e.Test = IsNull
	case p.accept("TRUE"):
		e.Test = IsTrue
	case p.accept("FALSE"):
		e.Test = IsFalse
	case p.accept("UNKNOWN"):
		e.Test = IsUnknown
	case p.accept("EMPTY"):
		e.Test = IsEmpty
	case p.accept("JSON"):
		switch {
		case p.accept("OBJECT"):
			e.Test = IsJSONObject
		case p.accept("ARRAY"):
			e.Test = IsJSONArray
		case p.accept("SCALAR"):
			e.Test = IsJSONScalar
		default:
			p.accept("VALUE")
			e.Test = IsJSONValue
		}
	case (p.tok.text == "A" || p.tok.text == "a") && p.peekIsWord(1, "SET"):
		p.next()
		p.next()
		e.Test = IsASet
	default:
		p.unexpected("NULL, TRUE, FALSE, UNKNOWN, DISTINCT FROM or JSON behind IS")
	}
	e.Pos = p.pos(start)
	return e
}

// between: x [NOT] BETWEEN [ASYMMETRIC|SYMMETRIC] low AND high
func (p *parser) between(start int, x Expr, not bool) Expr {
	e := &Between{X: x, Not: not}
	p.next()
	if p.accept("SYMMETRIC") {
		e.Symmetric = true
	} else {
		p.accept("ASYMMETRIC")
	}
	e.Low = p.operators(precLike + 1)
	p.expect("AND")
	e.High = p.operators(precLike + 1)
	e.Pos = p.pos(start)
	return e
}

// in: x [NOT] IN ( list | query )
func (p *parser) in(start int, x Expr, not bool) Expr {
	e := &In{X: x, Not: not}
	p.next()
	e.List, e.Query = p.listOrQuery()
	e.Pos = p.pos(start)
	return e
}

// like: x [NOT] {LIKE|SIMILAR TO} pattern [ESCAPE e]
func (p *parser) like(start int, x Expr, not bool) Expr {
	e := &Like{X: x, Not: not}
	if p.accept("SIMILAR") {
		p.expect("TO")
		e.Similar = true
	} else {
		p.next()
	}
	e.Pattern = p.operators(precLike + 1)
	if p.accept("ESCAPE") {
		e.Escape = p.operators(precLike + 1)
	}
	e.Pos = p.pos(start)
	return e
}

// postfix: x {[ i ] | . name | . *}
func (p *parser) postfix(x Expr) Expr {
	for p.tok.kind == tokOp {
		if _, ok := x.(*Star); ok {
			break
		}
		start := x.Span().Start
		switch p.tok.text {
		case "[":
			p.next()
			i := p.expr()
			p.expectOp("]")
			x = &Index{p.pos(start), x, i}
		case ".":
			if p.peekIsOp(1, "*") {
				if !p.star {
					p.next()
					p.unexpected("a field's name")
				}
				p.next()
				p.next()
				x = &Star{Pos: p.pos(start), X: x}
				break
			}
			p.next()
			name := p.ident("a field's name")
			x = &Field{p.pos(start), x, name}
		default:
			return x
		}
		p.grow()
	}
	return x
}

// primary: literal, name, call, or anything in parentheses
func (p *parser) primary() Expr {
	t := p.tok
	switch t.kind {
	case tokNumber:
		p.next()
		return p.newLiteral(t.span(), NumberLiteral, t.text)
	case tokApprox:
		p.next()
		return p.newLiteral(t.span(), ApproxLiteral, t.text)
	case tokString, tokUnicode:
		return p.stringLiteral("")
	case tokBinary:
		return p.binaryLiteral()
	case tokQuoted:
		return p.path()
	case tokOp:
		if t.text == "(" {
			return p.paren()
		}
	case tokWord:
		return p.word()
	}
	p.unexpected("an expression")
	return p.newLiteral(Span{}, NullLiteral, "")
}

// word: an expression that starts with a word
func (p *parser) word() Expr {
	t := p.tok
	if t.kw == "" {
		return p.path()
	}
	next := p.peek(1)
	call := next.kind == tokOp && next.text == "("
	switch t.kw {
	case "NULL":
		p.next()
		return p.newLiteral(t.span(), NullLiteral, "")
	case "TRUE", "FALSE":
		p.next()
		return p.newLiteral(t.span(), BooleanLiteral, t.kw)
	case "UNKNOWN":
		p.next()
		return p.newLiteral(t.span(), UnknownLiteral, "")
	case "DATE", "TIME", "TIMESTAMP":
		if next.kind == tokString || next.kind == tokUnicode {
			switch t.kw {
			case "DATE":
				return p.dateTimeLiteral(DateLiteral)
			case "TIME":
				return p.dateTimeLiteral(TimeLiteral)
			}
			return p.dateTimeLiteral(TimestampLiteral)
		}
	case "INTERVAL":
		return p.interval()
	case "CASE":
		return p.caseExpr()
	case "CAST", "TRY_CAST":
		return p.cast()
	case "EXISTS":
		p.next()
		q := p.parenQuery()
		return &Exists{p.pos(t.start), q}
	case "ROW":
		p.next()
		p.expectOp("(")
		items := p.exprList(")")
		return &Row{p.pos(t.start), true, items}
	case "PERIOD":
		if call {
			p.next()
			return p.paren()
		}
	case "ARRAY":
		return p.collection(ArrayCollection)
	case "MULTISET":
		return p.collection(MultisetCollection)
	case "MAP":
		n := 2
		for call && p.peekIsOp(n, "(") {
			n++
		}
		if next.kind == tokOp && next.text == "[" || call && p.isQueryAt(n) {
			return p.collection(MapCollection)
		}
	}
	if call {
		if e := p.specialCall(); e != nil {
			return e
		}
	}
	if k := keywords[t.kw]; k.reserved {
		switch {
		case call && k.callable:
			p.next()
			return p.call(t.start, ObjectName{At(t.span()), []Ident{{At(t.span()), t.kw}}})
		case k.bare:
			p.next()
			return &Call{Pos: At(t.span()), Name: ObjectName{At(t.span()), []Ident{{At(t.span()), t.kw}}}, NoParens: true}
		case p.isQueryStart():
			p.failAt(t.span(), "found "+p.found(t)+", expected an expression", "a query used as a value is put in parentheses")
		}
		p.unexpected("an expression")
		return p.newLiteral(Span{}, NullLiteral, "")
	}
	return p.path()
}

// path: name {. name} [( arguments )] or name {. name} . *
func (p *parser) path() Expr {
	start := p.tok.start
	quoted := p.tok.kind == tokQuoted
	var one [1]Ident
	ids := append(one[:0], p.ident("an expression"))
	for p.isOp(".") {
		if p.peekIsOp(1, "*") {
			if !p.star {
				p.next()
				p.unexpected("a name")
			}
			p.next()
			p.next()
			return &Star{Pos: p.pos(start), Qualifier: append([]Ident(nil), ids...)}
		}
		p.next()
		ids = append(ids, p.ident("a name"))
		if len(ids) > MaxDepth {
			p.failAt(p.tok.span(), "a name has too many parts", "")
		}
	}
	ids = append([]Ident(nil), ids...)
	if p.isOp("(") {
		if len(ids) == 1 && !quoted {
			ids[0].Name = upperASCII(ids[0].Name)
		}
		return p.call(start, ObjectName{p.pos(start), ids})
	}
	return &ColumnRef{p.pos(start), ids}
}

func upperASCII(s string) string {
	for i := 0; i < len(s); i++ {
		if 'a' <= s[i] && s[i] <= 'z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if 'a' <= b[i] && b[i] <= 'z' {
					b[i] -= 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

// paren: ( query ), ( expr ) or ( expr, expr, … )
func (p *parser) paren() Expr {
	start := p.tok.start
	p.next()
	if p.isQueryStart() {
		q := p.query()
		p.expectOp(")")
		return &Subquery{p.pos(start), q}
	}
	e := p.expr()
	if sub, ok := e.(*Subquery); ok && p.isQueryGoingOn() {
		q := p.queryRest(sub.Span().Start, sub.Query)
		p.expectOp(")")
		return &Subquery{p.pos(start), q}
	}
	if p.isOp(",") {
		base := len(p.list)
		p.list = append(p.list, e)
		for p.listGoesOn() {
			p.list = append(p.list, p.expr())
			p.checkColumns(len(p.list) - base)
		}
		items := p.cutList(base)
		return &Row{p.pos(start), false, items}
	}
	p.expectOp(")")
	if b, ok := e.(*Binary); ok && b.Op == OpSub && p.tok.reserved && unitName(p.tok.kw) != "" {
		unit := unitName(p.tok.kw)
		p.failAt(Span{start, p.tok.end}, "The interval (x - y) "+unit+" is not supported yet",
			"TIMESTAMPDIFF("+unit+", y, x) counts whole units")
	}
	return e
}

// exprList: expr {, expr}, up to the given bracket, which is taken
func (p *parser) exprList(bracket string) []Expr {
	base := len(p.list)
	for p.err == nil {
		p.list = append(p.list, p.expr())
		if p.isOp(bracket) {
			p.next()
			break
		}
		if !p.acceptOp(",") {
			p.unexpected(`"," or "` + bracket + `"`)
		}
	}
	return p.cutList(base)
}

// collection: {ARRAY|MAP|MULTISET} { [ items ] | ( query ) }
func (p *parser) collection(kind CollectionKind) Expr {
	start := p.tok.start
	c := &Collection{Kind: kind}
	p.next()
	switch {
	case p.isOp("("):
		c.Query = p.parenQuery()
	case p.acceptOp("["):
		if !p.acceptOp("]") {
			c.Items = p.exprList("]")
		}
		if kind == MapCollection && len(c.Items)%2 != 0 {
			p.failAt(p.pos(start).Span(), "MAP[…] has a key without a value", "")
		}
	default:
		p.unexpected(`"["`)
	}
	c.Pos = p.pos(start)
	return c
}

// caseExpr: CASE [x] {WHEN cond {, cond} THEN e} [ELSE e] END
func (p *parser) caseExpr() Expr {
	start := p.tok.start
	c := &Case{}
	p.next()
	if !p.isWord("WHEN") {
		c.Operand = p.expr()
	}
	for p.err == nil && p.isWord("WHEN") {
		w := When{Pos: At(p.tok.span())}
		at := p.tok.start
		p.next()
		w.Conds = append(w.Conds, p.expr())
		for c.Operand != nil && p.acceptOp(",") {
			w.Conds = append(w.Conds, p.expr())
		}
		p.expect("THEN")
		w.Then = p.expr()
		w.Pos = p.pos(at)
		c.Whens = append(c.Whens, w)
	}
	if len(c.Whens) == 0 {
		p.unexpected("WHEN")
	}
	if p.accept("ELSE") {
		c.Else = p.expr()
	}
	if !p.accept("END") {
		if c.Else == nil {
			p.unexpected("WHEN, ELSE or END of the CASE")
		} else {
			p.unexpected("END of the CASE")
		}
	}
	c.Pos = p.pos(start)
	return c
}

// cast: {CAST|TRY_CAST} ( x AS type )
func (p *parser) cast() Expr {
	start := p.tok.start
	c := &Cast{Try: p.isWord("TRY_CAST")}
	p.next()
	p.expectOp("(")
	c.X = p.expr()
	if !p.accept("AS") {
		p.unexpected("AS and a type")
	}
	c.Type = p.typeName()
	p.expectOp(")")
	c.Pos = p.pos(start)
	return c
}

// parenQuery: ( query )
func (p *parser) parenQuery() Query {
	if !p.isOp("(") {
		p.unexpected("a query in parentheses")
	}
	p.next()
	q := p.query()
	p.expectOp(")")
	return q
}

// operand writes an expression, in parentheses where it binds less than min.
func (p *printer) operand(e Expr, min int) {
	if precOf(e) < min {
		p.str("(")
		e.print(p)
		p.str(")")
		return
	}
	e.print(p)
}

// subject writes what stands before [ or . of an Index or Field.
func (p *printer) subject(e Expr, dot bool) {
	bare := false
	switch e := e.(type) {
	case *ColumnRef:
		bare = !dot
	case *Index, *Field, *Collection:
		bare = true
	case *Call:
		bare = !e.NoParens && e.Over == nil && e.Filter == nil && e.WithinGroup == nil
	}
	if !bare {
		p.str("(")
		e.print(p)
		p.str(")")
		return
	}
	e.print(p)
}

func (e *ColumnRef) print(p *printer) { p.path(e.Parts) }

func (e *Field) print(p *printer) {
	p.subject(e.X, true)
	p.str(".")
	p.name(e.Name.Name)
}

func (e *Star) print(p *printer) {
	if e.X != nil {
		p.subject(e.X, true)
		p.str(".")
	}
	if len(e.Qualifier) > 0 {
		p.path(e.Qualifier)
		p.str(".")
	}
	p.str("*")
}

func (e *Index) print(p *printer) {
	p.subject(e.X, false)
	p.str("[")
	e.I.print(p)
	p.str("]")
}

func (e *Unary) print(p *printer) {
	p.str(e.Op.String())
	if e.Op == OpNot {
		p.str(" ")
	}
	at := len(p.buf)
	p.operand(e.X, opNames[e.Op].prec)
	if e.Op == OpMinus && p.buf[at] == '-' { // -- would start a comment
		p.buf = append(p.buf, 0)
		copy(p.buf[at+1:], p.buf[at:])
		p.buf[at] = ' '
	}
}

func (e *Binary) print(p *printer) {
	prec := opNames[e.Op].prec
	p.operand(e.Left, prec)
	p.str(" " + e.Op.String() + " ")
	p.operand(e.Right, prec+1)
}

func (e *Is) print(p *printer) {
	p.operand(e.X, precIs)
	p.str(" IS ")
	p.opt(e.Not, "NOT ")
	p.str([...]string{IsNull: "NULL", IsTrue: "TRUE", IsFalse: "FALSE", IsUnknown: "UNKNOWN", IsJSONValue: "JSON VALUE",
		IsJSONObject: "JSON OBJECT", IsJSONArray: "JSON ARRAY", IsJSONScalar: "JSON SCALAR", IsASet: "A SET", IsEmpty: "EMPTY"}[e.Test])
}

func (e *Between) print(p *printer) {
	p.operand(e.X, precLike)
	p.opt(e.Not, " NOT")
	p.str(" BETWEEN ")
	p.opt(e.Symmetric, "SYMMETRIC ")
	p.operand(e.Low, precLike+1)
	p.str(" AND ")
	p.operand(e.High, precLike+1)
}

func (e *In) print(p *printer) {
	p.operand(e.X, precLike)
	p.opt(e.Not, " NOT")
	p.str(" IN (")
	p.listOrQuery(e.List, e.Query)
	p.str(")")
}

func (p *printer) listOrQuery(list []Expr, q Query) {
	if q != nil {
		q.print(p)
		return
	}
	p.exprs(list)
}

func (e *Like) print(p *printer) {
	p.operand(e.X, precLike)
	p.opt(e.Not, " NOT")
	if e.Similar {
		p.str(" SIMILAR TO ")
	} else {
		p.str(" LIKE ")
	}
	p.operand(e.Pattern, precLike+1)
	if e.Escape != nil {
		p.str(" ESCAPE ")
		p.operand(e.Escape, precLike+1)
	}
}

func (e *Quantified) print(p *printer) {
	p.operand(e.X, precCompare)
	p.str(" " + e.Op.String())
	if e.All {
		p.str(" ALL (")
	} else {
		p.str(" ANY (")
	}
	p.listOrQuery(e.List, e.Query)
	p.str(")")
}

func (e *Exists) print(p *printer) {
	p.str("EXISTS (")
	e.Query.print(p)
	p.str(")")
}

func (e *Subquery) print(p *printer) {
	p.str("(")
	e.Query.print(p)
	p.str(")")
}

func (e *Row) print(p *printer) {
	p.opt(e.Explicit, "ROW")
	p.str("(")
	p.exprs(e.Items)
	p.str(")")
}

func (e *Collection) print(p *printer) {
	p.str([...]string{"ARRAY", "MAP", "MULTISET"}[e.Kind])
	if e.Query != nil {
		p.str("(")
		e.Query.print(p)
		p.str(")")
		return
	}
	p.str("[")
	p.exprs(e.Items)
	p.str("]")
}

func (e *Case) print(p *printer) {
	p.str("CASE")
	if e.Operand != nil {
		p.str(" ")
		e.Operand.print(p)
	}
	for _, w := range e.Whens {
		p.str(" WHEN ")
		p.exprs(w.Conds)
		p.str(" THEN ")
		w.Then.print(p)
	}
	if e.Else != nil {
		p.str(" ELSE ")
		e.Else.print(p)
	}
	p.str(" END")
}

func (e *Cast) print(p *printer) {
	p.opt(e.Try, "TRY_")
	p.str("CAST(")
	e.X.print(p)
	p.str(" AS ")
	e.Type.print(p)
	p.str(")")
}

// visitExprs visits what is not nil.
func visitExprs(visit func(Node), list ...Expr) {
	for _, e := range list {
		if e != nil {
			visit(e)
		}
	}
}

func visitQuery(visit func(Node), q Query) {
	if q != nil {
		visit(q)
	}
}

func (*ColumnRef) children(func(Node))        {}
func (e *Field) children(visit func(Node))    { visit(e.X) }
func (e *Star) children(visit func(Node))     { visitExprs(visit, e.X) }
func (e *Index) children(visit func(Node))    { visitExprs(visit, e.X, e.I) }
func (e *Unary) children(visit func(Node))    { visit(e.X) }
func (e *Binary) children(visit func(Node))   { visitExprs(visit, e.Left, e.Right) }
func (e *Is) children(visit func(Node))       { visit(e.X) }
func (e *Between) children(visit func(Node))  { visitExprs(visit, e.X, e.Low, e.High) }
func (e *Like) children(visit func(Node))     { visitExprs(visit, e.X, e.Pattern, e.Escape) }
func (e *Exists) children(visit func(Node))   { visit(e.Query) }
func (e *Subquery) children(visit func(Node)) { visit(e.Query) }
func (e *Row) children(visit func(Node))      { visitExprs(visit, e.Items...) }

func (e *In) children(visit func(Node)) {
	visit(e.X)
	visitExprs(visit, e.List...)
	visitQuery(visit, e.Query)
}

func (e *Quantified) children(visit func(Node)) {
	visit(e.X)
	visitExprs(visit, e.List...)
	visitQuery(visit, e.Query)
}

func (e *Collection) children(visit func(Node)) {
	visitExprs(visit, e.Items...)
	visitQuery(visit, e.Query)
}

func (e *Case) children(visit func(Node)) {
	visitExprs(visit, e.Operand)
	for _, w := range e.Whens {
		visitExprs(visit, w.Conds...)
		visit(w.Then)
	}
	visitExprs(visit, e.Else)
}

func (e *Cast) children(visit func(Node)) {
	visit(e.X)
	visit(e.Type)
}
