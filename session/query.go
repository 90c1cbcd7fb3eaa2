package session

import (
	"context"

	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/planner"
	"github.com/sluice-sql/sluice/sqlparse"
)

// query starts the job of a SELECT; its rows stream through the result.
func (s *Session) query(ctx context.Context, x *execution, st *sqlparse.QueryStatement) (*Result, error) {
	plan, err := planner.Query(ctx, st.Query, s.plannerEnv(x))
	if err != nil {
		return nil, err
	}
	j, err := s.submit(ctx, x, plan, false)
	if err != nil {
		return nil, err
	}
	return &Result{Kind: Rows, IsQuery: true, Changelog: plan.Mode() == job.Streaming, Schema: plan.Schema, Job: j.ID(), job: j}, nil
}
