package jdbc_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc"
	"github.com/sluice-sql/sluice/types"
)

// TestConnector: a table registered elsewhere reads and writes a SQLite table, as its definition types it.
func TestConnector(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "shop.db")
	db, err := sql.Open("sqlite3", path)
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec("CREATE TABLE orders (id INTEGER PRIMARY KEY, price NUMERIC); INSERT INTO orders VALUES (1, 2.5)")
	require.NoError(t, err)

	def := connector.TableDef{
		Identifier: connector.ObjectIdentifier{Catalog: "default_catalog", Database: "default_database", Object: "o"},
		Schema:     types.Schema{Columns: []types.Column{{Name: "price", Type: types.DecimalOf(8, 2)}, {Name: "id", Type: types.Of(types.Int)}}},
		Options:    map[string]string{"connector": "jdbc", "url": "jdbc:sqlite:" + path, "table-name": "orders"},
	}
	require.NoError(t, connector.CheckOptions("connector 'jdbc'", jdbc.Connector{}.Options(), def.Options))
	env := &connector.Env{Files: connector.NewFiles()}
	tab, err := jdbc.Connector{}.Table(ctx, def, env)
	require.NoError(t, err)
	defer tab.Close()

	tx, err := tab.(connector.Writable).Transaction(ctx, connector.Insert{Columns: []int{1, 0}})
	require.NoError(t, err)
	require.NoError(t, tx.Begin(ctx, connector.NewJobID()))
	w, err := tx.Writer(ctx, 0)
	require.NoError(t, err)
	b := column.NewBatch([]types.Type{types.Of(types.Int), types.DecimalOf(8, 2)}, 1)
	b.Cols[0].AppendI64(2)
	b.Cols[1].AppendI64(1999)
	b.N = 1
	sent := false
	require.NoError(t, w.Write(ctx, func() (*column.Batch, error) {
		if sent {
			return nil, nil
		}
		sent = true
		return b, nil
	}))
	n, err := tx.Seal(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
	out, err := tx.Commit(ctx)
	require.NoError(t, err)
	require.Equal(t, connector.Done, out)

	src, err := tab.(connector.Scannable).Source(ctx, connector.Scan{Columns: []int{0, 1}, Limit: -1})
	require.NoError(t, err)
	defer src.Close()
	splits, err := src.Splits(ctx, 2)
	require.NoError(t, err)
	r, err := src.Reader(ctx, splits)
	require.NoError(t, err)
	got := &column.Batch{}
	status, err := r.Read(ctx, got)
	require.NoError(t, err)
	require.Equal(t, connector.End, status)
	require.Equal(t, []int64{250, 1999}, got.Cols[0].I64[:got.N])
	require.Equal(t, []int32{1, 2}, got.Cols[1].I32[:got.N])
	require.NoError(t, r.Close())

	for options, want := range map[[2]string]string{
		{"url", "jdbc:oracle://h/d"}:                 "the jdbc dialect 'oracle' is not supported",
		{"url", "jdbc:sqlite:" + filepath.Dir(path)}: "is a directory, want a database file",
		{"username", "me"}:                           "SQLite has no users",
		{"table-name", "no"}:                         "table no does not exist in " + path,
	} {
		bad := def
		bad.Options = map[string]string{}
		for k, v := range def.Options {
			bad.Options[k] = v
		}
		bad.Options[options[0]] = options[1]
		_, err := jdbc.Connector{}.Table(ctx, bad, env)
		require.ErrorContains(t, err, want)
	}
}
