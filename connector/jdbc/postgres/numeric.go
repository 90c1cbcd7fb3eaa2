package postgres

import (
	"encoding/binary"
	"math/bits"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// A numeric travels as its number of base-10000 digits, the weight of the first (a power of 10000), a sign, the number
// of decimals that are shown, and the digits, each of two bytes.
const (
	numericNegative = 0x4000
	numericPositive = 0x0000
)

// readNumeric returns a numeric as an integer of scale decimals, or why that cannot be.
func readNumeric(b []byte, scale int) (v types.Int128, misfit string) {
	if len(b) < 8 {
		return v, damaged
	}
	n := int(binary.BigEndian.Uint16(b))
	weight := int(int16(binary.BigEndian.Uint16(b[2:])))
	sign := binary.BigEndian.Uint16(b[4:])
	switch {
	case sign != numericPositive && sign != numericNegative:
		return v, "it is no number or infinite"
	case len(b) != 8+2*n:
		return v, damaged
	}
	var hi, lo uint64
	// add appends a group of digits worth factor.
	add := func(factor, digits uint64) bool {
		c, l := bits.Mul64(lo, factor)
		over, h := bits.Mul64(hi, factor)
		h, carry := bits.Add64(h, c, 0)
		var carry2 uint64
		lo, carry2 = bits.Add64(l, digits, 0)
		hi, carry2 = bits.Add64(h, 0, carry2)
		return over == 0 && carry == 0 && carry2 == 0 && hi>>63 == 0
	}
	place := weight // the power of 10000 of the next digit
	for i := 0; i < n; i++ {
		d := uint64(binary.BigEndian.Uint16(b[8+2*i:]))
		if place >= 0 || -4*place <= scale {
			if !add(10000, d) {
				return v, tooBig
			}
		} else {
			// The digit reaches beyond the decimals, by 1 to 3 of its 4 places, or lies there as a whole.
			beyond := -4*place - scale
			if beyond >= 4 {
				if d != 0 {
					return v, moreDecimals
				}
			} else {
				p := [...]uint64{1, 10, 100, 1000}[beyond]
				if d%p != 0 {
					return v, moreDecimals
				}
				if !add(10000/p, d/p) {
					return v, tooBig
				}
			}
		}
		place--
	}
	if n > 0 {
		// What is left out at the end are zeros: those of groups before the point, and of decimals.
		done := -4 * (place + 1) // decimals that are in v; negative: whole places that are missing
		for ; done+4 <= scale; done += 4 {
			if !add(10000, 0) {
				return v, tooBig
			}
		}
		if done < scale && !add([...]uint64{1, 10, 100, 1000}[scale-done], 0) {
			return v, tooBig
		}
	}
	v = types.Int128{Lo: lo, Hi: int64(hi)}
	if sign == numericNegative {
		v = v.Neg()
	}
	return v, ""
}

func decodeNumeric(want types.Type) decoder {
	return func(v *column.Vector, b []byte) string {
		x, misfit := readNumeric(b, want.Scale)
		if misfit != "" {
			return misfit
		}
		if !x.Fits(want.Precision) {
			return tooBig
		}
		v.AppendI128(x)
		return ""
	}
}

func decodeNumericInt(want types.Type) decoder {
	return func(v *column.Vector, b []byte) string {
		x, misfit := readNumeric(b, 0)
		if misfit != "" {
			return misfit
		}
		n, ok := x.Int64()
		if !ok || !types.IntInRange(n, want.Kind) {
			return tooBig
		}
		v.AppendI64(n)
		return ""
	}
}

// appendNumeric appends the binary form of an integer of scale decimals, without a length.
func appendNumeric(dst []byte, v types.Int128, scale int) []byte {
	negative := v.Sign() < 0
	if negative {
		v = v.Neg()
	}
	// The decimal digits, with zeros in front so that the point falls between two groups, and behind.
	var text [96]byte
	digits := types.AppendDecimal(text[4:4], v, 0)
	whole := len(digits) - scale // before the point; may be negative
	lead := 0
	if whole <= 0 {
		lead = 4 - whole // one group before the point, of zeros
	} else {
		lead = (4 - whole%4) % 4
	}
	var padded [96]byte
	for i := range lead {
		padded[i] = '0'
	}
	n := lead + copy(padded[lead:], digits)
	point := n - scale
	for n%4 != 0 {
		padded[n] = '0'
		n++
	}
	first, last := 0, n
	for first < last && isZeroGroup(padded[first:first+4]) {
		first += 4
	}
	for last > first && isZeroGroup(padded[last-4:last]) {
		last -= 4
	}
	sign := uint16(numericPositive)
	if negative {
		sign = numericNegative
	}
	weight := (point-first)/4 - 1
	if first == last {
		weight, sign = 0, numericPositive
	}
	dst = binary.BigEndian.AppendUint16(dst, uint16((last-first)/4))
	dst = binary.BigEndian.AppendUint16(dst, uint16(int16(weight)))
	dst = binary.BigEndian.AppendUint16(dst, sign)
	dst = binary.BigEndian.AppendUint16(dst, uint16(scale))
	for i := first; i < last; i += 4 {
		d := uint16(padded[i]-'0')*1000 + uint16(padded[i+1]-'0')*100 + uint16(padded[i+2]-'0')*10 + uint16(padded[i+3]-'0')
		dst = binary.BigEndian.AppendUint16(dst, d)
	}
	return dst
}

func isZeroGroup(b []byte) bool { return b[0] == '0' && b[1] == '0' && b[2] == '0' && b[3] == '0' }
