package sqlparse

// DropTable is DROP [TEMPORARY] TABLE [IF EXISTS] name.
type DropTable struct {
	Pos
	Temporary bool
	IfExists  bool
	Name      ObjectName
}

// Describe is {DESCRIBE|DESC} [EXTENDED] name.
type Describe struct {
	Pos
	Extended bool
	Name     ObjectName
}

// ShowTables is SHOW TABLES [{FROM|IN} [catalog.]database] [like].
type ShowTables struct {
	Pos
	From *ObjectName // nil: the current database
	Like *ShowLike   // nil: all
}

// ShowCreateTable is SHOW CREATE TABLE name.
type ShowCreateTable struct {
	Pos
	Name ObjectName
}

// ShowColumns is SHOW COLUMNS {FROM|IN} table [like].
type ShowColumns struct {
	Pos
	Table ObjectName
	Like  *ShowLike // nil: all
}

// ShowPartitions is SHOW PARTITIONS table [PARTITION (column = value, …)].
type ShowPartitions struct {
	Pos
	Table     ObjectName
	Partition []PartitionItem // each with a value; nil: all
}

// ShowLike is [NOT] {LIKE|ILIKE} 'pattern' of a SHOW statement.
type ShowLike struct {
	Pos
	Not        bool
	IgnoreCase bool
	Pattern    *Literal
}

func (*DropTable) statement()         {}
func (*DropTable) Form() string       { return "DROP TABLE" }
func (*Describe) statement()          {}
func (*Describe) Form() string        { return "DESCRIBE" }
func (*ShowTables) statement()        {}
func (*ShowTables) Form() string      { return "SHOW TABLES" }
func (*ShowColumns) statement()       {}
func (*ShowColumns) Form() string     { return "SHOW COLUMNS" }
func (*ShowPartitions) statement()    {}
func (*ShowPartitions) Form() string  { return "SHOW PARTITIONS" }
func (*ShowCreateTable) statement()   {}
func (*ShowCreateTable) Form() string { return "SHOW CREATE TABLE" }

// dropTable: DROP [TEMPORARY] TABLE [IF EXISTS] name
func (p *parser) dropTable(start int) Statement {
	s := &DropTable{}
	p.next()
	s.Temporary = p.accept("TEMPORARY")
	p.expect("TABLE")
	s.IfExists = p.ifExists()
	s.Name = p.tableName()
	s.Pos = p.pos(start)
	return s
}

// describe: {DESCRIBE|DESC} [EXTENDED] name
func (p *parser) describe(start int) Statement {
	s := &Describe{}
	p.next()
	s.Extended = p.extended()
	s.Name = p.tableName()
	s.Pos = p.pos(start)
	return s
}

// extended: [EXTENDED], where a name follows: it may be a name itself
func (p *parser) extended() bool {
	if !p.isWord("EXTENDED") || p.peek(1).kind == tokEOF || p.peek(1).kind == tokOp {
		return false
	}
	p.next()
	return true
}

// showTables: SHOW TABLES [{FROM|IN} [catalog.]database] [like]
func (p *parser) showTables(start int) Statement {
	s := &ShowTables{}
	p.expect("SHOW", "TABLES")
	s.From = p.fromDatabase()
	s.Like = p.showLike()
	s.Pos = p.pos(start)
	return s
}

// fromDatabase: [{FROM|IN} [catalog.]database]
func (p *parser) fromDatabase() *ObjectName {
	if !p.accept("FROM") && !p.accept("IN") {
		return nil
	}
	name := p.databaseName()
	return &name
}

// showColumns: SHOW COLUMNS {FROM|IN} table [like]
func (p *parser) showColumns(start int) Statement {
	s := &ShowColumns{}
	p.expect("SHOW", "COLUMNS")
	if !p.accept("FROM") && !p.accept("IN") {
		p.unexpected("FROM or IN and a table")
	}
	s.Table = p.tableName()
	s.Like = p.showLike()
	s.Pos = p.pos(start)
	return s
}

// showPartitions: SHOW PARTITIONS table [PARTITION ( column = value, … )]
func (p *parser) showPartitions(start int) Statement {
	s := &ShowPartitions{}
	p.expect("SHOW", "PARTITIONS")
	s.Table = p.tableName()
	if p.isWord("PARTITION") {
		s.Partition = p.partitionSpec().Items
	}
	s.Pos = p.pos(start)
	return s
}

// showCreateTable: SHOW CREATE TABLE name
func (p *parser) showCreateTable(start int) Statement {
	p.expect("SHOW", "CREATE", "TABLE")
	name := p.tableName()
	return &ShowCreateTable{p.pos(start), name}
}

// showLike: [[NOT] {LIKE|ILIKE} 'pattern']
func (p *parser) showLike() *ShowLike {
	start := p.tok.start
	l := &ShowLike{}
	l.Not = p.accept("NOT")
	switch {
	case p.accept("LIKE"):
	case p.accept("ILIKE"):
		l.IgnoreCase = true
	default:
		if l.Not {
			p.unexpected("LIKE or ILIKE")
		}
		return nil
	}
	l.Pattern = p.stringLiteral("a pattern in single quotes")
	l.Pos = p.pos(start)
	return l
}

func (s *DropTable) print(p *printer) {
	p.str("DROP ")
	p.opt(s.Temporary, "TEMPORARY ")
	p.str("TABLE ")
	p.opt(s.IfExists, "IF EXISTS ")
	s.Name.print(p)
}

func (s *Describe) print(p *printer) {
	p.str("DESCRIBE ")
	p.opt(s.Extended, "EXTENDED ")
	s.Name.print(p)
}

func (s *ShowTables) print(p *printer) {
	p.str("SHOW TABLES")
	p.fromDatabase(s.From)
	p.showLike(s.Like)
}

func (p *printer) fromDatabase(name *ObjectName) {
	if name != nil {
		p.str(" FROM ")
		name.print(p)
	}
}

func (s *ShowColumns) print(p *printer) {
	p.str("SHOW COLUMNS FROM ")
	s.Table.print(p)
	p.showLike(s.Like)
}

func (s *ShowPartitions) print(p *printer) {
	p.str("SHOW PARTITIONS ")
	s.Table.print(p)
	if s.Partition != nil {
		p.str(" ")
		p.partition(s.Partition)
	}
}

func (s *ShowCreateTable) print(p *printer) {
	p.str("SHOW CREATE TABLE ")
	s.Name.print(p)
}

func (p *printer) showLike(l *ShowLike) {
	if l == nil {
		return
	}
	p.opt(l.Not, " NOT")
	if l.IgnoreCase {
		p.str(" ILIKE ")
	} else {
		p.str(" LIKE ")
	}
	l.Pattern.print(p)
}

func (*DropTable) children(func(Node))              {}
func (*Describe) children(func(Node))               {}
func (*ShowTables) children(func(Node))             {}
func (*ShowColumns) children(func(Node))            {}
func (s *ShowPartitions) children(visit func(Node)) { visitPartition(visit, s.Partition) }
func (*ShowCreateTable) children(func(Node))        {}
