package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"

	"github.com/sluice-sql/sluice/connector/jdbc/server"
)

const (
	defaultPort  = 3306
	dialTime     = 30 * time.Second // unless connectTimeout says otherwise
	killTime     = 3 * time.Second  // to reach the server in order to end a statement
	killPatience = time.Second      // for a statement to end once the server was told
)

// sqlMode is what the meaning of our statements depends on: values that do not fit are errors, backslashes
// escape, names are in back-quotes, zero is not a request for the next AUTO_INCREMENT value.
const sqlMode = "STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO"

// setup sets on a session what the meaning of our statements depends on, and lifts the limits on their time. A
// session whose client is gone without a word is ended by TCP's keepalive.
const setup = "SET SESSION sql_mode='" + sqlMode + "', SESSION time_zone='+00:00', SESSION autocommit=1, SESSION character_set_client=utf8mb4, SESSION character_set_connection=utf8mb4, " +
	"SESSION character_set_results=utf8mb4, SESSION collation_connection=utf8mb4_bin, SESSION foreign_key_checks=1, SESSION unique_checks=1, SESSION sql_select_limit=18446744073709551615, SESSION completion_type=0, " +
	"SESSION net_write_timeout=86400, SESSION net_read_timeout=86400, SESSION wait_timeout=86400, SESSION group_concat_max_len=1048576, SESSION sql_safe_updates=0, SESSION sql_quote_show_create=1" +
	// What the two kinds of server call by other names: each takes the other's for a comment.
	" /*M!100100 , SESSION max_statement_time=0, SESSION tx_isolation='REPEATABLE-READ' */" +
	" /*M!100300 , SESSION idle_transaction_timeout=0, SESSION idle_readonly_transaction_timeout=0, SESSION idle_write_transaction_timeout=0 */ /*!50720 , SESSION max_execution_time=0, SESSION transaction_isolation='REPEATABLE-READ' */"

// conn is one session. It is used by one goroutine at a time.
type conn struct {
	s   *Server
	dc  driver.Conn
	raw net.Conn // what the session runs over
	id  uint64   // by which the server knows it
	facts
}

// connect opens a session; database may be "".
func (s *Server) connect(ctx context.Context, database string) (*conn, error) {
	return s.open(ctx, database, false)
}

// open opens a session. found: an UPDATE counts the rows it finds, not only those it alters.
func (s *Server) open(ctx context.Context, database string, found bool) (*conn, error) {
	c, err := s.dial(ctx, database, found)
	if err != nil {
		return nil, err
	}
	if err := c.prepare(ctx); err != nil {
		c.abandon()
		return nil, err
	}
	s.mu.Lock()
	f := c.facts
	s.facts = &f
	s.mu.Unlock()
	return c, nil
}

// dial logs in.
func (s *Server) dial(ctx context.Context, database string, found bool) (*conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	p := parameters(s.config.Parameters)
	c := &conn{s: s}
	cfg := mysqldriver.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.Addr, cfg.DBName = s.config.User, s.config.Password.Reveal(), "tcp", s.addr(), database
	cfg.Logger = &mysqldriver.NopLogger{}
	cfg.MaxAllowedPacket = 1 << 30 // our own statements keep to the server's limit
	cfg.ReadTimeout, cfg.WriteTimeout = p.duration("socketTimeout", 0), p.duration("socketTimeout", 0)
	cfg.ClientFoundRows = found
	if err := p.secure(cfg, s.config.Host); err != nil {
		return nil, err
	}
	cfg.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		raw, err := (&net.Dialer{Timeout: p.duration("connectTimeout", dialTime), KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3}}).DialContext(ctx, network, addr)
		c.raw = raw
		return raw, err
	}
	dc, err := mysqldriver.NewConnector(cfg)
	if err != nil {
		return nil, s.fault(err)
	}
	// The time to connect covers the login, too: a server may take a connection and then say nothing.
	login, stop := context.WithTimeout(ctx, p.duration("connectTimeout", dialTime))
	defer stop()
	c.dc, err = dc.Connect(login)
	switch {
	case ctx.Err() != nil:
		if err == nil {
			_ = c.dc.Close()
		}
		return nil, context.Cause(ctx)
	case err != nil && login.Err() != nil:
		return nil, &LinkError{s.addr(), "no answer in time"}
	case err == nil:
		return c, nil
	}
	err = s.fault(err)
	if numberOf(err) == errBadDatabase {
		return nil, fmt.Errorf("%w: %s", server.ErrNoDatabase, database)
	}
	return nil, err
}

// prepare makes the session what all others are, and learns what matters of the server.
func (c *conn) prepare(ctx context.Context) error {
	if _, err := c.exec(ctx, setup); err != nil {
		return err
	}
	rows, err := c.query(ctx, "SELECT CONNECTION_ID(), VERSION(), @@lower_case_table_names, @@max_allowed_packet, @@innodb_flush_log_at_trx_commit")
	if err != nil {
		return err
	}
	if len(rows) != 1 || len(rows[0]) < 5 {
		return &LinkError{c.s.addr(), "what answers there does not tell what server it is"}
	}
	r := rows[0]
	c.id, _ = strconv.ParseUint(r[0].text, 10, 64)
	c.version, _, _ = strings.Cut(r[1].text, "-")
	c.maria = strings.Contains(strings.ToLower(r[1].text), "mariadb")
	c.number = versionNumber(c.version)
	c.folding, _ = strconv.Atoi(r[2].text)
	c.maxPacket, _ = strconv.Atoi(r[3].text)
	c.flush, _ = strconv.Atoi(r[4].text)
	if c.maxPacket < 1<<16 {
		c.maxPacket = 1 << 16
	}
	return nil
}

func versionNumber(version string) int {
	n := 0
	parts := strings.SplitN(version+".0.0", ".", 4)
	for _, p := range parts[:3] {
		v, _ := strconv.Atoi(p)
		n = n*100 + v
	}
	return n
}

// guard has the statement that follows ended on the server when ctx ends. done is called with the statement's
// error, and returns that of ctx in its place when the statement was ended so.
func (c *conn) guard(ctx context.Context) (done func(error) error) {
	if ctx.Done() == nil {
		return func(err error) error { return c.s.fault(err) }
	}
	ended, interrupted := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(interrupted)
		c.interrupt(ended)
	})
	return func(err error) error {
		close(ended)
		if !stop() {
			<-interrupted
			var reply *mysqldriver.MySQLError
			switch {
			case errors.As(err, &reply):
				return context.Cause(ctx)
			case err != nil && !errors.Is(err, io.EOF):
				return &cutError{context.Cause(ctx)}
			}
		}
		return c.s.fault(err)
	}
}

// interrupt ends the statement that runs, first kindly; ended says that it is over.
func (c *conn) interrupt(ended <-chan struct{}) {
	ctx, stop := context.WithTimeout(context.Background(), killTime)
	defer stop()
	if c.id == 0 { // not yet known by the server's number
		_ = c.raw.Close()
		return
	}
	k, err := c.s.dial(ctx, "", false)
	if err != nil {
		_ = c.raw.Close()
		return
	}
	defer k.close()
	for _, kill := range []string{"KILL QUERY ", "KILL "} {
		_, _ = k.exec(ctx, kill+strconv.FormatUint(c.id, 10))
		select {
		case <-ended:
			return
		case <-time.After(killPatience):
		}
	}
	_ = c.raw.Close()
}

// cutError is that of a context whose statement was ended by the end of the link: the server did not say what it did.
type cutError struct{ cause error }

func (e *cutError) Error() string { return e.cause.Error() }
func (e *cutError) Unwrap() error { return e.cause }

// change runs DDL, which commits by itself; changed is what it does, such as "table t was dropped".
func (c *conn) change(ctx context.Context, changed, statement string) error {
	_, err := c.exec(ctx, statement)
	var cut *cutError
	if errors.As(err, &cut) || unsure(err) && ctx.Err() == nil {
		return fmt.Errorf("whether %s is not known; look at it: %w", changed, err)
	}
	return err
}

// exec runs a statement and returns the number of rows that the server says it changed.
func (c *conn) exec(ctx context.Context, statement string) (int64, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	done := c.guard(ctx)
	result, err := c.dc.(driver.ExecerContext).ExecContext(context.Background(), statement, nil)
	if err = done(err); err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// How long the statement that ends a job may be without an answer before another session looks what the server makes
// of it, and how often the server may be out of reach then before the link counts as lost.
const (
	commitPatience = 3 * time.Second
	commitLooks    = 10
)

// last runs the statement that ends a job, whose answer decides: a link that looks alive and carries nothing must not
// keep it waiting for ever.
func (c *conn) last(ctx context.Context, statement string) error {
	over, stop := context.WithCancel(context.Background())
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		c.watchLast(over)
	}()
	_, err := c.exec(ctx, statement)
	stop()
	<-watched
	return err
}

// watchLast closes the link once the server twice says that it has nothing to do for this session, or cannot be asked
// for long: either the statement or its answer was lost. The session is ended before, so that the outcome is certain.
func (c *conn) watchLast(over context.Context) {
	idle, silent := 0, 0
	for idle < 2 && silent < commitLooks {
		select {
		case <-over.Done():
			return
		case <-time.After(commitPatience):
		}
		busy, err := c.busy(over, idle == 1)
		switch {
		case err != nil:
			silent++
		case busy:
			idle, silent = 0, 0
		default:
			idle++
		}
	}
	if over.Err() == nil {
		_ = c.raw.Close()
	}
}

// busy asks another session whether the server works for this one; with end a session that waits is ended.
func (c *conn) busy(ctx context.Context, end bool) (bool, error) {
	ctx, stop := context.WithTimeout(ctx, killTime)
	defer stop()
	k, err := c.s.dial(ctx, "", false)
	if err != nil {
		return false, err
	}
	defer k.close()
	id := strconv.FormatUint(c.id, 10)
	rows, err := k.query(ctx, "SELECT COMMAND FROM information_schema.PROCESSLIST WHERE ID = "+id)
	if err != nil {
		return false, err
	}
	if len(rows) > 0 && rows[0][0].text != "Sleep" {
		return true, nil
	}
	if end && len(rows) > 0 {
		if _, err := k.exec(ctx, "KILL "+id); err != nil && ctx.Err() != nil {
			return false, err
		}
	}
	return false, nil
}

// cell is a value of a small result.
type cell struct {
	text string
	null bool
}

// query runs a statement with a small result.
func (c *conn) query(ctx context.Context, statement string) (rows [][]cell, err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	done := c.guard(ctx)
	defer func() { err = done(err) }()
	r, err := c.dc.(driver.QueryerContext).QueryContext(context.Background(), statement, nil)
	if err != nil {
		return nil, err
	}
	values := make([]driver.Value, len(r.Columns()))
	for {
		switch err := r.Next(values); {
		case err == io.EOF:
			return rows, r.Close()
		case err != nil:
			return nil, err
		}
		row := make([]cell, len(values))
		for i, v := range values {
			row[i] = cellOf(v)
		}
		rows = append(rows, row)
	}
}

func cellOf(v driver.Value) cell {
	switch x := v.(type) {
	case nil:
		return cell{null: true}
	case []byte:
		return cell{text: string(x)}
	case int64:
		return cell{text: strconv.FormatInt(x, 10)}
	case uint64:
		return cell{text: strconv.FormatUint(x, 10)}
	case float64:
		return cell{text: strconv.FormatFloat(x, 'g', -1, 64)}
	}
	return cell{text: fmt.Sprint(v)}
}

// value runs a statement that gives one value.
func (c *conn) value(ctx context.Context, statement string) (cell, error) {
	rows, err := c.query(ctx, statement)
	if err != nil {
		return cell{}, err
	}
	if len(rows) == 0 || len(rows[0]) == 0 {
		return cell{null: true}, nil
	}
	return rows[0][0], nil
}

// lock takes the lock of a name, waiting at most so long; false: another session has it.
func (c *conn) lock(ctx context.Context, name string, wait time.Duration) (bool, error) {
	got, err := c.value(ctx, fmt.Sprintf("SELECT GET_LOCK(%s, %d)", literal(name), int(wait/time.Second)))
	return got.text == "1", err
}

// unlock gives a lock back; the end of the session would, too.
func (c *conn) unlock(ctx context.Context, name string) {
	_, _ = c.query(ctx, "SELECT RELEASE_LOCK("+literal(name)+")")
}

// close ends the session. What it had open is rolled back by the server.
func (c *conn) close() error {
	_ = c.dc.Close() // says goodbye; nothing depends on its being heard
	return nil
}

// abandon ends the session without a word to it, but tells the server by another one, so that what runs there ends.
func (c *conn) abandon() {
	if c.id != 0 {
		ctx, stop := context.WithTimeout(context.Background(), killTime)
		defer stop()
		if k, err := c.s.dial(ctx, "", false); err == nil {
			_, _ = k.exec(ctx, "KILL "+strconv.FormatUint(c.id, 10))
			_ = k.close()
		}
	}
	_ = c.raw.Close()
	_ = c.dc.Close()
}
