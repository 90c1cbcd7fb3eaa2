package postgres

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/types"
)

func call(name string, args ...expr.Expr) expr.Expr {
	return &expr.Call{Func: &expr.Function{Name: name}, Args: args, T: types.Of(types.Boolean)}
}

// lit is a literal of "TYPE text".
func lit(t testing.TB, typ, text string) expr.Expr {
	v := column.New(parseType(t, typ), 1)
	appendText(t, v, text)
	return &expr.Literal{Value: v}
}

// TestPushDown: which conditions the server applies, as what text, and which rows they leave.
func TestPushDown(t *testing.T) {
	f := setUp(t)
	f.sql(`CREATE TABLE p (i int, d float8, s text COLLATE "en-x-icu", n numeric(10,2), ts timestamp(3), z timestamptz, dt date, c char(3), u uuid, b int2, r real, o oid);
INSERT INTO p VALUES (1, 0.5, 'a', 1, '2024-01-01 00:00:00.5', '2024-01-01 00:00:00+00', '2024-01-01', 'a', NULL, 1, 0.1, 1), (2, 'NaN', 'B', 2.5, '2025-01-01', '2025-01-01', '2025-01-01', 'b', NULL, 2, 1, 2), (3, 1.5, 'ä''\', 3, NULL, NULL, '0001-01-01', NULL, NULL, 3, 2, 3), (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`)
	tab := f.open("p")
	c := func(name string) expr.Expr {
		i := tab.schema.Index(name)
		return &expr.Column{Index: i, Name: name, T: tab.schema.Columns[i].Type}
	}
	l := func(typ, text string) expr.Expr { return lit(t, typ, text) }
	for _, x := range []struct {
		e    expr.Expr
		want string // "" when it is not pushed
		rows string
	}{
		{call("=", c("i"), l("INT", "2")), `t."i" = '2'::pg_catalog.int8`, "2"},
		{call("<", l("BIGINT", "1"), &expr.Cast{Arg: c("i"), T: types.Of(types.BigInt)}), `t."i" > '1'::pg_catalog.int8`, "2 3"},
		{call("=", c("b"), l("INT", "-70000")), `t."b" = '-70000'::pg_catalog.int8`, ""},
		{call("BETWEEN", c("i"), l("INT", "2"), l("INT", "3")), `(t."i" >= '2'::pg_catalog.int8 AND t."i" <= '3'::pg_catalog.int8)`, "2 3"},
		{call("IN", c("i"), l("INT", "3"), l("INT", "1")), `t."i" IN ('3'::pg_catalog.int8, '1'::pg_catalog.int8)`, "1 3"},
		{call("IS NULL", c("i")), `(t."i" IS NULL)`, null},
		{call("IS NOT NULL", c("d")), `(t."d" IS NOT NULL)`, "1 2 3"},
		{call(">", c("d"), l("DOUBLE", "1")), `t."d" > '1'::pg_catalog.float8`, "2 3"}, // NaN is above all there: the engine drops it
		{call("<", c("d"), l("DOUBLE", "1")), `t."d" < '1'::pg_catalog.float8`, "1"},
		{call(">", c("d"), l("DOUBLE", "NaN")), "", ""},
		{call(">", c("s"), l("STRING", "B")), `t."s"::pg_catalog.text COLLATE pg_catalog."C" > 'B'`, "1 3"}, // by bytes, whatever the collation
		{call("=", c("s"), l("STRING", `ä'\`)), `t."s"::pg_catalog.text COLLATE pg_catalog."C" = 'ä''\'`, "3"},
		{call("=", c("s"), l("STRING", "x' OR 'a' = 'a")), `t."s"::pg_catalog.text COLLATE pg_catalog."C" = 'x'' OR ''a'' = ''a'`, ""},
		{call("=", c("s"), l("STRING", "a\x00")), "", ""},
		{call("=", c("n"), l("DECIMAL(5, 3)", "2.500")), `t."n" = '2.500'::pg_catalog.numeric`, "2"},
		{call(">=", c("ts"), l("TIMESTAMP(6)", "2024-01-01 00:00:00.500000")), `t."ts" >= '2024-01-01 00:00:00.500000'::pg_catalog.timestamp`, "1 2"},
		{call("=", c("z"), l("TIMESTAMP_LTZ(3)", "2024-01-01 00:00:00.000")), `t."z" = '2024-01-01 00:00:00.000+00'::pg_catalog.timestamptz`, "1"},
		{call("<", c("dt"), l("DATE", "2024-01-01")), `t."dt" < '2024-01-01'::pg_catalog.date`, "3"},
		{call("AND", call("=", c("i"), l("INT", "1")), call("IS NOT NULL", c("s"))), `(t."i" = '1'::pg_catalog.int8 AND (t."s" IS NOT NULL))`, "1"},
		{call("OR", call("=", c("i"), l("INT", "1")), call("IS NOT NULL", c("s"))), "", ""},
		{call("AND", call("=", c("i"), l("INT", "1")), call("=", c("c"), l("STRING", "a"))), "", ""}, // CHAR ignores blanks there
		{call("=", c("c"), l("CHAR(1)", "a")), "", ""},
		{call("=", c("u"), l("STRING", "x")), "", ""},
		{call("=", c("r"), l("FLOAT", "0.1")), "", ""},
		{call("=", c("i"), l("INT", null)), "", ""},
		{call("=", c("i"), c("b")), "", ""},
		{call("LIKE", c("s"), l("STRING", "a%")), "", ""},
		{call("IN", c("i"), l("INT", "3"), c("b")), "", ""},
	} {
		got, ok := tab.condition(x.e)
		require.Equal(t, x.want != "", ok, "%v", x.want)
		require.Equal(t, ok, tab.PushFilter(x.e))
		if !ok {
			continue
		}
		require.Equal(t, x.want, got)
		batches, err := f.read(f.ctx, tab, connector.Scan{Columns: []int{0}, Filters: []expr.Expr{x.e}, Limit: -1}, 1)
		require.NoError(t, err)
		require.Equal(t, x.rows, strings.Join(strings.Fields(batchText(batches...)), " "), x.want)
	}
	// A misfit that is read as NULL is no NULL there.
	tab = f.openBy(f.option("postgresql.misfit", "null"), "p")
	require.False(t, tab.PushFilter(call("IS NULL", c("i"))))
	require.True(t, tab.PushFilter(call("IS NOT NULL", c("i"))))
	// A column that is read as something else is not compared.
	tab = f.openBy(f.option("postgresql.columns.i", "STRING"), "p")
	require.False(t, tab.PushFilter(call("=", c("i"), l("STRING", "1"))))
}

// TestEncodings: in a database of another encoding text is what it is, and what it cannot hold is refused.
func TestEncodings(t *testing.T) {
	f := setUp(t)
	for _, encoding := range []string{"LATIN1", "SQL_ASCII", "EUC_JP"} {
		db := strings.ToLower("enc_" + encoding + "_" + f.db)
		f.ts.Query(t, "postgres", "CREATE DATABASE "+db+" ENCODING '"+encoding+"' LOCALE 'C' TEMPLATE template0")
		t.Cleanup(func() { f.ts.Query(t, "postgres", "DROP DATABASE "+db) })
		g := &fixture{t: t, ts: f.ts, s: f.s, db: db, ctx: f.ctx}
		value := map[string]string{"LATIN1": "äß", "SQL_ASCII": "äΩ", "EUC_JP": "日本"}[encoding]
		sch := schema(t, "a STRING")
		g.done(g.stage("t", 0, sch), rows(t, typesOf(sch), []string{value}, []string{"b"}))
		require.Equal(t, value+"\nb\n", g.text(g.open("t")))
		e := call("=", &expr.Column{Index: 0, Name: "a", T: types.String()}, lit(t, "STRING", value))
		other := call("=", &expr.Column{Index: 0, Name: "a", T: types.String()}, lit(t, "STRING", "🙂")) // is in none but the last
		plain := call("IN", &expr.Column{Index: 0, Name: "a", T: types.String()}, lit(t, "STRING", "b"))
		for e, rows := range map[expr.Expr]string{e: value + "\n", other: "", plain: "b\n"} {
			got, err := g.read(g.ctx, g.open("t"), connector.Scan{Columns: []int{0}, Filters: []expr.Expr{e}, Limit: -1}, 1)
			require.NoError(t, err)
			pushed := e == plain || encoding == "SQL_ASCII"
			require.Equal(t, pushed, g.open("t").PushFilter(e))
			if !pushed {
				rows = value + "\nb\n" // the engine has the choice
			}
			require.Equal(t, rows, batchText(got...))
		}
		less := call("<", &expr.Column{Index: 0, Name: "a", T: types.String()}, lit(t, "STRING", value))
		require.Equal(t, encoding == "SQL_ASCII", g.open("t").PushFilter(less), "the order of bytes is another one")
		if encoding == "SQL_ASCII" {
			f.ts.Query(t, db, "SET client_encoding = 'SQL_ASCII'; INSERT INTO t VALUES (E'\\xff')")
			_, err := g.read(g.ctx, g.open("t"), connector.Scan{Columns: []int{0}, Limit: -1}, 1)
			require.ErrorContains(t, err, "read table t: ")
			require.ErrorContains(t, err, "invalid byte sequence for encoding \"UTF8\": 0xff")
		} else {
			g.fails(g.stage("u", 0, sch), "has no equivalent in encoding \""+encoding+"\"", rows(t, typesOf(sch), []string{"ok"}, []string{"🙂"}))
		}
		g.ts.NoSessions(t)
	}
}

// TestLargeValues go both ways, in binary and in text, whatever the messages are cut to.
func TestLargeValues(t *testing.T) {
	f := setUp(t)
	large := strings.Repeat("0123456789abcde\n", 20<<20/16)
	sch := schema(t, "a STRING", "b STRING")
	b := rows(t, typesOf(sch), []string{"x", large}, []string{large, null})
	f.done(f.stage("t", 0, sch), b)
	f.sql("CREATE TABLE u(a text, b text, j inet)")
	tab := f.open("u")
	three := column.Batch{Cols: append(b.Cols[:2:2], column.New(types.String(), 2)), N: 2}
	three.Cols[2].AppendNull()
	three.Cols[2].AppendString("::1")
	f.done(f.insert(tab, connector.Insert{}), &three)
	for _, name := range []string{"t", "u"} {
		got, err := f.read(f.ctx, f.open(name), connector.Scan{Columns: []int{0, 1}, Limit: -1}, 1)
		require.NoError(t, err)
		require.True(t, batchText(b) == batchText(got...), name)
	}
}
