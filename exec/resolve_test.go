package exec

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/exec/store"
	"github.com/sluice-sql/sluice/hooks"
)

// askedCatalog is a catalog whose store can be asked for outcomes.
type askedCatalog struct {
	testCatalog
	key     string
	outcome func(ctx context.Context, evidence string) (connector.Outcome, error)
}

func (c *askedCatalog) StoreKey(path catalog.ObjectPath) string { return c.key + path.Object }

func (c *askedCatalog) Outcome(ctx context.Context, evidence string) (connector.Outcome, error) {
	c.w.event("asked %s", evidence)
	return c.outcome(ctx, evidence)
}

// said is what the user was told.
type said struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// resolving is a world with a journal, in which a job of an earlier session may have died.
type resolving struct {
	*world
	dir  string
	said *said
}

func newResolving(t *testing.T) *resolving {
	r := &resolving{newWorld(t), t.TempDir(), &said{}}
	r.rt.Registry.Env.Err = r.said
	st, err := store.Open(r.dir)
	require.NoError(t, err)
	r.rt.Store = st
	return r
}

// died leaves the journal of a job whose process died after these records.
func (r *resolving) died(records ...store.Record) connector.JobID {
	id := connector.NewJobID()
	l, err := r.rt.Store.Begin(id, store.Record{Name: "insert-into", Targets: []store.Target{{Table: identifier("u"), Store: "test:u"}, {Table: identifier("v"), Store: "other:v"}}})
	require.NoError(r.t, err)
	for _, record := range records {
		require.NoError(r.t, l.Append(record))
	}
	require.NoError(r.t, l.Close(false))
	st, err := store.Open(r.dir) // the next session, which prunes
	require.NoError(r.t, err)
	r.rt.Store = st
	return id
}

// recover recovers a catalog whose store answers so.
func (r *resolving) recover(key string, outcome func(context.Context, string) (connector.Outcome, error)) {
	r.rt.Recover(context.Background(), "c", &askedCatalog{testCatalog{w: r.world}, key, outcome})
	require.NoError(r.t, r.rt.swept(context.Background(), "c"))
}

func answers(out connector.Outcome, err error) func(context.Context, string) (connector.Outcome, error) {
	return func(context.Context, string) (connector.Outcome, error) { return out, err }
}

func (r *resolving) journals() int {
	entries, err := os.ReadDir(filepath.Join(r.dir, "jobs"))
	require.NoError(r.t, err)
	return len(entries)
}

// A commit that a session died in is asked about when a catalog of its store is opened, and the answer is told
// once. While there is none the journal stays, and so does what the job left.
func TestResolve(t *testing.T) {
	evidence := []store.Record{{Type: store.Evidence, Evidence: "xid 7"}, {Type: store.Sealed, Rows: 3}}
	for _, c := range []struct {
		name    string
		records []store.Record
		key     string
		answer  connector.Outcome
		why     error
		told    string // with the job's id for ID; "" for nothing
		asked   bool
		left    int // journals
		decided catalog.Decision
	}{
		{name: "succeeded", records: evidence, key: "test:", answer: connector.Done, asked: true, decided: catalog.Remove,
			told: "[INFO] job ID (insert-into) of an earlier session: its commit succeeded: the rows are in table c.d.u\n"},
		{name: "did not happen", records: evidence, key: "test:", answer: connector.NotDone, asked: true, decided: catalog.Remove,
			told: "[INFO] job ID (insert-into) of an earlier session: its commit did not happen: table c.d.u is as it was before\n"},
		{name: "not known", records: evidence, key: "test:", answer: connector.Unknown, why: errors.New("the server does not answer"), asked: true, left: 1, decided: catalog.Keep,
			told: "[WARNING] job ID (insert-into) of an earlier session: its commit to table c.d.u is still in doubt: the server does not answer\n"},
		{name: "no reason", records: evidence, key: "test:", answer: connector.Unknown, asked: true, left: 1, decided: catalog.Keep,
			told: "[WARNING] job ID (insert-into) of an earlier session: its commit to table c.d.u is still in doubt: the store gave no reason\n"},
		{name: "ended in doubt", records: append(evidence, store.Record{Type: store.Done, State: "IN_DOUBT"}), key: "test:", answer: connector.Done, asked: true, decided: catalog.Remove,
			told: "[INFO] job ID (insert-into) of an earlier session: its commit succeeded: the rows are in table c.d.u\n"},
		{name: "another store", records: evidence, key: "elsewhere:", left: 1, decided: catalog.Keep},
		{name: "in doubt without evidence", records: []store.Record{{Type: store.Done, State: "IN_DOUBT"}}, key: "test:", left: 1, decided: catalog.Keep},
		{name: "no evidence", records: []store.Record{{Type: store.Sealed, Rows: 3}}, key: "test:", decided: catalog.Remove},
		{name: "published", records: append(evidence, store.Record{Type: store.Published}), key: "test:", decided: catalog.Remove},
		{name: "failed", records: append(evidence, store.Record{Type: store.Done, State: "FAILED"}), key: "test:", decided: catalog.Remove},
		{name: "the second target", records: append(evidence, store.Record{Type: store.Published}, store.Record{Type: store.Evidence, Target: 1, Evidence: "xid 8"}), key: "other:", answer: connector.NotDone, asked: true, decided: catalog.Remove,
			told: "[INFO] job ID (insert-into) of an earlier session: its commit did not happen: table c.d.v is as it was before\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newResolving(t)
			id := r.died(c.records...)
			r.recover(c.key, answers(c.answer, c.why))
			require.Equal(t, c.asked, strings.Contains(r.eventText(), "asked"))
			require.Equal(t, strings.ReplaceAll(c.told, "ID", id.String()), r.said.String())
			require.Equal(t, c.left, r.journals())
			require.Equal(t, c.decided, r.rt.decide(id))
			if c.left == 0 { // and it is not told twice
				r.recover(c.key, answers(c.answer, c.why))
				require.Equal(t, strings.ReplaceAll(c.told, "ID", id.String()), r.said.String())
			}
		})
	}
}

// What a live process has in its hands is not asked about, nor is what a panic of the store keeps from being told.
func TestResolveLeavesAlone(t *testing.T) {
	r := newResolving(t)
	id := connector.NewJobID()
	l, err := r.rt.Store.Begin(id, store.Record{Targets: []store.Target{{Table: identifier("u"), Store: "test:u"}}})
	require.NoError(t, err)
	require.NoError(t, l.Append(store.Record{Type: store.Evidence, Evidence: "x"}))
	r.recover("test:", answers(connector.Done, nil))
	require.Empty(t, r.said.String())
	require.Empty(t, r.eventText())
	require.Equal(t, catalog.Keep, r.rt.decide(id), "its outcome is open")

	require.NoError(t, l.Close(false))
	r.recover("test:", func(context.Context, string) (connector.Outcome, error) { panic("x.go:1") })
	require.Contains(t, r.said.String(), "still in doubt: internal error (the question for a commit)")
	require.Equal(t, 1, r.journals())
}

// Asking is over in time, and a write waits no longer than that.
func TestResolveEnds(t *testing.T) {
	r := newResolving(t)
	r.died(store.Record{Type: store.Evidence, Evidence: "x"})
	entered := make(chan struct{})
	r.rt.Recover(context.Background(), "c", &askedCatalog{testCatalog{w: r.world}, "test:", func(ctx context.Context, _ string) (connector.Outcome, error) {
		_, limited := ctx.Deadline()
		require.True(t, limited)
		close(entered)
		<-ctx.Done()
		return connector.Unknown, ctx.Err()
	}})
	<-entered
	require.NoError(t, r.rt.Close())
	require.Equal(t, 1, r.journals())
}

// The evidence of a commit is on disk before it, and is asked again about while the session lives.
func TestEvidence(t *testing.T) {
	for _, later := range []connector.Outcome{connector.Done, connector.NotDone} {
		r := newResolving(t)
		ticks := make(chan time.Time)
		r.rt.ticker = func(time.Duration) (<-chan time.Time, func()) { return ticks, func() {} }
		answer := make(chan connector.Outcome)
		r.recover("test:", func(context.Context, string) (connector.Outcome, error) { return <-answer, errors.New("no answer") })
		r.evidence = "xid 9"
		r.onCommit = func() (connector.Outcome, error) {
			records, err := r.rt.Store.Read(r.rt.Jobs()[0].ID)
			require.NoError(t, err)
			require.Equal(t, store.Record{Type: store.Evidence, Evidence: "xid 9"}, records[2])
			return connector.Unknown, errors.New("the server went away")
		}
		r.add("t", columns(integer), numbersOf(10), 100)
		p := r.plan(1, 100)
		j := p.into(hooks.CreateTableAs, "u", p.scan("t", 1)).submit()
		require.Error(t, wait(t, j))
		require.Equal(t, InDoubt, j.State())
		require.Equal(t, "evident begin seal commit", r.eventText())
		for range 2 { // no answer yet
			ticks <- time.Time{}
			answer <- connector.Unknown
		}
		ticks <- time.Time{}
		require.Equal(t, InDoubt, r.rt.Jobs()[0].State)
		require.Empty(t, r.said.String())
		answer <- later
		require.Eventually(t, func() bool { return r.journals() == 0 }, patience, time.Millisecond)
		require.True(t, strings.HasPrefix(r.said.String(), "[INFO] job "+j.ID().String()+" (test): its commit "), r.said.String())
		want := map[connector.Outcome]State{connector.Done: Finished, connector.NotDone: Failed}[later]
		require.Equal(t, want, r.rt.Jobs()[0].State)
	}
}

// A commit that cannot write down its evidence does not happen.
func TestEvidenceCannotBeWritten(t *testing.T) {
	r := newResolving(t)
	r.evidence = strings.Repeat("x", 10)
	r.onSeal = func(context.Context) error { return r.rt.live()[0].log.Close(false) }
	r.add("t", columns(integer), numbersOf(10), 100)
	p := r.plan(1, 100)
	j := p.into(hooks.CreateTableAs, "u", p.scan("t", 1)).submit()
	require.Error(t, wait(t, j))
	require.Equal(t, Failed, j.State())
	require.Equal(t, "evident begin seal abort", r.eventText())
	require.Nil(t, r.tables["u"])
}

// Without a journal a commit goes on without.
func TestEvidenceWithoutJournal(t *testing.T) {
	r := newResolving(t)
	r.rt.Store = nil
	r.evidence = "x"
	r.add("t", columns(integer), numbersOf(10), 100)
	p := r.plan(1, 100)
	require.NoError(t, wait(t, p.into(hooks.CreateTableAs, "u", p.scan("t", 1)).submit()))
	require.Equal(t, "evident begin seal commit", r.eventText())
}
