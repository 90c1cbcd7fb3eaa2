package exec

import (
	"context"
	"fmt"
	"time"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/exec/store"
)

// recoveryLimit is how long the first use of a catalog waits for its recovery.
const recoveryLimit = 2 * time.Second

// Recover removes what jobs that died have left in a catalog, if it keeps staging at all. It returns
// after two seconds at the latest; the rest goes on in the background, where a job that writes to the
// catalog waits for it. It is for CatalogManager.OnOpen.
func (r *Runtime) Recover(ctx context.Context, name string, c catalog.Catalog) {
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
	limit := time.NewTimer(recoveryLimit)
	defer limit.Stop()
	select {
	case <-done:
	case <-ctx.Done():
	case <-limit.C:
	}
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
	r.mu.Lock()
	for _, j := range r.jobs {
		if j.id == id && !j.State().Final() {
			r.mu.Unlock()
			return catalog.Keep
		}
	}
	r.mu.Unlock()
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
