package expr

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// objectAgg makes a call of JSON_OBJECTAGG over columns 0 and 1, and the vectors of some rows of them; nil
// values are NULL.
func objectAgg(t *testing.T, clause string, rows ...[2]any) (*AggCall, []*column.Vector) {
	args := []Expr{&Column{Index: 0, T: types.String()}, &Column{Index: 1, T: types.String()}}
	if clause != "" {
		args = append(args, NewLiteral(types.WithPrecision(types.Char, len(clause)), clause, Span{}))
	}
	call, err := NewAggregate("JSON_OBJECTAGG", args, false, nil, Span{})
	require.NoError(t, err)
	vecs := []*column.Vector{column.New(types.String(), 0), column.New(types.String(), 0), column.New(types.String(), 0)}
	for _, r := range rows {
		for k, v := range []any{r[0], r[1], clause} {
			if v == nil {
				vecs[k].AppendNull()
			} else {
				vecs[k].AppendString(v.(string))
			}
		}
	}
	return call, vecs[:len(args)]
}

func objectOf(t *testing.T, acc Accumulator) string {
	out := column.New(types.String().AsNotNull(), 1)
	require.NoError(t, acc.Result(out, 0, 1))
	return string(out.Value(0))
}

// TestJSONObjectAgg: members by name, in one go, in parts and taken back.
func TestJSONObjectAgg(t *testing.T) {
	a, ok := LookupAggregate("JSON_OBJECTAGG")
	require.True(t, ok)
	require.Equal(t, "JSON_OBJECTAGG(KEY 'k' VALUE x) FILTER (WHERE x = 1)", a.Example)
	call, vecs := objectAgg(t, "", [2]any{"k", "1"})
	acc := call.NewAccumulator(false)
	acc.Grow(1)
	require.NoError(t, acc.Update(nil, vecs, nil, 1))
	require.Equal(t, a.Result, objectOf(t, acc))

	rows := [][2]any{{"b", "1"}, {"a\"", `"x"`}, {"c", nil}}
	for _, x := range []struct{ clause, want string }{
		{"", `{"a\"":"x","b":1,"c":null}`},
		{JSONAbsentOnNull, `{"a\"":"x","b":1}`},
	} {
		call, vecs := objectAgg(t, x.clause, rows...)
		acc := call.NewAccumulator(true)
		acc.Grow(1)
		require.Equal(t, "{}", objectOf(t, acc))
		require.NoError(t, acc.Update(nil, vecs, nil, len(rows)))
		require.Equal(t, x.want, objectOf(t, acc))
		require.Positive(t, acc.Size())

		merged := call.NewAccumulator(true)
		merged.Grow(1)
		for i := range rows {
			part := call.NewAccumulator(true)
			part.Grow(1)
			require.NoError(t, part.Update(nil, vecs, []uint16{uint16(i)}, 0))
			state := []*column.Vector{column.New(part.StateTypes()[0], 1)}
			require.NoError(t, part.State(state, 0, 1))
			require.NoError(t, merged.Merge(nil, state, 1))
		}
		require.Equal(t, x.want, objectOf(t, merged))

		// A key's next value comes before the last one goes.
		_, next := objectAgg(t, x.clause, [2]any{"b", "2"}, [2]any{"b", "1"}, [2]any{"b", "1"})
		require.NoError(t, acc.Update(nil, next, nil, 3))
		require.EqualError(t, acc.Result(column.New(call.T, 0), 0, 1), twice("b"))
		require.NoError(t, acc.Retract(nil, next, []uint16{1, 2}, 0))
		require.EqualError(t, acc.Result(column.New(call.T, 0), 0, 1), twice("b"))
		require.NoError(t, acc.Retract(nil, next, []uint16{1}, 0))
		require.Equal(t, strings.Replace(x.want, `"b":1`, `"b":2`, 1), objectOf(t, acc))
		require.NoError(t, acc.Retract(nil, next, []uint16{0}, 0))
		require.NoError(t, acc.Retract(nil, vecs, []uint16{1, 2}, 0))
		require.Equal(t, "{}", objectOf(t, acc))
		empty := call.NewAccumulator(true)
		empty.Grow(1)
		require.Equal(t, empty.Size(), acc.Size())
		require.ErrorContains(t, acc.Retract(nil, vecs, []uint16{0}, 0), "was not there")
	}
}

func twice(key string) string {
	return "Key '" + key + "' is already present. Duplicate keys are not allowed in JSON_OBJECTAGG (make keys unique, or group by them)"
}

func TestJSONObjectAggErrors(t *testing.T) {
	call, vecs := objectAgg(t, "", [2]any{"a", "1"}, [2]any{"a", "2"}, [2]any{nil, "3"})
	acc := call.NewAccumulator(false)
	acc.Grow(1)
	require.NoError(t, acc.Update(nil, vecs, nil, 2))
	require.EqualError(t, acc.Result(column.New(call.T, 0), 0, 1), twice("a"))
	require.EqualError(t, acc.Update(nil, vecs, []uint16{2}, 0), "a key of JSON_OBJECTAGG is NULL, and JSON has no such key (leave such rows out: FILTER (WHERE key IS NOT NULL))")

	damaged := []*column.Vector{column.New(types.Bytes(), 1)}
	damaged[0].AppendBytes([]byte{9, 'a'})
	require.EqualError(t, acc.Merge(nil, damaged, 1), "the saved state of JSON_OBJECTAGG is damaged")
}
