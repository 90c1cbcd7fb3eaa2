package json

import (
	"io"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/format/text"
)

// decoder reads rows.
type decoder struct {
	*scanner
	codec   *codec
	block   text.Block
	at      connector.Place
	from    connector.Place // of the piece
	begun   bool
	rows    int
	places  []place
	fields  [][]text.Field // the cells of each column wanted
	pending error          // after the rows found
}

// Decoder returns a decoder of a file.
func (c *codec) Decoder(piece connector.Piece, columns []int) (connector.Decoder, error) {
	w := text.NewWindow(piece.Data, c.window, piece.Memory)
	d := &decoder{scanner: newScanner(piece.Name, w, piece.Start), codec: c, from: piece.Start, at: piece.Start}
	d.keys, d.slots, d.must, d.strict = c.keys, make([]int, len(c.schema.Columns)), c.missing, !c.ignore
	for i := range d.slots {
		d.slots[i] = -1
	}
	d.cells = make([]text.Field, len(columns)*column.DefaultRows)
	d.seen, d.similar = make([]int, len(columns)), make([]similar, len(columns))
	for slot, i := range columns {
		col := c.schema.Columns[i]
		t := col.Type
		if c.ignore {
			t = t.AsNullable() // what cannot be read becomes NULL; rows that may not have one are dropped
		}
		want := &text.Column{Name: col.Name, Type: t}
		if t.IsNested() {
			want.Nested = d.nested(t)
		}
		d.want = append(d.want, want)
		d.slots[i] = slot
		d.fields = append(d.fields, d.cells[slot*column.DefaultRows:(slot+1)*column.DefaultRows])
	}
	d.block.Unescape = unescape
	return d, nil
}

// Place returns the place after the last row returned.
func (d *decoder) Place() connector.Place { return d.at }

// Close gives the memory of long rows back.
func (d *decoder) Close() { d.w.Close() }

// Read appends the next rows.
func (d *decoder) Read(cols []*column.Vector) (int, error) {
	if !d.begun {
		d.begun = true
		if d.from == (connector.Place{}) {
			d.pending = d.begin()
		}
	}
	for d.pending == nil {
		if !d.w.EOF && d.w.End-d.w.Pos < d.codec.window/2 {
			if err := d.w.Fill(); err != nil {
				d.pending = d.tooLong(err)
				break
			}
		}
		first := d.w.Pos
		d.scan()
		if d.rows > 0 {
			n, err := d.convert(cols, first)
			if err != nil {
				d.pending = err
			}
			d.at = connector.Place{Offset: d.from.Offset + d.w.Offset(), Lines: d.line - 1}
			if n > 0 {
				return n, nil
			}
			continue
		}
		if d.pending == nil && first == d.w.Pos { // an object that the window does not hold
			if err := d.w.Fill(); err != nil {
				d.pending = d.tooLong(err)
			}
		}
	}
	return 0, d.pending
}

// scan finds the objects that the window holds, at most a batch of them. What is wrong behind them is put
// into pending.
func (d *decoder) scan() {
	d.rows, d.places = 0, d.places[:0]
	clear(d.seen)
	clear(d.similar)
	for d.rows < column.DefaultRows {
		d.row = d.rows
		switch d.next() {
		case object:
			d.places = append(d.places, d.found)
			d.rows++
		case incomplete:
			d.unsee()
			return
		case end:
			d.pending = io.EOF
			return
		case broken:
			if !d.codec.ignore {
				d.pending = d.error()
				return
			}
			if !d.skip() {
				return
			}
			d.unsee()
		}
	}
}

// unsee takes back what was noted of an object that was not read to its end.
func (d *decoder) unsee() {
	for slot := range d.seen {
		d.seen[slot] = min(d.seen[slot], d.rows)
		if d.similar[slot].row > d.rows {
			d.similar[slot] = similar{}
		}
	}
}

// convert turns the values of the objects found, which stand between first and w.Pos, into those of vectors.
// At a value that its column does not take, the rows before it are kept.
func (d *decoder) convert(cols []*column.Vector, first int) (int, error) {
	d.block.Buf = d.w.Buf
	d.block.UTF8 = utf8.Valid(d.w.Buf[first:d.w.Pos])
	if d.codec.ignore {
		return text.AppendLenient(d.want, cols, &d.block, d.fields, d.rows), nil
	}
	rows, at, fault := text.AppendRows(d.want, cols, &d.block, d.fields, d.rows)
	if fault == nil {
		return rows, nil
	}
	e := &text.Error{File: d.file, Column: d.want[at].Name, Msg: d.want[at].Message(fault)}
	e.Line, e.Character = d.locate(d.places[rows], int(d.fields[at][rows].Start))
	return rows, e
}
