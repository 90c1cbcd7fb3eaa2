package sqlparse

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzPrintParse: what parses prints to what parses to the same tree, and all
// spans nest.
func FuzzPrintParse(f *testing.F) {
	for _, s := range corpus(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			e := err.(*Error)
			require.True(t, 0 <= e.Span.Start && e.Span.Start <= e.Span.End && e.Span.End <= len(text), "%q: %v %s", text, e.Span, e.Msg)
			require.NotEmpty(t, e.Msg)
			e.Render(Source{Name: "f", Text: text})
		} else {
			roundTrip(t, text, func(text string) (Node, error) { return Parse(text) })
			require.NotEmpty(t, s.Form())
		}
		if _, err := ParseExpr(text); err == nil {
			roundTrip(t, text, func(text string) (Node, error) { return ParseExpr(text) })
		}
		require.Len(t, MaskSecrets(text), len(text))
	})
}

// FuzzSplit: the splitter, fed at once and in pieces, agrees with the lexer and
// with the parser on where statements end.
func FuzzSplit(f *testing.F) {
	for _, s := range corpus(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { checkSplit(t, text) })
}
