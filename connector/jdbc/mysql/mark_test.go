package mysql

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/internal/testserver"
)

// die leaves a job that has committed, or not, and dies before anything else; it returns the evidence.
func (f *fixture) die(tx connector.Transaction, committed bool) (note string) {
	f.t.Helper()
	var s *session
	commit := ""
	switch x := tx.(type) {
	case *work:
		s, commit = &x.session, "COMMIT"
	case *staged:
		s = &x.session
	}
	tx.(connector.Evident).NoteEvidence(func(text string) error { note = text; return nil })
	_, err := f.write(tx, numbers(1, 2))
	require.NoError(f.t, err)
	e := evidence{Job: s.job, Database: s.database, Table: s.name, Since: s.since}
	if x, ok := tx.(*staged); ok {
		e.Staged = true
		own := func(ending string) string { return "`" + ownName(s.job, ending) + "`" }
		commit = "RENAME TABLE " + own(stagedName) + " TO `" + x.name + "`, " + own(markName) + " TO " + own(doneName)
	}
	require.NoError(f.t, s.noted(e))
	if committed {
		_, err := s.c.exec(f.ctx, commit)
		require.NoError(f.t, err)
	}
	s.leave()
	return note
}

// A session that has not the journal of a dead job clears up after it; what tells that its commit happened is kept for
// the one that has, and goes once that has asked, or when it has not come for long.
func TestMarkIsKept(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE s (a INT) ENGINE=InnoDB")
	insert := func() connector.Transaction {
		tx, err := f.open("s").Transaction(f.ctx, connector.Insert{Columns: []int{0}})
		require.NoError(t, err)
		return tx
	}
	stage := func() connector.Transaction {
		f.sql("DROP TABLE IF EXISTS u")
		return f.stage("u", server.Create, schema(t, "a INT"))
	}
	other := f.server(f.ts.Addr(), nil, nil)
	for name, make := range map[string]func() connector.Transaction{"insert": insert, "create": stage} {
		note := f.die(make(), true)
		for range 2 {
			f.settle(other)
		}
		require.Equal(t, 1, strings.Count(f.ours(), "\n"), name)
		out, err := f.s.Outcome(f.ctx, f.db, note)
		require.NoError(t, err, name)
		require.Equal(t, connector.Done, out, name)
		_, _, err = f.s.Sweep(f.ctx, f.db, func(connector.JobID) bool { return true })
		require.NoError(t, err)
		require.NotEmpty(t, f.ours(), name) // the answer is not written down yet
		_, _, err = f.s.Sweep(f.ctx, f.db, nil)
		require.NoError(t, err)
		require.Empty(t, f.ours(), name)

		// Nobody asks.
		f.die(make(), true)
		require.NoError(t, other.with(f.ctx, "", func(c *conn) error {
			for _, days := range []string{"6", "8"} {
				if _, err := c.exec(f.ctx, "SET SESSION timestamp = UNIX_TIMESTAMP() + 86400 * "+days); err != nil {
					return err
				}
				if days == "6" {
					f.settle(other)
				}
				if _, _, err := c.sweep(f.ctx, f.db, nil); err != nil {
					return err
				}
				require.Equal(t, days == "6", f.ours() != "", name)
			}
			return nil
		}))

		// What did not happen leaves nothing.
		note = f.die(make(), false)
		out, err = f.s.Outcome(f.ctx, f.db, note)
		require.NoError(t, err, name)
		require.Equal(t, connector.NotDone, out, name)
		f.settle(other)
		require.Empty(t, f.ours(), name)

		// Nor is the journal's question in vain when others have cleared up before: a mark that says yes would wait.
		note = f.die(make(), false)
		f.settle(other)
		require.Empty(t, f.ours(), name)
		out, err = f.s.Outcome(f.ctx, f.db, note)
		require.NoError(t, err, name)
		require.Equal(t, connector.NotDone, out, name)
		require.NoError(t, f.s.with(f.ctx, f.db, func(c *conn) error {
			var e evidence
			require.NoError(t, json.Unmarshal([]byte(note), &e))
			_, err := c.exec(f.ctx, "SET SESSION timestamp = UNIX_TIMESTAMP() + 86400 * 7")
			require.NoError(t, err)
			out, err := c.verdict(f.ctx, e)
			require.Equal(t, connector.Unknown, out, name)
			require.ErrorIs(t, err, connector.ErrUntold, name)
			return nil
		}))
	}
}

// The server may keep the session of a job whose link is gone. It is ended, and then the outcome is known.
func TestHalfOpenLink(t *testing.T) {
	f := setUp(t)
	for _, committed := range []bool{false, true} {
		f.sql("DROP TABLE IF EXISTS u")
		note := f.die(f.stage("u", server.Create, schema(t, "a INT")), committed)
		var e evidence
		require.NoError(t, json.Unmarshal([]byte(note), &e))
		half, err := f.s.connect(f.ctx, f.db)
		require.NoError(t, err)
		require.NoError(t, half.await(f.ctx, lockName(e.Job)))
		out, err := f.s.Outcome(f.ctx, f.db, note)
		require.NoError(t, err)
		require.Equal(t, map[bool]connector.Outcome{false: connector.NotDone, true: connector.Done}[committed], out)
		_, err = half.query(f.ctx, "SELECT 1")
		require.Error(t, err)
		_ = half.close()
		f.settle(f.s)
		require.Empty(t, f.ours())
	}
}

// settle has a server sweep until it takes no job for a live one.
func (f *fixture) settle(s *Server) {
	f.t.Helper()
	f.eventually(func() bool {
		_, kept, err := s.Sweep(f.ctx, f.db, nil)
		require.NoError(f.t, err)
		return len(kept) == 0
	})
}

// While a job asks by another session what became of its commit, its own is over: a sweep of others still takes it for
// one that lives.
func TestAskIsNotSwept(t *testing.T) {
	f := setUp(t)
	for _, w := range ways() {
		f.reset(w)
		tx, err := w.make(f, f.s)
		require.NoError(t, err)
		tx.(connector.Evident).NoteEvidence(func(string) error { return nil })
		_, err = f.write(tx, numbers(w.rows[0], w.rows[1]))
		require.NoError(t, err)
		var s *session
		isStaged := false
		switch x := tx.(type) {
		case *work:
			s = &x.session
		case *staged:
			s, isStaged = &x.session, true
		}
		other := f.server(f.ts.Addr(), nil, nil)
		swept := false
		out, err := f.s.look(f.ctx, evidence{Job: s.job, Database: f.db, Table: "t", Staged: isStaged}, func() {
			if swept {
				return
			}
			swept = true
			s.hangUp()
			f.eventually(func() bool {
				return f.quick("SELECT IS_FREE_LOCK("+literal(lockName(s.job))+")") == "1\n"
			})
			removed, kept, err := other.Sweep(f.ctx, f.db, nil)
			require.NoError(t, err)
			require.Empty(t, removed, w.name)
			require.NotEmpty(t, kept, w.name)
		})
		require.NoError(t, err, w.name)
		require.Equal(t, connector.NotDone, out, w.name)
		require.NoError(t, tx.Abort(f.ctx))
		require.Empty(t, f.ours(), w.name)
	}
}

// Of two jobs that replace one table at once nothing stays, and a table has the comment that it was given, at once.
func TestCommentIsTheUsers(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE t (a INT) ENGINE=InnoDB COMMENT='x'")
	var seen []string
	s, _ := f.through(func(d testserver.Direction, b []byte) testserver.Verdict {
		if d == testserver.ToServer && len(seen) == 0 && strings.Contains(string(b), "DROP TABLE IF EXISTS") && strings.Contains(string(b), "_old`") {
			seen = append(seen, f.sql("SELECT TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_NAME = 't' AND TABLE_SCHEMA = DATABASE(); CREATE TABLE b LIKE t; SHOW CREATE TABLE b"))
			f.sql("ALTER TABLE t COMMENT='theirs'")
		}
		return testserver.Pass
	})
	f.done(s.Stage(server.Target{Database: f.db, Table: "t", Definition: server.Definition{Schema: schema(t, "a INT"), Comment: "x"}, Mode: server.Replace}), numbers(0, 3))
	require.Len(t, seen, 1)
	require.True(t, strings.HasPrefix(seen[0], "x\n"), seen[0])
	require.NotContains(t, seen[0], "sluice")
	require.Contains(t, f.sql("SHOW CREATE TABLE t"), "COMMENT='theirs'")
	require.Empty(t, f.ours())
}
