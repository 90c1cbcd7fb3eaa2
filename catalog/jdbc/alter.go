package jdbc

import (
	"context"
	"errors"

	"github.com/sluice-sql/sluice/catalog"
)

// AlterTable is not there yet.
func (c *Catalog) AlterTable(context.Context, catalog.ObjectPath, *catalog.CatalogTable, *catalog.CatalogTable, []catalog.TableChange) error {
	return errors.New("ALTER TABLE cannot be done in a catalog of type 'jdbc'")
}

// RenameTable is not there yet.
func (c *Catalog) RenameTable(context.Context, catalog.ObjectPath, string) error {
	return errors.New("a table of a catalog of type 'jdbc' cannot be renamed")
}

// AlterDatabase refuses: a SQLite file keeps nothing that describes it.
func (c *Catalog) AlterDatabase(_ context.Context, name string, _ catalog.Database) error {
	if _, err := c.store(name); err != nil {
		return err
	}
	return errors.New("a SQLite file keeps no comment and no properties of a database, so there is nothing to alter")
}
