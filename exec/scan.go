package exec

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/types"
)

// scan is the leaf that reads a table. With one worker one reader reads all splits. With several each split
// is a morsel and has a reader of its own; when there is but one split, the workers take turns reading a
// batch, which is the morsel, and work on their batches side by side.
type scan struct {
	spec        *job.Scan
	ref         catalog.Ref
	catalogs    *catalog.Instances
	types       []types.Type
	parallelism int
	rows        *atomic.Int64

	table  connector.Table
	source connector.Source
	splits []connector.Split
	at     int
	ctx    context.Context // of the readers; ends with stop
	cancel context.CancelCauseFunc

	// For one split and several workers.
	reader connector.Reader
	ended  bool
	mu     sync.Mutex
	free   []*slot
}

func (s *scan) what() string { return "read table " + s.spec.Table.Identifier.String() }

func (s *scan) prepare(ctx context.Context) error {
	c, err := s.catalogs.Catalog(ctx, s.ref)
	if err != nil {
		return err
	}
	def, err := catalog.FromProperties(s.spec.Table.Properties)
	if err != nil {
		return err
	}
	if s.table, err = s.catalogs.Registry.Table(ctx, c, s.spec.Table.Identifier, def); err != nil {
		return err
	}
	t, ok := s.table.(connector.Scannable)
	if !ok {
		return fmt.Errorf("the table cannot be read")
	}
	filters := make([]expr.Expr, len(s.spec.Filters))
	for i, f := range s.spec.Filters {
		filters[i] = f.Expr
	}
	s.source, err = t.Source(ctx, connector.Scan{Columns: s.spec.Columns, Filters: filters, Limit: s.spec.Limit})
	return err
}

func (s *scan) open(ctx context.Context) (err error) {
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	s.splits, err = s.source.Splits(s.ctx, s.parallelism)
	return err
}

func (s *scan) stop() {
	if s.cancel != nil {
		s.cancel(errStopped)
	}
}

func (s *scan) close() error {
	var errs []error
	if s.reader != nil {
		errs = append(errs, s.reader.Close())
		s.reader = nil
	}
	if s.source != nil {
		errs = append(errs, s.source.Close())
		s.source = nil
	}
	if s.table != nil {
		errs = append(errs, s.table.Close())
		s.table = nil
	}
	if s.cancel != nil {
		s.cancel(errStopped)
	}
	return errors.Join(errs...)
}

func (s *scan) next(*worker) (morsel, error) {
	if s.parallelism > 1 && len(s.splits) == 1 {
		return s.nextBatch()
	}
	if s.at == len(s.splits) {
		return nil, nil
	}
	splits := s.splits[s.at:]
	if s.parallelism > 1 {
		splits = splits[:1]
	}
	s.at += len(splits)
	return func(w *worker, push emit) error { return s.read(w, splits, push) }, nil
}

// nextBatch reads a batch of the only split and makes a morsel of it.
func (s *scan) nextBatch() (_ morsel, err error) {
	if s.reader == nil && !s.ended {
		if s.reader, err = s.source.Reader(s.ctx, s.splits); err != nil {
			return nil, err
		}
	}
	for !s.ended {
		b := s.slot()
		status, err := s.reader.Read(s.ctx, &b.batch)
		if err == nil && s.ctx.Err() != nil {
			err = context.Cause(s.ctx)
		}
		if err != nil {
			return nil, err
		}
		s.ended = status == connector.End
		if b.batch.N == 0 {
			s.recycle(b)
			continue
		}
		s.rows.Add(int64(b.batch.N))
		return func(w *worker, push emit) error {
			defer s.recycle(b)
			return w.feed(b, push)
		}, nil
	}
	return nil, nil
}

func (s *scan) slot() *slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 {
		b := s.free[n-1]
		s.free = s.free[:n-1]
		b.reset()
		return b
	}
	return newSlot(s.types)
}

func (s *scan) recycle(b *slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, b)
}

func (s *scan) read(w *worker, splits []connector.Split, push emit) (err error) {
	r, err := s.source.Reader(s.ctx, splits)
	if err != nil {
		return &leafError{s, err}
	}
	defer func() {
		cerr := r.Close()
		le, ours := err.(*leafError)
		switch {
		case cerr == nil:
		case err == nil:
			err = &leafError{s, cerr}
		case ours && !errors.Is(err, errStopped):
			le.err = also(le.err, cerr)
		}
	}()
	b := w.scratch(s, s.types)
	for {
		b.reset()
		status, err := r.Read(s.ctx, &b.batch)
		if err != nil {
			return &leafError{s, err}
		}
		if b.batch.N > 0 {
			s.rows.Add(int64(b.batch.N))
			if err := w.feed(b, push); err != nil {
				return err
			}
		}
		if s.ctx.Err() != nil {
			return &leafError{s, context.Cause(s.ctx)}
		}
		switch status {
		case connector.End:
			return nil
		case connector.Idle:
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
}

// leafError is an error of a leaf, as opposed to one of the operators above it.
type leafError struct {
	leaf leaf
	err  error
}

func (e *leafError) Error() string { return e.err.Error() }
func (e *leafError) Unwrap() error { return e.err }
