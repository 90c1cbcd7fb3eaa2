package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/sluice-sql/sluice/connector"
)

// inDoubt is the final state of a job of which it is not known whether it committed.
const inDoubt = "IN_DOUBT"

// Doubt is a commit whose outcome a journal does not tell.
type Doubt struct {
	Name     string // the job's
	Target   Target
	Evidence string
}

// ended returns the final state in records, "" when there is none.
func ended(records []Record) string {
	for i := len(records) - 1; i >= 0; i-- {
		if records[i].Type == Done {
			return records[i].State
		}
	}
	return ""
}

// DoubtOf returns the doubt that the records of a job that does not run leave, if there is one that can be asked
// about. A job commits to one target after the other, so that only the last can be in doubt.
func DoubtOf(records []Record) (Doubt, bool) {
	if state := ended(records); state != "" && state != inDoubt || len(records) == 0 || records[0].Type != Begin {
		return Doubt{}, false
	}
	for i := len(records) - 1; i > 0; i-- {
		switch r := records[i]; {
		case r.Type == Published:
			return Doubt{}, false
		case r.Type == Evidence && r.Target >= 0 && r.Target < len(records[0].Targets):
			return Doubt{records[0].Name, records[0].Targets[r.Target], r.Evidence}, true
		}
	}
	return Doubt{}, false
}

// InDoubt reports whether the records of a job that does not run leave it open whether it committed, be there
// somebody to ask or not.
func InDoubt(records []Record) bool {
	_, ok := DoubtOf(records)
	return ok || ended(records) == inDoubt
}

// Jobs lists the jobs that have a journal, those that run among them.
func (s *Store) Jobs() ([]connector.JobID, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	var ids []connector.JobID
	for _, e := range entries {
		var id connector.JobID
		if name, ok := strings.CutSuffix(e.Name(), suffix); ok && id.UnmarshalText([]byte(name)) == nil {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Resume opens the journal of a job that does not run, to add what became of it. The Log is nil when a process
// has it, this one or another, or when it is gone.
func (s *Store) Resume(id connector.JobID) (_ *Log, records []Record, err error) {
	path := s.path(id)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	keep := false
	defer func() {
		if !keep {
			_ = f.Close() // nothing was written
		}
	}()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, nil, nil
		}
		return nil, nil, err
	}
	if !named(f, path) {
		return nil, nil, nil // whoever had it has removed it
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, nil, err
	}
	records, end, err := parse(data)
	if err != nil {
		return nil, nil, err
	}
	keep = true
	return &Log{f: f, at: end, path: path}, records, nil
}
