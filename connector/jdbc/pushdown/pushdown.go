package pushdown

import (
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/types"
)

// Comparison returns the SQL operator of a function's name, and that with its sides changed; "" for a function that is
// no comparison which keeps the order of values.
func Comparison(name string) (op, mirrored string) {
	switch name {
	case "=":
		return "=", "="
	case "<":
		return "<", ">"
	case "<=":
		return "<=", ">="
	case ">":
		return ">", "<"
	case ">=":
		return ">=", "<="
	}
	return "", ""
}

// Column returns the column under casts that keep every value: to a wider integer, to STRING.
func Column(e expr.Expr) (*expr.Column, bool) {
	switch x := e.(type) {
	case *expr.Column:
		return x, true
	case *expr.Cast:
		from := x.Arg.Type()
		if from.IsInteger() && x.T.IsInteger() && x.T.Kind >= from.Kind ||
			from.Kind == types.VarChar && x.T.Kind == types.VarChar && x.T.Precision == types.MaxLength {
			return Column(x.Arg)
		}
	}
	return nil, false
}

// Literal returns the one value, which is not NULL, of a literal, also under a cast to a wider integer.
func Literal(e expr.Expr) (*column.Vector, bool) {
	l, ok := e.(*expr.Literal)
	if c, isCast := e.(*expr.Cast); isCast {
		inner, isLiteral := c.Arg.(*expr.Literal)
		if isLiteral && inner.Value.Type.IsInteger() && c.T.IsInteger() && c.T.Kind >= inner.Value.Type.Kind {
			l, ok = inner, true
		}
	}
	if !ok || l.Value.Len != 1 || l.Value.IsNull(0) {
		return nil, false
	}
	return l.Value, true
}
