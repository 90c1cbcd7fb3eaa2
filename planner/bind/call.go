package bind

import (
	"strings"

	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// call binds a function call.
const overHint = "join the query with one that groups the same rows, or, for a rank, ORDER BY and LIMIT them"

func (c *exprCtx) call(e *sqlparse.Call) (expr.Expr, error) {
	name := e.FuncName()
	switch {
	case name == "":
		return nil, notYet(e.Name.Span(), "A function of a catalog")
	case e.Over != nil:
		return nil, withHint(notYet(e.Over.Span(), "OVER"), overHint)
	case e.IgnoreNulls:
		return nil, notYet(e.Span(), "IGNORE NULLS")
	case e.RespectNulls:
		return nil, notYet(e.Span(), "RESPECT NULLS")
	case e.WithinGroup != nil:
		return nil, withHint(notYet(e.WithinGroup[0].Span(), "WITHIN GROUP"), "aggregates take rows as they come: SELECT … FROM (SELECT … ORDER BY …) sorts them before")
	case e.OrderBy != nil:
		return nil, notYet(e.OrderBy[0].Span(), "ORDER BY inside a function call")
	}
	name = strings.ToUpper(name)
	if x, mine, err := c.jsonFunction(e, name); mine {
		return x, err
	}
	if _, ok := expr.LookupAggregate(name); ok {
		return c.aggregate(e, name)
	}
	if err := expr.Refusal(name, span(e.Span())); err != nil {
		return nil, err
	}
	switch name {
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

// callBuilder builds nested calls, keeping the first error.
type callBuilder struct {
	at  expr.Span
	err error
}

func (b *callBuilder) call(name string, args ...expr.Expr) expr.Expr {
	if b.err != nil {
		return nil
	}
	x, err := expr.NewCall(name, args, b.at)
	if err != nil {
		b.err = err
	}
	return x
}
