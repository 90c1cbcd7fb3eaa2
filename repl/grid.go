package repl

import (
	"bytes"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// grid prints rows as a table of ruled lines. A column is as wide as its widest cell among the first
// 10,000 rows or 16 MiB; after those rows are printed as they come, and a wider cell pushes the border.
// Nothing is printed for no rows. A changelog is printed row by row, in the widths of its types. A result that is one
// text of several lines (SHOW CREATE, EXPLAIN) is printed without lines around it, so that it can be read and run again;
// Flink draws a box as wide as the text is long.
//
// NULL is <NULL> in the rows of a query and nothing in those of SHOW and DESCRIBE, as in Flink.
type grid struct {
	layout
	style   style
	names   [][]byte
	left    []bool // of each column: its cells are aligned to the left
	widths  []int
	first   *sample // nil once its rows are printed
	text    []byte  // of SHOW and the like: the first row's only value, with its lines
	line    []byte
	scratch []byte
	cuts    int64
}

// style is what the lines of a grid are drawn with.
type style struct {
	bar                 string
	top, middle, bottom rule
	textLeft            bool // texts are aligned to the left; else all is to the right
}

// rule is a line between rows.
type rule struct{ left, fill, cross, right string }

const spaces = "                                "

var null = []byte("<NULL>")

func (g *grid) begin(s types.Schema) error {
	g.first = &sample{columns: len(s.Columns)}
	for _, c := range s.Columns {
		name := appendVisible(nil, []byte(c.Name), false)
		g.names = append(g.names, name)
		g.widths = append(g.widths, width(name))
		g.left = append(g.left, g.style.textLeft && !c.Type.IsNumeric())
	}
	if !g.changelog {
		return nil
	}
	for i, c := range s.Columns[1:] {
		g.widths[i+1] = max(g.widths[i+1], typeWidth(c.Type, g.maxWidth), len(null))
	}
	return g.open()
}

// cell returns the text of a value and its width. The text is the caller's until the next call.
func (g *grid) cell(v *column.Vector, i int) ([]byte, int) {
	if v.IsNull(i) {
		if !g.query {
			return nil, 0
		}
		return null, len(null)
	}
	text := column.AppendText(g.scratch[:0], v, i, g.zone)
	g.scratch = text
	n := len(text)
	if !plain(text) {
		from := len(text)
		g.scratch = appendVisible(text, text, false)
		text = g.scratch[from:]
		n = width(text)
	}
	if n > g.maxWidth && g.cutsValue(v.Type) {
		g.cuts++
		text = cut(text, g.maxWidth)
		n = width(text)
	}
	return text, n
}

func (g *grid) batch(b *column.Batch) error {
	for i := range b.Rows() {
		row := b.Row(i)
		if g.first != nil && g.first.full() {
			if err := g.open(); err != nil {
				return err
			}
		}
		if g.first == nil {
			for c, v := range b.Cols {
				text, n := g.cell(v, row)
				g.put(c, text, n)
			}
			if err := g.endRow(); err != nil {
				return err
			}
			continue
		}
		if g.first.rows() == 0 && !g.query && len(b.Cols) == 1 && !b.Cols[0].IsNull(row) {
			g.text = appendVisible(nil, column.AppendText(nil, b.Cols[0], row, g.zone), true)
		}
		for c, v := range b.Cols {
			text, n := g.cell(v, row)
			g.first.text = append(g.first.text, text...)
			g.first.ends = append(g.first.ends, len(g.first.text))
			g.first.widths = append(g.first.widths, n)
			g.widths[c] = max(g.widths[c], n)
		}
	}
	return g.write()
}

// open prints the header and the sample.
func (g *grid) open() error {
	s := g.first
	g.first = nil
	g.rule(g.style.top)
	for c, name := range g.names {
		g.put(c, name, width(name))
	}
	if err := g.endRow(); err != nil {
		return err
	}
	g.rule(g.style.middle)
	for i := range s.ends {
		c := i % s.columns
		g.put(c, s.cell(i), s.widths[i])
		if c == s.columns-1 {
			if err := g.endRow(); err != nil {
				return err
			}
		}
	}
	return g.write()
}

func (g *grid) end() error {
	if g.first != nil {
		if g.first.rows() == 0 {
			return nil
		}
		if g.first.rows() == 1 && bytes.IndexByte(g.text, '\n') >= 0 {
			g.line = append(append(g.line, bytes.TrimRight(g.text, "\n")...), '\n')
			return g.write()
		}
		if err := g.open(); err != nil {
			return err
		}
	}
	g.rule(g.style.bottom)
	return g.write()
}

func (g *grid) cutValues() int64 { return g.cuts }

// put appends a cell of column c, n columns wide, with the border on its left.
func (g *grid) put(c int, text []byte, n int) {
	g.line = append(g.line, g.style.bar...)
	g.line = append(g.line, ' ')
	if g.left[c] {
		g.line = append(g.line, text...)
	}
	for pad := g.widths[c] - n; pad > 0; pad -= len(spaces) {
		g.line = append(g.line, spaces[:min(pad, len(spaces))]...)
	}
	if !g.left[c] {
		g.line = append(g.line, text...)
	}
	g.line = append(g.line, ' ')
}

func (g *grid) endRow() error {
	g.line = append(g.line, g.style.bar...)
	g.line = append(g.line, '\n')
	if len(g.line) > writeSize {
		return g.write()
	}
	return nil
}

func (g *grid) rule(r rule) {
	for c, n := range g.widths {
		if c == 0 {
			g.line = append(g.line, r.left...)
		} else {
			g.line = append(g.line, r.cross...)
		}
		for range n + 2 {
			g.line = append(g.line, r.fill...)
		}
	}
	g.line = append(append(g.line, r.right...), '\n')
}

func (g *grid) write() error {
	if len(g.line) == 0 {
		return nil
	}
	_, err := g.w.Write(g.line)
	g.line = g.line[:0]
	return err
}
