// Package docs_test keeps the printed pages of this folder equal to the tables in the code they are
// printed from. Run `go test ./docs -update` to print them again.
package docs_test

import (
	"flag"
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/expr"
)

var update = flag.Bool("update", false, "print the pages again")

// check compares a page with what the code says, or writes it.
func check(t *testing.T, file, want string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
		return
	}
	have, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, want, string(have), "docs/%s is stale: run go test ./docs -update", file)
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func TestFunctions(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Functions\n\nPrinted from the function tables in package `expr`. Every example runs as a test.\n")
	groups := map[string][]*expr.Function{}
	var names []string
	for _, f := range expr.Functions() {
		if groups[f.Group] == nil {
			names = append(names, f.Group)
		}
		groups[f.Group] = append(groups[f.Group], f)
	}
	sort.Strings(names)
	for _, g := range names {
		fmt.Fprintf(&b, "\n## %s\n\n| function | what it returns | example | gives |\n|---|---|---|---|\n", strings.ToUpper(g[:1])+g[1:])
		for _, f := range groups[g] {
			fmt.Fprintf(&b, "| `%s` | %s | `%s` | `%s` |\n", cell(f.Syntax), cell(f.Doc), cell(f.Example), cell(f.Result))
		}
	}
	b.WriteString("\n## Aggregates\n\nThe examples are over a column `x` of the values 1, 2, 2 and NULL.\n\n| function | what it returns | example | gives |\n|---|---|---|---|\n")
	for _, a := range expr.Aggregates() {
		fmt.Fprintf(&b, "| `%s` | %s | `%s` | `%s` |\n", cell(a.Syntax), cell(a.Doc), cell(a.Example), cell(a.Result))
	}
	check(t, "functions.md", b.String())
}
