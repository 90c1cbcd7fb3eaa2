package repl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Short forms, on a real session and by every road.
func TestCommands(t *testing.T) {
	runScripts(t, "testdata/commands", func() engine { return live{realSession(t)} })
}

// Every short form is in \?, which fits a screen's width, and is tried by the scripts.
func TestCommandsAreListed(t *testing.T) {
	var scripts strings.Builder
	files, err := filepath.Glob("testdata/commands/*.test")
	require.NoError(t, err)
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		scripts.Write(b)
	}
	tried := map[string]bool{`\?`: true, `\h`: true, `\o`: true, `\j`: true, `\timing`: true} // below
	for _, w := range strings.Fields(scripts.String()) {
		tried[w] = true
	}
	code, out, errs := capture(t, nil, func(c Config) int { return runCommand(ctx, newFake(), c, `\?`) })
	require.Zero(t, code, errs)
	for _, c := range Commands() {
		require.Contains(t, out, "  "+c.Form)
		require.True(t, tried[c.word()], c.word())
	}
	for _, l := range strings.Split(out, "\n") {
		require.LessOrEqual(t, len(l), 80, l)
	}
}

// The ones that set an option make the statement that their help says.
func TestCommandsAreStatements(t *testing.T) {
	e := newFake()
	code, _, errs := capture(t, nil, func(c Config) int {
		return runCommand(ctx, e, c, "\\o out ' file.csv\n\\o 'it''s'\n\\o\n\\timing\n\\timing\n\\timing off\n\\h\n\\h create table\n\\j\n\\j ab01\n\\j 'ab'\n\\q\n")
	})
	require.Zero(t, code, errs)
	require.Equal(t, []string{
		"SET 'sluice.output' = 'out '' file.csv'", "SET 'sluice.output' = 'it''s'", "RESET 'sluice.output'",
		"SET 'sluice.timing' = 'true'", "SET 'sluice.timing' = 'false'", "SET 'sluice.timing' = 'false'",
		"HELP", "HELP create table", "SHOW JOBS", "DESCRIBE JOB 'ab01'", "DESCRIBE JOB 'ab'", "QUIT",
	}, e.statements())
}
