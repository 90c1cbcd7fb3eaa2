package hooks

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
)

// JobStatusHook is called as a job changes state. Exactly one of OnFinished (returning Done or
// Unknown), OnFailed and OnCanceled is the last call; OnFinished that returns NotDone is followed by
// OnFailed.
type JobStatusHook interface {
	// OnCreated runs before any task starts.
	OnCreated(ctx context.Context, job connector.JobID) error
	// OnFinished runs when all tasks have ended and the transaction is sealed.
	OnFinished(ctx context.Context) (connector.Outcome, error)
	// OnFailed runs when the job has failed with cause, also when OnCreated itself failed.
	OnFailed(ctx context.Context, cause error) error
	// OnCanceled runs when the job was canceled.
	OnCanceled(ctx context.Context) error
	// Transaction is what the sink tasks of the hook write through.
	Transaction() connector.Transaction
	// Close frees what Open took, without touching the target. It follows the last call, and may come
	// without any other; it is repeatable.
	Close() error
}

// Kind tells the hooks apart in a graph.
type Kind string

// The kinds of hook.
const (
	CreateTableAs Kind = "create-table-as"
	Insert        Kind = "insert"
	Modify        Kind = "modify" // UPDATE and DELETE
)

// Spec is the serialised form of a hook.
type Spec struct {
	Kind    Kind                       `json:"kind"`
	Catalog catalog.Ref                `json:"catalog"`
	Table   connector.ObjectIdentifier `json:"table"`
	// Properties is the flat property map of the table.
	Properties map[string]string `json:"properties"`
	// Purpose is that of the staged table; for CreateTableAs only.
	Purpose catalog.Purpose `json:"purpose,omitempty"`
	// Columns are the positions written, in the order of the rows; for Insert only.
	Columns []int `json:"columns,omitempty"`
	// ReadsSame says that the job also reads a table of the same store.
	ReadsSame bool `json:"readsSame,omitempty"`
	// ReadsTarget says that it reads the table whose rows it replaces, or perhaps does.
	ReadsTarget bool `json:"readsTarget,omitempty"`
	// Set are the positions of the columns that get new values, none where rows are deleted; for Modify only.
	Set []int `json:"set,omitempty"`
	// Overwrite says that the rows take the place of all that the table has; for Insert only.
	Overwrite bool `json:"overwrite,omitempty"`
}

// Open makes the hook of a spec. It has no side effect on the target.
func Open(ctx context.Context, spec Spec, in *catalog.Instances) (JobStatusHook, error) {
	c, err := in.Catalog(ctx, spec.Catalog)
	if err != nil {
		return nil, err
	}
	table, err := catalog.FromProperties(spec.Properties)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", spec.Table, err)
	}
	switch spec.Kind {
	case CreateTableAs:
		path := catalog.ObjectPath{Database: spec.Table.Database, Object: spec.Table.Object}
		staged, err := c.Stage(ctx, path, table, spec.Purpose, spec.ReadsSame)
		if err != nil {
			return nil, err
		}
		if s, ok := staged.(catalog.SelfReader); ok && spec.ReadsTarget {
			s.ReadsTarget()
		}
		return &hook{tx: staged}, nil
	case Insert:
		t, err := in.Registry.Table(ctx, c, spec.Table, table)
		if err != nil {
			return nil, err
		}
		w, ok := t.(connector.Writable)
		if !ok {
			return nil, errors.Join(fmt.Errorf("table %s cannot be written", spec.Table), t.Close())
		}
		if _, ok := t.(connector.Overwriter); spec.Overwrite && !ok {
			return nil, errors.Join(fmt.Errorf("the rows of table %s cannot be replaced as a whole", spec.Table), t.Close())
		}
		tx, err := w.Transaction(ctx, connector.Insert{Columns: spec.Columns, ReadsSame: spec.ReadsSame, ReadsTarget: spec.ReadsTarget, Overwrite: spec.Overwrite})
		if err != nil {
			return nil, errors.Join(err, t.Close())
		}
		return &hook{tx: tx, table: t}, nil
	case Modify:
		t, err := in.Registry.Table(ctx, c, spec.Table, table)
		if err != nil {
			return nil, err
		}
		m, ok := t.(connector.Modifiable)
		if !ok {
			return nil, errors.Join(fmt.Errorf("the rows of table %s cannot be changed", spec.Table), t.Close())
		}
		tx, err := m.Modify(ctx, connector.Modify{Set: spec.Set})
		if err != nil {
			return nil, errors.Join(err, t.Close())
		}
		return &hook{tx: tx, table: t}, nil
	}
	return nil, fmt.Errorf("hook of unknown kind %q", spec.Kind)
}

// hook drives one transaction through the states of a job. The same code serves CREATE TABLE AS,
// whose transaction is a StagedTable, and what writes a table that is there.
type hook struct {
	tx    connector.Transaction
	table connector.Table // but of CREATE TABLE AS; closed when the job ends
}

func (h *hook) Transaction() connector.Transaction { return h.tx }

func (h *hook) OnCreated(ctx context.Context, job connector.JobID) error { return h.tx.Begin(ctx, job) }

func (h *hook) OnFinished(ctx context.Context) (connector.Outcome, error) { return h.tx.Commit(ctx) }

func (h *hook) OnFailed(ctx context.Context, _ error) error { return h.tx.Abort(ctx) }

func (h *hook) OnCanceled(ctx context.Context) error { return h.tx.Abort(ctx) }

func (h *hook) Close() error {
	if h.table == nil {
		return nil
	}
	t := h.table
	h.table = nil
	return t.Close()
}
