package memory

import (
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

// Alter returns a store with the rows of s under another name or schema, and ends s: readers of now keep
// their rows, and whoever comes later is told to plan again. from gives for each column of the schema the
// column of s that it was, -1 for a new one, which is NULL in every row. While a job writes the table it
// is a *HeldError, and rows that do not fit are a *ColumnError; s goes on then.
//
// A column's rows are cast to another type if every value of the old type has one in the new type;
// without rows any type will do. The vectors of the other columns are shared.
func (s *Store) Alter(id connector.ObjectIdentifier, schema types.Schema, from []int) (*Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.held(); err != nil {
		return nil, err
	}
	if s.gone != "" {
		return nil, fmt.Errorf("table %s %s", s.id, s.gone)
	}
	a := alteration{old: s.current, from: from, schema: schema}
	if err := a.plan(s.schema); err != nil {
		return nil, err
	}
	batches, err := a.rows()
	if err != nil {
		return nil, err
	}
	if s.budget != nil {
		if err := s.budget.Reserve(a.fresh); err != nil {
			return nil, fmt.Errorf("alter table %s: %w", s.id, err)
		}
	}
	next := NewStore(id, schema, s.budget)
	next.current = &version{batches: batches, rows: s.current.rows, bytes: s.current.bytes - a.left + a.fresh}
	// What the new version does not share goes when the readers of the old one have closed.
	s.current = &version{batches: s.current.batches, rows: s.current.rows, bytes: a.left}
	s.gone = "was altered after the statement was planned; run it again"
	s.free()
	return next, nil
}

// alteration makes the rows of one version into those of another schema.
type alteration struct {
	old    *version
	from   []int
	schema types.Schema
	casts  []*expr.Evaluator // by column; nil where the values stay as they are

	fresh int64 // bytes of vectors that only the new version has
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
func (a *alteration) rows() ([]*column.Batch, error) {
	batches := make([]*column.Batch, len(a.old.batches))
	for i, b := range a.old.batches {
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
			a.fresh += next.Cols[j].Size()
		}
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
