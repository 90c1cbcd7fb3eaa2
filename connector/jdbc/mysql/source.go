package mysql

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// source reads a table or view once, in its job's snapshot.
type source struct {
	s      *Server
	table  *table
	schema types.Schema
	scan   connector.Scan
	fields []field
	snap   *snapshot
	opened bool
	taken  bool // there is a reader
}

func newSource(s *Server, t *table, schema types.Schema, scan connector.Scan) (*source, error) {
	src := &source{s: s, table: t, schema: schema, scan: scan}
	p := parameters(s.config.Parameters)
	for _, i := range scan.Columns {
		c := schema.Columns[i]
		had := t.column(c.Name)
		if had == nil {
			return nil, fmt.Errorf("table %s has no column %s", t.name, c.Name)
		}
		if fault := readFault(c.Type, had.declared); fault != "" {
			return nil, fmt.Errorf("table %s, column %s (%s) cannot be read as %s: %s", t.name, c.Name, had.text, c.Type.AsNullable(), fault)
		}
		f := field{name: c.Name, t: c.Type, had: had.declared, zeroNull: p.zeroIsNull()}
		if f.zeroNull {
			f.t = f.t.AsNullable()
		}
		src.fields = append(src.fields, f)
	}
	return src, nil
}

// Bounded reports that a table ends.
func (s *source) Bounded() bool { return true }

// Splits opens the snapshot. One reader reads the table whole.
func (s *source) Splits(ctx context.Context, _ int) ([]connector.Split, error) {
	if err := s.snap.open(ctx, s); err != nil {
		return nil, err
	}
	s.opened = true
	return []connector.Split{{ID: 0}}, nil
}

// sql is the statement that reads the rows.
func (s *source) sql() string {
	var b strings.Builder
	b.WriteString("SELECT ")
	for i := range s.fields {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(s.fields[i].selected())
	}
	if len(s.fields) == 0 {
		b.WriteString("1")
	}
	b.WriteString(" FROM " + qualified(s.table.database, s.table.name) + " AS t")
	var where []string
	p := &pushed{table: s.table, schema: s.schema}
	for _, f := range s.scan.Filters {
		if text, ok := p.condition(f); ok {
			where = append(where, text)
		}
	}
	if len(where) > 0 {
		b.WriteString(" WHERE " + strings.Join(where, " AND "))
	}
	if s.scan.Limit >= 0 {
		fmt.Fprintf(&b, " LIMIT %d", s.scan.Limit)
	}
	return b.String()
}

// Reader returns the one reader, which ctx ends, too.
func (s *source) Reader(ctx context.Context, splits []connector.Split) (connector.Reader, error) {
	if !s.opened || s.taken {
		return nil, fmt.Errorf("table %s: more readers than the snapshot was opened for", s.table.name)
	}
	s.taken = true
	return &reader{src: s, ctx: ctx, whole: len(splits) == 0}, nil
}

// Close leaves the snapshot.
func (s *source) Close() error {
	s.snap.leave(s)
	return nil
}

// reader reads the rows as the server sends them.
type reader struct {
	src   *source
	ctx   context.Context // when it ends, nobody reads on
	count int64

	mu      sync.Mutex
	c       *conn // while it is the reader's turn
	unwatch func() bool
	rows    driver.Rows
	dest    []driver.Value
	whole   bool // read to its end
	err     error
}

// Read fills b with the next rows.
func (r *reader) Read(ctx context.Context, b *column.Batch) (connector.Status, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin(b)
	if r.err != nil || r.whole {
		return connector.End, r.err
	}
	status, err := r.read(ctx, b)
	if err != nil {
		r.err = err
	}
	return status, err
}

// begin makes b a batch of the fields' types.
func (r *reader) begin(b *column.Batch) {
	fields := r.src.fields
	fresh := b.Shared || len(b.Cols) != len(fields)
	for i := 0; !fresh && i < len(fields); i++ {
		fresh = b.Cols[i] == nil || !b.Cols[i].Type.Equal(fields[i].t)
	}
	if !fresh {
		b.Reset()
		return
	}
	ts := make([]types.Type, len(fields))
	for i, f := range fields {
		ts[i] = f.t
	}
	*b = *column.NewBatch(ts, column.DefaultRows)
}

func (r *reader) read(ctx context.Context, b *column.Batch) (connector.Status, error) {
	if ctx.Err() != nil {
		return connector.End, context.Cause(ctx)
	}
	if mine, err := r.enter(ctx); !mine || err != nil {
		return connector.More, err
	}
	done := r.c.guard(ctx)
	err := r.fill(ctx, b)
	switch {
	case errors.Is(err, io.EOF):
		_ = done(nil)
		r.whole = true
		r.exit()
		return connector.End, nil
	case err != nil:
		var row *RowError
		if failed := done(err); !errors.As(err, &row) {
			err = failed
		}
		return connector.End, err
	}
	_ = done(nil)
	return connector.More, nil
}

// enter takes the session when it is the reader's turn. It is given back when nobody reads on, too, so that others need
// not wait for that.
func (r *reader) enter(ctx context.Context) (mine bool, err error) {
	if r.c != nil {
		return true, nil
	}
	if r.c, mine, err = r.src.snap.enter(ctx); mine {
		r.unwatch = context.AfterFunc(r.ctx, func() { r.end(context.Cause(r.ctx)) })
	}
	return mine, err
}

// exit gives the session back.
func (r *reader) exit() {
	if r.c == nil {
		return
	}
	r.unwatch()
	r.src.snap.exit(r, r.rows != nil && !r.whole)
	r.c = nil
}

// fill reads rows until b is full, or 100 ms are over.
func (r *reader) fill(ctx context.Context, b *column.Batch) error {
	var err error
	if r.rows == nil {
		if r.rows, err = r.c.dc.(driver.QueryerContext).QueryContext(context.Background(), r.src.sql(), nil); err != nil {
			return err
		}
		r.dest = make([]driver.Value, len(r.rows.Columns()))
	}
	deadline := time.Now().Add(100 * time.Millisecond)
	for b.N < column.DefaultRows {
		if err := r.rows.Next(r.dest); err != nil {
			return err
		}
		r.count++
		for i := range r.src.fields {
			if err := r.src.fields[i].append(b.Cols[i], r.dest[i]); err != nil {
				return &RowError{Table: r.src.table.name, Column: r.src.fields[i].name, Row: r.count, Msg: err.Error()}
			}
		}
		b.N++
		if b.N&63 == 0 && (ctx.Err() != nil || time.Now().After(deadline)) {
			break
		}
	}
	return nil
}

// RowError is an error of one row of a table.
type RowError struct {
	Table, Column string
	Row           int64 // counted from 1, as read or written
	Msg           string
	Err           error
}

// Error names the table, the column and the row.
func (e *RowError) Error() string {
	text := "table " + e.Table
	if e.Column != "" {
		text += ", column " + e.Column
	}
	if e.Row > 0 {
		text += fmt.Sprintf(", row %d", e.Row)
	}
	return text + ": " + e.Msg
}

// Unwrap returns the server's error.
func (e *RowError) Unwrap() error { return e.Err }

// Position is the number of rows returned.
func (r *reader) Position() []byte { return binary.LittleEndian.AppendUint64(nil, uint64(r.count)) }

// end gives the session back, and has err for the answer to whoever reads on.
func (r *reader) end(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exit()
	if r.err == nil && !r.whole {
		r.err = err
	}
}

// Close gives the session back.
func (r *reader) Close() error {
	r.end(errors.New("the reader is closed"))
	return nil
}
