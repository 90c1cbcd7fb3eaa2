package connector

import (
	"context"

	"github.com/sluice-sql/sluice/types"
)

// Overwriter is a Writable that honours Insert.Overwrite.
type Overwriter interface {
	// CheckOverwrite returns why the rows of this very table cannot be replaced as a whole; it has no side effect.
	CheckOverwrite(ctx context.Context) error
}

// Truncater is a Table of which TRUNCATE TABLE removes all rows.
type Truncater interface {
	// Truncate removes all rows, all or nothing. Cancel is heard until it takes effect.
	Truncate(ctx context.Context) error
}

// Modifiable is a Table of which UPDATE and DELETE change single rows in place.
type Modifiable interface {
	Scannable
	// RowKey says how a row is told from the others while a Modify transaction is open. An error says why it
	// cannot be, such as that the table has no PRIMARY KEY.
	RowKey(ctx context.Context) (RowKey, error)
	// Modify returns a transaction that changes rows. Its Begin keeps others from changing the table, or makes
	// sure at Seal that they have not: the job reads the table after Begin. Its Writer takes dense batches of the
	// key columns' values as they were read, then the new values of the columns set. Seal fails unless the rows
	// changed are as many as those written; what it returns is their number.
	Modify(ctx context.Context, m Modify) (Transaction, error)
}

// RowKey is what tells a row of a table from all others.
type RowKey struct {
	// Columns are the positions of the columns of a key that holds no NULL.
	Columns []int
	// Rowid is the type of a column that the store has beside those of the schema, and that takes the place of
	// Columns when those are nil. A Scan asks for it as the position after the last of the schema.
	Rowid types.Type
	// RowidName is what users know it by, for messages; empty where it means nothing to them.
	RowidName string
}

// Modify says what is done with the rows written to a transaction.
type Modify struct {
	// Set are the positions of the columns that get new values; nil: the rows are deleted.
	Set []int
}
