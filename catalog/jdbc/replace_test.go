package jdbc

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// TestReplaceCheck: Check tells what a REPLACE would do, and refuses with the sentinels and names that planning
// wants; it changes nothing.
func TestReplaceCheck(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "shop.db")
	c := open(t, map[string]string{"base-url": "jdbc:sqlite:" + path})
	table := tableOf(col("a", types.Of(types.Int)))
	check := func(name string, p catalog.Purpose) (*catalog.Check, error) {
		return c.Check(ctx, catalog.ObjectPath{Database: "shop", Object: name}, table, p)
	}
	_, err := check("t", catalog.ReplaceTableAs)
	require.ErrorIs(t, err, catalog.ErrTableNotExist)
	got, err := check("t", catalog.CreateOrReplaceTableAs)
	require.NoError(t, err)
	require.Equal(t, "the table is made and filled in one SQLite transaction of a new file", got.Reason)
	require.Empty(t, must(filepath.Glob(path+"*")))

	exe(t, path, "CREATE TABLE t (x)", "CREATE VIEW v AS SELECT 1", "CREATE TABLE x (a)", "CREATE INDEX i ON x (a)")
	for _, p := range []catalog.Purpose{catalog.ReplaceTableAs, catalog.CreateOrReplaceTableAs} {
		got, err = check("t", p)
		require.NoError(t, err)
		require.Equal(t, "the old table gives way to the new one in the SQLite transaction that writes its rows; until that commits the old one stands", got.Reason)
		require.Equal(t, catalog.Atomic, got.Guarantee)
		require.Equal(t, "CREATE TABLE \"t\" (\n  \"a\" INT\n)", got.DDL)
		_, err = check("v", p)
		require.ErrorIs(t, err, catalog.ErrTableAlreadyExist)
		require.EqualError(t, err, "v is the name of a view, which is no table and cannot be replaced by one")
		_, err = check("i", p)
		require.EqualError(t, err, "i is the name of an index, which is no table and cannot be replaced by one")
		_, err = check("T", p)
		require.ErrorIs(t, err, catalog.ErrTableAlreadyExist)
		require.EqualError(t, err, "table t already exists, and SQLite does not tell it from T")
		_, err = check("x", p)
		require.EqualError(t, err, "table x cannot be replaced, the new table would not have what this one has: index i; drop that first, or INSERT OVERWRITE the table, which keeps it")
	}
	_, err = check("no", catalog.ReplaceTableAs)
	require.EqualError(t, err, "table no does not exist in database shop")
	_, err = check("t", catalog.CreateTableAs)
	require.ErrorIs(t, err, catalog.ErrTableAlreadyExist)
	require.Equal(t, "4", one(t, path, "SELECT count(*) FROM sqlite_schema"))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestReplaceStaged: a failing replacement leaves the old rows, one that works has the new ones, and a table that
// another session changed meanwhile stays as that left it.
func TestReplaceStaged(t *testing.T) {
	ctx := context.Background()
	errBad := errors.New("row 1,500 cannot be made")
	path := filepath.Join(t.TempDir(), "shop.db")
	exe(t, path, "CREATE TABLE t (x)", "INSERT INTO t VALUES (1), (2), (3)")
	c := open(t, map[string]string{"base-url": "jdbc:sqlite:" + path})
	at := catalog.ObjectPath{Database: "shop", Object: "t"}
	table := tableOf(col("a", types.Of(types.Int)))
	stage := func(at catalog.ObjectPath, p catalog.Purpose, reads bool) catalog.StagedTable {
		s, err := c.Stage(ctx, at, table, p, reads)
		require.NoError(t, err)
		return s
	}
	for _, reads := range []bool{false, true} {
		for _, p := range []catalog.Purpose{catalog.ReplaceTableAs, catalog.CreateOrReplaceTableAs} {
			exe(t, path, "DROP TABLE t", "CREATE TABLE t (x)", "INSERT INTO t VALUES (1), (2), (3)")
			_, err := run(stage(at, p, reads), rows(1700, errBad))
			require.ErrorIs(t, err, errBad)
			require.Equal(t, "x 3", one(t, path, "SELECT name || ' ' || (SELECT count(*) FROM t) FROM pragma_table_info('t')"))
			n, err := run(stage(at, p, reads), rows(1700, nil))
			require.NoError(t, err)
			require.EqualValues(t, 1700, n)
			require.Equal(t, "a 1700", one(t, path, "SELECT name || ' ' || (SELECT count(*) FROM t) FROM pragma_table_info('t')"))
		}
	}
	_, err := run(stage(catalog.ObjectPath{Database: "shop", Object: "no"}, catalog.ReplaceTableAs, false), rows(10, nil))
	require.ErrorIs(t, err, catalog.ErrTableNotExist)
	tx := stage(at, catalog.ReplaceTableAs, true)
	require.NoError(t, tx.Begin(ctx, connector.NewJobID()))
	_, err = tx.Seal(ctx)
	require.NoError(t, err)
	exe(t, path, "DROP TABLE t", "CREATE TABLE t (rival)")
	out, err := tx.Commit(ctx)
	require.Equal(t, connector.NotDone, out)
	require.ErrorIs(t, err, catalog.ErrTableChanged)
	require.EqualError(t, err, "table t was changed by another session while the job ran; it stays as it is, and nothing was stored")
	require.NoError(t, tx.Abort(ctx))
	require.Equal(t, "rival", one(t, path, "SELECT name FROM pragma_table_info('t')"))
}
