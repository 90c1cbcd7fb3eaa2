package postgres

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/internal/failpoint"
)

// Names of what a transaction makes for itself, in pg_temp or in the staging table.
const (
	rowsTable = ours + "_rows"
	keysTable = ours + "_keys"
	rowNumber = ours + "_n"
	rowPlace  = ours + "_place"
)

// work is what a kind of write does within a transaction.
type work interface {
	// begin checks the target, takes the locks and makes what rows are copied into.
	begin(ctx context.Context, t *Transaction, job connector.JobID) error
	// write stores the rows.
	write(ctx context.Context, t *Transaction, next func() (*column.Batch, error)) error
	// seal makes the rows ready for COMMIT and returns how many were stored.
	seal(ctx context.Context, t *Transaction) (int64, error)
}

// Transaction writes one table, all or nothing: it is one transaction of one session. See the package's doc.
type Transaction struct {
	server   *Server
	database string
	work     work
	note     func(string) error

	mu      sync.Mutex
	begun   bool
	sealed  bool
	ended   bool
	outcome connector.Outcome // valid when ended
	err     error             // the first error: nothing is written after it
	rows    int64             // of Seal
	refused error             // found by Seal, and Commit's to say
	c       *conn
	writer  bool // one is in use
}

var (
	_ connector.Transaction = (*Transaction)(nil)
	_ connector.Evident     = (*Transaction)(nil)
)

// Key names server and user.
func (t *Transaction) Key() string { return t.server.Key() }

// NoteEvidence keeps what is called before COMMIT.
func (t *Transaction) NoteEvidence(note func(string) error) { t.note = note }

// Begin opens the transaction on the server. Others see nothing of it.
func (t *Transaction) Begin(ctx context.Context, job connector.JobID) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.begun {
		return errors.New("the transaction has begun before")
	}
	t.begun = true
	if err := t.begin(ctx, job); err != nil {
		return t.poison(err)
	}
	return nil
}

func (t *Transaction) begin(ctx context.Context, job connector.JobID) (err error) {
	if t.c, err = t.server.connect(ctx, t.database); err != nil {
		return err
	}
	if err := failpoint.Hit("begin.lock"); err != nil {
		return err
	}
	// What is reported as done is on disk, whatever the default is.
	if _, err = t.c.exec(ctx, "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE; SELECT pg_catalog.set_config('synchronous_commit', 'on', true) WHERE pg_catalog.current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')"); err != nil {
		return err
	}
	if err := t.work.begin(ctx, t, job); err != nil {
		return err
	}
	return failpoint.Hit("begin.staged")
}

// Writer returns the one writer.
func (t *Transaction) Writer(context.Context, int) (connector.Writer, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.err != nil:
		return nil, t.err
	case !t.begun || t.sealed || t.ended:
		return nil, errors.New("no transaction is open for writing")
	case t.writer:
		return nil, errors.New("a transaction of PostgreSQL has one writer at a time")
	}
	t.writer = true
	return &writer{t}, nil
}

type writer struct{ t *Transaction }

// Write copies all rows that next yields.
func (w *writer) Write(ctx context.Context, next func() (*column.Batch, error)) error {
	t := w.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return t.err
	}
	if t.ended || t.sealed {
		return errors.New("the transaction is not open for writing any more")
	}
	err := t.work.write(ctx, t, func() (*column.Batch, error) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return next()
	})
	if err != nil {
		return t.poison(err)
	}
	return nil
}

// Close ends the writer; what it wrote stays in the transaction.
func (w *writer) Close() error {
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	w.t.writer = false
	return nil
}

// poison keeps the first error, and ends the session, by which the server rolls back.
func (t *Transaction) poison(err error) error {
	t.err = err
	t.c.close()
	t.c = nil
	return err
}

// Seal makes the rows ready for COMMIT: constraints that were deferred are checked, the table has its name, and all
// locks that COMMIT needs are held.
func (t *Transaction) Seal(ctx context.Context) (int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.err != nil:
		return 0, t.err
	case t.sealed:
		return t.rows, nil
	case !t.begun || t.ended:
		return 0, errors.New("no transaction is open")
	case ctx.Err() != nil:
		return 0, t.poison(context.Cause(ctx))
	}
	if err := failpoint.Hit("seal.before"); err != nil {
		return 0, t.poison(err)
	}
	rows, err := t.work.seal(ctx, t)
	if err == nil && t.refused == nil {
		_, err = t.c.exec(ctx, "SET CONSTRAINTS ALL IMMEDIATE")
	}
	if err == nil {
		err = failpoint.Hit("seal.fsynced")
	}
	if err != nil {
		return 0, t.poison(err)
	}
	t.rows, t.sealed = rows, true
	return rows, nil
}

// Commit publishes the rows.
func (t *Transaction) Commit(ctx context.Context) (connector.Outcome, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if out, err, ok := connector.Settled(t.sealed, t.ended, t.outcome, t.err); ok {
		return out, err
	}
	if t.refused != nil {
		return connector.NotDone, t.poison(t.refused)
	}
	returned := false
	defer func() {
		if !returned { // a panic: nobody knows how far it came
			t.ended, t.outcome = true, connector.Unknown
			_ = t.poison(errors.New("the commit was broken off"))
		}
	}()
	out, err := t.server.commit(ctx, t.c, t.note)
	returned = true
	t.c.close()
	t.c = nil
	switch out {
	case connector.Done:
		t.ended, t.outcome = true, out
		// A failure from here on changes nothing.
		_ = failpoint.Hit("publish.done")
		return out, err
	case connector.Unknown:
		t.ended, t.outcome = true, out
	}
	t.err = err
	return out, err
}

// Abort ends the session, by which the server rolls back.
func (t *Transaction) Abort(context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended && t.outcome != connector.NotDone {
		return nil // committed, or not to be touched
	}
	t.ended, t.outcome = true, connector.NotDone
	if t.err == nil {
		t.err = errors.New("the transaction was aborted")
	}
	t.c.close()
	t.c = nil
	return nil
}

// lostRows is the error of rows that the store did not keep.
func lostRows(lost, sent int64, what string, info *tableInfo) error {
	why := ""
	if info != nil {
		why = info.hooks()
	}
	return fmt.Errorf("%s of %s rows were not %s%s", groups(lost), groups(sent), what, why)
}

// hooks names what may keep a row from being stored or removed, with a semicolon in front; "" when there is nothing.
func (t *tableInfo) hooks() string {
	switch {
	case len(t.triggers) > 0:
		return "; table " + t.rel.String() + " has triggers: " + strings.Join(t.triggers, ", ")
	case len(t.rules) > 0:
		return "; table " + t.rel.String() + " has rules: " + strings.Join(t.rules, ", ")
	}
	return ""
}

// groups prints 1000000 as 1,000,000.
func groups(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// stagingName is the name of a table while it is written. Its random end keeps two transactions of one job apart.
func stagingName(job connector.JobID) string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails
	return ours + "_" + job.String() + "_" + hex.EncodeToString(b[:])
}
