package jdbc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/types"
)

// AlterTable does what every server can do to a table at once: columns are added at the end, dropped and renamed,
// and comments set. All changes or none.
func (c *Server) AlterTable(ctx context.Context, path catalog.ObjectPath, old, new *catalog.CatalogTable, changes []catalog.TableChange) error {
	alterer, ok := c.server.(server.Alterer)
	if !ok {
		return &catalog.ChangeError{Msg: "a jdbc catalog changes no table of this server: use " + c.client()}
	}
	columns := old.Schema.Names()
	steps := make([]server.Step, len(changes))
	for i, ch := range changes {
		step, why := c.step(ch, len(columns))
		if why != "" {
			return &catalog.ChangeError{Index: i, Msg: why}
		}
		steps[i] = step
		at := slices.Index(columns, ch.Column)
		switch {
		case ch.Kind == catalog.AddColumn:
			columns = append(columns, ch.Column)
		case ch.Kind == catalog.ModifyComment:
		case at < 0:
			return &catalog.ChangeError{Index: i, Msg: fmt.Sprintf("there is no column %s", connector.QuoteName(ch.Column))}
		case ch.Kind == catalog.DropColumn:
			columns = slices.Delete(columns, at, at+1)
		case ch.Kind == catalog.RenameColumn:
			columns[at] = ch.NewName
		}
	}
	if want := new.Schema.Names(); !slices.Equal(columns, want) {
		return fmt.Errorf("the changes lead to the columns %s, not to %s", strings.Join(columns, ", "), strings.Join(want, ", "))
	}
	err := alterer.AlterTable(ctx, path.Database, path.Object, steps, func(info *server.TableInfo) bool {
		return slices.EqualFunc(info.Schema.Columns, old.Schema.Columns, func(a, b types.Column) bool { return a.Name == b.Name && a.Type.String() == b.Type.String() })
	})
	var refused *server.StepError
	if errors.As(err, &refused) {
		return &catalog.ChangeError{Index: refused.Index, Msg: refused.Error()}
	}
	return c.said(path, err)
}

// step returns the server's form of a change to a table of so many columns, or why there is none.
func (c *Server) step(ch catalog.TableChange, columns int) (step server.Step, why string) {
	switch ch.Kind {
	case catalog.AddColumn:
		switch {
		case ch.Virtual != nil:
			return step, fmt.Sprintf("a jdbc catalog keeps no computed and no metadata columns; create the table in %s, or as TEMPORARY", catalog.DefaultCatalog)
		case ch.Position != columns:
			return step, "columns are added at the end only: leave out FIRST and AFTER, or use " + c.client()
		}
		return server.Step{Kind: server.AddColumn, Column: types.Column{Name: ch.Column, Type: ch.Type, Comment: ch.Value}, Comment: ch.Value}, ""
	case catalog.DropColumn:
		return server.Step{Kind: server.DropColumn, Column: types.Column{Name: ch.Column}}, ""
	case catalog.RenameColumn:
		return server.Step{Kind: server.RenameColumn, Column: types.Column{Name: ch.Column}, NewName: ch.NewName}, ""
	case catalog.ModifyColumnComment:
		return server.Step{Kind: server.CommentColumn, Column: types.Column{Name: ch.Column}, Comment: ch.Value}, ""
	case catalog.ModifyComment:
		return server.Step{Kind: server.CommentTable, Comment: ch.Value}, ""
	case catalog.ModifyColumnType:
		return step, "a jdbc catalog does not change a column's type or NOT NULL, which rewrites the rows: use " + c.client()
	case catalog.ModifyColumnPosition:
		return step, "a jdbc catalog does not move a column: use " + c.client()
	case catalog.AddPrimaryKey, catalog.DropPrimaryKey:
		return step, "a jdbc catalog does not change a table's PRIMARY KEY: use " + c.client()
	case catalog.SetOption, catalog.ResetOption:
		return step, "a jdbc catalog keeps no WITH options of a table; ALTER CATALOG changes those of the catalog"
	}
	return step, fmt.Sprintf("a jdbc catalog cannot keep it (%s); create the table in %s, or as TEMPORARY", ch, catalog.DefaultCatalog)
}

// client names the server's own client.
func (c *Server) client() string {
	if c.address.Server.Name() == "postgresql" {
		return "psql"
	}
	return c.address.Server.Name()
}
