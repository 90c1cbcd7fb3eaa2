package expr

import (
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// listAggregates collect the values of a group. The order of the values is that of the rows.
func listAggregates() []Aggregate {
	str := types.String()
	return []Aggregate{
		{
			Name: "ARRAY_AGG", Syntax: "ARRAY_AGG([DISTINCT] value)", Doc: "An array of the values, NULLs among them; NULL when there is no row.",
			Example: "ARRAY_AGG(x)", Result: "[1, 2, 2, NULL]", Min: 1, Max: 1, Ordered: true,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				t, _ := anyType(args[0].Type())
				return []types.Type{t}, types.ArrayOf(t.AsNullable()), nil
			},
			New: func(args []types.Type, _ types.Type) Accumulator {
				return &lists{t: args[0].AsNullable(), nulls: true, finish: func(l *lists, g int, out *column.Vector) error {
					if !l.any(g) {
						out.AppendNull()
						return nil
					}
					l.each(g, func(i int) { out.Children[0].AppendFrom(l.vals, i) })
					out.EndRow()
					return nil
				}}
			},
		},
		{
			Name: "COLLECT", Syntax: "COLLECT([DISTINCT] value)", Doc: "A multiset of the values that are not NULL.",
			Example: "COLLECT(x)", Result: "{1=1, 2=2}", Min: 1, Max: 1, Ordered: true,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				t, _ := anyType(args[0].Type())
				return []types.Type{t}, types.MultisetOf(t.AsNotNull()).AsNotNull(), nil
			},
			New: func(args []types.Type, _ types.Type) Accumulator {
				return &lists{t: args[0].AsNullable(), finish: func(l *lists, g int, out *column.Vector) error {
					b := newEntries(out)
					l.each(g, func(i int) { b.count(l.vals, i, 1) })
					out.EndRow()
					return nil
				}}
			},
		},
		{
			Name: "LISTAGG", Syntax: "LISTAGG([DISTINCT] string [, separator])",
			Doc:     "The texts that are not NULL, joined with the separator, ',' unless given; NULL when there is none.",
			Example: "LISTAGG(CAST(x AS STRING), '-')", Result: "1-2-2", Min: 1, Max: 2, Ordered: true, Constants: []int{1},
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				for _, a := range args {
					if t := a.Type(); !t.IsString() && t.Kind != types.Null {
						return nil, t, errMismatch
					}
				}
				params := []types.Type{str}
				if args[0].Type().Kind != types.Null {
					params[0] = args[0].Type()
				}
				if len(args) == 2 {
					params = append(params, args[1].Type())
				}
				return params, str, nil
			},
			New: func(args []types.Type, _ types.Type) Accumulator {
				return &lists{t: str, separated: len(args) == 2, finish: func(l *lists, g int, out *column.Vector) error {
					if !l.any(g) {
						out.AppendNull()
						return nil
					}
					sep, first := []byte(","), true
					if l.separated {
						sep = l.separator
					}
					var text []byte
					l.each(g, func(i int) {
						if !first {
							text = append(text, sep...)
						}
						first = false
						text = append(text, l.vals.Value(i)...)
					})
					out.AppendBytes(text)
					return nil
				}}
			},
		},
	}
}

// lists is the state of aggregates that keep the values of a group in the order of their rows.
type lists struct {
	t     types.Type
	nulls bool // NULLs are values
	// separated says that there is a second argument, a constant text, which is kept once.
	separated bool
	separator []byte
	finish    func(l *lists, g int, out *column.Vector) error

	vals   *column.Vector // the values of all groups, in the order in which they came
	next   []int32        // of each value: the next one of its group, counted from 1; 0: none
	groups []list
	dead   int // values that were taken out and still lie in vals
	// owed are values whose removal has overtaken their arrival.
	owed *lists
}

// list is where the values of one group begin and end in vals, counted from 1; 0: it has none.
type list struct{ first, last int32 }

func (l *lists) Grow(groups int) {
	if l.vals == nil {
		l.vals = column.New(l.t, 0)
	}
	l.groups = growTo(l.groups, groups)
	if l.owed != nil {
		l.owed.Grow(groups)
	}
}

func (l *lists) any(g int) bool { return l.groups[g].first != 0 }

// each calls f with the place of every value of a group.
func (l *lists) each(g int, f func(i int)) {
	for at := l.groups[g].first; at != 0; at = l.next[at-1] {
		f(int(at - 1))
	}
}

func (l *lists) append(g uint32, v *column.Vector, i int) {
	l.vals.AppendFrom(v, i)
	l.next = append(l.next, 0)
	at := int32(l.vals.Len)
	if p := &l.groups[g]; p.first == 0 {
		p.first, p.last = at, at
	} else {
		l.next[p.last-1] = at
		p.last = at
	}
}

// remove takes the first value out that equals the one given, if there is one.
func (l *lists) remove(g uint32, v *column.Vector, i int) bool {
	p := &l.groups[g]
	before := int32(0)
	for at := p.first; at != 0; before, at = at, l.next[at-1] {
		if !column.Equal(l.vals, int(at-1), v, i) {
			continue
		}
		after := l.next[at-1]
		if before == 0 {
			p.first = after
		} else {
			l.next[before-1] = after
		}
		if p.last == at {
			p.last = before
		}
		l.dead++
		return true
	}
	return false
}

func (l *lists) Update(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	r := Rows{Sel: sel, N: n}
	l.keepSeparator(args, r)
	for k, n := 0, r.Count(); k < n; k++ {
		i := r.Row(k)
		if !l.nulls && args[0].IsNull(i) {
			continue
		}
		l.add(groupOf(groups, k), args[0], i)
	}
	return nil
}

func (l *lists) add(g uint32, v *column.Vector, i int) {
	if l.owed != nil && l.owed.remove(g, v, i) {
		return
	}
	l.append(g, v, i)
}

func (l *lists) take(g uint32, v *column.Vector, i int) {
	if l.remove(g, v, i) {
		return
	}
	if l.owed == nil {
		l.owed = &lists{t: l.t}
		l.owed.Grow(len(l.groups))
	}
	l.owed.append(g, v, i)
}

func (l *lists) keepSeparator(args []*column.Vector, r Rows) {
	if l.separated && l.separator == nil && r.Count() > 0 {
		l.separator = append([]byte{}, args[1].Value(r.Row(0))...)
	}
}

func (l *lists) Retract(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	r := Rows{Sel: sel, N: n}
	l.keepSeparator(args, r)
	for k, n := 0, r.Count(); k < n; k++ {
		i := r.Row(k)
		if !l.nulls && args[0].IsNull(i) {
			continue
		}
		l.take(groupOf(groups, k), args[0], i)
	}
	l.compact()
	return nil
}

// compact forgets values that were taken out, once they are the greater part.
func (l *lists) compact() {
	if l.vals.Len < 1024 || l.dead <= l.vals.Len/2 {
		return
	}
	old := *l
	l.vals, l.next, l.dead = column.New(l.t, l.vals.Len-l.dead), nil, 0
	l.groups = make([]list, len(old.groups))
	for g := range old.groups {
		old.each(g, func(i int) { l.append(uint32(g), old.vals, i) })
	}
}

// StateTypes are the values, those owed, and the separator.
func (l *lists) StateTypes() []types.Type {
	ts := []types.Type{types.ArrayOf(l.t).AsNotNull(), types.ArrayOf(l.t).AsNotNull()}
	if l.separated {
		ts = append(ts, types.String())
	}
	return ts
}

func (l *lists) State(out []*column.Vector, from, to int) error {
	for g := from; g < to; g++ {
		l.each(g, func(i int) { out[0].Children[0].AppendFrom(l.vals, i) })
		out[0].EndRow()
		if l.owed != nil {
			l.owed.each(g, func(i int) { out[1].Children[0].AppendFrom(l.owed.vals, i) })
		}
		out[1].EndRow()
		if !l.separated {
			continue
		}
		if l.separator == nil {
			out[2].AppendNull()
		} else {
			out[2].AppendBytes(l.separator)
		}
	}
	return nil
}

func (l *lists) Merge(groups []uint32, state []*column.Vector, n int) error {
	for k := range n {
		g := groupOf(groups, k)
		from, to := state[0].Elements(k)
		for e := from; e < to; e++ {
			l.add(g, state[0].Children[0], e)
		}
		from, to = state[1].Elements(k)
		for e := from; e < to; e++ {
			l.take(g, state[1].Children[0], e)
		}
		if l.separated && l.separator == nil && !state[2].IsNull(k) {
			l.separator = append([]byte{}, state[2].Value(k)...)
		}
	}
	return nil
}

func (l *lists) Result(out *column.Vector, from, to int) error {
	for g := from; g < to; g++ {
		if err := l.finish(l, g, out); err != nil {
			return err
		}
	}
	return nil
}

func (l *lists) Size() int64 {
	n := int64(8*cap(l.groups) + 4*cap(l.next))
	if l.vals != nil {
		n += l.vals.Size()
	}
	if l.owed != nil {
		n += l.owed.Size()
	}
	return n
}
