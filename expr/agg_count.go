package expr

import (
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

func countAggregates() []Aggregate {
	return []Aggregate{{
		Name: "COUNT", Syntax: "COUNT(*) or COUNT([DISTINCT] value)",
		Doc:     "The number of rows, or of those at which no value is NULL.",
		Example: "COUNT(x)", Result: "3", Min: 0, Max: 16,
		Bind: func(args []Expr) ([]types.Type, types.Type, error) {
			params := make([]types.Type, len(args))
			for i, a := range args {
				params[i], _ = anyType(a.Type())
			}
			return params, types.Of(types.BigInt).AsNotNull(), nil
		},
		New: func([]types.Type, types.Type) Accumulator { return &count{} },
	}}
}

// count is the state of COUNT: a number for each group.
type count struct{ n []int64 }

func (c *count) Grow(groups int) { c.n = growTo(c.n, groups) }

func (c *count) Update(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	c.add(groups, args, sel, n, 1)
	return nil
}

func (c *count) Retract(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	c.add(groups, args, sel, n, -1)
	return nil
}

func (c *count) add(groups []uint32, args []*column.Vector, sel []uint16, n int, by int64) {
	r := Rows{Sel: sel, N: n}
	n = r.Count()
	var valid []column.Bitmap
	for _, a := range args {
		if a.Valid != nil {
			valid = append(valid, a.Valid)
		}
	}
	if len(valid) == 0 {
		if groups == nil {
			c.n[0] += by * int64(n)
			return
		}
		counts := c.n
		for _, g := range groups[:n] {
			counts[g] += by
		}
		return
	}
	for k := 0; k < n; k++ {
		i := r.Row(k)
		ok := true
		for _, v := range valid {
			ok = ok && v.Get(i)
		}
		if ok {
			c.n[groupOf(groups, k)] += by
		}
	}
}

func (c *count) StateTypes() []types.Type {
	return []types.Type{types.Of(types.BigInt).AsNotNull()}
}

func (c *count) State(out []*column.Vector, from, to int) error { return c.Result(out[0], from, to) }

func (c *count) Merge(groups []uint32, state []*column.Vector, n int) error {
	for k, x := range state[0].I64[:n] {
		c.n[groupOf(groups, k)] += x
	}
	return nil
}

func (c *count) Result(out *column.Vector, from, to int) error {
	for _, x := range c.n[from:to] {
		out.AppendI64(x)
	}
	return nil
}

func (c *count) Size() int64 { return int64(8 * cap(c.n)) }
