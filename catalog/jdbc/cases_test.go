package jdbc

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// TestCases are the public bug reports that concern a SQLite catalog, by their names.
func TestCases(t *testing.T) {
	ctx := context.Background()
	bad := errors.New("row 1,000,000: cannot cast 'x' to INT")
	shop := func(t *testing.T, statements ...string) (catalog.Catalog, string) {
		path := filepath.Join(t.TempDir(), "shop.db")
		if len(statements) > 0 {
			exe(t, path, statements...)
		}
		return open(t, map[string]string{"base-url": "jdbc:sqlite:" + path}), path
	}
	at := catalog.ObjectPath{Database: "shop", Object: "t"}
	table := tableOf(col("a", types.Of(types.Int)))
	stage := func(t *testing.T, c catalog.Catalog, path catalog.ObjectPath, reads bool) catalog.StagedTable {
		s, err := c.Stage(ctx, path, table, catalog.CreateTableAs, reads)
		require.NoError(t, err)
		return s
	}
	insert := func(t *testing.T, c catalog.Catalog) connector.Transaction {
		def, err := c.Table(ctx, at)
		require.NoError(t, err)
		tab, err := c.Factory().Table(ctx, def.Def(connector.ObjectIdentifier{Catalog: "shop", Database: "shop", Object: "t"}), &connector.Env{})
		require.NoError(t, err)
		tx, err := tab.(connector.Writable).Transaction(ctx, connector.Insert{Columns: []int{0}})
		require.NoError(t, err)
		return tx
	}

	t.Run("C9", func(t *testing.T) {
		c, path := shop(t)
		n, err := run(stage(t, c, at, false), rows(0, nil))
		require.NoError(t, err)
		require.Zero(t, n)
		require.Equal(t, "0 a INT", one(t, path, "SELECT (SELECT count(*) FROM t) || ' ' || name || ' ' || type FROM pragma_table_info('t')"))
	})
	t.Run("C10", func(t *testing.T) {
		c, path := shop(t)
		list := []string{"0.1234567890123456789012345", "100.0000000000000000000000000"}
		k := types.DecimalOf(38, 25)
		b := column.NewBatch([]types.Type{k}, 2)
		for _, s := range list {
			d, err := types.ParseDecimalExact([]byte(s), 38, 25)
			require.NoError(t, err)
			b.Cols[0].AppendI128(d)
		}
		b.N = 2
		s, err := c.Stage(ctx, at, tableOf(col("d", k)), catalog.CreateTableAs, false)
		require.NoError(t, err)
		sent := false
		_, err = run(s, func() (*column.Batch, error) {
			if sent {
				return nil, nil
			}
			sent = true
			return b, nil
		})
		require.NoError(t, err)
		require.Equal(t, "text 0.1234567890123456789012345, text 100.0000000000000000000000000", one(t, path, "SELECT group_concat(typeof(d) || ' ' || d, ', ') FROM t"))
	})
	t.Run("C11", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "shop.db")
		exe(t, path, "CREATE TABLE t (i INT, at TIMESTAMP, u)",
			"INSERT INTO t VALUES ('x', 1598313600, 1), ('', '2024-01-02 03:04:05.123456', 'two'), (1.5, 'soon', 3.0), (NULL, NULL, NULL), (x'00ff', NULL, NULL), (9007199254740993, NULL, NULL), (7, NULL, NULL)")
		read := func(kv ...string) ([]string, error) {
			p := map[string]string{"base-url": "jdbc:sqlite:" + path}
			for i := 0; i < len(kv); i += 2 {
				p[kv[i]] = kv[i+1]
			}
			return readRows(open(t, p), at)
		}
		_, err := read()
		require.EqualError(t, err, "table t, column i, rowid 1: the TEXT value 'x' is not of type INT; ALTER CATALOG `shop` SET ('sqlite.misfit' = 'null') reads such cells as NULL, ALTER CATALOG `shop` SET ('sqlite.columns.t.i' = 'STRING') reads the column as text")
		got, err := read("sqlite.misfit", "null")
		require.NoError(t, err)
		require.Equal(t, []string{"-|-|1", "-|2024-01-02 03:04:05.123456|two", "-|-|3.0", "-|-|-", "-|-|-", "-|-|-", "7|-|-"}, got)
		got, err = read("sqlite.columns.t.i", "STRING", "sqlite.columns.at", "STRING")
		require.NoError(t, err)
		require.Equal(t, []string{"x|1598313600|1", "|2024-01-02 03:04:05.123456|two", "1.5|soon|3.0", "-|-|-", "X'00FF'|-|-", "9007199254740993|-|-", "7|-|-"}, got)
		got, err = read("sqlite.misfit", "null", "sqlite.temporal-numbers", "unix-seconds")
		require.NoError(t, err)
		require.Equal(t, "-|2020-08-25 00:00:00.000000|1", got[0])
	})
	t.Run("C13", func(t *testing.T) {
		for _, c := range []func(*testing.T) (catalog.Catalog, string){
			func(t *testing.T) (catalog.Catalog, string) { return shop(t) },
			func(t *testing.T) (catalog.Catalog, string) { return shop(t, "CREATE TABLE o (x)") },
			func(t *testing.T) (catalog.Catalog, string) {
				return shop(t, "PRAGMA journal_mode = WAL", "CREATE TABLE o (x)")
			},
		} {
			cat, path := c(t)
			_, err := run(stage(t, cat, at, false), rows(999_999, bad))
			require.ErrorIs(t, err, bad)
			names, err := cat.ListTables(ctx, "shop")
			require.NoError(t, err)
			require.NotContains(t, names, "t")
			n, err := run(stage(t, cat, at, false), rows(1000, nil))
			require.NoError(t, err)
			require.EqualValues(t, 1000, n)
			require.Equal(t, "1000", one(t, path, "SELECT count(*) FROM t"))
			require.Equal(t, "ok", one(t, path, "PRAGMA integrity_check"))
		}
	})
	t.Run("C15", func(t *testing.T) {
		c, path := shop(t, "CREATE TABLE t (a INT)", "INSERT INTO t VALUES (7)")
		for _, p := range []catalog.Purpose{catalog.CreateTableAs, catalog.CreateTableAsIfNotExists, catalog.CreateTable} {
			_, err := c.Check(ctx, at, table, p)
			require.ErrorIs(t, err, catalog.ErrTableAlreadyExist)
		}
		_, err := run(stage(t, c, at, false), rows(10, nil))
		require.ErrorIs(t, err, catalog.ErrTableAlreadyExist)
		_, err = run(stage(t, c, at, true), rows(10, nil))
		require.ErrorIs(t, err, catalog.ErrTableAlreadyExist)
		_, err = run(insert(t, c), rows(999, bad))
		require.ErrorIs(t, err, bad)
		_, err = c.Check(ctx, catalog.ObjectPath{Database: "shop", Object: "t2"}, table, catalog.CreateTableAs)
		require.NoError(t, err)
		require.Equal(t, "7 1", one(t, path, "SELECT group_concat(a) || ' ' || (SELECT count(*) FROM sqlite_schema) FROM t"))
	})
	t.Run("C16", func(t *testing.T) {
		c, path := shop(t, "CREATE TABLE t (a INT)")
		_, err := run(insert(t, c), rows(1499, bad))
		require.ErrorIs(t, err, bad)
		require.Equal(t, "0", one(t, path, "SELECT count(*) FROM t"))
	})
	t.Run("C18", func(t *testing.T) {
		c, path := shop(t, "CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1), (2), (3)")
		random := rand.New(rand.NewSource(18))
		for range 100 {
			ctx, cancel := context.WithCancel(ctx)
			tx := insert(t, c)
			require.NoError(t, tx.Begin(ctx, connector.NewJobID()))
			w, err := tx.Writer(ctx, 0)
			require.NoError(t, err)
			time.AfterFunc(time.Duration(random.Intn(3000))*time.Microsecond, cancel)
			err = w.Write(ctx, rows(1_000_000_000, nil))
			require.ErrorIs(t, err, context.Canceled)
			require.NoError(t, tx.Abort(context.Background()))
		}
		require.Equal(t, "3", one(t, path, "SELECT count(*) FROM t"))
		_, err := run(insert(t, c), rows(10, nil))
		require.NoError(t, err)
		require.Equal(t, "13", one(t, path, "SELECT count(*) FROM t"))
	})
	t.Run("C19/two into one file", func(t *testing.T) {
		c, path := shop(t)
		var wg sync.WaitGroup
		for _, name := range []string{"x", "y"} {
			s := stage(t, c, catalog.ObjectPath{Database: "shop", Object: name}, false)
			wg.Add(1)
			go func() {
				defer wg.Done()
				if _, err := run(s, rows(20_000, nil)); err != nil {
					t.Error(err)
				}
			}()
		}
		wg.Wait()
		require.Equal(t, "20000 20000", one(t, path, "SELECT (SELECT count(*) FROM x) || ' ' || (SELECT count(*) FROM y)"))
	})
	t.Run("C19/two of one name", func(t *testing.T) {
		c, path := shop(t, "CREATE TABLE o (x)")
		errs := make(chan error, 2)
		for _, s := range []connector.Transaction{stage(t, c, at, false), stage(t, c, at, false)} {
			go func() {
				_, err := run(s, rows(20_000, nil))
				errs <- err
			}()
		}
		first, second := <-errs, <-errs
		require.True(t, (first == nil) != (second == nil))
		require.ErrorIs(t, errors.Join(first, second), catalog.ErrTableAlreadyExist)
		require.Equal(t, "20000", one(t, path, "SELECT count(*) FROM t"))
	})
	t.Run("C19/locked", func(t *testing.T) {
		c, path := shop(t, "CREATE TABLE o (x)")
		release := lockElsewhere(t, path)
		ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
		s := stage(t, c, at, false)
		err := s.Begin(ctx, connector.NewJobID())
		require.ErrorContains(t, err, "is locked by process ")
		require.NoError(t, s.Abort(context.Background()))
		waits, stop := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer stop()
		_, err = c.ListTables(waits, "shop")
		require.ErrorContains(t, err, "is locked by process ")
		time.AfterFunc(200*time.Millisecond, release)
		_, err = run(stage(t, c, at, false), rows(10, nil))
		require.NoError(t, err)
		require.Equal(t, "10", one(t, path, "SELECT count(*) FROM t"))
	})
	t.Run("C19/read-only", func(t *testing.T) {
		if os.Geteuid() == 0 { // root may write everything
			unprivileged(t, "TestCases/C19/read-only")
			return
		}
		c, path := shop(t, "CREATE TABLE o (x)")
		require.NoError(t, os.Chmod(path, 0o400))
		_, err := c.Check(ctx, at, table, catalog.CreateTableAs)
		require.ErrorContains(t, err, "the file is read-only")
		_, err = run(stage(t, c, at, false), rows(10, nil))
		require.ErrorContains(t, err, "the file is read-only")
		require.NoError(t, os.Chmod(path, 0o600))
		require.NoError(t, os.Chmod(filepath.Dir(path), 0o500))
		_, err = c.Check(ctx, at, table, catalog.CreateTableAs)
		require.ErrorContains(t, err, "is read-only, and SQLite keeps its journal there")
		_, err = run(stage(t, c, at, false), rows(10, nil))
		require.Error(t, err)
		require.NoError(t, os.Chmod(filepath.Dir(path), 0o700))

		// A link is followed: what counts is the directory that it leads to.
		link := filepath.Join(t.TempDir(), "shop.db")
		require.NoError(t, os.Symlink(path, link))
		linked := open(t, map[string]string{"base-url": "jdbc:sqlite:" + link})
		require.NoError(t, os.Chmod(filepath.Dir(link), 0o500))
		_, err = linked.Check(ctx, at, table, catalog.CreateTableAs)
		require.NoError(t, err)
		require.NoError(t, os.Chmod(filepath.Dir(link), 0o700))
		require.NoError(t, os.Chmod(filepath.Dir(path), 0o500))
		_, err = linked.Check(ctx, at, table, catalog.CreateTableAs)
		require.ErrorContains(t, err, "the directory "+filepath.Dir(path)+" is read-only, and SQLite keeps its journal there")
		_, err = run(stage(t, linked, at, false), rows(10, nil))
		require.ErrorContains(t, err, "the directory "+filepath.Dir(path)+" is read-only, and SQLite keeps its journal there")
		require.NoError(t, os.Chmod(filepath.Dir(path), 0o700))
	})
	t.Run("disk full", func(t *testing.T) {
		c, path := shop(t, "CREATE TABLE o (x)", "INSERT INTO o VALUES (1)")
		var old syscall.Rlimit
		require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old))
		limit := old
		limit.Cur = 1 << 20
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
		_, err := run(stage(t, c, at, false), rows(500_000, nil))
		text := fmt.Sprint(err)
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old))
		require.Contains(t, text, "the disk is full, or the limit on the size of a file is reached (1,048,576 bytes, see ulimit -f)")
		require.Equal(t, "1 o", one(t, path, "SELECT count(*) || ' ' || group_concat(name) FROM sqlite_schema"))
		_, err = run(stage(t, c, at, false), rows(10, nil))
		require.NoError(t, err)
	})
}

// unprivileged runs one test of this binary again as a user who is not root, and reports its outcome.
func unprivileged(t *testing.T, name string) {
	t.Helper()
	const nobody = 65534
	dir, err := os.MkdirTemp("", "nobody")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	require.NoError(t, os.Chmod(dir, 0o777))
	self, err := os.Executable()
	require.NoError(t, err)
	text, err := os.ReadFile(self)
	require.NoError(t, err)
	program := filepath.Join(dir, "test")
	require.NoError(t, os.WriteFile(program, text, 0o755))
	require.NoError(t, os.Chmod(program, 0o755))
	cmd := exec.Command(program, "-test.v", "-test.run=^"+strings.ReplaceAll(name, "/", "$/^")+"$")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "--- PASS: "+name, "the test did not run")
}

// lockElsewhere holds a file's lock in another process until the function returned is called.
func lockElsewhere(t *testing.T, path string) (release func()) {
	t.Helper()
	in, out, err := os.Pipe()
	require.NoError(t, err)
	back, ready, err := os.Pipe()
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	p, err := os.StartProcess(self, []string{self, "-test.run=^TestLockHelper$"}, &os.ProcAttr{
		Env: append(os.Environ(), "HOLD_LOCK_OF="+path), Files: []*os.File{in, ready, os.Stderr}})
	require.NoError(t, err)
	_, err = back.Read(make([]byte, 1))
	require.NoError(t, err)
	var once sync.Once
	release = func() {
		once.Do(func() {
			out.Close()
			_, _ = p.Wait()
		})
	}
	t.Cleanup(release)
	return release
}

// TestLockHelper is the other process: it locks a file, says so, and holds the lock until stdin ends.
func TestLockHelper(t *testing.T) {
	path := os.Getenv("HOLD_LOCK_OF")
	if path == "" {
		return // runs only as the process that another test starts
	}
	hold(t, path)
	_, _ = os.Stdout.WriteString("x")
	_, _ = os.Stdin.Read(make([]byte, 1))
	os.Exit(0)
}
