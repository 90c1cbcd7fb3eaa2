package catalog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

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

// CatalogManager is a session's registry of catalogs with the properties each was created with, its
// current catalog and database, and its temporary objects (temporary.go). A catalog is opened when it is
// created; one that the Store keeps from another session, when it is first used.
type CatalogManager struct {
	Registry *Registry
	// OnOpen is called once for each catalog, when Catalog first returns it and before anybody gets it from
	// there; session sets it to recovery.
	OnOpen func(ctx context.Context, name string, c Catalog)
	// Store keeps the catalogs that are created from now on, and gives those that it already has. It is set
	// before the first statement, and then for good; nil keeps nothing. The built-in default catalog is not
	// in it. What another session changes there is seen until a catalog is opened here, and not afterwards.
	Store CatalogStore

	mu        sync.Mutex
	catalogs  map[string]*entry
	current   string
	database  map[string]string // current database by catalog, where USE changed it
	temporary temporaries
}

// entry is a catalog that was created or used in this session.
type entry struct {
	desc   Descriptor
	stored bool    // the Store has it
	cat    Catalog // nil until it is opened
	// dropping is set while the Store forgets it: it cannot become the current one any more.
	dropping bool
	first    *sync.Once // calls OnOpen for cat

	// busy is a lock that can be waited for with a context. Who opens, alters or drops the catalog has it, and
	// asks the Store under it; the manager's mu, which jobs wait for, is never held meanwhile.
	busy chan struct{}
}

func newEntry(d Descriptor, stored bool, c Catalog) *entry {
	return &entry{desc: d, stored: stored, cat: c, first: &sync.Once{}, busy: make(chan struct{}, 1)}
}

func (e *entry) lock(ctx context.Context) error {
	select {
	case e.busy <- struct{}{}:
		return nil
	default:
	}
	select {
	case e.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (e *entry) unlock() { <-e.busy }

// Builtin names of the catalog and database that every session starts in.
const (
	DefaultCatalog  = "default_catalog"
	DefaultDatabase = "default_database"
)

// NewCatalogManager returns a manager with the built-in default catalog, of type generic_in_memory.
func NewCatalogManager(r *Registry) (*CatalogManager, error) {
	m := &CatalogManager{Registry: r, catalogs: map[string]*entry{}, current: DefaultCatalog, database: map[string]string{}}
	props := map[string]string{"type": "generic_in_memory", "default-database": DefaultDatabase}
	if err := m.CreateCatalog(context.Background(), Descriptor{Ref: Ref{DefaultCatalog, props}}); err != nil {
		return nil, err
	}
	return m, nil
}

// StoreWhere says in a sentence where catalogs are kept.
func (m *CatalogManager) StoreWhere() string {
	if m.Store == nil {
		return inMemory
	}
	return m.Store.Where()
}

// exists reports whether a catalog is registered or kept.
func (m *CatalogManager) exists(ctx context.Context, name string) (bool, error) {
	m.mu.Lock()
	e, ok := m.catalogs[name]
	settled := ok && e.settled()
	m.mu.Unlock()
	if settled || m.Store == nil {
		return settled, nil
	}
	names, err := m.Store.List(ctx)
	return slices.Contains(names, name) && !reservedCatalog(name), err
}

// settled reports whether a catalog is there whatever the Store says. The manager's mu is held.
func (e *entry) settled() bool { return e.cat != nil || !e.stored }

// registered reports whether a name still is that of an entry, and stays so.
func (m *CatalogManager) registered(name string, e *entry) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.catalogs[name] == e && !e.dropping
}

func alreadyThere(name string) error {
	return &Error{Name: name, Part: CatalogPart, Err: ErrCatalogAlreadyExist, Msg: fmt.Sprintf("Catalog %s already exists.", name)}
}

// CreateCatalog makes, opens, keeps and registers a catalog; one that exists is an *Error with
// ErrCatalogAlreadyExist.
func (m *CatalogManager) CreateCatalog(ctx context.Context, d Descriptor) error {
	if reservedCatalog(d.Name) {
		return &Error{Name: d.Name, Part: CatalogPart, Msg: fmt.Sprintf("The name %s is reserved: names that begin with _sluice cannot be created.", d.Name)}
	}
	exists, err := m.exists(ctx, d.Name)
	switch {
	case err != nil:
		return err
	case exists:
		return alreadyThere(d.Name)
	}
	d, c, err := m.open(ctx, d)
	if err != nil {
		return err
	}
	if m.Store != nil {
		if err := m.Store.Store(ctx, d); err != nil {
			if errors.Is(err, ErrCatalogAlreadyExist) {
				err = alreadyThere(d.Name)
			}
			return errors.Join(err, c.Close())
		}
	}
	m.mu.Lock()
	rival := m.catalogs[d.Name] // made while this one was being opened, or found in the Store since
	switch {
	case rival == nil:
		m.catalogs[d.Name] = newEntry(d, m.Store != nil, c)
		c = nil
	case rival.stored && rival.cat == nil:
		rival.desc, rival.cat = d, c
		c = nil
	case rival.stored: // opened from what has just been kept
	default:
		err = alreadyThere(d.Name)
	}
	m.mu.Unlock()
	if c != nil {
		err = errors.Join(err, c.Close())
	}
	return err
}

// open makes and opens an instance, and returns the descriptor as it is to be kept.
func (m *CatalogManager) open(ctx context.Context, d Descriptor) (Descriptor, Catalog, error) {
	f, err := m.Registry.factoryOf(d.Properties)
	if err != nil {
		return d, nil, err
	}
	if err := connector.CheckOptions("catalog type '"+f.Type()+"'", withType(f), d.Properties); err != nil {
		return d, nil, err
	}
	if d.Properties, err = f.Resolve(d.Properties); err != nil {
		return d, nil, err
	}
	c, err := m.Registry.New(d.Ref)
	if err != nil {
		return d, nil, err
	}
	err = c.Open(ctx)
	if p, ok := c.(Prober); ok && err == nil {
		err = p.Probe(ctx)
	}
	if err != nil {
		return d, nil, errors.Join(err, c.Close())
	}
	return d, c, nil
}

// find returns the entry of a catalog. What is known of one that is kept and not yet opened is read again.
func (m *CatalogManager) find(ctx context.Context, name string) (*entry, error) {
	m.mu.Lock()
	e, ok := m.catalogs[name]
	settled := ok && e.settled()
	m.mu.Unlock()
	if settled {
		return e, nil
	}
	if m.Store == nil || reservedCatalog(name) {
		return nil, m.unknownCatalog(name, m.ListCatalogs(ctx))
	}
	d, ok, err := m.Store.Get(ctx, name)
	if err != nil {
		return nil, &Error{Name: name, Part: CatalogPart, Msg: err.Error(), Err: err}
	}
	m.mu.Lock()
	e, had := m.catalogs[name]
	switch {
	case had && e.cat != nil: // opened meanwhile
	case had && ok:
		e.desc = d
	case had:
		delete(m.catalogs, name)
	case ok:
		e = newEntry(d, true, nil)
		m.catalogs[name] = e
	}
	gone := e == nil || e.cat == nil && !ok
	m.mu.Unlock()
	if gone {
		return nil, m.unknownCatalog(name, m.ListCatalogs(ctx))
	}
	return e, nil
}

// DropCatalog forgets a catalog, here and in the Store; running jobs keep their own instances. One that does
// not exist is an *Error with ErrCatalogNotExist.
func (m *CatalogManager) DropCatalog(ctx context.Context, name string) error {
	exists, err := m.exists(ctx, name)
	if err != nil {
		return err
	}
	if !exists || reservedCatalog(name) {
		return m.unknownCatalog(name, m.ListCatalogs(ctx))
	}
	m.mu.Lock()
	e := m.catalogs[name]
	if e == nil { // kept, and not yet used: its file may be unreadable
		e = newEntry(Descriptor{Ref: Ref{Name: name}}, true, nil)
		m.catalogs[name] = e
	}
	m.mu.Unlock()
	if err := e.lock(ctx); err != nil {
		return err
	}
	defer e.unlock()
	if err := m.beginDrop(name, e); err != nil {
		return err
	}
	if m.Store != nil && e.stored {
		if err := m.Store.Remove(ctx, name); err != nil && !errors.Is(err, ErrCatalogNotExist) {
			m.mu.Lock()
			defer m.mu.Unlock()
			e.dropping = false
			if e.cat == nil && e.desc.Properties == nil { // nothing was known of it
				delete(m.catalogs, name)
			}
			return err
		}
	}
	m.mu.Lock()
	if m.catalogs[name] == e {
		delete(m.catalogs, name)
		delete(m.database, name)
	}
	c := e.cat
	m.mu.Unlock()
	if c == nil {
		return nil
	}
	return c.Close()
}

// beginDrop sees to it that a catalog does not become the current one while it is being dropped.
func (m *CatalogManager) beginDrop(name string, e *entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.catalogs[name] != e {
		return m.unknownCatalog(name, nil)
	}
	if name == m.current {
		return &Error{Name: name, Msg: "Cannot drop a catalog which is currently in use."}
	}
	if b, ok := e.cat.(Busy); ok {
		if err := b.Busy(); err != nil {
			return &Error{Name: name, Msg: fmt.Sprintf("Cannot drop catalog %s: %s.", name, err)}
		}
	}
	e.dropping = true
	return nil
}

// unknownCatalog is the error for a name that is not a catalog's; names are those that are.
func (m *CatalogManager) unknownCatalog(name string, names []string) error {
	return &Error{Name: name, Part: CatalogPart, Err: ErrCatalogNotExist, Hint: hint(name, names),
		Msg: fmt.Sprintf("A catalog with name [%s] does not exist.", name)}
}

func hint(name string, names []string) string {
	if c := connector.Closest(name, names); c != "" && c != name {
		return "did you mean " + connector.QuoteName(c) + "?"
	}
	return ""
}

// Catalog returns an opened catalog.
func (m *CatalogManager) Catalog(ctx context.Context, name string) (Catalog, error) {
	e, err := m.find(ctx, name)
	if err != nil {
		return nil, err
	}
	c, first, err := m.instance(ctx, name, e)
	if err != nil {
		return nil, err
	}
	if m.OnOpen != nil {
		first.Do(func() { m.OnOpen(ctx, name, c) })
	}
	return c, nil
}

// instance returns the catalog of an entry, opening it at first. One that cannot be opened is tried again
// at the next use.
func (m *CatalogManager) instance(ctx context.Context, name string, e *entry) (Catalog, *sync.Once, error) {
	if err := e.lock(ctx); err != nil {
		return nil, nil, err
	}
	defer e.unlock()
	m.mu.Lock()
	c, first, d := e.cat, e.first, e.desc
	gone := m.catalogs[name] != e // dropped meanwhile
	m.mu.Unlock()
	if gone {
		return nil, nil, m.unknownCatalog(name, m.ListCatalogs(ctx))
	}
	if c != nil {
		return c, first, nil
	}
	d, c, err := m.open(ctx, d)
	if err != nil {
		return nil, nil, &Error{Name: name, Part: CatalogPart, Err: err, Msg: fmt.Sprintf("Catalog %s cannot be opened: %s", name, err)}
	}
	var spare Catalog
	m.mu.Lock()
	switch {
	case m.catalogs[name] != e: // the Store has it no more
		spare, err = c, m.unknownCatalog(name, nil)
	case e.cat != nil: // whoever created it has just put it there
		spare = c
	default:
		e.desc, e.cat = d, c
	}
	c, first = e.cat, e.first
	m.mu.Unlock()
	if spare != nil {
		err = errors.Join(err, spare.Close())
	}
	return c, first, err
}

// Live returns the instance of a catalog for jobs in this process, without side effect.
func (m *CatalogManager) Live(name string) (Catalog, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if name == TemporaryCatalog {
		return m.temporary.cat, m.temporary.cat != nil
	}
	e, ok := m.catalogs[name]
	if !ok || e.cat == nil {
		return nil, false
	}
	return e.cat, true
}

// Descriptor returns what a catalog was created with. It opens nothing.
func (m *CatalogManager) Descriptor(ctx context.Context, name string) (Descriptor, error) {
	e, err := m.find(ctx, name)
	if err != nil {
		return Descriptor{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return e.desc, nil
}

// Known returns what is known of a catalog without asking the Store: of those that this session has created
// or used.
func (m *CatalogManager) Known(name string) (Descriptor, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.catalogs[name]
	if !ok {
		return Descriptor{}, false
	}
	return e.desc, true
}

// AllKnown returns what is known of each catalog without asking the Store, by name.
func (m *CatalogManager) AllKnown() []Descriptor {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]Descriptor, 0, len(m.catalogs))
	for _, name := range slices.Sorted(maps.Keys(m.catalogs)) {
		list = append(list, m.catalogs[name].desc)
	}
	return list
}

// ListCatalogs returns the names, sorted: those of AllCatalogs as far as they can be found.
func (m *CatalogManager) ListCatalogs(ctx context.Context) []string {
	names, _ := m.AllCatalogs(ctx) // for hints and completion; SHOW CATALOGS asks AllCatalogs
	return names
}

// AllCatalogs returns the names of the catalogs of this session and of the Store, sorted. With an error,
// which is the Store's, they are those of this session.
func (m *CatalogManager) AllCatalogs(ctx context.Context) ([]string, error) {
	var kept []string
	var err error
	if m.Store != nil {
		kept, err = m.Store.List(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	all := map[string]bool{}
	for n, e := range m.catalogs {
		all[n] = err != nil || e.settled()
	}
	for _, n := range kept {
		all[n] = !reservedCatalog(n)
	}
	maps.DeleteFunc(all, func(_ string, listed bool) bool { return !listed })
	return slices.Sorted(maps.Keys(all)), err
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
func (m *CatalogManager) UseCatalog(ctx context.Context, name string) error {
	e, err := m.find(ctx, name)
	if err != nil {
		return err
	}
	c, _, err := m.instance(ctx, name, e)
	if err != nil {
		return err
	}
	db := c.DefaultDatabase()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.catalogs[name] != e || e.dropping {
		return m.unknownCatalog(name, nil)
	}
	m.current = name
	delete(m.database, name)
	if db != "" {
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
	if e := m.catalogs[catalog]; e == nil || e.cat == nil || e.dropping { // dropped meanwhile
		return m.unknownCatalog(catalog, nil)
	}
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
		switch {
		case database == "" && len(names) > 0:
			return &Error{Err: ErrDatabaseNotExist, Msg: fmt.Sprintf("No database of catalog %s is in use.", catalog), Hint: "USE enters one, as USE " + connector.QuoteName(names[0]) + "; 'default-database' in the catalog's options says which one to begin with"}
		case database == "":
			return &Error{Err: ErrDatabaseNotExist, Msg: fmt.Sprintf("Catalog %s has no database.", catalog), Hint: "CREATE DATABASE makes one."}
		}
		h := hint(database, names)
		if other := m.catalogHint(database); other != "" {
			h = other
		} else if other := m.schemaHint(ctx, catalog, c, database); other != "" {
			h = other
		}
		return &Error{Name: database, Part: DatabasePart, Err: ErrDatabaseNotExist, Hint: h,
			Msg: fmt.Sprintf("A database with name [%s] does not exist in the catalog: [%s].", database, catalog)}
	}
	return err
}

// schemaHint says that what was taken for the name of a database is that of a schema in the current one: there, a
// table is called schema.table in one name. It is "" when it is not, or when asking takes long.
func (m *CatalogManager) schemaHint(ctx context.Context, name string, c Catalog, schema string) string {
	m.mu.Lock()
	database := m.database[name]
	m.mu.Unlock()
	if database == "" {
		database = c.DefaultDatabase()
	}
	return schemaIn(ctx, c, database, schema, "")
}

// schemaIn is schemaHint for a database; before is what is written before the name of a table.
func schemaIn(ctx context.Context, c Catalog, database, schema, before string) string {
	ctx, cancel := context.WithTimeout(ctx, hintLimit)
	defer cancel()
	names, err := c.ListTables(ctx, database)
	if err != nil {
		return ""
	}
	for _, n := range names {
		if strings.HasPrefix(n, schema+".") {
			return connector.QuoteName(schema) + " is a schema of the database " + connector.QuoteName(database) + ": a table of it is written as one name, " + before + connector.QuoteName(n)
		}
	}
	return ""
}

// threePartHint adds, to the error for a catalog that is not there, that database.schema.table was written.
func (m *CatalogManager) threePartHint(ctx context.Context, id connector.ObjectIdentifier, err error) error {
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, ErrCatalogNotExist) {
		return err
	}
	c, cerr := m.Catalog(ctx, m.CurrentCatalog())
	if cerr != nil {
		return err
	}
	if h := schemaIn(ctx, c, id.Catalog, id.Database, connector.QuoteName(id.Catalog)+"."); h != "" {
		with := *e
		with.Hint = h
		return &with
	}
	return err
}

// hintLimit is how long a hint may take.
const hintLimit = 200 * time.Millisecond

// catalogHint says that what was taken for the name of a database is that of a catalog; "" when it is not.
func (m *CatalogManager) catalogHint(name string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.catalogs[name]
	if e == nil || e.dropping {
		return ""
	}
	quoted := connector.QuoteName(name)
	database := m.database[name]
	if database == "" && e.cat != nil {
		database = e.cat.DefaultDatabase()
	}
	if database == "" {
		return quoted + " is a catalog: a table of it is written " + quoted + ".database.table"
	}
	return quoted + " is a catalog: a table of it is written " + quoted + "." + connector.QuoteName(database) + ".table, and USE CATALOG " + quoted + " enters it"
}

// elsewhere says in which other opened catalog there is a table of this name; "" when in none, or when asking
// takes long.
func (m *CatalogManager) elsewhere(ctx context.Context, id connector.ObjectIdentifier) string {
	ctx, cancel := context.WithTimeout(ctx, hintLimit)
	defer cancel()
	type place struct{ catalog, database string }
	var places []place
	m.mu.Lock()
	for _, name := range slices.Sorted(maps.Keys(m.catalogs)) {
		if e := m.catalogs[name]; e.cat != nil && !e.dropping {
			database := m.database[name]
			if database == "" {
				database = e.cat.DefaultDatabase()
			}
			places = append(places, place{name, database})
		}
	}
	m.mu.Unlock()
	for _, p := range places {
		if p.database == "" || p.catalog == id.Catalog && p.database == id.Database {
			continue
		}
		c, err := m.Catalog(ctx, p.catalog)
		if err != nil {
			continue
		}
		if names, err := c.ListTables(ctx, p.database); err == nil && slices.Contains(names, id.Object) {
			other := connector.ObjectIdentifier{Catalog: p.catalog, Database: p.database, Object: id.Object}
			return "there is a table " + other.SQL()
		}
	}
	return ""
}

// Table returns a table's definition, or an *Error in Flink's words with a suggestion. The catalog is that
// of CatalogOf.
func (m *CatalogManager) Table(ctx context.Context, id connector.ObjectIdentifier) (Catalog, *CatalogTable, error) {
	if id.Temporary {
		c, err := m.CatalogOf(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		t, _ := m.TemporaryTable(id)
		return c, t, nil
	}
	if err := m.CheckDatabase(ctx, id.Catalog, id.Database); err != nil {
		return nil, nil, m.threePartHint(ctx, id, err)
	}
	c, err := m.Catalog(ctx, id.Catalog)
	if err != nil {
		return nil, nil, err
	}
	t, err := c.Table(ctx, PathOf(id))
	if errors.Is(err, ErrTableNotExist) {
		names, _ := c.ListTables(ctx, id.Database) // only for the hint
		e := m.noTable(id, names)
		if e.Hint == "" {
			e.Hint = m.elsewhere(ctx, id)
		}
		if p, ok := c.(Prober); ok && e.Hint == "" && len(names) == 0 {
			e.Hint = p.Missing()
		}
		return c, nil, e
	}
	return c, t, err
}

// noTable is the error for a name that is not a table's; names are those that are.
func (m *CatalogManager) noTable(id connector.ObjectIdentifier, names []string) *Error {
	return &Error{Name: id.Object, Part: ObjectPart, Err: ErrTableNotExist, Hint: hint(id.Object, names),
		Msg: fmt.Sprintf("Table with identifier '%s' does not exist.", id)}
}

// Close closes every catalog, and ends the temporary objects.
func (m *CatalogManager) Close() error {
	m.mu.Lock()
	var open []Catalog
	for _, name := range slices.Sorted(maps.Keys(m.catalogs)) {
		if c := m.catalogs[name].cat; c != nil {
			open = append(open, c)
		}
	}
	if m.temporary.cat != nil {
		open = append(open, m.temporary.cat)
		m.temporary = temporaries{}
	}
	m.mu.Unlock()
	var errs []error
	for _, c := range open {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
