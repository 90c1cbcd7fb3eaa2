package store

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/connector"
)

func open(t *testing.T) (*Store, string) {
	dir := t.TempDir()
	s, err := Open(dir)
	require.NoError(t, err)
	return s, filepath.Join(dir, "jobs")
}

func TestJournal(t *testing.T) {
	s, dir := open(t)
	id := connector.NewJobID()
	want := []Record{
		{Type: Begin, Name: "a job", Targets: []Target{{Table: connector.ObjectIdentifier{Catalog: "c", Database: "d", Object: "t"}, Store: "x"}}},
		{Type: Sealed, Rows: 7}, {Type: Published}, {Type: Done, State: "FAILED"},
	}
	l, err := s.Begin(id, want[0])
	require.NoError(t, err)
	_, err = s.Begin(id, want[0])
	require.ErrorIs(t, err, os.ErrExist)
	for _, r := range want[1:] {
		require.NoError(t, l.Append(r))
	}
	got, err := s.Read(id)
	require.NoError(t, err)
	require.Equal(t, want, got)

	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	info, err = os.Stat(s.path(id))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.EqualValues(t, fileSize, info.Size(), "room for the outcome on a full disk")

	require.NoError(t, l.Close(true))
	got, err = s.Read(id)
	require.NoError(t, err)
	require.Empty(t, got)
}

// Opening the store removes the journals of jobs that are done or dead; those in doubt, those of live jobs,
// and files that are no journals stay.
func TestPrune(t *testing.T) {
	s, dir := open(t)
	ids := map[string]connector.JobID{}
	for _, state := range []string{"FINISHED", "FAILED", "CANCELED", "IN_DOUBT", ""} {
		id := connector.NewJobID()
		ids[state] = id
		l, err := s.Begin(id, Record{})
		require.NoError(t, err)
		if state != "" {
			require.NoError(t, l.Append(Record{Type: Done, State: state}))
		}
		require.NoError(t, l.Close(false)) // which gives the lock back, as a process does that dies
	}
	live := connector.NewJobID()
	l, err := s.Begin(live, Record{})
	require.NoError(t, err)
	defer l.Close(true)
	ids["live"] = live
	other := filepath.Join(dir, "notes.log")
	require.NoError(t, os.WriteFile(other, []byte("mine"), 0o600))
	// What a crash left of a Begin goes, too; what is being begun, and what is none of ours, stays.
	unfinishedFile := func(name string) string {
		path := filepath.Join(dir, name+".log.new")
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		return path
	}
	dead, foreign, locked := unfinishedFile(connector.NewJobID().String()), unfinishedFile("notes"), unfinishedFile(connector.NewJobID().String())
	lock, err := os.Open(locked)
	require.NoError(t, err)
	defer lock.Close()
	require.NoError(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	s, err = Open(filepath.Dir(dir))
	require.NoError(t, err)
	require.NoFileExists(t, dead)
	require.FileExists(t, foreign)
	require.FileExists(t, locked)
	for state, id := range ids {
		_, err := os.Stat(s.path(id))
		if state == "IN_DOUBT" || state == "live" {
			require.NoError(t, err, state)
		} else {
			require.ErrorIs(t, err, os.ErrNotExist, state)
		}
	}
	require.FileExists(t, other)
}

// A job notes its evidence and dies between the look at its journal and the lock of it: the journal stays.
func TestPruneReadsUnderTheLock(t *testing.T) {
	s, _ := open(t)
	id := connector.NewJobID()
	l, err := s.Begin(id, Record{Targets: []Target{{Store: "x"}}})
	require.NoError(t, err)
	s.pruneDead(id)
	require.FileExists(t, s.path(id), "it runs")
	looked, err := s.Read(id)
	require.NoError(t, err)
	require.True(t, useless(looked))
	require.NoError(t, l.Append(Record{Type: Evidence, Evidence: "xid 7"}))
	require.NoError(t, l.Close(false))
	s.pruneDead(id)
	records, err := s.Read(id)
	require.NoError(t, err)
	require.True(t, InDoubt(records))

	l, _, err = s.Resume(id)
	require.NoError(t, err)
	require.NoError(t, l.Append(Record{Type: Done, State: "FINISHED"}))
	require.NoError(t, l.Close(false))
	s.pruneDead(id)
	require.NoFileExists(t, s.path(id))
}

// Journals that are begun while others prune are there, whatever was removed before its lock was taken.
func TestBeginWhilePruned(t *testing.T) {
	s, _ := open(t)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				s.prune()
			}
		}
	}()
	for range 300 {
		id := connector.NewJobID()
		l, err := s.Begin(id, Record{Name: "x"})
		require.NoError(t, err)
		require.FileExists(t, s.path(id))
		require.NoError(t, l.Close(true))
	}
	close(stop)
	<-done
}

// A torn tail, cut or overwritten anywhere, is the end of the journal; what stands before it is read.
func TestTornTail(t *testing.T) {
	s, _ := open(t)
	id := connector.NewJobID()
	l, err := s.Begin(id, Record{Name: "x"})
	require.NoError(t, err)
	first := l.at
	require.NoError(t, l.Append(Record{Type: Sealed, Rows: 123456}))
	end := l.at
	require.NoError(t, l.Close(false))
	data, err := os.ReadFile(s.path(id))
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, 1))
	for at := first; at < end; at++ {
		got, end, err := parse(data[:at])
		require.NoError(t, err)
		require.Len(t, got, 1)
		require.Equal(t, first, end)
		torn := append([]byte(nil), data...)
		torn[at] ^= byte(1 + r.IntN(255))
		got, _, err = parse(torn)
		require.NoError(t, err)
		require.Len(t, got, 1)
		require.Equal(t, "x", got[0].Name)
	}
	got, _, err := parse(data[:0])
	require.NoError(t, err)
	require.Empty(t, got)
}

// A record of a type that is not known yet says so, lest anything be concluded from the rest.
func TestLaterVersion(t *testing.T) {
	s, _ := open(t)
	id := connector.NewJobID()
	l, err := s.Begin(id, Record{})
	require.NoError(t, err)
	require.NoError(t, l.Append(Record{Type: 9}))
	require.NoError(t, l.Close(false))
	_, err = s.Read(id)
	require.ErrorIs(t, err, ErrUnknown)
}

// A job that died between its evidence and the answer is in doubt, and its journal stays; so it does when it is
// taken up again, but for what is added. One that a process holds is not given to another.
func TestResume(t *testing.T) {
	s, dir := open(t)
	id := connector.NewJobID()
	target := Target{Table: connector.ObjectIdentifier{Object: "t"}, Store: "x"}
	l, err := s.Begin(id, Record{Name: "j", Targets: []Target{target}})
	require.NoError(t, err)
	require.NoError(t, l.Append(Record{Type: Evidence, Evidence: "e"}))
	held, _, err := s.Resume(id)
	require.NoError(t, err)
	require.Nil(t, held)
	require.NoError(t, l.Close(false))

	s, err = Open(filepath.Dir(dir))
	require.NoError(t, err)
	ids, err := s.Jobs()
	require.NoError(t, err)
	require.Equal(t, []connector.JobID{id}, ids)
	l, records, err := s.Resume(id)
	require.NoError(t, err)
	d, ok := DoubtOf(records)
	require.True(t, ok)
	require.Equal(t, Doubt{"j", target, "e"}, d)
	require.True(t, InDoubt(records))
	require.NoError(t, l.Append(Record{Type: Done, State: "FAILED"}))
	require.NoError(t, l.Close(false))
	records, err = s.Read(id)
	require.NoError(t, err)
	require.Len(t, records, 3)
	require.False(t, InDoubt(records))

	_, err = Open(filepath.Dir(dir)) // it is of no interest any more
	require.NoError(t, err)
	l, _, err = s.Resume(id)
	require.NoError(t, err)
	require.Nil(t, l)
}

// A position that the journal has no target for makes no doubt: there is nobody to ask.
func TestDoubtOfNothing(t *testing.T) {
	for _, records := range [][]Record{nil, {{Type: Evidence}}, {{Type: Begin}, {Type: Evidence, Target: 1}}, {{Type: Begin}, {Type: Evidence, Target: -1}}} {
		_, ok := DoubtOf(records)
		require.False(t, ok)
	}
}
