package bind

import (
	"strings"

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
		return nil, notYet(e.Span(), "A ROW value")
	case *sqlparse.Field:
		return nil, notYet(e.Span(), "The field of a ROW")
	case *sqlparse.Index:
		return nil, notYet(e.Span(), "The element of an ARRAY or MAP")
	case *sqlparse.Collection:
		kind := [...]string{"An ARRAY", "A MAP", "A MULTISET"}[e.Kind]
		return nil, notYet(e.Span(), kind+" value")
	case *sqlparse.JSONCall:
		return nil, notYet(e.Span(), "The function "+e.Name)
	case *sqlparse.NamedArg:
		return nil, notYet(e.Span(), "An argument by name (=>)")
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
	return c.scope.resolve(e)
}

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
	case sqlparse.OpOverlaps:
		return "OVERLAPS"
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
		if !ok {
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

func (c *exprCtx) is(e *sqlparse.Is) (expr.Expr, error) {
	name := map[sqlparse.IsTest]string{sqlparse.IsNull: "NULL", sqlparse.IsTrue: "TRUE", sqlparse.IsFalse: "FALSE", sqlparse.IsUnknown: "UNKNOWN"}[e.Test]
	if name == "" {
		what := map[sqlparse.IsTest]string{sqlparse.IsASet: "IS A SET", sqlparse.IsEmpty: "IS EMPTY"}[e.Test]
		if what == "" {
			what = "IS JSON"
		}
		return nil, notYet(e.Span(), what)
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

// call binds a function call.
func (c *exprCtx) call(e *sqlparse.Call) (expr.Expr, error) {
	name := e.FuncName()
	switch {
	case name == "":
		return nil, notYet(e.Name.Span(), "A function of a catalog")
	case e.Over != nil:
		return nil, notYet(e.Over.Span(), "OVER")
	case e.IgnoreNulls:
		return nil, notYet(e.Span(), "IGNORE NULLS")
	case e.RespectNulls:
		return nil, notYet(e.Span(), "RESPECT NULLS")
	case e.WithinGroup != nil:
		return nil, notYet(e.WithinGroup[0].Span(), "WITHIN GROUP")
	case e.OrderBy != nil:
		return nil, notYet(e.OrderBy[0].Span(), "ORDER BY inside a function call")
	}
	name = strings.ToUpper(name)
	if _, ok := expr.LookupAggregate(name); ok {
		return c.aggregate(e, name)
	}
	if err := expr.Refusal(name, span(e.Span())); err != nil {
		return nil, err
	}
	switch name {
	case "TUMBLE", "HOP", "SESSION", "CUMULATE", "TUMBLE_START", "TUMBLE_END", "TUMBLE_ROWTIME", "TUMBLE_PROCTIME",
		"HOP_START", "HOP_END", "HOP_ROWTIME", "HOP_PROCTIME", "SESSION_START", "SESSION_END", "SESSION_ROWTIME", "SESSION_PROCTIME":
		return nil, notYet(e.Name.Span(), "The group window function "+name)
	case "CURRENT_DATABASE":
		if !hasFunction(name) && len(e.Args) == 0 {
			db := c.b.catalogs.CurrentDatabase()
			return expr.NewLiteral(types.String(), db, span(e.Span())), nil
		}
	}
	switch {
	case e.Filter != nil:
		return nil, errAt(e.Filter.Span(), "FILTER must not be used with the function %s, which is no aggregate", name)
	case e.Distinct:
		return nil, errAt(e.Span(), "DISTINCT must not be used with the function %s, which is no aggregate", name)
	case e.Star:
		return nil, errAt(e.Span(), "%s(*) is not possible, only COUNT(*)", name)
	}
	args, err := c.callArgs(name, e)
	if err != nil {
		return nil, err
	}
	x, err := expr.NewCall(name, args, span(e.Span()))
	if err == nil && onlyNull(name, args) {
		return expr.NewLiteral(types.Of(types.Null), nil, span(e.Span())), nil
	}
	return x, err
}

// onlyNull reports whether a function that gives one of its arguments has only bare NULLs to give: its
// value is one as well, without a type.
func onlyNull(name string, args []expr.Expr) bool {
	switch name {
	case "CASE", "IF": // condition, value, …, else
		for i := 1; i < len(args); i += 2 {
			if !isBareNull(args[i]) {
				return false
			}
		}
		args = args[len(args)-1:]
	case "NULLIF":
		args = args[:1]
	case "COALESCE", "IFNULL", "GREATEST", "LEAST":
	default:
		return false
	}
	for _, a := range args {
		if !isBareNull(a) {
			return false
		}
	}
	return true
}

// callArgs binds the arguments; those of functions that evaluate only some of theirs are lazy.
func (c *exprCtx) callArgs(name string, e *sqlparse.Call) ([]expr.Expr, error) {
	bind := c.all
	if f, ok := expr.Lookup(name); ok && f.Lazy != nil {
		bind = func(list ...sqlparse.Expr) ([]expr.Expr, error) { return c.firstAlways(true, list...) }
	}
	args, err := bind(e.Args...)
	if err != nil {
		return nil, err
	}
	if name == "TRIM" && len(args) > 0 && len(args) < 3 {
		at := span(e.Span())
		blank := expr.Expr(expr.NewLiteral(types.WithPrecision(types.Char, 1), " ", at))
		if _, ok := e.Args[0].(*sqlparse.Symbol); ok && len(args) == 2 {
			return []expr.Expr{args[0], blank, args[1]}, nil
		}
		if len(args) == 1 {
			return []expr.Expr{expr.NewLiteral(types.WithPrecision(types.Char, 4), "BOTH", at), blank, args[0]}, nil
		}
	}
	return args, nil
}
