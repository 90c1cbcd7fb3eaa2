package optimize

import (
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

// maxPasses ends the search for a fixpoint; the plan is right after any number of passes.
const maxPasses = 200

// Optimize returns a plan with the same result. Constants are folded with env.
func Optimize(n plan.Node, env *expr.Env) plan.Node {
	n = fixpoint(n, env)
	n = fixpoint(reorderJoins(n), env)
	n = prune(n)
	return rename(fixpoint(n, env))
}

func fixpoint(n plan.Node, env *expr.Env) plan.Node {
	list := rules()
	for range maxPasses {
		var changed bool
		if n, changed = pass(n, list, env); !changed {
			break
		}
	}
	return n
}

// pass applies the rules once to every node, inputs first.
func pass(n plan.Node, list []rule, env *expr.Env) (plan.Node, bool) {
	n, changed := mapChildren(n, func(c plan.Node) (plan.Node, bool) { return pass(c, list, env) })
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
