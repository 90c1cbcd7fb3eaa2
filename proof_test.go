package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
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
// `make proof` runs all, and writes docs/promise.md.
var (
	proofFull   = flag.Bool("proof", false, "run the whole matrix of the proof")
	proofSeed   = flag.Uint64("proof-seed", 1, "chooses the sample of the proof's matrix")
	proofSites  = flag.String("proof-sites", "", "the only sinks to be proved, apart by ','")
	proofUpdate = flag.Bool("proof-update", false, "write what was counted into docs/promise.md")
)

// violation is a promise that was not kept.
type violation struct{ promise, detail string }

// point is a place of a run: the nth hit of a failpoint.
type point struct {
	place string
	nth   int
}

func (p point) fault(action string) string { return fmt.Sprintf("%s=%s@%d", p.place, action, p.nth) }

// proofSite is a site with its name in docs/promise.md, and the statements that the sink does not have, with the
// reason.
type proofSite struct {
	name string
	open func(t *testing.T) site
	lack map[string]string
}

// The sinks.
const (
	siteMemory   = "memory"
	siteSQLite   = "SQLite"
	siteWAL      = "SQLite (WAL)"
	siteScratch  = "SQLite (scratch file)"
	siteFiles    = "filesystem"
	sitePostgres = "PostgreSQL"
	siteMariaDB  = "MariaDB"
)

// proofSiteList lists the sinks. What a sink lacks is refused, and the refusal is tested, too.
func proofSiteList() []proofSite {
	sqlite := func(wal, staging bool) func(t *testing.T) site {
		return func(t *testing.T) site {
			return &sqliteSite{dir: filepath.Join(t.TempDir(), "files"), wal: wal, staging: staging}
		}
	}
	database := func(start func(testing.TB) *testserver.Server) func(t *testing.T) site {
		return func(t *testing.T) site {
			return newServerSite(t, start(t))
		}
	}
	foreign := "has the connector 'filesystem', whose rows are not in this catalog"
	files := map[string]string{
		stReplace: foreign, stCreateOr: foreign,
		stOverwrite: "cannot be used on table", stUpdate: "UPDATE", stDelete: "DELETE",
	}
	return []proofSite{
		{name: siteMemory, open: func(*testing.T) site { return memorySite{} }},
		{name: siteSQLite, open: sqlite(false, false)},
		{name: siteWAL, open: sqlite(true, false)},
		{name: siteScratch, open: sqlite(false, true)},
		{name: siteFiles, open: func(t *testing.T) site { return &filesSite{dir: filepath.Join(t.TempDir(), "files")} }, lack: files},
		{name: sitePostgres, open: database(testserver.Postgres)},
		{name: siteMariaDB, open: database(testserver.MariaDB)},
	}
}

// prover runs cells of one sink and counts them.
type prover struct {
	tool
	proofSite
	site   site
	t      *testing.T
	random *rand.Rand
	tally  tally
	// full: all points and statements, else a sample.
	full bool
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

// beforeBegin reports whether a run comes to a point before its transaction has begun.
func (l learned) beforeBegin(at point) bool { return l.begun > 0 && l.order[at] < l.begun }

func (p *prover) peek() string {
	if l, ok := p.site.(live); ok {
		return l.peek()
	}
	return ""
}

// learn runs a statement unfailed, checks that it does what it should, and returns the points it passes.
func (p *prover) learn(st string) learned {
	t := p.t
	t.Helper()
	p.site.reset(t, st)
	setup, full := p.site.setup(st), p.site.statement(st)
	first, o := p.traced(t, setup, statePath(t))
	require.Zero(t, o.code, "%s: the setup: %s", st, o.stderr)
	done := o.finished()
	all, o := p.traced(t, setup+full+p.peek(), statePath(t))
	require.False(t, o.hung, "%s: %s", st, o.stderr)
	require.Empty(t, o.left, st)
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
	hits, inSetup := map[string]int{}, map[string]int{}
	if _, ok := p.site.(live); ok {
		l.first = len(first)
		for _, place := range first {
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

// statements learns those that the sink has: all in the full run, else n of them.
func (p *prover) statements(among []string, n int) []learned {
	var list []learned
	among = slices.Clone(among)
	if !p.full {
		p.random.Shuffle(len(among), func(i, j int) { among[i], among[j] = among[j], among[i] })
	}
	for _, st := range among {
		if p.lack[st] != "" || !p.full && len(list) == n {
			continue
		}
		l := p.learn(st)
		require.Empty(p.t, l.refused, "%s is refused", st)
		list = append(list, l)
	}
	return list
}

// some returns all points in the full run, else n of them.
func (p *prover) some(points []point, n int) []point {
	if p.full || len(points) <= n {
		return points
	}
	points = slices.Clone(points)
	p.random.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	return points[:n]
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
	bad = append(bad, p.heal(st, o, p.site.look(t, o.stdout), next, next == state && o.died())...)
	p.count(row, st, bad)
	return explain(bad, fmt.Sprintf("%s, %s, %s", p.name, st, fault), o)
}

// explain adds to violations where they were found, and what the processes said.
func explain(bad []violation, where string, said ...outcome) []violation {
	for i := range bad {
		bad[i].detail = where + ": " + bad[i].detail
		for _, o := range said {
			bad[i].detail += "\n--- it said:\n" + o.stderr
		}
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
	if len(o.left) > 0 {
		add(p5, "open at the end: %s", strings.Join(o.left, "; "))
	}
	return bad
}

// heal uses the catalog again, in a session that is given a state directory, and looks for what is left. owner: it
// has the journal of a job that died, which asked nothing yet.
func (p *prover) heal(st string, o outcome, found, state string, owner bool) []violation {
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
	left := p.site.leftovers(t)
	if !owner {
		left = withoutNotes(left)
	}
	left = append(left, use.left...)
	// A commit in doubt of which the store has no evidence is all that a journal is kept for.
	if _, asks := p.site.(*serverSite); asks || !o.doubt() {
		left = append(left, journals(t, state)...)
	}
	if len(left) > 0 {
		add(p5, "left after the next use: %s; it said: %s", strings.Join(left, ", "), use.stderr)
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
	cmd := p.start(t, script, state, fault, "")
	var bad []violation
	if await(t, cmd.Process.Pid, "TZ") == 'T' {
		if _, gone := p.site.(live); !gone {
			first := p.site.look(t, "")
			other := p.start(t, p.site.use(), statePath(t), "", "")
			// It may wait for a lock.
			kill := time.AfterFunc(700*time.Millisecond, func() { _ = other.Process.Kill() })
			other.end(t)
			kill.Stop()
			for _, found := range []string{first, p.site.look(t, "")} {
				if found != before(st) && found != after(st) && found != "locked" {
					bad = append(bad, violation{p2, fmt.Sprintf("a reader found %q", found)})
				}
			}
		}
		require.NoError(t, cmd.Process.Signal(syscall.SIGCONT))
	}
	o := cmd.end(t)
	if found := p.site.look(t, o.stdout); found != after(st) {
		bad = append(bad, violation{p6, fmt.Sprintf("a job that was stopped for a while did not succeed: the table is %q", found)})
	}
	return o, bad
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

// newProver returns a prover of a site, with a random sequence of its own.
func newProver(t *testing.T, x tool, s proofSite, sequence int) *prover {
	return &prover{tool: x, proofSite: s, site: s.open(t), t: t, full: *proofFull, tally: tally{},
		random: rand.New(rand.NewPCG(*proofSeed, uint64(sequence)))}
}

// eachSite runs a part of the proof for every sink that is to be proved. All it counts is for docs/promise.md.
func eachSite(t *testing.T, part func(p *prover) []violation) {
	x := buildFailpoints(t)
	for i, s := range proofSiteList() {
		if !chosen(s.name) {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			p := newProver(t, x, s, i)
			bad := part(p)
			report(t, bad)
			if p.tally.runs() > 0 {
				if len(bad) == 0 {
					proofTally.add(p.tally)
				}
				t.Logf("%d runs, %d violations", p.tally.runs(), len(bad))
			}
		})
	}
}

// TestProof is the matrix.
func TestProof(t *testing.T) {
	eachSite(t, func(p *prover) (bad []violation) { return p.matrix(proofStatements, actions) })
}

// matrix runs statements with actions at points: at all in the full run, else at one each.
func (p *prover) matrix(statements []string, actions []action) (bad []violation) {
	for _, st := range statements {
		l := p.learn(st)
		if reason := p.lack[st]; reason != "" || l.refused != "" {
			require.NotEmpty(p.t, reason, "%s is refused: %s", st, l.refused)
			require.Contains(p.t, l.refused, reason, st)
			continue
		}
		for _, a := range actions {
			for i, at := range p.some(l.points, 1) {
				bad = append(bad, p.cell(st, at.fault(a.name), a.row, (i+p.random.IntN(2))%2 == 0)...)
			}
		}
	}
	return bad
}
