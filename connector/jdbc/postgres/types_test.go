package postgres

import (
	"bytes"
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/types"
)

// TestWritten: each type is declared as its table says, and comes back as the same type with the same values, in the
// server's own eyes, too.
func TestWritten(t *testing.T) {
	f := setUp(t)
	long := strings.Repeat("9", 20) + "." + strings.Repeat("9", 18)
	for _, c := range []struct {
		t, declared string
		values      []string // as they are here
		stored      []string // as psql shows them, where that is something else
	}{
		{"BOOLEAN", "boolean", []string{"true", "false", null}, nil},
		{"TINYINT", "smallint", []string{"-128", "0", "127", null}, nil},
		{"SMALLINT", "smallint", []string{"-32768", "32767"}, nil},
		{"INT", "integer", []string{"-2147483648", "2147483647"}, nil},
		{"BIGINT", "bigint", []string{"-9223372036854775808", "9223372036854775807", "0"}, nil},
		{"FLOAT", "real", []string{"1.1", "-0", "3.4028235E38", "1.0E-45", "NaN", "Infinity", "-Infinity"}, []string{"1.1", "-0", "3.4028235e+38", "1e-45", "NaN", "Infinity", "-Infinity"}},
		{"DOUBLE", "double precision", []string{"0.1", "1.7976931348623157E308", "4.9E-324", "NaN", "Infinity", "-Infinity"}, []string{"0.1", "1.7976931348623157e+308", "5e-324", "NaN", "Infinity", "-Infinity"}},
		{"DECIMAL(10, 2)", "numeric(10,2)", []string{"0.00", "-0.01", "12345678.90", "99999999.99", "1.00"}, nil},
		{"DECIMAL(38, 18)", "numeric(38,18)", []string{"-" + long, "0.000000000000000001", "100.000000000000000000", "10000.000000000000000000", "0.000100000000000000"}, nil},
		{"DECIMAL(38, 0)", "numeric(38,0)", []string{strings.Repeat("9", 38), "-1", "10000", "100000000"}, nil},
		{"DECIMAL(38, 38)", "numeric(38,38)", []string{"0." + strings.Repeat("9", 38), "0." + strings.Repeat("0", 37) + "1"}, nil},
		{"DECIMAL(5, 4)", "numeric(5,4)", []string{"9.9999", "0.0001"}, nil},
		{"CHAR(3)", "character(3)", []string{"abc", "äöü", "   ", "a  "}, nil},
		{"VARCHAR(3)", "character varying(3)", []string{"", "a", "äöü", "a  "}, nil},
		{"STRING", "text", []string{"", "x", "tab\tand\\N \\. ' \" $$", "Ω🙂", "\r"}, nil},
		{"BINARY(2)", "bytea", []string{"\x00\xff", "ab"}, []string{`\x00ff`, `\x6162`}},
		{"VARBINARY(4)", "bytea", []string{"", "\x00", "abcd"}, []string{`\x`, `\x00`, `\x61626364`}},
		{"BYTES", "bytea", []string{"", "\x00\x01\xff"}, []string{`\x`, `\x0001ff`}},
		{"DATE", "date", []string{"0001-01-01", "1970-01-01", "1969-12-31", "2000-02-29", "9999-12-31"}, nil},
		{"TIME(0)", "time(0) without time zone", []string{"00:00:00", "23:59:59"}, nil},
		{"TIME(3)", "time(3) without time zone", []string{"00:00:00.001", "23:59:59.999"}, nil},
		{"TIMESTAMP(0)", "timestamp(0) without time zone", []string{"1969-12-31 23:59:59", "2024-02-29 00:00:00"}, nil},
		{"TIMESTAMP(3)", "timestamp(3) without time zone", []string{"1969-12-31 23:59:59.999"}, nil},
		{"TIMESTAMP(6)", "timestamp(6) without time zone", []string{"0001-01-01 00:00:00.000001", "9999-12-31 23:59:59.999999"}, nil},
		{"TIMESTAMP_LTZ(3)", "timestamp(3) with time zone", []string{"2024-07-01 22:30:00.123"}, []string{"2024-07-01 22:30:00.123+00"}},
		{"TIMESTAMP_LTZ(6)", "timestamp(6) with time zone", []string{"0001-01-01 00:00:00.000001", "9999-12-31 23:59:59.999999"}, []string{"0001-01-01 00:00:00.000001+00", "9999-12-31 23:59:59.999999+00"}},
		{"INTERVAL YEAR TO MONTH", "interval year to month", []string{"0", "13", "-13"}, []string{"00:00:00", "1 year 1 mon", "-1 years -1 mons"}},
		{"INTERVAL DAY TO SECOND(3)", "interval day to second(3)", []string{"0", "1", "-90061001", "86400000"}, []string{"00:00:00", "00:00:00.001", "-1 days -01:01:01.001", "1 day"}},
		{"ARRAY<INT>", "integer[]", []string{"", "1", "1;<NULL>;-3", null}, []string{"{}", "{1}", "{1,NULL,-3}", null}},
		{"ARRAY<STRING>", "text[]", []string{`a;b"c\d;NULL;{;,`}, []string{`{a,"b\"c\\d","NULL","{",","}`}},
		{"ARRAY<DECIMAL(5, 2)>", "numeric(5,2)[]", []string{"1.00;-0.01"}, []string{"{1.00,-0.01}"}},
		{"ARRAY<TIMESTAMP(3)>", "timestamp(3) without time zone[]", []string{"2024-01-01 00:00:00.500"}, []string{`{"2024-01-01 00:00:00.5"}`}},
		{"ARRAY<BOOLEAN>", "boolean[]", []string{"true;false"}, []string{"{t,f}"}},
		{"ARRAY<BYTES>", "bytea[]", []string{"\x00;ab"}, []string{`{"\\x00","\\x6162"}`}},
		{"ARRAY<DATE>", "date[]", []string{"2024-01-01"}, []string{`{2024-01-01}`}},
		{"ARRAY<DOUBLE>", "double precision[]", []string{"0.1;NaN"}, []string{`{0.1,NaN}`}},
	} {
		t.Run(c.t, func(t *testing.T) {
			f.sql("DROP TABLE IF EXISTS t")
			sch := schema(t, "c "+c.t)
			of := []types.Type{sch.Columns[0].Type}
			var values [][]string
			for _, v := range c.values {
				values = append(values, []string{v})
			}
			b := rows(t, of, values...)
			require.Equal(t, int64(len(values)), f.done(f.stage("t", server.Create, sch), b))
			require.Equal(t, c.declared+"\n", f.sql("SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum = 1"))
			tab := f.open("t")
			require.Equal(t, sch.Columns[0].Type.String(), tab.schema.Columns[0].Type.String())
			require.Equal(t, batchText(b), f.text(tab))
			if c.stored == nil {
				c.stored = c.values
			}
			got := strings.Split(f.sql("SET timezone = 'UTC'; SET extra_float_digits = 1; SELECT coalesce(encode(convert_to(c::text, 'UTF8'), 'hex'), '') FROM t ORDER BY ctid"), "\n")
			for i, want := range c.stored {
				text, err := hex.DecodeString(got[i])
				require.NoError(t, err)
				if want == null {
					want = ""
				}
				if k := of[0].Kind; k == types.Timestamp || k == types.Time || k == types.Char || k == types.TimestampLTZ {
					text, want = bytes.TrimRight(text, "0. "), strings.TrimRight(want, "0. ") // it leaves out zeros, and CHAR's blanks
				}
				require.Equal(t, want, string(text))
			}
			// By text, as beside a column that only the server can read, it is the same.
			f.sql("DROP TABLE t; CREATE TABLE t(c " + c.declared + ", j inet)")
			two := rows(t, append(of, types.String()), func() (with [][]string) {
				for _, v := range c.values {
					with = append(with, []string{v, "10.0.0.1"})
				}
				return with
			}()...)
			sch.Columns = append(sch.Columns, types.Column{Name: "j", Type: types.String()})
			opened, err := f.s.OpenTable(f.ctx, f.db, "t", sch)
			require.NoError(t, err)
			tx, err := opened.(*Table).Transaction(f.ctx, connector.Insert{Columns: []int{0, 1}})
			require.NoError(t, err)
			f.done(tx, two)
			require.Equal(t, batchText(b), f.text(opened.(*Table), 0))
		})
	}
}

// TestWrittenRefused: what a type or a value cannot be is refused with its place.
func TestWrittenRefused(t *testing.T) {
	f := setUp(t)
	for text, want := range map[string]string{
		"TIMESTAMP(9)":             "at most 6 decimals of a second, and TIMESTAMP(9) has 9; CAST it to TIMESTAMP(6)",
		"TIME(9)":                  "CAST it to TIME(6)",
		"MAP<STRING, INT>":         "has no form in PostgreSQL; CAST it to STRING",
		"ROW<a INT>":               "has no form in PostgreSQL; CAST it to STRING",
		"ARRAY<ARRAY<INT>>":        "has no form in PostgreSQL; CAST it to STRING",
		"VARCHAR(10485761)":        "is longer than the 10485760 characters that PostgreSQL takes; CAST it to STRING",
		"ARRAY<MAP<INT, INT>>":     "has no form in PostgreSQL",
		"MULTISET<INT>":            "has no form in PostgreSQL",
		"ARRAY<VARBINARY(3)>":      "CAST it to ARRAY<BYTES>",
		"ARRAY<TIMESTAMP_LTZ(7)>":  "at most 6 decimals",
		"ARRAY<INTERVAL DAY(2)>":   "has no form in PostgreSQL",
		"ARRAY<TINYINT>":           "has no form in PostgreSQL",
		"ROW<a ARRAY<INT>, b INT>": "has no form in PostgreSQL",
	} {
		_, _, err := f.s.CheckTable("t", server.Definition{Schema: schema(t, "c "+text)})
		require.ErrorContains(t, err, want, text)
		var at *connector.ColumnError
		require.ErrorAs(t, err, &at)
		require.Equal(t, "c", at.Column)
	}
	for _, c := range []struct{ t, value, want string }{
		{"CHAR(3)", "ab", "table t, row 2, column c: the value \"ab\" does not go into a column of type character(3): it has 2 characters, and PostgreSQL would pad it to the 3 of the column; CAST it to VARCHAR(3)"},
		{"CHAR(3)", "abcd", "it has more than the 3 characters of the column"},
		{"VARCHAR(3)", "abc ", "it has more than the 3 characters of the column"},
		{"STRING", "a\x00b", "table t, row 2, column c: the value \"a\\x00b\" does not go into a column of type text: PostgreSQL keeps no NUL character in text"},
		{"ARRAY<STRING>", "a;\x00", "PostgreSQL keeps no NUL character in text"},
		{"VARBINARY(2)", "abc", `table t, row 2: new row for relation "t" violates check constraint "c_check"`},
	} {
		sch := schema(t, "c "+c.t)
		first := strings.Repeat("x", sch.Columns[0].Type.Precision%5)
		b := rows(t, []types.Type{sch.Columns[0].Type}, []string{first}, []string{c.value})
		f.fails(f.stage("t", server.Create, sch), c.want, b)
	}
}

// TestRead: the server's types are read as the table says, exactly or not at all.
func TestRead(t *testing.T) {
	f := setUp(t)
	f.sql(`CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE DOMAIN positive AS numeric(6,2) CHECK (VALUE > 0); CREATE DOMAIN code AS varchar(5); CREATE DOMAIN deeper AS code;
CREATE TYPE pair AS (a int, b text); CREATE EXTENSION IF NOT EXISTS hstore`)
	for _, c := range []struct{ declared, value, t, want string }{
		{"bool", "true", "BOOLEAN", "TRUE"},
		{"int2", "-5", "SMALLINT", "-5"},
		{"serial", "7", "INT", "7"},
		{"bigserial", "7", "BIGINT", "7"},
		{"oid", "4294967295", "BIGINT", "4294967295"},
		{"float4", "0.1", "FLOAT", "0.1"},
		{"float8", "0.1", "DOUBLE", "0.1"},
		{"numeric", "123.456", "DECIMAL(38, 18)", "123.456000000000000000"},
		{"numeric", "0", "DECIMAL(38, 18)", "0.000000000000000000"},
		{"numeric", "-0.000000000000000001", "DECIMAL(38, 18)", "-0.000000000000000001"},
		{"numeric", "1e19", "DECIMAL(38, 18)", "10000000000000000000.000000000000000000"},
		{"numeric(5)", "12345", "DECIMAL(5, 0)", "12345"},
		{"numeric(3,5)", "0.00123", "DECIMAL(5, 5)", "0.00123"},
		{"numeric(3,-2)", "12300", "DECIMAL(5, 0)", "12300"},
		{"numeric(40,2)", "99999999999999999999999999999999999999.99", "STRING", "99999999999999999999999999999999999999.99"},
		{"numeric(1000,500)", "'NaN'", "STRING", "NaN"},
		{"money", "'12.34'", "STRING", "$12.34"},
		{"char(4)", "'ab'", "CHAR(4)", "ab  "},
		{`"char"`, "'x'", "STRING", "x"},
		{"name", "'n'", "STRING", "n"},
		{"varchar(3)", "'äöü'", "VARCHAR(3)", "äöü"},
		{"varchar", "'x'", "STRING", "x"},
		{"text", "E'a\\tb'", "STRING", "a\tb"},
		{"bytea", `'\x00ff'`, "BYTES", "x'00ff'"},
		{"date", "'2024-02-29'", "DATE", "2024-02-29"},
		{"time", "'12:34:56.789'", "TIME(6)", "12:34:56.789"},
		{"time(0)", "'12:34:56'", "TIME(0)", "12:34:56"},
		{"timetz", "'12:34:56.789123+02'", "STRING", "12:34:56.789123+02"},
		{"timestamp", "'2024-01-02 03:04:05.123456'", "TIMESTAMP(6)", "2024-01-02 03:04:05.123456"},
		{"timestamp(3)", "'2024-01-02 03:04:05.123'", "TIMESTAMP(3)", "2024-01-02 03:04:05.123"},
		{"timestamptz", "'2024-01-02 03:04:05.123456+02'", "TIMESTAMP_LTZ(6)", "2024-01-02 01:04:05.123456"},
		{"interval", "'1 year 2 mons 3 days 04:05:06.789'", "STRING", "1 year 2 mons 3 days 04:05:06.789"},
		{"interval year to month", "'14 months'", "INTERVAL YEAR TO MONTH", "+1-02"},
		{"interval day to second(3)", "'1 day 00:00:00.5'", "INTERVAL DAY TO SECOND(3)", "+1 00:00:00.500"},
		{"interval day to second(6)", "'1 day 00:00:00.5'", "STRING", "1 day 00:00:00.5"},
		{"json", `'{"a" : 1}'`, "STRING", `{"a" : 1}`},
		{"jsonb", `'{"a" : 1}'`, "STRING", `{"a": 1}`},
		{"xml", `'<a/>'`, "STRING", "<a/>"},
		{"uuid", "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", "STRING", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
		{"inet", "'10.0.0.1/8'", "STRING", "10.0.0.1/8"},
		{"macaddr", "'08:00:2b:01:02:03'", "STRING", "08:00:2b:01:02:03"},
		{"point", "'(1,2)'", "STRING", "(1,2)"},
		{"int4range", "'[1,5)'", "STRING", "[1,5)"},
		{"bit(3)", "B'101'", "STRING", "101"},
		{"tsvector", "'a b'", "STRING", "'a' 'b'"},
		{"mood", "'ok'", "STRING", "ok"},
		{"positive", "1.5", "DECIMAL(6, 2)", "1.50"},
		{"deeper", "'abc'", "VARCHAR(5)", "abc"},
		{"pair", `'(1,"a,b")'`, "STRING", `(1,"a,b")`},
		{"hstore", `'a=>1'`, "STRING", `"a"=>"1"`},
		{"int4[]", "'{1,NULL,3}'", "ARRAY<INT>", "[1, NULL, 3]"},
		{"int4[]", "'[5:6]={1,2}'", "ARRAY<INT>", "[1, 2]"},
		{"text[]", `'{"a,b",""}'`, "ARRAY<STRING>", "[a,b, ]"},
		{"numeric(6,2)[]", "'{1.5}'", "ARRAY<DECIMAL(6, 2)>", "[1.50]"},
		{"timestamptz[]", "'{2024-01-01 00:00:00+01}'", "ARRAY<TIMESTAMP_LTZ(6)>", "[2023-12-31 23:00:00.000000]"},
		{"mood[]", "'{ok,sad}'", "STRING", "{ok,sad}"},
		{"uuid[]", "'{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}'", "STRING", "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}"},
	} {
		f.sql(`DROP TABLE IF EXISTS t; CREATE TABLE t(c ` + c.declared + `); INSERT INTO t VALUES (` + c.value + `)`)
		tab := f.open("t")
		require.Equal(t, c.t, tab.schema.Columns[0].Type.AsNullable().String(), c.declared)
		require.Equal(t, c.want+"\n", f.text(tab), c.declared)
		if c.t == "STRING" && c.declared != "money" { // and the text is written back to the same value
			f.sql("CREATE TABLE was AS TABLE t")
			b := rows(t, []types.Type{types.String()}, []string{c.want})
			f.done(f.insert(tab, connector.Insert{Overwrite: true}), b)
			require.Equal(t, f.sql("SELECT c::text FROM was"), f.sql("SELECT c::text FROM t"), c.declared)
			f.sql("DROP TABLE was")
		}
	}
}

// TestMisfits: a value that the type does not hold is refused with table, column, row and value, or NULL, or text.
func TestMisfits(t *testing.T) {
	f := setUp(t)
	for _, c := range []struct{ declared, value, text, why string }{
		{"numeric", "'NaN'", "NaN", "no DECIMAL(38, 18): it is no number or infinite"},
		{"numeric", "'Infinity'", "Infinity", "it is no number or infinite"},
		{"numeric", "'-Infinity'", "-Infinity", "it is no number or infinite"},
		{"numeric(5,2)", "'NaN'", "NaN", "no DECIMAL(5, 2): it is no number or infinite"},
		{"numeric", "0.1234567890123456789", "0.1234567890123456789", "it has more decimals than the type"},
		{"numeric", "1e-30", "0.000000000000000000000000000001", "it has more decimals than the type"},
		{"numeric", "1e20", "100000000000000000000", "out of the type's range"},
		{"numeric", "1e40", "1" + strings.Repeat("0", 40), "out of the type's range"},
		{"date", "'infinity'", "infinity", "no DATE: it is infinite"},
		{"date", "'-infinity'", "-infinity", "it is infinite"},
		{"date", "'0044-03-15 BC'", "0044-03-15 BC", "the years 0001 to 9999 can be held"},
		{"date", "'10000-01-01'", "10000-01-01", "the years 0001 to 9999 can be held"},
		{"timestamp", "'infinity'", "infinity", "no TIMESTAMP(6): it is infinite"},
		{"timestamp", "'0044-03-15 00:00 BC'", "0044-03-15 00:00:00 BC", "the years 0001 to 9999"},
		{"timestamptz", "'-infinity'", "-infinity", "no TIMESTAMP_LTZ(6): it is infinite"},
		{"timestamptz", "'294276-12-31'", "294276-12-31 00:00:00+00", "the years 0001 to 9999"},
		{"time", "'24:00'", "24:00:00", "no TIME(6): there is no such time of day"},
		{"time", "'12:00:00.123456'", "12:00:00.123456", "a TIME holds milliseconds"},
		{"interval year to month", "make_interval(years => 1)::interval + '1 day'", "", ""},
		{"int4[]", "'{{1,2},{3,4}}'", "{{1,2},{3,4}}", "it has more than one dimension"},
		{"numeric[]", "'{1,NaN}'", "{1,NaN}", "it is no number or infinite"},
	} {
		if c.text == "" {
			continue
		}
		f.sql(`DROP TABLE IF EXISTS s.t; CREATE SCHEMA IF NOT EXISTS s; CREATE TABLE s.t(id int, "K x" text, c ` + c.declared + `, PRIMARY KEY (id, "K x")); INSERT INTO s.t VALUES (1, 'a', NULL), (2, 'b', ` + c.value + `)`)
		tab := f.open("s.t")
		got, err := f.read(f.ctx, tab, connector.Scan{Columns: []int{2}, Limit: -1}, 1)
		var misfit *MisfitError
		require.ErrorAs(t, err, &misfit, "%s %v", c.value, got)
		require.ErrorContains(t, err, "table s.t, column c, the row with id = 2, K x = b: the value "+c.text+" is no ")
		require.ErrorContains(t, err, c.why)
		require.ErrorContains(t, err, "'postgresql.columns.c' = 'STRING'")
		require.Equal(t, "1|a|<NULL>\n2|b|<NULL>\n", f.text(f.openBy(f.option("postgresql.misfit", "null"), "s.t")))
		require.Equal(t, "1|a|<NULL>\n2|b|"+c.text+"\n", f.text(f.openBy(f.option("postgresql.columns.s.t.c", "STRING"), "s.t")))
	}
}

// TestReadAs: a table of the connector may say other types than the server's, as long as nothing is altered.
func TestReadAs(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE t(i int8, n numeric(20,3), d float8, v text, m numeric); INSERT INTO t VALUES (7, 1.500, 0.5, 'x', 0.1), (300, 2.000, 0.1, 'y', 123456789012345678901.234)")
	open := func(columns ...string) *Table {
		tab, err := f.s.OpenTable(f.ctx, f.db, "t", schema(t, columns...))
		require.NoError(t, err)
		return tab.(*Table)
	}
	require.Equal(t, "0.5|1.5|7\n0.1|2.0|300\n", f.text(open("d DOUBLE", "n DECIMAL(10, 1)", "i SMALLINT")))
	require.Equal(t, "7.00|1.5|7\n300.00|2.0|300\n", f.text(open("i DECIMAL(10, 2)", "n DOUBLE", "i STRING"), 0, 1, 2))
	for column, want := range map[string]string{
		"i TINYINT":       "the value 300 is no TINYINT: it is out of the type's range",
		"m DOUBLE":        "the value 123456789012345678901.234 is no DOUBLE: the type would not hold it exactly",
		"m FLOAT":         "the value 123456789012345678901.234 is no FLOAT: the type would not hold it exactly",
		"n INT":           "the value 1.500 is no INT: it has more decimals than the type",
		"n DECIMAL(5, 0)": "it has more decimals than the type",
		"d FLOAT":         "the value 0.1 is no FLOAT: the type would not hold it exactly",
	} {
		_, err := f.read(f.ctx, open(column), connector.Scan{Columns: []int{0}, Limit: -1}, 1)
		require.ErrorContains(t, err, want, column)
	}
	for column, want := range map[string]string{
		"v INT":  "column v is of type text in PostgreSQL and cannot be read as INT; declare it STRING or STRING",
		"i DATE": "column i is of type bigint in PostgreSQL and cannot be read as DATE; declare it BIGINT or STRING",
		"x INT":  "table t has no column `x`",
	} {
		_, err := open(column).Source(f.ctx, connector.Scan{Columns: []int{0}, Limit: -1})
		require.ErrorContains(t, err, want, column)
	}
}

// TestWrittenInto: values go into columns of other types of the same kind only where nothing is altered.
func TestWrittenInto(t *testing.T) {
	f := setUp(t)
	f.sql(`CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE DOMAIN positive AS int CHECK (VALUE > 0); CREATE DOMAIN cent AS numeric(9,2);
CREATE TYPE price AS (amount cent, what text); CREATE TYPE deep AS (n int, prices price[]); CREATE TYPE moment AS (at timestamp, note varchar); CREATE TYPE span AS RANGE (SUBTYPE = interval);
CREATE TABLE t(pr price, de deep[], mt moment, sp span, bs bit(3)[], mr tsmultirange, i int2, n numeric(6,1), f numeric, v varchar(3), b char(3), m mood, j jsonb, u uuid, d positive, ts timestamp(0), tm time(1), nm name, by "char", bi bit(3), big numeric(40,2), tens numeric(20,-3), mo money, tz timetz(0), iv interval(0), free interval, ivm interval minute, ivd interval day, ivy interval year, ym interval year to month, tr tsrange, nms name[],
k int GENERATED ALWAYS AS IDENTITY, g int GENERATED ALWAYS AS (i + 1) STORED)`)
	try := func(columnType, value string) error {
		name, typ, _ := strings.Cut(columnType, " ")
		sch := schema(t, columnType)
		opened, err := f.s.OpenTable(f.ctx, f.db, "t", sch)
		require.NoError(t, err)
		tx, err := opened.(*Table).Transaction(f.ctx, connector.Insert{Columns: []int{0}})
		if err != nil {
			return err
		}
		_, err = f.write(tx, rows(t, []types.Type{parseType(t, typ)}, []string{value}))
		if err == nil {
			_, err = tx.Commit(f.ctx)
		}
		require.NoError(t, tx.Abort(f.ctx))
		_ = name
		return err
	}
	for _, ok := range [][2]string{
		{"i BIGINT", "32767"}, {"n DECIMAL(20, 5)", "1.50000"}, {"n INT", "12345"}, {"f DECIMAL(38, 18)", "0.5"}, {"f BIGINT", "-1"},
		{"v STRING", "abc"}, {"b VARCHAR(9)", "abc"}, {"m STRING", "sad"}, {"j STRING", `[1, "ä"]`}, {"u STRING", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"},
		{"d SMALLINT", "5"}, {"ts TIMESTAMP(6)", "2024-01-01 00:00:00.000000"}, {"ts TIMESTAMP(9)", "2024-01-01 00:00:00.000000000"}, {"tm TIME(3)", "00:00:00.500"},
		{"nm STRING", strings.Repeat("ä", 31) + "x"}, {"by STRING", "x"}, {"by STRING", ""}, {"bi STRING", "101"}, {"big STRING", " -1.2300 "}, {"big STRING", "NaN"}, {"big STRING", "1239e-2"}, {"big STRING", "0.000"}, {"f STRING", "1e-200"},
		{"tens INT", "-5000"}, {"tens DECIMAL(20, 2)", "7000.00"},
		{"tz STRING", "10:00:00.0+02"}, {"tz STRING", "10:00"}, {"iv STRING", "1 year -2 mons +3 days -04:05:06"}, {"free STRING", "1.5 seconds"}, {"free STRING", "-1 min 3 weeks 1.000001000 S"},
		{"ivm STRING", "1 day 10:01:00"}, {"ivd STRING", "1 mon 3 days"}, {"ivy STRING", "24 months"}, {"ym STRING", "1 year 1 mon"}, {"mt STRING", "(2024-01-01 00:00:00.123456,x)"}, {"bs STRING", "{101}"}, {"mr STRING", "{}"}, {"tr STRING", "[2024-01-01 00:00:00.123456,)"},
	} {
		require.NoError(t, try(ok[0], ok[1]), ok)
	}
	for _, bad := range [][3]string{
		{"i BIGINT", "32768", "table t, row 1, column i: the value 32768 does not go into a column of type smallint: it is out of the type's range"},
		{"n DECIMAL(20, 5)", "1.55000", "the value 1.55000 does not go into a column of type numeric(6,1): it has more than the 1 decimals of the column"},
		{"n INT", "123456", "numeric field overflow"},
		{"v STRING", "abcd", "it has more than the 3 characters"},
		{"b VARCHAR(9)", "ab", "would pad it"},
		{"m STRING", "merry", `invalid input value for enum mood: "merry"`},
		{"j STRING", "{", "invalid input syntax for type json"},
		{"u STRING", "x", "want a uuid such as"},
		{"d SMALLINT", "-5", `value for domain positive violates check constraint`},
		{"ts TIMESTAMP(6)", "2024-01-01 00:00:00.100000", "it has more than the 0 decimals of the column"},
		{"tm TIME(3)", "00:00:00.550", "it has more than the 1 decimals of the column"},
		{"nm STRING", strings.Repeat("ä", 32), "does not go into a column of type name: it has more than the 63 bytes of a name"},
		{"by STRING", "xy", "table t, row 1, column by: the value \"xy\" does not go into a column of type \"char\": the column has one byte, of ASCII"},
		{"by STRING", "ä", "one byte, of ASCII"},
		{"bi STRING", "10", "table t, row 1: bit string length 2 does not match type bit(3)"},
		{"big STRING", "1.239", "it has more than the 2 decimals of the column"},
		{"big STRING", "1239e-3", "it has more than the 2 decimals of the column"},
		{"big STRING", "x", "want a number such as"},
		{"tens INT", "500", "the column keeps no digit below 1000"},
		{"tens DECIMAL(20, 2)", "7000.01", "the column keeps no digit below 1000"},
		{"mo STRING", "1.23", "table t: column mo is of type money in PostgreSQL, which is read by the server's lc_monetary, and rounded: it takes no text from here"},
		{"nms STRING", "{a}", "column nms is of type name[] in PostgreSQL, parts of which PostgreSQL would cut or round: it takes no text from here"},
		{"pr STRING", "(1.239,x)", "column pr is of type price in PostgreSQL, parts of which PostgreSQL would cut or round: it takes no text from here"},
		{"de STRING", "{}", "column de is of type deep[] in PostgreSQL, parts of which"},
		{"sp STRING", "empty", "column sp is of type span in PostgreSQL, parts of which"},
		{"mt STRING", "(2024-01-01 00:00:00.1234567,x)", "it has more than the 6 decimals of the column"},
		{"mr STRING", "{[2024-01-01 00:00:00.1234567,)}", "it has more than the 6 decimals of the column"},
		{"tz STRING", "10:00:00.7+00", "it has more than the 0 decimals of the column"},
		{"tz STRING", "2024-01-01 10:00:00+00", "want a time such as 12:34:56.789+02"},
		{"iv STRING", "1.7 s", "table t, row 1, column iv: the value \"1.7 s\" does not go into a column of type interval(0): it has more than the 0 decimals of the column"},
		{"iv STRING", "00:00:00.5", "it has more than the 0 decimals of the column"},
		{"free STRING", "00:00:00.1234567", "it has more than the 6 decimals of the column"},
		{"free STRING", "1.1 months", "want an interval such as 1 year 2 mons 3 days 04:05:06.789"},
		{"free STRING", "1 min 00:01:00", "want an interval such as"},
		{"free STRING", "", "want an interval such as"},
		{"free STRING", "5", "want an interval such as"},
		{"ivm STRING", "00:01:30", "the column does not have all of its fields"},
		{"ivd STRING", "1 day 01:00:00", "the column does not have all of its fields"},
		{"ivy STRING", "14 months", "the column does not have all of its fields"},
		{"ym STRING", "1 mon 1 day", "the column does not have all of its fields"},
		{"tr STRING", "[2024-01-01 00:00:00.1234567,)", "it has more than the 6 decimals of the column"},
		{"k INT", "1", "table t: column k is computed by PostgreSQL and cannot be written"},
		{"g INT", "1", "column g is computed by PostgreSQL and cannot be written"},
		{"i STRING", "1", "column i is of type smallint in PostgreSQL and takes no STRING values; CAST them to SMALLINT"},
		{"v INT", "1", "column v is of type character varying(3) in PostgreSQL and takes no INT values; CAST them to VARCHAR(3)"},
		{"f DOUBLE", "1", "takes no DOUBLE values; CAST them to DECIMAL(38, 18)"},
		{"ts TIMESTAMP_LTZ(3)", "2024-01-01 00:00:00.000", "takes no TIMESTAMP_LTZ(3) values; CAST them to TIMESTAMP(0)"},
	} {
		require.ErrorContains(t, try(bad[0], bad[1]), bad[2], bad)
	}
	require.Equal(t, "38\n", f.sql("SELECT count(*) FROM t"))
}

// TestNumericForm: what is written of a decimal is read as the same, whatever its digits and scale.
func TestNumericForm(t *testing.T) {
	for scale := range 39 {
		for digits := range 39 {
			if digits == 0 {
				continue
			}
			for _, d := range []string{strings.Repeat("9", digits), "1" + strings.Repeat("0", digits-1), strings.Repeat("10", digits)[:digits]} {
				for _, sign := range []string{"", "-"} {
					x, err := types.ParseDecimalExact([]byte(sign+d), 38, 0)
					require.NoError(t, err)
					got, why := readNumeric(appendNumeric(nil, x, scale), scale)
					require.Empty(t, why, "%s%s scale %d", sign, d, scale)
					require.Equal(t, x, got, "%s%s scale %d", sign, d, scale)
				}
			}
		}
	}
	zero, why := readNumeric(appendNumeric(nil, types.Int128{}, 5), 5)
	require.Empty(t, why)
	require.Equal(t, types.Int128{}, zero)
}

// TestFloatBits: every float is stored as it is.
func TestFloatBits(t *testing.T) {
	f := setUp(t)
	sch := schema(t, "d DOUBLE", "f FLOAT")
	b := column.NewBatch([]types.Type{sch.Columns[0].Type, sch.Columns[1].Type}, 64)
	for _, x := range []float64{0, math.Copysign(0, -1), math.Pi, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1), math.NaN(), 1 << 53, 0.1 + 0.2} {
		b.Cols[0].AppendF64(x)
		b.Cols[1].AppendF64(float64(float32(x)))
		b.N++
	}
	f.done(f.stage("t", server.Create, sch), b)
	got, err := f.read(f.ctx, f.open("t"), connector.Scan{Columns: []int{0, 1}, Limit: -1}, 1)
	require.NoError(t, err)
	for i := range b.N {
		if w := b.Cols[0].F64[i]; math.IsNaN(w) {
			require.True(t, math.IsNaN(got[0].Cols[0].F64[i]) && math.IsNaN(float64(got[0].Cols[1].F32[i])))
		} else {
			require.Equal(t, math.Float64bits(w), math.Float64bits(got[0].Cols[0].F64[i]))
			require.Equal(t, math.Float32bits(b.Cols[1].F32[i]), math.Float32bits(got[0].Cols[1].F32[i]))
		}
	}
}
