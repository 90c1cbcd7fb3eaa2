package expr

import (
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
	inner := strings.TrimSuffix(rest, ")")
	var args []Expr
	if inner != "*" {
		e, err := parseSQL(inner, cols)
		require.NoError(t, err)
		args = []Expr{e}
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
