package sqlite

// #include "shim.h"
import "C"

import (
	"strconv"
	"strings"

	"github.com/sluice-sql/sluice/types"
)

// DeclaredType returns the type name under which a column of type t is declared, and "" with a reason
// when SQLite has no form for it yet. The affinity of each name leaves what is written untouched.
//
// DECIMAL is text of exactly s decimals, because SQLite's numbers hold no more than 15 to 18 digits; times
// are ISO text. FLOAT is declared FLOAT(24), so that it is told apart from the FLOAT of foreign files,
// which holds doubles.
func DeclaredType(t types.Type) (declared, reason string) {
	switch t.Kind {
	case types.Boolean, types.TinyInt, types.SmallInt, types.Int, types.BigInt, types.Double, types.Date,
		types.Time, types.Timestamp, types.TimestampLTZ, types.Char, types.Binary:
		return t.AsNullable().String(), ""
	case types.Float:
		return "FLOAT(24)", ""
	case types.VarChar:
		if t.Precision == types.MaxLength {
			return "TEXT", ""
		}
		return t.AsNullable().String(), ""
	case types.VarBinary:
		if t.Precision == types.MaxLength {
			return "BLOB", ""
		}
		return t.AsNullable().String(), ""
	case types.Decimal:
		return "DECIMAL_TEXT(" + strconv.Itoa(t.Precision) + "," + strconv.Itoa(t.Scale) + ")", ""
	case types.Null:
		return "", "a column needs a type; write CAST(NULL AS <type>)"
	}
	hint := "; CAST it to STRING"
	if t.Kind == types.IntervalYearMonth || t.Kind == types.IntervalDayTime {
		hint += " or BIGINT"
	}
	return "", t.AsNullable().String() + " has no form in SQLite" + hint
}

// StoredForm says how values of t are kept, for EXPLAIN's type mapping.
func StoredForm(t types.Type) string {
	switch t.Kind {
	case types.Boolean:
		return "INTEGER 0 or 1"
	case types.TinyInt, types.SmallInt, types.Int, types.BigInt:
		return "INTEGER"
	case types.Float, types.Double:
		return "REAL"
	case types.Char, types.VarChar:
		return "TEXT"
	case types.Binary, types.VarBinary:
		return "BLOB"
	case types.Decimal:
		return "TEXT with " + strconv.Itoa(t.Scale) + " decimals"
	case types.Date:
		return "TEXT YYYY-MM-DD"
	case types.Time:
		return "TEXT HH:MM:SS" + fraction(t.Precision)
	case types.Timestamp:
		return "TEXT YYYY-MM-DD HH:MM:SS" + fraction(t.Precision)
	case types.TimestampLTZ:
		return "TEXT YYYY-MM-DD HH:MM:SS" + fraction(t.Precision) + "Z"
	}
	return ""
}

func fraction(p int) string {
	if p == 0 {
		return ""
	}
	return "." + strings.Repeat("f", p)
}

// ReadType returns the SQL type under which a declared type of a foreign or own table is read, and false
// when the declaration does not say (none, or a name that SQLite gives no meaning).
func ReadType(declared string) (types.Type, bool) {
	name, args := splitDeclared(declared)
	if t, ok := ownType(name, args); ok {
		return t, true
	}
	has := func(s string) bool { return strings.Contains(name, s) }
	n := len(args)
	switch {
	case has("INT"):
		return types.Of(types.BigInt), true
	case has("CHAR") && n == 1 && args[0] > 0 && args[0] <= types.MaxLength:
		return types.WithPrecision(types.VarChar, args[0]), true
	case has("CHAR"), has("CLOB"), has("TEXT"):
		return types.String(), true
	case has("BLOB"), name == "BINARY", name == "VARBINARY":
		return types.Bytes(), true
	case (name == "NUMERIC" || name == "DECIMAL" || name == "DEC") && n > 0:
		scale := 0
		if n > 1 {
			scale = args[1]
		}
		if args[0] >= 1 && args[0] <= types.MaxDecimalPrecision && scale >= 0 && scale <= args[0] {
			return types.DecimalOf(args[0], scale), true
		}
		return types.Of(types.Double), true
	case name == "NUMERIC", name == "DECIMAL", name == "DEC", has("REAL"), has("FLOA"), has("DOUB"):
		return types.Of(types.Double), true
	case name == "DATETIME", name == "TIMESTAMP", name == "TIMESTAMP WITHOUT TIME ZONE":
		p := 6
		if n == 1 && args[0] >= 0 && args[0] <= 9 {
			p = args[0]
		}
		return types.WithPrecision(types.Timestamp, p), true
	case name == "TIME":
		return types.WithPrecision(types.Time, 3), true
	case name == "BOOL":
		return types.Of(types.Boolean), true
	}
	return types.Type{}, false
}

// ownType knows the names that DeclaredType gives.
func ownType(name string, args []int) (types.Type, bool) {
	n := len(args)
	length := func(k types.Kind) (types.Type, bool) {
		return types.WithPrecision(k, first(args)), n == 1 && args[0] >= 1 && args[0] < types.MaxLength
	}
	decimals := func(k types.Kind) (types.Type, bool) {
		return types.WithPrecision(k, first(args)), n == 1 && args[0] >= 0 && args[0] <= 9
	}
	switch name {
	case "TINYINT":
		return types.Of(types.TinyInt), n == 0
	case "SMALLINT":
		return types.Of(types.SmallInt), n == 0
	case "INT":
		return types.Of(types.Int), n == 0
	case "BIGINT":
		return types.Of(types.BigInt), n == 0
	case "BOOLEAN":
		return types.Of(types.Boolean), n == 0
	case "FLOAT":
		return types.Of(types.Float), n == 1 && args[0] == 24
	case "DOUBLE":
		return types.Of(types.Double), n == 0
	case "DATE":
		return types.Of(types.Date), n == 0
	case "TEXT":
		return types.String(), n == 0
	case "BLOB":
		return types.Bytes(), n == 0
	case "CHAR":
		return length(types.Char)
	case "VARCHAR":
		return length(types.VarChar)
	case "BINARY":
		return length(types.Binary)
	case "VARBINARY":
		return length(types.VarBinary)
	case "TIME":
		return decimals(types.Time)
	case "TIMESTAMP":
		return decimals(types.Timestamp)
	case "TIMESTAMP_LTZ":
		return decimals(types.TimestampLTZ)
	case "DECIMAL_TEXT":
		if n == 2 && args[0] >= 1 && args[0] <= types.MaxDecimalPrecision && args[1] >= 0 && args[1] <= args[0] {
			return types.DecimalOf(args[0], args[1]), true
		}
	}
	return types.Type{}, false
}

func first(args []int) int {
	if len(args) == 0 {
		return 0
	}
	return args[0]
}

// splitDeclared cuts "varchar ( 10 )" into "VARCHAR" and 10; text after the parentheses joins the name.
func splitDeclared(declared string) (name string, args []int) {
	s := strings.ToUpper(strings.Join(strings.Fields(declared), " "))
	open := strings.IndexByte(s, '(')
	end := strings.LastIndexByte(s, ')')
	if open < 0 || end < open {
		return s, nil
	}
	for _, a := range strings.Split(s[open+1:end], ",") {
		v, err := strconv.Atoi(strings.TrimSpace(a))
		if err != nil {
			args = nil
			break
		}
		args = append(args, v)
	}
	return strings.TrimSpace(strings.TrimSpace(s[:open]) + s[end+1:]), args
}

// affinity is what SQLite may turn a value into when it is stored or compared.
type affinity uint8

const (
	affinityBlob affinity = iota // none
	affinityText
	affinityNumeric
	affinityInteger
	affinityReal
)

// affinityOf is SQLite's rule for a declared type.
func affinityOf(declared string) affinity {
	s := strings.ToUpper(declared)
	has := func(x string) bool { return strings.Contains(s, x) }
	switch {
	case has("INT"):
		return affinityInteger
	case has("CHAR"), has("CLOB"), has("TEXT"):
		return affinityText
	case has("BLOB"), s == "":
		return affinityBlob
	case has("REAL"), has("FLOA"), has("DOUB"):
		return affinityReal
	}
	return affinityNumeric
}

// formOf returns the shim's form and flags of a type, for reading and writing.
func formOf(t types.Type) (form, flags C.int32_t) {
	switch t.Kind {
	case types.Boolean:
		return C.SL_BOOL, 0
	case types.TinyInt:
		return C.SL_I8, 0
	case types.SmallInt:
		return C.SL_I16, 0
	case types.Int:
		return C.SL_I32, 0
	case types.BigInt:
		return C.SL_I64, 0
	case types.Float:
		return C.SL_F32, 0
	case types.Double:
		return C.SL_F64, 0
	case types.Char, types.VarChar:
		return C.SL_TEXT, 0
	case types.Binary, types.VarBinary:
		return C.SL_BLOB, 0
	case types.Decimal:
		if t.Wide() {
			return C.SL_DEC128, 0
		}
		return C.SL_DEC64, 0
	case types.Date:
		return C.SL_DATE, 0
	case types.Time:
		return C.SL_TIME, 0
	case types.Timestamp, types.TimestampLTZ:
		form = C.SL_MICROS
		if t.Nanos() {
			form = C.SL_NANOS
		}
		if t.Kind == types.TimestampLTZ {
			flags = C.SL_UTC
		}
		return form, flags
	}
	return C.SL_NONE, 0
}
