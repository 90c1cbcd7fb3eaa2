package connector

import "context"

// Creator is a Factory whose tables CREATE TABLE AS can fill where the catalog keeps the definition only. The
// rows are all that the table has then: where there is data already it is refused.
type Creator interface {
	Factory
	// CheckCreate says what would become of the rows of a CREATE TABLE AS. It has no side effect. What
	// stands in the way is an *OptionError, a *ColumnError or another error.
	CheckCreate(ctx context.Context, def TableDef, insert Insert, env *Env) (*Creation, error)
	// Create returns the transaction that writes the first rows of a table; nothing happens before its
	// Begin. Begin fails and Commit is NotDone when the table has data of others.
	Create(ctx context.Context, def TableDef, insert Insert, env *Env) (Transaction, error)
}

// Creation says how the rows of a CREATE TABLE AS are kept.
type Creation struct {
	Stored []string // of each column of the insert, how it is kept
	Reason string   // why it is all or nothing, or not, in a clause
	Notes  []string
	// Visible says that it is not: rows can be seen as they are written.
	Visible bool
}
