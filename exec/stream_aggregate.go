package exec

import (
	"fmt"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/types"
)

// streamAggregate is GROUP BY over a stream of changes. A group has a row in the output from its first input
// row to the removal of its last, also when there are no keys. After each batch of input the groups that it
// touched, in the order in which it did, hand on what became of them: +I for a new one, -U (if it is wanted)
// and +U for one whose results are no longer what they were, nothing when they are, -D for one that has
// become empty.
//
// The results a group had are not kept: they are computed from its state before the batch is counted in.
// Within a batch all rows that come are counted before those that go: a state never has less than nothing of a
// row, but may have the new row of an update beside the old one until the batch is counted in.
//
// State is freed when a group goes: groups that are gone are forgotten once they are the greater part.
type streamAggregate struct {
	w      *worker
	spec   *job.Aggregate
	keys   []*expr.Evaluator
	args   []*expr.Evaluator // of calls without FILTER, each expression once
	calls  []*aggCall
	memory *memory

	keyTypes []types.Type
	types    []types.Type // of the output
	table    *groupTable  // nil: no keys

	// By group; nil when no row ever goes.
	rows []int64
	gone int // groups without rows

	shown int // groups that have been handed on, when no row ever goes

	keyCols []*column.Vector
	argCols []*column.Vector
	groups  []uint32
	come    split
	leave   split
	touched []uint32
	mark    []uint32 // by group: the last batch that touched it
	batch   uint32
	was     []bool           // by touched group: it had a row before
	results []*column.Vector // by call: results before, then after the batch
	keySel  []uint16
	sel     []uint16
	kinds   []types.RowKind
	groupOf []uint32
	out     *slot
}

// split is the part of a batch whose rows come, or that whose rows go.
type split struct {
	sel    []uint16
	groups []uint32
}

var _ operator = (*streamAggregate)(nil)

// streamRows is the most rows that are counted in at once: results before and after fit in a selection.
const streamRows = column.MaxRows / 4

func newStreamAggregate(w *worker, v *job.Vertex, spec *job.Aggregate, env *expr.Env, m *memory) (operator, error) {
	a := &streamAggregate{w: w, spec: spec, memory: m}
	for _, k := range spec.Keys {
		a.keyTypes = append(a.keyTypes, k.Type())
	}
	a.types = append(a.types, a.keyTypes...)
	var err error
	if a.keys, err = compile(spec.Keys, env); err != nil {
		return nil, err
	}
	a.keyCols = make([]*column.Vector, len(a.keys))
	var shared []expr.Expr
	for _, call := range spec.Aggs {
		c := &aggCall{call: call.AggCall, first: len(a.types)}
		a.calls = append(a.calls, c)
		a.types = append(a.types, call.T)
		if shared, err = c.compile(shared, env); err != nil {
			return nil, err
		}
		a.results = append(a.results, column.New(call.T, 0))
	}
	if a.args, err = compile(job.Exprs(shared), env); err != nil {
		return nil, err
	}
	a.argCols = make([]*column.Vector, len(a.args))
	if len(v.Out) != len(a.types) {
		return nil, fmt.Errorf("aggregation makes %d columns, not %d", len(a.types), len(v.Out))
	}
	for i, t := range vertexTypes(v) {
		if column.PhysicalOf(t) != column.PhysicalOf(a.types[i]) {
			return nil, fmt.Errorf("column %d of the aggregation is %s, not %s", i, a.types[i], t)
		}
	}
	a.out = newSlot(a.types)
	a.begin()
	return a, nil
}

// begin makes empty state.
func (a *streamAggregate) begin() {
	if len(a.keyTypes) > 0 {
		a.table = newGroupTable(a.keyTypes, a.more)
	}
	for _, c := range a.calls {
		c.acc = c.call.NewAccumulator(a.spec.Retracting)
		c.states = c.acc.StateTypes()
		if c.call.Distinct {
			c.remember(a.more)
		}
	}
}

func (a *streamAggregate) process(b *column.Batch, out emit) error {
	n := b.Rows()
	if n <= streamRows {
		return a.count(b, out)
	}
	var sel []uint16
	var part column.Batch
	for at := 0; at < n; at += streamRows {
		if err := a.count(window(b, at, min(at+streamRows, n), &sel, &part), out); err != nil {
			return err
		}
	}
	return nil
}

// count counts a batch in and hands on what changed.
func (a *streamAggregate) count(b *column.Batch, out emit) error {
	n := b.Rows()
	if n == 0 {
		return nil
	}
	if err := a.w.canceled(); err != nil {
		return err
	}
	if err := a.find(b); err != nil {
		return err
	}
	a.touch()
	dense := a.dense()
	for i, c := range a.calls {
		a.results[i].Reset()
		if err := a.append(c, a.results[i], dense); err != nil {
			return err
		}
	}
	if err := a.update(b); err != nil {
		return err
	}
	size := int64(0)
	for i, c := range a.calls {
		if err := a.append(c, a.results[i], dense); err != nil {
			return err
		}
		size += a.results[i].Size()
	}
	if err := a.more(size); err != nil {
		return err
	}
	a.changes(dense)
	if err := a.emit(out); err != nil {
		return err
	}
	return a.compact()
}

// find numbers the groups of the rows.
func (a *streamAggregate) find(b *column.Batch) error {
	n := b.Rows()
	if cap(a.groups) < n {
		a.groups = make([]uint32, max(n, column.DefaultRows))
	}
	a.groups = a.groups[:n]
	groups := 1
	if a.table == nil {
		clear(a.groups)
	} else {
		for i, e := range a.keys {
			v, err := e.Eval(b)
			if err != nil {
				return err
			}
			a.keyCols[i] = v
		}
		if err := a.more(rowBytes(a.keyCols, b.Sel, b.N) + int64(n*8*(3+len(a.calls)))); err != nil {
			return err
		}
		if err := a.table.find(a.keyCols, b.Sel, b.N, a.groups); err != nil {
			return err
		}
		groups = a.table.groups()
	}
	for _, c := range a.calls {
		c.acc.Grow(groups)
	}
	a.mark = growTo(a.mark, groups)
	if a.spec.Retracting {
		more := groups - len(a.rows)
		a.rows = growTo(a.rows, groups)
		a.gone += more
	}
	return nil
}

// touch lists the groups of the rows, each once, and whether they had a row.
func (a *streamAggregate) touch() {
	if a.batch++; a.batch == 0 { // after four billion batches
		clear(a.mark)
		a.batch = 1
	}
	a.touched, a.was = a.touched[:0], a.was[:0]
	for _, g := range a.groups {
		if a.mark[g] == a.batch {
			continue
		}
		a.mark[g] = a.batch
		a.touched = append(a.touched, g)
		if a.spec.Retracting {
			a.was = append(a.was, a.rows[g] > 0)
		} else {
			a.was = append(a.was, int(g) < a.shown)
		}
	}
}

// total returns how many groups there are.
func (a *streamAggregate) total() int { return len(a.mark) }

// dense reports whether to compute the results of all groups at once, rather than one by one of those that
// were touched.
func (a *streamAggregate) dense() bool {
	return a.total() <= 2*len(a.touched)
}

// append appends the results of a call: of all groups, or of those touched.
func (a *streamAggregate) append(c *aggCall, to *column.Vector, dense bool) error {
	if dense {
		return c.failed(c.acc.Result(to, 0, a.total()))
	}
	for _, g := range a.touched {
		if err := c.acc.Result(to, int(g), int(g)+1); err != nil {
			return c.failed(err)
		}
	}
	return nil
}

// update lets the accumulators take the rows that come and give back those that go.
func (a *streamAggregate) update(b *column.Batch) error {
	for i, e := range a.args {
		v, err := e.Eval(b)
		if err != nil {
			return err
		}
		a.argCols[i] = v
	}
	if b.Kind == nil || !a.goes(b) {
		for _, g := range a.groups {
			a.add(g, 1)
		}
		return a.take(b, a.groups, false)
	}
	a.come.sel, a.come.groups = a.come.sel[:0], a.come.groups[:0]
	a.leave.sel, a.leave.groups = a.leave.sel[:0], a.leave.groups[:0]
	for k, g := range a.groups {
		i := b.Row(k)
		to, by := &a.come, int64(1)
		if goes(b.Kind[i]) {
			to, by = &a.leave, -1
		}
		to.sel = append(to.sel, uint16(i))
		to.groups = append(to.groups, g)
		a.add(g, by)
	}
	part := *b
	if part.Sel = a.come.sel; len(part.Sel) > 0 {
		if err := a.take(&part, a.come.groups, false); err != nil {
			return err
		}
	}
	part.Sel = a.leave.sel
	return a.take(&part, a.leave.groups, true)
}

func (a *streamAggregate) add(g uint32, by int64) {
	if !a.spec.Retracting {
		return
	}
	before := a.rows[g]
	a.rows[g] += by
	switch now := a.rows[g]; {
	case before == 0 && now > 0:
		a.gone--
	case before > 0 && now == 0:
		a.gone++
	case now < 0:
		panic("exec: a group lost a row that never came")
	}
}

// goes reports whether a row of this kind takes one back.
func goes(k types.RowKind) bool { return k == types.UpdateBefore || k == types.Delete }

// goes reports whether any of the rows takes one back.
func (a *streamAggregate) goes(b *column.Batch) bool {
	for k := range b.Rows() {
		if goes(b.Kind[b.Row(k)]) {
			return true
		}
	}
	return false
}

func (a *streamAggregate) take(b *column.Batch, groups []uint32, retract bool) error {
	if retract && !a.spec.Retracting {
		return &Error{Row: -1, Msg: "internal error (the aggregation): a row was taken back where none should be", Hint: "please report it"}
	}
	if a.table == nil {
		groups = nil
	}
	for _, c := range a.calls {
		if err := c.change(a.argCols, b, groups, a.spec.Retracting, retract); err != nil {
			return err
		}
	}
	return nil
}

// changes lists the output: for each row its place among the results, its kind and its group.
func (a *streamAggregate) changes(dense bool) {
	a.sel, a.kinds, a.groupOf = a.sel[:0], a.kinds[:0], a.groupOf[:0]
	half := len(a.touched)
	if dense {
		half = a.total()
	}
	for k, g := range a.touched {
		old := k
		if dense {
			old = int(g)
		}
		is := !a.spec.Retracting || a.rows[g] > 0
		switch was := a.was[k]; {
		case !was && is:
			a.change(g, half+old, types.Insert)
		case was && !is:
			a.change(g, old, types.Delete)
		case was && is && a.differ(old, half+old):
			if a.spec.EmitBefore {
				a.change(g, old, types.UpdateBefore)
			}
			a.change(g, half+old, types.UpdateAfter)
		}
	}
	a.shown = a.total()
}

func (a *streamAggregate) change(g uint32, at int, kind types.RowKind) {
	a.sel = append(a.sel, uint16(at))
	a.kinds = append(a.kinds, kind)
	a.groupOf = append(a.groupOf, g)
}

func (a *streamAggregate) differ(i, j int) bool {
	for _, v := range a.results {
		if !column.Equal(v, i, v, j) {
			return true
		}
	}
	return false
}

// emit hands on the changes, in batches.
func (a *streamAggregate) emit(out emit) error {
	most := int64(0)
	for _, v := range a.results {
		if v.Bytes != nil || v.Children != nil {
			most += v.Size()
		}
	}
	for from := 0; from < len(a.sel); {
		to := min(from+column.DefaultRows, len(a.sel))
		to = cut(from, to, most, maxBytes, func(i int) int64 { return textBytes(a.results, int(a.sel[i])) })
		a.out.reset()
		for c := range a.keyTypes {
			a.gatherKeys(c, a.groupOf[from:to], a.out.batch.Cols[c])
		}
		for i, v := range a.results {
			a.out.batch.Cols[a.calls[i].first].AppendVector(v, a.sel[from:to], 0)
		}
		a.out.batch.N = to - from
		a.out.batch.Kind = a.kinds[from:to]
		if err := a.w.lend(a.out, out); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// gatherKeys appends a key of the groups to a column, by runs of groups that lie in one chunk.
func (a *streamAggregate) gatherKeys(c int, groups []uint32, to *column.Vector) {
	for at := 0; at < len(groups); {
		chunk := groups[at] >> chunkBits
		a.keySel = a.keySel[:0]
		for at < len(groups) && groups[at]>>chunkBits == chunk {
			a.keySel = append(a.keySel, uint16(groups[at]&chunkMask))
			at++
		}
		to.AppendVector(a.table.keys.chunks[chunk][c], a.keySel, 0)
	}
}

// worthCompacting is the least number of things gone for which state is made anew.
const worthCompacting = 4096

// compact forgets the groups that are gone, and the values that no row has any more, when they are most.
func (a *streamAggregate) compact() error {
	if !a.spec.Retracting {
		return nil
	}
	due := a.table != nil && a.gone >= worthCompacting && a.gone > a.total()/2
	for _, c := range a.calls {
		if c.seen != nil {
			due = due || c.forgotten >= worthCompacting && c.forgotten > c.seen.groups()/2
		}
	}
	if !due {
		return nil
	}
	old, oldRows := a.table, a.rows
	number := make([]uint32, len(oldRows)) // of a group, from now on
	for g := range number {
		number[g] = noRow
	}
	if old == nil {
		number[0] = 0
	} else {
		if err := a.keep(old, number); err != nil {
			return err
		}
	}
	for _, c := range a.calls {
		if err := c.compact(number, a.total(), a.more); err != nil {
			return err
		}
	}
	a.memory.fit(a.bytes())
	return nil
}

// keep makes a new table of the groups that have rows, and notes their new numbers.
func (a *streamAggregate) keep(old *groupTable, number []uint32) error {
	a.table = newGroupTable(a.keyTypes, a.more)
	counts := a.rows
	a.rows, a.mark, a.gone = nil, nil, 0
	var live []uint32
	for g, n := range counts {
		if n != 0 {
			live = append(live, uint32(g))
		}
	}
	cols := make([]*column.Vector, len(a.keyTypes))
	found := make([]uint32, column.DefaultRows)
	for from := 0; from < len(live); {
		to := min(from+column.DefaultRows, len(live))
		for c, t := range a.keyTypes {
			cols[c] = column.New(t, to-from)
		}
		to = cut(from, to, old.keys.measure(), maxBytes, func(i int) int64 { return old.keys.textBytes(live[i]) })
		for c := range cols {
			for _, g := range live[from:to] {
				cols[c].AppendFrom(old.keys.chunks[g>>chunkBits][c], int(g&chunkMask))
			}
		}
		if err := a.table.find(cols, nil, to-from, found[:to-from]); err != nil {
			return err
		}
		for k, g := range live[from:to] {
			number[g] = found[k]
			a.rows = append(a.rows, counts[g])
		}
		from = to
	}
	a.mark = make([]uint32, len(a.rows))
	return nil
}

func (a *streamAggregate) more(n int64) error { return a.memory.hold(a.bytes() + n) }

func (a *streamAggregate) bytes() int64 {
	n := int64(8*cap(a.rows) + 4*cap(a.mark))
	if a.table != nil {
		n += a.table.bytes()
	}
	for _, c := range a.calls {
		n += c.acc.Size() + int64(8*cap(c.counts))
		if c.seen != nil {
			n += c.seen.bytes()
		}
	}
	return n
}

func (a *streamAggregate) finish(emit) error { return nil }

func (a *streamAggregate) close() { a.memory.free() }

// growTo returns s with n elements, new ones zero.
func growTo[T any](s []T, n int) []T {
	for len(s) < n {
		var zero T
		s = append(s, zero)
	}
	return s
}
