package plan

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/types"
)

// original returns what an expression casts, when different values stay different in all its casts.
func original(e expr.Expr) expr.Expr {
	for {
		c, ok := e.(*expr.Cast)
		if !ok || !injective(c.Arg.Type(), c.T) {
			return e
		}
		e = c.Arg
	}
}

// integerDigits are the digits that the values of an integer type may have.
func integerDigits(k types.Kind) int {
	return map[types.Kind]int{types.TinyInt: 3, types.SmallInt: 5, types.Int: 10, types.BigInt: 19}[k]
}

// injective reports whether different values of a type surely are different values of another one.
func injective(from, to types.Type) bool {
	switch {
	case from.IsInteger():
		switch {
		case to.IsInteger():
			return to.Kind >= from.Kind
		case to.Kind == types.Decimal:
			return to.Precision-to.Scale >= integerDigits(from.Kind)
		case to.Kind == types.Double:
			return from.Kind <= types.Int
		case to.Kind == types.Float:
			return from.Kind <= types.SmallInt
		}
		return to.Kind == types.VarChar && to.Precision > integerDigits(from.Kind) // and the sign
	case from.Kind == types.Decimal:
		return to.Kind == types.Decimal && to.Scale >= from.Scale && to.Precision-to.Scale >= from.Precision-from.Scale
	case from.Kind == types.Float:
		return to.IsFloat()
	case from.IsString(), from.IsBinary():
		variable := from.IsString() && to.Kind == types.VarChar || from.IsBinary() && to.Kind == types.VarBinary
		return (variable || to.Kind == from.Kind) && to.Precision >= from.Precision
	case from.Kind == types.Date:
		return to.Kind == types.Date || to.Kind == types.Timestamp || to.Kind == types.VarChar && to.Precision >= len("2024-05-06")
	case from.IsTemporal():
		return to.Kind == from.Kind && to.Precision >= from.Precision
	}
	return from.Equal(to.WithNullable(from.Nullable()))
}
