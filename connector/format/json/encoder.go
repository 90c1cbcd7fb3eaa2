package json

import (
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/format/text"
	"github.com/sluice-sql/sluice/types"
)

// encoder writes rows.
type encoder struct {
	*codec
	keys   [][]byte // with colon
	quoted []bool   // the texts of the column's type are strings
}

// Encoder returns an encoder of all columns.
func (c *codec) Encoder() connector.Encoder {
	e := &encoder{codec: c}
	for _, col := range c.schema.Columns {
		e.keys = append(e.keys, append(appendString(nil, []byte(col.Name)), ':'))
		t := col.Type
		e.quoted = append(e.quoted, !(t.IsNumeric() || t.Kind == types.Boolean || t.IsInterval()))
	}
	return e
}

// Header appends nothing.
func (e *encoder) Header(dst []byte) []byte { return dst }

// Rows appends an object for each row, each ended by a line feed.
func (e *encoder) Rows(dst []byte, cols []*column.Vector, n int) ([]byte, error) {
	for r := range n {
		dst = append(dst, '{')
		first := true
		for i, v := range cols {
			null := v == nil || v.IsNull(r)
			if null && e.noNulls {
				continue
			}
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = append(dst, e.keys[i]...)
			switch {
			case null:
				dst = append(dst, "null"...)
			case v.Type.IsString():
				dst = appendString(dst, v.Value(r))
			case e.quoted[i]:
				dst = append(dst, '"')
				dst = text.AppendValue(dst, v, r, e.separator)
				dst = append(dst, '"')
			default:
				from := len(dst)
				dst = text.AppendValue(dst, v, r, e.separator)
				if c := dst[len(dst)-1]; v.Type.IsFloat() && c-'0' > 9 { // NaN, Infinity
					dst = append(dst, 0, 0)
					copy(dst[from+1:], dst[from:len(dst)-2])
					dst[from], dst[len(dst)-1] = '"', '"'
				}
			}
		}
		dst = append(dst, '}', '\n')
	}
	return dst, nil
}

const hexDigits = "0123456789abcdef"

// appendString appends a text as a string of JSON.
func appendString(dst, b []byte) []byte {
	dst = append(dst, '"')
	from := 0
	for i, c := range b {
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, b[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	dst = append(dst, b[from:]...)
	return append(dst, '"')
}
