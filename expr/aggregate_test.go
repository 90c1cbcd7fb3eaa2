package expr

import (
	"math"
	"math/rand/v2"
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

// Random rows come and go in any order, removals before arrivals among them: what is left is what the
// aggregates over what is left give.
func TestRetractingLists(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		call := func(name string) *AggCall {
			c, err := NewAggregate(name, []Expr{&Column{Index: 0, Name: "x", T: types.Of(types.Int)}}, false, nil, Span{})
			require.NoError(t, err)
			return c
		}
		for _, name := range []string{"COLLECT", "ARRAY_AGG"} {
			acc := call(name).NewAccumulator(true)
			acc.Grow(1)
			count := map[int64]int{}
			one := func(x int64) []*column.Vector {
				v := column.New(types.Of(types.Int), 1)
				v.AppendI64(x)
				return []*column.Vector{v}
			}
			for range 300 {
				x := int64(r.IntN(5))
				if r.IntN(2) == 0 {
					count[x]++
					require.NoError(t, acc.Update(nil, one(x), nil, 1))
				} else {
					count[x]--
					require.NoError(t, acc.Retract(nil, one(x), nil, 1))
				}
			}
			for x, n := range count { // nothing is owed at the end
				for ; n < 0; n++ {
					require.NoError(t, acc.Update(nil, one(x), nil, 1))
				}
				count[x] = max(count[x], 0)
			}
			out := column.New(call(name).T, 1)
			require.NoError(t, acc.Result(out, 0, 1))
			got := map[int64]int{}
			from, to := 0, 0
			if !out.IsNull(0) {
				from, to = out.Elements(0)
			}
			for e := from; e < to; e++ {
				n := 1
				if name == "COLLECT" {
					n = int(out.Children[1].I32[e])
				}
				got[int64(out.Children[0].I32[e])] += n
			}
			for x, n := range count {
				require.Equal(t, n, got[x], "%s of %d", name, x)
			}
		}
	}
}
