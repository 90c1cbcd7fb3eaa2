package job

import (
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/expr"
)

// Phase says which part of an aggregation a vertex does.
type Phase string

// The phases. Partial turns rows into keys and states (expr.Accumulator.StateTypes), possibly more
// than one row a group; Final merges such rows; Complete does the whole at once. Changelog is that of
// streaming jobs: it takes a stream of changes and makes one, in which each group has a row from its first
// input row to the removal of its last.
const (
	Partial   Phase = "partial"
	Final     Phase = "final"
	Complete  Phase = "complete"
	Changelog Phase = "changelog"
)

// Aggregate groups rows. Output columns are the keys, then one column an aggregate (Partial: its state
// columns). In phase Final the keys are the input's first columns and the states follow in order.
// Without Keys there is exactly one group, also for no rows; in phase Changelog there is none before the
// first row.
type Aggregate struct {
	Phase Phase  `json:"phase"`
	Keys  []Expr `json:"keys"`
	Aggs  []Agg  `json:"aggs"`
	// Retracting says that the input may take rows back (-U, -D); EmitBefore that whoever gets the rows
	// needs the -U before each +U. Both are for phase Changelog, in which a group whose row is the same as
	// before emits nothing: without Aggs there is no update at all.
	Retracting bool `json:"retracting,omitempty"`
	EmitBefore bool `json:"emitBefore,omitempty"`
}

// Op returns "aggregate".
func (*Aggregate) Op() string { return "aggregate" }

// Describe returns phase, keys and aggregates.
func (a *Aggregate) Describe() string {
	var parts []string
	if len(a.Keys) > 0 {
		parts = append(parts, "keys=["+describe(a.Keys)+"]")
	}
	if len(a.Aggs) > 0 {
		calls := make([]string, len(a.Aggs))
		for i, c := range a.Aggs {
			calls[i] = expr.AggString(c.AggCall)
		}
		parts = append(parts, "aggregates=["+strings.Join(calls, ", ")+"]")
	}
	if a.Retracting {
		parts = append(parts, "retracting")
	}
	if a.EmitBefore {
		parts = append(parts, "with -U")
	}
	return fmt.Sprintf("HashAggregate %s %s", a.Phase, strings.Join(parts, " "))
}
