package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Texts that functions make count against the budget, also before anybody keeps them: an error names it, and
// what was reserved is given back.
func TestTextsOfFunctions(t *testing.T) {
	for _, parallelism := range []string{"1", "4"} {
		w := newWorld(t, map[string]string{"sluice.memory": "40 mb", "parallelism.default": parallelism})
		const from = " FROM (VALUES 1, 2, 3, 4, 5, 6, 7, 8, 9, 10) AS a(x) CROSS JOIN (VALUES 1, 2, 3, 4, 5, 6, 7, 8, 9, 10) AS b(y) CROSS JOIN (VALUES 1, 2, 3, 4, 5, 6, 7, 8, 9, 10) AS c(z)"
		for _, sql := range []string{
			"SELECT SUM(CHAR_LENGTH(REPEAT(CAST(x AS STRING), 1000000)))" + from,
			"SELECT COUNT(*)" + from + " WHERE CHAR_LENGTH(REPEAT(CAST(x AS STRING), 1000000)) > 3",
			"SELECT COUNT(*)" + from + " WHERE x > 0 AND CASE WHEN y > 0 THEN REPEAT(CAST(x AS STRING), 1000000) ELSE 'a' END <> 'a'",
			"SELECT LISTAGG(REPEAT('x', 1000000))" + from,
			"SELECT LISTAGG(REPEAT(CAST(x AS STRING), 1000000))" + from,
		} {
			out := w.script(t, sql, false)
			require.Contains(t, out, "out of memory", sql)
			require.Contains(t, out, "sluice.memory", sql)
			require.Zero(t, w.env.Memory.Used(), sql)
		}
		require.Contains(t, w.script(t, "SELECT SUM(CHAR_LENGTH(REPEAT(CAST(x AS STRING), 1000)))"+from, false), "1100000")
		require.Zero(t, w.env.Memory.Used())
	}
}
