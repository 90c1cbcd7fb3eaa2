package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// ErrChanged says that a table is no longer the one whose identity was noted.
var ErrChanged = errors.New("the table was changed by another session")

// ErrNotThere says that a table to drop does not exist.
var ErrNotThere = errors.New("the table does not exist")

// ErrNotEmpty says that a database to drop has tables.
var ErrNotEmpty = errors.New("the database has tables")

// Read runs f on a connection that reads the file, again while the file is locked, until ctx ends. f sees
// one snapshot.
func (s *Store) Read(ctx context.Context, f func(*Conn) error) error {
	return retryBusy(ctx, s.Path, func() (err error) {
		c, err := s.open(Read)
		if err != nil {
			return err
		}
		stop := c.interruptOn(ctx)
		if err = c.Exec("BEGIN"); err == nil {
			err = f(c)
		}
		stop()
		if primary(err) == codeInterrupt && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return errors.Join(err, c.Close())
	})
}

// write runs f in one write transaction of the file and commits it durably. A file made for it that stays
// empty is removed again.
func (s *Store) write(ctx context.Context, mode Mode, f func(*Conn) error) (err error) {
	release, err := queue(ctx, s.Env, s.Path)
	if err != nil {
		return err
	}
	defer release()
	var c *Conn
	fresh := absent(s.Path)
	defer func() {
		if c != nil {
			err = errors.Join(err, c.Close())
		}
		if fresh && err != nil {
			err = errors.Join(err, removeEmpty(s.files(), s.Path))
		}
	}()
	for {
		if c, err = openWriter(ctx, s.files(), s.Path, mode, absent(s.Path)); err != nil {
			return err
		}
		if err = beginImmediate(ctx, c); err != nil {
			return err
		}
		if !c.Moved() {
			break
		}
		if err = c.Close(); err != nil {
			return err
		}
	}
	var before evidence
	defer before.close()
	if err = before.take(c, ""); err != nil {
		return err
	}
	if err = f(c); err != nil {
		if c.InTransaction() {
			_ = c.Exec("ROLLBACK") // closing would do the same
		}
		return err
	}
	out, err := s.commit(ctx, c, &before)
	if out == connector.Unknown {
		return fmt.Errorf("it is not known whether the change was committed, look before trying again: %w", err)
	}
	return err
}

// CreateTable makes an empty table, and the file when there is none, and returns the table's identity.
func (s *Store) CreateTable(ctx context.Context, table string, schema types.Schema) (identity string, err error) {
	err = s.write(ctx, Create, func(c *Conn) error {
		if err := Taken(c, table); err != nil {
			return err
		}
		sql, col, fault := CreateSQL("main.", table, schema)
		if fault != "" {
			return fmt.Errorf("column %s: %s", col, fault)
		}
		if err := c.Exec(sql); err != nil {
			return err
		}
		identity, err = c.identity(table)
		return err
	})
	return identity, err
}

// identity tells a table from a later one of the same name: its root page and the schema's version.
func (c *Conn) identity(table string) (string, error) {
	root, err := c.Int("SELECT rootpage FROM main.sqlite_schema WHERE name = ?1 AND type = 'table'", table)
	if err != nil {
		return "", err
	}
	version, err := c.Int("PRAGMA main.schema_version")
	return fmt.Sprintf("%d.%d", root, version), err
}

// DropTable drops a table; with an identity other than "" only if it is still that one.
func (s *Store) DropTable(ctx context.Context, table, identity string) error {
	return s.write(ctx, Write, func(c *Conn) error {
		kind, err := c.Text("SELECT type FROM main.sqlite_schema WHERE name = ?1 AND type IN ('table', 'view')", table)
		switch {
		case err != nil:
			return err
		case kind == "" || Reserved(table):
			return ErrNotThere
		case kind == "view":
			return fmt.Errorf("%s is a view of SQLite, not a table", table)
		}
		if identity != "" {
			now, err := c.identity(table)
			if err != nil {
				return err
			}
			if now != identity {
				return ErrChanged
			}
		}
		return c.Exec("DROP TABLE main." + Quote(table))
	})
}

// DropView drops a view, also one that is broken.
func (s *Store) DropView(ctx context.Context, view string) error {
	return s.write(ctx, Write, func(c *Conn) error {
		kind, err := c.Text("SELECT type FROM main.sqlite_schema WHERE name = ?1 AND type = 'view'", view)
		switch {
		case err != nil:
			return err
		case kind == "" || Reserved(view):
			return ErrNotThere
		}
		return c.Exec("DROP VIEW main." + Quote(view))
	})
}

// CreateFile makes the file as an empty database.
func (s *Store) CreateFile(ctx context.Context) error {
	// Setting a header field writes the header: the file is a database to whoever looks.
	return s.write(ctx, Create, func(c *Conn) error { return c.Exec("PRAGMA main.user_version = 0") })
}

// DropFile removes the database file; one that has tables only with cascade. It holds the file's
// exclusive lock while it does.
func (s *Store) DropFile(ctx context.Context, cascade bool) error {
	release, err := queue(ctx, s.Env, s.Path)
	if err != nil {
		return err
	}
	defer release()
	c, err := s.open(Write)
	if err != nil {
		return err
	}
	err = retryBusy(ctx, s.Path, func() error { return c.Exec("BEGIN EXCLUSIVE") })
	if err == nil {
		var names []string
		if names, err = c.Names(); err == nil && len(names) > 0 && !cascade {
			err = ErrNotEmpty
		}
	}
	if err != nil {
		return errors.Join(err, c.Close())
	}
	err = os.Remove(s.Path)
	err = errors.Join(err, c.Close())
	for _, side := range []string{"-wal", "-shm"} {
		if e := os.Remove(s.Path + side); e != nil && !os.IsNotExist(e) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// JournalMode returns the file's journal mode, and "" when the file is absent or empty.
func (s *Store) JournalMode(ctx context.Context) (mode string, err error) {
	if absent(s.Path) {
		return "", nil
	}
	err = s.Read(ctx, func(c *Conn) error {
		pages, err := c.Int("PRAGMA main.page_count")
		if err != nil || pages == 0 {
			return err
		}
		mode, err = c.Text("PRAGMA main.journal_mode")
		return err
	})
	return mode, err
}
