package postgres

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/types"
)

// oid is that of a type in pg_type. Those of the built-in types never change.
type oid uint32

// The built-in types that have a SQL type.
const (
	oidBool        oid = 16
	oidBytea       oid = 17
	oidInt8        oid = 20
	oidInt2        oid = 21
	oidInt4        oid = 23
	oidText        oid = 25
	oidOid         oid = 26
	oidJSON        oid = 114
	oidXML         oid = 142
	oidFloat4      oid = 700
	oidFloat8      oid = 701
	oidBpchar      oid = 1042
	oidVarchar     oid = 1043
	oidDate        oid = 1082
	oidTime        oid = 1083
	oidTimestamp   oid = 1114
	oidTimestamptz oid = 1184
	oidInterval    oid = 1186
	oidNumeric     oid = 1700
	oidUUID        oid = 2950
	oidJSONB       oid = 3802
)

// arrays are the array types of built-in types, with their elements.
func elementOf(o oid) (oid, bool) {
	switch o {
	case 1000:
		return oidBool, true
	case 1001:
		return oidBytea, true
	case 1005:
		return oidInt2, true
	case 1007:
		return oidInt4, true
	case 1016:
		return oidInt8, true
	case 1009:
		return oidText, true
	case 1014:
		return oidBpchar, true
	case 1015:
		return oidVarchar, true
	case 1021:
		return oidFloat4, true
	case 1022:
		return oidFloat8, true
	case 1182:
		return oidDate, true
	case 1183:
		return oidTime, true
	case 1115:
		return oidTimestamp, true
	case 1185:
		return oidTimestamptz, true
	case 1231:
		return oidNumeric, true
	}
	return 0, false
}

// The longest character type, and the most that a VARCHAR can be declared with here.
const maxChars = 10485760

// storedType is the type that a column has on the server, domains resolved.
type storedType struct {
	oid  oid
	mod  int    // typmod
	name string // as the server writes it
	// What text the server alters in a part of a composite type, an array or a range: "cut" or "time", see exact.go.
	parts string
}

// Bits of an interval's typmod, as src/include/utils/datetime.h has them.
const (
	intervalYearMonth = 1<<2 | 1<<1
	intervalDayTime   = 1<<3 | 1<<10 | 1<<11 | 1<<12
)

// intervalParts returns the fields and the decimals of an interval's typmod.
func intervalParts(mod int) (fields, decimals int) {
	if mod < 0 {
		return 0x7fff, 6
	}
	fields, decimals = mod>>16&0x7fff, mod&0xffff
	if decimals == 0xffff {
		decimals = 6
	}
	return fields, decimals
}

// numericParts returns the declared precision and scale; free says that none is declared.
func numericParts(mod int) (precision, scale int, free bool) {
	if mod < 4 {
		return 0, 0, true
	}
	m := mod - 4
	scale = m & 0x7ff
	if scale > 1000 { // an 11-bit two's complement
		scale -= 2048
	}
	return m >> 16 & 0xffff, scale, false
}

// The form that a numeric without precision and scale is read in.
const (
	freePrecision = 38
	freeScale     = 18
)

// readType is the SQL type that a stored type is read as. What has none of its own is read as STRING, in the text
// form that the server gives it.
func readType(s storedType) types.Type {
	if e, ok := elementOf(s.oid); ok {
		return types.ArrayOf(readType(storedType{oid: e, mod: s.mod}))
	}
	fraction := func(k types.Kind) types.Type {
		if s.mod < 0 || s.mod > 6 {
			return types.WithPrecision(k, 6)
		}
		return types.WithPrecision(k, s.mod)
	}
	length := func(k types.Kind) types.Type {
		if s.mod < 5 {
			return types.String()
		}
		return types.WithPrecision(k, s.mod-4)
	}
	switch s.oid {
	case oidBool:
		return types.Of(types.Boolean)
	case oidInt2:
		return types.Of(types.SmallInt)
	case oidInt4:
		return types.Of(types.Int)
	case oidInt8, oidOid:
		return types.Of(types.BigInt)
	case oidFloat4:
		return types.Of(types.Float)
	case oidFloat8:
		return types.Of(types.Double)
	case oidBytea:
		return types.Bytes()
	case oidBpchar:
		return length(types.Char)
	case oidVarchar:
		return length(types.VarChar)
	case oidDate:
		return types.Of(types.Date)
	case oidTime:
		return fraction(types.Time)
	case oidTimestamp:
		return fraction(types.Timestamp)
	case oidTimestamptz:
		return fraction(types.TimestampLTZ)
	case oidInterval:
		switch fields, decimals := intervalParts(s.mod); {
		case fields == intervalYearMonth:
			return types.Of(types.IntervalYearMonth)
		case fields == intervalDayTime && decimals <= 3:
			return types.Of(types.IntervalDayTime)
		}
	case oidNumeric:
		p, sc, free := numericParts(s.mod)
		switch {
		case free:
			return types.DecimalOf(freePrecision, freeScale)
		case sc < 0:
			p, sc = p-sc, 0
		case sc > p:
			p = sc
		}
		if p <= types.MaxDecimalPrecision {
			return types.DecimalOf(p, sc)
		}
	}
	return types.String()
}

// declared returns the type that a column of t is declared with, and the condition, of a column written $, that holds
// its values to t where the type alone does not; or why PostgreSQL cannot hold t.
func declared(t types.Type) (sql, check, reason string) {
	n := strconv.Itoa(t.Precision)
	switch t.Kind {
	case types.Boolean:
		return "boolean", "", ""
	case types.TinyInt:
		return "smallint", "$ >= -128 AND $ <= 127", ""
	case types.SmallInt:
		return "smallint", "", ""
	case types.Int:
		return "integer", "", ""
	case types.BigInt:
		return "bigint", "", ""
	case types.Float:
		return "real", "", ""
	case types.Double:
		return "double precision", "", ""
	case types.Decimal:
		return fmt.Sprintf("numeric(%d,%d)", t.Precision, t.Scale), "", ""
	case types.Char, types.VarChar:
		switch {
		case t.Precision == types.MaxLength:
			return "text", "", ""
		case t.Precision > maxChars:
			return "", "", fmt.Sprintf("%s is longer than the %d characters that PostgreSQL takes; CAST it to STRING", t.AsNullable(), maxChars)
		case t.Kind == types.Char:
			return "character(" + n + ")", "", ""
		}
		return "character varying(" + n + ")", "", ""
	case types.Binary:
		return "bytea", "octet_length($) = " + n, ""
	case types.VarBinary:
		if t.Precision == types.MaxLength {
			return "bytea", "", ""
		}
		return "bytea", "octet_length($) <= " + n, ""
	case types.Date:
		return "date", "", ""
	case types.Time, types.Timestamp, types.TimestampLTZ:
		if t.Precision > 6 {
			six := types.WithPrecision(t.Kind, 6)
			return "", "", fmt.Sprintf("PostgreSQL keeps at most 6 decimals of a second, and %s has %d; CAST it to %s", t.AsNullable(), t.Precision, six)
		}
		name := map[types.Kind]string{types.Time: "time", types.Timestamp: "timestamp", types.TimestampLTZ: "timestamp"}[t.Kind]
		zone := ""
		if t.Kind == types.TimestampLTZ {
			zone = " with time zone"
		}
		return name + "(" + n + ")" + zone, "", ""
	case types.IntervalYearMonth:
		return "interval year to month", "", ""
	case types.IntervalDayTime:
		return "interval day to second(3)", "", ""
	case types.Array:
		e := t.Element()
		switch e.Kind {
		case types.TinyInt, types.Binary, types.IntervalYearMonth, types.IntervalDayTime, types.Array, types.Map, types.Multiset, types.Row:
			return "", "", t.AsNullable().String() + " has no form in PostgreSQL; CAST it to STRING"
		case types.VarBinary:
			if e.Precision != types.MaxLength {
				return "", "", t.AsNullable().String() + " has no form in PostgreSQL; CAST it to ARRAY<BYTES>"
			}
		}
		sql, _, reason := declared(e)
		if reason != "" {
			return "", "", reason
		}
		return sql + "[]", "", ""
	case types.Null:
		return "", "", "a column needs a type; write CAST(NULL AS <type>)"
	}
	return "", "", t.AsNullable().String() + " has no form in PostgreSQL; CAST it to STRING"
}

// storedCheck is the condition of declared as the server prints it.
func storedCheck(t types.Type) string {
	_, check, _ := declared(t)
	if t.Kind == types.TinyInt {
		return "(($ >= '-128'::integer) AND ($ <= 127))"
	}
	return "(" + check + ")"
}

// ownColumn is what a column of a table of ours is on the server.
func ownColumn(c types.Column) *columnInfo {
	sql, _, _ := declared(c.Type)
	return &columnInfo{name: c.Name, shown: sql, stored: ownStored(c.Type), t: c.Type}
}

// ownStored is the stored type of what declared gives for a type.
func ownStored(t types.Type) storedType {
	switch t.Kind {
	case types.Boolean:
		return storedType{oid: oidBool, mod: -1}
	case types.TinyInt, types.SmallInt:
		return storedType{oid: oidInt2, mod: -1}
	case types.Int:
		return storedType{oid: oidInt4, mod: -1}
	case types.BigInt:
		return storedType{oid: oidInt8, mod: -1}
	case types.Float:
		return storedType{oid: oidFloat4, mod: -1}
	case types.Double:
		return storedType{oid: oidFloat8, mod: -1}
	case types.Decimal:
		return storedType{oid: oidNumeric, mod: t.Precision<<16 | t.Scale + 4}
	case types.Char:
		return storedType{oid: oidBpchar, mod: t.Precision + 4}
	case types.VarChar:
		if t.Precision == types.MaxLength {
			return storedType{oid: oidText, mod: -1}
		}
		return storedType{oid: oidVarchar, mod: t.Precision + 4}
	case types.Binary, types.VarBinary:
		return storedType{oid: oidBytea, mod: -1}
	case types.Date:
		return storedType{oid: oidDate, mod: -1}
	case types.Time:
		return storedType{oid: oidTime, mod: t.Precision}
	case types.Timestamp:
		return storedType{oid: oidTimestamp, mod: t.Precision}
	case types.TimestampLTZ:
		return storedType{oid: oidTimestamptz, mod: t.Precision}
	case types.IntervalYearMonth:
		return storedType{oid: oidInterval, mod: intervalYearMonth<<16 | 0xffff}
	case types.IntervalDayTime:
		return storedType{oid: oidInterval, mod: intervalDayTime<<16 | 3}
	case types.Array:
		e := ownStored(t.Element())
		for _, array := range []oid{1000, 1001, 1005, 1007, 1016, 1009, 1014, 1015, 1021, 1022, 1182, 1183, 1115, 1185, 1231} {
			if of, _ := elementOf(array); of == e.oid {
				return storedType{oid: array, mod: e.mod}
			}
		}
	}
	return storedType{}
}

// storedForm is the declared type with its condition, for EXPLAIN.
func storedForm(t types.Type) string {
	sql, check, _ := declared(t)
	switch t.Kind {
	case types.TinyInt:
		return sql + ", -128 to 127"
	case types.Binary:
		return sql + ", of " + strconv.Itoa(t.Precision) + " bytes"
	case types.VarBinary:
		if check != "" {
			return sql + ", of at most " + strconv.Itoa(t.Precision) + " bytes"
		}
	}
	return sql
}

// TypeTable lists how types are kept and read.
func (Dialect) TypeTable() []server.TypeMapping {
	var table []server.TypeMapping
	written := func(t types.Type, notes string) {
		sql, check, _ := declared(t)
		if check != "" {
			sql += " CHECK (" + strings.ReplaceAll(check, "$", "c") + ")"
		}
		table = append(table, server.TypeMapping{SQL: t.String(), Stored: sql, Read: t.String(), Notes: notes})
	}
	for _, k := range []types.Kind{types.Boolean, types.TinyInt, types.SmallInt, types.Int, types.BigInt, types.Float, types.Double} {
		written(types.Of(k), "")
	}
	table = append(table,
		server.TypeMapping{SQL: "DECIMAL(p, s)", Stored: "numeric(p,s)", Read: "DECIMAL(p, s)"},
		server.TypeMapping{SQL: "CHAR(n)", Stored: "character(n)", Read: "CHAR(n)", Notes: "a value of fewer characters is refused: PostgreSQL would pad it"},
		server.TypeMapping{SQL: "VARCHAR(n)", Stored: "character varying(n)", Read: "VARCHAR(n)", Notes: "a value of more characters is refused"},
	)
	written(types.String(), "a NUL character is refused")
	table = append(table,
		server.TypeMapping{SQL: "BINARY(n)", Stored: "bytea CHECK (octet_length(c) = n)", Read: "BINARY(n)"},
		server.TypeMapping{SQL: "VARBINARY(n)", Stored: "bytea CHECK (octet_length(c) <= n)", Read: "VARBINARY(n)"},
	)
	written(types.Bytes(), "")
	written(types.Of(types.Date), "")
	table = append(table,
		server.TypeMapping{SQL: "TIME(p)", Stored: "time(p)", Read: "TIME(p)", Notes: "p at most 6; a stored time with more than 3 decimals, and 24:00:00, are no TIME"},
		server.TypeMapping{SQL: "TIMESTAMP(p)", Stored: "timestamp(p)", Read: "TIMESTAMP(p)", Notes: "p at most 6; infinity and years outside 1 to 9999 are no TIMESTAMP"},
		server.TypeMapping{SQL: "TIMESTAMP_LTZ(p)", Stored: "timestamp(p) with time zone", Read: "TIMESTAMP_LTZ(p)", Notes: "as TIMESTAMP"},
	)
	written(types.Of(types.IntervalYearMonth), "")
	written(types.Of(types.IntervalDayTime), "")
	table = append(table,
		server.TypeMapping{SQL: "ARRAY<t>", Stored: "t[]", Read: "ARRAY<t>", Notes: "of BOOLEAN, numbers but TINYINT, text, BYTES and times; a stored array of several dimensions is no ARRAY"},
		server.TypeMapping{SQL: "MAP, MULTISET, ROW", Notes: "refused; CAST to STRING"},
		server.TypeMapping{Stored: "numeric", Read: "DECIMAL(38, 18)", Notes: "a value that it cannot hold, NaN and infinity among them, is refused; 'postgresql.columns.<column>' = 'STRING' reads it as text"},
		server.TypeMapping{Stored: "numeric(p,s) of more than 38 digits", Read: "STRING"},
		server.TypeMapping{Stored: "oid", Read: "BIGINT"},
		server.TypeMapping{Stored: "domains", Read: "as the type they are over"},
		server.TypeMapping{Stored: "json, jsonb, xml, uuid, enums, inet, other intervals, ranges, composites and all other types", Read: "STRING", Notes: "as the server's text form, which is written back, too; text that the server would cut or round, and all text for money, is refused"},
	)
	return table
}
