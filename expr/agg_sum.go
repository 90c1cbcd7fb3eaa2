package expr

import (
	"fmt"
	"math/big"
	"math/bits"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

func sumAggregates() []Aggregate {
	bind := func(result func(types.Type) types.Type) func([]Expr) ([]types.Type, types.Type, error) {
		return func(args []Expr) ([]types.Type, types.Type, error) {
			t, ok := numeric(args[0].Type())
			if !ok {
				return nil, t, errMismatch
			}
			return []types.Type{t}, result(t).AsNullable(), nil
		}
	}
	make := func(avg bool) func([]types.Type, types.Type) Accumulator {
		return func(args []types.Type, result types.Type) Accumulator {
			switch args[0].Kind {
			case types.TinyInt:
				return newSumInts[int8](args[0], result, avg)
			case types.SmallInt:
				return newSumInts[int16](args[0], result, avg)
			case types.Int:
				return newSumInts[int32](args[0], result, avg)
			case types.Float:
				return &sumFloats[float32]{avg: avg}
			case types.Double:
				return &sumFloats[float64]{avg: avg}
			}
			if args[0].Wide() {
				return &sumWide{sumState: sumState{arg: args[0], result: result, avg: avg}}
			}
			return newSumInts[int64](args[0], result, avg)
		}
	}
	// retracting is make for rows that are taken back: what adding floats has rounded cannot be taken away.
	retracting := func(avg bool) func([]types.Type, types.Type) Accumulator {
		return func(args []types.Type, result types.Type) Accumulator {
			if args[0].IsFloat() {
				return newExactSums(avg)
			}
			return make(avg)(args, result)
		}
	}
	return []Aggregate{
		{
			Name: "SUM", Syntax: "SUM([DISTINCT] number)",
			Doc: "The sum of the values that are not NULL; NULL when there is none. It has the type of the values " +
				"(DECIMAL(38, s) for decimals), but is added up in 128 bits and more: only a result out of the type's range is an error.",
			Example: "SUM(x)", Result: "5", Min: 1, Max: 1, Bind: bind(types.SumType), New: make(false), NewRetracting: retracting(false),
		},
		{
			Name: "AVG", Syntax: "AVG([DISTINCT] number)",
			Doc:     "The mean of the values that are not NULL; NULL when there is none. Of integers it is an integer, rounded towards zero.",
			Example: "AVG(x)", Result: "1", Min: 1, Max: 1, Bind: bind(types.AvgType), New: make(true), NewRetracting: retracting(true),
		},
	}
}

// sumState is what the exact sums share.
type sumState struct {
	arg, result types.Type
	avg         bool
	n           []int64 // values that are not NULL, by group
}

// finish appends the result for a sum that fits 128 bits and n values.
func (s *sumState) finish(sum types.Int128, n int64, out *column.Vector) error {
	if n == 0 {
		out.AppendNull()
		return nil
	}
	if !s.avg {
		ok := sum.Fits(types.MaxDecimalPrecision)
		if s.result.IsInteger() {
			v, fits := sum.Int64()
			ok = fits && types.IntInRange(v, s.result.Kind)
		}
		if !ok {
			return s.overflow(sum.Big())
		}
		if s.result.IsInteger() {
			out.AppendI64(int64(sum.Lo))
		} else {
			out.AppendI128(sum)
		}
		return nil
	}
	if s.result.IsInteger() {
		q, _ := sum.QuoRem(types.Int128From(n))
		out.AppendI64(int64(q.Lo))
		return nil
	}
	q, ok := types.DivDecimal(sum, s.arg.Scale, types.Int128From(n), 0, s.result)
	if !ok {
		return s.overflow(sum.Big())
	}
	out.AppendI128(q)
	return nil
}

func (s *sumState) overflow(sum *big.Int) error {
	t := s.result.AsNullable()
	if s.result.IsInteger() {
		hint := "SUM(CAST(x AS BIGINT))"
		if s.result.Kind == types.BigInt {
			hint = "SUM(CAST(x AS DECIMAL(38, 0)))"
		}
		return rowError(-1, fmt.Sprintf("SUM is out of range for %s: %s", t, sum), hint)
	}
	name := "SUM"
	if s.avg {
		name = "AVG"
	}
	return rowError(-1, fmt.Sprintf("%s is out of range for %s", name, t), name+"(CAST(x AS DOUBLE))")
}

// sumInts adds integers and decimals of 64 bits in 128 bits, which no number of rows overflows.
type sumInts[T signed] struct {
	sumState
	sums []types.Int128
}

func newSumInts[T signed](arg, result types.Type, avg bool) Accumulator {
	return &sumInts[T]{sumState: sumState{arg: arg, result: result, avg: avg}}
}

func (s *sumInts[T]) Grow(groups int) {
	s.n = growTo(s.n, groups)
	s.sums = growTo(s.sums, groups)
}

func (s *sumInts[T]) Update(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	x, valid := values[T](args[0]), args[0].Valid
	r := Rows{Sel: sel, N: n}
	n = r.Count()
	if groups == nil {
		sum, cnt := sumOne(x, valid, r)
		s.sums[0] = s.sums[0].Add(sum)
		s.n[0] += cnt
		return nil
	}
	groups = groups[:n]
	sums, ns := s.sums, s.n
	switch {
	case valid != nil:
		for k, g := range groups {
			if i := r.Row(k); valid.Get(i) {
				add64(&sums[g], int64(x[i]))
				ns[g]++
			}
		}
	case sel == nil:
		x = x[:n]
		for k, g := range groups {
			add64(&sums[g], int64(x[k]))
			ns[g]++
		}
	default:
		for k, g := range groups {
			add64(&sums[g], int64(x[sel[k]]))
			ns[g]++
		}
	}
	return nil
}

func add64(a *types.Int128, v int64) {
	lo, carry := bits.Add64(a.Lo, uint64(v), 0)
	a.Lo = lo
	a.Hi += v>>63 + int64(carry)
}

// sumOne sums the rows of one group. The high and low halves of a batch's values are added up apart, in
// four accumulators, none of which a batch can overflow.
func sumOne[T signed](x []T, valid column.Bitmap, r Rows) (types.Int128, int64) {
	var hi, lo, hi1, lo1 int64
	n := r.Count()
	count := int64(n)
	switch {
	case valid == nil && r.Sel == nil:
		x := x[:n]
		for len(x) >= 2 {
			v, w := int64(x[0]), int64(x[1])
			hi += v >> 32
			lo += v & 0xffffffff
			hi1 += w >> 32
			lo1 += w & 0xffffffff
			x = x[2:]
		}
		if len(x) > 0 {
			hi += int64(x[0]) >> 32
			lo += int64(x[0]) & 0xffffffff
		}
	default:
		count = 0
		for k := 0; k < n; k++ {
			i := r.Row(k)
			if !valid.Get(i) {
				continue
			}
			v := int64(x[i])
			hi += v >> 32
			lo += v & 0xffffffff
			count++
		}
	}
	hi += hi1
	sum := types.Int128{Lo: uint64(hi) << 32, Hi: hi >> 32}
	return sum.Add(types.Int128From(lo + lo1)), count
}

func (s *sumInts[T]) Retract(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	x, valid := values[T](args[0]), args[0].Valid
	r := Rows{Sel: sel, N: n}
	for k, n := 0, r.Count(); k < n; k++ {
		if i := r.Row(k); valid.Get(i) {
			g := groupOf(groups, k)
			s.sums[g] = s.sums[g].Sub(types.Int128From(int64(x[i])))
			s.n[g]--
		}
	}
	return nil
}

// StateTypes: the halves of the sum, as bits, and the count.
func (s *sumInts[T]) StateTypes() []types.Type {
	t := types.Of(types.BigInt).AsNotNull()
	return []types.Type{t, t, t}
}

func (s *sumInts[T]) State(out []*column.Vector, from, to int) error {
	for g := from; g < to; g++ {
		sum := s.sums[g]
		out[0].AppendI64(int64(sum.Lo))
		out[1].AppendI64(sum.Hi)
		out[2].AppendI64(s.n[g])
	}
	return nil
}

func (s *sumInts[T]) Merge(groups []uint32, state []*column.Vector, n int) error {
	for k := 0; k < n; k++ {
		g := groupOf(groups, k)
		s.sums[g] = s.sums[g].Add(types.Int128{Lo: uint64(state[0].I64[k]), Hi: state[1].I64[k]})
		s.n[g] += state[2].I64[k]
	}
	return nil
}

func (s *sumInts[T]) Result(out *column.Vector, from, to int) error {
	for g := from; g < to; g++ {
		sum := s.sums[g]
		if err := s.finish(sum, s.n[g], out); err != nil {
			return err
		}
	}
	return nil
}

func (s *sumInts[T]) Size() int64 { return int64(16*cap(s.sums) + 8*cap(s.n)) }

// sumWide adds decimals of 128 bits in 192 bits: two of 38 digits can leave 128.
type sumWide struct {
	sumState
	sums []sum192
}

type sum192 struct {
	lo, mid uint64
	hi      int64
}

func (a *sum192) add(b sum192) {
	var c uint64
	a.lo, c = bits.Add64(a.lo, b.lo, 0)
	a.mid, c = bits.Add64(a.mid, b.mid, c)
	a.hi += b.hi + int64(c)
}

func extend(v types.Int128) sum192 { return sum192{v.Lo, uint64(v.Hi), v.Hi >> 63} }

func (s *sumWide) Grow(groups int) {
	s.n = growTo(s.n, groups)
	s.sums = growTo(s.sums, groups)
}

func (s *sumWide) Update(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	x := args[0]
	r := Rows{Sel: sel, N: n}
	for k, n := 0, r.Count(); k < n; k++ {
		if i := r.Row(k); x.Valid.Get(i) {
			g := groupOf(groups, k)
			s.sums[g].add(extend(x.I128[i]))
			s.n[g]++
		}
	}
	return nil
}

func (s *sumWide) Retract(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	x := args[0]
	r := Rows{Sel: sel, N: n}
	for k, n := 0, r.Count(); k < n; k++ {
		if i := r.Row(k); x.Valid.Get(i) {
			g := groupOf(groups, k)
			s.sums[g].add(extend(x.I128[i].Neg()))
			s.n[g]--
		}
	}
	return nil
}

// StateTypes: the three words of the sum, as bits, and the count.
func (s *sumWide) StateTypes() []types.Type {
	t := types.Of(types.BigInt).AsNotNull()
	return []types.Type{t, t, t, t}
}

func (s *sumWide) State(out []*column.Vector, from, to int) error {
	for g := from; g < to; g++ {
		sum := s.sums[g]
		out[0].AppendI64(int64(sum.lo))
		out[1].AppendI64(int64(sum.mid))
		out[2].AppendI64(sum.hi)
		out[3].AppendI64(s.n[g])
	}
	return nil
}

func (s *sumWide) Merge(groups []uint32, state []*column.Vector, n int) error {
	for k := 0; k < n; k++ {
		g := groupOf(groups, k)
		s.sums[g].add(sum192{uint64(state[0].I64[k]), uint64(state[1].I64[k]), state[2].I64[k]})
		s.n[g] += state[3].I64[k]
	}
	return nil
}

func (s *sumWide) Result(out *column.Vector, from, to int) error {
	for g := from; g < to; g++ {
		sum := s.sums[g]
		v := types.Int128{Lo: sum.lo, Hi: int64(sum.mid)}
		if sum.hi == v.Hi>>63 {
			if err := s.finish(v, s.n[g], out); err != nil {
				return err
			}
			continue
		}
		wide := new(big.Int).Lsh(big.NewInt(sum.hi), 128)
		wide.Add(wide, new(big.Int).Lsh(new(big.Int).SetUint64(sum.mid), 64))
		wide.Add(wide, new(big.Int).SetUint64(sum.lo))
		if !s.avg {
			return s.overflow(wide)
		}
		q, ok := averageBig(wide, s.n[g], s.result.Scale-s.arg.Scale)
		if !ok || !q.Fits(s.result.Precision) {
			return s.overflow(wide)
		}
		out.AppendI128(q)
	}
	return nil
}

// averageBig returns sum·10^scale / n, rounded half away from zero.
func averageBig(sum *big.Int, n int64, scale int) (types.Int128, bool) {
	num := new(big.Int).Set(sum)
	den := big.NewInt(n)
	pow := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, -scale))), nil)
	if scale >= 0 {
		num.Mul(num, pow)
	} else {
		den.Mul(den, pow)
	}
	half := new(big.Int).Rsh(den, 1)
	if num.Sign() < 0 {
		num.Sub(num, half)
	} else {
		num.Add(num, half)
	}
	return types.Int128FromBig(num.Quo(num, den))
}

func (s *sumWide) Size() int64 { return int64(24*cap(s.sums) + 8*cap(s.n)) }

// sumFloats adds FLOAT and DOUBLE in DOUBLE, in row order within a group.
type sumFloats[T floating] struct {
	avg  bool
	sums []float64
	n    []int64
}

func (s *sumFloats[T]) Grow(groups int) {
	s.n = growTo(s.n, groups)
	s.sums = growTo(s.sums, groups)
}

func (s *sumFloats[T]) Update(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	x, valid := values[T](args[0]), args[0].Valid
	r := Rows{Sel: sel, N: n}
	n = r.Count()
	sums, ns := s.sums, s.n
	switch {
	case groups == nil && valid == nil:
		sum := sums[0]
		if sel == nil {
			for _, v := range x[:n] {
				sum += float64(v)
			}
		} else {
			for _, i := range sel {
				sum += float64(x[i])
			}
		}
		sums[0] = sum
		ns[0] += int64(n)
	case valid != nil || groups == nil:
		for k := 0; k < n; k++ {
			if i := r.Row(k); valid.Get(i) {
				g := groupOf(groups, k)
				sums[g] += float64(x[i])
				ns[g]++
			}
		}
	case sel == nil:
		x, groups = x[:n], groups[:n]
		for k, g := range groups {
			sums[g] += float64(x[k])
			ns[g]++
		}
	default:
		for k, g := range groups[:n] {
			sums[g] += float64(x[sel[k]])
			ns[g]++
		}
	}
	return nil
}

func (s *sumFloats[T]) Retract([]uint32, []*column.Vector, []uint16, int) error {
	return notRetracting("SUM and AVG")
}

func (s *sumFloats[T]) StateTypes() []types.Type {
	return []types.Type{types.Of(types.Double).AsNotNull(), types.Of(types.BigInt).AsNotNull()}
}

func (s *sumFloats[T]) State(out []*column.Vector, from, to int) error {
	for g := from; g < to; g++ {
		sum := s.sums[g]
		out[0].AppendF64(sum)
		out[1].AppendI64(s.n[g])
	}
	return nil
}

func (s *sumFloats[T]) Merge(groups []uint32, state []*column.Vector, n int) error {
	for k := 0; k < n; k++ {
		g := groupOf(groups, k)
		s.sums[g] += state[0].F64[k]
		s.n[g] += state[1].I64[k]
	}
	return nil
}

func (s *sumFloats[T]) Result(out *column.Vector, from, to int) error {
	for g := from; g < to; g++ {
		sum := s.sums[g]
		switch {
		case s.n[g] == 0:
			out.AppendNull()
		case s.avg:
			out.AppendF64(sum / float64(s.n[g]))
		default:
			out.AppendF64(sum)
		}
	}
	return nil
}

func (s *sumFloats[T]) Size() int64 { return int64(8*cap(s.sums) + 8*cap(s.n)) }
