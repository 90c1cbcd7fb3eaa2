package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// replace returns the transaction that replaces a table by one of a schema.
func replace(s *Store, table string, schema types.Schema, how Replace) *Transaction {
	return NewTransaction(Target{Store: s, Table: table, Columns: schema.Columns, Create: &schema, Replace: how})
}

// identityOf is all that the file keeps of a table: were it made anew, something would differ, since another
// table is behind it.
func identityOf(t testing.TB, path, table string) string {
	return one(t, path, "SELECT rowid || ' ' || rootpage || ' ' || sql FROM sqlite_schema WHERE name = '"+table+"'")
}

// TestReplace: the new table has the name, its own columns, and a definition that tells nothing of how it came.
func TestReplace(t *testing.T) {
	schema := numbersSchema()
	schema.PrimaryKey = []string{"id"}
	for _, kind := range kinds {
		for _, how := range []Replace{ReplaceOld, ReplaceAny} {
			t.Run(fmt.Sprint(kind, how), func(t *testing.T) {
				s := fileOf(t, kind)
				table := "old"
				if kind == "new file" {
					_, _, err := write(replace(s, table, schema, ReplaceOld), batches(numbers(1, 10)))
					require.ErrorIs(t, err, ErrNotThere)
					require.Empty(t, names(t, filepath.Dir(s.Path)))
					how = ReplaceAny
				}
				for n := 1; n <= 3; n++ { // the third replaces a table of ours
					rows, out, err := write(replace(s, table, schema, how), batches(numbers(1, 2000), numbers(2001, n)))
					require.NoError(t, err)
					require.Equal(t, connector.Done, out)
					require.EqualValues(t, 2000+n, rows)
					require.Equal(t, fmt.Sprint(2000+n), one(t, s.Path, "SELECT count(*) FROM old"))
				}
				sql, _, _ := CreateSQL("", table, schema)
				require.Equal(t, sql, one(t, s.Path, "SELECT sql FROM sqlite_schema WHERE name = 'old'"))
				require.Equal(t, "old sqlite_autoindex_old_1", one(t, s.Path, "SELECT group_concat(name, ' ') FROM sqlite_schema"))
				require.Equal(t, "ok", one(t, s.Path, "PRAGMA integrity_check"))
				require.Equal(t, []string{"shop.db"}, names(t, filepath.Dir(s.Path)))
				require.Equal(t, map[bool]string{true: "wal", false: "delete"}[kind == "wal"], one(t, s.Path, "PRAGMA journal_mode"))
				require.Less(t, one(t, s.Path, "SELECT printf('%09d', page_count) FROM pragma_page_count"), "000000100", "pages of the old tables are used again")
			})
		}
	}
}

// TestReplaceFails: whatever ends the statement, the old table is the very one that was there, with its rows.
func TestReplaceFails(t *testing.T) {
	keyed := numbersSchema()
	keyed.PrimaryKey = []string{"id"}
	for _, kind := range kinds[1:] {
		for name, next := range map[string]func() func() (*column.Batch, error){
			"source error":  func() func() (*column.Batch, error) { return failAfter(14) },
			"at once":       func() func() (*column.Batch, error) { return failAfter(0) },
			"duplicate key": func() func() (*column.Batch, error) { return batches(numbers(1, 1000), numbers(1000, 5)) },
			"panic":         func() func() (*column.Batch, error) { return func() (*column.Batch, error) { panic("oh") } },
		} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				s := fileOf(t, kind)
				exe(t, s.Path, "CREATE TABLE behind (a)")
				before := identityOf(t, s.Path, "old")
				for _, how := range []Replace{ReplaceOld, ReplaceAny} {
					_, out, err := write(replace(s, "old", keyed, how), next())
					require.Error(t, err)
					require.Equal(t, connector.NotDone, out)
					require.Equal(t, before, identityOf(t, s.Path, "old"))
					require.Equal(t, "1a2b3c", one(t, s.Path, "SELECT group_concat(id || s, '') FROM old"))
					require.Equal(t, []string{"shop.db"}, names(t, filepath.Dir(s.Path)))
				}
				_, _, err := write(replace(s, "old", keyed, ReplaceOld), batches(numbers(1, 10)))
				require.NoError(t, err)
				require.Equal(t, "10", one(t, s.Path, "SELECT count(*) FROM old"))
			})
		}
	}
}

// TestReplaceLoses: what the new table would not have is named, before anything is done and again under the lock.
func TestReplaceLoses(t *testing.T) {
	const plain = "CREATE TABLE old (id INTEGER PRIMARY KEY, s TEXT NOT NULL)"
	for _, c := range []struct{ make, want string }{
		{plain + "; CREATE VIEW v AS SELECT * FROM old", "view v"},
		{plain + "; CREATE VIEW v AS SELECT count(*) FROM OLD; CREATE VIEW w AS SELECT * FROM v; CREATE VIEW other AS SELECT 'old' AS \"old\"", "view v, view w"},
		{plain + "; CREATE VIEW broken AS SELECT * FROM gone", ""},
		{plain + "; CREATE TABLE x (a); CREATE VIEW v AS SELECT 1 FROM x WHERE a IN (SELECT id FROM old)", "view v"},
		{plain + "; CREATE TRIGGER g AFTER INSERT ON old BEGIN SELECT 1; END", "trigger g"},
		{plain + "; CREATE TABLE x (a); CREATE TRIGGER g AFTER DELETE ON x BEGIN DELETE FROM old; END; CREATE TRIGGER h AFTER UPDATE OF a ON x BEGIN SELECT max(id) FROM old; END; CREATE TRIGGER i AFTER INSERT ON x BEGIN SELECT 'old'; END", "trigger g, trigger h"},
		{plain + "; CREATE VIEW x AS SELECT 1 AS a; CREATE TRIGGER g INSTEAD OF INSERT ON x BEGIN INSERT INTO old VALUES (NEW.a, ''); END", "trigger g"},
		{plain + "; CREATE INDEX i ON old (s); CREATE UNIQUE INDEX u ON old (s) WHERE id > 5", "index i, index u"},
		{plain + "; CREATE TABLE child (a REFERENCES OLD (id)); CREATE TABLE child2 (a, b REFERENCES old)", "FOREIGN KEY of table child, FOREIGN KEY of table child2"},
		{"CREATE TABLE parent (a PRIMARY KEY); CREATE TABLE old (id INTEGER PRIMARY KEY, s REFERENCES parent)", "FOREIGN KEY to table parent"},
		{"CREATE TABLE old (id INTEGER PRIMARY KEY, up REFERENCES old)", "FOREIGN KEY to table old"},
		{"CREATE TABLE old (id, s UNIQUE, UNIQUE (s, id))", "UNIQUE (s), UNIQUE (s, id)"},
		{"CREATE TABLE old (id DEFAULT 5, s AS (id + 1))", "DEFAULT of column id, generated column s"},
		{"CREATE TABLE old (id INTEGER PRIMARY KEY AUTOINCREMENT, s)", "AUTOINCREMENT"},
		{"CREATE TABLE old (id CHECK (id > 0), s COLLATE NOCASE)", "CHECK, COLLATE"},
		{"CREATE TABLE old (id PRIMARY KEY ON CONFLICT IGNORE, s COLLATE BINARY)", "ON CONFLICT"},
		{"CREATE TABLE old (id INTEGER PRIMARY KEY, s TEXT) STRICT, WITHOUT ROWID", "WITHOUT ROWID, STRICT"},
		{"CREATE VIRTUAL TABLE old USING fts3(id, s)", "its being a virtual table"},
		{"CREATE TABLE old ([CHECK] INTEGER, 'COLLATE' TEXT, \"default\" -- CHECK (1)\n, `unique` /* CHECK */)", ""},
	} {
		for _, kind := range []string{"delete", "wal", "staging"} {
			path := filepath.Join(t.TempDir(), "shop.db")
			if kind == "wal" {
				exe(t, path, "PRAGMA journal_mode = WAL")
			}
			exe(t, path, c.make) // one call, as triggers have semicolons in them
			s := NewStore(path, map[string]string{"sink.staging": fmt.Sprint(kind == "staging")}, newEnv())
			var lost *LostError
			before := one(t, path, "SELECT group_concat(rowid || name || rootpage || sql, ';') FROM sqlite_schema")
			check := func(err error) {
				t.Helper()
				if c.want == "" {
					require.NoError(t, err, c.make)
					return
				}
				require.ErrorAs(t, err, &lost, c.make)
				require.Equal(t, c.want, strings.Join(lost.Lost, ", "))
			}
			check(s.Read(context.Background(), func(c *Conn) error {
				_, err := CheckReplace(c, "old", ReplaceOld)
				return err
			}))
			_, _, err := write(replace(s, "old", numbersSchema(), ReplaceAny), batches(numbers(1, 10)))
			check(err)
			if c.want != "" {
				require.Equal(t, before, one(t, path, "SELECT group_concat(rowid || name || rootpage || sql, ';') FROM sqlite_schema"))
			}
		}
	}
	require.EqualError(t, &LostError{"t", []string{"a", "b", "c", "d", "e", "f", "g"}},
		"table t cannot be replaced, the new table would not have what this one has: a, b, c, d, e, and 2 more; drop that first, or INSERT OVERWRITE the table, which keeps it")
}

// TestReplaceNames: SQLite does not tell names apart by case, and a view or an index is no table.
func TestReplaceNames(t *testing.T) {
	for _, kind := range kinds[1:] {
		s := fileOf(t, kind)
		exe(t, s.Path, "CREATE VIEW v AS SELECT 1", "CREATE TABLE x (a)", "CREATE INDEX i ON x (a)")
		for name, want := range map[string]string{"OLD": "table old already exists, and SQLite does not tell it from OLD", "v": "view v already exists", "i": "index i already exists"} {
			for _, how := range []Replace{ReplaceOld, ReplaceAny} {
				_, _, err := write(replace(s, name, numbersSchema(), how), batches(numbers(1, 10)))
				require.EqualError(t, err, want)
			}
		}
		_, _, err := write(replace(s, "no", numbersSchema(), ReplaceOld), batches(numbers(1, 10)))
		require.ErrorIs(t, err, ErrNotThere)
		require.Equal(t, "4 3", one(t, s.Path, "SELECT count(*) || ' ' || (SELECT count(*) FROM old) FROM sqlite_schema"))
	}
}

// TestReplaceChanged: while a scratch file is filled others may change the table. Then it stays as they made it;
// what they do elsewhere does not matter, as far as the file tells.
func TestReplaceChanged(t *testing.T) {
	const same = "DROP TABLE old; CREATE TABLE old (id INTEGER PRIMARY KEY, s TEXT NOT NULL)"
	for _, c := range []struct {
		name, rival string
		last        bool // no table stands behind it
		want        error
	}{
		{"altered", "ALTER TABLE old ADD COLUMN more", false, ErrChanged},
		{"made anew", same, false, ErrChanged},
		{"made anew, the last", same, true, ErrChanged},
		{"dropped", "DROP TABLE old", false, ErrChanged},
		{"renamed", "ALTER TABLE old RENAME TO elsewhere", false, ErrChanged},
		{"vacuum", "VACUUM", false, nil},
		{"another is made", "CREATE TABLE other (a)", false, nil},
		{"another is dropped", "DROP TABLE also", false, nil},
		{"rows", "INSERT INTO old VALUES (9, 'z')", true, nil},
		{"a view on it", "CREATE VIEW v AS SELECT * FROM old", false, &LostError{}},
	} {
		for _, how := range []Replace{ReplaceOld, ReplaceAny} {
			t.Run(fmt.Sprint(c.name, how), func(t *testing.T) {
				s := fileOf(t, "staging")
				if !c.last {
					exe(t, s.Path, "CREATE TABLE behind (a)", "CREATE TABLE also (a)")
				} else {
					exe(t, s.Path, "DROP TABLE old", "CREATE TABLE front (a)", "CREATE TABLE old (id INTEGER PRIMARY KEY, s TEXT NOT NULL)")
				}
				tx := replace(s, "old", numbersSchema(), how)
				sealed(t, tx, numbers(1, 10))
				require.Equal(t, scratch, tx.road)
				exe(t, s.Path, c.rival)
				after := one(t, s.Path, "SELECT group_concat(rowid || name || rootpage || sql, ';') FROM sqlite_schema")
				out, err := tx.Commit(context.Background())
				require.NoError(t, tx.Abort(context.Background()))
				if c.want == nil {
					require.NoError(t, err)
					require.Equal(t, "10", one(t, s.Path, "SELECT count(*) FROM old"))
					return
				}
				require.Equal(t, connector.NotDone, out)
				if errors.As(c.want, new(*LostError)) {
					require.ErrorAs(t, err, new(*LostError))
				} else {
					require.ErrorIs(t, err, c.want)
				}
				require.Equal(t, after, one(t, s.Path, "SELECT group_concat(rowid || name || rootpage || sql, ';') FROM sqlite_schema"))
				require.Equal(t, []string{"shop.db"}, names(t, filepath.Dir(s.Path)))
			})
		}
	}
	// CREATE OR REPLACE of a table that was not there, and is when its turn comes.
	s := fileOf(t, "staging")
	tx := replace(s, "t", numbersSchema(), ReplaceAny)
	sealed(t, tx, numbers(1, 10))
	exe(t, s.Path, "CREATE TABLE t (rival)")
	_, err := tx.Commit(context.Background())
	require.ErrorIs(t, err, ErrChanged)
	require.NoError(t, tx.Abort(context.Background()))
	require.Equal(t, "rival", one(t, s.Path, "SELECT name FROM pragma_table_info('t')"))
}

// plusOne returns the rows of old, each a one more, as the query of REPLACE t AS SELECT a + 1 FROM t does. The
// source is closed when its rows are at an end.
func plusOne(t testing.TB, path string) (start func(), next func() (*column.Batch, error)) {
	ctx := context.Background()
	tab, def := openFor(t, path, "old")
	src, err := tab.Source(ctx, connector.Scan{Columns: allColumns(def), Limit: -1})
	require.NoError(t, err)
	var r connector.Reader
	end := false
	start = func() {
		splits, err := src.Splits(ctx, 1)
		require.NoError(t, err)
		r, err = src.Reader(ctx, splits)
		require.NoError(t, err)
	}
	return start, func() (*column.Batch, error) {
		if end {
			return nil, errors.Join(r.Close(), src.Close(), tab.Close())
		}
		b := &column.Batch{}
		st, err := r.Read(ctx, b)
		end = st == connector.End
		for i := range b.N {
			b.Cols[0].I64[i]++
		}
		return b, err
	}
}

// writerFunc is a writer.
type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestReplaceOfItself: again and again a table is replaced by what is made of its own rows, while another process reads
// it all the time. That one never waits in vain, and never counts another number of rows.
func TestReplaceOfItself(t *testing.T) {
	cli, err := exec.LookPath("sqlite3")
	require.NoError(t, err, "this test needs sqlite3 (Debian: apt-get install sqlite3)")
	for kind, want := range map[string]road{"rollback journal": scratch, "wal": direct} {
		s := fileOf(t, kind)
		schema := numbersSchema()
		_, _, err := write(replace(s, "old", schema, ReplaceOld), batches(numbers(1, 5000)))
		require.NoError(t, err)
		reader := exec.Command(cli, s.Path)
		in, err := reader.StdinPipe()
		require.NoError(t, err)
		var out, errOut bytes.Buffer
		var reads atomic.Int64 // writes of the reader, each of which has at least a row
		reader.Stdout, reader.Stderr = writerFunc(func(p []byte) (int, error) { reads.Add(1); return out.Write(p) }), &errOut
		require.NoError(t, reader.Start())
		stop, done := make(chan struct{}), make(chan error, 1)
		go func() {
			_, err := io.WriteString(in, ".timeout 5000\n")
			for err == nil {
				select {
				case <-stop:
					done <- in.Close()
					return
				default:
					_, err = io.WriteString(in, "SELECT count(*), max(id) - min(id), length(group_concat(substr(s, 1, 1), '')) FROM old;\n")
				}
			}
			done <- err
		}()
		n := 0
		for ; n < 100 || reads.Load() < 100; n++ {
			require.Empty(t, done, "the reader has ended")
			start, next := plusOne(t, s.Path)
			tx := NewTransaction(Target{Store: s, Table: "old", Columns: schema.Columns, Create: &schema, Replace: ReplaceOld, ReadsSame: true})
			started := false
			rows, _, err := write(tx, func() (*column.Batch, error) {
				if !started {
					start() // a job's readers begin behind Begin
					started = true
				}
				return next()
			})
			require.NoError(t, err)
			require.EqualValues(t, 5000, rows)
			require.Equal(t, want, tx.road)
		}
		close(stop)
		require.NoError(t, <-done)
		require.NoError(t, reader.Wait())
		require.Empty(t, errOut.String())
		for _, row := range strings.Split(strings.TrimSpace(out.String()), "\n") {
			require.Equal(t, "5000|4999|5000", row, kind)
		}
		require.Equal(t, fmt.Sprintf("%d %d", n+1, n+5000), one(t, s.Path, "SELECT min(id) || ' ' || max(id) FROM old"))
		require.Equal(t, []string{"shop.db"}, names(t, filepath.Dir(s.Path)))
	}
}

// TestReplaceInProcess: statements of this process that read the old table in a WAL file while it is replaced see
// it to their end.
func TestReplaceInProcess(t *testing.T) {
	s := fileOf(t, "wal")
	_, _, err := write(insertOld(s), batches(numbers(10, 50000)))
	require.NoError(t, err)
	start, next := plusOne(t, s.Path)
	start()
	rows := 0
	b, err := next()
	require.NoError(t, err)
	for b != nil {
		if rows == 0 {
			_, _, err := write(replace(s, "old", numbersSchema(), ReplaceOld), batches(numbers(1, 10)))
			require.NoError(t, err)
		}
		rows += b.N
		b, err = next()
		require.NoError(t, err)
	}
	require.Equal(t, 50003, rows)
	require.Equal(t, "10", one(t, s.Path, "SELECT count(*) FROM old"))
}

// TestReplaceJudged: what became of a COMMIT that failed, of a statement that replaces.
func TestReplaceJudged(t *testing.T) {
	for _, c := range []struct {
		name, kind, ends, rival string
		code                    int
		want                    connector.Outcome
	}{
		{"rolled back", "rollback journal", "ROLLBACK", "", codeIOErr | 10<<8, connector.NotDone},
		{"committed", "rollback journal", "COMMIT", "", codeIOErr | 8<<8, connector.Unknown},
		{"rolled back", "wal", "ROLLBACK", "", ioFsync, connector.NotDone},
		{"committed", "wal", "COMMIT", "", ioFsync, connector.Unknown},
		{"rolled back, then rows of a rival", "wal", "ROLLBACK", "INSERT INTO old VALUES (5, 'e')", ioFsync, connector.NotDone},
		{"committed, then rows of a rival", "wal", "COMMIT", "INSERT INTO old VALUES (5, 'e')", ioFsync, connector.Unknown},
		{"rolled back, then a rival's table", "wal", "ROLLBACK", "CREATE TABLE x (a)", ioFsync, connector.Unknown},
	} {
		t.Run(c.kind+"/"+c.name, func(t *testing.T) {
			s := fileOf(t, c.kind)
			tx := replace(s, "old", numbersSchema(), ReplaceOld)
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
		})
	}
}
