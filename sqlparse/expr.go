package sqlparse

// ColumnRef is a name or a dotted path of names: a, t.a, c.d.t.a or, where a is
// a ROW, a.f; which it is only resolving can tell.
type ColumnRef struct {
	Pos
	Parts []Ident
}

// Field is x.f where x is not a plain path: (x).f, f(x).y, a[1].b.
type Field struct {
	Pos
	X    Expr
	Name Ident
}

// Star is * or t.* in a select list. X is nil except for (x).* and f(x).*,
// the fields of a ROW.
type Star struct {
	Pos
	Qualifier []Ident
	X         Expr
}

// Index is x[i]: element of an ARRAY, value of a MAP.
type Index struct {
	Pos
	X, I Expr
}

// Op is an operator of Unary, Binary or Quantified.
type Op uint8

// The operators.
const (
	OpOr Op = iota
	OpAnd
	OpNot
	OpEq
	OpNe
	OpLt
	OpLe
	OpGt
	OpGe
	OpIsDistinct    // IS DISTINCT FROM
	OpIsNotDistinct // IS NOT DISTINCT FROM
	OpOverlaps      // periods: (start, end) OVERLAPS (start, end)
	OpContains
	OpPeriodEquals
	OpPrecedes
	OpSucceeds
	OpImmediatelyPrecedes
	OpImmediatelySucceeds
	OpMemberOf
	OpSubmultisetOf
	OpAdd
	OpSub
	OpMul
	OpDiv
	OpMod
	OpConcat
	OpAtTimeZone
	OpPlus  // unary
	OpMinus // unary
)

// Unary is NOT x, +x or -x.
type Unary struct {
	Pos
	Op Op
	X  Expr
}

// Binary is an operator between two operands. Chains lean to the left and may
// be MaxHeight long; Operands flattens one.
type Binary struct {
	Pos
	Op          Op
	Left, Right Expr
}

// Is is the test x IS [NOT] NULL, TRUE, JSON VALUE, ….
type Is struct {
	Pos
	X    Expr
	Not  bool
	Test IsTest
}

// IsTest is what an Is asks.
type IsTest uint8

// The tests after IS.
const (
	IsNull IsTest = iota
	IsTrue
	IsFalse
	IsUnknown
	IsJSONValue // IS JSON, IS JSON VALUE
	IsJSONObject
	IsJSONArray
	IsJSONScalar
	IsASet
	IsEmpty
)

// Between is x [NOT] BETWEEN [SYMMETRIC] low AND high.
type Between struct {
	Pos
	X         Expr
	Not       bool
	Symmetric bool
	Low, High Expr
}

// In is x [NOT] IN (a, b, …) or x [NOT] IN (query): one of List and Query is set.
type In struct {
	Pos
	X     Expr
	Not   bool
	List  []Expr
	Query Query
}

// Like is x [NOT] LIKE pattern [ESCAPE e], or SIMILAR TO.
type Like struct {
	Pos
	X       Expr
	Not     bool
	Similar bool
	Pattern Expr
	Escape  Expr // nil: none
}

// Quantified is x op {ANY|ALL} (query). SOME is ANY. List is set instead of
// Query for x op ANY (a, b).
type Quantified struct {
	Pos
	X     Expr
	Op    Op
	All   bool
	Query Query
	List  []Expr
}

// Exists is EXISTS (query).
type Exists struct {
	Pos
	Query Query
}

// Subquery is a query in parentheses used as a value.
type Subquery struct {
	Pos
	Query Query
}

// Row is a row constructor: ROW(a, b) or (a, b). Explicit is set for ROW(…).
type Row struct {
	Pos
	Explicit bool
	Items    []Expr
}

// CollectionKind is the kind of a Collection.
type CollectionKind uint8

// The kinds of collections.
const (
	ArrayCollection CollectionKind = iota
	MapCollection
	MultisetCollection
)

// Collection is ARRAY[a, b], MAP[k, v, k, v] or MULTISET[a, b]; with Query set,
// ARRAY(query), MAP(query) or MULTISET(query).
type Collection struct {
	Pos
	Kind  CollectionKind
	Items []Expr
	Query Query
}

// Case is CASE [operand] WHEN … THEN … [ELSE …] END.
type Case struct {
	Pos
	Operand Expr // nil: searched CASE
	Whens   []When
	Else    Expr // nil: none
}

// When is one WHEN … THEN … of a Case. Conds holds more than one only for a
// CASE with an operand: WHEN 1, 2 THEN ….
type When struct {
	Pos
	Conds []Expr
	Then  Expr
}

// Cast is CAST(x AS type) or TRY_CAST(x AS type).
type Cast struct {
	Pos
	Try  bool
	X    Expr
	Type TypeName
}

func (*ColumnRef) expr()  {}
func (*Field) expr()      {}
func (*Star) expr()       {}
func (*Index) expr()      {}
func (*Unary) expr()      {}
func (*Binary) expr()     {}
func (*Is) expr()         {}
func (*Between) expr()    {}
func (*In) expr()         {}
func (*Like) expr()       {}
func (*Quantified) expr() {}
func (*Exists) expr()     {}
func (*Subquery) expr()   {}
func (*Row) expr()        {}
func (*Collection) expr() {}
func (*Case) expr()       {}
func (*Cast) expr()       {}
