package types

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shortest is the plain version of AppendFloat64: Go's shortest digits in Java's layout.
func shortest(v float64, size int) string {
	s := strconv.FormatFloat(v, 'e', -1, size)
	mantissa, exponent, _ := strings.Cut(s, "e")
	if a := math.Abs(v); a >= 1e-3 && a < 1e7 {
		s = strconv.FormatFloat(v, 'f', -1, size)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	}
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	e, _ := strconv.Atoi(exponent)
	return mantissa + "E" + strconv.Itoa(e)
}

func TestFloatText(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	check := func(v float64) {
		if v == 0 || v-v != 0 || math.Abs(v) < 1e-320 {
			return
		}
		require.Equal(t, shortest(v, 64), string(AppendFloat64(nil, v)))
		again, err := ParseFloat64(AppendFloat64(nil, v))
		require.NoError(t, err)
		require.Equal(t, v, again)
	}
	for n := 0; n < 50_000; n++ {
		check(math.Float64frombits(r.Uint64()))
		check(float64(r.Int64N(1e12)-5e11) / pow10f64[r.IntN(10)])
		check(math.Nextafter(float64(r.Int64N(1e11))/1e4, math.Inf(1)))
		if f := math.Float32frombits(r.Uint32()); f-f == 0 && math.Abs(float64(f)) > 1e-42 {
			require.Equal(t, shortest(float64(f), 32), string(AppendFloat32(nil, f)))
			again, err := ParseFloat32(AppendFloat32(nil, f))
			require.NoError(t, err)
			require.Equal(t, f, again)
		}
	}
	for _, v := range []float64{1e7, 9999999.9999, 1e-3, math.Nextafter(1e-3, 0), math.Nextafter(1e7, 0), 0.30000000000000004, 5e-5, 1e22, 1e23} {
		check(v)
		check(-v)
	}
	// The smallest numbers, where one digit tells them apart but two are nearer.
	for bits, want := range map[uint64]string{1: "4.9E-324", 2: "9.9E-324", 3: "1.5E-323", 4: "2.0E-323"} {
		require.Equal(t, want, string(AppendFloat64(nil, math.Float64frombits(bits))))
		require.Equal(t, "-"+want, string(AppendFloat64(nil, -math.Float64frombits(bits))))
	}
	require.Equal(t, "-0.0", string(AppendFloat32(nil, float32(math.Copysign(0, -1)))))
	require.Equal(t, "NaN", string(AppendFloat32(nil, float32(math.NaN()))))
	require.Equal(t, "-Infinity", string(AppendFloat32(nil, float32(math.Inf(-1)))))
}

func TestLongValuesAreCutInErrors(t *testing.T) {
	_, err := ParseInt64([]byte(strings.Repeat("ä", 1000)))
	require.EqualError(t, err, "cannot cast '"+strings.Repeat("ä", 40)+"…' to BIGINT: not a number")
}

// FuzzParseType checks that a type's text reads back as the type.
func FuzzParseType(f *testing.F) {
	for _, t := range everyKind() {
		f.Add(t.String())
		f.Add(strings.ToLower(t.AsNotNull().String()))
	}
	for _, s := range []string{"DECIMAL(38,", "INTERVAL DAY TO", "VARCHAR(99999999999)", "ROW<a INT>", "INT -- x", "TIMESTAMP(3) WITH", "ſtring", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		typ, err := ParseType(s)
		if err != nil {
			return
		}
		require.NoError(t, typ.Validate())
		again, err := ParseType(typ.String())
		require.NoError(t, err)
		require.True(t, typ.Equal(again), s)
	})
}

func BenchmarkNumber(b *testing.B) {
	dst := make([]byte, 0, 64)
	b.Run("append double, two decimals", func(b *testing.B) {
		for b.Loop() {
			dst = AppendFloat64(dst[:0], 36901.24)
		}
	})
	b.Run("append double, all digits", func(b *testing.B) {
		for b.Loop() {
			dst = AppendFloat64(dst[:0], 1.0/3)
		}
	})
	b.Run("parse double", func(b *testing.B) {
		text := []byte("36901.24")
		for b.Loop() {
			_, _ = ParseFloat64(text)
		}
	})
	b.Run("parse int", func(b *testing.B) {
		text := []byte("1234567")
		for b.Loop() {
			_, _ = ParseInt(text, Int)
		}
	})
}
