//go:build unix

package session_test

import (
	"fmt"
	"strings"
)

// What PostgreSQL refuses or does otherwise, by the reason.
var (
	postgresRefuses = difference{ours: `NaN|-?Infinity|-?0\.0`, theirs: "error (22003|22012|2201E|2201F)", why: "PostgreSQL has errors where DOUBLE has NaN, an infinity or, below its range, 0"}
	postgresYears   = difference{ours: "error .* out of range .*", theirs: `\d{5,}-.*|.* BC`, why: "DATE and TIMESTAMP are of the years 1 to 9999"}
	postgresNaN     = difference{when: "z = 'NaN'", ours: "FALSE", theirs: "true", why: "NaN is not greater than a number here; in PostgreSQL it is"}
	postgresCut     = difference{when: "n ~ '[0-9]\\.|\\.[0-9]'", ours: "-?[0-9]+", theirs: "error 22P02", why: "a text with a fraction is a number here, cut to an integer"}
	postgresHex     = difference{when: "n = '0x10'", ours: "error .*", theirs: "16", why: "hexadecimal digits are no number here"}
	postgresNaNs    = difference{ours: "error .*", theirs: "NaN", why: "DECIMAL has no NaN here"}
	postgresLength  = difference{ours: "NULL", theirs: "error 22011", why: "of a negative length SUBSTRING is NULL here"}
	postgresPads    = difference{when: "%s = ''", ours: "NULL", why: "with nothing to fill with LPAD and RPAD are NULL here"}
	postgresBehind  = difference{when: "%s", why: "OVERLAY changes nothing here when it begins outside of the text"}
	postgresTail    = difference{when: "b < 0", ours: "()", theirs: ".+", why: "LEFT and RIGHT of a negative length are empty here; in PostgreSQL they leave so many out"}
	postgresNoSet   = difference{when: "%s IS NULL", theirs: "NULL", why: "TRANSLATE takes NULL for an empty text here, unless it is the text itself"}
	postgresDays    = difference{ours: "NULL", theirs: "error 22008", why: "TO_DATE is NULL here of what is no date"}
)

// of is a difference with its condition about these columns.
func (d difference) of(what string) difference {
	d.when = strings.ReplaceAll(d.when, "%s", what)
	return d
}

func differences(list ...difference) []difference { return list }

// postgresGroup is a group of expressions, of one row each or, when grouped, of the rows with a key.
type postgresGroup struct {
	name, key    string
	ours, theirs string // the tables
	grouped      bool
	pairs        []sameInPostgres
	except       []difference // of every pair
}

func postgresGroups() []postgresGroup {
	row := func(name string, pairs []sameInPostgres) postgresGroup {
		return postgresGroup{name: name, key: "id", ours: "f", theirs: "f", pairs: pairs}
	}
	return []postgresGroup{
		row("comparison", postgresComparisons()),
		row("logical", postgresLogical),
		row("arithmetic", postgresArithmetic()),
		row("math", postgresMath()),
		row("string", postgresStrings),
		row("pattern", postgresPatterns),
		row("hash and codes", postgresCodes),
		row("conditional", postgresConditional),
		row("conversion", postgresConversions),
		{name: "temporal", key: "id", ours: "f", theirs: "f", pairs: postgresTemporal(), except: differences(postgresYears)},
		row("collection", postgresCollections),
		row("json", postgresJSON),
		{name: "aggregate", key: "g", ours: "f", theirs: "f", grouped: true, pairs: postgresAggregates()},
		{name: "unnest", key: "id", ours: "f CROSS JOIN UNNEST(ARRAY[a, b, k, 7]) WITH ORDINALITY AS t (item, place)", theirs: "f CROSS JOIN unnest(ARRAY[a, b, k, 7]) WITH ORDINALITY AS t (item, place)", grouped: true, pairs: postgresUnnested},
	}
}

func postgresComparisons() []sameInPostgres {
	var list []sameInPostgres
	for _, op := range []string{"=", "<>", "<", "<=", ">", ">="} {
		for _, of := range [][2]string{{"a", "b"}, {"i", "l"}, {"h", "i2"}, {"m", "o"}, {"m2", "a"}, {"w", "o"}, {"x", "a"}, {"m", "x"}, {"s", "p"}, {"v", "v2"}, {"d", "e"}, {"ts", "us"}, {"d", "ts"}, {"c", "u"}, {"tm", "TIME '12:00:00'"}} {
			list = append(list, sameInPostgres{ours: of[0] + " " + op + " " + of[1]})
		}
		z := sameInPostgres{ours: "z " + op + " x"}
		if op[0] == '>' {
			z.except = differences(postgresNaN)
		}
		list = append(list, z)
	}
	for _, e := range []string{
		"a BETWEEN b AND 40", "a NOT BETWEEN b AND 40", "b BETWEEN SYMMETRIC a AND 3", "m BETWEEN -5 AND o", "s BETWEEN p AND q", "d BETWEEN DATE '1900-01-01' AND e",
		"a IN (1, b, 7)", "a NOT IN (1, b, 7)", "s NOT IN ('a', p)", "a IN (b, NULL)", "m2 IN (1.5, 2, a)", "d IN (e, DATE '2000-02-29')",
		"a IS DISTINCT FROM b", "a IS NOT DISTINCT FROM b", "s IS DISTINCT FROM p", "m IS NOT DISTINCT FROM o", "c IS DISTINCT FROM u", "z IS DISTINCT FROM z", "d IS DISTINCT FROM e",
		"a IS NULL", "s IS NOT NULL", "a + b IS NULL",
		"GREATEST(a, 1) = a AND a >= 1",
	} {
		list = append(list, sameInPostgres{ours: e})
	}
	return list
}

var postgresLogical = []sameInPostgres{
	{ours: "c AND u"}, {ours: "c OR u"}, {ours: "NOT c"}, {ours: "NOT (c AND u)"}, {ours: "NOT c OR NOT u"}, {ours: "c AND u OR a > b"}, {ours: "(c OR u) AND (a > b OR c)"},
	{ours: "c IS TRUE"}, {ours: "c IS NOT TRUE"}, {ours: "c IS FALSE"}, {ours: "c IS NOT FALSE"}, {ours: "c IS UNKNOWN"}, {ours: "c IS NOT UNKNOWN"}, {ours: "c AND NULL"}, {ours: "c OR NULL"}, {ours: "(c AND u) IS NULL"},
	{ours: "c AND TRUE"}, {ours: "c OR FALSE"}, {ours: "NOT (a > b) AND NOT (a < b)"}, {ours: "c = u OR c IS NULL"},
}

func postgresArithmetic() []sameInPostgres {
	list := []sameInPostgres{
		{ours: "a + b * 2 - 3"}, {ours: "-(a - b)"},
		{ours: "-i"}, {ours: "-l"}, {ours: "-m"}, {ours: "-z", alike: double}, {ours: "+a"},
		{ours: "h + a"}, {ours: "h * i"}, {ours: "i * l"}, {ours: "i - l"}, {ours: "k / b"}, {ours: "k % b"},
		{ours: "m + o"}, {ours: "m - o"}, {ours: "m * o"}, {ours: "m + a"}, {ours: "m2 * m2 * m2"}, {ours: "m2 + m2 + 1"}, {ours: "o - 0.0000001"},
		{ours: "w + w", theirs: "(w + w)::numeric(38, 9)"}, {ours: "w - o", theirs: "(w - o)::numeric(38, 9)"}, {ours: "w * m2", theirs: "(w * m2)::numeric(38, 6)"}, {ours: "o * o", theirs: "(o * o)::numeric(38, 9)"},
		{ours: "m / m2", theirs: "(m::numeric(80, 40) / m2)::numeric(18, 8)"}, {ours: "o / m2", theirs: "(o::numeric(80, 40) / m2)::numeric(28, 12)"}, {ours: "m2 / k", theirs: "(m2::numeric(80, 40) / k)::numeric(16, 13)"},
		{ours: "w / o", theirs: "(w::numeric(100, 60) / o)::numeric(38, 6)"},
		{ours: "m % m2"}, {ours: "MOD(o, m)"}, {ours: "MOD(m2, b)"}, {ours: "MOD(a, b)"}, {ours: "MOD(l, l2)"}, {ours: "w % o"},
		{ours: "x + y", alike: double}, {ours: "x - a", alike: double}, {ours: "x * y", alike: double}, {ours: "x / y", alike: double, except: differences(postgresRefuses)}, {ours: "x + m", alike: double}, {ours: "z * 2", alike: double, except: differences(postgresRefuses)}, {ours: "z * x", alike: double, except: differences(postgresRefuses)}, {ours: "z / x", alike: double, except: differences(postgresRefuses)},
		{ours: "ABS(a)"}, {ours: "ABS(i)"}, {ours: "ABS(l)"}, {ours: "ABS(h)"}, {ours: "ABS(m)"}, {ours: "ABS(w)"}, {ours: "ABS(z)", alike: double},
	}
	for _, op := range []string{"+", "-", "*", "/", "%"} {
		for _, of := range [][2]string{{"h", "h"}, {"i", "i2"}, {"l", "l2"}, {"a", "b"}, {"i", "h"}} {
			list = append(list, sameInPostgres{ours: of[0] + " " + op + " " + of[1]})
		}
	}
	return list
}

func postgresMath() []sameInPostgres {
	list := []sameInPostgres{
		{ours: "CEIL(m)"}, {ours: "FLOOR(m)"}, {ours: "CEIL(o)"}, {ours: "FLOOR(w)"}, {ours: "CEIL(x)", alike: double}, {ours: "FLOOR(x)", alike: double}, {ours: "CEIL(z)", alike: double}, {ours: "FLOOR(a)"}, {ours: "CEILING(m2)"},
		{ours: "ROUND(m)", theirs: "round(m)"}, {ours: "ROUND(m, 1)"}, {ours: "ROUND(o, 3)"}, {ours: "ROUND(w, 0)"}, {ours: "ROUND(m, -2)"}, {ours: "ROUND(w, 9)"}, {ours: "ROUND(l, -2)", theirs: "round(l::numeric, -2)::bigint"}, {ours: "ROUND(i, -3)", theirs: "round(i::numeric, -3)::int"}, {ours: "ROUND(a, 1)", theirs: "a"},
		{ours: "ROUND(x)", theirs: "round(x::text::numeric)", alike: double}, {ours: "ROUND(x, 2)", theirs: "round(x::text::numeric, 2)", alike: double}, {ours: "ROUND(x, -1)", theirs: "round(x::text::numeric, -1)", alike: double}, {ours: "ROUND(y, 1)", theirs: "round(y::text::numeric, 1)", alike: double}, {ours: "ROUND(x, k)", theirs: "round(x::text::numeric, k)", alike: double},
		{ours: "TRUNCATE(m)", theirs: "trunc(m)"}, {ours: "TRUNCATE(m, 1)", theirs: "trunc(m, 1)"}, {ours: "TRUNCATE(o, 4)", theirs: "trunc(o, 4)"}, {ours: "TRUNCATE(m, -2)", theirs: "trunc(m, -2)"}, {ours: "TRUNCATE(x, 2)", theirs: "trunc(x::text::numeric, 2)", alike: double}, {ours: "TRUNCATE(x)", theirs: "trunc(x)", alike: double}, {ours: "TRUNCATE(l, -3)", theirs: "trunc(l::numeric, -3)::bigint"},
		{ours: "SIGN(a)"}, {ours: "SIGN(m)", theirs: "sign(m)::numeric(10, 2)"}, {ours: "SIGN(x)", alike: double}, {ours: "SIGN(l)"},
		{ours: "POWER(x, b)", alike: near, except: differences(postgresRefuses)}, {ours: "POWER(ABS(x), y)", theirs: "power(abs(x), y)", alike: near, except: differences(postgresRefuses)}, {ours: "POWER(b, 3)", alike: near}, {ours: "POWER(x, y)", alike: near, except: differences(postgresRefuses)}, {ours: "POWER(z, 2)", alike: near, except: differences(postgresRefuses)},
		{ours: "SQRT(ABS(x))", alike: near}, {ours: "SQRT(x)", alike: near, except: differences(postgresRefuses)}, {ours: "SQRT(m)", theirs: "sqrt(m::float8)", alike: near, except: differences(postgresRefuses)}, {ours: "SQRT(z)", alike: near, except: differences(postgresRefuses)},
		{ours: "LN(ABS(x))", alike: near, except: differences(postgresRefuses)}, {ours: "LN(x)", alike: near, except: differences(postgresRefuses)}, {ours: "LN(k)", alike: near, except: differences(postgresRefuses)}, {ours: "LOG10(ABS(x))", theirs: "log(abs(x))", alike: near, except: differences(postgresRefuses)}, {ours: "LOG10(k)", theirs: "log(k::float8)", alike: near, except: differences(postgresRefuses)}, {ours: "LOG2(ABS(x))", theirs: "ln(abs(x)) / ln(2::float8)", alike: near, except: differences(postgresRefuses)},
		{ours: "LOG(ABS(x))", theirs: "ln(abs(x))", alike: near, except: differences(postgresRefuses)}, {ours: "LOG(3, ABS(x))", theirs: "ln(abs(x)) / ln(3::float8)", alike: near, except: differences(postgresRefuses)}, {ours: "LN(z)", alike: near, except: differences(postgresRefuses)},
		{ours: "EXP(x / 2)", alike: near}, {ours: "EXP(y)", alike: near}, {ours: "EXP(b)", theirs: "exp(b::float8)", alike: near}, {ours: "EXP(z)", alike: near, except: differences(postgresRefuses)},
		{ours: "SIN(x)", alike: near}, {ours: "COS(x)", alike: near}, {ours: "TAN(y)", alike: near}, {ours: "TAN(x)", alike: near}, {ours: "COT(x)", alike: near}, {ours: "ASIN(y)", alike: near}, {ours: "ACOS(y)", alike: near}, {ours: "ATAN(x)", alike: near}, {ours: "ATAN2(x, y)", alike: near}, {ours: "ASIN(x)", alike: near, except: differences(postgresRefuses)},
		{ours: "SINH(y)", alike: near}, {ours: "COSH(y)", alike: near}, {ours: "TANH(y)", alike: near}, {ours: "SINH(x)", alike: near}, {ours: "COSH(x)", alike: near}, {ours: "SIN(z)", alike: about, except: differences(postgresRefuses)}, {ours: "ATAN(z)", alike: near},
		{ours: "DEGREES(x)", alike: near}, {ours: "RADIANS(x)", alike: near}, {ours: "DEGREES(PI()) + a", alike: near}, {ours: "E() * a", theirs: "exp(1::float8) * a", alike: near},
		{ours: "BIN(l)", theirs: "CASE WHEN l = 0 THEN '0' ELSE ltrim(l::bit(64)::text, '0') END"}, {ours: "HEX(l)", theirs: "upper(to_hex(l))"}, {ours: "BIN(k)", theirs: "CASE WHEN k = 0 THEN '0' ELSE ltrim(k::bit(32)::text, '0') END"},
	}
	return list
}

var postgresStrings = []sameInPostgres{
	{ours: "UPPER(s)"}, {ours: "LOWER(s)"}, {ours: "INITCAP(s)"}, {ours: "CHAR_LENGTH(s)"}, {ours: "CHARACTER_LENGTH(v)"}, {ours: "OCTET_LENGTH(v)"},
	{ours: "TRIM(s)"}, {ours: "TRIM(LEADING FROM s)"}, {ours: "TRIM(TRAILING 'a' FROM s)"}, {ours: "TRIM(BOTH p FROM s)"}, {ours: "TRIM(LEADING v2 FROM v)"}, {ours: "LTRIM(s)"}, {ours: "RTRIM(s)"}, {ours: "LTRIM(s, p)"}, {ours: "RTRIM(v, v2)"}, {ours: "BTRIM(s, q)"}, {ours: "BTRIM(s)"},
	{ours: "SUBSTRING(s FROM 2)"}, {ours: "SUBSTRING(v FROM 3 FOR 4)"}, {ours: "SUBSTRING(s FROM k + 1)"}, {ours: "SUBSTRING(v FROM k + 1 FOR 3)"}, {ours: "SUBSTRING(s FROM k FOR 3)", except: differences(difference{when: "k = 0", why: "a position of 0 is taken for 1 here"})}, {ours: "SUBSTR(s, k + 1, k)"}, {ours: "SUBSTRING(s FROM 2 FOR CAST(b AS INT))", except: differences(postgresLength)}, {ours: "SUBSTRING(s, 1, i)", except: differences(postgresLength)},
	{ours: "SUBSTRING(s FROM -k)", theirs: "CASE WHEN k = 0 THEN s WHEN k > length(s) THEN '' ELSE right(s, k) END"},
	{ours: "OVERLAY(s PLACING p FROM k)", except: differences(postgresBehind.of("k NOT BETWEEN 1 AND length(s)"))}, {ours: "OVERLAY(s PLACING p FROM k FOR 2)", except: differences(postgresBehind.of("k NOT BETWEEN 1 AND length(s)"))}, {ours: "OVERLAY(v PLACING v2 FROM 2 FOR k)", except: differences(postgresBehind.of("length(v) < 2"))}, {ours: "OVERLAY(s PLACING q FROM 1 FOR 0)", except: differences(postgresBehind.of("s = ''"))},
	{ours: "POSITION(p IN s)"}, {ours: "POSITION(v2 IN v)"}, {ours: "INSTR(s, q)", theirs: "strpos(s, q)"}, {ours: "LOCATE(p, s)", theirs: "strpos(s, p)"}, {ours: "LOCATE('a', s, k + 1)", theirs: "CASE WHEN strpos(substr(s, k + 1), 'a') = 0 THEN 0 ELSE strpos(substr(s, k + 1), 'a') + k END"}, {ours: "INSTR(v, v2)", theirs: "strpos(v, v2)"},
	{ours: "REPLACE(s, p, q)"}, {ours: "REPLACE(v, v2, 'zz')"}, {ours: "REPLACE(s, 'a', '')"},
	{ours: "LPAD(s, k, p)", except: differences(postgresPads.of("p"))}, {ours: "RPAD(s, k, p)", except: differences(postgresPads.of("p"))}, {ours: "LPAD(v, k, v2)", except: differences(postgresPads.of("v2"))}, {ours: "RPAD(v, k, 'é€')"}, {ours: "LPAD(s, CAST(b AS INT), '*')", except: differences(difference{when: "b < 0", ours: "NULL", why: "of a negative length LPAD is NULL here"})},
	{ours: "REPEAT(p, k)"}, {ours: "REPEAT(v, CAST(b AS INT))"}, {ours: "REVERSE(s)"}, {ours: "REVERSE(v)"}, {ours: "LEFT(s, k)"}, {ours: "RIGHT(v, k)"}, {ours: "LEFT(v, CAST(b AS INT))", except: differences(postgresTail)}, {ours: "RIGHT(s, CAST(b AS INT))", except: differences(postgresTail)},
	{ours: "TRANSLATE(s, 'abX', 'x9')"}, {ours: "TRANSLATE(s, p, q)", except: differences(postgresNoSet.of("p IS NULL OR q"))}, {ours: "TRANSLATE(v, 'aéЖ', '€b')"}, {ours: "TRANSLATE(v, v2, p)", except: differences(postgresNoSet.of("v2 IS NULL OR p"))},
	{ours: "CONCAT(s, p, q)", theirs: "s || p || q"}, {ours: "CONCAT_WS('-', s, p, v)"}, {ours: "CONCAT_WS(q, s, p)"}, {ours: "s || p"}, {ours: "v || '-' || v2 || s"},
	{ours: "SPLIT_INDEX(s, 'b', k)", theirs: "(string_to_array(s, 'b'))[k + 1]"}, {ours: "SPLIT_INDEX(v, 'é', 0)", theirs: "split_part(v, 'é', 1)", except: differences(difference{when: "v = ''", ours: "NULL", why: "of an empty text SPLIT_INDEX is NULL here"})}, {ours: "STARTSWITH(s, p)", theirs: "starts_with(s, p)"}, {ours: "ENDSWITH(v, v2)", theirs: "right(v, length(v2)) = v2"},
	{ours: "ELT(k, s, p, q)", theirs: "CASE k WHEN 1 THEN s WHEN 2 THEN p WHEN 3 THEN q END"}, {ours: "CHR(32 + k * 7)"}, {ours: "CHR(CAST(65 + b AS INT))"}, {ours: "ASCII(s)"}, {ours: "ASCII(p)"},
}

var postgresPatterns = []sameInPostgres{
	{ours: "s LIKE p || '%'"}, {ours: "s LIKE '%' || q"}, {ours: "s LIKE '%' || p || '_'"}, {ours: "v LIKE '_' || v2 || '%'"}, {ours: "s NOT LIKE '%a%'"}, {ours: "s LIKE '%a%b%'"}, {ours: "s LIKE q"}, {ours: "v LIKE '___'"}, {ours: "s LIKE '%!_%' ESCAPE '!'"}, {ours: "s LIKE '%!' || p ESCAPE '!'", except: differences(difference{ours: "error LIKE pattern .*", why: "an escape character before another than %, _ and itself is an error here"})}, {ours: "p LIKE ''"},
	{ours: "s SIMILAR TO '(a|b)%'"}, {ours: "s SIMILAR TO '%[0-9]+%'"}, {ours: "s SIMILAR TO '[^ab]*'"}, {ours: "s NOT SIMILAR TO '_{2,5}'"}, {ours: "v SIMILAR TO '%(é|€)_?'"},
	{ours: "REGEXP(s, '[ab]+')", theirs: "s ~ '[ab]+'"}, {ours: "REGEXP(s, '^a.*[0-9]$')", theirs: "s ~ '^a.*[0-9]$'"}, {ours: "REGEXP(v, 'é|€a')", theirs: "v ~ 'é|€a'"},
	{ours: "REGEXP_REPLACE(s, '[0-9]+', '#')", theirs: "regexp_replace(s, '[0-9]+', '#', 'g')"}, {ours: "REGEXP_REPLACE(v, 'a|é', '')", theirs: "regexp_replace(v, 'a|é', '', 'g')"}, {ours: "REGEXP_REPLACE(s, 'a*b', q)", theirs: "regexp_replace(s, 'a*b', q, 'g')"},
	{ours: "REGEXP_EXTRACT(s, '(a+)(b*)', 1)", theirs: "(regexp_match(s, '(a+)(b*)'))[1]"}, {ours: "REGEXP_EXTRACT(s, '(a+)(b*)', 2)", theirs: "(regexp_match(s, '(a+)(b*)'))[2]"}, {ours: "REGEXP_EXTRACT(v, '[^a]+')", theirs: "(regexp_match(v, '[^a]+'))[1]"},
	{ours: "REGEXP_COUNT(s, 'a')"}, {ours: "REGEXP_COUNT(s, '[ab]+')"}, {ours: "REGEXP_INSTR(s, 'b[^b]')"}, {ours: "REGEXP_INSTR(v, '€|Ж')"}, {ours: "REGEXP_SUBSTR(s, '[0-9]+')"}, {ours: "REGEXP_SUBSTR(v, '[é€].?')"},
	{ours: "IS_DIGIT(n)", theirs: "coalesce(n ~ '^[0-9]+$', false)"}, {ours: "IS_ALPHA(p)", theirs: "coalesce(p ~ '^[A-Za-z]+$', false)"},
}

var postgresCodes = []sameInPostgres{
	{ours: "MD5(v)"}, {ours: "MD5(s)"}, {ours: "SHA224(v)", theirs: "encode(sha224(convert_to(v, 'UTF8')), 'hex')"}, {ours: "SHA256(v)", theirs: "encode(sha256(convert_to(v, 'UTF8')), 'hex')"}, {ours: "SHA384(s)", theirs: "encode(sha384(convert_to(s, 'UTF8')), 'hex')"}, {ours: "SHA512(v)", theirs: "encode(sha512(convert_to(v, 'UTF8')), 'hex')"}, {ours: "SHA2(s, 256)", theirs: "encode(sha256(convert_to(s, 'UTF8')), 'hex')"},
	{ours: "HEX(v)", theirs: "upper(encode(convert_to(v, 'UTF8'), 'hex'))"}, {ours: "TO_BASE64(v)", theirs: "encode(convert_to(v, 'UTF8'), 'base64')"}, {ours: "FROM_BASE64(TO_BASE64(v))", theirs: "v"}, {ours: "CAST(UNHEX(HEX(v)) AS STRING)", theirs: "v"}, {ours: "HEX(DECODE(ENCODE(v, 'UTF-8'), 'ISO-8859-1'))", theirs: "upper(encode(convert_to(convert_from(convert_to(v, 'UTF8'), 'LATIN1'), 'UTF8'), 'hex'))"},
	{ours: "MD5(CAST(v AS BYTES))", theirs: "md5(v)"}, {ours: "URL_DECODE(URL_ENCODE(v))", theirs: "v"}, {ours: "INET_NTOA(i)", theirs: "CASE WHEN i IS NOT NULL THEN host('0.0.0.0'::inet + ((i::bigint + 4294967296) % 4294967296)) END"}, {ours: "INET_ATON(INET_NTOA(ABS(a)))", theirs: "abs(a)"},
}

var postgresConditional = []sameInPostgres{
	{ours: "COALESCE(a, b, 0)"}, {ours: "COALESCE(s, p)"}, {ours: "COALESCE(m, a)", theirs: "coalesce(m, a)::numeric(21, 2)"}, {ours: "COALESCE(d, e, DATE '2000-01-01')"}, {ours: "COALESCE(m2, 0.125)", theirs: "coalesce(m2, 0.125)::numeric(6, 3)"}, {ours: "NULLIF(a, b)"}, {ours: "NULLIF(s, p)"}, {ours: "NULLIF(m2, a)"}, {ours: "NULLIF(c, u)"}, {ours: "NULLIF(d, e)"},
	{ours: "IF(a > b, s, p)", theirs: "CASE WHEN a > b THEN s ELSE p END"}, {ours: "IFNULL(s, p)", theirs: "coalesce(s, p)"}, {ours: "IF(c, a, m2)", theirs: "(CASE WHEN c THEN a ELSE m2 END)::numeric(21, 2)"},
	{ours: "CASE WHEN c THEN a WHEN u THEN b ELSE -1 END"}, {ours: "CASE a WHEN b THEN s WHEN 3 THEN p END"}, {ours: "CASE WHEN b <> 0 THEN a / b END"}, {ours: "CASE WHEN b = 0 THEN NULL WHEN a / b > 2 THEN 'much' ELSE 'little' END"}, {ours: "CASE s WHEN p THEN 1 WHEN q THEN 2 ELSE 3 END"}, {ours: "CASE WHEN a IS NULL THEN 'none' WHEN a IN (1, b) THEN s ELSE v END"},
	{ours: "GREATEST(a, b, 5)", theirs: "CASE WHEN num_nulls(a, b) = 0 THEN greatest(a, b, 5) END"}, {ours: "LEAST(a, b, 5)", theirs: "CASE WHEN num_nulls(a, b) = 0 THEN least(a, b, 5) END"}, {ours: "GREATEST(s, p, v)", theirs: "CASE WHEN num_nulls(s, p, v) = 0 THEN greatest(s, p, v) END"}, {ours: "LEAST(d, e)", theirs: "CASE WHEN num_nulls(d, e) = 0 THEN least(d, e) END"}, {ours: "GREATEST(ts, us)", theirs: "CASE WHEN num_nulls(ts, us) = 0 THEN greatest(ts, us) END"}, {ours: "GREATEST(x, z)", theirs: "CASE WHEN num_nulls(x, z) = 0 THEN greatest(x, z) END", alike: double}, {ours: "LEAST(z, y)", theirs: "CASE WHEN num_nulls(z, y) = 0 THEN least(z, y) END", alike: double}, {ours: "GREATEST(m, m2)", theirs: "CASE WHEN num_nulls(m, m2) = 0 THEN greatest(m, m2) END"}, {ours: "LEAST(m, o)", theirs: "CASE WHEN num_nulls(m, o) = 0 THEN least(m, o)::numeric(20, 6) END"},
	{ours: "IS_DECIMAL(CAST(m AS STRING))", theirs: "m IS NOT NULL"},
}

var postgresConversions = []sameInPostgres{
	{ours: "CAST(a AS STRING)", theirs: "a::text"}, {ours: "CAST(l AS STRING)", theirs: "l::text"}, {ours: "CAST(m AS STRING)", theirs: "m::text"}, {ours: "CAST(w AS STRING)", theirs: "w::text"}, {ours: "CAST(c AS STRING)", theirs: "upper(c::text)"}, {ours: "CAST(d AS STRING)", theirs: "d::text"}, {ours: "CAST(ts AS STRING)", theirs: "to_char(ts, 'YYYY-MM-DD HH24:MI:SS.US')"}, {ours: "CAST(tm AS STRING)", theirs: "to_char(tm, 'HH24:MI:SS.MS')"}, {ours: "CAST(z AS STRING)", theirs: "z::text", alike: double}, {ours: "CAST(CAST(x AS STRING) AS DOUBLE)", theirs: "x", alike: double},
	{ours: "CAST(n AS INT)", except: differences(postgresCut)}, {ours: "CAST(n AS BIGINT)", except: differences(postgresCut)}, {ours: "CAST(n AS SMALLINT)", except: differences(postgresCut)}, {ours: "CAST(n AS DOUBLE)", theirs: "n::float8", alike: double, except: differences(postgresHex)}, {ours: "CAST(n AS DECIMAL(12, 2))", except: differences(postgresNaNs)}, {ours: "CAST(n AS DECIMAL(38, 0))", except: differences(postgresNaNs)}, {ours: "TRY_CAST(n AS DECIMAL(6, 1))", theirs: "CASE WHEN n ~ '^ *[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]{1,2})? *$' AND abs(n::numeric) < 99999.95 THEN n::numeric(6, 1) END"}, {ours: "TRY_CAST(n AS BIGINT)", theirs: "CASE WHEN n ~ '^ *[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+) *$' AND trunc(n::numeric) BETWEEN -9223372036854775808 AND 9223372036854775807 THEN trunc(n::numeric)::bigint END"},
	{ours: "CAST(i AS BIGINT)"}, {ours: "CAST(l AS INT)"}, {ours: "CAST(l AS SMALLINT)"}, {ours: "CAST(i AS SMALLINT)"}, {ours: "CAST(i AS DECIMAL(6, 2))"}, {ours: "CAST(l AS DECIMAL(20, 1))"}, {ours: "CAST(i AS DOUBLE)", theirs: "i::float8", alike: double}, {ours: "CAST(l AS DOUBLE)", theirs: "l::float8", alike: double}, {ours: "CAST(l AS FLOAT)", theirs: "l::float4", alike: single},
	{ours: "CAST(m AS INT)", theirs: "trunc(m)::int"}, {ours: "CAST(w AS BIGINT)", theirs: "trunc(w)::bigint"}, {ours: "CAST(o AS DECIMAL(10, 2))"}, {ours: "CAST(w AS DECIMAL(38, 3))"}, {ours: "CAST(m AS DECIMAL(8, 1))"}, {ours: "CAST(m AS DOUBLE)", theirs: "m::float8", alike: double}, {ours: "CAST(w AS DOUBLE)", theirs: "w::float8", alike: double},
	{ours: "CAST(x AS INT)", theirs: "trunc(x)::int"}, {ours: "CAST(z AS BIGINT)", theirs: "trunc(z)::bigint"}, {ours: "CAST(x AS DECIMAL(20, 4))", theirs: "x::text::numeric(20, 4)"}, {ours: "CAST(y AS DECIMAL(5, 3))", theirs: "y::text::numeric(5, 3)"}, {ours: "CAST(z AS FLOAT)", theirs: "z::float4", alike: single, except: differences(postgresRefuses)}, {ours: "CAST(x AS FLOAT)", theirs: "x::float4", alike: single}, {ours: "CAST(z AS DECIMAL(20, 2))", theirs: "z::text::numeric(20, 2)", except: differences(postgresNaNs)},
	{ours: "CAST(c AS INT)", theirs: "c::int"}, {ours: "CAST(i AS BOOLEAN)"}, {ours: "CAST(bt AS BOOLEAN)", except: differences(difference{when: "bt IN ('on', 'off')", ours: "error .*", why: "on and off are no truths here"})},
	{ours: "CAST(dt AS DATE)"}, {ours: "CAST(dt AS TIMESTAMP(3))"}, {ours: "CAST(CAST(d AS STRING) AS DATE)", theirs: "d"}, {ours: "CAST(CAST(ts AS STRING) AS TIMESTAMP(6))", theirs: "ts"}, {ours: "CAST(d AS TIMESTAMP(3))"}, {ours: "CAST(ts AS DATE)"}, {ours: "CAST(ts AS TIMESTAMP(0))", theirs: "date_trunc('second', ts)"}, {ours: "CAST(ts AS TIMESTAMP(3))", theirs: "date_trunc('milliseconds', ts)"}, {ours: "CAST(ts AS TIME(3))", theirs: "date_trunc('milliseconds', ts)::time"}, {ours: "CAST(ts AS TIME)", theirs: "date_trunc('second', ts)::time"},
	{ours: "CAST(s AS VARCHAR(3))"}, {ours: "CAST(v AS CHAR(4))", theirs: "rpad(v, 4)"}, {ours: "CAST(a AS CHAR(4))", theirs: "rpad(a::text, 4)"}, {ours: "CAST(CAST(v AS BYTES) AS STRING)", theirs: "v"},
	{ours: "CAST(k AS STRING) || s", theirs: "k::text || s"}, {ours: "CAST(INTERVAL '1' DAY * k AS STRING)", theirs: "'+' || k || ' 00:00:00.000'"},
}

func postgresTemporal() []sameInPostgres {
	list := []sameInPostgres{
		{ours: "d + INTERVAL '40' DAY", theirs: "d + 40"}, {ours: "d - INTERVAL '3' MONTH", theirs: "(d - interval '3 months')::date"}, {ours: "d + INTERVAL '13' MONTH", theirs: "(d + interval '13 months')::date"}, {ours: "d + INTERVAL '4' YEAR", theirs: "(d + interval '4 years')::date"}, {ours: "d - INTERVAL '2-3' YEAR TO MONTH", theirs: "(d - interval '2 years 3 months')::date"},
		{ours: "ts + INTERVAL '3' MONTH", theirs: "ts + interval '3 months'"}, {ours: "ts - INTERVAL '90' MINUTE", theirs: "ts - interval '90 minutes'"}, {ours: "ts + INTERVAL '1 02:03:04.567' DAY TO SECOND", theirs: "ts + interval '1 day 02:03:04.567'"}, {ours: "ts - INTERVAL '25' HOUR", theirs: "ts - interval '25 hours'"}, {ours: "ts + INTERVAL '1.001' SECOND", theirs: "ts + interval '1.001 seconds'"}, {ours: "us - INTERVAL '1' YEAR", theirs: "us - interval '1 year'"},
		{ours: "ts + k * INTERVAL '1' DAY", theirs: "ts + k * interval '1 day'"}, {ours: "d - k * INTERVAL '1' MONTH", theirs: "(d - k * interval '1 month')::date"},
		{ours: "TIMESTAMPADD(DAY, a, d)", theirs: "d + a::int"}, {ours: "TIMESTAMPADD(MONTH, a, d)", theirs: "(d + a * interval '1 month')::date"}, {ours: "TIMESTAMPADD(YEAR, b, d)", theirs: "(d + b * interval '1 year')::date"}, {ours: "TIMESTAMPADD(WEEK, b, ts)", theirs: "ts + b * interval '7 days'"}, {ours: "TIMESTAMPADD(HOUR, a, ts)", theirs: "ts + a * interval '1 hour'"}, {ours: "TIMESTAMPADD(SECOND, a, us)", theirs: "us + a * interval '1 second'"}, {ours: "TIMESTAMPADD(QUARTER, b, ts)", theirs: "ts + b * interval '3 months'"}, {ours: "TIMESTAMPADD(MINUTE, a, tm)", theirs: "tm + a * interval '1 minute'"},
		{ours: "TIMESTAMPDIFF(DAY, d, e)", theirs: "e - d"}, {ours: "TIMESTAMPDIFF(DAY, ts, us)", theirs: "trunc(extract(epoch FROM us - ts) / 86400)::int"}, {ours: "TIMESTAMPDIFF(HOUR, ts, us)", theirs: "trunc(extract(epoch FROM us - ts) / 3600)::int"}, {ours: "TIMESTAMPDIFF(MINUTE, ts, us)", theirs: "trunc(extract(epoch FROM us - ts) / 60)::int"}, {ours: "TIMESTAMPDIFF(SECOND, ts, us)", theirs: "trunc(extract(epoch FROM us - ts))::int"}, {ours: "TIMESTAMPDIFF(WEEK, d, e)", theirs: "(e - d) / 7"},
		{ours: "TIMESTAMPDIFF(MONTH, d, e)", theirs: "CASE WHEN d <= e THEN extract(year FROM age(e, d)) * 12 + extract(month FROM age(e, d)) ELSE -(extract(year FROM age(d, e)) * 12 + extract(month FROM age(d, e))) END"},
		{ours: "TIMESTAMPDIFF(YEAR, ts, us)", theirs: "extract(year FROM age(us, ts))"}, {ours: "TIMESTAMPDIFF(MONTH, ts, us)", theirs: "extract(year FROM age(us, ts)) * 12 + extract(month FROM age(us, ts))"}, {ours: "TIMESTAMPDIFF(QUARTER, ts, us)", theirs: "trunc((extract(year FROM age(us, ts)) * 12 + extract(month FROM age(us, ts))) / 3)"},
		{ours: "DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss.SSS')", theirs: "to_char(ts, 'YYYY-MM-DD HH24:MI:SS.MS')"}, {ours: "DATE_FORMAT(ts, 'dd.MM.yy hh:mm a')", theirs: "to_char(ts, 'DD.MM.YY HH12:MI AM')"}, {ours: "DATE_FORMAT(ts, 'EEE d MMM yyyy')", theirs: "to_char(ts, 'Dy FMDD Mon YYYY')"}, {ours: "DATE_FORMAT(ts, 'EEEE MMMM D')", theirs: "to_char(ts, 'FMDay FMMonth FMDDD')"},
		{ours: "TO_DATE(SUBSTRING(dt FROM 1 FOR 10))", theirs: "CASE WHEN dt ~ '^\\d{4}-\\d\\d-\\d\\d' THEN substr(dt, 1, 10)::date END", except: differences(postgresDays)}, {ours: "TO_DATE(DATE_FORMAT(ts, 'dd/MM/yyyy'), 'dd/MM/yyyy')", theirs: "ts::date"}, {ours: "TO_TIMESTAMP(DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss'))", theirs: "date_trunc('second', ts)"}, {ours: "TO_TIMESTAMP(DATE_FORMAT(ts, 'ddMMyyyy HHmmss'), 'ddMMyyyy HHmmss')", theirs: "date_trunc('second', ts)"},
		{ours: "UNIX_TIMESTAMP(CAST(CAST(ts AS TIMESTAMP(0)) AS STRING))", theirs: "floor(extract(epoch FROM ts))"}, {ours: "FROM_UNIXTIME(i)", theirs: "to_char(to_timestamp(i) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')"}, {ours: "CAST(TO_TIMESTAMP_LTZ(a * 1000003, 3) AS TIMESTAMP(3))", theirs: "to_timestamp(a * 1000003 / 1000.0) AT TIME ZONE 'UTC'"}, {ours: "CAST(TO_TIMESTAMP_LTZ(i, 0) AS TIMESTAMP(3))", theirs: "to_timestamp(i) AT TIME ZONE 'UTC'"},
		{ours: "CONVERT_TZ(DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss'), 'UTC', 'America/New_York')", theirs: "to_char(ts AT TIME ZONE 'UTC' AT TIME ZONE 'America/New_York', 'YYYY-MM-DD HH24:MI:SS')", except: differences(difference{when: "ts < '0001-01-02'", ours: "0000-.*", theirs: "0001-12-.*", why: "the year before 1 is 0 here; to_char counts the years before Christ from 1"})}, {ours: "CONVERT_TZ(DATE_FORMAT(us, 'yyyy-MM-dd HH:mm:ss'), 'Europe/Berlin', 'Asia/Tokyo')", theirs: "to_char(date_trunc('second', us) AT TIME ZONE 'Europe/Berlin' AT TIME ZONE 'Asia/Tokyo', 'YYYY-MM-DD HH24:MI:SS')"},
		{ours: "YEAR(d)", theirs: "extract(year FROM d)"}, {ours: "QUARTER(d)", theirs: "extract(quarter FROM d)"}, {ours: "MONTH(ts)", theirs: "extract(month FROM ts)"}, {ours: "WEEK(d)", theirs: "extract(week FROM d)"}, {ours: "DAYOFMONTH(d)", theirs: "extract(day FROM d)"}, {ours: "DAYOFYEAR(ts)", theirs: "extract(doy FROM ts)"}, {ours: "DAYOFWEEK(d)", theirs: "extract(dow FROM d) + 1"}, {ours: "HOUR(ts)", theirs: "extract(hour FROM ts)"}, {ours: "MINUTE(tm)", theirs: "extract(minute FROM tm)"}, {ours: "SECOND(ts)", theirs: "floor(extract(second FROM ts))"},
		{ours: "EXTRACT(HOUR FROM tm)", theirs: "extract(hour FROM tm)"}, {ours: "EXTRACT(SECOND FROM tm)", theirs: "floor(extract(second FROM tm))"}, {ours: "EXTRACT(MILLISECOND FROM ts)", theirs: "floor(extract(milliseconds FROM ts))::int % 1000"}, {ours: "EXTRACT(MICROSECOND FROM ts)", theirs: "extract(microseconds FROM ts)::int % 1000000"}, {ours: "EXTRACT(DOW FROM d)", theirs: "extract(dow FROM d) + 1"}, {ours: "EXTRACT(EPOCH FROM d)", theirs: "extract(epoch FROM d)::bigint"}, {ours: "EXTRACT(EPOCH FROM ts)", theirs: "floor(extract(epoch FROM ts))"},
		{ours: "tm + INTERVAL '90' MINUTE", theirs: "tm + interval '90 minutes'"}, {ours: "tm - INTERVAL '1' SECOND", theirs: "tm - interval '1 second'"},
		{ours: "FLOOR(ts TO WEEK)", theirs: "date_trunc('week', ts + interval '1 day') - interval '1 day'"}, {ours: "FLOOR(d TO WEEK)", theirs: "(date_trunc('week', d + interval '1 day') - interval '1 day')::date"},
		{ours: "FLOOR(tm TO HOUR)", theirs: "date_trunc('hour', tm)::time"}, {ours: "FLOOR(tm TO MINUTE)", theirs: "date_trunc('minute', tm)::time"},
		{ours: "FLOOR(ts TO MILLISECOND)", theirs: "date_trunc('milliseconds', ts)"},
	}
	for _, unit := range []string{"YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DOY", "DECADE", "CENTURY", "MILLENNIUM", "ISODOW", "ISOYEAR"} {
		list = append(list, sameInPostgres{ours: "EXTRACT(" + unit + " FROM d)"}, sameInPostgres{ours: "EXTRACT(" + unit + " FROM ts)"})
	}
	for _, unit := range []string{"SECOND", "MINUTE", "HOUR", "DAY", "MONTH", "QUARTER", "YEAR", "DECADE", "CENTURY", "MILLENNIUM"} {
		step := "1 " + unit
		switch unit {
		case "QUARTER":
			step = "3 months"
		case "DECADE":
			step = "10 years"
		case "CENTURY":
			step = "100 years"
		case "MILLENNIUM":
			step = "1000 years"
		}
		floor := fmt.Sprintf("date_trunc('%s', ts)", unit)
		list = append(list, sameInPostgres{ours: fmt.Sprintf("FLOOR(ts TO %s)", unit), theirs: floor},
			sameInPostgres{ours: fmt.Sprintf("CEIL(ts TO %s)", unit), theirs: fmt.Sprintf("CASE WHEN ts = %s THEN ts ELSE %[1]s + interval '%s' END", floor, step)})
		if step[2] != 'S' && step != "1 MINUTE" && step != "1 HOUR" {
			list = append(list, sameInPostgres{ours: fmt.Sprintf("FLOOR(d TO %s)", unit), theirs: fmt.Sprintf("date_trunc('%s', d)::date", unit)},
				sameInPostgres{ours: fmt.Sprintf("CEIL(d TO %s)", unit), theirs: fmt.Sprintf("CASE WHEN d = date_trunc('%s', d) THEN d ELSE (date_trunc('%[1]s', d) + interval '%s')::date END", unit, step)})
		}
	}
	return list
}

// listed is an array of PostgreSQL as we write one.
func listed(array string) string {
	return "'[' || array_to_string(" + array + ", ', ', 'NULL') || ']'"
}

var postgresCollections = []sameInPostgres{
	{ours: "ARRAY[a, b, k]", theirs: listed("ARRAY[a, b, k]")}, {ours: "ARRAY[s, p]", theirs: listed("ARRAY[s, p]")}, {ours: "ARRAY[a, b, k][2]", theirs: "(ARRAY[a, b, k])[2]"}, {ours: "ARRAY[a, b, 7][k + 1]", theirs: "(ARRAY[a, b, 7])[k + 1]"}, {ours: "ARRAY[m2, a][1]", theirs: "(ARRAY[m2, a])[1]::numeric(21, 2)"}, {ours: "ARRAY[d, e][2]", theirs: "(ARRAY[d, e])[2]"},
	{ours: "CARDINALITY(ARRAY[a, b, k])"}, {ours: "ARRAY_APPEND(ARRAY[a, b], a)", theirs: listed("array_append(ARRAY[a, b], a)")}, {ours: "ARRAY_PREPEND(ARRAY[s, p], q)", theirs: listed("array_prepend(q, ARRAY[s, p])")}, {ours: "ARRAY_CONCAT(ARRAY[a, b], ARRAY[a])", theirs: listed("array_cat(ARRAY[a, b], ARRAY[a])")},
	{ours: "ARRAY_POSITION(ARRAY[b, 1, 2, a], b + 1)", theirs: "CASE WHEN b IS NOT NULL THEN coalesce(array_position(ARRAY[b, 1, 2, a], b + 1), 0) END"}, {ours: "ARRAY_POSITION(ARRAY[p, 'a', q], 'a')", theirs: "coalesce(array_position(ARRAY[p, 'a', q], 'a'), 0)"}, {ours: "ARRAY_REMOVE(ARRAY[a, b, 1, b], b)", theirs: listed("array_remove(ARRAY[a, b, 1, b], b)")}, {ours: "ARRAY_CONTAINS(ARRAY[a, 1, k], b)", theirs: "array_position(ARRAY[a, 1, k], b) IS NOT NULL"},
	{ours: "ARRAY_REVERSE(ARRAY[a, b, k])", theirs: listed("ARRAY[k, b, a]")}, {ours: "ARRAY_SLICE(ARRAY[a, b, k, 9], 2, 3)", theirs: listed("(ARRAY[a, b, k, 9])[2:3]")}, {ours: "ARRAY_SLICE(ARRAY[a, b, 9], k + 1)", theirs: listed("(ARRAY[a, b, 9])[k + 1:]")}, {ours: "ARRAY_SORT(ARRAY[a, b, k])", theirs: listed("ARRAY(SELECT v FROM unnest(ARRAY[a, b, k]) v ORDER BY v NULLS FIRST)")}, {ours: "ARRAY_SORT(ARRAY[s, v, p], FALSE)", theirs: listed("ARRAY(SELECT v FROM unnest(ARRAY[s, v, p]) v ORDER BY v DESC NULLS LAST)")},
	{ours: "ARRAY_DISTINCT(ARRAY[b, k, b, 1])", theirs: listed("ARRAY(SELECT v FROM unnest(ARRAY[b, k, b, 1]) WITH ORDINALITY t (v, n) GROUP BY v ORDER BY min(n))")}, {ours: "ARRAY_MAX(ARRAY[a, b, k])", theirs: "greatest(a, b, k)"}, {ours: "ARRAY_MIN(ARRAY[s, p, v])", theirs: "least(s, p, v)"}, {ours: "ARRAY_JOIN(ARRAY[s, p, v], '-')", theirs: "array_to_string(ARRAY[s, p, v], '-')"}, {ours: "ARRAY_JOIN(ARRAY[s, p], ', ', q)", theirs: "CASE WHEN q IS NOT NULL THEN array_to_string(ARRAY[s, p], ', ', q) END"},
	{ours: "ARRAY_SORT(ARRAY_UNION(ARRAY[a, b], ARRAY[b, k]))", theirs: listed("ARRAY(SELECT unnest(ARRAY[a, b]) UNION SELECT unnest(ARRAY[b, k]) ORDER BY 1 NULLS FIRST)")}, {ours: "ARRAY_SORT(ARRAY_EXCEPT(ARRAY[a, b, 1], ARRAY[k, 1]))", theirs: listed("ARRAY(SELECT unnest(ARRAY[a, b, 1]) EXCEPT SELECT unnest(ARRAY[k, 1]) ORDER BY 1 NULLS FIRST)")}, {ours: "ARRAY_SORT(ARRAY_INTERSECT(ARRAY[a, b, 1], ARRAY[b, k, 1]))", theirs: listed("ARRAY(SELECT unnest(ARRAY[a, b, 1]) INTERSECT SELECT unnest(ARRAY[b, k, 1]) ORDER BY 1 NULLS FIRST)")},
	{ours: "SPLIT(s, 'b')", theirs: listed("string_to_array(s, 'b')")}, {ours: "ARRAY[a, b] = ARRAY[b, a]", theirs: "ARRAY[a, b] = ARRAY[b, a]"}, {ours: "ELEMENT(ARRAY[a])", theirs: "a"}, {ours: "MAP[a, s][b]", theirs: "CASE WHEN a = b THEN s END"},
}

var postgresJSON = []sameInPostgres{
	{ours: "JSON_EXISTS(j, 'lax $.a')", theirs: "CASE WHEN j IS NOT NULL THEN coalesce(jsonb_typeof(jsonb_path_query_first(j::jsonb, 'strict $.a', '{}', true)) <> 'null', false) END"}, {ours: "JSON_EXISTS(j, 'lax $.c.b')", theirs: "CASE WHEN j IS NOT NULL THEN coalesce(jsonb_typeof(jsonb_path_query_first(j::jsonb, 'strict $.c.b', '{}', true)) <> 'null', false) END"}, {ours: "JSON_EXISTS(j, 'lax $.b[1]')", theirs: "CASE WHEN j IS NOT NULL THEN coalesce(jsonb_typeof(jsonb_path_query_first(j::jsonb, 'strict $.b[1]', '{}', true)) <> 'null', false) END"},
	{ours: "JSON_VALUE(j, 'lax $.a')", theirs: scalarAt("strict $.a")}, {ours: "JSON_VALUE(j, 'lax $.b.c')", theirs: scalarAt("strict $.b.c")}, {ours: "JSON_VALUE(j, 'lax $.c[0]')", theirs: scalarAt("strict $.c[0]")}, {ours: "JSON_VALUE(j, 'lax $.a' RETURNING BOOLEAN)", theirs: "CASE jsonb_typeof(j::jsonb -> 'a') WHEN 'boolean' THEN j::jsonb ->> 'a' END"}, {ours: "JSON_VALUE(j, 'lax $.a' DEFAULT 'none' ON EMPTY)", theirs: "CASE WHEN j IS NOT NULL THEN coalesce(" + scalarAt("strict $.a") + ", 'none') END", except: differences(difference{when: "j::jsonb = 'null'", ours: "NULL", theirs: "none", why: "no path leads anywhere in the JSON text null: an error, which is NULL"})},
	{ours: "JSON_QUERY(j, 'lax $.a')", theirs: nestedAt("strict $.a"), alike: asJSON}, {ours: "JSON_QUERY(j, 'lax $.b.a')", theirs: nestedAt("strict $.b.a"), alike: asJSON}, {ours: "JSON_QUERY(j, 'lax $.c[1]')", theirs: nestedAt("strict $.c[1]"), alike: asJSON}, {ours: "JSON_QUERY(j, 'lax $.a' WITH WRAPPER)", theirs: "CASE WHEN jsonb_typeof(j::jsonb -> 'a') <> 'null' THEN jsonb_build_array(j::jsonb -> 'a') END", alike: asJSON}, {ours: "JSON_QUERY(j, '$')", theirs: nestedAt("$"), alike: asJSON},
	{ours: "j IS JSON", theirs: "j::jsonb IS NOT NULL OR NULL"}, {ours: "j IS JSON OBJECT", theirs: "jsonb_typeof(j::jsonb) = 'object'"}, {ours: "j IS JSON ARRAY", theirs: "jsonb_typeof(j::jsonb) = 'array'"}, {ours: "j IS JSON SCALAR", theirs: "jsonb_typeof(j::jsonb) NOT IN ('array', 'object')"},
	{ours: "JSON_LENGTH(j)", theirs: "CASE jsonb_typeof(j::jsonb) WHEN 'array' THEN jsonb_array_length(j::jsonb) WHEN 'object' THEN (SELECT count(*) FROM jsonb_object_keys(j::jsonb)) ELSE CASE WHEN j IS NOT NULL THEN 1 END END"}, {ours: "LOWER(JSON_TYPE(j))", theirs: "jsonb_typeof(j::jsonb)"},
	{ours: "JSON_OBJECT('a' VALUE a, 's' VALUE v, 'm' VALUE m2, 'c' VALUE c)", theirs: "json_build_object('a', a, 's', v, 'm', m2, 'c', c)", alike: asJSON}, {ours: "JSON_OBJECT('a' VALUE a, 's' VALUE s ABSENT ON NULL)", theirs: "json_strip_nulls(json_build_object('a', a, 's', s))", alike: asJSON}, {ours: "JSON_ARRAY(a, v, c NULL ON NULL)", theirs: "json_build_array(a, v, c)", alike: asJSON}, {ours: "JSON_STRING(v)", theirs: "to_json(v)"}, {ours: "JSON_STRING(m)", theirs: "to_json(m)"}, {ours: "JSON_QUOTE(s)", theirs: "to_json(s)"}, {ours: "JSON_UNQUOTE(JSON_QUOTE(v))", theirs: "v"}, {ours: "JSON_STRING(ARRAY[a, b])", theirs: "to_json(ARRAY[a, b])"},
}

var postgresUnnested = []sameInPostgres{
	{ours: "LISTAGG(CAST(item AS STRING), '-')", theirs: "string_agg(item::text, '-' ORDER BY place)"}, {ours: "ARRAY_AGG(item)", theirs: listed("array_agg(item ORDER BY place)")}, {ours: "LISTAGG(CAST(place AS STRING))", theirs: "string_agg(place::text, ',' ORDER BY place)"},
	{ours: "SUM(item * place)"}, {ours: "COUNT(*)"}, {ours: "COUNT(DISTINCT item)"}, {ours: "MAX(item)"},
}

// scalarAt is what JSON_VALUE gives; nestedAt what JSON_QUERY does.
func scalarAt(path string) string {
	return "(SELECT CASE WHEN jsonb_typeof(x) NOT IN ('array', 'object') THEN x #>> '{}' END FROM (SELECT jsonb_path_query_first(j::jsonb, '" + path + "', '{}', true) x) y)"
}

func nestedAt(path string) string {
	return "(SELECT CASE WHEN jsonb_typeof(x) IN ('array', 'object') THEN x END FROM (SELECT jsonb_path_query_first(j::jsonb, '" + path + "', '{}', true) x) y)"
}

func postgresAggregates() []sameInPostgres {
	list := []sameInPostgres{
		{ours: "COUNT(*)"}, {ours: "COUNT(a)"}, {ours: "COUNT(DISTINCT b)"}, {ours: "COUNT(DISTINCT s)"}, {ours: "COUNT(*) FILTER (WHERE a > 0)"}, {ours: "COUNT(a) FILTER (WHERE c)"},
		{ours: "SUM(a)"}, {ours: "SUM(l)", theirs: "sum(l)::bigint"}, {ours: "SUM(i)", theirs: "sum(i)::int"}, {ours: "SUM(m)"}, {ours: "SUM(o)"}, {ours: "SUM(w)", theirs: "sum(w)::numeric(38, 10)"}, {ours: "SUM(x)", alike: about}, {ours: "SUM(DISTINCT b)"}, {ours: "SUM(a) FILTER (WHERE c)"}, {ours: "SUM(a * b)"},
		{ours: "AVG(a)", theirs: "trunc(sum(a) / count(a))::bigint"}, {ours: "AVG(l)", theirs: "div(sum(l), nullif(count(l), 0))::bigint"}, {ours: "AVG(m)", theirs: "(sum(m::numeric(80, 40)) / nullif(count(m), 0))::numeric(38, 6)"}, {ours: "AVG(w)", theirs: "(sum(w::numeric(80, 40)) / nullif(count(w), 0))::numeric(38, 10)"}, {ours: "AVG(x)", alike: about}, {ours: "AVG(DISTINCT b)", theirs: "trunc(sum(DISTINCT b) / count(DISTINCT b))::bigint"},
		{ours: "LISTAGG(s, '-')", theirs: "string_agg(s, '-' ORDER BY id)"}, {ours: "LISTAGG(v)", theirs: "string_agg(v, ',' ORDER BY id)"}, {ours: "ARRAY_AGG(a)", theirs: listed("array_agg(a ORDER BY id)")}, {ours: "ARRAY_AGG(s)", theirs: listed("array_agg(s ORDER BY id)")}, {ours: "ARRAY_SORT(ARRAY_AGG(DISTINCT b))", theirs: listed("array_agg(DISTINCT b ORDER BY b NULLS FIRST)")},
		{ours: "FIRST_VALUE(a)", theirs: "(array_agg(a ORDER BY id) FILTER (WHERE a IS NOT NULL))[1]"}, {ours: "LAST_VALUE(s)", theirs: "(array_agg(s ORDER BY id DESC) FILTER (WHERE s IS NOT NULL))[1]"},
		{ours: "PERCENTILE(x, 0.5)", theirs: "percentile_cont(0.5) WITHIN GROUP (ORDER BY x)", alike: about}, {ours: "PERCENTILE(a, 0.3)", theirs: "percentile_cont(0.3) WITHIN GROUP (ORDER BY a)", alike: about}, {ours: "PERCENTILE(m, 0.99)", theirs: "percentile_cont(0.99) WITHIN GROUP (ORDER BY m::float8)", alike: about}, {ours: "PERCENTILE(b, 0)", theirs: "percentile_cont(0) WITHIN GROUP (ORDER BY b)", alike: near},
		{ours: "JSON_ARRAYAGG(a)", theirs: "coalesce(json_agg(a ORDER BY id) FILTER (WHERE a IS NOT NULL), '[]')", alike: asJSON}, {ours: "JSON_ARRAYAGG(v NULL ON NULL)", theirs: "json_agg(v ORDER BY id)", alike: asJSON}, {ours: "JSON_OBJECTAGG(KEY CAST(id AS STRING) VALUE a)", theirs: "json_object_agg(id, a)", alike: asJSON},
		{ours: "APPROX_COUNT_DISTINCT(a)", theirs: "count(DISTINCT a)"}, {ours: "MAX(a) - MIN(b) + COUNT(*)"}, {ours: "MIN(c)", theirs: "bool_and(c)"}, {ours: "MAX(c)", theirs: "bool_or(c)"},
	}
	for _, f := range []string{"MIN", "MAX"} {
		for _, c := range []string{"a", "h", "l", "m", "w", "s", "v", "d", "ts", "tm"} {
			list = append(list, sameInPostgres{ours: f + "(" + c + ")"})
		}
		list = append(list, sameInPostgres{ours: f + "(z)", alike: double}, sameInPostgres{ours: f + "(x)", alike: double})
	}
	for _, f := range []string{"STDDEV_POP", "STDDEV_SAMP", "VAR_POP", "VAR_SAMP", "STDDEV", "VARIANCE"} {
		for _, c := range []string{"b", "x", "l2", "i"} {
			list = append(list, sameInPostgres{ours: f + "(" + c + ")", alike: about})
		}
		list = append(list, sameInPostgres{ours: f + "(m2)", theirs: f + "(m2::float8)", alike: about})
	}
	return list
}
