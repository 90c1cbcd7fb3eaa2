package sqlite

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/internal/failpoint"
)

const (
	scratchMark   = ".sluice-"
	lockSuffix    = ".lock"
	journalSuffix = "-journal"
	scratchName   = "_sluice_scratch" // the scratch file's schema while it is attached
)

// scratchFile is a SQLite file beside the target that only its job knows, and the side file whose lock
// shows that the job lives.
type scratchFile struct {
	path string
	lock *os.File
}

// newScratch takes the lock and names the file; SQLite makes it. The lock comes first, so that a sweeper
// never finds a scratch file of a living job without it.
func newScratch(target string, job connector.JobID) (*scratchFile, error) {
	path := target + scratchMark + job.String()
	lock, err := lockSide(path + lockSuffix)
	if err != nil {
		return nil, fmt.Errorf("make a scratch file beside %s: %w", target, err)
	}
	if failpoint.Mutant("pid-only-liveness") {
		failpoint.SignPID(lock)
	}
	return &scratchFile{path: path, lock: lock}, nil
}

// errNotOurs says that something of the name of a side file is no plain file, so no job made it.
var errNotOurs = errors.New("not a plain file")

// lockSide makes and locks a side file. It is no database: no lock of SQLite's hangs on it.
func lockSide(path string) (*os.File, error) {
	for {
		if !plainOrAbsent(path) {
			return nil, fmt.Errorf("%s: %w", path, errNotOurs)
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, err
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		mine, err1 := f.Stat()
		now, err2 := os.Lstat(path)
		if err1 == nil && err2 == nil && os.SameFile(mine, now) {
			return f, nil
		}
		_ = f.Close() // a sweeper removed it between our open and our lock
	}
}

// plainOrAbsent reports whether there is nothing at path, or a plain file.
func plainOrAbsent(path string) bool {
	st, err := os.Lstat(path)
	return os.IsNotExist(err) || err == nil && st.Mode().IsRegular()
}

// remove removes the scratch file, what SQLite may have put beside it, and then, while it is still held,
// its lock. Directories stay.
func (s *scratchFile) remove() error {
	var errs []error
	for _, suffix := range []string{"", journalSuffix, lockSuffix} {
		if err := unix.Unlink(s.path + suffix); err != nil && !errors.Is(err, unix.ENOENT) {
			errs = append(errs, &os.PathError{Op: "remove", Path: s.path + suffix, Err: err})
		}
		if err := failpoint.Hit("cleanup.mid"); err != nil {
			errs = append(errs, err)
			break
		}
	}
	return errors.Join(append(errs, s.lock.Close())...)
}

// beginScratch makes the scratch file with a table of the target's columns. It needs no journal and no
// sync: nobody reads it unless this process lives.
func (t *Transaction) beginScratch(ctx context.Context, job connector.JobID) (err error) {
	if t.scratch, err = newScratch(t.target.Store.Path, job); err != nil {
		return err
	}
	if err := failpoint.Hit("begin.lock"); err != nil {
		return err
	}
	c, err := t.target.Store.open(Read)
	if err != nil {
		return err
	}
	t.file = Key(t.target.Store.Path)
	var page int64
	err = retryBusy(ctx, c.Path, func() error {
		switch {
		case t.target.Replace != ReplaceNever:
			if err = t.noteOld(c, false); err == nil {
				_, err = CheckReplace(c, t.target.Table, t.target.Replace)
			}
		case t.target.Create != nil:
			err = Taken(c, t.target.Table)
		default:
			err = t.checkInsert(c)
		}
		if err == nil {
			page, err = c.Int("PRAGMA main.page_size")
		}
		if err == nil {
			t.counter, err = c.stableCounter()
		}
		if err == nil && (c.Moved() || Key(c.Path) != t.file) {
			err = &movedError{c.Path, "the job began; nothing was stored"}
		}
		return err
	})
	if err = errors.Join(err, c.Close()); err != nil {
		return err
	}
	if t.conn, err = Open(t.target.Store.files(), t.scratch.path, Create); err != nil {
		return err
	}
	if err := t.conn.Exec(fmt.Sprintf("PRAGMA page_size = %d", page)); err != nil {
		return err
	}
	mode := ""
	err = retryBusy(ctx, t.scratch.path, func() error {
		mode, err = t.conn.Text("PRAGMA journal_mode = OFF")
		return err
	})
	if err == nil && mode != "off" {
		err = fmt.Errorf("the scratch file %s has the journal mode %s", t.scratch.path, mode)
	}
	if err != nil {
		return err
	}
	for _, p := range []string{"PRAGMA synchronous = OFF", "PRAGMA locking_mode = EXCLUSIVE", "BEGIN IMMEDIATE"} {
		// Nobody else knows the file, but programs look into what is new in a directory.
		if err := retryBusy(ctx, t.scratch.path, func() error { return t.conn.Exec(p) }); err != nil {
			return err
		}
	}
	if t.target.Create != nil {
		return t.createTable(t.conn)
	}
	return t.conn.Exec("CREATE TABLE main." + Quote(t.target.Table) + " (" + t.scratchColumns() + ")")
}

// scratchColumns declares the columns written as the target does, so that their affinities are the same.
func (t *Transaction) scratchColumns() string {
	lines := make([]string, len(t.target.Columns))
	for i, col := range t.target.Columns {
		had, _ := t.info.column(col.Name)
		lines[i] = Quote(col.Name) + " " + affinityName(affinityOf(had.Declared))
	}
	return strings.Join(lines, ", ")
}

func affinityName(a affinity) string {
	return [...]string{"BLOB", "TEXT", "NUMERIC", "INTEGER", "REAL"}[a]
}

func (t *Transaction) sealScratch(ctx context.Context) error {
	if err := retryBusy(ctx, t.scratch.path, func() error { return t.conn.Exec("COMMIT") }); err != nil {
		return err
	}
	t.closeConn() // the publishing connection attaches the file
	return nil
}

// publish copies the scratch table into the file in one short transaction.
func (t *Transaction) publish(ctx context.Context) (connector.Outcome, error) {
	fail := func(err error) (connector.Outcome, error) { return connector.NotDone, t.poison(t.busy(err)) }
	err := failpoint.Hit("publish.before")
	if err != nil {
		return fail(err)
	}
	if t.release, err = queue(ctx, t.target.Store.Env, t.target.Store.Path); err != nil {
		return fail(err)
	}
	wait, stop := t.within(ctx)
	defer stop()
	if t.conn, err = openWriter(wait, t.target.Store.files(), t.target.Store.Path, Write, false); err != nil {
		return fail(err)
	}
	for _, sql := range []string{"ATTACH " + quoteText(t.scratch.path) + " AS " + scratchName,
		"PRAGMA " + scratchName + ".journal_mode = OFF", "PRAGMA " + scratchName + ".synchronous = OFF"} {
		if err := retryBusy(wait, t.target.Store.Path, func() error { return t.conn.Exec(sql) }); err != nil {
			return fail(err)
		}
	}
	if err := t.lock(wait, t.conn); err != nil {
		return fail(err)
	}
	if t.conn.Moved() || Key(t.target.Store.Path) != t.file {
		return fail(&movedError{t.target.Store.Path, "the job ran; nothing was stored"})
	}
	if err := t.take(true); err != nil {
		return fail(err)
	}
	if t.target.ReadsTarget && t.before.counter != t.counter {
		return fail(fmt.Errorf("%s was written by another session while the job read table %s of it; nothing was stored, run the statement again", t.target.Store.Path, t.target.Table))
	}
	if err := t.prepareTarget(context.WithoutCancel(ctx), t.conn); err != nil {
		return fail(err)
	}
	if err := t.countRows(); err != nil {
		return fail(err)
	}
	from := " FROM " + scratchName + "." + Quote(t.target.Table)
	copyRows, conflict := "INSERT INTO main."+Quote(t.target.Table)+" SELECT *"+from, ""
	if t.target.Create == nil {
		names := make([]string, len(t.target.Columns))
		for i, c := range t.target.Columns {
			names[i] = c.Name
		}
		if conflict, err = t.onConflict(); err != nil {
			return fail(err)
		}
		list := quoteAll(names)
		copyRows = "INSERT INTO main." + Quote(t.target.Table) + " (" + list + ") SELECT " + list + from
	}
	if err := t.conn.whole(func() error { return t.conn.Exec(copyRows + conflict) }); err != nil {
		var e *Error
		if errors.As(err, &e) && e.Primary() == codeConstraint {
			err = t.copyError(e, copyRows, conflict)
		}
		return fail(err)
	}
	if n := t.conn.Changes(); n != t.stored && !t.mayDrop() {
		return fail(t.lostRows(t.stored-n, t.stored, false))
	}
	if err := t.checkStored(); err != nil {
		return fail(err)
	}
	return t.commit(ctx)
}

func quoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// Leftovers returns the scratch files beside a database file, and the jobs that made them.
func Leftovers(target string) (map[connector.JobID]string, error) {
	entries, err := os.ReadDir(filepath.Dir(target))
	if err != nil {
		return nil, err
	}
	found := map[connector.JobID]string{}
	prefix := filepath.Base(target) + scratchMark
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), prefix)
		rest = strings.TrimSuffix(strings.TrimSuffix(rest, lockSuffix), journalSuffix)
		var job connector.JobID
		if !ok || len(rest) != hex.EncodedLen(len(job)) || strings.ToLower(rest) != rest {
			continue
		}
		path := target + scratchMark + rest
		if job.UnmarshalText([]byte(rest)) == nil && plainOrAbsent(path) && plainOrAbsent(path+lockSuffix) && plainOrAbsent(path+journalSuffix) {
			found[job] = path
		}
	}
	return found, nil
}

// Sweep removes the scratch files beside a database file whose jobs are dead (their lock is free) and
// whom keep does not keep. It may be killed anywhere and run again.
func Sweep(ctx context.Context, target string, keep func(connector.JobID) bool) (removed, kept []string, err error) {
	if err := failpoint.Hit("recover.scan"); err != nil {
		return nil, nil, err
	}
	found, err := Leftovers(target)
	if err != nil {
		return nil, nil, err
	}
	var errs []error
	for job, path := range found {
		if ctx.Err() != nil {
			errs = append(errs, context.Cause(ctx))
			break
		}
		if err := failpoint.Hit("recover.decide"); err != nil {
			errs = append(errs, err)
			break
		}
		if keep(job) {
			kept = append(kept, path)
			continue
		}
		lock, err := lockSide(path + lockSuffix)
		if failpoint.Mutant("pid-only-liveness") && err == nil {
			err = failpoint.CheckPID(path + lockSuffix)
		}
		if err != nil { // held: the job lives
			kept = append(kept, path)
			continue
		}
		err = failpoint.Hit("recover.act")
		if err == nil {
			err = (&scratchFile{path: path, lock: lock}).remove()
		} else {
			err = errors.Join(err, lock.Close())
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		removed = append(removed, path)
	}
	sort.Strings(removed)
	sort.Strings(kept)
	return removed, kept, errors.Join(errs...)
}
