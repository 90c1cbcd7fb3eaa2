package mysql

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A cluster whose nodes all take writes is known by its variables; one server is none, whatever it is built with.
func TestClusterOf(t *testing.T) {
	for _, x := range []struct {
		variables map[string]string
		want      string
	}{
		{nil, ""},
		{map[string]string{"wsrep_on": "OFF", "wsrep_provider": "/usr/lib/galera.so"}, ""},
		{map[string]string{"wsrep_on": "ON", "wsrep_provider": "none"}, ""},
		{map[string]string{"wsrep_on": "ON", "wsrep_provider": "/usr/lib/galera.so"}, "Galera"},
		{map[string]string{"group_replication_group_name": "", "group_replication_single_primary_mode": "OFF"}, ""},
		{map[string]string{"group_replication_group_name": "g", "group_replication_single_primary_mode": "ON"}, ""},
		{map[string]string{"group_replication_group_name": "g", "group_replication_single_primary_mode": "OFF"}, "a group with several primaries"},
	} {
		require.Equal(t, x.want, clusterOf(x.variables), "%v", x.variables)
	}
	f := setUp(t)
	require.NoError(t, f.s.with(f.ctx, "", func(c *conn) error { return c.oneNode(f.ctx) }))
}
