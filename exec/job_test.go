package exec

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/exec/store"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/hooks"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/types"
)

// patience is how long a watchdog waits on a machine that does much else.
const patience = 3 * time.Minute

// wait waits for a job under a watchdog.
func wait(t testing.TB, j *Job) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := j.Wait(ctx)
	require.NoError(t, ctx.Err(), "the job hangs")
	return err
}

// How a job ends, which hooks it calls in which order, and what it says.
func TestEnds(t *testing.T) {
	boom := errors.New("boom")
	for _, c := range []struct {
		name   string
		setup  func(w *world, src *table)
		expr   expr.Expr // a filter over columns a, b
		events string
		state  State
		err    string // "" when it is none
	}{
		{name: "well", events: "begin seal commit", state: Finished},
		{name: "begin fails", setup: func(w *world, _ *table) { w.onBegin = func(context.Context) error { return boom } },
			events: "begin abort", state: Failed, err: "boom"},
		{name: "begin panics", setup: func(w *world, _ *table) { w.onBegin = func(context.Context) error { panic("x.go:17: nil map") } },
			events: "begin abort", state: Failed, err: "internal error (the preparation of the job) (please report it)"},
		{name: "table is gone", setup: func(w *world, _ *table) { delete(w.tables, "t") },
			events: "", state: Failed, err: "read table c.d.t: it is gone"},
		{name: "read fails", setup: func(_ *world, src *table) { src.fail = 3 },
			events: "begin abort", state: Failed, err: "read table c.d.t: column x, row 7: the disk is on fire"},
		{name: "read panics", setup: func(_ *world, src *table) { src.fail, src.panics = 3, true },
			events: "begin abort", state: Failed, err: "internal error (read table c.d.t) (please report it)"},
		{name: "expression fails", expr: call(">", call("/", num(1), col(0, integer)), num(5)),
			events: "begin abort", state: Failed, err: "division by zero: 1 / 0"},
		{name: "write fails", setup: func(w *world, _ *table) {
			w.onWrite = func(row int64) error {
				if row == 500 {
					return boom
				}
				return nil
			}
		}, events: "begin abort", state: Failed, err: "write table c.d.u: boom"},
		{name: "write panics", setup: func(w *world, _ *table) { w.onWrite = func(int64) error { panic(boom) } },
			events: "begin abort", state: Failed, err: "internal error (the writer of table c.d.u) (please report it)"},
		{name: "seal fails", setup: func(w *world, _ *table) { w.onSeal = func(context.Context) error { return boom } },
			events: "begin seal abort", state: Failed, err: "boom"},
		{name: "clean-up fails, too", setup: func(w *world, _ *table) {
			w.onSeal = func(context.Context) error { return boom }
			w.onAbort = func() error { return errors.New("bang") }
		}, events: "begin seal abort", state: Failed, err: "boom; the clean-up failed, too: bang"},
		{name: "commit did not happen", setup: func(w *world, _ *table) {
			w.onCommit = func() (connector.Outcome, error) {
				return connector.NotDone, errors.New("table c.d.u was made by another")
			}
		}, events: "begin seal commit abort", state: Failed, err: "table c.d.u was made by another"},
		{name: "commit is not known", setup: func(w *world, _ *table) {
			w.onCommit = func() (connector.Outcome, error) {
				return connector.Unknown, errors.New("the server went away")
			}
		}, events: "begin seal commit", state: InDoubt,
			err: "it is not known whether the rows were committed: the server went away (look at the table before running the statement again)"},
		{name: "commit panics", setup: func(w *world, _ *table) {
			w.onCommit = func() (connector.Outcome, error) { panic("oh") }
		}, events: "begin seal commit", state: InDoubt,
			err: "it is not known whether the rows were committed: internal error (the commit) (look at the table before running the statement again)"},
		{name: "canceled while it begins", setup: func(w *world, _ *table) {
			w.onBegin = func(ctx context.Context) error {
				w.rt.cancelAll()
				<-ctx.Done()
				return ctx.Err()
			}
		}, events: "begin abort", state: Canceled, err: "the job was canceled"},
		{name: "canceled while it writes", setup: func(w *world, _ *table) {
			w.onWrite = func(row int64) error {
				if row == 1000 {
					w.rt.cancelAll()
				}
				return nil
			}
		}, events: "begin abort", state: Canceled, err: "the job was canceled"},
		{name: "canceled while it seals", setup: func(w *world, _ *table) {
			w.onSeal = func(context.Context) error { w.rt.cancelAll(); return nil }
		}, events: "begin seal abort", state: Canceled, err: "the job was canceled"},
		{name: "canceled while it commits", setup: func(w *world, _ *table) {
			w.onCommit = func() (connector.Outcome, error) {
				w.rt.cancelAll()
				return connector.Done, nil
			}
		}, events: "begin seal commit", state: Finished},
	} {
		for _, kind := range []hooks.Kind{hooks.CreateTableAs, hooks.Insert} {
			t.Run(c.name+"/"+string(kind), func(t *testing.T) {
				w := newWorld(t)
				var warnings bytes.Buffer
				w.rt.Registry.Env.Err = &warnings
				st, err := store.Open(t.TempDir())
				require.NoError(t, err)
				w.rt.Store = st
				src := w.add("t", columns(integer, integer, str), numbers(5000, 50, 9), 200)
				if kind == hooks.Insert {
					w.add("u", src.schema.Columns, nil, 1)
				}
				p := w.plan(2, 100)
				v := p.scan("t", 2)
				if c.expr != nil {
					v = p.filter(c.expr, v)
				}
				p.into(kind, "u", v)
				if c.setup != nil {
					c.setup(w, src)
				}
				j := p.submit()
				err = wait(t, j)
				require.Equal(t, c.events, w.eventText())
				require.Equal(t, c.state, j.State())
				infos := w.rt.Jobs()
				require.Len(t, infos, 1)
				require.Equal(t, c.state, infos[0].State)
				require.False(t, j.Committing())
				require.Empty(t, warnings.String())
				if c.err == "" {
					require.NoError(t, err)
					require.EqualValues(t, 5000, j.Rows())
					return
				}
				var e *Error
				require.ErrorAs(t, err, &e)
				require.Contains(t, e.Error(), c.err)
				require.Equal(t, c.state, e.State)
				require.Zero(t, j.Rows())
				require.Equal(t, e.Error(), infos[0].Err)
			})
		}
	}
}

// cancelAll cancels every job of a runtime.
func (r *Runtime) cancelAll() {
	for _, j := range r.live() {
		j.Cancel()
	}
}

// A cancel at any moment leads to FINISHED with all rows or CANCELED with none.
func TestCancelAtRandom(t *testing.T) {
	rows := numbers(3000, 50, 10)
	ends := map[State]int{}
	for i := range 60 {
		func() {
			w := newWorld(t)
			w.add("t", columns(integer, integer, str), rows, 100)
			p := w.plan(2, 64)
			v := p.filter(call(">=", col(0, integer), num(0)), p.scan("t", 2))
			j := p.into(hooks.CreateTableAs, "u", v).submit()
			time.Sleep(time.Duration(rand.Int64N(int64(i)*100_000 + 1)))
			j.Cancel()
			err := wait(t, j)
			ends[j.State()]++
			if j.State() == Finished {
				require.NoError(t, err)
				require.Equal(t, "begin seal commit", w.eventText())
				require.Len(t, rowsOf(w.tables["u"].batches[0]), 3000)
				return
			}
			require.Equal(t, Canceled, j.State())
			require.Contains(t, []string{"begin abort", "", "begin seal abort"}, w.eventText())
			require.Nil(t, w.tables["u"])
		}()
	}
	t.Log(ends)
}

// NULL in a NOT NULL column is refused before it is written, with table, column and row.
func TestNotNull(t *testing.T) {
	w := newWorld(t)
	rows := numbersOf(5000)
	rows[4321][0] = nil
	w.add("t", columns(integer), rows, 300)
	p := w.plan(2, 100)
	j := p.into(hooks.CreateTableAs, "u", p.scan("t", 2), 0).submit()
	var e *Error
	require.ErrorAs(t, wait(t, j), &e)
	require.Equal(t, "column `a` of table c.d.u is NOT NULL, but row 4322 has NULL", e.Msg)
	require.Equal(t, []any{"c.d.u", "a", int64(4322)}, []any{e.Table, e.Column, e.Row})
}

// Closing a result early cancels the job; reading on says so.
func TestCancelWhileCollecting(t *testing.T) {
	w := newWorld(t)
	w.add("t", columns(integer), numbersOf(1000), 100).endless = true
	p := w.plan(2, 100)
	j := p.collect(p.scan("t", 2)).submit()
	b, err := j.Next(context.Background())
	require.NoError(t, err)
	require.Equal(t, 100, b.N)
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	for err == nil { // what is ready may still be handed out
		_, err = j.Next(gone)
	}
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, j.State().Final())
	j.Cancel()
	for b != nil {
		b, err = j.Next(context.Background())
	}
	require.EqualError(t, err, "the job was canceled")
	require.Equal(t, Canceled, j.State())
}

// Rows of a job that has finished can still be fetched, until it is canceled.
func TestFetchLate(t *testing.T) {
	w := newWorld(t)
	w.add("t", columns(integer), numbersOf(10), 5)
	for _, cancel := range []bool{false, true} {
		p := w.plan(2, 4)
		j := p.collect(p.scan("t", 2)).submit()
		require.NoError(t, wait(t, j))
		if cancel {
			j.Cancel()
		}
		n := 0
		for {
			b, err := j.Next(context.Background())
			require.NoError(t, err)
			if b == nil {
				break
			}
			n += b.N
		}
		require.Equal(t, map[bool]int{false: 10, true: 0}[cancel], n)
		require.Equal(t, Finished, j.State())
	}
}

// A table without hooks leaves nothing in the journal; one with hooks leaves it only when in doubt.
func TestJournal(t *testing.T) {
	for _, outcome := range []connector.Outcome{connector.Done, connector.Unknown} {
		w := newWorld(t)
		dir := t.TempDir()
		st, err := store.Open(dir)
		require.NoError(t, err)
		w.rt.Store = st
		var during []store.Record
		w.onCommit = func() (connector.Outcome, error) {
			during, err = st.Read(w.rt.Jobs()[0].ID)
			require.NoError(t, err)
			return outcome, errors.New("why")
		}
		w.add("t", columns(integer), numbersOf(10), 100)
		p := w.plan(1, 100)
		j := p.into(hooks.CreateTableAs, "u", p.scan("t", 1)).submit()
		_ = wait(t, j) // the state is what counts
		require.Len(t, during, 2)
		require.Equal(t, store.Record{Type: store.Begin, Name: "test", Targets: []store.Target{{Table: identifier("u"), Store: "test:u"}}}, during[0])
		require.Equal(t, store.Record{Type: store.Sealed, Rows: 10}, during[1])
		records, err := st.Read(j.ID())
		require.NoError(t, err)
		if outcome == connector.Done {
			require.Empty(t, records)
			require.Equal(t, catalog.Remove, w.rt.decide(j.ID()))
			continue
		}
		require.Equal(t, store.Record{Type: store.Done, State: "IN_DOUBT"}, records[2])
		require.Equal(t, catalog.Keep, w.rt.decide(j.ID()))
		_, err = store.Open(dir) // keeps it
		require.NoError(t, err)
		require.Equal(t, catalog.Keep, w.rt.decide(j.ID()))
	}
}

// Without a journal to write to nothing is begun.
func TestJournalCannotBeWritten(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	st, err := store.Open(dir)
	require.NoError(t, err)
	w.rt.Store = st
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "jobs")))
	w.add("t", columns(integer), numbersOf(10), 100)
	p := w.plan(1, 100).into2("u")
	b, err := job.Encode(p.g)
	require.NoError(t, err)
	_, err = w.rt.Submit(context.Background(), b)
	require.ErrorContains(t, err, "nothing was written: the journal of the job cannot be")
	require.Empty(t, w.eventText())
}

func (p *plan) into2(name string) *plan { return p.into(hooks.CreateTableAs, name, p.scan("t", 1)) }

// The staging of a job that runs is kept, whatever a sweep believes; a write to the catalog waits for
// the sweep, a read does not.
func TestRecover(t *testing.T) {
	w := newWorld(t)
	w.add("t", columns(integer), numbersOf(10), 100)
	begun, free := make(chan struct{}), make(chan struct{})
	w.onBegin = func(context.Context) error { close(begun); <-free; return nil }
	p := w.plan(1, 100)
	j := p.into2("u").submit()
	<-begun
	w.onBegin = nil
	sweeping, swept := make(chan struct{}), make(chan struct{})
	other := connector.NewJobID()
	c := &testCatalog{w: w, sweep: func(decide func(connector.JobID) catalog.Decision) {
		close(sweeping)
		<-swept
		w.event("live=%d dead=%d", decide(j.ID()), decide(other))
	}}
	w.rt.Recover(context.Background(), "c", c) // returns though the sweep goes on
	<-sweeping
	read, err := w.plan(1, 100).collectAll("t").rows()
	require.NoError(t, err)
	require.Len(t, read, 10)
	second := w.plan(1, 100).into2("v").submit()
	require.Equal(t, Created, second.State())
	close(swept)
	require.NoError(t, wait(t, second))
	require.Equal(t, "begin live=0 dead=1 begin seal commit", w.eventText())
	close(free)
	require.NoError(t, wait(t, j))
	require.Equal(t, catalog.Remove, w.rt.decide(j.ID()))
	w.rt.Recover(context.Background(), "x", struct{ catalog.Catalog }{}) // does not sweep: nothing happens
}

// The end of a session gives a recovery that has just begun the time it needs.
func TestCloseLetsRecoveriesEnd(t *testing.T) {
	w := newWorld(t)
	ended := false
	w.rt.Recover(context.Background(), "c", &testCatalog{w: w, sweep: func(func(connector.JobID) catalog.Decision) {
		time.Sleep(50 * time.Millisecond)
		ended = w.rt.ctx.Err() == nil
	}})
	require.NoError(t, w.rt.Close())
	require.True(t, ended)
}

// What a job held is gone with it; what describes it stays.
func TestEndedJobsAreLetGo(t *testing.T) {
	w := newWorld(t)
	w.add("t", columns(integer), numbersOf(10), 100)
	for range 3 {
		require.NoError(t, wait(t, w.plan(1, 100).into2("u").submit()))
		delete(w.tables, "u")
	}
	require.Empty(t, w.rt.live())
	require.Len(t, w.rt.Jobs(), 3)
	require.Equal(t, Finished, w.rt.Jobs()[2].State)
}

// The error of a close stands beside that of the work before it.
func TestCloseErrorIsTold(t *testing.T) {
	first, then := errors.New("the disk is on fire"), errors.New("so is the door")
	require.Equal(t, first, also(first, nil))
	require.Equal(t, then, also(nil, then))
	e := toError(also(first, then), "read table t")
	require.EqualError(t, e, "read table t: the disk is on fire; closing failed, too: so is the door")
	require.ErrorIs(t, e, first)
	require.ErrorIs(t, e, then)
	e = toError(also(&Error{Msg: "row 7 is bad", Row: 7}, then), "read table t")
	require.EqualError(t, e, "row 7 is bad; closing failed, too: so is the door")
	require.EqualValues(t, 7, e.Row)
}

func (p *plan) collectAll(name string) *plan { return p.collect(p.scan(name, p.g.Parallelism)) }

// What is no job is refused before anything is touched.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		make func(p *plan)
		err  string
	}{
		"no sink":  {func(p *plan) { p.scan("t", 1) }, "the job has neither a sink nor collects rows"},
		"dangling": {func(p *plan) { p.collectAll("t"); p.scan("t", 1) }, "vertex 2 (scan) leads nowhere"},
		"two consumers": {func(p *plan) {
			v := p.scan("t", 1)
			p.collect(p.vertex(&job.Union{}, columns(integer), 1, forward(v), forward(v)))
		}, "vertex 0 (scan) has two consumers"},
		"parallel limit": {func(p *plan) {
			p.collect(p.vertex(&job.Limit{Count: 1}, columns(integer), 2, forward(p.scan("t", 2))))
		}, "vertex 1 (limit) cannot run in parallel"},
		"no input": {func(p *plan) { p.collect(p.vertex(&job.Limit{}, columns(integer), 1)) }, "vertex 0 (limit) has 0 inputs"},
		"streaming in parallel": {func(p *plan) {
			p.collectAll("t").g.Mode = job.Streaming
			p.g.Vertices[0].Parallelism = 2
		}, "vertex 0 of a streaming job has parallelism 2"},
		"streaming nowhere": {func(p *plan) { p.scan("t", 1); p.g.Mode = job.Streaming }, "the job has neither a sink nor collects rows"},
		"zone":              {func(p *plan) { p.collectAll("t").g.Zone = "Mars/Olympus" }, "unknown time zone \"Mars/Olympus\""},
		"hook":              {func(p *plan) { p.into2("u").g.Hooks[0].Kind = "x" }, "hook of unknown kind \"x\""},
		"key types": {func(p *plan) {
			l, r := p.scan("t", 1), p.scan("t", 1)
			key := func(t types.Type) []job.Expr { return job.Exprs(exprs(col(0, t))) }
			v := p.vertex(&job.Join{Kind: job.Inner, LeftKeys: key(types.DecimalOf(10, 2)), RightKeys: key(types.DecimalOf(10, 3))}, columns(integer, integer), 1,
				forward(l), in{from: r, kind: job.Broadcast})
			p.collect(v)
		}, "vertex 2 (join) has keys of the types DECIMAL(10, 2) and DECIMAL(10, 3)"},
		"constants": {func(p *plan) { p.collect(p.vertex(&job.Values{Batches: [][]byte{{9}}}, columns(integer), 1)) }, "constant rows"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.add("t", columns(integer), numbersOf(10), 100)
			p := w.plan(1, 100)
			c.make(p)
			b, err := job.Encode(p.g)
			require.NoError(t, err)
			_, err = w.rt.Submit(context.Background(), b)
			require.ErrorContains(t, err, c.err)
			require.Empty(t, w.eventText())
		})
	}
}
