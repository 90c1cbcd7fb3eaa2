package exec

import (
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// slot is a batch together with the vectors that belong to it. Slots go round between the two ends of an
// edge, so that memory stays flat. Who may do what with a vector, and when:
//
//   - A vector belongs to exactly one slot (it is in its own), or it never changes again: a memory table's,
//     a constant's, or a filled table's of an operator. The vectors that a batch shows are of these two
//     kinds; batch.Shared says that some are of the second. Results of expressions belong to the
//     expression, are of neither kind, and are copied at the end of a chain.
//   - One goroutine at a time holds a slot, and only it may read or change the slot's own vectors: the
//     sender, from lane.slot to lane.send; the receiver, until it recycles it; an operator or a leaf,
//     always, but what it lends is nobody's to read once lend or feed has returned.
//   - take moves a vector between two slots that the same goroutine holds, and leaves an empty one for it
//     in exchange. It never lets a slot show another slot's own vector.
//   - So whoever gets a slot from a free list may reset it: nobody shows its vectors. Tests fill them with
//     rubbish at each of these ends (see poison), so that a late reader shows.
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

// take makes s, which is empty, the rows of the dense batch b, of which some vectors may be those that from
// shows. Those that belong to from are exchanged for vectors of s; those that never change are shown;
// others are copied. Afterwards b is no more.
func (s *slot) take(b *column.Batch, from *slot) {
	s.batch.N = b.N
	if b.Kind != nil {
		s.batch.Kind = append(s.batch.Kind[:0:0], b.Kind...)
	}
	for c, v := range b.Cols {
		if from == nil {
			s.own[c].AppendRange(v, 0, b.N)
			continue
		}
		j := find(from.own, v, c)
		switch {
		case j < 0 && from.batch.Shared && find(from.batch.Cols, v, c) >= 0:
			s.batch.Cols[c], s.batch.Shared = v, true
		case j >= 0 && !v.Type.IsNested() && column.PhysicalOf(v.Type) == column.PhysicalOf(s.own[c].Type) && find(b.Cols[c+1:], v, 0) < 0:
			mine := s.own[c]
			mine.Type, v.Type = v.Type, mine.Type
			from.own[j] = mine
			for i, x := range from.batch.Cols {
				if x == v {
					from.batch.Cols[i] = mine
				}
			}
			s.own[c], s.batch.Cols[c] = v, v
		default:
			s.own[c].AppendRange(v, 0, b.N)
		}
	}
}

// room returns the memory of the slot's own texts, whether in use or not.
func (s *slot) room() int64 {
	n := int64(0)
	for _, v := range s.own {
		n += int64(cap(v.Bytes))
	}
	return n
}

// poison fills the slot's own vectors, which nobody is to read any more, with rubbish.
func (s *slot) poison() {
	for _, v := range s.own {
		fillAll(v.Bool, true)
		fillAll(v.I8, -0x56)
		fillAll(v.I16, -0x5556)
		fillAll(v.I32, -0x55555556)
		fillAll(v.I64, -0x5555555555555556)
		fillAll(v.I128, types.Int128From(-0x5555555555555556))
		fillAll(v.F32, -1e30)
		fillAll(v.F64, -1e300)
		fillAll(v.Bytes, '#')
		fillAll(v.Offsets, -1)
		fillAll(v.Valid, 0x5555555555555555)
	}
}

func fillAll[T any](s []T, x T) {
	s = s[:cap(s)]
	for i := range s {
		s[i] = x
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
