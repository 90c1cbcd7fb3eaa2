package types

import "time"

// The range of dates: 0001-01-01 to 9999-12-31 in days since 1970-01-01, and the same for timestamps in
// microseconds. Timestamps held as nanoseconds reach from 1677-09-21 00:12:43.145224192 to 2262-04-11
// 23:47:16.854775807, which is all that an int64 holds.
const (
	MinDate   int32 = -719162
	MaxDate   int32 = 2932896
	MinMicros int64 = int64(MinDate) * microsPerDay
	MaxMicros int64 = (int64(MaxDate)+1)*microsPerDay - 1
)

const (
	// MillisPerDay is the number of milliseconds of a day; a TIME is below it.
	MillisPerDay  = 86_400_000
	microsPerDay  = 86_400_000_000
	nanosPerDay   = 86_400_000_000_000
	secondsPerDay = 86_400
)

// PerSecond returns the units of t, a TIMESTAMP or TIMESTAMP_LTZ, in a second: 10^6, or 10^9 when t is
// held as nanoseconds.
func (t Type) PerSecond() int64 {
	if t.Nanos() {
		return 1_000_000_000
	}
	return 1_000_000
}

// CivilFromDays returns the year, month and day of a day since 1970-01-01, in the Gregorian calendar
// reckoned backwards too. Years before 1 are 0, -1 and so on.
//
// It counts from 1 March of a year far in the past, so that the leap day ends the year; the divisions are
// by constants and by a multiple of 2^32 (Neri and Schneider, "Euclidean affine functions and their
// application to calendar algorithms", 2023).
func CivilFromDays(days int32) (year, month, day int) {
	const cycles = 14704 // of 400 years, which make the count positive for every int32
	n := uint64(int64(days) + 719468 + 146097*cycles)
	n1 := 4*n + 3
	century := n1 / 146097
	n2 := 4*(n1%146097/4) + 3
	p2 := 2939745 * n2
	yearOfCentury := p2 >> 32
	dayOfYear := p2 & 0xffffffff / 2939745 / 4
	n3 := 2141*dayOfYear + 197913
	month = int(n3 >> 16)
	day = int(n3&0xffff/2141) + 1
	year = int(100*century+yearOfCentury) - 400*cycles
	if dayOfYear >= 306 {
		year++
		month -= 12
	}
	return year, month, day
}

// DaysFromCivil returns the day since 1970-01-01 of a date, which must exist.
func DaysFromCivil(year, month, day int) int32 {
	if month <= 2 {
		year--
		month += 12
	}
	era := floorDiv(int64(year), 400)
	yoe := int64(year) - era*400
	doy := (153*int64(month-3)+2)/5 + int64(day) - 1
	return int32(era*146097 + yoe*365 + yoe/4 - yoe/100 + doy - 719468)
}

// DaysInMonth returns the number of days of a month, 1 to 12.
func DaysInMonth(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// SplitTimestamp returns the day and the time within it of v, a value of the TIMESTAMP type t; the time
// is in t's unit.
func SplitTimestamp(v int64, t Type) (days int32, rest int64) {
	if t.Nanos() {
		d := floorDiv(v, nanosPerDay)
		return int32(d), v - d*nanosPerDay
	}
	d := floorDiv(v, microsPerDay)
	return int32(d), v - d*microsPerDay
}

// TimestampOf returns seconds since 1970-01-01 00:00:00 and nanoseconds below 10^9 as a value of t, a
// TIMESTAMP or TIMESTAMP_LTZ, with decimals beyond t's precision dropped. It reports false outside the
// range of t.
func TimestampOf(seconds int64, nanos int, t Type) (int64, bool) {
	if p := t.Precision; p < 9 {
		nanos -= nanos % int(pow10u64[9-p])
	}
	if t.Nanos() {
		const most = 1<<63 - 1
		if seconds < 0 && nanos > 0 { // so that the lowest value, of which the product alone overflows, passes
			seconds++
			nanos -= 1_000_000_000
		}
		if seconds > most/1_000_000_000 || seconds < -most/1_000_000_000 {
			return 0, false
		}
		v := seconds*1_000_000_000 + int64(nanos)
		return v, (v < 0) == (seconds < 0 || seconds == 0 && nanos < 0)
	}
	if seconds < MinMicros/1_000_000 || seconds > MaxMicros/1_000_000 {
		return 0, false
	}
	return seconds*1_000_000 + int64(nanos/1000), true
}

// RescaleTimestamp turns a value of one TIMESTAMP or TIMESTAMP_LTZ type into that of another (no zone is
// applied), dropping decimals beyond the target's precision. It reports false outside the target's range.
func RescaleTimestamp(v int64, from, to Type) (int64, bool) {
	per := from.PerSecond()
	if per == to.PerSecond() {
		if to.Precision >= from.Precision {
			return v, true
		}
		unit := 6
		if from.Nanos() {
			unit = 9
		}
		p := int64(pow10u64[unit-to.Precision])
		r := v % p
		if r < 0 {
			r += p
		}
		if v-r > v { // below the lowest nanosecond
			return 0, false
		}
		return v - r, true
	}
	s := floorDiv(v, per)
	return TimestampOf(s, int((v-s*per)*(1_000_000_000/per)), to)
}

// InstantToLocal turns v, a value of the TIMESTAMP_LTZ type t, into the TIMESTAMP that a clock in zone
// shows. A nil zone is UTC. It reports false outside the range.
func InstantToLocal(v int64, t Type, zone *time.Location) (int64, bool) {
	if zone == nil || zone == time.UTC {
		return v, true
	}
	per := t.PerSecond()
	_, offset := time.Unix(floorDiv(v, per), 0).In(zone).Zone()
	return addSeconds(v, int64(offset), t)
}

// LocalToInstant turns v, a value of the TIMESTAMP type t, into the instant at which a clock in zone shows
// it. A time that the clock shows twice is the earlier one; a time that it skips is as much later as the
// clock jumps. A nil zone is UTC. It reports false outside the range.
func LocalToInstant(v int64, t Type, zone *time.Location) (int64, bool) {
	if zone == nil || zone == time.UTC {
		return v, true
	}
	local := floorDiv(v, t.PerSecond())
	offsetAt := func(s int64) int64 {
		_, o := time.Unix(s, 0).In(zone).Zone()
		return int64(o)
	}
	before := offsetAt(local - secondsPerDay)
	if offsetAt(local-before) == before {
		return addSeconds(v, -before, t)
	}
	after := offsetAt(local + secondsPerDay)
	if offsetAt(local-after) == after {
		return addSeconds(v, -after, t)
	}
	return addSeconds(v, -before, t)
}

func addSeconds(v, seconds int64, t Type) (int64, bool) {
	d := seconds * t.PerSecond()
	r := v + d
	if t.Nanos() {
		return r, (r > v) == (d > 0)
	}
	return r, r >= MinMicros && r <= MaxMicros
}
