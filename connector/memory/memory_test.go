package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

var ctx = context.Background()

var (
	tableT = connector.ObjectIdentifier{Catalog: "c", Database: "d", Object: "t"}
	ab     = types.Schema{Columns: []types.Column{
		{Name: "a", Type: types.Of(types.BigInt).AsNotNull()},
		{Name: "b", Type: types.String()},
	}}
)

// batchAB returns rows (from, 'v<from>') … with b NULL at every third.
func batchAB(from, n int) *column.Batch {
	b := column.NewBatch(ab.Types(), n)
	for i := from; i < from+n; i++ {
		b.Cols[0].AppendI64(int64(i))
		if i%3 == 0 {
			b.Cols[1].AppendNull()
		} else {
			b.Cols[1].AppendString(fmt.Sprint("v", i))
		}
		b.N++
	}
	return b
}

// feed yields the batches, each in the same lent memory, as a source with a scratch batch does.
func feed(batches ...*column.Batch) func() (*column.Batch, error) {
	var scratch *column.Batch
	return func() (*column.Batch, error) {
		if scratch != nil {
			for _, c := range scratch.Cols { // what was lent is overwritten
				for i := range c.I64 {
					c.I64[i] = -1
				}
				for i := range c.Bytes {
					c.Bytes[i] = '!'
				}
			}
		}
		if len(batches) == 0 {
			return nil, nil
		}
		scratch = batches[0].Copy()
		batches = batches[1:]
		return scratch, nil
	}
}

func begin(t *testing.T, s *Store) *Transaction {
	tx, err := s.Transaction(connector.Insert{Columns: []int{0, 1}})
	require.NoError(t, err)
	require.NoError(t, tx.Begin(ctx, connector.JobID{1}))
	return tx
}

func write(t *testing.T, tx *Transaction, subtask int, batches ...*column.Batch) {
	w, err := tx.Writer(ctx, subtask)
	require.NoError(t, err)
	require.NoError(t, w.Write(ctx, feed(batches...)))
	require.NoError(t, w.Close())
}

func commit(t *testing.T, tx *Transaction, want int64) {
	n, err := tx.Seal(ctx)
	require.NoError(t, err)
	require.Equal(t, want, n)
	out, err := tx.Commit(ctx)
	require.NoError(t, err)
	require.Equal(t, connector.Done, out)
}

func insert(t *testing.T, s *Store, batches ...*column.Batch) {
	tx := begin(t, s)
	n := 0
	for _, b := range batches {
		n += b.N
	}
	write(t, tx, 0, batches...)
	commit(t, tx, int64(n))
}

// read returns the rows as text, through splits read in the order of their numbers.
func read(t *testing.T, s *Store, scan connector.Scan, parallelism int) []string {
	src, err := s.Source(scan)
	require.NoError(t, err)
	rows := drain(t, src, parallelism)
	require.NoError(t, src.Close())
	return rows
}

func drain(t *testing.T, src connector.Source, parallelism int) []string {
	splits, err := src.Splits(ctx, parallelism)
	require.NoError(t, err)
	var rows []string
	for _, sp := range splits {
		r, err := src.Reader(ctx, []connector.Split{sp})
		require.NoError(t, err)
		for status := connector.More; status != connector.End; {
			var b column.Batch
			status, err = r.Read(ctx, &b)
			require.NoError(t, err)
			require.True(t, b.Shared)
			require.LessOrEqual(t, b.N, column.DefaultRows)
			for _, c := range b.Cols {
				require.Equal(t, b.N, c.Len)
			}
			for i := range b.N {
				var cells []string
				for _, c := range b.Cols {
					switch {
					case c.IsNull(i):
						cells = append(cells, "NULL")
					case c.Type.Kind == types.BigInt:
						cells = append(cells, fmt.Sprint(c.I64[i]))
					default:
						cells = append(cells, string(c.Value(i)))
					}
				}
				rows = append(rows, strings.Join(cells, "|"))
			}
		}
		require.NoError(t, r.Close())
	}
	return rows
}

var allColumns = connector.Scan{Columns: []int{0, 1}, Limit: -1}

func wantRows(from, n int) []string {
	var rows []string
	for i := from; i < from+n; i++ {
		b := fmt.Sprint("v", i)
		if i%3 == 0 {
			b = "NULL"
		}
		rows = append(rows, fmt.Sprintf("%d|%s", i, b))
	}
	return rows
}

// Whatever the sizes of the batches that arrive, rows come back in order at every parallelism.
func TestRowsComeBackInOrder(t *testing.T) {
	for _, sizes := range [][]int{{}, {1}, {2048}, {700, 700, 700, 700}, {5000, 1, 65536, 3}, {2047, 1, 2, 2048}} {
		s := NewStore(tableT, ab, nil)
		var batches []*column.Batch
		total := 0
		for _, n := range sizes {
			batches = append(batches, batchAB(total, n))
			total += n
		}
		insert(t, s, batches...)
		require.Equal(t, int64(total), s.Rows())
		for _, parallelism := range []int{1, 4} {
			require.Equal(t, wantRows(0, total), read(t, s, allColumns, parallelism), "sizes %v", sizes)
		}
	}
}

func TestProjectionAndLimit(t *testing.T) {
	s := NewStore(tableT, ab, nil)
	insert(t, s, batchAB(0, 3000))
	require.Equal(t, []string{"NULL", "v1", "v2"}, read(t, s, connector.Scan{Columns: []int{1}, Limit: 3}, 4))
	require.Equal(t, []string{"NULL|0", "v1|1"}, read(t, s, connector.Scan{Columns: []int{1, 0}, Limit: 2}, 4))
	require.Equal(t, wantRows(0, 2500), read(t, s, connector.Scan{Columns: []int{0, 1}, Limit: 2500}, 4))
	require.Empty(t, read(t, s, connector.Scan{Columns: []int{0}, Limit: 0}, 4))
	require.Len(t, read(t, s, connector.Scan{Limit: -1}, 4), 3000, "no columns: only the number of rows")
	_, err := s.Source(connector.Scan{Columns: []int{3}})
	require.EqualError(t, err, "read table c.d.t: it has no column at position 3")
}

// A column that INSERT leaves out is NULL; one that is NOT NULL cannot be left out.
func TestColumnsLeftOut(t *testing.T) {
	s := NewStore(tableT, ab, nil)
	tx, err := s.Transaction(connector.Insert{Columns: []int{0}})
	require.NoError(t, err)
	require.NoError(t, tx.Begin(ctx, connector.JobID{1}))
	b := column.NewBatch(ab.Types()[:1], 1)
	b.Cols[0].AppendI64(7)
	b.N = 1
	write(t, tx, 0, b)
	commit(t, tx, 1)
	require.Equal(t, []string{"7|NULL"}, read(t, s, allColumns, 1))

	_, err = s.Transaction(connector.Insert{Columns: []int{1}})
	require.EqualError(t, err, "insert into table c.d.t: column `a` is NOT NULL and has no value")
}

// A writer is all or poisoned: after its first error it says the same again, and nothing is kept.
func TestNullInNotNullColumn(t *testing.T) {
	budget := connector.NewMemory(1 << 20)
	s := NewStore(tableT, ab, budget)
	insert(t, s, batchAB(0, 5))
	used := budget.Used()

	tx := begin(t, s)
	w, err := tx.Writer(ctx, 0)
	require.NoError(t, err)
	bad := batchAB(0, 3)
	bad.Cols[0].AppendNull()
	bad.Cols[1].AppendString("x")
	bad.N++
	const want = "column `a` of table c.d.t is NOT NULL, but row 14 has NULL"
	require.EqualError(t, w.Write(ctx, feed(batchAB(0, 10), bad)), want)
	require.EqualError(t, w.Write(ctx, feed(batchAB(0, 1))), want)
	_, err = tx.Seal(ctx)
	require.EqualError(t, err, want)
	require.NoError(t, tx.Abort(ctx))
	require.NoError(t, tx.Abort(ctx))
	require.Equal(t, used, budget.Used())
	require.Equal(t, wantRows(0, 5), read(t, s, allColumns, 1))
	out, err := tx.Commit(ctx)
	require.Equal(t, connector.NotDone, out)
	require.EqualError(t, err, "write to table c.d.t: nothing is ready to be committed")
}

func TestOnlyInserts(t *testing.T) {
	tx := begin(t, NewStore(tableT, ab, nil))
	w, err := tx.Writer(ctx, 0)
	require.NoError(t, err)
	b := batchAB(1, 2)
	b.Kind = []types.RowKind{types.Insert, types.Delete}
	require.EqualError(t, w.Write(ctx, feed(b)), "table c.d.t only takes inserted rows; row 2 is -D")
}

// An error of the query comes out of the writer as it is.
func TestErrorOfTheQuery(t *testing.T) {
	tx := begin(t, NewStore(tableT, ab, nil))
	w, err := tx.Writer(ctx, 0)
	require.NoError(t, err)
	boom := errors.New("boom")
	require.Equal(t, boom, w.Write(ctx, func() (*column.Batch, error) { return nil, boom }))
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	w, err = tx.Writer(ctx, 1)
	require.NoError(t, err)
	require.ErrorIs(t, w.Write(canceled, feed(batchAB(0, 1))), context.Canceled)
}

// Rows of the subtasks stand in the order of their numbers, however they arrived.
func TestSubtasks(t *testing.T) {
	s := NewStore(tableT, ab, nil)
	tx := begin(t, s)
	write(t, tx, 2, batchAB(20, 10))
	write(t, tx, 0, batchAB(0, 10), batchAB(10, 10))
	commit(t, tx, 30)
	require.Equal(t, wantRows(0, 30), read(t, s, allColumns, 1))
	out, err := tx.Commit(ctx)
	require.NoError(t, err)
	require.Equal(t, connector.Done, out, "a commit can be repeated")
	require.NoError(t, tx.Abort(ctx))
	require.Equal(t, int64(30), s.Rows(), "an abort after the commit drops nothing")
}

// Two INSERTs at once both survive, whichever commits first.
func TestConcurrentInserts(t *testing.T) {
	s := NewStore(tableT, ab, nil)
	one, two := begin(t, s), begin(t, s)
	write(t, one, 0, batchAB(0, 10))
	write(t, two, 0, batchAB(10, 10))
	commit(t, two, 10)
	commit(t, one, 10)
	require.ElementsMatch(t, wantRows(0, 20), read(t, s, allColumns, 1))
}

// Readers see whole commits only, while many writers commit; nothing is lost in the end.
func TestIsolation(t *testing.T) {
	s := NewStore(tableT, ab, nil)
	const writers, rounds, each = 4, 25, 101
	var wg sync.WaitGroup
	for w := range writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for r := range rounds {
				insert(t, s, batchAB((w*rounds+r)*each, each))
			}
		}()
	}
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Add(1)
		go func() {
			defer readers.Done()
			seen := 0
			for {
				select {
				case <-stop:
					return
				default:
				}
				rows := read(t, s, connector.Scan{Limit: -1}, 2)
				if len(rows)%each != 0 || len(rows) < seen {
					t.Errorf("%d rows after %d: not whole commits", len(rows), seen)
					return
				}
				seen = len(rows)
			}
		}()
	}
	wg.Wait()
	close(stop)
	readers.Wait()
	want, got := wantRows(0, writers*rounds*each), read(t, s, allColumns, 2)
	slices.Sort(want)
	slices.Sort(got)
	require.Equal(t, want, got)
}

// A reader keeps the version of its start through commits and a drop; the memory goes when it closes.
func TestReaderKeepsItsVersion(t *testing.T) {
	budget := connector.NewMemory(1 << 20)
	s := NewStore(tableT, ab, budget)
	insert(t, s, batchAB(0, 10))
	src, err := s.Source(allColumns)
	require.NoError(t, err)
	_, err = src.Splits(ctx, 1)
	require.NoError(t, err)

	insert(t, s, batchAB(10, 10))
	require.NoError(t, s.Drop())
	require.Equal(t, wantRows(0, 10), drain(t, src, 1))
	require.Positive(t, budget.Used())
	require.NoError(t, src.Close())
	require.NoError(t, src.Close())
	require.Zero(t, budget.Used())

	late, err := s.Source(allColumns)
	require.NoError(t, err)
	_, err = late.Splits(ctx, 1)
	require.EqualError(t, err, "table c.d.t was dropped")
	tx, err := s.Transaction(connector.Insert{Columns: []int{0, 1}})
	require.NoError(t, err)
	require.EqualError(t, tx.Begin(ctx, connector.JobID{1}), "table c.d.t was dropped")
}

func TestDropWhileWritten(t *testing.T) {
	s := NewStore(tableT, ab, nil)
	tx := begin(t, s)
	require.EqualError(t, s.Drop(), "table c.d.t is held by job 01000000000000000000000000000000, which writes it; stop the job or wait for its end")
	require.NoError(t, tx.Abort(ctx))
	require.NoError(t, s.Drop())
	require.NoError(t, s.Drop())
}

// What is reserved is what the rows take, and over the budget the write fails and gives all back.
func TestBudget(t *testing.T) {
	budget := connector.NewMemory(300_000)
	s := NewStore(tableT, ab, budget)
	insert(t, s, batchAB(0, 5000))
	size := int64(0)
	for _, b := range s.current.batches {
		size += b.Size()
	}
	require.Equal(t, size, budget.Used())

	tx := begin(t, s)
	w, err := tx.Writer(ctx, 0)
	require.NoError(t, err)
	err = w.Write(ctx, feed(batchAB(0, 65536)))
	var over *connector.MemoryError
	require.ErrorAs(t, err, &over)
	require.ErrorContains(t, err, "keep the rows of table c.d.t: out of the memory budget")
	require.NoError(t, tx.Abort(ctx))
	require.Equal(t, size, budget.Used())
	require.NoError(t, s.Drop())
	require.Zero(t, budget.Used())
}

// A thousand inserts of one row make few batches, and each reader still sees its own version.
func TestManySmallInserts(t *testing.T) {
	s := NewStore(tableT, ab, nil)
	versions := []*version{}
	for i := range 1000 {
		insert(t, s, batchAB(i, 1))
		versions = append(versions, s.current)
	}
	require.Less(t, len(s.current.batches), 12)
	require.Equal(t, wantRows(0, 1000), read(t, s, allColumns, 1))
	for i, v := range versions {
		n := 0
		for _, b := range v.batches {
			n += b.N
		}
		require.Equal(t, i+1, n)
	}
}

// A staged table is made by its publish alone, which may be refused and asked again.
func TestStaging(t *testing.T) {
	budget := connector.NewMemory(1 << 20)
	var published []*Store
	refuse := errors.New("taken")
	tx := NewStaging(tableT, ab, budget, func(s *Store) (connector.Outcome, error) {
		if refuse != nil {
			return connector.NotDone, refuse
		}
		published = append(published, s)
		return connector.Done, nil
	})
	require.NoError(t, tx.Begin(ctx, connector.JobID{1}))
	write(t, tx, 0, batchAB(0, 10))
	_, err := tx.Seal(ctx)
	require.NoError(t, err)
	out, err := tx.Commit(ctx)
	require.Equal(t, connector.NotDone, out)
	require.Equal(t, refuse, err)
	refuse = nil
	for range 2 {
		out, err = tx.Commit(ctx)
		require.Equal(t, connector.Done, out)
		require.NoError(t, err)
	}
	require.Len(t, published, 1)
	require.Equal(t, wantRows(0, 10), read(t, published[0], allColumns, 1))
	require.NoError(t, published[0].Drop())
	require.Zero(t, budget.Used())
}

// The position after a read names the batch to go on with.
func TestPosition(t *testing.T) {
	s := NewStore(tableT, ab, nil)
	insert(t, s, batchAB(0, 3*column.DefaultRows))
	src, err := s.Source(allColumns)
	require.NoError(t, err)
	splits, err := src.Splits(ctx, 1)
	require.NoError(t, err)
	r, err := src.Reader(ctx, splits)
	require.NoError(t, err)
	var at []byte
	for range 4 {
		at = append(at, r.Position()...)
		var b column.Batch
		_, err = r.Read(ctx, &b)
		require.NoError(t, err)
	}
	require.Equal(t, []byte{0, 1, 2, 3}, at)
	_, err = src.Reader(ctx, []connector.Split{{ID: 9, State: []byte{0, 99}}})
	require.EqualError(t, err, "read table c.d.t: split 9 is not one of this table")
}

// A table that was replaced by one with other columns since planning is not read by position.
func TestOtherColumns(t *testing.T) {
	f := Factory{Find: func(connector.ObjectIdentifier) (*Store, error) { return NewStore(tableT, ab, nil), nil }}
	_, err := f.Table(ctx, connector.TableDef{Identifier: tableT, Schema: ab}, nil)
	require.NoError(t, err)
	_, err = f.Table(ctx, connector.TableDef{Identifier: tableT, Schema: types.Schema{Columns: ab.Columns[:1]}}, nil)
	require.EqualError(t, err, "table c.d.t has other columns than when the statement was planned; run it again")
}
