package jdbc

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"
	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

func exe(t testing.TB, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	require.NoError(t, err)
	defer db.Close()
	for _, s := range statements {
		_, err := db.Exec(s)
		require.NoError(t, err, s)
	}
}

func one(t testing.TB, path, query string) string {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	require.NoError(t, err)
	defer db.Close()
	var cell sql.NullString
	require.NoError(t, db.QueryRow(query).Scan(&cell), query)
	return cell.String
}

func open(t testing.TB, properties map[string]string) catalog.Catalog {
	t.Helper()
	all := map[string]string{"type": "jdbc"}
	for k, v := range properties {
		all[k] = v
	}
	r := &catalog.Registry{Catalogs: []catalog.Factory{Factory{}}, Env: &connector.Env{Files: connector.NewFiles()}}
	c, err := r.New(catalog.Ref{Name: "shop", Properties: all})
	require.NoError(t, err)
	require.NoError(t, c.Open(context.Background()))
	return c
}

func tableOf(cols ...types.Column) *catalog.CatalogTable {
	return &catalog.CatalogTable{Kind: catalog.KindTable, Schema: types.Schema{Columns: cols}}
}

func col(name string, t types.Type) types.Column { return types.Column{Name: name, Type: t} }

// TestAddresses: what CREATE CATALOG takes and refuses.
func TestAddresses(t *testing.T) {
	dir := t.TempDir()
	refuse := func(want string, kv ...string) {
		t.Helper()
		p := map[string]string{"type": "jdbc"}
		for i := 0; i < len(kv); i += 2 {
			p[kv[i]] = kv[i+1]
		}
		r := &catalog.Registry{Catalogs: []catalog.Factory{Factory{}}}
		c, err := r.New(catalog.Ref{Name: "shop", Properties: p})
		if err == nil {
			err = c.Open(context.Background())
		}
		require.ErrorContains(t, err, want)
	}
	refuse("catalog type 'jdbc' needs the option 'base-url'")
	refuse("the jdbc dialect 'oracle' is not supported; supported: 'sqlite', 'postgresql', 'mysql', 'mariadb'", "base-url", "jdbc:oracle://host/db")
	refuse("the dialect 'postgresql' needs the option 'username'", "base-url", "jdbc:postgresql://host/db")
	refuse("is not a jdbc address", "base-url", "/x/shop.db")
	refuse("names no file", "base-url", "jdbc:sqlite:")
	refuse("use a catalog of type 'generic_in_memory'", "base-url", "jdbc:sqlite::memory:")
	refuse("write a plain path", "base-url", "jdbc:sqlite:file:x.db?mode=ro")
	refuse("SQLite has no users: leave out the option 'password'", "base-url", "jdbc:sqlite:"+dir, "password", "x")
	refuse("the directory "+dir+"/no does not exist", "base-url", "jdbc:sqlite:"+dir+"/no/x.db")
	refuse("the directory "+dir+"/no does not exist", "base-url", "jdbc:sqlite:"+dir+"/no/")
	refuse("option 'default-database' is blank", "base-url", "jdbc:sqlite:"+dir, "default-database", " ")
	refuse("did you mean 'sqlite.misfit'?", "base-url", "jdbc:sqlite:"+dir, "sqlite.misfits", "null")
	refuse("allowed: 'error', 'null'", "base-url", "jdbc:sqlite:"+dir, "sqlite.misfit", "zero")

	t.Chdir(dir)
	p, err := Factory{}.Resolve(map[string]string{"base-url": "jdbc:sqlite:x.db"})
	require.NoError(t, err)
	require.Equal(t, "jdbc:sqlite:"+dir+"/x.db", p["base-url"])
	require.NoError(t, os.Mkdir("d", 0o700))
	for _, url := range []string{"jdbc:sqlite:d", "jdbc:sqlite:d/", "jdbc:sqlite:./d/."} {
		p, err = Factory{}.Resolve(map[string]string{"base-url": url})
		require.NoError(t, err)
		require.Equal(t, "jdbc:sqlite:"+dir+"/d/", p["base-url"])
	}
}

// TestFile: a catalog of one file, which the first CREATE TABLE makes.
func TestFile(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "my.shop.db")
	c := open(t, map[string]string{"base-url": "jdbc:sqlite:" + path})
	dbs, err := c.ListDatabases(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{"my.shop"}, dbs)
	require.Equal(t, "my.shop", c.DefaultDatabase())
	tables, err := c.ListTables(ctx, "my.shop")
	require.NoError(t, err)
	require.Empty(t, tables)
	_, err = c.Table(ctx, catalog.ObjectPath{Database: "my.shop", Object: "t"})
	require.ErrorIs(t, err, catalog.ErrTableNotExist)
	require.ErrorIs(t, c.DropTable(ctx, catalog.ObjectPath{Database: "my.shop", Object: "t"}, ""), catalog.ErrTableNotExist)
	_, err = c.ListTables(ctx, "shop")
	require.ErrorIs(t, err, catalog.ErrDatabaseNotExist)
	require.NoFileExists(t, path)
	require.ErrorContains(t, c.CreateDatabase(ctx, "x", catalog.Database{}), "is the one file "+path)
	require.ErrorContains(t, c.DropDatabase(ctx, "my.shop", true), "is not dropped")

	at := catalog.ObjectPath{Database: "my.shop", Object: "t"}
	created, identity, err := c.CreateTable(ctx, at, tableOf(col("a", types.Of(types.Int).AsNotNull()), col("b", types.DecimalOf(12, 2))))
	require.NoError(t, err)
	require.True(t, created)
	require.Equal(t, "CREATE TABLE \"t\" (\n  \"a\" INT NOT NULL,\n  \"b\" DECIMAL_TEXT(12,2)\n)", one(t, path, "SELECT sql FROM sqlite_schema"))
	created, _, err = c.CreateTable(ctx, at, tableOf(col("a", types.Of(types.Int))))
	require.False(t, created)
	require.ErrorIs(t, err, catalog.ErrTableAlreadyExist)
	def, err := c.Table(ctx, at)
	require.NoError(t, err)
	require.Equal(t, "[INT NOT NULL DECIMAL(12, 2)]", strings.ReplaceAll(typeNames(def), ";", ""))
	require.ErrorContains(t, c.DropTable(ctx, at, "9.9"), "was changed by another session; it is not dropped")
	require.NoError(t, c.DropTable(ctx, at, identity))
	require.Equal(t, "0", one(t, path, "SELECT count(*) FROM sqlite_schema"))

	renamed := open(t, map[string]string{"base-url": "jdbc:sqlite:" + path, "default-database": "main"})
	dbs, err = renamed.ListDatabases(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{"main"}, dbs)
}

func typeNames(t *catalog.CatalogTable) string {
	var names []string
	for _, c := range t.Schema.Columns {
		names = append(names, c.Type.String())
	}
	return "[" + strings.Join(names, " ") + "]"
}

// TestDirectory: databases are the files of a directory.
func TestDirectory(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	c := open(t, map[string]string{"base-url": "jdbc:sqlite:" + dir + "/"})
	dbs, err := c.ListDatabases(ctx)
	require.NoError(t, err)
	require.Empty(t, dbs)
	require.NoError(t, c.CreateDatabase(ctx, "b", catalog.Database{}))
	require.ErrorIs(t, c.CreateDatabase(ctx, "b", catalog.Database{}), catalog.ErrDatabaseAlreadyExist)
	for _, bad := range []string{"", "../x", "a/b", ".x", "_sluice", strings.Repeat("x", 300)} {
		require.ErrorContains(t, c.CreateDatabase(ctx, bad, catalog.Database{}), "cannot be a file's name", bad)
	}
	exe(t, filepath.Join(dir, "a.sqlite3"), "CREATE TABLE t (x)", "CREATE VIEW v AS SELECT 1", "CREATE TABLE _sluice_s (x)")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "junk.db"), []byte(strings.Repeat("no database ", 200)), 0o600))
	dbs, err = c.ListDatabases(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "junk"}, dbs)
	tables, err := c.ListTables(ctx, "a")
	require.NoError(t, err)
	require.Equal(t, []string{"t", "v"}, tables)
	_, err = c.ListTables(ctx, "junk")
	require.ErrorContains(t, err, "the file is not a SQLite database")
	_, err = c.Database(ctx, "c")
	require.ErrorIs(t, err, catalog.ErrDatabaseNotExist)

	require.ErrorIs(t, c.DropDatabase(ctx, "a", false), catalog.ErrDatabaseNotEmpty)
	exe(t, filepath.Join(dir, "a.sqlite3"), "PRAGMA journal_mode = WAL", "CREATE TABLE u (x)")
	require.NoError(t, c.DropDatabase(ctx, "a", true))
	require.NoError(t, c.DropDatabase(ctx, "b", false))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 2)
	require.ErrorIs(t, c.DropDatabase(ctx, "b", false), catalog.ErrDatabaseNotExist)

	exe(t, filepath.Join(dir, "x.db"), "CREATE TABLE t (x)")
	exe(t, filepath.Join(dir, "x.sqlite"), "CREATE TABLE t (x)")
	_, err = c.ListDatabases(ctx)
	require.EqualError(t, err, "catalog shop: the files x.db and x.sqlite would both be the database x; rename one")
}

// TestNames: the stored spelling only, with a hint; weird names are names.
func TestNames(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "shop.db")
	exe(t, path, "CREATE TABLE Customer (Id INT)")
	c := open(t, map[string]string{"base-url": "jdbc:sqlite:" + path})
	_, err := c.Table(ctx, catalog.ObjectPath{Database: "shop", Object: "customer"})
	require.ErrorIs(t, err, catalog.ErrTableNotExist)
	require.EqualError(t, err, "table customer does not exist in database shop; names are case-sensitive, did you mean `Customer`?")
	_, err = c.Check(ctx, catalog.ObjectPath{Database: "shop", Object: "CUSTOMER"}, tableOf(col("a", types.Of(types.Int))), catalog.CreateTableAs)
	require.ErrorIs(t, err, catalog.ErrTableAlreadyExist)
	require.EqualError(t, err, "table Customer already exists, and SQLite does not tell it from CUSTOMER")

	for _, name := range []string{`we"ird; drop table x; --`, "a b", "ünï", "'q'", "select", "a.b", "`b`", "[c]", "?1", " "} {
		at := catalog.ObjectPath{Database: "shop", Object: name}
		created, identity, err := c.CreateTable(ctx, at, tableOf(col(name, types.Of(types.Int)), col(name+"2", types.String())))
		require.NoError(t, err, name)
		require.True(t, created)
		def, err := c.Table(ctx, at)
		require.NoError(t, err, name)
		require.Equal(t, []string{name, name + "2"}, def.Schema.Names())
		names, err := c.ListTables(ctx, "shop")
		require.NoError(t, err)
		require.Contains(t, names, name)
		require.NoError(t, c.DropTable(ctx, at, identity), name)
	}
	for _, name := range []string{"sqlite_x", "_sluice_x", ".sluice", "", "a\x00b"} {
		_, _, err := c.CreateTable(ctx, catalog.ObjectPath{Database: "shop", Object: name}, tableOf(col("a", types.Of(types.Int))))
		require.Error(t, err, name)
	}
}

// TestCheck: what EXPLAIN prints, and that nothing is made.
func TestCheck(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "shop.db")
	c := open(t, map[string]string{"base-url": "jdbc:sqlite:" + path})
	at := catalog.ObjectPath{Database: "shop", Object: "t"}
	table := tableOf(col("id", types.Of(types.BigInt)), col("price", types.DecimalOf(12, 2)), col("at", types.WithPrecision(types.Timestamp, 3)))
	table.Schema.PrimaryKey = []string{"id"}
	check, err := c.Check(ctx, at, table, catalog.CreateTableAs)
	require.NoError(t, err)
	require.Equal(t, "CREATE TABLE \"t\" (\n  \"id\" BIGINT NOT NULL,\n  \"price\" DECIMAL_TEXT(12,2),\n  \"at\" TIMESTAMP(3),\n  PRIMARY KEY (\"id\")\n)", check.DDL)
	require.Equal(t, []catalog.Mapping{
		{Column: "id", Type: "BIGINT NOT NULL", Stored: "BIGINT, kept as INTEGER"},
		{Column: "price", Type: "DECIMAL(12, 2)", Stored: "DECIMAL_TEXT(12,2), kept as TEXT with 2 decimals"},
		{Column: "at", Type: "TIMESTAMP(3)", Stored: "TIMESTAMP(3), kept as TEXT YYYY-MM-DD HH:MM:SS.fff"},
	}, check.Mapping)
	require.Equal(t, catalog.Atomic, check.Guarantee)
	require.NoFileExists(t, path)

	var e *catalog.ColumnError
	_, err = c.Check(ctx, at, tableOf(col("a", types.Of(types.Int)), col("A", types.Of(types.Int))), catalog.CreateTableAs)
	require.ErrorAs(t, err, &e)
	require.Equal(t, "A", e.Column)
	require.EqualError(t, err, "columns 1 (a) and 2 (A): SQLite does not tell names apart by case; give one an alias")
	_, err = c.Check(ctx, at, tableOf(col("a", types.Of(types.IntervalDayTime))), catalog.CreateTableAs)
	require.ErrorAs(t, err, &e)
	require.Contains(t, err.Error(), "INTERVAL DAY TO SECOND(3) has no form in SQLite")
	_, err = c.Check(ctx, at, tableOf(col("é", types.Of(types.Int)), col("É", types.Of(types.Int))), catalog.CreateTableAs)
	require.NoError(t, err, "SQLite folds A to Z only")
	_, err = c.Check(ctx, catalog.ObjectPath{Database: "no", Object: "t"}, table, catalog.CreateTableAs)
	require.ErrorIs(t, err, catalog.ErrDatabaseNotExist)
}

// TestDefinition: keys, defaults, generated columns, views, and the property map's round trip.
func TestDefinition(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "shop.db")
	exe(t, path, "CREATE TABLE a (id INTEGER PRIMARY KEY, s TEXT NOT NULL DEFAULT 'x', g INT AS (id + 1))", "CREATE VIEW v AS SELECT id, s FROM a")
	c := open(t, map[string]string{"base-url": "jdbc:sqlite:" + path})
	a, err := c.Table(ctx, catalog.ObjectPath{Database: "shop", Object: "a"})
	require.NoError(t, err)
	require.Equal(t, []string{"id"}, a.Schema.PrimaryKey)
	require.Equal(t, []string{"g"}, a.ReadOnly)
	require.Equal(t, []string{"id", "s"}, a.Defaults)
	back, err := catalog.FromProperties(a.Properties())
	require.NoError(t, err)
	require.Equal(t, a.Schema, back.Schema)
	require.Equal(t, a.ReadOnly, back.ReadOnly)
	v, err := c.Table(ctx, catalog.ObjectPath{Database: "shop", Object: "v"})
	require.NoError(t, err)
	require.Equal(t, catalog.KindView, v.Kind)
	require.Equal(t, "CREATE VIEW v AS SELECT id, s FROM a", v.NativeText)
	require.ErrorContains(t, c.DropTable(ctx, catalog.ObjectPath{Database: "shop", Object: "v"}, ""), "v is a view of SQLite")

	// A misfit read as NULL needs columns that can be NULL.
	null := open(t, map[string]string{"base-url": "jdbc:sqlite:" + path, "sqlite.misfit": "null"})
	a, err = null.Table(ctx, catalog.ObjectPath{Database: "shop", Object: "a"})
	require.NoError(t, err)
	require.Equal(t, "[BIGINT NOT NULL STRING INT]", typeNames(a))
}

// TestSweep: opening a catalog after a crash removes the scratch files of dead jobs.
func TestSweep(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "shop.db")
	exe(t, path, "CREATE TABLE a (x)")
	gone, doubt := connector.NewJobID(), connector.NewJobID()
	for _, job := range []connector.JobID{gone, doubt} {
		exe(t, path+".sluice-"+job.String(), "CREATE TABLE t (x)")
		require.NoError(t, os.WriteFile(path+".sluice-"+job.String()+".lock", nil, 0o600))
	}
	c := open(t, map[string]string{"base-url": "jdbc:sqlite:" + path})
	report, err := c.(catalog.Sweeper).Sweep(ctx, func(job connector.JobID) catalog.Decision {
		if job == gone {
			return catalog.Remove
		}
		return catalog.Keep
	})
	require.NoError(t, err)
	require.Equal(t, catalog.Report{Removed: []string{path + ".sluice-" + gone.String()}, Kept: []string{path + ".sluice-" + doubt.String()}}, report)
}

// run drives a staged table or an INSERT as a job does.
func run(tx connector.Transaction, next func() (*column.Batch, error)) (int64, error) {
	ctx := context.Background()
	fail := func(err error) (int64, error) { return 0, errors.Join(err, tx.Abort(ctx)) }
	if err := tx.Begin(ctx, connector.NewJobID()); err != nil {
		return fail(err)
	}
	w, err := tx.Writer(ctx, 0)
	if err != nil {
		return fail(err)
	}
	if err = w.Write(ctx, next); err != nil {
		return fail(err)
	}
	n, err := tx.Seal(ctx)
	if err != nil {
		return fail(err)
	}
	if out, err := tx.Commit(ctx); out != connector.Done {
		return fail(err)
	}
	return n, nil
}

// rows yields n rows of one INT column; the last batch is an error when fail is set.
func rows(n int, fail error) func() (*column.Batch, error) {
	at := 0
	return func() (*column.Batch, error) {
		if at == n {
			return nil, fail
		}
		m := min(column.DefaultRows, n-at)
		b := column.NewBatch([]types.Type{types.Of(types.Int)}, m)
		for i := range m {
			b.Cols[0].AppendI64(int64(at + i))
		}
		b.N = m
		at += m
		return b, nil
	}
}

// readRows reads a whole table, cells joined by | and NULL as -.
func readRows(c catalog.Catalog, at catalog.ObjectPath) ([]string, error) {
	ctx := context.Background()
	def, err := c.Table(ctx, at)
	if err != nil {
		return nil, err
	}
	tab, err := c.Factory().Table(ctx, def.Def(connector.ObjectIdentifier{Catalog: "shop", Database: at.Database, Object: at.Object}), &connector.Env{})
	if err != nil {
		return nil, err
	}
	var all []int
	for i := range def.Schema.Columns {
		all = append(all, i)
	}
	src, err := tab.(connector.Scannable).Source(ctx, connector.Scan{Columns: all, Limit: -1})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	splits, err := src.Splits(ctx, 1)
	if err != nil {
		return nil, err
	}
	r, err := src.Reader(ctx, splits)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var list []string
	b := &column.Batch{}
	for st := connector.More; st != connector.End; {
		if st, err = r.Read(ctx, b); err != nil {
			return list, err
		}
		for i := range b.N {
			cells := make([]string, len(b.Cols))
			for j, v := range b.Cols {
				cells[j] = "-"
				if !v.IsNull(i) {
					cells[j] = string(column.AppendText(nil, v, i, nil))
				}
			}
			list = append(list, strings.Join(cells, "|"))
		}
	}
	return list, nil
}
