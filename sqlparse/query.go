package sqlparse

// QueryStatement is a query run as a statement.
type QueryStatement struct {
	Pos
	Query Query
}

// QueryExpr adds WITH, ORDER BY, OFFSET and LIMIT to a query. FETCH FIRST n ROWS
// ONLY is Limit, LIMIT ALL is no limit. It exists only where at least one of the
// clauses does.
type QueryExpr struct {
	Pos
	With    []CommonTable
	Body    Query
	OrderBy []OrderItem
	Offset  *Literal // NumberLiteral; nil: none
	Limit   *Literal // NumberLiteral; nil: none
}

// CommonTable is one name [(columns)] AS (query) of WITH.
type CommonTable struct {
	Pos
	Name    Ident
	Columns []Ident
	Query   Query
}

// OrderItem is expr [ASC|DESC] [NULLS {FIRST|LAST}].
type OrderItem struct {
	Pos
	Expr  Expr
	Desc  bool
	Nulls NullsOrder
}

// NullsOrder says where NULLs sort.
type NullsOrder uint8

// The places for NULLs.
const (
	NullsDefault NullsOrder = iota // not written
	NullsFirst
	NullsLast
)

// SetOpKind is UNION, INTERSECT or EXCEPT.
type SetOpKind uint8

// The set operations.
const (
	Union SetOpKind = iota
	Intersect
	Except
)

// SetOp combines two queries. Chains lean to the left.
type SetOp struct {
	Pos
	Kind        SetOpKind
	All         bool
	Left, Right Query
}

// Values is VALUES (1, 'a'), (2, 'b').
type Values struct {
	Pos
	Rows []ValuesRow
}

// ValuesRow is one row of VALUES.
type ValuesRow struct {
	Pos
	Items []Expr
}

// TableQuery is TABLE t, short for SELECT * FROM t.
type TableQuery struct {
	Pos
	Name ObjectName
}

func (*QueryStatement) statement()   {}
func (*QueryStatement) Form() string { return "SELECT" }
func (*QueryExpr) query()            {}
func (*SetOp) query()                {}
func (*Values) query()               {}
func (*TableQuery) query()           {}

// isQueryStart reports whether a query starts here, parentheses aside.
func (p *parser) isQueryStart() bool { return isQueryWord(p.tok, p.peek(1)) }

func (p *parser) isQueryAt(n int) bool { return isQueryWord(p.peek(n), p.peek(n+1)) }

func isQueryWord(t, next token) bool {
	switch t.kw {
	case "SELECT", "WITH", "VALUES":
		return true
	case "TABLE":
		return next.kind == tokWord && !next.reserved || next.kind == tokQuoted
	}
	return false
}

// isQueryGoingOn reports whether what follows a query in parentheses makes it
// the start of a larger one.
func (p *parser) isQueryGoingOn() bool {
	switch p.tok.kw {
	case "UNION", "INTERSECT", "EXCEPT", "MINUS", "ORDER", "LIMIT", "OFFSET", "FETCH":
		return true
	}
	return false
}

// query: [WITH …] body [ORDER BY …] [LIMIT …] [OFFSET …] [FETCH …]
func (p *parser) query() Query {
	p.enter()
	defer p.leave()
	start := p.tok.start
	var with []CommonTable
	if p.isWord("WITH") {
		with = p.with()
	}
	return p.queryTail(start, with, p.setOps(start, nil, precUnion))
}

// queryRest goes on behind a first query that was in parentheses.
func (p *parser) queryRest(start int, first Query) Query {
	return p.queryTail(start, nil, p.setOps(start, first, precUnion))
}

// with: WITH name [(columns)] AS ( query ) {, …}
func (p *parser) with() []CommonTable {
	p.expect("WITH")
	if p.isWord("RECURSIVE") {
		p.failAt(p.tok.span(), "WITH RECURSIVE is not supported yet", "write as many joins of the table with itself as there are levels at most")
	}
	var list []CommonTable
	for p.err == nil {
		start := p.tok.start
		c := CommonTable{Name: p.ident("the name of a common table")}
		if p.isOp("(") {
			c.Columns = p.identList("a column name")
		}
		p.expect("AS")
		c.Query = p.parenQuery()
		c.Pos = p.pos(start)
		list = append(list, c)
		if !p.acceptOp(",") {
			break
		}
	}
	return list
}

const (
	precUnion     = 1 // UNION, EXCEPT
	precIntersect = 2
)

// setOps: primary {UNION|INTERSECT|EXCEPT [ALL|DISTINCT] primary}; INTERSECT
// binds more tightly. first is the first primary, if it has been read.
func (p *parser) setOps(start int, first Query, min int) Query {
	height := p.height
	p.height = 0
	left := first
	if left == nil {
		left = p.queryPrimary()
	}
	for p.err == nil {
		var kind SetOpKind
		prec := precUnion
		switch p.tok.kw {
		case "UNION":
			kind = Union
		case "EXCEPT", "MINUS":
			kind = Except
		case "INTERSECT":
			kind, prec = Intersect, precIntersect
		default:
			p.height = max(height, p.height)
			return left
		}
		if prec < min {
			break
		}
		p.next()
		all := p.accept("ALL")
		if !all {
			p.accept("DISTINCT")
		}
		right := p.setOps(p.tok.start, nil, prec+1)
		left = &SetOp{p.pos(start), kind, all, left, right}
		p.grow()
	}
	p.height = max(height, p.height)
	return left
}

// queryPrimary: SELECT …, VALUES …, TABLE t, ( query )
func (p *parser) queryPrimary() Query {
	start := p.tok.start
	switch p.tok.kw {
	case "SELECT":
		return p.selectQuery()
	case "VALUES":
		return p.values()
	case "TABLE":
		p.next()
		name := p.tableName()
		return &TableQuery{p.pos(start), name}
	}
	if p.isOp("(") {
		p.next()
		q := p.query()
		p.expectOp(")")
		return q
	}
	p.unexpected("a query: SELECT, VALUES, TABLE or WITH")
	return &Values{}
}

// queryTail: [ORDER BY …] [LIMIT n|ALL] [OFFSET n [ROW|ROWS]] [FETCH {FIRST|NEXT} [n] {ROW|ROWS} ONLY]
func (p *parser) queryTail(start int, with []CommonTable, body Query) Query {
	q := &QueryExpr{With: with, Body: body}
	tail := false
	if p.isWord("ORDER") {
		q.OrderBy = p.orderBy()
		tail = true
	}
	limited := false
	for p.err == nil {
		switch {
		case !limited && p.accept("LIMIT"):
			limited = true
			if !p.accept("ALL") {
				q.Limit = p.wholeNumber("the number of rows or ALL")
				if p.isOp(",") {
					p.failAt(p.tok.span(), `found "," behind LIMIT`, "write LIMIT count OFFSET start")
				}
				tail = true
			}
			continue
		case q.Offset == nil && p.accept("OFFSET"):
			q.Offset = p.wholeNumber("the number of rows to skip")
			if !p.accept("ROWS") {
				p.accept("ROW")
			}
			tail = true
			continue
		case !limited && p.accept("FETCH"):
			limited = true
			if !p.accept("FIRST") && !p.accept("NEXT") {
				p.unexpected("FIRST or NEXT")
			}
			if p.isWord("ROW") || p.isWord("ROWS") {
				q.Limit = p.newLiteral(p.tok.span(), NumberLiteral, "1")
			} else {
				q.Limit = p.wholeNumber("the number of rows")
			}
			if !p.accept("ROWS") && !p.accept("ROW") {
				p.unexpected("ROWS")
			}
			p.expect("ONLY")
			tail = true
			continue
		}
		break
	}
	if with == nil && !tail {
		return body
	}
	q.Pos = p.pos(start)
	return q
}

// orderBy: ORDER BY expr [ASC|DESC] [NULLS {FIRST|LAST}] {, …}
func (p *parser) orderBy() []OrderItem {
	p.expect("ORDER", "BY")
	var list []OrderItem
	for p.err == nil {
		list = append(list, p.orderItem())
		if !p.acceptOp(",") {
			break
		}
	}
	return list
}

// orderItem: expr [ASC|DESC] [NULLS {FIRST|LAST}]
func (p *parser) orderItem() OrderItem {
	start := p.tok.start
	o := OrderItem{Expr: p.expr()}
	if p.accept("DESC") {
		o.Desc = true
	} else {
		p.accept("ASC")
	}
	if p.accept("NULLS") {
		switch {
		case p.accept("FIRST"):
			o.Nulls = NullsFirst
		case p.accept("LAST"):
			o.Nulls = NullsLast
		default:
			p.unexpected("FIRST or LAST")
		}
	}
	o.Pos = p.pos(start)
	return o
}

// values: VALUES row {, row}, a row being ( expr, … ), ROW( expr, … ) or expr
func (p *parser) values() Query {
	start := p.tok.start
	p.next()
	v := &Values{}
	for p.err == nil {
		at := p.tok.start
		var items []Expr
		switch {
		case p.isOp("(") && !p.isQueryAt(1):
			p.next()
			items = p.rowItems()
		case p.isWord("ROW"):
			p.next()
			p.expectOp("(")
			items = p.rowItems()
		default:
			base := len(p.list)
			p.list = append(p.list, p.expr())
			items = p.cutList(base)
		}
		v.Rows = append(v.Rows, ValuesRow{p.pos(at), items})
		if !p.acceptOp(",") {
			break
		}
	}
	v.Pos = p.pos(start)
	return v
}

// rowItems: expr {, expr} )
func (p *parser) rowItems() []Expr {
	base := len(p.list)
	for p.err == nil {
		p.list = append(p.list, p.expr())
		p.checkColumns(len(p.list) - base)
		if !p.listGoesOn() {
			break
		}
	}
	return p.cutList(base)
}

func (s *QueryStatement) print(p *printer)          { s.Query.print(p) }
func (s *QueryStatement) children(visit func(Node)) { visit(s.Query) }

func (q *QueryExpr) print(p *printer) {
	for i, c := range q.With {
		if i == 0 {
			p.str("WITH ")
		} else {
			p.str(", ")
		}
		p.name(c.Name.Name)
		if c.Columns != nil {
			p.str(" ")
			p.names(c.Columns)
		}
		p.str(" AS (")
		c.Query.print(p)
		p.str(")")
	}
	p.opt(len(q.With) > 0, " ")
	p.subquery(q.Body)
	if q.OrderBy != nil {
		p.str(" ")
		p.orderBy(q.OrderBy)
	}
	if q.Limit != nil {
		p.str(" LIMIT ")
		q.Limit.print(p)
	}
	if q.Offset != nil {
		p.str(" OFFSET ")
		q.Offset.print(p)
	}
}

// subquery writes a query, in parentheses if it is a QueryExpr.
func (p *printer) subquery(q Query) {
	if _, ok := q.(*QueryExpr); ok {
		p.str("(")
		q.print(p)
		p.str(")")
		return
	}
	q.print(p)
}

func (p *printer) orderBy(list []OrderItem) {
	p.str("ORDER BY ")
	p.orderItems(list)
}

func (p *printer) orderItems(list []OrderItem) {
	p.list(len(list), func(i int) {
		list[i].Expr.print(p)
		p.opt(list[i].Desc, " DESC")
		p.str([...]string{"", " NULLS FIRST", " NULLS LAST"}[list[i].Nulls])
	})
}

func (s *SetOp) prec() int {
	if s.Kind == Intersect {
		return precIntersect
	}
	return precUnion
}

func (s *SetOp) print(p *printer) {
	s.operand(p, s.Left, s.prec())
	p.str([...]string{" UNION ", " INTERSECT ", " EXCEPT "}[s.Kind])
	p.opt(s.All, "ALL ")
	s.operand(p, s.Right, s.prec()+1)
}

func (s *SetOp) operand(p *printer, q Query, min int) {
	if inner, ok := q.(*SetOp); ok && inner.prec() < min {
		p.str("(")
		q.print(p)
		p.str(")")
		return
	}
	p.subquery(q)
}

func (v *Values) print(p *printer) {
	p.str("VALUES ")
	p.list(len(v.Rows), func(i int) {
		p.str("(")
		p.exprs(v.Rows[i].Items)
		p.str(")")
	})
}

func (t *TableQuery) print(p *printer) {
	p.str("TABLE ")
	p.path(t.Name.Parts)
}

func (q *QueryExpr) children(visit func(Node)) {
	for i := range q.With {
		visit(q.With[i].Query)
	}
	visit(q.Body)
	visitOrder(visit, q.OrderBy)
}

func visitOrder(visit func(Node), list []OrderItem) {
	for i := range list {
		visit(list[i].Expr)
	}
}

func (s *SetOp) children(visit func(Node)) {
	visit(s.Left)
	visit(s.Right)
}

func (v *Values) children(visit func(Node)) {
	for i := range v.Rows {
		visitExprs(visit, v.Rows[i].Items...)
	}
}

func (*TableQuery) children(func(Node)) {}
