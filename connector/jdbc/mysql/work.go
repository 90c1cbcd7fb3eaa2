package mysql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/internal/failpoint"
)

// work writes rows of a table that is there, in one InnoDB transaction.
type work struct {
	session
	table     *table
	columns   []target
	overwrite bool   // the rows there are go first
	conflict  string // what happens to a row whose key is there
	ignore    bool   // such a row is dropped
	key       []int  // of an upsert: the columns by which rows are deleted
	modify    *modification
}

var _ connector.Transaction = (*work)(nil)
var _ connector.Evident = (*work)(nil)

// Begin opens the session of the job and its transaction.
func (w *work) Begin(ctx context.Context, job connector.JobID) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.begin(ctx, job)
	if err != nil {
		w.fail(err)
	}
	return err
}

func (w *work) begin(ctx context.Context, job connector.JobID) error {
	if err := w.enter(ctx, job, w.modify != nil && w.modify.set != nil); err != nil {
		return err
	}
	now, err := w.c.present(ctx, w.database, w.name)
	if err != nil {
		return err
	}
	if err := w.unchanged(now); err != nil {
		return err
	}
	if err := now.writable(ctx, w.c); err != nil {
		return err
	}
	if err := w.mark(ctx); err != nil {
		return err
	}
	into := qualified(w.database, w.name)
	if w.modify != nil {
		if into, err = w.modify.prepare(ctx, w); err != nil {
			return err
		}
	}
	// Without autocommit a statement after one that ended the transaction cannot commit by itself.
	if !failpoint.Mutant("autocommit-leak") {
		if _, err := w.c.exec(ctx, "SET SESSION autocommit=0"); err != nil {
			return err
		}
	}
	if err := w.pin(ctx); err != nil {
		return err
	}
	if w.overwrite {
		if _, err := w.c.exec(ctx, "DELETE FROM "+into); err != nil {
			return fmt.Errorf("table %s: %w", w.name, err)
		}
	}
	if w.modify != nil {
		if err := w.modify.hold(ctx, w); err != nil {
			return err
		}
	}
	w.load = newLoader(w.c, into, w.name, w.columns, w.conflict)
	return failpoint.Hit("begin.staged")
}

// mark makes the mark that gets a row in the transaction, where somebody would ask for it and the user has the rights
// to make one, and to remove it. Without it a COMMIT whose answer is lost stays in doubt.
func (w *work) mark(ctx context.Context) error {
	if w.note == nil {
		return nil
	}
	if kind, err := w.c.cluster(ctx); err != nil || kind != "" {
		return err // nobody could sweep it
	}
	if lacks, err := w.c.lacks(ctx, w.database, ownName(w.job, markName), "DROP", "INSERT", "SELECT"); err != nil || len(lacks) > 0 {
		return err
	}
	if err := w.makeMark(ctx, ""); !isDenied(err) {
		return err
	}
	return nil
}

// pin keeps others from altering the table until the transaction ends, by having read it, and makes sure that nobody
// has since it was looked at: a narrower column would round what is meant for the wider one.
func (w *work) pin(ctx context.Context) error {
	if _, err := w.c.query(ctx, "SELECT 1 FROM "+qualified(w.database, w.name)+" LIMIT 0"); err != nil {
		return fmt.Errorf("table %s: %w", w.name, err)
	}
	now, err := w.c.present(ctx, w.database, w.name)
	if err != nil {
		return err
	}
	return w.unchanged(now)
}

// unchanged makes sure that the columns are still what was planned for.
func (w *work) unchanged(now *table) error {
	for _, g := range w.columns {
		had, planned := now.column(g.name), w.table.column(g.name)
		if planned == nil { // of a modification's own table
			continue
		}
		if had == nil || had.text != planned.text || had.generated != planned.generated || had.nullable != planned.nullable || had.collation != planned.collation {
			return fmt.Errorf("table %s: column %s was altered or dropped by another session", w.name, g.name)
		}
	}
	if w.conflict == "" {
		return nil
	}
	if !slices.Equal(now.primary(), w.table.primary()) {
		return fmt.Errorf("table %s: its PRIMARY KEY was altered by another session", w.name)
	}
	return now.replaceable(w.c.collation())
}

// Writer returns a writer.
func (w *work) Writer(context.Context, int) (connector.Writer, error) {
	return w.writer(func(ctx context.Context, b *column.Batch) error {
		if w.key != nil {
			return w.upsert(ctx, b)
		}
		return w.load.add(ctx, b)
	})
}

// Seal sends what is left, and checks that the server stored every row.
func (w *work) Seal(ctx context.Context) (int64, error) { return w.sealOnce(ctx, w.seal) }

func (w *work) seal(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := failpoint.Hit("write.flush"); err != nil {
		return err
	}
	if err := w.load.flush(ctx); err != nil {
		return err
	}
	w.stored = w.load.sent
	switch {
	case w.ignore:
		w.stored = w.load.affected
	case w.modify != nil:
		if err := w.modify.apply(ctx, w); err != nil {
			return err
		}
	case w.conflict == "" && w.load.affected != w.load.sent:
		return fmt.Errorf("%d of %d rows were not stored in table %s", w.load.sent-w.load.affected, w.load.sent, w.name)
	}
	if w.marked {
		if _, err := w.c.exec(ctx, "INSERT INTO "+qualified(w.database, ownName(w.job, markName))+" VALUES (1)"); err != nil {
			return err
		}
	}
	return failpoint.Hit("seal.before")
}

// Commit commits the transaction.
func (w *work) Commit(ctx context.Context) (connector.Outcome, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if out, err, ok := w.settled(); ok {
		return out, err
	}
	return w.unbroken(func() (connector.Outcome, error) { return w.commit(context.WithoutCancel(ctx)) })
}

func (w *work) commit(ctx context.Context) (connector.Outcome, error) {
	e := evidence{Job: w.job, Database: w.database, Table: w.name, Since: w.since}
	if w.marked {
		if err := w.noted(e); err != nil {
			return connector.NotDone, w.fail(err)
		}
	}
	if err := failpoint.Hit("publish.before"); err != nil {
		return connector.NotDone, w.fail(err)
	}
	err := w.c.last(ctx, "COMMIT")
	if err == nil {
		err = failpoint.Hit("publish.sent")
	}
	if err != nil {
		if out, err := w.ask(ctx, e, err); out != connector.Done {
			return w.outcomeOf(out, err)
		}
	}
	_, _ = w.finish(connector.Done, nil)
	if err := failpoint.Hit("publish.done"); err != nil {
		w.leave()
		return connector.Done, nil
	}
	w.clear(ctx)
	return connector.Done, nil
}

// outcomeOf settles a commit that was not, or that cannot be known.
func (t *session) outcomeOf(out connector.Outcome, err error) (connector.Outcome, error) {
	if out == connector.Unknown {
		out, err = t.finish(out, err)
		t.leave()
		return out, err
	}
	return out, t.fail(err)
}

// ask finds out what became of a COMMIT that failed, or whose answer was lost.
func (w *work) ask(ctx context.Context, e evidence, cause error) (connector.Outcome, error) {
	cause = fmt.Errorf("table %s: %w", w.name, cause)
	switch n := numberOf(cause); {
	case n == errDeadlock || n == errLockWait:
		return connector.NotDone, cause
	case !w.marked:
		w.hangUp()
		return connector.Unknown, fmt.Errorf("whether the rows were committed cannot be told, since the job has no mark on the server: %w", cause)
	}
	return w.look(ctx, e, cause)
}

// look has another session find out what became of a commit, before which the job's own ends.
func (t *session) look(ctx context.Context, e evidence, cause error) (connector.Outcome, error) {
	ctx, stop := context.WithTimeout(ctx, lookTime)
	defer stop()
	out, err := t.s.look(ctx, e, t.hangUp)
	t.hangUp()
	if out == connector.NotDone && err == nil {
		err = cause
	}
	return out, err
}

// hangUp closes a session whose link is lost, without a word.
func (t *session) hangUp() {
	if t.c != nil {
		_ = t.c.raw.Close()
		_ = t.c.dc.Close()
		t.c = nil
	}
	t.load = nil
}

// clear drops the mark of a transaction that is committed. What stays is swept later.
func (w *work) clear(ctx context.Context) {
	ctx, stop := context.WithTimeout(ctx, abortTime)
	defer stop()
	defer w.leave()
	if w.known(connector.Done) == nil {
		_ = w.dropOwn(ctx, markName, w.marked)
	}
}

// dropOwn drops a table of the job's own.
func (t *session) dropOwn(ctx context.Context, ending string, made bool) error {
	if !made {
		return nil
	}
	return t.cleanUp(ctx, ending, func(c *conn) error { return c.dropOwn(ctx, t.database, t.job, ending) })
}

// cleanUp does away with a table of the job's own, by the job's session or by another one that has got its lock.
func (t *session) cleanUp(ctx context.Context, ending string, drop func(*conn) error) error {
	if err := failpoint.Hit("cleanup.before"); err != nil {
		return err
	}
	var kept *KeptError
	if t.c != nil {
		_, err := t.c.exec(ctx, "SET SESSION lock_wait_timeout=10")
		if err == nil {
			err = drop(t.c)
		}
		switch {
		case err == nil:
			return failpoint.Hit("cleanup.mid")
		case errors.As(err, &kept):
			return kept
		}
		t.hangUp()
	}
	err := t.s.with(ctx, "", func(c *conn) error {
		got, err := c.lock(ctx, lockName(t.job), abortTime)
		if err == nil && !got {
			err = errors.New("the job's session on the server has not ended")
		}
		if err == nil {
			err = drop(c)
		}
		return err
	})
	if errors.Is(err, context.DeadlineExceeded) {
		err = &LinkError{t.s.addr(), fmt.Sprintf("no answer within %d seconds", int(abortTime.Seconds()))}
	}
	if errors.As(err, &kept) {
		return kept
	}
	if err != nil {
		return fmt.Errorf("table %s of the job is left on the server until the next use of the catalog: %w", ownName(t.job, ending), err)
	}
	return failpoint.Hit("cleanup.mid")
}

// Abort rolls back, and removes what the transaction made beside the table.
func (w *work) Abort(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended && w.outcome != connector.NotDone {
		return nil // committed, or not to be touched
	}
	w.ended, w.outcome = true, connector.NotDone
	w.fail(errors.New("the transaction was aborted"))
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), abortTime)
	defer stop()
	defer w.leave()
	var stays error
	if w.c != nil {
		if _, err := w.c.exec(ctx, "ROLLBACK"); err != nil {
			w.hangUp() // the server rolls back
		} else {
			stays = w.stays(ctx)
		}
	}
	if err := w.known(connector.NotDone); err != nil {
		return err
	}
	marked := w.marked
	w.marked = false
	return errors.Join(stays, w.dropOwn(ctx, markName, marked))
}

// stays tells of what the ROLLBACK before could not undo. The table itself has transactions; which tables its triggers
// write to nobody says beforehand.
func (w *work) stays(ctx context.Context) error {
	rows, err := w.c.query(ctx, "SHOW WARNINGS")
	if err != nil {
		return nil // the rows are gone, which is what was asked for
	}
	for _, r := range rows {
		if len(r) > 1 && r[1].text == strconv.Itoa(errNotRolledBack) {
			return fmt.Errorf("a trigger of table %s has written to tables without transactions, such as those of MyISAM: the table is as it was, and what the trigger wrote there stays", w.name)
		}
	}
	return nil
}
