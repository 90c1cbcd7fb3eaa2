package expr

import (
	"unicode/utf8"

	"github.com/sluice-sql/sluice/types"
)

// utf8Functions are those of bytes that may be text.
func utf8Functions() []Function {
	binary := func(t types.Type) (types.Type, bool) {
		if t.Kind == types.Null {
			return types.Bytes(), true
		}
		return t, t.IsBinary()
	}
	return []Function{
		{
			Name: "IS_VALID_UTF8", Group: "string", Syntax: "IS_VALID_UTF8(binary)", Doc: "Whether the bytes are text in UTF-8.",
			Example: "IS_VALID_UTF8(X'C3B6')", Result: "TRUE", Min: 1, Max: 1,
			Bind:   takes(returns(types.Of(types.Boolean)), binary),
			Kernel: boolOf(func(a []Arg, i int) (bool, error) { return utf8.Valid(a[0].text(i)), nil }),
		},
		{
			Name: "MAKE_VALID_UTF8", Group: "string", Syntax: "MAKE_VALID_UTF8(binary)",
			Doc:     "The text that the bytes are in UTF-8, with a replacement character (U+FFFD) for what is none.",
			Example: "MAKE_VALID_UTF8(X'41FF42')", Result: "A\uFFFDB", Min: 1, Max: 1,
			Bind:   takes(returns(types.String()), binary),
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) { return appendValidUTF8(dst, a[0].text(i)), nil }),
		},
	}
}

// appendValidUTF8 appends b with one U+FFFD for each sequence that begins well and breaks off, for the three
// bytes of a surrogate, and for any other byte that is no text: as Java decodes.
func appendValidUTF8(dst, b []byte) []byte {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r != utf8.RuneError || n > 1 {
			dst = append(dst, b[:n]...)
			b = b[n:]
			continue
		}
		dst = utf8.AppendRune(dst, utf8.RuneError)
		b = b[brokenSequence(b):]
	}
	return dst
}

// brokenSequence returns the length of the broken sequence that b begins with.
func brokenSequence(b []byte) int {
	lead, need, lo, hi := b[0], 0, byte(0x80), byte(0xbf)
	switch {
	case lead >= 0xc2 && lead <= 0xdf:
		need = 1
	case lead >= 0xe0 && lead <= 0xef:
		need = 2
		if lead == 0xe0 {
			lo = 0xa0
		}
	case lead >= 0xf0 && lead <= 0xf4:
		need = 3
		if lead == 0xf0 {
			lo = 0x90
		} else if lead == 0xf4 {
			hi = 0x8f
		}
	}
	n := 1
	for n <= need && n < len(b) && b[n] >= lo && b[n] <= hi {
		lo, hi = 0x80, 0xbf
		n++
	}
	return n
}
