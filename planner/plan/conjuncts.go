package plan

import "github.com/sluice-sql/sluice/expr"

// Conjuncts returns the operands of a chain of AND in order, however the calls nest; a condition that is
// no AND is its only conjunct.
func Conjuncts(e expr.Expr) []expr.Expr {
	if e == nil {
		return nil
	}
	var out []expr.Expr
	stack := []expr.Expr{e}
	for len(stack) > 0 {
		e := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if c, ok := e.(*expr.Call); ok && c.Func.Name == "AND" {
			for i := len(c.Args) - 1; i >= 0; i-- {
				stack = append(stack, c.Args[i])
			}
			continue
		}
		out = append(out, e)
	}
	return out
}

// And is the inverse of [Conjuncts]: nil for none, the conjunct itself for one, else one AND of all.
func And(conjuncts []expr.Expr) expr.Expr {
	switch len(conjuncts) {
	case 0:
		return nil
	case 1:
		return conjuncts[0]
	}
	first, last := conjuncts[0].Span(), conjuncts[len(conjuncts)-1].Span()
	at := first
	if first.Source == last.Source && first.Start < last.End {
		at.End = last.End
	}
	e, err := expr.NewCall("AND", conjuncts, at)
	if err != nil {
		panic("plan: conjuncts that are no conditions: " + err.Error())
	}
	return e
}
