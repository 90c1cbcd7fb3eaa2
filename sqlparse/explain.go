package sqlparse

// Explain is EXPLAIN [details] statement or EXPLAIN PLAN FOR statement. Details
// are ESTIMATED_COST, CHANGELOG_MODE, PLAN_ADVICE, JSON_EXECUTION_PLAN.
type Explain struct {
	Pos
	Details   []ExplainDetail
	Statement Statement // *QueryStatement, *Insert, *Update, *Delete, *StatementSet or *CreateTable with AS
}

// ExplainDetail is one detail of EXPLAIN.
type ExplainDetail struct {
	Pos
	Name string
}

func (*Explain) statement() {}

// Form names the statement.
func (s *Explain) Form() string {
	if _, ok := s.Statement.(*StatementSet); ok {
		return "EXPLAIN STATEMENT SET"
	}
	return "EXPLAIN"
}

// explain: EXPLAIN [detail {, detail} | PLAN FOR] {statement | STATEMENT SET BEGIN insert; … END}
func (p *parser) explain(start int) Statement {
	s := &Explain{}
	p.expect("EXPLAIN")
	if !p.accept("PLAN", "FOR") {
		for p.err == nil && isExplainDetail(p.tok.kw) {
			s.Details = append(s.Details, ExplainDetail{At(p.tok.span()), p.tok.kw})
			p.next()
			if !p.acceptOp(",") {
				break
			}
			if !isExplainDetail(p.tok.kw) {
				p.unexpected("ESTIMATED_COST, CHANGELOG_MODE, PLAN_ADVICE or JSON_EXECUTION_PLAN")
			}
		}
	}
	if p.isWords("STATEMENT", "SET") {
		s.Statement = p.statementSet()
		s.Pos = p.pos(start)
		return s
	}
	at := p.tok
	if p.isWord("EXPLAIN") {
		p.unexpected(explainable)
	}
	inner := p.statement(p.forms)
	switch x := inner.(type) {
	case *QueryStatement, *Insert, *StatementSet, *Update, *Delete:
	case *CreateTable:
		if x.As == nil {
			p.failAt(at.span(), "found "+x.Form()+" without AS behind EXPLAIN, expected "+explainable, "")
		}
	case nil:
	default:
		p.failAt(at.span(), "found "+x.Form()+" behind EXPLAIN, expected "+explainable, "")
	}
	s.Statement = inner
	s.Pos = p.pos(start)
	return s
}

const explainable = "a query, an INSERT, an UPDATE, a DELETE, a STATEMENT SET or a CREATE TABLE … AS"

func isExplainDetail(kw string) bool {
	switch kw {
	case "ESTIMATED_COST", "CHANGELOG_MODE", "PLAN_ADVICE", "JSON_EXECUTION_PLAN":
		return true
	}
	return false
}

func (s *Explain) print(p *printer) {
	p.str("EXPLAIN ")
	p.list(len(s.Details), func(i int) { p.str(s.Details[i].Name) })
	p.opt(len(s.Details) > 0, " ")
	if set, ok := s.Statement.(*StatementSet); ok {
		set.printSet(p)
		return
	}
	s.Statement.print(p)
}

func (s *Explain) children(visit func(Node)) { visit(s.Statement) }
