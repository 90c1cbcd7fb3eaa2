package expr

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/internal/testfile"
	"github.com/sluice-sql/sluice/types"
)

// TestExamples runs the example of every function.
func TestExamples(t *testing.T) {
	env := testEnv(t)
	for _, f := range Functions() {
		t.Run(f.Name, func(t *testing.T) {
			require.NotEmpty(t, f.Doc)
			require.NotEmpty(t, f.Example)
			require.NotEqual(t, f.Kernel == nil, f.Lazy == nil, "a function has a kernel or is lazy")
			require.Equal(t, f.Result, evalAllWays(t, f.Example, env))
		})
	}
	require.Greater(t, len(Functions()), 120)
}

// evalAllWays evaluates a constant expression as it is, folded, decoded from its encoded form, and over
// vectors with a selection, and fails the test unless all agree.
func evalAllWays(t testing.TB, src string, env *Env) string {
	e, err := parseSQL(src, nil)
	if err != nil {
		return showError(err, src)
	}
	want := evalOne(e, env, src)
	if Volatile(e) {
		return want
	}
	folded := Fold(e, env)
	require.Equal(t, want, evalOne(folded, env, src), "folded: %s", src)
	if !strings.HasPrefix(want, "error") {
		require.IsType(t, &Literal{}, folded, "%s does not fold", src)
	}
	data, err := Encode(e)
	require.NoError(t, err)
	back, err := Decode(data)
	require.NoError(t, err, "%s: %s", src, data)
	require.True(t, Equal(e, back), "decoded: %s", data)
	require.Equal(t, want, evalOne(back, env, src), "decoded: %s", src)
	require.Equal(t, want, evalAsColumns(t, e, env, src), "over vectors: %s", src)
	if strings.HasPrefix(want, "error") {
		require.True(t, Fallible(e), "%s fails but is not fallible", src)
	}
	return want
}

func evalOne(e Expr, env *Env, src string) string {
	ev, err := Compile(e, env)
	if err != nil {
		return showError(err, src)
	}
	v, err := ev.Eval(&column.Batch{N: 1})
	if err != nil {
		return showError(err, src)
	}
	if e.Type().NotNull && v.IsNull(0) {
		return "NULL in a NOT NULL column"
	}
	return show(v, 0, env)
}

// evalAsColumns puts every literal into a column: rows 1, 3, 5 … hold its value, the others NULL; only
// odd rows are selected.
func evalAsColumns(t testing.TB, e Expr, env *Env, src string) string {
	const n = 131
	b := &column.Batch{N: n}
	for i := 1; i < n; i += 2 {
		b.Sel = append(b.Sel, uint16(i))
	}
	var walk func(e Expr) Expr
	walk = func(e Expr) Expr {
		switch x := e.(type) {
		case *Literal:
			if x.Value.Type.Kind == types.Null {
				return e
			}
			v := column.New(x.Value.Type.AsNullable(), n)
			for i := 0; i < n; i++ {
				if i%2 == 1 {
					v.AppendFrom(x.Value, 0)
				} else {
					v.AppendNull()
				}
			}
			b.Cols = append(b.Cols, v)
			return &Column{Index: len(b.Cols) - 1, T: x.Value.Type.AsNullable(), At: x.At}
		case *Cast:
			c := *x
			c.Arg = walk(x.Arg)
			return &c
		case *Call:
			c := *x
			c.Args = nil
			for i, a := range x.Args {
				keyword := false
				switch x.Func.Name {
				case "EXTRACT", "TIMESTAMPADD", "TIMESTAMPDIFF":
					keyword = i == 0
				case "TRIM":
					keyword = len(x.Args) == 3 && i == 0
				case "FLOOR", "CEIL", "FIELD":
					keyword = i == 1
				case "TYPEOF":
					keyword = true
				default:
					keyword = isJSONKeyword(x.Func.Name, i)
				}
				if !keyword {
					a = walk(a)
				}
				c.Args = append(c.Args, a)
			}
			return &c
		}
		return e
	}
	e = walk(e)
	ev, err := Compile(e, env)
	if err != nil {
		return showError(err, src)
	}
	v, err := ev.Eval(b)
	if err != nil {
		if x, ok := err.(*Error); ok {
			require.Equal(t, 1, x.Row, "the error is in the first row: %s", src)
		}
		return showError(err, src)
	}
	got := show(v, 1, env)
	for _, i := range b.Sel {
		require.Equal(t, got, show(v, int(i), env), "row %d of %s", i, src)
	}
	if e.Type().Kind == types.Boolean {
		f, err := CompileFilter(e, env)
		require.NoError(t, err)
		for range 2 {
			sel, err := f.Select(b, nil)
			require.NoError(t, err)
			if got == "TRUE" {
				require.Equal(t, b.Sel, sel, src)
			} else {
				require.Empty(t, sel, src)
			}
		}
	}
	return got
}

// TestScripts runs testdata/*.test. Each line of an eval case is an expression, its output the value and
// the type, or the error and where it points.
func TestScripts(t *testing.T) {
	env := testEnv(t)
	testfile.Walk(t, "testdata", ".test", func(t *testing.T, path string) {
		var cols []types.Column
		var batch *column.Batch
		testfile.Run(t, path, func(t *testing.T, c *testfile.Case) string {
			var out strings.Builder
			switch c.Cmd {
			case "eval":
				for _, line := range strings.Split(c.Input, "\n") {
					got := evalAllWays(t, line, env)
					if e, err := parseSQL(line, nil); err == nil && !strings.HasPrefix(got, "error") {
						got += "  " + e.Type().String()
					}
					out.WriteString(got + "\n")
				}
			case "string":
				for _, line := range strings.Split(c.Input, "\n") {
					e, err := parseSQL(line, cols)
					if err != nil {
						out.WriteString(showError(err, line) + "\n")
						continue
					}
					out.WriteString(String(e) + "\n")
				}
			case "fold":
				for _, line := range strings.Split(c.Input, "\n") {
					e, err := parseSQL(line, cols)
					require.NoError(t, err)
					out.WriteString(String(Fold(e, env)) + "\n")
				}
			case "table":
				cols, batch = readTable(t, c.Input, env)
				return fmt.Sprintf("%d rows\n", batch.N)
			case "rows":
				for _, line := range strings.Split(c.Input, "\n") {
					out.WriteString(rowsAllWays(t, line, cols, batch, env) + "\n")
				}
			case "aggregate":
				for _, line := range strings.Split(c.Input, "\n") {
					out.WriteString(aggregateAllWays(t, line, cols, batch, env) + "\n")
				}
			default:
				t.Fatalf("no such directive: %s", c.Cmd)
			}
			return out.String()
		})
	})
}

// readTable reads a line of columns and their types and then lines of values, separated by |.
func readTable(t testing.TB, input string, env *Env) ([]types.Column, *column.Batch) {
	lines := strings.Split(input, "\n")
	var cols []types.Column
	for _, c := range strings.Split(lines[0], "|") {
		name, typ, ok := strings.Cut(strings.TrimSpace(c), " ")
		require.True(t, ok, c)
		ct, err := types.ParseType(typ)
		require.NoError(t, err)
		cols = append(cols, types.Column{Name: name, Type: ct})
	}
	b := column.NewBatch(types.Schema{Columns: cols}.Types(), len(lines))
	for _, line := range lines[1:] {
		for i, s := range strings.Split(line, "|") {
			e, err := parseSQL(strings.TrimSpace(s), nil)
			require.NoError(t, err, s)
			e, err = NewCast(e, cols[i].Type, false, Span{})
			require.NoError(t, err)
			ev, err := Compile(e, env)
			require.NoError(t, err)
			v, err := ev.Eval(&column.Batch{N: 1})
			require.NoError(t, err)
			b.Cols[i].AppendFrom(v, 0)
		}
		b.N++
	}
	return cols, b
}

// rowsAllWays evaluates over all rows, and over every selection of the rows that do not fail.
func rowsAllWays(t testing.TB, src string, cols []types.Column, b *column.Batch, env *Env) string {
	e, err := parseSQL(src, cols)
	if err != nil {
		return showError(err, src)
	}
	ev, err := Compile(e, env)
	if err != nil {
		return showError(err, src)
	}
	// Row by row first: that is the oracle.
	one := make([]string, b.N)
	var good []uint16
	for i := range one {
		v, err := ev.Eval(&column.Batch{Cols: b.Cols, N: b.N, Sel: []uint16{uint16(i)}})
		if err != nil {
			require.Equal(t, i, err.(*Error).Row)
			one[i] = showError(err, src)
			continue
		}
		one[i] = show(v, i, env)
		good = append(good, uint16(i))
	}
	check := func(sel []uint16, n int) {
		v, err := ev.Eval(&column.Batch{Cols: b.Cols, N: b.N, Sel: sel})
		require.NoError(t, err)
		r := Rows{Sel: sel, N: n}
		for k := 0; k < r.Count(); k++ {
			require.Equal(t, one[r.Row(k)], show(v, r.Row(k), env), "%s row %d", src, r.Row(k))
		}
	}
	check(good, b.N)
	if len(good) == b.N {
		check(nil, b.N)
	} else {
		_, err := ev.Eval(b)
		require.Error(t, err)
	}
	if e.Type().Kind == types.Boolean {
		f, err := CompileFilter(e, env)
		require.NoError(t, err)
		want := []uint16{}
		for _, i := range good {
			if one[i] == "TRUE" {
				want = append(want, i)
			}
		}
		got, err := f.Select(&column.Batch{Cols: b.Cols, N: b.N, Sel: good}, make([]uint16, 3))
		require.NoError(t, err)
		require.Equal(t, want, got, "filter %s", src)
		if len(good) == b.N {
			got, err := f.Select(b, nil)
			require.NoError(t, err)
			require.Equal(t, want, got, "filter %s", src)
		}
	}
	return strings.Join(one, " | ")
}
