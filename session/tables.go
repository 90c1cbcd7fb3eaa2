package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/planner"
	"github.com/sluice-sql/sluice/sqlparse"
)

// createTable runs every form of CREATE TABLE. The planner refuses, each at its place, what cannot be
// created and what the target's catalog cannot store.
func (s *Session) createTable(ctx context.Context, x *execution, st *sqlparse.CreateTable) (*Result, error) {
	if st.As != nil {
		return s.createTableAs(ctx, x, st)
	}
	id, table, err := planner.CreateTable(ctx, st, s.plannerEnv(x))
	if err != nil {
		return nil, err
	}
	c, err := s.catalogs.Catalog(ctx, id.Catalog)
	if err != nil {
		return nil, err
	}
	_, _, err = c.CreateTable(ctx, catalog.ObjectPath{Database: id.Database, Object: id.Object}, table)
	if errors.Is(err, catalog.ErrTableAlreadyExist) {
		if st.IfNotExists {
			return &Result{Kind: Notice, Message: alreadyExists(id)}, nil
		}
		return nil, &catalog.Error{Name: id.Object, Part: catalog.ObjectPart, Msg: alreadyExists(id), Err: catalog.ErrTableAlreadyExist}
	}
	if err != nil {
		return nil, err
	}
	return &Result{Kind: OK}, nil
}

func alreadyExists(id connector.ObjectIdentifier) string {
	return fmt.Sprintf("Table (or view) %s.%s already exists in Catalog %s.", id.Database, id.Object, id.Catalog)
}

// tableFactory returns what opens a table with the given options, nil when nothing does, and the
// connector's name.
func (s *Session) tableFactory(c catalog.Catalog, options map[string]string) (connector.Factory, string) {
	name, ok := options["connector"]
	if !ok {
		return c.Factory(), ""
	}
	for _, f := range s.registry.Connectors {
		if f.Identifier() == name {
			return f, name
		}
	}
	return nil, name
}

// tableOptions returns the declared options of a connector, 'connector' among them.
func tableOptions(f connector.Factory) []connector.Option {
	declared := []connector.Option{{Key: "connector", Public: true}}
	if f != nil {
		declared = append(declared, f.Options()...)
	}
	return declared
}

// identify completes a written name with the current catalog and database.
func (s *Session) identify(n sqlparse.ObjectName) connector.ObjectIdentifier {
	parts := make([]string, len(n.Parts))
	for i, p := range n.Parts {
		parts[i] = p.Name
	}
	return s.catalogs.Identify(parts)
}

func (s *Session) dropTable(ctx context.Context, st *sqlparse.DropTable) (*Result, error) {
	if st.Temporary {
		return nil, refuse(st.Span(), "temporary tables are not supported yet")
	}
	id := s.identify(st.Name)
	c, table, err := s.catalogs.Table(ctx, id)
	if err != nil {
		if st.IfExists && errors.Is(err, catalog.ErrTableNotExist) {
			return &Result{Kind: OK}, nil
		}
		return nil, err
	}
	if table.Kind == catalog.KindView {
		return nil, refuse(st.Name.Last().Span(), "%s is a view; DROP TABLE drops tables only", id)
	}
	if err := c.DropTable(ctx, catalog.ObjectPath{Database: id.Database, Object: id.Object}, ""); err != nil {
		if errors.Is(err, catalog.ErrTableNotExist) && st.IfExists {
			return &Result{Kind: OK}, nil
		}
		return nil, err
	}
	return &Result{Kind: OK}, nil
}

func (s *Session) showTables(ctx context.Context, st *sqlparse.ShowTables) (*Result, error) {
	in, database := s.CurrentCatalog(), s.CurrentDatabase()
	if st.From != nil {
		in, database = s.databaseName(*st.From)
	}
	if err := s.catalogs.CheckDatabase(ctx, in, database); err != nil {
		return nil, err
	}
	c, err := s.catalogs.Catalog(ctx, in)
	if err != nil {
		return nil, err
	}
	names, err := c.ListTables(ctx, database)
	if err != nil {
		return nil, err
	}
	return list("table name", filterLike(names, st.Like)), nil
}
