package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/job"
)

// The checks of option values. Each returns the value in the one spelling that is kept.

func anyText(v string) (string, error) { return v, nil }

func oneOf(allowed ...string) func(string) (string, error) {
	return func(v string) (string, error) {
		low := strings.ToLower(v)
		for _, a := range allowed {
			if a == low {
				return a, nil
			}
		}
		return "", fmt.Errorf("allowed: '%s'", strings.Join(allowed, "', '"))
	}
}

func boolean(v string) (string, error) { return oneOf("true", "false")(v) }

func integer(lo, hi int64) func(string) (string, error) {
	return func(v string) (string, error) {
		n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
		if err != nil || n < lo || n > hi {
			return "", fmt.Errorf("expected a whole number from %d to %d", lo, hi)
		}
		return strconv.FormatInt(n, 10), nil
	}
}

// checkOutput accepts the name of a file; whether it can be written is seen when there are rows.
func checkOutput(v string) (string, error) {
	if strings.ContainsRune(v, 0) {
		return "", errors.New("expected the name of a file")
	}
	if strings.HasSuffix(v, "/") {
		return "", errors.New("is a directory; expected the name of a file")
	}
	return v, nil
}

// checkPager accepts auto, off and any command.
func checkPager(v string) (string, error) {
	switch low := strings.ToLower(strings.TrimSpace(v)); low {
	case "":
		return "", errors.New("expected 'auto', 'off' or a command such as 'less -S'")
	case "auto", "off":
		return low, nil
	}
	return v, nil
}

// checkDirectory keeps a directory's name absolute, so that it stays the same one.
func checkDirectory(v string) (string, error) {
	if v == "" || strings.ContainsRune(v, 0) {
		return "", errors.New("expected the name of a directory")
	}
	return filepath.Abs(v)
}

// configFile is a file of the user's own settings: in $XDG_CONFIG_HOME/sluice, else ~/.config/sluice; ""
// where there is neither.
func configFile(name string) string {
	dir := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) { // as the XDG specification has it
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "sluice", name)
}

// checkInterval accepts the time between two checkpoints, and keeps it with the largest unit that is exact.
func checkInterval(v string) (string, error) {
	d, err := connector.ParseDuration(v)
	switch {
	case err != nil:
		return "", err
	case d < job.MinCheckpointInterval:
		return "", fmt.Errorf("expected at least %s", formatDuration(job.MinCheckpointInterval))
	case d > maxInterval:
		return "", fmt.Errorf("expected at most %s", formatDuration(maxInterval))
	}
	return formatDuration(d), nil
}

// maxInterval is the most time that there may be between two checkpoints.
const maxInterval = 365 * 24 * time.Hour

// formatDuration writes a duration as Flink does, with the largest unit that keeps it exact.
func formatDuration(d time.Duration) string {
	for _, u := range []struct {
		name string
		size time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"min", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}, {"µs", time.Microsecond}} {
		if d >= u.size && d%u.size == 0 {
			return strconv.FormatInt(int64(d/u.size), 10) + " " + u.name
		}
	}
	return strconv.FormatInt(int64(d), 10) + " ns"
}

// sizeUnits are the suffixes of a size, longest first where one ends with another.
func sizeUnits() []struct {
	suffix string
	factor int64
} {
	return []struct {
		suffix string
		factor int64
	}{
		{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40},
		{"kb", 1 << 10}, {"mb", 1 << 20}, {"gb", 1 << 30}, {"tb", 1 << 40},
		{"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {"t", 1 << 40}, {"bytes", 1}, {"b", 1},
	}
}

// minMemory is the least budget that a job can do anything with.
const minMemory = 1 << 20

func checkSize(v string) (string, error) {
	n, err := parseSize(v)
	if err != nil {
		return "", err
	}
	if n < minMemory {
		return "", errors.New("expected at least 1 mb")
	}
	return formatSize(n), nil
}

// parseSize reads a size such as 512 mb or 2g; units are powers of 1,024 as Flink's.
func parseSize(v string) (int64, error) {
	low := strings.ToLower(strings.TrimSpace(v))
	factor := int64(1)
	for _, u := range sizeUnits() {
		if rest, ok := strings.CutSuffix(low, u.suffix); ok {
			low, factor = strings.TrimSpace(rest), u.factor
			break
		}
	}
	n, err := strconv.ParseInt(low, 10, 64)
	if err != nil || n < 0 || n > (1<<62)/factor {
		return 0, errors.New("expected a size such as '512 mb' or '2 gb'")
	}
	return n * factor, nil
}

// formatSize writes a size with the largest unit that keeps it exact.
func formatSize(n int64) string {
	for _, u := range []struct {
		name   string
		factor int64
	}{{"tb", 1 << 40}, {"gb", 1 << 30}, {"mb", 1 << 20}, {"kb", 1 << 10}} {
		if n >= u.factor && n%u.factor == 0 {
			return strconv.FormatInt(n/u.factor, 10) + " " + u.name
		}
	}
	return strconv.FormatInt(n, 10) + " bytes"
}

// checkZone accepts an IANA name and an offset: Z, +02:00, GMT+2, UTC-05:30. What is kept is a name or
// an offset of the form +hh:mm.
func checkZone(v string) (string, error) {
	bad := errors.New("expected a zone name such as 'Europe/Berlin' or an offset such as '+02:00'")
	switch v {
	case "":
		return "", bad
	case "Z", "UTC", "GMT", "Etc/UTC":
		return "UTC", nil
	case "Local":
		return "", bad
	}
	rest := v
	for _, p := range []string{"UTC", "GMT", "UT"} {
		if r, ok := strings.CutPrefix(v, p); ok && r != "" {
			rest = r
			break
		}
	}
	if rest[0] == '+' || rest[0] == '-' {
		minutes, ok := parseOffset(rest)
		if !ok {
			return "", bad
		}
		return formatOffset(minutes), nil
	}
	if _, err := time.LoadLocation(v); err != nil {
		return "", bad
	}
	return v, nil
}

// location returns the zone that checkZone has accepted.
func location(zone string) *time.Location {
	if zone[0] == '+' || zone[0] == '-' {
		minutes, _ := parseOffset(zone)
		return time.FixedZone(zone, minutes*60)
	}
	loc, err := time.LoadLocation(zone)
	if err != nil {
		panic(fmt.Sprintf("session: zone %q was accepted and cannot be loaded: %v", zone, err))
	}
	return loc
}

// parseOffset reads ±h, ±hh, ±hh:mm and ±hhmm, up to 18 hours, as minutes.
func parseOffset(s string) (minutes int, ok bool) {
	sign := 1
	if s[0] == '-' {
		sign = -1
	}
	hours, mins, colon := strings.Cut(s[1:], ":")
	if !colon && len(hours) == 4 {
		hours, mins = hours[:2], hours[2:]
	}
	digits := func(s string, atMost int) (int, bool) {
		if s == "" || len(s) > atMost || strings.Trim(s, "0123456789") != "" {
			return 0, false
		}
		n, err := strconv.Atoi(s)
		return n, err == nil
	}
	h, ok := digits(hours, 2)
	if !ok {
		return 0, false
	}
	m := 0
	if mins != "" || colon {
		if m, ok = digits(mins, 2); !ok || len(mins) != 2 {
			return 0, false
		}
	}
	if m > 59 || h*60+m > 18*60 {
		return 0, false
	}
	return sign * (h*60 + m), true
}

// localZone is the machine's zone by a name that other processes understand: TZ, else what
// /etc/localtime points to, else the offset at the given instant.
func localZone(now time.Time) string {
	if tz, ok := os.LookupEnv("TZ"); ok {
		if tz == "" {
			return "UTC"
		}
		if kept, err := checkZone(strings.TrimPrefix(tz, ":")); err == nil {
			return kept
		}
	}
	if target, err := os.Readlink("/etc/localtime"); err == nil {
		if _, name, ok := strings.Cut(target, "zoneinfo/"); ok {
			if kept, err := checkZone(name); err == nil {
				return kept
			}
		}
	}
	_, seconds := now.Local().Zone()
	if seconds == 0 {
		return "UTC"
	}
	return formatOffset(seconds / 60)
}

func formatOffset(minutes int) string {
	sign := "+"
	if minutes < 0 {
		sign, minutes = "-", -minutes
	}
	return fmt.Sprintf("%s%02d:%02d", sign, minutes/60, minutes%60)
}
