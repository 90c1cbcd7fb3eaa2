package bind

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

func (c *exprCtx) unary(e *sqlparse.Unary) (expr.Expr, error) {
	if l, ok := e.X.(*sqlparse.Literal); ok && e.Op == sqlparse.OpMinus && (l.Kind == sqlparse.NumberLiteral || l.Kind == sqlparse.ApproxLiteral) {
		x, err := literal(l, true)
		if err != nil {
			return nil, err
		}
		x.At = span(e.Span())
		return x, nil
	}
	x, err := c.bind(e.X)
	if err != nil {
		return nil, err
	}
	at := span(e.Span())
	switch e.Op {
	case sqlparse.OpNot:
		return expr.NewCall("NOT", []expr.Expr{x}, at)
	case sqlparse.OpMinus:
		return expr.NewCall("NEG", []expr.Expr{x}, at)
	}
	if t := x.Type(); !t.IsNumeric() && !t.IsInterval() && t.Kind != types.Null {
		return nil, errAt(e.Span(), "Cannot apply '+' to arguments of type '+ <%s>'", t.AsNullable())
	}
	return x, nil
}

// sign is the name that package expr gives an operator; empty for those that do not run.
func sign(op sqlparse.Op) string {
	switch op {
	case sqlparse.OpOr:
		return "OR"
	case sqlparse.OpAnd:
		return "AND"
	case sqlparse.OpEq:
		return "="
	case sqlparse.OpNe:
		return "<>"
	case sqlparse.OpLt:
		return "<"
	case sqlparse.OpLe:
		return "<="
	case sqlparse.OpGt:
		return ">"
	case sqlparse.OpGe:
		return ">="
	case sqlparse.OpIsDistinct:
		return "IS DISTINCT FROM"
	case sqlparse.OpIsNotDistinct:
		return "IS NOT DISTINCT FROM"
	case sqlparse.OpAdd:
		return "+"
	case sqlparse.OpSub:
		return "-"
	case sqlparse.OpMul:
		return "*"
	case sqlparse.OpDiv:
		return "/"
	case sqlparse.OpMod:
		return "%"
	case sqlparse.OpConcat:
		return "||"
	}
	return ""
}

func refusedOperator(op sqlparse.Op) string {
	switch op {
	case sqlparse.OpContains:
		return "CONTAINS"
	case sqlparse.OpPeriodEquals:
		return "EQUALS of periods"
	case sqlparse.OpPrecedes:
		return "PRECEDES"
	case sqlparse.OpSucceeds:
		return "SUCCEEDS"
	case sqlparse.OpImmediatelyPrecedes:
		return "IMMEDIATELY PRECEDES"
	case sqlparse.OpImmediatelySucceeds:
		return "IMMEDIATELY SUCCEEDS"
	case sqlparse.OpMemberOf:
		return "MEMBER OF"
	case sqlparse.OpSubmultisetOf:
		return "SUBMULTISET OF"
	case sqlparse.OpAtTimeZone:
		return "AT TIME ZONE"
	}
	return "this operator"
}

// binary binds a chain of operators. It leans to the left and may be long, so that its spine is walked by
// a loop; a run of AND or OR becomes one call.
func (c *exprCtx) binary(e *sqlparse.Binary) (expr.Expr, error) {
	var spine []*sqlparse.Binary
	var first sqlparse.Expr = e
	for {
		b, ok := first.(*sqlparse.Binary)
		if !ok || b.Op == sqlparse.OpOverlaps {
			break
		}
		if sign(b.Op) == "" {
			return nil, notYet(b.Span(), refusedOperator(b.Op))
		}
		spine = append(spine, b)
		first = b.Left
	}
	x, err := c.bind(first)
	if err != nil {
		return nil, err
	}
	for i := len(spine) - 1; i >= 0; i-- {
		op, args := spine[i].Op, []expr.Expr{x}
		if op == sqlparse.OpAnd || op == sqlparse.OpOr {
			for {
				right, err := c.lazily(spine[i].Right)
				if err != nil {
					return nil, err
				}
				args = append(args, right...)
				if i == 0 || spine[i-1].Op != op {
					break
				}
				i--
			}
		} else {
			right, err := c.bind(spine[i].Right)
			if err != nil {
				return nil, err
			}
			args = append(args, right)
		}
		if x, err = expr.NewCall(sign(op), args, span(spine[i].Span())); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// overlaps binds (start, end) OVERLAPS (start, end), where an end may be the length of the span.
func (c *exprCtx) overlaps(e *sqlparse.Binary) (expr.Expr, error) {
	var args []expr.Expr
	for _, side := range []sqlparse.Expr{e.Left, e.Right} {
		row, ok := side.(*sqlparse.Row)
		if !ok || len(row.Items) != 2 {
			return nil, withHint(errAt(side.Span(), "OVERLAPS stands between two spans of time"), "write (start1, end1) OVERLAPS (start2, end2)")
		}
		span, err := c.all(row.Items...)
		if err != nil {
			return nil, err
		}
		if span[1].Type().IsInterval() {
			if span[1], err = expr.NewCall("+", span, spanOf(side)); err != nil {
				return nil, err
			}
		}
		args = append(args, span...)
	}
	return expr.NewCall("OVERLAPS", args, spanOf(e))
}

func spanOf(e sqlparse.Expr) expr.Span { return span(e.Span()) }

func (c *exprCtx) is(e *sqlparse.Is) (expr.Expr, error) {
	name := map[sqlparse.IsTest]string{sqlparse.IsNull: "NULL", sqlparse.IsTrue: "TRUE", sqlparse.IsFalse: "FALSE", sqlparse.IsUnknown: "UNKNOWN"}[e.Test]
	if name == "" {
		what := map[sqlparse.IsTest]string{sqlparse.IsJSONValue: "VALUE", sqlparse.IsJSONObject: "OBJECT", sqlparse.IsJSONArray: "ARRAY", sqlparse.IsJSONScalar: "SCALAR"}[e.Test]
		if what != "" {
			return c.isJSON(e, what)
		}
		return nil, notYet(e.Span(), map[sqlparse.IsTest]string{sqlparse.IsASet: "IS A SET", sqlparse.IsEmpty: "IS EMPTY"}[e.Test])
	}
	x, err := c.bind(e.X)
	if err != nil {
		return nil, err
	}
	if e.Not {
		name = "NOT " + name
	}
	return expr.NewCall("IS "+name, []expr.Expr{x}, span(e.Span()))
}

func not(x expr.Expr, is bool) (expr.Expr, error) {
	if !is {
		return x, nil
	}
	return expr.NewCall("NOT", []expr.Expr{x}, x.Span())
}

func (c *exprCtx) between(e *sqlparse.Between) (expr.Expr, error) {
	args, err := c.all(e.X, e.Low, e.High)
	if err != nil {
		return nil, err
	}
	at := span(e.Span())
	x, err := expr.NewCall("BETWEEN", args, at)
	if err == nil && e.Symmetric {
		if expr.Volatile(args[0]) || expr.Volatile(args[1]) || expr.Volatile(args[2]) {
			return nil, errAt(e.Span(), "BETWEEN SYMMETRIC cannot be used with a function whose value changes from call to call")
		}
		var y expr.Expr
		if y, err = expr.NewCall("BETWEEN", []expr.Expr{args[0], args[2], args[1]}, at); err == nil {
			x, err = expr.NewCall("OR", []expr.Expr{x, y}, at)
		}
	}
	if err != nil {
		return nil, err
	}
	return not(x, e.Not)
}

func (c *exprCtx) inList(x sqlparse.Expr, list []sqlparse.Expr, negated bool, at expr.Span) (expr.Expr, error) {
	args, err := c.all(append([]sqlparse.Expr{x}, list...)...)
	if err != nil {
		return nil, err
	}
	in, err := expr.NewCall("IN", args, at)
	if err != nil {
		return nil, err
	}
	return not(in, negated)
}

func (c *exprCtx) like(e *sqlparse.Like) (expr.Expr, error) {
	name := "LIKE"
	if e.Similar {
		if name = "SIMILAR TO"; !hasFunction(name) {
			return nil, notYet(e.Span(), name)
		}
	}
	list := []sqlparse.Expr{e.X, e.Pattern}
	if e.Escape != nil {
		list = append(list, e.Escape)
	}
	args, err := c.all(list...)
	if err != nil {
		return nil, err
	}
	x, err := expr.NewCall(name, args, span(e.Span()))
	if err != nil {
		return nil, err
	}
	return not(x, e.Not)
}

func hasFunction(name string) bool { _, ok := expr.Lookup(name); return ok }

// quantified binds = ANY and <> ALL, which are IN and NOT IN.
func (c *exprCtx) quantified(e *sqlparse.Quantified, truth bool) (expr.Expr, error) {
	negated := e.All && e.Op == sqlparse.OpNe
	if !negated && (e.All || e.Op != sqlparse.OpEq) {
		q := "ANY"
		if e.All {
			q = "ALL"
		}
		return nil, withHint(notYet(e.Span(), sign(e.Op)+" "+q), "compare with a subquery of MIN or MAX")
	}
	if e.Query != nil {
		return c.inQuery(e.X, e.Query, negated, truth, span(e.Span()))
	}
	return c.inList(e.X, e.List, negated, span(e.Span()))
}

// caseWhen binds CASE; with an operand each WHEN is an equality with it.
func (c *exprCtx) caseWhen(e *sqlparse.Case) (expr.Expr, error) {
	var operand expr.Expr
	var err error
	if e.Operand != nil {
		if operand, err = c.bind(e.Operand); err != nil {
			return nil, err
		}
		if expr.Volatile(operand) {
			return nil, errAt(e.Operand.Span(), "The operand of CASE cannot be a function whose value changes from call to call")
		}
	}
	var args []expr.Expr
	for k, w := range e.Whens {
		conds, err := c.firstAlways(k == 0, w.Conds...)
		if err != nil {
			return nil, err
		}
		if operand == nil {
			for i, x := range conds {
				if !isBareNull(x) && x.Type().Kind != types.Boolean {
					return nil, errAt(w.Conds[i].Span(), "WHEN must be followed by a condition, this is of type %s", x.Type().AsNullable())
				}
			}
		} else {
			for i, x := range conds {
				if conds[i], err = expr.NewCall("=", []expr.Expr{operand, x}, x.Span()); err != nil {
					return nil, err
				}
			}
		}
		cond := conds[0]
		if len(conds) > 1 {
			if cond, err = expr.NewCall("OR", conds, span(w.Span())); err != nil {
				return nil, err
			}
		}
		then, err := c.lazily(w.Then)
		if err != nil {
			return nil, err
		}
		args = append(args, cond, then[0])
	}
	if e.Else != nil {
		otherwise, err := c.lazily(e.Else)
		if err != nil {
			return nil, err
		}
		args = append(args, otherwise...)
	} else {
		args = append(args, expr.NewLiteral(types.Of(types.Null), nil, span(e.Span())))
	}
	x, err := expr.NewCall("CASE", args, span(e.Span()))
	if err == nil && onlyNull("CASE", args) {
		return expr.NewLiteral(types.Of(types.Null), nil, span(e.Span())), nil
	}
	return x, err
}
