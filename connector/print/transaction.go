package print

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

type state uint8

const (
	fresh state = iota
	open
	sealed
	done
	aborted
)

// transaction prints rows. It stages nothing.
type transaction struct {
	t       *table
	sources []int // for each column the position of its values in the rows given; -1: NULL

	mu    sync.Mutex
	state state
	err   error // the first of a writer
	rows  int64
	buf   []byte
}

// Key names the table: printing is shared with no other.
func (t *transaction) Key() string { return "print:" + t.t.id.String() }

func (t *transaction) closed() error {
	if t.err != nil {
		return t.err
	}
	return fmt.Errorf("table %s: the transaction is not open", t.t.id)
}

// Begin opens the transaction.
func (t *transaction) Begin(context.Context, connector.JobID) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state != fresh {
		return t.closed()
	}
	t.state = open
	return nil
}

// Writer returns a writer; there may be several, whose lines do not mix.
func (t *transaction) Writer(context.Context, int) (connector.Writer, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state != open || t.err != nil {
		return nil, t.closed()
	}
	return writer{t}, nil
}

// Seal returns the number of rows.
func (t *transaction) Seal(ctx context.Context) (int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.err != nil || t.state != open && t.state != sealed:
		return 0, t.closed()
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	}
	t.state = sealed
	return t.rows, nil
}

// Commit ends the transaction: the rows have been printed.
func (t *transaction) Commit(context.Context) (connector.Outcome, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state != sealed && t.state != done {
		return connector.NotDone, t.closed()
	}
	t.state = done
	return connector.Done, nil
}

// Abort ends the transaction; what has been printed stays.
func (t *transaction) Abort(context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state != done {
		t.state = aborted
		if t.err == nil {
			t.err = errors.New("the transaction was aborted")
		}
	}
	return nil
}

type writer struct{ t *transaction }

// Write prints every row.
func (w writer) Write(ctx context.Context, next func() (*column.Batch, error)) error {
	for {
		if ctx.Err() != nil {
			return w.t.fail(context.Cause(ctx))
		}
		b, err := next()
		if err != nil {
			return w.t.fail(err)
		}
		if b == nil {
			return nil
		}
		if err := w.t.print(b); err != nil {
			return err
		}
	}
}

// Close does nothing.
func (writer) Close() error { return nil }

// fail poisons the transaction and returns its first error.
func (t *transaction) fail(err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
	}
	return t.err
}

// piece is how many bytes are printed at once: whole lines, that many or a little more.
const piece = 256 << 10

// print prints the rows of a batch. An error of the output is the transaction's.
func (t *transaction) print(b *column.Batch) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil || t.state != open {
		return t.closed()
	}
	t.buf = t.buf[:0]
	for i := range b.Rows() {
		row := b.Row(i)
		kind := types.Insert
		if b.Kind != nil {
			kind = b.Kind[row]
		}
		t.buf = append(t.buf, t.t.prefix...)
		t.buf = append(append(t.buf, kind.String()...), '[')
		for c, from := range t.sources {
			if c > 0 {
				t.buf = append(t.buf, ", "...)
			}
			if from < 0 {
				t.buf = append(t.buf, null...)
			} else {
				t.buf = appendValue(t.buf, b.Cols[from], row)
			}
		}
		t.buf = append(t.buf, "]\n"...)
		if len(t.buf) >= piece || i == b.Rows()-1 {
			if _, err := t.t.out.Write(t.buf); err != nil {
				t.err = fmt.Errorf("print table %s: %w", t.t.id, err)
				return t.err
			}
			t.buf = t.buf[:0]
		}
	}
	if cap(t.buf) > 4*piece {
		t.buf = nil
	}
	t.rows += int64(b.Rows())
	return nil
}
