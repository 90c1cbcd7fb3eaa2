package postgres

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/internal/testserver"
)

// commitMessage is COMMIT as it goes over the wire.
func isCommit(b []byte) bool { return bytes.Contains(b, []byte("Q\x00\x00\x00\x0bCOMMIT\x00")) }

// sealed is a transaction on a server behind a proxy, ready for COMMIT, and what it notes.
func (f *fixture) sealed(s *Server) (tx *Transaction, note *string) {
	f.t.Helper()
	f.sql("DROP TABLE IF EXISTS t")
	tx = f.stageOf(s, "t", server.Create, schema(f.t, "a INT")).(*Transaction)
	note = new(string)
	tx.NoteEvidence(func(e string) error { *note = e; return nil })
	_, err := f.write(tx, numbers(0, 10))
	require.NoError(f.t, err)
	return tx, note
}

// TestLostCommit: whatever becomes of COMMIT and its answer on the way, the outcome told is the true one.
func TestLostCommit(t *testing.T) {
	f := setUp(t)
	for name, c := range map[string]struct {
		filter func(seen *bool) func(testserver.Direction, []byte) testserver.Verdict
		want   connector.Outcome
	}{
		"cut before": {func(seen *bool) func(testserver.Direction, []byte) testserver.Verdict {
			return func(d testserver.Direction, b []byte) testserver.Verdict {
				if d == testserver.ToServer && isCommit(b) {
					*seen = true
					return testserver.Cut
				}
				return testserver.Pass
			}
		}, connector.NotDone},
		"cut after": {func(seen *bool) func(testserver.Direction, []byte) testserver.Verdict {
			return func(d testserver.Direction, b []byte) testserver.Verdict {
				if d == testserver.ToServer && isCommit(b) {
					*seen = true
					return testserver.PassAndCut
				}
				return testserver.Pass
			}
		}, connector.Done},
		"commit dropped": {func(seen *bool) func(testserver.Direction, []byte) testserver.Verdict {
			return func(d testserver.Direction, b []byte) testserver.Verdict {
				if d == testserver.ToServer && isCommit(b) {
					*seen = true
					return testserver.Drop
				}
				return testserver.Pass
			}
		}, connector.NotDone},
		"answer dropped": {func(seen *bool) func(testserver.Direction, []byte) testserver.Verdict {
			return func(d testserver.Direction, b []byte) testserver.Verdict {
				switch {
				case d == testserver.ToServer && isCommit(b):
					*seen = true
				case *seen && d == testserver.ToClient && bytes.HasPrefix(b, []byte("C\x00\x00\x00\x0bCOMMIT\x00")):
					return testserver.Drop
				}
				return testserver.Pass
			}
		}, connector.Done},
	} {
		t.Run(name, func(t *testing.T) {
			seen := false
			s, _ := f.proxied(c.filter(&seen))
			tx, note := f.sealed(s)
			ctx, stop := context.WithTimeout(f.ctx, 10*time.Minute)
			defer stop()
			start := time.Now()
			out, err := tx.Commit(ctx)
			require.Less(t, time.Since(start), time.Minute)
			require.True(t, seen)
			require.Equal(t, c.want, out, "%v", err)
			rows := "\\N\n"
			if c.want == connector.Done {
				require.NoError(t, err)
				rows = "t\n"
			} else {
				require.ErrorContains(t, err, "the connection was lost")
			}
			require.Equal(t, rows, f.sql("SELECT to_regclass('t')"))
			require.NoError(t, tx.Abort(f.ctx))
			require.Equal(t, rows, f.sql("SELECT to_regclass('t')"))
			// What was noted settles it for another process, as often as it asks.
			require.Contains(t, *note, "xid=")
			for range 2 {
				out, err := f.server(f.ts.Addr(), nil, nil).Outcome(f.ctx, f.db, *note)
				require.NoError(t, err)
				require.Equal(t, c.want, out)
			}
		})
	}
}

// TestInDoubt: when the server cannot be asked the outcome is unknown, nothing is touched, and it can be asked later.
func TestInDoubt(t *testing.T) {
	f := setUp(t)
	for _, verdict := range []testserver.Verdict{testserver.Cut, testserver.PassAndCut} {
		gone := false
		s, p := f.proxied(nil)
		s.patience = 500 * time.Millisecond
		p.SetFilter(func(d testserver.Direction, b []byte) testserver.Verdict {
			switch {
			case gone:
				return testserver.Cut
			case d == testserver.ToServer && isCommit(b):
				gone = true
				return verdict
			}
			return testserver.Pass
		})
		tx, note := f.sealed(s)
		out, err := tx.Commit(f.ctx)
		require.Equal(t, connector.Unknown, out)
		require.ErrorContains(t, err, "whether the rows were committed cannot be told now")
		require.NotContains(t, err.Error(), testserver.Password)
		out, again := tx.Commit(f.ctx)
		require.Equal(t, connector.Unknown, out)
		require.Equal(t, err, again)
		require.NoError(t, tx.Abort(f.ctx))
		out, err = f.s.Outcome(f.ctx, f.db, *note)
		require.NoError(t, err)
		want, rows := connector.NotDone, "\\N\n"
		if verdict == testserver.PassAndCut {
			want, rows = connector.Done, "t\n"
		}
		require.Equal(t, want, out)
		require.Equal(t, rows, f.sql("SELECT to_regclass('t')"))
	}
	// So it is with a statement without a job.
	gone := false
	s, p := f.proxied(nil)
	s.patience = 300 * time.Millisecond
	p.SetFilter(func(d testserver.Direction, b []byte) testserver.Verdict {
		if gone = gone || d == testserver.ToServer && isCommit(b); gone {
			return testserver.Cut
		}
		return testserver.Pass
	})
	_, err := s.CreateTable(f.ctx, f.db, "x", server.Definition{Schema: schema(t, "a INT")})
	require.ErrorContains(t, err, "it is not known whether the change was committed, look before trying again")
}

// TestEvidence: what is noted is checked before it is believed.
func TestEvidence(t *testing.T) {
	f := setUp(t)
	tx, note := f.sealed(f.s)
	out, err := tx.Commit(f.ctx)
	require.NoError(t, err)
	require.Equal(t, connector.Done, out)
	e, err := parseEvidence(*note)
	require.NoError(t, err)
	require.NotEmpty(t, e.system)
	require.Equal(t, *note, e.String())
	for change, want := range map[*evidence]string{
		{xid: e.xid, system: "1"}:              "another server is at this address now than the one that was written",
		{xid: e.xid, timeline: "7"}:            "another server has taken over since the rows were written (timeline 7, now 1)",
		{xid: "9999999999"}:                    "future",
		{xid: "3", system: e.system}:           "the server does not know any more what became of transaction 3",
		{xid: "x'; DROP TABLE t; --", pid: ""}: "invalid input syntax",
	} {
		s := f.server(f.ts.Addr(), nil, nil)
		s.patience = 2 * time.Second // enough to connect on a busy machine
		out, err := s.Outcome(f.ctx, f.db, change.String())
		require.Equal(t, connector.Unknown, out)
		require.ErrorContains(t, err, want)
	}
	for _, text := range []string{"", "mysql?xid=1", "postgresql?pid=1", "%zz"} {
		out, err := f.s.Outcome(f.ctx, f.db, text)
		require.Equal(t, connector.Unknown, out)
		require.EqualError(t, err, "the note of the commit is not one of PostgreSQL")
	}
	// Where it cannot be noted, nothing is committed.
	tx, _ = f.sealed(f.s)
	tx.NoteEvidence(func(string) error { return errBad })
	out, err = tx.Commit(f.ctx)
	require.Equal(t, connector.NotDone, out)
	require.ErrorIs(t, err, errBad)
	require.NoError(t, tx.Abort(f.ctx))
	require.Equal(t, "\\N\n", f.sql("SELECT to_regclass('t')"))
}

// TestStandby: a server that follows, or has taken over from, the one that was written is not believed, from the first
// moment on.
func TestStandby(t *testing.T) {
	f := setUp(t)
	standby := f.ts.Standby(t)
	tx, note := f.sealed(f.s)
	out, err := tx.Commit(f.ctx)
	require.NoError(t, err)
	require.Equal(t, connector.Done, out)
	s := f.server(standby.Addr(), nil, nil)
	s.patience = 500 * time.Millisecond
	out, err = s.Outcome(f.ctx, f.db, *note)
	require.Equal(t, connector.Unknown, out)
	require.ErrorContains(t, err, "the server is a standby, which does not know what became of a transaction of its primary")
	require.Equal(t, "t\n", standby.Query(t, "postgres", "SELECT pg_promote(true)"))
	out, err = s.Outcome(f.ctx, f.db, *note)
	require.Equal(t, connector.Unknown, out)
	require.ErrorContains(t, err, "another server has taken over since the rows were written (timeline 1, now 2)")
	out, err = f.s.Outcome(f.ctx, f.db, *note)
	require.NoError(t, err)
	require.Equal(t, connector.Done, out)
}

// TestNotReplicated: when a wait for a standby is broken off the rows are committed, and what the server warns of is told.
func TestNotReplicated(t *testing.T) {
	f := setUp(t)
	f.sql("SET synchronous_commit = local") // the test's own session does not wait
	reload := func(sql string) { f.sql(sql); f.sql("SELECT pg_reload_conf()") }
	reload("ALTER SYSTEM SET synchronous_standby_names = 'nosuch'")
	defer reload("ALTER SYSTEM RESET synchronous_standby_names")
	type answer struct {
		out connector.Outcome
		err error
	}
	var tx *Transaction
	var got answer
	for deadline := time.Now().Add(20 * time.Second); got.err == nil; { // until the server knows its new setting
		require.True(t, time.Now().Before(deadline), "no commit waits")
		tx, _ = f.sealed(f.s)
		done := make(chan answer, 1)
		go func() {
			out, err := tx.Commit(f.ctx)
			done <- answer{out, err}
		}()
		require.Eventually(t, func() bool {
			f.sql("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
			select {
			case got = <-done:
				return true
			default:
				return false
			}
		}, 20*time.Second, 5*time.Millisecond)
	}
	require.Equal(t, connector.Done, got.out)
	require.ErrorContains(t, got.err, "the rows are committed, and the server warns: PostgreSQL ")
	require.ErrorContains(t, got.err, "The transaction has already committed locally, but might not have been replicated to the standby")
	out, err := tx.Commit(f.ctx)
	require.NoError(t, err)
	require.Equal(t, connector.Done, out)
	require.NoError(t, tx.Abort(f.ctx))
}

// TestCommitOfFailed: the server answers COMMIT of a transaction that has failed with ROLLBACK, and no error.
func TestCommitOfFailed(t *testing.T) {
	f := setUp(t)
	c, err := f.s.connect(f.ctx, f.db)
	require.NoError(t, err)
	defer c.close()
	_, err = c.exec(f.ctx, "BEGIN; CREATE TABLE t(a int)")
	require.NoError(t, err)
	e, err := c.take(f.ctx)
	require.NoError(t, err)
	_, err = c.exec(f.ctx, "SELECT 1/0")
	require.Equal(t, "22012", code(err))
	tag, err := c.sendCommit(f.ctx, e)
	require.NoError(t, err)
	require.Equal(t, "ROLLBACK", tag)
	// By the road that all take, it ends before that.
	_, err = c.exec(f.ctx, "BEGIN; CREATE TABLE t(a int)")
	require.NoError(t, err)
	_, err = c.exec(f.ctx, "SELECT 1/0")
	require.Error(t, err)
	out, err := f.s.commit(f.ctx, c, nil)
	require.Equal(t, connector.NotDone, out)
	require.ErrorContains(t, err, "current transaction is aborted")
}

// TestNothingAfterError: after an error nothing more is sent in the session, where it would commit by itself.
func TestNothingAfterError(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE t(a int PRIMARY KEY)")
	tx := f.insert(f.open("t"), connector.Insert{}).(*Transaction)
	require.NoError(t, tx.Begin(f.ctx, connector.NewJobID()))
	w, err := tx.Writer(f.ctx, 0)
	require.NoError(t, err)
	require.NoError(t, w.Write(f.ctx, feed(numbers(0, 1))))
	first := w.Write(f.ctx, feed(numbers(0, 1)))
	require.ErrorContains(t, first, "table t, row 2: duplicate key: Key (a)=(0) already exists")
	require.Equal(t, first, w.Write(f.ctx, feed(numbers(7, 1))))
	_, err = tx.Seal(f.ctx)
	require.Equal(t, first, err)
	f.ts.NoSessions(t)
	require.NoError(t, tx.Abort(f.ctx))
	require.Equal(t, "0\n", f.sql("SELECT count(*) FROM t"))
}

// TestCommitWaits: the end of the context of a COMMIT that the server is at ends the wait, and the truth is told.
func TestCommitWaits(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(1); RETURN NULL; END'")
	f.sql("CREATE TABLE t(a int)")
	c, err := f.s.connect(f.ctx, f.db)
	require.NoError(t, err)
	defer c.close()
	// A trigger that is deferred again is at work in COMMIT.
	f.sql("CREATE CONSTRAINT TRIGGER late AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow()")
	_, err = c.exec(f.ctx, "BEGIN; INSERT INTO t VALUES (1)")
	require.NoError(t, err)
	ctx, stop := context.WithTimeoutCause(f.ctx, 200*time.Millisecond, errors.New("the time of the commit is over"))
	defer stop()
	out, err := f.s.commit(ctx, c, nil)
	rows := f.sql("SELECT count(*) FROM t")
	if out == connector.Done {
		require.NoError(t, err)
		require.Equal(t, "1\n", rows)
	} else {
		require.Equal(t, connector.NotDone, out)
		require.Error(t, err)
		require.Equal(t, "0\n", rows)
	}
}
