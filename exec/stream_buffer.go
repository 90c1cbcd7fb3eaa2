package exec

import (
	"slices"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// appendBuffer keeps rows in the order in which they come, with their kinds. Full batches are taken over
// without a copy where their vectors allow it.
type appendBuffer struct {
	types   []types.Type
	rows    int // of a full batch
	batches []*slot
	size    int64 // of all but the last
	at      int   // next to be drained
	free    []*slot
}

// freeSlots is how many emptied slots a buffer keeps for the next rows.
const freeSlots = 64

func newAppendBuffer(ts []types.Type, rows int) *appendBuffer {
	return &appendBuffer{types: ts, rows: rows}
}

func (a *appendBuffer) slot() *slot {
	if n := len(a.free); n > 0 {
		s := a.free[n-1]
		a.free = a.free[:n-1]
		s.reset()
		return s
	}
	return newSlot(a.types)
}

// begin makes s the last batch.
func (a *appendBuffer) begin(s *slot) {
	if n := len(a.batches); n > 0 {
		a.size += a.batches[n-1].batch.Size()
	}
	a.batches = append(a.batches, s)
}

func (a *appendBuffer) add(b *column.Batch, from *slot) error {
	n := b.Rows()
	if b.Sel == nil && n <= a.rows && n >= a.rows/4 {
		s := a.slot()
		s.take(b, from)
		a.begin(s)
		return nil
	}
	most := int64(0)
	if b.Size() > maxBytes {
		most = widest(b.Cols)
	}
	for at := 0; at < n; {
		if len(a.batches) == 0 || a.lastFull() {
			a.begin(a.slot())
		}
		s := a.batches[len(a.batches)-1]
		to := min(n, at+a.rows-s.batch.N)
		to = cut(at, to, most, maxBytes, func(k int) int64 { return textBytes(b.Cols, b.Row(k)) })
		s.add(b, at, to)
		at = to
	}
	return nil
}

// lastFull reports whether nothing may be added to the last batch: it has its rows or bytes, or vectors that
// are not its own.
func (a *appendBuffer) lastFull() bool {
	s := a.batches[len(a.batches)-1]
	return s.batch.N >= a.rows || s.batch.Shared || s.batch.Size() >= maxBytes
}

func (a *appendBuffer) empty() bool { return len(a.batches) == 0 }

func (a *appendBuffer) bytes() int64 {
	if len(a.batches) == 0 {
		return 0
	}
	return a.size + a.batches[len(a.batches)-1].batch.Size()
}

func (a *appendBuffer) drain() (*column.Batch, error) {
	if a.at == len(a.batches) {
		return nil, nil
	}
	a.at++
	return &a.batches[a.at-1].batch, nil
}

func (a *appendBuffer) rewind() { a.at = 0 }

func (a *appendBuffer) reset() {
	for i, s := range a.batches {
		if len(a.free) < freeSlots && s.room() <= maxBytes/8 {
			a.free = append(a.free, s)
		}
		a.batches[i] = nil
	}
	a.batches, a.size, a.at = a.batches[:0], 0, 0
}

// upsertBuffer keeps for each key what is to become of it: the last row with the key, or its removal. A key's
// row is removed by -D and by -U; the +U that follows a -U, with the same key or another, then adds one. So
// the result is right, too, where an operator has let only one of the two pass.
type upsertBuffer struct {
	types []types.Type
	key   []int
	limit int // rows of a batch
	hold  func(int64) error

	table   *groupTable // the keys
	rows    *rowStore   // by arrival
	changes []upsertChange
	size    int64 // when the rows were last compacted

	cols   []*column.Vector
	groups []uint32
	out    *slot
	at     int
	frozen bool
}

// upsertChange is what becomes of a key.
type upsertChange struct {
	row  uint32 // the last with the key
	kind types.RowKind
	born bool // the first row with the key was a +I
}

func newUpsertBuffer(ts []types.Type, key []int, limit int, hold func(int64) error) *upsertBuffer {
	u := &upsertBuffer{types: ts, key: key, limit: min(limit, column.DefaultRows), hold: hold, cols: make([]*column.Vector, len(key))}
	u.reset()
	return u
}

func (u *upsertBuffer) reset() {
	ts := make([]types.Type, len(u.key))
	for i, c := range u.key {
		ts[i] = u.types[c]
	}
	u.table = newGroupTable(ts, func(n int64) error { return u.hold(u.bytes() + n) })
	u.rows = newRowStore(u.types)
	u.changes, u.at, u.frozen, u.size, u.out = nil, 0, false, 0, nil
}

func (u *upsertBuffer) rewind() { u.at = 0 }

func (u *upsertBuffer) empty() bool { return len(u.changes) == 0 }

func (u *upsertBuffer) bytes() int64 {
	return u.table.bytes() + u.rows.bytes() + int64(cap(u.changes))*8
}

func (u *upsertBuffer) add(b *column.Batch, _ *slot) error {
	n := b.Rows()
	if cap(u.groups) < n {
		u.groups = make([]uint32, max(n, column.DefaultRows))
	}
	groups := u.groups[:n]
	for i, c := range u.key {
		u.cols[i] = b.Cols[c]
	}
	if err := u.hold(u.bytes() + rowBytes(b.Cols, b.Sel, b.N) + rowBytes(u.cols, b.Sel, b.N)); err != nil {
		return err
	}
	if err := u.table.find(u.cols, b.Sel, b.N, groups); err != nil {
		return err
	}
	first := uint32(u.rows.n)
	if err := u.rows.append(b.Cols, b.Sel, b.N); err != nil {
		return err
	}
	for k, g := range groups {
		kind := types.Insert
		if b.Kind != nil {
			kind = b.Kind[b.Row(k)]
		}
		if int(g) == len(u.changes) {
			u.changes = append(u.changes, upsertChange{born: kind == types.Insert})
		}
		c := &u.changes[g]
		c.row = first + uint32(k)
		switch {
		case kind == types.Delete || kind == types.UpdateBefore:
			c.kind = types.Delete
		case c.born:
			c.kind = types.Insert
		default:
			c.kind = types.UpdateAfter
		}
	}
	if u.rows.n > 4*len(u.changes) && u.rows.n > chunkRows && u.rows.bytes() > 2*u.size {
		return u.compact()
	}
	return nil
}

// compact drops the rows that others have replaced.
func (u *upsertBuffer) compact() error {
	old := u.rows
	old.freeze()
	u.rows = newRowStore(u.types)
	ids := make([]uint32, 0, u.limit)
	for from := 0; from < len(u.changes); {
		to := u.ids(old, from, &ids)
		part := newSlot(u.types)
		if err := gatherRows(old, ids, &part.batch); err != nil {
			return err
		}
		first := uint32(u.rows.n)
		if err := u.rows.append(part.batch.Cols, nil, len(ids)); err != nil {
			return err
		}
		for k := range ids {
			u.changes[from+k].row = first + uint32(k)
		}
		from = to
	}
	u.size = u.rows.bytes()
	return nil
}

// ids lists the rows of a batch of changes from one on, and returns where it ends.
func (u *upsertBuffer) ids(rows *rowStore, from int, ids *[]uint32) int {
	list := (*ids)[:0]
	for _, c := range u.changes[from:min(from+u.limit, len(u.changes))] {
		list = append(list, c.row)
	}
	n := rows.cut(list, 0, len(list))
	*ids = list[:n]
	return from + n
}

func gatherRows(rows *rowStore, ids []uint32, to *column.Batch) error {
	for c, v := range to.Cols {
		if err := rows.gather(c, ids, false, v); err != nil {
			return err
		}
	}
	to.N = len(ids)
	return nil
}

func (u *upsertBuffer) drain() (*column.Batch, error) {
	if u.at == len(u.changes) {
		return nil, nil
	}
	if !u.frozen {
		u.rows.freeze()
		u.frozen, u.out = true, newSlot(u.types)
		// Removals first: a row may have a value, other than the key, that must be unique and that one of them had.
		slices.SortStableFunc(u.changes, func(a, b upsertChange) int {
			switch gone := a.kind == types.Delete; {
			case gone == (b.kind == types.Delete):
				return 0
			case gone:
				return -1
			}
			return 1
		})
	}
	var ids []uint32
	from := u.at
	u.at = u.ids(u.rows, from, &ids)
	u.out.reset()
	if err := gatherRows(u.rows, ids, &u.out.batch); err != nil {
		return nil, err
	}
	u.out.batch.Kind = make([]types.RowKind, len(ids))
	for k := range ids {
		u.out.batch.Kind[k] = u.changes[from+k].kind
	}
	return &u.out.batch, nil
}
