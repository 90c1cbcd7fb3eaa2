package repl

import (
	"encoding/binary"
	"errors"
	"io"
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
	bytes int64  // decoded so far
	buf   []byte
}

var errUTF16 = errors.New("not valid UTF-16; save the script as UTF-8")

// errUTF8 is at the byte that rest begins with.
var errUTF8 = errors.New("not valid UTF-8; save the script as UTF-8")

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
				return text, errUTF8
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
					return string(out), errUTF16
				}
				break
			}
			u, size = utf16.DecodeRune(u, rune(d.order.Uint16(p[2:]))), 4
			if u == utf8.RuneError {
				return string(out), errUTF16
			}
		}
		out = utf8.AppendRune(out, u)
		p = p[size:]
	}
	if final && len(p) > 0 {
		return string(out), errUTF16
	}
	d.rest = append(d.rest[:0], p...)
	return string(out), nil
}
