package jdbc

import (
	"context"
	"fmt"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/sqlite"
)

// Connector is the factory of tables WITH ('connector' = 'jdbc', 'url' = …, 'table-name' = …).
type Connector struct{}

// Identifier is jdbc.
func (Connector) Identifier() string { return "jdbc" }

// Options are the connector's options.
func (Connector) Options() []connector.Option {
	own := []connector.Option{
		{Key: "connector", Required: true, Public: true, Doc: "'jdbc'"},
		{Key: "url", Required: true, Public: true, Doc: "the database, such as 'jdbc:sqlite:/path/shop.db'"},
		{Key: "table-name", Required: true, Public: true, Doc: "the table's name there"},
		{Key: "username", Doc: "the user; not for SQLite"},
		{Key: "password", Doc: "the password; not for SQLite"},
	}
	return append(own, sqlite.Options()...)
}

// Table opens a table. The definition's columns are matched by name with the store's and read as the
// definition types them.
func (Connector) Table(ctx context.Context, def connector.TableDef, env *connector.Env) (connector.Table, error) {
	s, err := storeOf(def, env)
	if err != nil {
		return nil, err
	}
	return s.OpenTable(ctx, def.Options["table-name"], def.Schema)
}

// Files is the database that a table is in.
func (Connector) Files(def connector.TableDef) []string {
	s, err := storeOf(def, nil)
	if err != nil {
		return nil // whoever uses the table is told
	}
	return []string{s.Path}
}

// storeOf returns the database that the options of a table name.
func storeOf(def connector.TableDef, env *connector.Env) (*sqlite.Store, error) {
	a, err := ParseURL(def.Options["url"])
	if err != nil {
		return nil, &connector.OptionError{Key: "url", Msg: fmt.Sprintf("table %s, option 'url': %s", def.Identifier, err)}
	}
	if a.Dir {
		return nil, &connector.OptionError{Key: "url", Msg: fmt.Sprintf("table %s, option 'url': %s is a directory, want a database file", def.Identifier, a.Path)}
	}
	if err := RefuseUsers(def.Options); err != nil {
		return nil, err
	}
	if a, err = a.Absolute(); err != nil {
		return nil, err
	}
	s := sqlite.NewStore(a.Path, def.Options, env)
	if !def.Identifier.Temporary {
		s.Alter = "ALTER TABLE " + def.Identifier.String()
	}
	return s, nil
}

// RefuseUsers refuses the options of databases that have users.
func RefuseUsers(options map[string]string) error {
	for _, k := range []string{"username", "password"} {
		if _, ok := options[k]; ok {
			return &connector.OptionError{Key: k, Msg: "SQLite has no users: leave out the option '" + k + "'", KeyAtFault: true}
		}
	}
	return nil
}
