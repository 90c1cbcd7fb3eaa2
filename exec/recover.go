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
)

// recoveryLimit is how long the end of the process waits for recoveries that still run.
const recoveryLimit = 2 * time.Second

// Recover removes what jobs that died have left in a catalog, if it keeps staging at all. It does so in the
// background: who reads never waits for it, a job that writes to the catalog does. It is for
// CatalogManager.OnOpen.
func (r *Runtime) Recover(_ context.Context, name string, c catalog.Catalog) {
	sweeper, ok := c.(catalog.Sweeper)
	if !ok {
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
	if r.Store == nil {
		return catalog.Remove
	}
	records, err := r.Store.Read(id)
	if err != nil {
		return catalog.Keep
	}
	if n := len(records); n > 0 && records[n-1].Type == store.Done && records[n-1].State == string(InDoubt) {
		return catalog.Keep
	}
	return catalog.Remove
}
