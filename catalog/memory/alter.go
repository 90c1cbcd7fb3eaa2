package memory

import (
	"context"
	"errors"

	"github.com/sluice-sql/sluice/catalog"
)

// AlterTable is not there yet.
func (c *Catalog) AlterTable(context.Context, catalog.ObjectPath, *catalog.CatalogTable, *catalog.CatalogTable, []catalog.TableChange) error {
	return errors.New("ALTER TABLE cannot be done in a catalog of type 'generic_in_memory'")
}

// RenameTable is not there yet.
func (c *Catalog) RenameTable(context.Context, catalog.ObjectPath, string) error {
	return errors.New("a table of a catalog of type 'generic_in_memory' cannot be renamed")
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
