package exec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/types"
)

const (
	ins, del    = types.Insert, types.Delete
	upOld, upTo = types.UpdateBefore, types.UpdateAfter
)

// tenth is a tenth of the second column, as a DOUBLE.
func tenth() expr.Expr {
	return call("*", &expr.Cast{Arg: col(1, integer), T: double}, expr.NewLiteral(double, 0.1, expr.Span{}))
}

func changesOf(rows [][]any, kinds []types.RowKind) []string {
	out := text(rows)
	for i := range out {
		out[i] = kinds[i].String() + " " + out[i]
	}
	return out
}

// What a group hands on, step by step.
func TestStreamAggregate(t *testing.T) {
	type steps [][]any // kind, then the row
	sums := func() []job.Agg {
		x := col(1, integer)
		return []job.Agg{agg("COUNT", false, nil), agg("SUM", false, nil, x), agg("MIN", false, nil, x), agg("MAX", false, nil, x), agg("AVG", false, nil, x), agg("COUNT", true, nil, x)}
	}
	for _, c := range []struct {
		name             string
		global           bool
		retracting, prev bool
		aggs             []job.Agg
		steps            []steps
		want             []string
	}{
		{name: "a group comes, changes, changes not", aggs: sums()[:2], prev: true,
			steps: []steps{{{ins, 1, 5}}, {{ins, 1, 6}, {ins, 2, nil}}},
			want:  []string{"+I 1|1|5", "-U 1|1|5", "+U 1|2|11", "+I 2|1|NULL"}},
		{name: "equal results are not handed on", aggs: []job.Agg{agg("MAX", false, nil, col(1, integer))}, prev: true,
			steps: []steps{{{ins, 1, 5}}, {{ins, 1, 4}}, {{ins, 1, nil}}, {{ins, 1, 7}}},
			want:  []string{"+I 1|5", "-U 1|5", "+U 1|7"}},
		{name: "without what was before", aggs: sums()[:2],
			steps: []steps{{{ins, 1, 5}}, {{ins, 1, 6}}},
			want:  []string{"+I 1|1|5", "+U 1|2|11"}},
		{name: "a batch makes one change of a group", aggs: sums()[:2], prev: true,
			steps: []steps{{{ins, 1, 5}, {ins, 2, 1}, {ins, 1, 6}}},
			want:  []string{"+I 1|2|11", "+I 2|1|1"}},
		// CASES C21.
		{name: "a value goes, a NULL stays", aggs: sums(), retracting: true, prev: true,
			steps: []steps{{{ins, 1, 5}}, {{ins, 1, nil}}, {{del, 1, 5}}, {{del, 1, nil}}},
			want: []string{"+I 1|1|5|5|5|5|1", "-U 1|1|5|5|5|5|1", "+U 1|2|5|5|5|5|1", "-U 1|2|5|5|5|5|1", "+U 1|1|NULL|NULL|NULL|NULL|0",
				"-D 1|1|NULL|NULL|NULL|NULL|0"}},
		{name: "the same in one batch", aggs: sums(), retracting: true, prev: true,
			steps: []steps{{{ins, 1, 5}, {ins, 1, nil}, {del, 1, 5}}},
			want:  []string{"+I 1|1|NULL|NULL|NULL|NULL|0"}},
		{name: "a group comes and goes in one batch", aggs: sums()[:2], retracting: true, prev: true,
			steps: []steps{{{ins, 1, 5}, {del, 1, 5}}, {{ins, 1, 6}}, {{del, 1, 6}, {ins, 1, 6}}},
			want:  []string{"+I 1|1|6"}},
		{name: "a group comes again", aggs: sums()[:2], retracting: true,
			steps: []steps{{{ins, 1, 5}}, {{del, 1, 5}}, {{ins, 1, 6}}, {{upOld, 1, 6}, {upTo, 1, 8}}},
			want:  []string{"+I 1|1|5", "-D 1|1|5", "+I 1|1|6", "+U 1|1|8"}},
		{name: "the last of two equal values goes", aggs: sums()[5:], retracting: true, prev: true,
			steps: []steps{{{ins, 1, 5}, {ins, 1, 5}}, {{del, 1, 5}}, {{ins, 1, 6}}, {{del, 1, 5}}},
			want:  []string{"+I 1|1", "-U 1|1", "+U 1|2", "-U 1|2", "+U 1|1"}},
		{name: "no keys: no row before the first, none after the last", global: true, aggs: sums()[:2], retracting: true, prev: true,
			steps: []steps{{{ins, 1, 5}}, {{ins, 2, 6}}, {{del, 1, 5}, {del, 2, 6}}, {{ins, 1, 1}}},
			want:  []string{"+I 1|5", "-U 1|5", "+U 2|11", "-D 2|11", "+I 1|1"}},
		{name: "FILTER", aggs: []job.Agg{agg("SUM", false, call(">", col(1, integer), num(3)), col(1, integer))}, retracting: true, prev: true,
			steps: []steps{{{ins, 1, 2}}, {{ins, 1, 5}, {ins, 2, 9}}, {{del, 1, 5}}},
			want:  []string{"+I 1|NULL", "-U 1|NULL", "+U 1|5", "+I 2|9", "-U 1|5", "+U 1|NULL"}},
		{name: "nothing is left of floats that have gone", aggs: []job.Agg{agg("SUM", false, nil, tenth())}, retracting: true,
			steps: []steps{{{ins, 1, 1}, {ins, 1, 2}, {ins, 1, nil}}, {{del, 1, 1}}, {{del, 1, 2}}, {{ins, 1, 3}}},
			want:  []string{"+I 1|0.30000000000000004", "+U 1|0.2", "+U 1|NULL", "+U 1|0.30000000000000004"}},
		{name: "DISTINCT is keys alone", retracting: true, prev: true,
			steps: []steps{{{ins, 1, 2}, {ins, 1, 3}, {ins, nil, 1}}, {{del, 1, 2}, {del, nil, 1}}, {{del, 1, 3}}},
			want:  []string{"+I 1", "+I NULL", "-D NULL", "-D 1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			f := w.feed("t", columns(integer, integer))
			for _, s := range c.steps {
				var rows [][]any
				var kinds []types.RowKind
				for _, r := range s {
					kinds = append(kinds, r[0].(types.RowKind))
					rows = append(rows, r[1:])
				}
				f.change(rows, kinds)
			}
			f.end()
			p := w.streaming(2048)
			keys := exprs(col(0, integer))
			if c.global {
				keys = nil
			}
			p.collect(p.changelog(p.scan("t", 1), keys, c.retracting, c.prev, c.aggs...))
			rows, kinds, err := drain(w, p.submit())
			require.NoError(t, err)
			require.Equal(t, c.want, changesOf(rows, kinds))
		})
	}
}

// query is a random GROUP BY, of one level or two, over columns k INT, s STRING, x INT, d DOUBLE.
type query struct {
	keys, keys2     []expr.Expr
	aggs, aggs2     []job.Agg
	having          expr.Expr
	two, retracting bool
	before          bool
	// unique says that s, x and d are there in one row each, so that it is known which row goes when a value goes:
	// then the aggregates that mind the order of the rows are called as well. A row may be updated in d.
	unique bool
	wild   bool // d may be any float
	rows   int  // that there were
}

func randomQuery(r *rand.Rand) *query {
	q := &query{two: r.IntN(2) == 0, retracting: r.IntN(3) > 0, before: r.IntN(2) == 0, wild: r.IntN(2) == 0}
	q.unique = !q.two && r.IntN(2) == 0
	in := exprs(col(0, integer), col(1, str), col(2, integer), col(3, double))
	if q.unique {
		q.keys = someKeys(r, in[:1])
		q.aggs = q.someAggs(r, in[1:])
	} else {
		q.keys = someKeys(r, in[:3])
		q.aggs = q.someAggs(r, in)
	}
	if len(q.keys)+len(q.aggs) == 0 {
		q.aggs = []job.Agg{agg("COUNT", false, nil)}
	}
	if !q.two {
		return q
	}
	var mid []expr.Expr
	for i, k := range q.keys {
		mid = append(mid, col(i, k.Type()))
	}
	for i, a := range q.aggs {
		if !a.T.IsNested() {
			mid = append(mid, col(len(q.keys)+i, a.T))
		}
	}
	q.keys2 = someKeys(r, mid)
	if len(mid) > 0 {
		q.aggs2 = q.someAggs(r, mid)
	}
	if len(q.keys2)+len(q.aggs2) == 0 {
		q.aggs2 = []job.Agg{agg("COUNT", false, nil)}
	}
	if r.IntN(2) == 0 && len(q.keys2) > 0 {
		for i, a := range q.aggs {
			if a.T.Kind == types.BigInt {
				q.having = call("<", col(len(q.keys)+i, a.T), expr.NewLiteral(bigint, int64(3), expr.Span{}))
			}
		}
	}
	return q
}

func someKeys(r *rand.Rand, of []expr.Expr) (keys []expr.Expr) {
	for _, e := range of {
		if r.IntN(2) == 0 {
			keys = append(keys, e)
		}
	}
	return keys
}

// someAggs makes calls of any of the aggregates there are.
func (q *query) someAggs(r *rand.Rand, of []expr.Expr) (aggs []job.Agg) {
	for range r.IntN(4) {
		x := of[r.IntN(len(of))]
		var filter expr.Expr
		if r.IntN(4) == 0 {
			if y := of[r.IntN(len(of))]; y.Type().Kind == types.Int {
				filter = call(">", y, num(1))
			} else {
				filter = call("IS NOT NULL", y)
			}
		}
		if r.IntN(8) == 0 {
			aggs = append(aggs, agg("COUNT", false, filter))
			continue
		}
		all := expr.Aggregates()
		for {
			a := all[r.IntN(len(all))]
			if a.Ordered && !q.unique && a.Name != "COLLECT" || a.Name == "JSON_OBJECTAGG" && !q.unique {
				continue
			}
			args := []expr.Expr{x}
			switch a.Name {
			case "PERCENTILE":
				args = append(args, expr.NewLiteral(double, []float64{0, 0.3, 0.5, 1}[r.IntN(4)], expr.Span{}))
			case "JSON_ARRAYAGG":
				args[0] = call("JSON_STRING", x)
			case "JSON_OBJECTAGG":
				args = []expr.Expr{of[0], call("JSON_STRING", x)}
			}
			distinct := r.IntN(3) == 0 && !a.Ordered && a.Name != "JSON_OBJECTAGG"
			if _, err := expr.NewAggregate(a.Name, args, distinct, filter, expr.Span{}); err != nil {
				continue // not of this type
			}
			aggs = append(aggs, agg(a.Name, distinct, filter, args...))
			break
		}
	}
	return aggs
}

// inexact reports whether a result may be another one in batch mode, where floats are added as they come.
func (q *query) inexact() bool {
	for _, a := range append(q.aggs[:len(q.aggs):len(q.aggs)], q.aggs2...) {
		switch a.Func.Name {
		case "SUM", "AVG":
			if a.Args[0].Type().IsFloat() {
				return true
			}
		case "VAR_POP", "VAR_SAMP", "VARIANCE", "STDDEV", "STDDEV_POP", "STDDEV_SAMP":
			return true
		}
	}
	return false
}

func (q *query) randomRow(r *rand.Rand) []any {
	q.rows++
	if q.unique {
		row := []any{r.IntN(4), fmt.Sprintf("text %d", q.rows), q.rows, q.uniqueFloat()}
		if r.IntN(7) == 0 {
			row[0] = nil
		}
		return row
	}
	row := []any{r.IntN(4), fmt.Sprintf("%s%d", []string{"", "a text too long to be packed "}[r.IntN(2)], r.IntN(3)), r.IntN(5), float64(r.IntN(9)) / 2}
	if q.wild && r.IntN(2) == 0 {
		row[3] = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e200, -1e200, 1e308, 0.1, 1e-300, math.SmallestNonzeroFloat64}[r.IntN(9)]
	}
	for i := range row {
		if r.IntN(7) == 0 {
			row[i] = nil
		}
	}
	return row
}

// uniqueFloat is another one after every row.
func (q *query) uniqueFloat() float64 {
	if q.wild {
		return math.Ldexp(float64(q.rows)/10, 150*(q.rows%13-6))
	}
	return float64(q.rows) / 2
}

// graph adds the query to a graph whose rows come from v, for a streaming or a batch job.
func (q *query) graph(p *plan, v int, stream bool) int {
	level := func(v int, keys []expr.Expr, aggs []job.Agg, retracting, before bool) int {
		if stream {
			return p.changelog(v, keys, retracting, before, aggs...)
		}
		var out []types.Type
		for _, k := range keys {
			out = append(out, k.Type())
		}
		for _, a := range aggs {
			out = append(out, a.T)
		}
		return p.vertex(&job.Aggregate{Phase: job.Complete, Keys: job.Exprs(keys), Aggs: aggs}, columns(out...), 1, forward(v))
	}
	v = level(v, q.keys, q.aggs, q.retracting, q.before || q.two)
	if !q.two {
		return v
	}
	if q.having != nil {
		v = p.filter(q.having, v)
	}
	return level(v, q.keys2, q.aggs2, true, q.before)
}

func (q *query) outKeys() int {
	if q.two {
		return len(q.keys2)
	}
	return len(q.keys)
}

// Folding the changes that a query makes of a random input, in random cuts, gives the rows that the query has
// over what of the input is left: in batch mode, or, where that adds floats inexactly, in streaming mode. The changes are sound on the way: a row comes that was not
// there, one goes or is updated that was there just so. With keys the query also writes a table by key, with
// checkpoints at random moments.
func TestFoldedChangelog(t *testing.T) {
	n := 2000
	if testing.Short() {
		n = 200
	}
	if s := os.Getenv("SLUICE_TEST_QUERIES"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	w := newWorld(t)
	for seed := range n {
		foldOne(t, w, uint64(seed))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func foldOne(t *testing.T, w *world, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 5))
	q := randomQuery(r)
	cols := columns(integer, str, integer, double)
	f := w.feed("t", cols)
	var left [][]any
	for range r.IntN(40) {
		var rows [][]any
		var kinds []types.RowKind
		for range 1 + r.IntN(12) {
			if q.retracting && len(left) > 0 && r.IntN(5) < 2 {
				row := left[r.IntN(len(left))]
				update := q.unique && r.IntN(2) == 0
				rows, kinds = append(rows, row), append(kinds, []types.RowKind{del, upOld}[r.IntN(2)])
				for i, o := range left { // the first that equals it goes
					if fmt.Sprint(o) == fmt.Sprint(row) {
						left = append(left[:i:i], left[i+1:]...)
						break
					}
				}
				if update {
					q.rows++
					row = []any{row[0], row[1], row[2], q.uniqueFloat()}
					rows, kinds, left = append(rows, row), append(kinds, upTo), append(left, row)
				}
				continue
			}
			row := q.randomRow(r)
			rows, kinds = append(rows, row), append(kinds, []types.RowKind{ins, upTo}[r.IntN(2)])
			left = append(left, row)
		}
		f.change(rows, kinds)
	}
	if q.retracting && r.IntN(10) == 0 { // nothing is left
		f.change(left, repeat(del, len(left)))
		left = nil
	}
	f.end()

	var want []string
	if len(left) > 0 && q.inexact() {
		once := w.feed("u", cols)
		once.change(left, repeat(ins, len(left)))
		once.end()
		p := w.streaming(2048)
		rows, kinds, err := drain(w, p.collect(q.graph(p, p.scan("u", 1), true)).submit())
		require.NoError(t, err)
		want = fold(t, q, rows, kinds)
	} else if len(left) > 0 { // without keys batch mode has a row of no rows
		w.add("u", cols, left, 1000)
		p := w.plan(1, 1+r.IntN(30))
		rows, err := p.collect(q.graph(p, p.scan("u", 1), false)).rows()
		require.NoError(t, err)
		want = nonNil(sorted(text(rows)))
	}
	batchRows := []int{1, 3, 2048}[r.IntN(3)]
	if q.outKeys() > 0 && r.IntN(2) == 0 {
		tick := w.ticks()
		defer func() { w.rt.ticker = nil }()
		p := w.streaming(batchRows)
		v := q.graph(p, p.scan("t", 1), true)
		key := make([]int, q.outKeys())
		for i := range key {
			key[i] = i
		}
		w.mu.Lock()
		delete(w.tables, "v")
		w.mu.Unlock()
		j := p.stream("v", v, key, false).submit()
		for range r.IntN(6) {
			tick(j)
		}
		require.NoError(t, wait(t, j))
		require.Equal(t, want, nonNil(sorted(text(w.rowsIn("v")))), "%+v", q)
		return
	}
	p := w.streaming(batchRows)
	rows, kinds, err := drain(w, p.collect(q.graph(p, p.scan("t", 1), true)).submit())
	require.NoError(t, err)
	require.Equal(t, want, fold(t, q, rows, kinds), "%+v", q)
}

func repeat(k types.RowKind, n int) []types.RowKind {
	ks := make([]types.RowKind, n)
	for i := range ks {
		ks[i] = k
	}
	return ks
}

func nonNil(rows []string) []string {
	if len(rows) == 0 {
		return nil
	}
	return rows
}

// fold applies changes, each of which must be possible.
func fold(t *testing.T, q *query, rows [][]any, kinds []types.RowKind) []string {
	there := map[string]string{} // by key
	texts := text(rows)
	for i, r := range rows {
		key := fmt.Sprintf("%q", r[:q.outKeys()])
		old, ok := there[key]
		switch kinds[i] {
		case ins:
			require.False(t, ok, "%s came twice", texts[i])
			there[key] = texts[i]
		case upTo:
			if q.before {
				require.Equal(t, upOld, kinds[i-1])
				require.NotEqual(t, texts[i-1], texts[i], "an update that changes nothing")
				require.False(t, ok)
			} else {
				require.True(t, ok, "%s was not there", key)
				require.NotEqual(t, old, texts[i], "an update that changes nothing")
			}
			there[key] = texts[i]
		default:
			require.True(t, ok, "%s was not there", key)
			require.Equal(t, old, texts[i])
			require.True(t, q.before || kinds[i] == del)
			delete(there, key)
		}
	}
	var left []string
	for _, r := range there {
		left = append(left, r)
	}
	return nonNil(sorted(left))
}
