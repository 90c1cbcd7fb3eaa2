package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// column1 returns the first column of rows.
func column1(rows [][]string) []string {
	var list []string
	for _, r := range rows {
		list = append(list, r[0])
	}
	return list
}

// TestMisfits: one column of every type, each holding cells of every storage class.
func TestMisfits(t *testing.T) {
	cells := []string{"'x'", "''", "1.5", "NULL", "x'00ff'", "9007199254740993", "1", "'2024-01-02'", "'12.50'", "1e300", "-3"}
	for _, c := range []struct{ declared, want string }{
		{"INT", "! ! ! N ! ! 1 ! ! ! -3"},
		{"INTEGER", "! ! ! N ! 9007199254740993 1 ! ! ! -3"},
		{"TINYINT", "! ! ! N ! ! 1 ! ! ! -3"},
		{"BOOLEAN", "! ! ! N ! ! TRUE ! ! ! !"},
		{"REAL", "! ! 1.5 N ! 9.007199254740992E15 1.0 ! 12.5 1.0E300 -3.0"},
		{"NUMERIC", "! ! 1.5 N ! ! 1.0 ! 12.5 1.0E300 -3.0"},
		{"DECIMAL(5,1)", "! ! 1.5 N ! ! 1.0 ! 12.5 ! -3.0"},
		{"DECIMAL(38,2)", "! ! 1.50 N ! 9007199254740993.00 1.00 ! 12.50 ! -3.00"},
		{"DECIMAL_TEXT(5,2)", "! ! 1.50 N ! ! 1.00 ! 12.50 ! -3.00"},
		{"DATE", "! ! ! N ! ! ! 2024-01-02 ! ! !"},
		{"TIMESTAMP", "! ! ! N ! ! ! 2024-01-02_00:00:00.000000 ! ! !"},
		{"BLOB", "! ! ! N x'00ff' ! ! ! ! ! !"},
		{"TEXT", "x _ 1.5 N ! 9007199254740993 1 2024-01-02 12.50 1.0e+300 -3"},
	} {
		t.Run(c.declared, func(t *testing.T) {
			path := file(t, "CREATE TABLE m (c "+c.declared+")")
			exe(t, path, "INSERT INTO m VALUES ("+strings.Join(cells, "), (")+")")
			rows, _, err := readStore(NewStore(path, map[string]string{"sqlite.misfit": "null"}, nil), "m")
			require.NoError(t, err)
			var got []string
			for i, v := range column1(rows) {
				if v == "<NULL>" {
					v = "!"
					if cells[i] == "NULL" {
						v = "N"
					}
				}
				if v == "" {
					v = "_"
				}
				got = append(got, strings.ReplaceAll(v, " ", "_"))
			}
			require.Equal(t, c.want, strings.Join(got, " "))

			// Unless told otherwise the first misfit is an error with its row and value.
			_, _, err = readStore(NewStore(path, nil, nil), "m")
			if first := strings.IndexByte(strings.ReplaceAll(c.want, " ", ""), '!'); first >= 0 {
				var e *MisfitError
				require.ErrorAs(t, err, &e)
				require.Equal(t, "c", e.Column)
			}
			// As text, every cell can be read.
			rows, _, err = readStore(NewStore(path, map[string]string{"sqlite.columns.m.c": "STRING"}, nil), "m")
			require.NoError(t, err)
			require.Equal(t, "X'00FF'", column1(rows)[4])
			require.Equal(t, "<NULL>", column1(rows)[3])
		})
	}
}

// TestMisfitMessages: the row is named by rowid, by key, or by its number.
func TestMisfitMessages(t *testing.T) {
	path := file(t, "CREATE TABLE r (a TEXT, c INT)", "INSERT INTO r (rowid, a, c) VALUES (41, 'x', 1), (42, 'y', 'bad ''cell''')",
		"CREATE TABLE w (k TEXT, n INT, c INT, PRIMARY KEY (k, n)) WITHOUT ROWID", "INSERT INTO w VALUES ('a', 1, 1), ('b', 2, x'beef')",
		"CREATE TABLE b (c BIGINT)", "INSERT INTO b SELECT c FROM r", "CREATE VIEW v AS SELECT c FROM b", "CREATE TABLE u (s TEXT)", "INSERT INTO u VALUES (CAST(x'61e962' AS TEXT))",
		"CREATE TABLE z (at DATETIME)", "INSERT INTO z VALUES ('2024-01-01T10:00:00Z')", "CREATE TABLE n (at DATETIME)", "INSERT INTO n VALUES (1704103200)")
	for table, want := range map[string]string{
		"r": "table r, column c, rowid 42: the TEXT value 'bad 'cell'' is not of type INT; WITH ('sqlite.misfit' = 'null') reads such cells as NULL, WITH ('sqlite.columns.r.c' = 'STRING') reads the column as text",
		"w": "table w, column c, key b, 2: the BLOB value x'beef' is not of type INT",
		"v": "table v, column c, row 2: the TEXT value",
		"u": "table u, column s, rowid 1: the text with the bytes x'61e962' is not valid UTF-8; WITH ('sqlite.misfit' = 'null') reads such cells as NULL",
		"z": "the TEXT value '2024-01-01T10:00:00Z' is not of type TIMESTAMP(6), whose texts are YYYY-MM-DD[ HH:MM[:SS[.f]]] without a time zone; WITH ('sqlite.misfit' = 'null')",
		"n": "the INTEGER value 1704103200 is not of type TIMESTAMP(6); WITH ('sqlite.temporal-numbers' = 'unix-seconds') reads numbers as times, and so do 'unix-millis' and 'julian'; WITH ('sqlite.misfit' = 'null')",
	} {
		_, _, err := readStore(NewStore(path, nil, nil), table)
		require.ErrorContains(t, err, want)
	}
}

// TestInferredViewTypes: the types that SQLite makes up for expressions of a view bind no value; the rows
// decide, and the affinity where there are none.
func TestInferredViewTypes(t *testing.T) {
	path := file(t, "CREATE TABLE e (e)", "INSERT INTO e VALUES ('abc')", "CREATE VIEW untyped AS SELECT e FROM e",
		"CREATE VIEW big AS SELECT CAST(9007199254740993 AS INTEGER) AS c", "CREATE VIEW none AS SELECT CAST(e AS INTEGER) AS c FROM e WHERE 0")
	c, err := Open(nil, path, Read)
	require.NoError(t, err)
	defer c.Close()
	for view, want := range map[string]string{"untyped": "STRING", "big": "BIGINT", "none": "BIGINT"} {
		info, err := NewStore(path, nil, nil).Describe(c, view, true)
		require.NoError(t, err)
		require.Equal(t, want, info.Columns[0].Type.String(), view)
	}
	rows, _, err := readStore(NewStore(path, nil, nil), "big")
	require.NoError(t, err)
	require.Equal(t, "9007199254740993", rows[0][0])
}

// TestDecimals: the forms in which foreign files keep DECIMAL(p,s), each exact or refused.
func TestDecimals(t *testing.T) {
	read := func(declared, cell string) string {
		path := file(t, "CREATE TABLE d (c "+declared+")", "INSERT INTO d VALUES ("+cell+")")
		rows, _, err := readStore(NewStore(path, nil, nil), "d")
		var e *MisfitError
		if errors.As(err, &e) {
			return "misfit " + e.Held
		}
		require.NoError(t, err)
		return rows[0][0]
	}
	for _, c := range [][3]string{
		{"NUMERIC(10,2)", "0.99", "0.99"}, {"NUMERIC(10,2)", "1.005", "misfit REAL"}, {"NUMERIC(10,2)", "-0.0", "0.00"},
		{"NUMERIC(10,2)", "99999999.99", "99999999.99"}, {"NUMERIC(10,2)", "100000000", "misfit INTEGER"}, {"NUMERIC(10,2)", "1e20", "misfit REAL"},
		{"DECIMAL(20,10)", "0.1234567891", "0.1234567891"}, {"DECIMAL(38,20)", "0.1", "0.10000000000000000000"}, {"DECIMAL(38,0)", "1e30", "1000000000000000000000000000000"},
		{"DECIMAL(18,17)", "0.12345678901234567", "0.12345678901234566"}, {"DECIMAL(18,4)", "-92233720368547.7", "-92233720368547.7000"},
		{"DECIMAL_TEXT(38,18)", "'-0.000000000000000001'", "-0.000000000000000001"}, {"DECIMAL_TEXT(38,25)", "'0.1234567890123456789012345'", "0.1234567890123456789012345"},
		{"DECIMAL_TEXT(10,2)", "'1.2'", "1.20"}, {"DECIMAL_TEXT(10,2)", "'1.200'", "1.20"}, {"DECIMAL_TEXT(10,2)", "'1.201'", "misfit TEXT"},
		{"DECIMAL_TEXT(10,2)", "'+7'", "7.00"}, {"DECIMAL_TEXT(10,2)", "'12e1'", "120.00"}, {"DECIMAL_TEXT(10,2)", "'.5'", "0.50"},
		{"DECIMAL_TEXT(10,2)", "'.'", "misfit TEXT"}, {"DECIMAL_TEXT(10,2)", "'-'", "misfit TEXT"}, {"DECIMAL_TEXT(10,2)", "' 1'", "misfit TEXT"}, {"DECIMAL_TEXT(10,2)", "'NaN'", "misfit TEXT"},
		{"DECIMAL_TEXT(4,2)", "'0000000000000000000000000000000000000000099.99'", "99.99"}, {"DECIMAL_TEXT(4,2)", "'100.00'", "misfit TEXT"},
		{"DECIMAL_TEXT(18,0)", "'999999999999999999'", "999999999999999999"}, {"DECIMAL_TEXT(18,0)", "'1000000000000000000'", "misfit TEXT"},
		{"DECIMAL_TEXT(38,38)", "'0.99999999999999999999999999999999999999'", "0.99999999999999999999999999999999999999"},
	} {
		require.Equal(t, c[2], read(c[0], c[1]), "%s %s", c[0], c[1])
	}
}

// TestTimes: the texts and, by option, the numbers that are times.
func TestTimes(t *testing.T) {
	read := func(declared, cell, numbers string) string {
		path := file(t, "CREATE TABLE d (c "+declared+")", "INSERT INTO d VALUES ("+cell+")")
		options := map[string]string{}
		if numbers != "" {
			options["sqlite.temporal-numbers"] = numbers
		}
		rows, _, err := readStore(NewStore(path, options, nil), "d")
		var e *MisfitError
		if errors.As(err, &e) {
			return "misfit"
		}
		require.NoError(t, err)
		return rows[0][0]
	}
	for _, c := range [][4]string{
		{"DATETIME", "'2024-01-02 03:04:05.123456'", "", "2024-01-02 03:04:05.123456"}, {"DATETIME", "'2024-01-02T03:04'", "", "2024-01-02 03:04:00.000000"},
		{"DATETIME", "'2024-01-02 03:04:05.1234567'", "", "misfit"}, {"DATETIME", "'2024-01-02 03:04:05.1234560000'", "", "2024-01-02 03:04:05.123456"},
		{"DATETIME", "'soon'", "", "misfit"}, {"DATETIME", "'2024-02-30'", "", "misfit"}, {"DATETIME", "'2024-01-02 24:00:00'", "", "misfit"},
		{"DATETIME", "'2024-01-02 03:04:05Z'", "", "misfit"}, {"DATETIME", "'2024-01-02 03:04:05.'", "", "misfit"}, {"DATETIME", "'0000-01-01'", "", "misfit"},
		{"DATETIME", "'2000-02-29'", "", "2000-02-29 00:00:00.000000"}, {"DATETIME", "'1900-02-29'", "", "misfit"},
		{"TIMESTAMP(3)", "'2024-01-02 03:04:05.5'", "", "2024-01-02 03:04:05.500"}, {"TIMESTAMP(9)", "'1969-12-31 23:59:59.999999999'", "", "1969-12-31 23:59:59.999999999"},
		{"TIMESTAMP(9)", "'1600-01-01'", "", "misfit"}, {"DATE", "'2024-01-02 00:00:00'", "", "2024-01-02"}, {"DATE", "'2024-01-02 00:00:01'", "", "misfit"},
		{"TIME", "'03:04'", "", "03:04:00.000"}, {"TIME", "'03:04:05.678'", "", "03:04:05.678"}, {"TIME", "'03:04:05.6789'", "", "misfit"},
		{"DATETIME", "1598313600", "", "misfit"}, {"DATETIME", "1598313600", "unix-seconds", "2020-08-25 00:00:00.000000"},
		{"DATETIME", "-1", "unix-seconds", "1969-12-31 23:59:59.000000"}, {"DATETIME", "1598313600.25", "unix-seconds", "2020-08-25 00:00:00.250000"},
		{"DATETIME", "1598313600123", "unix-millis", "2020-08-25 00:00:00.123000"}, {"TIMESTAMP(0)", "1598313600123", "unix-millis", "misfit"},
		{"DATETIME", "2459086.5", "julian", "2020-08-25 00:00:00.000000"}, {"DATE", "2459087", "julian", "misfit"}, {"DATE", "1598313600", "unix-seconds", "2020-08-25"},
		{"DATETIME", "9e18", "unix-seconds", "misfit"}, {"TIMESTAMP(9)", "9223372036", "unix-seconds", "2262-04-11 23:47:16.000000000"}, {"TIMESTAMP(9)", "9223372037", "unix-seconds", "misfit"},
	} {
		require.Equal(t, c[3], read(c[0], c[1], c[2]), "%s %s %s", c[0], c[1], c[2])
	}
}

// TestUntyped: columns without a declared type are read as what their first rows hold.
func TestUntyped(t *testing.T) {
	path := file(t, "CREATE TABLE u (i, r, b, m, n)", "INSERT INTO u VALUES (1, 1.5, x'01', 'a', NULL), (NULL, 2, x'', 7, NULL), (3, 0.1, NULL, 2.0, NULL)",
		"CREATE VIEW v AS SELECT count(*) AS c, upper('x') AS t FROM u")
	rows, schema, err := readStore(NewStore(path, nil, nil), "u")
	require.NoError(t, err)
	require.Equal(t, "[BIGINT DOUBLE BYTES STRING STRING]", fmt.Sprint(schema.Types()))
	require.Equal(t, [][]string{{"1", "1.5", "x'01'", "a", "<NULL>"}, {"<NULL>", "2.0", "x''", "7", "<NULL>"}, {"3", "0.1", "<NULL>", "2.0", "<NULL>"}}, rows)
	rows, schema, err = readStore(NewStore(path, nil, nil), "v")
	require.NoError(t, err)
	require.Equal(t, "[BIGINT STRING]", fmt.Sprint(schema.Types()))
	require.Equal(t, [][]string{{"3", "X"}}, rows)
}

// TestDescribe: keys, NOT NULL, generated columns, defaults, views, rowid.
func TestDescribe(t *testing.T) {
	path := file(t, `CREATE TABLE a (id INTEGER PRIMARY KEY, "rowid" TEXT, s TEXT NOT NULL DEFAULT 'x', g INT GENERATED ALWAYS AS (length(s)) STORED)`,
		"CREATE TABLE b (k TEXT PRIMARY KEY, v INT)", "INSERT INTO b VALUES ('a', 1)",
		"CREATE TABLE c (k TEXT PRIMARY KEY)", "INSERT INTO c VALUES (NULL)",
		"CREATE TABLE d (k TEXT, n INT, PRIMARY KEY (n, k)) WITHOUT ROWID", "CREATE VIEW e AS SELECT * FROM a",
		"CREATE TRIGGER tr BEFORE INSERT ON a BEGIN SELECT 1; END", "CREATE TABLE _sluice_x (a)")
	s := NewStore(path, nil, nil)
	describe := func(name string) *TableInfo {
		var info *TableInfo
		require.NoError(t, s.Read(context.Background(), func(c *Conn) (err error) {
			info, err = s.Describe(c, name, true)
			return err
		}))
		return info
	}
	a := describe("a")
	require.Equal(t, []string{"id"}, a.PrimaryKey)
	require.Equal(t, "[BIGINT NOT NULL STRING STRING NOT NULL INT]", fmt.Sprint(a.Schema().Types()))
	require.True(t, a.Columns[3].Generated)
	require.True(t, a.Columns[2].Default)
	require.Equal(t, "_rowid_", a.Rowid)
	require.Equal(t, []string{"tr"}, a.Triggers)
	require.Equal(t, []string{"k"}, describe("b").PrimaryKey)
	require.Empty(t, describe("c").PrimaryKey, "the key of c holds a NULL")
	require.Equal(t, []string{"n", "k"}, describe("d").PrimaryKey)
	require.Empty(t, describe("d").Rowid)
	require.True(t, describe("e").View)
	require.Nil(t, describe("A"))
	require.Nil(t, describe("_sluice_x"))
	require.Nil(t, describe("sqlite_schema"))
}

// TestScan: order, many batches, large cells, many readers, empty tables, no columns, LIMIT.
func TestScan(t *testing.T) {
	const rows = 100_000
	path := file(t, "CREATE TABLE n (id INTEGER PRIMARY KEY, s TEXT, f REAL)",
		fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO n SELECT i * 3, CASE WHEN i %% 10 = 0 THEN NULL ELSE 'row ' || i END, i / 4.0 FROM n", rows),
		"CREATE INDEX ns ON n (s)", "CREATE TABLE empty (a INT)",
		"CREATE TABLE large (b BLOB, s TEXT)", "INSERT INTO large VALUES (zeroblob(100), 'a'), (zeroblob(3000000), 'b'), (x'', printf('%.*c', 200000, 'x')), (zeroblob(20000000), 'd')",
		"CREATE TABLE wide ("+wideColumns(1500)+")", "INSERT INTO wide (c0, c1499) VALUES (1, 2)")
	tab, schema := openFor(t, path, "n")

	for _, readers := range []int{1, 2, 3} {
		seen := make(map[int64]bool, rows)
		mu := make(chan struct{}, 1)
		scanAll(t, tab, allColumns(schema), readers, func(b *column.Batch) {
			mu <- struct{}{}
			defer func() { <-mu }()
			last := int64(0)
			for i := range b.N {
				id := b.Cols[0].I64[i]
				if id%3 != 0 || id <= last || seen[id] || b.Cols[1].IsNull(i) != (id/3%10 == 0) || b.Cols[2].F64[i] != float64(id/3)/4 {
					t.Errorf("row %d is wrong", id)
				}
				if !b.Cols[1].IsNull(i) && string(b.Cols[1].Value(i)) != fmt.Sprintf("row %d", id/3) {
					t.Errorf("row %d has %q", id, b.Cols[1].Value(i))
				}
				last, seen[id] = id, true
			}
		})
		require.Len(t, seen, rows)
	}
	s := NewStore(path, nil, nil)
	got, _, err := readStore(s, "n", connector.Scan{Columns: []int{1}, Limit: 3})
	require.NoError(t, err)
	require.Equal(t, []string{"row 1", "row 2", "row 3"}, column1(got), "an index on s must not change the order")
	var n atomic.Int64
	scanAll(t, tab, []int{}, 2, func(b *column.Batch) { n.Add(int64(b.N)) })
	require.EqualValues(t, rows, n.Load())
	got, _, err = readStore(s, "empty")
	require.NoError(t, err)
	require.Empty(t, got)
	got, _, err = readStore(s, "large")
	require.NoError(t, err)
	require.Equal(t, []int{203, 6000003, 3, 40000003}, []int{len(got[0][0]), len(got[1][0]), len(got[2][0]), len(got[3][0])})
	require.Len(t, got[2][1], 200000)
	got, _, err = readStore(s, "wide")
	require.NoError(t, err)
	require.Equal(t, "2", got[0][1499])
}

func wideColumns(n int) string {
	cols := make([]string, n)
	for i := range cols {
		cols[i] = fmt.Sprintf("c%d INT", i)
	}
	return strings.Join(cols, ", ")
}

// TestRowids: ranges at the ends of int64 lose no row.
func TestRowids(t *testing.T) {
	path := file(t, "CREATE TABLE n (id INTEGER PRIMARY KEY)", "INSERT INTO n VALUES (-9223372036854775808), (-1), (0), (1), (9223372036854775806), (9223372036854775807)")
	tab, _ := openFor(t, path, "n")
	var got []int64
	mu := make(chan struct{}, 1)
	scanAll(t, tab, []int{0}, 2, func(b *column.Batch) {
		mu <- struct{}{}
		got = append(got, b.Cols[0].I64[:b.N]...)
		<-mu
	})
	require.ElementsMatch(t, []int64{-9223372036854775808, -1, 0, 1, 9223372036854775806, 9223372036854775807}, got)
}

// TestCancelScan: a statement that returns no row for long ends when its context does.
func TestCancelScan(t *testing.T) {
	path := file(t, "CREATE VIEW slow AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 0")
	s := NewStore(path, nil, nil)
	tab, err := s.OpenTable(context.Background(), "slow", types.Schema{Columns: []types.Column{{Name: "i", Type: types.Of(types.BigInt)}}})
	require.NoError(t, err)
	src, err := tab.Source(context.Background(), connector.Scan{Columns: []int{0}, Limit: -1})
	require.NoError(t, err)
	defer src.Close()
	splits, err := src.Splits(context.Background(), 2)
	require.NoError(t, err)
	require.Len(t, splits, 1)
	r, err := src.Reader(context.Background(), splits)
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("stop")
	time.AfterFunc(20*time.Millisecond, func() { cancel(stop) })
	_, err = r.Read(ctx, &column.Batch{})
	require.ErrorIs(t, err, stop)
	require.NoError(t, r.Close())
}

// TestErrors tells the ways in which a file cannot be used apart.
func TestErrors(t *testing.T) {
	dir := t.TempDir()
	try := func(path string) error {
		_, _, err := readStore(NewStore(path, nil, nil), "t")
		return err
	}
	require.EqualError(t, try(filepath.Join(dir, "no.db")), "database "+dir+"/no.db: the file does not exist")
	require.EqualError(t, try(filepath.Join(dir, "no", "x.db")), "database "+dir+"/no/x.db: the directory "+dir+"/no does not exist")
	require.EqualError(t, try(dir), "database "+dir+": is a directory")
	text := filepath.Join(dir, "text.db")
	writeText(t, text, strings.Repeat("this is no database\n", 100))
	require.EqualError(t, try(text), "database "+text+": the file is not a SQLite database")
}
