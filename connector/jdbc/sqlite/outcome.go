package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// proof is what tells, after a COMMIT whose error leaves it open, whether the rows are in the file: the
// table's own statement and row count when the transaction made the table, else the rowids it used.
type proof struct {
	sql        string
	last, rows int64
}

// collectProof notes, in the open transaction, what a commit would leave.
func (t *Transaction) collectProof() error {
	t.proof.rows = t.stored
	if t.target.Create != nil {
		sql, err := t.conn.Text("SELECT sql FROM main.sqlite_schema WHERE name = ?1", t.target.Table)
		t.proof.sql = sql
		if err == nil && t.mayDrop() {
			t.proof.rows, err = t.conn.Int("SELECT count(*) FROM main." + Quote(t.target.Table))
		}
		return err
	}
	t.proof.last = t.conn.LastRowid()
	return nil
}

// look opens the file anew, which lets SQLite roll back what was not committed, and looks for the proof.
// An error means that it cannot be told.
func (t *Transaction) look(ctx context.Context) (found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	c, err := Open(t.target.Store.Path, Write)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	err = retryBusy(ctx, c.Path, func() error { return c.Exec("BEGIN") })
	if err == nil {
		err = retryBusy(ctx, c.Path, func() error { return touch(c) })
	}
	if err != nil {
		return false, err
	}
	table := "main." + Quote(t.target.Table)
	if t.target.Create != nil {
		rows, err := c.Rows("SELECT sql FROM main.sqlite_schema WHERE name = ?1", t.target.Table)
		if err != nil || len(rows) == 0 || rows[0][0] != t.proof.sql {
			return false, err
		}
		n, err := c.Int("SELECT count(*) FROM " + table)
		if err == nil && n != t.proof.rows {
			err = fmt.Errorf("table %s has %d rows, %d were written", t.target.Table, n, t.proof.rows)
		}
		return err == nil, err
	}
	if t.proof.rows == 0 {
		return false, nil
	}
	if t.info == nil || t.info.Rowid == "" || t.mayDrop() {
		return false, errors.New("the table has no new rowids to look for")
	}
	id := Quote(t.info.Rowid)
	n, err := c.Int("SELECT count(*) FROM "+table+" WHERE "+id+" = ?1", t.proof.last)
	if err != nil || n == 0 {
		return false, err
	}
	if t.proof.rows < 2 {
		return false, errors.New("a row of that rowid is there, which another writer may have made")
	}
	// Rows that go to the end of a table have rowids in sequence; another writer's do not reach as far.
	n, err = c.Int("SELECT count(*) FROM "+table+" WHERE "+id+" BETWEEN ?1 AND ?2", t.proof.last-t.proof.rows+1, t.proof.last)
	if err == nil && n != t.proof.rows {
		err = errors.New("the rows that are there do not tell")
	}
	return err == nil, err
}
