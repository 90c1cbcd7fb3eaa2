package connector

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// durationUnits are the units of a duration, as Flink writes them.
func durationUnits() []struct {
	names string
	size  time.Duration
} {
	return []struct {
		names string
		size  time.Duration
	}{
		{"d day days", 24 * time.Hour},
		{"h hour hours", time.Hour},
		{"min m minute minutes", time.Minute},
		{"s sec secs second seconds", time.Second},
		{"ms milli millis millisecond milliseconds", time.Millisecond},
		{"µs micro micros microsecond microseconds", time.Microsecond},
		{"ns nano nanos nanosecond nanoseconds", time.Nanosecond},
	}
}

// ParseDuration reads the value of an option that is a duration as Flink does: a whole number and a unit,
// such as 10 s, 5min or 1 day. A number alone counts milliseconds.
func ParseDuration(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	n, err := strconv.ParseInt(text[:digits], 10, 64)
	if err != nil && digits > 0 {
		return 0, errors.New("is too long")
	}
	unit := strings.ToLower(strings.TrimSpace(text[digits:]))
	if unit == "" {
		unit = "ms"
	}
	for _, u := range durationUnits() {
		if !slices.Contains(strings.Fields(u.names), unit) {
			continue
		}
		switch {
		case digits == 0:
			return 0, errors.New("has no number; write it as 10 s")
		case n > math.MaxInt64/int64(u.size):
			return 0, errors.New("is too long")
		}
		return time.Duration(n) * u.size, nil
	}
	return 0, errors.New("is not a duration; write it as 500 ms, 10 s, 5 min, 2 h or 1 d")
}
