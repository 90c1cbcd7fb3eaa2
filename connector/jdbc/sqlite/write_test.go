package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

var errStop = errors.New("row 1,500 cannot be made")

// failAfter yields n batches of 100 rows and then an error.
func failAfter(n int) func() (*column.Batch, error) {
	i := 0
	return func() (*column.Batch, error) {
		if i == n {
			return nil, errStop
		}
		i++
		return numbers(i*100, 100), nil
	}
}

// names lists a directory.
func names(t testing.TB, dir string) []string {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	list := []string{}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// kinds are the files that a table is written into.
var kinds = []string{"new file", "rollback journal", "wal", "staging"}

// fileOf makes a file of a kind, with a table old of 3 rows unless it is new.
func fileOf(t testing.TB, kind string) *Store {
	path := filepath.Join(t.TempDir(), "shop.db")
	options := map[string]string{}
	make := []string{"CREATE TABLE old (id INTEGER PRIMARY KEY, s TEXT NOT NULL)", "INSERT INTO old VALUES (1, 'a'), (2, 'b'), (3, 'c')"}
	switch kind {
	case "rollback journal":
		exe(t, path, make...)
	case "wal":
		exe(t, path, append([]string{"PRAGMA journal_mode = WAL"}, make...)...)
	case "staging":
		exe(t, path, make...)
		options["sink.staging"] = "true"
	}
	return NewStore(path, options, newEnv())
}

func create(s *Store, schema types.Schema) *Transaction {
	return NewTransaction(Target{Store: s, Table: "t", Columns: schema.Columns, Create: &schema})
}

func insertOld(s *Store) *Transaction {
	return NewTransaction(Target{Store: s, Table: "old", Columns: numbersSchema().Columns})
}

// TestCreateAndCommit: every kind of file gets the table, all rows, and keeps nothing of ours.
func TestCreateAndCommit(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			s := fileOf(t, kind)
			n, out, err := write(create(s, numbersSchema()), batches(numbers(1, 2000), numbers(2001, 0), numbers(2001, 500)))
			require.NoError(t, err)
			require.Equal(t, connector.Done, out)
			require.EqualValues(t, 2500, n)
			require.Equal(t, "2500 3126250", one(t, s.Path, "SELECT count(*) || ' ' || sum(id) FROM t"))
			require.Equal(t, "ok", one(t, s.Path, "PRAGMA integrity_check"))
			require.Equal(t, []string{"shop.db"}, names(t, filepath.Dir(s.Path)))
			require.Equal(t, map[bool]string{true: "wal", false: "delete"}[kind == "wal"], one(t, s.Path, "PRAGMA journal_mode"))
		})
	}
}

// TestNothingIsLeft: whatever ends a write, what was there stays as it was and a rerun works.
func TestNothingIsLeft(t *testing.T) {
	schema := numbersSchema()
	keyed := types.Schema{Columns: schema.Columns, PrimaryKey: []string{"id"}}
	for _, kind := range kinds {
		for name, c := range map[string]struct {
			schema types.Schema
			next   func() func() (*column.Batch, error)
			want   string
		}{
			"source error": {schema, func() func() (*column.Batch, error) { return failAfter(14) }, "row 1,500 cannot be made"},
			"at once":      {schema, func() func() (*column.Batch, error) { return failAfter(0) }, "row 1,500 cannot be made"},
			"duplicate key": {keyed, func() func() (*column.Batch, error) {
				return batches(numbers(1, 1000), numbers(2000, 10), numbers(1000, 5))
			}, "table t, row 1011: duplicate key id = 1000"},
			"panic": {schema, func() func() (*column.Batch, error) { return func() (*column.Batch, error) { panic("oh") } }, "panic while producing the rows of table t: oh"},
			"null in key": {keyed, func() func() (*column.Batch, error) {
				b := numbers(1, 10)
				b.Cols[0].SetNull(6)
				return batches(b)
			}, "table t, row 7: NULL in a NOT NULL column (id = NULL)"},
		} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				s := fileOf(t, kind)
				before := names(t, filepath.Dir(s.Path))
				_, out, err := write(create(s, c.schema), c.next())
				require.EqualError(t, err, c.want)
				require.Equal(t, connector.NotDone, out)
				require.Equal(t, before, names(t, filepath.Dir(s.Path)))
				if kind != "new file" {
					require.Equal(t, "0", one(t, s.Path, "SELECT count(*) FROM sqlite_schema WHERE name = 't'"))
					require.Equal(t, "1a2b3c", one(t, s.Path, "SELECT group_concat(id || s, '') FROM old"))
				}
				_, _, err = write(create(s, keyed), batches(numbers(1, 10)))
				require.NoError(t, err)
				require.Equal(t, "10", one(t, s.Path, "SELECT count(*) FROM t"))
			})
		}
	}
}

// TestPoison: after an error the writer, Seal and Commit say the first error again and write nothing.
func TestPoison(t *testing.T) {
	ctx := context.Background()
	s := fileOf(t, "rollback journal")
	tx := insertOld(s)
	require.NoError(t, tx.Begin(ctx, connector.NewJobID()))
	w, err := tx.Writer(ctx, 0)
	require.NoError(t, err)
	_, err = tx.Writer(ctx, 1)
	require.ErrorContains(t, err, "one writer at a time")
	require.NoError(t, w.Write(ctx, batches(numbers(10, 10))))
	require.ErrorIs(t, w.Write(ctx, failAfter(1)), errStop)
	require.ErrorIs(t, w.Write(ctx, batches(numbers(50, 10))), errStop)
	_, err = tx.Seal(ctx)
	require.ErrorIs(t, err, errStop)
	out, err := tx.Commit(ctx)
	require.ErrorIs(t, err, errStop)
	require.Equal(t, connector.NotDone, out)
	require.NoError(t, tx.Abort(ctx))
	require.NoError(t, tx.Abort(ctx))
	require.Equal(t, "3", one(t, s.Path, "SELECT count(*) FROM old"))
}

// TestAutocommit: a transaction that ended by itself stops the statement; nothing commits row by row.
func TestAutocommit(t *testing.T) {
	ctx := context.Background()
	s := fileOf(t, "rollback journal")
	tx := insertOld(s)
	require.NoError(t, tx.Begin(ctx, connector.NewJobID()))
	w, err := tx.Writer(ctx, 0)
	require.NoError(t, err)
	require.NoError(t, w.Write(ctx, batches(numbers(10, 10))))
	require.NoError(t, tx.conn.Exec("ROLLBACK"))
	require.ErrorContains(t, w.Write(ctx, batches(numbers(30, 10))), "the transaction ended by itself")
	require.NoError(t, tx.Abort(ctx))
	require.Equal(t, "3", one(t, s.Path, "SELECT count(*) FROM old"))
}

// TestRepeatable: Commit and Abort may be called again.
func TestRepeatable(t *testing.T) {
	ctx := context.Background()
	for _, kind := range kinds {
		s := fileOf(t, kind)
		tx := create(s, numbersSchema())
		_, out, err := write(tx, batches(numbers(1, 10)))
		require.NoError(t, err)
		require.Equal(t, connector.Done, out)
		out, err = tx.Commit(ctx)
		require.NoError(t, err)
		require.Equal(t, connector.Done, out)
		require.NoError(t, tx.Abort(ctx))
		require.Equal(t, "10", one(t, s.Path, "SELECT count(*) FROM t"))
	}
}

// TestIsolation: until Commit nobody sees the table, in a WAL file nobody even waits.
func TestIsolation(t *testing.T) {
	ctx := context.Background()
	for _, kind := range []string{"wal", "staging", "rollback journal"} {
		s := fileOf(t, kind)
		tx := create(s, numbersSchema())
		require.NoError(t, tx.Begin(ctx, connector.NewJobID()))
		w, err := tx.Writer(ctx, 0)
		require.NoError(t, err)
		require.NoError(t, w.Write(ctx, batches(numbers(1, 100))))
		require.Equal(t, "1 3", one(t, s.Path, "SELECT (SELECT count(*) FROM sqlite_schema) || ' ' || (SELECT count(*) FROM old)"), kind)
		_, err = tx.Seal(ctx)
		require.NoError(t, err)
		require.Equal(t, "1", one(t, s.Path, "SELECT count(*) FROM sqlite_schema"), kind)
		out, err := tx.Commit(ctx)
		require.NoError(t, err)
		require.Equal(t, connector.Done, out)
		require.Equal(t, "100", one(t, s.Path, "SELECT count(*) FROM t"))
	}
}

// TestReadsSame: a job that reads the rollback-journal file it writes takes the scratch road; in a WAL
// file it writes directly.
func TestReadsSame(t *testing.T) {
	for kind, want := range map[string]road{"rollback journal": scratch, "wal": direct} {
		s := fileOf(t, kind)
		schema := numbersSchema()
		tx := NewTransaction(Target{Store: s, Table: "t", Columns: schema.Columns, Create: &schema, ReadsSame: true})
		tab, def := openFor(t, s.Path, "old")
		src, err := tab.Source(context.Background(), connector.Scan{Columns: allColumns(def), Limit: -1})
		require.NoError(t, err)
		splits, err := src.Splits(context.Background(), 1)
		require.NoError(t, err)
		r, err := src.Reader(context.Background(), splits)
		require.NoError(t, err)
		end := false
		n, _, err := write(tx, func() (*column.Batch, error) {
			if end {
				return nil, errors.Join(r.Close(), src.Close())
			}
			b := &column.Batch{}
			st, err := r.Read(context.Background(), b)
			end = st == connector.End
			return b, err
		})
		require.NoError(t, err, kind)
		require.EqualValues(t, 3, n)
		require.Equal(t, want, tx.road, kind)
		require.Equal(t, "1a2b3c", one(t, s.Path, "SELECT group_concat(id || s, '') FROM t"))
		require.Equal(t, []string{"shop.db"}, names(t, filepath.Dir(s.Path)))
	}
}

// TestInsert: columns left out get the table's default or NULL; generated columns, views and missing
// columns are refused; a rival's new column does not matter.
func TestInsert(t *testing.T) {
	for _, staging := range []string{"false", "true"} {
		path := file(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT DEFAULT 'd', b TEXT, n NUMERIC(10,2), g INT AS (id + 1))", "CREATE VIEW v AS SELECT 1 AS id")
		s := NewStore(path, map[string]string{"sink.staging": staging}, newEnv())
		cols := []types.Column{{Name: "id", Type: types.Of(types.BigInt)}, {Name: "n", Type: types.DecimalOf(10, 2)}}
		b := column.NewBatch([]types.Type{cols[0].Type, cols[1].Type}, 2)
		ints(b.Cols[0], 7, 8)
		ints(b.Cols[1], 99, 1200)
		b.N = 2
		n, _, err := write(NewTransaction(Target{Store: s, Table: "t", Columns: cols}), batches(b))
		require.NoError(t, err)
		require.EqualValues(t, 2, n)
		require.Equal(t, "7 d <> 0.99 real 8,8 d <> 12 integer 9", one(t, path, "SELECT group_concat(id || ' ' || a || ' <' || coalesce(b, '') || '> ' || n || ' ' || typeof(n) || ' ' || g) FROM t"))
		tab, schema := openFor(t, path, "t")
		_, err = tab.Transaction(context.Background(), connector.Insert{Columns: []int{schema.Index("g")}})
		require.ErrorContains(t, err, "column g is computed by SQLite and cannot be written")
		view, _ := openFor(t, path, "v")
		_, err = view.Transaction(context.Background(), connector.Insert{Columns: []int{0}})
		require.ErrorContains(t, err, "is a view of SQLite")
		_, _, err = write(NewTransaction(Target{Store: s, Table: "t", Columns: []types.Column{{Name: "gone", Type: types.String()}}}), batches())
		require.EqualError(t, err, "table t has no column gone any more")
		_, _, err = write(NewTransaction(Target{Store: s, Table: "no", Columns: cols}), batches())
		require.ErrorContains(t, err, "table no does not exist in")
		_, _, err = write(NewTransaction(Target{Store: s, Table: "t", Columns: cols}), batches(b))
		require.ErrorContains(t, err, "table t, row 1: duplicate key id = 7")
		require.Equal(t, "2", one(t, path, "SELECT count(*) FROM t"))
	}
}

// TestTriggers: rows that a trigger drops fail the job.
func TestTriggers(t *testing.T) {
	for _, staging := range []string{"false", "true"} {
		path := file(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT)", "CREATE TABLE log (x)",
			"CREATE TRIGGER keep_even BEFORE INSERT ON t WHEN NEW.id % 400 = 0 BEGIN SELECT RAISE(IGNORE); END",
			"CREATE TRIGGER note AFTER INSERT ON t BEGIN INSERT INTO log VALUES (NEW.id); END")
		s := NewStore(path, map[string]string{"sink.staging": staging}, newEnv())
		tx := NewTransaction(Target{Store: s, Table: "t", Columns: numbersSchema().Columns})
		_, _, err := write(tx, batches(numbers(1, 1000)))
		require.EqualError(t, err, "2 of 1,000 rows were not stored; table t has triggers: keep_even, note")
		require.Equal(t, "0 0", one(t, path, "SELECT (SELECT count(*) FROM t) || ' ' || (SELECT count(*) FROM log)"))
		n, _, err := write(NewTransaction(Target{Store: s, Table: "t", Columns: numbersSchema().Columns}), batches(numbers(1, 399)))
		require.NoError(t, err)
		require.EqualValues(t, 399, n)
		require.Equal(t, "399", one(t, path, "SELECT count(*) FROM log"))
	}
}

// TestExists: a taken name is refused, whatever its case, and left alone.
func TestExists(t *testing.T) {
	for _, kind := range kinds[1:] {
		s := fileOf(t, kind)
		exe(t, s.Path, "CREATE TABLE T (x)", "INSERT INTO T VALUES (1)")
		_, _, err := write(create(s, numbersSchema()), batches(numbers(1, 10)))
		require.EqualError(t, err, "table T already exists, and SQLite does not tell it from t", kind)
		require.Equal(t, "1", one(t, s.Path, "SELECT count(*) FROM T"))
	}
	// A rival that takes the name while a scratch file is filled wins.
	s := fileOf(t, "staging")
	tx := create(s, numbersSchema())
	_, _, err := write(tx, func() (*column.Batch, error) {
		exe(t, s.Path, "CREATE TABLE IF NOT EXISTS t (rival)")
		return nil, nil
	})
	var e *ExistsError
	require.ErrorAs(t, err, &e)
	require.Equal(t, "rival", one(t, s.Path, "SELECT name FROM pragma_table_info('t')"))
	require.Equal(t, []string{"shop.db"}, names(t, filepath.Dir(s.Path)))
}

// TestCancel: 100 writes into an existing table, each canceled at a random batch, change nothing.
func TestCancel(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for _, kind := range kinds[1:] {
		s := fileOf(t, kind)
		for range 100 {
			ctx, cancel := context.WithCancelCause(context.Background())
			at := random.Intn(12)
			i := 0
			tx := insertOld(s)
			require.NoError(t, tx.Begin(ctx, connector.NewJobID()))
			w, err := tx.Writer(ctx, 0)
			require.NoError(t, err)
			err = w.Write(ctx, func() (*column.Batch, error) {
				if i == 10 {
					return nil, nil
				}
				if i == at {
					cancel(errStop)
				}
				i++
				return numbers(i*100, 100), nil
			})
			if err == nil { // canceled after the last batch
				cancel(errStop)
				_, err = tx.Seal(ctx)
			}
			require.ErrorIs(t, err, errStop)
			require.NoError(t, tx.Abort(context.Background()))
			cancel(nil)
		}
		require.Equal(t, "3", one(t, s.Path, "SELECT count(*) FROM old"), kind)
		_, _, err := write(insertOld(s), batches(numbers(10, 10)))
		require.NoError(t, err)
		require.Equal(t, "13", one(t, s.Path, "SELECT count(*) FROM old"), kind)
	}
}

// hold takes the write lock of a file through another library handle until the function returned is called.
func hold(t testing.TB, path string) (release func()) {
	db, err := sql.Open("sqlite3", path)
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	_, err = db.Exec("BEGIN EXCLUSIVE")
	require.NoError(t, err)
	return func() { _, _ = db.Exec("ROLLBACK"); db.Close() }
}

// TestLockWait: a locked file is waited for; the wait ends with the context and says who has the lock.
func TestLockWait(t *testing.T) {
	for _, kind := range kinds[1:] {
		s := fileOf(t, kind)
		release := hold(t, s.Path)
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		tx := create(s, numbersSchema())
		err := tx.Begin(ctx, connector.NewJobID())
		if kind == "wal" || kind == "rollback journal" {
			require.EqualError(t, err, "database "+s.Path+" is locked by another statement of this process", kind)
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}
		require.NoError(t, tx.Abort(context.Background()))
		cancel()

		time.AfterFunc(100*time.Millisecond, release)
		_, _, err = write(create(s, numbersSchema()), batches(numbers(1, 10)))
		require.NoError(t, err, kind)
		require.Equal(t, "10", one(t, s.Path, "SELECT count(*) FROM t"))
	}
}

// TestReaderWait: a reader's lock on a rollback-journal file makes Commit wait; when the wait is ended
// nothing is committed.
func TestReaderWait(t *testing.T) {
	s := fileOf(t, "rollback journal")
	c, err := Open(s.files(), s.Path, Read)
	require.NoError(t, err)
	require.NoError(t, c.Exec("BEGIN"))
	require.NoError(t, touch(c))
	ctx := context.Background()
	tx := create(s, numbersSchema())
	require.NoError(t, tx.Begin(ctx, connector.NewJobID()))
	w, err := tx.Writer(ctx, 0)
	require.NoError(t, err)
	require.NoError(t, w.Write(ctx, batches(numbers(1, 10))))
	_, err = tx.Seal(ctx)
	require.NoError(t, err)
	short, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
	defer cancel()
	out, err := tx.Commit(short)
	require.Equal(t, connector.NotDone, out)
	require.ErrorContains(t, err, "is locked")
	require.NoError(t, tx.Abort(ctx))
	require.NoError(t, c.Close())
	require.Equal(t, "0", one(t, s.Path, "SELECT count(*) FROM sqlite_schema WHERE name = 't'"))
}

// TestHolder reads lines of /proc/locks.
func TestHolder(t *testing.T) {
	list := "1: POSIX  ADVISORY  WRITE 812 08:01:1311 1073741824 1073742335\n2: FLOCK  ADVISORY  WRITE 99 08:01:77 0 EOF\n3: POSIX  ADVISORY  READ 5 08:01:42 120 120\n"
	require.Equal(t, " by "+process(812), holderIn(list, []uint64{1311}, 5))
	require.Equal(t, " by another statement of this process", holderIn(list, []uint64{7, 42}, 5))
	require.Equal(t, "", holderIn(list, []uint64{77}, 5))
	require.Regexp(t, `^process 1 \(\S.*\)$`, process(1))
	require.Equal(t, "process 99999999", process(99999999))
}

// TestTwoWriters: two jobs that write one file take turns and both finish, also into a file that neither
// finds there.
func TestTwoWriters(t *testing.T) {
	for _, kind := range kinds {
		s := fileOf(t, kind)
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				schema := numbersSchema()
				tx := NewTransaction(Target{Store: s, Table: fmt.Sprintf("t%d", i), Columns: schema.Columns, Create: &schema})
				next := batches(numbers(1, 2000), numbers(2001, 2000))
				if i == 3 {
					next = failAfter(1)
				}
				if _, _, err := write(tx, next); (err == nil) != (i < 3) {
					t.Errorf("%s, t%d: %v", kind, i, err)
				}
			}()
		}
		wg.Wait()
		require.Equal(t, "4000 4000 4000", one(t, s.Path, "SELECT (SELECT count(*) FROM t0) || ' ' || (SELECT count(*) FROM t1) || ' ' || (SELECT count(*) FROM t2)"), kind)
		require.Equal(t, []string{"shop.db"}, names(t, filepath.Dir(s.Path)))
	}
}

// TestRemovedFile: a file that is removed while its lock is waited for is made anew, never written in
// the dark; one removed before the commit is an error.
func TestRemovedFile(t *testing.T) {
	ctx := context.Background()
	s := fileOf(t, "rollback journal")
	tx := create(s, numbersSchema())
	require.NoError(t, tx.Begin(ctx, connector.NewJobID()))
	w, err := tx.Writer(ctx, 0)
	require.NoError(t, err)
	require.NoError(t, w.Write(ctx, batches(numbers(1, 10))))
	_, err = tx.Seal(ctx)
	require.NoError(t, err)
	require.NoError(t, os.Rename(s.Path, s.Path+".away"))
	out, err := tx.Commit(ctx)
	require.Equal(t, connector.NotDone, out)
	require.ErrorContains(t, err, "removed or replaced")
	require.NoError(t, tx.Abort(ctx))
	require.Equal(t, "1", one(t, s.Path+".away", "SELECT count(*) FROM sqlite_schema"))
}

// TestEmptyFile: a file left empty by a killed job is used as if it were new, and not removed when the
// job fails: it was there before.
func TestEmptyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.db")
	writeText(t, path, "")
	s := NewStore(path, nil, newEnv())
	_, _, err := write(create(s, numbersSchema()), failAfter(3))
	require.ErrorIs(t, err, errStop)
	require.Equal(t, []string{"shop.db"}, names(t, filepath.Dir(path)))
	_, _, err = write(create(s, numbersSchema()), batches(numbers(1, 10)))
	require.NoError(t, err)
	require.Equal(t, "10", one(t, path, "SELECT count(*) FROM t"))
}

// TestSweep: only scratch files of dead jobs go.
func TestSweep(t *testing.T) {
	ctx := context.Background()
	s := fileOf(t, "staging")
	dead, kept, live := connector.NewJobID(), connector.NewJobID(), connector.NewJobID()
	for _, job := range []connector.JobID{dead, kept} {
		writeText(t, s.Path+scratchMark+job.String(), "rows")
		writeText(t, s.Path+scratchMark+job.String()+lockSuffix, "")
	}
	bare := connector.NewJobID() // its lock file is gone: a sweeper was killed
	writeText(t, s.Path+scratchMark+bare.String(), "rows")
	foreign := s.Path + scratchMark + "notes.txt"
	writeText(t, foreign, "mine")
	// What is no plain file was made by no job.
	folder, link, locked := connector.NewJobID(), connector.NewJobID(), connector.NewJobID()
	dir := filepath.Dir(s.Path)
	victim := filepath.Join(t.TempDir(), "victim")
	writeText(t, victim, "mine")
	require.NoError(t, os.Mkdir(s.Path+scratchMark+folder.String(), 0o700))
	require.NoError(t, os.Symlink(victim, s.Path+scratchMark+link.String()))
	require.NoError(t, os.Symlink(victim+"2", s.Path+scratchMark+locked.String()+lockSuffix))
	others := []string{"shop.db" + scratchMark + folder.String(), "shop.db" + scratchMark + link.String(), "shop.db" + scratchMark + locked.String() + lockSuffix}
	defer func() {
		require.Subset(t, names(t, dir), others)
		require.True(t, absent(victim+"2"))
		require.False(t, absent(victim))
	}()
	writeText(t, s.Path+scratchMark+dead.String()+journalSuffix, "")
	tx := create(s, numbersSchema())
	require.NoError(t, tx.Begin(ctx, live))
	removed, left, err := Sweep(ctx, s.Path, func(job connector.JobID) bool { return job == kept })
	require.NoError(t, err)
	require.ElementsMatch(t, []string{s.Path + scratchMark + dead.String(), s.Path + scratchMark + bare.String()}, removed)
	require.ElementsMatch(t, []string{s.Path + scratchMark + kept.String(), s.Path + scratchMark + live.String()}, left)
	require.NoError(t, tx.Abort(ctx))
	require.ElementsMatch(t, append(others, "shop.db", filepath.Base(foreign), "shop.db"+scratchMark+kept.String(), "shop.db"+scratchMark+kept.String()+lockSuffix), names(t, dir))
}

// TestSnapshot: while a writer moves amounts between rows in one transaction after another, readers on
// rowid ranges always see one commit: the sum is the same.
func TestSnapshot(t *testing.T) {
	for _, mode := range []string{"wal", "delete"} {
		path := file(t, "PRAGMA journal_mode = "+mode, "CREATE TABLE a (id INTEGER PRIMARY KEY, v INT)",
			"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000) INSERT INTO a SELECT i, 0 FROM n")
		db, err := sql.Open("sqlite3", path+"?_busy_timeout=20000&_synchronous=OFF")
		require.NoError(t, err)
		stop, done := make(chan struct{}), make(chan struct{})
		var commits atomic.Int64
		var pause sync.Mutex
		go func() {
			defer close(done)
			for n := 1; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				pause.Lock()
				if _, err := db.Exec("UPDATE a SET v = v + CASE id WHEN 1 THEN 1 ELSE -1 END WHERE id IN (1, 40000)"); err != nil {
					t.Error(err)
				}
				pause.Unlock()
				commits.Add(1)
				time.Sleep(time.Duration(n%3) * time.Millisecond)
			}
		}()
		tab, _ := openFor(t, path, "a")
		several := 0
		for n := 0; (n < 60 || commits.Load() < 20 || several == 0) && !t.Failed(); n++ {
			var mu sync.Mutex
			var sum, rows int64
			src, err := tab.Source(context.Background(), connector.Scan{Columns: []int{1}, Limit: -1})
			require.NoError(t, err)
			still := n >= 60 && several == 0 // the writer's commits have let none have several readers
			if still {
				pause.Lock()
			}
			splits, err := src.Splits(context.Background(), 3)
			if still {
				pause.Unlock()
			}
			require.NoError(t, err)
			if len(splits) > 1 {
				several++
			}
			next := make(chan connector.Split, len(splits))
			for _, s := range splits {
				next <- s
			}
			close(next)
			var wg sync.WaitGroup
			for range min(3, len(splits)) {
				wg.Add(1)
				go func() {
					defer wg.Done()
					b := &column.Batch{}
					for s := range next {
						r, err := src.Reader(context.Background(), []connector.Split{s})
						if err != nil {
							t.Error(err)
							return
						}
						for st := connector.More; st != connector.End; {
							if st, err = r.Read(context.Background(), b); err != nil {
								t.Error(err)
								return
							}
							mu.Lock()
							for _, v := range b.Cols[0].I32[:b.N] {
								sum += int64(v)
							}
							rows += int64(b.N)
							mu.Unlock()
						}
						_ = r.Close()
					}
				}()
			}
			wg.Wait()
			require.NoError(t, src.Close())
			require.EqualValues(t, 40000, rows)
			require.Zero(t, sum, "the readers saw different commits of a %s file", mode)
		}
		close(stop)
		<-done
		db.Close()
	}
}

// TestOnConflict: the opt-ins for rows whose key is there already, on both roads.
func TestOnConflict(t *testing.T) {
	for _, staging := range []string{"false", "true"} {
		for option, want := range map[string]string{"update": "1x 2some 3some 4some", "ignore": "1x 2y 3some 4some"} {
			path := file(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT)", "INSERT INTO t VALUES (1, 'x'), (2, 'y')", "CREATE TABLE keyless (id INTEGER)")
			s := NewStore(path, map[string]string{"sink.staging": staging, "sink.on-conflict": option}, newEnv())
			_, _, err := write(NewTransaction(Target{Store: s, Table: "t", Columns: numbersSchema().Columns}), batches(numbers(2, 2), numbers(3, 2)))
			require.NoError(t, err)
			require.Equal(t, want, one(t, path, "SELECT group_concat(id || substr(s, 1, 4), ' ') FROM t"))

			_, _, err = write(NewTransaction(Target{Store: s, Table: "keyless", Columns: numbersSchema().Columns[:1]}), batches())
			require.EqualError(t, err, "table keyless has no PRIMARY KEY, which 'sink.on-conflict' = '"+option+"' needs")

			schema := numbersSchema()
			schema.PrimaryKey = []string{"id"}
			n, _, err := write(NewTransaction(Target{Store: s, Table: "made", Columns: schema.Columns, Create: &schema}), batches(numbers(1, 3), numbers(2, 3)))
			require.NoError(t, err)
			require.EqualValues(t, map[string]int{"update": 6, "ignore": 4}[option], n)
			require.Equal(t, "4", one(t, path, "SELECT count(*) FROM made"))
			b := numbers(9, 1)
			b.Cols[0].SetNull(0)
			_, _, err = write(NewTransaction(Target{Store: s, Table: "made", Columns: schema.Columns}), batches(b))
			require.ErrorContains(t, err, "NULL", "only a conflict of the key is ignored")
		}
	}
}

// TestRowOfFail: the row at which a trigger or a clause of the table ends the statement is named, also where rows before
// it stay for the moment; or none is.
func TestRowOfFail(t *testing.T) {
	trigger := "CREATE TRIGGER g BEFORE INSERT ON t WHEN NEW.id = 12 BEGIN SELECT RAISE(%s, 'twelve'); END"
	for _, c := range []struct{ table, trigger, staged, direct string }{
		{"CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT)", fmt.Sprintf(trigger, "ABORT"), "table t, row 4: twelve", "table t: twelve"},
		{"CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT)", fmt.Sprintf(trigger, "FAIL"), "table t, row 4: twelve", "table t: twelve"},
		{"CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT)", fmt.Sprintf(trigger, "ROLLBACK"), "table t: twelve", "table t: twelve"},
		{"CREATE TABLE t (id INTEGER UNIQUE, s TEXT, CHECK (id <> 12) ON CONFLICT FAIL)", "CREATE VIEW v AS SELECT 1", "table t, row 4: CHECK constraint failed: id <> 12", "table t, row 4: CHECK constraint failed: id <> 12"},
		{"CREATE TABLE t (id INTEGER UNIQUE ON CONFLICT FAIL, s TEXT)", "INSERT INTO t VALUES (12, 'x')", "table t, row 4: duplicate key id = 12", "table t, row 4: duplicate key id = 12"},
	} {
		for staging, want := range map[string]string{"true": c.staged, "false": c.direct} {
			path := file(t, c.table, c.trigger, "INSERT INTO t VALUES (1, 'a')")
			before := one(t, path, "SELECT group_concat(id) FROM t")
			s := NewStore(path, map[string]string{"sink.staging": staging}, newEnv())
			_, out, err := write(NewTransaction(Target{Store: s, Table: "t", Columns: numbersSchema().Columns}), batches(numbers(9, 2), numbers(11, 3000)))
			require.EqualError(t, err, want, c.table)
			require.Equal(t, connector.NotDone, out)
			require.Equal(t, before, one(t, path, "SELECT group_concat(id) FROM t"))
		}
	}
}

// TestConstraints: the row that breaks a constraint is named on both roads.
func TestConstraints(t *testing.T) {
	for _, staging := range []string{"false", "true"} {
		path := file(t, "CREATE TABLE t (id INTEGER, s TEXT NOT NULL, rowid INT, UNIQUE (id, s), CHECK (id < 100))",
			"INSERT INTO t (id, s) VALUES (7, 'some text of a row, long enough to fill pages')")
		s := NewStore(path, map[string]string{"sink.staging": staging}, newEnv())
		try := func(list ...*column.Batch) error {
			_, _, err := write(NewTransaction(Target{Store: s, Table: "t", Columns: numbersSchema().Columns}), batches(list...))
			require.Equal(t, "1", one(t, path, "SELECT count(*) FROM t"))
			return err
		}
		null := numbers(10, 4)
		null.Cols[1].SetNull(2)
		require.EqualError(t, try(numbers(1, 10)), "table t, row 7: duplicate key id = 7, s = 'some text of a row, long enough to fill pages'")
		require.EqualError(t, try(numbers(10, 5), numbers(12, 1), numbers(7, 1)), "table t, row 6: duplicate key id = 12, s = 'some text of a row, long enough to fill pages'")
		require.EqualError(t, try(null), "table t, row 3: NULL in a NOT NULL column (s = NULL)")
		require.EqualError(t, try(numbers(98, 3)), "table t, row 3: CHECK constraint failed: id < 100")
	}
}
