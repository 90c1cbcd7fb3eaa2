package plan

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
)

// Swap is a join with its sides exchanged, its columns put back in order.
func Swap(j *Join) Node {
	kind := j.Kind
	switch kind {
	case job.Left:
		kind = job.Right
	case job.Right:
		kind = job.Left
	}
	lw, rw := Width(j.Left), Width(j.Right)
	from := func(i int) int {
		if i < lw {
			return i + rw
		}
		return i - lw
	}
	residual := j.Residual
	if residual != nil {
		residual = expr.Remap(residual, from)
	}
	s := NewJoin(kind, j.Right, j.Left, j.RightKeys, j.LeftKeys, residual)
	exprs := make([]expr.Expr, lw+rw)
	for i := range exprs {
		exprs[i] = ColumnOf(s, from(i))
	}
	return NewProject(s, exprs, j.schema.Names())
}
