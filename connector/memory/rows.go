package memory

import (
	"fmt"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// maxBatchBytes is the size at which a batch is closed before it has its full number of rows. It keeps
// the 32-bit offsets of text columns far from their end.
const maxBatchBytes = 8 << 20

// rows collects rows into full batches, reserving memory as it goes. It copies: batches are only lent
// to a writer.
type rows struct {
	table  connector.ObjectIdentifier
	schema types.Schema
	cols   []int // for each column of the table the position in the incoming batch, -1 for NULL
	budget *connector.Memory

	done     []*column.Batch
	open     *column.Batch
	n        int64
	reserved int64
}

// add appends the rows of a dense batch.
func (r *rows) add(b *column.Batch) error {
	if err := r.check(b); err != nil {
		return err
	}
	src := &column.Batch{Cols: make([]*column.Vector, len(r.cols)), N: b.N}
	for i, from := range r.cols {
		if from < 0 || b.Cols[from].Type.Kind == types.Null {
			src.Cols[i] = nulls(r.schema.Columns[i].Type, b.N)
		} else {
			src.Cols[i] = b.Cols[from]
		}
	}
	for at := 0; at < b.N; {
		if r.open != nil && (r.open.N == column.DefaultRows || r.open.Size()+src.Size() > maxBatchBytes) {
			r.close()
		}
		before := int64(0)
		if r.open == nil {
			r.open = column.NewBatch(r.schema.Types(), min(b.N-at, column.DefaultRows))
		} else {
			before = r.open.Size()
		}
		n := min(b.N-at, column.DefaultRows-r.open.N)
		for i, v := range r.open.Cols {
			v.AppendRange(src.Cols[i], at, n)
		}
		r.open.N += n
		if err := r.reserve(r.open.Size() - before); err != nil {
			return err
		}
		at += n
	}
	r.n += int64(b.N)
	return nil
}

// check refuses what a table of rows cannot hold: changes other than inserts, and NULL where NOT NULL
// is declared.
func (r *rows) check(b *column.Batch) error {
	if b.Sel != nil {
		panic("connector/memory: a writer takes dense batches")
	}
	for i, k := range b.Kind {
		if k != types.Insert {
			return fmt.Errorf("table %s only takes inserted rows; row %d is %s", r.table, r.n+int64(i)+1, k)
		}
	}
	for i, from := range r.cols {
		c := r.schema.Columns[i]
		if from < 0 || c.Type.Nullable() {
			continue
		}
		if row := b.Cols[from].FirstNull(); row >= 0 {
			return fmt.Errorf("column %s of table %s is NOT NULL, but row %d has NULL", connector.QuoteName(c.Name), r.table, r.n+int64(row)+1)
		}
	}
	return nil
}

func (r *rows) reserve(n int64) error {
	if r.budget != nil {
		if err := r.budget.Reserve(n); err != nil {
			return fmt.Errorf("keep the rows of table %s: %w", r.table, err)
		}
	}
	r.reserved += n
	return nil
}

// close ends the open batch.
func (r *rows) close() {
	if r.open == nil || r.open.N == 0 {
		r.open = nil
		return
	}
	before := r.open.Size()
	b := tight(r.open)
	r.open = nil
	r.done = append(r.done, b)
	give := before - b.Size()
	release(r.budget, give)
	r.reserved -= give
}

// take ends the open batch and hands over what is done.
func (r *rows) take() []*column.Batch {
	r.close()
	done := r.done
	r.done = nil
	return done
}

// tight gives back what growing left over: room behind the values, and bitmaps without a NULL.
func tight(b *column.Batch) *column.Batch {
	b.Kind = nil
	for i, v := range b.Cols {
		if v.Valid != nil && v.Valid.Count(v.Len) == v.Len {
			v.Valid = nil
		}
		if size := v.Size(); room(v) > size+size/4 {
			c := column.New(v.Type, v.Len)
			if len(v.Bytes) > 0 {
				c.Bytes = make([]byte, 0, len(v.Bytes))
			}
			c.AppendVector(v, nil, v.Len)
			b.Cols[i] = c
		}
	}
	return b
}

// room is the memory that v holds, where Size is what it uses.
func room(v *column.Vector) int64 {
	return int64(cap(v.Valid)*8 + cap(v.Bool) + cap(v.I8) + 2*cap(v.I16) + 4*cap(v.I32) + 8*cap(v.I64) +
		16*cap(v.I128) + 4*cap(v.F32) + 8*cap(v.F64) + 4*cap(v.Offsets) + cap(v.Bytes))
}

func nulls(t types.Type, n int) *column.Vector {
	v := column.New(t, n)
	for range n {
		v.AppendNull()
	}
	return v
}
