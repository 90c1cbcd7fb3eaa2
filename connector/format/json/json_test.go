package json

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	stdjson "encoding/json"

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
	out, err := c.Encoder().Rows(nil, b.Cols, b.N)
	require.NoError(t, err)
	return string(out)
}

var variants = []map[string]string{
	{},
	{"json.timestamp-format.standard": "ISO-8601"},
	{"json.encode.ignore-null-fields": "true"},
	{"json.fail-on-missing-field": "true", "json.encode.decimal-as-plain-number": "true"},
}

// What is written reads back as the same values, and is JSON to the standard library.
func TestRoundTrip(t *testing.T) {
	schema := testformat.Columns(t, testformat.EveryType+", "+testformat.EveryNested)
	for i, options := range variants {
		for seed := range uint64(60) {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			b := testformat.Random(r, schema, 1+r.IntN(60))
			c := newCodec(t, schema, options)
			data := encode(t, c, b)
			for _, line := range strings.Split(strings.TrimSuffix(data, "\n"), "\n") {
				require.True(t, stdjson.Valid([]byte(line)), line)
			}
			c.window = 1 + r.IntN(900)
			if r.IntN(2) == 0 { // the same objects in an array
				data = "[" + strings.ReplaceAll(strings.TrimSuffix(data, "\n"), "\n", ", ") + "]"
			}
			got, err := testformat.Read(c, c.schema, testformat.Piece(data), testformat.All(len(schema.Columns)))
			require.NoError(t, err, "%v, seed %d: %s", options, seed, data)
			testformat.RequireSame(t, b, got, fmt.Sprintf("%v, seed %d", options, seed))
		}
	}
}

func FuzzRoundTrip(f *testing.F) {
	f.Add("a\x00\"", "", "\u2028", uint8(0), uint64(1))
	schema := types.Schema{Columns: append([]types.Column{{Name: "x", Type: types.String()}, {Name: `"y\`, Type: types.String()}, {Name: "z", Type: types.String()}},
		testformat.Columns(f, testformat.EveryType).Columns...)}
	f.Fuzz(func(t *testing.T, x, y, z string, variant uint8, seed uint64) {
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
		c := newCodec(t, schema, variants[int(variant)%len(variants)])
		data := encode(t, c, b)
		c.window = 1 + r.IntN(100)
		got, err := testformat.Read(c, c.schema, testformat.Piece(data), testformat.All(len(schema.Columns)))
		require.NoError(t, err, "%q", data)
		testformat.RequireSame(t, b, got, data)
	})
}

// oracle compares the decoder with encoding/json on one document: an object, or an array of them.
func oracle(t *testing.T, data string, window int) {
	schema := testformat.Columns(t, "a STRING, b STRING")
	c := newCodec(t, schema, nil)
	c.window = window
	got, err := testformat.Read(c, c.schema, testformat.Piece(data), testformat.All(2))

	var want []map[string]stdjson.RawMessage
	var stdErr error
	dec := stdjson.NewDecoder(strings.NewReader(strings.TrimPrefix(data, "\ufeff")))
	for {
		var doc stdjson.RawMessage
		if stdErr = dec.Decode(&doc); stdErr == io.EOF {
			stdErr = nil
			break
		}
		if stdErr != nil {
			break
		}
		if doc[0] == '[' {
			var list []stdjson.RawMessage
			if stdErr = stdjson.Unmarshal(doc, &list); stdErr != nil {
				break
			}
			for _, o := range list {
				want, stdErr = object1(want, o, stdErr)
			}
			if stdErr != nil {
				break
			}
			continue
		}
		if want, stdErr = object1(want, doc, stdErr); stdErr != nil {
			break
		}
	}
	if err != nil {
		msg := err.Error()
		strict := strings.Contains(msg, "twice") || strings.Contains(msg, "half is missing") || strings.Contains(msg, "UTF-") || strings.Contains(msg, "deep")
		require.True(t, strict || stdErr != nil, "%q: %v, but encoding/json reads %q", data, err, want)
		return
	}
	require.NoError(t, stdErr, "%q gives %s", data, testformat.Show(got))
	require.Equal(t, len(want), got.N, "%q", data)
	for r, o := range want {
		for i, key := range []string{"a", "b"} {
			raw, v := o[key], got.Cols[i]
			var s string
			switch {
			case raw == nil || string(raw) == "null":
				require.True(t, v.IsNull(r), "%q", data)
				continue
			case raw[0] == '"':
				require.NoError(t, stdjson.Unmarshal(raw, &s))
			default:
				var b bytes.Buffer
				require.NoError(t, stdjson.Compact(&b, raw))
				s = b.String()
			}
			require.Equal(t, s, string(v.Value(r)), "%q", data)
		}
	}
}

func object1(want []map[string]stdjson.RawMessage, doc stdjson.RawMessage, err error) ([]map[string]stdjson.RawMessage, error) {
	var o map[string]stdjson.RawMessage
	if err != nil {
		return want, err
	}
	if err := stdjson.Unmarshal(doc, &o); err != nil || o == nil {
		return want, errors.Join(errors.New("not an object"), err)
	}
	return append(want, o), nil
}

func TestOracle(t *testing.T) {
	parts := []string{"{", "}", "[", "]", ",", ":", `"a"`, `"b"`, `"a":`, `"b":`, "1", "-0.5e+3", "01", "true", "null", "nul", `"\u00e9\ud83d\ude00\n"`, `"\ud83d"`, `"x`, " ", "\n", `{"a":1}`, `{"b":[1,{"c":"d"}],"a":"x"}`, `"\q"`, "\ufeff", `{"a":`, `{"x":{},"a":false}`}
	r := rand.New(rand.NewPCG(1, 2))
	for range 40000 {
		var s strings.Builder
		for range 1 + r.IntN(9) {
			s.WriteString(parts[r.IntN(len(parts))])
		}
		oracle(t, s.String(), 1+r.IntN(40))
	}
}

func FuzzOracle(f *testing.F) {
	for _, s := range []string{`{"a":1,"b":"x\u0041"}`, "[{\"a\":[1,2 ]},\n{}]", `{"a":-1.5e3,"a":2}`, `{"c":{"a":"b"}}{"b":"\ud83d\ude00"}`} {
		f.Add(s, uint8(9))
	}
	f.Fuzz(func(t *testing.T, data string, window uint8) { oracle(t, data, 1+int(window)) })
}

// C4: a line of 5 MB is read in linear time, and over the budget it is an error that names the line.
func TestLongLine(t *testing.T) {
	schema := testformat.Columns(t, "n INT, s STRING")
	long := strings.Repeat("0123456789", 500_000)
	data := `{"n":1}` + "\n" + `{"n":2,"s":"` + long + `\n"}` + "\n" + `{"n":3}` + "\n"
	c := newCodec(t, schema, nil)
	budget := connector.NewMemory(64 << 20)
	p := testformat.Piece(data)
	p.Memory = budget
	b, err := testformat.Read(c, c.schema, p, testformat.All(2))
	require.NoError(t, err)
	require.Equal(t, 3, b.N)
	require.Equal(t, long+"\n", string(b.Cols[1].Value(1)))
	require.Zero(t, budget.Used(), "what a long object took is given back")

	p = testformat.Piece(data)
	p.Memory = connector.NewMemory(1 << 20)
	_, err = testformat.Read(c, c.schema, p, testformat.All(2))
	require.EqualError(t, err, "data/x, line 2: the object that begins here is too long: it does not fit the memory: out of the memory budget: 1048576 bytes wanted, 524288 of 1048576 in use; raise it with SET 'sluice.memory' = '<size>'")
}

func TestReadError(t *testing.T) {
	c := newCodec(t, testformat.Columns(t, "a INT"), nil)
	p := testformat.Piece("")
	p.Data = io.MultiReader(strings.NewReader("{\"a\":1}\n"), iotest.ErrReader(errors.New("disk on fire")))
	_, err := testformat.Read(c, c.schema, p, []int{0})
	require.EqualError(t, err, "data/x: disk on fire")
}

// sample is objects as the benchmark has them: numbers, dates and texts.
func sample(rows int) []byte {
	r := rand.New(rand.NewPCG(1, 1))
	var s bytes.Buffer
	for i := range rows {
		fmt.Fprintf(&s, `{"id":%d,"k":%d,"price":%.2f,"rate":%.4f,"d":"19%02d-%02d-%02d","customer":"customer %d","flag":"%s","note":"note of row %d"}`+"\n", i, r.IntN(1e6), r.Float64()*1e5, r.Float64(),
			r.IntN(100), 1+r.IntN(12), 1+r.IntN(28), r.IntN(1000), []string{"R", "A", "N"}[r.IntN(3)], i)
	}
	return s.Bytes()
}

const sampleColumns = "id BIGINT, k INT, price DECIMAL(12, 2), rate DOUBLE, d DATE, customer STRING, flag STRING, note STRING"

func BenchmarkRead(b *testing.B) {
	data := sample(50_000)
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

// BenchmarkReadStandard is encoding/json's decoder into a struct, which makes no vectors.
func BenchmarkReadStandard(b *testing.B) {
	data := sample(50_000)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		d := stdjson.NewDecoder(bytes.NewReader(data))
		for {
			var row struct {
				ID, K                   stdjson.Number
				Price, Rate             stdjson.Number
				D, Customer, Flag, Note string
			}
			if err := d.Decode(&row); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkReadTokens is encoding/json's tokenizer alone.
func BenchmarkReadTokens(b *testing.B) {
	data := sample(50_000)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		d := stdjson.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	data := sample(50_000)
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
