package memory

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// depot is a connector whose transactions come to the ends that a test gives them.
type depot struct {
	begin    error
	outcomes []connector.Outcome // of the Commits, one after the other; the last one stays
	err      error               // of a Commit that is not Done
	check    error
	calls    *[]string
	insert   *connector.Insert
}

func (d depot) Identifier() string          { return "depot" }
func (d depot) Options() []connector.Option { return nil }
func (d depot) Table(context.Context, connector.TableDef, *connector.Env) (connector.Table, error) {
	return nil, errors.New("a depot is not read")
}

func (d depot) CheckCreate(_ context.Context, def connector.TableDef, insert connector.Insert, _ *connector.Env) (*connector.Creation, error) {
	if d.check != nil {
		return nil, d.check
	}
	return &connector.Creation{Reason: "it is a depot", Stored: make([]string, len(insert.Columns)), Notes: []string{"mind the step"}}, nil
}

func (d depot) Create(_ context.Context, _ connector.TableDef, insert connector.Insert, _ *connector.Env) (connector.Transaction, error) {
	*d.insert = insert
	return &delivery{depot: d}, nil
}

func (d depot) note(call string) { *d.calls = append(*d.calls, call) }

type delivery struct {
	depot
	commits int
}

func (d *delivery) Key() string { return "depot" }

func (d *delivery) Begin(context.Context, connector.JobID) error {
	d.note("begin")
	return d.begin
}

func (d *delivery) Writer(context.Context, int) (connector.Writer, error) { return d, nil }

func (d *delivery) Write(_ context.Context, next func() (*column.Batch, error)) error {
	for {
		if b, err := next(); b == nil {
			return err
		}
	}
}

func (d *delivery) Close() error                        { return nil }
func (d *delivery) Seal(context.Context) (int64, error) { return 2, nil }

func (d *delivery) Commit(context.Context) (connector.Outcome, error) {
	d.note("commit")
	out := d.outcomes[min(d.commits, len(d.outcomes)-1)]
	d.commits++
	if out == connector.Done {
		return out, nil
	}
	return out, d.err
}

func (d *delivery) Abort(context.Context) error {
	d.note("abort")
	return nil
}

// withDepot returns a catalog with a depot, and the list of what the depot's transactions were asked.
func withDepot(t *testing.T, d depot) (c *Catalog, calls *[]string) {
	d.calls = &[]string{}
	if d.insert == nil {
		d.insert = &connector.Insert{}
	}
	r := &catalog.Registry{Catalogs: []catalog.Factory{Factory{}}, Connectors: []connector.Factory{d}, Env: &connector.Env{}}
	made, err := r.New(catalog.Ref{Name: "m", Properties: map[string]string{"type": "generic_in_memory", "default-database": "db"}})
	require.NoError(t, err)
	return made.(*Catalog), d.calls
}

func inDepot() *catalog.CatalogTable {
	table := oneColumn()
	table.Options = map[string]string{"connector": "depot"}
	return table
}

func stage(t *testing.T, c *Catalog) catalog.StagedTable {
	staged, err := c.Stage(ctx, path("t"), inDepot(), catalog.CreateTableAs, true)
	require.NoError(t, err)
	return staged
}

// absent makes sure that nobody sees t.
func absent(t *testing.T, c *Catalog) {
	names, err := c.ListTables(ctx, "db")
	require.NoError(t, err)
	require.Empty(t, names)
	_, err = c.Table(ctx, path("t"))
	require.ErrorIs(t, err, catalog.ErrTableNotExist)
	require.ErrorIs(t, c.DropTable(ctx, path("t"), ""), catalog.ErrTableNotExist)
}

// free makes sure that the name t can be had, and gives it back.
func free(t *testing.T, c *Catalog) {
	require.NoError(t, c.Busy())
	_, id, err := c.CreateTable(ctx, path("t"), inDepot())
	require.NoError(t, err)
	require.NoError(t, c.DropTable(ctx, path("t"), id))
}

const taken = "table m.db.t is held by job ab000000000000000000000000000000, which writes it; stop the job or wait for its end"

// From Begin to Commit the name belongs to the job, and nobody sees it.
func TestForeignReserves(t *testing.T) {
	insert := &connector.Insert{}
	c, calls := withDepot(t, depot{outcomes: []connector.Outcome{connector.Done}, insert: insert})
	staged := stage(t, c)
	require.Equal(t, "depot", staged.Key())
	require.Equal(t, connector.Insert{Columns: []int{0}, ReadsSame: true}, *insert)
	free(t, c) // until Begin
	fill(t, staged, 2)

	absent(t, c)
	_, _, err := c.CreateTable(ctx, path("t"), oneColumn())
	require.EqualError(t, err, taken, "it is not there yet, and may never be: IF NOT EXISTS has nothing to be content with")
	_, err = c.Check(ctx, path("t"), oneColumn(), catalog.CreateTableAs)
	require.EqualError(t, err, taken)
	require.EqualError(t, stage(t, c).Begin(ctx, connector.JobID{1}), taken)
	rows, err := c.Stage(ctx, path("t"), oneColumn(), catalog.CreateTableAs, false)
	require.NoError(t, err)
	fill(t, rows, 1)
	out, err := rows.Commit(ctx)
	require.Equal(t, connector.NotDone, out)
	require.EqualError(t, err, taken)
	_, _, err = c.CreateTable(ctx, path("other"), oneColumn())
	require.NoError(t, err)
	require.EqualError(t, c.RenameTable(ctx, path("other"), "t"), taken)
	require.NoError(t, c.DropTable(ctx, path("other"), ""))
	require.EqualError(t, c.DropDatabase(ctx, "db", false), taken)
	require.EqualError(t, c.DropDatabase(ctx, "db", true), taken)
	require.EqualError(t, c.Busy(), taken)

	for range 2 {
		out, err = staged.Commit(ctx)
		require.NoError(t, err)
		require.Equal(t, connector.Done, out)
	}
	require.Equal(t, []string{"begin", "commit"}, *calls)
	table, err := c.Table(ctx, path("t"))
	require.NoError(t, err)
	require.Equal(t, "depot", table.Options["connector"])
	require.NoError(t, c.Busy())

	// What was registered is dropped like any table; the connector is not asked.
	require.NoError(t, c.DropTable(ctx, path("t"), ""))
	require.Equal(t, []string{"begin", "commit"}, *calls)
	free(t, c)
}

func TestForeignFails(t *testing.T) {
	broken := errors.New("the depot burnt down")
	t.Run("begin", func(t *testing.T) {
		c, calls := withDepot(t, depot{begin: broken})
		staged := stage(t, c)
		require.ErrorIs(t, staged.Begin(ctx, connector.JobID{1}), broken)
		absent(t, c)
		free(t, c)
		require.NoError(t, staged.Abort(ctx))
		require.Equal(t, []string{"begin", "abort"}, *calls)
	})
	t.Run("abort", func(t *testing.T) {
		c, _ := withDepot(t, depot{})
		staged := stage(t, c)
		fill(t, staged, 2)
		require.NoError(t, staged.Abort(ctx))
		absent(t, c)
		free(t, c)
		require.NoError(t, staged.Abort(ctx))
	})
	t.Run("an old abort leaves the name to its new owner", func(t *testing.T) {
		c, _ := withDepot(t, depot{})
		first, second := stage(t, c), stage(t, c)
		require.NoError(t, first.Begin(ctx, connector.JobID{1}))
		require.NoError(t, first.Abort(ctx))
		require.NoError(t, second.Begin(ctx, connector.JobID{2}))
		require.NoError(t, first.Abort(ctx))
		require.Error(t, c.Busy())
	})
	t.Run("not done", func(t *testing.T) {
		c, _ := withDepot(t, depot{outcomes: []connector.Outcome{connector.NotDone}, err: broken})
		staged := stage(t, c)
		fill(t, staged, 2)
		out, err := staged.Commit(ctx)
		require.Equal(t, connector.NotDone, out)
		require.ErrorIs(t, err, broken)
		absent(t, c)
		require.Error(t, c.Busy()) // until Abort
		require.NoError(t, staged.Abort(ctx))
		free(t, c)
	})
}

// What is in doubt is not registered, and its name is free for a look at what is there.
func TestForeignUnknown(t *testing.T) {
	broken := errors.New("the line is dead")
	c, _ := withDepot(t, depot{outcomes: []connector.Outcome{connector.Unknown, connector.Done}, err: broken})
	staged := stage(t, c)
	fill(t, staged, 2)
	out, err := staged.Commit(ctx)
	require.Equal(t, connector.Unknown, out)
	require.ErrorIs(t, err, broken)
	require.EqualError(t, err, "the rows of table m.db.t may have been stored, and the table is not registered; look at what is there, then CREATE TABLE it without AS: the line is dead")
	absent(t, c)
	free(t, c)

	_, mine, err := c.CreateTable(ctx, path("t"), oneColumn())
	require.NoError(t, err)
	out, err = staged.Commit(ctx)
	require.Equal(t, connector.Unknown, out, "the rows are there, and the name is another's")
	require.ErrorContains(t, err, "the rows of table m.db.t are stored, but the table could not be registered: table or view already exists: m.db.t")
	require.NoError(t, c.DropTable(ctx, path("t"), mine))
	out, err = staged.Commit(ctx)
	require.NoError(t, err)
	require.Equal(t, connector.Done, out)
	_, err = c.Table(ctx, path("t"))
	require.NoError(t, err)
}

// A catalog that is closed under a job does not let it claim that there is a table.
func TestForeignClosed(t *testing.T) {
	c, _ := withDepot(t, depot{outcomes: []connector.Outcome{connector.Done}})
	staged := stage(t, c)
	fill(t, staged, 2)
	require.NoError(t, c.Close())
	out, err := staged.Commit(ctx)
	require.Equal(t, connector.Unknown, out)
	require.EqualError(t, err, "the rows of table m.db.t are stored, but the table could not be registered: catalog m was dropped")
	require.NoError(t, staged.Abort(ctx))
}

func TestForeignCheck(t *testing.T) {
	c, calls := withDepot(t, depot{})
	check, err := c.Check(ctx, path("t"), inDepot(), catalog.CreateTableAs)
	require.NoError(t, err)
	require.Equal(t, &catalog.Check{
		Guarantee: catalog.Atomic, Reason: "it is a depot; the definition lives and dies with this process",
		Mapping: []catalog.Mapping{{Column: "a", Type: "INT"}}, Notes: []string{"mind the step"},
	}, check)
	require.Empty(t, *calls)
	free(t, c)

	c, _ = withDepot(t, depot{check: &connector.ColumnError{Column: "a", Msg: "too wide"}})
	_, err = c.Check(ctx, path("t"), inDepot(), catalog.CreateTableAs)
	require.Equal(t, &catalog.ColumnError{Column: "a", Msg: "too wide"}, err)
	_, err = c.Check(ctx, path("t"), inDepot(), catalog.CreateTable)
	require.NoError(t, err, "CREATE TABLE writes nothing")
}

// plain is a connector that cannot make tables.
type plain struct{ connector.Factory }

func (plain) Identifier() string { return "plain" }

func TestForeignRefused(t *testing.T) {
	r := &catalog.Registry{Catalogs: []catalog.Factory{Factory{}}, Connectors: []connector.Factory{plain{}}, Env: &connector.Env{}}
	made, err := r.New(catalog.Ref{Name: "m", Properties: map[string]string{"type": "generic_in_memory", "default-database": "db"}})
	require.NoError(t, err)
	table := inDepot()
	_, err = made.Check(ctx, path("t"), table, catalog.CreateTableAs)
	require.EqualError(t, err, "table m.db.t: unknown connector 'depot'; available: 'plain'")
	table.Options["connector"] = "plain"
	for _, purpose := range []catalog.Purpose{catalog.CreateTableAs, catalog.CreateTableAsIfNotExists} {
		_, err = made.Check(ctx, path("t"), table, purpose)
		require.EqualError(t, err, "the connector 'plain' cannot make table m.db.t together with its rows; CREATE TABLE it without AS, then INSERT INTO it")
	}
	_, err = made.Stage(ctx, path("t"), table, catalog.CreateTableAs, false)
	require.Error(t, err)
	_, err = newCatalog(t, nil).Check(ctx, path("t"), table, catalog.CreateTableAs)
	require.EqualError(t, err, "table m.db.t: unknown connector 'plain'; available: none")
}

// The rows are written into what the store keeps: not into what it computes, nor what is only read.
func TestPersisted(t *testing.T) {
	table := oneColumn()
	table.Schema.Columns = append(table.Schema.Columns, types.Column{Name: "b", Type: types.Of(types.Int)})
	table.ReadOnly = []string{"a"}
	table.Virtual = []catalog.VirtualColumn{
		{Name: "c", Position: 0, Expr: "b + 1"}, {Name: "d", Position: 1, Key: "size"}, {Name: "e", Position: 2, Key: "name", Stored: true},
	}
	require.Equal(t, []int{1, 3}, table.Persisted())
}
