package sqlparse

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

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

func (*Literal) children(func(Node))  {}
func (*Interval) children(func(Node)) {}

func (l *Literal) print(p *printer) {
	switch l.Kind {
	case NullLiteral:
		p.str("NULL")
	case BooleanLiteral, NumberLiteral, ApproxLiteral:
		p.str(l.Text)
	case UnknownLiteral:
		p.str("UNKNOWN")
	case StringLiteral:
		p.quoteString(l.Text)
	case BinaryLiteral:
		p.str("X'" + l.Text + "'")
	case DateLiteral:
		p.str("DATE ")
		p.quoteString(l.Text)
	case TimeLiteral:
		p.str("TIME ")
		p.quoteString(l.Text)
	case TimestampLiteral:
		p.str("TIMESTAMP ")
		p.quoteString(l.Text)
	}
}

func (l *Interval) print(p *printer) {
	p.str("INTERVAL ")
	p.opt(l.Negative, "-")
	p.quoteString(l.Value)
	p.str(" ")
	l.Qualifier.print(p)
}

func (q *IntervalQualifier) print(p *printer) {
	p.str(q.From)
	// SECOND(2, 3) gives both precisions of a lone SECOND.
	if q.FromPrecision >= 0 {
		p.str("(" + strconv.Itoa(q.FromPrecision))
		if q.To == "" && q.ToPrecision >= 0 {
			p.str(", " + strconv.Itoa(q.ToPrecision))
		}
		p.str(")")
	}
	if q.To != "" {
		p.str(" TO " + q.To)
		if q.ToPrecision >= 0 {
			p.str("(" + strconv.Itoa(q.ToPrecision) + ")")
		}
	}
}

// newLiteral allocates literals in lots: an INSERT has millions of them.
func (p *parser) newLiteral(at Span, kind LiteralKind, text string) *Literal {
	if len(p.literals) == cap(p.literals) {
		p.literals = make([]Literal, 0, min(max(2*cap(p.literals), 4), 512))
	}
	p.literals = append(p.literals, Literal{At(at), kind, text})
	return &p.literals[len(p.literals)-1]
}

// stringLiteral: 'text' or U&'text'
func (p *parser) stringLiteral(expected string) *Literal {
	t := p.tok
	if t.kind != tokString && t.kind != tokUnicode {
		p.unexpected(expected)
		return &Literal{Kind: StringLiteral}
	}
	text := p.stringValue()
	return p.newLiteral(Span{t.start, p.prev}, StringLiteral, text)
}

// stringValue takes a string token and returns its value.
func (p *parser) stringValue() string {
	t := p.tok
	if t.end-t.start > MaxLiteral {
		p.failAt(Span{t.start, t.start + 1}, fmt.Sprintf("the string that starts here has more than %d MiB, the longest allowed", MaxLiteral>>20), "")
		return ""
	}
	p.next()
	if t.kind == tokString {
		return unquote(t.text, '\'')
	}
	escape := byte('\\')
	if p.accept("UESCAPE") {
		e := p.tok
		if e.kind != tokString || len(e.text) != 3 || isDigit(e.text[1]) || strings.IndexByte("+'\" abcdefABCDEF", e.text[1]) >= 0 {
			p.unexpected("one character in single quotes that is no hex digit")
			return ""
		}
		escape = e.text[1]
		p.next()
	}
	return p.unicodeValue(t, escape)
}

// unicodeValue decodes the \XXXX of U&'…'.
func (p *parser) unicodeValue(t token, escape byte) string {
	const prefix = len("U&'")
	s := t.text[prefix : len(t.text)-1]
	var b strings.Builder
	high := rune(-1) // a high surrogate that waits for its second half
	for i := 0; i < len(s); {
		at := t.start + prefix + i
		c := s[i]
		var r rune
		n := 1
		switch {
		case c == escape && i+1 < len(s) && s[i+1] == escape:
			r, n = rune(escape), 2
		case c == escape:
			v, err := uint64(0), error(strconv.ErrSyntax)
			if i+5 <= len(s) {
				v, err = strconv.ParseUint(s[i+1:i+5], 16, 32)
			}
			if err != nil {
				p.failAt(Span{at, min(at+5, t.end-1)}, "found "+quoteFound(s[i:min(i+5, len(s))])+", expected four hex digits behind "+string(escape), "")
				return ""
			}
			r, n = rune(v), 5
		case c == '\'':
			r, n = '\'', 2
		default:
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		low := 0xDC00 <= r && r <= 0xDFFF
		if low != (high >= 0) {
			p.failAt(Span{at, at + n}, "found half of a surrogate pair, which is no character", "")
			return ""
		}
		switch {
		case low:
			b.WriteRune(utf16.DecodeRune(high, r))
			high = -1
		case 0xD800 <= r && r <= 0xDBFF:
			high = r
		default:
			b.WriteRune(r)
		}
		i += n
	}
	if high >= 0 {
		p.failAt(Span{t.end - 1, t.end}, "found half of a surrogate pair, which is no character", "")
	}
	return b.String()
}

// binaryLiteral: X'00ff'
func (p *parser) binaryLiteral() Expr {
	t := p.tok
	digits := t.text[2 : len(t.text)-1]
	if t.end-t.start > MaxLiteral {
		p.failAt(Span{t.start, t.start + 1}, fmt.Sprintf("the literal that starts here has more than %d MiB, the longest allowed", MaxLiteral>>20), "")
	}
	for i := 0; i < len(digits); i++ {
		if c := digits[i]; !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
			at := t.start + 2 + i
			p.failAt(Span{at, at + 1}, "found "+quoteFound(firstRune(digits[i:]))+", expected a hex digit", "")
			break
		}
	}
	if len(digits)%2 != 0 {
		p.failAt(t.span(), "the binary literal has an odd number of hex digits", "two digits make a byte")
	}
	p.next()
	return p.newLiteral(t.span(), BinaryLiteral, strings.ToUpper(digits))
}

func firstRune(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}

// dateTimeLiteral: {DATE|TIME|TIMESTAMP} 'text', the string being next.
func (p *parser) dateTimeLiteral(kind LiteralKind) Expr {
	start := p.tok.start
	p.next()
	text := p.stringValue()
	return p.newLiteral(Span{start, p.prev}, kind, text)
}

// interval: INTERVAL [-|+] 'value' qualifier; INTERVAL 5 DAY is taken for
// INTERVAL '5' DAY.
func (p *parser) interval() Expr {
	start := p.tok.start
	p.expect("INTERVAL")
	l := &Interval{}
	if p.acceptOp("-") {
		l.Negative = true
	} else {
		p.acceptOp("+")
	}
	switch p.tok.kind {
	case tokString, tokUnicode:
		l.Value = p.stringValue()
	case tokNumber:
		l.Value = p.tok.text
		p.next()
	default:
		p.unexpected("the interval's value in single quotes, as in INTERVAL '5' DAY")
	}
	l.Qualifier = p.intervalQualifier()
	l.Pos = p.pos(start)
	return l
}

// unitName returns the singular of a time unit that intervals have.
func unitName(kw string) string {
	switch kw {
	case "YEAR", "YEARS":
		return "YEAR"
	case "QUARTER", "QUARTERS":
		return "QUARTER"
	case "MONTH", "MONTHS":
		return "MONTH"
	case "WEEK", "WEEKS":
		return "WEEK"
	case "DAY", "DAYS":
		return "DAY"
	case "HOUR", "HOURS":
		return "HOUR"
	case "MINUTE", "MINUTES":
		return "MINUTE"
	case "SECOND", "SECONDS":
		return "SECOND"
	}
	return ""
}

// intervalQualifier: unit [(p)] [TO unit [(p)]]
func (p *parser) intervalQualifier() IntervalQualifier {
	q := IntervalQualifier{FromPrecision: -1, ToPrecision: -1}
	q.From = unitName(p.tok.kw)
	if q.From == "" {
		p.unexpected("a time unit: YEAR, QUARTER, MONTH, WEEK, DAY, HOUR, MINUTE or SECOND")
		return q
	}
	p.next()
	if p.acceptOp("(") {
		q.FromPrecision = p.smallNumber("the precision")
		if q.From == "SECOND" && p.acceptOp(",") {
			q.ToPrecision = p.smallNumber("the precision")
		}
		p.expectOp(")")
	}
	if !p.isWord("TO") {
		return q
	}
	var allowed string
	switch q.From {
	case "YEAR":
		allowed = "MONTH"
	case "DAY":
		allowed = "HOUR, MINUTE or SECOND"
	case "HOUR":
		allowed = "MINUTE or SECOND"
	case "MINUTE":
		allowed = "SECOND"
	default:
		return q
	}
	p.next()
	q.To = unitName(p.tok.kw)
	if q.To == "" || !strings.Contains(allowed, q.To) {
		p.unexpected(allowed)
		return q
	}
	p.next()
	if q.To == "SECOND" && p.acceptOp("(") {
		q.ToPrecision = p.smallNumber("the precision")
		p.expectOp(")")
	}
	return q
}

// smallNumber: a whole number that fits 32 bits.
func (p *parser) smallNumber(what string) int {
	n, err := strconv.ParseInt(p.tok.text, 10, 32)
	if p.tok.kind != tokNumber || err != nil {
		p.unexpected(what + ", a whole number")
		return 0
	}
	p.next()
	return int(n)
}

// wholeNumber: a number without a fraction, of any size.
func (p *parser) wholeNumber(expected string) *Literal {
	t := p.tok
	if t.kind != tokNumber || strings.IndexByte(t.text, '.') >= 0 {
		p.unexpected(expected)
		return &Literal{Kind: NumberLiteral}
	}
	p.next()
	return p.newLiteral(t.span(), NumberLiteral, t.text)
}
