package exec

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/exec/store"
	"github.com/sluice-sql/sluice/hooks"
	"github.com/sluice-sql/sluice/internal/failpoint"
	"github.com/sluice-sql/sluice/job"
)

// State is the state of a job.
type State string

// The states of a job; the last four are final.
const (
	Created    State = "CREATED"
	Running    State = "RUNNING"
	Failing    State = "FAILING"
	Cancelling State = "CANCELLING"
	Finished   State = "FINISHED"
	Failed     State = "FAILED"
	Canceled   State = "CANCELED"
	InDoubt    State = "IN_DOUBT"
)

// Final reports whether a job in this state has ended.
func (s State) Final() bool { return s == Finished || s == Failed || s == Canceled || s == InDoubt }

// Info describes a job of this process.
type Info struct {
	ID         connector.JobID
	Name       string
	State      State
	Start, End time.Time // End is zero while the job runs
	Rows       int64     // written
	Err        string    // empty unless the job ended otherwise than FINISHED
	Mode       job.Mode
	Stats      Stats // the last there were, once the job has ended
}

// Stats is the progress of a job.
type Stats struct {
	RowsRead, RowsWritten int64
	// Waiting says what the job waits for when it is not its tasks; empty otherwise.
	Waiting string
	// Held says that Waiting is something that others hold, maybe for long.
	Held bool

	// Of streaming jobs: the checkpoints there were, those with nothing to write among them, and when the
	// last was.
	Checkpoints    int64
	LastCheckpoint time.Time
	// Watermark is the instant up to which all that the sources had has gone through the job, zero before
	// there is one; FinalWatermark once they have ended. Lag is how far behind the clock that is.
	Watermark time.Time
	Lag       time.Duration
}

// Job is a job that was submitted. Its life:
//
//	journal BEGIN → OnCreated → tasks → Seal → OnFinished → journal DONE
//
// Up to the end of Seal the job can be canceled; from then on the outcome is the hook's. Whatever fails
// before OnFinished leads to OnFailed, a cancel to OnCanceled. OnFinished that answers NotDone is
// followed by OnFailed; Unknown leaves everything as it is, and the job IN_DOUBT.
type Job struct {
	rt        *Runtime
	id        connector.JobID
	name      string
	graph     *job.Graph // nil once the job has ended
	catalogs  *catalog.Instances
	hooks     []hooks.JobStatusHook
	log       *store.Log // nil: no journal
	evident   bool       // it has evidence of a commit
	doubtful  int        // the hook that is IN_DOUBT
	asks      string     // the catalog to be asked about it, once the job has ended; "" for none
	stream    *stream    // nil in batch mode
	pipelines []*pipeline
	functions []*memory   // of the texts that functions make
	roots     []*pipeline // those that fill a sink or the collected rows
	sinks     []*sink

	nextMu  sync.Mutex
	collect *receiver // nil when there is nothing to fetch

	counters []atomic.Int64 // rows out, by vertex
	reads    []*atomic.Int64
	written  atomic.Int64

	ctx    context.Context // ends when the job fails or is canceled
	cancel context.CancelCauseFunc
	tasks  sync.WaitGroup
	ended  chan struct{} // closed in the final state

	mu         sync.Mutex
	state      State
	cause      error // the first: why the job does not finish
	err        *Error
	committing bool
	waiting    string
	held       bool
	rows       int64
	start, end time.Time
}

// ID returns the job's id.
func (j *Job) ID() connector.JobID { return j.id }

// Name returns the job's name.
func (j *Job) Name() string { return j.name }

// State returns the state.
func (j *Job) State() State { j.mu.Lock(); defer j.mu.Unlock(); return j.state }

// Committing reports whether the job is sealed and has not ended: a cancel is no longer heard.
func (j *Job) Committing() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.committing && !j.state.Final()
}

// Rows returns the number of rows written, as counted by the store when it was sealed; of a streaming job
// those committed so far.
func (j *Job) Rows() int64 {
	if j.stream != nil {
		return j.written.Load()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.rows
}

// Stats returns the progress.
func (j *Job) Stats() Stats {
	s := Stats{RowsWritten: j.written.Load()}
	for _, r := range j.reads {
		s.RowsRead += r.Load()
	}
	j.mu.Lock()
	s.Waiting, s.Held = j.waiting, j.held
	ended := j.state.Final()
	j.mu.Unlock()
	if j.stream != nil {
		j.stream.tell(&s, ended)
	}
	return s
}

// Mode returns the mode in which the job runs.
func (j *Job) Mode() job.Mode {
	if j.stream != nil {
		return job.Streaming
	}
	return job.Batch
}

// Info describes the job.
func (j *Job) Info() Info {
	stats, rows := j.Stats(), j.Rows()
	j.mu.Lock()
	defer j.mu.Unlock()
	i := Info{Mode: j.Mode(), Stats: stats, ID: j.id, Name: j.name, State: j.state, Start: j.start, End: j.end, Rows: rows}
	if j.err != nil {
		i.Err = j.err.Error()
	}
	return i
}

// Cancel asks the job to end; it returns at once. A job that is committing, or has ended, does not hear it.
// Rows of a finished job that nobody has fetched are forgotten.
func (j *Job) Cancel() {
	if j.State().Final() {
		j.forget()
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.committing || j.cause != nil || j.state.Final() {
		return
	}
	j.cause = errCanceled
	j.state = Cancelling
	j.cancel(errCanceled)
}

// fail makes the job fail with its first error. Errors that follow are its consequences, and dropped.
func (j *Job) fail(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.cause != nil || j.state.Final() {
		return
	}
	j.cause = err
	j.state = Failing
	j.cancel(err)
}

func (j *Job) failure() error { j.mu.Lock(); defer j.mu.Unlock(); return j.cause }

// setWaiting notes what the job waits for, and whether others hold it.
func (j *Job) setWaiting(s string, held bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.waiting, j.held = s, held
}

// Wait returns when the job has ended, nil if it is FINISHED and an *Error otherwise, or when ctx ends.
func (j *Job) Wait(ctx context.Context) error {
	select {
	case <-j.ended:
		return j.outcome()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Err is what Wait returns of a job that has ended, and nil before.
func (j *Job) Err() error {
	if !j.State().Final() {
		return nil
	}
	return j.outcome()
}

func (j *Job) outcome() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		return nil
	}
	return j.err
}

// Next returns the next rows of a job that collects them, nil at the end. The batch is the caller's until
// the next call. An error of the job is returned here, too. Next may be called after the job has ended.
func (j *Job) Next(ctx context.Context) (*column.Batch, error) {
	b, err := j.next(ctx)
	if b != nil || err != nil {
		return b, err
	}
	return nil, j.Wait(ctx)
}

func (j *Job) next(ctx context.Context) (*column.Batch, error) {
	j.nextMu.Lock()
	defer j.nextMu.Unlock()
	if j.collect == nil {
		return nil, nil
	}
	s, err := j.collect.recv(j.ctx, ctx)
	switch {
	case s != nil:
		return &s.batch, nil
	case err != nil && j.ctx.Err() == nil:
		return nil, err // the caller's context has ended, not the job
	}
	j.collect = nil
	return nil, nil
}

// forget drops the rows that are ready to be fetched, with the memory they lie in.
func (j *Job) forget() {
	j.nextMu.Lock()
	defer j.nextMu.Unlock()
	j.collect = nil
}

// run is the life of the job, in a goroutine of its own.
func (j *Job) run() {
	created, err := j.create()
	if err == nil {
		err = j.work()
	}
	if err == nil {
		err = j.seal()
	}
	if err == nil {
		j.finish(created)
		return
	}
	j.fail(err)
	j.closeLeaves()
	j.conclude(j.abort(created, err), nil)
}

// broken gives a job whose own code has failed its final state, and nothing else: what it holds is found by the
// next recovery. A job that never gets there would be taken for one that has finished.
func (j *Job) broken(e *Error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.state.Final() {
		return
	}
	j.state = Failed
	if j.committing {
		j.state = InDoubt
		e.Msg, e.Hint = doubtText+e.Msg, doubtHint
	}
	e.State = j.state
	j.err, j.end, j.waiting, j.rows = e, j.rt.now(), "", 0
	j.cancel(e)
}

// create reserves the targets; it returns the hooks whose OnCreated was entered.
func (j *Job) create() (entered []hooks.JobStatusHook, err error) {
	err = j.guard("the preparation of the job", func() error {
		for _, p := range j.pipelines {
			for _, l := range p.leaves {
				if err := l.leaf.prepare(j.ctx); err != nil {
					return toError(err, l.leaf.what())
				}
			}
		}
		if len(j.hooks) == 0 {
			return j.failure()
		}
		j.setWaiting("the target", false)
		for i, h := range j.hooks {
			if err := j.rt.swept(j.ctx, j.graph.Hooks[i].Catalog.Name); err != nil {
				return err
			}
			entered = append(entered, h)
			j.keepEvidence(i)
			if err := h.OnCreated(j.ctx, j.id); err != nil {
				e := *toError(err, "")
				e.Table = j.graph.Hooks[i].Table.String()
				return &e
			}
		}
		return j.failure()
	})
	j.setWaiting("", false)
	return entered, err
}

// keepEvidence lets a transaction whose commit may go without an answer write down before it by what it can be
// asked for. Where there is no journal there is nothing to write it into, and the commit does without.
func (j *Job) keepEvidence(i int) {
	if tx, ok := j.hooks[i].Transaction().(connector.Evident); ok {
		tx.NoteEvidence(func(evidence string) error {
			if j.log == nil {
				return nil
			}
			j.evident = true
			return j.log.Append(store.Record{Type: store.Evidence, Target: i, Evidence: evidence})
		})
	}
}

// work runs the tasks to their end and closes what they read.
func (j *Job) work() error {
	j.mu.Lock()
	if j.cause == nil {
		j.state = Running
	}
	j.mu.Unlock()
	err := j.guard("the start of the job", func() error {
		for _, p := range j.pipelines {
			for _, l := range p.leaves {
				if err := l.leaf.open(p.ctx); err != nil {
					return toError(err, l.leaf.what())
				}
			}
		}
		return nil
	})
	if err != nil {
		j.fail(err)
	} else {
		for _, p := range j.roots {
			p.start()
		}
		for _, s := range j.sinks {
			s.start()
		}
		j.tasks.Wait()
	}
	j.closeLeaves()
	for _, p := range j.pipelines {
		p.cancel(errStopped)
	}
	return j.failure()
}

// closeLeaves closes what was opened to be read and is not closed yet, as when no task ever ran.
func (j *Job) closeLeaves() {
	for _, p := range j.pipelines {
		if err := j.guard("the end of reading", p.closeLeaves); err != nil {
			j.fail(err)
		}
	}
}

// seal makes what was written ready. When it returns without error the job is committing.
func (j *Job) seal() error {
	rows := int64(0)
	if len(j.hooks) > 0 {
		j.setWaiting("the store to keep the rows", false)
		defer j.setWaiting("", false)
	}
	for i, h := range j.hooks {
		err := j.guard("the end of writing", func() error {
			n, err := h.Transaction().Seal(j.ctx)
			rows += n
			return err
		})
		if err != nil {
			e := *toError(err, "")
			e.Table = j.graph.Hooks[i].Table.String()
			return &e
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.cause != nil {
		return j.cause
	}
	j.committing = true
	j.rows = rows
	return nil
}

// What is said of a commit whose outcome is not known.
const (
	doubtText = "it is not known whether the rows were committed: "
	doubtHint = "look at the table before running the statement again"
)

// finish commits. Nothing here ends with a cancel.
func (j *Job) finish(created []hooks.JobStatusHook) {
	ctx := context.Background()
	err := j.guard("the job", func() error { // nothing is published yet
		j.note(store.Record{Type: store.Sealed, Rows: j.rows})
		return j.hit("journal.decision")
	})
	if err != nil {
		j.mu.Lock()
		j.cause, j.state = err, Failing
		j.mu.Unlock()
		j.conclude(j.abort(created, nil), nil)
		return
	}
	if len(j.hooks) > 0 {
		j.setWaiting("the store and its readers", false)
	}
	for i, h := range j.hooks {
		outcome := connector.Unknown
		err := j.guard("the commit", func() (err error) {
			outcome, err = h.OnFinished(ctx)
			return err
		})
		if outcome == connector.Unknown && failpoint.Mutant("cleanup-on-unknown") {
			outcome = connector.NotDone
		}
		if outcome == connector.Done {
			j.note(store.Record{Type: store.Published, Target: i})
			j.warn("committed", err)
			continue
		}
		if err == nil {
			err = errors.New("the store gave no reason")
		}
		e := *toError(err, "")
		e.Table = j.graph.Hooks[i].Table.String()
		if outcome == connector.NotDone {
			if i > 0 {
				e.Msg += fmt.Sprintf("; table %s had been written by then", j.graph.Hooks[i-1].Table)
			}
			j.mu.Lock()
			j.cause, j.state = &e, Failing
			j.mu.Unlock()
			j.conclude(j.abort(created[i:], nil), nil)
			return
		}
		e.Msg, e.Hint = doubtText+e.Msg, doubtHint
		j.doubtful = i
		j.conclude(InDoubt, &e)
		return
	}
	j.conclude(Finished, nil)
}

// abort calls the hooks' OnCanceled or OnFailed and returns the final state. What fails here is added to
// the first cause, which it never hides. last is the error that ended the job's work: after a cancel it may
// tell what was being waited for.
func (j *Job) abort(entered []hooks.JobStatusHook, last error) State {
	j.mu.Lock()
	cause := j.cause
	j.mu.Unlock()
	canceled := errors.Is(cause, errCanceled)
	ctx := context.Background()
	var errs []error
	for _, h := range entered {
		err := j.guard("the clean-up", func() error {
			if canceled {
				return h.OnCanceled(ctx)
			}
			return h.OnFailed(ctx, cause)
		})
		if err != nil {
			errs = append(errs, err)
		}
	}
	e := *toError(cause, "")
	if canceled {
		e = Error{Msg: errCanceled.Error(), Row: -1, Err: errCanceled}
		if last != nil {
			if why := toError(last, "").Msg; !strings.Contains(why, "canceled") {
				e.Detail = ": " + why
			}
		}
	}
	if len(errs) > 0 {
		all := errors.Join(errs...)
		e.Detail += fmt.Sprintf("; the clean-up failed, too: %s", all)
		e.Err = errors.Join(e.Err, all)
	}
	e.Msg += e.Detail
	j.mu.Lock()
	defer j.mu.Unlock()
	j.err = &e
	if canceled {
		return Canceled
	}
	return Failed
}

// conclude closes what the job holds and gives it its final state.
func (j *Job) conclude(state State, e *Error) {
	for _, p := range j.pipelines {
		for _, t := range p.builds {
			t.free()
		}
	}
	for _, m := range j.functions {
		m.free()
	}
	for _, h := range j.hooks {
		err := j.guard("the end of the job", h.Close)
		j.warn("end of job", err)
	}
	if j.stream != nil {
		j.warn("end of job", j.guard("the end of the job", j.stream.close))
	}
	j.warn("end of job", j.guard("the end of the job", j.catalogs.Close))
	j.mu.Lock()
	if e == nil {
		e = j.err
	}
	if e != nil {
		e.State = state
	}
	j.mu.Unlock()
	if state != Finished {
		j.forget()
	}
	j.note(store.Record{Type: store.Done, State: string(state)})
	j.warn("journal", j.guard("the journal", func() error { return j.hit("journal.done") }))
	if j.log != nil {
		// What a finished, failed or canceled job left behind is told from the store, not from here.
		j.warn("journal", j.log.Close(state != InDoubt))
		if state == InDoubt && j.evident {
			j.asks = j.graph.Hooks[j.doubtful].Catalog.Name
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.state, j.err, j.end, j.waiting, j.held = state, e, j.rt.now(), "", false
	if state != Finished {
		j.rows = 0
	}
	j.pipelines, j.roots, j.sinks, j.hooks, j.graph = nil, nil, nil, nil, nil
}

// hit marks a place of a job that writes.
func (j *Job) hit(place string) error {
	if len(j.hooks) == 0 {
		return nil
	}
	return failpoint.Hit(place)
}

// note writes to the journal; that it cannot is a warning once the job has begun.
func (j *Job) note(r store.Record) {
	if j.log != nil {
		j.warn("journal", j.log.Append(r))
	}
}

func (j *Job) warn(what string, err error) {
	if err != nil {
		j.rt.warn(fmt.Sprintf("job %s: %s: %s", j.id, what, err))
	}
}

// guard makes an error of a panic.
func (j *Job) guard(where string, f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = internalError(where, r)
		}
	}()
	return f()
}
