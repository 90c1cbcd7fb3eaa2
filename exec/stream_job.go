package exec

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/job"
)

// madeTable is a table that a streaming job has made.
type madeTable struct {
	catalog  catalog.Catalog
	path     catalog.ObjectPath
	identity string
}

// prepare does all that can go wrong before the first row: it opens the sources, makes the table of a CREATE
// TABLE AS, opens the sinks and fixes what is read. What fails here leaves nothing behind, see discard. It
// ends with ctx, but what it opens does not.
func (st *stream) prepare(ctx context.Context) error {
	j := st.job
	release := context.AfterFunc(ctx, func() { j.cancel(context.Cause(ctx)) })
	err := j.guard("the start of the job", st.prepareAll)
	if !release() {
		return context.Cause(ctx)
	}
	return err
}

func (st *stream) prepareAll() error {
	j := st.job
	leaves := func(do func(p *pipeline, l leaf) error) error {
		for _, p := range j.pipelines {
			for _, l := range p.leaves {
				if err := do(p, l.leaf); err != nil {
					return toError(err, l.leaf.what())
				}
			}
		}
		return nil
	}
	if err := leaves(func(_ *pipeline, l leaf) error { return l.prepare(j.ctx) }); err != nil {
		return err
	}
	for _, h := range j.graph.Hooks {
		if err := j.rt.swept(j.ctx, h.Catalog.Name); err != nil {
			return err
		}
	}
	if err := st.create(); err != nil {
		return err
	}
	for _, s := range st.sinks {
		if err := s.prepare(j.ctx); err != nil {
			return s.fail(err)
		}
	}
	return leaves(func(p *pipeline, l leaf) error { return l.open(p.ctx) })
}

// create makes the table of a CREATE TABLE AS.
func (st *stream) create() error {
	j := st.job
	spec := j.graph.Create
	if spec == nil {
		return nil
	}
	c, err := j.catalogs.Catalog(j.ctx, j.graph.Catalogs[spec.Catalog])
	if err != nil {
		return err
	}
	def, err := catalog.FromProperties(spec.Properties)
	if err != nil {
		return fmt.Errorf("table %s: %w", spec.Identifier, err)
	}
	path := catalog.ObjectPath{Database: spec.Identifier.Database, Object: spec.Identifier.Object}
	made, identity, err := c.CreateTable(j.ctx, path, def)
	if err == nil && !made {
		err = catalog.ErrTableAlreadyExist
	}
	if made {
		st.created = &madeTable{c, path, identity}
	}
	if err != nil {
		e := *toError(err, "create table "+spec.Identifier.String())
		e.Table = spec.Identifier.String()
		return &e
	}
	return nil
}

// discard undoes prepare: the job will not run.
func (st *stream) discard() error {
	j := st.job
	j.cancel(errStopped)
	errs := []error{st.close()}
	for _, p := range j.pipelines {
		errs = append(errs, p.closeLeaves())
	}
	if t := st.created; t != nil {
		if err := t.catalog.DropTable(context.Background(), t.path, t.identity); err != nil {
			errs = append(errs, fmt.Errorf("the table that was made could not be dropped again: %w", err))
		}
	}
	return errors.Join(errs...)
}

// close frees the sinks and the operators.
func (st *stream) close() error {
	var errs []error
	for _, p := range st.job.pipelines {
		for _, w := range p.workers {
			for _, op := range w.ops {
				if op != nil {
					op.close()
				}
			}
		}
		p.workers = nil
	}
	for _, s := range st.sinks {
		if err := s.close(); err != nil {
			errs = append(errs, fmt.Errorf("close table %s: %w", s.spec.Table, err))
		}
	}
	st.sinks, st.sources, st.in = nil, nil, nil // whoever keeps the job does not keep their memory
	return errors.Join(errs...)
}

// run is the life of a streaming job. There is no transaction between checkpoints, so an end without one, by
// an error or a cancel, has nothing to undo.
func (st *stream) run() {
	j := st.job
	j.mu.Lock()
	if j.cause == nil {
		j.state = Running
	}
	j.mu.Unlock()
	st.start()
	err := st.guarded()
	for _, p := range j.pipelines {
		p.cancel(errStopped)
	}
	st.readers.Wait()
	for _, p := range j.pipelines {
		if cerr := j.guard("the end of reading", p.closeLeaves); cerr != nil && err == nil {
			j.warn("end of job", cerr) // the rows are committed
		}
	}
	var doubt *doubtError
	switch {
	case errors.As(err, &doubt):
		e := *doubt.cause
		e.Msg = "it is not known whether the rows since the last checkpoint were committed: " + e.Msg
		e.Hint = "look at the table before starting the job again"
		j.conclude(InDoubt, &e)
	case err != nil:
		j.fail(toError(err, ""))
		j.conclude(j.abort(nil, err), nil)
	default:
		j.conclude(Finished, nil)
	}
}

// guarded drives the job and makes an error of a panic.
func (st *stream) guarded() (err error) {
	defer func() {
		if r := recover(); r != nil {
			name := "the job"
			for _, p := range st.job.pipelines {
				if w := p.workers[0]; w.current != nil {
					name = w.current.name
				}
			}
			err = internalError(name, r)
		}
	}()
	return st.drive()
}

func (st *stream) interval() time.Duration {
	if d := st.job.graph.CheckpointInterval; d > 0 {
		return d
	}
	return job.DefaultCheckpointInterval
}

// tell adds to a job's statistics.
func (st *stream) tell(s *Stats, ended bool) {
	st.mu.Lock()
	s.Checkpoints, s.LastCheckpoint, s.Watermark = st.stats.checkpoints, st.stats.last, st.stats.watermark
	st.mu.Unlock()
	if ended || s.Watermark.Equal(FinalWatermark()) {
		return
	}
	since := s.Watermark
	if since.IsZero() {
		since = st.job.start
	}
	s.Lag = max(st.job.rt.now().Sub(since), 0)
}

// Stop ends a streaming job with a last checkpoint, after which it is FINISHED, and waits for that as Wait
// does. When ctx ends before, the job goes on stopping.
func (j *Job) Stop(ctx context.Context) error {
	if j.stream == nil {
		return errors.New("a job in batch mode cannot be stopped, only canceled")
	}
	j.stream.once.Do(func() { close(j.stream.stop) })
	return j.Wait(ctx)
}
