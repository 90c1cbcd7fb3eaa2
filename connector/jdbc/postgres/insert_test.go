package postgres

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/types"
)

func two() []types.Type { return []types.Type{types.Of(types.Int), types.String()} }

// TestInsert: rows are added as a whole; columns left out get their defaults.
func TestInsert(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE t(id int PRIMARY KEY, s text, d int DEFAULT 7, n int, g int GENERATED ALWAYS AS (id * 2) STORED, k int GENERATED ALWAYS AS IDENTITY)")
	tab := f.open("t")
	require.Equal(t, int64(2), f.done(f.insert(tab, connector.Insert{Columns: []int{1, 0}}), rows(t, []types.Type{types.String(), types.Of(types.Int)}, []string{"a", "1"}, []string{null, "2"})))
	require.Equal(t, "1|a|7|<NULL>|2|1\n2|<NULL>|7|<NULL>|4|2\n", f.text(tab))
	f.fails(f.insert(tab, connector.Insert{Columns: []int{0}}), "table t, row 3: duplicate key: Key (id)=(2) already exists", numbers(3, 2), numbers(2, 1))
	tx := f.insert(tab, connector.Insert{Columns: []int{0}})
	_, err := f.writeFrom(f.ctx, tx, bad(5000))
	require.ErrorIs(t, err, errBad)
	require.NoError(t, tx.Abort(f.ctx))
	require.Equal(t, "2\n", f.sql("SELECT count(*) FROM t"))
	info, _, err := f.s.Describe(f.ctx, f.db, "t")
	require.NoError(t, err)
	require.Equal(t, []string{"d"}, info.Defaults)
	require.Equal(t, []string{"g", "k"}, info.ReadOnly)
}

// TestInsertRefused: what cannot take rows, all or nothing, is refused before anything is written.
func TestInsertRefused(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE VIEW v AS SELECT 1 AS a; CREATE MATERIALIZED VIEW m AS SELECT 1 AS a; CREATE EXTENSION postgres_fdw; CREATE SERVER s FOREIGN DATA WRAPPER postgres_fdw; CREATE FOREIGN TABLE ft(a int) SERVER s")
	for name, want := range map[string]string{"v": "v is a view of PostgreSQL; it cannot be written", "m": "m is a materialised view of PostgreSQL; it cannot be written", "ft": "ft is a foreign table, whose rows another server keeps"} {
		tab := f.open(name)
		_, err := tab.Transaction(f.ctx, connector.Insert{Columns: []int{0}})
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, tab.CheckOverwrite(f.ctx), want)
		require.ErrorContains(t, tab.Truncate(f.ctx), want)
		_, err = tab.RowKey(f.ctx)
		require.ErrorContains(t, err, want)
	}
	// The table may have become another one since it was opened.
	f.sql("CREATE TABLE t(a int, b int)")
	tab := f.open("t")
	for _, change := range [][2]string{
		{"ALTER TABLE t ALTER a TYPE bigint", "column a was altered or dropped by another session"},
		{"ALTER TABLE t DROP a", "column a was altered or dropped by another session"},
		{"DROP TABLE t", "table t: table does not exist"},
		{"CREATE VIEW t AS SELECT 1 AS a", "t is a view of PostgreSQL; it cannot be written"},
	} {
		tx := f.insert(tab, connector.Insert{Columns: []int{0}})
		f.sql(change[0])
		require.ErrorContains(t, tx.Begin(f.ctx, connector.NewJobID()), change[1])
		require.NoError(t, tx.Abort(f.ctx))
		if strings.HasPrefix(change[0], "ALTER") {
			f.sql("DROP TABLE t; CREATE TABLE t(a int, b int)")
		}
	}
}

// TestDroppedRows: rows that a trigger, a rule or row-level security keeps out are an error, and nothing is stored.
func TestDroppedRows(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE FUNCTION odd() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF NEW.a % 2 = 0 THEN RETURN NULL; END IF; RETURN NEW; END'")
	f.sql("CREATE TABLE t(a int); CREATE TRIGGER only_odd BEFORE INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION odd()")
	f.fails(f.insert(f.open("t"), connector.Insert{}), "50 of 100 rows were not stored; table t has triggers: only_odd", numbers(0, 100))
	f.done(f.insert(f.open("t"), connector.Insert{}), numbers(1, 1))
	require.Equal(t, "1\n", f.sql("SELECT * FROM t"))

	f.sql("CREATE TABLE r(a int); CREATE RULE away AS ON INSERT TO r DO INSTEAD NOTHING")
	f.fails(f.insert(f.open("r"), connector.Insert{}), "3 of 3 rows were not stored; table r has rules: away", numbers(0, 3))
	f.sql("DROP RULE away ON r; CREATE TABLE log(a int); CREATE RULE also AS ON INSERT TO r DO ALSO INSERT INTO log VALUES (NEW.a)")
	f.done(f.insert(f.open("r"), connector.Insert{}), numbers(5, 2))
	require.Equal(t, "5\n6\n", f.sql("SELECT * FROM log"))
}

// TestRowSecurity: a user to whom a policy applies writes what it lets him.
func TestRowSecurity(t *testing.T) {
	f := setUp(t)
	f.sql("DROP ROLE IF EXISTS bob; CREATE ROLE bob LOGIN PASSWORD 'bobs'; CREATE TABLE t(a int); INSERT INTO t VALUES (-1); ALTER TABLE t ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON t USING (a > 0); GRANT ALL ON t TO bob")
	t.Cleanup(func() { f.sql("DROP OWNED BY bob; DROP ROLE bob") })
	c := f.s.config
	c.User, c.Password = "bob", connector.NewSecret("bobs")
	bob := Dialect{}.Server(c).(*Server)
	f.done(f.insert(f.openBy(bob, "t"), connector.Insert{}), numbers(1, 2))
	f.fails(f.insert(f.openBy(bob, "t"), connector.Insert{}), "new row violates row-level security policy", numbers(0, 2))
	require.Equal(t, "1\n2\n", f.text(f.openBy(bob, "t")))
	require.Equal(t, "-1\n1\n2\n", f.text(f.open("t")))
	require.ErrorContains(t, f.openBy(bob, "t").CheckOverwrite(f.ctx), "row-level security, which may hide rows from user bob")
	// What he may not do is said in the server's words.
	f.sql("CREATE TABLE u(a int); GRANT SELECT ON u TO bob")
	f.fails(f.insert(f.openBy(bob, "u"), connector.Insert{}), "permission denied for table u", numbers(1, 2))
	f.fails(f.stageOf(bob, "mine", server.Create, schema(t, "a INT")), "user bob may not make tables in the schema \"public\"", numbers(1, 2))
}

// TestColumnRights: who may write some columns only writes those, or is told which right is missing.
func TestColumnRights(t *testing.T) {
	f := setUp(t)
	f.sql("DROP ROLE IF EXISTS bob; CREATE ROLE bob LOGIN PASSWORD 'bobs'; CREATE TABLE t(a int, b int); GRANT SELECT, INSERT (a), UPDATE (b) ON t TO bob")
	t.Cleanup(func() { f.sql("DROP OWNED BY bob; DROP ROLE bob") })
	c := f.s.config
	c.User, c.Password = "bob", connector.NewSecret("bobs")
	tab := f.openBy(Dialect{}.Server(c).(*Server), "t")
	tx := f.insert(tab, connector.Insert{Columns: []int{0}}).(*Transaction)
	_, err := f.write(tx, numbers(1, 2))
	require.NoError(t, err)
	require.Equal(t, "RowExclusiveLock\n", f.sql("SELECT mode FROM pg_locks WHERE relation = 't'::regclass AND mode <> 'AccessShareLock'"), "the table is held")
	out, err := tx.Commit(f.ctx)
	require.NoError(t, err)
	require.Equal(t, connector.Done, out)
	require.Equal(t, "1\t\\N\n2\t\\N\n", f.sql("SELECT * FROM t"))
	f.fails(f.insert(tab, connector.Insert{Columns: []int{1}}), "permission denied for table t", numbers(1, 2))
	f.sql("REVOKE INSERT (a) ON t FROM bob")
	f.fails(f.insert(tab, connector.Insert{Columns: []int{0}}), "permission denied for table t") // without rows, too
	update, err := tab.Modify(f.ctx, connector.Modify{Set: []int{1}})
	require.NoError(t, err)
	f.fails(update, "table t: this keeps others from writing to the table, for which user bob needs UPDATE, DELETE or TRUNCATE of the whole table, and not of some columns: ")
}

// noise is text that does not become smaller when it is compressed.
func noise(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

// TestRowTooBig: the server does not tell in which row of a few it was, and no other one is named.
func TestRowTooBig(t *testing.T) {
	f := setUp(t)
	var columns []string
	var small, big []string
	for i := range 1200 {
		columns, small, big = append(columns, fmt.Sprintf("c%d BIGINT", i)), append(small, null), append(big, "1")
	}
	sch := schema(t, columns...)
	f.fails(f.stage("t", server.Create, sch), "table t: row is too big: size 9624, maximum size 8160 (in row 3 or shortly before it)", rows(t, typesOf(sch), small, big, small))
	f.fails(f.stage("t", server.Create, sch), "table t, row 1: row is too big: size 9624, maximum size 8160", rows(t, typesOf(sch), big))
	// Of a value that is too long for an index the row is known.
	f.sql("CREATE TABLE u(s text PRIMARY KEY)")
	f.fails(f.insert(f.open("u"), connector.Insert{}), "table u, row 2: index row ", rows(t, []types.Type{types.String()}, []string{"x"}, []string{noise(100_000)}, []string{"y"}))
}

// TestOverwrite: the new rows take the place of the old ones, which those who read see to the end, and what the table
// has beside rows stays.
func TestOverwrite(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE t(a int PRIMARY KEY, s text DEFAULT 'x'); CREATE INDEX i ON t(s); COMMENT ON TABLE t IS 'kept'; INSERT INTO t SELECT generate_series(1, 100); CREATE VIEW v AS SELECT * FROM t")
	tab := f.open("t")
	tx := f.insert(tab, connector.Insert{Columns: []int{0}, Overwrite: true})
	n, err := f.write(tx, numbers(50, 3))
	require.NoError(t, err)
	require.Equal(t, int64(3), n)
	require.Equal(t, "100\n", f.sql("SELECT count(*) FROM v"))
	// Nobody else's row comes in between, to be lost or to stay.
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		f.sql("INSERT INTO t VALUES (1000)")
	}()
	time.Sleep(50 * time.Millisecond)
	_, err = tx.Commit(f.ctx)
	require.NoError(t, err)
	wg.Wait()
	require.Equal(t, "50\n51\n52\n1000\n", f.sql("SELECT a FROM v"))
	// It fails as a whole, and with no rows at all it empties.
	f.fails(f.insert(tab, connector.Insert{Columns: []int{0}, Overwrite: true}), "duplicate key", numbers(1, 2), numbers(2, 1))
	require.Equal(t, "4\n", f.sql("SELECT count(*) FROM t"))
	f.done(f.insert(tab, connector.Insert{Columns: []int{0}, Overwrite: true}))
	require.Equal(t, "0\n", f.sql("SELECT count(*) FROM t"))

	f.sql("INSERT INTO t VALUES (1), (2); CREATE TABLE kin(a int REFERENCES t ON DELETE CASCADE)")
	require.EqualError(t, f.open("t").CheckOverwrite(f.ctx), "the rows of table t cannot all be removed, since that would change rows of others that refer to it: public.kin (FOREIGN KEY … ON DELETE CASCADE); change those first, or DELETE FROM the table")
	f.sql("DROP TABLE kin; CREATE TABLE kin(a int REFERENCES t); INSERT INTO kin VALUES (1)")
	f.fails(f.insert(f.open("t"), connector.Insert{Columns: []int{0}, Overwrite: true}), "the rows of table t cannot all be removed: update or delete on table \"t\" violates foreign key constraint", numbers(1, 3))
	f.sql("DROP TABLE kin; CREATE TABLE kin(a int REFERENCES t DEFERRABLE); INSERT INTO kin VALUES (1)")
	f.done(f.insert(f.open("t"), connector.Insert{Columns: []int{0}, Overwrite: true}), numbers(1, 3)) // 1 is there again
	f.fails(f.insert(f.open("t"), connector.Insert{Columns: []int{0}, Overwrite: true}), "violates foreign key constraint", numbers(2, 3))
	require.Equal(t, "1\n2\n3\n", f.sql("SELECT a FROM t"))
	f.sql("CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; DROP TABLE kin; CREATE TRIGGER k BEFORE DELETE ON t FOR EACH ROW EXECUTE FUNCTION keep()")
	f.fails(f.insert(f.open("t"), connector.Insert{Columns: []int{0}, Overwrite: true}), "3 rows of table t were not removed; table t has triggers: k", numbers(2, 3))
}

// TestTruncate empties a table, all or nothing.
func TestTruncate(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE t(a int PRIMARY KEY); INSERT INTO t VALUES (1)")
	tab := f.open("t")
	require.NoError(t, tab.Truncate(f.ctx))
	require.Equal(t, "0\n", f.sql("SELECT count(*) FROM t"))
	f.sql("CREATE TABLE kin(a int REFERENCES t)")
	require.ErrorContains(t, tab.Truncate(f.ctx), "table t: foreign keys of other tables lead to it, so that PostgreSQL does not truncate it; DELETE FROM it instead")
	f.sql("DROP TABLE kin, t")
	require.ErrorIs(t, tab.Truncate(f.ctx), server.ErrNotThere)
}

// TestDeferred: a constraint that the server checks at COMMIT is checked before, where the job can still fail.
func TestDeferred(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE p(a int PRIMARY KEY); INSERT INTO p VALUES (1); CREATE TABLE t(a int REFERENCES p DEFERRABLE INITIALLY DEFERRED)")
	tx := f.insert(f.open("t"), connector.Insert{})
	_, err := f.write(tx, numbers(1, 2))
	require.ErrorContains(t, err, "violates foreign key constraint \"t_a_fkey\"")
	require.NoError(t, tx.Abort(f.ctx))
	require.Equal(t, "0\n", f.sql("SELECT count(*) FROM t"))
	// One that fails in COMMIT all the same is an error, certainly.
	f.sql(`CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF NEW.a = 9 THEN RAISE EXCEPTION ''not nine''; END IF; RETURN NULL; END';
CREATE TABLE u(a int); CREATE CONSTRAINT TRIGGER late AFTER INSERT ON u DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fails()`)
	c, err := f.s.connect(f.ctx, f.db)
	require.NoError(t, err)
	defer c.close()
	_, err = c.exec(f.ctx, "BEGIN; INSERT INTO u VALUES (9)")
	require.NoError(t, err)
	out, err := f.s.commit(f.ctx, c, nil)
	require.Equal(t, connector.NotDone, out)
	require.ErrorContains(t, err, "not nine")
}

// TestOnConflict: rows whose key is there replace the other columns written, or give way.
func TestOnConflict(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE t(a int PRIMARY KEY, s text, other int DEFAULT 5); INSERT INTO t VALUES (1, 'old', 1), (2, 'old', 2)")
	b := rows(t, two(), []string{"2", "first"}, []string{"3", "x"}, []string{"2", "last"})
	into := connector.Insert{Columns: []int{0, 1}}
	require.Equal(t, int64(1), f.done(f.insert(f.openBy(f.option("sink.on-conflict", "ignore"), "t"), into), b))
	require.Equal(t, "1|old|1\n2|old|2\n3|x|5\n", f.text(f.open("t")))
	require.Equal(t, int64(2), f.done(f.insert(f.openBy(f.option("sink.on-conflict", "update"), "t"), into), b))
	require.Equal(t, "1\told\t1\n2\tlast\t2\n3\tx\t5\n", f.sql("SELECT * FROM t ORDER BY a"))
	require.Equal(t, int64(0), f.done(f.insert(f.openBy(f.option("sink.on-conflict", "update"), "t"), into)))
	// Another unique index is not the key.
	f.sql("CREATE UNIQUE INDEX ON t(s)")
	f.fails(f.insert(f.openBy(f.option("sink.on-conflict", "update"), "t"), into), "duplicate key: Key (s)=(old) already exists", rows(t, two(), []string{"9", "old"}))
	f.sql("CREATE TABLE u(a int)")
	_, err := f.openBy(f.option("sink.on-conflict", "update"), "u").Transaction(f.ctx, connector.Insert{Columns: []int{0}})
	require.EqualError(t, err, "table u has no PRIMARY KEY, which 'sink.on-conflict' = 'update' needs")
}

// TestUpsert: rows take the place of those with their key, others go.
func TestUpsert(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE t(a int, s text NOT NULL, b int, PRIMARY KEY (b, a)); INSERT INTO t SELECT n, 'old', n FROM generate_series(1, 5) n")
	tab := f.open("t")
	of := []types.Type{types.Of(types.Int), types.Of(types.Int), types.String()}
	kinds := func(b *column.Batch, k ...types.RowKind) *column.Batch { b.Kind = k; return b }
	up := connector.Upsert{Columns: []int{0, 2, 1}, Key: []int{0, 1}}
	tx, err := tab.Upsert(f.ctx, up)
	require.NoError(t, err)
	n := f.done(tx,
		kinds(rows(t, of, []string{"1", "1", null}, []string{"77", "77", null}), types.Delete, types.Delete),
		kinds(rows(t, of, []string{"2", "2", null}, []string{"3", "3", "new"}, []string{"9", "9", "new"}), types.Delete, types.UpdateAfter, types.Insert),
		rows(t, of, []string{"10", "10", "plain"}))
	require.Equal(t, int64(6), n)
	require.Equal(t, "3|new|3\n4|old|4\n5|old|5\n9|new|9\n10|plain|10\n", strings.Join(sorted(f.text(tab)), ""))
	// No rows at all.
	tx, err = tab.Upsert(f.ctx, up)
	require.NoError(t, err)
	f.done(tx)
	// Deletions alone.
	tx, err = tab.Upsert(f.ctx, up)
	require.NoError(t, err)
	f.done(tx, kinds(rows(t, of, []string{"3", "3", "?"}), types.Delete))
	require.Equal(t, "4\n", f.sql("SELECT count(*) FROM t"))
	// An error leaves everything as it was.
	tx, err = tab.Upsert(f.ctx, up)
	require.NoError(t, err)
	f.fails(tx, "NULL in a NOT NULL column", kinds(rows(t, of, []string{"4", "4", "?"}, []string{"5", "5", null}), types.Delete, types.Insert))
	require.Equal(t, "4\n", f.sql("SELECT count(*) FROM t"))
	_, err = tab.Upsert(f.ctx, connector.Upsert{Columns: []int{0, 1}, Key: []int{0}})
	require.EqualError(t, err, `the rows have the key ("a"), and table t the PRIMARY KEY ("b", "a")`)
	f.sql("CREATE TABLE u(a int)")
	_, err = f.open("u").Upsert(f.ctx, connector.Upsert{Columns: []int{0}, Key: []int{0}})
	require.EqualError(t, err, "table u has no PRIMARY KEY, by which its rows could be replaced and deleted")
}

func sorted(lines string) []string {
	list := strings.SplitAfter(lines, "\n")
	list = list[:len(list)-1]
	for i := range list { // few
		for j := i; j > 0 && (len(list[j]) < len(list[j-1]) || len(list[j]) == len(list[j-1]) && list[j] < list[j-1]); j-- {
			list[j], list[j-1] = list[j-1], list[j]
		}
	}
	return list
}
