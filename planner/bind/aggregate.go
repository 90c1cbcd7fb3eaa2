package bind

import (
	"errors"
	"strings"

	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/planner/plan"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// Expressions behind GROUP BY are bound over the input's columns first. An aggregate call in them, and a
// subquery, is a placeholder: a column beyond all others. When the grouping is known the expressions are
// rewritten over its output.
const (
	subqueryBase  = 1 << 29 // + number of the attachment
	aggregateBase = 1 << 30 // + number of the call
)

// aggregates are the aggregate calls of one SELECT.
type aggregates struct {
	calls []*expr.AggCall
	names []string
	// attach joins subqueries inside the calls' arguments to the input, before it is grouped.
	attach func(attachment) (expr.Expr, error)
}

// aggregate binds a call of an aggregate function and returns its placeholder.
func (c *exprCtx) aggregate(e *sqlparse.Call, name string) (expr.Expr, error) {
	switch {
	case c.inAgg:
		return nil, errAt(e.Span(), "Aggregate expressions cannot be nested")
	case c.aggs == nil:
		err := errAt(e.Span(), "Aggregate expression is illegal in %s", c.clause)
		if c.clause == "WHERE clause" {
			err.Hint = "a condition on groups of rows is written in HAVING, behind GROUP BY"
		}
		return nil, err
	case e.Star && name != "COUNT":
		return nil, errAt(e.Span(), "%s(*) is not possible, only COUNT(*)", name)
	case name == "COUNT" && !e.Star && len(e.Args) == 0:
		return nil, withHint(errAt(e.Span(), "Invalid number of arguments to function 'COUNT'. Was expecting at least 1 argument, got 0"), "COUNT(*) counts rows")
	}
	inner := &exprCtx{b: c.b, scope: c.scope, clause: "argument of an aggregate", inAgg: true, attach: c.aggs.attach}
	if e.Filter != nil {
		inner.lazy++ // arguments are evaluated for the rows that the filter lets through
	}
	var args []expr.Expr
	for _, a := range e.Args {
		x, err := inner.expr(a)
		if err != nil {
			return nil, err
		}
		args = append(args, x)
	}
	var err error
	var filter expr.Expr
	if e.Filter != nil {
		inner.lazy--
		if filter, err = inner.condition(e.Filter, "FILTER"); err != nil {
			return nil, err
		}
	}
	call, err := expr.NewAggregate(name, args, e.Distinct, filter, span(e.Span()))
	if err != nil {
		return nil, err
	}
	for _, k := range call.Func.Constants {
		if k >= len(args) {
			continue
		}
		if _, ok := args[k].(*expr.Literal); !ok {
			return nil, withHint(errAt(e.Args[k].Span(), "This argument of %s must be a literal", name), "%s", call.Func.Syntax)
		}
	}
	x := c.aggs.add(call)
	if (name == "MIN" || name == "MAX") && isBareNull(args[0]) {
		return expr.NewLiteral(types.Of(types.Null), nil, span(e.Span())), nil
	}
	return x, nil
}

// add registers a call, once for equal ones, and returns its placeholder.
func (a *aggregates) add(call *expr.AggCall) expr.Expr {
	k := -1
	for i, other := range a.calls {
		if sameCall(call, other) {
			k = i
		}
	}
	if k < 0 {
		k = len(a.calls)
		a.calls = append(a.calls, call)
		a.names = append(a.names, expr.AggString(call))
	}
	return &expr.Column{Index: aggregateBase + k, Name: a.names[k], T: a.calls[k].T, At: call.At}
}

func sameCall(a, b *expr.AggCall) bool {
	if a.Func != b.Func || a.Distinct != b.Distinct || len(a.Args) != len(b.Args) || (a.Filter == nil) != (b.Filter == nil) {
		return false
	}
	for i := range a.Args {
		if !expr.Equal(a.Args[i], b.Args[i]) || expr.Volatile(a.Args[i]) {
			return false
		}
	}
	return a.Filter == nil || expr.Equal(a.Filter, b.Filter) && !expr.Volatile(a.Filter)
}

const groupingHint = "write a query for each grouping, with NULL for the columns that it leaves out, and UNION ALL between them"

// groupKeys binds the elements of GROUP BY. items are the select list, which a number refers to.
func (c *exprCtx) groupKeys(g *sqlparse.GroupBy, items []selectItem) (keys []expr.Expr, err error) {
	if g.Distinct {
		return nil, notYet(g.Span(), "GROUP BY DISTINCT")
	}
	var null expr.Expr
	defer func() {
		if err == nil && len(keys) == 0 && null != nil {
			keys = []expr.Expr{typed(null)} // without a key no rows would be a group as well
		}
	}()
	add := func(k expr.Expr) {
		if isBareNull(k) {
			null = k // the same for all rows
			return
		}
		for _, other := range keys {
			if expr.Equal(k, other) {
				return
			}
		}
		keys = append(keys, k)
	}
	if g.AllColumns {
		for _, it := range items {
			if !hasPlaceholder(it.expr) {
				add(it.expr)
			}
		}
		return keys, nil
	}
	for _, item := range g.Items {
		switch item.Kind {
		case sqlparse.GroupRollup:
			return nil, withHint(notYet(item.Span(), "ROLLUP"), groupingHint)
		case sqlparse.GroupCube:
			return nil, withHint(notYet(item.Span(), "CUBE"), groupingHint)
		case sqlparse.GroupSets:
			return nil, withHint(notYet(item.Span(), "GROUPING SETS"), groupingHint)
		}
		for _, e := range item.Exprs {
			if n, ok, err := ordinal(e, len(items)); err != nil {
				return nil, err
			} else if ok && item.Kind == sqlparse.GroupExpr {
				k := items[n].expr
				if hasPlaceholder(k) {
					return nil, errAt(e.Span(), "Column %d of the select list holds an aggregate or a subquery; GROUP BY cannot refer to it by number", n+1)
				}
				add(k)
				continue
			}
			k, err := c.expr(e)
			if err != nil {
				return nil, c.groupAlias(err, e, items)
			}
			add(k)
		}
	}
	return keys, nil
}

// groupAlias adds to the error for an unknown column that the name is an alias, which GROUP BY does not see.
func (c *exprCtx) groupAlias(err error, e sqlparse.Expr, items []selectItem) error {
	ref, ok := e.(*sqlparse.ColumnRef)
	se, isSQL := err.(*sqlparse.Error)
	if !ok || !isSQL || len(ref.Parts) != 1 || len(c.scope.lookup(ref)) > 0 {
		return err
	}
	for i, it := range items {
		if it.name == ref.Parts[0].Name {
			return withHint(se, "it is an alias of the select list: write the expression, or its position %d", i+1)
		}
	}
	return err
}

// havingAlias adds to the error for an unknown column of HAVING that the name is an alias.
func (c *exprCtx) havingAlias(err error, items []selectItem) error {
	var e *sqlparse.Error
	if !errors.As(err, &e) {
		return err
	}
	for _, it := range items {
		if it.alias && it.name != "" && strings.HasPrefix(e.Msg, "Column '"+it.name+"' not found") {
			return withHint(e, "it is an alias of the select list, which HAVING does not see: write the expression")
		}
	}
	return err
}

func hasPlaceholder(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(e expr.Expr) bool {
		if c, ok := e.(*expr.Column); ok && c.Index >= subqueryBase {
			found = true
		}
		return !found
	})
	return found
}

// resolver rewrites bound expressions over the node that they are evaluated over: the grouped one, or the
// input joined with subqueries.
type resolver struct {
	keys    []expr.Expr // nil where nothing is grouped
	node    plan.Node   // the grouped node
	grouped bool
	subs    []expr.Expr // the values of the attachments joined so far
}

func (r *resolver) resolve(e expr.Expr) (expr.Expr, error) {
	if r.grouped && !isBareNull(e) {
		for i, k := range r.keys {
			if expr.Equal(e, k) {
				c := plan.ColumnOf(r.node, i)
				c.At = e.Span()
				return c, nil
			}
		}
	}
	switch x := e.(type) {
	case *expr.Column:
		switch {
		case x.Index >= aggregateBase:
			c := plan.ColumnOf(r.node, len(r.keys)+x.Index-aggregateBase)
			c.At = x.At
			return c, nil
		case x.Index >= subqueryBase:
			return r.subs[x.Index-subqueryBase], nil
		case r.grouped:
			return nil, &expr.Error{Span: x.At, Row: -1, Msg: "Expression '" + x.Name + "' is not being grouped",
				Hint: "add it to GROUP BY, or put it into an aggregate such as MAX(…)"}
		}
		return e, nil
	case *expr.Call:
		var args []expr.Expr
		for i, a := range x.Args {
			y, err := r.resolve(a)
			if err != nil {
				return nil, err
			}
			if y != a && args == nil {
				args = append([]expr.Expr(nil), x.Args...)
			}
			if args != nil {
				args[i] = y
			}
		}
		if args == nil {
			return e, nil
		}
		c := *x
		c.Args = args
		return &c, nil
	case *expr.Cast:
		y, err := r.resolve(x.Arg)
		if err != nil || y == x.Arg {
			return e, err
		}
		c := *x
		c.Arg = y
		return &c, nil
	}
	return e, nil
}

// join joins the waiting attachments to in, in order.
func (r *resolver) join(in plan.Node, waiting []attachment) (plan.Node, error) {
	for _, a := range waiting {
		operand := a.operand
		var err error
		if operand != nil {
			if operand, err = r.resolve(operand); err != nil {
				return nil, err
			}
		}
		var x expr.Expr
		if in, x, err = a.join(in, operand); err != nil {
			return nil, err
		}
		r.subs = append(r.subs, x)
	}
	return in, nil
}
