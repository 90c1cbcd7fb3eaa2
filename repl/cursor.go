package repl

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/chzyer/readline"
	"github.com/mattn/go-runewidth"
)

// drawer is the writer that readline draws on. From the end of what it has drawn, readline goes back to the
// cursor one column for each rune, and it counts rows as if every wide picture were narrow; in a line that
// wraps, and has wide characters or the marks of newlines, that ends elsewhere. So the painter says by a mark
// where the line ends, and what readline writes behind it is replaced by the way to where the cursor is. The
// rows that it goes up before it draws again are put right as well.
type drawer struct {
	w     io.Writer
	width func() int

	mu     sync.Mutex
	prompt int    // columns of it
	line   []rune // as last drawn; nil: nothing that is still being edited
	pos    int
}

// lineEnd is the mark. A terminal that were to get it would take it for a key that it does not have.
const lineEnd = "\x1b[7777~"

// Pieces of what readline writes before it draws a line again.
const (
	clearBelow = "\x1b[J"
	clearUp    = "\x1b[2K\r\x1b[A"
	clearLine  = "\x1b[2K\r"
)

// mark notes a line that is about to be drawn, and returns what the painter has made of it with the mark.
func (d *drawer) mark(painted, line []rune, pos, prompt int) []rune {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.prompt, d.line, d.pos = prompt, slices.Clone(line), pos
	return append(slices.Clip(painted), []rune(lineEnd)...)
}

// painter paints for a drawer.
type painter struct {
	editor
	drawn *drawer
}

// Paint returns what is drawn of a line, and the mark.
func (p painter) Paint(line []rune, pos int) []rune {
	p.typing.mu.Lock()
	prompt := len(promptFor(p.typing.open))
	p.typing.mu.Unlock()
	return p.drawn.mark(p.editor.Paint(line, pos), line, pos, prompt)
}

// Write writes what readline has made.
func (d *drawer) Write(b []byte) (int, error) {
	d.mu.Lock()
	out := d.corrected(b)
	d.mu.Unlock()
	if _, err := d.w.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (d *drawer) corrected(b []byte) []byte {
	columns := d.width()
	if columns <= 0 {
		return bytes.Replace(b, []byte(lineEnd), nil, 1)
	}
	if at := bytes.Index(b, []byte(lineEnd)); at >= 0 {
		out := append(slices.Clip(b[:at]), d.back(columns)...)
		if slices.Contains(d.line, '\n') { // it has been entered
			d.line = nil
		}
		return out
	}
	rest, ok := bytes.CutPrefix(b, []byte(clearBelow))
	if !ok || d.line == nil {
		return b
	}
	up := bytes.Count(rest, []byte(clearUp))
	if string(rest) != strings.Repeat(clearUp, up)+clearLine {
		return b
	}
	row, _, _ := place(d.prompt, d.line[:d.pos], columns)
	up = max(0, up+row-(len(readline.SplitByLine(d.prompt, columns, d.line[:d.pos]))-1))
	return []byte(clearBelow + strings.Repeat(clearUp, up) + clearLine)
}

// back is the way from the end of the line to the cursor.
func (d *drawer) back(columns int) string {
	end, _, edge := place(d.prompt, d.line, columns)
	way := ""
	if edge { // the terminal goes to the next row with the next character only
		way = " \r"
	}
	if d.pos >= len(d.line) {
		return way
	}
	row, column, _ := place(d.prompt, d.line[:d.pos], columns)
	if end > row {
		way += fmt.Sprintf("\x1b[%dA", end-row)
	}
	way += "\r"
	if column > 0 {
		way += fmt.Sprintf("\x1b[%dC", column)
	}
	return way
}

// place returns the row, below that of the prompt, and the column that follow a text. edge says that the text
// has filled its last row.
func place(prompt int, text []rune, columns int) (row, column int, edge bool) {
	c := runewidth.Condition{}
	row, column = prompt/columns, prompt%columns
	for _, r := range text {
		w := c.RuneWidth(r)
		switch {
		case r == '\n':
			row, column, edge = row+1, 0, false
			continue
		case r == '\t':
			w = readline.TabWidth
		case w == 0:
			continue
		}
		if column+w > columns && r != '\t' {
			row, column = row+1, 0
		}
		column += w
		edge = column%columns == 0
		row, column = row+column/columns, column%columns
	}
	return row, column, edge
}
