package repl

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// decoder turns the bytes of a script into UTF-8. A byte order mark says what they are: UTF-16 of
// either order is decoded, UTF-8 is passed on (the splitter skips its mark); without one it is UTF-8.
type decoder struct {
	r     io.Reader
	order binary.ByteOrder // of UTF-16; nil: UTF-8
	known bool
	rest  []byte // bytes that are no whole character yet
	buf   []byte
	// line and column, from 0, are where the text so far ends.
	line, column int
}

// encodingError is a place that is no text.
type encodingError struct {
	line, column int
	what         string
}

func (e *encodingError) Error() string {
	return fmt.Sprintf("%d:%d: %s; save the script as UTF-8", e.line, e.column, e.what)
}

// bad is the error at the end of a text that follows all that was read before.
func (d *decoder) bad(text, what string) error {
	d.count(text)
	return &encodingError{d.line + 1, d.column + 1, what}
}

func (d *decoder) count(text string) {
	if n := strings.Count(text, "\n"); n > 0 {
		d.line += n
		d.column = 0
		text = text[strings.LastIndexByte(text, '\n')+1:]
	}
	d.column += utf8.RuneCountInString(text)
}

// read returns the next piece of text, and io.EOF at the end. A piece may come with an error.
func (d *decoder) read() (string, error) {
	if d.buf == nil {
		d.buf = make([]byte, 64<<10)
	}
	for {
		n, err := d.r.Read(d.buf)
		d.rest = append(d.rest, d.buf[:n]...)
		final := err != nil
		if !d.known && (len(d.rest) >= 2 || final) {
			d.known = true
			switch {
			case len(d.rest) >= 2 && d.rest[0] == 0xff && d.rest[1] == 0xfe:
				d.order = binary.LittleEndian
			case len(d.rest) >= 2 && d.rest[0] == 0xfe && d.rest[1] == 0xff:
				d.order = binary.BigEndian
			}
			if d.order != nil {
				d.rest = d.rest[2:]
			}
		}
		var text string
		if d.known {
			var bad error
			if text, bad = d.decode(final); bad != nil {
				return text, bad
			}
			d.count(text)
		}
		if text != "" || err != nil {
			return text, err
		}
	}
}

// decode takes whole characters off rest; final says that no more bytes come.
func (d *decoder) decode(final bool) (string, error) {
	if d.order == nil {
		p := d.rest
		n := 0
		for n < len(p) {
			if p[n] < utf8.RuneSelf {
				n++
				continue
			}
			r, size := utf8.DecodeRune(p[n:])
			if r == utf8.RuneError && size == 1 {
				if !final && !utf8.FullRune(p[n:]) {
					break
				}
				text := string(p[:n])
				d.rest = p[n:]
				return text, d.bad(text, fmt.Sprintf("byte 0x%02X is not UTF-8", d.rest[0]))
			}
			n += size
		}
		text := string(p[:n])
		d.rest = append(d.rest[:0], p[n:]...)
		return text, nil
	}
	var out []byte
	p := d.rest
	for len(p) >= 2 {
		u, size := rune(d.order.Uint16(p)), 2
		if utf16.IsSurrogate(u) {
			if len(p) < 4 {
				if final {
					return string(out), d.bad(string(out), "not valid UTF-16")
				}
				break
			}
			u, size = utf16.DecodeRune(u, rune(d.order.Uint16(p[2:]))), 4
			if u == utf8.RuneError {
				return string(out), d.bad(string(out), "not valid UTF-16")
			}
		}
		out = utf8.AppendRune(out, u)
		p = p[size:]
	}
	if final && len(p) > 0 {
		return string(out), d.bad(string(out), "not valid UTF-16")
	}
	d.rest = append(d.rest[:0], p...)
	return string(out), nil
}
