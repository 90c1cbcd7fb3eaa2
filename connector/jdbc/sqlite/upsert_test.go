package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// Random changes by a key of two columns, transaction by transaction, are those of a map.
func TestUpsertIsAMap(t *testing.T) {
	for _, ddl := range []string{
		`CREATE TABLE t (k BIGINT, "n ""k" TEXT, v TEXT, PRIMARY KEY (k, "n ""k"))`,
		`CREATE TABLE t ("n ""k" TEXT NOT NULL, v TEXT, k BIGINT NOT NULL, PRIMARY KEY ("n ""k", k)) WITHOUT ROWID`,
	} {
		path := file(t, ddl)
		store := NewStore(path, map[string]string{"sink.staging": "true"}, newEnv())
		schema := types.Schema{Columns: []types.Column{
			{Name: "k", Type: types.Of(types.BigInt).AsNotNull()}, {Name: `n "k`, Type: types.String().AsNotNull()}, {Name: "v", Type: types.String()}}}
		table, err := store.OpenTable(context.Background(), "t", schema)
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(8, 8))
		want := map[string]string{}
		for range 60 {
			tx, err := table.Upsert(context.Background(), connector.Upsert{Columns: []int{0, 1, 2}, Key: []int{1, 0}})
			require.NoError(t, err)
			var list []*column.Batch
			seen := map[string]bool{}
			stored := int64(0)
			for range r.IntN(4) {
				b := column.NewBatch(schema.Types(), 0)
				for range r.IntN(30) {
					k, name := int64(r.IntN(6)), fmt.Sprintf("k%d'", r.IntN(6))
					key := fmt.Sprint(k, name)
					if seen[key] {
						continue
					}
					seen[key] = true
					kind := []types.RowKind{types.Insert, types.UpdateAfter, types.Delete}[r.IntN(3)]
					b.Cols[0].AppendI64(k)
					b.Cols[1].AppendString(name)
					if v := fmt.Sprint("v", r.IntN(1000)); kind == types.Delete {
						b.Cols[2].AppendNull()
						delete(want, key)
					} else {
						b.Cols[2].AppendString(v)
						want[key] = v
						stored++
					}
					b.Kind = append(b.Kind, kind)
					b.N++
				}
				list = append(list, b)
			}
			n, out, err := write(tx.(*Transaction), batches(list...))
			require.NoError(t, err)
			require.Equal(t, connector.Done, out)
			require.Equal(t, stored, n)
			rows, _, err := readStore(store, "t")
			require.NoError(t, err)
			got := []string{}
			at := map[string]int{"k": 0, "n": 1, "v": 2}
			if ddl[16] == '"' {
				at = map[string]int{"n": 0, "v": 1, "k": 2}
			}
			for _, row := range rows {
				got = append(got, row[at["k"]]+" "+row[at["n"]]+"="+row[at["v"]])
			}
			model := []string{}
			for k, v := range want {
				var id int
				var name string
				_, err := fmt.Sscanf(k, "%d%s", &id, &name)
				require.NoError(t, err)
				model = append(model, fmt.Sprintf("%d %s=%s", id, name, v))
			}
			sort.Strings(got)
			sort.Strings(model)
			require.Equal(t, model, got)
		}
	}
}

// A failing upsert leaves the file as it was; a key that is not the table's is refused.
func TestUpsertRefusals(t *testing.T) {
	path := file(t, "CREATE TABLE t (k BIGINT PRIMARY KEY, v TEXT NOT NULL)", "INSERT INTO t VALUES (1, 'one'), (2, 'two')")
	store := NewStore(path, nil, newEnv())
	schema := types.Schema{Columns: []types.Column{{Name: "k", Type: types.Of(types.BigInt)}, {Name: "v", Type: types.String()}}}
	table, err := store.OpenTable(context.Background(), "t", schema)
	require.NoError(t, err)
	_, err = table.Upsert(context.Background(), connector.Upsert{Columns: []int{0, 1}, Key: []int{1}})
	require.EqualError(t, err, "table t has the PRIMARY KEY (k), and the rows have the key (v)")

	tx, err := table.Upsert(context.Background(), connector.Upsert{Columns: []int{0, 1}, Key: []int{0}})
	require.NoError(t, err)
	b := column.NewBatch(schema.Types(), 0)
	for k := range int64(3) {
		b.Cols[0].AppendI64(k)
		if k == 2 {
			b.Cols[1].AppendNull()
		} else {
			b.Cols[1].AppendString("new")
		}
		b.N++
	}
	_, out, err := write(tx.(*Transaction), batches(b))
	require.ErrorContains(t, err, "row 3")
	require.Equal(t, connector.NotDone, out)
	require.Equal(t, "one,two", one(t, path, "SELECT group_concat(v) FROM (SELECT v FROM t ORDER BY k)"))

	// The job reads the same file in rollback-journal mode: the rows could not be read and replaced at once.
	tx, err = table.Upsert(context.Background(), connector.Upsert{Columns: []int{0, 1}, Key: []int{0}, ReadsSame: true})
	require.NoError(t, err)
	require.ErrorIs(t, tx.Begin(context.Background(), connector.NewJobID()), errStagedUpsert)
	require.NoError(t, tx.Abort(context.Background()))
}

// A value that must be unique may move from a row that goes to one that comes; a trigger that keeps a row
// is found out.
func TestUpsertAroundConstraints(t *testing.T) {
	schema := types.Schema{Columns: []types.Column{{Name: "k", Type: types.String()}, {Name: "u", Type: types.Of(types.BigInt)}}}
	changes := func(rows ...[3]any) *column.Batch {
		b := column.NewBatch(schema.Types(), 0)
		for _, r := range rows {
			b.Kind = append(b.Kind, r[0].(types.RowKind))
			b.Cols[0].AppendString(r[1].(string))
			b.Cols[1].AppendI64(int64(r[2].(int)))
			b.N++
		}
		return b
	}
	run := func(path string, b ...*column.Batch) error {
		table, err := NewStore(path, nil, newEnv()).OpenTable(context.Background(), "t", schema)
		require.NoError(t, err)
		tx, err := table.Upsert(context.Background(), connector.Upsert{Columns: []int{0, 1}, Key: []int{0}})
		require.NoError(t, err)
		require.NoError(t, tx.(connector.EpochChecker).CheckEpochs(context.Background()))
		_, _, err = write(tx.(*Transaction), batches(b...))
		return err
	}
	path := file(t, "CREATE TABLE t (k TEXT PRIMARY KEY, u INT UNIQUE)", "INSERT INTO t VALUES ('a', 1), ('b', 2)")
	require.NoError(t, run(path, changes([3]any{types.Delete, "a", 0}, [3]any{types.Insert, "c", 1})))
	require.Equal(t, "b2,c1", one(t, path, "SELECT group_concat(k || u) FROM (SELECT * FROM t ORDER BY k)"))

	path = file(t, "CREATE TABLE t (k TEXT PRIMARY KEY, u INT)", "INSERT INTO t VALUES ('a', 1), ('b', 2)",
		"CREATE TRIGGER keep BEFORE DELETE ON t WHEN old.k = 'a' BEGIN SELECT RAISE(IGNORE); END")
	require.NoError(t, run(path, changes([3]any{types.Delete, "b", 0}, [3]any{types.Insert, "d", 4})))
	require.ErrorContains(t, run(path, changes([3]any{types.Insert, "e", 4}), changes([3]any{types.Delete, "a", 0}, [3]any{types.Delete, "x", 0})),
		"1 of 2 rows to delete were not deleted; table t has triggers: keep")
	require.Equal(t, "a1,d4", one(t, path, "SELECT group_concat(k || u) FROM (SELECT * FROM t ORDER BY k)"))
}
