package job

import (
	"fmt"

	"github.com/sluice-sql/sluice/expr"
)

// JoinKind is the kind of a join.
type JoinKind string

// The kinds of join.
const (
	Inner JoinKind = "inner"
	Left  JoinKind = "left"
	Right JoinKind = "right"
	Full  JoinKind = "full"
)

// Join joins input 0 (left, the probe side) with input 1 (right, the build side, read first and
// broadcast). Output columns are the left's, then the right's. Rows match when all keys are equal and
// not NULL and Residual, over the output columns, is TRUE. Without keys it is a nested loop.
type Join struct {
	Kind      JoinKind `json:"kind"`
	LeftKeys  []Expr   `json:"leftKeys,omitempty"`
	RightKeys []Expr   `json:"rightKeys,omitempty"` // over the right input's columns
	Residual  Expr     `json:"residual"`
}

// Op returns "join".
func (*Join) Op() string { return "join" }

// Describe returns kind and condition.
func (j *Join) Describe() string {
	name := "HashJoin"
	if len(j.LeftKeys) == 0 {
		name = "NestedLoopJoin"
	}
	d := fmt.Sprintf("%s %s", name, j.Kind)
	if len(j.LeftKeys) > 0 {
		d += fmt.Sprintf(" left=[%s] right=[%s]", describe(j.LeftKeys), describe(j.RightKeys))
	}
	if j.Residual.Expr != nil {
		d += " on " + expr.String(j.Residual.Expr)
	}
	return d
}
