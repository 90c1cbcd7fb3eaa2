package connector_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/connector"
)

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"10 s": 10 * time.Second, "10s": 10 * time.Second, "1 day": 24 * time.Hour, "2 days": 48 * time.Hour, "1d": 24 * time.Hour,
		"5 MIN": 5 * time.Minute, "3 m": 3 * time.Minute, "7 minutes": 7 * time.Minute, "1 sec": time.Second, "2 secs": 2 * time.Second,
		"250": 250 * time.Millisecond, "250ms": 250 * time.Millisecond, "1 milli": time.Millisecond, "9 µs": 9 * time.Microsecond,
		"3 nanos": 3, "0": 0, " 1 h ": time.Hour, "106751 d": 106751 * 24 * time.Hour,
	} {
		got, err := connector.ParseDuration(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for text, want := range map[string]string{
		"": "has no number; write it as 10 s", "s": "has no number; write it as 10 s",
		"1 fortnight": "is not a duration; write it as 500 ms, 10 s, 5 min, 2 h or 1 d",
		"-1 s":        "is not a duration; write it as 500 ms, 10 s, 5 min, 2 h or 1 d",
		"1.5 s":       "is not a duration; write it as 500 ms, 10 s, 5 min, 2 h or 1 d",
		"106752 d":    "is too long", "99999999999999999999 s": "is too long",
	} {
		_, err := connector.ParseDuration(text)
		require.EqualError(t, err, want, text)
	}
}

func TestOptionsWithANameInThem(t *testing.T) {
	declared := []connector.Option{
		{Key: "rows"},
		{Key: "fields.#.kind", Allowed: []string{"random", "sequence"}, Public: true},
		{Key: "fields.#.max-past"},
	}
	check := func(key, value string) string {
		if err := connector.CheckOptions("connector 'x'", declared, map[string]string{key: value}); err != nil {
			return err.Error()
		}
		return ""
	}
	require.Empty(t, check("fields.id.kind", "random"))
	require.Empty(t, check("fields.a.b.c.kind", "sequence"))
	require.Equal(t, "option 'fields.id.kind' = 'rnd' is not valid; allowed: 'random', 'sequence'", check("fields.id.kind", "rnd"))
	require.Equal(t, "unsupported option 'fields.id.kid' for connector 'x'; did you mean 'fields.id.kind'?", check("fields.id.kid", "random"))
	require.Equal(t, "unsupported option 'fields.a.b.maxpast' for connector 'x'; did you mean 'fields.a.b.max-past'?", check("fields.a.b.maxpast", "1"))
	require.Contains(t, check("fields..kind", "random"), "unsupported option 'fields..kind' for connector 'x'")
	require.Contains(t, check("fields.#.kinds", "random"), "did you mean 'fields.#.kind'?")
	require.Equal(t, "random", connector.Printable(declared, "fields.id.kind", "random"))
	require.Equal(t, connector.Mask, connector.Printable(declared, "fields.id.max-past", "1"))
}
