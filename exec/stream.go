package exec

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sluice-sql/sluice/connector"
)

// stream runs a job in streaming mode. One goroutine, the driver, has all operators: it takes the batches
// that the sources hand over, in the order in which they come, and pushes each through its chain into a
// sink's buffer, or to whoever collects the rows. Each source has a goroutine of its own that reads ahead as
// far as it has slots.
//
// A checkpoint is a moment between two batches: by then all that was taken has gone through all operators,
// so no barrier has to travel. The driver then writes what each sink has buffered in one transaction. While
// it waits for input no transaction is open.
type stream struct {
	job     *Job
	sources []*streamSource
	sinks   []*streamSink

	in      chan handover
	readers sync.WaitGroup // the sources' goroutines
	open    int            // sources that have not ended
	stop    chan struct{}  // closed by Job.Stop
	once    sync.Once
	begun   uint32     // transactions
	created *madeTable // by CREATE TABLE AS; nil: none

	mu    sync.Mutex
	stats streamStats
}

// streamStats is what a streaming job tells of itself beside its rows.
type streamStats struct {
	checkpoints int64
	last        time.Time
	watermark   time.Time
}

// handover is what a source gives to the driver.
type handover struct {
	source *streamSource
	slot   *slot     // its batch may be empty; nil at the end
	seen   time.Time // when the source was asked for it
	end    bool
	err    error // why it ended
}

// FinalWatermark is the watermark of a streaming job whose inputs have all ended.
func FinalWatermark() time.Time { return time.UnixMilli(1<<63 - 1).UTC() }

// start makes the sources read.
func (st *stream) start() {
	for _, p := range st.job.pipelines {
		for _, l := range p.leaves {
			st.sources = append(st.sources, newStreamSource(st, p, l))
		}
	}
	st.open = len(st.sources)
	// A source has at most its slots and its end on the way, so that none ever waits here.
	st.in = make(chan handover, len(st.sources)*(sourceSlots+1))
	for _, s := range st.sources {
		st.readers.Add(1)
		go s.run()
	}
}

// drive is the work of the driver: to the end of the input, to a stop, or to the first error.
func (st *stream) drive() error {
	j := st.job
	tick, rest := j.rt.every(st.interval())
	defer rest()
	for st.open > 0 {
		select {
		case h := <-st.in:
			if err := st.take(h); err != nil {
				return err
			}
			if st.full() {
				if err := st.checkpoint(); err != nil {
					return err
				}
			}
		case <-tick:
			if err := st.checkpoint(); err != nil {
				return err
			}
		case <-st.stop:
			return st.finish()
		case <-j.ctx.Done():
			return context.Cause(j.ctx)
		}
		if j.ctx.Err() != nil {
			return context.Cause(j.ctx)
		}
	}
	return st.finish()
}

// take pushes what a source hands over through its chain.
func (st *stream) take(h handover) error {
	s, w := h.source, h.source.worker
	if !h.end {
		if n := h.slot.batch.N; n > 0 && !s.leaf.stopped.Load() {
			s.rows.Add(int64(n))
			w.current = nil
			if err := w.ended(w.feed(h.slot, w.into(s.leaf))); err != nil {
				return st.named(w, err)
			}
			if err := w.flush(); err != nil { // whoever collects the rows waits for them
				return err
			}
		}
		h.slot.reset()
		s.free <- h.slot
		st.seen(s, h.seen)
		return nil
	}
	s.ended = true
	st.open--
	if h.err != nil && !s.leaf.stopped.Load() {
		return toError(h.err, s.leaf.leaf.what())
	}
	// What has been read to its end is let go of, so that others, and this job's sinks, can write it.
	if err := s.leaf.leaf.close(); err != nil {
		return toError(err, "close after reading: "+s.leaf.leaf.what())
	}
	if s.leaf.next != nil {
		if err := w.inputEnded(s.leaf.next); err != nil {
			return st.named(w, err)
		}
		if err := w.flush(); err != nil {
			return err
		}
	}
	st.seen(s, h.seen)
	return nil
}

// named gives an error the name of the operator that met it.
func (st *stream) named(w *worker, err error) error {
	if w.current != nil {
		return toError(err, w.current.name)
	}
	return err
}

// seen moves the watermark on. That of a source is the instant of its last read, once the rows of that have
// gone through; so it goes on while there is no input, and whatever the operators drop. The job's is the
// least of those of the sources that have not ended.
func (st *stream) seen(s *streamSource, at time.Time) {
	s.watermark = at
	least := FinalWatermark()
	for _, o := range st.sources {
		if !o.ended && o.watermark.Before(least) {
			least = o.watermark
		}
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if least.After(st.stats.watermark) {
		st.stats.watermark = least
	}
}

// full reports whether a sink has buffered so much that the checkpoint must not wait.
func (st *stream) full() bool {
	for _, s := range st.sinks {
		if s.full() {
			return true
		}
	}
	return false
}

// checkpoint writes what the sinks have buffered.
func (st *stream) checkpoint() error {
	written := ""
	for _, s := range st.sinks {
		if s.buffer.empty() {
			continue
		}
		if err := s.commit(st.job.ctx); err != nil {
			var e *Error
			if errors.As(err, &e) && written != "" {
				e.Msg += "; table " + written + " had been written by then"
			}
			return err
		}
		written = s.spec.Table.String()
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.stats.checkpoints++
	st.stats.last = st.job.rt.now()
	return nil
}

// finish is the last checkpoint. What was read ahead and not taken is not part of it.
func (st *stream) finish() error {
	if err := st.checkpoint(); err != nil {
		return err
	}
	for _, p := range st.job.pipelines {
		if end := p.workers[0].end; end != nil {
			if err := end.finish(); err != nil {
				return err
			}
		}
	}
	return nil
}

// nextTransaction returns the id of the job's next transaction. It differs from the job's only in its last
// four bytes, so that what a transaction leaves behind is known to be the job's (see owns), and what two of
// them make never has one name.
func (st *stream) nextTransaction() connector.JobID {
	st.begun++
	id := st.job.id
	n := len(id)
	for i := range 4 {
		id[n-1-i] ^= byte(st.begun >> (8 * i))
	}
	return id
}

// owns reports whether id is the job's or that of one of its transactions.
func (j *Job) owns(id connector.JobID) bool {
	return id == j.id || j.stream != nil && j.id.SameJob(id)
}
