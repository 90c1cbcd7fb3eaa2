package mysql

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/types"
)

// foreign is a table of one column of the server's type with some values, which have to be read as this type and
// these texts.
var foreignColumns = []struct {
	declared string
	values   string // SQL, apart by ;
	want     string // the type
	texts    string // apart by ;
}{
	{"TINYINT", "-128;127;NULL", "TINYINT", "-128;127;NULL"},
	{"TINYINT UNSIGNED", "0;255", "SMALLINT", "0;255"},
	{"TINYINT(1)", "0;1;NULL", "BOOLEAN", "FALSE;TRUE;NULL"},
	{"TINYINT(1) UNSIGNED", "0;255", "SMALLINT", "0;255"},
	{"BOOLEAN", "TRUE;FALSE", "BOOLEAN", "TRUE;FALSE"},
	{"SMALLINT", "-32768;32767", "SMALLINT", "-32768;32767"},
	{"SMALLINT UNSIGNED", "65535", "INT", "65535"},
	{"MEDIUMINT", "-8388608;8388607", "INT", "-8388608;8388607"},
	{"MEDIUMINT UNSIGNED", "16777215", "INT", "16777215"},
	{"INT", "-2147483648;2147483647", "INT", "-2147483648;2147483647"},
	{"INT UNSIGNED", "4294967295", "BIGINT", "4294967295"},
	{"INT(5) ZEROFILL", "42", "BIGINT", "42"},
	{"BIGINT", "-9223372036854775808;9223372036854775807", "BIGINT", "-9223372036854775808;9223372036854775807"},
	{"BIGINT UNSIGNED", "18446744073709551615;0", "DECIMAL(20, 0)", "18446744073709551615;0"},
	{"FLOAT", "1.1;-0e0;3.4028234e38;1.17549435e-38;NULL", "FLOAT", "1.1;0.0;3.4028235E38;1.1754944E-38;NULL"},
	{"FLOAT(10,2)", "1.25", "FLOAT", "1.25"},
	{"DOUBLE", "0.1;1.7976931348623157e308;2.2250738585072014e-308;9007199254740993e0;-0e0", "DOUBLE", "0.1;1.7976931348623157E308;2.2250738585072014E-308;9.007199254740992E15;0.0"},
	{"DOUBLE UNSIGNED", "0.30000000000000004", "DOUBLE", "0.30000000000000004"},
	{"DECIMAL(10,2)", "-12345678.90;0", "DECIMAL(10, 2)", "-12345678.90;0.00"},
	{"DECIMAL(18,18)", "0.123456789012345678;-0.999999999999999999", "DECIMAL(18, 18)", "0.123456789012345678;-0.999999999999999999"},
	{"DECIMAL(38,18)", "-12345678901234567890.123456789012345678", "DECIMAL(38, 18)", "-12345678901234567890.123456789012345678"},
	{"DECIMAL(38,38)", "0.12345678901234567890123456789012345678", "DECIMAL(38, 38)", "0.12345678901234567890123456789012345678"},
	{"DECIMAL(65,30)", "12345678901234567890123456789012345.123456789012345678901234567890", "STRING", "12345678901234567890123456789012345.123456789012345678901234567890"},
	{"DECIMAL(5,0) ZEROFILL", "42", "DECIMAL(5, 0)", "42"},
	{"BIT(1)", "b'1';b'0'", "BOOLEAN", "TRUE;FALSE"},
	{"BIT(12)", "b'101000000001'", "BINARY(2)", "0a01"},
	{"BIT(64)", "0xffffffffffffffff", "BINARY(8)", "ffffffffffffffff"},
	{"YEAR", "0;1901;2155", "SMALLINT", "0;1901;2155"},
	{"DATE", "'1000-01-01';'9999-12-31';'2024-02-29'", "DATE", "1000-01-01;9999-12-31;2024-02-29"},
	{"TIME", "'00:00:00';'23:59:59'", "TIME(0)", "00:00:00;23:59:59"},
	{"TIME(3)", "'12:34:56.789'", "TIME(3)", "12:34:56.789"},
	{"DATETIME", "'2024-01-02 03:04:05'", "TIMESTAMP(0)", "2024-01-02 03:04:05"},
	{"DATETIME(6)", "'9999-12-31 23:59:59.999999';'1000-01-01 00:00:00.000001'", "TIMESTAMP(6)", "9999-12-31 23:59:59.999999;1000-01-01 00:00:00.000001"},
	{"TIMESTAMP(6) NULL", "'1970-01-01 00:00:01.000001';'2038-01-19 03:14:07.999999';NULL", "TIMESTAMP_LTZ(6)", "1970-01-01 00:00:01.000001;2038-01-19 03:14:07.999999;NULL"},
	{"CHAR(5)", "'ab';'a  ';''", "CHAR(5)", "ab   ;a    ;     "},
	{"CHAR(3) CHARACTER SET latin1", "'äöü'", "CHAR(3)", "äöü"},
	{"VARCHAR(5)", "'a  ';'';NULL;'äöü€😀'", "VARCHAR(5)", "a  ;;NULL;äöü€😀"},
	{"VARCHAR(5) CHARACTER SET latin1", "'€ÿ'", "VARCHAR(5)", "€ÿ"},
	{"VARCHAR(20) CHARACTER SET utf16", "'😀x'", "VARCHAR(20)", "😀x"},
	{"VARCHAR(20) CHARACTER SET sjis", "'日本'", "VARCHAR(20)", "日本"},
	{"TINYTEXT", "'t'", "STRING", "t"},
	{"TEXT", "'x\\0y'", "STRING", "x\x00y"},
	{"MEDIUMTEXT", "''", "STRING", ""},
	{"LONGTEXT", "NULL", "STRING", "NULL"},
	{"BINARY(4)", "0x0001", "BINARY(4)", "00010000"},
	{"VARBINARY(4)", "0x00ff;''", "VARBINARY(4)", "00ff;"},
	{"TINYBLOB", "0xdeadbeef", "BYTES", "deadbeef"},
	{"BLOB", "0x00", "BYTES", "00"},
	{"MEDIUMBLOB", "''", "BYTES", ""},
	{"LONGBLOB", "0xff27005c", "BYTES", "ff27005c"},
	{"ENUM('a','it''s,','c')", "'it''s,';'a';NULL", "STRING", "it's,;a;NULL"},
	{"SET('a','b','c')", "'a,c';''", "STRING", "a,c;"},
	{"JSON", "'{\"a\":[1, 2.50]}'", "STRING", "{\"a\":[1, 2.50]}"},
	{"UUID", "'123e4567-e89b-12d3-a456-426614174000'", "STRING", "123e4567-e89b-12d3-a456-426614174000"},
	{"INET6", "'2001:db8::1'", "STRING", "2001:db8::1"},
	{"POINT", "ST_PointFromText('POINT(1 2)')", "BYTES", "000000000101000000000000000000f03f0000000000000040"},
}

// hexText is the text of a batch whose bytes are in hexadecimal digits.
func cells(batches []*column.Batch) (list []string) {
	for _, b := range batches {
		for i := range b.N {
			v := b.Cols[0]
			switch {
			case v.IsNull(i):
				list = append(list, "NULL")
			case v.Type.IsBinary():
				list = append(list, fmt.Sprintf("%x", v.Value(i)))
			default:
				list = append(list, string(column.AppendText(nil, v, i, nil)))
			}
		}
	}
	return list
}

// Every type of the server is read with its very values, and its rows can be copied into a table of our own, from
// where the same is read again.
func TestReadTypes(t *testing.T) {
	f := setUp(t)
	for i, x := range foreignColumns {
		name := fmt.Sprintf("t%d", i)
		f.sql("SET sql_mode='STRICT_ALL_TABLES'; SET NAMES utf8mb4; CREATE TABLE " + name + " (n INT AUTO_INCREMENT PRIMARY KEY, c " + x.declared + ") ENGINE=InnoDB;" +
			"INSERT INTO " + name + " (c) VALUES (" + strings.ReplaceAll(x.values, ";", "),(") + ")")
		tab := f.open(name)
		require.Equal(t, x.want, tab.schema.Columns[1].Type.String(), x.declared)
		batches, err := f.read(tab, connector.Scan{Columns: []int{1}, Limit: -1})
		require.NoError(t, err, x.declared)
		require.Equal(t, strings.Split(x.texts, ";"), cells(batches), x.declared)

		typ := tab.schema.Columns[1].Type
		f.done(f.stage("copy", server.Create, types.Schema{Columns: []types.Column{{Name: "c", Type: typ}}}), batches...)
		tab = f.open("copy")
		require.True(t, tab.schema.Columns[0].Type.Equal(typ), x.declared)
		again, err := f.read(tab, connector.Scan{Columns: []int{0}, Limit: -1})
		require.NoError(t, err, x.declared)
		require.Equal(t, strings.Split(x.texts, ";"), cells(again), x.declared)
		f.sql("DROP TABLE copy")

		// Back into a column of the server's own type: the same again, or refused with the column.
		tab = f.open(name)
		tx, err := tab.Transaction(f.ctx, connector.Insert{Columns: []int{1}, Overwrite: true})
		if err != nil {
			require.ErrorContains(t, err, "table "+name+", column c (", x.declared)
			continue
		}
		f.done(tx, batches...)
		back, err := f.read(tab, connector.Scan{Columns: []int{1}, Limit: -1})
		require.NoError(t, err, x.declared)
		require.Equal(t, strings.Split(x.texts, ";"), cells(back), x.declared)
	}
	require.Empty(t, f.ours())
}

// What a type does not hold is an error with column and row, never another value.
func TestReadMisfits(t *testing.T) {
	f := setUp(t)
	for i, x := range []struct{ declared, value, want string }{
		{"TINYINT(1)", "5", "row 2: value 5 is not BOOLEAN: neither 0 nor 1; with tinyInt1isBit=false in the address a TINYINT(1) is read as TINYINT"},
		{"DATE", "'0000-00-00'", "row 2: value 0000-00-00 is not DATE: there is no such day; with zeroDateTimeBehavior=convertToNull in the address it is read as NULL"},
		{"DATE", "'2024-00-10'", "row 2: value 2024-00-10 is not DATE: there is no such day"},
		{"DATE", "'2024-02-31'", "row 2: value 2024-02-31 is not DATE"},
		{"DATETIME", "'0000-00-00 00:00:00'", "row 2: value 0000-00-00 00:00:00 is not TIMESTAMP(0): there is no such day"},
		{"TIME", "'24:00:00'", "row 2: value 24:00:00 is not TIME(0): a TIME is from 00:00:00 to 23:59:59; as text it can be read: by a view on the server with CAST(`c` AS CHAR), or by a table WITH ('connector' = 'jdbc') that declares the column STRING"},
		{"TIME", "'-00:00:01'", "row 2: value -00:00:01 is not TIME(0): a TIME is from 00:00:00 to 23:59:59; as text"},
		{"TIME(6)", "'-838:59:59.000001'", "row 2: value -838:59:59.000001 is not TIME(6): a TIME is from 00:00:00 to 23:59:59"},
		{"TIME(6)", "'10:00:00.000001'", "row 2: value 10:00:00.000001 is not TIME(6): a TIME has 3 decimals of a second at most; as text it can be read"},
	} {
		name := fmt.Sprintf("t%d", i)
		f.sql("SET sql_mode='ALLOW_INVALID_DATES'; CREATE TABLE " + name + " (n INT PRIMARY KEY, c " + x.declared + " NULL) ENGINE=InnoDB; INSERT INTO " + name + " VALUES (1, NULL), (2, " + x.value + ")")
		_, err := f.read(f.open(name), connector.Scan{Columns: []int{1}, Limit: -1})
		require.ErrorContains(t, err, "table "+name+", column c, "+x.want)
	}
	lenient := f.server(f.ts.Addr(), map[string]string{"tinyInt1isBit": "false", "zeroDateTimeBehavior": "convertToNull"}, nil)
	for name, want := range map[string]string{"t0": "NULL|5", "t1": "NULL|NULL", "t2": "NULL|NULL", "t4": "NULL|NULL"} {
		require.Equal(t, strings.ReplaceAll(want, "|", "\n")+"\n", f.text(f.openBy(lenient, name), 1), name)
	}
}

// Every type of ours is written so that the server's own client sees its value, and is read as the same again.
func TestWriteTypes(t *testing.T) {
	f := setUp(t)
	for i, x := range []struct {
		typ    string
		texts  string // of our values, apart by ;
		stored string
		native string // what the server's client prints, apart by tabs
	}{
		{"BOOLEAN", "TRUE;FALSE;NULL", "tinyint(1)", "1;0;NULL"},
		{"TINYINT", "-128;127", "tinyint(4)", "-128;127"},
		{"SMALLINT", "-32768;32767", "smallint(6)", "-32768;32767"},
		{"INT", "-2147483648;2147483647", "int(11)", "-2147483648;2147483647"},
		{"BIGINT", "-9223372036854775808;9223372036854775807", "bigint(20)", "-9223372036854775808;9223372036854775807"},
		{"FLOAT", "1.1;0.0;3.4028235E38;1.4E-45", "float", "1.1;0;3.40282e38;1.4013e-45"},
		{"DOUBLE", "0.1;0.0;1.7976931348623157E308;4.9E-324;1.2345678912345679E8", "double", "0.1;0;1.7976931348623157e308;5e-324;123456789.12345679"},
		{"DECIMAL(10, 2)", "-12345678.90;0.00", "decimal(10,2)", "-12345678.90;0.00"},
		{"DECIMAL(38, 18)", "-12345678901234567890.123456789012345678", "decimal(38,18)", "-12345678901234567890.123456789012345678"},
		{"DECIMAL(38, 38)", "0.12345678901234567890123456789012345678", "decimal(38,38)", "0.12345678901234567890123456789012345678"},
		{"CHAR(3)", "ab ;   ;äöü", "char(3)", "ab;;äöü"},
		{"VARCHAR(4)", "a ;;NULL;it's;\\0\\\\", "varchar(4)", "a ;;NULL;it's;\\\\0\\\\\\\\"},
		{"STRING", "a\ttab;😀;`\"%_", "longtext", "a\\ttab;😀;`\"%_"},
		{"BINARY(2)", "0001", "binary(2)", ""},
		{"VARBINARY(3)", "00ff27;", "varbinary(3)", ""},
		{"BYTES", "00ff;5c00;27;ff;1a0d0a", "longblob", ""},
		{"DATE", "0001-01-01;9999-12-31;2024-02-29", "date", "0001-01-01;9999-12-31;2024-02-29"},
		{"TIME(0)", "00:00:00;23:59:59", "time", "00:00:00;23:59:59"},
		{"TIME(3)", "12:34:56.789", "time(3)", "12:34:56.789"},
		{"TIMESTAMP(0)", "2024-01-02 03:04:05", "datetime", "2024-01-02 03:04:05"},
		{"TIMESTAMP(3)", "1582-10-15 00:00:00.001", "datetime(3)", "1582-10-15 00:00:00.001"},
		{"TIMESTAMP(6)", "0001-01-01 00:00:00.000001;9999-12-31 23:59:59.999999", "datetime(6)", "0001-01-01 00:00:00.000001;9999-12-31 23:59:59.999999"},
		{"TIMESTAMP_LTZ(6)", "1970-01-01 00:00:01.000000;2038-01-19 03:14:07.999999;NULL", "timestamp(6)", "1970-01-01 00:00:01.000000;2038-01-19 03:14:07.999999;NULL"},
	} {
		name := fmt.Sprintf("w%d", i)
		typ := parseType(t, x.typ)
		texts := strings.Split(x.texts, ";")
		f.done(f.stage(name, server.Create, types.Schema{Columns: []types.Column{{Name: "c", Type: typ}}}), ofTexts(t, typ, texts))
		require.Equal(t, x.stored+"\n", f.sql("SELECT COLUMN_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '"+name+"'"), x.typ)
		if x.native != "" {
			require.Equal(t, strings.ReplaceAll(x.native, ";", "\n")+"\n", f.sql("SELECT c FROM "+name), x.typ)
		}
		tab := f.open(name)
		require.True(t, tab.schema.Columns[0].Type.Equal(typ), x.typ)
		batches, err := f.read(tab, connector.Scan{Columns: []int{0}, Limit: -1})
		require.NoError(t, err, x.typ)
		require.Equal(t, texts, cells(batches), x.typ)
	}
}

// ofTexts is a batch of one column with the values of these texts; bytes are in hexadecimal digits.
func ofTexts(t testing.TB, typ types.Type, texts []string) *column.Batch {
	b := column.NewBatch([]types.Type{typ}, len(texts))
	v := b.Cols[0]
	for _, text := range texts {
		if text == "NULL" {
			v.AppendNull()
			continue
		}
		var raw []byte
		if typ.IsBinary() {
			_, err := fmt.Sscanf(text, "%x", &raw)
			if text != "" {
				require.NoError(t, err)
			}
			v.AppendBytes(raw)
			continue
		}
		if typ.IsFloat() {
			bits := 64
			if typ.Kind == types.Float {
				bits = 32
			}
			d, err := strconv.ParseFloat(text, bits)
			require.NoError(t, err)
			v.AppendF64(d)
			continue
		}
		require.NoError(t, (&field{name: "c", t: typ, had: declared{name: "text"}}).appendText(v, []byte(strings.NewReplacer("TRUE", "1", "FALSE", "0").Replace(text))), text)
	}
	b.N = len(texts)
	return b
}

// What the server cannot hold is refused while planning, or at its row with table and column.
func TestWriteMisfits(t *testing.T) {
	f := setUp(t)
	for typ, want := range map[string]string{
		"TIMESTAMP(9)":           "column `c`: MySQL keeps at most 6 decimals of a second, and TIMESTAMP(9) has 9",
		"CHAR(256)":              "column `c`: MySQL's CHAR has at most 255 characters",
		"VARCHAR(20000)":         "column `c`: MySQL's VARCHAR has at most 16383 characters; CAST it to STRING",
		"BINARY(256)":            "column `c`: MySQL's BINARY has at most 255 bytes",
		"VARBINARY(70000)":       "column `c`: MySQL's VARBINARY has at most 65533 bytes",
		"ARRAY<INT>":             "column `c`: ARRAY<INT> has no form in MySQL; CAST it to STRING",
		"INTERVAL YEAR TO MONTH": "column `c`: INTERVAL YEAR TO MONTH has no form in MySQL; CAST it to STRING or BIGINT",
	} {
		_, _, err := f.s.CheckTable("t", server.Definition{Schema: types.Schema{Columns: []types.Column{{Name: "c", Type: parseType(t, typ)}}}})
		require.ErrorContains(t, err, want, typ)
		require.True(t, strings.Contains(typ, "INTERVAL") || !strings.Contains(err.Error(), "BIGINT"), err)
		var at *connector.ColumnError
		require.ErrorAs(t, err, &at, typ)
	}
	for f, want := range map[*facts]string{
		{version: "8.0.16", number: 8_00_16}:               "MySQL 8.0.16 has no collation that tells all texts apart: it takes MySQL 8.0.17",
		{version: "8.0.17", number: 8_00_17}:               "COLLATE utf8mb4_0900_bin",
		{version: "10.6.1", maria: true, number: 10_06_01}: "COLLATE utf8mb4_nopad_bin",
	} {
		ddl, _, err := createTable("t", server.Definition{Schema: schema(t, "a INT")}, f)
		if err != nil {
			ddl = err.Error()
		}
		require.Contains(t, ddl, want)
	}
	fresh := f.server(f.ts.Addr(), nil, nil) // knows nothing of the server yet
	_, _, err := fresh.CheckTable("t", server.Definition{Schema: schema(t, "a DECIMAL(38, 38)")})
	require.NoError(t, err)

	wide := schema(t, "a VARCHAR(8000)", "b VARCHAR(8000)", "c VARCHAR(8000)")
	_, _, err = f.s.CheckTable("t", server.Definition{Schema: wide})
	require.ErrorContains(t, err, "column `c`: up to here a row may have more than MySQL's 65535 bytes")
	keyed := schema(t, "k STRING NOT NULL")
	keyed.PrimaryKey = []string{"k"}
	_, _, err = f.s.CheckTable("t", server.Definition{Schema: keyed})
	require.ErrorContains(t, err, "MySQL has no PRIMARY KEY over STRING; CAST it to VARCHAR(n), n up to 768")
	keyed = schema(t, "k VARCHAR(769) NOT NULL")
	keyed.PrimaryKey = []string{"k"}
	_, _, err = f.s.CheckTable("t", server.Definition{Schema: keyed})
	require.ErrorContains(t, err, "3072 bytes")
	_, _, err = f.s.CheckTable("t", server.Definition{Schema: schema(t, "a INT", "A INT")})
	require.ErrorContains(t, err, "column `A`: MySQL does not tell it from column `a`")

	for _, x := range []struct{ typ, texts, want string }{
		{"DOUBLE", "1.5;NaN", "row 2: value NaN: MySQL has no such number"},
		{"FLOAT", "Infinity", "row 1: value +Inf: MySQL has no such number"},
		{"VARCHAR(2)", "ab;abc", "row 2: value 'abc' has 3 characters, and the column takes 2"},
		{"TIMESTAMP_LTZ(0)", "2024-01-01 00:00:00;1969-12-31 23:59:59", "row 2: column `c`: Incorrect datetime value: '1969-12-31 23:59:59'"},
		{"TIMESTAMP_LTZ(0)", "2038-01-19 03:14:08", "row 1: column `c`: Incorrect datetime value: '2038-01-19 03:14:08'"},
		{"INT NOT NULL", "1;NULL", "column c, row 2: NULL in a NOT NULL column"},
	} {
		typ := parseType(t, x.typ)
		b := column.NewBatch([]types.Type{typ.AsNullable()}, 4)
		for _, text := range strings.Split(x.texts, ";") {
			switch {
			case text == "NULL":
				b.Cols[0].AppendNull()
			case typ.IsFloat():
				var d float64
				_, err := fmt.Sscan(strings.ReplaceAll(text, "Infinity", "+Inf"), &d)
				require.NoError(t, err)
				b.Cols[0].AppendF64(d)
			default:
				require.NoError(t, (&field{t: parseType(t, strings.ReplaceAll(typ.AsNullable().String(), "(2)", "(9)"))}).appendText(b.Cols[0], []byte(text)))
			}
			b.N++
		}
		tx := f.stage("t", server.Create, types.Schema{Columns: []types.Column{{Name: "c", Type: typ}}})
		_, err := f.write(tx, b)
		require.ErrorContains(t, err, "table t", x.typ)
		require.ErrorContains(t, err, x.want, x.typ)
		require.NoError(t, tx.Abort(f.ctx))
	}
	require.Empty(t, f.ours())
}

// What is read from an ENUM or a BIT can be written back, whatever its texts have; bits that the server would add are
// refused with their row.
func TestWriteBack(t *testing.T) {
	f := setUp(t)
	f.sql(`CREATE TABLE e (x ENUM('a\\b','it''s','q"q','n\nn','r\rr','t\tt','z\Zz','nul\0x','c,d',')','\\n','\\''','') NOT NULL) ENGINE=InnoDB; CREATE TABLE e2 LIKE e;
		INSERT INTO e SELECT seq FROM seq_1_to_13; CREATE TABLE b (x BIT(12), y BIT(16)) ENGINE=InnoDB; INSERT INTO b VALUES (b'101100000001', 120); CREATE TABLE b2 LIKE b`)
	for from, to := range map[string]string{"e": "e2", "b": "b2"} {
		tab := f.open(from)
		columns := []int{0, 1}[:len(tab.schema.Columns)]
		rows, err := f.read(tab, connector.Scan{Columns: columns, Limit: -1})
		require.NoError(t, err)
		tx, err := f.open(to).Transaction(f.ctx, connector.Insert{Columns: columns})
		require.NoError(t, err)
		f.done(tx, rows...)
		require.Equal(t, f.text(tab), f.text(f.open(to)))
	}
	require.Equal(t, "13\n", f.sql("SELECT COUNT(*) FROM e JOIN e2 ON e.x = e2.x"))

	narrow := schema(t, "y BINARY(1)")
	tab, err := f.s.OpenTable(f.ctx, f.db, "b", narrow)
	require.NoError(t, err)
	tx, err := tab.(*Table).Transaction(f.ctx, connector.Insert{Columns: []int{0}})
	require.NoError(t, err)
	_, err = f.write(tx, ofTexts(t, narrow.Columns[0].Type, []string{"78"}))
	require.ErrorContains(t, err, "table b, column y, row 1: value x'78' has 1 bytes, and the column keeps 2")
	require.NoError(t, tx.Abort(f.ctx))
}

// What an error says of a time that is none here can be done.
func TestTimeAsText(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE t (c TIME(6)) ENGINE=InnoDB; INSERT INTO t VALUES ('-838:59:59'), ('10:00:00.000001'); CREATE VIEW v AS SELECT CAST(`c` AS CHAR) AS c FROM t")
	tab, err := f.s.OpenTable(f.ctx, f.db, "t", schema(t, "c STRING"))
	require.NoError(t, err)
	for _, x := range []*Table{tab.(*Table), f.open("v")} {
		require.Equal(t, "-838:59:59.000000\n10:00:00.000001\n", f.text(x))
	}
}
