package expr

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// aggregateAllWays runs an aggregate over the rows of the table by the group in column g, and all in one
// group: in one go, row by row, in parts that are merged through their state, and with rows taken back.
func aggregateAllWays(t testing.TB, src string, cols []types.Column, b *column.Batch, env *Env) string {
	name, rest, ok := strings.Cut(src, "(")
	require.True(t, ok)
	var args []Expr
	if strings.HasPrefix(name, "JSON_") {
		args = jsonAggregateArgs(t, name, strings.TrimSuffix(rest, ")"), cols)
	} else if rest != "*)" {
		p := &sqlParser{src: rest, cols: cols}
		p.lex()
		args = p.list()
	}
	call, err := NewAggregate(name, args, false, nil, Span{Start: 0, End: uint32(len(src))})
	if err != nil {
		return showError(err, src)
	}
	data, err := EncodeAgg(call)
	require.NoError(t, err)
	back, err := DecodeAgg(data)
	require.NoError(t, err)
	require.Equal(t, AggString(call), AggString(back))
	call = back

	vecs := make([]*column.Vector, len(call.Args))
	for i, a := range call.Args {
		ev, err := Compile(a, env)
		require.NoError(t, err)
		vecs[i], err = ev.Eval(b)
		require.NoError(t, err)
	}
	gcol := -1
	for i, c := range cols {
		if c.Name == "g" {
			gcol = i
		}
	}
	require.GreaterOrEqual(t, gcol, 0)
	groups := make([]uint32, b.N)
	most := 0
	for i := range groups {
		groups[i] = uint32(b.Cols[gcol].Int64(i))
		most = max(most, int(groups[i]))
	}
	result := func(acc Accumulator, n int) string {
		out := column.New(call.T, 0)
		for _, r := range [][2]int{{0, n / 2}, {n / 2, n}} {
			if err := acc.Result(out, r[0], r[1]); err != nil {
				return showError(err, src)
			}
		}
		var ss []string
		for i := 0; i < out.Len; i++ {
			if (strings.HasPrefix(name, "VAR") || strings.HasPrefix(name, "STDDEV")) && !out.IsNull(i) {
				// The last digits depend on the order of the calculation.
				ss = append(ss, strconv.FormatFloat(out.F64[i], 'g', 12, 64))
				continue
			}
			ss = append(ss, show(out, i, env))
		}
		return strings.Join(ss, " ")
	}
	run := func(groups []uint32, n int, retracting bool) string {
		acc := call.NewAccumulator(retracting)
		acc.Grow(n)
		require.NoError(t, acc.Update(groups, vecs, nil, b.N))
		want := result(acc, n)
		require.Positive(t, acc.Size())

		// Row by row through selections.
		acc = call.NewAccumulator(retracting)
		for i := 0; i < b.N; i++ {
			acc.Grow(n)
			var g []uint32
			if groups != nil {
				g = groups[i : i+1]
			}
			require.NoError(t, acc.Update(g, vecs, []uint16{uint16(i)}, 0))
		}
		require.Equal(t, want, result(acc, n), "row by row")

		// In parts, merged. A part knows only some of the groups.
		acc = call.NewAccumulator(retracting)
		acc.Grow(n)
		for i := 0; i < b.N; i++ {
			part := call.NewAccumulator(retracting)
			part.Grow(1)
			require.NoError(t, part.Update(nil, vecs, []uint16{uint16(i)}, 0))
			state := make([]*column.Vector, len(part.StateTypes()))
			for k, st := range part.StateTypes() {
				state[k] = column.New(st, 1)
			}
			require.NoError(t, part.State(state, 0, 1))
			g := []uint32{0}
			if groups != nil {
				g[0] = groups[i]
			}
			require.NoError(t, acc.Merge(g, state, 1))
		}
		require.Equal(t, want, result(acc, n), "merged")

		if retracting {
			require.NoError(t, acc.Update(groups, vecs, nil, b.N))
			require.NoError(t, acc.Retract(groups, vecs, nil, b.N))
			require.Equal(t, want, result(acc, n), "taken back")
			require.NoError(t, acc.Retract(groups, vecs, nil, b.N))
			empty := call.NewAccumulator(true)
			empty.Grow(n)
			require.Equal(t, result(empty, n), result(acc, n), "all taken back")
		}
		return want
	}
	byGroup := run(groups, most+1, false)
	require.Equal(t, byGroup, run(groups, most+1, true))
	all := run(nil, 1, false)
	require.Equal(t, all, run(nil, 1, true))
	return byGroup + " | " + all + "  " + call.T.String()
}

// The example of every aggregate function is its result over the values 1, 2, 2, NULL.
func TestAggregateExamples(t *testing.T) {
	cols := []types.Column{{Name: "g", Type: types.Of(types.Int)}, {Name: "x", Type: types.Of(types.Int)}}
	b := &column.Batch{Cols: []*column.Vector{column.New(cols[0].Type, 4), column.New(cols[1].Type, 4)}, N: 4}
	for _, x := range []int64{1, 2, 2} {
		b.Cols[0].AppendI64(0)
		b.Cols[1].AppendI64(x)
	}
	b.Cols[0].AppendI64(0)
	b.Cols[1].AppendNull()
	for _, a := range Aggregates() {
		if strings.Contains(a.Example, "FILTER") {
			require.Equal(t, "JSON_OBJECTAGG", a.Name) // two keys may not be the same: see TestJSONObjectAgg
			continue
		}
		got, _, _ := strings.Cut(aggregateAllWays(t, a.Example, cols, b, testEnv(t)), " | ")
		want := a.Result
		if f, err := strconv.ParseFloat(want, 64); err == nil && strings.Contains(want, ".") && len(want) > 12 {
			want = strconv.FormatFloat(f, 'g', 12, 64)
		}
		require.Equal(t, want, got, a.Example)
	}
}

// A percentage out of its range is an error of the row.
func TestPercentageOutOfRange(t *testing.T) {
	for _, p := range []float64{-0.1, 1.5, math.NaN()} {
		x, percentage := column.New(types.Of(types.Double), 1), column.New(types.Of(types.Double), 1)
		x.AppendF64(1)
		percentage.AppendF64(p)
		acc := &percentiles{}
		acc.Grow(1)
		require.ErrorContains(t, acc.Update(nil, []*column.Vector{x, percentage}, nil, 1), "between 0 and 1")
	}
}

// Random values, most of them equal to others, come and go. What is left is what the aggregates over what is left
// give, in the order in which that came, and the memory of what has gone is given back.
func TestRetractingLists(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, name := range []string{"COLLECT", "ARRAY_AGG", "FIRST_VALUE", "LAST_VALUE"} {
		call, err := NewAggregate(name, []Expr{&Column{Index: 0, Name: "x", T: types.Of(types.Double)}}, false, nil, Span{})
		require.NoError(t, err)
		const groups = 3
		one := func(x float64) []*column.Vector {
			v := column.New(types.Of(types.Double), 1)
			v.AppendF64(x)
			return []*column.Vector{v}
		}
		result := func(acc Accumulator) []string {
			out := column.New(call.T, groups)
			require.NoError(t, acc.Result(out, 0, groups))
			var texts []string
			for g := range groups {
				texts = append(texts, show(out, g, testEnv(t)))
			}
			return texts
		}
		acc := call.NewAccumulator(true)
		acc.Grow(groups)
		var left [groups][]float64
		for step := range 6000 {
			g := r.IntN(groups)
			more := 2
			if step%2000 > 1000 {
				more = 4
			}
			if len(left[g]) > 0 && r.IntN(more) > 0 {
				x := left[g][r.IntN(len(left[g]))]
				at := slices.IndexFunc(left[g], func(y float64) bool { return column.CompareFloat(x, y) == 0 })
				left[g] = slices.Delete(left[g], at, at+1)
				require.NoError(t, acc.Retract([]uint32{uint32(g)}, one(x), nil, 1))
			} else {
				x := []float64{math.NaN(), math.Inf(1), 0, 1, 2, 3}[r.IntN(6)]
				left[g] = append(left[g], x)
				require.NoError(t, acc.Update([]uint32{uint32(g)}, one(x), nil, 1))
			}
			if step%97 != 0 || name == "COLLECT" && step%2 > 0 {
				continue
			}
			want := call.NewAccumulator(false)
			want.Grow(groups)
			for g, xs := range left {
				for _, x := range xs {
					require.NoError(t, want.Update([]uint32{uint32(g)}, one(x), nil, 1))
				}
			}
			if got := result(acc); name == "COLLECT" { // a value that went and came again is in another place
				for g, text := range got {
					require.ElementsMatch(t, strings.Split(strings.Trim(result(want)[g], "{}"), ", "), strings.Split(strings.Trim(text, "{}"), ", "))
				}
			} else {
				require.Equal(t, result(want), got, "%s at step %d", name, step)
			}
		}
		for g, xs := range left {
			for _, x := range xs {
				require.NoError(t, acc.Retract([]uint32{uint32(g)}, one(x), nil, 1))
			}
		}
		require.ErrorContains(t, acc.Retract([]uint32{0}, one(1), nil, 1), "was not there", name)
		require.Less(t, acc.Size(), int64(200_000), name)
	}
}

// Counting equal values takes no memory.
func TestCollectIsCounted(t *testing.T) {
	call, err := NewAggregate("COLLECT", []Expr{&Column{Index: 0, Name: "x", T: types.Of(types.Int)}}, false, nil, Span{})
	require.NoError(t, err)
	acc := call.NewAccumulator(false)
	acc.Grow(1)
	v := column.New(types.Of(types.Int), 1000)
	for i := range 1000 {
		v.AppendI64(int64(i % 10))
	}
	require.NoError(t, acc.Update(nil, []*column.Vector{v}, nil, v.Len))
	size := acc.Size()
	for range 100 {
		require.NoError(t, acc.Update(nil, []*column.Vector{v}, nil, v.Len))
	}
	require.Equal(t, size, acc.Size())

	l := acc.(*lists)
	l.counts[0] = math.MaxInt32 + 1
	require.ErrorContains(t, acc.Result(column.New(call.T, 1), 0, 1), "2147483648 times")
}

// Frequencies are added without an overflow, and a NaN is above every number.
func TestPercentileOfMany(t *testing.T) {
	for _, x := range []struct {
		values     []float64
		times      []int64
		percentage float64
		want       float64
		fails      string
	}{
		{values: []float64{1, 2, 3}, times: []int64{math.MaxInt64, math.MaxInt64, math.MaxInt64}, percentage: 0.5, fails: "add up to 27670116110564327421"},
		{values: []float64{1, 2, 3}, times: []int64{1 << 61, 1 << 61, 1 << 61}, percentage: 0.5, want: 2},
		{values: []float64{1, 2}, times: []int64{1<<62 - 1, 1 << 62}, percentage: 0.5, want: 2},
		{values: []float64{1, 2}, times: []int64{1 << 61, 1 << 61}, percentage: 0.5, want: 1.5},
		{values: []float64{1, 2}, times: []int64{1 << 61, 1 << 61}, percentage: 1, want: 2},
		{values: []float64{1, 2}, times: []int64{1 << 61, 1 << 61}, percentage: 5e-324, want: 1},
		{values: []float64{math.NaN(), math.NaN(), 1}, times: []int64{1, 1, 1}, percentage: 0.5, want: math.NaN()},
		{values: []float64{math.NaN(), math.NaN(), 1}, times: []int64{1, 1, 1}, percentage: 0, want: 1},
		{values: []float64{math.NaN(), math.Inf(1), 1}, times: []int64{1, 1, 1}, percentage: 0.5, want: math.Inf(1)},
	} {
		vs := []*column.Vector{column.New(types.Of(types.Double), 3), column.New(types.Of(types.Double), 3), column.New(types.Of(types.BigInt), 3)}
		for i, v := range x.values {
			vs[0].AppendF64(v)
			vs[1].AppendF64(x.percentage)
			vs[2].AppendI64(x.times[i])
		}
		acc := &percentiles{weighted: true}
		acc.Grow(1)
		require.NoError(t, acc.Update(nil, vs, nil, len(x.values)))
		out := column.New(types.Of(types.Double), 1)
		err := acc.Result(out, 0, 1)
		if x.fails != "" {
			require.ErrorContains(t, err, x.fails)
			continue
		}
		require.NoError(t, err)
		require.Zero(t, column.CompareFloat(x.want, out.F64[0]), "%v: %v", x, out.F64[0])
	}
}

// Values come and go in a group, and the percentile is that of those left.
func TestRetractingPercentile(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	one := func(x float64) []*column.Vector {
		v, p := column.New(types.Of(types.Double), 1), column.New(types.ArrayOf(types.Of(types.Double)), 1)
		v.AppendF64(x)
		for _, x := range []float64{0, 0.3, 0.5, 1} {
			p.Children[0].AppendF64(x)
		}
		p.EndRow()
		return []*column.Vector{v, p}
	}
	result := func(acc *percentiles) string {
		out := column.New(types.ArrayOf(types.Of(types.Double)), 1)
		require.NoError(t, acc.Result(out, 0, 1))
		return show(out, 0, testEnv(t))
	}
	acc := &percentiles{many: true}
	acc.Grow(1)
	var left []float64
	for step := range 5000 {
		if len(left) > 0 && r.IntN(5) < 2 {
			at := r.IntN(len(left))
			require.NoError(t, acc.Retract(nil, one(left[at]), nil, 1))
			left = slices.Delete(left, at, at+1)
		} else {
			x := math.Ldexp(float64(r.IntN(20)-10), r.IntN(2000)-1000)
			if r.IntN(20) == 0 {
				x = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[r.IntN(3)]
			}
			left = append(left, x)
			require.NoError(t, acc.Update(nil, one(x), nil, 1))
		}
		if r.IntN(40) == 0 {
			want := &percentiles{many: true}
			want.Grow(1)
			for _, x := range left {
				require.NoError(t, want.Update(nil, one(x), nil, 1))
			}
			require.Equal(t, result(want), result(acc), "step %d", step)
		}
	}
	for _, x := range left {
		require.NoError(t, acc.Retract(nil, one(x), nil, 1))
	}
	require.Equal(t, "NULL", result(acc))
}
