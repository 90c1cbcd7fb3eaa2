package exec

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/types"
)

// joinModel is the join of two lists of rows, by loops.
func joinModel(kind job.JoinKind, left, right [][]any, match func(l, r []any) bool) [][]any {
	var out [][]any
	width := func(rows [][]any) int { return len(rows[0]) }
	hit := make([]bool, len(right))
	for _, l := range left {
		any_ := false
		for i, r := range right {
			if match(l, r) {
				any_, hit[i] = true, true
				out = append(out, append(append([]any(nil), l...), r...))
			}
		}
		if !any_ && (kind == job.Left || kind == job.Full) {
			out = append(out, append(append([]any(nil), l...), make([]any, width(right))...))
		}
	}
	if kind == job.Right || kind == job.Full {
		for i, r := range right {
			if !hit[i] {
				out = append(out, append(make([]any, width(left)), r...))
			}
		}
	}
	return out
}

// Joins against loops: kinds, keys of several types, NULL keys, residual conditions, no keys.
func TestJoin(t *testing.T) {
	left, right := numbers(1500, 40, 20), numbers(60, 50, 21)
	right = append(right, []any{900, 7, "t7"}, []any{901, 7, nil}) // several matches
	cols := columns(integer, integer, str)
	both := append(append([]types.Column(nil), cols...), cols...)
	for _, c := range []struct {
		name        string
		left, right []expr.Expr
		residual    expr.Expr
		match       func(l, r []any) bool
	}{
		{"one key", exprs(col(1, integer)), exprs(col(1, integer)), nil,
			func(l, r []any) bool { return l[1] != nil && l[1] == r[1] }},
		{"text key", exprs(col(2, str)), exprs(col(2, str)), nil,
			func(l, r []any) bool { return l[2] != nil && l[2] == r[2] }},
		{"computed key", exprs(call("+", col(1, integer), num(1))), exprs(col(1, integer)), nil,
			func(l, r []any) bool { return l[1] != nil && r[1] != nil && l[1].(int)+1 == r[1].(int) }},
		{"two keys and a condition", exprs(col(1, integer), col(2, str)), exprs(col(1, integer), col(2, str)), call("<", col(0, integer), call("*", col(3, integer), num(30))),
			func(l, r []any) bool {
				return l[1] != nil && l[2] != nil && l[1] == r[1] && l[2] == r[2] && l[0].(int) < r[0].(int)*30
			}},
		{"condition alone", nil, nil, call("=", col(1, integer), call("+", col(4, integer), num(2))),
			func(l, r []any) bool { return l[1] != nil && r[1] != nil && l[1].(int) == r[1].(int)+2 }},
		{"nothing matches", exprs(col(0, integer)), exprs(call("-", num(0), col(0, integer))), call(">", col(0, integer), num(5)),
			func(l, r []any) bool { return false }},
	} {
		for _, kind := range []job.JoinKind{job.Inner, job.Left, job.Right, job.Full} {
			t.Run(c.name+"/"+string(kind), func(t *testing.T) {
				want := sorted(text(joinModel(kind, left, right, c.match)))
				eachShape(t, func(t *testing.T, w *world, s shape) {
					w.add("l", cols, left, 300).shared = s.shared
					w.add("r", cols, right, 20).shared = s.shared
					p := w.plan(s.parallelism, s.batchRows)
					l := p.scan("l", s.parallelism)
					r := in{from: p.scan("r", s.parallelism), kind: job.Broadcast}
					v := p.vertex(&job.Join{Kind: kind, LeftKeys: job.Exprs(c.left), RightKeys: job.Exprs(c.right), Residual: job.Expr{Expr: c.residual}}, both, s.parallelism, forward(l), r)
					got, err := p.collect(v).rows()
					require.NoError(t, err)
					require.Equal(t, want, sorted(text(got)))
				})
			})
		}
	}
}

// = is never TRUE for NaN, nor for NULL; -0.0 equals 0.0.
func TestJoinOfNaN(t *testing.T) {
	rows := [][]any{{math.NaN(), 1}, {1.5, 2}, {nil, 3}, {math.Copysign(0, -1), 4}}
	other := [][]any{{math.NaN(), 5}, {1.5, 6}, {nil, 7}, {0.0, 8}}
	for _, f := range []types.Type{double, types.Of(types.Float)} {
		for kind, want := range map[job.JoinKind][]string{
			job.Inner: {"-0|4|0|8", "1.5|2|1.5|6"},
			job.Full:  {"-0|4|0|8", "1.5|2|1.5|6", "NULL|3|NULL|NULL", "NULL|NULL|NULL|7", "NULL|NULL|NaN|5", "NaN|1|NULL|NULL"},
		} {
			w := newWorld(t)
			w.add("l", columns(f, integer), rows, 10)
			w.add("r", columns(f, integer), other, 10)
			p := w.plan(1, 100)
			v := p.vertex(&job.Join{Kind: kind, LeftKeys: job.Exprs(exprs(col(0, f))), RightKeys: job.Exprs(exprs(col(0, f)))}, columns(f, integer, f, integer), 1,
				forward(p.scan("l", 1)), in{from: p.scan("r", 1), kind: job.Broadcast})
			got, err := p.collect(v).rows()
			require.NoError(t, err)
			require.Equal(t, want, sorted(text(got)), kind)
		}
	}
}

// A left join keeps the order of its left input, rows without a match included; a cross join pairs all.
func TestJoinOrder(t *testing.T) {
	left, right := numbers(5000, 40, 22), numbers(30, 40, 23)
	cols := columns(integer, integer, str)
	both := append(append([]types.Column(nil), cols...), cols...)
	w := newWorld(t)
	w.add("l", cols, left, 512)
	w.add("r", cols, right, 20)
	p := w.plan(2, 2048)
	v := p.vertex(&job.Join{Kind: job.Left, LeftKeys: job.Exprs(exprs(col(1, integer))), RightKeys: job.Exprs(exprs(col(1, integer)))}, both, 2,
		forward(p.scan("l", 2)), in{from: p.scan("r", 2), kind: job.Broadcast})
	got, err := p.collect(v).rows()
	require.NoError(t, err)
	require.Equal(t, text(joinModel(job.Left, left, right, func(l, r []any) bool { return l[1] != nil && l[1] == r[1] })), text(got))

	p = w.plan(2, 2048)
	v = p.vertex(&job.Join{Kind: job.Inner}, both, 2, forward(p.scan("l", 2)), in{from: p.scan("r", 1), kind: job.Broadcast})
	got, err = p.collect(v).rows()
	require.NoError(t, err)
	require.Equal(t, text(joinModel(job.Inner, left, right, func(l, r []any) bool { return true })), text(got))
}

// A left row with more matches than fit in a batch.
func TestJoinOfManyMatches(t *testing.T) {
	eachShape(t, func(t *testing.T, w *world, s shape) {
		right := make([][]any, 9_000)
		for i := range right {
			right[i] = []any{1, i}
		}
		cols := columns(integer, integer)
		w.add("l", cols, [][]any{{0, 0}, {1, 1}, {2, 2}}, 2)
		w.add("r", cols, right, 2000)
		p := w.plan(s.parallelism, max(s.batchRows, 7))
		v := p.vertex(&job.Join{Kind: job.Full, LeftKeys: job.Exprs(exprs(col(0, integer))), RightKeys: job.Exprs(exprs(col(0, integer)))}, append(cols[:2:2], cols...), 1,
			forward(p.scan("l", 1)), in{from: p.scan("r", s.parallelism), kind: job.Broadcast})
		got, err := p.collect(v).rows()
		require.NoError(t, err)
		require.Len(t, got, 9002)
		require.Equal(t, []any{0, 0, nil, nil}, got[0])
		require.Equal(t, []any{1, 1, 1, 8999}, got[9000])
		require.Equal(t, []any{2, 2, nil, nil}, got[9001])
	})
}

// An empty build side ends an inner join at once, whatever the left input is.
func TestJoinWithNothing(t *testing.T) {
	eachShape(t, func(t *testing.T, w *world, s shape) {
		cols := columns(integer)
		w.add("l", cols, numbersOf(100), 10).endless = true
		w.add("r", cols, nil, 10)
		p := w.plan(s.parallelism, s.batchRows)
		v := p.vertex(&job.Join{Kind: job.Inner, LeftKeys: job.Exprs(exprs(col(0, integer))), RightKeys: job.Exprs(exprs(col(0, integer)))}, columns(integer, integer), s.parallelism,
			forward(p.scan("l", s.parallelism)), in{from: p.scan("r", s.parallelism), kind: job.Broadcast})
		got, err := p.collect(v).rows()
		require.NoError(t, err)
		require.Empty(t, got)
	})
}

// aggregates are the calls of the aggregation tests over rows (number, small number or NULL, text or NULL).
func aggregates() []job.Agg {
	x := col(1, integer)
	return []job.Agg{
		agg("COUNT", false, nil), agg("COUNT", false, nil, x), agg("SUM", false, nil, x), agg("MIN", false, nil, col(2, str)),
		agg("MAX", false, nil, col(0, integer)), agg("SUM", false, call(">", col(0, integer), num(700)), x),
	}
}

func aggregateModel(rows [][]any, keys func(r []any) []any, distinct bool) [][]any {
	type group struct {
		key      []any
		n, nx    int
		sum, max any
		min      any
		late     any
		seen     map[any]bool
	}
	add := func(a any, x int) any {
		if a == nil {
			return x
		}
		return a.(int) + x
	}
	groups := map[string]*group{}
	for _, r := range rows {
		k := keys(r)
		id := text([][]any{k})[0]
		g := groups[id]
		if g == nil {
			g = &group{key: k, seen: map[any]bool{}}
			groups[id] = g
		}
		g.n++
		if r[1] != nil {
			g.nx++
			g.sum = add(g.sum, r[1].(int))
			if r[0].(int) > 700 {
				g.late = add(g.late, r[1].(int))
			}
			g.seen[r[1]] = true
		}
		if s, ok := r[2].(string); ok && (g.min == nil || s < g.min.(string)) {
			g.min = s
		}
		if g.max == nil || r[0].(int) > g.max.(int) {
			g.max = r[0]
		}
	}
	var out [][]any
	for _, g := range groups {
		row := append(append([]any(nil), g.key...), g.n, g.nx, g.sum, g.min, g.max, g.late)
		if distinct {
			var sum any
			for x := range g.seen {
				sum = add(sum, x.(int))
			}
			row = append(row, len(g.seen), sum)
		}
		out = append(out, row)
	}
	return out
}

// aggregateColumns are the output columns of a phase.
func aggregateColumns(keys []expr.Expr, aggs []job.Agg, phase job.Phase) []types.Column {
	var ts []types.Type
	for _, k := range keys {
		ts = append(ts, k.Type())
	}
	for _, a := range aggs {
		if phase == job.Partial {
			ts = append(ts, a.NewAccumulator(false).StateTypes()...)
		} else {
			ts = append(ts, a.T)
		}
	}
	return columns(ts...)
}

// Aggregations against maps: keys short and long, packed and not, with NULL, in one step and in two.
func TestAggregate(t *testing.T) {
	rows := numbers(6000, 37, 30)
	for i, r := range rows { // some texts are too long to be packed
		if s, ok := r[2].(string); ok && i%3 == 0 {
			r[2] = strings.Repeat(s, 1+r[0].(int)%5)
		}
	}
	cols := columns(integer, integer, str)
	for _, c := range []struct {
		name string
		keys []expr.Expr
		key  func(r []any) []any
	}{
		{"no key", nil, func([]any) []any { return nil }},
		{"one number", exprs(col(1, integer)), func(r []any) []any { return []any{r[1]} }},
		{"one text", exprs(col(2, str)), func(r []any) []any { return []any{r[2]} }},
		{"number and text", exprs(col(1, integer), col(2, str)), func(r []any) []any { return []any{r[1], r[2]} }},
		{"two texts", exprs(col(2, str), col(2, str)), func(r []any) []any { return []any{r[2], r[2]} }},
		{"computed", exprs(call("=", col(1, integer), num(3))), func(r []any) []any {
			if r[1] == nil {
				return []any{nil}
			}
			return []any{r[1] == 3}
		}},
		{"every row a group", exprs(col(0, integer)), func(r []any) []any { return []any{r[0]} }},
		{"wide decimal", exprs(castTo(col(1, integer), types.DecimalOf(30, 2))), func(r []any) []any {
			if r[1] == nil {
				return []any{nil}
			}
			return []any{types.Int128From(int64(r[1].(int) * 100))}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := sorted(text(aggregateModel(rows, c.key, true)))
			short := sorted(text(aggregateModel(rows, c.key, false)))
			eachShape(t, func(t *testing.T, w *world, s shape) {
				w.add("t", cols, rows, 250).shared = s.shared
				// In one step, with DISTINCT.
				aggs := append(aggregates(), agg("COUNT", true, nil, col(1, integer)), agg("SUM", true, nil, col(1, integer)))
				p := w.plan(s.parallelism, s.batchRows)
				v := p.vertex(&job.Aggregate{Phase: job.Complete, Keys: job.Exprs(c.keys), Aggs: aggs}, aggregateColumns(c.keys, aggs, job.Complete), 1, forward(p.scan("t", s.parallelism)))
				got, err := p.collect(v).rows()
				require.NoError(t, err)
				require.Equal(t, want, sorted(text(got)))
				// In two.
				aggs = aggregates()
				p = w.plan(s.parallelism, s.batchRows)
				v = p.vertex(&job.Aggregate{Phase: job.Partial, Keys: job.Exprs(c.keys), Aggs: aggs}, aggregateColumns(c.keys, aggs, job.Partial), s.parallelism, forward(p.scan("t", s.parallelism)))
				from, final := forward(v), 1
				if len(c.keys) > 0 {
					from, final = in{from: v, kind: job.Hash}, s.parallelism
					for i := range c.keys {
						from.keys = append(from.keys, i)
					}
				}
				v = p.vertex(&job.Aggregate{Phase: job.Final, Keys: job.Exprs(c.keys), Aggs: aggs}, aggregateColumns(c.keys, aggs, job.Final), final, from)
				got, err = p.collect(v).rows()
				require.NoError(t, err)
				require.Equal(t, short, sorted(text(got)))
			})
		})
	}
}

func castTo(e expr.Expr, to types.Type) expr.Expr {
	c, err := expr.NewCast(e, to, false, expr.Span{})
	if err != nil {
		panic(err)
	}
	return c
}

// No rows: one group without keys, none with.
func TestAggregateOfNothing(t *testing.T) {
	eachShape(t, func(t *testing.T, w *world, s shape) {
		w.add("t", columns(integer, integer, str), nil, 250)
		for _, keys := range [][]expr.Expr{nil, exprs(col(1, integer))} {
			p := w.plan(s.parallelism, s.batchRows)
			aggs := aggregates()
			v := p.vertex(&job.Aggregate{Phase: job.Partial, Keys: job.Exprs(keys), Aggs: aggs}, aggregateColumns(keys, aggs, job.Partial), s.parallelism, forward(p.scan("t", s.parallelism)))
			v = p.vertex(&job.Aggregate{Phase: job.Final, Keys: job.Exprs(keys), Aggs: aggs}, aggregateColumns(keys, aggs, job.Final), 1, forward(v))
			got, err := p.collect(v).rows()
			require.NoError(t, err)
			if keys != nil {
				require.Empty(t, got)
				continue
			}
			require.Equal(t, []string{"0|0|NULL|NULL|NULL|NULL"}, text(got))
		}
	})
}

// More groups than a partial aggregation keeps: its states come in several lots and are merged.
func TestPartialOverflow(t *testing.T) {
	w := newWorld(t)
	rows := make([][]any, 3*partialGroups)
	for i := range rows {
		rows[i] = []any{i % (partialGroups + 1000), i}
	}
	w.add("t", columns(integer, bigint), rows, 2048)
	p := w.plan(2, 2048)
	keys, aggs := exprs(col(0, integer)), []job.Agg{agg("SUM", false, nil, col(1, bigint))}
	v := p.vertex(&job.Aggregate{Phase: job.Partial, Keys: job.Exprs(keys), Aggs: aggs}, aggregateColumns(keys, aggs, job.Partial), 2, forward(p.scan("t", 2)))
	v = p.vertex(&job.Aggregate{Phase: job.Final, Keys: job.Exprs(keys), Aggs: aggs}, aggregateColumns(keys, aggs, job.Final), 2, in{from: v, kind: job.Hash, keys: []int{0}})
	got, err := p.collect(v).rows()
	require.NoError(t, err)
	want := map[int]int{}
	for _, r := range rows {
		want[r[0].(int)] += r[1].(int)
	}
	require.Len(t, got, len(want))
	for _, r := range got {
		require.Equal(t, want[r[0].(int)], r[1])
	}
}

// An aggregate's error has the call's place.
func TestAggregateError(t *testing.T) {
	w := newWorld(t)
	w.add("t", columns(bigint), [][]any{{math.MaxInt64}, {1}}, 1)
	p := w.plan(2, 2048)
	aggs := []job.Agg{agg("SUM", false, nil, col(0, bigint))}
	v := p.vertex(&job.Aggregate{Phase: job.Complete, Aggs: aggs}, aggregateColumns(nil, aggs, job.Complete), 1, forward(p.scan("t", 2)))
	_, err := p.collect(v).rows()
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, expr.Span{Start: 3, End: 4}, e.Span)
}

// -0.0 and 0.0 are one group and all NaNs are another; NULL is a third.
func TestFloatGroups(t *testing.T) {
	w := newWorld(t)
	zero := 0.0
	other := math.Float64frombits(math.Float64bits(math.NaN()) ^ 1)
	w.add("t", columns(double), [][]any{{zero}, {-zero * 1}, {math.Copysign(0, -1)}, {math.NaN()}, {other}, {nil}, {nil}, {1.5}}, 3)
	p := w.plan(1, 2048)
	keys, aggs := exprs(col(0, double)), []job.Agg{agg("COUNT", false, nil)}
	v := p.vertex(&job.Aggregate{Phase: job.Complete, Keys: job.Exprs(keys), Aggs: aggs}, aggregateColumns(keys, aggs, job.Complete), 1, forward(p.scan("t", 1)))
	got, err := p.collect(v).rows()
	require.NoError(t, err)
	require.Equal(t, []string{"0|3", "NaN|2", "NULL|2", "1.5|1"}, text(got))
}

// compareModel orders two values as ORDER BY does.
func compareModel(a, b any) int {
	switch x := a.(type) {
	case int:
		return cmp.Compare(x, b.(int))
	case float64:
		y := b.(float64)
		if x != x || y != y {
			switch {
			case x != x && y != y:
				return 0
			case x != x:
				return 1
			}
			return -1
		}
		return cmp.Compare(x, y)
	}
	return strings.Compare(a.(string), b.(string))
}

func sortModel(rows [][]any, keys []job.SortKey, at []int) [][]any {
	out := slices.Clone(rows)
	sort.SliceStable(out, func(i, j int) bool {
		for n, k := range keys {
			a, b := out[i][at[n]], out[j][at[n]]
			switch {
			case a == nil && b == nil:
				continue
			case a == nil || b == nil:
				return (a == nil) != k.NullsLast
			}
			if c := compareModel(a, b); c != 0 {
				return (c < 0) != k.Desc
			}
		}
		return false
	})
	return out
}

// Sorts against a stable sort of rows: one and several keys, every direction, Top-N of every size.
func TestSort(t *testing.T) {
	r := rand.New(rand.NewPCG(40, 1))
	rows := make([][]any, 4000)
	words := []string{"", "a", "a\x00", "a\x00b", "abcdefgh", "abcdefghi", "abcdefghijklmnopq", "abcdefghijklmnopqr", "b", "ä", "zzz"}
	for i := range rows {
		rows[i] = []any{i, r.IntN(2000) - 1000, words[r.IntN(len(words))], float64(r.IntN(300)) / 7, words[r.IntN(3)]}
		if r.IntN(20) == 0 {
			rows[i][3] = math.NaN()
		}
		if r.IntN(20) == 0 {
			rows[i][3] = math.Inf(-1)
		}
		if r.IntN(4) == 0 { // long texts with a long common beginning
			rows[i][2] = "the quick brown fox " + fmt.Sprint(r.IntN(500))
		}
		for c := 1; c < 5; c++ {
			if r.IntN(15) == 0 {
				rows[i][c] = nil
			}
		}
	}
	ts := []types.Type{integer, integer, str, double, str}
	key := func(c int, desc, last bool) job.SortKey {
		return job.SortKey{Expr: job.Expr{Expr: col(c, ts[c])}, Desc: desc, NullsLast: last}
	}
	computed := job.SortKey{Expr: job.Expr{Expr: call("-", num(0), col(1, integer))}, Desc: true, NullsLast: true}
	for _, c := range []struct {
		name string
		keys []job.SortKey
		at   []int
		like []job.SortKey // how the model is to sort by the columns
	}{
		{"integer", []job.SortKey{key(1, false, false)}, []int{1}, nil},
		{"integer down, NULL last", []job.SortKey{key(1, true, true)}, []int{1}, nil},
		{"text", []job.SortKey{key(2, false, true)}, []int{2}, nil},
		{"text down", []job.SortKey{key(2, true, false)}, []int{2}, nil},
		{"float", []job.SortKey{key(3, false, false)}, []int{3}, nil},
		{"float down, then text", []job.SortKey{key(3, true, true), key(2, false, false)}, []int{3, 2}, nil},
		{"text, then integer down, then text", []job.SortKey{key(4, false, false), key(1, true, false), key(2, true, true)}, []int{4, 1, 2}, nil},
		{"computed", []job.SortKey{computed}, []int{1}, []job.SortKey{key(1, false, true)}},
		{"no key", nil, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			like := c.like
			if like == nil {
				like = c.keys
			}
			want := text(sortModel(rows, like, c.at))
			eachShape(t, func(t *testing.T, w *world, s shape) {
				w.add("t", columns(ts...), rows, 300).shared = s.shared
				for _, n := range [][2]int64{{-1, 0}, {-1, 17}, {0, 0}, {10, 0}, {10, 5}, {1000, 700}, {5000, 0}, {5, 4000},
					{math.MaxInt64, 0}, {math.MaxInt64, 17}, {17, math.MaxInt64}, {math.MaxInt64, math.MaxInt64}} {
					if n[0] != -1 && s.batchRows == 7 {
						continue // enough of it
					}
					p := w.plan(s.parallelism, s.batchRows)
					v := p.vertex(&job.Sort{Keys: c.keys, Count: n[0], Offset: n[1]}, columns(ts...), 1, forward(p.scan("t", s.parallelism)))
					got, err := p.collect(v).rows()
					require.NoError(t, err)
					part := want[min(n[1], int64(len(want))):]
					if n[0] >= 0 {
						part = part[:min(n[0], int64(len(part)))]
					}
					require.Equal(t, part, text(got), "count %d, offset %d", n[0], n[1])
				}
			})
		})
	}
}

// Who keeps rows asks for memory first, and says what it needed and which option gives more.
func TestMemory(t *testing.T) {
	rows := numbers(200_000, 150_000, 50)
	cols := columns(integer, integer, str)
	both := append(append([]types.Column(nil), cols...), cols...)
	for name, c := range map[string]struct {
		make func(p *plan) int
		says string
	}{
		"sort": {func(p *plan) int {
			return p.vertex(&job.Sort{Keys: []job.SortKey{{Expr: job.Expr{Expr: col(1, integer)}}}, Count: -1}, cols, 1, forward(p.scan("t", 2)))
		}, "ORDER BY is out of memory"},
		"join": {func(p *plan) int {
			return p.vertex(&job.Join{Kind: job.Inner, LeftKeys: job.Exprs(exprs(col(0, integer))), RightKeys: job.Exprs(exprs(col(0, integer)))}, both, 2,
				forward(p.scan("t", 2)), in{from: p.scan("t", 2), kind: job.Broadcast})
		}, "the join is out of memory"},
		"group": {func(p *plan) int {
			keys := exprs(col(0, integer))
			return p.vertex(&job.Aggregate{Phase: job.Complete, Keys: job.Exprs(keys), Aggs: aggregates()}, aggregateColumns(keys, aggregates(), job.Complete), 1, forward(p.scan("t", 2)))
		}, "the aggregation is out of memory"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.add("t", cols, rows, 2048)
			w.rt.Registry.Env.Memory = connector.NewMemory(2 << 20)
			p := w.plan(2, 2048)
			_, err := p.collect(c.make(p)).rows()
			require.ErrorContains(t, err, c.says)
			require.ErrorContains(t, err, "of the budget of 2048 KiB are in use (raise the budget with SET 'sluice.memory' = '<size>')")
			require.Zero(t, w.rt.Registry.Env.Memory.Used())
			// With enough memory it works, and gives back what it took.
			w.rt.Registry.Env.Memory = connector.NewMemory(1 << 30)
			p = w.plan(2, 2048)
			_, err = p.collect(c.make(p)).rows()
			require.NoError(t, err)
			require.Zero(t, w.rt.Registry.Env.Memory.Used())
		})
	}
}
