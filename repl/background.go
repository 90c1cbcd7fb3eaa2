package repl

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sluice-sql/sluice/session"
)

// background is what a shell knows of jobs that no statement waits for.
type background struct {
	watched    bool         // somebody sees the shell: it says that jobs have ended well, too
	jobsFailed atomic.Int64 // since the shell began
}

// leaveWithin is how long jobs may take to stop when a signal ends the shell.
const leaveWithin = 10 * time.Second

// jobEnded says how a job in the background has ended: above the prompt, where one shows. It is called from
// the job's goroutine.
func (sh *shell) jobEnded(e session.JobEnd) {
	job := "Job " + e.Job.String() + " (" + e.Name + ")"
	switch {
	case e.Err == nil:
		if sh.watched {
			sh.screen.message(visible(fmt.Sprintf("[INFO] %s is %s, %s written.\n", job, e.State, count(e.Rows))))
		}
	case e.Err.Canceled:
		sh.screen.message(visible(fmt.Sprintf("[INFO] %s was %s.\n", job, e.Err.Msg)))
	default:
		sh.jobsFailed.Add(1)
		text := e.Err.Render()
		if text == "" {
			text = e.Err.Error() + "\n"
		}
		if e.Rows > 0 {
			text += fmt.Sprintf("What had been committed by then, %s, was not taken back.\n", count(e.Rows))
		}
		sh.screen.message(visible(fmt.Sprintf("[ERROR] %s is %s. Reason:\n%s", job, e.State, text)))
	}
}

// settle ends the jobs that are left at a script's end: it waits for them where the script has come to its
// end, also because nobody reads its rows any more, until a signal stops them; an error or a signal that
// ended the script ends them too.
func (sh *shell) settle(ctx context.Context, out outcome) outcome {
	if jobs := sh.engine.RunningJobs(); len(jobs) > 0 {
		what := jobsText(jobs)
		if out == done || out == quit || out == unread {
			sh.screen.message("[INFO] Waiting for " + what + " to end; Ctrl-C stops " + itOrThem(jobs) + ", keeping what has been committed.\n")
			ctx, release := sh.signals.begin(ctx)
			stop := sh.watch()
			if err := sh.engine.AwaitJobs(ctx); err != nil {
				out = canceled
				sh.stopJobs(context.WithoutCancel(ctx))
			}
			stop()
			release()
		} else {
			sh.screen.message("[INFO] Stopping " + what + ", keeping what has been committed.\n")
			sh.stopJobs(ctx)
		}
	}
	if err := sh.screen.Flush(); err != nil && (out == done || out == quit) {
		return sh.unwritable(err)
	}
	if sh.jobsFailed.Load() > 0 && (out == done || out == quit) {
		return failed // the error has been printed
	}
	return out
}

// stopJobs stops the jobs in the background, and leaves those that take too long to the session's end.
func (sh *shell) stopJobs(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, leaveWithin)
	defer cancel()
	if err := sh.engine.StopJobs(ctx); err != nil {
		why := ""
		for _, j := range sh.engine.RunningJobs() {
			if j.Held != "" {
				why += "; job " + j.ID.String() + " is waiting for " + j.Held
			}
		}
		sh.screen.message(visible(fmt.Sprintf("[WARN] Not every job has stopped within %s%s; the session ends them without a last checkpoint.\n", leaveWithin, why)))
	}
}

// jobsText names jobs, and counts them when they are many.
func jobsText(jobs []session.RunningJob) string {
	if len(jobs) == 1 {
		return "job " + jobs[0].ID.String() + " (" + jobs[0].Name + ")"
	}
	if len(jobs) > 3 {
		return strconv.Itoa(len(jobs)) + " running jobs"
	}
	names := make([]string, len(jobs))
	for i, j := range jobs {
		names[i] = j.ID.String() + " (" + j.Name + ")"
	}
	return "the jobs " + strings.Join(names, ", ")
}

func itOrThem(jobs []session.RunningJob) string {
	if len(jobs) == 1 {
		return "it"
	}
	return "them"
}

// mayLeave reports whether the user may go: jobs that run are stopped only when he says so. ask puts a
// question and returns the answer, "" for none.
func (sh *shell) mayLeave(ctx context.Context, ask func(question string) string) bool {
	jobs := sh.engine.RunningJobs()
	if len(jobs) == 0 {
		return true
	}
	text := jobsText(jobs)
	verb := " runs"
	if len(jobs) > 1 {
		verb = " run"
	}
	sh.screen.message("[INFO] " + firstUpper(text) + verb + ". Leaving stops " + itOrThem(jobs) + ", keeping what has been committed.\n")
	switch strings.ToLower(strings.TrimSpace(ask("Leave? [y/N] "))) {
	case "y", "yes":
		sh.leave(ctx)
		return true
	}
	if sh.signals.ended() == nil {
		sh.screen.message("[INFO] Staying. SHOW JOBS; lists the jobs, STOP JOB 'id'; stops one.\n")
	}
	return false
}

// leave stops what runs in the background, as the shell is going to end.
func (sh *shell) leave(ctx context.Context) {
	if len(sh.engine.RunningJobs()) == 0 {
		return
	}
	ctx, release := sh.signals.begin(ctx)
	defer release()
	stop := sh.watch()
	defer stop()
	sh.stopJobs(context.WithoutCancel(ctx))
}
