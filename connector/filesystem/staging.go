package filesystem

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sluice-sql/sluice/connector"
)

// The names of what a job has beside a table, and behind the mark and the job's id: the lock, which is made
// first and removed last; the file, while the table's directory exists; a tree of directories with the file
// in it, while it does not.
const (
	mark       = ".sluice-"
	lockSuffix = ".lock"
	fileSuffix = ".inprogress"
	treeSuffix = ".new"
)

// staging is the invisible part of an INSERT.
type staging struct {
	// anchor is the nearest directory to the table's that exists, itself when it does. Everything is there.
	anchor string
	// missing are the directories between anchor and the table's, itself last.
	missing []string
	name    string // of the file in the table's directory, in the end
	prefix  string // anchor, mark and job
	lock    *os.File
	file    *os.File
}

// stage takes the lock of a job and makes its file.
func stage(path string, job connector.JobID, extension string) (_ *staging, err error) {
	s := &staging{name: "part-" + job.String() + "-0" + extension}
	if s.anchor, s.missing, err = anchorOf(path); err != nil {
		return nil, err
	}
	sweepDir(s.anchor)
	s.prefix = filepath.Join(s.anchor, mark+job.String())
	if s.lock, err = lockFile(s.prefix + lockSuffix); err != nil {
		return nil, err
	}
	if len(s.missing) > 0 {
		err = os.MkdirAll(filepath.Dir(s.staged()), 0o777)
	}
	if err == nil {
		s.file, err = os.OpenFile(s.staged(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	}
	if err != nil {
		return nil, errors.Join(err, s.remove())
	}
	return s, nil
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

// tree is the directory that stands for the first of the missing ones.
func (s *staging) tree() string { return s.prefix + treeSuffix }

// staged is where the file is before the commit.
func (s *staging) staged() string {
	if len(s.missing) == 0 {
		return s.prefix + fileSuffix
	}
	return filepath.Join(append(append([]string{s.tree()}, s.missing[1:]...), s.name)...)
}

// target is where the file is after the commit.
func (s *staging) target() string {
	return filepath.Join(append(append([]string{s.anchor}, s.missing...), s.name)...)
}

// seal makes the file durable, or does without it when it is empty.
func (s *staging) seal(empty bool) error {
	if empty {
		err := errors.Join(s.file.Close(), os.Remove(s.staged()))
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
		if err := syncDir(dir); err != nil || dir == s.tree() {
			return err
		}
	}
}

// publish gives the file its name, or the tree, and makes that durable.
func (s *staging) publish() (connector.Outcome, error) {
	if len(s.missing) > 0 {
		to := filepath.Join(s.anchor, s.missing[0])
		err := unix.Renameat2(unix.AT_FDCWD, s.tree(), unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
		switch {
		case err == nil:
			return durable(s.anchor)
		case errors.Is(err, unix.EEXIST), errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS):
			// A rival has made it meanwhile, or the file system has no such rename: the directories are made
			// one by one, and the file comes in as into any directory.
			if out, err := s.makeMissing(); out != connector.Done {
				return out, err
			}
		default:
			return connector.NotDone, &os.LinkError{Op: "rename", Old: s.tree(), New: to, Err: err}
		}
	}
	if s.file == nil {
		return connector.Done, nil
	}
	to := s.target()
	if err := os.Rename(s.staged(), to); err != nil && !s.renamed(to) {
		if _, there := os.Lstat(s.staged()); there != nil && !errors.Is(there, fs.ErrNotExist) {
			return connector.Unknown, err
		}
		return connector.NotDone, err
	}
	return durable(filepath.Dir(to))
}

// renamed reports whether the file is at its target although the rename said otherwise.
func (s *staging) renamed(to string) bool {
	mine, err1 := s.file.Stat()
	there, err2 := os.Lstat(to)
	return err1 == nil && err2 == nil && os.SameFile(mine, there)
}

func (s *staging) makeMissing() (connector.Outcome, error) {
	dir := s.anchor
	for _, name := range s.missing {
		parent := dir
		dir = filepath.Join(dir, name)
		if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return connector.NotDone, err
		}
		if err := syncDir(parent); err != nil {
			return connector.NotDone, err
		}
	}
	return connector.Done, nil
}

// durable syncs a directory that something was renamed in.
func durable(dir string) (connector.Outcome, error) {
	if err := syncDir(dir); err != nil {
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

// remove removes what is left of the staging, and the lock last.
func (s *staging) remove() error {
	var err error
	if s.file != nil {
		err = s.file.Close()
		s.file = nil
	}
	if s.lock != nil {
		err = errors.Join(err, removeAll(s.prefix), s.lock.Close())
		s.lock = nil
	}
	return err
}

// removeAll removes what a job has beside a table; whoever calls it holds the job's lock.
func removeAll(prefix string) error {
	var errs []error
	for _, suffix := range []string{fileSuffix, lockSuffix} {
		if suffix == lockSuffix {
			errs = append(errs, os.RemoveAll(prefix+treeSuffix))
		}
		if err := unix.Unlink(prefix + suffix); err != nil && !errors.Is(err, unix.ENOENT) {
			errs = append(errs, &os.PathError{Op: "remove", Path: prefix + suffix, Err: err})
		}
	}
	return errors.Join(errs...)
}

// lockFile makes and locks a lock file. It fails when somebody else holds it.
func lockFile(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, err
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			return nil, errors.Join(&os.PathError{Op: "lock", Path: path, Err: err}, f.Close())
		}
		mine, err1 := f.Stat()
		now, err2 := os.Lstat(path)
		if err1 == nil && err2 == nil && os.SameFile(mine, now) {
			return f, nil
		}
		_ = f.Close() // a sweeper removed it between our open and our lock
	}
}

// sweep removes what jobs that died left in the directory of a table, or in the nearest that exists.
func sweep(path string) {
	if anchor, _, err := anchorOf(path); err == nil {
		sweepDir(anchor)
	}
}

// sweepDir removes what jobs that died left in a directory: that of every job whose lock is free. What cannot
// be removed, as in a directory that is read-only, stays for another time: it is invisible.
func sweepDir(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		job, ok := strings.CutPrefix(e.Name(), mark)
		if !ok {
			continue
		}
		job, ok = strings.CutSuffix(job, lockSuffix)
		if !ok || !e.Type().IsRegular() || len(job) != 32 {
			continue
		}
		if _, err := hex.DecodeString(job); err != nil {
			continue
		}
		path := filepath.Join(dir, e.Name())
		f, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			mine, err1 := f.Stat()
			now, err2 := os.Lstat(path)
			if err1 == nil && err2 == nil && os.SameFile(mine, now) {
				_ = removeAll(filepath.Join(dir, mark+job))
			}
		}
		_ = f.Close()
	}
}
