package types

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseType reads a type as SQL writes it, in any case and spacing: every text that [Type.String] gives,
// and Flink's other spellings of the same types (DEC, NUMERIC, INTEGER, DOUBLE PRECISION, CHARACTER
// VARYING, TIMESTAMP WITH LOCAL TIME ZONE, the INTERVAL qualifiers), with NULL or NOT NULL after it.
func ParseType(s string) (Type, error) {
	p := typeParser{text: s}
	t, err := p.parse()
	if err != nil {
		return Type{}, fmt.Errorf("type %q: %w", clip([]byte(s)), err)
	}
	return t, nil
}

// Validate reports what is wrong with the parameters of t, nil when nothing is.
func (t Type) Validate() error {
	if t.IsNested() {
		return t.validateNested(1)
	}
	p, most := t.Precision, 0
	switch t.Kind {
	case Decimal:
		if p < 1 || p > MaxDecimalPrecision {
			return fmt.Errorf("the precision of DECIMAL must be between 1 and %d, not %d", MaxDecimalPrecision, p)
		}
		if t.Scale < 0 || t.Scale > p {
			return fmt.Errorf("the scale of DECIMAL must be between 0 and its precision %d, not %d", p, t.Scale)
		}
		return nil
	case Char, VarChar, Binary, VarBinary:
		if p < 1 || p > MaxLength {
			return fmt.Errorf("the length of %s must be between 1 and %d, not %d", kindName(t.Kind), MaxLength, p)
		}
		most = MaxLength
	case Time, Timestamp, TimestampLTZ:
		most = 9
	}
	if t.Kind > IntervalDayTime || t.Fields != nil {
		return fmt.Errorf("unknown type")
	}
	if p < 0 || p > most {
		return fmt.Errorf("the precision of %s must be between 0 and %d, not %d", kindName(t.Kind), most, p)
	}
	if t.Scale != 0 {
		return fmt.Errorf("%s has no scale", kindName(t.Kind))
	}
	return nil
}

// kindName returns the name of a kind without parameters.
func kindName(k Kind) string {
	s := Type{Kind: k}.base()
	if i := strings.IndexAny(s, "(<"); i > 0 {
		s = s[:i]
	}
	return s
}

type typeParser struct {
	text  string
	pos   int
	depth int
}

// next returns the next word, number or sign in upper case; empty at the end.
func (p *typeParser) next() string {
	for p.pos < len(p.text) && isBlank(p.text[p.pos]) {
		p.pos++
	}
	start := p.pos
	for p.pos < len(p.text) && isWordByte(p.text[p.pos]) {
		p.pos++
	}
	if p.pos == start && p.pos < len(p.text) {
		p.pos++
	}
	return strings.ToUpper(p.text[start:p.pos])
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80
}

// accept reads the words when they are next, and nothing otherwise.
func (p *typeParser) accept(words ...string) bool {
	start := p.pos
	for _, w := range words {
		if p.next() != w {
			p.pos = start
			return false
		}
	}
	return true
}

// parameters reads ( n [, n] ) with at most the given count; nil when there are none.
func (p *typeParser) parameters(most int) ([]int, error) {
	if !p.accept("(") {
		return nil, nil
	}
	var ns []int
	for {
		w := p.next()
		n, err := strconv.ParseInt(w, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("expected a number in the parentheses, found %s", found(w))
		}
		ns = append(ns, int(n))
		switch w := p.next(); {
		case w == ")":
			if len(ns) > most {
				return nil, fmt.Errorf("too many numbers in the parentheses")
			}
			return ns, nil
		case w != ",":
			return nil, fmt.Errorf("expected , or ), found %s", found(w))
		}
	}
}

func found(w string) string {
	if w == "" {
		return "the end"
	}
	return w
}

func (p *typeParser) parse() (Type, error) {
	t, err := p.whole()
	if err != nil {
		return t, err
	}
	if w := p.next(); w != "" {
		return t, fmt.Errorf("did not expect %s", w)
	}
	return t, t.Validate()
}

// whole reads a type with its nullability, and ARRAY or MULTISET behind it: t ARRAY is ARRAY<t>.
func (p *typeParser) whole() (Type, error) {
	t, err := p.scalar()
	for err == nil {
		if p.accept("NOT", "NULL") {
			t.NotNull = true
		} else if t.Kind != Null {
			p.accept("NULL")
		}
		if t.Kind == Null && t.NotNull {
			return t, fmt.Errorf("NULL cannot be NOT NULL")
		}
		switch {
		case p.accept("ARRAY"):
			t = ArrayOf(t)
		case p.accept("MULTISET"):
			t = MultisetOf(t)
		default:
			return t, nil
		}
		if p.depth++; p.depth > MaxNesting {
			return t, fmt.Errorf("types may be nested %d deep at most", MaxNesting)
		}
	}
	return t, err
}

// parts reads < type, … > with the given number of types.
func (p *typeParser) parts(kind string, n int) ([]Field, error) {
	if p.depth++; p.depth > MaxNesting {
		return nil, fmt.Errorf("types may be nested %d deep at most", MaxNesting)
	}
	defer func() { p.depth-- }()
	if !p.accept("<") {
		return nil, fmt.Errorf("expected < behind %s, found %s", kind, found(p.next()))
	}
	fields := make([]Field, n)
	for i := range fields {
		if i > 0 && !p.accept(",") {
			return nil, fmt.Errorf("expected , between the parts of %s, found %s", kind, found(p.next()))
		}
		t, err := p.whole()
		if err != nil {
			return nil, err
		}
		fields[i].Type = t
	}
	if !p.accept(">") {
		return nil, fmt.Errorf("expected > at the end of %s, found %s", kind, found(p.next()))
	}
	return fields, nil
}

// row reads < name type ['comment'], … >, or the same in parentheses.
func (p *typeParser) row() (Type, error) {
	if p.depth++; p.depth > MaxNesting {
		return Type{}, fmt.Errorf("types may be nested %d deep at most", MaxNesting)
	}
	defer func() { p.depth-- }()
	end := ">"
	if !p.accept("<") {
		if end = ")"; !p.accept("(") {
			return Type{}, fmt.Errorf("expected < or ( behind ROW, found %s", found(p.next()))
		}
	}
	var fields []Field
	for {
		name, err := p.name()
		if err != nil {
			return Type{}, err
		}
		t, err := p.whole()
		if err != nil {
			return Type{}, err
		}
		comment, err := p.quoted('\'')
		if err != nil {
			return Type{}, err
		}
		fields = append(fields, Field{Name: name, Type: t, Comment: comment})
		if p.accept(end) {
			return RowOf(fields...), nil
		}
		if !p.accept(",") {
			return Type{}, fmt.Errorf("expected , or %s in ROW, found %s", end, found(p.next()))
		}
	}
}

// name reads the name of a field, in back-quotes or plain.
func (p *typeParser) name() (string, error) {
	if name, err := p.quoted('`'); err != nil || name != "" {
		return name, err
	}
	start := p.pos // quoted has passed the blanks
	if w := p.next(); w == "" || !isWordByte(w[0]) {
		return "", fmt.Errorf("expected the name of a field, found %s", found(w))
	}
	return p.text[start:p.pos], nil
}

// quoted reads what stands between two quotes, in which a doubled one is a quote; "" when none is next.
func (p *typeParser) quoted(quote byte) (string, error) {
	for p.pos < len(p.text) && isBlank(p.text[p.pos]) {
		p.pos++
	}
	if p.pos >= len(p.text) || p.text[p.pos] != quote {
		return "", nil
	}
	var b []byte
	for i := p.pos + 1; i < len(p.text); i++ {
		if p.text[i] != quote {
			b = append(b, p.text[i])
			continue
		}
		if i+1 < len(p.text) && p.text[i+1] == quote {
			b = append(b, quote)
			i++
			continue
		}
		p.pos = i + 1
		return string(b), nil
	}
	return "", fmt.Errorf("the quote %c is not closed", quote)
}

func (p *typeParser) scalar() (Type, error) {
	w := p.next()
	switch w {
	case "NULL":
		return Of(Null), nil
	case "BOOLEAN":
		return Of(Boolean), nil
	case "TINYINT":
		return Of(TinyInt), nil
	case "SMALLINT":
		return Of(SmallInt), nil
	case "INT", "INTEGER":
		return Of(Int), nil
	case "BIGINT":
		return Of(BigInt), nil
	case "FLOAT":
		return Of(Float), nil
	case "DOUBLE":
		p.accept("PRECISION")
		return Of(Double), nil
	case "DECIMAL", "DEC", "NUMERIC":
		ns, err := p.parameters(2)
		t := DecimalOf(10, 0)
		if len(ns) > 0 {
			t.Precision = ns[0]
		}
		if len(ns) > 1 {
			t.Scale = ns[1]
		}
		return t, err
	case "STRING":
		return String(), nil
	case "BYTES":
		return Bytes(), nil
	case "CHAR", "CHARACTER":
		if p.accept("VARYING") {
			return p.withPrecision(VarChar, 1)
		}
		return p.withPrecision(Char, 1)
	case "VARCHAR":
		return p.withPrecision(VarChar, 1)
	case "BINARY":
		if p.accept("VARYING") {
			return p.withPrecision(VarBinary, 1)
		}
		return p.withPrecision(Binary, 1)
	case "VARBINARY":
		return p.withPrecision(VarBinary, 1)
	case "DATE":
		return Of(Date), nil
	case "TIME":
		t, err := p.withPrecision(Time, 0)
		p.accept("WITHOUT", "TIME", "ZONE")
		if err == nil && p.accept("WITH") {
			err = fmt.Errorf("a TIME has no time zone")
		}
		return t, err
	case "TIMESTAMP_LTZ":
		return p.withPrecision(TimestampLTZ, 6)
	case "TIMESTAMP":
		t, err := p.withPrecision(Timestamp, 6)
		switch {
		case err != nil:
		case p.accept("WITH", "LOCAL", "TIME", "ZONE"):
			t.Kind = TimestampLTZ
		case p.accept("WITHOUT", "TIME", "ZONE"):
		case p.accept("WITH"):
			err = fmt.Errorf("TIMESTAMP WITH TIME ZONE is not supported; use TIMESTAMP_LTZ")
		}
		return t, err
	case "INTERVAL":
		return p.interval()
	case "ARRAY", "MULTISET":
		fields, err := p.parts(w, 1)
		kind := Array
		if w == "MULTISET" {
			kind = Multiset
		}
		return Type{Kind: kind, Fields: fields}, err
	case "MAP":
		fields, err := p.parts(w, 2)
		return Type{Kind: Map, Fields: fields}, err
	case "ROW":
		return p.row()
	case "STRUCTURED", "RAW", "VARIANT", "BITMAP", "UUID", "GEOGRAPHY":
		return Type{}, fmt.Errorf("%s is not supported", w)
	case "":
		return Type{}, fmt.Errorf("expected a type, found nothing")
	}
	if better, ok := otherNames(w); ok {
		return Type{}, fmt.Errorf("unknown type %s; use %s", w, better)
	}
	return Type{}, fmt.Errorf("unknown type %s", w)
}

// otherNames returns what other databases' names for types are called here.
func otherNames(w string) (string, bool) {
	switch w {
	case "TEXT", "CLOB", "NVARCHAR", "VARCHAR2":
		return "STRING", true
	case "BLOB", "BYTEA":
		return "BYTES", true
	case "BOOL":
		return "BOOLEAN", true
	case "REAL", "FLOAT4":
		return "FLOAT", true
	case "FLOAT8":
		return "DOUBLE", true
	case "INT2":
		return "SMALLINT", true
	case "INT4":
		return "INT", true
	case "INT8", "LONG":
		return "BIGINT", true
	case "DATETIME":
		return "TIMESTAMP", true
	case "TIMESTAMPTZ":
		return "TIMESTAMP_LTZ", true
	}
	return "", false
}

func (p *typeParser) withPrecision(k Kind, otherwise int) (Type, error) {
	ns, err := p.parameters(1)
	if len(ns) > 0 {
		otherwise = ns[0]
	}
	return WithPrecision(k, otherwise), err
}

// interval reads what follows INTERVAL: unit [(n)] [TO unit [(n)]].
func (p *typeParser) interval() (Type, error) {
	from, err := p.unit()
	if err != nil {
		return Type{}, err
	}
	to := from
	if p.accept("TO") {
		if to, err = p.unit(); err != nil {
			return Type{}, err
		}
		if to <= from {
			return Type{}, fmt.Errorf("an interval goes from the larger to the smaller unit")
		}
	}
	switch {
	case to <= unitMonth:
		return Of(IntervalYearMonth), nil
	case from > unitMonth:
		return Of(IntervalDayTime), nil
	}
	return Type{}, fmt.Errorf("an interval of months cannot have days or times")
}

const (
	unitYear = iota
	unitMonth
	unitDay
	unitHour
	unitMinute
	unitSecond
)

// unit reads a unit and, in parentheses, its precision: the digits of a leading unit, of which an interval
// here always holds as many as its 32 or 64 bits do, and the decimals of a second, of which it holds three.
func (p *typeParser) unit() (int, error) {
	w := p.next()
	for i, name := range [...]string{"YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"} {
		if w != name {
			continue
		}
		ns, err := p.parameters(1)
		if err == nil && len(ns) == 1 {
			switch {
			case i == unitSecond && (ns[0] < 0 || ns[0] > 3):
				err = fmt.Errorf("an interval has at most 3 decimals of a second, not %d", ns[0])
			case i != unitSecond && (ns[0] < 1 || ns[0] > 9):
				err = fmt.Errorf("the precision of %s must be between 1 and 9, not %d", w, ns[0])
			}
		}
		return i, err
	}
	return 0, fmt.Errorf("expected YEAR, MONTH, DAY, HOUR, MINUTE or SECOND after INTERVAL or TO, found %s", found(w))
}
