package exec

import (
	"fmt"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/types"
)

// unnest gives a row for each element of a collection. It gathers the elements as it goes through the rows,
// and notes of which row each is; when a batch is full the columns of those rows are put beside them.
type unnest struct {
	stateless
	w      *worker
	spec   *job.Unnest
	arg    *expr.Evaluator
	typ    types.Type
	out    *slot
	left   []*column.Vector // the columns passed on
	parts  []*column.Vector // of the elements, in out
	number *column.Vector   // of the element, in out; nil: not wanted
	sel    []uint16         // the row that each element is of
	most   int              // rows in a batch
}

var _ operator = (*unnest)(nil)

func newUnnest(w *worker, v *job.Vertex, spec *job.Unnest, env *expr.Env) (operator, error) {
	u := &unnest{w: w, spec: spec, typ: spec.Arg.Type(), out: newSlot(vertexTypes(v)), left: make([]*column.Vector, len(spec.Columns))}
	width := len(spec.Columns)
	switch {
	case u.typ.IsCollection():
		width += len(u.typ.Unnested())
	case u.typ.Kind != types.BigInt:
		return nil, fmt.Errorf("unnesting a value of type %s", u.typ)
	}
	if spec.Ordinality {
		width++
	}
	if width != len(v.Out) {
		return nil, fmt.Errorf("unnesting makes %d columns, not %d", width, len(v.Out))
	}
	var err error
	u.arg, err = expr.Compile(spec.Arg.Expr, env)
	return u, err
}

func (u *unnest) process(b *column.Batch, out emit) error {
	v, err := u.arg.Eval(b)
	if err != nil {
		return err
	}
	for i, c := range u.spec.Columns {
		u.left[i] = b.Cols[c]
	}
	// No batch gets larger than maxBytes, unless by one row alone.
	bytes := widest(u.left)
	if u.typ.IsCollection() {
		bytes += widest(v.Children)
	}
	u.most = int(max(1, min(column.DefaultRows, maxBytes/(bytes+1))))
	u.begin()
	for k := range b.Rows() {
		i := b.Row(k)
		none := u.spec.Outer
		if !v.IsNull(i) {
			n, err := u.elements(b, v, i, out)
			if err != nil {
				return err
			}
			none = none && n == 0
		}
		if !none {
			continue
		}
		for _, p := range u.parts {
			p.AppendNull()
		}
		if u.number != nil {
			u.number.AppendNull()
		}
		if err := u.add(b, i, out); err != nil {
			return err
		}
	}
	return u.flush(b, out)
}

// begin makes the output empty.
func (u *unnest) begin() {
	u.out.reset()
	u.sel = u.sel[:0]
	u.parts, u.number = u.out.batch.Cols[len(u.left):], nil
	if u.spec.Ordinality {
		u.number = u.parts[len(u.parts)-1]
		u.parts = u.parts[:len(u.parts)-1]
	}
}

// elements appends the elements of row i, and returns their number.
func (u *unnest) elements(b *column.Batch, v *column.Vector, i int, out emit) (n int64, err error) {
	if !u.typ.IsCollection() {
		n = v.Int64(i)
		for range n {
			if err := u.add(b, i, out); err != nil {
				return n, err
			}
		}
		return max(n, 0), nil
	}
	from, to := v.Elements(i)
	for e := from; e < to; e++ {
		times := int64(1)
		if u.typ.Kind == types.Multiset {
			times = v.Children[1].Int64(e)
		}
		for range times {
			u.element(v, e)
			n++
			if u.number != nil {
				u.number.AppendI64(n)
			}
			if err := u.add(b, i, out); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// element appends the columns of one element.
func (u *unnest) element(v *column.Vector, e int) {
	first := v.Children[0]
	switch {
	case u.typ.Kind == types.Map:
		u.parts[0].AppendFrom(first, e)
		u.parts[1].AppendFrom(v.Children[1], e)
	case first.Type.Kind != types.Row:
		u.parts[0].AppendFrom(first, e)
	case first.IsNull(e):
		for _, p := range u.parts {
			p.AppendNull()
		}
	default:
		for k, p := range u.parts {
			p.AppendFrom(first.Children[k], e)
		}
	}
}

// add notes that the element appended last is of row i.
func (u *unnest) add(b *column.Batch, i int, out emit) error {
	u.sel = append(u.sel, uint16(i))
	if len(u.sel) < u.most {
		return nil
	}
	if err := u.flush(b, out); err != nil {
		return err
	}
	u.begin()
	return nil
}

// flush hands on the elements gathered, beside the columns of their rows.
func (u *unnest) flush(b *column.Batch, out emit) error {
	n := len(u.sel)
	if n == 0 {
		return nil
	}
	if err := u.w.canceled(); err != nil {
		return err
	}
	for k, v := range u.left {
		u.out.batch.Cols[k].AppendVector(v, u.sel, n)
	}
	if b.Kind != nil {
		for _, i := range u.sel {
			u.out.batch.Kind = append(u.out.batch.Kind, b.Kind[i])
		}
	}
	u.out.batch.N = n
	u.sel = u.sel[:0]
	return u.w.lend(u.out, out)
}
