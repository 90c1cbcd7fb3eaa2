package optimize

import (
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/planner/plan"
)

// mergeProjects makes one projection of two, unless an expression would be computed more than once.
func mergeProjects(n plan.Node, _ *expr.Env) (plan.Node, bool) {
	upper, ok := n.(*plan.Project)
	if !ok {
		return n, false
	}
	lower, ok := upper.Input.(*plan.Project)
	if !ok {
		return n, false
	}
	uses := make([]int, len(lower.Exprs))
	for _, e := range upper.Exprs {
		if !fits(e, lower.Exprs) {
			return n, false
		}
		expr.Walk(e, func(e expr.Expr) bool {
			if c, ok := e.(*expr.Column); ok {
				uses[c.Index]++
			}
			return true
		})
	}
	for i, e := range lower.Exprs {
		if uses[i] > 1 && !cheap(e) {
			return n, false
		}
	}
	exprs := make([]expr.Expr, len(upper.Exprs))
	for i, e := range upper.Exprs {
		exprs[i] = substitute(e, lower.Exprs)
	}
	return plan.NewProject(lower.Input, exprs, upper.Schema().Names()), true
}

// cheap reports whether an expression costs nothing to evaluate again.
func cheap(e expr.Expr) bool {
	switch e.(type) {
	case *expr.Column, *expr.Literal:
		return true
	}
	return false
}

// trivialProject removes a projection that gives its input's columns as they are; what it calls them
// matters to nobody above.
func trivialProject(n plan.Node, _ *expr.Env) (plan.Node, bool) {
	p, ok := n.(*plan.Project)
	if !ok || len(p.Exprs) != plan.Width(p.Input) {
		return n, false
	}
	for i, e := range p.Exprs {
		if c, ok := e.(*expr.Column); !ok || c.Index != i {
			return n, false
		}
	}
	return p.Input, true
}

// projectScan reads the columns of a table in the order that is wanted.
func projectScan(n plan.Node, _ *expr.Env) (plan.Node, bool) {
	p, ok := n.(*plan.Project)
	if !ok {
		return n, false
	}
	s, ok := p.Input.(*plan.Scan)
	if !ok {
		return n, false
	}
	columns := make([]int, len(p.Exprs))
	seen := map[int]bool{}
	for i, e := range p.Exprs {
		c, ok := e.(*expr.Column)
		if !ok || seen[c.Index] {
			return n, false
		}
		seen[c.Index] = true
		columns[i] = s.Columns[c.Index]
	}
	return plan.NewScan(s.Table, columns, s.Filters, s.Limit), true
}

// evaluateValues computes a projection of constant rows now. If that fails it is left for the job, where
// it fails only if the rows are needed.
func evaluateValues(n plan.Node, env *expr.Env) (plan.Node, bool) {
	p, ok := n.(*plan.Project)
	if !ok {
		return n, false
	}
	v, ok := p.Input.(*plan.Values)
	if !ok {
		return n, false
	}
	steps := make([]*expr.Evaluator, len(p.Exprs))
	for i, e := range p.Exprs {
		if expr.Volatile(e) {
			return n, false
		}
		var err error
		if steps[i], err = expr.Compile(e, env); err != nil {
			return n, false
		}
	}
	batches := make([]*column.Batch, len(v.Batches))
	for k, in := range v.Batches {
		out := &column.Batch{N: in.N, Cols: make([]*column.Vector, len(steps))}
		for i, step := range steps {
			if c, ok := p.Exprs[i].(*expr.Column); ok {
				out.Cols[i] = in.Cols[c.Index]
				continue
			}
			vec, err := step.Eval(in)
			if err != nil {
				return n, false
			}
			out.Cols[i] = column.New(p.Exprs[i].Type(), in.N)
			out.Cols[i].AppendVector(vec, nil, in.N)
		}
		batches[k] = out
	}
	return plan.NewValues(p.Schema().Columns, batches), true
}
