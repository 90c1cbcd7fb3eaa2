package jdbc

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
)

// Table returns a table's or view's definition.
func (c *Server) Table(ctx context.Context, path catalog.ObjectPath) (*catalog.CatalogTable, error) {
	var info *server.TableInfo
	var near string
	if !strings.ContainsRune(path.Database+path.Object, 0) { // which no server takes
		var err error
		if info, near, err = c.server.Describe(ctx, path.Database, path.Object); err != nil {
			return nil, c.said(path, err)
		}
	}
	if info == nil {
		msg := fmt.Sprintf("table %s does not exist in database %s", path.Object, path.Database)
		if near != "" {
			msg += fmt.Sprintf("; names are case-sensitive, did you mean %s?", connector.QuoteName(near))
		}
		return nil, &fault{msg, catalog.ErrTableNotExist}
	}
	t := &catalog.CatalogTable{Kind: catalog.KindTable, Schema: info.Schema, Comment: info.Comment, Options: map[string]string{},
		NativeText: info.Text, ReadOnly: info.ReadOnly, Defaults: info.Defaults}
	if info.View {
		t.Kind = catalog.KindView
	}
	t.Schema.Columns = slices.Clone(info.Schema.Columns)
	for i := range t.Schema.Columns {
		if comment, ok := info.Comments[t.Schema.Columns[i].Name]; ok {
			t.Schema.Columns[i].Comment = comment
		}
	}
	return t, nil
}

// definition returns what the server keeps of a table, and refuses the rest.
func (c *Server) definition(name string, t *catalog.CatalogTable) (server.Definition, error) {
	refused := func(what string) (server.Definition, error) {
		return server.Definition{}, fmt.Errorf("table %s: a jdbc catalog keeps no %s; create the table in %s, or as TEMPORARY", name, what, catalog.DefaultCatalog)
	}
	if err := checkServerName("table", name); err != nil {
		return server.Definition{}, err
	}
	switch {
	case t.Kind == catalog.KindView:
		return server.Definition{}, fmt.Errorf("a jdbc catalog keeps no views in Flink SQL; create %s in %s, or as TEMPORARY", name, catalog.DefaultCatalog)
	case len(t.Virtual) > 0:
		return server.Definition{}, &catalog.ColumnError{Column: t.Virtual[0].Name, Msg: fmt.Sprintf("column %s: a jdbc catalog keeps no computed and no metadata columns; create the table in %s, or as TEMPORARY", t.Virtual[0].Name, catalog.DefaultCatalog)}
	case t.Watermark != nil:
		return refused("WATERMARK")
	case len(t.PartitionKeys) > 0:
		return refused("PARTITIONED BY")
	case t.Distribution != nil:
		return refused("DISTRIBUTED")
	case len(t.Options) > 0:
		return refused("WITH options")
	case len(t.Schema.Columns) == 0:
		return server.Definition{}, fmt.Errorf("table %s has no columns", name)
	}
	for _, k := range t.Schema.PrimaryKey {
		if t.Schema.Index(k) < 0 {
			return server.Definition{}, &catalog.ColumnError{Column: k, Msg: "PRIMARY KEY names a column that is not there: " + k}
		}
	}
	return server.Definition{Schema: t.Schema, Comment: t.Comment, Comments: maps.Clone(jdbc.CommentsOf(t.Schema))}, nil
}

// CreateTable makes an empty table.
func (c *Server) CreateTable(ctx context.Context, path catalog.ObjectPath, table *catalog.CatalogTable) (created bool, identity string, err error) {
	def, err := c.definition(path.Object, table)
	if err != nil {
		return false, "", err
	}
	identity, err = c.server.CreateTable(ctx, path.Database, path.Object, def)
	return err == nil, identity, c.said(path, err)
}

// DropTable drops a table.
func (c *Server) DropTable(ctx context.Context, path catalog.ObjectPath, identity string) error {
	return c.said(path, c.server.DropTable(ctx, path.Database, path.Object, identity))
}

// DropView drops a view of the server's own.
func (c *Server) DropView(ctx context.Context, path catalog.ObjectPath) error {
	return c.said(path, c.server.DropView(ctx, path.Database, path.Object))
}

// RenameTable gives a table another name.
func (c *Server) RenameTable(ctx context.Context, path catalog.ObjectPath, newName string) error {
	if err := checkServerName("table", newName); err != nil {
		return err
	}
	return c.said(path, c.server.RenameTable(ctx, path.Database, path.Object, newName))
}

// serverTables opens the tables of a server.
type serverTables struct{ c *Server }

// Identifier is jdbc.
func (t serverTables) Identifier() string { return "jdbc" }

// Options: a table of the catalog has none of its own.
func (t serverTables) Options() []connector.Option { return nil }

// Table opens a table by its identifier.
func (t serverTables) Table(ctx context.Context, def connector.TableDef, _ *connector.Env) (connector.Table, error) {
	path := catalog.ObjectPath{Database: def.Identifier.Database, Object: def.Identifier.Object}
	table, err := t.c.server.OpenTable(ctx, path.Database, path.Object, def.Schema)
	if err != nil {
		return nil, fmt.Errorf("open table %s: %w", def.Identifier, t.c.said(path, err))
	}
	return table, nil
}
