package sqlparse

// Call is a function call. The name of a call written without back-quotes is in
// upper case. Calls with a syntax of their own have these arguments:
//
//	EXTRACT(unit FROM x)                  EXTRACT [Symbol, x]
//	FLOOR(x TO unit), CEIL(x TO unit)     FLOOR [x, Symbol]; CEILING is CEIL
//	TIMESTAMPADD(unit, n, x)              TIMESTAMPADD [Symbol, n, x]; likewise TIMESTAMPDIFF
//	TRIM([BOTH|LEADING|TRAILING] [c] FROM x)  TRIM [Symbol, c, x] or [Symbol, x]; TRIM(x) is [x]
//	SUBSTRING(x FROM a [FOR b])           SUBSTRING [x, a, b]
//	POSITION(a IN b [FROM n])             POSITION [a, b, n]
//	OVERLAY(a PLACING b FROM n [FOR m])   OVERLAY [a, b, n, m]
//	CURRENT_DATE and its like             no arguments, NoParens set
//
// The JSON functions with clauses of their own are *JSONCall.
type Call struct {
	Pos
	Name     ObjectName
	NoParens bool
	Star     bool // COUNT(*)
	Distinct bool
	Args     []Expr
	// OrderBy is the ORDER BY inside the parentheses: ARRAY_AGG(x ORDER BY y).
	OrderBy []OrderItem
	// IgnoreNulls and RespectNulls are the null treatment of LAG, FIRST_VALUE, ….
	IgnoreNulls, RespectNulls bool
	WithinGroup               []OrderItem
	Filter                    Expr    // nil: none
	Over                      *Window // nil: not a window function
}

// FuncName returns the name of a call without a path, else "".
func (c *Call) FuncName() string {
	if len(c.Name.Parts) != 1 {
		return ""
	}
	return c.Name.Parts[0].Name
}

// Symbol is a keyword used as an argument: a time unit (DAY, always in
// singular), or BOTH, LEADING, TRAILING.
type Symbol struct {
	Pos
	Name string
}

// NamedArg is an argument written name => value.
type NamedArg struct {
	Pos
	Name  Ident
	Value Expr
}

// DefaultArg is DEFAULT as an argument.
type DefaultArg struct{ Pos }

// Descriptor is DESCRIPTOR(a, b): names of columns as an argument.
type Descriptor struct {
	Pos
	Columns []Ident
}

// TableArg is a table as an argument of a table function: TABLE t or a query
// in parentheses, with optional PARTITION BY and ORDER BY.
type TableArg struct {
	Pos
	Query       Query // *TableQuery for TABLE t
	PartitionBy []Expr
	OrderBy     []OrderItem
}

// Window is a window specification: OVER (…), OVER w, or WINDOW w AS (…).
// With only Base set, and Parens false, it is a mere reference OVER w.
type Window struct {
	Pos
	Base        *Ident
	Parens      bool
	PartitionBy []Expr
	OrderBy     []OrderItem
	Frame       *Frame
}

// Frame is {ROWS|RANGE} BETWEEN Start AND End; End is nil when only a start was
// written (it then is CURRENT ROW).
type Frame struct {
	Pos
	Range bool
	Start FrameBound
	End   *FrameBound
}

// FrameBoundKind is the kind of a FrameBound.
type FrameBoundKind uint8

// The kinds of frame bounds.
const (
	UnboundedPreceding FrameBoundKind = iota
	OffsetPreceding
	CurrentRow
	OffsetFollowing
	UnboundedFollowing
)

// FrameBound is one end of a Frame; Offset is set for the two Offset kinds.
type FrameBound struct {
	Pos
	Kind   FrameBoundKind
	Offset Expr
}

func (*Call) expr()       {}
func (*Symbol) expr()     {}
func (*NamedArg) expr()   {}
func (*DefaultArg) expr() {}
func (*Descriptor) expr() {}
func (*TableArg) expr()   {}
