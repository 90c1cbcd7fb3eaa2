package types

import (
	"strconv"
	"time"
)

func append2(dst []byte, v int) []byte {
	return append(dst, digitPairs[2*v], digitPairs[2*v+1])
}

// AppendDate appends a day since 1970-01-01 as YYYY-MM-DD.
func AppendDate(dst []byte, days int32) []byte {
	y, m, d := CivilFromDays(days)
	if y < 0 || y > 9999 {
		// No date of the engine is there (see MinDate); show it as it is rather than as another.
		dst = strconv.AppendInt(dst, int64(y), 10)
		dst = append(dst, '-')
		dst = append2(dst, m)
		dst = append(dst, '-')
		return append2(dst, d)
	}
	a, b := y/100*2, y%100*2
	m, d = m*2, d*2
	return append(dst, digitPairs[a], digitPairs[a+1], digitPairs[b], digitPairs[b+1], '-',
		digitPairs[m], digitPairs[m+1], '-', digitPairs[d], digitPairs[d+1])
}

// appendClock appends HH:MM:SS of a second of the day.
func appendClock(dst []byte, s int) []byte {
	h, m, s := s/3600*2, s/60%60*2, s%60*2
	return append(dst, digitPairs[h], digitPairs[h+1], ':', digitPairs[m], digitPairs[m+1], ':',
		digitPairs[s], digitPairs[s+1])
}

// appendFraction appends a point and the first p of nine decimals.
func appendFraction(dst []byte, nanos, p int) []byte {
	if p == 0 {
		return dst
	}
	var buf [9]byte
	for i := 8; i >= 0; i-- {
		buf[i] = byte('0' + nanos%10)
		nanos /= 10
	}
	dst = append(dst, '.')
	return append(dst, buf[:p]...)
}

// AppendTime appends milliseconds of the day as the text of TIME(p): HH:MM:SS, and p decimals when p is
// above 0; but no more than three, since a TIME has no more. Milliseconds outside the day are taken round
// the clock.
func AppendTime(dst []byte, ms int32, p int) []byte {
	if uint32(ms) >= MillisPerDay {
		if ms %= MillisPerDay; ms < 0 {
			ms += MillisPerDay
		}
	}
	dst = appendClock(dst, int(ms)/1000)
	return appendFraction(dst, int(ms)%1000*1_000_000, min(p, 3))
}

// AppendTimestamp appends v, a value of the TIMESTAMP or TIMESTAMP_LTZ type t, as YYYY-MM-DD HH:MM:SS,
// with a point and exactly as many decimals as t's precision when that is above 0. A TIMESTAMP_LTZ is
// shown as a clock in zone shows it (nil: UTC); zone means nothing to a TIMESTAMP.
func AppendTimestamp(dst []byte, v int64, t Type, zone *time.Location) []byte {
	per := t.PerSecond()
	s := floorDiv(v, per)
	fraction := int(v - s*per)
	if t.Kind == TimestampLTZ && zone != nil && zone != time.UTC {
		_, offset := time.Unix(s, 0).In(zone).Zone()
		s += int64(offset)
	}
	d := floorDiv(s, secondsPerDay)
	dst = AppendDate(dst, int32(d))
	dst = append(dst, ' ')
	dst = appendClock(dst, int(s-d*secondsPerDay))
	p := t.Precision
	switch {
	case p == 0:
		return dst
	case p > 6:
		return appendFraction(dst, fraction, p)
	}
	a, b, c := fraction/10000*2, fraction/100%100*2, fraction%100*2
	n := len(dst) + 1 + p
	dst = append(dst, '.', digitPairs[a], digitPairs[a+1], digitPairs[b], digitPairs[b+1], digitPairs[c], digitPairs[c+1])
	return dst[:n]
}

// AppendIntervalYearMonth appends months as +1-06: sign, years, months.
func AppendIntervalYearMonth(dst []byte, months int32) []byte {
	m := int64(months)
	dst, m = appendSign(dst, m)
	dst = strconv.AppendInt(dst, m/12, 10)
	dst = append(dst, '-')
	return append2(dst, int(m%12))
}

// AppendIntervalDayTime appends milliseconds as +1 02:03:04.005: sign, days, time.
func AppendIntervalDayTime(dst []byte, ms int64) []byte {
	negative := ms < 0
	u := magnitude64(ms)
	if negative {
		dst = append(dst, '-')
	} else {
		dst = append(dst, '+')
	}
	dst = strconv.AppendUint(dst, u/MillisPerDay, 10)
	dst = append(dst, ' ')
	rest := int(u % MillisPerDay)
	dst = appendClock(dst, rest/1000)
	return appendFraction(dst, rest%1000*1_000_000, 3)
}

func appendSign(dst []byte, v int64) ([]byte, int64) {
	if v < 0 {
		return append(dst, '-'), -v
	}
	return append(dst, '+'), v
}

// moment is a date and time taken apart.
type moment struct {
	year, month, day     int
	hour, minute, second int
	nanos                int
	decimals             int  // how many of the fraction were written
	hasTime              bool // a time of day followed the date
}

func (m *moment) days() int32 { return DaysFromCivil(m.year, m.month, m.day) }

func (m *moment) seconds() int64 {
	return int64(m.days())*secondsPerDay + int64(m.hour*3600+m.minute*60+m.second)
}

// digits reads between least and most digits.
func digits(b []byte, least, most int) (v int, rest []byte, ok bool) {
	i := 0
	for i < len(b) && i < most && b[i]-'0' <= 9 {
		v = v*10 + int(b[i]-'0')
		i++
	}
	return v, b[i:], i >= least
}

// What is wrong with a date or time.
const (
	notADate      = "expected YYYY-MM-DD"
	notATime      = "expected HH:MM:SS"
	notATimestamp = "expected YYYY-MM-DD HH:MM:SS"
	noSuchDate    = "no such date"
	noSuchTime    = "no such time of day"
)

// date reads YYYY-MM-DD; a lenient date may have a month and day of one digit, and years below 1000 in
// fewer digits.
func (m *moment) date(b []byte, strict bool) (rest []byte, ok bool) {
	if len(b) >= 10 && b[4] == '-' && b[7] == '-' {
		y0, y1, y2, y3 := b[0]-'0', b[1]-'0', b[2]-'0', b[3]-'0'
		m0, m1, d0, d1 := b[5]-'0', b[6]-'0', b[8]-'0', b[9]-'0'
		if y0 <= 9 && y1 <= 9 && y2 <= 9 && y3 <= 9 && m0 <= 9 && m1 <= 9 && d0 <= 9 && d1 <= 9 {
			m.year = int(y0)*1000 + int(y1)*100 + int(y2)*10 + int(y3)
			m.month = int(m0)*10 + int(m1)
			m.day = int(d0)*10 + int(d1)
			return b[10:], true
		}
	}
	if strict {
		return b, false
	}
	if m.year, b, ok = digits(b, 1, 4); !ok || len(b) == 0 || b[0] != '-' {
		return b, false
	}
	if m.month, b, ok = digits(b[1:], 1, 2); !ok || len(b) == 0 || b[0] != '-' {
		return b, false
	}
	m.day, b, ok = digits(b[1:], 1, 2)
	return b, ok
}

func (m *moment) realDate() bool {
	return m.year >= 1 && m.month >= 1 && m.month <= 12 && m.day >= 1 &&
		(m.day <= 28 || m.day <= DaysInMonth(m.year, m.month))
}

// clock reads HH:MM[:SS[.f]] with up to nine decimals, to the end; a lenient one may have fields of one
// digit.
func (m *moment) clock(b []byte, strict bool) (ok bool) {
	least := 1
	if strict {
		least = 2
	}
	m.hasTime = true
	if m.hour, b, ok = digits(b, least, 2); !ok || len(b) == 0 || b[0] != ':' {
		return false
	}
	if m.minute, b, ok = digits(b[1:], least, 2); !ok {
		return false
	}
	if len(b) == 0 {
		return true
	}
	if b[0] != ':' {
		return false
	}
	if m.second, b, ok = digits(b[1:], least, 2); !ok {
		return false
	}
	if len(b) == 0 {
		return true
	}
	if b[0] != '.' {
		return false
	}
	b = b[1:]
	m.decimals = len(b)
	if m.nanos, b, ok = digits(b, 1, 9); !ok || len(b) > 0 {
		return false
	}
	m.nanos *= int(pow10u64[9-m.decimals])
	return true
}

func (m *moment) realTime() bool { return m.hour < 24 && m.minute < 60 && m.second < 60 }

// read reads a date and, after a blank or T, a time.
func (m *moment) read(b []byte, strict bool, expected string) (why string) {
	rest, ok := m.date(b, strict)
	if !ok {
		return expected
	}
	if len(rest) > 0 {
		if rest[0] != ' ' && rest[0] != 'T' || !m.clock(rest[1:], strict) {
			return expected
		}
	}
	if !m.realDate() {
		return noSuchDate
	}
	if !m.realTime() {
		return noSuchTime
	}
	return ""
}

// loses reports whether the fraction has digits other than 0 beyond p decimals.
func (m *moment) loses(p int) bool { return p < 9 && m.nanos%int(pow10u64[9-p]) != 0 }

// ParseDate reads a date as CAST does: YYYY-MM-DD, also with a month and day of one digit, or a year or
// year and month alone (their first day); a time of day after it is checked and dropped. Blanks around
// it are trimmed. The result is days since 1970-01-01.
func ParseDate(text []byte) (int32, error) {
	b := trim(text)
	var m moment
	why := m.read(b, false, notADate)
	if why == notADate {
		// A year, or a year and a month.
		year, rest, ok := digits(b, 1, 4)
		month := 1
		if ok && len(rest) > 0 && rest[0] == '-' {
			month, rest, ok = digits(rest[1:], 1, 2)
		}
		if ok && len(rest) == 0 {
			m = moment{year: year, month: month, day: 1}
			if why = ""; !m.realDate() {
				why = noSuchDate
			}
		}
	}
	if why != "" {
		return 0, valueError(text, Of(Date), why)
	}
	return m.days(), nil
}

// ParseTime reads a time as CAST AS TIME(p) does: HH[:MM[:SS[.f]]], decimals beyond p, and beyond the
// third, dropped, blanks around it trimmed. The result is milliseconds of the day.
func ParseTime(text []byte, p int) (int32, error) {
	b := trim(text)
	var m moment
	if hour, rest, ok := digits(b, 1, 2); ok && len(rest) == 0 {
		m.hour = hour
	} else if !m.clock(b, false) {
		return 0, valueError(text, WithPrecision(Time, p), notATime)
	}
	if !m.realTime() {
		return 0, valueError(text, WithPrecision(Time, p), noSuchTime)
	}
	return m.millis(p), nil
}

func (m *moment) millis(p int) int32 {
	ms := m.nanos / 1_000_000
	if p < 3 {
		ms -= ms % int(pow10u64[3-p])
	}
	return int32((m.hour*3600+m.minute*60+m.second)*1000 + ms)
}

// ParseTimestamp reads a timestamp as CAST AS t does, t being a TIMESTAMP or TIMESTAMP_LTZ:
// YYYY-MM-DD[( |T)HH:MM[:SS[.f]]], fields of one digit allowed, decimals beyond t's precision dropped,
// blanks around it trimmed. For TIMESTAMP_LTZ the text is the time of a clock in zone (nil: UTC).
func ParseTimestamp(text []byte, t Type, zone *time.Location) (int64, error) {
	var m moment
	why := m.read(trim(text), false, notATimestamp)
	if why == "" {
		v, ok := m.timestamp(t, zone)
		if ok {
			return v, nil
		}
		why = timestampRange(t)
	}
	return 0, valueError(text, t, why)
}

func (m *moment) timestamp(t Type, zone *time.Location) (int64, bool) {
	v, ok := TimestampOf(m.seconds(), m.nanos, t)
	if ok && t.Kind == TimestampLTZ {
		v, ok = LocalToInstant(v, t, zone)
	}
	return v, ok
}

// timestampRange says which timestamps t holds.
func timestampRange(t Type) string {
	if t.Nanos() {
		return "with more than 6 decimals the years 1677-09-21 to 2262-04-11 can be held"
	}
	return "the years 0001 to 9999 can be held"
}

// NewTimestampError returns the error for v, a value of the TIMESTAMP or TIMESTAMP_LTZ type from, that is
// outside the range of t.
func NewTimestampError(v int64, from, t Type, zone *time.Location) *ValueError {
	return NewValueError(AppendTimestamp(nil, v, from, zone), t, timestampRange(t))
}

// ParseISODate reads a date as a store holds it: exactly YYYY-MM-DD, or that with a time of midnight.
// Anything else is an error, since reading it would alter it.
func ParseISODate(b []byte) (int32, error) {
	var m moment
	why := m.read(b, true, notADate)
	if why == "" && (m.hour|m.minute|m.second|m.nanos) != 0 {
		why = "a DATE holds no time of day"
	}
	if why != "" {
		return 0, valueError(b, Of(Date), why)
	}
	return m.days(), nil
}

// ParseISOTime reads a time as a store holds it: exactly HH:MM[:SS[.f]], with no digit that TIME(p) would
// lose.
func ParseISOTime(b []byte, p int) (int32, error) {
	var m moment
	why := ""
	switch {
	case !m.clock(b, true):
		why = notATime
	case !m.realTime():
		why = noSuchTime
	case m.loses(min(p, 3)):
		why = tooManyDecs
	}
	if why != "" {
		return 0, valueError(b, WithPrecision(Time, p), why)
	}
	return m.millis(p), nil
}

// ParseISOTimestamp reads a timestamp as a store holds it: exactly YYYY-MM-DD[( |T)HH:MM[:SS[.f]]], with
// no digit that t would lose. For TIMESTAMP_LTZ the text is the time of a clock in zone (nil: UTC).
func ParseISOTimestamp(b []byte, t Type, zone *time.Location) (int64, error) {
	var m moment
	why := m.read(b, true, notATimestamp)
	if why == "" && m.loses(t.Precision) {
		why = tooManyDecs
	}
	if why == "" {
		v, ok := m.timestamp(t, zone)
		if ok {
			return v, nil
		}
		why = timestampRange(t)
	}
	return 0, valueError(b, t, why)
}
