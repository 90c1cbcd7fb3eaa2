package jdbc

import (
	"slices"
	"strings"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/connector/jdbc/sqlite"
)

// sqliteDialect is the one dialect that is no server's.
const sqliteDialect = "sqlite"

// Dialects are the kinds of servers that can be reached beside SQLite's files. None named means all there are.
type Dialects []server.Dialect

// All returns the dialects, those of this package's list when none is named.
func (d Dialects) All() []server.Dialect {
	if len(d) > 0 {
		return d
	}
	return servers()
}

// Names returns the names that a URL may have.
func (d Dialects) Names() []string {
	names := []string{sqliteDialect}
	for _, s := range d.All() {
		names = append(append(names, s.Name()), s.Aliases()...)
	}
	return names
}

// Begins are the beginnings of addresses, for completion.
func (d Dialects) Begins() [][2]string {
	list := [][2]string{{"jdbc:" + sqliteDialect + ":", "a file, or a folder of files"}}
	for _, s := range d.All() {
		for _, name := range append([]string{s.Name()}, s.Aliases()...) {
			list = append(list, [2]string{"jdbc:" + name + "://", "a server, and one of its databases"})
		}
	}
	return list
}

func (d Dialects) find(name string) server.Dialect {
	for _, s := range d.All() {
		if s.Name() == name || slices.Contains(s.Aliases(), name) {
			return s
		}
	}
	return nil
}

// Options returns what every dialect declares, each once: what several have means the same.
func (d Dialects) Options() []connector.Option {
	list := sqlite.Options()
	for _, s := range d.All() {
		for _, o := range s.Options() {
			if !slices.ContainsFunc(list, func(has connector.Option) bool { return has.Key == o.Key }) {
				list = append(list, o)
			}
		}
	}
	return list
}

// check refuses the options that are another dialect's.
func (d Dialects) check(own []connector.Option, what string, options map[string]string) error {
	for _, key := range sortedKeys(options) {
		has := func(o connector.Option) bool { return o.Matches(key) }
		if slices.ContainsFunc(own, has) || !slices.ContainsFunc(d.Options(), has) {
			continue
		}
		owner := "SQLite"
		for _, s := range d.All() {
			if slices.ContainsFunc(s.Options(), has) {
				owner = s.Name()
			}
		}
		return &connector.OptionError{Key: key, KeyAtFault: true, Msg: "the option '" + key + "' is for " + owner + ", not for " + what + ": leave it out"}
	}
	return nil
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// quoted lists names for a message.
func quoted(names []string) string { return "'" + strings.Join(names, "', '") + "'" }
