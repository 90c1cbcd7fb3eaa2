package exec

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/hooks"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/types"
)

// world is a catalog type, a connector and a runtime for one test, with faults to order.
type world struct {
	t  testing.TB
	rt *Runtime

	mu     sync.Mutex
	tables map[string]*table
	events []string
	refuse error             // streaming jobs
	ids    []connector.JobID // of the transactions

	// What is to go wrong, by the name of the call; called when it comes to it.
	onBegin, onSeal func(ctx context.Context) error
	onCommit        func() (connector.Outcome, error)
	onAbort         func() error
	onWrite         func(row int64) error

	evidence string       // of the commits; "" when they need none
	oneSplit bool         // tables can serve but one reader
	discard  bool         // writers keep nothing
	open     atomic.Int64 // readers, tables, sources, catalogs and writers that are not closed
}

// table is a table of the world.
type table struct {
	schema  types.Schema
	batches []*column.Batch
	shared  bool // lends its own vectors
	endless bool // repeats its batches without end
	oneBy   int  // batches a split; 0: one
	fail    int  // the number of the batch whose read fails, from 1
	panics  bool // reading panics instead
	slow    time.Duration
	read    atomic.Int64     // batches
	feed    *feed            // of streaming tests: gives the rows instead
	merged  map[string][]any // by upserts: rows by key
	changes []types.RowKind
}

func newWorld(t testing.TB) *world {
	before := runtime.NumGoroutine()
	w := &world{t: t, tables: map[string]*table{}}
	reg := &catalog.Registry{Catalogs: []catalog.Factory{w}, Env: &connector.Env{
		Clock: time.Now, Memory: connector.NewMemory(1 << 30), Files: connector.NewFiles()}}
	_, measured := t.(*testing.B)
	w.rt = &Runtime{Registry: reg, poison: !measured}
	t.Cleanup(func() {
		require.NoError(t, w.rt.Close())
		require.Zero(t, w.open.Load(), "something was left open")
		require.Zero(t, reg.Env.Memory.Used(), "memory was not given back")
		deadline := time.Now().Add(patience)
		for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
			time.Sleep(time.Millisecond)
		}
		if n := runtime.NumGoroutine(); n > before {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines before, %d after:\n%s", before, n, buf[:runtime.Stack(buf, true)])
		}
	})
	return w
}

func (w *world) event(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, fmt.Sprintf(format, args...))
}

func (w *world) eventText() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.events, " ")
}

// add makes a table of rows, cut into batches of size rows.
func (w *world) add(name string, cols []types.Column, rows [][]any, size int) *table {
	t := &table{schema: types.Schema{Columns: cols}}
	for at := 0; at < len(rows); at += size {
		t.batches = append(t.batches, batchOf(typesIn(cols), rows[at:min(at+size, len(rows))]))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tables[name] = t
	return t
}

func typesIn(cols []types.Column) []types.Type {
	ts := make([]types.Type, len(cols))
	for i, c := range cols {
		ts[i] = c.Type
	}
	return ts
}

func batchOf(ts []types.Type, rows [][]any) *column.Batch {
	b := column.NewBatch(ts, len(rows))
	for _, r := range rows {
		for c, x := range r {
			appendValue(b.Cols[c], x)
		}
		b.N++
	}
	return b
}

func appendValue(v *column.Vector, x any) {
	switch x := x.(type) {
	case nil:
		v.AppendNull()
	case bool:
		v.AppendBool(x)
	case int:
		v.AppendI64(int64(x))
	case float64:
		v.AppendF64(x)
	case string:
		v.AppendString(x)
	case types.Int128:
		v.AppendI128(x)
	default:
		panic(fmt.Sprintf("%T", x))
	}
}

func valueOf(v *column.Vector, i int) any {
	if v.IsNull(i) {
		return nil
	}
	switch column.PhysicalOf(v.Type) {
	case column.PhysBool:
		return v.Bool[i]
	case column.PhysBytes:
		return string(v.Value(i))
	case column.PhysF32:
		return float64(v.F32[i])
	case column.PhysF64:
		return v.F64[i]
	case column.PhysI128:
		return v.I128[i]
	case column.PhysList:
		var parts []any
		from, to := v.Elements(i)
		for e := from; e < to; e++ {
			x := valueOf(v.Children[0], e)
			if v.Type.Kind == types.Multiset {
				x = fmt.Sprintf("%v=%d", x, v.Children[1].I32[e])
			}
			parts = append(parts, x)
		}
		if v.Type.Kind == types.Multiset { // its elements have no order
			sort.Slice(parts, func(i, j int) bool { return parts[i].(string) < parts[j].(string) })
		}
		return parts
	}
	return int(v.Int64(i))
}

func rowsOf(b *column.Batch) [][]any {
	var rows [][]any
	for i := range b.Rows() {
		r := make([]any, len(b.Cols))
		for c, v := range b.Cols {
			r[c] = valueOf(v, b.Row(i))
		}
		rows = append(rows, r)
	}
	return rows
}

func text(rows [][]any) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		parts := make([]string, len(r))
		for c, x := range r {
			if parts[c] = fmt.Sprint(x); x == nil {
				parts[c] = "NULL"
			}
		}
		out[i] = strings.Join(parts, "|")
	}
	return out
}

func sorted(rows []string) []string { sort.Strings(rows); return rows }

// The world as catalog factory.

func (w *world) Type() string                { return "test" }
func (w *world) Options() []connector.Option { return nil }
func (w *world) Serialized() bool            { return true }

func (w *world) Resolve(p map[string]string) (map[string]string, error) { return p, nil }

func (w *world) Catalog(string, map[string]string, *catalog.Registry) (catalog.Catalog, error) {
	return &testCatalog{w: w}, nil
}

type testCatalog struct {
	catalog.Catalog // what is not needed here panics
	w               *world
	sweep           func(decide func(connector.JobID) catalog.Decision)
}

func (c *testCatalog) Open(context.Context) error { c.w.open.Add(1); return nil }
func (c *testCatalog) Close() error               { c.w.open.Add(-1); return nil }
func (c *testCatalog) Factory() connector.Factory { return &testConnector{c.w} }

func (c *testCatalog) Stage(_ context.Context, path catalog.ObjectPath, t *catalog.CatalogTable, _ catalog.Purpose, _ bool) (catalog.StagedTable, error) {
	tx := &transaction{w: c.w, name: path.Object, schema: t.Schema}
	if c.w.evidence != "" {
		return &evidentTransaction{transaction: tx}, nil
	}
	return tx, nil
}

func (c *testCatalog) CreateTable(_ context.Context, path catalog.ObjectPath, t *catalog.CatalogTable) (bool, string, error) {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	if c.w.tables[path.Object] != nil {
		return false, "", fmt.Errorf("%s: %w", path.Object, catalog.ErrTableAlreadyExist)
	}
	made := &table{schema: t.Schema}
	c.w.tables[path.Object] = made
	c.w.events = append(c.w.events, "create")
	return true, fmt.Sprintf("%p", made), nil
}

func (c *testCatalog) DropTable(_ context.Context, path catalog.ObjectPath, identity string) error {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	if identity != fmt.Sprintf("%p", c.w.tables[path.Object]) {
		return errors.New("it is another table")
	}
	delete(c.w.tables, path.Object)
	c.w.events = append(c.w.events, "drop")
	return nil
}

func (c *testCatalog) Sweep(_ context.Context, decide func(connector.JobID) catalog.Decision) (catalog.Report, error) {
	if c.sweep != nil {
		c.sweep(decide)
	}
	return catalog.Report{}, nil
}

type testConnector struct{ w *world }

func (c *testConnector) Identifier() string          { return "test" }
func (c *testConnector) Options() []connector.Option { return nil }

func (c *testConnector) Table(_ context.Context, def connector.TableDef, _ *connector.Env) (connector.Table, error) {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	t := c.w.tables[def.Identifier.Object]
	if t == nil {
		return nil, errors.New("it is gone")
	}
	c.w.open.Add(1)
	return &openTable{c.w, t, def.Identifier.Object}, nil
}

type openTable struct {
	w *world
	*table
	name string
}

func (t *openTable) Close() error { t.w.open.Add(-1); return nil }

func (t *openTable) Source(_ context.Context, scan connector.Scan) (connector.Source, error) {
	t.w.open.Add(1)
	if t.feed != nil {
		return t.feed.source(t.w), nil
	}
	return &source{t, scan}, nil
}

func (t *openTable) Transaction(_ context.Context, in connector.Insert) (connector.Transaction, error) {
	return &transaction{w: t.w, name: t.name, schema: t.schema, insert: true}, nil
}

type source struct {
	t    *openTable
	scan connector.Scan
}

func (s *source) Bounded() bool { return !s.t.endless }
func (s *source) Close() error  { s.t.w.open.Add(-1); return nil }

func (s *source) Splits(context.Context, int) ([]connector.Split, error) {
	var splits []connector.Split
	by := max(s.t.oneBy, 1)
	if s.t.w.oneSplit {
		by = max(len(s.t.batches), 1)
	}
	for at := 0; at < len(s.t.batches); at += by {
		splits = append(splits, connector.Split{ID: len(splits), State: []byte{byte(at), byte(at >> 8), byte(by), byte(by >> 8)}})
	}
	return splits, nil
}

func (s *source) Reader(_ context.Context, splits []connector.Split) (connector.Reader, error) {
	r := &reader{s: s}
	for _, sp := range splits {
		from, by := int(sp.State[0])|int(sp.State[1])<<8, int(sp.State[2])|int(sp.State[3])<<8
		for i := from; i < min(from+by, len(s.t.batches)); i++ {
			r.list = append(r.list, i)
		}
	}
	s.t.w.open.Add(1)
	return r, nil
}

type reader struct {
	s    *source
	list []int
	at   int
}

func (r *reader) Close() error     { r.s.t.w.open.Add(-1); return nil }
func (r *reader) Position() []byte { return nil }

func (r *reader) Read(ctx context.Context, b *column.Batch) (connector.Status, error) {
	t := r.s.t
	if err := ctx.Err(); err != nil {
		return connector.End, err
	}
	if t.slow > 0 {
		select {
		case <-time.After(t.slow):
		case <-ctx.Done():
			return connector.End, ctx.Err()
		}
	}
	if r.at == len(r.list) {
		if !t.endless || len(r.list) == 0 {
			return connector.End, nil
		}
		r.at = 0
	}
	src := t.batches[r.list[r.at]]
	r.at++
	if n := t.read.Add(1); t.fail > 0 && n >= int64(t.fail) {
		if t.panics {
			panic("the disk is on fire")
		}
		return connector.End, errors.New("column x, row 7: the disk is on fire")
	}
	if t.shared {
		b.Cols, b.Shared, b.N = make([]*column.Vector, len(r.s.scan.Columns)), true, src.N
		for i, c := range r.s.scan.Columns {
			b.Cols[i] = src.Cols[c]
		}
		return connector.More, nil
	}
	for i, c := range r.s.scan.Columns {
		b.Cols[i].AppendVector(src.Cols[c], nil, src.N)
	}
	b.N = src.N
	return connector.More, nil
}

// evidentTransaction is a transaction that notes evidence before its commit.
type evidentTransaction struct {
	*transaction
	note func(string) error
}

func (x *evidentTransaction) NoteEvidence(note func(string) error) {
	x.w.event("evident")
	x.note = note
}

func (x *evidentTransaction) Commit(ctx context.Context) (connector.Outcome, error) {
	if err := x.note(x.w.evidence); err != nil {
		return connector.NotDone, err
	}
	return x.transaction.Commit(ctx)
}

// transaction writes a table of the world.
type transaction struct {
	w      *world
	name   string
	schema types.Schema
	insert bool
	rows   [][]any
	upsert *connector.Upsert // of streaming jobs
	kinds  []types.RowKind
}

func (x *transaction) Key() string { return "test:" + x.name }

func (x *transaction) CheckEpochs(context.Context) error { return x.w.refuse }

func (x *transaction) Begin(ctx context.Context, id connector.JobID) error {
	x.w.event("begin")
	x.w.mu.Lock()
	x.w.ids = append(x.w.ids, id)
	x.w.mu.Unlock()
	if x.w.onBegin != nil {
		return x.w.onBegin(ctx)
	}
	return nil
}

func (x *transaction) Writer(context.Context, int) (connector.Writer, error) {
	x.w.open.Add(1)
	return (*writer)(x), nil
}

func (x *transaction) Seal(ctx context.Context) (int64, error) {
	x.w.event("seal")
	if x.w.onSeal != nil {
		if err := x.w.onSeal(ctx); err != nil {
			return 0, err
		}
	}
	return int64(len(x.rows)), nil
}

func (x *transaction) Commit(context.Context) (connector.Outcome, error) {
	x.w.event("commit")
	var tells error
	if x.w.onCommit != nil {
		var out connector.Outcome
		if out, tells = x.w.onCommit(); out != connector.Done {
			return out, tells
		}
	}
	x.w.mu.Lock()
	defer x.w.mu.Unlock()
	t := x.w.tables[x.name]
	if t == nil {
		t = &table{schema: x.schema}
		x.w.tables[x.name] = t
	}
	if x.upsert != nil {
		return connector.Done, errors.Join(tells, t.merge(x))
	}
	if x.kinds != nil {
		t.changes = append(t.changes, x.kinds...)
	}
	if len(x.rows) > 0 {
		t.batches = append(t.batches, batchOf(x.schema.Types(), x.rows))
	}
	return connector.Done, tells
}

func (x *transaction) Abort(context.Context) error {
	x.w.event("abort")
	if x.w.onAbort != nil {
		return x.w.onAbort()
	}
	return nil
}

type writer transaction

func (x *writer) Write(_ context.Context, next func() (*column.Batch, error)) error {
	for {
		b, err := next()
		if b == nil || err != nil {
			return err
		}
		if b.Sel != nil {
			return errors.New("a sink got a selection")
		}
		if x.w.discard {
			continue
		}
		for _, r := range rowsOf(b) {
			if x.w.onWrite != nil {
				if err := x.w.onWrite(int64(len(x.rows)) + 1); err != nil {
					return err
				}
			}
			x.rows = append(x.rows, r)
		}
		for i := range b.N {
			if x.upsert == nil && b.Kind == nil {
				continue
			}
			if b.Kind == nil {
				return errors.New("an upsert sink got rows without kinds")
			}
			x.kinds = append(x.kinds, b.Kind[i])
		}
	}
}

func (x *writer) Close() error { x.w.open.Add(-1); return nil }

// plan builds a graph by hand.
type plan struct {
	w *world
	g *job.Graph
}

func (w *world) plan(parallelism, batchRows int) *plan {
	return &plan{w, &job.Graph{Version: job.Version, ID: connector.NewJobID(), Name: "test", Mode: job.Batch,
		Start: time.Unix(1_700_000_000, 0).UTC(), Zone: "UTC", Parallelism: parallelism, BatchRows: batchRows,
		Catalogs: []catalog.Ref{{Name: "c", Properties: map[string]string{"type": "test"}}}}}
}

// in is an input of a vertex.
type in struct {
	from int
	kind job.EdgeKind
	keys []int
}

func forward(v int) in { return in{from: v, kind: job.Forward} }

func (p *plan) vertex(spec job.Spec, out []types.Column, parallelism int, inputs ...in) int {
	id := len(p.g.Vertices)
	p.g.Vertices = append(p.g.Vertices, job.Vertex{ID: id, Spec: spec, Out: out, Parallelism: parallelism})
	for i, x := range inputs {
		p.g.Edges = append(p.g.Edges, job.Edge{From: x.from, To: id, Input: i, Kind: x.kind, Keys: x.keys})
	}
	return id
}

func identifier(name string) connector.ObjectIdentifier {
	return connector.ObjectIdentifier{Catalog: "c", Database: "d", Object: name}
}

// scan reads all columns of a table.
func (p *plan) scan(name string, parallelism int) int {
	t := p.w.tables[name]
	s := &job.Scan{Table: job.Table{Identifier: identifier(name), Properties: (&catalog.CatalogTable{Schema: t.schema}).Properties()}, Limit: -1}
	for i, c := range t.schema.Columns {
		s.Columns, s.Names = append(s.Columns, i), append(s.Names, c.Name)
	}
	return p.vertex(s, t.schema.Columns, parallelism)
}

func (p *plan) filter(e expr.Expr, v int) int {
	x := p.g.Vertices[v]
	return p.vertex(&job.Filter{Predicate: job.Expr{Expr: e}}, x.Out, x.Parallelism, forward(v))
}

func (p *plan) project(v int, es ...expr.Expr) int {
	out := make([]types.Column, len(es))
	for i, e := range es {
		out[i] = types.Column{Name: fmt.Sprintf("c%d", i), Type: e.Type()}
	}
	return p.vertex(&job.Project{Exprs: job.Exprs(es)}, out, p.g.Vertices[v].Parallelism, forward(v))
}

func (p *plan) collect(v int) *plan {
	p.vertex(&job.Collect{}, p.g.Vertices[v].Out, 1, forward(v))
	return p
}

// into ends the graph in a table, by CREATE TABLE AS or INSERT.
func (p *plan) into(kind hooks.Kind, name string, v int, notNull ...int) *plan {
	t := &catalog.CatalogTable{Schema: types.Schema{Columns: p.g.Vertices[v].Out}}
	p.g.Hooks = append(p.g.Hooks, hooks.Spec{Kind: kind, Catalog: p.g.Catalogs[0], Table: identifier(name), Properties: t.Properties(), Purpose: catalog.CreateTableAs})
	s := &job.Sink{Hook: len(p.g.Hooks) - 1, Table: identifier(name), NotNull: notNull}
	for _, c := range t.Schema.Columns {
		s.Names = append(s.Names, c.Name)
	}
	p.vertex(s, t.Schema.Columns, 1, forward(v))
	return p
}

func (p *plan) submit() *Job {
	b, err := job.Encode(p.g)
	require.NoError(p.w.t, err)
	j, err := p.w.rt.Submit(context.Background(), b)
	require.NoError(p.w.t, err)
	return j
}

// rows runs a graph that collects, under a watchdog.
func (p *plan) rows() ([][]any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	j := p.submit()
	var rows [][]any
	for {
		b, err := j.Next(ctx)
		if err != nil {
			if ctx.Err() != nil {
				buf := make([]byte, 1<<20)
				p.w.t.Fatalf("the job hangs:\n%s", buf[:runtime.Stack(buf, true)])
			}
			require.Error(p.w.t, j.Wait(ctx))
			return rows, err
		}
		if b == nil {
			require.NoError(p.w.t, j.Wait(ctx))
			return rows, nil
		}
		require.Nil(p.w.t, b.Sel)
		require.LessOrEqual(p.w.t, b.N, p.g.BatchRows)
		rows = append(rows, rowsOf(b)...)
	}
}

// Expressions.

func col(i int, t types.Type) expr.Expr {
	return &expr.Column{Index: i, Name: fmt.Sprintf("c%d", i), T: t}
}

func num(n int) expr.Expr { return expr.NewLiteral(types.Of(types.Int), n, expr.Span{}) }

func call(name string, args ...expr.Expr) expr.Expr {
	e, err := expr.NewCall(name, args, expr.Span{Start: 7, End: 9})
	if err != nil {
		panic(err)
	}
	return e
}

func agg(name string, distinct bool, filter expr.Expr, args ...expr.Expr) job.Agg {
	c, err := expr.NewAggregate(name, args, distinct, filter, expr.Span{Start: 3, End: 4})
	if err != nil {
		panic(err)
	}
	return job.Agg{AggCall: c}
}

var (
	integer = types.Of(types.Int)
	bigint  = types.Of(types.BigInt)
	double  = types.Of(types.Double)
	str     = types.String()
)

func columns(ts ...types.Type) []types.Column {
	cols := make([]types.Column, len(ts))
	for i, t := range ts {
		cols[i] = types.Column{Name: string(rune('a' + i)), Type: t}
	}
	return cols
}

// shapes are the ways in which every graph is run.
type shape struct {
	parallelism, batchRows int
	shared, tight          bool
	oneSplit               bool
}

func (s shape) String() string {
	return fmt.Sprintf("P%d,batch%d,shared=%t,tight=%t", s.parallelism, s.batchRows, s.shared, s.tight)
}

// eachShape runs f for each shape, with a world of its own.
func eachShape(t *testing.T, f func(t *testing.T, w *world, s shape)) {
	for _, s := range []shape{
		{parallelism: 1, batchRows: 2048}, {parallelism: 4, batchRows: 2048}, {parallelism: 4, batchRows: 2048, shared: true},
		{parallelism: 2, batchRows: 2048, oneSplit: true}, {parallelism: 1, batchRows: 1}, {parallelism: 4, batchRows: 1, tight: true}, {parallelism: 4, batchRows: 7, tight: true, shared: true},
	} {
		t.Run(s.String(), func(t *testing.T) {
			w := newWorld(t)
			if s.tight {
				w.rt.limits = laneLimits{batches: 1, bytes: 1}
			}
			w.oneSplit = s.oneSplit
			f(t, w, s)
		})
	}
}
