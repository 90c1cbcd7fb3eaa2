package expr

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// JSONOnNull is the last argument of an aggregate whose treatment of NULL is not its own: ABSENT ON NULL
// for JSON_OBJECTAGG, NULL ON NULL for JSON_ARRAYAGG.
const (
	JSONAbsentOnNull = "ABSENT ON NULL"
	JSONNullOnNull   = "NULL ON NULL"
)

// jsonAggregates take values that are JSON already: who calls them makes JSON_STRING(value) of others.
func jsonAggregates() []Aggregate {
	bind := func(texts int, clause string) func(args []Expr) ([]types.Type, types.Type, error) {
		return func(args []Expr) ([]types.Type, types.Type, error) {
			result := types.String().AsNotNull()
			params := typesOf(args)
			for i := range args {
				t, ok := text(args[i].Type())
				if !ok {
					return nil, result, errMismatch
				}
				params[i] = t
			}
			if len(args) > texts {
				// In a plan it may have become a column: that it is there says it all.
				if s, ok := constText(args[texts]); ok && s != clause {
					return nil, result, errMismatch
				}
			}
			return params, result, nil
		}
	}
	return []Aggregate{
		{
			Name: "JSON_OBJECTAGG", Syntax: "JSON_OBJECTAGG([KEY] key VALUE value [{NULL | ABSENT} ON NULL])",
			Doc:     "A JSON object of the keys and values of the rows; its members go by name. A key that is there twice, or is NULL, is an error. With ABSENT ON NULL a member whose value is NULL is left out.",
			Example: "JSON_OBJECTAGG(KEY 'k' VALUE x) FILTER (WHERE x = 1)", Result: `{"k":1}`, Min: 2, Max: 3,
			Bind: bind(2, JSONAbsentOnNull), Constants: []int{2},
			New: func(args []types.Type, _ types.Type) Accumulator { return &jsonObjects{absent: len(args) > 2} },
		},
		{
			Name: "JSON_ARRAYAGG", Syntax: "JSON_ARRAYAGG(value [{NULL | ABSENT} ON NULL])",
			Doc:     "A JSON array of the values, in the order in which the rows arrive. NULLs are left out, unless NULL ON NULL is there.",
			Example: "JSON_ARRAYAGG(x)", Result: "[1,2,2]", Min: 1, Max: 2,
			Bind: bind(1, JSONNullOnNull), Constants: []int{1}, Ordered: true,
			New: func(args []types.Type, _ types.Type) Accumulator { return &jsonArrays{nulls: len(args) > 1} },
		},
	}
}

// jsonArrays is the state of JSON_ARRAYAGG: the values of each group in the order of their arrival.
type jsonArrays struct {
	nulls  bool
	groups []jsonArray
	size   int64
}

// jsonArray holds values one after the other, each with its length in front.
type jsonArray struct {
	values []byte
	// missing are values that were taken back before they came, written likewise.
	missing []byte
}

func (a *jsonArrays) Grow(groups int) { a.groups = growTo(a.groups, groups) }

func (a *jsonArrays) Update(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	a.rows(groups, args[0], Rows{Sel: sel, N: n}, (*jsonArray).add)
	return nil
}

func (a *jsonArrays) Retract(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	a.rows(groups, args[0], Rows{Sel: sel, N: n}, (*jsonArray).remove)
	return nil
}

func (a *jsonArrays) rows(groups []uint32, x *column.Vector, r Rows, do func(g *jsonArray, value []byte)) {
	for k, n := 0, r.Count(); k < n; k++ {
		i := r.Row(k)
		value := []byte("null")
		if !x.IsNull(i) {
			value = x.Value(i)
		} else if !a.nulls {
			continue
		}
		g := &a.groups[groupOf(groups, k)]
		before := cap(g.values) + cap(g.missing)
		do(g, value)
		a.size += int64(cap(g.values) + cap(g.missing) - before)
	}
}

func (g *jsonArray) add(value []byte) {
	if at, end := findJSON(g.missing, value); end > 0 {
		g.missing = slices.Delete(g.missing, at, end)
		return
	}
	g.values = appendCounted(g.values, value)
}

func (g *jsonArray) remove(value []byte) {
	if at, end := findJSON(g.values, value); end > 0 {
		g.values = slices.Delete(g.values, at, end)
		return
	}
	g.missing = appendCounted(g.missing, value)
}

func appendCounted(dst, value []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(value))), value...)
}

// counted takes the first value off a list.
func counted(list []byte) (value, rest []byte, ok bool) {
	size, w := binary.Uvarint(list)
	if w <= 0 || size > uint64(len(list)-w) {
		return nil, nil, false
	}
	return list[w : w+int(size)], list[w+int(size):], true
}

// findJSON returns where a value stands in a list; end is 0 when it does not.
func findJSON(list, value []byte) (at, end int) {
	for rest := list; len(rest) > 0; {
		v, next, ok := counted(rest)
		if !ok {
			return 0, 0
		}
		if string(v) == string(value) {
			return len(list) - len(rest), len(list) - len(next)
		}
		rest = next
	}
	return 0, 0
}

func (a *jsonArrays) StateTypes() []types.Type {
	return []types.Type{types.Bytes().AsNotNull(), types.Bytes().AsNotNull()}
}

func (a *jsonArrays) State(out []*column.Vector, from, to int) error {
	for i := from; i < to; i++ {
		out[0].AppendBytes(a.groups[i].values)
		out[1].AppendBytes(a.groups[i].missing)
	}
	return nil
}

func (a *jsonArrays) Merge(groups []uint32, state []*column.Vector, n int) error {
	for k := 0; k < n; k++ {
		g := &a.groups[groupOf(groups, k)]
		before := cap(g.values) + cap(g.missing)
		values, missing := state[0].Value(k), state[1].Value(k)
		if !isCounted(values) || !isCounted(missing) {
			return rowError(-1, "the saved state of JSON_ARRAYAGG is damaged", "")
		}
		if len(missing) == 0 && len(g.missing) == 0 {
			g.values = append(g.values, values...)
		} else {
			eachCounted(values, g.add)
			eachCounted(missing, g.remove)
		}
		a.size += int64(cap(g.values) + cap(g.missing) - before)
	}
	return nil
}

func isCounted(list []byte) bool {
	for len(list) > 0 {
		_, rest, ok := counted(list)
		if !ok {
			return false
		}
		list = rest
	}
	return true
}

// eachCounted calls f for the values of a list that isCounted.
func eachCounted(list []byte, f func(value []byte)) {
	for len(list) > 0 {
		value, rest, _ := counted(list)
		f(value)
		list = rest
	}
}

func (a *jsonArrays) Result(out *column.Vector, from, to int) error {
	var buf []byte
	for i := from; i < to; i++ {
		buf = append(buf[:0], '[')
		eachCounted(a.groups[i].values, func(value []byte) {
			if len(buf) > 1 {
				buf = append(buf, ',')
			}
			buf = append(buf, value...)
		})
		out.AppendBytes(append(buf, ']'))
	}
	return nil
}

func (a *jsonArrays) Size() int64 { return int64(48*cap(a.groups)) + a.size }

// jsonObjects is the state of JSON_OBJECTAGG: for each group the values by their keys.
type jsonObjects struct {
	absent bool
	groups []jsonObject
	size   int64
}

// jsonObject holds the members of a group, and those that were taken back before they came.
type jsonObject struct{ members, missing map[string]string }

func (o *jsonObjects) Grow(groups int) { o.groups = growTo(o.groups, groups) }

// jsonEntry is what a member takes beside its texts, about.
const jsonEntry = 48

// each calls do for the rows that have a member.
func (o *jsonObjects) each(groups []uint32, args []*column.Vector, r Rows, do func(g *jsonObject, key, value []byte) error) error {
	keys, values := args[0], args[1]
	for k, n := 0, r.Count(); k < n; k++ {
		i := r.Row(k)
		if keys.IsNull(i) {
			return rowError(i, "a key of JSON_OBJECTAGG is NULL, and JSON has no such key", "leave such rows out: FILTER (WHERE key IS NOT NULL)")
		}
		value := []byte("null")
		if !values.IsNull(i) {
			value = values.Value(i)
		} else if o.absent {
			value = nil // a member that is not written, whose key is taken all the same
		}
		if err := do(&o.groups[groupOf(groups, k)], keys.Value(i), value); err != nil {
			return located(err, i)
		}
	}
	return nil
}

func (o *jsonObjects) Update(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	return o.each(groups, args, Rows{Sel: sel, N: n}, o.add)
}

func (o *jsonObjects) Retract(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	return o.each(groups, args, Rows{Sel: sel, N: n}, o.remove)
}

func (o *jsonObjects) add(g *jsonObject, key, value []byte) error {
	if v, ok := g.missing[string(key)]; ok && v == string(value) {
		delete(g.missing, string(key))
		o.size -= int64(len(key)+len(value)) + jsonEntry
		return nil
	}
	if o.absent && len(value) == 0 {
		return nil
	}
	if _, ok := g.members[string(key)]; ok {
		return failure(fmt.Sprintf("Key '%s' is already present. Duplicate keys are not allowed in JSON_OBJECTAGG", shorten(key)), "make keys unique, or group by them")
	}
	if g.members == nil {
		g.members = map[string]string{}
	}
	g.members[string(key)] = string(value)
	o.size += int64(len(key)+len(value)) + jsonEntry
	return nil
}

func (o *jsonObjects) remove(g *jsonObject, key, value []byte) error {
	if o.absent && len(value) == 0 {
		return nil
	}
	if v, ok := g.members[string(key)]; ok && v == string(value) {
		delete(g.members, string(key))
		o.size -= int64(len(key)+len(value)) + jsonEntry
		return nil
	}
	if g.missing == nil {
		g.missing = map[string]string{}
	}
	g.missing[string(key)] = string(value)
	o.size += int64(len(key)+len(value)) + jsonEntry
	return nil
}

func (o *jsonObjects) StateTypes() []types.Type {
	return []types.Type{types.Bytes().AsNotNull(), types.Bytes().AsNotNull()}
}

func (o *jsonObjects) State(out []*column.Vector, from, to int) error {
	for i := from; i < to; i++ {
		for k, members := range []map[string]string{o.groups[i].members, o.groups[i].missing} {
			var buf []byte
			for _, key := range sortedKeys(members) {
				buf = appendCounted(appendCounted(buf, []byte(key)), []byte(members[key]))
			}
			out[k].AppendBytes(buf)
		}
	}
	return nil
}

// sortedKeys returns the keys in the order of the result.
func sortedKeys(members map[string]string) []string {
	keys := make([]string, 0, len(members))
	for k := range members {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return compareUTF16([]byte(a), []byte(b)) })
	return keys
}

func (o *jsonObjects) Merge(groups []uint32, state []*column.Vector, n int) error {
	for k := 0; k < n; k++ {
		g := &o.groups[groupOf(groups, k)]
		for s, do := range []func(*jsonObject, []byte, []byte) error{o.add, o.remove} {
			for list := state[s].Value(k); len(list) > 0; {
				key, rest, ok := counted(list)
				value, next, ok2 := counted(rest)
				if !ok || !ok2 {
					return rowError(-1, "the saved state of JSON_OBJECTAGG is damaged", "")
				}
				if err := do(g, key, value); err != nil {
					return located(err, -1)
				}
				list = next
			}
		}
	}
	return nil
}

func (o *jsonObjects) Result(out *column.Vector, from, to int) error {
	var buf []byte
	for i := from; i < to; i++ {
		members := o.groups[i].members
		buf = append(buf[:0], '{')
		for k, key := range sortedKeys(members) {
			if k > 0 {
				buf = append(buf, ',')
			}
			buf = append(appendJSONString(buf, []byte(key)), ':')
			buf = append(buf, members[key]...)
		}
		out.AppendBytes(append(buf, '}'))
	}
	return nil
}

func (o *jsonObjects) Size() int64 { return int64(16*cap(o.groups)) + o.size }
