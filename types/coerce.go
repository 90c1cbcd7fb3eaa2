package types

// CastAllowed reports whether CAST(x AS to) is allowed for an x of type from; whether it succeeds is a
// matter of the value. Nullability does not count: CAST keeps that of its operand.
//
//	from \ to   text  binary  BOOLEAN  numeric  DATE  TIME  TIMESTAMP(_LTZ)  INTERVAL
//	text         x      x        x        x       x     x         x
//	binary       x      x
//	BOOLEAN      x               x        x
//	integer      x               x        x                                  INT: months, BIGINT: day-time
//	DECIMAL      x                        x
//	float        x                        x
//	DATE         x                                x               x
//	TIME         x                                      x         x
//	TIMESTAMP    x                                x     x         x
//	INTERVAL     x                     the same back                         the same kind
//
// An ARRAY, MULTISET, MAP or ROW casts to text, and to the same kind when its parts do. A bare NULL casts to everything, and nothing else to NULL.
func CastAllowed(from, to Type) bool {
	switch {
	case to.Kind == Null:
		return from.Kind == Null
	case from.Kind == Null, to.IsString():
		return true
	case from.IsNested() || to.IsNested():
		return castNested(from, to)
	case from.IsString():
		return !to.IsInterval()
	case to.Kind == Boolean:
		return from.Kind == Boolean || from.IsInteger()
	case to.IsNumeric():
		return from.IsNumeric() || from.Kind == Boolean || intervalAsNumber(from, to)
	case to.IsBinary():
		return from.IsBinary()
	case to.IsInterval():
		return from.Kind == to.Kind || intervalAsNumber(to, from)
	case to.Kind == Date:
		return from.Kind == Date || isTimestamp(from)
	case to.Kind == Time:
		return from.Kind == Time || isTimestamp(from)
	case isTimestamp(to):
		return from.IsTemporal()
	}
	return false
}

func intervalAsNumber(interval, number Type) bool {
	return interval.Kind == IntervalYearMonth && number.Kind == Int ||
		interval.Kind == IntervalDayTime && number.Kind == BigInt
}

func isTimestamp(t Type) bool { return t.Kind == Timestamp || t.Kind == TimestampLTZ }

// ImplicitCast reports whether a value of type from goes into a column of type to without a CAST, as in
// INSERT and CREATE TABLE AS: integers into wider ones, every number into DECIMAL and DOUBLE, exact
// numbers into FLOAT, CHAR and BINARY into their varying forms, and dates and timestamps among
// themselves. A text never becomes a number, or the other way round. Lengths, precision and nullability
// do not count here: what a value does not fit is found at its row.
func ImplicitCast(from, to Type) bool {
	switch {
	case from.Kind == Null:
		return true
	case from.IsNested() || to.IsNested():
		return implicitNested(from, to)
	case from.Kind == to.Kind:
		return true
	}
	switch to.Kind {
	case SmallInt, Int, BigInt:
		return from.IsInteger() && from.Kind < to.Kind
	case Float:
		return from.IsInteger() || from.Kind == Decimal
	case Double, Decimal:
		return from.IsNumeric()
	case VarChar:
		return from.Kind == Char
	case VarBinary:
		return from.Kind == Binary
	case Date, Time:
		return from.Kind == Timestamp
	case Timestamp, TimestampLTZ:
		return isTimestamp(from) || from.Kind == Date
	}
	return false
}

// integerDigits returns the digits that an integer type takes as a DECIMAL.
func integerDigits(k Kind) int {
	switch k {
	case TinyInt:
		return 3
	case SmallInt:
		return 5
	case Int:
		return 10
	}
	return 19
}

// AsDecimal returns the DECIMAL type that holds every value of t, an integer or DECIMAL type; its
// nullability is t's.
func (t Type) AsDecimal() Type {
	if t.Kind == Decimal {
		return t
	}
	return DecimalOf(integerDigits(t.Kind), 0).WithNullable(t.Nullable())
}

// CommonType returns the type to which the operands of a CASE, a UNION, an IN list or a comparison are
// brought: the least type that holds them all. It reports false when there is none, as for INT and
// STRING. The result is nullable when any of ts is, and NULL when all are.
func CommonType(ts ...Type) (Type, bool) {
	common := Of(Null)
	nullable := false
	for _, t := range ts {
		nullable = nullable || t.Nullable() || t.Kind == Null
		var ok bool
		if common, ok = commonOfTwo(common, t); !ok {
			return Type{}, false
		}
	}
	return common.WithNullable(nullable), len(ts) > 0
}

func commonOfTwo(a, b Type) (Type, bool) {
	switch {
	case a.SameKind(b), b.Kind == Null:
		return a, true
	case a.Kind == Null:
		return b, true
	case a.IsNested():
		return commonNested(a, b)
	case a.IsString() && b.IsString():
		return commonText(a, b, Char, VarChar), true
	case a.IsBinary() && b.IsBinary():
		return commonText(a, b, Binary, VarBinary), true
	case a.IsNumeric() && b.IsNumeric():
		return commonNumber(a, b), true
	case a.Kind == Time && b.Kind == Time:
		return WithPrecision(Time, max(a.Precision, b.Precision)), true
	case isTimestamp(a) && isTimestamp(b):
		k := Timestamp
		if a.Kind == TimestampLTZ || b.Kind == TimestampLTZ {
			k = TimestampLTZ
		}
		return WithPrecision(k, max(a.Precision, b.Precision)), true
	case a.Kind == Date && isTimestamp(b):
		return b, true
	case b.Kind == Date && isTimestamp(a):
		return a, true
	}
	return Type{}, false
}

// commonText keeps a fixed length only when both have it, so that no value gets blanks it did not have.
func commonText(a, b Type, fixed, varying Kind) Type {
	if a.Kind == fixed && b.Kind == fixed && a.Precision == b.Precision {
		return a
	}
	return WithPrecision(varying, max(a.Precision, b.Precision))
}

func commonNumber(a, b Type) Type {
	switch {
	case a.Kind == Double || b.Kind == Double:
		return Of(Double)
	case a.Kind == Float || b.Kind == Float:
		if a.Kind == Decimal || b.Kind == Decimal {
			return Of(Double)
		}
		return Of(Float)
	case a.Kind != Decimal && b.Kind != Decimal:
		return Of(max(a.Kind, b.Kind))
	}
	a, b = a.AsDecimal(), b.AsDecimal()
	whole := min(max(a.Precision-a.Scale, b.Precision-b.Scale), MaxDecimalPrecision)
	scale := min(max(a.Scale, b.Scale), MaxDecimalPrecision-whole)
	return DecimalOf(max(whole+scale, 1), scale)
}

// ArithmeticType returns the type of a op b for op one of + - * / %. It reports false when the operands
// do not go together.
//
// Of two integers it is the wider one, also for / (and the second's for %); with a DOUBLE or FLOAT it is
// that, but DOUBLE for FLOAT with DECIMAL. % takes exact numbers only. A DECIMAL with an exact number
// gives, for DECIMAL(p1, s1) and DECIMAL(p2, s2):
//
//   - -   precision max(p1-s1, p2-s2) + scale + 1   scale max(s1, s2)
//   - precision p1 + p2 + 1                     scale s1 + s2
//     /     precision p1 - s1 + s2 + scale            scale max(6, s1 + p2 + 1)
//     %     precision min(p1-s1, p2-s2) + scale       scale max(s1, s2)
//
// Where that makes more than 38 digits, decimals are given up first, but six of them are kept. A date or
// time plus or minus an interval has its own type, but with a day-time interval, which counts
// milliseconds, at least three decimals of a second; so has an interval times or divided by a number. A
// DATE with a day-time interval stays a DATE: the interval must then be of whole days.
func ArithmeticType(op byte, a, b Type) (Type, bool) {
	nullable := a.Nullable() || b.Nullable()
	t, ok := arithmetic(op, a, b)
	return t.WithNullable(nullable), ok
}

func arithmetic(op byte, a, b Type) (Type, bool) {
	switch {
	case a.Kind == Null && b.Kind == Null:
		return Type{}, false
	case a.Kind == Null:
		// Only where a value could stand: NULL - INTERVAL, for one, could be of several types.
		if b.IsNumeric() {
			return arithmetic(op, b, b)
		}
		if b.IsInterval() && (op == '+' || op == '-') {
			return b, true
		}
		return Type{}, false
	case b.Kind == Null:
		if a.IsNumeric() {
			return arithmetic(op, a, a)
		}
		if a.IsInterval() && (op == '+' || op == '-') {
			return a, true
		}
		if a.IsTemporal() && (op == '+' || op == '-') {
			return temporalArithmetic(a, Of(IntervalDayTime))
		}
		return Type{}, false
	case a.IsNumeric() && b.IsNumeric():
		return numberArithmetic(op, a, b)
	case a.IsTemporal() && b.IsInterval() && (op == '+' || op == '-'):
		return temporalArithmetic(a, b)
	case a.IsInterval() && b.IsTemporal() && op == '+':
		return temporalArithmetic(b, a)
	case a.IsInterval() && a.Kind == b.Kind && (op == '+' || op == '-'):
		return a, true
	case a.IsInterval() && b.IsNumeric() && (op == '*' || op == '/'):
		return a, true
	case a.IsNumeric() && b.IsInterval() && op == '*':
		return b, true
	}
	return Type{}, false
}

func temporalArithmetic(t, interval Type) (Type, bool) {
	if interval.Kind == IntervalDayTime && t.Kind != Date {
		t.Precision = max(t.Precision, 3) // the interval counts milliseconds
	}
	return t, t.Kind != Time || interval.Kind == IntervalDayTime
}

func numberArithmetic(op byte, a, b Type) (Type, bool) {
	if op == '%' && (a.IsFloat() || b.IsFloat()) {
		return Type{}, false
	}
	if a.IsFloat() || b.IsFloat() || a.Kind != Decimal && b.Kind != Decimal {
		switch op {
		case '+', '-', '*', '/':
			return commonNumber(a, b), true
		case '%':
			return b, true
		}
		return Type{}, false
	}
	a, b = a.AsDecimal(), b.AsDecimal()
	p1, s1, p2, s2 := a.Precision, a.Scale, b.Precision, b.Scale
	switch op {
	case '+', '-':
		s := max(s1, s2)
		return adjusted(max(p1-s1, p2-s2)+s+1, s), true
	case '*':
		return adjusted(p1+p2+1, s1+s2), true
	case '/':
		s := max(6, s1+p2+1)
		return adjusted(p1-s1+s2+s, s), true
	case '%':
		s := max(s1, s2)
		return adjusted(min(p1-s1, p2-s2)+s, s), true
	}
	return Type{}, false
}

// adjusted brings a derived DECIMAL into 38 digits, giving up decimals rather than whole digits but
// keeping six.
func adjusted(precision, scale int) Type {
	if precision > MaxDecimalPrecision {
		whole := precision - scale
		scale = max(MaxDecimalPrecision-whole, min(scale, 6))
		precision = MaxDecimalPrecision
	}
	return DecimalOf(max(precision, 1), scale)
}

// SumType returns the type of SUM over t: t itself, and DECIMAL(38, s) for a DECIMAL. Its nullability is
// t's.
func SumType(t Type) Type {
	if t.Kind == Decimal {
		t.Precision = MaxDecimalPrecision
	}
	return t
}

// AvgType returns the type of AVG over t: t itself, and DECIMAL(38, max(6, s)) for a DECIMAL. Its
// nullability is t's.
func AvgType(t Type) Type {
	if t.Kind == Decimal {
		// The sum, DECIMAL(38, s), divided by a count, DECIMAL(20, 0).
		t = adjusted(MaxDecimalPrecision-t.Scale+max(6, t.Scale+21), max(6, t.Scale+21)).WithNullable(t.Nullable())
	}
	return t
}

// RoundType returns the type of ROUND(x, n) and TRUNCATE(x, n) over the DECIMAL type t for a constant n.
func RoundType(t Type, n int) Type {
	switch {
	case n >= t.Scale:
		return t
	case n < 0:
		return DecimalOf(min(MaxDecimalPrecision, 1+t.Precision-t.Scale), 0).WithNullable(t.Nullable())
	}
	return DecimalOf(1+t.Precision-t.Scale+n, n).WithNullable(t.Nullable())
}
