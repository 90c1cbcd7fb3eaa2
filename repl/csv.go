package repl

import (
	"bytes"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// csvPrinter prints RFC 4180 with a header line, lines ended by \n. NULL is an empty field and ” (the
// empty text) is "", so that the two stay apart; bytes are printed as x'…'.
type csvPrinter struct {
	layout
	line    []byte
	scratch []byte
}

func (p *csvPrinter) begin(s types.Schema) error {
	for i, c := range s.Columns {
		p.field(i, []byte(c.Name))
	}
	p.line = append(p.line, '\n')
	return p.write()
}

func (p *csvPrinter) batch(b *column.Batch) error {
	for i := range b.Rows() {
		row := b.Row(i)
		for c, v := range b.Cols {
			if v.IsNull(row) {
				if c > 0 {
					p.line = append(p.line, ',')
				}
				continue
			}
			p.scratch = column.AppendText(p.scratch[:0], v, row, p.zone)
			p.field(c, p.scratch)
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

func (p *csvPrinter) end() error { return nil }

func (p *csvPrinter) field(c int, text []byte) {
	if c > 0 {
		p.line = append(p.line, ',')
	}
	quote := len(text) == 0
	for _, b := range text {
		if b == ',' || b == '"' || b == '\n' || b == '\r' {
			quote = true
			break
		}
	}
	if p.terminal && !plain(text) {
		text = appendVisible(nil, text, false)
	}
	if !quote {
		p.line = append(p.line, text...)
		return
	}
	p.line = append(p.line, '"')
	for {
		i := bytes.IndexByte(text, '"')
		if i < 0 {
			break
		}
		p.line = append(p.line, text[:i+1]...)
		p.line = append(p.line, '"')
		text = text[i+1:]
	}
	p.line = append(p.line, text...)
	p.line = append(p.line, '"')
}

func (p *csvPrinter) write() error {
	_, err := p.w.Write(p.line)
	p.line = p.line[:0]
	return err
}
