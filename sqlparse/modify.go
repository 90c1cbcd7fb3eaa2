package sqlparse

import "strings"

// Update is UPDATE table [[AS] alias] SET column = expr, … [WHERE condition].
type Update struct {
	Pos
	Table ObjectName
	Hints []Hint // t /*+ OPTIONS(…) */
	Alias *Ident // nil: none
	Set   []Assignment
	Where Expr // nil: every row
}

// Assignment is column = expr.
type Assignment struct {
	Pos
	Column Ident
	Value  Expr
}

// Delete is DELETE FROM table [[AS] alias] [WHERE condition].
type Delete struct {
	Pos
	Table ObjectName
	Hints []Hint
	Alias *Ident // nil: none
	Where Expr   // nil: every row
}

// TruncateTable is TRUNCATE TABLE table.
type TruncateTable struct {
	Pos
	Name ObjectName
}

func (*Update) statement()          {}
func (*Update) Form() string        { return "UPDATE" }
func (*Delete) statement()          {}
func (*Delete) Form() string        { return "DELETE" }
func (*TruncateTable) statement()   {}
func (*TruncateTable) Form() string { return "TRUNCATE TABLE" }

// update: UPDATE table [hints] [[AS] alias] SET column = expr {, column = expr} [WHERE condition]
func (p *parser) update(start int) Statement {
	s := &Update{}
	p.expect("UPDATE")
	s.Table, s.Hints, s.Alias = p.changedTable()
	if !p.accept("SET") {
		if s.Alias == nil {
			p.unexpected("SET, or an alias")
		} else {
			p.unexpected("SET")
		}
	}
	for p.err == nil {
		s.Set = append(s.Set, p.assignment())
		p.checkColumns(len(s.Set))
		if !p.acceptOp(",") {
			break
		}
	}
	if p.isWord("FROM") && p.err == nil {
		p.failAt(p.tok.span(), "found "+p.found(p.tok)+", but UPDATE takes its values from the table itself", "a subquery can read another one: SET column = (SELECT … FROM …)")
	}
	s.Where = p.changedRows()
	s.Pos = p.pos(start)
	return s
}

// assignment: column = expr
func (p *parser) assignment() Assignment {
	at := p.tok.start
	a := Assignment{Column: p.ident("a column name")}
	if p.isOp(".") && p.err == nil {
		p.failAt(p.tok.span(), "found "+p.found(p.tok)+`, expected "="`, "a column is set by its name alone")
	}
	p.expectOp("=")
	a.Value = p.expr()
	a.Pos = p.pos(at)
	return a
}

// deleteRows: DELETE FROM table [hints] [[AS] alias] [WHERE condition]
func (p *parser) deleteRows(start int) Statement {
	s := &Delete{}
	p.expect("DELETE", "FROM")
	s.Table, s.Hints, s.Alias = p.changedTable()
	s.Where = p.changedRows()
	s.Pos = p.pos(start)
	return s
}

// changedTable: table [hints] [[AS] alias]
func (p *parser) changedTable() (ObjectName, []Hint, *Ident) {
	name, hints := p.tableName(), p.hints()
	if p.accept("AS") || p.tok.kind == tokQuoted || p.tok.kind == tokWord && !p.tok.reserved {
		alias := p.ident("an alias name")
		return name, hints, &alias
	}
	return name, hints, nil
}

// changedRows: [WHERE condition]
func (p *parser) changedRows() Expr {
	if p.accept("WHERE") {
		return p.expr()
	}
	return nil
}

// truncateTable: TRUNCATE TABLE table
func (p *parser) truncateTable(start int) Statement {
	p.expect("TRUNCATE", "TABLE")
	name := p.tableName()
	if p.err == nil && len(name.Parts) == 1 && strings.EqualFold(name.Parts[0].Name, "IF") && p.isWord("EXISTS") {
		p.failAt(name.Span(), "TRUNCATE TABLE has no IF EXISTS", "")
	}
	if p.isWord("WHERE") && p.err == nil {
		p.failAt(p.tok.span(), "found "+p.found(p.tok)+", but TRUNCATE TABLE removes all rows", "DELETE FROM table WHERE … removes some")
	}
	return &TruncateTable{p.pos(start), name}
}

func (s *Update) print(p *printer) {
	p.str("UPDATE ")
	p.changedTable(s.Table, s.Hints, s.Alias)
	p.str(" SET ")
	p.list(len(s.Set), func(i int) {
		p.name(s.Set[i].Column.Name)
		p.clause(" = ", s.Set[i].Value)
	})
	p.clause(" WHERE ", s.Where)
}

func (s *Delete) print(p *printer) {
	p.str("DELETE FROM ")
	p.changedTable(s.Table, s.Hints, s.Alias)
	p.clause(" WHERE ", s.Where)
}

func (p *printer) changedTable(name ObjectName, hints []Hint, alias *Ident) {
	name.print(p)
	p.hints(hints)
	if alias != nil {
		p.str(" AS ")
		p.name(alias.Name)
	}
}

func (s *TruncateTable) print(p *printer) {
	p.str("TRUNCATE TABLE ")
	s.Name.print(p)
}

func (s *Update) children(visit func(Node)) {
	for _, a := range s.Set {
		visitExprs(visit, a.Value)
	}
	visitExprs(visit, s.Where)
}

func (s *Delete) children(visit func(Node)) { visitExprs(visit, s.Where) }
func (*TruncateTable) children(func(Node))  {}
