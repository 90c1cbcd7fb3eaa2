package exec

import (
	"fmt"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
)

// joinProbe joins the rows of the left input with the rows of a joinTable.
//
// For a batch it lists candidate pairs (a left row and the id of a right row), checks the keys and the
// residual condition for all of them at once, and gathers the columns of what remains. Pairs come in the
// order of the left rows, and for one left row in that of the right rows; a left row that an outer join
// keeps without a match stands in its place. Right rows without a match follow at the end, from the
// worker that ends last.
type joinProbe struct {
	w        *worker
	t        *joinTable
	evals    []*expr.Evaluator
	residual *expr.Filter
	left     int // columns of the left input
	out      *slot

	keys   []*column.Vector
	hashes []uint64
	sel    []uint16
	pairs  pairs
	spare  pairs // memory for fill
	mem    []uint16
	seg    segment
}

// pairs lists left rows (physical) and right ids.
type pairs struct {
	left  []uint16
	right []uint32
}

// maxPairs is how many pairs are listed before they are worked on; a left row's are not torn apart
// below it.
const maxPairs = 2 * column.DefaultRows

var _ operator = (*joinProbe)(nil)

func newJoinProbe(w *worker, v *job.Vertex, spec *job.Join, t *joinTable, env *expr.Env) (operator, error) {
	switch spec.Kind {
	case job.Inner, job.Left, job.Right, job.Full:
	default:
		return nil, fmt.Errorf("join of unknown kind %q", spec.Kind)
	}
	p := &joinProbe{w: w, t: t, left: len(v.Out) - len(t.rows.types), out: newSlot(vertexTypes(v))}
	if p.left < 0 {
		return nil, fmt.Errorf("join makes %d columns, fewer than its right input has", len(v.Out))
	}
	var err error
	if p.evals, err = compile(spec.LeftKeys, env); err != nil {
		return nil, err
	}
	p.keys = make([]*column.Vector, len(p.evals))
	if spec.Residual.Expr != nil {
		if p.residual, err = expr.CompileFilter(spec.Residual.Expr, env); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// keepsLeft reports whether left rows without a match are part of the result.
func (p *joinProbe) keepsLeft() bool { return p.t.kind == job.Left || p.t.kind == job.Full }

func (p *joinProbe) process(b *column.Batch, out emit) error {
	if p.t.rows.n == 0 && !p.keepsLeft() {
		return done{p}
	}
	if p.t.keys == nil {
		return p.nestedLoop(b, out)
	}
	for i, e := range p.evals {
		v, err := e.Eval(b)
		if err != nil {
			return err
		}
		p.keys[i] = v
	}
	// NULL and NaN match nothing; with an outer join the row is kept all the same.
	sel := matchable(p.keys, b, &p.sel)
	n := b.N
	if sel != nil {
		n = len(sel)
	}
	if cap(p.hashes) < n {
		p.hashes = make([]uint64, max(n, column.DefaultRows))
	}
	hashes := p.hashes[:n]
	column.Hash(p.keys, sel, b.N, hashes)
	s := p.newSegment(b, out)
	t := p.t
	steps := 0
	for k, h := range hashes {
		id := uint32(0)
		if t.heads != nil {
			id = t.heads[h&t.mask]
		}
		row := uint16(rowAt(sel, k))
		tag := uint32(h >> 32)
		for id != 0 {
			if steps++; steps&cancelMask == 0 {
				if err := p.w.canceled(); err != nil {
					return err
				}
			}
			e := t.entries[id-1]
			if e.tag == tag {
				p.pairs.left = append(p.pairs.left, row)
				p.pairs.right = append(p.pairs.right, id-1)
				if len(p.pairs.left) >= 2*maxPairs {
					if err := s.flush(int(row), true); err != nil {
						return err
					}
				}
			}
			id = e.next
		}
		if len(p.pairs.left) >= maxPairs {
			if err := s.flush(int(row), false); err != nil {
				return err
			}
		}
	}
	return s.flush(column.MaxRows, false)
}

// nestedLoop pairs every left row with every right row.
func (p *joinProbe) nestedLoop(b *column.Batch, out emit) error {
	s := p.newSegment(b, out)
	for k := range b.Rows() {
		row := uint16(b.Row(k))
		for id := range uint32(p.t.rows.n) {
			p.pairs.left = append(p.pairs.left, row)
			p.pairs.right = append(p.pairs.right, id)
			if len(p.pairs.left) >= maxPairs {
				if err := s.flush(int(row), true); err != nil {
					return err
				}
			}
		}
	}
	return s.flush(column.MaxRows, false)
}

// segment works on the pairs of one left batch, part by part.
type segment struct {
	p       *joinProbe
	b       *column.Batch
	out     emit
	next    int  // position in the selection of the first left row that has not been dealt with
	matched bool // that row has had a match in an earlier part
	widest  int64
}

// newSegment begins the work on a left batch.
func (p *joinProbe) newSegment(b *column.Batch, out emit) *segment {
	p.seg = segment{p: p, b: b, out: out, widest: widest(b.Cols) + p.t.rows.widest}
	return &p.seg
}

// cut returns where a batch of the pairs from on has to end.
func (s *segment) cut(ps *pairs, from int) int {
	return cut(from, len(ps.left), s.widest, maxBytes, func(i int) int64 {
		return textBytes(s.b.Cols, int(ps.left[i])) + s.p.t.rows.textBytes(ps.right[i])
	})
}

// flush works on the listed pairs, which are all up to the left row last, or with torn some of that row's.
func (s *segment) flush(last int, torn bool) error {
	p := s.p
	if err := p.w.canceled(); err != nil {
		return err
	}
	p.checkKeys()
	ready := false // the pairs that remain are gathered
	if p.residual != nil && len(p.pairs.left) > 0 {
		var err error
		if ready, err = s.check(); err != nil {
			return err
		}
	}
	p.mark()
	missing := false
	if p.keepsLeft() {
		missing = s.fill(last, torn)
	}
	ps := p.pairs
	p.pairs.left, p.pairs.right = p.pairs.left[:0], p.pairs.right[:0]
	if ready && !p.keepsLeft() {
		return p.w.lend(p.out, s.out)
	}
	for from := 0; from < len(ps.left); {
		to := s.cut(&ps, from)
		p.out.reset()
		if err := p.gather(s.b, ps.left[from:to], ps.right[from:to], missing); err != nil {
			return err
		}
		if err := p.w.lend(p.out, s.out); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// check drops the pairs that the residual condition, which sees the rows of the result, does not let
// through. It reports whether what remains stands gathered in the output already.
func (s *segment) check() (ready bool, err error) {
	p := s.p
	n, all := 0, len(p.pairs.left)
	for from := 0; from < all; {
		to := s.cut(&p.pairs, from)
		left, right := p.pairs.left[from:to], p.pairs.right[from:to]
		p.out.reset()
		if err := p.gather(s.b, left, right, false); err != nil {
			return false, err
		}
		if cap(p.mem) < p.out.batch.N {
			p.mem = make([]uint16, 0, p.out.batch.N)
		}
		sel, err := p.residual.Select(&p.out.batch, p.mem[:0])
		if err != nil {
			return false, err
		}
		for _, k := range sel {
			p.pairs.left[n], p.pairs.right[n] = left[k], right[k]
			n++
		}
		ready = len(sel) == all
		from = to
	}
	p.pairs.left, p.pairs.right = p.pairs.left[:n], p.pairs.right[:n]
	return ready, nil
}

// mark notes the right rows that have a match.
func (p *joinProbe) mark() {
	if !p.t.outer() {
		return
	}
	for _, id := range p.pairs.right {
		w, bit := &p.t.matched[id>>6], uint64(1)<<(id&63)
		if w.Load()&bit == 0 {
			w.Or(bit)
		}
	}
}

// fill puts a pair without a right row wherever a left row up to last has no match. It reports whether
// there was one.
func (s *segment) fill(last int, torn bool) bool {
	p := s.p
	got := p.pairs
	all := pairs{p.spare.left[:0], p.spare.right[:0]}
	missing, i := false, 0
	for s.next < s.b.Rows() {
		row := s.b.Row(s.next)
		if row > last {
			break
		}
		for i < len(got.left) && int(got.left[i]) == row {
			all.left, all.right = append(all.left, got.left[i]), append(all.right, got.right[i])
			s.matched = true
			i++
		}
		if torn && row == last {
			break // more pairs of this row may come
		}
		if !s.matched {
			all.left, all.right = append(all.left, uint16(row)), append(all.right, noRow)
			missing = true
		}
		s.matched = false
		s.next++
	}
	p.pairs, p.spare = all, got
	return missing
}

// checkKeys drops the pairs whose keys only seemed equal. Keys of pairs are never NULL and never NaN.
func (p *joinProbe) checkKeys() {
	t := p.t
	if t.keys == nil || len(p.pairs.left) == 0 {
		return
	}
	if len(p.keys) == 1 {
		switch k := p.keys[0]; column.PhysicalOf(k.Type) {
		case column.PhysI64:
			checkInts(&p.pairs, k.I64, t.keys.views[0].i64)
			return
		case column.PhysI32:
			checkInts(&p.pairs, k.I32, t.keys.views[0].i32)
			return
		}
	}
	n := 0
	for i, left := range p.pairs.left {
		id := p.pairs.right[i]
		if column.EqualRows(p.keys, int(left), t.keys.chunks[id>>chunkBits], int(id&chunkMask)) {
			p.pairs.left[n], p.pairs.right[n] = left, id
			n++
		}
	}
	p.pairs.left, p.pairs.right = p.pairs.left[:n], p.pairs.right[:n]
}

func checkInts[T int32 | int64](ps *pairs, left []T, right [][]T) {
	n := 0
	for i, row := range ps.left {
		id := ps.right[i]
		if left[row] == right[id>>chunkBits][id&chunkMask] {
			ps.left[n], ps.right[n] = row, id
			n++
		}
	}
	ps.left, ps.right = ps.left[:n], ps.right[:n]
}

// gather appends the columns of the pairs to the output.
func (p *joinProbe) gather(b *column.Batch, left []uint16, right []uint32, missing bool) error {
	for c, v := range p.out.batch.Cols {
		if c < p.left {
			v.AppendVector(b.Cols[c], left, 0)
			continue
		}
		if err := p.t.rows.gather(c-p.left, right, missing, v); err != nil {
			return err
		}
	}
	p.out.batch.N += len(left)
	return nil
}

// finish hands on the right rows without a match.
func (p *joinProbe) finish(out emit) error {
	if p.t.probing.Add(-1) > 0 || !p.t.outer() {
		return nil
	}
	ids := make([]uint32, 0, column.DefaultRows)
	flush := func() error {
		for from := 0; from < len(ids); {
			to := p.t.rows.cut(ids, from, len(ids))
			p.out.reset()
			for c, v := range p.out.batch.Cols {
				if c < p.left {
					for range to - from {
						v.AppendNull()
					}
					continue
				}
				if err := p.t.rows.gather(c-p.left, ids[from:to], false, v); err != nil {
					return err
				}
			}
			p.out.batch.N = to - from
			if err := p.w.lend(p.out, out); err != nil {
				return err
			}
			from = to
		}
		ids = ids[:0]
		return p.w.canceled()
	}
	for id := range p.t.rows.n {
		if id&cancelMask == 0 {
			if err := p.w.canceled(); err != nil {
				return err
			}
		}
		if p.t.matched[id>>6].Load()>>(id&63)&1 == 0 {
			ids = append(ids, uint32(id))
			if len(ids) == cap(ids) {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	if len(ids) > 0 {
		return flush()
	}
	return nil
}

func (p *joinProbe) close() { p.t.leave() }
