package repl

import (
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// tsvPrinter prints fields parted by tabs below a header line, in the text form of PostgreSQL's COPY: NULL
// is \N, and a backslash, a tab, a newline and their like within a value are written \\, \t, \n. So a line
// is a row whatever the values are. Bytes are printed as x'…'.
type tsvPrinter struct {
	layout
	line    []byte
	scratch []byte
}

func (p *tsvPrinter) begin(s types.Schema) error {
	for i, c := range s.Columns {
		if i > 0 {
			p.line = append(p.line, '\t')
		}
		p.text([]byte(c.Name))
	}
	p.line = append(p.line, '\n')
	return p.write()
}

func (p *tsvPrinter) batch(b *column.Batch) error {
	for i := range b.Rows() {
		row := b.Row(i)
		for c, v := range b.Cols {
			if c > 0 {
				p.line = append(p.line, '\t')
			}
			switch {
			case v.IsNull(row):
				p.line = append(p.line, `\N`...)
			case v.Type.IsString():
				p.text(v.Value(row))
			case v.Type.IsNested(): // texts may be in it
				p.scratch = column.AppendText(p.scratch[:0], v, row, p.zone)
				p.text(p.scratch)
			default: // has nothing to escape
				p.line = column.AppendText(p.line, v, row, p.zone)
			}
		}
		p.line = append(p.line, '\n')
		if len(p.line) > writeSize {
			if err := p.write(); err != nil {
				return err
			}
		}
	}
	return p.write()
}

func (p *tsvPrinter) end() error { return nil }

// text appends a text with what would end a field or a line escaped.
func (p *tsvPrinter) text(s []byte) {
	from := 0
	for i, c := range s {
		if c >= 0x20 && c != '\\' {
			continue
		}
		e := tsvEscape(c)
		if e == 0 {
			continue
		}
		p.show(s[from:i])
		p.line = append(p.line, '\\', e)
		from = i + 1
	}
	p.show(s[from:])
}

// show appends what needs no escape; a terminal does not get its control characters.
func (p *tsvPrinter) show(s []byte) {
	if p.terminal && !plain(s) {
		p.line = appendVisible(p.line, s, false)
		return
	}
	p.line = append(p.line, s...)
}

// tsvEscape returns the letter that stands for a byte behind a backslash; 0 for none.
func tsvEscape(c byte) byte {
	switch c {
	case '\\':
		return '\\'
	case '\b':
		return 'b'
	case '\t':
		return 't'
	case '\n':
		return 'n'
	case '\v':
		return 'v'
	case '\f':
		return 'f'
	case '\r':
		return 'r'
	}
	return 0
}

func (p *tsvPrinter) write() error {
	_, err := p.w.Write(p.line)
	p.line = p.line[:0]
	return err
}
