package bind

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// declared is a column of a table that is being defined: by CREATE TABLE, of the table in LIKE, of the query
// in CREATE TABLE AS, or of the table that ALTER TABLE changes.
type declared struct {
	types.Column // the type of a computed column is known when its expression is bound
	kind         sqlparse.ColumnKind
	at           sqlparse.Span // where it is declared, or what brought it
	expr         sqlparse.Expr // of a computed column written in this statement
	text         string        // of any computed column: its SQL
	key          string        // of a metadata column
	stored       bool          // METADATA without VIRTUAL
	source       int           // CREATE TABLE AS: the query's column, or -1
}

// watermark is the watermark of a table that is being defined.
type watermark struct {
	column string
	at     sqlparse.Span // of the column's name
	expr   sqlparse.Expr // nil when it comes from another table
	text   string
}

// declare resolves a column as written.
func declare(c *sqlparse.ColumnDef) (declared, error) {
	d := declared{kind: c.Kind, at: c.Span(), source: -1}
	d.Name = c.Name.Name
	if c.Comment != nil {
		d.Comment = c.Comment.Text
	}
	if c.Kind == sqlparse.ComputedColumn {
		d.expr, d.text = c.Expr, sqlparse.Print(c.Expr)
		return d, nil
	}
	var err error
	if d.Type, err = dataType(c.Type); err != nil {
		return d, err
	}
	if c.Kind == sqlparse.MetadataColumn {
		d.key, d.stored = c.Name.Name, !c.Virtual
		if c.MetadataKey != nil {
			d.key = c.MetadataKey.Text
		}
		if d.key == "" {
			return d, errAt(c.MetadataKey.Span(), "A metadata key cannot be empty")
		}
	}
	return d, nil
}

// declaredOf returns the columns of a table that is there.
func declaredOf(t *catalog.CatalogTable, at sqlparse.Span) []declared {
	var list []declared
	for _, c := range t.Columns() {
		d := declared{Column: c.Column, at: at, source: -1}
		switch v := c.Virtual; {
		case v == nil:
		case v.Key != "":
			d.kind, d.key, d.stored = sqlparse.MetadataColumn, v.Key, v.Stored
		default:
			d.kind, d.text = sqlparse.ComputedColumn, v.Expr
		}
		list = append(list, d)
	}
	return list
}

// column returns a column by name, or -1.
func (t *target) column(name string) int {
	return slices.IndexFunc(t.columns, func(c declared) bool { return c.Name == name })
}

func (t *target) columnNames() []string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.Name
	}
	return names
}

// physicalNames lists the physical columns for a message.
func (t *target) physicalNames() string { return strings.Join(t.table.Schema.Names(), ", ") }

// resolve makes the definition of what has been declared: computed columns and the watermark are bound.
func (b *Binder) resolve(t *target) error {
	if err := b.resolveColumns(t); err != nil {
		return err
	}
	return b.resolveWatermark(t)
}

// resolveColumns binds the computed columns, over the physical and the metadata columns.
func (b *Binder) resolveColumns(t *target) error {
	var readable []types.Column
	for _, c := range t.columns {
		if c.kind != sqlparse.ComputedColumn {
			readable = append(readable, c.Column)
		}
	}
	s := columnScope(readable)
	t.table.Schema.Columns, t.table.Virtual = nil, nil
	for i := range t.columns {
		c := &t.columns[i]
		t.places[c.Name] = c.at
		v := catalog.VirtualColumn{Name: c.Name, Position: i, Comment: c.Comment}
		switch c.kind {
		case sqlparse.ComputedColumn:
			x, err := b.declaredExpr(t, c.expr, c.text, s, computedClause, fmt.Sprintf("Computed column '%s'", c.Name), c.at)
			if err != nil {
				return err
			}
			if isBareNull(x) {
				return withHint(errAt(c.at, "Column '%s' is an untyped NULL", c.Name), "write CAST(NULL AS <type>)")
			}
			c.Type, v.Expr = x.Type(), c.text
		case sqlparse.MetadataColumn:
			if err := b.checkMetadata(t, *c); err != nil {
				return err
			}
			v.Key, v.Stored = c.key, c.stored
		default:
			t.table.Schema.Columns = append(t.table.Schema.Columns, c.Column)
			continue
		}
		v.Type = c.Type
		t.table.Virtual = append(t.table.Virtual, v)
	}
	return nil
}

// declaredExpr binds an expression of a definition: as written, or from its text, whose faults are at the
// place that brought it.
func (b *Binder) declaredExpr(t *target, e sqlparse.Expr, text string, s *scope, clause, what string, at sqlparse.Span) (expr.Expr, error) {
	written := e != nil
	var err error
	if !written {
		if e, err = parseExpr(text); err != nil {
			return nil, inText(err, what, at)
		}
	}
	if clause == computedClause {
		err = t.refuseComputed(e)
	}
	var x expr.Expr
	if err == nil {
		x, err = (&exprCtx{b: b, scope: s, clause: clause}).expr(e)
	}
	if err != nil && !written {
		err = inText(err, what, at)
	}
	return x, err
}

// inText makes an error in a stored text one at another place.
func inText(err error, what string, at sqlparse.Span) error {
	if e, ok := positioned(err).(*sqlparse.Error); ok {
		return &sqlparse.Error{Span: at, Msg: what + ": " + e.Msg, Hint: e.Hint}
	}
	return err
}

// refuseComputed refuses the name of a computed column in the expression of one.
func (t *target) refuseComputed(e sqlparse.Expr) error {
	var err error
	for _, ref := range columnRefs(e) {
		name := ref.Parts[0].Name
		if i := t.column(name); i >= 0 && len(ref.Parts) == 1 && t.columns[i].kind == sqlparse.ComputedColumn && err == nil {
			err = withHint(errAt(ref.Span(), "Column '%s' is computed itself", name), "the expression of a computed column can refer to physical and metadata columns; write the other expression out")
		}
	}
	return err
}

// columnRefs returns the names of columns in an expression.
func columnRefs(e sqlparse.Expr) []*sqlparse.ColumnRef {
	var refs []*sqlparse.ColumnRef
	sqlparse.Walk(e, func(n sqlparse.Node) bool {
		if ref, ok := n.(*sqlparse.ColumnRef); ok {
			refs = append(refs, ref)
		}
		return true
	})
	return refs
}

// checkMetadata checks the key of a metadata column against what the connector has.
func (b *Binder) checkMetadata(t *target, c declared) error {
	f := b.tableFactory(t)
	if f == nil {
		return nil // the options are at fault, and that has been said
	}
	r, ok := f.(connector.MetadataReader)
	if !ok {
		return errAt(c.at, "Table '%s' declares metadata columns, but connector '%s' has no metadata. Therefore, metadata cannot be read from the given source.", t.id, f.Identifier())
	}
	var keys []string
	for _, m := range r.Metadata() {
		if m.Key != c.key {
			keys = append(keys, m.Key)
			continue
		}
		if !types.CastAllowed(m.Type, c.Type) {
			return errAt(c.at, "Invalid data type for metadata column '%s' of table '%s'. The column cannot be declared as '%s' because the type must be castable from metadata type '%s'.",
				c.Name, t.id, c.Type.AsNullable(), m.Type.AsNullable())
		}
		return nil
	}
	e := errAt(c.at, "Invalid metadata key '%s' in column '%s' of table '%s'. The connector '%s' supports the following metadata keys for reading: %s",
		c.key, c.Name, t.id, f.Identifier(), strings.Join(keys, ", "))
	e.Hint = didYouMean(c.key, keys)
	return e
}

// tableFactory returns the connector of a table that is being defined, or nil.
func (b *Binder) tableFactory(t *target) connector.Factory {
	name, ok := t.table.Options["connector"]
	if !ok {
		return t.cat.Factory()
	}
	for _, f := range b.catalogs.Registry.Connectors {
		if f.Identifier() == name {
			return f
		}
	}
	return nil
}

const watermarkClause = "WATERMARK expression"

// resolveWatermark binds the watermark, over all columns.
func (b *Binder) resolveWatermark(t *target) error {
	t.table.Watermark = nil
	w := t.watermark
	if w == nil {
		return nil
	}
	i := t.column(w.column)
	if i < 0 {
		e := errAt(w.at, "The rowtime attribute field '%s' is not defined in the table schema", w.column)
		if e.Hint = didYouMean(w.column, t.columnNames()); e.Hint == "" {
			e.Hint = "available fields: '" + strings.Join(t.columnNames(), "', '") + "'"
		}
		return e
	}
	const want = "The field must be of type TIMESTAMP(p) or TIMESTAMP_LTZ(p), the supported precision 'p' is from 0 to 3, but the "
	field := t.columns[i].Type
	if !isTimeAttribute(field) {
		at := w.at
		if w.expr == nil {
			at = t.columns[i].at
		}
		return errAt(at, "Invalid data type of time field for watermark definition. "+want+"time field type is %s", field)
	}
	all := make([]types.Column, len(t.columns))
	for k, c := range t.columns {
		all[k] = c.Column
	}
	x, err := b.declaredExpr(t, w.expr, w.text, columnScope(all), watermarkClause, "The watermark for '"+w.column+"'", w.at)
	if err != nil {
		return err
	}
	at := w.at
	if w.expr != nil {
		at = w.expr.Span()
	}
	if !isTimeAttribute(x.Type()) {
		return errAt(at, "Invalid data type of expression for watermark definition. "+want+"watermark expression type is %s", x.Type())
	}
	if x.Type().Kind != field.Kind {
		return errAt(at, "The watermark declaration's output data type '%s' is different from the time field's data type '%s'.", x.Type(), field)
	}
	t.table.Watermark = &catalog.Watermark{Column: w.column, Expr: w.text, Type: x.Type()}
	return nil
}

// isTimeAttribute reports whether a watermark can be of a type.
func isTimeAttribute(t types.Type) bool {
	return (t.Kind == types.Timestamp || t.Kind == types.TimestampLTZ) && t.Precision <= 3
}

// watermarkOf resolves a WATERMARK clause as written.
func watermarkOf(w *sqlparse.WatermarkDef) (*watermark, error) {
	if len(w.Column.Parts) > 1 {
		return nil, errAt(w.Column.Span(), "Watermark strategy on nested column is not supported yet.")
	}
	return &watermark{column: w.Column.Last().Name, at: w.Column.Span(), expr: w.Expr, text: sqlparse.Print(w.Expr)}, nil
}

// keyNotNull makes the columns of a key NOT NULL, before expressions over them are bound.
func (t *target) keyNotNull(pk *sqlparse.PrimaryKey) {
	if pk == nil {
		return
	}
	for _, name := range pk.Columns {
		if i := t.column(name.Name); i >= 0 && t.columns[i].kind == sqlparse.PhysicalColumn {
			t.columns[i].Type = t.columns[i].Type.AsNotNull()
		}
	}
}

// primaryKey sets the key, whose columns become NOT NULL.
func (t *target) primaryKey(pk *sqlparse.PrimaryKey) error {
	if pk == nil {
		return nil
	}
	s := &t.table.Schema
	s.PrimaryKey, s.PrimaryKeyName = []string{}, ""
	for _, name := range pk.Columns {
		i := s.Index(name.Name)
		switch {
		case i < 0 && t.column(name.Name) >= 0:
			return errAt(name.Span(), "Could not create a PRIMARY KEY with column '%s'. A PRIMARY KEY constraint must be declared on physical columns.", name.Name)
		case i < 0:
			e := errAt(name.Span(), "Primary key column '%s' is not defined in the schema", name.Name)
			e.Hint = didYouMean(name.Name, s.Names())
			return e
		case slices.Contains(s.PrimaryKey, name.Name):
			return errAt(name.Span(), "Primary key column '%s' is named twice", name.Name)
		}
		s.PrimaryKey = append(s.PrimaryKey, name.Name)
		s.Columns[i].Type = s.Columns[i].Type.AsNotNull()
	}
	if pk.Name != nil {
		s.PrimaryKeyName = pk.Name.Name
	}
	return nil
}

// partitionKeys sets the columns of PARTITIONED BY.
func (t *target) partitionKeys(p *sqlparse.PartitionedBy) error {
	if p == nil {
		return nil
	}
	var keys []string
	for _, name := range p.Columns {
		switch {
		case t.column(name.Name) < 0:
			e := errAt(name.Span(), "Partition column '%s' not defined in the table schema. Available columns: ['%s']", name.Name, strings.Join(t.columnNames(), "', '"))
			e.Hint = didYouMean(name.Name, t.columnNames())
			return e
		case t.table.Schema.Index(name.Name) < 0:
			return errAt(name.Span(), "Invalid partition key '%s'. A partition key must reference a physical column in the schema. Available columns are: [%s]", name.Name, t.physicalNames())
		case slices.Contains(keys, name.Name):
			return errAt(name.Span(), "Partition column '%s' is named twice", name.Name)
		}
		keys = append(keys, name.Name)
	}
	t.table.PartitionKeys = keys
	return nil
}

// distribution sets the DISTRIBUTED clause.
func (t *target) distribution(d *sqlparse.Distribution) error {
	if d == nil {
		return nil
	}
	out := &catalog.Distribution{Kind: d.Kind}
	for _, name := range d.Columns {
		switch {
		case t.table.Schema.Index(name.Name) < 0:
			e := errAt(name.Span(), "Invalid bucket key '%s'. A bucket key for a distribution must reference a physical column in the schema. Available columns are: [%s]", name.Name, t.physicalNames())
			e.Hint = didYouMean(name.Name, t.table.Schema.Names())
			return e
		case slices.Contains(out.Columns, name.Name):
			return errAt(name.Span(), "Bucket key '%s' is named twice", name.Name)
		}
		out.Columns = append(out.Columns, name.Name)
	}
	if d.Buckets != nil {
		n, err := strconv.ParseInt(d.Buckets.Text, 10, 32)
		if err != nil || n < 1 {
			return errAt(d.Buckets.Span(), "Invalid bucket count '%s'. The number of buckets for a distributed table must be at least 1.", d.Buckets.Text)
		}
		out.Buckets = int(n)
	}
	t.table.Distribution = out
	return nil
}
