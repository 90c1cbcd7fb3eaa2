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
	"github.com/sluice-sql/sluice/internal/testrows"
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

func schema(t testing.TB, columns ...string) types.Schema { return testrows.Schema(t, columns...) }

func parseType(t testing.TB, text string) types.Type { return testrows.Type(t, text) }

func numbers(from, n int) *column.Batch { return testrows.Numbers(from, n) }

func feed(batches ...*column.Batch) func() (*column.Batch, error) { return testrows.Feed(batches...) }

func batchText(batches ...*column.Batch) string { return testrows.Text("NULL", batches...) }

// write runs a transaction up to its seal.
func (f *fixture) write(tx connector.Transaction, batches ...*column.Batch) (int64, error) {
	return testrows.Write(f.ctx, tx, feed(batches...))
}

func (f *fixture) done(tx connector.Transaction, batches ...*column.Batch) int64 {
	f.t.Helper()
	return testrows.Done(f.ctx, f.t, tx, batches...)
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

func (f *fixture) read(tab *Table, scan connector.Scan) ([]*column.Batch, error) {
	return testrows.Read(f.ctx, tab, scan, 2)
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

// eventually waits for what comes soon.
func (f *fixture) eventually(is func() bool) {
	f.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(10 * time.Millisecond) {
		require.True(f.t, time.Now().Before(deadline))
	}
}
