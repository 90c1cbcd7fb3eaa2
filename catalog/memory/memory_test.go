package memory

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

var ctx = context.Background()

func newCatalog(t *testing.T, budget *connector.Memory) *Catalog {
	c, err := Factory{}.Catalog("m", map[string]string{"type": "generic_in_memory", "default-database": "db"}, &catalog.Registry{Env: &connector.Env{Memory: budget}})
	require.NoError(t, err)
	return c.(*Catalog)
}

func path(name string) catalog.ObjectPath { return catalog.ObjectPath{Database: "db", Object: name} }

func oneColumn() *catalog.CatalogTable {
	return &catalog.CatalogTable{Kind: catalog.KindTable, Schema: types.Schema{Columns: []types.Column{{Name: "a", Type: types.Of(types.Int)}}}}
}

// fill runs a transaction up to its Seal, with one column of n rows.
func fill(t *testing.T, tx connector.Transaction, n int) {
	require.NoError(t, tx.Begin(ctx, connector.JobID{0xab}))
	w, err := tx.Writer(ctx, 0)
	require.NoError(t, err)
	b := column.NewBatch([]types.Type{types.Of(types.Int)}, n)
	for i := range n {
		b.Cols[0].AppendI64(int64(i))
		b.N++
	}
	batches := []*column.Batch{b, nil}
	require.NoError(t, w.Write(ctx, func() (*column.Batch, error) { b := batches[0]; batches = batches[1:]; return b, nil }))
	rows, err := tx.Seal(ctx)
	require.NoError(t, err)
	require.Equal(t, int64(n), rows)
}

func count(t *testing.T, c *Catalog, name string) int64 {
	s, err := c.store(c.identifier(path(name)))
	require.NoError(t, err)
	return s.Rows()
}

func TestDatabases(t *testing.T) {
	c := newCatalog(t, nil)
	require.Equal(t, "db", c.DefaultDatabase())
	require.NoError(t, c.CreateDatabase(ctx, "other", catalog.Database{Comment: "mine"}))
	require.ErrorIs(t, c.CreateDatabase(ctx, "other", catalog.Database{}), catalog.ErrDatabaseAlreadyExist)
	names, err := c.ListDatabases(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{"db", "other"}, names)
	db, err := c.Database(ctx, "other")
	require.NoError(t, err)
	require.Equal(t, "mine", db.Comment)
	_, err = c.Database(ctx, "Other")
	require.ErrorIs(t, err, catalog.ErrDatabaseNotExist)
	_, err = c.ListTables(ctx, "none")
	require.ErrorIs(t, err, catalog.ErrDatabaseNotExist)

	_, _, err = c.CreateTable(ctx, catalog.ObjectPath{Database: "other", Object: "t"}, oneColumn())
	require.NoError(t, err)
	err = c.DropDatabase(ctx, "other", false)
	require.ErrorIs(t, err, catalog.ErrDatabaseNotEmpty)
	require.ErrorContains(t, err, "m.other has 1 tables")
	require.NoError(t, c.DropDatabase(ctx, "other", true))
	require.ErrorIs(t, c.DropDatabase(ctx, "other", true), catalog.ErrDatabaseNotExist)
	_, _, err = c.CreateTable(ctx, catalog.ObjectPath{Database: "other", Object: "t"}, oneColumn())
	require.ErrorIs(t, err, catalog.ErrDatabaseNotExist)
}

func TestTables(t *testing.T) {
	c := newCatalog(t, nil)
	created, first, err := c.CreateTable(ctx, path("Customer"), oneColumn())
	require.NoError(t, err)
	require.True(t, created)
	created, _, err = c.CreateTable(ctx, path("Customer"), oneColumn())
	require.ErrorIs(t, err, catalog.ErrTableAlreadyExist)
	require.False(t, created)
	_, err = c.Table(ctx, path("customer"))
	require.ErrorIs(t, err, catalog.ErrTableNotExist)
	require.ErrorContains(t, err, "m.db.customer; there is `Customer`, and names are case-sensitive")

	// A hook drops what it created and nothing that took its place.
	require.NoError(t, c.DropTable(ctx, path("Customer"), first))
	_, second, err := c.CreateTable(ctx, path("Customer"), oneColumn())
	require.NoError(t, err)
	require.NotEqual(t, first, second)
	require.ErrorIs(t, c.DropTable(ctx, path("Customer"), first), catalog.ErrTableNotExist)
	names, err := c.ListTables(ctx, "db")
	require.NoError(t, err)
	require.Equal(t, []string{"Customer"}, names)
	require.NoError(t, c.DropTable(ctx, path("Customer"), ""))
	require.ErrorIs(t, c.DropTable(ctx, path("Customer"), ""), catalog.ErrTableNotExist)
}

func TestOptions(t *testing.T) {
	c := newCatalog(t, nil)
	with := func(options map[string]string) *catalog.CatalogTable {
		table := oneColumn()
		table.Options = options
		return table
	}
	_, _, err := c.CreateTable(ctx, path("t"), with(map[string]string{"rows": "1"}))
	require.EqualError(t, err, "option 'rows' means nothing for table m.db.t: without the option 'connector' its rows are kept in memory, which has no options")
	_, _, err = c.CreateTable(ctx, path("t"), with(map[string]string{"connector": "x", "schema.0.name": "b"}))
	require.EqualError(t, err, "option 'schema.0.name' of table m.db.t: this key is reserved")

	// With a connector the definition alone is kept.
	_, _, err = c.CreateTable(ctx, path("t"), with(map[string]string{"connector": "x", "rows": "1"}))
	require.NoError(t, err)
	_, err = c.Factory().Table(ctx, connector.TableDef{Identifier: c.identifier(path("t"))}, nil)
	require.EqualError(t, err, "table m.db.t keeps no rows in memory: its connector is 'x'")
	require.NoError(t, c.DropTable(ctx, path("t"), ""))
}

func TestFactory(t *testing.T) {
	f := Factory{}
	c, err := f.Catalog("x", map[string]string{"type": "generic_in_memory"}, &catalog.Registry{})
	require.NoError(t, err)
	require.Equal(t, "default", c.DefaultDatabase())
	_, err = f.Catalog("x", map[string]string{"default-database": ""}, &catalog.Registry{})
	require.EqualError(t, err, "option 'default-database' is empty; it needs a name")
	require.False(t, f.Serialized())
}

func TestCheck(t *testing.T) {
	c := newCatalog(t, nil)
	table := oneColumn()
	table.Schema.PrimaryKey = []string{"a"}
	check, err := c.Check(ctx, path("t"), table, catalog.CreateTableAs)
	require.NoError(t, err)
	require.Equal(t, &catalog.Check{
		Mapping:   []catalog.Mapping{{Column: "a", Type: "INT", Stored: "INT"}},
		Guarantee: catalog.Atomic,
		Reason:    "published by one swap; the rows live and die with this process",
		Notes:     []string{"PRIMARY KEY is not enforced in memory: duplicate keys are kept"},
	}, check)
	names, err := c.ListTables(ctx, "db")
	require.NoError(t, err)
	require.Empty(t, names, "a check creates nothing")
	_, _, err = c.CreateTable(ctx, path("t"), oneColumn())
	require.NoError(t, err)
	_, err = c.Check(ctx, path("t"), table, catalog.CreateTableAsIfNotExists)
	require.ErrorIs(t, err, catalog.ErrTableAlreadyExist)
}

// A staged table is nowhere to be seen until its commit, and gone without a trace after an abort.
func TestStage(t *testing.T) {
	budget := connector.NewMemory(1 << 20)
	c := newCatalog(t, budget)
	for _, end := range []string{"commit", "abort"} {
		tx, err := c.Stage(ctx, path(end), oneColumn(), catalog.CreateTableAs, false)
		require.NoError(t, err)
		require.Equal(t, c.StoreKey(path(end)), tx.Key())
		fill(t, tx, 5)
		_, err = c.Table(ctx, path(end))
		require.ErrorIs(t, err, catalog.ErrTableNotExist)
		if end == "commit" {
			out, err := tx.Commit(ctx)
			require.NoError(t, err)
			require.Equal(t, connector.Done, out)
			require.Equal(t, int64(5), count(t, c, end))
		} else {
			require.NoError(t, tx.Abort(ctx))
			_, err = c.Table(ctx, path(end))
			require.ErrorIs(t, err, catalog.ErrTableNotExist)
		}
	}
	require.NoError(t, c.DropTable(ctx, path("commit"), ""))
	require.Zero(t, budget.Used())
}

// The rival that takes the name first keeps it, with its rows.
func TestNameTakenMeanwhile(t *testing.T) {
	budget := connector.NewMemory(1 << 20)
	c := newCatalog(t, budget)
	tx, err := c.Stage(ctx, path("t"), oneColumn(), catalog.CreateTableAs, false)
	require.NoError(t, err)
	fill(t, tx, 5)
	_, _, err = c.CreateTable(ctx, path("t"), oneColumn())
	require.NoError(t, err)
	out, err := tx.Commit(ctx)
	require.Equal(t, connector.NotDone, out)
	require.ErrorIs(t, err, catalog.ErrTableAlreadyExist)
	require.NoError(t, tx.Abort(ctx))
	require.Zero(t, count(t, c, "t"))
	require.Zero(t, budget.Used())
}

// The database that goes meanwhile takes the staged table with it.
func TestDatabaseDroppedMeanwhile(t *testing.T) {
	c := newCatalog(t, nil)
	tx, err := c.Stage(ctx, path("t"), oneColumn(), catalog.CreateTableAs, false)
	require.NoError(t, err)
	fill(t, tx, 5)
	require.NoError(t, c.DropDatabase(ctx, "db", false))
	out, err := tx.Commit(ctx)
	require.Equal(t, connector.NotDone, out)
	require.ErrorIs(t, err, catalog.ErrDatabaseNotExist)
}

// Of many CREATE TABLE AS of one name at once exactly one is done.
func TestRace(t *testing.T) {
	c := newCatalog(t, nil)
	for round := range 50 {
		name := fmt.Sprint("t", round)
		var done atomic.Int64
		var wg sync.WaitGroup
		for rival := range 8 {
			tx, err := c.Stage(ctx, path(name), oneColumn(), catalog.CreateTableAs, false)
			require.NoError(t, err)
			fill(t, tx, rival+1)
			wg.Add(1)
			go func() {
				defer wg.Done()
				out, err := tx.Commit(ctx)
				if out == connector.Done {
					if winner := done.Swap(int64(rival + 1)); winner != 0 {
						t.Errorf("two winners of %s", name)
					}
				} else if err == nil || out != connector.NotDone {
					t.Errorf("outcome %d without a reason", out)
				}
			}()
		}
		wg.Wait()
		require.Equal(t, done.Load(), count(t, c, name))
	}
}

// A table that a job writes cannot be dropped in any way.
func TestHeld(t *testing.T) {
	c := newCatalog(t, nil)
	_, identity, err := c.CreateTable(ctx, path("t"), oneColumn())
	require.NoError(t, err)
	opened, err := c.Factory().Table(ctx, oneColumn().Def(c.identifier(path("t"))), nil)
	require.NoError(t, err)
	tx, err := opened.(connector.Writable).Transaction(ctx, connector.Insert{Columns: []int{0}})
	require.NoError(t, err)
	fill(t, tx, 3)
	const held = "table m.db.t is held by job ab000000000000000000000000000000, which writes it; stop the job or wait for its end"
	require.EqualError(t, c.DropTable(ctx, path("t"), ""), held)
	require.EqualError(t, c.DropTable(ctx, path("t"), identity), held)
	require.EqualError(t, c.DropDatabase(ctx, "db", true), held)
	require.EqualError(t, c.Busy(), held)
	out, err := tx.Commit(ctx)
	require.NoError(t, err)
	require.Equal(t, connector.Done, out)
	require.NoError(t, c.Busy())
	require.Equal(t, int64(3), count(t, c, "t"))
	require.NoError(t, c.DropDatabase(ctx, "db", true))
}

func TestClose(t *testing.T) {
	budget := connector.NewMemory(1 << 20)
	c := newCatalog(t, budget)
	tx, err := c.Stage(ctx, path("t"), oneColumn(), catalog.CreateTableAs, false)
	require.NoError(t, err)
	fill(t, tx, 100)
	_, err = tx.Commit(ctx)
	require.NoError(t, err)
	require.Positive(t, budget.Used())
	require.NoError(t, c.Close())
	require.Zero(t, budget.Used())
	_, _, err = c.CreateTable(ctx, path("t"), oneColumn())
	require.EqualError(t, err, "catalog m was dropped")
}
