package sqlparse

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// TestData runs testdata/*.test. Directives:
//
//	parse     prints the canonical form; that must parse to an equal tree
//	expr, type  the same for a lone expression or data type
//	error     prints the rendered error
//	split     prints the statements, and what is still open
//	unparsed  prints the text masked as one that does not parse, where 'type' and 'path' are public
//	mask      prints the text with its secrets masked
//	tokens    prints the tokens and their classes
//
// With the argument escapes, \t, \r, \n, \0, \e and some more in the input are
// replaced: see unescape.
func TestData(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if !strings.HasSuffix(path, ".test") {
			return
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			input := d.Input
			if d.HasArg("escapes") {
				input = unescape(input)
			}
			switch d.Cmd {
			case "parse":
				return runEach(t, input, func(text string) (Node, error) { s, err := Parse(text); return s, err })
			case "expr":
				return runLines(t, input, func(text string) (Node, error) { s, err := parseExpr(text); return s, err })
			case "type":
				return runLines(t, input, func(text string) (Node, error) { s, err := parseType(text); return s, err })
			case "error":
				return runErrors(input)
			case "split":
				return runSplit(input)
			case "tokens":
				return runTokens(t, input)
			case "unparsed":
				out := MaskUnparsed(input, func(_, key string) bool { return key == "type" || key == "path" })
				require.Equal(t, len(input), len(out))
				return out
			case "mask":
				out := MaskSecrets(input)
				require.Equal(t, len(input), len(out))
				return out
			}
			t.Fatalf("unknown directive %s", d.Cmd)
			return ""
		})
	})
}

func unescape(s string) string {
	r := strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\r`, "\r", `\n`, "\n", `\0`, "\x00", `\ufeff`, "\ufeff", `\xe9`, "\xe9", `\u00a0`, "\u00a0", `\e`, "\x1b")
	return r.Replace(s)
}

// runEach parses every statement of a script.
func runEach(t *testing.T, input string, parse func(string) (Node, error)) string {
	list, err := split(input)
	require.NoError(t, err)
	var b strings.Builder
	for _, s := range list {
		b.WriteString(roundTrip(t, s.Text, parse))
	}
	return b.String()
}

func runLines(t *testing.T, input string, parse func(string) (Node, error)) string {
	var b strings.Builder
	for _, line := range strings.Split(input, "\n") {
		b.WriteString(roundTrip(t, line, parse))
	}
	return b.String()
}

func roundTrip(t *testing.T, text string, parse func(string) (Node, error)) string {
	t.Helper()
	n, err := parse(text)
	if err != nil {
		return err.(*Error).Render(Source{Text: text})
	}
	out := Print(n)
	again, err := parse(out)
	require.NoError(t, err, "the printed form: %s", out)
	require.True(t, equal(n, again), "%s\nis not the same as\n%s", out, Print(again))
	require.Equal(t, out, Print(again))
	checkSpans(t, n, text)
	return out + "\n"
}

// checkSpans sees to it that every node lies within its text, and children
// within their parents.
func checkSpans(t *testing.T, n Node, text string) {
	Walk(n, func(n Node) bool {
		s := n.Span()
		require.True(t, 0 <= s.Start && s.Start <= s.End && s.End <= len(text), "%T %v in %q", n, s, text)
		n.children(func(c Node) {
			in := c.Span()
			require.True(t, s.Start <= in.Start && in.End <= s.End, "%T %v holds %T %v in %q", n, s, c, in, text)
		})
		return true
	})
}

// runErrors renders the first error of a script.
func runErrors(input string) string {
	list, err := split(input)
	for _, s := range list {
		if _, err := Parse(s.Text); err != nil {
			return err.(*Error).Render(Source{Name: "q.sql", Text: input, Offset: s.Offset})
		}
	}
	if err != nil {
		return err.(*Error).Render(Source{Name: "q.sql", Text: input})
	}
	return "no error\n"
}

func runSplit(input string) string {
	var b strings.Builder
	list, err := split(input)
	for _, s := range list {
		fmt.Fprintf(&b, "%d:%d +%d %q", s.Line, s.Column, s.Offset, s.Text)
		if s.Vertical {
			b.WriteString(" vertical")
		}
		if s.Command {
			b.WriteString(" command")
		}
		b.WriteByte('\n')
	}
	if err != nil {
		b.WriteString(err.(*Error).Render(Source{Name: "q.sql", Text: input}))
	}
	return b.String()
}

func runTokens(t *testing.T, input string) string {
	checkTokens(t, input)
	var b strings.Builder
	for _, x := range Tokens(input) {
		name := [...]string{"keyword", "name", "string", "number", "comment", "operator", "open"}[x.Class]
		fmt.Fprintf(&b, "%-8s %q\n", name, input[x.Start:x.End])
	}
	return b.String()
}

// checkTokens sees to it that the tokens are in order and leave out only space,
// and that no character is cut.
func checkTokens(t *testing.T, text string) {
	at := 0
	gap := func(to int) {
		left := text[at:to]
		if at == 0 {
			left = left[skipBOM(left):]
		}
		require.Empty(t, strings.TrimRight(left, commandSpace), "%q", text)
	}
	for _, x := range Tokens(text) {
		require.True(t, at <= x.Start && x.Start < x.End && x.End <= len(text), "%q: %v", text, x)
		gap(x.Start)
		at = x.End
	}
	gap(len(text))
}

// corpus returns the inputs of all .test files, for fuzzing.
func corpus(t testing.TB) []string {
	files, err := filepath.Glob("testdata/*.test")
	require.NoError(t, err)
	var list []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, block := range strings.Split(string(text), "\n\n") {
			var lines []string
			for i, line := range strings.Split(block, "\n") {
				if line == "----" {
					break
				}
				if i > 0 && !strings.HasPrefix(line, "#") {
					lines = append(lines, line)
				}
			}
			if s := strings.Join(lines, "\n"); s != "" {
				list = append(list, s)
				list = append(list, lines...)
			}
		}
	}
	return list
}
