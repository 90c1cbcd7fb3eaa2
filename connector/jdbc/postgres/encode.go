package postgres

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// encoder appends the form of a value that is not NULL, or returns why the column does not take it unaltered. The
// server itself refuses what is out of its range; what it would round, cut or pad is found here.
type encoder func(dst []byte, v *column.Vector, i int) (out []byte, misfit string)

// writePlan is how a column is written: in the server's binary form, or as text where only the server knows how a
// value is read. One COPY has all columns in one of the two.
type writePlan struct {
	name   string
	shown  string
	binary encoder // nil: text only
	text   encoder
}

// planWrite says how values of a type go into a column, or why they cannot.
func planWrite(c *columnInfo, from types.Type) (writePlan, error) {
	p := writePlan{name: c.name, shown: c.shown}
	if c.readOnly() {
		return p, fmt.Errorf("column %s is computed by PostgreSQL and cannot be written", c.name)
	}
	if why := textRefused(c.stored); why != "" && from.IsString() {
		return p, fmt.Errorf("column %s is of type %s in PostgreSQL, %s: it takes no text from here", c.name, c.shown, why)
	}
	if p.binary, p.text = planEncode(c.stored, from); p.text == nil {
		return p, fmt.Errorf("column %s is of type %s in PostgreSQL and takes no %s values; CAST them to %s", c.name, c.shown, from.AsNullable(), c.t.AsNullable())
	}
	return p, nil
}

func planEncode(stored storedType, from types.Type) (binary, text encoder) {
	switch {
	case from.Kind == types.Null:
		null := func(dst []byte, _ *column.Vector, _ int) ([]byte, string) { return dst, "" }
		return null, null
	case from.Kind == types.Boolean && stored.oid == oidBool:
		return encodeBool, textOf
	case from.IsInteger():
		switch stored.oid {
		case oidInt2, oidInt4, oidInt8:
			return encodeInt(stored.oid), textInt(stored.oid)
		case oidNumeric:
			return encodeNumeric(types.DecimalOf(19, 0), stored.mod), checked(textOf, lostDecimals(types.DecimalOf(19, 0), stored.mod))
		}
	case from.Kind == types.Decimal && stored.oid == oidNumeric:
		return encodeNumeric(from, stored.mod), checked(textOf, lostDecimals(from, stored.mod))
	case from.Kind == types.Float && stored.oid == oidFloat4, from.IsFloat() && stored.oid == oidFloat8:
		return encodeFloat(stored.oid), textOf
	case from.IsString():
		fits := textInto(stored)
		switch stored.oid {
		case oidText, oidVarchar, oidBpchar, oidJSON, oidXML:
			return checked(encodeBytes, fits), checked(textString, fits)
		case oidJSONB:
			return checked(encodeJSONB, fits), checked(textString, fits)
		case oidUUID:
			return encodeUUID, checked(textString, fits)
		case oidBytea, oidBool, oidInt2, oidInt4, oidInt8, oidOid, oidFloat4, oidFloat8, oidDate, oidTime, oidTimestamp, oidTimestamptz:
			return nil, nil // a type of its own here
		case oidNumeric:
			if p, _, free := numericParts(stored.mod); !free && p <= types.MaxDecimalPrecision {
				return nil, nil
			}
		}
		if _, isArray := elementOf(stored.oid); isArray {
			return nil, nil
		}
		return nil, checked(textString, fits)
	case from.IsBinary() && stored.oid == oidBytea:
		return encodeBytes, textBytes
	case from.Kind == types.Date && stored.oid == oidDate:
		return encodeDate, textOf
	case from.Kind == types.Time && stored.oid == oidTime:
		lost := lostFraction(stored.mod, 1000, 6)
		return checked(encodeTime, lost), checked(textOf, lost)
	case from.Kind == types.Timestamp && stored.oid == oidTimestamp, from.Kind == types.TimestampLTZ && stored.oid == oidTimestamptz:
		per, decimals := int64(1), 6
		if from.Nanos() {
			decimals = 9
		}
		lost := lostFraction(stored.mod, per, decimals)
		return checked(encodeTimestamp(from), lost), checked(textTimestamp, lost)
	case from.Kind == types.IntervalYearMonth && stored.oid == oidInterval:
		if fields, _ := intervalParts(stored.mod); fields&intervalYearMonth == intervalYearMonth {
			return encodeMonths, textMonths
		}
	case from.Kind == types.IntervalDayTime && stored.oid == oidInterval:
		if fields, decimals := intervalParts(stored.mod); fields&intervalDayTime == intervalDayTime && decimals >= 3 {
			return encodeMillis, textMillis
		}
	case from.Kind == types.Array:
		e, ok := elementOf(stored.oid)
		if !ok {
			return nil, nil
		}
		b, t := planEncode(storedType{oid: e, mod: stored.mod}, from.Element())
		if b == nil || t == nil {
			return nil, nil
		}
		return encodeArray(e, b), textArray(plainText(storedType{oid: e, mod: stored.mod}, from.Element()))
	}
	return nil, nil
}

// checked is an encoder behind a condition.
func checked(e encoder, check func(v *column.Vector, i int) string) encoder {
	if check == nil {
		return e
	}
	return func(dst []byte, v *column.Vector, i int) ([]byte, string) {
		if why := check(v, i); why != "" {
			return dst, why
		}
		return e(dst, v, i)
	}
}

// lostDecimals is the condition that a numeric column does not round.
func lostDecimals(from types.Type, mod int) func(v *column.Vector, i int) string {
	_, scale, free := numericParts(mod)
	if free || from.Scale <= scale {
		return nil
	}
	by := types.Pow10(min(from.Scale-scale, types.MaxDecimalPrecision))
	return func(v *column.Vector, i int) string {
		if _, rest := decimalOf(v, i).QuoRem(by); rest.Sign() != 0 {
			return tooMany(scale)
		}
		return ""
	}
}

// lostFraction is the condition that a column of times does not round. Values count units of which one has decimals
// decimals of a second after multiplication by per.
func lostFraction(mod int, per int64, decimals int) func(v *column.Vector, i int) string {
	mod = fraction(mod)
	unit := int64(1)
	for p := mod; p < decimals; p++ {
		unit *= 10
	}
	if unit <= per {
		return nil
	}
	return func(v *column.Vector, i int) string {
		if v.Int64(i)*per%unit != 0 {
			return tooMany(mod)
		}
		return ""
	}
}

// The binary forms; the length in front is the caller's.

func encodeBool(dst []byte, v *column.Vector, i int) ([]byte, string) {
	if v.Bool[i] {
		return append(dst, 1), ""
	}
	return append(dst, 0), ""
}

func encodeInt(stored oid) encoder {
	return func(dst []byte, v *column.Vector, i int) ([]byte, string) {
		x := v.Int64(i)
		switch stored {
		case oidInt2:
			if !types.IntInRange(x, types.SmallInt) {
				return dst, tooBig
			}
			return binary.BigEndian.AppendUint16(dst, uint16(x)), ""
		case oidInt4:
			if !types.IntInRange(x, types.Int) {
				return dst, tooBig
			}
			return binary.BigEndian.AppendUint32(dst, uint32(x)), ""
		}
		return binary.BigEndian.AppendUint64(dst, uint64(x)), ""
	}
}

func encodeFloat(stored oid) encoder {
	return func(dst []byte, v *column.Vector, i int) ([]byte, string) {
		switch {
		case stored == oidFloat4:
			return binary.BigEndian.AppendUint32(dst, math.Float32bits(v.F32[i])), ""
		case v.Type.Kind == types.Float:
			return binary.BigEndian.AppendUint64(dst, math.Float64bits(float64(v.F32[i]))), ""
		}
		return binary.BigEndian.AppendUint64(dst, math.Float64bits(v.F64[i])), ""
	}
}

func encodeNumeric(from types.Type, mod int) encoder {
	return checked(func(dst []byte, v *column.Vector, i int) ([]byte, string) {
		return appendNumeric(dst, decimalOf(v, i), from.Scale), ""
	}, lostDecimals(from, mod))
}

// decimalOf is a decimal's digits, or an integer.
func decimalOf(v *column.Vector, i int) types.Int128 {
	if v.Type.Kind == types.Decimal {
		return v.Int128(i)
	}
	return types.Int128From(v.Int64(i))
}

func encodeBytes(dst []byte, v *column.Vector, i int) ([]byte, string) {
	return append(dst, v.Value(i)...), ""
}

func encodeJSONB(dst []byte, v *column.Vector, i int) ([]byte, string) {
	return append(append(dst, 1), v.Value(i)...), ""
}

func encodeUUID(dst []byte, v *column.Vector, i int) ([]byte, string) {
	b := v.Value(i)
	if len(b) != 36 || b[8] != '-' || b[13] != '-' || b[18] != '-' || b[23] != '-' {
		return dst, "want a uuid such as 123e4567-e89b-12d3-a456-426614174000"
	}
	for at := 0; at < 36; {
		if b[at] == '-' {
			at++
			continue
		}
		var err error
		if dst, err = hex.AppendDecode(dst, b[at:at+2]); err != nil {
			return dst, "want a uuid such as 123e4567-e89b-12d3-a456-426614174000"
		}
		at += 2
	}
	return dst, ""
}

func encodeDate(dst []byte, v *column.Vector, i int) ([]byte, string) {
	return binary.BigEndian.AppendUint32(dst, uint32(v.I32[i]-epochDays)), ""
}

func encodeTime(dst []byte, v *column.Vector, i int) ([]byte, string) {
	return binary.BigEndian.AppendUint64(dst, uint64(v.I32[i])*1000), ""
}

func encodeTimestamp(from types.Type) encoder {
	return func(dst []byte, v *column.Vector, i int) ([]byte, string) {
		x := v.I64[i]
		if from.Nanos() {
			x /= 1000 // it is a multiple
		}
		return binary.BigEndian.AppendUint64(dst, uint64(x-epochMicros)), ""
	}
}

func encodeMonths(dst []byte, v *column.Vector, i int) ([]byte, string) {
	dst = append(dst, make([]byte, 12)...)
	return binary.BigEndian.AppendUint32(dst, uint32(v.I32[i])), ""
}

func encodeMillis(dst []byte, v *column.Vector, i int) ([]byte, string) {
	days, ms := v.I64[i]/types.MillisPerDay, v.I64[i]%types.MillisPerDay
	if days != int64(int32(days)) {
		return dst, tooBig
	}
	dst = binary.BigEndian.AppendUint64(dst, uint64(ms*1000))
	dst = binary.BigEndian.AppendUint32(dst, uint32(days))
	return append(dst, 0, 0, 0, 0), ""
}

func encodeArray(element oid, e encoder) encoder {
	return func(dst []byte, v *column.Vector, i int) ([]byte, string) {
		from, to := v.Elements(i)
		child := v.Children[0]
		if from == to {
			dst = append(dst, make([]byte, 8)...)
			return binary.BigEndian.AppendUint32(dst, uint32(element)), ""
		}
		nulls := uint32(0)
		for k := from; k < to; k++ {
			if child.IsNull(k) {
				nulls = 1
			}
		}
		dst = binary.BigEndian.AppendUint32(dst, 1)
		dst = binary.BigEndian.AppendUint32(dst, nulls)
		dst = binary.BigEndian.AppendUint32(dst, uint32(element))
		dst = binary.BigEndian.AppendUint32(dst, uint32(to-from))
		dst = binary.BigEndian.AppendUint32(dst, 1)
		for k := from; k < to; k++ {
			var why string
			if dst, why = appendField(dst, e, child, k); why != "" {
				return dst, why
			}
		}
		return dst, ""
	}
}

// appendField appends a value with its length in front.
func appendField(dst []byte, e encoder, v *column.Vector, i int) ([]byte, string) {
	if v.IsNull(i) {
		return append(dst, 0xff, 0xff, 0xff, 0xff), ""
	}
	at := len(dst)
	dst, why := e(append(dst, 0, 0, 0, 0), v, i)
	if why == "" {
		if n := len(dst) - at - 4; n < 1<<30 {
			binary.BigEndian.PutUint32(dst[at:], uint32(n))
		} else {
			why = "it is larger than the 1 GiB that a value may have"
		}
	}
	return dst, why
}

// The text forms, in which a backslash stands before what is special to COPY.

func textOf(dst []byte, v *column.Vector, i int) ([]byte, string) {
	return column.AppendText(dst, v, i, nil), ""
}

func textInt(stored oid) encoder {
	return func(dst []byte, v *column.Vector, i int) ([]byte, string) {
		x := v.Int64(i)
		if stored == oidInt2 && !types.IntInRange(x, types.SmallInt) || stored == oidInt4 && !types.IntInRange(x, types.Int) {
			return dst, tooBig
		}
		return strconv.AppendInt(dst, x, 10), ""
	}
}

func textString(dst []byte, v *column.Vector, i int) ([]byte, string) {
	return appendEscaped(dst, v.Value(i)), ""
}

func appendEscaped(dst, b []byte) []byte {
	for _, c := range b {
		switch c {
		case '\\':
			dst = append(dst, '\\', '\\')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

func textBytes(dst []byte, v *column.Vector, i int) ([]byte, string) {
	return hex.AppendEncode(append(dst, `\\x`...), v.Value(i)), ""
}

func textTimestamp(dst []byte, v *column.Vector, i int) ([]byte, string) {
	dst = column.AppendText(dst, v, i, nil)
	if v.Type.Kind == types.TimestampLTZ {
		dst = append(dst, "+00"...)
	}
	return dst, ""
}

func textMonths(dst []byte, v *column.Vector, i int) ([]byte, string) {
	return append(strconv.AppendInt(dst, int64(v.I32[i]), 10), " mons"...), ""
}

func textMillis(dst []byte, v *column.Vector, i int) ([]byte, string) {
	days, ms := v.I64[i]/types.MillisPerDay, v.I64[i]%types.MillisPerDay
	if days != int64(int32(days)) {
		return dst, tooBig
	}
	dst = append(strconv.AppendInt(dst, days, 10), " days "...)
	return append(strconv.AppendInt(dst, ms, 10), " milliseconds"...), ""
}

// plainText is the text form of an array's element, before COPY's escapes.
func plainText(stored storedType, from types.Type) encoder {
	switch {
	case from.IsString():
		return checked(encodeBytes, textFits(stored))
	case from.IsBinary():
		return func(dst []byte, v *column.Vector, i int) ([]byte, string) {
			return hex.AppendEncode(append(dst, `\x`...), v.Value(i)), ""
		}
	}
	_, t := planEncode(stored, from)
	return t
}

func textArray(e encoder) encoder {
	return func(dst []byte, v *column.Vector, i int) ([]byte, string) {
		from, to := v.Elements(i)
		child := v.Children[0]
		list := []byte{'{'}
		for k := from; k < to; k++ {
			if k > from {
				list = append(list, ',')
			}
			if child.IsNull(k) {
				list = append(list, "NULL"...)
				continue
			}
			one, why := e(nil, child, k)
			if why != "" {
				return dst, why
			}
			list = append(list, '"')
			for _, c := range one {
				if c == '"' || c == '\\' {
					list = append(list, '\\')
				}
				list = append(list, c)
			}
			list = append(list, '"')
		}
		return appendEscaped(dst, append(list, '}')), ""
	}
}
