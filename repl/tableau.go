package repl

import (
	"bytes"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// tableau prints rows as Flink's SQL client does in batch mode:
//
//	+----+-------+
//	| id |  name |
//	+----+-------+
//	|  1 | Alice |
//	+----+-------+
//
// Every cell is aligned to the right. A column is as wide as its widest cell among the first 10,000
// rows or 16 MiB; after those rows are printed as they come, and a wider cell pushes the border. Nothing is
// printed for no rows. A result that is one text of several lines (SHOW CREATE, EXPLAIN) is printed
// without a box, so that it can be read and run again; Flink draws one as wide as the text is long.
//
// tablewriter draws the same form, and a test holds the two against each other. It is not used here
// because it keeps all rows and takes some forty times as long.
type tableau struct {
	layout
	names   [][]byte
	widths  []int
	first   *sample // nil once its rows are printed
	line    []byte
	scratch []byte
	cut     int64 // values that were cut
}

var null = []byte("<NULL>")

func (t *tableau) begin(s types.Schema) error {
	t.first = &sample{columns: len(s.Columns)}
	for _, c := range s.Columns {
		name := appendVisible(nil, []byte(c.Name), false)
		t.names = append(t.names, name)
		t.widths = append(t.widths, width(name))
	}
	return nil
}

// cell returns the text of a value and its width. The text is the caller's until the next call.
func (t *tableau) cell(v *column.Vector, i int) ([]byte, int) {
	if v.IsNull(i) {
		return null, len(null)
	}
	text := column.AppendText(t.scratch[:0], v, i, t.zone)
	t.scratch = text
	n := len(text)
	if !plain(text) {
		from := len(text)
		t.scratch = appendVisible(text, text, !t.query)
		text = t.scratch[from:]
		n = width(text)
	}
	if n > t.maxWidth && t.terminal && t.query && (v.Type.IsString() || v.Type.IsBinary()) {
		t.cut++
		text = cut(text, t.maxWidth)
		n = width(text)
	}
	return text, n
}

func (t *tableau) batch(b *column.Batch) error {
	for i := range b.Rows() {
		row := b.Row(i)
		if t.first != nil && t.first.full() {
			if err := t.open(); err != nil {
				return err
			}
		}
		if t.first == nil {
			for c, v := range b.Cols {
				text, n := t.cell(v, row)
				t.put(c, text, n)
			}
			t.line = append(t.line, "|\n"...)
			if len(t.line) > 32<<10 {
				if err := t.write(); err != nil {
					return err
				}
			}
			continue
		}
		for c, v := range b.Cols {
			text, n := t.cell(v, row)
			t.first.text = append(t.first.text, text...)
			t.first.ends = append(t.first.ends, len(t.first.text))
			t.first.widths = append(t.first.widths, n)
			t.widths[c] = max(t.widths[c], n)
		}
	}
	return t.write()
}

// open prints the header and the sample.
func (t *tableau) open() error {
	s := t.first
	t.first = nil
	t.border()
	for c, name := range t.names {
		t.put(c, name, width(name))
	}
	t.line = append(t.line, "|\n"...)
	t.border()
	for i := range s.ends {
		c := i % s.columns
		t.put(c, s.cell(i), s.widths[i])
		if c == s.columns-1 {
			t.line = append(t.line, "|\n"...)
		}
		if len(t.line) > 32<<10 {
			if err := t.write(); err != nil {
				return err
			}
		}
	}
	return t.write()
}

func (t *tableau) end() error {
	if t.first != nil {
		if t.first.rows() == 0 {
			return nil
		}
		if text := t.first.text; !t.query && len(t.names) == 1 && t.first.rows() == 1 && bytes.IndexByte(text, '\n') >= 0 {
			t.line = append(append(t.line, bytes.TrimRight(text, "\n")...), '\n')
			return t.write()
		}
		if err := t.open(); err != nil {
			return err
		}
	}
	t.border()
	return t.write()
}

// put appends a cell of column c, n columns wide, with the border on its left.
func (t *tableau) put(c int, text []byte, n int) {
	t.line = append(t.line, "| "...)
	for range t.widths[c] - n {
		t.line = append(t.line, ' ')
	}
	t.line = append(t.line, text...)
	t.line = append(t.line, ' ')
}

func (t *tableau) border() {
	for _, n := range t.widths {
		t.line = append(t.line, '+')
		t.line = append(t.line, bytes.Repeat([]byte{'-'}, n+2)...)
	}
	t.line = append(t.line, "+\n"...)
}

func (t *tableau) write() error {
	if len(t.line) == 0 {
		return nil
	}
	_, err := t.w.Write(t.line)
	t.line = t.line[:0]
	return err
}
