package planner

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/hooks"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/planner/bind"
	"github.com/sluice-sql/sluice/planner/lower"
	"github.com/sluice-sql/sluice/planner/optimize"
	"github.com/sluice-sql/sluice/planner/plan"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// Env is what planning may know.
type Env struct {
	Catalogs *catalog.CatalogManager
	Expr     *expr.Env  // the job's start instant, zone and seed
	Texts    []job.Text // [0] is the statement, secrets masked
	Options  Options
}

// Options are the settings that shape a plan.
type Options struct {
	Parallelism int // subtasks a vertex may run as
	BatchRows   int
	Optimize    bool
	JobName     string // empty: insert-into_<table>, or collect
	Zone        string // IANA name or offset
	// AtomicRequired refuses a CREATE TABLE AS in batch mode whose target cannot be written all or nothing. In
	// streaming mode none is.
	AtomicRequired bool
	// Mode is the mode to run in. Empty, a query runs in streaming mode when a table that it reads has no end,
	// and otherwise in batch mode.
	Mode job.Mode
	// CheckpointInterval is for streaming jobs; 0 is the default.
	CheckpointInterval time.Duration
}

// Plan is a planned statement.
type Plan struct {
	Schema types.Schema               // columns of the result (SELECT) or of the rows written
	Target connector.ObjectIdentifier // of a statement that writes
	Table  *catalog.CatalogTable      // the target's definition
	Check  *catalog.Check             // what the catalog says of the target; but of CREATE TABLE AS only Notes are set
	// Exists says that the target of CREATE TABLE IF NOT EXISTS … AS is there: there is nothing to run.
	Exists bool
	// Changelog has Explain say of each node of the optimised plan which changes it makes, as EXPLAIN
	// CHANGELOG_MODE asks: rows are only ever inserted in batch mode, and a sink makes none. Of a streaming
	// job Explain says so in any case.
	Changelog bool

	bounded bool
	bound   plan.Node // as the statement says it
	root    plan.Node // as it will run
	does    string    // what an UPDATE or DELETE does; empty of other statements
	pruned  plan.Node // of a streaming job: as the statement says it, less what nobody needs
	target  *lower.Target
	header  lower.Header
	// catalogs gives Graph the properties of the catalogs named.
	catalogs *catalog.CatalogManager
}

// Query plans a SELECT.
func Query(ctx context.Context, q sqlparse.Query, env *Env) (*Plan, error) {
	b := newBinder(ctx, env)
	defer closeTables(b)
	r, err := b.Query(q)
	if err != nil {
		return nil, err
	}
	return queryPlan(ctx, env, b, r)
}

func queryPlan(ctx context.Context, env *Env, b *bind.Binder, r *bind.Relation) (*Plan, error) {
	p, err := newPlan(ctx, env, b, r.Node, "collect")
	if err != nil {
		return nil, err
	}
	for i, c := range r.Node.Schema().Columns {
		p.Schema.Columns = append(p.Schema.Columns, types.Column{Name: r.Columns[i].Name, Type: c.Type})
	}
	return p, nil
}

// Insert plans an INSERT INTO or INSERT OVERWRITE.
func Insert(ctx context.Context, s *sqlparse.Insert, env *Env) (*Plan, error) {
	b := newBinder(ctx, env)
	defer closeTables(b)
	w, err := b.Insert(s)
	if err != nil {
		return nil, err
	}
	return writePlan(ctx, env, b, w, hooks.Insert, "", s.Table.Span())
}

// Update plans an UPDATE.
func Update(ctx context.Context, s *sqlparse.Update, env *Env) (*Plan, error) {
	b := newBinder(ctx, env)
	defer closeTables(b)
	w, err := b.Update(s)
	if err != nil {
		return nil, err
	}
	return modifyPlan(ctx, env, b, w, "update", s.Table.Span())
}

// Delete plans a DELETE.
func Delete(ctx context.Context, s *sqlparse.Delete, env *Env) (*Plan, error) {
	b := newBinder(ctx, env)
	defer closeTables(b)
	w, err := b.Delete(s)
	if err != nil {
		return nil, err
	}
	return modifyPlan(ctx, env, b, w, "delete-from", s.Table.Span())
}

// modifyPlan is the plan of a job that changes rows where they are.
func modifyPlan(ctx context.Context, env *Env, b *bind.Binder, w *bind.Write, name string, at sqlparse.Span) (*Plan, error) {
	p, err := writePlan(ctx, env, b, w, hooks.Modify, "", at)
	if err != nil {
		return nil, err
	}
	if env.Options.JobName == "" {
		p.header.Name = name + "_" + w.Target.String()
	}
	p.target.Key, p.target.Set = w.Key, w.Columns[len(w.Key):]
	if p.does = "DELETE"; len(p.target.Set) > 0 {
		p.does = "UPDATE"
	}
	return p, nil
}

// Emptiable is an opened table that TRUNCATE TABLE can empty.
type Emptiable = bind.Emptiable

// Truncate checks a TRUNCATE TABLE and returns the table, opened, which the caller closes; it removes nothing.
func Truncate(ctx context.Context, s *sqlparse.TruncateTable, env *Env) (Emptiable, error) {
	b := newBinder(ctx, env)
	defer closeTables(b)
	return b.Truncate(s)
}

// CreateTableAs plans a CREATE TABLE … AS. In streaming mode the job makes the table empty and writes into it.
func CreateTableAs(ctx context.Context, s *sqlparse.CreateTable, env *Env) (*Plan, error) {
	b := newBinder(ctx, env)
	defer closeTables(b)
	w, err := b.CreateTableAs(s)
	if err != nil {
		return nil, err
	}
	if env.Options.AtomicRequired && b.Mode() == job.Batch && !w.Exists && w.Check.Guarantee != catalog.Atomic {
		return nil, &sqlparse.Error{Span: s.Name.Span(),
			Msg:  fmt.Sprintf("Table %s cannot be written all or nothing: %s", w.Target, w.Check.Reason),
			Hint: "SET 'table.rtas-ctas.atomicity-enabled' = 'false' accepts less"}
	}
	return writePlan(ctx, env, b, w, hooks.CreateTableAs, b.Purpose(s), s.Name.Span())
}

// CreateTable resolves a CREATE TABLE without AS and has the catalog check it; it creates nothing. Whether
// the table is there already is an error without IF NOT EXISTS only.
func CreateTable(ctx context.Context, s *sqlparse.CreateTable, env *Env) (connector.ObjectIdentifier, *catalog.CatalogTable, error) {
	b := newBinder(ctx, env)
	defer closeTables(b)
	return b.CreateTable(s)
}

// CreateView resolves a CREATE VIEW; it creates nothing. That the view is there already is an error without
// IF NOT EXISTS only.
func CreateView(ctx context.Context, s *sqlparse.CreateView, env *Env) (connector.ObjectIdentifier, *catalog.CatalogTable, error) {
	b := newBinder(ctx, env)
	defer closeTables(b)
	return b.CreateView(s)
}

// AlterView resolves an ALTER VIEW. Of RENAME TO, whose name is checked, the two definitions are one.
func AlterView(ctx context.Context, s *sqlparse.AlterView, env *Env) (id connector.ObjectIdentifier, old, new *catalog.CatalogTable, err error) {
	b := newBinder(ctx, env)
	defer closeTables(b)
	return b.AlterView(s)
}

// Alteration is what an ALTER TABLE comes to.
type Alteration = bind.Alteration

// AlterTable resolves an ALTER TABLE; it changes nothing. With IF EXISTS and no such table it returns nil.
func AlterTable(ctx context.Context, s *sqlparse.AlterTable, env *Env) (*Alteration, error) {
	b := newBinder(ctx, env)
	defer closeTables(b)
	return b.AlterTable(s)
}

// Partitions plans SHOW PARTITIONS: the partition columns of a table, a row for each partition. spec may
// name values that some of them must have.
func Partitions(ctx context.Context, table sqlparse.ObjectName, spec []sqlparse.PartitionItem, env *Env) (*Plan, error) {
	batch := *env
	batch.Options.Mode = job.Batch
	env = &batch
	b := newBinder(ctx, env)
	defer closeTables(b)
	r, err := b.Partitions(table, spec)
	if err != nil {
		return nil, err
	}
	return queryPlan(ctx, env, b, r)
}

// CheckName refuses the name of an object to create that is empty or reserved; what says what it names.
func CheckName(name sqlparse.Ident, what string) error { return bind.CheckName(name, what) }

// closeTables closes what binding has opened to look at; nothing was written through it.
func closeTables(b *bind.Binder) { _ = b.Close() }

func newBinder(ctx context.Context, env *Env) *bind.Binder {
	return bind.New(ctx, env.Catalogs, env.Expr, len(env.Texts), env.Options.Mode)
}

func newPlan(ctx context.Context, env *Env, b *bind.Binder, bound plan.Node, name string) (*Plan, error) {
	o := env.Options
	if o.JobName != "" {
		name = o.JobName
	}
	p := &Plan{bound: bound, root: bound, bounded: b.Bounded(), catalogs: env.Catalogs, header: lower.Header{
		Name: name, Mode: b.Mode(), CheckpointInterval: o.CheckpointInterval, Texts: append(env.Texts[:len(env.Texts):len(env.Texts)], b.Texts()...), Start: env.Expr.Now, Zone: o.Zone, Seed: env.Expr.Seed,
		Parallelism: max(o.Parallelism, 1), BatchRows: o.BatchRows,
	}}
	if p.Mode() == job.Streaming {
		return p, p.stream(ctx, env)
	}
	var err error
	switch {
	case o.Optimize:
		p.root, err = optimize.Optimize(ctx, bound, env.Expr)
	case b.Computes():
		p.root = optimize.Prune(bound) // a computed column that is not read must not fail
	}
	return p, err
}

func writePlan(ctx context.Context, env *Env, b *bind.Binder, w *bind.Write, kind hooks.Kind, purpose catalog.Purpose, at sqlparse.Span) (*Plan, error) {
	p, err := newPlan(ctx, env, b, w.Node, "insert-into_"+w.Target.String())
	if err != nil {
		return nil, err
	}
	p.Schema = w.Node.Schema()
	p.Target, p.Table, p.Check, p.Exists = w.Target, w.Table, w.Check, w.Exists
	p.target = &lower.Target{Kind: kind, ID: w.Target, Table: w.Table, StoreKey: w.StoreKey, Purpose: purpose, Columns: w.Columns, NotNull: w.NotNull,
		Names: w.Names(), Overwrite: w.Overwrite}
	if p.Mode() == job.Streaming && !p.Exists {
		err = writeChanges(p.pruned, w, p.target, at)
	}
	return p, err
}

// Mode is the mode that the plan runs in.
func (p *Plan) Mode() job.Mode { return p.header.Mode }

// Bounded reports whether the rows of every table that the plan reads have an end.
func (p *Plan) Bounded() bool { return p.bounded }

// Graph returns the job that the plan is, with a job id of its own.
func (p *Plan) Graph() (*job.Graph, error) {
	if p.target == nil {
		return lower.Query(p.root, p.header, p.catalogs)
	}
	return lower.Write(p.root, *p.target, p.header, p.catalogs)
}

// Texts are those that the places of expressions are in: the statement, and behind it the views and the
// computed columns that it reads. They are [job.Graph].Texts.
func (p *Plan) Texts() []job.Text { return p.header.Texts }

// Explain prints the plan as the statement says it, as it is optimised, and as the operators that run.
func (p *Plan) Explain() string {
	tree := func(root plan.Node, prefix string, more func(plan.Node) string, sink string) string {
		text := plan.Explain(root, prefix, more)
		if p.target == nil {
			return text
		}
		if p.does != "" {
			sink += ", operation=[" + p.does + "]"
		}
		return fmt.Sprintf("%sSink(table=[%s], fields=[%s]%s)\n", prefix, p.Target, strings.Join(p.Schema.Names(), ", "), sink) + indent(text)
	}
	nothing := func(plan.Node) string { return "" }
	changes, sink := nothing, ""
	switch {
	case p.Mode() == job.Streaming:
		before := p.target == nil || len(p.target.Upsert) == 0
		log := plan.Changelog(p.root, before)
		changes, sink = func(n plan.Node) string { return ", " + log[n].Describe(n) }, ", changelogMode=[NONE]"
	case p.Changelog:
		changes, sink = func(plan.Node) string { return ", changelogMode=[" + plan.Insert.String() + "]" }, ", changelogMode=[NONE]"
	}
	s := "== Abstract Syntax Tree ==\n" + tree(p.bound, "Logical", nothing, "") +
		"\n== Optimized Physical Plan ==\n" + tree(p.root, "", changes, sink)
	g, err := p.Graph()
	if err != nil {
		return s
	}
	return s + "\n== Optimized Execution Plan ==\n" + lower.Explain(g)
}

// indent puts a tree below a line.
func indent(tree string) string {
	return "+- " + strings.TrimSuffix(strings.ReplaceAll(tree, "\n", "\n   "), "   ")
}
