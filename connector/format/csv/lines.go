package csv

import (
	"encoding/binary"
	"math/bits"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector/format/text"
)

// plainLines finds the records from w.Pos on that are lines of the right number of unquoted values, up to the
// first that is anything else: it looks for delimiters, quotes and control characters in eight bytes at a
// time. What is left, errors too, is next's. Dialects with an escape character are next's altogether.
func (d *decoder) plainLines() {
	if d.escape != 0 {
		return
	}
	buf, end := d.w.Buf, d.w.End
	slots, cells := d.slots, d.cells
	delimiter, noNull := d.delimiter, d.null != ""
	delimiters, quotes := uint64(delimiter)*text.EachByte, uint64(d.quote)*text.EachByte
	start, row, line := d.w.Pos, d.rows, d.line
	from, col := start, 0
	base := start
	x := binary.LittleEndian.Uint64(buf[base:])
	mask := text.Zeros(x^delimiters) | text.Zeros(x^quotes) | text.Below16(x)
	if d.comments && buf[start] == '#' {
		return
	}
	for {
		for mask == 0 {
			if base += 8; base >= end {
				goto done
			}
			x = binary.LittleEndian.Uint64(buf[base:])
			mask = text.Zeros(x^delimiters) | text.Zeros(x^quotes) | text.Below16(x)
		}
		at := base + bits.TrailingZeros64(mask)>>3
		mask &= mask - 1
		if at >= end {
			break
		}
		c := buf[at]
		stop := at
		switch {
		case c == delimiter:
		case c == '\n':
			if stop > from && buf[stop-1] == '\r' {
				stop--
			}
			if col+1 != len(slots) {
				goto done
			}
		case c == '\r':
			if buf[at+1] != '\n' {
				goto done
			}
			continue
		case c == 0 || c == d.quote:
			goto done
		default:
			continue // a control character that means nothing
		}
		if col >= len(slots) {
			break
		}
		if slot := slots[col]; slot >= 0 {
			f := text.Field{Start: int32(from), End: int32(stop), Form: text.Plain}
			if noNull {
				if string(buf[from:stop]) == d.null {
					f.Form = text.Null
				}
			} else if from == stop {
				f.Form = text.Null
			}
			cells[slot*column.DefaultRows+row] = f
		}
		from = at + 1
		if c == delimiter {
			col++
			continue
		}
		d.starts, d.lines = append(d.starts, int32(start)), append(d.lines, line)
		row++
		line++
		start, col = from, 0
		if row == column.DefaultRows || d.comments && buf[start] == '#' {
			break
		}
	}
done:
	d.w.Pos, d.rows, d.line = start, row, line
}
