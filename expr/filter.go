package expr

import "github.com/sluice-sql/sluice/column"

// Filter finds the rows at which a condition is TRUE. Like an Evaluator it serves one goroutine.
type Filter struct {
	root selector
	grow func(int64) error
}

// CompileFilter makes a filter of a BOOLEAN expression.
func CompileFilter(e Expr, env *Env) (*Filter, error) {
	s, err := compileSelector(e, orEmpty(env))
	if err != nil {
		return nil, err
	}
	return &Filter{s, orEmpty(env).Grow}, nil
}

// Select returns the physical rows among b's selected ones at which the condition is TRUE, ascending. It
// uses buf's memory if that has room for b.N rows, and never returns nil without an error. Conjunctions
// narrow the rows step by step, so a later conjunct is not evaluated where an earlier one failed.
func (f *Filter) Select(b *column.Batch, buf []uint16) ([]uint16, error) {
	return f.root.sel(b, Rows{Sel: b.Sel, N: b.N, grow: f.grow}, room(&buf, b.N))
}

// selector is a compiled condition. sel returns the rows in the memory of buf, which has room for r.N
// rows and may be the memory of r.Sel: kernels write no further than they have read.
type selector interface {
	sel(b *column.Batch, r Rows, buf []uint16) ([]uint16, error)
}

func compileSelector(e Expr, env *Env) (selector, error) {
	c, ok := e.(*Call)
	if ok && (c.Func.Name == "AND" || c.Func.Name == "OR") {
		parts := make([]selector, len(c.Args))
		for i, a := range c.Args {
			var err error
			if parts[i], err = compileSelector(a, env); err != nil {
				return nil, err
			}
		}
		if c.Func.Name == "AND" {
			return andSelector(parts), nil
		}
		return &orSelector{parts: parts}, nil
	}
	if ok && c.Func.Select != nil {
		if step := c.Func.Select(c, env); step != nil {
			args, err := compileAll(c.Args, env)
			if err != nil {
				return nil, err
			}
			return &stepSelector{span: c.At, args: args, vals: make([]Arg, len(args)), step: step}, nil
		}
	}
	n, err := compile(e, env)
	if err != nil {
		return nil, err
	}
	return boolSelector{n}, nil
}

// andSelector narrows the rows by each part in turn.
type andSelector []selector

func (s andSelector) sel(b *column.Batch, r Rows, buf []uint16) ([]uint16, error) {
	for _, p := range s {
		sel, err := p.sel(b, r, buf)
		if err != nil || len(sel) == 0 {
			return sel, err
		}
		r.Sel = sel
	}
	return r.Sel, nil
}

// orSelector tests each part at the rows that no earlier part took.
type orSelector struct {
	parts           []selector
	rest, hit, both []uint16
}

func (s *orSelector) sel(b *column.Batch, r Rows, buf []uint16) ([]uint16, error) {
	rest := room(&s.rest, r.N)[:r.Count()]
	for k := range rest {
		rest[k] = uint16(r.Row(k))
	}
	found := buf[:0] // r.Sel has been copied to rest
	for _, p := range s.parts {
		if len(rest) == 0 {
			break
		}
		hit, err := p.sel(b, Rows{Sel: rest, N: r.N, grow: r.grow}, room(&s.hit, r.N))
		if err != nil {
			return nil, err
		}
		if len(hit) == 0 {
			continue
		}
		rest = subtract(rest, hit)
		merged := mergeRows(found, hit, room(&s.both, r.N))
		found = buf[:copy(buf[:r.N], merged)]
	}
	return found, nil
}

// subtract removes the rows of b, a subset, from a, in place.
func subtract(a, b []uint16) []uint16 {
	j, k := 0, 0
	for _, x := range a {
		if k < len(b) && b[k] == x {
			k++
			continue
		}
		a[j] = x
		j++
	}
	return a[:j]
}

// mergeRows merges two ascending lists without common rows into buf.
func mergeRows(a, b, buf []uint16) []uint16 {
	i, j, k := 0, 0, 0
	for i < len(a) && j < len(b) {
		if a[i] < b[j] {
			buf[k] = a[i]
			i++
		} else {
			buf[k] = b[j]
			j++
		}
		k++
	}
	k += copy(buf[k:], a[i:])
	k += copy(buf[k:], b[j:])
	return buf[:k]
}

// stepSelector runs a predicate's own selection kernel.
type stepSelector struct {
	span Span
	args []node
	vals []Arg
	step SelectStep
}

func (s *stepSelector) sel(b *column.Batch, r Rows, buf []uint16) ([]uint16, error) {
	for k, a := range s.args {
		v, err := a.eval(b, r)
		if err != nil {
			return nil, err
		}
		s.vals[k] = v
	}
	sel, err := s.step(r, s.vals, buf)
	if err != nil {
		return nil, at(err, s.span, Rows{})
	}
	return sel, nil
}

// boolSelector evaluates a condition and picks the TRUE rows.
type boolSelector struct{ n node }

func (s boolSelector) sel(b *column.Batch, r Rows, buf []uint16) ([]uint16, error) {
	v, err := s.n.eval(b, r)
	if err != nil {
		return nil, err
	}
	if v.Const {
		if v.IsNull(0) || !v.Bool[0] {
			return buf[:0], nil
		}
		buf = buf[:r.Count()]
		for k := range buf {
			buf[k] = uint16(r.Row(k))
		}
		return buf, nil
	}
	j := 0
	for k, n := 0, r.Count(); k < n; k++ {
		i := r.Row(k)
		buf[j] = uint16(i)
		if v.Bool[i] {
			j++
		}
	}
	buf = buf[:j]
	if v.Valid != nil {
		buf = narrowValid(Rows{Sel: buf, N: r.N, grow: r.grow}, v.Valid, buf)
	}
	return buf, nil
}
