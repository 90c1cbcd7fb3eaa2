package sqlparse

// CreateCatalog is CREATE CATALOG [IF NOT EXISTS] name [COMMENT 'x'] WITH (…).
type CreateCatalog struct {
	Pos
	IfNotExists bool
	Name        Ident
	Comment     *Literal // nil: none
	Options     *Options // never nil after parsing
}

// DropCatalog is DROP CATALOG [IF EXISTS] name.
type DropCatalog struct {
	Pos
	IfExists bool
	Name     Ident
}

// AlterCatalog is ALTER CATALOG name {SET (…) | RESET (…) | COMMENT 'x'}: exactly
// one is set.
type AlterCatalog struct {
	Pos
	Name    Ident
	Set     *Options   // its span starts at SET
	Reset   []*Literal // nil: not RESET
	Comment *Literal
}

// DescribeCatalog is {DESCRIBE|DESC} CATALOG [EXTENDED] name.
type DescribeCatalog struct {
	Pos
	Extended bool
	Name     Ident
}

// UseCatalog is USE CATALOG name.
type UseCatalog struct {
	Pos
	Name Ident
}

// ShowCatalogs is SHOW CATALOGS [like].
type ShowCatalogs struct {
	Pos
	Like *ShowLike // nil: all
}

// ShowCurrentCatalog is SHOW CURRENT CATALOG.
type ShowCurrentCatalog struct{ Pos }

// ShowCreateCatalog is SHOW CREATE CATALOG name.
type ShowCreateCatalog struct {
	Pos
	Name Ident
}

func (*CreateCatalog) statement()        {}
func (*CreateCatalog) Form() string      { return "CREATE CATALOG" }
func (*DropCatalog) statement()          {}
func (*DropCatalog) Form() string        { return "DROP CATALOG" }
func (*AlterCatalog) statement()         {}
func (*AlterCatalog) Form() string       { return "ALTER CATALOG" }
func (*DescribeCatalog) statement()      {}
func (*DescribeCatalog) Form() string    { return "DESCRIBE CATALOG" }
func (*UseCatalog) statement()           {}
func (*UseCatalog) Form() string         { return "USE CATALOG" }
func (*ShowCatalogs) statement()         {}
func (*ShowCatalogs) Form() string       { return "SHOW CATALOGS" }
func (*ShowCurrentCatalog) statement()   {}
func (*ShowCurrentCatalog) Form() string { return "SHOW CURRENT CATALOG" }
func (*ShowCreateCatalog) statement()    {}
func (*ShowCreateCatalog) Form() string  { return "SHOW CREATE CATALOG" }

func (p *parser) catalogName() Ident { return p.objectName("a catalog name", 1).Parts[0] }

// createCatalog: CREATE CATALOG [IF NOT EXISTS] name [COMMENT 'x'] WITH ( … )
func (p *parser) createCatalog(start int) Statement {
	s := &CreateCatalog{}
	p.expect("CREATE", "CATALOG")
	s.IfNotExists = p.ifNotExists()
	s.Name = p.catalogName()
	s.Comment = p.comment()
	if !p.isWord("WITH") {
		if s.Comment == nil {
			p.unexpected("WITH ( 'type' = '…' ) or COMMENT")
		} else {
			p.unexpected("WITH ( 'type' = '…' )")
		}
	}
	s.Options = p.optionsClause()
	s.Pos = p.pos(start)
	return s
}

// dropCatalog: DROP CATALOG [IF EXISTS] name
func (p *parser) dropCatalog(start int) Statement {
	s := &DropCatalog{}
	p.expect("DROP", "CATALOG")
	s.IfExists = p.ifExists()
	s.Name = p.catalogName()
	s.Pos = p.pos(start)
	return s
}

// alterCatalog: ALTER CATALOG name {SET ( … ) | RESET ( … ) | COMMENT 'x'}
func (p *parser) alterCatalog(start int) Statement {
	s := &AlterCatalog{}
	p.expect("ALTER", "CATALOG")
	s.Name = p.catalogName()
	switch p.tok.kw {
	case "SET":
		s.Set = p.setOptions()
	case "RESET":
		s.Reset = p.resetKeys("CATALOG")
	case "COMMENT":
		s.Comment = p.comment()
	default:
		p.unexpectedWord("SET", "RESET", "COMMENT")
	}
	s.Pos = p.pos(start)
	return s
}

// describeCatalog: {DESCRIBE|DESC} CATALOG [EXTENDED] name
func (p *parser) describeCatalog(start int) Statement {
	s := &DescribeCatalog{}
	p.next()
	p.expect("CATALOG")
	s.Extended = p.extended()
	s.Name = p.catalogName()
	s.Pos = p.pos(start)
	return s
}

// useCatalog: USE CATALOG name
func (p *parser) useCatalog(start int) Statement {
	p.expect("USE", "CATALOG")
	name := p.catalogName()
	return &UseCatalog{p.pos(start), name}
}

// showCatalogs: SHOW CATALOGS [like]
func (p *parser) showCatalogs(start int) Statement {
	p.expect("SHOW", "CATALOGS")
	like := p.showLike()
	return &ShowCatalogs{p.pos(start), like}
}

// showCurrentCatalog: SHOW CURRENT CATALOG
func (p *parser) showCurrentCatalog(start int) Statement {
	p.expect("SHOW", "CURRENT", "CATALOG")
	return &ShowCurrentCatalog{p.pos(start)}
}

// showCreateCatalog: SHOW CREATE CATALOG name
func (p *parser) showCreateCatalog(start int) Statement {
	p.expect("SHOW", "CREATE", "CATALOG")
	name := p.catalogName()
	return &ShowCreateCatalog{p.pos(start), name}
}

func (s *CreateCatalog) print(p *printer) {
	p.str("CREATE CATALOG ")
	p.opt(s.IfNotExists, "IF NOT EXISTS ")
	s.Name.print(p)
	p.comment(s.Comment)
	p.options(s.Options)
}

func (s *DropCatalog) print(p *printer) {
	p.str("DROP CATALOG ")
	p.opt(s.IfExists, "IF EXISTS ")
	s.Name.print(p)
}

func (s *AlterCatalog) print(p *printer) {
	p.str("ALTER CATALOG ")
	s.Name.print(p)
	switch {
	case s.Set != nil:
		p.str(" SET ")
		p.optionItems(s.Set.Items)
	case s.Reset != nil:
		p.str(" RESET ")
		p.keys(s.Reset)
	}
	p.comment(s.Comment)
}

func (s *DescribeCatalog) print(p *printer) {
	p.str("DESCRIBE CATALOG ")
	p.opt(s.Extended, "EXTENDED ")
	s.Name.print(p)
}

func (s *UseCatalog) print(p *printer) {
	p.str("USE CATALOG ")
	s.Name.print(p)
}

func (s *ShowCatalogs) print(p *printer) {
	p.str("SHOW CATALOGS")
	p.showLike(s.Like)
}

func (*ShowCurrentCatalog) print(p *printer) { p.str("SHOW CURRENT CATALOG") }

func (s *ShowCreateCatalog) print(p *printer) {
	p.str("SHOW CREATE CATALOG ")
	s.Name.print(p)
}

func (*CreateCatalog) children(func(Node))      {}
func (*DropCatalog) children(func(Node))        {}
func (*AlterCatalog) children(func(Node))       {}
func (*DescribeCatalog) children(func(Node))    {}
func (*UseCatalog) children(func(Node))         {}
func (*ShowCatalogs) children(func(Node))       {}
func (*ShowCurrentCatalog) children(func(Node)) {}
func (*ShowCreateCatalog) children(func(Node))  {}
