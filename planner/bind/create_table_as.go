package bind

import (
	"slices"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// CreateTableAs binds CREATE TABLE … AS. The target has the columns that are only declared, then those of
// the query; a column that is both keeps the query's place and takes the declared type. A list of mere
// names reorders the query's columns.
func (b *Binder) CreateTableAs(s *sqlparse.CreateTable) (*Write, error) {
	if err := refuseForms(s); err != nil {
		return nil, err
	}
	t, err := b.createTarget(s)
	if err != nil {
		return nil, err
	}
	r, err := b.Query(s.As)
	if err != nil {
		return nil, err
	}
	if err := tableColumns(r, s.Columns); err != nil {
		return nil, err
	}
	if err := t.columnsAs(s, r); err != nil {
		return nil, err
	}
	if err := b.define(s, t); err != nil {
		return nil, err
	}
	if err := b.checkDefinition(s, t); err != nil {
		return nil, err
	}
	w := newWrite(t.id, t.table)
	var exprs []expr.Expr
	var from []Column
	w.Columns = w.persisted()
	slices.Sort(w.Columns) // a new table takes its columns in the order that the store keeps them in
	for _, i := range w.Columns {
		c := w.columns[i]
		k := t.columns[t.column(c.Name)].source
		if k >= 0 {
			exprs, from = append(exprs, r.column(k)), append(from, r.Columns[k])
			continue
		}
		f := Column{Name: c.Name, At: t.places[c.Name]}
		exprs, from = append(exprs, expr.NewLiteral(types.Of(types.Null), nil, span(f.At))), append(from, f)
	}
	if err := w.assign(r.Node, exprs, from); err != nil {
		return nil, err
	}
	if b.Mode() == job.Streaming && s.Mode != sqlparse.Create {
		return nil, b.noReplacing(s)
	}
	if w.Check, w.Exists, err = b.check(s, t, b.Purpose(s)); err != nil {
		return nil, err
	}
	switch {
	case w.Exists && s.Mode != sqlparse.Create:
		return nil, withHint(errAt(s.Name.Span(), "Catalog %s cannot put a new table in the place of %s", connector.QuoteName(t.id.Catalog), t.id), "DROP TABLE it, then CREATE TABLE … AS")
	case w.Exists && !s.IfNotExists:
		return nil, alreadyExists(t.id, s.Name)
	}
	if s.Mode != sqlparse.Create {
		w.Check.Notes = append(w.Check.Notes, "a table that has the name now stays as it is up to the commit, and is gone with it")
	}
	w.StoreKey = t.cat.StoreKey(catalog.PathOf(t.id))
	if b.Mode() == job.Streaming && !w.Exists {
		err = b.targetTakes(t, w)
	}
	return w, err
}

// Purpose is what the table of a CREATE TABLE AS is made for. In streaming mode it is made empty, for an
// INSERT to come.
func (b *Binder) Purpose(s *sqlparse.CreateTable) catalog.Purpose {
	switch {
	case b.Mode() == job.Streaming:
		return catalog.CreateTable
	case s.Mode == sqlparse.Replace:
		return catalog.ReplaceTableAs
	case s.Mode == sqlparse.CreateOrReplace:
		return catalog.CreateOrReplaceTableAs
	case s.IfNotExists:
		return catalog.CreateTableAsIfNotExists
	}
	return catalog.CreateTableAs
}

// noReplacing is the error for a table that would be replaced in streaming mode: the old one is there up to the
// last row of the new one, which a stream need not have.
func (b *Binder) noReplacing(s *sqlparse.CreateTable) error {
	e := errAt(s.Span(), "%s is not supported in streaming mode: a table is replaced as a whole, once its last row is there", s.Form())
	if u := b.limits.unbounded; u != nil {
		return withHint(e, "table %s has no end; CREATE TABLE … AS makes a table that fills as the rows come", u.id)
	}
	return withHint(e, "batch mode can: SET 'execution.runtime-mode' = 'batch'")
}

// targetTakes asks the table of a CREATE TABLE AS what it takes, if it can be opened before it is made: those
// of a connector that keeps nothing can.
func (b *Binder) targetTakes(t *target, w *Write) error {
	opened, err := b.catalogs.Registry.Table(b.ctx, t.cat, t.id, t.table)
	if err != nil {
		return b.ctx.Err()
	}
	w.takes(opened)
	return opened.Close()
}

func refuseForms(s *sqlparse.CreateTable) error {
	switch {
	case s.Mode == sqlparse.Replace && s.Temporary:
		return errAt(s.TemporarySpan, "REPLACE TABLE AS SELECT syntax does not support temporary table yet.")
	case s.Mode == sqlparse.CreateOrReplace && s.Temporary:
		return errAt(s.TemporarySpan, "CREATE OR REPLACE TABLE AS SELECT syntax does not support temporary table yet.")
	case s.Temporary:
		return errAt(s.TemporarySpan, "CREATE TABLE AS SELECT syntax does not support to create temporary table yet.")
	case s.Like != nil:
		return notYet(s.Like.Span(), "CREATE TABLE … LIKE")
	}
	return nil
}

// tableColumns makes sure that the columns of a query can be those of a table, in which some are declared.
func tableColumns(r *Relation, declared []sqlparse.ColumnDef) error {
	hasType := map[string]bool{}
	for i := range declared {
		hasType[declared[i].Name.Name] = true
	}
	first := map[string]int{}
	for i, c := range r.Columns {
		if k, ok := first[c.Name]; ok {
			return sameName(r.Columns, k, i, "table")
		}
		first[c.Name] = i
		if t := r.Node.Schema().Columns[i].Type; t.IsNested() && untyped(t) && !hasType[c.Name] {
			return withHint(errAt(c.At, "Column '%s' is of type %s, in which a NULL has no type", c.Name, t.AsNullable()), "write CAST(… AS <type>)")
		}
		if c.Null && !hasType[c.Name] {
			return withHint(errAt(c.At, "Column '%s' is an untyped NULL", c.Name), "write CAST(NULL AS <type>)")
		}
	}
	return nil
}

// untyped reports whether a bare NULL's type is in t.
func untyped(t types.Type) bool {
	for _, f := range t.Fields {
		if untyped(f.Type) {
			return true
		}
	}
	return t.Kind == types.Null
}

// sameName is the error for two columns of a query that have one name.
func sameName(columns []Column, first, second int, what string) error {
	a, b := columns[first], columns[second]
	of := func(c Column) string {
		if c.table == "" {
			return ""
		}
		return " (of " + connector.QuoteName(c.table) + ")"
	}
	e := errAt(b.At, "Columns %d%s and %d%s of the query are both named '%s', and the columns of a %s must have different names",
		first+1, of(a), second+1, of(b), b.Name, what)
	one, two := connector.QuoteName(b.Name), connector.QuoteName(b.Name+"_2")
	switch {
	case !b.star:
		return withHint(e, "give them aliases: … AS %s, … AS %s", one, two)
	case b.table != "":
		one = connector.QuoteName(b.table) + "." + one
	}
	return withHint(e, "list the columns instead of *, with an alias for one of the two: %s AS %s", one, two)
}

// columnsAs declares the columns of the target, each with the query's or none.
func (t *target) columnsAs(s *sqlparse.CreateTable, r *Relation) error {
	query := map[string]int{}
	for i, c := range r.Columns {
		query[c.Name] = i
	}
	cols := r.Node.Schema().Columns
	add := func(i int) {
		c := r.Columns[i]
		t.columns = append(t.columns, declared{Column: types.Column{Name: c.Name, Type: cols[i].Type}, at: c.At, source: i})
	}
	if s.ColumnNames != nil {
		if len(s.ColumnNames) != len(r.Columns) {
			return errAt(s.ColumnsSpan, "The number of columns in the column list must match the number of columns in the source schema.")
		}
		for _, name := range s.ColumnNames {
			i, ok := query[name.Name]
			switch {
			case !ok:
				e := errAt(name.Span(), "Column '%s' not found in the source schema.", name.Name)
				names := make([]string, len(r.Columns))
				for i, c := range r.Columns {
					names[i] = c.Name
				}
				e.Hint = didYouMean(name.Name, names)
				return e
			case t.column(name.Name) >= 0:
				return errAt(name.Span(), "A column named '%s' already exists in the schema.", name.Name)
			}
			add(i)
		}
		return nil
	}
	typed := map[string]declared{} // those that are declared and of the query
	for i := range s.Columns {
		def := &s.Columns[i]
		c, err := declare(def)
		if err != nil {
			return err
		}
		_, again := typed[c.Name]
		_, ofQuery := query[c.Name]
		persisted := c.kind == sqlparse.PhysicalColumn || c.stored
		switch {
		case again || t.column(c.Name) >= 0:
			return errAt(def.Name.Span(), "A column named '%s' already exists in the schema.", c.Name)
		case ofQuery && !persisted:
			return withHint(errAt(def.Name.Span(), "A column named '%s' already exists in the schema.", c.Name), "it is a column of the query, which is not written into a %s one",
				map[bool]string{true: "computed", false: "VIRTUAL"}[c.kind == sqlparse.ComputedColumn])
		case ofQuery:
			typed[c.Name] = c
		case persisted && (!c.Type.Nullable() || inKey(s.PrimaryKey, c.Name)):
			return errAt(def.Span(), "Column '%s' has no default value and does not allow NULLs.", c.Name)
		default:
			t.columns = append(t.columns, c)
		}
	}
	for i, c := range r.Columns {
		if d, ok := typed[c.Name]; ok {
			d.source, d.at = i, c.At
			t.columns = append(t.columns, d)
		} else {
			add(i)
		}
	}
	return nil
}

func inKey(pk *sqlparse.PrimaryKey, name string) bool {
	if pk == nil {
		return false
	}
	for _, c := range pk.Columns {
		if c.Name == name {
			return true
		}
	}
	return false
}
