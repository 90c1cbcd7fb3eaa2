package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/memory"
)

// AlterTable makes the new definition the table's, and its rows those of the new columns, by one swap.
// Readers keep their version. While a job writes the table it is refused.
func (c *Catalog) AlterTable(ctx context.Context, path catalog.ObjectPath, old, next *catalog.CatalogTable, changes []catalog.TableChange) error {
	if err := c.accepts(path, next); err != nil {
		return place(err, changes)
	}
	c.mu.RLock()
	o, err := c.object(path)
	c.mu.RUnlock()
	if err != nil {
		return err
	}
	changed := fmt.Errorf("%s was changed by another statement; look at it and try again", c.identifier(path))
	if o.table.Kind != next.Kind || !maps.Equal(o.table.Properties(), old.Properties()) {
		return changed
	}
	if (o.store != nil) != keepsRows(next) {
		at := len(changes) - 1
		for i, ch := range changes {
			if ch.Key == "connector" {
				at = i
			}
		}
		return &catalog.ChangeError{Index: at, Msg: "with or without the option 'connector' it would be another table: its rows are either kept in memory or elsewhere"}
	}
	var rows *memory.Alteration
	if o.store != nil { // the catalog's lock is not held meanwhile: there may be many rows
		from, err := origins(old, next, changes)
		if err != nil {
			return err
		}
		if rows, err = o.store.Alter(ctx, c.identifier(path), next.Schema, from); err != nil {
			return place(err, changes)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if now, err := c.object(path); err != nil || now != o {
		if rows != nil {
			rows.Abort()
		}
		return cmp.Or(err, changed)
	}
	altered := &object{table: next, identity: o.identity}
	if rows != nil {
		if altered.store, err = rows.Commit(); err != nil {
			return err
		}
	}
	c.databases[path.Database].tables[path.Object] = altered
	return nil
}

// origins follows the changes and returns for each physical column of the new table which physical column
// of the old one it was, -1 for one that was added.
func origins(old, next *catalog.CatalogTable, changes []catalog.TableChange) ([]int, error) {
	was := map[string]int{}
	for i, col := range old.Schema.Columns {
		was[col.Name] = i
	}
	for i, ch := range changes {
		at, physical := was[ch.Column]
		switch ch.Kind {
		case catalog.AddColumn:
			if ch.Virtual == nil {
				if physical {
					return nil, &catalog.ChangeError{Index: i, Msg: fmt.Sprintf("a column %s is there already", connector.QuoteName(ch.Column))}
				}
				was[ch.Column] = -1
			}
		case catalog.DropColumn:
			delete(was, ch.Column)
		case catalog.RenameColumn:
			if physical {
				if _, taken := was[ch.NewName]; taken {
					return nil, &catalog.ChangeError{Index: i, Msg: fmt.Sprintf("a column %s is there already", connector.QuoteName(ch.NewName))}
				}
				delete(was, ch.Column)
				was[ch.NewName] = at
			}
		}
	}
	from := make([]int, len(next.Schema.Columns))
	for i, col := range next.Schema.Columns {
		at, ok := was[col.Name]
		if !ok {
			return nil, fmt.Errorf("column %s comes from no column and from no change", connector.QuoteName(col.Name))
		}
		from[i] = at
	}
	if len(was) != len(from) {
		return nil, errors.New("a column is gone that no change drops")
	}
	return from, nil
}

// place turns the fault of a column or an option into that of the change which touches it last.
func place(err error, changes []catalog.TableChange) error {
	var rows *memory.ColumnError
	var col *catalog.ColumnError
	var opt *connector.OptionError
	touches := func(catalog.TableChange) bool { return false }
	switch {
	case errors.As(err, &rows):
		touches = func(ch catalog.TableChange) bool {
			return ch.Kind == catalog.AddPrimaryKey || ch.Column == rows.Column || ch.NewName != "" && ch.NewName == rows.Column
		}
	case errors.As(err, &col):
		touches = func(ch catalog.TableChange) bool { return ch.Column == col.Column }
	case errors.As(err, &opt):
		touches = func(ch catalog.TableChange) bool { return ch.Key == opt.Key }
	default:
		return err
	}
	for i, ch := range slices.Backward(changes) {
		if touches(ch) {
			return &catalog.ChangeError{Index: i, Msg: err.Error()}
		}
	}
	return err
}

// RenameTable gives a table or view another name in its database.
func (c *Catalog) RenameTable(ctx context.Context, path catalog.ObjectPath, newName string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	o, err := c.object(path)
	if err != nil {
		return err
	}
	to := catalog.ObjectPath{Database: path.Database, Object: newName}
	db := c.databases[path.Database]
	if err := c.free(db, to); err != nil {
		return err
	}
	next := &object{table: o.table, identity: o.identity}
	if o.store != nil {
		from := make([]int, len(o.table.Schema.Columns))
		for i := range from {
			from[i] = i
		}
		same, err := o.store.Alter(ctx, c.identifier(to), o.table.Schema, from) // shares all vectors
		if err != nil {
			return err
		}
		if next.store, err = same.Commit(); err != nil {
			return err
		}
	}
	delete(db.tables, path.Object)
	db.tables[newName] = next
	return nil
}

// AlterDatabase replaces what describes a database.
func (c *Catalog) AlterDatabase(_ context.Context, name string, about catalog.Database) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	db, err := c.database(name)
	if err != nil {
		return err
	}
	db.about = about
	return nil
}

// Alter takes another default database, which must be there; it is all that a catalog in memory has.
func (c *Catalog) Alter(properties map[string]string) error {
	db, ok := properties["default-database"]
	if !ok {
		db = "default"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.database(db); err != nil {
		return fmt.Errorf("the default database %s does not exist; create it first", connector.QuoteName(db))
	}
	c.defaultDB = db
	return nil
}
