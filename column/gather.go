package column

import (
	"math"
	"slices"

	"github.com/sluice-sql/sluice/types"
)

// AppendVector appends to v the rows of src that sel names, or its first n when sel is nil. The two
// have the same physical form, or src is of the NULL type.
func (v *Vector) AppendVector(src *Vector, sel []uint16, n int) {
	if sel == nil {
		v.AppendRange(src, 0, n)
		return
	}
	if v.appendNulls(src, len(sel)) {
		return
	}
	start := v.Len
	switch PhysicalOf(v.Type) {
	case PhysBool:
		v.Bool = gather(v.Bool, src.Bool, sel)
	case PhysI8:
		v.I8 = gather(v.I8, src.I8, sel)
	case PhysI16:
		v.I16 = gather(v.I16, src.I16, sel)
	case PhysI32:
		v.I32 = gather(v.I32, src.I32, sel)
	case PhysI64:
		v.I64 = gather(v.I64, src.I64, sel)
	case PhysI128:
		v.I128 = gather(v.I128, src.I128, sel)
	case PhysF32:
		v.F32 = gather(v.F32, src.F32, sel)
	case PhysF64:
		v.F64 = gather(v.F64, src.F64, sel)
	case PhysBytes:
		v.gatherBytes(src, sel)
	case PhysList:
		for _, i := range sel {
			from, to := int(src.Offsets[i]), int(src.Offsets[int(i)+1])
			if !src.Valid.Get(int(i)) {
				to = from
			}
			v.appendElements(src, from, to)
		}
	case PhysRow:
		for k, c := range v.Children {
			c.AppendVector(src.Children[k], sel, 0)
		}
	}
	v.Len += len(sel)
	if src.Valid == nil && v.Valid == nil {
		return
	}
	v.needValid(v.Len)
	for k, i := range sel {
		v.Valid.put(start+k, src.Valid.Get(int(i)))
	}
}

// AppendRange appends to v the n rows of src that begin at row from. The two have the same physical form,
// or src is of the NULL type.
func (v *Vector) AppendRange(src *Vector, from, n int) {
	if v.appendNulls(src, n) {
		return
	}
	start, to := v.Len, from+n
	switch PhysicalOf(v.Type) {
	case PhysBool:
		v.Bool = append(v.Bool, src.Bool[from:to]...)
	case PhysI8:
		v.I8 = append(v.I8, src.I8[from:to]...)
	case PhysI16:
		v.I16 = append(v.I16, src.I16[from:to]...)
	case PhysI32:
		v.I32 = append(v.I32, src.I32[from:to]...)
	case PhysI64:
		v.I64 = append(v.I64, src.I64[from:to]...)
	case PhysI128:
		v.I128 = append(v.I128, src.I128[from:to]...)
	case PhysF32:
		v.F32 = append(v.F32, src.F32[from:to]...)
	case PhysF64:
		v.F64 = append(v.F64, src.F64[from:to]...)
	case PhysBytes:
		first, last := src.Offsets[from], src.Offsets[to]
		v.checkBytes(int(last - first))
		base := int32(len(v.Bytes)) - first
		v.Bytes = append(v.Bytes, src.Bytes[first:last]...)
		v.Offsets = slices.Grow(v.Offsets, n)
		for _, o := range src.Offsets[from+1 : to+1] {
			v.Offsets = append(v.Offsets, o+base)
		}
	case PhysList:
		first, last := int(src.Offsets[from]), int(src.Offsets[to])
		v.checkElements(last - first)
		base := v.Offsets[len(v.Offsets)-1] - int32(first)
		for k, c := range v.Children {
			c.AppendRange(src.Children[k], first, last-first)
		}
		v.Offsets = slices.Grow(v.Offsets, n)
		for _, o := range src.Offsets[from+1 : to+1] {
			v.Offsets = append(v.Offsets, o+base)
		}
	case PhysRow:
		for k, c := range v.Children {
			c.AppendRange(src.Children[k], from, n)
		}
	}
	v.Len += n
	switch {
	case src.Valid == nil && v.Valid == nil || n == 0:
	case start&63 == 0 && from&63 == 0:
		// Whole words: bits past the last row are nobody's.
		v.needValid(v.Len)
		for w := 0; w < (n+63)/64; w++ {
			bits := ^uint64(0)
			if src.Valid != nil {
				bits = src.Valid[from>>6+w]
			}
			v.Valid[start>>6+w] = bits
		}
	default:
		v.needValid(v.Len)
		for i := 0; i < n; i++ {
			v.Valid.put(start+i, src.Valid.Get(from+i))
		}
	}
}

// appendNulls appends n NULLs when src is of the NULL type, and reports whether it was.
func (v *Vector) appendNulls(src *Vector, n int) bool {
	if src.Type.Kind != types.Null {
		return false
	}
	for i := 0; i < n; i++ {
		v.AppendNull()
	}
	return true
}

func gather[T any](dst, src []T, sel []uint16) []T {
	n := len(dst)
	dst = slices.Grow(dst, len(sel))[:n+len(sel)]
	for k, i := range sel {
		dst[n+k] = src[i]
	}
	return dst
}

func (v *Vector) gatherBytes(src *Vector, sel []uint16) {
	total := 0
	for _, i := range sel {
		total += int(src.Offsets[int(i)+1] - src.Offsets[i])
	}
	v.checkBytes(total)
	v.Bytes = slices.Grow(v.Bytes, total)
	v.Offsets = slices.Grow(v.Offsets, len(sel))
	for _, i := range sel {
		if src.Valid.Get(int(i)) {
			v.Bytes = append(v.Bytes, src.Bytes[src.Offsets[i]:src.Offsets[int(i)+1]]...)
		}
		v.Offsets = append(v.Offsets, int32(len(v.Bytes)))
	}
}

// TooLongError is what appending to a vector of text or bytes panics with before its offsets of 32 bits
// wrap. Whoever fills a batch ends it long before; rows that are extremely long by what an expression
// makes of them can come to it, and so whoever runs expressions recovers it and makes an error of it.
type TooLongError struct{ Type types.Type }

// Error names the type.
func (e *TooLongError) Error() string {
	return "the values of a " + e.Type.AsNullable().String() + " column in one batch of rows are above 2 GiB"
}

// checkBytes stops before more bytes would make offsets wrap.
func (v *Vector) checkBytes(more int) {
	if len(v.Bytes) > math.MaxInt32-more {
		panic(&TooLongError{v.Type})
	}
}
