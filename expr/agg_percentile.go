package expr

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

func percentileAggregates() []Aggregate {
	return []Aggregate{{
		Name: "PERCENTILE", Syntax: "PERCENTILE([DISTINCT] number, percentage [, frequency])",
		Doc: "The value below which the percentage, from 0 to 1, of the values lies, between two values in proportion. An ARRAY of percentages gives " +
			"an ARRAY. A frequency says how often a value counts.",
		Example: "PERCENTILE(x, 0.25)", Result: "1.5", Min: 2, Max: 3,
		Bind: func(args []Expr) ([]types.Type, types.Type, error) {
			v, ok := double(args[0].Type())
			if !ok {
				return nil, v, errMismatch
			}
			params := []types.Type{v, types.Of(types.Double)}
			result := types.Of(types.Double)
			switch p := args[1].Type(); {
			case p.Kind == types.Array && p.Element().IsNumeric():
				params[1] = types.ArrayOf(types.Of(types.Double))
				result = types.ArrayOf(types.Of(types.Double))
			case !p.IsNumeric():
				return nil, v, errMismatch
			}
			if len(args) == 3 {
				f, ok := integer(args[2].Type())
				if !ok {
					return nil, v, errMismatch
				}
				params = append(params, f)
			}
			return params, result, nil
		},
		New: func(args []types.Type, _ types.Type) Accumulator {
			return &percentiles{many: args[1].Kind == types.Array, weighted: len(args) == 3}
		},
	}}
}

// percentiles is the state of PERCENTILE: the values of a group and how often each is there. The percentages asked
// for are those of the first row.
//
// Values lie in order, but for the latest changes: those are sorted and merged into the others when a result is
// wanted, or when they are as many. So a result costs a walk over the values if any has changed, and nothing if
// none has.
type percentiles struct {
	many, weighted bool
	groups         []percentile
	merged         []weight // scratch
	upTo           []int64  // scratch: how many values there are up to and with each
	size           int64
}

type percentile struct {
	values []weight // each value once, in order
	latest []weight // changes that values is without
	asked  []float64
	answer []float64 // to what is asked, while known; none: NULL
	known  bool
}

// weight is a value and how often it is there, or how its number changes.
type weight struct {
	v float64
	n types.Int128
}

func (p *percentiles) Grow(groups int) { p.groups = growTo(p.groups, groups) }

func (p *percentiles) Update(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	return p.change(groups, args, Rows{Sel: sel, N: n}, false)
}

func (p *percentiles) Retract(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	return p.change(groups, args, Rows{Sel: sel, N: n}, true)
}

func (p *percentiles) change(groups []uint32, args []*column.Vector, r Rows, away bool) error {
	for k, n := 0, r.Count(); k < n; k++ {
		i := r.Row(k)
		g := &p.groups[groupOf(groups, k)]
		if g.asked == nil {
			asked, err := p.percentages(args[1], i)
			if err != nil {
				return err
			}
			g.asked = asked
			p.size += int64(8 * cap(asked))
		}
		if args[0].IsNull(i) {
			continue
		}
		times := types.Int128From(1)
		if p.weighted {
			if args[2].IsNull(i) || args[2].I64[i] <= 0 {
				continue
			}
			times = types.Int128From(args[2].I64[i])
		}
		if away {
			times = times.Neg()
		}
		if err := p.add(g, args[0].F64[i], times); err != nil {
			return err
		}
	}
	return nil
}

// percentages reads what is asked for; never nil without an error.
func (p *percentiles) percentages(v *column.Vector, i int) ([]float64, error) {
	asked := []float64{}
	if v.IsNull(i) {
		return asked, nil
	}
	if p.many {
		from, to := v.Elements(i)
		for e := from; e < to; e++ {
			if v.Children[0].IsNull(e) {
				return nil, rowError(i, "the percentage of PERCENTILE is NULL", "")
			}
			asked = append(asked, v.Children[0].F64[e])
		}
	} else {
		asked = append(asked, v.F64[i])
	}
	for _, x := range asked {
		if !(x >= 0 && x <= 1) {
			return nil, rowError(i, fmt.Sprintf("the percentage of PERCENTILE is between 0 and 1, not %s", types.AppendFloat64(nil, x)), "")
		}
	}
	return asked, nil
}

func (p *percentiles) add(g *percentile, v float64, by types.Int128) error {
	before := cap(g.latest)
	g.latest = append(g.latest, weight{column.CanonicalFloat(v), by})
	g.known = false
	p.size += weightBytes * int64(cap(g.latest)-before)
	if len(g.latest) >= max(64, len(g.values)) {
		return p.settle(g)
	}
	return nil
}

const weightBytes = 24

// settle merges the latest changes into the values.
func (p *percentiles) settle(g *percentile) error {
	if len(g.latest) == 0 {
		return nil
	}
	latest := g.latest
	slices.SortFunc(latest, func(a, b weight) int { return column.CompareFloat(a.v, b.v) })
	merged := p.merged[:0]
	for values := g.values; len(values) > 0 || len(latest) > 0; {
		var w weight
		switch {
		case len(latest) == 0 || len(values) > 0 && column.CompareFloat(values[0].v, latest[0].v) <= 0:
			w, values = values[0], values[1:]
		default:
			w.v = latest[0].v
		}
		for len(latest) > 0 && column.CompareFloat(latest[0].v, w.v) == 0 {
			w.n = w.n.Add(latest[0].n)
			latest = latest[1:]
		}
		switch w.n.Sign() {
		case -1:
			return neverCame(-1)
		case 1:
			merged = append(merged, w)
		}
	}
	p.merged = merged
	before := cap(g.values) + cap(g.latest)
	if cap(g.values) < len(merged) || cap(g.values) > 4*len(merged)+8 {
		g.values = make([]weight, 0, len(merged)+len(merged)/4)
	}
	g.values = append(g.values[:0], merged...)
	if g.latest = g.latest[:0]; cap(g.latest) > 64 {
		g.latest = nil
	}
	p.size += weightBytes * int64(cap(g.values)+cap(g.latest)-before)
	if cap(p.merged) > 1<<16 {
		p.merged = nil
	}
	return nil
}

func (p *percentiles) StateTypes() []types.Type {
	doubles := types.ArrayOf(types.Of(types.Double).AsNotNull())
	return []types.Type{doubles.AsNotNull(), types.ArrayOf(types.DecimalOf(types.MaxDecimalPrecision, 0).AsNotNull()).AsNotNull(), doubles}
}

func (p *percentiles) State(out []*column.Vector, from, to int) error {
	for i := from; i < to; i++ {
		g := &p.groups[i]
		if err := p.settle(g); err != nil {
			return err
		}
		for _, w := range g.values {
			out[0].Children[0].AppendF64(w.v)
			out[1].Children[0].AppendI128(w.n)
		}
		out[0].EndRow()
		out[1].EndRow()
		if g.asked == nil {
			out[2].AppendNull()
			continue
		}
		for _, x := range g.asked {
			out[2].Children[0].AppendF64(x)
		}
		out[2].EndRow()
	}
	return nil
}

func (p *percentiles) Merge(groups []uint32, state []*column.Vector, n int) error {
	for k := range n {
		g := &p.groups[groupOf(groups, k)]
		from, to := state[0].Elements(k)
		for e := from; e < to; e++ {
			if err := p.add(g, state[0].Children[0].F64[e], state[1].Children[0].I128[e]); err != nil {
				return err
			}
		}
		if g.asked == nil && !state[2].IsNull(k) {
			from, to := state[2].Elements(k)
			g.asked = append([]float64{}, state[2].Children[0].F64[from:to]...)
			p.size += int64(8 * cap(g.asked))
		}
	}
	return nil
}

func (p *percentiles) Result(out *column.Vector, from, to int) error {
	for i := from; i < to; i++ {
		g := &p.groups[i]
		if !g.known {
			if err := p.settle(g); err != nil {
				return err
			}
			before := cap(g.answer)
			if err := p.find(g); err != nil {
				return err
			}
			p.size += int64(8 * (cap(g.answer) - before))
		}
		switch {
		case len(g.answer) == 0:
			out.AppendNull()
		case !p.many:
			out.AppendF64(g.answer[0])
		default:
			for _, x := range g.answer {
				out.Children[0].AppendF64(x)
			}
			out.EndRow()
		}
	}
	return nil
}

// find computes the answer from the values.
func (p *percentiles) find(g *percentile) error {
	g.answer, g.known = g.answer[:0], true
	if len(g.values) == 0 || len(g.asked) == 0 {
		return nil
	}
	var total types.Int128
	upTo := p.upTo[:0]
	for _, w := range g.values {
		total = total.Add(w.n)
		upTo = append(upTo, int64(total.Lo))
	}
	p.upTo = upTo
	n, ok := total.Int64()
	if !ok {
		return rowError(-1, fmt.Sprintf("the frequencies of PERCENTILE add up to %s, more than a BIGINT", total.Big()), "make them smaller, all in the same proportion")
	}
	at := func(place int64) float64 {
		k, _ := slices.BinarySearchFunc(upTo, place, func(upTo, place int64) int {
			if upTo <= place {
				return -1
			}
			return 1
		})
		return g.values[k].v
	}
	for _, percentage := range g.asked {
		low, part := share(percentage, n-1)
		x := at(low)
		if part > 0 {
			x = (1-part)*x + part*at(low+1)
		}
		g.answer = append(g.answer, x)
	}
	return nil
}

// share returns percentage·n as a whole number and a part below 1. Beyond 2⁵³ floats have no parts, and the
// product is taken in integers.
func share(percentage float64, n int64) (whole int64, part float64) {
	if n <= 1<<53 {
		product := percentage * float64(n)
		low := math.Floor(product)
		return int64(low), product - low
	}
	if percentage == 0 {
		return 0, 0
	}
	m, at := mantissa(percentage)
	hi, lo := bits.Mul64(m, uint64(n))
	shift := -(at + leastExp) // the product is (hi, lo) / 2^shift, and below 2^63
	switch {
	case shift == 0:
		return int64(lo), 0
	case shift < 64:
		return int64(hi<<(64-shift) | lo>>shift), math.Ldexp(float64(lo&(1<<shift-1)), -shift)
	case shift == 64:
		return int64(hi), math.Ldexp(float64(lo), -64)
	case shift < 128:
		rest := hi & (1<<(shift-64) - 1)
		return int64(hi >> (shift - 64)), math.Ldexp(float64(rest), 64-shift) + math.Ldexp(float64(lo), -shift)
	}
	return 0, math.Ldexp(float64(hi), 64-shift) + math.Ldexp(float64(lo), -shift)
}

func (p *percentiles) Size() int64 {
	return int64(104*cap(p.groups)+8*cap(p.upTo)+weightBytes*cap(p.merged)) + p.size
}
