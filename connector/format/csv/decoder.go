package csv

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/format/text"
)

// decoder reads rows.
type decoder struct {
	*splitter
	codec   *codec
	piece   connector.Piece
	columns []*text.Column // as wanted
	fields  [][]text.Field // the cells of each
	block   text.Block
	at      connector.Place
	begun   bool
	rows    int
	starts  []int32 // where each row begins in the window
	lines   []int64
	pending error // after the rows found
}

// Decoder returns a decoder of a piece.
func (c *codec) Decoder(piece connector.Piece, columns []int) (connector.Decoder, error) {
	w := text.NewWindow(piece.Data, c.window, piece.Memory)
	d := &decoder{codec: c, piece: piece, at: piece.Start}
	d.splitter = newSplitter(c.dialect, piece.Name, w, piece.Start.Lines+1)
	d.fits = len(c.schema.Columns)
	d.cells = make([]text.Field, len(columns)*column.DefaultRows)
	for _, i := range columns {
		col := c.schema.Columns[i]
		t := col.Type
		if c.ignore {
			t = t.AsNullable() // what cannot be read becomes NULL; rows that may not have one are dropped
		}
		d.columns = append(d.columns, &text.Column{Name: col.Name, Type: t})
	}
	for i := range columns {
		d.fields = append(d.fields, d.cells[i*column.DefaultRows:(i+1)*column.DefaultRows])
	}
	d.slots = make([]int, d.fits)
	for i := range d.slots {
		d.slots[i] = -1
	}
	for slot, i := range columns {
		d.slots[i] = slot
	}
	d.block.Unescape = c.unescape
	return d, nil
}

// Place returns the place after the last row returned.
func (d *decoder) Place() connector.Place { return d.at }

// Close gives the memory of long rows back.
func (d *decoder) Close() { d.w.Close() }

// start skips what stands before the first row of a file, and brings the slots into the order of its header.
func (d *decoder) start() error {
	d.begun = true
	if d.piece.Start == (connector.Place{}) {
		if err := d.begin(); err != nil {
			return err
		}
		if !d.codec.header {
			return d.lookForHeader()
		}
		return d.readHeader(d.splitter)
	}
	if !d.codec.header {
		return nil
	}
	w := text.NewWindow(io.NewSectionReader(d.piece.File, 0, d.piece.Start.Offset), d.codec.window, d.piece.Memory)
	defer w.Close()
	s := newSplitter(d.dialect, d.file, w, 1)
	if err := s.begin(); err != nil {
		return err
	}
	return d.readHeader(s)
}

// lookForHeader refuses a file whose first line has the names of the columns, unless the options say what
// that line is: read as a row it would be one row too many, and nobody would notice.
func (d *decoder) lookForHeader() error {
	if d.hasHeader {
		return nil
	}
	longest := 2
	for _, c := range d.codec.schema.Columns {
		longest += len(c.Name) + 3
	}
	for {
		b := d.w.Buf[d.w.Pos:d.w.End]
		if n := bytes.IndexByte(b, '\n'); n >= 0 && n <= longest || d.w.EOF {
			if d.namesColumns(firstLine(b), d.codec.schema) {
				return &text.Error{File: d.file, Line: 1, Msg: "the line has the names of the columns: add '" + optHeader + "' = 'true', or '" + optHeader + "' = 'false' if it is a row"}
			}
			return nil
		}
		if len(b) > longest {
			return nil
		}
		if err := d.w.Fill(); err != nil {
			return d.tooLong(err)
		}
	}
}

// readHeader reads the header through s and compares it with the table's columns.
func (d *decoder) readHeader(s *splitter) error {
	slots := d.slots
	s.slots, s.fits = nil, 0
	names, err := s.header()
	if err != nil {
		return err
	}
	d.all, d.fits, d.slots = false, len(slots), slots
	if names == nil { // an empty file has no row either
		return nil
	}
	schema := d.codec.schema
	var strange []string
	byName := make([]int, 0, len(names))
	found := map[string]bool{}
	for _, name := range names {
		i := schema.Index(name)
		if i < 0 {
			strange = append(strange, connector.QuoteName(name))
			continue
		}
		found[name] = true
		byName = append(byName, slots[i])
	}
	var missing []string
	for _, c := range schema.Columns {
		if !found[c.Name] {
			missing = append(missing, connector.QuoteName(c.Name))
		}
	}
	if len(strange)+len(missing) > 0 {
		msg := fmt.Sprintf("the header has %s; the table has %s", quoted(names), quoted(schema.Names()))
		if len(strange) > 0 {
			msg += "; not in the table: " + strings.Join(strange, ", ")
		}
		if len(missing) > 0 {
			msg += "; not in the file: " + strings.Join(missing, ", ")
		}
		if len(names) == 1 {
			msg += d.delimiterHelp([]byte(names[0]))
		}
		return &text.Error{File: d.file, Line: 1, Msg: msg}
	}
	d.slots = byName
	return nil
}

func quoted(names []string) string {
	q := make([]string, len(names))
	for i, n := range names {
		q[i] = connector.QuoteName(n)
	}
	return strings.Join(q, ", ")
}

// Read appends the next rows.
func (d *decoder) Read(cols []*column.Vector) (int, error) {
	if !d.begun {
		if err := d.start(); err != nil {
			d.pending = err
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
		d.split()
		if d.rows > 0 {
			n, err := d.convert(cols, first)
			if err != nil {
				d.pending = err
			}
			d.at = connector.Place{Offset: d.piece.Start.Offset + d.w.Offset(), Lines: d.line - 1}
			if n > 0 {
				return n, nil
			}
			continue
		}
		switch {
		case d.pending != nil:
		case d.w.Pos == d.w.End && d.w.EOF:
			d.pending = io.EOF
			if d.blank > 0 && !d.piece.Last {
				d.pending = d.blankError()
			}
		case first == d.w.Pos: // a record that the window does not hold
			if err := d.w.Fill(); err != nil {
				d.pending = d.tooLong(err)
			}
		}
	}
	return 0, d.pending
}

func (d *decoder) blankError() error {
	return &text.Error{File: d.file, Line: d.blank, Msg: "the line is empty, but the table has " + plural(d.fits, "column")}
}

// split finds the records that the window holds, at most a batch of them. What is wrong behind them is put
// into pending.
func (d *decoder) split() {
	d.rows, d.starts, d.lines = 0, d.starts[:0], d.lines[:0]
	for d.rows < column.DefaultRows && d.w.Pos < d.w.End {
		if d.blank == 0 {
			if d.plainLines(); d.rows == column.DefaultRows || d.w.Pos == d.w.End {
				return
			}
		}
		start, line := d.w.Pos, d.line
		d.row = d.rows
		st, f := d.next()
		switch {
		case st == incomplete:
			return
		case st == record && d.blank > 0 && !d.ignore:
			d.pending = d.blankError()
			return
		case st == record:
			d.blank = 0
			d.starts, d.lines = append(d.starts, int32(start)), append(d.lines, line)
			d.rows++
		case st == broken && !d.ignore:
			d.pending = d.error(f)
			return
		case st == broken:
			if f.skip == d.w.End && !d.w.EOF {
				return // the rest of the line has to be read first
			}
			d.line += int64(bytes.Count(d.w.Buf[start:f.skip], newline))
			d.w.Pos = f.skip
		}
	}
}

// convert turns the fields of the rows found, which stand between first and w.Pos, into values. At a value
// that its column does not take, the rows before it are kept.
func (d *decoder) convert(cols []*column.Vector, first int) (int, error) {
	d.block.Buf = d.w.Buf
	d.block.UTF8 = utf8.Valid(d.w.Buf[first:d.w.Pos])
	if d.ignore {
		return text.AppendLenient(d.columns, cols, &d.block, d.fields, d.rows), nil
	}
	rows, at, fault := text.AppendRows(d.columns, cols, &d.block, d.fields, d.rows)
	if fault == nil {
		return rows, nil
	}
	e := &text.Error{File: d.file, Column: d.columns[at].Name, Msg: d.columns[at].Message(fault)}
	e.Line, e.Character = text.Locate(d.w.Buf, int(d.starts[rows]), int(d.fields[at][rows].Start), d.lines[rows])
	if e.Line == 1 && !d.hasHeader && !fault.Null && !d.columns[at].Type.IsString() && looksLikeName(fault.Value) {
		e.Msg += "; if the line has the names of the columns, add '" + optHeader + "' = 'true'"
	}
	return rows, e
}

// looksLikeName reports whether a value begins as names do.
func looksLikeName(b []byte) bool {
	return len(b) > 0 && (b[0] == '_' || b[0]|0x20 >= 'a' && b[0]|0x20 <= 'z' || b[0] >= utf8.RuneSelf)
}

// cutSize is the least that is worth a piece of its own.
const cutSize = 4 << 20

// Cuts returns the ends of lines near equal distances when no line end can be part of a value: the file has
// no quote and no escape at all.
func (c *codec) Cuts(ctx context.Context, file io.ReaderAt, size int64, pieces int) ([]connector.Place, error) {
	return c.cuts(ctx, file, size, min(int64(pieces), size/cutSize))
}

func (c *codec) cuts(ctx context.Context, file io.ReaderAt, size, pieces int64) ([]connector.Place, error) {
	if pieces < 2 {
		return nil, nil
	}
	var cuts []connector.Place
	var lines int64
	buf := make([]byte, 1<<20)
	for at := int64(0); at < size; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := file.ReadAt(buf[:min(int64(len(buf)), size-at)], at)
		if err != nil && err != io.EOF {
			return nil, err
		}
		if n == 0 {
			return nil, nil // shorter than it was: whoever reads it finds out
		}
		b := buf[:n]
		if c.quote != 0 && bytes.IndexByte(b, c.quote) >= 0 || c.escape != 0 && bytes.IndexByte(b, c.escape) >= 0 {
			return nil, nil
		}
		done := 0 // of b, whose lines are counted
		for {
			from := max(size*(int64(len(cuts))+1)/pieces-at, int64(done))
			if int64(len(cuts))+1 == pieces || from >= int64(n) {
				break
			}
			end := bytes.IndexByte(b[from:], '\n')
			if end < 0 {
				break // in the next block: from then is its beginning
			}
			next := int(from) + end + 1
			lines += int64(bytes.Count(b[done:next], newline))
			done = next
			if at+int64(next) < size {
				cuts = append(cuts, connector.Place{Offset: at + int64(next), Lines: lines})
			} else {
				break
			}
		}
		lines += int64(bytes.Count(b[done:], newline))
		at += int64(n)
	}
	return cuts, nil
}
