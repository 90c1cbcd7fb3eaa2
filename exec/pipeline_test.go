package exec

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/hooks"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/types"
)

// numbers returns n rows of a running number, a number below most or NULL, and a text.
func numbers(n, most int, seed uint64) [][]any {
	r := rand.New(rand.NewPCG(seed, 1))
	rows := make([][]any, n)
	for i := range rows {
		x := r.IntN(most)
		rows[i] = []any{i, x, fmt.Sprintf("t%d", x)}
		if r.IntN(10) == 0 {
			rows[i][1] = nil
		}
		if r.IntN(10) == 0 {
			rows[i][2] = nil
		}
	}
	return rows
}

// Scan, filter and project keep the order of the source at any parallelism.
func TestOrderIsKept(t *testing.T) {
	rows := numbers(20_000, 100, 1)
	var want [][]any
	for _, r := range rows {
		if r[1] != nil && r[1].(int) < 30 {
			want = append(want, []any{r[2], r[0], r[1].(int) + 1, r[0]})
		}
	}
	eachShape(t, func(t *testing.T, w *world, s shape) {
		w.add("t", columns(integer, integer, str), rows, 700).shared = s.shared
		p := w.plan(s.parallelism, s.batchRows)
		v := p.filter(call("<", col(1, integer), num(30)), p.scan("t", s.parallelism))
		v = p.project(v, col(2, str), col(0, integer), call("+", col(1, integer), num(1)), col(0, integer))
		got, err := p.collect(v).rows()
		require.NoError(t, err)
		require.Equal(t, text(want), text(got))
	})
}

// A scan whose rows leave the task unchanged, into a table.
func TestCopyTable(t *testing.T) {
	rows := numbers(30_000, 100, 2)
	eachShape(t, func(t *testing.T, w *world, s shape) {
		w.add("t", columns(integer, integer, str), rows, 2048).shared = s.shared
		p := w.plan(s.parallelism, s.batchRows)
		j := p.into(hooks.CreateTableAs, "u", p.scan("t", s.parallelism), 0).submit()
		require.NoError(t, j.Wait(context.Background()))
		require.Equal(t, Finished, j.State())
		require.EqualValues(t, len(rows), j.Rows())
		require.Equal(t, Stats{RowsRead: 30_000, RowsWritten: 30_000}, j.Stats())
		require.Equal(t, text(rows), text(rowsOf(w.tables["u"].batches[0])))
	})
}

func TestLimit(t *testing.T) {
	rows := numbers(10_000, 100, 3)
	for _, c := range []struct{ count, offset int64 }{{0, 0}, {1, 0}, {10, 3}, {-1, 9_990}, {5_000, 2_000}, {20_000, 0}, {5, 20_000},
		{math.MaxInt64, 0}, {math.MaxInt64, 3}, {math.MaxInt64 - 2, 3}, {math.MaxInt64, math.MaxInt64}} {
		eachShape(t, func(t *testing.T, w *world, s shape) {
			w.add("t", columns(integer, integer, str), rows, 300).shared = s.shared
			p := w.plan(s.parallelism, s.batchRows)
			v := p.vertex(&job.Limit{Count: c.count, Offset: c.offset}, columns(integer, integer, str), 1, forward(p.scan("t", s.parallelism)))
			got, err := p.collect(v).rows()
			require.NoError(t, err)
			from := min(c.offset, 10_000)
			to := int64(10_000)
			if c.count >= 0 {
				to = from + min(to-from, c.count)
			}
			require.Equal(t, text(rows[from:to]), text(got))
		})
	}
}

// LIMIT ends a source that has no end, also through joins, unions and other tasks.
func TestLimitStopsEndlessSources(t *testing.T) {
	eachShape(t, func(t *testing.T, w *world, s shape) {
		cols := columns(integer, integer, str)
		w.add("t", cols, numbers(1000, 10, 4), 100).endless = true
		w.add("small", cols, numbers(20, 10, 5), 10)
		p := w.plan(s.parallelism, s.batchRows)
		a := p.filter(call(">", col(1, integer), num(3)), p.scan("t", s.parallelism))
		b := p.scan("t", s.parallelism)
		u := p.vertex(&job.Union{}, cols, s.parallelism, forward(a), forward(b))
		joined := append(append(cols[:0:0], cols...), cols...)
		x := p.vertex(&job.Join{Kind: job.Inner, LeftKeys: job.Exprs(exprs(col(1, integer))), RightKeys: job.Exprs(exprs(col(1, integer)))}, joined, s.parallelism,
			forward(u), in{from: p.scan("small", s.parallelism), kind: job.Broadcast})
		v := p.vertex(&job.Limit{Count: 50}, joined, 1, forward(x))
		got, err := p.collect(v).rows()
		require.NoError(t, err)
		require.Len(t, got, 50)
	})
}

// UNION ALL is its inputs one after the other; a LIMIT in one branch ends that branch only.
func TestUnion(t *testing.T) {
	eachShape(t, func(t *testing.T, w *world, s shape) {
		cols := columns(integer, integer, str)
		a, b := numbers(3000, 10, 6), numbers(2000, 10, 7)
		w.add("a", cols, a, 100)
		w.add("b", cols, b, 128).shared = s.shared
		p := w.plan(s.parallelism, s.batchRows)
		first := p.vertex(&job.Limit{Count: 500}, cols, 1, forward(p.scan("a", s.parallelism)))
		inner := p.vertex(&job.Union{}, cols, s.parallelism, forward(p.scan("b", s.parallelism)), forward(p.scan("a", s.parallelism)))
		v := p.vertex(&job.Union{}, cols, 1, forward(first), forward(inner), forward(p.values(cols, b[:3], b[3:5])))
		got, err := p.collect(v).rows()
		require.NoError(t, err)
		want := append(append(append(append([][]any(nil), a[:500]...), b...), a...), b[:5]...)
		require.Equal(t, text(want), text(got))
	})
}

// A task of many workers may read one that has one: rows go round in batches and keep their order.
func TestOneFeedsMany(t *testing.T) {
	rows := numbers(9_000, 100, 8)
	eachShape(t, func(t *testing.T, w *world, s shape) {
		cols := columns(integer, integer, str)
		w.add("t", cols, rows, 100).shared = s.shared
		p := w.plan(s.parallelism, s.batchRows)
		v := p.vertex(&job.Filter{Predicate: job.Expr{Expr: call(">=", col(0, integer), num(0))}}, cols, s.parallelism, forward(p.scan("t", 1)))
		got, err := p.collect(v).rows()
		require.NoError(t, err)
		require.Equal(t, text(rows), text(got))
	})
}

func TestSingleRow(t *testing.T) {
	eachShape(t, func(t *testing.T, w *world, s shape) {
		cols := columns(integer, integer, str)
		for n, want := range map[int][]string{0: {"NULL|NULL|NULL"}, 1: {"0|1|x"}, 2: nil} {
			rows := [][]any{{0, 1, "x"}, {1, 2, "y"}}[:n]
			w.add("t", cols, rows, 1)
			p := w.plan(s.parallelism, s.batchRows)
			v := p.vertex(&job.SingleRow{At: call("+", num(1), num(2)).Span()}, cols, 1, forward(p.scan("t", s.parallelism)))
			got, err := p.collect(v).rows()
			if n == 2 {
				require.EqualError(t, err, "the scalar subquery returned more than one row (add LIMIT 1, or an aggregate)")
				require.EqualValues(t, 7, err.(*Error).Span.Start)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, want, text(got))
		}
	})
}

// Rows without columns are counted all the same.
func TestNoColumns(t *testing.T) {
	w := newWorld(t)
	w.add("t", columns(integer), numbersOf(5000), 1000)
	p := w.plan(2, 2048)
	v := p.scan("t", 2)
	p.g.Vertices[v].Spec.(*job.Scan).Columns, p.g.Vertices[v].Out = nil, nil
	v = p.vertex(&job.Limit{Count: -1, Offset: 10}, nil, 1, forward(v))
	got, err := p.collect(v).rows()
	require.NoError(t, err)
	require.Len(t, got, 4990)
}

// A batch of constants may have more rows than a selection can name.
func TestManyConstants(t *testing.T) {
	for _, batchRows := range []int{2048, 1_000_000} {
		w := newWorld(t)
		p := w.plan(1, batchRows)
		v := p.filter(call(">=", col(0, integer), num(69_990)), p.values(columns(integer), numbersOf(70_000)))
		got, err := p.collect(v).rows()
		require.NoError(t, err)
		require.Equal(t, text(numbersOf(70_000)[69_990:]), text(got))
	}
}

func numbersOf(n int) [][]any {
	rows := make([][]any, n)
	for i := range rows {
		rows[i] = []any{i}
	}
	return rows
}

func (p *plan) values(cols []types.Column, batches ...[][]any) int {
	spec := &job.Values{}
	for _, rows := range batches {
		spec.Batches = append(spec.Batches, column.EncodeBatch(nil, batchOf(typesIn(cols), rows)))
		spec.Rows += int64(len(rows))
	}
	return p.vertex(spec, cols, 1)
}

func exprs(es ...expr.Expr) []expr.Expr { return es }

// A batch of which a memory table owns some columns and the job others goes over two edges: the job's
// vectors go round, the table's never do.
func TestSharedAndComputedColumnsOverTwoEdges(t *testing.T) {
	const n = 100_000
	for _, size := range []int{300, 2048} {
		for _, third := range []bool{false, true} {
			const parallelism = 4
			w := newWorld(t)
			w.add("t", columns(integer), numbersOf(n), size).shared = true
			table := text(rowsOf(w.tables["t"].batches[7]))
			p := w.plan(parallelism, 2048)
			ts := columns(integer, integer, str)
			branch := func() in {
				v := p.project(p.scan("t", parallelism), col(0, integer), call("+", col(0, integer), num(1)), call("CONCAT", expr.NewLiteral(str, "x", expr.Span{}), call("CHR", num(65))))
				return forward(v)
			}
			u := p.vertex(&job.Union{}, ts, 1, branch(), branch())
			if third { // on it the batches of one worker go to several
				u = p.filter(call(">", col(1, integer), num(0)), u)
				p.g.Vertices[u].Parallelism = parallelism
			}
			p.into(hooks.CreateTableAs, "r", u)
			require.NoError(t, p.submit().Wait(context.Background()))
			got := rowsOf(w.tables["r"].batches[0])
			require.Len(t, got, 2*n)
			for i, r := range got {
				if r[0] != i%n || r[1] != i%n+1 || r[2] != "xA" {
					t.Fatalf("row %d is %v", i, r)
				}
			}
			require.Equal(t, table, text(rowsOf(w.tables["t"].batches[7])), "the table itself")
		}
	}
}
