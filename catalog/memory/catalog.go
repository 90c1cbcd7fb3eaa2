package memory

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/memory"
)

// Catalog is a catalog kept in the process.
type Catalog struct {
	name       string
	budget     *connector.Memory
	connectors *catalog.Registry // what opens the tables with 'connector'

	mu        sync.RWMutex
	defaultDB string
	databases map[string]*database
	made      uint64 // tables made so far; numbers their identities
	closed    bool
}

type database struct {
	about    catalog.Database
	tables   map[string]*object
	reserved map[string]*reservation // names of tables that jobs are making elsewhere
}

// object is a table. Its definition never changes.
type object struct {
	table    *catalog.CatalogTable
	identity string
	store    *memory.Store // nil for a table with 'connector'
}

func newDatabase(about catalog.Database) *database {
	return &database{about: about, tables: map[string]*object{}, reserved: map[string]*reservation{}}
}

var (
	_ catalog.Catalog = (*Catalog)(nil)
	_ catalog.Busy    = (*Catalog)(nil)
	_ catalog.Alterer = (*Catalog)(nil)
)

// Open does nothing: the catalog is there.
func (c *Catalog) Open(context.Context) error { return nil }

// Close gives the memory of all tables back, that of tables being read when their readers close.
// Tables that a job still writes keep theirs.
func (c *Catalog) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, db := range c.databases {
		for _, o := range db.tables {
			errs = append(errs, o.drop())
		}
	}
	c.databases, c.closed = map[string]*database{}, true
	return errors.Join(errs...)
}

// Busy returns an error that names the job when one writes or makes a table of the catalog.
func (c *Catalog) Busy() error {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, db := range c.databases {
		if err := db.busy(); err != nil {
			return err
		}
	}
	return nil
}

func (db *database) busy() error {
	for _, r := range db.reserved {
		return r.held()
	}
	for _, o := range db.tables {
		if o.store != nil {
			if err := o.store.Held(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *object) drop() error {
	if o.store == nil {
		return nil
	}
	return o.store.Drop()
}

// DefaultDatabase returns the database that the catalog was created with, or altered to.
func (c *Catalog) DefaultDatabase() string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.defaultDB
}

// ListDatabases returns the names, sorted.
func (c *Catalog) ListDatabases(context.Context) ([]string, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Sorted(maps.Keys(c.databases)), nil
}

// Database describes a database.
func (c *Catalog) Database(_ context.Context, name string) (*catalog.Database, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	db, err := c.database(name)
	if err != nil {
		return nil, err
	}
	about := db.about
	return &about, nil
}

// database finds a database; c.mu is held.
func (c *Catalog) database(name string) (*database, error) {
	db, ok := c.databases[name]
	if !ok {
		return nil, fmt.Errorf("%w: %s.%s", catalog.ErrDatabaseNotExist, c.name, name)
	}
	return db, nil
}

// CreateDatabase makes an empty database.
func (c *Catalog) CreateDatabase(_ context.Context, name string, about catalog.Database) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return c.gone()
	}
	if _, ok := c.databases[name]; ok {
		return fmt.Errorf("%w: %s.%s", catalog.ErrDatabaseAlreadyExist, c.name, name)
	}
	c.databases[name] = newDatabase(about)
	return nil
}

func (c *Catalog) gone() error { return fmt.Errorf("catalog %s was dropped", c.name) }

// DropDatabase drops a database. With cascade its tables go too, unless a job writes or makes one of them.
func (c *Catalog) DropDatabase(_ context.Context, name string, cascade bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	db, err := c.database(name)
	if err != nil {
		return err
	}
	if len(db.tables) > 0 && !cascade {
		return fmt.Errorf("%w: %s.%s has %d tables", catalog.ErrDatabaseNotEmpty, c.name, name, len(db.tables))
	}
	if err := db.busy(); err != nil { // all or none: looked at before the first is dropped
		return err
	}
	for table, o := range db.tables {
		if err := o.drop(); err != nil {
			return err
		}
		delete(db.tables, table)
	}
	delete(c.databases, name)
	return nil
}

// ListTables returns the names of a database's tables, sorted.
func (c *Catalog) ListTables(_ context.Context, name string) ([]string, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	db, err := c.database(name)
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(db.tables)), nil
}

// Table returns a table's definition, which is not to be changed.
func (c *Catalog) Table(_ context.Context, path catalog.ObjectPath) (*catalog.CatalogTable, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	o, err := c.object(path)
	if err != nil {
		return nil, err
	}
	return o.table, nil
}

// object finds a table; c.mu is held.
func (c *Catalog) object(path catalog.ObjectPath) (*object, error) {
	db, err := c.database(path.Database)
	if err != nil {
		return nil, err
	}
	if o, ok := db.tables[path.Object]; ok {
		return o, nil
	}
	for _, name := range slices.Sorted(maps.Keys(db.tables)) {
		if strings.EqualFold(name, path.Object) {
			return nil, fmt.Errorf("%w: %s; there is %s, and names are case-sensitive",
				catalog.ErrTableNotExist, c.identifier(path), connector.QuoteName(name))
		}
	}
	return nil, fmt.Errorf("%w: %s", catalog.ErrTableNotExist, c.identifier(path))
}

func (c *Catalog) identifier(path catalog.ObjectPath) connector.ObjectIdentifier {
	if c.name == catalog.TemporaryCatalog {
		return catalog.TemporaryID(path)
	}
	return connector.ObjectIdentifier{Catalog: c.name, Database: path.Database, Object: path.Object}
}

// CreateTable makes an empty table.
func (c *Catalog) CreateTable(_ context.Context, path catalog.ObjectPath, table *catalog.CatalogTable) (bool, string, error) {
	if err := c.accepts(path, table); err != nil {
		return false, "", err
	}
	var store *memory.Store
	if keepsRows(table) {
		store = memory.NewStore(c.identifier(path), table.Schema, c.budget)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	identity, err := c.register(path, table, store)
	return err == nil, identity, err
}

// keepsRows reports whether a table's rows are kept here: it is no view and has no connector.
func keepsRows(t *catalog.CatalogTable) bool {
	_, foreign := t.Options["connector"]
	return t.Kind != catalog.KindView && !foreign
}

// register makes an object visible if its name is free; c.mu is held.
func (c *Catalog) register(path catalog.ObjectPath, table *catalog.CatalogTable, store *memory.Store) (identity string, err error) {
	db, err := c.vacancy(path)
	if err != nil {
		return "", err
	}
	c.made++
	identity = strconv.FormatUint(c.made, 10)
	db.tables[path.Object] = &object{table: table, identity: identity, store: store}
	return identity, nil
}

// vacancy returns the database of a name that is free; c.mu is held.
func (c *Catalog) vacancy(path catalog.ObjectPath) (*database, error) {
	if c.closed {
		return nil, c.gone()
	}
	db, err := c.database(path.Database)
	if err == nil {
		err = c.free(db, path)
	}
	return db, err
}

func (c *Catalog) free(db *database, path catalog.ObjectPath) error {
	if _, taken := db.tables[path.Object]; taken {
		return fmt.Errorf("%w: %s", catalog.ErrTableAlreadyExist, c.identifier(path))
	}
	if r, taken := db.reserved[path.Object]; taken {
		return r.held() // it may never come to be
	}
	return nil
}

// accepts refuses what the catalog cannot keep.
func (c *Catalog) accepts(path catalog.ObjectPath, table *catalog.CatalogTable) error {
	rows := keepsRows(table)
	keys := slices.Collect(maps.Keys(table.Options))
	sort.Strings(keys)
	for _, k := range keys {
		switch {
		case catalog.ReservedOption(k):
			return &connector.OptionError{Key: k, KeyAtFault: true, Msg: fmt.Sprintf("option '%s' of table %s: this key is reserved", k, c.identifier(path))}
		case rows:
			return &connector.OptionError{Key: k, KeyAtFault: true, Msg: fmt.Sprintf("option '%s' means nothing for table %s: without the option 'connector' its rows are kept in memory, which has no options", k, c.identifier(path))}
		}
	}
	for _, v := range table.Virtual {
		if rows && v.Key != "" {
			return &catalog.ColumnError{Column: v.Name, Msg: fmt.Sprintf("column %s: rows kept in memory have no metadata", connector.QuoteName(v.Name))}
		}
	}
	return nil
}

// DropTable drops a table, unless a job writes it. With an identity it only drops the very table that
// was created with it; another table under the name is left alone, and the one named does not exist.
func (c *Catalog) DropTable(_ context.Context, path catalog.ObjectPath, identity string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	o, err := c.object(path)
	if err != nil {
		return err
	}
	if identity != "" && o.identity != identity {
		return fmt.Errorf("%w: %s has been replaced by another table of that name", catalog.ErrTableNotExist, c.identifier(path))
	}
	if err := o.drop(); err != nil {
		return err
	}
	delete(c.databases[path.Database].tables, path.Object)
	return nil
}

// Stores says that everything is kept; options only of tables with a connector.
func (c *Catalog) Stores() catalog.Clause {
	return catalog.StoresComment | catalog.StoresOptions | catalog.StoresComputed | catalog.StoresMetadata |
		catalog.StoresWatermark | catalog.StoresPartitions | catalog.StoresDistribution | catalog.StoresView
}

// Factory opens the tables whose rows are kept here.
func (c *Catalog) Factory() connector.Factory { return memory.Factory{Find: c.store} }

func (c *Catalog) store(id connector.ObjectIdentifier) (*memory.Store, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	o, err := c.object(catalog.PathOf(id))
	if err != nil {
		return nil, err
	}
	switch {
	case o.store == nil && o.table.Kind == catalog.KindView:
		return nil, fmt.Errorf("%s is a view; it keeps no rows", id)
	case o.store == nil:
		return nil, fmt.Errorf("table %s keeps no rows in memory: its connector is '%s'", id, o.table.Options["connector"])
	}
	return o.store, nil
}

// StoreKey names the rows of one table.
func (c *Catalog) StoreKey(path catalog.ObjectPath) string { return memory.Key(c.identifier(path)) }
