package exec

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/exec/store"
	"github.com/sluice-sql/sluice/internal/failpoint"
)

// resolveLimit is how long the first use of a catalog asks its store about commits in doubt, all of them.
const resolveLimit = 10 * time.Second

// The pauses between two questions about a commit of this session.
const (
	firstPause = time.Second
	lastPause  = time.Minute
)

// resolve asks a catalog what became of the commits to its store that the journals are in doubt of.
func (r *Runtime) resolve(c catalog.Catalog, resolver catalog.Resolver) {
	if r.Store == nil {
		return
	}
	ids, err := r.Store.Jobs()
	if err != nil {
		r.warn(fmt.Sprintf("the journals of earlier jobs cannot be read: %s", err))
		return
	}
	ctx, cancel := context.WithTimeout(r.ctx, resolveLimit)
	defer cancel()
	for _, id := range ids {
		// Most journals are those of jobs that run, or of no interest: they are only read.
		records, err := r.Store.Read(id)
		d, ok := store.DoubtOf(records)
		if err != nil || !ok || !stores(c, d.Target) {
			continue
		}
		if err := r.settle(ctx, id, resolver); err != nil && r.ctx.Err() == nil {
			r.warn(fmt.Sprintf("%s: its commit to table %s is still in doubt: %s", r.called(id, d.Name), d.Target.Table, err))
		}
	}
}

// stores reports whether a target is in the store of a catalog, whatever the catalog was called then.
func stores(c catalog.Catalog, t store.Target) bool {
	path := catalog.ObjectPath{Database: t.Table.Database, Object: t.Table.Object}
	return connector.ScrubURL(c.StoreKey(path)) == t.Store
}

// called names a job to the user.
func (r *Runtime) called(id connector.JobID, name string) string {
	text := fmt.Sprintf("job %s (%s)", id, name)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.jobs {
		if e.info.ID == id || e.live != nil && e.live.owns(id) {
			return text
		}
	}
	return text + " of an earlier session"
}

// settle asks about the doubt of one journal, tells the answer and writes it down. A journal that a process has
// in its hands, or that is in no doubt any more, is left alone. The error says why there is no answer.
func (r *Runtime) settle(ctx context.Context, id connector.JobID, resolver catalog.Resolver) (err error) {
	log, records, err := r.Store.Resume(id)
	if log == nil || err != nil {
		return err
	}
	settled := false
	defer func() {
		if closeErr := log.Close(settled); closeErr != nil {
			r.warn(fmt.Sprintf("journal of job %s: %s", id, closeErr))
		}
	}()
	d, ok := store.DoubtOf(records)
	if !ok {
		return nil
	}
	out, err := ask(ctx, resolver, d.Evidence)
	if errors.Is(err, connector.ErrUntold) {
		r.warn(fmt.Sprintf("%s: whether its commit to table %s happened will not be known, look at the table: %s", r.called(id, d.Name), d.Target.Table, err))
		settled = true
		return nil
	}
	if out == connector.Unknown {
		return err
	}
	r.tell(r.called(id, d.Name), d.Target.Table, out)
	state := Finished
	if out == connector.NotDone {
		state = Failed
	}
	r.correct(id, state)
	if err := failpoint.Hit("recover.act"); err != nil {
		r.warn(fmt.Sprintf("journal of job %s: %s", id, err))
		return nil
	}
	// Without it the same is asked and told again some time, which harms nobody.
	if err := log.Append(store.Record{Type: store.Done, State: string(state)}); err != nil {
		r.warn(fmt.Sprintf("journal of job %s: %s", id, err))
		return nil
	}
	settled = true
	return nil
}

// ask asks a store for the outcome of a commit.
func ask(ctx context.Context, resolver catalog.Resolver, evidence string) (out connector.Outcome, err error) {
	out = connector.Unknown
	err = (&Job{}).guard("the question for a commit", func() (err error) {
		out, err = resolver.Outcome(ctx, evidence)
		return err
	})
	if err == nil && out == connector.Unknown {
		err = errors.New("the store gave no reason")
	}
	return out, err
}

// tell says what became of a commit that was in doubt.
func (r *Runtime) tell(job string, table connector.ObjectIdentifier, out connector.Outcome) {
	what := "succeeded: the rows are in table " + table.String()
	if out == connector.NotDone {
		what = "did not happen: table " + table.String() + " is as it was before"
	}
	r.say("[INFO] " + job + ": its commit " + what)
}

// correct gives a job of this session that was in doubt the state that it had all along.
func (r *Runtime) correct(id connector.JobID, state State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.jobs {
		e := &r.jobs[i]
		if e.live != nil || e.info.ID != id || e.info.State != InDoubt {
			continue
		}
		e.info.State, e.info.Err = state, ""
		if state == Failed {
			e.info.Err = "the commit did not happen"
		}
	}
}

// askAgain goes on asking about a commit of this session whose outcome is not known, ever more seldom, until there
// is an answer or the session ends. It needs the journal.
func (r *Runtime) askAgain(id connector.JobID, catalogName string) {
	r.wg.Add(1) // the job that calls this is still counted
	go func() {
		defer r.wg.Done()
		for pause := firstPause; ; pause = min(2*pause, lastPause) {
			tick, stop := r.every(pause)
			select {
			case <-tick:
				stop()
			case <-r.ctx.Done():
				stop()
				return
			}
			records, err := r.Store.Read(id)
			if err == nil && !store.InDoubt(records) {
				return // somebody has settled it
			}
			r.mu.Lock()
			c := r.resolvers[catalogName]
			r.mu.Unlock()
			if resolver, ok := c.(catalog.Resolver); ok && err == nil {
				ctx, cancel := context.WithTimeout(r.ctx, resolveLimit)
				_ = r.settle(ctx, id, resolver) // as before: it has been told that it is in doubt
				cancel()
			}
		}
	}()
}
