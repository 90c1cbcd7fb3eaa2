package connector

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Of a database that SQLite has open in this process nothing else may open a file, not even to read it: when
// any handle of a file is closed, the system drops all locks that the process has on that file, those of
// SQLite too, and another process may write into the middle of a transaction. So both sides say here what they
// open, before they do: SQLite its databases, and all others the files whose name a user gave.

// sideSuffixes are the names that SQLite gives files beside a database.
var sideSuffixes = [...]string{"", "-wal", "-shm", "-journal"}

// Database is a database that SQLite opens.
type Database struct {
	files *Files
	path  string      // links resolved, where the file is there
	info  fs.FileInfo // of the file that was opened; nil when that is not known
}

// Database notes that SQLite is about to open the database at path. It is an error while something else of
// this process has one of its files open.
func (f *Files) Database(path string) (*Database, error) {
	if f == nil {
		return nil, nil
	}
	d := &Database{files: f, path: resolved(path)}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, info := range f.plain {
		if d.has(info) {
			return nil, fmt.Errorf("database %s: this process reads it as a plain file at the moment, and SQLite's locks on it would be lost with the end of that", path)
		}
	}
	if f.databases == nil {
		f.databases = map[*Database]struct{}{}
	}
	f.databases[d] = struct{}{}
	return d, nil
}

// Opened notes which file it is, so that it stays known when it is renamed.
func (d *Database) Opened() {
	if d == nil {
		return
	}
	d.files.mu.Lock()
	defer d.files.mu.Unlock()
	d.info, _ = os.Stat(d.path)
}

// Close notes that the handle is closed.
func (d *Database) Close() {
	if d == nil {
		return
	}
	d.files.mu.Lock()
	defer d.files.mu.Unlock()
	delete(d.files.databases, d)
}

// has reports whether a file is one of the database's.
func (d *Database) has(info fs.FileInfo) bool {
	if d.info != nil && os.SameFile(d.info, info) {
		return true
	}
	for _, suffix := range sideSuffixes {
		if st, err := os.Stat(d.path + suffix); err == nil && os.SameFile(st, info) {
			return true
		}
	}
	return false
}

// Plain notes that a file is about to be opened by something that is not SQLite, until release is called. When
// the file is one of a database that SQLite has open, the path of that is returned instead.
func (f *Files) Plain(info fs.FileInfo) (release func(), database string) {
	if f == nil {
		return func() {}, ""
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for d := range f.databases {
		if d.has(info) {
			return nil, d.path
		}
	}
	if f.plain == nil {
		f.plain = map[int]fs.FileInfo{}
	}
	f.claims++
	id := f.claims
	f.plain[id] = info
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.plain, id)
	}, ""
}

// resolved resolves the links in a path: SQLite keeps its files beside the one that a link leads to.
func resolved(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		path = p
	} else if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	if p, err := filepath.Abs(path); err == nil {
		path = p
	}
	return path
}
