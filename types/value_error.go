package types

import (
	"strings"
	"unicode/utf8"
)

// ValueError says that something is not a value of a type: a text that does not read as one, or a number
// out of its range.
type ValueError struct {
	Value  string // its text, shortened when long
	Quoted bool   // the value is a character string
	Type   Type
	Reason string
}

// Error returns a text such as: cannot cast 'x' to INT: not a number.
func (e *ValueError) Error() string {
	v := e.Value
	if e.Quoted {
		v = "'" + strings.ReplaceAll(v, "'", "''") + "'"
	}
	s := "cannot cast " + v + " to " + e.Type.AsNullable().String()
	if e.Reason != "" {
		s += ": " + e.Reason
	}
	return s
}

// NewValueError returns the error for a value that is not a character string, given by its text.
func NewValueError(text []byte, t Type, reason string) *ValueError {
	return &ValueError{Value: clip(text), Type: t, Reason: reason}
}

// valueError is the error for a character string.
func valueError(b []byte, t Type, reason string) error {
	return &ValueError{Value: clip(b), Quoted: true, Type: t, Reason: reason}
}

// clip shortens a long text at a character's border.
func clip(b []byte) string {
	const most = 80
	if len(b) <= most {
		return string(b)
	}
	n := most
	for n > most-utf8.UTFMax && !utf8.RuneStart(b[n]) {
		n--
	}
	return string(b[:n]) + "…"
}
