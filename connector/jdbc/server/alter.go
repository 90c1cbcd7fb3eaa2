package server

import (
	"context"

	"github.com/sluice-sql/sluice/types"
)

// StepKind says what a Step changes.
type StepKind uint8

// The kinds of steps, each with the fields of Step that it uses beside Kind.
const (
	AddColumn     StepKind = iota // Column, Comment
	DropColumn                    // Column.Name
	RenameColumn                  // Column.Name, NewName
	CommentColumn                 // Column.Name, Comment
	CommentTable                  // Comment
)

// Step is one change of a table's definition. Steps follow each other: a column renamed by one is known to the
// next by its new name.
type Step struct {
	Kind    StepKind
	Column  types.Column
	NewName string
	Comment string
}

// Alterer is a Server that changes the definition of a table.
type Alterer interface {
	// AlterTable takes all steps or none. expect says whether the table is still the one that the steps are for;
	// it is called before anything is changed, while no other session can change the table where the server can
	// see to that. Else it is ErrChanged, and ErrNotThere where there is no table. A step that the server
	// refuses is a *StepError.
	AlterTable(ctx context.Context, database, table string, steps []Step, expect func(*TableInfo) bool) error
}

// StepError says which step a server refused.
type StepError struct {
	Index int
	Err   error
}

// Error is what the server says.
func (e *StepError) Error() string { return e.Err.Error() }

// Unwrap returns what the server says.
func (e *StepError) Unwrap() error { return e.Err }
