package catalog_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/catalog/memory"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

var ctx = context.Background()

// vault is a catalog type with a secret and a relative path, whose instances are counted.
type vault struct {
	memory.Factory
	opened, closed *int
	fail           error
}

func (vault) Type() string { return "vault" }

func (vault) Options() []connector.Option {
	return []connector.Option{
		{Key: "path", Required: true, Public: true, Doc: "where it is"},
		{Key: "password", Doc: "its password"},
	}
}

func (vault) Resolve(p map[string]string) (map[string]string, error) {
	if p["path"] == "nowhere" {
		return nil, errors.New("no such path")
	}
	p = maps.Clone(p)
	p["path"] = "/abs/" + p["path"]
	return p, nil
}

func (vault) Serialized() bool { return true }

func (v vault) Catalog(name string, p map[string]string, r *catalog.Registry) (catalog.Catalog, error) {
	c, err := v.Factory.Catalog(name, map[string]string{"default-database": "main"}, r)
	return &vaultCatalog{c, v}, err
}

type vaultCatalog struct {
	catalog.Catalog
	v vault
}

func (c *vaultCatalog) Open(context.Context) error { *c.v.opened++; return c.v.fail }
func (c *vaultCatalog) Close() error               { *c.v.closed++; return nil }

func newManager(t *testing.T) (*catalog.CatalogManager, *vault) {
	v := &vault{opened: new(int), closed: new(int)}
	r := &catalog.Registry{Catalogs: []catalog.Factory{memory.Factory{}, v}, Env: &connector.Env{}}
	m, err := catalog.NewCatalogManager(r)
	require.NoError(t, err)
	return m, v
}

func descriptor(name string, keyValues ...string) catalog.Descriptor {
	p := map[string]string{}
	for i := 0; i < len(keyValues); i += 2 {
		p[keyValues[i]] = keyValues[i+1]
	}
	return catalog.Descriptor{Ref: catalog.Ref{Name: name, Properties: p}}
}

func TestSessionStartsInTheDefaultCatalog(t *testing.T) {
	m, _ := newManager(t)
	require.Equal(t, "default_catalog", m.CurrentCatalog())
	require.Equal(t, "default_database", m.CurrentDatabase())
	require.Equal(t, []string{"default_catalog"}, m.ListCatalogs(ctx))
	require.Equal(t, "default_catalog.default_database.t", m.Identify([]string{"t"}).String())
	require.Equal(t, "default_catalog.d.t", m.Identify([]string{"d", "t"}).String())
	require.Equal(t, "c.d.t", m.Identify([]string{"c", "d", "t"}).String())
}

func TestCreateCatalogRefusals(t *testing.T) {
	m, v := newManager(t)
	for _, c := range []struct {
		d    catalog.Descriptor
		want string
	}{
		{descriptor("x"), "a catalog needs the option 'type', one of 'generic_in_memory', 'vault'"},
		{descriptor("x", "type", "vualt"), "unknown catalog type 'vualt'; available: 'generic_in_memory', 'vault'; did you mean 'vault'?"},
		{descriptor("x", "type", "vault"), "catalog type 'vault' needs the option 'path': where it is"},
		{descriptor("x", "type", "vault", "path", "p", "pasword", "s3cret"), "unsupported option 'pasword' for catalog type 'vault'; did you mean 'password'?"},
		{descriptor("x", "type", "vault", "path", "p", "password", "****"), "option 'password' has the value ****, which stands for a hidden secret: write the real value"},
		{descriptor("x", "type", "vault", "path", "nowhere"), "no such path"},
		{descriptor("default_catalog", "type", "vault", "path", "p"), "Catalog default_catalog already exists."},
	} {
		require.EqualError(t, m.CreateCatalog(ctx, c.d), c.want)
		require.Equal(t, []string{"default_catalog"}, m.ListCatalogs(ctx))
	}
	require.Zero(t, *v.opened)
	v.fail = errors.New("no route to it")
	require.EqualError(t, m.CreateCatalog(ctx, descriptor("x", "type", "vault", "path", "p")), "no route to it")
	require.Equal(t, []string{"default_catalog"}, m.ListCatalogs(ctx))
}

// A catalog is kept with the properties it was created with, relative paths made absolute.
func TestDescriptor(t *testing.T) {
	m, _ := newManager(t)
	given := descriptor("x", "type", "vault", "path", "p", "password", "s3cret")
	require.NoError(t, m.CreateCatalog(ctx, given))
	require.ErrorIs(t, m.CreateCatalog(ctx, given), catalog.ErrCatalogAlreadyExist)
	d, err := m.Descriptor(ctx, "x")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"type": "vault", "path": "/abs/p", "password": "s3cret"}, d.Properties)
	require.Equal(t, "p", given.Properties["path"], "what was given is not changed")
	_, err = m.Descriptor(ctx, "xx")
	require.EqualError(t, err, "A catalog with name [xx] does not exist. (did you mean `x`?)")
}

func TestUse(t *testing.T) {
	m, _ := newManager(t)
	require.NoError(t, m.CreateCatalog(ctx, descriptor("x", "type", "vault", "path", "p")))
	require.EqualError(t, m.UseCatalog(ctx, "y"), "A catalog with name [y] does not exist.")
	require.NoError(t, m.UseCatalog(ctx, "x"))
	require.Equal(t, "main", m.CurrentDatabase())
	c, err := m.Catalog(ctx, "x")
	require.NoError(t, err)
	require.NoError(t, c.CreateDatabase(ctx, "second", catalog.Database{}))
	err = m.UseDatabase(ctx, "x", "Second")
	require.EqualError(t, err, "A database with name [Second] does not exist in the catalog: [x]. (did you mean `second`?)")
	require.ErrorIs(t, err, catalog.ErrDatabaseNotExist)
	require.NoError(t, m.UseDatabase(ctx, "x", "second"))
	require.Equal(t, "x.second.t", m.Identify([]string{"t"}).String())
	require.NoError(t, m.UseCatalog(ctx, "x"))
	require.Equal(t, "main", m.CurrentDatabase(), "USE CATALOG goes back to the default database")
}

func TestTable(t *testing.T) {
	m, _ := newManager(t)
	c, err := m.Catalog(ctx, "default_catalog")
	require.NoError(t, err)
	_, _, err = c.CreateTable(ctx, catalog.ObjectPath{Database: "default_database", Object: "orders"}, &catalog.CatalogTable{Kind: catalog.KindTable})
	require.NoError(t, err)
	_, _, err = m.Table(ctx, m.Identify([]string{"orders"}))
	require.NoError(t, err)
	_, _, err = m.Table(ctx, m.Identify([]string{"Orders"}))
	require.EqualError(t, err, "Table with identifier 'default_catalog.default_database.Orders' does not exist. (did you mean `orders`?)")
	require.ErrorIs(t, err, catalog.ErrTableNotExist)
	_, _, err = m.Table(ctx, m.Identify([]string{"default_databas", "orders"}))
	require.EqualError(t, err, "A database with name [default_databas] does not exist in the catalog: [default_catalog]. (did you mean `default_database`?)")
	_, _, err = m.Table(ctx, m.Identify([]string{"nope", "d", "orders"}))
	require.EqualError(t, err, "A catalog with name [nope] does not exist.")
}

func TestDropCatalog(t *testing.T) {
	m, v := newManager(t)
	require.NoError(t, m.CreateCatalog(ctx, descriptor("x", "type", "vault", "path", "p")))
	require.NoError(t, m.UseCatalog(ctx, "x"))
	require.EqualError(t, m.DropCatalog(ctx, "x"), "Cannot drop a catalog which is currently in use.")
	require.NoError(t, m.UseCatalog(ctx, "default_catalog"))
	require.NoError(t, m.DropCatalog(ctx, "x"))
	require.Equal(t, 1, *v.closed)
	require.ErrorIs(t, m.DropCatalog(ctx, "x"), catalog.ErrCatalogNotExist)
	require.EqualError(t, m.DropCatalog(ctx, "x"), "A catalog with name [x] does not exist.")
}

// A catalog in memory cannot go while a job writes one of its tables.
func TestDropCatalogWhileWritten(t *testing.T) {
	m, _ := newManager(t)
	require.NoError(t, m.CreateCatalog(ctx, descriptor("m", "type", "generic_in_memory")))
	c, err := m.Catalog(ctx, "m")
	require.NoError(t, err)
	def := &catalog.CatalogTable{Kind: catalog.KindTable, Schema: types.Schema{Columns: []types.Column{{Name: "a", Type: types.Of(types.Int)}}}}
	_, _, err = c.CreateTable(ctx, catalog.ObjectPath{Database: "default", Object: "t"}, def)
	require.NoError(t, err)
	id := m.Identify([]string{"m", "default", "t"})
	opened, err := m.Registry.Table(ctx, c, id, def)
	require.NoError(t, err)
	tx, err := opened.(connector.Writable).Transaction(ctx, connector.Insert{Columns: []int{0}})
	require.NoError(t, err)
	require.NoError(t, tx.Begin(ctx, connector.JobID{1}))
	require.ErrorContains(t, m.DropCatalog(ctx, "m"), "Cannot drop catalog m: table m.default.t is held by job 01")
	require.Contains(t, m.ListCatalogs(ctx), "m")
	require.NoError(t, tx.Abort(ctx))
	require.NoError(t, m.DropCatalog(ctx, "m"))
}

// Of many CREATE CATALOG of one name at once one makes it; the others' instances are closed.
func TestCreateCatalogRace(t *testing.T) {
	m, _ := newManager(t)
	var wg sync.WaitGroup
	errs := make([]error, 16)
	for i := range errs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			errs[i] = m.CreateCatalog(ctx, descriptor("x", "type", "generic_in_memory"))
		}()
	}
	wg.Wait()
	made := slices.Collect(func(yield func(error) bool) {
		for _, err := range errs {
			if err == nil {
				yield(err)
			}
		}
	})
	require.Len(t, made, 1)
}

// Recovery runs once, before the first use.
func TestOnOpen(t *testing.T) {
	m, _ := newManager(t)
	var opened []string
	m.OnOpen = func(_ context.Context, name string, _ catalog.Catalog) { opened = append(opened, name) }
	require.NoError(t, m.CreateCatalog(ctx, descriptor("x", "type", "vault", "path", "p")))
	require.Empty(t, opened)
	for range 2 {
		_, err := m.Catalog(ctx, "x")
		require.NoError(t, err)
	}
	require.Equal(t, []string{"x"}, opened)
	_, live := m.Live("default_catalog")
	require.True(t, live)
	require.Equal(t, []string{"x"}, opened, "Live has no side effect")
}

// Nobody gets a catalog before its OnOpen has returned.
func TestOnOpenBeforeAnybody(t *testing.T) {
	m, _ := newManager(t)
	begun, end := make(chan struct{}), make(chan struct{})
	m.OnOpen = func(context.Context, string, catalog.Catalog) { close(begun); <-end }
	require.NoError(t, m.CreateCatalog(ctx, descriptor("x", "type", "vault", "path", "p")))
	got := make(chan bool, 2)
	get := func() {
		_, err := m.Catalog(ctx, "x")
		got <- err == nil
	}
	go get()
	<-begun
	go get()
	select {
	case <-got:
		t.Fatal("too early")
	case <-time.After(30 * time.Millisecond):
	}
	close(end)
	require.True(t, <-got)
	require.True(t, <-got)
}

// A job opens its own instance of a catalog that can be serialised and shares the one that cannot.
func TestInstances(t *testing.T) {
	m, v := newManager(t)
	in := &catalog.Instances{Registry: m.Registry, Live: m.Live}
	ref := catalog.Ref{Name: "x", Properties: map[string]string{"type": "vault", "path": "p"}}
	one, err := in.Catalog(ctx, ref)
	require.NoError(t, err)
	two, err := in.Catalog(ctx, ref)
	require.NoError(t, err)
	require.Same(t, one, two)
	require.Equal(t, 1, *v.opened)

	live, err := in.Catalog(ctx, catalog.Ref{Name: "default_catalog", Properties: map[string]string{"type": "generic_in_memory"}})
	require.NoError(t, err)
	mine, err := m.Catalog(ctx, "default_catalog")
	require.NoError(t, err)
	require.Same(t, mine, live)
	require.NoError(t, in.Close())
	require.Equal(t, 1, *v.closed)
	_, err = mine.ListDatabases(ctx)
	require.NoError(t, err, "the live instance stays open")

	_, err = (&catalog.Instances{Registry: m.Registry}).Catalog(ctx, catalog.Ref{Name: "m", Properties: map[string]string{"type": "generic_in_memory"}})
	require.EqualError(t, err, "catalog m of type 'generic_in_memory' lives in the process that created it and is not there")
}

func TestRegistryTable(t *testing.T) {
	m, _ := newManager(t)
	c, err := m.Catalog(ctx, "default_catalog")
	require.NoError(t, err)
	_, err = m.Registry.Table(ctx, c, m.Identify([]string{"t"}), &catalog.CatalogTable{Options: map[string]string{"connector": "kafka"}})
	require.EqualError(t, err, "table default_catalog.default_database.t: unknown connector 'kafka'; available: none")
}

// files is a connector that knows the file of a row.
type files struct{ def *connector.TableDef }

func (files) Identifier() string          { return "files" }
func (files) Options() []connector.Option { return nil }

func (files) Metadata() []connector.MetadataColumn {
	return []connector.MetadataColumn{{Key: "file.path", Type: types.String()}, {Key: "file.size", Type: types.Of(types.BigInt)}}
}

func (f files) Table(_ context.Context, def connector.TableDef, _ *connector.Env) (connector.Table, error) {
	*f.def = def
	return nil, nil
}

// Metadata columns are opened behind the physical ones, by a connector that has them.
func TestRegistryMetadata(t *testing.T) {
	m, _ := newManager(t)
	f := files{&connector.TableDef{}}
	m.Registry.Connectors = []connector.Factory{f}
	c, err := m.Catalog(ctx, "default_catalog")
	require.NoError(t, err)
	table := numbers("a")
	table.Options["connector"] = "files"
	table.Virtual = []catalog.VirtualColumn{{Name: "size", Position: 0, Type: types.Of(types.BigInt), Key: "file.size"}}
	_, err = m.Registry.Table(ctx, c, m.Identify([]string{"t"}), table)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "size"}, f.def.Schema.Names())
	require.Equal(t, []string{"file.size"}, f.def.Metadata)
	table.Virtual[0].Key = "file.siz"
	_, err = m.Registry.Table(ctx, c, m.Identify([]string{"t"}), table)
	require.EqualError(t, err, "table default_catalog.default_database.t, column `size`: the connector 'files' has no metadata 'file.siz'; it has: 'file.path', 'file.size'; did you mean 'file.size'?")
	table.Options = map[string]string{}
	_, err = m.Registry.Table(ctx, c, m.Identify([]string{"t"}), table)
	require.EqualError(t, err, "table default_catalog.default_database.t, column `size`: the connector 'memory' has no metadata 'file.siz'; it has: none")
	_, _, err = c.CreateTable(ctx, catalog.ObjectPath{Database: "default_database", Object: "t"}, table)
	var fault *catalog.ColumnError
	require.ErrorAs(t, err, &fault)
	require.Equal(t, "size", fault.Column)
}
