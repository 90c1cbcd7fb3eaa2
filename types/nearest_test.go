package types

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNearest(t *testing.T) {
	words := []string{"SELECT", "Selected", "WHERE", "by", "BE"}
	for _, c := range []struct {
		name string
		most int
		want string
	}{
		{"selct", 2, "SELECT"}, {"SELECTE", 2, "SELECT"}, {"selectd", 2, "SELECT"}, {"WHREE", 1, "WHERE"}, {"WEHR", 2, "WHERE"},
		{"WEHR", 1, ""}, {"b", 2, ""}, {"bx", 2, "by"}, {"select", 0, "SELECT"}, {"selec", 0, ""}, {"", 2, ""}, {"xyz", 9, ""},
		{strings.Repeat("x", 1000), 1000, ""},
	} {
		require.Equal(t, c.want, Nearest(c.name, words, c.most), "%.20s, %d", c.name, c.most)
	}
}
