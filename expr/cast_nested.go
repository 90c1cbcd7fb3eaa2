package expr

import (
	"math"

	"time"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// partCast casts the vectors of one part of a nested type.
type partCast struct {
	step castStep // nil: the values are the same
	out  *column.Vector
	sel  []uint16
	all  types.Type
	// required says that a NULL has no counterpart: the part is NOT NULL, and what it is cast from is not.
	required bool
}

func newPartCast(from, to types.Type, exact bool, zone *time.Location) *partCast {
	p := &partCast{out: column.New(to, 0), all: from, required: to.NotNull && from.Nullable()}
	if from.Kind == types.Null {
		return p
	}
	switch {
	case sameValues(from, to):
	case to.IsNested():
		p.step = castParts(from, to, exact, zone)
	default:
		p.step = newCastStep(from, to, zone)
		if exact && castMayCut(from, to) {
			p.step = exactly(p.step, from, to, zone)
		}
	}
	return p
}

// run casts v at the rows; what it returns belongs to v or to p. bad is called with a row of v.
func (p *partCast) run(v *column.Vector, r Rows, bad func(i int) error) (*column.Vector, error) {
	if p.required {
		for k, n := 0, r.Count(); k < n; k++ {
			if i := r.Row(k); v.IsNull(i) {
				if err := bad(i); err != nil {
					return nil, err
				}
			}
		}
	}
	switch {
	case p.all.Kind == types.Null:
		p.out.Reset()
		for range r.N {
			p.out.AppendNull()
		}
		return p.out, nil
	case p.step == nil:
		return v, nil
	}
	prepare(p.out, r.N)
	if v.Valid != nil {
		p.out.Valid = append(column.Bitmap(nil), v.Valid[:(r.N+63)/64]...)
		r.Sel = narrowValid(r, v.Valid, room(&p.sel, r.N))
	}
	err := p.step(r, vectorArg(v), p.out, bad)
	return p.out, err
}

// tightens reports whether a nested type has a part that must not be NULL where the other's may be.
func tightens(from, to types.Type) bool {
	for i, f := range from.Fields {
		if t := to.Fields[i].Type; f.Type.Nullable() && t.NotNull || tightens(f.Type, t) {
			return true
		}
	}
	return false
}

// castParts casts a nested value to one of the same kind, part by part. A part that has no counterpart
// makes the whole value one that has none.
func castParts(from, to types.Type, exact bool, zone *time.Location) castStep {
	parts := make([]*partCast, len(from.Fields))
	for k := range parts {
		parts[k] = newPartCast(from.Fields[k].Type, to.Fields[k].Type, exact, zone)
	}
	if from.Kind == types.Row {
		return castFields(parts)
	}
	return castElements(parts, from, to)
}

func castFields(parts []*partCast) castStep {
	cast := make([]*column.Vector, len(parts))
	return func(r Rows, x Arg, out *column.Vector, bad func(int) error) error {
		o := newNested(out, r.N)
		var failed map[int]bool
		for k, p := range parts {
			var err error
			cast[k], err = p.run(x.Children[k], r, func(i int) error {
				if failed == nil {
					failed = map[int]bool{}
				}
				failed[i] = true
				return nil
			})
			if err != nil {
				return err
			}
		}
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			o.row(i)
			if failed[i] {
				out.AppendNull()
				continue
			}
			for c, v := range cast {
				out.Children[c].AppendFrom(v, i)
			}
			out.EndRow()
		}
		o.finish()
		return reportAll(failed, r, bad)
	}
}

// reportAll calls bad for every failed row, in order; the first error ends it.
func reportAll(failed map[int]bool, r Rows, bad func(int) error) error {
	if len(failed) == 0 {
		return nil
	}
	for k, n := 0, r.Count(); k < n; k++ {
		if i := r.Row(k); failed[i] {
			if err := bad(i); err != nil {
				return err
			}
		}
	}
	return nil
}

func castElements(parts []*partCast, from, to types.Type) castStep {
	// The elements of the rows at hand, dense.
	dense := column.New(from, 0)
	return func(r Rows, x Arg, out *column.Vector, bad func(int) error) error {
		o := newNested(out, r.N)
		dense.Reset()
		for k, n := 0, r.Count(); k < n; k++ {
			dense.AppendFrom(x.Vector, x.At(r.Row(k)))
		}
		var failed map[int]bool
		cast := append([]*column.Vector(nil), dense.Children...) // a MULTISET's counts stay
		for c, p := range parts {
			elements := Rows{N: dense.Children[c].Len}
			step := func(e int) error {
				if failed == nil {
					failed = map[int]bool{}
				}
				failed[r.Row(rowOfElement(dense.Offsets, e))] = true
				return nil
			}
			v, err := p.runAll(dense.Children[c], elements, step)
			if err != nil {
				return err
			}
			cast[c] = v
		}
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			o.row(i)
			if failed[i] {
				out.AppendNull()
				continue
			}
			from, to := dense.Elements(k)
			switch {
			case out.Type.Kind == types.Array:
				out.Children[0].AppendRange(cast[0], from, to-from)
			case out.Type.Kind == types.Multiset && overcounted(out.Type, cast, from, to):
				if failed == nil {
					failed = map[int]bool{}
				}
				failed[i] = true
				out.AppendNull()
				continue
			default:
				if err := appendEntries(out, cast, from, to); err != nil {
					return located(err, i)
				}
				continue
			}
			out.EndRow()
		}
		o.finish()
		return reportAll(failed, r, bad)
	}
}

// runAll is run over more rows than a selection can name: it works in pieces.
func (p *partCast) runAll(v *column.Vector, r Rows, bad func(i int) error) (*column.Vector, error) {
	if r.N <= column.MaxRows || p.step == nil && !p.required || p.all.Kind == types.Null {
		return p.run(v, r, bad)
	}
	whole := column.New(p.out.Type, r.N)
	for from := 0; from < r.N; from += column.MaxRows {
		n := min(column.MaxRows, r.N-from)
		piece := column.New(v.Type, n)
		piece.AppendRange(v, from, n)
		got, err := p.run(piece, Rows{N: n}, func(i int) error { return bad(from + i) })
		if err != nil {
			return nil, err
		}
		whole.AppendRange(got, 0, n)
	}
	return whole, nil
}

// rowOfElement returns the row whose elements include element e.
func rowOfElement(offsets []int32, e int) int {
	lo, hi := 0, len(offsets)-2
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if int(offsets[mid]) <= e {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}

// appendEntries appends the entries from (included) to to (excluded) of src, the children of a MAP or
// MULTISET, as out's next row. Of entries with equal keys the last one stays in a MAP, and their counts are
// added in a MULTISET.
func appendEntries(out *column.Vector, src []*column.Vector, from, to int) error {
	b := newEntries(out)
	for e := from; e < to; e++ {
		if out.Type.Kind != types.Multiset {
			b.put(src[0], e, src[1], e)
			continue
		}
		if err := b.count(src[0], e, src[1].I32[e]); err != nil {
			return err
		}
	}
	b.end(out)
	return nil
}

// overcounted reports whether elements that are equal now would be counted beyond an INT in a MULTISET of type t.
func overcounted(t types.Type, src []*column.Vector, from, to int) bool {
	total := int64(0)
	for _, n := range src[1].I32[from:to] {
		total += int64(n)
	}
	return total > math.MaxInt32 && appendEntries(column.New(t, 0), src, from, to) != nil
}
