package sqlite

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/sqlite/faultfs"
	"github.com/sluice-sql/sluice/types"
)

var (
	allFaults = flag.Bool("sqlite.all-faults", false, "fail the calls of all statements, which takes minutes")
	faultSeed = flag.Uint64("sqlite.fault-seed", 1, "which calls are failed without -sqlite.all-faults")
)

// faults are the ways in which a call fails. Those of a held lock come once: the wait for it has no end.
var faults = []struct {
	name  string
	fault faultfs.Fault
}{
	{"open", faultfs.Fault{Calls: faultfs.Open, Code: codeCantOpen}},
	{"read", faultfs.Fault{Calls: faultfs.Read, Code: ioRead}},
	{"write", faultfs.Fault{Calls: faultfs.Write, Code: ioWrite}},
	{"half a write", faultfs.Fault{Calls: faultfs.Write, Code: ioWrite, How: faultfs.Half}},
	{"disk full", faultfs.Fault{Calls: faultfs.Grow, Code: codeFull, How: faultfs.Half}},
	{"truncate", faultfs.Fault{Calls: faultfs.Truncate, Code: ioTruncate}},
	{"fsync", faultfs.Fault{Calls: faultfs.Sync, Code: ioFsync}},
	{"size", faultfs.Fault{Calls: faultfs.Size, Code: codeIOErr | 7<<8}},
	{"lock", faultfs.Fault{Calls: faultfs.Lock, Code: codeIOErr | 15<<8}},
	{"lock held", faultfs.Fault{Calls: faultfs.Lock, Code: codeBusy}},
	{"delete", faultfs.Fault{Calls: faultfs.Delete, Code: codeIOErr | 10<<8}},
	{"fsync of the directory", faultfs.Fault{Calls: faultfs.Delete, Code: ioDirFsync, How: faultfs.Done}},
	{"access", faultfs.Fault{Calls: faultfs.Access, Code: codeIOErr | 13<<8}},
	{"shared memory", faultfs.Fault{Calls: faultfs.Shm, Code: codeIOErr | 21<<8}},
	{"lock of the WAL", faultfs.Fault{Calls: faultfs.ShmLock, Code: codeIOErr | 20<<8}},
	{"lock of the WAL held", faultfs.Fault{Calls: faultfs.ShmLock, Code: codeBusy}},
	{"memory", faultfs.Fault{Calls: faultfs.Malloc, Code: codeNoMem}},
}

// faultyFile is the database that each statement finds.
var faultyFile = []string{
	"CREATE TABLE t (id INTEGER PRIMARY KEY, a INT, s TEXT NOT NULL)", "CREATE INDEX x ON t (a)",
	thousand + "INSERT INTO t SELECT i, i * 7 % 1000, 'row ' || i FROM n WHERE i <= 300",
	"CREATE TABLE c (id INTEGER PRIMARY KEY, a INT CHECK (a < 1000000), s TEXT UNIQUE)", "INSERT INTO c SELECT * FROM t",
	"CREATE TABLE w (id INT, a INT, s TEXT, PRIMARY KEY (s, id)) WITHOUT ROWID", "INSERT INTO w SELECT * FROM t",
	"CREATE TABLE r (id BIGINT, s TEXT)", "INSERT INTO r SELECT id, s FROM t",
}

// statement is something that changes a database.
type statement struct {
	name string
	// plan returns what runs it, its transaction by do; only that meets faults.
	plan func(t testing.TB, s *Store, do runner) func() (connector.Outcome, error)
}

// runner runs a transaction to its end, as attempt does.
type runner func(tx *Transaction, next func() (*column.Batch, error)) (connector.Outcome, error)

// attempt runs a transaction to its end. What Abort says does not change the outcome.
func attempt(tx *Transaction, next func() (*column.Batch, error)) (out connector.Outcome, err error) {
	ctx := context.Background()
	defer func() {
		if out == connector.NotDone {
			_ = tx.Abort(ctx)
		}
	}()
	if err := tx.Begin(ctx, connector.NewJobID()); err != nil {
		return connector.NotDone, err
	}
	w, err := tx.Writer(ctx, 0)
	if err == nil {
		err = errors.Join(w.Write(ctx, next), w.Close())
	}
	if err == nil {
		_, err = tx.Seal(ctx)
	}
	if err != nil {
		return connector.NotDone, err
	}
	return tx.Commit(ctx)
}

// makes returns a statement that makes a table of 400 rows.
func makes(name, table string, how Replace, size int) statement {
	return statement{name, func(_ testing.TB, s *Store, do runner) func() (connector.Outcome, error) {
		schema := numbersSchema()
		return func() (connector.Outcome, error) {
			tx := NewTransaction(Target{Store: s, Table: table, Columns: schema.Columns, Create: &schema, Replace: how})
			return do(tx, batches(wide(1, 200, size), wide(201, 200, size)))
		}
	}}
}

// wide returns rows of numbers with texts of a size.
func wide(from, n, size int) *column.Batch {
	b := numbers(from, 0)
	for i := range n {
		b.Cols[0].AppendI64(int64(from + i))
		b.Cols[1].AppendString(strings.Repeat("x", size))
	}
	b.N = n
	return b
}

// inserts returns a statement that writes rows of (id, s) into a table, with those that are there or in their place.
func inserts(name, table string, overwrite bool, size int) statement {
	return statement{name, func(t testing.TB, s *Store, do runner) func() (connector.Outcome, error) {
		tab, schema := openIn(t, s, table)
		return func() (connector.Outcome, error) {
			tx, err := tab.Transaction(context.Background(), connector.Insert{Columns: []int{schema.Index("id"), schema.Index("s")}, Overwrite: overwrite})
			if err != nil {
				return connector.NotDone, err
			}
			return do(tx.(*Transaction), batches(wide(1001, 200, size), wide(1201, 200, size)))
		}
	}}
}

// changes returns a statement that changes or deletes the rows of a table whose id is a multiple.
func changes(name, table string, set []string, of int64) statement {
	return statement{name, func(t testing.TB, s *Store, do runner) func() (connector.Outcome, error) {
		tab, schema := openIn(t, s, table)
		ctx := context.Background()
		key, err := tab.RowKey(ctx)
		require.NoError(t, err)
		columns, kinds := key.Columns, []types.Type{}
		if columns == nil {
			columns, kinds = []int{len(schema.Columns)}, append(kinds, key.Rowid)
		}
		for _, k := range key.Columns {
			kinds = append(kinds, schema.Columns[k].Type)
		}
		keys := len(columns)
		m := connector.Modify{}
		for _, name := range set {
			m.Set, kinds = append(m.Set, schema.Index(name)), append(kinds, schema.Columns[schema.Index(name)].Type)
		}
		columns = append(slices.Clone(columns), schema.Index("id"))
		return func() (connector.Outcome, error) {
			tx, err := tab.Modify(ctx, m)
			if err != nil {
				return connector.NotDone, err
			}
			var list []*column.Batch
			read := false
			return do(tx.(*Transaction), func() (*column.Batch, error) {
				if !read { // behind Begin, as the rows must not change any more
					full, free, done := make(chan *column.Batch), make(chan *column.Batch, 1), make(chan error, 1)
					go func() {
						defer close(full)
						done <- readInto(tab, columns, full, free)
					}()
					free <- &column.Batch{}
					for b := range full {
						to := column.NewBatch(kinds, b.N)
						for i := range b.N {
							id := b.Cols[keys].I64
							n := int64(0)
							if id != nil {
								n = id[i]
							} else {
								n = int64(b.Cols[keys].I32[i])
							}
							if n%of != 0 {
								continue
							}
							for k := range keys {
								to.Cols[k].AppendFrom(b.Cols[k], i)
							}
							for k, name := range set {
								if name == "a" {
									to.Cols[keys+k].AppendI64(n + 5000)
								} else {
									to.Cols[keys+k].AppendString(fmt.Sprint("changed ", n))
								}
							}
							to.N++
						}
						list = append(list, to)
						free <- b
					}
					if err := <-done; err != nil {
						return nil, err
					}
					read = true
				}
				if len(list) == 0 {
					return nil, nil
				}
				b := list[0]
				list = list[1:]
				return b, nil
			})
		}
	}}
}

// faultyStatements are all that write.
func faultyStatements() []statement {
	return []statement{
		makes("CREATE TABLE AS", "n", ReplaceNever, 40), makes("REPLACE TABLE AS", "r", ReplaceOld, 40),
		makes("CREATE OR REPLACE, there", "r", ReplaceAny, 40), makes("CREATE OR REPLACE, not there", "n", ReplaceAny, 40),
		inserts("INSERT", "t", false, 40), inserts("INSERT OVERWRITE", "t", true, 40),
		changes("UPDATE", "t", []string{"a", "s"}, 3), changes("UPDATE, CHECK and UNIQUE", "c", []string{"s", "a"}, 2), changes("UPDATE of a key", "w", []string{"s"}, 2),
		changes("DELETE", "t", nil, 3), changes("DELETE of all", "c", nil, 1), changes("DELETE by key", "w", nil, 2),
		{"upsert", func(t testing.TB, s *Store, do runner) func() (connector.Outcome, error) {
			tab, schema := openIn(t, s, "t")
			return func() (connector.Outcome, error) {
				b := column.NewBatch(schema.Types(), 0)
				for i := range 400 {
					b.Cols[0].AppendI64(int64(i + 1))
					b.Cols[1].AppendI64(int64(i))
					b.Cols[2].AppendString("upserted")
					b.Kind = append(b.Kind, []types.RowKind{types.UpdateAfter, types.Delete, types.Insert}[i%3])
				}
				b.N = 400
				tx, err := tab.Upsert(context.Background(), connector.Upsert{Columns: []int{0, 1, 2}, Key: []int{0}})
				if err != nil {
					return connector.NotDone, err
				}
				return do(tx.(*Transaction), batches(b))
			}
		}},
		{"TRUNCATE", func(t testing.TB, s *Store, _ runner) func() (connector.Outcome, error) {
			tab, _ := openIn(t, s, "t")
			return func() (connector.Outcome, error) {
				err := tab.Truncate(context.Background())
				switch {
				case err == nil:
					return connector.Done, nil
				case strings.HasPrefix(err.Error(), "it is not known"):
					return connector.Unknown, err
				}
				return connector.NotDone, err
			}
		}},
	}
}

// bigStatements write more than the cache holds, so that pages are written before COMMIT.
func bigStatements() []statement {
	return []statement{makes("CREATE TABLE AS, big", "n", ReplaceNever, 30_000), makes("REPLACE TABLE AS, big", "r", ReplaceOld, 30_000), inserts("INSERT OVERWRITE, big", "t", true, 30_000)}
}

// digest says what a database holds.
func digest(path string) (string, error) {
	c, err := Open(nil, path, Write)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if ok, err := c.Text("PRAGMA integrity_check"); err != nil || ok != "ok" {
		return "", fmt.Errorf("integrity check: %s, %w", ok, err)
	}
	names, err := c.Names()
	text := ""
	for _, name := range names {
		n, err := c.Text("SELECT count(*) || '/' || coalesce(sum(id), 0) || '/' || coalesce(sum(length(s)), 0) FROM main." + Quote(name))
		if err != nil {
			return "", err
		}
		text += name + " " + n + "; "
	}
	return text, err
}

// TestFailingCalls fails the nth call of a kind, n = 1, 2, 3 …, of every statement in every journal mode. What it says
// became of the rows is what the file has, now and after a crash; and the next attempt gets through. It runs in a
// process of its own, as a failing file system is there for good.
func TestFailingCalls(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	args := []string{"-test.run=^TestFailingCallsHelper$", "-test.v", fmt.Sprintf("-sqlite.all-faults=%t", *allFaults), fmt.Sprintf("-sqlite.fault-seed=%d", *faultSeed)}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), "FAILING_CALLS=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "--- PASS: TestFailingCallsHelper")
	t.Log(string(out))
}

// TestFailingCallsHelper is the process with the failing file system.
func TestFailingCallsHelper(t *testing.T) {
	if os.Getenv("FAILING_CALLS") == "" {
		return // runs only as the process that another test starts
	}
	require.NoError(t, faultfs.Install())
	random := rand.New(rand.NewPCG(*faultSeed, 7))
	x := &failing{random: random, dir: scratchDir(t), seen: map[string]int{}, doubts: map[string]int{}}
	for _, mode := range []string{"delete", "wal", "staging"} {
		x.prepare(t, mode)
		for _, f := range faults {
			for _, lasting := range []bool{false, true} {
				if f.fault.Lasting = lasting; lasting && f.fault.Code == codeBusy {
					continue
				}
				x.statements(t, f.name+map[bool]string{true: " and all behind"}[lasting], f.fault)
			}
		}
	}
	t.Log(x.seen, x.doubts)
	require.Greater(t, x.seen["not done"], 20)
	require.Greater(t, x.seen["done"], 20, "a failure that does no harm")
	for name := range x.doubts { // in which nothing could be asked any more
		require.Contains(t, name, " and all behind")
		require.NotContains(t, name, "disk full")
	}
}

// scratchDir is a directory that needs no disk, where there is one.
func scratchDir(t testing.TB) string {
	dir, err := os.MkdirTemp("/dev/shm", "sluice-test")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// failing runs statements whose calls fail.
type failing struct {
	random *rand.Rand
	dir    string
	mode   string
	base   []byte // the file that each run finds
	before string // its digest
	seen   map[string]int
	doubts map[string]int // by fault
	runs   int
}

func (x *failing) prepare(t testing.TB, mode string) {
	x.mode = mode
	path := filepath.Join(x.dir, "base.db")
	_ = os.Remove(path)
	journal := mode
	if mode == "staging" {
		journal = "delete"
	}
	exe(t, path, append([]string{"PRAGMA journal_mode = " + journal}, faultyFile...)...)
	var err error
	x.before, err = digest(path)
	require.NoError(t, err)
	x.base, err = os.ReadFile(path)
	require.NoError(t, err)
}

// fresh returns a store of a file as prepared.
func (x *failing) fresh(t testing.TB) *Store {
	x.runs++
	dir := filepath.Join(x.dir, fmt.Sprint("run", x.runs))
	require.NoError(t, os.Mkdir(dir, 0o700))
	path := filepath.Join(dir, "shop.db")
	require.NoError(t, os.WriteFile(path, x.base, 0o600))
	return NewStore(path, map[string]string{"sink.staging": fmt.Sprint(x.mode == "staging")}, newEnv())
}

// statements runs all statements with a fault, or some.
func (x *failing) statements(t testing.TB, name string, f faultfs.Fault) {
	list, some := faultyStatements(), 3
	x.random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	big := bigStatements()[x.random.IntN(3)]
	if testing.Short() {
		some = 1
	}
	for _, st := range list {
		if x.mode == "staging" && !x.stages(t, st) {
			continue // takes the direct road there, too
		}
		if some--; some >= 0 || *allFaults {
			x.each(t, st, name, f)
		}
	}
	if *allFaults || !testing.Short() && x.random.IntN(8) == 0 {
		x.each(t, big, name, f)
	}
}

// stages reports whether a statement writes a scratch file.
func (x *failing) stages(t testing.TB, st statement) bool {
	s := x.fresh(t)
	run := st.plan(t, s, attempt)
	faultfs.Arm(faultfs.Fault{Calls: faultfs.Open})
	out, err := run()
	staged, _ := faultfs.Disarm()
	require.NoError(t, err)
	require.Equal(t, connector.Done, out)
	s = x.fresh(t)
	s.Staging = false
	run = st.plan(t, s, attempt)
	faultfs.Arm(faultfs.Fault{Calls: faultfs.Open})
	_, err = run()
	direct, _ := faultfs.Disarm()
	require.NoError(t, err)
	return staged != direct
}

// each fails calls of a statement one after the other: two and the last, or all, of very many every so many.
func (x *failing) each(t testing.TB, st statement, name string, f faultfs.Fault) {
	s := x.fresh(t)
	run := st.plan(t, s, attempt)
	count := f
	count.Nth = 0
	faultfs.Arm(count)
	out, err := run()
	calls, _ := faultfs.Disarm()
	require.NoError(t, err, st.name)
	require.Equal(t, connector.Done, out)
	after, err := digest(s.Path)
	require.NoError(t, err)
	require.NotEqual(t, x.before, after)
	var list []int
	switch {
	case *allFaults:
		for n := 1; n <= calls; n += 1 + x.random.IntN(1+calls/40) {
			list = append(list, n)
		}
	case calls > 3:
		list = []int{1 + x.random.IntN(calls), 1 + x.random.IntN(calls), calls - x.random.IntN(3)}
	default:
		for n := range calls {
			list = append(list, n+1)
		}
	}
	for _, n := range list {
		f.Nth = n
		for _, fault := range x.one(t, st, name, f, after) {
			t.Errorf("%s, %s, %s, call %d of %d: %s", x.mode, st.name, name, n, calls, fault)
		}
	}
}

// one runs a statement with one fault and returns what is wrong.
func (x *failing) one(t testing.TB, st statement, name string, f faultfs.Fault, after string) (wrong []string) {
	s := x.fresh(t)
	dir := filepath.Dir(s.Path)
	defer os.RemoveAll(dir)
	run := st.plan(t, s, attempt)
	holder, err := Open(nil, s.Path, Write) // keeps a WAL from being removed
	require.NoError(t, err)
	require.NoError(t, touch(holder))
	faultfs.Arm(f)
	out, err := run()
	_, failed := faultfs.Disarm()

	said := map[connector.Outcome]string{connector.Done: "done", connector.NotDone: "not done", connector.Unknown: "unknown"}[out]
	x.seen[said]++
	if out == connector.Unknown {
		x.doubts[x.mode+" "+name]++
	}
	complain := func(format string, args ...any) {
		wrong = append(wrong, fmt.Sprintf(format, args...)+fmt.Sprintf(" (it said %s: %v)", said, err))
	}
	if (out == connector.Done) != (err == nil) {
		complain("the outcome and the error do not fit")
	}
	if out != connector.Done && failed == 0 {
		complain("nothing failed")
	}
	if f.Code == codeBusy && out != connector.Done {
		complain("a lock that was held for a moment was not waited for")
	}
	crashed := dir + "crash" // as after a crash: what memory has is gone
	require.NoError(t, os.Mkdir(crashed, 0o700))
	defer os.RemoveAll(crashed)
	for _, file := range names(t, dir) {
		if strings.HasSuffix(file, "-shm") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, file)) // drops this process's locks: nobody has any
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(crashed, file), data, 0o600))
	}
	for _, p := range []string{s.Path, filepath.Join(crashed, "shop.db")} {
		has, err := digest(p)
		switch {
		case err != nil:
			complain("%s: %v", filepath.Base(filepath.Dir(p)), err)
		case out == connector.Done && has != after, out == connector.NotDone && has != x.before, has != after && has != x.before:
			complain("%s has %s", filepath.Base(filepath.Dir(p)), has)
		}
	}
	if _, _, err := Sweep(context.Background(), s.Path, func(connector.JobID) bool { return false }); err != nil {
		complain("the sweep: %v", err)
	}
	if out == connector.NotDone {
		if out, err := run(); out != connector.Done {
			complain("again: %v", err)
		} else if has, err := digest(s.Path); has != after {
			complain("again: %s, %v", has, err)
		}
	} else if out, err := makes("", "later", ReplaceNever, 1).plan(t, s, attempt)(); out != connector.Done {
		complain("the next statement: %v", err)
	}
	require.NoError(t, holder.Close())
	if left := names(t, dir); !slices.Equal(left, []string{"shop.db"}) {
		complain("left: %v", left)
	}
	return wrong
}
