package expr

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func callable(name string) bool {
	f, ok := Lookup(name)
	_, agg := LookupAggregate(name)
	return agg || ok && (!f.Hidden || name == "CASE")
}

// What is not supported yet is not here, and what a hint proposes is, or is refused as such.
func TestRefusedNames(t *testing.T) {
	for name := range notYet() {
		require.False(t, callable(name), "%s is supported: take it off the list", name)
		require.ErrorContains(t, Refusal(strings.ToLower(name), Span{}), name+" is not supported yet")
	}
	calls := regexp.MustCompile(`[A-Z_]+\(`)
	for name, is := range foreign() {
		require.False(t, callable(name), "%s is supported", name)
		require.Nil(t, Refusal(name, Span{}))
		if !strings.Contains(is, " ") {
			require.True(t, callable(is) || notYet()[is].kind != "", "%s: there is no %s", name, is)
			continue
		}
		for _, c := range calls.FindAllString(is, -1) {
			c = strings.TrimSuffix(c, "(")
			require.True(t, callable(c) || c == "CAST" || c == "DECIMAL", "%s: there is no %s", name, c)
		}
	}
}

func TestSuggestions(t *testing.T) {
	for name, want := range map[string]string{
		"uper": "did you mean UPPER?", "lenght": "did you mean CHAR_LENGTH?", "Length": "did you mean CHAR_LENGTH?",
		"substrng": "did you mean SUBSTRING?", "coalsce": "did you mean COALESCE?", "summ": "did you mean SUM?", "cuont": "did you mean COUNT?",
		"nvl": "did you mean COALESCE?", "stftime": "did you mean DATE_FORMAT?", "datedif": "did you mean TIMESTAMPDIFF?",
		"string_agg": "did you mean LISTAGG?", "lisagg": "did you mean LISTAGG?",
		"to_char": "write DATE_FORMAT(time, format), or CAST(x AS STRING)", "starts_with": "did you mean STARTSWITH?",
		"foo": "", "nofunc": "", "nosuch": "", "my_own_function": "",
	} {
		require.Equal(t, want, suggestion(name), name)
	}
}
