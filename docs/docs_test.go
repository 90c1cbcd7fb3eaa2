// Package docs_test keeps the printed pages of this folder equal to the tables in the code they are
// printed from. Run `go test ./docs -update` to print them again.
package docs_test

import (
	"flag"
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/blackhole"
	"github.com/sluice-sql/sluice/connector/datagen"
	"github.com/sluice-sql/sluice/connector/filesystem"
	"github.com/sluice-sql/sluice/connector/format/csv"
	"github.com/sluice-sql/sluice/connector/format/json"
	"github.com/sluice-sql/sluice/connector/jdbc"
	"github.com/sluice-sql/sluice/connector/jdbc/sqlite"
	"github.com/sluice-sql/sluice/connector/print"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/session"
	"github.com/sluice-sql/sluice/types"
)

var update = flag.Bool("update", false, "print the pages again")

// check compares a page with what the code says, or writes it.
func check(t *testing.T, file, want string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
		return
	}
	have, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, want, string(have), "docs/%s is stale: run go test ./docs -update", file)
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func TestFunctions(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Functions\n\nPrinted from the function tables in package `expr`. Every example runs as a test.\n")
	groups := map[string][]*expr.Function{}
	var names []string
	for _, f := range expr.Functions() {
		if groups[f.Group] == nil {
			names = append(names, f.Group)
		}
		groups[f.Group] = append(groups[f.Group], f)
	}
	sort.Strings(names)
	for _, g := range names {
		fmt.Fprintf(&b, "\n## %s\n\n| function | what it returns | example | gives |\n|---|---|---|---|\n", strings.ToUpper(g[:1])+g[1:])
		for _, f := range groups[g] {
			fmt.Fprintf(&b, "| `%s` | %s | `%s` | `%s` |\n", cell(f.Syntax), cell(f.Doc), cell(f.Example), cell(f.Result))
		}
	}
	b.WriteString("\n## Aggregates\n\nThe examples are over a column `x` of the values 1, 2, 2 and NULL.\n\n| function | what it returns | example | gives |\n|---|---|---|---|\n")
	for _, a := range expr.Aggregates() {
		fmt.Fprintf(&b, "| `%s` | %s | `%s` | `%s` |\n", cell(a.Syntax), cell(a.Doc), cell(a.Example), cell(a.Result))
	}
	check(t, "functions.md", b.String())
}

func TestSQLiteTypes(t *testing.T) {
	var b strings.Builder
	b.WriteString("# SQLite: how types are stored and read\n\nPrinted from `connector/jdbc/sqlite`.\n\n" +
		"## Written by CREATE TABLE and CREATE TABLE AS\n\n" +
		"The declared type's affinity never touches a value, and it reads back as the same type.\n\n" +
		"| SQL type | declared as | values kept as |\n|---|---|---|\n")
	for _, typ := range []types.Type{
		types.Of(types.Boolean), types.Of(types.TinyInt), types.Of(types.SmallInt), types.Of(types.Int), types.Of(types.BigInt),
		types.Of(types.Float), types.Of(types.Double), types.DecimalOf(10, 2), types.DecimalOf(38, 18),
		types.WithPrecision(types.Char, 3), types.WithPrecision(types.VarChar, 20), types.String(),
		types.WithPrecision(types.Binary, 4), types.WithPrecision(types.VarBinary, 8), types.Bytes(),
		types.Of(types.Date), types.WithPrecision(types.Time, 0), types.WithPrecision(types.Time, 3),
		types.WithPrecision(types.Timestamp, 0), types.WithPrecision(types.Timestamp, 6), types.WithPrecision(types.Timestamp, 9),
		types.WithPrecision(types.TimestampLTZ, 3), types.Of(types.IntervalDayTime), types.Of(types.IntervalYearMonth),
	} {
		declared, reason := sqlite.DeclaredType(typ)
		kept := sqlite.StoredForm(typ)
		if declared == "" {
			declared, kept = "refused", reason
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", typ, declared, kept)
	}
	b.WriteString("\nSQLite has no exact decimals, so DECIMAL is text, which keeps every digit; Sluice reads the declared type and compares\n" +
		"and sums such columns as numbers. Other programs see text: there `WHERE total > 5`, MAX and ORDER BY go by the letters,\n" +
		"unless the column is cast, `CAST(total AS REAL)`. For a table that other programs query, let CREATE TABLE AS write\n" +
		"`CAST(total AS DOUBLE) AS total`, or whole cents as BIGINT.\n")
	b.WriteString("\nNaN cannot be stored and fails at its row; -0.0 is stored as 0.0, which is equal in SQL.\n\n" +
		"## Read from existing files\n\n" +
		"The first match decides, whatever the case. A column whose declared type says nothing (views' columns\n" +
		"among them) has the type of its first 1,000 values. A value that does not fit is an error with table,\n" +
		"column, row and value. `ALTER CATALOG c SET ('sqlite.misfit' = 'null')` makes it NULL,\n" +
		"`ALTER CATALOG c SET ('sqlite.columns.<table>.<column>' = 'STRING')` reads the column as text (without `<table>.`, every\n" +
		"column of the name), and `'sqlite.temporal-numbers'` says what numbers in columns of times are. Text of DATETIME and\n" +
		"TIMESTAMP columns is `YYYY-MM-DD[ HH:MM[:SS[.f]]]`, also with T; with a time zone, such as Z, it is a misfit.\n\n| declared | read as |\n|---|---|\n")
	for _, declared := range []string{"INTEGER", "INT", "BIGINT", "MEDIUMINT", "UNSIGNED BIG INT", "NVARCHAR(160)", "CHARACTER VARYING", "CLOB",
		"TEXT", "BLOB", "NUMERIC(10,2)", "DECIMAL(12,2)", "NUMERIC", "REAL", "FLOAT", "DOUBLE PRECISION", "DATE", "DATETIME",
		"TIMESTAMP", "TIMESTAMP(3)", "TIME", "BOOL", "BOOLEAN", "MONEY", ""} {
		read := "by its first 1,000 values"
		if typ, ok := sqlite.ReadType(declared); ok {
			read = typ.String()
		}
		if declared == "" {
			declared = "(none)"
		}
		fmt.Fprintf(&b, "| %s | %s |\n", declared, read)
	}
	b.WriteString("\n## Keys\n\n" +
		"Sluice tells texts apart by every character, blanks at the end too. COLLATE NOCASE or RTRIM does not, and then a row with\n" +
		"the key 'A' would replace that with 'a': INSERT with `'sink.on-conflict'`, and streaming into a PRIMARY KEY, refuse a text\n" +
		"in the key whose collation is not BINARY, in the PRIMARY KEY or in another unique index of just its columns.\n" +
		"Both also refuse a UNIQUE constraint beside the PRIMARY KEY where the table has ON CONFLICT REPLACE or IGNORE.\n" +
		"The tables that CREATE TABLE makes have BINARY. A text such as '01' that a column of numbers would turn into 1 fails at its row.\n" +
		"UPDATE and DELETE go by the rowid, or in a table WITHOUT ROWID by the PRIMARY KEY as it compares.\n")
	b.WriteString("\n## Tables that are there\n\n" +
		"| statement | indexes, triggers, views, constraints | refused |\n|---|---|---|\n" +
		"| REPLACE TABLE AS, CREATE OR REPLACE TABLE AS | there must be none that the new table would lack | each is named: triggers, views, indexes, CHECK, DEFAULT, foreign keys both ways, STRICT, WITHOUT ROWID |\n" +
		"| INSERT OVERWRITE, TRUNCATE TABLE | stay | when rows of other tables would go or change with them: ON DELETE CASCADE, SET NULL, SET DEFAULT |\n" +
		"| UPDATE, DELETE | stay, and act as they do for SQLite's own | views, virtual tables, generated columns in SET, a table without a PRIMARY KEY whose columns hide the rowid |\n\n" +
		"UPDATE and DELETE hold the write lock from before the first row is read, so no row changes in between. In a file with a\n" +
		"rollback journal readers wait while the rows are written, unless `'sink.staging' = 'true'` sends inserted rows through a scratch\n" +
		"file; in WAL mode they never wait.\n")
	check(t, "sqlite.md", b.String())
}

func TestOptions(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Options\n\nPrinted from the table of options in package `session`. `SET 'key' = 'value';` sets one, `RESET 'key';`\n" +
		"takes that back, `SET;` lists them, `SET 'key';` describes one. Keys of Flink that tune its cluster are\n" +
		"taken and have no effect; every other key is refused.\n\n" +
		"| key | values | default | acts on | what it is for |\n|---|---|---|---|---|\n")
	for _, o := range session.Options() {
		require.NotEmpty(t, o.Doc, o.Key)
		doc, preset := o.Doc, o.Default
		if o.Fixed {
			doc += " So far all values mean the same."
		}
		for _, a := range o.Aliases {
			doc += fmt.Sprintf(" Flink's `%s` is the same option.", a)
		}
		if o.Startup {
			doc += " Read once, when the shell starts: give it with `-D`."
		}
		if preset == "" {
			preset = "(empty)"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", o.Key, cell(o.Values()), cell(preset), o.Scope, cell(doc))
	}
	check(t, "options.md", b.String())
}

// What a table of a connector can do is in the types of its tables, which only a definition opens; the page
// says it in words.
func TestConnectors(t *testing.T) {
	formats := []connector.Format{csv.Format{}, json.Format{}}
	files := filesystem.Connector{Formats: formats}
	var b strings.Builder
	b.WriteString("# Connectors and formats\n\nPrinted from the options that the connectors declare. `CREATE TABLE t (…) WITH ('connector' = 'filesystem', …)`\n" +
		"names the connector of a table; a table of a jdbc catalog needs none. In a key, # stands for a name.\n" +
		"A secret is a value that no statement and no message shows.\n")
	section := func(name, doc string, options []connector.Option) {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", name, doc)
		if len(options) == 0 {
			b.WriteString("\nIt has no options.\n")
			return
		}
		b.WriteString("\n| option | default | values | what it is for |\n|---|---|---|---|\n")
		for _, o := range connector.Offered(options) {
			require.NotEmpty(t, o.Doc, o.Key)
			if o.Key == "connector" { // of which the page tells at its beginning
				continue
			}
			key, preset, values := o.Key, o.Default, "any"
			if o.Prefix {
				key += "#"
			}
			if len(o.Allowed) > 0 {
				values = "`" + strings.Join(o.Allowed, "`, `") + "`"
			}
			switch {
			case o.Secret:
				values = "a secret, or `env:NAME` or `file:PATH` that says where it is"
			case !o.Public:
				values = "a secret"
			}
			switch {
			case o.Required:
				preset = "required"
			case preset != "":
				preset = "`" + preset + "`"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", key, cell(preset), cell(values), cell(o.Doc))
		}
	}
	section("datagen", datagenDoc, datagen.Connector{}.Options())
	section("filesystem", filesystemDoc, own(files.Options(), formats))
	b.WriteString("\nA metadata column, `f STRING METADATA FROM 'file.name'`, has what is known of the file that a row is from:\n\n| key | type | what it is |\n|---|---|---|\n")
	for _, m := range files.Metadata() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", m.Key, m.Type, cell(m.Doc))
	}
	for _, f := range formats {
		section("Format "+f.Identifier(), formatDoc[f.Identifier()], f.Options())
	}
	section("jdbc", jdbcDoc, jdbc.Connector{}.Options())
	section("print", printDoc, print.Connector{}.Options())
	section("blackhole", blackholeDoc, blackhole.Connector{}.Options())
	check(t, "connectors.md", b.String())
}

// own leaves out the options of formats.
func own(options []connector.Option, formats []connector.Format) (list []connector.Option) {
	for _, o := range options {
		ofFormat := false
		for _, f := range formats {
			ofFormat = ofFormat || strings.HasPrefix(o.Key, f.Identifier()+".")
		}
		if !ofFormat {
			list = append(list, o)
		}
	}
	return list
}
