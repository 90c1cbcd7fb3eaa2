package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/connector/jdbc/server"
)

// noDatabaseError says that a database is not there.
type noDatabaseError struct{ place string }

// Error names it.
func (e *noDatabaseError) Error() string { return e.place + ": the database does not exist" }

// Unwrap returns the sentinel.
func (e *noDatabaseError) Unwrap() error { return server.ErrNoDatabase }

// withSystem runs f in a session of a database that is sure to be there.
func (s *Server) withSystem(ctx context.Context, f func(*conn) error) error {
	err := s.with(ctx, Dialect{}.SystemDatabase(), f)
	if errors.Is(err, server.ErrNoDatabase) {
		return s.with(ctx, "template1", f)
	}
	return err
}

// ListDatabases returns the databases that can be connected to, but for templates.
func (s *Server) ListDatabases(ctx context.Context) (names []string, err error) {
	err = s.withSystem(ctx, func(c *conn) error {
		names, err = c.texts(ctx, `SELECT datname FROM pg_catalog.pg_database WHERE datallowconn AND NOT datistemplate ORDER BY datname COLLATE "C"`)
		return err
	})
	return names, err
}

// CreateDatabase makes a database.
func (s *Server) CreateDatabase(ctx context.Context, name string) error {
	if err := checkName("database", name); err != nil {
		return err
	}
	if reserved(name) {
		return fmt.Errorf("the name %s is reserved: names that begin with %s or .%s cannot be created", name, ours, ours[1:])
	}
	err := s.withSystem(ctx, func(c *conn) error { return c.alone(ctx, "CREATE DATABASE "+quote(name), "the database was made") })
	if code(err) == codeDuplicateDB {
		return &server.ExistsError{Table: name, Kind: "database"}
	}
	return err
}

// alone runs a statement that is a transaction of its own, of whose outcome nothing is noted. what is what it does.
func (c *conn) alone(ctx context.Context, sql, what string) error {
	r, err := c.exec(ctx, sql)
	switch {
	case err != nil && r != nil && r.tag != "": // the context ended, and the server was faster
		return nil
	case c.lost:
		return fmt.Errorf("it is not known whether %s, look before trying again: %w", what, err)
	}
	return err
}

// contents names what a database has of its own, but for what belongs to extensions.
func (c *conn) contents(ctx context.Context) ([]string, error) {
	return c.texts(ctx, `WITH own AS (SELECT n.oid, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname <> 'information_schema' AND n.nspname::pg_catalog.text NOT LIKE 'pg\_%'),
part AS (SELECT e.classid, e.objid FROM pg_catalog.pg_depend e WHERE e.deptype = 'e'),
has AS (
  SELECT d.classid, d.objid FROM pg_catalog.pg_depend d JOIN own ON d.refobjid = own.oid WHERE d.refclassid = 'pg_catalog.pg_namespace'::pg_catalog.regclass::pg_catalog.oid AND d.classid <> 'pg_catalog.pg_extension'::pg_catalog.regclass::pg_catalog.oid
  UNION SELECT 'pg_catalog.pg_namespace'::pg_catalog.regclass::pg_catalog.oid, own.oid FROM own WHERE own.nspname <> 'public'
  UNION SELECT 'pg_catalog.pg_largeobject'::pg_catalog.regclass::pg_catalog.oid, l.oid FROM pg_catalog.pg_largeobject_metadata l
  UNION SELECT 'pg_catalog.pg_publication'::pg_catalog.regclass::pg_catalog.oid, p.oid FROM pg_catalog.pg_publication p
  UNION SELECT 'pg_catalog.pg_foreign_server'::pg_catalog.regclass::pg_catalog.oid, f.oid FROM pg_catalog.pg_foreign_server f)
SELECT pg_catalog.pg_describe_object(has.classid, has.objid, 0) FROM has LEFT JOIN part ON part.classid = has.classid AND part.objid = has.objid WHERE part.objid IS NULL ORDER BY 1`)
}

// DropDatabase drops a database that nobody uses.
func (s *Server) DropDatabase(ctx context.Context, name string, cascade bool) error {
	if err := checkName("database", name); err != nil {
		return err
	}
	if !cascade {
		var has []string
		err := s.with(ctx, name, func(c *conn) (err error) {
			has, err = c.contents(ctx)
			return err
		})
		if err != nil {
			return err
		}
		if len(has) > 0 {
			return &server.NotEmptyError{Has: has}
		}
	}
	return s.withSystem(ctx, func(c *conn) error {
		err := c.alone(ctx, "DROP DATABASE "+quote(name), "the database was dropped")
		switch code(err) {
		case codeNoDatabase:
			return &noDatabaseError{s.place(name)}
		case codeObjectInUse:
			users, listErr := c.texts(ctx, "SELECT 'process ' OPERATOR(pg_catalog.||) pid OPERATOR(pg_catalog.||) coalesce(' of ' OPERATOR(pg_catalog.||) usename, '') OPERATOR(pg_catalog.||) coalesce(' (' OPERATOR(pg_catalog.||) nullif(application_name, '') OPERATOR(pg_catalog.||) ')', '') OPERATOR(pg_catalog.||) coalesce(' from ' OPERATOR(pg_catalog.||) host(client_addr), '') FROM pg_catalog.pg_stat_activity WHERE datname = $1 AND pid <> pg_catalog.pg_backend_pid() ORDER BY pid", name)
			if listErr == nil && len(users) > 0 {
				return fmt.Errorf("%s: the database is in use by %s; it is dropped once nobody uses it", s.place(name), strings.Join(users, ", "))
			}
		}
		return err
	})
}
