package expr

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// collectionFunctions work on ARRAY, MAP and MULTISET. Two elements are the same as in GROUP BY: NULL is
// NULL, NaN is NaN.
func collectionFunctions() []Function {
	return []Function{
		{
			Name: "CARDINALITY", Group: "collection", Syntax: "CARDINALITY(array, map or multiset)",
			Doc: "How many elements the collection has; of a multiset each counts as often as it is there.", Example: "CARDINALITY(ARRAY['a', 'b', NULL])", Result: "3",
			Min: 1, Max: 1, Bind: takes(returns(types.Of(types.Int)), collection),
			Fallible: true, MayFail: func(c *Call) bool { return c.Args[0].Type().Kind == types.Multiset },
			Kernel: intOf(func(a []Arg, i int) (int64, error) {
				children, from, to := a[0].elements(i)
				if a[0].Type.Kind != types.Multiset {
					return int64(to - from), nil
				}
				n := int64(0)
				for e := from; e < to; e++ {
					n += int64(children[1].I32[e])
				}
				if n > math.MaxInt32 {
					return 0, failure(fmt.Sprintf("the MULTISET has %d elements, more than CARDINALITY, an INT, can say", n), "")
				}
				return n, nil
			}),
		},
		{
			Name: "ELEMENT", Group: "collection", Syntax: "ELEMENT(array or multiset)",
			Doc: "The only element of the collection; NULL when it is empty, an error when it has several.", Example: "ELEMENT(ARRAY['a'])", Result: "a",
			Min: 1, Max: 1, Nulls: NullsMade, Fallible: true,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				t := args[0].Type()
				if t.Kind != types.Array && t.Kind != types.Multiset {
					return nil, t, errMismatch
				}
				return []types.Type{t}, t.Element().AsNullable(), nil
			},
			Kernel: func(c *Call, _ *Env) (Step, error) {
				return anyValueStep(c.T, func(a []Arg, i int) (*column.Vector, int, error) {
					children, from, to := a[0].elements(i)
					n := to - from
					if n > 0 && a[0].Type.Kind == types.Multiset {
						n += int(children[1].I32[from]) - 1
					}
					switch n {
					case 0:
						return nil, 0, nil
					case 1:
						return children[0], from, nil
					}
					return nil, 0, failure(fmt.Sprintf("ELEMENT of a collection of %d elements", n), "ELEMENT takes one that has a single element; array[1] is the first of several")
				}), nil
			},
		},
		{
			Name: "ARRAY_CONTAINS", Group: "collection", Syntax: "ARRAY_CONTAINS(array, element)",
			Doc: "Whether the element is in the array; NULL is found when the array has a NULL.", Example: "ARRAY_CONTAINS(ARRAY[1, 2], 2)", Result: "TRUE",
			Min: 2, Max: 2, Nulls: NullsOwn, Bind: withElement(types.Of(types.Boolean)),
			Kernel: boolOf(func(a []Arg, i int) (bool, error) {
				if a[0].null(i) {
					return false, errNull
				}
				return positionOf(a[0], a[1], i) > 0, nil
			}),
		},
		{
			Name: "ARRAY_POSITION", Group: "collection", Syntax: "ARRAY_POSITION(array, element)",
			Doc: "Where the element first is in the array, counted from 1; 0 when it is not there.", Example: "ARRAY_POSITION(ARRAY['a', 'b'], 'b')", Result: "2",
			Min: 2, Max: 2, Bind: withElement(types.Of(types.Int)),
			Kernel: intOf(func(a []Arg, i int) (int64, error) { return int64(positionOf(a[0], a[1], i)), nil }),
		},
		{
			Name: "ARRAY_REMOVE", Group: "collection", Syntax: "ARRAY_REMOVE(array, element)", Doc: "The array without any element that equals the one given, which may be NULL.",
			Example: "ARRAY_REMOVE(ARRAY[1, 2, 1], 1)", Result: "[2]", Min: 2, Max: 2, Nulls: NullsOwn, Bind: withElement(types.Type{}),
			Kernel: arrayOf(func(out *column.Vector, a []Arg, i int) error {
				children, from, to := a[0].elements(i)
				x, k := a[1].Vector, a[1].At(i)
				for e := from; e < to; e++ {
					if !column.Equal(children[0], e, x, k) {
						out.AppendFrom(children[0], e)
					}
				}
				return nil
			}),
		},
		{
			Name: "ARRAY_APPEND", Group: "collection", Syntax: "ARRAY_APPEND(array, element)", Doc: "The array with the element behind its last.",
			Example: "ARRAY_APPEND(ARRAY[1, 2], 3)", Result: "[1, 2, 3]", Min: 2, Max: 2, Nulls: NullsOwn, Bind: bindExtend,
			Kernel: arrayOf(func(out *column.Vector, a []Arg, i int) error {
				appendAll(out, a[0], i)
				out.AppendFrom(a[1].Vector, a[1].At(i))
				return nil
			}),
		},
		{
			Name: "ARRAY_PREPEND", Group: "collection", Syntax: "ARRAY_PREPEND(array, element)", Doc: "The array with the element before its first.",
			Example: "ARRAY_PREPEND(ARRAY[1, 2], 0)", Result: "[0, 1, 2]", Min: 2, Max: 2, Nulls: NullsOwn, Bind: bindExtend,
			Kernel: arrayOf(func(out *column.Vector, a []Arg, i int) error {
				out.AppendFrom(a[1].Vector, a[1].At(i))
				appendAll(out, a[0], i)
				return nil
			}),
		},
		{
			Name: "ARRAY_CONCAT", Group: "collection", Syntax: "ARRAY_CONCAT(array1, array2, …)", Doc: "The elements of the arrays, one array after the other.",
			Example: "ARRAY_CONCAT(ARRAY[1], ARRAY[2, 1])", Result: "[1, 2, 1]", Min: 1, Max: -1, Bind: bindArrays,
			Kernel: arrayOf(func(out *column.Vector, a []Arg, i int) error {
				for _, x := range a {
					appendAll(out, x, i)
				}
				return nil
			}),
		},
		{
			Name: "ARRAY_UNION", Group: "collection", Syntax: "ARRAY_UNION(array1, array2)", Doc: "The elements of both arrays, each once, in the order in which they first come.",
			Example: "ARRAY_UNION(ARRAY[1, 2, 2], ARRAY[2, 3])", Result: "[1, 2, 3]", Min: 2, Max: 2, Bind: bindArrays,
			Kernel: arrayOf(func(out *column.Vector, a []Arg, i int) error {
				s := newElementSet(out)
				for _, x := range a {
					children, from, to := x.elements(i)
					for e := from; e < to; e++ {
						s.add(children[0], e)
					}
				}
				return nil
			}),
		},
		{
			Name: "ARRAY_INTERSECT", Group: "collection", Syntax: "ARRAY_INTERSECT(array1, array2)", Doc: "The elements of the first array that are also in the second, each once.",
			Example: "ARRAY_INTERSECT(ARRAY[3, 1, 3], ARRAY[3, 2])", Result: "[3]", Min: 2, Max: 2, Bind: bindArrays, Kernel: arrayOf(keepElements(true)),
		},
		{
			Name: "ARRAY_EXCEPT", Group: "collection", Syntax: "ARRAY_EXCEPT(array1, array2)", Doc: "The elements of the first array that are not in the second, each once.",
			Example: "ARRAY_EXCEPT(ARRAY[1, 2, 1], ARRAY[2])", Result: "[1]", Min: 2, Max: 2, Bind: bindArrays, Kernel: arrayOf(keepElements(false)),
		},
		{
			Name: "ARRAY_DISTINCT", Group: "collection", Syntax: "ARRAY_DISTINCT(array)", Doc: "The elements of the array, each once, in the order in which they first come.",
			Example: "ARRAY_DISTINCT(ARRAY[1, 2, 1, NULL, NULL])", Result: "[1, 2, NULL]", Min: 1, Max: 1, Bind: bindArrays,
			Kernel: arrayOf(func(out *column.Vector, a []Arg, i int) error {
				s := newElementSet(out)
				children, from, to := a[0].elements(i)
				for e := from; e < to; e++ {
					s.add(children[0], e)
				}
				return nil
			}),
		},
		{
			Name: "ARRAY_REVERSE", Group: "collection", Syntax: "ARRAY_REVERSE(array)", Doc: "The elements of the array from the last to the first.",
			Example: "ARRAY_REVERSE(ARRAY[1, 2, 3])", Result: "[3, 2, 1]", Min: 1, Max: 1, Bind: bindArrays,
			Kernel: arrayOf(func(out *column.Vector, a []Arg, i int) error {
				children, from, to := a[0].elements(i)
				for e := to - 1; e >= from; e-- {
					out.AppendFrom(children[0], e)
				}
				return nil
			}),
		},
		{
			Name: "ARRAY_SLICE", Group: "collection", Syntax: "ARRAY_SLICE(array, start [, end])",
			Doc:     "The elements from the position start to the position end, or to the last, both counted from 1, or from the end when negative.",
			Example: "ARRAY_SLICE(ARRAY['a', 'b', 'c', 'd'], 2, -2)", Result: "[b, c]", Min: 2, Max: 3,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				params, t, err := bindArrays(args[:1])
				if err != nil {
					return nil, t, err
				}
				for _, x := range args[1:] {
					p, ok := integer(x.Type())
					if !ok {
						return nil, t, errMismatch
					}
					params = append(params, p)
				}
				return params, t, nil
			},
			Kernel: arrayOf(func(out *column.Vector, a []Arg, i int) error {
				children, from, to := a[0].elements(i)
				n := int64(to - from)
				place := func(p int64) int64 {
					if p < 0 {
						return p + n + 1
					}
					return p
				}
				start, end := place(a[1].int(i)), n
				if len(a) == 3 {
					end = min(place(a[2].int(i)), n)
				}
				if start = max(start, 1); start <= end {
					out.AppendRange(children[0], from+int(start)-1, int(end-start+1))
				}
				return nil
			}),
		},
		{
			Name: "ARRAY_SORT", Group: "collection", Syntax: "ARRAY_SORT(array [, ascending [, nulls_first]])",
			Doc:     "The elements in order: ascending with NULLs first, or descending with NULLs last when ascending is FALSE.",
			Example: "ARRAY_SORT(ARRAY[2, NULL, 1], FALSE)", Result: "[2, 1, NULL]", Min: 1, Max: 3,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				params, t, err := bindArrays(args[:1])
				if err != nil {
					return nil, t, err
				}
				if !t.Element().Comparable() {
					return nil, t, fmt.Errorf("values of type %s have no order", t.Element().AsNullable())
				}
				for _, x := range args[1:] {
					p, ok := boolean(x.Type())
					if !ok {
						return nil, t, errMismatch
					}
					params = append(params, p)
				}
				return params, t, nil
			},
			Kernel: func(*Call, *Env) (Step, error) {
				var order []int
				return nestedStep(func(out *column.Vector, a []Arg, i int) error {
					children, from, to := a[0].elements(i)
					ascending := len(a) < 2 || a[1].Bool[a[1].At(i)]
					nullsFirst := ascending
					if len(a) == 3 {
						nullsFirst = a[2].Bool[a[2].At(i)]
					}
					order = order[:0]
					for e := from; e < to; e++ {
						order = append(order, e)
					}
					v := children[0]
					slices.SortStableFunc(order, func(x, y int) int {
						xn, yn := v.IsNull(x), v.IsNull(y)
						switch {
						case xn || yn:
							if xn == yn {
								return 0
							}
							if xn == nullsFirst {
								return -1
							}
							return 1
						case ascending:
							return column.Compare(v, x, v, y)
						}
						return column.Compare(v, y, v, x)
					})
					for _, e := range order {
						out.Children[0].AppendFrom(v, e)
					}
					out.EndRow()
					return nil
				}), nil
			},
		},
		arrayExtreme("ARRAY_MAX", "The greatest element that is not NULL.", "ARRAY_MAX(ARRAY[3, NULL, 7])", "7", 1),
		arrayExtreme("ARRAY_MIN", "The least element that is not NULL.", "ARRAY_MIN(ARRAY[3, NULL, 7])", "3", -1),
		{
			Name: "ARRAY_JOIN", Group: "collection", Syntax: "ARRAY_JOIN(array, delimiter [, null_replacement])",
			Doc:     "The texts of the array with the delimiter between them. NULLs are left out, or replaced.",
			Example: "ARRAY_JOIN(ARRAY['a', NULL, 'b'], '-', '?')", Result: "a-?-b", Min: 2, Max: 3,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				t := args[0].Type()
				if t.Kind != types.Array || !t.Element().IsString() && t.Element().Kind != types.Null {
					return nil, t, errMismatch
				}
				if t.Element().Kind == types.Null {
					t = types.ArrayOf(types.String()).WithNullable(t.Nullable())
				}
				params := []types.Type{t}
				for _, x := range args[1:] {
					p, ok := text(x.Type())
					if !ok {
						return nil, t, errMismatch
					}
					params = append(params, p)
				}
				return params, types.String(), nil
			},
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) {
				children, from, to := a[0].elements(i)
				first := true
				for e := from; e < to; e++ {
					null := children[0].IsNull(e)
					if null && len(a) < 3 {
						continue
					}
					if !first {
						dst = append(dst, a[1].text(i)...)
					}
					first = false
					if null {
						dst = append(dst, a[2].text(i)...)
					} else {
						dst = append(dst, children[0].Value(e)...)
					}
				}
				return dst, nil
			}),
		},
		{
			Name: "MAP_KEYS", Group: "collection", Syntax: "MAP_KEYS(map)", Doc: "The keys of the map.", Example: "MAP_KEYS(MAP['a', 1, 'b', 2])", Result: "[a, b]",
			Min: 1, Max: 1, Bind: ofMap(func(t types.Type) types.Type { return types.ArrayOf(t.MapKey()) }), Kernel: arrayOf(part(0)),
		},
		{
			Name: "MAP_VALUES", Group: "collection", Syntax: "MAP_VALUES(map)", Doc: "The values of the map.", Example: "MAP_VALUES(MAP['a', 1, 'b', 2])", Result: "[1, 2]",
			Min: 1, Max: 1, Bind: ofMap(func(t types.Type) types.Type { return types.ArrayOf(t.MapValue()) }), Kernel: arrayOf(part(1)),
		},
		{
			Name: "MAP_ENTRIES", Group: "collection", Syntax: "MAP_ENTRIES(map)", Doc: "The entries of the map as rows of key and value.",
			Example: "MAP_ENTRIES(MAP['a', 1])", Result: "[(a, 1)]", Min: 1, Max: 1,
			Bind: ofMap(func(t types.Type) types.Type {
				return types.ArrayOf(types.RowOf(types.Field{Name: "key", Type: t.MapKey()}, types.Field{Name: "value", Type: t.MapValue()}).AsNotNull())
			}),
			Kernel: arrayOf(func(out *column.Vector, a []Arg, i int) error {
				children, from, to := a[0].elements(i)
				for e := from; e < to; e++ {
					out.Children[0].AppendFrom(children[0], e)
					out.Children[1].AppendFrom(children[1], e)
					out.EndRow()
				}
				return nil
			}),
		},
		{
			Name: "MAP_FROM_ARRAYS", Group: "collection", Syntax: "MAP_FROM_ARRAYS(keys, values)",
			Doc: "The map of the keys to the values at the same positions. Of equal keys the last one counts.", Example: "MAP_FROM_ARRAYS(ARRAY['a', 'b'], ARRAY[1, 2])", Result: "{a=1, b=2}",
			Min: 2, Max: 2, Fallible: true,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				k, v := args[0].Type(), args[1].Type()
				if k.Kind != types.Array || v.Kind != types.Array {
					return nil, k, errMismatch
				}
				return []types.Type{k, v}, types.MapOf(k.Element(), v.Element()), nil
			},
			Kernel: nestedOf(func(out *column.Vector, a []Arg, i int) error {
				keys, from, to := a[0].elements(i)
				vals, first, last := a[1].elements(i)
				if to-from != last-first {
					return failure(fmt.Sprintf("MAP_FROM_ARRAYS of %d keys and %d values", to-from, last-first), "")
				}
				b := newEntries(out)
				for e := range to - from {
					b.put(keys[0], from+e, vals[0], first+e)
				}
				b.end(out)
				return nil
			}),
		},
		{
			Name: "MAP_UNION", Group: "collection", Syntax: "MAP_UNION(map1, map2, …)", Doc: "The entries of the maps. Of equal keys that of the last map counts.",
			Example: "MAP_UNION(MAP['a', 1, 'b', 2], MAP['a', 3])", Result: "{a=3, b=2}", Min: 1, Max: -1,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				params, t, err := bindSameType(args)
				if err == nil && t.Kind != types.Map {
					err = errMismatch
				}
				return params, t, err
			},
			Kernel: nestedOf(func(out *column.Vector, a []Arg, i int) error {
				b := newEntries(out)
				for _, x := range a {
					children, from, to := x.elements(i)
					for e := from; e < to; e++ {
						b.put(children[0], e, children[1], e)
					}
				}
				b.end(out)
				return nil
			}),
		},
		{
			Name: "SPLIT", Group: "string", Syntax: "SPLIT(string, delimiter)",
			Doc: "The parts of the text between the delimiters; its characters when the delimiter is empty.", Example: "SPLIT('a,b,,c', ',')", Result: "[a, b, , c]",
			Min: 2, Max: 2, Bind: takes(returns(types.ArrayOf(types.String().AsNotNull())), text, text),
			Kernel: arrayOf(func(out *column.Vector, a []Arg, i int) error {
				s, d := a[0].text(i), a[1].text(i)
				if len(d) == 0 {
					for len(s) > 0 {
						_, n := utf8.DecodeRune(s)
						out.AppendBytes(s[:n])
						s = s[n:]
					}
					return nil
				}
				for {
					k := bytes.Index(s, d)
					if k < 0 {
						out.AppendBytes(s)
						return nil
					}
					out.AppendBytes(s[:k])
					s = s[k+len(d):]
				}
			}),
		},
	}
}

// collection takes an ARRAY, MAP or MULTISET.
func collection(t types.Type) (types.Type, bool) { return t, t.IsCollection() }

// arrayOf makes a kernel whose f appends the elements of one array to its child. Where the first argument is
// NULL so is the result, for functions that see NULLs.
func arrayOf(f func(elements *column.Vector, a []Arg, i int) error) Kernel {
	return nestedOf(func(out *column.Vector, a []Arg, i int) error {
		if a[0].null(i) {
			out.AppendNull()
			return nil
		}
		if err := f(out.Children[0], a, i); err != nil {
			return err
		}
		out.EndRow()
		return nil
	})
}

func appendAll(out *column.Vector, a Arg, i int) {
	children, from, to := a.elements(i)
	out.AppendRange(children[0], from, to-from)
}

// part appends the keys, 0, or the values, 1, of a map.
func part(k int) func(out *column.Vector, a []Arg, i int) error {
	return func(out *column.Vector, a []Arg, i int) error {
		children, from, to := a[0].elements(i)
		out.AppendRange(children[k], from, to-from)
		return nil
	}
}

// positionOf returns where the value of b first is in the array a, from 1, or 0.
func positionOf(a, b Arg, i int) int {
	children, from, to := a.elements(i)
	x, k := b.Vector, b.At(i)
	for e := from; e < to; e++ {
		if column.Equal(children[0], e, x, k) {
			return e - from + 1
		}
	}
	return 0
}

// elementSet appends elements to an array, each once.
type elementSet struct{ entries }

func newElementSet(out *column.Vector) *elementSet {
	return &elementSet{entries{keys: out, first: out.Len}}
}

func (s *elementSet) add(v *column.Vector, i int) {
	if _, there := s.find(v, i); !there {
		s.keys.AppendFrom(v, i)
		s.added()
	}
}

// keepElements appends the elements of the first array, each once, that are in the second, or are not.
func keepElements(want bool) func(out *column.Vector, a []Arg, i int) error {
	return func(out *column.Vector, a []Arg, i int) error {
		// The second array's elements, each once, to be found by their hashes.
		other := newElementSet(column.New(out.Type, 0))
		children, from, to := a[1].elements(i)
		for e := from; e < to; e++ {
			other.add(children[0], e)
		}
		s := newElementSet(out)
		children, from, to = a[0].elements(i)
		for e := from; e < to; e++ {
			if _, there := other.find(children[0], e); there == want {
				s.add(children[0], e)
			}
		}
		return nil
	}
}

func arrayExtreme(name, doc, example, result string, sign int) Function {
	return Function{
		Name: name, Group: "collection", Syntax: name + "(array)", Doc: doc, Example: example, Result: result, Min: 1, Max: 1, Nulls: NullsMade,
		Bind: func(args []Expr) ([]types.Type, types.Type, error) {
			t := args[0].Type()
			if t.Kind != types.Array {
				return nil, t, errMismatch
			}
			if !t.Element().Comparable() {
				return nil, t, fmt.Errorf("values of type %s have no order", t.Element().AsNullable())
			}
			return []types.Type{t}, t.Element().AsNullable(), nil
		},
		Kernel: func(c *Call, _ *Env) (Step, error) {
			return anyValueStep(c.T, func(a []Arg, i int) (*column.Vector, int, error) {
				children, from, to := a[0].elements(i)
				v, best := children[0], -1
				for e := from; e < to; e++ {
					if !v.IsNull(e) && (best < 0 || column.Compare(v, e, v, best)*sign > 0) {
						best = e
					}
				}
				if best < 0 {
					return nil, 0, nil
				}
				return v, best, nil
			}), nil
		},
	}
}

// bindArrays brings arrays to their common type.
func bindArrays(args []Expr) ([]types.Type, types.Type, error) {
	params, t, err := bindSameType(args)
	if err == nil && t.Kind != types.Array {
		err = errMismatch
	}
	return params, t, err
}

// elementParams brings an array and an element to one type of element.
func elementParams(args []Expr) (array, element types.Type, err error) {
	a, e := args[0].Type(), args[1].Type()
	if a.Kind != types.Array {
		return a, e, errMismatch
	}
	t := a.Element()
	if e.Kind != types.Null && !e.SameKind(t) {
		common, ok := types.CommonType(t, e)
		if !ok {
			return a, e, argMismatch{1}
		}
		t = common
	}
	if e.Kind == types.Null || e.Nullable() {
		t = t.AsNullable()
	}
	if t.Kind == types.Null {
		t = types.String()
	}
	return types.ArrayOf(t).WithNullable(a.Nullable()), t, nil
}

// withElement binds a function of an array and an element; a result of no kind is the array's own type. The
// result is NULL where the array is, and for strict functions where the element is.
func withElement(result types.Type) func([]Expr) ([]types.Type, types.Type, error) {
	return func(args []Expr) ([]types.Type, types.Type, error) {
		a, e, err := elementParams(args)
		if err != nil {
			return nil, a, err
		}
		t := result
		if t.Kind == types.Null {
			t = a
		}
		return []types.Type{a, e}, t.WithNullable(a.Nullable()), nil
	}
}

// bindExtend binds a function that puts an element into an array.
func bindExtend(args []Expr) ([]types.Type, types.Type, error) {
	a, e, err := elementParams(args)
	return []types.Type{a, e}, a, err
}

// ofMap binds a function of a map.
func ofMap(result func(types.Type) types.Type) func([]Expr) ([]types.Type, types.Type, error) {
	return func(args []Expr) ([]types.Type, types.Type, error) {
		t := args[0].Type()
		if t.Kind != types.Map {
			return nil, t, errMismatch
		}
		return []types.Type{t}, result(t), nil
	}
}
