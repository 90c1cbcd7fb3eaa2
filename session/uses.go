package session

import (
	"context"
	"os"
	"path/filepath"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
)

// UsedBy says what of the session keeps its rows in the file at a path, as "catalog shop" or "table t"; "" when
// nothing does. The files that SQLite keeps beside a database are its own too. No database is opened.
func (s *Session) UsedBy(ctx context.Context, path string) string {
	for _, name := range s.catalogs.ListCatalogs(ctx) {
		c, ok := s.catalogs.Live(name)
		if !ok {
			continue
		}
		if k, ok := c.(catalog.FileKeeper); ok && anyIs(k.Files(), path) {
			return "catalog " + connector.QuoteName(name)
		}
		if id, ok := s.tableIn(ctx, name, c, path); ok {
			return "table " + id.String()
		}
	}
	return ""
}

// tableIn finds the table of a catalog, or of the temporary ones in its place, that keeps its rows in a file.
func (s *Session) tableIn(ctx context.Context, name string, c catalog.Catalog, path string) (connector.ObjectIdentifier, bool) {
	databases, err := c.ListDatabases(ctx)
	if err != nil {
		return connector.ObjectIdentifier{}, false
	}
	for _, database := range databases {
		tables := s.catalogs.ListTemporary(name, database)
		if _, ok := c.(catalog.FileKeeper); !ok { // those of one that keeps files are in these
			own, err := c.ListTables(ctx, database)
			if err != nil {
				continue
			}
			tables = append(tables, own...)
		}
		for _, object := range tables {
			id := connector.ObjectIdentifier{Catalog: name, Database: database, Object: object}
			_, t, err := s.catalogs.Table(ctx, id)
			if err != nil {
				continue
			}
			f, err := s.registry.Connector(id, t.Options["connector"])
			if err != nil {
				continue
			}
			if k, ok := f.(connector.FileKeeper); ok && anyIs(k.Files(t.Def(id)), path) {
				return id, true
			}
		}
	}
	return connector.ObjectIdentifier{}, false
}

// anyIs reports whether a path is that of one of some databases, or of a file that belongs to it.
func anyIs(databases []string, path string) bool {
	for _, d := range databases {
		for _, side := range []string{"", "-wal", "-shm", "-journal"} {
			if sameFile(d+side, path) {
				return true
			}
		}
	}
	return false
}

// sameFile reports whether two paths lead to one file, which need not be there yet.
func sameFile(a, b string) bool {
	inA, errA := os.Stat(a)
	inB, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(inA, inB)
	}
	if filepath.Base(a) != filepath.Base(b) {
		return false
	}
	inA, errA = os.Stat(filepath.Dir(a))
	inB, errB = os.Stat(filepath.Dir(b))
	return errA == nil && errB == nil && os.SameFile(inA, inB)
}
