package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/internal/failpoint"
)

// Limits of a COMMIT that waits for readers, and of the look into a file after one that failed.
const (
	commitWait = 30 * time.Second
	lookWait   = 5 * time.Second
)

// errCommitWait ends the wait for readers.
var errCommitWait = errors.New("waited too long")

// Extended codes that say how far a COMMIT came, and what failed.
const (
	ioRead      = codeIOErr | 1<<8
	ioShortRead = codeIOErr | 2<<8
	ioWrite     = codeIOErr | 3<<8
	ioFsync     = codeIOErr | 4<<8
	ioDirFsync  = codeIOErr | 5<<8
	ioTruncate  = codeIOErr | 6<<8
	ioUnlock    = codeIOErr | 8<<8
	ioRdLock    = codeIOErr | 9<<8
	ioDelete    = codeIOErr | 10<<8
	ioNoMem     = codeIOErr | 12<<8
	ioCheckLock = codeIOErr | 14<<8
	ioLock      = codeIOErr | 15<<8
	ioShmOpen   = codeIOErr | 18<<8
	ioShmSize   = codeIOErr | 19<<8
	ioShmLock   = codeIOErr | 20<<8
	ioShmMap    = codeIOErr | 21<<8
)

// evidence is what tells, after a COMMIT that failed, whether the file has what it was to commit. It is
// taken while the write lock is held, so that no other writer can come between. Contents prove nothing:
// rows that look like ours may have been there before, or be a rival's.
type evidence struct {
	files    *connector.Files
	identity string // of the file
	wal      bool
	// counter is the change counter of a rollback-journal file. No commit leaves it as it is.
	counter uint32
	// schema is the schema's version, table the name of the table made, which was not there.
	schema int64
	table  string
	// replaces says that a table was dropped and made again.
	replaces bool
	// witness, of a WAL file, is another connection, and version its data_version: it says whether
	// anybody committed since.
	witness *Conn
	version int64
}

// take notes what c's transaction begins with.
func (e *evidence) take(c *Conn, table string) (err error) {
	e.files, e.identity, e.table = c.files, Key(c.Path), table
	mode, err := c.Text("PRAGMA main.journal_mode")
	if err != nil {
		return err
	}
	if e.wal = mode == "wal"; e.wal {
		e.schema, err = c.Int("PRAGMA main.schema_version")
		return err
	}
	e.counter, err = c.changeCounter()
	return err
}

// watch opens the witness of a WAL file, while the write lock is still held.
func (e *evidence) watch(ctx context.Context, path string) (err error) {
	if !e.wal || e.witness != nil {
		return nil
	}
	if e.witness, err = openWriter(ctx, e.files, path, Write, false); err != nil {
		return err
	}
	if err = touch(e.witness); err == nil {
		e.version, err = e.witness.Int("PRAGMA main.data_version")
	}
	return err
}

// close ends the witness.
func (e *evidence) close() {
	if e.witness != nil {
		_ = e.witness.Close() // it has nothing to lose
		e.witness = nil
	}
}

// same reports whether the path still leads to the file.
func (e *evidence) same(c *Conn) bool { return !c.Moved() && Key(c.Path) == e.identity }

// movedError says that the file of a path is no longer the one that was written.
type movedError struct{ path, what string }

// Error says what became of the rows.
func (e *movedError) Error() string {
	return "database " + e.path + ": the file was removed or replaced while " + e.what
}

// commit ends the open transaction of c, whose evidence is e. Readers of a rollback-journal file make it
// wait: until ctx ends, and not for ever, as new readers wait meanwhile. Success is reported only when it
// is certain, and failure too; c is the caller's to close.
func (s *Store) commit(ctx context.Context, c *Conn, e *evidence) (connector.Outcome, error) {
	if !c.InTransaction() {
		return connector.NotDone, errors.New("the transaction ended by itself; nothing was stored")
	}
	if err := e.watch(ctx, s.Path); err != nil {
		return connector.NotDone, err
	}
	limit := commitWait
	if s.CommitWait > 0 {
		limit = s.CommitWait
	}
	wait, cancel := context.WithTimeoutCause(ctx, limit, errCommitWait)
	defer cancel()
	err := retryBusy(wait, s.Path, func() error {
		if !e.same(c) {
			return &movedError{s.Path, "it was written; nothing was stored"}
		}
		if err := c.Exec("COMMIT"); err != nil {
			return err
		}
		return failpoint.Hit("publish.sent")
	})
	switch {
	case err == nil && !e.same(c):
		return connector.NotDone, &movedError{s.Path, "the rows were committed; they went into the old file, and the one that is there now has none of them"}
	case err == nil:
		return connector.Done, nil
	case errors.Is(err, errCommitWait):
		return connector.NotDone, fmt.Errorf("the rows could not be committed within %s, nothing was stored: %w", limit, err)
	case c.InTransaction(): // COMMIT did nothing
		return connector.NotDone, err
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), lookWait)
	defer stop()
	out, reason := e.judge(ctx, c, err)
	if out == connector.Unknown {
		return out, fmt.Errorf("%w; %w", err, reason)
	}
	if out == connector.Done {
		return out, nil
	}
	return out, err
}

// judge decides what became of a COMMIT of c that failed with cause and took its transaction along.
func (e *evidence) judge(ctx context.Context, c *Conn, cause error) (connector.Outcome, error) {
	if !e.same(c) {
		return connector.Unknown, &movedError{c.Path, "the rows were committed"}
	}
	if e.wal {
		return e.judgeWAL(ctx, c)
	}
	return e.judgeJournal(ctx, c, cause)
}

// judgeJournal looks into a rollback-journal file through a new connection, which makes SQLite roll back
// what a journal that is left still holds. The commit is the moment when the journal goes.
func (e *evidence) judgeJournal(ctx context.Context, c *Conn, cause error) (connector.Outcome, error) {
	code := 0
	var own *Error
	if errors.As(cause, &own) {
		code = own.Code
	}
	counter, err := e.look(ctx, c.Path)
	switch {
	case err == nil && counter == e.counter:
		return connector.NotDone, nil
	case err == nil && code == ioDirFsync:
		// SQLite reports this only of a journal that it has removed. That the removal is on disk is left.
		if err := syncDir(filepath.Dir(canonical(c.Path))); err != nil {
			return connector.Unknown, fmt.Errorf("the rows are in the file, but whether they survive a loss of power cannot be told: %w", err)
		}
		return connector.Done, nil
	case (err == nil || isLocked(err)) && beforeCommit(code):
		// The journal was still there: whoever used the file since has rolled back first.
		return connector.NotDone, nil
	case err != nil:
		return connector.Unknown, fmt.Errorf("whether the rows were committed cannot be told now: %w", err)
	}
	return connector.Unknown, errors.New("the file was written since, by this commit or by another process")
}

func isLocked(err error) bool {
	var l *LockedError
	return errors.As(err, &l) || isBusy(err)
}

// beforeCommit reports whether an error of COMMIT can only come before the journal is removed.
func beforeCommit(code int) bool {
	switch code {
	case ioRead, ioShortRead, ioWrite, ioFsync, ioTruncate, ioNoMem:
		return true
	}
	return code&0xff == codeFull || code&0xff == codeNoMem
}

// look returns the change counter of a file that has been rolled back.
func (e *evidence) look(ctx context.Context, path string) (counter uint32, err error) {
	c, err := Open(e.files, path, Write)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := retryBusy(ctx, path, func() error { return c.Exec("BEGIN") }); err != nil {
		return 0, err
	}
	if err := retryBusy(ctx, path, func() error { return touch(c) }); err != nil {
		return 0, err
	}
	if !e.same(c) {
		return 0, &movedError{path, "the rows were committed"}
	}
	return c.changeCounter()
}

// judgeWAL: the frames of a commit may lie in the WAL, complete but not shown to readers, and would be
// found when the WAL is next recovered. The next commit overwrites them: the witness makes one that
// changes nothing. When it cannot, the last connection's end removes the WAL.
func (e *evidence) judgeWAL(ctx context.Context, c *Conn) (connector.Outcome, error) {
	w := e.witness
	none, err := e.overwrite(ctx, w, c)
	switch {
	case err == nil && none:
		return connector.NotDone, nil
	case err == nil:
		return connector.Unknown, errors.New("the file was written since, by this commit or by another process")
	case !none:
		return connector.Unknown, fmt.Errorf("whether the rows were committed cannot be told now: %w", err)
	}
	path := w.Path
	e.close()
	if closeErr := c.Close(); closeErr == nil && absent(path+"-wal") && !absent(path) && Key(path) == e.identity {
		return connector.NotDone, nil
	}
	return connector.Unknown, fmt.Errorf("the rows are not in the file now, but may be found in its WAL later: %w", err)
}

// overwrite takes the write lock, reports whether nothing was committed yet, and commits nothing over
// what there may be. c is a connection without a transaction.
func (e *evidence) overwrite(ctx context.Context, w, c *Conn) (none bool, err error) {
	if err := beginImmediate(ctx, w); err != nil {
		return false, err
	}
	defer func() {
		if w.InTransaction() {
			_ = w.Exec("ROLLBACK") // the caller has the first error
		}
	}()
	if !e.same(w) {
		return false, &movedError{w.Path, "the rows were committed"}
	}
	version, err := w.Int("PRAGMA main.data_version")
	if err != nil {
		return false, err
	}
	if version != e.version {
		// Somebody committed. Ours would have been the first change of the schema, and made the table.
		if e.table == "" && !e.replaces {
			return false, nil
		}
		schema, err := w.Int("PRAGMA main.schema_version")
		if err != nil || e.replaces && schema != e.schema {
			return false, err
		}
		if e.table != "" {
			var taken *ExistsError
			if err := Taken(w, e.table); errors.As(err, &taken) || schema > e.schema+1 {
				return false, nil
			} else if err != nil {
				return false, err
			}
		}
	}
	if empty, err := noFrames(c); err != nil || empty {
		return true, err
	}
	user, err := w.Int("PRAGMA main.user_version")
	if err == nil {
		err = w.Exec(fmt.Sprintf("PRAGMA main.user_version = %d", user))
	}
	if err == nil {
		err = w.Exec("COMMIT")
	}
	return true, err
}

// noFrames reports whether the WAL is too short to hold a frame after those of commits that are seen.
func noFrames(c *Conn) (bool, error) {
	const header, frameHeader = 32, 24
	log, err := c.Rows("PRAGMA main.wal_checkpoint(NOOP)") // only tells how long the log is
	if err != nil || len(log) != 1 || len(log[0]) != 3 {
		return false, err
	}
	page, err := c.Int("PRAGMA main.page_size")
	if err != nil {
		return false, err
	}
	seen, _ := log[0][1].(int64)
	st, err := os.Stat(c.Path + "-wal")
	return err == nil && seen >= 0 && st.Size() < header+(seen+1)*(frameHeader+page), nil
}

// syncDir makes the names in a directory durable. A directory is no database file.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
