package column

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sluice-sql/sluice/types"
	"github.com/stretchr/testify/require"
)

func everyType() []types.Type {
	return []types.Type{
		types.Of(types.Null), types.Of(types.Boolean), types.Of(types.TinyInt), types.Of(types.SmallInt), types.Of(types.Int),
		types.Of(types.BigInt), types.Of(types.Float), types.Of(types.Double), types.DecimalOf(18, 2), types.DecimalOf(38, 5),
		types.WithPrecision(types.Char, 3), types.String(), types.WithPrecision(types.Binary, 2), types.Bytes(),
		types.Of(types.Date), types.WithPrecision(types.Time, 3), types.WithPrecision(types.Timestamp, 6),
		types.WithPrecision(types.Timestamp, 9), types.WithPrecision(types.TimestampLTZ, 3),
		types.Of(types.IntervalYearMonth), types.Of(types.IntervalDayTime),
		types.ArrayOf(types.Of(types.Int)), types.ArrayOf(types.ArrayOf(types.String())), types.ArrayOf(types.Of(types.Null)),
		types.RowOf(types.Field{Name: "a", Type: types.Of(types.Double)}, types.Field{Name: "b c", Type: types.ArrayOf(types.Of(types.TinyInt)), Comment: "it's"},
			types.Field{Name: "n", Type: types.Of(types.BigInt).AsNotNull()}),
		types.MapOf(types.String().AsNotNull(), types.DecimalOf(38, 5)), types.MultisetOf(types.Of(types.Boolean)),
		types.ArrayOf(types.RowOf(types.Field{Name: "m", Type: types.MapOf(types.Of(types.BigInt), types.String())})),
	}
}

// appendRandom appends a value out of few, so that equal ones and extremes are common.
func appendRandom(v *Vector, r *rand.Rand) {
	pick := int64(r.IntN(7) - 3)
	switch PhysicalOf(v.Type) {
	case PhysNone:
		v.AppendNull()
	case PhysBool:
		v.AppendBool(pick > 0)
	case PhysI8:
		v.AppendI64([]int64{math.MinInt8, math.MaxInt8, pick}[r.IntN(3)])
	case PhysI16:
		v.AppendI64([]int64{math.MinInt16, math.MaxInt16, pick}[r.IntN(3)])
	case PhysI32:
		v.AppendI64([]int64{math.MinInt32, math.MaxInt32, pick}[r.IntN(3)])
	case PhysI64:
		v.AppendI64([]int64{math.MinInt64, math.MaxInt64, pick}[r.IntN(3)])
	case PhysI128:
		v.AppendI128([]types.Int128{types.Pow10(38).Neg(), types.Pow10(38), types.Int128From(pick)}[r.IntN(3)])
	case PhysF32, PhysF64:
		v.AppendF64([]float64{math.NaN(), math.Float64frombits(0xfff8000000000123), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), float64(pick) / 2}[r.IntN(7)])
	case PhysBytes:
		v.AppendString([]string{"", "a", "b", "a ", "ab", "ä", "a longer text of more than sixteen bytes", "𝄞"}[r.IntN(8)])
	case PhysRow:
		for _, c := range v.Children {
			appendRandomOrNull(c, r)
		}
		v.EndRow()
	case PhysList:
		n := []int{0, 1, 1, 2, 3, 30}[r.IntN(6)]
		if v.Type.Kind == types.Array {
			for range n {
				appendRandomOrNull(v.Children[0], r)
			}
		} else {
			appendEntries(v, n, r)
		}
		v.EndRow()
	}
}

func appendRandomOrNull(v *Vector, r *rand.Rand) {
	if !v.Type.NotNull && r.IntN(5) == 0 {
		v.AppendNull()
	} else {
		appendRandom(v, r)
	}
}

// appendEntries appends the entries of a map, whose keys are there once each.
func appendEntries(v *Vector, n int, r *rand.Rand) {
	keys := v.Children[0]
	first := keys.Len
next:
	for range n {
		appendRandomOrNull(keys, r)
		for e := first; e < keys.Len-1; e++ {
			if equal(keys, e, keys, keys.Len-1) {
				kept := New(keys.Type, keys.Len)
				kept.AppendRange(keys, 0, keys.Len-1)
				*keys = *kept
				continue next
			}
		}
		appendRandomOrNull(v.Children[1], r)
	}
}

func randomBatch(r *rand.Rand, n int, nulls, kinds bool) *Batch {
	b := NewBatch(everyType(), n)
	for _, v := range b.Cols {
		for i := 0; i < n; i++ {
			if nulls && r.IntN(4) == 0 {
				v.AppendNull()
			} else {
				appendRandom(v, r)
			}
		}
	}
	b.N = n
	if kinds {
		for i := 0; i < n; i++ {
			b.Kind = append(b.Kind, types.RowKind(r.IntN(4)))
		}
	}
	return b
}

func randomSelection(r *rand.Rand, n int) []uint16 {
	sel := []uint16{}
	for i := 0; i < n; i++ {
		if r.IntN(3) > 0 {
			sel = append(sel, uint16(i))
		}
	}
	return sel
}

// requireSameRows compares the selected rows of two batches, by value.
func requireSameRows(t *testing.T, want, got *Batch) {
	t.Helper()
	require.Equal(t, want.Rows(), got.Rows())
	for c, v := range want.Cols {
		require.True(t, v.Type.Equal(got.Cols[c].Type))
	}
	for i := 0; i < want.Rows(); i++ {
		p, q := want.Row(i), got.Row(i)
		if !EqualRows(want.Cols, p, got.Cols, q) {
			t.Fatalf("row %d differs", i)
		}
		wk, gk := types.Insert, types.Insert
		if want.Kind != nil {
			wk = want.Kind[p]
		}
		if got.Kind != nil {
			gk = got.Kind[q]
		}
		require.Equal(t, wk, gk)
	}
}

// rowByRow is the plain version of every way of copying rows.
func rowByRow(dst, src *Batch, from, to int) {
	for i := from; i < to; i++ {
		dst.AppendRow(src, src.Row(i))
	}
}

func TestCopyingRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for n := 0; n < 300; n++ {
		first := randomBatch(r, r.IntN(200), n%3 == 0, n%5 == 0)
		second := randomBatch(r, r.IntN(200), n%2 == 0, n%7 == 0)
		if n%4 > 1 {
			second.Sel = randomSelection(r, second.N)
		}
		want, got := NewBatch(everyType(), 0), NewBatch(everyType(), 0)
		for _, b := range []*Batch{first, second, first} {
			rowByRow(want, b, 0, b.Rows())
			got.AppendBatch(b)
		}
		require.Equal(t, want.N, got.N)
		requireSameRows(t, want, got)
		for c := range want.Cols {
			require.Equal(t, want.Cols[c].NullCount(), got.Cols[c].NullCount())
		}

		from := r.IntN(second.Rows() + 1)
		to := from + r.IntN(second.Rows()-from+1)
		part := NewBatch(everyType(), 0)
		rowByRow(part, second, from, to)
		slice := second.Slice(from, to)
		require.Nil(t, slice.Sel)
		requireSameRows(t, part, slice)
		require.Equal(t, second.Kind == nil, slice.Kind == nil)

		requireSameRows(t, second, second.Copy())
		requireSameRows(t, second, second.Dense())

		got.Reset()
		require.Zero(t, got.Rows())
		got.AppendBatch(second)
		requireSameRows(t, second, got)
	}
}

// A selection can name row 65,535, the last.
func TestLastRowOfTheLargestBatch(t *testing.T) {
	for _, typ := range []types.Type{types.Of(types.Boolean), types.Of(types.TinyInt), types.Of(types.SmallInt), types.Of(types.Int), types.Of(types.BigInt),
		types.Of(types.Float), types.Of(types.Double), types.DecimalOf(30, 2), types.String()} {
		v := New(typ, MaxRows)
		for i := range MaxRows {
			switch PhysicalOf(typ) {
			case PhysBool:
				v.AppendBool(i == MaxRows-1)
			case PhysBytes:
				v.AppendString(fmt.Sprint(i))
			case PhysF32, PhysF64:
				v.AppendF64(float64(i))
			default:
				v.AppendI64(int64(i % 100))
			}
		}
		v.SetNull(MaxRows - 2)
		sel := []uint16{0, MaxRows - 2, MaxRows - 1}
		by, whole := New(typ, 0), New(typ, 0)
		by.AppendVector(v, sel, 0)
		whole.AppendRange(v, MaxRows-3, 3)
		one := New(typ, 0)
		one.AppendFrom(v, MaxRows-1)
		require.Equal(t, 3, by.Len)
		require.True(t, by.IsNull(1) && whole.IsNull(1))
		require.Zero(t, Compare(v, MaxRows-1, by, 2), typ)
		require.Zero(t, Compare(v, MaxRows-1, whole, 2), typ)
		require.Zero(t, Compare(v, MaxRows-1, one, 0), typ)
		all, some := make([]uint64, MaxRows), make([]uint64, 3)
		Hash([]*Vector{v}, nil, MaxRows, all)
		Hash([]*Vector{v}, sel, 0, some)
		require.Equal(t, []uint64{all[0], all[MaxRows-2], all[MaxRows-1]}, some)
	}
}

func TestAppendNullTypedRows(t *testing.T) {
	nothing := New(types.Of(types.Null), 0)
	nothing.AppendNull()
	nothing.AppendNull()
	for _, typ := range everyType() {
		v := New(typ, 0)
		v.AppendVector(nothing, nil, 2)
		v.AppendVector(nothing, []uint16{1}, 0)
		v.AppendFrom(nothing, 0)
		require.Equal(t, 4, v.Len)
		require.Equal(t, 4, v.NullCount(), typ)
	}
}

// A batch that lends its vectors out may lend the slice of them as well.
func TestResetOfSharedBatchLeavesTheOwnersVectors(t *testing.T) {
	owner := NewBatch([]types.Type{types.Of(types.Int)}, 1)
	owner.Cols[0].AppendI64(7)
	owner.N = 1
	reader := &Batch{Cols: owner.Cols, N: 1, Shared: true}
	reader.Reset()
	reader.Cols[0].AppendI64(8)
	require.Equal(t, int64(7), owner.Cols[0].Int64(0))
	require.Equal(t, 1, owner.Cols[0].Len)
}

func TestSetNullAfterResize(t *testing.T) {
	v := New(types.Of(types.Int), 0)
	v.Resize(130)
	v.SetNull(129)
	v.SetNull(0)
	require.Equal(t, 2, v.NullCount())
	v.AppendI64(1)
	require.False(t, v.IsNull(130))
	require.True(t, v.IsNull(129))
}

func BenchmarkGather(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	sel := randomSelection(r, DefaultRows)
	for _, typ := range []types.Type{types.Of(types.BigInt), types.Of(types.Double), types.String()} {
		for _, nulls := range []bool{false, true} {
			src := New(typ, DefaultRows)
			for i := 0; i < DefaultRows; i++ {
				if nulls && i%10 == 0 {
					src.AppendNull()
				} else {
					appendRandom(src, r)
				}
			}
			name := typ.String()
			if nulls {
				name += " with NULLs"
			}
			dst := New(typ, DefaultRows)
			b.Run(name+"/selected", func(b *testing.B) {
				for b.Loop() {
					dst.Reset()
					dst.AppendVector(src, sel, 0)
				}
			})
			b.Run(name+"/all", func(b *testing.B) {
				for b.Loop() {
					dst.Reset()
					dst.AppendVector(src, nil, DefaultRows)
				}
			})
		}
	}
}
