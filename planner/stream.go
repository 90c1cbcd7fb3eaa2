package planner

import (
	"context"

	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/planner/optimize"
	"github.com/sluice-sql/sluice/planner/plan"
	"github.com/sluice-sql/sluice/sqlparse"
)

// stream makes the plan that runs of the one that was bound, in streaming mode. Columns that nobody needs are
// gone in any case, so that what a query changes does not depend on the optimiser.
func (p *Plan) stream(ctx context.Context, env *Env) error {
	said := ticking(p.bound)
	p.pruned = optimize.Prune(said)
	p.root = p.pruned
	if e := plan.Unrepeatable(p.pruned, plan.Changelog(p.pruned, true)); e != nil {
		return unrepeatable(e, env)
	}
	var err error
	if env.Options.Optimize {
		p.root, err = optimize.OptimizeStream(ctx, said, env.Expr)
	}
	return err
}

// unrepeatable refuses an expression that decides about rows which are taken back, with another value each
// time. What stands in the text of a view has no place in the statement: the error is at its beginning.
func unrepeatable(e expr.Expr, env *Env) error {
	text, at := expr.String(e), sqlparse.Span{}
	if s := e.Span(); s.Source == 0 {
		at = sqlparse.Span{Start: int(s.Start), End: int(s.End)}
		text = env.Texts[0].SQL[at.Start:at.End]
	}
	return &sqlparse.Error{Span: at, Hint: "use it before the rows are grouped, or for columns that nothing is filtered or grouped by",
		Msg: "'" + text + "' has another value each time, and rows that are updated are taken back by their values, which is not supported in streaming mode"}
}

// ticking returns the plan of a streaming job, in which the functions of the clock tell the time at which a
// row is worked on, and not that at which the job began: the job may have no end.
func ticking(n plan.Node) plan.Node {
	return plan.MapExprs(n, func(e expr.Expr) expr.Expr { return expr.Rewrite(e, tick) })
}

func tick(e expr.Expr) expr.Expr {
	c, ok := e.(*expr.Call)
	if !ok || len(c.Args) > 0 {
		return e
	}
	switch c.Func.Name {
	case "CURRENT_TIMESTAMP", "LOCALTIMESTAMP", "CURRENT_DATE", "CURRENT_TIME", "LOCALTIME":
	default:
		return e
	}
	now, err := expr.NewCall("CURRENT_ROW_TIMESTAMP", nil, c.At)
	if err == nil {
		now, err = expr.NewCast(now, c.T, false, c.At)
	}
	if err != nil || !now.Type().Equal(c.T) {
		panic("the instant of a row is no " + c.T.String())
	}
	return now
}
