package csv

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/types"
)

// likelier returns the character that rather stands between the values of a line than the delimiter does: one
// that is there, outside quotes, where the delimiter is not. It returns 0 when there is none.
func (d *dialect) likelier(line []byte) byte {
	if d.count(line, d.delimiter) > 0 {
		return 0
	}
	best, most := byte(0), 0
	for _, c := range []byte{';', '\t', '|', ','} {
		if n := d.count(line, c); n > most && c != d.quote && c != d.escape {
			best, most = c, n
		}
	}
	return best
}

// count counts a character outside quotes.
func (d *dialect) count(line []byte, c byte) (n int) {
	inside := false
	for _, x := range line {
		switch {
		case d.quote != 0 && x == d.quote:
			inside = !inside
		case x == c && !inside:
			n++
		}
	}
	return n
}

// firstLine returns the line at the beginning of a text.
func firstLine(b []byte) []byte {
	if n := bytes.IndexByte(b, '\n'); n >= 0 {
		b = b[:n]
	}
	return trimEnd(b)
}

// delimiterHelp is what a message about a line has at its end: nothing, or which option may be missing.
func (d *dialect) delimiterHelp(line []byte) string {
	c := d.likelier(line)
	if c == 0 {
		return ""
	}
	return fmt.Sprintf("; if its values stand between %s, add %s", characterName(c), delimiterOption(c))
}

func delimiterOption(c byte) string {
	if c == '\t' {
		return `'` + optDelimiter + `' = '\t'`
	}
	return `'` + optDelimiter + `' = '` + string(rune(c)) + `'`
}

func characterName(c byte) string {
	switch c {
	case '\t':
		return "tabs"
	case ';':
		return "semicolons"
	case ',':
		return "commas"
	}
	return string(rune(c))
}

// delimiterOf returns the delimiter that the first two lines of a text have, each as often, where they do
// not have this one; 0 when there is none.
func (d *dialect) delimiterOf(b []byte) byte {
	first := firstLine(b)
	c := d.likelier(first)
	if c == 0 {
		return 0
	}
	if n := bytes.IndexByte(b, '\n'); n >= 0 {
		second := firstLine(b[n+1:])
		if len(second) > 0 && (d.likelier(second) != c || d.count(second, c) != d.count(first, c)) {
			return 0
		}
	}
	return c
}

// namesColumns reports whether a line has the names of the columns, one after the other, and so is rather a
// header than a row. Case does not matter.
func (d *dialect) namesColumns(line []byte, schema types.Schema) bool {
	values := strings.Split(string(line), string(rune(d.delimiter)))
	if len(values) != len(schema.Columns) {
		return false
	}
	for i, c := range schema.Columns {
		value := values[i]
		if q := string(rune(d.quote)); d.quote != 0 && len(value) > 1 && strings.HasPrefix(value, q) && strings.HasSuffix(value, q) {
			value = value[1 : len(value)-1]
		}
		if !strings.EqualFold(value, c.Name) {
			return false
		}
	}
	return len(values) > 0
}
