package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
)

// readWait is how long Read waits for rows.
const readWait = 100 * time.Millisecond

// copyHead begins the binary form of COPY; flags and the length of an extension follow.
const copyHead = "PGCOPY\n\xff\r\n\x00"

// reader reads the rows of some splits, one after the other.
type reader struct {
	src      *source
	c        *conn
	splits   []connector.Split
	open     bool   // the COPY of splits[0] runs
	head     bool   // its head has been read
	ended    bool   // its last row has been read
	carry    []byte // the beginning of a row whose end is in the next message
	row      int64  // rows of splits[0] that have been returned
	position int64  // the last split read to its end
}

// Read fills b with the next rows.
func (r *reader) Read(ctx context.Context, b *column.Batch) (connector.Status, error) {
	if err := ctx.Err(); err != nil {
		return connector.End, r.stop(context.Cause(ctx))
	}
	if len(b.Cols) != len(r.src.cols) {
		*b = *column.NewBatch(r.src.types, column.DefaultRows)
	}
	b.Reset()
	deadline := time.Now().Add(readWait)
	net := r.c.pc.Conn()
	_ = net.SetReadDeadline(deadline)
	off := context.AfterFunc(ctx, func() { _ = net.SetReadDeadline(time.Unix(1, 0)) })
	defer off()
	for len(r.splits) > 0 {
		if !r.open {
			if r.c.broken != nil {
				return connector.End, r.c.broken
			}
			r.c.fe.SendQuery(&pgproto3.Query{String: r.src.sql(r.splits[0])})
			if err := r.c.fe.Flush(); err != nil {
				return connector.End, r.c.lose(err)
			}
			r.open, r.head, r.ended, r.row, r.carry = true, false, false, 0, nil
		}
		done, err := r.fill(b)
		switch {
		case err == nil:
		case isTimeout(err):
			if ctx.Err() != nil {
				return connector.End, r.stop(context.Cause(ctx))
			}
			return connector.More, nil
		default:
			return connector.End, err
		}
		if done {
			r.position = int64(r.splits[0].ID)
			r.splits, r.open = r.splits[1:], false
		}
		if b.N >= column.DefaultRows || b.N > 0 && done || time.Now().After(deadline) {
			break
		}
	}
	if len(r.splits) == 0 {
		return connector.End, nil
	}
	return connector.More, nil
}

// fill appends rows until the batch is full or the COPY is done.
func (r *reader) fill(b *column.Batch) (done bool, err error) {
	for b.N < column.DefaultRows {
		m, err := r.c.receive()
		if err != nil {
			if isTimeout(err) {
				return false, err
			}
			return false, r.c.lose(err)
		}
		switch m := m.(type) {
		case *pgproto3.CopyData:
			if err := r.rows(m.Data, b); err != nil {
				return false, err
			}
		case *pgproto3.ErrorResponse:
			e := r.c.serverError(m)
			r.c.broken = e
			return false, fmt.Errorf("read table %s: %w", r.src.table.info.rel, e)
		case *pgproto3.ReadyForQuery:
			if !r.ended {
				return false, r.c.lose(errors.New("the rows ended too early"))
			}
			return true, nil
		}
	}
	return false, nil
}

// rows appends the rows of a message. PostgreSQL sends one row a message; whatever stands between us may cut
// elsewhere.
func (r *reader) rows(data []byte, b *column.Batch) error {
	if len(r.carry) > 0 {
		data = append(r.carry, data...)
		r.carry = nil
	}
	if !r.head {
		n := len(copyHead) + 8
		if len(data) < n {
			r.carry = bytes.Clone(data)
			return nil
		}
		if string(data[:len(copyHead)]) != copyHead {
			return r.c.lose(errors.New("the rows are not in COPY's binary form"))
		}
		data = data[n:]
		r.head = true
	}
	for len(data) > 0 {
		size := rowSize(data)
		if size < 0 {
			r.carry = bytes.Clone(data)
			return nil
		}
		if n := int(int16(binary.BigEndian.Uint16(data))); n != len(r.src.cols) {
			if n == -1 {
				r.ended = true
				return nil
			}
			return r.c.lose(fmt.Errorf("a row has %d columns, not %d", n, len(r.src.cols)))
		}
		if err := r.decode(data[2:], b); err != nil {
			return err
		}
		data = data[size:]
		b.N++
		r.row++
	}
	return nil
}

// rowSize is the length of the first row of data, -1 when its end is not there.
func rowSize(data []byte) int {
	if len(data) < 2 {
		return -1
	}
	at := 2
	for n := int(int16(binary.BigEndian.Uint16(data))); n > 0; n-- {
		if len(data) < at+4 {
			return -1
		}
		size := int(int32(binary.BigEndian.Uint32(data[at:])))
		at += 4
		if size > 0 {
			at += size
		}
		if at > len(data) {
			return -1
		}
	}
	return at
}

// decode appends one row, the whole of which is there.
func (r *reader) decode(data []byte, b *column.Batch) error {
	for i := range r.src.cols {
		size := int32(binary.BigEndian.Uint32(data))
		data = data[4:]
		v := b.Cols[i]
		if size < 0 {
			v.AppendNull()
			continue
		}
		if why := r.src.cols[i].decode(v, data[:size]); why != "" {
			if why == damaged || !r.src.table.misfitNull {
				return r.misfit(i, why)
			}
			v.AppendNull()
		}
		data = data[size:]
	}
	return nil
}

// stop ends the running COPY and the session with it.
func (r *reader) stop(why error) error {
	if r.open && r.c.broken == nil {
		r.c.cancel()
		r.c.broken = why
	}
	return why
}

// misfit is the error of a value that its type does not hold. The server is asked once more which row it is and how
// it writes the value.
func (r *reader) misfit(col int, why string) error {
	t := r.src.table
	e := &MisfitError{Table: t.info.rel.String(), Column: r.src.cols[col].name, Type: r.src.types[col].AsNullable().String(), Row: "row " + strconv.FormatInt(r.row+1, 10), Reason: why}
	split := r.splits[0]
	_ = r.stop(e)
	if len(split.State) > 0 {
		e.Row = "a row"
	}
	if !r.src.snap.many() {
		return e
	}
	sql := "SELECT t." + quote(e.Column) + "::pg_catalog.text"
	for _, k := range t.info.key {
		sql += ", t." + quote(k) + "::pg_catalog.text"
	}
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	c, err := r.src.snap.reader(ctx, r.src, false)
	if err != nil {
		return e
	}
	defer r.src.snap.giveBack(c)
	at := r.src.from(split)
	if r.src.scan.Limit >= 0 {
		return e
	}
	found, err := c.exec(ctx, "SET LOCAL max_parallel_workers_per_gather = 0; "+sql+at+" OFFSET "+strconv.FormatInt(r.row, 10)+" LIMIT 1")
	if err != nil || len(found.rows) != 1 {
		return e
	}
	row := found.rows[0]
	e.Value, e.HasValue = text(row[0]), row[0] != nil
	for i, k := range t.info.key {
		if i == 0 {
			e.Row = "the row with"
		} else {
			e.Row += ","
		}
		e.Row += " " + k + " = " + clip(text(row[i+1]))
	}
	return e
}

// MisfitError says that a stored value is none of the type that its column is read as.
type MisfitError struct {
	Table, Column, Type, Row, Value, Reason string
	HasValue                                bool
}

// Error names the place and the value, and the way out.
func (e *MisfitError) Error() string {
	value := "a value"
	if e.HasValue {
		value = "the value " + clip(e.Value)
	}
	return fmt.Sprintf("table %s, column %s, %s: %s is no %s: %s (the option 'postgresql.columns.%s' = 'STRING' reads the column as text, 'postgresql.misfit' = 'null' makes it NULL)", e.Table, e.Column, e.Row, value, e.Type, e.Reason, e.Column)
}

// Position is the last split read whole and the rows returned of the next.
func (r *reader) Position() []byte {
	p := binary.LittleEndian.AppendUint64(nil, uint64(r.position))
	return binary.LittleEndian.AppendUint64(p, uint64(r.row))
}

// Close gives the connection back, or ends it when its COPY is not done.
func (r *reader) Close() error {
	if r.c == nil {
		return nil
	}
	c := r.c
	r.c = nil
	if r.open && c.broken == nil {
		// Nobody wants the rest. The session is over: what is on its way cannot be told from what comes later.
		c.cancel()
		c.broken = errors.New("the reader was closed")
	}
	_ = c.pc.Conn().SetReadDeadline(time.Time{})
	if c.broken != nil {
		r.src.snap.giveBack(c)
		return nil
	}
	r.src.mu.Lock()
	defer r.src.mu.Unlock()
	r.src.free = append(r.src.free, c)
	return nil
}
