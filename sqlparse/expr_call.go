package sqlparse

import "strings"

// Call is a function call. The name of a call written without back-quotes is in
// upper case. Calls with a syntax of their own have these arguments:
//
//	EXTRACT(unit FROM x)                  EXTRACT [Symbol, x]
//	FLOOR(x TO unit), CEIL(x TO unit)     FLOOR [x, Symbol]; CEILING is CEIL
//	TIMESTAMPADD(unit, n, x)              TIMESTAMPADD [Symbol, n, x]; likewise TIMESTAMPDIFF
//	TRIM([BOTH|LEADING|TRAILING] [c] FROM x)  TRIM [Symbol, c, x] or [Symbol, x]; TRIM(x) is [x]
//	SUBSTRING(x FROM a [FOR b])           SUBSTRING [x, a, b]
//	POSITION(a IN b [FROM n])             POSITION [a, b, n]
//	OVERLAY(a PLACING b FROM n [FOR m])   OVERLAY [a, b, n, m]
//	CURRENT_DATE and its like             no arguments, NoParens set
//
// The JSON functions with clauses of their own are *JSONCall.
type Call struct {
	Pos
	Name     ObjectName
	NoParens bool
	Star     bool // COUNT(*)
	Distinct bool
	Args     []Expr
	// OrderBy is the ORDER BY inside the parentheses: ARRAY_AGG(x ORDER BY y).
	OrderBy []OrderItem
	// IgnoreNulls and RespectNulls are the null treatment of LAG, FIRST_VALUE, ….
	IgnoreNulls, RespectNulls bool
	WithinGroup               []OrderItem
	Filter                    Expr    // nil: none
	Over                      *Window // nil: not a window function
}

// FuncName returns the name of a call without a path, else "".
func (c *Call) FuncName() string {
	if len(c.Name.Parts) != 1 {
		return ""
	}
	return c.Name.Parts[0].Name
}

// Symbol is a keyword used as an argument: a time unit (DAY, always in
// singular), or BOTH, LEADING, TRAILING.
type Symbol struct {
	Pos
	Name string
}

// NamedArg is an argument written name => value.
type NamedArg struct {
	Pos
	Name  Ident
	Value Expr
}

// DefaultArg is DEFAULT as an argument.
type DefaultArg struct{ Pos }

// Descriptor is DESCRIPTOR(a, b): names of columns as an argument.
type Descriptor struct {
	Pos
	Columns []Ident
}

// TableArg is a table as an argument of a table function: TABLE t, or a query in
// parentheses with PARTITION BY behind it (a mere query in parentheses is a
// *Subquery).
type TableArg struct {
	Pos
	Query       Query // *TableQuery for TABLE t
	PartitionBy []Expr
	OrderBy     []OrderItem
}

// Window is a window specification: OVER (…), OVER w, or WINDOW w AS (…).
// With only Base set, and Parens false, it is a mere reference OVER w.
type Window struct {
	Pos
	Base        *Ident
	Parens      bool
	PartitionBy []Expr
	OrderBy     []OrderItem
	Frame       *Frame
}

// Frame is {ROWS|RANGE} BETWEEN Start AND End; End is nil when only a start was
// written (it then is CURRENT ROW).
type Frame struct {
	Pos
	Range bool
	Start FrameBound
	End   *FrameBound
}

// FrameBoundKind is the kind of a FrameBound.
type FrameBoundKind uint8

// The kinds of frame bounds.
const (
	UnboundedPreceding FrameBoundKind = iota
	OffsetPreceding
	CurrentRow
	OffsetFollowing
	UnboundedFollowing
)

// FrameBound is one end of a Frame; Offset is set for the two Offset kinds.
type FrameBound struct {
	Pos
	Kind   FrameBoundKind
	Offset Expr
}

func (*Call) expr()       {}
func (*Symbol) expr()     {}
func (*NamedArg) expr()   {}
func (*DefaultArg) expr() {}
func (*Descriptor) expr() {}
func (*TableArg) expr()   {}

// symbol: a keyword as an argument
func (p *parser) symbol(name string) *Symbol {
	s := &Symbol{At(p.tok.span()), name}
	p.next()
	return s
}

// extractUnit returns the singular of a unit of EXTRACT, FLOOR, TIMESTAMPADD, ….
func extractUnit(kw string) string {
	switch kw {
	case "MILLENNIUM", "CENTURY", "DECADE", "MILLISECOND", "MICROSECOND", "NANOSECOND",
		"EPOCH", "DOY", "DOW", "ISODOW", "ISOYEAR":
		return kw
	}
	return unitName(kw)
}

const expectedUnit = "a time unit, such as YEAR, MONTH, DAY, HOUR, MINUTE or SECOND"

func (p *parser) unit() Expr {
	name := extractUnit(p.tok.kw)
	if name == "" && strings.HasPrefix(strings.ToUpper(p.tok.text), "SQL_TSI_") { // the ODBC names
		name = unitName(strings.ToUpper(p.tok.text)[len("SQL_TSI_"):])
	}
	if name == "" {
		p.unexpected(expectedUnit)
		return &Symbol{}
	}
	return p.symbol(name)
}

// specialCall reads a call with a syntax of its own; nil where the word is no
// such function. The name is the current token, ( the next.
func (p *parser) specialCall() Expr {
	start, name := p.tok.start, p.tok.kw
	begin := func() *Call {
		c := &Call{Name: ObjectName{At(p.tok.span()), []Ident{{At(p.tok.span()), name}}}}
		p.next()
		p.expectOp("(")
		return c
	}
	var c *Call
	switch name {
	case "EXTRACT":
		c = begin()
		c.Args = append(c.Args, p.unit())
		p.expect("FROM")
		c.Args = append(c.Args, p.expr())
	case "TIMESTAMPADD", "TIMESTAMPDIFF":
		c = begin()
		c.Args = append(c.Args, p.unit())
		p.expectOp(",")
		c.Args = append(c.Args, p.expr())
		p.expectOp(",")
		c.Args = append(c.Args, p.expr())
	case "TRIM":
		c = begin()
		switch p.tok.kw {
		case "BOTH", "LEADING", "TRAILING":
			c.Args = append(c.Args, p.symbol(p.tok.kw))
			if !p.isWord("FROM") {
				c.Args = append(c.Args, p.expr())
			}
			p.expect("FROM")
			c.Args = append(c.Args, p.expr())
		default:
			x := p.expr()
			if p.accept("FROM") {
				c.Args = append(c.Args, &Symbol{x.(posNode).at(), "BOTH"}, x, p.expr())
			} else {
				c.Args = append(c.Args, x)
			}
		}
	case "SUBSTRING":
		c = begin()
		c.Args = append(c.Args, p.expr())
		if p.accept("FROM") {
			c.Args = append(c.Args, p.expr())
			if p.accept("FOR") {
				c.Args = append(c.Args, p.expr())
			}
		} else if p.acceptOp(",") {
			c.Args = append(c.Args, p.expr())
			if p.acceptOp(",") {
				c.Args = append(c.Args, p.expr())
			}
		} else {
			p.unexpected(`"," or FROM`)
		}
	case "POSITION":
		c = begin()
		// IN separates the arguments here, so an IN predicate needs parentheses.
		c.Args = append(c.Args, p.operators(precLike+1))
		p.expect("IN")
		c.Args = append(c.Args, p.expr())
		if p.accept("FROM") {
			c.Args = append(c.Args, p.expr())
		}
	case "OVERLAY":
		c = begin()
		c.Args = append(c.Args, p.expr())
		p.expect("PLACING")
		c.Args = append(c.Args, p.expr())
		p.expect("FROM")
		c.Args = append(c.Args, p.expr())
		if p.accept("FOR") {
			c.Args = append(c.Args, p.expr())
		}
	case "FLOOR", "CEIL", "CEILING":
		if name == "CEILING" {
			name = "CEIL"
		}
		c = begin()
		c.Args = append(c.Args, p.expr())
		if p.accept("TO") {
			c.Args = append(c.Args, p.unit())
		}
	case "DESCRIPTOR":
		p.next()
		d := &Descriptor{Columns: p.identList("a column name")}
		d.Pos = p.pos(start)
		return d
	case "JSON_EXISTS", "JSON_VALUE", "JSON_QUERY", "JSON_OBJECT", "JSON_OBJECTAGG", "JSON_ARRAY", "JSON_ARRAYAGG":
		return p.jsonCall()
	default:
		return nil
	}
	p.expectOp(")")
	c.Pos = p.pos(start)
	return c
}

// posNode gives the Pos of any node: all of them embed one.
type posNode interface{ at() Pos }

func (p Pos) at() Pos { return p }

// call: name ( [ALL|DISTINCT] arguments ) and the clauses behind it; the name is
// read, ( is the current token.
func (p *parser) call(start int, name ObjectName) Expr {
	c := &Call{Name: name}
	p.expectOp("(")
	switch {
	case p.isOp("*") && p.peekIsOp(1, ")"):
		p.next()
		p.next()
		c.Star = true
	case p.acceptOp(")"):
	default:
		if p.accept("DISTINCT") {
			c.Distinct = true
		} else {
			p.accept("ALL")
		}
		base := len(p.list)
		for p.err == nil {
			p.list = append(p.list, p.argument())
			if p.isWord("ORDER") {
				c.OrderBy = p.orderBy()
				p.expectOp(")")
				break
			}
			if !p.listGoesOn() {
				break
			}
		}
		c.Args = p.cutList(base)
	}
	if p.isWord("IGNORE") && p.peekIsWord(1, "NULLS") {
		p.accept("IGNORE", "NULLS")
		c.IgnoreNulls = true
	} else if p.isWord("RESPECT") && p.peekIsWord(1, "NULLS") {
		p.accept("RESPECT", "NULLS")
		c.RespectNulls = true
	}
	if p.isWord("WITHIN") && p.peekIsWord(1, "GROUP") {
		p.accept("WITHIN", "GROUP")
		p.expectOp("(")
		c.WithinGroup = p.orderBy()
		p.expectOp(")")
	}
	c.Filter = p.filter()
	if p.accept("OVER") {
		c.Over = p.window()
	}
	c.Pos = p.pos(start)
	return c
}

// filter: [FILTER ( WHERE cond )]
func (p *parser) filter() Expr {
	if !p.accept("FILTER") {
		return nil
	}
	p.expectOp("(")
	p.expect("WHERE")
	e := p.expr()
	p.expectOp(")")
	return e
}

// argument: [name =>] { expr | TABLE t | DEFAULT } [PARTITION BY …] [ORDER BY …]
func (p *parser) argument() Expr {
	start := p.tok.start
	if p.isIdent() && p.peekIsOp(1, "=>") {
		name := p.ident("a name")
		p.next()
		v := p.argumentValue()
		return &NamedArg{p.pos(start), name, v}
	}
	return p.argumentValue()
}

func (p *parser) argumentValue() Expr {
	start := p.tok.start
	var q Query
	switch {
	case p.isWord("DEFAULT"):
		p.next()
		return &DefaultArg{p.pos(start)}
	case p.isWord("TABLE"):
		p.next()
		name := p.tableName()
		q = &TableQuery{p.pos(start), name}
	default:
		e := p.expr()
		sub, ok := e.(*Subquery)
		if !ok || !p.isWords("PARTITION", "BY") { // ORDER BY alone is the call's
			return e
		}
		q = sub.Query
	}
	a := &TableArg{Query: q}
	if p.accept("PARTITION", "BY") {
		a.PartitionBy = p.partitionColumns()
	}
	if p.accept("ORDER", "BY") {
		a.OrderBy = p.tableOrder()
	}
	a.Pos = p.pos(start)
	return a
}

// partitionColumns: ( expr, … ) or one expr; behind a comma comes the next argument.
func (p *parser) partitionColumns() []Expr {
	e := p.expr()
	if isRow(e) {
		return e.(*Row).Items
	}
	return []Expr{e}
}

// tableOrder: ( item, … ) or one item
func (p *parser) tableOrder() []OrderItem {
	if !p.acceptOp("(") {
		return []OrderItem{p.orderItem()}
	}
	var list []OrderItem
	for p.err == nil {
		list = append(list, p.orderItem())
		if !p.listGoesOn() {
			break
		}
	}
	return list
}

// window: name or ( [name] [PARTITION BY …] [ORDER BY …] [frame] )
func (p *parser) window() *Window {
	start := p.tok.start
	w := &Window{}
	if p.isIdent() {
		id := p.ident("a window name")
		w.Base, w.Pos = &id, p.pos(start)
		return w
	}
	if !p.isOp("(") {
		p.unexpected(`a window name or "("`)
	}
	p.next()
	w.Parens = true
	if p.isIdent() {
		id := p.ident("a window name")
		w.Base = &id
	}
	if p.accept("PARTITION", "BY") {
		for p.err == nil {
			w.PartitionBy = append(w.PartitionBy, p.expr())
			if !p.acceptOp(",") {
				break
			}
		}
	}
	if p.isWord("ORDER") {
		w.OrderBy = p.orderBy()
	}
	if p.isWord("ROWS") || p.isWord("RANGE") {
		w.Frame = p.frame()
	}
	if !p.acceptOp(")") {
		switch {
		case w.Frame != nil:
			p.unexpected(`")"`)
		case w.OrderBy != nil:
			p.unexpected(`ROWS, RANGE or ")"`)
		default:
			p.unexpected(`PARTITION BY, ORDER BY, ROWS, RANGE or ")"`)
		}
	}
	w.Pos = p.pos(start)
	return w
}

// frame: {ROWS|RANGE} { bound | BETWEEN bound AND bound }
func (p *parser) frame() *Frame {
	start := p.tok.start
	f := &Frame{Range: p.isWord("RANGE")}
	p.next()
	if p.accept("BETWEEN") {
		f.Start = p.frameBound()
		p.expect("AND")
		end := p.frameBound()
		f.End = &end
	} else {
		f.Start = p.frameBound()
	}
	f.Pos = p.pos(start)
	return f
}

// frameBound: UNBOUNDED {PRECEDING|FOLLOWING} | CURRENT ROW | expr {PRECEDING|FOLLOWING}
func (p *parser) frameBound() FrameBound {
	start := p.tok.start
	var b FrameBound
	switch {
	case p.accept("CURRENT", "ROW"):
		b.Kind = CurrentRow
	case p.isWord("UNBOUNDED") && (p.peekIsWord(1, "PRECEDING") || p.peekIsWord(1, "FOLLOWING")):
		p.next()
		b.Kind = UnboundedPreceding
		if p.isWord("FOLLOWING") {
			b.Kind = UnboundedFollowing
		}
		p.next()
	default:
		// AND separates the bounds, so the offset binds tighter than AND.
		p.enter()
		b.Offset = p.operators(precLike + 1)
		p.leave()
		b.Kind = OffsetPreceding
		if p.isWord("FOLLOWING") {
			b.Kind = OffsetFollowing
		} else if !p.isWord("PRECEDING") {
			p.unexpected("PRECEDING or FOLLOWING")
		}
		p.next()
	}
	b.Pos = p.pos(start)
	return b
}

// isBareName reports whether a call's name may be printed without back-quotes.
func isBareName(name string) bool {
	if name == "" || name != upperASCII(name) || !isWordStart(name[0]) || scanWord(name, 0) != len(name) {
		return false
	}
	switch name {
	case "TIMESTAMPADD", "TIMESTAMPDIFF", "DESCRIPTOR", "MAP": // have a syntax of their own
		return false
	}
	k, ok := keywords[name]
	return !ok || !k.reserved || k.callable
}

func (c *Call) print(p *printer) {
	name := c.FuncName()
	if !c.printSpecial(p, name) {
		if isBareName(name) {
			p.str(name)
		} else {
			p.path(c.Name.Parts)
		}
		if c.NoParens {
			return
		}
		p.str("(")
		p.opt(c.Star, "*")
		p.opt(c.Distinct, "DISTINCT ")
		p.exprs(c.Args)
		if c.OrderBy != nil {
			p.str(" ")
			p.orderBy(c.OrderBy)
		}
		p.str(")")
	}
	p.opt(c.IgnoreNulls, " IGNORE NULLS")
	p.opt(c.RespectNulls, " RESPECT NULLS")
	if c.WithinGroup != nil {
		p.str(" WITHIN GROUP (")
		p.orderBy(c.WithinGroup)
		p.str(")")
	}
	p.filter(c.Filter)
	if c.Over != nil {
		p.str(" OVER ")
		c.Over.print(p)
	}
}

func (p *printer) filter(cond Expr) {
	if cond != nil {
		p.str(" FILTER (WHERE ")
		cond.print(p)
		p.str(")")
	}
}

// printSpecial prints the calls with a syntax of their own, if the arguments
// are those that the syntax gives.
func (c *Call) printSpecial(p *printer, name string) bool {
	n := len(c.Args)
	if n == 0 || c.Distinct || c.OrderBy != nil || c.IgnoreNulls || c.RespectNulls || c.WithinGroup != nil || c.Filter != nil || c.Over != nil {
		return false
	}
	for _, a := range c.Args {
		switch a.(type) {
		case *NamedArg, *DefaultArg, *TableArg:
			return false
		}
	}
	_, first := c.Args[0].(*Symbol)
	_, last := c.Args[n-1].(*Symbol)
	arg := func(i int, lead string) {
		p.str(lead)
		c.Args[i].print(p)
	}
	switch {
	case name == "EXTRACT" && n == 2 && first:
		arg(0, "EXTRACT(")
		arg(1, " FROM ")
	case (name == "TIMESTAMPADD" || name == "TIMESTAMPDIFF") && n == 3 && first:
		arg(0, name+"(")
		arg(1, ", ")
		arg(2, ", ")
	case name == "TRIM" && n == 1 && !first:
		arg(0, "TRIM(")
	case name == "TRIM" && n == 2 && first:
		arg(0, "TRIM(")
		arg(1, " FROM ")
	case name == "TRIM" && n == 3 && first:
		arg(0, "TRIM(")
		arg(1, " ")
		arg(2, " FROM ")
	case name == "SUBSTRING" && (n == 2 || n == 3):
		p.str("SUBSTRING(")
		p.exprs(c.Args)
	case name == "POSITION" && (n == 2 || n == 3):
		p.str("POSITION(")
		p.operand(c.Args[0], precLike+1)
		arg(1, " IN ")
		if n == 3 {
			arg(2, " FROM ")
		}
	case name == "OVERLAY" && (n == 3 || n == 4):
		arg(0, "OVERLAY(")
		arg(1, " PLACING ")
		arg(2, " FROM ")
		if n == 4 {
			arg(3, " FOR ")
		}
	case (name == "FLOOR" || name == "CEIL") && n == 2 && last:
		// INTERVAL '1' HOUR TO MINUTE would be one literal.
		parens := endsInInterval(c.Args[0])
		p.str(name + "(")
		p.opt(parens, "(")
		c.Args[0].print(p)
		p.opt(parens, ")")
		arg(1, " TO ")
	default:
		return false
	}
	p.str(")")
	return true
}

// endsInInterval reports whether the last thing printed of e is an interval.
func endsInInterval(e Expr) bool {
	for {
		switch x := e.(type) {
		case *Interval:
			return true
		case *Unary:
			e = x.X
		case *Binary:
			e = x.Right
		case *Between:
			e = x.High
		case *Like:
			e = x.Pattern
			if x.Escape != nil {
				e = x.Escape
			}
		default:
			return false
		}
	}
}

func (s *Symbol) print(p *printer) { p.str(s.Name) }

func (a *NamedArg) print(p *printer) {
	p.name(a.Name.Name)
	p.str(" => ")
	a.Value.print(p)
}

func (*DefaultArg) print(p *printer) { p.str("DEFAULT") }

func (d *Descriptor) print(p *printer) {
	p.str("DESCRIPTOR")
	p.names(d.Columns)
}

func (a *TableArg) print(p *printer) {
	if t, ok := a.Query.(*TableQuery); ok {
		t.print(p)
	} else {
		p.str("(")
		a.Query.print(p)
		p.str(")")
	}
	if a.PartitionBy != nil {
		p.str(" PARTITION BY ")
		if len(a.PartitionBy) == 1 {
			p.opt(isRow(a.PartitionBy[0]), "(")
			a.PartitionBy[0].print(p)
			p.opt(isRow(a.PartitionBy[0]), ")")
		} else {
			p.str("(")
			p.exprs(a.PartitionBy)
			p.str(")")
		}
	}
	if a.OrderBy != nil {
		p.str(" ORDER BY (")
		p.orderItems(a.OrderBy)
		p.str(")")
	}
}

func isRow(e Expr) bool {
	r, ok := e.(*Row)
	return ok && !r.Explicit
}

func (w *Window) print(p *printer) {
	if !w.Parens {
		p.name(w.Base.Name)
		return
	}
	sep := ""
	p.str("(")
	if w.Base != nil {
		p.name(w.Base.Name)
		sep = " "
	}
	if w.PartitionBy != nil {
		p.str(sep + "PARTITION BY ")
		p.exprs(w.PartitionBy)
		sep = " "
	}
	if w.OrderBy != nil {
		p.str(sep)
		p.orderBy(w.OrderBy)
		sep = " "
	}
	if w.Frame != nil {
		p.str(sep)
		w.Frame.print(p)
	}
	p.str(")")
}

func (f *Frame) print(p *printer) {
	if f.Range {
		p.str("RANGE ")
	} else {
		p.str("ROWS ")
	}
	if f.End == nil {
		f.Start.print(p)
		return
	}
	p.str("BETWEEN ")
	f.Start.print(p)
	p.str(" AND ")
	f.End.print(p)
}

func (b *FrameBound) print(p *printer) {
	if b.Offset != nil {
		p.operand(b.Offset, precLike+1)
	}
	p.str([...]string{
		UnboundedPreceding: "UNBOUNDED PRECEDING",
		OffsetPreceding:    " PRECEDING",
		CurrentRow:         "CURRENT ROW",
		OffsetFollowing:    " FOLLOWING",
		UnboundedFollowing: "UNBOUNDED FOLLOWING",
	}[b.Kind])
}

func (c *Call) children(visit func(Node)) {
	visitExprs(visit, c.Args...)
	visitOrder(visit, c.OrderBy)
	visitOrder(visit, c.WithinGroup)
	visitExprs(visit, c.Filter)
	if c.Over != nil {
		c.Over.children(visit)
	}
}

func (*Symbol) children(func(Node))           {}
func (a *NamedArg) children(visit func(Node)) { visit(a.Value) }
func (*DefaultArg) children(func(Node))       {}
func (*Descriptor) children(func(Node))       {}

func (a *TableArg) children(visit func(Node)) {
	visit(a.Query)
	visitExprs(visit, a.PartitionBy...)
	visitOrder(visit, a.OrderBy)
}

func (w *Window) children(visit func(Node)) {
	visitExprs(visit, w.PartitionBy...)
	visitOrder(visit, w.OrderBy)
	if w.Frame != nil {
		visitExprs(visit, w.Frame.Start.Offset)
		if w.Frame.End != nil {
			visitExprs(visit, w.Frame.End.Offset)
		}
	}
}
