package sqlparse

// Select is SELECT … FROM … WHERE … GROUP BY … HAVING … WINDOW … QUALIFY ….
type Select struct {
	Pos
	Hints    []Hint
	Distinct bool
	Items    []SelectItem
	From     TableExpr // nil: none; a, b is a Join of kind CommaJoin
	Where    Expr      // nil: none
	GroupBy  *GroupBy  // nil: none
	Having   Expr      // nil: none
	Windows  []NamedWindow
	Qualify  Expr // nil: none
}

// SelectItem is expr [[AS] alias]; Expr may be a *Star.
type SelectItem struct {
	Pos
	Expr  Expr
	Alias *Ident // nil: none
}

// GroupBy is GROUP BY [DISTINCT|ALL] items. AllColumns is the form GROUP BY ALL
// without items: by every select item that is not an aggregate.
type GroupBy struct {
	Pos
	Distinct   bool
	AllColumns bool
	Items      []GroupItem
}

// GroupKind is the kind of a GroupItem.
type GroupKind uint8

// The kinds of grouping elements.
const (
	GroupExpr   GroupKind = iota // one expression: Exprs[0]
	GroupTuple                   // (a, b) or (): Exprs
	GroupRollup                  // ROLLUP (…): Items
	GroupCube                    // CUBE (…): Items
	GroupSets                    // GROUPING SETS (…): Items
)

// GroupItem is one element of GROUP BY.
type GroupItem struct {
	Pos
	Kind  GroupKind
	Exprs []Expr
	Items []GroupItem
}

// NamedWindow is one name AS (…) of the WINDOW clause.
type NamedWindow struct {
	Pos
	Name   Ident
	Window *Window
}

// Hint is one hint of /*+ … */: NAME, NAME(a, b) or NAME('k' = 'v'). Names are
// in upper case. Options, Args or neither is set.
type Hint struct {
	Pos
	Name    string
	Options []Option
	Args    []HintArg
}

// HintArg is a name, a string or a number in a hint.
type HintArg struct {
	Pos
	Ident   *Ident
	Literal *Literal
}

func (*Select) query() {}

// selectQuery: SELECT [hints] [ALL|DISTINCT] items [FROM …] [WHERE …] [GROUP BY …]
// [HAVING …] [WINDOW …] [QUALIFY …]
func (p *parser) selectQuery() Query {
	start := p.tok.start
	p.next()
	s := &Select{Hints: p.hints()}
	if p.accept("DISTINCT") {
		s.Distinct = true
	} else {
		p.accept("ALL")
	}
	for p.err == nil {
		s.Items = append(s.Items, p.selectItem())
		p.checkColumns(len(s.Items))
		if !p.acceptOp(",") {
			break
		}
		if p.isWord("FROM") {
			p.failAt(Span{p.prev - 1, p.prev}, `found "," before FROM, expected another column`, "remove the last comma")
		}
	}
	if p.accept("FROM") {
		s.From = p.from()
	} else if p.err == nil && (p.tok.kind == tokNumber || p.tok.kind == tokString || p.isOp("(") || p.isIdent()) {
		p.commaMissing(`",", FROM or the end of the query`)
	}
	if p.accept("WHERE") {
		s.Where = p.expr()
	}
	if p.isWord("GROUP") {
		s.GroupBy = p.groupBy()
	}
	if p.accept("HAVING") {
		s.Having = p.expr()
	}
	if p.accept("WINDOW") {
		for p.err == nil {
			at := p.tok.start
			w := NamedWindow{Name: p.ident("a window name")}
			p.expect("AS")
			if !p.isOp("(") {
				p.unexpected(`"("`)
			}
			w.Window = p.window()
			w.Pos = p.pos(at)
			s.Windows = append(s.Windows, w)
			if !p.acceptOp(",") {
				break
			}
		}
	}
	if p.accept("QUALIFY") {
		s.Qualify = p.expr()
	}
	s.Pos = p.pos(start)
	return s
}

// selectItem: * | t.* | expr [[AS] alias]
func (p *parser) selectItem() SelectItem {
	start := p.tok.start
	if p.acceptOp("*") {
		return SelectItem{Pos: p.pos(start), Expr: &Star{Pos: p.pos(start)}}
	}
	p.enter()
	p.star = true
	e := p.operators(0)
	p.star = false
	p.leave()
	item := SelectItem{Expr: e}
	if _, ok := e.(*Star); !ok {
		item.Alias = p.itemAlias()
	}
	item.Pos = p.pos(start)
	return item
}

func (p *parser) itemAlias() *Ident {
	switch {
	case p.accept("AS"):
		id := p.ident("an alias name")
		return &id
	case p.isIdent():
		id := p.ident("an alias name")
		return &id
	case p.tok.kind == tokString:
		p.failAt(p.tok.span(), "found "+p.found(p.tok)+", expected an alias name", "write an alias in back-quotes, not in single quotes")
	}
	return nil
}

// groupBy: GROUP BY [ALL|DISTINCT] item {, item}, or GROUP BY ALL
func (p *parser) groupBy() *GroupBy {
	start := p.tok.start
	p.expect("GROUP", "BY")
	g := &GroupBy{}
	if p.accept("DISTINCT") {
		g.Distinct = true
	} else if p.accept("ALL") {
		switch p.tok.kind {
		case tokEOF:
			g.AllColumns = true
		case tokOp:
			g.AllColumns = p.tok.text == ")" || p.tok.text == ";"
		case tokWord:
			switch p.tok.kw {
			case "HAVING", "WINDOW", "QUALIFY", "ORDER", "LIMIT", "OFFSET", "FETCH", "UNION", "INTERSECT", "EXCEPT", "MINUS":
				g.AllColumns = true
			}
		}
	}
	if !g.AllColumns {
		g.Items = p.groupItems()
	}
	g.Pos = p.pos(start)
	return g
}

func (p *parser) groupItems() []GroupItem {
	var list []GroupItem
	for p.err == nil {
		list = append(list, p.groupItem())
		if !p.acceptOp(",") {
			break
		}
	}
	return list
}

// groupItem: expr | ( expr, … ) | () | ROLLUP ( … ) | CUBE ( … ) | GROUPING SETS ( … )
func (p *parser) groupItem() GroupItem {
	p.enter()
	defer p.leave()
	start := p.tok.start
	g := GroupItem{}
	switch {
	case p.accept("ROLLUP"):
		g.Kind = GroupRollup
	case p.accept("CUBE"):
		g.Kind = GroupCube
	case p.accept("GROUPING", "SETS"):
		g.Kind = GroupSets
	case p.isOp("(") && p.peekIsOp(1, ")"):
		p.next()
		p.next()
		g.Kind, g.Pos = GroupTuple, p.pos(start)
		return g
	default:
		e := p.expr()
		if isRow(e) {
			g.Kind, g.Exprs = GroupTuple, e.(*Row).Items
		} else {
			g.Kind, g.Exprs = GroupExpr, []Expr{e}
		}
		g.Pos = p.pos(start)
		return g
	}
	p.expectOp("(")
	g.Items = p.groupItems()
	p.expectOp(")")
	g.Pos = p.pos(start)
	return g
}

// hints: [/*+ hint {, hint} */]
func (p *parser) hints() []Hint {
	if p.tok.kind != tokHintBegin {
		return nil
	}
	p.next()
	var list []Hint
	for p.err == nil {
		list = append(list, p.hint())
		if p.tok.kind == tokHintEnd {
			p.next()
			break
		}
		p.acceptOp(",")
	}
	return list
}

// hint: name [( 'k' = 'v', … | argument, … )]
func (p *parser) hint() Hint {
	start := p.tok.start
	id := p.ident("a hint's name")
	h := Hint{Name: upperASCII(id.Name)}
	if p.acceptOp("(") && !p.acceptOp(")") {
		for p.err == nil {
			if p.tok.kind == tokString && p.peekIsOp(1, "=") {
				h.Options = append(h.Options, p.option())
			} else {
				h.Args = append(h.Args, p.hintArg())
			}
			if len(h.Options) > 0 && len(h.Args) > 0 {
				p.failAt(p.pos(start).Span(), "the hint mixes 'key' = 'value' with other arguments", "")
			}
			if !p.listGoesOn() {
				break
			}
		}
	}
	h.Pos = p.pos(start)
	return h
}

// hintArg: name, 'string' or number
func (p *parser) hintArg() HintArg {
	t := p.tok
	var a HintArg
	switch {
	case t.kind == tokString || t.kind == tokUnicode:
		a.Literal = p.stringLiteral("")
	case t.kind == tokNumber:
		p.next()
		a.Literal = p.newLiteral(t.span(), NumberLiteral, t.text)
	default:
		id := p.ident("a name, a string or a number")
		a.Ident = &id
	}
	a.Pos = p.pos(t.start)
	return a
}

func (p *printer) hints(list []Hint) {
	if len(list) == 0 {
		return
	}
	p.str(" /*+ ")
	p.list(len(list), func(i int) {
		h := &list[i]
		p.hintName(h.Name)
		switch {
		case h.Options != nil:
			p.optionItems(h.Options)
		case h.Args != nil:
			p.str("(")
			p.list(len(h.Args), func(i int) {
				if a := h.Args[i]; a.Ident != nil {
					p.name(a.Ident.Name)
				} else {
					a.Literal.print(p)
				}
			})
			p.str(")")
		}
	})
	p.str(" */")
}

func (p *printer) hintName(name string) {
	if name != "" && isWordStart(name[0]) && scanWord(name, 0) == len(name) && !isReserved(name) {
		p.str(name)
	} else {
		p.name(name)
	}
}

func (s *Select) print(p *printer) {
	p.str("SELECT")
	p.hints(s.Hints)
	p.opt(s.Distinct, " DISTINCT")
	p.str(" ")
	p.list(len(s.Items), func(i int) {
		s.Items[i].Expr.print(p)
		if a := s.Items[i].Alias; a != nil {
			p.str(" AS ")
			p.name(a.Name)
		}
	})
	if s.From != nil {
		p.str(" FROM ")
		s.From.print(p)
	}
	p.clause(" WHERE ", s.Where)
	if s.GroupBy != nil {
		p.str(" GROUP BY ")
		s.GroupBy.print(p)
	}
	p.clause(" HAVING ", s.Having)
	for i, w := range s.Windows {
		if i == 0 {
			p.str(" WINDOW ")
		} else {
			p.str(", ")
		}
		p.name(w.Name.Name)
		p.str(" AS ")
		w.Window.print(p)
	}
	p.clause(" QUALIFY ", s.Qualify)
}

func (p *printer) clause(lead string, e Expr) {
	if e != nil {
		p.str(lead)
		e.print(p)
	}
}

func (g *GroupBy) print(p *printer) {
	p.opt(g.Distinct, "DISTINCT ")
	if g.AllColumns {
		p.str("ALL")
		return
	}
	p.groupItems(g.Items)
}

func (p *printer) groupItems(list []GroupItem) {
	p.list(len(list), func(i int) {
		g := &list[i]
		switch g.Kind {
		case GroupExpr:
			p.exprs(g.Exprs)
			return
		case GroupTuple:
			p.str("(")
			p.exprs(g.Exprs)
			p.str(")")
			return
		case GroupRollup:
			p.str("ROLLUP (")
		case GroupCube:
			p.str("CUBE (")
		case GroupSets:
			p.str("GROUPING SETS (")
		}
		p.groupItems(g.Items)
		p.str(")")
	})
}

func (s *Select) children(visit func(Node)) {
	for i := range s.Items {
		visit(s.Items[i].Expr)
	}
	if s.From != nil {
		visit(s.From)
	}
	visitExprs(visit, s.Where)
	if s.GroupBy != nil {
		visitGroups(visit, s.GroupBy.Items)
	}
	visitExprs(visit, s.Having)
	for _, w := range s.Windows {
		w.Window.children(visit)
	}
	visitExprs(visit, s.Qualify)
}

func visitGroups(visit func(Node), list []GroupItem) {
	for i := range list {
		visitExprs(visit, list[i].Exprs...)
		visitGroups(visit, list[i].Items)
	}
}
