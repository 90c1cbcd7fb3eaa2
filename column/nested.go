package column

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/sluice-sql/sluice/types"
)

// Vectors of nested types have children. Those of a ROW are its fields, and row i of each belongs to row i.
// A collection's are its elements, of which rows Offsets[i] to Offsets[i+1] belong to row i: for ARRAY one
// child, the elements; for MAP two, keys and values; for MULTISET two, elements and how often each is
// there, an INT NOT NULL. The elements of a NULL collection, and the fields of a NULL row, are nobody's; a
// NULL collection has usually none.

// childTypes returns the types of the children of a nested type's vector.
func childTypes(t types.Type) []types.Type {
	ts := make([]types.Type, len(t.Fields), len(t.Fields)+1)
	for i, f := range t.Fields {
		ts[i] = f.Type
	}
	if t.Kind == types.Multiset {
		ts = append(ts, types.Of(types.Int).AsNotNull())
	}
	return ts
}

func newChildren(t types.Type, n int) []*Vector {
	ts := childTypes(t)
	children := make([]*Vector, len(ts))
	for i, c := range ts {
		children[i] = New(c, n)
	}
	return children
}

func heads(children []*Vector, n int) []*Vector {
	hs := make([]*Vector, len(children))
	for i, c := range children {
		hs[i] = c.Head(n)
	}
	return hs
}

// Elements returns where the elements of row i of a collection's vector begin and end in its children.
func (v *Vector) Elements(i int) (from, to int) { return int(v.Offsets[i]), int(v.Offsets[i+1]) }

// EndRow ends a row of a nested vector that is filled through its children: the caller has appended its
// elements, as many to every child, or one value to every field of a ROW. A row that is NULL is appended
// with [Vector.AppendNull] instead.
func (v *Vector) EndRow() {
	if v.Offsets != nil {
		v.Offsets = append(v.Offsets, int32(v.Children[0].Len))
	}
	v.added()
}

// appendElements appends elements of src as those of one more row, whose validity the caller sets.
func (v *Vector) appendElements(src *Vector, from, to int) {
	v.checkElements(to - from)
	for k, c := range v.Children {
		c.AppendRange(src.Children[k], from, to-from)
	}
	v.Offsets = append(v.Offsets, int32(v.Children[0].Len))
}

// checkElements stops before more elements would make offsets wrap.
func (v *Vector) checkElements(more int) {
	if v.Children[0].Len > math.MaxInt32-more {
		panic(&TooLongError{v.Type})
	}
}

// TextBytes returns the bytes of text, and of binary values, that row i has, those of its parts included.
func (v *Vector) TextBytes(i int) int64 {
	switch {
	case v.Children == nil:
		if i+1 < len(v.Offsets) {
			return int64(v.Offsets[i+1] - v.Offsets[i])
		}
		return 0
	case v.Offsets == nil:
		return rowsText(v.Children, i, i+1)
	}
	from, to := v.Elements(i)
	return rowsText(v.Children, from, to)
}

func rowsText(cols []*Vector, from, to int) (n int64) {
	for _, c := range cols {
		for i := from; i < to && (c.Offsets != nil || c.Children != nil); i++ {
			n += c.TextBytes(i)
		}
	}
	return n
}

// hashNested adds a row of a nested vector to the hash h. The entries of a MAP and a MULTISET count
// whatever their order is.
func hashNested(h uint64, v *Vector, i int) uint64 {
	if !v.Valid.Get(i) {
		return hashNullOf(h)
	}
	if v.Type.Kind == types.Row {
		h = hashWord(h, uint64(len(v.Children))) // a ROW of a NULL is no NULL
		for _, c := range v.Children {
			h = hashRow(h, c, i)
		}
		return h
	}
	from, to := v.Elements(i)
	h = hashWord(h, uint64(to-from))
	if v.Type.Kind == types.Array {
		for e := from; e < to; e++ {
			h = hashRow(h, v.Children[0], e)
		}
		return h
	}
	var sum uint64
	for e := from; e < to; e++ {
		sum += hashRow(hashRow(hashSeed, v.Children[0], e), v.Children[1], e)
	}
	return hashWord(h, sum)
}

// HashRow returns a hash of row i of a vector, equal for values that [Equal] calls equal. It is not that of
// [Hash].
func HashRow(v *Vector, i int) uint64 { return hashRow(hashSeed, v, i) }

// hashRow adds row i of a vector to the hash h, as hashColumn does for many.
func hashRow(h uint64, v *Vector, i int) uint64 {
	if v.IsNull(i) {
		return hashNullOf(h)
	}
	switch PhysicalOf(v.Type) {
	case PhysI8, PhysI16, PhysI32, PhysI64:
		return hashWord(h, uint64(v.Int64(i)))
	case PhysBool:
		if v.Bool[i] {
			return hashWord(h, 1)
		}
		return hashWord(h, 0)
	case PhysF32:
		return hashWord(h, floatBits(float64(v.F32[i])))
	case PhysF64:
		return hashWord(h, floatBits(v.F64[i]))
	case PhysI128:
		return hashInt128(h, v.I128[i].Lo, v.I128[i].Hi)
	case PhysBytes:
		return hashBytes(h, v.Value(i))
	case PhysList, PhysRow:
		return hashNested(h, v, i)
	}
	panic("column: hashing a value of type " + v.Type.String())
}

func compareNested(a *Vector, i int, b *Vector, j int) int {
	switch a.Type.Kind {
	case types.Row:
		for k, c := range a.Children {
			if n := Compare(c, i, b.Children[k], j); n != 0 {
				return n
			}
		}
		return 0
	case types.Array:
		from, to := a.Elements(i)
		bfrom, bto := b.Elements(j)
		for from < to && bfrom < bto {
			if n := Compare(a.Children[0], from, b.Children[0], bfrom); n != 0 {
				return n
			}
			from, bfrom = from+1, bfrom+1
		}
		return (to - from) - (bto - bfrom)
	}
	panic("column: comparing values of type " + a.Type.String())
}

// manyEntries is from how many entries on those of two maps are matched by their hashes.
const manyEntries = 16

func equalNested(a *Vector, i int, b *Vector, j int) bool {
	if a.Type.Kind == types.Row {
		return EqualRows(a.Children, i, b.Children, j)
	}
	from, to := a.Elements(i)
	bfrom, bto := b.Elements(j)
	if to-from != bto-bfrom {
		return false
	}
	if a.Type.Kind == types.Array {
		for k := range to - from {
			if !equal(a.Children[0], from+k, b.Children[0], bfrom+k) {
				return false
			}
		}
		return true
	}
	// Keys, and the elements of a MULTISET, are there once each.
	var byHash map[uint64][]int
	if to-from > manyEntries {
		byHash = make(map[uint64][]int, to-from)
		for e := bfrom; e < bto; e++ {
			h := hashRow(hashSeed, b.Children[0], e)
			byHash[h] = append(byHash[h], e)
		}
	}
	for e := from; e < to; e++ {
		if !hasEntry(a, e, b, bfrom, bto, byHash) {
			return false
		}
	}
	return true
}

// hasEntry reports whether entry e of a is one of those of b.
func hasEntry(a *Vector, e int, b *Vector, from, to int, byHash map[uint64][]int) bool {
	if byHash != nil {
		for _, f := range byHash[hashRow(hashSeed, a.Children[0], e)] {
			if EqualRows(a.Children, e, b.Children, f) {
				return true
			}
		}
		return false
	}
	for f := from; f < to; f++ {
		if EqualRows(a.Children, e, b.Children, f) {
			return true
		}
	}
	return false
}

// appendNested appends the text of a nested value: [1, 2] for an ARRAY, {k=v, k=v} for a MAP and a
// MULTISET, (1, x) for a ROW, with NULL for what is NULL.
func appendNested(dst []byte, v *Vector, i int, zone *time.Location) []byte {
	part := func(c *Vector, i int) {
		if c.IsNull(i) {
			dst = append(dst, "NULL"...)
		} else {
			dst = AppendText(dst, c, i, zone)
		}
	}
	if v.Type.Kind == types.Row {
		dst = append(dst, '(')
		for k, c := range v.Children {
			if k > 0 {
				dst = append(dst, ", "...)
			}
			part(c, i)
		}
		return append(dst, ')')
	}
	open, end := byte('{'), byte('}')
	if v.Type.Kind == types.Array {
		open, end = '[', ']'
	}
	dst = append(dst, open)
	from, to := v.Elements(i)
	for e := from; e < to; e++ {
		if e > from {
			dst = append(dst, ", "...)
		}
		part(v.Children[0], e)
		if v.Type.Kind != types.Array {
			dst = append(dst, '=')
			part(v.Children[1], e)
		}
	}
	return append(dst, end)
}

// encodeNested appends the children of a nested vector, dense.
func encodeNested(dst []byte, v *Vector, valid Bitmap, sel []uint16, n int) []byte {
	if v.Type.Kind == types.Row {
		for _, c := range v.Children {
			whole := New(c.Type, n)
			for k := range n {
				if i := rowOf(sel, k); valid.Get(i) {
					whole.AppendFrom(c, i)
				} else {
					whole.AppendNull()
				}
			}
			dst = encodeChild(dst, whole)
		}
		return dst
	}
	for k := range n {
		length := 0
		if i := rowOf(sel, k); valid.Get(i) {
			from, to := v.Elements(i)
			length = to - from
		}
		dst = binary.LittleEndian.AppendUint32(dst, uint32(length))
	}
	for _, c := range v.Children {
		whole := New(c.Type, 0)
		for k := range n {
			if i := rowOf(sel, k); valid.Get(i) {
				from, to := v.Elements(i)
				whole.AppendRange(c, from, to-from)
			}
		}
		dst = encodeChild(dst, whole)
	}
	return dst
}

// encodeChild appends a child, whose type its parent's says.
func encodeChild(dst []byte, v *Vector) []byte {
	nulls := hasNulls(v, nil, v.Len)
	flags := byte(0)
	if v.Type.NotNull {
		flags = 1
	}
	if nulls {
		flags |= 2
	}
	return encodeValuesOf(append(dst, flags), v, nil, v.Len, nulls)
}

// nested reads the children of a nested vector.
func (d *decoder) nested(v *Vector, n int) {
	rows := n
	if v.Type.IsCollection() {
		lengths := d.take(n * 4)
		if d.err != nil {
			return
		}
		v.Offsets = make([]int32, n+1)
		total := int64(0)
		for i := range n {
			total += int64(binary.LittleEndian.Uint32(lengths[4*i:]))
			if total > math.MaxInt32 {
				d.fail("more than 2,147,483,647 elements in a column")
				return
			}
			v.Offsets[i+1] = int32(total)
		}
		rows = int(total)
		if v.Type.Element().Kind != types.Null && rows > len(d.data) { // each takes space in data
			d.fail("ends too early")
			return
		}
	}
	for _, t := range childTypes(v.Type) {
		c := d.column(t, d.byte()|notNull(t), rows)
		if d.err != nil {
			return
		}
		v.Children = append(v.Children, c)
	}
}

func notNull(t types.Type) byte {
	if t.NotNull {
		return 1
	}
	return 0
}
