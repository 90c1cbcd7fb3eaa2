package session

import (
	"context"
	"errors"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/planner"
	"github.com/sluice-sql/sluice/sqlparse"
)

func (s *Session) insert(ctx context.Context, x *execution, st *sqlparse.Insert) (*Result, error) {
	plan, err := planner.Insert(ctx, st, s.plannerEnv(x))
	if err != nil {
		return nil, err
	}
	return s.write(ctx, x, plan)
}

func (s *Session) createTableAs(ctx context.Context, x *execution, st *sqlparse.CreateTable) (*Result, error) {
	plan, err := planner.CreateTableAs(ctx, st, s.plannerEnv(x))
	if err != nil {
		return nil, err
	}
	if plan.Exists {
		return &Result{Kind: Notice, Message: alreadyExists(plan.Target)}, nil
	}
	res, err := s.write(ctx, x, plan)
	if st.IfNotExists && errors.Is(err, catalog.ErrTableAlreadyExist) {
		// Another session was faster between planning and the commit. Nothing of ours is left.
		return &Result{Kind: Notice, Message: alreadyExists(plan.Target)}, nil
	}
	return res, err
}

// write runs the job of an INSERT or CREATE TABLE AS to its end.
func (s *Session) write(ctx context.Context, x *execution, plan *planner.Plan) (*Result, error) {
	j, err := s.submit(ctx, x, plan)
	if err != nil {
		return nil, err
	}
	defer s.setCurrent(nil)
	if err := await(ctx, j); err != nil {
		return nil, err
	}
	return &Result{Kind: Written, Job: j.ID(), Affected: j.Rows()}, nil
}
