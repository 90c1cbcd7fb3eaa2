package postgres

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// decoder appends a value, in the server's binary form, to a vector. When the vector's type does not hold it, it
// appends nothing and returns why.
type decoder func(v *column.Vector, b []byte) (misfit string)

// readPlan is how a column is read.
type readPlan struct {
	name   string
	cast   string // what the server turns it into first, such as "::text"
	decode decoder
}

// PostgreSQL counts from 2000-01-01.
const (
	epochDays   = 10957
	epochMicros = epochDays * 86_400_000_000
)

// Why a value does not fit.
const (
	tooBig       = "it is out of the type's range"
	inexact      = "the type would not hold it exactly"
	moreDecimals = "it has more decimals than the type"
	infinite     = "it is infinite"
	badYear      = "the years 0001 to 9999 can be held"
	damaged      = "the server's form of it cannot be read"
)

// planRead says how a column is read as a type, or why it cannot be. utf8 says that its text is valid.
func planRead(c *columnInfo, want types.Type, utf8 bool) (readPlan, error) {
	p := readPlan{name: c.name}
	if p.cast, p.decode = planDecode(c.stored, want, utf8); p.decode == nil {
		return p, fmt.Errorf("column %s is of type %s in PostgreSQL and cannot be read as %s; declare it %s or STRING", c.name, c.shown, want.AsNullable(), c.t.AsNullable())
	}
	return p, nil
}

func planDecode(stored storedType, want types.Type, utf8 bool) (cast string, d decoder) {
	width := map[oid]int{oidInt2: 2, oidInt4: 4, oidInt8: 8, oidOid: 8}[stored.oid]
	switch {
	case want.IsString():
		switch stored.oid {
		case oidText, oidVarchar, oidBpchar, oidJSON:
			return "", decodeText(utf8)
		}
		return "::pg_catalog.text", decodeText(utf8)
	case want.Kind == types.Boolean && stored.oid == oidBool:
		return "", decodeBool
	case want.IsInteger() && stored.oid == oidNumeric:
		return "", decodeNumericInt(want)
	case want.Kind == types.Decimal && stored.oid == oidNumeric:
		return "", decodeNumeric(want)
	case width > 0 && (want.IsNumeric()):
		if stored.oid == oidOid {
			cast = "::pg_catalog.int8"
		}
		return cast, decodeInt(width, want)
	case want.IsFloat() && stored.oid == oidNumeric:
		return "::pg_catalog.text", decodeNumericFloat(want)
	case want.IsFloat() && stored.oid == oidFloat4:
		return "", decodeFloat4
	case want.IsFloat() && stored.oid == oidFloat8:
		return "", decodeFloat8(want)
	case want.IsBinary() && stored.oid == oidBytea:
		return "", decodeBytes
	case want.Kind == types.Date && stored.oid == oidDate:
		return "", decodeDate
	case want.Kind == types.Time && stored.oid == oidTime:
		return "", decodeTime(want)
	case want.Kind == types.Timestamp && stored.oid == oidTimestamp, want.Kind == types.TimestampLTZ && stored.oid == oidTimestamptz:
		return "", decodeTimestamp(want)
	case want.Kind == types.IntervalYearMonth && stored.oid == oidInterval:
		return "", decodeMonths
	case want.Kind == types.IntervalDayTime && stored.oid == oidInterval:
		return "", decodeMillis
	case want.Kind == types.Array:
		element, ok := elementOf(stored.oid)
		if !ok {
			return "", nil
		}
		cast, d := planDecode(storedType{oid: element, mod: stored.mod}, want.Element(), utf8)
		if d == nil || cast != "" {
			return "", nil
		}
		return "", decodeArray(d)
	}
	return "", nil
}

func decodeBool(v *column.Vector, b []byte) string {
	if len(b) != 1 {
		return damaged
	}
	v.AppendBool(b[0] != 0)
	return ""
}

// decodeInt reads an integer of some bytes as a number.
func decodeInt(width int, want types.Type) decoder {
	read := func(b []byte) int64 {
		switch width {
		case 2:
			return int64(int16(binary.BigEndian.Uint16(b)))
		case 4:
			return int64(int32(binary.BigEndian.Uint32(b)))
		}
		return int64(binary.BigEndian.Uint64(b))
	}
	switch {
	case want.IsInteger():
		return func(v *column.Vector, b []byte) string {
			if len(b) != width {
				return damaged
			}
			x := read(b)
			if !types.IntInRange(x, want.Kind) {
				return tooBig
			}
			v.AppendI64(x)
			return ""
		}
	case want.Kind == types.Decimal:
		return func(v *column.Vector, b []byte) string {
			if len(b) != width {
				return damaged
			}
			x, ok := types.RescaleDecimal(types.Int128From(read(b)), 0, want)
			if !ok {
				return tooBig
			}
			v.AppendI128(x)
			return ""
		}
	}
	exact := int64(1) << 53
	if want.Kind == types.Float {
		exact = 1 << 24
	}
	return func(v *column.Vector, b []byte) string {
		if len(b) != width {
			return damaged
		}
		x := read(b)
		if x > exact || x < -exact {
			return inexact
		}
		v.AppendF64(float64(x))
		return ""
	}
}

func decodeFloat4(v *column.Vector, b []byte) string {
	if len(b) != 4 {
		return damaged
	}
	v.AppendF64(float64(math.Float32frombits(binary.BigEndian.Uint32(b))))
	return ""
}

func decodeFloat8(want types.Type) decoder {
	return func(v *column.Vector, b []byte) string {
		if len(b) != 8 {
			return damaged
		}
		x := math.Float64frombits(binary.BigEndian.Uint64(b))
		if want.Kind == types.Float && float64(float32(x)) != x && x == x {
			return inexact
		}
		v.AppendF64(x)
		return ""
	}
}

// decodeNumericFloat reads the text of a numeric.
func decodeNumericFloat(want types.Type) decoder {
	bits := 64
	if want.Kind == types.Float {
		bits = 32
	}
	return func(v *column.Vector, b []byte) string {
		x, exact := exactFloat(string(b), bits)
		if !exact {
			return inexact
		}
		v.AppendF64(x)
		return ""
	}
}

func decodeText(valid bool) decoder {
	return func(v *column.Vector, b []byte) string {
		if !valid && !utf8.Valid(b) {
			return "it is not valid UTF-8"
		}
		v.AppendBytes(b)
		return ""
	}
}

func decodeBytes(v *column.Vector, b []byte) string {
	v.AppendBytes(b)
	return ""
}

func decodeDate(v *column.Vector, b []byte) string {
	if len(b) != 4 {
		return damaged
	}
	x := int32(binary.BigEndian.Uint32(b))
	switch {
	case x == math.MaxInt32 || x == math.MinInt32:
		return infinite
	case x > types.MaxDate-epochDays || x < types.MinDate-epochDays:
		return badYear
	}
	v.AppendI64(int64(x) + epochDays)
	return ""
}

func decodeTime(want types.Type) decoder {
	unit := int64(1000) // of what is lost, in microseconds
	for p := want.Precision; p < 3; p++ {
		unit *= 10
	}
	return func(v *column.Vector, b []byte) string {
		if len(b) != 8 {
			return damaged
		}
		x := int64(binary.BigEndian.Uint64(b))
		switch {
		case x >= 86_400_000_000:
			return "there is no such time of day"
		case x%unit != 0 && want.Precision > 3:
			return "a TIME holds milliseconds"
		case x%unit != 0:
			return moreDecimals
		}
		v.AppendI64(x / 1000)
		return ""
	}
}

func decodeTimestamp(want types.Type) decoder {
	unit := int64(1)
	for p := want.Precision; p < 6; p++ {
		unit *= 10
	}
	return func(v *column.Vector, b []byte) string {
		if len(b) != 8 {
			return damaged
		}
		x := int64(binary.BigEndian.Uint64(b))
		switch {
		case x == math.MaxInt64 || x == math.MinInt64:
			return infinite
		case x > types.MaxMicros-epochMicros || x < types.MinMicros-epochMicros:
			return badYear
		case x%unit != 0:
			return moreDecimals
		}
		x += epochMicros
		if want.Nanos() {
			if x > math.MaxInt64/1000 || x < math.MinInt64/1000 {
				return "with more than 6 decimals the years 1677-09-21 to 2262-04-11 can be held"
			}
			x *= 1000
		}
		v.AppendI64(x)
		return ""
	}
}

// interval splits an interval.
func interval(b []byte) (micros int64, days, months int32, ok bool) {
	if len(b) != 16 {
		return 0, 0, 0, false
	}
	return int64(binary.BigEndian.Uint64(b)), int32(binary.BigEndian.Uint32(b[8:])), int32(binary.BigEndian.Uint32(b[12:])), true
}

func decodeMonths(v *column.Vector, b []byte) string {
	micros, days, months, ok := interval(b)
	switch {
	case !ok:
		return damaged
	case micros != 0 || days != 0:
		return "it has days or a time"
	}
	v.AppendI64(int64(months))
	return ""
}

func decodeMillis(v *column.Vector, b []byte) string {
	micros, days, months, ok := interval(b)
	switch {
	case !ok:
		return damaged
	case months != 0:
		return "it has months"
	case micros%1000 != 0:
		return "the type holds milliseconds"
	}
	v.AppendI64(int64(days)*types.MillisPerDay + micros/1000)
	return ""
}

// decodeArray reads an array of one dimension.
func decodeArray(element decoder) decoder {
	return func(v *column.Vector, b []byte) string {
		if len(b) < 12 {
			return damaged
		}
		dimensions := binary.BigEndian.Uint32(b)
		b = b[12:]
		n := 0
		switch {
		case dimensions > 1:
			return "it has more than one dimension"
		case dimensions == 1 && len(b) < 8:
			return damaged
		case dimensions == 1:
			n = int(binary.BigEndian.Uint32(b))
			b = b[8:]
		}
		child := v.Children[0]
		before := child.Len
		why := ""
		for range n {
			if len(b) < 4 {
				why = damaged
				break
			}
			size := int32(binary.BigEndian.Uint32(b))
			b = b[4:]
			if size < 0 {
				child.AppendNull()
				continue
			}
			if len(b) < int(size) {
				why = damaged
				break
			}
			if why = element(child, b[:size]); why != "" {
				break
			}
			b = b[size:]
		}
		if why != "" {
			v.Children[0] = child.Head(before)
			return why
		}
		v.EndRow()
		return ""
	}
}
