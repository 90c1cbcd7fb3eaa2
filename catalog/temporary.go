package catalog

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/sluice-sql/sluice/connector"
)

// TemporaryCatalog is the name under which jobs find the rows of temporary tables. It is listed nowhere,
// and no statement can name it.
const TemporaryCatalog = "_sluice_temporary"

// reservedCatalog reports whether a catalog's name cannot be a user's.
func reservedCatalog(name string) bool { return strings.HasPrefix(strings.ToLower(name), "_sluice") }

// PathOf returns where an object is within its catalog: for a temporary one, within TemporaryCatalog.
func PathOf(id connector.ObjectIdentifier) ObjectPath {
	if id.Temporary {
		return ObjectPath{connector.QuoteName(id.Catalog) + "." + connector.QuoteName(id.Database), id.Object}
	}
	return ObjectPath{id.Database, id.Object}
}

// TemporaryID returns the identifier that PathOf made a path of TemporaryCatalog from.
func TemporaryID(path ObjectPath) connector.ObjectIdentifier {
	id := connector.ObjectIdentifier{Object: path.Object, Temporary: true}
	rest := path.Database
	id.Catalog, rest = unquoteName(rest)
	id.Database, _ = unquoteName(strings.TrimPrefix(rest, "."))
	return id
}

// unquoteName takes a name in back-quotes from the head of s.
func unquoteName(s string) (name, rest string) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] == '`' {
			if i++; i >= len(s) || s[i] != '`' {
				return b.String(), s[i:]
			}
		}
		b.WriteByte(s[i])
	}
	return b.String(), ""
}

// temporaries are the temporary objects of a session. Their definitions and rows are in a catalog of type
// generic_in_memory that is made for the first of them.
type temporaries struct {
	cat    Catalog
	tables map[connector.ObjectIdentifier]*CatalogTable // by identifiers that are Temporary
}

// temporaryView is TemporaryCatalog seen by the names of the objects that its own ones hide.
type temporaryView struct {
	Catalog
	of string
}

func (v temporaryView) path(p ObjectPath) ObjectPath {
	return PathOf(connector.ObjectIdentifier{Catalog: v.of, Database: p.Database, Object: p.Object, Temporary: true})
}

func (v temporaryView) Table(ctx context.Context, path ObjectPath) (*CatalogTable, error) {
	return v.Catalog.Table(ctx, v.path(path))
}

func (v temporaryView) StoreKey(path ObjectPath) string { return v.Catalog.StoreKey(v.path(path)) }

func (v temporaryView) refuse(path ObjectPath) error {
	return fmt.Errorf("%s is a temporary object; it can be created and dropped, nothing else",
		connector.ObjectIdentifier{Catalog: v.of, Database: path.Database, Object: path.Object})
}

func (v temporaryView) CreateTable(_ context.Context, path ObjectPath, _ *CatalogTable) (bool, string, error) {
	return false, "", v.refuse(path)
}

func (v temporaryView) CreateDatabase(_ context.Context, name string, _ Database) error {
	return v.refuseDatabase(name)
}

func (v temporaryView) AlterDatabase(_ context.Context, name string, _ Database) error {
	return v.refuseDatabase(name)
}

func (v temporaryView) DropDatabase(_ context.Context, name string, _ bool) error {
	return v.refuseDatabase(name)
}

func (v temporaryView) refuseDatabase(name string) error {
	return fmt.Errorf("the temporary objects of database %s.%s are a session's; there is no database to change", v.of, name)
}

func (v temporaryView) DropTable(_ context.Context, path ObjectPath, _ string) error {
	return v.refuse(path)
}

func (v temporaryView) AlterTable(_ context.Context, path ObjectPath, _, _ *CatalogTable, _ []TableChange) error {
	return v.refuse(path)
}

func (v temporaryView) RenameTable(_ context.Context, path ObjectPath, _ string) error {
	return v.refuse(path)
}

func (v temporaryView) Check(_ context.Context, path ObjectPath, _ *CatalogTable, _ Purpose) (*Check, error) {
	return nil, v.refuse(path)
}

func (v temporaryView) Stage(_ context.Context, path ObjectPath, _ *CatalogTable, _ Purpose, _ bool) (StagedTable, error) {
	return nil, v.refuse(path)
}

// CreateTemporary makes a temporary table or view. It hides whatever the catalog has under that name,
// which need not be there, nor the catalog and the database. Without a 'connector' a table keeps its rows
// in memory.
func (m *CatalogManager) CreateTemporary(ctx context.Context, id connector.ObjectIdentifier, t *CatalogTable) error {
	id.Temporary = true
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, taken := m.temporary.tables[id]; taken {
		kind := "table"
		if old.Kind == KindView {
			kind = "view"
		}
		return &Error{Name: id.Object, Part: ObjectPart, Err: ErrTableAlreadyExist, Msg: fmt.Sprintf("Temporary %s '%s' already exists", kind, id.SQL())}
	}
	if m.temporary.cat == nil {
		c, err := m.Registry.New(Ref{TemporaryCatalog, temporaryProperties()})
		if err != nil {
			return err
		}
		m.temporary.cat, m.temporary.tables = c, map[connector.ObjectIdentifier]*CatalogTable{}
	}
	path := PathOf(id)
	err := m.temporary.cat.CreateDatabase(ctx, path.Database, Database{})
	if err != nil && !errors.Is(err, ErrDatabaseAlreadyExist) {
		return err
	}
	if _, _, err := m.temporary.cat.CreateTable(ctx, path, t); err != nil {
		return err
	}
	m.temporary.tables[id] = t
	return nil
}

func temporaryProperties() map[string]string {
	return map[string]string{"type": "generic_in_memory"}
}

// DropTemporary drops a temporary table or view, unless a job writes it.
func (m *CatalogManager) DropTemporary(id connector.ObjectIdentifier) error {
	id.Temporary = true
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.temporary.tables[id]; !ok {
		var names []string
		for o := range m.temporary.tables {
			if o.Catalog == id.Catalog && o.Database == id.Database {
				names = append(names, o.Object)
			}
		}
		return &Error{Name: id.Object, Part: ObjectPart, Err: ErrTableNotExist, Hint: hint(id.Object, names),
			Msg: fmt.Sprintf("Temporary table or view with identifier '%s' does not exist.", id)}
	}
	if err := m.temporary.cat.DropTable(context.Background(), PathOf(id), ""); err != nil {
		return err
	}
	delete(m.temporary.tables, id)
	return nil
}

// TemporaryTable returns the temporary object of a name.
func (m *CatalogManager) TemporaryTable(id connector.ObjectIdentifier) (*CatalogTable, bool) {
	id.Temporary = true
	m.mu.Lock()
	defer m.mu.Unlock()
	t, ok := m.temporary.tables[id]
	return t, ok
}

// ListTemporary returns the names of a database's temporary tables and views, sorted.
func (m *CatalogManager) ListTemporary(catalog, database string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var names []string
	for id := range m.temporary.tables {
		if id.Catalog == catalog && id.Database == database {
			names = append(names, id.Object)
		}
	}
	sort.Strings(names)
	return names
}

// Identify completes a name of one to three parts with the current catalog and database. It is Temporary
// where a temporary object has that name.
func (m *CatalogManager) Identify(parts []string) connector.ObjectIdentifier {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := m.complete(parts)
	id.Temporary = true
	_, id.Temporary = m.temporary.tables[id]
	return id
}

// IdentifyPermanent is Identify without regard to temporary objects.
func (m *CatalogManager) IdentifyPermanent(parts []string) connector.ObjectIdentifier {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.complete(parts)
}

func (m *CatalogManager) complete(parts []string) connector.ObjectIdentifier {
	switch len(parts) {
	case 1:
		return connector.ObjectIdentifier{Catalog: m.current, Database: m.currentDatabase(), Object: parts[0]}
	case 2:
		return connector.ObjectIdentifier{Catalog: m.current, Database: parts[0], Object: parts[1]}
	}
	return connector.ObjectIdentifier{Catalog: parts[0], Database: parts[1], Object: parts[2]}
}

// CatalogOf returns the opened catalog of an object. That of a temporary one takes the object's own names
// in Table, StoreKey and Factory, and refuses everything that would change it.
func (m *CatalogManager) CatalogOf(ctx context.Context, id connector.ObjectIdentifier) (Catalog, error) {
	if !id.Temporary {
		return m.Catalog(ctx, id.Catalog)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.temporary.tables[id]; !ok {
		return nil, m.noTable(id, nil)
	}
	return temporaryView{m.temporary.cat, id.Catalog}, nil
}

// RefOf returns what a job reaches the catalog of an object by.
func (m *CatalogManager) RefOf(id connector.ObjectIdentifier) (Ref, error) {
	if id.Temporary {
		return Ref{TemporaryCatalog, temporaryProperties()}, nil
	}
	d, ok := m.Known(id.Catalog) // who has bound the object has opened it
	if !ok {
		return Ref{}, m.unknownCatalog(id.Catalog, nil)
	}
	return d.Ref, nil
}
