package jdbc

import (
	"context"
	"database/sql"
	"testing"

	_ "github.com/mattn/go-sqlite3" // the rival's own road to the file
	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// execFile runs a statement in a file by another driver.
func execFile(t *testing.T, path, statement string) {
	db, err := sql.Open("sqlite3", path)
	require.NoError(t, err)
	_, err = db.Exec(statement)
	require.NoError(t, err)
	require.NoError(t, db.Close())
}

func countFile(t *testing.T, path string) (n int) {
	db, err := sql.Open("sqlite3", path)
	require.NoError(t, err)
	require.NoError(t, db.QueryRow("SELECT count(*) FROM e").Scan(&n))
	require.NoError(t, db.Close())
	return n
}

func definition(path, table string, columns ...string) connector.TableDef {
	def := connector.TableDef{
		Identifier: connector.ObjectIdentifier{Catalog: "c", Database: "d", Object: "t"},
		Options:    map[string]string{"connector": "jdbc", "url": "jdbc:sqlite:" + path, "table-name": table},
	}
	for _, c := range columns {
		def.Schema.Columns = append(def.Schema.Columns, types.Column{Name: c, Type: types.Of(types.Int)})
	}
	return def
}

// sealed returns a CREATE TABLE AS of e with two rows, before its commit.
func sealed(t *testing.T, path string, insert connector.Insert) connector.Transaction {
	ctx := context.Background()
	tx, err := Connector{}.Create(ctx, definition(path, "e", "a"), insert, nil)
	require.NoError(t, err)
	require.NoError(t, tx.Begin(ctx, connector.NewJobID()))
	w, err := tx.Writer(ctx, 0)
	require.NoError(t, err)
	b := column.NewBatch([]types.Type{types.Of(types.Int)}, 2)
	for i := range 2 {
		b.Cols[0].AppendI64(int64(i))
		b.N++
	}
	batches := []*column.Batch{b, nil}
	require.NoError(t, w.Write(ctx, func() (*column.Batch, error) { b := batches[0]; batches = batches[1:]; return b, nil }))
	n, err := tx.Seal(ctx)
	require.NoError(t, err)
	require.Equal(t, int64(2), n)
	return tx
}

// The connector makes no tables: what is not there, or has rows, is refused with what to do.
func TestCreateCheck(t *testing.T) {
	ctx := context.Background()
	path := t.TempDir() + "/shop.db"
	advice := ": the connector 'jdbc' writes into tables that are there, and makes none in a SQLite file; to make the table with its rows, CREATE CATALOG c WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:" + path + "'), USE CATALOG c, and CREATE TABLE `e` AS …"
	one := connector.Insert{Columns: []int{0}}
	check := func(def connector.TableDef, insert connector.Insert) (*connector.Creation, error) {
		return Connector{}.CheckCreate(ctx, def, insert, nil)
	}
	_, err := check(definition(path, "e", "a"), one)
	require.Equal(t, &connector.OptionError{Key: "url", Msg: "there is no file " + path + advice}, err)
	require.NoFileExists(t, path)

	execFile(t, path, "CREATE TABLE full (a INT); INSERT INTO full VALUES (1); CREATE VIEW v AS SELECT 1 AS a WHERE false")
	_, err = check(definition(path, "e", "a"), one)
	require.Equal(t, &connector.OptionError{Key: "table-name", Msg: "table e does not exist in " + path + advice}, err)
	_, err = check(definition(path, "full", "a"), one)
	require.EqualError(t, err, "table full of "+path+" has rows already; CREATE TABLE AS makes a table of its own rows only: CREATE TABLE it without AS, then INSERT INTO it")
	_, err = check(definition(path, "v", "a"), one)
	require.EqualError(t, err, "v is a view of SQLite; it cannot be written")

	execFile(t, path, "CREATE TABLE e (a INTEGER, b)")
	_, err = check(definition(path, "e", "a", "x"), connector.Insert{Columns: []int{0, 1}})
	require.Equal(t, &connector.ColumnError{Column: "x", Msg: "table e of " + path + " has no column `x`"}, err)
	made, err := check(definition(path, "e", "a", "b"), connector.Insert{Columns: []int{0, 1}})
	require.NoError(t, err)
	require.Equal(t, []string{"INTEGER", "without a declared type"}, made.Stored)
}

// Both roads into the file: the rows are there after the commit and not before, none after an abort, and rows
// that came meanwhile make it come to nothing.
func TestCreate(t *testing.T) {
	ctx := context.Background()
	for _, sameFile := range []bool{false, true} {
		path := t.TempDir() + "/shop.db"
		execFile(t, path, "CREATE TABLE e (a INTEGER)")
		insert := connector.Insert{Columns: []int{0}, ReadsSame: sameFile}

		tx := sealed(t, path, insert)
		require.Zero(t, countFile(t, path))
		require.NoError(t, tx.Abort(ctx))
		require.Zero(t, countFile(t, path))

		if sameFile { // else the file is locked from Begin on
			tx = sealed(t, path, insert)
			execFile(t, path, "INSERT INTO e VALUES (7)")
			out, err := tx.Commit(ctx)
			require.Equal(t, connector.NotDone, out)
			require.ErrorContains(t, err, "table e of "+path+" has rows already")
			require.NoError(t, tx.Abort(ctx))
			require.Equal(t, 1, countFile(t, path))
			execFile(t, path, "DELETE FROM e")
		}

		tx = sealed(t, path, insert)
		out, err := tx.Commit(ctx)
		require.NoError(t, err)
		require.Equal(t, connector.Done, out)
		require.Equal(t, 2, countFile(t, path))

		tx, err = Connector{}.Create(ctx, definition(path, "e", "a"), insert, nil)
		require.NoError(t, err)
		require.ErrorContains(t, tx.Begin(ctx, connector.NewJobID()), "has rows already")
		require.NoError(t, tx.Abort(ctx))
		require.Equal(t, 2, countFile(t, path))
	}
}
