package planner_test

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/types"
)

// fakeCatalog keeps definitions and no rows. Its type says what it can store.
type fakeCatalog struct {
	name   string
	typ    fakeType
	tables map[catalog.ObjectPath]*catalog.CatalogTable
	made   map[string]bool // databases besides the default one; only generic_in_memory makes any
	opened int             // tables opened and not closed
}

// fakeType is a type of catalog.
type fakeType struct {
	name       string
	database   string
	stores     catalog.Clause
	guarantee  catalog.Guarantee
	foldsCase  bool
	serialized bool
}

func (f fakeType) Type() string { return f.name }

func (f fakeType) Options() []connector.Option {
	return []connector.Option{{Key: "default-database", Public: true, Doc: "the database a session starts in"}}
}

func (f fakeType) Catalog(name string, _ map[string]string, _ *catalog.Registry) (catalog.Catalog, error) {
	return &fakeCatalog{name: name, typ: f, tables: map[catalog.ObjectPath]*catalog.CatalogTable{}, made: map[string]bool{}}, nil
}

func (f fakeType) Resolve(p map[string]string) (map[string]string, error) { return p, nil }
func (f fakeType) Serialized() bool                                       { return f.serialized }

func (c *fakeCatalog) Open(context.Context) error { return nil }
func (c *fakeCatalog) Close() error               { return nil }
func (c *fakeCatalog) DefaultDatabase() string    { return c.typ.database }

func (c *fakeCatalog) ListDatabases(context.Context) ([]string, error) {
	return []string{c.typ.database}, nil
}

func (c *fakeCatalog) Database(_ context.Context, name string) (*catalog.Database, error) {
	if name != c.typ.database && !c.made[name] {
		return nil, catalog.ErrDatabaseNotExist
	}
	return &catalog.Database{}, nil
}

func (c *fakeCatalog) CreateDatabase(_ context.Context, name string, _ catalog.Database) error {
	if c.typ.name != "generic_in_memory" {
		return errors.New("fake: no databases are made")
	}
	c.made[name] = true
	return nil
}

func (c *fakeCatalog) DropDatabase(context.Context, string, bool) error {
	return errors.New("fake: no databases are dropped")
}

func (c *fakeCatalog) ListTables(_ context.Context, database string) ([]string, error) {
	var names []string
	for p := range c.tables {
		if p.Database == database {
			names = append(names, p.Object)
		}
	}
	sort.Strings(names)
	return names, nil
}

func (c *fakeCatalog) Table(_ context.Context, path catalog.ObjectPath) (*catalog.CatalogTable, error) {
	t, ok := c.tables[path]
	if !ok {
		return nil, fmt.Errorf("table %s: %w", path.Object, catalog.ErrTableNotExist)
	}
	return t, nil
}

func (c *fakeCatalog) CreateTable(_ context.Context, path catalog.ObjectPath, t *catalog.CatalogTable) (bool, string, error) {
	c.tables[path] = t
	return true, path.Object, nil
}

func (c *fakeCatalog) DropTable(_ context.Context, path catalog.ObjectPath, _ string) error {
	delete(c.tables, path)
	return nil
}

func (c *fakeCatalog) AlterTable(_ context.Context, path catalog.ObjectPath, _, table *catalog.CatalogTable, _ []catalog.TableChange) error {
	c.tables[path] = table
	return nil
}

func (c *fakeCatalog) RenameTable(context.Context, catalog.ObjectPath, string) error {
	return errors.New("fake: no tables are renamed")
}

func (c *fakeCatalog) AlterDatabase(context.Context, string, catalog.Database) error {
	return errors.New("fake: no databases are altered")
}

func (c *fakeCatalog) Check(_ context.Context, path catalog.ObjectPath, t *catalog.CatalogTable, purpose catalog.Purpose) (*catalog.Check, error) {
	check := &catalog.Check{Guarantee: c.typ.guarantee, Reason: "the fake store says so"}
	seen := map[string]string{}
	for _, col := range t.Schema.Columns {
		if col.Type.IsInterval() {
			return nil, &catalog.ColumnError{Column: col.Name, Msg: fmt.Sprintf("Column '%s': the store has no form for %s", col.Name, col.Type)}
		}
		low := strings.ToLower(col.Name)
		if other, ok := seen[low]; ok && c.typ.foldsCase {
			return nil, &catalog.ColumnError{Column: col.Name, Msg: fmt.Sprintf("Columns '%s' and '%s' are one name in this store, which ignores case", other, col.Name)}
		}
		seen[low] = col.Name
	}
	switch _, ok := c.tables[path]; {
	case ok && !purpose.Replaces():
		return nil, catalog.ErrTableAlreadyExist
	case !ok && purpose == catalog.ReplaceTableAs:
		return nil, catalog.ErrTableNotExist
	}
	return check, nil
}

func (c *fakeCatalog) Stage(context.Context, catalog.ObjectPath, *catalog.CatalogTable, catalog.Purpose, bool) (catalog.StagedTable, error) {
	return nil, errors.New("fake: nothing is staged while planning")
}

func (c *fakeCatalog) Stores() catalog.Clause { return c.typ.stores }

// Factory is nil for the type that only registers tables of connectors.
func (c *fakeCatalog) Factory() connector.Factory {
	if c.typ.name == "register" {
		return nil
	}
	return fakeRows{c}
}

func (c *fakeCatalog) StoreKey(catalog.ObjectPath) string { return "store of " + c.name }

// fakeRows opens the tables of a fake catalog.
type fakeRows struct{ c *fakeCatalog }

func (f fakeRows) Identifier() string { return "fake" }

func (f fakeRows) Options() []connector.Option {
	return []connector.Option{{Key: "mode", Public: true, Allowed: []string{"fast", "safe"}, Doc: "how"}}
}

func (f fakeRows) Table(_ context.Context, def connector.TableDef, _ *connector.Env) (connector.Table, error) {
	id := def.Identifier
	if _, ok := f.c.tables[catalog.PathOf(id)]; !ok && !id.Temporary && f.c.tables != nil {
		return nil, fmt.Errorf("fake: there is no table %s yet", id)
	}
	f.c.opened++
	switch {
	case def.Identifier.Object == "write_only":
		return fakeSink{fakeTable{f.c, id.Object}}, nil
	case def.Identifier.Object == "read_only":
		return fakeSource{fakeTable{f.c, id.Object}}, nil
	}
	return fakeKeyed{fakeBoth{fakeTable{f.c, id.Object}}}, nil
}

type fakeTable struct {
	c      *fakeCatalog
	object string
}

func (t fakeTable) Close() error { t.c.opened--; return nil }

func (t fakeTable) source() (connector.Source, error) {
	return nil, errors.New("fake: nothing is read while planning")
}

func (t fakeTable) transaction() (connector.Transaction, error) {
	return nil, errors.New("fake: nothing is written while planning")
}

type fakeSource struct{ fakeTable }

func (t fakeSource) Source(context.Context, connector.Scan) (connector.Source, error) {
	return t.source()
}

type fakeSink struct{ fakeTable }

func (t fakeSink) Transaction(context.Context, connector.Insert) (connector.Transaction, error) {
	return t.transaction()
}

type fakeBoth struct{ fakeTable }

func (t fakeBoth) Source(context.Context, connector.Scan) (connector.Source, error) {
	return t.source()
}

func (t fakeBoth) Transaction(context.Context, connector.Insert) (connector.Transaction, error) {
	return t.transaction()
}

// fakeKeyed is what the catalogs' own tables are.
type fakeKeyed struct{ fakeBoth }

func (t fakeKeyed) Upsert(context.Context, connector.Upsert) (connector.Transaction, error) {
	return t.transaction()
}

// RowKey is the primary key of the table named keyed, and a rowid elsewhere.
func (t fakeKeyed) RowKey(context.Context) (connector.RowKey, error) {
	switch t.object {
	case "keyed":
		return connector.RowKey{Columns: []int{1, 0}}, nil
	case "held":
		return connector.RowKey{}, errors.New("fake: table held has no PRIMARY KEY, by which its rows could be told apart")
	}
	return connector.RowKey{Rowid: types.Of(types.BigInt)}, nil
}

func (t fakeKeyed) Modify(context.Context, connector.Modify) (connector.Transaction, error) {
	return t.transaction()
}

func (t fakeKeyed) Truncate(context.Context) error {
	return errors.New("fake: nothing is removed while planning")
}

func (t fakeKeyed) CheckOverwrite(context.Context) error {
	if t.object == "held" {
		return errors.New("fake: table held cannot lose its rows, as others refer to them")
	}
	return nil
}

// PushFilter takes comparisons of an integer column with a literal.
func (t fakeBoth) PushFilter(e expr.Expr) bool {
	c, ok := e.(*expr.Call)
	if !ok || len(c.Args) != 2 || !strings.Contains("= < <= > >=", c.Func.Name) {
		return false
	}
	col, ok := c.Args[0].(*expr.Column)
	_, literal := c.Args[1].(*expr.Literal)
	return ok && literal && col.T.IsInteger()
}

// everything is what generic_in_memory stores.
const everything = catalog.StoresComment | catalog.StoresOptions | catalog.StoresComputed | catalog.StoresMetadata |
	catalog.StoresWatermark | catalog.StoresPartitions | catalog.StoresDistribution | catalog.StoresView

// fakeConnector has tables with metadata: the one of catalogs has none.
type fakeConnector struct{ fakeRows }

func (fakeConnector) Identifier() string { return "logs" }

// Table opens a table that rows can only be added to.
func (f fakeConnector) Table(context.Context, connector.TableDef, *connector.Env) (connector.Table, error) {
	f.c.opened++
	return fakeBoth{fakeTable{c: f.c}}, nil
}

func (fakeConnector) Options() []connector.Option {
	return []connector.Option{
		{Key: "topic", Required: true, Public: true, Doc: "what is read"},
		{Key: "password", Doc: "a secret"},
	}
}

func (fakeConnector) Metadata() []connector.MetadataColumn {
	return []connector.MetadataColumn{
		{Key: "timestamp", Type: types.WithPrecision(types.TimestampLTZ, 3), Doc: "when it was written"},
		{Key: "offset", Type: types.Of(types.BigInt), Doc: "its place"},
	}
}

// fakeStream has tables without an end.
type fakeStream struct{ fakeRows }

func (fakeStream) Identifier() string          { return "stream" }
func (fakeStream) Options() []connector.Option { return nil }

func (f fakeStream) Table(context.Context, connector.TableDef, *connector.Env) (connector.Table, error) {
	f.c.opened++
	return endless{fakeSource{fakeTable{c: f.c}}}, nil
}

type endless struct{ fakeSource }

func (endless) Bounded() bool { return false }

// fakePrint has tables that take all changes and cannot be read.
type fakePrint struct{ fakeRows }

func (fakePrint) Identifier() string          { return "print" }
func (fakePrint) Options() []connector.Option { return nil }

func (f fakePrint) Table(context.Context, connector.TableDef, *connector.Env) (connector.Table, error) {
	f.c.opened++
	return changelogSink{fakeSink{fakeTable{c: f.c}}}, nil
}

type changelogSink struct{ fakeSink }

func (t changelogSink) Changelog(context.Context, connector.Insert) (connector.Transaction, error) {
	return t.transaction()
}

// fakeTypes are the catalogs of the tests: one as generic_in_memory, one as a database file.
func fakeTypes() []catalog.Factory {
	return []catalog.Factory{
		fakeType{name: "generic_in_memory", database: catalog.DefaultDatabase, stores: everything, guarantee: catalog.Atomic},
		fakeType{name: "file", database: "main", guarantee: catalog.Atomic, foldsCase: true, serialized: true},
		fakeType{name: "register", database: "main", stores: catalog.StoresOptions, guarantee: catalog.Atomic},
		fakeType{name: "leaky", database: "main", guarantee: catalog.Visible, serialized: true},
	}
}
