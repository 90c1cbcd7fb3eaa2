package mysql

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
)

// sources opens tables in one job, and their snapshot; between is called after each.
func (f *fixture) sources(ctx context.Context, between func(), tabs ...*Table) (list []connector.Source) {
	f.t.Helper()
	for _, tab := range tabs {
		src, err := tab.Source(ctx, connector.Scan{Columns: []int{0}, Limit: -1})
		require.NoError(f.t, err)
		f.t.Cleanup(func() { _ = src.Close() })
		list = append(list, src)
	}
	for _, src := range list {
		_, err := src.Splits(ctx, 2)
		require.NoError(f.t, err)
		between()
	}
	return list
}

func (f *fixture) reader(ctx context.Context, src connector.Source) connector.Reader {
	f.t.Helper()
	r, err := src.Reader(ctx, []connector.Split{{ID: 0}})
	require.NoError(f.t, err)
	return r
}

// rest reads to the end, and returns the sum of the first column.
func (f *fixture) rest(r connector.Reader) (sum int64) {
	f.t.Helper()
	for {
		b := &column.Batch{}
		status, err := r.Read(f.ctx, b)
		require.NoError(f.t, err)
		for i := range b.N {
			sum += b.Cols[0].Int64(i)
		}
		if status == connector.End {
			require.NoError(f.t, r.Close())
			return sum
		}
	}
}

// All that one job reads of a server is of one moment, in whichever order it is read.
func TestOneSnapshot(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE s (i INT) ENGINE=InnoDB; INSERT INTO s VALUES (1); CREATE TABLE u LIKE s; INSERT INTO u VALUES (10); CREATE VIEW v AS SELECT i FROM s; CREATE TABLE e LIKE s")
	n := 1
	change := func() {
		n++
		f.sql(fmt.Sprintf("INSERT INTO s VALUES (%d); INSERT INTO u VALUES (%d)", n, n))
	}
	again := f.server(f.ts.Addr(), nil, nil) // another catalog
	ctx := connector.WithScope(f.ctx)
	list := f.sources(ctx, change, f.open("s"), f.open("s"), f.openBy(again, "u"), f.open("v"))
	var sums []int64
	for _, at := range []int{2, 0, 3, 1} {
		sums = append(sums, f.rest(f.reader(ctx, list[at])))
		change()
	}
	require.Equal(t, []int64{10, 1, 1, 1}, sums)
	// An empty table makes the snapshot as any other does.
	list = f.sources(ctx, func() { f.sql("INSERT INTO e VALUES (1)") }, f.open("e"), f.open("e"))
	require.Zero(t, f.rest(f.reader(ctx, list[0]))+f.rest(f.reader(ctx, list[1])))
	// With other parameters the server is another, and so is it for another job.
	other := f.server(f.ts.Addr(), map[string]string{"sslMode": "DISABLED"}, nil)
	late := f.sources(ctx, func() {}, f.openBy(other, "s"))
	require.Greater(t, f.rest(f.reader(ctx, late[0])), int64(1))
	require.Greater(t, f.rest(f.reader(ctx, f.sources(connector.WithScope(f.ctx), func() {}, f.open("s"))[0])), int64(1))
}

// While sources are opened and read, another session moves an amount from one table to the other and back, in
// transactions of their own: the sum is the same at every moment.
func TestOneSnapshotBesideWriters(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE a (n INT NOT NULL) ENGINE=InnoDB; CREATE TABLE b LIKE a; INSERT INTO a VALUES (1000); INSERT INTO b VALUES (0)")
	a, b := f.open("a"), f.open("b")
	var over atomic.Bool
	defer over.Store(true)
	moves := make(chan struct{}) // one for each transaction
	ended := make(chan error, 1)
	run := func() error {
		defer close(moves)
		c, err := f.s.connect(f.ctx, f.db)
		if err != nil {
			return err
		}
		defer c.close()
		for i := 0; !over.Load(); i++ {
			for _, s := range []string{"START TRANSACTION", "UPDATE a SET n = n - 1", "UPDATE b SET n = n + 1", "COMMIT"} {
				if _, err := c.exec(f.ctx, s); err != nil {
					return err
				}
			}
			select {
			case moves <- struct{}{}:
			default:
			}
		}
		return nil
	}
	go func() { ended <- run() }()
	for range 30 {
		ctx := connector.WithScope(f.ctx)
		list := f.sources(ctx, func() { <-moves }, a, b)
		left := f.rest(f.reader(ctx, list[0]))
		<-moves
		require.EqualValues(t, 1000, left+f.rest(f.reader(ctx, list[1])))
	}
	over.Store(true)
	for range moves {
	}
	require.NoError(t, <-ended)
}

// Readers of one snapshot take turns. One whose rows nobody wants any more gives way at once, and the snapshot goes on.
func TestSnapshotTurns(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE big (i INT NOT NULL, s CHAR(250)) ENGINE=InnoDB; INSERT INTO big SELECT seq, REPEAT('x', 250) FROM seq_1_to_100000; CREATE TABLE s (i INT) ENGINE=InnoDB; INSERT INTO s VALUES (7)")
	big, small := f.open("big"), f.open("s")
	change := func() { f.sql("INSERT INTO s VALUES (1)") }
	begun := func(ctx context.Context, src connector.Source) connector.Reader {
		r := f.reader(ctx, src)
		b := &column.Batch{}
		status, err := r.Read(ctx, b)
		require.NoError(t, err)
		require.Equal(t, connector.More, status)
		require.NotZero(t, b.N)
		return r
	}
	for name, stop := range map[string]func(r connector.Reader, cancel func()){
		"closed":   func(r connector.Reader, _ func()) { require.NoError(t, r.Close()) },
		"canceled": func(_ connector.Reader, cancel func()) { cancel() },
	} {
		ctx := connector.WithScope(f.ctx)
		list := f.sources(ctx, change, big, small, small)
		scan, cancel := context.WithCancel(ctx)
		first := begun(scan, list[0])
		second := f.reader(ctx, list[1])
		b := &column.Batch{}
		status, err := second.Read(ctx, b)
		require.NoError(t, err, name)
		require.Equal(t, connector.More, status, name)
		require.Zero(t, b.N, name)
		stop(first, cancel)
		require.EqualValues(t, 7, f.rest(second), name)
		require.EqualValues(t, 7, f.rest(f.reader(ctx, list[2])), name)
		_, err = first.Read(scan, b)
		require.Error(t, err, name)
		cancel()
		f.sql("DELETE FROM s; INSERT INTO s VALUES (7)")
	}
	// A reader whose rows are all wanted is waited for.
	ctx := connector.WithScope(f.ctx)
	list := f.sources(ctx, change, big, small)
	first, second := begun(ctx, list[0]), f.reader(ctx, list[1])
	ended := make(chan error, 1)
	run := func() error {
		for b := (&column.Batch{}); ; {
			if status, err := second.Read(ctx, b); err != nil || status == connector.End {
				return err
			}
		}
	}
	go func() { ended <- run() }()
	require.Greater(t, f.rest(first), int64(4e9))
	require.NoError(t, <-ended)
	// What is lost is lost for all.
	list = f.sources(connector.WithScope(f.ctx), change, big, small)
	first = begun(f.ctx, list[0])
	f.sql("KILL " + strings.TrimSpace(f.sql("SELECT ID FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND INFO LIKE '%`big` AS t%'")))
	require.NoError(t, first.Close())
	_, err := f.reader(f.ctx, list[1]).Read(f.ctx, &column.Batch{})
	require.ErrorContains(t, err, "MySQL server "+f.ts.Addr()+": the connection was lost")
}

// A table that takes the place of another while a job reads comes too late for it, or before it has a snapshot: rows
// that are of neither, as none, are never read.
func TestSnapshotHoldsTables(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE s (i INT) ENGINE=InnoDB; INSERT INTO s VALUES (1); CREATE TABLE u LIKE s; CREATE VIEW v AS SELECT i FROM s")
	for i, read := range [][]string{{"s"}, {"v"}, {"u", "v"}, {"u", "s"}, {"s", "u", "s"}} {
		tx := f.stage("s", server.Replace, schema(t, "i INT"))
		require.NoError(t, tx.Begin(f.ctx, connector.NewJobID()))
		var tabs []*Table
		for _, name := range read {
			tabs = append(tabs, f.open(name))
		}
		list := f.sources(connector.WithScope(f.ctx), func() {}, tabs...)
		w, err := tx.Writer(f.ctx, 0)
		require.NoError(t, err)
		require.NoError(t, w.Write(f.ctx, feed(numbers(i+2, 1))))
		ended := make(chan error, 1)
		go func() {
			_, err := tx.Seal(f.ctx)
			if err == nil {
				_, err = tx.Commit(f.ctx)
			}
			ended <- err
		}()
		waiting := "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE = 'Waiting for table metadata lock' AND INFO LIKE 'LOCK TABLES%'"
		for f.sql(waiting) == "0\n" {
		}
		var last int64
		for _, src := range list {
			last = f.rest(f.reader(f.ctx, src))
		}
		require.EqualValues(t, i+1, last, read)
		require.NoError(t, <-ended)
		require.Equal(t, fmt.Sprintf("%d\n", i+2), f.sql("SELECT * FROM s"))
	}
	require.Empty(t, f.ours())
}

// A column that is another than it was when the query was planned is not read as what it was: the server would round.
func TestAlteredBeforeRead(t *testing.T) {
	f := setUp(t)
	for _, alter := range []string{"ALTER TABLE s MODIFY i FLOAT", "ALTER TABLE s DROP i", "ALTER TABLE s CHANGE i j INT"} {
		f.sql("DROP TABLE IF EXISTS s; CREATE TABLE s (i INT, k INT) ENGINE=InnoDB")
		src, err := f.open("s").Source(f.ctx, connector.Scan{Columns: []int{0}, Limit: -1})
		require.NoError(t, err)
		other, err := f.open("s").Source(f.ctx, connector.Scan{Columns: []int{1}, Limit: -1})
		require.NoError(t, err)
		f.sql(alter)
		_, err = src.Splits(f.ctx, 1)
		require.ErrorContains(t, err, "table s: column i was altered or dropped by another session; run the statement again", alter)
		_, err = other.Splits(f.ctx, 1)
		require.NoError(t, err, alter)
		require.NoError(t, src.Close())
		require.NoError(t, other.Close())
	}
}

// A job that replaces what it reads is not kept waiting by its own snapshot, when all is read.
func TestSnapshotLetsGo(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE s (i INT) ENGINE=InnoDB; INSERT INTO s VALUES (1)")
	ctx := connector.WithScope(f.ctx)
	list := f.sources(ctx, func() {}, f.open("s"), f.open("s"))
	for _, src := range list {
		f.rest(f.reader(ctx, src))
	}
	f.done(f.stage("s", server.Replace, schema(t, "i INT")), numbers(5, 1))
	require.Equal(t, "5\n", f.sql("SELECT * FROM s"))
}
