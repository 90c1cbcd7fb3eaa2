package expr

import (
	"bytes"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

func extremeAggregates() []Aggregate {
	extreme := func(name, doc, result string, greatest bool) Aggregate {
		return Aggregate{
			Name: name, Syntax: name + "(value)", Doc: doc, Example: name + "(x)", Result: result, Min: 1, Max: 1,
			IgnoresDistinct: true,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				t, _ := anyType(args[0].Type())
				if t.IsNested() {
					return nil, t, errMismatch
				}
				return []types.Type{t}, t.AsNullable(), nil
			},
			New: func(args []types.Type, _ types.Type) Accumulator { return newExtremes(args[0], greatest) },
			NewRetracting: func(args []types.Type, _ types.Type) Accumulator {
				return &multisets{t: args[0].AsNullable(), greatest: greatest}
			},
		}
	}
	return []Aggregate{
		extreme("MIN", "The least value that is not NULL; NULL when there is none.", "1", false),
		extreme("MAX", "The greatest value that is not NULL; NULL when there is none.", "2", true),
	}
}

func newExtremes(t types.Type, greatest bool) Accumulator {
	t = t.AsNullable()
	switch column.PhysicalOf(t) {
	case column.PhysI8:
		return &extremes[int8]{t: t, greatest: greatest}
	case column.PhysI16:
		return &extremes[int16]{t: t, greatest: greatest}
	case column.PhysI32:
		return &extremes[int32]{t: t, greatest: greatest}
	case column.PhysI64:
		return &extremes[int64]{t: t, greatest: greatest}
	case column.PhysF32:
		return &extremes[float32]{t: t, greatest: greatest}
	case column.PhysF64:
		return &extremes[float64]{t: t, greatest: greatest}
	case column.PhysBytes:
		return &textExtremes{t: t, greatest: greatest}
	}
	return &anyExtremes{t: t, greatest: greatest}
}

// extremes is the state of MIN and MAX over numbers and times. NaN is above all other numbers.
type extremes[T number] struct {
	t        types.Type
	greatest bool
	best     []T
	seen     []bool
	one      *column.Vector // scratch: a result
}

func (e *extremes[T]) Grow(groups int) {
	e.best = growTo(e.best, groups)
	e.seen = growTo(e.seen, groups)
}

func (e *extremes[T]) Update(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	x, valid := values[T](args[0]), args[0].Valid
	r := Rows{Sel: sel, N: n}
	best, seen := e.best, e.seen
	for k, n := 0, r.Count(); k < n; k++ {
		i := r.Row(k)
		if valid != nil && !valid.Get(i) {
			continue
		}
		g := groupOf(groups, k)
		v, b := x[i], best[g]
		if e.greatest {
			if v > b || v != v || !seen[g] {
				best[g], seen[g] = v, true
			}
		} else if v < b || b != b || !seen[g] {
			best[g], seen[g] = v, true
		}
	}
	return nil
}

func (e *extremes[T]) Retract([]uint32, []*column.Vector, []uint16, int) error {
	return notRetracting("MIN and MAX")
}

// notRetracting is the error of a state that was made for rows that only come.
func notRetracting(name string) error {
	return rowError(-1, "internal error ("+name+"): rows are taken back that this state cannot give", "please report it")
}

func (e *extremes[T]) StateTypes() []types.Type { return []types.Type{e.t} }

func (e *extremes[T]) State(out []*column.Vector, from, to int) error {
	return e.Result(out[0], from, to)
}

func (e *extremes[T]) Merge(groups []uint32, state []*column.Vector, n int) error {
	return e.Update(groups, state, nil, n)
}

func (e *extremes[T]) Result(out *column.Vector, from, to int) error {
	if e.one == nil {
		e.one = column.New(e.t, 0)
		e.one.Resize(1)
	}
	for g := from; g < to; g++ {
		if !e.seen[g] {
			out.AppendNull()
			continue
		}
		values[T](e.one)[0] = e.best[g]
		out.AppendFrom(e.one, 0)
	}
	return nil
}

func (e *extremes[T]) Size() int64 { return int64(8*cap(e.best) + cap(e.seen)) }

// textExtremes is the state of MIN and MAX over texts and bytes, compared byte by byte.
type textExtremes struct {
	t        types.Type
	greatest bool
	best     [][]byte // nil: none yet
	size     int64
}

func (e *textExtremes) Grow(groups int) { e.best = growTo(e.best, groups) }

func (e *textExtremes) Update(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	x := args[0]
	r := Rows{Sel: sel, N: n}
	for k, n := 0, r.Count(); k < n; k++ {
		i := r.Row(k)
		if !x.Valid.Get(i) {
			continue
		}
		g := groupOf(groups, k)
		v, b := x.Value(i), e.best[g]
		if b != nil {
			if c := bytes.Compare(v, b); c == 0 || (c > 0) != e.greatest {
				continue
			}
		}
		e.size -= int64(cap(b))
		if b == nil {
			b = make([]byte, 0, max(len(v), 8))
		}
		e.best[g] = append(b[:0], v...)
		e.size += int64(cap(e.best[g]))
	}
	return nil
}

func (e *textExtremes) Retract([]uint32, []*column.Vector, []uint16, int) error {
	return notRetracting("MIN and MAX")
}

func (e *textExtremes) StateTypes() []types.Type { return []types.Type{e.t} }

func (e *textExtremes) State(out []*column.Vector, from, to int) error {
	return e.Result(out[0], from, to)
}

func (e *textExtremes) Merge(groups []uint32, state []*column.Vector, n int) error {
	return e.Update(groups, state, nil, n)
}

func (e *textExtremes) Result(out *column.Vector, from, to int) error {
	for _, b := range e.best[from:to] {
		if b == nil {
			out.AppendNull()
		} else {
			out.AppendBytes(b)
		}
	}
	return nil
}

func (e *textExtremes) Size() int64 { return int64(24*cap(e.best)) + e.size }

// anyExtremes is the state of MIN and MAX over BOOLEAN and wide DECIMAL: one row for each group.
type anyExtremes struct {
	t        types.Type
	greatest bool
	best     *column.Vector
}

func (e *anyExtremes) Grow(groups int) {
	if e.best == nil {
		e.best = column.New(e.t, groups)
	}
	for e.best.Len < groups {
		e.best.AppendNull()
	}
}

func (e *anyExtremes) Update(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	x := args[0]
	r := Rows{Sel: sel, N: n}
	for k, n := 0, r.Count(); k < n; k++ {
		i := r.Row(k)
		if !x.Valid.Get(i) {
			continue
		}
		g := int(groupOf(groups, k))
		if !e.best.IsNull(g) {
			if c := column.Compare(x, i, e.best, g); c == 0 || (c > 0) != e.greatest {
				continue
			}
		}
		e.best.Valid.Set(g) // the bitmap exists: every group began as NULL
		copyRow(e.best, g, x, i)
	}
	return nil
}

func (e *anyExtremes) Retract([]uint32, []*column.Vector, []uint16, int) error {
	return notRetracting("MIN and MAX")
}

func (e *anyExtremes) StateTypes() []types.Type { return []types.Type{e.t} }

func (e *anyExtremes) State(out []*column.Vector, from, to int) error {
	return e.Result(out[0], from, to)
}

func (e *anyExtremes) Merge(groups []uint32, state []*column.Vector, n int) error {
	return e.Update(groups, state, nil, n)
}

func (e *anyExtremes) Result(out *column.Vector, from, to int) error {
	if e.best != nil {
		out.AppendRange(e.best, from, to-from)
	}
	return nil
}

func (e *anyExtremes) Size() int64 {
	if e.best == nil {
		return 0
	}
	return e.best.Size()
}
