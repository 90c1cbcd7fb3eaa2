package session

import (
	"strings"
	"unicode/utf8"
)

// helpText lists the statements that can be run.
func helpText() string {
	var b strings.Builder
	b.WriteString("Statements end with ; and may span lines.\n\n")
	width := 0
	for _, f := range families() {
		width = max(width, utf8.RuneCountInString(f.syntax))
	}
	for _, f := range families() {
		b.WriteString("  " + f.syntax + strings.Repeat(" ", width-utf8.RuneCountInString(f.syntax)+2) + f.does + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
