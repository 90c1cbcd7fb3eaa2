package expr

import (
	"fmt"
	"math"

	"github.com/sluice-sql/sluice/column"
)

// entries finds values among those that are being appended to a vector: the keys of one map, the elements of
// one multiset or array, each of which is there once.
type entries struct {
	keys   *column.Vector
	vals   *column.Vector // of a MAP, or the counts of a MULTISET
	first  int
	byHash map[uint64][]int // once there are many
	// latest are where the values of a MAP's keys stand until the row ends.
	latest []place
}

// place is a row of a vector.
type place struct {
	v *column.Vector
	i int
}

// newEntries begins a row of a MAP, which end ends, or of a MULTISET, which the caller ends.
func newEntries(out *column.Vector) *entries {
	return &entries{keys: out.Children[0], vals: out.Children[1], first: out.Children[0].Len}
}

// end appends the values of the keys and ends the row.
func (b *entries) end(out *column.Vector) {
	for _, p := range b.latest {
		b.vals.AppendFrom(p.v, p.i)
	}
	out.EndRow()
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

// put adds an entry of a MAP, or gives its key another value. The value is read at the end of the row.
func (b *entries) put(keys *column.Vector, k int, vals *column.Vector, v int) {
	if at, ok := b.find(keys, k); ok {
		b.latest[at-b.first] = place{vals, v}
		return
	}
	b.keys.AppendFrom(keys, k)
	b.latest = append(b.latest, place{vals, v})
	b.added()
}

// count adds n of an element to a MULTISET.
func (b *entries) count(v *column.Vector, i int, n int32) error {
	at, ok := b.find(v, i)
	if !ok {
		b.keys.AppendFrom(v, i)
		b.vals.AppendI64(int64(n))
		b.added()
		return nil
	}
	sum, err := multisetCount(int64(b.vals.I32[at]) + int64(n))
	b.vals.I32[at] = sum
	return err
}

// multisetCount refuses a count of elements that is greater than an INT.
func multisetCount(n int64) (int32, error) {
	if n > math.MaxInt32 {
		return math.MaxInt32, failure(fmt.Sprintf("a MULTISET holds an element %d times, more than an INT can count", n), "")
	}
	return int32(n), nil
}
