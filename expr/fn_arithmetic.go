package expr

import (
	"fmt"
	"math"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

func arithmeticFunctions() []Function {
	op := func(sign byte, doc, example, result string) Function {
		return Function{
			Name: string(sign), Group: "arithmetic", Syntax: "value1 " + string(sign) + " value2",
			Doc: doc, Example: example, Result: result, Min: 2, Max: 2, Hidden: true, Fallible: true,
			Total: sign != '/' && sign != '%',
			Bind:  func(args []Expr) ([]types.Type, types.Type, error) { return bindArithmetic(sign, args) },
			Kernel: func(c *Call, _ *Env) (Step, error) {
				return arithmeticStep(sign, c.Args[0].Type(), c.Args[1].Type(), c.T), nil
			},
			MayFail: func(c *Call) bool { return arithmeticMayFail(sign, c) },
		}
	}
	remainder := op('%', "The remainder, with the sign of the first operand.", "-7 % 3", "-1")
	mod := remainder
	mod.Name, mod.Syntax, mod.Example, mod.Hidden = "MOD", "MOD(value1, value2)", "MOD(-7, 3)", false
	return []Function{
		remainder, mod,
		op('+', "The sum; of a date or time and an interval, the later moment, with at least three decimals if the interval is of days to seconds. "+
			"A sum out of the type's range is an error.",
			"DATE '2024-01-31' + INTERVAL '1' MONTH", "2024-02-29"),
		op('-', "The difference; of a date or time and an interval, the earlier moment.", "1.50 - 1", "0.50"),
		op('*', "The product.", "1.5 * 1.5", "2.25"),
		op('/', "The quotient; of two integers an integer, rounded towards zero. Division by zero is an error, except for FLOAT and DOUBLE.",
			"7 / 2", "3"),
		{
			Name: "NEG", Group: "arithmetic", Syntax: "-value", Doc: "The value with its sign changed.",
			Example: "-(1.50)", Result: "-1.50", Min: 1, Max: 1, Hidden: true, Fallible: true,
			Bind: takes(sameAs(0), func(t types.Type) (types.Type, bool) {
				if t.IsInterval() {
					return t, true
				}
				return numeric(t)
			}),
			Kernel:  func(c *Call, _ *Env) (Step, error) { return negateStep(c.T), nil },
			MayFail: func(c *Call) bool { return !c.T.IsFloat() && c.T.Kind != types.Decimal },
		},
	}
}

// bindArithmetic types a op b.
func bindArithmetic(op byte, args []Expr) ([]types.Type, types.Type, error) {
	s, t := args[0].Type().AsNullable(), args[1].Type().AsNullable()
	if s.Kind == types.Null && t.Kind == types.Null {
		s, t = types.Of(types.Int), types.Of(types.Int)
	}
	if s.Kind == types.Null {
		s = t
		if t.IsTemporal() {
			s = types.Of(types.IntervalDayTime)
		}
	}
	if t.Kind == types.Null {
		t = s
		if s.IsTemporal() {
			t = types.Of(types.IntervalDayTime)
		}
	}
	params := []types.Type{s, t}
	switch {
	case s.IsNumeric() && t.IsNumeric():
		to, ok := types.ArithmeticType(op, s, t)
		if !ok {
			return nil, to, errMismatch
		}
		to = to.AsNullable()
		switch {
		case to.Kind == types.Decimal:
			return []types.Type{asDecimal(s), asDecimal(t)}, to, nil
		case op == '%' && to.IsInteger():
			// The remainder fits the type of the divisor, but the operands meet in the wider one.
			w := s
			if t.Kind > s.Kind {
				w = t
			}
			return []types.Type{w, w}, to, nil
		}
		return []types.Type{to, to}, to, nil
	case s.IsTemporal() && t.IsInterval(), s.IsInterval() && t.IsTemporal():
		if to, ok := types.ArithmeticType(op, s, t); ok {
			return params, to.AsNullable(), nil
		}
	case s.IsInterval() && s.Kind == t.Kind && (op == '+' || op == '-'):
		return params, s, nil
	case s.IsInterval() && t.IsInteger() && (op == '*' || op == '/'):
		return []types.Type{s, types.Of(types.BigInt)}, s, nil
	case s.IsInteger() && t.IsInterval() && op == '*':
		return []types.Type{types.Of(types.BigInt), t}, t, nil
	case s.IsTemporal() && t.IsTemporal() && op == '-':
		return nil, s, failure(fmt.Sprintf("Cannot apply '-' to arguments of type '<%s> - <%s>'", s, t), "use TIMESTAMPDIFF(DAY, value2, value1)")
	}
	return nil, s, errMismatch
}

func arithmeticStep(op byte, s, t, to types.Type) Step {
	switch {
	case s.IsTemporal() || t.IsTemporal():
		return momentStep(op, s, t, to)
	case to.Kind == types.Decimal:
		return decimalStep(op, s, t, to)
	case to.IsInterval():
		return intervalStep(op, s, t, to)
	}
	switch s.Kind {
	case types.TinyInt:
		return narrowed(intStep[int8](op, to), s, to)
	case types.SmallInt:
		return narrowed(intStep[int16](op, to), s, to)
	case types.Int:
		return narrowed(intStep[int32](op, to), s, to)
	case types.BigInt:
		return narrowed(intStep[int64](op, to), s, to)
	case types.Float:
		return floatStep[float32](op)
	}
	return floatStep[float64](op)
}

// narrowed stores a step's results of integer type s, which are known to fit, as type to.
func narrowed(step Step, s, to types.Type) Step {
	if s.Kind == to.Kind {
		return step
	}
	wide := column.New(s, 0)
	return func(r Rows, args []Arg, out *column.Vector) error {
		prepare(wide, r.N)
		wide.Valid = out.Valid
		if err := step(r, args, wide); err != nil {
			return err
		}
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			setInt(out, i, wide.Int64(i))
		}
		return nil
	}
}

// setInt writes v, which fits, at row i of a vector of integer form.
func setInt(out *column.Vector, i int, v int64) {
	switch column.PhysicalOf(out.Type) {
	case column.PhysI8:
		out.I8[i] = int8(v)
	case column.PhysI16:
		out.I16[i] = int16(v)
	case column.PhysI32:
		out.I32[i] = int32(v)
	case column.PhysI64:
		out.I64[i] = v
	case column.PhysI128:
		out.I128[i] = types.Int128From(v)
	}
}

func arithmeticMayFail(op byte, c *Call) bool {
	if c.T.IsFloat() {
		return false
	}
	if op == '/' || op == '%' {
		if n, ok := constInt(c.Args[1]); ok && n != 0 && n != -1 {
			return false
		}
		return true
	}
	if c.T.Kind == types.Decimal {
		// Where the result's type was not cut to 38 digits it holds every result.
		s, t := c.Args[0].Type(), c.Args[1].Type()
		if op == '*' {
			return c.T.Precision < s.Precision+t.Precision
		}
		return c.T.Precision-c.T.Scale <= max(s.Precision-s.Scale, t.Precision-t.Scale)
	}
	return true
}

func negateStep(t types.Type) Step {
	return func(r Rows, args []Arg, out *column.Vector) error {
		x := args[0]
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			j := x.At(i)
			switch column.PhysicalOf(t) {
			case column.PhysF32:
				out.F32[i] = -x.F32[j]
			case column.PhysF64:
				out.F64[i] = -x.F64[j]
			case column.PhysI128:
				out.I128[i] = x.I128[j].Neg()
			default:
				v := x.Int64(j)
				bad := v == math.MinInt64
				switch column.PhysicalOf(t) {
				case column.PhysI8:
					bad = v == math.MinInt8
				case column.PhysI16:
					bad = v == math.MinInt16
				case column.PhysI32:
					bad = v == math.MinInt32
				}
				if bad {
					return outOfRange(i, fmt.Sprintf("-(%d)", v), t)
				}
				setInt(out, i, -v)
			}
		}
		return nil
	}
}
