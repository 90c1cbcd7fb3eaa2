package planner_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/internal/testfile"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/planner"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// TestPlanner runs testdata/*.test. Directives, each with a statement:
//
//	create   CREATE TABLE: prints the definition and makes it in the fake catalog
//	explain  all that EXPLAIN prints
//	bound    the plan as the statement says it
//	plan     the optimised plan
//	graph    the operators of the job; parallelism=n
//	schema   the columns of the result, or the target and what is said of it
//	error    the error, rendered; atomic asks for an all-or-nothing target
//
// Every statement that plans is also planned without the optimiser, lowered both ways, and its graph must
// come back from its serialised form as it was.
func TestPlanner(t *testing.T) {
	testfile.Walk(t, "testdata", ".test", func(t *testing.T, path string) {
		s := newSession(t)
		testfile.Run(t, path, func(t *testing.T, c *testfile.Case) string { return s.run(t, c) })
		for _, cat := range s.catalogs {
			require.Zero(t, cat.opened, "tables of catalog %s left open", cat.name)
		}
	})
}

type session struct {
	manager  *catalog.CatalogManager
	catalogs []*fakeCatalog
}

func newSession(t testing.TB) *session {
	m, err := catalog.NewCatalogManager(&catalog.Registry{Catalogs: fakeTypes(), Env: &connector.Env{}})
	require.NoError(t, err)
	s := &session{manager: m}
	for _, name := range []string{"file", "leaky", "register"} {
		d := catalog.Descriptor{Ref: catalog.Ref{Name: name, Properties: map[string]string{"type": name}}}
		require.NoError(t, m.CreateCatalog(context.Background(), d, false))
	}
	for _, name := range m.ListCatalogs() {
		c, _ := m.Live(name)
		s.catalogs = append(s.catalogs, c.(*fakeCatalog))
	}
	return s
}

func (s *session) env(sql string) *planner.Env {
	return &planner.Env{
		Catalogs: s.manager,
		Expr:     &expr.Env{Now: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC), Zone: time.UTC, Seed: 1},
		Texts:    []job.Text{{Name: "test", SQL: sql, Line: 1, Column: 1}},
		Options:  planner.Options{Parallelism: 4, BatchRows: 2048, Optimize: true, Zone: "UTC"},
	}
}

// plan plans a query, an INSERT or a CREATE TABLE AS.
func plan(sql string, env *planner.Env) (*planner.Plan, error) {
	stmt, err := sqlparse.Parse(sql)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	switch stmt := stmt.(type) {
	case *sqlparse.QueryStatement:
		return planner.Query(ctx, stmt.Query, env)
	case *sqlparse.Insert:
		return planner.Insert(ctx, stmt, env)
	case *sqlparse.CreateTable:
		if stmt.As != nil {
			return planner.CreateTableAs(ctx, stmt, env)
		}
		_, _, err := planner.CreateTable(ctx, stmt, env)
		return nil, err
	}
	return nil, fmt.Errorf("the tests do not plan %T", stmt)
}

func (s *session) run(t *testing.T, c *testfile.Case) string {
	sql := strings.TrimRight(c.Input, "\n")
	env := s.env(sql)
	if p := testfile.Values(c, "parallelism"); p != nil {
		env.Options.Parallelism, _ = strconv.Atoi(p[0])
	}
	env.Options.AtomicRequired = testfile.Has(c, "atomic")
	if c.Cmd == "create" {
		return s.create(t, sql, env)
	}
	p, err := plan(sql, env)
	if err != nil {
		var e *sqlparse.Error
		if !errors.As(err, &e) {
			return "no position: " + err.Error()
		}
		return e.Render(sqlparse.Source{Text: sql})
	}
	if c.Cmd == "error" {
		return "no error\n"
	}
	s.checkGraphs(t, sql, env, p)
	sections := strings.SplitAfterN(p.Explain(), "\n\n", 3)
	section := func(i int) string {
		_, body, _ := strings.Cut(strings.TrimSpace(sections[i]), "\n")
		return body + "\n"
	}
	switch c.Cmd {
	case "explain":
		return p.Explain()
	case "bound":
		return section(0)
	case "plan":
		return section(1)
	case "graph":
		return section(2)
	case "schema":
		return describe(p)
	}
	t.Fatalf("unknown directive %q", c.Cmd)
	return ""
}

// checkGraphs lowers a plan with and without the optimiser and sends both graphs through their serialised
// form.
func (s *session) checkGraphs(t *testing.T, sql string, env *planner.Env, p *planner.Plan) {
	plain := *env
	plain.Options.Optimize = false
	q, err := plan(sql, &plain)
	require.NoError(t, err)
	require.Equal(t, types.Schema{Columns: kinds(q.Schema)}, types.Schema{Columns: kinds(p.Schema)})
	for _, p := range []*planner.Plan{p, q} {
		g, err := p.Graph()
		require.NoError(t, err)
		encoded, err := job.Encode(g)
		require.NoError(t, err)
		back, err := job.Decode(encoded)
		require.NoError(t, err, "%s", encoded)
		again, err := job.Encode(back)
		require.NoError(t, err)
		require.True(t, bytes.Equal(encoded, again), "the graph changed on the way:\n%s\n%s", encoded, again)
		for _, e := range back.Edges {
			if e.Kind == job.Broadcast {
				require.Equal(t, 1, e.Input)
			}
		}
	}
}

// kinds drops nullability, which the optimiser may narrow.
func kinds(s types.Schema) []types.Column {
	cols := append([]types.Column(nil), s.Columns...)
	for i := range cols {
		cols[i].Type = cols[i].Type.AsNullable()
	}
	return cols
}

func (s *session) create(t testing.TB, sql string, env *planner.Env) string {
	stmt, err := sqlparse.Parse(sql)
	require.NoError(t, err)
	id, table, err := planner.CreateTable(context.Background(), stmt.(*sqlparse.CreateTable), env)
	require.NoError(t, err)
	// A column commented 'default' or 'computed' is one of the store's own making, as is a table
	// commented 'view'.
	for _, c := range table.Schema.Columns {
		switch c.Comment {
		case "default":
			table.Defaults = append(table.Defaults, c.Name)
		case "computed":
			table.ReadOnly = append(table.ReadOnly, c.Name)
		}
	}
	if table.Comment == "view" {
		table.Kind = catalog.KindView
	}
	c, _ := s.manager.Live(id.Catalog)
	_, _, err = c.CreateTable(context.Background(), catalog.ObjectPath{Database: id.Database, Object: id.Object}, table)
	require.NoError(t, err)
	return definition(id, table)
}

func definition(id connector.ObjectIdentifier, table *catalog.CatalogTable) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", id)
	for _, c := range table.Schema.Columns {
		fmt.Fprintf(&b, "  %s %s", c.Name, c.Type)
		if c.Comment != "" {
			fmt.Fprintf(&b, " -- %s", c.Comment)
		}
		b.WriteByte('\n')
	}
	if table.Schema.PrimaryKey != nil {
		fmt.Fprintf(&b, "  PRIMARY KEY %s %v\n", table.Schema.PrimaryKeyName, table.Schema.PrimaryKey)
	}
	if table.Comment != "" {
		fmt.Fprintf(&b, "  COMMENT %s\n", table.Comment)
	}
	if len(table.Options) > 0 {
		fmt.Fprintf(&b, "  WITH %v\n", table.Options)
	}
	return b.String()
}

func describe(p *planner.Plan) string {
	var b strings.Builder
	if p.Table == nil {
		for _, c := range p.Schema.Columns {
			fmt.Fprintf(&b, "%s %s\n", c.Name, c.Type)
		}
		return b.String()
	}
	b.WriteString(definition(p.Target, p.Table))
	if p.Exists {
		b.WriteString("exists\n")
		return b.String()
	}
	g, err := p.Graph()
	if err != nil {
		return err.Error()
	}
	hook := g.Hooks[0]
	fmt.Fprintf(&b, "hook %s %s columns=%v readsSame=%v\n", hook.Kind, hook.Purpose, hook.Columns, hook.ReadsSame)
	sink := g.Vertices[len(g.Vertices)-1].Spec.(*job.Sink)
	fmt.Fprintf(&b, "writes %s not null %v\n", strings.Join(sink.Names, ", "), sink.NotNull)
	for _, n := range p.Check.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	return b.String()
}
