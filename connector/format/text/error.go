package text

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/connector"
)

// Error says what is wrong at a place of a file.
type Error struct {
	File      string
	Line      int64 // from 1
	Character int64 // of the line, from 1; 0: the whole line
	Column    string
	Msg       string
}

// Error returns the place and the message.
func (e *Error) Error() string {
	s := fmt.Sprintf("%s, line %d", e.File, e.Line)
	if e.Character > 0 {
		s += fmt.Sprintf(", character %d", e.Character)
	}
	s += ": "
	if e.Column != "" {
		s += "column " + connector.QuoteName(e.Column) + ": "
	}
	return s + e.Msg
}

// Place returns where in the file it is: what is wrong is what the file says.
func (e *Error) Place() (line, character int64) { return e.Line, e.Character }

// Locate returns the line and character of position at in buf, where line is that of buf[start], which
// begins a line.
func Locate(buf []byte, start, at int, line int64) (int64, int64) {
	for i := start; i < at; i++ {
		if buf[i] == '\n' {
			line++
			start = i + 1
		}
	}
	return line, int64(utf8.RuneCount(buf[start:at])) + 1
}

// Show returns a text between quotes for an error: shortened, and with a \x.. for what is not text.
func Show(b []byte) string {
	const most = 60
	var s strings.Builder
	s.WriteByte('\'')
	for i := 0; i < len(b); {
		if i >= most {
			s.WriteString("…")
			break
		}
		r, size := utf8.DecodeRune(b[i:])
		switch {
		case r == utf8.RuneError && size == 1, r < ' ', r == 0x7f:
			fmt.Fprintf(&s, `\x%02X`, b[i])
		case r == '\'':
			s.WriteString("''")
		default:
			s.Write(b[i : i+size])
		}
		i += size
	}
	s.WriteByte('\'')
	return s.String()
}
