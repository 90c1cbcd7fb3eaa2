package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// A row in memory is told from the others by its place in the version that is read, counted from 1: that is the
// rowid. A PRIMARY KEY is not enforced here, and so tells nothing. Places mean the same rows as long as nobody
// changes the table, so that a modification is committed only if what Begin found is still there.

// RowKey returns the rowid.
func (t *table) RowKey(context.Context) (connector.RowKey, error) {
	return connector.RowKey{Rowid: types.Of(types.BigInt).AsNotNull(), RowidName: "row number"}, nil
}

// Modify returns a transaction that gives rows new values, or deletes them.
func (t *table) Modify(_ context.Context, m connector.Modify) (connector.Transaction, error) {
	return t.store.Modify(m)
}

// Truncate makes the table empty. Readers keep the rows that they have.
func (t *table) Truncate(context.Context) error {
	s, err := t.store.lockLatest()
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	if err := s.settled(); err != nil {
		return err
	}
	release(s.budget, s.current.bytes)
	s.current = &version{}
	return nil
}

// modification is an UPDATE or DELETE: the places of rows and their new values are collected aside, a version that
// shares with the old one what is not changed is made of them, and takes its place by one swap.
type modification struct {
	store *Store
	set   []int // columns of the table; nil: the rows are deleted

	mu    sync.Mutex
	state state
	seen  *version // by Begin
	in    *modifier
	next  *version // once sealed
	n     int64
	fresh int64 // bytes reserved that only next has
	left  int64 // bytes that only seen has
}

var _ connector.Transaction = (*modification)(nil)

// Modify returns a transaction that changes rows, which are told by their rowid.
func (s *Store) Modify(m connector.Modify) (connector.Transaction, error) {
	given := map[int]bool{}
	for _, c := range m.Set {
		if c < 0 || c >= len(s.schema.Columns) || given[c] {
			return nil, fmt.Errorf("update table %s: no column at position %d, or given twice", s.id, c)
		}
		given[c] = true
	}
	return &modification{store: s, set: m.Set}, nil
}

func (m *modification) Key() string { return Key(m.store.id) }

// Begin notes the job at the table, which cannot be dropped from now on, and what is in it.
func (m *modification) Begin(_ context.Context, job connector.JobID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state != created {
		return fmt.Errorf("change table %s: begun twice", m.store.id)
	}
	s, err := m.store.lockLatest()
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	if err := s.settled(); err != nil {
		return err
	}
	s.writers[m] = job
	m.store, m.seen, m.state = s, s.current, begun
	return nil
}

// Writer returns the one writer.
func (m *modification) Writer(_ context.Context, subtask int) (connector.Writer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.state != begun:
		return nil, fmt.Errorf("change table %s: not open for writing", m.store.id)
	case subtask > 0:
		return nil, fmt.Errorf("change table %s: there is one writer", m.store.id)
	case m.in == nil:
		w := &modifier{rows: rows{table: m.store.id, budget: m.store.budget}}
		for i, c := range m.set {
			w.rows.schema.Columns = append(w.rows.schema.Columns, m.store.schema.Columns[c])
			w.rows.cols = append(w.rows.cols, i+1)
		}
		m.in = w
	}
	return m.in, nil
}

// modifier collects the places of the rows and the new values.
type modifier struct {
	places []int64
	rows   rows
	err    error
}

func (w *modifier) Write(ctx context.Context, next func() (*column.Batch, error)) error {
	return collect(ctx, next, w.add, &w.err)
}

func (w *modifier) add(b *column.Batch) error {
	if err := w.rows.reserve(int64(b.N) * 8); err != nil {
		return err
	}
	for i := range b.N {
		if b.Cols[0].IsNull(i) {
			return fmt.Errorf("change table %s: a row has no rowid", w.rows.table)
		}
		w.places = append(w.places, b.Cols[0].Int64(i))
	}
	if len(w.rows.cols) == 0 {
		return nil
	}
	return w.rows.add(b)
}

func (w *modifier) Close() error { return nil }

// Seal makes the new version. The rows changed are as many as those written, or it fails.
func (m *modification) Seal(ctx context.Context) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state == sealedState {
		return m.n, nil
	}
	if m.state != begun {
		return 0, fmt.Errorf("change table %s: not open for writing", m.store.id)
	}
	w := m.in
	if w == nil {
		w = &modifier{}
	}
	if w.err != nil {
		return 0, w.err
	}
	w.rows.close()
	c := &changeover{store: m.store, set: m.set, places: w.places, values: w.rows.done, m: m}
	if err := c.order(m.seen.rows); err != nil {
		return 0, err
	}
	next, err := c.version(ctx, m.seen)
	if err != nil {
		return 0, err
	}
	if m.store.State().version != m.seen { // it is known now, and certain at Commit
		return 0, m.store.changed()
	}
	release(m.store.budget, w.rows.reserved)
	w.rows.reserved, w.rows.done, w.places, w.err = 0, nil, nil, errSealed
	m.next, m.n, m.state = next, int64(len(c.places)), sealedState
	return m.n, nil
}

// Commit makes the changes visible by one swap, unless the table is no longer what Begin found.
func (m *modification) Commit(context.Context) (connector.Outcome, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch m.state {
	case committed:
		return connector.Done, nil
	case sealedState:
	default:
		return connector.NotDone, fmt.Errorf("change table %s: nothing is ready to be committed", m.store.id)
	}
	s := m.store
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.gone != "":
		return connector.NotDone, fmt.Errorf("table %s %s, while the job changed it", s.id, s.gone)
	case s.current != m.seen:
		return connector.NotDone, s.changed()
	}
	s.current = m.next
	release(s.budget, m.left)
	delete(s.writers, m)
	m.seen, m.next, m.state = nil, nil, committed
	return connector.Done, nil
}

// Abort forgets the changes.
func (m *modification) Abort(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state == committed || m.state == aborted {
		return nil
	}
	s := m.store
	if m.in != nil {
		release(s.budget, m.in.rows.reserved)
		m.in.rows, m.in.places, m.in.err = rows{}, nil, errAborted
	}
	release(s.budget, m.fresh)
	s.mu.Lock()
	delete(s.writers, m)
	s.mu.Unlock()
	m.seen, m.next, m.fresh, m.state = nil, nil, 0, aborted
	return nil
}

// changeover makes the version that comes of the places and values written.
type changeover struct {
	store  *Store
	set    []int
	places []int64
	values []*column.Batch // of the rows, in the order that they were written in
	m      *modification   // whose fresh and left are counted

	starts []int64 // of values: how many rows come before each
	sorted []int   // positions in places, by place
}

// order sorts the rows written by their places, and refuses one that is met twice.
func (c *changeover) order(rows int64) error {
	n := int64(0)
	for _, b := range c.values {
		c.starts = append(c.starts, n)
		n += int64(b.N)
	}
	c.sorted = make([]int, len(c.places))
	for i := range c.sorted {
		c.sorted[i] = i
	}
	slices.SortFunc(c.sorted, func(a, b int) int { return cmp.Compare(c.places[a], c.places[b]) })
	for i, k := range c.sorted {
		at := c.places[k]
		switch {
		case at < 1 || at > rows:
			return fmt.Errorf("change table %s: it has no row %d", c.store.id, at)
		case i > 0 && c.places[c.sorted[i-1]] == at:
			return fmt.Errorf("row %d of table %s is met twice, and can be changed once only", at, c.store.id)
		}
	}
	return nil
}

// version returns what the old version becomes.
func (c *changeover) version(ctx context.Context, old *version) (*version, error) {
	next := &version{}
	add := func(batches ...*column.Batch) {
		for _, b := range batches {
			next.batches, next.rows = append(next.batches, b), next.rows+int64(b.N)
		}
	}
	rest := c.rows()
	defer func() { c.m.fresh += rest.reserved }()
	todo := c.sorted
	first := int64(1) // place of the batch's first row
	for _, b := range old.batches {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		n := sort.Search(len(todo), func(i int) bool { return c.places[todo[i]] >= first+int64(b.N) })
		mine := todo[:n]
		todo = todo[n:]
		switch {
		case n > 0 && c.set == nil:
			if err := c.without(rest, b, first, mine); err != nil {
				return nil, err
			}
		case n > 0:
			changed, err := c.with(b, first, mine)
			if err != nil {
				return nil, err
			}
			add(changed...)
		default:
			add(rest.take()...)
			add(b)
		}
		first += int64(b.N)
	}
	add(rest.take()...)
	next.bytes = old.bytes + c.m.fresh + rest.reserved - c.m.left
	return next, nil
}

// rows collects rows of the table.
func (c *changeover) rows() *rows {
	r := &rows{table: c.store.id, schema: c.store.schema, budget: c.store.budget}
	for i := range r.schema.Columns {
		r.cols = append(r.cols, i)
	}
	return r
}

// without hands on what is left of a batch when rows are deleted. What is left of one follows in the same new
// batch that of the one before: however many rows go, the batches do not become many and small.
func (c *changeover) without(rest *rows, b *column.Batch, first int64, gone []int) error {
	c.m.left += b.Size()
	if len(gone) == b.N {
		return nil
	}
	kept := make([]uint16, 0, b.N)
	for i := range b.N {
		if len(gone) > 0 && c.places[gone[0]] == first+int64(i) {
			gone = gone[1:]
			continue
		}
		kept = append(kept, uint16(i))
	}
	return rest.add((&column.Batch{Cols: b.Cols, N: b.N, Sel: kept, Shared: true}).Copy())
}

// with is a batch with new values: the columns set are made anew, the others shared. Values too large for one
// batch make several.
func (c *changeover) with(b *column.Batch, first int64, rows []int) ([]*column.Batch, error) {
	next := &column.Batch{Cols: slices.Clone(b.Cols), N: b.N}
	size := int64(0)
	for j, at := range c.set {
		v := column.New(b.Cols[at].Type, b.N)
		done := 0
		for _, k := range rows {
			i := int(c.places[k] - first)
			v.AppendRange(b.Cols[at], done, i-done)
			from, row := c.value(k)
			v.AppendFrom(from.Cols[j], row)
			done = i + 1
			if v.Size() > maxBatchBytes && b.N > 1 {
				return c.apart(b, first, rows)
			}
		}
		v.AppendRange(b.Cols[at], done, b.N-done)
		if v.Valid != nil && v.Valid.Count(v.Len) == v.Len {
			v.Valid = nil
		}
		next.Cols[at] = v
		size += v.Size()
	}
	for _, at := range c.set {
		c.m.left += b.Cols[at].Size()
	}
	return []*column.Batch{next}, c.reserve(size)
}

// apart is with for values that need batches of their own: all columns are copied, row by row.
func (c *changeover) apart(b *column.Batch, first int64, changed []int) ([]*column.Batch, error) {
	r := c.rows()
	for i := range b.N {
		one := b.Slice(i, i+1)
		if len(changed) > 0 && c.places[changed[0]] == first+int64(i) {
			one = &column.Batch{Cols: slices.Clone(one.Cols), N: 1}
			from, row := c.value(changed[0])
			for j, at := range c.set {
				one.Cols[at] = column.New(b.Cols[at].Type, 1)
				one.Cols[at].AppendFrom(from.Cols[j], row)
			}
			changed = changed[1:]
		}
		err := r.add(one)
		if err != nil {
			release(c.store.budget, r.reserved)
			return nil, err
		}
	}
	batches := r.take()
	c.m.fresh += r.reserved
	c.m.left += b.Size()
	return batches, nil
}

// value finds the new values of the k-th row written.
func (c *changeover) value(k int) (*column.Batch, int) {
	i := sort.Search(len(c.starts), func(i int) bool { return c.starts[i] > int64(k) }) - 1
	return c.values[i], k - int(c.starts[i])
}

func (c *changeover) reserve(n int64) error {
	if m := c.store.budget; m != nil {
		if err := m.Reserve(n); err != nil {
			return fmt.Errorf("keep the changes of table %s: %w", c.store.id, err)
		}
	}
	c.m.fresh += n
	return nil
}
