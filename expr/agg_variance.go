package expr

import (
	"math"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// varianceAggregates give DOUBLE whatever number they take: Flink gives the argument's own type, in which a
// standard deviation of integers is cut to an integer.
func varianceAggregates() []Aggregate {
	variance := func(name, doc, example, result string, sample, root bool) Aggregate {
		return Aggregate{
			Name: name, Syntax: name + "([DISTINCT] number)", Doc: doc, Example: example, Result: result, Min: 1, Max: 1,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				t, ok := double(args[0].Type())
				if !ok {
					return nil, t, errMismatch
				}
				return []types.Type{t}, t, nil
			},
			New:           func([]types.Type, types.Type) Accumulator { return &moments{sample: sample, root: root} },
			NewRetracting: func([]types.Type, types.Type) Accumulator { return newExactVariances(name, sample, root) },
		}
	}
	return []Aggregate{
		variance("VAR_POP", "The variance of the values as a whole population; NULL when there is none.", "VAR_POP(x)", "0.2222222222222222", false, false),
		variance("VAR_SAMP", "The variance of the values as a sample; NULL of fewer than two.", "VAR_SAMP(x)", "0.3333333333333333", true, false),
		variance("VARIANCE", "VAR_SAMP by another name.", "VARIANCE(x)", "0.3333333333333333", true, false),
		variance("STDDEV_POP", "The standard deviation of the values as a whole population; NULL when there is none.", "STDDEV_POP(x)", "0.4714045207910317", false, true),
		variance("STDDEV", "STDDEV_SAMP by another name.", "STDDEV(x)", "0.5773502691896257", true, true),
		variance("STDDEV_SAMP", "The standard deviation of the values as a sample; NULL of fewer than two.", "STDDEV_SAMP(x)", "0.5773502691896257", true, true),
	}
}

// moments is the state of the variances: the number of values, their mean, and the sum of the squares of
// their distances from it, by Welford's method; two states are merged by that of Chan, Golub and LeVeque.
type moments struct {
	sample, root bool
	groups       []moment
}

type moment struct {
	n        int64
	mean, m2 float64
}

func (m *moments) Grow(groups int) { m.groups = growTo(m.groups, groups) }

func (m *moments) Update(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	x := args[0]
	r := Rows{Sel: sel, N: n}
	for k, n := 0, r.Count(); k < n; k++ {
		i := r.Row(k)
		if !x.Valid.Get(i) {
			continue
		}
		g := &m.groups[groupOf(groups, k)]
		g.n++
		d := x.F64[i] - g.mean
		g.mean += d / float64(g.n)
		g.m2 += d * (x.F64[i] - g.mean)
	}
	return nil
}

func (m *moments) Retract([]uint32, []*column.Vector, []uint16, int) error {
	return notRetracting("variances")
}

func (m *moments) StateTypes() []types.Type {
	return []types.Type{types.Of(types.BigInt).AsNotNull(), types.Of(types.Double).AsNotNull(), types.Of(types.Double).AsNotNull()}
}

func (m *moments) State(out []*column.Vector, from, to int) error {
	for _, g := range m.groups[from:to] {
		out[0].AppendI64(g.n)
		out[1].AppendF64(g.mean)
		out[2].AppendF64(g.m2)
	}
	return nil
}

func (m *moments) Merge(groups []uint32, state []*column.Vector, n int) error {
	for k := range n {
		o := moment{state[0].I64[k], state[1].F64[k], state[2].F64[k]}
		g := &m.groups[groupOf(groups, k)]
		switch {
		case o.n == 0:
		case g.n == 0:
			*g = o
		default:
			n := g.n + o.n
			d := o.mean - g.mean
			g.mean += d * float64(o.n) / float64(n)
			g.m2 += o.m2 + d*d*float64(g.n)*float64(o.n)/float64(n)
			g.n = n
		}
	}
	return nil
}

func (m *moments) Result(out *column.Vector, from, to int) error {
	for _, g := range m.groups[from:to] {
		n := g.n
		if m.sample {
			n--
		}
		if n <= 0 {
			out.AppendNull()
			continue
		}
		v := math.Abs(g.m2) / float64(n) // -Infinity when a distance was out of range
		if m.root {
			v = math.Sqrt(v)
		}
		out.AppendF64(v)
	}
	return nil
}

func (m *moments) Size() int64 { return int64(24 * cap(m.groups)) }
