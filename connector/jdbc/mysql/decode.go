package mysql

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// field reads the values of one column of a result.
type field struct {
	name string
	t    types.Type // as which they are read
	had  declared   // how the server has them
	// zeroNull: a date such as 0000-00-00 is NULL.
	zeroNull bool
}

// selected is the SQL by which the column is read: what the server would print rounded is made a DOUBLE, which it
// sends whole.
func (f *field) selected() string {
	switch {
	case f.had.name == "float", f.had.name == "double" && len(f.had.args) > 0:
		return "t." + quote(f.name) + " * 1e0"
	case f.had.name == "year":
		return "CAST(t." + quote(f.name) + " AS SIGNED)"
	}
	return "t." + quote(f.name)
}

// append adds a value as the driver gives it.
func (f *field) append(v *column.Vector, x driver.Value) error {
	switch x := x.(type) {
	case nil:
		if f.t.NotNull {
			return errors.New("NULL, and the column is declared NOT NULL")
		}
		v.AppendNull()
	case []byte:
		return f.appendText(v, x)
	case int64:
		return f.appendInt(v, x)
	case float64:
		return f.appendFloat(v, x)
	case float32:
		return f.appendFloat(v, float64(x))
	case uint64:
		var buf [20]byte
		return f.appendText(v, strconv.AppendUint(buf[:0], x, 10))
	default:
		return fmt.Errorf("a value of an unknown kind (%T)", x)
	}
	return nil
}

func (f *field) appendInt(v *column.Vector, x int64) error {
	switch f.t.Kind {
	case types.BigInt:
	case types.Int:
		if x != int64(int32(x)) {
			return f.misfit(strconv.FormatInt(x, 10), "out of range")
		}
	case types.SmallInt:
		if x != int64(int16(x)) {
			return f.misfit(strconv.FormatInt(x, 10), "out of range")
		}
	case types.TinyInt:
		if x != int64(int8(x)) {
			return f.misfit(strconv.FormatInt(x, 10), "out of range")
		}
	case types.Boolean:
		if x != 0 && x != 1 {
			return f.misfit(strconv.FormatInt(x, 10), "neither 0 nor 1; with tinyInt1isBit=false in the address a TINYINT(1) is read as TINYINT")
		}
		v.AppendBool(x == 1)
		return nil
	case types.Double:
		if int64(float64(x)) != x || x == math.MaxInt64 {
			return f.misfit(strconv.FormatInt(x, 10), "more digits than a DOUBLE holds")
		}
		v.AppendF64(float64(x))
		return nil
	default:
		var buf [20]byte
		return f.appendText(v, strconv.AppendInt(buf[:0], x, 10))
	}
	v.AppendI64(x)
	return nil
}

func (f *field) appendFloat(v *column.Vector, x float64) error {
	switch f.t.Kind {
	case types.Double:
		v.AppendF64(x)
		return nil
	case types.Float:
		if float64(float32(x)) != x {
			return f.misfit(strconv.FormatFloat(x, 'g', -1, 64), "more digits than a FLOAT holds")
		}
		v.AppendF64(x)
		return nil
	}
	var buf [32]byte
	return f.appendText(v, strconv.AppendFloat(buf[:0], x, 'g', -1, 64))
}

// misfit is the error of a value that its type does not hold.
func (f *field) misfit(value, reason string) error {
	if r := []rune(value); len(r) > 60 {
		value = string(r[:60]) + "…"
	}
	return fmt.Errorf("value %s is not %s: %s", value, f.t.AsNullable(), reason)
}

func (f *field) appendText(v *column.Vector, x []byte) error {
	switch t := f.t; t.Kind {
	case types.VarChar:
		if !utf8.Valid(x) {
			return f.misfit(fmt.Sprintf("x'%x'", x[:min(len(x), 30)]), "not valid UTF-8")
		}
		v.AppendBytes(x)
	case types.Char:
		if !utf8.Valid(x) {
			return f.misfit(fmt.Sprintf("x'%x'", x[:min(len(x), 30)]), "not valid UTF-8")
		}
		v.AppendBytes(f.padded(x))
	case types.Binary, types.VarBinary:
		v.AppendBytes(x)
	case types.Decimal:
		if t.Wide() {
			n, err := types.ParseDecimalExact(x, t.Precision, t.Scale)
			if err != nil {
				return f.worded(err, x)
			}
			v.AppendI128(n)
			return nil
		}
		if n, ok := shortDecimal(x, t.Precision, t.Scale); ok {
			v.AppendI64(n)
			return nil
		}
		n, err := types.ParseDecimalExact(x, t.Precision, t.Scale)
		if err != nil {
			return f.worded(err, x)
		}
		v.AppendI128(n)
	case types.Date:
		if f.zero(x) {
			v.AppendNull()
			return nil
		}
		d, err := types.ParseISODate(x)
		if err != nil {
			return f.worded(err, x)
		}
		v.AppendI64(int64(d))
	case types.Time:
		ms, err := types.ParseISOTime(x, t.Precision)
		if err != nil {
			return f.worded(err, x)
		}
		v.AppendI64(int64(ms))
	case types.Timestamp, types.TimestampLTZ:
		if f.zero(x) {
			v.AppendNull()
			return nil
		}
		at, err := types.ParseISOTimestamp(x, t, nil)
		if err != nil {
			return f.worded(err, x)
		}
		v.AppendI64(at)
	case types.Boolean:
		if f.had.name == "bit" {
			if len(x) != 1 || x[0] > 1 {
				return f.misfit(fmt.Sprintf("x'%x'", x), "neither 0 nor 1")
			}
			v.AppendBool(x[0] == 1)
			return nil
		}
		return f.appendNumber(v, x)
	case types.TinyInt, types.SmallInt, types.Int, types.BigInt:
		return f.appendNumber(v, x)
	case types.Float, types.Double:
		d, err := strconv.ParseFloat(string(x), 64)
		if err != nil {
			return f.misfit(string(x), "not a number")
		}
		if f.had.name == "decimal" {
			if back := strconv.FormatFloat(d, 'f', len(decimals(x)), 64); back != string(x) {
				return f.misfit(string(x), "more digits than the type holds")
			}
		}
		return f.appendFloat(v, d)
	default:
		return f.misfit(string(x), "the type has no form in MySQL")
	}
	return nil
}

// decimals returns the digits after the point.
func decimals(x []byte) []byte {
	for i, c := range x {
		if c == '.' {
			return x[i+1:]
		}
	}
	return nil
}

// appendNumber reads an integer from text, which may have decimals of 0.
func (f *field) appendNumber(v *column.Vector, x []byte) error {
	n, err := types.ParseDecimalExact(x, 19, 0)
	if err != nil {
		return f.worded(err, x)
	}
	small, ok := n.Int64()
	if !ok {
		return f.misfit(string(x), "out of range")
	}
	return f.appendInt(v, small)
}

// shortDecimal reads -123.45 as the server writes a DECIMAL of exactly that scale; false for anything else.
func shortDecimal(x []byte, precision, scale int) (n int64, ok bool) {
	negative := len(x) > 0 && x[0] == '-'
	if negative {
		x = x[1:]
	}
	if scale > 0 {
		point := len(x) - scale - 1
		if point < 0 || x[point] != '.' {
			return 0, false
		}
		for _, c := range x[:point] {
			if c-'0' > 9 || n > 1e17 {
				return 0, false
			}
			n = n*10 + int64(c-'0')
		}
		x = x[point+1:]
	}
	for _, c := range x {
		if c-'0' > 9 || n > 1e17 {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if negative {
		n = -n
	}
	return n, len(x) > 0 && types.FitsInt64(n, precision)
}

// zero reports that a date is one that is read as NULL.
func (f *field) zero(x []byte) bool {
	return f.zeroNull && len(x) >= 10 && (string(x[:4]) == "0000" || string(x[5:7]) == "00" || string(x[8:10]) == "00")
}

// worded is a misfit with the reason that reading gave.
func (f *field) worded(err error, x []byte) error {
	reason := err.Error()
	var e *types.ValueError
	if errors.As(err, &e) {
		reason = e.Reason
	}
	switch {
	case f.t.Kind == types.Time:
		if !ofDay(x) {
			reason = "a TIME is from 00:00:00 to 23:59:59"
		} else if _, err := types.ParseISOTime(x, 9); err != nil {
			reason = "a TIME has 3 decimals of a second at most"
		}
		reason += "; as text it can be read: by a view on the server with CAST(" + quote(f.name) + " AS CHAR), or by a table WITH ('connector' = 'jdbc') that declares the column STRING"
	case f.t.IsTemporal() && len(x) >= 10 && (string(x[:4]) == "0000" || string(x[5:7]) == "00" || string(x[8:10]) == "00"):
		reason = "there is no such day; with zeroDateTimeBehavior=convertToNull in the address it is read as NULL"
	}
	return f.misfit(string(x), reason)
}

// ofDay reports that a time is of the 24 hours of a day: the server's go from -838 to 838.
func ofDay(x []byte) bool {
	return len(x) > 2 && x[2] == ':' && string(x[:2]) < "24" && x[0] != '-'
}

// padded gives a CHAR the blanks that the server keeps to itself.
func (f *field) padded(x []byte) []byte {
	if f.had.name != "char" {
		return x
	}
	if n := utf8.RuneCount(x); n < f.t.Precision {
		x = append([]byte(nil), x...)
		for ; n < f.t.Precision; n++ {
			x = append(x, ' ')
		}
	}
	return x
}

// readFault says why a column cannot be read as a type, "" when it can; what depends on the value is found at its row.
func readFault(t types.Type, had declared) string {
	if _, reason := declaredType(t, &facts{maria: true}); reason != "" {
		return reason
	}
	binary := false
	switch had.name {
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
		binary = true
	case "bit":
		if t.Kind == types.Boolean && had.arg(0, 1) == 1 || t.IsBinary() {
			return ""
		}
		return "bits are read as BOOLEAN or BINARY"
	}
	if t.IsBinary() && !binary && readType(had, nil).Kind != types.VarBinary {
		return "text and numbers are not read as bytes"
	}
	if !t.IsBinary() && binary && !t.IsString() {
		return "bytes are read as BINARY, VARBINARY or STRING"
	}
	return ""
}
