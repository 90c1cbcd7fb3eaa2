package sqlite

import (
	"context"
	"math"
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

func lit(v any) expr.Expr {
	var vec *column.Vector
	switch x := v.(type) {
	case int:
		vec = column.New(types.Of(types.Int), 1)
		vec.AppendI64(int64(x))
	case float64:
		vec = column.New(types.Of(types.Double), 1)
		vec.AppendF64(x)
	case string:
		vec = column.New(types.WithPrecision(types.Char, max(len(x), 1)), 1)
		vec.AppendString(x)
	case nil:
		vec = column.New(types.Of(types.Int), 1)
		vec.AppendNull()
	}
	return &expr.Literal{Value: vec}
}

// TestPushDown: which conditions SQLite applies, as what text, and which rows they leave.
func TestPushDown(t *testing.T) {
	statements := []string{"CREATE TABLE p (i INT, d DOUBLE, s TEXT COLLATE NOCASE, n NUMERIC(10,2), u)",
		"INSERT INTO p VALUES (1, 0.5, 'a', 1, 1), (2, 1.5, 'A', 2, 2), (3, NULL, 'b', 3, 'x'), (NULL, 2.5, NULL, 4, NULL)", "CREATE INDEX ps ON p (s)",
		"CREATE VIEW v AS SELECT * FROM p"}
	path := file(t, statements...)
	tab, schema := openFor(t, path, "p")
	c := func(name string) expr.Expr {
		i := schema.Index(name)
		return &expr.Column{Index: i, Name: name, T: schema.Columns[i].Type}
	}
	for _, x := range []struct {
		e    expr.Expr
		want string // "" when it is not pushed
		rows []string
	}{
		{call("=", c("i"), lit(2)), `t."i" = ?3`, []string{"2"}},
		{call("<", lit(1), c("i")), `t."i" > ?3`, []string{"2", "3"}},
		{call("BETWEEN", c("i"), lit(2), lit(3)), `(t."i" >= ?3 AND t."i" <= ?4)`, []string{"2", "3"}},
		{call("IN", c("i"), lit(3), lit(1)), `t."i" IN (?3, ?4)`, []string{"1", "3"}},
		{call("IS NULL", c("i")), `(t."i" IS NULL)`, []string{"<NULL>"}},
		{call("IS NOT NULL", c("d")), `(t."d" IS NOT NULL)`, []string{"1", "2", "<NULL>"}},
		{call(">=", c("d"), lit(1.5)), `t."d" >= ?3`, []string{"2", "<NULL>"}},
		{call("=", c("s"), lit("a")), `t."s" COLLATE BINARY = ?3`, []string{"1"}},
		{call("<", c("s"), lit("a")), `t."s" COLLATE BINARY < ?3`, []string{"2"}},
		{call("AND", call("=", c("s"), lit("A")), call(">", c("i"), lit(0))), `(t."s" COLLATE BINARY = ?3 AND t."i" > ?4)`, []string{"2"}},
		{call("=", &expr.Cast{Arg: c("i"), T: types.Of(types.BigInt), Implicit: true}, lit(2)), `t."i" = ?3`, []string{"2"}},
		{call("=", &expr.Cast{Arg: c("i"), T: types.Of(types.TinyInt)}, lit(2)), "", nil},
		{call("=", &expr.Cast{Arg: c("i"), T: types.Of(types.Double)}, lit(2.0)), "", nil},
		{call("=", c("d"), lit(math.NaN())), "", nil},
		{call("=", c("d"), lit(1)), "", nil},
		{call("=", c("i"), lit(nil)), "", nil},
		{call("=", c("i"), c("u")), "", nil},
		{call("=", c("n"), lit(1)), "", nil},
		{call("=", c("u"), lit("x")), "", nil},
		{call("<>", c("i"), lit(1)), "", nil},
		{call("LIKE", c("s"), lit("a")), "", nil},
		{call("OR", call("=", c("i"), lit(1)), call("=", c("i"), lit(2))), "", nil},
		{call("AND", call("=", c("i"), lit(1)), call("LIKE", c("s"), lit("a"))), "", nil},
	} {
		p := &pushed{info: tab.info, schema: schema, store: tab.store, next: 3}
		got, ok := p.condition(x.e)
		require.Equal(t, x.want != "", ok, "%s", x.want)
		require.Equal(t, ok, tab.PushFilter(x.e))
		if !ok {
			require.Empty(t, p.args)
			continue
		}
		require.Equal(t, x.want, got)
		rows, _, err := readStore(tab.store, "p", connector.Scan{Columns: []int{0}, Filters: []expr.Expr{x.e}, Limit: -1})
		require.NoError(t, err)
		require.Equal(t, x.rows, column1(rows), x.want)
		rows, _, err = readStore(tab.store, "p", connector.Scan{Columns: []int{0}, Filters: []expr.Expr{x.e}, Limit: 1})
		require.NoError(t, err)
		require.Equal(t, x.rows[:1], column1(rows), x.want)
	}

	view, _ := openFor(t, path, "v")
	require.False(t, view.PushFilter(call("=", c("i"), lit(2))))
	null := NewStore(path, map[string]string{"sqlite.misfit": "null"}, nil)
	loose, err := null.OpenTable(context.Background(), "p", schema)
	require.NoError(t, err)
	require.False(t, loose.PushFilter(call("IS NULL", c("i"))), "a misfit is NULL here and not there")
	wide := file(t, append([]string{"PRAGMA encoding = 'UTF-16'"}, statements...)...)
	utf16, _ := openFor(t, wide, "p")
	require.True(t, utf16.PushFilter(call("=", c("s"), lit("a"))))
	require.False(t, utf16.PushFilter(call("<", c("s"), lit("a"))))
}
