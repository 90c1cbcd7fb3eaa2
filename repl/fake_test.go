package repl

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/session"
	"github.com/sluice-sql/sluice/types"
)

// fakeEngine is a session whose statements do what their first word says:
//
//	ECHO …      one row: line, column and text of the statement
//	ROWS n      n rows
//	NONE        no rows
//	WRITE n     n rows written
//	SET k = v   sets an option, and RESET k does nothing
//	NOTE …      a notice
//	FAIL …      an error
//	BREAK n     n rows, then an error
//	WAIT        until canceled
//	STUCK       until canceled, and then a while
//	CHATTER n   says n things in the background, from now on
//	LATER       says something in the background, once it is time
//	LOCKED n    waits n milliseconds for a lock, after 2.5 seconds before, or, for 0, until the shell has looked twice
//	COMMIT …    does not hear a cancel, and writes one row; waits for what follows
//	JOB n       a job in the background, which fails n milliseconds after it is time, or, for 0, goes on until it is
//	            stopped; it is time when the shell waits for the jobs, or the process gets SIGUSR1
//	WAITED      waits for these jobs
//	CHANGES n   a changelog of n rows, row by row, or, for 0, until it is canceled
//	QUIT, CLEAR, HELP
type fakeEngine struct {
	mu       sync.Mutex
	options  map[string]string
	ran      []string
	progress *session.Progress
	started  chan string // gets every statement of WAIT, STUCK and COMMIT once it runs
	unstick  chan struct{}
	lock     *session.LockWait
	looks    int       // by the shell, for what is waited for
	err      io.Writer // where LATER says it
	time     chan struct{}
	begins   func() // closes time
	told     func(session.JobEnd)
	jobs     []session.RunningJob
}

func newFake() *fakeEngine {
	f := &fakeEngine{options: map[string]string{}, started: make(chan string, 16), unstick: make(chan struct{}), time: make(chan struct{})}
	f.begins = sync.OnceFunc(func() { close(f.time) })
	return f
}

var _ engine = (*fakeEngine)(nil)

func (f *fakeEngine) Option(key string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.options[key]
}

// IntOption has the defaults of a session.
func (f *fakeEngine) IntOption(key string) int {
	if n, err := strconv.Atoi(f.Option(key)); err == nil {
		return n
	}
	return map[string]int{"table.display.max-column-width": 30, "sluice.max-rows": 10_000}[key]
}

func (f *fakeEngine) Progress() (session.Progress, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looks++
	if f.progress == nil {
		return session.Progress{}, false
	}
	return *f.progress, true
}

func (f *fakeEngine) setProgress(p *session.Progress) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.progress = p
}

// lookedAt waits until the shell has looked at what goes on, and so often.
func (f *fakeEngine) lookedAt(ctx context.Context, often int) {
	f.mu.Lock()
	f.looks = 0
	f.mu.Unlock()
	for looks := 0; looks < often && ctx.Err() == nil; time.Sleep(time.Millisecond) {
		f.mu.Lock()
		looks = f.looks
		f.mu.Unlock()
	}
}

// statements returns what has been run.
func (f *fakeEngine) statements() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.ran)
}

func (f *fakeEngine) LockWait() (session.LockWait, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lock == nil {
		return session.LockWait{}, false
	}
	return *f.lock, true
}

func (f *fakeEngine) setLock(w *session.LockWait) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lock = w
}

func (f *fakeEngine) UsedBy(_ context.Context, path string) string {
	if filepath.Base(path) == "shop" {
		return "catalog shop"
	}
	return ""
}

func (f *fakeEngine) Masked(sql string) string { return strings.ReplaceAll(sql, "hunter2", "*******") }

func (f *fakeEngine) Zone() *time.Location { return time.UTC }

func (f *fakeEngine) OnJobEnd(told func(session.JobEnd)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.told = told
}

func (f *fakeEngine) RunningJobs() []session.RunningJob {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.jobs)
}

// AwaitJobs waits for the jobs of JOB, which end when they are stopped or fail.
func (f *fakeEngine) AwaitJobs(ctx context.Context) error {
	f.begins()
	for len(f.RunningJobs()) > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
	return ctx.Err()
}

func (f *fakeEngine) StopJobs(context.Context) error {
	for _, j := range f.RunningJobs() {
		f.endJob(j, nil)
	}
	return nil
}

// endJob ends a job, and tells it.
func (f *fakeEngine) endJob(j session.RunningJob, err *session.Error) {
	f.mu.Lock()
	told := f.told
	f.mu.Unlock()
	end := session.JobEnd{Job: j.ID, Name: j.Name, State: "FINISHED", Rows: 7}
	if err != nil {
		end.State, end.Err = "FAILED", err
	}
	told(end)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.jobs = slices.DeleteFunc(f.jobs, func(o session.RunningJob) bool { return o.ID == j.ID })
}

// set is the SET statement.
var set = regexp.MustCompile(`(?i)^SET\s+'([^']*)'\s*=\s*'([^']*)'$`)

func (f *fakeEngine) Execute(ctx context.Context, t session.Text) (*session.Result, rows, error) {
	f.mu.Lock()
	f.ran = append(f.ran, t.SQL)
	f.mu.Unlock()
	word, rest, _ := strings.Cut(t.SQL, " ")
	n, _ := strconv.Atoi(rest)
	res := &session.Result{Kind: session.OK}
	r := &fakeRows{}
	rowsOf := func(names ...string) {
		res.Kind, res.IsQuery = session.Rows, true
		for _, name := range names {
			res.Schema.Columns = append(res.Schema.Columns, types.Column{Name: name, Type: types.String()})
		}
	}
	switch strings.ToUpper(word) {
	case "ECHO":
		rowsOf("place", "text")
		r.batches = []*column.Batch{texts([]string{fmt.Sprintf("%d:%d", t.Line, t.Column), rest})}
	case "ROWS", "BREAK":
		rowsOf("n")
		r.left = n
		if strings.ToUpper(word) == "BREAK" {
			r.err = &session.Error{Msg: "the last row is bad"}
		}
	case "NONE":
		rowsOf("n")
	case "SHOW", "DESCRIBE":
		rowsOf("result")
		res.IsQuery = false
		r.batches = []*column.Batch{texts([]string{"CREATE TABLE t (\n  a INT\n)\n"})}
	case "WRITE":
		res.Kind, res.Affected, res.Did = session.Written, int64(n), "written"
	case "SET":
		if m := set.FindStringSubmatch(t.SQL); m != nil {
			f.mu.Lock()
			f.options[m[1]] = m[2]
			f.mu.Unlock()
		}
	case "RESET":
	case "NOTE":
		res.Kind, res.Message = session.Notice, rest
	case "FAIL":
		return nil, nil, &session.Error{Msg: rest}
	case "WAIT", "STUCK":
		f.setProgress(&session.Progress{Read: 12345678, Elapsed: 1500 * time.Millisecond, Waiting: "a lock"})
		defer f.setProgress(nil)
		f.started <- t.SQL
		<-ctx.Done()
		if strings.ToUpper(word) == "STUCK" {
			f.setProgress(&session.Progress{Read: 12345678, Elapsed: 1500 * time.Millisecond, Waiting: "a lock to be freed"})
			f.started <- "canceled"
			<-f.unstick
		}
		return nil, nil, &session.Error{Msg: "canceled", Canceled: true}
	case "LOCKED":
		began := time.Now().Add(-2500 * time.Millisecond)
		f.setLock(&session.LockWait{File: "/data/shop.db", Holder: " by process 12 (sqlite3)", Since: began})
		defer f.setLock(nil)
		if n == 0 {
			f.lookedAt(ctx, 2)
			break
		}
		select {
		case <-ctx.Done():
			return nil, nil, &session.Error{Msg: "canceled", Canceled: true}
		case <-time.After(time.Duration(n) * time.Millisecond):
		}
	case "COMMIT":
		f.setProgress(&session.Progress{Read: 5, Written: 5, Committing: true, Waiting: rest})
		defer f.setProgress(nil)
		f.started <- t.SQL
		<-f.unstick
		res.Kind, res.Affected, res.Did = session.Written, 1, "written"
	case "HELD":
		f.setProgress(&session.Progress{Name: "insert-into_t", Held: n > 0, Waiting: "database a.db, locked by another process (process 12)"})
		f.lookedAt(ctx, 1)
		f.setProgress(nil)
	case "LATER":
		go func() {
			<-f.time
			fmt.Fprint(f.err, "job x has failed\n")
		}()
	case "CHATTER":
		go func() {
			for i := range n {
				fmt.Fprintf(f.err, "note %d of the background\n", i)
				time.Sleep(3 * time.Millisecond)
			}
		}()
	case "JOB":
		job := session.RunningJob{Name: "insert-into_t", Streaming: true}
		f.mu.Lock()
		job.ID[0] = byte(len(f.ran))
		f.jobs = append(f.jobs, job)
		f.mu.Unlock()
		res.Kind, res.Job = session.Submitted, job.ID
		if n > 0 {
			go func() {
				<-f.time
				time.Sleep(time.Duration(n) * time.Millisecond)
				f.endJob(job, &session.Error{Msg: "row 8 is bad"})
			}()
		}
	case "WAITED":
		_ = f.AwaitJobs(ctx)
	case "CHANGES":
		rowsOf("n")
		res.Changelog = true
		r.left, r.changes = n, true
		r.endless = n == 0
	case "QUIT", "EXIT":
		res.Kind = session.Quit
	case "CLEAR":
		res.Kind = session.Clear
	case "HELP":
		res.Kind, res.Message = session.Help, "what there is"
	default:
		return nil, nil, &session.Error{Msg: "no such statement: " + word}
	}
	return res, r, nil
}

type fakeRows struct {
	batches []*column.Batch
	left    int
	n       int64
	err     error
	changes bool // row by row, with kinds
	endless bool
}

func (r *fakeRows) Next(ctx context.Context) (*column.Batch, error) {
	if ctx.Err() != nil {
		return nil, &session.Error{Msg: "canceled", Canceled: true}
	}
	if len(r.batches) > 0 {
		b := r.batches[0]
		r.batches = r.batches[1:]
		return b, nil
	}
	if r.changes && (r.left > 0 || r.endless) {
		select {
		case <-ctx.Done():
			return nil, &session.Error{Msg: "canceled", Canceled: true}
		case <-time.After(time.Duration(r.n) * 100 * time.Millisecond):
		}
		r.n++
		r.left--
		b := texts([]string{strconv.FormatInt(r.n, 10)})
		b.Kind = []types.RowKind{types.RowKind((r.n - 1) % 4)}
		return b, nil
	}
	if r.left == 0 {
		return nil, r.err
	}
	n := min(r.left, column.DefaultRows)
	r.left -= n
	b := column.NewBatch([]types.Type{types.String()}, n)
	for range n {
		r.n++
		b.Cols[0].AppendString(strconv.FormatInt(r.n, 10))
		b.N++
	}
	return b, nil
}

func (r *fakeRows) Close() error        { return nil }
func (r *fakeRows) Time() time.Duration { return 120 * time.Millisecond }

// texts returns a batch of text columns; "\x00" is NULL.
func texts(list ...[]string) *column.Batch {
	ts := make([]types.Type, len(list[0]))
	for i := range ts {
		ts[i] = types.String()
	}
	b := column.NewBatch(ts, len(list))
	for _, row := range list {
		for i, s := range row {
			if s == "\x00" {
				b.Cols[i].AppendNull()
			} else {
				b.Cols[i].AppendString(s)
			}
		}
		b.N++
	}
	return b
}
