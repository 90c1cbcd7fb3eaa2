package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/internal/testserver"
)

// The rows of docs/promise.md beside those of the actions.
const (
	rowNth      = "error at the nth call, n = 1, 2, 3 …"
	rowRecovery = "kill -9 in the recovery after a kill -9"
	rowRace     = "two sessions with the same statement"
	rowRival    = "a rival makes or replaces the table meanwhile"
	rowCut      = "the link is cut before or after COMMIT or RENAME"
	rowGone     = "the link is cut there, and the server is not to be reached"
)

// eachSite runs a test of every sink that is to be proved, all of them at a time.
func eachSite(t *testing.T, f func(t *testing.T, p *prover, s proofSite, random *rand.Rand)) {
	x := buildFailpoints(t)
	for i, s := range proofSiteList() {
		if !chosen(s.name) || *proofSites == "" && (s.name == "PostgreSQL" || s.name == "MariaDB") { // PENDING
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			f(t, newProver(t, s, x), s, rand.New(rand.NewPCG(*proofSeed, uint64(i))))
		})
	}
}

// statements returns those of the sink: all in the full run, else n of them.
func (p *prover) statements(s proofSite, among []string, random *rand.Rand, n int) []learned {
	var list []learned
	among = slices.Clone(among)
	if !*proofFull {
		random.Shuffle(len(among), func(i, j int) { among[i], among[j] = among[j], among[i] })
	}
	for _, st := range among {
		if s.lack[st] != "" || !*proofFull && len(list) == n {
			continue
		}
		l := p.learn(st)
		if l.refused != "" { // PENDING
			continue
		}
		list = append(list, l)
	}
	return list
}

// beforeBegin reports whether a run comes to a point before its transaction has begun.
func (l learned) beforeBegin(at point) bool { return l.begun > 0 && l.order[at] < l.begun }

// some returns all points in the full run, else n of them.
func some(points []point, random *rand.Rand, n int) []point {
	if *proofFull || len(points) <= n {
		return points
	}
	points = slices.Clone(points)
	random.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	return points[:n]
}

// TestProofNthError fails the nth call, whatever it is, for each n until the statement has got through.
func TestProofNthError(t *testing.T) {
	eachSite(t, func(t *testing.T, p *prover, s proofSite, random *rand.Rand) {
		runs := 0
		for _, l := range p.statements(s, proofStatements, random, 1) {
			for n := l.first + 1; n <= l.last+1; n++ {
				report(t, p.cell(l.statement, fmt.Sprintf("*=error@%d", n), rowNth, n%2 == 0))
				runs++
			}
		}
		t.Logf("%d runs", runs)
	})
}

// TestProofRecovery kills a statement, then the recovery at each point that it passes, and then lets one through.
func TestProofRecovery(t *testing.T) {
	eachSite(t, func(t *testing.T, p *prover, s proofSite, random *rand.Rand) {
		if _, gone := p.site.(live); gone {
			return // nothing is left to recover
		}
		runs := 0
		for _, l := range p.statements(s, proofStatements, random, 2) {
			for i, at := range some(l.points, random, 2) {
				state := ""
				killed := func() outcome {
					p.site.reset(t, l.statement)
					state = statePath(t)
					return p.run(t, p.site.setup(l.statement)+p.site.statement(l.statement), state, at.fault("kill"), "")
				}
				killed()
				if i%2 == 0 {
					state = statePath(t)
				}
				passed, o := p.traced(t, p.site.use(), state)
				require.Zero(t, o.code, o.stderr)
				hits := map[string]int{}
				for _, place := range passed {
					if !strings.HasPrefix(place, "recover.") {
						continue
					}
					hits[place]++
					fault := point{place, hits[place]}.fault("kill")
					o := killed()
					found := p.site.look(t, "")
					if i%2 == 0 {
						state = statePath(t)
					}
					p.run(t, p.site.use(), state, fault, "")
					bad := p.judge(l.statement, o)
					bad = append(bad, p.heal(l.statement, o, found, state)...)
					for _, promise := range []string{p1, p3, p5} {
						if promise != p3 || !startsAbsent(l.statement) {
							p.count(promise, rowRecovery, slices.ContainsFunc(bad, func(v violation) bool { return v.promise == promise }))
						}
					}
					for _, v := range bad {
						t.Errorf("%s is broken: %s, %s, killed at %v, then in the recovery at %s: %s", v.promise, p.name, l.statement, at, fault, v.detail)
					}
					runs++
				}
			}
		}
		t.Logf("%d runs", runs)
	})
}

// paused is a run that waits at a failpoint until it is let go.
type paused struct {
	cmd         *exec.Cmd
	out, errs   bytes.Buffer
	ended       chan struct{}
	there, free string
}

// pause starts a script and returns when it has come to the point, or ended.
func (p *prover) pause(t *testing.T, script string, at point) *paused {
	dir := t.TempDir()
	r := &paused{ended: make(chan struct{}), there: filepath.Join(dir, "there"), free: filepath.Join(dir, "free")}
	ctx, cancel := context.WithTimeout(context.Background(), hangs)
	var err error
	r.cmd, err = p.start(ctx, script, statePath(t), at.fault("note:"+r.there)+";"+at.fault("wait:"+r.free), "", &r.out, &r.errs)
	require.NoError(t, err)
	go func() {
		defer cancel()
		defer close(r.ended)
		_ = r.cmd.Wait()
	}()
	for {
		select {
		case <-r.ended:
			return r
		case <-time.After(2 * time.Millisecond):
		}
		if _, err := os.Stat(r.there); err == nil {
			return r
		}
	}
}

// resume lets a run go, and waits for its end.
func (r *paused) resume(t *testing.T) outcome {
	require.NoError(t, os.WriteFile(r.free, nil, 0o600))
	<-r.ended
	return outcome{r.out.String(), r.errs.String(), r.cmd.ProcessState.ExitCode(), r.cmd.ProcessState.ExitCode() == -1}
}

// TestProofRace lets a second session run a statement while the first waits at a point of the same one: each of
// them may succeed or fail, and the table is what those that said so have made of it.
func TestProofRace(t *testing.T) {
	eachSite(t, func(t *testing.T, p *prover, s proofSite, random *rand.Rand) {
		if _, gone := p.site.(live); gone {
			return // nobody else gets at these tables
		}
		runs := 0
		for _, l := range p.statements(s, proofStatements, random, 3) {
			st := l.statement
			for _, at := range some(l.points, random, 2) {
				p.site.reset(t, st)
				script := p.site.setup(st) + p.site.statement(st)
				first := p.pause(t, script, at)
				ctx, cancel := context.WithTimeout(context.Background(), hangs)
				var out, errs bytes.Buffer
				cmd, err := p.start(ctx, script, statePath(t), "", "", &out, &errs)
				require.NoError(t, err)
				second := make(chan struct{})
				go func() { defer close(second); _ = cmd.Wait() }()
				select { // it may have to wait for the first
				case <-second:
				case <-time.After(300 * time.Millisecond):
				}
				a := first.resume(t)
				<-second
				cancel()
				b := outcome{out.String(), errs.String(), cmd.ProcessState.ExitCode(), cmd.ProcessState.ExitCode() == -1}
				done := a.finished() + b.finished()
				found := p.site.look(t, "")
				var bad []violation
				if want := afterTimes(st, done); found != want {
					bad = append(bad, violation{p1, fmt.Sprintf("%d succeeded, but the table is %q, not %q", done, found, want)})
				}
				_, files := p.site.(*filesSite) // whose directory is no table of another session
				if done == 0 || a.hung || b.hung || a.doubt() || b.doubt() || st == stIfNotExists && a.code+b.code != 0 && !files {
					bad = append(bad, violation{p4, "the one kept the other from succeeding"})
				}
				if left := p.site.leftovers(t); len(left) > 0 {
					bad = append(bad, violation{p5, "left: " + strings.Join(left, ", ")})
				}
				for _, promise := range []string{p1, p4, p5} {
					p.count(promise, rowRace, slices.ContainsFunc(bad, func(v violation) bool { return v.promise == promise }))
				}
				for _, v := range bad {
					t.Errorf("%s is broken: %s, %s, paused at %v: %s\n--- the first said:\n%s--- the second said:\n%s", v.promise, p.name, st, at, v.detail, a.stderr, b.stderr)
				}
				runs++
			}
		}
		t.Logf("%d runs", runs)
	})
}

// TestProofRival lets the store's own client make the table, or replace it, while a statement waits at a point.
// The rival's table stays, and the statement fails; or the rival is kept out.
func TestProofRival(t *testing.T) {
	eachSite(t, func(t *testing.T, p *prover, s proofSite, random *rand.Rand) {
		other, ok := p.site.(contested)
		if !ok {
			return // nobody else gets at these tables
		}
		runs, won := 0, 0
		for _, l := range p.statements(s, []string{stCreate, stIfNotExists, stReplace, stCreateOr, stCreateOrNone}, random, 3) {
			st := l.statement
			for _, at := range some(l.points, random, 2) {
				p.site.reset(t, st)
				r := p.pause(t, p.site.setup(st)+p.site.statement(st), at)
				published := p.site.look(t, "") == after(st)
				through := other.rival(t, st)
				if through {
					won++
				}
				o := r.resume(t)
				found := p.site.look(t, "")
				var bad []violation
				add := func(promise, format string, args ...any) {
					bad = append(bad, violation{promise, fmt.Sprintf(format, args...)})
				}
				switch {
				case through && published:
					if found != rivals() {
						add(p3, "the table of the rival, who came afterwards, is %q", found)
					}
				case through && found == rivals():
					if o.finished() > 0 {
						add(p4, "it said that the statement is complete, but the table is the rival's")
					}
					if _, files := p.site.(*filesSite); st == stIfNotExists && o.code != 0 && !files { // files make no table

						add(p4, "IF NOT EXISTS failed because the table exists")
					}
				case through && found == after(st) && o.finished() == 1 && l.beforeBegin(at) && st != stCreate && st != stIfNotExists:
					// The rival came before the statement has looked at the table.
				case through:
					add(p3, "the rival's table is %q", found)
				case found != after(st) || o.finished() != 1:
					add(p1, "the rival was kept out, but the table is %q", found)
				}
				if left := p.site.leftovers(t); len(left) > 0 {
					add(p5, "left: %s", strings.Join(left, ", "))
				}
				for _, promise := range []string{p1, p3, p4, p5} {
					p.count(promise, rowRival, slices.ContainsFunc(bad, func(v violation) bool { return v.promise == promise }))
				}
				for _, v := range bad {
					t.Errorf("%s is broken: %s, %s, paused at %v: %s\n--- it said:\n%s", v.promise, p.name, st, at, v.detail, o.stderr)
				}
				runs++
			}
		}
		t.Logf("%d runs, the rival came through in %d", runs, won)
	})
}

// TestProofCut cuts the connection to a server when the bytes pass that publish: before they arrive, or after it
// so that the answer is lost. Where the server can be reached again the statement finds out what became of it;
// where it cannot, the outcome is in doubt, and the next session that reaches it tells what it was.
func TestProofCut(t *testing.T) {
	eachSite(t, func(t *testing.T, p *prover, s proofSite, random *rand.Rand) {
		server, ok := p.site.(*serverSite)
		if !ok {
			return // there is no link
		}
		runs, doubts := 0, 0
		for _, l := range p.statements(s, proofStatements, random, 3) {
			for _, verdict := range []testserver.Verdict{testserver.Cut, testserver.PassAndCut} {
				for _, gone := range []bool{false, true} {
					for nth := 1; ; nth++ {
						cut, bad, doubt := p.cut(t, server, l.statement, verdict, gone, nth)
						if !cut {
							require.Greater(t, nth, 1, "no COMMIT or RENAME passed")
							break
						}
						row := rowCut
						if gone {
							row = rowGone
						}
						for _, promise := range []string{p1, p3, p4, p5} {
							if promise != p3 || !startsAbsent(l.statement) {
								p.count(promise, row, slices.ContainsFunc(bad, func(v violation) bool { return v.promise == promise }))
							}
						}
						report(t, bad)
						runs++
						if doubt {
							doubts++
						}
					}
				}
			}
		}
		t.Logf("%d runs, %d in doubt for a while", runs, doubts)
	})
}

// cut runs a statement through a proxy that cuts the link at the nth message that publishes; gone: and every link
// from then on. It reports whether there was an nth.
func (p *prover) cut(t *testing.T, server *serverSite, st string, verdict testserver.Verdict, gone bool, nth int) (cut bool, bad []violation, doubt bool) {
	proxy := testserver.NewProxy(t, server.server.Addr(), nil)
	proxied := *server
	proxied.addr = proxy.Addr()
	proxied.reset(t, st)
	seen := 0
	proxy.SetFilter(func(d testserver.Direction, b []byte) testserver.Verdict {
		if cut && gone {
			return testserver.Cut
		}
		text := strings.ToUpper(string(b))
		if d == testserver.ToServer && (strings.Contains(text, "COMMIT") || strings.Contains(text, "RENAME")) {
			if seen++; seen == nth {
				cut = true
				return verdict
			}
		}
		return testserver.Pass
	})
	state := statePath(t)
	q := *p
	q.site = &proxied
	o := q.run(t, proxied.setup(st)+proxied.statement(st), state, "", "")
	proxy.SetFilter(nil)
	if !cut {
		return false, nil, false
	}
	bad = q.judge(st, o)
	if o.doubt() && !gone {
		bad = append(bad, violation{p4, "it is in doubt although the server can be asked"})
	}
	bad = append(bad, q.heal(st, o, proxied.look(t, ""), state)...)
	for i := range bad {
		bad[i].detail = fmt.Sprintf("%s, %s, message %d that publishes, verdict %d, gone %v: %s\n--- it said:\n%s", p.name, st, nth, verdict, gone, bad[i].detail, o.stderr)
	}
	return true, bad, o.doubt()
}
