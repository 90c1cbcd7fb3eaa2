package main

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPromisePage holds the page against the suite: it has every row, sink, promise and mutant that there is, and a
// number in each cell. The numbers themselves are those of the full run.
func TestPromisePage(t *testing.T) {
	old, have, err := readPromise()
	require.NoError(t, err)
	number := regexp.MustCompile(`^[1-9][0-9]*$`)
	page := promisePage(
		func(key tallyKey) string {
			require.Regexp(t, number, old.count[key], "%v has no run", key)
			return old.count[key]
		},
		func(m mutant) string {
			require.Regexp(t, `^[1-9][0-9]* of [1-9][0-9]*$`, old.mutants[m.key()], "mutant %s has no run", m.key())
			return old.mutants[m.key()]
		},
		func(key string) string {
			require.Regexp(t, `^[0-9]+, [0-9]+ \| [0-9]+, [0-9]+ \| 0$`, old.kills[key], "%s has no kill", key)
			return old.kills[key]
		},
	)
	require.Equal(t, page, have, "%s is stale: run make proof", promiseFile)
}
