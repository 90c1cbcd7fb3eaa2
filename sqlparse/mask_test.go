package sqlparse

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is a name stays, also one that is spelt like what is masked; lines stay lines.
func TestMaskSpans(t *testing.T) {
	x := func(piece string) (list []Span) {
		for i := 0; i < len(piece); i++ {
			if strings.HasPrefix(piece[i:], "x\ny") {
				list = append(list, Span{i, i + 3})
			} else if piece[i] == 'x' {
				list = append(list, Span{i, i + 1})
			}
		}
		return list
	}
	text := "select x, 'ax', `x` -- x\nfrom t where y = 'x\ny' /* x */ and x = 'x"
	require.Equal(t, "select x, 'a*', `x` -- *\nfrom t where y = '*\n*' /* * */ and x = '*", MaskSpans(text, x, x))
	require.Equal(t, "select x, 'ax', `x` -- *\nfrom t where y = 'x\ny' /* * */ and x = 'x", MaskSpans(text, nil, x))
	require.Equal(t, text, MaskSpans(text, nil, nil))
	require.Equal(t, "SET 'password' = '**\n*'", MaskSecrets("SET 'password' = 'ab\nc'"))
}
