package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/internal/failpoint"
)

// A message of COPY has about sendSize bytes, and never more than maxMessage.
const (
	sendSize   = 256 << 10
	maxMessage = 16 << 20
)

// load is a table that rows are copied into.
type load struct {
	name     string      // quoted
	relation string      // as it stands in the server's context of an error
	columns  []writePlan // in the order of the batches
	numbered bool        // a first column numbers the rows
	freeze   bool        // the table was made in this transaction, see stage.go
	table    string      // whose rows they are, for errors
	sent     int64       // rows sent so far
	stored   int64       // rows that the server says it stored
	before   int64       // rows sent before the COPY that runs, which counts its own
}

func (l *load) text() bool {
	for _, c := range l.columns {
		if c.binary == nil {
			return true
		}
	}
	return false
}

// sql is the statement of a COPY.
func (l *load) sql(text bool) string {
	names := make([]string, 0, len(l.columns)+1)
	if l.numbered {
		names = append(names, rowNumber)
	}
	for _, c := range l.columns {
		names = append(names, c.name)
	}
	options := "FORMAT binary"
	if text {
		options = "FORMAT text"
	}
	if l.freeze {
		options += ", FREEZE"
	}
	return "COPY " + l.name + " (" + quoteAll(names) + ") FROM STDIN (" + options + ")"
}

// RowError says that a row could not be stored.
type RowError struct {
	Table  string
	Row    int64 // of those written, from 1; 0: not known
	Column string
	Msg    string
	Err    error // the server's, if it is one
}

// Error names table, row and column.
func (e *RowError) Error() string {
	s := "table " + e.Table
	if e.Row > 0 {
		s += ", row " + strconv.FormatInt(e.Row, 10)
	}
	if e.Column != "" {
		s += ", column " + e.Column
	}
	return s + ": " + e.Msg
}

// Unwrap returns the server's error.
func (e *RowError) Unwrap() error { return e.Err }

// copyIn copies all rows that next yields into a table.
func (c *conn) copyIn(ctx context.Context, l *load, next func() (*column.Batch, error)) (err error) {
	if c.broken != nil {
		return c.broken
	}
	b, err := next()
	for err == nil && b != nil && b.N == 0 {
		b, err = next()
	}
	if err != nil || b == nil {
		return err
	}
	if err := failpoint.Hit("write.first"); err != nil {
		return err
	}
	stop := c.watch(ctx)
	text := l.text()
	l.before = l.sent
	c.fe.SendQuery(&pgproto3.Query{String: l.sql(text)})
	if err := c.fe.Flush(); err != nil {
		return c.after(ctx, stop(), err)
	}
	if err := c.awaitCopyIn(); err != nil {
		return c.after(ctx, stop(), l.wordError(err))
	}
	answer := make(chan error, 1)
	var r result
	go func() { answer <- c.answer(&r) }()
	s := &sender{c: c, l: l, text: text, answer: answer}
	err = s.rows(b, next)
	end := pgproto3.FrontendMessage(&pgproto3.CopyDone{})
	if err == nil {
		err = failpoint.Hit("write.flush")
	}
	if err != nil {
		end = &pgproto3.CopyFail{Message: "the rows ended with an error"}
	}
	if s.answered {
		err = s.early
	} else {
		c.fe.Send(end)
		if flushErr := c.fe.Flush(); flushErr != nil {
			_ = c.pc.Conn().Close() // the answer does not come any more
			if err == nil {
				err = flushErr
			}
			<-answer
		} else if said := <-answer; err == nil {
			err = said
		}
	}
	if err != nil {
		if ended := stop(); ended || !s.own {
			return c.after(ctx, ended, l.wordError(err))
		}
		return err
	}
	if err := c.after(ctx, stop(), nil); err != nil {
		return err
	}
	l.stored += r.affected()
	return nil
}

// awaitCopyIn waits until the server takes rows.
func (c *conn) awaitCopyIn() error {
	for {
		m, err := c.receive()
		if err != nil {
			return err
		}
		switch m := m.(type) {
		case *pgproto3.CopyInResponse:
			return nil
		case *pgproto3.ErrorResponse:
			first := c.serverError(m)
			if err := c.answer(&result{}); err != nil && !first.fatal {
				return err
			}
			return first
		}
	}
}

// sender sends the rows of a COPY.
type sender struct {
	c        *conn
	l        *load
	text     bool
	answer   chan error
	answered bool // the server has ended the COPY early, with the error early
	early    error
	own      bool // the error is none of the server's or the link's
	buf      []byte
}

// rows sends b and all batches that next yields after it.
func (s *sender) rows(b *column.Batch, next func() (*column.Batch, error)) error {
	s.buf = append(s.buf, 'd', 0, 0, 0, 0)
	if !s.text {
		s.buf = append(append(s.buf, copyHead...), make([]byte, 8)...)
	}
	for b != nil {
		for i := range b.N {
			s.l.sent++
			if err := s.row(b, i); err != nil {
				s.own = true
				return err
			}
			if len(s.buf) >= sendSize {
				if err := s.send(); err != nil {
					return err
				}
			}
		}
		if err := failpoint.Hit("write.mid"); err != nil {
			s.own = true
			return err
		}
		select {
		case s.early = <-s.answer:
			s.answered = true
			return s.early
		default:
		}
		var err error
		if b, err = next(); err != nil {
			s.own = true
			return err
		}
	}
	if !s.text {
		s.buf = append(s.buf, 0xff, 0xff)
	}
	return s.send()
}

// row appends a row to the buffer.
func (s *sender) row(b *column.Batch, i int) error {
	if s.text {
		return s.textRow(b, i)
	}
	n := len(s.l.columns)
	if s.l.numbered {
		n++
	}
	s.buf = binary.BigEndian.AppendUint16(s.buf, uint16(n))
	if s.l.numbered {
		s.buf = binary.BigEndian.AppendUint32(s.buf, 8)
		s.buf = binary.BigEndian.AppendUint64(s.buf, uint64(s.l.sent))
	}
	for k := range s.l.columns {
		var why string
		if s.buf, why = appendField(s.buf, s.l.columns[k].binary, b.Cols[k], i); why != "" {
			return s.misfit(b, k, i, why)
		}
	}
	return nil
}

func (s *sender) textRow(b *column.Batch, i int) error {
	if s.l.numbered {
		s.buf = strconv.AppendInt(s.buf, s.l.sent, 10)
	}
	for k := range s.l.columns {
		if k > 0 || s.l.numbered {
			s.buf = append(s.buf, '\t')
		}
		if b.Cols[k].IsNull(i) {
			s.buf = append(s.buf, '\\', 'N')
			continue
		}
		var why string
		if s.buf, why = s.l.columns[k].text(s.buf, b.Cols[k], i); why != "" {
			return s.misfit(b, k, i, why)
		}
	}
	s.buf = append(s.buf, '\n')
	return nil
}

// misfit is the error of a value that the column does not take.
func (s *sender) misfit(b *column.Batch, k, i int, why string) error {
	value := string(column.AppendText(nil, b.Cols[k], i, nil))
	if b.Cols[k].Type.IsString() {
		value = strconv.Quote(clip(value))
	}
	return &RowError{Table: s.l.table, Row: s.l.sent, Column: s.l.columns[k].name, Msg: fmt.Sprintf("the value %s does not go into a column of type %s: %s", clip(value), s.l.columns[k].shown, why)}
}

// send sends what the buffer has, in messages that are not too long.
func (s *sender) send() error {
	rest := s.buf
	for len(rest) > 5 {
		n := min(len(rest), maxMessage)
		rest[0] = 'd'
		binary.BigEndian.PutUint32(rest[1:], uint32(n-1))
		if err := s.c.fe.SendUnbufferedEncodedCopyData(rest[:n]); err != nil {
			return err
		}
		if n == len(rest) {
			break
		}
		rest = rest[n-5:] // the head of the next message goes over bytes that are sent
	}
	s.buf = s.buf[:5]
	return nil
}

// wordError makes the server's error one about a row, as far as its context tells which.
func (l *load) wordError(err error) error {
	var e *Error
	if !errors.As(err, &e) || e.fatal {
		return err
	}
	at, msg := copyLine(e.Where, l.relation), strings.ReplaceAll(wordConstraint(e), l.relation, l.table)
	if at > 0 {
		at = min(at+l.before, l.sent)
	}
	if at > l.before+1 && (e.Routine == "RelationGetBufferForTuple" || strings.HasPrefix(e.Code, "53")) {
		// Rows go to their pages together, and the server names the last that it has read.
		at, msg = 0, msg+" (in row "+groups(at)+" or shortly before it)"
	}
	return &RowError{Table: l.table, Row: at, Msg: msg, Err: e}
}

// wordConstraint says what an error of the server is, in plain words where it is one of a constraint.
func wordConstraint(e *Error) string {
	detail := strings.TrimSuffix(e.Detail, ".")
	switch e.Code {
	case codeUnique:
		if detail != "" {
			return "duplicate key: " + detail
		}
	case codeNotNull:
		return "NULL in a NOT NULL column: " + e.Msg
	}
	msg := e.Msg
	if detail != "" {
		msg += ": " + detail
	}
	if e.Hint != "" {
		msg += " (" + strings.TrimSuffix(e.Hint, ".") + ")"
	}
	return msg
}

// copyLine returns the row that the context of an error in COPY names: the first number after the relation's name,
// whatever the server's language. 0: none.
func copyLine(where, relation string) int64 {
	_, rest, ok := strings.Cut(where, "COPY "+relation+",")
	if !ok {
		return 0
	}
	from := strings.IndexAny(rest, "0123456789")
	if from < 0 {
		return 0
	}
	end := from
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	n, err := strconv.ParseInt(rest[from:end], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

var _ connector.Writer = (*writer)(nil)
