package repl

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/chzyer/readline"
	"github.com/mattn/go-runewidth"
	"github.com/stretchr/testify/require"
)

// glass is a terminal of so many columns: what readline uses of one.
type glass struct {
	columns     int
	rows        [][]rune
	row, column int // column may be columns: the next rune goes to the next row
}

var control = regexp.MustCompile("^\x1b\\[([0-9]*)([A-Za-z~])")

func (g *glass) Write(b []byte) (int, error) {
	n := len(b)
	for s := string(b); s != ""; {
		if m := control.FindStringSubmatch(s); m != nil {
			s = s[len(m[0]):]
			count, _ := strconv.Atoi(m[1])
			switch m[2] {
			case "A":
				g.row = max(0, g.row-max(1, count))
			case "C":
				g.column = min(g.columns-1, g.column+max(1, count))
			case "D":
				g.column = max(0, min(g.column, g.columns-1)-max(1, count))
			case "J":
				g.cells()
				g.rows = g.rows[:g.row+1]
				g.rows[g.row] = g.rows[g.row][:min(g.column, len(g.rows[g.row]))]
			case "K":
				g.cells()
				g.rows[g.row] = nil
			case "m":
			default:
				panic("a sequence that a terminal does not have: " + m[0])
			}
			continue
		}
		r := []rune(s)[0]
		s = s[len(string(r)):]
		c := runewidth.Condition{}
		switch w := c.RuneWidth(r); {
		case r == '\r':
			g.column = 0
		case r == '\n':
			g.row++
		case r == '\b':
			g.column = max(0, min(g.column, g.columns-1)-1)
		case w > 0:
			if g.column+w > g.columns {
				g.row, g.column = g.row+1, 0
			}
			g.cells()
			for len(g.rows[g.row]) < g.column+w {
				g.rows[g.row] = append(g.rows[g.row], ' ')
			}
			g.rows[g.row][g.column] = r
			if w == 2 {
				g.rows[g.row][g.column+1] = 0
			}
			g.column += w
		}
	}
	return n, nil
}

func (g *glass) cells() {
	for len(g.rows) <= g.row {
		g.rows = append(g.rows, nil)
	}
}

// shown is the text that stands on it, each row filled up.
func (g *glass) shown() string {
	var b strings.Builder
	for i, r := range g.rows {
		text := strings.ReplaceAll(string(r), "\x00", "")
		if i+1 < len(g.rows) { // a wide picture that had no room has left a gap
			text = strings.TrimRight(text, " ")
		}
		b.WriteString(strings.ReplaceAll(text, " ", ""))
	}
	return b.String()
}

// However a line is edited, on however narrow a terminal, it is drawn once, and the cursor stands where the next
// rune goes: in lines that wrap, that have wide and combining characters, and newlines.
func TestCursorInWrappedLines(t *testing.T) {
	texts := []string{"SELECT 1", "x", "日本", "é", "e\u0301", newlineMark, "😀", " ", "'a long piece of text that wraps'", "한"}
	for _, columns := range []int{13, 20, 21, 34, 80} {
		random := rand.New(rand.NewPCG(1, uint64(columns)))
		g := &glass{columns: columns}
		width := func() int { return columns }
		d := &drawer{w: g, width: width}
		e := painter{editor{&input{}, newTyping(newFake()), &keyAtWork{}}, d}
		cfg := &readline.Config{FuncIsTerminal: func() bool { return true }, Painter: e, FuncGetWidth: width}
		require.NoError(t, cfg.Init())
		buf := readline.NewRuneBuffer(d, promptNew, cfg, columns)
		buf.Refresh(nil)
		for step := range 400 {
			what := "insert"
			switch random.IntN(6) {
			case 0:
				what = "left"
				for range random.IntN(20) {
					buf.MoveBackward()
				}
			case 1:
				what = "right"
				buf.MoveForward()
			case 2:
				what = "delete"
				for range random.IntN(10) {
					buf.Backspace()
				}
			case 3:
				what = "home"
				buf.MoveToLineStart()
			case 4:
				what = "end"
				buf.MoveToLineEnd()
			default:
				buf.WriteRunes([]rune(texts[random.IntN(len(texts))]))
			}
			line := buf.Runes()
			name := fmt.Sprintf("%d columns, step %d, %s: %q at %d", columns, step, what, string(line), buf.Pos())
			row, column, _ := place(len(promptNew), line[:buf.Pos()], columns)
			require.Equal(t, [2]int{row, column}, [2]int{g.row, g.column}, name)
			c := runewidth.Condition{}
			want := ""
			for _, r := range promptNew + string(line) {
				if r != ' ' && c.RuneWidth(r) > 0 {
					want += string(r)
				}
			}
			require.Equal(t, want, g.shown(), name)
		}
		require.LessOrEqual(t, len(g.rows), 2+(len(promptNew)+2*buf.Len())/(columns-1))
	}
}
