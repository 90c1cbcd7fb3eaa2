package exec

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/sluice-sql/sluice/connector"
)

const (
	// sourceSlots is how many batches a source reads ahead.
	sourceSlots = 4
	// idlePause is the least time between two reads of a source that has nothing.
	idlePause = 10 * time.Millisecond
	// discoverPause is the time between two looks for new splits.
	discoverPause = 100 * time.Millisecond
)

// streamSource reads a leaf in a goroutine of its own. Its slots go round between that and the driver; so the
// source waits when the driver is behind.
type streamSource struct {
	stream *stream
	leaf   *leafNode
	worker *worker
	rows   *atomic.Int64 // that have gone through the operators
	free   chan *slot

	// The driver's.
	ended     bool
	watermark time.Time
}

func newStreamSource(st *stream, p *pipeline, l *leafNode) *streamSource {
	s := &streamSource{stream: st, leaf: l, worker: p.workers[0], rows: new(atomic.Int64), free: make(chan *slot, sourceSlots)}
	if sc, ok := l.leaf.(*scan); ok {
		s.rows = sc.rows
		for range sourceSlots {
			s.free <- newSlot(sc.types)
		}
		return s
	}
	for range sourceSlots {
		s.free <- &slot{} // constants bring their own vectors
	}
	return s
}

// run reads to the end and says so.
func (s *streamSource) run() {
	defer s.stream.readers.Done()
	err := s.stream.job.guard(s.leaf.leaf.what(), func() error {
		switch l := s.leaf.leaf.(type) {
		case *scan:
			return s.readTable(l)
		case *valuesLeaf:
			return s.readValues(l)
		}
		return errors.New("this input cannot be read in streaming mode")
	})
	s.stream.in <- handover{source: s, seen: s.stream.job.rt.now(), end: true, err: err}
}

// slot waits for an empty slot.
func (s *streamSource) slot(ctx context.Context) (*slot, error) {
	select {
	case b := <-s.free:
		return b, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (s *streamSource) readValues(l *valuesLeaf) error {
	for _, b := range l.batches {
		to, err := s.slot(s.worker.ctx)
		if err != nil {
			return err
		}
		to.batch = *b
		to.batch.Shared = true
		s.stream.in <- handover{source: s, slot: to, seen: s.stream.job.rt.now()}
	}
	return nil
}

// readTable reads a table's splits, and those that a watching source finds while they are read and after.
func (s *streamSource) readTable(l *scan) error {
	r := &streamReading{source: s, scan: l, splits: l.splits}
	r.watcher, _ = l.source.(connector.Watcher)
	for {
		if len(r.splits) > 0 {
			splits := r.splits
			r.splits = nil
			if err := r.read(splits); err != nil {
				return err
			}
			continue
		}
		if r.watcher == nil {
			return nil
		}
		if err := r.idle(); err != nil {
			return err
		}
	}
}

// streamReading is the state of reading a table.
type streamReading struct {
	source  *streamSource
	scan    *scan
	splits  []connector.Split // that nobody reads yet
	watcher connector.Watcher // nil: there will be no more
	looked  time.Time         // for new splits
}

// look asks a watching source for new splits, now and then.
func (r *streamReading) look() error {
	if r.watcher == nil || time.Since(r.looked) < discoverPause {
		return nil
	}
	found, err := r.watcher.Discover(r.scan.ctx)
	r.looked = time.Now()
	r.splits = append(r.splits, found...)
	return err
}

// idle waits for new splits, telling the driver that there is nothing.
func (r *streamReading) idle() error {
	seen := r.source.stream.job.rt.now()
	if err := r.look(); err != nil || len(r.splits) > 0 {
		return err
	}
	if err := r.hand(nil, seen); err != nil {
		return err
	}
	return pause(r.scan.ctx, discoverPause)
}

// hand hands a slot over, or that there is nothing.
func (r *streamReading) hand(b *slot, seen time.Time) (err error) {
	if b == nil {
		if b, err = r.source.slot(r.scan.ctx); err != nil {
			return err
		}
	}
	r.source.stream.in <- handover{source: r.source, slot: b, seen: seen}
	return nil
}

// read reads some splits to their end.
func (r *streamReading) read(splits []connector.Split) (err error) {
	ctx := r.scan.ctx
	reader, err := r.scan.source.Reader(ctx, splits)
	if err != nil {
		return err
	}
	defer func() { err = also(err, reader.Close()) }()
	for {
		b, err := r.source.slot(ctx)
		if err != nil {
			return err
		}
		seen, began := r.source.stream.job.rt.now(), time.Now()
		status, err := reader.Read(ctx, &b.batch)
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		empty := b.batch.N == 0
		if err := r.hand(b, seen); err != nil {
			return err
		}
		if status == connector.End {
			return nil
		}
		if err := r.look(); err != nil {
			return err
		}
		if status == connector.Idle && empty {
			if err := pause(ctx, idlePause-time.Since(began)); err != nil {
				return err
			}
		}
	}
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
