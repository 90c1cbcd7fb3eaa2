package lower

import (
	"fmt"
	"time"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/hooks"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/planner/plan"
	"github.com/sluice-sql/sluice/types"
)

// Header is what a graph holds besides its operators.
type Header struct {
	Name        string
	Mode        job.Mode
	Texts       []job.Text
	Start       time.Time
	Zone        string
	Seed        uint64
	Parallelism int
	BatchRows   int
	// CheckpointInterval is for streaming jobs; 0 is the default.
	CheckpointInterval time.Duration
}

// Target is what a job writes.
type Target struct {
	Kind     hooks.Kind
	ID       connector.ObjectIdentifier
	Table    *catalog.CatalogTable
	StoreKey string
	Purpose  catalog.Purpose // of CREATE TABLE AS
	Columns  []int           // positions written, in the order of the rows
	NotNull  []int           // columns of the rows whose NULL is an error
	// Names are the columns written, for errors.
	Names []string
	// Key names the first columns of the rows where they tell which row of the table is changed, as [job.Sink] does.
	Key []string
	// Set are the columns that an UPDATE gives new values; nil: the rows are deleted.
	Set []int
	// Overwrite says that the rows take the place of all that the table has.
	Overwrite bool
	// Upsert are the columns of the rows by which they replace each other, and Changelog says that the table
	// takes changes as they are; both of streaming jobs.
	Upsert    []int
	Changelog bool
}

// Query lowers a SELECT: its rows are collected.
func Query(root plan.Node, h Header, catalogs *catalog.CatalogManager) (*job.Graph, error) {
	l := newLowering(root, h, true, catalogs)
	v, err := l.node(root)
	if err != nil {
		return nil, err
	}
	l.add(&job.Collect{Changelog: h.Mode == job.Streaming}, root.Schema().Columns, 1, input{from: v, kind: job.Forward})
	return l.g, nil
}

// Write lowers a statement that writes: INSERT, CREATE TABLE AS, UPDATE, DELETE. In streaming mode the table of
// CREATE TABLE AS is made first, and then written as by an INSERT.
func Write(root plan.Node, t Target, h Header, catalogs *catalog.CatalogManager) (*job.Graph, error) {
	l := newLowering(root, h, len(t.Upsert) == 0, catalogs)
	v, err := l.node(root)
	if err != nil {
		return nil, err
	}
	i, err := l.catalog(t.ID)
	if err != nil {
		return nil, err
	}
	spec := hooks.Spec{Kind: t.Kind, Catalog: l.g.Catalogs[i], Table: t.ID, Properties: t.Table.Properties(), Purpose: t.Purpose, ReadsSame: readsStore(root, t.StoreKey)}
	if h.Mode == job.Streaming && t.Kind == hooks.CreateTableAs {
		spec.Kind, spec.Purpose = hooks.Insert, ""
		l.g.Create = &job.Create{Table: job.Table{Identifier: t.ID, Catalog: i, Properties: spec.Properties}}
	}
	if spec.Kind == hooks.Insert {
		spec.Columns, spec.Overwrite = t.Columns, t.Overwrite
	}
	spec.ReadsTarget = (spec.Overwrite || spec.Purpose.Replaces()) && readsTarget(root, t)
	spec.Set = t.Set
	l.g.Hooks = append(l.g.Hooks, spec)
	sink := &job.Sink{Hook: 0, Table: t.ID, NotNull: t.NotNull, Names: t.Names, Key: t.Key, Upsert: t.Upsert, Changelog: t.Changelog}
	l.add(sink, root.Schema().Columns, 1, input{from: v, kind: job.Forward})
	return l.g, nil
}

// readsStore reports whether a plan reads a table of a store.
func readsStore(root plan.Node, key string) bool {
	reads := false
	plan.Walk(root, func(n plan.Node) {
		if s, ok := n.(*plan.Scan); ok && key != "" && s.Table.StoreKey == key {
			reads = true
		}
	})
	return reads
}

// readsTarget reports whether a plan reads the table that it writes. Where a connector has the rows, another
// definition may stand for the same table.
func readsTarget(root plan.Node, t Target) bool {
	foreign := func(table *catalog.CatalogTable) bool { return table.Options["connector"] != "" }
	reads := false
	plan.Walk(root, func(n plan.Node) {
		s, ok := n.(*plan.Scan)
		if !ok {
			return
		}
		reads = reads || s.Table.ID == t.ID ||
			t.StoreKey != "" && s.Table.StoreKey == t.StoreKey && (foreign(t.Table) || foreign(s.Table.Def))
	})
	return reads
}

type lowering struct {
	g        *job.Graph
	catalogs *catalog.CatalogManager
	index    map[string]int // catalogs of the graph by name
	// changes are those of the nodes of a streaming job; nil in batch mode.
	changes map[plan.Node]plan.Changes
}

// newLowering begins a graph. before says that whoever gets the rows of a streaming job needs the row that an
// update replaces.
func newLowering(root plan.Node, h Header, before bool, catalogs *catalog.CatalogManager) *lowering {
	l := &lowering{catalogs: catalogs, index: map[string]int{}, g: &job.Graph{
		Version: job.Version, ID: connector.NewJobID(), Name: h.Name, Mode: h.Mode, Texts: h.Texts,
		Start: h.Start, Zone: h.Zone, Seed: h.Seed, Parallelism: h.Parallelism, BatchRows: h.BatchRows,
		Catalogs: []catalog.Ref{}, Edges: []job.Edge{},
	}}
	if h.Mode == job.Streaming {
		l.g.Parallelism, l.g.CheckpointInterval = 1, h.CheckpointInterval
		l.changes = plan.Changelog(root, before)
	}
	return l
}

// catalog returns the position of an object's catalog in the graph.
func (l *lowering) catalog(id connector.ObjectIdentifier) (int, error) {
	ref, err := l.catalogs.RefOf(id)
	if err != nil {
		return 0, err
	}
	if i, ok := l.index[ref.Name]; ok {
		return i, nil
	}
	l.index[ref.Name] = len(l.g.Catalogs)
	l.g.Catalogs = append(l.g.Catalogs, ref)
	return l.index[ref.Name], nil
}

// input is an edge into a vertex about to be added; inputs are numbered in order.
type input struct {
	from int
	kind job.EdgeKind
	keys []int
}

// add adds a vertex with its inputs and returns its ID.
func (l *lowering) add(spec job.Spec, out []types.Column, parallelism int, inputs ...input) int {
	id := len(l.g.Vertices)
	cols := make([]types.Column, len(out))
	for i, c := range out {
		cols[i] = types.Column{Name: c.Name, Type: c.Type}
	}
	l.g.Vertices = append(l.g.Vertices, job.Vertex{ID: id, Spec: spec, Out: cols, Parallelism: parallelism})
	for i, in := range inputs {
		l.g.Edges = append(l.g.Edges, job.Edge{From: in.from, To: id, Input: i, Kind: in.kind, Keys: in.keys})
	}
	return id
}

func (l *lowering) parallelism(v int) int { return l.g.Vertices[v].Parallelism }

// node lowers a plan and returns the vertex that gives its rows.
func (l *lowering) node(n plan.Node) (int, error) {
	out := n.Schema().Columns
	switch n := n.(type) {
	case *plan.Scan:
		return l.scan(n)
	case *plan.Values:
		return l.values(n), nil
	case *plan.Join:
		return l.join(n)
	case *plan.Aggregate:
		return l.aggregate(n)
	case *plan.Union:
		inputs := make([]input, len(n.Inputs))
		for i, in := range n.Inputs {
			v, err := l.node(in)
			if err != nil {
				return 0, err
			}
			inputs[i] = input{from: v, kind: job.Forward}
		}
		return l.add(&job.Union{}, out, 1, inputs...), nil
	}
	in, err := l.node(n.Children()[0])
	if err != nil {
		return 0, err
	}
	p := l.parallelism(in)
	var spec job.Spec
	switch n := n.(type) {
	case *plan.Filter:
		spec = &job.Filter{Predicate: job.Expr{Expr: n.Condition}}
	case *plan.Project:
		spec = &job.Project{Exprs: job.Exprs(n.Exprs)}
	case *plan.Unnest:
		spec = &job.Unnest{Arg: job.Expr{Expr: n.Arg}, Columns: n.Columns, Outer: n.Outer, Ordinality: n.Ordinality}
	case *plan.Limit:
		spec, p = &job.Limit{Count: n.Count, Offset: n.Offset}, 1
	case *plan.SingleRow:
		spec, p = &job.SingleRow{At: n.At}, 1
	case *plan.Sort:
		keys := make([]job.SortKey, len(n.Keys))
		for i, k := range n.Keys {
			keys[i] = job.SortKey{Expr: job.Expr{Expr: k.Expr}, Desc: k.Desc, NullsLast: k.NullsLast}
		}
		spec, p = &job.Sort{Keys: keys, Count: n.Count, Offset: n.Offset}, 1
	default:
		panic(fmt.Sprintf("lower: no operator for %T", n))
	}
	return l.add(spec, out, p, input{from: in, kind: job.Forward}), nil
}

func (l *lowering) scan(n *plan.Scan) (int, error) {
	c, err := l.catalog(n.Table.ID)
	if err != nil {
		return 0, err
	}
	spec := &job.Scan{
		Table:   job.Table{Identifier: n.Table.ID, Catalog: c, Properties: n.Table.Def.Properties()},
		Columns: append([]int{}, n.Columns...), Filters: job.Exprs(n.Filters), Limit: n.Limit, Names: n.Schema().Names(),
	}
	return l.add(spec, n.Schema().Columns, l.g.Parallelism), nil
}

func (l *lowering) values(n *plan.Values) int {
	spec := &job.Values{Batches: make([][]byte, len(n.Batches)), Rows: n.Rows()}
	for i, b := range n.Batches {
		spec.Batches[i] = column.EncodeBatch(nil, b)
	}
	return l.add(spec, n.Schema().Columns, 1)
}

// join lowers a join. The right side is read first, into a table that all probing subtasks share. Rows of
// the build side without a match are known only when all probes have ended, so that a full join probes in
// one subtask, and a right join is a left join with its sides exchanged.
func (l *lowering) join(n *plan.Join) (int, error) {
	if n.Kind == job.Right {
		return l.node(plan.Swap(n))
	}
	left, err := l.node(n.Left)
	if err != nil {
		return 0, err
	}
	right, err := l.node(n.Right)
	if err != nil {
		return 0, err
	}
	p := l.parallelism(left)
	if n.Kind == job.Full {
		p = 1
	}
	spec := &job.Join{Kind: n.Kind, LeftKeys: job.Exprs(n.LeftKeys), RightKeys: job.Exprs(n.RightKeys), Residual: job.Expr{Expr: n.Residual}}
	return l.add(spec, n.Schema().Columns, p, input{from: left, kind: job.Forward}, input{from: right, kind: job.Broadcast}), nil
}
