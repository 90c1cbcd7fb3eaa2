package sqlite

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// A streaming job may read the file it writes when that has a write-ahead log, and only then.
func TestCheckEpochs(t *testing.T) {
	for _, c := range []struct {
		ddl   string
		reads bool
		err   string
	}{
		{"CREATE TABLE t (a INTEGER)", false, ""},
		{"CREATE TABLE t (a INTEGER)", true, "which has a rollback journal: write to another file"},
		{"PRAGMA journal_mode = WAL; CREATE TABLE t (a INTEGER)", true, ""},
	} {
		path := file(t, c.ddl)
		store := NewStore(path, nil, newEnv())
		table, err := store.OpenTable(context.Background(), "t", types.Schema{Columns: []types.Column{{Name: "a", Type: types.Of(types.BigInt)}}})
		require.NoError(t, err)
		tx, err := table.Transaction(context.Background(), connector.Insert{Columns: []int{0}, ReadsSame: c.reads})
		require.NoError(t, err)
		err = tx.(connector.EpochChecker).CheckEpochs(context.Background())
		if c.err == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, c.err)
			require.ErrorContains(t, err, path)
		}
		require.NoError(t, table.Close())
	}
}
