package bind

import (
	"strings"

	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// isJSON binds x IS [NOT] JSON.
func (c *exprCtx) isJSON(e *sqlparse.Is, what string) (expr.Expr, error) {
	x, err := c.bind(e.X)
	if err != nil {
		return nil, err
	}
	if x, err = expr.NewCall("IS JSON "+what, []expr.Expr{x}, span(e.Span())); err != nil {
		return nil, err
	}
	return not(x, e.Not)
}

// jsonCall binds the JSON functions that have clauses of their own.
func (c *exprCtx) jsonCall(e *sqlparse.JSONCall) (expr.Expr, error) {
	switch e.Name {
	case "JSON_OBJECTAGG", "JSON_ARRAYAGG":
		return c.jsonAggregate(e)
	case "JSON_OBJECT", "JSON_ARRAY":
		return c.jsonConstructor(e)
	}
	args, err := c.all(e.Args...)
	if err != nil {
		return nil, err
	}
	clauses := expr.JSONClauses{}
	if e.Wrapper != "" {
		clauses.Wrapper = e.Wrapper
	}
	// A text of limited length is a cast around the call.
	var limited *types.Type
	if e.Returning != nil {
		t, err := dataType(e.Returning)
		if err != nil {
			return nil, err
		}
		if t = t.AsNullable(); t.IsString() && t.Precision != types.MaxLength {
			limited = &t
		} else {
			clauses.Returning = t
		}
	}
	var defaults []expr.Expr
	for _, b := range []struct {
		said *sqlparse.JSONBehavior
		kind *string
	}{{e.OnEmpty, &clauses.OnEmpty}, {e.OnError, &clauses.OnError}} {
		if b.said == nil {
			continue
		}
		*b.kind = b.said.Kind
		if b.said.Default != nil {
			d, err := c.all(b.said.Default)
			if err != nil {
				return nil, err
			}
			defaults = append(defaults, d...)
		}
	}
	x, err := expr.NewJSONCall(e.Name, args[0], args[1], clauses, defaults, span(e.Span()))
	if err != nil || limited == nil {
		return x, err
	}
	return expr.NewCast(x, *limited, false, span(e.Span()))
}

// rawJSON reports whether an expression is JSON that JSON_OBJECT, JSON_ARRAY and JSON_STRING take as it is.
func rawJSON(e sqlparse.Expr) bool {
	switch e := e.(type) {
	case *sqlparse.JSONCall:
		return e.Name == "JSON_OBJECT" || e.Name == "JSON_ARRAY"
	case *sqlparse.Call:
		return isJSONFunction(e)
	}
	return false
}

func isJSONFunction(e *sqlparse.Call) bool { return strings.EqualFold(e.FuncName(), "JSON") }

// jsonValue binds a value that is put into JSON. JSON(…) can stand only here.
func (c *exprCtx) jsonValue(e sqlparse.Expr) (expr.Expr, error) {
	if call, ok := e.(*sqlparse.Call); ok && isJSONFunction(call) {
		args, err := c.plainArgs(call, "JSON")
		if err != nil {
			return nil, err
		}
		return expr.NewCall("JSON", args, span(e.Span()))
	}
	return c.bind(e)
}

// plainArgs binds the arguments of a function that has no clauses.
func (c *exprCtx) plainArgs(e *sqlparse.Call, name string) ([]expr.Expr, error) {
	switch {
	case e.Filter != nil:
		return nil, errAt(e.Filter.Span(), "FILTER must not be used with the function %s, which is no aggregate", name)
	case e.Distinct:
		return nil, errAt(e.Span(), "DISTINCT must not be used with the function %s, which is no aggregate", name)
	case e.Star:
		return nil, errAt(e.Span(), "%s(*) is not possible, only COUNT(*)", name)
	}
	return c.all(e.Args...)
}

// jsonConstructor binds JSON_OBJECT and JSON_ARRAY.
func (c *exprCtx) jsonConstructor(e *sqlparse.JSONCall) (expr.Expr, error) {
	var parts []expr.JSONPart
	add := func(key, value sqlparse.Expr) (err error) {
		part := expr.JSONPart{Raw: rawJSON(value)}
		if key != nil {
			if part.Key, err = c.bind(key); err != nil {
				return err
			}
		}
		if part.Value, err = c.jsonValue(value); err == nil {
			parts = append(parts, part)
		}
		return err
	}
	for _, pair := range e.Pairs {
		if err := add(pair.Key, pair.Value); err != nil {
			return nil, err
		}
	}
	for _, a := range e.Args {
		if err := add(nil, a); err != nil {
			return nil, err
		}
	}
	absent := e.OnNull == "ABSENT" || e.OnNull == "" && e.Name == "JSON_ARRAY"
	return expr.NewJSONConstructor(e.Name, parts, absent, span(e.Span()))
}

// jsonFunction binds calls of functions without clauses that are not like others: JSON, which stands in
// JSON_OBJECT and JSON_ARRAY alone, and JSON_STRING of what is JSON already.
func (c *exprCtx) jsonFunction(e *sqlparse.Call, name string) (x expr.Expr, mine bool, err error) {
	switch {
	case name == "JSON_EXISTS", name == "JSON_VALUE", name == "JSON_QUERY", name == "JSON_OBJECT", name == "JSON_ARRAY",
		name == "JSON_OBJECTAGG", name == "JSON_ARRAYAGG": // written in quotes, which hides the clauses
		return nil, true, errAt(e.Name.Span(), "%s is written without quotes", name)
	case name == "JSON":
		if len(e.Args) == 1 {
			return nil, true, withHint(errAt(e.Span(), "The JSON() function is currently only supported inside JSON_ARRAY() or as the VALUE param of JSON_OBJECT()"),
				"x IS JSON tells whether a text is JSON, JSON_QUERY(x, '$') gives it without blanks")
		}
	case name == "JSON_STRING" && len(e.Args) == 1:
		if inner, ok := e.Args[0].(*sqlparse.JSONCall); ok && rawJSON(inner) {
			args, err := c.plainArgs(e, name)
			if err != nil {
				return nil, true, err
			}
			return args[0], true, nil
		}
	}
	return nil, false, nil
}

// jsonAggregate binds JSON_OBJECTAGG and JSON_ARRAYAGG. Their values are made JSON before they come in.
func (c *exprCtx) jsonAggregate(e *sqlparse.JSONCall) (expr.Expr, error) {
	if e.OrderBy != nil {
		return nil, notYet(e.OrderBy[0].Span(), "ORDER BY inside JSON_ARRAYAGG")
	}
	inner, err := c.aggregateArgs(e.Span(), e.Filter)
	if err != nil {
		return nil, err
	}
	var args []expr.Expr
	value, clause := sqlparse.Expr(nil), ""
	if e.Name == "JSON_OBJECTAGG" {
		key, err := inner.expr(e.Pairs[0].Key)
		if err != nil {
			return nil, err
		}
		if !key.Type().IsString() {
			return nil, withHint(errAt(e.Pairs[0].Key.Span(), "A key of JSON_OBJECTAGG must be a text, this is of type %s", key.Type().AsNullable()), "CAST(… AS STRING) makes a text of it")
		}
		args, value = append(args, key), e.Pairs[0].Value
		if e.OnNull == "ABSENT" {
			clause = expr.JSONAbsentOnNull
		}
	} else {
		value = e.Args[0]
		if e.OnNull == "NULL" {
			clause = expr.JSONNullOnNull
		}
	}
	x, err := inner.expr(value)
	if err != nil {
		return nil, err
	}
	if call, ok := value.(*sqlparse.JSONCall); !ok || !rawJSON(call) {
		if x, err = expr.NewCall("JSON_STRING", []expr.Expr{x}, span(value.Span())); err != nil {
			return nil, err
		}
	}
	if args = append(args, x); clause != "" {
		args = append(args, expr.NewLiteral(types.WithPrecision(types.Char, len(clause)), clause, span(e.Span())))
	}
	filter, err := inner.aggregateFilter(e.Filter)
	if err != nil {
		return nil, err
	}
	call, err := expr.NewAggregate(e.Name, args, false, filter, span(e.Span()))
	if err != nil {
		return nil, err
	}
	return c.aggs.add(call), nil
}

// aggregateArgs returns the context for the arguments of an aggregate, or the error that none may stand here.
func (c *exprCtx) aggregateArgs(at sqlparse.Span, filter sqlparse.Expr) (*exprCtx, error) {
	switch {
	case c.inAgg:
		return nil, errAt(at, "Aggregate expressions cannot be nested")
	case c.aggs == nil:
		return nil, errAt(at, "Aggregate expression is illegal in %s", c.clause)
	}
	inner := &exprCtx{b: c.b, scope: c.scope, clause: "argument of an aggregate", inAgg: true, attach: c.aggs.attach}
	if filter != nil {
		inner.lazy++ // arguments are evaluated for the rows that the filter lets through
	}
	return inner, nil
}

// aggregateFilter binds FILTER after the arguments.
func (c *exprCtx) aggregateFilter(filter sqlparse.Expr) (expr.Expr, error) {
	if filter == nil {
		return nil, nil
	}
	c.lazy--
	return c.condition(filter, "FILTER")
}
