package bind

import (
	"slices"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/planner/plan"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// UPDATE and DELETE read the rows that WHERE lets through and write, for each, what tells it from the others and
// behind that the new values. The table finds the rows again by the former, see [connector.Modifiable].

const setClause = "SET clause"

// rowidName names the column that tells rows apart where none of the table's own does.
const rowidName = "rowid"

// changing is a table whose rows an UPDATE or DELETE changes.
type changing struct {
	write *Write
	node  plan.Node // the columns that the table declares, then those of key
	scope *scope    // of the former
	key   []int     // columns of node
}

// Update binds an UPDATE.
func (b *Binder) Update(s *sqlparse.Update) (*Write, error) {
	c, err := b.changing(s, s.Table, s.Hints, s.Alias, s.Where)
	if err != nil {
		return nil, err
	}
	w := c.write
	exprs, from := c.keys()
	all := w.persisted()
	given := map[int]bool{}
	x := &exprCtx{b: b, scope: c.scope, clause: setClause, attach: func(a attachment) (expr.Expr, error) { return attached(&c.node, a) }}
	for _, a := range s.Set {
		name := a.Column
		at := slices.IndexFunc(all, func(i int) bool { return w.columns[i].Name == name.Name })
		if at < 0 {
			return nil, w.notWritable(name, all)
		}
		if at = all[at]; at >= len(w.Table.Schema.Columns) {
			return nil, errAt(name.Span(), "Column '%s' is a metadata column, which UPDATE does not change", name.Name)
		}
		if given[at] {
			return nil, errAt(name.Span(), "Target column '%s' is assigned more than once", name.Name)
		}
		given[at] = true
		v, err := x.expr(a.Value)
		if err != nil {
			return nil, err
		}
		w.Columns, exprs = append(w.Columns, at), append(exprs, v)
		from = append(from, Column{Name: name.Name, At: a.Value.Span()})
	}
	if err := b.mayModify(s); err != nil {
		return nil, err
	}
	return w, w.assign(c.node, exprs, from)
}

// Delete binds a DELETE.
func (b *Binder) Delete(s *sqlparse.Delete) (*Write, error) {
	c, err := b.changing(s, s.Table, s.Hints, s.Alias, s.Where)
	if err != nil {
		return nil, err
	}
	if err := b.mayModify(s); err != nil {
		return nil, err
	}
	exprs, from := c.keys()
	return c.write, c.write.assign(c.node, exprs, from)
}

// keys are the references to the columns of the key.
func (c *changing) keys() (exprs []expr.Expr, from []Column) {
	for i, k := range c.key {
		exprs = append(exprs, plan.ColumnOf(c.node, k))
		from = append(from, Column{Name: c.write.Names()[i]})
	}
	return exprs, from
}

// changing binds the table of a statement and its WHERE.
func (b *Binder) changing(s sqlparse.Statement, name sqlparse.ObjectName, hints []sqlparse.Hint, alias *sqlparse.Ident, where sqlparse.Expr) (*changing, error) {
	if b.asked == job.Streaming {
		return nil, b.noModify(s)
	}
	if err := refuseHints(hints); err != nil {
		return nil, err
	}
	d, err := b.lookup(name)
	if err != nil {
		return nil, err
	}
	if d.table.Kind == catalog.KindView {
		return nil, withHint(errAt(name.Span(), "%s is a view, whose rows cannot be changed", d.id), "those of the tables that it reads can")
	}
	t, opened, err := b.openTable(d, name)
	if err != nil {
		return nil, err
	}
	m, ok := opened.(connector.Modifiable)
	if !ok {
		return nil, withHint(errAt(name.Span(), "%s cannot be used on table %s: %s", s.Form(), t.ID, ofConnector(t, "cannot change single rows")),
			"the tables of generic_in_memory and jdbc catalogs can be changed")
	}
	key, err := m.RowKey(b.ctx)
	if err != nil {
		return nil, atName(err, name)
	}
	b.scanned(t, opened, name)
	c, err := b.scanChanging(d, t, key, name)
	if err != nil {
		return nil, err
	}
	if alias != nil {
		c.scope.tables[0] = scopeTable{path: []string{alias.Name}, hidden: c.scope.tables[0].path, at: alias.Span()}
	}
	if where != nil {
		c.node, err = b.where(c.node, c.scope, where)
	}
	return c, err
}

// scanChanging reads the columns that a table declares, and behind them those of its key.
func (b *Binder) scanChanging(d definition, t *plan.Table, key connector.RowKey, name sqlparse.ObjectName) (*changing, error) {
	own := *t
	columns := make([]int, len(t.Columns))
	for i := range columns {
		columns[i] = i
	}
	keys := key.Columns
	var keyNames []string
	for _, k := range keys {
		keyNames = append(keyNames, t.Columns[k].Name)
	}
	if keys == nil {
		keyNames = []string{key.RowidName}
		keys = []int{len(t.Columns)}
		own.Columns = append(slices.Clone(t.Columns), types.Column{Name: rowidName, Type: key.Rowid.AsNotNull()})
		columns = append(columns, len(t.Columns))
	}
	c := &changing{write: newWrite(t.ID, t.Def)}
	w := c.write
	w.columns, w.StoreKey, w.Columns, w.Key = own.Columns, t.StoreKey, slices.Clone(keys), keyNames

	stored := plan.NewScan(&own, columns[:len(t.Columns)], nil, -1)
	r, err := b.declaredColumns(d, relation(stored, name.Span()), name)
	if err != nil {
		return nil, err
	}
	path := []string{d.id.Catalog, d.id.Database, d.id.Object}
	if _, c.scope, err = derived(r, nil, scopeTable{path: path, at: name.Span()}, nil); err != nil {
		return nil, err
	}
	var scan plan.Node = plan.NewScan(&own, columns, nil, -1)
	p, computed := r.Node.(*plan.Project)
	if !computed { // the columns declared are those of the scan
		c.node, c.key = scan, keys
		return c, nil
	}
	exprs, names := slices.Clone(p.Exprs), p.Schema().Names()
	for _, k := range keys {
		c.key = append(c.key, len(exprs))
		exprs, names = append(exprs, plan.ColumnOf(scan, k)), append(names, own.Columns[k].Name)
	}
	c.node = plan.NewProject(scan, exprs, names)
	return c, nil
}

// mayModify refuses what can only run in streaming mode.
func (b *Binder) mayModify(s sqlparse.Statement) error {
	if b.Mode() == job.Streaming {
		return b.noModify(s)
	}
	return b.checkMode()
}

// noModify is the error for rows that would be changed in streaming mode.
func (b *Binder) noModify(s sqlparse.Statement) error {
	e := errAt(s.Span(), "%s statement is not supported for streaming mode now.", s.Form())
	if u := b.limits.unbounded; u != nil {
		return withHint(e, "table %s has no end", u.id)
	}
	return withHint(e, "batch mode can: SET 'execution.runtime-mode' = 'batch'")
}

// Emptiable is an opened table that TRUNCATE TABLE can empty.
type Emptiable interface {
	connector.Table
	connector.Truncater
}

// Truncate finds the table of a TRUNCATE TABLE and hands it over, opened.
func (b *Binder) Truncate(s *sqlparse.TruncateTable) (Emptiable, error) {
	if b.asked == job.Streaming {
		return nil, withHint(errAt(s.Span(), "TRUNCATE TABLE statement is not supported in streaming mode."), "batch mode can: SET 'execution.runtime-mode' = 'batch'")
	}
	d, err := b.lookup(s.Name)
	if err != nil {
		return nil, err
	}
	if d.table.Kind == catalog.KindView {
		return nil, withHint(errAt(s.Name.Span(), "TRUNCATE TABLE statement is not supported for view."), "%s is one; TRUNCATE TABLE can empty the tables that it reads", d.id)
	}
	t, opened, err := b.openTable(d, s.Name)
	if err != nil {
		return nil, err
	}
	e, ok := opened.(Emptiable)
	if !ok {
		return nil, withHint(errAt(s.Name.Span(), "TRUNCATE TABLE cannot be used on table %s: %s", t.ID, ofConnector(t, "cannot remove rows")),
			"the tables of generic_in_memory and jdbc catalogs can be truncated")
	}
	delete(b.tables, d.id) // the caller's now
	return e, nil
}
