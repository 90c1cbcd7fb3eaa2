package exec

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/exec/store"
	"github.com/sluice-sql/sluice/internal/failpoint"
)

// recoveryLimit is how long the end of the process waits for recoveries that still run.
const recoveryLimit = 2 * time.Second

// Recover asks a catalog that is a Resolver what became of commits that journals are in doubt of, and then removes
// what jobs that died have left in it, if it keeps staging at all. It does so in the background: who reads never
// waits for it, a job that writes to the catalog does. It is for CatalogManager.OnOpen.
//
// What it removes is decided by the catalog, from what is beside the data; a journal can only keep things, so that
// it makes no difference which session, with which state directory, comes first. It can be ended anywhere and
// begun again: an answer is told, then written down, and what is not written down is asked again.
func (r *Runtime) Recover(_ context.Context, name string, c catalog.Catalog) {
	sweeper, sweeps := c.(catalog.Sweeper)
	resolver, resolves := c.(catalog.Resolver)
	if !sweeps && !resolves {
		return
	}
	r.init()
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	done := make(chan struct{})
	before := r.sweeps[name]
	r.sweeps[name] = done
	if resolves {
		r.resolvers[name] = c
	}
	r.wg.Add(1)
	r.mu.Unlock()
	go func() {
		defer r.wg.Done()
		defer close(done)
		if before != nil {
			select {
			case <-before:
			case <-r.ctx.Done():
				return
			}
		}
		err := (&Job{rt: r}).guard("the clean-up of catalog "+name, func() error {
			if err := failpoint.Hit("recover.scan"); err != nil {
				return err
			}
			if resolves {
				r.resolve(c, resolver)
			}
			if !sweeps {
				return nil
			}
			_, err := sweeper.Sweep(r.ctx, r.decide)
			return err
		})
		if err != nil && r.ctx.Err() == nil {
			r.warn(fmt.Sprintf("catalog %s: remains of interrupted jobs could not be removed: %s", name, err))
		}
	}()
}

// endRecoveries gives the recoveries that still run a while, then ends them. A short session has done its
// part that way, too.
func (r *Runtime) endRecoveries() {
	r.mu.Lock()
	sweeps := slices.Collect(maps.Values(r.sweeps))
	r.mu.Unlock()
	limit := time.NewTimer(recoveryLimit)
	defer limit.Stop()
	for _, done := range sweeps {
		select {
		case <-done:
			continue
		case <-limit.C:
		}
		break
	}
	r.cancel()
}

// swept waits for the recovery of a catalog, if one runs.
func (r *Runtime) swept(ctx context.Context, name string) error {
	r.mu.Lock()
	done := r.sweeps[name]
	r.mu.Unlock()
	if done == nil {
		return nil
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// decide says what is to become of the staging of a job whose owner the catalog has found dead. The
// staging of a job that runs here is kept whatever the catalog found, and so is that of a job whose
// commit is in doubt or whose journal cannot be read.
func (r *Runtime) decide(id connector.JobID) catalog.Decision {
	for _, j := range r.live() {
		if j.owns(id) && !j.State().Final() {
			return catalog.Keep
		}
	}
	if err := failpoint.Hit("recover.decide"); err != nil {
		return catalog.Keep
	}
	if r.Store == nil {
		return catalog.Remove
	}
	records, err := r.Store.Read(id)
	if err != nil || store.InDoubt(records) {
		return catalog.Keep
	}
	return catalog.Remove
}
