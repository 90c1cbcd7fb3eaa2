//go:build unix

package session_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/connector/jdbc"
	"github.com/sluice-sql/sluice/internal/testfile"
	"github.com/sluice-sql/sluice/internal/testserver"
)

// TestStoresOnPostgreSQL runs the scripts of TestStores and TestCases on a server: they say the same as in memory.
func TestStoresOnPostgreSQL(t *testing.T) {
	storesOn(t, "PostgreSQL", testserver.Postgres(t))
}

// TestStoresOnMariaDB is TestStoresOnPostgreSQL with the other server.
func TestStoresOnMariaDB(t *testing.T) {
	storesOn(t, "MariaDB", testserver.MariaDB(t))
}

func storesOn(t *testing.T, name string, s *testserver.Server) {
	list := everyStore()[:1]
	for _, w := range ways() {
		if w.name == "optimizer off" || w.name == "parallelism 4" { // which the server sees nothing of
			continue
		}
		w.name += " on " + name
		w.server = s
		list = append(list, w)
	}
	for _, dir := range []string{"testdata/stores", "testdata/cases"} {
		testfile.Walk(t, dir, ".test", func(t *testing.T, path string) { runEveryWay(t, path, list) })
	}
	s.NoSessions(t)
}

// login is the part of a WITH clause that says where a server is, and as whom it is used.
func login(s database, key, database string) string {
	return fmt.Sprintf("'%s' = '%s', 'username' = '%s', 'password' = '%s'", key, s.URL(database), testserver.User, strings.ReplaceAll(testserver.Password, "'", "''"))
}

// TestServerScripts runs the scripts of testdata/servers, in sessions that have none of the catalogs yet.
//
// In the input, $PG and $MY are databases of their own, with $PG_LOGIN and $MY_LOGIN the options of a catalog there,
// and $PG_TABLE and $MY_TABLE those of a table. The directives psql and mariadb run the server's own client. In the
// output the names and addresses are those variables again.
func TestServerScripts(t *testing.T) {
	t.Setenv("SLUICE_TEST_CANARY", testserver.Password)
	pg, my := testserver.Postgres(t), testserver.MariaDB(t)
	testfile.Walk(t, "testdata/servers", ".test", func(t *testing.T, path string) {
		pgName, myName := pg.Database(t), my.Database(t)
		w := newWorld(t, map[string]string{"parallelism.default": "2"}, jdbc.Connector{})
		in := strings.NewReplacer(
			"$PG_LOGIN", login(pg, "base-url", pgName), "$MY_LOGIN", login(my, "base-url", myName),
			"$PG_TABLE", login(pg, "url", pgName), "$MY_TABLE", login(my, "url", myName),
			"$PG_URL", pg.URL(""), "$MY_URL", my.URL(""), "$PG", pgName, "$MY", myName)
		w.scrub = []string{pg.Addr(), "$PG_ADDR", my.Addr(), "$MY_ADDR", pgName, "$PG", myName, "$MY"}
		testfile.Run(t, path, func(t *testing.T, c *testfile.Case) string {
			text := in.Replace(c.Input)
			var out string
			switch c.Cmd {
			case "sql":
				out = w.script(t, text, testfile.Has(c, "unordered"))
			case "psql":
				out = clientSays(pg.TryQuery(pgName, text))
			case "mariadb":
				out = clientSays(my.TryQuery(myName, text))
			default:
				t.Fatalf("%s: unknown directive %q", c.Pos, c.Cmd)
			}
			out = w.clean(out)
			require.NotContains(t, out, testserver.Password)
			require.NotContains(t, out, testserver.Password[:9])
			return out
		})
	})
	pg.NoSessions(t)
	my.NoSessions(t)
}

// clientSays is what a server's own client printed, or the first line of its error.
func clientSays(out string, err error) string {
	if err == nil {
		return out
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return out + "client: " + first + "\n"
}
