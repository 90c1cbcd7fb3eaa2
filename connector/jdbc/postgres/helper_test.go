package postgres

import (
	"context"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/internal/testrows"
	"github.com/sluice-sql/sluice/internal/testserver"
	"github.com/sluice-sql/sluice/types"
)

// fixture is a server with an empty database. At the end of the test no session of ours may be left on it, and nothing
// with a name of ours in the database.
type fixture struct {
	t   testing.TB
	ts  *testserver.Server
	s   *Server
	db  string
	ctx context.Context

	mu    sync.Mutex
	admin *pgconn.PgConn
}

func setUp(t testing.TB) *fixture {
	ts := testserver.Postgres(t)
	f := &fixture{t: t, ts: ts, db: ts.Database(t), ctx: context.Background()}
	f.s = f.server(ts.Addr(), nil, nil)
	cfg, err := f.s.driverConfig()
	require.NoError(t, err)
	cfg = cfg.Copy()
	cfg.Database, cfg.RuntimeParams = f.db, map[string]string{"application_name": "testserver", "timezone": "UTC"}
	f.admin, err = pgconn.ConnectConfig(f.ctx, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.admin.Close(f.ctx) })
	t.Cleanup(func() {
		ts.NoSessions(t)
		require.Empty(t, f.sql("SELECT relname FROM pg_class WHERE relname LIKE '%sluice%' UNION SELECT nspname FROM pg_namespace WHERE nspname LIKE '%sluice%'"), "something of ours is left")
		require.Equal(t, "0\n", f.sql("SELECT count(*) FROM pg_locks WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND pid <> pg_backend_pid() AND pid IN (SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend')"), "locks are left")
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

// option is the server with an option set.
func (f *fixture) option(key, value string) *Server {
	return f.server(f.ts.Addr(), nil, map[string]string{key: value})
}

// proxied is the server behind a proxy.
func (f *fixture) proxied(filter func(testserver.Direction, []byte) testserver.Verdict) (*Server, *testserver.Proxy) {
	p := testserver.NewProxy(f.t, f.ts.Addr(), filter)
	return f.server(p.Addr(), map[string]string{"sslmode": "disable"}, nil), p
}

// sql runs statements in a session that this package has no part in, and returns all rows as psql prints them: a line
// each, columns apart by a tab, NULL as \N.
func (f *fixture) sql(script string) string {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	results, err := f.admin.Exec(f.ctx, script).ReadAll()
	require.NoError(f.t, err, script)
	var b strings.Builder
	for _, r := range results {
		for _, row := range r.Rows {
			for i, v := range row {
				if i > 0 {
					b.WriteByte('\t')
				}
				if v == nil {
					v = []byte(`\N`)
				}
				b.Write(v)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func schema(t testing.TB, columns ...string) types.Schema { return testrows.Schema(t, columns...) }

func parseType(t testing.TB, text string) types.Type { return testrows.Type(t, text) }

func numbers(from, n int) *column.Batch { return testrows.Numbers(from, n) }

func feed(batches ...*column.Batch) func() (*column.Batch, error) { return testrows.Feed(batches...) }

func batchText(batches ...*column.Batch) string { return testrows.Text(null, batches...) }

const null = "<NULL>"

// rows is a batch of these types, each row given by the texts of its values.
func rows(t testing.TB, of []types.Type, values ...[]string) *column.Batch {
	b := column.NewBatch(of, max(len(values), 1))
	for _, row := range values {
		require.Len(t, row, len(of))
		for i, text := range row {
			appendText(t, b.Cols[i], text)
		}
		b.N++
	}
	return b
}

// appendText appends the value that a text is in the type's plain form; an array's elements are apart by semicolons.
func appendText(t testing.TB, v *column.Vector, text string) {
	if text == null {
		v.AppendNull()
		return
	}
	var x int64
	var err error
	switch k := v.Type.Kind; {
	case k == types.Boolean:
		var is bool
		is, err = types.ParseBoolean([]byte(text))
		v.AppendBool(is)
		require.NoError(t, err)
		return
	case k == types.Decimal:
		d, err := types.ParseDecimalExact([]byte(text), v.Type.Precision, v.Type.Scale)
		require.NoError(t, err, text)
		v.AppendI128(d)
		return
	case v.Type.IsFloat():
		f, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err, text)
		v.AppendF64(f)
		return
	case v.Type.IsString(), v.Type.IsBinary():
		v.AppendString(text)
		return
	case k == types.Array:
		if text != "" {
			for _, e := range strings.Split(text, ";") {
				appendText(t, v.Children[0], e)
			}
		}
		v.EndRow()
		return
	case v.Type.IsInteger():
		x, err = types.ParseInt([]byte(text), k)
	case k == types.Date:
		var d int32
		d, err = types.ParseDate([]byte(text))
		x = int64(d)
	case k == types.Time:
		var ms int32
		ms, err = types.ParseTime([]byte(text), v.Type.Precision)
		x = int64(ms)
	case k == types.Timestamp, k == types.TimestampLTZ:
		x, err = types.ParseTimestamp([]byte(text), v.Type, nil)
	default: // intervals, by their number
		x, err = strconv.ParseInt(text, 10, 64)
	}
	require.NoError(t, err, text)
	v.AppendI64(x)
}

// write runs a transaction up to its seal.
func (f *fixture) write(tx connector.Transaction, batches ...*column.Batch) (int64, error) {
	return f.writeFrom(f.ctx, tx, feed(batches...))
}

func (f *fixture) writeFrom(ctx context.Context, tx connector.Transaction, next func() (*column.Batch, error)) (int64, error) {
	return testrows.Write(ctx, tx, next)
}

func (f *fixture) done(tx connector.Transaction, batches ...*column.Batch) int64 {
	f.t.Helper()
	return testrows.Done(f.ctx, f.t, tx, batches...)
}

// fails writes, expects an error before COMMIT, and aborts.
func (f *fixture) fails(tx connector.Transaction, want string, batches ...*column.Batch) {
	f.t.Helper()
	_, err := f.write(tx, batches...)
	if err == nil {
		var out connector.Outcome
		out, err = tx.Commit(f.ctx)
		require.Equal(f.t, connector.NotDone, out)
	}
	require.ErrorContains(f.t, err, want)
	require.NotContains(f.t, err.Error(), testserver.Password)
	require.NoError(f.t, tx.Abort(f.ctx))
}

func (f *fixture) stageOf(s *Server, name string, mode server.Mode, sch types.Schema) connector.Transaction {
	return s.Stage(server.Target{Database: f.db, Table: name, Definition: server.Definition{Schema: sch}, Mode: mode})
}

func (f *fixture) stage(name string, mode server.Mode, sch types.Schema) connector.Transaction {
	return f.stageOf(f.s, name, mode, sch)
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

// insert is a transaction that inserts into all columns of a table.
func (f *fixture) insert(tab *Table, in connector.Insert) connector.Transaction {
	f.t.Helper()
	if in.Columns == nil {
		in.Columns = all(tab)
	}
	tx, err := tab.Transaction(f.ctx, in)
	require.NoError(f.t, err)
	return tx
}

func all(tab *Table) (columns []int) {
	for i := range tab.schema.Columns {
		columns = append(columns, i)
	}
	return columns
}

func (f *fixture) read(ctx context.Context, tab *Table, scan connector.Scan, parallelism int) ([]*column.Batch, error) {
	return testrows.Read(ctx, tab, scan, parallelism)
}

// text is all rows of a table as text, a row a line.
func (f *fixture) text(tab *Table, columns ...int) string {
	f.t.Helper()
	if columns == nil {
		columns = all(tab)
	}
	got, err := f.read(f.ctx, tab, connector.Scan{Columns: columns, Limit: -1}, 2)
	require.NoError(f.t, err)
	return batchText(got...)
}

// limited yields n batches of 2,000 numbers.
func limited(n int) func() (*column.Batch, error) {
	i := 0
	return func() (*column.Batch, error) {
		if i == n {
			return nil, nil
		}
		i++
		return numbers((i-1)*2000, 2000), nil
	}
}
