//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/internal/testserver"
)

// The README's session with a server is what happens, at another address.
func TestReadmeServer(t *testing.T) {
	const head = "<!-- recorded: go test . -run Readme -args -record -->\n```\n$ export PGPASSWORD=…\n$ ./sluice shop.db\n"
	s := testserver.Postgres(t)
	s.Query(t, "postgres", "CREATE ROLE me LOGIN PASSWORD 'of me'; CREATE DATABASE warehouse OWNER me")
	t.Cleanup(func() { s.Query(t, "postgres", "DROP DATABASE warehouse WITH (FORCE); DROP ROLE me") })
	t.Setenv("PGPASSWORD", "of me")
	run, shop := readmeShop(t)
	checkSession(t, head, func(typed string) string {
		s.Query(t, "warehouse", `DROP SCHEMA IF EXISTS public, sales CASCADE; CREATE SCHEMA public AUTHORIZATION me; CREATE SCHEMA sales AUTHORIZATION me;
			SET ROLE me; CREATE TABLE sales.regions (city text PRIMARY KEY, region varchar(20)); INSERT INTO sales.regions VALUES ('London', 'north'), ('New York', 'west')`)
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "shop.db"), shop, 0o644))
		out := run(dir, strings.ReplaceAll(typed, "localhost:5432", s.Addr()), "--on-error", "continue", "shop.db")
		return strings.ReplaceAll(out, s.Addr(), "localhost:5432")
	})
}
