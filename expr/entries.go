package expr

import (
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// entries finds values among those that are being appended to a vector: the keys of one map, the elements of
// one multiset or array, each of which is there once.
type entries struct {
	keys   *column.Vector
	vals   *column.Vector // of a MAP, or the counts of a MULTISET
	first  int
	byHash map[uint64][]int // once there are many
}

// newEntries begins a row of a MAP or MULTISET; the caller ends it.
func newEntries(out *column.Vector) *entries {
	return &entries{keys: out.Children[0], vals: out.Children[1], first: out.Children[0].Len}
}

// manyEntries is from how many on a value is looked up by its hash.
const manyEntries = 16

func (b *entries) find(v *column.Vector, i int) (at int, ok bool) {
	if b.byHash != nil {
		for _, e := range b.byHash[column.HashRow(v, i)] {
			if column.Equal(b.keys, e, v, i) {
				return e, true
			}
		}
		return 0, false
	}
	for e := b.first; e < b.keys.Len; e++ {
		if column.Equal(b.keys, e, v, i) {
			return e, true
		}
	}
	return 0, false
}

// added notes the key that was appended last.
func (b *entries) added() {
	note := func(e int) {
		h := column.HashRow(b.keys, e)
		b.byHash[h] = append(b.byHash[h], e)
	}
	switch n := b.keys.Len - b.first; {
	case b.byHash != nil:
		note(b.keys.Len - 1)
	case n > manyEntries:
		b.byHash = map[uint64][]int{}
		for e := b.first; e < b.keys.Len; e++ {
			note(e)
		}
	}
}

// put adds an entry of a MAP, or replaces the value of its key.
func (b *entries) put(keys *column.Vector, k int, vals *column.Vector, v int) {
	if at, ok := b.find(keys, k); ok {
		replaceRow(b.vals, at, vals, v)
		return
	}
	b.keys.AppendFrom(keys, k)
	b.vals.AppendFrom(vals, v)
	b.added()
}

// count adds n of an element to a MULTISET.
func (b *entries) count(v *column.Vector, i int, n int32) {
	if at, ok := b.find(v, i); ok {
		b.vals.I32[at] += n
		return
	}
	b.keys.AppendFrom(v, i)
	b.vals.AppendI64(int64(n))
	b.added()
}

// replaceRow makes row at of v, one of its last few, the value of row i of src.
func replaceRow(v *column.Vector, at int, src *column.Vector, i int) {
	if v.Offsets == nil && v.Children == nil && v.Type.Kind != types.Null {
		if src.IsNull(i) {
			v.SetNull(at)
			return
		}
		copyRow(v, at, src, i)
		if v.Valid != nil {
			v.Valid.Set(at)
		}
		return
	}
	rest := column.New(v.Type, v.Len-at)
	rest.AppendFrom(src, i)
	rest.AppendRange(v, at+1, v.Len-at-1)
	head := column.New(v.Type, v.Len)
	head.AppendRange(v, 0, at)
	head.AppendRange(rest, 0, rest.Len)
	*v = *head
}
