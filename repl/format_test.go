package repl

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/internal/testfile"
	"github.com/sluice-sql/sluice/session"
	"github.com/sluice-sql/sluice/types"
)

// table is a named result to print.
func table(t *testing.T, name string) (types.Schema, *column.Batch) {
	var s types.Schema
	add := func(name string, typ types.Type) { s.Columns = append(s.Columns, types.Column{Name: name, Type: typ}) }
	var b *column.Batch
	switch name {
	case "people":
		add("id", types.String())
		add("name", types.String())
		b = texts([]string{"1", "Alice"}, []string{"22", "Bob"}, []string{"\x00", ""}, []string{"4", "<NULL>"})
	case "none":
		add("id", types.String())
		b = texts([]string{"x"})
		b.Reset()
	case "quotes":
		add(`a "b"`, types.String())
		add("x,y", types.String())
		add("", types.String())
		b = texts([]string{`say "hi"`, "a,b", "1;\n2"}, []string{"", "\x00", "crlf\r\n"}, []string{" lead", `back\slash`, "pipe|"})
	case "wide":
		add("日本語", types.String())
		add("cafe\u0301", types.String())
		b = texts([]string{"東京", "e\u0301"}, []string{"a", "naïve"}, []string{"👩‍👩‍👧", "ﾊﾝｶｸ"})
	case "hostile": // OSC 52, CSI 2J, CR overwrite, C1, bidi, zero width, NUL
		add("\x1b]52;c;aGk=\a", types.String())
		b = texts([]string{"\x1b[2J"}, []string{"safe\rEVIL"}, []string{"\u009b31m"}, []string{"abc\u202ecba"},
			[]string{"zero\u200bwidth"}, []string{"nul\x00"}, []string{"tab\tdel\x7f"})
	case "emoji": // a family, flags, a selector that widens, marks, a flag of a region, what is wide only in the East, a skin
		add("picture", types.String())
		add("n", types.Of(types.BigInt))
		b = column.NewBatch(s.Types(), 16)
		for i, text := range []string{"👩\u200d👩\u200d👧", "🇩🇪🇫🇷", "❤\ufe0f", "❤", "1\ufe0f\u20e3", "🏳\ufe0f\u200d🌈", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
			"ที่นี่", "हिन्दी", "한국어", "e\u0301\u0323", "±①α…", "👍🏽", "\u0301", "©\ufe0f", "𠜎"} {
			b.Cols[0].AppendString(text)
			b.Cols[1].AppendI64(int64(i))
			b.N++
		}
	case "nested":
		text, number := types.String(), types.Of(types.Int)
		add("list", types.ArrayOf(text))
		add("map", types.MapOf(number, text))
		add("row", types.RowOf(types.Field{Name: "a", Type: number}, types.Field{Name: "b\n", Type: types.ArrayOf(number)}))
		b = column.NewBatch(s.Types(), 2)
		list, m, row := b.Cols[0], b.Cols[1], b.Cols[2]
		list.Children[0].AppendString("tab\t\"\x1b")
		list.Children[0].AppendNull()
		list.EndRow()
		for i := range 2 {
			m.Children[0].AppendI64(int64(i))
			m.Children[1].AppendString("x,y")
		}
		m.EndRow()
		row.Children[0].AppendI64(7)
		row.Children[1].Children[0].AppendI64(8)
		row.Children[1].EndRow()
		row.EndRow()
		for _, c := range b.Cols {
			c.AppendNull()
		}
		b.N = 2
	case "missing":
		add("name", types.String())
		add("key", types.String())
		b = texts([]string{"a", "\x00"}, []string{"b", "PRI"})
	case "lines":
		add("result", types.String())
		b = texts([]string{"CREATE TABLE `t` (\n  `a` INT\n)\n"})
	case "long":
		add("text", types.String())
		b = texts([]string{strings.Repeat("x", 40)}, []string{"exactly thirty columns wide..!"}, []string{strings.Repeat("東", 16)})
	case "types":
		for _, typ := range []types.Type{
			types.Of(types.Boolean), types.Of(types.TinyInt), types.Of(types.BigInt), types.Of(types.Float), types.Of(types.Double),
			types.DecimalOf(10, 2), types.DecimalOf(38, 18), types.Bytes(), types.Of(types.Date),
			types.WithPrecision(types.Time, 0), types.WithPrecision(types.Timestamp, 3), types.WithPrecision(types.Timestamp, 9),
		} {
			add(typ.String(), typ)
		}
		b = column.NewBatch(s.Types(), 3)
		for i := range 3 {
			if i == 2 {
				for _, c := range b.Cols {
					c.AppendNull()
				}
				b.N++
				continue
			}
			b.Cols[0].AppendBool(i == 0)
			b.Cols[1].AppendI64(int64(-128 + 255*i))
			b.Cols[2].AppendI64([]int64{math.MaxInt64, math.MinInt64}[i])
			b.Cols[3].AppendF64([]float64{1.5, math.Inf(-1)}[i])
			b.Cols[4].AppendF64([]float64{1e300, math.NaN()}[i])
			b.Cols[5].AppendI64([]int64{12345678, -5}[i])
			big, ok := types.Int128FromBig(types.Int128From(math.MaxInt64).Big())
			require.True(t, ok)
			b.Cols[6].AppendI128(big)
			b.Cols[7].AppendBytes([][]byte{{0, 0xff, 'A'}, {}}[i])
			b.Cols[8].AppendI64([]int64{0, -1}[i])
			b.Cols[9].AppendI64([]int64{0, 86399000}[i])
			b.Cols[10].AppendI64([]int64{0, 1704164645123000}[i])
			b.Cols[11].AppendI64([]int64{1, 1704164645123456789}[i])
			b.N++
		}
	default:
		t.Fatalf("no table %s", name)
	}
	return s, b
}

// formats are all there are.
func formats() []string {
	return []string{"tableau", "box", "csv", "tsv", "json", "markdown", "vertical"}
}

func printTo(t *testing.T, w *bytes.Buffer, format string, l layout, s types.Schema, batches ...*column.Batch) printer {
	l.w = w
	if l.maxWidth == 0 {
		l.maxWidth = 30
	}
	p := newPrinter(format, l)
	require.NoError(t, p.begin(s))
	for _, b := range batches {
		if b.N > 0 {
			require.NoError(t, p.batch(b))
		}
	}
	require.NoError(t, p.end())
	return p
}

// The files hold what each format prints: `tableau people`, with the arguments terminal, meta and changelog,
// whose rows are of each kind in turn.
func TestFormats(t *testing.T) {
	testfile.Walk(t, "testdata/formats", ".test", func(t *testing.T, path string) {
		testfile.Run(t, path, func(t *testing.T, c *testfile.Case) string {
			var w bytes.Buffer
			s, b := table(t, strings.TrimSpace(c.Input))
			l := layout{terminal: testfile.Has(c, "terminal"), query: !testfile.Has(c, "meta"), changelog: testfile.Has(c, "changelog")}
			for i := range b.N {
				if l.changelog && b.N > 1 {
					b.Kind = append(b.Kind, types.RowKind(i%4))
				}
			}
			printTo(t, &w, c.Cmd, l, s, b)
			if testfile.Has(c, "escaped") {
				return strings.ReplaceAll(fmt.Sprintf("%q\n", w.String()), `\n`, "\\n\n")
			}
			return w.String()
		})
	})
}

// tablewriter draws the same form: the two must agree, byte for byte, on whatever has no lines in it.
func TestTableauAgainstTablewriter(t *testing.T) {
	alphabet := []rune("ab 1é日|+-\"'`\\ü👍")
	rnd := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		w := make([]rune, rnd.IntN(8))
		for i := range w {
			w[i] = alphabet[rnd.IntN(len(alphabet))]
		}
		return string(w)
	}
	for range 200 {
		columns := 1 + rnd.IntN(5)
		row := func() []string {
			cells := make([]string, columns)
			for i := range cells {
				cells[i] = word()
			}
			return cells
		}
		var s types.Schema
		names := row()
		for i := range names {
			names[i] += "n" // tablewriter leaves out a header without text
			s.Columns = append(s.Columns, types.Column{Name: names[i], Type: types.String()})
		}
		var list [][]string
		for range 1 + rnd.IntN(5) {
			list = append(list, row())
		}
		var ours, theirs bytes.Buffer
		printTo(t, &ours, "tableau", layout{query: true}, s, texts(list...))
		tbl := tablewriter.NewTable(&theirs,
			tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{Symbols: tw.NewSymbols(tw.StyleASCII)})),
			tablewriter.WithHeaderAutoFormat(tw.Off), tablewriter.WithTrimSpace(tw.Off), tablewriter.WithTrimLine(tw.Off),
			tablewriter.WithHeaderAutoWrap(tw.WrapNone), tablewriter.WithRowAutoWrap(tw.WrapNone),
			tablewriter.WithHeaderAlignment(tw.AlignRight), tablewriter.WithRowAlignment(tw.AlignRight))
		tbl.Header(names)
		require.NoError(t, tbl.Bulk(list))
		require.NoError(t, tbl.Render())
		require.Equal(t, theirs.String(), ours.String())
	}
}

// csv reads back as what was printed, through the standard library; NULL and ” are told apart by quotes.
func TestCSVReadsBack(t *testing.T) {
	s, b := table(t, "quotes")
	var w bytes.Buffer
	printTo(t, &w, "csv", layout{query: true}, s, b)
	got, err := csv.NewReader(&w).ReadAll()
	require.NoError(t, err)
	require.Equal(t, [][]string{
		{`a "b"`, "x,y", ""}, {`say "hi"`, "a,b", "1;\n2"}, {"", "", "crlf\n"}, {" lead", `back\slash`, "pipe|"},
	}, got)
}

// Whatever the values, csv reads back as them, NULL and the empty text apart.
func FuzzCSV(f *testing.F) {
	f.Add("a,\"b\"\r\n", "", true)
	f.Add("", "x\ry", false)
	f.Fuzz(func(t *testing.T, a, b string, isNull bool) {
		a, b = strings.ToValidUTF8(a, "?"), strings.ToValidUTF8(b, "?")
		if a == "\x00" || b == "\x00" { // texts takes it for NULL
			return
		}
		want := []string{quoted(a), quoted(b)}
		if isNull {
			b, want[1] = "\x00", "NULL"
		}
		s := types.Schema{Columns: []types.Column{{Name: "a", Type: types.String()}, {Name: "b", Type: types.String()}}}
		var w bytes.Buffer
		printTo(t, &w, "csv", layout{query: true}, s, texts([]string{a, b}, []string{a, b}))
		got := readCSV(w.String())
		require.Equal(t, [][]string{{quoted("a"), quoted("b")}, want, want}, got)
	})
}

func quoted(s string) string { return "'" + s + "'" }

// readCSV reads RFC 4180 with lines that end in \n: an empty field without quotes is NULL, all others stand
// in single quotes.
func readCSV(s string) (rows [][]string) {
	var row []string
	for s != "" {
		var field strings.Builder
		isNull := s[0] != '"'
		if s[0] == '"' {
			for s = s[1:]; ; {
				i := strings.IndexByte(s, '"')
				field.WriteString(s[:i])
				if s = s[i+1:]; s == "" || s[0] != '"' {
					break
				}
				field.WriteByte('"')
				s = s[1:]
			}
		}
		i := strings.IndexAny(s, ",\n")
		field.WriteString(s[:i])
		if isNull && field.Len() == 0 {
			row = append(row, "NULL")
		} else {
			row = append(row, quoted(field.String()))
		}
		if s[i] == '\n' {
			rows, row = append(rows, row), nil
		}
		s = s[i+1:]
	}
	return rows
}

// Whatever the values, a line of tsv is a row, and PostgreSQL's rules give the values back.
func FuzzTSV(f *testing.F) {
	f.Add("a\\N", "\t\r\n\v\f\b\\", true)
	f.Add("", "\\.", false)
	f.Fuzz(func(t *testing.T, a, b string, isNull bool) {
		if a == "\x00" || b == "\x00" { // texts takes it for NULL
			return
		}
		want := []string{quoted(a), quoted(b)}
		if isNull {
			b, want[1] = "\x00", "NULL"
		}
		s := types.Schema{Columns: []types.Column{{Name: "a", Type: types.String()}, {Name: "b", Type: types.String()}}}
		var w bytes.Buffer
		printTo(t, &w, "tsv", layout{query: true}, s, texts([]string{a, b}, []string{a, b}))
		unescape := strings.NewReplacer(`\\`, `\`, `\b`, "\b", `\t`, "\t", `\n`, "\n", `\v`, "\v", `\f`, "\f", `\r`, "\r")
		lines := strings.Split(w.String(), "\n")
		require.Equal(t, "", lines[3])
		for _, line := range lines[1:3] {
			require.NotContains(t, line, "\r")
			var got []string
			for _, field := range strings.Split(line, "\t") {
				if field == `\N` {
					got = append(got, "NULL")
				} else {
					got = append(got, quoted(unescape.Replace(field)))
				}
			}
			require.Equal(t, want, got)
		}
	})
}

// json reads back with every digit.
func TestJSONReadsBack(t *testing.T) {
	for _, name := range []string{"quotes", "types", "hostile", "wide"} {
		for _, terminal := range []bool{false, true} {
			s, b := table(t, name)
			var w bytes.Buffer
			printTo(t, &w, "json", layout{query: true, terminal: terminal}, s, b)
			d := json.NewDecoder(&w)
			d.UseNumber()
			for i := range b.N {
				var row map[string]any
				require.NoError(t, d.Decode(&row))
				for c, col := range s.Columns {
					v := b.Cols[c]
					switch {
					case v.IsNull(i):
						require.Nil(t, row[col.Name])
					case col.Type.IsString():
						require.Equal(t, string(v.Value(i)), row[col.Name])
					case col.Type.Kind == types.BigInt, col.Type.Kind == types.Decimal:
						require.Equal(t, string(column.AppendText(nil, v, i, nil)), string(row[col.Name].(json.Number)))
					}
				}
			}
			require.False(t, d.More())
		}
	}
}

// Whatever the text, a terminal gets nothing that it would act on.
func FuzzVisible(f *testing.F) {
	f.Add("\x1b[2J\x1b]52;c;x\a\r\n\t\u009b\u202e\ufeff\xff")
	f.Add("\x9b31m\xc2\x9b \U0001f3f4\U000e0067\x1b\U0001f3f4\U000e0067\U000e0062\U000e007f\U000e0041")
	f.Fuzz(func(t *testing.T, s string) {
		var schema types.Schema
		schema.Columns = []types.Column{{Name: s, Type: types.String()}}
		for _, format := range formats() {
			var w bytes.Buffer
			printTo(t, &w, format, layout{terminal: true, query: len(s)%2 == 0, maxWidth: 20}, schema, texts([]string{s}, []string{"x" + s}))
			acted(t, format, w.String(), s)
		}
		acted(t, "a message", visible(s), s)
	})
}

// acted fails when what is printed of s holds something that a terminal acts on.
func acted(t *testing.T, what, printed, s string) {
	if !utf8.ValidString(printed) { // a byte alone may be a control character of an 8-bit terminal
		t.Fatalf("%s prints no UTF-8 of %q: %q", what, s, printed)
	}
	flag := false
	for _, r := range printed {
		flag = r == blackFlag || flag && 0xe0020 <= r && r <= 0xe007f
		if r != '\n' && r != '\t' && hidden(r) && !flag {
			t.Fatalf("%s prints %U of %q", what, r, s)
		}
	}
}

// Beyond the sample the widths are fixed and a wider cell pushes the border; nothing is lost.
func TestTableauStreams(t *testing.T) {
	var w bytes.Buffer
	s := types.Schema{Columns: []types.Column{{Name: "n", Type: types.String()}, {Name: "m", Type: types.String()}}}
	first := make([][]string, sampleRows)
	for i := range first {
		first[i] = []string{"1", "2"}
	}
	printTo(t, &w, "tableau", layout{query: true}, s, texts(first...), texts([]string{"wider", "3"}, []string{"4", "5"}))
	lines := strings.Split(w.String(), "\n")
	require.Equal(t, []string{"+---+---+", "| n | m |", "+---+---+", "| 1 | 2 |"}, lines[:4])
	require.Equal(t, []string{"| 1 | 2 |", "| wider | 3 |", "| 4 | 5 |", "+---+---+", ""}, lines[len(lines)-5:])
	require.Len(t, lines, 3+sampleRows+2+1+1)
}

// counter counts what is written and forgets it.
type counter struct{ n int }

func (c *counter) Write(p []byte) (int, error) { c.n += len(p); return len(p), nil }

// Rows go through every format without being kept.
func TestBoundedMemory(t *testing.T) {
	s := types.Schema{Columns: []types.Column{{Name: "a", Type: types.Of(types.BigInt)}, {Name: "b", Type: types.String()}}}
	b := column.NewBatch(s.Types(), 2000)
	for i := range 2000 {
		b.Cols[0].AppendI64(int64(i))
		b.Cols[1].AppendString(strings.Repeat("text ", 400))
		b.N++
	}
	for _, format := range formats() {
		w := &counter{}
		p := newPrinter(format, layout{w: w, query: true, maxWidth: 30})
		require.NoError(t, p.begin(s))
		for range 15 {
			require.NoError(t, p.batch(b))
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		require.Less(t, m.HeapAlloc, uint64(32<<20), format)
		require.NoError(t, p.end())
		require.Greater(t, w.n, 60_000_000, format)
	}
}

// A million rows take no more memory than the first ten thousand.
func TestMillionRows(t *testing.T) {
	s := types.Schema{Columns: []types.Column{{Name: "a", Type: types.Of(types.BigInt)}, {Name: "b", Type: types.String()}}}
	b := column.NewBatch(s.Types(), 2000)
	for i := range 2000 {
		b.Cols[0].AppendI64(int64(i))
		b.Cols[1].AppendString("some text")
		b.N++
	}
	for _, format := range formats() {
		w := &counter{}
		p := newPrinter(format, layout{w: w, query: true, maxWidth: 30})
		require.NoError(t, p.begin(s))
		var m runtime.MemStats
		for i := range 500 {
			require.NoError(t, p.batch(b))
			if i%100 == 99 {
				runtime.GC()
				runtime.ReadMemStats(&m)
				require.Less(t, m.HeapAlloc, uint64(16<<20), format)
			}
		}
		require.NoError(t, p.end())
		require.Greater(t, w.n, 13_000_000, format)
	}
}

// Every format that can be set has a printer of its own, and there is no other.
func TestFormatNames(t *testing.T) {
	s := realSession(t)
	_, err := s.Execute(ctx, session.Text{SQL: "SET 'sluice.format' = 'nosuch'"})
	require.Error(t, err)
	said := err.Error()
	for _, format := range formats() {
		require.Contains(t, said, format)
		said = strings.Replace(said, format, "", 1)
		_, err := s.Execute(ctx, session.Text{SQL: "SET 'sluice.format' = '" + format + "'"})
		require.NoError(t, err)
	}
	require.Contains(t, said+"$", "allowed: '', '', '', '', '', '', ''$")

	// No two of them print alike.
	printed := map[string]string{}
	for _, format := range formats() {
		var w bytes.Buffer
		schema, b := table(t, "people")
		printTo(t, &w, format, layout{query: true}, schema, b)
		require.Empty(t, printed[w.String()], format)
		printed[w.String()] = format
	}
}

// failing fails from its n-th write on.
type failing struct{ n int }

var errFull = errors.New("no space left")

func (f *failing) Write(p []byte) (int, error) {
	if f.n--; f.n < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// An error of writing comes out of the printer, wherever it happens.
func TestWriteErrors(t *testing.T) {
	s, b := table(t, "people")
	for _, format := range formats() {
		p := newPrinter(format, layout{w: &failing{}, query: true, maxWidth: 30})
		err := p.begin(s)
		if err == nil {
			err = p.batch(b)
		}
		if err == nil {
			err = p.end()
		}
		require.ErrorIs(t, err, errFull, format)
	}
}

func BenchmarkFormat(b *testing.B) {
	s := types.Schema{Columns: []types.Column{{Name: "a", Type: types.Of(types.BigInt)}, {Name: "b", Type: types.String()}, {Name: "c", Type: types.DecimalOf(12, 2)}}}
	batch := column.NewBatch(s.Types(), 2000)
	for i := range 2000 {
		batch.Cols[0].AppendI64(int64(i) * 1000003)
		batch.Cols[1].AppendString("some text of a row")
		batch.Cols[2].AppendI64(int64(i))
		batch.N++
	}
	for _, format := range formats() {
		b.Run(format, func(b *testing.B) {
			p := newPrinter(format, layout{w: &counter{}, query: true, maxWidth: 30})
			if err := p.begin(s); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := p.batch(batch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2000, "ns/row")
		})
	}
}
