package exec

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/types"
)

// wideBatches runs a graph that collects and returns the number of its rows; no batch may be larger than
// the limit and a row.
func (p *plan) wideBatches() int {
	j := p.submit()
	rows := 0
	for {
		b, err := j.Next(context.Background())
		require.NoError(p.w.t, err)
		if b == nil {
			return rows
		}
		require.LessOrEqual(p.w.t, b.Size(), int64(maxBytes+(2<<20)))
		rows += b.N
	}
}

// Where rows are wide, batches have few of them, and memory stays in its bounds.
func TestWideRows(t *testing.T) {
	const n = 300
	wide := strings.Repeat("x", 1<<20)
	world := func(t *testing.T) *world {
		w := newWorld(t)
		w.rt.Registry.Env.Memory = connector.NewMemory(64 << 20)
		w.add("wide", columns(integer, str), [][]any{{1, wide}}, 1)
		ones := make([][]any, n)
		for i := range ones {
			ones[i] = []any{1, i}
		}
		w.add("ones", columns(integer, integer), ones, 2048)
		return w
	}
	key := job.Exprs(exprs(col(0, integer)))
	join := func(p *plan, kind job.JoinKind, left, right string, keys []job.Expr, residual expr.Expr) int {
		l, r := p.scan(left, 1), p.scan(right, 1)
		out := append(append([]types.Column(nil), p.g.Vertices[l].Out...), p.g.Vertices[r].Out...)
		return p.vertex(&job.Join{Kind: kind, LeftKeys: keys, RightKeys: keys, Residual: job.Expr{Expr: residual}}, out, 1,
			forward(l), in{from: r, kind: job.Broadcast})
	}
	for name, c := range map[string]struct {
		build func(p *plan) int
		rows  int
	}{
		"right side":  {func(p *plan) int { return join(p, job.Inner, "ones", "wide", key, nil) }, n},
		"left side":   {func(p *plan) int { return join(p, job.Full, "wide", "ones", key, nil) }, n},
		"nested loop": {func(p *plan) int { return join(p, job.Left, "ones", "wide", nil, nil) }, n},
		"residual": {func(p *plan) int {
			return join(p, job.Left, "ones", "wide", key, call("<", col(1, integer), num(100)))
		}, n},
		"filter": {func(p *plan) int {
			return p.filter(call("<>", call("MOD", col(1, integer), num(2)), num(0)), join(p, job.Inner, "ones", "wide", key, nil))
		}, n / 2},
		"groups": {func(p *plan) int {
			v := join(p, job.Inner, "ones", "wide", key, call("<", col(1, integer), num(20)))
			keys, aggs := exprs(col(1, integer)), []job.Agg{agg("MAX", false, nil, col(3, str)), agg("COUNT", false, nil)}
			return p.vertex(&job.Aggregate{Phase: job.Complete, Keys: job.Exprs(keys), Aggs: aggs}, aggregateColumns(keys, aggs, job.Complete), 1, forward(v))
		}, 20},
		"keys": {func(p *plan) int {
			v := join(p, job.Inner, "ones", "wide", key, call("<", col(1, integer), num(20)))
			keys := exprs(col(1, integer), col(3, str))
			return p.vertex(&job.Aggregate{Phase: job.Complete, Keys: job.Exprs(keys)}, aggregateColumns(keys, nil, job.Complete), 1, forward(v))
		}, 20},
		"sort": {func(p *plan) int {
			v := join(p, job.Inner, "ones", "wide", key, call("<", col(1, integer), num(20)))
			return p.vertex(&job.Sort{Keys: []job.SortKey{{Expr: job.Expr{Expr: col(1, integer)}, Desc: true}}, Count: -1}, p.g.Vertices[v].Out, 1, forward(v))
		}, 20},
	} {
		t.Run(name, func(t *testing.T) {
			w := world(t)
			p := w.plan(1, 2048)
			require.Equal(t, c.rows, p.collect(c.build(p)).wideBatches())
		})
	}
}

// A value that does not fit is an error with a name, not an internal one.
func TestTooLongForABatch(t *testing.T) {
	err := internalError("filter", &column.TooLongError{Type: str})
	require.EqualError(t, err, "filter: the values of a STRING column in one batch of rows are above 2 GiB (lower 'sluice.batch-rows')")
	require.Empty(t, err.Internal)
}

// A cancel is heard in the middle of what takes long.
func TestCancelIsHeard(t *testing.T) {
	const n = 200_000
	same := make([][]any, n)
	for i := range same {
		same[i] = []any{1, i}
	}
	cols := columns(integer, integer)
	both := append(append([]types.Column(nil), cols...), cols...)
	key := job.Exprs(exprs(col(0, integer)))
	count := func(p *plan, v int) int {
		aggs := []job.Agg{agg("COUNT", false, nil)}
		return p.vertex(&job.Aggregate{Phase: job.Complete, Aggs: aggs}, aggregateColumns(nil, aggs, job.Complete), 1, forward(v))
	}
	for name, build := range map[string]func(p *plan) int{
		"one key": func(p *plan) int {
			return p.vertex(&job.Join{Kind: job.Inner, LeftKeys: key, RightKeys: key}, both, 1, forward(p.scan("t", 1)), in{from: p.scan("t", 1), kind: job.Broadcast})
		},
		"one key, nothing left": func(p *plan) int {
			return p.vertex(&job.Join{Kind: job.Full, LeftKeys: key, RightKeys: key, Residual: job.Expr{Expr: call("<", col(1, integer), num(-1))}}, both, 1,
				forward(p.scan("t", 1)), in{from: p.scan("t", 1), kind: job.Broadcast})
		},
		"no key": func(p *plan) int {
			return p.vertex(&job.Join{Kind: job.Right}, both, 1, forward(p.scan("t", 1)), in{from: p.scan("t", 1), kind: job.Broadcast})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.add("t", cols, same, 2048)
			p := w.plan(1, 2048)
			j := p.collect(count(p, build(p))).submit()
			eventually(w, "the job does not run", func() bool { return j.State() == Running && j.Stats().RowsRead >= n })
			time.Sleep(50 * time.Millisecond)
			j.Cancel()
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second) // the whole takes longer
			defer cancel()
			require.EqualError(t, j.Wait(ctx), "the job was canceled")
		})
	}
}

// A sort that is to end does not sort on.
func TestCanceledSort(t *testing.T) {
	asked := 0
	o := ordering{keys: []sortKey{{}, {column: 1}}, rows: newRowStore([]types.Type{integer, str}), canceled: func() error {
		if asked++; asked > 3 {
			return errCanceled
		}
		return nil
	}}
	b := batchOf(o.rows.types, make([][]any, 0))
	for i := range 2048 {
		b.Cols[0].AppendI64(1)
		b.Cols[1].AppendString(string(rune('a' + i%26)))
	}
	var es []sortEntry
	for range 300 {
		es = appendEntries(es, b.Cols[0], o.keys[0], nil, 2048, uint32(o.rows.n))
		require.NoError(t, o.rows.append(b.Cols, nil, 2048))
	}
	o.sort(es)
	require.ErrorIs(t, o.err, errCanceled)
	require.Equal(t, 4, asked)
}
