package exec

import (
	"fmt"
	"time"
)

// parseZone reads a graph's zone: an IANA name or an offset ±hh:mm; "" is UTC.
func parseZone(s string) (*time.Location, error) {
	if s == "" {
		return time.UTC, nil
	}
	if s[0] == '+' || s[0] == '-' {
		t, err := time.Parse("-07:00", s)
		if err != nil {
			return nil, fmt.Errorf("time zone %q is not an offset of the form +hh:mm", s)
		}
		_, sec := t.Zone()
		return time.FixedZone(s, sec), nil
	}
	if s == "Local" {
		return nil, fmt.Errorf("time zone %q differs from machine to machine", s)
	}
	loc, err := time.LoadLocation(s)
	if err != nil {
		return nil, fmt.Errorf("unknown time zone %q", s)
	}
	return loc, nil
}
