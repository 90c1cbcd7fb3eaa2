//go:build unix

package session_test

import (
	"testing"

	"github.com/sluice-sql/sluice/internal/testserver"
)

// postgres is an empty database of the PostgreSQL of this test binary.
type postgres struct {
	server   *testserver.Server
	database string
}

// startPostgres returns a database that goes with the test, or skips the test where PostgreSQL is not installed.
func startPostgres(t *testing.T) *postgres {
	t.Helper()
	s := testserver.Postgres(t)
	return &postgres{s, s.Database(t)}
}

// psql runs a script; the first error ends it.
func (pg *postgres) psql(script string) (string, error) {
	return pg.server.TryQuery(pg.database, script)
}
