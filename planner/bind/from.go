package bind

import (
	"errors"
	"fmt"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/planner/plan"
	"github.com/sluice-sql/sluice/sqlparse"
)

// from binds a FROM clause or a part of it.
func (b *Binder) from(t sqlparse.TableExpr, parent *scope) (plan.Node, *scope, error) {
	switch t := t.(type) {
	case *sqlparse.Table:
		switch {
		case t.AsOf != nil:
			return nil, nil, notYet(t.AsOf.Span(), "FOR SYSTEM_TIME AS OF")
		case t.Sample != nil:
			return nil, nil, withHint(notYet(t.Sample.Span(), "TABLESAMPLE"), "WHERE RAND() < 0.1 takes a tenth of the rows")
		}
		if err := b.refuseTableHints(t); err != nil {
			return nil, nil, err
		}
		return b.tableByName(&t.Name, t.Alias, parent)
	case *sqlparse.DerivedTable:
		if t.Lateral {
			return nil, nil, withHint(notYet(t.Span(), "LATERAL"), "write the subquery as a join; of a column's elements UNNEST makes rows")
		}
		r, err := b.query(t.Query, parent)
		if err != nil {
			return nil, nil, err
		}
		return derived(r, t.Alias, scopeTable{at: t.Span()}, parent)
	case *sqlparse.Join:
		return b.join(t, parent)
	case *sqlparse.Unnest:
		return b.unnest(t, plan.OneRow(), &scope{parent: parent}, false, parent)
	case *sqlparse.TableFunc:
		name := pathText(t.Call.Name.Parts)
		e := notYet(t.Call.Name.Span(), fmt.Sprintf("The table function %s", name))
		var why *expr.Error
		if errors.As(expr.Refusal(name, expr.Span{}), &why) {
			e.Hint = why.Hint
		}
		return nil, nil, e
	case *sqlparse.MatchRecognize:
		return nil, nil, notYet(t.Span(), "MATCH_RECOGNIZE")
	}
	return nil, nil, notYet(t.Span(), "this kind of table")
}

// refuseTableHints refuses the hints behind a table's name; those of a view in Flink's words.
func (b *Binder) refuseTableHints(t *sqlparse.Table) error {
	if len(t.Hints) == 0 {
		return nil
	}
	if len(t.Name.Parts) > 1 || b.with.find(t.Name.Parts[0].Name) == nil {
		if d, err := b.lookup(t.Name); err == nil && d.table.View != nil {
			return errAt(t.Hints[0].Span(), "View '%s' cannot be enriched with new options. Hints can only be applied to tables.", d.id.SQL())
		}
	}
	return refuseHints(t.Hints)
}

func refuseHints(hints []sqlparse.Hint) error {
	for _, h := range hints {
		return notYet(h.Span(), "The hint "+h.Name)
	}
	return nil
}

// derived makes a relation of FROM out of a bound query. table is how it is named without an alias.
func derived(r *Relation, alias *sqlparse.Alias, table scopeTable, parent *scope) (plan.Node, *scope, error) {
	if alias != nil {
		table = scopeTable{path: []string{alias.Name.Name}, hidden: table.path, at: alias.Name.Span()}
		if err := renameColumns(r, alias.Columns); err != nil {
			return nil, nil, err
		}
	}
	names := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		names[i] = c.Name
	}
	return r.Node, newScope(r.Node, table, names, func(i int) bool { return r.Columns[i].Null }, parent), nil
}

// tableByName binds a table, a view or a query of WITH.
func (b *Binder) tableByName(name *sqlparse.ObjectName, alias *sqlparse.Alias, parent *scope) (plan.Node, *scope, error) {
	if len(name.Parts) == 1 {
		if c := b.with.find(name.Parts[0].Name); c != nil {
			r, err := b.use(c, name.Span())
			if err != nil {
				return nil, nil, err
			}
			return derived(r, alias, scopeTable{path: []string{c.def.Name.Name}, at: name.Span()}, parent)
		}
	}
	d, err := b.lookup(*name)
	if err != nil {
		return nil, nil, err
	}
	if err := b.mayRead(d, *name); err != nil {
		return nil, nil, err
	}
	b.rewrites.named(name, d.id)
	r, err := b.read(d, *name)
	if err != nil {
		return nil, nil, err
	}
	path := []string{d.id.Catalog, d.id.Database, d.id.Object}
	return derived(r, alias, scopeTable{path: path, at: name.Span()}, parent)
}

// read binds what a name of FROM means: a view's query, or the columns of a table.
func (b *Binder) read(d definition, name sqlparse.ObjectName) (*Relation, error) {
	if b.altered != nil && *b.altered == d.id {
		return nil, errAt(name.Span(), "View %s would read itself", d.id)
	}
	if d.table.View != nil {
		return b.viewQuery(d, name)
	}
	t, opened, err := b.openTable(d, name)
	if err != nil {
		return nil, err
	}
	if _, ok := opened.(connector.Scannable); !ok {
		return nil, errAt(name.Span(), "Table %s cannot be read", t.ID)
	}
	b.scanned(t, opened, name)
	columns := make([]int, len(t.Columns))
	for i := range columns {
		columns[i] = i
	}
	return b.declaredColumns(d, relation(plan.NewScan(t, columns, nil, -1), name.Span()), name)
}

// definition is what the catalogs say of a table or view that the statement names, however often.
type definition struct {
	id    connector.ObjectIdentifier
	cat   catalog.Catalog
	table *catalog.CatalogTable
}

// lookup finds a table or view.
func (b *Binder) lookup(name sqlparse.ObjectName) (definition, error) {
	id := b.identify(name)
	return b.find(name, fmt.Sprintf("Object '%s' not found within '%s.%s'", id.Object, id.Catalog, id.Database))
}

// find is lookup with what to say of one that is not there.
func (b *Binder) find(name sqlparse.ObjectName, missing string) (definition, error) {
	id := b.identify(name)
	if d, ok := b.definitions[id]; ok {
		return d, nil
	}
	cat, def, err := b.catalogs.Table(b.ctx, id)
	if err != nil {
		var e *catalog.Error
		if errors.As(err, &e) && errors.Is(err, catalog.ErrTableNotExist) {
			return definition{}, &sqlparse.Error{Span: name.Span(), Hint: e.Hint, Msg: missing}
		}
		return definition{}, atName(err, name)
	}
	d := definition{id, cat, def}
	b.definitions[id] = d
	return d, nil
}

// openTable opens a table for the time of planning, once for all its mentions.
func (b *Binder) openTable(d definition, name sqlparse.ObjectName) (*plan.Table, connector.Table, error) {
	if t, ok := b.tables[d.id]; ok {
		return t.table, t.opened, nil
	}
	opened, err := b.catalogs.Registry.Table(b.ctx, d.cat, d.id, d.table)
	if err != nil {
		return nil, nil, atName(err, name)
	}
	t := &plan.Table{ID: d.id, Def: d.table, Columns: d.table.Def(d.id).Schema.Columns,
		StoreKey: d.cat.StoreKey(catalog.ObjectPath{Database: d.id.Database, Object: d.id.Object})}
	if f, ok := opened.(connector.FilterPushDown); ok {
		t.Pushes = f.PushFilter
	}
	b.tables[d.id] = openTable{t, opened}
	return t, opened, nil
}

// identify completes a name. The text of a view that is stored does not know the session's temporary
// objects.
func (b *Binder) identify(name sqlparse.ObjectName) connector.ObjectIdentifier {
	if b.view != nil && !b.view.id.Temporary {
		return b.catalogs.IdentifyPermanent(nameParts(name))
	}
	return b.catalogs.Identify(nameParts(name))
}

func nameParts(name sqlparse.ObjectName) []string {
	parts := make([]string, len(name.Parts))
	for i, p := range name.Parts {
		parts[i] = p.Name
	}
	return parts
}
