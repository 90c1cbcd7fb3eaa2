package sqlparse

import "strings"

// Alias is [AS] name [(columns)].
type Alias struct {
	Pos
	Name    Ident
	Columns []Ident
}

// Table is a table or view by name.
type Table struct {
	Pos
	Name   ObjectName
	Hints  []Hint       // t /*+ OPTIONS(…) */
	AsOf   Expr         // FOR SYSTEM_TIME AS OF; nil: none
	Sample *TableSample // nil: none
	Alias  *Alias       // nil: none
}

// TableSample is TABLESAMPLE {BERNOULLI|SYSTEM} (percent) [REPEATABLE (seed)].
type TableSample struct {
	Pos
	System  bool
	Percent *Literal
	Seed    *Literal // nil: none
}

// DerivedTable is [LATERAL] (query) [alias].
type DerivedTable struct {
	Pos
	Lateral bool
	Query   Query
	Alias   *Alias // nil: none
}

// Unnest is UNNEST(expr, …) [WITH ORDINALITY] [alias].
type Unnest struct {
	Pos
	Args       []Expr
	Ordinality bool
	Alias      *Alias // nil: none
}

// TableFunc is [LATERAL] TABLE(f(…)) [alias], or the call without TABLE( ).
type TableFunc struct {
	Pos
	Lateral bool
	Call    *Call
	Alias   *Alias // nil: none
}

// JoinKind is the kind of a Join.
type JoinKind uint8

// The kinds of joins.
const (
	CommaJoin JoinKind = iota
	CrossJoin
	InnerJoin
	LeftJoin
	RightJoin
	FullJoin
)

// Join is left JOIN right. Chains lean to the left.
type Join struct {
	Pos
	Kind        JoinKind
	Natural     bool
	Left, Right TableExpr
	On          Expr    // nil: none
	Using       []Ident // nil: none
}

func (*Table) tableExpr()        {}
func (*DerivedTable) tableExpr() {}
func (*Unnest) tableExpr()       {}
func (*TableFunc) tableExpr()    {}
func (*Join) tableExpr()         {}

// from: join {, join}
func (p *parser) from() TableExpr {
	start, height := p.tok.start, p.height
	p.height = 0
	left := p.joins()
	for p.err == nil && p.acceptOp(",") {
		right := p.joins()
		left = &Join{Pos: p.pos(start), Kind: CommaJoin, Left: left, Right: right}
		p.grow()
	}
	p.height = max(height, p.height)
	return left
}

// joins: table {[NATURAL] [INNER|{LEFT|RIGHT|FULL} [OUTER]|CROSS] JOIN table [ON cond | USING (names)]}
func (p *parser) joins() TableExpr {
	start, height := p.tok.start, p.height
	p.height = 0
	left := p.tablePrimary()
	for p.err == nil {
		j := &Join{Kind: InnerJoin, Left: left}
		natural := p.tok
		j.Natural = p.accept("NATURAL")
		switch p.tok.kw {
		case "JOIN":
		case "INNER":
			p.next()
		case "LEFT", "RIGHT", "FULL":
			switch p.tok.kw {
			case "LEFT":
				j.Kind = LeftJoin
			case "RIGHT":
				j.Kind = RightJoin
			default:
				j.Kind = FullJoin
			}
			p.next()
			p.accept("OUTER")
		case "CROSS":
			if j.Natural {
				p.failAt(natural.span(), "found NATURAL before CROSS JOIN, which has no condition", "")
			}
			j.Kind = CrossJoin
			p.next()
		case "ASOF":
			p.failAt(p.tok.span(), "ASOF JOIN is not supported yet", "")
		default:
			if j.Natural {
				p.unexpected("JOIN")
			}
			p.height = max(height, p.height)
			return left
		}
		p.expect("JOIN")
		j.Right = p.tablePrimary()
		switch {
		case j.Kind == CrossJoin || j.Natural:
			if p.isWord("ON") && !p.peekIsWord(1, "CONFLICT") || p.isWord("USING") {
				p.failAt(p.tok.span(), "found "+p.found(p.tok)+", but a CROSS or NATURAL join has no condition", "")
			}
		case p.accept("ON"):
			j.On = p.expr()
		case p.accept("USING"):
			j.Using = p.identList("a column name")
		default:
			p.unexpected("ON or USING and the join's condition")
		}
		j.Pos = p.pos(start)
		left = j
		p.grow()
	}
	p.height = max(height, p.height)
	return left
}

// tablePrimary: a table, subquery, UNNEST, TABLE( f(…) ), or joins in parentheses
func (p *parser) tablePrimary() TableExpr {
	p.enter()
	defer p.leave()
	start := p.tok.start
	lateral := p.accept("LATERAL")
	switch {
	case p.isOp("("):
		return p.parenTable(start, lateral)
	case p.isWord("UNNEST"):
		p.next()
		p.expectOp("(")
		u := &Unnest{Args: p.exprList(")")}
		u.Ordinality = p.accept("WITH", "ORDINALITY")
		u.Alias = p.tableAlias()
		u.Pos = p.pos(start)
		return u
	case p.isWord("TABLE"):
		p.next()
		p.expectOp("(")
		f := &TableFunc{Lateral: lateral}
		f.Call = p.tableCall()
		p.expectOp(")")
		return p.matchOrAlias(start, f, &f.Pos, &f.Alias)
	}
	if p.isIdent() && p.isCall() || keywords[p.tok.kw].callable && p.tok.reserved && p.peekIsOp(1, "(") {
		f := &TableFunc{Lateral: lateral, Call: p.tableCall()}
		return p.matchOrAlias(start, f, &f.Pos, &f.Alias)
	}
	if lateral {
		p.unexpected(`a query in parentheses, or a table function, behind LATERAL`)
	}
	if hint := p.fileHint(); hint != "" {
		p.failAt(p.tok.span(), "found "+p.found(p.tok)+", expected a table name or a query in parentheses", hint)
	}
	t := &Table{Name: p.objectName("a table name or a query in parentheses", 3)}
	t.Hints = p.hints()
	if p.accept("FOR", "SYSTEM_TIME") {
		p.expect("AS", "OF")
		t.AsOf = p.expr()
	}
	t.Sample = p.tableSample()
	e := p.matchOrAlias(start, t, &t.Pos, &t.Alias)
	if t.Sample == nil && e == TableExpr(t) {
		if t.Sample = p.tableSample(); t.Sample != nil {
			t.Pos = p.pos(start)
		}
	}
	return e
}

// isCall looks behind a dotted path for (.
func (p *parser) isCall() bool {
	n := 1
	for p.peekIsOp(n, ".") {
		n += 2
	}
	return p.peekIsOp(n, "(")
}

// tableCall: f ( arguments )
func (p *parser) tableCall() *Call {
	if !p.isIdent() && !(p.tok.reserved && keywords[p.tok.kw].callable) {
		p.unexpected("a table function")
		return &Call{}
	}
	at := p.tok.span()
	var e Expr
	if p.tok.reserved {
		name := ObjectName{At(at), []Ident{{At(at), p.tok.kw}}}
		p.next()
		e = p.call(at.Start, name)
	} else {
		e = p.path()
	}
	c, ok := e.(*Call)
	if !ok {
		p.unexpected(`"(" and the arguments of the table function`)
		return &Call{}
	}
	return c
}

// parenTable: ( query ) [alias], or ( joins )
func (p *parser) parenTable(start int, lateral bool) TableExpr {
	p.next()
	var q Query
	if p.isQueryStart() {
		q = p.query()
	} else {
		inner := p.from()
		d, ok := inner.(*DerivedTable)
		if !ok || d.Alias != nil || d.Lateral {
			p.expectOp(")")
			if lateral {
				p.failAt(Span{start, start + len("LATERAL")}, "found LATERAL before a join, expected it before a query or a table function", "")
			}
			return inner
		}
		q = d.Query
		if p.isQueryGoingOn() {
			q = p.queryRest(d.Span().Start, q)
		}
	}
	p.expectOp(")")
	d := &DerivedTable{Lateral: lateral, Query: q}
	return p.matchOrAlias(start, d, &d.Pos, &d.Alias)
}

// matchOrAlias: [MATCH_RECOGNIZE …] [alias]
func (p *parser) matchOrAlias(start int, t TableExpr, pos *Pos, alias **Alias) TableExpr {
	*pos = p.pos(start)
	if p.isWord("MATCH_RECOGNIZE") {
		return p.matchRecognize(start, t)
	}
	*alias = p.tableAlias()
	*pos = p.pos(start)
	return t
}

// tableAlias: [[AS] name [(columns)]]
func (p *parser) tableAlias() *Alias {
	start := p.tok.start
	if !p.accept("AS") && !p.isIdent() {
		return nil
	}
	a := &Alias{Name: p.ident("an alias name")}
	if p.isOp("(") {
		a.Columns = p.identList("a column name")
	}
	a.Pos = p.pos(start)
	return a
}

// tableSample: [TABLESAMPLE {BERNOULLI|SYSTEM} ( percent ) [REPEATABLE ( seed )]]
func (p *parser) tableSample() *TableSample {
	start := p.tok.start
	if !p.accept("TABLESAMPLE") {
		return nil
	}
	s := &TableSample{}
	if p.accept("SYSTEM") {
		s.System = true
	} else if !p.accept("BERNOULLI") {
		p.unexpected("BERNOULLI or SYSTEM")
	}
	p.expectOp("(")
	t := p.tok
	if t.kind != tokNumber {
		p.unexpected("a percentage")
	}
	p.next()
	s.Percent = p.newLiteral(t.span(), NumberLiteral, t.text)
	p.expectOp(")")
	if p.accept("REPEATABLE") {
		p.expectOp("(")
		s.Seed = p.wholeNumber("a whole number")
		p.expectOp(")")
	}
	s.Pos = p.pos(start)
	return s
}

func (a *Alias) print(p *printer) {
	if a == nil {
		return
	}
	p.str(" AS ")
	p.name(a.Name.Name)
	if a.Columns != nil {
		p.str(" ")
		p.names(a.Columns)
	}
}

func (t *Table) print(p *printer) {
	p.path(t.Name.Parts)
	p.hints(t.Hints)
	p.clause(" FOR SYSTEM_TIME AS OF ", t.AsOf)
	if s := t.Sample; s != nil {
		p.str(" TABLESAMPLE ")
		if s.System {
			p.str("SYSTEM (")
		} else {
			p.str("BERNOULLI (")
		}
		s.Percent.print(p)
		p.str(")")
		if s.Seed != nil {
			p.str(" REPEATABLE (")
			s.Seed.print(p)
			p.str(")")
		}
	}
	t.Alias.print(p)
}

func (t *DerivedTable) print(p *printer) {
	p.opt(t.Lateral, "LATERAL ")
	p.str("(")
	t.Query.print(p)
	p.str(")")
	t.Alias.print(p)
}

func (t *Unnest) print(p *printer) {
	p.str("UNNEST(")
	p.exprs(t.Args)
	p.str(")")
	p.opt(t.Ordinality, " WITH ORDINALITY")
	t.Alias.print(p)
}

func (t *TableFunc) print(p *printer) {
	p.opt(t.Lateral, "LATERAL ")
	p.str("TABLE(")
	t.Call.print(p)
	p.str(")")
	t.Alias.print(p)
}

func (j *Join) print(p *printer) {
	j.operand(p, j.Left, false)
	if j.Kind == CommaJoin {
		p.str(",")
	}
	p.opt(j.Natural, " NATURAL")
	p.str([...]string{"", " CROSS JOIN", " JOIN", " LEFT JOIN", " RIGHT JOIN", " FULL JOIN"}[j.Kind])
	p.str(" ")
	j.operand(p, j.Right, true)
	p.clause(" ON ", j.On)
	if j.Using != nil {
		p.str(" USING ")
		p.names(j.Using)
	}
}

// operand writes one side. A comma binds less than JOIN, and both lean to the left.
func (j *Join) operand(p *printer, t TableExpr, right bool) {
	inner, ok := t.(*Join)
	comma := ok && inner.Kind == CommaJoin
	if comma && (right || j.Kind != CommaJoin) || ok && right && j.Kind != CommaJoin {
		p.str("(")
		t.print(p)
		p.str(")")
		return
	}
	t.print(p)
}

func (t *Table) children(visit func(Node))        { visitExprs(visit, t.AsOf) }
func (t *DerivedTable) children(visit func(Node)) { visit(t.Query) }
func (t *Unnest) children(visit func(Node))       { visitExprs(visit, t.Args...) }
func (t *TableFunc) children(visit func(Node))    { visit(t.Call) }

func (j *Join) children(visit func(Node)) {
	visit(j.Left)
	visit(j.Right)
	visitExprs(visit, j.On)
}

// fileHint says how the file is read that stands where a table's name is expected; "" when none does.
func (p *parser) fileHint() string {
	if p.err != nil || p.tok.kind != tokString || p.lex.src[p.tok.start] != '\'' {
		return ""
	}
	literal := p.lex.src[p.tok.start:p.tok.end]
	name := strings.ToLower(strings.Trim(literal, "'"))
	for _, format := range []string{"csv", "json"} {
		if strings.HasSuffix(name, "."+format) {
			return "a file is read as a table: CREATE TABLE t WITH ('connector' = 'filesystem', 'path' = " + literal + ", 'format' = '" + format + "') lists its columns"
		}
	}
	return ""
}
