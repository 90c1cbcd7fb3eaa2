package bind

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/planner/plan"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// A subquery used as a value becomes a join of the input with what the subquery gives, and the value a
// column of that join. Columns are added behind those of the input, so that expressions bound before stay
// right. Where the input is not known yet (a SELECT that may group) the join waits, and a placeholder
// column stands for the value until select.go resolves it.

// attachment is a subquery's value that waits to be joined to its input.
type attachment struct {
	typ types.Type // of the value
	at  expr.Span
	// operand is the left side of IN, over the input's columns; nil for the others.
	operand expr.Expr
	// join adds the subquery to the input, of which operand (resolved by then) is an expression, and
	// returns the new input and the value over it.
	join func(in plan.Node, operand expr.Expr) (plan.Node, expr.Expr, error)
}

// attached joins an attachment to a known input at once.
func attached(in *plan.Node, a attachment) (expr.Expr, error) {
	node, x, err := a.join(*in, a.operand)
	if err != nil {
		return nil, err
	}
	*in = node
	return x, nil
}

func (c *exprCtx) attachSubquery(at sqlparse.Span, what string, a attachment) (expr.Expr, error) {
	if c.attach == nil {
		return nil, notYet(at, "A subquery in the "+c.clause)
	}
	c.b.noStream(at, what)
	a.at = span(at)
	return c.attach(a)
}

// scalarSubquery binds (SELECT …) as a value.
func (c *exprCtx) scalarSubquery(e *sqlparse.Subquery) (expr.Expr, error) {
	r, err := c.b.query(e.Query, c.scope)
	if err != nil {
		return nil, err
	}
	if len(r.Columns) != 1 {
		return nil, errAt(e.Span(), "A subquery used as a value must have one column, this has %d", len(r.Columns))
	}
	if c.lazy > 0 {
		if err := needless(r.Node, e.Span()); err != nil {
			return nil, err
		}
	}
	t := r.Node.Schema().Columns[0].Type.AsNullable()
	x, err := c.attachSubquery(e.Span(), "A subquery used as a value", attachment{typ: t, join: func(in plan.Node, _ expr.Expr) (plan.Node, expr.Expr, error) {
		j := plan.NewJoin(job.Inner, in, plan.NewSingleRow(r.Node, span(e.Span())), nil, nil, nil)
		return j, lastColumn(j, span(e.Span())), nil
	}})
	if err == nil && r.Columns[0].Null { // it is joined all the same: it may have more than one row
		return expr.NewLiteral(types.Of(types.Null), nil, span(e.Span())), nil
	}
	return x, err
}

// needless refuses a subquery that may fail where its value may not be needed: it is computed once, before
// the rows that may need it.
func needless(n plan.Node, at sqlparse.Span) error {
	const where = ", and it stands where its value is not needed for every row"
	if !plan.AtMostOne(n) {
		return withHint(errAt(at, "This subquery may give more than one row"+where), "use an aggregate such as MAX, or LIMIT 1, or put the subquery into FROM")
	}
	if !plan.Sound(n) {
		return withHint(errAt(at, "This subquery may fail"+where), "put the subquery into FROM, or let it give NULL instead, as NULLIF and TRY_CAST do")
	}
	return nil
}

func lastColumn(n plan.Node, at expr.Span) expr.Expr {
	c := plan.ColumnOf(n, plan.Width(n)-1)
	c.At = at
	return c
}

// exists binds EXISTS (…): whether the count of at most one row is above zero.
func (c *exprCtx) exists(e *sqlparse.Exists) (expr.Expr, error) {
	r, err := c.b.query(e.Query, c.scope)
	if err != nil {
		return nil, err
	}
	at := span(e.Span())
	one, err := countRows(plan.NewLimit(r.Node, 1, 0), at)
	if err != nil {
		return nil, err
	}
	t := types.Of(types.Boolean).AsNotNull()
	return c.attachSubquery(e.Span(), "EXISTS", attachment{typ: t, join: func(in plan.Node, _ expr.Expr) (plan.Node, expr.Expr, error) {
		j := plan.NewJoin(job.Inner, in, one, nil, nil, nil)
		x, err := expr.NewCall(">", []expr.Expr{lastColumn(j, at), expr.NewLiteral(types.Of(types.BigInt), int64(0), at)}, at)
		return j, x, err
	}})
}

// countRows is SELECT COUNT(*), COUNT(each of columns) over in.
func countRows(in plan.Node, at expr.Span, columns ...int) (plan.Node, error) {
	names := []string{"count"}
	all, err := expr.NewAggregate("COUNT", nil, false, nil, at)
	if err != nil {
		return nil, err
	}
	calls := []*expr.AggCall{all}
	for _, i := range columns {
		n, err := expr.NewAggregate("COUNT", []expr.Expr{plan.ColumnOf(in, i)}, false, nil, at)
		if err != nil {
			return nil, err
		}
		calls, names = append(calls, n), append(names, "values")
	}
	return plan.NewAggregate(in, nil, calls, names), nil
}

// inQuery binds x [NOT] IN (query). truth says that it only matters whether the value is TRUE: FALSE may
// stand for NULL, and nothing needs to be counted.
func (c *exprCtx) inQuery(left sqlparse.Expr, q sqlparse.Query, negated, truth bool, at expr.Span) (expr.Expr, error) {
	place := sqlparse.Span{Start: int(at.Start), End: int(at.End)}
	x, err := c.bind(left)
	if err != nil {
		return nil, err
	}
	if c.lazy > 0 && expr.Fallible(x) {
		return nil, withHint(errAt(left.Span(), "The left side of this IN may fail, and it stands where it is not evaluated for every row"),
			"move the IN out of AND, OR, CASE or the function around it, into a subquery of its own")
	}
	values, err := c.inValues(x, q, place)
	if err != nil {
		return nil, err
	}
	y := values.Node.Schema().Columns[0].Type
	plain := !x.Type().Nullable() && !y.Nullable() || truth && !negated
	var counts plan.Node
	if !plain {
		if counts, err = c.inCounts(x, q, place); err != nil {
			return nil, err
		}
	}
	t := types.Of(types.Boolean).WithNullable(!plain)
	in, err := c.attachSubquery(place, "IN with a subquery", attachment{typ: t, operand: x, join: func(in plan.Node, x expr.Expr) (plan.Node, expr.Expr, error) {
		return joinIn(in, x, values.Node, counts, at)
	}})
	if err != nil {
		return nil, err
	}
	return not(in, negated)
}

// maxRepeats bounds how often the queries of IN are planned a second time inside another one's second
// time: with each IN inside an IN their number doubles.
const maxRepeats = 1000

// inCounts binds the query of an IN a second time, as a plan is a tree, and counts its rows and its values.
func (c *exprCtx) inCounts(x expr.Expr, q sqlparse.Query, at sqlparse.Span) (plan.Node, error) {
	if c.b.again > 0 {
		if c.b.repeats++; c.b.repeats > maxRepeats {
			return nil, withHint(errAt(at, "Too many subqueries of IN stand inside each other where NULL is possible"),
				"leave NULLs out with WHERE … IS NOT NULL, or write the result of one into a table first")
		}
	}
	c.b.again++
	defer func() { c.b.again-- }()
	r, err := c.inValues(x, q, at)
	if err != nil {
		return nil, err
	}
	return countRows(r.Node, span(at), 0)
}

// inValues binds the query of an IN.
func (c *exprCtx) inValues(x expr.Expr, q sqlparse.Query, at sqlparse.Span) (*Relation, error) {
	r, err := c.b.query(q, c.scope)
	if err != nil {
		return nil, err
	}
	if len(r.Columns) != 1 {
		return nil, errAt(at, "The subquery of IN must have one column, this has %d", len(r.Columns))
	}
	if r.Columns[0].Null {
		// A bare NULL takes the type of what it is compared with.
		null := expr.Expr(expr.NewLiteral(x.Type().AsNullable(), nil, span(at)))
		if isBareNull(x) {
			null = typed(null)
		}
		r.Node = plan.NewProject(r.Node, []expr.Expr{null}, []string{r.Columns[0].Name})
		r.Columns[0].Null = false
	}
	return r, nil
}

// joinIn joins the distinct values of an IN to its input, as a left join that adds at most one match a
// row, and computes the value of IN from whether there is one:
//
//	CASE WHEN count = 0 THEN FALSE WHEN match THEN TRUE WHEN x IS NULL OR values < count THEN NULL ELSE FALSE END
//
// where count counts the subquery's rows and values those that are not NULL. Without counts there is no
// NULL on either side, and the match alone decides.
func joinIn(in plan.Node, x expr.Expr, values, counts plan.Node, at expr.Span) (plan.Node, expr.Expr, error) {
	width := plan.Width(in)
	if isBareNull(x) {
		x = typed(x)
	}
	// The pair is typed as the comparison of x with the column behind the input's.
	y := plan.ColumnOf(values, 0)
	y.Index, y.At = width, at
	eq, err := expr.NewCall("=", []expr.Expr{x, y}, at)
	if err != nil {
		return nil, nil, err
	}
	args := eq.(*expr.Call).Args
	left, right := args[0], expr.Shift(args[1], -width)
	match := expr.NewLiteral(types.Of(types.Boolean), true, at)
	keys := plan.NewDistinct(plan.NewProject(values, []expr.Expr{right}, []string{"value"}))
	marked := plan.NewProject(keys, []expr.Expr{plan.ColumnOf(keys, 0), match}, []string{"value", "match"})
	j := plan.NewJoin(job.Left, in, marked, []expr.Expr{left}, []expr.Expr{plan.ColumnOf(marked, 0)}, nil)
	matched, err := expr.NewCall("IS NOT NULL", []expr.Expr{lastColumn(j, at)}, at)
	if err != nil || counts == nil {
		return j, matched, err
	}
	c := plan.NewJoin(job.Inner, j, counts, nil, nil, nil)
	count, nonNull := plan.ColumnOf(c, width+2), plan.ColumnOf(c, width+3)
	no := expr.NewLiteral(types.Of(types.Boolean), false, at)
	build := callBuilder{at: at}
	value := build.call("CASE",
		build.call("=", count, expr.NewLiteral(types.Of(types.BigInt), int64(0), at)), no,
		matched, match,
		build.call("OR", build.call("IS NULL", x), build.call("<", nonNull, count)), expr.NewLiteral(types.Of(types.Boolean), nil, at),
		no)
	return c, value, build.err
}
