package bind

import (
	"errors"
	"fmt"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/planner/plan"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// declaredColumns gives the columns that a table declares, in their order, over a scan of those that can be
// read from the store. Computed ones are computed here; where nothing needs one, pruning leaves it out.
func (b *Binder) declaredColumns(d definition, r *Relation, name sqlparse.ObjectName) (*Relation, error) {
	if len(d.table.Virtual) == 0 {
		return r, nil
	}
	var exprs []expr.Expr
	var names []string
	out := &Relation{}
	s := newScope(r.Node, scopeTable{}, r.Node.Schema().Names(), nil, nil)
	physical, metadata := 0, len(d.table.Schema.Columns)
	for _, c := range d.table.Columns() {
		var x expr.Expr
		switch {
		case c.Virtual == nil:
			x = plan.ColumnOf(r.Node, physical)
			physical++
		case c.Virtual.Key != "":
			x = plan.ColumnOf(r.Node, metadata)
			metadata++
		default:
			var err error
			if x, err = b.computedColumn(d, c, s); err != nil {
				return nil, b.ofColumn(err, d, c.Name, name)
			}
			b.computes = true
		}
		exprs, names = append(exprs, x), append(names, c.Name)
		out.Columns = append(out.Columns, Column{Name: c.Name, At: name.Span()})
	}
	out.Node = plan.NewProject(r.Node, exprs, names)
	return out, nil
}

// computedColumn binds the expression of a computed column as it was stored.
func (b *Binder) computedColumn(d definition, c catalog.Column, s *scope) (expr.Expr, error) {
	x, err := b.storedExpr(c.Virtual.Expr, s, fmt.Sprintf("column %s of table %s", c.Name, d.id), d.id)
	if err != nil {
		return nil, err
	}
	return coerce(x, c.Type.WithNullable(x.Type().Nullable()))
}

// storedExpr binds an expression that was stored as text over the columns of a table. name names the text, of the table.
func (b *Binder) storedExpr(text string, s *scope, name string, of connector.ObjectIdentifier) (expr.Expr, error) {
	e, err := parseExpr(text)
	if err != nil {
		return nil, err
	}
	c := &exprCtx{b: b, scope: s, clause: computedClause}
	x, err := c.expr(e)
	if err != nil {
		return nil, err
	}
	return plan.MapExprSpans(x, b.texts.moved(name, text, of, len(selectPrefix))), nil
}

// computedClause is what errors call the expression of a computed column.
const computedClause = "expression of a computed column"

// ofColumn makes an error in the text of a computed column one at the table's name.
func (b *Binder) ofColumn(err error, d definition, column string, name sqlparse.ObjectName) error {
	var msg, hint string
	var parse *sqlparse.Error
	var typ *expr.Error
	switch {
	case errors.As(err, &parse):
		msg, hint = parse.Msg, parse.Hint
	case errors.As(err, &typ):
		msg, hint = typ.Msg, typ.Hint
	default:
		return err
	}
	return &sqlparse.Error{Span: name.Span(), Msg: fmt.Sprintf("Table %s: computed column '%s': %s", d.id, column, msg), Hint: hint}
}

// columnScope is the scope of columns of a table that is being defined.
func columnScope(columns []types.Column) *scope {
	n := plan.NewValues(columns, nil)
	return newScope(n, scopeTable{}, n.Schema().Names(), nil, nil)
}
