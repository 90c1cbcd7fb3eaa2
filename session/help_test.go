package session

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"unicode/utf8"
)

// HELP FUNCTIONS names every function, SHOW FUNCTIONS every name that can be called, and there is help on
// each; no line of help is wider than a screen.
func TestHelpFunctions(t *testing.T) {
	list := helpFunctions()
	names := functionNames()
	require.IsIncreasing(t, names)
	for _, f := range allFunctions() {
		if f.names[0] != "NEG" {
			require.Regexp(t, `(?m)(^|  | )`+regexp.QuoteMeta(f.names[0])+`(  |$)`, list)
		}
		for _, name := range f.names {
			require.Equal(t, !f.operator, strings.Contains("\n"+strings.Join(names, "\n")+"\n", "\n"+name+"\n"), name)
			found, ok := findFunction(strings.ToLower(name))
			require.True(t, ok, name)
			require.Equal(t, f.syntax, found.syntax)
			text := helpFunction(found)
			require.Contains(t, strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(f.doc), " "))
			list += text
		}
	}
	for _, line := range strings.Split(list+helpText(), "\n") {
		require.LessOrEqual(t, utf8.RuneCountInString(line), helpWidth, line)
	}
}
