package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluice-sql/sluice/connector"
)

var (
	_ connector.EpochChecker = (*Transaction)(nil)
	_ connector.Patient      = (*Transaction)(nil)
)

// readersTurn is the time in which this process does not write a file after a COMMIT that has kept new readers
// out in vain. It is longer than the pauses of SQLite's own busy handler, in which they look again.
const readersTurn = 250 * time.Millisecond

// WaitAtMost makes Begin and Commit give up early, so that a COMMIT that waits for a reader does not keep all
// others out for long.
func (t *Transaction) WaitAtMost(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.patience = d
	s := *t.target.Store
	s.CommitWait = d
	t.target.Store = &s
}

// within returns the context of a wait for others.
func (t *Transaction) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if t.patience == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, t.patience, errCommitWait)
}

// busy makes a *connector.BusyError of an error that says that others hold the file, where a new transaction
// is to come. Nothing has been committed.
func (t *Transaction) busy(err error) error {
	if t.patience == 0 || !errors.Is(err, errCommitWait) && !isBusy(err) {
		return err
	}
	who := ""
	var l *LockedError
	if errors.As(err, &l) {
		who = l.Holder
	}
	if who == "" {
		who = holder(t.target.Store.Path)
	}
	if who == "" {
		who = " by another process"
	}
	return &connector.BusyError{Held: "database " + t.target.Store.Path + ", locked" + who, Err: err}
}

// keepLog opens a connection to a file with a write-ahead log, for as long as the table is open. The last
// connection that closes removes the log, and keeps readers out while it does; without this one that would be
// so after each checkpoint.
func (t *Transaction) keepLog(ctx context.Context) error {
	if t.table == nil || t.table.idle != nil || absent(t.target.Store.Path) {
		return nil
	}
	c, err := t.target.Store.open(Read)
	if err != nil {
		return err
	}
	mode := ""
	err = retryBusy(ctx, c.Path, func() error {
		if mode, err = c.Text("PRAGMA main.journal_mode"); err == nil {
			err = touch(c)
		}
		return err
	})
	if err != nil || mode != "wal" {
		return errors.Join(err, c.Close())
	}
	t.table.idle = c
	return nil
}

// checkKey refuses a primary key by which SQLite takes different texts for the same.
func (t *Transaction) checkKey(ctx context.Context) error {
	return t.target.Store.Read(ctx, func(c *Conn) error { return binaryKey(c, t.target.Table) })
}

func binaryKey(c *Conn, table string) error {
	rows, err := c.Rows(`SELECT x.name, x.coll FROM pragma_index_list(?1, 'main') AS l, pragma_index_xinfo(l.name, 'main') AS x
		WHERE l.origin = 'pk' AND x.key = 1 AND x.coll <> 'BINARY'`, table)
	if err != nil || len(rows) == 0 {
		return err
	}
	return fmt.Errorf("table %s: column %s of the PRIMARY KEY has COLLATE %s, so that SQLite takes different texts for one key; rows cannot be replaced by it", table, rows[0][0], rows[0][1])
}

// CheckEpochs refuses a primary key that does not tell texts apart, and a streaming job that reads the file it writes, unless the file has a write-ahead log:
// with a rollback journal nothing can be committed while anybody reads, and the job reads all the time.
func (t *Transaction) CheckEpochs(ctx context.Context) error {
	if t.target.Key != nil {
		if err := t.checkKey(ctx); err != nil {
			return err
		}
	}
	if !t.target.ReadsSame {
		return t.keepLog(ctx)
	}
	road, err := t.chooseRoad(ctx)
	if err != nil {
		return err
	}
	if road == direct {
		return t.keepLog(ctx)
	}
	return fmt.Errorf("a streaming job cannot read and write %s, which has a rollback journal: write to another file, "+
		"give this one a write-ahead log with PRAGMA journal_mode = WAL, or SET 'execution.runtime-mode' = 'batch'", t.target.Store.Path)
}
