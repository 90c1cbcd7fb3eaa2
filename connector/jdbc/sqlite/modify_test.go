package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// modify runs what UPDATE and DELETE are: behind Begin it reads the key and all columns of a table with readers of
// its own, gives each row to f, which says whether the row is changed and sets the new values, and writes those.
func modify(t testing.TB, s *Store, table string, set []string, f func(row []string, to []*column.Vector) bool) (int64, connector.Outcome, error) {
	t.Helper()
	ctx := context.Background()
	tab, schema := openIn(t, s, table)
	defer tab.Close()
	key, err := tab.RowKey(ctx)
	if err != nil {
		return 0, connector.NotDone, err
	}
	m := connector.Modify{}
	for _, name := range set {
		m.Set = append(m.Set, schema.Index(name))
	}
	txn, err := tab.Modify(ctx, m)
	if err != nil {
		return 0, connector.NotDone, err
	}
	tx := txn.(*Transaction)
	keys := key.Columns
	kinds := []types.Type{key.Rowid}
	if keys == nil {
		keys = []int{len(schema.Columns)}
	} else {
		kinds = nil
		for _, k := range keys {
			kinds = append(kinds, schema.Columns[k].Type)
		}
	}
	for _, i := range m.Set {
		kinds = append(kinds, schema.Columns[i].Type)
	}
	var src connector.Source
	var r connector.Reader
	end := false
	n, out, err := write(tx, func() (*column.Batch, error) {
		if src == nil {
			if src, err = tab.Source(ctx, connector.Scan{Columns: append(append([]int{}, keys...), allColumns(schema)...), Limit: -1}); err != nil {
				return nil, err
			}
			splits, err := src.Splits(ctx, 1)
			if err != nil {
				return nil, err
			}
			if r, err = src.Reader(ctx, splits); err != nil {
				return nil, err
			}
		}
		if end {
			return nil, errors.Join(r.Close(), src.Close())
		}
		b := &column.Batch{}
		st, err := r.Read(ctx, b)
		if err != nil {
			return nil, err
		}
		end = st == connector.End
		to := column.NewBatch(kinds, b.N)
		for i, row := range texts(b) {
			if f(row[len(keys):], to.Cols[len(keys):]) {
				for k := range keys {
					to.Cols[k].AppendFrom(b.Cols[k], i)
				}
				to.N++
			}
		}
		return to, nil
	})
	if src != nil && err != nil {
		_ = src.Close()
	}
	return n, out, err
}

func openIn(t testing.TB, s *Store, table string) (*Table, types.Schema) {
	var info *TableInfo
	require.NoError(t, s.Read(context.Background(), func(c *Conn) (err error) {
		info, err = s.Describe(c, table, true)
		return err
	}))
	require.NotNil(t, info, table)
	tab, err := s.OpenTable(context.Background(), table, info.Schema())
	require.NoError(t, err)
	return tab, info.Schema()
}

// modes are the journal modes of a file that is there.
var modes = []string{"delete", "wal"}

// inMode makes a file of statements in a journal mode.
func inMode(t testing.TB, mode string, statements ...string) *Store {
	path := file(t, append([]string{"PRAGMA journal_mode = " + mode}, statements...)...)
	return NewStore(path, nil, newEnv())
}

const thousand = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "

// TestModify: rows are changed and deleted by rowid, by a key that is not the rowid, and where there is no rowid.
func TestModify(t *testing.T) {
	for _, mode := range modes {
		for _, def := range []string{
			"CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT, n DECIMAL_TEXT(10,2))",
			"CREATE TABLE t (id INTEGER, s TEXT, n DECIMAL_TEXT(10,2))",
			"CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT, n DECIMAL_TEXT(10,2)) WITHOUT ROWID",
			"CREATE TABLE t (s TEXT COLLATE NOCASE, id INTEGER, n DECIMAL_TEXT(10,2), PRIMARY KEY (s, id)) WITHOUT ROWID",
			"CREATE TABLE t (id INTEGER, s TEXT, n DECIMAL_TEXT(10,2), rowid TEXT, _ROWID_ TEXT DEFAULT 'x')",
			"CREATE TABLE t (id INTEGER PRIMARY KEY DESC, s TEXT, n DECIMAL_TEXT(10,2), rowid TEXT, _ROWID_ TEXT, oid TEXT)",
		} {
			s := inMode(t, mode, def, thousand+"INSERT INTO t (id, s, n) SELECT i * 3, 'S' || (i % 10), '1.50' FROM n", "CREATE INDEX i ON t (n)")
			_, schema := openIn(t, s, "t")
			id := schema.Index("id")
			n, out, err := modify(t, s, "t", []string{"n", "s"}, func(row []string, to []*column.Vector) bool {
				if row[id] > "5" {
					return false
				}
				to[0].AppendI64(4200)
				to[1].AppendString("new " + row[id])
				return true
			})
			require.NoError(t, err, def)
			require.Equal(t, connector.Done, out)
			want := one(t, s.Path, "SELECT count(*) FROM t WHERE CAST(id AS TEXT) <= '5'")
			require.Equal(t, want, fmt.Sprint(n))
			require.Equal(t, "1000 "+want+" "+want+" text 0", one(t, s.Path, "SELECT count(*) || ' ' || sum(n = '42.00') || ' ' || sum(s = 'new ' || id) || ' ' || max(typeof(n)) || ' ' || sum((s = 'new ' || id) <> (n = '42.00')) FROM t"), def)
			n, out, err = modify(t, s, "t", nil, func(row []string, _ []*column.Vector) bool { return row[id] > "5" })
			require.NoError(t, err, def)
			require.Equal(t, connector.Done, out)
			require.Equal(t, want, one(t, s.Path, "SELECT count(*) FROM t WHERE n = '42.00'"))
			require.Equal(t, want, one(t, s.Path, "SELECT count(*) FROM t"))
			require.NotZero(t, n)
			n, _, err = modify(t, s, "t", nil, func([]string, []*column.Vector) bool { return true })
			require.NoError(t, err, def)
			require.Equal(t, want, fmt.Sprint(n))
			require.Equal(t, "0 ok", one(t, s.Path, "SELECT count(*) || ' ' || (SELECT * FROM pragma_integrity_check) FROM t"))
			n, _, err = modify(t, s, "t", []string{"n"}, func([]string, []*column.Vector) bool { return true })
			require.NoError(t, err)
			require.Zero(t, n)
			require.Equal(t, []string{"shop.db"}, names(t, filepath.Dir(s.Path)))
			require.Equal(t, mode, one(t, s.Path, "PRAGMA journal_mode"))
		}
	}
}

// TestModifyAll: the rows that are all of a table go at once, others do not, and what is not there is missed.
func TestModifyAll(t *testing.T) {
	for name, c := range map[string]struct {
		keys    []int64
		want    string
		deleted string
	}{
		"all":               {[]int64{3, 4, 5}, "", "0"},
		"a gap":             {[]int64{3, 5}, "", "4"},
		"one too many":      {[]int64{3, 4, 5, 6}, "1 of 4 rows were not deleted; the table has no triggers", ""},
		"one that is not":   {[]int64{3, 4, 9}, "1 of 3 rows were not deleted; the table has no triggers", ""},
		"one twice":         {[]int64{3, 4, 4}, "table t, row 3: the statement changes the same row twice", ""},
		"none of the table": {[]int64{7, 8, 9}, "3 of 3 rows were not deleted; the table has no triggers", ""},
	} {
		s := inMode(t, "delete", "CREATE TABLE t (id INTEGER PRIMARY KEY)", "INSERT INTO t VALUES (3), (4), (5)")
		tab, _ := openIn(t, s, "t")
		tx, err := tab.Modify(context.Background(), connector.Modify{})
		require.NoError(t, err)
		b := column.NewBatch([]types.Type{types.Of(types.BigInt)}, 4)
		ints(b.Cols[0], c.keys...)
		b.N = len(c.keys)
		_, _, err = write(tx.(*Transaction), batches(b))
		if c.want != "" {
			if name == "one that is not" || name == "none of the table" || name == "one too many" {
				require.ErrorContains(t, err, "rows were not deleted", name)
			}
			require.EqualError(t, err, c.want, name)
			require.Equal(t, "3", one(t, s.Path, "SELECT count(*) FROM t"))
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, c.deleted, one(t, s.Path, "SELECT coalesce(sum(id), 0) FROM t"), name)
	}
}

// TestModifyFails: whatever ends it, all rows are as they were; a constraint names the row and the value.
func TestModifyFails(t *testing.T) {
	const def = "CREATE TABLE t (id INTEGER PRIMARY KEY, a INT UNIQUE, b TEXT NOT NULL CHECK (b <> 'bad'), w REAL)"
	for _, mode := range modes {
		for name, c := range map[string]struct {
			set  []string
			f    func(row []string, to []*column.Vector) bool
			want string
		}{
			"duplicate": {[]string{"a"}, func(row []string, to []*column.Vector) bool {
				if row[0] == "500" {
					to[0].AppendI64(7)
				}
				return row[0] == "500"
			}, "table t, rowid 500: duplicate key a = 7"},
			"duplicate of the statement itself": {[]string{"a"}, func(row []string, to []*column.Vector) bool {
				to[0].AppendI64(5000)
				return true
			}, "table t, rowid 2: duplicate key a = 5000"},
			"duplicate primary key": {[]string{"id"}, func(row []string, to []*column.Vector) bool {
				if row[0] == "700" {
					to[0].AppendI64(9)
				}
				return row[0] == "700"
			}, "table t, rowid 700: duplicate key id = 9"},
			"null": {[]string{"b", "a"}, func(row []string, to []*column.Vector) bool {
				if row[0] == "900" {
					to[0].AppendNull()
				} else {
					to[0].AppendString("x")
				}
				to[1].AppendNull()
				return true
			}, "table t, rowid 900: NULL in a NOT NULL column (b = NULL)"},
			"check": {[]string{"b"}, func(row []string, to []*column.Vector) bool {
				if row[0] == "1000" {
					to[0].AppendString("bad")
				}
				return row[0] == "1000"
			}, "table t, rowid 1000: CHECK constraint failed: b <> 'bad'"},
			"NaN": {[]string{"w"}, func(row []string, to []*column.Vector) bool {
				to[0].AppendF64(math.NaN())
				return true
			}, "table t, column w, row 1: NaN cannot be stored in SQLite"},
			"a + 1": {[]string{"a"}, func(row []string, to []*column.Vector) bool { // as SQLite itself does
				var a int64
				_, _ = fmt.Sscan(row[1], &a)
				to[0].AppendI64(a + 1)
				return true
			}, "table t, rowid 1: duplicate key a = 2"},
		} {
			s := inMode(t, mode, def, thousand+"INSERT INTO t SELECT i, i, 'b', 0 FROM n")
			_, out, err := modify(t, s, "t", c.set, c.f)
			require.EqualError(t, err, c.want, name)
			require.Equal(t, connector.NotDone, out)
			require.Equal(t, "1000 500500 500500 b 0", one(t, s.Path, "SELECT count(*) || ' ' || sum(id) || ' ' || sum(a) || ' ' || max(b) || ' ' || CAST(sum(w) AS INT) FROM t"), name)
			require.Equal(t, "ok", one(t, s.Path, "PRAGMA integrity_check"))
			require.Equal(t, []string{"shop.db"}, names(t, filepath.Dir(s.Path)))
		}
		// What SQLite does in the order of its rows works here, too: it is the same order.
		for _, col := range []string{"a", "id"} {
			s := inMode(t, mode, def, thousand+"INSERT INTO t SELECT i, i, 'b', 0 FROM n")
			n, _, err := modify(t, s, "t", []string{col}, func(row []string, to []*column.Vector) bool {
				var a int64
				_, _ = fmt.Sscan(row[0], &a)
				to[0].AppendI64(a - 1)
				return true
			})
			require.NoError(t, err)
			require.EqualValues(t, 1000, n)
			require.Equal(t, "499500", one(t, s.Path, "SELECT sum("+col+") FROM t"))
		}
	}
}

// TestModifyRefused: what has no rows of its own, or computes them.
func TestModifyRefused(t *testing.T) {
	s := inMode(t, "delete", "CREATE TABLE t (id INTEGER, rowid TEXT, _rowid_ TEXT, oid TEXT, g INT AS (id + 1))", "CREATE VIEW v AS SELECT * FROM t",
		"CREATE VIRTUAL TABLE f USING fts3(id)", "CREATE TABLE g (id INTEGER, g INT AS (id + 1), s TEXT)")
	for table, want := range map[string]string{
		"t": "table t has no PRIMARY KEY, and its columns have all the names under which SQLite gives the rowid: there is nothing that tells a row from the others",
		"v": "v is a view of SQLite; its rows cannot be changed",
		"f": "f is a virtual table of SQLite; change its rows with SQLite's own tools",
	} {
		_, _, err := modify(t, s, table, nil, nil)
		require.EqualError(t, err, want)
	}
	_, _, err := modify(t, s, "g", []string{"g"}, nil)
	require.EqualError(t, err, "table g: column g is computed by SQLite and cannot be written")
	require.ErrorAs(t, err, new(*connector.ColumnError))
	tab, schema := openIn(t, s, "g")
	schema.Columns[2].Type = types.Of(types.Int)
	tab.schema = schema
	_, err = tab.Modify(context.Background(), connector.Modify{Set: []int{2}})
	require.EqualError(t, err, "table g, column s (declared TEXT): SQLite would turn INT values into text; CAST them to STRING")
	without := NewStore(file(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT) WITHOUT ROWID"), nil, nil)
	tab, schema = openIn(t, without, "t")
	tab.schema = types.Schema{Columns: schema.Columns[1:]}
	_, err = tab.RowKey(context.Background())
	require.EqualError(t, err, "table t: the definition lacks the column `id`, which is part of the PRIMARY KEY in SQLite")
}

// TestModifyTriggers: triggers and foreign keys do what they do for SQLite's own UPDATE and DELETE; rows that they keep
// are an error.
func TestModifyTriggers(t *testing.T) {
	all := func([]string, []*column.Vector) bool { return true }
	for _, mode := range modes {
		run := func(want, after string, set []string, f func([]string, []*column.Vector) bool, statements ...string) {
			t.Helper()
			s := inMode(t, mode, statements...)
			_, _, err := modify(t, s, "t", set, f)
			if want != "" {
				require.EqualError(t, err, want)
			} else {
				require.NoError(t, err)
			}
			query := "SELECT coalesce(group_concat(x, ' '), '') FROM (SELECT coalesce(id, 'NULL') || '' AS x FROM t UNION ALL SELECT '/' || coalesce(a, 'NULL') FROM other)"
			require.Equal(t, after, one(t, s.Path, query))
		}
		const tables = "CREATE TABLE t (id INTEGER PRIMARY KEY, a INT); CREATE TABLE other (a); INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)"
		plus := func(row []string, to []*column.Vector) bool {
			to[0].AppendI64(int64(row[1][0]-'0') + 10)
			return true
		}
		run("", "1 2 3 /11 /12 /13", []string{"a"}, plus, tables, "CREATE TRIGGER g AFTER UPDATE ON t BEGIN INSERT INTO other VALUES (NEW.a); END")
		run("", "/1 /2 /3", nil, all, tables, "CREATE TRIGGER g AFTER DELETE ON t BEGIN INSERT INTO other VALUES (OLD.id); END")
		run("1 of 3 rows were not deleted; table t has triggers: g", "1 2 3", nil, all, tables, "CREATE TRIGGER g BEFORE DELETE ON t WHEN OLD.id = 2 BEGIN SELECT RAISE(IGNORE); END")
		run("1 of 3 rows were not changed; table t has triggers: g", "1 2 3", []string{"a"}, plus, tables, "CREATE TRIGGER g BEFORE UPDATE ON t WHEN OLD.id = 2 BEGIN SELECT RAISE(IGNORE); END")
		run("table t, rowid 2: no, not 2", "1 2 3", []string{"a"}, plus, tables, "CREATE TRIGGER g BEFORE UPDATE ON t WHEN OLD.id = 2 BEGIN SELECT RAISE(ABORT, 'no, not 2'); END")
		// A trigger that deletes the next row is faster than the statement.
		run("", "", nil, all, tables, "CREATE TRIGGER g AFTER DELETE ON t BEGIN DELETE FROM t WHERE id = OLD.id + 1; END")

		const child = "CREATE TABLE other (a REFERENCES t (id) %s); INSERT INTO other VALUES (2)"
		const parent = "CREATE TABLE t (id INTEGER PRIMARY KEY, a INT); INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)"
		two := func(row []string, _ []*column.Vector) bool { return row[0] == "2" }
		newKey := func(row []string, to []*column.Vector) bool {
			if row[0] == "2" {
				to[0].AppendI64(9)
			}
			return row[0] == "2"
		}
		run("table t: FOREIGN KEY constraint failed: rows of table other refer to rows that would be gone: 1, the first has the rowid 1", "1 2 3 /2", nil, two, parent, fmt.Sprintf(child, ""))
		run("table t: FOREIGN KEY constraint failed: rows of table other refer to rows that would be gone: 1, the first has the rowid 1", "1 2 3 /2", nil, two, parent, fmt.Sprintf(child, "ON DELETE RESTRICT"))
		run("", "1 3", nil, two, parent, fmt.Sprintf(child, "ON DELETE CASCADE"))
		run("", "1 3 /NULL", nil, two, parent, fmt.Sprintf(child, "ON DELETE SET NULL"))
		run("", "1 3 9 /9", []string{"id"}, newKey, parent, fmt.Sprintf(child, "ON UPDATE CASCADE"))
		run("table t: FOREIGN KEY constraint failed: rows of table other refer to rows that would be gone: 1, the first has the rowid 1", "1 2 3 /2", []string{"id"}, newKey, parent, fmt.Sprintf(child, ""))
		run("", "1 2 3 /2", []string{"a"}, plus, parent, fmt.Sprintf(child, ""))
		run("", "/7", nil, all, "CREATE TABLE t (id INTEGER PRIMARY KEY, up REFERENCES t ON DELETE CASCADE); INSERT INTO t VALUES (1, NULL), (2, 1), (3, 2)", "CREATE TABLE other (a); INSERT INTO other VALUES (7)")
		up := func(row []string, to []*column.Vector) bool {
			if row[0] == "3" {
				to[0].AppendI64(8)
			}
			return row[0] == "3"
		}
		run("table t: FOREIGN KEY constraint failed: no row of table t has id = 8 (up of table t)", "1 2 3", []string{"up"}, up,
			"CREATE TABLE t (id INTEGER PRIMARY KEY, up INT REFERENCES t); INSERT INTO t VALUES (1, NULL), (2, 1), (3, 2)", "CREATE TABLE other (a)")
		run("1 other rows would have been lost: table t has the clause ON CONFLICT REPLACE, and the rows changed would have taken their place", "1 2 3", []string{"a"}, func(row []string, to []*column.Vector) bool {
			if row[0] == "3" {
				to[0].AppendI64(1)
			}
			return row[0] == "3"
		}, "CREATE TABLE t (id INTEGER PRIMARY KEY, a INT UNIQUE ON CONFLICT REPLACE); INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)", "CREATE TABLE other (a)")
	}
}

// TestModifyReaders: until the commit others see the rows as they were, and in a WAL file never wait; another writer
// waits from Begin on.
func TestModifyReaders(t *testing.T) {
	ctx := context.Background()
	for _, mode := range modes {
		s := inMode(t, mode, "CREATE TABLE t (id INTEGER PRIMARY KEY, a INT)", thousand+"INSERT INTO t SELECT i, i FROM n")
		tab, _ := openIn(t, s, "t")
		txn, err := tab.Modify(ctx, connector.Modify{Set: []int{1}})
		require.NoError(t, err)
		tx := txn.(*Transaction)
		require.NoError(t, tx.Begin(ctx, connector.NewJobID()))
		db, err := sql.Open("sqlite3", s.Path+"?_busy_timeout=50")
		require.NoError(t, err)
		_, err = db.Exec("INSERT INTO t VALUES (5000, 0)")
		require.ErrorContains(t, err, "locked")
		b := column.NewBatch([]types.Type{types.Of(types.BigInt), types.Of(types.Int)}, 2)
		ints(b.Cols[0], 1, 2)
		ints(b.Cols[1], 10, 20)
		b.N = 2
		w, err := tx.Writer(ctx, 0)
		require.NoError(t, err)
		require.NoError(t, w.Write(ctx, batches(b)))
		require.NoError(t, w.Close())
		require.Equal(t, "3", one(t, s.Path, "SELECT sum(a) FROM t WHERE id < 3"))
		n, err := tx.Seal(ctx)
		require.NoError(t, err)
		require.EqualValues(t, 2, n)
		require.Equal(t, "3", one(t, s.Path, "SELECT sum(a) FROM t WHERE id < 3"))
		out, err := tx.Commit(ctx)
		require.NoError(t, err)
		require.Equal(t, connector.Done, out)
		require.Equal(t, "30", one(t, s.Path, "SELECT sum(a) FROM t WHERE id < 3"))
		_, err = db.Exec("INSERT INTO t VALUES (5000, 0)")
		require.NoError(t, err)
		require.NoError(t, db.Close())
	}
}

// TestModifyCancel: a cancel ends also the one statement that changes the rows, and nothing is changed.
func TestModifyCancel(t *testing.T) {
	for _, mode := range modes {
		for _, set := range [][]int{{1}, nil} {
			s := inMode(t, mode, "CREATE TABLE t (id INTEGER PRIMARY KEY, a INT)", thousand+"INSERT INTO t SELECT i, i FROM n",
				"CREATE TRIGGER slow BEFORE UPDATE ON t BEGIN SELECT count(*) FROM t AS x, t AS y; END",
				"CREATE TRIGGER slow2 BEFORE DELETE ON t BEGIN SELECT count(*) FROM t AS x, t AS y; END")
			tab, _ := openIn(t, s, "t")
			txn, err := tab.Modify(context.Background(), connector.Modify{Set: set})
			require.NoError(t, err)
			tx := txn.(*Transaction)
			kinds := []types.Type{types.Of(types.BigInt), types.Of(types.Int)}[:1+len(set)]
			b := column.NewBatch(kinds, 1000)
			for i := range 1000 {
				for k := range kinds {
					b.Cols[k].AppendI64(int64(i + 1))
				}
			}
			b.N = 1000
			ctx, cancel := context.WithCancelCause(context.Background())
			require.NoError(t, tx.Begin(ctx, connector.NewJobID()))
			w, err := tx.Writer(ctx, 0)
			require.NoError(t, err)
			require.NoError(t, w.Write(ctx, batches(b)))
			time.AfterFunc(50*time.Millisecond, func() { cancel(errStop) })
			_, err = tx.Seal(ctx)
			require.ErrorIs(t, err, errStop)
			out, err := tx.Commit(context.Background())
			require.ErrorIs(t, err, errStop)
			require.Equal(t, connector.NotDone, out)
			require.NoError(t, tx.Abort(context.Background()))
			require.Equal(t, "1000 500500", one(t, s.Path, "SELECT count(*) || ' ' || sum(a) FROM t"))
		}
	}
}
