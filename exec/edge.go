package exec

import (
	"context"
	"sync"

	"github.com/sluice-sql/sluice/types"
)

// edge carries batches from the workers of one pipeline to a receiver, or by hash to several.
//
// Order. A worker takes morsels in rising number, and the pipeline notes in order which worker took
// which. With a lane for each worker the receiver reads the lane of the worker that has the lowest morsel
// until that morsel's end mark: source order is restored without numbers on the batches. The worker that
// holds the lowest morsel can always go on, since it is the one that is being read; the others wait when
// their lane is full. Whatever workers hand on after the last morsel follows in the workers' order.
//
// An edge by hash has a lane for each receiver, which all workers fill; it keeps no order.
type edge struct {
	types []types.Type
	rows  int // of a full batch
	lanes []*lane
	order chan int // the worker of each morsel in turn; closed after the last; nil when there is but one lane to read

	from *pipeline // to be stopped when nobody reads any more
}

// receiver is one reading end of an edge, used by one goroutine at a time.
type receiver struct {
	edge  *edge
	lanes []*lane
	order chan int
	cur   int  // lane being read; -1: the next in order
	tail  bool // all morsels are read, the rest of the lanes is
	held  *slot
	in    *lane // of held
}

// receiver returns the reading end of an edge that has one.
func (e *edge) receiver() *receiver {
	r := &receiver{edge: e, lanes: e.lanes, order: e.order, cur: -1}
	if e.order == nil {
		r.cur, r.tail = 0, true
	}
	return r
}

// part returns the i-th reading end of an edge by hash.
func (e *edge) part(i int) *receiver {
	return &receiver{edge: e, lanes: e.lanes[i : i+1], tail: true}
}

// laneLimits bound what waits in a lane: batches and bytes. One batch always fits.
type laneLimits struct {
	batches int
	bytes   int64
}

// A lane must hold a morsel or two for workers to run ahead of one another; bytes bound wide rows.
var defaultLimits = laneLimits{batches: 32, bytes: 6 << 20}

// lane is a bounded queue with the free slots that come back on it.
type lane struct {
	limits laneLimits
	poison bool

	mu      sync.Mutex
	items   []item
	bytes   int64
	senders int // that have not closed
	free    []*slot

	wakeSend, wakeRecv chan struct{} // one token each: look again
}

// item is a batch, the end of a morsel, or both.
type item struct {
	slot  *slot
	bytes int64
	end   bool
}

func newLane(limits laneLimits, poison bool, senders int) *lane {
	return &lane{limits: limits, poison: poison, senders: senders, wakeSend: make(chan struct{}, 1), wakeRecv: make(chan struct{}, 1)}
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// slot returns an empty slot.
func (l *lane) slot(ts []types.Type) *slot {
	l.mu.Lock()
	var s *slot
	if n := len(l.free); n > 0 {
		s = l.free[n-1]
		l.free = l.free[:n-1]
	}
	l.mu.Unlock()
	if s == nil {
		return newSlot(ts)
	}
	s.reset()
	return s
}

// recycle takes a slot back for the senders; when there are none any more, its memory goes. Of slots that
// grew large one is enough: a lane has room for few of them.
func (l *lane) recycle(s *slot) {
	if l.poison {
		s.poison()
	}
	l.mu.Lock()
	if l.senders > 0 && (len(l.free) == 0 || s.room() <= l.limits.bytes/8) {
		l.free = append(l.free, s)
	}
	l.mu.Unlock()
}

func (l *lane) send(ctx context.Context, it item) error {
	if it.slot != nil {
		it.bytes = it.slot.batch.Size()
	}
	for {
		l.mu.Lock()
		n := len(l.items)
		if n == 0 || n < l.limits.batches && l.bytes+it.bytes <= l.limits.bytes {
			l.items = append(l.items, it)
			l.bytes += it.bytes
			more := n+1 < l.limits.batches
			l.mu.Unlock()
			wake(l.wakeRecv)
			if more {
				wake(l.wakeSend) // another sender of this lane may have room, too
			}
			return nil
		}
		l.mu.Unlock()
		select {
		case <-l.wakeSend:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// close ends the lane when it was the last of its senders.
func (l *lane) close() {
	l.mu.Lock()
	if l.senders--; l.senders == 0 {
		l.free = nil
	}
	l.mu.Unlock()
	wake(l.wakeRecv)
}

// recv returns the next item; ok is false at the end. It ends with ctx or with user.
func (l *lane) recv(ctx, user context.Context) (it item, ok bool, err error) {
	for {
		l.mu.Lock()
		if len(l.items) > 0 {
			it = l.items[0]
			n := copy(l.items, l.items[1:])
			l.items[n] = item{}
			l.items = l.items[:n]
			l.bytes -= it.bytes
			l.mu.Unlock()
			wake(l.wakeSend)
			return it, true, nil
		}
		ended := l.senders == 0
		l.mu.Unlock()
		if ended {
			return item{}, false, nil
		}
		select {
		case <-l.wakeRecv:
		case <-ctx.Done():
			return item{}, false, context.Cause(ctx)
		case <-user.Done():
			return item{}, false, context.Cause(user)
		}
	}
}

// recv returns the next batch in order, nil at the end. It belongs to the caller until the next recv.
// The wait ends with either context.
func (r *receiver) recv(ctx, user context.Context) (*slot, error) {
	r.release()
	s, l, err := r.next(ctx, user)
	r.held, r.in = s, l
	return s, err
}

// release gives the batch last received back to its lane.
func (r *receiver) release() {
	if r.held != nil {
		r.in.recycle(r.held)
		r.held = nil
	}
}

// next is recv for a caller that recycles the slot in the lane itself.
func (r *receiver) next(ctx, user context.Context) (*slot, *lane, error) {
	for {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if r.cur < 0 && !r.tail {
			select {
			case w, ok := <-r.order:
				if ok {
					r.cur = w
				} else {
					r.tail, r.cur = true, 0
				}
			case <-ctx.Done():
				return nil, nil, context.Cause(ctx)
			case <-user.Done():
				return nil, nil, context.Cause(user)
			}
		}
		if r.cur >= len(r.lanes) {
			return nil, nil, nil
		}
		l := r.lanes[r.cur]
		it, ok, err := l.recv(ctx, user)
		if err != nil {
			return nil, nil, err
		}
		switch {
		case !ok && r.tail:
			r.cur++
		case !ok || it.end && !r.tail: // a lane ends before its morsel does only when its worker is stopped
			r.cur = -1
		}
		if it.slot != nil {
			return it.slot, l, nil
		}
	}
}
