package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// pipeline is a tree of operators that run together: leaves at the bottom, a chain of operators from
// each, joined only by UNION ALL, an edge (or a join's build side) at the top. It runs as so many
// workers, each with operators of its own, which share the leaves' morsels. Leaves are read one after the
// other, so the rows of a union keep the order of its inputs.
type pipeline struct {
	job         *Job
	parallelism int
	stages      []*stage // an input stands before what it feeds
	leaves      []*leafNode
	builds      []*joinTable // must be ready before a leaf is read
	out         *edge        // nil when the last stage keeps what it gets, or top takes it
	top         emit         // takes what the last stage hands on; nil: out does
	keys        []int        // columns that an edge by hash hashes
	workers     []*worker

	ctx    context.Context // ends with the job, or when nobody wants the pipeline's rows
	cancel context.CancelCauseFunc

	mu      sync.Mutex // held while a morsel is taken
	ordered bool       // order is closed
	once    sync.Once
	running atomic.Int32
}

// stage is an operator of a pipeline.
type stage struct {
	index  int
	name   string // for errors
	make   func(w *worker) (operator, error)
	inputs int
	next   *stage // nil: the pipeline's end
	rows   *atomic.Int64
}

// leafNode is a leaf and the stage it feeds; nil is the pipeline's end.
type leafNode struct {
	leaf    leaf
	next    *stage
	stopped atomic.Bool
}

// halt stops the pipeline and what feeds it because nobody wants its rows.
func (p *pipeline) halt() {
	p.cancel(errStopped)
	p.stopInputs()
}

func (p *pipeline) stopInputs() {
	for _, l := range p.leaves {
		if !l.stopped.Swap(true) {
			l.leaf.stop()
		}
	}
	for _, b := range p.builds {
		b.from.halt()
	}
}

// stopBelow stops the leaves that feed a stage.
func (p *pipeline) stopBelow(top *stage) {
	for _, l := range p.leaves {
		for s := l.next; s != nil; s = s.next {
			if s == top {
				if !l.stopped.Swap(true) {
					l.leaf.stop()
				}
				break
			}
		}
	}
}

// take hands out the next morsel; the leaf's index is len(p.leaves) when there is none.
func (p *pipeline) take(w *worker) (int, morsel, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := w.at; i < len(p.leaves); i++ {
		l := p.leaves[i]
		if l.stopped.Load() {
			continue
		}
		m, err := l.leaf.next(w)
		if err != nil {
			if l.stopped.Load() {
				continue
			}
			return i, nil, &leafError{l.leaf, err}
		}
		if m == nil {
			continue
		}
		if p.out != nil && p.out.order != nil {
			select {
			case p.out.order <- w.id:
			case <-p.ctx.Done():
				return i, nil, context.Cause(p.ctx)
			}
		}
		return i, m, nil
	}
	if p.out != nil && p.out.order != nil && !p.ordered {
		p.ordered = true
		close(p.out.order)
	}
	return len(p.leaves), nil, nil
}

// start runs the workers, once, each in a goroutine that reports its error to the job. A pipeline is
// started when its rows are first asked for: the second input of a union takes no memory while the first
// is read, and what feeds the probe side of a join none while the build side is.
func (p *pipeline) start() { p.once.Do(p.run) }

func (p *pipeline) run() {
	for _, b := range p.builds {
		b.from.start()
	}
	p.running.Store(int32(len(p.workers)))
	for _, w := range p.workers {
		p.job.tasks.Add(1)
		go func() {
			defer p.job.tasks.Done()
			err := w.guarded()
			if err != nil && !errors.Is(context.Cause(p.ctx), errStopped) {
				p.job.fail(err)
			}
			if p.running.Add(-1) == 0 {
				p.end()
			}
		}()
	}
}

// end closes the leaves after the last worker.
func (p *pipeline) end() {
	p.workers = nil
	if err := p.closeLeaves(); err != nil {
		p.job.fail(err)
	}
}

// closeLeaves closes the leaves; doing it again does nothing.
func (p *pipeline) closeLeaves() error {
	var all error
	for _, l := range p.leaves {
		if err := l.leaf.close(); err != nil {
			all = also(all, toError(err, "close after reading: "+l.leaf.what()))
		}
	}
	return all
}

// worker runs the operators of a pipeline in one goroutine.
type worker struct {
	p   *pipeline
	id  int
	ctx context.Context
	at  int // leaf being read

	ops      []operator // by stage; nil for a union
	outs     []emit     // where a stage hands its rows
	top      emit       // where the last does
	pending  []int      // inputs that have not ended, by stage
	finished []bool
	current  *stage // last entered, for errors
	end      *sender
	src      *slot // whose vectors the batch at hand may be

	slots  map[leaf]*slot
	winSel []uint16
	win    column.Batch
	part   *slot
}

// build makes the workers and their operators.
func (p *pipeline) build() error {
	for id := range p.parallelism {
		w := &worker{p: p, id: id, ctx: p.ctx, slots: map[leaf]*slot{}}
		n := len(p.stages)
		w.ops, w.outs, w.pending, w.finished = make([]operator, n), make([]emit, n), make([]int, n), make([]bool, n)
		top := emit(func(*column.Batch) error { return nil })
		if p.top != nil {
			top = p.top
		}
		if p.out != nil {
			lanes := p.out.lanes
			if p.out.order != nil {
				lanes = lanes[id : id+1]
			}
			w.end = newSender(w, p.out, lanes, p.keys)
			top = w.end.emit
		}
		w.top = top
		for i := n - 1; i >= 0; i-- {
			s := p.stages[i]
			w.pending[i] = s.inputs
			next := top
			if s.next != nil {
				next = w.enter(s.next)
			}
			w.outs[i] = func(b *column.Batch) error {
				s.rows.Add(int64(b.Rows()))
				return next(b)
			}
			if s.make != nil {
				op, err := s.make(w)
				if err != nil {
					return toError(err, s.name)
				}
				w.ops[i] = op
			}
		}
		p.workers = append(p.workers, w)
	}
	return nil
}

// into returns the way of a leaf's rows.
func (w *worker) into(l *leafNode) emit {
	if l.next == nil {
		return w.top
	}
	return w.enter(l.next)
}

// enter returns the way into a stage.
func (w *worker) enter(s *stage) emit {
	i := s.index
	if s.make == nil {
		return func(b *column.Batch) error { return w.outs[i](b) }
	}
	return func(b *column.Batch) error {
		before := w.current
		w.current = s
		err := w.ops[i].process(b, w.outs[i])
		if err == nil {
			w.current = before
		}
		return err
	}
}

// guarded runs the worker, closes its operators and makes an error of a panic.
func (w *worker) guarded() (err error) {
	defer func() {
		if r := recover(); r != nil {
			name := "the job"
			switch {
			case w.current != nil:
				name = w.current.name
			case w.at < len(w.p.leaves):
				name = cmp.Or(w.p.leaves[w.at].leaf.what(), name)
			}
			err = internalError(name, r)
		}
	}()
	defer func() {
		for _, op := range w.ops {
			if op != nil {
				op.close()
			}
		}
	}()
	err = w.run()
	var le *leafError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &le):
		return toError(le.err, le.leaf.what())
	case w.current != nil:
		return toError(err, w.current.name)
	}
	return toError(err, "")
}

// internalError makes the error of a panic: the message has nothing of its text. The one panic that is
// none of ours is that of too much text for a vector.
func internalError(where string, panicked any) *Error {
	if e, ok := panicked.(*column.TooLongError); ok {
		return &Error{Row: -1, Msg: where + ": " + e.Error(), Hint: "lower 'sluice.batch-rows'", Err: e}
	}
	return &Error{Row: -1, Msg: "internal error (" + where + ")", Hint: "please report it",
		Internal: fmt.Sprintf("%v\n%s", panicked, debug.Stack())}
}

func (w *worker) run() error {
	for _, b := range w.p.builds {
		select {
		case <-b.ready:
		case <-w.ctx.Done():
			return context.Cause(w.ctx)
		}
	}
	for {
		if err := w.canceled(); err != nil {
			return err
		}
		i, m, err := w.p.take(w)
		if err != nil {
			return err
		}
		for ; w.at < i; w.at++ {
			if err := w.inputEnded(w.p.leaves[w.at].next); err != nil {
				return err
			}
		}
		if m == nil {
			break
		}
		l := w.p.leaves[i]
		w.current = nil
		if err := w.ended(m(w, w.into(l))); err != nil && !(l.stopped.Load() && isLeafError(err)) {
			return err
		}
		if w.end != nil {
			if err := w.end.endMorsel(); err != nil {
				return err
			}
		}
	}
	if w.end != nil {
		return w.end.finish()
	}
	return nil
}

func isLeafError(err error) bool {
	var le *leafError
	return errors.As(err, &le) || errors.Is(err, errStopped)
}

// inputEnded tells a stage that one of its inputs has ended, and finishes it after the last.
func (w *worker) inputEnded(s *stage) error {
	for s != nil && !w.finished[s.index] {
		if w.pending[s.index]--; w.pending[s.index] > 0 {
			return nil
		}
		w.finished[s.index] = true
		if op := w.ops[s.index]; op != nil {
			w.current = s
			w.src = nil
			if err := op.finish(w.outs[s.index]); err != nil {
				return w.ended(err)
			}
		}
		s = s.next
	}
	return nil
}

// ended looks whether err is an operator's wish to end early and grants it; other errors it returns.
func (w *worker) ended(err error) error {
	d, ok := err.(done)
	if !ok {
		return err
	}
	for i, op := range w.ops {
		if op == d.op {
			top := w.p.stages[i]
			w.p.stopBelow(top)
			for j := range w.p.stages[:i] {
				if feeds(w.p.stages[j], top) {
					w.finished[j] = true
				}
			}
			w.pending[i] = 1
			return w.inputEnded(top)
		}
	}
	panic("an operator ended that is not of this chain")
}

func feeds(s, top *stage) bool {
	for s = s.next; s != nil; s = s.next {
		if s == top {
			return true
		}
	}
	return false
}

// feed pushes a slot's batch into a chain, in parts when it has more rows than a batch is to have.
func (w *worker) feed(s *slot, push emit) error {
	before := w.src
	w.src = s
	err := w.split(&s.batch, push)
	w.src = before
	if w.p.job.rt.poison {
		s.poison()
	}
	return err
}

func (w *worker) split(b *column.Batch, push emit) error {
	most := min(w.p.job.graph.BatchRows, maxBatch)
	if b.N <= most {
		return push(b)
	}
	for at := 0; at < b.N; at += most {
		to := min(at+most, b.N)
		if b.N <= column.MaxRows {
			if err := push(window(b, at, to, &w.winSel, &w.win)); err != nil {
				return err
			}
			continue
		}
		if w.part == nil || len(w.part.own) != len(b.Cols) {
			w.part = newSlot(b.Types())
		}
		w.part.reset()
		w.part.add(b, at, to)
		if err := push(&w.part.batch); err != nil {
			return err
		}
	}
	return nil
}

// lend pushes a batch of the slot s, whose vectors may be taken; it is for operators that make batches.
func (w *worker) lend(s *slot, out emit) error {
	before := w.src
	w.src = s
	err := out(&s.batch)
	w.src = before
	if w.p.job.rt.poison {
		s.poison()
	}
	return err
}

// canceled returns the reason when the pipeline is to end; operators that take long without input ask.
func (w *worker) canceled() error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	return nil
}

// flush sends what the end of the chain has gathered.
func (w *worker) flush() error {
	if w.end == nil {
		return nil
	}
	return w.end.flushAll()
}

// scratch returns the worker's slot for a leaf.
func (w *worker) scratch(l leaf, ts []types.Type) *slot {
	s, ok := w.slots[l]
	if !ok {
		s = newSlot(ts)
		w.slots[l] = s
	}
	return s
}
