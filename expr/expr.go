package expr

import (
	"time"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// Span is the place of an expression in the text it came from: Source counts the texts of the job
// (0 is the statement, others are views), Start and End are byte offsets. The zero Span is no place.
type Span struct {
	Source     uint16
	Start, End uint32
}

// Error is an error of an expression, at planning or at run time. Session makes file:line:column and
// the caret of it.
type Error struct {
	Span Span
	Msg  string
	Hint string
	// Row is the physical row of the batch at hand, or -1 when the error is not a row's.
	Row int
}

// Error returns the message and the hint.
func (e *Error) Error() string {
	if e.Hint != "" {
		return e.Msg + " (" + e.Hint + ")"
	}
	return e.Msg
}

// Expr is a typed expression.
type Expr interface {
	Type() types.Type
	Span() Span
}

// Column is a reference to a column of the input by position.
type Column struct {
	Index int
	Name  string // for printing only
	T     types.Type
	At    Span
}

// Literal is a constant: a vector of exactly one row, never changed.
type Literal struct {
	Value *column.Vector
	At    Span
}

// Call is a call of a scalar function, its arguments already of the types that the kernel takes.
type Call struct {
	Func *Function
	Args []Expr
	T    types.Type
	At   Span
}

// Cast is CAST(arg AS T), or TRY_CAST when Try is set. Implicit marks a cast that the binder added. Exact
// marks the one by which a value is stored in a column: text that would be cut, decimals that would be
// rounded and a time that would lose digits are an error there.
type Cast struct {
	Arg      Expr
	T        types.Type
	Try      bool
	Implicit bool
	Exact    bool
	At       Span
}

// Type returns the column's type.
func (c *Column) Type() types.Type { return c.T }

// Span returns the reference's place.
func (c *Column) Span() Span { return c.At }

// Type returns the literal's type, NOT NULL unless the value is NULL.
func (l *Literal) Type() types.Type { return l.Value.Type }

// Span returns the literal's place.
func (l *Literal) Span() Span { return l.At }

// Type returns the call's result type.
func (c *Call) Type() types.Type { return c.T }

// Span returns the call's place.
func (c *Call) Span() Span { return c.At }

// Type returns the target type.
func (c *Cast) Type() types.Type { return c.T }

// Span returns the cast's place.
func (c *Cast) Span() Span { return c.At }

// Env is what evaluation may know of the world.
type Env struct {
	Now time.Time // start instant of the job
	// Clock tells what time it is, for CURRENT_ROW_TIMESTAMP and PROCTIME; nil: Now for good.
	Clock func() time.Time
	Zone  *time.Location // table.local-time-zone
	Seed  uint64         // of RAND and UUID; tasks that run side by side each have their own
	// Grow, when there is one, is told of the memory that the texts take which functions make, as it grows; it
	// stays theirs for the next batch. An error of it, best an *Error of no row, becomes that of the evaluation.
	Grow func(bytes int64) error
}
