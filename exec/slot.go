package exec

import (
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// slot is a batch together with the vectors that belong to it. The batch may for a while show vectors of
// somebody else (a memory table); reset puts its own back. Slots go round between the two ends of an
// edge, so that memory stays flat.
type slot struct {
	batch column.Batch
	own   []*column.Vector
}

func newSlot(ts []types.Type) *slot {
	s := &slot{own: make([]*column.Vector, len(ts))}
	for i, t := range ts {
		s.own[i] = column.New(t, 0)
	}
	s.batch.Cols = make([]*column.Vector, len(ts))
	copy(s.batch.Cols, s.own)
	return s
}

// reset makes the slot an empty batch of its own vectors.
func (s *slot) reset() {
	if len(s.batch.Cols) != len(s.own) || s.batch.Shared {
		s.batch.Cols = make([]*column.Vector, len(s.own))
	}
	copy(s.batch.Cols, s.own)
	for _, v := range s.own {
		v.Reset()
	}
	s.batch.N, s.batch.Sel, s.batch.Kind, s.batch.Shared = 0, nil, nil, false
}

// add appends selected rows of b, from (included) to to (excluded).
func (s *slot) add(b *column.Batch, from, to int) {
	switch {
	case b.Sel == nil && b.Kind == nil && s.batch.Kind == nil:
		for c, v := range s.batch.Cols {
			v.AppendRange(b.Cols[c], from, to-from)
		}
		s.batch.N += to - from
	case b.Sel == nil && (from > 0 || to < b.N):
		for i := from; i < to; i++ {
			s.batch.AppendRow(b, i)
		}
	default:
		w := *b
		if w.Sel != nil {
			w.Sel = w.Sel[from:to]
		}
		s.batch.AppendBatch(&w)
	}
}

// take makes s the rows of the dense batch b. Vectors that belong to from are exchanged for vectors of
// s; vectors that never change are shown; others are copied. Afterwards b is no more.
func (s *slot) take(b *column.Batch, from *slot) {
	s.batch.N = b.N
	if b.Kind != nil {
		s.batch.Kind = append(s.batch.Kind[:0:0], b.Kind...)
	}
	shared := from != nil && from.batch.Shared
	for c, v := range b.Cols {
		if from == nil {
			s.own[c].AppendRange(v, 0, b.N)
			continue
		}
		if shared {
			if find(from.batch.Cols, v, c) >= 0 {
				s.batch.Cols[c] = v
				s.batch.Shared = true
				continue
			}
		} else if j := find(from.own, v, c); j >= 0 && column.PhysicalOf(v.Type) == column.PhysicalOf(s.own[c].Type) && find(b.Cols[c+1:], v, 0) < 0 {
			mine := s.own[c]
			mine.Type, v.Type = v.Type, mine.Type
			from.own[j] = mine
			s.own[c], s.batch.Cols[c] = v, v
			continue
		}
		s.own[c].AppendRange(v, 0, b.N)
	}
}

// find returns the position of v in vs, looking at hint first, or -1.
func find(vs []*column.Vector, v *column.Vector, hint int) int {
	if hint < len(vs) && vs[hint] == v {
		return hint
	}
	for i, x := range vs {
		if x == v {
			return i
		}
	}
	return -1
}
