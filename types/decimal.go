package types

import (
	"math/bits"
	"strconv"
)

// The powers of ten that fit 64 bits; a constant that Go cannot declare as one.
var pow10u64 = [20]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

// The powers of ten that a float64 holds exactly.
var pow10f64 = [23]float64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
	1e20, 1e21, 1e22,
}

func pow10u128(n int) u128 {
	if n < len(pow10u64) {
		return u128{0, pow10u64[n]}
	}
	hi, lo := bits.Mul64(1e19, pow10u64[n-19])
	return u128{hi, lo}
}

// Pow10 returns 10^n for n from 0 to 38.
func Pow10(n int) Int128 {
	p := pow10u128(n)
	return Int128{Lo: p.lo, Hi: int64(p.hi)}
}

// Pow10Int64 returns 10^n for n from 0 to 18.
func Pow10Int64(n int) int64 { return int64(pow10u64[n]) }

// AddChecked returns a + b and whether the sum fits.
func (a Int128) AddChecked(b Int128) (Int128, bool) {
	s := a.Add(b)
	return s, (a.Hi < 0) != (b.Hi < 0) || (s.Hi < 0) == (a.Hi < 0)
}

// Mul returns a · b and whether the product's magnitude stays below 2^127.
func (a Int128) Mul(b Int128) (Int128, bool) {
	if x, ok := a.Int64(); ok {
		if y, ok := b.Int64(); ok {
			hi, lo := bits.Mul64(uint64(x), uint64(y))
			// The unsigned product of two's complement numbers, less what their signs added to it.
			h := int64(hi) - (x >> 63 & y) - (y >> 63 & x)
			return Int128{lo, h}, true
		}
	}
	ua, na := a.magnitude()
	ub, nb := b.magnitude()
	p := mul128(ua, ub)
	u, ok := p.narrow()
	if !ok {
		return Int128{}, false
	}
	return u.signed(na != nb)
}

// QuoRem returns the quotient of a and b rounded towards zero, and the remainder, which has a's sign.
// b is not zero.
func (a Int128) QuoRem(b Int128) (q, r Int128) {
	if x, ok := a.Int64(); ok {
		if y, ok := b.Int64(); ok && y != -1 {
			return Int128From(x / y), Int128From(x % y)
		}
	}
	ua, na := a.magnitude()
	ub, nb := b.magnitude()
	x := ua.wide()
	rem := x.div128(ub)
	q = Int128{x[0], int64(x[1])}
	r = Int128{rem.lo, int64(rem.hi)}
	if na != nb {
		q = q.Neg()
	}
	if na {
		r = r.Neg()
	}
	return q, r
}

// Rescale turns an unscaled value of one scale into that of another, rounding half up (away from zero)
// where digits are dropped. It reports whether the result fits an Int128.
func (a Int128) Rescale(from, to int) (Int128, bool) {
	if from == to {
		return a, true
	}
	if v, ok := a.Int64(); ok {
		if r, ok := RescaleInt64(v, from, to); ok {
			return Int128From(r), true
		}
	}
	u, neg := a.magnitude()
	if to > from {
		x := u.wide()
		if to-from > 76 || !x.mulPow10(to-from) {
			return Int128{}, u == u128{}
		}
		r, ok := x.narrow()
		if !ok {
			return Int128{}, false
		}
		return r.signed(neg)
	}
	x := u.wide()
	x.roundPow10(from - to)
	r, _ := x.narrow()
	return r.signed(neg)
}

// RescaleInt64 is [Int128.Rescale] for values of 64 bits: it reports whether the result fits 64 bits.
func RescaleInt64(v int64, from, to int) (int64, bool) {
	switch d := to - from; {
	case d == 0 || v == 0:
		return v, true
	case d > 18:
		return 0, false
	case d > 0:
		p := int64(pow10u64[d])
		hi, lo := bits.Mul64(magnitude64(v), uint64(p))
		return v * p, hi == 0 && lo>>63 == 0
	case d < -19:
		return 0, true
	case d == -19: // half of 10^19 fits, 10^19 does not
		switch {
		case v >= 5e18:
			return 1, true
		case v <= -5e18:
			return -1, true
		}
		return 0, true
	default:
		p := int64(pow10u64[-d])
		q, r := v/p, v%p
		if r < 0 {
			if -r >= p-(-r) {
				q--
			}
		} else if r >= p-r {
			q++
		}
		return q, true
	}
}

func magnitude64(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// Fits reports whether a has at most the given number of decimal digits, 1 to 38.
func (a Int128) Fits(precision int) bool {
	u, _ := a.magnitude()
	return u.less(pow10u128(precision))
}

// FitsInt64 reports whether v has at most the given number of decimal digits.
func FitsInt64(v int64, precision int) bool {
	return precision >= 19 || magnitude64(v) < pow10u64[precision]
}

// fit returns ±x when it has at most precision digits.
func (x *u256) fit(negative bool, precision int) (Int128, bool) {
	u, ok := x.narrow()
	if !ok || !u.less(pow10u128(precision)) {
		return Int128{}, false
	}
	return u.signed(negative)
}

// RescaleDecimal turns an unscaled value of the given scale into one of t, a DECIMAL type, rounding half
// up. It reports false when the value has too many digits for t.
func RescaleDecimal(a Int128, scale int, t Type) (Int128, bool) {
	r, ok := a.Rescale(scale, t.Scale)
	return r, ok && r.Fits(t.Precision)
}

// AddDecimal returns a + b, of scales sa and sb, as a value of the DECIMAL type t: computed exactly,
// then rounded half up. It reports false when the sum has too many digits for t.
func AddDecimal(a Int128, sa int, b Int128, sb int, t Type) (Int128, bool) {
	if sa == sb && sa == t.Scale {
		s, ok := a.AddChecked(b)
		return s, ok && s.Fits(t.Precision)
	}
	ua, na := a.magnitude()
	ub, nb := b.magnitude()
	x, y := ua.wide(), ub.wide()
	s := max(sa, sb)
	if !x.mulPow10(s-sa) || !y.mulPow10(s-sb) {
		return Int128{}, false
	}
	if na == nb {
		if !x.add(&y) {
			return Int128{}, false
		}
	} else {
		if x.less(&y) {
			x, y, na = y, x, nb
		}
		x.sub(&y)
	}
	return x.rescale(s, na, t)
}

// SubDecimal is [AddDecimal] of -b.
func SubDecimal(a Int128, sa int, b Int128, sb int, t Type) (Int128, bool) {
	return AddDecimal(a, sa, b.Neg(), sb, t)
}

// MulDecimal returns a · b, of scales sa and sb, as a value of the DECIMAL type t: computed exactly, then
// rounded half up. It reports false when the product has too many digits for t.
func MulDecimal(a Int128, sa int, b Int128, sb int, t Type) (Int128, bool) {
	if sa+sb == t.Scale {
		p, ok := a.Mul(b)
		return p, ok && p.Fits(t.Precision)
	}
	ua, na := a.magnitude()
	ub, nb := b.magnitude()
	x := mul128(ua, ub)
	return x.rescale(sa+sb, na != nb, t)
}

// rescale takes x of the given scale to t's.
func (x *u256) rescale(scale int, negative bool, t Type) (Int128, bool) {
	if t.Scale >= scale {
		if !x.mulPow10(t.Scale - scale) {
			return Int128{}, false
		}
	} else {
		x.roundPow10(scale - t.Scale)
	}
	return x.fit(negative, t.Precision)
}

// DivDecimal returns a / b, of scales sa and sb, as a value of the DECIMAL type t, rounded half up from
// the exact quotient. b is not zero. It reports false when the quotient has too many digits for t.
func DivDecimal(a Int128, sa int, b Int128, sb int, t Type) (Int128, bool) {
	ua, na := a.magnitude()
	ub, nb := b.magnitude()
	x := ua.wide()
	if shift := t.Scale + sb - sa; shift >= 0 {
		// A numerator of more than 256 bits means a quotient of more than 38 digits.
		if !x.mulPow10(shift) {
			return Int128{}, false
		}
	} else {
		// Scales that Flink's own types never have: move the digits to the divisor.
		d := ub.wide()
		if !d.mulPow10(-shift) {
			return Int128{}, true
		}
		n, ok := d.narrow()
		if !ok { // the divisor is above any numerator's double, or nearly: decide by comparing
			twice := x
			twice.add(&x)
			if twice.less(&d) {
				return Int128{}, true
			}
			return Int128From(1).negIf(na != nb), true
		}
		ub = n
	}
	r := x.div128(ub)
	if !r.less(ub.sub(r)) {
		one := u256{1}
		x.add(&one)
	}
	return x.fit(na != nb, t.Precision)
}

func (a Int128) negIf(negative bool) Int128 {
	if negative {
		return a.Neg()
	}
	return a
}

// ModDecimal returns the remainder of a / b, of scales sa and sb, with a's sign, as a value of the DECIMAL
// type t. b is not zero.
func ModDecimal(a Int128, sa int, b Int128, sb int, t Type) (Int128, bool) {
	s := max(sa, sb)
	ua, na := a.magnitude()
	ub, _ := b.magnitude()
	x, y := ua.wide(), ub.wide()
	if !x.mulPow10(s-sa) || !y.mulPow10(s-sb) {
		return Int128{}, false
	}
	d, ok := y.narrow()
	if !ok {
		// The divisor was scaled up, hence the dividend was not and is the smaller one.
		return x.rescale(s, na, t)
	}
	x = x.mod128(d)
	return x.rescale(s, na, t)
}

func (x u256) mod128(d u128) u256 { r := x.div128(d); return r.wide() }

// CmpDecimal compares a and b of scales sa and sb.
func CmpDecimal(a Int128, sa int, b Int128, sb int) int {
	if sa == sb {
		return a.Cmp(b)
	}
	if s, t := a.Sign(), b.Sign(); s != t || s == 0 {
		return cmpInt(s, t)
	}
	ua, na := a.magnitude()
	ub, _ := b.magnitude()
	x, y := ua.wide(), ub.wide()
	s := max(sa, sb)
	x.mulPow10(s - sa) // at most 38 + 38 digits
	y.mulPow10(s - sb)
	if na {
		x, y = y, x
	}
	switch {
	case x.less(&y):
		return -1
	case y.less(&x):
		return 1
	}
	return 0
}

func cmpInt(a, b int) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// DecimalToInt64 returns the integer part of a, dropping the decimals, and whether it fits 64 bits.
func DecimalToInt64(a Int128, scale int) (int64, bool) {
	if scale > 0 {
		a, _ = a.QuoRem(Pow10(scale))
	}
	return a.Int64()
}

// DecimalToFloat64 returns the float64 nearest to a.
func DecimalToFloat64(a Int128, scale int) float64 {
	if v, ok := a.Int64(); ok && scale < len(pow10f64) && magnitude64(v) <= 1<<53 {
		return float64(v) / pow10f64[scale] // both exact, so the quotient is rounded once
	}
	var buf [64]byte
	b := AppendDecimal(buf[:0], a, scale)
	f, _ := strconv.ParseFloat(string(b), 64) // digits only, far inside the range
	return f
}

// Float64ToDecimal returns f's shortest decimal text as an unscaled value of the DECIMAL type t, rounded
// half up. It reports false for NaN, the infinities and values with too many digits for t.
func Float64ToDecimal(f float64, t Type) (Int128, bool) {
	if f != f || f-f != 0 {
		return Int128{}, false
	}
	var buf [32]byte
	v, why := parseDecimal(strconv.AppendFloat(buf[:0], f, 'e', -1, 64), t.Precision, t.Scale, false)
	return v, why == ""
}

// AppendDecimal appends the text of a DECIMAL with exactly scale decimals: -12.50, 0.05, 7.
func AppendDecimal(dst []byte, a Int128, scale int) []byte {
	if v, ok := a.Int64(); ok {
		return AppendDecimal64(dst, v, scale)
	}
	u, neg := a.magnitude()
	if neg {
		dst = append(dst, '-')
	}
	// 2^127 has 39 digits: two chunks of 19 and one digit.
	var buf [60]byte
	end := len(buf)
	x := u.wide()
	for i := 0; i < 3; i++ {
		r := x.div64(1e19)
		for k := 0; k < 19; k++ {
			end--
			buf[end] = byte('0' + r%10)
			r /= 10
		}
	}
	digits := buf[end:]
	for len(digits) > scale+1 && digits[0] == '0' {
		digits = digits[1:]
	}
	dst = append(dst, digits[:len(digits)-scale]...)
	if scale > 0 {
		dst = append(dst, '.')
		dst = append(dst, digits[len(digits)-scale:]...)
	}
	return dst
}

// AppendDecimal64 is [AppendDecimal] for an unscaled value of 64 bits.
func AppendDecimal64(dst []byte, v int64, scale int) []byte {
	if scale == 0 {
		return strconv.AppendInt(dst, v, 10)
	}
	u := magnitude64(v)
	if v < 0 {
		dst = append(dst, '-')
	}
	var buf [64]byte
	end := len(buf)
	n := 0
	for ; u >= 100; n += 2 {
		p := u % 100 * 2
		u /= 100
		end -= 2
		buf[end], buf[end+1] = digitPairs[p], digitPairs[p+1]
	}
	if u >= 10 {
		end -= 2
		buf[end], buf[end+1] = digitPairs[u*2], digitPairs[u*2+1]
		n += 2
	} else {
		end--
		buf[end] = byte('0' + u)
		n++
	}
	for ; n <= scale; n++ {
		end--
		buf[end] = '0'
	}
	point := len(buf) - scale
	dst = append(dst, buf[end:point]...)
	dst = append(dst, '.')
	return append(dst, buf[point:]...)
}

// ParseDecimal reads a number such as -12.5, .5 or 1e-3 as an unscaled value of DECIMAL(precision,
// scale), as CAST does: blanks around it are trimmed, further decimals are rounded half up.
func ParseDecimal(b []byte, precision, scale int) (Int128, error) {
	v, why := parseDecimal(trim(b), precision, scale, false)
	if why != "" {
		return Int128{}, valueError(b, DecimalOf(precision, scale), why)
	}
	return v, nil
}

// ParseDecimalExact is [ParseDecimal] for stores that must not alter a value: no blanks, and digits that
// would be lost are an error.
func ParseDecimalExact(b []byte, precision, scale int) (Int128, error) {
	v, why := parseDecimal(b, precision, scale, true)
	if why != "" {
		return Int128{}, valueError(b, DecimalOf(precision, scale), why)
	}
	return v, nil
}

// number is a decimal number taken apart: its digits are those among text, first to last significant.
type number struct {
	text     []byte // digits and at most one point
	negative bool
	digits   int // of text
	frac     int // digits after the point
	exponent int
}

// What is wrong with a text; why strings are constants so that reporting allocates nothing.
const (
	notANumber  = "not a number"
	tooLarge    = "out of range"
	tooManyDecs = "more decimals than the type holds"
)

func scanNumber(b []byte) (n number, ok bool) {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		n.negative = b[0] == '-'
		b = b[1:]
	}
	point := -1
	i := 0
	for ; i < len(b); i++ {
		switch c := b[i]; {
		case c-'0' <= 9:
			n.digits++
			continue
		case c == '.' && point < 0:
			point = i
			continue
		}
		break
	}
	n.text = b[:i]
	if n.digits == 0 {
		return n, false
	}
	if point >= 0 {
		n.frac = i - point - 1
	}
	if i == len(b) {
		return n, true
	}
	if b[i]|0x20 != 'e' {
		return n, false
	}
	b = b[i+1:]
	negative := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		negative = b[0] == '-'
		b = b[1:]
	}
	if len(b) == 0 {
		return n, false
	}
	for _, c := range b {
		if c-'0' > 9 {
			return n, false
		}
		if n.exponent < 1<<40 {
			n.exponent = n.exponent*10 + int(c-'0')
		}
	}
	if negative {
		n.exponent = -n.exponent
	}
	return n, true
}

func parseDecimal(b []byte, precision, scale int, exact bool) (v Int128, why string) {
	n, ok := scanNumber(b)
	if !ok {
		return v, notANumber
	}
	// Leading zeros count for nothing.
	text, digits := n.text, n.digits
	for len(text) > 0 && (text[0] == '0' || text[0] == '.') {
		if text[0] == '0' {
			digits--
		}
		text = text[1:]
	}
	if digits == 0 {
		return v, ""
	}
	keep := digits + n.exponent - n.frac + scale // digits of the unscaled value
	if keep > precision {
		return v, tooLarge
	}
	var hi, lo uint64 // at most 38 digits
	taken, i := 0, 0
	for ; i < len(text) && taken < keep; i++ {
		c := text[i]
		if c == '.' {
			continue
		}
		if taken < 19 {
			lo = lo*10 + uint64(c-'0')
		} else {
			h, l := bits.Mul64(lo, 10)
			var carry uint64
			lo, carry = bits.Add64(l, uint64(c-'0'), 0)
			hi = hi*10 + h + carry
		}
		taken++
	}
	u := u128{hi, lo}
	if taken < keep {
		x := mul128(u, pow10u128(keep-taken))
		u, _ = x.narrow()
	} else {
		rest := text[i:]
		if len(rest) > 0 && rest[0] == '.' {
			rest = rest[1:]
		}
		if exact {
			for _, c := range rest {
				if c != '0' && c != '.' {
					return v, tooManyDecs
				}
			}
		} else if keep >= 0 && len(rest) > 0 && rest[0] >= '5' {
			var carry uint64
			u.lo, carry = bits.Add64(u.lo, 1, 0)
			u.hi += carry
			if !u.less(pow10u128(precision)) {
				return v, tooLarge
			}
		}
	}
	v, _ = u.signed(n.negative)
	return v, ""
}

// DecimalTypeOf returns the smallest DECIMAL type that holds the number exactly, as for a literal
// (12.50 is DECIMAL(4, 2), 1e-30 is DECIMAL(30, 30)); false when b is no number or needs more than 38
// digits.
func DecimalTypeOf(b []byte) (Type, bool) {
	n, ok := scanNumber(b)
	if !ok {
		return Type{}, false
	}
	scale := n.frac - n.exponent
	text, digits := n.text, n.digits
	for len(text) > 0 && (text[0] == '0' || text[0] == '.') {
		if text[0] == '0' {
			digits--
		}
		text = text[1:]
	}
	if digits == 0 {
		scale = max(scale, 0)
	}
	if scale < 0 {
		digits -= scale
		scale = 0
	}
	precision := max(digits, scale, 1)
	if precision > MaxDecimalPrecision {
		return Type{}, false
	}
	return DecimalOf(precision, scale), true
}
