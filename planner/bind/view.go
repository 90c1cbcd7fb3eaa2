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

// maxViews is how deep views may read one another.
const maxViews = 100

// viewScope is a view whose text is being bound, inside those that led to it.
type viewScope struct {
	id    connector.ObjectIdentifier
	outer *viewScope
	depth int
}

// viewQuery binds a view: its text alone, which knows nothing of the statement around it. What is wrong
// with the text is an error at the view's name.
func (b *Binder) viewQuery(d definition, name sqlparse.ObjectName) (*Relation, error) {
	inner := &viewScope{id: d.id, outer: b.view, depth: 1}
	if b.view != nil {
		inner.depth += b.view.depth
	}
	for v := b.view; v != nil; v = v.outer {
		if v.id == d.id {
			return nil, errAt(name.Span(), "View %s reads itself", d.id)
		}
	}
	if inner.depth > maxViews {
		return nil, errAt(name.Span(), "View %s is the end of a chain of more than %d views that read one another", d.id, maxViews)
	}
	if b.uses++; b.uses > maxUses {
		return nil, withHint(errAt(name.Span(), "The queries of views are used more than %d times in this statement", maxUses), "write the result of one into a table first")
	}
	q, err := parseQuery(d.table.View.Expanded)
	if err != nil {
		return nil, ofView(err, d.id, name)
	}
	with, view, rewrites := b.with, b.view, b.rewrites
	b.with, b.view, b.rewrites = nil, inner, nil
	defer func() { b.with, b.view, b.rewrites = with, view, rewrites }()
	before := b.limits
	r, err := b.query(q, nil)
	b.limits = b.limits.ofView(before, d.id, name)
	if err != nil {
		return nil, ofView(err, d.id, name)
	}
	r.Node = b.texts.movedPlan(r.Node, "view "+d.id.String(), d.table.View.Expanded, d.id)
	return b.viewColumns(d, r, name)
}

// viewColumns gives the columns of a view's query the names and types that they had when it was made.
func (b *Binder) viewColumns(d definition, r *Relation, name sqlparse.ObjectName) (*Relation, error) {
	stored := d.table.Schema.Columns
	if len(stored) != len(r.Columns) {
		return nil, errAt(name.Span(), "View %s: its query has %s, and had %d when it was made", d.id, count(len(r.Columns), "column"), len(stored))
	}
	exprs, names := make([]expr.Expr, len(stored)), make([]string, len(stored))
	cast := false
	for i, c := range stored {
		x := r.column(i)
		have := x.Type()
		y, err := coerce(x, c.Type.WithNullable(have.Nullable()))
		if err != nil {
			return nil, withHint(errAt(name.Span(), "View %s: Column '%s' is %s now, and was %s when the view was made", d.id, c.Name, have.AsNullable(), c.Type.AsNullable()),
				"ALTER VIEW … AS makes the view anew")
		}
		exprs[i], names[i] = y, c.Name
		cast = cast || y != x
	}
	node := r.Node
	if cast {
		node = plan.NewProject(node, exprs, names)
	}
	out := &Relation{Node: node}
	for _, c := range stored {
		out.Columns = append(out.Columns, Column{Name: c.Name, At: name.Span()})
	}
	return out, nil
}

// ofView makes an error in a view's text one at the view's name.
func ofView(err error, id connector.ObjectIdentifier, name sqlparse.ObjectName) error {
	var e *sqlparse.Error
	if !errors.As(err, &e) {
		return err
	}
	return &sqlparse.Error{Span: name.Span(), Msg: fmt.Sprintf("View %s: %s", id, e.Msg), Hint: e.Hint}
}

// mayRead refuses what an object that is stored must not read.
func (b *Binder) mayRead(d definition, name sqlparse.ObjectName) error {
	if b.permanent == "" || b.view != nil || !d.id.Temporary {
		return nil
	}
	kind := "table"
	if d.table.Kind == catalog.KindView {
		kind = "view"
	}
	return withHint(errAt(name.Span(), "%s that is stored cannot read the temporary %s %s, which goes with the session", b.permanent, kind, d.id),
		"CREATE TEMPORARY VIEW can")
}
