package postgres

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/connector"
)

// maxName is the length in bytes of a name; PostgreSQL cuts longer ones.
const maxName = 63

// ours begins the names that are kept for this program.
const ours = "_sluice"

// quote quotes an identifier.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func quoteAll(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = quote(n)
	}
	return strings.Join(quoted, ", ")
}

// literal quotes a text where a statement takes no parameter. It relies on standard_conforming_strings, which every
// connection sets.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// reserved reports whether a name is one of ours.
func reserved(name string) bool {
	return strings.HasPrefix(name, ours) || strings.HasPrefix(name, "."+ours[1:])
}

// checkName refuses what cannot be a name in PostgreSQL; what says whose, such as "table".
func checkName(what, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("a %s needs a name", what)
	case strings.IndexByte(name, 0) >= 0:
		return fmt.Errorf("%s %q: a name in PostgreSQL has no NUL character", what, name)
	case len(name) > maxName:
		return fmt.Errorf("%s %s: a name in PostgreSQL has at most %d bytes, this one has %d", what, name, maxName, len(name))
	}
	return nil
}

// relation is a table or view of a database.
type relation struct{ schema, name string }

// sql is the quoted name.
func (r relation) sql() string { return quote(r.schema) + "." + quote(r.name) }

// String is the name as users of the dialect write it.
func (r relation) String() string {
	if r.schema == "public" {
		return part(r.name)
	}
	return part(r.schema) + "." + part(r.name)
}

// part quotes a part of a name that would not be read as one.
func part(s string) string {
	if s == "" || s[0] == '"' || strings.Contains(s, ".") {
		return quote(s)
	}
	return s
}

var errNameForm = errors.New(`want table or schema.table; a part that has a dot in it, or begins with a double quote, goes between double quotes, as in "a.b"`)

// parseRelation reads a name as users write it. It checks the form alone.
func parseRelation(text string) (relation, error) {
	var parts []string
	rest := text
	for {
		var p string
		if strings.HasPrefix(rest, `"`) {
			end := 1
			for {
				i := strings.IndexByte(rest[end:], '"')
				if i < 0 {
					return relation{}, fmt.Errorf("table name %s: %w", connector.QuoteName(text), errNameForm)
				}
				end += i + 1
				if end < len(rest) && rest[end] == '"' {
					end++
					continue
				}
				break
			}
			p, rest = strings.ReplaceAll(rest[1:end-1], `""`, `"`), rest[end:]
		} else {
			end := strings.IndexByte(rest, '.')
			if end < 0 {
				end = len(rest)
			}
			p, rest = rest[:end], rest[end:]
		}
		parts = append(parts, p)
		if rest == "" {
			break
		}
		if rest[0] != '.' || len(parts) == 2 {
			return relation{}, fmt.Errorf("table name %s: %w", connector.QuoteName(text), errNameForm)
		}
		rest = rest[1:]
	}
	r := relation{"public", parts[0]}
	if len(parts) == 2 {
		r = relation{parts[0], parts[1]}
	}
	if strings.IndexByte(text, 0) >= 0 {
		return relation{}, fmt.Errorf("table %q: a name in PostgreSQL has no NUL character", text)
	}
	if r.schema == "" || r.name == "" {
		return relation{}, fmt.Errorf("table name %s: %w", connector.QuoteName(text), errNameForm)
	}
	return r, nil
}

// newRelation reads the name of a relation to be made.
func newRelation(text string) (relation, error) {
	r, err := parseRelation(text)
	if err != nil {
		return r, err
	}
	if err := checkName("table", r.name); err != nil {
		return r, err
	}
	if err := checkName("schema", r.schema); err != nil {
		return r, err
	}
	if reserved(r.name) {
		return r, fmt.Errorf("the name %s is reserved: names that begin with %s or .%s cannot be created", text, ours, ours[1:])
	}
	if system(r.schema) {
		return r, fmt.Errorf("the schema %s is PostgreSQL's own; no table can be made there", r.schema)
	}
	return r, nil
}

// system reports whether a schema is the server's own.
func system(schema string) bool {
	return schema == "information_schema" || strings.HasPrefix(schema, "pg_")
}
