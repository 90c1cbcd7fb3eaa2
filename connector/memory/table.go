package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// Factory opens tables whose rows a catalog keeps in memory.
type Factory struct {
	// Find returns the store of a table.
	Find func(connector.ObjectIdentifier) (*Store, error)
}

var _ connector.Factory = Factory{}

// Identifier returns "memory"; such tables are a catalog's own and have no 'connector' option.
func (Factory) Identifier() string { return "memory" }

// Options returns none: a table in memory has no options.
func (Factory) Options() []connector.Option { return nil }

// Table opens a table. A table that has been replaced since its definition was read is refused.
func (f Factory) Table(_ context.Context, def connector.TableDef, _ *connector.Env) (connector.Table, error) {
	s, err := f.Find(def.Identifier)
	if err != nil {
		return nil, err
	}
	if !sameColumns(s.schema, def.Schema) {
		return nil, fmt.Errorf("table %s has other columns than when the statement was planned; run it again", def.Identifier)
	}
	return &table{store: s}, nil
}

// sameColumns reports whether two schemas have the same columns.
func sameColumns(a, b types.Schema) bool {
	return slices.EqualFunc(a.Columns, b.Columns, func(x, y types.Column) bool {
		return x.Name == y.Name && x.Type.Equal(y.Type)
	})
}

// table is an opened table; closing it leaves the rows where they are.
type table struct {
	store *Store
	held  bool // by the streaming job that writes the table as long as it has it open
}

var (
	_ connector.Scannable  = (*table)(nil)
	_ connector.Writable   = (*table)(nil)
	_ connector.Upserter   = (*table)(nil)
	_ connector.Overwriter = (*table)(nil)
	_ connector.Modifiable = (*table)(nil)
	_ connector.Truncater  = (*table)(nil)
)

// CheckOverwrite returns nil: any table in memory can be overwritten, by one swap.
func (t *table) CheckOverwrite(context.Context) error { return nil }

func (t *table) Source(_ context.Context, scan connector.Scan) (connector.Source, error) {
	return t.store.Source(scan)
}

func (t *table) Transaction(_ context.Context, insert connector.Insert) (connector.Transaction, error) {
	tx, err := t.store.Transaction(insert)
	return t.opened(tx), err
}

// opened notes of a transaction by which opened table it is made.
func (t *table) opened(tx *Transaction) *Transaction {
	if tx != nil {
		tx.table = t
	}
	return tx
}

func (t *table) Upsert(_ context.Context, u connector.Upsert) (connector.Transaction, error) {
	tx, err := t.store.Upsert(u)
	return t.opened(tx), err
}

// CheckEpochs notes the job at the table, which cannot be dropped or altered until the job closes it: between
// two checkpoints no transaction is open.
func (t *Transaction) CheckEpochs(ctx context.Context) error {
	if t.table == nil {
		return nil
	}
	s := t.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone != "" {
		return fmt.Errorf("table %s %s", s.id, s.gone)
	}
	if !t.table.held {
		t.table.held = true
		s.writers[t.table] = connector.ScopeOf(ctx).Job.ID
	}
	return nil
}

// Close ends the use of the table.
func (t *table) Close() error {
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	if t.held {
		delete(t.store.writers, t)
		t.held = false
	}
	return nil
}
