package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/internal/testserver"
)

// TestProofNthError fails the nth call, whatever it is, for each n until the statement has got through.
func TestProofNthError(t *testing.T) {
	eachSite(t, func(p *prover) (bad []violation) {
		for _, l := range p.statements(proofStatements, 1) {
			for n := l.first + 1; n <= l.last+1; n++ {
				bad = append(bad, p.cell(l.statement, fmt.Sprintf("*=error@%d", n), rowNth, n%2 == 0)...)
			}
		}
		return bad
	})
}

// TestProofRecovery kills a statement, then the recovery at each point that it passes, and then lets one through.
func TestProofRecovery(t *testing.T) {
	eachSite(t, func(p *prover) (bad []violation) {
		if _, gone := p.site.(live); gone {
			return nil // nothing is left to recover
		}
		for _, l := range p.statements(proofStatements, 2) {
			for i, at := range p.some(l.points, 2) {
				bad = append(bad, p.recovery(l.statement, at, i%2 == 0)...)
			}
		}
		return bad
	})
}

// recovery kills the recovery from a kill at each of its points. strange: it is a session with other journals.
func (p *prover) recovery(st string, at point, strange bool) (bad []violation) {
	t := p.t
	state := ""
	killed := func() outcome {
		p.site.reset(t, st)
		state = statePath(t)
		o := p.run(t, p.site.setup(st)+p.site.statement(st), state, at.fault("kill"), "")
		if strange {
			state = statePath(t)
		}
		return o
	}
	killed()
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
		p.run(t, p.site.use(), state, fault, "")
		more := append(p.judge(st, o), p.heal(st, o, found, state, false)...)
		p.count(rowRecovery, st, more)
		bad = append(bad, explain(more, fmt.Sprintf("%s, %s, killed at %v, then in the recovery at %s", p.name, st, at, fault))...)
	}
	return bad
}

// TestProofPID kills a statement and sweeps before anybody has waited for the dead process, whose id is taken still.
func TestProofPID(t *testing.T) {
	eachSite(t, func(p *prover) (bad []violation) {
		if _, gone := p.site.(live); gone {
			return nil
		}
		for _, l := range p.statements([]string{stCreate, stInsert}, 1) {
			for _, at := range p.some(l.points, 2) {
				bad = append(bad, p.undead(l.statement, at)...)
			}
		}
		return bad
	})
}

func (p *prover) undead(st string, at point) []violation {
	t := p.t
	p.site.reset(t, st)
	dead := p.start(t, p.site.setup(st)+p.site.statement(st), statePath(t), at.fault("kill"), "")
	await(t, dead.Process.Pid, "Z")
	found := p.site.look(t, "")
	o := outcome{code: -1}
	bad := p.heal(st, o, found, statePath(t), false)
	o = dead.end(t)
	bad = append(bad, p.judge(st, o)...)
	p.count(rowPID, st, bad)
	return explain(bad, fmt.Sprintf("%s, %s, killed at %v, and not waited for", p.name, st, at), o)
}

// paused is a run that waits at a failpoint until it is let go.
type paused struct {
	*process
	free string
}

// pause starts a script and returns when it has come to the point, or ended.
func (p *prover) pause(script string, at point) *paused {
	t := p.t
	dir := t.TempDir()
	there, free := filepath.Join(dir, "there"), filepath.Join(dir, "free")
	r := &paused{p.start(t, script, statePath(t), at.fault("note:"+there)+";"+at.fault("wait:"+free), ""), free}
	for processState(r.Process.Pid) != 'Z' {
		if _, err := os.Stat(there); err == nil {
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	return r
}

// resume lets a run go, and waits for its end.
func (r *paused) resume(t *testing.T) outcome {
	require.NoError(t, os.WriteFile(r.free, nil, 0o600))
	return r.end(t)
}

// TestProofRace lets a second session run a statement while the first waits at a point of the same one: each of
// them may succeed or fail, and the table is what those that said so have made of it.
func TestProofRace(t *testing.T) {
	eachSite(t, func(p *prover) (bad []violation) {
		if _, gone := p.site.(live); gone {
			return nil // nobody else gets at these tables
		}
		for _, l := range p.statements(proofStatements, 3) {
			for _, at := range p.some(l.points, 2) {
				bad = append(bad, p.race(l.statement, at)...)
			}
		}
		return bad
	})
}

func (p *prover) race(st string, at point) (bad []violation) {
	t := p.t
	add := func(promise, format string, args ...any) {
		bad = append(bad, violation{promise, fmt.Sprintf(format, args...)})
	}
	p.site.reset(t, st)
	script := p.site.setup(st) + p.site.statement(st)
	first := p.pause(script, at)
	second := p.start(t, script, statePath(t), "", "")
	for range 150 { // it may have to wait for the first
		if processState(second.Process.Pid) == 'Z' {
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	a := first.resume(t)
	b := second.end(t)
	done := a.finished() + b.finished()
	if found, want := p.site.look(t, ""), afterTimes(st, done); found != want {
		add(p1, "%d succeeded, but the table is %q, not %q", done, found, want)
	}
	_, files := p.site.(*filesSite) // whose directory is no table of another session
	if done == 0 || a.hung || b.hung || a.doubt() || b.doubt() || st == stIfNotExists && a.code+b.code != 0 && !files {
		add(p4, "the one kept the other from succeeding")
	}
	if left := append(p.swept(), append(a.left, b.left...)...); len(left) > 0 {
		add(p5, "left: %s", strings.Join(left, ", "))
	}
	p.count(rowRace, st, bad)
	return explain(bad, fmt.Sprintf("%s, %s, paused at %v", p.name, st, at), a, b)
}

// swept uses the catalog and returns what is left then: of jobs that lived at the same time the one may leave the last
// of the clearing up to whoever comes next.
func (p *prover) swept() []string {
	use := p.run(p.t, p.site.use(), statePath(p.t), "", "")
	return append(p.site.leftovers(p.t), use.left...)
}

// TestProofRival lets the store's own client make the table, or replace it, while a statement waits at a point.
// The rival's table stays, and the statement fails; or the rival is kept out. One that comes at the very last moment may
// be replaced, but then its table is kept under another name, and the statement tells of it.
func TestProofRival(t *testing.T) {
	eachSite(t, func(p *prover) (bad []violation) {
		if _, ok := p.site.(contested); !ok {
			return nil // nobody else gets at these tables
		}
		won := 0
		for _, l := range p.statements([]string{stCreate, stIfNotExists, stReplace, stCreateOr, stCreateOrNone}, 3) {
			for _, at := range p.some(l.points, 2) {
				more, through := p.rival(l, at)
				if bad = append(bad, more...); through {
					won++
				}
			}
		}
		p.t.Logf("the rival came through in %d", won)
		return bad
	})
}

func (p *prover) rival(l learned, at point) (bad []violation, through bool) {
	t, st := p.t, l.statement
	add := func(promise, format string, args ...any) {
		bad = append(bad, violation{promise, fmt.Sprintf(format, args...)})
	}
	p.site.reset(t, st)
	r := p.pause(p.site.setup(st)+p.site.statement(st), at)
	published := p.site.look(t, "") == after(st)
	through = p.site.(contested).rival(t, st)
	o := r.resume(t)
	found := p.site.look(t, "")
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
	case through && found == after(st) && o.finished() == 1 && strings.Contains(o.stderr, "is kept as"):
		s := p.site.(*serverSite)
		kept := s.keptTable(t)
		if has := s.lookAt(t, kept); has != rivals() {
			add(p3, "the rival's table, kept as %q, is %q", kept, has)
		}
		s.server.Query(t, s.database, "DROP TABLE "+kept)
	case through:
		add(p3, "the rival's table is %q", found)
	case found != after(st) || o.finished() != 1:
		add(p1, "the rival was kept out, but the table is %q", found)
	}
	if left := append(p.swept(), o.left...); len(left) > 0 {
		add(p5, "left: %s", strings.Join(left, ", "))
	}
	p.count(rowRival, st, bad)
	return explain(bad, fmt.Sprintf("%s, %s, paused at %v", p.name, st, at), o), through
}

// TestProofCut cuts the connection to a server when the bytes pass that publish: before they arrive, or after it
// so that the answer is lost. Where the server can be reached again the statement finds out what became of it;
// where it cannot, the outcome is in doubt, and the next session that reaches it tells what it was.
func TestProofCut(t *testing.T) {
	eachSite(t, func(p *prover) (bad []violation) {
		if _, ok := p.site.(*serverSite); !ok {
			return nil // there is no link
		}
		doubts := 0
		for _, l := range p.statements(proofStatements, 1) {
			more, n := p.cuts(l.statement, !p.full || slices.Contains([]string{stCreate, stInsert}, l.statement))
			bad, doubts = append(bad, more...), doubts+n
		}
		p.t.Logf("%d were in doubt for a while", doubts)
		return bad
	})
}

// cuts cuts the link in every way at every message that publishes. forEver: at the last one also so that the server is
// not to be reached from then on, which takes the time that is waited for it.
func (p *prover) cuts(st string, forEver bool) (bad []violation, doubts int) {
	all, _, _ := p.cut(st, testserver.Pass, false, 0)
	require.Positive(p.t, all, "no COMMIT or RENAME passed")
	for _, verdict := range []testserver.Verdict{testserver.Cut, testserver.PassAndCut} {
		for nth := 1; nth <= all; nth++ {
			_, more, _ := p.cut(st, verdict, false, nth)
			bad = append(bad, more...)
		}
		if !forEver || !p.full && verdict == testserver.Cut {
			continue
		}
		_, more, doubt := p.cut(st, verdict, true, all)
		if bad = append(bad, more...); doubt {
			doubts++
		}
	}
	return bad, doubts
}

// cut runs a statement through a proxy that cuts the link at the nth message that publishes; gone: and every link
// from then on. It returns the number of such messages that were sent.
func (p *prover) cut(st string, verdict testserver.Verdict, gone bool, nth int) (seen int, bad []violation, doubt bool) {
	t, server := p.t, p.site.(*serverSite)
	proxy := testserver.NewProxy(t, server.server.Addr(), nil)
	proxied := *server
	proxied.addr = proxy.Addr()
	proxied.reset(t, st)
	cut := false
	proxy.SetFilter(func(d testserver.Direction, b []byte) testserver.Verdict {
		if cut && gone {
			return testserver.Cut
		}
		if d == testserver.ToServer && publishes(b) {
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
	if nth == 0 {
		return seen, nil, false
	}
	require.True(t, cut, "%s, message %d", st, nth)
	bad = q.judge(st, o)
	row := rowGone
	if !gone {
		row = rowCut
		if o.doubt() {
			bad = append(bad, violation{p4, "it is in doubt although the server can be asked"})
		}
	}
	bad = append(bad, q.heal(st, o, proxied.look(t, ""), state, true)...)
	p.count(row, st, bad)
	return seen, explain(bad, fmt.Sprintf("%s, %s, message %d that publishes, verdict %d, gone %v", p.name, st, nth, verdict, gone), o), o.doubt()
}

// publishing is a message to a server, behind its head of five bytes, with a statement that publishes.
var publishing = regexp.MustCompile(`(?s)^.{5}(COMMIT|RENAME TABLE|ALTER TABLE .* RENAME TO)`)

// publishes reports whether a message to a server ends a transaction or renames a table.
func publishes(message []byte) bool { return publishing.Match(latin(message)) }

// latin makes a character of each byte.
func latin(b []byte) []byte {
	var text []byte
	for _, c := range b {
		text = utf8.AppendRune(text, rune(c))
	}
	return text
}
