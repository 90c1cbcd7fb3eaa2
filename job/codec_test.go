package job

import (
	"bytes"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/hooks"
	"github.com/sluice-sql/sluice/types"
)

// must panics on an error: the samples are ours.
func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// samples are graphs that have every operator and every kind of value.
func samples() []*Graph {
	integer, text := types.Of(types.Int), types.String()
	at := expr.Span{Source: 1, Start: 3, End: 8}
	a := &expr.Column{Index: 0, Name: "a`\"<&", T: integer, At: at}
	s := &expr.Column{Index: 1, Name: "s", T: text}
	sum := must(expr.NewAggregate("SUM", []expr.Expr{a}, true, must(expr.NewCall(">", []expr.Expr{a, expr.NewLiteral(integer, 3, at)}, at)), at))
	count := must(expr.NewAggregate("COUNT", nil, false, nil, at))
	literals := []Expr{
		{expr.NewLiteral(types.Of(types.Double), math.Inf(-1), at)}, {expr.NewLiteral(types.Of(types.Double), math.Copysign(0, -1), at)},
		{expr.NewLiteral(types.DecimalOf(38, 18), types.Int128{Lo: 1, Hi: -5}, at)}, {expr.NewLiteral(text, "ä\x00<&>\u2028", at)},
		{expr.NewLiteral(types.Bytes(), []byte{0, 255}, at)}, {expr.NewLiteral(types.WithPrecision(types.Timestamp, 9), int64(math.MinInt64), at)},
		{expr.NewLiteral(text, nil, at)}, {must(expr.NewCast(a, text, true, at))},
	}
	rows := column.NewBatch([]types.Type{integer, text}, 2)
	rows.Cols[0].AppendI64(1)
	rows.Cols[0].AppendNull()
	rows.Cols[1].AppendString("x")
	rows.Cols[1].AppendString("")
	rows.N = 2
	out := []types.Column{{Name: "a", Type: integer}, {Name: "ß", Type: text.AsNotNull()}}
	both := append(append([]types.Column{}, out...), out...)
	id := connector.ObjectIdentifier{Catalog: "c", Database: "d", Object: "we\"ird; drop table x; --"}
	ref := catalog.Ref{Name: "c", Properties: map[string]string{"type": "jdbc", "password": "ünsafe"}}
	vertices := []Vertex{
		{Spec: &Scan{Table: Table{Identifier: id, Properties: map[string]string{"schema.0.name": "a"}}, Columns: []int{0, 4}, Names: []string{"a", "s"},
			Filters: []Expr{{must(expr.NewCall("IS NOT NULL", []expr.Expr{a}, at))}}, Limit: -1}, Out: out, Parallelism: 4},
		{Spec: &Values{Batches: [][]byte{column.EncodeBatch(nil, rows)}, Rows: 2}, Out: out, Parallelism: 1},
		{Spec: &Union{}, Out: out, Parallelism: 1},
		{Spec: &Filter{Predicate: Expr{must(expr.NewCall("LIKE", []expr.Expr{s, expr.NewLiteral(text, "a%", at)}, at))}}, Out: out, Parallelism: 1},
		{Spec: &Project{Exprs: literals}, Out: []types.Column{}, Parallelism: 1},
		{Spec: &SingleRow{At: at}, Out: out, Parallelism: 1},
		{Spec: &Join{Kind: Left, LeftKeys: []Expr{{a}}, RightKeys: []Expr{{a}}}, Out: both, Parallelism: 2},
		{Spec: &Aggregate{Phase: Complete, Keys: []Expr{{s}}, Aggs: []Agg{{sum}, {count}}}, Out: out, Parallelism: 2},
		{Spec: &Sort{Keys: []SortKey{{Expr: Expr{a}, Desc: true}, {Expr: Expr{s}, NullsLast: true}}, Count: -1, Offset: 3}, Out: out, Parallelism: 1},
		{Spec: &Limit{Count: 10, Offset: 1}, Out: out, Parallelism: 1},
		{Spec: &Sink{Table: id, NotNull: []int{1}, Names: []string{"a", "ß"}}, Out: out, Parallelism: 1},
		{Spec: &Collect{}, Out: out, Parallelism: 1},
	}
	var edges []Edge
	for i := range vertices { // each but the scan reads the scan, which no graph to be run would do
		vertices[i].ID = i
		if i > 0 {
			edges = append(edges, Edge{From: 0, To: i, Kind: []EdgeKind{Forward, Broadcast, Hash}[i%3]})
		}
	}
	edges = append(edges, Edge{From: 1, To: 6, Input: 1, Kind: Broadcast})
	edges[1].Keys = []int{0, 1}
	big := &Graph{Version: Version, ID: connector.JobID{1, 2, 3}, Name: "insert-into_c.d.t", Mode: Batch,
		Texts: []Text{{Name: "<stdin>", SQL: "SELECT '</script>'", Line: 3, Column: 1}}, Start: time.Date(2024, 2, 29, 23, 59, 59, 999_999_999, time.UTC),
		Zone: "Europe/Berlin", Seed: math.MaxUint64, Parallelism: 4, BatchRows: 2048,
		Catalogs: []catalog.Ref{ref}, Vertices: vertices, Edges: edges,
		Hooks: []hooks.Spec{{Kind: hooks.CreateTableAs, Catalog: ref, Table: id, Properties: map[string]string{"schema.0.data-type": "INT"}, Purpose: catalog.CreateTableAsIfNotExists, ReadsSame: true}}}
	small := &Graph{Version: Version, Mode: Streaming, Parallelism: 1, BatchRows: 1, Texts: []Text{}, Start: time.Unix(0, 0).UTC(),
		Catalogs: []catalog.Ref{}, Vertices: []Vertex{}, Edges: []Edge{}}
	stream := &Graph{Version: Version, Mode: Streaming, Parallelism: 1, BatchRows: 2048, Texts: []Text{}, Start: time.Unix(0, 0).UTC(),
		CheckpointInterval: 1500 * time.Millisecond, Create: &Create{Table{Identifier: id, Properties: map[string]string{"connector": "print"}}},
		Catalogs: []catalog.Ref{ref}, Hooks: []hooks.Spec{{Kind: hooks.Insert, Catalog: ref, Table: id, Properties: map[string]string{}, Columns: []int{1, 0}}},
		Vertices: []Vertex{
			{Spec: &Values{Batches: [][]byte{column.EncodeBatch(nil, rows)}, Rows: 2}, Out: out, Parallelism: 1},
			{Spec: &Aggregate{Phase: Changelog, Keys: []Expr{{s}}, Aggs: []Agg{{count}}, Retracting: true, EmitBefore: true}, Out: out, Parallelism: 1},
			{Spec: &Sink{Table: id, Names: []string{"a", "ß"}, Upsert: []int{1}}, Out: out, Parallelism: 1},
			{Spec: &Sink{Table: id, Names: []string{"a", "ß"}, Changelog: true}, Out: out, Parallelism: 1},
			{Spec: &Collect{Changelog: true}, Out: out, Parallelism: 1},
		},
		Edges: []Edge{{From: 0, To: 1, Kind: Forward}, {From: 0, To: 2, Kind: Forward}, {From: 1, To: 3, Kind: Forward}, {From: 1, To: 4, Kind: Forward}}}
	for i := range stream.Vertices {
		stream.Vertices[i].ID = i
	}
	return []*Graph{big, small, stream}
}

// What is decoded is what was encoded, and encodes to the same bytes.
func TestCodec(t *testing.T) {
	for _, g := range samples() {
		b, err := Encode(g)
		require.NoError(t, err)
		got, err := Decode(b)
		require.NoError(t, err)
		again, err := Encode(got)
		require.NoError(t, err)
		require.Equal(t, string(b), string(again))
		require.Equal(t, describeGraph(g), describeGraph(got))
	}
}

func describeGraph(g *Graph) []string {
	var out []string
	for _, v := range g.Vertices {
		out = append(out, v.Spec.Describe())
	}
	return out
}

// Each of these is one change to a good graph that makes it a bad one.
func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct{ old, new, err string }{
		{`"version":1`, `"version":2`, "version 2, this program knows 1"},
		{`"mode":"batch"`, `"mode":"automatic"`, `unknown runtime mode "automatic"`},
		{`"batchRows":2048`, `"batchRows":0`, "must be positive"},
		{`"op":"union"`, `"op":"onion"`, `unknown operator "onion"`},
		{`"desc":true`, `"descending":true`, `unknown field "descending"`},
		{`"catalog":0`, `"catalog":7`, "refers to catalog 7 of 1"},
		{`"hook":0`, `"hook":-1`, "refers to hook -1 of 1"},
		{`"from":0,"to":1,`, `"from":1,"to":0,`, "edge from 1 to 0"},
		{`"kind":"broadcast"`, `"kind":"telepathic"`, `edge of unknown kind "telepathic"`},
		{`"keys":[0,1]`, `"keys":[0,2]`, "edge key 2 of 2 columns"},
		{`"parallelism":2}`, `"parallelism":0}`, "has parallelism 0"},
		{`"type":"INT"`, `"type":"INTERGALACTIC"`, "INTERGALACTIC"},
		{`{"predicate":`, `{"predicate":null,"x":`, "x"},
		{`"predicate":{"call":"LIKE","args":[{"column":1`, `"predicate":{"call":"LIKE","args":[{"column":9`, "vertex 3 (filter) refers to column 9 of 2"},
	} {
		b := must(Encode(samples()[0]))
		require.Contains(t, string(b), c.old)
		_, err := Decode(bytes.Replace(b, []byte(c.old), []byte(c.new), 1))
		require.ErrorContains(t, err, c.err, "%s → %s", c.old, c.new)
	}
	for _, c := range []struct{ old, new, err string }{
		{`"checkpointInterval":1500000000`, `"checkpointInterval":9999999`, "checkpoints every 9.999999ms; the least is 10ms"},
		{`"create":{"identifier"`, `"create":{"catalog":1,"x":0,"identifier"`, `unknown field "x"`},
		{`"catalog":0`, `"catalog":1`, "the table to create refers to catalog 1 of 1"},
		{`"kind":"insert"`, `"kind":"create-table-as"`, `hook 0 of a streaming job is "create-table-as"`},
		{`"phase":"changelog"`, `"phase":"final"`, `vertex 1 of a streaming job aggregates in phase "final"`},
		{`"upsert":[1]`, `"upsert":[2]`, "vertex 2 (sink) has key column 2 of 2"},
		{`"upsert":[1]`, `"upsert":[1],"changelog":true`, "vertex 2 (sink) both replaces rows and takes their changes"},
		{`"parallelism":1}`, `"parallelism":2}`, "vertex 0 of a streaming job has parallelism 2"},
		{`"mode":"streaming"`, `"mode":"batch"`, "a batch job has no checkpoints"},
	} {
		b := must(Encode(samples()[2]))
		require.Contains(t, string(b), c.old)
		_, err := Decode(bytes.Replace(b, []byte(c.old), []byte(c.new), 1))
		require.ErrorContains(t, err, c.err, "%s → %s", c.old, c.new)
	}
	for _, spec := range []Spec{&Aggregate{Phase: Changelog}, &Aggregate{Phase: Final, Retracting: true}, &Sink{Changelog: true}, &Sink{Upsert: []int{0}}, &Collect{Changelog: true}} {
		g := samples()[0]
		g.Vertices[2].Spec = spec
		_, err := Decode(must(Encode(g)))
		require.ErrorContains(t, err, "has changes, in a batch job")
	}
	for _, spec := range []Spec{&Sort{}, &Join{}, &SingleRow{}} {
		g := samples()[2]
		g.Vertices[1].Spec = spec
		_, err := Decode(must(Encode(g)))
		require.ErrorContains(t, err, "cannot run in a streaming job")
	}
	g := samples()[0]
	g.Vertices[3].Spec = &Filter{}
	_, err := Decode(must(Encode(g)))
	require.ErrorContains(t, err, "vertex 3 (filter) lacks an expression")
	_, err = Decode(nil)
	require.Error(t, err)
}

// FuzzGraph: nothing makes Decode panic, and whatever it accepts encodes to bytes that decode to the same
// graph and can be described.
func FuzzGraph(f *testing.F) {
	for _, g := range samples() {
		f.Add(must(Encode(g)))
		for _, v := range g.Vertices { // small ones, where a change hits
			one := *g
			one.Vertices, one.Edges, one.Texts = []Vertex{g.Vertices[0], g.Vertices[0], v}, []Edge{{From: 0, To: 2, Kind: Forward}, {From: 1, To: 2, Input: 1, Kind: Forward}}, []Text{}
			f.Add(must(Encode(&one)))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := Decode(data)
		if err != nil {
			return
		}
		first, err := Encode(g)
		require.NoError(t, err)
		again, err := Decode(first)
		require.NoError(t, err)
		second, err := Encode(again)
		require.NoError(t, err)
		require.Equal(t, string(first), string(second))
		require.Equal(t, describeGraph(g), describeGraph(again))
	})
}
