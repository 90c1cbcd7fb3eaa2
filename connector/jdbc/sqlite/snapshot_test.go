package sqlite

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
)

// TestOneSnapshotOfAJob: while a writer moves amounts between two tables in one transaction after
// another, all the scans of a job see one commit: of both tables the sum is 0, and two scans of one table
// agree.
func TestOneSnapshotOfAJob(t *testing.T) {
	const fill = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000) INSERT INTO "
	for _, mode := range []string{"wal", "delete"} {
		path := file(t, "PRAGMA journal_mode = "+mode, "CREATE TABLE acc (id INTEGER PRIMARY KEY, v INT)", "CREATE TABLE acc2 (id INTEGER PRIMARY KEY, v INT)",
			fill+"acc SELECT i, 0 FROM n", fill+"acc2 SELECT i, 0 FROM n")
		acc, _ := openFor(t, path, "acc")
		acc2, _ := openFor(t, path, "acc2")
		db, err := sql.Open("sqlite3", path+"?_busy_timeout=20000&_synchronous=OFF&_txlock=immediate")
		require.NoError(t, err)
		stop, done := make(chan struct{}), make(chan struct{})
		var commits atomic.Int64
		go func() {
			defer close(done)
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				tx, err := db.Begin()
				if err != nil {
					t.Error(err)
					continue
				}
				_, err1 := tx.Exec("UPDATE acc SET v = v + 7 WHERE id = ?", n%40000+1)
				_, err2 := tx.Exec("UPDATE acc2 SET v = v - 7 WHERE id = ?", n*7%40000+1)
				if err := tx.Commit(); err != nil || err1 != nil || err2 != nil {
					t.Error(err, err1, err2)
				}
				commits.Add(1)
			}
		}()
		runs := 60
		if testing.Short() {
			runs = 20
		}
		for n := 0; (n < runs || commits.Load() < 20) && !t.Failed(); n++ {
			ctx := connector.WithScope(context.Background())
			sums := scanTogether(t, ctx, 2, acc, acc2, acc)
			require.Zero(t, sums[0]+sums[1], "two tables of a %s file", mode)
			require.Equal(t, sums[0], sums[2], "one table of a %s file twice", mode)
		}
		close(stop)
		<-done
		require.NoError(t, db.Close())
		require.Zero(t, scanTogether(t, context.Background(), 2, acc)[0]-sumOf(t, path))
	}
}

func sumOf(t *testing.T, path string) int64 {
	db, err := sql.Open("sqlite3", path)
	require.NoError(t, err)
	defer db.Close()
	var n int64
	require.NoError(t, db.QueryRow("SELECT sum(v) FROM acc").Scan(&n))
	return n
}

// scanTogether sums the column v of some tables in one job, all sources made before any is opened.
func scanTogether(t *testing.T, ctx context.Context, parallelism int, tables ...*Table) []int64 {
	t.Helper()
	sources := make([]connector.Source, len(tables))
	for i, tab := range tables {
		src, err := tab.Source(ctx, connector.Scan{Columns: []int{1}, Limit: -1})
		require.NoError(t, err)
		sources[i] = src
	}
	splits := make([][]connector.Split, len(tables))
	for i, src := range sources {
		var err error
		splits[i], err = src.Splits(ctx, parallelism)
		require.NoError(t, err)
	}
	sums := make([]int64, len(tables))
	var wg sync.WaitGroup
	for i, src := range sources {
		var at atomic.Int64
		for range min(parallelism, len(splits[i])) {
			wg.Add(1)
			go func() {
				defer wg.Done()
				b := &column.Batch{}
				for {
					n := int(at.Add(1)) - 1
					if n >= len(splits[i]) {
						return
					}
					r, err := src.Reader(ctx, splits[i][n:n+1])
					if err != nil {
						t.Error(err)
						return
					}
					for st := connector.More; st != connector.End; {
						if st, err = r.Read(ctx, b); err != nil {
							t.Error(err)
							return
						}
						for _, v := range b.Cols[0].I32[:b.N] {
							atomic.AddInt64(&sums[i], int64(v))
						}
					}
					_ = r.Close()
				}
			}()
		}
	}
	wg.Wait()
	for _, src := range sources {
		require.NoError(t, src.Close())
	}
	return sums
}
