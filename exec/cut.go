package exec

import "github.com/sluice-sql/sluice/column"

// maxBytes is the size at which a batch that an operator makes ends, however few rows it has by then. It
// bounds memory where rows are wide, and keeps the 32-bit offsets of texts far from their end. One row
// always fits.
const maxBytes = 8 << 20

// cut returns where a batch of the rows from on has to end, at most at to: before the row that would make
// its texts larger than room. No row's texts take more than widest bytes; size tells those of row i, and is
// asked only where not all rows fit for sure.
func cut(from, to int, widest, room int64, size func(i int) int64) int {
	if widest*int64(to-from) <= room {
		return to
	}
	for i := from; i < to; i++ {
		if room -= size(i); room < 0 && i > from {
			return i
		}
	}
	return to
}

// widest returns a size that the texts of no row of these columns exceed.
func widest(cols []*column.Vector) int64 {
	total := int64(0)
	for _, v := range cols {
		longest := int64(0)
		if v.Children != nil {
			for i := range v.Len {
				longest = max(longest, v.TextBytes(i))
			}
			total += longest
			continue
		}
		for i := 1; i < len(v.Offsets); i++ {
			longest = max(longest, int64(v.Offsets[i]-v.Offsets[i-1]))
		}
		total += longest
	}
	return total
}

// textBytes returns the size of the texts of one row.
func textBytes(cols []*column.Vector, row int) int64 {
	n := int64(0)
	for _, v := range cols {
		n += v.TextBytes(row)
	}
	return n
}
