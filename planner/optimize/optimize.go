package optimize

import (
	"context"

	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/planner/plan"
)

// rule returns a better node for n and true, or n and false. It sees nodes whose inputs are done.
type rule func(n plan.Node, env *expr.Env) (plan.Node, bool)

// rules are applied to each node in this order.
func rules() []rule {
	return []rule{
		foldConstants,
		foldFilter,
		mergeFilters,
		outerToInner,
		filterThroughProject,
		filterThroughJoin,
		filterThroughUnion,
		filterThroughAggregate,
		filterThroughSort,
		filterThroughUnnest,
		filterToScan,
		joinCondition,
		mergeLimits,
		emptyLimit,
		limitThroughProject,
		limitThroughUnion,
		topN,
		limitToScan,
		singleRow,
		distinctAggregate,
		buildSmallSide,
		mergeProjects,
		evaluateValues,
		projectScan,
		trivialProject,
	}
}

// streamRules are the rules for streaming jobs, in whose plans rows change. Left out are those of joins and
// sorts, which such plans do not have; those that ask a source for fewer rows, which the job's end does; and
// that of DISTINCT, which groups twice for the sake of parallelism. The others hold for changes as for rows:
// what works row by row treats the row before an update as it did that row itself, and a filter that goes below
// a grouping is over its keys, which the rows of a group share.
func streamRules() []rule {
	return []rule{
		foldConstants,
		foldFilter,
		mergeFilters,
		filterThroughProject,
		filterThroughUnion,
		filterThroughAggregate,
		filterThroughUnnest,
		filterToScan,
		mergeLimits,
		emptyLimit,
		limitThroughProject,
		mergeProjects,
		evaluateValues,
		projectScan,
		trivialProject,
	}
}

// maxPasses ends the search for a fixpoint; the plan is right after any number of passes.
const maxPasses = 200

// Optimize returns a plan with the same result, or the error of ctx. Constants are folded with env.
func Optimize(ctx context.Context, n plan.Node, env *expr.Env) (plan.Node, error) {
	list := rules()
	n = fixpoint(ctx, n, list, env)
	if ctx.Err() == nil {
		n = fixpoint(ctx, reorderJoins(n), list, env)
	}
	if ctx.Err() == nil {
		n = rename(fixpoint(ctx, prune(n), list, env))
	}
	return n, ctx.Err()
}

// OptimizeStream is Optimize for a streaming job.
func OptimizeStream(ctx context.Context, n plan.Node, env *expr.Env) (plan.Node, error) {
	list := streamRules()
	n = fixpoint(ctx, n, list, env)
	if ctx.Err() == nil {
		n = rename(fixpoint(ctx, prune(n), list, env))
	}
	return n, ctx.Err()
}

func fixpoint(ctx context.Context, n plan.Node, list []rule, env *expr.Env) plan.Node {
	for range maxPasses {
		var changed bool
		if n, changed = pass(ctx, n, list, env); !changed {
			return n
		}
	}
	noFixpoint()
	return n
}

// pass applies the rules once to every node, inputs first. It ends early when ctx does.
func pass(ctx context.Context, n plan.Node, list []rule, env *expr.Env) (plan.Node, bool) {
	if ctx.Err() != nil {
		return n, false
	}
	n, changed := mapChildren(n, func(c plan.Node) (plan.Node, bool) { return pass(ctx, c, list, env) })
	for _, r := range list {
		if m, ok := r(n, env); ok {
			n, changed = m, true
		}
	}
	return n, changed
}

// mapChildren replaces the inputs of a node by f's results.
func mapChildren(n plan.Node, f func(plan.Node) (plan.Node, bool)) (plan.Node, bool) {
	var fresh []plan.Node
	children := n.Children()
	for i, c := range children {
		d, ok := f(c)
		if ok && fresh == nil {
			fresh = append([]plan.Node(nil), children...)
		}
		if ok {
			fresh[i] = d
		}
	}
	if fresh == nil {
		return n, false
	}
	return n.WithChildren(fresh), true
}
