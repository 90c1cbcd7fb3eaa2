package exec

import (
	"fmt"
	"math"
	"slices"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/types"
)

// partialGroups is how many groups a partial aggregation keeps before it hands their states on: more
// would not stay in the processor's caches, and the final aggregation merges them anyway. When they were
// more than three quarters of the rows, looking for groups is not worth it: from then on each row is
// handed on as a group of its own.
const partialGroups = 1 << 16

// aggregate is GROUP BY: it numbers the groups of each batch's rows and lets every call's accumulator take
// the rows with these numbers. Without keys there is one group from the start. It keeps a row of keys and
// the calls' states for each group until it hands them on, in order of appearance.
type aggregate struct {
	w      *worker
	phase  job.Phase
	keys   []*expr.Evaluator
	args   []*expr.Evaluator // of calls without FILTER, each expression once
	calls  []*aggCall
	types  []types.Type // of the output
	table  *groupTable  // nil: no keys
	memory *memory

	keyTypes  []types.Type
	keyCols   []*column.Vector
	argCols   []*column.Vector
	groups    []uint32
	out       *slot
	rows      int64 // since the last reset
	direct    bool  // each row is a group
	keepsRows bool  // a call keeps the values of its rows
}

// aggCall is one aggregate call.
type aggCall struct {
	call   *expr.AggCall
	acc    expr.Accumulator
	states []types.Type
	first  int               // column of the output
	text   bool              // hands on a text
	shared []int             // positions in aggregate.args; nil with a FILTER
	own    []*expr.Evaluator // arguments with a FILTER
	filter *expr.Filter
	seen   *groupTable // DISTINCT: group and arguments seen so far
	cols   []*column.Vector
	sel    []uint16
	rest   []uint32
	number *column.Vector // groups as a column, for seen

	// Where rows go: how many each value in seen has, and how many values have none.
	counts    []int64
	forgotten int
}

var _ operator = (*aggregate)(nil)

func newAggregate(w *worker, v *job.Vertex, spec *job.Aggregate, env *expr.Env, m *memory) (operator, error) {
	a := &aggregate{w: w, phase: spec.Phase, memory: m}
	switch spec.Phase {
	case job.Partial, job.Final, job.Complete:
	default:
		return nil, fmt.Errorf("aggregation of unknown phase %q", spec.Phase)
	}
	for _, k := range spec.Keys {
		a.keyTypes = append(a.keyTypes, k.Type())
	}
	a.types = append(a.types, a.keyTypes...)
	var err error
	if spec.Phase != job.Final {
		if a.keys, err = compile(spec.Keys, env); err != nil {
			return nil, err
		}
	}
	a.keyCols = make([]*column.Vector, len(a.keyTypes))
	var shared []expr.Expr
	for _, call := range spec.Aggs {
		c := &aggCall{call: call.AggCall}
		a.keepsRows = a.keepsRows || call.Func.Ordered || call.Distinct
		a.calls = append(a.calls, c)
		c.acc = call.NewAccumulator(false)
		c.states = c.acc.StateTypes()
		c.first = len(a.types)
		if spec.Phase == job.Partial {
			a.types = append(a.types, c.states...)
		} else {
			a.types = append(a.types, call.T)
		}
		c.text = column.PhysicalOf(a.types[c.first]) == column.PhysBytes
		if spec.Phase == job.Final {
			continue
		}
		if call.Distinct && spec.Phase == job.Partial {
			return nil, fmt.Errorf("%s(DISTINCT …) cannot be computed in parts", call.Func.Name)
		}
		if shared, err = c.compile(shared, env); err != nil {
			return nil, err
		}
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
	a.reset()
	return a, nil
}

// compile compiles what is the call's own and adds the arguments of one without FILTER to those that calls
// share.
func (c *aggCall) compile(shared []expr.Expr, env *expr.Env) (_ []expr.Expr, err error) {
	c.cols = make([]*column.Vector, len(c.call.Args))
	if c.call.Filter != nil {
		if c.filter, err = expr.CompileFilter(c.call.Filter, env); err == nil {
			c.own, err = compile(job.Exprs(c.call.Args), env)
		}
		return shared, err
	}
	for _, e := range c.call.Args {
		at := -1
		for i, s := range shared {
			if expr.Equal(s, e) && !expr.Volatile(e) {
				at = i
			}
		}
		if at < 0 {
			at = len(shared)
			shared = append(shared, e)
		}
		c.shared = append(c.shared, at)
	}
	return shared, nil
}

// remember makes the call, which is DISTINCT, keep what it sees.
func (c *aggCall) remember(grow func(int64) error) {
	ts := []types.Type{types.Of(types.Int).AsNotNull()}
	for _, arg := range c.call.Args {
		ts = append(ts, arg.Type())
	}
	c.seen = newGroupTable(ts, grow)
	c.number = column.New(ts[0], 0)
}

// reset forgets all groups.
func (a *aggregate) reset() {
	a.table = nil
	if len(a.keyTypes) > 0 {
		a.table = newGroupTable(a.keyTypes, a.more)
	}
	for _, c := range a.calls {
		c.acc = c.call.NewAccumulator(false)
		if c.call.Distinct && a.phase == job.Complete {
			c.remember(a.more)
		}
		if a.table == nil {
			c.acc.Grow(1)
		}
	}
}

func (a *aggregate) process(b *column.Batch, out emit) error {
	if a.phase == job.Final && b.Sel != nil {
		b = b.Copy() // states are merged densely
	}
	n := b.Rows()
	if n == 0 {
		return nil
	}
	if a.direct {
		if err := a.w.canceled(); err != nil {
			return err
		}
		return a.passOn(b, out)
	}
	var groups []uint32
	if a.table != nil {
		for i := range a.keyCols {
			if a.phase == job.Final {
				a.keyCols[i] = b.Cols[i]
				continue
			}
			v, err := a.keys[i].Eval(b)
			if err != nil {
				return err
			}
			a.keyCols[i] = v
		}
		if cap(a.groups) < n {
			a.groups = make([]uint32, max(n, column.DefaultRows))
		}
		groups = a.groups[:n]
		if err := a.more(rowBytes(a.keyCols, b.Sel, b.N) + int64(n*8*(2+len(a.calls)))); err != nil {
			return err
		}
		if err := a.table.find(a.keyCols, b.Sel, b.N, groups); err != nil {
			return err
		}
		for _, c := range a.calls {
			c.acc.Grow(a.table.groups())
		}
	}
	if a.phase == job.Final {
		at := len(a.keyCols)
		for _, c := range a.calls {
			if err := c.failed(c.acc.Merge(groups, b.Cols[at:at+len(c.states)], n)); err != nil {
				return err
			}
			at += len(c.states)
		}
	} else {
		for i, e := range a.args {
			v, err := e.Eval(b)
			if err != nil {
				return err
			}
			a.argCols[i] = v
		}
		if a.keepsRows {
			if err := a.more(rowBytes(a.argCols, b.Sel, b.N)); err != nil {
				return err
			}
		}
		for _, c := range a.calls {
			if err := c.update(a.argCols, b, groups); err != nil {
				return err
			}
		}
	}
	if err := a.more(0); err != nil { // what no estimate foresaw
		return err
	}
	a.rows += int64(n)
	if a.phase == job.Partial && a.table != nil && a.table.groups() >= partialGroups {
		if err := a.emit(out); err != nil {
			return err
		}
		a.direct = int64(a.table.groups()) > a.rows/4*3
		a.rows = 0
		a.reset()
		if a.direct {
			a.forget()
		}
	}
	return nil
}

// passOn hands each row of the batch on as a group.
func (a *aggregate) passOn(b *column.Batch, out emit) error {
	n := b.Rows()
	if cap(a.groups) < n {
		a.groups = make([]uint32, max(n, column.DefaultRows))
	}
	groups := a.groups[:n]
	for k := range n {
		groups[k] = uint32(k)
	}
	if a.out == nil {
		a.out = newSlot(a.types)
	}
	a.out.reset()
	for i, e := range a.keys {
		v, err := e.Eval(b)
		if err != nil {
			return err
		}
		a.out.batch.Cols[i].AppendVector(v, b.Sel, b.N)
	}
	for i, e := range a.args {
		v, err := e.Eval(b)
		if err != nil {
			return err
		}
		a.argCols[i] = v
	}
	at := len(a.keys)
	for _, c := range a.calls {
		c.acc = c.call.NewAccumulator(false)
		c.acc.Grow(n)
		if err := c.update(a.argCols, b, groups); err != nil {
			return err
		}
		if err := c.failed(c.acc.State(a.out.batch.Cols[at:at+len(c.states)], 0, n)); err != nil {
			return err
		}
		at += len(c.states)
	}
	a.out.batch.N = n
	return a.w.lend(a.out, out)
}

// update lets the accumulator take the rows of a batch.
func (c *aggCall) update(shared []*column.Vector, b *column.Batch, groups []uint32) error {
	sel, groups, any, err := c.arguments(shared, b, groups)
	if err != nil || !any {
		return err
	}
	if c.seen != nil {
		if sel, groups, err = c.distinct(sel, b.N, groups); err != nil || len(sel) == 0 {
			return err
		}
	}
	return c.failed(c.acc.Update(groups, c.cols, sel, b.N))
}

// arguments finds the rows that pass the call's FILTER, with their groups, and makes c.cols its arguments.
func (c *aggCall) arguments(shared []*column.Vector, b *column.Batch, groups []uint32) (_ []uint16, _ []uint32, any bool, err error) {
	if c.filter == nil {
		for i, at := range c.shared {
			c.cols[i] = shared[at]
		}
		return b.Sel, groups, true, nil
	}
	if cap(c.sel) < b.N {
		c.sel = make([]uint16, 0, max(b.N, column.DefaultRows))
	}
	rows, err := c.filter.Select(b, c.sel[:0])
	if err != nil || len(rows) == 0 {
		return nil, nil, false, err
	}
	if groups != nil && len(rows) < b.Rows() {
		groups = c.subset(groups, b.Sel, rows)
	}
	narrowed := *b
	narrowed.Sel = rows
	for i, e := range c.own {
		if c.cols[i], err = e.Eval(&narrowed); err != nil {
			return nil, nil, false, err
		}
	}
	return rows, groups, true, nil
}

// subset returns the groups of those of the selected rows that rows names.
func (c *aggCall) subset(groups []uint32, sel, rows []uint16) []uint32 {
	c.rest = c.rest[:0]
	if sel == nil {
		for _, r := range rows {
			c.rest = append(c.rest, groups[r])
		}
		return c.rest
	}
	k := 0
	for _, r := range rows {
		for sel[k] != r {
			k++
		}
		c.rest = append(c.rest, groups[k])
	}
	return c.rest
}

// look numbers the rows' values among those seen, of which the key is the group and the arguments.
func (c *aggCall) look(sel []uint16, n int, groups []uint32) ([]uint32, error) {
	rows := n
	if sel != nil {
		rows = len(sel)
	}
	keys := make([]*column.Vector, 0, 1+len(c.cols))
	c.number.Resize(n)
	if groups == nil {
		clear(c.number.I32)
	} else {
		for k, g := range groups[:rows] {
			c.number.I32[rowAt(sel, k)] = int32(g)
		}
	}
	keys = append(append(keys, c.number), c.cols...)
	numbers := make([]uint32, rows)
	if err := c.seen.grow(rowBytes(keys, sel, n)); err != nil {
		return nil, err
	}
	return numbers, c.seen.find(keys, sel, n, numbers)
}

// distinct leaves the rows whose arguments their group has not had yet.
func (c *aggCall) distinct(sel []uint16, n int, groups []uint32) ([]uint16, []uint32, error) {
	numbers, err := c.look(sel, n, groups)
	if err != nil {
		return nil, nil, err
	}
	fresh := make([]uint16, len(c.seen.fresh))
	for i, k := range c.seen.fresh {
		fresh[i] = uint16(rowAt(sel, int(k)))
		if groups != nil {
			numbers[i] = groups[k] // i <= k: what is overwritten has been used
		}
	}
	if groups == nil {
		return fresh, nil, nil
	}
	return fresh, numbers[:len(fresh)], nil
}

// failed gives an accumulator's error the call's place.
func (c *aggCall) failed(err error) error {
	if e, ok := err.(*expr.Error); ok && e.Span == (expr.Span{}) {
		e.Span = c.call.At
	}
	return err
}

// more makes the reservation cover what is kept and so many bytes.
func (a *aggregate) more(n int64) error { return a.memory.hold(a.bytes() + n) }

func (a *aggregate) bytes() int64 {
	n := int64(0)
	if a.table != nil {
		n = a.table.bytes()
	}
	for _, c := range a.calls {
		n += c.acc.Size()
		if c.seen != nil {
			n += c.seen.bytes()
		}
	}
	return n
}

func (a *aggregate) finish(out emit) error {
	if !a.direct && (a.phase != job.Partial || a.table == nil || a.table.groups() > 0) {
		if err := a.emit(out); err != nil {
			return err
		}
	}
	a.forget() // what follows in the chain has use for the memory
	return nil
}

// forget drops everything that is kept.
func (a *aggregate) forget() {
	a.table = nil
	for _, c := range a.calls {
		c.acc, c.seen = nil, nil
	}
	a.memory.free()
}

// emit hands on all groups, a batch at a time.
func (a *aggregate) emit(out emit) error {
	n, keyBytes := 1, int64(0)
	if a.table != nil {
		n, keyBytes = a.table.groups(), a.table.keys.measure()
	}
	var wide []*aggCall // that may make more texts than fit in a batch
	for _, c := range a.calls {
		if c.text && c.acc.Size() > maxBytes {
			wide = append(wide, c)
		}
	}
	if a.out == nil {
		a.out = newSlot(a.types)
	}
	for _, c := range wide {
		// The texts of a group are joined, and then copied into the batch.
		if err := a.more(2 * min(c.acc.Size(), math.MaxInt32)); err != nil {
			return err
		}
	}
	for from := 0; from < n; {
		if err := a.w.canceled(); err != nil {
			return err
		}
		to := min(from+column.DefaultRows, n)
		if a.table != nil {
			to = cut(from, to, keyBytes, maxBytes, func(i int) int64 { return a.table.keys.textBytes(uint32(i)) })
		}
		a.out.reset()
		if len(wide) > 0 {
			// How much they make is known only once it is made.
			end := from
			for size := int64(0); end < to && size < maxBytes; end++ {
				size = 0
				for _, c := range wide {
					if err := a.append(c, end, end+1); err != nil {
						return err
					}
					size += a.out.batch.Cols[c.first].Size()
				}
			}
			to = end
		}
		for _, c := range a.calls {
			if !slices.Contains(wide, c) {
				if err := a.append(c, from, to); err != nil {
					return err
				}
			}
		}
		for c := range a.keyTypes {
			a.table.keys.copyRange(c, from, to, a.out.batch.Cols[c])
		}
		a.out.batch.N = to - from
		if err := a.w.lend(a.out, out); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// append adds what a call hands on of the groups from (included) to to (excluded) to the output.
func (a *aggregate) append(c *aggCall, from, to int) error {
	cols := a.out.batch.Cols[c.first:]
	if a.phase == job.Partial {
		return c.failed(c.acc.State(cols[:len(c.states)], from, to))
	}
	return c.failed(c.acc.Result(cols[0], from, to))
}

func (a *aggregate) close() { a.memory.free() }
