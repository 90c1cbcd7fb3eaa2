package jdbc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/sqlite"
	"github.com/sluice-sql/sluice/types"
)

// rebuild is what to do where SQLite's ALTER TABLE does not go.
const rebuild = "make another table with CREATE TABLE … AS SELECT, drop this one and rename that"

// AlterTable does what SQLite's own ALTER TABLE does, all changes in one transaction: columns are added at
// the end, dropped and renamed.
func (c *Catalog) AlterTable(ctx context.Context, path catalog.ObjectPath, old, new *catalog.CatalogTable, changes []catalog.TableChange) error {
	s, err := c.store(path.Database)
	if err != nil {
		return err
	}
	var steps []sqlite.Step
	var at []int // the change of each step
	columns := old.Schema.Names()
	for i, ch := range changes {
		step, fault := stepOf(ch, len(columns))
		if fault != "" {
			return &catalog.ChangeError{Index: i, Msg: fault}
		}
		switch k := slices.Index(columns, ch.Column); {
		case ch.Kind == catalog.AddColumn:
			columns = append(columns, ch.Column)
		case k < 0:
			return &catalog.ChangeError{Index: i, Msg: fmt.Sprintf("there is no column %s", connector.QuoteName(ch.Column))}
		case ch.Kind == catalog.DropColumn:
			columns = slices.Delete(columns, k, k+1)
		default:
			columns[k] = ch.NewName
		}
		steps, at = append(steps, step), append(at, i)
	}
	if want := new.Schema.Names(); !slices.Equal(columns, want) {
		return fmt.Errorf("the changes lead to the columns %s, not to %s", strings.Join(columns, ", "), strings.Join(want, ", "))
	}
	err = sqlite.ErrNotThere
	if !c.unmade(s) {
		err = s.AlterTable(ctx, path.Object, steps, func(info *sqlite.TableInfo) bool {
			return info.SQL == old.NativeText && slices.Equal(info.Schema().Names(), old.Schema.Names())
		})
	}
	var refused *sqlite.StepError
	if errors.As(err, &refused) {
		return &catalog.ChangeError{Index: at[refused.Index], Msg: refused.Error()}
	}
	return altered(path, err)
}

// stepOf returns SQLite's form of a change to a table of so many columns, or why there is none.
func stepOf(ch catalog.TableChange, columns int) (step sqlite.Step, fault string) {
	switch ch.Kind {
	case catalog.AddColumn:
		switch {
		case ch.Virtual != nil:
			return step, fmt.Sprintf("a jdbc catalog keeps no computed and no metadata columns; create the table in %s, or as TEMPORARY", catalog.DefaultCatalog)
		case ch.Value != "":
			return step, "a SQLite file keeps no COMMENT of a column: leave it out"
		case ch.Position != columns:
			return step, "SQLite adds columns at the end only: leave out FIRST and AFTER, or " + rebuild
		}
		if why := badColumnName(ch.Column); why != "" {
			return step, why
		}
		return sqlite.AddColumn(types.Column{Name: ch.Column, Type: ch.Type})
	case catalog.DropColumn:
		return sqlite.DropColumn(ch.Column), ""
	case catalog.RenameColumn:
		return sqlite.RenameColumn(ch.Column, ch.NewName), badColumnName(ch.NewName)
	case catalog.ModifyColumnType:
		return step, "SQLite cannot change a column's type or NOT NULL: " + rebuild
	case catalog.ModifyColumnPosition:
		return step, "SQLite cannot move a column: " + rebuild
	case catalog.AddPrimaryKey, catalog.DropPrimaryKey:
		return step, "SQLite cannot change a table's PRIMARY KEY: " + rebuild
	case catalog.ModifyColumnComment, catalog.ModifyComment:
		return step, "a SQLite file keeps no COMMENT"
	case catalog.SetOption, catalog.ResetOption:
		return step, "a jdbc catalog keeps no WITH options of a table; ALTER CATALOG changes those of the catalog"
	}
	return step, fmt.Sprintf("a jdbc catalog cannot keep it (%s); create the table in %s, or as TEMPORARY", ch, catalog.DefaultCatalog)
}

func badColumnName(name string) string {
	if name == "" || strings.IndexByte(name, 0) >= 0 {
		return fmt.Sprintf("%q cannot be a column's name in SQLite", name)
	}
	return ""
}

// altered puts what the file says into the words of package catalog.
func altered(path catalog.ObjectPath, err error) error {
	switch {
	case errors.Is(err, sqlite.ErrNotThere):
		return &fault{fmt.Sprintf("table %s does not exist in database %s", path.Object, path.Database), catalog.ErrTableNotExist}
	case errors.Is(err, sqlite.ErrChanged):
		return fmt.Errorf("table %s was changed by another session; look at it and try again", path.Object)
	}
	return exists(err)
}

// RenameTable gives a table another name.
func (c *Catalog) RenameTable(ctx context.Context, path catalog.ObjectPath, newName string) error {
	s, err := c.store(path.Database)
	if err != nil {
		return err
	}
	if err := checkName(newName); err != nil {
		return err
	}
	err = sqlite.ErrNotThere
	if !c.unmade(s) {
		err = s.RenameTable(ctx, path.Object, newName)
	}
	return altered(path, err)
}

// AlterDatabase refuses: a SQLite file keeps nothing that describes it.
func (c *Catalog) AlterDatabase(_ context.Context, name string, _ catalog.Database) error {
	if _, err := c.store(name); err != nil {
		return err
	}
	return errors.New("a SQLite file keeps no comment and no properties of a database, so there is nothing to alter")
}
