package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/sluice-sql/sluice/connector"
)

// Key names a database file by its identity, or by its path while it does not exist.
func Key(path string) string {
	if st, err := os.Stat(path); err == nil {
		if sys, ok := st.Sys().(*syscall.Stat_t); ok {
			return fmt.Sprintf("sqlite:%d:%d", sys.Dev, sys.Ino)
		}
	}
	return "sqlite:" + canonical(path)
}

// canonical resolves the links in a path whose last part need not exist.
func canonical(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// queue waits for the turn to write a file inside this process: by its path, which a file to be made has
// already, and then by its identity, which links to it share.
func queue(ctx context.Context, env *connector.Env, path string) (release func(), err error) {
	if env == nil || env.Files == nil {
		return func() {}, nil
	}
	defer connector.WaitsOf(ctx).Begin(path, func() string { return " by another statement of this process" })()
	first, err := env.Files.Lock(ctx, "sqlite:"+canonical(path))
	if err != nil {
		return nil, &LockedError{path, " by another statement of this process", context.Cause(ctx)}
	}
	key := Key(path)
	if key == "sqlite:"+canonical(path) {
		return first, nil
	}
	second, err := env.Files.Lock(ctx, key)
	if err != nil {
		first()
		return nil, &LockedError{path, " by another statement of this process", context.Cause(ctx)}
	}
	return func() { second(); first() }, nil
}

// openWriter opens a file to write it, with durable commits: EXTRA also syncs the directory once the
// journal is gone, and means FULL in a WAL file.
func openWriter(ctx context.Context, files *connector.Files, path string, mode Mode, fresh bool) (*Conn, error) {
	if fresh {
		if err := blockedJournal(path); err != nil {
			return nil, err
		}
	}
	c, err := Open(files, path, mode)
	if err != nil {
		return nil, err
	}
	pragmas := []string{"PRAGMA synchronous = EXTRA", "PRAGMA cache_size = -8000"}
	if fresh {
		pragmas = append(pragmas, "PRAGMA page_size = 8192")
	}
	for _, p := range pragmas {
		// SQLite reads the schema first, for which it needs a lock.
		if err := retryBusy(ctx, path, func() error { return c.Exec(p) }); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

// beginImmediate takes a file's write lock, waiting for it until ctx ends.
func beginImmediate(ctx context.Context, c *Conn) error {
	return retryBusy(ctx, c.Path, func() error { return c.Exec("BEGIN IMMEDIATE") })
}

// Probe returns the error of a file that is no SQLite database. One that is locked, cannot be opened, or is not
// there is left for its first use.
func (s *Store) Probe() error {
	if absent(s.Path) {
		return nil
	}
	c, err := s.open(Read)
	if err == nil {
		_, err = c.Int("PRAGMA main.schema_version")
		err = errors.Join(err, c.Close())
	}
	if primary(err) == codeNotADB {
		return err
	}
	return nil
}

// absent reports whether there is no file at path.
func absent(path string) bool {
	_, err := os.Stat(path)
	return os.IsNotExist(err)
}

// removeEmpty removes a database file that is still empty, holding its exclusive lock while it does, and
// leaves any other alone. Whoever waits for the lock finds the file moved.
func removeEmpty(files *connector.Files, path string) error {
	st, err := os.Stat(path)
	if err != nil || st.Size() != 0 {
		return nil
	}
	c, err := Open(files, path, Write)
	if err != nil {
		return err
	}
	err = c.Exec("BEGIN EXCLUSIVE")
	if err == nil {
		if st, statErr := os.Stat(path); statErr == nil && st.Size() == 0 && !c.Moved() {
			err = os.Remove(path)
		}
	}
	if isBusy(err) {
		err = nil // somebody else writes it now: it is theirs
	}
	return errors.Join(err, c.Close())
}

// blockedJournal returns the error of a file to be made whose journal could not be: SQLite would make the
// file first.
func blockedJournal(path string) error {
	if st, err := os.Stat(canonical(path) + journalSuffix); err == nil && st.IsDir() {
		return &Error{Code: codeCantOpen, Path: path}
	}
	return nil
}

// Writable says why a file could not be written, as far as permissions tell, nil when it could.
func Writable(path string) error {
	const write = 2
	dir := filepath.Dir(canonical(path)) // SQLite follows links, and keeps its journal where they lead
	switch {
	case absent(path):
		if err := blockedJournal(path); err != nil || syscall.Access(dir, write) != nil {
			return &Error{Code: codeCantOpen, Path: path}
		}
	case syscall.Access(path, write) != nil, syscall.Access(dir, write) != nil:
		return &Error{Code: codeReadOnly, Path: path}
	}
	return nil
}
