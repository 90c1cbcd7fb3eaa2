package postgres

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/internal/testserver"
	"github.com/sluice-sql/sluice/types"
)

func defOf(s types.Schema) server.Definition { return server.Definition{Schema: s} }

// TestConnect: why a server cannot be used is said in plain words, and never with the password.
func TestConnect(t *testing.T) {
	f := setUp(t)
	require.NoError(t, f.s.Ping(f.ctx, f.db))
	require.Equal(t, "postgresql://"+testserver.User+"@"+f.ts.Addr(), f.s.Key())
	err := f.s.Ping(f.ctx, "nosuch")
	require.ErrorIs(t, err, server.ErrNoDatabase)
	c := f.s.config
	c.Password = connector.NewSecret(testserver.Password + "x")
	err = Dialect{}.Server(c).Ping(f.ctx, f.db)
	require.ErrorContains(t, err, "the server refuses user "+testserver.User+": password authentication failed")
	require.ErrorContains(t, err, "; look at 'username' and 'password'")
	require.NotContains(t, err.Error(), "no password was given")
	require.NotContains(t, err.Error(), testserver.Password)
	c.Password = connector.Secret{}
	err = Dialect{}.Server(c).Ping(f.ctx, f.db)
	require.ErrorContains(t, err, "PostgreSQL "+f.ts.Addr())
	require.ErrorContains(t, err, "look at 'username' and 'password': no password was given, or what 'password' leads to is empty")
	err = f.server("127.0.0.1:1", nil, nil).Ping(f.ctx, f.db)
	require.EqualError(t, err, "PostgreSQL 127.0.0.1:1: cannot connect: connection refused; is the server running, and does it listen at this address?")
	err = f.server("nosuch.invalid:5432", map[string]string{"connectTimeout": "5"}, nil).Ping(f.ctx, f.db)
	require.ErrorContains(t, err, "PostgreSQL nosuch.invalid:5432: cannot connect: ")
	require.NotContains(t, err.Error(), testserver.Password)
	err = f.server(f.ts.Addr(), map[string]string{"sslmode": "require"}, nil).Ping(f.ctx, f.db)
	require.EqualError(t, err, "PostgreSQL "+f.ts.Addr()+": cannot connect: the server does not speak TLS, which sslmode=require asks for")
	err = f.server(f.ts.Addr(), map[string]string{"sslrootcert": "/nosuch/root.crt", "sslmode": "verify-full"}, nil).Ping(f.ctx, f.db)
	require.ErrorContains(t, err, "PostgreSQL "+f.ts.Addr()+": ")
	require.NotContains(t, err.Error(), testserver.Password)
	require.ErrorContains(t, f.s.Ping(f.ctx, strings.Repeat("x", 64)), "at most 63 bytes")

	// What is no PostgreSQL is told as such, whatever it says first.
	for _, greeting := range []string{"h\x00\x00\x00\x0a5.5.5-10.11.6-MariaDB\x00\x01\x02\x03", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = c.Write([]byte(greeting))
				go func() { _, _ = io.Copy(io.Discard, c); _ = c.Close() }()
			}
		}()
		for _, mode := range []string{"prefer", "disable"} {
			err := f.server(l.Addr().String(), map[string]string{"sslmode": mode, "connectTimeout": "2"}, nil).Ping(f.ctx, f.db)
			require.EqualError(t, err, "PostgreSQL "+l.Addr().String()+": cannot connect: what answers there is no PostgreSQL server; is the port right?", greeting)
		}
		require.NoError(t, l.Close())
	}

	// A listener that never answers is given up.
	_, p := f.proxied(func(testserver.Direction, []byte) testserver.Verdict { return testserver.Drop })
	start := time.Now()
	err = f.server(p.Addr(), map[string]string{"connectTimeout": "1"}, nil).Ping(f.ctx, f.db)
	require.ErrorContains(t, err, "no answer in time")
	require.Less(t, time.Since(start), 9*time.Second) // it is ten where nothing is given

	s := f.server(f.ts.Addr(), map[string]string{"ApplicationName": "my app", "options": "-c work_mem=5MB"}, nil)
	require.NoError(t, s.with(f.ctx, f.db, func(c *conn) error {
		got, err := c.one(f.ctx, "SELECT current_setting('application_name') || ' ' || current_setting('work_mem')")
		require.Equal(t, "my app 5MB", got)
		return err
	}))
}

// TestEnvironment: what is set for PostgreSQL's own programs does not change what an address means.
func TestEnvironment(t *testing.T) {
	f := setUp(t)
	for _, kv := range [][2]string{{"PGHOST", "nosuch.invalid"}, {"PGPORT", "1"}, {"PGUSER", "nobody"}, {"PGDATABASE", "nosuch"}, {"PGPASSWORD", "wrong"}, {"PGSSLMODE", "verify-full"}, {"PGOPTIONS", "-c work_mem=nonsense"}, {"PGAPPNAME", "other"}, {"PGTARGETSESSIONATTRS", "standby"}, {"PGCONNECT_TIMEOUT", "x"}, {"PGPASSFILE", "/nosuch"}, {"PGSSLROOTCERT", "/nosuch"}, {"PGCHANNELBINDING", "require"}, {"PGREQUIREAUTH", "none"}} {
		t.Setenv(kv[0], kv[1])
		require.NoError(t, f.s.Ping(f.ctx, f.db), kv)
		require.NoError(t, f.server(f.ts.Addr(), nil, nil).Ping(f.ctx, f.db), kv)
		require.NoError(t, os.Unsetenv(kv[0]))
	}
}

// TestCheckParameter: parameters of an address are checked, and those of pgjdbc that are not taken lead on.
func TestCheckParameter(t *testing.T) {
	for kv, want := range map[string]string{
		"sslmode=require":        "",
		"sslmode=on":             "parameter sslmode: want one of disable, allow, prefer, require, verify-ca, verify-full",
		"connectTimeout=5":       "",
		"connectTimeout=soon":    "parameter connectTimeout: want a number of seconds",
		"connectTimeout=-1":      "parameter connectTimeout: want a number of seconds",
		"ApplicationName=x":      "",
		"password=x":             "parameter password: give it as the option 'password'",
		"user=x":                 "parameter user: give it as the option 'username'",
		"currentSchema=x":        "write the schema in the table's name, as schema.table",
		"ssl=true":               "write sslmode=require or sslmode=verify-full instead",
		"sslMode=require":        "unknown parameter sslMode; did you mean sslmode?",
		"reWriteBatchedInserts=": "unknown parameter reWriteBatchedInserts; supported: sslmode",
		"options=a\x00":          "has a NUL character",
	} {
		key, value, _ := strings.Cut(kv, "=")
		got := Dialect{}.CheckParameter(key, value)
		if want == "" {
			require.Empty(t, got, kv)
		} else {
			require.Contains(t, got, want, kv)
		}
	}
}

// TestDatabases are listed, made and dropped.
func TestDatabases(t *testing.T) {
	f := setUp(t)
	name := `db "x"; --` + f.db
	require.NoError(t, f.s.CreateDatabase(f.ctx, name))
	t.Cleanup(func() { _ = f.s.DropDatabase(f.ctx, name, true) })
	list, err := f.s.ListDatabases(f.ctx)
	require.NoError(t, err)
	require.Contains(t, list, name)
	require.NotContains(t, list, "template1")
	var exists *server.ExistsError
	require.ErrorAs(t, f.s.CreateDatabase(f.ctx, name), &exists)
	_, err = f.s.CreateTable(f.ctx, name, "t", defOf(schema(t, "a INT")))
	require.NoError(t, err)
	require.ErrorIs(t, f.s.DropDatabase(f.ctx, name, false), server.ErrNotEmpty)
	c, err := f.s.connect(f.ctx, name)
	require.NoError(t, err)
	err = f.s.DropDatabase(f.ctx, name, true)
	require.ErrorContains(t, err, "the database is in use by process ")
	require.ErrorContains(t, err, " of "+testserver.User+" (sluice)")
	c.close()
	require.NoError(t, f.s.DropDatabase(f.ctx, name, true))
	require.ErrorIs(t, f.s.DropDatabase(f.ctx, name, true), server.ErrNoDatabase)
	_, err = f.s.ListTables(f.ctx, name)
	require.ErrorIs(t, err, server.ErrNoDatabase)
	require.ErrorContains(t, f.s.CreateDatabase(f.ctx, "_sluice"), "reserved")
	require.ErrorContains(t, f.s.CreateDatabase(f.ctx, ""), "needs a name")
}

// TestDropDatabaseNotEmpty: what a database has that is no table keeps it, too, unless it is of an extension.
func TestDropDatabaseNotEmpty(t *testing.T) {
	f := setUp(t)
	name := "d" + f.db
	require.NoError(t, f.s.CreateDatabase(f.ctx, name))
	t.Cleanup(func() { _ = f.s.DropDatabase(f.ctx, name, true) })
	for _, c := range []struct{ made, gone, want string }{
		{"CREATE SEQUENCE invoice_no", "DROP SEQUENCE invoice_no", "sequence invoice_no"},
		{"CREATE FUNCTION fee() RETURNS int LANGUAGE sql AS 'SELECT 1'", "DROP FUNCTION fee()", "function fee()"},
		{"CREATE TYPE mood AS ENUM ('ok')", "DROP TYPE mood", "type mood"},
		{"CREATE DOMAIN id AS int", "DROP DOMAIN id", "type id"},
		{"CREATE VIEW v AS SELECT 1 AS x", "DROP VIEW v", "view v"},
		{"CREATE SCHEMA s", "DROP SCHEMA s", "schema s"},
		{"SELECT lo_create(4711)", "SELECT lo_unlink(4711)", "large object 4711"},
		{"CREATE PUBLICATION p FOR ALL TABLES", "DROP PUBLICATION p", "publication p"},
		{"CREATE TABLE a (i int); CREATE TABLE b (i int); CREATE TABLE c (i int); CREATE TABLE d (i int); CREATE TABLE e (i int)", "DROP TABLE a, b, c, d, e", "table a, table b, table c and 2 more"},
	} {
		f.ts.Query(t, name, c.made)
		err := f.s.DropDatabase(f.ctx, name, false)
		require.ErrorIs(t, err, server.ErrNotEmpty, c.made)
		require.EqualError(t, err, "database is not empty: it has "+c.want)
		f.ts.Query(t, name, c.gone)
	}
	f.ts.Query(t, name, "CREATE EXTENSION hstore")
	require.NoError(t, f.s.DropDatabase(f.ctx, name, false))
}

// TestDatabaseLost: when the answer is lost, it is said that nobody knows, and nothing else.
func TestDatabaseLost(t *testing.T) {
	f := setUp(t)
	name := "d" + f.db
	t.Cleanup(func() { f.ts.Query(t, "postgres", "DROP DATABASE IF EXISTS "+name) })
	for _, c := range []struct {
		sql, want string
		run       func(*Server) error
	}{
		{"CREATE DATABASE", "it is not known whether the database was made, look before trying again: ", func(s *Server) error { return s.CreateDatabase(f.ctx, name) }},
		{"DROP DATABASE", "it is not known whether the database was dropped, look before trying again: ", func(s *Server) error { return s.DropDatabase(f.ctx, name, false) }},
	} {
		s, _ := f.proxied(func(d testserver.Direction, b []byte) testserver.Verdict {
			if d == testserver.ToServer && bytes.Contains(b, []byte(c.sql)) {
				return testserver.PassAndCut
			}
			return testserver.Pass
		})
		err := c.run(s)
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, err, "the connection was lost")
		f.ts.NoSessions(t)
	}
}

// TestTimeouts: limits that a database has for idle sessions are not ours.
func TestTimeouts(t *testing.T) {
	f := setUp(t)
	f.ts.Query(t, "postgres", "ALTER DATABASE "+f.db+" SET idle_session_timeout = '1h'")
	require.NoError(t, f.s.with(f.ctx, f.db, func(c *conn) error {
		for name, want := range map[string]string{"idle_session_timeout": "0", "client_connection_check_interval": "500ms"} {
			got, err := c.one(f.ctx, "SELECT pg_catalog.current_setting($1)", name)
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
		return nil
	}))
}

// TestTables are made, renamed and dropped, by name and by what they were.
func TestTables(t *testing.T) {
	f := setUp(t)
	def := server.Definition{Schema: schema(t, "a* INT NOT NULL", "b DECIMAL(10, 2)"), Comment: "c"}
	id, err := f.s.CreateTable(f.ctx, f.db, "t", def)
	require.NoError(t, err)
	info, _, err := f.s.Describe(f.ctx, f.db, "t")
	require.NoError(t, err)
	require.Equal(t, id, info.Identity)
	require.Equal(t, "CREATE TABLE \"public\".\"t\" (\n  \"a\" integer NOT NULL,\n  \"b\" numeric(10,2),\n  CONSTRAINT t_pkey PRIMARY KEY (a)\n)", info.Text)
	var exists *server.ExistsError
	_, err = f.s.CreateTable(f.ctx, f.db, "t", def)
	require.ErrorAs(t, err, &exists)
	ddl, stored, err := f.s.CheckTable("s.t", def)
	require.NoError(t, err)
	require.Equal(t, "CREATE TABLE \"s\".\"t\" (\n  \"a\" integer NOT NULL,\n  \"b\" numeric(10,2),\n  PRIMARY KEY (\"a\")\n);\nCOMMENT ON TABLE \"s\".\"t\" IS 'c'", ddl)
	require.Equal(t, []string{"integer", "numeric(10,2)"}, stored)

	require.NoError(t, f.s.RenameTable(f.ctx, f.db, "t", "u"))
	require.ErrorIs(t, f.s.RenameTable(f.ctx, f.db, "t", "u"), server.ErrNotThere)
	f.sql("CREATE SCHEMA s; CREATE TABLE t(a int); CREATE VIEW v AS SELECT 1 AS a")
	require.ErrorAs(t, f.s.RenameTable(f.ctx, f.db, "u", "t"), &exists)
	require.ErrorContains(t, f.s.RenameTable(f.ctx, f.db, "u", "s.u"), "would take it to the schema s, which is not supported")
	require.NoError(t, f.s.RenameTable(f.ctx, f.db, "v", "w"))

	require.ErrorIs(t, f.s.DropTable(f.ctx, f.db, "t", id), server.ErrChanged)
	require.ErrorIs(t, f.s.DropTable(f.ctx, f.db, "u", id), server.ErrChanged) // it has another name now
	require.ErrorContains(t, f.s.DropTable(f.ctx, f.db, "w", ""), "w is a view of PostgreSQL, not a table")
	require.ErrorIs(t, f.s.DropView(f.ctx, f.db, "t"), server.ErrNotThere)
	require.NoError(t, f.s.DropView(f.ctx, f.db, "w"))
	f.sql("CREATE VIEW v AS SELECT * FROM t")
	err = f.s.DropTable(f.ctx, f.db, "t", "")
	require.ErrorContains(t, err, "view v depends on table t")
	require.NotContains(t, err.Error(), "CASCADE") // which we have not
	f.sql("DROP VIEW v; CREATE MATERIALIZED VIEW m AS SELECT * FROM t")
	require.NoError(t, f.s.DropView(f.ctx, f.db, "m"))
	require.NoError(t, f.s.DropTable(f.ctx, f.db, "t", ""))
	require.NoError(t, f.s.DropTable(f.ctx, f.db, "u", ""))
	for _, name := range []string{"t", "nosuch.t", "a.b.c", "pg_catalog.pg_class", "_sluice_x"} {
		require.ErrorIs(t, f.s.DropTable(f.ctx, f.db, name, ""), server.ErrNotThere, name)
	}
	removed, kept, err := f.s.Sweep(f.ctx, f.db, nil)
	require.NoError(t, err)
	require.Empty(t, append(removed, kept...))
}

// TestDropRivals: a table that somebody has put under the name while a DROP waited is not dropped, nor one of the same
// name altered.
func TestDropRivals(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE EXTENSION file_fdw; CREATE SERVER files FOREIGN DATA WRAPPER file_fdw; DROP ROLE IF EXISTS ann; CREATE ROLE ann")
	t.Cleanup(func() { f.ts.Query(t, "postgres", "DROP ROLE IF EXISTS ann") })
	for kind, made := range map[string]string{
		"TABLE":         "CREATE TABLE t(a int)",
		"FOREIGN TABLE": "CREATE FOREIGN TABLE t(a int) SERVER files OPTIONS (filename '/dev/null')",
	} {
		for _, rival := range []string{"DROP " + kind + " t; " + made, "ALTER " + kind + " t RENAME TO was; " + made, "ALTER " + kind + " t ADD COLUMN b int"} {
			f.sql(made)
			info, _, err := f.s.Describe(f.ctx, f.db, "t")
			require.NoError(t, err)
			f.sql("BEGIN; " + rival)
			done := make(chan error, 1)
			go func() { done <- f.s.DropTable(f.ctx, f.db, "t", info.Identity) }()
			require.Eventually(t, func() bool {
				return f.sql("SELECT count(*) FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())") == "1\n"
			}, 10*time.Second, 5*time.Millisecond)
			f.sql("COMMIT")
			require.ErrorIs(t, <-done, server.ErrChanged, rival)
			require.Equal(t, "t\n", f.sql("SELECT to_regclass('t')"), rival)
			f.sql("DROP " + kind + " t; DROP " + kind + " IF EXISTS was")
		}
		f.sql(made)
		require.NoError(t, f.s.RenameTable(f.ctx, f.db, "t", "u"))
		require.NoError(t, f.s.DropTable(f.ctx, f.db, "u", ""))
	}
	// The owner of the schema has no right to the table, and may drop it.
	f.sql("CREATE TABLE t(a int); ALTER TABLE t OWNER TO ann; GRANT ALL ON SCHEMA public TO ann")
	require.NoError(t, f.s.with(f.ctx, f.db, func(c *conn) error {
		_, err := c.exec(f.ctx, "REVOKE ALL ON t FROM ann; ALTER SCHEMA public OWNER TO ann; SET ROLE ann; BEGIN")
		require.NoError(t, err)
		oid, kind, _, err := c.holdNamed(f.ctx, relation{"public", "t"})
		require.NotEmpty(t, oid)
		require.Equal(t, ordinary, kind)
		require.Equal(t, "AccessShareLock\n", f.sql("SELECT DISTINCT mode FROM pg_locks WHERE relation = 't'::regclass"))
		return err
	}))
	f.sql("ALTER SCHEMA public OWNER TO CURRENT_USER; DROP TABLE t; DROP OWNED BY ann")
}

// TestScrubbed: a server that repeats the password does not make us tell it.
func TestScrubbed(t *testing.T) {
	f := setUp(t)
	err := f.s.with(f.ctx, f.db, func(c *conn) error {
		_, err := c.exec(f.ctx, "DO $$ BEGIN RAISE EXCEPTION USING MESSAGE = "+literal("the password "+testserver.Password)+", DETAIL = "+literal(testserver.Password)+", HINT = "+literal(testserver.Password+"!")+"; END $$")
		return err
	})
	var e *Error
	require.ErrorAs(t, err, &e)
	for _, text := range []string{err.Error(), e.Msg, e.Detail, e.Hint, e.Where} {
		require.NotContains(t, text, testserver.Password)
	}
	require.ErrorContains(t, err, connector.Mask)
	require.NotContains(t, f.s.linkError(f.db, errors.New("x "+testserver.Password)).Error(), testserver.Password)
}

// TestTypeTable: each line that says what is written is true.
func TestTypeTable(t *testing.T) {
	for _, m := range (Dialect{}).TypeTable() {
		if m.SQL == "" || m.Stored == "" || strings.ContainsAny(m.SQL, "pnt") {
			continue
		}
		typ, err := types.ParseType(m.SQL)
		require.NoError(t, err, m.SQL)
		sql, _, why := declared(typ)
		require.Empty(t, why)
		require.True(t, strings.HasPrefix(m.Stored, sql), m)
		require.Equal(t, m.SQL, m.Read)
	}
}
