package text

import (
	"github.com/sluice-sql/sluice/types"
)

// InferRows is how many rows a guess at the types of a file is made from.
const InferRows = 1000

// Guess finds a type that some texts fit. The zero value has seen none.
type Guess struct {
	seen    int
	shapes  shapes // that every text seen can have
	whole   int    // most digits before the point
	decimal int    // most after it
	seconds int    // most decimals of a second
	far     bool   // a timestamp is out of the range of those with more than six
}

type shapes uint16

const (
	asBoolean shapes = 1 << iota
	asInteger
	asDecimal
	asDouble
	asDate
	asTime
	asTimestamp
	asInstant
)

// Add takes a text into account that is not NULL.
func (g *Guess) Add(b []byte) {
	b = trim(b)
	var s shapes
	if _, err := parseBoolean(b); err == nil {
		s = asBoolean
	} else if s = g.number(b); s == 0 {
		s = g.time(b)
	}
	g.narrow(s)
}

// AddText takes a text into account that is no number and no truth value, whatever it looks like.
func (g *Guess) AddText(b []byte) { g.narrow(g.time(trim(b))) }

func (g *Guess) narrow(s shapes) {
	if g.seen == 0 {
		g.shapes = s
	}
	g.seen++
	g.shapes &= s
}

// time returns the kinds of date and time that a text can be.
func (g *Guess) time(b []byte) shapes {
	if _, err := types.ParseISODate(b); err == nil && len(b) == len("2006-01-02") {
		return asDate
	}
	if _, err := types.ParseISOTime(b, 3); err == nil {
		g.seconds = max(g.seconds, decimals(b))
		return asTime
	}
	clock, _, instant := cutOffset(b)
	if len(clock) < len("2006-01-02 15:04") {
		return 0
	}
	if _, err := types.ParseISOTimestamp(clock, types.WithPrecision(types.Timestamp, 9), nil); err != nil {
		if _, err = types.ParseISOTimestamp(clock, types.WithPrecision(types.Timestamp, 6), nil); err != nil {
			return 0
		}
		g.far = true
	}
	g.seconds = max(g.seconds, decimals(clock))
	if instant {
		return asInstant
	}
	return asTimestamp
}

// number returns the kinds of number that a text can be. A whole number with needless zeros before it, such
// as a zip code, is none: it would lose them.
func (g *Guess) number(b []byte) shapes {
	if _, err := types.ParseFloat64(b); err != nil {
		return 0
	}
	i := 0
	if b[0] == '-' || b[0] == '+' {
		i = 1
	}
	from := i
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	whole := i - from
	if whole > 1 && b[from] == '0' || b[0] == '+' {
		return 0
	}
	if i == len(b) {
		g.whole = max(g.whole, whole)
		s := asDecimal | asDouble
		if _, why := parseInteger(b); why == "" {
			s |= asInteger
		}
		return s
	}
	if b[i] != '.' {
		return asDouble // an exponent, NaN, Infinity
	}
	for _, c := range b[i+1:] {
		if c-'0' > 9 {
			return asDouble
		}
	}
	g.whole, g.decimal = max(g.whole, whole), max(g.decimal, len(b)-i-1)
	return asDecimal | asDouble
}

func decimals(b []byte) int {
	for i, c := range b {
		if c == '.' {
			return len(b) - i - 1
		}
	}
	return 0
}

// Type returns the type. Numbers with decimals are DECIMALs with room for larger ones, as long as they have
// at most 38 digits.
func (g *Guess) Type() types.Type {
	s := g.shapes
	switch digits := g.whole + g.decimal; {
	case g.seen == 0:
		return types.String()
	case s&asBoolean != 0:
		return types.Of(types.Boolean)
	case s&asInteger != 0:
		return types.Of(types.BigInt)
	case s&asDecimal != 0 && digits <= 18:
		return types.DecimalOf(18, g.decimal)
	case s&asDecimal != 0 && digits <= types.MaxDecimalPrecision:
		return types.DecimalOf(types.MaxDecimalPrecision, g.decimal)
	case s&asDouble != 0:
		return types.Of(types.Double)
	case s&asDate != 0:
		return types.Of(types.Date)
	case s&asTime != 0 && g.seconds == 0:
		return types.WithPrecision(types.Time, 0)
	case s&asTime != 0:
		return types.WithPrecision(types.Time, 3)
	case s&(asTimestamp|asInstant) != 0 && g.far && g.seconds > 6:
	case s&asTimestamp != 0:
		return types.WithPrecision(types.Timestamp, secondsPrecision(g.seconds))
	case s&asInstant != 0:
		return types.WithPrecision(types.TimestampLTZ, secondsPrecision(g.seconds))
	}
	return types.String()
}

func secondsPrecision(decimals int) int {
	switch {
	case decimals <= 3:
		return 3
	case decimals <= 6:
		return 6
	}
	return 9
}

// Text reports whether the texts seen are not all of some other type.
func (g *Guess) Text() bool { return g.seen > 0 && g.Type().IsString() }

// Seen reports whether there was any text.
func (g *Guess) Seen() bool { return g.seen > 0 }
