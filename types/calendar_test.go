package types

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEveryDay(t *testing.T) {
	day := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	for d := MinDate; d <= MaxDate; d++ {
		y, m, dd := CivilFromDays(d)
		wy, wm, wd := day.Date()
		if y != wy || m != int(wm) || dd != wd || DaysFromCivil(y, m, dd) != d {
			t.Fatalf("day %d: %d-%d-%d, want %d-%d-%d", d, y, m, dd, wy, wm, wd)
		}
		day = day.AddDate(0, 0, 1)
	}
	y, m, d := day.Date()
	require.Equal(t, []int{10000, 1, 1}, []int{y, int(m), d})
	for _, d := range []int32{math.MinInt32, math.MaxInt32, MinDate - 1, MaxDate + 1} {
		y, m, dd := CivilFromDays(d)
		w := time.Unix(int64(d)*secondsPerDay, 0).UTC()
		require.Equal(t, []int{w.Year(), int(w.Month()), w.Day()}, []int{y, m, dd})
		require.Equal(t, d, DaysFromCivil(y, m, dd))
	}
	require.Equal(t, "10000-01-01", string(AppendDate(nil, MaxDate+1)))
	require.Equal(t, "-1-12-31", string(AppendDate(nil, DaysFromCivil(-1, 12, 31))))
}

func TestTimestampTextAgainstTime(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	newYork, err := time.LoadLocation("America/New_York")
	require.NoError(t, err)
	layouts := [...]string{"", ".0", ".00", ".000", ".0000", ".00000", ".000000", ".0000000", ".00000000", ".000000000"}
	for n := 0; n < 20_000; n++ {
		p := r.IntN(10)
		typ := WithPrecision(Timestamp, p)
		zone := time.UTC
		if n%2 == 0 {
			typ.Kind, zone = TimestampLTZ, newYork
		}
		// The dropping of decimals belongs to whoever makes a value; here it is made of whole ones.
		when := time.UnixMicro(MinMicros + secondsPerDay*1e6 + r.Int64N(MaxMicros-MinMicros-2*secondsPerDay*1e6))
		if typ.Nanos() {
			when = time.Unix(0, int64(r.Uint64())>>1)
		}
		v, ok := TimestampOf(when.Unix(), when.Nanosecond(), typ)
		require.True(t, ok)
		text := AppendTimestamp(nil, v, typ, zone)
		require.Equal(t, when.In(zone).Format("2006-01-02 15:04:05"+layouts[p]), string(text))

		if typ.Kind == Timestamp { // of a clock time shown twice only one reads back
			again, err := ParseISOTimestamp(text, typ, zone)
			require.NoError(t, err)
			require.Equal(t, v, again)
		}
	}
}

func TestLocalTimeAndInstant(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, name := range []string{"Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia", "America/Sao_Paulo", "UTC"} {
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		for _, typ := range []Type{WithPrecision(TimestampLTZ, 6), WithPrecision(TimestampLTZ, 9)} {
			for n := 0; n < 5_000; n++ {
				s := r.Int64N(4e9) - 1e9
				v, ok := TimestampOf(s, r.IntN(1e9), typ)
				require.True(t, ok)
				local, ok := InstantToLocal(v, typ, zone)
				require.True(t, ok)
				back, ok := LocalToInstant(local, typ, zone)
				require.True(t, ok)
				if back != v { // shown twice: then the earlier, and the same on the clock
					require.Less(t, back, v)
					again, _ := InstantToLocal(back, typ, zone)
					require.Equal(t, local, again)
				}
			}
		}
	}
	berlin, _ := time.LoadLocation("Europe/Berlin")
	for _, typ := range []Type{WithPrecision(TimestampLTZ, 6), WithPrecision(TimestampLTZ, 9)} {
		most, least := MaxMicros, MinMicros
		if typ.Nanos() {
			most, least = math.MaxInt64, math.MinInt64
		}
		_, ok := InstantToLocal(most, typ, berlin)
		require.False(t, ok)
		_, ok = LocalToInstant(least, typ, berlin)
		require.False(t, ok)
	}
}

func TestRescaleTimestamp(t *testing.T) {
	micros, nanos, seconds := WithPrecision(Timestamp, 6), WithPrecision(Timestamp, 9), WithPrecision(Timestamp, 0)
	for _, c := range []struct {
		v        int64
		from, to Type
		want     int64
		ok       bool
	}{
		{-1, micros, seconds, -1_000_000, true},
		{1_999_999, micros, seconds, 1_000_000, true},
		{-1, micros, nanos, -1000, true},
		{-1, nanos, micros, -1, true},
		{-1, nanos, seconds, -1_000_000, true},
		{1_500, nanos, micros, 1, true},
		{math.MaxInt64 / 1000, micros, nanos, math.MaxInt64 / 1000 * 1000, true},
		{math.MaxInt64/1000 + 1, micros, nanos, 0, false},
		{math.MinInt64 / 1000, micros, nanos, math.MinInt64 / 1000 * 1000, true},
		{math.MinInt64/1000 - 1, micros, nanos, 0, false},
		{MinMicros, micros, nanos, 0, false},
		{math.MinInt64, nanos, WithPrecision(Timestamp, 7), 0, false},
		{math.MinInt64, nanos, nanos, math.MinInt64, true},
		{math.MinInt64, nanos, micros, math.MinInt64/1000 - 1, true},
		{MaxMicros, micros, WithPrecision(Timestamp, 3), MaxMicros - 999, true},
	} {
		v, ok := RescaleTimestamp(c.v, c.from, c.to)
		require.Equal(t, c.ok, ok, "%d %s %s", c.v, c.from, c.to)
		if ok {
			require.Equal(t, c.want, v, "%d %s %s", c.v, c.from, c.to)
		}
	}
}

func TestTimeOutsideTheDay(t *testing.T) {
	for ms, want := range map[int32]string{-1: "23:59:59.999", MillisPerDay: "00:00:00.000", math.MinInt32: "03:28:36.352", math.MaxInt32: "20:31:23.647"} {
		require.Equal(t, want, string(AppendTime(nil, ms, 3)))
	}
}

func TestIntervalText(t *testing.T) {
	for months, want := range map[int32]string{
		0: "+0-00", 5: "+0-05", 12: "+1-00", 84: "+7-00", 123: "+10-03", -123: "-10-03", 12334: "+1027-10",
		math.MaxInt32: "+178956970-07", math.MinInt32: "-178956970-08",
	} {
		require.Equal(t, want, string(AppendIntervalYearMonth(nil, months)))
	}
	for ms, want := range map[int64]string{
		0: "+0 00:00:00.000", 10: "+0 00:00:00.010", 123456789: "+1 10:17:36.789", MillisPerDay: "+1 00:00:00.000", -1: "-0 00:00:00.001",
		math.MaxInt64: "+106751991167 07:12:55.807", math.MinInt64: "-106751991167 07:12:55.808",
	} {
		require.Equal(t, want, string(AppendIntervalDayTime(nil, ms)))
	}
}

// FuzzTimestamp checks that every text that reads as a timestamp is written as itself in full form, and
// that the strict reader accepts no more than CAST does.
func FuzzTimestamp(f *testing.F) {
	for _, s := range []string{
		"2024-01-02", "2024-1-2 3:4:5", "2024-01-02T03:04:05.123456789", "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999999",
		"1677-09-21 00:12:43.145224192", "2262-04-11 23:47:16.854775807", "2024-02-30", "soon", "1598313600", "2024-01-02 03:04:05.",
		"1969-12-31 23:59:59.9", " 2024-01-02 ", "2024-01-02 03:04:05+01:00",
	} {
		for p := range uint8(10) {
			f.Add(s, p)
		}
	}
	f.Fuzz(func(t *testing.T, s string, p uint8) {
		typ := WithPrecision(Timestamp, int(p)%10)
		v, err := ParseTimestamp([]byte(s), typ, nil)
		strict, strictErr := ParseISOTimestamp([]byte(s), typ, nil)
		if err != nil {
			require.Error(t, strictErr)
			return
		}
		if strictErr == nil {
			require.Equal(t, v, strict)
		}
		text := AppendTimestamp(nil, v, typ, nil)
		layout := "2006-01-02 15:04:05"
		if typ.Precision > 0 {
			layout += "." + "000000000"[:typ.Precision]
		}
		when, err := time.Parse(layout, string(text))
		require.NoError(t, err)
		again, ok := TimestampOf(when.Unix(), when.Nanosecond(), typ)
		require.True(t, ok)
		require.Equal(t, v, again)
		again, err = ParseISOTimestamp(text, typ, nil)
		require.NoError(t, err)
		require.Equal(t, v, again)
	})
}

func BenchmarkTimestamp(b *testing.B) {
	berlin, _ := time.LoadLocation("Europe/Berlin")
	micros, ltz := WithPrecision(Timestamp, 6), WithPrecision(TimestampLTZ, 3)
	text := []byte("2024-01-02 03:04:05.123456")
	dst := make([]byte, 0, 64)
	b.Run("parse", func(b *testing.B) {
		for b.Loop() {
			_, _ = ParseTimestamp(text, micros, nil)
		}
	})
	b.Run("parse ltz", func(b *testing.B) {
		for b.Loop() {
			_, _ = ParseTimestamp(text, ltz, berlin)
		}
	})
	b.Run("append", func(b *testing.B) {
		for b.Loop() {
			dst = AppendTimestamp(dst[:0], 1_704_164_645_123_456, micros, nil)
		}
	})
	b.Run("append ltz", func(b *testing.B) {
		for b.Loop() {
			dst = AppendTimestamp(dst[:0], 1_704_164_645_123_000, ltz, berlin)
		}
	})
	b.Run("append date", func(b *testing.B) {
		for b.Loop() {
			dst = AppendDate(dst[:0], 19724)
		}
	})
}
