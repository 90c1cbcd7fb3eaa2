package expr

import (
	"fmt"
	"math"
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

// percentiles is the state of PERCENTILE: how often each value is in a group, and the percentages asked
// for, which are those of the first row.
type percentiles struct {
	many, weighted bool
	groups         []map[float64]int64
	asked          [][]float64
	size           int64
}

func (p *percentiles) Grow(groups int) {
	p.groups = growTo(p.groups, groups)
	p.asked = growTo(p.asked, groups)
}

func (p *percentiles) Update(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	return p.addRows(groups, args, Rows{Sel: sel, N: n}, 1)
}

func (p *percentiles) Retract(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	return p.addRows(groups, args, Rows{Sel: sel, N: n}, -1)
}

func (p *percentiles) addRows(groups []uint32, args []*column.Vector, r Rows, by int64) error {
	for k, n := 0, r.Count(); k < n; k++ {
		i := r.Row(k)
		g := groupOf(groups, k)
		if p.asked[g] == nil {
			asked, err := p.percentages(args[1], i)
			if err != nil {
				return err
			}
			p.asked[g] = asked
		}
		if args[0].IsNull(i) {
			continue
		}
		count := by
		if p.weighted {
			if args[2].IsNull(i) || args[2].I64[i] <= 0 {
				continue
			}
			count *= args[2].I64[i]
		}
		p.add(g, args[0].F64[i], count)
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

func (p *percentiles) add(g uint32, v float64, by int64) {
	m := p.groups[g]
	if m == nil {
		m = map[float64]int64{}
		p.groups[g] = m
	}
	v = column.CanonicalFloat(v)
	if v != v { // a key that would never be found again
		v = math.Inf(1)
	}
	old, there := m[v]
	switch now := old + by; {
	case now == 0:
		delete(m, v)
		p.size -= 32
	default:
		m[v] = now
		if !there {
			p.size += 32
		}
	}
}

func (p *percentiles) StateTypes() []types.Type {
	doubles := types.ArrayOf(types.Of(types.Double).AsNotNull())
	return []types.Type{doubles.AsNotNull(), types.ArrayOf(types.Of(types.BigInt).AsNotNull()).AsNotNull(), doubles}
}

func (p *percentiles) State(out []*column.Vector, from, to int) error {
	for g := from; g < to; g++ {
		for _, v := range p.sorted(g) {
			out[0].Children[0].AppendF64(v)
			out[1].Children[0].AppendI64(p.groups[g][v])
		}
		out[0].EndRow()
		out[1].EndRow()
		if p.asked[g] == nil {
			out[2].AppendNull()
			continue
		}
		for _, x := range p.asked[g] {
			out[2].Children[0].AppendF64(x)
		}
		out[2].EndRow()
	}
	return nil
}

func (p *percentiles) sorted(g int) []float64 {
	vs := make([]float64, 0, len(p.groups[g]))
	for v := range p.groups[g] {
		vs = append(vs, v)
	}
	slices.Sort(vs)
	return vs
}

func (p *percentiles) Merge(groups []uint32, state []*column.Vector, n int) error {
	for k := range n {
		g := groupOf(groups, k)
		from, to := state[0].Elements(k)
		for e := from; e < to; e++ {
			p.add(g, state[0].Children[0].F64[e], state[1].Children[0].I64[e])
		}
		if p.asked[g] == nil && !state[2].IsNull(k) {
			from, to := state[2].Elements(k)
			p.asked[g] = append([]float64{}, state[2].Children[0].F64[from:to]...)
		}
	}
	return nil
}

func (p *percentiles) Result(out *column.Vector, from, to int) error {
	for g := from; g < to; g++ {
		vs := p.sorted(g)
		total := int64(0)
		for _, v := range vs {
			total += max(p.groups[g][v], 0)
		}
		if total == 0 || len(p.asked[g]) == 0 {
			out.AppendNull()
			continue
		}
		at := func(place int64) float64 {
			for _, v := range vs {
				if place -= max(p.groups[g][v], 0); place < 0 {
					return v
				}
			}
			return vs[len(vs)-1]
		}
		value := func(percentage float64) float64 {
			place := percentage * float64(total-1)
			low := math.Floor(place)
			a := at(int64(low))
			if place == low {
				return a
			}
			b := at(int64(low) + 1)
			return (low+1-place)*a + (place-low)*b
		}
		if !p.many {
			out.AppendF64(value(p.asked[g][0]))
			continue
		}
		for _, x := range p.asked[g] {
			out.Children[0].AppendF64(value(x))
		}
		out.EndRow()
	}
	return nil
}

func (p *percentiles) Size() int64 { return int64(8*cap(p.groups)+24*cap(p.asked)) + p.size }
