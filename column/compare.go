package column

import (
	"bytes"
	"cmp"
	"math"
)

// Compare compares row i of a with row j of b, vectors of the same type, in the order of ORDER BY: NULL
// below everything; of numbers, -0.0 equal to 0.0 and NaN above Infinity and equal to itself; FALSE
// below TRUE; texts by their bytes, which for UTF-8 is by code point, blanks at the end counting.
// ARRAYs are compared element by element, a shorter one below what it begins, and ROWs field by field; MAPs
// and MULTISETs have no order, and comparing them panics. It returns a number below, equal to or above 0.
func Compare(a *Vector, i int, b *Vector, j int) int {
	if n, m := a.IsNull(i), b.IsNull(j); n || m {
		switch {
		case n && m:
			return 0
		case n:
			return -1
		}
		return 1
	}
	return compareValues(a, i, b, j)
}

func compareValues(a *Vector, i int, b *Vector, j int) int {
	switch PhysicalOf(a.Type) {
	case PhysI32:
		return cmp.Compare(a.I32[i], b.I32[j])
	case PhysI64:
		return cmp.Compare(a.I64[i], b.I64[j])
	case PhysBytes:
		return bytes.Compare(a.Value(i), b.Value(j))
	case PhysF64:
		return CompareFloat(a.F64[i], b.F64[j])
	case PhysF32:
		return CompareFloat(float64(a.F32[i]), float64(b.F32[j]))
	case PhysI128:
		return a.I128[i].Cmp(b.I128[j])
	case PhysBool:
		switch {
		case a.Bool[i] == b.Bool[j]:
			return 0
		case b.Bool[j]:
			return -1
		}
		return 1
	case PhysI8:
		return cmp.Compare(a.I8[i], b.I8[j])
	case PhysI16:
		return cmp.Compare(a.I16[i], b.I16[j])
	case PhysList, PhysRow:
		return compareNested(a, i, b, j)
	}
	panic("column: comparing values of type " + a.Type.String())
}

// CompareFloat compares as [Compare] does: NaN is above Infinity and equal to itself.
func CompareFloat(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	case x == y:
		return 0
	case x == x: // y is NaN
		return -1
	case y == y:
		return 1
	}
	return 0
}

// CanonicalFloat returns 0 for -0.0 and 0.0, and one NaN for all NaNs, as the values that [EqualRows] calls
// equal; any other number is itself.
func CanonicalFloat(f float64) float64 {
	switch {
	case f == 0:
		return 0
	case f != f:
		return math.NaN()
	}
	return f
}

// EqualRows reports whether row i of a and row j of b are one group: the same types column by column, and
// all values equal, where NULL equals NULL and NaN equals NaN, as in GROUP BY and DISTINCT.
func EqualRows(a []*Vector, i int, b []*Vector, j int) bool {
	for c, v := range a {
		if !equal(v, i, b[c], j) {
			return false
		}
	}
	return true
}

// Equal reports whether row i of a equals row j of b as [EqualRows] does.
func Equal(a *Vector, i int, b *Vector, j int) bool { return equal(a, i, b, j) }

func equal(a *Vector, i int, b *Vector, j int) bool {
	if n, m := a.IsNull(i), b.IsNull(j); n || m {
		return n && m
	}
	switch PhysicalOf(a.Type) {
	case PhysI32:
		return a.I32[i] == b.I32[j]
	case PhysI64:
		return a.I64[i] == b.I64[j]
	case PhysBytes:
		return bytes.Equal(a.Value(i), b.Value(j))
	case PhysF64:
		x, y := a.F64[i], b.F64[j]
		return x == y || x != x && y != y
	case PhysF32:
		x, y := a.F32[i], b.F32[j]
		return x == y || x != x && y != y
	case PhysI128:
		return a.I128[i] == b.I128[j]
	case PhysBool:
		return a.Bool[i] == b.Bool[j]
	case PhysI8:
		return a.I8[i] == b.I8[j]
	case PhysI16:
		return a.I16[i] == b.I16[j]
	case PhysList, PhysRow:
		return equalNested(a, i, b, j)
	}
	panic("column: comparing values of type " + a.Type.String())
}
