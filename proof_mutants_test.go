package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// mutant is a deliberate fault of the binary, which a check has to see.
type mutant struct {
	name, text string
	// sink, row and promise name the check, as docs/promise.md does.
	sink, row, promise string
	// run is the part of the suite that has the check.
	run func(p *prover) []violation
}

func (m mutant) key() string { return m.name + " " + m.sink }

// mutants lists them. The code of each stands at the place that it makes wrong.
func mutants() []mutant {
	// at runs statements with an action at each of their points.
	at := func(action int, statements ...string) func(p *prover) []violation {
		return func(p *prover) []violation { return p.matrix(statements, actions[action:action+1]) }
	}
	const kill, fails, stop = 0, 2, 3
	rivals := func(st string) func(p *prover) (bad []violation) {
		return func(p *prover) (bad []violation) {
			l := p.learn(st)
			for _, at := range l.points {
				more, _ := p.rival(l, at)
				bad = append(bad, more...)
			}
			return bad
		}
	}
	return []mutant{
		{"publish-before-seal", "the file has its name before its last rows are written", siteFiles, rowKill, p1, at(kill, stCreate)},
		{"cleanup-on-unknown", "a commit of unknown outcome is taken for one that failed", siteFiles, rowError, p4, at(fails, stCreate)},
		{"pid-only-liveness", "an owner is dead when nobody has its process id", siteScratch, rowPID, p5, func(p *prover) (bad []violation) {
			for _, at := range p.learn(stCreate).points {
				bad = append(bad, p.undead(stCreate, at)...)
			}
			return bad
		}},
		{"autocommit-leak", "the table that is made commits by itself", siteSQLite, rowKill, p1, at(kill, stCreate)},
		{"autocommit-leak", "each statement of a transaction commits by itself", siteMariaDB, rowKill, p3, at(kill, stOverwrite)},
		{"drop-then-rename", "the old table is dropped before the new one is there", siteSQLite, rowKill, p3, at(kill, stReplace)},
		{"drop-then-rename", "the old table is renamed before the new one is", siteMariaDB, rowKill, p3, at(kill, stReplace)},
		{"header-sniff", "the file is opened and closed within the transaction, by which the system drops SQLite's locks", siteSQLite, rowRival, p3, rivals(stCreate)},
		{"commit-reply-ignored", "success is reported once COMMIT is sent", sitePostgres, rowCut, p4, func(p *prover) []violation {
			bad, _ := p.cuts(stCreate, false)
			return bad
		}},
		{"lock-not-held", "a job does not hold the lock of its hidden table", siteMariaDB, rowStop, p6, at(stop, stCreate)},
	}
}

// TestProofMutants puts each mutant into the binary, and demands that its check sees it.
func TestProofMutants(t *testing.T) {
	x := buildFailpoints(t)
	for i, m := range mutants() {
		if !chosen(m.sink) {
			continue
		}
		t.Run(m.key(), func(t *testing.T) {
			// Not beside others, which sweep the whole of a server.
			x := x
			x.mutants = m.name
			at := slices.IndexFunc(proofSiteList(), func(s proofSite) bool { return s.name == m.sink })
			p := newProver(t, x, proofSiteList()[at], i)
			p.full = true
			bad := m.run(p)
			seen := 0
			for _, v := range bad {
				if v.promise == m.promise {
					seen++
				} else {
					t.Logf("%s is broken, too: %.300s", v.promise, v.detail)
				}
			}
			require.Positive(t, seen, "mutant %s is not seen by %q: %v", m.name, m.row, bad)
			c := p.tally[tallyKey{m.promise, m.sink, m.row}]
			require.Positive(t, c.violations)
			proofTally.note(proofTally.mutants, m.key(), fmt.Sprintf("%d of %d", c.violations, c.runs))
		})
	}
}
