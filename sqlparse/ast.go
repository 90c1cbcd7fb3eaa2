package sqlparse

// Span is a range of bytes of the statement's text: [Start, End).
type Span struct{ Start, End int }

// Pos is embedded in every node and holds its span; a node that was not read
// from text has the zero Pos. Statements are at most 64 MiB, so 32 bits do.
type Pos struct{ start, end uint32 }

// At makes the Pos of a node that stands for the given bytes.
func At(s Span) Pos { return Pos{uint32(s.Start), uint32(s.End)} }

// Span returns the bytes the node was read from.
func (p Pos) Span() Span { return Span{int(p.start), int(p.end)} }

// Node is any part of a statement that has a position and can be printed.
type Node interface {
	Span() Span
	print(*printer)
	// children calls visit for every direct child that is a Query, TableExpr,
	// Expr or TypeName (or Statement, in EXPLAIN and statement sets), about in
	// the order of the text.
	children(visit func(Node))
}

// Statement is one SQL statement. The statement table ([Forms]) lists them.
type Statement interface {
	Node
	// Form names the statement's line in [Forms], such as "CREATE TABLE".
	Form() string
	statement()
}

// Query is something that gives rows: *Select, *SetOp, *Values, *TableQuery,
// or *QueryExpr, which adds WITH, ORDER BY, OFFSET and LIMIT to one of them.
type Query interface {
	Node
	query()
}

// TableExpr is something that can stand in FROM: *Table, *DerivedTable,
// *Unnest, *TableFunc, *Join, *MatchRecognize.
type TableExpr interface {
	Node
	tableExpr()
}

// Expr is a value expression. See the files expr_*.go for the node types.
type Expr interface {
	Node
	expr()
}

// TypeName is a data type as written: *ScalarType, *IntervalType, *ArrayType,
// *MultisetType, *MapType, *RowType, *StructuredType, *RawType, *NamedType.
type TypeName interface {
	Node
	// IsNotNull reports whether NOT NULL was written behind the type.
	IsNotNull() bool
	typeName()
}

// Ident is one name, without its back-quotes, in the spelling of the text.
type Ident struct {
	Pos
	Name string
}

// ObjectName is the path of a catalog object: [catalog.][database.]name.
type ObjectName struct {
	Pos
	Parts []Ident
}

// Last returns the last part, the object's own name.
func (n ObjectName) Last() Ident { return n.Parts[len(n.Parts)-1] }

// Option is one 'key' = 'value' of a WITH clause or an OPTIONS hint. Key and
// value are string literals with their own spans.
type Option struct {
	Pos
	Key, Value *Literal
}

// Options is a WITH ( … ) clause; its span starts at WITH (at SET, where ALTER
// … SET ( … ) has it). Nil where the
// clause is absent; the list may be empty.
type Options struct {
	Pos
	Items []Option
}

// Get returns the value of the last option with the given key.
func (o *Options) Get(key string) (string, bool) {
	if o == nil {
		return "", false
	}
	for i := len(o.Items) - 1; i >= 0; i-- {
		if o.Items[i].Key.Text == key {
			return o.Items[i].Value.Text, true
		}
	}
	return "", false
}
