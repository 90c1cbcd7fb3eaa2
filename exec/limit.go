package exec

import (
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/job"
)

// limit lets count rows pass after it has skipped offset rows, then stops what feeds it.
type limit struct {
	stateless
	skip, left int64 // left is -1 without a limit
	sel        []uint16
	out        column.Batch
}

var _ operator = (*limit)(nil)

func newLimit(spec *job.Limit) *limit { return &limit{skip: spec.Offset, left: spec.Count} }

func (l *limit) process(b *column.Batch, out emit) error {
	if l.left == 0 {
		return done{l}
	}
	rows := int64(b.Rows())
	from := min(l.skip, rows)
	l.skip -= from
	to := rows
	if l.left >= 0 {
		to = from + min(rows-from, l.left)
		l.left -= to - from
	}
	if from < to {
		if from > 0 || to < rows {
			b = window(b, int(from), int(to), &l.sel, &l.out)
		}
		if err := out(b); err != nil {
			return err
		}
	}
	if l.left == 0 {
		return done{l}
	}
	return nil
}

// window returns a batch of the selected rows from (included) to to (excluded) of b, sharing its vectors.
// sel and w are the memory it is made in.
func window(b *column.Batch, from, to int, sel *[]uint16, w *column.Batch) *column.Batch {
	*w = *b
	if b.Sel != nil {
		w.Sel = b.Sel[from:to]
		return w
	}
	if len(b.Cols) == 0 && b.Kind == nil {
		w.N = to - from
		return w
	}
	s := (*sel)[:0]
	for i := from; i < to; i++ {
		s = append(s, uint16(i))
	}
	*sel = s
	w.Sel = s
	return w
}
