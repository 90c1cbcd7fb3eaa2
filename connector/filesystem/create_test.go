package filesystem

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/sluice-sql/sluice/connector"
)

var both = connector.Insert{Columns: []int{0, 1}}

// create begins the CREATE TABLE AS of a table, puts rows in and seals it.
func create(t testing.TB, d connector.TableDef, id byte, rows int) connector.Transaction {
	tx, err := factory.Create(ctx, d, both, nil)
	require.NoError(t, err)
	require.NoError(t, tx.Begin(ctx, connector.JobID{id}))
	if rows > 0 {
		put(t, tx, batchNS(t, 0, rows))
	}
	n, err := tx.Seal(ctx)
	require.NoError(t, err)
	require.Equal(t, int64(rows), n)
	return tx
}

// refused makes sure that a sealed job comes to nothing, with an error that has a text.
func refused(t testing.TB, tx connector.Transaction, text string) {
	out, err := tx.Commit(ctx)
	require.Equal(t, connector.NotDone, out)
	require.ErrorContains(t, err, text)
	require.NoError(t, tx.Abort(ctx))
}

// A directory that is not there, one that is empty, and one with names that are no data.
func TestCreate(t *testing.T) {
	for _, there := range []string{"", "/out", "/out/.git", "/out/_logs"} {
		dir := t.TempDir()
		require.NoError(t, os.MkdirAll(dir+there, 0o755))
		d := def(t, columnsNS, dir+"/out")
		before := names(t, dir)
		made, err := factory.CheckCreate(ctx, d, both, nil)
		require.NoError(t, err)
		require.Equal(t, []string{"csv", "csv"}, made.Stored)
		require.Equal(t, before, names(t, dir), "a look makes nothing")

		require.NoError(t, create(t, d, 1, 2).Abort(ctx))
		require.Equal(t, before, names(t, dir), "what was there stands as it did")

		commit(t, create(t, d, 2, 2), 2)
		require.Equal(t, "0 | \"v\"\n1 | \"v\"\n", read(t, open(t, d)))
	}
}

func TestCreateRefused(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "some/old.csv", "1,x\n", "more/a", "", "more/b", "", "deep/below/c", "1,x\n", "file", "1,x\n")
	for name, text := range map[string]string{
		"some": "the directory " + dir + "/some is not empty: it has old.csv; CREATE TABLE AS makes a table of its own rows only, so give it another 'path', or CREATE TABLE without AS and INSERT INTO it",
		"more": "the directory " + dir + "/more is not empty: it has a and 1 more;",
		"deep": "the directory " + dir + "/deep is not empty: it has below;",
		"file": dir + "/file is a file, and INSERT adds files to a directory",
	} {
		before := names(t, dir)
		_, err := factory.CheckCreate(ctx, def(t, columnsNS, dir+"/"+name), both, nil)
		require.ErrorContains(t, err, text)
		tx, err := factory.Create(ctx, def(t, columnsNS, dir+"/"+name), both, nil)
		if err == nil {
			err = tx.Begin(ctx, connector.JobID{1})
			require.NoError(t, tx.Abort(ctx))
		}
		require.ErrorContains(t, err, text)
		require.Equal(t, before, names(t, dir))
	}
}

// Metadata is read, not written.
func TestCreateMetadata(t *testing.T) {
	d := def(t, columnsNS+", f STRING NOT NULL", t.TempDir()+"/out")
	d.Metadata = []string{metaName}
	_, err := factory.CheckCreate(ctx, d, connector.Insert{Columns: []int{0, 1, 2}}, nil)
	require.Equal(t, &connector.ColumnError{Column: "f", Msg: "column `f`: the metadata 'file.name' cannot be written; declare the column METADATA … VIRTUAL"}, err)
	_, err = factory.CheckCreate(ctx, d, both, nil)
	require.NoError(t, err)
}

// Data that comes while the job runs is seen at its commit, and stands.
func TestCreateLate(t *testing.T) {
	for _, before := range []string{"", "out", "out/in"} {
		dir := t.TempDir()
		require.NoError(t, os.MkdirAll(filepath.Join(dir, before), 0o755))
		d := def(t, columnsNS, dir+"/out/in")
		for _, rows := range []int{2, 0} {
			tx := create(t, d, 1, rows)
			write(t, dir, "out/in/theirs.csv", "7,x\n")
			refused(t, tx, "out/in is not empty: it has theirs.csv;")
			require.Equal(t, []string{"out", "out/in", "out/in/theirs.csv"}, names(t, dir))
			require.NoError(t, os.Remove(dir+"/out/in/theirs.csv"))
		}
	}
}

// A part of the path that somebody made meanwhile is no obstacle. What the job made beyond it goes with it.
func TestCreateMeets(t *testing.T) {
	dir := t.TempDir()
	d := def(t, columnsNS, dir+"/a/b/c")
	tx := create(t, d, 1, 2)
	require.NoError(t, os.Mkdir(dir+"/a", 0o755))
	require.NoError(t, os.Remove(tx.(*transaction).staging.staged()))
	refused(t, tx, "no such file")
	require.Equal(t, []string{"a"}, names(t, dir))

	require.NoError(t, os.Remove(dir+"/a"))
	tx = create(t, d, 2, 2)
	require.NoError(t, os.Mkdir(dir+"/a", 0o755))
	commit(t, tx, 2)
	require.Equal(t, []string{"a", "a/b", "a/b/c", "a/b/c/" + part("02")}, names(t, dir))
}

// Of many jobs that make one table exactly one does, whether its directory is there or not.
func TestCreateRivals(t *testing.T) {
	for _, there := range []string{"", "/out"} {
		for round := range 20 {
			dir := t.TempDir()
			require.NoError(t, os.MkdirAll(dir+there, 0o755))
			d := def(t, columnsNS, dir+"/out")
			var done atomic.Int32
			var jobs sync.WaitGroup
			txs := make([]connector.Transaction, 8)
			for i := range txs {
				txs[i] = create(t, d, byte(i+1), 2)
			}
			for _, tx := range txs {
				jobs.Go(func() {
					if out, err := tx.Commit(ctx); out == connector.Done {
						done.Add(1)
					} else if out != connector.NotDone || err == nil {
						t.Errorf("outcome %d, error %v", out, err)
					}
					if err := tx.Abort(ctx); err != nil {
						t.Error(err)
					}
				})
			}
			jobs.Wait()
			require.Equal(t, int32(1), done.Load(), "round %d", round)
			require.Equal(t, "0 | \"v\"\n1 | \"v\"\n", read(t, open(t, d)))
			require.Len(t, names(t, dir), 2, "nothing is left of the others")
		}
	}
}

// A commit that somebody else is in the middle of is waited for.
func TestCommitWaits(t *testing.T) {
	dir := t.TempDir()
	d := def(t, columnsNS, dir)
	insert, made := begin(t, open(t, d), 1), create(t, d, 2, 2)
	put(t, insert, batchNS(t, 0, 1))
	_, err := insert.Seal(ctx)
	require.NoError(t, err)
	for _, tx := range []connector.Transaction{made, insert} {
		other, err := os.Open(dir)
		require.NoError(t, err)
		require.NoError(t, unix.Flock(int(other.Fd()), unix.LOCK_EX))
		ended := make(chan connector.Outcome)
		go func() {
			out, _ := tx.Commit(ctx)
			ended <- out
		}()
		select {
		case <-ended:
			t.Fatal("the lock was not respected")
		case <-time.After(50 * time.Millisecond):
		}
		require.NoError(t, other.Close())
		require.Equal(t, connector.Done, <-ended)
	}
	require.Len(t, names(t, dir), 2, "the INSERT came after the table was made")
}
