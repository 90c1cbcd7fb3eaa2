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
	heads  [][]byte // the keys with their colons
	quoted []bool   // the texts of the column's type are strings
}

// Encoder returns an encoder of all columns.
func (c *codec) Encoder() connector.Encoder {
	e := &encoder{codec: c}
	for _, col := range c.schema.Columns {
		e.heads = append(e.heads, append(appendString(nil, []byte(col.Name)), ':'))
		e.quoted = append(e.quoted, isQuoted(col.Type))
	}
	return e
}

// Header appends nothing.
func (e *encoder) Header(dst []byte) []byte { return dst }

// Rows appends an object for each row, each ended by a line feed.
func (e *encoder) Rows(dst []byte, cols []*column.Vector, n int) ([]byte, error) {
	var why string
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
			dst = append(dst, e.heads[i]...)
			switch {
			case null:
				dst = append(dst, "null"...)
			case v.Children != nil:
				if dst, why = e.nested(dst, v, r); why != "" {
					return nil, &connector.EncodeError{Row: r, Column: e.schema.Columns[i].Name, Msg: why}
				}
			default:
				dst = e.value(dst, v, r, e.quoted[i])
			}
		}
		dst = append(dst, '}', '\n')
	}
	return dst, nil
}

// isQuoted reports whether the texts of a type's values are strings of JSON.
func isQuoted(t types.Type) bool {
	return !(t.IsNumeric() || t.Kind == types.Boolean || t.IsInterval())
}

// value appends a value that has no parts and is not NULL.
func (e *encoder) value(dst []byte, v *column.Vector, r int, quoted bool) []byte {
	switch {
	case v.Type.IsString():
		return appendString(dst, v.Value(r))
	case quoted:
		dst = append(dst, '"')
		dst = text.AppendValue(dst, v, r, e.separator)
		return append(dst, '"')
	}
	from := len(dst)
	dst = text.AppendValue(dst, v, r, e.separator)
	if c := dst[len(dst)-1]; v.Type.IsFloat() && c-'0' > 9 { // NaN, Infinity
		dst = append(dst, 0, 0)
		copy(dst[from+1:], dst[from:len(dst)-2])
		dst[from], dst[len(dst)-1] = '"', '"'
	}
	return dst
}

// nested appends a value with parts that is not NULL, or says why it cannot be written.
func (e *encoder) nested(dst []byte, v *column.Vector, r int) (_ []byte, why string) {
	part := func(c *column.Vector, i int) {
		switch {
		case c.IsNull(i):
			dst = append(dst, "null"...)
		case c.Children == nil:
			dst = e.value(dst, c, i, isQuoted(c.Type))
		case why == "":
			dst, why = e.nested(dst, c, i)
		}
	}
	first := true
	comma := func() {
		if !first {
			dst = append(dst, ',')
		}
		first = false
	}
	switch v.Type.Kind {
	case types.Row:
		dst = append(dst, '{')
		for k, c := range v.Children {
			if e.noNulls && c.IsNull(r) {
				continue
			}
			comma()
			dst = append(appendString(dst, []byte(v.Type.Fields[k].Name)), ':')
			part(c, r)
		}
		return append(dst, '}'), why
	case types.Array:
		dst = append(dst, '[')
		from, to := v.Elements(r)
		for i := from; i < to; i++ {
			comma()
			part(v.Children[0], i)
		}
		return append(dst, ']'), why
	}
	from, to := v.Elements(r)
	keys := v.Children[0]
	dst = append(dst, '{')
	for i := from; i < to; i++ {
		key := []byte(e.nullKey)
		if !keys.IsNull(i) {
			key = keys.Value(i)
		} else if e.nullMode == "DROP" && v.Type.Kind == types.Map {
			continue
		} else if e.nullMode != "LITERAL" || v.Type.Kind != types.Map {
			return nil, nullKeyFault(v.Type)
		} else {
			for k := from; k < to; k++ {
				if !keys.IsNull(k) && string(keys.Value(k)) == e.nullKey {
					return nil, "the MAP has the key NULL and also the key " + text.Show(key) + ", as which NULL is written"
				}
			}
		}
		comma()
		dst = append(appendString(dst, key), ':')
		part(v.Children[1], i)
	}
	return append(dst, '}'), why
}

func nullKeyFault(t types.Type) string {
	if t.Kind == types.Multiset {
		return "a MULTISET with the element NULL cannot be written: JSON has no key for it"
	}
	return "a MAP with the key NULL cannot be written: JSON has no key for it; '" + optMapMode + "' = 'DROP' leaves the entry out, 'LITERAL' writes the key '" + optMapText + "'"
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
