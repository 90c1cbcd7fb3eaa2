package expr

import (
	"strings"
	"sync"
)

// refusal says what a function of Flink is that does not run here, and why.
type refusal struct{ kind, why string }

// notYet are the functions of Flink that do not run; those with syntax of their own (OVER) are
// refused where that is read.
var notYet = sync.OnceValue(func() map[string]refusal {
	byName := map[string]refusal{}
	for _, r := range []struct{ kind, why, names string }{
		{"window function", "it needs OVER, which does not run yet",
			"CUME_DIST DENSE_RANK LAG LEAD NTILE PERCENT_RANK RANK ROW_NUMBER"},
		{"group window function", "windows of time do not run yet; group by FLOOR(time TO unit)",
			"TUMBLE TUMBLE_START TUMBLE_END TUMBLE_ROWTIME TUMBLE_PROCTIME HOP HOP_START HOP_END HOP_ROWTIME HOP_PROCTIME " +
				"SESSION SESSION_START SESSION_END SESSION_ROWTIME SESSION_PROCTIME CUMULATE"},
		{"grouping function", "it needs GROUPING SETS, CUBE or ROLLUP, which do not run yet", "GROUPING GROUPING_ID GROUP_ID"},
		{"function", "it belongs to MATCH_RECOGNIZE, which does not run yet", "CLASSIFIER MATCH_NUMBER MATCH_PROCTIME MATCH_ROWTIME"},
		{"table function", "FROM takes tables, views and subqueries yet, no functions", "FROM_CHANGELOG TO_CHANGELOG SNAPSHOT"},
		{"table function", "there are no models to ask", "ML_PREDICT VECTOR_SEARCH"},
		{"function", "there is no type VARIANT yet; keep JSON as STRING and read it by JSON_VALUE and JSON_QUERY",
			"PARSE_JSON TRY_PARSE_JSON PARSE_XML TRY_PARSE_XML"},
		{"function", "there are no structured types yet; write ROW(…), or CAST(ROW(…) AS ROW<name type, …>)", "OBJECT_OF OBJECT_UPDATE"},
		{"function", "there is no type BITMAP yet; count by COUNT(DISTINCT x)",
			"BITMAP_AND BITMAP_ANDNOT BITMAP_BUILD BITMAP_CARDINALITY BITMAP_FROM_BYTES BITMAP_OR BITMAP_TO_ARRAY BITMAP_TO_BYTES " +
				"BITMAP_TO_STRING BITMAP_XOR"},
		{"aggregate function", "there is no type BITMAP yet; count by COUNT(DISTINCT x)",
			"BITMAP_AND_AGG BITMAP_AND_CARDINALITY_AGG BITMAP_BUILD_AGG BITMAP_BUILD_CARDINALITY_AGG BITMAP_OR_AGG " +
				"BITMAP_OR_CARDINALITY_AGG BITMAP_XOR_AGG BITMAP_XOR_CARDINALITY_AGG"},
		{"function", "there is no type GEOGRAPHY yet", "ST_ASTEXT ST_ASWKB ST_GEOGFROMTEXT ST_GEOGFROMWKB"},
		{"function", "there is no type UUID yet; UUID() gives one as CHAR(36)", "UUID_V4 UUID_V7"},
		{"function", "no source here has watermarks of its own; write WATERMARK FOR time AS time - INTERVAL '5' SECOND", "SOURCE_WATERMARK"},
	} {
		for _, n := range strings.Fields(r.names) {
			byName[n] = refusal{r.kind, r.why}
		}
	}
	return byName
})

// Refusal returns the error for a call of a function of Flink that does not run yet; at is the call's
// span, which begins with the name. It is nil for every other name.
func Refusal(name string, at Span) error {
	name = strings.ToUpper(name)
	r, ok := notYet()[name]
	if !ok {
		return nil
	}
	if end := at.Start + uint32(len(name)); end < at.End {
		at.End = end
	}
	return &Error{Span: at, Row: -1, Msg: "The " + r.kind + " " + name + " is not supported yet", Hint: r.why}
}

// foreign are names that other databases give to what has another name here, or is written otherwise.
var foreign = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"LENGTH": "CHAR_LENGTH", "LEN": "CHAR_LENGTH", "STRLEN": "CHAR_LENGTH", "BIT_LENGTH": "OCTET_LENGTH", "DATALENGTH": "OCTET_LENGTH",
		"UCASE": "UPPER", "LCASE": "LOWER", "MID": "SUBSTRING", "CHARINDEX": "LOCATE", "STRPOS": "INSTR", "CONTAINS": "INSTR",
		"CHAR": "CHR", "ORD": "ASCII", "UNICODE": "ASCII", "SPLIT_PART": "SPLIT_INDEX", "SUBSTRING_INDEX": "SPLIT_INDEX",
		"REGEXP_LIKE": "REGEXP", "REGEXP_MATCHES": "REGEXP", "NVL": "COALESCE", "ISNULL": "COALESCE", "ZEROIFNULL": "COALESCE", "IIF": "IF",
		"POW": "POWER", "SQUARE": "POWER", "TRUNC": "TRUNCATE", "RANDOM": "RAND", "ATN2": "ATAN2", "SHA": "SHA1",
		"UUID_GENERATE_V4": "UUID", "GEN_RANDOM_UUID": "UUID", "NEWID": "UUID",
		"GETDATE": "CURRENT_TIMESTAMP", "SYSDATE": "CURRENT_TIMESTAMP", "SYSDATETIME": "CURRENT_TIMESTAMP", "SYSTIMESTAMP": "CURRENT_TIMESTAMP",
		"GETUTCDATE": "CURRENT_TIMESTAMP", "CURDATE": "CURRENT_DATE", "TODAY": "CURRENT_DATE", "CURTIME": "CURRENT_TIME",
		"DATEDIFF": "TIMESTAMPDIFF", "DATE_DIFF": "TIMESTAMPDIFF", "TIMEDIFF": "TIMESTAMPDIFF", "DATEADD": "TIMESTAMPADD",
		"STR_TO_DATE": "TO_DATE", "PARSE_DATE": "TO_DATE", "PARSE_TIMESTAMP": "TO_TIMESTAMP", "UNIXEPOCH": "UNIX_TIMESTAMP",
		"TO_UNIXTIME": "UNIX_TIMESTAMP", "STRFTIME": "DATE_FORMAT", "FORMAT_DATE": "DATE_FORMAT", "FORMAT_DATETIME": "DATE_FORMAT",
		"DAY": "DAYOFMONTH", "WEEKDAY": "DAYOFWEEK", "WEEKOFYEAR": "WEEK", "TOTAL": "SUM", "MEAN": "AVG",

		"NVL2":       "write IF(x IS NOT NULL, value1, value2)",
		"TO_CHAR":    "write DATE_FORMAT(time, format), or CAST(x AS STRING)",
		"TO_VARCHAR": "write CAST(x AS STRING)",
		"TO_NUMBER":  "write CAST(x AS DECIMAL(38, 6)), or another type of number",
		"CONVERT":    "write CAST(x AS type)",
		"DATE_ADD":   "write date + INTERVAL '1' DAY, or TIMESTAMPADD(DAY, n, date)",
		"ADDDATE":    "write date + INTERVAL '1' DAY, or TIMESTAMPADD(DAY, n, date)",
		"DATE_SUB":   "write date - INTERVAL '1' DAY, or TIMESTAMPADD(DAY, -n, date)",
		"SUBDATE":    "write date - INTERVAL '1' DAY, or TIMESTAMPADD(DAY, -n, date)",
		"ADD_MONTHS": "write date + INTERVAL '1' MONTH, or TIMESTAMPADD(MONTH, n, date)",
		"DATE_TRUNC": "write FLOOR(time TO MONTH)",
		"DATE_PART":  "write EXTRACT(MONTH FROM time)",
		"DATEPART":   "write EXTRACT(MONTH FROM time)",
		"DATETIME":   "write CAST(x AS TIMESTAMP)",
		"COUNT_IF":   "write COUNT(*) FILTER (WHERE condition)",
		"COUNTIF":    "write COUNT(*) FILTER (WHERE condition)",
		"ANY_VALUE":  "write MIN(x) or MAX(x)",

		"GROUP_CONCAT": "LISTAGG", "STRING_AGG": "LISTAGG", "MEDIAN": "PERCENTILE", "VAR": "VAR_SAMP",
		"FORMAT": "PRINTF", "ARRAY_LENGTH": "CARDINALITY",
	}
})

// suggestion is the hint for a name that no function has: the one that it is nearly, or that does what
// another database's function of the name does.
func suggestion(name string) string {
	name = strings.ToUpper(name)
	elsewhere := foreign()
	s, ok := elsewhere[name]
	if !ok {
		if s = similarFunction(name); s == "" {
			return ""
		}
		if t, ok := elsewhere[s]; ok {
			s = t
		}
	}
	switch _, not := notYet()[s]; {
	case not:
		return s + " would do that, but is not supported yet"
	case strings.Contains(s, " "):
		return s
	}
	return "did you mean " + s + "?"
}

// similarFunction returns the name nearest to an upper-cased name, or "": a function's that can be called
// or, where that is nearer, one's that is not supported yet or another database's.
func similarFunction(name string) string {
	best, bestDist := "", max(1, len(name)/3)+1
	consider := func(f string, not string) {
		if d := editDistance(name, f); d < bestDist || d == bestDist && best != not && f < best {
			best, bestDist = f, d
		}
	}
	for _, f := range Functions() {
		if f.Hidden {
			continue
		}
		consider(f.Name, "")
		for _, a := range f.Aliases {
			consider(a, "")
		}
	}
	for _, a := range Aggregates() {
		consider(a.Name, "")
	}
	ours := best
	for n := range notYet() {
		consider(n, ours)
	}
	for n := range foreign() {
		consider(n, ours)
	}
	return best
}

// editDistance counts the letters to insert, delete, replace or exchange with their neighbour.
func editDistance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := b2i(a[i-1] != b[j-1])
			row[j] = min(last[j-1]+cost, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
