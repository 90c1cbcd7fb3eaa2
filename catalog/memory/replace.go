package memory

import (
	"context"
	"fmt"
	"sync"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/memory"
)

// replaceable returns the table that a statement with the purpose to replace finds under a name, nil where there
// is none and the purpose allows for that; c.mu is held.
func (c *Catalog) replaceable(path catalog.ObjectPath, purpose catalog.Purpose) (*object, error) {
	if c.closed {
		return nil, c.gone()
	}
	db, err := c.database(path.Database)
	if err != nil {
		return nil, err
	}
	if r, taken := db.reserved[path.Object]; taken {
		return nil, r.held()
	}
	o, there := db.tables[path.Object]
	switch {
	case !there && purpose == catalog.ReplaceTableAs:
		_, err := c.object(path) // which names one that differs only in case
		return nil, err
	case !there:
		return nil, nil
	case o.table.Kind == catalog.KindView:
		return nil, fmt.Errorf("%s is a view, and a table cannot take its place; DROP VIEW it first", c.identifier(path))
	case o.store == nil:
		return nil, fmt.Errorf("table %s has the connector '%s', whose rows are not in this catalog and would not go with the table; DROP TABLE it, then CREATE TABLE … AS",
			c.identifier(path), o.table.Options["connector"])
	}
	return o, nil
}

// check finds out whether a table may take the name, for a purpose.
func (c *Catalog) check(path catalog.ObjectPath, table *catalog.CatalogTable, purpose catalog.Purpose) error {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if !purpose.Replaces() {
		_, err := c.vacancy(path)
		return err
	}
	o, err := c.replaceable(path, purpose)
	if err == nil && o != nil && !keepsRows(table) {
		err = fmt.Errorf("table %s cannot give way to one with the connector '%s', whose rows are not in this catalog: the two cannot change places in one step; DROP TABLE it, then CREATE TABLE … AS",
			c.identifier(path), table.Options["connector"])
	}
	return err
}

// replacement is the table of a REPLACE TABLE AS: its rows are collected aside, and Commit puts it in the place
// of the table that Begin found, which readers go on reading as it was.
type replacement struct {
	*memory.Transaction

	catalog *Catalog
	path    catalog.ObjectPath
	table   *catalog.CatalogTable
	purpose catalog.Purpose

	mu    sync.Mutex
	found *object // nil: there was none
	state memory.State
}

func (c *Catalog) stageReplacement(path catalog.ObjectPath, table *catalog.CatalogTable, purpose catalog.Purpose) *replacement {
	r := &replacement{catalog: c, path: path, table: table, purpose: purpose}
	r.Transaction = memory.NewStaging(c.identifier(path), table.Schema, c.budget, r.publish)
	return r
}

// Begin notes the table that is to be replaced, and what is in it.
func (r *replacement) Begin(ctx context.Context, job connector.JobID) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.catalog
	c.mu.RLock()
	defer c.mu.RUnlock()
	found, err := c.replaceable(r.path, r.purpose)
	if err != nil {
		return err
	}
	if r.found = found; found != nil {
		if err := found.store.Held(); err != nil { // it would only be refused at the end
			return err
		}
		r.state = found.store.State()
	}
	return r.Transaction.Begin(ctx, job)
}

// publish makes the new table the one of the name, if all is as Begin found it.
func (r *replacement) publish(next *memory.Store) (connector.Outcome, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.catalog
	c.mu.Lock()
	defer c.mu.Unlock()
	changed := fmt.Errorf("%w while the job ran: %s; it is left as it is now", catalog.ErrTableChanged, c.identifier(r.path))
	found, err := c.replaceable(r.path, catalog.CreateOrReplaceTableAs)
	switch {
	case err != nil:
		return connector.NotDone, err
	case found != r.found:
		return connector.NotDone, changed
	case found != nil:
		same, err := found.store.ReplaceBy(next, r.state)
		if err != nil {
			return connector.NotDone, err
		}
		if !same {
			return connector.NotDone, changed
		}
		delete(c.databases[r.path.Database].tables, r.path.Object)
	}
	if _, err := c.register(r.path, r.table, next); err != nil {
		return connector.NotDone, err
	}
	return connector.Done, nil
}
