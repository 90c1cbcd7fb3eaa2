package session_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/session"
)

// numbers makes a table n of 1,000 rows, so that a cross join of three n's outlasts any test.
const numbers = `
CREATE TABLE d (i INT); INSERT INTO d VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
CREATE TABLE n AS SELECT a.i + 10 * b.i + 100 * c.i AS i FROM d a CROSS JOIN d b CROSS JOIN d c;
`

const forever = "SELECT a.i AS i FROM n a CROSS JOIN n b CROSS JOIN n c"

// Cancel ends an INSERT and a CREATE TABLE AS, whose targets are as before, and the session goes on.
func TestCancelOfAWrite(t *testing.T) {
	w := newWorld(t, nil)
	w.script(t, numbers+"CREATE TABLE t (i INT); INSERT INTO t VALUES (1);", false)
	for _, sql := range []string{"INSERT INTO t " + forever, "CREATE TABLE u AS " + forever} {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() {
			_, err := w.Execute(ctx, session.Text{SQL: sql})
			done <- err
		}()
		require.Eventually(t, func() bool { p, ok := w.Progress(); return ok && p.State == "RUNNING" }, time.Minute, time.Millisecond)
		cancel()
		err := <-done
		var e *session.Error
		require.True(t, errors.As(err, &e), "%v", err)
		require.True(t, e.Canceled, "%v", err)
		_, ok := w.Progress()
		require.False(t, ok)
	}
	require.Equal(t, "i INT\n1\n", w.script(t, "SELECT * FROM t", false))
	require.Equal(t, "table name\nd\nn\nt\n", w.script(t, "SHOW TABLES", false))
	require.Regexp(t, `(?s)CANCELED.*CANCELED`, w.script(t, "SHOW JOBS", false))
}

// A query ends by the context of Next, and by Close; either way its job is over.
func TestCancelOfAQuery(t *testing.T) {
	w := newWorld(t, nil)
	w.script(t, numbers, false)
	for _, by := range []string{"Next", "Close", "Execute"} {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if by == "Execute" {
			cancel()
		}
		res, err := w.Execute(ctx, session.Text{SQL: forever})
		if by == "Execute" {
			var e *session.Error
			require.True(t, errors.As(err, &e))
			require.True(t, e.Canceled)
			continue
		}
		require.NoError(t, err)
		b, err := res.Next(ctx)
		require.NoError(t, err)
		require.Positive(t, b.Rows())
		if by == "Next" {
			cancel()
			for err == nil {
				b, err = res.Next(ctx)
				require.True(t, err != nil || b != nil, "the query came to its end")
			}
			var e *session.Error
			require.True(t, errors.As(err, &e))
			require.True(t, e.Canceled, "%v", err)
		}
		require.NoError(t, res.Close())
		cancel()
		_, ok := w.Progress()
		require.False(t, ok)
	}
	require.NotContains(t, w.script(t, "SHOW JOBS", false), "RUNNING")
	require.Equal(t, "n BIGINT NOT NULL\n1000\n", w.script(t, "SELECT COUNT(*) AS n FROM n", false))
}

// What a session reserves of the memory budget it gives back.
func TestMemoryIsGivenBack(t *testing.T) {
	w := newWorld(t, nil)
	w.script(t, numbers, false)
	before := w.env.Memory.Used()
	w.script(t, "SELECT a.i, COUNT(*) AS c FROM n a JOIN n b ON a.i = b.i GROUP BY a.i ORDER BY c, a.i", false)
	w.script(t, "CREATE TABLE bad AS SELECT a.i / (a.i - 500) AS x FROM n a JOIN n b ON a.i = b.i", false)
	w.script(t, "CREATE TABLE good AS SELECT * FROM n; DROP TABLE good", false)
	require.Equal(t, before, w.env.Memory.Used())
}

// A query over the budget fails with the option to raise it, and the session goes on.
func TestOverTheMemoryBudget(t *testing.T) {
	w := newWorld(t, nil)
	w.script(t, numbers, false)
	out := w.script(t, "SET 'sluice.memory' = '1 mb'; SELECT a.i, b.i AS j FROM n a CROSS JOIN n b ORDER BY j, a.i", false)
	require.Contains(t, out, "'sluice.memory'")
	require.Equal(t, "n BIGINT NOT NULL\n1000\n", w.script(t, "SELECT COUNT(*) AS n FROM n", false))
}
