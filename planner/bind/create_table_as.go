package bind

import (
	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
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
	r, err := b.query(s.As, nil)
	if err != nil {
		return nil, err
	}
	if err := tableColumns(r, s.Columns); err != nil {
		return nil, err
	}
	source, err := t.columns(s, r)
	if err != nil {
		return nil, err
	}
	if err := t.primaryKey(s.PrimaryKey); err != nil {
		return nil, err
	}
	w := &Write{Target: t.id, Table: t.table}
	exprs, from := make([]expr.Expr, len(source)), make([]Column, len(source))
	for i, k := range source {
		w.Columns = append(w.Columns, i)
		name := t.table.Schema.Columns[i].Name
		if k < 0 {
			from[i] = Column{Name: name, At: t.places[name]}
			exprs[i] = expr.NewLiteral(types.Of(types.Null), nil, span(from[i].At))
			continue
		}
		from[i], exprs[i] = r.Columns[k], r.column(k)
	}
	if err := w.assign(r.Node, exprs, from); err != nil {
		return nil, err
	}
	purpose := catalog.CreateTableAs
	if s.IfNotExists {
		purpose = catalog.CreateTableAsIfNotExists
	}
	if w.Check, w.Exists, err = b.check(s, t, purpose); err != nil {
		return nil, err
	}
	if w.Exists && !s.IfNotExists {
		return nil, alreadyExists(t.id, s.Name)
	}
	w.StoreKey = t.cat.StoreKey(catalog.ObjectPath{Database: t.id.Database, Object: t.id.Object})
	return w, nil
}

func refuseForms(s *sqlparse.CreateTable) error {
	switch {
	case s.Mode == sqlparse.Replace && s.Temporary:
		return errAt(s.TemporarySpan, "REPLACE TABLE AS SELECT syntax does not support temporary table yet.")
	case s.Mode == sqlparse.CreateOrReplace && s.Temporary:
		return errAt(s.TemporarySpan, "CREATE OR REPLACE TABLE AS SELECT syntax does not support temporary table yet.")
	case s.Temporary:
		return errAt(s.TemporarySpan, "CREATE TABLE AS SELECT syntax does not support to create temporary table yet.")
	case s.Mode == sqlparse.Replace:
		return notYet(s.Span(), "REPLACE TABLE AS")
	case s.Mode == sqlparse.CreateOrReplace:
		return notYet(s.Span(), "CREATE OR REPLACE TABLE AS")
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
		if c.Null && !hasType[c.Name] {
			return withHint(errAt(c.At, "Column '%s' is an untyped NULL", c.Name), "write CAST(NULL AS <type>)")
		}
	}
	return nil
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

// columns sets the schema of the target and returns for each of its columns the query's, or -1.
func (t *target) columns(s *sqlparse.CreateTable, r *Relation) ([]int, error) {
	query := map[string]int{}
	for i, c := range r.Columns {
		query[c.Name] = i
	}
	var source []int
	add := func(c types.Column, from int, at sqlparse.Span) {
		t.table.Schema.Columns = append(t.table.Schema.Columns, c)
		source = append(source, from)
		t.places[c.Name] = at
	}
	cols := r.Node.Schema().Columns
	if s.ColumnNames != nil {
		if len(s.ColumnNames) != len(r.Columns) {
			return nil, errAt(s.ColumnsSpan, "The number of columns in the column list must match the number of columns in the source schema.")
		}
		seen := map[string]bool{}
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
				return nil, e
			case seen[name.Name]:
				return nil, errAt(name.Span(), "A column named '%s' already exists in the schema.", name.Name)
			}
			seen[name.Name] = true
			add(types.Column{Name: name.Name, Type: cols[i].Type}, i, r.Columns[i].At)
		}
		return source, nil
	}
	declared := map[string]types.Column{}
	for i := range s.Columns {
		def := &s.Columns[i]
		c, err := declaredColumn(def)
		if err != nil {
			return nil, err
		}
		if _, ok := query[c.Name]; ok {
			declared[c.Name] = c
			continue
		}
		if !c.Type.Nullable() || inKey(s.PrimaryKey, c.Name) {
			return nil, errAt(def.Span(), "Column '%s' has no default value and does not allow NULLs.", c.Name)
		}
		add(c, -1, def.Span())
	}
	for i, c := range r.Columns {
		if d, ok := declared[c.Name]; ok {
			add(d, i, c.At)
		} else {
			add(types.Column{Name: c.Name, Type: cols[i].Type}, i, c.At)
		}
	}
	return source, nil
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
