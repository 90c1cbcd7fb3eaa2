package mysql

import (
	"context"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/internal/testserver"
	"github.com/sluice-sql/sluice/types"
)

// fixture is a server with an empty database. At the end of the test no session of ours may be left on it.
type fixture struct {
	t   testing.TB
	ts  *testserver.Server
	s   *Server
	db  string
	ctx context.Context
	c   *conn // of quick
}

func setUp(t testing.TB) *fixture {
	ts := testserver.MariaDB(t)
	f := &fixture{t: t, ts: ts, db: ts.Database(t), ctx: context.Background()}
	f.s = f.server(ts.Addr(), nil, nil)
	t.Cleanup(func() {
		if t.Failed() { // what a test that stopped half-way holds open would keep its database from being dropped
			for _, session := range ts.Sessions(t) {
				id, _, _ := strings.Cut(session, "\t")
				_, _ = ts.TryQuery("", "KILL "+id)
			}
		}
		if f.c != nil {
			_ = f.c.close()
		}
		ts.NoSessions(t)
	})
	return f
}

func (f *fixture) server(addr string, parameters, options map[string]string) *Server {
	host, port, err := net.SplitHostPort(addr)
	require.NoError(f.t, err)
	n, err := strconv.Atoi(port)
	require.NoError(f.t, err)
	return Dialect{}.Server(server.Config{Host: host, Port: n, User: testserver.User, Password: connector.NewSecret(testserver.Password), Parameters: parameters, Options: options}).(*Server)
}

// sql runs a script by the server's own client.
func (f *fixture) sql(script string) string {
	f.t.Helper()
	return f.ts.Query(f.t, f.db, script)
}

// quick runs statements by a session that stays: the last one's rows are as of sql.
func (f *fixture) quick(statements ...string) (text string) {
	f.t.Helper()
	if f.c == nil {
		var err error
		f.c, err = f.s.connect(f.ctx, f.db)
		require.NoError(f.t, err)
	}
	for _, s := range statements {
		rows, err := f.c.query(f.ctx, s)
		require.NoError(f.t, err, s)
		text = ""
		for _, r := range rows {
			for i, c := range r {
				if i > 0 {
					text += "\t"
				}
				text += c.text
			}
			text += "\n"
		}
	}
	return text
}

// ours lists what of ours is in the database.
func (f *fixture) ours() string {
	return f.quick("SELECT TABLE_NAME, TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND (TABLE_NAME LIKE '%sluice%' OR TABLE_COMMENT LIKE '%sluice%')")
}

// schema is a schema of "name TYPE" texts.
func schema(t testing.TB, columns ...string) types.Schema {
	var s types.Schema
	for _, c := range columns {
		name, text, _ := strings.Cut(c, " ")
		s.Columns = append(s.Columns, types.Column{Name: name, Type: parseType(t, text)})
	}
	return s
}

func parseType(t testing.TB, text string) types.Type {
	got, err := types.ParseType(text)
	require.NoError(t, err, text)
	return got
}

// numbers returns a batch of one INT column, from a number on.
func numbers(from, n int) *column.Batch {
	b := column.NewBatch([]types.Type{types.Of(types.Int)}, n)
	for i := range n {
		b.Cols[0].AppendI64(int64(from + i))
	}
	b.N = n
	return b
}

// feed returns a next of these batches.
func feed(batches ...*column.Batch) func() (*column.Batch, error) {
	return func() (*column.Batch, error) {
		if len(batches) == 0 {
			return nil, nil
		}
		b := batches[0]
		batches = batches[1:]
		return b, nil
	}
}

// write runs a transaction up to its seal.
func (f *fixture) write(tx connector.Transaction, batches ...*column.Batch) (int64, error) {
	if err := tx.Begin(f.ctx, connector.NewJobID()); err != nil {
		return 0, err
	}
	w, err := tx.Writer(f.ctx, 0)
	if err != nil {
		return 0, err
	}
	if err := w.Write(f.ctx, feed(batches...)); err != nil {
		return 0, err
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	return tx.Seal(f.ctx)
}

// done writes and commits.
func (f *fixture) done(tx connector.Transaction, batches ...*column.Batch) int64 {
	f.t.Helper()
	n, err := f.write(tx, batches...)
	require.NoError(f.t, err)
	out, err := tx.Commit(f.ctx)
	require.NoError(f.t, err)
	require.Equal(f.t, connector.Done, out)
	return n
}

func (f *fixture) stage(name string, mode server.Mode, s types.Schema) connector.Transaction {
	return f.s.Stage(server.Target{Database: f.db, Table: name, Definition: server.Definition{Schema: s}, Mode: mode})
}

func (f *fixture) open(name string) *Table {
	f.t.Helper()
	return f.openBy(f.s, name)
}

func (f *fixture) openBy(s *Server, name string) *Table {
	f.t.Helper()
	info, near, err := s.Describe(f.ctx, f.db, name)
	require.NoError(f.t, err)
	require.NotNil(f.t, info, near)
	tab, err := s.OpenTable(f.ctx, f.db, name, info.Schema)
	require.NoError(f.t, err)
	return tab.(*Table)
}

// read reads all rows of a table.
func (f *fixture) read(tab *Table, scan connector.Scan) ([]*column.Batch, error) {
	src, err := tab.Source(f.ctx, scan)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	splits, err := src.Splits(f.ctx, 2)
	if err != nil {
		return nil, err
	}
	r, err := src.Reader(f.ctx, splits)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var all []*column.Batch
	for {
		b := &column.Batch{}
		status, err := r.Read(f.ctx, b)
		if err != nil {
			return all, err
		}
		if b.N > 0 {
			all = append(all, b)
		}
		if status == connector.End {
			return all, nil
		}
	}
}

// text is all rows of a table as text, a row a line.
func (f *fixture) text(tab *Table, columns ...int) string {
	f.t.Helper()
	if columns == nil {
		for i := range tab.schema.Columns {
			columns = append(columns, i)
		}
	}
	batches, err := f.read(tab, connector.Scan{Columns: columns, Limit: -1})
	require.NoError(f.t, err)
	return batchText(batches...)
}

func batchText(batches ...*column.Batch) string {
	var b []byte
	for _, batch := range batches {
		for i := range batch.N {
			for c, v := range batch.Cols {
				if c > 0 {
					b = append(b, '|')
				}
				if v.IsNull(i) {
					b = append(b, "NULL"...)
				} else {
					b = column.AppendText(b, v, i, nil)
				}
			}
			b = append(b, '\n')
		}
	}
	return string(b)
}

// eventually waits for what comes soon.
func (f *fixture) eventually(is func() bool) {
	f.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(10 * time.Millisecond) {
		require.True(f.t, time.Now().Before(deadline))
	}
}
