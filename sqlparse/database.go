package sqlparse

// CreateDatabase is CREATE DATABASE [IF NOT EXISTS] [catalog.]name [COMMENT 'x'] [WITH (…)].
type CreateDatabase struct {
	Pos
	IfNotExists bool
	Name        ObjectName // one or two parts
	Comment     *Literal   // nil: none
	Options     *Options   // nil: none
}

// DropDatabase is DROP DATABASE [IF EXISTS] [catalog.]name [RESTRICT|CASCADE].
type DropDatabase struct {
	Pos
	IfExists bool
	Name     ObjectName // one or two parts
	Cascade  bool
}

// AlterDatabase is ALTER DATABASE [catalog.]name SET (…).
type AlterDatabase struct {
	Pos
	Name    ObjectName // one or two parts
	Options *Options   // never nil; its span starts at SET
}

// DescribeDatabase is {DESCRIBE|DESC} DATABASE [EXTENDED] [catalog.]name.
type DescribeDatabase struct {
	Pos
	Extended bool
	Name     ObjectName // one or two parts
}

// UseDatabase is USE [catalog.]database.
type UseDatabase struct {
	Pos
	Name ObjectName // one or two parts
}

// ShowDatabases is SHOW DATABASES [{FROM|IN} catalog] [like].
type ShowDatabases struct {
	Pos
	From *Ident    // nil: the current catalog
	Like *ShowLike // nil: all
}

// ShowCurrentDatabase is SHOW CURRENT DATABASE.
type ShowCurrentDatabase struct{ Pos }

func (*CreateDatabase) statement()        {}
func (*CreateDatabase) Form() string      { return "CREATE DATABASE" }
func (*DropDatabase) statement()          {}
func (*DropDatabase) Form() string        { return "DROP DATABASE" }
func (*AlterDatabase) statement()         {}
func (*AlterDatabase) Form() string       { return "ALTER DATABASE" }
func (*DescribeDatabase) statement()      {}
func (*DescribeDatabase) Form() string    { return "DESCRIBE DATABASE" }
func (*UseDatabase) statement()           {}
func (*UseDatabase) Form() string         { return "USE" }
func (*ShowDatabases) statement()         {}
func (*ShowDatabases) Form() string       { return "SHOW DATABASES" }
func (*ShowCurrentDatabase) statement()   {}
func (*ShowCurrentDatabase) Form() string { return "SHOW CURRENT DATABASE" }

// createDatabase: CREATE DATABASE [IF NOT EXISTS] [catalog.]name [COMMENT 'x'] [WITH ( … )]
func (p *parser) createDatabase(start int) Statement {
	s := &CreateDatabase{}
	p.expect("CREATE", "DATABASE")
	s.IfNotExists = p.ifNotExists()
	s.Name = p.databaseName()
	s.Comment = p.comment()
	if p.isWord("WITH") {
		s.Options = p.optionsClause()
	}
	s.Pos = p.pos(start)
	return s
}

// dropDatabase: DROP DATABASE [IF EXISTS] [catalog.]name [RESTRICT|CASCADE]
func (p *parser) dropDatabase(start int) Statement {
	s := &DropDatabase{}
	p.expect("DROP", "DATABASE")
	s.IfExists = p.ifExists()
	s.Name = p.databaseName()
	if p.accept("CASCADE") {
		s.Cascade = true
	} else {
		p.accept("RESTRICT")
	}
	s.Pos = p.pos(start)
	return s
}

// alterDatabase: ALTER DATABASE [catalog.]name SET ( … )
func (p *parser) alterDatabase(start int) Statement {
	s := &AlterDatabase{}
	p.expect("ALTER", "DATABASE")
	s.Name = p.databaseName()
	s.Options = p.setOptions()
	s.Pos = p.pos(start)
	return s
}

// describeDatabase: {DESCRIBE|DESC} DATABASE [EXTENDED] [catalog.]name
func (p *parser) describeDatabase(start int) Statement {
	s := &DescribeDatabase{}
	p.next()
	p.expect("DATABASE")
	s.Extended = p.extended()
	s.Name = p.databaseName()
	s.Pos = p.pos(start)
	return s
}

// useDatabase: USE [catalog.]database
func (p *parser) useDatabase(start int) Statement {
	p.expect("USE")
	name := p.databaseName()
	return &UseDatabase{p.pos(start), name}
}

// showDatabases: SHOW DATABASES [{FROM|IN} catalog] [like]
func (p *parser) showDatabases(start int) Statement {
	s := &ShowDatabases{}
	p.expect("SHOW", "DATABASES")
	if p.accept("FROM") || p.accept("IN") {
		name := p.catalogName()
		s.From = &name
	}
	s.Like = p.showLike()
	s.Pos = p.pos(start)
	return s
}

// showCurrentDatabase: SHOW CURRENT DATABASE
func (p *parser) showCurrentDatabase(start int) Statement {
	p.expect("SHOW", "CURRENT", "DATABASE")
	return &ShowCurrentDatabase{p.pos(start)}
}

func (s *CreateDatabase) print(p *printer) {
	p.str("CREATE DATABASE ")
	p.opt(s.IfNotExists, "IF NOT EXISTS ")
	s.Name.print(p)
	p.comment(s.Comment)
	p.options(s.Options)
}

func (s *DropDatabase) print(p *printer) {
	p.str("DROP DATABASE ")
	p.opt(s.IfExists, "IF EXISTS ")
	s.Name.print(p)
	p.opt(s.Cascade, " CASCADE")
}

func (s *AlterDatabase) print(p *printer) {
	p.str("ALTER DATABASE ")
	s.Name.print(p)
	p.str(" SET ")
	p.optionItems(s.Options.Items)
}

func (s *DescribeDatabase) print(p *printer) {
	p.str("DESCRIBE DATABASE ")
	p.opt(s.Extended, "EXTENDED ")
	s.Name.print(p)
}

func (s *UseDatabase) print(p *printer) {
	p.str("USE ")
	s.Name.print(p)
}

func (s *ShowDatabases) print(p *printer) {
	p.str("SHOW DATABASES")
	if s.From != nil {
		p.str(" FROM ")
		s.From.print(p)
	}
	p.showLike(s.Like)
}

func (*ShowCurrentDatabase) print(p *printer) { p.str("SHOW CURRENT DATABASE") }

func (*CreateDatabase) children(func(Node))      {}
func (*DropDatabase) children(func(Node))        {}
func (*AlterDatabase) children(func(Node))       {}
func (*DescribeDatabase) children(func(Node))    {}
func (*UseDatabase) children(func(Node))         {}
func (*ShowDatabases) children(func(Node))       {}
func (*ShowCurrentDatabase) children(func(Node)) {}
