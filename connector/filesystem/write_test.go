package filesystem

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/internal/testformat"
	"github.com/sluice-sql/sluice/types"
)

const columnsNS = "n INT, s STRING"

// batchNS returns rows (from, 'v') …
func batchNS(t testing.TB, from, n int) *column.Batch {
	b := column.NewBatch(testformat.Columns(t, columnsNS).Types(), n)
	for i := range n {
		b.Cols[0].AppendI64(int64(from + i))
		b.Cols[1].AppendString("v")
		b.N++
	}
	return b
}

func feed(batches ...*column.Batch) func() (*column.Batch, error) {
	return func() (*column.Batch, error) {
		if len(batches) == 0 {
			return nil, nil
		}
		b := batches[0]
		batches = batches[1:]
		return b, nil
	}
}

func begin(t testing.TB, tb *table, id byte) *transaction {
	tx, err := tb.Transaction(ctx, connector.Insert{Columns: []int{0, 1}})
	require.NoError(t, err)
	require.NoError(t, tx.Begin(ctx, connector.JobID{id}))
	return tx.(*transaction)
}

func put(t testing.TB, tx connector.Transaction, batches ...*column.Batch) {
	w, err := tx.Writer(ctx, 0)
	require.NoError(t, err)
	require.NoError(t, w.Write(ctx, feed(batches...)))
	require.NoError(t, w.Close())
}

func commit(t testing.TB, tx connector.Transaction, want int64) {
	n, err := tx.Seal(ctx)
	require.NoError(t, err)
	require.Equal(t, want, n)
	out, err := tx.Commit(ctx)
	require.NoError(t, err)
	require.Equal(t, connector.Done, out)
}

// names returns all that is in and below a directory, hidden things, too.
func names(t testing.TB, dir string) []string {
	var list []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(dir, path); rel != "." {
			list = append(list, rel)
		}
		return err
	}))
	return list
}

func part(id string) string { return "part-" + id + strings.Repeat("0", 30) + "-0.csv" }

// An INSERT into a directory that does not exist is nowhere to be seen before its commit, and is whole after.
func TestInsertMakesTheDirectory(t *testing.T) {
	dir := t.TempDir()
	tb := open(t, def(t, columnsNS, dir+"/a/b"))
	tx := begin(t, tb, 1)
	put(t, tx, batchNS(t, 0, 2))
	_, err := os.Lstat(dir + "/a")
	require.ErrorIs(t, err, fs.ErrNotExist)
	n, err := tx.Seal(ctx)
	require.NoError(t, err)
	require.Equal(t, int64(2), n)
	_, err = os.Lstat(dir + "/a")
	require.ErrorIs(t, err, fs.ErrNotExist)
	for range 2 { // a commit can be repeated
		out, err := tx.Commit(ctx)
		require.NoError(t, err)
		require.Equal(t, connector.Done, out)
	}
	require.NoError(t, tx.Abort(ctx), "an abort after the commit drops nothing")
	require.Equal(t, []string{"a", "a/b", "a/b/" + part("01")}, names(t, dir))
	require.Equal(t, "0 | \"v\"\n1 | \"v\"\n", read(t, tb))
	require.Equal(t, "file:"+dir+"/a/b", tx.Key())

	tx = begin(t, tb, 2)
	put(t, tx, batchNS(t, 5, 1))
	require.Equal(t, "0 | \"v\"\n1 | \"v\"\n", read(t, tb), "a reader does not see a part")
	commit(t, tx, 1)
	require.Equal(t, "0 | \"v\"\n1 | \"v\"\n5 | \"v\"\n", read(t, tb))
	require.Equal(t, []string{"a", "a/b", "a/b/" + part("01"), "a/b/" + part("02")}, names(t, dir))
}

// Whatever ends an INSERT before its commit leaves nothing.
func TestAbort(t *testing.T) {
	for _, path := range []string{"", "/a/b"} {
		dir := t.TempDir()
		tb := open(t, def(t, columnsNS, dir+path))
		for _, step := range []string{"begun", "written", "sealed"} {
			tx := begin(t, tb, 1)
			if step != "begun" {
				put(t, tx, batchNS(t, 0, 100_000))
			}
			if step == "sealed" {
				_, err := tx.Seal(ctx)
				require.NoError(t, err)
			}
			require.NotEmpty(t, names(t, dir))
			require.NoError(t, tx.Abort(ctx))
			require.NoError(t, tx.Abort(ctx))
			require.Empty(t, names(t, dir), step)
			out, err := tx.Commit(ctx)
			require.Equal(t, connector.NotDone, out)
			require.EqualError(t, err, "the transaction was aborted")
		}
	}
}

// C9: no rows make the directory, and a file where the format has a header.
func TestNoRows(t *testing.T) {
	for _, header := range []string{"true", "false"} {
		dir := t.TempDir()
		tb := open(t, def(t, columnsNS, dir+"/a/b", "csv.header = "+header))
		commit(t, begin(t, tb, 1), 0)
		want := []string{"a", "a/b"}
		if header == "true" {
			want = append(want, "a/b/"+part("01"))
		}
		require.Equal(t, want, names(t, dir))
		require.Empty(t, read(t, tb))
		commit(t, begin(t, tb, 2), 0)
		require.Empty(t, read(t, tb))
	}
}

// A rival that makes the directory first keeps its file, and both INSERTs are there.
func TestRival(t *testing.T) {
	dir := t.TempDir()
	tb := open(t, def(t, columnsNS, dir+"/a/b"))
	one, two := begin(t, tb, 1), begin(t, tb, 2)
	put(t, one, batchNS(t, 1, 1))
	put(t, two, batchNS(t, 2, 1))
	commit(t, two, 1)
	commit(t, one, 1)
	require.Equal(t, []string{"a", "a/b", "a/b/" + part("01"), "a/b/" + part("02")}, names(t, dir))
	require.Equal(t, "1 | \"v\"\n2 | \"v\"\n", read(t, tb))
}

// The directory that goes meanwhile takes the INSERT with it.
func TestDirectoryRemoved(t *testing.T) {
	dir := t.TempDir() + "/d"
	require.NoError(t, os.Mkdir(dir, 0o755))
	tx := begin(t, open(t, def(t, columnsNS, dir)), 1)
	put(t, tx, batchNS(t, 1, 1))
	_, err := tx.Seal(ctx)
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(dir))
	out, err := tx.Commit(ctx)
	require.Equal(t, connector.NotDone, out)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, tx.Abort(ctx))
}

// A writer is all or poisoned.
func TestWriterErrors(t *testing.T) {
	dir := t.TempDir()
	tb := open(t, def(t, columnsNS, dir, "csv.disable-quote-character = true"))
	tx := begin(t, tb, 1)
	w, err := tx.Writer(ctx, 0)
	require.NoError(t, err)
	_, err = tx.Writer(ctx, 1)
	require.EqualError(t, err, "table c.d.t: the file of an INSERT has one writer at a time")
	bad := batchNS(t, 0, 1)
	bad.Cols[0].AppendI64(1)
	bad.Cols[1].AppendString("a,b")
	bad.N++
	const want = "row 12: column `s`: 'a,b' cannot be written without quotes; drop 'csv.disable-quote-character' or set 'csv.escape-character'"
	require.EqualError(t, w.Write(ctx, feed(batchNS(t, 0, 10), bad)), want)
	require.EqualError(t, w.Write(ctx, feed(batchNS(t, 0, 1))), want)
	_, err = tx.Seal(ctx)
	require.EqualError(t, err, want)
	require.NoError(t, tx.Abort(ctx))
	require.Empty(t, names(t, dir))

	boom := errors.New("boom")
	tx = begin(t, tb, 2)
	w, err = tx.Writer(ctx, 0)
	require.NoError(t, err)
	require.Equal(t, boom, w.Write(ctx, func() (*column.Batch, error) { return nil, boom }))
	require.NoError(t, tx.Abort(ctx))

	tx = begin(t, tb, 3)
	w, err = tx.Writer(ctx, 0)
	require.NoError(t, err)
	kinds := batchNS(t, 1, 2)
	kinds.Kind = []types.RowKind{types.Insert, types.Delete}
	require.EqualError(t, w.Write(ctx, feed(kinds)), "table c.d.t only takes inserted rows; row 2 is -D")
	require.NoError(t, tx.Abort(ctx))
}

func TestWhatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "x.csv", "1,a\n")
	_, err := open(t, def(t, columnsNS, dir+"/x.csv")).Transaction(ctx, connector.Insert{Columns: []int{0, 1}})
	require.EqualError(t, err, "insert into table c.d.t: "+dir+"/x.csv is a file, and INSERT adds files to a directory: give the table a directory as its 'path'")
	_, err = open(t, def(t, columnsNS, dir+"/x.csv/y")).Transaction(ctx, connector.Insert{Columns: []int{0, 1}})
	require.ErrorContains(t, err, "x.csv")
	_, err = open(t, def(t, "n INT, s STRING NOT NULL", dir)).Transaction(ctx, connector.Insert{Columns: []int{0}})
	require.EqualError(t, err, "insert into table c.d.t: column `s` is NOT NULL and has no value")

	tx, err := open(t, def(t, "n INT, s STRING, x DOUBLE", dir+"/y", "format = json")).Transaction(ctx, connector.Insert{Columns: []int{1, 0}})
	require.NoError(t, err)
	require.NoError(t, tx.Begin(ctx, connector.JobID{1}))
	b := batchNS(t, 7, 1)
	b.Cols[0], b.Cols[1] = b.Cols[1], b.Cols[0]
	put(t, tx, b)
	commit(t, tx, 1)
	got, err := os.ReadFile(dir + "/y/part-01" + strings.Repeat("0", 30) + "-0.json")
	require.NoError(t, err)
	require.Equal(t, "{\"n\":7,\"s\":\"v\",\"x\":null}\n", string(got))
}

// leave is the environment variable that makes a test process begin an INSERT and die at a step of it.
const leave = "SLUICE_TEST_LEAVE"

// TestMain lets the process that is to die do so.
func TestMain(m *testing.M) {
	if path := os.Getenv(leave); path != "" {
		die(path)
	}
	os.Exit(m.Run())
}

func die(how string) {
	step, path, _ := strings.Cut(how, "=")
	t := &testing.T{}
	tb := open(t, def(t, columnsNS, path))
	tx := begin(t, tb, 0xaa)
	if step != "begun" {
		put(t, tx, batchNS(t, 0, 300_000))
	}
	if step == "sealed" || step == "committed" || step == "finished" {
		if _, err := tx.Seal(ctx); err != nil {
			os.Exit(3)
		}
	}
	if step == "finished" {
		commit(t, tx, 300_000)
		_, _ = os.Stdout.WriteString("finished\n")
		os.Exit(0)
	}
	if step == "committed" {
		out, err := tx.staging.publish() // as Commit, but for the clean-up
		if out != connector.Done || err != nil {
			os.Exit(3)
		}
	}
	p, _ := os.FindProcess(os.Getpid())
	_ = p.Kill()
	select {}
}

// What a killed job left is invisible, and gone after the next use; a living job's is not touched.
func TestKilled(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	for _, sub := range []string{"", "/a/b"} {
		for _, step := range []string{"begun", "written", "sealed", "committed"} {
			dir := t.TempDir()
			if sub == "" {
				write(t, dir, "old.csv", "7,old\n")
			}
			live := begin(t, open(t, def(t, columnsNS, dir+sub)), 1)
			put(t, live, batchNS(t, 1, 1))

			c := exec.Command(self)
			c.Env = append(os.Environ(), leave+"="+step+"="+dir+sub)
			require.EqualError(t, c.Run(), "signal: killed")
			left := slices.ContainsFunc(names(t, dir), func(n string) bool { return strings.HasPrefix(filepath.Base(n), mark+"aa") })
			require.Equal(t, step != "committed", left)

			tb := open(t, def(t, columnsNS, dir+sub))
			count := func() int {
				out, err := rows(tb, connector.Scan{Columns: []int{0}, Limit: -1}, 1)
				if err != nil {
					require.ErrorContains(t, err, "there is no file and no directory")
				}
				return strings.Count(out, "\n")
			}
			want := 0
			if sub == "" {
				want++
			}
			if step == "committed" {
				want += 300_000
			}
			require.Equal(t, want, count())
			require.False(t, slices.ContainsFunc(names(t, dir), func(n string) bool { return strings.HasPrefix(filepath.Base(n), mark+"aa") }), "swept")
			commit(t, live, 1)
			require.Equal(t, want+1, count())
			require.False(t, slices.ContainsFunc(names(t, dir), func(n string) bool { return strings.HasPrefix(filepath.Base(n), mark) }))
		}
	}
}

// What a killed job left beside a directory that another has made since goes with the next INSERT below.
func TestKilledAbove(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	c := exec.Command(self)
	c.Env = append(os.Environ(), leave+"=sealed="+dir+"/a/b/c")
	require.EqualError(t, c.Run(), "signal: killed")
	live, err := stage(dir+"/a/b/d", connector.JobID{2}, "x.csv", false) // waits for its commit
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(dir+"/a/b/c", 0o755))
	tx := begin(t, open(t, def(t, columnsNS, dir+"/a/b/c")), 1)
	require.Empty(t, slices.DeleteFunc(names(t, dir), func(n string) bool { return !strings.HasPrefix(n, mark+"aa") }))
	require.DirExists(t, live.treePath())
	commit(t, tx, 0)
	require.NoError(t, live.remove())
}

// A rename that was done although the disk said otherwise, as over a network that lost the answer, is a commit.
func TestRenameWhoseAnswerIsLost(t *testing.T) {
	for _, sub := range []string{"", "/a/b"} {
		for _, n := range []int{0, 3} {
			dir := t.TempDir()
			tb := open(t, def(t, columnsNS, dir+sub))
			tx := begin(t, tb, 1)
			put(t, tx, batchNS(t, 0, n))
			_, err := tx.Seal(ctx)
			require.NoError(t, err)
			switch {
			case sub != "":
				require.NoError(t, os.Rename(tx.staging.treePath(), dir+"/a"))
			case n > 0:
				require.NoError(t, os.Rename(tx.staging.staged(), tx.staging.target()))
			}
			out, err := tx.Commit(ctx)
			require.NoError(t, err)
			require.Equal(t, connector.Done, out)
			require.Equal(t, n, strings.Count(read(t, tb), "\n"))
		}
	}
}

// Where there are no locks nothing is begun, and nothing is left.
func TestNoLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	_, err := locked(func() (*os.File, error) {
		f, err := os.Create(path)
		return f, errors.Join(err, f.Close()) // what is closed cannot be locked
	})
	require.ErrorContains(t, err, "lock "+path)
	require.NoFileExists(t, path)
}

// The file is on disk before it has its name, and the directory before success is reported.
func TestDurable(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("this test needs strace (Debian: apt-get install strace)")
	}
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	for _, sub := range []string{"", "/a/b"} {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		require.NoError(t, err)
		trace := filepath.Join(t.TempDir(), "trace")
		c := exec.Command(strace, "-f", "-y", "-e", "trace=fsync,fdatasync,renameat,renameat2,rename,write", "-o", trace, self)
		c.Env = append(os.Environ(), leave+"=finished="+dir+sub)
		out, err := c.CombinedOutput()
		require.NoError(t, err, string(out))
		calls, err := os.ReadFile(trace)
		require.NoError(t, err)
		hidden := regexp.QuoteMeta(dir + "/" + mark + "aa" + strings.Repeat("0", 30))
		const end = `(\)| <unfinished)` // the latter when another thread's call comes between
		steps := []string{`fsync\(\d+<` + hidden + `\.inprogress>` + end, `rename.*` + hidden + `.*/` + part("aa") + `"`}
		if sub != "" {
			steps = []string{`fsync\(\d+<` + hidden + `\.new/b/` + part("aa") + `>` + end, `fsync\(\d+<` + hidden + `\.new/b>` + end, `fsync\(\d+<` + hidden + `\.new>` + end,
				`renameat2\(.*` + hidden + `\.new".*/a", RENAME_NOREPLACE\)`}
		}
		steps = append(steps, `fsync\(\d+<`+regexp.QuoteMeta(dir)+`>`+end, `write\(1<.*"finished`)
		at := 0
		for _, step := range steps {
			loc := regexp.MustCompile(step).FindIndex(calls[at:])
			require.NotNil(t, loc, "%s does not follow in\n%s", step, calls)
			at += loc[1]
		}
	}
}

// What is not ours by its exact name and kind is never removed.
func TestSweepLeavesOthersAlone(t *testing.T) {
	dir := t.TempDir()
	id := strings.Repeat("ab", 16)
	write(t, dir, ".sluice-x.inprogress", "", ".sluice-"+id+"0.inprogress", "", ".sluice-"+strings.Repeat("zz", 16)+".inprogress", "",
		".sluice-"+strings.ToUpper(id)+".inprogress", "", ".other-"+id+".inprogress", "", ".sluice-"+id+".new", "a file", ".sluice-"+id, "")
	require.NoError(t, os.Mkdir(filepath.Join(dir, ".sluice-"+strings.Repeat("cd", 16)+".inprogress"), 0o755))
	require.NoError(t, os.Symlink("x", filepath.Join(dir, ".sluice-"+strings.Repeat("ef", 16)+".inprogress")))
	before := names(t, dir)
	sweep(dir)
	require.Equal(t, before, names(t, dir))
	write(t, dir, ".sluice-"+id+".inprogress", "", ".sluice-"+strings.Repeat("12", 16)+".new/a/b", "")
	sweep(dir)
	require.Equal(t, before, names(t, dir))
}

// Sweepers never take what a job is just beginning with.
func TestSweepersAndBeginners(t *testing.T) {
	for _, sub := range []string{"", "/a"} {
		dir := t.TempDir()
		stop := make(chan struct{})
		var sweepers, jobs sync.WaitGroup
		for range 3 {
			sweepers.Add(1)
			go func() {
				defer sweepers.Done()
				for {
					select {
					case <-stop:
						return
					default:
						sweepDir(dir)
					}
				}
			}()
		}
		for j := range 4 {
			jobs.Add(1)
			go func() {
				defer jobs.Done()
				for i := range 50 {
					s, err := stage(dir+sub, connector.JobID{byte(j), byte(i)}, new(series).name(connector.JobID{byte(j), byte(i)}, ".csv"), false)
					if err == nil {
						_, err = s.file.WriteString("1,x\n")
					}
					if err == nil {
						err = s.seal(false)
					}
					out := connector.NotDone
					if err == nil {
						out, err = s.publish()
					}
					if err == nil {
						err = s.remove()
					}
					if err != nil || out != connector.Done {
						t.Errorf("job %d-%d: %v %v", j, i, out, err)
						return
					}
				}
			}()
		}
		jobs.Wait()
		close(stop)
		sweepers.Wait()
		require.Equal(t, 200, strings.Count(read(t, open(t, def(t, columnsNS, dir+sub))), "\n"))
	}
}

// A file system that is full fails the INSERT, which leaves nothing.
func TestFull(t *testing.T) {
	dir := t.TempDir()
	if err := mountSmall(dir); err != nil {
		t.Skip("needs the right to mount: ", err)
	}
	defer func() { require.NoError(t, unmount(dir)) }()
	tb := open(t, def(t, columnsNS, dir+"/a"))
	tx := begin(t, tb, 1)
	w, err := tx.Writer(ctx, 0)
	require.NoError(t, err)
	err = w.Write(ctx, feed(batchNS(t, 0, 60_000), batchNS(t, 0, 60_000), batchNS(t, 0, 60_000), batchNS(t, 0, 60_000)))
	if err == nil {
		_, err = tx.Seal(ctx)
	}
	require.ErrorContains(t, err, "no space left on device")
	require.NoError(t, tx.Abort(ctx))
	require.Empty(t, names(t, dir))
}

// A file that somebody put under the hidden name is not published, and is left to them.
func TestForeignStaging(t *testing.T) {
	for _, path := range []string{"", "/new"} {
		dir := t.TempDir()
		tx := begin(t, open(t, def(t, columnsNS, dir+path)), 1)
		put(t, tx, batchNS(t, 1, 1))
		_, err := tx.Seal(ctx)
		require.NoError(t, err)
		hidden := tx.staging.staged()
		require.NoError(t, os.Remove(hidden))
		require.NoError(t, os.WriteFile(hidden, []byte("evil\n"), 0o600))
		out, err := tx.Commit(ctx)
		require.Equal(t, connector.NotDone, out)
		require.EqualError(t, err, hidden+" is not the file that the job wrote: another was put in its place; nothing was published")
		require.NoError(t, tx.Abort(ctx))
		if path == "" {
			left, err := os.ReadFile(hidden)
			require.NoError(t, err)
			require.Equal(t, "evil\n", string(left))
		}
	}
}

// A file in the place of the directory means that nothing happened.
func TestDirectoryBecomesFile(t *testing.T) {
	dir := t.TempDir() + "/d"
	require.NoError(t, os.Mkdir(dir, 0o755))
	tx := begin(t, open(t, def(t, columnsNS, dir)), 1)
	put(t, tx, batchNS(t, 1, 1))
	_, err := tx.Seal(ctx)
	require.NoError(t, err)
	require.NoError(t, os.Rename(dir, dir+"2"))
	require.NoError(t, os.WriteFile(dir, nil, 0o600))
	out, err := tx.Commit(ctx)
	require.Equal(t, connector.NotDone, out)
	require.ErrorContains(t, err, "not a directory")
	require.NoError(t, tx.Abort(ctx))
}
