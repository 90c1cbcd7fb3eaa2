package session

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
)

// names keeps what catalogs have told of their names, for completion. A catalog is asked again when what it
// said is a second old, or a statement has run since; who waits for the answer no longer than their context
// allows gets the old one. A lister that hangs, as on a locked file, is one goroutine and is not asked twice.
// The zero value is ready for use.
type names struct {
	mu      sync.Mutex
	entries map[string]*nameEntry
	bare    map[string]bool // names, and whether they need no back-quotes
	changes int             // counts the statements that may have changed names
	loading sync.WaitGroup
	ctx     context.Context // of the loaders
	cancel  context.CancelFunc
}

type nameEntry struct {
	value   any
	at      time.Time
	changes int
	pending chan struct{} // closed when the loader ends; nil when none runs
}

// freshFor is how long names are taken to be true: another process may make tables too.
const freshFor = time.Second

// loadFor is how long a catalog may take to tell names.
const loadFor = time.Second

// changed notes that names may have changed.
func (n *names) changed() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.changes++
}

// close ends the loaders and waits for them, but for those that do not hear that they are to end, as on a
// network's file system that has gone.
func (n *names) close() {
	n.mu.Lock()
	if n.ctx == nil {
		n.ctx, n.cancel = context.WithCancel(context.Background())
	}
	n.cancel()
	n.mu.Unlock()
	done := make(chan struct{})
	go func() {
		n.loading.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(loadFor):
	}
}

// named returns what load tells, kept under a key. load may be called in another goroutine.
func named[T any](ctx context.Context, n *names, key string, load func(context.Context) (T, error)) T {
	n.mu.Lock()
	if n.ctx == nil {
		n.ctx, n.cancel = context.WithCancel(context.Background())
	}
	if n.entries == nil || len(n.entries) > 10_000 {
		n.entries = map[string]*nameEntry{}
	}
	e := n.entries[key]
	if e == nil {
		e = &nameEntry{}
		n.entries[key] = e
	}
	if fresh := !e.at.IsZero() && e.changes == n.changes && time.Since(e.at) < freshFor; !fresh && n.ctx.Err() == nil {
		if e.pending == nil {
			done := make(chan struct{})
			e.pending = done
			n.loading.Add(1)
			go func(ctx context.Context, changes int) {
				defer n.loading.Done()
				ctx, cancel := context.WithTimeout(ctx, loadFor)
				defer cancel()
				value, err := load(ctx)
				n.mu.Lock()
				defer n.mu.Unlock()
				e.pending = nil
				close(done)
				if err == nil || errors.Is(err, catalog.ErrDatabaseNotExist) || errors.Is(err, catalog.ErrTableNotExist) {
					e.value, e.at, e.changes = value, time.Now(), changes
				}
			}(n.ctx, n.changes)
		}
		pending := e.pending
		n.mu.Unlock()
		select {
		case <-pending:
		case <-ctx.Done():
		}
		n.mu.Lock()
	}
	defer n.mu.Unlock()
	v, _ := e.value.(T)
	return v
}

// plain is plainName, which parses, for names that come again with every Tab.
func (n *names) plain(name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.bare == nil || len(n.bare) > 10_000 {
		n.bare = map[string]bool{}
	}
	plain, ok := n.bare[name]
	if !ok {
		plain = plainName(name)
		n.bare[name] = plain
	}
	return plain
}

// errClosed is the answer of a catalog that is not open.
var errClosed = errors.New("the catalog is not open")

// catalogNames returns the names of the catalogs.
func (s *Session) catalogNames(ctx context.Context) []string {
	return named(ctx, &s.names, "catalogs", func(ctx context.Context) ([]string, error) { return s.catalogs.ListCatalogs(ctx), nil })
}

// catalogProperties returns what a catalog was created with, by which its type is known.
func (s *Session) catalogProperties(ctx context.Context, name string) map[string]string {
	return named(ctx, &s.names, nameKey("catalog", name), func(ctx context.Context) (map[string]string, error) {
		d, err := s.catalogs.Descriptor(ctx, name)
		return d.Properties, err
	})
}

// databaseNames returns the names of an open catalog's databases.
func (s *Session) databaseNames(ctx context.Context, in string) []string {
	return named(ctx, &s.names, nameKey("databases", in), func(ctx context.Context) ([]string, error) {
		c, ok := s.catalogs.Live(in)
		if !ok {
			return nil, errClosed
		}
		return c.ListDatabases(ctx)
	})
}

// tableNames returns the names of the tables and views of an open catalog's database.
func (s *Session) tableNames(ctx context.Context, in, database string) []string {
	if database == "" {
		return nil
	}
	stored := named(ctx, &s.names, nameKey("tables", in, database), func(ctx context.Context) ([]string, error) {
		c, ok := s.catalogs.Live(in)
		if !ok {
			return nil, errClosed
		}
		return c.ListTables(ctx, database)
	})
	own := s.catalogs.ListTemporary(in, database)
	return append(slices.Clone(stored), own...)
}

// viewNames returns those of tableNames that are views.
func (s *Session) viewNames(ctx context.Context, in, database string) []string {
	if database == "" {
		return nil
	}
	views := slices.Clone(named(ctx, &s.names, nameKey("views", in, database), func(ctx context.Context) ([]string, error) {
		c, ok := s.catalogs.Live(in)
		if !ok {
			return nil, errClosed
		}
		return viewsOf(ctx, c, database)
	}))
	for _, name := range s.catalogs.ListTemporary(in, database) {
		t, ok := s.catalogs.TemporaryTable(connector.ObjectIdentifier{Catalog: in, Database: database, Object: name})
		if ok && t.Kind == catalog.KindView {
			views = append(views, name)
		}
	}
	return views
}

// columnNames returns the columns of a table by the name that is written.
func (s *Session) columnNames(ctx context.Context, path []string) []completedColumn {
	if len(path) == 0 || len(path) > 3 {
		return nil
	}
	id := s.catalogs.Identify(path)
	if t, ok := s.catalogs.TemporaryTable(id); ok {
		return tableColumns(t)
	}
	return named(ctx, &s.names, nameKey("columns", id.Catalog, id.Database, id.Object), func(ctx context.Context) ([]completedColumn, error) {
		c, ok := s.catalogs.Live(id.Catalog)
		if !ok {
			return nil, errClosed
		}
		t, err := c.Table(ctx, catalog.ObjectPath{Database: id.Database, Object: id.Object})
		if err != nil {
			return nil, err
		}
		return tableColumns(t), nil
	})
}

func tableColumns(t *catalog.CatalogTable) []completedColumn {
	var list []completedColumn
	for _, col := range t.Columns() {
		list = append(list, completedColumn{name: col.Name, doc: col.Type.String()})
	}
	return list
}

// optionsNamed returns the options of a table by the name that is written.
func (s *Session) optionsNamed(ctx context.Context, path []string) map[string]string {
	if len(path) == 0 || len(path) > 3 {
		return nil
	}
	id := s.catalogs.Identify(path)
	if t, ok := s.catalogs.TemporaryTable(id); ok {
		return t.Options
	}
	return named(ctx, &s.names, nameKey("options", id.Catalog, id.Database, id.Object), func(ctx context.Context) (map[string]string, error) {
		c, ok := s.catalogs.Live(id.Catalog)
		if !ok {
			return nil, errClosed
		}
		t, err := c.Table(ctx, catalog.ObjectPath{Database: id.Database, Object: id.Object})
		if err != nil {
			return nil, err
		}
		return t.Options, nil
	})
}

// nameKey makes a key of the cache; no part of a name holds a NUL.
func nameKey(parts ...string) string { return strings.Join(parts, "\x00") }
