package exec

import (
	"math"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/types"
)

// sorter is ORDER BY, stable. It keeps all rows and sorts small entries that stand for them (sort_entries.go).
//
// With a count it is a Top-N and keeps about twice as many rows as are wanted: whenever it has more it
// sorts, forgets the rest, and from then on takes only rows that may stand before the last one kept.
type sorter struct {
	w      *worker
	keys   []sortKey
	evals  []*expr.Evaluator // of the keys that are no columns of the input
	memory *memory
	count  int64 // -1: all
	offset int64
	keep   int64 // count and offset, or -1

	types    []types.Type
	keyTypes []types.Type
	rows     *rowStore
	computed *rowStore // the keys that are no columns
	entries  []sortEntry
	bound    *sortEntry // of the last row that a Top-N keeps

	cols []*column.Vector
	sel  []uint16
	out  *slot
}

// sortKey is one key of the ORDER BY.
type sortKey struct {
	column    int // in the rows, or the computed keys
	computed  bool
	desc      bool
	nullsLast bool
}

var _ operator = (*sorter)(nil)

func newSort(w *worker, spec *job.Sort, in []types.Type, env *expr.Env, m *memory) (operator, error) {
	s := &sorter{w: w, types: in, memory: m, count: spec.Count, offset: spec.Offset, keep: -1}
	if s.count >= 0 {
		s.keep = s.count + s.offset
		if s.keep < 0 { // beyond 64 bits
			s.keep = math.MaxInt64
		}
	}
	for _, k := range spec.Keys {
		key := sortKey{desc: k.Desc, nullsLast: k.NullsLast}
		if c, ok := k.Expr.Expr.(*expr.Column); ok {
			key.column = c.Index
		} else {
			e, err := expr.Compile(k.Expr.Expr, env)
			if err != nil {
				return nil, err
			}
			key.column, key.computed = len(s.evals), true
			s.evals = append(s.evals, e)
			s.keyTypes = append(s.keyTypes, k.Expr.Type())
		}
		s.keys = append(s.keys, key)
	}
	s.cols = make([]*column.Vector, len(s.evals))
	s.rows, s.computed = newRowStore(in), newRowStore(s.keyTypes)
	return s, nil
}

func (s *sorter) process(b *column.Batch, _ emit) error {
	if s.keep == 0 {
		return done{s}
	}
	for i, e := range s.evals {
		v, err := e.Eval(b)
		if err != nil {
			return err
		}
		s.cols[i] = v
	}
	sel := b.Sel
	if len(s.keys) > 0 {
		k := s.keys[0]
		v := b.Cols
		if k.computed {
			v = s.cols
		}
		sel = s.enter(v[k.column], k, b)
	} else {
		for k := range b.Rows() {
			s.entries = append(s.entries, sortEntry{id: uint32(s.rows.n + k)})
		}
	}
	if sel != nil && len(sel) == 0 {
		return nil
	}
	if err := s.memory.hold(s.bytes() + rowBytes(b.Cols, sel, b.N) + rowBytes(s.cols, sel, b.N)); err != nil {
		return err
	}
	if err := s.rows.append(b.Cols, sel, b.N); err != nil {
		return err
	}
	if err := s.computed.append(s.cols, sel, b.N); err != nil {
		return err
	}
	if s.rows.n > math.MaxUint32-column.MaxRows {
		return &Error{Row: -1, Msg: "ORDER BY has more than 4 billion rows", Hint: "add LIMIT"}
	}
	if s.keep >= 0 && s.keep < math.MaxInt64/4 && int64(s.rows.n) > 2*s.keep+2*column.DefaultRows {
		return s.shrink()
	}
	return nil
}

// enter makes the entries of a batch's rows and returns the rows that are to be kept.
func (s *sorter) enter(v *column.Vector, k sortKey, b *column.Batch) []uint16 {
	id := uint32(s.rows.n)
	first := len(s.entries)
	s.entries = appendEntries(s.entries, v, k, b.Sel, b.N, id)
	if s.bound == nil {
		return b.Sel
	}
	// Of rows that are equal in the first key only later keys can tell; without any, the earlier stay.
	equal := !exactPrefix(v.Type) || len(s.keys) > 1
	sel := s.sel[:0]
	n := first
	for i := first; i < len(s.entries); i++ {
		e := s.entries[i]
		if e.before(*s.bound) || equal && !s.bound.before(e) {
			sel = append(sel, uint16(b.Row(i-first)))
			e.id = id + uint32(n-first)
			s.entries[n] = e
			n++
		}
	}
	s.entries = s.entries[:n]
	s.sel = sel
	if sel == nil {
		sel = []uint16{}
	}
	return sel
}

// shrink forgets the rows of a Top-N that can no longer be among the first.
func (s *sorter) shrink() error {
	if err := s.sort(); err != nil {
		return err
	}
	s.entries = s.entries[:s.keep]
	ids := make([]uint32, len(s.entries))
	for i, e := range s.entries {
		ids[i] = e.id
		s.entries[i].id = uint32(i)
	}
	for _, st := range []**rowStore{&s.rows, &s.computed} {
		old := *st
		old.freeze()
		kept := newRowStore(old.types)
		for from := 0; from < len(ids); {
			to := old.cut(ids, from, min(from+column.DefaultRows, len(ids)))
			part := newSlot(old.types)
			for c, v := range part.own {
				if err := old.gather(c, ids[from:to], false, v); err != nil {
					return err
				}
			}
			if err := s.memory.hold(s.bytes() + kept.bytes() + 2*rowBytes(part.own, nil, to-from)); err != nil {
				return err
			}
			if err := kept.append(part.own, nil, to-from); err != nil {
				return err
			}
			from = to
		}
		*st = kept
	}
	if n := len(s.entries); n > 0 {
		last := s.entries[n-1]
		s.bound = &last
	}
	return nil
}

func (s *sorter) bytes() int64 {
	return s.rows.bytes() + s.computed.bytes() + int64(cap(s.entries))*entrySize
}

// sort sorts the entries, unless the pipeline is to end.
func (s *sorter) sort() error {
	if len(s.keys) == 0 {
		return nil
	}
	if err := s.memory.hold(s.bytes() + int64(len(s.entries))*entrySize); err != nil {
		return err
	}
	o := ordering{keys: s.keys, rows: s.rows, computed: s.computed, canceled: s.w.canceled}
	o.sort(s.entries)
	return o.err
}

func (s *sorter) finish(out emit) error {
	if err := s.sort(); err != nil {
		return err
	}
	s.rows.freeze()
	from, to := min(s.offset, int64(len(s.entries))), int64(len(s.entries))
	if s.count >= 0 {
		to = from + min(to-from, s.count)
	}
	s.out = newSlot(s.types)
	ids := make([]uint32, 0, column.DefaultRows)
	for from < to {
		if err := s.w.canceled(); err != nil {
			return err
		}
		ids = ids[:0]
		for _, e := range s.entries[from:min(to, from+column.DefaultRows)] {
			ids = append(ids, e.id)
		}
		n := s.rows.cut(ids, 0, len(ids))
		ids = ids[:n]
		s.out.reset()
		for c, v := range s.out.batch.Cols {
			if err := s.rows.gather(c, ids, false, v); err != nil {
				return err
			}
		}
		s.out.batch.N = len(ids)
		if err := s.w.lend(s.out, out); err != nil {
			return err
		}
		from += int64(n)
	}
	s.rows, s.computed, s.entries = nil, nil, nil // what follows in the chain has use for the memory
	s.memory.free()
	return nil
}

func (s *sorter) close() { s.memory.free() }
