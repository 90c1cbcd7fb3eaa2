package expr

import (
	"encoding/binary"
	"fmt"
	"math"
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
			New: func(args []types.Type, _ types.Type) Accumulator {
				return &lists{t: types.String(), nulls: len(args) > 1, finish: jsonArray}
			},
		},
	}
}

// jsonArray appends the values of a group, JSON already, as an array.
func jsonArray(l *lists, g int, out *column.Vector) error {
	buf := []byte{'['}
	l.each(g, func(i int) {
		if len(buf) > 1 {
			buf = append(buf, ',')
		}
		if l.vals.IsNull(i) {
			buf = append(buf, "null"...)
		} else {
			buf = append(buf, l.vals.Value(i)...)
		}
	})
	out.AppendBytes(append(buf, ']'))
	return nil
}

// jsonObjects is the state of JSON_OBJECTAGG: for each group the values by their keys. A key may have several
// while rows change: when its row is updated, the new value comes before the old one goes, and two rows may
// exchange their keys. That is an error only if it is so when a result is wanted.
type jsonObjects struct {
	absent bool
	groups []jsonObject
	size   int64
}

type jsonObject struct {
	members map[string][]memberValue // no list is empty
	most    int                      // the most members there were
}

// memberValue is a value of a key, and how often it is there.
type memberValue struct {
	text string
	n    int64
}

func (o *jsonObjects) Grow(groups int) { o.groups = growTo(o.groups, groups) }

// change counts the rows that have a member by times.
func (o *jsonObjects) change(groups []uint32, args []*column.Vector, r Rows, by int64) error {
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
			continue
		}
		if !o.count(&o.groups[groupOf(groups, k)], keys.Value(i), value, by) {
			return neverCame(i)
		}
	}
	return nil
}

func (o *jsonObjects) Update(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	return o.change(groups, args, Rows{Sel: sel, N: n}, 1)
}

func (o *jsonObjects) Retract(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	return o.change(groups, args, Rows{Sel: sel, N: n}, -1)
}

// jsonEntry is what a value takes beside its text, about; what a member takes in the map is counted apart.
const jsonEntry = 24 + 16

// count counts a member; it returns false when it is to go and is not there.
func (o *jsonObjects) count(g *jsonObject, key, value []byte, by int64) bool {
	vs := g.members[string(key)]
	for i := range vs {
		if vs[i].text != string(value) {
			continue
		}
		vs[i].n += by
		if vs[i].n > 0 {
			return true
		}
		o.size -= jsonEntry + int64(len(value))
		if len(vs) > 1 {
			g.members[string(key)] = slices.Delete(vs, i, i+1)
			return true
		}
		o.size -= g.size() + int64(len(key)+8)
		if delete(g.members, string(key)); len(g.members) == 0 {
			*g = jsonObject{}
		}
		o.size += g.size()
		return true
	}
	if by < 0 {
		return false
	}
	o.size += jsonEntry + int64(len(value))
	if len(vs) > 0 {
		g.members[string(key)] = append(vs, memberValue{string(value), by})
		return true
	}
	o.size += int64(len(key)+8) - g.size()
	if g.members == nil {
		g.members = map[string][]memberValue{}
	}
	g.members[string(key)] = []memberValue{{string(value), by}}
	g.most = max(g.most, len(g.members))
	o.size += g.size()
	return true
}

func (g *jsonObject) size() int64 { return mapBytes(g.most, 16+24) }

func (o *jsonObjects) StateTypes() []types.Type { return []types.Type{types.Bytes().AsNotNull()} }

// State writes each group as keys, values and numbers.
func (o *jsonObjects) State(out []*column.Vector, from, to int) error {
	for i := from; i < to; i++ {
		var buf []byte
		members := o.groups[i].members
		for _, key := range sortedKeys(members) {
			for _, v := range members[key] {
				buf = appendCounted(appendCounted(buf, []byte(key)), []byte(v.text))
				buf = binary.AppendUvarint(buf, uint64(v.n))
			}
		}
		out[0].AppendBytes(buf)
	}
	return nil
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

// sortedKeys returns the keys in the order of the result.
func sortedKeys(members map[string][]memberValue) []string {
	keys := make([]string, 0, len(members))
	for k := range members {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return compareUTF16([]byte(a), []byte(b)) })
	return keys
}

func (o *jsonObjects) Merge(groups []uint32, state []*column.Vector, n int) error {
	for k := range n {
		g := &o.groups[groupOf(groups, k)]
		for list := state[0].Value(k); len(list) > 0; {
			key, rest, ok := counted(list)
			value, rest, ok2 := counted(rest)
			times, w := binary.Uvarint(rest)
			if !ok || !ok2 || w <= 0 || times == 0 || times > math.MaxInt64 {
				return rowError(-1, "the saved state of JSON_OBJECTAGG is damaged", "")
			}
			o.count(g, key, value, int64(times))
			list = rest[w:]
		}
	}
	return nil
}

func (o *jsonObjects) Result(out *column.Vector, from, to int) error {
	var buf []byte
	for i := from; i < to; i++ {
		g := &o.groups[i]
		buf = append(buf[:0], '{')
		for k, key := range sortedKeys(g.members) {
			vs := g.members[key]
			if len(vs) > 1 || vs[0].n > 1 {
				return rowError(-1, fmt.Sprintf("Key '%s' is already present. Duplicate keys are not allowed in JSON_OBJECTAGG", shorten([]byte(key))), "make keys unique, or group by them")
			}
			if k > 0 {
				buf = append(buf, ',')
			}
			buf = append(appendJSONString(buf, []byte(key)), ':')
			buf = append(buf, vs[0].text...)
		}
		out.AppendBytes(append(buf, '}'))
	}
	return nil
}

func (o *jsonObjects) Size() int64 { return int64(16*cap(o.groups)) + o.size }
