package mysql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-sql/sluice/connector/jdbc/server"
)

// systemDatabase reports that a database is the server's own.
func systemDatabase(name string) bool {
	switch strings.ToLower(name) {
	case "information_schema", "mysql", "performance_schema", "sys":
		return true
	}
	return false
}

// ListDatabases returns the databases, without the server's own.
func (s *Server) ListDatabases(ctx context.Context) (names []string, err error) {
	err = s.with(ctx, "", func(c *conn) error {
		rows, err := c.query(ctx, "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA")
		for _, r := range rows {
			if !systemDatabase(r[0].text) {
				names = append(names, r[0].text)
			}
		}
		return err
	})
	slices.Sort(names)
	return names, err
}

// CreateDatabase makes a database whose texts are told apart by every byte.
func (s *Server) CreateDatabase(ctx context.Context, name string) error {
	if err := checkName("database", name); err != nil {
		return err
	}
	if systemDatabase(name) || isOurs(name) {
		return fmt.Errorf("database %s: the name is taken by the server or kept for Sluice's own", name)
	}
	return s.with(ctx, "", func(c *conn) error {
		err := c.change(ctx, "database "+name+" was made", "CREATE DATABASE "+quote(name)+" DEFAULT CHARACTER SET utf8mb4")
		if numberOf(err) == errDatabaseExists {
			return &server.ExistsError{Table: name, Kind: "database"}
		}
		return err
	})
}

// DropDatabase drops a database, one with tables only with cascade.
func (s *Server) DropDatabase(ctx context.Context, name string, cascade bool) error {
	return s.with(ctx, "", func(c *conn) error {
		if err := c.exactDatabase(ctx, name); err != nil {
			return err
		}
		if !cascade {
			rows, err := c.query(ctx, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = "+literal(name)+
				" UNION ALL SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = "+literal(name)+
				" UNION ALL SELECT EVENT_NAME FROM information_schema.EVENTS WHERE EVENT_SCHEMA = "+literal(name))
			if err != nil {
				return err
			}
			if len(rows) > 0 {
				return fmt.Errorf("%w: %s", server.ErrNotEmpty, name)
			}
		}
		err := c.change(ctx, "database "+name+" was dropped", "DROP DATABASE "+quote(name))
		if numberOf(err) == errNoSuchDrop {
			return fmt.Errorf("%w: %s", server.ErrNoDatabase, name)
		}
		return err
	})
}

// exactDatabase makes sure that a database has exactly this name and is not the server's own.
func (c *conn) exactDatabase(ctx context.Context, name string) error {
	if nameFault(name) != "" || systemDatabase(name) {
		return fmt.Errorf("%w: %s", server.ErrNoDatabase, name)
	}
	rows, err := c.query(ctx, "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = "+literal(name))
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r[0].text == name {
			return nil
		}
	}
	return fmt.Errorf("%w: %s", server.ErrNoDatabase, name)
}

// ListTables returns the names of tables and views, without ours.
func (s *Server) ListTables(ctx context.Context, database string) ([]string, error) {
	return s.list(ctx, database, "")
}

// ListViews returns the names of views.
func (s *Server) ListViews(ctx context.Context, database string) ([]string, error) {
	return s.list(ctx, database, " AND TABLE_TYPE = 'VIEW'")
}

func (s *Server) list(ctx context.Context, database, where string) (names []string, err error) {
	err = s.with(ctx, "", func(c *conn) error {
		if err := c.exactDatabase(ctx, database); err != nil {
			return err
		}
		rows, err := c.query(ctx, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = "+literal(database)+where)
		for _, r := range rows {
			if !isOurs(r[0].text) {
				names = append(names, r[0].text)
			}
		}
		return err
	})
	slices.Sort(names)
	return names, err
}

// taken returns an *ExistsError when a name is that of a table or view, also in another case where the server folds it.
func (c *conn) taken(ctx context.Context, database, name string) error {
	t, near, err := c.describe(ctx, database, name)
	switch {
	case err != nil:
		return err
	case t != nil:
		return &server.ExistsError{Table: name, Taken: name, Kind: t.word()}
	case near != "" && c.folding != 0:
		return &server.ExistsError{Table: name, Taken: near, Kind: "table"}
	}
	return nil
}

func (t *table) word() string {
	if t.view() {
		return "view"
	}
	return "table"
}

// CreateTable makes an empty table.
func (s *Server) CreateTable(ctx context.Context, database, name string, def server.Definition) (identity string, err error) {
	if err := checkNew(name); err != nil {
		return "", err
	}
	err = s.with(ctx, "", func(c *conn) error {
		if err := c.exactDatabase(ctx, database); err != nil {
			return err
		}
		if err := c.taken(ctx, database, name); err != nil {
			return err
		}
		ddl, _, err := createTable(qualified(database, name), def, &c.facts)
		if err != nil {
			return err
		}
		switch err := c.change(ctx, "table "+name+" was made", ddl); {
		case numberOf(err) == errTableExists:
			return &server.ExistsError{Table: name, Taken: name, Kind: "table"}
		case unsure(err):
			return err
		case err != nil:
			return fmt.Errorf("table %s: %w", name, limits(err))
		}
		t, _, err := c.describe(ctx, database, name)
		if err == nil && t == nil {
			err = fmt.Errorf("table %s: %w", name, server.ErrChanged)
		}
		if err == nil {
			identity = t.identity()
		}
		return err
	})
	return identity, err
}

// present returns the table or view of exactly this name, or ErrNotThere.
func (c *conn) present(ctx context.Context, database, name string) (*table, error) {
	if isOurs(name) {
		return nil, fmt.Errorf("%w: %s", server.ErrNotThere, name)
	}
	t, _, err := c.describe(ctx, database, name)
	if err == nil && t == nil {
		err = fmt.Errorf("%w: %s", server.ErrNotThere, name)
	}
	return t, err
}

// DropTable drops a table. With an identity it is locked first, so that what is dropped is the one that was looked at.
func (s *Server) DropTable(ctx context.Context, database, name, identity string) error {
	return s.with(ctx, "", func(c *conn) error {
		if identity != "" && nameFault(name) == "" {
			// Without the right to lock, or without the table, what follows has the answer.
			if _, err := c.exec(ctx, "LOCK TABLES "+qualified(database, name)+" WRITE"); lost(err) {
				return err
			}
		}
		t, err := c.present(ctx, database, name)
		switch {
		case err != nil:
			return err
		case t.view():
			return fmt.Errorf("%s is a view: DROP VIEW drops it", name)
		case identity != "" && t.identity() != identity:
			return fmt.Errorf("%w: %s", server.ErrChanged, name)
		}
		err = c.change(ctx, "table "+name+" was dropped", "DROP TABLE "+qualified(database, name))
		switch n := numberOf(err); {
		case n == errUnknownTable, n == errNoSuchTable:
			return fmt.Errorf("%w: %s", server.ErrNotThere, name)
		case isReferenced(err):
			return fmt.Errorf("table %s: foreign keys of other tables lead to it: %w", name, err)
		}
		return err
	})
}

// DropView drops a view.
func (s *Server) DropView(ctx context.Context, database, view string) error {
	if isOurs(view) || nameFault(view) != "" {
		return fmt.Errorf("%w: %s", server.ErrNotThere, view)
	}
	return s.with(ctx, "", func(c *conn) error {
		rows, err := c.query(ctx, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_TYPE = 'VIEW' AND TABLE_SCHEMA = "+literal(database)+" AND TABLE_NAME = "+literal(view))
		if err != nil {
			return err
		}
		for _, r := range rows {
			if r[0].text == view {
				return c.change(ctx, "view "+view+" was dropped", "DROP VIEW "+qualified(database, view))
			}
		}
		return fmt.Errorf("%w: %s", server.ErrNotThere, view)
	})
}

// RenameTable gives a table or view another name.
func (s *Server) RenameTable(ctx context.Context, database, name, newName string) error {
	if err := checkNew(newName); err != nil {
		return err
	}
	return s.with(ctx, "", func(c *conn) error {
		if _, err := c.present(ctx, database, name); err != nil {
			return err
		}
		if !strings.EqualFold(name, newName) {
			if err := c.taken(ctx, database, newName); err != nil {
				return err
			}
		}
		err := c.change(ctx, "table "+name+" was renamed", "RENAME TABLE "+qualified(database, name)+" TO "+qualified(database, newName))
		if numberOf(err) == errTableExists {
			return &server.ExistsError{Table: newName, Taken: newName, Kind: "table"}
		}
		return err
	})
}
