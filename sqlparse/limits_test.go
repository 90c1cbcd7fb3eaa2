package sqlparse

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func parseError(t *testing.T, text string) *Error {
	t.Helper()
	_, err := Parse(text)
	require.Error(t, err)
	return err.(*Error)
}

// Nesting one level below the limit parses and prints; far above it is an error
// that names the limit, never an overflow.
func TestNestingLimit(t *testing.T) {
	nest := func(prefix, open, middle, close string, n int) string {
		return "select " + prefix + strings.Repeat(open, n) + middle + strings.Repeat(close, n)
	}
	for _, c := range []struct{ prefix, open, middle, close string }{
		{"", "(", "1", ")"},
		{"", "- ", "1", ""},
		{"", "not ", "a", ""},
		{"", "f(", "1", ")"},
		{"", "array[", "1", "]"},
		{"", "case when ", "a", " then 1 end"},
		{"", "cast(", "1", " as int)"},
		{"", "(select ", "1", ")"},
		{"", "exists (select ", "1", ")"},
		{"", "x[", "1", "]"},
		{"", "json_array(", "1", ")"},
		{"", "a in (", "1", ")"},
		{"", "a between (", "1", ") and 2"},
		{"", "count(*) over (partition by ", "a", ")"},
		{"", "1 from (select ", "1", ")"},
		{"1 from ", "(", "a", ")"},
		{"1 from ", "a join (", "b", ") on true"},
		{"1 group by ", "rollup (", "a", ")"},
		{"", "cast(1 as int) + (", "1", ")"},
		{"cast(1 as ", "array<", "int", ">"},
		{"cast(1 as ", "row<a ", "int", ">"},
		{"cast(1 as int", " array", "", ""},
		{"", "trim(both from ", "x", ")"},
		{"", "position(a in ", "x", ")"},
		{"1 from ", "(", "select 1", ")"},
		{"", "1 union (select ", "1", ")"},
		{"1 from t match_recognize (pattern (", "(", "a b", ")+"},
	} {
		for _, n := range []int{1, 50, 100_000} {
			text := nest(c.prefix, c.open, c.middle, c.close, n)
			switch {
			case strings.HasPrefix(c.prefix, "cast"):
				text += ")"
			case strings.Contains(c.prefix, "match_recognize"):
				text += ") define a as true)"
			}
			s, err := Parse(text)
			if err != nil {
				e := err.(*Error)
				if n > 1000 {
					require.Contains(t, e.Msg, "nested more than 1000 levels deep", c.open)
				} else if n == 1 {
					require.NoError(t, err, text)
				}
				continue
			}
			require.Less(t, n, 1001, c.open)
			out := Print(s)
			again, err := Parse(out)
			require.NoError(t, err, out)
			require.True(t, equal(s, again), out)
		}
	}
	_, err := Parse(nest("", "(", "1", ")", 990))
	require.NoError(t, err)
}

// A long chain is parsed, printed, walked and compared without recursion that
// the stack would not bear.
func TestChainLimit(t *testing.T) {
	for _, c := range []struct{ first, next string }{
		{"select a", " and a"},
		{"select a", " + a"},
		{"select a", " || 'x'"},
		{"select a", " or b = c and d"},
		{"select a", " is null"},
		{"select a", "[1]"},
		{"select f(a)", ".b"},
		{"select 1", " union all select 1"},
		{"select 1", " intersect select 1"},
		{"select 1 from a", " cross join b"},
		{"select 1 from a", ", b"},
	} {
		text := c.first + strings.Repeat(c.next, 49_000)
		s, err := Parse(text)
		require.NoError(t, err, c.next)
		out := Print(s)
		again, err := Parse(out)
		require.NoError(t, err, c.next)
		require.True(t, equal(s, again))
		n := 0
		Walk(s, func(Node) bool { n++; return true })
		require.Greater(t, n, 49_000)

		e := parseError(t, c.first+strings.Repeat(c.next, 200_000))
		require.Contains(t, e.Msg, "more than 100000 operators in one chain", c.next)
	}
	// Chains within chains add up.
	e := parseError(t, "select "+strings.Repeat("(", 100)+"a"+strings.Repeat(strings.Repeat("+a", 2000)+")", 100))
	require.Contains(t, e.Msg, "more than 100000 operators in one chain")
	// Many chains side by side do not.
	_, err := Parse("values " + strings.Repeat("(1+1+1+1, 2),", 100_000) + "(1, 2)")
	require.NoError(t, err)
}

func TestOperands(t *testing.T) {
	e, err := parseExpr("a and (b or c) and d and not e")
	require.NoError(t, err)
	var got []string
	for _, o := range Operands(e, OpAnd) {
		got = append(got, Print(o))
	}
	require.Equal(t, []string{"`a`", "`b` OR `c`", "`d`", "NOT `e`"}, got)
}

func TestSizeLimits(t *testing.T) {
	columns := strings.Repeat("a, ", MaxColumns)
	for _, text := range []string{
		"select " + columns + "a",
		"insert into t (" + columns + "a) values (1)",
		"create table t (" + strings.Repeat("a int, ", MaxColumns) + "a int)",
		"create table t (" + columns + "a) as select 1",
		"create view v (" + columns + "a) as select 1",
		"alter table t add (" + strings.Repeat("a int, ", MaxColumns) + "a int)",
		"alter table t drop (" + columns + "a)",
		"alter table t drop partition (" + strings.Repeat("a = 1, ", MaxColumns) + "a = 1)",
		"values (" + columns + "a)",
		"select cast(a as row<" + strings.Repeat("a int, ", MaxColumns) + "a int>)",
		"select 1 from t as x (" + columns + "a)",
	} {
		require.Contains(t, parseError(t, text).Msg, "more than 10000 columns", text[:30])
	}
	_, err := Parse("select " + strings.TrimSuffix(columns, ", "))
	require.NoError(t, err)

	big := strings.Repeat("x", MaxLiteral-2)
	_, err = Parse("select '" + big + "'")
	require.NoError(t, err)
	require.Contains(t, parseError(t, "select 1, '"+big+"x'").Msg, "more than 16 MiB")
	require.Equal(t, Span{10, 11}, parseError(t, "select 1, '"+big+"x'").Span)
	require.Contains(t, parseError(t, "select X'"+strings.Repeat("0", MaxLiteral)+"'").Msg, "more than 16 MiB")

	huge := "select '" + strings.Repeat("x", MaxStatement) + "'"
	require.Contains(t, parseError(t, huge).Msg, "more than 64 MiB")
	list, err := split("select 1;" + huge + ";")
	require.Len(t, list, 1)
	require.ErrorContains(t, err, "more than 64 MiB")
	// An endless literal does not fill the memory before it is refused.
	var s Splitter
	s.Feed("select '")
	piece := strings.Repeat("x", 1<<20)
	fed := 0
	for fed = 0; fed < 200; fed++ {
		s.Feed(piece)
		if _, _, err = s.Next(); err != nil {
			break
		}
	}
	require.ErrorContains(t, err, "more than 64 MiB")
	require.Less(t, fed, 70)
}
