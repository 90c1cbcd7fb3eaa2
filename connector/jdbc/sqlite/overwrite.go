package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-sql/sluice/connector"
)

var (
	_ connector.Overwriter = (*Table)(nil)
	_ connector.Truncater  = (*Table)(nil)
)

// CheckOverwrite refuses a table whose rows cannot all be removed without rows of other tables going with them.
func (t *Table) CheckOverwrite(ctx context.Context) error {
	if t.info.View {
		return fmt.Errorf("%s is a view of SQLite; it cannot be written", t.info.Name)
	}
	return t.store.Read(ctx, func(c *Conn) error { return c.checkEmptying(t.info.Name) })
}

// Truncate removes all rows in one transaction. It waits for others as a write does.
func (t *Table) Truncate(ctx context.Context) error {
	if err := t.CheckOverwrite(ctx); err != nil {
		return err
	}
	tx := NewTransaction(Target{Store: t.store, Table: t.info.Name, Overwrite: true})
	tx.table = t
	err := tx.Begin(ctx, connector.JobID{})
	if err == nil {
		_, err = tx.Seal(ctx)
	}
	if err == nil {
		var out connector.Outcome
		if out, err = tx.Commit(ctx); out == connector.Unknown {
			return fmt.Errorf("it is not known whether the rows were removed, look before trying again: %w", err)
		}
	}
	if err != nil {
		// Nothing is left of a transaction that is rolled back.
		return errors.Join(err, tx.Abort(context.WithoutCancel(ctx)))
	}
	return nil
}

// checkEmptying refuses a table the removal of whose rows would change other tables.
func (c *Conn) checkEmptying(table string) error {
	refs, err := c.references(table)
	if err != nil {
		return err
	}
	var list []string
	for _, r := range refs {
		if changesOthers(r.onDelete) && !strings.EqualFold(r.table, table) {
			list = append(list, fmt.Sprintf("table %s (FOREIGN KEY … ON DELETE %s)", r.table, r.onDelete))
		}
	}
	if len(list) > 0 {
		return fmt.Errorf("the rows of table %s cannot all be removed, since that would change rows of others that refer to it: %s; change those first, or DELETE FROM the table", table, strings.Join(list, ", "))
	}
	return nil
}

func changesOthers(action string) bool {
	return slices.Contains([]string{"CASCADE", "SET NULL", "SET DEFAULT"}, action)
}

// removeAll removes the rows of the target in the open transaction of c. Rows that others refer to are an error at
// the end, unless their parents are there again by then.
func (t *Transaction) removeAll(ctx context.Context, c *Conn) error {
	if err := c.checkEmptying(t.target.Table); err != nil {
		return err
	}
	err := c.execUntil(ctx, "DELETE FROM main."+Quote(t.target.Table))
	if err != nil || len(t.info.Triggers) == 0 {
		return err
	}
	n, err := c.Int("SELECT count(*) FROM main." + Quote(t.target.Table))
	if err == nil && n > 0 {
		err = fmt.Errorf("%s of the rows of table %s were not removed; %s", groups(n), t.target.Table, t.info.triggerText())
	}
	return err
}
