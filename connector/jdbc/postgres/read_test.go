package postgres

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/internal/testserver"
	"github.com/sluice-sql/sluice/types"
)

// parallel reads a table with several readers, each with its share of the splits, and returns the batches by split.
func (f *fixture) parallel(tab *Table, columns []int, readers int) string {
	f.t.Helper()
	src, err := tab.Source(connector.WithScope(f.ctx), connector.Scan{Columns: columns, Limit: -1})
	require.NoError(f.t, err)
	defer src.Close()
	splits, err := src.Splits(f.ctx, readers)
	require.NoError(f.t, err)
	if tab.info.pages > bigPages && readers > 1 && tab.server == f.s {
		require.Greater(f.t, len(splits), 1)
	}
	got := make([]string, len(splits))
	work := make(chan connector.Split)
	var wg sync.WaitGroup
	for range readers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for s := range work {
				r, err := src.Reader(f.ctx, []connector.Split{s})
				if err != nil {
					f.t.Error(err)
					return
				}
				var list []*column.Batch
				for {
					b := &column.Batch{}
					status, err := r.Read(f.ctx, b)
					if err != nil {
						f.t.Error(err)
						break
					}
					list = append(list, b)
					if status == connector.End {
						break
					}
				}
				if err := r.Close(); err != nil {
					f.t.Error(err)
				}
				got[s.ID] = batchText(list...)
			}
		}()
	}
	for _, s := range splits {
		work <- s
	}
	close(work)
	wg.Wait()
	return strings.Join(got, "")
}

// TestOrder: however many readers there are, the rows come in the order of the table.
func TestOrder(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE t AS SELECT n AS a, repeat('x', 200) AS s FROM generate_series(1, 60000) n; DELETE FROM t WHERE a % 7 = 0; UPDATE t SET s = 'y' WHERE a % 11 = 0")
	tab := f.open("t")
	want := f.sql("SELECT a FROM t ORDER BY ctid")
	require.Equal(t, want, f.parallel(tab, []int{0}, 1))
	require.Equal(t, want, f.parallel(tab, []int{0}, 4))
	require.Equal(t, want, f.text(tab, 0))
	require.Equal(t, len(strings.Split(want, "\n")), len(strings.Split(f.parallel(tab, []int{}, 3), "\n"))) // rows without columns
}

// TestSnapshot: all sources of a job see one state, while others write in a loop.
func TestSnapshot(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE a(n int); CREATE TABLE b(n int); INSERT INTO a VALUES (0); INSERT INTO b VALUES (0); CREATE TABLE c AS SELECT 0 AS n, repeat('x', 400) AS s FROM generate_series(1, 30000)")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		c, err := f.s.connect(f.ctx, f.db)
		if err != nil {
			t.Error(err)
			return
		}
		defer c.close()
		for i := 1; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := c.exec(f.ctx, fmt.Sprintf("BEGIN; UPDATE a SET n = %d; UPDATE b SET n = %d; UPDATE c SET n = %d WHERE ctid IN ('(0,1)', '(1500,1)'); COMMIT", i, i, i)); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	a, b, c := f.open("a"), f.open("b"), f.open("c")
	for range 20 {
		ctx := connector.WithScope(f.ctx)
		var sources []connector.Source
		for _, tab := range []*Table{a, b, c} {
			src, err := tab.Source(ctx, connector.Scan{Columns: []int{0}, Limit: -1})
			require.NoError(t, err)
			sources = append(sources, src)
		}
		seen := map[string]bool{}
		for i, src := range sources {
			splits, err := src.Splits(ctx, 4)
			require.NoError(t, err)
			for _, s := range splits {
				r, err := src.Reader(ctx, []connector.Split{s})
				require.NoError(t, err)
				for {
					batch := &column.Batch{}
					status, err := r.Read(ctx, batch)
					require.NoError(t, err)
					if i < 2 && batch.N > 0 {
						seen[batchText(batch)] = true
					}
					if status == connector.End {
						break
					}
				}
				require.NoError(t, r.Close())
			}
		}
		for _, src := range sources {
			require.NoError(t, src.Close())
		}
		require.Len(t, seen, 1)
	}
	close(stop)
	wg.Wait()
}

// TestReadKinds: whatever has rows is read.
func TestReadKinds(t *testing.T) {
	f := setUp(t)
	f.sql(`CREATE SCHEMA "My.Schema"; CREATE TABLE "My.Schema"."T ""1"""("a b" int); INSERT INTO "My.Schema"."T ""1""" VALUES (1);
CREATE VIEW v AS SELECT 2 AS a; CREATE MATERIALIZED VIEW m AS SELECT 3 AS a; CREATE TABLE p(a int) PARTITION BY LIST (a); CREATE TABLE p4 PARTITION OF p DEFAULT; INSERT INTO p VALUES (4);
CREATE TABLE base(a int); CREATE TABLE heir(b int) INHERITS (base); INSERT INTO heir VALUES (5, 6); CREATE TABLE none()`)
	names, err := f.s.ListTables(f.ctx, f.db)
	require.NoError(t, err)
	require.Equal(t, []string{`"My.Schema".T "1"`, "base", "heir", "m", "none", "p", "p4", "v"}, names)
	views, err := f.s.ListViews(f.ctx, f.db)
	require.NoError(t, err)
	require.Equal(t, []string{"m", "v"}, views)
	for name, want := range map[string]string{names[0]: "1", "v": "2", "m": "3", "p": "4", "base": "5", "heir": "5|6", "p4": "4"} {
		require.Equal(t, want+"\n", f.text(f.open(name)), name)
	}
	info, near, err := f.s.Describe(f.ctx, f.db, "BASE")
	require.NoError(t, err)
	require.Nil(t, info)
	require.Equal(t, "base", near)
	_, err = f.s.OpenTable(f.ctx, f.db, "BASE", types.Schema{})
	require.ErrorContains(t, err, "table BASE does not exist; names are case-sensitive, did you mean `base`?")
	for _, name := range []string{"pg_class", "pg_catalog.pg_class", "information_schema.tables", "a.b.c", `"x`, "", "nosuch", "nosuch.t", "a\x00b", "'; DROP TABLE base; --"} {
		info, near, err := f.s.Describe(f.ctx, f.db, name)
		require.NoError(t, err, name)
		require.Nil(t, info, name)
		require.Empty(t, near)
	}
	info, _, err = f.s.Describe(f.ctx, f.db, "v")
	require.NoError(t, err)
	require.True(t, info.View)
	require.Equal(t, "CREATE VIEW \"public\".\"v\" AS\n SELECT 2 AS a", info.Text)
	// A limit is the server's.
	got, err := f.read(f.ctx, f.open("heir"), connector.Scan{Columns: []int{1}, Limit: 0}, 1)
	require.NoError(t, err)
	require.Empty(t, batchText(got...))
}

// TestHostileNames: a name is a name, whatever it has in it.
func TestHostileNames(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE y(a int); INSERT INTO y VALUES (1)")
	for _, name := range []string{`x" ); drop table y; --`, "new\nline", "'; DROP TABLE y; --", "$$", `back\slash`, "%s %d", "ünï", strings.Repeat("ü", 31) + "x", "select", "A", `a"b`, " ", "\t"} {
		table := part(name)
		sch := types.Schema{Columns: []types.Column{{Name: name, Type: types.Of(types.Int)}, {Name: "k", Type: types.Of(types.Int)}}, PrimaryKey: []string{name}}
		of := []types.Type{types.Of(types.Int), types.Of(types.Int)}
		f.done(f.stage(table, 0, sch), rows(t, of, []string{"1", "2"}))
		f.done(f.stage(table, 1, sch), rows(t, of, []string{"3", "4"}))
		tab := f.open(table)
		f.done(f.insert(tab, connector.Insert{}), rows(t, of, []string{"5", "6"}))
		f.done(f.insert(f.openBy(f.option("sink.on-conflict", "update"), table), connector.Insert{}), rows(t, of, []string{"5", "7"}))
		require.Equal(t, int64(1), f.modified(tab, []int{1}, func(b *column.Batch, i int) (string, bool) { return "8", b.Cols[0].I32[i] == 3 }))
		require.Equal(t, []string{"3|8\n", "5|7\n"}, sorted(f.text(tab)), name)
		tx, err := tab.Upsert(f.ctx, connector.Upsert{Columns: []int{0, 1}, Key: []int{0}})
		require.NoError(t, err)
		b := rows(t, of, []string{"3", null})
		b.Kind = []types.RowKind{types.Delete}
		f.done(tx, b)
		require.NoError(t, tab.CheckOverwrite(f.ctx))
		f.fails(f.insert(tab, connector.Insert{Overwrite: true}), "table "+table+", row 2: duplicate key", rows(t, of, []string{"1", "1"}, []string{"1", "1"}))
		require.Equal(t, "5|7\n", f.text(tab))
		require.NoError(t, f.s.RenameTable(f.ctx, f.db, table, "z"))
		require.NoError(t, f.s.RenameTable(f.ctx, f.db, "z", table))
		list, err := f.s.ListTables(f.ctx, f.db)
		require.NoError(t, err)
		require.Contains(t, list, table)
		require.NoError(t, tab.Truncate(f.ctx))
		require.NoError(t, f.s.DropTable(f.ctx, f.db, table, ""))
	}
	require.Equal(t, "1\n", f.sql("SELECT * FROM y"))
	for name, want := range map[string]string{
		strings.Repeat("x", 64):          "a name in PostgreSQL has at most 63 bytes, this one has 64",
		strings.Repeat("ü", 32):          "a name in PostgreSQL has at most 63 bytes, this one has 64",
		"a\x00b":                         "a name in PostgreSQL has no NUL character",
		"":                               "want table or schema.table",
		"a.b.c":                          "want table or schema.table",
		"a.":                             "want table or schema.table",
		`"a`:                             "want table or schema.table",
		"_sluice_x":                      "names that begin with _sluice or .sluice cannot be created",
		".sluice":                        "want table or schema.table",
		"pg_catalog.t":                   "the schema pg_catalog is PostgreSQL's own",
		"information_schema.t":           "the schema information_schema is PostgreSQL's own",
		strings.Repeat("s", 64) + ".tab": "schema",
	} {
		_, _, err := f.s.CheckTable(name, defOf(schema(t, "a INT")))
		require.ErrorContains(t, err, want, name)
	}
	for column, want := range map[string]string{strings.Repeat("x", 64): "at most 63 bytes", "a\x00": "no NUL", "": "needs a name", "ctid": "every table of PostgreSQL has a system column of this name; give it an alias"} {
		_, _, err := f.s.CheckTable("t", defOf(types.Schema{Columns: []types.Column{{Name: column, Type: types.Of(types.Int)}}}))
		var at *connector.ColumnError
		require.ErrorAs(t, err, &at)
		require.ErrorContains(t, err, want)
	}
	f.fails(f.stage("nosuch.t", 0, schema(t, "a INT")), "there is no schema \"nosuch\"; create it with PostgreSQL's own CREATE SCHEMA", numbers(0, 1))
}

// TestSlowLink: rows that come in pieces, with pauses longer than a Read waits, come whole.
func TestSlowLink(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE t AS SELECT n, repeat(md5(n::text), 20) AS s FROM generate_series(1, 3000) n")
	slow := false
	s, _ := f.proxied(func(d testserver.Direction, b []byte) testserver.Verdict {
		if slow && d == testserver.ToClient {
			time.Sleep(readWait + 20*time.Millisecond)
		}
		return testserver.Pass
	})
	tab := f.openBy(s, "t")
	src, err := tab.Source(f.ctx, connector.Scan{Columns: []int{0, 1}, Limit: -1})
	require.NoError(t, err)
	defer src.Close()
	splits, err := src.Splits(f.ctx, 1)
	require.NoError(t, err)
	r, err := src.Reader(f.ctx, splits)
	require.NoError(t, err)
	defer r.Close()
	slow = true
	var got []*column.Batch
	reads := 0
	for status := connector.More; status != connector.End; reads++ {
		b := &column.Batch{}
		status, err = r.Read(f.ctx, b)
		require.NoError(t, err)
		got = append(got, b)
	}
	require.Greater(t, reads, 5, "a Read waits for all rows of a batch")
	require.True(t, f.sql("SELECT n || '|' || s FROM t") == batchText(got...))
}
