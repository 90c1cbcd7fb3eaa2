package exec

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/exec/store"
	"github.com/sluice-sql/sluice/hooks"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/types"
)

// streamSink is the end of a chain that writes a table. It buffers what comes until the next checkpoint, which
// writes it in one short transaction. What the buffer holds is gone when the job fails before.
type streamSink struct {
	stream *stream
	spec   *job.Sink
	target *hooks.Spec
	table  connector.Table
	next   connector.Transaction // made for the checkpoint to come; nil: not yet
	buffer epochBuffer
	limit  int64 // bytes at which the checkpoint is brought forward
	seen   int64 // rows
	memory *memory
	// evidence is by what the commit of the last transaction can be asked for; "" when it is not.
	evidence string
	told     string // what a commit that happened had to tell last
}

// epochBuffer keeps the rows between two checkpoints.
type epochBuffer interface {
	// add takes the rows of a batch, which is lent; from is the slot whose vectors it may have.
	add(b *column.Batch, from *slot) error
	empty() bool
	bytes() int64
	// drain returns the next batch to be written, nil after the last. It is dense, and its vectors are good
	// until the next call.
	drain() (*column.Batch, error)
	// rewind makes drain begin again with the first batch.
	rewind()
	// reset makes the buffer empty.
	reset()
}

const (
	// epochBytes is the size at which a buffer is written ahead of time. It is a second or so of what a store
	// takes.
	epochBytes = 64 << 20
	// epochShare is the part of the memory budget that a buffer may take before it is.
	epochShare = 8
)

// A store that others use may keep new readers out while a transaction waits for those that are there. So the
// wait is short: then the transaction is rolled back, the others get a pause, and the same rows are written
// again.
const (
	firstWait   = 200 * time.Millisecond
	longWait    = time.Second
	pauseOfBusy = 250 * time.Millisecond
)

// streamSink adds the chain of a sink to a streaming job.
func (b *builder) streamSink(v *job.Vertex, spec *job.Sink) error {
	in, err := b.inputs(v, 1)
	if err != nil {
		return err
	}
	b.used[v.ID] = true
	st := b.job.stream
	s := &streamSink{stream: st, spec: spec, target: &b.graph.Hooks[spec.Hook], limit: epochBytes, memory: b.newMemory("the buffer of table " + spec.Table.String())}
	if b.memory != nil {
		s.limit = min(s.limit, b.memory.Limit()/epochShare)
	}
	ts := vertexTypes(&b.graph.Vertices[in[0].From])
	if len(spec.Upsert) > 0 {
		s.buffer = newUpsertBuffer(ts, spec.Upsert, b.graph.BatchRows, s.hold)
	} else {
		s.buffer = newAppendBuffer(ts, min(b.graph.BatchRows, maxBatch))
	}
	st.sinks = append(st.sinks, s)
	p := b.newPipeline(1)
	p.top = func(batch *column.Batch) error { return s.add(batch, p.workers[0].src) }
	_, err = b.grow(p, in[0].From, nil)
	return err
}

func (s *streamSink) what() string { return "write table " + s.spec.Table.String() }

// fail gives an error the table's name.
func (s *streamSink) fail(err error) *Error {
	e := *toError(err, s.what())
	if e.Table == "" {
		e.Table = s.spec.Table.String()
	}
	return &e
}

// prepare opens the table and makes the first transaction, which finds out whether the table can be written
// in this way at all. It touches nothing.
func (s *streamSink) prepare(ctx context.Context) error {
	in := s.stream.job.catalogs
	c, err := in.Catalog(ctx, s.target.Catalog)
	if err != nil {
		return err
	}
	def, err := catalog.FromProperties(s.target.Properties)
	if err != nil {
		return err
	}
	if s.table, err = in.Registry.Table(ctx, c, s.target.Table, def); err != nil {
		return err
	}
	if s.next, err = s.transaction(ctx); err != nil {
		return err
	}
	if t, ok := s.next.(connector.EpochChecker); ok {
		return t.CheckEpochs(ctx)
	}
	return nil
}

func (s *streamSink) transaction(ctx context.Context) (connector.Transaction, error) {
	insert := connector.Insert{Columns: s.target.Columns, ReadsSame: s.target.ReadsSame}
	switch {
	case len(s.spec.Upsert) > 0:
		if t, ok := s.table.(connector.Upserter); ok {
			return t.Upsert(ctx, connector.Upsert{Columns: insert.Columns, Key: s.spec.Upsert, ReadsSame: insert.ReadsSame})
		}
		return nil, errors.New("its rows cannot be replaced and deleted by key")
	case s.spec.Changelog:
		if t, ok := s.table.(connector.ChangelogWritable); ok {
			return t.Changelog(ctx, insert)
		}
		return nil, errors.New("it takes no changes of rows")
	}
	if t, ok := s.table.(connector.Writable); ok {
		return t.Transaction(ctx, insert)
	}
	return nil, errors.New("it cannot be written")
}

// close forgets what is buffered and closes the table.
func (s *streamSink) close() error {
	s.buffer.reset()
	s.memory.free()
	if s.table == nil {
		return nil
	}
	t := s.table
	s.table = nil
	return t.Close()
}

// add is the end of the chain.
func (s *streamSink) add(b *column.Batch, from *slot) error {
	n := b.Rows()
	if n == 0 {
		return nil
	}
	if err := s.check(b); err != nil {
		return err
	}
	s.seen += int64(n)
	if err := s.buffer.add(b, from); err != nil {
		return err
	}
	return s.hold(s.buffer.bytes())
}

func (s *streamSink) hold(n int64) error { return s.memory.hold(n) }

// check looks for NULLs in NOT NULL columns of rows that are to be there, and for changes where only rows can
// be added.
func (s *streamSink) check(b *column.Batch) error {
	if b.Kind != nil && !s.spec.Changelog && len(s.spec.Upsert) == 0 {
		for k := range b.Rows() {
			if kind := b.Kind[b.Row(k)]; kind != types.Insert {
				return s.fail(&Error{Row: s.seen + int64(k) + 1, Msg: fmt.Sprintf("a row of kind %s came, but table %s can only be added to", kind, s.spec.Table)})
			}
		}
	}
	for _, c := range s.spec.NotNull {
		if c >= len(b.Cols) || b.Cols[c].FirstNull() < 0 {
			continue
		}
		for k := range b.Rows() {
			i := b.Row(k)
			if b.Cols[c].IsNull(i) && (b.Kind == nil || b.Kind[i] == types.Insert || b.Kind[i] == types.UpdateAfter) {
				return notNullError(s.spec, b, i, s.seen+int64(k)+1, c)
			}
		}
	}
	return nil
}

// full reports whether the buffer is to be written before its time: it is large, or another batch like those
// it has might not fit in the memory budget.
func (s *streamSink) full() bool {
	if s.buffer.empty() {
		return false
	}
	n := s.buffer.bytes()
	return n >= s.limit || s.memory.hold(n+s.limit/8) != nil
}

// commit writes the buffer, which is not empty, in one transaction: the first that others of the store let
// through. The error of a commit of unknown outcome is a doubtError.
func (s *streamSink) commit(ctx context.Context) error {
	j := s.stream.job
	j.setWaiting("the store to keep the rows", false)
	defer j.setWaiting("", false)
	held := ""
	for wait := firstWait; ; wait = min(2*wait, longWait) {
		busy, err := s.attempt(ctx, wait)
		switch {
		case err == nil && busy == nil:
			return nil
		case busy != nil:
			held = busy.Held
		case ctx.Err() == nil || held == "" || errors.As(err, new(*doubtError)):
			return err
		}
		j.setWaiting(held, true)
		t := time.NewTimer(pauseOfBusy)
		select {
		case <-ctx.Done():
			t.Stop()
			return s.fail(errors.New("the rows since the last checkpoint were not written: " + held))
		case <-t.C:
		}
		s.buffer.rewind()
	}
}

// attempt writes the buffer in one transaction, which waits for others no longer than told. busy is set when
// it has written nothing because of them, and they are let in.
func (s *streamSink) attempt(ctx context.Context, wait time.Duration) (busy *connector.BusyError, _ error) {
	j := s.stream.job
	tx := s.next
	s.next = nil
	if tx == nil {
		err := j.guard(s.what(), func() (err error) {
			tx, err = s.transaction(ctx)
			return err
		})
		if err != nil {
			return nil, s.fail(err)
		}
	}
	if p, ok := tx.(connector.Patient); ok {
		p.WaitAtMost(wait)
	}
	s.evidence = ""
	if t, ok := tx.(connector.Evident); ok {
		t.NoteEvidence(func(evidence string) error { s.evidence = evidence; return nil })
	}
	id := s.stream.nextTransaction()
	rows, err := s.write(ctx, tx, id)
	outcome := connector.NotDone
	if err == nil {
		outcome = connector.Unknown
		err = j.guard(s.what(), func() (err error) {
			outcome, err = tx.Commit(ctx)
			return err
		})
		if outcome != connector.Done && err == nil {
			err = errors.New("the store gave no reason")
		}
	}
	switch outcome {
	case connector.Done:
		s.buffer.reset()
		s.memory.free()
		j.written.Add(rows)
		if err != nil && err.Error() != s.told { // it may be so at every checkpoint
			s.told = err.Error()
			j.warn("committed", err)
		}
		return nil, nil
	case connector.Unknown:
		s.stream.noteDoubt(s, tx, id)
		return nil, &doubtError{s.fail(err)}
	}
	aborted := j.guard(s.what(), func() error { return tx.Abort(context.Background()) })
	if aborted == nil && errors.As(err, &busy) {
		return busy, nil
	}
	e := s.fail(err)
	if aborted != nil {
		e.Detail += fmt.Sprintf("; the clean-up failed, too: %s", aborted)
		e.Msg += e.Detail
		e.Err = errors.Join(e.Err, aborted)
	}
	return nil, e
}

// write begins the transaction, hands it the buffer and seals it.
func (s *streamSink) write(ctx context.Context, tx connector.Transaction, id connector.JobID) (rows int64, err error) {
	err = s.stream.job.guard(s.what(), func() error {
		if err := tx.Begin(ctx, id); err != nil {
			return err
		}
		if err := s.pour(ctx, tx); err != nil {
			return err
		}
		if rows, err = tx.Seal(ctx); err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return err
	})
	return rows, err
}

// pour hands the buffer to a writer of the transaction.
func (s *streamSink) pour(ctx context.Context, tx connector.Transaction) (err error) {
	w, err := tx.Writer(ctx, 0)
	if err != nil {
		return err
	}
	defer func() { err = also(err, w.Close()) }()
	ended := false
	err = w.Write(ctx, func() (*column.Batch, error) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		b, err := s.buffer.drain()
		ended = b == nil && err == nil
		return b, err
	})
	if err == nil && !ended {
		err = errors.New("the writer stopped before the last row")
	}
	return err
}

// doubtError says that it cannot be known whether a transaction was committed.
type doubtError struct{ cause *Error }

func (e *doubtError) Error() string { return e.cause.Error() }
func (e *doubtError) Unwrap() error { return e.cause }

// noteDoubt leaves a record of a transaction in doubt, so that what it left behind is not swept.
func (st *stream) noteDoubt(s *streamSink, tx connector.Transaction, id connector.JobID) {
	j := st.job
	if j.rt.Store == nil {
		return
	}
	log, err := j.rt.Store.Begin(id, store.Record{Type: store.Begin, Name: j.name,
		Targets: []store.Target{{Table: s.spec.Table, Store: connector.ScrubURL(tx.Key())}}})
	if err == nil && s.evidence != "" {
		err = log.Append(store.Record{Type: store.Evidence, Evidence: s.evidence})
	}
	if log != nil {
		err = errors.Join(err, log.Append(store.Record{Type: store.Done, State: string(InDoubt)}), log.Close(false))
	}
	j.warn("journal", err)
}
