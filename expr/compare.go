package expr

import (
	"bytes"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// cmpOp is one of the six comparisons.
type cmpOp uint8

const (
	opEQ cmpOp = iota
	opNE
	opLT
	opLE
	opGT
	opGE
)

// flip returns the operator for exchanged operands.
func (op cmpOp) flip() cmpOp { return [...]cmpOp{opEQ, opNE, opGT, opGE, opLT, opLE}[op] }

// truth returns the result by sign of a three-way comparison plus one.
func (op cmpOp) truth() [3]bool {
	return [...][3]bool{
		opEQ: {false, true, false}, opNE: {true, false, true}, opLT: {true, false, false},
		opLE: {true, true, false}, opGT: {false, false, true}, opGE: {false, true, true},
	}[op]
}

// number is what Go compares with its own operators. DOUBLE and FLOAT follow IEEE: NaN equals nothing.
type number interface {
	int8 | int16 | int32 | int64 | float32 | float64
}

// values returns the slice of v that holds elements of type T.
func values[T any](v *column.Vector) []T {
	var zero T
	switch any(zero).(type) {
	case bool:
		return *any(&v.Bool).(*[]T)
	case int8:
		return *any(&v.I8).(*[]T)
	case int16:
		return *any(&v.I16).(*[]T)
	case int32:
		return *any(&v.I32).(*[]T)
	case int64:
		return *any(&v.I64).(*[]T)
	case types.Int128:
		return *any(&v.I128).(*[]T)
	case float32:
		return *any(&v.F32).(*[]T)
	case float64:
		return *any(&v.F64).(*[]T)
	}
	panic("expr: no such physical form")
}

func cmpConst[T number](op cmpOp, x []T, c T, r Rows, out []bool) {
	if r.Sel != nil {
		switch op {
		case opEQ:
			for _, i := range r.Sel {
				out[i] = x[i] == c
			}
		case opNE:
			for _, i := range r.Sel {
				out[i] = x[i] != c
			}
		case opLT:
			for _, i := range r.Sel {
				out[i] = x[i] < c
			}
		case opLE:
			for _, i := range r.Sel {
				out[i] = x[i] <= c
			}
		case opGT:
			for _, i := range r.Sel {
				out[i] = x[i] > c
			}
		case opGE:
			for _, i := range r.Sel {
				out[i] = x[i] >= c
			}
		}
		return
	}
	x, out = x[:r.N], out[:r.N]
	switch op {
	case opEQ:
		for i, v := range x {
			out[i] = v == c
		}
	case opNE:
		for i, v := range x {
			out[i] = v != c
		}
	case opLT:
		for i, v := range x {
			out[i] = v < c
		}
	case opLE:
		for i, v := range x {
			out[i] = v <= c
		}
	case opGT:
		for i, v := range x {
			out[i] = v > c
		}
	case opGE:
		for i, v := range x {
			out[i] = v >= c
		}
	}
}

func cmpVectors[T number](op cmpOp, x, y []T, r Rows, out []bool) {
	switch op {
	case opGT, opGE:
		x, y, op = y, x, op.flip()
	}
	if r.Sel != nil {
		switch op {
		case opEQ:
			for _, i := range r.Sel {
				out[i] = x[i] == y[i]
			}
		case opNE:
			for _, i := range r.Sel {
				out[i] = x[i] != y[i]
			}
		case opLT:
			for _, i := range r.Sel {
				out[i] = x[i] < y[i]
			}
		case opLE:
			for _, i := range r.Sel {
				out[i] = x[i] <= y[i]
			}
		}
		return
	}
	x, y, out = x[:r.N], y[:r.N], out[:r.N]
	switch op {
	case opEQ:
		for i, v := range x {
			out[i] = v == y[i]
		}
	case opNE:
		for i, v := range x {
			out[i] = v != y[i]
		}
	case opLT:
		for i, v := range x {
			out[i] = v < y[i]
		}
	case opLE:
		for i, v := range x {
			out[i] = v <= y[i]
		}
	}
}

// selConst appends the rows at which x op c holds; it has no branch that depends on a value.
func selConst[T number](op cmpOp, x []T, c T, r Rows, buf []uint16) []uint16 {
	j := 0
	if r.Sel != nil {
		switch op {
		case opEQ:
			for _, i := range r.Sel {
				buf[j] = i
				if x[i] == c {
					j++
				}
			}
		case opNE:
			for _, i := range r.Sel {
				buf[j] = i
				if x[i] != c {
					j++
				}
			}
		case opLT:
			for _, i := range r.Sel {
				buf[j] = i
				if x[i] < c {
					j++
				}
			}
		case opLE:
			for _, i := range r.Sel {
				buf[j] = i
				if x[i] <= c {
					j++
				}
			}
		case opGT:
			for _, i := range r.Sel {
				buf[j] = i
				if x[i] > c {
					j++
				}
			}
		case opGE:
			for _, i := range r.Sel {
				buf[j] = i
				if x[i] >= c {
					j++
				}
			}
		}
		return buf[:j]
	}
	x = x[:r.N]
	switch op {
	case opEQ:
		for i, v := range x {
			buf[j] = uint16(i)
			if v == c {
				j++
			}
		}
	case opNE:
		for i, v := range x {
			buf[j] = uint16(i)
			if v != c {
				j++
			}
		}
	case opLT:
		for i, v := range x {
			buf[j] = uint16(i)
			if v < c {
				j++
			}
		}
	case opLE:
		for i, v := range x {
			buf[j] = uint16(i)
			if v <= c {
				j++
			}
		}
	case opGT:
		for i, v := range x {
			buf[j] = uint16(i)
			if v > c {
				j++
			}
		}
	case opGE:
		for i, v := range x {
			buf[j] = uint16(i)
			if v >= c {
				j++
			}
		}
	}
	return buf[:j]
}

func selVectors[T number](op cmpOp, x, y []T, r Rows, buf []uint16) []uint16 {
	switch op {
	case opGT, opGE:
		x, y, op = y, x, op.flip()
	}
	j := 0
	if r.Sel != nil {
		switch op {
		case opEQ:
			for _, i := range r.Sel {
				buf[j] = i
				if x[i] == y[i] {
					j++
				}
			}
		case opNE:
			for _, i := range r.Sel {
				buf[j] = i
				if x[i] != y[i] {
					j++
				}
			}
		case opLT:
			for _, i := range r.Sel {
				buf[j] = i
				if x[i] < y[i] {
					j++
				}
			}
		case opLE:
			for _, i := range r.Sel {
				buf[j] = i
				if x[i] <= y[i] {
					j++
				}
			}
		}
		return buf[:j]
	}
	x, y = x[:r.N], y[:r.N]
	switch op {
	case opEQ:
		for i, v := range x {
			buf[j] = uint16(i)
			if v == y[i] {
				j++
			}
		}
	case opNE:
		for i, v := range x {
			buf[j] = uint16(i)
			if v != y[i] {
				j++
			}
		}
	case opLT:
		for i, v := range x {
			buf[j] = uint16(i)
			if v < y[i] {
				j++
			}
		}
	case opLE:
		for i, v := range x {
			buf[j] = uint16(i)
			if v <= y[i] {
				j++
			}
		}
	}
	return buf[:j]
}

// compareStep returns the step of a comparison of operands of types s and t, as comparable makes them.
func compareStep(op cmpOp, s, t types.Type) Step {
	switch column.PhysicalOf(s) {
	case column.PhysBool:
		return compareOther(op, cmpBools)
	case column.PhysI8:
		return compareNumbers[int8](op)
	case column.PhysI16:
		return compareNumbers[int16](op)
	case column.PhysI32:
		return compareNumbers[int32](op)
	case column.PhysI64, column.PhysI128:
		if s.Kind == types.Decimal && (s.Scale != t.Scale || s.Wide() || t.Wide()) {
			return compareOther(op, cmpDecimals(s, t))
		}
		return compareNumbers[int64](op)
	case column.PhysF32:
		return compareNumbers[float32](op)
	case column.PhysF64:
		return compareNumbers[float64](op)
	case column.PhysList, column.PhysRow:
		return compareOther(op, cmpNested)
	}
	if op == opEQ || op == opNE {
		return compareTextEqual(op == opEQ)
	}
	return compareOther(op, cmpTexts)
}

// compareTextEqual is = and <> of texts, which mostly differ in length already.
func compareTextEqual(want bool) Step {
	return func(r Rows, args []Arg, out *column.Vector) error {
		x, y := args[0], args[1]
		if x.Const {
			x, y = y, x
		}
		if !y.Const || x.Const {
			for k, n := 0, r.Count(); k < n; k++ {
				i := r.Row(k)
				out.Bool[i] = bytes.Equal(x.text(i), y.text(i)) == want
			}
			return nil
		}
		c := string(y.Value(0))
		data, offsets := x.Bytes, x.Offsets
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			out.Bool[i] = (string(data[offsets[i]:offsets[i+1]]) == c) == want
		}
		return nil
	}
}

func compareNumbers[T number](op cmpOp) Step {
	return func(r Rows, args []Arg, out *column.Vector) error {
		x, y := values[T](args[0].Vector), values[T](args[1].Vector)
		switch {
		case args[0].Const && args[1].Const: // x and one of the values of IN, among values that vary
			one := []bool{false}
			cmpConst(op, x[:1], y[0], Rows{N: 1}, one)
			for k, n := 0, r.Count(); k < n; k++ {
				out.Bool[r.Row(k)] = one[0]
			}
		case args[1].Const:
			cmpConst(op, x, y[0], r, out.Bool)
		case args[0].Const:
			cmpConst(op.flip(), y, x[0], r, out.Bool)
		default:
			cmpVectors(op, x, y, r, out.Bool)
		}
		return nil
	}
}

// compareOther compares by a three-way function of two positions.
func compareOther(op cmpOp, three func(x *column.Vector, i int, y *column.Vector, j int) int) Step {
	truth := op.truth()
	return func(r Rows, args []Arg, out *column.Vector) error {
		x, y := args[0], args[1]
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			out.Bool[i] = truth[1+three(x.Vector, x.At(i), y.Vector, y.At(i))]
		}
		return nil
	}
}

func cmpBools(x *column.Vector, i int, y *column.Vector, j int) int {
	return b2i(x.Bool[i]) - b2i(y.Bool[j])
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func cmpTexts(x *column.Vector, i int, y *column.Vector, j int) int {
	return bytes.Compare(x.Bytes[x.Offsets[i]:x.Offsets[i+1]], y.Bytes[y.Offsets[j]:y.Offsets[j+1]])
}

// cmpNested says whether two nested values are equal; they have no order.
func cmpNested(x *column.Vector, i int, y *column.Vector, j int) int {
	return b2i(!column.Equal(x, i, y, j))
}

// cmpDecimals compares decimals of any scales exactly.
func cmpDecimals(s, t types.Type) func(x *column.Vector, i int, y *column.Vector, j int) int {
	return func(x *column.Vector, i int, y *column.Vector, j int) int {
		return types.CmpDecimal(x.Int128(i), s.Scale, y.Int128(j), t.Scale)
	}
}

// compareSelect is compareStep for filters.
func compareSelect(op cmpOp, s, t types.Type) SelectStep {
	var step SelectStep
	switch column.PhysicalOf(s) {
	case column.PhysI8:
		step = selectNumbers[int8](op)
	case column.PhysI16:
		step = selectNumbers[int16](op)
	case column.PhysI32:
		step = selectNumbers[int32](op)
	case column.PhysI64:
		if s.Kind == types.Decimal && (s.Scale != t.Scale || t.Wide()) {
			step = selectOther(op, cmpDecimals(s, t))
		} else {
			step = selectNumbers[int64](op)
		}
	case column.PhysF32:
		step = selectNumbers[float32](op)
	case column.PhysF64:
		step = selectNumbers[float64](op)
	case column.PhysI128:
		step = selectOther(op, cmpDecimals(s, t))
	case column.PhysBool:
		step = selectOther(op, cmpBools)
	case column.PhysList, column.PhysRow:
		step = selectOther(op, cmpNested)
	default:
		if op == opEQ {
			step = selectTextEqual
		} else {
			step = selectTextOrder(op)
		}
	}
	return func(r Rows, args []Arg, buf []uint16) ([]uint16, error) {
		for _, a := range args {
			if a.Const && a.IsNull(0) {
				return buf[:0], nil
			}
		}
		buf, err := step(r, args, buf)
		for _, a := range args {
			if !a.Const && a.Valid != nil {
				buf = narrowValid(Rows{Sel: buf, N: r.N}, a.Valid, buf)
			}
		}
		return buf, err
	}
}

func selectNumbers[T number](op cmpOp) SelectStep {
	return func(r Rows, args []Arg, buf []uint16) ([]uint16, error) {
		x, y := values[T](args[0].Vector), values[T](args[1].Vector)
		switch {
		case args[0].Const && args[1].Const:
			return selectOther(op, func(*column.Vector, int, *column.Vector, int) int {
				return threeWay(x[0], y[0])
			})(r, args, buf)
		case args[1].Const:
			return selConst(op, x, y[0], r, buf), nil
		case args[0].Const:
			return selConst(op.flip(), y, x[0], r, buf), nil
		}
		return selVectors(op, x, y, r, buf), nil
	}
}

// threeWay compares, with 2 for what cannot be ordered.
func threeWay[T number](x, y T) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	case x == y:
		return 0
	}
	return 2
}

func selectOther(op cmpOp, three func(x *column.Vector, i int, y *column.Vector, j int) int) SelectStep {
	t := op.truth()
	truth := [4]bool{t[0], t[1], t[2], op == opNE} // the last: NaN differs from everything
	return func(r Rows, args []Arg, buf []uint16) ([]uint16, error) {
		x, y := args[0], args[1]
		j := 0
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			buf[j] = uint16(i)
			if truth[1+three(x.Vector, x.At(i), y.Vector, y.At(i))] {
				j++
			}
		}
		return buf[:j], nil
	}
}

func selectTextEqual(r Rows, args []Arg, buf []uint16) ([]uint16, error) {
	x, y := args[0], args[1]
	if x.Const {
		x, y = y, x
	}
	j := 0
	if y.Const && !x.Const {
		c := string(y.Value(0))
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			v := x.Bytes[x.Offsets[i]:x.Offsets[i+1]]
			buf[j] = uint16(i)
			if string(v) == c {
				j++
			}
		}
		return buf[:j], nil
	}
	for k, n := 0, r.Count(); k < n; k++ {
		i := r.Row(k)
		buf[j] = uint16(i)
		if bytes.Equal(x.Value(x.At(i)), y.Value(y.At(i))) {
			j++
		}
	}
	return buf[:j], nil
}
