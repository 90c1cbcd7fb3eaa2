package postgres

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// keySetUp has a collation under which 'a' and 'A' are equal, and types that have such parts.
func keySetUp(t *testing.T) *fixture {
	f := setUp(t)
	f.sql(`CREATE COLLATION fold (provider = icu, locale = 'und-u-ks-level2', deterministic = false); CREATE EXTENSION citext; CREATE DOMAIN folded AS text COLLATE fold; CREATE DOMAIN code AS char(2);
CREATE DOMAIN cidom AS citext; CREATE TYPE pair AS (n int, s text COLLATE fold); CREATE TYPE plain AS (n int, s text); CREATE TYPE texts AS RANGE (subtype = text, collation = fold); CREATE TYPE mood AS ENUM ('a', 'A')`)
	return f
}

func keysOf(tab *Table) (key []int) {
	for _, name := range tab.info.key {
		key = append(key, tab.schema.Index(name))
	}
	return key
}

// looseKeys are columns and a key, and what is said where a row with another key could be lost.
var looseKeys = []struct{ columns, want string }{
	{"k text COLLATE fold PRIMARY KEY, n int", `column k has the collation public.fold, under which texts are equal that differ here, such as 'a' and 'A'; ALTER TABLE "public"."t" ALTER COLUMN "k" TYPE text COLLATE "C" on the server has them told apart`},
	{"k varchar(3) COLLATE fold, n int, PRIMARY KEY (n, k)", `ALTER COLUMN "k" TYPE character varying(3) COLLATE "C"`},
	{"k char(2) COLLATE fold PRIMARY KEY, n int", "column k has the collation public.fold"},
	{"k folded PRIMARY KEY, n int", "column k has the collation public.fold"},
	{"k text[] COLLATE fold PRIMARY KEY, n int", "column k has the collation public.fold"},
	{"k pair PRIMARY KEY, n int", "column k has the collation public.fold"},
	{"k texts PRIMARY KEY, n int", "column k has the collation public.fold"},
	{"k citext PRIMARY KEY, n int", `column k has the type public.citext, of which texts may be equal that differ here, such as 'a' and 'A'; ALTER TABLE "public"."t" ALTER COLUMN "k" TYPE text on the server has them told apart`},
	{"k cidom PRIMARY KEY, n int", "column k has the type public.citext"},
	{"k citext[] PRIMARY KEY, n int", `column k has the type public.citext, of which texts may be equal that differ here, such as 'a' and 'A'; ALTER TABLE "public"."t" ALTER COLUMN "k" TYPE text[] on`},
	{"k bpchar PRIMARY KEY, n int", "column k has the type bpchar, of which texts may be equal that differ here, such as 'a' and 'a '"},
	{"k char(2)[] PRIMARY KEY, n int", "column k has the type bpchar"},
	{"k interval PRIMARY KEY, n int", "column k has the type interval, of which values are equal that are different texts here, such as '30 days' and '1 mon'"},
	{"k jsonb PRIMARY KEY, n int", "column k has the type jsonb, of which values are equal that are different texts here, such as '1.0' and '1.00'"},
	{"k numrange PRIMARY KEY, n int", "column k has the type numeric, of which values are equal that are different texts here, such as '1.0' and '1.00'"},
	{"k text PRIMARY KEY, n int", ""},
	{`k text COLLATE "en-x-icu" PRIMARY KEY, n int`, ""},
	{"k varchar(3), n int, PRIMARY KEY (n, k)", ""},
	{"k char(2) PRIMARY KEY, n int", ""},
	{"k code PRIMARY KEY, n int", ""},
	{"k name PRIMARY KEY, n int", ""},
	{"k uuid PRIMARY KEY, n int", ""},
	{"k mood PRIMARY KEY, n int", ""},
	{"k text[] PRIMARY KEY, n int", ""},
	{"k plain PRIMARY KEY, n int", ""},
	{"k numeric PRIMARY KEY, n int", ""},
	{"k numeric(50,2) PRIMARY KEY, n int", ""},
	{"k interval year to month PRIMARY KEY, n int", ""},
	{"k interval day to second(3) PRIMARY KEY, n int", ""},
	{"k citext, n int PRIMARY KEY", ""},
	{"k text COLLATE fold, n int PRIMARY KEY", ""},
}

// TestLooseKeys: a row does not take the place of one whose key is another text.
func TestLooseKeys(t *testing.T) {
	f := keySetUp(t)
	updating := f.option("sink.on-conflict", "update")
	for _, x := range looseKeys {
		f.sql("DROP TABLE IF EXISTS t; CREATE TABLE t(" + x.columns + ")")
		tab := f.openBy(updating, "t")
		up, upErr := tab.Upsert(f.ctx, connector.Upsert{Columns: []int{0, 1}, Key: keysOf(tab)})
		in, inErr := tab.Transaction(f.ctx, connector.Insert{Columns: []int{0, 1}})
		if x.want != "" {
			for _, err := range []error{upErr, inErr} {
				require.ErrorContains(t, err, "table t: a row with another PRIMARY KEY could be overwritten or deleted: ", x.columns)
				require.ErrorContains(t, err, x.want, x.columns)
			}
			continue
		}
		require.NoError(t, upErr, x.columns)
		require.NoError(t, inErr, x.columns)
		f.done(up)
		f.done(in)
	}
	// A numeric that is written as text has texts that are equal.
	f.sql("DROP TABLE t; CREATE TABLE t(k numeric PRIMARY KEY, n int)")
	_, err := f.openBy(f.server(f.ts.Addr(), nil, map[string]string{"sink.on-conflict": "ignore", "postgresql.columns.k": "STRING"}), "t").Transaction(f.ctx, connector.Insert{Columns: []int{0, 1}})
	require.ErrorContains(t, err, "column k has the type numeric")
	// Without either, a key is an error of the server's when it is there.
	f.sql("DROP TABLE t; CREATE TABLE t(k citext PRIMARY KEY, n int); INSERT INTO t VALUES ('a', 1)")
	of := []types.Type{types.String(), types.Of(types.Int)}
	f.fails(f.insert(f.open("t"), connector.Insert{Columns: []int{0, 1}}), "duplicate key", rows(t, of, []string{"A", "2"}))
}

// TestKeyAltered: a key that another session alters between the plan and the transaction is found before the first row.
func TestKeyAltered(t *testing.T) {
	f := keySetUp(t)
	for _, alter := range []string{"ALTER k TYPE text COLLATE fold", "ALTER k TYPE folded"} {
		f.sql("DROP TABLE IF EXISTS t; CREATE TABLE t(k text PRIMARY KEY, n int)")
		tab := f.openBy(f.option("sink.on-conflict", "ignore"), "t")
		up, err := tab.Upsert(f.ctx, connector.Upsert{Columns: []int{0, 1}, Key: []int{0}})
		require.NoError(t, err)
		in, err := tab.Transaction(f.ctx, connector.Insert{Columns: []int{0, 1}})
		require.NoError(t, err)
		f.sql("ALTER TABLE t " + alter)
		for _, tx := range []connector.Transaction{up, in} {
			require.ErrorContains(t, tx.Begin(f.ctx, connector.NewJobID()), "column k has the collation public.fold", alter)
			require.NoError(t, tx.Abort(f.ctx))
		}
	}
}

// TestOtherIndexOfKey: a unique index of the key's columns with another collation is not the key.
func TestOtherIndexOfKey(t *testing.T) {
	f := keySetUp(t)
	of := []types.Type{types.String(), types.Of(types.Int)}
	for _, parts := range []string{"", " PARTITION BY LIST (k); CREATE TABLE p PARTITION OF t DEFAULT"} {
		f.sql(`DROP TABLE IF EXISTS t; CREATE TABLE t(k text, n int, CONSTRAINT "the ""key" PRIMARY KEY (k))` + parts)
		f.sql(`INSERT INTO t VALUES ('a', 1), ('b', 2)`)
		if parts == "" {
			f.sql("CREATE UNIQUE INDEX u ON t(k COLLATE fold)")
		}
		for _, conflict := range []string{"update", "ignore"} {
			s := f.option("sink.on-conflict", conflict)
			if parts == "" {
				f.fails(f.insert(f.openBy(s, "t"), connector.Insert{Columns: []int{0, 1}}), "duplicate key", rows(t, of, []string{"A", "9"}))
			}
			f.done(f.insert(f.openBy(s, "t"), connector.Insert{Columns: []int{0, 1}}), rows(t, of, []string{"b", "3"}))
		}
		up, err := f.open("t").Upsert(f.ctx, connector.Upsert{Columns: []int{0, 1}, Key: []int{0}})
		require.NoError(t, err)
		b := rows(t, of, []string{"A", "0"}, []string{"a", "4"})
		b.Kind = []types.RowKind{types.Delete, types.UpdateAfter}
		f.done(up, b)
		require.Equal(t, "a\t4\nb\t3\n", f.sql("SELECT * FROM t ORDER BY k"))
	}
}

// TestModifyByLooseKey: UPDATE and DELETE of a table in parts, by a key under which texts are equal, change the rows
// that were read.
func TestModifyByLooseKey(t *testing.T) {
	f := keySetUp(t)
	for _, typ := range []string{"text COLLATE fold", "citext", "bpchar"} {
		f.sql("DROP TABLE IF EXISTS t; CREATE TABLE t(n int, k " + typ + ", v int, PRIMARY KEY (n, k)) PARTITION BY LIST (n); CREATE TABLE p PARTITION OF t FOR VALUES IN (1); CREATE TABLE q PARTITION OF t DEFAULT; INSERT INTO t VALUES (1, 'A', 0), (2, 'a', 0), (1, 'b', 0), (2, 'B', 0)")
		tab := f.open("t")
		change, err := tab.Modify(f.ctx, connector.Modify{Set: []int{2}})
		require.NoError(t, err, typ)
		require.Equal(t, int64(1), f.done(change, rows(t, []types.Type{tab.schema.Columns[0].Type, types.String(), types.Of(types.Int)}, []string{"1", "A", "7"})))
		change, err = tab.Modify(f.ctx, connector.Modify{})
		require.NoError(t, err, typ)
		require.Equal(t, int64(1), f.done(change, rows(t, []types.Type{tab.schema.Columns[0].Type, types.String()}, []string{"2", "B"})))
		require.Equal(t, "1\tA\t7\n1\tb\t0\n2\ta\t0\n", f.sql(`SELECT * FROM t ORDER BY n, k::text COLLATE "C"`), typ)
	}
}
