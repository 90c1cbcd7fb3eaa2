package jdbc

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/connector/jdbc/sqlite"
)

// Connector is the factory of tables WITH ('connector' = 'jdbc', 'url' = …, 'table-name' = …).
type Connector struct{ Dialects Dialects }

// Identifier is jdbc.
func (Connector) Identifier() string { return "jdbc" }

// Options are the connector's options.
func (c Connector) Options() []connector.Option {
	own := []connector.Option{
		{Key: "connector", Required: true, Public: true, Doc: "'jdbc'"},
		{Key: "url", Required: true, Public: true, Begins: c.Dialects.Begins(), Doc: "the database, such as 'jdbc:sqlite:/path/shop.db' or 'jdbc:postgresql://host:5432/shop'"},
		{Key: "table-name", Required: true, Public: true, Doc: "the table's name there; 'schema.name' for one of PostgreSQL outside the schema public"},
	}
	own = append(append(own, LoginOptions()...), c.Dialects.Options()...)
	for _, o := range foreignOptions() {
		if !slices.ContainsFunc(own, func(has connector.Option) bool { return has.Key == o.Key }) {
			own = append(own, o)
		}
	}
	return own
}

// foreignOptions are those of Flink's connector that are not taken.
func foreignOptions() []connector.Option {
	const (
		driver = "the drivers are part of the program: leave it out"
		parts  = "a table is read by one statement over one snapshot, not in parts that could disagree: leave it out"
		lookup = "tables are not looked up row by row: leave it out"
		buffer = "the rows of a job are one transaction, and batches are as large as the server takes them: leave it out"
		retry  = "a write that failed is not tried again behind your back: leave it out"
	)
	var list []connector.Option
	for _, group := range []struct {
		why  string
		keys []string
	}{
		{driver, []string{"driver", "compatible-mode"}},
		{parts, []string{"scan.partition.column", "scan.partition.num", "scan.partition.lower-bound", "scan.partition.upper-bound"}},
		{"rows are streamed as they are taken, with nothing to set: leave it out", []string{"scan.fetch-size", "scan.auto-commit"}},
		{lookup, []string{"lookup.cache", "lookup.cache.max-rows", "lookup.cache.ttl", "lookup.cache.caching-missing-key", "lookup.partial-cache.max-rows",
			"lookup.partial-cache.expire-after-write", "lookup.partial-cache.expire-after-access", "lookup.partial-cache.cache-missing-key", "lookup.max-retries"}},
		{"filters are handed to the server wherever the result is provably the same: leave it out", []string{"filter.handling.policy"}},
		{buffer, []string{"sink.buffer-flush.max-rows", "sink.buffer-flush.interval", "sink.parallelism"}},
		{retry, []string{"sink.max-retries", "connection.max-retry-timeout"}},
	} {
		for _, key := range group.keys {
			list = append(list, connector.Option{Key: key, Public: true, Refused: group.why, Doc: "not taken"})
		}
	}
	return list
}

// Table opens a table. The definition's columns are matched by name with the store's and read as the
// definition types them.
func (c Connector) Table(ctx context.Context, def connector.TableDef, env *connector.Env) (connector.Table, error) {
	a, err := c.address(def)
	if err != nil {
		return nil, err
	}
	if a.Server == nil {
		s, err := storeOf(a, def, env)
		if err != nil {
			return nil, err
		}
		return s.OpenTable(ctx, def.Options["table-name"], def.Schema)
	}
	s, err := a.Open(def.Options, env)
	if err != nil {
		return nil, err
	}
	// A Server holds no session between calls, so that nothing has to be closed with the table but the table.
	t, err := s.OpenTable(ctx, a.Database, def.Options["table-name"], def.Schema)
	return t, a.explain(def.Options, err)
}

// explain puts what a server says of a table into words that name it.
func (a Address) explain(options map[string]string, err error) error {
	name := options["table-name"]
	switch {
	case errors.Is(err, server.ErrNotThere):
		return &connector.OptionError{Key: "table-name", Msg: fmt.Sprintf("table %s does not exist in database %s of %s", name, a.Database, a)}
	case errors.Is(err, server.ErrNoDatabase):
		return &connector.OptionError{Key: "url", Msg: fmt.Sprintf("database %s does not exist on the server of %s", a.Database, a)}
	}
	return err
}

// Files is the database that a table is in; a server's is in none here.
func (c Connector) Files(def connector.TableDef) []string {
	a, err := c.address(def)
	if err != nil || a.Server != nil {
		return nil // whoever uses the table is told
	}
	s, err := storeOf(a, def, nil)
	if err != nil {
		return nil
	}
	return []string{s.Path}
}

// address returns the address that the options of a table give, once they go together.
func (c Connector) address(def connector.TableDef) (Address, error) {
	a, err := c.Dialects.ParseURL(def.Options["url"])
	switch {
	case err != nil:
	case a.Dir:
		err = fmt.Errorf("%s is a directory, want a database file", a.Path)
	case a.Server != nil && a.Database == "":
		err = fmt.Errorf("%s names no database; write it as %s", a, Address{Dialect: a.Dialect, Server: a.Server, Host: a.Host, Port: a.Port, Database: "shop"})
	}
	if err != nil {
		return a, &connector.OptionError{Key: "url", Msg: fmt.Sprintf("table %s, option 'url': %s", def.Identifier, err)}
	}
	return a, c.Dialects.Check(a, def.Options)
}

// storeOf returns the database file that the options of a table name.
func storeOf(a Address, def connector.TableDef, env *connector.Env) (*sqlite.Store, error) {
	a, err := a.Absolute()
	if err != nil {
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
