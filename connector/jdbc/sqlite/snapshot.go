package sqlite

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/sluice-sql/sluice/connector"
)

// snapshot is the one commit of a file that all the sources of a job on it see. Sources join when they
// are made; the first that is asked for its splits opens the connections of all.
type snapshot struct {
	mu      sync.Mutex
	waiting []*source
}

type snapshotKey struct{ file string }

// join adds a source to its file's snapshot in a job.
func (s *source) join(ctx context.Context) {
	s.snap = connector.ScopeOf(ctx).Value(snapshotKey{Key(s.store.Path)}, func() any { return &snapshot{} }).(*snapshot)
	s.snap.mu.Lock()
	defer s.snap.mu.Unlock()
	s.snap.waiting = append(s.snap.waiting, s)
}

// leave takes a source that was never opened out of the snapshot.
func (n *snapshot) leave(s *source) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.waiting = slices.DeleteFunc(n.waiting, func(w *source) bool { return w == s })
}

// openFor opens the connections of s and of all sources that wait with it, unless that has been done.
func (n *snapshot) openFor(ctx context.Context, s *source, parallelism int) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(s.all) > 0 {
		return nil
	}
	if !slices.Contains(n.waiting, s) { // asked for its splits again
		n.waiting = append(n.waiting, s)
	}
	g := &opening{sources: n.waiting, path: s.store.Path, parallelism: parallelism}
	if err := g.run(ctx); err != nil {
		return err
	}
	n.waiting = nil
	return nil
}

// opening opens the connections of some sources of one file.
type opening struct {
	sources     []*source
	path        string // one of the file's
	parallelism int
	readers     []int // by source
}

// errTorn: the readers did not begin at one commit.
var errTorn = errors.New("the readers saw different commits")

// run tries until it has one snapshot. A file that is written all the time is held for the moment: no
// commit can come between readers that begin while the write lock is ours, and they need not wait.
func (g *opening) run(ctx context.Context) error {
	tries := 0
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := retryBusy(ctx, g.path, func() error {
			tries++
			err := g.try(ctx, tries > snapshotRuns)
			if err != nil {
				g.closeAll() // a reader left open would keep the writer waited for from ending
			}
			return err
		})
		if !errors.Is(err, errTorn) {
			return err
		}
	}
}

func (g *opening) closeAll() {
	for _, s := range g.sources {
		s.closeAll()
	}
}

// try opens one reader for each source and looks how many each is worth; when it is more than one in all,
// they are opened together. With hold it takes the write lock for that time, if it can be had.
func (g *opening) try(ctx context.Context, hold bool) (err error) {
	var guard *Conn
	held := false
	if hold {
		if guard, held, err = g.hold(); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, guard.Close()) }()
	}
	if g.readers == nil {
		if err := g.plan(ctx); err != nil {
			return err
		}
		if len(g.sources) == 1 && g.readers[0] == 1 {
			return nil // it stays open
		}
		g.closeAll()
	}
	if guard == nil {
		if guard, err = Open(g.sources[0].store.files(), g.path, Read); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, guard.Close()) }()
	}
	// In a rollback-journal file the first reader's lock keeps commits out, so readers that overlap
	// agree. In a WAL file the guard looks at the commit counter before and after.
	before, err := guard.Int("PRAGMA main.data_version")
	if err != nil {
		return err
	}
	for i, s := range g.sources {
		for range g.readers[i] {
			if err := s.openReader(); err != nil {
				return err
			}
		}
	}
	journal, err := guard.Text("PRAGMA main.journal_mode")
	if err != nil {
		return err
	}
	if journal == "wal" && !held {
		after, err := guard.Int("PRAGMA main.data_version")
		if err != nil {
			return err
		}
		if before != after {
			return errTorn
		}
	}
	return g.check()
}

// hold opens a guard that holds the write lock, unless a writer is at work, maybe this job's own, or the
// file may not be written.
func (g *opening) hold() (guard *Conn, held bool, err error) {
	if guard, err = Open(g.sources[0].store.files(), g.path, Write); err != nil {
		return nil, false, err
	}
	err = guard.Exec("BEGIN IMMEDIATE")
	held = guard.writing()
	if isBusy(err) || primary(err) == codeReadOnly || primary(err) == codeCantOpen {
		err = nil
	}
	if err == nil && !held && guard.InTransaction() {
		err = guard.Exec("ROLLBACK")
	}
	if err != nil {
		return nil, false, errors.Join(err, guard.Close())
	}
	return guard, held, nil
}

// plan opens one reader for each source and sets how many each gets.
func (g *opening) plan(ctx context.Context) error {
	for _, s := range g.sources {
		if err := s.openReader(); err != nil {
			return err
		}
	}
	readers := make([]int, len(g.sources))
	for i, s := range g.sources {
		splits, err := s.cut(ctx, g.parallelism, maxMorsels)
		if err != nil {
			return err
		}
		readers[i] = max(1, min(g.parallelism, len(splits)))
	}
	g.readers = readers
	return nil
}

// check makes sure that all paths lead to the one file that all connections have open.
func (g *opening) check() error {
	file := Key(g.path)
	for _, s := range g.sources {
		if Key(s.store.Path) != file {
			return &movedError{s.store.Path, "it was opened"}
		}
		for _, ses := range s.all {
			if ses.c.Moved() {
				return errTorn
			}
		}
	}
	return nil
}
