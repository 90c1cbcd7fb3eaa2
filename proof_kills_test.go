package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/internal/testserver"
)

// How often the shipped binary is killed for each sink and statement. The defaults keep `make test` short; `make proof`
// asks for 200 and 100.
var (
	kills = flag.Int("kills", 4, "SIGKILLs spread evenly over the length of an unkilled run")
	near  = flag.Int("near", 3, "SIGKILLs within 20 ms of the time at which an unkilled run publishes")
)

const crashRows = 300_000

// killStatements are those that are killed.
var killStatements = []string{stCreate, stReplace}

// nearTime is how far from the publishing a kill may be.
const nearTime = 20 * time.Millisecond

// killer kills one statement of a sink.
type killer struct {
	*prover
	st     string
	script string
	whole  string // what the table is in the end
	// publish and length are those of the last unkilled runs.
	publish, length []time.Duration
	n               int
	bad             []violation
}

// ends counts what kills have left: the table as before, or whole.
type ends struct{ before, whole int }

func (e ends) String() string { return fmt.Sprintf("%d, %d", e.before, e.whole) }

// TestKills kills the shipped binary, without failpoints, at any moment of a statement, and at those around the
// publishing. The table is as before or whole, and the next use leaves nothing of ours. A table in memory goes with
// the process.
func TestKills(t *testing.T) {
	x := tool{bin: buildSluice(t)}
	for i, s := range proofSiteList() {
		if !chosen(s.name) || !applies(rowShipped, s.name) {
			continue
		}
		for _, st := range killStatements {
			if s.lack[st] != "" {
				continue
			}
			t.Run(s.name+" "+st, func(t *testing.T) {
				p := newProver(t, x, s, i)
				k := &killer{prover: p, st: st, whole: sumsOf(crashRows).String()}
				rows := strings.Replace(sourceSQL, "'5000'", fmt.Sprintf("'%d'", crashRows), 1)
				k.script = strings.Replace(p.site.setup(st), sourceSQL, rows, 1) + p.site.statement(st)
				for range 3 {
					k.learnTimes()
				}
				evenly := k.run(*kills, func(i int) time.Duration {
					return time.Duration((float64(i) + p.random.Float64()) / float64(*kills) * float64(median(k.length)))
				})
				close := k.run(*near, func(int) time.Duration {
					return median(k.publish) + time.Duration(rand.Int64N(int64(2*nearTime))) - nearTime
				})
				require.Equal(t, *kills+*near, k.n)
				all := ends{evenly.before + close.before, evenly.whole + close.whole}
				// On a machine that has become slower or faster since, go on until both ends have been seen.
				for factor := 1.5; all.whole == 0 && factor < 50; factor *= 1.5 {
					all.whole += k.run(1, func(int) time.Duration { return time.Duration(factor * float64(median(k.length))) }).whole
				}
				for factor := 0.5; all.before == 0 && factor > 0.01; factor /= 2 {
					all.before += k.run(1, func(int) time.Duration { return time.Duration(factor * float64(median(k.length))) }).before
				}
				require.Positive(t, all.before, "no kill came before the publishing")
				require.Positive(t, all.whole, "no kill came after the publishing")
				t.Logf("unkilled run %v, published after %v; before and whole: evenly %v, near %v; %d violations",
					median(k.length).Round(time.Millisecond), median(k.publish).Round(time.Millisecond), evenly, close, len(k.bad))
				report(t, k.bad)
				if len(k.bad) > 0 {
					return
				}
				proofTally.add(p.tally)
				proofTally.note(proofTally.kills, s.name+" "+st, fmt.Sprintf("%v | %v | 0", evenly, close))
			})
		}
	}
}

// sumsOf is what a table of the rows 1 to n is.
func sumsOf(n int64) sums {
	var s sums
	for i := int64(1); i <= n; i++ {
		s.add(i, i)
	}
	return s
}

func median(list []time.Duration) time.Duration {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

// learnTimes runs the statement unkilled. It publishes at the last message to a server that does, and elsewhere just
// before it says that it is complete.
func (k *killer) learnTimes() {
	t := k.t
	k.site.reset(t, k.st)
	script := k.script
	var last time.Time
	if s, ok := k.site.(*serverSite); ok {
		proxy := testserver.NewProxy(t, s.server.Addr(), func(d testserver.Direction, b []byte) testserver.Verdict {
			if d == testserver.ToServer && len(b) < 1024 && publishes(b) {
				last = time.Now()
			}
			return testserver.Pass
		})
		script = strings.ReplaceAll(script, s.server.Addr(), proxy.Addr())
	}
	begin := time.Now()
	r := k.start(t, script, statePath(t), "", "")
	o := r.end(t)
	end := time.Now()
	require.Zero(t, o.code, o.stderr)
	require.Equal(t, k.whole, k.site.look(t, ""))
	if last.IsZero() {
		last = end.Add(-2 * time.Millisecond)
	}
	const runs = 5
	if len(k.length) == runs {
		k.publish, k.length = k.publish[1:], k.length[1:]
	}
	k.publish, k.length = append(k.publish, last.Sub(begin)), append(k.length, end.Sub(begin))
}

// run kills n times, each after a delay, and learns the times anew now and then: the machine may have other work.
func (k *killer) run(n int, delay func(i int) time.Duration) (e ends) {
	t := k.t
	for i := range n {
		if i%10 == 9 {
			k.learnTimes()
		}
		k.n++
		k.site.reset(t, k.st)
		state := statePath(t)
		r := k.start(t, k.script, state, "", "")
		after := max(0, delay(i))
		kill := time.AfterFunc(after, func() { _ = r.Process.Kill() }) // it may have ended
		o := r.end(t)
		kill.Stop()
		bad := k.check(o, state, k.n%2 == 0)
		switch k.site.look(t, "") {
		case k.whole:
			e.whole++
		case before(k.st):
			e.before++
		}
		k.count(rowShipped, k.st, bad)
		k.bad = append(k.bad, explain(bad, fmt.Sprintf("%s, %s, killed after %v", k.name, k.st, after), o)...)
	}
	return e
}

// check looks at what a kill has left, uses the catalog, and looks again.
func (k *killer) check(o outcome, state string, strange bool) (bad []violation) {
	t := k.t
	add := func(promise, format string, args ...any) {
		bad = append(bad, violation{promise, fmt.Sprintf(format, args...)})
	}
	found := k.site.look(t, "")
	if strange {
		state = statePath(t)
	}
	use := k.tool.run(t, k.site.use(), state, "", "")
	if use.code != 0 || use.hung {
		add(p5, "the next use failed: %s", use.stderr)
	}
	left := k.site.leftovers(t)
	if strange {
		left = withoutNotes(left)
	}
	left = append(append(left, journals(t, state)...), use.left...)
	now := k.site.look(t, "")
	switch {
	case found != before(k.st) && found != k.whole:
		add(lost(k.st, found), "the table is %q, neither %q as before nor %q", found, before(k.st), k.whole)
	case now != before(k.st) && now != k.whole:
		add(lost(k.st, now), "after the next use the table is %q", now)
	case o.finished() > 0 && now != k.whole:
		add(p4, "it said that the statement is complete, but the table is %q", now)
	case found == k.whole && now != found:
		add(p5, "the next use has changed the table from %q to %q", found, now)
	}
	if len(left) > 0 {
		add(p5, "left after the next use: %s; it said: %s", strings.Join(left, ", "), use.stderr)
	}
	return bad
}
