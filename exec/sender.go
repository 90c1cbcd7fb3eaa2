package exec

import (
	"github.com/sluice-sql/sluice/column"
)

// sender is the end of a worker's chain. It compacts selections and hands full, dense batches to the
// edge: moved when they are nearly full and belong to the chain's source, else gathered in a slot.
type sender struct {
	w     *worker
	edge  *edge
	lanes []*lane // those this worker fills: its own, or one for each receiver of a hash edge
	keys  []int   // hashed columns, when there are several
	cur   []*slot // being gathered, by lane

	hashes []uint64
	sels   [][]uint16
	cols   []*column.Vector
	part   column.Batch
}

func newSender(w *worker, e *edge, lanes []*lane, keys []int) *sender {
	return &sender{w: w, edge: e, lanes: lanes, keys: keys, cur: make([]*slot, len(lanes))}
}

func (s *sender) emit(b *column.Batch) error {
	if len(s.lanes) == 1 {
		return s.put(0, b)
	}
	n := b.Rows()
	if len(s.hashes) < n {
		s.hashes = make([]uint64, max(n, column.DefaultRows))
		s.sels = make([][]uint16, len(s.lanes))
		s.cols = make([]*column.Vector, len(s.keys))
	}
	for i, k := range s.keys {
		s.cols[i] = b.Cols[k]
	}
	column.Hash(s.cols, b.Sel, b.N, s.hashes[:n])
	for i := range s.sels {
		s.sels[i] = s.sels[i][:0]
	}
	// The highest bits choose the lane; hash tables use the others.
	for i, h := range s.hashes[:n] {
		to := (h >> 32) * uint64(len(s.lanes)) >> 32
		s.sels[to] = append(s.sels[to], uint16(b.Row(i)))
	}
	for i, sel := range s.sels {
		if len(sel) > 0 {
			s.part = *b
			s.part.Sel = sel
			if err := s.put(i, &s.part); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *sender) put(i int, b *column.Batch) error {
	n, full := b.Rows(), s.edge.rows
	if n == 0 {
		return nil
	}
	l := s.lanes[i]
	if b.Sel == nil && n <= full && n >= full/4 {
		if err := s.flush(i, false); err != nil {
			return err
		}
		sl := l.slot(s.edge.types)
		sl.take(b, s.w.src)
		return l.send(s.w.ctx, item{slot: sl})
	}
	most := int64(0)
	if b.Size() > maxBytes {
		most = widest(b.Cols)
	}
	for at := 0; at < n; {
		if s.cur[i] == nil {
			s.cur[i] = l.slot(s.edge.types)
		}
		sl := s.cur[i]
		to := min(n, at+full-sl.batch.N)
		to = cut(at, to, most, maxBytes, func(k int) int64 { return textBytes(b.Cols, b.Row(k)) })
		sl.add(b, at, to)
		at = to
		if sl.batch.N >= full || sl.batch.Size() >= maxBytes {
			if err := s.flush(i, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush sends what is gathered for a lane; end marks the end of a morsel.
func (s *sender) flush(i int, end bool) error {
	it := item{slot: s.cur[i], end: end}
	if it.slot == nil && !end {
		return nil
	}
	s.cur[i] = nil
	return s.lanes[i].send(s.w.ctx, it)
}

// flushAll sends what is gathered, so that nothing waits for more rows to come.
func (s *sender) flushAll() error {
	for i := range s.lanes {
		if err := s.flush(i, false); err != nil {
			return err
		}
	}
	return nil
}

// endMorsel marks the end of a morsel where the receiver restores their order.
func (s *sender) endMorsel() error {
	if s.edge.order == nil {
		return nil
	}
	return s.flush(0, true)
}

// finish sends the rest and closes the lanes.
func (s *sender) finish() error {
	if err := s.flushAll(); err != nil {
		return err
	}
	for _, l := range s.lanes {
		l.close()
	}
	return nil
}
