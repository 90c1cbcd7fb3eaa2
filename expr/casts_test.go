package expr

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/internal/testfile"
	"github.com/sluice-sql/sluice/types"
)

// castSamples are the types of the matrix and values of each, ordinary ones and the extremes.
var castSamples = []struct{ short, name, values string }{
	{"BOOL", "BOOLEAN", "TRUE | FALSE"},
	{"TINY", "TINYINT", "0 | 127 | -128"},
	{"SMALL", "SMALLINT", "1 | 32767 | -32768"},
	{"INT", "INT", "12 | 2147483647 | -2147483648"},
	{"BIG", "BIGINT", "-7 | 9223372036854775807 | -9223372036854775808"},
	{"FLOAT", "FLOAT", "1.5e0 | 3e38 | -3e38 | CAST('NaN' AS FLOAT) | CAST('Infinity' AS FLOAT)"},
	{"DOUBLE", "DOUBLE", "-0.5e0 | 1e308 | -1e308 | CAST('NaN' AS DOUBLE) | CAST('-Infinity' AS DOUBLE)"},
	{"DEC", "DECIMAL(38, 10)", "12.34 | 9999999999999999999999999999 | -0.0000000001"},
	{"dec", "DECIMAL(5, 2)", "1.25 | 999.99 | -999.99"},
	{"CHAR", "CHAR(3)", "'abc' | '12 ' | 'äöü'"},
	{"STRING", "STRING", "'abc' | '' | ' 12 ' | 'true' | '2024-05-17' | '13:40:00' | '2024-05-17 13:40:00.123456789' | '-1.5e3' | '9999999999999999999' | '(1, 2)'"},
	{"BIN", "BINARY(3)", "X'414243' | X'FF0001'"},
	{"BYTES", "BYTES", "X'' | X'4142434445' | X'FFFE'"},
	{"DATE", "DATE", "DATE '2024-05-17' | DATE '0001-01-01' | DATE '9999-12-31'"},
	{"TIME", "TIME(3)", "TIME '13:40:00.123' | TIME '00:00:00' | TIME '23:59:59.999'"},
	{"TS0", "TIMESTAMP(0)", "TIMESTAMP '2024-05-17 13:40:00' | TIMESTAMP '0001-01-01 00:00:00' | TIMESTAMP '9999-12-31 23:59:59'"},
	{"TS9", "TIMESTAMP(9)", "TIMESTAMP '2024-05-17 13:40:00.123456789' | TIMESTAMP '1969-12-31 23:59:59.999999999'"},
	{"LTZ", "TIMESTAMP_LTZ(3)", "TIMESTAMP '2024-05-17 13:40:00.123' | TIMESTAMP '2024-03-31 02:30:00'"},
	{"YM", "INTERVAL YEAR TO MONTH", "INTERVAL '14' MONTH | INTERVAL '-1' YEAR"},
	{"DT", "INTERVAL DAY TO SECOND(3)", "INTERVAL '1' DAY | INTERVAL '-1' SECOND"},
	{"ARRAY", "ARRAY<INT>", "ARRAY[1, NULL] | ARRAY[2147483647]"},
	{"ARRAYs", "ARRAY<STRING>", "ARRAY['1'] | ARRAY['x', NULL]"},
	{"ARRAYd", "ARRAY<DATE>", "ARRAY[DATE '2024-05-17']"},
	{"MULTI", "MULTISET<INT>", "MULTISET[1, 1]"},
	{"MAP", "MAP<STRING, INT>", "MAP['a', 1] | MAP['1', NULL]"},
	{"MAPi", "MAP<INT, BIGINT>", "MAP[1, 9223372036854775807]"},
	{"ROW", "ROW<a INT, b STRING>", "ROW(1, 'x') | ROW(NULL, NULL)"},
	{"ROWs", "ROW<x STRING, y STRING>", "ROW('1', 'x') | ROW('x', 'y')"},
	{"ROW1", "ROW<a INT>", "ROW(1)"},
}

// TestCastMatrix prints which type casts to which: = itself, Y always, ! perhaps, . never, and in lower case y what
// INSERT stores without a CAST. For every value of every pair it checks that no value fails where none should, that
// TRY_CAST is NULL exactly where CAST fails, and that what is found folded is found over vectors.
func TestCastMatrix(t *testing.T) {
	env := testEnv(t)
	testfile.Run(t, "testdata/casts.matrix", func(t *testing.T, c *testfile.Case) string {
		var out strings.Builder
		fmt.Fprintf(&out, "%-7s", "")
		for _, to := range castSamples {
			fmt.Fprintf(&out, "%-7s", to.short)
		}
		out.WriteByte('\n')
		for _, from := range castSamples {
			line := fmt.Sprintf("%-7s", from.short)
			for _, to := range castSamples {
				line += fmt.Sprintf("%-7s", castCell(t, from.name, to.name, from.values, env, c.Cmd == "implicit"))
			}
			out.WriteString(strings.TrimRight(line, " ") + "\n")
		}
		return out.String()
	})
}

func castCell(t *testing.T, from, to, values string, env *Env, implicit bool) string {
	target, err := types.ParseType(to)
	require.NoError(t, err)
	source, err := types.ParseType(from)
	require.NoError(t, err)
	if source.SameKind(target) {
		return "="
	}
	if implicit {
		if _, err := Coerce(&Column{T: source}, target); err != nil {
			return "."
		}
		return "Y"
	}
	c, err := NewCast(&Column{T: source}, target, false, Span{})
	if err != nil {
		_, err := NewCast(&Column{T: source}, target, true, Span{})
		require.Error(t, err, "TRY_CAST from %s to %s", from, to)
		return "."
	}
	cell := "Y"
	if Fallible(c) {
		cell = "!"
	}
	for _, v := range strings.Split(values, "|") {
		src := fmt.Sprintf("CAST(CAST(%s AS %s) AS %s)", strings.TrimSpace(v), from, to)
		got := evalAllWays(t, src, env)
		tried := evalAllWays(t, "TRY_"+src, env)
		if strings.HasPrefix(got, "error") {
			require.Equal(t, "!", cell, "%s: %s", src, got)
			require.Equal(t, "NULL", tried, src)
			continue
		}
		require.Equal(t, got, tried, src)
	}
	return cell
}
