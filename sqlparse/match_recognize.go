package sqlparse

import "strconv"

// MatchRecognize is input MATCH_RECOGNIZE ( … ) [alias].
type MatchRecognize struct {
	Pos
	Input       TableExpr
	PartitionBy []Expr
	OrderBy     []OrderItem
	Measures    []Measure
	AllRows     bool // ALL ROWS PER MATCH; else ONE ROW PER MATCH
	RowsWritten bool // whether … PER MATCH was written
	AfterMatch  *AfterMatch
	Pattern     *Pattern
	Within      Expr // an *Interval; nil: none
	Subsets     []Subset
	Define      []Define
	Alias       *Alias
}

// Measure is expr AS name of MEASURES.
type Measure struct {
	Pos
	Expr Expr
	Name Ident
}

// AfterMatch is AFTER MATCH SKIP …: "PAST LAST ROW", "TO NEXT ROW", "TO FIRST",
// "TO LAST"; the latter two name a Variable.
type AfterMatch struct {
	Pos
	Skip     string
	Variable *Ident
}

// PatternKind is the kind of a Pattern.
type PatternKind uint8

// The kinds of patterns.
const (
	PatternVariable PatternKind = iota // Name
	PatternSequence                    // Items, one after the other
	PatternChoice                      // Items, separated by |
	PatternPermute                     // PERMUTE(Items)
	PatternExclude                     // {- Items[0] -}
)

// Pattern is a row pattern with an optional quantifier. Min and Max are the
// counts of the quantifier, Max -1 for no bound; both 1 where none is written.
type Pattern struct {
	Pos
	Kind      PatternKind
	Name      Ident
	Items     []*Pattern
	Min, Max  int
	Reluctant bool
}

// Subset is name = (a, b) of SUBSET.
type Subset struct {
	Pos
	Name      Ident
	Variables []Ident
}

// Define is name AS condition of DEFINE.
type Define struct {
	Pos
	Name Ident
	Cond Expr
}

func (*MatchRecognize) tableExpr() {}

// matchRecognize: MATCH_RECOGNIZE ( [PARTITION BY …] [ORDER BY …] [MEASURES …]
// [{ONE ROW|ALL ROWS} PER MATCH] [AFTER MATCH SKIP …] PATTERN ( … ) [WITHIN …]
// [SUBSET …] DEFINE … ) [alias]
func (p *parser) matchRecognize(start int, input TableExpr) TableExpr {
	m := &MatchRecognize{Input: input}
	p.next()
	p.expectOp("(")
	if p.accept("PARTITION", "BY") {
		for p.err == nil {
			m.PartitionBy = append(m.PartitionBy, p.expr())
			if !p.acceptOp(",") {
				break
			}
		}
	}
	if p.isWord("ORDER") {
		m.OrderBy = p.orderBy()
	}
	if p.accept("MEASURES") {
		for p.err == nil {
			at := p.tok.start
			x := Measure{Expr: p.expr()}
			p.expect("AS")
			x.Name = p.ident("a measure's name")
			x.Pos = p.pos(at)
			m.Measures = append(m.Measures, x)
			if !p.acceptOp(",") {
				break
			}
		}
	}
	if p.accept("ONE") {
		p.expect("ROW", "PER", "MATCH")
		m.RowsWritten = true
	} else if p.accept("ALL") {
		p.expect("ROWS", "PER", "MATCH")
		m.RowsWritten, m.AllRows = true, true
	}
	if p.isWord("AFTER") {
		m.AfterMatch = p.afterMatch()
	}
	p.expect("PATTERN")
	p.expectOp("(")
	m.Pattern = p.pattern()
	p.expectOp(")")
	if p.accept("WITHIN") {
		m.Within = p.interval()
	}
	if p.accept("SUBSET") {
		for p.err == nil {
			at := p.tok.start
			s := Subset{Name: p.ident("a subset's name")}
			p.expectOp("=")
			s.Variables = p.identList("a pattern variable")
			s.Pos = p.pos(at)
			m.Subsets = append(m.Subsets, s)
			if !p.acceptOp(",") {
				break
			}
		}
	}
	p.expect("DEFINE")
	for p.err == nil {
		at := p.tok.start
		d := Define{Name: p.ident("a pattern variable")}
		p.expect("AS")
		d.Cond = p.expr()
		d.Pos = p.pos(at)
		m.Define = append(m.Define, d)
		if !p.acceptOp(",") {
			break
		}
	}
	p.expectOp(")")
	m.Alias = p.tableAlias()
	m.Pos = p.pos(start)
	return m
}

// afterMatch: AFTER MATCH SKIP { PAST LAST ROW | TO NEXT ROW | TO [FIRST|LAST] variable }
func (p *parser) afterMatch() *AfterMatch {
	start := p.tok.start
	a := &AfterMatch{}
	p.expect("AFTER", "MATCH", "SKIP")
	switch {
	case p.accept("PAST"):
		p.expect("LAST", "ROW")
		a.Skip = "PAST LAST ROW"
	case p.accept("TO"):
		switch {
		case p.accept("NEXT"):
			p.expect("ROW")
			a.Skip = "TO NEXT ROW"
		default:
			a.Skip = "TO LAST"
			if p.isWord("FIRST") && p.peek(1).kind != tokOp && !p.peek(1).reserved {
				p.next()
				a.Skip = "TO FIRST"
			} else if p.isWord("LAST") && p.peek(1).kind != tokOp && !p.peek(1).reserved {
				p.next()
			}
			id := p.ident("a pattern variable")
			a.Variable = &id
		}
	default:
		p.unexpected("PAST LAST ROW or TO")
	}
	a.Pos = p.pos(start)
	return a
}

// pattern: sequence {| sequence}
func (p *parser) pattern() *Pattern {
	p.enter()
	defer p.leave()
	start := p.tok.start
	first := p.patternSequence()
	if !p.isOp("|") {
		return first
	}
	c := &Pattern{Kind: PatternChoice, Items: []*Pattern{first}, Min: 1, Max: 1}
	for p.err == nil && p.acceptOp("|") {
		c.Items = append(c.Items, p.patternSequence())
	}
	c.Pos = p.pos(start)
	return c
}

// patternSequence: factor {factor}
func (p *parser) patternSequence() *Pattern {
	start := p.tok.start
	first := p.patternFactor()
	s := &Pattern{Kind: PatternSequence, Items: []*Pattern{first}, Min: 1, Max: 1}
	for p.err == nil && !p.isOp(")") && !p.isOp("|") && !p.isOp(",") && !p.isOp("-") {
		s.Items = append(s.Items, p.patternFactor())
	}
	if len(s.Items) == 1 {
		return first
	}
	s.Pos = p.pos(start)
	return s
}

// patternFactor: {variable | ( pattern ) | {- pattern -} | PERMUTE ( pattern, … )} [quantifier]
func (p *parser) patternFactor() *Pattern {
	start := p.tok.start
	f := &Pattern{Min: 1, Max: 1}
	switch {
	case p.acceptOp("("):
		f = p.pattern()
		p.expectOp(")")
	case p.isOp("{") && p.peekIsOp(1, "-"):
		p.next()
		p.next()
		f.Kind, f.Items = PatternExclude, []*Pattern{p.pattern()}
		p.expectOp("-")
		p.expectOp("}")
	case p.accept("PERMUTE"):
		p.expectOp("(")
		f.Kind = PatternPermute
		for p.err == nil {
			f.Items = append(f.Items, p.pattern())
			if !p.listGoesOn() {
				break
			}
		}
	default:
		f.Name = p.ident("a pattern variable")
	}
	f.Pos = p.pos(start)
	min, max, ok := p.quantifier()
	if !ok {
		return f
	}
	if f.quantified() {
		f = &Pattern{Kind: PatternSequence, Items: []*Pattern{f}}
	}
	f.Min, f.Max = min, max
	f.Reluctant = p.acceptOp("?")
	f.Pos = p.pos(start)
	return f
}

func (f *Pattern) quantified() bool { return f.Min != 1 || f.Max != 1 || f.Reluctant }

// quantifier: * | + | ? | {n} | {n,} | {,m} | {n,m}
func (p *parser) quantifier() (min, max int, ok bool) {
	switch {
	case p.acceptOp("*"):
		return 0, -1, true
	case p.acceptOp("+"):
		return 1, -1, true
	case p.acceptOp("?"):
		return 0, 1, true
	case p.isOp("{") && !p.peekIsOp(1, "-"):
		p.next()
		if p.tok.kind == tokNumber {
			min = p.smallNumber("the number of rows")
		} else if !p.isOp(",") {
			p.unexpected("the number of rows")
		}
		max = min
		if p.acceptOp(",") {
			max = -1
			if p.tok.kind == tokNumber {
				max = p.smallNumber("the number of rows")
			}
		}
		p.expectOp("}")
		return min, max, true
	}
	return 1, 1, false
}

func (m *MatchRecognize) print(p *printer) {
	m.Input.print(p)
	sep := ""
	next := func(s string) {
		p.str(sep + s)
		sep = " "
	}
	p.str(" MATCH_RECOGNIZE (")
	if m.PartitionBy != nil {
		next("PARTITION BY ")
		p.exprs(m.PartitionBy)
	}
	if m.OrderBy != nil {
		next("")
		p.orderBy(m.OrderBy)
	}
	if m.Measures != nil {
		next("MEASURES ")
		p.list(len(m.Measures), func(i int) {
			m.Measures[i].Expr.print(p)
			p.str(" AS ")
			p.name(m.Measures[i].Name.Name)
		})
	}
	if m.RowsWritten {
		if m.AllRows {
			next("ALL ROWS PER MATCH")
		} else {
			next("ONE ROW PER MATCH")
		}
	}
	if a := m.AfterMatch; a != nil {
		next("AFTER MATCH SKIP " + a.Skip)
		if a.Variable != nil {
			p.str(" ")
			p.name(a.Variable.Name)
		}
	}
	next("PATTERN (")
	m.Pattern.print(p)
	p.str(")")
	if m.Within != nil {
		next("WITHIN ")
		m.Within.print(p)
	}
	for i, s := range m.Subsets {
		if i == 0 {
			next("SUBSET ")
		} else {
			p.str(", ")
		}
		p.name(s.Name.Name)
		p.str(" = ")
		p.names(s.Variables)
	}
	next("DEFINE ")
	p.list(len(m.Define), func(i int) {
		p.name(m.Define[i].Name.Name)
		p.str(" AS ")
		m.Define[i].Cond.print(p)
	})
	p.str(")")
	m.Alias.print(p)
}

func (f *Pattern) print(p *printer) {
	group := f.quantified() && (f.Kind == PatternSequence || f.Kind == PatternChoice)
	p.opt(group, "(")
	switch f.Kind {
	case PatternVariable:
		p.name(f.Name.Name)
	case PatternSequence:
		for i, x := range f.Items {
			p.opt(i > 0, " ")
			x.operand(p, !x.quantified() && (x.Kind == PatternSequence || x.Kind == PatternChoice))
		}
	case PatternChoice:
		for i, x := range f.Items {
			p.opt(i > 0, " | ")
			x.operand(p, !x.quantified() && x.Kind == PatternChoice)
		}
	case PatternPermute:
		p.str("PERMUTE(")
		p.list(len(f.Items), func(i int) { f.Items[i].print(p) })
		p.str(")")
	case PatternExclude:
		p.str("{- ")
		f.Items[0].print(p)
		p.str(" -}")
	}
	p.opt(group, ")")
	if !f.quantified() {
		return
	}
	switch {
	case f.Min == 0 && f.Max == -1:
		p.str("*")
	case f.Min == 1 && f.Max == -1:
		p.str("+")
	case f.Min == 0 && f.Max == 1:
		p.str("?")
	case f.Min == f.Max:
		p.str("{" + strconv.Itoa(f.Min) + "}")
	case f.Max == -1:
		p.str("{" + strconv.Itoa(f.Min) + ",}")
	default:
		p.str("{" + strconv.Itoa(f.Min) + ", " + strconv.Itoa(f.Max) + "}")
	}
	p.opt(f.Reluctant, "?")
}

func (f *Pattern) operand(p *printer, parens bool) {
	p.opt(parens, "(")
	f.print(p)
	p.opt(parens, ")")
}

func (m *MatchRecognize) children(visit func(Node)) {
	visit(m.Input)
	visitExprs(visit, m.PartitionBy...)
	visitOrder(visit, m.OrderBy)
	for _, x := range m.Measures {
		visit(x.Expr)
	}
	visitExprs(visit, m.Within)
	for _, d := range m.Define {
		visit(d.Cond)
	}
}
