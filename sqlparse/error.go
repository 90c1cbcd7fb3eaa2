package sqlparse

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// Error is something wrong with a piece of SQL text. Span counts bytes of the
// statement's text (of the whole text in errors of a Splitter).
type Error struct {
	Span Span
	Msg  string
	Hint string // what to do about it; may be empty
}

// Error returns the message and the hint, without a position.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Msg
	}
	return e.Msg + " (" + e.Hint + ")"
}

// Source is the text that an Error points into.
type Source struct {
	// Name is a file's name, or what stands for it; empty prints no name.
	Name string
	// Text is the whole text, so that the full line can be shown.
	Text string
	// Offset is where in Text the statement starts whose spans are shown.
	Offset int
	// Line and Column are the position of Text's first character, 1-based;
	// zero is 1. They are set where Text is only a piece of a stream.
	Line, Column int
}

// Position returns the 1-based line and column, in characters, of a byte offset
// into the statement.
func (s Source) Position(offset int) (line, column int) {
	at := min(max(s.Offset+offset, 0), len(s.Text))
	before := s.Text[:at]
	line, column = max(s.Line, 1), max(s.Column, 1)
	if n := strings.Count(before, "\n"); n > 0 {
		line += n
		before = before[strings.LastIndexByte(before, '\n')+1:]
		column = 1
	} else {
		before = before[skipBOM(before):]
	}
	return line, column + utf8.RuneCountInString(before)
}

// shownWidth is how many columns of a source line are shown at most.
const shownWidth = 110

// Render returns the error as lines of text, each ended by a newline:
//
//	orders.sql:3:8: found ",", expected an expression
//	  select , a from t
//	         ^
//	hint: …
//
// A long line is cut around the caret.
func (e *Error) Render(src Source) string {
	var b strings.Builder
	line, column := src.Position(e.Span.Start)
	if src.Name != "" {
		b.WriteString(src.Name)
		b.WriteByte(':')
	}
	fmt.Fprintf(&b, "%d:%d: %s\n", line, column, e.Msg)

	at := min(max(src.Offset+e.Span.Start, 0), len(src.Text))
	end := min(max(src.Offset+e.Span.End, at), len(src.Text))
	from := strings.LastIndexByte(src.Text[:at], '\n') + 1
	if from == 0 {
		from = min(skipBOM(src.Text), at)
	}
	to := len(src.Text)
	if n := strings.IndexByte(src.Text[at:], '\n'); n >= 0 {
		to = at + n
	}
	if to > from && src.Text[to-1] == '\r' && to-1 >= at {
		to--
	}
	end = min(end, to)

	left, prefix := cutLeft(src.Text[from:at], shownWidth/2)
	right, suffix := cutRight(src.Text[at:to], shownWidth-stringWidth(left))
	left, shown := printable(prefix+left), printable(right+suffix)
	if left+shown != "" {
		marked := min(end-at, len(right))
		width := max(stringWidth(printable(right[:marked])), 1)
		b.WriteString("  ")
		b.WriteString(left)
		b.WriteString(shown)
		b.WriteString("\n  ")
		for _, r := range left {
			if r == '\t' {
				b.WriteByte('\t')
			} else {
				b.WriteString(strings.Repeat(" ", runeWidth(r)))
			}
		}
		b.WriteString(strings.Repeat("^", width))
		b.WriteByte('\n')
	}
	if e.Hint != "" {
		b.WriteString("hint: ")
		b.WriteString(e.Hint)
		b.WriteByte('\n')
	}
	return b.String()
}

// cutLeft keeps the last columns of s that fit into width.
func cutLeft(s string, width int) (kept, mark string) {
	i, w := len(s), 0
	for i > 0 {
		r, n := utf8.DecodeLastRuneInString(s[:i])
		w += runeWidth(r)
		if w > width {
			return s[i:], "…"
		}
		i -= n
	}
	return s, ""
}

// cutRight keeps the first columns of s that fit into width.
func cutRight(s string, width int) (kept, mark string) {
	w := 0
	for i, r := range s {
		w += runeWidth(r)
		if w > width {
			return s[:i], "…"
		}
	}
	return s, ""
}

// printable replaces what would disturb a terminal or the caret's place.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && (r < ' ' || 0x7f <= r && r < 0xa0 || r == '\u2028' || r == '\u2029') {
			return utf8.RuneError
		}
		return r
	}, s)
}

// runeWidth is the number of terminal columns of a rune. It does not look at
// the locale, so that an error is the same text everywhere.
func runeWidth(r rune) int {
	c := runewidth.Condition{}
	return c.RuneWidth(r)
}

func stringWidth(s string) int {
	w := 0
	for _, r := range s {
		w += runeWidth(r)
	}
	return w
}
