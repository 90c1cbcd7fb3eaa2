package repl

import (
	"bytes"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// markdownPrinter prints a table in GitHub's Markdown, drawn by tablewriter. Rows beyond the first
// 10,000 or 16 MiB follow without padding, which Markdown does not mind, so that memory stays bounded; so do
// all rows of a changelog.
type markdownPrinter struct {
	layout
	names []string
	rows  [][]string // the first ones; nil once they are printed
	bytes int
	open  bool
	line  []byte
	cuts  int64

	scratch []byte
}

func (p *markdownPrinter) begin(s types.Schema) error {
	for _, c := range s.Columns {
		p.names = append(p.names, string(markdownText([]byte(c.Name))))
	}
	if p.changelog {
		return p.draw()
	}
	return nil
}

func (p *markdownPrinter) batch(b *column.Batch) error {
	for i := range b.Rows() {
		row := b.Row(i)
		if p.open {
			for _, v := range b.Cols {
				p.line = append(append(append(p.line, "| "...), p.cell(v, row)...), ' ')
			}
			p.line = append(p.line, "|\n"...)
			if len(p.line) > writeSize {
				if err := p.write(); err != nil {
					return err
				}
			}
			continue
		}
		cells := make([]string, len(b.Cols))
		for c, v := range b.Cols {
			cells[c] = string(p.cell(v, row))
			p.bytes += len(cells[c])
		}
		p.rows = append(p.rows, cells)
		if len(p.rows) >= sampleRows || p.bytes >= sampleBytes {
			if err := p.draw(); err != nil {
				return err
			}
		}
	}
	return p.write()
}

// cell returns the text of a value, cut where it is too wide. It is the caller's until the next call.
func (p *markdownPrinter) cell(v *column.Vector, i int) []byte {
	if v.IsNull(i) {
		return []byte("NULL") // <NULL> would be an HTML tag
	}
	text := column.AppendText(p.scratch[:0], v, i, p.zone)
	p.scratch = text
	if len(text) > p.maxWidth && p.cutsValue(v.Type) && width(text) > p.maxWidth {
		p.cuts++
		text = cut(text, p.maxWidth)
	}
	return markdownText(text)
}

func (p *markdownPrinter) write() error {
	_, err := p.w.Write(p.line)
	p.line = p.line[:0]
	return err
}

func (p *markdownPrinter) cutValues() int64 { return p.cuts }

func (p *markdownPrinter) end() error {
	if p.open {
		return nil
	}
	return p.draw()
}

// draw prints the header and the first rows.
func (p *markdownPrinter) draw() error {
	t := tablewriter.NewTable(p.w,
		tablewriter.WithRenderer(renderer.NewMarkdown()),
		tablewriter.WithHeaderAutoFormat(tw.Off), tablewriter.WithTrimSpace(tw.Off), tablewriter.WithTrimLine(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone), tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithHeaderAlignment(tw.AlignLeft), tablewriter.WithRowAlignment(tw.AlignLeft))
	t.Header(p.names)
	if err := t.Bulk(p.rows); err != nil {
		return err
	}
	p.rows, p.open = nil, true
	return t.Render()
}

// markdownText makes text fit one cell: what would end it or be markup of a table is escaped.
func markdownText(text []byte) []byte {
	if !bytes.ContainsAny(text, "\\|<\n") && plain(text) {
		return text
	}
	text = bytes.ReplaceAll(text, []byte(`\`), []byte(`\\`))
	text = bytes.ReplaceAll(text, []byte("|"), []byte(`\|`))
	text = bytes.ReplaceAll(text, []byte("<"), []byte("&lt;"))
	text = bytes.ReplaceAll(text, []byte("\n"), []byte("<br>"))
	if plain(text) {
		return text
	}
	return appendVisible(nil, text, false)
}
