package repl

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/types"
)

// Columns of one name get keys of their own, which are no other column's.
func TestDistinctNames(t *testing.T) {
	schema := func(names ...string) (s types.Schema) {
		for _, n := range names {
			s.Columns = append(s.Columns, types.Column{Name: n})
		}
		return s
	}
	require.Equal(t, []string{"a", "b"}, distinctNames(schema("a", "b")))
	require.Equal(t, []string{"a", "a1", "A", "a2"}, distinctNames(schema("a", "a", "A", "a")))
	require.Equal(t, []string{"a", "a2", "a1"}, distinctNames(schema("a", "a", "a1")))
}
