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

// CheckEpochs refuses a streaming job that reads the file it writes, unless the file has a write-ahead log: with a
// rollback journal nothing can be committed while anybody reads, and the job reads all the time.
func (t *Transaction) CheckEpochs(ctx context.Context) error {
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
