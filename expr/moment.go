package expr

import (
	"fmt"
	"math"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// momentStep adds an interval to a date or time, or subtracts it. Days are of 24 hours, a month later is
// the same day of the next month or its last; a TIME goes round the clock. TIMESTAMP_LTZ reckons in UTC,
// as in Flink.
func momentStep(op byte, s, t, to types.Type) Step {
	moment, interval, sign := 0, 1, int64(1)
	if s.IsInterval() {
		moment, interval = 1, 0
		s, t = t, s
	}
	if op == '-' {
		sign = -1
	}
	timestamp := (s.Kind == types.Timestamp || s.Kind == types.TimestampLTZ) && t.Kind == types.IntervalDayTime
	return func(r Rows, args []Arg, out *column.Vector) error {
		x, y := args[moment], args[interval]
		if timestamp && y.Const && addToTimestamps(r, x, sign*y.I64[0], s, out) {
			return nil
		}
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			if !out.Valid.Get(i) {
				continue
			}
			v, d := x.Int64(x.At(i)), sign*y.Int64(y.At(i))
			if s.Kind == types.Date && t.Kind == types.IntervalDayTime && d%types.MillisPerDay != 0 {
				return rowError(i, fmt.Sprintf("INTERVAL '%s' is not of whole days and cannot be added to a DATE",
					types.AppendIntervalDayTime(nil, d)), "CAST the date AS TIMESTAMP")
			}
			res, ok := addInterval(v, d, s, t)
			if !ok {
				return outOfRange(i, fmt.Sprintf("%s %c INTERVAL '%s'", valueText(x.Vector, x.At(i), nil), op,
					valueText(y.Vector, y.At(i), nil)), to)
			}
			setInt(out, i, res)
		}
		return nil
	}
}

// addToTimestamps adds d milliseconds to timestamps. It returns false when some sum may be out of range;
// the sums are then worthless.
func addToTimestamps(r Rows, x Arg, d int64, s types.Type, out *column.Vector) bool {
	p, carry := mulWide(d, s.PerSecond()/1000)
	lo, hi := types.MinMicros, types.MaxMicros
	if s.Nanos() {
		lo, hi = math.MinInt64, math.MaxInt64
	}
	// The sum stays in range where v does not pass the range's end less p.
	if p >= 0 {
		hi -= p
	} else {
		lo -= p
	}
	if carry != 0 || lo > hi || x.Const {
		return false
	}
	bad := false
	for k, n := 0, r.Count(); k < n; k++ {
		i := r.Row(k)
		v := x.I64[i]
		out.I64[i] = v + p
		bad = bad || v < lo || v > hi
	}
	return !bad
}

// addInterval adds d, months or milliseconds, to the value v of the temporal type s.
func addInterval(v, d int64, s, interval types.Type) (int64, bool) {
	switch s.Kind {
	case types.Time:
		const day = types.MillisPerDay
		return ((v+d%day)%day + day) % day, true
	case types.Date:
		if interval.Kind == types.IntervalYearMonth {
			days, ok := addMonths(int32(v), d)
			return int64(days), ok
		}
		v += d / types.MillisPerDay
		return v, v >= int64(types.MinDate) && v <= int64(types.MaxDate)
	}
	if interval.Kind == types.IntervalYearMonth {
		days, rest := types.SplitTimestamp(v, s)
		days, ok := addMonths(days, d)
		if !ok {
			return 0, false
		}
		per := s.PerSecond()
		return types.TimestampOf(int64(days)*86_400+rest/per, int(rest%per*(1_000_000_000/per)), finest(s))
	}
	unit := s.PerSecond() / 1000
	p, carry := mulWide(d, unit)
	sum := v + p
	if carry != 0 || (v^sum)&(p^sum) < 0 {
		return 0, false
	}
	if !s.Nanos() && (sum < types.MinMicros || sum > types.MaxMicros) {
		return 0, false
	}
	return sum, true
}

// finest is the type of t's physical form that drops no digit.
func finest(t types.Type) types.Type {
	if t.Nanos() {
		t.Precision = 9
	} else {
		t.Precision = 6
	}
	return t
}

// addMonths moves a date by months, to the month's last day where the day does not exist.
func addMonths(days int32, months int64) (int32, bool) {
	if months > 12*20000 || months < -12*20000 {
		return 0, false
	}
	y, m, d := types.CivilFromDays(days)
	total := y*12 + m - 1 + int(months)
	if total < 12 || total >= 12*10000 {
		return 0, false
	}
	y, m = total/12, total%12+1
	return types.DaysFromCivil(y, m, min(d, types.DaysInMonth(y, m))), true
}

// intervalStep adds, subtracts, multiplies and divides intervals.
func intervalStep(op byte, s, t, to types.Type) Step {
	return func(r Rows, args []Arg, out *column.Vector) error {
		x, y := args[0], args[1]
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			if !out.Valid.Get(i) {
				continue
			}
			v, w := x.Int64(x.At(i)), y.Int64(y.At(i))
			var res int64
			ok := true
			switch op {
			case '+':
				res = v + w
				ok = (v^res)&(w^res) >= 0
			case '-':
				res = v - w
				ok = (v^w)&(v^res) >= 0
			case '*':
				var carry int64
				res, carry = mulWide(v, w)
				ok = carry == 0
			default:
				if w == 0 {
					return divisionByZero(i, fmt.Sprintf("INTERVAL '%s' / 0", valueText(x.Vector, x.At(i), nil)))
				}
				res = v / w
				ok = !(w == -1 && v < 0 && res < 0)
			}
			if to.Kind == types.IntervalYearMonth && res != int64(int32(res)) {
				ok = false
			}
			if !ok {
				return outOfRange(i, fmt.Sprintf("%s %c %s", valueText(x.Vector, x.At(i), nil), op, valueText(y.Vector, y.At(i), nil)), to)
			}
			setInt(out, i, res)
		}
		return nil
	}
}
