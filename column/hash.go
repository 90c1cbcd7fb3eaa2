package column

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Hashing folds the 128-bit product of two 64-bit words into one by exclusive or: one multiplication
// brings every bit of a value into high and low bits alike. A row's hash is a chain: the hash of the
// columns so far is one factor, the next column's value the other, each first mixed with a constant; a
// last fold at the row's end spreads what one multiplication leaves regular in numbers of equal distance.
// The constants are fixed, so that hashes agree between processes; they are the first bits of the
// fractions of the square roots of the first primes.
const (
	hashSeed  uint64 = 0x6a09e667f3bcc908
	hashValue uint64 = 0xbb67ae8584caa73b
	hashChain uint64 = 0x3c6ef372fe94f82b
	hashNull  uint64 = 0xa54ff53a5f1d36f1
	// hashLength is odd, so that no two lengths give the same product.
	hashLength uint64 = 0x510e527fade682d1
)

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// hashWord adds a 64-bit value to the hash h.
func hashWord(h, x uint64) uint64 { return fold(x^hashValue, h^hashChain) }

// hashBytes adds a text or bytes value to the hash h: sixteen bytes a step, then the last sixteen, which
// may overlap, with the length.
func hashBytes(h uint64, b []byte) uint64 {
	n := len(b)
	var x, y uint64
	switch {
	case n >= 8:
		for p := b; len(p) > 16; p = p[16:] {
			h = fold(binary.LittleEndian.Uint64(p)^hashValue, binary.LittleEndian.Uint64(p[8:])^h^hashChain)
		}
		if n > 16 {
			x = binary.LittleEndian.Uint64(b[n-16:])
		} else {
			x = binary.LittleEndian.Uint64(b)
		}
		y = binary.LittleEndian.Uint64(b[n-8:])
	case n >= 4:
		x = uint64(binary.LittleEndian.Uint32(b))<<32 | uint64(binary.LittleEndian.Uint32(b[n-4:]))
	case n > 0:
		x = uint64(b[0])<<16 | uint64(b[n>>1])<<8 | uint64(b[n-1])
	}
	return fold(x^hashValue, y^h^hashChain^uint64(n)*hashLength)
}

func floatBits(f float64) uint64 { return math.Float64bits(CanonicalFloat(f)) }

// hashInt128 equals hashWord for a value of 64 bits.
func hashInt128(h, lo uint64, hi int64) uint64 {
	h = hashWord(h, lo)
	if hi != int64(lo)>>63 {
		h = hashWord(h, uint64(hi))
	}
	return h
}

// Hash writes to out[k] the hash of the k-th of the rows that sel names, or of the first n when sel is
// nil, over all the columns. Rows that [EqualRows] calls equal have equal hashes, also across integers of
// different width, DECIMALs of one scale and different precision, and FLOAT and DOUBLE. The hashes are
// the same in every process.
func Hash(cols []*Vector, sel []uint16, n int, out []uint64) {
	if sel != nil {
		n = len(sel)
	}
	out = out[:n]
	for k := range out {
		out[k] = hashSeed
	}
	for _, v := range cols {
		hashColumn(v, sel, out)
	}
	for k, h := range out {
		out[k] = fold(h^hashValue, hashLength)
	}
}

func hashColumn(v *Vector, sel []uint16, out []uint64) {
	switch PhysicalOf(v.Type) {
	case PhysNone:
		for k, h := range out {
			out[k] = hashNullOf(h)
		}
	case PhysI8:
		hashInts(v.I8, v.Valid, sel, out)
	case PhysI16:
		hashInts(v.I16, v.Valid, sel, out)
	case PhysI32:
		hashInts(v.I32, v.Valid, sel, out)
	case PhysI64:
		hashInts(v.I64, v.Valid, sel, out)
	case PhysBool:
		for k, h := range out {
			i := rowOf(sel, k)
			switch {
			case !v.Valid.Get(i):
				out[k] = hashNullOf(h)
			case v.Bool[i]:
				out[k] = hashWord(h, 1)
			default:
				out[k] = hashWord(h, 0)
			}
		}
	case PhysF32:
		for k, h := range out {
			if i := rowOf(sel, k); v.Valid.Get(i) {
				out[k] = hashWord(h, floatBits(float64(v.F32[i])))
			} else {
				out[k] = hashNullOf(h)
			}
		}
	case PhysF64:
		for k, h := range out {
			if i := rowOf(sel, k); v.Valid.Get(i) {
				out[k] = hashWord(h, floatBits(v.F64[i]))
			} else {
				out[k] = hashNullOf(h)
			}
		}
	case PhysI128:
		for k, h := range out {
			if i := rowOf(sel, k); v.Valid.Get(i) {
				out[k] = hashInt128(h, v.I128[i].Lo, v.I128[i].Hi)
			} else {
				out[k] = hashNullOf(h)
			}
		}
	case PhysBytes:
		for k, h := range out {
			if i := rowOf(sel, k); v.Valid.Get(i) {
				out[k] = hashBytes(h, v.Value(i))
			} else {
				out[k] = hashNullOf(h)
			}
		}
	case PhysList, PhysRow:
		for k, h := range out {
			out[k] = hashNested(h, v, rowOf(sel, k))
		}
	}
}

func rowOf(sel []uint16, k int) int {
	if sel == nil {
		return k
	}
	return int(sel[k])
}

func hashNullOf(h uint64) uint64 { return fold(hashNull, h^hashChain) }

func hashInts[T int8 | int16 | int32 | int64](values []T, valid Bitmap, sel []uint16, out []uint64) {
	switch {
	case sel == nil && valid == nil:
		values = values[:len(out)]
		for k, x := range values {
			out[k] = hashWord(out[k], uint64(int64(x)))
		}
	case valid == nil:
		for k, i := range sel[:len(out)] {
			out[k] = hashWord(out[k], uint64(int64(values[i])))
		}
	default:
		for k, h := range out {
			if i := rowOf(sel, k); valid.Get(i) {
				out[k] = hashWord(h, uint64(int64(values[i])))
			} else {
				out[k] = hashNullOf(h)
			}
		}
	}
}
