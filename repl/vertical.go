package repl

import (
	"bytes"
	"strconv"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// verticalPrinter prints a line for each column and a heading for each row:
//
//	*************************** 1. row ***************************
//	  id: 1
//	name: Alice
//
// Values are never cut. The further lines of a value stand below its first one, so that none of them can
// be taken for a column.
type verticalPrinter struct {
	layout
	names   [][]byte // aligned to the right, with ": " behind
	margin  []byte   // before further lines
	n       int64
	line    []byte
	scratch []byte
}

var stars = bytes.Repeat([]byte{'*'}, 27)

func (p *verticalPrinter) begin(s types.Schema) error {
	widest := 0
	for _, c := range s.Columns {
		name := appendVisible(nil, []byte(c.Name), false)
		p.names = append(p.names, name)
		widest = max(widest, width(name))
	}
	for i, name := range p.names {
		p.names[i] = append(append(bytes.Repeat([]byte{' '}, widest-width(name)), name...), ": "...)
	}
	p.margin = bytes.Repeat([]byte{' '}, widest+2)
	return nil
}

func (p *verticalPrinter) batch(b *column.Batch) error {
	for i := range b.Rows() {
		row := b.Row(i)
		p.n++
		p.line = append(append(p.line, stars...), ' ')
		p.line = strconv.AppendInt(p.line, p.n, 10)
		p.line = append(append(append(p.line, ". row "...), stars...), '\n')
		for c, v := range b.Cols {
			p.line = append(p.line, p.names[c]...)
			p.value(v, row)
			p.line = append(p.line, '\n')
		}
		if len(p.line) > writeSize {
			if err := p.write(); err != nil {
				return err
			}
		}
	}
	return p.write()
}

func (p *verticalPrinter) end() error { return nil }

func (p *verticalPrinter) value(v *column.Vector, i int) {
	if v.IsNull(i) {
		p.line = append(p.line, null...)
		return
	}
	from := len(p.line)
	p.line = column.AppendText(p.line, v, i, p.zone)
	if plain(p.line[from:]) {
		return
	}
	text := appendVisible(p.scratch[:0], p.line[from:], true)
	p.scratch, p.line = text, p.line[:from]
	if !p.query { // the last line of SHOW CREATE ends like the others
		text = bytes.TrimRight(text, "\n")
	}
	for {
		n := bytes.IndexByte(text, '\n')
		if n < 0 {
			break
		}
		p.line = append(append(p.line, text[:n+1]...), p.margin...)
		text = text[n+1:]
	}
	p.line = append(p.line, text...)
}

func (p *verticalPrinter) write() error {
	_, err := p.w.Write(p.line)
	p.line = p.line[:0]
	return err
}
