package connector

import (
	"context"
	"time"
)

// Bounded is a Table that says, before it is read, whether its rows have an end. A table that does not say
// is bounded. It is what execution.runtime-mode 'automatic' goes by.
type Bounded interface {
	Bounded() bool
}

// Watcher is a Source to which parts are added while it is read. Such a source ends only with its job,
// whatever its Bounded says; each Reader of it ends with its splits.
type Watcher interface {
	// Discover returns the splits that have come since Splits or the last Discover, nil for none. It is
	// called every 100 ms or so, between two Reads, from the goroutine that reads, and touches the store
	// as often as the source's own interval wants. Its splits are read after all that are known.
	Discover(ctx context.Context) ([]Split, error)
}

// Upserter is a Table whose rows can be replaced and deleted by a key.
type Upserter interface {
	// Upsert returns a new transaction whose Writer takes dense batches with at most one row for each
	// key in the whole transaction, those to delete before the others: +I and +U insert the row, or replace the one with its key; -D
	// deletes the row with its key, if there is one (its other columns may have any value).
	Upsert(ctx context.Context, upsert Upsert) (Transaction, error)
}

// Upsert says how rows are put into a table by key.
type Upsert struct {
	// Columns are the positions, in the table's schema, of the batches' columns.
	Columns []int
	// Key are the positions, in the batches' columns, of the key.
	Key []int
	// ReadsSame is that of Insert.
	ReadsSame bool
}

// ChangelogWritable is a Table that takes changes as they are.
type ChangelogWritable interface {
	// Changelog returns a new transaction whose Writer takes dense batches of all row kinds, in order.
	Changelog(ctx context.Context, insert Insert) (Transaction, error)
}

// EpochChecker is a Transaction that knows when its store cannot be written by a streaming job.
type EpochChecker interface {
	// CheckEpochs is called on the first transaction of a streaming job instead of Begin, before anything is
	// read. An error refuses the job: the store could not take one transaction after the other while the
	// job goes on reading.
	CheckEpochs(ctx context.Context) error
}

// Patient is a Transaction of a store that others use, too, and that keeps them out while it waits for them.
type Patient interface {
	// WaitAtMost is called before Begin. Begin and Commit then wait no longer than d for others, each; what
	// they end with is a *BusyError, of Commit with the outcome NotDone. The caller aborts the transaction,
	// which lets the others in, and writes the same rows with a new one.
	WaitAtMost(d time.Duration)
}

// BusyError says that a store was not written, certainly, and only because others use it: a new transaction
// may have its turn later.
type BusyError struct {
	Held string // what is held and by whom, such as "database shop.db, locked by another process (process 12)"
	Err  error
}

// Error is the error met.
func (e *BusyError) Error() string { return e.Err.Error() }

// Unwrap returns the error met.
func (e *BusyError) Unwrap() error { return e.Err }
