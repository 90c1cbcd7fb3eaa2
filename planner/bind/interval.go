package bind

import (
	"math"
	"math/big"
	"strings"

	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// intervalUnits are the units of an interval from the largest to the smallest within each of its two
// families, with how many of the family's own unit (month, millisecond) each has.
var intervalUnits = [...]struct {
	name   string
	months bool
	of     int64
	most   int64 // the most that a unit behind a larger one may have; 0: it cannot stand there
}{
	{"YEAR", true, 12, 0},
	{"QUARTER", true, 3, 0},
	{"MONTH", true, 1, 11},
	{"WEEK", false, 7 * 86_400_000, 0},
	{"DAY", false, 86_400_000, 0},
	{"HOUR", false, 3_600_000, 23},
	{"MINUTE", false, 60_000, 59},
	{"SECOND", false, 1000, 59},
}

func unitIndex(name string) int {
	for i, u := range intervalUnits {
		if u.name == name {
			return i
		}
	}
	return -1
}

// interval binds INTERVAL '…' unit [TO unit]: months in a YEAR-MONTH interval, milliseconds in a DAY-TIME one.
func interval(e *sqlparse.Interval) (expr.Expr, error) {
	bad := func() error {
		want := e.Qualifier.From
		if e.Qualifier.To != "" {
			want += " TO " + e.Qualifier.To
		}
		return errAt(e.Span(), "Illegal interval literal format '%s' for INTERVAL %s", clip(e.Value), want)
	}
	from := unitIndex(e.Qualifier.From)
	to := from
	if e.Qualifier.To != "" {
		to = unitIndex(e.Qualifier.To)
	}
	if from < 0 || to < from || intervalUnits[from].months != intervalUnits[to].months {
		return nil, bad()
	}
	negative := e.Negative
	text := strings.TrimSpace(e.Value)
	if s, ok := strings.CutPrefix(text, "-"); ok {
		negative, text = !negative, s
	} else {
		text = strings.TrimPrefix(text, "+")
	}
	total := new(big.Int)
	for i := from; i <= to; i++ {
		u := intervalUnits[i]
		if i > from && u.most == 0 {
			continue // QUARTER and WEEK are no part of a range
		}
		digits := text
		if i < to {
			sep := map[string]byte{"YEAR": '-', "DAY": ' ', "HOUR": ':', "MINUTE": ':'}[u.name]
			at := strings.IndexByte(text, sep)
			if at < 0 {
				return nil, bad()
			}
			digits, text = text[:at], text[at+1:]
		}
		fraction := ""
		if u.name == "SECOND" {
			if at := strings.IndexByte(digits, '.'); at >= 0 {
				digits, fraction = digits[:at], digits[at+1:]
				if fraction == "" || len(strings.TrimRight(fraction, "0")) > 3 {
					return nil, withHint(bad().(*sqlparse.Error), "an interval has at most 3 decimals of a second")
				}
			}
		}
		n, ok := wholeNumber(digits)
		if !ok || i > from && n.Cmp(big.NewInt(u.most)) > 0 {
			return nil, bad()
		}
		total.Add(total, n.Mul(n, big.NewInt(u.of)))
		if fraction != "" {
			ms, ok := wholeNumber((fraction + "00")[:3])
			if !ok {
				return nil, bad()
			}
			total.Add(total, ms)
		}
	}
	if negative {
		total.Neg(total)
	}
	t := types.Of(types.IntervalDayTime)
	if intervalUnits[from].months {
		t = types.Of(types.IntervalYearMonth)
	}
	if !total.IsInt64() || t.Kind == types.IntervalYearMonth && (total.Int64() > math.MaxInt32 || total.Int64() < math.MinInt32) {
		return nil, errAt(e.Span(), "Interval literal '%s' is out of range", clip(e.Value))
	}
	return expr.NewLiteral(t, total.Int64(), span(e.Span())), nil
}

func wholeNumber(s string) (*big.Int, bool) {
	if s == "" || len(s) > 30 {
		return nil, false
	}
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return nil, false
		}
	}
	return new(big.Int).SetString(s, 10)
}
