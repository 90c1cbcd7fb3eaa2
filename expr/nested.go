package expr

import (
	"encoding/base64"
	"strings"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// nestedOut writes the values of a nested vector at ascending physical rows; rows in between become NULL.
// For each row call row, then append a value's parts to the children and call v.EndRow, or call
// v.AppendNull or v.AppendFrom instead; call finish after the last. It makes the vector's validity itself.
type nestedOut struct {
	v *column.Vector
	n int
}

func newNested(v *column.Vector, n int) nestedOut {
	v.Reset()
	return nestedOut{v, n}
}

// row fills up to physical row i.
func (o nestedOut) row(i int) {
	for o.v.Len < i {
		o.v.AppendNull()
	}
}

func (o nestedOut) finish() { o.row(o.n) }

// nestedOf makes a kernel whose f appends one value, with EndRow, AppendNull or AppendFrom, to out.
func nestedOf(f func(out *column.Vector, a []Arg, i int) error) Kernel {
	return func(*Call, *Env) (Step, error) { return nestedStep(f), nil }
}

func nestedStep(f func(out *column.Vector, a []Arg, i int) error) Step {
	return func(r Rows, args []Arg, out *column.Vector) error {
		o := newNested(out, r.N)
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			o.row(i)
			if err := f(out, args, i); err != nil {
				return located(err, i)
			}
		}
		o.finish()
		return nil
	}
}

// elements returns the elements of the argument at physical row i: the vectors of its children, and where
// in them they begin and end.
func (a Arg) elements(i int) (children []*column.Vector, from, to int) {
	from, to = a.Elements(a.At(i))
	return a.Children, from, to
}

// anyValueStep makes a step that gives one value a row, of whatever type the result has: pick returns where
// the value stands, or a nil vector for NULL.
func anyValueStep(t types.Type, pick func(a []Arg, i int) (*column.Vector, int, error)) Step {
	return func(r Rows, args []Arg, out *column.Vector) error {
		var o nestedOut
		var w textOut
		text := column.PhysicalOf(t) == column.PhysBytes
		switch {
		case t.IsNested():
			o = newNested(out, r.N)
		case text:
			w = newText(out, r.N).within(r)
		}
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			v, j, err := pick(args, i)
			if err != nil {
				return located(err, i)
			}
			null := v == nil || v.IsNull(j)
			switch {
			case t.IsNested():
				o.row(i)
				if null {
					out.AppendNull()
				} else {
					out.AppendFrom(v, j)
				}
			case text:
				if null {
					w.end(i)
					out.SetNull(i)
				} else {
					w.put(i, v.Value(j))
				}
			case null:
				out.SetNull(i)
			default:
				copyRow(out, i, v, j)
			}
		}
		switch {
		case t.IsNested():
			o.finish()
		case text:
			return w.finish()
		}
		return nil
	}
}

// nestedLiteral is the text of a nested literal in the graph: its batch of one row, in base64.
func nestedLiteral(v *column.Vector) []byte {
	data := column.EncodeBatch(nil, &column.Batch{Cols: []*column.Vector{v}, N: 1})
	return base64.StdEncoding.AppendEncode(nil, data)
}

// parseNestedLiteral reads it back; ok is false when it is no value of t.
func parseNestedLiteral(s string, t types.Type) (v *column.Vector, ok bool) {
	data, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil, false
	}
	b, err := column.DecodeBatch(data)
	if err != nil || len(b.Cols) != 1 || b.N != 1 || b.Cols[0].IsNull(0) || !b.Cols[0].Type.SameKind(t) {
		return nil, false
	}
	return b.Cols[0], true
}

// nestedSQL writes a nested literal so that it would be read back as the same value.
func nestedSQL(v *column.Vector, i int) string {
	part := func(c *column.Vector, i int) string {
		one := column.New(c.Type, 1)
		one.AppendFrom(c, i)
		return literalSQL(one)
	}
	var parts []string
	open, end := "ARRAY[", "]"
	switch v.Type.Kind {
	case types.Row:
		open, end = "ROW(", ")"
		for _, c := range v.Children {
			parts = append(parts, part(c, i))
		}
	case types.Map:
		open = "MAP["
		from, to := v.Elements(i)
		for e := from; e < to; e++ {
			parts = append(parts, part(v.Children[0], e), part(v.Children[1], e))
		}
	default:
		if v.Type.Kind == types.Multiset {
			open = "MULTISET["
		}
		from, to := v.Elements(i)
		for e := from; e < to; e++ {
			times := 1
			if v.Type.Kind == types.Multiset {
				times = int(v.Children[1].I32[e])
			}
			for range times {
				parts = append(parts, part(v.Children[0], e))
			}
		}
	}
	if len(parts) == 0 { // an empty constructor has no type
		return "CAST(" + open + end + " AS " + v.Type.AsNullable().String() + ")"
	}
	return open + strings.Join(parts, ", ") + end
}
