package expr

import (
	"encoding/binary"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// encodeText appends the bytes of a text in a character set; what the set lacks becomes '?'.
func encodeText(dst, x []byte, set string) ([]byte, error) {
	limit := rune(0)
	switch set {
	case "UTF-8", "UTF8":
		return append(dst, x...), nil
	case "US-ASCII", "ASCII":
		limit = 0x7f
	case "ISO-8859-1", "LATIN1":
		limit = 0xff
	case "UTF-16", "UTF-16BE", "UTF-16LE":
		if set == "UTF-16" {
			dst = append(dst, 0xfe, 0xff)
		}
		for _, u := range utf16.Encode([]rune(string(x))) {
			if set == "UTF-16LE" {
				dst = binary.LittleEndian.AppendUint16(dst, u)
			} else {
				dst = binary.BigEndian.AppendUint16(dst, u)
			}
		}
		return dst, nil
	default:
		return nil, unknownSet(set)
	}
	for len(x) > 0 {
		c, n := utf8.DecodeRune(x)
		if c > limit {
			c = '?'
		}
		dst = append(dst, byte(c))
		x = x[n:]
	}
	return dst, nil
}

// decodeText appends the text of bytes in a character set.
func decodeText(dst, x []byte, set string) ([]byte, error) {
	bad := failure(fmt.Sprintf("the bytes are no text in %s", set), "")
	switch set {
	case "UTF-8", "UTF8":
		if !utf8.Valid(x) {
			return nil, bad
		}
		return append(dst, x...), nil
	case "US-ASCII", "ASCII":
		for _, b := range x {
			if b > 0x7f {
				return nil, bad
			}
		}
		return append(dst, x...), nil
	case "ISO-8859-1", "LATIN1":
		for _, b := range x {
			dst = utf8.AppendRune(dst, rune(b))
		}
		return dst, nil
	case "UTF-16", "UTF-16BE", "UTF-16LE":
		var order binary.ByteOrder = binary.BigEndian
		if set == "UTF-16LE" {
			order = binary.LittleEndian
		}
		if set == "UTF-16" && len(x) >= 2 {
			switch {
			case x[0] == 0xfe && x[1] == 0xff:
				x = x[2:]
			case x[0] == 0xff && x[1] == 0xfe:
				x, order = x[2:], binary.LittleEndian
			}
		}
		if len(x)%2 != 0 {
			return nil, bad
		}
		for len(x) > 0 {
			c := rune(order.Uint16(x))
			x = x[2:]
			if utf16.IsSurrogate(c) {
				if len(x) < 2 {
					return nil, bad
				}
				if c = utf16.DecodeRune(c, rune(order.Uint16(x))); c == utf8.RuneError {
					return nil, bad
				}
				x = x[2:]
			}
			dst = utf8.AppendRune(dst, c)
		}
		return dst, nil
	}
	return nil, unknownSet(set)
}

func unknownSet(set string) error {
	return failure("character set '"+shorten([]byte(set))+"' is not known", "use UTF-8, US-ASCII, ISO-8859-1, UTF-16, UTF-16BE or UTF-16LE")
}
