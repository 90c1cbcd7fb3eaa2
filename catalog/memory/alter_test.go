package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/internal/testfile"
	"github.com/sluice-sql/sluice/types"
)

func parsed(t *testing.T, text string) types.Type {
	typ, err := types.ParseType(text)
	require.NoError(t, err, text)
	return typ
}

// tableOf reads columns, one a line: NAME TYPE.
func tableOf(t *testing.T, lines []string) *catalog.CatalogTable {
	table := &catalog.CatalogTable{Kind: catalog.KindTable, Options: map[string]string{}}
	for _, line := range lines {
		name, typ, _ := strings.Cut(line, " ")
		table.Schema.Columns = append(table.Schema.Columns, types.Column{Name: name, Type: parsed(t, typ)})
	}
	return table
}

// changesOf reads changes, one a line: add COLUMN POSITION TYPE, drop COLUMN, rename COLUMN NAME,
// type COLUMN TYPE, move COLUMN POSITION, comment COLUMN TEXT, key COLUMN, set KEY VALUE, computed COLUMN.
func changesOf(t *testing.T, lines []string, old *catalog.CatalogTable) (*catalog.CatalogTable, []catalog.TableChange) {
	next, err := catalog.FromProperties(old.Properties())
	require.NoError(t, err)
	var changes []catalog.TableChange
	for _, line := range lines {
		w := strings.SplitN(line, " ", 3)
		ch := catalog.TableChange{Column: w[1]}
		cols := next.Schema.Columns
		at := next.Schema.Index(ch.Column)
		switch w[0] {
		case "add":
			n, typ, _ := strings.Cut(w[2], " ")
			ch.Kind, ch.Type = catalog.AddColumn, parsed(t, typ)
			ch.Position, err = strconv.Atoi(n)
			require.NoError(t, err)
			next.Schema.Columns = slices.Insert(cols, ch.Position, types.Column{Name: ch.Column, Type: ch.Type})
		case "drop":
			ch.Kind = catalog.DropColumn
			next.Schema.Columns = slices.Delete(cols, at, at+1)
		case "rename":
			ch.Kind, ch.NewName = catalog.RenameColumn, w[2]
			cols[at].Name = w[2]
		case "type":
			ch.Kind, ch.Type = catalog.ModifyColumnType, parsed(t, w[2])
			cols[at].Type = ch.Type
		case "move":
			ch.Kind = catalog.ModifyColumnPosition
			ch.Position, err = strconv.Atoi(w[2])
			require.NoError(t, err)
			c := cols[at]
			next.Schema.Columns = slices.Insert(slices.Delete(cols, at, at+1), ch.Position, c)
		case "comment":
			ch.Kind, ch.Value = catalog.ModifyColumnComment, w[2]
			cols[at].Comment = w[2]
		case "key":
			ch.Kind, ch.Column = catalog.AddPrimaryKey, ""
			next.Schema.PrimaryKey = []string{w[1]}
			cols[at].Type.NotNull = true
		case "set":
			ch.Kind, ch.Column, ch.Key, ch.Value = catalog.SetOption, "", w[1], w[2]
			next.Options[ch.Key] = ch.Value
		case "computed":
			ch.Kind, ch.Virtual = catalog.AddColumn, &catalog.VirtualColumn{Name: ch.Column, Position: len(next.Columns()), Type: types.Of(types.Int), Expr: "1"}
			next.Virtual = append(next.Virtual, *ch.Virtual)
		default:
			t.Fatal("no such change: ", line)
		}
		changes = append(changes, ch)
	}
	return next, changes
}

// insert writes rows given as text, NULL for NULL.
func insert(t *testing.T, c *Catalog, at catalog.ObjectPath, lines []string) {
	table, err := c.Table(ctx, at)
	require.NoError(t, err)
	b := column.NewBatch(nil, 0)
	b.N = len(lines)
	for i, col := range table.Schema.Columns {
		text := column.New(types.String(), len(lines))
		for _, line := range lines {
			if cell := strings.Split(line, "|")[i]; cell == "NULL" {
				text.AppendNull()
			} else {
				text.AppendString(cell)
			}
		}
		ev, err := expr.Compile(&expr.Cast{Arg: &expr.Column{T: types.String()}, T: col.Type}, &expr.Env{Zone: time.UTC})
		require.NoError(t, err)
		v, err := ev.Eval(&column.Batch{N: b.N, Cols: []*column.Vector{text}})
		require.NoError(t, err)
		b.Cols = append(b.Cols, v)
	}
	put(t, c, at, b)
}

func transaction(t *testing.T, c *Catalog, at catalog.ObjectPath) connector.Transaction {
	table, err := c.Table(ctx, at)
	require.NoError(t, err)
	open, err := c.Factory().Table(ctx, table.Def(c.identifier(at)), nil)
	require.NoError(t, err)
	var columns []int
	for i := range table.Schema.Columns {
		columns = append(columns, i)
	}
	tx, err := open.(connector.Writable).Transaction(ctx, connector.Insert{Columns: columns})
	require.NoError(t, err)
	return tx
}

func put(t *testing.T, c *Catalog, at catalog.ObjectPath, b *column.Batch) {
	tx := transaction(t, c, at)
	require.NoError(t, tx.Begin(ctx, connector.JobID{1}))
	w, err := tx.Writer(ctx, 0)
	require.NoError(t, err)
	batches := []*column.Batch{b, nil}
	require.NoError(t, w.Write(ctx, func() (*column.Batch, error) { b := batches[0]; batches = batches[1:]; return b, nil }))
	_, err = tx.Seal(ctx)
	require.NoError(t, err)
	_, err = tx.Commit(ctx)
	require.NoError(t, err)
}

// source opens a table and takes its version.
func source(t *testing.T, c *Catalog, at catalog.ObjectPath) (connector.Source, []connector.Split) {
	table, err := c.Table(ctx, at)
	require.NoError(t, err)
	open, err := c.Factory().Table(ctx, table.Def(c.identifier(at)), nil)
	require.NoError(t, err)
	scan := connector.Scan{Limit: -1}
	for i := range table.Schema.Columns {
		scan.Columns = append(scan.Columns, i)
	}
	src, err := open.(connector.Scannable).Source(ctx, scan)
	require.NoError(t, err)
	splits, err := src.Splits(ctx, 1)
	require.NoError(t, err)
	return src, splits
}

// read prints the rows of a source, and checks that its vectors are what they say.
func read(t *testing.T, src connector.Source, splits []connector.Split, want []types.Type) string {
	r, err := src.Reader(ctx, splits)
	require.NoError(t, err)
	var out strings.Builder
	for {
		var b column.Batch
		status, err := r.Read(ctx, &b)
		require.NoError(t, err)
		for i, v := range b.Cols {
			require.True(t, v.Type.Equal(want[i]), "%s, want %s", v.Type, want[i])
			require.Equal(t, b.N, v.Len)
		}
		for row := range b.N {
			for i, v := range b.Cols {
				if i > 0 {
					out.WriteByte('|')
				}
				if v.IsNull(row) {
					out.WriteString("NULL")
				} else {
					out.Write(column.AppendText(nil, v, row, time.UTC))
				}
			}
			out.WriteByte('\n')
		}
		if status == connector.End {
			return out.String()
		}
	}
}

func contents(t *testing.T, c *Catalog, at catalog.ObjectPath) string {
	table, err := c.Table(ctx, at)
	require.NoError(t, err)
	src, splits := source(t, c, at)
	defer src.Close()
	return read(t, src, splits, table.Schema.Types())
}

// TestAlter runs ALTER TABLE against tables in memory: create COLUMNS, insert ROWS, alter CHANGES, show. After
// each step the memory reserved is that of the rows, and a failed one has changed nothing.
func TestAlter(t *testing.T) {
	testfile.Walk(t, "testdata/alter", ".test", func(t *testing.T, file string) {
		var c *Catalog
		budget := connector.NewMemory(1 << 20)
		testfile.Run(t, file, func(t *testing.T, d *testfile.Case) string {
			lines := strings.Split(d.Input, "\n")
			switch d.Cmd {
			case "create":
				if c != nil {
					require.NoError(t, c.Close())
				}
				c = newCatalog(t, budget)
				_, _, err := c.CreateTable(ctx, path("t"), tableOf(t, lines))
				require.NoError(t, err)
				return ""
			case "insert":
				insert(t, c, path("t"), lines)
				return ""
			case "alter":
				old, err := c.Table(ctx, path("t"))
				require.NoError(t, err)
				next, changes := changesOf(t, lines, old)
				before, used := contents(t, c, path("t")), budget.Used()
				err = c.AlterTable(ctx, path("t"), old, next, changes)
				if err != nil {
					require.Equal(t, before, contents(t, c, path("t")))
					require.Equal(t, used, budget.Used())
					kept, _ := c.Table(ctx, path("t"))
					require.Same(t, old, kept)
					var ch *catalog.ChangeError
					require.True(t, errors.As(err, &ch), "%v", err)
					return fmt.Sprintf("at change %d: %s\n", ch.Index+1, ch.Msg)
				}
				var b strings.Builder
				for _, col := range next.Columns() {
					fmt.Fprintf(&b, "%s %s\n", col.Name, col.Type)
				}
				return b.String() + "--\n" + contents(t, c, path("t"))
			}
			t.Fatal("no such directive: ", d.Cmd)
			return ""
		})
		require.NoError(t, c.Close())
		require.Zero(t, budget.Used())
	})
}

// Readers keep their version; those that planned with the old columns and begin later are told.
func TestAlterUnderReaders(t *testing.T) {
	budget := connector.NewMemory(1 << 30)
	c := newCatalog(t, budget)
	_, _, err := c.CreateTable(ctx, path("t"), tableOf(t, []string{"a INT", "b STRING"}))
	require.NoError(t, err)
	insert(t, c, path("t"), []string{"1|x", "2|NULL"})
	old, err := c.Table(ctx, path("t"))
	require.NoError(t, err)
	src, splits := source(t, c, path("t"))
	late, err := c.Factory().Table(ctx, old.Def(c.identifier(path("t"))), nil)
	require.NoError(t, err)
	lateSource, err := late.(connector.Scannable).Source(ctx, connector.Scan{Columns: []int{0, 1}, Limit: -1})
	require.NoError(t, err)
	lateWrite := transaction(t, c, path("t"))
	whole := budget.Used()

	next, changes := changesOf(t, []string{"drop b", "type a BIGINT"}, old)
	require.NoError(t, c.AlterTable(ctx, path("t"), old, next, changes))
	require.Equal(t, "1|x\n2|NULL\n", read(t, src, splits, old.Schema.Types()))
	require.Equal(t, "1\n2\n", contents(t, c, path("t")))
	require.Greater(t, budget.Used(), whole, "both are there")
	require.NoError(t, src.Close())
	require.Less(t, budget.Used(), whole)

	again := "table m.db.t was altered after the statement was planned; run it again"
	_, err = lateSource.Splits(ctx, 1)
	require.EqualError(t, err, again)
	require.EqualError(t, lateWrite.Begin(ctx, connector.JobID{1}), again)
	_, err = c.Factory().Table(ctx, old.Def(c.identifier(path("t"))), nil)
	require.ErrorContains(t, err, "run it again")
	require.EqualError(t, c.AlterTable(ctx, path("t"), old, next, changes), "m.db.t was changed by another statement; look at it and try again")
	require.NoError(t, c.DropTable(ctx, path("t"), ""))
	require.Zero(t, budget.Used())
}

// ALTER TABLE of many rows can be called off, keeps nobody waiting, and reserves before it goes on: what it
// had reserved comes back.
func TestAlterOfManyRows(t *testing.T) {
	budget := connector.NewMemory(1 << 30)
	c := newCatalog(t, budget)
	_, _, err := c.CreateTable(ctx, path("t"), tableOf(t, []string{"a INT"}))
	require.NoError(t, err)
	for range 12 {
		insert(t, c, path("t"), slices.Repeat([]string{"1"}, 2048))
	}
	old, err := c.Table(ctx, path("t"))
	require.NoError(t, err)
	next, changes := changesOf(t, []string{"type a BIGINT"}, old)
	used := budget.Used()
	most := used
	during := &countedContext{Context: ctx, end: 5, each: func() {
		most = max(most, budget.Used())
		names, err := c.ListTables(ctx, "db") // completion asks meanwhile
		require.NoError(t, err)
		require.Equal(t, []string{"t"}, names)
	}}
	require.ErrorIs(t, c.AlterTable(during, path("t"), old, next, changes), context.Canceled)
	require.Equal(t, used, budget.Used())
	require.Greater(t, most, used+20_000, "what is made is reserved batch by batch")
	budget.SetLimit(used + 40_000)
	var over *connector.MemoryError
	require.ErrorAs(t, c.AlterTable(ctx, path("t"), old, next, changes), &over)
	require.Equal(t, used, budget.Used())
	budget.SetLimit(1 << 30)

	// Rows that are added meanwhile are not lost.
	meanwhile := &countedContext{Context: ctx}
	meanwhile.each = func() {
		if meanwhile.asked == 3 {
			insert(t, c, path("t"), []string{"2"})
		}
	}
	require.EqualError(t, c.AlterTable(meanwhile, path("t"), old, next, changes), "table m.db.t was written by another job meanwhile; run the statement again")
	require.Contains(t, contents(t, c, path("t")), "2\n")
	require.NoError(t, c.AlterTable(ctx, path("t"), old, next, changes))
	require.NoError(t, c.DropTable(ctx, path("t"), ""))
	require.Zero(t, budget.Used())
}

// countedContext runs each when it is asked, and has ended when it is asked for the end-th time, if ever.
type countedContext struct {
	context.Context
	asked, end int
	each       func()
}

func (c *countedContext) Err() error {
	c.asked++
	c.each()
	if c.end > 0 && c.asked >= c.end {
		return context.Canceled
	}
	return nil
}

// A table that a job writes is not altered and not renamed; a commit is never lost to either.
func TestAlterHeld(t *testing.T) {
	c := newCatalog(t, nil)
	_, _, err := c.CreateTable(ctx, path("t"), tableOf(t, []string{"a INT"}))
	require.NoError(t, err)
	old, err := c.Table(ctx, path("t"))
	require.NoError(t, err)
	next, changes := changesOf(t, []string{"rename a b"}, old)
	tx := transaction(t, c, path("t"))
	require.NoError(t, tx.Begin(ctx, connector.JobID{0xab}))
	held := "table m.db.t is held by job ab000000000000000000000000000000, which writes it; stop the job or wait for its end"
	require.EqualError(t, c.AlterTable(ctx, path("t"), old, next, changes), held)
	require.EqualError(t, c.RenameTable(ctx, path("t"), "u"), held)
	_, err = c.Table(ctx, path("t"))
	require.NoError(t, err)
	require.NoError(t, tx.Abort(ctx))

	// Many writers and one who alters: what was committed is there in the end. The writers hold the table most of
	// the time, so they go on, with pauses, until the other has had his turns.
	var wg sync.WaitGroup
	var committed, altered atomic.Int64
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := 0; n < 100 || altered.Load() < 10; n++ {
				if n >= 100 {
					time.Sleep(time.Millisecond)
				}
				table, err := c.Table(ctx, path("t"))
				if err != nil {
					continue
				}
				open, err := c.Factory().Table(ctx, table.Def(c.identifier(path("t"))), nil)
				if err != nil {
					continue // altered in between
				}
				tx, err := open.(connector.Writable).Transaction(ctx, connector.Insert{Columns: []int{0}})
				if err != nil || tx.Begin(ctx, connector.NewJobID()) != nil {
					continue
				}
				w, _ := tx.Writer(ctx, 0)
				b := column.NewBatch([]types.Type{types.Of(types.Int)}, 1)
				b.Cols[0].AppendI64(1)
				b.N = 1
				batches := []*column.Batch{b, nil}
				_ = w.Write(ctx, func() (*column.Batch, error) { b := batches[0]; batches = batches[1:]; return b, nil })
				_, _ = tx.Seal(ctx)
				if out, _ := tx.Commit(ctx); out == connector.Done {
					committed.Add(1)
				}
			}
		}()
	}
	stop := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for name := "a"; ; {
			to := map[string]string{"a": "b", "b": "a"}[name]
			old, err := c.Table(ctx, path("t"))
			if err == nil {
				next, changes := changesOf(t, []string{"rename " + name + " " + to}, old)
				if c.AlterTable(ctx, path("t"), old, next, changes) == nil {
					name = to
					altered.Add(1)
				}
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	wg.Wait()
	close(stop)
	<-ended
	require.Positive(t, committed.Load())
	require.Equal(t, committed.Load(), count(t, c, "t"))
}

func TestRenameTable(t *testing.T) {
	budget := connector.NewMemory(1 << 20)
	c := newCatalog(t, budget)
	_, _, err := c.CreateTable(ctx, path("t"), tableOf(t, []string{"a INT"}))
	require.NoError(t, err)
	insert(t, c, path("t"), []string{"1"})
	used := budget.Used()
	_, _, err = c.CreateTable(ctx, path("u"), tableOf(t, []string{"a INT"}))
	require.NoError(t, err)
	view := &catalog.CatalogTable{Kind: catalog.KindView, Options: map[string]string{}, View: &catalog.View{Original: "SELECT 1", Expanded: "SELECT 1"}}
	_, _, err = c.CreateTable(ctx, path("v"), view)
	require.NoError(t, err)
	require.ErrorIs(t, c.RenameTable(ctx, path("t"), "u"), catalog.ErrTableAlreadyExist)
	require.ErrorIs(t, c.RenameTable(ctx, path("x"), "y"), catalog.ErrTableNotExist)
	require.NoError(t, c.RenameTable(ctx, path("t"), "T"))
	require.NoError(t, c.RenameTable(ctx, path("v"), "w"))
	names, err := c.ListTables(ctx, "db")
	require.NoError(t, err)
	require.Equal(t, []string{"T", "u", "w"}, names)
	require.Equal(t, "1\n", contents(t, c, path("T")))
	require.Equal(t, used, budget.Used())
	kept, err := c.Table(ctx, path("w"))
	require.NoError(t, err)
	require.Same(t, view, kept)

	next := *view
	next.View = &catalog.View{Original: "SELECT 2", Expanded: "SELECT 2"}
	require.NoError(t, c.AlterTable(ctx, path("w"), view, &next, []catalog.TableChange{{Kind: catalog.ModifyQuery}}))
	require.ErrorContains(t, c.AlterTable(ctx, path("w"), view, &next, nil), "was changed by another statement")
	require.NoError(t, c.DropTable(ctx, path("w"), ""))
}

func TestAlterDatabase(t *testing.T) {
	c := newCatalog(t, nil)
	require.NoError(t, c.AlterDatabase(ctx, "db", catalog.Database{Comment: "mine", Options: map[string]string{"k": "v"}}))
	db, err := c.Database(ctx, "db")
	require.NoError(t, err)
	require.Equal(t, &catalog.Database{Comment: "mine", Options: map[string]string{"k": "v"}}, db)
	require.ErrorIs(t, c.AlterDatabase(ctx, "x", catalog.Database{}), catalog.ErrDatabaseNotExist)
}

// A table of a connector has a definition and nothing else.
func TestAlterForeign(t *testing.T) {
	c := newCatalog(t, nil)
	table := tableOf(t, []string{"a INT"})
	table.Options["connector"] = "filesystem"
	_, _, err := c.CreateTable(ctx, path("t"), table)
	require.NoError(t, err)
	next, changes := changesOf(t, []string{"add k 0 INT NOT NULL", "set path /x"}, table)
	require.NoError(t, c.AlterTable(ctx, path("t"), table, next, changes))
	got, err := c.Table(ctx, path("t"))
	require.NoError(t, err)
	require.Same(t, next, got)
	bare := *next
	bare.Options = map[string]string{}
	require.EqualError(t, c.AlterTable(ctx, path("t"), next, &bare, []catalog.TableChange{{Kind: catalog.ResetOption, Key: "path"}, {Kind: catalog.ResetOption, Key: "connector"}}),
		"with or without the option 'connector' it would be another table: its rows are either kept in memory or elsewhere")
}
