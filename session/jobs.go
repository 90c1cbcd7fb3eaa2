package session

import (
	"context"
	"fmt"
	"math/rand/v2"
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
		},
	}
}

// submit sends a plan down the one road to running it: graph, bytes, runtime.
func (s *Session) submit(ctx context.Context, x *execution, plan *planner.Plan) (*exec.Job, error) {
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
	j, err := s.runtime.Submit(ctx, encoded)
	if err != nil {
		return nil, err
	}
	s.setCurrent(j)
	return j, nil
}

// await waits for a job's end. When ctx ends first the job is canceled, and the wait goes on until its
// hooks have run: the error tells how it truly ended, which may be well.
func await(ctx context.Context, j *exec.Job) error {
	err := j.Wait(ctx)
	if ctx.Err() != nil {
		j.Cancel()
		err = j.Wait(context.WithoutCancel(ctx))
	}
	return err
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
		Waiting: stats.Waiting, Committing: j.Committing(), Elapsed: s.env.Clock().Sub(began),
	}, true
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

// describeJob gives one line of SHOW JOBS.
func (s *Session) describeJob(st *sqlparse.DescribeJob) (*Result, error) {
	m := newMetadata(jobColumns()...)
	for _, j := range s.runtime.Jobs() {
		if j.ID.String() == strings.ToLower(st.ID.Text) {
			m.add(s.jobRow(j)...)
			return m.result(), nil
		}
	}
	return nil, &sqlparse.Error{Span: st.ID.Span(), Msg: fmt.Sprintf("Job %s does not exist in this process.", st.ID.Text), Hint: "SHOW JOBS lists them"}
}

func jobColumns() []string { return []string{"job id", "job name", "status", "start time"} }

func (s *Session) jobRow(j exec.Info) []any {
	return []any{j.ID.String(), j.Name, string(j.State), j.Start.In(s.Zone()).Format("2006-01-02T15:04:05.000")}
}
