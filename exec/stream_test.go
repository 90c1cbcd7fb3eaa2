package exec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/exec/store"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/types"
)

// one makes rows of one INT.
func one(from, to int) (rows [][]any) {
	for i := from; i < to; i++ {
		rows = append(rows, []any{i})
	}
	return rows
}

// How a streaming job ends: what is committed, what its transactions were, what it says. The input is batches
// of the rows 0 to 9, 10 to 19 and 20 to 29, with a checkpoint after the first and the end after the last.
func TestStreamEnds(t *testing.T) {
	boom := errors.New("boom")
	second := func(w *world, f func() error) func() error { // f at the second call
		n := 0
		return func() error {
			if n++; n == 2 {
				return f()
			}
			return nil
		}
	}
	for _, c := range []struct {
		name   string
		setup  func(w *world, f *feed)
		expr   expr.Expr // a filter
		events string
		state  State
		rows   int // committed
		err    string

		warning string // after the job's name
	}{
		{name: "well", events: "begin seal commit begin seal commit", state: Finished, rows: 30},
		{name: "the fourth read fails", setup: func(_ *world, f *feed) { f.onRead = failOn(f, 3, boom) },
			events: "begin seal commit", state: Failed, rows: 10, err: "read table c.d.t: boom"},
		{name: "a read panics", setup: func(_ *world, f *feed) {
			f.onRead = func(int) error {
				if f.pushed() > 2 {
					panic("disk")
				}
				return nil
			}
		}, events: "begin seal commit", state: Failed, rows: 10, err: "internal error (read table c.d.t) (please report it)"},
		{name: "an operator fails", expr: call(">", call("/", num(100), call("-", col(0, integer), num(15))), num(-1000)),
			events: "begin seal commit", state: Failed, rows: 10, err: "division by zero"},
		{name: "begin fails", setup: func(w *world, _ *feed) {
			w.onBegin = func(context.Context) error { return boom }
		}, events: "begin abort", state: Failed, err: "write table c.d.v: boom"},
		{name: "the second begin fails", setup: func(w *world, _ *feed) {
			f := second(w, func() error { return boom })
			w.onBegin = func(context.Context) error { return f() }
		}, events: "begin seal commit begin abort", state: Failed, rows: 10, err: "write table c.d.v: boom"},
		{name: "a write fails", setup: func(w *world, _ *feed) {
			n := 0
			w.onWrite = func(int64) error {
				if n++; n == 15 {
					return boom
				}
				return nil
			}
		}, events: "begin seal commit begin abort", state: Failed, rows: 10, err: "write table c.d.v: boom"},
		{name: "a write panics", setup: func(w *world, _ *feed) { w.onWrite = func(int64) error { panic(boom) } },
			events: "begin abort", state: Failed, err: "internal error (write table c.d.v) (please report it)"},
		{name: "the second seal fails", setup: func(w *world, _ *feed) {
			f := second(w, func() error { return boom })
			w.onSeal = func(context.Context) error { return f() }
		}, events: "begin seal commit begin seal abort", state: Failed, rows: 10, err: "write table c.d.v: boom"},
		{name: "the clean-up fails, too", setup: func(w *world, _ *feed) {
			w.onSeal = func(context.Context) error { return boom }
			w.onAbort = func() error { return errors.New("bang") }
		}, events: "begin seal abort", state: Failed, err: "write table c.d.v: boom; the clean-up failed, too: bang"},
		{name: "the second commit does not happen", setup: func(w *world, _ *feed) {
			f := second(w, func() error { return boom })
			w.onCommit = func() (connector.Outcome, error) {
				if err := f(); err != nil {
					return connector.NotDone, err
				}
				return connector.Done, nil
			}
		}, events: "begin seal commit begin seal commit abort", state: Failed, rows: 10, err: "write table c.d.v: boom"},
		{name: "the second commit is not known", setup: func(w *world, _ *feed) {
			f := second(w, func() error { return boom })
			w.onCommit = func() (connector.Outcome, error) {
				if err := f(); err != nil {
					return connector.Unknown, err
				}
				return connector.Done, nil
			}
		}, events: "begin seal commit begin seal commit", state: InDoubt, rows: 10,
			err: "it is not known whether the rows since the last checkpoint were committed: write table c.d.v: boom (look at the table before starting the job again)"},
		{name: "a commit panics", setup: func(w *world, _ *feed) {
			w.onCommit = func() (connector.Outcome, error) { panic("oh") }
		}, events: "begin seal commit", state: InDoubt, err: "internal error"},
		{name: "canceled while it begins", setup: func(w *world, _ *feed) {
			w.onBegin = func(ctx context.Context) error {
				w.rt.cancelAll()
				<-ctx.Done()
				return ctx.Err()
			}
		}, events: "begin abort", state: Canceled, err: "the job was canceled"},
		{name: "canceled while it seals", setup: func(w *world, _ *feed) {
			w.onSeal = func(context.Context) error { w.rt.cancelAll(); return nil }
		}, events: "begin seal abort", state: Canceled, err: "the job was canceled"},
		{name: "canceled while it commits", setup: func(w *world, _ *feed) {
			w.onCommit = func() (connector.Outcome, error) { w.rt.cancelAll(); return connector.Done, nil }
		}, events: "begin seal commit", state: Canceled, rows: 10, err: "the job was canceled"},
		{name: "commits have something to tell, once", setup: func(w *world, _ *feed) {
			w.onCommit = func() (connector.Outcome, error) { return connector.Done, errors.New("not replicated") }
		}, events: "begin seal commit begin seal commit", state: Finished, rows: 30, warning: "committed: not replicated\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			st, err := store.Open(t.TempDir())
			require.NoError(t, err)
			w.rt.Store = st
			var warnings bytes.Buffer
			w.rt.Registry.Env.Err = &warnings
			var ended []State
			w.rt.Ended = func(j *Job) { ended = append(ended, j.State()) }
			tick := w.ticks()
			f := w.feed("t", columns(integer))
			if c.setup != nil {
				c.setup(w, f)
			}
			p := w.streaming(2048)
			v := p.scan("t", 1)
			if c.expr != nil {
				v = p.filter(c.expr, v)
			}
			p.stream("v", v, nil, false)
			f.push(one(0, 10)...)
			j := p.submit()
			eventually(w, "nothing is read", func() bool { return j.Stats().RowsRead == 10 || j.State().Final() })
			tick(j)
			f.push(one(10, 20)...)
			f.push(one(20, 30)...)
			f.end()
			err = wait(t, j)
			require.Equal(t, c.events, w.eventText())
			require.Equal(t, c.state, j.State())
			require.Equal(t, text(one(0, c.rows)), text(w.rowsIn("v")))
			require.EqualValues(t, c.rows, j.Rows())
			require.EqualValues(t, c.rows, j.Stats().RowsWritten)
			infos := w.rt.Jobs()
			require.Len(t, infos, 1)
			require.Equal(t, c.state, infos[0].State)
			require.Equal(t, job.Streaming, infos[0].Mode)
			require.EqualValues(t, c.rows, infos[0].Rows)
			require.Equal(t, []State{c.state}, ended)
			want := c.warning
			if want != "" {
				want = "[WARNING] job " + j.ID().String() + ": " + want
			}
			require.Equal(t, want, warnings.String())
			for _, id := range w.ids {
				require.NotEqual(t, j.ID(), id)
				require.True(t, j.owns(id))
				if c.state == InDoubt && id == w.ids[len(w.ids)-1] {
					require.Equal(t, catalog.Keep, w.rt.decide(id))
				} else {
					require.Equal(t, catalog.Remove, w.rt.decide(id))
				}
			}
			if c.err == "" {
				require.NoError(t, err)
				require.Equal(t, FinalWatermark(), j.Stats().Watermark)
				require.Zero(t, j.Stats().Lag)
				return
			}
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Contains(t, e.Error(), c.err)
			require.Equal(t, c.state, e.State)
			require.Equal(t, e.Error(), infos[0].Err)
		})
	}
}

// failOn fails a read once so many steps were taken.
func failOn(f *feed, steps int, err error) func(int) error {
	return func(int) error {
		if f.pushed() >= steps {
			return err
		}
		return nil
	}
}

// pushed returns how many steps were pushed.
func (f *feed) pushed() int { return int(f.count.Load()) }

// A stop commits what has gone through and ends the job well; a cancel commits nothing more.
func TestStopAndCancel(t *testing.T) {
	for _, stop := range []bool{true, false} {
		t.Run(fmt.Sprintf("stop=%t", stop), func(t *testing.T) {
			w := newWorld(t)
			tick := w.ticks()
			f := w.feed("t", columns(integer))
			p := w.streaming(2048)
			j := p.stream("v", p.scan("t", 1), nil, false).submit()
			f.push(one(0, 5)...)
			eventually(w, "nothing is read", func() bool { return j.Stats().RowsRead == 5 })
			tick(j)
			f.push(one(5, 9)...)
			eventually(w, "nothing more is read", func() bool { return j.Stats().RowsRead == 9 })
			require.Len(t, w.rowsIn("v"), 5, "rows are seen before a checkpoint")
			found, ok := w.rt.Job(j.ID())
			require.True(t, ok)
			require.Same(t, j, found)
			if stop {
				require.NoError(t, j.Stop(context.Background()))
				require.NoError(t, j.Stop(context.Background()))
				require.Equal(t, Finished, j.State())
				require.Len(t, w.rowsIn("v"), 9)
			} else {
				j.Cancel()
				require.EqualError(t, wait(t, j), "the job was canceled")
				require.Equal(t, Canceled, j.State())
				require.Len(t, w.rowsIn("v"), 5)
			}
			_, ok = w.rt.Job(j.ID())
			require.False(t, ok)
		})
	}
	w := newWorld(t)
	w.add("t", columns(integer), one(0, 10), 5)
	p := w.plan(1, 100)
	j := p.collect(p.scan("t", 1)).submit()
	require.EqualError(t, j.Stop(context.Background()), "a job in batch mode cannot be stopped, only canceled")
	j.Cancel()
	_ = wait(t, j)
}

// A commit that waits, as for another's lock, ends with a cancel; a stop waits for it.
func TestWaitingCommit(t *testing.T) {
	for _, stop := range []bool{true, false} {
		t.Run(fmt.Sprintf("stop=%t", stop), func(t *testing.T) {
			w := newWorld(t)
			locked, waits := make(chan struct{}), make(chan struct{})
			w.onBegin = func(ctx context.Context) error {
				close(waits)
				select {
				case <-locked:
					return nil
				case <-ctx.Done():
					return fmt.Errorf("table v is locked by another: %w", ctx.Err())
				}
			}
			tick := w.ticks()
			f := w.feed("t", columns(integer))
			p := w.streaming(2048)
			j := p.stream("v", p.scan("t", 1), nil, false).submit()
			f.push(one(0, 5)...)
			eventually(w, "nothing is read", func() bool { return j.Stats().RowsRead == 5 })
			tick(j)
			<-waits
			require.Equal(t, "the store to keep the rows", j.Stats().Waiting)
			if stop {
				ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
				defer cancel()
				require.ErrorIs(t, j.Stop(ctx), context.DeadlineExceeded)
				require.Equal(t, Running, j.State())
				close(locked)
				require.NoError(t, wait(t, j))
				require.Len(t, w.rowsIn("v"), 5)
				return
			}
			j.Cancel()
			require.ErrorContains(t, wait(t, j), "the job was canceled")
			require.Empty(t, w.rowsIn("v"))
		})
	}
}

// A store that others hold is tried again with the same rows in the same order, for as long as the job runs;
// only what has certainly not been written is.
func TestBusyCommit(t *testing.T) {
	busy := &connector.BusyError{Held: "database v, locked by another process (process 12)", Err: errors.New("v is locked")}
	for _, c := range []struct {
		name    string
		times   int
		outcome connector.Outcome
		cancel  bool
		upsert  bool
		state   State
		err     string
	}{
		{name: "rows", times: 2, outcome: connector.NotDone, state: Finished},
		{name: "changes by key", times: 2, outcome: connector.NotDone, upsert: true, state: Finished},
		{name: "cancel", times: 1000, outcome: connector.NotDone, cancel: true, state: Canceled,
			err: "the job was canceled: write table c.d.v: the rows since the last checkpoint were not written: database v, locked by another process (process 12)"},
		{name: "unknown", times: 1, outcome: connector.Unknown, state: InDoubt,
			err: "it is not known whether the rows since the last checkpoint were committed: write table c.d.v: v is locked"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			var tries, aborts atomic.Int64
			w.onCommit = func() (connector.Outcome, error) {
				if tries.Add(1) <= int64(c.times) {
					return c.outcome, busy
				}
				return connector.Done, nil
			}
			w.onAbort = func() error { aborts.Add(1); return nil }
			tick := w.ticks()
			f := w.feed("t", columns(integer))
			p := w.streaming(2)
			var upsert []int
			if c.upsert {
				upsert = []int{0}
			}
			j := p.stream("v", p.scan("t", 1), upsert, false).submit()
			f.push(one(0, 5)...)
			eventually(w, "nothing is read", func() bool { return j.Stats().RowsRead == 5 })
			tick(j)
			if c.outcome == connector.NotDone {
				eventually(w, "it does not wait", func() bool { s := j.Stats(); return s.Held && s.Waiting == busy.Held })
				require.Zero(t, j.Stats().RowsWritten)
			}
			if c.cancel {
				j.Cancel()
			} else {
				f.push(one(5, 7)...)
				f.end()
			}
			err := wait(t, j)
			require.Equal(t, c.state, j.State())
			require.Empty(t, j.Stats().Waiting)
			require.False(t, j.Stats().Held)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				require.Empty(t, w.rowsIn("v"))
				if !c.cancel {
					require.EqualValues(t, 1, tries.Load(), "what may have been written is not written again")
				}
				return
			}
			require.NoError(t, err)
			require.EqualValues(t, 2, aborts.Load())
			require.EqualValues(t, 4, tries.Load())
			require.EqualValues(t, 7, j.Rows())
			if c.upsert {
				require.ElementsMatch(t, one(0, 7), w.rowsIn("v"))
				return
			}
			require.Equal(t, one(0, 7), w.rowsIn("v"))
		})
	}
}

// Without rows there are checkpoints, but no transactions; the watermark goes on, as it does where a filter
// drops everything, and is the last one at the end (CASES C22). A second source holds it back until it ends.
func TestWatermark(t *testing.T) {
	w := newWorld(t)
	tick := w.ticks()
	var now atomic.Int64
	w.rt.Registry.Env.Clock = func() time.Time { return time.Unix(now.Load(), 0) }
	now.Store(1000)
	f, g := w.feed("t", columns(integer)), w.feed("u", columns(integer))
	held := make(chan struct{})
	g.onRead = func(int) error { <-held; return nil }
	release := sync.OnceFunc(func() { close(held) })
	defer release()
	p := w.streaming(2048)
	v := p.vertex(&job.Union{}, columns(integer), 1, forward(p.scan("t", 1)), forward(p.scan("u", 1)))
	j := p.stream("v", p.filter(call("<", col(0, integer), num(0)), v), nil, false).submit()
	f.push(one(0, 5)...)
	eventually(w, "nothing is read", func() bool { return j.Stats().RowsRead == 5 })
	tick(j)
	require.True(t, j.Stats().Watermark.IsZero(), "a source that has given nothing is waited for")
	now.Store(1007)
	require.Equal(t, 7*time.Second, j.Stats().Lag)
	release()
	at := func(sec int64) func() bool {
		return func() bool { return j.Stats().Watermark.Equal(time.Unix(sec, 0)) }
	}
	eventually(w, "the watermark stands still when rows are dropped", at(1007))
	now.Store(1010)
	eventually(w, "the watermark stands still without input", at(1010))
	now.Store(1011)
	open := w.open.Load()
	g.end()
	eventually(w, "an input that has ended is still open", func() bool { return w.open.Load() <= open-3 })
	now.Store(1012)
	eventually(w, "the watermark is held by an input that has ended", at(1012))
	tick(j)
	tick(j)
	tick(j)
	require.GreaterOrEqual(t, j.Stats().Checkpoints, int64(3))
	require.Equal(t, time.Unix(1012, 0), j.Stats().LastCheckpoint)
	require.Empty(t, w.eventText(), "a checkpoint of nothing has a transaction")
	f.end()
	require.NoError(t, wait(t, j))
	require.Equal(t, FinalWatermark(), j.Stats().Watermark)
	require.Equal(t, FinalWatermark(), w.rt.Jobs()[0].Stats.Watermark)
}

// A source finds splits while it is read and when it has nothing; each is read once.
func TestDiscovery(t *testing.T) {
	w := newWorld(t)
	f := w.feed("t", columns(integer))
	looks, last := 0, 0 // the latter after the error
	f.watch = func() ([]connector.Split, error) {
		switch looks++; {
		case looks == 1:
			return []connector.Split{{ID: 1}, {ID: 2}}, nil
		case looks == 3:
			return []connector.Split{{ID: 3}}, nil
		case looks >= 5 && len(w.rowsIn("v")) == 5:
			last = looks
			return nil, errors.New("the directory is gone")
		}
		return nil, nil
	}
	f.splits = []connector.Split{}
	p := w.streaming(2048)
	p.g.CheckpointInterval = 10 * time.Millisecond
	j := p.stream("v", p.scan("t", 1), nil, false).submit()
	f.push(one(0, 3)...)
	f.end()
	f.push(one(3, 5)...)
	f.end()
	require.EqualError(t, wait(t, j), "read table c.d.t: the directory is gone")
	require.Equal(t, []int{1, 2, 3}, f.split)
	require.Equal(t, text(one(0, 5)), text(w.rowsIn("v")))
	require.Equal(t, last, looks)
}

// Two jobs write one store; whoever reads sees whole checkpoints, in which the rows of each batch, which sum to
// nothing, are all or none.
func TestTwoJobsOneStore(t *testing.T) {
	w := newWorld(t)
	f, g := w.feed("t", columns(integer)), w.feed("u", columns(integer))
	run := func(from string) *Job {
		p := w.streaming(3) // batches are split on their way
		p.g.CheckpointInterval = 10 * time.Millisecond
		return p.stream("v", p.scan(from, 1), nil, false).submit()
	}
	a, b := run("t"), run("u")
	want := 0
	for i := range 300 {
		x := 1 + i
		for _, f := range []*feed{f, g} {
			f.push([]any{x}, []any{-x}, []any{2 * x}, []any{-x}, []any{-x})
			want += 5
		}
		sum := 0
		for _, r := range w.rowsIn("v") {
			sum += r[0].(int)
		}
		require.Zero(t, sum)
		if i%20 == 0 {
			time.Sleep(2 * time.Millisecond)
		}
	}
	f.end()
	g.end()
	require.NoError(t, wait(t, a))
	require.NoError(t, wait(t, b))
	require.Len(t, w.rowsIn("v"), want)
}

// CREATE TABLE AS makes its table before it starts. The table stays when the job fails, and goes when the job
// never starts.
func TestStreamCreates(t *testing.T) {
	create := func(w *world) (*plan, *feed) {
		f := w.feed("t", columns(integer))
		p := w.streaming(2048)
		p.stream("v", p.scan("t", 1), nil, false)
		delete(w.tables, "v")
		p.g.Create = &job.Create{Table: job.Table{Identifier: identifier("v"), Properties: p.g.Hooks[0].Properties}}
		return p, f
	}
	submit := func(w *world, p *plan) error {
		b, err := job.Encode(p.g)
		require.NoError(t, err)
		_, err = w.rt.Submit(context.Background(), b)
		return err
	}
	t.Run("it fails later", func(t *testing.T) {
		w := newWorld(t)
		p, f := create(w)
		f.onRead = failOn(f, 1, errors.New("boom"))
		j := p.submit()
		require.NotNil(t, w.tables["v"], "the table is not there yet")
		f.push(one(0, 1)...)
		require.EqualError(t, wait(t, j), "read table c.d.t: boom")
		require.Equal(t, "create", w.eventText())
		require.NotNil(t, w.tables["v"])
	})
	t.Run("it never starts", func(t *testing.T) {
		w := newWorld(t)
		p, f := create(w)
		f.onSplits = errors.New("no such file")
		err := submit(w, p)
		require.ErrorContains(t, err, "read table c.d.t: no such file")
		require.Equal(t, "create drop", w.eventText())
		require.Empty(t, w.rt.Jobs())
	})
	t.Run("the source is gone", func(t *testing.T) {
		w := newWorld(t)
		p, _ := create(w)
		delete(w.tables, "t")
		require.ErrorContains(t, submit(w, p), "read table c.d.t: it is gone")
		require.Empty(t, w.eventText())
	})
	t.Run("its store refuses", func(t *testing.T) {
		w := newWorld(t)
		p, _ := create(w)
		w.refuse = errors.New("the file has a rollback journal")
		require.ErrorContains(t, submit(w, p), "write table c.d.v: the file has a rollback journal")
		require.Equal(t, "create drop", w.eventText())
	})
	t.Run("it is there", func(t *testing.T) {
		w := newWorld(t)
		p, _ := create(w)
		w.add("v", columns(integer), one(0, 3), 10)
		err := submit(w, p)
		require.ErrorIs(t, err, catalog.ErrTableAlreadyExist)
		require.Len(t, w.rowsIn("v"), 3)
		require.Empty(t, w.eventText())
	})
	t.Run("the start is canceled", func(t *testing.T) {
		w := newWorld(t)
		p, f := create(w)
		b, err := job.Encode(p.g)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		f.beforeSplits = func(sctx context.Context) {
			cancel()
			<-sctx.Done()
		}
		_, err = w.rt.Submit(ctx, b)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, "create drop", w.eventText())
	})
	t.Run("the session is closed", func(t *testing.T) {
		w := newWorld(t)
		p, _ := create(w)
		require.NoError(t, w.rt.Close())
		require.ErrorContains(t, submit(w, p), "the session is closed")
		require.Equal(t, "create drop", w.eventText())
	})
}

// LIMIT ends the job, and with it the sources, however much they have.
func TestStreamLimit(t *testing.T) {
	w := newWorld(t)
	w.add("t", columns(integer), one(0, 100), 10).endless = true
	p := w.streaming(2048)
	v := p.vertex(&job.Limit{Count: 25, Offset: 3}, columns(integer), 1, forward(p.scan("t", 1)))
	rows, _, err := drain(w, p.collect(v).submit())
	require.NoError(t, err)
	require.Equal(t, text(one(3, 28)), text(rows))

	p = w.streaming(2048)
	f := w.feed("u", columns(integer))
	f.push(one(0, 3)...)
	v = p.vertex(&job.Limit{Count: 25}, columns(integer), 1, forward(p.scan("t", 1)))
	v = p.vertex(&job.Union{}, columns(integer), 1, forward(v), forward(p.scan("u", 1)))
	j := p.stream("v", v, nil, false).submit()
	eventually(w, "the other input goes on", func() bool { return j.Stats().RowsRead >= 28 })
	f.push(one(3, 5)...)
	f.end()
	require.NoError(t, wait(t, j))
	require.Len(t, w.rowsIn("v"), 30)
}

// Constants and bounded tables end the job by themselves.
func TestStreamOfBounded(t *testing.T) {
	w := newWorld(t)
	w.add("t", columns(integer), one(0, 500), 7)
	p := w.streaming(64)
	b := column.EncodeBatch(nil, batchOf([]types.Type{integer}, one(500, 503)))
	values := p.vertex(&job.Values{Batches: [][]byte{b, b}, Rows: 6}, columns(integer), 1)
	v := p.vertex(&job.Union{}, columns(integer), 1, forward(p.scan("t", 1)), forward(values))
	j := p.stream("v", p.project(v, call("+", col(0, integer), num(1))), nil, false).submit()
	require.NoError(t, wait(t, j))
	want := append(text(one(1, 501)), text(append(one(501, 504), one(501, 504)...))...)
	require.Equal(t, sorted(want), sorted(text(w.rowsIn("v"))))
	require.EqualValues(t, 506, j.Rows())
	require.EqualValues(t, 500, j.Stats().RowsRead)
}

// A full buffer brings the checkpoint forward: a job whose epoch is larger than the budget runs all the same.
func TestFullBuffer(t *testing.T) {
	for _, upsert := range [][]int{nil, {0}} {
		w := newWorld(t)
		w.ticks() // none
		w.rt.Registry.Env.Memory.SetLimit(4 << 20)
		var rows [][]any
		for i := range 60_000 {
			rows = append(rows, []any{i, fmt.Sprintf("a text that belongs to row %d and is a bit long for its purpose, as texts are", i)})
		}
		w.add("t", columns(integer, str), rows, 500)
		p := w.streaming(2048)
		j := p.stream("v", p.scan("t", 1), upsert, false).submit()
		require.NoError(t, wait(t, j))
		require.EqualValues(t, 60_000, j.Rows())
		require.Greater(t, strings.Count(w.eventText(), "commit"), 5)
	}
}

// Rows that replace each other do not fill the buffer.
func TestFoldedBuffer(t *testing.T) {
	w := newWorld(t)
	w.ticks()
	w.rt.Registry.Env.Memory.SetLimit(16 << 20)
	var rows [][]any
	for i := range 100_000 {
		rows = append(rows, []any{i % 100, fmt.Sprintf("a text that belongs to row %d and is a bit long for its purpose, as texts are", i)})
	}
	w.add("t", columns(integer, str), rows, 500)
	p := w.streaming(2048)
	j := p.stream("v", p.scan("t", 1), []int{0}, false).submit()
	require.NoError(t, wait(t, j))
	require.EqualValues(t, 100, j.Rows())
	require.Equal(t, "begin seal commit", w.eventText())
	require.ElementsMatch(t, text(rows[99_900:]), text(w.rowsIn("v")))
}

// The state of an aggregation over the budget fails the job; what was committed stays.
func TestStreamOutOfMemory(t *testing.T) {
	w := newWorld(t)
	tick := w.ticks()
	w.rt.Registry.Env.Memory.SetLimit(2 << 20)
	f := w.feed("t", columns(integer))
	p := w.streaming(2048)
	v := p.changelog(p.scan("t", 1), exprs(col(0, integer)), false, false, agg("COUNT", false, nil))
	j := p.stream("v", v, []int{0}, false).submit()
	f.push(one(0, 10)...)
	eventually(w, "nothing is read", func() bool { return j.Stats().RowsRead == 10 })
	tick(j)
	for i := range 500 {
		f.push(one(1000*i, 1000*i+1000)...)
	}
	err := wait(t, j)
	require.ErrorContains(t, err, "is out of memory")
	require.ErrorContains(t, err, "the aggregation")
	require.ErrorContains(t, err, "raise the budget with SET 'sluice.memory' = '<size>'")
	require.Equal(t, Failed, j.State())
	require.GreaterOrEqual(t, len(w.rowsIn("v")), 10)
}

// State is freed when groups go: many more groups come and go than the budget would hold at once.
func TestGroupsAreFreed(t *testing.T) {
	w := newWorld(t)
	w.rt.Registry.Env.Memory.SetLimit(4 << 20)
	f := w.feed("t", columns(integer, str))
	p := w.streaming(2048)
	v := p.changelog(p.scan("t", 1), exprs(col(1, str), col(0, integer)), true, true,
		agg("COUNT", false, nil), agg("COUNT", true, nil, col(0, integer)), agg("MAX", false, nil, col(1, str)), agg("SUM", false, nil, col(0, integer)))
	j := p.collect(v).submit()
	const n, by = 60_000, 500
	go func() {
		var last [][]any
		for at := 0; at < n; at += by {
			var rows [][]any
			var kinds []types.RowKind
			for _, r := range last {
				rows, kinds = append(rows, r), append(kinds, del)
			}
			last = nil
			for i := at; i < at+by; i++ {
				r := []any{i, fmt.Sprintf("group number %d of many", i)}
				last = append(last, r)
				if i%10_000 == 7 { // one that stays
					rows, kinds = append(rows, r), append(kinds, ins)
				}
				rows, kinds = append(rows, r), append(kinds, ins)
			}
			f.change(rows, kinds)
		}
		f.end()
	}()
	rows, kinds, err := drain(w, j)
	require.NoError(t, err)
	count := map[types.RowKind]int{}
	for _, k := range kinds {
		count[k]++
	}
	require.Equal(t, map[types.RowKind]int{ins: n, del: n - by - 6, upOld: 6, upTo: 6}, count)
	for i, r := range rows {
		if kinds[i] == ins {
			continue
		}
		want := []any{fmt.Sprintf("group number %d of many", r[1]), r[1], 1, 1, fmt.Sprintf("group number %d of many", r[1]), r[1]}
		if kinds[i] == upOld {
			want[2], want[5] = 2, 2*r[1].(int)
		}
		require.Equal(t, want, r)
	}
}

// What a table cannot take is refused before anything is touched, or fails with the row.
func TestStreamSinkRefuses(t *testing.T) {
	w := newWorld(t)
	f := w.feed("t", columns(integer))
	p := w.streaming(2048)
	j := p.stream("v", p.scan("t", 1), nil, false).submit()
	f.push(one(0, 4)...)
	f.change(one(0, 1), []types.RowKind{del})
	require.EqualError(t, wait(t, j), "a row of kind -D came, but table c.d.v can only be added to")

	p = w.streaming(2048)
	p.into("insert", "v", p.scan("t", 1), 0)
	j = p.submit()
	f.push(one(0, 4)...)
	f.push([]any{7}, []any{nil})
	var e *Error
	require.ErrorAs(t, wait(t, j), &e)
	require.Equal(t, "column `a` of table c.d.v is NOT NULL, but row 6 has NULL", e.Msg)
	require.Equal(t, []any{"c.d.v", "a", int64(6)}, []any{e.Table, e.Column, e.Row})
}

// Kinds reach a table that takes changes, and pass operators.
func TestStreamChangelogSink(t *testing.T) {
	w := newWorld(t)
	f := w.feed("t", columns(integer))
	p := w.streaming(2048)
	v := p.filter(call(">", col(0, integer), num(1)), p.scan("t", 1))
	j := p.stream("v", p.project(v, call("+", col(0, integer), num(1))), nil, true).submit()
	f.change(one(0, 6), []types.RowKind{ins, del, upOld, upTo, del, ins})
	f.push(one(6, 7)...)
	f.end()
	require.NoError(t, wait(t, j))
	require.Equal(t, text(one(3, 8)), text(w.rowsIn("v")))
	require.Equal(t, []types.RowKind{upOld, upTo, del, ins, ins}, w.tables["v"].changes)
}

// Rows of a streaming SELECT come at once, with their kinds; a slow taker holds the source back; a stop ends
// them well.
func TestStreamCollect(t *testing.T) {
	w := newWorld(t)
	w.rt.limits = laneLimits{batches: 2, bytes: 1 << 20}
	f := w.feed("t", columns(integer))
	p := w.streaming(2048)
	j := p.collect(p.scan("t", 1)).submit()
	f.change(one(0, 2), []types.RowKind{ins, del})
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	b, err := j.Next(ctx)
	require.NoError(t, err)
	require.Equal(t, text(one(0, 2)), text(rowsOf(b)))
	require.Equal(t, []types.RowKind{ins, del}, b.Kind)
	for i := range 100 {
		f.push(one(i, i+1)...)
	}
	eventually(w, "the source is not read", func() bool { return len(f.steps) < 95 })
	time.Sleep(30 * time.Millisecond)
	require.Greater(t, len(f.steps), 70, "the source is not held back")
	for range 100 {
		b, err = j.Next(ctx)
		require.NoError(t, err)
		require.Equal(t, 1, b.N)
	}
	require.NoError(t, j.Stop(ctx))
	b, err = j.Next(ctx)
	require.NoError(t, err)
	require.Nil(t, b)

	p = w.streaming(2048)
	j = p.collect(p.scan("t", 1)).submit()
	for i := range 100 {
		f.push(one(i, i+1)...)
	}
	time.Sleep(10 * time.Millisecond)
	j.Cancel()
	require.EqualError(t, wait(t, j), "the job was canceled")
}

// The same input in the same batches gives the same output in the same order, whenever checkpoints are.
func TestStreamIsDeterministic(t *testing.T) {
	var first []string
	for round := range 6 {
		func() {
			w := newWorld(t)
			r := rand.New(rand.NewPCG(uint64(round), 1))
			rows := rand.New(rand.NewPCG(7, 7))
			tick := w.ticks()
			f := w.feed("t", columns(integer, str, integer, double))
			p := w.streaming(2048)
			v := p.changelog(p.scan("t", 1), exprs(col(0, integer), col(1, str)), false, true, agg("COUNT", false, nil), agg("MAX", false, nil, col(2, integer)))
			v = p.changelog(v, exprs(col(3, integer)), true, true, agg("SUM", false, nil, col(2, bigint)), agg("COUNT", true, nil, col(1, str)))
			j := p.stream("v", v, nil, true).submit()
			for range 60 {
				var batch [][]any
				for range 1 + rows.IntN(30) {
					batch = append(batch, (&query{}).randomRow(rows))
				}
				f.push(batch...)
				if r.IntN(4) == 0 {
					tick(j)
				}
			}
			f.end()
			require.NoError(t, wait(t, j))
			got := changesOf(w.rowsIn("v"), w.tables["v"].changes)
			require.Greater(t, len(got), 200)
			if first == nil {
				first = got
			}
			require.Equal(t, first, got)
		}()
	}
}

// A slow source's rows are seen while it goes on.
func TestSlowSource(t *testing.T) {
	w := newWorld(t)
	src := w.add("t", columns(integer), one(0, 30), 1)
	src.slow, src.endless = 2*time.Millisecond, true
	p := w.streaming(2048)
	p.g.CheckpointInterval = 10 * time.Millisecond
	j := p.stream("v", p.scan("t", 1), nil, false).submit()
	eventually(w, "not enough is seen", func() bool { return len(w.rowsIn("v")) > 30 && strings.Count(w.eventText(), "commit") > 1 })
	require.False(t, j.State().Final())
	require.NoError(t, j.Stop(context.Background()))
	require.NoError(t, wait(t, j))
	for i, row := range w.rowsIn("v") {
		require.Equal(t, []any{i % 30}, row)
	}
	require.GreaterOrEqual(t, j.Stats().Checkpoints, int64(strings.Count(w.eventText(), "commit")))
}

// A job of two tables says which of them were written when a checkpoint fails between the two.
func TestTwoSinks(t *testing.T) {
	w := newWorld(t)
	w.ticks()
	w.add("t", columns(integer), one(0, 30), 10)
	n := 0
	w.onSeal = func(context.Context) error {
		if n++; n == 2 {
			return errors.New("boom")
		}
		return nil
	}
	p := w.streaming(2048)
	p.stream("v", p.scan("t", 1), nil, false)
	p.stream("x", p.scan("t", 1), nil, false)
	require.EqualError(t, wait(t, p.submit()), "write table c.d.x: boom; table c.d.v had been written by then")
	require.Len(t, w.rowsIn("v"), 30)
	require.Empty(t, w.rowsIn("x"))
}

// A cancel at any moment leaves whole checkpoints, and nothing open.
func TestStreamCancelAtRandom(t *testing.T) {
	ends := map[State]int{}
	for i := range 60 {
		func() {
			w := newWorld(t)
			w.add("t", columns(integer), one(0, 4000), 10).endless = true
			p := w.streaming(64)
			p.g.CheckpointInterval = 10 * time.Millisecond
			w.rt.ticker = func(time.Duration) (<-chan time.Time, func()) {
				tick := time.NewTicker(200 * time.Microsecond)
				return tick.C, tick.Stop
			}
			j := p.stream("v", p.scan("t", 1), nil, false).submit()
			time.Sleep(time.Duration(i) * 50 * time.Microsecond)
			if i%2 == 0 {
				j.Cancel()
				require.Error(t, wait(t, j))
			} else {
				require.NoError(t, j.Stop(context.Background()))
				require.EqualValues(t, j.Stats().RowsRead, j.Rows())
			}
			ends[j.State()]++
			rows := w.rowsIn("v")
			require.EqualValues(t, len(rows), j.Rows())
			require.Zero(t, len(rows)%10)
			for k, r := range rows {
				require.Equal(t, k%4000, r[0])
			}
		}()
	}
	require.Equal(t, map[State]int{Canceled: 30, Finished: 30}, ends)
}
