package expr

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// fitsType reports whether the value of row i is one that its vector's type holds: within the range, with
// no digit finer than the type's precision, and no longer than its length.
func fitsType(v *column.Vector, i int) bool {
	t := v.Type
	switch {
	case t.Kind == types.Date:
		return v.I32[i] >= types.MinDate && v.I32[i] <= types.MaxDate
	case t.Kind == types.Time:
		return v.I32[i] >= 0 && v.I32[i] < types.MillisPerDay && cutMillis(int64(v.I32[i]), t.Precision) == int64(v.I32[i])
	case t.Kind == types.Timestamp || t.Kind == types.TimestampLTZ:
		x := v.I64[i]
		if !t.Nanos() && (x < types.MinMicros || x > types.MaxMicros) {
			return false
		}
		return x%(t.PerSecond()/types.Pow10Int64(t.Precision)) == 0
	case t.Kind == types.Decimal:
		return types.CmpDecimal(v.Int128(i), 0, types.Pow10(t.Precision), 0) < 0 &&
			types.CmpDecimal(v.Int128(i).Neg(), 0, types.Pow10(t.Precision), 0) < 0
	case t.Kind == types.Char:
		return utf8.RuneCount(v.Value(i)) == t.Precision
	case t.Kind == types.VarChar:
		return utf8.RuneCount(v.Value(i)) <= t.Precision
	case t.Kind == types.Binary:
		return len(v.Value(i)) == t.Precision
	case t.Kind == types.VarBinary:
		return len(v.Value(i)) <= t.Precision
	}
	return true
}

// fittingOperands are columns of every temporal type with as many digits as it holds, and what else
// functions of them take.
func fittingOperands(t *testing.T, env *Env) (operands []Expr, b *column.Batch) {
	b = &column.Batch{N: 2}
	add := func(typ string, values ...string) {
		to, err := types.ParseType(typ)
		require.NoError(t, err)
		v := column.New(to, 2)
		for _, s := range values {
			e, err := parseSQL(s, nil)
			require.NoError(t, err)
			e, err = NewCast(e, to, false, Span{})
			require.NoError(t, err)
			ev, err := Compile(e, env)
			require.NoError(t, err)
			x, err := ev.Eval(&column.Batch{N: 1})
			require.NoError(t, err, s)
			v.AppendFrom(x, 0)
		}
		require.True(t, fitsType(v, 0) && fitsType(v, 1), typ)
		operands = append(operands, &Column{Index: len(b.Cols), Name: typ, T: to})
		b.Cols = append(b.Cols, v)
	}
	add("DATE", "'2024-05-17'", "'1969-12-31'")
	for _, typ := range []string{"TIME(0)", "TIME(1)", "TIME(3)"} {
		add(typ, "'23:59:59.987'", "'00:00:01.123'")
	}
	for _, typ := range []string{"TIMESTAMP(0)", "TIMESTAMP(2)", "TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP(7)", "TIMESTAMP(9)",
		"TIMESTAMP_LTZ(0)", "TIMESTAMP_LTZ(3)", "TIMESTAMP_LTZ(5)", "TIMESTAMP_LTZ(9)"} {
		add(typ, "'2024-05-17 23:59:59.987654321'", "'1969-12-31 00:00:01.123456789'")
	}
	add("INTERVAL SECOND", "CAST(1234567 AS BIGINT)", "CAST(-86399999 AS BIGINT)")
	add("INTERVAL MONTH", "13", "-1")
	add("INT", "7", "-3")
	add("BIGINT", "1715933350123", "-1")
	add("DOUBLE", "1.2345678", "-0.5")
	add("DECIMAL(12, 5)", "1234567.12345", "-0.00001")
	add("VARCHAR(30)", "'2024-05-17 08:09:10.987654321'", "'1969-12-31 23:59:59.5'")
	add("CHAR(3)", "'abc'", "'x'")
	add("BOOLEAN", "TRUE", "FALSE")
	texts := []string{"yyyy-MM-dd HH:mm:ss.SSSSSSSSS", "Europe/Berlin"}
	for u := unit(0); u < unitCount; u++ {
		texts = append(texts, u.String())
	}
	for _, s := range texts {
		operands = append(operands, NewLiteral(types.WithPrecision(types.Char, len(s)), s, Span{}))
	}
	for _, n := range []int64{0, 3} {
		operands = append(operands, NewLiteral(types.Of(types.Int), n, Span{}))
	}
	operands = append(operands, NewLiteral(types.Type{}, nil, Span{}))
	return operands, b
}

// TestResultsFitTheirType calls every function with every combination of one and two operands, those that
// deal with times also with three, and casts every operand to every temporal type. A value that its type
// does not hold would compare as different from one that prints the same.
func TestResultsFitTheirType(t *testing.T) {
	env := testEnv(t)
	operands, b := fittingOperands(t, env)
	temporal := map[types.Kind]int{}
	check := func(e Expr) {
		ev, err := Compile(e, env)
		if err != nil {
			return // a unit or format that is none
		}
		for i := range b.N {
			v, err := ev.Eval(&column.Batch{Cols: b.Cols, N: b.N, Sel: []uint16{uint16(i)}})
			if err != nil || v.IsNull(i) {
				continue
			}
			if v.Type.IsTemporal() {
				temporal[v.Type.Kind]++
			}
			if !v.Type.SameKind(e.Type()) || !fitsType(v, i) {
				t.Errorf("%s = %s, a %s, does not fit %s", String(e), show(v, i, env), v.Type, e.Type())
			}
		}
	}
	for _, f := range Functions() {
		args := make([]Expr, 0, 3)
		var fill func(n int)
		fill = func(n int) {
			if n == 0 {
				if e, err := NewCall(f.Name, append([]Expr(nil), args...), Span{}); err == nil {
					check(e)
				}
				return
			}
			for _, x := range operands {
				args = append(args, x)
				fill(n - 1)
				args = args[:len(args)-1]
			}
		}
		most := 2
		if f.Group == "temporal" {
			most = 3
		}
		for n := f.Min; n <= most && (f.Max < 0 || n <= f.Max); n++ {
			fill(n)
		}
	}
	for _, x := range operands {
		for _, k := range []types.Kind{types.Date, types.Time, types.Timestamp, types.TimestampLTZ} {
			for p := range 10 {
				to := types.WithPrecision(k, p)
				switch {
				case k == types.Date:
					to = types.Of(k)
				case k == types.Time && p > 3:
					continue
				}
				for _, try := range []bool{false, true} {
					if e, err := NewCast(x, to, try, Span{}); err == nil {
						check(e)
					}
				}
				if e, err := Coerce(x, to); err == nil {
					check(e)
				}
			}
		}
	}
	for _, k := range []types.Kind{types.Date, types.Time, types.Timestamp, types.TimestampLTZ} {
		require.Greater(t, temporal[k], 500)
	}
}
