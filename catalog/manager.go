package catalog

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"sync"

	"github.com/sluice-sql/sluice/connector"
)

// Error is a refusal by the CatalogManager in Flink's words. Name is the part of the statement that is
// at fault (a catalog, database or object name) so that the session can point at it; Hint may suggest.
type Error struct {
	Name string
	Part Part // what Name is the name of, where that is known
	Msg  string
	Hint string
	Err  error // a sentinel of this package, or nil
}

// Part is a part of an object's path.
type Part uint8

// The parts of a path.
const (
	AnyPart Part = iota // not known
	CatalogPart
	DatabasePart
	ObjectPart
)

// Error returns the message and the hint.
func (e *Error) Error() string {
	if e.Hint != "" {
		return e.Msg + " (" + e.Hint + ")"
	}
	return e.Msg
}

// Unwrap returns the sentinel.
func (e *Error) Unwrap() error { return e.Err }

// Descriptor is what the CatalogManager keeps of a catalog: FLIP-218's name and properties, and a comment.
type Descriptor struct {
	Ref
	Comment string
}

// CatalogManager is a session's registry of catalogs with the properties each was created with, and
// its current catalog and database. A catalog is opened when it is created.
type CatalogManager struct {
	Registry *Registry
	// OnOpen is called once for each catalog, when Catalog first returns it and before anybody gets it from
	// there; session sets it to recovery.
	OnOpen func(ctx context.Context, name string, c Catalog)

	mu       sync.Mutex
	catalogs map[string]*entry
	current  string
	database map[string]string // current database by catalog, where USE changed it
}

type entry struct {
	desc  Descriptor
	cat   Catalog
	first sync.Once // calls OnOpen
}

// Builtin names of the catalog and database that every session starts in.
const (
	DefaultCatalog  = "default_catalog"
	DefaultDatabase = "default_database"
)

// NewCatalogManager returns a manager with the built-in default catalog, of type generic_in_memory.
func NewCatalogManager(r *Registry) (*CatalogManager, error) {
	m := &CatalogManager{Registry: r, catalogs: map[string]*entry{}, current: DefaultCatalog, database: map[string]string{}}
	props := map[string]string{"type": "generic_in_memory", "default-database": DefaultDatabase}
	if err := m.CreateCatalog(context.Background(), Descriptor{Ref: Ref{DefaultCatalog, props}}, false); err != nil {
		return nil, err
	}
	return m, nil
}

// CreateCatalog makes, opens and registers a catalog. With ifNotExists an existing one is left alone.
func (m *CatalogManager) CreateCatalog(ctx context.Context, d Descriptor, ifNotExists bool) error {
	m.mu.Lock()
	_, exists := m.catalogs[d.Name]
	m.mu.Unlock()
	if exists {
		if ifNotExists {
			return nil
		}
		return &Error{Name: d.Name, Msg: fmt.Sprintf("Catalog %s already exists.", d.Name)}
	}
	f, err := m.Registry.factoryOf(d.Properties)
	if err != nil {
		return err
	}
	if err := connector.CheckOptions("catalog type '"+f.Type()+"'", withType(f), d.Properties); err != nil {
		return err
	}
	if d.Properties, err = f.Resolve(d.Properties); err != nil {
		return err
	}
	c, err := m.Registry.New(d.Ref)
	if err != nil {
		return err
	}
	if err := c.Open(ctx); err != nil {
		return errors.Join(err, c.Close())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, rival := m.catalogs[d.Name]; rival { // made while this one was being opened
		err := c.Close()
		if ifNotExists {
			return err
		}
		return errors.Join(&Error{Name: d.Name, Msg: fmt.Sprintf("Catalog %s already exists.", d.Name)}, err)
	}
	m.catalogs[d.Name] = &entry{desc: d, cat: c}
	return nil
}

// DropCatalog forgets a catalog; running jobs keep their own instances.
func (m *CatalogManager) DropCatalog(name string, ifExists bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.catalogs[name]
	if !ok {
		if ifExists {
			return nil
		}
		return m.unknownCatalog(name)
	}
	if name == m.current {
		return &Error{Name: name, Msg: "Cannot drop a catalog which is currently in use."}
	}
	if b, ok := e.cat.(Busy); ok {
		if err := b.Busy(); err != nil {
			return &Error{Name: name, Msg: fmt.Sprintf("Cannot drop catalog %s: %s.", name, err)}
		}
	}
	delete(m.catalogs, name)
	delete(m.database, name)
	return e.cat.Close()
}

func (m *CatalogManager) unknownCatalog(name string) error {
	names := make([]string, 0, len(m.catalogs))
	for n := range m.catalogs {
		names = append(names, n)
	}
	return &Error{Name: name, Part: CatalogPart, Msg: fmt.Sprintf("A catalog with name [%s] does not exist.", name), Hint: hint(name, names)}
}

func hint(name string, names []string) string {
	if c := connector.Closest(name, names); c != "" && c != name {
		return "did you mean " + connector.QuoteName(c) + "?"
	}
	return ""
}

// Catalog returns an opened catalog.
func (m *CatalogManager) Catalog(ctx context.Context, name string) (Catalog, error) {
	m.mu.Lock()
	e, ok := m.catalogs[name]
	if !ok {
		defer m.mu.Unlock()
		return nil, m.unknownCatalog(name)
	}
	m.mu.Unlock()
	if m.OnOpen != nil {
		e.first.Do(func() { m.OnOpen(ctx, name, e.cat) })
	}
	return e.cat, nil
}

// Live returns the instance of a catalog for jobs in this process, without side effect.
func (m *CatalogManager) Live(name string) (Catalog, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.catalogs[name]
	if !ok {
		return nil, false
	}
	return e.cat, true
}

// Descriptor returns what a catalog was created with.
func (m *CatalogManager) Descriptor(name string) (Descriptor, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.catalogs[name]
	if !ok {
		return Descriptor{}, m.unknownCatalog(name)
	}
	return e.desc, nil
}

// ListCatalogs returns the names, sorted.
func (m *CatalogManager) ListCatalogs() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := make([]string, 0, len(m.catalogs))
	for n := range m.catalogs {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// CurrentCatalog returns the current catalog's name.
func (m *CatalogManager) CurrentCatalog() string { m.mu.Lock(); defer m.mu.Unlock(); return m.current }

// CurrentDatabase returns the current database's name.
func (m *CatalogManager) CurrentDatabase() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.currentDatabase()
}

func (m *CatalogManager) currentDatabase() string {
	if db, ok := m.database[m.current]; ok {
		return db
	}
	return m.catalogs[m.current].cat.DefaultDatabase()
}

// UseCatalog makes a catalog the current one; its default database becomes current, and stays so even
// if another becomes the default one (as a new file in a directory of SQLite files can).
func (m *CatalogManager) UseCatalog(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.catalogs[name]
	if !ok {
		return m.unknownCatalog(name)
	}
	m.current = name
	delete(m.database, name)
	if db := e.cat.DefaultDatabase(); db != "" {
		m.database[name] = db
	}
	return nil
}

// UseDatabase makes a database, and its catalog, the current ones.
func (m *CatalogManager) UseDatabase(ctx context.Context, catalog, database string) error {
	if err := m.CheckDatabase(ctx, catalog, database); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.current = catalog
	m.database[catalog] = database
	return nil
}

// CheckDatabase returns an error in Flink's words when a database does not exist.
func (m *CatalogManager) CheckDatabase(ctx context.Context, catalog, database string) error {
	c, err := m.Catalog(ctx, catalog)
	if err != nil {
		return err
	}
	_, err = c.Database(ctx, database)
	if errors.Is(err, ErrDatabaseNotExist) {
		names, _ := c.ListDatabases(ctx) // only for the hint
		if database == "" {
			return &Error{Err: ErrDatabaseNotExist, Msg: fmt.Sprintf("Catalog %s has no database.", catalog), Hint: "CREATE DATABASE makes one."}
		}
		return &Error{Name: database, Part: DatabasePart, Err: ErrDatabaseNotExist, Hint: hint(database, names),
			Msg: fmt.Sprintf("A database with name [%s] does not exist in the catalog: [%s].", database, catalog)}
	}
	return err
}

// Identify completes a name of one to three parts with the current catalog and database.
func (m *CatalogManager) Identify(parts []string) connector.ObjectIdentifier {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch len(parts) {
	case 1:
		return connector.ObjectIdentifier{Catalog: m.current, Database: m.currentDatabase(), Object: parts[0]}
	case 2:
		return connector.ObjectIdentifier{Catalog: m.current, Database: parts[0], Object: parts[1]}
	}
	return connector.ObjectIdentifier{Catalog: parts[0], Database: parts[1], Object: parts[2]}
}

// Table returns a table's definition, or an *Error in Flink's words with a suggestion.
func (m *CatalogManager) Table(ctx context.Context, id connector.ObjectIdentifier) (Catalog, *CatalogTable, error) {
	if err := m.CheckDatabase(ctx, id.Catalog, id.Database); err != nil {
		return nil, nil, err
	}
	c, err := m.Catalog(ctx, id.Catalog)
	if err != nil {
		return nil, nil, err
	}
	t, err := c.Table(ctx, ObjectPath{id.Database, id.Object})
	if errors.Is(err, ErrTableNotExist) {
		names, _ := c.ListTables(ctx, id.Database) // only for the hint
		return c, nil, &Error{Name: id.Object, Part: ObjectPart, Err: ErrTableNotExist, Hint: hint(id.Object, names),
			Msg: fmt.Sprintf("Table with identifier '%s' does not exist.", id)}
	}
	return c, t, err
}

// Close closes every catalog.
func (m *CatalogManager) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var errs []error
	for _, e := range m.catalogs {
		errs = append(errs, e.cat.Close())
	}
	return errors.Join(errs...)
}
