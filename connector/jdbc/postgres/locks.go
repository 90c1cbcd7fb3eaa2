package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sluice-sql/sluice/connector"
)

// How long a statement may take before it is taken for one that waits for a lock, and how long the server is asked
// who has it.
const (
	lockPatience = 200 * time.Millisecond
	holderWait   = time.Second
)

// LockedError says that a wait for a lock was ended.
type LockedError struct {
	What   string // what is locked
	Holder string // by whom, such as " by process 12 (psql) of ann"
	Err    error  // that of the context
}

// Error says who has the lock.
func (e *LockedError) Error() string {
	who := e.Holder
	if who == "" {
		who = " by another session"
	}
	return e.What + " is locked" + who
}

// Unwrap returns the error of the context.
func (e *LockedError) Unwrap() error { return e.Err }

// locked runs f, statements of c that may have to wait for a lock on a table. The wait is noted where those who wait
// for us are told, and ends with ctx.
func (c *conn) locked(ctx context.Context, table string, f func(context.Context) error) error {
	what := fmt.Sprintf("table %s (%s)", table, c.s.place(c.database))
	pid := c.pc.PID()
	holder := func() string { return c.s.holder(c.database, pid) }
	noted := make(chan func(), 1)
	timer := time.AfterFunc(lockPatience, func() {
		// Once it is known to wait: a statement that only takes long has nobody in its way.
		if holder() != "" {
			noted <- connector.WaitsOf(ctx).Begin(what, holder)
			return
		}
		noted <- func() {}
	})
	held := ""
	asked := make(chan struct{})
	// The holder is asked for before the wait is ended, as afterwards nobody waits for it.
	inner, end := context.WithCancelCause(context.WithoutCancel(ctx))
	off := context.AfterFunc(ctx, func() {
		defer close(asked)
		held = holder()
		end(context.Cause(ctx))
	})
	err := f(inner)
	if !off() {
		<-asked
		if held != "" {
			err = &LockedError{what, held, context.Cause(ctx)}
		}
	}
	end(nil)
	if !timer.Stop() {
		(<-noted)()
	}
	return err
}

// holder says who keeps a session waiting, "" when nobody does or it cannot be told.
func (s *Server) holder(database string, pid uint32) string {
	ctx, stop := context.WithTimeout(context.Background(), holderWait)
	defer stop()
	var who []string
	_ = s.with(ctx, database, func(c *conn) (err error) {
		who, err = c.texts(ctx, `SELECT 'process ' OPERATOR(pg_catalog.||) b.pid OPERATOR(pg_catalog.||) coalesce(' (' OPERATOR(pg_catalog.||) nullif(a.application_name, '') OPERATOR(pg_catalog.||) ')', '') OPERATOR(pg_catalog.||) coalesce(' of ' OPERATOR(pg_catalog.||) a.usename, '')
FROM pg_catalog.unnest(pg_catalog.pg_blocking_pids($1::int4)) AS b(pid) LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = b.pid ORDER BY b.pid`, int(pid))
		return err
	})
	if len(who) == 0 {
		return ""
	}
	return " by " + strings.Join(who, " and ")
}
