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
	err := s.withSystem(ctx, func(c *conn) error {
		_, err := c.exec(ctx, "CREATE DATABASE "+quote(name))
		return err
	})
	if code(err) == codeDuplicateDB {
		return &server.ExistsError{Table: name, Kind: "database"}
	}
	return err
}

// DropDatabase drops a database that nobody uses.
func (s *Server) DropDatabase(ctx context.Context, name string, cascade bool) error {
	if err := checkName("database", name); err != nil {
		return err
	}
	if !cascade {
		tables, err := s.ListTables(ctx, name)
		if err != nil {
			return err
		}
		if len(tables) > 0 {
			return server.ErrNotEmpty
		}
	}
	return s.withSystem(ctx, func(c *conn) error {
		_, err := c.exec(ctx, "DROP DATABASE "+quote(name))
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
