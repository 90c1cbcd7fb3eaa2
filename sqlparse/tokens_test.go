package sqlparse

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Twice the text takes about twice the time, whatever is wrong with it: with a
// second look at everything for each statement, quote or comment, none of these
// would end in the time that is given.
func TestTokensLinear(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("select a from t whre b = 1;\n", 40_000),
		strings.Repeat("'", 1_000_001),
		strings.Repeat("`a", 500_001),
		strings.Repeat("/* c */ ", 100_000),
		strings.Repeat("-- c\n", 200_000) + "/* open",
		strings.Repeat("\\d t\n", 200_000),
		strings.Repeat("a\\G", 200_000),
		strings.Repeat("(", 1_000_000),
		strings.Repeat("/*+ a ", 100_000),
		"select " + strings.Repeat("comment, ", 100_000) + "comment",
		"execute statement set begin " + strings.Repeat("insert into t values (1); ", 40_000),
	} {
		start := time.Now()
		checkTokens(t, text)
		require.Less(t, time.Since(start), time.Minute, text[:10])
	}
}

// The tokens of a text and those of what is typed of it so far are the same, but
// for words that the parser needs the rest for.
func TestTokensWhileTyping(t *testing.T) {
	text := "select a, `b` from t where c = 'x' and d > 1.5 -- e"
	whole := Tokens(text)
	for n := range len(text) {
		for i, x := range Tokens(text[:n]) {
			if x.End < n {
				require.Equal(t, whole[i], x, "%q", text[:n])
			}
		}
	}
}

// What the tree of a new statement holds is walked.
func TestWalkStatements(t *testing.T) {
	for text, want := range map[string]int{
		"alter table t add (a int, b as x + 1, watermark for c as y)":                     3,
		"alter table t modify b as x":                                                     1,
		"alter table t add partition (a = x) partition (a = y)":                           2,
		"alter table t drop partition (a = x)":                                            1,
		"show partitions t partition (a = x)":                                             1,
		"create view v as select x, y":                                                    2,
		"alter view v as select x":                                                        1,
		"execute statement set begin insert into t select x; insert into t select y; end": 2,
		"explain statement set begin insert into t select x; end":                         1,
	} {
		s, err := Parse(text)
		require.NoError(t, err)
		n := 0
		Walk(s, func(n2 Node) bool {
			switch n2.(type) {
			case *ColumnRef, *ScalarType:
				n++
			}
			return true
		})
		require.Equal(t, want, n, text)
	}
}
