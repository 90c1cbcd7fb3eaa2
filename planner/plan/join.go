package plan

import (
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/types"
)

// Join joins two inputs; the columns are the left's, then the right's. Rows match when each pair of keys
// is equal and not NULL and Residual is TRUE. Without keys and residual it is a cross join.
type Join struct {
	Kind        job.JoinKind
	Left, Right Node
	LeftKeys    []expr.Expr // over the left's columns
	RightKeys   []expr.Expr // over the right's columns
	Residual    expr.Expr   // over both; nil: none
	schema      types.Schema
}

// NewJoin returns a join of two nodes.
func NewJoin(kind job.JoinKind, left, right Node, leftKeys, rightKeys []expr.Expr, residual expr.Expr) *Join {
	j := &Join{Kind: kind, Left: left, Right: right, LeftKeys: leftKeys, RightKeys: rightKeys, Residual: residual}
	l, r := left.Schema().Columns, right.Schema().Columns
	j.schema.Columns = make([]types.Column, 0, len(l)+len(r))
	add := func(cols []types.Column, nullable bool) {
		for _, c := range cols {
			if nullable {
				c.Type = c.Type.AsNullable()
			}
			j.schema.Columns = append(j.schema.Columns, types.Column{Name: c.Name, Type: c.Type})
		}
	}
	add(l, kind == job.Right || kind == job.Full)
	add(r, kind == job.Left || kind == job.Full)
	return j
}

// Schema returns the columns of both sides; those of a side that may be missing are nullable.
func (j *Join) Schema() types.Schema { return j.schema }

// Children returns left and right.
func (j *Join) Children() []Node { return []Node{j.Left, j.Right} }

// WithChildren returns the join of other inputs.
func (j *Join) WithChildren(c []Node) Node {
	return NewJoin(j.Kind, c[0], c[1], j.LeftKeys, j.RightKeys, j.Residual)
}

// Describe returns kind and condition.
func (j *Join) Describe() string {
	name := "NestedLoopJoin"
	var where []string
	if len(j.LeftKeys) > 0 {
		name = "HashJoin"
		for i, l := range j.LeftKeys {
			where = append(where, expr.String(l)+" = "+expr.String(j.RightKeys[i]))
		}
	}
	if j.Residual != nil {
		where = append(where, texts(Conjuncts(j.Residual))...)
	}
	kind := map[job.JoinKind]string{job.Inner: "InnerJoin", job.Left: "LeftOuterJoin", job.Right: "RightOuterJoin", job.Full: "FullOuterJoin"}[j.Kind]
	if len(where) == 0 {
		return fmt.Sprintf("%s(joinType=[%s], where=[true])", name, kind)
	}
	return fmt.Sprintf("%s(joinType=[%s], where=[%s])", name, kind, strings.Join(where, " AND "))
}
