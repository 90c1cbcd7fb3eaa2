package exec

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
)

// benchStream runs a streaming job over a million rows into a sink that keeps nothing. The source's thread does
// little, so the figure is that of one core.
func benchStream(b *testing.B, upsert []int, changelog bool, make func(p *plan, v int) int) {
	w := newWorld(b)
	benchTable(w)
	w.discard = true
	b.ReportAllocs()
	for b.Loop() {
		w.events, w.ids = nil, nil
		p := w.streaming(column.DefaultRows)
		j := p.stream("u", make(p, p.scan("t", 1)), upsert, changelog).submit()
		require.NoError(b, j.Wait(context.Background()))
		require.EqualValues(b, benchRows, j.Stats().RowsRead)
	}
	b.ReportMetric(benchRows*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

func BenchmarkStreamPass(b *testing.B) {
	benchStream(b, nil, true, func(_ *plan, v int) int { return v })
}

func BenchmarkStreamFilter(b *testing.B) {
	benchStream(b, nil, true, func(p *plan, v int) int { return p.filter(call("<", col(4, integer), num(500)), v) })
}

func BenchmarkStreamFilterNarrow(b *testing.B) {
	benchStream(b, nil, true, func(p *plan, v int) int {
		return p.filter(call("<", col(0, integer), num(500)), p.project(v, col(4, integer), col(3, bigint)))
	})
}

func BenchmarkStreamGroup(b *testing.B) {
	for name, before := range map[string]bool{"updates": false, "both": true} {
		b.Run(name, func(b *testing.B) {
			benchStream(b, nil, true, func(p *plan, v int) int {
				return p.changelog(v, exprs(col(4, integer)), false, before, agg("COUNT", false, nil), agg("SUM", false, nil, col(3, bigint)))
			})
		})
	}
	b.Run("by key", func(b *testing.B) {
		benchStream(b, []int{0}, false, func(p *plan, v int) int {
			return p.changelog(v, exprs(col(4, integer)), false, false, agg("COUNT", false, nil), agg("SUM", false, nil, col(3, bigint)))
		})
	})
	b.Run("100k by key", func(b *testing.B) {
		benchStream(b, []int{0}, false, func(p *plan, v int) int {
			v = p.project(v, call("/", col(3, bigint), num(10)), col(5, double))
			return p.changelog(v, exprs(col(0, bigint)), false, false, agg("COUNT", false, nil), agg("SUM", false, nil, col(1, double)))
		})
	})
	b.Run("of groups", func(b *testing.B) {
		benchStream(b, []int{0}, false, func(p *plan, v int) int {
			v = p.changelog(v, exprs(col(4, integer)), false, true, agg("COUNT", false, nil), agg("MAX", false, nil, col(3, bigint)))
			return p.changelog(v, exprs(col(1, bigint)), true, false, agg("COUNT", false, nil), agg("MAX", false, nil, col(2, bigint)))
		})
	})
}
