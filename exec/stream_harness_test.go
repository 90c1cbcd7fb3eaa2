package exec

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/hooks"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/types"
)

// feed is a table that gives what a test pushes, a batch a step.
type feed struct {
	cols  []types.Column
	steps chan step

	bounded bool
	watch   func() ([]connector.Split, error) // nil: the source does not watch
	splits  []connector.Split                 // nil: one
	onRead  func(n int) error                 // before the n-th read, from 1

	onSplits     error // of Splits
	beforeSplits func(ctx context.Context)

	count atomic.Int64 // steps pushed
	mu    sync.Mutex
	reads int
	split []int // read, by id
}

// step is what one Read gives.
type step struct {
	rows  [][]any
	kinds []types.RowKind
	end   bool
}

func (w *world) feed(name string, cols []types.Column) *feed {
	f := &feed{cols: cols, steps: make(chan step, 10_000)}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tables[name] = &table{schema: types.Schema{Columns: cols}, feed: f}
	return f
}

func (f *feed) step(s step)                                { f.steps <- s; f.count.Add(1) }
func (f *feed) push(rows ...[]any)                         { f.step(step{rows: rows}) }
func (f *feed) change(rows [][]any, kinds []types.RowKind) { f.step(step{rows: rows, kinds: kinds}) }
func (f *feed) end()                                       { f.step(step{end: true}) }

func (f *feed) source(w *world) connector.Source {
	s := &feedSource{f, w}
	if f.watch != nil {
		return &watchingFeed{s}
	}
	return s
}

type feedSource struct {
	*feed
	w *world
}

func (s *feedSource) Bounded() bool { return s.bounded }
func (s *feedSource) Close() error  { s.w.open.Add(-1); return nil }

func (s *feedSource) Splits(ctx context.Context, _ int) ([]connector.Split, error) {
	if s.beforeSplits != nil {
		s.beforeSplits(ctx)
	}
	if s.onSplits != nil {
		return nil, s.onSplits
	}
	if s.splits != nil {
		return s.splits, nil
	}
	return []connector.Split{{}}, nil
}

func (s *feedSource) Reader(_ context.Context, splits []connector.Split) (connector.Reader, error) {
	s.w.open.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range splits {
		s.split = append(s.split, x.ID)
	}
	return &feedReader{s}, nil
}

// watchingFeed is a source to which splits are added.
type watchingFeed struct{ *feedSource }

func (s *watchingFeed) Discover(context.Context) ([]connector.Split, error) { return s.watch() }

type feedReader struct{ *feedSource }

func (r *feedReader) Close() error     { r.w.open.Add(-1); return nil }
func (r *feedReader) Position() []byte { return nil }

func (r *feedReader) Read(ctx context.Context, b *column.Batch) (connector.Status, error) {
	r.mu.Lock()
	r.reads++
	n := r.reads
	r.mu.Unlock()
	if r.onRead != nil {
		if err := r.onRead(n); err != nil {
			return connector.End, err
		}
	}
	select {
	case s := <-r.steps:
		b.AppendBatch(batchOf(typesIn(r.cols), s.rows))
		b.Kind = s.kinds
		if s.end {
			return connector.End, nil
		}
		return connector.More, nil
	case <-time.After(2 * time.Millisecond):
		return connector.Idle, nil
	case <-ctx.Done():
		return connector.End, ctx.Err()
	}
}

// Upsert and Changelog make the world's tables take changes.
func (t *openTable) Upsert(_ context.Context, u connector.Upsert) (connector.Transaction, error) {
	return &transaction{w: t.w, name: t.name, schema: t.schema, insert: true, upsert: &u}, nil
}

func (t *openTable) Changelog(_ context.Context, in connector.Insert) (connector.Transaction, error) {
	return t.Transaction(context.Background(), in)
}

// merge applies a transaction of upserts. A key may come once.
func (t *table) merge(x *transaction) error {
	seen := map[string]bool{}
	for i, r := range x.rows {
		key := func(r []any) string {
			var k []any
			for _, c := range x.upsert.Key {
				k = append(k, r[c])
			}
			return fmt.Sprintf("%q", k)
		}
		k := key(r)
		if seen[k] {
			return fmt.Errorf("key %s comes twice", k)
		}
		seen[k] = true
		if t.merged == nil {
			t.merged = map[string][]any{}
		}
		switch x.kinds[i] {
		case types.UpdateBefore:
			return errors.New("an upsert sink got -U")
		case types.Delete:
			delete(t.merged, k)
		default:
			t.merged[k] = r
		}
	}
	return nil
}

// rowsIn returns the rows that are committed to a table.
func (w *world) rowsIn(name string) [][]any {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.tables[name]
	if t == nil {
		return nil
	}
	rows := slices.Collect(maps.Values(t.merged))
	for _, b := range t.batches {
		rows = append(rows, rowsOf(b)...)
	}
	return rows
}

// streaming makes a graph a streaming one, whose checkpoints a test makes by tick.
func (w *world) streaming(batchRows int) *plan {
	p := w.plan(1, batchRows)
	p.g.Mode = job.Streaming
	return p
}

// ticks takes the clock of checkpoints into the test's hands: each call of the function is one, unless the job
// has ended. When the next call returns, or the job takes rows, it is over.
func (w *world) ticks() func(j *Job) {
	c := make(chan time.Time)
	w.rt.ticker = func(time.Duration) (<-chan time.Time, func()) { return c, func() {} }
	return func(j *Job) {
		select {
		case c <- time.Now():
		case <-j.ended:
		case <-time.After(patience):
			require.FailNow(w.t, "the job takes no checkpoint")
		}
	}
}

// changelog adds the aggregation of a stream of changes.
func (p *plan) changelog(v int, keys []expr.Expr, retracting, before bool, aggs ...job.Agg) int {
	var out []types.Type
	for _, k := range keys {
		out = append(out, k.Type())
	}
	for _, a := range aggs {
		out = append(out, a.T)
	}
	return p.vertex(&job.Aggregate{Phase: job.Changelog, Keys: job.Exprs(keys), Aggs: aggs, Retracting: retracting, EmitBefore: before}, columns(out...), 1, forward(v))
}

// stream ends the graph in a table that is there.
func (p *plan) stream(name string, v int, upsert []int, changelog bool) *plan {
	w := p.w
	cols := p.g.Vertices[v].Out
	w.mu.Lock()
	if w.tables[name] == nil {
		w.tables[name] = &table{schema: types.Schema{Columns: cols}}
	}
	w.mu.Unlock()
	p.into(hooks.Insert, name, v)
	p.g.Hooks[len(p.g.Hooks)-1].Purpose = ""
	s := p.g.Vertices[len(p.g.Vertices)-1].Spec.(*job.Sink)
	s.Upsert, s.Changelog = upsert, changelog
	return p
}

// drain fetches what a collecting job hands out, to its end.
func drain(w *world, j *Job) (rows [][]any, kinds []types.RowKind, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		b, err := j.Next(ctx)
		if b == nil || err != nil {
			require.NoError(w.t, ctx.Err(), "the job hangs")
			return rows, kinds, err
		}
		rows = append(rows, rowsOf(b)...)
		for i := range b.N {
			k := types.Insert
			if b.Kind != nil {
				k = b.Kind[i]
			}
			kinds = append(kinds, k)
		}
	}
}

// eventually waits for something to become true.
func eventually(w *world, what string, f func() bool) {
	deadline := time.Now().Add(patience)
	for !f() {
		if time.Now().After(deadline) {
			require.FailNow(w.t, what)
		}
		time.Sleep(time.Millisecond)
	}
}
