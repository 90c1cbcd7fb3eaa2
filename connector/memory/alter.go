package memory

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/types"
)

// ColumnError says that the rows of a table cannot become those of its new schema.
type ColumnError struct {
	Column string // by its new name
	Msg    string
}

// Error returns the message.
func (e *ColumnError) Error() string { return e.Msg }

// Alteration is the rows of a store under another name or schema, to take its place. Memory is reserved for
// what they do not share; Commit or Abort ends it.
type Alteration struct {
	store *Store
	next  *Store
	old   *version
	left  int64  // bytes of old that next does not share
	done  func() // with reading old
}

// Alter makes the rows of s into those of another name or schema. from gives for each column of the schema the
// column of s that it was, -1 for a new one, which is NULL in every row. While a job writes the table it is a
// *HeldError, and rows that do not fit are a *ColumnError. Until Commit nothing is changed, and nobody waits.
//
// A column's rows are cast to another type if every value of the old type has one in the new type;
// without rows any type will do. The vectors of the other columns are shared.
func (s *Store) Alter(ctx context.Context, id connector.ObjectIdentifier, schema types.Schema, from []int) (*Alteration, error) {
	if err := s.Held(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	old, done, err := s.hold()
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	a := alteration{table: s.id, budget: s.budget, old: old, from: from, schema: schema}
	err = a.plan(s.schema)
	var batches []*column.Batch
	if err == nil {
		batches, err = a.rows(ctx)
	}
	if err != nil {
		release(s.budget, a.fresh)
		done()
		return nil, err
	}
	next := NewStore(id, schema, s.budget)
	next.current = &version{batches: batches, rows: old.rows, bytes: old.bytes - a.left + a.fresh}
	return &Alteration{store: s, next: next, old: old, left: a.left, done: done}, nil
}

// Commit ends the old store and returns the new one: readers of now keep their rows, and whoever comes later is
// told to plan again. When a job has come to write the table meanwhile, or has written it, that is an error; the
// old store goes on then.
func (a *Alteration) Commit() (*Store, error) {
	s := a.store
	s.mu.Lock()
	err := s.held()
	switch {
	case err != nil:
	case s.gone != "":
		err = fmt.Errorf("table %s %s", s.id, s.gone)
	case s.current != a.old:
		err = fmt.Errorf("table %s was written by another job meanwhile; run the statement again", s.id)
	default:
		// What the new version does not share goes when the readers of the old one have closed.
		s.current = &version{batches: a.old.batches, rows: a.old.rows, bytes: a.left}
		s.gone = "was altered after the statement was planned; run it again"
	}
	s.mu.Unlock()
	if err != nil {
		a.Abort()
		return nil, err
	}
	a.done()
	return a.next, nil
}

// Abort gives the memory back.
func (a *Alteration) Abort() {
	release(a.store.budget, a.next.current.bytes-a.old.bytes+a.left)
	a.done()
}

// alteration makes the rows of one version into those of another schema.
type alteration struct {
	table  connector.ObjectIdentifier
	budget *connector.Memory
	old    *version
	from   []int
	schema types.Schema
	casts  []*expr.Evaluator // by column; nil where the values stay as they are

	fresh int64 // bytes of vectors that only the new version has, reserved
	left  int64 // bytes of vectors that only the old version has
}

// plan decides what becomes of each column.
func (a *alteration) plan(was types.Schema) error {
	a.casts = make([]*expr.Evaluator, len(a.from))
	if a.old.rows == 0 {
		return nil
	}
	for i, at := range a.from {
		c := a.schema.Columns[i]
		name := connector.QuoteName(c.Name)
		if at < 0 {
			if c.Type.NotNull {
				return &ColumnError{c.Name, fmt.Sprintf("column %s is NOT NULL, but the table's %d rows would have NULL there: declare it without NOT NULL", name, a.old.rows)}
			}
			continue
		}
		old := was.Columns[at].Type
		if !old.NotNull && c.Type.NotNull {
			if row := a.firstNull(at); row >= 0 {
				return &ColumnError{c.Name, fmt.Sprintf("column %s cannot be NOT NULL: row %d has NULL", name, row+1)}
			}
		}
		if old.AsNullable().Equal(c.Type.AsNullable()) {
			continue
		}
		if !widens(old, c.Type) {
			return &ColumnError{c.Name, fmt.Sprintf("column %s has %d rows of type %s, and not all values of that type are of type %s: only a wider type will do",
				name, a.old.rows, old.AsNullable(), c.Type.AsNullable())}
		}
		ev, err := expr.Compile(&expr.Cast{Arg: &expr.Column{Name: c.Name, T: old}, T: c.Type, Exact: true}, nil)
		if err != nil {
			return fmt.Errorf("column %s: %w", name, err)
		}
		a.casts[i] = ev
	}
	return nil
}

// firstNull returns the first row that has NULL in a column, -1 for none.
func (a *alteration) firstNull(at int) int64 {
	n := int64(0)
	for _, b := range a.old.batches {
		if row := b.Cols[at].FirstNull(); row >= 0 {
			return n + int64(row)
		}
		n += int64(b.N)
	}
	return -1
}

// rows returns the new batches.
func (a *alteration) rows(ctx context.Context) ([]*column.Batch, error) {
	batches := make([]*column.Batch, len(a.old.batches))
	for i, b := range a.old.batches {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		var fresh int64
		shared := make([]bool, len(b.Cols))
		next := &column.Batch{N: b.N, Cols: make([]*column.Vector, len(a.from))}
		for j, at := range a.from {
			t := a.schema.Columns[j].Type
			switch {
			case at < 0:
				next.Cols[j] = nulls(t, b.N)
			case a.casts[j] != nil:
				v, err := a.casts[j].Eval(&column.Batch{N: b.N, Cols: []*column.Vector{b.Cols[at]}})
				if err != nil {
					name, msg := a.schema.Columns[j].Name, err.Error()
					var e *expr.Error
					if errors.As(err, &e) {
						msg = e.Msg // its hint is about SQL
					}
					return nil, &ColumnError{name, fmt.Sprintf("column %s: %s", connector.QuoteName(name), msg)}
				}
				next.Cols[j] = column.New(t, b.N)
				next.Cols[j].AppendVector(v, nil, b.N)
			default:
				v := *b.Cols[at]
				v.Type = t
				next.Cols[j] = &v
				shared[at] = true
				continue
			}
			fresh += next.Cols[j].Size()
		}
		if a.budget != nil {
			if err := a.budget.Reserve(fresh); err != nil {
				return nil, fmt.Errorf("alter table %s: %w", a.table, err)
			}
		}
		a.fresh += fresh
		for at, v := range b.Cols {
			if !shared[at] {
				a.left += v.Size()
			}
		}
		batches[i] = next
	}
	return batches, nil
}

// widens reports whether every value of one type is, unaltered, a value of the other.
func widens(from, to types.Type) bool {
	if from.Kind == to.Kind {
		switch from.Kind {
		case types.VarChar, types.VarBinary, types.Timestamp, types.TimestampLTZ, types.Time:
			return from.Precision <= to.Precision
		case types.Decimal:
			return from.Scale <= to.Scale && from.Precision-from.Scale <= to.Precision-to.Scale
		}
		return false // CHAR and BINARY are padded
	}
	switch to.Kind {
	case types.SmallInt, types.Int, types.BigInt:
		return from.IsInteger() && from.Kind < to.Kind
	case types.Float:
		return from.Kind == types.TinyInt || from.Kind == types.SmallInt
	case types.Double:
		return from.Kind == types.Float || from.IsInteger() && from.Kind < types.BigInt
	case types.Decimal:
		return from.IsInteger() && from.AsDecimal().Precision <= to.Precision-to.Scale
	case types.VarChar:
		return from.Kind == types.Char && from.Precision <= to.Precision
	case types.VarBinary:
		return from.Kind == types.Binary && from.Precision <= to.Precision
	case types.Timestamp:
		return from.Kind == types.Date && to.Precision <= 6 // with more digits the years 1677 to 2262 are all there are
	}
	return false
}
