package filesystem

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/internal/failpoint"
)

// The names of what a job has beside a table, behind the mark and the job's id: the file, while the table's
// directory exists; a tree of directories with the file in it, while it does not. The job holds a lock of the
// file, or of the tree's first directory, from its making to its end, whatever its name is by then.
const (
	mark       = ".sluice-"
	fileSuffix = ".inprogress"
	treeSuffix = ".new"
)

// staging is the invisible part of an INSERT or a CREATE TABLE AS.
type staging struct {
	// anchor is the nearest directory to the table's that exists, itself when it does. Everything is there.
	anchor string
	// missing are the directories between anchor and the table's, itself last.
	missing []string
	name    string   // of the file in the table's directory, in the end
	prefix  string   // anchor, mark and job
	tree    *os.File // locked; nil when no directory is missing
	file    *os.File // locked when there is no tree; nil when an empty one was done without
	// fresh says that the directory must have no data of others when the file gets its name.
	fresh bool
}

// series gives the files that are written through one opened table their names. A batch job writes one; of a
// streaming job each checkpoint writes one, and by name they are in that order.
type series struct {
	mu   sync.Mutex
	job  connector.JobID // of the first file
	made int
}

func (s *series) name(job connector.JobID, extension string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made == 0 || !s.job.SameJob(job) {
		s.job, s.made = job, 1
		return "part-" + job.String() + "-0" + extension
	}
	name := fmt.Sprintf("part-%s-%08d%s", s.job, s.made, extension)
	s.made++
	return name
}

// stage makes and locks the file of a job, which is to have the given name.
func stage(path string, job connector.JobID, name string, fresh bool) (_ *staging, err error) {
	s := &staging{name: name, fresh: fresh}
	if s.anchor, s.missing, err = anchorOf(path); err != nil {
		return nil, err
	}
	if fresh && len(s.missing) == 0 {
		if err := vacant(s.anchor); err != nil {
			return nil, err
		}
	}
	s.prefix = filepath.Join(s.anchor, mark+job.String())
	create := func() (*os.File, error) {
		return os.OpenFile(s.staged(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	}
	if len(s.missing) == 0 {
		s.file, err = locked(create)
		return s, err
	}
	s.tree, err = locked(func() (*os.File, error) {
		if err := os.Mkdir(s.treePath(), 0o777); err != nil {
			return nil, err
		}
		return os.Open(s.treePath())
	})
	if err == nil {
		if err = os.MkdirAll(filepath.Dir(s.staged()), 0o777); err == nil {
			s.file, err = create()
		}
		if err != nil {
			err = errors.Join(err, s.remove())
		}
	}
	return s, err
}

// locked makes something and locks it, anew when a sweeper took it for a dead job's before that. Nobody else
// gives it this name, so that one that is there, or gone again, is a sweeper's doing.
func locked(create func() (*os.File, error)) (*os.File, error) {
	for tries := 0; ; tries++ {
		f, err := create()
		if err == nil {
			mine, err := lock(f)
			if mine {
				err = failpoint.Hit("begin.lock")
			}
			if mine && err == nil {
				return f, nil
			}
			if err != nil { // no locks are to be had there: nobody could tell what is left from a live job's
				err = errors.Join(err, os.Remove(f.Name()))
			}
			if err = errors.Join(err, f.Close()); err != nil {
				return nil, err
			}
		} else if !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) || tries == 100 {
			return nil, err
		}
		time.Sleep(time.Millisecond)
	}
}

// lock takes the lock of an open file or directory; false: somebody else has it, or another thing has its name.
func lock(f *os.File) (bool, error) {
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			return false, nil
		}
		return false, &os.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	now, err := os.Lstat(f.Name())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(mine, now), err
}

// anchorOf returns the nearest directory to path that exists, and the names that lead from it to path.
func anchorOf(path string) (anchor string, missing []string, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return "", nil, err
	}
	for dir := path; ; dir = filepath.Dir(dir) {
		st, err := os.Stat(dir)
		switch {
		case err == nil && st.IsDir():
			return dir, missing, nil
		case err == nil && dir == path:
			return "", nil, fmt.Errorf("%s is a file, and INSERT adds files to a directory: give the table a directory as its 'path'", path)
		case err == nil:
			return "", nil, fmt.Errorf("%s is not a directory", dir)
		case !errors.Is(err, fs.ErrNotExist):
			return "", nil, err
		}
		if _, err := os.Lstat(dir); err == nil {
			return "", nil, fmt.Errorf("%s is a link to a directory that does not exist", dir)
		}
		missing = append([]string{filepath.Base(dir)}, missing...)
	}
}

// treePath is the directory that stands for the first of the missing ones.
func (s *staging) treePath() string { return s.prefix + treeSuffix }

// staged is where the file is before the commit.
func (s *staging) staged() string {
	if len(s.missing) == 0 {
		return s.prefix + fileSuffix
	}
	return filepath.Join(append(append([]string{s.treePath()}, s.missing[1:]...), s.name)...)
}

// target is where the file is after the commit.
func (s *staging) target() string {
	return filepath.Join(append(append([]string{s.anchor}, s.missing...), s.name)...)
}

// seal makes the file durable, or does without it when it is empty.
func (s *staging) seal(empty bool) error {
	if empty {
		err := errors.Join(os.Remove(s.staged()), s.file.Close())
		s.file = nil
		if err != nil {
			return err
		}
	} else if err := s.file.Sync(); err != nil {
		return err
	}
	if len(s.missing) == 0 {
		return nil
	}
	for dir := filepath.Dir(s.staged()); ; dir = filepath.Dir(dir) {
		if err := syncDir(dir); err != nil || dir == s.treePath() {
			return err
		}
	}
}

// publish gives the file its name, or the tree, and makes that durable.
func (s *staging) publish() (out connector.Outcome, err error) {
	if len(s.missing) > 0 {
		to := filepath.Join(s.anchor, s.missing[0])
		if err := s.mine(); err != nil {
			return connector.NotDone, err
		}
		err := renameNew(s.treePath(), to)
		switch {
		case err == nil && s.file != nil && !renamed(s.file, s.target()):
			return connector.Unknown, s.foreign()
		case err == nil || renamed(s.tree, to):
			return durable(s.anchor)
		case errors.Is(err, fs.ErrExist), errors.Is(err, unix.EINVAL), errors.Is(err, errors.ErrUnsupported):
			// A rival has made it meanwhile, or the file system has no such rename: the directories are made
			// one by one, and the file comes in as into any directory.
			made, err := s.makeMissing()
			defer func() {
				if out == connector.NotDone {
					for i := len(made) - 1; i >= 0; i-- {
						_ = unix.Rmdir(made[i]) // one that has something in it stays
					}
				}
			}()
			if err != nil {
				return connector.NotDone, err
			}
		default:
			return unmoved(s.treePath(), &os.LinkError{Op: "rename", Old: s.treePath(), New: to, Err: err})
		}
	}
	to := s.target()
	if err := s.mine(); err != nil {
		return connector.NotDone, err
	}
	if s.file != nil || s.fresh {
		unlock, err := lockDir(filepath.Dir(to), s.fresh)
		if err != nil {
			return connector.NotDone, err
		}
		defer unlock()
	}
	if s.fresh {
		if err := vacant(filepath.Dir(to)); err != nil {
			return connector.NotDone, err
		}
	}
	if s.file == nil {
		return connector.Done, nil
	}
	if err := os.Rename(s.staged(), to); err != nil && !renamed(s.file, to) {
		return unmoved(s.staged(), err)
	}
	if !renamed(s.file, to) {
		return connector.Unknown, s.foreign()
	}
	return durable(filepath.Dir(to))
}

// mine returns an error when what has the hidden name is not the file that was written. Whoever puts another
// there between this look and the rename is found after it.
func (s *staging) mine() error {
	if s.file == nil {
		return nil
	}
	if _, err := os.Lstat(s.staged()); err != nil {
		return nil // the rename says it
	}
	if !renamed(s.file, s.staged()) {
		return fmt.Errorf("%s is not the file that the job wrote: another was put in its place; nothing was published", s.staged())
	}
	return nil
}

// foreign is the error of a file that came between the look at the hidden name and the rename.
func (s *staging) foreign() error {
	return fmt.Errorf("%s is not the file that the job wrote: another was put in its place while it got its name", s.target())
}

// unmoved is the outcome of a rename that failed, and whose target is not there: not known where the disk does
// not say whether the thing is still what it was.
func unmoved(from string, err error) (connector.Outcome, error) {
	if _, there := os.Lstat(from); there != nil && !errors.Is(there, fs.ErrNotExist) && !errors.Is(there, unix.ENOTDIR) {
		return connector.Unknown, err
	}
	return connector.NotDone, err
}

// renamed reports whether an open file or directory is at its target although the rename said otherwise.
func renamed(f *os.File, to string) bool {
	mine, err1 := f.Stat()
	there, err2 := os.Lstat(to)
	return err1 == nil && err2 == nil && os.SameFile(mine, there)
}

// makeMissing makes the directories of the table one by one, and returns those that were not there.
func (s *staging) makeMissing() (made []string, err error) {
	dir := s.anchor
	for _, name := range s.missing {
		parent := dir
		dir = filepath.Join(dir, name)
		switch err := os.Mkdir(dir, 0o777); {
		case err == nil:
			made = append(made, dir)
		case !errors.Is(err, fs.ErrExist):
			return made, err
		}
		if err := syncDir(parent); err != nil {
			return made, err
		}
	}
	return made, nil
}

// durable syncs a directory that something was renamed in.
func durable(dir string) (connector.Outcome, error) {
	err := failpoint.Hit("publish.sent")
	if err == nil {
		err = syncDir(dir)
	}
	if err != nil {
		return connector.Unknown, fmt.Errorf("the rows are there, but the disk did not confirm that they will stay: %w", err)
	}
	return connector.Done, nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// remove removes what is left of the staging, and lets go of it last.
func (s *staging) remove() error {
	var errs []error
	if s.tree == nil && s.file != nil && renamed(s.file, s.staged()) {
		if err := unix.Unlink(s.staged()); err != nil && !errors.Is(err, unix.ENOENT) {
			errs = append(errs, &os.PathError{Op: "remove", Path: s.staged(), Err: err})
		}
	}
	errs = append(errs, failpoint.Hit("cleanup.mid"))
	if s.file != nil {
		errs = append(errs, s.file.Close())
	}
	if s.tree != nil {
		errs = append(errs, os.RemoveAll(s.treePath()), s.tree.Close())
	}
	s.file, s.tree = nil, nil
	return errors.Join(errs...)
}

// letGo gives the locks back when everything has its final name, so that others need not wait for the end of
// this process; what has not stays locked, and nobody sweeps it.
func (s *staging) letGo() {
	hidden := s.staged()
	if s.tree != nil {
		hidden = s.treePath()
	}
	if _, err := os.Lstat(hidden); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	for _, f := range []*os.File{s.file, s.tree} {
		if f != nil {
			_ = f.Close() // it is synced, or known not to be
		}
	}
	s.file, s.tree = nil, nil
}

// sweep removes what jobs that died left in the directory of a table, or in the nearest that exists.
func sweep(path string) {
	if anchor, _, err := anchorOf(path); err == nil {
		sweepDir(anchor)
	}
}

// sweepForWriting removes that and what was left in the directories above: a job makes a tree in the nearest
// that exists, and others exist by now. A read, of which there are many, does not look so far.
func sweepForWriting(path string) {
	dir, _, err := anchorOf(path)
	if err != nil {
		return
	}
	for above := filepath.Dir(dir); above != dir; dir, above = above, filepath.Dir(above) {
		sweepDir(dir)
	}
	sweepDir(dir)
}

// sweepDir removes what jobs that died left in a directory: files and trees whose lock is free. What cannot be
// removed, as in a directory that is read-only, stays for another time: it is invisible.
func sweepDir(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	entries, err := d.ReadDir(-1) // not sorted
	_ = d.Close()
	if err != nil {
		return
	}
	for _, e := range entries {
		if !ours(e) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		if mine, _ := lock(f); mine && failpoint.Hit("recover.act") == nil {
			_ = os.RemoveAll(path)
		}
		_ = f.Close()
	}
}

// ours reports whether a name is exactly one that a job gives, and the thing of the kind that it makes.
func ours(e fs.DirEntry) bool {
	job, ok := strings.CutPrefix(e.Name(), mark)
	if !ok {
		return false
	}
	if cut, ok := strings.CutSuffix(job, fileSuffix); ok && e.Type().IsRegular() {
		job = cut
	} else if cut, ok := strings.CutSuffix(job, treeSuffix); ok && e.IsDir() {
		job = cut
	} else {
		return false
	}
	id, err := hex.DecodeString(job)
	return err == nil && len(id) == len(connector.JobID{}) && job == strings.ToLower(job)
}
