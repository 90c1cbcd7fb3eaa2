//go:build unix

package jdbc

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/internal/testserver"
	"github.com/sluice-sql/sluice/types"
)

// kindOfServer is what differs between the servers in the tests of this file.
type kindOfServer struct {
	*testserver.Server
	quote string // of a name
}

func servers(t *testing.T) map[string]kindOfServer {
	return map[string]kindOfServer{"PostgreSQL": {testserver.Postgres(t), `"`}, "MariaDB": {testserver.MariaDB(t), "`"}}
}

// openServer returns a catalog over an empty database.
func (s kindOfServer) open(t *testing.T) (c catalog.Catalog, database string) {
	database = s.Database(t)
	return s.openAs(t, database), database
}

func (s kindOfServer) openAs(t *testing.T, database string) catalog.Catalog {
	return open(t, map[string]string{"base-url": s.URL(database), "username": testserver.User, "password": testserver.Password})
}

// one is what the server's own client prints, on one line.
func (s kindOfServer) one(t *testing.T, database, query string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(s.Query(t, database, query), "\n", " ")), " ")
}

// tables are the names of all tables that the server's own client sees.
func (s kindOfServer) tables(t *testing.T, database string) string {
	schema := "public"
	if s.Kind == "mysql" {
		schema = database
	}
	return s.one(t, database, "SELECT table_name FROM information_schema.tables WHERE table_schema = '"+schema+"' ORDER BY 1")
}

// TestCasesOfServers are the public bug reports that concern a server's catalog, by their names.
func TestCasesOfServers(t *testing.T) {
	ctx := context.Background()
	bad := errors.New("row 1,000,000: cannot cast 'x' to INT")
	table := tableOf(col("a", types.Of(types.Int)))
	for name, s := range servers(t) {
		stage := func(t *testing.T, c catalog.Catalog, path catalog.ObjectPath, purpose catalog.Purpose) catalog.StagedTable {
			staged, err := c.Stage(ctx, path, table, purpose, false)
			require.NoError(t, err)
			return staged
		}
		insert := func(t *testing.T, c catalog.Catalog, path catalog.ObjectPath) connector.Transaction {
			def, err := c.Table(ctx, path)
			require.NoError(t, err)
			tab, err := c.Factory().Table(ctx, def.Def(connector.ObjectIdentifier{Catalog: "s", Database: path.Database, Object: path.Object}), nil)
			require.NoError(t, err)
			tx, err := tab.(connector.Writable).Transaction(ctx, connector.Insert{Columns: []int{0}})
			require.NoError(t, err)
			return tx
		}
		run1 := func(t *testing.T, tx connector.Transaction, n int) {
			got, err := run(tx, rows(n, nil))
			require.NoError(t, err)
			require.EqualValues(t, n, got)
		}
		t.Run(name+"/C9", func(t *testing.T) {
			c, db := s.open(t)
			run1(t, stage(t, c, catalog.ObjectPath{Database: db, Object: "t"}, catalog.CreateTableAs), 0)
			require.Equal(t, "0", s.one(t, db, "SELECT count(*) FROM t"))
			require.Equal(t, "a", s.one(t, db, "SELECT column_name FROM information_schema.columns WHERE table_name = 't'"))
		})
		t.Run(name+"/C10", func(t *testing.T) {
			c, db := s.open(t)
			at := catalog.ObjectPath{Database: db, Object: "t"}
			k := types.DecimalOf(38, 25)
			b := column.NewBatch([]types.Type{k}, 2)
			for _, text := range []string{"0.1234567890123456789012345", "100.0000000000000000000000000"} {
				d, err := types.ParseDecimalExact([]byte(text), 38, 25)
				require.NoError(t, err)
				b.Cols[0].AppendI128(d)
			}
			b.N = 2
			staged, err := c.Stage(ctx, at, tableOf(col("d", k)), catalog.CreateTableAs, false)
			require.NoError(t, err)
			batches := []*column.Batch{b, nil}
			_, err = run(staged, func() (*column.Batch, error) { b := batches[0]; batches = batches[1:]; return b, nil })
			require.NoError(t, err)
			require.Equal(t, "0.1234567890123456789012345 100.0000000000000000000000000", s.one(t, db, "SELECT d FROM t ORDER BY 1"))
			got, err := readRows(c, at)
			require.NoError(t, err)
			require.ElementsMatch(t, []string{"0.1234567890123456789012345", "100.0000000000000000000000000"}, got)

			// What a numeric of the server may hold beside numbers is no DECIMAL.
			if s.Kind != "postgresql" {
				return
			}
			s.Query(t, db, "CREATE TABLE n (d numeric); INSERT INTO n VALUES (1.5), ('NaN'), (1e-30)")
			_, err = readRows(c, catalog.ObjectPath{Database: db, Object: "n"})
			require.ErrorContains(t, err, "column d")
			require.ErrorContains(t, err, "NaN")
			s.Query(t, db, "DELETE FROM n WHERE d = 'NaN'")
			_, err = readRows(c, catalog.ObjectPath{Database: db, Object: "n"})
			require.ErrorContains(t, err, "0.000000000000000000000000000001")
		})
		t.Run(name+"/C13", func(t *testing.T) {
			c, db := s.open(t)
			at := catalog.ObjectPath{Database: db, Object: "t"}
			_, err := run(stage(t, c, at, catalog.CreateTableAs), rows(299_999, bad))
			require.ErrorIs(t, err, bad)
			require.Empty(t, s.tables(t, db))
			run1(t, stage(t, c, at, catalog.CreateTableAs), 1000)
			require.Equal(t, "1000 t", s.one(t, db, "SELECT count(*) FROM t")+" "+s.tables(t, db))

			_, err = run(stage(t, c, at, catalog.ReplaceTableAs), rows(299_999, bad))
			require.ErrorIs(t, err, bad)
			require.Equal(t, "1000 t", s.one(t, db, "SELECT count(*) FROM t")+" "+s.tables(t, db))
			run1(t, stage(t, c, at, catalog.ReplaceTableAs), 7)
			require.Equal(t, "7 t", s.one(t, db, "SELECT count(*) FROM t")+" "+s.tables(t, db))
		})
		t.Run(name+"/C15", func(t *testing.T) {
			c, db := s.open(t)
			at := catalog.ObjectPath{Database: db, Object: "t"}
			s.Query(t, db, "CREATE TABLE t (a INT); INSERT INTO t VALUES (7)")
			for _, p := range []catalog.Purpose{catalog.CreateTableAs, catalog.CreateTableAsIfNotExists, catalog.CreateTable} {
				_, err := c.Check(ctx, at, table, p)
				require.ErrorIs(t, err, catalog.ErrTableAlreadyExist)
			}
			_, err := run(stage(t, c, at, catalog.CreateTableAs), rows(10, nil))
			require.ErrorIs(t, err, catalog.ErrTableAlreadyExist)
			_, err = run(insert(t, c, at), rows(999, bad))
			require.ErrorIs(t, err, bad)
			_, err = run(stage(t, c, at, catalog.CreateOrReplaceTableAs), rows(999, bad))
			require.ErrorIs(t, err, bad)
			none := catalog.ObjectPath{Database: db, Object: "t2"}
			check, err := c.Check(ctx, none, table, catalog.CreateTableAs)
			require.NoError(t, err)
			require.Equal(t, catalog.Atomic, check.Guarantee)
			require.NotEmpty(t, check.DDL)
			require.NotEmpty(t, check.Reason)
			_, err = c.Check(ctx, none, table, catalog.ReplaceTableAs)
			require.ErrorIs(t, err, catalog.ErrTableNotExist)
			_, err = c.Check(ctx, catalog.ObjectPath{Database: "nosuch", Object: "t"}, table, catalog.CreateTableAs)
			require.ErrorIs(t, err, catalog.ErrDatabaseNotExist)
			require.Equal(t, "7 t", s.one(t, db, "SELECT a FROM t")+" "+s.tables(t, db))
		})
		t.Run(name+"/C16", func(t *testing.T) {
			c, db := s.open(t)
			s.Query(t, db, "CREATE TABLE t (a INT)")
			_, err := run(insert(t, c, catalog.ObjectPath{Database: db, Object: "t"}), rows(1499, bad))
			require.ErrorIs(t, err, bad)
			require.Equal(t, "0 t", s.one(t, db, "SELECT count(*) FROM t")+" "+s.tables(t, db))
		})
		t.Run(name+"/C18", func(t *testing.T) {
			c, db := s.open(t)
			s.Query(t, db, "CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (2), (3)")
			at := catalog.ObjectPath{Database: db, Object: "t"}
			for i := range 20 {
				ctx, cancel := context.WithCancel(ctx)
				tx := insert(t, c, at)
				require.NoError(t, tx.Begin(ctx, connector.NewJobID()))
				w, err := tx.Writer(ctx, 0)
				require.NoError(t, err)
				time.AfterFunc(time.Duration(i)*3*time.Millisecond, cancel)
				require.ErrorIs(t, w.Write(ctx, rows(1_000_000_000, nil)), context.Canceled)
				require.NoError(t, tx.Abort(context.Background()))
				cancel()
			}
			run1(t, insert(t, c, at), 10)
			require.Equal(t, "13 t", s.one(t, db, "SELECT count(*) FROM t")+" "+s.tables(t, db))
		})
		t.Run(name+"/C19", func(t *testing.T) {
			c, db := s.open(t)
			errs := make(chan error, 4)
			var all []connector.Transaction
			for _, object := range []string{"x", "y", "same", "same"} {
				all = append(all, stage(t, c, catalog.ObjectPath{Database: db, Object: object}, catalog.CreateTableAs))
			}
			for _, staged := range all {
				go func() {
					_, err := run(staged, rows(20_000, nil))
					errs <- err
				}()
			}
			var lost []error
			for range 4 {
				if err := <-errs; err != nil {
					lost = append(lost, err)
				}
			}
			require.Len(t, lost, 1)
			require.ErrorIs(t, lost[0], catalog.ErrTableAlreadyExist)
			require.Equal(t, "same x y", s.tables(t, db))
			require.Equal(t, "20000 20000 20000", s.one(t, db, "SELECT (SELECT count(*) FROM x), (SELECT count(*) FROM y), (SELECT count(*) FROM same)"))

			// A job reads the database that it writes to.
			from := catalog.ObjectPath{Database: db, Object: "x"}
			def, err := c.Table(ctx, from)
			require.NoError(t, err)
			tab, err := c.Factory().Table(ctx, def.Def(connector.ObjectIdentifier{Catalog: "s", Database: db, Object: "x"}), nil)
			require.NoError(t, err)
			src, err := tab.(connector.Scannable).Source(ctx, connector.Scan{Columns: []int{0}, Limit: -1})
			require.NoError(t, err)
			splits, err := src.Splits(ctx, 1)
			require.NoError(t, err)
			r, err := src.Reader(ctx, splits)
			require.NoError(t, err)
			staged, err := c.Stage(ctx, catalog.ObjectPath{Database: db, Object: "copy"}, table, catalog.CreateTableAs, true)
			require.NoError(t, err)
			n, err := run(staged, func() (*column.Batch, error) {
				b := &column.Batch{}
				for {
					status, err := r.Read(ctx, b)
					if err != nil || b.N > 0 {
						return b, err
					}
					if status == connector.End {
						return nil, nil
					}
				}
			})
			require.NoError(t, err)
			require.EqualValues(t, 20_000, n)
			require.NoError(t, r.Close())
			require.NoError(t, src.Close())
			require.NoError(t, tab.Close())
			require.Equal(t, "20000", s.one(t, db, "SELECT count(*) FROM copy"))
		})
		t.Run(name+"/C20", func(t *testing.T) {
			db := s.Database(t)
			at := catalog.ObjectPath{Database: db, Object: "t"}
			errs := make(chan error, 8)
			var all []connector.Transaction
			for range 8 {
				all = append(all, stage(t, s.openAs(t, db), at, catalog.CreateTableAsIfNotExists))
			}
			for _, staged := range all {
				go func() {
					_, err := run(staged, rows(5000, nil))
					errs <- err
				}()
			}
			made := 0
			for range 8 {
				if err := <-errs; err == nil {
					made++
				} else {
					require.ErrorIs(t, err, catalog.ErrTableAlreadyExist)
					require.Equal(t, "table t already exists", err.Error())
				}
			}
			require.Equal(t, 1, made)
			require.Equal(t, "5000 t", s.one(t, db, "SELECT count(*) FROM t")+" "+s.tables(t, db))
		})
		t.Run(name+"/key", func(t *testing.T) {
			c, db := s.open(t)
			s.Query(t, db, "CREATE TABLE t (a INT)")
			at := catalog.ObjectPath{Database: db, Object: "t"}
			require.Equal(t, c.StoreKey(at), stage(t, c, at, catalog.CreateTableAs).Key())
			require.Equal(t, c.StoreKey(at), insert(t, c, at).Key())
			require.NotContains(t, c.StoreKey(at), testserver.Password)
		})
		t.Run(name+"/evidence", func(t *testing.T) {
			// The default database of the catalog is another one than the table's.
			db, other := s.Database(t), s.Database(t)
			c := s.openAs(t, other)
			at := catalog.ObjectPath{Database: db, Object: "t"}
			for i, tx := range []connector.Transaction{stage(t, c, at, catalog.CreateTableAs), nil} {
				if tx == nil {
					tx = insert(t, c, at)
				}
				var noted []string
				tx.(connector.Evident).NoteEvidence(func(evidence string) error { noted = append(noted, evidence); return nil })
				run1(t, tx, 10)
				require.NotEmpty(t, noted)
				// The last note is asked by. It tells the outcome itself where what an earlier one is of is cleared up after it.
				for _, note := range noted {
					require.NotContains(t, note, testserver.Password)
				}
				out, err := s.openAs(t, other).(catalog.Resolver).Outcome(ctx, noted[len(noted)-1])
				require.NoError(t, err, strconv.Itoa(i))
				require.Equal(t, connector.Done, out, strconv.Itoa(i))
			}
			require.Equal(t, "20", s.one(t, db, "SELECT count(*) FROM t"))
		})
		t.Run(name+"/sessions", func(t *testing.T) { s.NoSessions(t) })
	}
}

// Names read from a server, and written to one, are hostile.
func TestNamesOfServers(t *testing.T) {
	ctx := context.Background()
	for name, s := range servers(t) {
		t.Run(name, func(t *testing.T) {
			c, db := s.open(t)
			s.Query(t, db, "CREATE TABLE keep (a INT); INSERT INTO keep VALUES (1)")
			for i, hostile := range []string{`x" ); drop table keep; --`, "x` ); drop table keep; --", `x'); drop table keep; --`, `a\'; drop table keep`, "tab\tnew\nline", "日本語", "select", "A", "a", "%s", "$1"} {
				table := tableOf(col(hostile, types.Of(types.Int)))
				at := catalog.ObjectPath{Database: db, Object: hostile}
				staged, err := c.Stage(ctx, at, table, catalog.CreateTableAs, false)
				require.NoError(t, err, hostile)
				if _, err = run(staged, rows(3, nil)); err != nil {
					require.NotContains(t, err.Error(), "syntax", hostile)
					t.Logf("%q: %v", hostile, err)
					continue
				}
				got, err := c.Table(ctx, at)
				require.NoError(t, err, hostile)
				require.Equal(t, hostile, got.Schema.Columns[0].Name)
				read, err := readRows(c, at)
				require.NoError(t, err, hostile)
				require.Len(t, read, 3)
				require.NoError(t, c.RenameTable(ctx, at, fmt.Sprintf("renamed %d", i)))
				names, err := c.ListTables(ctx, db)
				require.NoError(t, err)
				require.NotContains(t, names, hostile)
				require.NoError(t, c.DropTable(ctx, catalog.ObjectPath{Database: db, Object: fmt.Sprintf("renamed %d", i)}, ""))
			}
			for _, none := range []string{"", "a\x00b", strings.Repeat("x", 65), "_sluice_x"} {
				_, err := c.Check(ctx, catalog.ObjectPath{Database: db, Object: none}, tableOf(col("a", types.Of(types.Int))), catalog.CreateTableAs)
				require.Error(t, err, none)
				require.Error(t, c.CreateDatabase(ctx, none, catalog.Database{}), none)
				_, err = c.Table(ctx, catalog.ObjectPath{Database: db, Object: none})
				require.ErrorIs(t, err, catalog.ErrTableNotExist, none)
				_, err = c.ListTables(ctx, none)
				require.Error(t, err, none)
			}
			require.Equal(t, "keep 1", s.tables(t, db)+" "+s.one(t, db, "SELECT a FROM keep"))
			s.NoSessions(t)
		})
	}
}

// stranger is a server of which nothing is known until it was looked at.
type stranger struct {
	server.Server
	known bool
}

func (s *stranger) CheckTable(string, server.Definition) (string, []string, error) {
	if s.known {
		return "CREATE TABLE of this server", []string{"INT"}, nil
	}
	return "CREATE TABLE of some server", []string{"INT"}, nil
}

func (s *stranger) CheckStage(context.Context, server.Target) (string, []string, error) {
	s.known = true
	return "", nil, nil
}

// EXPLAIN as the first statement prints what this server would be sent, not what some server would be.
func TestCheckKnowsTheServer(t *testing.T) {
	check, err := (&Server{server: &stranger{}}).Check(context.Background(), catalog.ObjectPath{Database: "d", Object: "t"}, tableOf(col("a", types.Of(types.Int))), catalog.CreateTableAs)
	require.NoError(t, err)
	require.Equal(t, "CREATE TABLE of this server", check.DDL)
}
