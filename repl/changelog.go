package repl

import (
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// changelog prints the rows of a changelog: their kinds are a column of their own, op, in front of the others,
// whatever the format is. Each row is printed as it comes, so that a table's columns have the widths of their
// types.
type changelog struct{ printer }

// opColumn is the name of the column of the kinds.
const opColumn = "op"

func (c changelog) begin(s types.Schema) error {
	with := types.Schema{Columns: append([]types.Column{{Name: opColumn, Type: types.String()}}, s.Columns...)}
	return c.printer.begin(with)
}

func (c changelog) batch(b *column.Batch) error {
	op := column.NewBatch([]types.Type{types.String()}, b.N).Cols[0]
	for i := range b.N {
		kind := types.Insert
		if b.Kind != nil {
			kind = b.Kind[i]
		}
		op.AppendString(kind.String())
	}
	rows := *b
	rows.Cols = append([]*column.Vector{op}, b.Cols...)
	return c.printer.batch(&rows)
}

func (c changelog) cutValues() int64 {
	if p, ok := c.printer.(cutter); ok {
		return p.cutValues()
	}
	return 0
}

// typeWidth is how wide the values of a type may be, by which the columns of a changelog are set; texts and
// whatever else has no end take most. Flink has the same widths.
func typeWidth(t types.Type, most int) int {
	fraction := func(whole, digits int) int {
		if digits == 0 {
			return whole
		}
		return whole + 1 + digits
	}
	switch t.Kind {
	case types.TinyInt:
		return 4
	case types.SmallInt:
		return 6
	case types.Int:
		return 11
	case types.BigInt:
		return 20
	case types.Decimal:
		if t.Scale == t.Precision { // 0.…
			return t.Precision + 3
		}
		return t.Precision + 2
	case types.Boolean:
		return 5
	case types.Date:
		return 10
	case types.Time:
		return fraction(8, t.Precision)
	case types.Timestamp, types.TimestampLTZ:
		return fraction(19, t.Precision)
	}
	return most
}
