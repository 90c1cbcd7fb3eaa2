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

// createTable runs every form of CREATE TABLE.
func (s *Session) createTable(ctx context.Context, x *execution, st *sqlparse.CreateTable) (*Result, error) {
	if err := s.checkCreate(ctx, st); err != nil {
		return nil, err
	}
	if st.As != nil {
		return s.createTableAs(ctx, x, st)
	}
	id := s.identify(st.Name)
	c, err := s.catalogs.Catalog(ctx, id.Catalog)
	if err != nil {
		return nil, err
	}
	exists := fmt.Sprintf("Table (or view) %s.%s already exists in Catalog %s.", id.Database, id.Object, id.Catalog)
	if st.IfNotExists {
		if _, _, err := s.catalogs.Table(ctx, id); err == nil {
			return &Result{Kind: Notice, Message: exists}, nil
		} else if !errors.Is(err, catalog.ErrTableNotExist) {
			return nil, err
		}
	}
	id, table, err := planner.CreateTable(ctx, st, s.plannerEnv(x))
	if err != nil {
		return nil, err
	}
	path := catalog.ObjectPath{Database: id.Database, Object: id.Object}
	if _, err = c.Check(ctx, path, table, catalog.CreateTable); err == nil {
		_, _, err = c.CreateTable(ctx, path, table)
	}
	if errors.Is(err, catalog.ErrTableAlreadyExist) {
		if st.IfNotExists { // somebody else was faster
			return &Result{Kind: Notice, Message: exists}, nil
		}
		return nil, &catalog.Error{Name: id.Object, Msg: exists, Err: catalog.ErrTableAlreadyExist}
	}
	if err != nil {
		return nil, err
	}
	return &Result{Kind: OK}, nil
}

// checkCreate refuses, each at its place, what no part of this program can create and what the target's
// catalog cannot store. It is the one check of clauses for CREATE TABLE and CREATE TABLE AS.
func (s *Session) checkCreate(ctx context.Context, st *sqlparse.CreateTable) error {
	switch {
	case st.Mode != sqlparse.Create:
		return refuse(st.Span(), "%s is not supported yet", st.Form())
	case st.Temporary && st.As != nil:
		return refuse(st.TemporarySpan, "CREATE TABLE AS SELECT syntax does not support to create temporary table yet.")
	case st.Temporary:
		return refuse(st.TemporarySpan, "temporary tables are not supported yet")
	case st.Like != nil:
		return refuse(st.Like.Span(), "CREATE TABLE LIKE is not supported yet")
	case st.Distribution != nil:
		return refuse(st.Distribution.Span(), "DISTRIBUTED is not supported yet")
	}
	if err := checkName(st.Name.Last(), "table"); err != nil {
		return err
	}
	id := s.identify(st.Name)
	if err := s.catalogs.CheckDatabase(ctx, id.Catalog, id.Database); err != nil {
		return err
	}
	c, err := s.catalogs.Catalog(ctx, id.Catalog)
	if err != nil {
		return err
	}
	stores := c.Stores()
	lacks := func(clause catalog.Clause, at sqlparse.Span, what string) error {
		if stores&clause != 0 {
			return nil
		}
		if def, ok := s.catalogs.Live(catalog.DefaultCatalog); ok && def.Stores()&clause != 0 {
			return &sqlparse.Error{Span: at, Msg: fmt.Sprintf("catalog %s cannot store %s", id.Catalog, what), Hint: "create the table in " + catalog.DefaultCatalog}
		}
		return refuse(at, "%s: not supported yet by catalog %s", what, id.Catalog)
	}
	for _, col := range st.Columns {
		switch {
		case col.Kind == sqlparse.ComputedColumn:
			err = lacks(catalog.StoresComputed, col.Span(), "a computed column")
		case col.Kind == sqlparse.MetadataColumn:
			err = lacks(catalog.StoresMetadata, col.Span(), "a metadata column")
		case col.Comment != nil:
			err = lacks(catalog.StoresComment, col.Comment.Span(), "a column's comment")
		}
		if err != nil {
			return err
		}
	}
	if st.Watermark != nil {
		err = lacks(catalog.StoresWatermark, st.Watermark.Span(), "a WATERMARK")
	}
	if err == nil && st.Comment != nil {
		err = lacks(catalog.StoresComment, st.Comment.Span(), "a table's comment")
	}
	if err == nil && st.PartitionedBy != nil {
		err = lacks(catalog.StoresPartitions, st.PartitionedBy.Span(), "PARTITIONED BY")
	}
	if err == nil && st.Options != nil && len(st.Options.Items) > 0 {
		if err = lacks(catalog.StoresOptions, st.Options.Span(), "the options of a table"); err == nil {
			err = s.checkTableOptions(c, st.Options)
		}
	}
	return err
}

// checkTableOptions checks a WITH clause against what the table's connector declares.
func (s *Session) checkTableOptions(c catalog.Catalog, o *sqlparse.Options) error {
	given, err := optionMap(o)
	if err != nil {
		return err
	}
	f, name := s.tableFactory(c, given)
	if f == nil {
		var names []string
		for _, x := range s.registry.Connectors {
			names = append(names, x.Identifier())
		}
		switch {
		case name == "":
			return &connector.OptionError{Msg: "a table with options needs the option 'connector'"}
		case len(names) == 0:
			return &connector.OptionError{Key: "connector", Msg: fmt.Sprintf("unknown connector '%s': there are no connectors yet; without WITH the catalog keeps the rows", name)}
		}
		msg := fmt.Sprintf("unknown connector '%s'; available: '%s'", name, strings.Join(names, "', '"))
		if near := connector.Closest(name, names); near != "" {
			msg += fmt.Sprintf("; did you mean '%s'?", near)
		}
		return &connector.OptionError{Key: "connector", Msg: msg}
	}
	what := "a table of its catalog"
	if name != "" {
		what = "connector '" + name + "'"
	}
	return connector.CheckOptions(what, tableOptions(f), given)
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

// checkName refuses names that are empty or kept for the program's own objects.
func checkName(id sqlparse.Ident, what string) error {
	if id.Name == "" {
		return refuse(id.Span(), "a %s needs a name", what)
	}
	low := strings.ToLower(id.Name)
	for _, p := range []string{"_sluice", ".sluice", "sqlite_"} {
		if strings.HasPrefix(low, p) {
			return refuse(id.Span(), "names beginning with %s are reserved", p)
		}
	}
	return nil
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
