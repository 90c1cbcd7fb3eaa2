package mysql

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/types"
)

// Limits of the server's types.
const (
	maxChar   = 255   // characters of CHAR, bytes of BINARY
	maxRow    = 65535 // bytes of a row, long texts aside
	maxKey    = 3072  // bytes of a key
	charBytes = 4     // of a character in utf8mb4
)

// mapping is one line of the type table: what a SQL type is declared as. Whatever is declared is read back as the
// same type.
type mapping struct {
	kind    types.Kind
	sql     string // as documents write it
	stored  string
	notes   string
	declare func(t types.Type, f *facts) (declared, reason string)
}

func plain(name string) func(types.Type, *facts) (string, string) {
	return func(types.Type, *facts) (string, string) { return name, "" }
}

func withDigits(name string) func(types.Type, *facts) (string, string) {
	return func(t types.Type, _ *facts) (string, string) {
		if t.Precision > 6 {
			return "", fmt.Sprintf("MySQL keeps at most 6 decimals of a second, and %s has %d; CAST it to one of precision 6 or less", t.AsNullable(), t.Precision)
		}
		return name + "(" + strconv.Itoa(t.Precision) + ")", ""
	}
}

// mappings is a function because a package has no variables.
func mappings() []mapping {
	return []mapping{
		{types.Boolean, "BOOLEAN", "TINYINT(1)", "1 and 0", plain("TINYINT(1)")},
		{types.TinyInt, "TINYINT", "TINYINT", "", plain("TINYINT")},
		{types.SmallInt, "SMALLINT", "SMALLINT", "", plain("SMALLINT")},
		{types.Int, "INT", "INT", "", plain("INT")},
		{types.BigInt, "BIGINT", "BIGINT", "", plain("BIGINT")},
		{types.Float, "FLOAT", "FLOAT", "NaN and the infinities are errors at their row; MariaDB makes -0.0 to 0.0", plain("FLOAT")},
		{types.Double, "DOUBLE", "DOUBLE", "NaN and the infinities are errors at their row; MariaDB makes -0.0 to 0.0", plain("DOUBLE")},
		{types.Decimal, "DECIMAL(p, s)", "DECIMAL(p,s)", "on MySQL, unlike MariaDB, s is 30 at most", declareDecimal},
		{types.Char, "CHAR(n)", "CHAR(n)", "n is 255 at most", declareChar},
		{types.VarChar, "VARCHAR(n)", "VARCHAR(n)", "four bytes a character count towards a row's 65,535", declareVarChar},
		{types.VarChar, "STRING", "LONGTEXT", "no part of a key", nil},
		{types.Binary, "BINARY(n)", "BINARY(n)", "n is 255 at most", declareBinary},
		{types.VarBinary, "VARBINARY(n)", "VARBINARY(n)", "counts towards a row's 65,535 bytes", declareVarBinary},
		{types.VarBinary, "BYTES", "LONGBLOB", "no part of a key", nil},
		{types.Date, "DATE", "DATE", "", plain("DATE")},
		{types.Time, "TIME(p)", "TIME(p)", "p is 6 at most; a value is read from 00:00:00 to 23:59:59, with 3 decimals at most: else it is an error at its row, and can be read as STRING", withDigits("TIME")},
		{types.Timestamp, "TIMESTAMP(p)", "DATETIME(p)", "p is 6 at most", withDigits("DATETIME")},
		{types.TimestampLTZ, "TIMESTAMP_LTZ(p)", "TIMESTAMP(p)", "p is 6 at most; from 1970-01-01 00:00:01 to 2038-01-19 03:14:07 UTC, later only on newer servers: else an error at its row", withDigits("TIMESTAMP")},
	}
}

func declareDecimal(t types.Type, f *facts) (string, string) {
	if most := f.maxScale(); t.Scale > most {
		return "", fmt.Sprintf("MySQL keeps at most %d decimals, and %s has %d", most, t.AsNullable(), t.Scale)
	}
	return fmt.Sprintf("DECIMAL(%d,%d)", t.Precision, t.Scale), ""
}

func declareChar(t types.Type, _ *facts) (string, string) {
	if t.Precision > maxChar {
		return "", fmt.Sprintf("MySQL's CHAR has at most %d characters; CAST it to VARCHAR(%d) or STRING", maxChar, t.Precision)
	}
	return fmt.Sprintf("CHAR(%d)", t.Precision), ""
}

func declareVarChar(t types.Type, _ *facts) (string, string) {
	if t.Precision == types.MaxLength {
		return "LONGTEXT", ""
	}
	if t.Precision*charBytes > maxRow-2 {
		return "", fmt.Sprintf("MySQL's VARCHAR has at most %d characters; CAST it to STRING", (maxRow-2)/charBytes)
	}
	return fmt.Sprintf("VARCHAR(%d)", t.Precision), ""
}

func declareBinary(t types.Type, _ *facts) (string, string) {
	if t.Precision > maxChar {
		return "", fmt.Sprintf("MySQL's BINARY has at most %d bytes; CAST it to VARBINARY(%d) or BYTES", maxChar, t.Precision)
	}
	return fmt.Sprintf("BINARY(%d)", t.Precision), ""
}

func declareVarBinary(t types.Type, _ *facts) (string, string) {
	if t.Precision == types.MaxLength {
		return "LONGBLOB", ""
	}
	if t.Precision > maxRow-2 {
		return "", fmt.Sprintf("MySQL's VARBINARY has at most %d bytes; CAST it to BYTES", maxRow-2)
	}
	return fmt.Sprintf("VARBINARY(%d)", t.Precision), ""
}

// declaredType returns the type as which a column is made, "" with a reason when the server has none.
func declaredType(t types.Type, f *facts) (declared, reason string) {
	if t.Kind == types.Null {
		return "", "a column needs a type; write CAST(NULL AS <type>)"
	}
	for _, m := range mappings() {
		if m.kind == t.Kind && m.declare != nil {
			return m.declare(t, f)
		}
	}
	hint := "; CAST it to STRING"
	if t.Kind == types.IntervalYearMonth || t.Kind == types.IntervalDayTime {
		hint += " or BIGINT"
	}
	return "", t.AsNullable().String() + " has no form in MySQL" + hint
}

// rowBytes is what a column counts towards the limit of a row.
func rowBytes(t types.Type) int {
	switch t.Kind {
	case types.Boolean, types.TinyInt:
		return 1
	case types.SmallInt:
		return 2
	case types.Int, types.Float, types.Date:
		return 4
	case types.BigInt, types.Double, types.Time, types.Timestamp, types.TimestampLTZ:
		return 8
	case types.Decimal:
		return 4 * (t.Precision/9 + 2)
	case types.Char:
		return t.Precision * charBytes
	case types.Binary:
		return t.Precision
	}
	switch {
	case t.Precision == types.MaxLength:
		return 12
	case t.Kind == types.VarChar:
		return t.Precision*charBytes + 2
	}
	return t.Precision + 2
}

// keyWidth is what a column counts towards the limit of a key.
func keyWidth(t types.Type) int {
	if n := rowBytes(t); t.Kind == types.VarChar || t.Kind == types.VarBinary {
		return n - 2
	} else {
		return n
	}
}

// TypeTable lists how types are written and read.
func (Dialect) TypeTable() []server.TypeMapping {
	var list []server.TypeMapping
	for _, m := range mappings() {
		list = append(list, server.TypeMapping{SQL: m.sql, Stored: m.stored, Read: m.sql, Notes: m.notes})
	}
	for _, f := range foreignTypes() {
		list = append(list, server.TypeMapping{Stored: f.stored, Read: f.read, Notes: f.notes})
	}
	return list
}

// foreign is a type of the server that is only read.
type foreign struct {
	names  []string // without parameters, lower case
	stored string   // as documents write it
	read   string
	notes  string
	of     func(d declared) types.Type
}

// declared is a column's type as the server writes it, taken apart.
type declared struct {
	name     string // lower case
	args     []int
	unsigned bool
	members  []string // of enum and set
}

func (d declared) arg(i, otherwise int) int {
	if i < len(d.args) {
		return d.args[i]
	}
	return otherwise
}

func foreignTypes() []foreign {
	text := func(declared) types.Type { return types.String() }
	bytes := func(declared) types.Type { return types.Bytes() }
	return []foreign{
		{nil, "TINYINT UNSIGNED", "SMALLINT", "", nil},
		{nil, "SMALLINT UNSIGNED", "INT", "", nil},
		{[]string{"mediumint"}, "MEDIUMINT, also UNSIGNED", "INT", "", func(declared) types.Type { return types.Of(types.Int) }},
		{nil, "INT UNSIGNED", "BIGINT", "", nil},
		{nil, "BIGINT UNSIGNED", "DECIMAL(20, 0)", "", nil},
		{nil, "DECIMAL(p,s), p above 38", "STRING", "", nil},
		{nil, "TINYINT(1)", "BOOLEAN", "a value other than 0 and 1 is an error; with the parameter tinyInt1isBit=false of the address it is TINYINT", nil},
		{[]string{"bit"}, "BIT(n)", "BOOLEAN for n = 1, else BINARY", "", func(d declared) types.Type {
			if n := d.arg(0, 1); n > 1 {
				return types.WithPrecision(types.Binary, (n+7)/8)
			}
			return types.Of(types.Boolean)
		}},
		{[]string{"year"}, "YEAR", "SMALLINT", "", func(declared) types.Type { return types.Of(types.SmallInt) }},
		{[]string{"tinytext", "text", "mediumtext", "longtext"}, "TINYTEXT, TEXT, MEDIUMTEXT", "STRING", "any character set", text},
		{[]string{"tinyblob", "blob", "mediumblob", "longblob"}, "TINYBLOB, BLOB, MEDIUMBLOB", "BYTES", "", bytes},
		{[]string{"enum", "set"}, "ENUM, SET", "STRING", "an ENUM takes its members only, a SET is not written", text},
		{[]string{"json"}, "JSON", "STRING", "MySQL gives the text in its own form", text},
		{[]string{"uuid", "inet4", "inet6"}, "UUID, INET4, INET6", "STRING", "not written", text},
		{[]string{"geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection", "geomcollection", "vector"},
			"geometries, VECTOR", "BYTES", "as the server keeps them; not written", bytes},
	}
}

// readType returns the type as which a declared type is read.
func readType(d declared, p parameters) types.Type {
	unsigned := func(signed, wider types.Kind) types.Type {
		if d.unsigned {
			return types.Of(wider)
		}
		return types.Of(signed)
	}
	switch d.name {
	case "tinyint":
		if !d.unsigned && d.arg(0, 4) == 1 && p.boolsOfTinyInt() {
			return types.Of(types.Boolean)
		}
		return unsigned(types.TinyInt, types.SmallInt)
	case "smallint":
		return unsigned(types.SmallInt, types.Int)
	case "int":
		return unsigned(types.Int, types.BigInt)
	case "bigint":
		if d.unsigned {
			return types.DecimalOf(20, 0)
		}
		return types.Of(types.BigInt)
	case "float":
		return types.Of(types.Float)
	case "double":
		return types.Of(types.Double)
	case "decimal":
		precision := d.arg(0, 10)
		if precision > types.MaxDecimalPrecision {
			return types.String()
		}
		return types.DecimalOf(max(precision, 1), d.arg(1, 0))
	case "char":
		return types.WithPrecision(types.Char, max(d.arg(0, 1), 1))
	case "varchar":
		return types.WithPrecision(types.VarChar, max(d.arg(0, 1), 1))
	case "binary":
		return types.WithPrecision(types.Binary, max(d.arg(0, 1), 1))
	case "varbinary":
		return types.WithPrecision(types.VarBinary, max(d.arg(0, 1), 1))
	case "date":
		return types.Of(types.Date)
	case "time":
		return types.WithPrecision(types.Time, d.arg(0, 0))
	case "datetime":
		return types.WithPrecision(types.Timestamp, d.arg(0, 0))
	case "timestamp":
		return types.WithPrecision(types.TimestampLTZ, d.arg(0, 0))
	}
	for _, f := range foreignTypes() {
		for _, n := range f.names {
			if n == d.name {
				return f.of(d)
			}
		}
	}
	return types.String()
}

// parseDeclared takes a column's type apart, such as decimal(10,2) unsigned or enum('a','it”s').
func parseDeclared(text string) (d declared) {
	open := strings.IndexByte(text, '(')
	if open < 0 {
		d.name, d.unsigned = cutUnsigned(text)
		return d
	}
	d.name = strings.ToLower(strings.TrimSpace(text[:open]))
	if d.name == "enum" || d.name == "set" {
		d.members = members(text[open+1:])
		return d
	}
	end := strings.IndexByte(text, ')')
	if end < open {
		return d
	}
	for _, a := range strings.Split(text[open+1:end], ",") {
		if v, err := strconv.Atoi(strings.TrimSpace(a)); err == nil {
			d.args = append(d.args, v)
		}
	}
	_, d.unsigned = cutUnsigned(text[end+1:])
	return d
}

func cutUnsigned(text string) (name string, unsigned bool) {
	text = strings.ToLower(text)
	name, _, _ = strings.Cut(strings.TrimSpace(text), " ")
	return name, strings.Contains(text, "unsigned") || strings.Contains(text, "zerofill")
}

// members reads 'a','b' up to the bracket.
func members(text string) (list []string) {
	for len(text) > 0 && text[0] == '\'' {
		n := quoted(text)
		list = append(list, unescaped(text[1:max(n-1, 1)]))
		text = strings.TrimPrefix(text[n:], ",")
	}
	return list
}

// unescaped is what stands between the quotes of a text as the server writes it.
func unescaped(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		if (c == '\\' || c == '\'') && i+1 < len(text) { // '' is one quote
			i++
			c = text[i]
			if at := strings.IndexByte("0nrtZ", c); at >= 0 && text[i-1] == '\\' {
				c = "\x00\n\r\t\x1a"[at]
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}
