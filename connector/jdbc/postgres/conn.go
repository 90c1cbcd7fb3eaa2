package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// How long a connection is listened to after its context has ended, and how long its end may take.
const (
	cancelWait = 2 * time.Second
	closeWait  = time.Second
	readBuffer = 128 << 10
)

// conn is one session of the server. It is used by one goroutine, but for what cancels it. After a context has ended
// or the link was lost it is broken: every further call returns the first error.
//
// All traffic goes through the protocol's frontend; pgconn makes the connection and sends cancel requests.
type conn struct {
	s        *Server
	database string
	pc       *pgconn.PgConn
	fe       *pgproto3.Frontend
	tx       byte  // of the last ReadyForQuery: I, T or E
	broken   error // the first error after which nothing may be sent
	lost     bool  // the link is gone, so that what the server did last is not known

	warned func(*Error) // hears the server's warnings; nil: nobody does
}

// version is the server's major version, 0 when it does not say.
func (c *conn) version() int {
	text, _, _ := strings.Cut(c.pc.ParameterStatus("server_version"), ".")
	n, err := strconv.Atoi(strings.TrimRight(strings.Fields(text + " 0")[0], "abcdefghijklmnopqrstuvwxyz"))
	if err != nil {
		return 0
	}
	return n
}

// utf8 reports whether the server makes sure that text is valid UTF-8.
func (c *conn) utf8() bool { return c.pc.ParameterStatus("server_encoding") != "SQL_ASCII" }

// watch lets the end of ctx end what the connection does: by a cancel request at once, and by a deadline for a link
// that is dead. stop says that the call is over; it returns whether ctx had come first.
func (c *conn) watch(ctx context.Context) (stop func() bool) {
	if ctx.Done() == nil {
		return func() bool { return false }
	}
	var wg sync.WaitGroup
	wg.Add(1)
	off := context.AfterFunc(ctx, func() {
		defer wg.Done()
		c.cancel()
	})
	return func() bool {
		if off() {
			return false
		}
		wg.Wait()
		return true
	}
}

// cancel asks the server to end what it does for this connection.
func (c *conn) cancel() {
	_ = c.pc.Conn().SetDeadline(time.Now().Add(cancelWait))
	ctx, stop := context.WithTimeout(context.Background(), cancelWait)
	defer stop()
	_ = c.pc.CancelRequest(ctx) // the deadline ends what it does not reach
}

// lose notes that the link is gone.
func (c *conn) lose(err error) error {
	c.lost = true
	c.broken = c.s.linkError(c.database, err)
	return c.broken
}

// receive returns the next message but for notices.
func (c *conn) receive() (pgproto3.BackendMessage, error) {
	for {
		m, err := c.fe.Receive()
		if err != nil {
			return nil, err
		}
		switch m := m.(type) {
		case *pgproto3.NotificationResponse:
		case *pgproto3.NoticeResponse:
			if c.warned != nil && m.SeverityUnlocalized == "WARNING" {
				c.warned(c.serverError((*pgproto3.ErrorResponse)(m)))
			}
		case *pgproto3.ParameterStatus:
			// Those that matter are set at the start and not changed by us.
		case *pgproto3.ReadyForQuery:
			c.tx = m.TxStatus
			return m, nil
		default:
			return m, nil
		}
	}
}

// result is what a statement gave.
type result struct {
	rows   [][]*string
	copied []byte // of a COPY TO STDOUT
	tag    string
}

// affected is the number of rows in the tag.
func (r *result) affected() int64 {
	n, err := strconv.ParseInt(r.tag[strings.LastIndexByte(r.tag, ' ')+1:], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// query runs one statement with text parameters and returns its rows as text.
func (c *conn) query(ctx context.Context, sql string, args ...any) (*result, error) {
	return c.run(ctx, func() {
		values := make([][]byte, len(args))
		for i, a := range args {
			switch a := a.(type) {
			case string:
				values[i] = []byte(a)
			case int:
				values[i] = strconv.AppendInt(nil, int64(a), 10)
			case int64:
				values[i] = strconv.AppendInt(nil, a, 10)
			default:
				panic("postgres: a parameter that is neither text nor an integer")
			}
		}
		c.fe.SendParse(&pgproto3.Parse{Query: sql})
		c.fe.SendBind(&pgproto3.Bind{Parameters: values})
		c.fe.SendExecute(&pgproto3.Execute{})
		c.fe.SendSync(&pgproto3.Sync{})
	})
}

// exec runs statements without parameters, in one message: the rows are those of all of them, the tag the last's.
func (c *conn) exec(ctx context.Context, sql string) (*result, error) {
	return c.run(ctx, func() { c.fe.SendQuery(&pgproto3.Query{String: sql}) })
}

// run sends a request and reads its answer to the end.
func (c *conn) run(ctx context.Context, send func()) (*result, error) {
	if c.broken != nil {
		return nil, c.broken
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	stop := c.watch(ctx)
	send()
	err := c.fe.Flush()
	r := &result{}
	if err == nil {
		err = c.answer(r)
	}
	return r, c.after(ctx, stop(), err)
}

// after makes of what a call ended with the error of the call, and breaks the connection where it has to.
func (c *conn) after(ctx context.Context, ended bool, err error) error {
	var own *Error
	switch {
	case ended:
		// Whether the cancel came in time does not matter: whoever ends a context wants no more of this session.
		c.lost = c.lost || err != nil && !errors.As(err, &own)
		c.broken = context.Cause(ctx)
		return c.broken
	case err == nil || errors.As(err, &own):
		if own != nil && own.fatal {
			c.broken = err
		}
		return err
	}
	return c.lose(err)
}

// answer reads to ReadyForQuery. The first error of the server is returned.
func (c *conn) answer(r *result) error {
	var first error
	for {
		m, err := c.receive()
		if err != nil {
			if first != nil { // the server said why, and closed the connection
				return first
			}
			return err
		}
		switch m := m.(type) {
		case *pgproto3.DataRow:
			row := make([]*string, len(m.Values))
			for i, v := range m.Values {
				if v != nil {
					s := string(v)
					row[i] = &s
				}
			}
			r.rows = append(r.rows, row)
		case *pgproto3.CopyData:
			r.copied = append(r.copied, m.Data...)
		case *pgproto3.CommandComplete:
			r.tag = string(m.CommandTag)
		case *pgproto3.ErrorResponse:
			if first == nil {
				first = c.serverError(m)
			}
		case *pgproto3.ReadyForQuery:
			return first
		}
	}
}

// serverError keeps what the server said.
func (c *conn) serverError(m *pgproto3.ErrorResponse) *Error {
	e := c.s.newError(c.database, pgconn.ErrorResponseToPgError(m))
	e.fatal = m.SeverityUnlocalized == "FATAL" || m.SeverityUnlocalized == "PANIC"
	return e
}

// texts returns the only column of a query's rows; NULL is "".
func (c *conn) texts(ctx context.Context, sql string, args ...any) ([]string, error) {
	r, err := c.query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	list := make([]string, len(r.rows))
	for i, row := range r.rows {
		list[i] = text(row[0])
	}
	return list, nil
}

// row returns the one row, of so many columns, that a query is sure to have.
func (c *conn) row(ctx context.Context, columns int, sql string, args ...any) ([]*string, error) {
	r, err := c.query(ctx, sql, args...)
	switch {
	case err != nil:
		return nil, err
	case len(r.rows) != 1 || len(r.rows[0]) != columns:
		return nil, fmt.Errorf("%s: the server gives no answer that can be read", c.s.place(c.database))
	}
	return r.rows[0], nil
}

// one returns the first column of the first row, "" where there is none.
func (c *conn) one(ctx context.Context, sql string, args ...any) (string, error) {
	list, err := c.texts(ctx, sql, args...)
	if err != nil || len(list) == 0 {
		return "", err
	}
	return list[0], nil
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func yes(s *string) bool { return s != nil && *s == "t" }

// close ends the session. What was not committed is rolled back by the server.
func (c *conn) close() {
	if c == nil {
		return
	}
	_ = c.pc.Conn().SetDeadline(time.Now().Add(closeWait))
	if c.broken == nil {
		// The server's end of the connection tells that the session is over.
		c.fe.Send(&pgproto3.Terminate{})
		if c.fe.Flush() == nil {
			var b [512]byte
			for {
				if _, err := c.pc.Conn().Read(b[:]); err != nil {
					break
				}
			}
		}
	}
	ctx, stop := context.WithTimeout(context.Background(), closeWait)
	defer stop()
	_ = c.pc.Close(ctx)
}

// connect opens a session in a database.
func (s *Server) connect(ctx context.Context, database string) (*conn, error) {
	if err := checkName("database", database); err != nil {
		return nil, err
	}
	cfg, err := s.driverConfig()
	if err != nil {
		return nil, err
	}
	cfg = cfg.Copy()
	cfg.Database = database
	pc, err := pgconn.ConnectConfig(ctx, cfg)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, s.connectError(database, err)
	}
	c := &conn{s: s, database: database, pc: pc, fe: pc.Frontend(), tx: 'I'}
	if c.version() >= 14 {
		if err := c.limits(ctx); err != nil && c.broken != nil {
			c.close()
			return nil, err
		}
	}
	return c, nil
}

// limits sets what older servers do not have. A client that is gone is noticed while a statement runs; some systems of
// servers cannot, and the error is let pass.
func (c *conn) limits(ctx context.Context) error {
	const set = "SELECT pg_catalog.set_config(name, CASE name WHEN 'client_connection_check_interval' THEN '500ms' ELSE '0' END, false) FROM pg_catalog.pg_settings WHERE name IN ('idle_session_timeout', 'transaction_timeout'"
	_, err := c.exec(ctx, set+", 'client_connection_check_interval')")
	if err != nil && c.broken == nil {
		_, err = c.exec(ctx, set+")")
	}
	return err
}

// with runs f in a session of a database.
func (s *Server) with(ctx context.Context, database string, f func(*conn) error) error {
	c, err := s.connect(ctx, database)
	if err != nil {
		return err
	}
	defer c.close()
	return f(c)
}

// frontend reads through a buffer that is large enough for bulk data.
func frontend(r io.Reader, w io.Writer) *pgproto3.Frontend {
	return pgproto3.NewFrontend(newBuffered(r), w)
}

// buffered reads ahead. Unlike bufio's it gives a timeout as such and goes on after it.
type buffered struct {
	r    io.Reader
	buf  []byte
	from int
	to   int
}

func newBuffered(r io.Reader) *buffered { return &buffered{r: r, buf: make([]byte, readBuffer)} }

// Read returns what is there, and reads when nothing is.
func (b *buffered) Read(p []byte) (int, error) {
	if b.from == b.to {
		if len(p) >= len(b.buf) {
			return b.r.Read(p)
		}
		n, err := b.r.Read(b.buf)
		b.from, b.to = 0, n
		if n == 0 {
			return 0, err
		}
	}
	n := copy(p, b.buf[b.from:b.to])
	b.from += n
	return n, nil
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}
