package exec

import (
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
)

// filter keeps the rows for which the predicate is TRUE. It copies nothing: it narrows the selection.
type filter struct {
	stateless
	f   *expr.Filter
	buf []uint16
	out column.Batch
}

var _ operator = (*filter)(nil)

func newFilter(spec *job.Filter, env *expr.Env) (operator, error) {
	f, err := expr.CompileFilter(spec.Predicate.Expr, env)
	if err != nil {
		return nil, err
	}
	return &filter{f: f}, nil
}

func (f *filter) process(b *column.Batch, out emit) error {
	if cap(f.buf) < b.Rows() {
		f.buf = make([]uint16, 0, max(b.Rows(), column.DefaultRows))
	}
	sel, err := f.f.Select(b, f.buf[:0])
	if err != nil || len(sel) == 0 {
		return err
	}
	if len(sel) == b.Rows() {
		return out(b)
	}
	f.out = *b
	f.out.Sel = sel
	return out(&f.out)
}
