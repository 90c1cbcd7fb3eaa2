package bind

import (
	"strconv"
	"strings"

	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/planner/plan"
	"github.com/sluice-sql/sluice/sqlparse"
)

// aliases are the names that ORDER BY gives to items of the select list.
type aliases struct{ byName map[string][]expr.Expr }

func newAliases(items []selectItem) *aliases {
	a := &aliases{byName: map[string][]expr.Expr{}}
	for _, it := range items {
		if !it.alias {
			continue
		}
		same := false
		for _, e := range a.byName[it.name] {
			same = same || expr.Equal(e, it.expr)
		}
		if !same {
			a.byName[it.name] = append(a.byName[it.name], it.expr)
		}
	}
	return a
}

func (a *aliases) find(name sqlparse.Ident) (expr.Expr, error) {
	switch found := a.byName[name.Name]; len(found) {
	case 0:
		return nil, nil
	case 1:
		return found[0], nil
	}
	return nil, withHint(errAt(name.Span(), "Column '%s' is ambiguous", name.Name), "several columns of the select list have this name")
}

// sortKeys binds ORDER BY over the input of a SELECT: a number is a position in the select list, a name an
// alias of it or else a column.
func (c *exprCtx) sortKeys(order []sqlparse.OrderItem, items []selectItem) ([]plan.SortKey, error) {
	var keys []plan.SortKey
	for i := range order {
		o := &order[i]
		n, ok, err := ordinal(o.Expr, len(items))
		if err != nil {
			return nil, err
		}
		var x expr.Expr
		if ok {
			x = items[n].expr
		} else if x, err = c.expr(o.Expr); err != nil {
			return nil, err
		}
		if !x.Type().Comparable() {
			return nil, errAt(o.Expr.Span(), "Values of type %s have no order", x.Type().AsNullable())
		}
		keys = append(keys, sortKey(x, o))
	}
	return keys, nil
}

func sortKey(x expr.Expr, o *sqlparse.OrderItem) plan.SortKey {
	k := plan.SortKey{Expr: x, Desc: o.Desc, NullsLast: o.Desc} // NULL sorts lowest
	if o.Nulls != sqlparse.NullsDefault {
		k.NullsLast = o.Nulls == sqlparse.NullsLast
	}
	return k
}

// noOrder notes that streaming mode does not sort.
func (b *Binder) noOrder(order []sqlparse.OrderItem) {
	if len(order) > 0 {
		b.noStream(sqlparse.Span{Start: order[0].Expr.Span().Start, End: order[len(order)-1].Expr.Span().End}, "ORDER BY")
	}
}

// ordinal reads an expression that is a mere number as a position among n columns, from 0.
func ordinal(e sqlparse.Expr, n int) (int, bool, error) {
	l, ok := e.(*sqlparse.Literal)
	if !ok || l.Kind != sqlparse.NumberLiteral || strings.Contains(l.Text, ".") {
		return 0, false, nil
	}
	i, err := strconv.Atoi(l.Text)
	if err != nil || i < 1 || i > n {
		return 0, false, withHint(errAt(e.Span(), "Ordinal out of range"), "the select list has %s", count(n, "column"))
	}
	return i - 1, true, nil
}

// orderOutput sorts a query that is no SELECT by its output columns.
func (b *Binder) orderOutput(r *Relation, order []sqlparse.OrderItem, parent *scope) error {
	b.noOrder(order)
	_, sc, err := derived(&Relation{Node: r.Node, Columns: r.Columns}, nil, scopeTable{}, parent)
	if err != nil {
		return err
	}
	c := &exprCtx{b: b, scope: sc, clause: "ORDER BY clause"}
	items := make([]selectItem, len(r.Columns))
	for i := range items {
		items[i] = selectItem{expr: plan.ColumnOf(r.Node, i)}
	}
	keys, err := c.sortKeys(order, items)
	if err != nil {
		return err
	}
	for i := range keys {
		keys[i].Expr = typed(keys[i].Expr)
	}
	r.Node = plan.NewSort(r.Node, keys, -1, 0)
	return nil
}
