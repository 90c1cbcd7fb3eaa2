package filesystem

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/internal/failpoint"
	"github.com/sluice-sql/sluice/types"
)

// transaction adds one file to the directory of a table.
type transaction struct {
	t       *table
	sources []int // for each column of the files the position of its values in the rows given; -1: NULL
	key     string
	fresh   bool // of CREATE TABLE AS: the directory must have no data of others

	mu      sync.Mutex
	begun   bool
	sealed  bool
	ended   bool
	outcome connector.Outcome // valid when ended
	err     error             // the first error: nothing is written after it
	staging *staging
	encoder connector.Encoder
	buf     []byte
	cols    []*column.Vector
	rows    int64
	size    int64 // bytes written
	writer  bool  // one is in use
}

// Transaction returns a transaction that adds rows. It looks at the disk only to refuse a path that is a file.
func (t *table) Transaction(_ context.Context, insert connector.Insert) (connector.Transaction, error) {
	return t.transaction(insert, false)
}

func (t *table) transaction(insert connector.Insert, fresh bool) (connector.Transaction, error) {
	tx := &transaction{t: t, fresh: fresh, sources: make([]int, t.physical)}
	for i := range tx.sources {
		tx.sources[i] = -1
	}
	for i, c := range insert.Columns {
		switch {
		case c >= t.physical && c < len(t.schema.Columns):
			return nil, t.readOnly(c)
		case c < 0 || c >= t.physical:
			return nil, fmt.Errorf("insert into table %s: it has no column at position %d", t.id, c)
		case tx.sources[c] >= 0:
			return nil, fmt.Errorf("insert into table %s: column %s is given twice", t.id, connector.QuoteName(t.schema.Columns[c].Name))
		}
		tx.sources[c] = i
	}
	for i, c := range t.schema.Columns[:t.physical] {
		if tx.sources[i] < 0 && c.Type.NotNull {
			return nil, fmt.Errorf("insert into table %s: column %s is NOT NULL and has no value", t.id, connector.QuoteName(c.Name))
		}
	}
	anchor, missing, err := anchorOf(t.path)
	if err != nil {
		what := "insert into"
		if fresh {
			what = "create"
		}
		return nil, fmt.Errorf("%s table %s: %w", what, t.id, err)
	}
	if real, err := filepath.EvalSymlinks(anchor); err == nil {
		anchor = real
	}
	tx.key = "file:" + filepath.Join(append([]string{anchor}, missing...)...)
	return tx, nil
}

// Key names the directory.
func (t *transaction) Key() string { return t.key }

// Begin takes the job's lock and makes the hidden file.
func (t *transaction) Begin(ctx context.Context, job connector.JobID) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.begun {
		return errors.New("the transaction has begun before")
	}
	t.begun = true
	if ctx.Err() != nil {
		t.err = context.Cause(ctx)
		return t.err
	}
	t.t.sweeping.Do(func() { sweepForWriting(t.t.path) })
	of := job
	if id := connector.ScopeOf(ctx).Job.ID; id.SameJob(job) { // one of several transactions of a streaming job
		of = id
	}
	if t.staging, t.err = stage(t.t.path, job, t.t.series.name(of, t.t.codec.Extension()), t.fresh); t.err != nil {
		return t.err
	}
	if t.err = failpoint.Hit("begin.staged"); t.err != nil {
		return t.err
	}
	t.encoder = t.t.codec.Encoder()
	t.cols = make([]*column.Vector, t.t.physical)
	t.buf = t.encoder.Header(nil)
	return nil
}

// Writer returns the one writer.
func (t *transaction) Writer(context.Context, int) (connector.Writer, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.err != nil:
		return nil, t.err
	case !t.begun || t.sealed || t.ended:
		return nil, errors.New("no transaction is open for writing")
	case t.writer:
		return nil, fmt.Errorf("table %s: the file of an INSERT has one writer at a time", t.t.id)
	}
	t.writer = true
	return &writer{t}, nil
}

type writer struct{ t *transaction }

// flushSize is how many bytes are kept before they are written.
const flushSize = 1 << 20

// Write writes all rows that next yields.
func (w *writer) Write(ctx context.Context, next func() (*column.Batch, error)) error {
	t := w.t
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.err == nil {
		if t.ended || t.sealed {
			return errors.New("the transaction is not open for writing any more")
		}
		if ctx.Err() != nil {
			t.err = context.Cause(ctx)
			break
		}
		b, err := next()
		if err == nil && b == nil {
			return nil
		}
		if err == nil && t.rows == 0 {
			err = failpoint.Hit("write.first")
		}
		if err == nil {
			err = t.add(b)
		}
		t.err = err
	}
	return t.err
}

// Close ends the writer; what it wrote stays in the transaction.
func (w *writer) Close() error {
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	w.t.writer = false
	return nil
}

// add writes the rows of a dense batch.
func (t *transaction) add(b *column.Batch) error {
	for i, k := range b.Kind {
		if k != types.Insert {
			return fmt.Errorf("table %s only takes inserted rows; row %d is %s", t.t.id, t.rows+int64(i)+1, k)
		}
	}
	for i, from := range t.sources {
		t.cols[i] = nil
		if from < 0 || b.Cols[from].Type.Kind == types.Null {
			continue
		}
		if col := t.t.schema.Columns[i]; !b.Cols[from].Type.SameKind(col.Type) {
			return fmt.Errorf("column %s of table %s is %s, but the rows have %s", connector.QuoteName(col.Name), t.t.id, col.Type, b.Cols[from].Type)
		}
		t.cols[i] = b.Cols[from]
	}
	var err error
	if t.buf, err = t.encoder.Rows(t.buf, t.cols, b.N); err != nil {
		var e *connector.EncodeError
		if errors.As(err, &e) {
			return fmt.Errorf("row %d: %w", t.rows+int64(e.Row)+1, err)
		}
		return err
	}
	t.rows += int64(b.N)
	if len(t.buf) >= flushSize {
		return t.flush()
	}
	return nil
}

func (t *transaction) flush() error {
	if err := failpoint.Hit("write.flush"); err != nil {
		return err
	}
	n, err := t.staging.file.Write(t.buf)
	t.size += int64(n)
	t.buf = t.buf[:0]
	if cap(t.buf) > 16*flushSize {
		t.buf = nil
	}
	return err
}

// Seal writes what is left, checks the file's size, and makes the file durable.
func (t *transaction) Seal(ctx context.Context) (int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return 0, t.err
	}
	if t.sealed {
		return t.rows, nil
	}
	if !t.begun || t.ended {
		return 0, errors.New("no transaction is open")
	}
	if ctx.Err() != nil {
		t.err = context.Cause(ctx)
		return 0, t.err
	}
	if t.err = t.seal(); t.err != nil {
		return 0, t.err
	}
	t.sealed = true
	return t.rows, nil
}

func (t *transaction) seal() error {
	if err := failpoint.Hit("seal.before"); err != nil {
		return err
	}
	if failpoint.Mutant("publish-before-seal") {
		return nil
	}
	if err := t.flush(); err != nil {
		return err
	}
	t.buf = nil
	st, err := t.staging.file.Stat()
	if err != nil {
		return err
	}
	if st.Size() != t.size {
		return fmt.Errorf("%s has %d bytes, but %d were written", t.staging.staged(), st.Size(), t.size)
	}
	if err := t.staging.seal(t.size == 0); err != nil {
		return err
	}
	return failpoint.Hit("seal.fsynced")
}

// Commit gives the file its name.
func (t *transaction) Commit(context.Context) (connector.Outcome, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if out, err, ok := connector.Settled(t.sealed, t.ended, t.outcome, t.err); ok {
		return out, err
	}
	if t.err = failpoint.Hit("publish.before"); t.err != nil {
		return connector.NotDone, t.err
	}
	out, err := t.staging.publish()
	if failpoint.Mutant("publish-before-seal") {
		err = errors.Join(failpoint.Hit("seal.before"), t.flush())
	}
	if out == connector.Done {
		if err = failpoint.Hit("publish.done"); err != nil {
			out = connector.Unknown
		}
	}
	if out == connector.NotDone {
		t.err = err
		return out, err
	}
	t.ended, t.outcome, t.err = true, out, err
	if out == connector.Done {
		_ = t.staging.remove() // what cannot be removed is invisible, and swept later
	} else {
		t.staging.letGo()
	}
	return out, err
}

// Abort removes the hidden file.
func (t *transaction) Abort(context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return nil // aborted, committed, or not to be touched
	}
	t.ended, t.outcome = true, connector.NotDone
	if t.err == nil {
		t.err = errors.New("the transaction was aborted")
	}
	if t.staging == nil {
		return nil
	}
	if err := failpoint.Hit("cleanup.before"); err != nil {
		return err
	}
	return t.staging.remove()
}
