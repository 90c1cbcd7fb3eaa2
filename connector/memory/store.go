package memory

import (
	"fmt"
	"sync"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// Store is the rows of one table.
type Store struct {
	id     connector.ObjectIdentifier
	schema types.Schema
	budget *connector.Memory // nil: unlimited

	mu      sync.Mutex
	current *version
	writers map[any]connector.JobID // by transaction or opened table: begun, neither committed nor aborted
	readers int
	gone    string // why the store has ended; "" while it goes on
	next    *Store // what has taken its place; nil if nothing has
}

// version is the rows at one instant. It never changes.
type version struct {
	batches []*column.Batch // dense, none empty, at most column.DefaultRows rows each
	rows    int64
	bytes   int64 // what was reserved for them
}

// NewStore returns an empty store for the table of this name and schema.
func NewStore(id connector.ObjectIdentifier, schema types.Schema, budget *connector.Memory) *Store {
	return &Store{id: id, schema: schema, budget: budget, current: &version{}, writers: map[any]connector.JobID{}}
}

// Rows returns the number of rows.
func (s *Store) Rows() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current.rows
}

// HeldError says that a table cannot be dropped because a job writes it.
type HeldError struct {
	Table connector.ObjectIdentifier
	Job   connector.JobID
}

// Error names the table and the job.
func (e *HeldError) Error() string {
	return fmt.Sprintf("table %s is held by job %s, which writes it; stop the job or wait for its end", e.Table, e.Job)
}

// Held returns a *HeldError when a job writes the table.
func (s *Store) Held() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held()
}

func (s *Store) held() error {
	for _, job := range s.writers {
		return &HeldError{s.id, job}
	}
	return nil
}

// settled returns a *HeldError when a streaming job writes the table, and thus changes it at any time: what
// changes all of it, or what a job read of it, would come between two of its checkpoints. s.mu is held.
func (s *Store) settled() error {
	for w, job := range s.writers {
		if _, streaming := w.(*table); streaming {
			return &HeldError{s.id, job}
		}
	}
	return nil
}

// Drop ends the table: no reader and no writer can be added, and the memory is given back once the
// readers of now have closed. A table that a job writes is not dropped: that is a *HeldError.
func (s *Store) Drop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.held(); err != nil {
		return err
	}
	if s.gone == "" {
		s.gone = "was dropped"
		s.free()
	}
	return nil
}

// free gives the memory back when nobody can read it any more.
func (s *Store) free() {
	if s.gone != "" && s.readers == 0 {
		release(s.budget, s.current.bytes)
		s.current = &version{}
	}
}

// State stands for what a store has in it at one instant.
type State struct{ version *version }

// State returns what is in the store now.
func (s *Store) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return State{s.current}
}

// ReplaceBy ends the table, of which another has taken the place, if what is in it is still what it was; same
// says whether. Who has opened it, and not begun to read or write, goes on with the other one where that has the
// same columns. A table that a job writes is not replaced: that is a *HeldError.
func (s *Store) ReplaceBy(next *Store, was State) (same bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.held(); err != nil {
		return false, err
	}
	if s.gone != "" || s.current != was.version {
		return false, nil
	}
	s.gone, s.next = "was replaced", next
	s.free()
	return true, nil
}

// lockLatest returns, locked, the store that has taken the place of this one, by any number of steps, or the
// store itself. It fails where that is gone.
func (s *Store) lockLatest() (*Store, error) {
	last := s
	for last.mu.Lock(); last.next != nil; last.mu.Lock() {
		next := last.next
		last.mu.Unlock()
		if !sameColumns(next.schema, s.schema) {
			return nil, fmt.Errorf("table %s has other columns than when the statement was planned; run it again", s.id)
		}
		last = next
	}
	if last.gone != "" {
		defer last.mu.Unlock()
		return nil, fmt.Errorf("table %s %s", last.id, last.gone)
	}
	return last, nil
}

// acquire returns the current version for a reader, of what has taken the store's place if anything has; done is
// to be called once when it has read.
func (s *Store) acquire() (v *version, done func(), err error) {
	last, err := s.lockLatest()
	if err != nil {
		return nil, nil, err
	}
	defer last.mu.Unlock()
	return last.hold()
}

// hold is acquire of this very store; s.mu is held.
func (s *Store) hold() (v *version, done func(), err error) {
	if s.gone != "" {
		return nil, nil, fmt.Errorf("table %s %s", s.id, s.gone)
	}
	s.readers++
	var once sync.Once
	return s.current, func() {
		once.Do(func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.readers--
			s.free()
		})
	}, nil
}

// appended returns the version that follows v by adding rows. The list of batches is copied, since
// readers hold the old one; so that many small inserts do not make it long, small batches at the seam
// are put together (each row is copied a logarithmic number of times).
func (v *version) appended(w *version) *version {
	n := &version{rows: v.rows + w.rows, bytes: v.bytes + w.bytes}
	old, added := v.batches, w.batches
	for len(old) > 0 && len(added) > 0 {
		a, b := old[len(old)-1], added[0]
		if a.N > b.N || a.N+b.N > column.DefaultRows || a.Size()+b.Size() > maxBatchBytes {
			break
		}
		joined := column.NewBatch(a.Types(), a.N+b.N)
		joined.AppendBatch(a)
		joined.AppendBatch(b)
		old, added = old[:len(old)-1], append([]*column.Batch{tight(joined)}, added[1:]...)
	}
	n.batches = append(append(make([]*column.Batch, 0, len(old)+len(added)), old...), added...)
	return n
}

func release(m *connector.Memory, n int64) {
	if m != nil && n > 0 {
		_ = m.Reserve(-n) // giving back cannot fail
	}
}
