package filesystem

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/internal/testformat"
)

// watched is a directory that a source watches every 10 s, by a clock that the test sets.
type watched struct {
	t     *testing.T
	dir   string
	w     watching
	clock time.Time
	said  strings.Builder
}

func watchIn(t *testing.T, dir string, options ...string) *watched {
	w := &watched{t: t, dir: dir, clock: time.Now()}
	opened, err := factory.Table(ctx, def(t, "n INT", dir, append(options, "source.monitor-interval = 10 s")...), &connector.Env{Err: &w.said, Memory: connector.NewMemory(64 << 20)})
	require.NoError(t, err)
	require.False(t, opened.(connector.Bounded).Bounded())
	src, err := opened.(*table).Source(ctx, everything(opened.(*table)))
	require.NoError(t, err)
	require.False(t, src.Bounded())
	w.w = src.(watching)
	w.w.watch.now = func() time.Time { return w.clock }
	return w
}

// write writes files as of now.
func (w *watched) write(files ...string) {
	write(w.t, w.dir, files...)
	for i := 0; i < len(files); i += 2 {
		require.NoError(w.t, os.Chtimes(filepath.Join(w.dir, files[i]), w.clock, w.clock))
	}
}

func (w *watched) reader(splits []connector.Split) connector.Reader {
	r, err := w.w.Reader(ctx, splits)
	require.NoError(w.t, err)
	return r
}

// drain reads splits to their end.
func (w *watched) drain(splits []connector.Split) string {
	r := w.reader(splits)
	var out strings.Builder
	var b column.Batch
	for status := connector.More; status != connector.End; {
		var err error
		status, err = r.Read(ctx, &b)
		require.NoError(w.t, err)
		if b.N > 0 {
			out.WriteString(testformat.Show(&b))
		}
	}
	require.NoError(w.t, r.Close())
	return strings.ReplaceAll(out.String(), "\n", " ")
}

func (w *watched) splits() []connector.Split {
	splits, err := w.w.Splits(ctx, 1)
	require.NoError(w.t, err)
	return splits
}

// after returns what is discovered when some seconds have gone by.
func (w *watched) after(seconds int) []connector.Split {
	w.clock = w.clock.Add(time.Duration(seconds) * time.Second)
	splits, err := w.w.Discover(ctx)
	require.NoError(w.t, err)
	return splits
}

func TestWatch(t *testing.T) {
	w := watchIn(t, t.TempDir())
	w.write("b.csv", "1\n", "sub/a.csv", "2\n")
	w.clock = w.clock.Add(time.Second)
	w.write("a.csv", "3\n4\n", ".hidden", "5\n", "_hidden", "5\n")
	w.clock = w.clock.Add(10 * time.Second)
	w.write("young.csv", "6\n")
	require.Equal(t, "1 2 3 4 ", w.drain(w.splits()), "by time, then by name")
	require.Nil(t, w.after(9), "not yet the time to look")
	require.Equal(t, "6 ", w.drain(w.after(1)))
	w.write("x.csv", "7\n8\n", "y.csv.gz", zipped(t, "9\n"))
	require.Nil(t, w.after(9))
	require.Equal(t, "7 8 9 ", w.drain(w.after(1)))
	require.Nil(t, w.after(10))
	require.Nil(t, w.after(10))

	// A file that is removed and comes again is a new one.
	require.NoError(t, os.Remove(filepath.Join(w.dir, "x.csv")))
	require.Nil(t, w.after(10))
	w.write("x.csv", "10\n")
	require.Equal(t, "10 ", w.drain(w.after(10)))
	require.Empty(t, w.said.String())
	require.Empty(t, w.w.files, "what has been read is forgotten")
}

// Nothing is read while it grows, also with a time that lies in the past, as that of a copy.
func TestWatchWaitsForTheEndOfWriting(t *testing.T) {
	w := watchIn(t, t.TempDir())
	require.Nil(t, w.splits())
	content := ""
	for i := range 5 {
		content += fmt.Sprintf("%d\n", i)
		w.write("growing.csv", content+"to")
		require.Nil(t, w.after(5))
		require.Nil(t, w.after(4))
	}
	w.write("growing.csv", content)
	require.Nil(t, w.after(3))
	require.Equal(t, "0 1 2 3 4 ", w.drain(w.after(10)))
}

func TestWatchedFileThatChanges(t *testing.T) {
	w := watchIn(t, t.TempDir())
	w.write("a.csv", "1\n", "b.csv", "2\n", "c.csv", "3\n", "d.csv", "4\n")
	w.clock = w.clock.Add(time.Minute)

	// Between the look and the opening: it waits. One that is gone is not missed.
	splits := w.splits()
	w.write("a.csv", "1\n11\n")
	require.NoError(t, os.Remove(filepath.Join(w.dir, "b.csv")))
	require.NoError(t, os.Rename(filepath.Join(w.dir, "c.csv"), filepath.Join(w.dir, "c2.csv")))
	require.Equal(t, "4 ", w.drain(splits))
	require.Equal(t, "3 1 11 ", w.drain(w.after(10)))

	// After it has been read: that is said, once.
	w.write("a.csv", "1\n11\n12\n")
	require.Nil(t, w.after(10))
	require.Nil(t, w.after(10))
	require.Equal(t, "[WARNING] "+w.dir+"/a.csv has changed since it was read for table c.d.t; a file is read once, so give new rows a file of their own\n", w.said.String())

	// While it is read: that is an error.
	w.write("e.csv", "5\n")
	splits = w.after(10)
	r := w.reader(splits)
	var b column.Batch
	_, err := r.Read(ctx, &b)
	require.NoError(t, err)
	w.write("e.csv", "5\n6\n")
	_, err = r.Read(ctx, &b)
	require.EqualError(t, err, w.dir+"/e.csv was written while it was read, so that its last row may be torn; write files under another name, beginning with a point, and rename them when they are whole, or make 'source.monitor-interval' longer")
	require.NoError(t, r.Close())
}

// There need not be a directory before there are rows.
func TestWatchedDirectoryThatIsToCome(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "in")
	w := watchIn(t, dir)
	require.Nil(t, w.splits())
	require.Nil(t, w.after(10))
	w.write("a.csv", "1\n")
	require.Equal(t, "1 ", w.drain(w.after(10)))
	require.NoError(t, os.RemoveAll(dir))
	require.Nil(t, w.after(10))
	require.Empty(t, w.w.watch.known)
}

func TestPattern(t *testing.T) {
	dir := t.TempDir()
	files := []string{"2024-01.csv", "1\n", "2024-02.csv", "2\n", "2024-02.csv.bak", "x\n", "sub/2024-03.csv", "3\n"}
	write(t, dir, files...)
	for pattern, want := range map[string]string{
		`.*/2024-0[12]\.csv`: "1\n2\n", `.*\.csv`: "1\n2\n3\n", `2024.*`: "", `.*/sub/.*|.*-01.csv`: "1\n3\n", ".*/in": "",
	} {
		require.Equal(t, want, read(t, open(t, def(t, "n INT", dir, "source.path.regex-pattern = "+pattern))), pattern)
	}
	w := watchIn(t, dir, `source.path.regex-pattern = .*-0[23]\.csv`)
	w.write(files...)
	w.clock = w.clock.Add(time.Minute)
	require.Equal(t, "2 3 ", w.drain(w.splits()))
}

// A streaming job writes a file at each checkpoint; by name they are in that order, and a watching source reads
// what is there whole.
func TestFilesOfAStreamingJob(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	tb := open(t, def(t, "n INT, s STRING", dir))
	var want []string
	for i := range 12 {
		tx, err := tb.Transaction(ctx, connector.Insert{Columns: []int{0, 1}})
		require.NoError(t, err)
		// A checkpoint's id differs from the job's in its last bytes.
		require.NoError(t, tx.Begin(ctx, connector.JobID{0xaa, 15: byte(7 ^ i)}))
		put(t, tx, batchNS(t, 10*i, 10))
		require.Len(t, visible(t, dir), i, "nothing is visible before the checkpoint")
		commit(t, tx, 10)
		require.Len(t, visible(t, dir), i+1)
		for n := 10 * i; n < 10*i+10; n++ {
			want = append(want, fmt.Sprintf("%d,v\n", n))
		}
	}
	var got strings.Builder
	files := visible(t, dir) // by name
	for _, f := range files {
		require.Regexp(t, `/part-aa0{28}07-(0|000000\d\d)\.csv$`, f)
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		got.Write(b)
	}
	require.Equal(t, strings.Join(want, ""), got.String())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 12, "nothing hidden is left")
}

func visible(t *testing.T, dir string) []string {
	files, err := filepath.Glob(filepath.Join(dir, "part-*"))
	require.NoError(t, err)
	return files
}

// Files that are written in small parts, cut anywhere, while the directory is watched: every row is read once,
// whole.
func TestWatchWhileFilesAreWritten(t *testing.T) {
	dir := t.TempDir()
	tb := open(t, def(t, "n BIGINT", dir, "source.monitor-interval = 400 ms"))
	src, err := tb.Source(ctx, everything(tb))
	require.NoError(t, err)
	w := src.(watching)
	// The clock stands still while any of those that write does, so that a file whose writer has to wait for its turn
	// on the machine is not taken for one that is complete.
	var mu sync.Mutex
	wrote := map[int]bool{} // by those that are at it, since the clock moved
	clock, moved := time.Now(), time.Now()
	w.watch.now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		for _, did := range wrote {
			if !did {
				return clock
			}
		}
		for i := range wrote {
			wrote[i] = false
		}
		now := time.Now()
		clock, moved = clock.Add(min(now.Sub(moved), 20*time.Millisecond)), now
		return clock
	}
	at := func(i int, step func() error) error {
		mu.Lock()
		defer mu.Unlock()
		wrote[i] = true
		return step()
	}
	const files, rows = 12, 60
	written := make(chan error, files)
	for i := range files {
		go func() {
			written <- func() error {
				time.Sleep(time.Duration(i) * 50 * time.Millisecond)
				var f *os.File
				if err := at(i, func() (err error) {
					f, err = os.Create(filepath.Join(dir, fmt.Sprintf("%d.csv", i)))
					return err
				}); err != nil {
					return err
				}
				var all []byte
				for n := range rows {
					all = fmt.Appendf(all, "%d\n", 1_000_000*(i+1)+n)
				}
				for len(all) > 0 {
					n := min(len(all), 1+(len(all)*7+i)%23)
					if err := at(i, func() error { _, err := f.Write(all[:n]); return err }); err != nil {
						return err
					}
					all = all[n:]
					time.Sleep(5 * time.Millisecond)
				}
				mu.Lock()
				defer mu.Unlock()
				delete(wrote, i)
				return f.Close()
			}()
		}()
	}
	splits, err := w.Splits(ctx, 1)
	require.NoError(t, err)
	count := map[int64]int{}
	for ; len(count) < files*rows; time.Sleep(10 * time.Millisecond) {
		r, err := w.Reader(ctx, splits)
		require.NoError(t, err)
		var b column.Batch
		for status := connector.More; status != connector.End; {
			status, err = r.Read(ctx, &b)
			require.NoError(t, err)
			for i := range b.N {
				count[b.Cols[0].I64[i]]++
			}
		}
		require.NoError(t, r.Close())
		splits, err = w.Discover(ctx)
		require.NoError(t, err)
	}
	for range files {
		require.NoError(t, <-written)
	}
	require.Len(t, count, files*rows)
	for n, times := range count {
		require.Equal(t, 1, times)
		require.Less(t, n%1_000_000, int64(rows))
	}
}
