package exec

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/internal/failpoint"
	"github.com/sluice-sql/sluice/job"
)

// sink is the task that writes: the writer of a transaction pulls batches from an edge in this task's
// goroutine. NULL in a NOT NULL column fails the job before the batch is handed over.
type sink struct {
	job     *Job
	spec    *job.Sink
	in      *receiver
	tx      connector.Transaction
	subtask int
	rows    *atomic.Int64
	seen    int64
	err     error // of next
}

func (s *sink) start() {
	s.job.tasks.Add(1)
	go func() {
		defer s.job.tasks.Done()
		if err := s.guarded(); err != nil {
			s.job.fail(err)
		}
	}()
}

func (s *sink) what() string { return "write table " + s.spec.Table.String() }

func (s *sink) guarded() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = internalError("the writer of table "+s.spec.Table.String(), r)
		}
	}()
	if err := s.write(s.job.ctx); err != nil {
		if s.err != nil {
			return toError(s.err, "")
		}
		e := *toError(err, s.what())
		if e.Table == "" {
			e.Table = s.spec.Table.String()
		}
		return &e
	}
	return nil
}

func (s *sink) write(ctx context.Context) (err error) {
	w, err := s.tx.Writer(ctx, s.subtask)
	if err != nil {
		return err
	}
	defer func() {
		err = also(err, w.Close())
		s.in.release()
	}()
	ended := false
	err = w.Write(ctx, func() (*column.Batch, error) {
		b, err := s.next(ctx)
		ended = b == nil && err == nil
		return b, err
	})
	if err == nil && !ended {
		err = fmt.Errorf("the writer stopped before the last row")
	}
	return err
}

func (s *sink) next(ctx context.Context) (*column.Batch, error) {
	sl, err := s.in.recv(ctx, ctx)
	if err == nil {
		err = failpoint.Hit("read.batch") // as an error of the query, or of its end
	}
	if sl == nil || err != nil {
		s.err = err
		return nil, err
	}
	b := &sl.batch
	for _, c := range s.spec.NotNull {
		if c >= len(b.Cols) {
			continue
		}
		if row := b.Cols[c].FirstNull(); row >= 0 {
			s.err = notNullError(s.spec, b, row, s.seen+int64(row)+1, c)
			return nil, s.err
		}
	}
	s.seen += int64(b.N)
	s.rows.Add(int64(b.N))
	return b, nil
}

// notNullError says that row i of a batch, the n-th that is written, has NULL in column c, where that may not be.
func notNullError(spec *job.Sink, b *column.Batch, i int, n int64, c int) error {
	e := &Error{Table: spec.Table.String(), Row: n}
	if c < len(spec.Names) {
		e.Column = spec.Names[c]
	}
	e.Msg = fmt.Sprintf("column %s of table %s is NOT NULL, but ", connector.QuoteName(e.Column), e.Table)
	if len(spec.Key) == 0 {
		e.Msg += fmt.Sprintf("row %d has NULL", n)
	} else {
		e.Msg += changedRow(spec.Key, b, i) + " would get NULL"
	}
	return e
}

// changedRow names the row of a table that row i of a batch changes.
func changedRow(key []string, b *column.Batch, i int) string {
	if slices.Contains(key, "") {
		return "a row"
	}
	const most = 80 // bytes of a value
	list := make([]string, len(key))
	for k, name := range key {
		v := b.Cols[k]
		value := "NULL"
		if !v.IsNull(i) {
			value = string(column.AppendText(nil, v, i, nil))
			if len(value) > most {
				value = strings.ToValidUTF8(value[:most], "") + "…"
			}
			if v.Type.IsString() {
				value = "'" + strings.ReplaceAll(value, "'", "''") + "'"
			}
		}
		list[k] = name + " = " + value
	}
	return "the row with " + strings.Join(list, ", ")
}
