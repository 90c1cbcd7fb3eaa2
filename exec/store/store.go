package store

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/sluice-sql/sluice/connector"
)

// Type is the kind of a record.
type Type uint8

// The types of record, in the order in which a job writes them.
const (
	Begin     Type = 1 // before the first side effect
	Sealed    Type = 2 // all rows are with the store, nothing is visible
	Published Type = 3 // a commit succeeded
	Done      Type = 4 // the job ended, or what became of its commit was found out later
	Evidence  Type = 5 // before a commit that may go without an answer
)

// Target is a table that a job writes.
type Target struct {
	Table connector.ObjectIdentifier `json:"table"`
	Store string                     `json:"store"` // the store's key, without passwords
}

// Record is an entry of a journal.
type Record struct {
	Type    Type     `json:"-"`
	Name    string   `json:"name,omitempty"`    // Begin: the job's name
	Targets []Target `json:"targets,omitempty"` // Begin
	Rows    int64    `json:"rows,omitempty"`    // Sealed
	State   string   `json:"state,omitempty"`   // Done: the final state
	// Target, of Evidence and Published, is the position in Begin's Targets.
	Target   int    `json:"target,omitempty"`
	Evidence string `json:"evidence,omitempty"` // Evidence: by which the store can be asked for the outcome
}

// fileSize is reserved for each journal.
const fileSize = 64 << 10

const suffix = ".log"

// unfinished is added to the name while Begin writes the file.
const unfinished = ".new"

// ErrUnknown is returned for a journal with records of a later version: it must be left alone.
var ErrUnknown = errors.New("the journal was written by a later version")

// Store is a directory of journals.
type Store struct{ dir string }

// Open returns the store under a state directory, which is made if need be. Journals of jobs that are
// done or whose process has died are removed, but for those in doubt: jobs that ended so, and jobs that died
// after Evidence and may have committed.
func Open(stateDir string) (*Store, error) {
	s := &Store{filepath.Join(stateDir, "jobs")}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the journals: %w", err)
	}
	s.prune()
	return s, nil
}

// prune removes journals whose end is no longer of interest. A live job holds the lock of its journal; one
// that is free and says nothing of doubt tells no more than the data does. What cannot be removed stays
// for the next time.
func (s *Store) prune() {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix+unfinished) {
			s.pruneUnfinished(e)
			continue
		}
		var id connector.JobID
		name, ok := strings.CutSuffix(e.Name(), suffix)
		if !ok || id.UnmarshalText([]byte(name)) != nil {
			continue
		}
		// One in doubt is only looked at: who resumes it meanwhile must not find it locked.
		if records, err := s.Read(id); err == nil && useless(records) {
			s.pruneDead(id)
		}
	}
}

// useless reports whether nobody will ask for records once their job does not run.
func useless(records []Record) bool { return len(records) > 0 && !InDoubt(records) }

// pruneDead removes the journal of a job that does not run. What it says is read under its lock: the job may have
// noted its evidence, and died, since somebody looked.
func (s *Store) pruneDead(id connector.JobID) {
	l, records, err := s.Resume(id)
	if err == nil && l != nil {
		_ = l.Close(useless(records)) // tried again by the next Open
	}
}

// pruneUnfinished removes a journal whose Begin a crash cut short, so that the job never was. One that was made
// a moment ago may not be locked yet: its Begin makes another.
func (s *Store) pruneUnfinished(e fs.DirEntry) {
	var id connector.JobID
	if id.UnmarshalText([]byte(strings.TrimSuffix(e.Name(), suffix+unfinished))) != nil {
		return
	}
	path := filepath.Join(s.dir, e.Name())
	f, err := os.Open(path)
	if err != nil {
		return
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil && named(f, path) {
		_ = os.Remove(path) // tried again by the next Open
	}
	_ = f.Close() // it was only read
}

// named reports whether a path leads to an open file still.
func named(f *os.File, path string) bool {
	mine, err1 := f.Stat()
	now, err2 := os.Lstat(path)
	return err1 == nil && err2 == nil && os.SameFile(mine, now)
}

func (s *Store) path(id connector.JobID) string { return filepath.Join(s.dir, id.String()+suffix) }

// Log is the journal of one job, open for writing.
type Log struct {
	f    *os.File
	at   int64
	path string
}

// Begin makes the journal of a job and writes its first record, which is on disk when it returns. The
// journal has its name only once its lock is held: whoever finds a journal without a lock may conclude
// that its process has died.
func (s *Store) Begin(id connector.JobID, r Record) (_ *Log, err error) {
	r.Type = Begin
	path := s.path(id)
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("%s: %w", path, fs.ErrExist)
	}
	f, err := createLocked(path + unfinished)
	if err != nil {
		return nil, err
	}
	l := &Log{f: f, path: path}
	defer func() {
		if err != nil {
			_ = f.Close() // the first error is the one to tell
			_ = os.Remove(path + unfinished)
		}
	}()
	if _, err := f.WriteAt(make([]byte, fileSize), 0); err != nil {
		return nil, err
	}
	if err := l.write(r); err != nil {
		return nil, err
	}
	if err := f.Sync(); err != nil {
		return nil, err
	}
	if err := os.Rename(path+unfinished, path); err != nil {
		return nil, err
	}
	return l, syncDir(s.dir)
}

// createLocked makes a file and locks it, anew when a prune took it for a dead job's before that.
func createLocked(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return nil, err
		}
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX) // whoever else has it is about to let go
		switch {
		case err != nil:
			return nil, errors.Join(err, os.Remove(path), f.Close())
		case named(f, path):
			return f, nil
		}
		_ = f.Close() // it is gone
	}
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// castagnoli is made at the first journal, not at every start of the program.
var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

func (l *Log) write(r Record) error {
	payload, err := json.Marshal(r)
	if err != nil {
		return err
	}
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(payload)))
	b = append(b, byte(r.Type))
	b = append(b, payload...)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli()))
	if _, err := l.f.WriteAt(b, l.at); err != nil {
		return err
	}
	l.at += int64(len(b))
	return nil
}

// Append writes a record; Done and Sealed are on disk when it returns.
func (l *Log) Append(r Record) error {
	if err := l.write(r); err != nil {
		return err
	}
	if r.Type == Published {
		return nil
	}
	return l.f.Sync()
}

// Close ends writing. With remove the journal goes, while it is still locked: else another session may be first.
func (l *Log) Close(remove bool) (err error) {
	if remove {
		err = os.Remove(l.path)
	}
	return errors.Join(err, l.f.Close())
}

// Read returns the whole records of a job's journal; none when there is no journal.
func (s *Store) Read(id connector.JobID) ([]Record, error) {
	data, err := os.ReadFile(s.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	records, _, err := parse(data)
	return records, err
}

// parse reads records up to the first that is not whole, and returns where that is.
func parse(data []byte) (records []Record, end int64, err error) {
	for len(data) >= 9 {
		n := int(binary.LittleEndian.Uint32(data))
		if n < 2 || n > len(data)-9 { // a payload is at least {}
			break
		}
		body, sum := data[:5+n], binary.LittleEndian.Uint32(data[5+n:])
		if crc32.Checksum(body, castagnoli()) != sum {
			break
		}
		r := Record{Type: Type(body[4])}
		if r.Type < Begin || r.Type > Evidence {
			return records, end, ErrUnknown
		}
		if err := json.Unmarshal(body[5:], &r); err != nil {
			return records, end, fmt.Errorf("journal: %w", err)
		}
		records = append(records, r)
		data = data[9+n:]
		end += int64(9 + n)
	}
	return records, end, nil
}
