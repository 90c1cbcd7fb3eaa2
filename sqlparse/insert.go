package sqlparse

// Insert is INSERT {INTO|OVERWRITE} table [PARTITION (…)] [(columns)] query.
type Insert struct {
	Pos
	Overwrite  bool
	Table      ObjectName
	Hints      []Hint // t /*+ OPTIONS(…) */
	Partition  []PartitionItem
	Columns    []Ident // nil: none written
	Query      Query
	OnConflict *OnConflict // nil: none
}

// PartitionItem is name [= value] of PARTITION (…).
type PartitionItem struct {
	Pos
	Name  Ident
	Value Expr // nil: a dynamic partition column
}

// OnConflict is ON CONFLICT DO {ERROR|NOTHING|DEDUPLICATE}.
type OnConflict struct {
	Pos
	Do string
}

func (*Insert) statement() {}

// Form names the statement.
func (s *Insert) Form() string {
	if s.Overwrite {
		return "INSERT OVERWRITE"
	}
	return "INSERT INTO"
}

// insert: [EXECUTE] INSERT {INTO|OVERWRITE} table [hints] [PARTITION ( … )] [( columns )] query [ON CONFLICT …]
func (p *parser) insert(start int) Statement {
	s := &Insert{}
	p.accept("EXECUTE")
	p.expect("INSERT")
	if p.accept("OVERWRITE") {
		s.Overwrite = true
		p.accept("INTO")
	} else if !p.accept("INTO") {
		p.unexpected("INTO or OVERWRITE")
	}
	s.Table = p.tableName()
	s.Hints = p.hints()
	if p.accept("PARTITION") {
		s.Partition = p.partitionItems()
	}
	if p.isOp("(") && !p.isQueryAt(1) && !p.peekIsOp(1, "(") {
		s.Columns = p.identList("a column name")
	}
	if !p.isQueryStart() && !p.isOp("(") {
		if s.Columns == nil {
			p.unexpected(`"(" and columns, VALUES or a query`)
		} else {
			p.unexpected("VALUES or a query")
		}
	}
	s.Query = p.query()
	if p.isWord("ON") {
		at := p.tok.start
		p.expect("ON", "CONFLICT", "DO")
		c := &OnConflict{Do: p.tok.kw}
		if !p.accept("ERROR") && !p.accept("NOTHING") && !p.accept("DEDUPLICATE") {
			p.unexpected("ERROR, NOTHING or DEDUPLICATE")
		}
		c.Pos = p.pos(at)
		s.OnConflict = c
	}
	s.Pos = p.pos(start)
	return s
}

// partitionItems: ( name [= value], … )
func (p *parser) partitionItems() []PartitionItem {
	p.expectOp("(")
	var list []PartitionItem
	for p.err == nil {
		at := p.tok.start
		item := PartitionItem{Name: p.ident("a partition column's name")}
		if p.acceptOp("=") {
			item.Value = p.expr()
		}
		item.Pos = p.pos(at)
		list = append(list, item)
		p.checkColumns(len(list))
		if !p.listGoesOn() {
			break
		}
	}
	return list
}

func (s *Insert) print(p *printer) {
	if s.Overwrite {
		p.str("INSERT OVERWRITE ")
	} else {
		p.str("INSERT INTO ")
	}
	s.Table.print(p)
	p.hints(s.Hints)
	if s.Partition != nil {
		p.str(" ")
		p.partition(s.Partition)
	}
	if s.Columns != nil {
		p.str(" ")
		p.names(s.Columns)
	}
	p.str(" ")
	s.Query.print(p)
	if s.OnConflict != nil {
		p.str(" ON CONFLICT DO " + s.OnConflict.Do)
	}
}

// partition writes PARTITION (…).
func (p *printer) partition(items []PartitionItem) {
	p.str("PARTITION (")
	p.list(len(items), func(i int) {
		p.name(items[i].Name.Name)
		p.clause(" = ", items[i].Value)
	})
	p.str(")")
}

func visitPartition(visit func(Node), items []PartitionItem) {
	for _, item := range items {
		visitExprs(visit, item.Value)
	}
}

func (s *Insert) children(visit func(Node)) {
	visitPartition(visit, s.Partition)
	visit(s.Query)
}
