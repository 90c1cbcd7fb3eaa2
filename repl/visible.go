package repl

import (
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// hidden reports whether a terminal would act on r instead of showing it: control characters, those
// that turn the direction of text around, and those that take no room.
func hidden(r rune) bool {
	switch {
	case r < 0x20, 0x7f <= r && r < 0xa0: // C0, DEL, C1
		return true
	case r < 0x061c:
		return r == 0xad // soft hyphen
	}
	return r == 0x061c || r == 0x180e || r == 0x200b || 0x200e <= r && r <= 0x200f || 0x2028 <= r && r <= 0x202e ||
		0x2060 <= r && r <= 0x206f || r == 0xfeff || 0xfff9 <= r && r <= 0xfffb || 0xe0000 <= r && r <= 0xe007f
}

// plain reports whether text is printable ASCII throughout, as nearly all is: then its width is its
// length and nothing of it is hidden.
func plain(text []byte) bool {
	for _, c := range text {
		if c < 0x20 || c >= 0x7f {
			return false
		}
	}
	return true
}

// appendVisible appends text with every hidden character made visible: C0 and DEL by their pictures
// (␊ for a newline), the others by their number. Bytes that are no UTF-8 become U+FFFD. With newlines
// set, newlines and tabs stay.
func appendVisible(dst, text []byte, newlines bool) []byte {
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case newlines && (r == '\n' || r == '\t'), !hidden(r):
			if r == utf8.RuneError {
				dst = utf8.AppendRune(dst, utf8.RuneError)
			} else {
				dst = append(dst, text[:n]...)
			}
		case r < 0x20:
			dst = utf8.AppendRune(dst, 0x2400+r)
		case r == 0x7f:
			dst = utf8.AppendRune(dst, 0x2421)
		default:
			const digits = "0123456789ABCDEF"
			dst = append(dst, "<U+"...)
			if r > 0xffff {
				dst = append(dst, digits[r>>16])
			}
			dst = append(dst, digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15], '>')
		}
		text = text[n:]
	}
	return dst
}

// visible is appendVisible for messages, whose lines stay lines.
func visible(text string) string { return string(appendVisible(nil, []byte(text), true)) }

// width returns the columns that text takes on a terminal, a newline counting as one. It does not look
// at the locale, so that output is the same everywhere.
func width(text []byte) int {
	if plain(text) {
		return len(text)
	}
	c := runewidth.Condition{}
	n := 0
	for len(text) > 0 {
		i := 0
		for i < len(text) && text[i] != '\n' {
			i++
		}
		n += c.StringWidth(string(text[:i]))
		if i < len(text) {
			n++
			i++
		}
		text = text[i:]
	}
	return n
}

// cut shortens text to a number of columns, the last of which then is an ellipsis.
func cut(text []byte, columns int) []byte {
	c := runewidth.Condition{}
	return []byte(c.Truncate(string(text), columns, "…"))
}
