package exec

import (
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/types"
)

// singleRow makes exactly one row of its input, as a scalar subquery does: NULLs when there is none, an
// error when there are more. It keeps the row.
type singleRow struct {
	at  expr.Span
	row *column.Batch

	memory *memory
}

var _ operator = (*singleRow)(nil)

func newSingleRow(spec *job.SingleRow, out []types.Type, m *memory) *singleRow {
	return &singleRow{at: spec.At, row: column.NewBatch(out, 1), memory: m}
}

func (s *singleRow) process(b *column.Batch, _ emit) error {
	if s.row.N+b.Rows() > 1 {
		return &Error{Span: s.at, Row: -1, Msg: "the scalar subquery returned more than one row",
			Hint: "add LIMIT 1, or an aggregate"}
	}
	if err := s.memory.hold(rowBytes(b.Cols, b.Sel, b.N)); err != nil {
		return err
	}
	s.row.AppendBatch(b)
	return nil
}

func (s *singleRow) finish(out emit) error {
	if s.row.N == 0 {
		for _, c := range s.row.Cols {
			c.AppendNull()
		}
		s.row.N = 1
	}
	return out(s.row)
}

func (s *singleRow) close() { s.memory.free() }
