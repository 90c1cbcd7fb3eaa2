package job

import (
	"fmt"

	"github.com/sluice-sql/sluice/connector"
)

// Sink writes its input through the transaction of a hook.
type Sink struct {
	Hook  int                        `json:"hook"` // position in Graph.Hooks
	Table connector.ObjectIdentifier `json:"table"`
	// NotNull are the input columns whose NULL fails the job, with table, column and row.
	NotNull []int    `json:"notNull,omitempty"`
	Names   []string `json:"names"` // the target columns, for errors
}

// Op returns "sink".
func (*Sink) Op() string { return "sink" }

// Describe returns the table.
func (s *Sink) Describe() string { return fmt.Sprintf("Sink %s", s.Table) }

// Collect hands its input to whoever started the job: the rows of a SELECT.
type Collect struct{}

// Op returns "collect".
func (*Collect) Op() string { return "collect" }

// Describe returns the name.
func (*Collect) Describe() string { return "Collect" }
