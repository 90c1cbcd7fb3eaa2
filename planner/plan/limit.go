package plan

import (
	"fmt"

	"github.com/sluice-sql/sluice/types"
)

// Limit keeps Count rows (all when it is -1) after skipping Offset, in input order.
type Limit struct {
	Input  Node
	Count  int64
	Offset int64
}

// NewLimit returns a limit over in.
func NewLimit(in Node, count, offset int64) *Limit { return &Limit{in, count, offset} }

// Schema returns the input's columns.
func (l *Limit) Schema() types.Schema { return l.Input.Schema() }

// Children returns the input.
func (l *Limit) Children() []Node { return []Node{l.Input} }

// WithChildren returns the limit over another input.
func (l *Limit) WithChildren(c []Node) Node { return NewLimit(c[0], l.Count, l.Offset) }

// Describe returns the counts.
func (l *Limit) Describe() string {
	if l.Count < 0 {
		return fmt.Sprintf("Limit(offset=[%d])", l.Offset)
	}
	return fmt.Sprintf("Limit(offset=[%d], fetch=[%d])", l.Offset, l.Count)
}
