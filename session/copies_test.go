//go:build unix

package session_test

import (
	"database/sql"
	"flag"
	"fmt"
	"os"
	"regexp"
	"sort"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"
	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/internal/testfile"
	"github.com/sluice-sql/sluice/internal/testserver"
)

var chinook = flag.String("chinook", "", "a SQLite file whose tables are copied, too, by -run TestCopiesOfFile")

// copyTypes are the types whose values are copied from everywhere to everywhere, each with values that are hard.
func copyTypes() []struct{ typ, values string } {
	return []struct{ typ, values string }{
		{"BOOLEAN", "TRUE, FALSE"},
		{"TINYINT", "-128, 127, 0"},
		{"SMALLINT", "-32768, 32767"},
		{"INT", "-2147483648, 2147483647, 0"},
		{"BIGINT", "-9223372036854775807, 9223372036854775807"},
		{"FLOAT", "CAST(1.5E0 AS FLOAT), CAST('3.4028235E38' AS FLOAT), CAST('1.4E-45' AS FLOAT), CAST('-0.1' AS FLOAT)"},
		{"DOUBLE", "0.1E0, 1.7976931348623157E308, 5E-324, -2.5E-10, 123456789.123456789E0"},
		{"DECIMAL(5, 2)", "999.99, -999.99, 0.01, 100.00"},
		{"DECIMAL(38, 18)", "0.123456789012345678, -99999999999999999999.999999999999999999"},
		{"DECIMAL(38, 0)", "99999999999999999999999999999999999999"},
		{"DECIMAL(38, 25)", "0.1234567890123456789012345, 100.0000000000000000000000000"},
		{"CHAR(3)", "'abc', 'a  ', '日本語'"},
		{"VARCHAR(20)", "'', ' padded ', 'O''Brien \"x\" \\ %_', '\U0001F600 ümlaut'"},
		{"STRING", "'', 'tab\tand\nnewline\r', '\\N', 'NULL', '-- no comment', 'trailing  '"},
		{"BINARY(3)", "X'000102', X'FFFEFD'"},
		{"VARBINARY(8)", "X'', X'00', X'DEADBEEF'"},
		{"BYTES", "X'', X'5C27220A00', X'FF'"},
		{"DATE", "DATE '1970-01-01', DATE '0001-01-01', DATE '9999-12-31', DATE '2024-02-29'"},
		{"TIME(0)", "TIME '00:00:00', TIME '23:59:59'"},
		{"TIME(3)", "TIME '00:00:00.001', TIME '23:59:59.999'"},
		{"TIMESTAMP(0)", "TIMESTAMP '2024-02-29 23:59:59'"},
		{"TIMESTAMP(3)", "TIMESTAMP '1969-12-31 23:59:59.999'"},
		{"TIMESTAMP(6)", "TIMESTAMP '0001-01-01 00:00:00.000001', TIMESTAMP '9999-12-31 23:59:59.999999'"},
		{"TIMESTAMP(9)", "TIMESTAMP '2024-01-01 00:00:00.123456789'"},
		{"TIMESTAMP_LTZ(3)", "TO_TIMESTAMP_LTZ(0, 3), TO_TIMESTAMP_LTZ(1709251199999, 3)"},
		{"TIMESTAMP_LTZ(6)", "CAST(TO_TIMESTAMP_LTZ(-1, 3) AS TIMESTAMP_LTZ(6)), CAST(TO_TIMESTAMP_LTZ(1709251199999, 3) AS TIMESTAMP_LTZ(6))"},
		{"INTERVAL DAY TO SECOND(3)", "INTERVAL '1' DAY"},
		{"INTERVAL YEAR TO MONTH", "INTERVAL '1' YEAR"},
		{"ARRAY<INT>", "ARRAY[1, 2]"},
		{"MAP<STRING, INT>", "MAP['a', 1]"},
		{"ROW<a INT, b STRING>", "ROW(1, 'x')"},
	}
}

// stores are four catalogs of one session, mem, lite, pg and my, whose current databases are empty.
type stores struct {
	*world
	pg, my         *testserver.Server
	pgName, myName string
	names          []string
}

func newStores(t *testing.T) *stores {
	pg, my := testserver.Postgres(t), testserver.MariaDB(t)
	s := &stores{world: newWorld(t, nil), pg: pg, my: my, names: []string{"mem", "lite", "pg", "my"}}
	s.pgName, s.myName = pg.Database(t), my.Database(t)
	s.scrub = []string{pg.Addr(), "$PG_ADDR", my.Addr(), "$MY_ADDR", s.pgName, "d", s.myName, "d"}
	require.Equal(t, "ok\ninfo: There is no file $TMP/d.db yet; the first CREATE TABLE makes it.\nok\nok\nok\n", s.script(t,
		"CREATE CATALOG mem WITH ('type' = 'generic_in_memory', 'default-database' = 'd');"+
			"CREATE CATALOG lite WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:$TMP/d.db');"+
			"CREATE CATALOG pg WITH ('type' = 'jdbc', "+login(pg, "base-url", s.pgName)+");"+
			"CREATE CATALOG my WITH ('type' = 'jdbc', "+login(my, "base-url", s.myName)+");", false))
	return s
}

// table is the full name of a table in a store.
func (s *stores) table(store, name string) string {
	database := map[string]string{"pg": s.pgName, "my": s.myName}[store]
	if database == "" {
		database = "d"
	}
	return store + "." + database + ".`" + name + "`"
}

// rows are those of a table, sorted, below its columns.
func (s *stores) rows(t *testing.T, store, name string) string {
	return s.script(t, "SELECT * FROM "+s.table(store, name)+";", true)
}

// native are the rows that the store's own client sees, sorted, with NULL as <NULL>, and numbers and times without
// the zeros at their ends, which not every store keeps. What is in memory only is written to SQLite first.
func (s *stores) native(t *testing.T, store, name string) string {
	switch store {
	case "pg":
		return plainly(s.pg.Query(t, s.pgName, `COPY (SELECT * FROM "`+name+`") TO STDOUT`), `\N`)
	case "my":
		return plainly(s.my.Query(t, s.myName, "SELECT * FROM `"+name+"`"), "NULL")
	case "mem":
		s.script(t, "CREATE TABLE "+s.table("lite", "native_"+name)+" AS SELECT * FROM "+s.table("mem", name)+";", false)
		return plainly(sqliteRows(t, s.tmp+"/d.db", "native_"+name), "<NULL>")
	}
	return plainly(sqliteRows(t, s.tmp+"/d.db", name), "<NULL>")
}

func sqliteRows(t *testing.T, path, table string) string {
	db, err := sql.Open("sqlite3", path)
	require.NoError(t, err)
	defer db.Close()
	rows, err := db.Query(`SELECT * FROM "` + table + `"`)
	require.NoError(t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	require.NoError(t, err)
	// The driver makes times of texts in columns that are declared so: as texts they are what the file has.
	texts := make([]string, len(columns))
	for i, c := range columns {
		texts[i] = `CAST("` + c + `" AS TEXT)`
	}
	require.NoError(t, rows.Close())
	rows, err = db.Query("SELECT " + strings.Join(texts, ", ") + ` FROM "` + table + `"`)
	require.NoError(t, err)
	escaped := strings.NewReplacer("\\", "\\\\", "\t", "\\t", "\n", "\\n")
	var b strings.Builder
	cells, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range cells {
		into[i] = &cells[i]
	}
	for rows.Next() {
		require.NoError(t, rows.Scan(into...))
		for i, c := range cells {
			if i > 0 {
				b.WriteByte('\t')
			}
			if !c.Valid {
				c.String = "<NULL>"
			}
			b.WriteString(escaped.Replace(c.String)) // as the clients of the servers print it
		}
		b.WriteByte('\n')
	}
	require.NoError(t, rows.Err())
	return b.String()
}

// plainly sorts lines, writes <NULL> for a client's null and takes the zeros from the ends of numbers and times.
func plainly(out, null string) string {
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	number := regexp.MustCompile(`^(-?\d+|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(\.\d*?)0*$`)
	for i, line := range lines {
		cells := strings.Split(line, "\t")
		for j, c := range cells {
			switch {
			case c == null:
				cells[j] = "<NULL>"
			case strings.ContainsRune(c, '.'):
				cells[j] = strings.TrimSuffix(number.ReplaceAllString(c, "$1$2"), ".")
			}
		}
		lines[i] = strings.Join(cells, "\t")
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// TestCopies copies every type from every kind of store to every kind: the same values arrive, or the statement is
// refused at the column with the reason. testdata/copies.txt has the refusals.
func TestCopies(t *testing.T) {
	s := newStores(t)
	var said strings.Builder
	note := func(what, out string) {
		first, _, _ := strings.Cut(out, "\n")
		fmt.Fprintf(&said, "%s: %s\n", what, first)
	}
	copied := 0
	for i, c := range copyTypes() {
		name := fmt.Sprintf("t%d", i)
		var values []string
		for j, v := range splitValues(c.values) {
			values = append(values, fmt.Sprintf("(%d, CAST(%s AS %s))", j, v, c.typ))
		}
		values = append(values, fmt.Sprintf("(%d, CAST(NULL AS %s))", len(values), c.typ))
		out := s.script(t, "CREATE TABLE "+s.table("mem", name)+" AS SELECT * FROM (VALUES "+strings.Join(values, ", ")+") AS x (id, v);", false)
		require.Equal(t, fmt.Sprintf("%d rows written\n", len(values)), out, c.typ)
		want := s.rows(t, "mem", name)
		for _, from := range s.names {
			if from != "mem" {
				out := s.script(t, "CREATE TABLE "+s.table(from, name)+" AS SELECT * FROM "+s.table("mem", name)+";", false)
				if strings.Contains(out, "hint") || !strings.HasSuffix(out, "rows written\n") {
					require.Contains(t, out, "v", out) // names the column
					note(c.typ+" into "+from, out)
					continue
				}
				sameRows(t, c.typ+" in "+from, want, s.rows(t, from, name))
				copied++
			}
			for _, to := range s.names {
				if from == "mem" && to != "mem" {
					continue // done above
				}
				copyName := "from_" + from + "_" + name
				out := s.script(t, "CREATE TABLE "+s.table(to, copyName)+" AS SELECT * FROM "+s.table(from, name)+";", false)
				if !strings.HasSuffix(out, "rows written\n") {
					note(c.typ+" from "+from+" into "+to, out)
					require.Contains(t, out, "v", out)
					continue
				}
				sameRows(t, c.typ+" from "+from+" into "+to, want, s.rows(t, to, copyName))
				copied++
			}
		}
	}
	fmt.Fprintf(&said, "%d copies have the same values\n", copied)
	checkCopies(t, said.String())
	s.pg.NoSessions(t)
	s.my.NoSessions(t)
}

func checkCopies(t *testing.T, said string) {
	const file = "testdata/copies.txt"
	if testfile.Updating() {
		require.NoError(t, os.WriteFile(file, []byte(said), 0o644))
		return
	}
	have, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(have), said, "session/%s is stale: run go test ./session -run TestCopies -update", file)
}

// sameRows compares rows below the line of their columns; of the columns the types may differ in length and
// precision, as far as a store knows none.
func sameRows(t *testing.T, what, want, got string) {
	t.Helper()
	_, wantRows, _ := strings.Cut(want, "\n")
	_, gotRows, _ := strings.Cut(got, "\n")
	if wantRows != gotRows {
		t.Errorf("%s:\n%swant\n%s", what, got, want)
	}
}

// splitValues cuts a list of expressions at its outer commas.
func splitValues(list string) (values []string) {
	depth, quoted, from := 0, false, 0
	for i, r := range list {
		switch {
		case r == '\'':
			quoted = !quoted
		case quoted:
		case strings.ContainsRune("([", r):
			depth++
		case strings.ContainsRune(")]", r):
			depth--
		case r == ',' && depth == 0:
			values = append(values, strings.TrimSpace(list[from:i]))
			from = i + 1
		}
	}
	return append(values, strings.TrimSpace(list[from:]))
}

// TestCopiesOfFile copies the tables of a SQLite file from every kind of store to every kind, and compares what the
// stores' own clients see. Without -chinook the file is a small one of the same kind.
func TestCopiesOfFile(t *testing.T) {
	path := *chinook
	s := newStores(t)
	if path == "" {
		path = s.tmp + "/small.db"
		db := openSQLite(t, path)
		_, err := db.Exec(`CREATE TABLE [Artist] ([ArtistId] INTEGER NOT NULL, [Name] NVARCHAR(120), CONSTRAINT [PK_Artist] PRIMARY KEY ([ArtistId]));
			CREATE TABLE [Invoice] ([InvoiceId] INTEGER NOT NULL PRIMARY KEY, [ArtistId] INTEGER NOT NULL REFERENCES [Artist], [InvoiceDate] DATETIME NOT NULL, [City] NVARCHAR(40), [Total] NUMERIC(10,2) NOT NULL);
			INSERT INTO Artist VALUES (1, 'AC/DC'), (2, 'Antônio Carlos Jobim'), (3, NULL), (4, 'O''Brien "x"'), (5, 'Set \ Lento' || char(9) || char(10) || '\N');
			INSERT INTO Invoice VALUES (1, 1, '2009-01-01 00:00:00', 'Stuttgart', 1.98), (2, 4, '2009-02-28 23:59:59', NULL, 14), (3, 2, '2013-12-22', '', 0.99)`)
		require.NoError(t, err)
	}
	require.Equal(t, "ok\n", s.script(t, "CREATE CATALOG src WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:"+path+"', 'default-database' = 'd');", false))
	list := strings.Split(strings.TrimSpace(s.script(t, "SHOW TABLES FROM src.d;", false)), "\n")[1:]
	pairs, rows := 0, 0
	for _, name := range list {
		want := s.rows(t, "src", name)
		var native string
		for _, from := range s.names {
			out := s.script(t, "CREATE TABLE "+s.table(from, name)+" AS SELECT * FROM "+s.table("src", name)+";", false)
			require.True(t, strings.HasSuffix(out, "rows written\n"), "%s into %s: %s", name, from, out)
			sameRows(t, name+" in "+from, want, s.rows(t, from, name))
			if got := s.native(t, from, name); native == "" {
				native = got
				file := plainly(sqliteRows(t, path, name), "<NULL>")
				if name != "Invoice" || *chinook != "" { // the small one has a date without a time
					require.Equal(t, file, got, "%s in %s", name, from)
				}
			} else {
				require.Equal(t, native, got, "%s in %s", name, from)
			}
		}
		for _, from := range s.names {
			for _, to := range s.names {
				copyName := "from_" + from + "_" + name
				out := s.script(t, "CREATE TABLE "+s.table(to, copyName)+" AS SELECT * FROM "+s.table(from, name)+";", false)
				require.True(t, strings.HasSuffix(out, "rows written\n"), "%s from %s into %s: %s", name, from, to, out)
				sameRows(t, name+" from "+from+" into "+to, want, s.rows(t, to, copyName))
				require.Equal(t, native, s.native(t, to, copyName), "%s from %s into %s", name, from, to)
				pairs++
				rows += strings.Count(want, "\n") - 1
			}
		}
	}
	t.Logf("%d tables, %d copies, %d rows: the same values, seen by Sluice, sqlite3, psql and mariadb", len(list), pairs, rows)
	s.pg.NoSessions(t)
	s.my.NoSessions(t)
}
