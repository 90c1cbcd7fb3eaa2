package csv

import (
	"bytes"
	"fmt"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/format/text"
	"github.com/sluice-sql/sluice/types"
)

// encoder writes rows.
type encoder struct {
	*dialect
	schema types.Schema
	loud   [256]bool // bytes that make a value be quoted
	plain  bool      // no number and no date can have to be quoted
	buf    []byte
}

// Encoder returns an encoder of all columns.
func (c *codec) Encoder() connector.Encoder {
	e := &encoder{dialect: c.dialect, schema: c.schema}
	for b := range e.loud {
		e.loud[b] = c.special(byte(b))
	}
	e.plain = c.null == ""
	for _, b := range []byte("0123456789+-.: abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		e.plain = e.plain && !e.loud[b]
	}
	return e
}

// Header appends the line of the names, where the table has one.
func (e *encoder) Header(dst []byte) []byte {
	if !e.header {
		return dst
	}
	for i, c := range e.schema.Columns {
		if i > 0 {
			dst = append(dst, e.delimiter)
		}
		dst, _ = e.text(dst, []byte(c.Name), i == 0) // a name that cannot be written has been refused before
	}
	return append(dst, '\n')
}

// Rows appends rows, each ended by a line feed.
func (e *encoder) Rows(dst []byte, cols []*column.Vector, n int) ([]byte, error) {
	for r := range n {
		for i, v := range cols {
			if i > 0 {
				dst = append(dst, e.delimiter)
			}
			if v == nil || v.IsNull(r) {
				dst = append(dst, e.null...)
				continue
			}
			var b []byte
			switch {
			case v.Type.IsString():
				b = v.Value(r)
			case e.plain && !v.Type.IsBinary():
				dst = text.AppendValue(dst, v, r, ' ')
				continue
			default:
				e.buf = text.AppendValue(e.buf[:0], v, r, ' ')
				b = e.buf
			}
			var why string
			if dst, why = e.text(dst, b, i == 0); why != "" {
				name := e.schema.Columns[i].Name
				return dst, &connector.EncodeError{Row: r, Column: name, Msg: fmt.Sprintf("column %s: %s %s", connector.QuoteName(name), text.Show(b), why)}
			}
		}
		dst = append(dst, '\n')
	}
	return dst, nil
}

// text appends a value, quoted when it has to be; why says what makes it impossible.
func (e *encoder) text(dst, b []byte, first bool) (_ []byte, why string) {
	quote := string(b) == e.null || first && e.misread(b)
	for _, c := range b {
		if e.loud[c] {
			quote = true
			break
		}
	}
	if !quote {
		return append(dst, b...), ""
	}
	if e.quote == 0 {
		return e.escaped(dst, b, first)
	}
	dst = append(dst, e.quote)
	for _, c := range b {
		if c == e.quote {
			dst = append(dst, c)
		} else if c == e.escape && e.escape != 0 {
			dst = append(dst, e.escape)
		}
		dst = append(dst, c)
	}
	return append(dst, e.quote), ""
}

// misread reports whether a value that begins a line would be taken for a comment or a byte order mark.
func (e *encoder) misread(b []byte) bool {
	return e.comments && len(b) > 0 && b[0] == '#' || bytes.HasPrefix(b, mark)
}

var mark = []byte("\xef\xbb\xbf")

// escaped appends a value of a table without quotes.
func (e *encoder) escaped(dst, b []byte, first bool) (_ []byte, why string) {
	if e.escape == 0 || len(b) == 0 {
		switch {
		case string(b) == e.null && len(b) == 0:
			return dst, "cannot be told from NULL without quotes; set 'csv.null-literal'"
		case string(b) == e.null:
			return dst, "is also 'csv.null-literal' and cannot be told from NULL without quotes"
		}
		return dst, "cannot be written without quotes; drop 'csv.disable-quote-character' or set 'csv.escape-character'"
	}
	if string(b) == e.null || first && e.misread(b) {
		dst = append(dst, e.escape)
		switch b[0] {
		case 'n', 'r', 't', '0':
			return dst[:len(dst)-1], "is also 'csv.null-literal' and cannot be told from NULL without quotes"
		}
	}
	for _, c := range b {
		switch {
		case c == 0:
			dst = append(dst, e.escape, '0')
			continue
		case c == '\n':
			dst = append(dst, e.escape, 'n')
			continue
		case c == '\r':
			dst = append(dst, e.escape, 'r')
			continue
		case e.loud[c]:
			dst = append(dst, e.escape)
		}
		dst = append(dst, c)
	}
	return dst, ""
}
