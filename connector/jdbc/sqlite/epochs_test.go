package sqlite

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
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

// The write-ahead log of a file stays as long as a streaming job has the table open, so that no checkpoint
// makes readers wait while it is removed.
func TestLogIsKept(t *testing.T) {
	for _, reads := range []bool{false, true} {
		path := file(t, "PRAGMA journal_mode = WAL", "CREATE TABLE t (a INTEGER)")
		log := func() uint64 { n, _ := inode(path + "-wal"); return n }
		require.Zero(t, log())
		ctx := context.Background()
		table, err := NewStore(path, nil, newEnv()).OpenTable(ctx, "t", types.Schema{Columns: []types.Column{{Name: "a", Type: types.Of(types.BigInt)}}})
		require.NoError(t, err)
		insert := func() *Transaction {
			tx, err := table.Transaction(ctx, connector.Insert{Columns: []int{0}, ReadsSame: reads})
			require.NoError(t, err)
			return tx.(*Transaction)
		}
		first := insert()
		require.NoError(t, first.CheckEpochs(ctx))
		kept := log()
		require.NotZero(t, kept)
		for i := range 3 {
			_, _, err := write(insert(), batches(column.NewBatch([]types.Type{types.Of(types.BigInt)}, 0)))
			require.NoError(t, err)
			require.Equal(t, kept, log(), "checkpoint %d", i)
			exe(t, path, "INSERT INTO t VALUES (1)")
			require.Equal(t, kept, log(), "write %d of another", i)
		}
		require.NoError(t, table.Close())
		require.Zero(t, log())
	}
}

// A transaction that waits but a little gives up with the name of the file, and lets readers in again.
func TestWaitAtMost(t *testing.T) {
	for _, c := range []struct {
		name, hold, at string
		staging        string
	}{
		{"reader", "BEGIN; SELECT * FROM t", "commit", "false"},
		{"writer", "BEGIN IMMEDIATE", "begin", "false"},
		{"reader, staging", "BEGIN; SELECT * FROM t", "commit", "true"},
		{"writer, staging", "BEGIN IMMEDIATE", "commit", "true"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := context.Background()
			path := file(t, "CREATE TABLE t (a INTEGER)", "INSERT INTO t VALUES (1)")
			s := NewStore(path, map[string]string{"sink.staging": c.staging}, newEnv())
			table, err := s.OpenTable(ctx, "t", types.Schema{Columns: []types.Column{{Name: "a", Type: types.Of(types.BigInt)}}})
			require.NoError(t, err)
			other, err := s.open(Write)
			require.NoError(t, err)
			begin, rest, _ := strings.Cut(c.hold, ";")
			require.NoError(t, other.Exec(begin))
			if rest != "" {
				require.NoError(t, other.Exec(rest))
			}
			attempt := func() (connector.Outcome, string, error) {
				tx, err := table.Transaction(ctx, connector.Insert{Columns: []int{0}})
				require.NoError(t, err)
				defer func() { require.NoError(t, tx.Abort(ctx)) }()
				tx.(connector.Patient).WaitAtMost(50 * time.Millisecond)
				if err := tx.Begin(ctx, connector.JobID{1}); err != nil {
					return connector.NotDone, "begin", err
				}
				w, err := tx.Writer(ctx, 0)
				require.NoError(t, err)
				row := column.NewBatch([]types.Type{types.Of(types.BigInt)}, 1)
				row.Cols[0].AppendI64(7)
				row.N = 1
				require.NoError(t, w.Write(ctx, batches(row)))
				require.NoError(t, w.Close())
				_, err = tx.Seal(ctx)
				require.NoError(t, err)
				out, err := tx.Commit(ctx)
				return out, "commit", err
			}
			out, at, err := attempt()
			require.Equal(t, connector.NotDone, out)
			require.Equal(t, c.at, at)
			var busy *connector.BusyError
			require.ErrorAs(t, err, &busy)
			require.Equal(t, "database "+path+", locked by another statement of this process", busy.Held)
			require.Equal(t, "1", one(t, path, "SELECT count(*) FROM t"), "readers come in")
			require.NoError(t, other.Close())
			out, _, err = attempt()
			require.NoError(t, err)
			require.Equal(t, connector.Done, out)
			require.Equal(t, "1,7", one(t, path, "SELECT group_concat(a) FROM t"))
			require.NoError(t, table.Close())
		})
	}
}
