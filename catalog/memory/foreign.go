package memory

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/memory"
)

// checkForeign says what CREATE TABLE AS would make of a table with 'connector'.
func (c *Catalog) checkForeign(ctx context.Context, path catalog.ObjectPath, table *catalog.CatalogTable) (*catalog.Check, error) {
	f, def, insert, err := c.creator(path, table)
	if err != nil {
		return nil, err
	}
	made, err := f.CheckCreate(ctx, def, insert, c.connectors.Env)
	if err != nil {
		return nil, fault(err)
	}
	check := &catalog.Check{Guarantee: catalog.Atomic, Reason: made.Reason + "; the definition lives and dies with this process", Notes: made.Notes}
	if made.Visible {
		check.Guarantee = catalog.Visible
	}
	for i, at := range insert.Columns {
		col := def.Schema.Columns[at]
		check.Mapping = append(check.Mapping, catalog.Mapping{Column: col.Name, Type: col.Type.String(), Stored: made.Stored[i]})
	}
	return check, nil
}

// fault puts the fault of a column into the words of a catalog.
func fault(err error) error {
	var e *connector.ColumnError
	if errors.As(err, &e) {
		return &catalog.ColumnError{Column: e.Column, Msg: err.Error()}
	}
	return err
}

func (c *Catalog) creator(path catalog.ObjectPath, table *catalog.CatalogTable) (connector.Creator, connector.TableDef, connector.Insert, error) {
	return c.connectors.Creator(c.identifier(path), table)
}

// reservation keeps a name for the table that a job is making.
type reservation struct {
	table connector.ObjectIdentifier
	job   connector.JobID
}

func (r *reservation) held() error { return &memory.HeldError{Table: r.table, Job: r.job} }

// foreign is the CREATE TABLE AS of a table with 'connector': the connector's transaction, and the name.
//
// Once the connector has committed nothing can take the rows back, so that the registration must not fail.
// That is why Begin reserves the name: nobody sees it, and nobody can take it, nor drop the database or the
// catalog, until the end. Abort gives it back; so does a Commit of Unknown, which registers nothing, because
// the user has to look at what is there, maybe by a CREATE TABLE of this very name. Should a later Commit
// find that it was done after all, it registers the table unless another one has the name by then.
type foreign struct {
	connector.Transaction // the connector's: Key, Writer, Seal

	catalog *Catalog
	path    catalog.ObjectPath
	table   *catalog.CatalogTable

	mu         sync.Mutex
	name       *reservation // nil: not reserved
	registered bool
}

func (c *Catalog) stageForeign(ctx context.Context, path catalog.ObjectPath, table *catalog.CatalogTable, readsSame bool) (catalog.StagedTable, error) {
	f, def, insert, err := c.creator(path, table)
	if err != nil {
		return nil, err
	}
	insert.ReadsSame = readsSame
	tx, err := f.Create(ctx, def, insert, c.connectors.Env)
	if err != nil {
		return nil, fault(err)
	}
	return &foreign{Transaction: tx, catalog: c, path: path, table: table}, nil
}

// NoteEvidence passes on to the connector's transaction.
func (t *foreign) NoteEvidence(note func(evidence string) error) {
	if tx, ok := t.Transaction.(connector.Evident); ok {
		tx.NoteEvidence(note)
	}
}

// Begin reserves the name and begins the connector's transaction.
func (t *foreign) Begin(ctx context.Context, job connector.JobID) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := &reservation{t.catalog.identifier(t.path), job}
	if err := t.catalog.reserve(t.path, r); err != nil {
		return err
	}
	t.name = r
	err := t.Transaction.Begin(ctx, job)
	if err != nil {
		t.release()
	}
	return err
}

func (c *Catalog) reserve(path catalog.ObjectPath, r *reservation) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	db, err := c.vacancy(path)
	if err == nil {
		db.reserved[path.Object] = r
	}
	return err
}

// release gives the name back.
func (t *foreign) release() {
	t.catalog.mu.Lock()
	defer t.catalog.mu.Unlock()
	t.vacate()
}

// vacate is release with the catalog's lock held.
func (t *foreign) vacate() {
	if db := t.catalog.databases[t.path.Database]; db != nil && t.name != nil && db.reserved[t.path.Object] == t.name {
		delete(db.reserved, t.path.Object)
	}
	t.name = nil
}

// Commit commits the rows, then registers the table.
func (t *foreign) Commit(ctx context.Context) (connector.Outcome, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.registered {
		return connector.Done, nil
	}
	out, err := t.Transaction.Commit(ctx)
	switch out {
	case connector.NotDone: // Abort, which has to follow, gives the name back
	case connector.Unknown:
		t.release()
		err = fmt.Errorf("the rows of table %s may have been stored, and the table is not registered; look at what is there, then CREATE TABLE it without AS: %w", t.catalog.identifier(t.path), err)
	case connector.Done:
		if err := t.register(); err != nil {
			return connector.Unknown, fmt.Errorf("the rows of table %s are stored, but the table could not be registered: %w", t.catalog.identifier(t.path), err)
		}
		t.registered = true
	}
	return out, err
}

// register makes the table visible under the name that was kept for it. It fails only where the catalog was
// closed under the job, or after a Commit of Unknown.
func (t *foreign) register() error {
	c := t.catalog
	c.mu.Lock()
	defer c.mu.Unlock()
	t.vacate()
	_, err := c.register(t.path, t.table, nil)
	return err
}

// Abort ends the connector's transaction and gives the name back.
func (t *foreign) Abort(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.Transaction.Abort(ctx)
	t.release()
	return err
}
