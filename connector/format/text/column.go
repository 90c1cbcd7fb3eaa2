package text

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// Form says how the bytes of a field are to be understood.
type Form uint8

// The forms of a field.
const (
	Null    Form = iota
	Plain        // the text itself
	Literal      // a number, true or false of a format that tells them from texts
	Escaped      // a text that the format has to unescape first
)

// Field is where a value stands in a window.
type Field struct {
	Start, End int32
	Form       Form
}

// Block is the window that the fields of some rows are in.
type Block struct {
	Buf []byte
	// Unescape appends the text of an Escaped field.
	Unescape func(dst, raw []byte) []byte
	// UTF8 says that all texts are known to be valid UTF-8.
	UTF8 bool
}

// Column reads the texts of one column.
type Column struct {
	Name string
	Type types.Type
	// Nested appends one value of a type with parts; nil where the format has no such columns.
	Nested Nested

	scratch []byte
	nulls   []int
}

// Nested appends the value of one field, which is not NULL, or says what is wrong with it. Of a value at fault
// nothing must be left in v, unless the format never reads on behind one.
type Nested func(v *column.Vector, b *Block, f Field) (why string)

// Fault is a value that a column cannot have.
type Fault struct {
	Row    int
	Value  []byte // the text, valid until the next Append
	Null   bool
	Reason string
}

// Error returns the fault as a message.
func (f *Fault) message(t types.Type) string {
	t = t.AsNullable()
	if f.Null {
		return "NULL, but the column is NOT NULL"
	}
	article := "a"
	switch t.Kind {
	case types.Int, types.IntervalDayTime, types.IntervalYearMonth, types.Array:
		article = "an"
	}
	s := fmt.Sprintf("%s is not %s %s", Show(f.Value), article, t)
	if f.Reason != "" {
		s += ": " + f.Reason
	}
	return s
}

// Message says what is wrong with the value.
func (c *Column) Message(f *Fault) string { return f.message(c.Type) }

// Supported says why a column of a type cannot be held as text; "" when it can.
func Supported(t types.Type) string {
	if p := column.PhysicalOf(t); p < column.PhysBool || p > column.PhysBytes {
		return "a column of type " + t.AsNullable().String() + " has no text form in this format; 'format' = 'json' has one"
	}
	return ""
}

const (
	notANumber = "not a number"
	outOfRange = "out of range"
	notUTF8    = "it is not UTF-8 text"
)

// Append appends the values of fields to v, up to the first that the type does not take; the rows before it
// are then in v.
func (c *Column) Append(v *column.Vector, b *Block, fields []Field) *Fault {
	c.nulls = c.nulls[:0]
	base := v.Len
	var fault *Fault
	var n int
	switch t := c.Type; t.Kind {
	case types.Char, types.VarChar:
		n, fault = c.texts(v, b, fields)
	case types.Binary, types.VarBinary:
		n, fault = c.binaries(v, b, fields)
	case types.TinyInt:
		v.I8, n, fault = integers(c, v.I8, b, fields, math.MinInt8, math.MaxInt8)
	case types.SmallInt:
		v.I16, n, fault = integers(c, v.I16, b, fields, math.MinInt16, math.MaxInt16)
	case types.Int, types.IntervalYearMonth:
		v.I32, n, fault = integers(c, v.I32, b, fields, math.MinInt32, math.MaxInt32)
	case types.BigInt, types.IntervalDayTime:
		v.I64, n, fault = integers(c, v.I64, b, fields, math.MinInt64, math.MaxInt64)
	case types.Double:
		v.F64, n, fault = values(c, v.F64, b, fields, types.ParseFloat64)
	case types.Float:
		v.F32, n, fault = values(c, v.F32, b, fields, types.ParseFloat32)
	case types.Boolean:
		v.Bool, n, fault = values(c, v.Bool, b, fields, parseBoolean)
	case types.Decimal:
		if t.Wide() {
			v.I128, n, fault = values(c, v.I128, b, fields, func(x []byte) (types.Int128, error) {
				return types.ParseDecimalExact(trim(x), t.Precision, t.Scale)
			})
		} else {
			v.I64, n, fault = values(c, v.I64, b, fields, func(x []byte) (int64, error) {
				if d, ok := shortDecimal(x, t.Precision, t.Scale); ok {
					return d, nil
				}
				d, err := types.ParseDecimalExact(trim(x), t.Precision, t.Scale)
				return int64(d.Lo), err
			})
		}
	case types.Date:
		v.I32, n, fault = values(c, v.I32, b, fields, func(x []byte) (int32, error) { return types.ParseISODate(trim(x)) })
	case types.Time:
		v.I32, n, fault = values(c, v.I32, b, fields, func(x []byte) (int32, error) { return types.ParseISOTime(trim(x), t.Precision) })
	case types.Timestamp:
		v.I64, n, fault = values(c, v.I64, b, fields, func(x []byte) (int64, error) { return types.ParseISOTimestamp(trim(x), t, nil) })
	case types.TimestampLTZ:
		v.I64, n, fault = values(c, v.I64, b, fields, func(x []byte) (int64, error) { return parseInstant(trim(x), t) })
	case types.Array, types.Map, types.Multiset, types.Row:
		return c.nested(v, b, fields)
	default:
		panic("text: no text form of " + t.String())
	}
	v.Len = base + n
	if len(c.nulls) > 0 || v.Valid != nil {
		for len(v.Valid) < (v.Len+63)/64 {
			v.Valid = append(v.Valid, ^uint64(0))
		}
		for _, i := range c.nulls {
			v.Valid.Clear(base + i)
		}
	}
	return fault
}

// nested appends values of a type with parts. The vector ends before one at fault.
func (c *Column) nested(v *column.Vector, b *Block, fields []Field) *Fault {
	for r, f := range fields {
		if f.Form == Null {
			if fault := c.null(r); fault != nil {
				return fault
			}
			v.AppendNull()
			continue
		}
		base := v.Len
		if why := c.Nested(v, b, f); why != "" {
			end := base
			if v.Offsets != nil {
				end = int(v.Offsets[base])
			}
			for _, part := range v.Children {
				if part.Len > end { // of the value at fault
					*v = *v.Head(base)
					break
				}
			}
			return c.fault(b, f, r, why)
		}
	}
	return nil
}

// text returns the text of a field.
func (c *Column) text(b *Block, f Field) []byte {
	raw := b.Buf[f.Start:f.End]
	if f.Form == Escaped {
		c.scratch = b.Unescape(c.scratch[:0], raw)
		return c.scratch
	}
	return raw
}

// null notes a NULL at a row; it returns the fault when there must be none.
func (c *Column) null(row int) *Fault {
	if c.Type.NotNull {
		return &Fault{Row: row, Null: true}
	}
	c.nulls = append(c.nulls, row)
	return nil
}

func (c *Column) fault(b *Block, f Field, row int, reason string) *Fault {
	return &Fault{Row: row, Value: c.text(b, f), Reason: reason}
}

func integers[T int8 | int16 | int32 | int64](c *Column, dst []T, b *Block, fields []Field, least, most int64) ([]T, int, *Fault) {
	buf := b.Buf
	for r, f := range fields {
		if f.Form == Null {
			if fault := c.null(r); fault != nil {
				return dst, r, fault
			}
			dst = append(dst, 0)
			continue
		}
		// Digits alone, and few of them, are the usual case.
		i, u := f.Start, uint64(0)
		if f.End-i <= 18 && i < f.End && f.Form != Escaped {
			negative := buf[i] == '-'
			if negative {
				i++
			}
			first := i
			for i < f.End && buf[i]-'0' <= 9 {
				u = u*10 + uint64(buf[i]-'0')
				i++
			}
			if i == f.End && i > first {
				v := int64(u)
				if negative {
					v = -v
				}
				if v >= least && v <= most {
					dst = append(dst, T(v))
					continue
				}
			}
		}
		v, reason := parseInteger(trim(c.text(b, f)))
		if reason == "" && (v < least || v > most) {
			reason = outOfRange
		}
		if reason != "" {
			return dst, r, c.fault(b, f, r, reason)
		}
		dst = append(dst, T(v))
	}
	return dst, len(fields), nil
}

// parseInteger reads a sign and digits, nothing else.
func parseInteger(b []byte) (int64, string) {
	negative := len(b) > 0 && b[0] == '-'
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		b = b[1:]
	}
	if len(b) == 0 {
		return 0, notANumber
	}
	var u uint64
	large := false
	for _, c := range b {
		if c-'0' > 9 {
			if c == '.' || c == 'e' || c == 'E' {
				if _, err := types.ParseFloat64(b); err == nil {
					return 0, "not a whole number written in digits"
				}
			}
			return 0, notANumber
		}
		large = large || u > math.MaxUint64/10-1
		u = u*10 + uint64(c-'0')
	}
	switch {
	case large, negative && u > 1<<63, !negative && u > 1<<63-1:
		return 0, outOfRange
	case negative:
		return -int64(u), ""
	}
	return int64(u), ""
}

func values[T any](c *Column, dst []T, b *Block, fields []Field, parse func([]byte) (T, error)) ([]T, int, *Fault) {
	var zero T
	for r, f := range fields {
		if f.Form == Null {
			if fault := c.null(r); fault != nil {
				return dst, r, fault
			}
			dst = append(dst, zero)
			continue
		}
		v, err := parse(c.text(b, f))
		if err != nil {
			reason := err.Error()
			if e, ok := err.(*types.ValueError); ok {
				reason = e.Reason
			}
			return dst, r, c.fault(b, f, r, reason)
		}
		dst = append(dst, v)
	}
	return dst, len(fields), nil
}

// shortDecimal reads a decimal of few digits that a DECIMAL(precision, scale) holds; false: ask for it in full.
func shortDecimal(b []byte, precision, scale int) (int64, bool) {
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	v, i := int64(0), 0
	for i < len(b) && b[i]-'0' <= 9 {
		v = v*10 + int64(b[i]-'0')
		i++
	}
	whole, decimals := i, 0
	if i < len(b) && b[i] == '.' {
		for i++; i < len(b) && b[i]-'0' <= 9; i++ {
			v = v*10 + int64(b[i]-'0')
		}
		decimals = i - whole - 1
	}
	if i < len(b) || whole == 0 || decimals > scale || whole+scale > precision {
		return 0, false
	}
	v *= types.Pow10Int64(scale - decimals)
	if negative {
		v = -v
	}
	return v, true
}

type valueError string

func (e valueError) Error() string { return string(e) }

func parseBoolean(b []byte) (bool, error) {
	b = trim(b)
	switch {
	case string(b) == "true", bytes.EqualFold(b, []byte("true")):
		return true, nil
	case string(b) == "false", bytes.EqualFold(b, []byte("false")):
		return false, nil
	}
	return false, valueError("neither true nor false")
}

// parseInstant reads a timestamp that ends in Z or an offset.
func parseInstant(b []byte, t types.Type) (int64, error) {
	clock, offset, ok := cutOffset(b)
	if !ok {
		return 0, valueError("its zone is missing at the end: Z, or an offset such as +02:00")
	}
	v, err := types.ParseISOTimestamp(trim(clock), t, nil)
	if err != nil || offset == 0 {
		return v, err
	}
	s := int64(offset) * t.PerSecond()
	moved := v - s
	if (s > 0) != (moved < v) {
		return 0, valueError(outOfRange)
	}
	if _, ok := types.RescaleTimestamp(moved, t, t); !ok {
		return 0, valueError(outOfRange)
	}
	return moved, nil
}

// cutOffset takes the zone off the end of a timestamp; offset is in seconds east of UTC.
func cutOffset(b []byte) (clock []byte, offset int, ok bool) {
	n := len(b)
	if n > 0 && b[n-1] == 'Z' {
		return b[:n-1], 0, true
	}
	if n < 6 || b[n-3] != ':' || b[n-6] != '+' && b[n-6] != '-' {
		return b, 0, false
	}
	h, why := parseInteger(b[n-5 : n-3])
	m, why2 := parseInteger(b[n-2:])
	if why != "" || why2 != "" || h < 0 || m < 0 || h > 18 || m > 59 {
		return b, 0, false
	}
	offset = int(h*3600 + m*60)
	if b[n-6] == '-' {
		offset = -offset
	}
	return b[:n-6], offset, true
}

func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

func (c *Column) texts(v *column.Vector, b *Block, fields []Field) (int, *Fault) {
	t := c.Type
	free := t.Precision == types.MaxLength && t.Kind == types.VarChar
	dst, offsets := v.Bytes, v.Offsets
	defer func() { v.Bytes, v.Offsets = dst, offsets }()
	for r, f := range fields {
		raw := b.Buf[f.Start:f.End]
		switch f.Form {
		case Null:
			if fault := c.null(r); fault != nil {
				return r, fault
			}
			offsets = append(offsets, int32(len(dst)))
			continue
		case Escaped:
			dst = b.Unescape(dst, raw)
		default:
			dst = append(dst, raw...)
		}
		if free && b.UTF8 {
			offsets = append(offsets, int32(len(dst)))
			continue
		}
		from := offsets[len(offsets)-1]
		x := dst[from:]
		reason := ""
		if !b.UTF8 && !utf8.Valid(x) {
			reason = notUTF8 + badByte(x)
		} else if keep, fill := types.FitLength(x, t); keep < len(x) {
			reason = "too long"
		} else if len(dst)+fill > math.MaxInt32 {
			reason = "with its blanks it does not fit the memory"
		} else {
			for ; fill > 0; fill-- {
				dst = append(dst, ' ')
			}
		}
		if reason != "" {
			dst = dst[:from]
			return r, c.fault(b, f, r, reason)
		}
		offsets = append(offsets, int32(len(dst)))
	}
	return len(fields), nil
}

// badByte names the first byte that is not UTF-8.
func badByte(b []byte) string {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size <= 1 {
			return fmt.Sprintf(" (byte %02X; a file in another encoding, such as latin-1, has to be converted first)", b[0])
		}
		b = b[size:]
	}
	return ""
}

func (c *Column) binaries(v *column.Vector, b *Block, fields []Field) (int, *Fault) {
	for r, f := range fields {
		if f.Form == Null {
			if fault := c.null(r); fault != nil {
				return r, fault
			}
			v.Offsets = append(v.Offsets, int32(len(v.Bytes)))
			continue
		}
		from := len(v.Bytes)
		out, err := base64.StdEncoding.AppendDecode(v.Bytes, c.text(b, f))
		reason := ""
		switch x := c.Type; {
		case err != nil || f.Form == Literal:
			reason = "it is not base64"
		case len(out)-from > x.Precision:
			reason = fmt.Sprintf("it has %d bytes", len(out)-from)
		case x.Kind == types.Binary && len(out)-from < x.Precision:
			reason = fmt.Sprintf("it has %d bytes", len(out)-from)
		}
		if reason != "" {
			return r, c.fault(b, f, r, reason)
		}
		v.Bytes = out
		v.Offsets = append(v.Offsets, int32(len(out)))
	}
	return len(fields), nil
}
