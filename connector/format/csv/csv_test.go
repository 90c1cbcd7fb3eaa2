package csv

import (
	"bytes"
	"context"
	stdcsv "encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/internal/testformat"
	"github.com/sluice-sql/sluice/types"
)

func newCodec(t testing.TB, schema types.Schema, options map[string]string) *codec {
	c, err := Format{}.Codec(schema, options)
	require.NoError(t, err)
	return c.(*codec)
}

func TestFiles(t *testing.T) {
	testformat.Walk(t, Format{}, func(c connector.Codec, window int) connector.Codec {
		own := *c.(*codec)
		own.window = window
		return &own
	})
}

func encode(t testing.TB, c *codec, b *column.Batch) string {
	e := c.Encoder()
	out, err := e.Rows(e.Header(nil), b.Cols, b.N)
	require.NoError(t, err)
	return string(out)
}

var dialects = []map[string]string{
	{},
	{"csv.header": "true"},
	{"csv.null-literal": "NULL"},
	{"csv.null-literal": `7`, "csv.field-delimiter": ";"},
	{"csv.field-delimiter": `\t`, "csv.quote-character": "'"},
	{"csv.escape-character": `\`},
	{"csv.escape-character": `\`, "csv.null-literal": "n", "csv.header": "true", "csv.allow-comments": "true"},
	{"csv.field-delimiter": "-", "csv.allow-comments": "true"},
	{"csv.field-delimiter": "1"},
	{"csv.field-delimiter": " ", "csv.quote-character": "e"},
}

// What is written reads back as the same values, whatever the dialect, the types and the window.
func TestRoundTrip(t *testing.T) {
	schema := testformat.Columns(t, testformat.EveryType)
	for i, options := range dialects {
		for seed := range uint64(30) {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			b := testformat.Random(r, schema, 1+r.IntN(60))
			c := newCodec(t, schema, options)
			data := encode(t, c, b)
			c.window = 1 + r.IntN(400)
			got, err := testformat.Read(c, c.schema, testformat.Piece(data), testformat.All(len(schema.Columns)))
			require.NoError(t, err, "%v, seed %d: %s", options, seed, data)
			testformat.RequireSame(t, b, got, fmt.Sprintf("%v, seed %d", options, seed))
		}
	}
}

// A table of one column has NULL in a blank line, and ” between quotes.
func TestRoundTripOneColumn(t *testing.T) {
	schema := testformat.Columns(t, "s STRING")
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		b := testformat.Random(r, schema, r.IntN(20))
		for _, options := range dialects {
			c := newCodec(t, schema, options)
			got, err := testformat.Read(c, c.schema, testformat.Piece(encode(t, c, b)), []int{0})
			require.NoError(t, err)
			testformat.RequireSame(t, b, got, "")
		}
	}
}

// Without quotes a value is escaped where that is possible, else refused.
func TestWithoutQuotes(t *testing.T) {
	schema := testformat.Columns(t, "a STRING, b STRING")
	one := func(s string) *column.Batch {
		b := column.NewBatch(schema.Types(), 1)
		b.Cols[0].AppendString(s)
		b.Cols[1].AppendNull()
		b.N = 1
		return b
	}
	c := newCodec(t, schema, map[string]string{"csv.disable-quote-character": "true"})
	for s, want := range map[string]string{
		"a,b": "column `a`: 'a,b' cannot be written without quotes; drop 'csv.disable-quote-character' or set 'csv.escape-character'",
		"":    "column `a`: '' cannot be told from NULL without quotes; set 'csv.null-literal'",
	} {
		_, err := c.Encoder().Rows(nil, one(s).Cols, 1)
		var e *connector.EncodeError
		require.ErrorAs(t, err, &e)
		require.Equal(t, want, e.Msg)
	}
	c = newCodec(t, schema, map[string]string{"csv.disable-quote-character": "true", "csv.escape-character": `\`, "csv.null-literal": "x", "csv.allow-comments": "true"})
	for _, s := range []string{"a,b", "", "x", "#x", `a"b`, "a\nb\r\n\x00\\", `"`, "\ufeff"} {
		got, err := testformat.Read(c, c.schema, testformat.Piece(encode(t, c, one(s))), testformat.All(2))
		require.NoError(t, err)
		require.Equal(t, testformat.Show(one(s)), testformat.Show(got))
	}
}

// columnsOf returns n columns of texts.
func columnsOf(n int) types.Schema {
	var s types.Schema
	for i := range n {
		s.Columns = append(s.Columns, types.Column{Name: "c" + strconv.Itoa(i), Type: types.String()})
	}
	return s
}

// oracle compares the decoder with encoding/csv.
func oracle(t *testing.T, data string, fields, window int) {
	c := newCodec(t, columnsOf(fields), nil)
	c.window = window
	got, err := testformat.Read(c, c.schema, testformat.Piece(data), testformat.All(fields))

	std := stdcsv.NewReader(strings.NewReader(strings.TrimPrefix(data, "\ufeff")))
	std.FieldsPerRecord = fields
	records, stdErr := std.ReadAll()
	if err != nil {
		strict := !utf8.ValidString(data) || strings.ContainsRune(data, 0) || strings.Contains(strings.ReplaceAll(data, "\r\n", "")+"", "\r") ||
			strings.Contains(data, "\n\n") || strings.Contains(data, "\n\r\n") || strings.HasPrefix(strings.TrimPrefix(data, "\ufeff"), "\n") || strings.HasPrefix(strings.TrimPrefix(data, "\ufeff"), "\r\n") ||
			strings.HasPrefix(data, "\xff\xfe")
		require.True(t, strict || stdErr != nil, "%q: %v, but encoding/csv reads %q", data, err, records)
		return
	}
	require.NoError(t, stdErr, "%q gives %s", data, testformat.Show(got))
	var rows [][]string
	for r := range got.N {
		var row []string
		blank := fields == 1
		for _, v := range got.Cols {
			row = append(row, strings.ReplaceAll(string(v.Value(r)), "\r\n", "\n"))
			blank = blank && v.IsNull(r)
		}
		if !blank {
			rows = append(rows, row)
		}
	}
	require.Equal(t, len(records), len(rows), "%q", data)
	for i := range rows {
		require.Equal(t, records[i], rows[i], "%q", data)
	}
}

func TestOracle(t *testing.T) {
	parts := []string{"a", ",", ",", "\n", "\n", `"`, `"`, `""`, "\r\n", "é", "bc", " ", `"x,y"`, `"l1` + "\n" + `l2"`}
	r := rand.New(rand.NewPCG(1, 2))
	for range 30000 {
		var s strings.Builder
		for range r.IntN(14) {
			s.WriteString(parts[r.IntN(len(parts))])
		}
		oracle(t, s.String(), 1+r.IntN(3), 1+r.IntN(40))
	}
}

func FuzzOracle(f *testing.F) {
	f.Add("a,b\n\"x\"\"\n\",\n", uint8(2), uint8(9))
	f.Add("\ufeffa\r\n\r\n", uint8(1), uint8(1))
	f.Fuzz(func(t *testing.T, data string, fields, window uint8) {
		oracle(t, data, 1+int(fields%4), 1+int(window))
	})
}

func FuzzRoundTrip(f *testing.F) {
	f.Add("a\x00\"", "", "7", uint8(0), uint64(1))
	schema := types.Schema{Columns: append([]types.Column{{Name: "x", Type: types.String()}, {Name: "y", Type: types.String()}, {Name: "z", Type: types.String()}}, testformat.Columns(f, testformat.EveryType).Columns...)}
	f.Fuzz(func(t *testing.T, x, y, z string, dialect uint8, seed uint64) {
		if !utf8.ValidString(x) || !utf8.ValidString(y) || !utf8.ValidString(z) {
			return
		}
		r := rand.New(rand.NewPCG(seed, 3))
		b := column.NewBatch(schema.Types(), 2)
		for range 2 {
			for i, v := range b.Cols {
				if i < 3 {
					v.AppendString([]string{x, y, z}[i])
				} else {
					testformat.AppendRandom(r, v)
				}
			}
			b.N++
		}
		c := newCodec(t, schema, dialects[int(dialect)%len(dialects)])
		data := encode(t, c, b)
		c.window = 1 + r.IntN(100)
		got, err := testformat.Read(c, c.schema, testformat.Piece(data), testformat.All(len(schema.Columns)))
		require.NoError(t, err, "%q", data)
		testformat.RequireSame(t, b, got, data)
	})
}

// The pieces of a file give the rows of the whole, with the right lines in errors.
func TestCuts(t *testing.T) {
	schema := testformat.Columns(t, "n BIGINT, s STRING")
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 5))
		var s strings.Builder
		options := map[string]string{}
		if r.IntN(2) == 0 {
			options["csv.header"] = "true"
			s.WriteString("s,n\n")
			if r.IntN(2) == 0 {
				s.Reset()
				s.WriteString("\ufeffn,s\r\n")
			}
		}
		swapped := strings.HasPrefix(s.String(), "s")
		bad := 0
		rows := r.IntN(60)
		for i := range rows {
			n := strconv.Itoa(i)
			if r.IntN(80) == 0 && bad == 0 {
				n, bad = "bad", i+1
			}
			word := strings.Repeat("x", r.IntN(9))
			if swapped {
				n, word = word, n
			}
			s.WriteString(n + "," + word + []string{"\n", "\r\n"}[r.IntN(2)])
		}
		data := s.String()
		c := newCodec(t, schema, options)
		c.window = 1 + r.IntN(50)
		want, wantErr := testformat.Read(c, c.schema, testformat.Piece(data), testformat.All(2))
		file := strings.NewReader(data)
		cuts, err := c.cuts(context.Background(), file, int64(len(data)), int64(2+r.IntN(6)))
		require.NoError(t, err)
		if rows > 20 {
			require.NotEmpty(t, cuts)
		}
		got := column.NewBatch(schema.Types(), 0)
		var gotErr error
		for i := 0; i <= len(cuts) && gotErr == nil; i++ {
			p := connector.Piece{Name: "data/x", File: file, Last: i == len(cuts)}
			end := int64(len(data))
			if i > 0 {
				p.Start = cuts[i-1]
			}
			if i < len(cuts) {
				end = cuts[i].Offset
			}
			p.Data = io.NewSectionReader(file, p.Start.Offset, end-p.Start.Offset)
			var b *column.Batch
			b, gotErr = testformat.Read(c, c.schema, p, testformat.All(2))
			got.AppendBatch(b)
		}
		require.Equal(t, testformat.Show(want), testformat.Show(got), "%q %v", data, cuts)
		require.Equal(t, wantErr, gotErr)
	}
	c := newCodec(t, schema, nil)
	cuts, err := c.cuts(context.Background(), strings.NewReader("1,a\n2,\"b\"\n3,c\n"), 14, 3)
	require.NoError(t, err)
	require.Empty(t, cuts, "a file with a quote is read in one piece")
}

// C4: a cell of 5 MB is read in linear time, and over the budget it is an error that names the line.
func TestLongCell(t *testing.T) {
	schema := testformat.Columns(t, "n INT, s STRING")
	long := strings.Repeat("0123456789", 500_000)
	data := "1,a\n2,\"" + long + "\n" + long + "\"\n3,c\n"
	c := newCodec(t, schema, nil)
	budget := connector.NewMemory(64 << 20)
	p := testformat.Piece(data)
	p.Memory = budget
	b, err := testformat.Read(c, c.schema, p, testformat.All(2))
	require.NoError(t, err)
	require.Equal(t, 3, b.N)
	require.Equal(t, long+"\n"+long, string(b.Cols[1].Value(1)))
	require.Zero(t, budget.Used(), "what a long row took is given back")

	p = testformat.Piece(data)
	p.Memory = connector.NewMemory(1 << 20)
	_, err = testformat.Read(c, c.schema, p, testformat.All(2))
	require.EqualError(t, err, "data/x, line 2: the row that begins here is too long: it does not fit the memory: out of the memory budget: 1048576 bytes wanted, 524288 of 1048576 in use; raise it with SET 'sluice.memory' = '<size>'; maybe a quote in it is never closed")
}

// An error of reading is told as it is, after the rows before it.
func TestReadError(t *testing.T) {
	c := newCodec(t, columnsOf(1), nil)
	p := testformat.Piece("")
	p.Data = io.MultiReader(strings.NewReader("a\nb\n"), iotest.ErrReader(errors.New("disk on fire")))
	_, err := testformat.Read(c, c.schema, p, []int{0})
	require.EqualError(t, err, "data/x: disk on fire")
}

// A query that does not need a column does not look at its values.
func TestProjection(t *testing.T) {
	c := newCodec(t, testformat.Columns(t, "a INT, b STRING, c INT"), nil)
	b, err := testformat.Read(c, c.schema, testformat.Piece("1,\"x\n\",3\nbad,y,4\n"), []int{2, 1})
	require.NoError(t, err)
	require.Equal(t, "3 | \"x\\n\"\n4 | \"y\"\n", testformat.Show(b))
	b, err = testformat.Read(c, c.schema, testformat.Piece("1,x,3\n2,y,4\n"), nil)
	require.NoError(t, err)
	require.Equal(t, 2, b.N)
}

// sample is lines as the benchmark has them: numbers, dates and texts.
func sample(rows int) []byte {
	r := rand.New(rand.NewPCG(1, 1))
	var s bytes.Buffer
	for i := range rows {
		fmt.Fprintf(&s, "%d,%d,%.2f,%.4f,19%02d-%02d-%02d,customer %d,%s,note of row %d\n", i, r.IntN(1e6), r.Float64()*1e5, r.Float64(),
			r.IntN(100), 1+r.IntN(12), 1+r.IntN(28), r.IntN(1000), []string{"R", "A", "N"}[r.IntN(3)], i)
	}
	return s.Bytes()
}

const sampleColumns = "id BIGINT, k INT, price DECIMAL(12, 2), rate DOUBLE, d DATE, customer STRING, flag STRING, note STRING"

func BenchmarkRead(b *testing.B) {
	data := sample(100_000)
	c := newCodec(b, testformat.Columns(b, sampleColumns), nil)
	batch := column.NewBatch(c.schema.Types(), column.DefaultRows)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		d, _ := c.Decoder(connector.Piece{Name: "x", Data: bytes.NewReader(data), Last: true}, testformat.All(8))
		for {
			batch.Reset()
			if _, err := d.Read(batch.Cols); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkReadStandard only splits: no value is parsed.
func BenchmarkReadStandard(b *testing.B) {
	data := sample(100_000)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		r := stdcsv.NewReader(bytes.NewReader(data))
		r.ReuseRecord = true
		for {
			if _, err := r.Read(); err == io.EOF {
				break
			}
		}
	}
}

// BenchmarkReadStandardParsed also makes the vectors, as one does over encoding/csv.
func BenchmarkReadStandardParsed(b *testing.B) {
	data := sample(100_000)
	batch := column.NewBatch(testformat.Columns(b, sampleColumns).Types(), column.DefaultRows)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		r := stdcsv.NewReader(bytes.NewReader(data))
		r.ReuseRecord = true
		for n := 0; ; n++ {
			row, err := r.Read()
			if err == io.EOF {
				break
			}
			if n%column.DefaultRows == 0 {
				batch.Reset()
			}
			for i, v := range batch.Cols {
				switch v.Type.Kind {
				case types.BigInt, types.Int:
					x, err := strconv.ParseInt(row[i], 10, 64)
					if err != nil {
						b.Fatal(err)
					}
					v.AppendI64(x)
				case types.Decimal:
					x, err := types.ParseDecimalExact([]byte(row[i]), v.Type.Precision, v.Type.Scale)
					if err != nil {
						b.Fatal(err)
					}
					v.AppendI128(x)
				case types.Double:
					x, err := strconv.ParseFloat(row[i], 64)
					if err != nil {
						b.Fatal(err)
					}
					v.AppendF64(x)
				case types.Date:
					x, err := types.ParseISODate([]byte(row[i]))
					if err != nil {
						b.Fatal(err)
					}
					v.AppendI64(int64(x))
				default:
					v.AppendString(row[i])
				}
			}
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	data := sample(100_000)
	c := newCodec(b, testformat.Columns(b, sampleColumns), nil)
	batch, err := testformat.Read(c, c.schema, connector.Piece{Data: bytes.NewReader(data), Last: true}, testformat.All(8))
	require.NoError(b, err)
	var buf []byte
	e := c.Encoder()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		buf, _ = e.Rows(buf[:0], batch.Cols, batch.N)
	}
}

func BenchmarkWriteStandard(b *testing.B) {
	data := sample(100_000)
	records, err := stdcsv.NewReader(bytes.NewReader(data)).ReadAll()
	require.NoError(b, err)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		_ = stdcsv.NewWriter(io.Discard).WriteAll(records)
	}
}
