package expr

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// What is fast is what the slow form gives: ROUND by arithmetic and by text, UPPER and LOWER by eight characters and
// by one, FLOOR of a time by a remainder and by the calendar, DATE_FORMAT of many and of one.
func TestFastForms(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300_000 {
		x := (r.Float64() - 0.5) * math.Pow(10, float64(r.IntN(18)-2))
		d := r.IntN(18) - 1
		if r.IntN(2) == 0 { // a decimal that ends in 5
			p := math.Pow10(r.IntN(6))
			x = math.Round(x*p)/p + 5/(p*10)
		}
		if y, ok := roundDouble(x, d); ok {
			require.Equal(t, math.Float64bits(roundText(x, d, true, 64)), math.Float64bits(y), "ROUND(%v, %d)", x, d)
		}
	}

	env := &Env{Zone: time.UTC}
	run := func(e Expr, v *column.Vector) *column.Vector {
		ev, err := Compile(e, env)
		require.NoError(t, err)
		out, err := ev.Eval(&column.Batch{Cols: []*column.Vector{v}, N: v.Len})
		require.NoError(t, err)
		return out
	}
	call := func(name string, args ...Expr) Expr {
		e, err := NewCall(name, args, Span{})
		require.NoError(t, err)
		return e
	}
	words := column.New(types.String(), 2000)
	for range 2000 {
		b := make([]byte, r.IntN(40))
		for j := range b {
			b[j] = byte(r.IntN(128))
		}
		words.AppendBytes(b)
	}
	text := &Column{T: types.String()}
	upper, lower := run(call("UPPER", text), words), run(call("LOWER", text), words)
	for i := range words.Len {
		require.Equal(t, bytes.ToUpper(words.Value(i)), append([]byte{}, upper.Value(i)...))
		require.Equal(t, bytes.ToLower(words.Value(i)), append([]byte{}, lower.Value(i)...))
	}

	for _, precision := range []int{0, 3, 6, 9} {
		ts := types.WithPrecision(types.Timestamp, precision)
		times := column.New(ts, 2000)
		for range 2000 {
			sec, nanos := r.Int64N(9_000_000_000)-4_500_000_000, r.IntN(1_000_000_000)
			v, ok := types.TimestampOf(sec, nanos, ts)
			require.True(t, ok)
			times.AppendI64(v)
		}
		col := &Column{T: ts}
		for _, u := range []unit{unitDay, unitHour, unitMinute, unitSecond, unitMillisecond} {
			out := run(call("FLOOR", col, NewLiteral(types.WithPrecision(types.Char, 12), u.String(), Span{})), times)
			for i := range times.Len {
				want, ok := u.round(times.I64[i], ts, false, nil)
				require.True(t, ok)
				require.Equal(t, want, out.I64[i], "FLOOR(%s TO %s)", valueText(times, i, nil), u)
			}
		}
		const layout = "2006-01-02 15:04:05.000000000"
		out := run(call("DATE_FORMAT", col, NewLiteral(types.WithPrecision(types.Char, 29), "yyyy-MM-dd HH:mm:ss.SSSSSSSSS", Span{})), times)
		for i := range times.Len {
			days, nanos := splitMoment(times.I64[i], ts, nil)
			require.Equal(t, time.Unix(int64(days)*86_400, nanos).UTC().Format(layout), string(out.Value(i)))
		}
	}
}
