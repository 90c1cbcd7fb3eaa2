package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/planner"
	"github.com/sluice-sql/sluice/sqlparse"
)

// createView makes a view, or a temporary one. The planner binds its query once and refuses what the
// catalog cannot store.
func (s *Session) createView(ctx context.Context, x *execution, st *sqlparse.CreateView) (*Result, error) {
	id, view, err := planner.CreateView(ctx, st, s.plannerEnv(x))
	if err != nil {
		return nil, err
	}
	return s.create(ctx, id, view, st.Temporary, st.IfNotExists)
}

// alterView renames a view or gives it another query.
func (s *Session) alterView(ctx context.Context, x *execution, st *sqlparse.AlterView) (*Result, error) {
	id, old, view, err := planner.AlterView(ctx, st, s.plannerEnv(x))
	if err != nil {
		return nil, err
	}
	c, err := s.catalogs.Catalog(ctx, id.Catalog)
	if err != nil {
		return nil, err
	}
	if st.RenameTo != nil {
		return s.rename(ctx, c, id, st.RenameTo.Last())
	}
	changes := []catalog.TableChange{{Kind: catalog.ModifyQuery}}
	if err := c.AlterTable(ctx, catalog.ObjectPath{Database: id.Database, Object: id.Object}, old, view, changes); err != nil {
		return nil, err
	}
	return &Result{Kind: OK}, nil
}

// rename gives a table or view another name in its database; the planner has checked it.
func (s *Session) rename(ctx context.Context, c catalog.Catalog, id connector.ObjectIdentifier, to sqlparse.Ident) (*Result, error) {
	err := c.RenameTable(ctx, catalog.ObjectPath{Database: id.Database, Object: id.Object}, to.Name)
	if errors.Is(err, catalog.ErrTableAlreadyExist) {
		id.Object = to.Name
		return nil, refuse(to.Span(), "%s", alreadyExists(id))
	}
	if err != nil {
		return nil, err
	}
	return &Result{Kind: OK}, nil
}

// dropView drops a view.
func (s *Session) dropView(ctx context.Context, st *sqlparse.DropView) (*Result, error) {
	return s.drop(ctx, st.Name, catalog.KindView, st.Temporary, st.IfExists)
}

// showViews lists views and temporary views.
func (s *Session) showViews(ctx context.Context, st *sqlparse.ShowViews) (*Result, error) {
	names, err := s.tablesIn(ctx, st.From, true)
	if err != nil {
		return nil, err
	}
	return list("view name", filterLike(names, st.Like)), nil
}

// showCreateView prints the CREATE VIEW that makes the view again, in Flink's form. A view of the store's
// own is shown in the store's own SQL.
func (s *Session) showCreateView(ctx context.Context, st *sqlparse.ShowCreateView) (*Result, error) {
	id := s.identify(st.Name)
	_, view, err := s.catalogs.Table(ctx, id)
	if err != nil {
		return nil, missing(err, id, "View")
	}
	if view.Kind != catalog.KindView {
		return nil, refuse(st.Name.Span(), "SHOW CREATE VIEW is only supported for views, but %s is a table. Please use SHOW CREATE TABLE instead.", id.SQL())
	}
	if view.View != nil {
		return one("result", createViewText(id, view)), nil
	}
	return one("result", "-- a view of the store's own, in the store's own SQL\n"+strings.TrimRight(view.NativeText, "\n")+"\n"), nil
}

// createViewText is the statement for a view.
func createViewText(id connector.ObjectIdentifier, v *catalog.CatalogTable) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE %sVIEW %s (\n", temporary(id), id.SQL())
	for i, c := range v.Schema.Columns {
		if i > 0 {
			b.WriteString(",\n")
		}
		b.WriteString("  " + sqlparse.QuoteIdent(c.Name))
	}
	b.WriteString("\n)\n")
	if v.Comment != "" {
		fmt.Fprintf(&b, "COMMENT %s\n", sqlparse.QuoteString(v.Comment))
	}
	fmt.Fprintf(&b, "AS %s\n", strings.TrimRight(v.View.Expanded, "\n"))
	return b.String()
}

// temporary is the word for a temporary object in its CREATE statement.
func temporary(id connector.ObjectIdentifier) string {
	if id.Temporary {
		return "TEMPORARY "
	}
	return ""
}

// missing puts the kind of object that was looked for into the error for one that is not there.
func missing(err error, id connector.ObjectIdentifier, kind string) error {
	var named *catalog.Error
	if errors.As(err, &named) && errors.Is(err, catalog.ErrTableNotExist) {
		e := *named
		e.Msg = fmt.Sprintf("%s with identifier '%s' does not exist.", kind, id)
		return &e
	}
	return err
}
