package repl

import (
	"context"
	"time"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/session"
)

// engine is what the shell needs of a session.
type engine interface {
	Execute(context.Context, session.Text) (*session.Result, rows, error)
	Option(key string) string
	// IntOption is the value of an option whose type is Integer.
	IntOption(key string) int
	Progress() (session.Progress, bool)
	// LockWait is the longest wait for a lock that lasts at the moment.
	LockWait() (session.LockWait, bool)
	// UsedBy says what keeps its rows in the database file at a path; "" when nothing does.
	UsedBy(ctx context.Context, path string) string
	// Masked returns a statement's text without its secrets.
	Masked(sql string) string
	// Zone is the session's time zone.
	Zone() *time.Location

	// The jobs in the background; see the session's methods.
	RunningJobs() []session.RunningJob
	AwaitJobs(context.Context) error
	StopJobs(context.Context) error
	OnJobEnd(func(session.JobEnd))
}

// rows are the rows of a result.
type rows interface {
	Next(context.Context) (*column.Batch, error)
	Close() error
	Time() time.Duration
}

// live is the engine that a real session is.
type live struct{ *session.Session }

func (l live) Execute(ctx context.Context, t session.Text) (*session.Result, rows, error) {
	r, err := l.Session.Execute(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	return r, r, nil
}
