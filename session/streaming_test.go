package session_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/connector/blackhole"
	"github.com/sluice-sql/sluice/connector/datagen"
	"github.com/sluice-sql/sluice/connector/jdbc"
	"github.com/sluice-sql/sluice/connector/print"
	"github.com/sluice-sql/sluice/internal/testfile"
	"github.com/sluice-sql/sluice/session"
)

// TestStreaming runs the statements of testdata/streaming, each file in a session of its own. Directives:
//
//	sql    statements, separated by semicolons; all their results are the output, with the kind of each row
//	       of a changelog in front
//	wait   waits for the jobs in the background and shows how they ended, in the order in which they began
//
// $TMP in the input is a directory of the file's own, $JOB the id of the latest job in the background. A job
// id shows as <job>.
func TestStreaming(t *testing.T) {
	testfile.Walk(t, "testdata/streaming", ".test", func(t *testing.T, path string) {
		w := newStreamingWorld(t)
		testfile.Run(t, path, func(t *testing.T, c *testfile.Case) string {
			switch c.Cmd {
			case "sql":
				return w.script(t, strings.ReplaceAll(c.Input, "$JOB", w.latest()), false)
			case "wait":
				ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
				defer cancel()
				require.NoError(t, w.AwaitJobs(ctx))
				return w.clean(w.endings())
			}
			t.Fatalf("%s: unknown directive %q", c.Pos, c.Cmd)
			return ""
		})
	})
}

// streamingWorld is a world with connectors that listens to the ends of jobs.
type streamingWorld struct {
	*world
	mu   sync.Mutex
	ends map[string]session.JobEnd
	told int
}

func newStreamingWorld(t *testing.T) *streamingWorld {
	t.Helper()
	w := &streamingWorld{ends: map[string]session.JobEnd{}}
	w.world = newWorld(t, nil, datagen.Connector{}, blackhole.Connector{}, print.Connector{}, jdbc.Connector{})
	w.env.Out = &strings.Builder{}
	w.OnJobEnd(func(e session.JobEnd) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.ends[e.Job.String()] = e
	})
	return w
}

// jobs returns the ids of all jobs, the oldest first.
func (w *streamingWorld) jobs() []string {
	res, err := w.Execute(context.Background(), session.Text{SQL: "SHOW JOBS"})
	if err != nil {
		panic(err)
	}
	rows, err := fetch(context.Background(), res)
	if err != nil {
		panic(err)
	}
	var ids []string
	for i := len(rows) - 1; i >= 0; i-- {
		id, _, _ := strings.Cut(rows[i], " | ")
		ids = append(ids, id)
	}
	return ids
}

func (w *streamingWorld) latest() string {
	if ids := w.jobs(); len(ids) > 0 {
		return ids[len(ids)-1]
	}
	return ""
}

// endings shows the ends of jobs since the last time.
func (w *streamingWorld) endings() string {
	var b strings.Builder
	ids := w.jobs()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ids[w.told:] {
		if e, ok := w.ends[id]; ok {
			fmt.Fprintf(&b, "%s %s is %s, %d rows written\n", e.Job, e.Name, e.State, e.Rows)
			if e.Err != nil {
				b.WriteString(e.Err.Render())
			}
		}
	}
	w.told = len(ids)
	if b.Len() == 0 {
		return "nothing has ended\n"
	}
	return b.String()
}

// A cancel of a statement that waits for a streaming job stops the job, which keeps what it has read.
func TestStopByCancel(t *testing.T) {
	w := newStreamingWorld(t)
	require.Equal(t, strings.Repeat("ok\n", 5), w.script(t, `
		SET 'table.dml-sync' = 'true';
		SET 'execution.checkpointing.interval' = '1 h';
		CREATE TABLE g (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1000', 'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '1000000');
		CREATE TABLE t (n BIGINT);
		SET 'execution.runtime-mode' = 'streaming'`, false))
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for {
			if p, ok := w.Progress(); ok && p.Read > 10 {
				cancel()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	_, err := w.Execute(ctx, session.Text{SQL: "INSERT INTO t SELECT n FROM g"})
	var e *session.Error
	require.ErrorAs(t, err, &e)
	require.True(t, e.Canceled)
	require.Regexp(t, `^stopped, with \d\d+ rows written$`, e.Msg)
	require.Equal(t, "ok\nEXPR$0 BIGINT\n0\n", w.script(t, "SET 'execution.runtime-mode' = 'batch'; SELECT COUNT(*) - MAX(n) FROM t", false))
	require.Contains(t, w.script(t, "SHOW JOBS", false), "| FINISHED |")
}

// That a statement waits for a job that is not atomic is said before the wait.
func TestStreamingIsSaidFirst(t *testing.T) {
	w := newStreamingWorld(t)
	var said strings.Builder
	w.env.Err = &said
	require.Equal(t, "ok\nok\n", w.script(t, `
		SET 'table.dml-sync' = 'true';
		CREATE TABLE g (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1')`, false))
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		for ctx.Err() == nil {
			if p, ok := w.Progress(); ok && p.State == "RUNNING" {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	defer cancel()
	_, err := w.Execute(ctx, session.Text{SQL: "CREATE TABLE t AS SELECT n FROM g"})
	require.ErrorContains(t, err, "stopped, with ")
	require.Contains(t, said.String(), "the job runs in streaming mode: the write is not atomic")
}

// Stopping jobs keeps what streaming jobs have read, and nothing of batch jobs.
func TestStopJobs(t *testing.T) {
	w := newStreamingWorld(t)
	out := w.script(t, `
		SET 'table.dml-sync' = 'false';
		CREATE TABLE g (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '100', 'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '1000000');
		CREATE TABLE s (n BIGINT);
		SET 'execution.runtime-mode' = 'streaming';
		INSERT INTO s SELECT n FROM g;
		SET 'execution.runtime-mode' = 'batch';
		CREATE TABLE b AS SELECT n FROM g`, false)
	require.Equal(t, 2, strings.Count(out, "submitted <job>"), out)
	jobs := w.RunningJobs()
	require.Len(t, jobs, 2)
	require.True(t, jobs[0].Streaming)
	require.False(t, jobs[1].Streaming)
	for ; ; time.Sleep(5 * time.Millisecond) {
		res, err := w.Execute(context.Background(), session.Text{SQL: "DESCRIBE JOB '" + jobs[0].ID.String() + "'"})
		require.NoError(t, err)
		rows, err := fetch(context.Background(), res)
		require.NoError(t, err)
		if fields := strings.Split(rows[0], " | "); fields[5] != "0" {
			break
		}
	}
	require.NoError(t, w.StopJobs(context.Background()))
	require.Empty(t, w.RunningJobs())
	require.Equal(t, "FINISHED", w.ends[jobs[0].ID.String()].State)
	require.Positive(t, w.ends[jobs[0].ID.String()].Rows)
	require.Equal(t, "CANCELED", w.ends[jobs[1].ID.String()].State)
	require.True(t, w.ends[jobs[1].ID.String()].Err.Canceled)
	require.Equal(t, "table name\ng\ns\n", w.script(t, "SHOW TABLES", false))
}

// STOP JOB is completed with the jobs that run, DESCRIBE JOB with all.
func TestCompleteJobs(t *testing.T) {
	w := newStreamingWorld(t)
	out := w.script(t, `
		CREATE TABLE g (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1');
		CREATE TABLE ended AS SELECT 1 AS a;
		CREATE TABLE runs AS SELECT n FROM g`, false)
	require.Contains(t, out, "submitted <job>")
	ids := w.jobs()
	require.Len(t, ids, 2)
	complete := func(text string) (list []string) {
		for _, i := range w.Complete(context.Background(), text, len(text)).Items {
			list = append(list, i.Text+" "+i.Doc)
		}
		return list
	}
	runs := "'" + ids[1] + "' insert-into_default_catalog.default_database.runs, RUNNING"
	ended := "'" + ids[0] + "' insert-into_default_catalog.default_database.ended, FINISHED"
	require.Equal(t, []string{runs}, complete("STOP JOB "))
	require.Equal(t, []string{runs}, complete("STOP JOB '"+ids[1][:4]))
	require.ElementsMatch(t, []string{runs, ended}, complete("DESCRIBE JOB '"))
	require.ElementsMatch(t, []string{runs, ended}, complete("desc job "))
}
