package bind

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/planner/plan"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// Binder binds one statement. Close it when planning has ended: tables are held open until then, so that
// the optimiser can ask them what they take.
type Binder struct {
	ctx      context.Context
	catalogs *catalog.CatalogManager
	env      *expr.Env
	with     *commonTable // the innermost visible WITH query
	uses     int          // how many times WITH queries were planned
	// again is above 0 inside the second planning of an IN's query; repeats counts those begun there.
	again, repeats int
	tables         map[connector.ObjectIdentifier]openTable
	definitions    map[connector.ObjectIdentifier]definition

	texts    texts      // of the views and computed columns read
	view     *viewScope // the view whose text is bound; nil in the statement's own
	rewrites *rewrites  // of the query of a CREATE VIEW; nil in any other statement
	// permanent is the kind of object that is stored and must not read temporary ones; empty elsewhere.
	permanent string
	// altered is what a query must not read that is to be a view's: the view itself, of ALTER VIEW, and what a
	// temporary view of the same name is to hide.
	altered  *connector.ObjectIdentifier
	computes bool     // a computed column is read
	asked    job.Mode // the mode to run in, or empty
	limits   limits   // what the modes refuse
}

// openTable is a table that the statement names, however often.
type openTable struct {
	table  *plan.Table
	opened connector.Table
}

// New returns a binder over a session's catalogs. env is what constant expressions are evaluated with; given
// is how many texts the job has already, the statement's among them; mode is the one to run in, or empty where
// the tables that are read decide.
func New(ctx context.Context, catalogs *catalog.CatalogManager, env *expr.Env, given int, mode job.Mode) *Binder {
	return &Binder{ctx: ctx, catalogs: catalogs, env: env, texts: texts{given: given}, asked: mode,
		tables: map[connector.ObjectIdentifier]openTable{}, definitions: map[connector.ObjectIdentifier]definition{}}
}

// Texts returns the texts that expressions come from besides those given to New, in order.
func (b *Binder) Texts() []job.Text { return b.texts.list }

// Computes reports whether what was bound reads a computed column, or has one at hand to read.
func (b *Binder) Computes() bool { return b.computes }

// Close closes the tables that binding has opened.
func (b *Binder) Close() error {
	var errs []error
	for _, t := range b.tables {
		errs = append(errs, t.opened.Close())
	}
	clear(b.tables)
	return errors.Join(errs...)
}

// Relation is a bound query: its plan and what is known of its columns.
type Relation struct {
	Node    plan.Node
	Columns []Column
}

// Column is an output column of a query.
type Column struct {
	Name string
	At   sqlparse.Span // the expression in the select list
	Null bool          // a bare NULL, whose type is still open (the plan says STRING)
	// cells are what the column's type was made of, where it was several values or queries.
	cells []cell
	// star says that * stands for the column; table is the table it is of, if that has a name.
	star  bool
	table string
}

// cell is one source of a column of VALUES or UNION.
type cell struct {
	at  sqlparse.Span
	typ types.Type
}

// culprit returns where the value stands that keeps a column from being of a type, and that value's type.
func (c Column) culprit(source, target types.Type) (sqlparse.Span, types.Type) {
	for _, x := range c.cells {
		if x.typ.Kind == types.Null {
			continue
		}
		if _, err := expr.Coerce(&expr.Column{T: x.typ}, target); err != nil {
			return x.at, x.typ
		}
	}
	return c.At, source
}

// Query binds a query to be run.
func (b *Binder) Query(q sqlparse.Query) (*Relation, error) {
	r, err := b.query(q, nil)
	if err == nil {
		err = b.checkMode()
	}
	return r, err
}

// relation makes a Relation of columns that are all of known type.
func relation(n plan.Node, at sqlparse.Span) *Relation {
	r := &Relation{Node: n}
	for _, c := range n.Schema().Columns {
		r.Columns = append(r.Columns, Column{Name: c.Name, At: at})
	}
	return r
}

// column returns the reference to an output column; a bare NULL is a literal again.
func (r *Relation) column(i int) expr.Expr {
	if r.Columns[i].Null {
		return expr.NewLiteral(types.Of(types.Null), nil, span(r.Columns[i].At))
	}
	c := plan.ColumnOf(r.Node, i)
	c.At = span(r.Columns[i].At)
	return c
}

// project returns the projection of in by typed expressions, where a bare NULL becomes a NULL of STRING.
func project(in plan.Node, exprs []expr.Expr, names []string) *plan.Project {
	out := make([]expr.Expr, len(exprs))
	for i, e := range exprs {
		out[i] = typed(e)
	}
	return plan.NewProject(in, out, names)
}

func typed(e expr.Expr) expr.Expr {
	if isBareNull(e) {
		return expr.NewLiteral(types.String(), nil, e.Span())
	}
	return e
}

func isBareNull(e expr.Expr) bool { return e.Type().Kind == types.Null }

// coerce casts e implicitly; a bare NULL takes the type.
func coerce(e expr.Expr, t types.Type) (expr.Expr, error) {
	if isBareNull(e) {
		return expr.NewLiteral(t.AsNullable(), nil, e.Span()), nil
	}
	return expr.Coerce(e, t)
}

// exprName is the name of the i-th output column when its expression has none.
func exprName(i int) string { return fmt.Sprintf("EXPR$%d", i) }
