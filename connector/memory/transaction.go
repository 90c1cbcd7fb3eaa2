package memory

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// Transaction is one write: rows collected aside, then published by one swap.
type Transaction struct {
	id      connector.ObjectIdentifier
	schema  types.Schema
	cols    []int
	budget  *connector.Memory
	store   *Store                                  // INSERT's table; nil while staging
	publish func(*Store) (connector.Outcome, error) // staging's; nil for INSERT
	key     *changes                                // nil: rows are only added
	// overwrite says that the rows take the place of what is there; where the job reads the table (readsSame) that
	// must still be seen, what Begin found.
	overwrite, readsSame bool
	seen                 *version
	table                *table // by which it was made; nil for staging

	mu      sync.Mutex
	state   state
	writers []*writer // by subtask, in the order of their numbers once sealed
	sealed  *version
}

type state uint8

const (
	created state = iota
	begun
	sealedState
	committed
	aborted
)

var _ connector.Transaction = (*Transaction)(nil)

// Key returns the key of the transactions that write the table of this name.
func Key(id connector.ObjectIdentifier) string {
	if id.Temporary {
		return "memory:temporary:" + id.SQL()
	}
	return "memory:" + id.SQL()
}

// Transaction returns a transaction that appends rows to the table, or puts them in the place of all that it has.
func (s *Store) Transaction(insert connector.Insert) (*Transaction, error) {
	cols, err := mapping(s.id, s.schema, insert.Columns)
	if err != nil {
		return nil, err
	}
	return &Transaction{id: s.id, schema: s.schema, cols: cols, budget: s.budget, store: s, overwrite: insert.Overwrite, readsSame: insert.ReadsSame}, nil
}

// NewStaging returns the transaction of a table that does not exist yet. Its Commit hands the store
// that holds the rows to publish, which makes it visible by compare-and-set: Done when it did, NotDone
// with the reason when the name is taken. It is not called again after Done.
func NewStaging(id connector.ObjectIdentifier, schema types.Schema, budget *connector.Memory, publish func(*Store) (connector.Outcome, error)) *Transaction {
	cols := make([]int, len(schema.Columns))
	for i := range cols {
		cols[i] = i
	}
	return &Transaction{id: id, schema: schema, cols: cols, budget: budget, publish: publish}
}

// mapping returns for each column of the table the position of its values in the rows given.
func mapping(id connector.ObjectIdentifier, schema types.Schema, columns []int) ([]int, error) {
	cols := make([]int, len(schema.Columns))
	for i := range cols {
		cols[i] = -1
	}
	for i, c := range columns {
		if c < 0 || c >= len(cols) {
			return nil, fmt.Errorf("insert into table %s: it has no column at position %d", id, c)
		}
		if cols[c] >= 0 {
			return nil, fmt.Errorf("insert into table %s: column %s is given twice", id, connector.QuoteName(schema.Columns[c].Name))
		}
		cols[c] = i
	}
	for i, c := range schema.Columns {
		if cols[i] < 0 && c.Type.NotNull {
			return nil, fmt.Errorf("insert into table %s: column %s is NOT NULL and has no value", id, connector.QuoteName(c.Name))
		}
	}
	return cols, nil
}

// Key names the table.
func (t *Transaction) Key() string { return Key(t.id) }

// Begin notes the job at the table, which cannot be dropped from now on.
func (t *Transaction) Begin(_ context.Context, job connector.JobID) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state != created {
		return fmt.Errorf("write to table %s: begun twice", t.id)
	}
	if t.store != nil {
		s, err := t.store.lockLatest()
		if err != nil {
			return err
		}
		defer s.mu.Unlock()
		if t.overwrite {
			if err := s.settled(); err != nil {
				return err
			}
		}
		s.writers[t] = job
		t.store, t.seen = s, s.current
	}
	t.state = begun
	return nil
}

// Writer returns the writer of a subtask. Any number may be in use at a time.
func (t *Transaction) Writer(_ context.Context, subtask int) (connector.Writer, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state != begun {
		return nil, fmt.Errorf("write to table %s: not open for writing", t.id)
	}
	for len(t.writers) <= subtask {
		t.writers = append(t.writers, nil)
	}
	if t.writers[subtask] == nil {
		if t.key != nil && subtask > 0 {
			return nil, fmt.Errorf("write to table %s: changes by key have one writer", t.id)
		}
		t.writers[subtask] = &writer{rows: rows{table: t.id, schema: t.schema, cols: t.cols, budget: t.budget}, key: t.key}
	}
	return t.writers[subtask], nil
}

// Seal joins the rows of the writers, in the order of the subtasks.
func (t *Transaction) Seal(ctx context.Context) (int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state == sealedState {
		return t.sealed.rows, nil
	}
	if t.state != begun {
		return 0, fmt.Errorf("write to table %s: not open for writing", t.id)
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	v := &version{}
	for _, w := range t.writers {
		if w == nil {
			continue
		}
		if w.err != nil {
			return 0, w.err
		}
		w.rows.close()
		v.batches = append(v.batches, w.rows.done...)
		v.rows += w.rows.n
		v.bytes += w.rows.reserved
		w.rows.reserved = 0 // the version's now
		w.err = errSealed
	}
	t.sealed, t.writers, t.state = v, nil, sealedState
	return v.rows, nil
}

// Commit makes the rows visible by one swap.
func (t *Transaction) Commit(context.Context) (connector.Outcome, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch t.state {
	case committed:
		return connector.Done, nil
	case sealedState:
	default:
		return connector.NotDone, fmt.Errorf("write to table %s: nothing is ready to be committed", t.id)
	}
	if t.store == nil {
		s := NewStore(t.id, t.schema, t.budget)
		s.current = t.sealed
		if out, err := t.publish(s); out != connector.Done {
			return out, err
		}
	} else if err := t.store.append(t); err != nil {
		return connector.NotDone, err
	}
	t.sealed, t.state = nil, committed
	return connector.Done, nil
}

// append makes the rows of a sealed transaction the end of the current version, or all of it.
func (s *Store) append(t *Transaction) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone != "" {
		return fmt.Errorf("table %s %s, while the job wrote to it", s.id, s.gone)
	}
	old := s.current
	if t.overwrite {
		if t.readsSame && s.current != t.seen {
			return s.changed()
		}
		old = &version{}
		release(s.budget, s.current.bytes)
	}
	if t.key != nil {
		old = old.without(t.key)
		release(s.budget, s.current.bytes-old.bytes)
	}
	s.current = old.appended(t.sealed)
	delete(s.writers, t)
	return nil
}

// changed is the error of a job that read what is no longer in the table.
func (s *Store) changed() error {
	return fmt.Errorf("table %s was changed by another session while the job read it; nothing was written, run the statement again", s.id)
}

// Abort forgets the rows.
func (t *Transaction) Abort(context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state == committed || t.state == aborted {
		return nil
	}
	t.state = aborted
	for _, w := range t.writers {
		if w != nil {
			release(t.budget, w.rows.reserved)
			w.rows = rows{}
			w.err = errAborted
		}
	}
	if t.sealed != nil {
		release(t.budget, t.sealed.bytes)
	}
	t.writers, t.sealed = nil, nil
	if t.store != nil {
		t.store.mu.Lock()
		delete(t.store.writers, t)
		t.store.mu.Unlock()
	}
	return nil
}

var (
	errSealed  = errors.New("the write is sealed")
	errAborted = errors.New("the write was ended")
)

// writer collects the rows of one subtask.
type writer struct {
	rows rows
	key  *changes
	err  error
}

func (w *writer) Write(ctx context.Context, next func() (*column.Batch, error)) error {
	return collect(ctx, next, func(b *column.Batch) error {
		if w.key != nil {
			b = w.key.split(b)
		}
		return w.rows.add(b)
	}, &w.err)
}

// collect adds every batch that next yields, unless there has been an error, and keeps the first.
func collect(ctx context.Context, next func() (*column.Batch, error), add func(*column.Batch) error, first *error) error {
	for *first == nil {
		if *first = ctx.Err(); *first != nil {
			break
		}
		b, err := next()
		if err == nil && b == nil {
			return nil
		}
		if err == nil {
			err = add(b)
		}
		*first = err
	}
	return *first
}

func (w *writer) Close() error { return nil }
