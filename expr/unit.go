package expr

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// unit is a unit of time as EXTRACT, FLOOR, CEIL, TIMESTAMPADD and TIMESTAMPDIFF name it.
type unit uint8

const (
	unitMillennium unit = iota
	unitCentury
	unitDecade
	unitYear
	unitQuarter
	unitMonth
	unitWeek
	unitDay
	unitHour
	unitMinute
	unitSecond
	unitMillisecond
	unitMicrosecond
	unitNanosecond
	// The rest can only be extracted.
	unitISOYear
	unitDOY
	unitDOW
	unitISODOW
	unitEpoch
	unitCount
)

func (u unit) String() string {
	return [unitCount]string{"MILLENNIUM", "CENTURY", "DECADE", "YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND",
		"MILLISECOND", "MICROSECOND", "NANOSECOND", "ISOYEAR", "DOY", "DOW", "ISODOW", "EPOCH"}[u]
}

// UnitNames returns the names of the units of time.
func UnitNames() []string {
	names := make([]string, unitCount)
	for u := range unitCount {
		names[u] = u.String()
	}
	return names
}

// unitOf finds a unit by name, in any case, also in the plural and with TIMESTAMPADD's SQL_TSI_.
func unitOf(s string) (unit, bool) {
	s = strings.TrimPrefix(strings.ToUpper(s), "SQL_TSI_")
	switch s {
	case "CENTURIES":
		s = "CENTURY"
	case "MILLENNIA":
		s = "MILLENNIUM"
	case "FRAC_SECOND":
		s = "MICROSECOND"
	}
	for u := unit(0); u < unitCount; u++ {
		if n := u.String(); n == s || n+"S" == s {
			return u, true
		}
	}
	return 0, false
}

// unitArg reads the unit that stands as a text literal among the arguments.
func unitArg(e Expr) (unit, error) {
	s, ok := constText(e)
	if !ok {
		return 0, errMismatch
	}
	u, ok := unitOf(s)
	if !ok {
		return 0, fmt.Errorf("%s is no unit of time", strings.ToUpper(s))
	}
	return u, nil
}

// rounds reports whether a value of the temporal type t can be rounded to u.
func (u unit) rounds(t types.Type) bool {
	switch t.Kind {
	case types.Date:
		return u <= unitDay
	case types.Time:
		return u >= unitHour && u <= unitMillisecond
	}
	return u <= unitNanosecond
}

// extracts reports whether u can be extracted from a value of type t.
func (u unit) extracts(t types.Type) bool {
	switch t.Kind {
	case types.Time:
		return u >= unitHour && u <= unitNanosecond || u == unitEpoch
	case types.IntervalYearMonth:
		return u <= unitMonth && u != unitWeek || u == unitEpoch
	case types.IntervalDayTime:
		return u >= unitDay && u <= unitMillisecond || u == unitEpoch
	}
	return t.IsTemporal()
}

// perDay returns how many of u make a day, for units below a day.
func (u unit) perDay() int64 {
	switch u {
	case unitHour:
		return 24
	case unitMinute:
		return 24 * 60
	case unitSecond:
		return 24 * 60 * 60
	case unitMillisecond:
		return types.MillisPerDay
	case unitMicrosecond:
		return types.MillisPerDay * 1000
	}
	return types.MillisPerDay * 1_000_000
}

// extractDate returns a field of a date.
func (u unit) extractDate(days int32) int64 {
	y, m, d := types.CivilFromDays(days)
	switch u {
	case unitMillennium:
		return int64((y + 999) / 1000)
	case unitCentury:
		return int64((y + 99) / 100)
	case unitDecade:
		return int64(y / 10)
	case unitYear:
		return int64(y)
	case unitQuarter:
		return int64((m + 2) / 3)
	case unitMonth:
		return int64(m)
	case unitDay:
		return int64(d)
	case unitDOY:
		return int64(days-types.DaysFromCivil(y, 1, 1)) + 1
	case unitDOW:
		return int64(weekday(days)) + 1
	case unitISODOW:
		return int64(weekday(days)+6)%7 + 1
	case unitWeek:
		_, w := isoWeek(days)
		return int64(w)
	case unitISOYear:
		y, _ := isoWeek(days)
		return int64(y)
	case unitEpoch:
		return int64(days) * 86_400
	}
	return 0 // a field of the time of day at midnight
}

// weekday returns 0 for Sunday to 6.
func weekday(days int32) int { return int(((int64(days)+4)%7 + 7) % 7) }

// isoWeek returns the ISO 8601 year and week: a week belongs to the year of its Thursday.
func isoWeek(days int32) (year, week int) {
	thursday := days - int32((weekday(days)+6)%7) + 3
	y, _, _ := types.CivilFromDays(thursday)
	return y, int(thursday-types.DaysFromCivil(y, 1, 1))/7 + 1
}

// extractClock returns a field of the time of day, in nanoseconds.
func (u unit) extractClock(nanos int64) int64 {
	switch u {
	case unitHour:
		return nanos / 3_600_000_000_000
	case unitMinute:
		return nanos / 60_000_000_000 % 60
	case unitSecond:
		return nanos / 1_000_000_000 % 60
	case unitMillisecond:
		return nanos / 1_000_000 % 1000
	case unitMicrosecond:
		return nanos / 1000 % 1_000_000
	case unitNanosecond:
		return nanos % 1_000_000_000
	}
	return nanos / 1_000_000_000 // EPOCH
}

// extract returns a field of v, a value of type t; a TIMESTAMP_LTZ is seen on the clock of zone.
func (u unit) extract(v int64, t types.Type, zone *time.Location) int64 {
	switch t.Kind {
	case types.Date:
		return u.extractDate(int32(v))
	case types.Time:
		return u.extractClock(v * 1_000_000)
	case types.IntervalYearMonth:
		switch u {
		case unitMonth:
			return v % 12
		case unitQuarter:
			return v%12/3 + 1
		case unitEpoch:
			return v / 12 * 31_557_600
		case unitDecade:
			return v / 120
		case unitCentury:
			return v / 1200
		case unitMillennium:
			return v / 12000
		}
		return v / 12
	case types.IntervalDayTime:
		switch u {
		case unitDay:
			return v / types.MillisPerDay
		case unitEpoch:
			return v / 1000
		case unitHour:
			return v / 3_600_000 % 24
		case unitMinute:
			return v / 60_000 % 60
		case unitSecond:
			return v / 1000 % 60
		}
		return v % 1000
	}
	if u == unitEpoch {
		per := t.PerSecond()
		return (v - (v%per+per)%per) / per
	}
	if t.Kind == types.TimestampLTZ {
		v, _ = types.InstantToLocal(v, t, zone)
	}
	days, rest := types.SplitTimestamp(v, t)
	if u >= unitHour && u <= unitNanosecond {
		return u.extractClock(rest * (1_000_000_000 / t.PerSecond()))
	}
	return u.extractDate(days)
}

// floorDate returns the first day of the unit that a date is in, which may lie before the first date that there is;
// weeks begin on Sunday, as in Flink.
func (u unit) floorDate(days int32) int32 {
	y, m, _ := types.CivilFromDays(days)
	switch u {
	case unitMillennium:
		y, m = (y-1)/1000*1000+1, 1
	case unitCentury:
		y, m = (y-1)/100*100+1, 1
	case unitDecade:
		y, m = y/10*10, 1
	case unitYear:
		m = 1
	case unitQuarter:
		m = (m-1)/3*3 + 1
	case unitWeek:
		return days - int32(weekday(days))
	case unitDay:
		return days
	}
	return types.DaysFromCivil(y, m, 1)
}

// nextDate returns the first day of the unit after the one that begins at days.
func (u unit) nextDate(days int32) (int32, bool) {
	months := u.months()
	if months > 0 {
		return addMonths(days, months)
	}
	if u == unitWeek {
		days += 7
	} else {
		days++
	}
	return days, days <= types.MaxDate
}

// months returns how many months make a unit, 0 for units that are not of months.
func (u unit) months() int64 {
	switch u {
	case unitMillennium:
		return 12000
	case unitCentury:
		return 1200
	case unitDecade:
		return 120
	case unitYear:
		return 12
	case unitQuarter:
		return 3
	case unitMonth:
		return 1
	}
	return 0
}

// round returns the start of the unit that v is in, or with up the next start at or after v.
func (u unit) round(v int64, t types.Type, up bool, zone *time.Location) (int64, bool) {
	switch t.Kind {
	case types.Date:
		d, ok := u.roundDate(int32(v), false, up)
		return int64(d), ok
	case types.Time:
		w, next := u.roundClock(v, types.MillisPerDay, up)
		return w, !next
	case types.TimestampLTZ:
		local, ok := types.InstantToLocal(v, t, zone)
		if !ok {
			return 0, false
		}
		s := types.WithPrecision(types.Timestamp, t.Precision)
		w, ok := u.round(local, s, up, nil)
		if !ok || w == local {
			return v, ok
		}
		return types.LocalToInstant(w, s, zone)
	}
	days, rest := types.SplitTimestamp(v, t)
	day := t.PerSecond() * 86_400
	var ok bool
	if u >= unitHour {
		var next bool
		rest, next = u.roundClock(rest, day, up)
		if next {
			days, rest = days+1, 0
		}
		ok = days <= types.MaxDate
	} else {
		days, ok = u.roundDate(days, rest > 0, up)
		rest = 0
	}
	if !ok {
		return 0, false
	}
	per := t.PerSecond()
	return types.TimestampOf(int64(days)*86_400+rest/per, int(rest%per*(1_000_000_000/per)), finest(t))
}

// roundDate rounds a date; later says that the moment is after its midnight.
func (u unit) roundDate(days int32, later, up bool) (int32, bool) {
	start := u.floorDate(days)
	if !up || start == days && !later {
		return start, start >= types.MinDate
	}
	return u.nextDate(start)
}

// roundClock rounds a time of day; next says that the result is the next midnight.
func (u unit) roundClock(rest, day int64, up bool) (res int64, next bool) {
	n := u.perDay()
	if n >= day {
		return rest, false
	}
	size := day / n
	res = rest - rest%size
	if up && res != rest {
		res += size
	}
	return res, res == day
}

func roundMomentStep(c *Call, env *Env, up bool) (Step, error) {
	u, err := unitArg(c.Args[1])
	if err != nil {
		return nil, err
	}
	t := c.T
	size := int64(0) // of FLOOR to a part of the day, or to it, in the units of a TIMESTAMP
	if day := t.PerSecond() * 86_400; !up && t.Kind == types.Timestamp && (u == unitDay || u >= unitHour && u.perDay() < day) {
		size = day
		if u != unitDay {
			size = day / u.perDay()
		}
	}
	return func(r Rows, args []Arg, out *column.Vector) error {
		x := args[0]
		if size > 0 && !x.Const {
			low := int64(math.MaxInt64)
			for k, n := 0, r.Count(); k < n; k++ {
				i := r.Row(k)
				v := x.I64[i]
				over := v % size
				over += size & (over >> 63)
				out.I64[i] = v - over
				low = min(low, v)
			}
			if low >= math.MinInt64+size {
				return nil
			}
		}
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			v, ok := u.round(x.Int64(x.At(i)), t, up, env.Zone)
			if !ok {
				return outOfRange(i, fmt.Sprintf("%s(%s TO %s)", c.Func.Name, valueText(x.Vector, x.At(i), env.Zone), u), t)
			}
			setInt(out, i, v)
		}
		return nil
	}, nil
}

// addUnits adds n units to v, a value of type t.
func (u unit) addUnits(v, n int64, t types.Type) (int64, bool) {
	if m := u.months(); m > 0 {
		p, carry := mulWide(n, m)
		if carry != 0 {
			return 0, false
		}
		return addInterval(v, p, t, types.Of(types.IntervalYearMonth))
	}
	if u == unitWeek || u == unitDay {
		if u == unitWeek {
			var carry int64
			if n, carry = mulWide(n, 7); carry != 0 {
				return 0, false
			}
		}
		if n > 10_000_000 || n < -10_000_000 {
			return 0, false
		}
		return addInterval(v, n*types.MillisPerDay, t, types.Of(types.IntervalDayTime))
	}
	if t.Kind == types.Time {
		// Round the clock: whole days make no difference.
		n %= u.perDay()
		if per := u.perDay(); per <= types.MillisPerDay {
			return addInterval(v, n*(types.MillisPerDay/per), t, types.Of(types.IntervalDayTime))
		}
		return addInterval(v, n/(u.perDay()/types.MillisPerDay), t, types.Of(types.IntervalDayTime))
	}
	unitsPerDay, day := u.perDay(), t.PerSecond()*86_400
	var p, carry int64
	if unitsPerDay > day {
		p = n / (unitsPerDay / day)
	} else if p, carry = mulWide(n, day/unitsPerDay); carry != 0 {
		return 0, false
	}
	sum := v + p
	if (v^sum)&(p^sum) < 0 || !t.Nanos() && (sum < types.MinMicros || sum > types.MaxMicros) {
		return 0, false
	}
	return sum, true
}

// between returns the whole units from v to w, both values of the TIMESTAMP type t, towards zero.
func (u unit) between(v, w int64, t types.Type) (int64, bool) {
	if m := u.months(); m > 0 {
		return monthsBetween(v, w, t) / m, true
	}
	diff := w - v
	if (w^v)&(w^diff) < 0 {
		return 0, false
	}
	day := t.PerSecond() * 86_400
	switch u {
	case unitDay:
		return diff / day, true
	case unitWeek:
		return diff / (7 * day), true
	}
	n := u.perDay()
	if n <= day {
		return diff / (day / n), true
	}
	res, carry := mulWide(diff, n/day)
	return res, carry == 0
}

func monthsBetween(v, w int64, t types.Type) int64 {
	if v > w {
		return -monthsBetween(w, v, t)
	}
	d1, r1 := types.SplitTimestamp(v, t)
	d2, r2 := types.SplitTimestamp(w, t)
	y1, m1, day1 := types.CivilFromDays(d1)
	y2, m2, day2 := types.CivilFromDays(d2)
	months := int64(y2-y1)*12 + int64(m2-m1)
	if day2 < day1 || day2 == day1 && r2 < r1 {
		months--
	}
	return months
}

func fitsInt32(n int64) bool { return n >= math.MinInt32 && n <= math.MaxInt32 }
