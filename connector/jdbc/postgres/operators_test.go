package postgres

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An operator that is looked up by its name alone may be one that somebody has put into the schema public: it would
// run with our user's rights. Texts of SQL join with the one of pg_catalog.
func TestOperatorsAreQualified(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	ofGo := regexp.MustCompile(`[!=<>]=? '\\?.'`) // a byte is compared
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		code, err := os.ReadFile(name)
		require.NoError(t, err)
		for i, line := range strings.Split(string(code), "\n") {
			require.NotRegexp(t, `' \|\| |\|\| '`, ofGo.ReplaceAllString(line, ""), "%s:%d", name, i+1)
		}
	}
}
