package expr

import (
	"flag"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

var (
	propertySeed  = flag.Uint64("seed", 1, "seed of the random expressions; 0 takes one by the clock")
	propertyCount = flag.Int("expressions", 1000, "how many random expressions are evaluated several ways")
)

// propertyColumns are of every kind, with values of all sorts, NULL among them.
func propertyColumns(t testing.TB, r *rand.Rand, n int, env *Env) ([]types.Column, *column.Batch) {
	kinds := []struct{ name, typ, values string }{
		{"b", "BOOLEAN", "TRUE|FALSE"},
		{"i", "INT", "0|1|2|-3|12|2147483647"},
		{"j", "BIGINT NOT NULL", "0|1|2|5|-7|40|9223372036854775807"},
		{"y", "TINYINT", "1|-1|127"},
		{"x", "DOUBLE", "0e0|1.5e0|-2.25e0|1e300|CAST('NaN' AS DOUBLE)"},
		{"f", "FLOAT", "0.5e0|-3e0"},
		{"m", "DECIMAL(10, 2)", "0.00|12.34|-0.05|99999999.99"},
		{"w", "DECIMAL(30, 5)", "1.00001|-123456789012345678901234.5"},
		{"s", "STRING", "''|'abc'|'Größe'|'a,b;c'|'12'|'2024-05-17'|'k=v,x=y'|'%a_'"},
		{"c", "CHAR(3) NOT NULL", "'abc'|'x  '|'1.5'"},
		{"z", "BYTES", "X''|X'616263'|X'FF'"},
		{"d", "DATE", "DATE '2024-02-29'|DATE '1969-12-31'"},
		{"h", "TIME(3)", "TIME '13:40:00.123'|TIME '00:00:00'"},
		{"ts", "TIMESTAMP(6)", "TIMESTAMP '2024-05-17 13:40:00.123456'|TIMESTAMP '1900-01-01 00:00:00'"},
		{"l", "TIMESTAMP_LTZ(3)", "TIMESTAMP '2024-03-31 02:30:00'|TIMESTAMP '2000-01-01 00:00:00'"},
		{"ym", "INTERVAL YEAR TO MONTH", "INTERVAL '14' MONTH|INTERVAL '-1' YEAR"},
		{"dt", "INTERVAL DAY TO SECOND(3)", "INTERVAL '1' DAY|INTERVAL '-90' SECOND"},
		{"ai", "ARRAY<INT>", "ARRAY[1, 2, NULL]|ARRAY[3]|ARRAY[2, 2]"},
		{"as1", "ARRAY<STRING>", "ARRAY['a', 'b']|ARRAY[NULL]"},
		{"mp", "MAP<STRING, INT>", "MAP['a', 1, 'b', NULL]|MAP['abc', 7]"},
		{"rw", "ROW<a INT, b STRING>", "ROW(1, 'x')|ROW(NULL, 'y')"},
	}
	var cols []types.Column
	var ts []types.Type
	for _, k := range kinds {
		ct, err := types.ParseType(k.typ)
		require.NoError(t, err)
		cols = append(cols, types.Column{Name: k.name, Type: ct})
		ts = append(ts, ct)
	}
	b := column.NewBatch(ts, n)
	for c, k := range kinds {
		var values []*column.Vector
		for _, s := range strings.Split(k.values, "|") {
			e, err := parseSQL("CAST("+s+" AS "+strings.TrimSuffix(k.typ, " NOT NULL")+")", nil)
			require.NoError(t, err, s)
			ev, err := Compile(e, env)
			require.NoError(t, err)
			v, err := ev.Eval(&column.Batch{N: 1})
			require.NoError(t, err, s)
			copied := column.New(v.Type, 1)
			copied.AppendFrom(v, 0)
			values = append(values, copied)
		}
		for range n {
			if !ts[c].NotNull && r.IntN(5) == 0 {
				b.Cols[c].AppendNull()
			} else {
				b.Cols[c].AppendFrom(values[r.IntN(len(values))], 0)
			}
		}
	}
	b.N = n
	return cols, b
}

// randomExpression builds an expression of any function that takes what is at hand.
func randomExpression(r *rand.Rand, cols []types.Column, b *column.Batch, fs []*Function, depth int) Expr {
	leaf := func(k int) Expr {
		if r.IntN(4) == 0 { // a value of the column as a literal
			v := b.Cols[k]
			i := r.IntN(b.N)
			if v.IsNull(i) {
				return NewLiteral(types.Type{}, nil, Span{})
			}
			one := column.New(v.Type.AsNotNull(), 1)
			one.AppendFrom(v, i)
			return &Literal{Value: one}
		}
		return &Column{Index: k, Name: cols[k].Name, T: cols[k].Type}
	}
	if depth == 0 {
		return leaf(r.IntN(len(cols)))
	}
	if r.IntN(12) == 0 {
		for range 20 {
			if e, err := NewCast(randomExpression(r, cols, b, fs, depth-1), cols[r.IntN(len(cols))].Type, r.IntN(2) == 0, Span{}); err == nil {
				return e
			}
		}
	}
	f := fs[r.IntN(len(fs))]
	units := map[string]int{"EXTRACT": 0, "TIMESTAMPADD": 0, "TIMESTAMPDIFF": 0, "FLOOR": 1, "CEIL": 1}
	for range 300 {
		n := f.Min
		if f.Max != f.Min {
			n += r.IntN(3)
		}
		// Arguments of one family are more often taken than any.
		family := r.IntN(len(cols))
		args := make([]Expr, n)
		for k := range args {
			switch {
			case r.IntN(4) == 0:
				args[k] = randomExpression(r, cols, b, fs, r.IntN(depth))
			case r.IntN(4) == 0:
				args[k] = leaf(r.IntN(len(cols)))
			default:
				args[k] = leaf(max(0, min(len(cols)-1, family+r.IntN(3)-1)))
			}
		}
		if at, ok := units[f.Name]; ok && at < n {
			u := []string{"YEAR", "MONTH", "WEEK", "DAY", "HOUR", "SECOND"}[r.IntN(6)]
			args[at] = NewLiteral(types.WithPrecision(types.Char, len(u)), u, Span{})
		}
		if e, err := NewCall(f.Name, args, Span{}); err == nil {
			return e
		}
	}
	return leaf(r.IntN(len(cols)))
}

// TestRandomExpressions evaluates random expressions of all functions, nested ones included, row by row; the same must
// come of all rows at once, of some of them, of the folded expression, of its decoded form, and of constants.
func TestRandomExpressions(t *testing.T) {
	s := *propertySeed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", s)
	calls := randomExpressions(t, s, *propertyCount, 64, propertyFunctions())
	require.Greater(t, len(calls), len(propertyFunctions())*9/10, "most functions are called")
}

// TestRandomExpressionsOfFullBatches is TestRandomExpressions over batches of the usual size.
func TestRandomExpressionsOfFullBatches(t *testing.T) {
	randomExpressions(t, 2048, 40, column.DefaultRows, propertyFunctions())
}

// FuzzExpressions evaluates random expressions of one group of functions, of any where the group has few.
func FuzzExpressions(f *testing.F) {
	groups := map[string][]*Function{}
	var names []string
	for _, fn := range propertyFunctions() {
		if groups[fn.Group] == nil {
			names = append(names, fn.Group)
		}
		groups[fn.Group] = append(groups[fn.Group], fn)
	}
	for g := range names {
		f.Add(uint64(g), uint8(g))
	}
	f.Fuzz(func(t *testing.T, seed uint64, group uint8) {
		fs := groups[names[int(group)%len(names)]]
		if len(fs) < 5 {
			fs = propertyFunctions()
		}
		randomExpressions(t, seed, 10, 64, fs)
	})
}

// propertyFunctions are the functions that random expressions are made of. TYPEOF tells columns from constants; a
// FIELD's second argument and a JSON function's words are the binder's, not a user's.
func propertyFunctions() []*Function {
	var fs []*Function
	for _, f := range Functions() {
		if !f.Volatile && f.Name != "FIELD" && f.Name != "TYPEOF" && f.Name != "TRIM" && f.Name != "REPEAT" && f.Group != "json" {
			fs = append(fs, f)
		}
	}
	return fs
}

// randomExpressions checks count expressions over batches of n rows, and counts the calls of each function.
func randomExpressions(t testing.TB, s uint64, count, n int, fs []*Function) map[string]int {
	r := rand.New(rand.NewPCG(s, 2))
	env := testEnv(t)
	cols, b := propertyColumns(t, r, n, env)
	calls, failing := map[string]int{}, 0
	for nth := range count {
		e := randomExpression(r, cols, b, fs, 1+r.IntN(3))
		src := String(e)
		ev, err := Compile(e, env)
		if err != nil {
			// A constant that is wrong: it fails wherever it is looked at.
			require.True(t, Fallible(e), "%s does not compile (seed %d): %v", src, s, err)
			failing++
			continue
		}
		one := make([]string, n)
		var good []uint16
		for i := range one {
			v, err := ev.Eval(&column.Batch{Cols: b.Cols, N: n, Sel: []uint16{uint16(i)}})
			if err != nil {
				require.True(t, Fallible(e), "%s fails but is not fallible (seed %d): %v", src, s, err)
				one[i] = "error"
				continue
			}
			require.False(t, e.Type().NotNull && v.IsNull(i), "%s is NULL but NOT NULL (seed %d)", src, s)
			one[i] = show(v, i, env)
			good = append(good, uint16(i))
		}
		same := func(what string, e Expr, sel []uint16) {
			ev, err := Compile(e, env)
			if err != nil && what == "folded" {
				// Folding has made a constant format, and it is wrong: it fails though no row needs it.
				require.True(t, Fallible(e), "%s, %s, does not compile (seed %d): %v", src, what, s, err)
				return
			}
			require.NoError(t, err, "%s, %s (seed %d)", src, what, s)
			v, err := ev.Eval(&column.Batch{Cols: b.Cols, N: n, Sel: sel})
			require.NoError(t, err, "%s, %s (seed %d)", src, what, s)
			rows := Rows{Sel: sel, N: n}
			for k := range rows.Count() {
				require.Equal(t, one[rows.Row(k)], show(v, rows.Row(k), env), "%s, %s, row %d (expression %d of seed %d)", src, what, rows.Row(k), nth, s)
			}
		}
		all := good
		if len(good) == n {
			all = nil
		}
		if len(good) > 0 {
			same("all rows", e, all)
			same("folded", Fold(e, env), all)
			var some []uint16
			for _, i := range good {
				if r.IntN(3) == 0 {
					some = append(some, i)
				}
			}
			if len(some) > 0 {
				same("some rows", e, some)
			}
			data, err := Encode(e)
			require.NoError(t, err)
			back, err := Decode(data)
			require.NoError(t, err, "%s (seed %d)", src, s)
			same("decoded", back, all)
			// The columns' values of a row as constants.
			i := int(good[r.IntN(len(good))])
			constant := Rewrite(e, func(x Expr) Expr {
				c, ok := x.(*Column)
				if !ok {
					return x
				}
				v := b.Cols[c.Index]
				lit := column.New(v.Type.WithNullable(v.IsNull(i)), 1)
				lit.AppendFrom(v, i)
				return &Literal{Value: lit}
			})
			folded := Fold(constant, env)
			if lit, ok := folded.(*Literal); ok {
				require.Equal(t, one[i], show(lit.Value, 0, env), "%s of row %d folded (seed %d)", src, i, s)
			} else {
				// A constant format that is wrong is looked at even where there is nothing to format.
				require.True(t, Fallible(folded), "%s of row %d does not fold (seed %d): %s", src, i, s, String(constant))
			}
		}
		if e.Type().Kind == types.Boolean && len(good) > 0 {
			f, err := CompileFilter(e, env)
			require.NoError(t, err)
			want := []uint16{}
			for _, i := range good {
				if one[i] == "TRUE" {
					want = append(want, i)
				}
			}
			got, err := f.Select(&column.Batch{Cols: b.Cols, N: n, Sel: all}, make([]uint16, n))
			require.NoError(t, err)
			require.Equal(t, want, append([]uint16{}, got...), "filter %s (seed %d)", src, s)
		}
		Walk(e, func(x Expr) bool {
			if c, ok := x.(*Call); ok {
				calls[c.Func.Name]++
			}
			return true
		})
	}
	require.LessOrEqual(t, failing, 3+count/3)
	return calls
}
