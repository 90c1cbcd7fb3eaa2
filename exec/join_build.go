package exec

import (
	"math/bits"
	"sync/atomic"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/types"
)

// joinTable holds the rows of a join's build side, its right input. joinBuild fills it; when ready is
// closed it never changes but for the marks of matched rows, and all workers of the probe side share it.
type joinTable struct {
	kind    job.JoinKind
	from    *pipeline // that fills it
	ready   chan struct{}
	rows    *rowStore
	keys    *rowStore // key columns of the rows, by the same ids; nil without keys
	memory  *memory
	matched []atomic.Uint64 // bits by row, for right and full joins
	probing atomic.Int32    // workers whose left rows have not ended
	users   atomic.Int32    // workers that have not left

	// The rows of one slot are a list: heads has the first row's id plus one, entries the next one's.
	heads   []uint32
	entries []joinEntry
	mask    uint64
}

// joinEntry is a row in a list: the high half of its key's hash and the next row's id plus one.
type joinEntry struct {
	tag  uint32
	next uint32
}

func newJoinTable(v *job.Vertex, spec *job.Join, ts []types.Type, from *pipeline) *joinTable {
	t := &joinTable{kind: spec.Kind, from: from, ready: make(chan struct{}), rows: newRowStore(ts)}
	if len(spec.RightKeys) > 0 {
		keys := make([]types.Type, len(spec.RightKeys))
		for i, k := range spec.RightKeys {
			keys[i] = k.Type()
		}
		t.keys = newRowStore(keys)
	}
	t.probing.Store(int32(v.Parallelism))
	t.users.Store(int32(v.Parallelism))
	return t
}

// outer reports whether build rows without a match are part of the result.
func (t *joinTable) outer() bool { return t.kind == job.Right || t.kind == job.Full }

// bytes returns the memory that the table takes, with lists of n rows.
func (t *joinTable) bytes(n int) int64 {
	size := t.rows.bytes()
	if t.keys != nil {
		size += t.keys.bytes() + int64(n)*24 // an entry, a hash, room to grow
	}
	return size
}

// leave is called by each worker of the probe side when it needs the table no more.
func (t *joinTable) leave() {
	if t.users.Add(-1) > 0 {
		return
	}
	select {
	case <-t.ready:
		t.free()
	default: // it is still being filled; the job's end frees it
	}
}

// free gives back the memory, when nobody fills or probes the table.
func (t *joinTable) free() {
	t.rows, t.keys, t.heads, t.entries, t.matched = nil, nil, nil, nil, nil
	if t.memory != nil {
		t.memory.free()
	}
}

// joinBuild is the operator that fills a joinTable. It keeps all rows, but for those that can never match.
type joinBuild struct {
	w      *worker
	t      *joinTable
	evals  []*expr.Evaluator
	cols   []*column.Vector
	hashes []uint64 // by row
	nulls  []bool   // rows whose keys are equal to none, kept for an outer join; nil when there are none
	sel    []uint16
}

var _ operator = (*joinBuild)(nil)

func newJoinBuild(w *worker, t *joinTable, spec *job.Join, env *expr.Env, m *memory) (operator, error) {
	t.memory = m
	b := &joinBuild{w: w, t: t}
	var err error
	if b.evals, err = compile(spec.RightKeys, env); err != nil {
		return nil, err
	}
	b.cols = make([]*column.Vector, len(b.evals))
	return b, nil
}

func (b *joinBuild) process(in *column.Batch, _ emit) error {
	t, sel := b.t, in.Sel
	first := t.rows.n
	if t.keys != nil {
		for i, e := range b.evals {
			v, err := e.Eval(in)
			if err != nil {
				return err
			}
			b.cols[i] = v
		}
		if !t.outer() {
			sel = matchable(b.cols, in, &b.sel)
		}
	}
	kept := in.N
	if sel != nil {
		kept = len(sel)
	}
	more := rowBytes(in.Cols, sel, in.N) + rowBytes(b.cols, sel, in.N)
	if err := t.memory.hold(t.bytes(t.rows.n+kept) + more); err != nil {
		return err
	}
	if err := t.rows.append(in.Cols, sel, in.N); err != nil {
		return err
	}
	if t.keys == nil {
		return nil
	}
	if err := t.keys.append(b.cols, sel, in.N); err != nil {
		return err
	}
	n := t.rows.n - first
	for len(b.hashes) < t.rows.n {
		b.hashes = append(b.hashes, 0)
	}
	column.Hash(b.cols, sel, in.N, b.hashes[first:])
	if t.outer() {
		for k := range n {
			null := neverEqual(b.cols, rowAt(sel, k))
			if null || b.nulls != nil {
				for len(b.nulls) < first+k {
					b.nulls = append(b.nulls, false)
				}
				b.nulls = append(b.nulls, null)
			}
		}
	}
	return nil
}

// matchable returns the selected rows whose key columns can be equal to others: neither NULL nor, since = is
// not TRUE for it, NaN. nil stands for all rows of a dense batch.
func matchable(cols []*column.Vector, b *column.Batch, buf *[]uint16) []uint16 {
	some := false
	for _, v := range cols {
		some = some || v.Valid != nil || v.Type.Kind == types.Null || v.Type.IsFloat()
	}
	if !some {
		return b.Sel
	}
	sel := (*buf)[:0]
	for k := range b.Rows() {
		if row := b.Row(k); !neverEqual(cols, row) {
			sel = append(sel, uint16(row))
		}
	}
	*buf = sel
	if sel == nil {
		sel = []uint16{}
	}
	return sel
}

// neverEqual reports whether a column of the row has a value that = never finds equal.
func neverEqual(cols []*column.Vector, row int) bool {
	for _, v := range cols {
		if v.IsNull(row) {
			return true
		}
		switch v.Type.Kind {
		case types.Double:
			if x := v.F64[row]; x != x {
				return true
			}
		case types.Float:
			if x := v.F32[row]; x != x {
				return true
			}
		}
	}
	return false
}

// finish makes the lists. Rows are added last to first, so that each list is in the order of the rows.
func (b *joinBuild) finish(emit) error {
	t := b.t
	t.rows.freeze()
	if t.keys != nil {
		t.keys.freeze()
	}
	if t.keys != nil && t.rows.n > 0 {
		size := 1 << bits.Len(uint(t.rows.n)*2-1)
		if err := t.memory.hold(t.bytes(t.rows.n) + int64(size)*4); err != nil {
			return err
		}
		t.heads, t.entries, t.mask = make([]uint32, size), make([]joinEntry, t.rows.n), uint64(size-1)
		for id := t.rows.n - 1; id >= 0; id-- {
			if id&cancelMask == 0 {
				if err := b.w.canceled(); err != nil {
					return err
				}
			}
			if id < len(b.nulls) && b.nulls[id] {
				continue
			}
			h := b.hashes[id]
			t.entries[id] = joinEntry{uint32(h >> 32), t.heads[h&t.mask]}
			t.heads[h&t.mask] = uint32(id) + 1
		}
	}
	if t.outer() {
		t.matched = make([]atomic.Uint64, (t.rows.n+63)/64)
	}
	b.hashes = nil
	close(t.ready)
	return nil
}

func (b *joinBuild) close() {} // the table outlives it
