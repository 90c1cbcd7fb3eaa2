package postgres

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/column"
)

// Text goes into a column of a type that has none of its own here as the server reads it. What the server would cut or
// round without a word is found before.

// Types that the server alters text for.
const (
	oidChar   oid = 18 // of one byte
	oidName   oid = 19
	oidMoney  oid = 790
	oidTimetz oid = 1266
)

// numericDecimals are those that a numeric keeps which declares none.
const numericDecimals = 16383

// textRefused says why text does not go into a column at all, "" when it does.
func textRefused(stored storedType) string {
	switch {
	case stored.oid == oidMoney:
		return "which is read by the server's lc_monetary, and rounded"
	case stored.parts == "cut":
		return "parts of which PostgreSQL would cut or round"
	}
	return ""
}

// textExact is the condition that the server keeps all of a text, nil where it does by itself or says so.
func textExact(stored storedType) func(text string) (misfit string) {
	switch stored.oid {
	case oidChar:
		return func(text string) string {
			if len(text) > 1 || text >= "\x80" {
				return "the column has one byte, of ASCII"
			}
			return ""
		}
	case oidName:
		return func(text string) string {
			if len(text) > maxName {
				return fmt.Sprintf("it has more than the %d bytes of a name", maxName)
			}
			return ""
		}
	case oidNumeric:
		_, scale, free := numericParts(stored.mod)
		if free {
			scale = numericDecimals
		}
		return exactNumeric(scale)
	case oidTimetz:
		few := fewDecimals(fraction(stored.mod))
		form := regexp.MustCompile(`^\d\d:\d\d(:\d\d(\.\d+)?)?( ?[+-]\d\d(:?\d\d(:?\d\d)?)?| ?[zZ])?$`)
		return func(text string) string {
			if !form.MatchString(text) {
				return "want a time such as 12:34:56.789+02"
			}
			return few(text)
		}
	case oidInterval:
		return exactInterval(stored.mod)
	}
	if stored.parts == "time" {
		return fewDecimals(6)
	}
	return nil
}

// textFits is the condition of text in a column: PostgreSQL has no NUL character, pads CHAR and drops blanks that are
// too many.
func textFits(stored storedType) func(v *column.Vector, i int) string {
	most, exact := 0, stored.oid == oidBpchar
	if (exact || stored.oid == oidVarchar) && stored.mod >= 5 {
		most = stored.mod - 4
	}
	return func(v *column.Vector, i int) string {
		b := v.Value(i)
		if bytes.IndexByte(b, 0) >= 0 {
			return "PostgreSQL keeps no NUL character in text"
		}
		switch n := len(b); {
		case most == 0 || n <= most && !exact || exact && n == most && utf8.RuneCount(b) == most:
			return ""
		case exact:
			if n := utf8.RuneCount(b); n < most {
				return fmt.Sprintf("it has %d characters, and PostgreSQL would pad it to the %d of the column; CAST it to VARCHAR(%d)", n, most, most)
			} else if n == most {
				return ""
			}
		case utf8.RuneCount(b) <= most:
			return ""
		}
		return fmt.Sprintf("it has more than the %d characters of the column", most)
	}
}

// textInto is the condition of text in a column: what textFits and textExact say.
func textInto(stored storedType) func(v *column.Vector, i int) string {
	fits, exact := textFits(stored), textExact(stored)
	if exact == nil {
		return fits
	}
	return func(v *column.Vector, i int) string {
		if why := fits(v, i); why != "" {
			return why
		}
		return exact(string(v.Value(i)))
	}
}

// fraction is how many decimals of a second a typmod leaves.
func fraction(mod int) int {
	if mod < 0 || mod > 6 {
		return 6
	}
	return mod
}

// tooMany says that a value has more decimals than most. Of a column that is kept in tens or hundreds that is below zero.
func tooMany(most int) string {
	if most < 0 {
		return "the column keeps no digit below 1" + strings.Repeat("0", -most)
	}
	return fmt.Sprintf("it has more than the %d decimals of the column", most)
}

// fewDecimals says when a number in a text has more decimals than most.
func fewDecimals(most int) func(text string) string {
	decimals := regexp.MustCompile(`\.(\d+)`)
	return func(text string) string {
		for _, m := range decimals.FindAllStringSubmatch(text, -1) {
			if len(strings.TrimRight(m[1], "0")) > most {
				return tooMany(most)
			}
		}
		return ""
	}
}

// exactNumeric says when a number has more decimals than scale, which may be below zero.
func exactNumeric(scale int) func(text string) string {
	number := regexp.MustCompile(`^\s*[+-]?(\d*)\.?(\d*)(?:[eE]([+-]?\d{1,6}))?\s*$`)
	none := regexp.MustCompile(`(?i)^\s*([+-]?inf(inity)?|nan)\s*$`)
	return func(text string) string {
		m := number.FindStringSubmatch(text)
		switch {
		case none.MatchString(text):
			return ""
		case m == nil || m[1]+m[2] == "":
			return "want a number such as -12.5 or 1e6"
		}
		exponent, _ := strconv.Atoi(m[3]) // none: 0
		digits := strings.TrimRight(m[1]+m[2], "0")
		// So many places behind the point stands the last digit that is not 0.
		if last := len(digits) - len(m[1]) - exponent; digits != "" && last > scale {
			return tooMany(scale)
		}
		return ""
	}
}

// exactInterval says when a column of intervals would drop a part of one. It knows the form that the server itself
// writes, and units in words.
func exactInterval(mod int) func(text string) string {
	const form = "want an interval such as 1 year 2 mons 3 days 04:05:06.789"
	clock := regexp.MustCompile(`^([+-]?)(\d{1,9}):(\d\d)(?::(\d\d)(?:\.(\d+))?)?$`)
	amount := regexp.MustCompile(`^([+-]?\d{1,12})(?:\.(\d+))?$`)
	short := map[string]string{"": "second", "mon": "month", "min": "minute", "sec": "second"}
	size := map[string]int64{"year": 12, "month": 1, "week": 7, "day": 1, "hour": 3600, "minute": 60, "second": 1}
	return func(text string) string {
		parts := map[string]int64{}
		rest := "" // decimals of the seconds
		put := func(unit, n string) bool {
			_, twice := parts[unit]
			parts[unit], _ = strconv.ParseInt(n, 10, 64) // of few digits
			parts[unit] *= size[unit]
			return !twice && size[unit] > 0
		}
		words := strings.Fields(text)
		for ; len(words) > 0; words = words[1:] {
			if m := clock.FindStringSubmatch(words[0]); m != nil {
				if !put("hour", m[1]+m[2]) || !put("minute", m[1]+m[3]) || !put("second", m[1]+cmp.Or(m[4], "0")) {
					return form
				}
				rest = strings.TrimRight(m[5], "0")
				continue
			}
			m := amount.FindStringSubmatch(words[0])
			if m == nil || len(words) == 1 {
				return form
			}
			words = words[1:]
			unit := strings.TrimSuffix(strings.ToLower(words[0]), "s")
			if unit = cmp.Or(short[unit], unit); !put(unit, m[1]) || m[2] != "" && unit != "second" {
				return form
			}
			rest = cmp.Or(rest, strings.TrimRight(m[2], "0"))
		}
		if len(parts) == 0 {
			return form
		}
		return lostFields(mod, parts["year"]+parts["month"], parts["week"]+parts["day"], parts["hour"]+parts["minute"]+parts["second"], rest)
	}
}

// lostFields says when a column of some fields drops a part of an interval: all below its last field.
func lostFields(mod int, months, days, seconds int64, rest string) string {
	const month, day, hour, minute, second = 1 << 1, 1 << 3, 1 << 10, 1 << 11, 1 << 12
	fields, most := intervalParts(mod)
	exact := false
	switch {
	case fields&second != 0:
		if len(rest) > most {
			return tooMany(most)
		}
		return ""
	case fields&minute != 0:
		exact = seconds%60 == 0
	case fields&hour != 0:
		exact = seconds%3600 == 0
	case fields&day != 0:
		exact = seconds == 0
	case fields&month != 0:
		exact = seconds == 0 && days == 0
	default: // years
		exact = seconds == 0 && days == 0 && months%12 == 0
	}
	if exact && rest == "" {
		return ""
	}
	return "the column does not have all of its fields"
}

// exactFloat returns the number that the text of a numeric is, and whether its shortest form is that text.
func exactFloat(text string, bits int) (x float64, exact bool) {
	x, err := strconv.ParseFloat(text, bits)
	if err != nil {
		return 0, false
	}
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return x, math.IsInf(x, 0) || strconv.FormatFloat(x, 'f', -1, bits) == text
}
