package mysql

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// target is a column that values are written to.
type target struct {
	name    string
	t       types.Type // of the values
	notNull bool
	// What the server would do to a value without a word is checked here.
	characters int      // the most of a text; 0: any
	char       bool     // trailing blanks are not kept
	padded     bool     // a CHAR of ours, whose trailing blanks the server does not keep and adds to no comparison
	bytes      int      // exactly so many; 0: any
	members    []string // an ENUM takes a number for the place of a member
	year       bool     // two digits become four
}

// stagedTarget is a column of a table that we declare ourselves.
func stagedTarget(c types.Column, key bool) target {
	g := target{name: c.Name, t: c.Type, notNull: c.Type.NotNull || key}
	switch c.Type.Kind {
	case types.Char, types.VarChar:
		if c.Type.Precision != types.MaxLength {
			g.characters = c.Type.Precision
		}
	}
	return g
}

// newTarget checks that values of a column's type can be written to what the server has, unaltered but for what is
// found at their row.
func newTarget(c types.Column, had *tableColumn) (target, error) {
	t, d := c.Type, had.declared
	g := target{name: c.Name, t: t, notNull: !had.nullable}
	if _, reason := declaredType(t, &facts{maria: true}); reason != "" {
		return g, errors.New(reason)
	}
	refuse := func(why string) (target, error) {
		return g, fmt.Errorf("values of %s cannot be written there: %s", t.AsNullable(), why)
	}
	natural := readType(d, nil)
	switch d.name {
	case "tinyint", "smallint", "mediumint", "int", "bigint":
		if t.IsInteger() || t.Kind == types.Boolean || t.Kind == types.Decimal && t.Scale == 0 {
			return g, nil
		}
		return refuse("they may have decimals or be no numbers")
	case "year":
		g.year = true
		if t.IsInteger() {
			return g, nil
		}
		return refuse("a YEAR is an integer")
	case "float", "double":
		switch {
		case len(d.args) > 1:
			return refuse("the server rounds them to a number of decimals")
		case t.Kind == types.Float, t.Kind == types.Double && d.name == "double":
			return g, nil
		case t.Kind == types.TinyInt, t.Kind == types.SmallInt, t.Kind == types.Int && d.name == "double":
			return g, nil
		}
		return refuse("they may have more digits; CAST them")
	case "decimal":
		whole, scale := d.arg(0, 10)-d.arg(1, 0), d.arg(1, 0)
		switch {
		case t.Kind == types.Decimal && t.Scale <= scale, t.IsInteger() && whole >= 0:
			return g, nil
		case t.IsString():
			return refuse("CAST them to a DECIMAL")
		}
		return refuse("the server rounds decimals; CAST them")
	case "char", "varchar", "tinytext", "text", "mediumtext", "longtext":
		if !t.IsString() {
			return refuse("CAST them to STRING")
		}
		if d.name == "char" || d.name == "varchar" {
			g.characters = max(d.arg(0, 1), 1)
		}
		g.char = d.name == "char" && t.Kind != types.Char
		g.padded = d.name == "char" && t.Kind == types.Char
		return g, nil
	case "enum":
		g.members = d.members
		if t.IsString() {
			return g, nil
		}
		return refuse("an ENUM takes texts")
	case "json":
		if t.IsString() {
			return g, nil
		}
		return refuse("JSON is written as STRING")
	case "binary":
		if t.IsBinary() {
			if t.Kind != types.Binary || t.Precision != d.arg(0, 1) {
				g.bytes = d.arg(0, 1)
			}
			return g, nil
		}
		return refuse("CAST them to BYTES")
	case "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
		if t.IsBinary() {
			return g, nil
		}
		return refuse("CAST them to BYTES")
	case "bit":
		if n := d.arg(0, 1); t.Kind == types.Boolean || t.IsBinary() && n > 1 {
			g.bytes = (n + 7) / 8 // the server would put zeros before fewer
			return g, nil
		}
		return refuse("bits are written as BOOLEAN or BINARY")
	case "date":
		if t.Kind == types.Date {
			return g, nil
		}
		return refuse("CAST them to DATE")
	case "time":
		if t.Kind == types.Time && min(t.Precision, 3) <= d.arg(0, 0) {
			return g, nil
		}
		return refuse("CAST them to " + natural.AsNullable().String())
	case "datetime", "timestamp":
		if (t.Kind == types.Timestamp || t.Kind == types.TimestampLTZ) && t.Precision <= d.arg(0, 0) {
			return g, nil
		}
		return refuse("CAST them to " + natural.AsNullable().String())
	}
	return refuse("columns of this type are only read")
}

// appendValue appends row i of v as a literal.
func (g *target) appendValue(dst []byte, v *column.Vector, i int) ([]byte, error) {
	if v.IsNull(i) {
		if g.notNull {
			return dst, errors.New("NULL in a NOT NULL column")
		}
		return append(dst, "NULL"...), nil
	}
	switch t := v.Type; t.Kind {
	case types.Boolean:
		if v.Bool[i] {
			return append(dst, '1'), nil
		}
		return append(dst, '0'), nil
	case types.TinyInt, types.SmallInt, types.Int, types.BigInt:
		n := v.Int64(i)
		if g.year && n != 0 && (n < 1901 || n > 2155) {
			return dst, fmt.Errorf("value %d: a YEAR is 0 or from 1901 to 2155", n)
		}
		return strconv.AppendInt(dst, n, 10), nil
	case types.Float:
		return appendFloat(dst, float64(v.F32[i]))
	case types.Double:
		return appendFloat(dst, v.F64[i])
	case types.Decimal:
		if t.Wide() {
			return types.AppendDecimal(dst, v.I128[i], t.Scale), nil
		}
		return types.AppendDecimal64(dst, v.I64[i], t.Scale), nil
	case types.Char, types.VarChar:
		x := v.Value(i)
		if err := g.checkText(x); err != nil {
			return dst, err
		}
		if g.padded {
			x = bytes.TrimRight(x, " ")
		}
		return appendText(dst, x), nil
	case types.Binary, types.VarBinary:
		x := v.Value(i)
		if g.bytes != 0 && len(x) != g.bytes {
			return dst, fmt.Errorf("value x'%x' has %d bytes, and the column keeps %d: the server would fill it up, or cut it", x[:min(len(x), 30)], len(x), g.bytes)
		}
		return appendText(append(dst, "_binary"...), x), nil
	case types.Date:
		return append(types.AppendDate(append(dst, '\''), v.I32[i]), '\''), nil
	case types.Time:
		return append(types.AppendTime(append(dst, '\''), v.I32[i], t.Precision), '\''), nil
	case types.Timestamp, types.TimestampLTZ:
		return append(types.AppendTimestamp(append(dst, '\''), v.I64[i], t, nil), '\''), nil
	}
	return dst, fmt.Errorf("values of %s have no form in MySQL", v.Type.AsNullable())
}

// appendFloat writes a number so that the server reads it as a DOUBLE, which keeps every digit.
func appendFloat(dst []byte, x float64) ([]byte, error) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return dst, fmt.Errorf("value %v: MySQL has no such number", x)
	}
	return strconv.AppendFloat(dst, x, 'e', -1, 64), nil
}

func (g *target) checkText(x []byte) error {
	if g.members != nil && !slices.Contains(g.members, string(x)) {
		return fmt.Errorf("value '%s' is no member of the ENUM", clip(x))
	}
	if g.characters > 0 && len(x) > g.characters {
		if n := utf8.RuneCount(x); n > g.characters {
			return fmt.Errorf("value '%s' has %d characters, and the column takes %d", clip(x), n, g.characters)
		}
	}
	if g.char && len(x) > 0 && x[len(x)-1] == ' ' {
		return fmt.Errorf("value '%s' ends with a blank, which a CHAR of MySQL does not keep", clip(x))
	}
	return nil
}

// clip shortens a long text at a character's border.
func clip(x []byte) string {
	const most = 60
	if len(x) <= most {
		return string(x)
	}
	end := most
	for end > 0 && !utf8.RuneStart(x[end]) {
		end--
	}
	return string(x[:end]) + "…"
}
