package memory

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// Random changes by key are those of a map; a reader of before keeps its rows, and the memory is what the
// rows of now take.
func TestUpsertIsAMap(t *testing.T) {
	schema := ab
	schema.PrimaryKey = []string{"a"}
	budget := connector.NewMemory(64 << 20)
	s := NewStore(tableT, schema, budget)
	r := rand.New(rand.NewPCG(9, 9))
	want := map[int64]string{}
	for n := range 200 {
		tx, err := s.Upsert(connector.Upsert{Columns: []int{0, 1}, Key: []int{0}})
		require.NoError(t, err)
		require.NoError(t, tx.Begin(ctx, connector.JobID{1}))
		before := read(t, s, connector.Scan{Columns: []int{0, 1}, Limit: -1}, 1)
		src, err := s.Source(connector.Scan{Columns: []int{0, 1}, Limit: -1})
		require.NoError(t, err)
		b := column.NewBatch(schema.Types(), 0)
		seen := map[int64]bool{}
		stored := int64(0)
		for range r.IntN(2000) {
			k := int64(r.IntN(5000))
			if seen[k] {
				continue
			}
			seen[k] = true
			kind := []types.RowKind{types.Insert, types.UpdateAfter, types.Delete}[r.IntN(3)]
			b.Cols[0].AppendI64(k)
			b.Cols[1].AppendString(fmt.Sprint("v", n))
			b.Kind = append(b.Kind, kind)
			b.N++
			if kind == types.Delete {
				delete(want, k)
			} else {
				want[k] = fmt.Sprint("v", n)
				stored++
			}
		}
		splits, err := src.Splits(ctx, 1) // the snapshot is taken
		require.NoError(t, err)
		write(t, tx, 0, b)
		commit(t, tx, stored)
		var old []string
		for _, sp := range splits {
			reader, err := src.Reader(ctx, []connector.Split{sp})
			require.NoError(t, err)
			for status := connector.More; status != connector.End; {
				var b column.Batch
				status, err = reader.Read(ctx, &b)
				require.NoError(t, err)
				old = append(old, make([]string, b.N)...)
			}
			require.NoError(t, reader.Close())
		}
		require.NoError(t, src.Close())
		require.Len(t, old, len(before))
	}
	var model []string
	for k, v := range want {
		model = append(model, fmt.Sprintf("%d|%s", k, v))
	}
	got := read(t, s, connector.Scan{Columns: []int{0, 1}, Limit: -1}, 1)
	require.Len(t, got, len(model))
	sort.Strings(model)
	sort.Strings(got)
	require.Equal(t, int64(len(model)), s.Rows())
	for i := range got {
		require.Equal(t, fmt.Sprint(model[i]), got[i])
	}
	require.NoError(t, s.Drop())
	require.Zero(t, budget.Used())

	_, err := NewStore(tableT, schema, nil).Upsert(connector.Upsert{Columns: []int{0, 1}, Key: []int{1}})
	require.EqualError(t, err, "table c.d.t has the PRIMARY KEY (a), and the rows have the key (b)")
}

// A streaming job holds the table between its transactions, until it closes it.
func TestStreamingJobHoldsTheTable(t *testing.T) {
	s := NewStore(tableT, ab, nil)
	f := Factory{Find: func(connector.ObjectIdentifier) (*Store, error) { return s, nil }}
	opened, err := f.Table(ctx, connector.TableDef{Identifier: tableT, Schema: ab}, nil)
	require.NoError(t, err)
	tx, err := opened.(connector.Writable).Transaction(ctx, connector.Insert{Columns: []int{0, 1}})
	require.NoError(t, err)
	job := connector.JobID{7}
	require.NoError(t, tx.(connector.EpochChecker).CheckEpochs(connector.WithJob(ctx, connector.JobSettings{ID: job})))
	require.Equal(t, &HeldError{tableT, job}, s.Drop())
	require.NoError(t, tx.Begin(ctx, job))
	require.NoError(t, tx.Abort(ctx))
	require.Equal(t, &HeldError{tableT, job}, s.Drop())
	// What would change between two of its commits all rows, or those that another job has read, has to wait.
	overwrite, err := s.Transaction(connector.Insert{Columns: []int{0, 1}, Overwrite: true})
	require.NoError(t, err)
	require.Equal(t, &HeldError{tableT, job}, overwrite.Begin(ctx, connector.JobID{8}))
	change, err := s.Modify(connector.Modify{})
	require.NoError(t, err)
	require.Equal(t, &HeldError{tableT, job}, change.Begin(ctx, connector.JobID{8}))
	require.Equal(t, &HeldError{tableT, job}, opened.(connector.Truncater).Truncate(ctx))
	insert(t, s, batchAB(0, 1))
	require.NoError(t, opened.Close())
	require.NoError(t, opened.Close())
	require.NoError(t, change.Begin(ctx, connector.JobID{8}))
	require.NoError(t, change.Abort(ctx))
	require.NoError(t, s.Drop())
}
