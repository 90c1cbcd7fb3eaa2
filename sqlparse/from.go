package sqlparse

// Alias is [AS] name [(columns)].
type Alias struct {
	Pos
	Name    Ident
	Columns []Ident
}

// Table is a table or view by name.
type Table struct {
	Pos
	Name   ObjectName
	Hints  []Hint       // t /*+ OPTIONS(…) */
	AsOf   Expr         // FOR SYSTEM_TIME AS OF; nil: none
	Sample *TableSample // nil: none
	Alias  *Alias       // nil: none
}

// TableSample is TABLESAMPLE {BERNOULLI|SYSTEM} (percent) [REPEATABLE (seed)].
type TableSample struct {
	Pos
	System  bool
	Percent *Literal
	Seed    *Literal // nil: none
}

// DerivedTable is [LATERAL] (query) [alias].
type DerivedTable struct {
	Pos
	Lateral bool
	Query   Query
	Alias   *Alias // nil: none
}

// Unnest is UNNEST(expr, …) [WITH ORDINALITY] [alias].
type Unnest struct {
	Pos
	Args       []Expr
	Ordinality bool
	Alias      *Alias // nil: none
}

// TableFunc is [LATERAL] TABLE(f(…)) [alias], or the call without TABLE( ).
type TableFunc struct {
	Pos
	Lateral bool
	Call    *Call
	Alias   *Alias // nil: none
}

// JoinKind is the kind of a Join.
type JoinKind uint8

// The kinds of joins.
const (
	CommaJoin JoinKind = iota
	CrossJoin
	InnerJoin
	LeftJoin
	RightJoin
	FullJoin
)

// Join is left JOIN right. Chains lean to the left.
type Join struct {
	Pos
	Kind        JoinKind
	Natural     bool
	Left, Right TableExpr
	On          Expr    // nil: none
	Using       []Ident // nil: none
}

func (*Table) tableExpr()        {}
func (*DerivedTable) tableExpr() {}
func (*Unnest) tableExpr()       {}
func (*TableFunc) tableExpr()    {}
func (*Join) tableExpr()         {}
