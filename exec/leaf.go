package exec

import (
	"context"
	"fmt"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// leaf is where rows enter a pipeline. It hands out morsels: parts of its rows, in order.
type leaf interface {
	// prepare looks up what is to be read, without reading; open, called later, fixes what is read.
	prepare(ctx context.Context) error
	open(ctx context.Context) error
	// next returns the next morsel, or nil at the end. The pipeline's workers call it one at a time.
	next(w *worker) (morsel, error)
	// stop ends the leaf, and whatever feeds it, before its end.
	stop()
	// close is called once no worker uses the leaf any more.
	close() error
	// what names the leaf's work in errors.
	what() string
}

// morsel pushes its rows into the chain of a worker.
type morsel func(w *worker, push emit) error

// valuesLeaf yields constant rows, a batch a morsel.
type valuesLeaf struct {
	batches []*column.Batch
	at      int
}

func newValues(encoded [][]byte, out []types.Type) (*valuesLeaf, error) {
	l := &valuesLeaf{}
	for _, e := range encoded {
		b, err := column.DecodeBatch(e)
		if err != nil {
			return nil, fmt.Errorf("constant rows: %w", err)
		}
		if len(b.Cols) != len(out) {
			return nil, fmt.Errorf("constant rows have %d columns, not %d", len(b.Cols), len(out))
		}
		l.batches = append(l.batches, b)
	}
	return l, nil
}

func (l *valuesLeaf) prepare(context.Context) error { return nil }
func (l *valuesLeaf) open(context.Context) error    { return nil }
func (l *valuesLeaf) stop()                         {}
func (l *valuesLeaf) close() error                  { return nil }
func (l *valuesLeaf) what() string                  { return "VALUES" }

func (l *valuesLeaf) next(*worker) (morsel, error) {
	if l.at == len(l.batches) {
		return nil, nil
	}
	b := l.batches[l.at]
	l.at++
	return func(w *worker, push emit) error {
		s := &slot{batch: *b}
		s.batch.Shared = true
		return w.feed(s, push)
	}, nil
}

// upstream is what leaves that read an edge share: the context of their reads, which ends with stop.
type upstream struct {
	edge   *edge
	ctx    context.Context
	cancel context.CancelCauseFunc
}

func (u *upstream) prepare(context.Context) error { return nil }
func (u *upstream) what() string                  { return "" }

func (u *upstream) close() error {
	if u.cancel != nil {
		u.cancel(errStopped)
	}
	return nil
}

func (u *upstream) open(ctx context.Context) error {
	u.ctx, u.cancel = context.WithCancelCause(ctx)
	return nil
}

func (u *upstream) stop() {
	if u.cancel != nil {
		u.cancel(errStopped)
	}
	u.edge.from.halt()
}

// drain reads one receiving end to its end.
func (u *upstream) drain(r *receiver) morsel {
	return func(w *worker, push emit) error {
		defer r.release()
		for {
			s, err := r.recv(u.ctx, u.ctx)
			if s == nil || err != nil {
				return err
			}
			if err := w.feed(s, push); err != nil {
				return err
			}
		}
	}
}

// edgeLeaf reads an edge. With one worker the whole edge is one morsel; with several each batch is.
type edgeLeaf struct {
	upstream
	r     *receiver
	taken bool
}

func (l *edgeLeaf) next(w *worker) (morsel, error) {
	l.edge.from.start()
	if w.p.parallelism == 1 {
		if l.taken {
			return nil, nil
		}
		l.taken = true
		return l.drain(l.r), nil
	}
	s, from, err := l.r.next(l.ctx, l.ctx)
	if s == nil || err != nil {
		return nil, err
	}
	return func(w *worker, push emit) error {
		defer from.recycle(s)
		return w.feed(s, push)
	}, nil
}

// hashLeaf is the reading side of an edge by hash: each worker reads its own part.
type hashLeaf struct {
	upstream
	taken []bool // by worker
}

func (l *hashLeaf) next(w *worker) (morsel, error) {
	l.edge.from.start()
	if l.taken[w.id] {
		return nil, nil
	}
	l.taken[w.id] = true
	return l.drain(l.edge.part(w.id)), nil
}
