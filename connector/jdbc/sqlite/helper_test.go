package sqlite

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// exe runs statements through database/sql, the road that the package itself does not take.
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

// one returns the only cell of a query as text, through database/sql.
func one(t testing.TB, path, query string, args ...any) string {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	require.NoError(t, err)
	defer db.Close()
	var cell sql.NullString
	require.NoError(t, db.QueryRow(query, args...).Scan(&cell), query)
	if !cell.Valid {
		return "<NULL>"
	}
	return cell.String
}

// file makes a database of statements.
func file(t testing.TB, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.db")
	exe(t, path, statements...)
	return path
}

func newEnv() *connector.Env { return &connector.Env{Files: connector.NewFiles()} }

// readStore reads all rows of a table as text, "<NULL>" for NULL.
func readStore(s *Store, table string, filters ...connector.Scan) ([][]string, types.Schema, error) {
	ctx := context.Background()
	var info *TableInfo
	err := s.Read(ctx, func(c *Conn) (err error) {
		info, err = s.Describe(c, table, true)
		return err
	})
	if err != nil {
		return nil, types.Schema{}, err
	}
	schema := info.Schema()
	tab, err := s.OpenTable(ctx, table, schema)
	if err != nil {
		return nil, schema, err
	}
	scan := connector.Scan{Limit: -1}
	if len(filters) > 0 {
		scan = filters[0]
	}
	if scan.Columns == nil {
		for i := range schema.Columns {
			scan.Columns = append(scan.Columns, i)
		}
	}
	src, err := tab.Source(ctx, scan)
	if err != nil {
		return nil, schema, err
	}
	defer src.Close()
	splits, err := src.Splits(ctx, 1)
	if err != nil {
		return nil, schema, err
	}
	r, err := src.Reader(ctx, splits)
	if err != nil {
		return nil, schema, err
	}
	defer r.Close()
	var rows [][]string
	b := &column.Batch{}
	for {
		st, err := r.Read(ctx, b)
		if err != nil {
			return rows, schema, err
		}
		rows = append(rows, texts(b)...)
		if st == connector.End {
			return rows, schema, nil
		}
	}
}

func texts(b *column.Batch) [][]string {
	var rows [][]string
	for i := 0; i < b.Rows(); i++ {
		row := make([]string, len(b.Cols))
		for c, v := range b.Cols {
			row[c] = "<NULL>"
			if !v.IsNull(b.Row(i)) {
				row[c] = string(column.AppendText(nil, v, b.Row(i), nil))
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// batches yields given batches one after the other.
func batches(list ...*column.Batch) func() (*column.Batch, error) {
	return func() (*column.Batch, error) {
		if len(list) == 0 {
			return nil, nil
		}
		b := list[0]
		list = list[1:]
		return b, nil
	}
}

// numbers returns a batch of one BIGINT column with from, from+1, … and one text column.
func numbers(from, n int) *column.Batch {
	b := column.NewBatch([]types.Type{types.Of(types.BigInt), types.String()}, n)
	for i := range n {
		b.Cols[0].AppendI64(int64(from + i))
		b.Cols[1].AppendString("some text of a row, long enough to fill pages")
	}
	b.N = n
	return b
}

func numbersSchema() types.Schema {
	return types.Schema{Columns: []types.Column{{Name: "id", Type: types.Of(types.BigInt)}, {Name: "s", Type: types.String()}}}
}

// write runs a whole transaction over batches and returns its rows.
func write(tx *Transaction, next func() (*column.Batch, error)) (int64, connector.Outcome, error) {
	ctx := context.Background()
	fail := func(err error) (int64, connector.Outcome, error) {
		if abortErr := tx.Abort(ctx); abortErr != nil {
			panic(abortErr)
		}
		return 0, connector.NotDone, err
	}
	if err := tx.Begin(ctx, connector.NewJobID()); err != nil {
		return fail(err)
	}
	w, err := tx.Writer(ctx, 0)
	if err != nil {
		return fail(err)
	}
	if err := w.Write(ctx, next); err != nil {
		return fail(err)
	}
	if err := w.Close(); err != nil {
		return fail(err)
	}
	n, err := tx.Seal(ctx)
	if err != nil {
		return fail(err)
	}
	out, err := tx.Commit(ctx)
	if out == connector.NotDone {
		return fail(err)
	}
	return n, out, err
}

// ctas returns a transaction that makes table t of a schema.
func ctas(path string, schema types.Schema) *Transaction {
	return NewTransaction(Target{Store: NewStore(path, nil, newEnv()), Table: "t", Columns: schema.Columns, Create: &schema})
}

func noneKept(connector.JobID) bool { return false }
