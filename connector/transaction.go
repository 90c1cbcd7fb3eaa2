package connector

import (
	"context"
	"errors"

	"github.com/sluice-sql/sluice/column"
)

// Outcome is what became of a commit.
type Outcome uint8

// The outcomes of a commit.
const (
	Done    Outcome = iota // committed, durable and visible
	NotDone                // certainly not committed; nothing of it is visible or ever will be
	Unknown                // cannot be known yet; nothing may be dropped
)

// Transaction is the one contract that every write goes through; a catalog's StagedTable is one.
//
// The order of calls is Begin, then any number of Writers, then Seal, then Commit; Abort may take the
// place of any call after Begin has been entered, whether or not Begin succeeded. After an error of a
// Writer or of Seal only Abort may follow. Commit and Abort are repeatable.
type Transaction interface {
	// Key names the store written to (SQLite: file identity; server: url and user). Sinks of one job
	// with the same key share one Transaction.
	Key() string
	// Begin takes the lock that shows the owner alive and makes the invisible staging. It touches
	// nothing that others can see. A wait for a lock ends when ctx does.
	Begin(ctx context.Context, job JobID) error
	// Writer returns the writer of one sink subtask; at most one may be in use at a time for a store
	// that has a single writer.
	Writer(ctx context.Context, subtask int) (Writer, error)
	// Seal makes everything written ready to be published, checks that the store kept every row, and
	// returns their number. It is the last point at which a cancel is heard.
	Seal(ctx context.Context) (rows int64, err error)
	// Commit publishes in one atomic, conditional, durable step. The error explains NotDone and Unknown; with Done
	// it tells of something that the user has to see to.
	Commit(ctx context.Context) (Outcome, error)
	// Abort removes the staging and nothing else.
	Abort(ctx context.Context) error
}

// Settled returns the answer to a Commit that has one before anything is tried: that of the Commit before it, or why
// there is nothing to commit. It is for transactions that keep how they ended, out, and the first error.
func Settled(sealed, ended bool, out Outcome, err error) (_ Outcome, _ error, ok bool) {
	switch {
	case ended && out == Done:
		return Done, nil, true
	case ended && out == Unknown:
		return Unknown, err, true
	case err != nil:
		return NotDone, err, true
	case !sealed || ended:
		return NotDone, errors.New("the transaction is not sealed"), true
	}
	return 0, nil, false
}

// Writer stores rows within a Transaction. It is all-or-poisoned: after an error every later call
// returns the first error.
type Writer interface {
	// Write stores every batch that next yields until it yields nil; batches are dense. It pulls, so
	// that a store which wants to run one statement over all rows can. An error of next is returned as
	// it is, after which the writer is poisoned. Cancel is heard between batches, through next.
	Write(ctx context.Context, next func() (*column.Batch, error)) error
	Close() error
}

// Evident is a Transaction of a store at a distance, whose Commit may go without an answer. What it notes before
// is evidence by which the outcome can be asked for later, by another process if need be, see catalog.Resolver.
type Evident interface {
	// NoteEvidence is called before Begin. Commit calls note, with a text without secrets, before the store
	// can have committed; when that fails the outcome is NotDone. What is noted later takes the place of it.
	NoteEvidence(note func(evidence string) error)
}

// ErrUntold says that nobody can tell any more what became of a commit: what its evidence is of is gone.
var ErrUntold = errors.New("it will not be known any more")
