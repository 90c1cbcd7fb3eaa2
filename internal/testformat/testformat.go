// Package testformat has what the tests of the formats have in common: tables of all types with random rows,
// reading a whole piece, and files of cases.
package testformat

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/internal/testfile"
	"github.com/sluice-sql/sluice/types"
)

// Columns reads "a INT, b DECIMAL(5, 2) NOT NULL": names have no blanks.
func Columns(t testing.TB, list string) types.Schema {
	var s types.Schema
	depth, from := 0, 0
	add := func(def string) {
		name, typ, ok := strings.Cut(strings.TrimSpace(def), " ")
		require.True(t, ok, def)
		typed, err := types.ParseType(typ)
		require.NoError(t, err)
		s.Columns = append(s.Columns, types.Column{Name: name, Type: typed})
	}
	for i, c := range list {
		switch {
		case c == '(', c == '<':
			depth++
		case c == ')', c == '>':
			depth--
		case c == ',' && depth == 0:
			add(list[from:i])
			from = i + 1
		}
	}
	add(list[from:])
	return s
}

// All returns the numbers of n columns.
func All(n int) []int {
	cols := make([]int, n)
	for i := range cols {
		cols[i] = i
	}
	return cols
}

// Read decodes a piece and returns its rows as one batch, also those before an error.
func Read(c connector.Codec, schema types.Schema, piece connector.Piece, columns []int) (*column.Batch, error) {
	ts := make([]types.Type, len(columns))
	for i, at := range columns {
		ts[i] = schema.Columns[at].Type
	}
	whole := column.NewBatch(ts, 0)
	d, err := c.Decoder(piece, columns)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	b := column.NewBatch(ts, column.DefaultRows)
	for {
		b.Reset()
		n, err := d.Read(b.Cols)
		if err == io.EOF {
			return whole, nil
		}
		if err != nil {
			return whole, err
		}
		for _, v := range b.Cols {
			if v.Len != n {
				return whole, fmt.Errorf("%d rows, but a vector of %d", n, v.Len)
			}
		}
		b.N = n
		whole.AppendBatch(b)
	}
}

// Piece returns a whole file.
func Piece(data string) connector.Piece {
	return connector.Piece{Name: "data/x", Data: strings.NewReader(data), Last: true}
}

// Show prints rows with a blank bar between values; NULL stands for NULL and strings are quoted.
func Show(b *column.Batch) string {
	var s strings.Builder
	for r := range b.N {
		for i, v := range b.Cols {
			if i > 0 {
				s.WriteString(" | ")
			}
			switch {
			case v.IsNull(r):
				s.WriteString("NULL")
			case v.Type.IsString():
				s.WriteString(strconv.Quote(string(v.Value(r))))
			default:
				s.Write(column.AppendText(nil, v, r, nil))
			}
		}
		s.WriteByte('\n')
	}
	return s.String()
}

// EveryType has all the types there are.
const EveryType = "bo BOOLEAN, ti TINYINT, si SMALLINT, i INT, bi BIGINT, f FLOAT, d DOUBLE, d1 DECIMAL(18, 6), d2 DECIMAL(38, 18), " +
	"c CHAR(5), vc VARCHAR(9), s STRING, b BINARY(3), vb VARBINARY(5), by BYTES, da DATE, t0 TIME(0), t3 TIME(3), " +
	"ts0 TIMESTAMP(0), ts6 TIMESTAMP(6), ts9 TIMESTAMP(9), tz3 TIMESTAMP_LTZ(3), tz9 TIMESTAMP_LTZ(9), ym INTERVAL YEAR TO MONTH, dt INTERVAL DAY TO SECOND"

// EveryNested has types with parts, whose keys are texts.
const EveryNested = "ar ARRAY<INT>, an ARRAY<ARRAY<STRING> NOT NULL>, m MAP<STRING NOT NULL, DECIMAL(20, 3)>, ms MULTISET<VARCHAR(6) NOT NULL>, " +
	"r ROW<a BIGINT, b STRING, d ROW<e DATE, f MAP<CHAR(2) NOT NULL, ARRAY<DOUBLE>>>>, ra ARRAY<ROW<x TIMESTAMP_LTZ(3), y BOOLEAN NOT NULL>>, z ROW<b BYTES> NOT NULL"

// Random returns rows with extreme and ordinary values.
func Random(r *rand.Rand, schema types.Schema, n int) *column.Batch {
	b := column.NewBatch(schema.Types(), n)
	for range n {
		for _, v := range b.Cols {
			AppendRandom(r, v)
		}
		b.N++
	}
	return b
}

// AppendRandom appends an extreme or ordinary value of a vector's type, or NULL.
func AppendRandom(r *rand.Rand, v *column.Vector) {
	t := v.Type
	if !t.NotNull && r.IntN(6) == 0 {
		v.AppendNull()
		return
	}
	if t.IsNested() {
		appendParts(r, v)
		return
	}
	pick := func(least, most int64) int64 {
		switch r.IntN(5) {
		case 0:
			return least
		case 1:
			return most
		case 2:
			return max(least, min(most, int64(r.IntN(21)-10)))
		}
		return max(least, min(most, int64(r.Uint64())>>r.IntN(63)))
	}
	words := []string{"", "a", ",", `"`, "\n", "\r", "\r\n", "\x00", "ß", "NULL", `\`, `\N`, " ", "#", "\ufeff", "7", "n", "0", "\t", ";", "日本", "😀", "'", "x y", "true"}
	text := func(most int) string {
		s := ""
		for range r.IntN(4) {
			w := words[r.IntN(len(words))]
			if utf8.RuneCountInString(s+w) > most {
				break
			}
			s += w
		}
		return s
	}
	switch t.Kind {
	case types.Boolean:
		v.AppendBool(r.IntN(2) == 0)
	case types.TinyInt:
		v.AppendI64(pick(math.MinInt8, math.MaxInt8))
	case types.SmallInt:
		v.AppendI64(pick(math.MinInt16, math.MaxInt16))
	case types.Int, types.IntervalYearMonth:
		v.AppendI64(pick(math.MinInt32, math.MaxInt32))
	case types.BigInt, types.IntervalDayTime:
		v.AppendI64(pick(math.MinInt64, math.MaxInt64))
	case types.Double, types.Float:
		specials := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64, 0.1, 1e21, 123456789.125, math.Float64frombits(r.Uint64())}
		x := specials[r.IntN(len(specials))]
		if t.Kind == types.Float {
			specials := []float32{0, float32(math.NaN()), float32(math.Inf(1)), math.MaxFloat32, math.SmallestNonzeroFloat32, 0.1, math.Float32frombits(r.Uint32())}
			x = float64(specials[r.IntN(len(specials))])
		}
		v.AppendF64(x)
	case types.Decimal:
		top := types.Pow10(t.Precision).Sub(types.Int128From(1))
		x := []types.Int128{{}, top, top.Neg(), types.Int128From(1), types.Int128From(pick(-1e17, 1e17))}[r.IntN(5)]
		v.AppendI128(x)
	case types.Char:
		s := text(t.Precision)
		v.AppendString(s + strings.Repeat(" ", t.Precision-utf8.RuneCountInString(s)))
	case types.VarChar:
		v.AppendString(text(min(t.Precision, 1000)))
	case types.Binary, types.VarBinary:
		n := t.Precision
		if t.Kind == types.VarBinary {
			n = r.IntN(min(t.Precision, 40) + 1)
		}
		x := make([]byte, n)
		for i := range x {
			x[i] = byte(r.Uint32())
		}
		v.AppendBytes(x)
	case types.Date:
		v.AppendI64(pick(int64(types.MinDate), int64(types.MaxDate)))
	case types.Time:
		ms := pick(0, types.MillisPerDay-1)
		if t.Precision == 0 {
			ms -= ms % 1000
		}
		v.AppendI64(ms)
	case types.Timestamp, types.TimestampLTZ:
		x := int64(0)
		if t.Nanos() {
			x = pick(math.MinInt64, math.MaxInt64)
		} else {
			x = pick(types.MinMicros, types.MaxMicros)
			unit := int64(math.Pow10(6 - t.Precision))
			if m := x % unit; m < 0 {
				x -= m + unit
				if x < types.MinMicros {
					x = types.MinMicros
				}
			} else {
				x -= m
			}
		}
		v.AppendI64(x)
	}
}

// appendParts appends a value with parts; the keys of a MAP and the elements of a MULTISET differ.
func appendParts(r *rand.Rand, v *column.Vector) {
	if v.Type.Kind == types.Row {
		for _, c := range v.Children {
			AppendRandom(r, c)
		}
		v.EndRow()
		return
	}
	for range r.IntN(5) {
		keys := v.Children[0]
		AppendRandom(r, keys)
		if v.Type.Kind == types.Array {
			continue
		}
		from := int(v.Offsets[v.Len])
		for i := from; i < keys.Len-1; i++ {
			if column.EqualRows(v.Children[:1], i, v.Children[:1], keys.Len-1) {
				*keys = *keys.Head(keys.Len - 1)
				break
			}
		}
		if keys.Len == v.Children[1].Len {
			continue
		}
		if v.Type.Kind == types.Multiset {
			v.Children[1].AppendI64(1 + int64(r.IntN(3)))
		} else {
			AppendRandom(r, v.Children[1])
		}
	}
	v.EndRow()
}

// RequireSame compares batches value by value; text forms tell all values apart but the NaNs.
func RequireSame(t testing.TB, want, got *column.Batch, msg string) {
	require.Equal(t, Show(want), Show(got), msg)
	for i := range want.Cols {
		require.True(t, want.Cols[i].Type.Equal(got.Cols[i].Type))
		for r := range want.N {
			if want.Cols[i].Type.IsFloat() || want.Cols[i].IsNull(r) {
				continue
			}
			if want.Cols[i].Type.IsNested() {
				require.True(t, column.EqualRows(want.Cols[i:i+1], r, got.Cols[i:i+1], r))
				continue
			}
			require.Zero(t, column.Compare(want.Cols[i], r, got.Cols[i], r))
		}
	}
}

// Walk runs the files in testdata. The first line of a case has the columns, the next ones have the options,
// and after a line with = the file stands; infer has no columns. `escapes` has \\n, \\x00 and the like in the
// file, and no line ends but those. window returns a codec that reads through a window of the given size.
func Walk(t *testing.T, f connector.Format, window func(c connector.Codec, size int) connector.Codec) {
	testfile.Walk(t, "testdata", ".test", func(t *testing.T, path string) {
		testfile.Run(t, path, func(t *testing.T, c *testfile.Case) string {
			head, data, ok := strings.Cut("\n"+c.Input, "\n=\n")
			if !ok {
				head, data = strings.TrimSuffix("\n"+c.Input, "\n="), ""
			}
			lines := strings.Split(strings.TrimPrefix(head, "\n"), "\n")
			if testfile.Has(c, "escapes") {
				var err error
				data, err = strconv.Unquote(`"` + strings.ReplaceAll(strings.ReplaceAll(data, "\n", ""), `"`, `\"`) + `"`)
				require.NoError(t, err)
			} else if data != "" {
				data += "\n"
			}
			if c.Cmd == "infer" {
				return infer(t, f, lines, data)
			}
			schema := Columns(t, lines[0])
			codec, err := f.Codec(schema, options(lines[1:]))
			if err != nil {
				return "error: " + err.Error()
			}
			var first string
			for i, size := range []int{512 << 10, 16, 7, 1} {
				p := Piece(data)
				if i == 2 {
					p.Data = iotest.OneByteReader(p.Data)
				}
				b, err := Read(window(codec, size), schema, p, All(len(schema.Columns)))
				out := Show(b)
				if err != nil {
					out += "error: " + err.Error() + "\n"
				}
				if i == 0 {
					first = out
				}
				require.Equal(t, first, out, "with a window of %d bytes", size)
			}
			return first
		})
	})
}

func infer(t *testing.T, f connector.Format, lines []string, data string) string {
	s, err := f.Infer(context.Background(), Piece(data), options(lines))
	if err != nil {
		return "error: " + err.Error()
	}
	var out []string
	for _, c := range s.Columns {
		out = append(out, c.Name+" "+c.Type.String())
	}
	// What is proposed reads the file.
	codec, err := f.Codec(s, options(lines))
	require.NoError(t, err)
	_, err = Read(codec, s, Piece(data), All(len(s.Columns)))
	require.NoError(t, err)
	return strings.Join(out, "\n")
}

func options(lines []string) map[string]string {
	m := map[string]string{}
	for _, o := range lines {
		if k, v, ok := strings.Cut(o, " = "); ok {
			m[k] = v
		}
	}
	return m
}
