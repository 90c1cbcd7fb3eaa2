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
				return &lists{t: args[0].AsNullable(), counted: true, finish: func(l *lists, g int, out *column.Vector) error {
					for at := l.groups[g].first; at != 0; at = l.next[at-1] {
						n, err := multisetCount(l.counts[at-1])
						if err != nil {
							return rowError(-1, err.(*Error).Msg, err.(*Error).Hint)
						}
						out.Children[0].AppendFrom(l.vals, int(at-1))
						out.Children[1].AppendI64(int64(n))
					}
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
	// counted says that equal values of a group are kept once, with their number.
	counted bool
	// separated says that there is a second argument, a constant text, which is kept once.
	separated bool
	separator []byte
	finish    func(l *lists, g int, out *column.Vector) error

	vals   *column.Vector // the values of all groups, in the order in which they came
	counts []int64        // of each value, if counted
	next   []int32        // of each value: the next one of its group, counted from 1; 0: none
	groups []list
	dead   int // values that were taken out and still lie in vals

	where *places // what finds a value: made when it is needed first
}

// places finds the values of lists: when a row is taken back, or equal values are counted.
type places struct {
	byHash map[uint64]list // the values by the hash of group and value
	alike  []int32         // of each value: the next one of the same hash
	prev   []int32         // of each value: the one before it in its group
	group  []uint32        // of each value
}

// list is where the values of one group, or one hash, begin and end in vals, counted from 1; 0: it has none.
type list struct{ first, last int32 }

func (l *lists) Grow(groups int) {
	if l.vals == nil {
		l.vals = column.New(l.t, 0)
		if l.counted {
			l.index()
		}
	}
	l.groups = growTo(l.groups, groups)
}

func (l *lists) any(g int) bool { return l.groups[g].first != 0 }

// each calls f with the place of every value of a group.
func (l *lists) each(g int, f func(i int)) {
	for at := l.groups[g].first; at != 0; at = l.next[at-1] {
		f(int(at - 1))
	}
}

// index makes what finds a value.
func (l *lists) index() {
	n := len(l.next)
	l.where = &places{byHash: map[uint64]list{}, alike: make([]int32, n), prev: make([]int32, n), group: make([]uint32, n)}
	for g := range l.groups {
		before := int32(0)
		for at := l.groups[g].first; at != 0; at = l.next[at-1] {
			l.where.note(at, uint32(g), before, placeHash(uint32(g), l.vals, int(at-1)))
			before = at
		}
	}
}

func placeHash(g uint32, v *column.Vector, i int) uint64 {
	return column.HashRow(v, i) ^ uint64(g)*0x9e3779b97f4a7c15
}

func (p *places) note(at int32, g uint32, prev int32, hash uint64) {
	p.group[at-1], p.prev[at-1] = g, prev
	c := p.byHash[hash]
	if c.first == 0 {
		c.first = at
	} else {
		p.alike[c.last-1] = at
	}
	c.last = at
	p.byHash[hash] = c
}

// find returns the first value of a group that equals the one given, 0 if there is none, and the one of the same
// hash before it: one of another value or group, of which there is hardly any.
func (l *lists) find(g uint32, hash uint64, v *column.Vector, i int) (at, before int32) {
	p := l.where
	for at = p.byHash[hash].first; at != 0; before, at = at, p.alike[at-1] {
		if p.group[at-1] == g && column.Equal(l.vals, int(at-1), v, i) {
			return at, before
		}
	}
	return 0, 0
}

func (l *lists) add(g uint32, v *column.Vector, i int, n int64) {
	hash := uint64(0)
	if l.where != nil {
		hash = placeHash(g, v, i)
	}
	if l.counted {
		if at, _ := l.find(g, hash, v, i); at != 0 {
			l.counts[at-1] += n
			return
		}
		l.counts = append(l.counts, n)
	}
	l.vals.AppendFrom(v, i)
	l.next = append(l.next, 0)
	at := int32(l.vals.Len)
	p := &l.groups[g]
	if l.where != nil {
		w := l.where
		w.alike, w.prev, w.group = append(w.alike, 0), append(w.prev, 0), append(w.group, 0)
		w.note(at, g, p.last, hash)
	}
	if p.first == 0 {
		p.first = at
	} else {
		l.next[p.last-1] = at
	}
	p.last = at
}

// remove takes the first value out that equals the one given; it returns false when there is none.
func (l *lists) remove(g uint32, v *column.Vector, i int) bool {
	if l.where == nil {
		l.index()
	}
	hash := placeHash(g, v, i)
	at, before := l.find(g, hash, v, i)
	if at == 0 {
		return false
	}
	if l.counted {
		if l.counts[at-1]--; l.counts[at-1] > 0 {
			return true
		}
	}
	w := l.where
	c := w.byHash[hash]
	after := w.alike[at-1]
	if before == 0 {
		c.first = after
	} else {
		w.alike[before-1] = after
	}
	if c.last == at {
		c.last = before
	}
	if c.first == 0 {
		delete(w.byHash, hash)
	} else {
		w.byHash[hash] = c
	}
	p := &l.groups[g]
	before, after = w.prev[at-1], l.next[at-1]
	if before == 0 {
		p.first = after
	} else {
		l.next[before-1] = after
	}
	if after == 0 {
		p.last = before
	} else {
		w.prev[after-1] = before
	}
	l.dead++
	return true
}

func (l *lists) Update(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	r := Rows{Sel: sel, N: n}
	l.keepSeparator(args, r)
	for k, n := 0, r.Count(); k < n; k++ {
		if i := r.Row(k); l.nulls || !args[0].IsNull(i) {
			l.add(groupOf(groups, k), args[0], i, 1)
		}
	}
	return nil
}

func (l *lists) keepSeparator(args []*column.Vector, r Rows) {
	if l.separated && l.separator == nil && r.Count() > 0 {
		l.separator = append([]byte{}, args[1].Value(r.Row(0))...)
	}
}

func (l *lists) Retract(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	r := Rows{Sel: sel, N: n}
	for k, n := 0, r.Count(); k < n; k++ {
		if i := r.Row(k); (l.nulls || !args[0].IsNull(i)) && !l.remove(groupOf(groups, k), args[0], i) {
			return neverCame(i)
		}
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
	live := l.vals.Len - l.dead
	l.vals, l.next, l.counts, l.dead, l.where = column.New(l.t, live), make([]int32, 0, live), nil, 0, nil
	l.groups = make([]list, len(old.groups))
	for g := range old.groups {
		for at := old.groups[g].first; at != 0; at = old.next[at-1] {
			l.vals.AppendFrom(old.vals, int(at-1))
			l.next = append(l.next, 0)
			if l.counted {
				l.counts = append(l.counts, old.counts[at-1])
			}
			p, now := &l.groups[g], int32(l.vals.Len)
			if p.first == 0 {
				p.first = now
			} else {
				l.next[p.last-1] = now
			}
			p.last = now
		}
	}
	l.index()
}

// StateTypes are the values, their numbers if they are counted, and the separator if there may be one.
func (l *lists) StateTypes() []types.Type {
	ts := []types.Type{types.ArrayOf(l.t).AsNotNull()}
	if l.counted {
		ts = append(ts, types.ArrayOf(types.Of(types.BigInt).AsNotNull()).AsNotNull())
	}
	if l.separated {
		ts = append(ts, types.String())
	}
	return ts
}

func (l *lists) State(out []*column.Vector, from, to int) error {
	for g := from; g < to; g++ {
		l.each(g, func(i int) {
			out[0].Children[0].AppendFrom(l.vals, i)
			if l.counted {
				out[1].Children[0].AppendI64(l.counts[i])
			}
		})
		out[0].EndRow()
		if l.counted {
			out[1].EndRow()
		}
		if !l.separated {
			continue
		}
		if l.separator == nil {
			out[1].AppendNull()
		} else {
			out[1].AppendBytes(l.separator)
		}
	}
	return nil
}

func (l *lists) Merge(groups []uint32, state []*column.Vector, n int) error {
	for k := range n {
		g := groupOf(groups, k)
		from, to := state[0].Elements(k)
		for e := from; e < to; e++ {
			n := int64(1)
			if l.counted {
				n = state[1].Children[0].I64[e]
			}
			l.add(g, state[0].Children[0], e, n)
		}
		if l.separated && l.separator == nil && !state[1].IsNull(k) {
			l.separator = append([]byte{}, state[1].Value(k)...)
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
	n := int64(8*cap(l.groups) + 8*cap(l.counts) + 4*cap(l.next))
	if l.vals != nil {
		n += l.vals.Size()
	}
	if w := l.where; w != nil {
		n += int64(4*(cap(w.alike)+cap(w.prev)+cap(w.group))) + mapBytes(len(w.byHash), 16)
	}
	return n
}
