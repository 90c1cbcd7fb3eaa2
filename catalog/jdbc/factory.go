package jdbc

import (
	"context"
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc"
	"github.com/sluice-sql/sluice/connector/jdbc/sqlite"
)

// Factory makes catalogs of type 'jdbc'.
type Factory struct{}

// Type is jdbc.
func (Factory) Type() string { return "jdbc" }

// Options are the properties of CREATE CATALOG.
func (Factory) Options() []connector.Option {
	own := []connector.Option{
		{Key: "base-url", Required: true, Public: true, Doc: "the database, such as 'jdbc:sqlite:/path/shop.db', or a directory of databases, 'jdbc:sqlite:/path/'"},
		{Key: "default-database", Public: true, Doc: "the database that USE CATALOG enters; for a file, the name of its one database (default: the file's stem)"},
		{Key: "username", Doc: "the user; not for SQLite"},
		{Key: "password", Doc: "the password; not for SQLite"},
	}
	return append(own, sqlite.Options()...)
}

// Serialized reports that name and properties are all of a catalog.
func (Factory) Serialized() bool { return true }

// Resolve makes the path in base-url absolute.
func (Factory) Resolve(properties map[string]string) (map[string]string, error) {
	a, err := address(properties)
	if err != nil {
		return nil, err
	}
	if a, err = a.Absolute(); err != nil {
		return nil, err
	}
	resolved := map[string]string{}
	for k, v := range properties {
		resolved[k] = v
	}
	resolved["base-url"] = a.String()
	return resolved, nil
}

func address(properties map[string]string) (jdbc.Address, error) {
	a, err := jdbc.ParseURL(properties["base-url"])
	if err != nil {
		return a, &connector.OptionError{Key: "base-url", Msg: "option 'base-url': " + err.Error()}
	}
	if err := jdbc.RefuseUsers(properties); err != nil {
		return a, err
	}
	if db, ok := properties["default-database"]; ok && strings.TrimSpace(db) == "" {
		return a, &connector.OptionError{Key: "default-database", Msg: "option 'default-database' is blank"}
	}
	return a, nil
}

// Catalog makes a catalog; it opens nothing.
func (f Factory) Catalog(name string, properties map[string]string, r *catalog.Registry) (catalog.Catalog, error) {
	a, err := address(properties)
	if err != nil {
		return nil, err
	}
	if a, err = a.Absolute(); err != nil {
		return nil, err
	}
	return &Catalog{name: name, address: a, properties: properties, env: r.Env}, nil
}

// tables opens the catalog's own tables.
type tables struct{ c *Catalog }

// Identifier is jdbc.
func (t tables) Identifier() string { return "jdbc" }

// Options: a table of the catalog has none of its own.
func (t tables) Options() []connector.Option { return nil }

// Table opens a table by its identifier.
func (t tables) Table(ctx context.Context, def connector.TableDef, env *connector.Env) (connector.Table, error) {
	store, err := t.c.store(def.Identifier.Database)
	if err != nil {
		return nil, err
	}
	table, err := store.OpenTable(ctx, def.Identifier.Object, def.Schema)
	if err != nil {
		return nil, fmt.Errorf("open table %s: %w", def.Identifier, err)
	}
	return table, nil
}
