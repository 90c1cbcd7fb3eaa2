package repl

import (
	"bytes"
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
		if r == blackFlag {
			n += tags(text[n:])
		}
		switch {
		case newlines && (r == '\n' || r == '\t'), !hidden(r):
			if r == utf8.RuneError { // bytes that are no UTF-8 among them
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

// blackFlag begins the flags of England and the like, which are spelt in tag characters behind it.
const blackFlag = 0x1f3f4

// tags returns the length of a region's name in tag characters that text begins with, 0 if there is none.
func tags(text []byte) int {
	for i := 0; i < 8*4 && i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		i += n
		if r == 0xe007f {
			return i
		}
		if !(0xe0030 <= r && r <= 0xe0039 || 0xe0061 <= r && r <= 0xe007a) { // digits and small letters
			return 0
		}
	}
	return 0
}

// width returns the columns that text takes on a terminal, a newline counting as one. What a reader takes
// for one character counts as one: a letter and its marks, a flag, a family. Characters that are wide only
// in East Asian fonts count as narrow. It does not look at the locale, so that output is the same
// everywhere.
func width(text []byte) int {
	if plain(text) {
		return len(text)
	}
	if bytes.Contains(text, []byte(emojiSelector)) {
		text = widened(text)
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

// emojiSelector asks for the picture of a character that is a text symbol otherwise: ❤ is narrow, and with
// the selector behind it wide, as UAX #11 has it. runewidth takes it for narrow still.
const emojiSelector = "\ufe0f"

// widened returns text with a wide picture in the place of every symbol that is one by its selector.
func widened(text []byte) []byte {
	out := make([]byte, 0, len(text)+16)
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if bytes.HasPrefix(text[n:], []byte(emojiSelector)) && hasPicture(r, text[n+len(emojiSelector):]) {
			out = append(out, "🏁"...)
		} else {
			out = append(out, text[:n]...)
		}
		text = text[n:]
	}
	return out
}

// hasPicture reports whether r, which the selector and rest follow, is shown as a picture. The blocks that
// have symbols with a picture are taken whole.
func hasPicture(r rune, rest []byte) bool {
	switch {
	case '0' <= r && r <= '9', r == '#', r == '*': // a keycap
		return bytes.HasPrefix(rest, []byte("\u20e3"))
	case r < 0x203c:
		return r == 0xa9 || r == 0xae
	}
	return r == 0x203c || r == 0x2049 || r == 0x2122 || r == 0x2139 || 0x2190 <= r && r <= 0x21ff || 0x2300 <= r && r <= 0x23ff ||
		r == 0x24c2 || 0x25a0 <= r && r <= 0x27bf || r == 0x2934 || r == 0x2935 || 0x2b00 <= r && r <= 0x2bff || 0x1f000 <= r && r <= 0x1faff
}

// cut shortens text to a number of columns, the last of which then is an ellipsis.
func cut(text []byte, columns int) []byte {
	c := runewidth.Condition{}
	s := string(text)
	for n := columns; ; n-- { // once, but for pictures that runewidth takes for narrow
		short := []byte(c.Truncate(s, n, "…"))
		if n <= 1 || width(short) <= columns {
			return short
		}
	}
}
