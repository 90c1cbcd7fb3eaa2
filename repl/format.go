package repl

import (
	"io"
	"time"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// printer prints the rows of one result: begin, then batch for each, then end. After an error of a
// batch, or of where the rows come from, end is not called.
type printer interface {
	begin(types.Schema) error
	batch(*column.Batch) error
	end() error
}

// layout is what a printer needs to know besides the rows.
type layout struct {
	w        io.Writer
	zone     *time.Location
	terminal bool // w is shown on one
	// query tells the rows of a SELECT from those of SHOW, DESCRIBE and EXPLAIN, whose texts have lines
	// and are never cut.
	query bool
	// changelog says that the rows come as they are made and may never end, the kind of each in front of it.
	changelog bool
	// maxWidth is the most columns a text of a query may take on a terminal; numbers and times are never cut.
	maxWidth int
}

// cutsValue reports whether a value that is too wide is cut.
func (l *layout) cutsValue(t types.Type) bool {
	return l.terminal && l.query && (t.IsString() || t.IsBinary() || t.IsNested())
}

// cutter is a printer that may cut values.
type cutter interface{ cutValues() int64 }

// writeSize is how much a printer gathers before it writes.
const writeSize = 32 << 10

// newPrinter returns the printer of a format, which is one that SET 'sluice.format' allows.
func newPrinter(format string, l layout) printer {
	p := printerOf(format, l)
	if l.changelog {
		return changelog{p}
	}
	return p
}

func printerOf(format string, l layout) printer {
	switch format {
	case "box":
		return &grid{layout: l, style: boxStyle()}
	case "csv":
		return &csvPrinter{layout: l}
	case "tsv":
		return &tsvPrinter{layout: l}
	case "json":
		return &jsonPrinter{layout: l}
	case "markdown":
		return &markdownPrinter{layout: l}
	case "vertical":
		return &verticalPrinter{layout: l}
	}
	return &grid{layout: l, style: tableauStyle()}
}

// Rows that a table's widths are taken from. What comes later is printed in them.
const (
	sampleRows  = 10_000
	sampleBytes = 16 << 20
)

// sample holds the first rows of a result as text, row by row.
type sample struct {
	columns int
	text    []byte
	ends    []int // of each cell in text
	widths  []int // of each cell
}

func (s *sample) rows() int {
	if s.columns == 0 {
		return 0
	}
	return len(s.ends) / s.columns
}

func (s *sample) full() bool { return s.rows() >= sampleRows || len(s.text) >= sampleBytes }

func (s *sample) cell(i int) []byte {
	from := 0
	if i > 0 {
		from = s.ends[i-1]
	}
	return s.text[from:s.ends[i]]
}
