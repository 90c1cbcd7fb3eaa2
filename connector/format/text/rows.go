package text

import "github.com/sluice-sql/sluice/column"

// AppendRows appends the first rows of fields, which are by column, to empty vectors. At the first row with a
// value that its column, number at, does not take, it keeps the rows before and returns their number.
func AppendRows(columns []*Column, vectors []*column.Vector, b *Block, fields [][]Field, rows int) (n, at int, fault *Fault) {
	for i, c := range columns {
		// After a fault only the rows before it matter.
		if f := c.Append(vectors[i], b, fields[i][:rows]); f != nil {
			rows, at, fault = f.Row, i, f
		}
	}
	if fault != nil {
		for _, v := range vectors {
			if v.Len > rows {
				*v = *v.Head(rows)
			}
		}
	}
	return rows, at, fault
}

// AppendLenient is [AppendRows] that makes NULL of what a column does not take, and drops the rows that would
// have NULL where a vector's type allows none; the columns' types are nullable. It returns the rows appended.
func AppendLenient(columns []*Column, vectors []*column.Vector, b *Block, fields [][]Field, rows int) int {
	var drop []bool
	for i, c := range columns {
		for from := 0; ; {
			f := c.Append(vectors[i], b, fields[i][from:rows])
			if f == nil {
				break
			}
			vectors[i].AppendNull()
			from += f.Row + 1
		}
		if !vectors[i].Type.NotNull {
			continue
		}
		for r := range rows {
			if vectors[i].IsNull(r) {
				if drop == nil {
					drop = make([]bool, rows)
				}
				drop[r] = true
			}
		}
	}
	if drop == nil {
		return rows
	}
	var keep []uint16
	for r, out := range drop {
		if !out {
			keep = append(keep, uint16(r))
		}
	}
	for i, v := range vectors {
		kept := column.New(v.Type, len(keep))
		kept.AppendVector(v, keep, len(keep))
		*vectors[i] = *kept
	}
	return len(keep)
}
