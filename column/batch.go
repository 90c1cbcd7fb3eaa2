package column

import "github.com/sluice-sql/sluice/types"

// DefaultRows is the usual number of rows in a batch; MaxRows the most that a selection can name.
const (
	DefaultRows = 2048
	MaxRows     = 65536
)

// Batch is a set of rows held by column. See the package comment for who owns it.
type Batch struct {
	Cols []*Vector
	N    int             // physical rows
	Sel  []uint16        // selected physical rows in order; nil: all N
	Kind []types.RowKind // by physical row; nil: all +I
	// Shared says that the vectors belong to somebody else (a memory table, a broadcast) and must not
	// be written; Reset then takes new ones.
	Shared bool
}

// NewBatch returns an empty batch with a vector of room for n rows for each type.
func NewBatch(ts []types.Type, n int) *Batch {
	b := &Batch{Cols: make([]*Vector, len(ts))}
	for i, t := range ts {
		b.Cols[i] = New(t, n)
	}
	return b
}

// Types returns the types of the columns.
func (b *Batch) Types() []types.Type {
	ts := make([]types.Type, len(b.Cols))
	for i, c := range b.Cols {
		ts[i] = c.Type
	}
	return ts
}

// Rows returns the number of selected rows.
func (b *Batch) Rows() int {
	if b.Sel != nil {
		return len(b.Sel)
	}
	return b.N
}

// Row returns the physical position of the i-th selected row.
func (b *Batch) Row(i int) int {
	if b.Sel != nil {
		return int(b.Sel[i])
	}
	return i
}

// Reset makes b empty, keeping its memory; see [Vector.Reset].
func (b *Batch) Reset() {
	if b.Shared {
		cols := make([]*Vector, len(b.Cols)) // the slice may be the owner's too
		for i, c := range b.Cols {
			cols[i] = New(c.Type, DefaultRows)
		}
		b.Cols = cols
	}
	for _, c := range b.Cols {
		c.Reset()
	}
	b.Shared = false
	b.N, b.Sel, b.Kind = 0, nil, nil
}

// AppendRow appends physical row i of src, whose columns have the same physical forms.
func (b *Batch) AppendRow(src *Batch, i int) {
	for c, v := range b.Cols {
		v.AppendFrom(src.Cols[c], i)
	}
	b.appendKind(src, i)
	b.N++
}

func (b *Batch) appendKind(src *Batch, i int) {
	if src.Kind == nil && b.Kind == nil {
		return
	}
	for len(b.Kind) < b.N {
		b.Kind = append(b.Kind, types.Insert)
	}
	k := types.Insert
	if src.Kind != nil {
		k = src.Kind[i]
	}
	b.Kind = append(b.Kind, k)
}

// AppendBatch appends the selected rows of src.
func (b *Batch) AppendBatch(src *Batch) {
	for c, v := range b.Cols {
		v.AppendVector(src.Cols[c], src.Sel, src.N)
	}
	if src.Kind != nil || b.Kind != nil {
		n := b.N
		for i := 0; i < src.Rows(); i++ {
			b.appendKind(src, src.Row(i))
			b.N++
		}
		b.N = n
	}
	b.N += src.Rows()
}

// Dense returns b itself when it has no selection, else a new batch of its selected rows.
func (b *Batch) Dense() *Batch {
	if b.Sel == nil {
		return b
	}
	return b.Copy()
}

// Copy returns a new dense batch with the selected rows of b; it shares no memory with b.
func (b *Batch) Copy() *Batch {
	d := &Batch{Cols: make([]*Vector, len(b.Cols))}
	for i, c := range b.Cols {
		d.Cols[i] = New(c.Type, b.Rows())
	}
	d.AppendBatch(b)
	return d
}

// Slice returns a new dense batch with rows from (included) to to (excluded) of the selected rows.
func (b *Batch) Slice(from, to int) *Batch {
	d := &Batch{Cols: make([]*Vector, len(b.Cols)), N: to - from}
	for i, c := range b.Cols {
		v := New(c.Type, to-from)
		if b.Sel != nil {
			v.AppendVector(c, b.Sel[from:to], 0)
		} else {
			v.AppendRange(c, from, to-from)
		}
		d.Cols[i] = v
	}
	if b.Kind != nil {
		d.Kind = make([]types.RowKind, to-from)
		for i := range d.Kind {
			d.Kind[i] = b.Kind[b.Row(from+i)]
		}
	}
	return d
}

// Size returns the bytes of memory that the batch's rows take.
func (b *Batch) Size() int64 {
	n := int64(len(b.Sel)*2 + len(b.Kind))
	for _, c := range b.Cols {
		n += c.Size()
	}
	return n
}
