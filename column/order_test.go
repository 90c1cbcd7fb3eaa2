package column

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sluice-sql/sluice/types"
	"github.com/stretchr/testify/require"
)

func textVector(t types.Type, values ...string) *Vector {
	v := New(t, len(values))
	for _, s := range values {
		v.AppendString(s)
	}
	return v
}

func intVector(t types.Type, values ...int64) *Vector {
	v := New(t, len(values))
	for _, x := range values {
		v.AppendI64(x)
	}
	return v
}

func floatVector(t types.Type, values ...float64) *Vector {
	v := New(t, len(values))
	for _, x := range values {
		v.AppendF64(x)
	}
	return v
}

// Each vector is written in rising order; NULL goes below all of it.
func TestCompareOrder(t *testing.T) {
	wide := New(types.DecimalOf(38, 2), 0)
	for _, x := range []types.Int128{types.Pow10(38).Neg(), types.Int128From(-1), {}, types.Int128From(1), types.Int128{Lo: 1 << 63}, types.Int128{Hi: 1}, types.Pow10(38)} {
		wide.AppendI128(x)
	}
	truth := New(types.Of(types.Boolean), 2)
	truth.AppendBool(false)
	truth.AppendBool(true)
	floats := []float64{math.Inf(-1), -math.MaxFloat32, -1, 0, math.SmallestNonzeroFloat32, 1, math.MaxFloat32, math.Inf(1), math.NaN()}
	for _, v := range []*Vector{
		truth,
		intVector(types.Of(types.TinyInt), -128, -1, 0, 127),
		intVector(types.Of(types.SmallInt), -32768, 0, 32767),
		intVector(types.Of(types.Int), math.MinInt32, 0, math.MaxInt32),
		intVector(types.Of(types.BigInt), math.MinInt64, -1, 0, math.MaxInt64),
		intVector(types.DecimalOf(5, 2), -99999, 0, 99999),
		wide,
		floatVector(types.Of(types.Float), floats...),
		floatVector(types.Of(types.Double), floats...),
		textVector(types.String(), "", " ", "A", "a", "a ", "aa", "b", "ä", "￿", "𝄞"),
		textVector(types.WithPrecision(types.Char, 2), "a ", "b "),
		textVector(types.Bytes(), "", "\x00", "\x00\x00", "\x7f", "\x80", "\xff"),
		intVector(types.Of(types.Date), int64(types.MinDate), 0, int64(types.MaxDate)),
		intVector(types.WithPrecision(types.Timestamp, 6), types.MinMicros, -1, 0, types.MaxMicros),
		intVector(types.Of(types.IntervalYearMonth), -1, 0, 1),
	} {
		n := v.Len
		v.AppendNull()
		for i := 0; i < n; i++ {
			for j := 0; j < n; j++ {
				require.Equal(t, sign(i-j), sign(Compare(v, i, v, j)), "%s %d %d", v.Type, i, j)
				require.Equal(t, i == j, EqualRows([]*Vector{v}, i, []*Vector{v}, j), "%s %d %d", v.Type, i, j)
			}
			require.Equal(t, 1, Compare(v, i, v, n), v.Type)
			require.Equal(t, -1, Compare(v, n, v, i), v.Type)
			require.False(t, EqualRows([]*Vector{v}, i, []*Vector{v}, n))
		}
		require.Equal(t, 0, Compare(v, n, v, n))
		require.True(t, EqualRows([]*Vector{v}, n, []*Vector{v}, n))
	}
}

func sign(x int) int {
	switch {
	case x < 0:
		return -1
	case x > 0:
		return 1
	}
	return 0
}

func TestZerosAndNaNs(t *testing.T) {
	for _, typ := range []types.Type{types.Of(types.Float), types.Of(types.Double)} {
		v := floatVector(typ, 0, math.Copysign(0, -1), math.NaN(), math.Float64frombits(0xfff8000000000123))
		cols := []*Vector{v}
		hashes := make([]uint64, 4)
		Hash(cols, nil, 4, hashes)
		for _, pair := range [][2]int{{0, 1}, {2, 3}} {
			require.Zero(t, Compare(v, pair[0], v, pair[1]))
			require.True(t, EqualRows(cols, pair[0], cols, pair[1]))
			require.Equal(t, hashes[pair[0]], hashes[pair[1]])
		}
		require.NotEqual(t, hashes[0], hashes[2])
	}
}

// Equality, order and hash agree, dense and through selections.
func TestEqualRowsCompareAndHashAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for n := 0; n < 8; n++ {
		a, b := randomBatch(r, 60, n%2 == 0, false), randomBatch(r, 60, n%3 == 0, false)
		sel := randomSelection(r, 60)
		for c := range a.Cols {
			ac, bc := a.Cols[c:c+1], b.Cols[c:c+1]
			ha, hb, hs := make([]uint64, 60), make([]uint64, 60), make([]uint64, 60)
			Hash(ac, nil, 60, ha)
			Hash(bc, nil, 60, hb)
			Hash(ac, sel, 60, hs)
			for k, i := range sel {
				require.Equal(t, ha[i], hs[k])
			}
			for i := 0; i < 60; i++ {
				for j := 0; j < 60; j++ {
					same := EqualRows(ac, i, bc, j)
					require.Equal(t, same, ha[i] == hb[j], "%s %d %d", ac[0].Type, i, j)
					if !ac[0].Type.Comparable() {
						continue
					}
					require.Equal(t, same, Compare(ac[0], i, bc[0], j) == 0)
					require.Equal(t, Compare(ac[0], i, bc[0], j), -Compare(bc[0], j, ac[0], i))
				}
			}
		}
	}
}

// Join keys of different width meet.
func TestHashAcrossWidths(t *testing.T) {
	hash := func(v *Vector) uint64 {
		var out [1]uint64
		Hash([]*Vector{v}, nil, 1, out[:])
		return out[0]
	}
	want := hash(intVector(types.Of(types.BigInt), -7))
	for _, k := range []types.Kind{types.TinyInt, types.SmallInt, types.Int} {
		require.Equal(t, want, hash(intVector(types.Of(k), -7)))
	}
	require.Equal(t, hash(intVector(types.DecimalOf(18, 2), -7)), hash(intVector(types.DecimalOf(38, 2), -7)))
	require.Equal(t, hash(floatVector(types.Of(types.Double), 0.5)), hash(floatVector(types.Of(types.Float), 0.5)))
}

// The hashes are part of no file, but tasks in different processes send rows by them.
func TestHashIsFixed(t *testing.T) {
	number, text := intVector(types.Of(types.Int), 1, 2), textVector(types.String(), "", "the quick brown fox jumps")
	number.AppendNull()
	text.AppendNull()
	out := make([]uint64, 3)
	Hash([]*Vector{number, text}, nil, 3, out)
	require.Equal(t, []uint64{0xfabbabce656e3249, 0xd9f022ef0801c438, 0xf8ef424857d1214b}, out)
}

// Tables take the low bits, partitions the high ones: both must spread whatever the keys look like.
func TestHashSpreads(t *testing.T) {
	const n = 1 << 14
	for name, key := range map[string]func(i int) int64{
		"counting":       func(i int) int64 { return int64(i) },
		"counting down":  func(i int) int64 { return -int64(i) },
		"hundreds":       func(i int) int64 { return int64(i) * 100 },
		"powers of two":  func(i int) int64 { return int64(i) << 20 },
		"high bits":      func(i int) int64 { return int64(i) << 50 },
		"microseconds":   func(i int) int64 { return 1_704_164_645_000_000 + int64(i)*1_000_000 },
		"floats as bits": func(i int) int64 { return int64(math.Float64bits(float64(i))) },
	} {
		v := New(types.Of(types.BigInt), n)
		text := New(types.String(), n)
		two := New(types.Of(types.BigInt), n)
		for i := 0; i < n; i++ {
			v.AppendI64(key(i))
			text.AppendString(fmt.Sprint(key(i)))
			two.AppendI64(key(i) % 128)
		}
		for form, cols := range map[string][]*Vector{"number": {v}, "text": {text}, "pair": {two, v}} {
			out := make([]uint64, n)
			Hash(cols, nil, n, out)
			for _, shift := range []uint{0, 20, 50} {
				// n keys into n buckets: chance leaves n/e empty, here 6,027, give or take 45.
				var used [n]bool
				empty := n
				for _, h := range out {
					if b := h >> shift & (n - 1); !used[b] {
						used[b] = true
						empty--
					}
				}
				require.Less(t, empty, 6600, "%s as %s, bits from %d: too many empty buckets", name, form, shift)
			}
		}
	}
}

// Changing one bit of a value changes half of the hash's bits.
func TestHashAvalanche(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for bit := 0; bit < 64; bit++ {
		changed := 0
		const tries = 1000
		for n := 0; n < tries; n++ {
			x := int64(r.Uint64())
			var out [2]uint64
			Hash([]*Vector{intVector(types.Of(types.BigInt), x, x^1<<bit)}, nil, 2, out[:])
			changed += bits.OnesCount64(out[0] ^ out[1])
		}
		require.InDelta(t, 32, float64(changed)/tries, 3, "bit %d", bit)
	}
}

func TestTextOfEveryType(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	wide := New(types.DecimalOf(38, 2), 1)
	wide.AppendI128(types.Pow10(38).Sub(types.Int128From(1)).Neg())
	truth := New(types.Of(types.Boolean), 1)
	truth.AppendBool(true)
	truth.AppendBool(false)
	for _, c := range []struct {
		v    *Vector
		want []string
	}{
		{truth, []string{"TRUE", "FALSE"}},
		{intVector(types.Of(types.TinyInt), -128, 127), []string{"-128", "127"}},
		{intVector(types.Of(types.SmallInt), -32768), []string{"-32768"}},
		{intVector(types.Of(types.Int), math.MinInt32), []string{"-2147483648"}},
		{intVector(types.Of(types.BigInt), math.MinInt64), []string{"-9223372036854775808"}},
		{floatVector(types.Of(types.Float), 1, 1e10, math.Inf(-1)), []string{"1.0", "1.0E10", "-Infinity"}},
		{floatVector(types.Of(types.Double), 1, 1e-5, math.NaN()), []string{"1.0", "1.0E-5", "NaN"}},
		{intVector(types.DecimalOf(5, 2), -5, 12345, 0), []string{"-0.05", "123.45", "0.00"}},
		{intVector(types.DecimalOf(18, 18), -999999999999999999), []string{"-0.999999999999999999"}},
		{wide, []string{"-999999999999999999999999999999999999.99"}},
		{textVector(types.WithPrecision(types.Char, 3), "a  "), []string{"a  "}},
		{textVector(types.String(), "", "it's"), []string{"", "it's"}},
		{textVector(types.Bytes(), "hello", "\x00\xff", ""), []string{"x'68656c6c6f'", "x'00ff'", "x''"}},
		{intVector(types.Of(types.Date), 0, int64(types.MinDate), int64(types.MaxDate)), []string{"1970-01-01", "0001-01-01", "9999-12-31"}},
		{intVector(types.Of(types.Time), types.MillisPerDay-1), []string{"23:59:59"}},
		{intVector(types.WithPrecision(types.Time, 3), types.MillisPerDay-1, 0), []string{"23:59:59.999", "00:00:00.000"}},
		{intVector(types.WithPrecision(types.Timestamp, 0), 0), []string{"1970-01-01 00:00:00"}},
		{intVector(types.WithPrecision(types.Timestamp, 3), -1000), []string{"1969-12-31 23:59:59.999"}},
		{intVector(types.WithPrecision(types.Timestamp, 6), types.MinMicros, types.MaxMicros), []string{"0001-01-01 00:00:00.000000", "9999-12-31 23:59:59.999999"}},
		{intVector(types.WithPrecision(types.Timestamp, 9), math.MinInt64, math.MaxInt64), []string{"1677-09-21 00:12:43.145224192", "2262-04-11 23:47:16.854775807"}},
		{intVector(types.WithPrecision(types.TimestampLTZ, 3), 0, 1_719_884_645_678_000), []string{"1970-01-01 01:00:00.000", "2024-07-02 03:44:05.678"}},
		{intVector(types.Of(types.IntervalYearMonth), 12), []string{"+1-00"}},
		{intVector(types.Of(types.IntervalDayTime), types.MillisPerDay), []string{"+1 00:00:00.000"}},
	} {
		for i, want := range c.want {
			require.Equal(t, want, string(AppendText(nil, c.v, i, berlin)), c.v.Type)
		}
	}
}

func TestTextOfNestedTypes(t *testing.T) {
	ints := New(types.ArrayOf(types.Of(types.Int)), 1)
	for _, x := range []int64{1, 2} {
		ints.Children[0].AppendI64(x)
	}
	ints.Children[0].AppendNull()
	ints.EndRow()
	ints.EndRow()
	m := New(types.MapOf(types.String(), types.Of(types.Boolean)), 1)
	m.Children[0].AppendString("a")
	m.Children[0].AppendString("b")
	m.Children[1].AppendBool(true)
	m.Children[1].AppendNull()
	m.EndRow()
	bag := New(types.MultisetOf(types.String()), 1)
	bag.Children[0].AppendString("x")
	bag.Children[1].AppendI64(2)
	bag.EndRow()
	row := New(types.RowOf(types.Field{Name: "i", Type: ints.Type}, types.Field{Name: "s", Type: types.String()}), 1)
	row.Children[0].AppendFrom(ints, 0)
	row.Children[1].AppendNull()
	row.EndRow()
	for _, c := range []struct {
		v    *Vector
		want []string
	}{{ints, []string{"[1, 2, NULL]", "[]"}}, {m, []string{"{a=TRUE, b=NULL}"}}, {bag, []string{"{x=2}"}}, {row, []string{"([1, 2, NULL], NULL)"}}} {
		for i, want := range c.want {
			require.Equal(t, want, string(AppendText(nil, c.v, i, time.UTC)))
		}
	}
}

// Two maps are equal whatever the order of their entries, few or many.
func TestMapsAreEqualInAnyOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, n := range []int{0, 1, 5, manyEntries + 1, 200} {
		v := New(types.MapOf(types.Of(types.Int), types.Of(types.BigInt)), 3)
		fill := func(order []int, change int) {
			for k, e := range order {
				v.Children[0].AppendI64(int64(e))
				x := int64(e * e)
				if k == change {
					x++
				}
				v.Children[1].AppendI64(x)
			}
			v.EndRow()
		}
		fill(r.Perm(n), -1)
		fill(r.Perm(n), -1)
		fill(r.Perm(n), n-1)
		require.True(t, EqualRows([]*Vector{v}, 0, []*Vector{v}, 1))
		require.Equal(t, n == 0, EqualRows([]*Vector{v}, 0, []*Vector{v}, 2))
		h := make([]uint64, 3)
		Hash([]*Vector{v}, nil, 3, h)
		require.Equal(t, h[0], h[1])
	}
}

func benchVectors() map[string]*Vector {
	r := rand.New(rand.NewPCG(4, 4))
	number, double, text, long := New(types.Of(types.BigInt), 0), New(types.Of(types.Double), 0), New(types.String(), 0), New(types.String(), 0)
	price, when := New(types.DecimalOf(12, 2), 0), New(types.WithPrecision(types.Timestamp, 6), 0)
	for i := 0; i < DefaultRows; i++ {
		number.AppendI64(r.Int64N(1e9))
		double.AppendF64(float64(r.Int64N(1e7)) / 100)
		text.AppendString(fmt.Sprint("key", r.IntN(1e6)))
		long.AppendString(fmt.Sprintf("a longer text with a number, %08d, in the middle", r.IntN(1e6)))
		price.AppendI64(r.Int64N(1e7))
		when.AppendI64(1_704_164_645_000_000 + r.Int64N(1e15))
	}
	return map[string]*Vector{"BIGINT": number, "DOUBLE": double, "short STRING": text, "long STRING": long, "DECIMAL(12, 2)": price, "TIMESTAMP(6)": when}
}

func BenchmarkHash(b *testing.B) {
	for name, v := range benchVectors() {
		out := make([]uint64, DefaultRows)
		cols := []*Vector{v}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Hash(cols, nil, DefaultRows, out)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/DefaultRows, "ns/row")
		})
	}
}

func BenchmarkCompare(b *testing.B) {
	for name, v := range benchVectors() {
		b.Run(name, func(b *testing.B) {
			total := 0
			for b.Loop() {
				for i := 1; i < DefaultRows; i++ {
					total += Compare(v, i-1, v, i)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/DefaultRows, "ns/row")
		})
	}
}

func BenchmarkAppendText(b *testing.B) {
	for name, v := range benchVectors() {
		b.Run(name, func(b *testing.B) {
			dst := make([]byte, 0, 1<<20)
			for b.Loop() {
				dst = dst[:0]
				for i := 0; i < DefaultRows; i++ {
					dst = AppendText(dst, v, i, nil)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/DefaultRows, "ns/row")
		})
	}
}
