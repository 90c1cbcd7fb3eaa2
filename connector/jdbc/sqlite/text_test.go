package sqlite

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// writeText makes a file that is not a database.
func writeText(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}
