package session_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	jdbccatalog "github.com/sluice-sql/sluice/catalog/jdbc"
	memorycatalog "github.com/sluice-sql/sluice/catalog/memory"
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/internal/testfile"
	"github.com/sluice-sql/sluice/session"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// TestScripts runs the statements of testdata, each file in a session of its own, and each file several
// ways that must give the same output.
//
// Directives:
//
//	sql               statements, separated by semicolons; all their results are the output
//	sql unordered     the rows of each query are sorted first
//	sql first-only    only the first way is compared, for what the ways are meant to change
//	sql only=SQLite   only where the rows are in a catalog of this kind
//
// $TMP in the input is a directory of the way's own. A job id shows as <job>.
func TestScripts(t *testing.T) {
	testfile.Walk(t, "testdata/scripts", ".test", func(t *testing.T, path string) { runEveryWay(t, path, ways()) })
}

// TestStores runs scripts in catalog c, database d, once for every kind of catalog that keeps rows, and
// each several ways: what the scripts say must not depend on where the rows are.
func TestStores(t *testing.T) {
	testfile.Walk(t, "testdata/stores", ".test", func(t *testing.T, path string) { runEveryWay(t, path, everyStore()) })
}

// TestCases runs the cases from public bug reports in every kind of catalog; a file is named by its case.
func TestCases(t *testing.T) {
	testfile.Walk(t, "testdata/cases", ".test", func(t *testing.T, path string) { runEveryWay(t, path, everyStore()) })
}

// way is one configuration that a script runs under.
type way struct {
	name    string
	options map[string]string
	setup   string // statements that go before the script
	// server has the rows of catalog c, in a database that is called d in the output.
	server database
}

// database is a server that makes databases for tests.
type database interface {
	Database(testing.TB) string
	URL(database string) string
}

func ways() []way {
	return []way{
		{name: "default", options: map[string]string{"parallelism.default": "2"}},
		{name: "optimizer off", options: map[string]string{"sluice.optimizer.enabled": "false", "parallelism.default": "1"}},
		{name: "parallelism 4", options: map[string]string{"parallelism.default": "4"}},
		{name: "batches of one row", options: map[string]string{"sluice.batch-rows": "1", "parallelism.default": "2"}},
	}
}

func everyStore() []way {
	var list []way
	for _, store := range []struct{ name, with string }{
		{"memory", "'type' = 'generic_in_memory', 'default-database' = 'd'"},
		{"SQLite", "'type' = 'jdbc', 'base-url' = 'jdbc:sqlite:$TMP/d.db'"},
	} {
		for _, w := range ways() {
			w.name += " on " + store.name
			w.setup = "CREATE CATALOG c WITH (" + store.with + "); USE CATALOG c;"
			list = append(list, w)
		}
	}
	return list
}

// testNow is what the clock of the tests shows.
func testNow() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 89_000_000, time.UTC) }

// world is a session, what it prints and the directory it may write to.
type world struct {
	*session.Session
	env   *connector.Env
	tmp   string
	scrub []string // texts and what the output has in their place
}

func newWorld(t *testing.T, options map[string]string, connectors ...connector.Factory) *world {
	t.Helper()
	all := map[string]string{"table.local-time-zone": "UTC"}
	for k, v := range options {
		all[k] = v
	}
	tmp := t.TempDir()
	if all["table.catalog-store.file.path"] == "" {
		all["table.catalog-store.file.path"] = tmp + "/catalogs" // whoever runs the test has another one
	}
	w := &world{tmp: tmp, env: &connector.Env{
		Clock:    testNow,
		TempDir:  t.TempDir(),
		StateDir: t.TempDir(),
		Memory:   connector.NewMemory(256 << 20),
		Files:    connector.NewFiles(),
	}}
	s, err := session.New(session.Config{
		Env:        w.env,
		Catalogs:   []catalog.Factory{memorycatalog.Factory{}, jdbccatalog.Factory{}},
		Connectors: connectors,
		Options:    all,
	})
	require.NoError(t, err)
	w.Session = s
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return w
}

// setUp runs what comes first in a way, whose database need not be there before.
func (w *world) setUp(t *testing.T, way way) {
	t.Helper()
	if way.server != nil {
		name := way.server.Database(t)
		w.scrub = []string{name, "d"}
		way.setup = "CREATE CATALOG c WITH ('type' = 'jdbc', " + login(way.server, "base-url", name) + "); USE CATALOG c;"
	}
	if way.setup == "" {
		return
	}
	said := strings.TrimPrefix(w.script(t, way.setup, false), "info: There is no file $TMP/d.db yet; the first CREATE TABLE makes it.\n")
	require.Equal(t, "ok\nok\n", said)
}

func runEveryWay(t *testing.T, path string, list []way) {
	worlds := make([]*world, len(list))
	for i, way := range list {
		worlds[i] = newWorld(t, way.options)
		worlds[i].setUp(t, way)
	}
	testfile.Run(t, path, func(t *testing.T, c *testfile.Case) string {
		if c.Cmd != "sql" {
			t.Fatalf("%s: unknown directive %q", c.Pos, c.Cmd)
		}
		for _, a := range c.CmdArgs {
			if !slices.Contains([]string{"unordered", "first-only", "only"}, a.Key) {
				t.Fatalf("%s: unknown argument %q", c.Pos, a.Key)
			}
		}
		want, first := "", -1
		for i, w := range worlds {
			if store := testfile.Values(c, "only"); store != nil && !strings.HasSuffix(list[i].name, " on "+store[0]) {
				continue
			}
			got := w.script(t, c.Input, testfile.Has(c, "unordered"))
			switch {
			case first < 0:
				want, first = got, i
			case testfile.Has(c, "first-only"):
			case got != want:
				t.Errorf("%s: %s gives\n%s\n%s gives\n%s", c.Pos, list[first].name, want, list[i].name, got)
			}
		}
		switch {
		case first >= 0:
			return want
		case slices.ContainsFunc(list, func(w way) bool { return w.server != nil }), // TestStores has the other ways
			slices.Contains([]string{"MariaDB", "PostgreSQL"}, testfile.Values(c, "only")[0]): // and it has not these
			return c.Expected
		}
		t.Fatalf("%s: no way fits", c.Pos)
		return ""
	})
}

var jobID = regexp.MustCompile(`\b[0-9a-f]{32}\b|(?P<ours>_sluice_)[0-9a-f]{32}`)

// split cuts a script into its statements; those before an error are returned with it.
func split(text string) (list []sqlparse.StatementText, err error) {
	var s sqlparse.Splitter
	s.Feed(text)
	for {
		t, ok, err := s.Next()
		if err == nil && !ok {
			if t, ok, err = s.Finish(); err == nil && !ok {
				return list, nil
			}
		}
		if err != nil {
			e := *err.(*sqlparse.Error)
			e.Span.Start += t.Offset
			e.Span.End += t.Offset
			return list, &e
		}
		list = append(list, t)
	}
}

// script runs statements until one fails and returns what they gave.
func (w *world) script(t *testing.T, input string, unordered bool) string {
	t.Helper()
	var b strings.Builder
	texts, splitErr := split(strings.ReplaceAll(input, "$TMP", w.tmp))
	for _, text := range texts {
		out, err := w.statement(t, session.Text{SQL: text.Text, Line: text.Line, Column: text.Column}, unordered)
		b.WriteString(out)
		if err != nil {
			return w.clean(b.String())
		}
	}
	if splitErr != nil {
		var e *sqlparse.Error
		require.ErrorAs(t, splitErr, &e)
		b.WriteString(e.Render(sqlparse.Source{Text: input}))
	}
	return w.clean(b.String())
}

func (w *world) clean(s string) string {
	s = strings.NewReplacer(w.scrub...).Replace(s)
	return jobID.ReplaceAllString(strings.ReplaceAll(s, w.tmp, "$TMP"), "${ours}<job>")
}

// statement runs one statement and returns its result, or its error, as text.
func (w *world) statement(t *testing.T, text session.Text, unordered bool) (string, error) {
	t.Helper()
	ctx := context.Background()
	res, err := w.Execute(ctx, text)
	if err != nil {
		return render(t, err), err
	}
	defer func() { require.NoError(t, res.Close()) }()
	var b strings.Builder
	switch res.Kind {
	case session.OK:
		if res.Message != "" {
			b.WriteString("info: " + res.Message + "\n")
		}
		b.WriteString("ok\n")
	case session.Notice:
		b.WriteString("notice: " + res.Message + "\n")
	case session.Written, session.Submitted:
		if res.Message != "" {
			b.WriteString("info: " + res.Message + "\n")
		}
		if res.Kind == session.Submitted {
			fmt.Fprintf(&b, "submitted %s\n", res.Job)
			break
		}
		fmt.Fprintf(&b, "%d rows %s\n", res.Affected, res.Did)
	case session.Quit:
		b.WriteString("quit\n")
	case session.Clear:
		b.WriteString("clear\n")
	case session.Source:
		b.WriteString("source: " + res.Message + "\n")
	case session.Help:
		b.WriteString(res.Message + "\n")
	case session.Rows:
		if res.Message != "" {
			b.WriteString("info: " + res.Message + "\n")
		}
		var head []string
		for _, c := range res.Schema.Columns {
			if res.IsQuery {
				head = append(head, c.Name+" "+c.Type.String())
			} else {
				head = append(head, c.Name)
			}
		}
		b.WriteString(strings.Join(head, " | ") + "\n")
		rows, err := fetch(ctx, res)
		if unordered && res.IsQuery {
			sort.Strings(rows)
		}
		if err != nil { // how many rows came before it is a matter of timing
			return render(t, err), err
		}
		for _, r := range rows {
			b.WriteString(r + "\n")
		}
		if len(rows) == 0 {
			b.WriteString("(no rows)\n")
		}
	}
	return b.String(), nil
}

// fetch takes all rows of a result as text.
func fetch(ctx context.Context, res *session.Result) ([]string, error) {
	var rows []string
	var cell []byte
	for {
		batch, err := res.Next(ctx)
		if err != nil || batch == nil {
			return rows, err
		}
		for i := 0; i < batch.Rows(); i++ {
			var cells []string
			if res.Changelog {
				kind := types.Insert
				if batch.Kind != nil {
					kind = batch.Kind[batch.Row(i)]
				}
				cells = append(cells, kind.String())
			}
			for _, v := range batch.Cols {
				if v.IsNull(batch.Row(i)) {
					cells = append(cells, "<NULL>")
					continue
				}
				cell = column.AppendText(cell[:0], v, batch.Row(i), time.UTC)
				cells = append(cells, string(cell))
			}
			rows = append(rows, strings.Join(cells, " | "))
		}
	}
}

// render returns an error as the shell shows it.
func render(t *testing.T, err error) string {
	t.Helper()
	var e *session.Error
	require.True(t, errors.As(err, &e), "%T left the session: %v", err, err)
	return e.Render()
}
