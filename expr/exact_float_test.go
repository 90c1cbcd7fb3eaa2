package expr

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// anyFloat is a float of any magnitude, mostly finite.
func anyFloat(r *rand.Rand) float64 {
	switch r.IntN(12) {
	case 0:
		return []float64{math.Inf(1), math.Inf(-1), math.NaN(), 0, math.Copysign(0, -1), math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64}[r.IntN(8)]
	case 1, 2, 3:
		x := math.Float64frombits(r.Uint64())
		if x != x {
			return 1
		}
		return x
	}
	return float64(r.IntN(100)) / 10
}

// rationalMoments gives, in rational numbers, the sum, and n² times the variance.
func rationalMoments(xs []float64) (sum, spread *big.Rat) {
	sum, squares := new(big.Rat), new(big.Rat)
	for _, x := range xs {
		f := new(big.Rat).SetFloat64(x)
		sum.Add(sum, f)
		squares.Add(squares, new(big.Rat).Mul(f, f))
	}
	squares.Mul(squares, new(big.Rat).SetInt64(int64(len(xs))))
	return sum, squares.Sub(squares, new(big.Rat).Mul(sum, sum))
}

// Floats of all magnitudes come and go: the sums and variances are those of what is left, calculated in rational
// numbers and rounded once.
func TestExactFloats(t *testing.T) {
	n := 300
	if testing.Short() {
		n = 30
	}
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		var accs []Accumulator
		for _, name := range []string{"SUM", "AVG", "VAR_POP", "VAR_SAMP", "STDDEV_POP"} {
			c, err := NewAggregate(name, []Expr{&Column{Index: 0, Name: "x", T: types.Of(types.Double)}}, false, nil, Span{})
			require.NoError(t, err)
			acc := c.NewAccumulator(true)
			acc.Grow(1)
			accs = append(accs, acc)
		}
		var left []float64
		for range 40 {
			v := column.New(types.Of(types.Double), 1)
			away := len(left) > 0 && r.IntN(2) == 0
			if away {
				at := r.IntN(len(left))
				v.AppendF64(left[at])
				left = slices.Delete(left, at, at+1)
			} else {
				left = append(left, anyFloat(r))
				v.AppendF64(left[len(left)-1])
			}
			for i, acc := range accs {
				if away {
					require.NoError(t, acc.Retract(nil, []*column.Vector{v}, nil, 1))
				} else {
					require.NoError(t, acc.Update(nil, []*column.Vector{v}, nil, 1))
				}
				if r.IntN(10) == 0 { // through its state
					state := []*column.Vector{column.New(types.Bytes(), 1)}
					require.NoError(t, acc.State(state, 0, 1))
					fresh := *acc.(*exactFloats)
					fresh.groups, fresh.size = make([]floatBag, 1), 0
					require.NoError(t, fresh.Merge(nil, state, 1))
					accs[i] = &fresh
				}
				out := column.New(types.Of(types.Double), 1)
				require.NoError(t, accs[i].Result(out, 0, 1))
				checkExact(t, i, left, out)
			}
		}
	}
}

func checkExact(t *testing.T, which int, left []float64, out *column.Vector) {
	n := int64(len(left))
	if n == 0 || which == 3 && n == 1 {
		require.True(t, out.IsNull(0))
		return
	}
	plain, finite := 0.0, true
	for _, x := range left {
		plain += x / 4
		finite = finite && !math.IsInf(x, 0) && x == x
	}
	var want float64
	switch {
	case !finite && which < 2:
		plain = 0
		for _, x := range left {
			if math.IsInf(x, 0) || x != x {
				plain += x
			}
		}
		want = plain
	case !finite:
		want = math.NaN()
	default:
		sum, spread := rationalMoments(left)
		switch which {
		case 0:
			want, _ = sum.Float64()
		case 1:
			want, _ = sum.Float64()
			want /= float64(n)
		case 2, 4:
			want, _ = spread.Mul(spread, big.NewRat(1, n*n)).Float64()
		case 3:
			want, _ = spread.Mul(spread, big.NewRat(1, n*(n-1))).Float64()
		}
		if which == 4 {
			want = math.Sqrt(want)
		}
	}
	require.Zero(t, column.CompareFloat(want, out.F64[0]), "aggregate %d of %v is %v, not %v", which, left, want, out.F64[0])
}

// What has gone has left nothing, be it a number that no float can be added to, Infinity or NaN.
func TestFloatsThatAreGone(t *testing.T) {
	for _, gone := range []float64{1e200, math.Inf(1), math.NaN(), -math.MaxFloat64} {
		for _, name := range []string{"SUM", "AVG", "VAR_POP"} {
			c, err := NewAggregate(name, []Expr{&Column{Index: 0, Name: "x", T: types.Of(types.Double)}}, false, nil, Span{})
			require.NoError(t, err)
			acc := c.NewAccumulator(true)
			acc.Grow(1)
			v := column.New(types.Of(types.Double), 4)
			for _, x := range []float64{1, gone, 2, 3} {
				v.AppendF64(x)
			}
			require.NoError(t, acc.Update(nil, []*column.Vector{v}, nil, 4))
			require.NoError(t, acc.Retract(nil, []*column.Vector{v}, []uint16{1}, 0))
			out := column.New(c.T, 1)
			require.NoError(t, acc.Result(out, 0, 1))
			require.Equal(t, map[string]float64{"SUM": 6, "AVG": 2, "VAR_POP": 2.0 / 3}[name], out.F64[0], "%s without %v", name, gone)
		}
	}
}

// A sum of a great many numbers does its carries in time.
func TestExactSumCarries(t *testing.T) {
	s := exactSum{adds: carryInterval - 3}
	for range 10 {
		s.add(math.MaxUint32, false)
		s.add(-1, false)
	}
	require.Equal(t, 10.0*(math.MaxUint32-1), s.float())
	for range 10 {
		s.add(math.MaxUint32-1, true)
	}
	require.Zero(t, s.float())
	require.Empty(t, s.digits)
}
