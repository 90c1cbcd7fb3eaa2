package mysql

import (
	"context"
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/types"
)

// Table is an opened table or view.
type Table struct {
	s      *Server
	t      *table
	schema types.Schema
}

var (
	_ connector.Scannable      = (*Table)(nil)
	_ connector.FilterPushDown = (*Table)(nil)
	_ connector.Writable       = (*Table)(nil)
	_ connector.Overwriter     = (*Table)(nil)
	_ connector.Truncater      = (*Table)(nil)
	_ connector.Upserter       = (*Table)(nil)
	_ connector.Modifiable     = (*Table)(nil)
)

// OpenTable opens a table, whose columns are matched by name and read as schema types them.
func (s *Server) OpenTable(ctx context.Context, database, name string, schema types.Schema) (connector.Table, error) {
	t := &Table{s: s, schema: schema}
	err := s.with(ctx, "", func(c *conn) (err error) {
		t.t, err = c.present(ctx, database, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Close has nothing to close: sources and transactions have sessions of their own.
func (t *Table) Close() error { return nil }

// Source returns a new source of the table, which shares the snapshot of its job's others.
func (t *Table) Source(ctx context.Context, scan connector.Scan) (connector.Source, error) {
	src, err := newSource(t.s, t.t, t.schema, scan)
	if err != nil {
		return nil, err
	}
	src.snap = t.s.snapshotOf(ctx)
	src.snap.join(src)
	return src, nil
}

// PushFilter reports whether the server would apply a conjunct with the same result.
func (t *Table) PushFilter(e expr.Expr) bool {
	_, ok := (&pushed{table: t.t, schema: t.schema}).condition(e)
	return ok
}

// writable says why the table takes no rows in a transaction.
func (t *table) writable(ctx context.Context, c *conn) error {
	if t.view() {
		return fmt.Errorf("%s is a view of MySQL; it cannot be written", t.name)
	}
	if strings.EqualFold(t.engine, "InnoDB") {
		return nil
	}
	transactional, err := c.value(ctx, "SELECT TRANSACTIONS FROM information_schema.ENGINES WHERE ENGINE = "+literal(t.engine))
	if err != nil || transactional.text == "YES" {
		return err
	}
	return fmt.Errorf("table %s has the engine %s, which has no transactions: a write that fails would leave some of its rows; ALTER TABLE %s ENGINE = InnoDB on the server makes it one that can be written", t.name, t.engine, quote(t.name))
}

// targets are the columns of an INSERT, as they are and as the server has them.
func (t *Table) targets(positions []int) ([]target, error) {
	list := make([]target, len(positions))
	for i, at := range positions {
		c := t.schema.Columns[at]
		had := t.t.column(c.Name)
		switch {
		case had == nil:
			return nil, fmt.Errorf("table %s has no column %s", t.t.name, c.Name)
		case had.generated:
			return nil, fmt.Errorf("table %s: column %s is computed by MySQL and cannot be written", t.t.name, c.Name)
		}
		var err error
		if list[i], err = newTarget(c, had); err != nil {
			return nil, fmt.Errorf("table %s, column %s (%s): %w", t.t.name, c.Name, had.text, err)
		}
	}
	return list, nil
}

// Transaction returns a new transaction that inserts rows.
func (t *Table) Transaction(ctx context.Context, insert connector.Insert) (connector.Transaction, error) {
	w, err := t.work(ctx, insert.Columns)
	if err != nil {
		return nil, err
	}
	if insert.Overwrite {
		if err := t.CheckOverwrite(ctx); err != nil {
			return nil, err
		}
		w.overwrite = true
	}
	if mode := t.s.option("sink.on-conflict"); mode != "" {
		if w.conflict, err = t.onConflict(w.columns, mode == "ignore"); err != nil {
			return nil, fmt.Errorf("'sink.on-conflict' = '%s': %w", mode, err)
		}
		w.ignore = mode == "ignore"
	}
	return w, nil
}

// work is a transaction on the table's own rows.
func (t *Table) work(ctx context.Context, positions []int) (*work, error) {
	if t.t.view() {
		return nil, fmt.Errorf("%s is a view of MySQL; it cannot be written", t.t.name)
	}
	columns, err := t.targets(positions)
	if err != nil {
		return nil, err
	}
	return &work{session: session{s: t.s, database: t.t.database, name: t.t.name}, table: t.t, columns: columns}, nil
}

// CheckOverwrite refuses a table whose rows cannot go without a trace elsewhere.
func (t *Table) CheckOverwrite(ctx context.Context) error {
	return t.s.with(ctx, "", func(c *conn) error {
		if err := t.t.writable(ctx, c); err != nil {
			return err
		}
		links, err := c.linksTo(ctx, t.t.database, t.t.name)
		if err != nil {
			return err
		}
		triggers, err := c.triggers(ctx, t.t.database, t.t.name, "DELETE")
		if err != nil {
			return err
		}
		if all := append(links, triggers...); len(all) > 0 {
			return fmt.Errorf("the rows of table %s cannot be replaced as a whole: removing the old ones would touch %s", t.t.name, strings.Join(all, ", "))
		}
		return nil
	})
}

// Truncate removes all rows by the server's own TRUNCATE TABLE, which is atomic with InnoDB.
func (t *Table) Truncate(ctx context.Context) error {
	return t.s.with(ctx, "", func(c *conn) error {
		if err := t.t.writable(ctx, c); err != nil {
			return err
		}
		now, err := c.present(ctx, t.t.database, t.t.name)
		if err != nil {
			return err
		}
		if now.view() {
			return fmt.Errorf("%s is a view of MySQL; it cannot be written", t.t.name)
		}
		if err = c.change(ctx, "table "+t.t.name+" was truncated", "TRUNCATE TABLE "+qualified(t.t.database, t.t.name)); numberOf(err) == 1701 {
			return fmt.Errorf("table %s: foreign keys of other tables lead to it, so that it is not truncated: DELETE FROM it: %w", t.t.name, err)
		}
		return err
	})
}
