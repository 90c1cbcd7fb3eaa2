package filesystem

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/format/csv"
	"github.com/sluice-sql/sluice/connector/format/json"
	"github.com/sluice-sql/sluice/internal/testformat"
	"github.com/sluice-sql/sluice/types"
)

var ctx = context.Background()

var factory = Connector{Formats: []connector.Format{csv.Format{}, json.Format{}}}

var tableID = connector.ObjectIdentifier{Catalog: "c", Database: "d", Object: "t"}

// def returns a definition; options are "key = value".
func def(t testing.TB, columns, path string, options ...string) connector.TableDef {
	d := connector.TableDef{Identifier: tableID, Schema: testformat.Columns(t, columns), Options: map[string]string{"connector": "filesystem", "path": path, "format": "csv"}}
	for _, o := range options {
		k, v, _ := strings.Cut(o, " = ")
		d.Options[k] = v
	}
	return d
}

func open(t testing.TB, d connector.TableDef) *table {
	opened, err := factory.Table(ctx, d, &connector.Env{Memory: connector.NewMemory(64 << 20)})
	require.NoError(t, err)
	return opened.(*table)
}

// write makes files from name and content in turn, and the directories they are in.
func write(t testing.TB, dir string, files ...string) {
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, files[i])
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(files[i+1]), 0o644))
	}
}

func everything(tb *table) connector.Scan {
	s := connector.Scan{Limit: -1}
	for i := range tb.schema.Columns {
		s.Columns = append(s.Columns, i)
	}
	return s
}

// rows reads a table; with a parallelism above 1 every split has a reader of its own.
func rows(tb *table, scan connector.Scan, parallelism int) (string, error) {
	src, err := tb.Source(ctx, scan)
	if err != nil {
		return "", err
	}
	splits, err := src.Splits(ctx, parallelism)
	if err != nil {
		return "", err
	}
	sets := [][]connector.Split{splits}
	if parallelism > 1 {
		sets = nil
		for _, s := range splits {
			sets = append(sets, []connector.Split{s})
		}
	}
	var out strings.Builder
	for _, set := range sets {
		r, err := src.Reader(ctx, set)
		if err != nil {
			return "", err
		}
		var b column.Batch
		for status := connector.More; status != connector.End && err == nil; {
			if status, err = r.Read(ctx, &b); err == nil {
				if len(scan.Columns) == 0 {
					fmt.Fprintf(&out, "%d rows\n", b.N)
				} else {
					out.WriteString(testformat.Show(&b))
				}
			}
		}
		if cerr := r.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return out.String(), err
		}
	}
	return out.String(), src.Close()
}

func read(t testing.TB, tb *table) string {
	out, err := rows(tb, everything(tb), 1)
	require.NoError(t, err)
	return out
}

func zipped(t testing.TB, s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(s))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.String()
}

// A directory is all files in it and below, by name, but those that begin with . or _.
func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	var deflated bytes.Buffer
	z := zlib.NewWriter(&deflated)
	_, _ = z.Write([]byte("5,deflate\n"))
	require.NoError(t, z.Close())
	bz, err := base64.StdEncoding.DecodeString("QlpoOTFBWSZTWRGNXqIAAAHZgAAQAAQRABAgQBAgACIaaHoQwIx+9Agu5IpwoSAjGr1E") // 6,bzip2
	require.NoError(t, err)
	write(t, dir, "e.csv.bz2", string(bz))
	write(t, dir, "b.csv", "2,two\n", "a.csv", "1,one", "c/d/x.csv", "3,three\n", "c/_SUCCESS", "x", "_tmp/y.csv", "bad", ".hidden", "bad", "c/z.csv.gz", zipped(t, "4,four\n"), "d.deflate", deflated.String(), "empty.csv", "")
	require.Equal(t, "1 | \"one\"\n2 | \"two\"\n3 | \"three\"\n4 | \"four\"\n5 | \"deflate\"\n6 | \"bzip2\"\n", read(t, open(t, def(t, "n INT, s STRING", dir))))
	require.Equal(t, "2 | \"two\"\n", read(t, open(t, def(t, "n INT, s STRING", filepath.Join(dir, "b.csv")))))
	require.Equal(t, "2 | \"two\"\n", read(t, open(t, def(t, "n INT, s STRING", "file://"+filepath.Join(dir, "b.csv")))))

	tb := open(t, def(t, "n INT, s STRING", dir))
	out, err := rows(tb, connector.Scan{Columns: []int{1}, Limit: 3}, 1)
	require.NoError(t, err)
	require.Equal(t, "\"one\"\n\"two\"\n\"three\"\n", out)
	out, err = rows(tb, connector.Scan{Limit: -1}, 1)
	require.NoError(t, err)
	require.Equal(t, "1 rows\n1 rows\n1 rows\n1 rows\n1 rows\n1 rows\n0 rows\n", out)

	write(t, dir, "e.zst", "x")
	_, err = rows(tb, everything(tb), 1)
	require.ErrorContains(t, err, "e.zst: files compressed as .zst cannot be read; decompress it, or use .gz")
}

func TestWhatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	_, err := rows(open(t, def(t, "n INT", filepath.Join(dir, "x"))), connector.Scan{Columns: []int{0}, Limit: -1}, 1)
	require.EqualError(t, err, "there is no file and no directory "+dir+"/x")
	require.NoError(t, os.Symlink(dir, filepath.Join(dir, "loop")))
	_, err = rows(open(t, def(t, "n INT", dir)), connector.Scan{Columns: []int{0}, Limit: -1}, 1)
	require.EqualError(t, err, dir+"/loop is a link to a directory that it is in")
	require.NoError(t, os.Remove(filepath.Join(dir, "loop")))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "gone")))
	_, err = rows(open(t, def(t, "n INT", dir)), connector.Scan{Columns: []int{0}, Limit: -1}, 1)
	require.EqualError(t, err, dir+"/gone is a link to a file that does not exist")
	_, err = rows(open(t, def(t, "n INT", "/dev/null")), connector.Scan{Columns: []int{0}, Limit: -1}, 1)
	require.EqualError(t, err, "/dev/null is neither a file nor a directory")
	require.NoError(t, os.Remove(filepath.Join(dir, "gone")))
	write(t, dir, "x.gz", "this is not compressed")
	_, err = rows(open(t, def(t, "n INT", dir)), connector.Scan{Columns: []int{0}, Limit: -1}, 1)
	require.EqualError(t, err, dir+"/x.gz: gzip: invalid header")
	write(t, dir, "x.gz", zipped(t, "1\n2\n")[:20])
	_, err = rows(open(t, def(t, "n INT", dir)), connector.Scan{Columns: []int{0}, Limit: -1}, 1)
	require.EqualError(t, err, dir+"/x.gz: unexpected EOF")
}

// Files are read as they were when the query began, or not at all.
func TestFilesThatChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	tb := open(t, def(t, "n INT", path))
	begin := func() (connector.Reader, *column.Batch) {
		src, err := tb.Source(ctx, everything(tb))
		require.NoError(t, err)
		splits, err := src.Splits(ctx, 1)
		require.NoError(t, err)
		r, err := src.Reader(ctx, splits)
		require.NoError(t, err)
		return r, &column.Batch{}
	}
	long := time.Date(2001, 2, 3, 4, 5, 6, 7, time.UTC)
	restore := func() {
		require.NoError(t, os.WriteFile(path, []byte("1\n2\n"), 0o644))
		require.NoError(t, os.Chtimes(path, long, long))
	}

	restore()
	r, b := begin()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString("3\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	_, err = r.Read(ctx, b)
	require.NoError(t, err)
	require.Equal(t, "1\n2\n", testformat.Show(b), "what is added later is not read")
	status, err := r.Read(ctx, b)
	require.NoError(t, err)
	require.Equal(t, connector.End, status)

	restore()
	r, b = begin()
	require.NoError(t, os.WriteFile(path, []byte("5\n6\n"), 0o644))
	_, err = r.Read(ctx, b)
	require.NoError(t, err)
	_, err = r.Read(ctx, b)
	require.EqualError(t, err, path+" was changed while the query read it; run it again")

	restore()
	r, b = begin()
	require.NoError(t, os.WriteFile(path, []byte("5\n"), 0o644))
	_, err = r.Read(ctx, b)
	require.EqualError(t, err, path+" was changed while the query read it; run it again")

	restore()
	r, b = begin()
	require.NoError(t, os.WriteFile(path+".new", []byte("1\n2\n"), 0o644))
	require.NoError(t, os.Rename(path+".new", path))
	_, err = r.Read(ctx, b)
	require.EqualError(t, err, path+" was replaced by another file while the query ran; run it again")
}

// The pieces of a large file give its rows in order.
func TestPieces(t *testing.T) {
	dir := t.TempDir()
	var s strings.Builder
	for i := 0; s.Len() < 3*pieceSize; i++ {
		fmt.Fprintf(&s, "%d,row number %d of a file that is cut\n", i, i)
	}
	write(t, dir, "x.csv", s.String(), "y.csv", "-1,\"last\"\n")
	tb := open(t, def(t, "n BIGINT, s STRING", dir))
	src, err := tb.Source(ctx, everything(tb))
	require.NoError(t, err)
	splits, err := src.Splits(ctx, 4)
	require.NoError(t, err)
	require.Len(t, splits, 4)
	one, err := rows(tb, everything(tb), 1)
	require.NoError(t, err)
	four, err := rows(tb, everything(tb), 4)
	require.NoError(t, err)
	require.Equal(t, one, four)
}

func TestMetadata(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.csv", "1\n2\n", "b/c.csv", "3\n")
	at := time.Date(2024, 2, 29, 12, 30, 0, 123_456_789, time.UTC)
	for _, f := range []string{"a.csv", "b/c.csv"} {
		require.NoError(t, os.Chtimes(filepath.Join(dir, f), at, at))
	}
	d := def(t, "n INT, p STRING, f STRING, z BIGINT, m TIMESTAMP_LTZ(3), nano TIMESTAMP_LTZ(9)", dir)
	d.Metadata = []string{"file.path", "file.name", "file.size", "file.modification-time", "file.modification-time"}
	tb := open(t, d)
	require.Equal(t, strings.ReplaceAll(`1 | "DIR/a.csv" | "a.csv" | 4 | 2024-02-29 12:30:00.123 | 2024-02-29 12:30:00.123000000
2 | "DIR/a.csv" | "a.csv" | 4 | 2024-02-29 12:30:00.123 | 2024-02-29 12:30:00.123000000
3 | "DIR/b/c.csv" | "c.csv" | 2 | 2024-02-29 12:30:00.123 | 2024-02-29 12:30:00.123000000
`, "DIR", dir), read(t, tb))
	out, err := rows(tb, connector.Scan{Columns: []int{2}, Limit: -1}, 1)
	require.NoError(t, err)
	require.Equal(t, "\"a.csv\"\n\"a.csv\"\n\"c.csv\"\n", out)

	d.Schema.Columns[3].Type = types.Of(types.Int)
	err = factory.CheckDefinition(d)
	var ce *connector.ColumnError
	require.ErrorAs(t, err, &ce)
	require.Equal(t, "z", ce.Column)
}

// What no table can be is said before anything is opened.
func TestDefinitions(t *testing.T) {
	for _, c := range []struct{ path, option, want string }{
		{"s3://x/y", "", "option 'path' = 's3://x/y' is not supported: only files of this machine are, not s3"},
		{"file://host/y", "", "option 'path' = 'file://host/y' is not the URL of a file, such as file:///data/orders"},
		{"", "", "option 'path' = '' is empty"},
		{"x", "json.ignore-parse-errors = true", "option 'json.ignore-parse-errors' means nothing in a table of format 'csv'"},
		{"x", "source.monitor-interval = soon", "option 'source.monitor-interval' = 'soon' is not a duration; write it as 500 ms, 10 s, 5 min, 2 h or 1 d"},
		{"x", "source.monitor-interval = 0 s", "option 'source.monitor-interval' = '0 s' is too short; the least is 1 ms"},
		{"x", "source.path.regex-pattern = a(b", "option 'source.path.regex-pattern' = 'a(b' is not a regular expression: missing closing )"},
		{"x", "csv.quote-character = ,", "options 'csv.field-delimiter' and 'csv.quote-character' are the same character"},
	} {
		require.EqualError(t, factory.CheckDefinition(def(t, "n INT", c.path, c.option)), c.want)
	}
	d := def(t, "n INT", "x")
	d.PartitionKeys = []string{"n"}
	require.EqualError(t, factory.CheckDefinition(d), "PARTITIONED BY is not supported for connector 'filesystem' yet; leave it out")
}

func TestInfer(t *testing.T) {
	dir := t.TempDir()
	infer := func(options ...string) (types.Schema, error) {
		return factory.Infer(ctx, def(t, "n INT", dir, options...).Options)
	}
	_, err := infer()
	require.EqualError(t, err, dir+" has no file with rows to take columns from")
	write(t, dir, "a.csv", "", "b.csv.gz", zipped(t, "1,x\n"), "c.csv", "x,y,z\n")
	s, err := infer()
	require.NoError(t, err)
	require.Equal(t, testformat.Columns(t, "c1 BIGINT, c2 STRING"), s)
}

// Cancel is heard between two reads.
func TestCancel(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.csv", "1\n")
	tb := open(t, def(t, "n INT", dir))
	src, err := tb.Source(ctx, everything(tb))
	require.NoError(t, err)
	splits, err := src.Splits(ctx, 1)
	require.NoError(t, err)
	r, err := src.Reader(ctx, splits)
	require.NoError(t, err)
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	_, err = r.Read(canceled, &column.Batch{})
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, r.Close())
}
