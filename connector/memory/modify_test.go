package memory

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// changeRows writes the places of rows, counted from 1, and for each column given their new values; without
// values the rows are deleted.
func changeRows(t *testing.T, s *Store, places []int64, values map[int][]string) *modification {
	t.Helper()
	var set []int
	for c := range values {
		set = append(set, c)
	}
	slices.Sort(set)
	tx, err := s.Modify(connector.Modify{Set: set})
	require.NoError(t, err)
	m := tx.(*modification)
	require.NoError(t, m.Begin(ctx, connector.JobID{2}))
	w, err := m.Writer(ctx, 0)
	require.NoError(t, err)
	ts := []types.Type{types.Of(types.BigInt).AsNotNull()}
	for _, c := range set {
		ts = append(ts, ab.Columns[c].Type)
	}
	var batches []*column.Batch
	for len(places) > 0 {
		n := min(len(places), 700)
		b := column.NewBatch(ts, n)
		for i := range n {
			b.Cols[0].AppendI64(places[i])
			for k, c := range set {
				switch v := values[c][i]; {
				case v == "NULL":
					b.Cols[k+1].AppendNull()
				case c == 0:
					var x int64
					_, err := fmt.Sscan(v, &x)
					require.NoError(t, err)
					b.Cols[k+1].AppendI64(x)
				default:
					b.Cols[k+1].AppendString(v)
				}
			}
			b.N++
		}
		batches = append(batches, b)
		places = places[n:]
		for _, c := range set {
			values[c] = values[c][n:]
		}
	}
	require.NoError(t, w.Write(ctx, feed(batches...)))
	return m
}

// done seals and commits.
func done(t *testing.T, m *modification, want int64) {
	t.Helper()
	n, err := m.Seal(ctx)
	require.NoError(t, err)
	require.Equal(t, want, n)
	out, err := m.Commit(ctx)
	require.NoError(t, err)
	require.Equal(t, connector.Done, out)
}

// used is what the batches of a store take.
func used(s *Store) (n int64) {
	for _, b := range s.current.batches {
		n += b.Size()
	}
	return n
}

// Random changes, each of rows in any order, do what they do to a list; memory is reserved for what is there.
func TestModifyIsAList(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	for range 30 {
		budget := connector.NewMemory(1 << 30)
		s := NewStore(tableT, ab, budget)
		var list []string
		for range 8 {
			if len(list) < 50 || r.IntN(5) == 0 {
				n := 1 + r.IntN(5000)
				insert(t, s, batchAB(len(list)*3, n))
				list = append(list, wantRows(len(list)*3, n)...)
			}
			places := r.Perm(len(list))[:r.IntN(len(list)+1)]
			if r.IntN(3) == 0 { // neighbours
				from := r.IntN(len(list))
				places = places[:0]
				for i := from; i < min(from+r.IntN(4000), len(list)); i++ {
					places = append(places, i)
				}
			}
			var numbers []int64
			values := map[int][]string{}
			columns := r.IntN(4) // bit 0: a, bit 1: b; none: DELETE
			gone := map[int]bool{}
			for _, p := range places {
				numbers = append(numbers, int64(p)+1)
				a, b, _ := strings.Cut(list[p], "|")
				if columns&1 != 0 {
					a = fmt.Sprint(r.IntN(1000))
					values[0] = append(values[0], a)
				}
				if columns&2 != 0 {
					if b = "NULL"; r.IntN(4) > 0 {
						b = strings.Repeat("w", r.IntN(40))
					}
					values[1] = append(values[1], b)
				}
				list[p] = a + "|" + b
				gone[p] = true
			}
			if len(values) == 0 {
				var kept []string
				for i, row := range list {
					if !gone[i] {
						kept = append(kept, row)
					}
				}
				list = kept
			}
			done(t, changeRows(t, s, numbers, values), int64(len(places)))
			require.Equal(t, list, read(t, s, allColumns, 1+r.IntN(4)))
			require.Equal(t, int64(len(list)), s.Rows())
			require.Equal(t, s.current.bytes, budget.Used())
			require.InDelta(t, used(s), budget.Used(), 4096) // where inserts were put together
		}
		require.NoError(t, s.Drop())
		require.Zero(t, budget.Used())
	}
}

// Whatever rows of many go, those left are in batches that are worth a turn.
func TestDeleteLeavesFullBatches(t *testing.T) {
	s := NewStore(tableT, ab, nil)
	insert(t, s, batchAB(0, 50*column.DefaultRows))
	var places []int64
	for i := range int64(50 * column.DefaultRows) {
		if i%100 != 0 {
			places = append(places, i+1)
		}
	}
	done(t, changeRows(t, s, places, nil), int64(len(places)))
	require.LessOrEqual(t, len(s.current.batches), 2)
	require.Len(t, read(t, s, allColumns, 1), 50*column.DefaultRows-len(places))
}

// Values that are too large for one batch make several.
func TestModifyOfLargeValues(t *testing.T) {
	budget := connector.NewMemory(1 << 30)
	s := NewStore(tableT, ab, budget)
	insert(t, s, batchAB(0, 2000))
	want := wantRows(0, 2000)
	var places []int64
	var values []string
	for i := range 10 {
		places, values = append(places, int64(i)*190+1), append(values, strings.Repeat(fmt.Sprint(i), 3<<20))
		want[i*190] = fmt.Sprintf("%d|%s", i*190, values[i])
	}
	done(t, changeRows(t, s, places, map[int][]string{1: values}), 10)
	require.Greater(t, len(s.current.batches), 3)
	for _, b := range s.current.batches {
		require.LessOrEqual(t, b.Size(), int64(maxBatchBytes+4<<20))
	}
	require.True(t, slices.Equal(want, read(t, s, allColumns, 2)))
	require.Equal(t, used(s), budget.Used())
	done(t, changeRows(t, s, places, map[int][]string{1: slices.Repeat([]string{"NULL"}, 10)}), 10)
	require.Less(t, budget.Used(), int64(1<<20))
	require.NoError(t, s.Drop())
	require.Zero(t, budget.Used())
}

// What is not committed changes nothing and keeps nothing; a table that is being changed is not dropped.
func TestModifyAborted(t *testing.T) {
	budget := connector.NewMemory(1 << 30)
	s := NewStore(tableT, ab, budget)
	insert(t, s, batchAB(0, 3000))
	was := budget.Used()
	for _, seal := range []bool{false, true} {
		for _, values := range []map[int][]string{nil, {1: {"x", "y"}}} {
			m := changeRows(t, s, []int64{5, 2500}, values)
			require.ErrorContains(t, s.Drop(), "is held by job 02")
			if seal {
				_, err := m.Seal(ctx)
				require.NoError(t, err)
			}
			require.Greater(t, budget.Used(), was)
			require.NoError(t, m.Abort(ctx))
			require.NoError(t, m.Abort(ctx))
			require.Equal(t, was, budget.Used())
			_, err := m.Commit(ctx)
			require.Error(t, err)
		}
	}
	require.Equal(t, wantRows(0, 3000), read(t, s, allColumns, 1))

	canceled, cancel := context.WithCancel(ctx)
	m := changeRows(t, s, []int64{5}, nil)
	cancel()
	_, err := m.Seal(canceled)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, m.Abort(ctx))

	tight := connector.NewMemory(was + 10_000)
	s = NewStore(tableT, ab, tight)
	insert(t, s, batchAB(0, 3000))
	was = tight.Used()
	m = changeRows(t, s, []int64{5, 2500}, map[int][]string{1: {"x", "y"}})
	_, err = m.Seal(ctx)
	require.ErrorContains(t, err, "keep the changes of table c.d.t: out of the memory budget")
	require.NoError(t, m.Abort(ctx))
	require.Equal(t, was, tight.Used())
	require.NoError(t, s.Drop())
	require.Zero(t, tight.Used())
}

// A change of rows that are not what they were when it began is not made: it says so as soon as it knows.
func TestModifyOfWhatHasChanged(t *testing.T) {
	const changed = "table c.d.t was changed by another session while the job read it; nothing was written, run the statement again"
	for _, sealed := range []bool{false, true} {
		s := NewStore(tableT, ab, nil)
		insert(t, s, batchAB(0, 10))
		first, second := changeRows(t, s, []int64{1}, nil), changeRows(t, s, []int64{2}, nil)
		if sealed {
			_, err := second.Seal(ctx)
			require.NoError(t, err)
		}
		done(t, first, 1)
		var err error
		if sealed {
			var out connector.Outcome
			out, err = second.Commit(ctx)
			require.Equal(t, connector.NotDone, out)
		} else {
			_, err = second.Seal(ctx)
		}
		require.EqualError(t, err, changed)
		require.NoError(t, second.Abort(ctx))
		require.Equal(t, wantRows(1, 9), read(t, s, allColumns, 1))
		require.NoError(t, s.Drop())
	}

	// What is written after the change is added to it.
	s := NewStore(tableT, ab, nil)
	insert(t, s, batchAB(0, 10))
	late := begin(t, s)
	write(t, late, 0, batchAB(10, 1))
	done(t, changeRows(t, s, []int64{1}, nil), 1)
	commit(t, late, 1)
	require.Equal(t, wantRows(1, 10), read(t, s, allColumns, 1))
}

// Rows are told by their numbers, and each once.
func TestModifyOfWrongRows(t *testing.T) {
	s := NewStore(tableT, ab, nil)
	insert(t, s, batchAB(0, 10))
	for _, c := range []struct {
		places []int64
		err    string
	}{
		{[]int64{3, 1, 3}, "row 3 of table c.d.t is met twice, and can be changed once only"},
		{[]int64{0}, "change table c.d.t: it has no row 0"},
		{[]int64{11}, "change table c.d.t: it has no row 11"},
	} {
		m := changeRows(t, s, c.places, nil)
		_, err := m.Seal(ctx)
		require.EqualError(t, err, c.err)
		require.NoError(t, m.Abort(ctx))
	}
	_, err := s.Modify(connector.Modify{Set: []int{1, 1}})
	require.Error(t, err)
	_, err = s.Modify(connector.Modify{Set: []int{2}})
	require.Error(t, err)
	require.Equal(t, []string{"1|NULL", "2|v1"}, read(t, s, connector.Scan{Columns: []int{2, 1}, Limit: 2}, 1))
}
