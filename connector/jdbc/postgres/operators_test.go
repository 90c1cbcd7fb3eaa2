package postgres

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/types"
)

// An operator that is looked up by its name alone may be one that somebody has put into the schema public: it would
// run with our user's rights. Texts of SQL join with the one of pg_catalog.
func TestOperatorsAreQualified(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	ofGo := regexp.MustCompile(`[!=<>]=? '\\?.'`) // a byte is compared
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		code, err := os.ReadFile(name)
		require.NoError(t, err)
		for i, line := range strings.Split(string(code), "\n") {
			require.NotRegexp(t, `' \|\| |\|\| '`, ofGo.ReplaceAllString(line, ""), "%s:%d", name, i+1)
		}
	}
}

// TestPlantedOperators: none of our queries runs an operator of the schema public, whatever types it is made for.
func TestPlantedOperators(t *testing.T) {
	f := setUp(t)
	f.sql(`CREATE TABLE t (k int PRIMARY KEY, s varchar(9), n numeric(9,2), q smallint, x bytea CHECK (octet_length(x) = 2)); INSERT INTO t VALUES (1, 'a', 1.5, 1, 'xx');
CREATE MATERIALIZED VIEW m AS SELECT 1 AS a; CREATE TABLE free (a int)`)
	var of []string
	for _, name := range []string{"oid", "int2", "int4", "int8", "bool", "text", "name", `"char"`, "varchar", "bpchar", "regclass", "regtype", "xid", "tid", "inet", "timestamptz", "jsonb", "numeric", "oidvector"} {
		of = append(of, name)
		if name != "oidvector" {
			of = append(of, name+"[]")
		}
	}
	var planted strings.Builder
	n := 0
	for _, left := range append(of, "aclitem[]") {
		for _, right := range append(of, "aclitem[]") {
			n++
			what := strings.ReplaceAll(left+" with "+right, `"`, "")
			fmt.Fprintf(&planted, "CREATE FUNCTION public.planted%d(%s, %s) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE 'planted: %s'; END $$;\n", n, left, right, what)
			for _, op := range []string{"=", "<>", "<", ">", "<=", ">=", "||", "~~", "!~~", "~", "@>", "+", "-", "->>"} {
				fmt.Fprintf(&planted, "CREATE OPERATOR public.%s (FUNCTION = public.planted%d, LEFTARG = %s, RIGHTARG = %s);\n", op, n, left, right)
			}
		}
	}
	f.sql(planted.String())
	ok := func(err error) {
		t.Helper()
		require.NoError(t, err)
	}
	_, err := f.s.ListTables(f.ctx, f.db)
	ok(err)
	_, err = f.s.ListDatabases(f.ctx)
	ok(err)
	_, near, err := f.s.Describe(f.ctx, f.db, "T")
	ok(err)
	require.Equal(t, "t", near)
	for _, name := range []string{"t", "m"} {
		require.NotEmpty(t, f.text(f.open(name)))
	}
	tab := f.open("t")
	insert := rows(t, kindsOf(tab), []string{"2", "b", "2.50", "2", "yy"})
	f.done(f.insert(tab, connector.Insert{}), insert)
	f.done(f.insert(tab, connector.Insert{Overwrite: true}), insert)
	_, _, err = f.s.CheckStage(f.ctx, server.Target{Database: f.db, Table: "free", Definition: server.Definition{Schema: schema(t, "a TINYINT")}, Mode: server.Replace})
	ok(err)
	f.done(f.stage("free", server.Replace, schema(t, "a* INT NOT NULL")), numbers(0, 3))
	ok(f.s.RenameTable(f.ctx, f.db, "free", "freed"))
	ok(f.s.AlterTable(f.ctx, f.db, "freed", []server.Step{{Kind: server.AddColumn, Column: types.Column{Name: "b", Type: types.Of(types.TinyInt)}}}, func(*server.TableInfo) bool { return true }))
	ok(f.s.DropTable(f.ctx, f.db, "freed", ""))
	require.ErrorIs(t, f.s.DropDatabase(f.ctx, f.db, false), server.ErrNotEmpty)
	up, err := tab.Upsert(f.ctx, connector.Upsert{Columns: all(tab), Key: []int{0}})
	ok(err)
	f.done(up, insert)
	change, err := tab.Modify(f.ctx, connector.Modify{Set: []int{2}})
	ok(err)
	f.done(change)
	for _, c := range []struct{ column, kind, value string }{{"k", "INT", "2"}, {"s", "STRING", "b"}, {"n", "DECIMAL(9, 2)", "2.5"}} {
		at := tab.schema.Index(c.column)
		e := call("=", &expr.Column{Index: at, Name: c.column, T: tab.schema.Columns[at].Type}, lit(t, c.kind, c.value))
		require.True(t, tab.PushFilter(e))
		got, err := f.read(f.ctx, tab, connector.Scan{Columns: []int{0}, Filters: []expr.Expr{e}, Limit: -1}, 1)
		ok(err)
		require.Equal(t, "2\n", batchText(got...), c.column)
	}
	require.Empty(t, f.s.holder(f.db, f.admin.PID()))
	session, err := f.s.connect(f.ctx, f.db)
	ok(err)
	_, err = session.exec(f.ctx, "BEGIN")
	ok(err)
	e, err := session.take(f.ctx)
	ok(err)
	busy, _ := f.s.busy(f.ctx, f.db, e)
	require.False(t, busy)
	session.close()
	out, err := f.s.Outcome(f.ctx, f.db, e.String())
	ok(err)
	require.Equal(t, connector.NotDone, out)
	err = f.s.DropDatabase(f.ctx, f.db, true)
	require.ErrorContains(t, err, "the database is in use by process ")
	ok(tab.Truncate(f.ctx))
	f.sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
}

// kindsOf are the types of a table's columns.
func kindsOf(tab *Table) (of []types.Type) {
	for _, c := range tab.schema.Columns {
		of = append(of, c.Type)
	}
	return of
}
