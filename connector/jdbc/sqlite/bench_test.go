package sqlite

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// wideColumns is a table of 4 INTEGER, 4 REAL and 8 TEXT columns, and with times 2 DECIMAL(12,2) and
// 3 TIMESTAMP(6) more.
const wideSQL = `CREATE TABLE l (l_orderkey INTEGER, l_partkey INTEGER, l_suppkey INTEGER, l_linenumber INTEGER,
 l_quantity REAL, l_extendedprice REAL, l_discount REAL, l_tax REAL, l_returnflag TEXT, l_linestatus TEXT,
 l_shipdate TEXT, l_commitdate TEXT, l_receiptdate TEXT, l_shipinstruct TEXT, l_shipmode TEXT, l_comment TEXT%s)`

const wideRows = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
INSERT INTO l SELECT i, i * 7919 %% 1000000, i * 31 %% 50000, i %% 7, i %% 50 + 1.5, (i * 104729 %% 10000000) / 100.0,
 (i %% 11) / 100.0, (i %% 9) / 100.0, substr('NRA', i %% 3 + 1, 1), substr('OF', i %% 2 + 1, 1),
 date('1992-01-01', (i %% 2400) || ' days'), date('1992-02-01', (i %% 2300) || ' days'), date('1992-03-01', (i %% 2200) || ' days'),
 CASE i %% 4 WHEN 0 THEN 'DELIVER IN PERSON' WHEN 1 THEN 'COLLECT COD' WHEN 2 THEN 'NONE' ELSE 'TAKE BACK RETURN' END,
 CASE i %% 3 WHEN 0 THEN 'TRUCK' WHEN 1 THEN 'MAIL' ELSE 'SHIP' END, 'carefully final deposits ' || (i %% 1000)%s FROM n`

func wideFile(t testing.TB, rows int, exact bool) string {
	path := filepath.Join(t.TempDir(), "source.db")
	c, err := Open(nil, path, Create)
	require.NoError(t, err)
	defer c.Close()
	cols, cells := "", ""
	if exact {
		cols = ", d1 DECIMAL(12,2), d2 DECIMAL(12,2), t1 TIMESTAMP(6), t2 TIMESTAMP(6), t3 TIMESTAMP(6)"
		cells = ", (i * 104729 % 10000000) / 100.0, i, strftime('%Y-%m-%d %H:%M:%S.000000', i * 86, 'unixepoch'), strftime('%Y-%m-%d %H:%M:%S.123456', i * 87, 'unixepoch'), strftime('%Y-%m-%d %H:%M:%S.500000', i * 88, 'unixepoch')"
	}
	require.NoError(t, c.Exec(fmt.Sprintf(wideSQL, cols)))
	require.NoError(t, c.Exec(fmt.Sprintf(wideRows, rows, cells)))
	return path
}

func allColumns(s types.Schema) []int {
	all := make([]int, len(s.Columns))
	for i := range all {
		all[i] = i
	}
	return all
}

func openFor(t testing.TB, path, table string) (*Table, types.Schema) {
	s := NewStore(path, nil, nil)
	var info *TableInfo
	require.NoError(t, s.Read(context.Background(), func(c *Conn) (err error) {
		info, err = s.Describe(c, table, true)
		return err
	}))
	require.NotNil(t, info)
	tab, err := s.OpenTable(context.Background(), table, info.Schema())
	require.NoError(t, err)
	return tab, info.Schema()
}

// scanAll reads a table with n readers and calls f for each batch, from several goroutines.
func scanAll(t testing.TB, tab *Table, cols []int, n int, f func(*column.Batch)) {
	ctx := context.Background()
	src, err := tab.Source(ctx, connector.Scan{Columns: cols, Limit: -1})
	require.NoError(t, err)
	defer src.Close()
	splits, err := src.Splits(ctx, n)
	require.NoError(t, err)
	next := make(chan connector.Split, len(splits))
	for _, s := range splits {
		next <- s
	}
	close(next)
	var wg sync.WaitGroup
	for range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			b := &column.Batch{}
			for s := range next {
				r, err := src.Reader(ctx, []connector.Split{s})
				if err != nil {
					t.Error(err)
					return
				}
				for {
					st, err := r.Read(ctx, b)
					if err != nil {
						t.Error(err)
						return
					}
					f(b)
					if st == connector.End {
						break
					}
				}
				r.Close()
			}
		}()
	}
	wg.Wait()
}

// copyTable is the whole road of a CTAS: one goroutine scans, one writes, four batches between them.
func copyTable(t testing.TB, from, to string) int64 {
	ctx := context.Background()
	tab, schema := openFor(t, from, "l")
	src, err := tab.Source(ctx, connector.Scan{Columns: allColumns(schema), Limit: -1})
	require.NoError(t, err)
	defer src.Close()
	splits, err := src.Splits(ctx, 1)
	require.NoError(t, err)
	tx := NewTransaction(Target{Store: NewStore(to, nil, nil), Table: "t", Columns: schema.Columns, Create: &schema})
	require.NoError(t, tx.Begin(ctx, connector.NewJobID()))
	w, err := tx.Writer(ctx, 0)
	require.NoError(t, err)
	full, free := make(chan *column.Batch, 4), make(chan *column.Batch, 6)
	for range 6 {
		free <- &column.Batch{}
	}
	go func() {
		defer close(full)
		r, err := src.Reader(ctx, splits)
		if err != nil {
			t.Error(err)
			return
		}
		defer r.Close()
		for {
			b := <-free
			st, err := r.Read(ctx, b)
			if err != nil {
				t.Error(err)
				return
			}
			full <- b
			if st == connector.End {
				return
			}
		}
	}()
	var last *column.Batch
	err = w.Write(ctx, func() (*column.Batch, error) {
		if last != nil {
			free <- last
		}
		b, ok := <-full
		if !ok {
			return nil, nil
		}
		last = b
		return b, nil
	})
	require.NoError(t, err)
	require.NoError(t, w.Close())
	n, err := tx.Seal(ctx)
	require.NoError(t, err)
	out, err := tx.Commit(ctx)
	require.NoError(t, err)
	require.Equal(t, connector.Done, out)
	return n
}

func BenchmarkScan(b *testing.B) {
	path := wideFile(b, 1_000_000, false)
	for _, readers := range []int{1, 2} {
		b.Run(fmt.Sprintf("readers=%d", readers), func(b *testing.B) {
			for b.Loop() {
				tab, schema := openFor(b, path, "l")
				scanAll(b, tab, allColumns(schema), readers, func(*column.Batch) {})
			}
		})
	}
}

// BenchmarkCopy prints this package's whole road against the sqlite3 shell's CREATE TABLE AS.
func BenchmarkCopy(b *testing.B) {
	cli, err := exec.LookPath("sqlite3")
	if err != nil {
		b.Skip("no sqlite3 shell here")
	}
	for _, exact := range []bool{false, true} {
		b.Run(fmt.Sprintf("exact=%t", exact), func(b *testing.B) {
			path := wideFile(b, 1_000_000, exact)
			var ours, theirs time.Duration
			for b.Loop() {
				to := filepath.Join(filepath.Dir(path), "target.db")
				begin := time.Now()
				copyTable(b, path, to)
				ours += time.Since(begin)
				require.NoError(b, os.Remove(to))
				begin = time.Now()
				out, err := exec.Command(cli, to, "PRAGMA synchronous=EXTRA; ATTACH '"+path+"' AS s; CREATE TABLE t AS SELECT * FROM s.l;").CombinedOutput()
				theirs += time.Since(begin)
				require.NoError(b, err, string(out))
				require.NoError(b, os.Remove(to))
			}
			b.ReportMetric(ours.Seconds()/theirs.Seconds(), "ratio")
			b.ReportMetric(ours.Seconds()/float64(b.N), "ours-s")
			b.ReportMetric(theirs.Seconds()/float64(b.N), "cli-s")
		})
	}
}
