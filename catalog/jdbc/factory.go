package jdbc

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc"
)

// Factory makes catalogs of type 'jdbc'.
type Factory struct{ Dialects jdbc.Dialects }

// Type is jdbc.
func (Factory) Type() string { return "jdbc" }

// Options are the properties of CREATE CATALOG.
func (f Factory) Options() []connector.Option {
	own := []connector.Option{
		{Key: "base-url", Required: true, Public: true, Begins: f.Dialects.Begins(), Doc: "the server, such as 'jdbc:postgresql://host:5432/shop', a file, 'jdbc:sqlite:/path/shop.db', or a directory of files, 'jdbc:sqlite:/path/'"},
		{Key: "default-database", Public: true, Doc: "the database that USE CATALOG enters; for a file, the name of its one database (default: the file's stem)"},
	}
	own = append(append(own, jdbc.LoginOptions()...), f.Dialects.Options()...)
	return append(own,
		connector.Option{Key: "property-version", Public: true, Doc: "not taken", Refused: "there is one version of a catalog's options: leave it out"},
		connector.Option{Key: "compatible-mode", Public: true, Doc: "not taken", Refused: "what the server is, is seen when it answers: leave it out"})
}

// Serialized reports that name and properties are all of a catalog.
func (Factory) Serialized() bool { return true }

// Resolve makes the paths in base-url and of a password's file absolute.
func (f Factory) Resolve(properties map[string]string) (map[string]string, error) {
	a, err := f.address(properties)
	if err != nil {
		return nil, err
	}
	resolved := maps.Clone(properties)
	if a.Server == nil {
		if a, err = a.Absolute(); err != nil {
			return nil, err
		}
		resolved["base-url"] = a.String()
	}
	return jdbc.Resolve(resolved)
}

func (f Factory) address(properties map[string]string) (jdbc.Address, error) {
	a, err := f.Dialects.ParseURL(properties["base-url"])
	if err != nil {
		return a, &connector.OptionError{Key: "base-url", Msg: "option 'base-url': " + err.Error()}
	}
	if err := f.Dialects.Check(a, properties); err != nil {
		return a, err
	}
	db, ok := properties["default-database"]
	switch {
	case ok && strings.TrimSpace(db) == "":
		return a, &connector.OptionError{Key: "default-database", Msg: "option 'default-database' is blank"}
	case ok && a.Server != nil && a.Database != "" && a.Database != db:
		return a, &connector.OptionError{Key: "default-database", Msg: fmt.Sprintf("'base-url' names the database %s, and 'default-database' says %s: leave out one of them", a.Database, db)}
	}
	return a, nil
}

// Catalog makes a catalog; it opens nothing, but looks up the secret of 'password'.
func (f Factory) Catalog(name string, properties map[string]string, r *catalog.Registry) (catalog.Catalog, error) {
	a, err := f.address(properties)
	if err != nil {
		return nil, err
	}
	if a.Server != nil {
		s, err := a.Open(properties, r.Env)
		if err != nil {
			return nil, err
		}
		return &Server{name: name, address: a, properties: properties, server: s}, nil
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
