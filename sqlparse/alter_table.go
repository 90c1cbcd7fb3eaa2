package sqlparse

import "strings"

// AlterTable is ALTER TABLE [IF EXISTS] name action. Flink has one action a
// statement, which ADD (…) and MODIFY (…) make of several parts.
type AlterTable struct {
	Pos
	IfExists bool
	Name     ObjectName
	Actions  []AlterAction // one
}

// AlterAction is what ALTER TABLE does: *AddColumns, *ModifyColumns,
// *DropColumns, *DropPrimaryKey, *DropConstraint, *DropWatermark,
// *DropDistribution, *RenameColumn, *RenameTable, *SetOptions, *ResetOptions,
// *AddPartitions, *DropPartitions.
type AlterAction interface {
	Node
	alterAction()
}

// AddColumns is ADD part or ADD (part, …).
type AddColumns struct {
	Pos
	TableParts
}

// ModifyColumns is MODIFY part or MODIFY (part, …).
type ModifyColumns struct {
	Pos
	TableParts
}

// TableParts is what ADD and MODIFY can name, at least one of them.
type TableParts struct {
	Columns      []AlterColumn
	Watermark    *WatermarkDef
	PrimaryKey   *PrimaryKey // from a column or the list
	Distribution *Distribution
}

// AlterColumn is a column and its place: column [FIRST | AFTER other].
type AlterColumn struct {
	ColumnDef        // its span ends with FIRST or AFTER
	First     bool   // FIRST
	After     *Ident // AFTER other; nil: none
}

// DropColumns is DROP column or DROP (column, …).
type DropColumns struct {
	Pos
	Columns []Ident
}

// DropPrimaryKey is DROP PRIMARY KEY.
type DropPrimaryKey struct{ Pos }

// DropConstraint is DROP CONSTRAINT name.
type DropConstraint struct {
	Pos
	Name Ident
}

// DropWatermark is DROP WATERMARK.
type DropWatermark struct{ Pos }

// DropDistribution is DROP DISTRIBUTION.
type DropDistribution struct{ Pos }

// RenameColumn is RENAME column TO name.
type RenameColumn struct {
	Pos
	From, To Ident
}

// RenameTable is RENAME TO name.
type RenameTable struct {
	Pos
	To ObjectName
}

// SetOptions is SET ('key' = 'value', …).
type SetOptions struct {
	Pos
	Options *Options // never nil; its span starts at SET
}

// ResetOptions is RESET ('key', …).
type ResetOptions struct {
	Pos
	Keys []*Literal // one at least
}

// AddPartitions is ADD [IF NOT EXISTS] PARTITION (…) [WITH (…)] ….
type AddPartitions struct {
	Pos
	IfNotExists bool
	Partitions  []PartitionSpec
}

// DropPartitions is DROP [IF EXISTS] PARTITION (…), ….
type DropPartitions struct {
	Pos
	IfExists   bool
	Partitions []PartitionSpec
}

// PartitionSpec is PARTITION (column = value, …) [WITH (…)].
type PartitionSpec struct {
	Pos
	Items   []PartitionItem // each with a value
	Options *Options        // nil: none
}

func (*AlterTable) statement()   {}
func (*AlterTable) Form() string { return "ALTER TABLE" }

func (*AddColumns) alterAction()       {}
func (*ModifyColumns) alterAction()    {}
func (*DropColumns) alterAction()      {}
func (*DropPrimaryKey) alterAction()   {}
func (*DropConstraint) alterAction()   {}
func (*DropWatermark) alterAction()    {}
func (*DropDistribution) alterAction() {}
func (*RenameColumn) alterAction()     {}
func (*RenameTable) alterAction()      {}
func (*SetOptions) alterAction()       {}
func (*ResetOptions) alterAction()     {}
func (*AddPartitions) alterAction()    {}
func (*DropPartitions) alterAction()   {}

// alterTable: ALTER TABLE [IF EXISTS] name action
func (p *parser) alterTable(start int) Statement {
	s := &AlterTable{}
	p.expect("ALTER", "TABLE")
	s.IfExists = p.ifExists()
	s.Name = p.tableName()
	if a := p.alterAction(); a != nil {
		s.Actions = []AlterAction{a}
	}
	if p.isOp(",") {
		p.failAt(p.tok.span(), `found ",", but ALTER TABLE does one thing at a time`, "several columns are written in parentheses, as in DROP (a, b); other changes are statements of their own")
	}
	s.Pos = p.pos(start)
	return s
}

func (p *parser) alterAction() AlterAction {
	start := p.tok.start
	switch p.tok.kw {
	case "ADD":
		p.next()
		if p.isWords("IF", "NOT", "EXISTS") || p.isWord("PARTITION") {
			return p.addPartitions(start)
		}
		a := &AddColumns{}
		a.TableParts = p.tableParts("ADD")
		a.Pos = p.pos(start)
		return a
	case "MODIFY":
		p.next()
		a := &ModifyColumns{}
		a.TableParts = p.tableParts("MODIFY")
		a.Pos = p.pos(start)
		return a
	case "DROP":
		p.next()
		return p.alterDrop(start)
	case "RENAME":
		p.next()
		if p.accept("TO") {
			to := p.tableName()
			return &RenameTable{p.pos(start), to}
		}
		p.noColumnWord("RENAME")
		from := p.wholeColumn("TO and the table's new name, or a column name")
		p.expect("TO")
		to := p.wholeColumn("the column's new name")
		return &RenameColumn{p.pos(start), from, to}
	case "SET":
		o := p.setOptions()
		return &SetOptions{p.pos(start), o}
	case "RESET":
		keys := p.resetKeys("TABLE")
		return &ResetOptions{p.pos(start), keys}
	}
	actions := []string{"ADD", "MODIFY", "DROP", "RENAME", "SET", "RESET"}
	if p.isWord("ALTER") || strings.EqualFold(p.tok.text, "CHANGE") {
		p.failAt(p.tok.span(), "found "+p.found(p.tok)+", expected "+oneOf(actions), "a column's type or place is changed by MODIFY column type")
	}
	p.unexpectedWord(actions...)
	return nil
}

// setOptions: SET ( ['k' = 'v', …] )
func (p *parser) setOptions() *Options {
	start := p.tok.start
	p.expect("SET")
	p.inParentheses("SET ('key' = 'value', …)")
	o := &Options{Items: p.optionList()}
	o.Pos = p.pos(start)
	return o
}

// resetKeys: RESET ( 'k', … ); of is TABLE or CATALOG
func (p *parser) resetKeys(of string) []*Literal {
	start := p.tok.start
	p.expect("RESET")
	p.inParentheses("RESET ('key', …)")
	p.expectOp("(")
	if p.acceptOp(")") {
		p.failAt(p.pos(start).Span(), "ALTER "+of+" RESET does not support empty key", "name the options: RESET ('key', …)")
		return nil
	}
	var list []*Literal
	for p.err == nil {
		list = append(list, p.stringLiteral("an option's key in single quotes"))
		if !p.listGoesOn() {
			break
		}
	}
	return list
}

// inParentheses fails where strings follow that lack their parenthesis.
func (p *parser) inParentheses(write string) {
	if p.err == nil && (p.tok.kind == tokString || p.tok.kind == tokUnicode) {
		p.failAt(p.tok.span(), "found "+p.found(p.tok)+`, expected "("`, "write "+write)
	}
}

// tableParts: part | ( part, … )
func (p *parser) tableParts(verb string) TableParts {
	var parts TableParts
	if !p.acceptOp("(") {
		p.noColumnWord(verb)
		p.tablePart(&parts)
		return parts
	}
	for p.err == nil {
		p.tablePart(&parts)
		if !p.listGoesOn() {
			break
		}
	}
	return parts
}

// tablePart: column [FIRST | AFTER other] | key | WATERMARK … | DISTRIBUTION …
func (p *parser) tablePart(parts *TableParts) {
	start := p.tok.start
	switch {
	case p.isWord("WATERMARK"):
		p.watermark(&parts.Watermark)
	case p.isWord("PRIMARY"), p.isWord("UNIQUE"), p.isWord("CONSTRAINT"):
		p.primaryKey(&parts.PrimaryKey, start, nil)
	case p.isWords("DISTRIBUTION", "BY"), p.isWords("DISTRIBUTION", "INTO"):
		d := p.distribution("DISTRIBUTION")
		if parts.Distribution != nil {
			p.failAt(d.Span(), "found a second DISTRIBUTION", "a table has one")
		}
		parts.Distribution = d
	default:
		if p.peekIsOp(1, ".") {
			p.wholeColumn("a column name")
		}
		c := AlterColumn{ColumnDef: p.columnDef(&parts.PrimaryKey)}
		if p.accept("FIRST") {
			c.First = true
		} else if p.accept("AFTER") {
			after := p.wholeColumn("the name of the column before it")
			c.After = &after
		}
		c.Pos = p.pos(start)
		parts.Columns = append(parts.Columns, c)
		p.checkColumns(len(parts.Columns))
	}
}

// wholeColumn: a column's name that is no path into a ROW
func (p *parser) wholeColumn(expected string) Ident {
	id := p.ident(expected)
	if p.isOp(".") {
		p.failAt(p.tok.span(), `found ".", but ALTER TABLE works on whole columns, not on a field of a ROW`, "a name that contains a dot is written in back-quotes")
	}
	return id
}

// noColumnWord refuses the word COLUMN, which other databases have here.
func (p *parser) noColumnWord(verb string) {
	if p.isWord("COLUMN") || p.isWord("COLUMNS") && p.peekIsOp(1, "(") {
		p.failAt(p.tok.span(), "found "+p.found(p.tok)+" behind "+verb, "Flink SQL has no such word here: "+verb+" is followed by the column's name")
	}
}

// alterDrop: DROP {column | ( columns ) | PRIMARY KEY | CONSTRAINT name |
// WATERMARK | DISTRIBUTION | [IF EXISTS] PARTITION ( … ), …}
func (p *parser) alterDrop(start int) AlterAction {
	switch {
	case p.isWords("IF", "EXISTS"), p.isWord("PARTITION"):
		return p.dropPartitions(start)
	case p.accept("PRIMARY"):
		p.expect("KEY")
		return &DropPrimaryKey{p.pos(start)}
	case p.accept("CONSTRAINT"):
		name := p.ident("a constraint's name")
		return &DropConstraint{p.pos(start), name}
	case p.accept("WATERMARK"):
		return &DropWatermark{p.pos(start)}
	case p.accept("DISTRIBUTION"):
		return &DropDistribution{p.pos(start)}
	case p.isOp("("):
		list := p.identList("a column name")
		return &DropColumns{p.pos(start), list}
	}
	p.noColumnWord("DROP")
	name := p.wholeColumn(`a column name, "(" and column names, PRIMARY KEY, CONSTRAINT, WATERMARK, DISTRIBUTION or PARTITION`)
	return &DropColumns{p.pos(start), []Ident{name}}
}

// addPartitions: [IF NOT EXISTS] { PARTITION ( … ) [WITH ( … )] } …
func (p *parser) addPartitions(start int) AlterAction {
	a := &AddPartitions{IfNotExists: p.ifNotExists()}
	for p.err == nil {
		at := p.tok.start
		spec := p.partitionSpec()
		if p.isWord("WITH") {
			spec.Options = p.optionsClause()
		}
		spec.Pos = p.pos(at)
		a.Partitions = append(a.Partitions, spec)
		if p.isOp(",") && p.peekIsWord(1, "PARTITION") {
			p.failAt(p.tok.span(), `found "," between partitions to add`, "they are written one behind the other, without commas")
		}
		if !p.isWord("PARTITION") {
			break
		}
	}
	a.Pos = p.pos(start)
	return a
}

// dropPartitions: [IF EXISTS] PARTITION ( … ) {, PARTITION ( … )}
func (p *parser) dropPartitions(start int) AlterAction {
	a := &DropPartitions{IfExists: p.ifExists()}
	for p.err == nil {
		a.Partitions = append(a.Partitions, p.partitionSpec())
		if p.isWord("PARTITION") {
			p.commaMissing(`"," or the end of the statement`)
		}
		if !p.acceptOp(",") {
			break
		}
	}
	a.Pos = p.pos(start)
	return a
}

// partitionSpec: PARTITION ( column = value, … )
func (p *parser) partitionSpec() PartitionSpec {
	start := p.tok.start
	p.expect("PARTITION")
	s := PartitionSpec{Items: p.partitionItems()}
	s.Pos = p.pos(start)
	for _, item := range s.Items {
		if item.Value == nil {
			p.failAt(item.Span(), "partition column "+item.Name.Name+" has no value", "write column = value")
		}
	}
	return s
}

func (s *AlterTable) print(p *printer) {
	p.str("ALTER TABLE ")
	p.opt(s.IfExists, "IF EXISTS ")
	s.Name.print(p)
	for _, a := range s.Actions {
		p.str(" ")
		a.print(p)
	}
}

func (a *AddColumns) print(p *printer) {
	p.str("ADD ")
	a.TableParts.print(p)
}

func (a *ModifyColumns) print(p *printer) {
	p.str("MODIFY ")
	a.TableParts.print(p)
}

func (t *TableParts) print(p *printer) {
	p.str("(")
	sep := ""
	next := func() {
		p.str(sep)
		sep = ", "
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		next()
		c.ColumnDef.print(p)
		p.opt(c.First, " FIRST")
		if c.After != nil {
			p.str(" AFTER ")
			c.After.print(p)
		}
	}
	if t.Watermark != nil {
		next()
		t.Watermark.print(p)
	}
	if t.PrimaryKey != nil {
		next()
		t.PrimaryKey.print(p)
	}
	if t.Distribution != nil {
		next()
		p.str("DISTRIBUTION")
		t.Distribution.print(p)
	}
	p.str(")")
}

func (a *DropColumns) print(p *printer) {
	p.str("DROP ")
	p.names(a.Columns)
}

func (*DropPrimaryKey) print(p *printer) { p.str("DROP PRIMARY KEY") }

func (a *DropConstraint) print(p *printer) {
	p.str("DROP CONSTRAINT ")
	a.Name.print(p)
}

func (*DropWatermark) print(p *printer)    { p.str("DROP WATERMARK") }
func (*DropDistribution) print(p *printer) { p.str("DROP DISTRIBUTION") }

func (a *RenameColumn) print(p *printer) {
	p.str("RENAME ")
	a.From.print(p)
	p.str(" TO ")
	a.To.print(p)
}

func (a *RenameTable) print(p *printer) {
	p.str("RENAME TO ")
	a.To.print(p)
}

func (a *SetOptions) print(p *printer) {
	p.str("SET ")
	p.optionItems(a.Options.Items)
}

func (a *ResetOptions) print(p *printer) {
	p.str("RESET ")
	p.keys(a.Keys)
}

// keys writes ('a', 'b').
func (p *printer) keys(keys []*Literal) {
	p.str("(")
	p.list(len(keys), func(i int) { keys[i].print(p) })
	p.str(")")
}

func (a *AddPartitions) print(p *printer) {
	p.str("ADD")
	p.opt(a.IfNotExists, " IF NOT EXISTS")
	for _, s := range a.Partitions {
		p.str(" ")
		s.print(p)
	}
}

func (a *DropPartitions) print(p *printer) {
	p.str("DROP ")
	p.opt(a.IfExists, "IF EXISTS ")
	p.list(len(a.Partitions), func(i int) { a.Partitions[i].print(p) })
}

func (s PartitionSpec) print(p *printer) {
	p.partition(s.Items)
	p.options(s.Options)
}

func (s *AlterTable) children(visit func(Node)) {
	for _, a := range s.Actions {
		a.children(visit)
	}
}

func (t *TableParts) children(visit func(Node)) {
	for i := range t.Columns {
		t.Columns[i].ColumnDef.children(visit)
	}
	if t.Watermark != nil {
		visit(t.Watermark.Expr)
	}
}

func (a *AddPartitions) children(visit func(Node)) {
	for _, s := range a.Partitions {
		visitPartition(visit, s.Items)
	}
}

func (a *DropPartitions) children(visit func(Node)) {
	for _, s := range a.Partitions {
		visitPartition(visit, s.Items)
	}
}

func (*DropColumns) children(func(Node))      {}
func (*DropPrimaryKey) children(func(Node))   {}
func (*DropConstraint) children(func(Node))   {}
func (*DropWatermark) children(func(Node))    {}
func (*DropDistribution) children(func(Node)) {}
func (*RenameColumn) children(func(Node))     {}
func (*RenameTable) children(func(Node))      {}
func (*SetOptions) children(func(Node))       {}
func (*ResetOptions) children(func(Node))     {}
