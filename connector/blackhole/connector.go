package blackhole

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
)

// Connector makes tables that keep nothing.
type Connector struct{}

var (
	_ connector.Factory           = Connector{}
	_ connector.DefinitionChecker = Connector{}
	_ connector.Creator           = Connector{}
	_ connector.Writable          = (*table)(nil)
	_ connector.ChangelogWritable = (*table)(nil)
)

// Identifier returns blackhole.
func (Connector) Identifier() string { return "blackhole" }

// Options returns none: there is nothing to choose.
func (Connector) Options() []connector.Option { return nil }

// CheckDefinition refuses partitions, which nothing is put into.
func (Connector) CheckDefinition(def connector.TableDef) error {
	if len(def.PartitionKeys) > 0 {
		return errors.New("PARTITIONED BY means nothing for connector 'blackhole'; leave it out")
	}
	return nil
}

// Table opens a table.
func (c Connector) Table(_ context.Context, def connector.TableDef, _ *connector.Env) (connector.Table, error) {
	if err := c.CheckDefinition(def); err != nil {
		return nil, fmt.Errorf("table %s: %w", def.Identifier, err)
	}
	return &table{def.Identifier}, nil
}

// CheckCreate has nothing to say against dropping rows.
func (c Connector) CheckCreate(_ context.Context, def connector.TableDef, insert connector.Insert, _ *connector.Env) (*connector.Creation, error) {
	made := &connector.Creation{Reason: "no row is ever there"}
	for range insert.Columns {
		made.Stored = append(made.Stored, "dropped")
	}
	return made, c.CheckDefinition(def)
}

// Create returns the transaction that counts the first rows of a table.
func (c Connector) Create(_ context.Context, def connector.TableDef, _ connector.Insert, _ *connector.Env) (connector.Transaction, error) {
	return &transaction{id: def.Identifier}, nil
}

type table struct{ id connector.ObjectIdentifier }

// Close does nothing.
func (*table) Close() error { return nil }

// Transaction returns a transaction that counts rows.
func (t *table) Transaction(context.Context, connector.Insert) (connector.Transaction, error) {
	return &transaction{id: t.id}, nil
}

// Changelog returns a transaction that counts changes.
func (t *table) Changelog(context.Context, connector.Insert) (connector.Transaction, error) {
	return &transaction{id: t.id}, nil
}

type state uint8

const (
	fresh state = iota
	open
	sealed
	done
	aborted
)

type transaction struct {
	id connector.ObjectIdentifier

	mu    sync.Mutex
	state state
	rows  int64
}

// Key names the table: nothing is shared with another.
func (t *transaction) Key() string { return "blackhole:" + t.id.String() }

// to goes on to a state from one of others.
func (t *transaction) to(next state, from ...state) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range from {
		if t.state == s {
			t.state = next
			return nil
		}
	}
	return fmt.Errorf("table %s: the transaction is not open", t.id)
}

// Begin opens the transaction.
func (t *transaction) Begin(context.Context, connector.JobID) error { return t.to(open, fresh) }

// Writer returns a writer; there may be several.
func (t *transaction) Writer(context.Context, int) (connector.Writer, error) {
	return writer{t}, t.to(open, open)
}

// Seal returns the number of rows.
func (t *transaction) Seal(ctx context.Context) (int64, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	err := t.to(sealed, open, sealed)
	return t.rows, err
}

// Commit ends the transaction.
func (t *transaction) Commit(context.Context) (connector.Outcome, error) {
	if err := t.to(done, sealed, done); err != nil {
		return connector.NotDone, err
	}
	return connector.Done, nil
}

// Abort ends the transaction.
func (t *transaction) Abort(context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state != done {
		t.state = aborted
	}
	return nil
}

type writer struct{ t *transaction }

// Write takes every row.
func (w writer) Write(ctx context.Context, next func() (*column.Batch, error)) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b, err := next()
		if b == nil || err != nil {
			return err
		}
		w.t.mu.Lock()
		w.t.rows += int64(b.Rows())
		w.t.mu.Unlock()
	}
}

// Close does nothing.
func (writer) Close() error { return nil }
