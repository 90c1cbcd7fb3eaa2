package sqlparse

// StatementSet is EXECUTE STATEMENT SET BEGIN insert; … END: several INSERTs
// that run as one job. Below EXPLAIN it is EXPLAIN STATEMENT SET.
type StatementSet struct {
	Pos
	Inserts []*Insert // one at least
}

// BeginStatementSet is BEGIN STATEMENT SET: the INSERTs up to END are one set.
type BeginStatementSet struct{ Pos }

// EndStatementSet is the END of BEGIN STATEMENT SET.
type EndStatementSet struct{ Pos }

func (*StatementSet) statement()        {}
func (*StatementSet) Form() string      { return "EXECUTE STATEMENT SET" }
func (*BeginStatementSet) statement()   {}
func (*BeginStatementSet) Form() string { return "BEGIN STATEMENT SET" }
func (*EndStatementSet) statement()     {}
func (*EndStatementSet) Form() string   { return "END" }

// msgOnlyInsert is Flink's.
const msgOnlyInsert = "Only INSERT statement is allowed in Statement Set."

// executeStatementSet: EXECUTE STATEMENT SET BEGIN insert; … END
func (p *parser) executeStatementSet(start int) Statement {
	p.expect("EXECUTE")
	s := p.statementSet()
	s.Pos = p.pos(start)
	return s
}

// statementSet: STATEMENT SET BEGIN { insert ; } … END
func (p *parser) statementSet() *StatementSet {
	start := p.tok.start
	s := &StatementSet{}
	p.expect("STATEMENT", "SET", "BEGIN")
	for p.err == nil {
		if len(s.Inserts) > 0 && p.accept("END") {
			break
		}
		switch {
		case p.isWord("INSERT"):
		case p.startsStatement():
			p.failAt(p.tok.span(), msgOnlyInsert, "run the other statements before or after the set")
		case len(s.Inserts) > 0:
			p.unexpectedWord("INSERT", "END")
		default:
			p.unexpectedWord("INSERT")
		}
		if x, ok := p.insert(p.tok.start).(*Insert); ok {
			s.Inserts = append(s.Inserts, x)
		}
		p.expectOp(";")
	}
	s.Pos = p.pos(start)
	return s
}

// startsStatement reports whether the current token is the first word of a
// statement, other than END.
func (p *parser) startsStatement() bool {
	if p.tok.kw == "END" {
		return false
	}
	for i := range p.forms {
		if p.matchLead(p.forms[i].Lead) > 0 {
			return true
		}
	}
	return false
}

// beginStatementSet: BEGIN STATEMENT SET
func (p *parser) beginStatementSet(start int) Statement {
	p.expect("BEGIN", "STATEMENT", "SET")
	return &BeginStatementSet{p.pos(start)}
}

// endStatementSet: END
func (p *parser) endStatementSet(start int) Statement {
	p.expect("END")
	return &EndStatementSet{p.pos(start)}
}

func (s *StatementSet) print(p *printer) {
	p.str("EXECUTE ")
	s.printSet(p)
}

func (s *StatementSet) printSet(p *printer) {
	p.str("STATEMENT SET BEGIN ")
	for _, x := range s.Inserts {
		x.print(p)
		p.str("; ")
	}
	p.str("END")
}

func (*BeginStatementSet) print(p *printer) { p.str("BEGIN STATEMENT SET") }
func (*EndStatementSet) print(p *printer)   { p.str("END") }

func (s *StatementSet) children(visit func(Node)) {
	for _, x := range s.Inserts {
		visit(x)
	}
}

func (*BeginStatementSet) children(func(Node)) {}
func (*EndStatementSet) children(func(Node))   {}
