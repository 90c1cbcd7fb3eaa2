package sqlparse

// Limits keep every later stage safe: what is parsed can be walked recursively,
// and positions fit 32 bits. An error names the limit that a text goes over.
const (
	// MaxStatement is the longest statement, in bytes.
	MaxStatement = 64 << 20
	// MaxLiteral is the longest string or binary literal, in bytes.
	MaxLiteral = 16 << 20
	// MaxDepth is how deep parentheses, subqueries, types and prefix operators nest.
	MaxDepth = 1000
	// MaxChain is how many operators stand one above the other in a tree: the
	// longest a + b + c …, UNION or JOIN chain, or x[1][1] ….
	MaxChain = 100_000
	// MaxColumns is how many columns a table, a select list, a row or a list of names has.
	MaxColumns = 10_000
)
