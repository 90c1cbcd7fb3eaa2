package postgres

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// modify reads a table as a job does, hands each row to change, which says whether it is changed and how, and returns
// the sealed transaction.
func (f *fixture) modify(tab *Table, set []int, change func(b *column.Batch, i int) (value string, ok bool)) (*Transaction, int64, error) {
	ctx := connector.WithScope(f.ctx)
	key, err := tab.RowKey(ctx)
	if err != nil {
		return nil, 0, err
	}
	tx, err := tab.Modify(ctx, connector.Modify{Set: set})
	if err != nil {
		return nil, 0, err
	}
	keys := key.Columns
	if keys == nil {
		keys = []int{len(tab.schema.Columns)}
	}
	n, err := f.writeFrom(ctx, tx, func() func() (*column.Batch, error) {
		read := false
		return func() (*column.Batch, error) {
			if read {
				return nil, nil
			}
			read = true
			scan := connector.Scan{Columns: append(append([]int{}, keys...), all(tab)...), Limit: -1}
			got, err := f.read(ctx, tab, scan, 2)
			if err != nil {
				return nil, err
			}
			of := got[0].Types()[:len(keys)]
			for _, at := range set {
				of = append(of, tab.schema.Columns[at].Type)
			}
			out := column.NewBatch(of, 1)
			for _, b := range got {
				for i := range b.N {
					value, ok := change(&column.Batch{Cols: b.Cols[len(keys):], N: b.N}, i)
					if !ok {
						continue
					}
					for k := range keys {
						out.Cols[k].AppendFrom(b.Cols[k], i)
					}
					for k := range set {
						appendText(f.t, out.Cols[len(keys)+k], value)
					}
					out.N++
				}
			}
			return out, nil
		}
	}())
	return tx.(*Transaction), n, err
}

func (f *fixture) modified(tab *Table, set []int, change func(b *column.Batch, i int) (string, bool)) int64 {
	f.t.Helper()
	tx, n, err := f.modify(tab, set, change)
	require.NoError(f.t, err)
	out, err := tx.Commit(f.ctx)
	require.NoError(f.t, err)
	require.Equal(f.t, connector.Done, out)
	return n
}

// TestModify: single rows are changed and deleted, also where nothing in them tells them apart.
func TestModify(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE t(a int, s text); INSERT INTO t SELECT n % 3, 'x' FROM generate_series(1, 30000) n; DELETE FROM t WHERE ctid < '(5,0)'")
	all := f.sql("SELECT count(*) FROM t")
	tab := f.open("t")
	seen := 0
	n := f.modified(tab, []int{1}, func(b *column.Batch, i int) (string, bool) { seen++; return fmt.Sprint(seen), seen%2 == 0 })
	require.Equal(t, all, fmt.Sprintln(seen))
	require.Equal(t, int64(seen/2), n)
	require.Equal(t, fmt.Sprintf("%d\t%d\n", n, n), f.sql("SELECT count(*), count(DISTINCT s) FROM t WHERE s <> 'x'"))
	require.Equal(t, all, f.sql("SELECT count(*) FROM t"))
	n = f.modified(tab, nil, func(b *column.Batch, i int) (string, bool) { return "", string(b.Cols[1].Value(i)) != "x" })
	require.Equal(t, int64(seen/2), n)
	require.Equal(t, "0\n", f.sql("SELECT count(*) FROM t WHERE s <> 'x'"))
	require.Equal(t, int64(0), f.modified(tab, nil, func(*column.Batch, int) (string, bool) { return "", false }))

	// A partitioned table by its key, also where rows go to another part.
	f.sql("CREATE TABLE p(a int PRIMARY KEY, b int) PARTITION BY RANGE (a); CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10); CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20); INSERT INTO p SELECT n, n FROM generate_series(1, 5) n")
	tab = f.open("p")
	require.Equal(t, int64(2), f.modified(tab, []int{0}, func(b *column.Batch, i int) (string, bool) {
		return fmt.Sprint(b.Cols[0].I32[i] + 10), b.Cols[0].I32[i] > 3
	}))
	require.Equal(t, "14\n15\n", f.sql("SELECT a FROM p2"))
	require.Equal(t, int64(1), f.modified(tab, nil, func(b *column.Batch, i int) (string, bool) { return "", b.Cols[0].I32[i] == 14 }))
	require.Equal(t, "15\n", f.sql("SELECT a FROM p2"))
	f.sql("CREATE TABLE base(a int PRIMARY KEY); CREATE TABLE heir() INHERITS (base); CREATE TABLE np(a int) PARTITION BY HASH (a)")
	_, err := f.open("base").RowKey(f.ctx)
	require.ErrorContains(t, err, "other tables inherit from table base")
	_, err = f.open("np").RowKey(f.ctx)
	require.ErrorContains(t, err, "table np is kept in parts and has no PRIMARY KEY")
}

// TestModifyRefused: what the server does not do of it undoes the whole.
func TestModifyRefused(t *testing.T) {
	f := setUp(t)
	f.sql(`CREATE FUNCTION odd() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF OLD.a % 2 = 0 THEN RETURN NULL; END IF; IF TG_OP = ''DELETE'' THEN RETURN OLD; END IF; RETURN NEW; END';
CREATE TABLE t(a int PRIMARY KEY, b int CHECK (b < 100), g int GENERATED ALWAYS AS (a) STORED); INSERT INTO t SELECT n, n FROM generate_series(1, 10) n; CREATE TRIGGER only_odd BEFORE UPDATE OR DELETE ON t FOR EACH ROW EXECUTE FUNCTION odd()`)
	was := f.sql("SELECT * FROM t")
	tab := f.open("t")
	every := func(value string) func(*column.Batch, int) (string, bool) {
		return func(*column.Batch, int) (string, bool) { return value, true }
	}
	for _, c := range []struct {
		set         []int
		value, want string
	}{
		{[]int{1}, "5", "5 of 10 rows were not updated; table t has triggers: only_odd"},
		{nil, "", "5 of 10 rows were not deleted; table t has triggers: only_odd"},
		{[]int{1}, "500", "table t: new row for relation \"t\" violates check constraint \"t_b_check\""},
		{[]int{0}, "7", "table t: duplicate key: Key (a)=(7) already exists"},
		{[]int{2}, "7", "table t: column g is computed by PostgreSQL and cannot be written"},
	} {
		tx, _, err := f.modify(tab, c.set, every(c.value))
		require.ErrorContains(t, err, c.want)
		if tx != nil {
			require.NoError(t, tx.Abort(f.ctx))
		}
		require.Equal(t, was, f.sql("SELECT * FROM t"))
	}
}

// TestModifyRivals: others do not change the table between its being read and changed; who reads is not kept waiting.
func TestModifyRivals(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE t(a int PRIMARY KEY, b int); INSERT INTO t VALUES (1, 0)")
	tab := f.open("t")
	// Each adds one to what it has read, at the same time.
	const rivals, rounds = 3, 5
	done := make(chan error, rivals)
	for range rivals {
		go func() {
			for range rounds {
				tx, _, err := f.modify(tab, []int{1}, func(b *column.Batch, i int) (string, bool) { return fmt.Sprint(b.Cols[1].I32[i] + 1), true })
				if err == nil {
					_, err = tx.Commit(f.ctx)
				}
				if err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range rivals {
		require.NoError(t, <-done)
	}
	require.Equal(t, "15\n", f.sql("SELECT b FROM t"))

	tx, err := tab.Modify(f.ctx, connector.Modify{})
	require.NoError(t, err)
	require.NoError(t, tx.Begin(f.ctx, connector.NewJobID()))
	require.Equal(t, "1\t15\n", f.sql("SELECT * FROM t")) // without a wait: we end behind it
	_, err = f.ts.TryQuery(f.db, "SET lock_timeout = '100ms'; INSERT INTO t VALUES (2, 2)")
	require.ErrorContains(t, err, "lock timeout")
	require.NoError(t, tx.Abort(f.ctx))
}

// TestPlaces: the place of a row goes over the wire as it came.
func TestPlaces(t *testing.T) {
	v := column.New(types.Of(types.BigInt), 4)
	for _, tid := range [][]byte{{0, 0, 0, 0, 0, 1}, {0xff, 0xff, 0xff, 0xfe, 0xff, 0xff}, {0, 1, 2, 3, 4, 5}} {
		require.Empty(t, decodeTid(v, tid))
		i := v.Len - 1
		got, _ := encodeTid(nil, v, i)
		require.Equal(t, tid, got)
	}
	text, _ := textTid(nil, v, 1)
	require.Equal(t, "(4294967294,65535)", string(text))
}
