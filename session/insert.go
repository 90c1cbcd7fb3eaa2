package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/job"
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

// write runs the job of a statement that writes: to its end, or in the background.
func (s *Session) write(ctx context.Context, x *execution, plan *planner.Plan) (*Result, error) {
	background := s.background(plan.Mode())
	j, err := s.submit(ctx, x, plan, background)
	if err != nil {
		return nil, err
	}
	note := ""
	if plan.Mode() == job.Streaming && s.runtimeMode() == "" {
		note = fmt.Sprintf("A table that is read has no end, so the job runs in streaming mode: the write is not atomic, its rows are visible from checkpoint to checkpoint, every %s.", s.Option(keyCheckpoints))
	}
	if background {
		return &Result{Kind: Submitted, Job: j.ID(), Message: note}, nil
	}
	defer s.setCurrent(nil)
	if note != "" && s.env.Err != nil { // before the wait, which may have no end
		fmt.Fprintf(s.env.Err, "[INFO] %s\n", note)
		note = ""
	}
	stopped, err := s.await(ctx, j)
	if err != nil {
		return nil, err
	}
	if stopped {
		return nil, &Error{Canceled: true, Msg: "stopped, with " + rowsText(j.Rows()) + " written", Err: ctx.Err()}
	}
	return &Result{Kind: Written, Job: j.ID(), Affected: j.Rows(), Did: "written", Message: note}, nil
}
