package session

import (
	"context"

	"github.com/sluice-sql/sluice/sqlparse"
)

// run is the table from statement to method. A statement that sqlparse knows and that is missing here is
// refused by name at its position.
func (s *Session) run(ctx context.Context, x *execution) (*Result, error) {
	switch st := x.stmt.(type) {
	case *sqlparse.CreateCatalog:
		return s.createCatalog(ctx, st)
	case *sqlparse.DropCatalog:
		return s.dropCatalog(st)
	case *sqlparse.UseCatalog:
		return s.useCatalog(st)
	case *sqlparse.ShowCatalogs:
		return s.showCatalogs(st)
	case *sqlparse.ShowCurrentCatalog:
		return one("current catalog name", s.CurrentCatalog()), nil
	case *sqlparse.ShowCreateCatalog:
		return s.showCreateCatalog(st)

	case *sqlparse.CreateDatabase:
		return s.createDatabase(ctx, st)
	case *sqlparse.DropDatabase:
		return s.dropDatabase(ctx, st)
	case *sqlparse.UseDatabase:
		return s.useDatabase(ctx, st)
	case *sqlparse.ShowDatabases:
		return s.showDatabases(ctx, st)
	case *sqlparse.ShowCurrentDatabase:
		return one("current database name", s.CurrentDatabase()), nil

	case *sqlparse.CreateTable:
		return s.createTable(ctx, x, st)
	case *sqlparse.DropTable:
		return s.dropTable(ctx, st)
	case *sqlparse.ShowTables:
		return s.showTables(ctx, st)
	case *sqlparse.ShowCreateTable:
		return s.showCreateTable(ctx, st)
	case *sqlparse.Describe:
		return s.describe(ctx, st)

	case *sqlparse.Insert:
		return s.insert(ctx, x, st)
	case *sqlparse.QueryStatement:
		return s.query(ctx, x, st)
	case *sqlparse.Explain:
		return s.explain(ctx, x, st)

	case *sqlparse.Set:
		return s.set(st)
	case *sqlparse.Reset:
		return s.reset(st)
	case *sqlparse.ShowJobs:
		return s.showJobs()
	case *sqlparse.Help:
		return s.help(), nil
	case *sqlparse.Quit:
		return &Result{Kind: Quit}, nil
	case *sqlparse.Clear:
		return &Result{Kind: Clear}, nil
	}
	return nil, refuse(x.stmt.Span(), "%s is not supported yet", x.stmt.Form())
}
