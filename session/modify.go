package session

import (
	"context"
	"errors"

	"github.com/sluice-sql/sluice/planner"
	"github.com/sluice-sql/sluice/sqlparse"
)

func (s *Session) update(ctx context.Context, x *execution, st *sqlparse.Update) (*Result, error) {
	plan, err := planner.Update(ctx, st, s.plannerEnv(x))
	if err != nil {
		return nil, err
	}
	return s.modify(ctx, x, plan, "updated")
}

func (s *Session) deleteRows(ctx context.Context, x *execution, st *sqlparse.Delete) (*Result, error) {
	plan, err := planner.Delete(ctx, st, s.plannerEnv(x))
	if err != nil {
		return nil, err
	}
	return s.modify(ctx, x, plan, "deleted")
}

// modify runs the job of an UPDATE or DELETE.
func (s *Session) modify(ctx context.Context, x *execution, plan *planner.Plan, did string) (*Result, error) {
	res, err := s.write(ctx, x, plan)
	if err == nil {
		res.Did = did
	}
	return res, err
}

// truncateTable empties a table. There is no job.
func (s *Session) truncateTable(ctx context.Context, x *execution, st *sqlparse.TruncateTable) (*Result, error) {
	t, err := planner.Truncate(ctx, st, s.plannerEnv(x))
	if err != nil {
		return nil, err
	}
	if err := errors.Join(t.Truncate(ctx), t.Close()); err != nil {
		return nil, &sqlparse.Error{Span: st.Name.Span(), Msg: err.Error()}
	}
	return &Result{Kind: OK}, nil
}
