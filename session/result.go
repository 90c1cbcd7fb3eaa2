package session

import (
	"context"
	"time"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/exec"
	"github.com/sluice-sql/sluice/types"
)

// ResultKind says what a statement gave.
type ResultKind uint8

// The kinds of result.
const (
	OK        ResultKind = iota // done, nothing to show
	Rows                        // rows, through Next
	Written                     // a job wrote Affected rows
	Submitted                   // a job writes rows in the background
	Notice                      // done, and Message is worth saying
	Quit                        // the user wants to leave
	Clear                       // the user wants a clear screen
	Help                        // Message is the help text
	Source                      // Message is the name of a file whose statements are to be run
)

// Result is what a statement gave. Close it.
type Result struct {
	Kind   ResultKind
	Schema types.Schema // of Rows
	// IsQuery tells the rows of a SELECT from those of SHOW, DESCRIBE and EXPLAIN.
	IsQuery bool
	// Changelog says that the kinds of the rows count: those of a SELECT in streaming mode, which come as they
	// are made, and may never end.
	Changelog bool
	// Job is the job that ran or runs; zero where there was none.
	Job connector.JobID
	// Affected is the number of rows written, for Written, and Did says what was done with them: "written",
	// "updated" or "deleted".
	Affected int64
	Did      string
	// Message is for the user, without a final newline. It may come with any kind.
	Message string
	// Elapsed is how long Execute took; for a query [Result.Time] goes on.
	Elapsed time.Duration

	session *Session
	x       *execution
	began   time.Time
	batch   *column.Batch // metadata rows not yet handed out
	job     *exec.Job     // of a query, until it has ended
	err     *Error        // what the query ended with
}

// Next returns the next rows, nil at their end. The batch is the caller's until the next call. When ctx
// ends the job is canceled and the error says so once its hooks have run. Errors are *Error.
func (r *Result) Next(ctx context.Context) (*column.Batch, error) {
	if r.err != nil {
		return nil, r.err
	}
	if r.batch != nil {
		b := r.batch
		r.batch = nil
		return b, nil
	}
	if r.job == nil {
		return nil, nil
	}
	b, err := r.job.Next(ctx)
	if err == nil && b != nil {
		return b, nil
	}
	if err != nil && ctx.Err() != nil {
		r.job.Cancel()
	}
	// Wait tells how the job ended; an error that Next had of the job itself is the same one.
	if werr := r.job.Wait(context.WithoutCancel(ctx)); werr != nil {
		err = werr
	}
	r.end()
	if err != nil {
		r.err = r.session.fail(r.x, err)
		return nil, r.err
	}
	return nil, nil
}

// Close ends the result. A query whose rows were not all taken is canceled; that is no error.
func (r *Result) Close() error {
	r.batch = nil
	if r.job == nil {
		return nil
	}
	r.job.Cancel()
	_ = r.job.Wait(context.Background()) // CANCELED, or an end that nobody is waiting for any more
	r.end()
	return nil
}

// end notes that the query's job is over.
func (r *Result) end() {
	r.session.setCurrent(nil)
	r.job = nil
}

// Time returns the time since the statement began.
func (r *Result) Time() time.Duration {
	if r.session == nil {
		return r.Elapsed
	}
	return r.session.env.Clock().Sub(r.began)
}

// metadata builds the rows of a SHOW statement: columns of text.
type metadata struct {
	schema types.Schema
	batch  *column.Batch
}

// newMetadata starts a result with NOT NULL text columns of the given names.
func newMetadata(names ...string) *metadata {
	m := &metadata{}
	for _, n := range names {
		m.schema.Columns = append(m.schema.Columns, types.Column{Name: n, Type: types.String()})
	}
	m.batch = columnBatch(m.schema)
	return m
}

// boolean makes a column one of truth values; there are no rows yet.
func (m *metadata) boolean(column int) {
	m.schema.Columns[column].Type = types.Of(types.Boolean)
	m.batch = columnBatch(m.schema)
}

func columnBatch(s types.Schema) *column.Batch { return column.NewBatch(s.Types(), 16) }

// add appends a row.
func (m *metadata) add(values ...any) {
	for i, v := range values {
		switch v := v.(type) {
		case string:
			m.batch.Cols[i].AppendString(v)
		case bool:
			m.batch.Cols[i].AppendBool(v)
		default:
			panic("session: a metadata value that is neither text nor BOOLEAN")
		}
	}
	m.batch.N++
}

// result returns the rows as a Result.
func (m *metadata) result() *Result {
	r := &Result{Kind: Rows, Schema: m.schema}
	if m.batch.N > 0 {
		r.batch = m.batch
	}
	return r
}

// one returns a result of one row with one text column.
func one(column, value string) *Result {
	m := newMetadata(column)
	m.add(value)
	return m.result()
}

// list returns a result with one text column.
func list(column string, values []string) *Result {
	m := newMetadata(column)
	for _, v := range values {
		m.add(v)
	}
	return m.result()
}
