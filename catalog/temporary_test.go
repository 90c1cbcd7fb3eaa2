package catalog_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

func numbers(name string) *catalog.CatalogTable {
	return &catalog.CatalogTable{Kind: catalog.KindTable, Options: map[string]string{},
		Schema: types.Schema{Columns: []types.Column{{Name: name, Type: types.Of(types.Int)}}}}
}

func TestTemporary(t *testing.T) {
	m, _ := newManager(t)
	c, err := m.Catalog(ctx, "default_catalog")
	require.NoError(t, err)
	path := catalog.ObjectPath{Database: "default_database", Object: "t"}
	_, _, err = c.CreateTable(ctx, path, numbers("permanent"))
	require.NoError(t, err)
	id := m.Identify([]string{"t"})
	require.False(t, id.Temporary)

	mine := numbers("mine")
	require.NoError(t, m.CreateTemporary(ctx, id, mine))
	require.EqualError(t, m.CreateTemporary(ctx, id, mine), "Temporary table '`default_catalog`.`default_database`.`t`' already exists")
	require.ErrorIs(t, m.CreateTemporary(ctx, id, mine), catalog.ErrTableAlreadyExist)
	require.Equal(t, []string{"t"}, m.ListTemporary("default_catalog", "default_database"))
	require.Empty(t, m.ListTemporary("default_catalog", "other"))

	// It hides the other, under the same name.
	temp := m.Identify([]string{"default_database", "t"})
	require.True(t, temp.Temporary)
	require.Equal(t, "default_catalog.default_database.t", temp.String())
	require.Equal(t, id, m.IdentifyPermanent([]string{"t"}))
	cat, got, err := m.Table(ctx, temp)
	require.NoError(t, err)
	require.Same(t, mine, got)
	_, got, err = m.Table(ctx, m.IdentifyPermanent([]string{"t"}))
	require.NoError(t, err)
	require.Equal(t, "permanent", got.Schema.Columns[0].Name)
	require.NotEqual(t, c.StoreKey(path), cat.StoreKey(path))
	got, err = cat.Table(ctx, path)
	require.NoError(t, err)
	require.Same(t, mine, got)

	// Its catalog is nobody's.
	require.Equal(t, []string{"default_catalog"}, m.ListCatalogs(ctx))
	for _, err := range []error{
		m.UseCatalog(ctx, catalog.TemporaryCatalog), m.DropCatalog(ctx, catalog.TemporaryCatalog),
		m.AlterCatalog(ctx, catalog.TemporaryCatalog, func(d catalog.Descriptor) catalog.Descriptor { return d }),
		func() error { _, err := m.Catalog(ctx, catalog.TemporaryCatalog); return err }(),
		func() error { _, err := m.Descriptor(ctx, catalog.TemporaryCatalog); return err }(),
		func() error {
			_, _, err := m.Table(ctx, m.Identify([]string{catalog.TemporaryCatalog, "d", "t"}))
			return err
		}(),
	} {
		require.EqualError(t, err, "A catalog with name [_sluice_temporary] does not exist.")
	}
	require.EqualError(t, m.CreateCatalog(ctx, descriptor("_SLUICE_x", "type", "generic_in_memory")),
		"The name _SLUICE_x is reserved: names that begin with _sluice cannot be created.")
	for _, err := range []error{
		cat.DropTable(ctx, path, ""), cat.RenameTable(ctx, path, "u"), cat.AlterTable(ctx, path, mine, mine, nil),
		func() error { _, _, err := cat.CreateTable(ctx, path, mine); return err }(),
		func() error { _, err := cat.Check(ctx, path, mine, catalog.CreateTable); return err }(),
		func() error { _, err := cat.Stage(ctx, path, mine, catalog.CreateTableAs, false); return err }(),
	} {
		require.EqualError(t, err, "default_catalog.default_database.t is a temporary object; it can be created and dropped, nothing else")
	}
	for _, err := range []error{
		cat.CreateDatabase(ctx, "d", catalog.Database{}), cat.AlterDatabase(ctx, "d", catalog.Database{}), cat.DropDatabase(ctx, "d", true),
	} {
		require.EqualError(t, err, "the temporary objects of database default_catalog.d are a session's; there is no database to change")
	}

	// A job finds its rows by the reference, and the table is not dropped under it.
	ref, err := m.RefOf(temp)
	require.NoError(t, err)
	require.Equal(t, catalog.TemporaryCatalog, ref.Name)
	in := &catalog.Instances{Registry: m.Registry, Live: m.Live}
	live, err := in.Catalog(ctx, ref)
	require.NoError(t, err)
	table, err := m.Registry.Table(ctx, live, temp, mine)
	require.NoError(t, err)
	tx, err := table.(connector.Writable).Transaction(ctx, connector.Insert{Columns: []int{0}})
	require.NoError(t, err)
	require.Equal(t, cat.StoreKey(path), tx.Key())
	require.NoError(t, tx.Begin(ctx, connector.JobID{7}))
	require.EqualError(t, m.DropTemporary(temp), "table default_catalog.default_database.t is held by job 07000000000000000000000000000000, which writes it; stop the job or wait for its end")
	require.NoError(t, tx.Abort(ctx))
	require.NoError(t, m.DropTemporary(temp))
	require.EqualError(t, m.DropTemporary(temp), "Temporary table or view with identifier 'default_catalog.default_database.t' does not exist.")
	require.False(t, m.Identify([]string{"t"}).Temporary)
	_, _, err = m.Table(ctx, temp)
	require.EqualError(t, err, "Table with identifier 'default_catalog.default_database.t' does not exist.")
}

// Names are kept apart whatever they are made of, and neither catalog nor database need be there.
func TestTemporaryNames(t *testing.T) {
	m, _ := newManager(t)
	ids := [][]string{{"a`.`b", "c", "t"}, {"a", "b`.`c", "t"}, {"a.b", "c", "t"}, {"a", "b.c", "t"}, {"`", "``", "`"}, {"", "", ""}, {"gone", "gone", "t"}}
	for _, parts := range ids {
		require.NoError(t, m.CreateTemporary(ctx, m.Identify(parts), numbers(parts[0]+"|"+parts[1])))
	}
	for _, parts := range ids {
		id := m.Identify(parts)
		require.True(t, id.Temporary)
		require.Equal(t, id, catalog.TemporaryID(catalog.PathOf(id)))
		c, table, err := m.Table(ctx, id)
		require.NoError(t, err)
		require.Equal(t, parts[0]+"|"+parts[1], table.Schema.Columns[0].Name)
		_, err = m.Registry.Table(ctx, c, id, table)
		require.NoError(t, err)
	}
}

// They go with the session, and their memory with them.
func TestTemporaryEnds(t *testing.T) {
	m, _ := newManager(t)
	m.Registry.Env.Memory = connector.NewMemory(1 << 20)
	id := m.Identify([]string{"t"})
	require.NoError(t, m.CreateTemporary(ctx, id, numbers("n")))
	id = m.Identify([]string{"t"})
	c, table, err := m.Table(ctx, id)
	require.NoError(t, err)
	open, err := m.Registry.Table(ctx, c, id, table)
	require.NoError(t, err)
	tx, err := open.(connector.Writable).Transaction(ctx, connector.Insert{Columns: []int{0}})
	require.NoError(t, err)
	require.NoError(t, tx.Begin(ctx, connector.JobID{1}))
	w, err := tx.Writer(ctx, 0)
	require.NoError(t, err)
	b := column.NewBatch([]types.Type{types.Of(types.Int)}, 1)
	b.Cols[0].AppendI64(1)
	b.N = 1
	batches := []*column.Batch{b, nil}
	require.NoError(t, w.Write(ctx, func() (*column.Batch, error) { b := batches[0]; batches = batches[1:]; return b, nil }))
	_, err = tx.Seal(ctx)
	require.NoError(t, err)
	_, err = tx.Commit(ctx)
	require.NoError(t, err)
	require.Positive(t, m.Registry.Env.Memory.Used())
	require.NoError(t, m.Close())
	require.Zero(t, m.Registry.Env.Memory.Used())
}

// A temporary table of a connector, and a view, keep no rows.
func TestTemporaryKinds(t *testing.T) {
	m, _ := newManager(t)
	id := m.Identify([]string{"v"})
	view := numbers("n")
	view.Kind, view.View = catalog.KindView, &catalog.View{Original: "SELECT 1", Expanded: "SELECT 1"}
	require.NoError(t, m.CreateTemporary(ctx, id, view))
	require.EqualError(t, m.CreateTemporary(ctx, id, view), "Temporary view '`default_catalog`.`default_database`.`v`' already exists")
	id = m.Identify([]string{"v"})
	c, table, err := m.Table(ctx, id)
	require.NoError(t, err)
	_, err = m.Registry.Table(ctx, c, id, table)
	require.EqualError(t, err, "default_catalog.default_database.v is a view; it keeps no rows")
	bad := numbers("n")
	bad.Options["x"] = "y"
	require.ErrorContains(t, m.CreateTemporary(ctx, m.Identify([]string{"w"}), bad), "option 'x' means nothing for table default_catalog.default_database.w")
	require.False(t, m.Identify([]string{"w"}).Temporary)
}
