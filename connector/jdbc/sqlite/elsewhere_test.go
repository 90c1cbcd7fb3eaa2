package sqlite

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
)

// Tests against another process that uses the same file.

// another is a process of this test binary that does what it is told by lines; it answers each with one.
type another struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func startAnother(t testing.TB, path string) *another {
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, "-test.run=^TestAnotherHelper$")
	cmd.Env = append(os.Environ(), "ANOTHER_FILE="+path, "GORACE=atexit_sleep_ms=0") // else the race detector ends it a second late
	cmd.Stderr = os.Stderr
	a := &another{cmd: cmd}
	a.in, err = cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	a.out = bufio.NewScanner(out)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = a.in.Close(); _ = cmd.Wait() })
	return a
}

// tell sends an order and returns the answer.
func (a *another) tell(t testing.TB, order string) string {
	t.Helper()
	_, err := fmt.Fprintln(a.in, order)
	require.NoError(t, err)
	require.True(t, a.out.Scan(), "no answer to %s", order)
	return a.out.Text()
}

// TestAnotherHelper is that process. It takes SQL, which it runs on one connection, and "read QUERY", which it runs
// again and again until the next order, when it tells the results that differ.
func TestAnotherHelper(t *testing.T) {
	path := os.Getenv("ANOTHER_FILE")
	if path == "" {
		return // runs only as the process that another test starts
	}
	db, err := sql.Open("sqlite3", path+"?_busy_timeout=20000")
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	orders := make(chan string)
	go func() {
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			orders <- in.Text()
		}
		close(orders)
	}()
	cell := func(query string) string {
		var text string
		if err := db.QueryRow(query).Scan(&text); err != nil {
			text = err.Error()
		}
		return text
	}
	for order := range orders {
		query, ok := strings.CutPrefix(order, "read ")
		if !ok {
			if _, err := db.Exec(order); err != nil {
				fmt.Println(err)
			} else {
				fmt.Println("ok")
			}
			continue
		}
		seen := []string{cell(query)}
		fmt.Println("reading")
		for again, last := true, false; again; {
			if text := cell(query); seen[len(seen)-1] != text {
				seen = append(seen, text)
			}
			again = !last
			select {
			case <-orders: // one that begins after it is the last
				last = true
			default:
			}
		}
		fmt.Println(strings.Join(seen, " then "))
	}
	require.NoError(t, db.Close())
	os.Exit(0)
}

// TestReadAllTheTime: another process that reads all the time sees what was there and then what is, and never
// anything else; it may wait, but not in vain.
func TestReadAllTheTime(t *testing.T) {
	const rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000) "
	for _, mode := range []string{"delete", "wal", "staging"} {
		for _, c := range []struct {
			statement
			table string
		}{
			{makes("CREATE TABLE AS", "n", ReplaceNever, 30_000), "n"}, {makes("REPLACE TABLE AS", "r", ReplaceOld, 30_000), "r"},
			{makes("CREATE OR REPLACE", "r", ReplaceAny, 30_000), "r"}, {inserts("INSERT OVERWRITE", "t", true, 30_000), "t"},
			{inserts("INSERT", "r", false, 30_000), "r"}, {changes("UPDATE", "t", []string{"s"}, 3), "t"}, {changes("DELETE", "t", nil, 3), "t"},
			{faultyStatements()[13], "t"},
		} {
			journal := mode
			if mode == "staging" {
				journal = "delete"
			}
			path := file(t, "PRAGMA journal_mode = "+journal, "CREATE TABLE t (id INTEGER PRIMARY KEY, a INT, s TEXT NOT NULL)",
				rows+"INSERT INTO t SELECT i, i, printf('%.*c', 300, 'y') FROM n", "CREATE TABLE r (id BIGINT, s TEXT)", "INSERT INTO r SELECT id, s FROM t")
			s := NewStore(path, map[string]string{"sink.staging": fmt.Sprint(mode == "staging")}, newEnv())
			run := c.plan(t, s, attempt)
			query := "SELECT count(*) || '/' || coalesce(sum(id), 0) || '/' || coalesce(sum(length(s)), 0) FROM " + c.table
			before := "no such table: n"
			if c.table != "n" {
				before = one(t, path, query)
			}
			a := startAnother(t, path)
			require.Equal(t, "reading", a.tell(t, "read "+query))
			out, err := run()
			require.NoError(t, err, "%s, %s", mode, c.name)
			require.Equal(t, connector.Done, out)
			require.Equal(t, before+" then "+one(t, path, query), a.tell(t, "enough"), "%s, %s", mode, c.name)
			require.NoError(t, a.in.Close())
			require.NoError(t, a.cmd.Wait())
			require.Equal(t, []string{"shop.db"}, names(t, filepath.Dir(path)))
		}
	}
}

// TestHeldElsewhere: whichever lock another process holds, and however far a statement is, it waits, and goes on once
// the lock is free; a wait that is ended names that process, and nothing is changed.
func TestHeldElsewhere(t *testing.T) {
	stages := []string{"Begin", "Write", "Seal", "Commit"}
	waits, named := 0, 0
	for _, mode := range []string{"delete", "wal", "staging"} {
		x := &failing{dir: scratchDir(t)}
		x.prepare(t, mode)
		for _, st := range faultyStatements() {
			if !slices.Contains([]string{"REPLACE TABLE AS", "INSERT OVERWRITE", "UPDATE"}, st.name) {
				continue
			}
			for at, stage := range stages {
				for _, lock := range []string{"BEGIN; SELECT count(*) FROM t", "BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"} {
					for _, ends := range []bool{false, true} {
						what := fmt.Sprintf("%s, %s, %s, %s, the wait ends: %t", mode, st.name, stage, lock, ends)
						s := x.fresh(t)
						a := startAnother(t, s.Path)
						a.tell(t, "PRAGMA busy_timeout = 0")
						account := &connector.Waits{}
						ctx, cancel := context.WithCancelCause(connector.WithWaits(context.Background(), account))
						held, over := false, make(chan struct{})
						onWait := func(f func()) {
							for account.Longest() == nil {
								select {
								case <-over:
									return
								case <-time.After(time.Millisecond):
								}
							}
							f()
						}
						grab := func(now int) {
							if now != at {
								return
							}
							held = a.tell(t, lock) == "ok"
							if !held { // ours is there first
								return
							}
							if ends {
								go onWait(func() { cancel(errStop) })
							} else {
								go onWait(func() { fmt.Fprintln(a.in, "COMMIT") })
							}
						}
						_, err := st.plan(t, s, func(tx *Transaction, next func() (*column.Batch, error)) (connector.Outcome, error) {
							steps := []func() error{
								func() error { return tx.Begin(ctx, connector.NewJobID()) },
								func() error {
									w, err := tx.Writer(ctx, 0)
									if err == nil {
										err = w.Write(ctx, next)
									}
									return err
								},
								func() error { _, err := tx.Seal(ctx); return err },
								func() error {
									out, err := tx.Commit(ctx)
									require.Equal(t, err == nil, out == connector.Done, what)
									return err
								},
							}
							for i, step := range steps {
								grab(i)
								if err := step(); err != nil {
									require.NoError(t, tx.Abort(context.Background()), what)
									return connector.NotDone, err
								}
							}
							return connector.Done, nil
						})()
						close(over)
						if err != nil {
							require.True(t, held && ends, "%s: %v", what, err)
							require.ErrorIs(t, err, errStop, what)
							// /proc/locks is no snapshot: now and then it lacks the lock.
							if i := strings.Index(err.Error(), " is locked by "); i >= 0 {
								waits++
								if strings.Contains(err.Error(), fmt.Sprintf(" is locked by process %d (", a.cmd.Process.Pid)) {
									named++
								}
							}
						}
						if held && ends {
							require.Equal(t, "ok", a.tell(t, "COMMIT"), what)
						}
						require.NoError(t, a.in.Close())
						require.NoError(t, a.cmd.Wait())
						has, digestErr := digest(s.Path)
						require.NoError(t, digestErr, what)
						require.Equal(t, err != nil, has == x.before, what)
						require.Equal(t, []string{"shop.db"}, names(t, filepath.Dir(s.Path)), what)
						cancel(nil)
						require.NoError(t, os.RemoveAll(filepath.Dir(s.Path)))
					}
				}
			}
		}
	}
	require.Greater(t, named, waits/2)
}
