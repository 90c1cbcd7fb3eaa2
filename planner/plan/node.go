package plan

import "github.com/sluice-sql/sluice/types"

// Node is an operation that gives rows.
type Node interface {
	// Schema names and types the columns of the rows.
	Schema() types.Schema
	// Children are the inputs, in the order of their columns.
	Children() []Node
	// WithChildren returns the same operation over other inputs that have the same columns.
	WithChildren(children []Node) Node
	// Describe returns the operation and its properties, one line of EXPLAIN.
	Describe() string
}

// Width returns the number of columns of a node.
func Width(n Node) int { return len(n.Schema().Columns) }

// Walk calls f for n and everything below it, parents first.
func Walk(n Node, f func(Node)) {
	f(n)
	for _, c := range n.Children() {
		Walk(c, f)
	}
}
