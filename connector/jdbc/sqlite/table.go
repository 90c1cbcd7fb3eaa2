package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/types"
)

// Table is an opened table or view of a file.
type Table struct {
	store  *Store
	info   *TableInfo
	schema types.Schema
	idle   *Conn // keeps the write-ahead log of a file that a streaming job writes; nil: none
}

// OpenTable opens a table, whose columns are read and written as schema says.
func (s *Store) OpenTable(ctx context.Context, name string, schema types.Schema) (*Table, error) {
	c, err := s.open(Read)
	if err != nil {
		return nil, err
	}
	defer c.interruptOn(ctx)()
	var info *TableInfo
	err = retryBusy(ctx, s.Path, func() error {
		info, err = s.Describe(c, name, false)
		return err
	})
	if err = errors.Join(err, c.Close()); err != nil {
		return nil, err
	}
	if info == nil {
		return nil, &AbsentError{name, s.Path}
	}
	return &Table{store: s, info: info, schema: schema}, nil
}

// AbsentError says that a file has no table of a name.
type AbsentError struct{ Table, Path string }

// Error names the table and the file.
func (e *AbsentError) Error() string {
	return fmt.Sprintf("table %s does not exist in %s", e.Table, e.Path)
}

// Close ends the use of the table; its sources and transactions have their own connections.
func (t *Table) Close() error {
	c := t.idle
	t.idle = nil
	if c == nil {
		return nil
	}
	return c.Close()
}

// Source returns a new source of the table. Sources made with a context of one scope see one snapshot.
func (t *Table) Source(ctx context.Context, scan connector.Scan) (connector.Source, error) {
	return newSource(ctx, t.store, t.info, t.schema, scan)
}

// PushFilter reports whether SQLite would apply a conjunct with the same result.
func (t *Table) PushFilter(e expr.Expr) bool {
	p := &pushed{info: t.info, schema: t.schema, store: t.store, next: 3}
	_, ok := p.condition(e)
	return ok
}

// Transaction returns a new transaction that inserts rows.
func (t *Table) Transaction(_ context.Context, insert connector.Insert) (connector.Transaction, error) {
	return t.transaction(insert, false)
}

// FirstRows returns a new transaction that inserts the rows of a table which has none.
func (t *Table) FirstRows(insert connector.Insert) (connector.Transaction, error) {
	return t.transaction(insert, true)
}

func (t *Table) transaction(insert connector.Insert, empty bool) (connector.Transaction, error) {
	if t.info.View {
		return nil, fmt.Errorf("%s is a view of SQLite; it cannot be written", t.info.Name)
	}
	cols := make([]types.Column, len(insert.Columns))
	for i, at := range insert.Columns {
		cols[i] = t.schema.Columns[at]
		had, ok := t.info.column(cols[i].Name)
		if empty && !ok {
			return nil, &connector.ColumnError{Column: cols[i].Name, Msg: fmt.Sprintf("table %s of %s has no column %s", t.info.Name, t.store.Path, connector.QuoteName(cols[i].Name))}
		}
		if ok && had.Generated {
			return nil, fmt.Errorf("table %s: column %s is computed by SQLite and cannot be written", t.info.Name, cols[i].Name)
		}
		if fault := writeFault(cols[i].Type, affinityOf(had.Declared)); fault != "" {
			return nil, fmt.Errorf("table %s, column %s (declared %s): %s", t.info.Name, cols[i].Name, had.Declared, fault)
		}
	}
	tx := NewTransaction(Target{Store: t.store, Table: t.info.Name, Columns: cols, Empty: empty, Overwrite: insert.Overwrite, ReadsSame: insert.ReadsSame, ReadsTarget: insert.ReadsTarget})
	tx.table = t
	if tx.mayDrop() {
		return tx, t.info.replaceable(cols)
	}
	return tx, nil
}

// CheckEmpty returns an error when the table has rows.
func (t *Table) CheckEmpty(ctx context.Context) error {
	c, err := t.store.open(Read)
	if err != nil {
		return err
	}
	defer c.interruptOn(ctx)()
	err = retryBusy(ctx, t.store.Path, func() error { return isEmpty(c, t.info.Name) })
	return errors.Join(err, c.Close())
}

// Declared returns the declared type of a column, "" when it has none.
func (t *Table) Declared(column string) string {
	c, _ := t.info.column(column)
	return c.Declared
}

// writeFault says why values of t cannot go into a column of an affinity unaltered, "" when they can. What
// depends on the value is checked at its row.
func writeFault(t types.Type, a affinity) string {
	if _, reason := DeclaredType(t); reason != "" {
		return reason
	}
	number := t.IsInteger() || t.Kind == types.Boolean || t.IsFloat()
	if number && a == affinityText {
		return "SQLite would turn " + t.AsNullable().String() + " values into text; CAST them to STRING"
	}
	if (t.IsInteger() || t.Kind == types.Boolean) && a == affinityReal {
		return "SQLite would turn " + t.AsNullable().String() + " values into REAL; CAST them to DOUBLE"
	}
	return ""
}
