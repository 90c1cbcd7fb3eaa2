package connector

import (
	"context"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/expr"
)

// Status says what a reader has after a Read.
type Status uint8

// The statuses of a reader.
const (
	More Status = iota // there may be more at once
	Idle               // nothing now; unbounded sources only
	End                // the split set is read to its end
)

// Split is a numbered part of a source's rows. Splits are numbered from 0 in source order: every
// gather restores that order.
type Split struct {
	ID    int
	State []byte // what the source needs to read it
}

// Source reads one table once, all its readers from one snapshot.
type Source interface {
	Bounded() bool
	// Splits cuts the rows into numbered morsels for about parallelism readers at a time and fixes the
	// snapshot they all see. A source that can serve but one reader returns one split.
	Splits(ctx context.Context, parallelism int) ([]Split, error)
	// Reader returns a reader of the given splits, in order. At most the parallelism given to Splits
	// are open at a time.
	Reader(ctx context.Context, splits []Split) (Reader, error)
	// Close ends the snapshot; all readers are closed before.
	Close() error
}

// Reader reads the rows of a set of splits. It is used by one goroutine.
type Reader interface {
	// Read makes b the next rows: it either fills b's own vectors, at most column.DefaultRows rows, or
	// sets b.Cols to vectors that never change again and b.Shared to true. It returns within 100 ms
	// with what it has, at once when ctx ends. Rows returned together with End count.
	Read(ctx context.Context, b *column.Batch) (Status, error)
	// Position is the state after the last returned row, for a checkpoint.
	Position() []byte
	Close() error
}

// Scan says what of a table is wanted. The result's columns are Columns in order.
type Scan struct {
	// Columns are the positions, in the table's schema, of the columns wanted; may be empty when only
	// the number of rows matters.
	Columns []int
	// Filters are conjuncts over the table's schema (column positions of the whole schema) that the
	// table said it can apply; rows they exclude need not be returned. They are applied again by the engine.
	Filters []expr.Expr
	// Limit is the most rows wanted, or -1.
	Limit int64
}
