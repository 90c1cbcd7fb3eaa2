package session

import (
	"context"
	"time"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/exec"
	"github.com/sluice-sql/sluice/job"
)

// work is what a session knows of a job beside what the runtime does.
type work struct {
	x *execution // nil once the job has ended
	// background says that no statement waits for the job, so that its end is told to whoever listens.
	background bool
	job        *exec.Job // in the background; nil once it has ended
	err        string    // why it has ended otherwise than FINISHED
}

// JobEnd says how a job in the background has ended.
type JobEnd struct {
	Job   connector.JobID
	Name  string
	State string // as SHOW JOBS prints it
	Rows  int64  // that were written
	Err   *Error // nil if it is FINISHED
}

// RunningJob is a job in the background that has not ended.
type RunningJob struct {
	ID   connector.JobID
	Name string
	// Streaming says that stopping the job keeps what it has read; a batch job leaves nothing.
	Streaming bool
	// Held is what others hold that the job waits for; empty if it does not.
	Held string
}

// OnJobEnd has f called when a job in the background has ended, from any goroutine, before [Session.AwaitJobs]
// returns. There is one such f; nil takes it away.
func (s *Session) OnJobEnd(f func(JobEnd)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onEnd = f
}

// RunningJobs returns the jobs in the background that have not ended, the oldest first.
func (s *Session) RunningJobs() []RunningJob {
	var list []RunningJob
	for _, j := range s.running() {
		held := ""
		if stats := j.Stats(); stats.Held {
			held = stats.Waiting
		}
		list = append(list, RunningJob{j.ID(), j.Name(), j.Mode() == job.Streaming, held})
	}
	return list
}

// running returns the jobs in the background that have not ended, the oldest first.
func (s *Session) running() []*exec.Job {
	infos := s.runtime.Jobs()
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*exec.Job
	for _, i := range infos {
		if w := s.works[i.ID]; w != nil && w.background && w.job != nil {
			list = append(list, w.job)
		}
	}
	return list
}

// AwaitJobs waits until every job in the background has ended, or until ctx does, whose error it returns.
// How the jobs have ended is told to the function of OnJobEnd.
func (s *Session) AwaitJobs(ctx context.Context) error {
	defer s.setCurrent(nil)
	for {
		list := s.running()
		if len(list) == 0 {
			return ctx.Err()
		}
		s.setCurrent(list[0])
		_ = list[0].Wait(ctx) // its error is told by ended
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// StopJobs ends every job in the background: a streaming job with a last checkpoint, after which it is
// FINISHED; a batch job is canceled and leaves nothing. It returns when they have ended, or when ctx does,
// whose error it returns; then they go on ending.
func (s *Session) StopJobs(ctx context.Context) error {
	list := s.running()
	for _, j := range list {
		if j.Mode() == job.Batch {
			j.Cancel()
			continue
		}
		go func() { _ = j.Stop(ctx) }() // its error is told by ended
	}
	defer s.setCurrent(nil)
	for _, j := range list {
		s.setCurrent(j)
		if _ = j.Wait(ctx); ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// begun notes what a job is for, before it is submitted.
func (s *Session) begun(id connector.JobID, x *execution, background bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.works[id] = &work{x: x, background: background}
}

// neverBegan forgets a job that could not be submitted.
func (s *Session) neverBegan(id connector.JobID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.works, id)
}

// runs notes a job in the background. It may have ended by now.
func (s *Session) runs(j *exec.Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.works[j.ID()]; w != nil && w.x != nil {
		w.job = j
	}
}

// claim makes the statement at hand the one that tells how a job in the background ends.
func (s *Session) claim(id connector.JobID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.works[id]; w != nil {
		w.background = false
	}
}

// unclaim gives a job back to the background when the statement no longer waits for its end.
func (s *Session) unclaim(id connector.JobID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.works[id]; w != nil && w.x != nil {
		w.background = true
	}
}

// ended is told of the end of every job.
func (s *Session) ended(j *exec.Job) {
	s.mu.Lock()
	w, f := s.works[j.ID()], s.onEnd
	if w == nil || w.x == nil {
		s.mu.Unlock()
		return
	}
	x, background := w.x, w.background
	s.mu.Unlock()

	var shown *Error
	if err := j.Err(); err != nil { // Wait would wait for this very call
		shown = s.fail(x, err)
	}
	s.names.changed()
	if background && f != nil {
		f(JobEnd{j.ID(), j.Name(), string(j.State()), j.Rows(), shown})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w.x, w.job = nil, nil
	if shown != nil {
		w.err = shown.Error()
	} else {
		delete(s.works, j.ID())
	}
}

// background reports whether the job of an INSERT or CREATE TABLE AS runs without the statement waiting.
func (s *Session) background(mode job.Mode) bool {
	switch s.Option(keyDMLSync) {
	case "true":
		return false
	case "false":
		return true
	}
	return mode == job.Streaming
}

// runtimeMode is the mode that was asked for; "" leaves it to the tables that a statement reads.
func (s *Session) runtimeMode() job.Mode {
	switch s.Option(keyRuntimeMode) {
	case "batch":
		return job.Batch
	case "streaming":
		return job.Streaming
	}
	return ""
}

// checkpointInterval is the time between two checkpoints of streaming jobs.
func (s *Session) checkpointInterval() time.Duration {
	d, err := connector.ParseDuration(s.Option(keyCheckpoints))
	if err != nil {
		panic("session: the interval of checkpoints was accepted and cannot be read: " + err.Error())
	}
	return d
}
