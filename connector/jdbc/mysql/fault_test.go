package mysql

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/internal/testserver"
	"github.com/sluice-sql/sluice/types"
)

// through returns the server behind a proxy.
func (f *fixture) through(filter func(testserver.Direction, []byte) testserver.Verdict) (*Server, *testserver.Proxy) {
	p := testserver.NewProxy(f.t, f.ts.Addr(), filter)
	return f.server(p.Addr(), nil, nil), p
}

// way is a way to write table t, whose rows are 0 to 9 before it.
type way struct {
	name   string
	before string // COUNT and SUM of t, "" where there is none
	after  string
	make   func(f *fixture, s *Server) (connector.Transaction, error)
	rows   [2]int
}

func ways() []way {
	stage := func(mode server.Mode) func(*fixture, *Server) (connector.Transaction, error) {
		return func(f *fixture, s *Server) (connector.Transaction, error) {
			return s.Stage(server.Target{Database: f.db, Table: "t", Definition: server.Definition{Schema: keyed(f.t)}, Mode: mode}), nil
		}
	}
	opened := func(what func(*fixture, *Table) (connector.Transaction, error)) func(*fixture, *Server) (connector.Transaction, error) {
		return func(f *fixture, s *Server) (connector.Transaction, error) {
			tab, err := s.OpenTable(f.ctx, f.db, "t", keyed(f.t))
			if err != nil {
				return nil, err
			}
			return what(f, tab.(*Table))
		}
	}
	insert := func(overwrite bool) func(*fixture, *Server) (connector.Transaction, error) {
		return opened(func(f *fixture, tab *Table) (connector.Transaction, error) {
			return tab.Transaction(f.ctx, connector.Insert{Columns: []int{0}, Overwrite: overwrite})
		})
	}
	return []way{
		{"create", "", "1500\t1274250", stage(server.Create), [2]int{100, 1500}},
		{"replace", "10\t45", "1500\t1274250", stage(server.Replace), [2]int{100, 1500}},
		{"insert", "10\t45", "1510\t1274295", insert(false), [2]int{100, 1500}},
		{"overwrite", "10\t45", "1500\t1274250", insert(true), [2]int{100, 1500}},
		{"delete", "10\t45", "5\t10", opened(func(f *fixture, tab *Table) (connector.Transaction, error) {
			return tab.Modify(f.ctx, connector.Modify{})
		}), [2]int{5, 5}},
	}
}

func keyed(t testing.TB) (s types.Schema) {
	s = schema(t, "a INT NOT NULL")
	s.PrimaryKey = []string{"a"}
	return s
}

// reset makes t what it is before.
func (f *fixture) reset(w way) {
	f.quick("DROP TABLE IF EXISTS t")
	if w.before != "" {
		f.quick("CREATE TABLE t (a INT NOT NULL PRIMARY KEY) ENGINE=InnoDB", "INSERT INTO t VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)")
	}
}

// look is what t is.
func (f *fixture) look() string {
	if f.quick("SHOW TABLES LIKE 't'") == "" {
		return ""
	}
	return strings.TrimSpace(f.quick("SELECT COUNT(*), SUM(a) FROM t"))
}

// attempt runs a way to its end and returns what it said.
func (f *fixture) attempt(w way, s *Server) (connector.Outcome, string, error) {
	tx, err := w.make(f, s)
	if err != nil {
		return connector.NotDone, "", err
	}
	evidence := ""
	tx.(connector.Evident).NoteEvidence(func(text string) error { evidence = text; return nil })
	out := connector.NotDone
	if _, err = f.write(tx, numbers(w.rows[0], w.rows[1])); err == nil {
		out, err = tx.Commit(f.ctx)
	}
	if out == connector.NotDone {
		_ = tx.Abort(f.ctx)
	}
	return out, evidence, err
}

// swept has the database swept until nothing of ours is left: the server may take a moment to see that a session is over.
func (f *fixture) swept(at string) {
	f.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		_, kept, err := f.s.Sweep(f.ctx, f.db, nil)
		require.NoError(f.t, err, at)
		left := f.ours()
		if left == "" {
			return
		}
		require.True(f.t, time.Now().Before(deadline), "%s: kept %v: %s", at, kept, left)
	}
}

// The link is cut at every request there is, before the server has it and after. What is said of the outcome is true,
// the table is as before or whole, and whoever comes next clears up.
func TestCutEverywhere(t *testing.T) {
	f := setUp(t)
	for _, w := range ways() {
		for verdict, word := range map[testserver.Verdict]string{testserver.Cut: "before", testserver.PassAndCut: "after"} {
			outcomes := map[connector.Outcome]int{}
			for n := int32(1); ; n++ {
				var count atomic.Int32
				s, p := f.through(func(d testserver.Direction, _ []byte) testserver.Verdict {
					if d == testserver.ToServer && count.Add(1) == n {
						return verdict
					}
					return testserver.Pass
				})
				f.reset(w)
				out, _, err := f.attempt(w, s)
				p.SetFilter(nil)
				at := fmt.Sprintf("%s, cut %s request %d: %v", w.name, word, n, err)
				f.swept(at)
				outcomes[out]++
				switch out {
				case connector.Done:
					require.NoError(t, err, at)
					require.Equal(t, w.after, f.look(), at)
				case connector.NotDone:
					require.Error(t, err, at)
					require.Equal(t, w.before, f.look(), at)
				default:
					t.Fatal(at)
				}
				if count.Load() < n {
					break
				}
			}
			t.Logf("%s, cut %s: done %d, not done %d", w.name, word, outcomes[connector.Done], outcomes[connector.NotDone])
			require.Greater(t, outcomes[connector.NotDone], 5)
			require.Greater(t, outcomes[connector.Done], 0)
		}
	}
}

// A commit whose answer is lost, together with all ways to the server, is in doubt; another process can ask later.
func TestDoubt(t *testing.T) {
	f := setUp(t)
	for _, w := range ways() {
		for _, verdict := range []testserver.Verdict{testserver.Cut, testserver.PassAndCut} {
			f.reset(w)
			var down atomic.Bool
			s, _ := f.through(func(d testserver.Direction, b []byte) testserver.Verdict {
				if down.Load() {
					return testserver.Cut
				}
				if d == testserver.ToServer && (bytes.Contains(b, []byte("RENAME TABLE")) || w.name != "create" && w.name != "replace" && bytes.HasSuffix(b, []byte("COMMIT"))) {
					down.Store(true)
					return verdict
				}
				return testserver.Pass
			})
			tx, err := w.make(f, s)
			require.NoError(t, err)
			evidence := ""
			tx.(connector.Evident).NoteEvidence(func(text string) error { evidence = text; return nil })
			_, err = f.write(tx, numbers(w.rows[0], w.rows[1]))
			require.NoError(t, err)
			var out connector.Outcome
			done := make(chan struct{})
			go func() { defer close(done); out, err = tx.Commit(f.ctx) }()
			require.Eventually(t, down.Load, time.Minute, time.Millisecond)
			time.Sleep(300 * time.Millisecond) // it goes on asking
			select {
			case <-done:
				t.Fatalf("%s: no answer, and no wait for one: %v %v", w.name, out, err)
			default:
			}
			// Another session, of a catalog whose default database is another, asks by the evidence.
			require.NotContains(t, evidence, testserver.Password)
			short, stop := context.WithTimeout(f.ctx, 100*time.Millisecond)
			_, askErr := s.Outcome(short, "", evidence)
			stop()
			require.ErrorContains(t, askErr, "cannot be told now", w.name)
			got, askErr := f.s.Outcome(f.ctx, "", evidence)
			require.NoError(t, askErr, w.name)
			want, now := connector.NotDone, w.before
			if verdict == testserver.PassAndCut {
				want, now = connector.Done, w.after
			}
			require.Equal(t, want, got, w.name)
			down.Store(false)
			<-done
			require.Equal(t, want, out, w.name)
			require.Equal(t, now, f.look(), w.name)
			require.NoError(t, tx.Abort(f.ctx))
			f.swept(w.name)
		}
	}
}

// A session that is killed around its commit: the outcome is what the table says.
func TestKilledAtCommit(t *testing.T) {
	f := setUp(t)
	outcomes := map[connector.Outcome]int{}
	f.quick("DO 1") // the first of our sessions, which is not to be killed
	for _, w := range ways() {
		for i := range 12 {
			f.reset(w)
			var killing chan struct{}
			s, _ := f.through(func(d testserver.Direction, b []byte) testserver.Verdict {
				if d == testserver.ToServer && killing == nil && (bytes.Contains(b, []byte("RENAME TABLE")) || bytes.HasSuffix(b, []byte("COMMIT"))) {
					killing = make(chan struct{})
					kill := func() {
						defer close(killing)
						id := strings.Split(f.sql("SELECT id FROM information_schema.processlist WHERE user = '"+testserver.User+"' ORDER BY id"), "\n")[1]
						_, _ = f.ts.TryQuery("", "KILL "+[]string{"", "QUERY "}[i%2]+id)
					}
					if i%3 == 0 {
						kill() // it is over when the statement comes
					} else {
						go kill()
						time.Sleep(time.Duration(i) * 2 * time.Millisecond)
					}
				}
				return testserver.Pass
			})
			out, _, err := f.attempt(w, s)
			if killing != nil {
				<-killing
			}
			outcomes[out]++
			want := w.before
			if out == connector.Done {
				want = w.after
			}
			require.NotEqual(t, connector.Unknown, out, "%s: %v", w.name, err)
			require.Equal(t, want, f.look(), "%s: %v %v", w.name, out, err)
			f.swept(w.name)
		}
	}
	t.Logf("done %d, not done %d", outcomes[connector.Done], outcomes[connector.NotDone])
}

// The answer to a commit is lost while the link looks alive: the outcome is asked for, and the commit comes to an end.
func TestCommitWithoutAnswer(t *testing.T) {
	f := setUp(t)
	for _, lost := range []string{"question", "answer"} {
		f.sql("DROP TABLE IF EXISTS s; CREATE TABLE s (a INT) ENGINE=InnoDB")
		var gone atomic.Bool
		s, p := f.through(func(d testserver.Direction, b []byte) testserver.Verdict {
			if d == testserver.ToServer && strings.HasSuffix(string(b), "\x03COMMIT") {
				gone.Store(true)
				if lost == "question" {
					return testserver.Drop
				}
				return testserver.Pass
			}
			if gone.Load() && lost == "answer" && d == testserver.ToClient {
				gone.Store(false) // the one answer
				return testserver.Drop
			}
			return testserver.Pass
		})
		tab, err := s.OpenTable(f.ctx, f.db, "s", schema(t, "a INT"))
		require.NoError(t, err)
		tx, err := tab.(*Table).Transaction(f.ctx, connector.Insert{Columns: []int{0}})
		require.NoError(t, err)
		tx.(connector.Evident).NoteEvidence(func(string) error { return nil })
		_, err = f.write(tx, numbers(1, 2))
		require.NoError(t, err)
		out, err := tx.Commit(f.ctx)
		if lost == "question" {
			require.Equal(t, connector.NotDone, out, "%v", err)
			require.Equal(t, "0\n", f.sql("SELECT COUNT(*) FROM s"))
		} else {
			require.Equal(t, connector.Done, out, "%v", err)
			require.Equal(t, "2\n", f.sql("SELECT COUNT(*) FROM s"))
		}
		require.NoError(t, tx.Abort(f.ctx))
		p.SetFilter(nil)
		require.Empty(t, f.ours(), lost)
	}
}
