package mysql

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
)

const (
	lockPatience = 200 * time.Millisecond // of a wait before it is told
	holderWait   = time.Second            // for the server to say who has a lock
)

// LockedError says that a table was still in the hands of others when the wait for it ended.
type LockedError struct {
	Table, Holder string
	Err           error
}

// Error says who has the table, where the server tells.
func (e *LockedError) Error() string {
	who := e.Holder
	if who == "" {
		who = " by other sessions"
	}
	return "table " + e.Table + " is in use" + who
}

// Unwrap returns why the wait has ended.
func (e *LockedError) Unwrap() error { return e.Err }

// awaitUsers waits until nobody uses the table that is to give way, as the RENAME has to: here a cancel is heard. Who
// comes between here and there is waited for by the RENAME. Without the right to lock the table all of them are.
func (t *staged) awaitUsers(ctx context.Context) error {
	if t.old == nil {
		return nil
	}
	if _, err := t.c.exec(ctx, fmt.Sprintf("SET SESSION lock_wait_timeout=%d", publishWait)); err != nil {
		return err
	}
	err := t.c.watched(ctx, t.database, t.name, func(ctx context.Context) error {
		_, err := t.c.exec(ctx, "LOCK TABLES "+qualified(t.database, t.name)+" WRITE")
		return err
	})
	switch {
	case isDenied(err):
		return nil
	case numberOf(err) == errNoSuchTable:
		return fmt.Errorf("%w: %s", server.ErrChanged, t.name)
	case err != nil:
		return err
	}
	_, err = t.c.exec(ctx, "UNLOCK TABLES")
	return err
}

// watched runs f, a statement of c that may have to wait for those who use a table. Whoever waits for us is told of it,
// and so is whoever ends the wait.
func (c *conn) watched(ctx context.Context, database, table string, f func(context.Context) error) error {
	place := table + " (" + database + " on " + c.s.addr() + ")"
	holder := func() string { return c.s.holder(database, table, c.id) }
	begun := make(chan func(), 1)
	timer := time.AfterFunc(lockPatience, func() {
		begun <- connector.WaitsOf(ctx).Begin("table "+place, holder)
	})
	held := ""
	asked := make(chan struct{})
	// The holder is asked for before the wait is ended: afterwards it may have gone.
	inner, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	off := context.AfterFunc(ctx, func() {
		defer close(asked)
		held = holder()
		end(context.Cause(ctx))
	})
	err := f(inner)
	if !off() {
		<-asked
	}
	if !timer.Stop() {
		(<-begun)()
	}
	switch {
	case err != nil && ctx.Err() != nil && held != "":
		return &LockedError{place, held, context.Cause(ctx)}
	case numberOf(err) == errLockWait:
		return &LockedError{place, holder(), err}
	}
	return err
}

// holder says who uses a table, beside a session of ours; "" when the server does not tell.
func (s *Server) holder(database, table string, session uint64) string {
	ctx, stop := context.WithTimeout(context.Background(), holderWait)
	defer stop()
	var who []string
	_ = s.with(ctx, "", func(c *conn) error {
		// MariaDB tells by a plugin, or as MySQL does where its performance_schema is on.
		for _, query := range []string{
			"SELECT DISTINCT p.ID, p.USER, p.HOST FROM information_schema.METADATA_LOCK_INFO l JOIN information_schema.PROCESSLIST p ON p.ID = l.THREAD_ID WHERE l.TABLE_SCHEMA = %s AND l.TABLE_NAME = %s ORDER BY 1",
			"SELECT DISTINCT t.PROCESSLIST_ID, t.PROCESSLIST_USER, t.PROCESSLIST_HOST FROM performance_schema.metadata_locks l JOIN performance_schema.threads t ON t.THREAD_ID = l.OWNER_THREAD_ID WHERE l.OBJECT_TYPE = 'TABLE' AND l.LOCK_STATUS = 'GRANTED' AND l.OBJECT_SCHEMA = %s AND l.OBJECT_NAME = %s ORDER BY 1",
		} {
			rows, err := c.query(ctx, fmt.Sprintf(query, literal(database), literal(table)))
			for _, r := range rows {
				if r[0].text != strconv.FormatUint(session, 10) {
					who = append(who, "session "+r[0].text+" of "+c.s.scrub(r[1].text+" at "+r[2].text))
				}
			}
			if err == nil && len(who) > 0 {
				break
			}
		}
		return nil
	})
	if len(who) == 0 {
		return ""
	}
	return " by " + strings.Join(who, " and ")
}
