package session

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/exec"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/planner"
	"github.com/sluice-sql/sluice/sqlparse"
)

// plannerEnv is what planning a statement may know.
func (s *Session) plannerEnv(x *execution) *planner.Env {
	zone := s.Option(keyZone)
	return &planner.Env{
		Catalogs: s.catalogs,
		Expr:     &expr.Env{Now: s.env.Clock(), Zone: s.Zone(), Seed: rand.Uint64()},
		Texts:    []job.Text{x.masked},
		Options: planner.Options{
			Parallelism:    s.options.number(keyParallelism),
			BatchRows:      s.options.number(keyBatchRows),
			Optimize:       s.options.on(keyOptimizer),
			JobName:        s.Option(keyPipelineName),
			Zone:           zone,
			AtomicRequired: s.options.on(keyAtomicity),

			Mode: s.runtimeMode(), CheckpointInterval: s.checkpointInterval(),
		},
	}
}

// submit sends a plan down the one road to running it: graph, bytes, runtime. Nobody waits for a job in the
// background.
func (s *Session) submit(ctx context.Context, x *execution, plan *planner.Plan, background bool) (*exec.Job, error) {
	g, err := plan.Graph()
	if err != nil {
		return nil, err
	}
	x.texts = g.Texts
	if len(g.Hooks) > 0 {
		s.openJournal()
	}
	encoded, err := job.Encode(g)
	if err != nil {
		return nil, err
	}
	s.begun(g.ID, x, background)
	j, err := s.runtime.Submit(ctx, encoded)
	if err != nil {
		s.neverBegan(g.ID)
		return nil, err
	}
	if background {
		s.runs(j)
	} else {
		s.setCurrent(j)
	}
	return j, nil
}

// await waits for a job's end. When ctx ends first a batch job is canceled, and a streaming job stopped, with
// a last checkpoint; the wait goes on until that is done. The error tells how the job truly ended, which may
// be well.
func (s *Session) await(ctx context.Context, j *exec.Job) (stopped bool, err error) {
	err = j.Wait(ctx)
	if ctx.Err() == nil {
		return false, err
	}
	if j.Mode() == job.Batch {
		j.Cancel()
		return false, j.Wait(context.WithoutCancel(ctx))
	}
	return true, j.Stop(context.WithoutCancel(ctx))
}

func (s *Session) setCurrent(j *exec.Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current, s.began = j, s.env.Clock()
}

// Progress is how far the job of the statement at hand is.
type Progress struct {
	Job     connector.JobID
	Name    string
	State   string // as SHOW JOBS prints it
	Read    int64  // rows
	Written int64  // rows
	// Waiting says what the job waits for, such as a lock; empty when it does not.
	Waiting string
	// Held says that others hold what Waiting names, maybe for long.
	Held bool
	// Committing is set once a cancel is no longer heard.
	Committing bool
	Elapsed    time.Duration
}

// Progress reports on the job that Execute waits for or whose rows are being read; ok is false when
// there is none. It may be called from any goroutine.
func (s *Session) Progress() (p Progress, ok bool) {
	s.mu.Lock()
	j, began := s.current, s.began
	s.mu.Unlock()
	if j == nil {
		return Progress{}, false
	}
	stats := j.Stats()
	return Progress{
		Job: j.ID(), Name: j.Name(), State: string(j.State()), Read: stats.RowsRead, Written: stats.RowsWritten,
		Waiting: stats.Waiting, Held: stats.Held, Committing: j.Committing(), Elapsed: s.env.Clock().Sub(began),
	}, true
}

// LockWait is a wait for a lock.
type LockWait struct {
	File   string    // the database that is locked
	Holder string    // who has the lock, such as " by process 12 (sqlite3)"; "" when that is not known
	Since  time.Time // when the wait began
}

// LockWait returns the longest wait for a lock that lasts at the moment; ok is false when there is none. It may be
// called from any goroutine.
func (s *Session) LockWait() (w LockWait, ok bool) {
	longest := s.env.Waits.Longest()
	if longest == nil {
		return LockWait{}, false
	}
	return LockWait{longest.File, longest.Holder(), longest.Since}, true
}

// showJobs lists the jobs of this process, the latest first.
func (s *Session) showJobs(*sqlparse.ShowJobs) (*Result, error) {
	m := newMetadata(jobColumns()...)
	jobs := s.runtime.Jobs()
	for i := len(jobs) - 1; i >= 0; i-- {
		m.add(s.jobRow(jobs[i])...)
	}
	return m.result(), nil
}

// describeJob gives the line of SHOW JOBS and what else is known of the job.
func (s *Session) describeJob(st *sqlparse.DescribeJob) (*Result, error) {
	i, err := s.jobInfo(st.ID)
	if err != nil {
		return nil, err
	}
	m := newMetadata(append(jobColumns(), "mode", "rows in", "rows out", "checkpoints", "last checkpoint", "watermark", "lag", "waiting for", "error")...)
	values := append(s.jobRow(i), string(i.Mode), strconv.FormatInt(i.Stats.RowsRead, 10), strconv.FormatInt(i.Stats.RowsWritten, 10))
	if i.Mode == job.Streaming {
		values = append(values, strconv.FormatInt(i.Stats.Checkpoints, 10), s.instant(i.Stats.LastCheckpoint), s.watermark(i.Stats.Watermark), lag(i))
	} else {
		values = append(values, "", "", "", "")
	}
	m.add(append(values, i.Stats.Waiting, s.jobError(i))...)
	return m.result(), nil
}

// jobError is why a job has not ended well; "" if it has, or goes on.
func (s *Session) jobError(i exec.Info) string {
	s.mu.Lock()
	w := s.works[i.ID]
	s.mu.Unlock()
	if i.Err == "" || w == nil {
		return ""
	}
	return w.err
}

// instant is a moment of a job as SHOW JOBS prints it; "" for none.
func (s *Session) instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.In(s.Zone()).Format("2006-01-02T15:04:05.000")
}

func (s *Session) watermark(t time.Time) string {
	if t.Equal(exec.FinalWatermark()) {
		return "the end of the input"
	}
	return s.instant(t)
}

// lag is how far a running job is behind the clock.
func lag(i exec.Info) string {
	if i.State.Final() {
		return ""
	}
	return i.Stats.Lag.Round(time.Millisecond).String()
}

// jobInfo finds a job of this process.
func (s *Session) jobInfo(id *sqlparse.Literal) (exec.Info, error) {
	for _, i := range s.runtime.Jobs() {
		if i.ID.String() == strings.ToLower(id.Text) {
			return i, nil
		}
	}
	return exec.Info{}, &sqlparse.Error{Span: id.Span(), Msg: fmt.Sprintf("Job %s does not exist in this process.", id.Text), Hint: "SHOW JOBS lists them"}
}

// stopJob ends a job: a streaming job with a last checkpoint, a batch job by a cancel.
func (s *Session) stopJob(ctx context.Context, st *sqlparse.StopJob) (*Result, error) {
	if st.Savepoint != (sqlparse.Span{}) {
		return nil, &sqlparse.Error{Span: st.Savepoint, Msg: "STOP JOB WITH SAVEPOINT is not supported yet",
			Hint: "STOP JOB alone ends the job with a last checkpoint: what it has written is committed"}
	}
	i, err := s.jobInfo(st.ID)
	if err != nil {
		return nil, err
	}
	j, ok := s.runtime.Job(i.ID)
	if !ok {
		i, _ = s.jobInfo(st.ID)
		return nil, refuse(st.ID.Span(), "Job %s has ended: it is %s.", i.ID, i.State)
	}
	s.claim(i.ID)
	s.setCurrent(j)
	defer s.setCurrent(nil)
	defer func() {
		if ctx.Err() != nil && !j.State().Final() {
			s.unclaim(i.ID)
		}
	}()
	if i.Mode == job.Batch {
		j.Cancel()
		err := j.Wait(ctx)
		if ended := (*exec.Error)(nil); errors.As(err, &ended) && ended.State == exec.Canceled {
			return &Result{Kind: OK, Message: fmt.Sprintf("Job %s is CANCELED and has written nothing.", i.ID)}, nil
		}
		if err != nil {
			return nil, err
		}
	} else if err := j.Stop(ctx); err != nil {
		return nil, err
	}
	return &Result{Kind: OK, Message: fmt.Sprintf("Job %s is %s, %s written.", i.ID, j.State(), rowsText(j.Rows()))}, nil
}

func rowsText(n int64) string {
	if n == 1 {
		return "1 row"
	}
	return strconv.FormatInt(n, 10) + " rows"
}

func jobColumns() []string { return []string{"job id", "job name", "status", "start time"} }

func (s *Session) jobRow(i exec.Info) []any {
	return []any{i.ID.String(), i.Name, string(i.State), s.instant(i.Start)}
}
