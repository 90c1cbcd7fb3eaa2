package catalog

import (
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// ChangeKind says what a TableChange changes.
type ChangeKind uint8

// The kinds of changes, each with the fields of TableChange that it uses beside Kind.
const (
	// AddColumn: Column, Type, Value (its comment), Position; Virtual for one that is not physical.
	AddColumn ChangeKind = iota
	// DropColumn: Column.
	DropColumn
	// RenameColumn: Column, NewName.
	RenameColumn
	// ModifyColumnType: Column, Type, of a physical or metadata column. It also changes NOT NULL.
	ModifyColumnType
	// ModifyColumnExpr: Column, Virtual: a computed or metadata column is another one from now on. Where a
	// physical column becomes a virtual one, or the reverse, it is dropped and added.
	ModifyColumnExpr
	// ModifyColumnPosition: Column, Position.
	ModifyColumnPosition
	// ModifyColumnComment: Column, Value.
	ModifyColumnComment
	// AddPrimaryKey and DropPrimaryKey: Key is the constraint's name. The columns are those of the new table.
	AddPrimaryKey
	DropPrimaryKey
	// AddWatermark, ModifyWatermark and DropWatermark: the watermark is the new table's.
	AddWatermark
	ModifyWatermark
	DropWatermark
	// SetOption: Key, Value.
	SetOption
	// ResetOption: Key.
	ResetOption
	// ModifyComment: Value, of the table.
	ModifyComment
	// AddDistribution, ModifyDistribution and DropDistribution: the distribution is the new table's.
	AddDistribution
	ModifyDistribution
	DropDistribution
	// ModifyQuery: a view's query is the new one's, and with it the columns.
	ModifyQuery
)

// TableChange is one step from an old definition to a new one; see ChangeKind for the fields that count.
// Steps follow each other: a column renamed by one is known to the next by its new name.
type TableChange struct {
	Kind    ChangeKind
	Column  string
	NewName string
	Key     string
	Value   string
	Type    types.Type
	// Position is the column's index among all declared columns once this step is done.
	Position int
	Virtual  *VirtualColumn
}

// String describes the change for an error message, such as "DROP b" of ALTER TABLE.
func (c TableChange) String() string {
	q := connector.QuoteName
	switch c.Kind {
	case AddColumn:
		return "ADD " + q(c.Column)
	case DropColumn:
		return "DROP " + q(c.Column)
	case RenameColumn:
		return "RENAME " + q(c.Column) + " TO " + q(c.NewName)
	case ModifyColumnType, ModifyColumnExpr, ModifyColumnPosition, ModifyColumnComment:
		return "MODIFY " + q(c.Column)
	case AddPrimaryKey:
		return "ADD PRIMARY KEY"
	case DropPrimaryKey:
		return "DROP PRIMARY KEY"
	case AddWatermark:
		return "ADD WATERMARK"
	case ModifyWatermark:
		return "MODIFY WATERMARK"
	case DropWatermark:
		return "DROP WATERMARK"
	case SetOption:
		return "SET ('" + c.Key + "')"
	case ResetOption:
		return "RESET ('" + c.Key + "')"
	case AddDistribution:
		return "ADD DISTRIBUTION"
	case ModifyDistribution:
		return "MODIFY DISTRIBUTION"
	case DropDistribution:
		return "DROP DISTRIBUTION"
	case ModifyQuery:
		return "AS"
	}
	return "COMMENT"
}

// ChangeError says that a store cannot do one of the changes of an ALTER TABLE; nothing has been changed.
type ChangeError struct {
	Index int // in the list of changes
	Msg   string
}

// Error returns the message.
func (e *ChangeError) Error() string { return e.Msg }
