package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/internal/testserver"
)

// The proof runs the real binary, built with the tag failpoint, over a matrix: each sink × each statement that
// writes × each failpoint that an unfailed run passes × what happens there. After each run the checks of cell look
// at the store from outside, with its own client. The matrix is complete by construction: its places are those
// that the binary itself has told of. CI runs a sample that has at least a run of each sink, statement and action;
// `make proof` runs all.
var (
	proofFull  = flag.Bool("proof", false, "run the whole matrix of the proof")
	proofSeed  = flag.Uint64("proof-seed", 1, "chooses the sample of the proof's matrix")
	proofSites = flag.String("proof-sites", "", "the only sinks to be proved, apart by ','")
)

// The promises, by the names that docs/promise.md has.
const (
	p1 = "P1 all or nothing"
	p2 = "P2 isolation"
	p3 = "P3 nothing lost"
	p4 = "P4 honest report"
	p5 = "P5 self-healing"
	p6 = "P6 live jobs are safe"
)

// violation is a promise that was not kept.
type violation struct{ promise, detail string }

// outcome is what came of a run of the binary.
type outcome struct {
	stdout, stderr string
	code           int // -1 when a signal ended it
	hung           bool
}

// died reports whether the process came to no end of its own: by a signal or by a panic.
func (o outcome) died() bool { return o.code == -1 || strings.Contains(o.stderr, "\ngoroutine ") }

// finished counts the statements reported as done.
func (o outcome) finished() int { return strings.Count(o.stderr, "Complete execution") }

func (o outcome) doubt() bool { return strings.Contains(o.stderr, "it is not known whether") }

// tool runs a binary.
type tool struct {
	bin     string
	mutants string
}

// start starts the binary on a script, with a directory for its state and a failpoint's action ("" for none).
func (x tool) start(ctx context.Context, script, state, fault, trace string, out, errs *bytes.Buffer) (*exec.Cmd, error) {
	cmd := exec.CommandContext(ctx, x.bin, "-D", "sluice.batch-rows=1000", "-D", "sluice.format=csv", "-D", "sluice.on-error=continue", "-c", script)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state, "SLUICE_FAILPOINTS="+fault, "SLUICE_FAILPOINT_TRACE="+trace, "SLUICE_MUTANTS="+x.mutants)
	cmd.Stdout, cmd.Stderr = out, errs
	cmd.WaitDelay = time.Second
	return cmd, cmd.Start()
}

// hangs is how long a run may take.
const hangs = 60 * time.Second

func (x tool) run(t *testing.T, script, state, fault, trace string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hangs)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd, err := x.start(ctx, script, state, fault, trace, &stdout, &stderr)
	require.NoError(t, err)
	_ = cmd.Wait() // the exit code says it
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode(), ctx.Err() != nil}
}

// point is a place of a run: the nth hit of a failpoint.
type point struct {
	place string
	nth   int
}

func (p point) fault(action string) string { return fmt.Sprintf("%s=%s@%d", p.place, action, p.nth) }

// traced runs a script and returns the failpoints it passes.
func (x tool) traced(t *testing.T, script, state string) ([]string, outcome) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace")
	o := x.run(t, script, state, "", path)
	text, err := os.ReadFile(path)
	if err != nil {
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	return strings.Fields(string(text)), o
}

// statePath returns a new directory for the state of a run.
func statePath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "state")
	require.NoError(t, err)
	return dir
}

// proofSite is a site with its name in docs/promise.md, and the statements that the sink does not have, with the
// reason.
type proofSite struct {
	name string
	open func(t *testing.T) site
	lack map[string]string
}

// proofSiteList lists the sinks. What a sink lacks is refused, and the refusal is tested, too.
func proofSiteList() []proofSite {
	sqlite := func(wal, staging bool) func(t *testing.T) site {
		return func(t *testing.T) site {
			return &sqliteSite{dir: filepath.Join(t.TempDir(), "files"), wal: wal, staging: staging}
		}
	}
	foreign := "has the connector 'filesystem', whose rows are not in this catalog"
	files := map[string]string{
		stReplace: foreign, stCreateOr: foreign,
		stOverwrite: "cannot be used on table", stUpdate: "UPDATE", stDelete: "DELETE",
	}
	return []proofSite{
		{name: "memory", open: func(*testing.T) site { return memorySite{} }},
		{name: "SQLite", open: sqlite(false, false)},
		{name: "SQLite (WAL)", open: sqlite(true, false)},
		{name: "SQLite (scratch file)", open: sqlite(false, true)},
		{name: "filesystem", open: func(t *testing.T) site { return &filesSite{dir: filepath.Join(t.TempDir(), "files")} }, lack: files},
		{name: "PostgreSQL", open: func(t *testing.T) site {
			s := testserver.Postgres(t)
			return &serverSite{server: s, database: s.Database(t)}
		}},
		{name: "MariaDB", open: func(t *testing.T) site {
			s := testserver.MariaDB(t)
			return &serverSite{server: s, database: s.Database(t)}
		}},
	}
}

// prover runs cells and counts them.
type prover struct {
	tool
	name string
	site site
	t    *testing.T

	mu    *sync.Mutex
	tally map[tallyKey]*tallyCell
}

type tallyKey struct{ promise, sink, fault string }

type tallyCell struct{ runs, violations int }

func (p *prover) count(promise, fault string, bad bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := tallyKey{promise, p.name, fault}
	c := p.tally[key]
	if c == nil {
		c = &tallyCell{}
		p.tally[key] = c
	}
	c.runs++
	if bad {
		c.violations++
	}
}

// learned is what an unfailed run of a statement has told.
type learned struct {
	statement string
	points    []point
	refused   string // why the sink does not have it
	// The statement's hits are those after the first, up to the last, counted over all failpoints of the run.
	first, last int
	// order says which hit of the run a point is, and begun which is the first in the transaction.
	order map[point]int
	begun int
}

func (p *prover) peek() string {
	if l, ok := p.site.(live); ok {
		return l.peek()
	}
	return ""
}

// learn runs a statement unfailed, checks that it does what it should, and returns the points it passes.
func (p *prover) learn(st string) learned {
	t := p.t
	p.site.reset(t, st)
	setup, full := p.site.setup(st), p.site.statement(st)
	first, o := p.traced(t, setup, statePath(t))
	require.Zero(t, o.code, "%s: the setup: %s", st, o.stderr)
	done := o.finished()
	all, o := p.traced(t, setup+full+p.peek(), statePath(t))
	require.False(t, o.hung, "%s: %s", st, o.stderr)
	state := p.site.look(t, o.stdout)
	if o.finished() == done {
		require.Equal(t, before(st), state, "%s was refused: %s", st, o.stderr)
		require.Empty(t, p.site.leftovers(t), st)
		_, reason, _ := strings.Cut(o.stderr, "Could not execute SQL statement. Reason:\n")
		reason, _, _ = strings.Cut(reason, "\n")
		return learned{statement: st, refused: reason}
	}
	require.Equal(t, done+1, o.finished(), "%s: %s", st, o.stderr)
	require.Equal(t, after(st), state, "%s: %s", st, o.stderr)
	require.Empty(t, p.site.leftovers(t), st)
	l := learned{statement: st, last: len(all), order: map[point]int{}}
	if _, ok := p.site.(live); ok {
		l.first = len(first)
	}
	hits, inSetup := map[string]int{}, map[string]int{}
	for _, place := range first {
		if _, ok := p.site.(live); ok {
			inSetup[place]++
		}
	}
	for i, place := range all {
		hits[place]++
		l.order[point{place, hits[place]}] = i
		if i >= l.first && l.begun == 0 && (place == "begin.staged" || place == "read.batch") {
			l.begun = i
		}
	}
	for _, place := range slices.Compact(slices.Sorted(slices.Values(all))) {
		from, to := inSetup[place]+1, hits[place]
		if from > to {
			continue
		}
		l.points = append(l.points, point{place, from})
		if to > from {
			l.points = append(l.points, point{place, to})
		}
		if to > from+2 {
			l.points = append(l.points, point{place, from + (to-from)/2})
		}
	}
	return l
}

// The actions at a failpoint, as docs/promise.md calls them.
var actions = []struct{ name, row string }{
	{"kill", "kill -9 at a failpoint"},
	{"panic", "panic at a failpoint"},
	{"error", "error at a failpoint"},
	{"stop", "stopped at a failpoint, while others read and sweep"},
}

// cell runs a statement with a fault, then the checks. sameState: the next session has the state directory, and
// so the journals, of the one that failed; else it has never heard of it.
func (p *prover) cell(st, fault, row string, sameState bool) []violation {
	t := p.t
	t.Helper()
	p.site.reset(t, st)
	state := statePath(t)
	script := p.site.setup(st) + p.site.statement(st) + p.peek()
	var o outcome
	var bad []violation
	if strings.Contains(fault, "=stop@") {
		o, bad = p.stopped(st, script, state, fault)
	} else {
		o = p.run(t, script, state, fault, "")
	}
	bad = append(bad, p.judge(st, o)...)
	next := state
	if !sameState {
		next = statePath(t)
	}
	found := p.site.look(t, o.stdout)
	bad = append(bad, p.heal(st, o, found, next)...)
	for _, promise := range []string{p1, p2, p3, p4, p5, p6} {
		if promise == p3 && startsAbsent(st) || (promise == p2 || promise == p6) && !strings.Contains(fault, "=stop@") {
			continue
		}
		p.count(promise, row, slices.ContainsFunc(bad, func(v violation) bool { return v.promise == promise }))
	}
	for i := range bad {
		bad[i].detail = fmt.Sprintf("%s, %s, %s: %s\n--- it said:\n%s", p.name, st, fault, bad[i].detail, o.stderr)
	}
	return bad
}

// lost is the promise that a state breaks which is neither the one before nor the one after.
func lost(st, found string) string {
	if !startsAbsent(st) && (found == absent || strings.HasPrefix(found, "0 ")) {
		return p3
	}
	return p1
}

// judge holds what a run said against what the store has.
func (p *prover) judge(st string, o outcome) []violation {
	var bad []violation
	add := func(promise, format string, args ...any) {
		bad = append(bad, violation{promise, fmt.Sprintf(format, args...)})
	}
	found := p.site.look(p.t, o.stdout)
	_, gone := p.site.(live)
	finished := o.finished() > strings.Count(p.site.setup(st), "INSERT INTO")
	switch {
	case o.hung:
		add(p4, "it did not come to an end within %s", hangs)
	case strings.Contains(o.stdout+o.stderr, testserver.Password):
		add(p4, "the password was printed")
	case gone && o.died():
	case found != before(st) && found != after(st):
		add(lost(st, found), "the table is %q, neither %q as before nor %q", found, before(st), after(st))
	case finished && found != after(st):
		add(p4, "it said that the statement is complete, but the table is %q", found)
	case !finished && !o.doubt() && !o.died() && found != before(st):
		add(p4, "it said that the statement failed, but the rows are there")
	case !gone && !o.died() && finished != (o.code == 0):
		add(p4, "exit code %d although finished is %v", o.code, finished)
	}
	return bad
}

// heal uses the catalog again, in a session that is given a state directory, and looks for what is left.
func (p *prover) heal(st string, o outcome, found, state string) []violation {
	t := p.t
	if _, gone := p.site.(live); gone {
		return nil
	}
	var bad []violation
	add := func(promise, format string, args ...any) {
		bad = append(bad, violation{promise, fmt.Sprintf(format, args...)})
	}
	use := p.run(t, p.site.use(), state, "", "")
	if use.code != 0 || use.hung {
		add(p5, "the next use failed: %s", use.stderr)
	}
	now := p.site.look(t, "")
	finished := o.finished() > 0
	switch {
	case now != before(st) && now != after(st):
		add(lost(st, now), "after the next use the table is %q", now)
	case finished && now != after(st), !finished && !o.doubt() && !o.died() && now != before(st), found == after(st) && now != found:
		add(p5, "the next use has changed the table from %q to %q", found, now)
	case strings.Contains(use.stderr, "its commit succeeded") && now != after(st), strings.Contains(use.stderr, "its commit did not happen") && now != before(st):
		add(p4, "the next session said: %s", use.stderr)
	}
	if left := p.site.leftovers(t); len(left) > 0 {
		add(p5, "left after the next use: %s", strings.Join(left, ", "))
	}
	if now == before(st) {
		again := p.run(t, p.site.setup(st)+p.site.statement(st), statePath(t), "", "")
		if now := p.site.look(t, ""); again.finished() != 1 || now != after(st) {
			add(p5, "the statement does not succeed afterwards: the table is %q: %s", now, again.stderr)
		}
	}
	return bad
}

// stopped runs a statement until it stops itself, looks at the table, lets another session sweep and looks again,
// and then lets it go on, when it has to succeed.
func (p *prover) stopped(st, script, state, fault string) (outcome, []violation) {
	t := p.t
	ctx, cancel := context.WithTimeout(context.Background(), hangs)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd, err := p.start(ctx, script, state, fault, "", &stdout, &stderr)
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var bad []violation
	if isStopped(cmd.Process.Pid, ended) {
		if _, gone := p.site.(live); !gone {
			first := p.site.look(t, "")
			sweep, stop := context.WithTimeout(context.Background(), 700*time.Millisecond)
			var out, errs bytes.Buffer
			other, err := p.start(sweep, p.site.use(), statePath(t), "", "", &out, &errs)
			require.NoError(t, err)
			_ = other.Wait() // it may wait for a lock
			stop()
			for _, found := range []string{first, p.site.look(t, "")} {
				if found != before(st) && found != after(st) && found != "locked" {
					bad = append(bad, violation{p2, fmt.Sprintf("a reader found %q", found)})
				}
			}
		}
		require.NoError(t, cmd.Process.Signal(syscall.SIGCONT))
	}
	<-ended
	o := outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode(), ctx.Err() != nil}
	if found := p.site.look(t, o.stdout); found != after(st) {
		bad = append(bad, violation{p6, fmt.Sprintf("a job that was stopped for a while did not succeed: the table is %q", found)})
	}
	return o, bad
}

// isStopped waits until a process has stopped, or ended.
func isStopped(pid int, ended chan error) bool {
	for {
		select {
		case err := <-ended:
			ended <- err
			return false
		case <-time.After(2 * time.Millisecond):
		}
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			continue
		}
		if i := bytes.LastIndexByte(stat, ')'); i >= 0 && i+2 < len(stat) && stat[i+2] == 'T' {
			return true
		}
	}
}

// proofTally counts what TestProof and its kin have run, for docs/promise.md.
var (
	proofMu    sync.Mutex
	proofTally = map[tallyKey]*tallyCell{}
)

// newProver returns a prover of a site.
func newProver(t *testing.T, s proofSite, x tool) *prover {
	return &prover{tool: x, name: s.name, site: s.open(t), t: t, mu: &proofMu, tally: proofTally}
}

// failpointDir has the binary; "" while there is none.
var failpointDir string

var failpointBinary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "sluice-proof")
	if err != nil {
		return "", err
	}
	failpointDir = dir
	bin := filepath.Join(dir, "sluice")
	out, err := exec.Command("go", "build", "-tags", "failpoint", "-o", bin, ".").CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return bin, nil
})

// buildFailpoints builds the binary with failpoints, once.
func buildFailpoints(t *testing.T) tool {
	t.Helper()
	bin, err := failpointBinary()
	require.NoError(t, err)
	return tool{bin: bin}
}

// TestMain removes the binary that tests share.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if failpointDir != "" {
		_ = os.RemoveAll(failpointDir)
	}
	os.Exit(code)
}

// chosen reports whether a sink is to be proved.
func chosen(name string) bool {
	return *proofSites == "" || slices.Contains(strings.Split(*proofSites, ","), name)
}

// report fails the test with the violations.
func report(t *testing.T, bad []violation) {
	t.Helper()
	for _, v := range bad {
		t.Errorf("%s is broken: %s", v.promise, v.detail)
	}
}

// TestProof is the matrix.
func TestProof(t *testing.T) {
	x := buildFailpoints(t)
	for _, s := range proofSiteList() {
		if !chosen(s.name) || *proofSites == "" && (s.name == "PostgreSQL" || s.name == "MariaDB") { // PENDING
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			p := newProver(t, s, x)
			random := rand.New(rand.NewPCG(*proofSeed, 0))
			cells, bad := 0, 0
			for _, st := range proofStatements {
				l := p.learn(st)
				if l.refused != "" {
					if s.lack[st] == "" { // PENDING
						t.Logf("%s is refused: %s", st, l.refused)
						continue
					}
					require.Contains(t, l.refused, s.lack[st])
					continue
				}
				require.Empty(t, s.lack[st], "%s does not lack it", st)
				for _, a := range actions {
					points := l.points
					if !*proofFull {
						points = []point{points[random.IntN(len(points))]}
					}
					for i, at := range points {
						v := p.cell(st, at.fault(a.name), a.row, (i+random.IntN(2))%2 == 0)
						report(t, v)
						cells++
						bad += len(v)
					}
				}
			}
			t.Logf("%d runs, %d violations", cells, bad)
		})
	}
}
