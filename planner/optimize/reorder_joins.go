package optimize

import (
	"sort"

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
	below := reorderJoins
	if j, ok := n.(*plan.Join); ok && j.Kind == job.Inner {
		m, settled := reordered(j)
		if m != nil {
			return m
		}
		if settled {
			below = reorderInputs
		}
	}
	m, _ := mapChildren(n, func(c plan.Node) (plan.Node, bool) {
		d := below(c)
		return d, d != c
	})
	return m
}

// reorderInputs reorders what is below a tree of inner joins that is in order itself.
func reorderInputs(n plan.Node) plan.Node {
	if j, ok := n.(*plan.Join); !ok || j.Kind != job.Inner {
		return reorderJoins(n)
	}
	m, _ := mapChildren(n, func(c plan.Node) (plan.Node, bool) {
		d := reorderInputs(c)
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

// reordered returns the tree of joins in another order, or nil; settled says that the trees within it need
// no look of their own.
func reordered(j *plan.Join) (n plan.Node, settled bool) {
	var t joinTree
	t.flatten(j)
	for _, c := range t.conditions {
		t.fallible = t.fallible || !pure(c)
	}
	if !t.crosses || t.fallible || len(t.inputs) < 3 {
		return nil, !t.fallible
	}
	order := t.order()
	inOrder := true
	for i, k := range order {
		inOrder = inOrder && i == k
	}
	if inOrder {
		return nil, true
	}
	return t.build(order, j.Schema().Names()), true
}

// link is an equality that can join one input to others: the inputs that each of its sides reads.
type link [2][]int

// links returns the equalities among the conditions whose sides both read columns.
func (t *joinTree) links() []link {
	var out []link
	for _, c := range t.conditions {
		call, ok := c.(*expr.Call)
		if !ok || call.Func.Name != "=" {
			continue
		}
		var l link
		for side := range l {
			for _, column := range expr.Columns(call.Args[side]) {
				l[side] = append(l[side], t.inputOf(column))
			}
		}
		if len(l[0]) > 0 && len(l[1]) > 0 {
			out = append(out, l)
		}
	}
	return out
}

// next returns the input that the link joins to those taken, or -1.
func (l link) next(taken []bool) int {
	for side := range l {
		k := l[side][0]
		ok := !taken[k]
		for _, i := range l[side] {
			ok = ok && i == k
		}
		for _, i := range l[1-side] {
			ok = ok && taken[i]
		}
		if ok {
			return k
		}
	}
	return -1
}

// order takes the first input, then again and again the first one that an equality joins to those taken,
// or if there is none the first one left.
func (t *joinTree) order() []int {
	links := t.links()
	taken := make([]bool, len(t.inputs))
	order := []int{0}
	taken[0] = true
	for left := 1; len(order) < len(t.inputs); {
		next := -1
		for _, l := range links {
			if k := l.next(taken); k >= 0 && (next < 0 || k < next) {
				next = k
			}
		}
		if next < 0 {
			for taken[left] {
				left++
			}
			next = left
		}
		taken[next] = true
		order = append(order, next)
	}
	return order
}

// inputOf returns the input that a column belongs to.
func (t *joinTree) inputOf(column int) int {
	return sort.Search(len(t.inputs), func(i int) bool { return t.inputs[i].first > column }) - 1
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
