package expr

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// Literals come back bit by bit.
func TestCodecLiterals(t *testing.T) {
	for _, l := range []*Literal{
		NewLiteral(types.Type{}, nil, Span{}),
		NewLiteral(types.Of(types.Boolean), true, Span{Source: 3, Start: 5, End: 9}),
		NewLiteral(types.Of(types.TinyInt), int64(-128), Span{}),
		NewLiteral(types.Of(types.BigInt), int64(math.MinInt64), Span{}),
		NewLiteral(types.Of(types.Double), math.NaN(), Span{}),
		NewLiteral(types.Of(types.Double), math.Inf(-1), Span{}),
		NewLiteral(types.Of(types.Double), math.Copysign(0, -1), Span{}),
		NewLiteral(types.Of(types.Double), 5e-324, Span{}),
		NewLiteral(types.Of(types.Float), 0.1, Span{}),
		NewLiteral(types.DecimalOf(38, 38), types.Pow10(38).Sub(types.Int128From(1)), Span{}),
		NewLiteral(types.DecimalOf(5, 2), int64(-12345), Span{}),
		NewLiteral(types.String(), "it's \x00 \"ü\"\n", Span{}),
		NewLiteral(types.WithPrecision(types.Char, 3), "a  ", Span{}),
		NewLiteral(types.Bytes(), []byte{0xff, 0}, Span{}),
		NewLiteral(types.Of(types.Date), int64(types.MinDate), Span{}),
		NewLiteral(types.WithPrecision(types.Timestamp, 9), int64(math.MaxInt64), Span{}),
		NewLiteral(types.WithPrecision(types.TimestampLTZ, 3), types.MaxMicros, Span{}),
		NewLiteral(types.Of(types.IntervalDayTime), int64(-1), Span{}),
		NewLiteral(types.String(), nil, Span{}),
	} {
		data, err := Encode(l)
		require.NoError(t, err)
		back, err := Decode(data)
		require.NoError(t, err, "%s", data)
		require.True(t, Equal(l, back), "%s", data)
		require.Equal(t, l.At, back.Span())
		again, err := Encode(back)
		require.NoError(t, err)
		require.Equal(t, data, again)
	}
}

// What evaluation could not trust is refused.
func TestDecodeRefuses(t *testing.T) {
	for name, data := range map[string]string{
		"no json":            `{`,
		"nothing":            `{"type":"INT"}`,
		"no type":            `{"column":0}`,
		"negative column":    `{"column":-1,"type":"INT"}`,
		"value out of range": `{"literal":true,"value":"128","type":"TINYINT"}`,
		"too many digits":    `{"literal":true,"value":"100","type":"DECIMAL(2, 0)"}`,
		"no such date":       `{"literal":true,"value":"9999999","type":"DATE"}`,
		"unknown function":   `{"call":"NOPE","type":"INT"}`,
		"missing argument":   `{"call":"UPPER","type":"STRING"}`,
		"argument not cast":  `{"call":"+","args":[{"column":0,"type":"INT"},{"column":1,"type":"BIGINT"}],"type":"BIGINT"}`,
		"wrong result":       `{"call":"UPPER","args":[{"column":0,"type":"STRING"}],"type":"INT"}`,
		"impossible cast":    `{"cast":"CAST","args":[{"column":0,"type":"DATE"}],"type":"INT"}`,
		"unknown cast":       `{"cast":"C","args":[{"column":0,"type":"INT"}],"type":"BIGINT"}`,
	} {
		_, err := Decode([]byte(data))
		require.Error(t, err, name)
	}
	for _, data := range []string{
		`{"aggregate":"NOPE","type":"INT"}`,
		`{"aggregate":"SUM","type":"INT"}`,
		`{"aggregate":"SUM","args":[{"column":0,"type":"INT"}],"type":"BIGINT"}`,
	} {
		_, err := DecodeAgg([]byte(data))
		require.Error(t, err, data)
	}
}

// FuzzDecode checks that what Decode accepts encodes to the same again and can be evaluated.
func FuzzDecode(f *testing.F) {
	cols := []types.Column{
		{Name: "a", Type: types.Of(types.Int)}, {Name: "s", Type: types.String()}, {Name: "m", Type: types.DecimalOf(10, 2)},
		{Name: "ts", Type: types.WithPrecision(types.Timestamp, 3)},
	}
	for _, fn := range Functions() {
		e, err := parseSQL(fn.Example, nil)
		require.NoError(f, err)
		data, err := Encode(e)
		require.NoError(f, err)
		f.Add(data)
	}
	for _, src := range []string{"a + 1 > m", "COALESCE(s, 'x') LIKE s", "CAST(s AS DATE)", "FLOOR(ts TO DAY)", "m IN (1, a)"} {
		e, err := parseSQL(src, cols)
		require.NoError(f, err)
		data, err := Encode(e)
		require.NoError(f, err)
		f.Add(data)
	}
	env := testEnv(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := Decode(data)
		if err != nil {
			return
		}
		again, err := Encode(e)
		require.NoError(t, err)
		back, err := Decode(again)
		require.NoError(t, err)
		require.True(t, Equal(e, back))
		require.NotEmpty(t, String(e))

		// Three rows: NULL, and twice the zero value.
		b := &column.Batch{N: 3}
		fits := true
		Walk(e, func(e Expr) bool {
			c, ok := e.(*Column)
			if !ok {
				return true
			}
			if c.Index > 50 {
				fits = false
				return true
			}
			for len(b.Cols) <= c.Index {
				b.Cols = append(b.Cols, nil)
			}
			if v := b.Cols[c.Index]; v != nil && !v.Type.SameKind(c.T) {
				fits = false
			}
			v := column.New(c.T, 3)
			v.AppendNull()
			switch column.PhysicalOf(c.T) {
			case column.PhysNone:
				fits = false
			case column.PhysBool:
				v.AppendBool(false)
				v.AppendBool(true)
			case column.PhysBytes:
				v.AppendString("")
				v.AppendString("1")
			case column.PhysF32, column.PhysF64:
				v.AppendF64(0)
				v.AppendF64(1)
			default:
				v.AppendI64(0)
				v.AppendI64(0)
			}
			b.Cols[c.Index] = v
			return true
		})
		if !fits {
			return
		}
		ev, err := Compile(e, env)
		if err != nil {
			return
		}
		v, err := ev.Eval(b)
		if err != nil {
			require.True(t, Fallible(e), "%s: %s", String(e), err)
			return
		}
		require.True(t, v.Type.SameKind(e.Type()), "%s", String(e))
		Fold(e, env)
	})
}
