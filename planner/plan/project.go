package plan

import (
	"strings"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/types"
)

// Project computes each output column from the input's.
type Project struct {
	Input  Node
	Exprs  []expr.Expr
	schema types.Schema
}

// NewProject returns a projection of in; names are those of the columns it gives.
func NewProject(in Node, exprs []expr.Expr, names []string) *Project {
	p := &Project{Input: in, Exprs: exprs}
	p.schema.Columns = make([]types.Column, len(exprs))
	for i, e := range exprs {
		p.schema.Columns[i] = types.Column{Name: names[i], Type: e.Type()}
	}
	return p
}

// Columns returns references to the first n columns of a node, and their names.
func Columns(n Node, count int) ([]expr.Expr, []string) {
	exprs, names := make([]expr.Expr, count), make([]string, count)
	for i := range exprs {
		exprs[i] = ColumnOf(n, i)
		names[i] = n.Schema().Columns[i].Name
	}
	return exprs, names
}

// ColumnOf returns a reference to a column of a node.
func ColumnOf(n Node, i int) *expr.Column {
	c := n.Schema().Columns[i]
	return &expr.Column{Index: i, Name: c.Name, T: c.Type}
}

// Schema returns the columns computed.
func (p *Project) Schema() types.Schema { return p.schema }

// Children returns the input.
func (p *Project) Children() []Node { return []Node{p.Input} }

// WithChildren returns the projection of another input.
func (p *Project) WithChildren(c []Node) Node { return &Project{c[0], p.Exprs, p.schema} }

// Describe returns the expressions with their names.
func (p *Project) Describe() string {
	parts := make([]string, len(p.Exprs))
	for i, e := range p.Exprs {
		parts[i] = named(expr.String(e), p.schema.Columns[i].Name)
	}
	return "Project(select=[" + strings.Join(parts, ", ") + "])"
}

// named returns text AS name, or text alone when that is the name.
func named(text, name string) string {
	if text == name || text == connector.QuoteName(name) {
		return text
	}
	return text + " AS " + name
}
