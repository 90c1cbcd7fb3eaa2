package expr

import (
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// entries appends the entries of one row to a MAP or MULTISET, whose keys are there once each.
type entries struct {
	out    *column.Vector
	first  int
	byHash map[uint64][]int // once there are many
}

// manyEntries is from how many entries on a key is looked up by its hash.
const manyEntries = 16

func (b *entries) find(v *column.Vector, i int) (at int, ok bool) {
	keys := b.out.Children[0]
	if b.byHash != nil {
		for _, e := range b.byHash[column.HashRow(v, i)] {
			if column.Equal(keys, e, v, i) {
				return e, true
			}
		}
		return 0, false
	}
	for e := b.first; e < keys.Len; e++ {
		if column.Equal(keys, e, v, i) {
			return e, true
		}
	}
	return 0, false
}

// added notes the entry that was appended last.
func (b *entries) added() {
	keys := b.out.Children[0]
	switch n := keys.Len - b.first; {
	case b.byHash != nil:
		h := column.HashRow(keys, keys.Len-1)
		b.byHash[h] = append(b.byHash[h], keys.Len-1)
	case n > manyEntries:
		b.byHash = map[uint64][]int{}
		for e := b.first; e < keys.Len; e++ {
			h := column.HashRow(keys, e)
			b.byHash[h] = append(b.byHash[h], e)
		}
	}
}

func newEntries(out *column.Vector) *entries {
	return &entries{out: out, first: out.Children[0].Len}
}

// put adds an entry of a MAP, or replaces the value of its key.
func (b *entries) put(keys *column.Vector, k int, vals *column.Vector, v int) {
	if at, ok := b.find(keys, k); ok {
		replaceRow(b.out.Children[1], at, vals, v)
		return
	}
	b.out.Children[0].AppendFrom(keys, k)
	b.out.Children[1].AppendFrom(vals, v)
	b.added()
}

// count adds n of an element to a MULTISET.
func (b *entries) count(v *column.Vector, i int, n int32) {
	if at, ok := b.find(v, i); ok {
		b.out.Children[1].I32[at] += n
		return
	}
	b.out.Children[0].AppendFrom(v, i)
	b.out.Children[1].AppendI64(int64(n))
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
