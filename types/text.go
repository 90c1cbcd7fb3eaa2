package types

import (
	"slices"
	"unicode/utf8"
)

// AppendFitted appends b as a value of t, a CHAR, VARCHAR, BINARY or VARBINARY, as CAST does: cut to the
// length of t and, for CHAR and BINARY, filled up to it with blanks or zero bytes. Length counts
// characters (code points) for text and bytes for binary. A caller that fills many rows asks [FitLength]
// first, since a CHAR may be up to 2 GiB long.
func AppendFitted(dst, b []byte, t Type) []byte {
	n, fill := FitLength(b, t)
	dst = append(slices.Grow(dst, n+fill), b[:n]...)
	blank := byte(' ')
	if t.IsBinary() {
		blank = 0
	}
	for ; fill > 0; fill-- {
		dst = append(dst, blank)
	}
	return dst
}

// FitLength returns how many bytes of b a value of t keeps, and how many blanks (CHAR) or zero bytes
// (BINARY) must follow them.
func FitLength(b []byte, t Type) (keep, fill int) {
	if t.Precision == MaxLength && (t.Kind == VarChar || t.Kind == VarBinary) {
		return len(b), 0
	}
	if t.IsBinary() {
		keep = min(len(b), t.Precision)
		if t.Kind == Binary {
			fill = t.Precision - keep
		}
		return keep, fill
	}
	if t.Kind == VarChar && len(b) <= t.Precision {
		return len(b), 0
	}
	chars := 0
	for keep < len(b) && chars < t.Precision {
		if b[keep] < utf8.RuneSelf {
			keep++
		} else {
			_, size := utf8.DecodeRune(b[keep:])
			keep += size
		}
		chars++
	}
	if t.Kind == Char {
		fill = t.Precision - chars
	}
	return keep, fill
}

const hexDigits = "0123456789abcdef"

// AppendHexLiteral appends bytes as a SQL literal, x'68656c6c6f': the form in which the shell shows
// BINARY, VARBINARY and BYTES.
func AppendHexLiteral(dst, b []byte) []byte {
	dst = append(dst, 'x', '\'')
	for _, c := range b {
		dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
	}
	return append(dst, '\'')
}
