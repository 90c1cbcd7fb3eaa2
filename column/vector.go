package column

import (
	"github.com/sluice-sql/sluice/types"
)

// Vector is one column of values, all of one type. Only the slice that the type's physical form names
// (see the package comment) is in use. Len is the number of rows; the slices may be longer.
type Vector struct {
	Type    types.Type
	Len     int
	Valid   Bitmap // nil: no NULLs
	Bool    []bool
	I8      []int8
	I16     []int16
	I32     []int32
	I64     []int64
	I128    []types.Int128
	F32     []float32
	F64     []float64
	Offsets []int32 // Len+1 of them for text, bytes and collections
	Bytes   []byte
	// Children hold the parts of a nested type, see the file nested.go.
	Children []*Vector
}

// Physical is the physical form of a type: which slice of a Vector holds its values.
type Physical uint8

// The physical forms.
const (
	PhysNone Physical = iota // the NULL type
	PhysBool
	PhysI8
	PhysI16
	PhysI32
	PhysI64
	PhysI128
	PhysF32
	PhysF64
	PhysBytes
	PhysList // ARRAY, MULTISET and MAP: rows Offsets[i] to Offsets[i+1] of the children
	PhysRow  // ROW: row i of every child
)

// PhysicalOf returns the physical form of a type.
func PhysicalOf(t types.Type) Physical {
	switch t.Kind {
	case types.Boolean:
		return PhysBool
	case types.TinyInt:
		return PhysI8
	case types.SmallInt:
		return PhysI16
	case types.Int, types.Date, types.Time, types.IntervalYearMonth:
		return PhysI32
	case types.BigInt, types.Timestamp, types.TimestampLTZ, types.IntervalDayTime:
		return PhysI64
	case types.Decimal:
		if t.Wide() {
			return PhysI128
		}
		return PhysI64
	case types.Float:
		return PhysF32
	case types.Double:
		return PhysF64
	case types.Char, types.VarChar, types.Binary, types.VarBinary:
		return PhysBytes
	case types.Array, types.Multiset, types.Map:
		return PhysList
	case types.Row:
		return PhysRow
	}
	return PhysNone
}

// New returns an empty vector with room for n rows; append to it.
func New(t types.Type, n int) *Vector {
	v := &Vector{Type: t}
	switch PhysicalOf(t) {
	case PhysBool:
		v.Bool = make([]bool, 0, n)
	case PhysI8:
		v.I8 = make([]int8, 0, n)
	case PhysI16:
		v.I16 = make([]int16, 0, n)
	case PhysI32:
		v.I32 = make([]int32, 0, n)
	case PhysI64:
		v.I64 = make([]int64, 0, n)
	case PhysI128:
		v.I128 = make([]types.Int128, 0, n)
	case PhysF32:
		v.F32 = make([]float32, 0, n)
	case PhysF64:
		v.F64 = make([]float64, 0, n)
	case PhysBytes:
		v.Offsets = append(make([]int32, 0, n+1), 0)
	case PhysList:
		v.Offsets = append(make([]int32, 0, n+1), 0)
		v.Children = newChildren(t, 0)
	case PhysRow:
		v.Children = newChildren(t, n)
	}
	return v
}

// Reset makes v empty, of the same type, keeping its memory. It must not be called on a vector that
// somebody else may still read.
func (v *Vector) Reset() {
	v.Len = 0
	v.Valid = nil
	v.Bool, v.I8, v.I16, v.I32, v.I64 = v.Bool[:0], v.I8[:0], v.I16[:0], v.I32[:0], v.I64[:0]
	v.I128, v.F32, v.F64, v.Bytes = v.I128[:0], v.F32[:0], v.F64[:0], v.Bytes[:0]
	if v.Offsets != nil {
		v.Offsets = append(v.Offsets[:0], 0)
	}
	for _, c := range v.Children {
		c.Reset()
	}
}

// Resize gives a fixed-width vector n rows of undefined value and no NULLs, for kernels that write by
// position. A text, bytes or nested vector becomes empty instead: such kernels append row by row.
func (v *Vector) Resize(n int) {
	v.Valid = nil
	v.Len = n
	switch PhysicalOf(v.Type) {
	case PhysBool:
		v.Bool = grow(v.Bool, n)
	case PhysI8:
		v.I8 = grow(v.I8, n)
	case PhysI16:
		v.I16 = grow(v.I16, n)
	case PhysI32:
		v.I32 = grow(v.I32, n)
	case PhysI64:
		v.I64 = grow(v.I64, n)
	case PhysI128:
		v.I128 = grow(v.I128, n)
	case PhysF32:
		v.F32 = grow(v.F32, n)
	case PhysF64:
		v.F64 = grow(v.F64, n)
	case PhysBytes, PhysList, PhysRow:
		v.Reset()
	}
}

func grow[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	return make([]T, n)
}

// IsNull reports whether row i is NULL.
func (v *Vector) IsNull(i int) bool { return v.Type.Kind == types.Null || !v.Valid.Get(i) }

// SetNull makes row i, below Len, NULL.
func (v *Vector) SetNull(i int) {
	if v.Type.Kind == types.Null {
		return
	}
	v.needValid(v.Len)
	v.Valid.Clear(i)
}

// needValid makes the bitmap cover n rows; new bits are set.
func (v *Vector) needValid(n int) {
	for len(v.Valid) < (n+63)/64 || v.Valid == nil {
		v.Valid = append(v.Valid, ^uint64(0))
	}
}

// added counts one appended, non-NULL row.
func (v *Vector) added() {
	v.Len++
	if v.Valid != nil {
		v.needValid(v.Len)
		v.Valid.Set(v.Len - 1)
	}
}

// NullCount returns the number of NULL rows.
func (v *Vector) NullCount() int {
	if v.Type.Kind == types.Null {
		return v.Len
	}
	return v.Len - v.Valid.Count(v.Len)
}

// FirstNull returns the first NULL row, or -1.
func (v *Vector) FirstNull() int {
	if v.Valid == nil && v.Type.Kind != types.Null {
		return -1
	}
	for i := range v.Len {
		if v.IsNull(i) {
			return i
		}
	}
	return -1
}

// Value returns the bytes of row i of a text or bytes vector; they belong to v.
func (v *Vector) Value(i int) []byte {
	return v.Bytes[v.Offsets[i]:v.Offsets[i+1]:v.Offsets[i+1]]
}

// AppendNull appends a NULL.
func (v *Vector) AppendNull() {
	switch PhysicalOf(v.Type) {
	case PhysNone:
		v.Len++
		return
	case PhysBool:
		v.Bool = append(v.Bool, false)
	case PhysI8:
		v.I8 = append(v.I8, 0)
	case PhysI16:
		v.I16 = append(v.I16, 0)
	case PhysI32:
		v.I32 = append(v.I32, 0)
	case PhysI64:
		v.I64 = append(v.I64, 0)
	case PhysI128:
		v.I128 = append(v.I128, types.Int128{})
	case PhysF32:
		v.F32 = append(v.F32, 0)
	case PhysF64:
		v.F64 = append(v.F64, 0)
	case PhysBytes:
		v.Offsets = append(v.Offsets, int32(len(v.Bytes)))
	case PhysList:
		v.Offsets = append(v.Offsets, v.Offsets[v.Len])
	case PhysRow:
		for _, c := range v.Children {
			c.AppendNull()
		}
	}
	v.Len++
	v.needValid(v.Len)
	v.Valid.Clear(v.Len - 1)
}

// AppendBool appends to a BOOLEAN vector.
func (v *Vector) AppendBool(x bool) { v.Bool = append(v.Bool, x); v.added() }

// AppendI64 appends an integer to a vector of any integer physical form up to 64 bits, whose range the
// caller has checked.
func (v *Vector) AppendI64(x int64) {
	switch PhysicalOf(v.Type) {
	case PhysI8:
		v.I8 = append(v.I8, int8(x))
	case PhysI16:
		v.I16 = append(v.I16, int16(x))
	case PhysI32:
		v.I32 = append(v.I32, int32(x))
	case PhysI64:
		v.I64 = append(v.I64, x)
	case PhysI128:
		v.I128 = append(v.I128, types.Int128From(x))
	default:
		panic("column: AppendI64 on " + v.Type.String())
	}
	v.added()
}

// AppendI128 appends the unscaled value of a DECIMAL of any precision, whose range the caller has checked.
func (v *Vector) AppendI128(x types.Int128) {
	if v.Type.Wide() {
		v.I128 = append(v.I128, x)
	} else {
		v.I64 = append(v.I64, int64(x.Lo))
	}
	v.added()
}

// AppendF64 appends to a FLOAT or DOUBLE vector.
func (v *Vector) AppendF64(x float64) {
	if v.Type.Kind == types.Float {
		v.F32 = append(v.F32, float32(x))
	} else {
		v.F64 = append(v.F64, x)
	}
	v.added()
}

// AppendBytes appends a copy of x to a text or bytes vector.
func (v *Vector) AppendBytes(x []byte) {
	v.checkBytes(len(x))
	v.Bytes = append(v.Bytes, x...)
	v.Offsets = append(v.Offsets, int32(len(v.Bytes)))
	v.added()
}

// AppendString appends x to a text or bytes vector.
func (v *Vector) AppendString(x string) {
	v.checkBytes(len(x))
	v.Bytes = append(v.Bytes, x...)
	v.Offsets = append(v.Offsets, int32(len(v.Bytes)))
	v.added()
}

// Int64 returns row i of a vector of an integer physical form up to 64 bits.
func (v *Vector) Int64(i int) int64 {
	switch PhysicalOf(v.Type) {
	case PhysI8:
		return int64(v.I8[i])
	case PhysI16:
		return int64(v.I16[i])
	case PhysI32:
		return int64(v.I32[i])
	case PhysI64:
		return v.I64[i]
	}
	panic("column: Int64 on " + v.Type.String())
}

// Int128 returns the unscaled value of row i of a DECIMAL vector.
func (v *Vector) Int128(i int) types.Int128 {
	if v.Type.Wide() {
		return v.I128[i]
	}
	return types.Int128From(v.I64[i])
}

// AppendFrom appends row i of src, a vector of the same physical form.
func (v *Vector) AppendFrom(src *Vector, i int) {
	if src.IsNull(i) {
		v.AppendNull()
		return
	}
	switch PhysicalOf(v.Type) {
	case PhysBool:
		v.Bool = append(v.Bool, src.Bool[i])
	case PhysI8:
		v.I8 = append(v.I8, src.I8[i])
	case PhysI16:
		v.I16 = append(v.I16, src.I16[i])
	case PhysI32:
		v.I32 = append(v.I32, src.I32[i])
	case PhysI64:
		v.I64 = append(v.I64, src.I64[i])
	case PhysI128:
		v.I128 = append(v.I128, src.I128[i])
	case PhysF32:
		v.F32 = append(v.F32, src.F32[i])
	case PhysF64:
		v.F64 = append(v.F64, src.F64[i])
	case PhysBytes:
		x := src.Value(i)
		v.checkBytes(len(x))
		v.Bytes = append(v.Bytes, x...)
		v.Offsets = append(v.Offsets, int32(len(v.Bytes)))
	case PhysList:
		v.appendElements(src, int(src.Offsets[i]), int(src.Offsets[i+1]))
	case PhysRow:
		for k, c := range v.Children {
			c.AppendFrom(src.Children[k], i)
		}
	}
	v.added()
}

// Size returns the bytes of memory that the rows of v take, for memory accounting.
func (v *Vector) Size() int64 {
	n := int64(len(v.Valid)*8 + len(v.Bool) + len(v.I8) + 2*len(v.I16) + 4*len(v.I32) + 8*len(v.I64) +
		16*len(v.I128) + 4*len(v.F32) + 8*len(v.F64) + 4*len(v.Offsets) + len(v.Bytes))
	for _, c := range v.Children {
		n += c.Size()
	}
	return n
}

// Head returns the first n rows of v as a vector that shares its memory and must not be appended to.
func (v *Vector) Head(n int) *Vector {
	h := *v
	h.Len = n
	switch PhysicalOf(v.Type) {
	case PhysBool:
		h.Bool = v.Bool[:n:n]
	case PhysI8:
		h.I8 = v.I8[:n:n]
	case PhysI16:
		h.I16 = v.I16[:n:n]
	case PhysI32:
		h.I32 = v.I32[:n:n]
	case PhysI64:
		h.I64 = v.I64[:n:n]
	case PhysI128:
		h.I128 = v.I128[:n:n]
	case PhysF32:
		h.F32 = v.F32[:n:n]
	case PhysF64:
		h.F64 = v.F64[:n:n]
	case PhysBytes:
		h.Offsets = v.Offsets[: n+1 : n+1]
		h.Bytes = v.Bytes[:v.Offsets[n]:v.Offsets[n]]
	case PhysList:
		h.Offsets = v.Offsets[: n+1 : n+1]
		h.Children = heads(v.Children, int(v.Offsets[n]))
	case PhysRow:
		h.Children = heads(v.Children, n)
	}
	if v.Valid != nil {
		h.Valid = v.Valid[: (n+63)/64 : (n+63)/64]
	}
	return &h
}
