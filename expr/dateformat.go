package expr

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-sql/sluice/types"
)

// dateFormat is a compiled format of DATE_FORMAT and TO_TIMESTAMP, written as in Java: yyyy-MM-dd
// HH:mm:ss.SSS. Letters stand for fields, text between single quotes and all signs for themselves.
type dateFormat []formatField

// formatField is a letter with its count, or, with letter 0, text.
type formatField struct {
	letter byte
	count  int
	text   string
}

// compileFormat reads a format; zoned allows X, the offset from UTC.
func compileFormat(s string, zoned bool) (dateFormat, error) {
	letters, hint := "yuMLdDEaHhkKmsSQw", "use y M d D E a H h k K m s S Q w, and quotes around text"
	if zoned {
		letters, hint = letters+"X", "use y M d D E a H h k K m s S Q w X, and quotes around text"
	}
	var f dateFormat
	literal := func(t string) {
		if n := len(f); n > 0 && f[n-1].letter == 0 {
			f[n-1].text += t
			return
		}
		f = append(f, formatField{text: t})
	}
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '\'':
			end := strings.IndexByte(s[i+1:], '\'')
			if end < 0 {
				return nil, failure("format '"+s+"': a quote is not closed", "")
			}
			if end == 0 {
				literal("'")
			} else {
				literal(s[i+1 : i+1+end])
			}
			i += end + 2
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			n := 1
			for i+n < len(s) && s[i+n] == c {
				n++
			}
			if !strings.ContainsRune(letters, rune(c)) || c == 'X' && n > 3 {
				return nil, failure(fmt.Sprintf("format '%s': the letter %c is not supported", s, c), hint)
			}
			if c == 'u' {
				c = 'y'
			}
			if c == 'L' {
				c = 'M'
			}
			f = append(f, formatField{letter: c, count: n})
			i += n
		default:
			literal(string(c))
			i++
		}
	}
	return f, nil
}

// append appends the text of a day and the nanoseconds of its time.
func (f dateFormat) append(dst []byte, days int32, nanos int64) []byte {
	y, m, d := types.CivilFromDays(days)
	for k := range f {
		switch x := &f[k]; x.letter {
		case 0:
			if len(x.text) == 1 {
				dst = append(dst, x.text[0])
				break
			}
			dst = append(dst, x.text...)
		case 'y':
			if x.count == 2 {
				dst = appendNumber(dst, y%100, 2)
			} else {
				dst = appendNumber(dst, y, x.count)
			}
		case 'M':
			if x.count < 3 {
				dst = appendNumber(dst, m, x.count)
			} else {
				dst = named(dst, x.count, time.Month(m).String())
			}
		case 'd':
			dst = appendNumber(dst, d, x.count)
		case 'D':
			dst = appendNumber(dst, int(unitDOY.extractDate(days)), x.count)
		case 'E':
			dst = named(dst, max(x.count, 3), time.Weekday(weekday(days)).String())
		case 'a':
			if hourOf(nanos) < 12 {
				dst = append(dst, "AM"...)
			} else {
				dst = append(dst, "PM"...)
			}
		case 'H':
			dst = appendNumber(dst, hourOf(nanos), x.count)
		case 'h':
			dst = appendNumber(dst, (hourOf(nanos)+11)%12+1, x.count)
		case 'k':
			dst = appendNumber(dst, (hourOf(nanos)+23)%24+1, x.count)
		case 'K':
			dst = appendNumber(dst, hourOf(nanos)%12, x.count)
		case 'm':
			dst = appendNumber(dst, int(nanos/60_000_000_000%60), x.count)
		case 's':
			dst = appendNumber(dst, int(nanos/1_000_000_000%60), x.count)
		case 'S':
			frac := nanos % 1_000_000_000
			for k, place := 0, int64(100_000_000); k < x.count; k, place = k+1, place/10 {
				digit := int64(0)
				if place > 0 {
					digit = frac / place % 10
				}
				dst = append(dst, byte('0'+digit))
			}
		case 'Q':
			dst = appendNumber(dst, (m+2)/3, x.count)
		case 'w':
			dst = appendNumber(dst, int(unitWeek.extractDate(days)), x.count)
		}
	}
	return dst
}

func hourOf(nanos int64) int { return int(nanos / 3_600_000_000_000) }

// appendNumber appends n with zeros before it up to a width.
func appendNumber(dst []byte, n, width int) []byte {
	switch {
	case width == 2 && n >= 0 && n < 100:
		return append(dst, byte('0'+n/10), byte('0'+n%10))
	case width == 4 && n >= 0 && n < 10000:
		return append(dst, byte('0'+n/1000), byte('0'+n/100%10), byte('0'+n/10%10), byte('0'+n%10))
	}
	start := len(dst)
	dst = strconv.AppendInt(dst, int64(n), 10)
	for len(dst)-start < width {
		dst = append(dst, 0)
		copy(dst[start+1:], dst[start:])
		dst[start] = '0'
	}
	return dst
}

// named writes the name of a month or weekday: a short one for three letters, else the whole.
func named(dst []byte, count int, name string) []byte {
	if count == 3 {
		return append(dst, name[:3]...)
	}
	return append(dst, name...)
}

// parse reads a text in full. It reports false when the text does not fit or names no real moment.
func (f dateFormat) parse(s string) (days int32, nanos int64, ok bool) {
	m, ok := f.begin(s)
	return m.days, m.nanos, ok && m.rest == ""
}

// parsed is what a format reads: a day and the nanoseconds in it, the offset from UTC in seconds if the format has
// one, and what follows in the text.
type parsed struct {
	days   int32
	nanos  int64
	zoned  bool
	offset int
	rest   string
}

// begin reads what a text begins with.
func (f dateFormat) begin(s string) (p parsed, ok bool) {
	y, m, d, doy := 1970, 1, 1, 0
	hour, minute, second, frac := 0, 0, 0, 0
	pm, twelve := -1, false
	for k, x := range f {
		if x.letter == 0 {
			rest, found := strings.CutPrefix(s, x.text)
			if !found {
				return parsed{}, false
			}
			s = rest
			continue
		}
		switch {
		case x.letter == 'E':
			n := cutName(s, x.count, 7, func(i int) string { return time.Weekday(i).String() })
			if n.size == 0 {
				return parsed{}, false
			}
			s = s[n.size:]
			continue
		case x.letter == 'M' && x.count >= 3:
			n := cutName(s, x.count, 12, func(i int) string { return time.Month(i + 1).String() })
			if n.size == 0 {
				return parsed{}, false
			}
			m, s = n.index+1, s[n.size:]
			continue
		case x.letter == 'a':
			if len(s) < 2 || (s[0]|0x20 != 'a' && s[0]|0x20 != 'p') || s[1]|0x20 != 'm' {
				return parsed{}, false
			}
			pm = b2i(s[0]|0x20 == 'p')
			s = s[2:]
			continue
		case x.letter == 'X':
			offset, n := cutOffset(s, x.count)
			if n == 0 {
				return parsed{}, false
			}
			p.offset, p.zoned, s = offset, true, s[n:]
			continue
		}
		// A number: of exactly its count where another number follows at once, else as long as it goes.
		most := 10
		if x.letter == 'S' || k+1 < len(f) && f[k+1].letter != 0 {
			most = x.count
		}
		n := 0
		for n < len(s) && n < most && '0' <= s[n] && s[n] <= '9' {
			n++
		}
		if n == 0 || n < x.count && x.letter != 'S' || x.letter == 'S' && n < x.count {
			return parsed{}, false
		}
		v, err := strconv.Atoi(s[:n])
		if err != nil {
			return parsed{}, false
		}
		digits := s[:n]
		s = s[n:]
		switch x.letter {
		case 'y':
			y = v
			if x.count == 2 && n == 2 {
				y = 2000 + v
			}
		case 'M':
			m = v
		case 'd':
			d = v
		case 'D':
			doy = v
		case 'H', 'k':
			if x.letter == 'k' && v == 24 {
				v = 0
			}
			hour = v
		case 'h', 'K':
			if x.letter == 'h' && v == 12 {
				v = 0
			}
			if v > 11 {
				return parsed{}, false
			}
			hour, twelve = v, true
		case 'm':
			minute = v
		case 's':
			second = v
		case 'S':
			for len(digits) < 9 {
				digits += "0"
			}
			frac, _ = strconv.Atoi(digits[:9])
		}
	}
	if twelve && pm == 1 {
		hour += 12
	}
	if y < 1 || y > 9999 || m < 1 || m > 12 || d < 1 || d > types.DaysInMonth(y, m) || hour > 23 || minute > 59 || second > 59 {
		return parsed{}, false
	}
	days := types.DaysFromCivil(y, m, d)
	if doy > 0 {
		days = types.DaysFromCivil(y, 1, 1) + int32(doy) - 1
		if last := types.DaysFromCivil(y, 12, 31); days > last {
			return parsed{}, false
		}
	}
	p.days, p.rest = days, s
	p.nanos = int64(hour)*3_600_000_000_000 + int64(minute)*60_000_000_000 + int64(second)*1_000_000_000 + int64(frac)
	return p, true
}

// cutOffset reads an offset from UTC as X (+08), XX (+0800) or XXX (+08:00) write it, or Z, and returns the seconds
// and how long it is; 0 when there is none.
func cutOffset(s string, count int) (seconds, size int) {
	if strings.HasPrefix(s, "Z") {
		return 0, 1
	}
	form := []string{"+hh", "+hhmm", "+hh:mm"}[count-1]
	if len(s) < len(form) || s[0] != '+' && s[0] != '-' {
		return 0, 0
	}
	hours, minutes := 0, 0
	for i := 1; i < len(form); i++ {
		switch digit := int(s[i]) - '0'; {
		case form[i] == ':':
			if s[i] != ':' {
				return 0, 0
			}
		case digit < 0 || digit > 9:
			return 0, 0
		case form[i] == 'h':
			hours = hours*10 + digit
		default:
			minutes = minutes*10 + digit
		}
	}
	if hours > 23 || minutes > 59 {
		return 0, 0
	}
	seconds = hours*3600 + minutes*60
	if s[0] == '-' {
		seconds = -seconds
	}
	return seconds, len(form)
}

type foundName struct{ index, size int }

// cutName finds which of n names s begins with, in any case: the short one of three letters, or the whole.
func cutName(s string, count, n int, name func(int) string) foundName {
	for i := 0; i < n; i++ {
		w := name(i)
		if count == 3 {
			w = w[:3]
		}
		if len(s) >= len(w) && strings.EqualFold(s[:len(w)], w) {
			return foundName{i, len(w)}
		}
	}
	return foundName{}
}
