package filesystem

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/sluice-sql/sluice/connector"
)

// opened is an open file that is none of a database's.
type opened struct {
	*os.File
	release func()
}

// Close closes the file, and only then lets SQLite have it.
func (o *opened) Close() error {
	err := o.File.Close()
	o.release()
	return err
}

// databaseError says that a file is a database, or belongs to one.
type databaseError struct{ path, what string }

// Error says how such a file is read.
func (e *databaseError) Error() string {
	return fmt.Sprintf("%s %s, which only SQLite may open: read it through a catalog of type 'jdbc'", e.path, e.what)
}

// pickHelp adds to an error of a database among the files of a directory how the others are read.
func pickHelp(err error, dir, extension string, f file) error {
	var foreign *databaseError
	if f.path == dir || !errors.As(err, &foreign) {
		return err
	}
	return fmt.Errorf("%w; '%s' = '.*%s' leaves it out", err, keyPattern, regexp.QuoteMeta(extension))
}

// openFile opens a file for reading that SQLite does not have open: closing it would drop the locks that SQLite
// has on it. So the file is first held without being opened, which leaves locks alone, and then asked after by
// its identity; only what is no database is opened, as the very file that was asked after.
func openFile(path string, files *connector.Files) (_ *opened, err error) {
	name, let, err := hold(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer let()
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) { // no /proc
		name = path
		info, err = os.Stat(name)
	}
	if err != nil {
		return nil, err
	}
	if of := sideOf(path); of != "" {
		return nil, &databaseError{path, "belongs to the database " + of}
	}
	release, database := files.Plain(info)
	if database != "" {
		return nil, &databaseError{path, "is of the SQLite database " + database}
	}
	f, err := os.Open(name)
	if err != nil {
		release()
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.Unwrap(err)}
	}
	o := &opened{f, release}
	if what := magic(f); what != "" {
		return nil, errors.Join(&databaseError{path, what}, o.Close())
	}
	return o, nil
}

// sideOf returns the database beside which SQLite keeps a file of this name, "" when there is none.
func sideOf(path string) string {
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if of, ok := strings.CutSuffix(path, suffix); ok && filepath.Base(of) != "" {
			if st, err := os.Stat(of); err == nil && st.Mode().IsRegular() {
				return of
			}
		}
	}
	return ""
}

// magic says of what kind of SQLite's files one is by its first bytes.
func magic(f *os.File) string {
	var head [16]byte
	n, _ := f.ReadAt(head[:], 0) // an error comes again when the file is read
	switch b := head[:n]; {
	case string(b) == "SQLite format 3\x00":
		return "is a SQLite database"
	case bytes.HasPrefix(b, []byte{0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7}):
		return "is the journal of a SQLite database"
	case bytes.HasPrefix(b, []byte{0x37, 0x7f, 0x06, 0x82}), bytes.HasPrefix(b, []byte{0x37, 0x7f, 0x06, 0x83}):
		return "is the log of a SQLite database"
	}
	return ""
}
