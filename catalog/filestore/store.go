package filestore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
)

const (
	storeSuffix  = ".yaml"
	storeMaxFile = 1 << 20
	// storeTemp begins the directories that hold a file while it is written, before the digits of
	// os.MkdirTemp. Flink lists every file as a catalog, and no directory.
	storeTemp = ".sluice-catalog-"
	// storeWait is how long a change waits for that of another process.
	storeWait = 10 * time.Second
)

// Error is a fault of a file of a catalog store. Line is 0 when it is the whole file's.
type Error struct {
	File string
	Line int
	Msg  string
	Err  error // the cause, where there is one
}

// Error names the file and the line.
func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("catalog store file %s, line %d: %s", e.File, e.Line, e.Msg)
	}
	return fmt.Sprintf("catalog store %s: %s", e.File, e.Msg)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Store is the catalog store of kind file.
type Store struct{ dir string }

// New returns the store of a directory: a file <catalog>.yaml for each catalog, as Flink's file
// catalog store has them (yaml.go), so that either program reads the other's. A catalog's comment, which
// Flink does not keep, stands in a comment of the file. Characters of a name that a file's name should not
// have are written %XX.
//
// Passwords are in those files in clear, as in Flink's. The directory is made, with mode 0700, by the first
// catalog that is kept, and the files have mode 0600; what everybody may write is not read.
//
// A file is written aside, synced and put in place by one rename, under a lock (flock) of the directory.
// Processes that use the store at once see it before or after a change, and two changes follow each other.
func New(dir string) *Store { return &Store{dir} }

// Where names the directory.
func (s *Store) Where() string { return "Catalogs are kept in " + s.dir + "." }

func (s *Store) fail(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	cause := err
	switch {
	case errors.As(err, &path):
		cause = path.Err
	case errors.As(err, &link):
		cause = link.Err
	}
	return &Error{File: s.dir, Msg: cause.Error(), Err: err}
}

// lock makes the directory if need be, and takes its lock.
func (s *Store) lock(ctx context.Context) (release func() error, err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, s.fail(err)
	}
	d, err := os.Open(s.dir)
	if err != nil {
		return nil, s.fail(err)
	}
	wait, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	for {
		err = unix.Flock(int(d.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return d.Close, nil
		case !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR):
			return nil, errors.Join(s.fail(err), d.Close())
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-wait.Done():
			if ctx.Err() != nil {
				return nil, errors.Join(context.Cause(ctx), d.Close())
			}
			return nil, errors.Join(s.fail(fmt.Errorf("another process has had it locked for %s", storeWait)), d.Close())
		}
	}
}

// sweep removes what writers that died have left; the lock says that they are dead.
func (s *Store) sweep() {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return // whoever lists is told
	}
	for _, e := range entries {
		if e.IsDir() && isTemp(e.Name()) {
			_ = os.RemoveAll(filepath.Join(s.dir, e.Name())) // the next one tries again
		}
	}
}

// isTemp reports whether a name is exactly one that os.MkdirTemp makes of storeTemp.
func isTemp(name string) bool {
	digits, ok := strings.CutPrefix(name, storeTemp)
	if !ok || digits == "" || len(digits) > 10 {
		return false
	}
	_, err := strconv.ParseUint(digits, 10, 32)
	return err == nil
}

// files returns the file of each catalog that is kept.
func (s *Store) files(ctx context.Context) (map[string]string, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	st, err := os.Stat(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && !st.IsDir() {
		err = errors.New("it is not a directory")
	}
	if err == nil && st.Mode().Perm()&0o002 != 0 {
		err = errors.New("everybody may write the directory, so its catalogs are not used; chmod o-w makes it yours")
	}
	var entries []os.DirEntry
	if err == nil {
		entries, err = os.ReadDir(s.dir)
	}
	if err != nil {
		return nil, s.fail(err)
	}
	found := map[string]string{}
	for _, e := range entries {
		stem, ok := strings.CutSuffix(e.Name(), storeSuffix)
		if !ok || stem == "" || e.IsDir() {
			continue
		}
		name := decodeName(stem)
		if other, twice := found[name]; twice {
			return nil, s.fail(fmt.Errorf("the files %s and %s would both be the catalog %s; remove one", other, e.Name(), connector.QuoteName(name)))
		}
		found[name] = e.Name()
	}
	return found, nil
}

// List returns the names, sorted.
func (s *Store) List(ctx context.Context) ([]string, error) {
	files, err := s.files(ctx)
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(files)), nil
}

// Get reads a catalog's file.
func (s *Store) Get(ctx context.Context, name string) (catalog.Descriptor, bool, error) {
	files, err := s.files(ctx)
	if err != nil {
		return catalog.Descriptor{}, false, err
	}
	return s.get(files, name)
}

func (s *Store) get(files map[string]string, name string) (catalog.Descriptor, bool, error) {
	file, ok := files[name]
	if !ok {
		return catalog.Descriptor{}, false, nil
	}
	path := filepath.Join(s.dir, file)
	text, err := readStored(path)
	switch {
	case errors.Is(err, fs.ErrNotExist): // removed meanwhile
		return catalog.Descriptor{}, false, nil
	case err != nil:
		return catalog.Descriptor{}, false, &Error{File: path, Msg: err.Error(), Err: err}
	}
	properties, comment, err := parseProperties(path, text)
	return catalog.Descriptor{Ref: catalog.Ref{Name: name, Properties: properties}, Comment: comment}, err == nil, err
}

// readStored reads a regular file of bounded size.
func readStored(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe would wait for its writer
	if err != nil {
		return "", err
	}
	defer f.Close()
	st, err := f.Stat()
	switch {
	case err != nil:
		return "", err
	case !st.Mode().IsRegular():
		return "", errors.New("it is not a regular file")
	case st.Mode().Perm()&0o002 != 0:
		return "", errors.New("everybody may write the file, so it is not used; chmod o-w makes it yours")
	}
	text, err := io.ReadAll(io.LimitReader(f, storeMaxFile+1))
	if err == nil && len(text) > storeMaxFile {
		err = errors.New("it is longer than 1 MiB")
	}
	return string(text), err
}

// Store writes a new catalog's file.
func (s *Store) Store(ctx context.Context, d catalog.Descriptor) (err error) {
	return s.change(ctx, func(files map[string]string) error {
		if _, taken := files[d.Name]; taken {
			return catalog.ErrCatalogAlreadyExist
		}
		file, err := s.fileName(d.Name)
		if err != nil {
			return err
		}
		return s.write(file, d, false)
	})
}

// Replace writes a catalog's file anew.
func (s *Store) Replace(ctx context.Context, old, next catalog.Descriptor) error {
	return s.change(ctx, func(files map[string]string) error {
		kept, ok, err := s.get(files, old.Name)
		switch {
		case err != nil:
			return err
		case !ok:
			return catalog.ErrCatalogNotExist
		case !kept.Equal(old):
			return catalog.ErrCatalogChanged
		}
		return s.write(files[old.Name], next, true)
	})
}

// Remove removes a catalog's file, whatever is in it.
func (s *Store) Remove(ctx context.Context, name string) error {
	if _, err := os.Stat(s.dir); errors.Is(err, fs.ErrNotExist) {
		return catalog.ErrCatalogNotExist
	}
	return s.change(ctx, func(files map[string]string) error {
		file, ok := files[name]
		if !ok {
			return catalog.ErrCatalogNotExist
		}
		if err := os.Remove(filepath.Join(s.dir, file)); err != nil {
			return s.fail(err)
		}
		return s.sync()
	})
}

// change runs f under the lock.
func (s *Store) change(ctx context.Context, f func(files map[string]string) error) error {
	release, err := s.lock(ctx)
	if err != nil {
		return err
	}
	files, err := s.files(ctx)
	if err == nil {
		s.sweep()
		err = f(files)
	}
	return errors.Join(err, release())
}

// write makes a file aside and puts it in place, over the one that may be there only if that is wanted.
func (s *Store) write(file string, d catalog.Descriptor, over bool) error {
	text, err := printProperties(d)
	if err != nil {
		return &Error{File: filepath.Join(s.dir, file), Msg: err.Error()}
	}
	aside, err := os.MkdirTemp(s.dir, storeTemp)
	if err != nil {
		return s.fail(err)
	}
	defer os.RemoveAll(aside)
	path := filepath.Join(aside, file)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return s.fail(err)
	}
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return s.fail(err)
	}
	to := filepath.Join(s.dir, file)
	if over {
		err = os.Rename(path, to)
	} else if err = renameNew(path, to); errors.Is(err, errors.ErrUnsupported) || errors.Is(err, unix.EINVAL) {
		err = os.Link(path, to) // spares an existing file as well; the directory goes with the first name
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return catalog.ErrCatalogAlreadyExist // a name that this file system does not tell from another
	case err != nil:
		return s.fail(err)
	}
	return s.sync()
}

func (s *Store) sync() error {
	d, err := os.Open(s.dir)
	if err != nil {
		return s.fail(err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return s.fail(err)
	}
	return nil
}

// fileName returns the file of a new catalog.
func (s *Store) fileName(name string) (string, error) {
	file := encodeName(name)
	switch {
	case name == "":
		return "", errors.New("a catalog needs a name")
	case !utf8.ValidString(name):
		return "", &Error{File: s.dir, Msg: fmt.Sprintf("the name %q is not valid UTF-8", name)}
	case len(file) > 200:
		return "", &Error{File: s.dir, Msg: fmt.Sprintf("the name of catalog %s is too long for a file's name", name)}
	}
	return file + storeSuffix, nil
}

// encodeName returns a name with everything but letters, digits, '_', '-' and inner dots as %XX.
func encodeName(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); {
		r, size := utf8.DecodeRuneInString(name[i:])
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' || r == '.' && i > 0 {
			b.WriteRune(r)
		} else {
			for _, c := range []byte(name[i : i+size]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		}
		i += size
	}
	return b.String()
}

// decodeName returns the name of a file without its suffix: what encodeName made it from, and any other
// as it is.
func decodeName(stem string) string {
	var b strings.Builder
	for i := 0; i < len(stem); i++ {
		if stem[i] != '%' {
			b.WriteByte(stem[i])
			continue
		}
		var c byte
		if i+2 >= len(stem) {
			return stem
		}
		if _, err := fmt.Sscanf(stem[i+1:i+3], "%02X", &c); err != nil {
			return stem
		}
		b.WriteByte(c)
		i += 2
	}
	if name := b.String(); encodeName(name) == stem {
		return name
	}
	return stem
}
