package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/types"
)

var (
	_ connector.Writable   = (*Table)(nil)
	_ connector.Overwriter = (*Table)(nil)
	_ connector.Truncater  = (*Table)(nil)
)

// Locks that a write takes on its table until the end. Both let others read; rowsLock lets them write, too.
const (
	rowsLock  = "ROW EXCLUSIVE"
	tableLock = "SHARE ROW EXCLUSIVE"
)

// insert puts rows into a table that is there.
type insert struct {
	table     *Table
	columns   []writePlan
	stored    []*columnInfo  // those of columns, as planned
	typed     []types.Column // columns as their values come
	overwrite bool
	conflict  string
	info      *tableInfo // since Begin
	load      *load
	merge     *merge
}

// Transaction returns a new transaction that inserts rows.
func (t *Table) Transaction(ctx context.Context, in connector.Insert) (connector.Transaction, error) {
	w := &insert{table: t, typed: t.typed(in.Columns), overwrite: in.Overwrite, conflict: t.server.onConflict()}
	var err error
	if w.stored, w.columns, err = t.written(in.Columns); err != nil {
		return nil, err
	}
	if err := w.checkKey(t.info); err != nil {
		return nil, err
	}
	if in.Overwrite {
		if err := t.CheckOverwrite(ctx); err != nil {
			return nil, err
		}
	}
	return &Transaction{server: t.server, database: t.database, work: w}, nil
}

// checkKey makes sure that there is a key by which rows can replace others or give way to them.
func (w *insert) checkKey(info *tableInfo) error {
	switch {
	case w.conflict == "":
		return nil
	case len(info.key) == 0:
		return errNoKeyFor(info.rel.String(), w.conflict)
	}
	return info.replaceable(w.typed)
}

// typed are columns of the schema, given by their positions.
func (t *Table) typed(positions []int) []types.Column {
	list := make([]types.Column, len(positions))
	for i, at := range positions {
		list[i] = t.schema.Columns[at]
	}
	return list
}

// written says how values go into columns, given by their positions in the schema.
func (t *Table) written(positions []int) ([]*columnInfo, []writePlan, error) {
	if err := t.info.writable(); err != nil {
		return nil, nil, err
	}
	stored, plans := make([]*columnInfo, len(positions)), make([]writePlan, len(positions))
	for i, at := range positions {
		c, err := t.column(at)
		if err != nil {
			return nil, nil, err
		}
		if stored[i] = c; err == nil {
			plans[i], err = planWrite(c, t.schema.Columns[at].Type)
		}
		if err != nil {
			return nil, nil, &ColumnError{Column: c.name, Msg: fmt.Sprintf("table %s: %s", t.info.rel, err)}
		}
	}
	return stored, plans, nil
}

// writable says why a relation takes no rows in a transaction.
func (t *tableInfo) writable() error {
	switch t.kind {
	case view, materialised:
		return fmt.Errorf("%s is a %s of PostgreSQL; it cannot be written", t.rel, kindName(t.kind))
	case foreignTable:
		return fmt.Errorf("%s is a foreign table, whose rows another server keeps; a write would not be all or nothing with that one", t.rel)
	}
	return nil
}

// hold takes a lock on the table, which stays until the end, and makes sure that the columns are what was planned for.
func (t *Table) hold(ctx context.Context, c *conn, mode string, columns []*columnInfo) (*tableInfo, error) {
	rel := t.info.rel
	err := c.locked(ctx, rel.String(), func(ctx context.Context) error {
		_, err := c.exec(ctx, "SAVEPOINT "+rowsTable+"; LOCK TABLE "+rel.sql()+" IN "+mode+" MODE; RELEASE SAVEPOINT "+rowsTable)
		if code(err) == codeNoRight {
			return c.holdColumns(ctx, rel, mode, err)
		}
		return err
	})
	switch {
	case code(err) == codeNoTable:
		return nil, fmt.Errorf("table %s: %w", rel, server.ErrNotThere)
	case err != nil:
		return nil, err
	}
	now, err := c.describe(ctx, rel)
	switch {
	case err != nil:
		return nil, err
	case now == nil:
		return nil, fmt.Errorf("table %s: %w", rel, server.ErrNotThere)
	}
	if err := now.writable(); err != nil {
		return nil, err
	}
	for _, planned := range columns {
		is := now.column(planned.name)
		if is == nil || is.stored != planned.stored || is.readOnly() != planned.readOnly() {
			return nil, fmt.Errorf("table %s: column %s was altered or dropped by another session since the statement was planned", rel, planned.name)
		}
	}
	return now, nil
}

// holdColumns is what is left to a user to whom LOCK was refused, as he has no right to the whole table. An INSERT that is
// prepared takes the lock of one, too, without a look at rights; those to the columns are looked at when the rows come.
func (c *conn) holdColumns(ctx context.Context, rel relation, mode string, refused error) error {
	if _, err := c.exec(ctx, "ROLLBACK TO SAVEPOINT "+rowsTable); err != nil {
		return err
	}
	right := "INSERT"
	if mode == tableLock {
		right = "UPDATE"
	}
	some, err := c.one(ctx, "SELECT pg_catalog.has_any_column_privilege($1::pg_catalog.regclass, $2)", rel.sql(), right)
	switch {
	case err != nil:
		return err
	case some != "t":
		return refused
	case mode == tableLock:
		return fmt.Errorf("table %s: this keeps others from writing to the table, for which user %s needs UPDATE, DELETE or TRUNCATE of the whole table, and not of some columns: %w", rel, c.s.config.User, refused)
	}
	_, err = c.exec(ctx, "PREPARE "+rowsTable+" AS INSERT INTO "+rel.sql()+" DEFAULT VALUES; DEALLOCATE "+rowsTable+"; RELEASE SAVEPOINT "+rowsTable)
	return err
}

func (w *insert) begin(ctx context.Context, t *Transaction, _ connector.JobID) (err error) {
	mode := rowsLock
	if w.overwrite {
		mode = tableLock
	}
	if w.info, err = w.table.hold(ctx, t.c, mode, w.stored); err != nil {
		return err
	}
	rel := w.info.rel
	if w.overwrite {
		if err := t.c.removeAll(ctx, w.info); err != nil {
			return err
		}
	}
	// What COPY does not do is left to INSERT.
	if w.conflict == "" && len(w.info.rules) == 0 && !w.info.secured {
		w.load = &load{name: rel.sql(), relation: rel.name, columns: w.columns, table: rel.String()}
		return nil
	}
	if err := w.checkKey(w.info); err != nil {
		return err
	}
	w.merge = &merge{into: rel.sql(), key: w.info.key, keyName: w.info.keyName, columns: w.columns, conflict: w.conflict}
	w.load, err = w.merge.prepare(ctx, t.c, rel.String())
	return err
}

func (w *insert) write(ctx context.Context, t *Transaction, next func() (*column.Batch, error)) error {
	return t.c.copyIn(ctx, w.load, next)
}

func (w *insert) seal(ctx context.Context, t *Transaction) (int64, error) {
	stored := w.load.stored
	if w.merge != nil {
		var err error
		if stored, err = w.merge.run(ctx, t.c); err != nil {
			return 0, err
		}
	}
	if w.conflict == "" && stored != w.load.sent {
		return 0, lostRows(w.load.sent-stored, w.load.sent, "stored", w.info)
	}
	return stored, nil
}

// CheckOverwrite refuses a table the removal of whose rows would change others, or would leave some.
func (t *Table) CheckOverwrite(ctx context.Context) error {
	if err := t.info.writable(); err != nil {
		return err
	}
	return t.server.with(ctx, t.database, func(c *conn) error { return c.checkEmptying(ctx, t.info) })
}

func (c *conn) checkEmptying(ctx context.Context, t *tableInfo) error {
	if t.secured {
		return fmt.Errorf("table %s has row-level security, which may hide rows from user %s; not all its rows can be removed", t.rel, c.s.config.User)
	}
	list, err := c.texts(ctx, `SELECT n.nspname OPERATOR(pg_catalog.||) '.' OPERATOR(pg_catalog.||) f.relname OPERATOR(pg_catalog.||) ' (FOREIGN KEY … ON DELETE ' OPERATOR(pg_catalog.||) CASE k.confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' ELSE 'SET DEFAULT' END OPERATOR(pg_catalog.||) ')'
FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class f ON f.oid = k.conrelid JOIN pg_catalog.pg_namespace n ON n.oid = f.relnamespace
WHERE k.confrelid = $1::pg_catalog.oid AND k.conrelid <> k.confrelid AND k.contype = 'f' AND k.confdeltype IN ('c', 'n', 'd') AND k.conparentid = '0' ORDER BY 1`, t.oid)
	if err != nil {
		return err
	}
	if len(list) > 0 {
		return fmt.Errorf("the rows of table %s cannot all be removed, since that would change rows of others that refer to it: %s; change those first, or DELETE FROM the table", t.rel, strings.Join(list, ", "))
	}
	return nil
}

// removeAll removes the rows of a table that is locked. Rows that others refer to are an error, unless the reference
// is checked at the end and those that they refer to are there again by then.
func (c *conn) removeAll(ctx context.Context, t *tableInfo) error {
	if err := c.checkEmptying(ctx, t); err != nil {
		return err
	}
	if _, err := c.exec(ctx, "SET CONSTRAINTS ALL DEFERRED"); err != nil {
		return err
	}
	_, err := c.exec(ctx, "DELETE FROM "+t.rel.sql())
	var e *Error
	if errors.As(err, &e) && !e.fatal {
		return fmt.Errorf("the rows of table %s cannot all be removed: %s", t.rel, wordConstraint(e))
	}
	if err != nil || len(t.triggers) == 0 && len(t.rules) == 0 {
		return err
	}
	left, err := c.one(ctx, "SELECT count(*) FROM "+t.rel.sql())
	if err == nil && left != "0" {
		err = fmt.Errorf("%s rows of table %s were not removed%s", left, t.rel, t.hooks())
	}
	return err
}

// Truncate removes all rows by the server's own TRUNCATE, in one transaction. A reader whose snapshot is older finds
// the table empty, too, as PostgreSQL says of it.
func (t *Table) Truncate(ctx context.Context) error {
	if err := t.info.writable(); err != nil {
		return err
	}
	return t.server.change(ctx, t.database, func(c *conn) error {
		rel := t.info.rel
		if _, kind, _, err := c.find(ctx, rel); err != nil {
			return err
		} else if kind != ordinary && kind != partitioned {
			return fmt.Errorf("table %s: %w", rel, server.ErrNotThere)
		}
		err := c.locked(ctx, rel.String(), func(ctx context.Context) error {
			_, err := c.exec(ctx, "TRUNCATE TABLE "+rel.sql())
			return err
		})
		switch code(err) {
		case codeNoTable:
			return fmt.Errorf("table %s: %w", rel, server.ErrNotThere)
		case codeNotSupported:
			return fmt.Errorf("table %s: foreign keys of other tables lead to it, so that PostgreSQL does not truncate it; DELETE FROM it instead: %w", rel, err)
		}
		return err
	})
}
