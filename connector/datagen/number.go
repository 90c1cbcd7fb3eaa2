package datagen

import (
	"math"
	"math/bits"
	"strconv"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// boolean makes TRUE and FALSE.
type boolean struct{ name uint64 }

func (boolean) size() int64 { return 1 }

func (g boolean) fill(v *column.Vector, a rows) {
	v.Resize(a.n)
	x := uint64(a.stream(g.name)) + a.row*gamma
	for i := range v.Bool {
		v.Bool[i] = mix(x)>>63 != 0
		x += gamma
	}
}

// integer makes whole numbers; also intervals, which are numbers of months or milliseconds, and decimals of
// up to 18 digits.
type integer struct {
	name uint64
	min  int64
	span uint64 // how many different numbers; 0: 2^64
}

func (*integer) size() int64 { return 8 }

func (g *integer) fill(v *column.Vector, a rows) {
	v.Resize(a.n)
	s := a.stream(g.name)
	switch column.PhysicalOf(v.Type) {
	case column.PhysI8:
		integers(v.I8, s, a.row, g)
	case column.PhysI16:
		integers(v.I16, s, a.row, g)
	case column.PhysI32:
		integers(v.I32, s, a.row, g)
	default:
		integers(v.I64, s, a.row, g)
	}
}

func integers[T int8 | int16 | int32 | int64](dst []T, s stream, row uint64, g *integer) {
	x := uint64(s) + row*gamma
	if g.span == 0 {
		for i := range dst {
			dst[i] = T(mix(x))
			x += gamma
		}
		return
	}
	span, least := g.span, uint64(g.min)
	for i := range dst {
		hi, _ := bits.Mul64(mix(x), span)
		dst[i] = T(least + hi)
		x += gamma
	}
}

// limits returns the least and the greatest value of a kind that is held as a whole number.
func limits(k types.Kind) (least, greatest int64) {
	switch k {
	case types.TinyInt:
		return math.MinInt8, math.MaxInt8
	case types.SmallInt:
		return math.MinInt16, math.MaxInt16
	case types.Int, types.IntervalYearMonth:
		return math.MinInt32, math.MaxInt32
	}
	return math.MinInt64, math.MaxInt64
}

func (f *fields) integer(path string, t types.Type) (generator, error) {
	least, greatest := limits(t.Kind)
	first, last := least, greatest
	if t.Kind == types.IntervalYearMonth { // as Flink
		first, last = 0, 120_000
	}
	low, err := f.number("min", first, least, greatest)
	if err != nil {
		return nil, err
	}
	high, err := f.number("max", last, least, greatest)
	if err != nil {
		return nil, err
	}
	if low > high {
		return nil, f.crossed(strconv.FormatInt(low, 10), strconv.FormatInt(high, 10))
	}
	return &integer{name: name(path), min: low, span: uint64(high) - uint64(low) + 1}, nil
}

// crossed is the error for a min above the max.
func (f *fields) crossed(low, high string) error {
	path := f.parts[len(f.parts)-1].path
	key := "fields." + path + ".max"
	if _, ok := f.options[key]; !ok {
		key = "fields." + path + ".min"
	}
	return &connector.OptionError{Key: key, Msg: "the least value of " + connector.QuoteName(path) + ", " + low + ", is above the greatest, " + high}
}

// float makes FLOAT and DOUBLE.
type float struct {
	name     uint64
	min, max float64
}

func (*float) size() int64 { return 8 }

func (g *float) fill(v *column.Vector, a rows) {
	v.Resize(a.n)
	x := uint64(a.stream(g.name)) + a.row*gamma
	for i := range v.F32[:lenOf(v.F32, v, types.Float)] {
		u := unit(mix(x))
		v.F32[i] = float32(g.min*(1-u) + g.max*u) // max-min may be beyond a DOUBLE
		x += gamma
	}
	for i := range v.F64[:lenOf(v.F64, v, types.Double)] {
		u := unit(mix(x))
		v.F64[i] = g.min*(1-u) + g.max*u
		x += gamma
	}
}

// lenOf is the length of the slice when it is the one that a kind uses.
func lenOf[T any](s []T, v *column.Vector, k types.Kind) int {
	if v.Type.Kind == k {
		return len(s)
	}
	return 0
}

func (f *fields) float(path string, t types.Type) (generator, error) {
	g := &float{name: name(path), min: math.SmallestNonzeroFloat64, max: math.MaxFloat64} // as Flink
	width := 64
	if t.Kind == types.Float {
		g.min, g.max, width = math.SmallestNonzeroFloat32, math.MaxFloat32, 32
	}
	for _, o := range []struct {
		name string
		to   *float64
	}{{"min", &g.min}, {"max", &g.max}} {
		key, text, ok := f.get(o.name)
		if !ok {
			continue
		}
		x, err := strconv.ParseFloat(text, width)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fault(key, text, "is not a number that a %s can be", t.AsNullable())
		}
		*o.to = x
	}
	if g.min > g.max {
		return nil, f.crossed(string(types.AppendFloat64(nil, g.min)), string(types.AppendFloat64(nil, g.max)))
	}
	return g, nil
}

// wideDecimal makes decimals of more than 18 digits.
type wideDecimal struct {
	name     uint64
	min      types.Int128
	spanHigh uint64
	spanLow  uint64
}

func (*wideDecimal) size() int64 { return 16 }

func (g *wideDecimal) fill(v *column.Vector, a rows) {
	v.Resize(a.n)
	high, low := a.stream(g.name), a.stream(g.name+1)
	for i := range v.I128 {
		row := a.row + uint64(i)
		v.I128[i] = g.min.Add(below128(high.at(row), low.at(row), g.spanHigh, g.spanLow))
	}
}

// below128 turns a random number of 128 bits into one below n: the high half of their product.
func below128(high, low, nHigh, nLow uint64) types.Int128 {
	carry, _ := bits.Mul64(low, nLow)
	h1, l1 := bits.Mul64(low, nHigh)
	h2, l2 := bits.Mul64(high, nLow)
	h3, l3 := bits.Mul64(high, nHigh)
	sum, c1 := bits.Add64(l1, l2, 0)
	_, c2 := bits.Add64(sum, carry, 0)
	lo, c3 := bits.Add64(l3, h1, c1)
	lo, c4 := bits.Add64(lo, h2, c2)
	return types.Int128{Lo: lo, Hi: int64(h3 + c3 + c4)}
}

func (f *fields) decimal(path string, t types.Type) (generator, error) {
	low, high := types.Int128{}, types.Pow10(t.Precision).Sub(types.Int128From(1)) // from 0, as Flink
	for _, o := range []struct {
		name string
		to   *types.Int128
	}{{"min", &low}, {"max", &high}} {
		key, text, ok := f.get(o.name)
		if !ok {
			continue
		}
		x, err := types.ParseDecimalExact([]byte(text), t.Precision, t.Scale)
		if err != nil {
			return nil, fault(key, text, "is not a number that a %s can be", t.AsNullable())
		}
		*o.to = x
	}
	if low.Cmp(high) > 0 {
		return nil, f.crossed(string(types.AppendDecimal(nil, low, t.Scale)), string(types.AppendDecimal(nil, high, t.Scale)))
	}
	span := high.Sub(low).Add(types.Int128From(1))
	if t.Wide() {
		return &wideDecimal{name: name(path), min: low, spanHigh: uint64(span.Hi), spanLow: span.Lo}, nil
	}
	return &integer{name: name(path), min: int64(low.Lo), span: span.Lo}, nil
}
