package expr

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/internal/testfile"
)

// TestFlinkFunctions compares the tables of functions with the names of Flink's: each is there or refused with
// a reason, and what Flink has not is listed.
//
//	names   what becomes of each name of Flink
//	ours    further names
func TestFlinkFunctions(t *testing.T) {
	ours := map[string]string{}
	for _, f := range Functions() {
		what := "scalar"
		if f.Hidden {
			what = "operator"
		}
		ours[f.Name] = what
		for _, a := range f.Aliases {
			ours[a] = what + ", is " + f.Name
		}
	}
	for _, a := range Aggregates() {
		ours[a.Name] = "aggregate"
	}
	for name, r := range notYet() {
		require.Empty(t, ours[name], "%s is there and refused", name)
		ours[name] = strings.TrimSpace("refused: " + r.why)
	}
	seen := map[string]bool{}
	testfile.Run(t, "testdata/flink.names", func(t *testing.T, c *testfile.Case) string {
		var out []string
		switch c.Cmd {
		case "names":
			for _, name := range strings.Fields(c.Input) {
				key := name
				if strings.HasPrefix(key, "IS_") && ours[key] == "" || key == "SIMILAR_TO" {
					key = strings.ReplaceAll(key, "_", " ")
				}
				require.False(t, seen[key], "%s is listed twice", name)
				seen[key] = true
				require.NotEmpty(t, ours[key], "%s is neither there nor refused", name)
				out = append(out, fmt.Sprintf("%-28s %s", name, ours[key]))
			}
		case "ours":
			for name, what := range ours {
				if !seen[name] {
					out = append(out, fmt.Sprintf("%-28s %s", name, what))
				}
			}
			sort.Strings(out)
		}
		return strings.Join(out, "\n") + "\n"
	})
}
