package types

import (
	"math/big"
	"math/bits"
)

// Int128 is a two's complement 128-bit integer: Hi·2^64 + Lo. It holds the unscaled value of a DECIMAL
// of more than 18 digits; |value| stays below 10^38.
type Int128 struct {
	Lo uint64
	Hi int64
}

// Int128From returns v as an Int128.
func Int128From(v int64) Int128 { return Int128{Lo: uint64(v), Hi: v >> 63} }

// Int64 returns the value and whether it fits an int64.
func (a Int128) Int64() (int64, bool) { return int64(a.Lo), a.Hi == int64(a.Lo)>>63 }

// Neg returns -a, wrapping at the lowest value.
func (a Int128) Neg() Int128 {
	lo, borrow := bits.Sub64(0, a.Lo, 0)
	hi, _ := bits.Sub64(0, uint64(a.Hi), borrow)
	return Int128{lo, int64(hi)}
}

// Add returns a + b, wrapping at 2^128.
func (a Int128) Add(b Int128) Int128 {
	lo, carry := bits.Add64(a.Lo, b.Lo, 0)
	hi, _ := bits.Add64(uint64(a.Hi), uint64(b.Hi), carry)
	return Int128{lo, int64(hi)}
}

// Sub returns a - b, wrapping at 2^128.
func (a Int128) Sub(b Int128) Int128 {
	lo, borrow := bits.Sub64(a.Lo, b.Lo, 0)
	hi, _ := bits.Sub64(uint64(a.Hi), uint64(b.Hi), borrow)
	return Int128{lo, int64(hi)}
}

// Cmp returns -1, 0 or +1 as a is less than, equal to or greater than b.
func (a Int128) Cmp(b Int128) int {
	switch {
	case a.Hi < b.Hi:
		return -1
	case a.Hi > b.Hi:
		return 1
	case a.Lo < b.Lo:
		return -1
	case a.Lo > b.Lo:
		return 1
	}
	return 0
}

// Sign returns -1, 0 or +1.
func (a Int128) Sign() int {
	switch {
	case a.Hi < 0:
		return -1
	case a.Hi == 0 && a.Lo == 0:
		return 0
	}
	return 1
}

// Big returns a as a new big.Int.
func (a Int128) Big() *big.Int {
	b := new(big.Int).Lsh(big.NewInt(a.Hi), 64)
	return b.Add(b, new(big.Int).SetUint64(a.Lo))
}

// Int128FromBig returns b and whether it fits 128 bits.
func Int128FromBig(b *big.Int) (Int128, bool) {
	if b.BitLen() > 127 {
		return Int128{}, false
	}
	lo := new(big.Int).And(b, new(big.Int).SetUint64(^uint64(0))).Uint64()
	hi := new(big.Int).Rsh(b, 64).Int64()
	return Int128{lo, hi}, true
}
