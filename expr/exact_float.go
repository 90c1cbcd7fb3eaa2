package expr

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
)

// exactSum is a sum of floats, or of squares of floats, without any rounding: whatever was added and taken
// away again has left nothing, be it 1e300. It is a number in base 2³², of which it keeps the digits from the
// first to the last that is not zero; while numbers are added, digits may be negative or greater than the base.
// The unit of digit 0 is that of the least float, 2⁻¹⁰⁷⁴, or that one's square.
type exactSum struct {
	digits []int64
	first  int32 // the place of digits[0]
	adds   int32 // since the carries were last done
}

const (
	leastExp      = -1074 // of the least float
	carryInterval = 1 << 28
)

// mantissa splits a finite float that is not zero: |x| = m·2^(leastExp+at), with an odd m.
func mantissa(x float64) (m uint64, at int) {
	b := math.Float64bits(x)
	m, at = b&(1<<52-1), int(b>>52&0x7ff)
	if at > 0 {
		m |= 1 << 52
		at--
	}
	zeros := bits.TrailingZeros64(m)
	return m >> zeros, at + zeros
}

// add adds a finite x, or takes it away.
func (s *exactSum) add(x float64, away bool) {
	if x == 0 {
		return
	}
	m, at := mantissa(x)
	s.addBits(0, m, at, (x < 0) != away)
}

// addSquare adds the square of a finite x, or takes it away.
func (s *exactSum) addSquare(x float64, away bool) {
	if x == 0 {
		return
	}
	m, at := mantissa(x)
	hi, lo := bits.Mul64(m, m)
	s.addBits(hi, lo, 2*at, away)
}

// addBits adds (hi·2⁶⁴ + lo)·2^at units.
func (s *exactSum) addBits(hi, lo uint64, at int, negative bool) {
	shift := at & 31
	top := hi >> 1 >> (63 - shift) // what leaves the 128 bits
	hi = hi<<shift | lo>>1>>(63-shift)
	lo <<= shift
	digits := [5]int64{int64(lo & math.MaxUint32), int64(lo >> 32), int64(hi & math.MaxUint32), int64(hi >> 32), int64(top)}
	n := 5
	for n > 1 && digits[n-1] == 0 {
		n--
	}
	from := s.room(at>>5, n)
	for k, d := range digits[:n] {
		if negative {
			d = -d
		}
		s.digits[from+k] += d
	}
	if s.adds++; s.adds == carryInterval {
		s.carry()
	}
}

// room makes digits of n places from place on, and returns where they begin.
func (s *exactSum) room(place, n int) int {
	if len(s.digits) == 0 {
		s.first = int32(place)
	}
	if before := int(s.first) - place; before > 0 {
		digits := make([]int64, before+len(s.digits))
		copy(digits[before:], s.digits)
		s.digits, s.first = digits, int32(place)
	}
	from := place - int(s.first)
	for len(s.digits) < from+n {
		s.digits = append(s.digits, 0)
	}
	return from
}

// carry makes every digit but the last, which has the sign, one from 0 to the base, and drops zeros at the ends.
func (s *exactSum) carry() {
	s.adds = 0
	for i := 0; i < len(s.digits); i++ {
		d := s.digits[i]
		if i == len(s.digits)-1 {
			if d>>32 == 0 || d>>32 == -1 {
				break
			}
			s.digits = append(s.digits, 0)
		}
		s.digits[i] = d & math.MaxUint32
		s.digits[i+1] += d >> 32
	}
	for n := len(s.digits); n > 0 && s.digits[n-1] == 0; n-- {
		s.digits = s.digits[:n-1]
	}
	zeros := 0
	for zeros < len(s.digits) && s.digits[zeros] == 0 {
		zeros++
	}
	s.digits = s.digits[:copy(s.digits, s.digits[zeros:])]
	s.first += int32(zeros)
	if cap(s.digits) > 4*len(s.digits)+8 { // a number of another magnitude has gone
		s.digits = append([]int64(nil), s.digits...)
	}
}

// number returns the sum: z·2^exp units.
func (s *exactSum) number() (z *big.Int, exp int) {
	s.carry()
	z = new(big.Int)
	var digit big.Int
	for i := len(s.digits) - 1; i >= 0; i-- {
		z.Lsh(z, 32)
		z.Add(z, digit.SetInt64(s.digits[i]))
	}
	return z, 32 * int(s.first)
}

// float returns the float next to the sum, which is one of floats.
func (s *exactSum) float() float64 {
	s.carry()
	switch n := len(s.digits); {
	case n == 0:
		return 0
	case n <= 2:
		d := s.digits[0]
		if n == 2 && s.digits[1]>>20 == s.digits[1]>>63 { // it has 53 bits
			d += s.digits[1] << 32
			n = 1
		}
		if n == 1 {
			return math.Ldexp(float64(d), 32*int(s.first)+leastExp)
		}
	}
	z, exp := s.number()
	f := new(big.Float).SetInt(z)
	x, _ := f.SetMantExp(f, exp+leastExp).Float64()
	return x
}

// spread is n² times the variance of n numbers, of whose squares squares is the sum and sum that of themselves.
func spread(n int64, sum, squares *exactSum) *big.Float {
	s, exp := sum.number()
	q, exp2 := squares.number()
	s.Mul(s, s)
	q.Mul(q, big.NewInt(n))
	low := min(2*exp, exp2)
	s.Lsh(s, uint(2*exp-low))
	q.Lsh(q, uint(exp2-low))
	f := new(big.Float).SetInt(q.Sub(q, s))
	return f.SetMantExp(f, low+2*leastExp)
}

func (s *exactSum) encode(dst []byte) []byte {
	s.carry()
	dst = binary.AppendUvarint(dst, uint64(s.first))
	dst = binary.AppendUvarint(dst, uint64(len(s.digits)))
	for _, d := range s.digits {
		dst = binary.AppendVarint(dst, d)
	}
	return dst
}

// merge adds an encoded sum and returns what comes after it; ok is false if it is none.
func (s *exactSum) merge(b []byte) (rest []byte, ok bool) {
	first, w := binary.Uvarint(b)
	if w <= 0 || first > 256 {
		return nil, false
	}
	b = b[w:]
	n, w := binary.Uvarint(b)
	if w <= 0 || n > 256 {
		return nil, false
	}
	b = b[w:]
	if n == 0 {
		return b, true
	}
	s.carry()
	from := s.room(int(first), int(n))
	for k := range int(n) {
		d, w := binary.Varint(b)
		if w <= 0 || d>>33 != 0 && d>>33 != -1 {
			return nil, false
		}
		b = b[w:]
		s.digits[from+k] += d
	}
	return b, true
}
