package session

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/planner"
	"github.com/sluice-sql/sluice/sqlparse"
)

// databaseName completes a name of one or two parts with the current catalog.
func (s *Session) databaseName(n sqlparse.ObjectName) (catalogName, database string) {
	if len(n.Parts) == 1 {
		return s.catalogs.CurrentCatalog(), n.Parts[0].Name
	}
	return n.Parts[0].Name, n.Parts[1].Name
}

func (s *Session) createDatabase(ctx context.Context, st *sqlparse.CreateDatabase) (*Result, error) {
	options, err := optionMap(st.Options)
	if err != nil {
		return nil, err
	}
	in, name := s.databaseName(st.Name)
	if err := planner.CheckName(st.Name.Last(), "database"); err != nil {
		return nil, err
	}
	c, err := s.catalogs.Catalog(ctx, in)
	if err != nil {
		var named *catalog.Error
		if errors.As(err, &named) && named.Name == in {
			err = &catalog.Error{Name: in, Part: catalog.CatalogPart, Msg: fmt.Sprintf("Catalog %s does not exist", in), Hint: named.Hint}
		}
		return nil, err
	}
	if c.Stores()&catalog.StoresOptions == 0 && len(options) > 0 {
		return nil, refuse(st.Options.Span(), "catalog %s cannot store the options of a database", in)
	}
	if c.Stores()&catalog.StoresComment == 0 && st.Comment != nil {
		return nil, refuse(st.Comment.Span(), "catalog %s cannot store the comment of a database", in)
	}
	db := catalog.Database{Options: options}
	if st.Comment != nil {
		db.Comment = st.Comment.Text
	}
	err = c.CreateDatabase(ctx, name, db)
	if errors.Is(err, catalog.ErrDatabaseAlreadyExist) {
		msg := fmt.Sprintf("Database %s already exists in Catalog %s.", name, in)
		if st.IfNotExists {
			return &Result{Kind: Notice, Message: msg}, nil
		}
		return nil, &catalog.Error{Name: name, Part: catalog.DatabasePart, Msg: msg, Err: catalog.ErrDatabaseAlreadyExist}
	}
	if err != nil {
		return nil, err
	}
	return &Result{Kind: OK}, nil
}

// alterDatabase sets options of a database.
func (s *Session) alterDatabase(ctx context.Context, st *sqlparse.AlterDatabase) (*Result, error) {
	options, err := optionMap(st.Options)
	if err != nil {
		return nil, err
	}
	in, name := s.databaseName(st.Name)
	if err := s.catalogs.CheckDatabase(ctx, in, name); err != nil {
		return nil, err
	}
	c, err := s.catalogs.Catalog(ctx, in)
	if err != nil {
		return nil, err
	}
	if c.Stores()&catalog.StoresOptions == 0 && len(options) > 0 {
		return nil, refuse(st.Options.Span(), "catalog %s cannot store the options of a database", in)
	}
	db, err := c.Database(ctx, name)
	if err != nil {
		return nil, err
	}
	altered := catalog.Database{Comment: db.Comment, Options: maps.Clone(db.Options)}
	if altered.Options == nil {
		altered.Options = map[string]string{}
	}
	maps.Copy(altered.Options, options)
	if err := c.AlterDatabase(ctx, name, altered); err != nil {
		return nil, err
	}
	return &Result{Kind: OK}, nil
}

// describeDatabase gives a database's name, catalog and comment, and with EXTENDED its options. Nobody has
// declared which of those are secret, so the names of their keys decide.
func (s *Session) describeDatabase(ctx context.Context, st *sqlparse.DescribeDatabase) (*Result, error) {
	in, name := s.databaseName(st.Name)
	if err := s.catalogs.CheckDatabase(ctx, in, name); err != nil {
		return nil, err
	}
	c, err := s.catalogs.Catalog(ctx, in)
	if err != nil {
		return nil, err
	}
	db, err := c.Database(ctx, name)
	if err != nil {
		return nil, err
	}
	m := newMetadata("info name", "info value")
	m.add("name", name)
	m.add("catalog", in)
	m.add("comment", db.Comment)
	if st.Extended {
		for _, key := range sortedKeys(db.Options) {
			value := connector.ScrubURL(db.Options[key])
			if sqlparse.IsSecretKey(key) {
				value = connector.Mask
			}
			m.add("option:"+key, value)
		}
	}
	return m.result(), nil
}

func (s *Session) dropDatabase(ctx context.Context, st *sqlparse.DropDatabase) (*Result, error) {
	in, name := s.databaseName(st.Name)
	if in == s.catalogs.CurrentCatalog() && name == s.catalogs.CurrentDatabase() {
		return nil, &catalog.Error{Name: name, Part: catalog.DatabasePart, Msg: "Cannot drop a database which is currently in use."}
	}
	c, err := s.catalogs.Catalog(ctx, in)
	if err != nil {
		return nil, err
	}
	if err := s.catalogs.CheckDatabase(ctx, in, name); err != nil {
		if st.IfExists && errors.Is(err, catalog.ErrDatabaseNotExist) {
			return &Result{Kind: OK}, nil
		}
		return nil, err
	}
	err = c.DropDatabase(ctx, name, st.Cascade)
	if errors.Is(err, catalog.ErrDatabaseNotEmpty) {
		return nil, &catalog.Error{Name: name, Part: catalog.DatabasePart, Err: catalog.ErrDatabaseNotEmpty,
			Msg: fmt.Sprintf("Database %s in catalog %s is not empty.", name, in), Hint: "CASCADE drops its tables as well"}
	}
	if err != nil {
		return nil, err
	}
	return &Result{Kind: OK}, nil
}

func (s *Session) useDatabase(ctx context.Context, st *sqlparse.UseDatabase) (*Result, error) {
	in, name := s.databaseName(st.Name)
	if err := s.catalogs.UseDatabase(ctx, in, name); err != nil {
		return nil, err
	}
	return &Result{Kind: OK}, nil
}

func (s *Session) showDatabases(ctx context.Context, st *sqlparse.ShowDatabases) (*Result, error) {
	in := s.catalogs.CurrentCatalog()
	if st.From != nil {
		in = st.From.Name
	}
	c, err := s.catalogs.Catalog(ctx, in)
	if err != nil {
		return nil, err
	}
	names, err := c.ListDatabases(ctx)
	if err != nil {
		return nil, err
	}
	return list("database name", filterLike(names, st.Like)), nil
}
