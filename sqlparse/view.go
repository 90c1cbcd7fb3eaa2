package sqlparse

// CreateView is CREATE [TEMPORARY] VIEW [IF NOT EXISTS] name [(columns)] [COMMENT 'x'] AS query.
type CreateView struct {
	Pos
	Temporary     bool
	TemporarySpan Span
	IfNotExists   bool
	Name          ObjectName
	Columns       []Ident  // nil: the query's names
	ColumnsSpan   Span     // the ( … )
	Comment       *Literal // nil: none
	Query         Query
}

// AlterView is ALTER VIEW name {RENAME TO name | AS query}: exactly one is set.
type AlterView struct {
	Pos
	Name     ObjectName
	RenameTo *ObjectName
	As       Query
}

// DropView is DROP [TEMPORARY] VIEW [IF EXISTS] name.
type DropView struct {
	Pos
	Temporary bool
	IfExists  bool
	Name      ObjectName
}

// ShowCreateView is SHOW CREATE VIEW name.
type ShowCreateView struct {
	Pos
	Name ObjectName
}

// ShowViews is SHOW VIEWS [{FROM|IN} [catalog.]database] [like].
type ShowViews struct {
	Pos
	From *ObjectName // nil: the current database
	Like *ShowLike   // nil: all
}

func (*CreateView) statement()       {}
func (*CreateView) Form() string     { return "CREATE VIEW" }
func (*AlterView) statement()        {}
func (*AlterView) Form() string      { return "ALTER VIEW" }
func (*DropView) statement()         {}
func (*DropView) Form() string       { return "DROP VIEW" }
func (*ShowCreateView) statement()   {}
func (*ShowCreateView) Form() string { return "SHOW CREATE VIEW" }
func (*ShowViews) statement()        {}
func (*ShowViews) Form() string      { return "SHOW VIEWS" }

func (p *parser) viewName() ObjectName { return p.objectName("a view's name", 3) }

// createView: CREATE [TEMPORARY] VIEW [IF NOT EXISTS] name [( columns )] [COMMENT 'x'] AS query
func (p *parser) createView(start int) Statement {
	s := &CreateView{}
	p.expect("CREATE")
	if p.isWord("TEMPORARY") {
		s.Temporary, s.TemporarySpan = true, p.tok.span()
		p.next()
	}
	p.expect("VIEW")
	s.IfNotExists = p.ifNotExists()
	s.Name = p.viewName()
	if p.isOp("(") {
		at := p.tok.start
		s.Columns = p.identList("a column name")
		s.ColumnsSpan = p.pos(at).Span()
	}
	s.Comment = p.comment()
	switch {
	case p.accept("AS"):
		s.Query = p.query()
	case p.isWord("WITH") && p.peekIsOp(1, "("):
		p.failAt(p.tok.span(), "found "+p.found(p.tok)+", but a view has no options", "write AS and a query")
	case s.Comment != nil:
		p.unexpected("AS and a query")
	case s.Columns != nil:
		p.unexpected("COMMENT, or AS and a query")
	default:
		p.unexpected(`"(" and names of columns, COMMENT, or AS and a query`)
	}
	s.Pos = p.pos(start)
	return s
}

// alterView: ALTER VIEW name {RENAME TO name | AS query}
func (p *parser) alterView(start int) Statement {
	s := &AlterView{}
	p.expect("ALTER", "VIEW")
	s.Name = p.viewName()
	switch {
	case p.accept("RENAME"):
		p.expect("TO")
		name := p.viewName()
		s.RenameTo = &name
	case p.accept("AS"):
		s.As = p.query()
	default:
		p.unexpectedWord("RENAME TO", "AS")
	}
	s.Pos = p.pos(start)
	return s
}

// dropView: DROP [TEMPORARY] VIEW [IF EXISTS] name
func (p *parser) dropView(start int) Statement {
	s := &DropView{}
	p.expect("DROP")
	s.Temporary = p.accept("TEMPORARY")
	p.expect("VIEW")
	s.IfExists = p.ifExists()
	s.Name = p.viewName()
	s.Pos = p.pos(start)
	return s
}

// showCreateView: SHOW CREATE VIEW name
func (p *parser) showCreateView(start int) Statement {
	p.expect("SHOW", "CREATE", "VIEW")
	name := p.viewName()
	return &ShowCreateView{p.pos(start), name}
}

// showViews: SHOW VIEWS [{FROM|IN} [catalog.]database] [like]
func (p *parser) showViews(start int) Statement {
	s := &ShowViews{}
	p.expect("SHOW", "VIEWS")
	s.From = p.fromDatabase()
	s.Like = p.showLike()
	s.Pos = p.pos(start)
	return s
}

func (s *CreateView) print(p *printer) {
	p.str("CREATE ")
	p.opt(s.Temporary, "TEMPORARY ")
	p.str("VIEW ")
	p.opt(s.IfNotExists, "IF NOT EXISTS ")
	s.Name.print(p)
	if s.Columns != nil {
		p.str(" ")
		p.names(s.Columns)
	}
	p.comment(s.Comment)
	p.str(" AS ")
	s.Query.print(p)
}

func (s *AlterView) print(p *printer) {
	p.str("ALTER VIEW ")
	s.Name.print(p)
	if s.RenameTo != nil {
		p.str(" RENAME TO ")
		s.RenameTo.print(p)
	} else {
		p.str(" AS ")
		s.As.print(p)
	}
}

func (s *DropView) print(p *printer) {
	p.str("DROP ")
	p.opt(s.Temporary, "TEMPORARY ")
	p.str("VIEW ")
	p.opt(s.IfExists, "IF EXISTS ")
	s.Name.print(p)
}

func (s *ShowCreateView) print(p *printer) {
	p.str("SHOW CREATE VIEW ")
	s.Name.print(p)
}

func (s *ShowViews) print(p *printer) {
	p.str("SHOW VIEWS")
	p.fromDatabase(s.From)
	p.showLike(s.Like)
}

func (s *CreateView) children(visit func(Node)) { visit(s.Query) }
func (s *AlterView) children(visit func(Node))  { visitQuery(visit, s.As) }
func (*DropView) children(func(Node))           {}
func (*ShowCreateView) children(func(Node))     {}
func (*ShowViews) children(func(Node))          {}
