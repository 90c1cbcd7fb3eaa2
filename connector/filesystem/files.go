package filesystem

import (
	"bufio"
	"compress/bzip2"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/sluice-sql/sluice/connector"
)

// file is a file as it was when a query began.
type file struct {
	path string
	info fs.FileInfo
}

// list returns the file at path, or all files in and below the directory there, by name. Names that begin
// with . or _ are passed over, but for path itself, and so is what a pattern does not match.
func list(path string, pattern *regexp.Regexp) ([]file, error) {
	files, err := listAll(path)
	if err != nil || pattern == nil {
		return files, err
	}
	var matching []file
	for _, f := range files {
		abs, err := filepath.Abs(f.path)
		if err != nil {
			return nil, err
		}
		if pattern.MatchString(abs) {
			matching = append(matching, f)
		}
	}
	return matching, nil
}

func listAll(path string) ([]file, error) {
	st, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no file and no directory %s%s", path, pathHelp(path))
	}
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		if !st.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is neither a file nor a directory", path)
		}
		return []file{{path, st}}, nil
	}
	return listDir(nil, path, []fs.FileInfo{st})
}

// pathHelp says what of a path that does not exist is not understood here.
func pathHelp(path string) string {
	dir, name := filepath.Split(path)
	switch {
	case strings.ContainsAny(path, "*?["):
		help := "; 'path' has no patterns such as *: name the directory, and pick its files with '" + keyPattern + "'"
		if suffix, ok := strings.CutPrefix(name, "*"); ok && !strings.ContainsAny(dir+suffix, "*?[") {
			help = fmt.Sprintf("; 'path' has no patterns such as *: write 'path' = '%s', '%s' = '.*%s'", filepath.Clean(dir), keyPattern, regexp.QuoteMeta(suffix))
		}
		return help
	case strings.HasPrefix(path, "~"):
		return "; ~ does not stand for the home directory here: write the path in full"
	}
	return ""
}

// stranger adds to an error of reading one file of a directory that the file's name is not one of the format.
func stranger(err error, dir, extension string, f file) error {
	var content interface {
		Place() (line, character int64)
	}
	if f.path == dir || f.isNamed(extension) || !errors.As(err, &content) {
		return err
	}
	return fmt.Errorf("%w; %s is no %s file by its name: '%s' = '.*%s' leaves such files out", err, filepath.Base(f.path), extension, keyPattern, regexp.QuoteMeta(extension))
}

// isNamed reports whether the file's name ends in an extension, or in it and that of a compression.
func (f file) isNamed(extension string) bool {
	name := strings.ToLower(f.path)
	if f.compressed() {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	return strings.HasSuffix(name, extension)
}

// listDir appends the files in and below a directory; above are the directories that lead to it, itself last.
func listDir(files []file, dir string, above []fs.FileInfo) ([]file, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) && len(above) > 1 {
		return files, nil // removed since
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Name()[0] == '.' || e.Name()[0] == '_' {
			continue
		}
		path := filepath.Join(dir, e.Name())
		st, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			if e.Type()&fs.ModeSymlink != 0 {
				return nil, fmt.Errorf("%s is a link to a file that does not exist", path)
			}
			continue // removed since
		}
		if err != nil {
			return nil, err
		}
		switch {
		case st.IsDir():
			for _, a := range above {
				if os.SameFile(a, st) {
					return nil, fmt.Errorf("%s is a link to a directory that it is in", path)
				}
			}
			if files, err = listDir(files, path, append(above, st)); err != nil {
				return nil, err
			}
		case st.Mode().IsRegular():
			files = append(files, file{path, st})
		default:
			return nil, fmt.Errorf("%s is neither a file nor a directory", path)
		}
	}
	return files, nil
}

// compression is how a file is compressed, by the end of its name; "" for one that is not. What cannot be read
// is known, too, so that its bytes are not taken for rows.
func compression(path string) string {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".gz", ".gzip", ".bz2", ".deflate", ".zst", ".zstd", ".xz", ".lz4", ".snappy":
		return ext
	}
	return ""
}

// compressed reports whether a file's name says that its bytes are compressed.
func (f file) compressed() bool { return compression(f.path) != "" }

// openAt opens the file for reading at any place. It has to be the one that was listed, and not shorter.
func (f file) openAt(files *connector.Files) (*opened, error) {
	in, err := openFile(f.path, files)
	if err != nil {
		return nil, err
	}
	st, err := in.Stat()
	switch {
	case err != nil:
	case !os.SameFile(st, f.info):
		err = fmt.Errorf("%s was replaced by another file while the query ran; run it again", f.path)
	case st.Size() < f.info.Size():
		err = f.changed()
	}
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return in, nil
}

func (f file) changed() error {
	return fmt.Errorf("%s was changed while the query read it; run it again", f.path)
}

// unchanged returns an error when what was read may not be what the file had when the query began. That it
// has grown does not matter: no more was read than there was.
func (f file) unchanged(in *opened) error {
	st, err := in.Stat()
	if err != nil {
		return err
	}
	if st.Size() < f.info.Size() || st.Size() == f.info.Size() && !st.ModTime().Equal(f.info.ModTime()) {
		return f.changed()
	}
	return nil
}

// stream reads a whole file, decompressed. At its end it checks that the file is what it was.
type stream struct {
	io.Reader
	file file
	raw  *opened
}

func (s *stream) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b)
	if err == io.EOF {
		if e := s.file.unchanged(s.raw); e != nil {
			return n, e
		}
	}
	return n, err
}

func (s *stream) Close() error { return s.raw.Close() }

// open opens the bytes of the file, decompressed.
func (f file) open(files *connector.Files) (io.ReadCloser, error) {
	raw, err := f.openAt(files)
	if err != nil {
		return nil, err
	}
	s := &stream{file: f, raw: raw}
	if s.Reader, err = decompress(f.path, io.NewSectionReader(raw, 0, f.info.Size())); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", f.path, err), raw.Close())
	}
	return s, nil
}

func decompress(path string, r io.Reader) (io.Reader, error) {
	switch ext := compression(path); ext {
	case "":
		return r, nil
	case ".gz", ".gzip":
		return gzip.NewReader(bufio.NewReaderSize(r, 64<<10))
	case ".bz2":
		return bzip2.NewReader(bufio.NewReaderSize(r, 64<<10)), nil
	case ".deflate":
		return zlib.NewReader(bufio.NewReaderSize(r, 64<<10))
	default:
		return nil, fmt.Errorf("files compressed as %s cannot be read; decompress it, or use .gz", ext)
	}
}
