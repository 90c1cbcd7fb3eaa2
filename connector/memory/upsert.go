package memory

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// Upsert returns a transaction that inserts, replaces and deletes rows by the table's primary key.
func (s *Store) Upsert(u connector.Upsert) (*Transaction, error) {
	t, err := s.Transaction(connector.Insert{Columns: u.Columns})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, at := range u.Key {
		names = append(names, s.schema.Columns[u.Columns[at]].Name)
	}
	if !slices.Equal(slices.Sorted(slices.Values(names)), slices.Sorted(slices.Values(s.schema.PrimaryKey))) {
		return nil, fmt.Errorf("table %s has the PRIMARY KEY (%s), and the rows have the key (%s)", s.id, strings.Join(s.schema.PrimaryKey, ", "), strings.Join(names, ", "))
	}
	t.key = &changes{columns: u.Key}
	for _, at := range u.Key {
		t.key.stored = append(t.key.stored, u.Columns[at])
		t.key.types = append(t.key.types, s.schema.Columns[u.Columns[at]].Type)
	}
	t.key.gone = column.NewBatch(t.key.types, 0)
	return t, nil
}

// changes are the keys of the rows that a transaction replaces or deletes.
type changes struct {
	columns []int // of the key, in the batches written
	stored  []int // the same, in the table
	types   []types.Type
	gone    *column.Batch // the keys
}

// split notes the keys of a dense batch and returns its rows to be added, as plain rows.
func (c *changes) split(b *column.Batch) *column.Batch {
	kept := make([]uint16, 0, b.N)
	for i := range b.N {
		for k, at := range c.columns {
			c.gone.Cols[k].AppendFrom(b.Cols[at], i)
		}
		c.gone.N++
		if b.Kind == nil || b.Kind[i] == types.Insert || b.Kind[i] == types.UpdateAfter {
			kept = append(kept, uint16(i))
		}
	}
	plain := &column.Batch{Cols: b.Cols, N: b.N, Shared: b.Shared}
	if len(kept) < b.N {
		plain.Sel = kept
		plain = plain.Copy()
	}
	return plain
}

// without returns the version that v becomes when the rows with these keys go. Batches that lose none are
// shared. The memory of the others is given back at once, though who reads v now still holds it.
func (v *version) without(c *changes) *version {
	n := c.gone.N
	if n == 0 || v.rows == 0 {
		return v
	}
	hashes := make([]uint64, n)
	column.Hash(c.gone.Cols, nil, n, hashes)
	at := make(map[uint64][]int32, n)
	for i, h := range hashes {
		at[h] = append(at[h], int32(i))
	}
	w := &version{rows: v.rows, bytes: v.bytes}
	for _, b := range v.batches {
		keys := make([]*column.Vector, len(c.stored))
		for k, s := range c.stored {
			keys[k] = b.Cols[s]
		}
		hashes = slices.Grow(hashes[:0], b.N)[:b.N]
		column.Hash(keys, nil, b.N, hashes)
		kept := make([]uint16, 0, b.N)
	rows:
		for i := range b.N {
			for _, g := range at[hashes[i]] {
				if column.EqualRows(keys, i, c.gone.Cols, int(g)) {
					continue rows
				}
			}
			kept = append(kept, uint16(i))
		}
		switch len(kept) {
		case b.N:
			w.batches = append(w.batches, b)
			continue
		case 0:
			w.bytes -= b.Size()
		default:
			rest := tight((&column.Batch{Cols: b.Cols, N: b.N, Sel: kept, Shared: true}).Copy())
			w.batches = append(w.batches, rest)
			w.bytes -= b.Size() - rest.Size()
		}
		w.rows -= int64(b.N - len(kept))
	}
	return w
}
