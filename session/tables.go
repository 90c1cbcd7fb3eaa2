package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	return s.create(ctx, id, table, st.Temporary, st.IfNotExists)
}

// create registers a table or view that the planner has resolved.
func (s *Session) create(ctx context.Context, id connector.ObjectIdentifier, table *catalog.CatalogTable, temporary, ifNotExists bool) (*Result, error) {
	var err error
	exists := alreadyExists(id)
	if temporary {
		exists = fmt.Sprintf("Temporary table '%s' already exists", id.SQL())
		err = s.catalogs.CreateTemporary(ctx, id, table)
	} else {
		var c catalog.Catalog
		if c, err = s.catalogs.Catalog(ctx, id.Catalog); err != nil {
			return nil, err
		}
		_, _, err = c.CreateTable(ctx, catalog.ObjectPath{Database: id.Database, Object: id.Object}, table)
	}
	if errors.Is(err, catalog.ErrTableAlreadyExist) {
		if ifNotExists {
			return &Result{Kind: Notice, Message: exists}, nil
		}
		return nil, &catalog.Error{Name: id.Object, Part: catalog.ObjectPart, Msg: exists, Err: catalog.ErrTableAlreadyExist}
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

// identify completes a written name with the current catalog and database; a temporary object hides the
// one in the catalog.
func (s *Session) identify(n sqlparse.ObjectName) connector.ObjectIdentifier {
	return s.catalogs.Identify(nameParts(n))
}

// identifyPermanent is identify for what is in the catalog, whatever hides it.
func (s *Session) identifyPermanent(n sqlparse.ObjectName) connector.ObjectIdentifier {
	return s.catalogs.IdentifyPermanent(nameParts(n))
}

func nameParts(n sqlparse.ObjectName) []string {
	parts := make([]string, len(n.Parts))
	for i, p := range n.Parts {
		parts[i] = p.Name
	}
	return parts
}

func (s *Session) dropTable(ctx context.Context, st *sqlparse.DropTable) (*Result, error) {
	return s.drop(ctx, st.Name, catalog.KindTable, st.Temporary, st.IfExists)
}

// drop drops a table or a view, of the catalog or a temporary one. One of the other kind is not there, as
// Flink has it, and is named in the hint.
func (s *Session) drop(ctx context.Context, name sqlparse.ObjectName, kind catalog.TableKind, temporary, ifExists bool) (*Result, error) {
	id := s.identifyPermanent(name)
	hidden, isHidden := s.catalogs.TemporaryTable(id)
	word, drops := "Table", "DROP TABLE "
	if kind == catalog.KindView {
		word, drops = "View", "DROP VIEW "
	}
	absent := func(what, hint string) (*Result, error) {
		if ifExists {
			if hint == "" {
				return &Result{Kind: OK}, nil
			}
			return &Result{Kind: Notice, Message: strings.Replace(hint, "it", id.String(), 1)}, nil
		}
		return nil, &sqlparse.Error{Span: name.Last().Span(), Msg: fmt.Sprintf("%s with identifier '%s' does not exist.", what, id), Hint: hint}
	}
	otherKind := func(t *catalog.CatalogTable, temporary string) string {
		switch {
		case t.Kind == catalog.KindView && t.View == nil:
			return "it is a view of the store's own: DROP VIEW drops it"
		case t.Kind == catalog.KindView:
			return fmt.Sprintf("it is a view: DROP %sVIEW drops it", temporary)
		}
		return fmt.Sprintf("it is a table: DROP %sTABLE drops it", temporary)
	}
	if temporary {
		what := "Temporary " + strings.ToLower(word)
		switch {
		case !isHidden:
			return absent(what, "")
		case hidden.Kind != kind:
			return absent(what, otherKind(hidden, "TEMPORARY "))
		}
		if err := s.catalogs.DropTemporary(id); err != nil {
			return nil, err
		}
		return &Result{Kind: OK}, nil
	}
	if isHidden && hidden.Kind == kind {
		return nil, &sqlparse.Error{Span: name.Span(), Hint: "DROP TEMPORARY " + strings.TrimPrefix(drops, "DROP ") + "drops the temporary one",
			Msg: fmt.Sprintf("Temporary %s with identifier '%s' exists. Drop it first before removing the permanent %[1]s.", strings.ToLower(word), id.SQL())}
	}
	c, table, err := s.catalogs.Table(ctx, id)
	if errors.Is(err, catalog.ErrBrokenView) {
		table, err = &catalog.CatalogTable{Kind: catalog.KindView}, nil
	}
	if err != nil {
		if ifExists && errors.Is(err, catalog.ErrTableNotExist) {
			return &Result{Kind: OK}, nil
		}
		return nil, missing(err, id, word)
	}
	if table.Kind != kind {
		return absent(word, otherKind(table, ""))
	}
	path := catalog.PathOf(id)
	if views, ok := c.(catalog.ViewDropper); ok && kind == catalog.KindView {
		err = views.DropView(ctx, path)
	} else {
		err = c.DropTable(ctx, path, "")
	}
	if err != nil {
		if errors.Is(err, catalog.ErrTableNotExist) && ifExists {
			return &Result{Kind: OK}, nil
		}
		return nil, err
	}
	return &Result{Kind: OK}, nil
}

// showTables lists tables and views, temporary ones too.
func (s *Session) showTables(ctx context.Context, st *sqlparse.ShowTables) (*Result, error) {
	names, err := s.tablesIn(ctx, st.From, false)
	if err != nil {
		return nil, err
	}
	return list("table name", filterLike(names, st.Like)), nil
}

// tablesIn returns the names of the tables and views of a database, or of its views alone, temporary ones
// too, sorted. from may be nil, for the current database.
func (s *Session) tablesIn(ctx context.Context, from *sqlparse.ObjectName, viewsOnly bool) ([]string, error) {
	in, database := s.CurrentCatalog(), s.CurrentDatabase()
	if from != nil {
		in, database = s.databaseName(*from)
	}
	if err := s.catalogs.CheckDatabase(ctx, in, database); err != nil {
		return nil, err
	}
	c, err := s.catalogs.Catalog(ctx, in)
	if err != nil {
		return nil, err
	}
	lists := c.ListTables
	if viewsOnly {
		lists = func(ctx context.Context, database string) ([]string, error) { return viewsOf(ctx, c, database) }
	}
	names, err := lists(ctx, database)
	if err != nil {
		return nil, err
	}
	for _, name := range s.catalogs.ListTemporary(in, database) {
		t, ok := s.catalogs.TemporaryTable(connector.ObjectIdentifier{Catalog: in, Database: database, Object: name})
		if ok && (!viewsOnly || t.Kind == catalog.KindView) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// viewsOf returns the names of a database's views.
func viewsOf(ctx context.Context, c catalog.Catalog, database string) ([]string, error) {
	if l, ok := c.(catalog.ViewLister); ok {
		return l.ListViews(ctx, database)
	}
	names, err := c.ListTables(ctx, database)
	if err != nil {
		return nil, err
	}
	var views []string
	for _, name := range names {
		t, err := c.Table(ctx, catalog.ObjectPath{Database: database, Object: name})
		switch {
		case errors.Is(err, catalog.ErrTableNotExist): // dropped meanwhile
		case err != nil:
			return nil, err
		case t.Kind == catalog.KindView:
			views = append(views, name)
		}
	}
	return views, nil
}
