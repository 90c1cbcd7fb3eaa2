package testfile

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWalk(t *testing.T) {
	var seen []string
	Walk(t, "testdata", ".test", func(t *testing.T, path string) {
		Run(t, path, func(t *testing.T, c *Case) string {
			seen = append(seen, c.Cmd)
			if c.Cmd == "upper" {
				return strings.ToUpper(c.Input) + "\n"
			}
			require.False(t, Has(c, "once"))
			require.Nil(t, Values(c, "once"))
			s := strings.Join(Values(c, "with"), "+")
			if Has(c, "twice") {
				s += " " + s
			}
			return s + "\n"
		})
	})
	require.Equal(t, []string{"upper", "join", "upper"}, seen)
}
