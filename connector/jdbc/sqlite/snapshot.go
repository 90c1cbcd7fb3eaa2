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

// run tries until it has one snapshot. A WAL file that is written all the time is held for the moment:
// no commit can come between readers that begin while the write lock is ours.
func (g *opening) run(ctx context.Context) error {
	for try := 0; ; try++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := retryBusy(ctx, g.path, func() error {
			err := g.try(ctx, try >= snapshotRuns)
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
// they are opened together.
func (g *opening) try(ctx context.Context, hold bool) (err error) {
	if g.readers == nil {
		if err := g.plan(ctx); err != nil {
			return err
		}
		if len(g.sources) == 1 && g.readers[0] == 1 {
			return nil // it stays open
		}
		g.closeAll()
	}
	// In a rollback-journal file the first reader's lock keeps commits out, so readers that overlap
	// agree. In a WAL file a guard looks at the commit counter before and after.
	mode := Read
	if hold {
		mode = Write
	}
	guard, err := Open(g.path, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, guard.Close()) }()
	if err := touch(guard); err != nil {
		return err
	}
	journal, err := guard.Text("PRAGMA main.journal_mode")
	if err != nil {
		return err
	}
	held := false
	if hold && journal == "wal" {
		// Busy: a writer is at work, maybe this job's own, which commits later. A file that may not be
		// written gives no lock.
		if err := guard.Exec("BEGIN IMMEDIATE"); err != nil && !isBusy(err) && primary(err) != codeReadOnly {
			return err
		}
		if held = guard.writing(); !held && guard.InTransaction() {
			if err := guard.Exec("ROLLBACK"); err != nil {
				return err
			}
		}
	}
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
