package expr

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

func mustParse(t testing.TB, src string, cols []types.Column) Expr {
	e, err := parseSQL(src, cols)
	require.NoError(t, err)
	return e
}

func TestTree(t *testing.T) {
	cols := []types.Column{{Name: "a", Type: types.Of(types.Int)}, {Name: "b", Type: types.Of(types.Int)}, {Name: "c", Type: types.Of(types.BigInt)}}
	e := mustParse(t, "c > a AND (a + 1 = c OR UPPER('x') = 'X')", cols)
	require.Equal(t, []int{0, 2}, Columns(e))
	moved := Shift(e, 3)
	require.Equal(t, []int{3, 5}, Columns(moved))
	require.Equal(t, []int{0, 2}, Columns(e), "the original is untouched")
	require.False(t, Equal(e, moved))
	require.True(t, Equal(e, Shift(moved, -3)))
	require.True(t, Equal(e, mustParse(t, "c > a   AND (a + 1 = c OR UPPER('x') = 'X')", cols)), "places do not count")
	require.False(t, Equal(e, mustParse(t, "c > a AND (a + 1 = c OR UPPER('x') = 'Y')", cols)))
	require.Same(t, e, Remap(e, func(i int) int { return i }), "nothing changed, nothing copied")

	require.True(t, Fallible(e))
	require.False(t, Fallible(mustParse(t, "c > a AND c / 7 = 1", cols)))
	require.False(t, Fallible(mustParse(t, "TRY_CAST('x' AS INT)", nil)))
	require.True(t, IsConstant(mustParse(t, "CURRENT_DATE", nil)))
	require.False(t, IsConstant(mustParse(t, "a", cols)))
	require.False(t, IsConstant(mustParse(t, "RAND()", nil)))
	require.True(t, Volatile(mustParse(t, "a + RAND_INTEGER(5)", cols)))
}

func TestCoerce(t *testing.T) {
	from := func(typ string) Expr {
		ct, err := types.ParseType(typ)
		require.NoError(t, err)
		return &Column{T: ct, At: Span{Start: 1, End: 2}}
	}
	for _, x := range []struct {
		from, to string
		ok       bool
	}{
		{"INT", "BIGINT", true}, {"CHAR(3)", "STRING", true}, {"DATE", "TIMESTAMP(3)", true}, {"STRING", "STRING", true},
		{"STRING", "INT", false}, {"INT", "STRING", false}, {"BIGINT", "INT", false}, {"BOOLEAN", "INT", false},
	} {
		to, err := types.ParseType(x.to)
		require.NoError(t, err)
		e, err := Coerce(from(x.from), to)
		if !x.ok {
			require.ErrorContains(t, err, "cannot be stored as", "%s to %s", x.from, x.to)
			require.Equal(t, Span{Start: 1, End: 2}, err.(*Error).Span)
			continue
		}
		require.NoError(t, err)
		require.True(t, e.Type().SameKind(to))
	}
	e, err := Coerce(NewLiteral(types.Type{}, nil, Span{}), types.Of(types.Int))
	require.NoError(t, err)
	require.True(t, e.(*Literal).Value.IsNull(0))
}

// Storing alters no value: what does not fit fails, where a written CAST would cut or round.
func TestCoerceExact(t *testing.T) {
	for _, x := range []struct{ src, to, want string }{
		{"'abc'", "VARCHAR(3)", "abc"},
		{"'abcd'", "VARCHAR(3)", "error at 'abcd': 'abcd' does not fit VARCHAR(3) (CAST(x AS VARCHAR(3)) cuts it)"},
		{"'abc  '", "VARCHAR(3)", "abc"},
		{"'größe'", "VARCHAR(5)", "größe"},
		{"'ab'", "CHAR(3)", "ab "},
		{"'abcd'", "CHAR(3)", "error at 'abcd': 'abcd' does not fit CHAR(3) (CAST(x AS CHAR(3)) cuts it)"},
		{"X'0102'", "VARBINARY(1)", "error at X'0102': x'0102' does not fit VARBINARY(1) (CAST(x AS VARBINARY(1)) cuts it)"},
		{"1.50", "DECIMAL(5, 1)", "1.5"},
		{"1.55", "DECIMAL(5, 1)", "error at 1.55: 1.55 does not fit DECIMAL(5, 1) (CAST(x AS DECIMAL(5, 1)) rounds it, if it is in range)"},
		{"12345.0", "DECIMAL(5, 1)", "error at 12345.0: 12345.0 does not fit DECIMAL(5, 1) (CAST(x AS DECIMAL(5, 1)) rounds it, if it is in range)"},
		{"0.5e0", "DECIMAL(5, 1)", "0.5"},
		{"0.55e0", "DECIMAL(5, 1)", "error at 0.55e0: 0.55 does not fit DECIMAL(5, 1) (CAST(x AS DECIMAL(5, 1)) rounds it, if it is in range)"},
		{"CAST(0.1 AS FLOAT)", "DECIMAL(5, 1)", "0.1"},
		{"1.1", "DOUBLE", "1.1"},
		{"7", "DECIMAL(3, 2)", "7.00"},
		{"TIMESTAMP '2024-01-01 00:00:00.120'", "TIMESTAMP(2)", "2024-01-01 00:00:00.12"},
		{"TIMESTAMP '2024-01-01 00:00:00.123'", "TIMESTAMP(2)", "error at TIMESTAMP '2024-01-01 00:00:00.123': 2024-01-01 00:00:00.123 does not fit TIMESTAMP(2) (CAST(x AS TIMESTAMP(2)) drops what does not fit, if it is in range)"},
		{"TIMESTAMP '2024-01-01 00:00:00.000000001'", "TIMESTAMP(6)", "error at TIMESTAMP '2024-01-01 00:00:00.000000001': 2024-01-01 00:00:00.000000001 does not fit TIMESTAMP(6) (CAST(x AS TIMESTAMP(6)) drops what does not fit, if it is in range)"},
		{"TIMESTAMP '2024-01-01 00:00:00'", "DATE", "2024-01-01"},
		{"TIMESTAMP '2024-01-01 00:00:01'", "DATE", "error at TIMESTAMP '2024-01-01 00:00:01': 2024-01-01 00:00:01 does not fit DATE (CAST(x AS DATE) drops what does not fit, if it is in range)"},
		{"DATE '2024-01-01'", "TIMESTAMP(9)", "2024-01-01 00:00:00.000000000"},
		{"CURRENT_TIMESTAMP", "TIMESTAMP(0)", "2024-05-17 14:30:00"},
	} {
		env := testEnv(t)
		to, err := types.ParseType(x.to)
		require.NoError(t, err)
		e, err := Coerce(mustParse(t, x.src, nil), to)
		require.NoError(t, err, x.src)
		require.Equal(t, x.want, evalOne(e, env, x.src), x.src)
		require.Equal(t, x.want, evalAsColumns(t, e, env, x.src), x.src)
		data, err := Encode(e)
		require.NoError(t, err)
		back, err := Decode(data)
		require.NoError(t, err)
		require.True(t, Equal(e, back))
		if len(x.want) > 5 && x.want[:5] == "error" {
			require.True(t, Fallible(e), x.src)
		}
	}
}

// A random call gives new values in every row and batch, the same ones for the same seed.
func TestRandom(t *testing.T) {
	env := testEnv(t)
	run := func(env *Env) []float64 {
		ev, err := Compile(mustParse(t, "RAND()", nil), env)
		require.NoError(t, err)
		var all []float64
		for range 2 {
			v, err := ev.Eval(&column.Batch{N: 100})
			require.NoError(t, err)
			all = append(all, v.F64[:100]...)
		}
		return all
	}
	first := run(env)
	seen := map[float64]bool{}
	for _, f := range first {
		require.False(t, seen[f])
		seen[f] = true
	}
	require.Equal(t, first, run(env))
	other := *env
	other.Seed++
	require.NotEqual(t, first, run(&other))
}

// The largest batch: 65,536 rows, all of which a uint16 names.
func TestLargestBatch(t *testing.T) {
	cols := []types.Column{{Name: "a", Type: types.Of(types.Int)}}
	b := column.NewBatch([]types.Type{cols[0].Type}, column.MaxRows)
	for i := 0; i < column.MaxRows; i++ {
		b.Cols[0].AppendI64(int64(i))
	}
	b.N = column.MaxRows
	for src, want := range map[string]int{"a >= 0": column.MaxRows, "a = 65535 OR a < 1": 2, "a IS NULL": 0, "a % 2 = 0": column.MaxRows / 2} {
		f, err := CompileFilter(mustParse(t, src, cols), nil)
		require.NoError(t, err)
		sel, err := f.Select(b, nil)
		require.NoError(t, err)
		require.Len(t, sel, want, src)
	}
}

// A constant that fails does so only where a row needs it, and blames that row.
func TestConstantError(t *testing.T) {
	e := mustParse(t, "1 / 0", nil)
	ev, err := Compile(e, nil)
	require.NoError(t, err)
	_, err = ev.Eval(&column.Batch{N: 9, Sel: []uint16{}})
	require.NoError(t, err)
	_, err = ev.Eval(&column.Batch{N: 9, Sel: []uint16{4, 5}})
	require.Equal(t, 4, err.(*Error).Row)
	require.Equal(t, Span{Start: 0, End: 5}, err.(*Error).Span)
}

// Functions are documented once and by a name that NewCall finds.
func TestFunctionTable(t *testing.T) {
	fs := Functions()
	for i, f := range fs {
		if i > 0 {
			require.Less(t, fs[i-1].Name, f.Name)
		}
		got, ok := Lookup(f.Name)
		require.True(t, ok)
		require.Same(t, f, got)
		require.NotEmpty(t, f.Group)
		require.NotEmpty(t, f.Syntax)
		require.True(t, f.MayFail == nil || f.Fallible, "%s: MayFail without Fallible is never asked", f.Name)
	}
	for _, a := range Aggregates() {
		require.NotEmpty(t, a.Doc)
		require.NotEmpty(t, a.Syntax)
	}
}
