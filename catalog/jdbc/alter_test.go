package jdbc

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/internal/testfile"
	"github.com/sluice-sql/sluice/types"
)

// words splits a line at blanks; a word may be quoted as in Go.
func words(t *testing.T, line string) (list []string) {
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if line[0] == '"' {
			quoted, err := strconv.QuotedPrefix(line)
			require.NoError(t, err, line)
			word, err := strconv.Unquote(quoted)
			require.NoError(t, err, line)
			list, line = append(list, word), line[len(quoted):]
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		list, line = append(list, word), rest
	}
	return list
}

// changesOf reads changes, one a line, and what they make of the columns: add COLUMN TYPE [POSITION],
// drop COLUMN, rename COLUMN NAME, type COLUMN TYPE, move COLUMN POSITION, comment COLUMN TEXT, and the
// kinds that need no words. A type with blanks is quoted.
func changesOf(t *testing.T, text string, old *catalog.CatalogTable) (*catalog.CatalogTable, []catalog.TableChange) {
	next := *old
	next.Schema.Columns = slices.Clone(old.Schema.Columns)
	var changes []catalog.TableChange
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		w := words(t, line)
		ch := catalog.TableChange{}
		if len(w) > 1 {
			ch.Column = w[1]
		}
		cols := next.Schema.Columns
		at := next.Schema.Index(ch.Column)
		number := func(s string) int {
			n, err := strconv.Atoi(s)
			require.NoError(t, err)
			return n
		}
		typ := func(s string) types.Type {
			typ, err := types.ParseType(s)
			require.NoError(t, err)
			return typ
		}
		switch w[0] {
		case "add":
			ch.Kind, ch.Type, ch.Position = catalog.AddColumn, typ(w[2]), len(cols)
			if len(w) > 3 {
				ch.Position = number(w[3])
			}
			next.Schema.Columns = slices.Insert(cols, ch.Position, types.Column{Name: ch.Column, Type: ch.Type})
		case "drop":
			ch.Kind = catalog.DropColumn
			if at >= 0 {
				next.Schema.Columns = slices.Delete(cols, at, at+1)
			}
		case "rename":
			ch.Kind, ch.NewName = catalog.RenameColumn, w[2]
			cols[at].Name = w[2]
		case "type":
			ch.Kind, ch.Type = catalog.ModifyColumnType, typ(w[2])
			cols[at].Type = ch.Type
		case "move":
			ch.Kind, ch.Position = catalog.ModifyColumnPosition, number(w[2])
			c := cols[at]
			next.Schema.Columns = slices.Insert(slices.Delete(cols, at, at+1), ch.Position, c)
		case "comment":
			ch.Kind, ch.Value = catalog.ModifyColumnComment, w[2]
		case "add-key":
			ch.Kind, ch.Column = catalog.AddPrimaryKey, ""
		case "drop-key":
			ch.Kind, ch.Column = catalog.DropPrimaryKey, ""
		case "set":
			ch.Kind, ch.Column, ch.Key, ch.Value = catalog.SetOption, "", w[1], w[2]
		case "watermark":
			ch.Kind = catalog.AddWatermark
		case "computed":
			ch.Kind, ch.Virtual = catalog.AddColumn, &catalog.VirtualColumn{Name: ch.Column, Expr: "1"}
		default:
			t.Fatal("no such change: ", line)
		}
		changes = append(changes, ch)
	}
	return &next, changes
}

// TestAlter runs ALTER TABLE against files: exe runs SQLite's statements, one a line; alter and rename are
// the catalog's; show prints the file's schema, and cells that a query gives.
func TestAlter(t *testing.T) {
	ctx := context.Background()
	testfile.Walk(t, "testdata/alter", ".test", func(t *testing.T, file string) {
		var path string
		var c catalog.Catalog
		testfile.Run(t, file, func(t *testing.T, d *testfile.Case) string {
			if d.Cmd == "new" {
				path = filepath.Join(t.TempDir(), "shop.db")
				c = open(t, map[string]string{"base-url": "jdbc:sqlite:" + path})
			}
			lines := strings.Split(d.Input, "\n")
			at := catalog.ObjectPath{Database: "shop"}
			answer := func(err error) string {
				var ch *catalog.ChangeError
				switch {
				case errors.As(err, &ch):
					return fmt.Sprintf("at change %d: %s\n", ch.Index+1, ch.Msg)
				case err != nil:
					kind := ""
					for _, s := range []error{catalog.ErrTableAlreadyExist, catalog.ErrTableNotExist} {
						if errors.Is(err, s) {
							kind = " (" + s.Error() + ")"
						}
					}
					return "error: " + strings.ReplaceAll(err.Error(), path, "FILE") + kind + "\n"
				}
				return "ok\n"
			}
			switch d.Cmd {
			case "new", "exe":
				exe(t, path, lines...)
				return ""
			case "alter": // the table's name stands in the first line
				at.Object = words(t, lines[0])[0]
				old, err := c.Table(ctx, at)
				if err != nil {
					return answer(err)
				}
				next, changes := changesOf(t, strings.Join(lines[1:], "\n"), old)
				return answer(c.AlterTable(ctx, at, old, next, changes))
			case "rename":
				w := words(t, d.Input)
				at.Object = w[0]
				return answer(c.RenameTable(ctx, at, w[1]))
			case "show":
				db, err := sql.Open("sqlite3", path)
				require.NoError(t, err)
				defer db.Close()
				var b strings.Builder
				rows, err := db.Query(d.Input)
				require.NoError(t, err)
				defer rows.Close()
				for rows.Next() {
					var cell sql.NullString
					require.NoError(t, rows.Scan(&cell))
					b.WriteString(cell.String + "\n")
				}
				require.NoError(t, rows.Err())
				return b.String()
			}
			t.Fatal("no such directive: ", d.Cmd)
			return ""
		})
	})
}

// A table that is no longer what the change was made for is left alone.
func TestAlterOfAChangedTable(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "shop.db")
	exe(t, path, "CREATE TABLE t (a INT)")
	c := open(t, map[string]string{"base-url": "jdbc:sqlite:" + path})
	at := catalog.ObjectPath{Database: "shop", Object: "t"}
	old, err := c.Table(ctx, at)
	require.NoError(t, err)
	next, changes := changesOf(t, "rename a b", old)
	exe(t, path, "ALTER TABLE t ADD COLUMN c TEXT")
	require.EqualError(t, c.AlterTable(ctx, at, old, next, changes), "table t was changed by another session; look at it and try again")
	require.Equal(t, "a,c", one(t, path, "SELECT group_concat(name) FROM pragma_table_info('t')"))
	exe(t, path, "DROP TABLE t")
	require.ErrorIs(t, c.AlterTable(ctx, at, old, next, changes), catalog.ErrTableNotExist)
	require.EqualError(t, c.AlterDatabase(ctx, "shop", catalog.Database{Comment: "x"}), "a SQLite file keeps no comment and no properties of a database, so there is nothing to alter")
	require.ErrorIs(t, c.AlterDatabase(ctx, "x", catalog.Database{}), catalog.ErrDatabaseNotExist)
}

// While another process writes the file the change waits, and a reader that began before it is not disturbed.
func TestAlterWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.db")
	exe(t, path, "CREATE TABLE t (a INT)")
	c := open(t, map[string]string{"base-url": "jdbc:sqlite:" + path})
	at := catalog.ObjectPath{Database: "shop", Object: "t"}
	old, err := c.Table(context.Background(), at)
	require.NoError(t, err)
	next, changes := changesOf(t, "rename a b", old)
	release := lockElsewhere(t, path)
	ctx, cancel := context.WithTimeout(context.Background(), 1)
	defer cancel()
	require.ErrorContains(t, c.AlterTable(ctx, at, old, next, changes), "is locked")
	done := make(chan error)
	go func() { done <- c.AlterTable(context.Background(), at, old, next, changes) }()
	select {
	case err := <-done:
		t.Fatal("it did not wait: ", err)
	default:
	}
	release()
	require.NoError(t, <-done)
	require.Equal(t, "b", one(t, path, "SELECT group_concat(name) FROM pragma_table_info('t')"))
}

// Whenever the process that alters is killed, the table has all of the changes or none.
func TestAlterKilled(t *testing.T) {
	ctx := context.Background()
	at := catalog.ObjectPath{Database: "shop", Object: "t"}
	if path := os.Getenv("ALTER_OF"); path != "" { // the process to kill
		c := open(t, map[string]string{"base-url": "jdbc:sqlite:" + path})
		for {
			old, err := c.Table(ctx, at)
			require.NoError(t, err)
			text := "rename a b\nadd c INT\nadd d INT"
			if old.Schema.Index("b") >= 0 {
				text = "drop c\ndrop d\nrename b a"
			}
			next, changes := changesOf(t, text, old)
			require.NoError(t, c.AlterTable(ctx, at, old, next, changes))
			_, _ = os.Stdout.WriteString(".")
		}
	}
	for _, mode := range []string{"DELETE", "WAL"} {
		path := filepath.Join(t.TempDir(), "shop.db")
		exe(t, path, "PRAGMA journal_mode = "+mode, "CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1), (2)")
		self, err := os.Executable()
		require.NoError(t, err)
		for range 10 {
			cmd := exec.Command(self, "-test.run=^TestAlterKilled$")
			cmd.Env = append(os.Environ(), "ALTER_OF="+path)
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			first := make([]byte, 1)
			_, err = out.Read(first) // it is at it
			require.NoError(t, err)
			time.Sleep(time.Duration(rand.Intn(60)) * time.Millisecond)
			require.NoError(t, cmd.Process.Kill())
			rest, err := io.ReadAll(out)
			require.NoError(t, err)
			_ = cmd.Wait() // it was killed
			said := string(first) + string(rest)
			require.Empty(t, strings.Trim(said, "."))
			require.Contains(t, []string{"a", "b,c,d"}, one(t, path, "SELECT group_concat(name) FROM pragma_table_info('t')"), said)
			require.Equal(t, "ok 2", one(t, path, "SELECT integrity_check || ' ' || (SELECT count(*) FROM t) FROM pragma_integrity_check"))
		}
	}
}
