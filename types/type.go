package types

import (
	"fmt"
	"strconv"
)

// Kind is the root of a SQL type (Flink's LogicalTypeRoot).
type Kind uint8

// The type roots. Null is the type of a bare NULL literal only; no column has it.
const (
	Null Kind = iota
	Boolean
	TinyInt
	SmallInt
	Int
	BigInt
	Float
	Double
	Decimal
	Char
	VarChar
	Binary
	VarBinary
	Date
	Time
	Timestamp
	TimestampLTZ
	IntervalYearMonth
	IntervalDayTime
	Array
	Multiset
	Map
	Row
)

// MaxLength is the length of STRING and BYTES, which are VARCHAR and VARBINARY of it.
const MaxLength = 2147483647

// MaxDecimalPrecision is the most digits a DECIMAL may have.
const MaxDecimalPrecision = 38

// Type is a SQL type. The zero value is the nullable type of a bare NULL.
//
// Precision holds the digits of a DECIMAL, the fractional digits of TIME, TIMESTAMP and TIMESTAMP_LTZ,
// and the length (characters or bytes) of CHAR, VARCHAR, BINARY and VARBINARY. Scale is a DECIMAL's.
// Compare types with [Type.Equal] or [Type.SameKind].
type Type struct {
	Kind      Kind
	NotNull   bool
	Precision int
	Scale     int
	Fields    []Field // the parts of an ARRAY, MULTISET, MAP or ROW; see the file nested.go
}

// Constructors of nullable types; [Type.AsNotNull] makes the NOT NULL form.

// Of returns the nullable type of a kind that has no parameters.
func Of(k Kind) Type { return Type{Kind: k} }

// String returns STRING, that is VARCHAR(2147483647).
func String() Type { return Type{Kind: VarChar, Precision: MaxLength} }

// Bytes returns BYTES, that is VARBINARY(2147483647).
func Bytes() Type { return Type{Kind: VarBinary, Precision: MaxLength} }

// DecimalOf returns DECIMAL(precision, scale).
func DecimalOf(precision, scale int) Type {
	return Type{Kind: Decimal, Precision: precision, Scale: scale}
}

// WithPrecision returns a parameterised kind other than DECIMAL: CHAR(n), TIMESTAMP(p) and so on.
func WithPrecision(k Kind, p int) Type { return Type{Kind: k, Precision: p} }

// AsNotNull returns t as NOT NULL.
func (t Type) AsNotNull() Type { t.NotNull = true; return t }

// AsNullable returns t as nullable.
func (t Type) AsNullable() Type { t.NotNull = false; return t }

// WithNullable returns t with the given nullability.
func (t Type) WithNullable(nullable bool) Type { t.NotNull = !nullable; return t }

// Nullable reports whether t admits NULL.
func (t Type) Nullable() bool { return !t.NotNull }

// IsInteger reports whether t is TINYINT, SMALLINT, INT or BIGINT.
func (t Type) IsInteger() bool { return t.Kind >= TinyInt && t.Kind <= BigInt }

// IsFloat reports whether t is FLOAT or DOUBLE.
func (t Type) IsFloat() bool { return t.Kind == Float || t.Kind == Double }

// IsNumeric reports whether t is an integer, FLOAT, DOUBLE or DECIMAL.
func (t Type) IsNumeric() bool { return t.Kind >= TinyInt && t.Kind <= Decimal }

// IsString reports whether t is CHAR or VARCHAR.
func (t Type) IsString() bool { return t.Kind == Char || t.Kind == VarChar }

// IsBinary reports whether t is BINARY or VARBINARY.
func (t Type) IsBinary() bool { return t.Kind == Binary || t.Kind == VarBinary }

// IsTemporal reports whether t is DATE, TIME, TIMESTAMP or TIMESTAMP_LTZ.
func (t Type) IsTemporal() bool { return t.Kind >= Date && t.Kind <= TimestampLTZ }

// IsInterval reports whether t is one of the two interval kinds.
func (t Type) IsInterval() bool { return t.Kind == IntervalYearMonth || t.Kind == IntervalDayTime }

// Wide reports whether t is a DECIMAL of more than 18 digits, held as [Int128].
func (t Type) Wide() bool { return t.Kind == Decimal && t.Precision > 18 }

// Nanos reports whether t is a TIMESTAMP or TIMESTAMP_LTZ of precision 7 to 9, held as nanoseconds
// since the epoch; those of lower precision are held as microseconds.
func (t Type) Nanos() bool {
	return (t.Kind == Timestamp || t.Kind == TimestampLTZ) && t.Precision > 6
}

// String returns the type as SQL writes it: INT, STRING, DECIMAL(10, 2), TIMESTAMP(3) NOT NULL.
func (t Type) String() string {
	s := t.base()
	if t.NotNull {
		s += " NOT NULL"
	}
	return s
}

func (t Type) base() string {
	switch t.Kind {
	case Null:
		return "NULL"
	case Boolean:
		return "BOOLEAN"
	case TinyInt:
		return "TINYINT"
	case SmallInt:
		return "SMALLINT"
	case Int:
		return "INT"
	case BigInt:
		return "BIGINT"
	case Float:
		return "FLOAT"
	case Double:
		return "DOUBLE"
	case Decimal:
		return fmt.Sprintf("DECIMAL(%d, %d)", t.Precision, t.Scale)
	case Char:
		return "CHAR(" + strconv.Itoa(t.Precision) + ")"
	case VarChar:
		if t.Precision == MaxLength {
			return "STRING"
		}
		return "VARCHAR(" + strconv.Itoa(t.Precision) + ")"
	case Binary:
		return "BINARY(" + strconv.Itoa(t.Precision) + ")"
	case VarBinary:
		if t.Precision == MaxLength {
			return "BYTES"
		}
		return "VARBINARY(" + strconv.Itoa(t.Precision) + ")"
	case Date:
		return "DATE"
	case Time:
		return "TIME(" + strconv.Itoa(t.Precision) + ")"
	case Timestamp:
		return "TIMESTAMP(" + strconv.Itoa(t.Precision) + ")"
	case TimestampLTZ:
		return "TIMESTAMP_LTZ(" + strconv.Itoa(t.Precision) + ")"
	case IntervalYearMonth:
		return "INTERVAL YEAR TO MONTH"
	case IntervalDayTime:
		return "INTERVAL DAY TO SECOND(3)"
	case Array, Multiset, Map, Row:
		return t.nestedString()
	}
	return "UNKNOWN"
}
