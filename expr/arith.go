package expr

import (
	"fmt"
	"math/bits"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// signed is the integers; their arithmetic is checked.
type signed interface {
	int8 | int16 | int32 | int64
}

type floating interface{ float32 | float64 }

// The loops below compute every row, garbage at NULL rows included, and gather in one word whether any
// of them overflowed; only then is the row looked for, among those that are not NULL.

func addInts[T signed](x, y Arg, r Rows, out []T) (overflow bool) {
	if x.Const {
		x, y = y, x
	}
	a, b := values[T](x.Vector), values[T](y.Vector)
	var bad T
	switch {
	case r.Sel != nil || x.Const:
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			v, w := a[x.At(i)], b[y.At(i)]
			s := v + w
			out[i] = s
			bad |= (v ^ s) & (w ^ s)
		}
	case y.Const:
		a, out, w := a[:r.N], out[:r.N], b[0]
		for i, v := range a {
			s := v + w
			out[i] = s
			bad |= (v ^ s) & (w ^ s)
		}
	default:
		a, b, out := a[:r.N], b[:r.N], out[:r.N]
		for i, v := range a {
			w := b[i]
			s := v + w
			out[i] = s
			bad |= (v ^ s) & (w ^ s)
		}
	}
	return bad < 0
}

func subInts[T signed](x, y Arg, r Rows, out []T) (overflow bool) {
	a, b := values[T](x.Vector), values[T](y.Vector)
	var bad T
	if r.Sel == nil && !x.Const && !y.Const {
		a, b, out := a[:r.N], b[:r.N], out[:r.N]
		for i, v := range a {
			w := b[i]
			s := v - w
			out[i] = s
			bad |= (v ^ w) & (v ^ s)
		}
		return bad < 0
	}
	for k, n := 0, r.Count(); k < n; k++ {
		i := r.Row(k)
		v, w := a[x.At(i)], b[y.At(i)]
		s := v - w
		out[i] = s
		bad |= (v ^ w) & (v ^ s)
	}
	return bad < 0
}

func mulInts[T signed](x, y Arg, r Rows, out []T) (overflow bool) {
	a, b := values[T](x.Vector), values[T](y.Vector)
	var bad int64
	for k, n := 0, r.Count(); k < n; k++ {
		i := r.Row(k)
		p, carry := mulWide(int64(a[x.At(i)]), int64(b[y.At(i)]))
		out[i] = T(p)
		bad |= carry | (p ^ int64(T(p)))
	}
	return bad != 0
}

// mulWide returns the low 64 bits of a product, and 0 if they are the whole of it.
func mulWide(v, w int64) (p, carry int64) {
	hi, lo := bits.Mul64(uint64(v), uint64(w))
	h := int64(hi) - v>>63&w - w>>63&v
	return int64(lo), h ^ int64(lo)>>63
}

func intStep[T signed](op byte, t types.Type) Step {
	return func(r Rows, args []Arg, out *column.Vector) error {
		x, y := args[0], args[1]
		res := values[T](out)
		switch op {
		case '+':
			if !addInts(x, y, r, res) {
				return nil
			}
		case '-':
			if !subInts(x, y, r, res) {
				return nil
			}
		case '*':
			if !mulInts(x, y, r, res) {
				return nil
			}
		default:
			return divideInts[T](op, t, r, x, y, res)
		}
		a, b := values[T](x.Vector), values[T](y.Vector)
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			if !out.Valid.Get(i) {
				continue
			}
			if v, w := int64(a[x.At(i)]), int64(b[y.At(i)]); overflows(op, v, w, t.Kind) {
				return outOfRange(i, fmt.Sprintf("%d %c %d", v, op, w), t)
			}
		}
		return nil
	}
}

func overflows(op byte, v, w int64, k types.Kind) bool {
	switch op {
	case '+':
		s := v + w
		return (v^s)&(w^s) < 0 || !types.IntInRange(s, k)
	case '-':
		s := v - w
		return (v^w)&(v^s) < 0 || !types.IntInRange(s, k)
	}
	p, carry := mulWide(v, w)
	return carry != 0 || !types.IntInRange(p, k)
}

// outOfRange is the error of arithmetic whose result t does not hold.
func outOfRange(row int, what string, t types.Type) error {
	hint := "CAST(x AS BIGINT)"
	switch t.Kind {
	case types.BigInt:
		hint = "CAST(x AS DECIMAL(38, 0))"
	case types.Decimal:
		hint = "CAST the operands to fewer digits, or to DOUBLE"
	case types.Date, types.Time, types.Timestamp, types.TimestampLTZ, types.IntervalDayTime, types.IntervalYearMonth:
		hint = ""
	default:
		hint = "CAST an operand to a wider type: " + hint
		return rowError(row, what+" is out of range for "+t.AsNullable().String(), hint)
	}
	if t.Kind == types.BigInt {
		hint = "CAST an operand to a wider type: " + hint
	}
	return rowError(row, what+" is out of range for "+t.AsNullable().String(), hint)
}

func divisionByZero(row int, what string) error {
	return rowError(row, "division by zero: "+what, "NULLIF(divisor, 0) makes the result NULL")
}

func divideInts[T signed](op byte, t types.Type, r Rows, x, y Arg, out []T) error {
	a, b := values[T](x.Vector), values[T](y.Vector)
	for k, n := 0, r.Count(); k < n; k++ {
		i := r.Row(k)
		v, w := a[x.At(i)], b[y.At(i)]
		if w == 0 {
			return divisionByZero(i, fmt.Sprintf("%d %c 0", v, op))
		}
		if op == '%' {
			if w == -1 {
				out[i] = 0
			} else {
				out[i] = v % w
			}
			continue
		}
		q := v / w
		if w == -1 && v < 0 && q < 0 {
			return outOfRange(i, fmt.Sprintf("%d / -1", v), t)
		}
		out[i] = q
	}
	return nil
}

func floatStep[T floating](op byte) Step {
	return func(r Rows, args []Arg, out *column.Vector) error {
		x, y := args[0], args[1]
		a, b, res := values[T](x.Vector), values[T](y.Vector), values[T](out)
		if r.Sel != nil || x.Const && y.Const {
			floatSelected(op, x, y, a, b, r, res)
			return nil
		}
		res = res[:r.N]
		switch {
		case y.Const:
			floatConst(op, a[:r.N], b[0], res)
		case x.Const:
			floatConstLeft(op, a[0], b[:r.N], res)
		default:
			floatVectors(op, a[:r.N], b[:r.N], res)
		}
		return nil
	}
}

func floatVectors[T floating](op byte, a, b, out []T) {
	b, out = b[:len(a)], out[:len(a)]
	switch op {
	case '+':
		for i, v := range a {
			out[i] = v + b[i]
		}
	case '-':
		for i, v := range a {
			out[i] = v - b[i]
		}
	case '*':
		for i, v := range a {
			out[i] = v * b[i]
		}
	case '/':
		for i, v := range a {
			out[i] = v / b[i]
		}
	}
}

func floatConst[T floating](op byte, a []T, c T, out []T) {
	out = out[:len(a)]
	switch op {
	case '+':
		for i, v := range a {
			out[i] = v + c
		}
	case '-':
		for i, v := range a {
			out[i] = v - c
		}
	case '*':
		for i, v := range a {
			out[i] = v * c
		}
	case '/':
		for i, v := range a {
			out[i] = v / c
		}
	}
}

func floatConstLeft[T floating](op byte, c T, b, out []T) {
	out = out[:len(b)]
	switch op {
	case '+':
		for i, v := range b {
			out[i] = c + v
		}
	case '-':
		for i, v := range b {
			out[i] = c - v
		}
	case '*':
		for i, v := range b {
			out[i] = c * v
		}
	case '/':
		for i, v := range b {
			out[i] = c / v
		}
	}
}

func floatSelected[T floating](op byte, x, y Arg, a, b []T, r Rows, out []T) {
	for k, n := 0, r.Count(); k < n; k++ {
		i := r.Row(k)
		v, w := a[x.At(i)], b[y.At(i)]
		switch op {
		case '+':
			out[i] = v + w
		case '-':
			out[i] = v - w
		case '*':
			out[i] = v * w
		case '/':
			out[i] = v / w
		}
	}
}

// decimalStep computes a op b of DECIMAL types s and t into type to.
func decimalStep(op byte, s, t, to types.Type) Step {
	narrow := !s.Wide() && !t.Wide()
	switch op {
	case '+', '-':
		if narrow && !to.Wide() && to.Scale == max(s.Scale, t.Scale) && to.Precision > max(s.Precision-s.Scale, t.Precision-t.Scale)+to.Scale {
			// Two numbers of at most 17 digits at the result's scale: nothing can overflow.
			fx, fy := types.Pow10Int64(to.Scale-s.Scale), types.Pow10Int64(to.Scale-t.Scale)
			if op == '-' {
				fy = -fy
			}
			return func(r Rows, args []Arg, out *column.Vector) error {
				x, y := args[0], args[1]
				for k, n := 0, r.Count(); k < n; k++ {
					i := r.Row(k)
					out.I64[i] = x.I64[x.At(i)]*fx + y.I64[y.At(i)]*fy
				}
				return nil
			}
		}
	case '*':
		if narrow && to.Scale == s.Scale+t.Scale && to.Precision >= s.Precision+t.Precision {
			if !to.Wide() {
				return func(r Rows, args []Arg, out *column.Vector) error {
					x, y := args[0], args[1]
					for k, n := 0, r.Count(); k < n; k++ {
						i := r.Row(k)
						out.I64[i] = x.I64[x.At(i)] * y.I64[y.At(i)]
					}
					return nil
				}
			}
			return func(r Rows, args []Arg, out *column.Vector) error {
				x, y := args[0], args[1]
				for k, n := 0, r.Count(); k < n; k++ {
					i := r.Row(k)
					v, w := x.I64[x.At(i)], y.I64[y.At(i)]
					hi, lo := bits.Mul64(uint64(v), uint64(w))
					out.I128[i] = types.Int128{Lo: lo, Hi: int64(hi) - v>>63&w - w>>63&v}
				}
				return nil
			}
		}
	}
	var compute func(a types.Int128, sa int, b types.Int128, sb int, t types.Type) (types.Int128, bool)
	switch op {
	case '+':
		compute = types.AddDecimal
	case '-':
		compute = types.SubDecimal
	case '*':
		compute = types.MulDecimal
	case '/':
		compute = types.DivDecimal
	default:
		compute = types.ModDecimal
	}
	divides := op == '/' || op == '%'
	return func(r Rows, args []Arg, out *column.Vector) error {
		x, y := args[0], args[1]
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			if !out.Valid.Get(i) {
				continue
			}
			a, b := x.Int128(x.At(i)), y.Int128(y.At(i))
			if divides && b.Sign() == 0 {
				return divisionByZero(i, fmt.Sprintf("%s %c 0", decimalText(a, s), op))
			}
			v, ok := compute(a, s.Scale, b, t.Scale, to)
			if !ok {
				return outOfRange(i, fmt.Sprintf("%s %c %s", decimalText(a, s), op, decimalText(b, t)), to)
			}
			if to.Wide() {
				out.I128[i] = v
			} else {
				out.I64[i] = int64(v.Lo)
			}
		}
		return nil
	}
}

func decimalText(v types.Int128, t types.Type) string {
	return string(types.AppendDecimal(nil, v, t.Scale))
}
