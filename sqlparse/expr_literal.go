package sqlparse

// LiteralKind says what a Literal's text is.
type LiteralKind uint8

// The kinds of literals.
const (
	NullLiteral      LiteralKind = iota // NULL
	BooleanLiteral                      // TRUE or FALSE; Text is "TRUE" or "FALSE"
	UnknownLiteral                      // UNKNOWN, the BOOLEAN NULL
	NumberLiteral                       // exact: 1, 1.5, .5; Text as written
	ApproxLiteral                       // DOUBLE: 1e3; Text as written
	StringLiteral                       // 'it''s', U&'\00e9'; Text is the value
	BinaryLiteral                       // X'00ff'; Text is upper-case hex
	DateLiteral                         // DATE '2024-01-31'; Text is the string's value
	TimeLiteral                         // TIME '12:30:00'
	TimestampLiteral                    // TIMESTAMP '2024-01-31 12:30:00.5'
)

// Literal is a constant of any type but INTERVAL.
type Literal struct {
	Pos
	Kind LiteralKind
	Text string
}

// Interval is INTERVAL [-]'1-2' YEAR TO MONTH. Precisions are -1 when not
// written. To is empty for a single unit. Value is the string between the
// quotes as written.
type Interval struct {
	Pos
	Negative  bool
	Value     string
	Qualifier IntervalQualifier
}

// IntervalQualifier is YEAR, DAY(3) TO SECOND(6), … of a literal or a type.
// Units are in singular: YEAR, QUARTER, MONTH, WEEK, DAY, HOUR, MINUTE, SECOND.
type IntervalQualifier struct {
	From          string
	FromPrecision int // -1: not written
	To            string
	ToPrecision   int // fractional seconds; -1: not written
}

func (*Literal) expr()  {}
func (*Interval) expr() {}
