package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/exec/store"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/hooks"
	"github.com/sluice-sql/sluice/internal/failpoint"
	"github.com/sluice-sql/sluice/job"
)

// Runtime runs the jobs of a process. Set its fields before the first Submit.
type Runtime struct {
	Registry *catalog.Registry
	// Live finds the instance of a catalog that lives in this process.
	Live func(name string) (catalog.Catalog, bool)
	// Store is the journal; nil: none is kept.
	Store *store.Store

	// Ended is called when a job has ended, in whatever state, before its Wait returns; nil: nobody is
	// told. It must not wait for the job.
	Ended func(*Job)

	ticker func(time.Duration) (tick <-chan time.Time, stop func()) // of checkpoints; nil: the clock's; tests have one

	limits laneLimits // of edges; zero: the usual
	poison bool       // fill what nobody may read any more with rubbish; tests do

	mu        sync.Mutex
	jobs      []entry
	sweeps    map[string]chan struct{}   // running recoveries by catalog
	resolvers map[string]catalog.Catalog // the Resolvers among the session's catalogs
	closed    bool

	once   sync.Once
	ctx    context.Context // of recoveries; ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup // jobs and recoveries
}

// entry is a job of the process: the job while it lives, then what describes it.
type entry struct {
	live *Job
	info Info
}

func (r *Runtime) init() {
	r.once.Do(func() {
		r.ctx, r.cancel = context.WithCancel(context.Background())
		r.sweeps = map[string]chan struct{}{}
		r.resolvers = map[string]catalog.Catalog{}
	})
}

// Submit decodes a job graph, opens its hooks and starts the job. ctx bounds this call only. An error
// means that there never was a job and nothing was touched: a bad graph, a target that cannot be opened.
func (r *Runtime) Submit(ctx context.Context, encoded []byte) (*Job, error) {
	r.init()
	g, err := job.Decode(encoded)
	if err != nil {
		return nil, err
	}
	zone, err := parseZone(g.Zone)
	if err != nil {
		return nil, err
	}
	j := &Job{rt: r, id: g.ID, name: g.Name, graph: g, state: Created, ended: make(chan struct{}), start: r.now(), counters: make([]atomic.Int64, len(g.Vertices))}
	j.catalogs = &catalog.Instances{Registry: r.Registry, Live: r.Live}
	background := context.Background()
	if r.Registry != nil && r.Registry.Env != nil {
		background = connector.WithWaits(background, r.Registry.Env.Waits)
	}
	j.ctx, j.cancel = context.WithCancelCause(connector.WithJob(background, connector.JobSettings{ID: g.ID, Seed: g.Seed, Zone: zone}))
	limits := r.limits
	if limits.batches == 0 {
		limits = defaultLimits
	}
	b := &builder{job: j, graph: g, limits: limits, used: make([]bool, len(g.Vertices)),
		env: &expr.Env{Now: g.Start, Clock: r.now, Zone: zone, Seed: g.Seed}}
	if r.Registry != nil && r.Registry.Env != nil {
		b.memory = r.Registry.Env.Memory
	}
	open := j.open
	if g.Mode == job.Streaming {
		j.stream = &stream{job: j, stop: make(chan struct{})}
		open = j.stream.prepare
	}
	if err := j.guard("the job graph", b.build); err != nil {
		return nil, err
	}
	if len(g.Hooks) > 0 {
		if err := failpoint.Hit("plan.done"); err != nil {
			return nil, err
		}
	}
	if err := open(ctx); err != nil {
		return nil, errors.Join(err, j.discard())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errors.Join(errors.New("the session is closed"), j.discard())
	}
	if j.stream != nil {
		j.state = Running // prepare has done all that comes before
	}
	r.jobs = append(r.jobs, entry{live: j})
	r.wg.Add(1)
	go func() {
		defer r.wg.Done()
		defer close(j.ended)
		if r.Ended != nil {
			defer r.Ended(j)
		}
		defer r.retire(j)
		defer func() {
			if p := recover(); p != nil {
				j.broken(internalError("the job", p))
			}
		}()
		if j.stream != nil {
			j.stream.run()
			return
		}
		j.run()
	}()
	return j, nil
}

// open opens the hooks, hands their transactions to the sinks and begins the journal.
func (j *Job) open(ctx context.Context) error {
	for _, spec := range j.graph.Hooks {
		h, err := hooks.Open(ctx, spec, j.catalogs)
		if err != nil {
			return err
		}
		j.hooks = append(j.hooks, h)
	}
	subtasks := make([]int, len(j.hooks))
	for _, s := range j.sinks {
		s.tx, s.subtask = j.hooks[s.spec.Hook].Transaction(), subtasks[s.spec.Hook]
		subtasks[s.spec.Hook]++
	}
	if j.rt.Store == nil || len(j.hooks) == 0 {
		return nil
	}
	begin := store.Record{Type: store.Begin, Name: j.graph.Name}
	for i, h := range j.hooks {
		begin.Targets = append(begin.Targets, store.Target{Table: j.graph.Hooks[i].Table, Store: connector.ScrubURL(h.Transaction().Key())})
	}
	log, err := j.rt.Store.Begin(j.graph.ID, begin)
	if err != nil {
		return fmt.Errorf("nothing was written: the journal of the job cannot be: %w", err)
	}
	j.log = log
	return nil
}

// discard frees what a job that never ran holds.
func (j *Job) discard() error {
	var errs []error
	if j.stream != nil {
		errs = append(errs, j.stream.discard())
	}
	for _, h := range j.hooks {
		errs = append(errs, h.Close())
	}
	if j.log != nil {
		errs = append(errs, j.log.Close(true))
	}
	return errors.Join(append(errs, j.catalogs.Close())...)
}

// Jobs describes the jobs of this process, oldest first.
func (r *Runtime) Jobs() []Info {
	r.mu.Lock()
	jobs := slices.Clone(r.jobs)
	r.mu.Unlock()
	infos := make([]Info, len(jobs))
	for i, e := range jobs {
		if infos[i] = e.info; e.live != nil {
			infos[i] = e.live.Info()
		}
	}
	return infos
}

// Job returns a job that has not ended.
func (r *Runtime) Job(id connector.JobID) (*Job, bool) {
	for _, j := range r.live() {
		if j.id == id {
			return j, true
		}
	}
	return nil, false
}

// live returns the jobs that have not ended.
func (r *Runtime) live() []*Job {
	r.mu.Lock()
	defer r.mu.Unlock()
	var jobs []*Job
	for _, e := range r.jobs {
		if e.live != nil {
			jobs = append(jobs, e.live)
		}
	}
	return jobs
}

// retire keeps of a job that has ended what describes it.
func (r *Runtime) retire(j *Job) {
	info := j.Info()
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, e := range r.jobs {
		if e.live == j {
			r.jobs[i] = entry{info: info}
		}
	}
	if j.asks != "" {
		r.askAgain(j.id, j.asks)
	}
}

// Close cancels the jobs that still run, waits for their hooks and for recoveries, and returns.
func (r *Runtime) Close() error {
	r.init()
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	for _, j := range r.live() {
		j.Cancel()
	}
	r.endRecoveries()
	r.wg.Wait()
	return nil
}

// every returns a channel that ticks so often, and what ends that.
func (r *Runtime) every(d time.Duration) (<-chan time.Time, func()) {
	if r.ticker != nil {
		return r.ticker(d)
	}
	t := time.NewTicker(d)
	return t.C, t.Stop
}

func (r *Runtime) now() time.Time {
	if r.Registry != nil && r.Registry.Env != nil && r.Registry.Env.Clock != nil {
		return r.Registry.Env.Clock()
	}
	return time.Now()
}

// warn tells the user of something that changes no outcome.
func (r *Runtime) warn(text string) { r.say("[WARNING] " + text) }

// say tells the user of something that no statement waits for.
func (r *Runtime) say(text string) {
	if r.Registry != nil && r.Registry.Env != nil && r.Registry.Env.Err != nil {
		_, _ = io.WriteString(r.Registry.Env.Err, text+"\n") // nobody is left to tell
	}
}
