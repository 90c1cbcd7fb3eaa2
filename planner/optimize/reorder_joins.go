package optimize

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/planner/plan"
)

// reorderJoins brings the inputs of inner joins into an order in which each has a key to those before it,
// where the order as written has a cross join in it:
//
//	FROM a, b, c WHERE a.x = c.x AND c.y = b.y
//
// joins a with c first. The order of rows of a join is not promised; that of its columns is put back.
func reorderJoins(n plan.Node) plan.Node {
	if j, ok := n.(*plan.Join); ok && j.Kind == job.Inner {
		if m, ok := reordered(j); ok {
			return m
		}
	}
	m, _ := mapChildren(n, func(c plan.Node) (plan.Node, bool) {
		d := reorderJoins(c)
		return d, d != c
	})
	return m
}

// joinInput is one input of a tree of inner joins; its columns begin at first among all.
type joinInput struct {
	node  plan.Node
	first int
}

// joinTree is a maximal tree of inner joins, flat. Conditions are over the columns of all inputs.
type joinTree struct {
	inputs     []joinInput
	conditions []expr.Expr
	width      int
	crosses    bool
	fallible   bool
}

func (t *joinTree) flatten(n plan.Node) {
	j, ok := n.(*plan.Join)
	if !ok || j.Kind != job.Inner {
		t.inputs = append(t.inputs, joinInput{n, t.width})
		t.width += plan.Width(n)
		return
	}
	first := t.width
	t.flatten(j.Left)
	t.flatten(j.Right)
	t.crosses = t.crosses || len(j.LeftKeys) == 0
	right := first + plan.Width(j.Left)
	for i, l := range j.LeftKeys {
		eq, err := expr.NewCall("=", []expr.Expr{expr.Shift(l, first), expr.Shift(j.RightKeys[i], right)}, l.Span())
		if err != nil {
			t.fallible = true // two keys that cannot be compared: leave the tree alone
			return
		}
		t.conditions = append(t.conditions, eq)
	}
	for _, c := range plan.Conjuncts(j.Residual) {
		t.conditions = append(t.conditions, expr.Shift(c, first))
	}
}

func reordered(j *plan.Join) (plan.Node, bool) {
	var t joinTree
	t.flatten(j)
	for _, c := range t.conditions {
		t.fallible = t.fallible || !pure(c)
	}
	if !t.crosses || t.fallible || len(t.inputs) < 3 {
		return nil, false
	}
	order := t.order()
	inOrder := true
	for i, k := range order {
		inOrder = inOrder && i == k
	}
	if inOrder {
		return nil, false
	}
	return t.build(order, j.Schema().Names()), true
}

// order takes the first input, then again and again the next one that an equality joins to those taken,
// or if there is none the next one.
func (t *joinTree) order() []int {
	taken := make([]bool, len(t.inputs))
	order := []int{0}
	taken[0] = true
	for len(order) < len(t.inputs) {
		next := -1
		for k := range t.inputs {
			if !taken[k] && (next < 0 || t.joins(k, taken)) {
				next = k
				if t.joins(k, taken) {
					break
				}
			}
		}
		taken[next] = true
		order = append(order, next)
	}
	return order
}

// inputOf returns the input that a column belongs to.
func (t *joinTree) inputOf(column int) int {
	k := 0
	for k+1 < len(t.inputs) && t.inputs[k+1].first <= column {
		k++
	}
	return k
}

// joins reports whether an equality has input k alone on one side and taken inputs on the other.
func (t *joinTree) joins(k int, taken []bool) bool {
	for _, c := range t.conditions {
		call, ok := c.(*expr.Call)
		if !ok || call.Func.Name != "=" {
			continue
		}
		for side := range 2 {
			if t.only(call.Args[side], func(i int) bool { return i == k }) && t.only(call.Args[1-side], func(i int) bool { return taken[i] }) {
				return true
			}
		}
	}
	return false
}

func (t *joinTree) only(e expr.Expr, in func(int) bool) bool {
	cols := expr.Columns(e)
	for _, c := range cols {
		if !in(t.inputOf(c)) {
			return false
		}
	}
	return len(cols) > 0
}

// build joins the inputs in an order, each condition as soon as its columns are there.
func (t *joinTree) build(order []int, names []string) plan.Node {
	at := make([]int, t.width) // where the columns are; -1: not yet
	for i := range at {
		at[i] = -1
	}
	var n plan.Node
	done := make([]bool, len(t.conditions))
	for _, k := range order {
		in := reorderJoins(t.inputs[k].node)
		left := 0
		if n != nil {
			left = plan.Width(n)
		}
		for i := range plan.Width(in) {
			at[t.inputs[k].first+i] = left + i
		}
		if n == nil {
			n = in
			continue
		}
		var lk, rk, rest []expr.Expr
		for i, c := range t.conditions {
			if done[i] || !available(c, at) {
				continue
			}
			done[i] = true
			c = expr.Remap(c, func(i int) int { return at[i] })
			if l, r, ok := plan.Equality(c, left); ok {
				lk, rk = append(lk, l), append(rk, r)
			} else {
				rest = append(rest, c)
			}
		}
		n = plan.NewJoin(job.Inner, n, in, lk, rk, plan.And(rest))
	}
	exprs := make([]expr.Expr, t.width)
	for i := range exprs {
		exprs[i] = plan.ColumnOf(n, at[i])
	}
	return plan.NewProject(n, exprs, names)
}

func available(e expr.Expr, at []int) bool {
	for _, c := range expr.Columns(e) {
		if at[c] < 0 {
			return false
		}
	}
	return true
}
