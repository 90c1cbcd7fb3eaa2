package exec

import (
	"github.com/sluice-sql/sluice/connector"
)

// reserveStep is the least that is reserved at once, so that the budget's lock is rarely taken.
const reserveStep = 256 << 10

// Names of operators that keep rows, as errors call them.
const (
	OperatorSort      = "ORDER BY"
	OperatorJoin      = "the join"
	OperatorAggregate = "the aggregation"
	OperatorFunctions = "what functions make"
)

// memory is one operator's share of the budget. What it holds is given back by free.
type memory struct {
	budget   *connector.Memory
	operator string // for the error
	held     int64
}

// hold makes the reservation cover size bytes.
func (m *memory) hold(size int64) error {
	if m.budget == nil || size <= m.held {
		return nil
	}
	want := size - m.held
	if err := m.budget.Reserve(max(want, reserveStep)); err == nil {
		m.held += max(want, reserveStep)
		return nil
	}
	if err := m.budget.Reserve(want); err != nil {
		return outOfMemory(m.operator, err)
	}
	m.held += want
	return nil
}

// fit gives back what is held beyond size, but for a little.
func (m *memory) fit(size int64) {
	if more := m.held - size - reserveStep; m.budget != nil && more > reserveStep {
		_ = m.budget.Reserve(-more) // giving back cannot fail
		m.held -= more
	}
}

// free gives everything back.
func (m *memory) free() {
	if m.budget != nil && m.held > 0 {
		_ = m.budget.Reserve(-m.held) // giving back cannot fail
	}
	m.held = 0
}
