package expr

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// jsonOf appends row i of a vector, which is not NULL, as JSON.
type jsonOf func(dst []byte, v *column.Vector, i int) ([]byte, error)

// checkJSONType returns why values of a type cannot be written as JSON, or nil.
func checkJSONType(t types.Type) error {
	if k := t.Kind; k == types.Map || k == types.Multiset {
		if key := t.Fields[0].Type; !key.IsString() {
			return fmt.Errorf("a %s cannot be written as JSON: its keys must be of a text type, and are %s", t.AsNullable(), key.AsNullable())
		}
	}
	for _, f := range t.Fields {
		if err := checkJSONType(f.Type); err != nil {
			return err
		}
	}
	return nil
}

// jsonWriterOf makes the writer for a type that checkJSONType lets through: texts, times and intervals
// become strings, binary values strings in base64, a ROW an object of its fields, MAP and MULTISET an
// object of their keys.
func jsonWriterOf(t types.Type) jsonOf {
	switch t.Kind {
	case types.Char, types.VarChar:
		return func(dst []byte, v *column.Vector, i int) ([]byte, error) {
			return appendJSONString(dst, v.Value(i)), nil
		}
	case types.Boolean:
		return func(dst []byte, v *column.Vector, i int) ([]byte, error) {
			if v.Bool[i] {
				return append(dst, "true"...), nil
			}
			return append(dst, "false"...), nil
		}
	case types.Float, types.Double:
		return func(dst []byte, v *column.Vector, i int) ([]byte, error) {
			start := len(dst)
			dst = column.AppendText(dst, v, i, nil)
			if c := dst[len(dst)-1]; c == 'N' || c == 'y' { // NaN and Infinity are no numbers of JSON
				word := string(dst[start:])
				return append(append(append(dst[:start], '"'), word...), '"'), nil
			}
			return dst, nil
		}
	case types.Binary, types.VarBinary:
		return func(dst []byte, v *column.Vector, i int) ([]byte, error) {
			return append(base64.StdEncoding.AppendEncode(append(dst, '"'), v.Value(i)), '"'), nil
		}
	case types.Timestamp, types.TimestampLTZ:
		return appendJSONTimestamp
	case types.Date, types.Time, types.IntervalDayTime, types.IntervalYearMonth:
		return func(dst []byte, v *column.Vector, i int) ([]byte, error) {
			return append(column.AppendText(append(dst, '"'), v, i, nil), '"'), nil
		}
	case types.Array:
		return jsonArrayOf(t)
	case types.Row:
		return jsonRowOf(t)
	case types.Map, types.Multiset:
		return jsonMapOf(t)
	}
	return func(dst []byte, v *column.Vector, i int) ([]byte, error) {
		return column.AppendText(dst, v, i, nil), nil
	}
}

// orNull writes a value that may be NULL.
func (w jsonOf) orNull(dst []byte, v *column.Vector, i int) ([]byte, error) {
	if v.IsNull(i) {
		return append(dst, "null"...), nil
	}
	return w(dst, v, i)
}

// appendJSONTimestamp writes 2024-05-17T12:30:00.5, with a Z behind an instant.
func appendJSONTimestamp(dst []byte, v *column.Vector, i int) ([]byte, error) {
	dst = append(dst, '"')
	start := len(dst)
	dst = types.AppendTimestamp(dst, v.I64[i], v.Type, nil)
	if k := bytes.IndexByte(dst[start:], ' '); k >= 0 {
		dst[start+k] = 'T'
	}
	if bytes.IndexByte(dst[start:], '.') >= 0 {
		dst = bytes.TrimRight(dst, "0")
		dst = bytes.TrimSuffix(dst, []byte("."))
	}
	if v.Type.Kind == types.TimestampLTZ {
		dst = append(dst, 'Z')
	}
	return append(dst, '"'), nil
}

func jsonArrayOf(t types.Type) jsonOf {
	element := jsonWriterOf(t.Fields[0].Type)
	return func(dst []byte, v *column.Vector, i int) (_ []byte, err error) {
		from, to := v.Elements(i)
		dst = append(dst, '[')
		for e := from; e < to; e++ {
			if e > from {
				dst = append(dst, ',')
			}
			if dst, err = element.orNull(dst, v.Children[0], e); err != nil {
				return nil, err
			}
		}
		return append(dst, ']'), nil
	}
}

func jsonRowOf(t types.Type) jsonOf {
	type field struct {
		name  []byte // with the quotes and the colon
		child int
		write jsonOf
	}
	var fields []field
	for k, f := range t.Fields {
		fields = append(fields, field{[]byte(f.Name), k, jsonWriterOf(f.Type)})
	}
	slices.SortStableFunc(fields, func(a, b field) int { return compareUTF16(a.name, b.name) })
	for k := range fields {
		fields[k].name = append(appendJSONString(nil, fields[k].name), ':')
	}
	return func(dst []byte, v *column.Vector, i int) (_ []byte, err error) {
		dst = append(dst, '{')
		for k, f := range fields {
			if k > 0 {
				dst = append(dst, ',')
			}
			if dst, err = f.write.orNull(append(dst, f.name...), v.Children[f.child], i); err != nil {
				return nil, err
			}
		}
		return append(dst, '}'), nil
	}
}

func jsonMapOf(t types.Type) jsonOf {
	value := jsonWriterOf(types.Of(types.Int)) // of a MULTISET: how often
	if t.Kind == types.Map {
		value = jsonWriterOf(t.Fields[1].Type)
	}
	return func(dst []byte, v *column.Vector, i int) (_ []byte, err error) {
		from, to := v.Elements(i)
		keys := v.Children[0]
		entries := make([]int, 0, to-from)
		for e := from; e < to; e++ {
			if keys.IsNull(e) {
				return nil, failure("a key is NULL, and JSON has no such key", "")
			}
			entries = append(entries, e)
		}
		slices.SortStableFunc(entries, func(a, b int) int { return compareUTF16(keys.Value(a), keys.Value(b)) })
		dst = append(dst, '{')
		for k, e := range entries {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendJSONString(dst, keys.Value(e)), ':')
			if dst, err = value.orNull(dst, v.Children[1], e); err != nil {
				return nil, err
			}
		}
		return append(dst, '}'), nil
	}
}
