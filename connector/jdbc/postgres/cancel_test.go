package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/internal/testserver"
)

// atOnce is far less than what is cancelled would take, and enough for a machine that does much else.
const atOnce = 20 * time.Second

// cancelled runs f with a context that ends after a while, and checks that f ends at once with its cause, and that
// nothing of it is at work on the server.
func (f *fixture) cancelled(after time.Duration, run func(ctx context.Context) error) error {
	f.t.Helper()
	ctx, cancel := context.WithCancelCause(f.ctx)
	var ended time.Time
	time.AfterFunc(after, func() { ended = time.Now(); cancel(errBad) })
	err := run(ctx)
	require.ErrorIs(f.t, err, errBad)
	require.Less(f.t, time.Since(ended), atOnce)
	f.ts.NoSessions(f.t)
	return err
}

// TestCancel: the end of a context ends at once what is done, on the server, too.
func TestCancel(t *testing.T) {
	f := setUp(t)
	sch := schema(t, "a INT")
	endless := func() (*column.Batch, error) { return numbers(0, 2048), nil }
	for range 3 { // while rows go to the server
		tx := f.stage("t", server.Create, sch)
		f.cancelled(100*time.Millisecond, func(ctx context.Context) error {
			_, err := f.writeFrom(ctx, tx, endless)
			return err
		})
		require.NoError(t, tx.Abort(f.ctx))
	}
	// While the server is at it for long: a trigger, and an INSERT from what was copied.
	f.sql("CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); RETURN NEW; END'; CREATE TABLE s(a int PRIMARY KEY); CREATE TRIGGER slow BEFORE INSERT ON s FOR EACH ROW EXECUTE FUNCTION slow()")
	for _, s := range []*Server{f.s, f.option("sink.on-conflict", "update")} {
		tx := f.insert(f.openBy(s, "s"), connector.Insert{})
		f.cancelled(200*time.Millisecond, func(ctx context.Context) error {
			_, err := f.writeFrom(ctx, tx, feed(numbers(0, 10)))
			return err
		})
		require.NoError(t, tx.Abort(f.ctx))
	}
	// While it reads: rows that do not come, before the first and after some.
	f.sql("CREATE VIEW v AS SELECT 1 AS a FROM pg_sleep(60); CREATE VIEW w AS SELECT CASE WHEN n = 5000 THEN length(pg_sleep(60)::text) ELSE n END AS a FROM generate_series(1, 10000) n")
	for _, name := range []string{"v", "w"} {
		tab := f.open(name)
		f.cancelled(300*time.Millisecond, func(ctx context.Context) error {
			_, err := f.read(ctx, tab, connector.Scan{Columns: []int{0}, Limit: -1}, 1)
			return err
		})
	}
	// A reader that is closed in the middle leaves nothing running.
	f.sql("CREATE VIEW big AS SELECT CASE WHEN n = 100000 THEN length(pg_sleep(60)::text) ELSE n END AS a, repeat('x', 500) AS b FROM generate_series(1, 200000) n")
	src, err := f.open("big").Source(f.ctx, connector.Scan{Columns: []int{0, 1}, Limit: -1})
	require.NoError(t, err)
	splits, err := src.Splits(f.ctx, 1)
	require.NoError(t, err)
	r, err := src.Reader(f.ctx, splits)
	require.NoError(t, err)
	for b := (&column.Batch{}); b.N == 0; {
		_, err = r.Read(f.ctx, b)
		require.NoError(t, err)
	}
	start := time.Now()
	require.NoError(t, r.Close())
	require.NoError(t, src.Close())
	require.Less(t, time.Since(start), atOnce)
	f.ts.NoSessions(t)
	require.Equal(t, "\\N\t0\n", f.sql("SELECT to_regclass('t'), count(*) FROM s"))
}

// TestLocked: who has to wait is told for whom, and the wait ends with the context.
func TestLocked(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE t(a int PRIMARY KEY); INSERT INTO t VALUES (1)")
	hold, err := f.s.connect(f.ctx, f.db)
	require.NoError(t, err)
	tab := f.open("t")
	for name, run := range map[string]func(ctx context.Context) error{
		"drop":     func(ctx context.Context) error { return f.s.DropTable(ctx, f.db, "t", "") },
		"truncate": func(ctx context.Context) error { return tab.Truncate(ctx) },
		"rename":   func(ctx context.Context) error { return f.s.RenameTable(ctx, f.db, "t", "u") },
		"overwrite": func(ctx context.Context) error {
			tx := f.insert(tab, connector.Insert{Overwrite: true})
			_, err := f.writeFrom(ctx, tx, feed(numbers(0, 1)))
			_ = tx.Abort(f.ctx)
			return err
		},
		"modify": func(ctx context.Context) error {
			tx, err := tab.Modify(ctx, connector.Modify{})
			require.NoError(t, err)
			err = tx.Begin(ctx, connector.NewJobID())
			_ = tx.Abort(f.ctx)
			return err
		},
		"replace": func(ctx context.Context) error {
			tx := f.stage("t", server.Replace, schema(t, "a INT"))
			_, err := f.writeFrom(ctx, tx, feed(numbers(0, 1)))
			_ = tx.Abort(f.ctx)
			return err
		},
	} {
		_, err = hold.exec(f.ctx, "BEGIN; LOCK TABLE t IN ROW EXCLUSIVE MODE")
		require.NoError(t, err)
		waits := &connector.Waits{}
		ctx, cancel := context.WithCancelCause(connector.WithWaits(f.ctx, waits))
		var told string
		var ended time.Time
		go func() {
			for told == "" {
				time.Sleep(10 * time.Millisecond)
				if w := waits.Longest(); w != nil {
					told = w.File
				}
			}
			ended = time.Now()
			cancel(errBad)
		}()
		err := run(ctx)
		require.ErrorIs(t, err, errBad, name)
		require.ErrorContains(t, err, "table t (PostgreSQL 127.0.0.1:", name)
		require.ErrorContains(t, err, ") is locked by process ", name)
		require.ErrorContains(t, err, "(sluice) of "+testserver.User, name)
		require.Less(t, time.Since(ended), atOnce, name)
		require.Contains(t, told, "table t", name)
		require.Nil(t, waits.Longest())
		_, err = hold.exec(f.ctx, "COMMIT")
		require.NoError(t, err)
		require.Equal(t, "1\n", f.sql("SELECT a FROM t"))
	}
	hold.close()
}

// TestGone: the loss of a link is an error that says so, promptly, and the server ends what it did.
func TestGone(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE big AS SELECT n AS a FROM generate_series(1, 300000) n")
	s, p := f.proxied(nil)
	tab := f.openBy(s, "big")
	n := 0
	tx := f.stageOf(s, "t", server.Create, schema(t, "a INT"))
	_, err := f.writeFrom(f.ctx, tx, func() (*column.Batch, error) {
		if n++; n == 10 {
			p.CutAll()
		}
		if n == 100_000 {
			return nil, nil
		}
		return numbers(n, 1000), nil
	})
	require.ErrorContains(t, err, "the connection was lost: the ")
	require.NoError(t, tx.Abort(f.ctx))
	require.Less(t, n, 100_000)
	src, err := tab.Source(f.ctx, connector.Scan{Columns: []int{0}, Limit: -1})
	require.NoError(t, err)
	defer src.Close()
	splits, err := src.Splits(f.ctx, 1)
	require.NoError(t, err)
	r, err := src.Reader(f.ctx, splits)
	require.NoError(t, err)
	defer r.Close()
	_, err = r.Read(f.ctx, &column.Batch{})
	require.NoError(t, err)
	p.CutAll()
	for err == nil {
		_, err = r.Read(f.ctx, &column.Batch{})
	}
	require.ErrorContains(t, err, "the connection was lost: the ")
	require.NotContains(t, err.Error(), testserver.Password)
}
