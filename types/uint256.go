package types

import "math/bits"

// u128 and u256 are the magnitudes behind exact DECIMAL arithmetic: the product of two 38-digit numbers
// is below 10^76 and 2^256 is above 1.15·10^77, so no step before the last rounding loses a digit.

type u128 struct{ hi, lo uint64 }

func (a u128) less(b u128) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

func (a u128) sub(b u128) u128 {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, borrow)
	return u128{hi, lo}
}

// magnitude returns |a| and whether a is negative.
func (a Int128) magnitude() (u128, bool) {
	if a.Hi < 0 {
		a = a.Neg()
		return u128{uint64(a.Hi), a.Lo}, true
	}
	return u128{uint64(a.Hi), a.Lo}, false
}

// signed returns ±u and whether that fits an Int128.
func (u u128) signed(negative bool) (Int128, bool) {
	a := Int128{Lo: u.lo, Hi: int64(u.hi)}
	if a.Hi < 0 {
		return Int128{}, false
	}
	if negative {
		a = a.Neg()
	}
	return a, true
}

// u256 is four limbs, least significant first.
type u256 [4]uint64

func (u u128) wide() u256 { return u256{u.lo, u.hi} }

// narrow returns the low 128 bits and whether the others are zero.
func (x *u256) narrow() (u128, bool) { return u128{x[1], x[0]}, x[2]|x[3] == 0 }

func mul128(a, b u128) u256 {
	h00, l00 := bits.Mul64(a.lo, b.lo)
	h01, l01 := bits.Mul64(a.lo, b.hi)
	h10, l10 := bits.Mul64(a.hi, b.lo)
	h11, l11 := bits.Mul64(a.hi, b.hi)
	var x u256
	var c, d uint64
	x[0] = l00
	x[1], c = bits.Add64(h00, l01, 0)
	x[2], c = bits.Add64(h01, l11, c)
	x[3], _ = bits.Add64(h11, 0, c)
	x[1], d = bits.Add64(x[1], l10, 0)
	x[2], d = bits.Add64(x[2], h10, d)
	x[3], _ = bits.Add64(x[3], 0, d)
	return x
}

// add adds y and reports whether the sum fits.
func (x *u256) add(y *u256) bool {
	var c uint64
	for i := range x {
		x[i], c = bits.Add64(x[i], y[i], c)
	}
	return c == 0
}

// sub subtracts y, which is not above x.
func (x *u256) sub(y *u256) {
	var c uint64
	for i := range x {
		x[i], c = bits.Sub64(x[i], y[i], c)
	}
}

func (x *u256) less(y *u256) bool {
	for i := 3; i >= 0; i-- {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return false
}

// mulPow10 multiplies by 10^n and reports whether the product fits.
func (x *u256) mulPow10(n int) bool {
	for n > 0 {
		k := min(n, 19)
		var carry uint64
		for i := range x {
			hi, lo := bits.Mul64(x[i], pow10u64[k])
			var c uint64
			x[i], c = bits.Add64(lo, carry, 0)
			carry = hi + c
		}
		if carry != 0 {
			return false
		}
		n -= k
	}
	return true
}

// div64 divides by d and returns the remainder.
func (x *u256) div64(d uint64) (r uint64) {
	i := 3
	for i > 0 && x[i] == 0 {
		i--
	}
	for ; i >= 0; i-- {
		x[i], r = bits.Div64(r, x[i], d)
	}
	return r
}

// divPow10 divides by 10^n, dropping the remainder. Dividing in steps drops the same as dividing once.
func (x *u256) divPow10(n int) {
	for n > 0 {
		k := min(n, 19)
		x.div64(pow10u64[k])
		n -= k
	}
}

// roundPow10 divides by 10^n, rounding half up. The caller's x is below 10^77, so adding half of 10^n,
// for n up to 76, cannot overflow; above that the quotient is 0 or, from 5·10^76, 1 at n = 77.
func (x *u256) roundPow10(n int) {
	if n <= 0 {
		return
	}
	if n > 77 {
		*x = u256{}
		return
	}
	half := u256{5}
	half.mulPow10(n - 1)
	if !x.add(&half) {
		*x = u256{1}
		return
	}
	x.divPow10(n)
}

// div128 divides by d, which is not zero, and returns the remainder. It is Knuth's algorithm D for a
// divisor of two limbs.
func (x *u256) div128(d u128) u128 {
	if d.hi == 0 {
		return u128{0, x.div64(d.lo)}
	}
	s := uint(bits.LeadingZeros64(d.hi))
	v1, v0 := d.hi<<s|d.lo>>(64-s), d.lo<<s // a shift by 64 gives 0 in Go
	u := [5]uint64{x[0] << s, x[1]<<s | x[0]>>(64-s), x[2]<<s | x[1]>>(64-s), x[3]<<s | x[2]>>(64-s), x[3] >> (64 - s)}
	var q u256
	for j := 2; j >= 0; j-- {
		var qhat, rhat, carry uint64
		if u[j+2] >= v1 {
			qhat = ^uint64(0)
			rhat, carry = bits.Add64(u[j+1], v1, 0)
		} else {
			qhat, rhat = bits.Div64(u[j+2], u[j+1], v1)
		}
		for carry == 0 {
			hi, lo := bits.Mul64(qhat, v0)
			if hi < rhat || hi == rhat && lo <= u[j] {
				break
			}
			qhat--
			rhat, carry = bits.Add64(rhat, v1, 0)
		}
		h0, l0 := bits.Mul64(qhat, v0)
		h1, l1 := bits.Mul64(qhat, v1)
		l1, c := bits.Add64(l1, h0, 0)
		h1 += c
		var b uint64
		u[j], b = bits.Sub64(u[j], l0, 0)
		u[j+1], b = bits.Sub64(u[j+1], l1, b)
		u[j+2], b = bits.Sub64(u[j+2], h1, b)
		if b != 0 {
			qhat--
			u[j], c = bits.Add64(u[j], v0, 0)
			u[j+1], c = bits.Add64(u[j+1], v1, c)
			u[j+2] += c
		}
		q[j] = qhat
	}
	*x = q
	return u128{u[1] >> s, u[0]>>s | u[1]<<(64-s)}
}
