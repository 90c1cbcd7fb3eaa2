package expr

import (
	"encoding/binary"
	"math"
	"math/big"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// exactFloats is the state of SUM, AVG and the variances of FLOAT and DOUBLE where rows are taken back: exact
// sums, and beside them how many values are no finite numbers, so that nothing is left of a value that has gone.
// A result is that of the values that are there, rounded once, whatever came and went.
type exactFloats struct {
	name    string
	squares bool // their sum is needed, too
	// finish makes the result of at least one value, all finite; ok is false for NULL.
	finish func(g *floatBag) (x float64, ok bool)
	// endless makes that of values some of which are not.
	endless func(g *floatBag) (x float64, ok bool)

	groups []floatBag
	size   int64
}

// floatBag is one group.
type floatBag struct {
	n       int64
	sum     exactSum
	squares *exactSum
	odd     *[3]int64 // how many are NaN, Infinity, -Infinity; nil: none ever was
}

func newExactSums(avg bool) Accumulator {
	e := &exactFloats{name: "SUM"}
	if avg {
		e.name = "AVG"
	}
	e.finish = func(g *floatBag) (float64, bool) {
		if avg {
			return g.sum.float() / float64(g.n), true
		}
		return g.sum.float(), true
	}
	e.endless = func(g *floatBag) (float64, bool) {
		switch nan, up, down := g.odd[0], g.odd[1], g.odd[2]; {
		case nan > 0 || up > 0 && down > 0:
			return math.NaN(), true
		case up > 0:
			return math.Inf(1), true
		}
		return math.Inf(-1), true
	}
	return e
}

func newExactVariances(name string, sample, root bool) Accumulator {
	divisor := func(g *floatBag) int64 {
		if sample {
			return g.n - 1
		}
		return g.n
	}
	return &exactFloats{
		name: name, squares: true,
		finish: func(g *floatBag) (float64, bool) {
			d := divisor(g)
			if d == 0 {
				return 0, false
			}
			f := spread(g.n, &g.sum, g.squares)
			by := new(big.Int).Mul(big.NewInt(g.n), big.NewInt(d))
			x, _ := new(big.Float).SetPrec(128).Quo(f, new(big.Float).SetInt(by)).Float64()
			if root {
				x = math.Sqrt(x)
			}
			return x, true
		},
		endless: func(g *floatBag) (float64, bool) { return math.NaN(), divisor(g) > 0 },
	}
}

func (e *exactFloats) Grow(groups int) { e.groups = growTo(e.groups, groups) }

func (e *exactFloats) Update(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	return e.change(groups, args[0], Rows{Sel: sel, N: n}, false)
}

func (e *exactFloats) Retract(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	return e.change(groups, args[0], Rows{Sel: sel, N: n}, true)
}

func (e *exactFloats) change(groups []uint32, v *column.Vector, r Rows, away bool) error {
	single := column.PhysicalOf(v.Type) == column.PhysF32
	for k, n := 0, r.Count(); k < n; k++ {
		i := r.Row(k)
		if v.IsNull(i) {
			continue
		}
		var x float64
		if single {
			x = float64(v.F32[i])
		} else {
			x = v.F64[i]
		}
		g := &e.groups[groupOf(groups, k)]
		before := g.size()
		by := int64(1)
		if away {
			by = -1
		}
		if g.n += by; g.n < 0 {
			return neverCame(i)
		}
		if math.IsInf(x, 0) || x != x {
			if g.odd == nil {
				g.odd = new([3]int64)
			}
			switch {
			case x != x:
				g.odd[0] += by
			case x > 0:
				g.odd[1] += by
			default:
				g.odd[2] += by
			}
		} else {
			g.sum.add(x, away)
			if e.squares {
				if g.squares == nil {
					g.squares = &exactSum{}
				}
				g.squares.addSquare(x, away)
			}
		}
		if g.n == 0 {
			*g = floatBag{}
		}
		e.size += g.size() - before
	}
	return nil
}

// neverCame is the error of a row that is taken back and was not there: every row that goes has come before.
func neverCame(row int) error {
	return rowError(row, "internal error (an aggregate): a row was taken back that was not there", "please report it")
}

func (g *floatBag) size() int64 {
	n := int64(8 * cap(g.sum.digits))
	if g.squares != nil {
		n += 32 + int64(8*cap(g.squares.digits))
	}
	if g.odd != nil {
		n += 24
	}
	return n
}

func (e *exactFloats) StateTypes() []types.Type { return []types.Type{types.Bytes().AsNotNull()} }

func (e *exactFloats) State(out []*column.Vector, from, to int) error {
	var buf []byte
	for i := from; i < to; i++ {
		g := &e.groups[i]
		buf = binary.AppendVarint(buf[:0], g.n)
		var odd [3]int64
		if g.odd != nil {
			odd = *g.odd
		}
		for _, n := range odd {
			buf = binary.AppendVarint(buf, n)
		}
		buf = g.sum.encode(buf)
		if e.squares {
			var none exactSum
			if g.squares == nil {
				buf = none.encode(buf)
			} else {
				buf = g.squares.encode(buf)
			}
		}
		out[0].AppendBytes(buf)
	}
	return nil
}

func (e *exactFloats) Merge(groups []uint32, state []*column.Vector, n int) error {
	for k := range n {
		g := &e.groups[groupOf(groups, k)]
		before := g.size()
		if !e.merge(g, state[0].Value(k)) {
			return rowError(-1, "the saved state of "+e.name+" is damaged", "")
		}
		e.size += g.size() - before
	}
	return nil
}

func (e *exactFloats) merge(g *floatBag, b []byte) (ok bool) {
	var ns [4]int64
	for i := range ns {
		n, w := binary.Varint(b)
		if w <= 0 {
			return false
		}
		ns[i], b = n, b[w:]
	}
	g.n += ns[0]
	if odd := [3]int64(ns[1:]); odd != [3]int64{} {
		if g.odd == nil {
			g.odd = new([3]int64)
		}
		for i, n := range odd {
			g.odd[i] += n
		}
	}
	if b, ok = g.sum.merge(b); !ok || !e.squares {
		return ok && len(b) == 0
	}
	if g.squares == nil {
		g.squares = &exactSum{}
	}
	b, ok = g.squares.merge(b)
	return ok && len(b) == 0
}

func (e *exactFloats) Result(out *column.Vector, from, to int) error {
	for i := from; i < to; i++ {
		g := &e.groups[i]
		before := g.size()
		var x float64
		var ok bool
		switch {
		case g.n == 0:
		case g.odd != nil && *g.odd != [3]int64{}:
			x, ok = e.endless(g)
		default:
			x, ok = e.finish(g)
		}
		if ok {
			out.AppendF64(x)
		} else {
			out.AppendNull()
		}
		e.size += g.size() - before
	}
	return nil
}

func (e *exactFloats) Size() int64 { return int64(56*cap(e.groups)) + e.size }
