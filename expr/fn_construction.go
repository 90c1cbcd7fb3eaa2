package expr

import (
	"fmt"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// constructionFunctions make nested values and take them apart. They are syntax of their own: ARRAY[…],
// MAP[…], MULTISET[…], ROW(…), a[i], m[k], r.field.
func constructionFunctions() []Function {
	return []Function{
		{
			Name: "ARRAY", Group: "construction", Syntax: "ARRAY[value1, value2, …]", Doc: "An array of the values.",
			Example: "ARRAY[1, 2, NULL]", Result: "[1, 2, NULL]", Min: 0, Max: -1, Hidden: true, Nulls: NullsOwn,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				params, t, err := bindSameType(args)
				return params, types.ArrayOf(t).AsNotNull(), err
			},
			Kernel: nestedOf(func(out *column.Vector, a []Arg, i int) error {
				for _, x := range a {
					out.Children[0].AppendFrom(x.Vector, x.At(i))
				}
				out.EndRow()
				return nil
			}),
		},
		{
			Name: "MAP", Group: "construction", Syntax: "MAP[key1, value1, key2, value2, …]",
			Doc:     "A map of the keys to the values. Of equal keys the last one counts.",
			Example: "MAP['a', 1, 'b', 2]", Result: "{a=1, b=2}", Min: 0, Max: -1, Hidden: true, Nulls: NullsOwn,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				if len(args)%2 != 0 {
					return nil, types.Type{}, fmt.Errorf("MAP needs a value for every key: MAP[key, value, …]")
				}
				var keys, vals []Expr
				for i := 0; i < len(args); i += 2 {
					keys, vals = append(keys, args[i]), append(vals, args[i+1])
				}
				_, k, err := bindSameType(keys)
				if err != nil {
					return nil, types.Type{}, oddPart(err, keys)
				}
				_, v, err := bindSameType(vals)
				if err != nil {
					return nil, types.Type{}, oddPart(err, vals)
				}
				params := make([]types.Type, len(args))
				for i := range params {
					if params[i] = k; i%2 == 1 {
						params[i] = v
					}
				}
				return params, types.MapOf(k, v).AsNotNull(), nil
			},
			Kernel: nestedOf(func(out *column.Vector, a []Arg, i int) error {
				b := newEntries(out)
				for k := 0; k < len(a); k += 2 {
					b.put(a[k].Vector, a[k].At(i), a[k+1].Vector, a[k+1].At(i))
				}
				b.end(out)
				return nil
			}),
		},
		{
			Name: "MULTISET", Group: "construction", Syntax: "MULTISET[value1, value2, …]",
			Doc:     "A multiset of the values: each with the number of times it is there.",
			Example: "MULTISET['a', 'b', 'a']", Result: "{a=2, b=1}", Min: 1, Max: -1, Hidden: true, Nulls: NullsOwn,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				params, t, err := bindSameType(args)
				return params, types.MultisetOf(t).AsNotNull(), err
			},
			Kernel: nestedOf(func(out *column.Vector, a []Arg, i int) error {
				b := newEntries(out)
				for _, x := range a {
					if err := b.count(x.Vector, x.At(i), 1); err != nil {
						return err
					}
				}
				out.EndRow()
				return nil
			}),
		},
		{
			Name: "ROW", Group: "construction", Syntax: "ROW(value1, value2, …)", Doc: "A row of the values; its fields are named EXPR$0, EXPR$1 and so on.",
			Example: "ROW(1, 'a')", Result: "(1, a)", Min: 1, Max: -1, Hidden: true, Nulls: NullsOwn,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				params := typesOf(args)
				fields := make([]types.Field, len(args))
				for i, t := range params {
					fields[i] = types.Field{Name: fmt.Sprintf("EXPR$%d", i), Type: t}
				}
				return params, types.RowOf(fields...).AsNotNull(), nil
			},
			Kernel: nestedOf(func(out *column.Vector, a []Arg, i int) error {
				for k, x := range a {
					out.Children[k].AppendFrom(x.Vector, x.At(i))
				}
				out.EndRow()
				return nil
			}),
		},
		{
			Name: "ITEM", Group: "collection", Syntax: "array[position] or map[key]",
			Doc:     "The element of the array at the position, counted from 1, or the value of the map at the key; NULL where there is none.",
			Example: "ARRAY[10, 20][2]", Result: "20", Min: 2, Max: 2, Hidden: true, Nulls: NullsMade,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				t := args[0].Type()
				switch t.Kind {
				case types.Array:
					p, ok := integer(args[1].Type())
					if !ok {
						return nil, t, fmt.Errorf("the position in an ARRAY is an integer, not %s", args[1].Type().AsNullable())
					}
					if n, ok := constInt(args[1]); ok && n < 1 {
						return nil, t, fmt.Errorf("array element access needs an index starting at 1 but was %d", n)
					}
					return []types.Type{t, p}, t.Element().AsNullable(), nil
				case types.Map:
					if !types.ImplicitCast(args[1].Type(), t.MapKey()) {
						return nil, t, fmt.Errorf("the key of a %s is of type %s, not %s", t.AsNullable(), t.MapKey().AsNullable(), args[1].Type().AsNullable())
					}
					return []types.Type{t, t.MapKey()}, t.MapValue().AsNullable(), nil
				}
				return nil, t, fmt.Errorf("[…] takes an element of an ARRAY or a MAP, and this is of type %s", t.AsNullable())
			},
			Kernel: func(c *Call, _ *Env) (Step, error) {
				if c.Args[0].Type().Kind == types.Array {
					return anyValueStep(c.T, func(a []Arg, i int) (*column.Vector, int, error) {
						children, from, to := a[0].elements(i)
						n := a[1].int(i)
						if n < 1 || n > int64(to-from) {
							return nil, 0, nil
						}
						return children[0], from + int(n) - 1, nil
					}), nil
				}
				return anyValueStep(c.T, func(a []Arg, i int) (*column.Vector, int, error) {
					children, from, to := a[0].elements(i)
					key, k := a[1].Vector, a[1].At(i)
					for e := from; e < to; e++ {
						if column.Equal(children[0], e, key, k) {
							return children[1], e, nil
						}
					}
					return nil, 0, nil
				}), nil
			},
		},
		{
			Name: "FIELD", Group: "collection", Syntax: "row.field", Doc: "The field of the row.",
			Example: "CAST(ROW(1, 'a') AS ROW<n INT, s STRING>).s", Result: "a", Min: 2, Max: 2, Hidden: true, Nulls: NullsMade,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				t := args[0].Type()
				k, ok := constInt(args[1])
				if t.Kind != types.Row || !ok || k < 0 || k >= int64(len(t.Fields)) {
					return nil, t, errMismatch
				}
				return typesOf(args), t.Fields[k].Type.WithNullable(t.Nullable() || t.Fields[k].Type.Nullable()), nil
			},
			Kernel: func(c *Call, _ *Env) (Step, error) {
				k, _ := constInt(c.Args[1])
				return anyValueStep(c.T, func(a []Arg, i int) (*column.Vector, int, error) {
					return a[0].Children[k], a[0].At(i), nil
				}), nil
			},
		},
	}
}

// oddPart places a mismatch of types among the keys or the values of a map.
func oddPart(err error, parts []Expr) error {
	m, ok := err.(argMismatch)
	if !ok {
		return err
	}
	return &Error{Span: parts[m.arg].Span(), Row: -1,
		Msg: fmt.Sprintf("the parts of a MAP have one type, and %s does not go with %s", parts[m.arg].Type().AsNullable(), parts[0].Type().AsNullable())}
}
