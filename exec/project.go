package exec

import (
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
)

// project computes the columns of its output. A column that is only passed on stays the same vector, so
// that it can leave the task without a copy.
type project struct {
	stateless
	evals []*expr.Evaluator
	out   column.Batch
}

var _ operator = (*project)(nil)

func newProject(spec *job.Project, env *expr.Env) (operator, error) {
	p := &project{}
	var err error
	if p.evals, err = compile(spec.Exprs, env); err != nil {
		return nil, err
	}
	p.out.Cols = make([]*column.Vector, len(p.evals))
	return p, nil
}

func compile(es []job.Expr, env *expr.Env) ([]*expr.Evaluator, error) {
	evals := make([]*expr.Evaluator, len(es))
	for i, e := range es {
		var err error
		if evals[i], err = expr.Compile(e.Expr, env); err != nil {
			return nil, err
		}
	}
	return evals, nil
}

func (p *project) process(b *column.Batch, out emit) error {
	cols := p.out.Cols
	p.out = *b
	p.out.Cols = cols
	for i, e := range p.evals {
		v, err := e.Eval(b)
		if err != nil {
			return err
		}
		cols[i] = v
	}
	return out(&p.out)
}
