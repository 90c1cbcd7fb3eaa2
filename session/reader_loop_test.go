package session_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/session"
)

// TestReaderLoop is the second half of C17: while a table is replaced, overwritten and changed, whoever reads it
// sees it as it is between two statements, and no error.
//
// Each statement leaves as many rows, all with the same value, that is one more than before.
func TestReaderLoop(t *testing.T) {
	for _, way := range everyStore() {
		if way.name == "default on memory" || way.name == "default on SQLite" {
			t.Run(way.name, func(t *testing.T) {
				readerLoop(t, way, 100, append(replacing(),
					"UPDATE t SET v = v + 1",
					"UPDATE t SET v = (SELECT MAX(v) FROM t) + 1 WHERE id IN (SELECT id FROM t)"))
			})
		}
	}
}

// replacing are the statements that put other rows in place of all.
func replacing() []string {
	return []string{
		"REPLACE TABLE t AS SELECT id, v + 1 AS v FROM t",
		"INSERT OVERWRITE t SELECT id, v + 1 FROM t",
		"CREATE OR REPLACE TABLE t AS SELECT id, v + 1 AS v FROM t",
	}
}

func readerLoop(t *testing.T, way way, rounds int, statements []string) {
	const rows, readers = 3000, 2
	w := newWorld(t, way.options)
	w.setUp(t, way)
	require.Equal(t, "ok\n10 rows written\n3000 rows written\n", w.script(t, `CREATE TABLE ten (i INT);
		INSERT INTO ten VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
		CREATE TABLE t AS SELECT a.i + 10 * b.i + 100 * c.i + 1000 * d.i AS id, 0 AS v FROM ten a CROSS JOIN ten b CROSS JOIN ten c CROSS JOIN ten d WHERE d.i < 3`, false))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	end := sync.OnceFunc(func() { close(stop); wg.Wait() })
	defer end()
	var read [readers]atomic.Int64
	turns := func() bool { return read[0].Load() > 0 && read[1].Load() > 0 }
	for r := range readers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			last := int64(0)
			for {
				select {
				case <-stop:
					return
				default:
				}
				n, low, high, err := look(w.Session)
				if err != nil || n != rows || low != high || low < last {
					t.Errorf("%d rows of %d to %d, after %d: %v", n, low, high, last, err)
					return
				}
				last = low
				read[r].Add(1)
			}
		}()
	}
	done := 0
	for ; done < rounds || !turns() && !t.Failed(); done++ {
		statement := statements[done%len(statements)]
		require.Contains(t, w.script(t, statement, false), "3000 rows ", statement)
	}
	n, low, high, err := look(w.Session)
	require.NoError(t, err)
	require.Equal(t, []int64{rows, int64(done), int64(done)}, []int64{n, low, high})
	end()
}

// look reads the table of TestReaderLoop.
func look(s *session.Session) (n, low, high int64, err error) {
	res, err := s.Execute(context.Background(), session.Text{SQL: "SELECT COUNT(*), MIN(v), MAX(v) FROM t"})
	if err != nil {
		return 0, 0, 0, err
	}
	defer func() { err = errors.Join(err, res.Close()) }()
	for {
		b, err := res.Next(context.Background())
		if err != nil || b == nil {
			return n, low, high, err
		}
		for i := range b.Rows() {
			n, low, high = b.Cols[0].Int64(b.Row(i)), b.Cols[1].Int64(b.Row(i)), b.Cols[2].Int64(b.Row(i))
		}
	}
}
