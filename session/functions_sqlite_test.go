package session_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// functionRows is how many random calls each expression is.
const functionRows = 10_000

// sameFunctions are expressions that mean the same here and in SQLite, by group: ours and SQLite's. The columns are
// a and b, small integers; x, a number of two binary digits behind the point; s, p and q, texts of ASCII, p and q
// short; d and e, dates, and ts, a time, as text for SQLite; t and u, truths; n, a text of digits.
var sameFunctions = map[string][][2]string{
	"arithmetic": {
		{"a + b", "a + b"}, {"a - b * 2", "a - b * 2"}, {"a / NULLIF(b, 0)", "a / NULLIF(b, 0)"}, {"a % NULLIF(b, 0)", "a % NULLIF(b, 0)"},
		{"MOD(a, NULLIF(b, 0))", "a % NULLIF(b, 0)"}, {"ABS(a)", "abs(a)"}, {"-a", "-a"}, {"SIGN(a)", "sign(a)"}, {"ABS(x)", "abs(x)"},
		{"x * a + b", "x * a + b"}, {"ROUND(x, 1)", "round(x, 1)"}, {"ROUND(x)", "round(x)"}, {"CAST(x AS BIGINT)", "CAST(x AS INTEGER)"},
		{"HEX(s)", "CASE WHEN s IS NOT NULL THEN hex(s) END"},
	},
	"comparison": {
		{"CAST(a = b AS INT)", "a = b"}, {"CAST(a < b AS INT)", "a < b"}, {"CAST(s >= p AS INT)", "s >= p"}, {"CAST(x <> a AS INT)", "x <> a"},
		{"CAST(a IS NOT DISTINCT FROM b AS INT)", "a IS b"}, {"CAST(a IS DISTINCT FROM b AS INT)", "a IS NOT b"},
		{"CAST(a BETWEEN b AND 40 AS INT)", "a BETWEEN b AND 40"}, {"CAST(a IN (1, b, 7) AS INT)", "a IN (1, b, 7)"},
		{"CAST(s NOT IN ('a', p) AS INT)", "s NOT IN ('a', p)"}, {"CAST(s LIKE p || '%' AS INT)", "s LIKE p || '%'"}, {"CAST(s LIKE '_' || q AS INT)", "s LIKE '_' || q"},
		{"CAST(s LIKE '%' || p || '_' AS INT)", "s LIKE '%' || p || '_'"}, {"CAST(s IS NULL AS INT)", "s IS NULL"},
	},
	"logical": {
		{"CAST(t AND u AS INT)", "t AND u"}, {"CAST(t OR u AS INT)", "t OR u"}, {"CAST(NOT t AS INT)", "NOT t"},
		{"CAST(t IS TRUE AS INT)", "t IS TRUE"}, {"CAST(t IS NOT FALSE AS INT)", "t IS NOT FALSE"}, {"CAST(t AND NOT u OR a > b AS INT)", "t AND NOT u OR a > b"},
		{"CAST(t IS UNKNOWN AS INT)", "t IS NULL"},
	},
	"string": {
		{"CHAR_LENGTH(s)", "length(s)"}, {"UPPER(s)", "upper(s)"}, {"LOWER(s)", "lower(s)"}, {"s || p", "s || p"}, {"REPLACE(s, p, q)", "CASE WHEN q IS NOT NULL THEN replace(s, p, q) END"},
		{"SUBSTRING(s FROM 2)", "substr(s, 2)"}, {"SUBSTRING(s FROM 3 FOR 4)", "substr(s, 3, 4)"}, {"SUBSTR(s, 1 + ABS(a) % 9, ABS(b) % 9)", "substr(s, 1 + abs(a) % 9, abs(b) % 9)"},
		{"LEFT(s, 3)", "substr(s, 1, 3)"}, {"INSTR(s, p)", "instr(s, p)"}, {"LOCATE(p, s)", "instr(s, p)"}, {"POSITION(q IN s)", "instr(s, q)"},
		{"TRIM(s)", "trim(s)"}, {"TRIM(BOTH p FROM s)", "trim(s, p)"}, {"LTRIM(s, q)", "ltrim(s, q)"}, {"RTRIM(s, p)", "rtrim(s, p)"}, {"BTRIM(s, q)", "trim(s, q)"},
		{"CHR(65 + ABS(a) % 26)", "CASE WHEN a IS NOT NULL THEN char(65 + abs(a) % 26) END"}, {"PRINTF('%d,%5d,%-4d|%s|%x', COALESCE(a, 7), COALESCE(b, 7), COALESCE(a, 7), COALESCE(s, 'nil'), ABS(COALESCE(a, 7)))", "printf('%d,%5d,%-4d|%s|%x', COALESCE(a, 7), COALESCE(b, 7), COALESCE(a, 7), COALESCE(s, 'nil'), abs(COALESCE(a, 7)))"},
	},
	"conditional": {
		{"COALESCE(a, b, 0)", "COALESCE(a, b, 0)"}, {"NULLIF(a, b)", "NULLIF(a, b)"}, {"IF(a > b, s, p)", "iif(a > b, s, p)"}, {"IFNULL(s, p)", "ifnull(s, p)"},
		{"CASE WHEN t THEN a WHEN u THEN b ELSE -1 END", "CASE WHEN t THEN a WHEN u THEN b ELSE -1 END"}, {"CASE a WHEN b THEN s WHEN 3 THEN p END", "CASE a WHEN b THEN s WHEN 3 THEN p END"},
		{"GREATEST(a, b, 5)", "max(a, b, 5)"}, {"LEAST(a, b, 5)", "min(a, b, 5)"}, {"GREATEST(s, p)", "max(s, p)"},
	},
	"conversion": {
		{"CAST(a AS STRING)", "CAST(a AS TEXT)"}, {"CAST(n AS BIGINT)", "CAST(n AS INTEGER)"}, {"CAST(a AS DOUBLE)", "CAST(a AS REAL)"}, {"CAST(n AS DOUBLE)", "CAST(n AS REAL)"},
		{"CAST(t AS BIGINT)", "t"},
	},
	"temporal": {
		{"EXTRACT(YEAR FROM d)", "CAST(strftime('%Y', d) AS INTEGER)"}, {"MONTH(d)", "CAST(strftime('%m', d) AS INTEGER)"}, {"DAYOFMONTH(d)", "CAST(strftime('%d', d) AS INTEGER)"},
		{"DAYOFYEAR(d)", "CAST(strftime('%j', d) AS INTEGER)"}, {"DAYOFWEEK(d)", "CAST(strftime('%w', d) AS INTEGER) + 1"},
		{"HOUR(ts)", "CAST(strftime('%H', ts) AS INTEGER)"}, {"MINUTE(ts)", "CAST(strftime('%M', ts) AS INTEGER)"}, {"SECOND(ts)", "CAST(strftime('%S', ts) AS INTEGER)"},
		{"EXTRACT(EPOCH FROM ts)", "CAST(strftime('%s', ts) AS INTEGER)"}, {"CAST(d + INTERVAL '40' DAY AS STRING)", "date(d, '+40 days')"},
		{"CAST(ts - INTERVAL '90' MINUTE AS STRING)", "CASE WHEN ts IS NULL THEN NULL ELSE datetime(ts, '-90 minutes') || '.000' END"},
		{"TIMESTAMPDIFF(DAY, d, e)", "CAST(julianday(e) - julianday(d) AS INTEGER)"}, {"DATE_FORMAT(ts, 'dd.MM.yyyy HH:mm')", "strftime('%d.%m.%Y %H:%M', ts)"},
		{"CAST(FLOOR(d TO MONTH) AS STRING)", "date(d, 'start of month')"}, {"CAST(FLOOR(d TO YEAR) AS STRING)", "date(d, 'start of year')"},
		{"CAST(CAST(ts AS DATE) AS STRING)", "date(ts)"}, {"CAST(TIMESTAMPADD(DAY, a, d) AS STRING)", "date(d, a || ' days')"},
		{"CAST(d < e AS INT)", "d < e"},
	},
}

// TestFunctionsAgainstSQLite makes random calls of functions here and in SQLite, where both mean the same.
func TestFunctionsAgainstSQLite(t *testing.T) {
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", s)
	r := rand.New(rand.NewPCG(s, 3))
	db, err := sql.Open("sqlite3", ":memory:")
	require.NoError(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	_, err = db.Exec("PRAGMA case_sensitive_like = ON; CREATE TABLE f (id INTEGER, a INTEGER, b INTEGER, x REAL, s TEXT, p TEXT, q TEXT, d TEXT, e TEXT, ts TEXT, t INTEGER, u INTEGER, n TEXT)")
	require.NoError(t, err)
	w := newWorld(t, nil)
	require.Equal(t, "ok\n", w.script(t, "CREATE TABLE f (id INT, a BIGINT, b BIGINT, x DOUBLE, s STRING, p STRING, q STRING, d DATE, e DATE, ts TIMESTAMP(0), t BOOLEAN, u BOOLEAN, n STRING);", false))

	const letters = "aabbcXY .-19"
	text := func(most int) string {
		b := make([]byte, r.IntN(most+1))
		for i := range b {
			b[i] = letters[r.IntN(len(letters))]
		}
		return "'" + string(b) + "'"
	}
	for from := 0; from < functionRows; from += 500 {
		var ours, theirs []string
		for id := from; id < from+500; id++ {
			var o, th []string
			add := func(a, b string) {
				if r.IntN(12) == 0 {
					a, b = "NULL", "NULL"
				}
				o, th = append(o, a), append(th, b)
			}
			same := func(v string) { add(v, v) }
			same(fmt.Sprint(r.IntN(100) - 50))
			same(fmt.Sprint(r.IntN(20) - 10))
			x := fmt.Sprintf("%g", float64(r.IntN(4000)-2000)/4)
			if !strings.ContainsAny(x, ".e") {
				x += ".0"
			}
			add("CAST("+x+" AS DOUBLE)", x)
			same(text(12))
			same(text(2))
			same(text(2))
			for range 2 {
				day := time.Date(1970+r.IntN(60), 1, 1+r.IntN(365), 0, 0, 0, 0, time.UTC).Format("2006-01-02")
				add("DATE '"+day+"'", "'"+day+"'")
			}
			at := time.Unix(r.Int64N(2_000_000_000), 0).UTC().Format("2006-01-02 15:04:05")
			add("TIMESTAMP '"+at+"'", "'"+at+"'")
			for range 2 {
				truth := r.IntN(2)
				add([]string{"FALSE", "TRUE"}[truth], fmt.Sprint(truth))
			}
			same(fmt.Sprintf("'%d'", r.Int64N(2_000_000)-1_000_000))
			ours = append(ours, fmt.Sprintf("(%d, %s)", id, strings.Join(o, ", ")))
			theirs = append(theirs, fmt.Sprintf("(%d, %s)", id, strings.Join(th, ", ")))
		}
		require.Equal(t, "500 rows written\n", w.script(t, "INSERT INTO f VALUES "+strings.Join(ours, ", ")+";", false))
		_, err := db.Exec("INSERT INTO f VALUES " + strings.Join(theirs, ", "))
		require.NoError(t, err)
	}
	for group, pairs := range sameFunctions {
		t.Run(group, func(t *testing.T) {
			for _, p := range pairs {
				want, err := askSQLite(db, "SELECT id, "+p[1]+" AS r FROM f")
				require.NoError(t, err, p[1])
				got, err := askSluice(w.Session, "SELECT id, "+p[0]+" AS r FROM f")
				require.NoError(t, err, p[0])
				require.Len(t, got, functionRows)
				for i := range want {
					if want[i] != got[i] {
						row, _ := askSQLite(db, "SELECT * FROM f WHERE id = "+strings.Fields(want[i])[0])
						t.Fatalf("%s gives %s, SQLite's %s %s, of %s (seed %d)", p[0], got[i], p[1], want[i], row, s)
					}
				}
			}
		})
	}
}
