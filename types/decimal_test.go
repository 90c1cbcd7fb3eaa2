package types

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// randomDecimal returns a number of 0 to 38 digits; numbers next to a power of ten, of two or to 0 come
// often.
func randomDecimal(r *rand.Rand) Int128 {
	v := Int128From(int64(r.Uint64()) >> r.IntN(64))
	switch r.IntN(5) {
	case 0:
		v, _ = Pow10(r.IntN(39)).AddChecked(Int128From(int64(r.IntN(5) - 2)))
	case 1:
		v = Int128{Lo: 1 << r.IntN(64)}.Add(Int128From(int64(r.IntN(3) - 1)))
	case 2, 3:
		v = Int128{Lo: r.Uint64(), Hi: int64(r.Uint64()>>1) >> r.IntN(64)}
	}
	if r.IntN(2) == 0 {
		v = v.Neg()
	}
	for !v.Fits(38) {
		v, _ = v.QuoRem(Int128From(10))
	}
	return v
}

func bigPow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// roundQuo returns x / y rounded half away from zero.
func roundQuo(x, y *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(x, y, new(big.Int))
	if r.Abs(r).Lsh(r, 1).CmpAbs(y) >= 0 {
		q.Add(q, big.NewInt(int64(x.Sign()*y.Sign())))
	}
	return q
}

// oracle computes a op b as a value of t by big numbers.
func oracle(op byte, a Int128, sa int, b Int128, sb int, t Type) (*big.Int, bool) {
	s := max(sa, sb)
	x := new(big.Int).Mul(a.Big(), bigPow10(s-sa))
	y := new(big.Int).Mul(b.Big(), bigPow10(s-sb))
	var n, d *big.Int
	switch op {
	case '+':
		n, d = x.Add(x, y), bigPow10(s)
	case '-':
		n, d = x.Sub(x, y), bigPow10(s)
	case '%':
		n, d = x.Rem(x, y), bigPow10(s)
	case '*':
		n, d = x.Mul(a.Big(), b.Big()), bigPow10(sa+sb)
	case '/':
		n, d = x, y
	}
	v := roundQuo(n.Mul(n, bigPow10(t.Scale)), d)
	return v, v.CmpAbs(bigPow10(t.Precision)) < 0
}

func TestDecimalArithmeticAgainstBigNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	ops := map[byte]func(a Int128, sa int, b Int128, sb int, t Type) (Int128, bool){
		'+': AddDecimal, '-': SubDecimal, '*': MulDecimal, '/': DivDecimal, '%': ModDecimal,
	}
	for n := 0; n < 30_000; n++ {
		a, b := randomDecimal(r), randomDecimal(r)
		sa, sb := r.IntN(39), r.IntN(39)
		var result Type
		for op, f := range ops {
			if (op == '/' || op == '%') && b.Sign() == 0 {
				continue
			}
			if n%4 == 0 { // any type: more than the rules give
				p := 1 + r.IntN(38)
				result = DecimalOf(p, r.IntN(p+1))
			} else {
				result, _ = ArithmeticType(op, DecimalOf(38, sa), DecimalOf(38, sb))
			}
			got, ok := f(a, sa, b, sb, result)
			want, fits := oracle(op, a, sa, b, sb, result)
			if ok != fits || ok && got.Big().Cmp(want) != 0 {
				t.Fatalf("%s (%d) %c %s (%d) as %s: got %s %v, want %s %v", a.Big(), sa, op, b.Big(), sb, result, got.Big(), ok, want, fits)
			}
		}
		require.Equal(t, new(big.Int).Mul(a.Big(), bigPow10(38+sb)).Cmp(new(big.Int).Mul(b.Big(), bigPow10(38+sa))), CmpDecimal(a, sa, b, sb))
	}
}

func TestInt128AgainstBigNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	limit := new(big.Int).Lsh(big.NewInt(1), 127)
	for n := 0; n < 30_000; n++ {
		a, b := randomDecimal(r), randomDecimal(r)
		if n%8 == 0 {
			a = Int128{Lo: r.Uint64(), Hi: int64(r.Uint64())}
		}
		x, y := a.Big(), b.Big()
		again, ok := Int128FromBig(x)
		require.True(t, ok)
		require.Equal(t, a, again)

		sum, ok := a.AddChecked(b)
		want := new(big.Int).Add(x, y)
		require.Equal(t, want.Cmp(limit) < 0 && want.Cmp(new(big.Int).Neg(limit)) >= 0, ok)
		if ok {
			require.Zero(t, sum.Big().Cmp(want))
		}
		product, ok := a.Mul(b)
		want.Mul(x, y)
		require.Equal(t, want.CmpAbs(limit) < 0, ok, "%s * %s", x, y)
		if ok {
			require.Zero(t, product.Big().Cmp(want))
		}
		if b.Sign() != 0 {
			q, rem := a.QuoRem(b)
			wantRem := new(big.Int)
			want.QuoRem(x, y, wantRem)
			require.Zero(t, q.Big().Cmp(want), "%s / %s", x, y)
			require.Zero(t, rem.Big().Cmp(wantRem))
		}
		from, to := r.IntN(60), r.IntN(60)
		rescaled, ok := a.Rescale(from, to)
		want = roundQuo(new(big.Int).Mul(x, bigPow10(to)), bigPow10(from))
		require.Equal(t, want.CmpAbs(limit) < 0, ok, "%s from %d to %d", x, from, to)
		if ok {
			require.Zero(t, rescaled.Big().Cmp(want), "%s from %d to %d", x, from, to)
		}
		v := int64(a.Lo)
		small, ok := RescaleInt64(v, from, to)
		want = roundQuo(new(big.Int).Mul(big.NewInt(v), bigPow10(to)), bigPow10(from))
		require.Equal(t, want.IsInt64() && want.Int64() != math.MinInt64 || want.IsInt64() && from == to, ok, "%d from %d to %d", v, from, to)
		if ok {
			require.Equal(t, want.Int64(), small)
		}
	}
}

func TestDivideRoundsHalfUp(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"1", "8", "0.13"},
		{"-1", "8", "-0.13"},
		{"1", "3", "0.33"},
		{"2", "3", "0.67"},
		{"2", "-3", "-0.67"},
		{"0", "3", "0.00"},
	} {
		a, err := ParseDecimal([]byte(c.a), 10, 0)
		require.NoError(t, err)
		b, err := ParseDecimal([]byte(c.b), 10, 0)
		require.NoError(t, err)
		q, ok := DivDecimal(a, 0, b, 0, DecimalOf(10, 2))
		require.True(t, ok)
		require.Equal(t, c.want, string(AppendDecimal(nil, q, 2)))
	}
}

func TestDecimalOverflowIsReported(t *testing.T) {
	most, err := ParseDecimal([]byte(strings.Repeat("9", 38)), 38, 0)
	require.NoError(t, err)
	d38 := DecimalOf(38, 0)
	one := Int128From(1)
	_, ok := AddDecimal(most, 0, one, 0, d38)
	require.False(t, ok)
	_, ok = SubDecimal(most.Neg(), 0, one, 0, d38)
	require.False(t, ok)
	_, ok = MulDecimal(most, 0, most, 0, d38)
	require.False(t, ok)
	_, ok = DivDecimal(most, 0, one, 1, d38)
	require.False(t, ok)
	v, ok := AddDecimal(most, 0, most.Neg(), 0, d38)
	require.True(t, ok)
	require.Zero(t, v.Sign())
	// The sum of two is above 2^127.
	_, ok = most.AddChecked(most)
	require.False(t, ok)
}

func TestDecimalAndDouble(t *testing.T) {
	for _, c := range []struct {
		f    float64
		want string
	}{
		{0.1, "0.100"}, {1e-30, "0.000"}, {0.0005, "0.001"}, {-2.5, "-2.500"}, {123456.7891, "123456.789"},
		{999999999999999, "999999999999999.000"},
	} {
		v, ok := Float64ToDecimal(c.f, DecimalOf(18, 3))
		require.True(t, ok)
		require.Equal(t, c.want, string(AppendDecimal(nil, v, 3)))
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e15, -1e300} {
		_, ok := Float64ToDecimal(f, DecimalOf(18, 3))
		require.False(t, ok, f)
	}
	r := rand.New(rand.NewPCG(5, 6))
	for n := 0; n < 20_000; n++ {
		a, scale := randomDecimal(r), r.IntN(39)
		want, _ := new(big.Rat).SetFrac(a.Big(), bigPow10(scale)).Float64()
		require.Equal(t, want, DecimalToFloat64(a, scale))
		whole := new(big.Int).Quo(a.Big(), bigPow10(scale))
		i, ok := DecimalToInt64(a, scale)
		require.Equal(t, whole.IsInt64(), ok)
		if ok {
			require.Equal(t, whole.Int64(), i)
		}
	}
}

func TestDecimalTypeOf(t *testing.T) {
	for text, want := range map[string]string{
		"0": "DECIMAL(1, 0)", "12.50": "DECIMAL(4, 2)", "0.05": "DECIMAL(2, 2)", "1e-30": "DECIMAL(30, 30)",
		"1e3": "DECIMAL(4, 0)", "0.00": "DECIMAL(2, 2)", "-007.0": "DECIMAL(2, 1)", "0e5": "DECIMAL(1, 0)",
		"0.1234567890123456789012345":            "DECIMAL(25, 25)",
		"99999999999999999999999999999999999999": "DECIMAL(38, 0)",
	} {
		typ, ok := DecimalTypeOf([]byte(text))
		require.True(t, ok, text)
		require.Equal(t, want, typ.String(), text)
		_, err := ParseDecimalExact([]byte(text), typ.Precision, typ.Scale)
		require.NoError(t, err)
	}
	for _, text := range []string{"", "x", "NaN", "Infinity", "1e38", "1e-39", "999999999999999999999999999999999999999", "1e999999999"} {
		_, ok := DecimalTypeOf([]byte(text))
		require.False(t, ok, text)
	}
}

// FuzzDecimal checks reading against math/big, and that what is written reads back as itself.
func FuzzDecimal(f *testing.F) {
	for _, s := range []string{
		"0", "-1", "1.5", ".5", "5.", "1e-30", "1E+3", "0.1234567890123456789012345", "99999999999999999999999999999999999999",
		"100.000", "NaN", "Infinity", " 7 ", "1e999999999999", "0.0000000000000000000000000000000000000000000000005", "--1", "1_0",
		"9223372036854775807", "18446744073709551616.5", "0x1", "1e", "٣",
	} {
		f.Add(s, uint8(38), uint8(18))
		f.Add(s, uint8(5), uint8(2))
	}
	f.Fuzz(func(t *testing.T, s string, p, sc uint8) {
		precision := 1 + int(p)%38
		scale := int(sc) % (precision + 1)
		v, err := ParseDecimal([]byte(s), precision, scale)
		exact, exactErr := ParseDecimalExact([]byte(s), precision, scale)
		if exactErr == nil {
			require.NoError(t, err)
			require.Equal(t, exact, v)
		}
		n, ok := scanNumber(trim([]byte(s)))
		if !ok {
			require.Error(t, err)
			return
		}
		if n.exponent < -1000 || n.exponent > 1000 || len(s) > 1000 {
			return // slow for the oracle
		}
		x, ok := new(big.Rat).SetString(string(trim([]byte(s))))
		require.True(t, ok, "%q is a number here only", s)
		x.Mul(x, new(big.Rat).SetInt(bigPow10(scale)))
		want := roundQuo(x.Num(), x.Denom())
		if want.CmpAbs(bigPow10(precision)) >= 0 {
			require.Error(t, err, s)
			return
		}
		require.NoError(t, err)
		require.Zero(t, want.Cmp(v.Big()), "%s: %s", s, v.Big())
		text := AppendDecimal(nil, v, scale)
		again, err := ParseDecimalExact(text, precision, scale)
		require.NoError(t, err)
		require.Equal(t, v, again)
		require.True(t, len(text) > scale)
		if x.IsInt() && trim([]byte(s))[0] == s[0] && !isBlank(s[len(s)-1]) {
			require.NoError(t, exactErr, s)
		} else {
			require.Error(t, exactErr, s)
		}
	})
}

func BenchmarkDecimal(b *testing.B) {
	wide, _ := ParseDecimal([]byte("12345678901234567890123456789.012345"), 38, 6)
	narrow := Int128From(1234567890)
	b.Run("parse", func(b *testing.B) {
		text := []byte("1234567.89")
		for b.Loop() {
			_, _ = ParseDecimal(text, 12, 2)
		}
	})
	b.Run("append", func(b *testing.B) {
		dst := make([]byte, 0, 64)
		for b.Loop() {
			dst = AppendDecimal64(dst[:0], 123456789, 2)
		}
	})
	b.Run("append wide", func(b *testing.B) {
		dst := make([]byte, 0, 64)
		for b.Loop() {
			dst = AppendDecimal(dst[:0], wide, 6)
		}
	})
	b.Run("multiply", func(b *testing.B) {
		for b.Loop() {
			_, _ = MulDecimal(narrow, 2, narrow, 2, DecimalOf(25, 4))
		}
	})
	b.Run("divide wide", func(b *testing.B) {
		for b.Loop() {
			_, _ = DivDecimal(wide, 6, narrow, 2, DecimalOf(38, 6))
		}
	})
}
