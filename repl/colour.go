package repl

import (
	"os"
	"strings"

	"github.com/sluice-sql/sluice/sqlparse"
)

// The colours of what is typed, as a terminal's own sixteen, which its user has chosen to be legible.
const (
	colourKeyword = "\x1b[36m"
	colourName    = "\x1b[33m" // in back-quotes
	colourString  = "\x1b[32m"
	colourNumber  = "\x1b[35m"
	colourComment = "\x1b[90m"
	colourOpen    = "\x1b[31m" // a quote that nothing closes yet
	colourOff     = "\x1b[0m"
)

// wantsColours reports whether a terminal is to show colours, by the value of 'sluice.color'.
func wantsColours(setting string) bool {
	switch setting {
	case "always":
		return true
	case "never":
		return false
	}
	term := os.Getenv("TERM")
	return os.Getenv("NO_COLOR") == "" && term != "" && term != "dumb"
}

// opening returns the sign that opened what is open.
func opening(o sqlparse.Open) string {
	switch o {
	case sqlparse.OpenString:
		return "'"
	case sqlparse.OpenName:
		return "`"
	case sqlparse.OpenDoubleQuote:
		return "\""
	case sqlparse.OpenComment:
		return "/*"
	}
	return ""
}

// coloured returns a line with its tokens in colours, where before is the lines before of the statement, or
// the sign of a quote that they have left open. The runes of the line stay what they are and in their order:
// readline takes widths and the place of the cursor from the line without colours.
func coloured(line []rune, before string) []rune {
	if n := len(line); n > 0 && line[n-1] == '\n' { // Enter: the colour goes before the next line begins
		return append(coloured(line[:n-1:n-1], before), '\n')
	}
	text := before + string(line)
	lexed := strings.ReplaceAll(text, newlineMark, "\n"+strings.Repeat(" ", len(newlineMark)-1)) // of a recalled statement
	var b strings.Builder
	done := len(before) // the text so far is drawn
	for _, t := range sqlparse.Tokens(lexed) {
		colour := colourOf(t, text)
		from := max(t.Start, done)
		if colour == "" || from >= t.End {
			continue
		}
		b.WriteString(text[done:from])
		b.WriteString(colour)
		b.WriteString(text[from:t.End])
		b.WriteString(colourOff)
		done = t.End
	}
	if b.Len() == 0 {
		return line
	}
	b.WriteString(text[done:])
	return []rune(b.String())
}

func colourOf(t sqlparse.Token, text string) string {
	switch t.Class {
	case sqlparse.Keyword:
		return colourKeyword
	case sqlparse.Name:
		if text[t.Start] == '`' {
			return colourName
		}
	case sqlparse.String:
		return colourString
	case sqlparse.Number:
		return colourNumber
	case sqlparse.Comment:
		return colourComment
	case sqlparse.OpenToken:
		if strings.HasPrefix(text[t.Start:], "/*") {
			return colourComment
		}
		return colourOpen
	}
	return ""
}
