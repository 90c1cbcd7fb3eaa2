//go:build unix

package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/connector/jdbc"
	"github.com/sluice-sql/sluice/internal/testfile"
	"github.com/sluice-sql/sluice/internal/testserver"
	"github.com/sluice-sql/sluice/session"
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

// Ctrl-C while a server works at a view that sleeps: the statement ends at once, and so do its sessions, with what they
// run on the server.
func TestCancelReachesTheServer(t *testing.T) {
	for _, s := range []*testserver.Server{testserver.Postgres(t), testserver.MariaDB(t)} {
		db := s.Database(t)
		view := "SELECT 1 AS a, pg_sleep(600)::text AS b"
		if s.Kind == "mysql" {
			view = "SELECT 1 AS a, SLEEP(600) AS b"
		}
		s.Query(t, db, "CREATE TABLE had (a int); INSERT INTO had VALUES (1); CREATE TABLE keyed (a int PRIMARY KEY); INSERT INTO keyed VALUES (1); CREATE VIEW slow AS "+view)
		w := newWorld(t, nil)
		require.Equal(t, "ok\nok\n", w.script(t, "CREATE CATALOG c WITH ('type' = 'jdbc', "+login(s, "base-url", db)+"); USE CATALOG c;", false))
		for _, sql := range []string{"SELECT * FROM slow", "CREATE TABLE t AS SELECT a FROM slow WHERE b IS NOT NULL", "INSERT INTO had SELECT a FROM slow WHERE b IS NOT NULL",
			"REPLACE TABLE had AS SELECT a FROM slow WHERE b IS NOT NULL", "DELETE FROM keyed WHERE a IN (SELECT a FROM slow WHERE b IS NOT NULL)"} {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				res, err := w.Execute(ctx, session.Text{SQL: sql})
				if err == nil {
					_, err = res.Next(ctx)
					_ = res.Close()
				}
				done <- err
			}()
			for running := time.Now(); !strings.Contains(strings.Join(s.Sessions(t), "\n"), "slow"); time.Sleep(10 * time.Millisecond) {
				select {
				case err := <-done:
					t.Fatalf("%s on %s has ended: %v", sql, s.Kind, err)
				default:
					require.Less(t, time.Since(running), time.Minute, "%s: %v", sql, s.Sessions(t))
				}
			}
			start := time.Now()
			cancel()
			select {
			case err := <-done:
				var e *session.Error
				require.ErrorAs(t, err, &e, sql)
				require.True(t, e.Canceled, "%s: %v", sql, err)
			case <-time.After(time.Minute): // the view takes ten
				t.Fatalf("%s on %s does not end", sql, s.Kind)
			}
			t.Logf("%s: %s ended after %s", s.Kind, sql, time.Since(start).Round(time.Millisecond))
			s.NoSessions(t)
		}
		require.Equal(t, "a INT\n1\na INT NOT NULL\n1\n", w.script(t, "SELECT * FROM had; SELECT * FROM keyed", false))
		require.Equal(t, "table name\nhad\nkeyed\nslow\n", w.script(t, "SHOW TABLES", false))
	}
}

// TestReaderLoopOfServers is TestReaderLoop on servers. Their tables have no key there, by which UPDATE finds its rows.
func TestReaderLoopOfServers(t *testing.T) {
	for _, s := range []*testserver.Server{testserver.Postgres(t), testserver.MariaDB(t)} {
		t.Run(s.Kind, func(t *testing.T) {
			readerLoop(t, way{name: "default on " + s.Kind, options: map[string]string{"parallelism.default": "2"}, server: s}, 30, replacing())
			s.NoSessions(t)
		})
	}
}
