package print_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	memorycatalog "github.com/sluice-sql/sluice/catalog/memory"
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/blackhole"
	"github.com/sluice-sql/sluice/connector/datagen"
	"github.com/sluice-sql/sluice/connector/print"
	"github.com/sluice-sql/sluice/internal/testfile"
	"github.com/sluice-sql/sluice/session"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// TestScripts runs the statements of testdata, each file in a session of its own, and shows what is printed,
// what goes to standard error with ! before each line, and how many rows were written.
func TestScripts(t *testing.T) {
	testfile.Walk(t, "testdata", ".test", func(t *testing.T, path string) {
		for _, parallelism := range []string{"1", "4"} {
			if testfile.Updating() && parallelism != "1" {
				return
			}
			var out, errs strings.Builder
			s, err := session.New(session.Config{
				Env: &connector.Env{Clock: time.Now, TempDir: t.TempDir(), StateDir: t.TempDir(), Memory: connector.NewMemory(64 << 20), Files: connector.NewFiles(),
					Out: &out, Err: &errs},
				Catalogs:   []catalog.Factory{memorycatalog.Factory{}},
				Connectors: []connector.Factory{print.Connector{}, blackhole.Connector{}, datagen.Connector{}},
				Options:    map[string]string{"table.local-time-zone": "Asia/Tokyo", "parallelism.default": parallelism},
			})
			require.NoError(t, err)
			testfile.Run(t, path, func(t *testing.T, c *testfile.Case) string {
				out.Reset()
				errs.Reset()
				said := run(s, c.Input)
				text := out.String()
				for _, line := range strings.SplitAfter(errs.String(), "\n") {
					if line != "" {
						text += "!" + line
					}
				}
				return text + said
			})
			require.NoError(t, s.Close())
		}
	})
}

func run(s *session.Session, sql string) string {
	var out strings.Builder
	var sp sqlparse.Splitter
	sp.Feed(sql)
	for {
		st, ok, err := sp.Next()
		if err == nil && !ok {
			st, ok, err = sp.Finish()
		}
		if err == nil && ok {
			err = execute(&out, s, session.Text{Name: "test", SQL: st.Text, Line: st.Line, Column: st.Column})
		}
		if err != nil {
			fmt.Fprintln(&out, err)
		}
		if err != nil || !ok {
			return out.String()
		}
	}
}

func execute(out *strings.Builder, s *session.Session, text session.Text) error {
	ctx := context.Background()
	r, err := s.Execute(ctx, text)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	if r.Kind == session.Written {
		fmt.Fprintf(out, "%d rows written\n", r.Affected)
	}
	for {
		b, err := r.Next(ctx)
		if b == nil || err != nil {
			return err
		}
		for i := range b.Rows() {
			for k, v := range b.Cols {
				if k > 0 {
					out.WriteString(" | ")
				}
				if row := b.Row(i); v.IsNull(row) {
					out.WriteString("NULL")
				} else {
					out.Write(column.AppendText(nil, v, row, nil))
				}
			}
			out.WriteByte('\n')
		}
	}
}

// changes is a batch of one column, of all row kinds.
func changes() *column.Batch {
	b := column.NewBatch([]types.Type{types.Of(types.Int)}, 4)
	for i, k := range []types.RowKind{types.Insert, types.UpdateBefore, types.UpdateAfter, types.Delete} {
		b.Cols[0].AppendI64(int64(i))
		b.Kind = append(b.Kind, k)
		b.N++
	}
	return b
}

func write(tx connector.Transaction, batches ...*column.Batch) error {
	w, err := tx.Writer(context.Background(), 0)
	if err != nil {
		return err
	}
	return w.Write(context.Background(), func() (*column.Batch, error) {
		if len(batches) == 0 {
			return nil, nil
		}
		b := batches[0]
		batches = batches[1:]
		return b, nil
	})
}

// Both connectors take changes of every kind, and say how many; print does so in order.
func TestChanges(t *testing.T) {
	ctx := context.Background()
	var out strings.Builder
	for _, f := range []connector.Factory{print.Connector{}, blackhole.Connector{}} {
		def := connector.TableDef{Schema: types.Schema{Columns: []types.Column{{Name: "a", Type: types.Of(types.Int)}}}}
		table, err := f.Table(ctx, def, &connector.Env{Out: &out, Err: &out})
		require.NoError(t, err)
		for range 2 { // one transaction for each checkpoint
			tx, err := table.(connector.ChangelogWritable).Changelog(ctx, connector.Insert{Columns: []int{0}})
			require.NoError(t, err)
			require.Error(t, write(tx, changes()), "before Begin")
			require.NoError(t, tx.Begin(ctx, connector.NewJobID()))
			require.NoError(t, write(tx, changes(), changes()))
			rows, err := tx.Seal(ctx)
			require.NoError(t, err)
			require.Equal(t, int64(8), rows)
			require.Error(t, write(tx, changes()), "after Seal")
			for range 2 {
				outcome, err := tx.Commit(ctx)
				require.NoError(t, err)
				require.Equal(t, connector.Done, outcome)
			}
			require.NoError(t, tx.Abort(ctx))
			outcome, err := tx.Commit(ctx)
			require.NoError(t, err)
			require.Equal(t, connector.Done, outcome)
		}
		tx, err := table.(connector.Writable).Transaction(ctx, connector.Insert{Columns: []int{0}})
		require.NoError(t, err)
		require.NoError(t, tx.Begin(ctx, connector.NewJobID()))
		require.NoError(t, tx.Abort(ctx))
		_, err = tx.Seal(ctx)
		require.Error(t, err)
		outcome, err := tx.Commit(ctx)
		require.Error(t, err)
		require.Equal(t, connector.NotDone, outcome)
		require.NoError(t, table.Close())
	}
	require.Equal(t, strings.Repeat("+I[0]\n-U[1]\n+U[2]\n-D[3]\n", 4), out.String())
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("no paper") }

// An output that cannot be written fails the job.
func TestBrokenOutput(t *testing.T) {
	ctx := context.Background()
	def := connector.TableDef{Identifier: connector.ObjectIdentifier{Catalog: "c", Database: "d", Object: "p"}, Schema: types.Schema{Columns: []types.Column{{Name: "a", Type: types.Of(types.Int)}}}}
	table, err := print.Connector{}.Table(ctx, def, &connector.Env{Out: broken{}})
	require.NoError(t, err)
	tx, err := table.(connector.Writable).Transaction(ctx, connector.Insert{Columns: []int{0}})
	require.NoError(t, err)
	require.NoError(t, tx.Begin(ctx, connector.NewJobID()))
	require.EqualError(t, write(tx, changes()), "print table c.d.p: no paper")
	_, err = tx.Seal(ctx)
	require.EqualError(t, err, "print table c.d.p: no paper")
	outcome, err := tx.Commit(ctx)
	require.Error(t, err)
	require.Equal(t, connector.NotDone, outcome)
}
