package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/internal/testserver"
	"github.com/sluice-sql/sluice/types"
)

var errBad = errors.New("the last row is bad")

// bad yields n rows and then an error.
func bad(n int) func() (*column.Batch, error) {
	from := 0
	return func() (*column.Batch, error) {
		if from == n {
			return nil, errBad
		}
		some := min(1000, n-from)
		from += some
		return numbers(from-some, some), nil
	}
}

// TestCreate: a table is there with its rows or not at all, and has nothing in it that tells of the way it was made.
func TestCreate(t *testing.T) {
	f := setUp(t)
	def := server.Definition{Schema: schema(t, "id* INT NOT NULL", "small TINYINT", "b VARBINARY(3)"), Comment: "it's", Comments: map[string]string{"b": "bytes; --"}}
	tx := f.s.Stage(server.Target{Database: f.db, Table: "t", Definition: def})
	of := def.Schema
	n, err := f.write(tx, rows(t, []types.Type{of.Columns[0].Type, of.Columns[1].Type, of.Columns[2].Type}, []string{"1", "2", "x"}, []string{"2", null, null}))
	require.NoError(t, err)
	require.Equal(t, int64(2), n)
	require.Equal(t, "\\N\n", f.sql("SELECT to_regclass('t')"))
	out, err := tx.Commit(f.ctx)
	require.NoError(t, err)
	require.Equal(t, connector.Done, out)
	out, err = tx.Commit(f.ctx) // is repeatable
	require.NoError(t, err)
	require.Equal(t, connector.Done, out)
	require.NoError(t, tx.Abort(f.ctx)) // and not undone
	require.Equal(t, "1|2|x'78'\n2|<NULL>|<NULL>\n", f.text(f.open("t")))
	require.Equal(t, "b_check\nsmall_check\nt_pkey\n", f.sql("SELECT conname FROM pg_constraint WHERE conrelid = 't'::regclass ORDER BY 1"))
	require.Equal(t, "it's\nbytes; --\n", f.sql("SELECT description FROM pg_description WHERE objoid = 't'::regclass ORDER BY objsubid"))
	info, _, err := f.s.Describe(f.ctx, f.db, "t")
	require.NoError(t, err)
	require.Equal(t, []string{"id"}, info.Schema.PrimaryKey)
	require.Equal(t, "TINYINT", info.Schema.Columns[1].Type.String())
	require.Equal(t, "VARBINARY(3)", info.Schema.Columns[2].Type.String())
	require.Equal(t, "it's", info.Comment)
	require.Equal(t, map[string]string{"b": "bytes; --"}, info.Comments)
}

// TestCases/C9: no rows make a table with its schema.
func TestCreateEmpty(t *testing.T) {
	f := setUp(t)
	require.Equal(t, int64(0), f.done(f.stage("t", server.Create, schema(t, "a INT", "b STRING"))))
	require.Equal(t, "", f.text(f.open("t")))
	require.Equal(t, int64(0), f.done(f.stage("u", server.Create, schema(t, "a INT")), numbers(0, 0)))
	require.Equal(t, "0\n", f.sql("SELECT count(*) FROM u"))
}

// TestCases/C13, C16: a row that fails, or a source that does, leaves nothing behind, and the same again works.
func TestCreateFails(t *testing.T) {
	f := setUp(t)
	sch := schema(t, "a INT")
	for _, n := range []int{0, 1, 1499, 100_000} {
		tx := f.stage("t", server.Create, sch)
		_, err := f.writeFrom(f.ctx, tx, bad(n))
		require.ErrorIs(t, err, errBad)
		w, err := tx.Writer(f.ctx, 0)
		require.ErrorIs(t, err, errBad)
		require.Nil(t, w)
		_, err = tx.Seal(f.ctx)
		require.ErrorIs(t, err, errBad)
		out, err := tx.Commit(f.ctx)
		require.Equal(t, connector.NotDone, out)
		require.ErrorIs(t, err, errBad)
		require.NoError(t, tx.Abort(f.ctx))
		require.NoError(t, tx.Abort(f.ctx))
		f.ts.NoSessions(t)
		require.Equal(t, "\\N\n", f.sql("SELECT to_regclass('t')"))
	}
	require.Equal(t, int64(5), f.done(f.stage("t", server.Create, sch), numbers(0, 5)))

	// Of a duplicate key the row and the key are told.
	key := schema(t, "a* INT NOT NULL")
	f.fails(f.stage("u", server.Create, key), "table u, row 7: duplicate key: Key (a)=(2) is duplicated", numbers(0, 6), numbers(2, 1))
	long := schema(t, "s* STRING NOT NULL")
	f.fails(f.stage("u", server.Create, long), `table u: index row `, rows(t, []types.Type{types.String()}, []string{noise(50_000)}))
	f.fails(f.stage("u", server.Create, long), `for index "u_pkey": Index row references tuple (0,1) in relation "u"`, rows(t, []types.Type{types.String()}, []string{noise(2000)}))
	f.fails(f.stage("u", server.Create, key), "table u, row 1: NULL in a NOT NULL column: null value in column \"a\"", rows(t, []types.Type{types.Of(types.Int)}, []string{null}))
	require.Equal(t, "\\N\n", f.sql("SELECT to_regclass('u')"))
}

// TestAbort ends a transaction at each of its steps.
func TestAbort(t *testing.T) {
	f := setUp(t)
	for step := range 5 {
		tx := f.stage("t", server.Create, schema(t, "a INT"))
		if step > 0 {
			require.NoError(t, tx.Begin(f.ctx, connector.NewJobID()))
		}
		if step > 1 {
			w, err := tx.Writer(f.ctx, 0)
			require.NoError(t, err)
			if step > 2 {
				require.NoError(t, w.Write(f.ctx, feed(numbers(0, 3000))))
				require.NoError(t, w.Close())
			}
		}
		if step > 3 {
			_, err := tx.Seal(f.ctx)
			require.NoError(t, err)
		}
		require.NoError(t, tx.Abort(f.ctx))
		out, err := tx.Commit(f.ctx)
		require.Equal(t, connector.NotDone, out)
		require.ErrorContains(t, err, "the transaction was aborted")
		f.ts.NoSessions(t)
		require.Equal(t, "\\N\n", f.sql("SELECT to_regclass('t')"))
	}
}

// TestExists: a name that is taken, before, meanwhile, or at the last moment by a rival, is said so, and stays his.
func TestExists(t *testing.T) {
	f := setUp(t)
	sch := schema(t, "a INT")
	for _, made := range []string{"CREATE TABLE t(x int)", "CREATE VIEW t AS SELECT 1 AS x", "CREATE SEQUENCE t", "CREATE TYPE t AS (x int)", "CREATE MATERIALIZED VIEW t AS SELECT 1 AS x", "CREATE TABLE o(x int); CREATE INDEX t ON o(x)"} {
		f.sql(made)
		_, _, err := f.s.CheckStage(f.ctx, server.Target{Database: f.db, Table: "t", Definition: server.Definition{Schema: sch}})
		var exists *server.ExistsError
		require.ErrorAs(t, err, &exists, made)
		f.fails(f.stage("t", server.Create, sch), "t already exists", numbers(0, 3))
		f.sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public")

		tx := f.stage("t", server.Create, sch)
		_, err = f.write(tx, numbers(0, 3))
		if strings.HasPrefix(made, "CREATE TABLE t") { // begun, and not ended when we rename
			require.NoError(t, err)
			require.NoError(t, tx.Abort(f.ctx))
			tx = f.stage("t", server.Create, sch)
			require.NoError(t, tx.Begin(f.ctx, connector.NewJobID()))
			rival, err := f.s.connect(f.ctx, f.db)
			require.NoError(t, err)
			_, err = rival.exec(f.ctx, "BEGIN; "+made)
			require.NoError(t, err)
			over, ended := make(chan struct{}), make(chan error)
			go func() {
				for waits := "0\n"; waits == "0\n"; { // until we wait for him
					select {
					case <-over:
						waits = "no more"
					case <-time.After(10 * time.Millisecond):
						waits = f.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()")
					}
				}
				_, err := rival.exec(f.ctx, "COMMIT")
				rival.close()
				ended <- err
			}()
			_, err = tx.Seal(f.ctx)
			require.NoError(t, err)
			out, err := tx.Commit(f.ctx)
			close(over)
			require.NoError(t, <-ended)
			require.Equal(t, connector.NotDone, out)
			require.ErrorAs(t, err, &exists)
			require.NoError(t, tx.Abort(f.ctx))
			require.Equal(t, "x\n", f.sql("SELECT attname FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 0"))
		} else {
			require.NoError(t, err)
			require.NoError(t, tx.Abort(f.ctx))
		}
		f.sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
	}
	// Taken after Begin and committed before Seal.
	tx := f.stage("t", server.Create, sch)
	require.NoError(t, tx.Begin(f.ctx, connector.NewJobID()))
	f.sql("CREATE TABLE t(x int)")
	_, err := tx.Seal(f.ctx)
	require.NoError(t, err)
	out, err := tx.Commit(f.ctx)
	require.Equal(t, connector.NotDone, out)
	var exists *server.ExistsError
	require.ErrorAs(t, err, &exists)
	require.Equal(t, "table t already exists", exists.Error())
	require.NoError(t, tx.Abort(f.ctx))

	// TestCases/C20: of eight that make the same, one does.
	made := make(chan bool, 8)
	for range 8 {
		go func() {
			tx := f.stage("u", server.Create, sch)
			_, err := f.write(tx, numbers(0, 2000))
			if err == nil {
				_, err = tx.Commit(f.ctx)
			}
			_ = tx.Abort(f.ctx)
			var exists *server.ExistsError
			made <- err == nil
			if err != nil && !errors.As(err, &exists) {
				t.Errorf("a rival gets %v", err)
			}
		}()
	}
	n := 0
	for range 8 {
		if <-made {
			n++
		}
	}
	require.Equal(t, 1, n)
	require.Equal(t, "2000\n", f.sql("SELECT count(*) FROM u"))
}

// TestReplace: the new table takes the place of the old one, and the name of its key.
// A job that reads the table it replaces keeps others from writing it, and not from reading: what they write comes after.
func TestReplaceOfWhatItReads(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE t(a int); INSERT INTO t VALUES (1)")
	for _, reads := range []bool{false, true} {
		tx := f.stage("t", server.Replace, schema(t, "a INT"))
		if reads {
			tx.(*Transaction).ReadsTarget()
		}
		require.NoError(t, tx.Begin(f.ctx, connector.NewJobID()))
		require.Equal(t, "1\n", f.sql("SELECT a FROM t"))
		_, err := f.ts.TryQuery(f.db, "SET lock_timeout = '100ms'; INSERT INTO t VALUES (2)")
		require.Equal(t, reads, err != nil, err)
		require.NoError(t, tx.Abort(f.ctx))
		f.sql("TRUNCATE t; INSERT INTO t VALUES (1)")
	}
}

func TestReplace(t *testing.T) {
	f := setUp(t)
	sch := schema(t, "a* INT NOT NULL")
	require.Equal(t, int64(2), f.done(f.stage("t", server.CreateOrReplace, sch), numbers(0, 2)))
	require.Equal(t, int64(3), f.done(f.stage("t", server.CreateOrReplace, sch), numbers(10, 3)))
	require.Equal(t, "10\n11\n12\n", f.text(f.open("t")))
	require.Equal(t, int64(1), f.done(f.stage("t", server.Replace, schema(t, "b STRING")), rows(t, []types.Type{types.String()}, []string{"x"})))
	require.Equal(t, "x\n", f.text(f.open("t")))
	f.done(f.stage("t", server.Replace, sch), numbers(7, 1))
	require.Equal(t, "t_pkey\n", f.sql("SELECT conname FROM pg_constraint WHERE conrelid = 't'::regclass"))

	tx := f.stage("nosuch", server.Replace, sch)
	require.ErrorIs(t, tx.Begin(f.ctx, connector.NewJobID()), server.ErrNotThere)
	require.NoError(t, tx.Abort(f.ctx))

	// A query that fails leaves the very table.
	was := f.sql("SELECT oid, relfilenode FROM pg_class WHERE relname = 't'")
	tx = f.stage("t", server.Replace, sch)
	_, err := f.writeFrom(f.ctx, tx, bad(5000))
	require.ErrorIs(t, err, errBad)
	require.NoError(t, tx.Abort(f.ctx))
	require.Equal(t, was, f.sql("SELECT oid, relfilenode FROM pg_class WHERE relname = 't'"))

	// A table that is not the same any more is not replaced.
	for _, change := range []string{"ALTER TABLE t ADD COLUMN z int", "ALTER TABLE t RENAME TO t2; CREATE TABLE t(mine int)", "DROP TABLE t; CREATE TABLE t(mine int)", "DROP TABLE t"} {
		f.sql("DROP TABLE IF EXISTS t, t2; CREATE TABLE t(a int)")
		tx := f.stage("t", server.CreateOrReplace, schema(t, "a INT"))
		require.NoError(t, tx.Begin(f.ctx, connector.NewJobID()))
		f.sql(change)
		_, err := tx.Seal(f.ctx)
		require.NoError(t, err, change)
		out, err := tx.Commit(f.ctx)
		require.Equal(t, connector.NotDone, out, change)
		require.ErrorIs(t, err, server.ErrChanged, change)
		require.NoError(t, tx.Abort(f.ctx))
	}
	// One that appeared meanwhile, neither.
	tx = f.stage("v", server.CreateOrReplace, schema(t, "a INT"))
	require.NoError(t, tx.Begin(f.ctx, connector.NewJobID()))
	f.sql("CREATE TABLE v(mine int)")
	_, err = tx.Seal(f.ctx)
	require.NoError(t, err)
	_, err = tx.Commit(f.ctx)
	var exists *server.ExistsError
	require.ErrorAs(t, err, &exists)
	require.NoError(t, tx.Abort(f.ctx))
	// What came to depend on it meanwhile is not lost.
	f.sql("CREATE TABLE w(a int); INSERT INTO w VALUES (1)")
	tx = f.stage("w", server.Replace, schema(t, "a INT"))
	require.NoError(t, tx.Begin(f.ctx, connector.NewJobID()))
	f.sql("CREATE VIEW sight AS SELECT * FROM w")
	_, err = tx.Seal(f.ctx)
	require.ErrorContains(t, err, "table w cannot be replaced any more, since this would be lost with it: view sight")
	require.NoError(t, tx.Abort(f.ctx))
	require.Equal(t, "1\n", f.sql("SELECT * FROM sight"))
}

// TestReplaceRefuses: what would be lost with the old table, or would change, is named, and everything stays.
func TestReplaceRefuses(t *testing.T) {
	f := setUp(t)
	f.sql("DROP ROLE IF EXISTS ann; CREATE ROLE ann")
	t.Cleanup(func() { f.ts.Query(t, "postgres", "DROP ROLE IF EXISTS ann") })
	for _, c := range []struct{ sql, want string }{
		{"CREATE VIEW sight AS SELECT a FROM t", "view sight"},
		{"CREATE MATERIALIZED VIEW sight AS SELECT a FROM t", "materialized view sight"},
		{"CREATE VIEW sight AS SELECT 1 AS x FROM t; CREATE VIEW sight2 AS SELECT * FROM sight", "view sight"},
		{"CREATE TABLE child(a int REFERENCES t)", "constraint child_a_fkey on table child"},
		{"CREATE TABLE parent(p int PRIMARY KEY); INSERT INTO parent VALUES (2); ALTER TABLE t ADD FOREIGN KEY (b) REFERENCES parent", "constraint t_b_fkey on table t"},
		{"CREATE FUNCTION fn() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER trg BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION fn()", "trigger trg on table t"},
		{"CREATE RULE r AS ON INSERT TO t DO ALSO SELECT 1", "rule r on table t"},
		{"CREATE POLICY p ON t USING (true)", "policy p on table t"},
		{"ALTER TABLE t ENABLE ROW LEVEL SECURITY", "row-level security"},
		{"CREATE INDEX i ON t(b)", "index i"},
		{"CREATE UNIQUE INDEX i ON t(b)", "index i"},
		{"ALTER TABLE t ADD UNIQUE (b)", "constraint t_b_key on table t"},
		{"ALTER TABLE t ADD CHECK (a < 100)", "constraint t_a_check on table t"},
		{"ALTER TABLE t ALTER b SET DEFAULT 7", "default value for column b of table t"},
		{"ALTER TABLE t ADD COLUMN g int GENERATED ALWAYS AS (a + 1) STORED", "default value for column g of table t"},
		{"ALTER TABLE t ADD COLUMN i int GENERATED BY DEFAULT AS IDENTITY", "sequence t_i_seq"},
		{"CREATE SEQUENCE s OWNED BY t.b", "sequence s"},
		{"CREATE PUBLICATION pub FOR TABLE t", "publication of table t in publication pub"},
		{"CREATE STATISTICS st ON a, b FROM t", "statistics object st"},
		{"CREATE TABLE heir() INHERITS (t)", "table heir"},
		{"CREATE TABLE base(a int NOT NULL, b int); ALTER TABLE t INHERIT base", "its being a part of table base"},
		{"CREATE TABLE user_of(x t)", "table user_of"},
		{"CREATE TABLE user_of(x t[])", "table user_of"},
		{"CREATE FUNCTION fn(t) RETURNS int LANGUAGE sql AS 'SELECT 1'", "function fn(t)"},
		{"CREATE FUNCTION fn() RETURNS SETOF t LANGUAGE sql AS 'SELECT * FROM t'", "function fn()"},
		{"GRANT SELECT ON t TO ann", "rights granted to ann"},
		{"GRANT SELECT (a) ON t TO PUBLIC", "rights granted to everybody"},
		{"REVOKE INSERT ON t FROM CURRENT_USER", "the rights of its owner, which were changed"},
		{"ALTER TABLE t OWNER TO ann", "its owner ann"},
		{"COMMENT ON TABLE t IS 'x'", "the comment on the table"},
		{"COMMENT ON COLUMN t.b IS 'x'", "the comment on the column b"},
		{"ALTER TABLE t SET UNLOGGED", "its being unlogged"},
		{"ALTER TABLE t SET (fillfactor = 50)", "its storage options fillfactor=50"},
		{"ALTER TABLE t REPLICA IDENTITY FULL", "its replica identity"},
		{"ALTER TABLE t ALTER b SET STATISTICS 500", "the settings of column b"},
		{"ALTER TABLE t ALTER b SET (n_distinct = 5)", "the settings of column b"},
		{"ALTER TABLE t CLUSTER ON t_pkey", "its being clustered on t_pkey"},
		{"ALTER TABLE t ADD COLUMN s text COLLATE \"C\"", "the collation of column s"},
		{"DROP TABLE t; CREATE TYPE pair AS (a int, b int); CREATE TABLE t OF pair; INSERT INTO t VALUES (1, 2)", "its being of type pair"},
		{"ALTER TABLE t ADD COLUMN s text CHECK (octet_length(s) >= 3)", "constraint t_s_check on table t"},
		{"ALTER TABLE t ADD COLUMN s text CONSTRAINT s_check CHECK (octet_length(s) <= 3)", "constraint s_check on table t"},
		{"ALTER TABLE t ADD COLUMN v varchar(20) CHECK (octet_length(v) <= 10)", "constraint t_v_check on table t"},
		{"ALTER TABLE t ADD COLUMN q smallint CHECK (q >= -128 AND q <= 127)", "constraint t_q_check on table t"},
		{"ALTER TABLE t ADD COLUMN q int CONSTRAINT q_check CHECK (q >= -128 AND q <= 127)", "constraint q_check on table t"},
		{"ALTER TABLE t ADD COLUMN x bytea CHECK (octet_length(x) <= 2)", "constraint t_x_check on table t"},
		{"ALTER TABLE t ADD COLUMN x bytea CONSTRAINT x_check CHECK (octet_length(x) >= 2)", "constraint x_check on table t"},
		{"ALTER TABLE t ADD COLUMN x bytea; ALTER TABLE t ADD CONSTRAINT x_check CHECK (octet_length(x) = 2) NOT VALID", "constraint x_check on table t"},
		{"ALTER TABLE t ADD COLUMN s text; ALTER TABLE t SET (toast.autovacuum_enabled = off)", "the storage options of its long values autovacuum_enabled=off"},
		{"ALTER TABLE t DROP CONSTRAINT t_pkey, ADD PRIMARY KEY (a) DEFERRABLE", "the settings of its primary key"},
		{"ALTER TABLE t DROP CONSTRAINT t_pkey, ADD PRIMARY KEY (a) INCLUDE (b)", "the settings of its primary key"},
		{"ALTER INDEX t_pkey SET (fillfactor = 50)", "the settings of its primary key"},
		{"COMMENT ON CONSTRAINT t_pkey ON t IS 'x'", "the comment on constraint t_pkey on table t"},
		{"COMMENT ON INDEX t_pkey IS 'x'", "the comment on index t_pkey"},
		{"ALTER EXTENSION plpgsql ADD TABLE t", "its being a part of extension plpgsql"},
	} {
		f.sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE TABLE t(a int PRIMARY KEY, b int); INSERT INTO t VALUES (1, 2); " + c.sql)
		target := server.Target{Database: f.db, Table: "t", Definition: server.Definition{Schema: schema(t, "a INT")}, Mode: server.Replace}
		_, _, err := f.s.CheckStage(f.ctx, target)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %q in %v", c.sql, c.want, err)
			continue
		}
		require.ErrorContains(t, err, "table t cannot be replaced, since this would be lost with it: ", c.sql)
		f.fails(f.s.Stage(target), c.want, numbers(0, 1))
		require.Equal(t, "1\t2\n", f.sql("SELECT a, b FROM t"))
		if strings.Contains(c.sql, "EXTENSION") {
			f.sql("ALTER EXTENSION plpgsql DROP TABLE t")
		}
	}
	// Comments that the new table brings are no loss.
	f.sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE TABLE t(a int); COMMENT ON TABLE t IS 'x'; COMMENT ON COLUMN t.a IS 'y'")
	tx := f.s.Stage(server.Target{Database: f.db, Table: "t", Definition: server.Definition{Schema: schema(t, "a INT"), Comment: "new", Comments: map[string]string{"a": "newer"}}, Mode: server.Replace})
	f.done(tx, numbers(0, 1))
	require.Equal(t, "new\nnewer\n", f.sql("SELECT description FROM pg_description WHERE objoid = 't'::regclass ORDER BY objsubid"))
	// What is no ordinary table is not replaced.
	for made, want := range map[string]string{
		"CREATE VIEW t AS SELECT 1 AS a":                            "t is a view; only an ordinary table can be replaced",
		"CREATE TABLE t(a int) PARTITION BY RANGE (a)":              "t is a partitioned table; only an ordinary table can be replaced",
		"CREATE SEQUENCE t":                                         "t is a sequence; only",
		"CREATE TABLE o(a int PRIMARY KEY); CREATE INDEX t ON o(a)": "t is a index; only",
	} {
		f.sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public; " + made)
		f.fails(f.stage("t", server.CreateOrReplace, schema(t, "a INT")), want, numbers(0, 1))
	}
}

// TestReplaceOwnChecks: the conditions that stand for types of ours go with their columns, and others that the new
// table declares are no loss.
func TestReplaceOwnChecks(t *testing.T) {
	f := setUp(t)
	own := schema(t, "a INT", "tiny TINYINT", "odd VARBINARY(3)", "exact BINARY(2)")
	own.Columns[2].Name = `odd "%1$I`
	checks := func() string {
		return f.sql("SELECT conname FROM pg_constraint WHERE conrelid = 't'::regclass AND contype = 'c' ORDER BY 1")
	}
	f.done(f.stage("t", server.Create, own))
	require.NoError(t, f.s.AlterTable(f.ctx, f.db, "t", []server.Step{
		{Kind: server.AddColumn, Column: types.Column{Name: "late", Type: types.Of(types.TinyInt)}},
		{Kind: server.RenameColumn, Column: types.Column{Name: "late"}, NewName: "later"},
		{Kind: server.AddColumn, Column: types.Column{Name: "late", Type: types.Of(types.TinyInt)}}, // whose name is taken
		{Kind: server.DropColumn, Column: types.Column{Name: "later"}},
	}, func(*server.TableInfo) bool { return true }))
	require.Equal(t, "exact_check\nlate_check1\nodd \"%1$I_check\ntiny_check\n", checks())
	f.sql("ALTER TABLE t RENAME CONSTRAINT late_check1 TO late_check")
	f.done(f.stage("t", server.Replace, schema(t, "a INT")), numbers(0, 1))
	require.Empty(t, checks())

	f.sql(`DROP TABLE t; CREATE TABLE t (a int PRIMARY KEY, tiny smallint CHECK (tiny BETWEEN -128 AND 127), "odd ""%1$I" bytea CHECK (octet_length("odd ""%1$I") <= 3), exact bytea CHECK (2 = octet_length(exact)) CHECK (octet_length(exact) = 2))`)
	target := server.Target{Database: f.db, Table: "t", Definition: server.Definition{Schema: own}, Mode: server.Replace}
	_, _, err := f.s.CheckStage(f.ctx, target)
	require.EqualError(t, err, "table t cannot be replaced, since this would be lost with it: constraint t_exact_check on table t; INSERT OVERWRITE replaces the rows and keeps the rest")
	f.sql("ALTER TABLE t DROP CONSTRAINT t_exact_check")
	_, notes, err := f.s.CheckStage(f.ctx, target)
	require.NoError(t, err)
	require.Equal(t, []string{"the old table has the PRIMARY KEY (a), which the new one has not", "NOT NULL in the old table, and not in the new one: a"}, notes[1:3])
	f.done(f.s.Stage(target))
	require.Equal(t, "exact_check\nodd \"%1$I_check\ntiny_check\n", checks())
	_, notes, err = f.s.CheckStage(f.ctx, target)
	require.NoError(t, err)
	require.NotRegexp(t, "PRIMARY KEY|NOT NULL", strings.Join(notes, "\n"))
}

// TestReaders: others who read in a loop during creations, replacements, insertions and overwrites see the old rows or
// all the new ones, and no error, in whatever way they read.
func TestReaders(t *testing.T) {
	f := setUp(t)
	const size = 3000
	f.done(f.stage("t", server.Create, schema(t, "a INT")), numbers(0, size))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var seen [3]atomic.Int64
	for i, isolation := range []string{"READ COMMITTED", "REPEATABLE READ", "REPEATABLE READ"} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			c, err := f.s.connect(f.ctx, f.db)
			require.NoError(t, err)
			defer c.close()
			for {
				select {
				case <-stop:
					return
				default:
				}
				script := "BEGIN ISOLATION LEVEL " + isolation + "; SELECT 1"
				if i == 2 {
					script += "; SELECT pg_sleep(0.02)" // so that the snapshot is older than what is read
				}
				_, err := c.exec(f.ctx, script)
				var got string
				if err == nil {
					got, err = c.one(f.ctx, "SELECT count(*) || ' ' || max(a) - min(a) FROM t")
				}
				if err == nil {
					_, err = c.exec(f.ctx, "COMMIT")
				}
				if err != nil {
					t.Errorf("a reader: %v", err)
					return
				}
				// All that is ever whole has a multiple of size rows, without a hole.
				var n, span int
				if _, err := fmt.Sscan(got, &n, &span); err != nil || n%size != 0 || span != n-1 {
					t.Errorf("a reader (%s) sees %q", isolation, got)
					return
				}
				seen[i].Add(1)
			}
		}()
	}
	all := func() bool { return seen[0].Load() > 0 && seen[1].Load() > 0 && seen[2].Load() > 0 }
	for i := 0; i < 15 || !all() && !t.Failed(); i++ {
		f.done(f.stage("t", server.Replace, schema(t, "a INT")), numbers(i, size))
		f.done(f.insert(f.open("t"), connector.Insert{}), numbers(i+size, size))
		f.done(f.insert(f.open("t"), connector.Insert{Overwrite: true}), numbers(0, size/2), numbers(size/2, size/2))
	}
	close(stop)
	wg.Wait()
}

// TestReplaceItself: what is read of the old table while it is replaced is all of it.
func TestReplaceItself(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE t AS SELECT n AS a FROM generate_series(1, 50000) n")
	tab := f.open("t")
	ctx := connector.WithScope(f.ctx)
	tx := f.s.Stage(server.Target{Database: f.db, Table: "t", Definition: server.Definition{Schema: tab.schema}, Mode: server.Replace})
	require.NoError(t, tx.Begin(ctx, connector.NewJobID()))
	src, err := tab.Source(ctx, connector.Scan{Columns: []int{0}, Limit: -1})
	require.NoError(t, err)
	splits, err := src.Splits(ctx, 2)
	require.NoError(t, err)
	r, err := src.Reader(ctx, splits)
	require.NoError(t, err)
	w, err := tx.Writer(ctx, 0)
	require.NoError(t, err)
	ended := false
	require.NoError(t, w.Write(ctx, func() (*column.Batch, error) {
		for !ended {
			b := &column.Batch{}
			status, err := r.Read(ctx, b)
			if err != nil {
				return nil, err
			}
			ended = status == connector.End
			if b.N > 0 {
				for i := range b.N {
					b.Cols[0].I32[i]++
				}
				return b, nil
			}
		}
		return nil, nil
	}))
	require.NoError(t, r.Close())
	require.NoError(t, src.Close())
	n, err := tx.Seal(ctx)
	require.NoError(t, err)
	require.Equal(t, int64(50000), n)
	out, err := tx.Commit(ctx)
	require.NoError(t, err)
	require.Equal(t, connector.Done, out)
	require.Equal(t, "50000\t2\t50001\n", f.sql("SELECT count(*), min(a), max(a) FROM t"))
}

// TestSettings: what a role or database has as its defaults changes nothing.
func TestSettings(t *testing.T) {
	f := setUp(t)
	for _, set := range []string{"default_transaction_isolation = serializable", "default_transaction_read_only = on", "statement_timeout = 1", "lock_timeout = 1", "synchronous_commit = off",
		"standard_conforming_strings = off", "search_path = pg_temp", "timezone = 'Asia/Kolkata'", "datestyle = 'German'", "intervalstyle = 'sql_standard'", "bytea_output = escape", "extra_float_digits = -10",
		"idle_in_transaction_session_timeout = 1", "client_min_messages = debug1", "default_transaction_deferrable = on", "row_security = off", "check_function_bodies = off", "enable_seqscan = off", "lc_messages = 'C'"} {
		f.ts.Query(t, "postgres", "ALTER DATABASE "+f.db+" SET "+set)
	}
	t.Cleanup(func() { f.ts.Query(t, "postgres", "ALTER DATABASE "+f.db+" RESET ALL") })
	sch := schema(t, "a* INT NOT NULL", "b BYTES", "ts TIMESTAMP_LTZ(3)", "s STRING")
	of := []types.Type{sch.Columns[0].Type, sch.Columns[1].Type, sch.Columns[2].Type, sch.Columns[3].Type}
	b := rows(t, of, []string{"1", "\x00", "2024-07-01 12:00:00.123", `\'`}, []string{"2", null, null, "\\"})
	f.done(f.stage("t", server.Create, sch), b)
	f.done(f.stage("t", server.Replace, sch), b)
	require.Equal(t, batchText(b), f.text(f.open("t")))
}

// TestCommitted: what is done is on disk, also where the server's default is not to wait for that.
func TestCommitted(t *testing.T) {
	f := setUp(t)
	f.ts.Query(t, "postgres", "ALTER DATABASE "+f.db+" SET synchronous_commit = off")
	tx := f.stage("t", server.Create, schema(t, "a INT")).(*Transaction)
	_, err := f.write(tx, numbers(0, 1))
	require.NoError(t, err)
	got, err := tx.c.one(f.ctx, "SELECT current_setting('synchronous_commit')")
	require.NoError(t, err)
	require.Equal(t, "on", got)
	require.NoError(t, tx.Abort(f.ctx))
}

// TestOnConflictOfNew: with 'sink.on-conflict' rows of one key in a new table are one.
func TestOnConflictOfNew(t *testing.T) {
	f := setUp(t)
	sch := schema(t, "a* INT NOT NULL", "b STRING")
	of := []types.Type{sch.Columns[0].Type, sch.Columns[1].Type}
	b := rows(t, of, []string{"1", "first"}, []string{"2", "x"}, []string{"1", "last"})
	require.Equal(t, int64(2), f.done(f.stageOf(f.option("sink.on-conflict", "update"), "t", server.Create, sch), b))
	require.Equal(t, "2|x\n1|last\n", f.text(f.open("t")))
	require.Equal(t, int64(2), f.done(f.stageOf(f.option("sink.on-conflict", "ignore"), "t", server.Replace, sch), b))
	require.Equal(t, "1|first\n2|x\n", f.text(f.open("t")))
	// Of many rows, and of large ones, none is lost on the way, and the order stays.
	large := column.NewBatch(of, 8)
	for i := range 8 {
		large.Cols[0].AppendI64(int64(1000 + i%4))
		large.Cols[1].AppendString(strings.Repeat(string(rune('a'+i)), 3<<20))
	}
	large.N = 8
	var many [][]string
	for i := range 25_000 {
		many = append(many, []string{fmt.Sprint(i % 20_011), fmt.Sprint(i)})
	}
	require.Equal(t, int64(20_011), f.done(f.stageOf(f.option("sink.on-conflict", "update"), "t", server.Replace, sch), large, rows(t, of, many...)))
	require.Equal(t, "20011\t4989\t25000\n", f.sql(`SELECT count(*), min(b::int) FILTER (WHERE a NOT BETWEEN 1000 AND 1003), max(b::int) + 1 FROM t`))
	require.Equal(t, "20011\n", f.sql(`SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY ctid) - row_number() OVER (ORDER BY b::int) AS d FROM t) AS s WHERE d = 0`))
	require.Equal(t, int64(4), f.done(f.stageOf(f.option("sink.on-conflict", "ignore"), "t", server.Replace, sch), large))
	require.Equal(t, "1000\taaa\t3145728\n1001\tbbb\t3145728\n1002\tccc\t3145728\n1003\tddd\t3145728\n", f.sql("SELECT a, left(b, 3), length(b) FROM t ORDER BY a"))
	require.Equal(t, int64(0), f.done(f.stageOf(f.option("sink.on-conflict", "ignore"), "t", server.Replace, sch)))
	require.Equal(t, "t_pkey\n", f.sql("SELECT conname FROM pg_constraint WHERE conrelid = 't'::regclass"))
	// What the table refuses is told with its row.
	bound := schema(t, "a* INT NOT NULL", "b VARBINARY(2)")
	f.fails(f.stageOf(f.option("sink.on-conflict", "update"), "t", server.Replace, bound), `table t, row 2: new row for relation "t" violates check constraint "b_check"`, rows(t, []types.Type{of[0], bound.Columns[1].Type}, []string{"1", "x"}, []string{"1", "xyz"}))
	f.fails(f.stageOf(f.option("sink.on-conflict", "update"), "t", server.Replace, sch), `table t, row 1: NULL in a NOT NULL column`, rows(t, []types.Type{of[0].AsNullable(), of[1]}, []string{null, "x"}))

	f.fails(f.stage("u", server.Create, sch), "duplicate key", b)
	tx := f.stageOf(f.option("sink.on-conflict", "ignore"), "u", server.Create, schema(t, "a INT"))
	require.EqualError(t, tx.Begin(f.ctx, connector.NewJobID()), "table u has no PRIMARY KEY, which 'sink.on-conflict' = 'ignore' needs")
	require.NoError(t, tx.Abort(f.ctx))
}

// TestTerminated: a session that ends in the middle fails the job, certainly.
func TestTerminated(t *testing.T) {
	f := setUp(t)
	kill := func(tx *Transaction) {
		f.sql(fmt.Sprintf("SELECT pg_terminate_backend(%d)", tx.c.pc.PID()))
	}
	tx := f.stage("t", server.Create, schema(t, "a INT")).(*Transaction)
	n := 0
	_, err := f.writeFrom(f.ctx, tx, func() (*column.Batch, error) {
		if n++; n == 3 {
			kill(tx)
		}
		if n > 10_000 {
			return nil, nil
		}
		return numbers(n, 1000), nil
	})
	// What the server says last may be lost when rows are under way to it.
	require.Regexp(t, "terminating connection due to administrator command|the connection was (lost|reset)", err.Error())
	require.NotContains(t, err.Error(), testserver.Password)
	require.Less(t, n, 10_000)
	out, err := tx.Commit(f.ctx)
	require.Error(t, err)
	require.Equal(t, connector.NotDone, out)
	require.NoError(t, tx.Abort(f.ctx))

	tx = f.stage("t", server.Create, schema(t, "a INT")).(*Transaction)
	_, err = f.write(tx, numbers(0, 10))
	require.NoError(t, err)
	kill(tx)
	out, err = tx.Commit(f.ctx)
	require.Equal(t, connector.NotDone, out)
	require.ErrorContains(t, err, "terminating connection")
	require.NoError(t, tx.Abort(f.ctx))
	require.Equal(t, "\\N\n", f.sql("SELECT to_regclass('t')"))
}

// TestOneContext: Begin after a context has ended makes no session.
func TestOneContext(t *testing.T) {
	f := setUp(t)
	ctx, cancel := context.WithCancelCause(f.ctx)
	cancel(errBad)
	tx := f.stage("t", server.Create, schema(t, "a INT"))
	require.ErrorIs(t, tx.Begin(ctx, connector.NewJobID()), errBad)
	require.NoError(t, tx.Abort(f.ctx))
}
