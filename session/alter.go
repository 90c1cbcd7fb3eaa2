package session

import (
	"context"
	"errors"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/planner"
	"github.com/sluice-sql/sluice/sqlparse"
)

// alterTable changes a table's definition. The planner makes the new one of the old; the catalog says which
// of the changes it cannot do, and that one is at fault.
func (s *Session) alterTable(ctx context.Context, x *execution, st *sqlparse.AlterTable) (*Result, error) {
	a, err := planner.AlterTable(ctx, st, s.plannerEnv(x))
	if err != nil {
		return nil, err
	}
	if a == nil { // IF EXISTS
		return &Result{Kind: OK}, nil
	}
	c, err := s.catalogs.Catalog(ctx, a.ID.Catalog)
	if err != nil {
		return nil, err
	}
	if a.RenameTo != "" {
		for _, action := range st.Actions {
			if r, ok := action.(*sqlparse.RenameTable); ok {
				return s.rename(ctx, c, a.ID, r.To.Last())
			}
		}
	}
	if len(a.Changes) == 0 {
		return &Result{Kind: OK}, nil
	}
	err = c.AlterTable(ctx, catalog.ObjectPath{Database: a.ID.Database, Object: a.ID.Object}, a.Old, a.New, a.Changes)
	var change *catalog.ChangeError
	if errors.As(err, &change) {
		return nil, refuse(a.At[change.Index], "%s", change.Msg)
	}
	if err != nil {
		return nil, err
	}
	return &Result{Kind: OK}, nil
}
