package sqlparse

// CreateMode tells CREATE TABLE from its replacing forms.
type CreateMode uint8

// The modes of CreateTable.
const (
	Create          CreateMode = iota // CREATE TABLE
	Replace                           // REPLACE TABLE … AS
	CreateOrReplace                   // CREATE OR REPLACE TABLE … AS
)

// CreateTable is CREATE [TEMPORARY] TABLE, REPLACE TABLE or CREATE OR REPLACE
// TABLE with all its clauses. Every clause has its own span for errors.
type CreateTable struct {
	Pos
	Mode          CreateMode
	Temporary     bool
	TemporarySpan Span
	IfNotExists   bool
	Name          ObjectName
	Columns       []ColumnDef // with types; nil: no such list
	ColumnNames   []Ident     // the identifier-only list of CTAS; nil: no such list
	ColumnsSpan   Span        // the ( … ) of either
	Watermark     *WatermarkDef
	PrimaryKey    *PrimaryKey // from a column or the table
	Comment       *Literal    // nil: none
	Distribution  *Distribution
	PartitionedBy *PartitionedBy
	Options       *Options
	Like          *LikeClause
	As            Query // nil: not a CTAS
}

// ColumnKind tells physical, metadata and computed columns apart.
type ColumnKind uint8

// The kinds of columns.
const (
	PhysicalColumn ColumnKind = iota // name type
	MetadataColumn                   // name type METADATA [FROM 'key'] [VIRTUAL]
	ComputedColumn                   // name AS expr
)

// ColumnDef is one column of a CreateTable.
type ColumnDef struct {
	Pos
	Name        Ident
	Kind        ColumnKind
	Type        TypeName // nil for ComputedColumn
	MetadataKey *Literal // nil: none
	Virtual     bool
	Expr        Expr     // of ComputedColumn
	Comment     *Literal // nil: none
}

// WatermarkDef is WATERMARK FOR column AS expr. Column may be a path into a ROW.
type WatermarkDef struct {
	Pos
	Column ObjectName
	Expr   Expr
}

// PrimaryKey is [CONSTRAINT name] PRIMARY KEY (columns) NOT ENFORCED.
type PrimaryKey struct {
	Pos
	Name    *Ident // nil: none
	Columns []Ident
}

// Distribution is DISTRIBUTED [BY [HASH|RANGE] (columns)] [INTO n BUCKETS].
type Distribution struct {
	Pos
	Kind    string // "", "HASH" or "RANGE"
	Columns []Ident
	Buckets *Literal // nil: none
}

// PartitionedBy is PARTITIONED BY (columns).
type PartitionedBy struct {
	Pos
	Columns []Ident
}

// LikeClause is LIKE source [(options)].
type LikeClause struct {
	Pos
	Source  ObjectName
	Options []LikeOption
}

// LikeOption is {INCLUDING|EXCLUDING|OVERWRITING} feature.
type LikeOption struct {
	Pos
	Merge   string // "INCLUDING", "EXCLUDING", "OVERWRITING"
	Feature string // "ALL", "CONSTRAINTS", "DISTRIBUTION", "PARTITIONS", "GENERATED", "METADATA", "OPTIONS", "WATERMARKS"
}

func (*CreateTable) statement() {}

// Form names the statement.
func (c *CreateTable) Form() string {
	switch {
	case c.Mode == Replace:
		return "REPLACE TABLE AS"
	case c.Mode == CreateOrReplace:
		return "CREATE OR REPLACE TABLE AS"
	case c.As != nil:
		return "CREATE TABLE AS"
	case c.Like != nil:
		return "CREATE TABLE LIKE"
	}
	return "CREATE TABLE"
}

// The texts that Flink gives, so that they are found by the same words.
const (
	msgPrimaryKeyEnforced = "Flink doesn't support ENFORCED mode for PRIMARY KEY constraint. ENFORCED/NOT ENFORCED controls if the constraint checks are performed on the incoming/outgoing data. Flink does not own the data therefore the only supported mode is the NOT ENFORCED mode"
	msgDuplicateKey       = "Duplicate primary key definition"
	msgUnique             = "UNIQUE constraint is not supported yet"
	msgManyWatermarks     = "Multiple WATERMARK statements is not supported yet."
	msgIdentifiersOnly    = "Columns identifiers without types in the schema are supported on CTAS/RTAS statements only."
	msgUsingConnectionAs  = "USING CONNECTION clause is not supported with CREATE TABLE AS SELECT or REPLACE TABLE AS SELECT statements."
)

func (m CreateMode) temporaryAs() string {
	switch m {
	case Replace:
		return "REPLACE TABLE AS SELECT syntax does not support temporary table yet."
	case CreateOrReplace:
		return "CREATE OR REPLACE TABLE AS SELECT syntax does not support temporary table yet."
	}
	return "CREATE TABLE AS SELECT syntax does not support to create temporary table yet."
}

// createTable: {CREATE [TEMPORARY] TABLE [IF NOT EXISTS] | [CREATE OR] REPLACE TABLE} name
// [( columns )] [COMMENT 'x'] [DISTRIBUTED …] [PARTITIONED BY ( … )] [WITH ( … )]
// [LIKE source [( options )] | AS query]
func (p *parser) createTable(start int) Statement {
	s := &CreateTable{}
	if p.accept("CREATE") {
		if p.accept("OR") {
			p.expect("REPLACE")
			s.Mode = CreateOrReplace
		}
	} else {
		p.expect("REPLACE")
		s.Mode = Replace
	}
	if p.isWord("TEMPORARY") {
		s.Temporary, s.TemporarySpan = true, p.tok.span()
		p.next()
	}
	p.expect("TABLE")
	if s.Mode == Create {
		s.IfNotExists = p.ifNotExists()
	}
	s.Name = p.tableName()
	if p.isOp("(") {
		p.tableElements(s)
	}
	s.Comment = p.comment()
	if p.isWord("DISTRIBUTED") {
		s.Distribution = p.distribution("DISTRIBUTED")
	}
	if p.isWord("PARTITIONED") {
		at := p.tok.start
		p.expect("PARTITIONED", "BY")
		c := &PartitionedBy{Columns: p.identList("a column name")}
		c.Pos = p.pos(at)
		s.PartitionedBy = c
	}
	var using Span
	if p.isWord("USING") {
		using = p.tok.span()
		p.expect("USING", "CONNECTION")
		using.End = p.prev
		p.objectName("a connection's name", 3)
	}
	if p.isWord("WITH") && p.peekIsOp(1, "(") {
		s.Options = p.optionsClause()
	}
	p.clauseOrder()
	switch {
	case p.isWord("LIKE"):
		s.Like = p.likeClause()
		if p.isWord("AS") && p.err == nil {
			p.failAt(p.tok.span(), `found "AS" behind LIKE, expected the end of the statement`, "LIKE and AS cannot be combined")
		}
	case p.accept("AS"):
		if using.End > 0 {
			p.failAt(using, msgUsingConnectionAs, "")
		}
		if s.Temporary {
			p.failAt(s.TemporarySpan, s.Mode.temporaryAs(), "")
		}
		s.As = p.query()
	}
	switch {
	case using.End > 0:
		p.failAt(using, "USING CONNECTION is not supported yet", "")
	case s.As != nil:
	case s.Mode != Create:
		p.unexpected("AS and a query")
	case s.ColumnNames != nil:
		p.failAt(s.ColumnsSpan, msgIdentifiersOnly, "write a type behind each column")
	case s.Columns == nil && s.Like == nil && s.Options == nil: // without columns but with options: the planner says which columns there could be
		p.unexpected(`"(" and columns, LIKE, or AS and a query`)
	}
	s.Pos = p.pos(start)
	return s
}

// clauseOrder fails at a clause that came too late.
func (p *parser) clauseOrder() {
	switch p.tok.kw {
	case "COMMENT", "DISTRIBUTED", "PARTITIONED", "USING", "WITH":
		if p.err == nil {
			p.failAt(p.tok.span(), "found "+p.found(p.tok)+" in the wrong place",
				"the clauses are COMMENT, DISTRIBUTED, PARTITIONED BY, WITH, and then LIKE or AS")
		}
	}
}

// tableElements: ( name, … ) or ( {column | WATERMARK … | constraint}, … )
func (p *parser) tableElements(s *CreateTable) {
	start := p.tok.start
	if p.peekIsOp(2, ",") || p.peekIsOp(2, ")") {
		s.ColumnNames = p.identList("a column name")
		s.ColumnsSpan = p.pos(start).Span()
		return
	}
	p.expectOp("(")
	for p.err == nil {
		at := p.tok.start
		switch {
		case p.isWord("WATERMARK"):
			p.watermark(&s.Watermark)
		case p.isWord("PRIMARY") || p.isWord("UNIQUE") || p.isWord("CONSTRAINT"):
			p.primaryKey(&s.PrimaryKey, at, nil)
		default:
			s.Columns = append(s.Columns, p.columnDef(&s.PrimaryKey))
			p.checkColumns(len(s.Columns))
		}
		if !p.listGoesOn() {
			break
		}
	}
	s.ColumnsSpan = p.pos(start).Span()
}

// watermark: WATERMARK FOR column AS expr; a second one is refused.
func (p *parser) watermark(into **WatermarkDef) {
	start := p.tok.start
	p.expect("WATERMARK", "FOR")
	w := &WatermarkDef{Column: p.objectName("a column name", MaxDepth)}
	p.expect("AS")
	w.Expr = p.expr()
	w.Pos = p.pos(start)
	if *into != nil {
		p.failAt(w.Span(), msgManyWatermarks, "")
	}
	*into = w
}

// primaryKey: [CONSTRAINT name] PRIMARY KEY [( columns )] NOT ENFORCED; column is
// set behind a column, which is then the key. A second key is refused.
func (p *parser) primaryKey(into **PrimaryKey, start int, column *Ident) {
	k := &PrimaryKey{}
	if p.accept("CONSTRAINT") {
		id := p.ident("a constraint's name")
		k.Name = &id
	}
	if p.isWord("UNIQUE") {
		p.failAt(p.tok.span(), msgUnique, "")
		return
	}
	if !p.accept("PRIMARY", "KEY") {
		p.unexpected("PRIMARY KEY")
	}
	if column != nil {
		k.Columns = []Ident{*column}
	} else {
		k.Columns = p.identList("a column name")
	}
	key := p.pos(start).Span()
	if !p.accept("NOT", "ENFORCED") {
		if p.isWord("ENFORCED") {
			key.End = p.tok.end
		}
		p.failAt(key, msgPrimaryKeyEnforced, "write NOT ENFORCED behind it")
	}
	k.Pos = p.pos(start)
	if *into != nil {
		p.failAt(k.Span(), msgDuplicateKey, "")
	}
	*into = k
}

// columnDef: name { AS expr | type [METADATA [FROM 'key'] [VIRTUAL]] [key] } [COMMENT 'x']
func (p *parser) columnDef(key **PrimaryKey) ColumnDef {
	start := p.tok.start
	c := ColumnDef{Name: p.ident("a column name")}
	if p.accept("AS") {
		c.Kind, c.Expr = ComputedColumn, p.expr()
		c.Comment = p.comment()
		c.Pos = p.pos(start)
		return c
	}
	if (p.isOp(",") || p.isOp(")")) && p.err == nil {
		p.failAt(p.tok.span(), "found "+p.found(p.tok)+", expected the type of column "+c.Name.Name, "either all columns of the list have types, or none has")
	}
	c.Type = p.typeName()
	if p.accept("METADATA") {
		c.Kind = MetadataColumn
		if p.accept("FROM") {
			c.MetadataKey = p.stringLiteral("a metadata key in single quotes")
		}
		c.Virtual = p.accept("VIRTUAL")
	} else if p.isWord("PRIMARY") || p.isWord("UNIQUE") || p.isWord("CONSTRAINT") {
		p.primaryKey(key, p.tok.start, &c.Name)
	}
	c.Comment = p.comment()
	c.Pos = p.pos(start)
	if p.isWord("DEFAULT") {
		p.failAt(p.tok.span(), "DEFAULT values of columns are not part of Flink SQL", "")
	}
	return c
}

// distribution: {DISTRIBUTED|DISTRIBUTION} { BY [HASH|RANGE] ( columns ) [INTO n BUCKETS] | INTO n BUCKETS };
// word is the first of them.
func (p *parser) distribution(word string) *Distribution {
	start := p.tok.start
	d := &Distribution{}
	p.expect(word)
	by := p.accept("BY")
	if by {
		if (p.isWord("HASH") || p.isWord("RANGE")) && p.peekIsOp(1, "(") {
			d.Kind = p.tok.kw
			p.next()
		}
		d.Columns = p.identList("a column name")
	}
	if p.accept("INTO") {
		d.Buckets = p.wholeNumber("the number of buckets")
		p.expect("BUCKETS")
	} else if !by {
		p.unexpected("BY or INTO")
	}
	d.Pos = p.pos(start)
	return d
}

// likeClause: LIKE source [( {INCLUDING|EXCLUDING|OVERWRITING} feature … )]
func (p *parser) likeClause() *LikeClause {
	start := p.tok.start
	l := &LikeClause{}
	p.expect("LIKE")
	l.Source = p.tableName()
	if p.acceptOp("(") {
		for p.err == nil && !p.acceptOp(")") {
			at := p.tok.start
			o := LikeOption{Merge: p.tok.kw}
			if !p.accept("INCLUDING") && !p.accept("EXCLUDING") && !p.accept("OVERWRITING") {
				p.unexpected(`INCLUDING, EXCLUDING, OVERWRITING or ")"`)
			}
			o.Feature = p.tok.kw
			switch p.tok.kw {
			case "GENERATED", "METADATA", "OPTIONS", "WATERMARKS":
			case "ALL", "CONSTRAINTS", "DISTRIBUTION", "PARTITIONS":
				if o.Merge == "OVERWRITING" {
					p.unexpected("GENERATED, METADATA, OPTIONS or WATERMARKS behind OVERWRITING")
				}
			default:
				p.unexpected("ALL, CONSTRAINTS, DISTRIBUTION, PARTITIONS, GENERATED, METADATA, OPTIONS or WATERMARKS")
			}
			p.next()
			o.Pos = p.pos(at)
			l.Options = append(l.Options, o)
		}
	}
	l.Pos = p.pos(start)
	return l
}

func (s *CreateTable) print(p *printer) {
	p.str([...]string{"CREATE ", "REPLACE ", "CREATE OR REPLACE "}[s.Mode])
	p.opt(s.Temporary, "TEMPORARY ")
	p.str("TABLE ")
	p.opt(s.IfNotExists, "IF NOT EXISTS ")
	s.Name.print(p)
	if s.ColumnNames != nil {
		p.str(" ")
		p.names(s.ColumnNames)
	} else if s.Columns != nil || s.Watermark != nil || s.PrimaryKey != nil {
		s.printElements(p)
	}
	p.comment(s.Comment)
	if s.Distribution != nil {
		p.str(" DISTRIBUTED")
		s.Distribution.print(p)
	}
	if s.PartitionedBy != nil {
		p.str(" PARTITIONED BY ")
		p.names(s.PartitionedBy.Columns)
	}
	p.options(s.Options)
	if l := s.Like; l != nil {
		p.str(" LIKE ")
		l.Source.print(p)
		for i, o := range l.Options {
			if i == 0 {
				p.str(" (")
			} else {
				p.str(" ")
			}
			p.str(o.Merge + " " + o.Feature)
		}
		p.opt(len(l.Options) > 0, ")")
	}
	if s.As != nil {
		p.str(" AS ")
		s.As.print(p)
	}
}

func (s *CreateTable) printElements(p *printer) {
	sep := " ("
	next := func() {
		p.str(sep)
		sep = ", "
	}
	for i := range s.Columns {
		next()
		s.Columns[i].print(p)
	}
	if s.Watermark != nil {
		next()
		s.Watermark.print(p)
	}
	if s.PrimaryKey != nil {
		next()
		s.PrimaryKey.print(p)
	}
	p.str(")")
}

func (c *ColumnDef) print(p *printer) {
	p.name(c.Name.Name)
	switch c.Kind {
	case ComputedColumn:
		p.str(" AS ")
		c.Expr.print(p)
	case MetadataColumn:
		p.str(" ")
		c.Type.print(p)
		p.str(" METADATA")
		if c.MetadataKey != nil {
			p.str(" FROM ")
			c.MetadataKey.print(p)
		}
		p.opt(c.Virtual, " VIRTUAL")
	default:
		p.str(" ")
		c.Type.print(p)
	}
	p.comment(c.Comment)
}

func (w *WatermarkDef) print(p *printer) {
	p.str("WATERMARK FOR ")
	w.Column.print(p)
	p.str(" AS ")
	w.Expr.print(p)
}

func (k *PrimaryKey) print(p *printer) {
	if k.Name != nil {
		p.str("CONSTRAINT ")
		p.name(k.Name.Name)
		p.str(" ")
	}
	p.str("PRIMARY KEY ")
	p.names(k.Columns)
	p.str(" NOT ENFORCED")
}

// print writes what follows DISTRIBUTED or DISTRIBUTION.
func (d *Distribution) print(p *printer) {
	if d.Columns != nil {
		p.str(" BY ")
		p.str(d.Kind)
		p.names(d.Columns)
	}
	if d.Buckets != nil {
		p.str(" INTO ")
		d.Buckets.print(p)
		p.str(" BUCKETS")
	}
}

func (c *ColumnDef) children(visit func(Node)) {
	if c.Type != nil {
		visit(c.Type)
	}
	visitExprs(visit, c.Expr)
}

func (s *CreateTable) children(visit func(Node)) {
	for i := range s.Columns {
		s.Columns[i].children(visit)
	}
	if s.Watermark != nil {
		visit(s.Watermark.Expr)
	}
	visitQuery(visit, s.As)
}
