package types

import (
	"math"
	"strconv"
)

// digitPairs is the text of 00 to 99.
const digitPairs = "00010203040506070809" +
	"10111213141516171819" +
	"20212223242526272829" +
	"30313233343536373839" +
	"40414243444546474849" +
	"50515253545556575859" +
	"60616263646566676869" +
	"70717273747576777879" +
	"80818283848586878889" +
	"90919293949596979899"

// AppendInt appends the text of an integer.
func AppendInt(dst []byte, v int64) []byte { return strconv.AppendInt(dst, v, 10) }

// AppendBoolean appends TRUE or FALSE.
func AppendBoolean(dst []byte, v bool) []byte {
	if v {
		return append(dst, "TRUE"...)
	}
	return append(dst, "FALSE"...)
}

// AppendFloat64 appends the text that CAST(DOUBLE AS STRING) gives: the fewest digits that read back as
// v, with at least one decimal, and an exponent outside 10^-3 to 10^7: 1.0, 0.001, 1.0E7, 1.5E-5, NaN,
// Infinity, -Infinity.
func AppendFloat64(dst []byte, v float64) []byte {
	a := math.Abs(v)
	if a < 1e7 && a >= 1e-3 {
		// Most numbers have few decimals. If n / 10^4, rounded once, is v, then n's at most eleven digits
		// are the shortest text: no two decimals of up to 15 digits read back as the same float64.
		n := int64(a*1e4 + 0.5)
		if float64(n)/1e4 == a {
			if v < 0 {
				dst = append(dst, '-')
			}
			dst = strconv.AppendInt(dst, n/10000, 10)
			dst = append(dst, '.')
			f := n % 10000
			hi, lo := f/100*2, f%100*2
			d := [4]byte{digitPairs[hi], digitPairs[hi+1], digitPairs[lo], digitPairs[lo+1]}
			k := 4
			for k > 1 && d[k-1] == '0' {
				k--
			}
			return append(dst, d[:k]...)
		}
	}
	return appendFloat(dst, v, 64)
}

// AppendFloat32 is [AppendFloat64] for FLOAT.
func AppendFloat32(dst []byte, v float32) []byte { return appendFloat(dst, float64(v), 32) }

func appendFloat(dst []byte, v float64, size int) []byte {
	a := math.Abs(v)
	switch {
	case v != v:
		return append(dst, "NaN"...)
	case math.IsInf(v, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(v, -1):
		return append(dst, "-Infinity"...)
	case v == 0:
		if math.Signbit(v) {
			return append(dst, "-0.0"...)
		}
		return append(dst, "0.0"...)
	}
	if a >= 1e-3 && a < 1e7 {
		n := len(dst)
		dst = strconv.AppendFloat(dst, v, 'f', -1, size)
		for _, c := range dst[n:] {
			if c == '.' {
				return dst
			}
		}
		return append(dst, ".0"...)
	}
	var buf [32]byte
	e := strconv.AppendFloat(buf[:0], v, 'e', -1, size) // [-]d[.ddd]e±dd
	mark := len(e) - 1
	for e[mark] != 'e' {
		mark--
	}
	if (a < 1e-320 || size == 32 && a < 1e-42) && (mark < 2 || e[mark-2] != '.' && mark <= 2) {
		// Of the smallest numbers one digit is enough to tell them apart; two say more: 4.9E-324.
		e = strconv.AppendFloat(buf[:0], v, 'e', 1, size)
		for mark = len(e) - 1; e[mark] != 'e'; mark-- {
		}
	}
	dst = append(dst, e[:mark]...)
	if e[0] == '-' && mark == 2 || e[0] != '-' && mark == 1 {
		dst = append(dst, ".0"...)
	}
	dst = append(dst, 'E')
	x := e[mark+1:]
	if x[0] == '-' {
		dst = append(dst, '-')
	}
	x = x[1:]
	if len(x) > 1 && x[0] == '0' {
		x = x[1:]
	}
	return append(dst, x...)
}

// trim drops the blanks around a text that CAST reads.
func trim(b []byte) []byte {
	for len(b) > 0 && isBlank(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isBlank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// ParseInt reads an integer of kind TinyInt, SmallInt, Int or BigInt, as CAST does: blanks around it are
// trimmed and decimals are dropped, so '12.9' is 12; a value out of the kind's range is an error.
func ParseInt(b []byte, k Kind) (int64, error) {
	v, why := parseInt(trim(b))
	if why == "" && !IntInRange(v, k) {
		why = tooLarge
	}
	if why != "" {
		return 0, valueError(b, Of(k), why)
	}
	return v, nil
}

// ParseInt64 is [ParseInt] for BIGINT.
func ParseInt64(b []byte) (int64, error) { return ParseInt(b, BigInt) }

// IntInRange reports whether v is a value of the integer kind k.
func IntInRange(v int64, k Kind) bool {
	switch k {
	case TinyInt:
		return int64(int8(v)) == v
	case SmallInt:
		return int64(int16(v)) == v
	case Int:
		return int64(int32(v)) == v
	}
	return true
}

func parseInt(b []byte) (v int64, why string) {
	negative := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		negative = b[0] == '-'
		b = b[1:]
	}
	var u uint64
	i, digits := 0, 0
	large := false
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		if digits++; digits > 18 {
			large = large || u > math.MaxUint64/10-1
		}
		u = u*10 + uint64(b[i]-'0')
	}
	if i < len(b) && b[i] == '.' {
		for i++; i < len(b) && b[i]-'0' <= 9; i++ {
			digits++
		}
	}
	switch {
	case i < len(b) || digits == 0:
		return 0, notANumber
	case large || negative && u > 1<<63 || !negative && u > 1<<63-1:
		return 0, tooLarge
	case negative:
		return -int64(u), ""
	}
	return int64(u), ""
}

// ParseFloat64 reads a DOUBLE as CAST does: a decimal number with or without exponent, NaN, Infinity or
// -Infinity, blanks around it trimmed. A number too large for a DOUBLE is an error, not Infinity.
func ParseFloat64(b []byte) (float64, error) { return parseFloat(b, 64, Double) }

// ParseFloat32 is [ParseFloat64] for FLOAT.
func ParseFloat32(b []byte) (float32, error) {
	f, err := parseFloat(b, 32, Float)
	return float32(f), err
}

func parseFloat(text []byte, size int, k Kind) (float64, error) {
	b := trim(text)
	n, ok := scanNumber(b)
	if !ok {
		s := b
		negative := false
		if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
			negative = s[0] == '-'
			s = s[1:]
		}
		switch {
		case equalFold(s, "nan"):
			return math.NaN(), nil
		case equalFold(s, "infinity") && negative:
			return math.Inf(-1), nil
		case equalFold(s, "infinity"):
			return math.Inf(1), nil
		}
		return 0, valueError(text, Of(k), notANumber)
	}
	if size == 64 && n.digits <= 15 && n.exponent == 0 && n.frac < len(pow10f64) {
		var m uint64
		for _, c := range n.text {
			if c != '.' {
				m = m*10 + uint64(c-'0')
			}
		}
		f := float64(m) / pow10f64[n.frac] // both exact: rounded once
		if n.negative {
			f = -f
		}
		return f, nil
	}
	f, err := strconv.ParseFloat(string(b), size)
	if err != nil {
		return 0, valueError(text, Of(k), tooLarge)
	}
	return f, nil
}

// equalFold reports whether b, in any case, is the lower-case ASCII word s.
func equalFold(b []byte, s string) bool {
	if len(b) != len(s) {
		return false
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != s[i] {
			return false
		}
	}
	return true
}

// ParseBoolean reads true, t, yes, y, 1 and false, f, no, n, 0 in any case, blanks around them trimmed.
func ParseBoolean(text []byte) (bool, error) {
	b := trim(text)
	switch {
	case equalFold(b, "true"), equalFold(b, "t"), equalFold(b, "yes"), equalFold(b, "y"), equalFold(b, "1"):
		return true, nil
	case equalFold(b, "false"), equalFold(b, "f"), equalFold(b, "no"), equalFold(b, "n"), equalFold(b, "0"):
		return false, nil
	}
	return false, valueError(text, Of(Boolean), "not true or false")
}
