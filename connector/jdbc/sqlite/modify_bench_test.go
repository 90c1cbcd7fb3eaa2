package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// BenchmarkModify prints UPDATE and DELETE of a table of 1 M rows, from reading to COMMIT, against the sqlite3 shell's
// own, as medians of the rounds, which alternate. Ours takes the rows through the engine, so it reads and keeps them
// once more than SQLite does; as there, one goroutine reads while another writes.
func BenchmarkModify(b *testing.B) {
	cli, err := exec.LookPath("sqlite3")
	if err != nil {
		b.Skip("no sqlite3 shell here")
	}
	const rows = 1_000_000
	base := wideFile(b, rows, false)
	for _, mode := range modes {
		for _, c := range []struct {
			name, sql string
			set       []string
			keep      func(id int64) bool
		}{
			{"update", "UPDATE l SET l_partkey = l_partkey + 1, l_tax = l_tax * 2 WHERE l_orderkey > 0", []string{"l_partkey", "l_tax"}, func(int64) bool { return true }},
			{"delete=most", "DELETE FROM l WHERE l_orderkey % 7 <> 3", nil, func(id int64) bool { return id%7 != 3 }},
			{"delete=all", "DELETE FROM l WHERE l_orderkey > 0", nil, func(int64) bool { return true }},
			{"truncate", "DELETE FROM l", nil, nil},
		} {
			b.Run(fmt.Sprintf("%s/%s", mode, c.name), func(b *testing.B) {
				path := filepath.Join(filepath.Dir(base), "changed.db")
				fresh := func() {
					require.NoError(b, exec.Command("sh", "-c", "rm -f "+path+"*; cp "+base+" "+path+"; sync "+path).Run())
					exe(b, path, "PRAGMA journal_mode = "+mode)
				}
				var ours, theirs []float64
				for b.Loop() {
					fresh()
					begin := time.Now()
					if c.keep == nil {
						tab, _ := openFor(b, path, "l")
						require.NoError(b, tab.Truncate(context.Background()))
					} else {
						changeTable(b, path, c.set, c.keep)
					}
					ours = append(ours, time.Since(begin).Seconds())
					mine := one(b, path, "SELECT count(*) || ' ' || coalesce(sum(l_partkey), 0) FROM l")
					fresh()
					begin = time.Now()
					out, err := exec.Command(cli, path, "PRAGMA synchronous=EXTRA; "+c.sql).CombinedOutput()
					theirs = append(theirs, time.Since(begin).Seconds())
					require.NoError(b, err, string(out))
					require.Equal(b, one(b, path, "SELECT count(*) || ' ' || coalesce(sum(l_partkey), 0) FROM l"), mine)
				}
				b.ReportMetric(median(ours)/median(theirs), "ratio")
				b.ReportMetric(median(ours), "ours-s")
				b.ReportMetric(median(theirs), "cli-s")
			})
		}
	}
}

// changeTable updates or deletes the rows of table l for which keep says so.
func changeTable(t testing.TB, path string, set []string, keep func(id int64) bool) {
	tab, schema := openFor(t, path, "l")
	m := connector.Modify{}
	columns := []int{len(schema.Columns), schema.Index("l_orderkey")}
	kinds := []types.Type{types.Of(types.BigInt)}
	for _, name := range set {
		i := schema.Index(name)
		m.Set, columns, kinds = append(m.Set, i), append(columns, i), append(kinds, schema.Columns[i].Type)
	}
	txn, err := tab.Modify(context.Background(), m)
	require.NoError(t, err)
	// The rows are read behind Begin, once Write asks for the first.
	full, free := make(chan *column.Batch, 4), make(chan *column.Batch, 6)
	for range 6 {
		free <- &column.Batch{}
	}
	started := false
	var last *column.Batch
	_, out, err := write(txn.(*Transaction), func() (*column.Batch, error) {
		if !started {
			started = true
			go func() {
				defer close(full)
				if err := readInto(tab, columns, full, free); err != nil {
					t.Error(err)
				}
			}()
		}
		if last != nil {
			free <- last
		}
		b, ok := <-full
		if last = b; !ok {
			return nil, nil
		}
		to := column.NewBatch(kinds, b.N)
		for i := range b.N {
			if !keep(b.Cols[1].I64[i]) {
				continue
			}
			to.Cols[0].AppendI64(b.Cols[0].I64[i])
			if set != nil {
				to.Cols[1].AppendI64(b.Cols[2].I64[i] + 1)
				to.Cols[2].AppendF64(b.Cols[3].F64[i] * 2)
			}
			to.N++
		}
		return to, nil
	})
	require.NoError(t, err)
	require.Equal(t, connector.Done, out)
}

// readInto reads columns of a table, each batch into one that is free.
func readInto(tab *Table, columns []int, full, free chan *column.Batch) (err error) {
	ctx := context.Background()
	src, err := tab.Source(ctx, connector.Scan{Columns: columns, Limit: -1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	splits, err := src.Splits(ctx, 1)
	if err != nil {
		return err
	}
	r, err := src.Reader(ctx, splits)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		b := <-free
		st, err := r.Read(ctx, b)
		if err != nil {
			return err
		}
		full <- b
		if st == connector.End {
			return nil
		}
	}
}

// median of seconds.
func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}
