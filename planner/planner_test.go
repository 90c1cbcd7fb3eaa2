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
//	create   CREATE TABLE or VIEW: prints the definition and makes it in the fake catalog
//	alter    ALTER TABLE or VIEW: prints the changes and the new definition, and makes them
//	drop     DROP TABLE or VIEW, in the fake catalog
//	partitions  a table's name, and perhaps PARTITION (…): the plan of SHOW PARTITIONS
//	explain  all that EXPLAIN prints
//	bound    the plan as the statement says it
//	plan     the optimised plan
//	texts    the optimised plan, and the texts that its expressions come from
//	graph    the operators of the job; parallelism=n
//	schema   the columns of the result, or the target and what is said of it
//	error    the error, rendered; atomic asks for an all-or-nothing target
//
// mode=streaming and mode=batch say how to run; else the tables that are read decide.
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
	rows := fakeRows{&fakeCatalog{name: "connectors"}}
	connectors := []connector.Factory{fakeConnector{rows}, fakeStream{rows}, fakePrint{rows}}
	m, err := catalog.NewCatalogManager(&catalog.Registry{Catalogs: fakeTypes(), Connectors: connectors, Env: &connector.Env{}})
	require.NoError(t, err)
	s := &session{manager: m, catalogs: []*fakeCatalog{rows.c}}
	for _, name := range []string{"file", "leaky", "register"} {
		d := catalog.Descriptor{Ref: catalog.Ref{Name: name, Properties: map[string]string{"type": name}}}
		require.NoError(t, m.CreateCatalog(context.Background(), d))
	}
	for _, name := range m.ListCatalogs(context.Background()) {
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
	case *sqlparse.Update:
		return planner.Update(ctx, stmt, env)
	case *sqlparse.Delete:
		return planner.Delete(ctx, stmt, env)
	case *sqlparse.TruncateTable:
		t, err := planner.Truncate(ctx, stmt, env)
		if err == nil {
			err = t.Close()
		}
		return nil, err
	case *sqlparse.CreateTable:
		if stmt.As != nil {
			return planner.CreateTableAs(ctx, stmt, env)
		}
		_, _, err := planner.CreateTable(ctx, stmt, env)
		return nil, err
	case *sqlparse.CreateView:
		_, _, err := planner.CreateView(ctx, stmt, env)
		return nil, err
	case *sqlparse.AlterView:
		_, _, _, err := planner.AlterView(ctx, stmt, env)
		return nil, err
	case *sqlparse.AlterTable:
		_, err := planner.AlterTable(ctx, stmt, env)
		return nil, err
	case *sqlparse.ShowPartitions:
		return planner.Partitions(ctx, stmt.Table, stmt.Partition, env)
	}
	return nil, fmt.Errorf("the tests do not plan %T", stmt)
}

func (s *session) run(t *testing.T, c *testfile.Case) string {
	sql := strings.TrimRight(c.Input, "\n")
	env := s.env(sql)
	if p := testfile.Values(c, "parallelism"); p != nil {
		env.Options.Parallelism, _ = strconv.Atoi(p[0])
	}
	if m := testfile.Values(c, "mode"); m != nil {
		env.Options.Mode = job.Mode(m[0])
	}
	env.Options.AtomicRequired = testfile.Has(c, "atomic")
	switch c.Cmd {
	case "create":
		return s.create(t, sql, env)
	case "alter":
		return s.alter(t, sql, env)
	case "drop":
		return s.drop(t, sql)
	case "partitions":
		sql = "SHOW PARTITIONS " + sql
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
	s.checkView(t, sql, env, p)
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
	case "plan", "partitions":
		return section(1)
	case "texts":
		return section(1) + texts(p)
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
		require.Equal(t, p.Mode(), back.Mode)
	}
}

// checkView makes a view of a query: reading it must come to the same plan.
func (s *session) checkView(t *testing.T, sql string, given *planner.Env, p *planner.Plan) {
	stmt, err := sqlparse.Parse(sql)
	require.NoError(t, err)
	q, ok := stmt.(*sqlparse.QueryStatement)
	if !ok {
		return
	}
	create := &sqlparse.CreateView{Query: q.Query, Temporary: true, Name: sqlparse.ObjectName{Parts: []sqlparse.Ident{{Name: "a view"}}}}
	for i := range p.Schema.Columns {
		create.Columns = append(create.Columns, sqlparse.Ident{Name: strconv.Itoa(i)})
	}
	ctx := context.Background()
	id, view, err := planner.CreateView(ctx, create, s.env(sql))
	if err != nil && (strings.Contains(err.Error(), "is an untyped NULL") || strings.Contains(err.Error(), "is ambiguous")) {
		return // neither can be a view
	}
	require.NoError(t, err)
	again, err := sqlparse.Parse(sql)
	require.NoError(t, err)
	require.Equal(t, sqlparse.Print(again), sqlparse.Print(stmt), "the statement's tree is as it was")
	require.NoError(t, s.manager.CreateTemporary(ctx, id, view))
	defer func() { require.NoError(t, s.manager.DropTemporary(id)) }()
	plain := planner.Options{Parallelism: 4, BatchRows: 2048, Optimize: true, Zone: "UTC", Mode: given.Options.Mode}
	env := s.env("SELECT * FROM `a view`")
	env.Options = plain
	read, err := plan("SELECT * FROM `a view`", env)
	require.NoError(t, err, "%s", view.View.Expanded)
	before := s.env(sql)
	before.Options = plain
	was, err := plan(sql, before)
	require.NoError(t, err)
	require.Equal(t, shape(was), shape(read), "%s", view.View.Expanded)
}

// shape is the optimised plan without the names of columns.
func shape(p *planner.Plan) string {
	g, err := p.Graph()
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, v := range g.Vertices {
		fmt.Fprintf(&b, "%s x%d", v.Spec.Op(), v.Parallelism)
		for _, c := range v.Out {
			fmt.Fprintf(&b, " %s", c.Type)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%v\n", g.Edges)
	return b.String()
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
	var id connector.ObjectIdentifier
	var table *catalog.CatalogTable
	switch stmt := stmt.(type) {
	case *sqlparse.CreateTable:
		id, table, err = planner.CreateTable(context.Background(), stmt, env)
	case *sqlparse.CreateView:
		id, table, err = planner.CreateView(context.Background(), stmt, env)
	}
	require.NoError(t, err)
	back, err := catalog.FromProperties(table.Properties())
	require.NoError(t, err)
	require.Equal(t, definition(id, table), definition(id, back), "the definition survives its serialised form")
	if id.Temporary {
		require.NoError(t, s.manager.CreateTemporary(context.Background(), id, table))
		return definition(id, table)
	}
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

// alter applies an ALTER.
func (s *session) alter(t testing.TB, sql string, env *planner.Env) string {
	stmt, err := sqlparse.Parse(sql)
	require.NoError(t, err)
	ctx := context.Background()
	var b strings.Builder
	var id connector.ObjectIdentifier
	var table *catalog.CatalogTable
	switch stmt := stmt.(type) {
	case *sqlparse.AlterView:
		id, _, table, err = planner.AlterView(ctx, stmt, env)
		require.NoError(t, err)
	case *sqlparse.AlterTable:
		a, err := planner.AlterTable(ctx, stmt, env)
		require.NoError(t, err)
		if a == nil {
			return "nothing\n"
		}
		id, table = a.ID, a.New
		require.Equal(t, len(a.Changes), len(a.At))
		for i, c := range a.Changes {
			fmt.Fprintf(&b, "%s", c)
			switch c.Kind {
			case catalog.AddColumn, catalog.ModifyColumnType, catalog.ModifyColumnExpr:
				fmt.Fprintf(&b, " %s", c.Type)
			}
			switch c.Kind {
			case catalog.AddColumn, catalog.ModifyColumnPosition:
				fmt.Fprintf(&b, " at %d", c.Position)
			}
			fmt.Fprintf(&b, " <%s>\n", sql[a.At[i].Start:a.At[i].End])
		}
		if a.RenameTo != "" {
			fmt.Fprintf(&b, "to %s\n", a.RenameTo)
			return b.String()
		}
	}
	c, _ := s.manager.Live(id.Catalog)
	require.NoError(t, c.AlterTable(ctx, catalog.PathOf(id), nil, table, nil))
	return b.String() + definition(id, table)
}

func (s *session) drop(t testing.TB, sql string) string {
	stmt, err := sqlparse.Parse(sql)
	require.NoError(t, err)
	var name sqlparse.ObjectName
	switch stmt := stmt.(type) {
	case *sqlparse.DropTable:
		name = stmt.Name
	case *sqlparse.DropView:
		name = stmt.Name
	}
	parts := make([]string, len(name.Parts))
	for i, p := range name.Parts {
		parts[i] = p.Name
	}
	id := s.manager.Identify(parts)
	if id.Temporary {
		require.NoError(t, s.manager.DropTemporary(id))
		return id.String() + "\n"
	}
	c, _ := s.manager.Live(id.Catalog)
	require.NoError(t, c.DropTable(context.Background(), catalog.PathOf(id), ""))
	return id.String() + "\n"
}

// texts prints the texts of a plan but the first, and the parts of them that its expressions come from.
func texts(p *planner.Plan) string {
	g, err := p.Graph()
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for i, text := range g.Texts[1:] {
		fmt.Fprintf(&b, "%d: %s: %s\n", i+1, text.Name, text.SQL)
	}
	for _, v := range g.Vertices {
		var exprs []job.Expr
		switch s := v.Spec.(type) {
		case *job.Project:
			exprs = s.Exprs
		case *job.Filter:
			exprs = append(exprs, s.Predicate)
		}
		for _, e := range exprs {
			if at := e.Span(); at.Source > 0 {
				fmt.Fprintf(&b, "%s <%s> in %d\n", expr.String(e.Expr), g.Texts[at.Source].SQL[at.Start:at.End], at.Source)
			}
		}
	}
	return b.String()
}

func definition(id connector.ObjectIdentifier, table *catalog.CatalogTable) string {
	var b strings.Builder
	if id.Temporary {
		b.WriteString("TEMPORARY ")
	}
	fmt.Fprintf(&b, "%s\n", id)
	for _, c := range table.Columns() {
		fmt.Fprintf(&b, "  %s %s", c.Name, c.Type)
		if v := c.Virtual; v != nil && v.Key != "" {
			fmt.Fprintf(&b, " METADATA FROM '%s'", v.Key)
			if !v.Stored {
				b.WriteString(" VIRTUAL")
			}
		} else if v != nil {
			fmt.Fprintf(&b, " AS %s", v.Expr)
		}
		if c.Comment != "" {
			fmt.Fprintf(&b, " -- %s", c.Comment)
		}
		b.WriteByte('\n')
	}
	if w := table.Watermark; w != nil {
		fmt.Fprintf(&b, "  WATERMARK FOR %s AS %s -- %s\n", w.Column, w.Expr, w.Type)
	}
	if table.Schema.PrimaryKey != nil {
		fmt.Fprintf(&b, "  PRIMARY KEY %s %v\n", table.Schema.PrimaryKeyName, table.Schema.PrimaryKey)
	}
	if d := table.Distribution; d != nil {
		fmt.Fprintf(&b, "  DISTRIBUTED BY %s%v INTO %d\n", d.Kind, d.Columns, d.Buckets)
	}
	if table.PartitionKeys != nil {
		fmt.Fprintf(&b, "  PARTITIONED BY %v\n", table.PartitionKeys)
	}
	if table.Comment != "" {
		fmt.Fprintf(&b, "  COMMENT %s\n", table.Comment)
	}
	if len(table.Options) > 0 {
		fmt.Fprintf(&b, "  WITH %v\n", table.Options)
	}
	if table.View != nil {
		fmt.Fprintf(&b, "  AS %s\n", table.View.Expanded)
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
	fmt.Fprintf(&b, "hook %s %s columns=%v readsSame=%v", hook.Kind, hook.Purpose, hook.Columns, hook.ReadsSame)
	if hook.Overwrite {
		b.WriteString(" overwrite")
	}
	if hook.ReadsTarget {
		b.WriteString(" readsTarget")
	}
	if hook.Set != nil {
		fmt.Fprintf(&b, " set=%v", hook.Set)
	}
	b.WriteString("\n")
	sink := g.Vertices[len(g.Vertices)-1].Spec.(*job.Sink)
	fmt.Fprintf(&b, "writes %s not null %v\n", strings.Join(sink.Names, ", "), sink.NotNull)
	for _, n := range p.Check.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	return b.String()
}
