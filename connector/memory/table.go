package memory

import (
	"context"
	"fmt"

	"github.com/sluice-sql/sluice/connector"
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
	same := len(s.schema.Columns) == len(def.Schema.Columns)
	for i := 0; same && i < len(s.schema.Columns); i++ {
		a, b := s.schema.Columns[i], def.Schema.Columns[i]
		same = a.Name == b.Name && a.Type.Equal(b.Type)
	}
	if !same {
		return nil, fmt.Errorf("table %s has other columns than when the statement was planned; run it again", def.Identifier)
	}
	return &table{s}, nil
}

// table is an opened table; closing it leaves the rows where they are.
type table struct{ store *Store }

var (
	_ connector.Scannable = (*table)(nil)
	_ connector.Writable  = (*table)(nil)
	_ connector.Upserter  = (*table)(nil)
)

func (t *table) Source(_ context.Context, scan connector.Scan) (connector.Source, error) {
	return t.store.Source(scan)
}

func (t *table) Transaction(_ context.Context, insert connector.Insert) (connector.Transaction, error) {
	return t.store.Transaction(insert)
}

func (t *table) Upsert(_ context.Context, u connector.Upsert) (connector.Transaction, error) {
	return t.store.Upsert(u)
}

func (t *table) Close() error { return nil }
