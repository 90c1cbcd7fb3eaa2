package sqlparse

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// FuzzPrintParse: what parses prints to what parses to the same tree, and all
// spans nest.
func FuzzPrintParse(f *testing.F) {
	for _, s := range corpus(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		defer watch(text)()
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
		if _, err := parseExpr(text); err == nil {
			roundTrip(t, text, func(text string) (Node, error) { return parseExpr(text) })
		}
		require.Len(t, MaskSecrets(text), len(text))
		require.Len(t, MaskUnparsed(text, nil), len(text))
		checkTokens(t, text)
	})
}

// FuzzSplit: the splitter, fed at once and in pieces, agrees with the lexer and
// with the parser on where statements end.
func FuzzSplit(f *testing.F) {
	for _, s := range corpus(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		defer watch(text)()
		checkSplit(t, text)
	})
}

// watch makes a failure of an input that takes too long; the fuzzer itself
// would wait for ever.
func watch(text string) (stop func()) {
	timer := time.AfterFunc(time.Minute, func() { panic(fmt.Sprintf("no end after a minute: %q", text)) })
	return func() { timer.Stop() }
}
