package postgres

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
)

// Dialect is the entry of PostgreSQL.
type Dialect struct{}

var _ server.Dialect = Dialect{}

// Name is postgresql.
func (Dialect) Name() string { return "postgresql" }

// Aliases are none.
func (Dialect) Aliases() []string { return nil }

// DefaultPort is 5432.
func (Dialect) DefaultPort() int { return 5432 }

// SystemDatabase is postgres.
func (Dialect) SystemDatabase() string { return "postgres" }

// Options are the options of catalogs and tables.
func (Dialect) Options() []connector.Option {
	return []connector.Option{
		{Key: "postgresql.misfit", Public: true, Default: "error", Allowed: []string{"error", "null"},
			Doc: "what a value becomes that its column's SQL type cannot hold, such as infinity in a DATE: an error or NULL"},
		{Key: "postgresql.columns.", Prefix: true, Public: true, Allowed: []string{"STRING"},
			Doc: "'postgresql.columns.<column>' or 'postgresql.columns.<table>.<column>' = 'STRING' reads a column as text"},
		{Key: "sink.on-conflict", Public: true, Allowed: []string{"update", "ignore"},
			Doc: "what is done with a row whose primary key is there already: 'update' replaces the other columns written, 'ignore' drops the row; unset, it is an error"},
	}
}

// parameter is one of those that an address may have.
type parameter struct {
	name  string // pgjdbc's
	check func(value string) string
}

func oneOf(allowed ...string) func(string) string {
	return func(v string) string {
		if slices.Contains(allowed, v) {
			return ""
		}
		return "want one of " + strings.Join(allowed, ", ")
	}
}

func seconds(v string) string {
	if n, err := strconv.ParseUint(v, 10, 31); err != nil || n > 86400 {
		return "want a number of seconds"
	}
	return ""
}

func anyText(v string) string {
	if strings.IndexByte(v, 0) >= 0 {
		return "has a NUL character"
	}
	return ""
}

func parameters() []parameter {
	return []parameter{
		{"sslmode", oneOf("disable", "allow", "prefer", "require", "verify-ca", "verify-full")},
		{"sslrootcert", anyText},
		{"sslcert", anyText},
		{"sslkey", anyText},
		{"connectTimeout", seconds},
		{"ApplicationName", anyText},
		{"options", anyText},
	}
}

// CheckParameter says what is wrong with a parameter of an address.
func (Dialect) CheckParameter(key, value string) string {
	var names []string
	for _, p := range parameters() {
		if p.name == key {
			if why := p.check(value); why != "" {
				return fmt.Sprintf("parameter %s: %s", key, why)
			}
			return ""
		}
		names = append(names, p.name)
	}
	switch key {
	case "user", "password":
		option := map[string]string{"user": "username", "password": "password"}[key]
		return fmt.Sprintf("parameter %s: give it as the option '%s'", key, option)
	case "currentSchema":
		return "parameter currentSchema: write the schema in the table's name, as schema.table; without one it is public"
	case "ssl":
		return "parameter ssl: write sslmode=require or sslmode=verify-full instead"
	}
	if near := connector.Closest(key, names); near != "" {
		return fmt.Sprintf("unknown parameter %s; did you mean %s?", key, near)
	}
	return fmt.Sprintf("unknown parameter %s; supported: %s", key, strings.Join(names, ", "))
}

// Server makes the access to a server.
func (Dialect) Server(c server.Config) server.Server { return newServer(c) }
