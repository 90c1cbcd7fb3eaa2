package session

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/catalog/jdbc"
	"github.com/sluice-sql/sluice/catalog/memory"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/filesystem"
	"github.com/sluice-sql/sluice/connector/format/csv"
	"github.com/sluice-sql/sluice/connector/format/json"
	"github.com/sluice-sql/sluice/types"
)

func helpSession(t *testing.T) *Session {
	s, err := New(Config{
		Env:        &connector.Env{Clock: time.Now, TempDir: t.TempDir(), StateDir: t.TempDir(), Memory: connector.NewMemory(64 << 20), Files: connector.NewFiles()},
		Catalogs:   []catalog.Factory{memory.Factory{}, jdbc.Factory{}},
		Connectors: []connector.Factory{filesystem.Connector{Formats: []connector.Format{csv.Format{}, json.Format{}}}},
		Options:    map[string]string{"table.catalog-store.file.path": t.TempDir()},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// help returns what HELP prints of a topic; its lines fit a screen.
func helpOf(t *testing.T, s *Session, topic string) string {
	r, err := s.Execute(t.Context(), Text{SQL: "HELP " + topic})
	require.NoError(t, err, topic)
	for _, line := range strings.Split(r.Message, "\n") {
		require.LessOrEqual(t, utf8.RuneCountInString(line), helpWidth, line)
	}
	return r.Message
}

// There is help on every catalog type, connector and format, and on each of their options.
func TestHelpDeclared(t *testing.T) {
	s := helpSession(t)
	all := s.declarers()
	require.Len(t, all, 5)
	for _, d := range all {
		text := helpOf(t, s, d.name)
		require.Contains(t, text, d.kind+" '"+d.name+"'")
		for _, o := range d.options {
			require.Contains(t, text, "'"+o.Key)
			one := helpOf(t, s, strings.TrimSuffix(o.Key, "."))
			require.Contains(t, one, "'"+o.Key)
			require.Contains(t, strings.Join(strings.Fields(one), " "), strings.Join(strings.Fields(o.Doc), " "))
			require.Contains(t, one, d.kind+" '"+d.name+"'")
		}
	}
	require.Contains(t, helpOf(t, s, "filesystem"), "HELP csv; and HELP json;")
	require.NotContains(t, helpOf(t, s, "filesystem"), "csv.header")
	require.Contains(t, helpOf(t, s, "sqlite.columns.x"), "'sqlite.columns.…'")
	for _, list := range []string{"CONNECTORS", "formats", "CATALOG TYPES"} {
		require.Contains(t, helpOf(t, s, list), "HELP name lists the options of one.", list)
	}
	_, err := s.Execute(t.Context(), Text{SQL: "HELP csv.headr"})
	require.ErrorContains(t, err, "did you mean HELP csv.header?")
}

// There is help on every type, under each of its names, and what it says can be parsed.
func TestHelpTypes(t *testing.T) {
	s := helpSession(t)
	list := helpOf(t, s, "TYPES")
	kinds := map[types.Kind]bool{}
	fill := strings.NewReplacer("(p, s)", "(10, 2)", "(n)", "(3)", "(p)", "(3)", "<type, type>", "<INT, INT>", "<type>", "<INT>", "<name type, …>", "<a INT>")
	for _, dt := range dataTypes() {
		require.Contains(t, list, dt.syntax)
		for _, name := range dt.names {
			require.Contains(t, helpOf(t, s, name), "type "+dt.syntax)
		}
		typ, err := types.ParseType(fill.Replace(dt.syntax))
		require.NoError(t, err, dt.syntax)
		kinds[typ.Kind] = true
		if dt.sample == "" {
			continue
		}
		r, err := s.Execute(t.Context(), Text{SQL: "SELECT " + dt.sample})
		require.NoError(t, err, dt.sample)
		require.NoError(t, r.Close())
		if got := r.Schema.Columns[0].Type; typ.Kind != types.VarBinary && typ.Kind != types.VarChar {
			require.Equal(t, typ.Kind, got.Kind, dt.sample)
		}
	}
	for k := types.Boolean; k <= types.Row; k++ {
		require.True(t, kinds[k], "kind %d", k)
	}
	require.Contains(t, helpOf(t, s, "DECIMAL(10, 2)"), "type DECIMAL(p, s)")
}

// There is help on the clauses of a query.
func TestHelpClauses(t *testing.T) {
	s := helpSession(t)
	for _, c := range clauses() {
		for _, name := range c.names {
			require.Contains(t, helpOf(t, s, name), strings.Fields(c.syntax)[0], name)
		}
	}
	require.Contains(t, helpOf(t, s, "GROUP BY"), "SELECT [ALL | DISTINCT]")
	require.Contains(t, helpOf(t, s, "WATERMARK"), "CREATE [TEMPORARY] TABLE")
}

// What HELP prints as the grammar of a statement is not refused.
func TestHelpListsWhatWorks(t *testing.T) {
	s := helpSession(t)
	list := helpOf(t, s, "STATEMENTS")
	works, _, _ := strings.Cut(list, "Not supported yet")
	for _, refused := range []string{"ANALYZE TABLE table", "INTO | OVERWRITE", "ESTIMATED_COST", "PLAN_ADVICE", "ADD [IF NOT EXISTS] PARTITION", "[WINDOW"} {
		require.NotContains(t, works, refused)
	}
}

// A message shows what was typed, but for what may be a secret.
func TestMasksNoMore(t *testing.T) {
	s := helpSession(t)
	shown := func(sql string) string {
		_, err := s.Execute(t.Context(), Text{SQL: sql})
		var e *Error
		require.ErrorAs(t, err, &e, sql)
		return e.Render()
	}
	text := shown("CREATE TABLE x (a INT) WITH ('connector'='filesytem','path'='/tmp/x','format'='csv','url'='jdbc:x','password'='hush1')")
	require.Contains(t, text, "'path'='/tmp/x','format'='csv'")
	require.NotContains(t, text, "hush1")
	text = shown("CREATE TABLE x (a INT) WITH ('connector'='filesystem','path'='/tmp/x','format'='csv','csv.headr'='true')")
	require.Contains(t, text, "'csv.headr'='true'")
	text = shown("CREATE TABLE x (a INT) WITH ('connector'='filesytem','topic'='hush2','pasword'='hush3')")
	require.NotContains(t, text, "hush")
	text = shown("CREATE CATALOG x WITH ('type'='jdbcc','base-url'='jdbc:sqlite:/tmp/x','pasword'='hush4')")
	require.Contains(t, text, "'base-url'='jdbc:sqlite:/tmp/x'")
	require.NotContains(t, text, "hush")
}
