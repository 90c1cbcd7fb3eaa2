package mysql

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// source reads a table or view once, by one session in one snapshot.
type source struct {
	s      *Server
	table  *table
	schema types.Schema
	scan   connector.Scan
	fields []field
	c      *conn
	taken  bool // a reader has the session
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

// Splits opens the snapshot. One session reads it whole: the server gives a snapshot to one session alone.
func (s *source) Splits(ctx context.Context, _ int) ([]connector.Split, error) {
	c, err := s.s.connect(ctx, s.table.database)
	if err != nil {
		return nil, err
	}
	if _, err := c.exec(ctx, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"); err != nil {
		_ = c.close()
		return nil, err
	}
	s.c = c
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

// Reader takes the session.
func (s *source) Reader(_ context.Context, splits []connector.Split) (connector.Reader, error) {
	if s.c == nil || s.taken {
		return nil, fmt.Errorf("table %s: more readers than the snapshot was opened for", s.table.name)
	}
	s.taken = true
	return &reader{src: s, whole: len(splits) == 0}, nil
}

// Close ends the session when no reader did.
func (s *source) Close() error {
	if s.c == nil || s.taken {
		return nil
	}
	c := s.c
	s.c = nil
	return c.close()
}

// reader reads the rows as the server sends them.
type reader struct {
	src   *source
	rows  driver.Rows
	dest  []driver.Value
	count int64
	whole bool // read to its end
	err   error
}

// Read fills b with the next rows.
func (r *reader) Read(ctx context.Context, b *column.Batch) (connector.Status, error) {
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
	c := r.src.c
	done := c.guard(ctx)
	err := r.fill(ctx, b)
	switch {
	case errors.Is(err, io.EOF):
		_ = done(nil)
		// The snapshot ends at once: it would keep a REPLACE of the same table waiting.
		r.whole = true
		return connector.End, r.end(false)
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

// fill reads rows until b is full, or 100 ms are over.
func (r *reader) fill(ctx context.Context, b *column.Batch) error {
	var err error
	if r.rows == nil {
		if r.rows, err = r.src.c.dc.(driver.QueryerContext).QueryContext(context.Background(), r.src.sql(), nil); err != nil {
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

// end ends the session; early: rows are still to come, and the server is told that nobody wants them.
func (r *reader) end(early bool) error {
	c := r.src.c
	if c == nil {
		return nil
	}
	r.src.c = nil
	if early {
		c.abandon()
		return nil
	}
	return c.close()
}

// Position is the number of rows returned.
func (r *reader) Position() []byte { return binary.LittleEndian.AppendUint64(nil, uint64(r.count)) }

// Close ends the session.
func (r *reader) Close() error { return r.end(r.rows != nil && !r.whole) }
