//go:build unix

package session_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// postgresColumn is a column of the table that the expressions are of, with its random values here and in PostgreSQL.
type postgresColumn struct {
	name, ours, theirs string
	value              func(r *postgresRows) (ours, theirs string)
}

// postgresRows makes random rows; every twelfth value is NULL, and of some columns every sixteenth is the last of its type.
type postgresRows struct{ r *rand.Rand }

func (r *postgresRows) one(of ...string) string { return of[r.r.IntN(len(of))] }

func (r *postgresRows) rows(n int) (ours, theirs string) {
	var o, p strings.Builder
	for id := range n {
		o.WriteString(", (")
		p.WriteString(", (")
		for i, c := range postgresColumns {
			a, b := "NULL", "NULL"
			switch {
			case c.name == "id":
				a = strconv.Itoa(id)
				b = a
			case c.name == "g":
				a = strconv.Itoa(r.r.IntN(n/4 + 1))
				b = a
			case r.r.IntN(12) > 0:
				a, b = c.value(r)
				if c.ours == "SMALLINT" || strings.HasPrefix(c.ours, "DECIMAL") || strings.HasPrefix(c.ours, "TIME") {
					a = "CAST(" + a + " AS " + c.ours + ")"
				}
			}
			if i > 0 {
				o.WriteString(", ")
				p.WriteString(", ")
			}
			o.WriteString(a)
			p.WriteString(b)
		}
		o.WriteString(")")
		p.WriteString(")")
	}
	return o.String()[2:], p.String()[2:]
}

// number is an integer of at most some size, or one of the extremes.
func number(size int64, extremes ...string) func(r *postgresRows) (string, string) {
	return func(r *postgresRows) (string, string) {
		v := strconv.FormatInt(r.r.Int64N(2*size)-size, 10)
		if len(extremes) > 0 && r.r.IntN(16) == 0 {
			v = r.one(extremes...)
		}
		return v, v
	}
}

// decimal is a number of at most so many digits, some of them behind the point.
func decimal(digits, scale int) func(r *postgresRows) (string, string) {
	return func(r *postgresRows) (string, string) {
		n := 1 + r.r.IntN(digits)
		if r.r.IntN(16) == 0 {
			n = digits
		}
		b := []byte(strings.Repeat("0", digits))
		nines := r.r.IntN(16) == 0
		for i := digits - n; i < digits; i++ {
			b[i] = byte('0' + r.r.IntN(10))
			if nines {
				b[i] = '9'
			}
		}
		v := strings.TrimLeft(string(b[:digits-scale]), "0")
		v = r.one("", "-") + v + "." + string(b[digits-scale:])
		if strings.HasPrefix(v, ".") || strings.HasPrefix(v, "-.") {
			v = strings.Replace(v, ".", "0.", 1)
		}
		return v, v
	}
}

func float(size float64, extremes ...string) func(r *postgresRows) (string, string) {
	return func(r *postgresRows) (string, string) {
		v := strconv.FormatFloat((r.r.Float64()*2-1)*size, 'e', -1, 64)
		if r.r.IntN(2) == 0 {
			v = strconv.FormatFloat(float64(r.r.IntN(200)-100)/100*size, 'e', -1, 64)
		}
		if len(extremes) > 0 && r.r.IntN(8) == 0 {
			v = r.one(extremes...)
		}
		return "CAST('" + v + "' AS DOUBLE)", "'" + v + "'"
	}
}

func text(most int, letters string) func(r *postgresRows) (string, string) {
	list := []rune(letters)
	return func(r *postgresRows) (string, string) {
		b := make([]rune, r.r.IntN(most+1))
		for i := range b {
			b[i] = list[r.r.IntN(len(list))]
		}
		return quoteSQL(string(b)), quoteSQL(string(b))
	}
}

func words(of ...string) func(r *postgresRows) (string, string) {
	return func(r *postgresRows) (string, string) {
		v := quoteSQL(r.one(of...))
		return v, v
	}
}

func clock(kind, layout string, extremes ...string) func(r *postgresRows) (string, string) {
	return func(r *postgresRows) (string, string) {
		at := time.Date(1850+r.r.IntN(300), 1, 1+r.r.IntN(366), 0, 0, 0, 0, time.UTC)
		if r.r.IntN(8) > 0 {
			at = at.Add(time.Duration(r.r.Int64N(int64(24 * time.Hour))))
		}
		if r.r.IntN(4) == 0 { // the ends of months
			at = time.Date(at.Year(), at.Month()+1, r.r.IntN(3)-1, at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC)
		}
		if r.r.IntN(4) == 0 {
			at = at.Truncate(time.Minute)
		}
		v := at.Format(layout)
		if r.r.IntN(32) == 0 {
			v = r.one(extremes...)
		}
		return kind + " '" + v + "'", "'" + v + "'"
	}
}

func truth(r *postgresRows) (string, string) {
	v := r.one("TRUE", "FALSE")
	return v, v
}

// document is a JSON text.
func document(r *postgresRows) (string, string) {
	var value func(depth int) string
	value = func(depth int) string {
		switch n := r.r.IntN(10); {
		case n == 0:
			return "null"
		case n == 1:
			return r.one("true", "false")
		case n < 4 || depth == 0:
			return r.one("0", "7", "-12", "3.25", "1000000")
		case n < 6:
			return r.one(`""`, `"x"`, `"two words"`, `"\"q\""`, `"é"`, `"12"`)
		case n < 8:
			var list []string
			for range r.r.IntN(4) {
				list = append(list, value(depth-1))
			}
			return "[" + strings.Join(list, r.one(",", ", ")) + "]"
		}
		var list []string
		for _, k := range []string{"a", "b", "c"} {
			if r.r.IntN(3) > 0 {
				list = append(list, fmt.Sprintf("%q:%s", k, value(depth-1)))
			}
		}
		return "{" + strings.Join(list, r.one(",", ", ")) + "}"
	}
	v := value(4)
	for range 3 {
		if !strings.HasPrefix(v, "{") {
			v = value(4)
		}
	}
	return quoteSQL(v), quoteSQL(v)
}

const (
	asciiLetters   = "aabbcXY .-19_"
	unicodeLetters = "aab éß€Ж😀x"
)

var postgresColumns = []postgresColumn{
	{"id", "INT", "int", nil},
	{"g", "INT", "int", nil},
	{"a", "BIGINT", "bigint", number(50)},
	{"b", "BIGINT", "bigint", number(10)},
	{"k", "INT", "int", func(r *postgresRows) (string, string) { v := strconv.Itoa(r.r.IntN(13)); return v, v }},
	{"h", "SMALLINT", "smallint", number(20000, "32767", "-32768", "0", "-1")},
	{"i", "INT", "int", number(100000, "2147483647", "-2147483648", "0", "1", "-1")},
	{"i2", "INT", "int", number(9000, "2147483647", "-2147483648", "0", "1", "-1")},
	{"l", "BIGINT", "bigint", number(1_000_000_000_000, "9223372036854775807", "-9223372036854775808", "0", "1", "-1")},
	{"l2", "BIGINT", "bigint", number(100_000, "9223372036854775807", "-9223372036854775808", "0", "1", "-1")},
	{"m", "DECIMAL(10, 2)", "numeric(10, 2)", decimal(10, 2)},
	{"m2", "DECIMAL(5, 2)", "numeric(5, 2)", decimal(5, 2)},
	{"o", "DECIMAL(20, 6)", "numeric(20, 6)", decimal(20, 6)},
	{"w", "DECIMAL(38, 10)", "numeric(38, 10)", decimal(38, 10)},
	{"x", "DOUBLE", "float8", float(1000)},
	{"y", "DOUBLE", "float8", float(1)},
	{"z", "DOUBLE", "float8", float(1e9, "0.0", "1.7976931348623157e308", "-1.7976931348623157e308", "5e-324", "1e-300", "NaN", "Infinity", "-Infinity")},
	{"s", "STRING", "text", text(12, asciiLetters)},
	{"p", "STRING", "text", text(2, asciiLetters)},
	{"q", "STRING", "text", text(2, asciiLetters)},
	{"v", "STRING", "text", text(8, unicodeLetters)},
	{"v2", "STRING", "text", text(1, unicodeLetters)},
	{"d", "DATE", "date", clock("DATE", "2006-01-02", "0001-01-01", "9999-12-31", "1970-01-01", "2000-02-29", "1900-03-01")},
	{"e", "DATE", "date", clock("DATE", "2006-01-02", "2024-02-29", "2023-12-31", "1969-12-31")},
	{"ts", "TIMESTAMP(6)", "timestamp", clock("TIMESTAMP", "2006-01-02 15:04:05.000000", "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "1969-12-31 23:59:59.999999")},
	{"us", "TIMESTAMP(6)", "timestamp", clock("TIMESTAMP", "2006-01-02 15:04:05.000000", "1970-01-01 00:00:00", "2024-02-29 12:00:00.000001")},
	{"tm", "TIME(3)", "time(3)", clock("TIME", "15:04:05.000", "00:00:00", "23:59:59.999")},
	{"c", "BOOLEAN", "boolean", truth},
	{"u", "BOOLEAN", "boolean", truth},
	{"n", "STRING", "text", func(r *postgresRows) (string, string) {
		if r.r.IntN(3) > 0 {
			_, v := r.oneOf(number(100), number(1e12), decimal(12, 3), decimal(3, 1))
			return quoteSQL(v), quoteSQL(v)
		}
		v := quoteSQL(r.one("", " ", " 12", "12 ", " -7 ", "+5", "-0", "007", "1e3", "1.5e-2", "-1E2", ".5", "5.", ".", "-", "+-1", "1 2", "1,5", "abc", "0x10", "2147483647", "2147483648", "-2147483648", "-2147483649",
			"9223372036854775807", "9223372036854775808", "99999999999999999999999999999999999999", "1e400", "NaN", "Infinity", "32768", "1_000"))
		return v, v
	}},
	{"dt", "STRING", "text", func(r *postgresRows) (string, string) {
		if r.r.IntN(3) > 0 {
			_, v := r.oneOf(clock("", "2006-01-02", "9999-12-31"), clock("", "2006-01-02 15:04:05", "9999-12-31 23:59:59"), clock("", "2006-01-02 15:04:05.000", "0001-01-01 00:00:00"))
			return v, v
		}
		v := quoteSQL(r.one("2023-02-29", "2024-02-29", "2023-13-01", "2023-00-10", "2023-04-31", "2024-02-30 10:00:00", "2024-01-01 24:00:01", "2024-01-01 23:60:00", "2024-01-01 10:00", "hello", "", "2024-01-01x", " 2024-01-01 "))
		return v, v
	}},
	{"bt", "STRING", "text", words("true", "false", "TRUE", "False", "t", "f", "yes", "no", "y", "n", "1", "0", "on", "off", "", "maybe", "2", " true ")},
	{"j", "STRING", "text", document},
}

func (r *postgresRows) oneOf(list ...func(*postgresRows) (string, string)) (string, string) {
	return list[r.r.IntN(len(list))](r)
}
