package repl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sluice-sql/sluice/session"
	"github.com/sluice-sql/sluice/sqlparse"
)

// output is what the process knows of the files of 'sluice.output', whose results it has written: the first
// result takes the place of whatever a file held, and those to come are appended, also when the option has
// been set anew meanwhile. Every result is in the file whole or not at all, even if the process is killed: a
// result is written to a new file in the same directory, behind a copy of the results before it, and that
// file takes the place of the old one at once.
//
// A file that somebody has moved away, replaced or changed since the last result is begun anew.
//
// A device or a pipe cannot be replaced and is written to as the rows come. So are standard output and
// standard error under other names, such as /dev/stdout.
type output struct {
	last map[string]os.FileInfo // by path, the file as the last result left it
}

// remember notes the file that a result has been written to.
func (o *output) remember(path string, info os.FileInfo) {
	if o.last == nil {
		o.last = map[string]os.FileInfo{}
	}
	o.last[oneName(path)] = info
}

// holds reports whether a file is still what the last result made of it.
func (o *output) holds(path string, now os.FileInfo) bool {
	last := o.last[oneName(path)]
	return last != nil && os.SameFile(last, now) && last.Size() == now.Size() && last.ModTime().Equal(now.ModTime())
}

// oneName is the path of a file that is there, one however it is named.
func oneName(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	return path
}

// setsOutput reports whether a statement is a SET or RESET of the option.
func setsOutput(sql string) bool {
	if n := len(sql); n > 4096 || n < len("RESET") || !strings.EqualFold(sql[:3], "SET") && !strings.EqualFold(sql[:5], "RESET") {
		return false
	}
	st, err := sqlparse.Parse(sql)
	if err != nil {
		return false
	}
	switch st := st.(type) {
	case *sqlparse.Set:
		return st.Key != nil && st.Value != nil && st.Key.Text == "sluice.output"
	case *sqlparse.Reset:
		return st.Key == nil || st.Key.Text == "sluice.output"
	}
	return false
}

// target is a file that can be written to.
type target struct {
	path   string      // without symbolic links
	info   os.FileInfo // nil if there is no such file
	screen bool        // it is where results go anyway
	errors bool        // it is where messages go
}

// find looks at the file of a name without changing it.
func find(screen *Screen, name string) (target, error) {
	name = atHome(name)
	info, err := os.Stat(name)
	if err == nil {
		switch mode := info.Mode(); {
		case isOpenAs(screen.out, info):
			return target{screen: true}, nil
		case isOpenAs(screen.err, info):
			return target{errors: true}, nil
		case mode.IsDir():
			return target{}, errors.New("is a directory")
		case mode&os.ModeNamedPipe != 0, mode&os.ModeCharDevice != 0:
			return target{path: name, info: info}, nil
		case !mode.IsRegular():
			return target{}, errors.New("is neither a file, a pipe nor a terminal")
		}
		if err := unix.Access(name, unix.W_OK); err != nil {
			return target{}, err
		}
		path, err := filepath.EvalSymlinks(name)
		return target{path: path, info: info}, err
	}
	if !errors.Is(err, os.ErrNotExist) {
		return target{}, err
	}
	// There is no such file. A link may say where it would be.
	path := name
	for links := 0; ; links++ {
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if links == 40 {
			return target{}, syscall.ELOOP
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return target{}, fmt.Errorf("there is no directory %s", dir)
	}
	return target{path: path}, nil
}

// find looks at the file of a name, which must not be a database: one would be lost with the first result.
func (sh *shell) find(ctx context.Context, name string) (target, error) {
	t, err := find(sh.screen, name)
	if err != nil || t.path == "" {
		return t, err
	}
	if by := sh.engine.UsedBy(ctx, t.path); by != "" {
		return t, fmt.Errorf("it is the database of %s", by)
	}
	if t.info != nil && t.info.Size() > 0 && slices.Contains([]string{".db", ".sqlite", ".sqlite3"}, strings.ToLower(filepath.Ext(t.path))) && !sh.screen.output.holds(t.path, t.info) {
		return t, errors.New("it is a database by its name, and would be replaced; remove it first, or name another file")
	}
	return t, nil
}

// isOpenAs reports whether a file is the one that f writes to.
func isOpenAs(f *os.File, info os.FileInfo) bool {
	open, err := f.Stat()
	return err == nil && os.SameFile(open, info)
}

// open begins a result. It returns nil if the file is the screen's.
func (o *output) open(ctx context.Context, sh *shell, name string) (destination, error) {
	t, err := sh.find(ctx, name)
	if err != nil {
		return nil, unwritten(name, err)
	}
	switch {
	case t.screen:
		return nil, nil
	case t.errors:
		return messages{sh.screen}, nil
	case t.info != nil && !t.info.Mode().IsRegular():
		d, err := openStream(ctx, name, t.info)
		if err != nil {
			return nil, unwritten(name, err)
		}
		return d, nil
	}
	f, temp, err := createBeside(t.path)
	if errors.Is(err, os.ErrPermission) {
		err = fmt.Errorf("no file can be made in %s: permission denied", filepath.Dir(t.path))
	}
	if err != nil {
		return nil, unwritten(name, err)
	}
	d := &outputFile{output: o, name: name, path: t.path, temp: temp, f: f, w: bufio.NewWriterSize(f, 256<<10)}
	if err := d.begin(t.info); err != nil {
		d.drop()
		return nil, unwritten(name, err)
	}
	return d, nil
}

// outputFile is a result on its way into a file.
type outputFile struct {
	output     *output
	name, path string
	temp       string // the name of f; "" if it has none yet
	f          *os.File
	w          *bufio.Writer
	appends    bool // the file has results of this process before it
}

// begin gives the new file the mode of the old one, and the results that were written before.
func (d *outputFile) begin(old os.FileInfo) error {
	if old == nil {
		return nil
	}
	if err := d.f.Chmod(old.Mode().Perm()); err != nil {
		return err
	}
	if st, ok := old.Sys().(*syscall.Stat_t); ok {
		_ = d.f.Chown(int(st.Uid), int(st.Gid)) // only root can give a file away
	}
	if !d.output.holds(d.path, old) {
		return nil
	}
	d.appends = true
	before, err := os.Open(d.path)
	if err != nil {
		return err
	}
	defer before.Close()
	_, err = io.Copy(d.f, before)
	return err
}

func (d *outputFile) terminal() bool { return false }

func (d *outputFile) flush() error { return nil }

func (d *outputFile) Write(p []byte) (int, error) {
	n, err := d.w.Write(p)
	if err != nil {
		return n, unwritten(d.name, err)
	}
	return n, nil
}

func (d *outputFile) commit(context.Context) error {
	if err := d.put(); err != nil {
		d.drop()
		return unwritten(d.name, err)
	}
	return nil
}

// put makes the new file the one of the name.
func (d *outputFile) put() error {
	if err := d.w.Flush(); err != nil {
		return err
	}
	if err := d.f.Sync(); err != nil {
		return err
	}
	info, err := d.f.Stat()
	if err != nil {
		return err
	}
	if d.temp == "" {
		if d.temp, err = linkBeside(d.f, d.path); err != nil {
			return err
		}
	}
	if err := os.Rename(d.temp, d.path); err != nil {
		return err
	}
	d.temp = ""
	d.output.remember(d.path, info)
	if err := d.f.Close(); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(d.path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

func (d *outputFile) drop() {
	_ = d.f.Close() // nobody wants what it holds
	if d.temp != "" {
		_ = os.Remove(d.temp) // the error that led here is the one to tell
	}
}

// stream is a result on its way into a pipe or a device.
type stream struct {
	name string
	f    *os.File
	tty  bool
	done func() bool // ends the watch for a cancel
}

// openStream opens a pipe or a device. It waits for a pipe's reader as long as ctx lasts.
func openStream(ctx context.Context, name string, info os.FileInfo) (*stream, error) {
	flags := os.O_WRONLY
	if info.Mode()&os.ModeNamedPipe != 0 {
		flags |= unix.O_NONBLOCK
	}
	for {
		f, err := os.OpenFile(name, flags|unix.O_NOCTTY, 0)
		if err == nil {
			d := &stream{name: name, f: f, tty: isTerminal(f)}
			d.done = context.AfterFunc(ctx, func() { _ = f.SetWriteDeadline(time.Now()) }) // a device has none, and does not block
			return d, nil
		}
		if !errors.Is(err, unix.ENXIO) || flags&unix.O_NONBLOCK == 0 {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, canceledError()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (d *stream) terminal() bool { return d.tty }

func (d *stream) flush() error { return nil }

func (d *stream) Write(p []byte) (int, error) {
	n, err := d.f.Write(p)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return n, canceledError()
	case errors.Is(err, unix.EPIPE):
		return n, unwritten(d.name, errors.New("its reader is gone"))
	case err != nil:
		return n, unwritten(d.name, err)
	}
	return n, nil
}

func (d *stream) commit(context.Context) error {
	d.done()
	if err := d.f.Close(); err != nil {
		return unwritten(d.name, err)
	}
	return nil
}

func (d *stream) drop() {
	d.done()
	_ = d.f.Close() // the error that led here is the one to tell
}

func canceledError() error { return &session.Error{Msg: "canceled", Canceled: true} }

// fileError says that a result could not be written to the file of 'sluice.output'.
type fileError struct {
	file string
	err  error // without the file's name
}

func (e *fileError) Error() string {
	return fmt.Sprintf("the result cannot be written to %s ('sluice.output'): %s", e.file, e.err)
}

func (e *fileError) Unwrap() error { return e.err }

// unwritten makes a fileError of an error of the system; a cancel stays one.
func unwritten(name string, err error) error {
	if e := (*session.Error)(nil); errors.As(err, &e) {
		return err
	}
	if e := (*os.PathError)(nil); errors.As(err, &e) {
		err = e.Err
	}
	if e := (*os.LinkError)(nil); errors.As(err, &e) {
		err = e.Err
	}
	return &fileError{name, err}
}

func firstUpper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// createNamed creates a file with a name of its own in the directory of path.
func createNamed(path string) (f *os.File, temp string, err error) {
	for {
		temp = tempName(path)
		f, err = os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, os.ErrExist) {
			return f, temp, err
		}
	}
}

// tempName makes a name up. It is as long whatever the file's own name is, which may be as long as names get.
func tempName(path string) string {
	return filepath.Join(filepath.Dir(path), fmt.Sprintf(".sluice-output-%016x", rand.Uint64()))
}
