package expr

import (
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// valueAggregates give one of a group's values, in the order of the rows.
func valueAggregates() []Aggregate {
	value := func(name, doc, result string, last bool) Aggregate {
		return Aggregate{
			Name: name, Syntax: name + "(value)", Doc: doc, Example: name + "(x)", Result: result, Min: 1, Max: 1, Ordered: true,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				t, _ := anyType(args[0].Type())
				return []types.Type{t}, t.AsNullable(), nil
			},
			New: func(args []types.Type, _ types.Type) Accumulator {
				return &oneOfRows{t: args[0].AsNullable(), last: last}
			},
			NewRetracting: func(args []types.Type, _ types.Type) Accumulator {
				return &lists{t: args[0].AsNullable(), finish: func(l *lists, g int, out *column.Vector) error {
					switch p := l.groups[g]; {
					case p.first == 0:
						out.AppendNull()
					case last:
						out.AppendFrom(l.vals, int(p.last-1))
					default:
						out.AppendFrom(l.vals, int(p.first-1))
					}
					return nil
				}}
			},
		}
	}
	return []Aggregate{
		value("FIRST_VALUE", "The first value that is not NULL; NULL when there is none.", "1", false),
		value("LAST_VALUE", "The last value that is not NULL; NULL when there is none.", "2", true),
	}
}

// oneOfRows is the state of FIRST_VALUE and LAST_VALUE: a place in vals for each group, counted from 1.
type oneOfRows struct {
	t    types.Type
	last bool
	vals *column.Vector
	at   []int32
	fill []int32 // scratch: the row of each group's last value in the rows at hand, counted from 1
}

func (o *oneOfRows) Grow(groups int) {
	if o.vals == nil {
		o.vals = column.New(o.t, 0)
	}
	o.at = growTo(o.at, groups)
}

func (o *oneOfRows) Update(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	r := Rows{Sel: sel, N: n}
	n = r.Count()
	x := args[0]
	if !o.last {
		for k := 0; k < n; k++ {
			if g := groupOf(groups, k); o.at[g] == 0 {
				o.put(g, x, r.Row(k))
			}
		}
		return nil
	}
	// Of the rows at hand only the last of each group is copied.
	o.fill = growTo(o.fill, len(o.at))
	for k := 0; k < n; k++ {
		if i := r.Row(k); !x.IsNull(i) {
			o.fill[groupOf(groups, k)] = int32(i) + 1
		}
	}
	for k := 0; k < n; k++ {
		g := groupOf(groups, k)
		if i := o.fill[g]; i != 0 {
			o.put(g, x, int(i-1))
			o.fill[g] = 0
		}
	}
	o.compact()
	return nil
}

func (o *oneOfRows) put(g uint32, x *column.Vector, i int) {
	if !x.IsNull(i) {
		o.vals.AppendFrom(x, i)
		o.at[g] = int32(o.vals.Len)
	}
}

// compact forgets values that were replaced, once they are the greater part.
func (o *oneOfRows) compact() {
	if o.vals.Len < 1024 || o.vals.Len < 2*len(o.at) {
		return
	}
	old := o.vals
	o.vals = column.New(o.t, len(o.at))
	for g, at := range o.at {
		if at != 0 {
			o.vals.AppendFrom(old, int(at-1))
			o.at[g] = int32(o.vals.Len)
		}
	}
}

func (o *oneOfRows) Retract([]uint32, []*column.Vector, []uint16, int) error {
	return notRetracting("FIRST_VALUE and LAST_VALUE")
}

func (o *oneOfRows) StateTypes() []types.Type { return []types.Type{o.t} }

func (o *oneOfRows) State(out []*column.Vector, from, to int) error {
	return o.Result(out[0], from, to)
}

func (o *oneOfRows) Merge(groups []uint32, state []*column.Vector, n int) error {
	return o.Update(groups, state, nil, n)
}

func (o *oneOfRows) Result(out *column.Vector, from, to int) error {
	for _, at := range o.at[from:to] {
		if at == 0 {
			out.AppendNull()
		} else {
			out.AppendFrom(o.vals, int(at-1))
		}
	}
	return nil
}

func (o *oneOfRows) Size() int64 {
	n := int64(4*cap(o.at) + 4*cap(o.fill))
	if o.vals != nil {
		n += o.vals.Size()
	}
	return n
}
