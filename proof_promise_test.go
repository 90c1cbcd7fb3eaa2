package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
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

var promises = []struct{ name, text string }{
	{p1, "after a statement has ended in any way, and the next use of the catalog, its table is as before, or has exactly the whole result"},
	{p2, "no reader, of Sluice or of the store's own client, sees anything in between"},
	{p3, "a table that was there is intact unless the statement has reported success"},
	{p4, "success is reported only when it is certain, failure only when nothing was written; else the statement says that it is in doubt, and the next session tells the outcome"},
	{p5, "what a dead job has left beside the data, in the store's locks and sessions and among the journals goes with the next use, and the statement succeeds when it is run again (on a MySQL server a small table that tells the job's own journal of its commit goes with the next use by the host that has this, and an empty journal of SQLite's own with the next write); a process that ends by itself leaves no goroutine, descriptor, temporary file or session open"},
	{p6, "a sweep by another session does no harm to a job that lives, be it stopped"},
}

// action is what happens at a failpoint, with its row in docs/promise.md.
type action struct{ name, row string }

var actions = []action{
	{"kill", rowKill},
	{"panic", rowPanic},
	{"error", rowError},
	{"stop", rowStop},
}

// The rows of docs/promise.md.
const (
	rowKill     = "kill -9 at a failpoint"
	rowPanic    = "panic at a failpoint"
	rowError    = "error at a failpoint"
	rowStop     = "stopped at a failpoint, while others read and sweep"
	rowNth      = "error at the nth call, n = 1, 2, 3 …"
	rowRecovery = "kill -9 in the recovery after a kill -9"
	rowPID      = "kill -9, swept while its process id is taken"
	rowRace     = "two sessions with the same statement"
	rowRival    = "a rival makes or replaces the table meanwhile"
	rowCut      = "the link is cut before or after COMMIT or RENAME"
	rowGone     = "the link is cut there, and the server is not to be reached"
	rowShipped  = "kill -9 of the shipped binary at any time, 300,000 rows"
)

// proofRows says which promises a run of each row tests.
var proofRows = []struct {
	name     string
	promises []string
}{
	{rowKill, []string{p1, p3, p4, p5}},
	{rowPanic, []string{p1, p3, p4, p5}},
	{rowError, []string{p1, p3, p4, p5}},
	{rowStop, []string{p1, p2, p3, p4, p5, p6}},
	{rowNth, []string{p1, p3, p4, p5}},
	{rowRecovery, []string{p1, p3, p4, p5}},
	{rowPID, []string{p1, p5}},
	{rowRace, []string{p1, p4, p5}},
	{rowRival, []string{p1, p3, p4, p5}},
	{rowCut, []string{p1, p3, p4, p5}},
	{rowGone, []string{p1, p3, p4, p5}},
	{rowShipped, []string{p1, p3, p4, p5}},
}

// applies reports whether a row is of a sink. Tables in memory go with the process, and only servers have a link.
func applies(row, sink string) bool {
	switch row {
	case rowRecovery, rowPID, rowRace, rowRival, rowShipped:
		return sink != siteMemory
	case rowCut, rowGone:
		return sink == sitePostgres || sink == siteMariaDB
	}
	return true
}

// tally counts runs, and those that broke a promise.
type tally map[tallyKey]tallyCell

type tallyKey struct{ promise, sink, row string }

type tallyCell struct{ runs, violations int }

// count counts a run with all that it broke.
func (p *prover) count(row, st string, bad []violation) {
	for _, r := range proofRows {
		if r.name != row {
			continue
		}
		for _, promise := range r.promises {
			if promise == p3 && startsAbsent(st) && row != rowRival {
				continue // there is nothing to lose
			}
			key := tallyKey{promise, p.name, row}
			c := p.tally[key]
			c.runs++
			if slices.ContainsFunc(bad, func(v violation) bool { return v.promise == promise }) {
				c.violations++
			}
			p.tally[key] = c
		}
	}
}

// runs is the number of runs, each of which tests P1.
func (t tally) runs() (n int) {
	for key, c := range t {
		if key.promise == p1 {
			n += c.runs
		}
	}
	return n
}

// shared is a tally of all tests of the proof, with the lines they have for docs/promise.md.
type shared struct {
	mu      sync.Mutex
	all     tally
	mutants map[string]string
	kills   map[string]string
}

var proofTally = shared{all: tally{}, mutants: map[string]string{}, kills: map[string]string{}}

func (s *shared) add(t tally) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, c := range t {
		sum := s.all[key]
		sum.runs += c.runs
		sum.violations += c.violations
		s.all[key] = sum
	}
}

// note keeps what a test has to say in a table of docs/promise.md.
func (s *shared) note(table map[string]string, key, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	table[key] = text
}

const promiseFile = "docs/promise.md"

// promisePage is the page, with the numbers that cell gives.
func promisePage(count func(tallyKey) string, mutant func(mutant) string, kill func(key string) string) string {
	var b strings.Builder
	b.WriteString("# The promise, and its proof\n\nWritten by the proof's own run: `make proof` runs the real binary over every sink × statement × fault below and writes the numbers of runs here. ")
	b.WriteString("After each run the store is looked at from outside, with sqlite3, psql, mariadb or the bare files. ")
	b.WriteString("Every number is of runs in which the promise held; a part of the run that breaks one fails, and leaves its numbers here as they were.\n\n")
	for _, p := range promises {
		fmt.Fprintf(&b, "- **%s**: %s.\n", p.name, p.text)
	}
	b.WriteString("\nThe statements: " + strings.Join(proofStatements, ", ") + "; the places are all that an unfailed run of the statement passes, so that none is forgotten.\n")
	sites := proofSiteList()
	for _, p := range promises {
		fmt.Fprintf(&b, "\n## %s\n\n| fault |", p.name)
		for _, s := range sites {
			b.WriteString(" " + s.name + " |")
		}
		b.WriteString("\n|---|" + strings.Repeat("---:|", len(sites)) + "\n")
		for _, r := range proofRows {
			if !slices.Contains(r.promises, p.name) {
				continue
			}
			b.WriteString("| " + r.name + " |")
			for _, s := range sites {
				text := "–"
				if applies(r.name, s.name) && !(r.name == rowShipped && p.name == p3 && s.lack[stReplace] != "") {
					text = count(tallyKey{p.name, s.name, r.name})
				}
				b.WriteString(" " + text + " |")
			}
			b.WriteString("\n")
		}
	}
	b.WriteString("\n## What a sink does not have\n\nThe statement is refused before anything is touched, and that is tested, too.\n\n")
	for _, s := range sites {
		var list []string
		for _, st := range proofStatements {
			if s.lack[st] != "" {
				list = append(list, st)
			}
		}
		if list != nil {
			fmt.Fprintf(&b, "- %s: %s\n", s.name, strings.Join(list, ", "))
		}
	}
	b.WriteString("\n## Mutants\n\nA proof that finds no fault may be blind. Each of these is put into the binary on purpose, and the check named has to see it.\n\n| mutant | what it does | sink | fault | promise seen broken | runs |\n|---|---|---|---|---|---:|\n")
	for _, m := range mutants() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", m.name, m.text, m.sink, m.row, m.promise, mutant(m))
	}
	b.WriteString("\n## Kills of the shipped binary\n\nThe binary without failpoints, in a statement of 300,000 rows: killed at times spread evenly over the run, and within 20 ms of the time at which an unkilled run publishes. " +
		"Tables in memory go with the process, so that nothing of them can be half there.\n\n| sink | statement | evenly: before, whole | near: before, whole | left after the next use |\n|---|---|---:|---:|---:|\n")
	for _, s := range sites {
		for _, st := range killStatements {
			if applies(rowShipped, s.name) && s.lack[st] == "" {
				fmt.Fprintf(&b, "| %s | %s | %s |\n", s.name, st, kill(s.name+" "+st))
			}
		}
	}
	return b.String()
}

// written is what the page has, for what a run of some tests or sinks has not counted anew.
type written struct {
	count          map[tallyKey]string
	mutants, kills map[string]string
}

func readPromise() (w written, page string, err error) {
	w = written{map[tallyKey]string{}, map[string]string{}, map[string]string{}}
	text, err := os.ReadFile(promiseFile)
	if err != nil {
		return w, "", err
	}
	sites := proofSiteList()
	section := ""
	for _, line := range strings.Split(string(text), "\n") {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			section = name
		}
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "| "), " |"), " | ")
		switch {
		case section == "Mutants" && len(cells) == 6:
			w.mutants[cells[0]+" "+cells[2]] = cells[5]
		case strings.HasPrefix(section, "Kills") && len(cells) == 5:
			w.kills[cells[0]+" "+cells[1]] = strings.Join(cells[2:], " | ")
		case len(cells) == len(sites)+1:
			for i, s := range sites {
				w.count[tallyKey{section, s.name, cells[0]}] = cells[i+1]
			}
		}
	}
	return w, string(text), nil
}

// writePromise writes the page, and returns the exit code. What this run has not counted stays as it was.
func writePromise() int {
	old, _, err := readPromise()
	if err != nil && !os.IsNotExist(err) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	said := func(table, old map[string]string, key string) string {
		if text, ok := table[key]; ok {
			return text
		}
		return old[key]
	}
	page := promisePage(
		func(key tallyKey) string {
			if c, ok := proofTally.all[key]; ok {
				return fmt.Sprint(c.runs)
			}
			return old.count[key]
		},
		func(m mutant) string { return said(proofTally.mutants, old.mutants, m.key()) },
		func(key string) string { return said(proofTally.kills, old.kills, key) },
	)
	if err := os.WriteFile(promiseFile, []byte(page), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
