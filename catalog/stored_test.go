package catalog_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/catalog/filestore"
)

// session is a manager over a store in a directory, as one process has it.
func stored(t *testing.T, dir string) (*catalog.CatalogManager, *vault) {
	m, v := newManager(t)
	m.Store = filestore.New(dir)
	return m, v
}

// What one session creates the next one lists at once, and opens when it is used.
func TestStoreKeepsCatalogs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "catalogs")
	one, v := stored(t, dir)
	require.Equal(t, "Catalogs are kept in "+dir+".", one.StoreWhere())
	d := descriptor("x", "type", "vault", "path", "p", "password", "s3cret")
	d.Comment = "the vault"
	require.NoError(t, one.CreateCatalog(ctx, d))
	require.NoError(t, one.CreateCatalog(ctx, descriptor("m", "type", "generic_in_memory")))
	require.Equal(t, 1, *v.opened)
	require.NoError(t, one.Close())

	two, v := stored(t, dir)
	names, err := two.AllCatalogs(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{"default_catalog", "m", "x"}, names)
	_, live := two.Live("x")
	require.False(t, live)
	kept, err := two.Descriptor(ctx, "x")
	require.NoError(t, err)
	d.Properties["path"] = "/abs/p"
	require.Equal(t, d, kept)
	require.EqualError(t, two.UseCatalog(ctx, "xx"), "A catalog with name [xx] does not exist. (did you mean `x`?)")
	require.EqualError(t, two.CreateCatalog(ctx, d), "Catalog x already exists.")
	require.Zero(t, *v.opened)
	require.NoError(t, two.UseCatalog(ctx, "x"))
	require.Equal(t, "main", two.CurrentDatabase())
	require.Equal(t, 1, *v.opened)
	require.EqualError(t, two.DropCatalog(ctx, "x"), "Cannot drop a catalog which is currently in use.")
	require.NoError(t, two.DropCatalog(ctx, "m"))
	require.NoError(t, two.UseCatalog(ctx, "default_catalog"))
	require.NoError(t, two.DropCatalog(ctx, "x"))
	require.EqualError(t, two.DropCatalog(ctx, "x"), "A catalog with name [x] does not exist.")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

// A kept catalog that cannot be opened says why when it is used, each time anew, and stops nothing else.
func TestStoredCatalogFails(t *testing.T) {
	dir := t.TempDir()
	m, v := stored(t, dir)
	require.NoError(t, filestore.New(dir).Store(ctx, descriptor("x", "type", "vault", "path", "p")))
	require.NoError(t, filestore.New(dir).Store(ctx, descriptor("new", "type", "mongodb")))
	require.NoError(t, filestore.New(dir).Store(ctx, descriptor("_sluice_temporary", "type", "generic_in_memory")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bad.yaml"), []byte("type: |\n"), 0o600))
	require.Equal(t, []string{"bad", "default_catalog", "new", "x"}, m.ListCatalogs(ctx))
	_, err := m.Catalog(ctx, "_sluice_temporary")
	require.EqualError(t, err, "A catalog with name [_sluice_temporary] does not exist.")
	_, err = m.Catalog(ctx, "bad")
	require.EqualError(t, err, "catalog store file "+dir+"/bad.yaml, line 1: the value of 'type' is a block of lines; write it in double quotes, with \\n for the end of a line")
	_, err = m.Catalog(ctx, "new")
	require.EqualError(t, err, "Catalog new cannot be opened: unknown catalog type 'mongodb'; available: 'generic_in_memory', 'vault'")
	v.fail = errors.New("no route to it")
	for range 2 {
		_, err = m.Catalog(ctx, "x")
		require.EqualError(t, err, "Catalog x cannot be opened: no route to it")
		require.EqualError(t, m.UseCatalog(ctx, "x"), "Catalog x cannot be opened: no route to it")
	}
	v.fail = nil
	require.Equal(t, 4, *v.closed)
	_, err = m.Catalog(ctx, "x")
	require.NoError(t, err)
	require.NoError(t, m.DropCatalog(ctx, "bad"))
	require.NoError(t, m.DropCatalog(ctx, "new"))
	require.Equal(t, []string{"default_catalog", "x"}, m.ListCatalogs(ctx))
}

// What cannot be kept is not created, and what cannot be forgotten is not dropped.
func TestStoreFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	m, v := stored(t, file)
	require.EqualError(t, m.CreateCatalog(ctx, descriptor("x", "type", "vault", "path", "p")), "catalog store "+file+": it is not a directory")
	names, err := m.AllCatalogs(ctx)
	require.ErrorContains(t, err, "it is not a directory")
	require.Equal(t, []string{"default_catalog"}, names)
	require.Equal(t, *v.opened, *v.closed)

	dir := t.TempDir()
	m, v = stored(t, dir)
	require.ErrorContains(t, m.CreateCatalog(ctx, descriptor("x", "type", "vault", "path", "p\xff")), "not valid UTF-8")
	require.Equal(t, 1, *v.opened)
	require.Equal(t, 1, *v.closed)
	require.Equal(t, []string{"default_catalog"}, m.ListCatalogs(ctx))
	require.NoError(t, m.CreateCatalog(ctx, descriptor("x", "type", "vault", "path", "p")))
	require.NoError(t, os.Chmod(dir, 0o777))
	require.ErrorContains(t, m.DropCatalog(ctx, "x"), "everybody may write the directory")
	_, live := m.Live("x")
	require.True(t, live)
}

// Two sessions share a store.
func TestTwoSessions(t *testing.T) {
	dir := t.TempDir()
	a, _ := stored(t, dir)
	b, _ := stored(t, dir)
	require.NoError(t, a.CreateCatalog(ctx, descriptor("x", "type", "vault", "path", "p")))
	require.Equal(t, []string{"default_catalog", "x"}, b.ListCatalogs(ctx))
	require.NoError(t, b.UseCatalog(ctx, "x"))
	set := func(key, value string) func(catalog.Descriptor) catalog.Descriptor {
		return func(d catalog.Descriptor) catalog.Descriptor { d.Properties[key] = value; return d }
	}
	require.NoError(t, a.AlterCatalog(ctx, "x", set("password", "one")))
	require.NoError(t, b.AlterCatalog(ctx, "x", set("path", "q")))
	c, _ := stored(t, dir)
	d, err := c.Descriptor(ctx, "x")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"type": "vault", "path": "/abs/q", "password": "one"}, d.Properties)
	require.NoError(t, a.DropCatalog(ctx, "x"))
	require.EqualError(t, b.AlterCatalog(ctx, "x", set("path", "r")), "Catalog x was dropped by another session.")
	_, err = b.Catalog(ctx, "x")
	require.NoError(t, err, "who uses it goes on")
	require.NotContains(t, c.ListCatalogs(ctx), "x")
	_, err = c.Catalog(ctx, "x")
	require.EqualError(t, err, "A catalog with name [x] does not exist.")
}

func TestAlterCatalog(t *testing.T) {
	for _, dir := range []string{"", t.TempDir()} {
		m, v := newManager(t)
		if dir != "" {
			m.Store = filestore.New(dir)
		}
		require.NoError(t, m.CreateCatalog(ctx, descriptor("x", "type", "vault", "path", "p", "password", "s")))
		require.NoError(t, m.UseCatalog(ctx, "x"))
		before, err := m.Catalog(ctx, "x")
		require.NoError(t, err)
		alter := func(f func(d *catalog.Descriptor)) error {
			return m.AlterCatalog(ctx, "x", func(d catalog.Descriptor) catalog.Descriptor { f(&d); return d })
		}
		require.NoError(t, alter(func(d *catalog.Descriptor) { d.Comment = "mine" }))
		same, err := m.Catalog(ctx, "x")
		require.NoError(t, err)
		require.Same(t, before, same, "a comment opens nothing")

		require.NoError(t, alter(func(d *catalog.Descriptor) { d.Properties["path"] = "q"; delete(d.Properties, "password") }))
		d, err := m.Descriptor(ctx, "x")
		require.NoError(t, err)
		want := descriptor("x", "type", "vault", "path", "/abs/q")
		want.Comment = "mine"
		require.Equal(t, want, d)
		after, err := m.Catalog(ctx, "x")
		require.NoError(t, err)
		require.NotSame(t, before, after)
		require.Equal(t, []int{2, 1}, []int{*v.opened, *v.closed})
		require.Equal(t, "x", m.CurrentCatalog())
		require.Equal(t, "main", m.CurrentDatabase())

		// What does not work changes nothing.
		require.EqualError(t, alter(func(d *catalog.Descriptor) { d.Properties["type"] = "generic_in_memory" }),
			"ALTER CATALOG does not support changing 'type' (drop the catalog and create another)")
		require.EqualError(t, alter(func(d *catalog.Descriptor) { d.Properties["paht"] = "" }), "unsupported option 'paht' for catalog type 'vault'; did you mean 'path'?")
		require.EqualError(t, alter(func(d *catalog.Descriptor) { delete(d.Properties, "path") }), "catalog type 'vault' needs the option 'path': where it is")
		v.fail = errors.New("no route to it")
		require.EqualError(t, alter(func(d *catalog.Descriptor) { d.Properties["path"] = "r" }), "no route to it")
		d, err = m.Descriptor(ctx, "x")
		require.NoError(t, err)
		require.Equal(t, want, d)
		kept, err := m.Catalog(ctx, "x")
		require.NoError(t, err)
		require.Same(t, after, kept)
		require.EqualError(t, m.AlterCatalog(ctx, "xy", func(d catalog.Descriptor) catalog.Descriptor { return d }), "A catalog with name [xy] does not exist. (did you mean `x`?)")
	}
}

// A kept catalog that cannot be opened can be altered into one that can.
func TestAlterRepairs(t *testing.T) {
	dir := t.TempDir()
	m, _ := stored(t, dir)
	require.NoError(t, m.Store.Store(ctx, descriptor("x", "type", "vault")))
	_, err := m.Catalog(ctx, "x")
	require.Error(t, err)
	require.NoError(t, m.AlterCatalog(ctx, "x", func(d catalog.Descriptor) catalog.Descriptor { d.Properties["path"] = "p"; return d }))
	_, err = m.Catalog(ctx, "x")
	require.NoError(t, err)
}

// A catalog in memory is altered in place, or not at all.
func TestAlterCatalogInMemory(t *testing.T) {
	m, _ := newManager(t)
	set := func(db string) error {
		return m.AlterCatalog(ctx, "default_catalog", func(d catalog.Descriptor) catalog.Descriptor {
			d.Properties["default-database"] = db
			return d
		})
	}
	require.EqualError(t, set("other"), "Cannot alter catalog default_catalog: the default database `other` does not exist; create it first.")
	c, err := m.Catalog(ctx, "default_catalog")
	require.NoError(t, err)
	require.NoError(t, c.CreateDatabase(ctx, "other", catalog.Database{}))
	require.NoError(t, set("other"))
	require.Equal(t, "other", c.DefaultDatabase())
	same, err := m.Catalog(ctx, "default_catalog")
	require.NoError(t, err)
	require.Same(t, c, same)
	require.ErrorContains(t, m.AlterCatalog(ctx, "default_catalog", func(d catalog.Descriptor) catalog.Descriptor {
		d.Properties["x"] = "y"
		return d
	}), "unsupported option 'x'")
}
