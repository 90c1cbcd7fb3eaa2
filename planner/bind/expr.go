package bind

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/planner/plan"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// exprCtx binds the expressions of one clause.
type exprCtx struct {
	b     *Binder
	scope *scope
	// clause names the clause in the error for an aggregate where none may stand.
	clause string
	// aggs collects aggregate calls; nil where none may stand. inAgg says why: inside another one.
	aggs  *aggregates
	inAgg bool
	// attach makes a subquery's value part of the input and returns a reference to it; nil where a
	// subquery may not stand.
	attach func(attachment) (expr.Expr, error)
	// truth is set for a condition of which only matters whether it is TRUE, not for what is inside it.
	truth bool
	// lazy counts the operators around the expression at hand that may leave it unevaluated.
	lazy int
	// aliases are the names of the select list, which ORDER BY sees before the columns.
	aliases *aliases
}

// condition binds an expression that must be BOOLEAN.
func (c *exprCtx) condition(e sqlparse.Expr, clause string) (expr.Expr, error) {
	x, err := c.expr(e)
	if err != nil {
		return nil, err
	}
	if isBareNull(x) {
		return expr.NewLiteral(types.Of(types.Boolean), nil, x.Span()), nil
	}
	if x.Type().Kind != types.Boolean {
		return nil, errAt(e.Span(), "%s clause must be a condition, this is of type %s", clause, x.Type().AsNullable())
	}
	return x, nil
}

// expr binds any expression.
func (c *exprCtx) expr(e sqlparse.Expr) (expr.Expr, error) {
	x, err := c.bind(e)
	if err != nil {
		return nil, positioned(err)
	}
	if plan.Depth(x) > plan.MaxBoundDepth {
		return nil, withHint(errAt(e.Span(), "This expression nests more than %d levels deep", plan.MaxBoundDepth), "compute a part of it in a subquery")
	}
	return x, nil
}

func (c *exprCtx) bind(e sqlparse.Expr) (expr.Expr, error) {
	at := span(e.Span())
	truth := c.truth
	c.truth = false
	switch e := e.(type) {
	case *sqlparse.Literal:
		return literal(e, false)
	case *sqlparse.Interval:
		return interval(e)
	case *sqlparse.ColumnRef:
		return c.columnRef(e)
	case *sqlparse.Unary:
		return c.unary(e)
	case *sqlparse.Binary:
		if e.Op == sqlparse.OpOverlaps {
			return c.overlaps(e)
		}
		return c.binary(e)
	case *sqlparse.Is:
		return c.is(e)
	case *sqlparse.Between:
		return c.between(e)
	case *sqlparse.In:
		if e.Query != nil {
			return c.inQuery(e.X, e.Query, e.Not, truth, at)
		}
		return c.inList(e.X, e.List, e.Not, at)
	case *sqlparse.Like:
		return c.like(e)
	case *sqlparse.Quantified:
		return c.quantified(e, truth)
	case *sqlparse.Exists:
		return c.exists(e)
	case *sqlparse.Subquery:
		return c.scalarSubquery(e)
	case *sqlparse.Case:
		return c.caseWhen(e)
	case *sqlparse.Cast:
		x, err := c.bind(e.X)
		if err != nil {
			return nil, err
		}
		t, err := dataType(e.Type)
		if err != nil {
			return nil, err
		}
		return expr.NewCast(x, t.AsNullable(), e.Try, at)
	case *sqlparse.Call:
		return c.call(e)
	case *sqlparse.Symbol:
		return expr.NewLiteral(types.WithPrecision(types.Char, len(e.Name)), e.Name, at), nil
	case *sqlparse.Star:
		return nil, errAt(e.Span(), "* can stand only as an item of the select list and in COUNT(*)")
	case *sqlparse.Row:
		return c.construct("ROW", e.Items, at)
	case *sqlparse.Field:
		return c.field(e)
	case *sqlparse.Index:
		return c.item(e)
	case *sqlparse.Collection:
		return c.collection(e)
	case *sqlparse.JSONCall:
		return c.jsonCall(e)
	case *sqlparse.NamedArg:
		return nil, withHint(errAt(e.Span(), "The arguments of the system's functions have no names"), "give them in their order, without =>")
	case *sqlparse.DefaultArg:
		return nil, notYet(e.Span(), "DEFAULT as an argument")
	case *sqlparse.Descriptor:
		return nil, notYet(e.Span(), "DESCRIPTOR")
	case *sqlparse.TableArg:
		return nil, notYet(e.Span(), "A table as an argument")
	}
	return nil, notYet(e.Span(), "this kind of expression")
}

// all binds a list of expressions.
func (c *exprCtx) all(list ...sqlparse.Expr) ([]expr.Expr, error) {
	out := make([]expr.Expr, 0, len(list))
	for _, e := range list {
		x, err := c.bind(e)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// lazily binds expressions that are evaluated only for some of the rows.
func (c *exprCtx) lazily(list ...sqlparse.Expr) ([]expr.Expr, error) {
	c.lazy++
	defer func() { c.lazy-- }()
	return c.all(list...)
}

// firstAlways binds expressions of which only the first, if always is set, is evaluated for every row.
func (c *exprCtx) firstAlways(always bool, list ...sqlparse.Expr) ([]expr.Expr, error) {
	if !always || len(list) == 0 {
		return c.lazily(list...)
	}
	first, err := c.bind(list[0])
	if err != nil {
		return nil, err
	}
	rest, err := c.lazily(list[1:]...)
	return append([]expr.Expr{first}, rest...), err
}

func (c *exprCtx) columnRef(e *sqlparse.ColumnRef) (expr.Expr, error) {
	if c.aliases != nil && len(e.Parts) == 1 {
		if x, err := c.aliases.find(e.Parts[0]); x != nil || err != nil {
			return x, err
		}
	}
	x, err := c.scope.resolve(e)
	if err == nil {
		c.b.rewrites.column(e, c.scope)
	}
	return x, err
}
