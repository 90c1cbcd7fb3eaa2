package session_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	jdbccatalog "github.com/sluice-sql/sluice/catalog/jdbc"
	memorycatalog "github.com/sluice-sql/sluice/catalog/memory"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/datagen"
	jdbcconnector "github.com/sluice-sql/sluice/connector/jdbc"
	"github.com/sluice-sql/sluice/internal/testfile"
	"github.com/sluice-sql/sluice/session"
	"github.com/sluice-sql/sluice/sqlparse"
)

// TestComplete completes at the | of texts. Directives:
//
//	sql             statements that are run
//	complete        what may stand at the |, one candidate a line: its text, its kind, and with the argument
//	                doc what is said of it
//	complete kinds=(table,column)   … of these kinds only
//	complete not=(function)         … but not of these
//
// The candidates' start is shown where it is not what the words before the cursor make it. $TMP is a folder
// of the test's own. Control characters show as in a Go string.
func TestComplete(t *testing.T) {
	testfile.Walk(t, "testdata/complete", ".test", func(t *testing.T, path string) {
		w := newCompletionWorld(t, nil)
		for _, name := range []string{"shop.db", "a b.sqlite", "it's.sql", "notes.txt", ".hidden.sql"} {
			require.NoError(t, os.WriteFile(filepath.Join(w.tmp, name), nil, 0o600))
		}
		require.NoError(t, os.Mkdir(filepath.Join(w.tmp, "scripts"), 0o700))
		testfile.Run(t, path, func(t *testing.T, c *testfile.Case) string {
			input := strings.ReplaceAll(c.Input, "$TMP", w.tmp)
			if c.Cmd == "sql" {
				for _, sql := range strings.Split(input, ";\n") {
					if _, err := w.Execute(context.Background(), session.Text{SQL: strings.TrimSuffix(unescaped(sql), ";")}); err != nil {
						return err.Error()
					}
				}
				return "ok"
			}
			require.Equal(t, "complete", c.Cmd)
			pos := strings.Index(input, "|")
			require.GreaterOrEqual(t, pos, 0, "a case without a cursor")
			text := input[:pos] + input[pos+1:]
			got := w.Complete(context.Background(), text, pos)
			var b strings.Builder
			word := text[got.Start:pos]
			if strings.ContainsAny(word, " \n") {
				fmt.Fprintf(&b, "in place of %q\n", strings.ReplaceAll(word, w.tmp, "$TMP"))
			}
			for _, item := range got.Items {
				kind := string(item.Kind)
				if !wanted(c, kind) {
					continue
				}
				shown := fmt.Sprintf("%q", item.Text)
				fmt.Fprintf(&b, "%s %s", strings.ReplaceAll(shown[1:len(shown)-1], w.tmp, "$TMP"), kind)
				if testfile.Has(c, "doc") {
					b.WriteString(": " + item.Doc)
				}
				b.WriteString("\n")
			}
			if b.Len() == 0 {
				return "nothing"
			}
			return b.String()
		})
	})
}

// newCompletionWorld is a session that has connectors as well.
func newCompletionWorld(t *testing.T, options map[string]string) *world {
	t.Helper()
	tmp := t.TempDir()
	s, err := session.New(session.Config{
		Env: &connector.Env{Clock: testNow, TempDir: t.TempDir(), StateDir: t.TempDir(),
			Memory: connector.NewMemory(64 << 20), Files: connector.NewFiles()},
		Catalogs:   []catalog.Factory{memorycatalog.Factory{}, jdbccatalog.Factory{}},
		Connectors: []connector.Factory{jdbcconnector.Connector{}, datagen.Connector{}},
		Options:    options,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return &world{Session: s, tmp: tmp}
}

func openSQLite(t *testing.T, file string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", file)
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// unescaped puts control characters where a script says \x1b or the like.
func unescaped(sql string) string {
	return strings.NewReplacer(`\x1b`, "\x1b", `\u202e`, "\u202e").Replace(sql)
}

// wanted reports whether a case shows a kind.
func wanted(c *testfile.Case, kind string) bool {
	for _, a := range c.CmdArgs {
		has := false
		for _, v := range a.Vals {
			has = has || v == kind
		}
		if a.Key == "kinds" && !has || a.Key == "not" && has {
			return false
		}
	}
	return true
}

// Every form of statement that is supported can be reached word by word.
func TestCompleteForms(t *testing.T) {
	w := newCompletionWorld(t, nil)
	optional := regexp.MustCompile(` \[.*\]`)
	for _, f := range sqlparse.Forms() {
		if !f.Supported() {
			continue
		}
		text := ""
		for _, word := range strings.Fields(optional.ReplaceAllString(f.Lead, "")) {
			word, _, _ = strings.Cut(strings.Trim(word, "{}"), "|")
			require.Contains(t, w.Complete(context.Background(), text, len(text)).Items,
				session.CompletionItem{Text: word, Kind: session.CompleteKeyword}, "%s behind %q", f.Name, text)
			text += word + " "
		}
	}
}

// A file that another process has locked: names come from before, or not at all, and at once.
func TestCompleteLocked(t *testing.T) {
	w := newCompletionWorld(t, nil)
	file := filepath.Join(w.tmp, "l.db")
	db := openSQLite(t, file)
	_, err := db.Exec("CREATE TABLE known (x INT)")
	require.NoError(t, err)
	ctx := context.Background()
	_, err = w.Execute(ctx, session.Text{SQL: "CREATE CATALOG l WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:" + file + "')"})
	require.NoError(t, err)
	_, err = w.Execute(ctx, session.Text{SQL: "USE CATALOG l"})
	require.NoError(t, err)
	texts := func(sql string) []string {
		var list []string
		for _, item := range w.Complete(ctx, sql, len(sql)).Items {
			list = append(list, item.Text)
		}
		return list
	}
	require.Equal(t, []string{"known"}, texts("SELECT * FROM kn"))
	_, err = db.Exec("BEGIN EXCLUSIVE")
	require.NoError(t, err)
	_, err = w.Execute(ctx, session.Text{SQL: "SET 'sluice.max-rows' = '7'"}) // what is known is old
	require.NoError(t, err)
	for range 3 {
		// It would hang here, since nobody lets go of the file.
		require.Equal(t, []string{"known"}, texts("SELECT * FROM kn"))
		require.Empty(t, texts("SELECT nothing FROM known WHERE zz"))
	}
	_, err = db.Exec("COMMIT")
	require.NoError(t, err)
}

// A catalog that the store knows and that is not open stays so.
func TestCompleteOpensNothing(t *testing.T) {
	dir := t.TempDir()
	options := map[string]string{"table.catalog-store.kind": "file", "table.catalog-store.file.path": dir}
	ctx := context.Background()
	w := newCompletionWorld(t, options)
	file := filepath.Join(w.tmp, "kept.db")
	db := openSQLite(t, file)
	_, err := db.Exec("CREATE TABLE kept (x INT)")
	require.NoError(t, err)
	_, err = w.Execute(ctx, session.Text{SQL: "CREATE CATALOG k WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:" + file + "')"})
	require.NoError(t, err)
	again := newCompletionWorld(t, options)
	names := func() []session.CompletionItem {
		return again.Complete(ctx, "SELECT * FROM k.kept.", len("SELECT * FROM k.kept.")).Items
	}
	require.Equal(t, []session.CompletionItem{{Text: "k.", Kind: session.CompleteCatalog}}, again.Complete(ctx, "SELECT * FROM k", 15).Items)
	require.Empty(t, names())
	_, err = again.Execute(ctx, session.Text{SQL: "SHOW TABLES FROM k.kept"})
	require.NoError(t, err)
	require.Equal(t, []session.CompletionItem{{Text: "kept", Kind: session.CompleteTable}}, names())
}

// Whatever the text, Complete answers, and what it answers is about the text before the cursor.
func TestCompleteAnything(t *testing.T) {
	w := newCompletionWorld(t, nil)
	const text = "WITH a (x) AS (SELECT `b``c`, CASE WHEN 1 THEN 'it''s' END FROM t AS u JOIN (SELECT 2) USING (y)) " +
		"SELECT a.*, COUNT(*) OVER (PARTITION BY x) FROM a /* c */ -- d\nWHERE x IN (1, 2.5e3) UNION ALL VALUES (1), (2); " +
		"CREATE TABLE d.t (a INT, b DECIMAL(3, 1), PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'jdbc', 'ur', ) ]}) AS SELECT \"q"
	for from := range len(text) {
		for _, to := range []int{len(text), min(len(text), from+17), min(len(text), from+60)} {
			part := text[from:to]
			pos := len(part) / 2
			c := w.Complete(context.Background(), part, pos)
			require.True(t, 0 <= c.Start && c.Start <= pos, part)
		}
	}
}

func BenchmarkComplete(b *testing.B) {
	s, err := session.New(session.Config{
		Env:      &connector.Env{Clock: time.Now, Memory: connector.NewMemory(64 << 20), Files: connector.NewFiles()},
		Catalogs: []catalog.Factory{memorycatalog.Factory{}},
	})
	require.NoError(b, err)
	defer func() { require.NoError(b, s.Close()) }()
	for i := range 5000 {
		_, err := s.Execute(context.Background(), session.Text{SQL: fmt.Sprintf("CREATE TABLE table_%d (x INT)", i)})
		require.NoError(b, err)
	}
	long := "SELECT " + strings.Repeat("x + 1 AS y, ", 2000) + "1 FROM tab"
	for name, text := range map[string]string{"5000 tables": "SELECT * FROM t", "a long statement": long} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				require.NotEmpty(b, s.Complete(context.Background(), text, len(text)).Items)
			}
		})
	}
}
