package sqlparse

// QueryStatement is a query run as a statement.
type QueryStatement struct {
	Pos
	Query Query
}

// QueryExpr adds WITH, ORDER BY, OFFSET and LIMIT to a query. FETCH FIRST n ROWS
// ONLY is Limit, LIMIT ALL is no limit. It exists only where at least one of the
// clauses does.
type QueryExpr struct {
	Pos
	With    []CommonTable
	Body    Query
	OrderBy []OrderItem
	Offset  *Literal // NumberLiteral; nil: none
	Limit   *Literal // NumberLiteral; nil: none
}

// CommonTable is one name [(columns)] AS (query) of WITH.
type CommonTable struct {
	Pos
	Name    Ident
	Columns []Ident
	Query   Query
}

// OrderItem is expr [ASC|DESC] [NULLS {FIRST|LAST}].
type OrderItem struct {
	Pos
	Expr  Expr
	Desc  bool
	Nulls NullsOrder
}

// NullsOrder says where NULLs sort.
type NullsOrder uint8

// The places for NULLs.
const (
	NullsDefault NullsOrder = iota // not written
	NullsFirst
	NullsLast
)

// SetOpKind is UNION, INTERSECT or EXCEPT.
type SetOpKind uint8

// The set operations.
const (
	Union SetOpKind = iota
	Intersect
	Except
)

// SetOp combines two queries. Chains lean to the left.
type SetOp struct {
	Pos
	Kind        SetOpKind
	All         bool
	Left, Right Query
}

// Values is VALUES (1, 'a'), (2, 'b').
type Values struct {
	Pos
	Rows []ValuesRow
}

// ValuesRow is one row of VALUES.
type ValuesRow struct {
	Pos
	Items []Expr
}

// TableQuery is TABLE t, short for SELECT * FROM t.
type TableQuery struct {
	Pos
	Name ObjectName
}

func (*QueryStatement) statement()   {}
func (*QueryStatement) Form() string { return "SELECT" }
func (*QueryExpr) query()            {}
func (*SetOp) query()                {}
func (*Values) query()               {}
func (*TableQuery) query()           {}
