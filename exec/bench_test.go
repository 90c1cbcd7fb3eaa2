package exec

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/hooks"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/types"
)

const benchRows = 1_000_000

// benchTable is a million rows: two short texts, a text of a few thousand values, a unique number in
// random order, a number below 1000, a float; shared, as a memory table.
func benchTable(w *world) []types.Column {
	ts := []types.Type{str, str, str, bigint, integer, double}
	r := rand.New(rand.NewPCG(1, 2))
	perm := r.Perm(benchRows)
	t := &table{schema: types.Schema{Columns: columns(ts...)}, shared: true, oneBy: 16}
	for at := 0; at < benchRows; at += column.DefaultRows {
		b := column.NewBatch(ts, column.DefaultRows)
		for i := at; i < min(at+column.DefaultRows, benchRows); i++ {
			b.Cols[0].AppendString("ANR"[i%3 : i%3+1])
			b.Cols[1].AppendString("FO"[i%2 : i%2+1])
			b.Cols[2].AppendString(fmt.Sprintf("customer name %d", perm[i]%5000))
			b.Cols[3].AppendI64(int64(perm[i]))
			b.Cols[4].AppendI64(int64(perm[i] % 1000))
			b.Cols[5].AppendF64(r.Float64())
			b.N++
		}
		t.batches = append(t.batches, b)
	}
	w.tables["t"] = t
	return t.schema.Columns
}

func bench(b *testing.B, parallelism int, make func(p *plan) int) {
	w := newWorld(b)
	benchTable(w)
	b.ReportAllocs()
	for b.Loop() {
		p := w.plan(parallelism, column.DefaultRows)
		v := make(p)
		j := p.collect(v).submit()
		for {
			batch, err := j.Next(context.Background())
			require.NoError(b, err)
			if batch == nil {
				break
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
}

func benchBoth(b *testing.B, make func(p *plan, parallelism int) int) {
	for _, n := range []int{1, 2} {
		b.Run(fmt.Sprintf("P%d", n), func(b *testing.B) {
			bench(b, n, func(p *plan) int { return make(p, n) })
		})
	}
}

func grouped(p *plan, n int, keys []expr.Expr, aggs ...job.Agg) int {
	v := p.vertex(&job.Aggregate{Phase: job.Partial, Keys: job.Exprs(keys), Aggs: aggs}, aggregateColumns(keys, aggs, job.Partial), n, forward(p.scan("t", n)))
	from := in{from: v, kind: job.Hash}
	for i := range keys {
		from.keys = append(from.keys, i)
	}
	return p.vertex(&job.Aggregate{Phase: job.Final, Keys: job.Exprs(keys), Aggs: aggs}, aggregateColumns(keys, aggs, job.Final), n, from)
}

func BenchmarkGroupTwoTexts(b *testing.B) {
	benchBoth(b, func(p *plan, n int) int {
		return grouped(p, n, exprs(col(0, str), col(1, str)), agg("COUNT", false, nil), agg("SUM", false, nil, col(4, integer)), agg("SUM", false, nil, col(5, double)))
	})
}

func BenchmarkGroupLongText(b *testing.B) {
	benchBoth(b, func(p *plan, n int) int {
		return grouped(p, n, exprs(col(2, str)), agg("COUNT", false, nil), agg("SUM", false, nil, col(5, double)))
	})
}

func BenchmarkGroupUnique(b *testing.B) {
	benchBoth(b, func(p *plan, n int) int {
		return grouped(p, n, exprs(col(3, bigint)), agg("COUNT", false, nil), agg("SUM", false, nil, col(5, double)))
	})
}

func BenchmarkFilterProject(b *testing.B) {
	benchBoth(b, func(p *plan, n int) int {
		v := p.filter(call("<", col(4, integer), num(300)), p.scan("t", n))
		return p.project(v, col(2, str), col(3, bigint), call("+", col(4, integer), num(1)))
	})
}

func BenchmarkJoin(b *testing.B) {
	benchBoth(b, func(p *plan, n int) int {
		p.w.mu.Lock()
		if p.w.tables["small"] == nil {
			t := &table{schema: types.Schema{Columns: columns(bigint, str)}, shared: true}
			for at := 0; at < 200_000; at += 2000 {
				batch := column.NewBatch([]types.Type{bigint, str}, 2000)
				for i := at; i < at+2000; i++ {
					batch.Cols[0].AppendI64(int64(i) * 5)
					batch.Cols[1].AppendString(fmt.Sprint("name ", i))
					batch.N++
				}
				t.batches = append(t.batches, batch)
			}
			p.w.tables["small"] = t
		}
		p.w.mu.Unlock()
		l := p.project(p.scan("t", n), col(3, bigint), col(5, double))
		out := columns(bigint, double, bigint, str)
		return p.vertex(&job.Join{Kind: job.Inner, LeftKeys: job.Exprs(exprs(col(0, bigint))), RightKeys: job.Exprs(exprs(col(0, bigint)))}, out, n,
			forward(l), in{from: p.scan("small", n), kind: job.Broadcast})
	})
}

func BenchmarkSort(b *testing.B) {
	key := func(c int, t types.Type) job.SortKey { return job.SortKey{Expr: job.Expr{Expr: col(c, t)}} }
	for name, keys := range map[string][]job.SortKey{
		"number": {key(3, bigint)}, "float": {key(5, double)}, "text": {key(2, str)}, "two": {key(4, integer), key(5, double)},
	} {
		b.Run(name, func(b *testing.B) {
			bench(b, 2, func(p *plan) int {
				v := p.scan("t", 2)
				return p.vertex(&job.Sort{Keys: keys, Count: -1}, p.g.Vertices[v].Out, 1, forward(v))
			})
		})
	}
}

func BenchmarkTopN(b *testing.B) {
	bench(b, 2, func(p *plan) int {
		v := p.scan("t", 2)
		keys := []job.SortKey{{Expr: job.Expr{Expr: col(5, double)}, Desc: true}}
		return p.vertex(&job.Sort{Keys: keys, Count: 100}, p.g.Vertices[v].Out, 1, forward(v))
	})
}

// BenchmarkPassThrough is what the engine itself costs between a source that fills batches and a sink.
func BenchmarkPassThrough(b *testing.B) {
	for _, n := range []int{1, 2} {
		b.Run(fmt.Sprintf("P%d", n), func(b *testing.B) {
			w := newWorld(b)
			benchTable(w)
			w.tables["t"].shared = false
			b.ReportAllocs()
			for b.Loop() {
				p := w.plan(n, column.DefaultRows)
				p.w.discard = true
				j := p.into(hooks.CreateTableAs, "u", p.scan("t", n)).submit()
				require.NoError(b, j.Wait(context.Background()))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
		})
	}
}
