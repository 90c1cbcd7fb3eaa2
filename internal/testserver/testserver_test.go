//go:build unix

package testserver_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/internal/testserver"
)

func TestServers(t *testing.T) {
	for null, start := range map[string]func(testing.TB) *testserver.Server{`\N`: testserver.Postgres, "NULL": testserver.MariaDB} {
		t.Run("", func(t *testing.T) {
			s := start(t)
			db := s.Database(t)
			require.Equal(t, "1\t"+null+"\n", s.Query(t, db, "CREATE TABLE t (a INT, b INT); INSERT INTO t VALUES (1, NULL); SELECT * FROM t"))
			_, err := s.TryQuery(db, "SELECT * FROM nosuch")
			require.Error(t, err)
			s.NoSessions(t)
			c, err := net.Dial("tcp", testserver.NewProxy(t, s.Addr(), nil).Addr())
			require.NoError(t, err)
			require.NoError(t, c.Close())
		})
	}
}
