package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
)

// sealed brings a transaction to where only Commit is left.
func sealed(t testing.TB, tx *Transaction, list ...*column.Batch) {
	t.Helper()
	ctx := context.Background()
	require.NoError(t, tx.Begin(ctx, connector.NewJobID()))
	w, err := tx.Writer(ctx, 0)
	require.NoError(t, err)
	require.NoError(t, w.Write(ctx, batches(list...)))
	require.NoError(t, w.Close())
	_, err = tx.Seal(ctx)
	require.NoError(t, err)
}

// TestJudge: what became of a COMMIT that failed is decided from evidence, never from rows that look like
// ours.
func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name, kind, ends, rival string
		code                    int
		want                    connector.Outcome
	}{
		{"rolled back", "rollback journal", "ROLLBACK", "", codeIOErr | 10<<8, connector.NotDone},
		{"rolled back, disk full", "rollback journal", "ROLLBACK", "", codeFull, connector.NotDone},
		{"committed, the directory not synced", "rollback journal", "COMMIT", "", ioDirFsync, connector.Done},
		{"committed, and the code does not tell", "rollback journal", "COMMIT", "", codeIOErr | 8<<8, connector.Unknown},
		{"rolled back, then a rival", "rollback journal", "ROLLBACK", "CREATE TABLE t (id BIGINT, s TEXT)", codeIOErr | 10<<8, connector.Unknown},
		{"disk full, then a rival", "rollback journal", "ROLLBACK", "CREATE TABLE t (id BIGINT, s TEXT)", codeFull, connector.NotDone},
		{"rolled back", "wal", "ROLLBACK", "", ioFsync, connector.NotDone},
		{"committed", "wal", "COMMIT", "", ioFsync, connector.Unknown},
		{"rolled back, then a rival elsewhere", "wal", "ROLLBACK", "CREATE TABLE other (a)", ioFsync, connector.NotDone},
		{"rolled back, then a rival of the name", "wal", "ROLLBACK", "CREATE TABLE t (id BIGINT, s TEXT)", ioFsync, connector.Unknown},
		{"committed, then dropped", "wal", "COMMIT", "DROP TABLE t", ioFsync, connector.Unknown},
	} {
		t.Run(c.kind+"/"+c.name, func(t *testing.T) {
			s := fileOf(t, c.kind)
			tx := create(s, numbersSchema())
			sealed(t, tx, numbers(1, 10))
			require.NoError(t, tx.before.watch(context.Background(), s.Path))
			require.NoError(t, tx.conn.Exec(c.ends))
			if c.rival != "" {
				exe(t, s.Path, c.rival)
			}
			out, _ := tx.before.judge(context.Background(), tx.conn, &Error{Code: c.code, Path: s.Path})
			require.Equal(t, c.want, out)
			tx.closeConn()
			require.NoError(t, tx.drop())
			require.Equal(t, "1a2b3c", one(t, s.Path, "SELECT group_concat(id || s, '') FROM old"))
		})
	}
}

// TestNoFrames: the length of a WAL tells whether anything lies behind the commits that are seen.
func TestNoFrames(t *testing.T) {
	s := fileOf(t, "wal")
	c, err := Open(s.files(), s.Path, Write)
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.Exec("INSERT INTO old VALUES (4, 'd')"))
	require.NoError(t, c.Exec("INSERT INTO old VALUES (5, 'e')"))
	none, err := noFrames(c)
	require.NoError(t, err)
	require.True(t, none)
	wal, err := os.Stat(s.Path + "-wal")
	require.NoError(t, err)
	require.NoError(t, os.Truncate(s.Path+"-wal", wal.Size()+4096))
	none, err = noFrames(c)
	require.NoError(t, err)
	require.True(t, none, "a frame is longer than its page")
	require.NoError(t, os.Truncate(s.Path+"-wal", wal.Size()+4096+24))
	none, err = noFrames(c)
	require.NoError(t, err)
	require.False(t, none)
}

// TestMovedFile: a file that is removed or replaced while a commit waits for a reader, or while a job
// runs, is never reported as written, and nothing of ours gets into the one that is there then.
func TestMovedFile(t *testing.T) {
	for _, kind := range []string{"rollback journal", "staging"} {
		for _, replaced := range []bool{false, true} {
			s := fileOf(t, kind)
			tx := create(s, numbersSchema())
			sealed(t, tx, numbers(1, 10))
			reader, err := Open(s.files(), s.Path, Read)
			require.NoError(t, err)
			require.NoError(t, reader.Exec("BEGIN"))
			require.NoError(t, touch(reader))
			time.AfterFunc(50*time.Millisecond, func() {
				if replaced {
					other := s.Path + ".other"
					exe(t, other, "CREATE TABLE other (a)")
					_ = os.Rename(other, s.Path)
				} else {
					_ = os.Remove(s.Path)
				}
				_ = reader.Close()
			})
			out, err := tx.Commit(context.Background())
			require.Equal(t, connector.NotDone, out, kind)
			require.ErrorContains(t, err, "the file was removed or replaced while")
			require.NoError(t, tx.Abort(context.Background()))
			require.Equal(t, replaced, !absent(s.Path))
			if replaced {
				require.Equal(t, "other", one(t, s.Path, "SELECT group_concat(name) FROM sqlite_schema"))
			}
		}
	}
	s := fileOf(t, "staging")
	tx := create(s, numbersSchema())
	sealed(t, tx, numbers(1, 10))
	require.NoError(t, os.Rename(s.Path, s.Path+".away"))
	exe(t, s.Path, "CREATE TABLE other (a)")
	out, err := tx.Commit(context.Background())
	require.Equal(t, connector.NotDone, out)
	require.EqualError(t, err, "database "+s.Path+": the file was removed or replaced while the job ran; nothing was stored")
	require.NoError(t, tx.Abort(context.Background()))
	require.Equal(t, "other", one(t, s.Path, "SELECT group_concat(name) FROM sqlite_schema"))
	require.Equal(t, "old", one(t, s.Path+".away", "SELECT group_concat(name) FROM sqlite_schema"))
}

// TestCommitWait: a reader that never ends does not make a commit wait for ever.
func TestCommitWait(t *testing.T) {
	for _, kind := range []string{"rollback journal", "staging"} {
		s := fileOf(t, kind)
		s.CommitWait = 60 * time.Millisecond
		reader, err := Open(s.files(), s.Path, Read)
		require.NoError(t, err)
		require.NoError(t, reader.Exec("BEGIN"))
		require.NoError(t, touch(reader))
		tx := create(s, numbersSchema())
		sealed(t, tx, numbers(1, 10))
		out, err := tx.Commit(context.Background())
		require.Equal(t, connector.NotDone, out)
		require.EqualError(t, err, "the rows could not be committed within 60ms, nothing was stored: database "+s.Path+" is locked by another statement of this process")
		require.NoError(t, tx.Abort(context.Background()))
		require.Equal(t, "1", one(t, s.Path, "SELECT count(*) FROM sqlite_schema"), "new readers come in again")
		require.NoError(t, reader.Close())
		_, _, err = write(create(s, numbersSchema()), batches(numbers(1, 10)))
		require.NoError(t, err)
	}
}

// faulty are the files and tables of TestFaults: id → INTEGER PRIMARY KEY ON CONFLICT REPLACE has all the
// rowids before.
var faulty = []string{"create", "create wal", "insert", "replace", "without rowid", "insert wal"}

// faultyTx returns the transaction of a case; its file is made when prepare is set.
func faultyTx(t testing.TB, path, name string, prepare bool) (*Transaction, func() (*column.Batch, error)) {
	if prepare {
		if strings.HasSuffix(name, "wal") {
			exe(t, path, "PRAGMA journal_mode = WAL")
		}
		exe(t, path, "CREATE TABLE old (id INTEGER PRIMARY KEY, s TEXT)", "INSERT INTO old VALUES (1, 'a')",
			"CREATE TABLE rep (id INTEGER PRIMARY KEY ON CONFLICT REPLACE, s TEXT)",
			"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO rep SELECT i, 'was' FROM n",
			"CREATE TABLE wr (id INTEGER PRIMARY KEY, s TEXT) WITHOUT ROWID")
	}
	s := NewStore(path, nil, newEnv())
	schema := numbersSchema()
	target := Target{Store: s, Columns: schema.Columns}
	switch name {
	case "create", "create wal":
		target.Table, target.Create = "t", &schema
	case "insert", "insert wal":
		target.Table = "old"
	case "replace":
		target.Table = "rep"
		s.OnConflict = "update"
	case "without rowid":
		target.Table = "wr"
	}
	return NewTransaction(target), batches(numbers(2, 499))
}

// faultyRows says what of a case is stored: "none", "all" or something that must not be.
func faultyRows(t testing.TB, path, name string) string {
	table := map[string]string{"insert": "old", "insert wal": "old", "replace": "rep", "without rowid": "wr"}[name]
	if table == "" {
		if one(t, path, "SELECT count(*) FROM sqlite_schema WHERE name = 't'") == "0" {
			return "none"
		}
		table = "t"
	}
	switch n := one(t, path, "SELECT count(*) FROM "+table+" WHERE s LIKE 'some text%'"); n {
	case "0":
		return "none"
	case "499":
		return "all"
	default:
		return n + " rows"
	}
}

// TestFaults makes system calls of a commit fail, one after the other, in a process of its own. What that
// process says is what the file has, also after a recovery of the WAL.
func TestFaults(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("this test needs strace (Debian: apt-get install strace); .ci/run and make test install it")
	}
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	faults := []string{"fsync,fdatasync:error=EIO", "unlink,unlinkat:error=EIO", "pwrite64:error=ENOSPC"}
	first, most := 1, 9
	if testing.Short() {
		faults, most = faults[:2], 5
	}
	seen := map[string]int{}
	for _, name := range faulty {
		for _, fault := range faults {
			for n := first; n <= most; n++ {
				dir, err := filepath.EvalSymlinks(t.TempDir())
				require.NoError(t, err)
				path := filepath.Join(dir, "shop.db")
				faultyTx(t, path, name, true)
				holder, err := sql.Open("sqlite3", path) // keeps a WAL from being removed
				require.NoError(t, err)
				require.NoError(t, holder.Ping())
				if strings.HasSuffix(name, "wal") {
					var n int
					require.NoError(t, holder.QueryRow("SELECT count(*) FROM old").Scan(&n))
				}
				calls, _, _ := strings.Cut(fault, ":")
				trace := filepath.Join(t.TempDir(), "trace")
				cmd := exec.Command(strace, "-f", "-o", trace, "-e", "trace="+calls, "-e", fmt.Sprintf("inject=%s:when=%d", fault, n),
					"-P", path, "-P", path+"-journal", "-P", path+"-wal", "-P", dir, self, "-test.run=^TestFaultsHelper$")
				cmd.Env = append(os.Environ(), "FAULTY_FILE="+path, "FAULTY_CASE="+name, "GORACE=atexit_sleep_ms=0")
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, string(out))
				text, err := os.ReadFile(trace)
				require.NoError(t, err)
				if !strings.Contains(string(text), "INJECTED") {
					require.NoError(t, holder.Close())
					wal := strings.HasSuffix(name, "wal") && strings.HasPrefix(fault, "unlink") // a WAL stays
					require.True(t, n > 1 || wal, "%s, %s: no such call", name, fault)
					break
				}
				what := fmt.Sprintf("%s, %s, call %d: %s\n%s", name, fault, n, out, text)
				crashed := t.TempDir() // as after a crash: the WAL is recovered from the files
				files, err := filepath.Glob(path + "*")
				require.NoError(t, err)
				for _, f := range files {
					if !strings.HasSuffix(f, "-shm") {
						require.NoError(t, exec.Command("cp", f, crashed).Run())
					}
				}
				require.NoError(t, holder.Close())
				said, _, _ := strings.Cut(string(out), ":")
				for _, p := range []string{path, filepath.Join(crashed, "shop.db")} {
					require.Equal(t, "ok", one(t, p, "PRAGMA integrity_check"), what)
					rows := faultyRows(t, p, name)
					switch said {
					case "done":
						require.Equal(t, "all", rows, what)
					case "not done":
						require.Equal(t, "none", rows, what)
					default:
						require.Equal(t, "unknown", said, what)
						require.Contains(t, []string{"all", "none"}, rows, what)
					}
				}
				seen[said]++
			}
		}
	}
	t.Log(seen)
	require.Positive(t, seen["not done"])
	require.Less(t, seen["unknown"], seen["not done"], "doubt is the exception: %v", seen)
}

// TestFaultsHelper is the process whose system calls fail.
func TestFaultsHelper(t *testing.T) {
	path := os.Getenv("FAULTY_FILE")
	if path == "" {
		return // runs only as the process that another test starts
	}
	tx, next := faultyTx(t, path, os.Getenv("FAULTY_CASE"), false)
	_, out, err := write(tx, next)
	fmt.Printf("%s: %v\n", map[connector.Outcome]string{connector.Done: "done", connector.NotDone: "not done", connector.Unknown: "unknown"}[out], err)
	os.Exit(0)
}
