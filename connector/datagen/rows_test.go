package datagen

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/internal/testfile"
	"github.com/sluice-sql/sluice/types"
)

var noon = time.Date(2024, 7, 1, 22, 30, 15, 123_456_789, time.UTC)

// define reads a definition: lines of a column and its type, and lines of an option, 'key' = 'value'.
func define(t *testing.T, text string) connector.TableDef {
	def := connector.TableDef{Identifier: connector.ObjectIdentifier{Catalog: "c", Database: "d", Object: "t"}, Options: map[string]string{"connector": "datagen"}}
	for _, line := range strings.Split(text, "\n") {
		if key, ok := strings.CutPrefix(line, "'"); ok {
			k, v, ok := strings.Cut(key, "' = '")
			require.True(t, ok, line)
			def.Options[k] = strings.TrimSuffix(v, "'")
			continue
		}
		name, typ, _ := strings.Cut(line, " ")
		parsed, err := types.ParseType(typ)
		require.NoError(t, err, line)
		def.Schema.Columns = append(def.Schema.Columns, types.Column{Name: name, Type: parsed})
	}
	return def
}

// read reads up to n rows in a job of a seed, all columns unless some are named.
func read(t *testing.T, def connector.TableDef, seed uint64, parallelism int, n int64, columns ...int) *column.Batch {
	def.Options["rows-per-second"] = strconv.Itoa(unpaced)
	table, err := Connector{}.Table(context.Background(), def, &connector.Env{Clock: func() time.Time { return noon }})
	require.NoError(t, err)
	if columns == nil {
		for i := range def.Schema.Columns {
			columns = append(columns, i)
		}
	}
	src, err := table.(connector.Scannable).Source(context.Background(), connector.Scan{Columns: columns, Limit: n})
	require.NoError(t, err)
	zone := time.FixedZone("", 2*3600)
	splits, err := src.Splits(connector.WithJob(context.Background(), connector.JobSettings{Seed: seed, Zone: zone}), parallelism)
	require.NoError(t, err)
	var ts []types.Type
	for _, c := range columns {
		ts = append(ts, def.Schema.Columns[c].Type)
	}
	all, b := column.NewBatch(ts, 0), column.NewBatch(ts, 0)
	for _, split := range splits {
		r, err := src.Reader(context.Background(), []connector.Split{split})
		require.NoError(t, err)
		for status := connector.More; status != connector.End; {
			status, err = r.Read(context.Background(), b)
			require.NoError(t, err)
			require.LessOrEqual(t, b.N, column.DefaultRows)
			all.AppendBatch(b)
		}
		require.NoError(t, r.Close())
	}
	require.NoError(t, src.Close())
	return all
}

// TestRows makes rows and errors of definitions. Directives:
//
//	rows n=N seed=N    the definition's first rows
//	wrong              the error of a definition
func TestRows(t *testing.T) {
	testfile.Walk(t, "testdata", ".test", func(t *testing.T, path string) {
		testfile.Run(t, path, func(t *testing.T, c *testfile.Case) string {
			def := define(t, c.Input)
			what := append([]connector.Option{{Key: "connector"}}, Connector{}.Options()...)
			err := connector.CheckOptions("connector 'datagen'", what, def.Options)
			if err == nil {
				err = Connector{}.CheckDefinition(def)
			}
			if c.Cmd == "wrong" {
				require.Error(t, err)
				return err.Error() + "\n"
			}
			require.NoError(t, err)
			n, seed := int64(5), uint64(1)
			if v := testfile.Values(c, "n"); v != nil {
				n, err = strconv.ParseInt(v[0], 10, 64)
				require.NoError(t, err)
			}
			b := read(t, def, seed, 1, n)
			var out strings.Builder
			for i := range b.N {
				for k, v := range b.Cols {
					if k > 0 {
						out.WriteString(" | ")
					}
					if v.IsNull(i) {
						out.WriteString("NULL")
					} else {
						out.Write(column.AppendText(nil, v, i, time.UTC))
					}
				}
				out.WriteByte('\n')
			}
			return out.String()
		})
	})
}

const everything = `a BOOLEAN
b TINYINT
c SMALLINT
d INT
e BIGINT
f FLOAT
g DOUBLE
h DECIMAL(9, 2)
i DECIMAL(38, 3)
j CHAR(7)
k STRING
l BINARY(3)
m BYTES
n DATE
o TIME(2)
p TIMESTAMP(0)
q TIMESTAMP_LTZ(9)
r INTERVAL YEAR TO MONTH
s INTERVAL DAY TO SECOND(3)
t ARRAY<STRING>
u MAP<TINYINT, DECIMAL(20, 0)>
v MULTISET<BOOLEAN>
w ROW<x INT, y ARRAY<ROW<z TIMESTAMP(3)>>>
'fields.k.var-len' = 'true'
'fields.k.null-rate' = '0.5'
'fields.m.length' = '9'
'fields.p.max-past' = '3 d'
'fields.q.max-past' = '1 min'
'fields.t.length' = '2'
'fields.t.element.length' = '4'
'fields.t.element.null-rate' = '0.25'
'fields.u.null-rate' = '0.25'
'fields.w.null-rate' = '0.25'
'fields.w.y.null-rate' = '0.25'
'fields.w.y.element.z.max-past' = '1 h'`

// The rows are the same however they are cut and whichever columns are read, and those of another job are
// not.
func TestRowsAreThoseOfTheSeed(t *testing.T) {
	def := define(t, everything+"\n'number-of-rows' = '300000'")
	whole := read(t, def, 7, 1, -1)
	require.Equal(t, 300000, whole.N)
	cut := read(t, def, 7, 4, -1)
	require.Equal(t, whole.N, cut.N)
	for c, v := range whole.Cols {
		some := read(t, def, 7, 4, 5000, c)
		for i := range whole.N {
			if !column.Equal(v, i, cut.Cols[c], i) || i < 5000 && !column.Equal(v, i, some.Cols[0], i) {
				t.Fatalf("row %d of column %s differs", i, def.Schema.Columns[c].Name)
			}
		}
	}
	other := read(t, def, 8, 1, 5000)
	for c, v := range other.Cols {
		if k := v.Type.Kind; k == types.Date || k == types.Time {
			continue
		}
		same := 0
		for i := range other.N {
			if column.Equal(v, i, whole.Cols[c], i) {
				same++
			}
		}
		require.Less(t, same, 4000, def.Schema.Columns[c].Name)
	}
}

// What is made up has the form that other vectors have: it survives being encoded and copied row by row.
func TestVectorsAreWhole(t *testing.T) {
	b := read(t, define(t, everything), 3, 1, 3000)
	for c, v := range b.Cols {
		require.Equal(t, b.N, v.Len, c)
		row := column.New(v.Type, 0)
		for i := range v.Len {
			row.AppendFrom(v, i)
		}
		for i := range v.Len {
			require.True(t, column.Equal(v, i, row, i))
		}
	}
	back, err := column.DecodeBatch(column.EncodeBatch(nil, b))
	require.NoError(t, err)
	for c, v := range b.Cols {
		for i := range v.Len {
			require.True(t, column.Equal(v, i, back.Cols[c], i))
		}
	}
}

func TestRandomNumbersAreSpread(t *testing.T) {
	const n = 200_000
	b := read(t, define(t, `a TINYINT
b INT
c DOUBLE
d DECIMAL(20, 1)
e STRING
f BOOLEAN
'fields.a.min' = '-3'
'fields.a.max' = '6'
'fields.b.min' = '1'
'fields.b.max' = '4'
'fields.c.min' = '-1'
'fields.c.max' = '3'
'fields.d.min' = '-0.5'
'fields.d.max' = '0.4'
'fields.e.length' = '1'
'fields.b.null-rate' = '0.2'`), 5, 1, n)
	counts := func(c int, key func(i int) string) map[string]int {
		m := map[string]int{}
		for i := range b.N {
			if !b.Cols[c].IsNull(i) {
				m[key(i)]++
			}
		}
		return m
	}
	even := func(m map[string]int, kinds int, each float64) {
		t.Helper()
		require.Len(t, m, kinds)
		for k, have := range m {
			require.InDelta(t, each, float64(have), 5*math.Sqrt(each), k) // five standard deviations
		}
	}
	text := func(c int) func(i int) string {
		return func(i int) string { return string(column.AppendText(nil, b.Cols[c], i, nil)) }
	}
	even(counts(0, text(0)), 10, n/10)
	even(counts(1, text(1)), 4, n/4*0.8)
	even(counts(2, func(i int) string { return fmt.Sprint(math.Floor(b.Cols[2].F64[i])) }), 4, n/4)
	even(counts(3, text(3)), 10, n/10)
	even(counts(4, text(4)), 16, n/16)
	even(counts(5, text(5)), 2, n/2)
	require.InDelta(t, n*0.2, float64(b.Cols[1].NullCount()), 5*math.Sqrt(n*0.2*0.8))
}

func TestUnboundedUnlessToldOtherwise(t *testing.T) {
	for text, bounded := range map[string]bool{
		"a INT": false, "a INT\n'number-of-rows' = '0'": true,
		"a INT\n'fields.a.kind' = 'sequence'\n'fields.a.start' = '1'\n'fields.a.end' = '1'": true,
	} {
		table, err := newTable(define(t, text), nil)
		require.NoError(t, err)
		require.Equal(t, bounded, table.Bounded(), text)
		src, err := table.Source(context.Background(), connector.Scan{Columns: []int{0}, Limit: -1})
		require.NoError(t, err)
		require.Equal(t, bounded, src.Bounded())
	}
}

// A reader whose position another source gets goes on where the first has stopped.
func TestPosition(t *testing.T) {
	def := define(t, "a BIGINT\nb INT\n'number-of-rows' = '10000'")
	want := read(t, def, 9, 1, -1)
	got := column.NewBatch(want.Types(), 0)
	state := []byte(nil)
	for range 5 {
		table, err := newTable(def, nil)
		require.NoError(t, err)
		src, err := table.Source(context.Background(), connector.Scan{Columns: []int{0, 1}, Limit: -1})
		require.NoError(t, err)
		splits, err := src.Splits(connector.WithJob(context.Background(), connector.JobSettings{Seed: 9}), 1)
		require.NoError(t, err)
		if state != nil {
			splits[0].State = state
		}
		r, err := src.Reader(context.Background(), splits)
		require.NoError(t, err)
		b := &column.Batch{}
		_, err = r.Read(context.Background(), b)
		require.NoError(t, err)
		got.AppendBatch(b)
		state = r.Position()
	}
	require.Equal(t, want.N, got.N)
	for i := range want.N {
		require.True(t, column.EqualRows(want.Cols, i, got.Cols, i))
	}
}

func TestPace(t *testing.T) {
	for _, c := range []struct {
		rate  float64
		batch int // rows that come together
	}{{1, 1}, {7, 1}, {250, 2}, {10_000, 100}, {1_000_000, 2048}, {300_000_000, 2048}} {
		at := noon
		p := &pace{rate: c.rate, now: func() time.Time { return at }}
		total, seconds := 0, min(10, 200_000/c.rate)
		for until := at.Add(time.Duration(seconds * float64(time.Second))); at.Before(until); {
			n, wait := p.take(2048)
			if total += n; n > 0 {
				require.GreaterOrEqual(t, n, c.batch/2)
				require.LessOrEqual(t, n, c.batch+1)
				at = at.Add(time.Duration(n) * time.Nanosecond)
				continue
			}
			require.GreaterOrEqual(t, wait, time.Duration(0))
			require.LessOrEqual(t, wait, time.Second)
			at = at.Add(wait + 1)
		}
		require.InDelta(t, c.rate*seconds, float64(total), c.rate*seconds*0.002+float64(c.batch)+1, "%v rows a second", c.rate)
	}
	at := noon
	p := &pace{rate: 100, now: func() time.Time { return at }}
	n, _ := p.take(2048)
	require.Equal(t, 1, n)
	at = at.Add(time.Hour) // nobody asked
	n, _ = p.take(2048)
	require.Equal(t, 100, n)
}

// No Read takes longer than it may, and an end of the context ends it.
func TestReadOfASlowTable(t *testing.T) {
	def := define(t, "a INT\n'rows-per-second' = '1'")
	table, err := newTable(def, nil)
	require.NoError(t, err)
	src, err := table.Source(context.Background(), connector.Scan{Columns: []int{0}, Limit: -1})
	require.NoError(t, err)
	splits, err := src.Splits(context.Background(), 1)
	require.NoError(t, err)
	r, err := src.Reader(context.Background(), splits)
	require.NoError(t, err)
	b := &column.Batch{}
	status, err := r.Read(context.Background(), b)
	require.NoError(t, err)
	require.Equal(t, connector.More, status)
	require.Equal(t, 1, b.N)
	status, err = r.Read(context.Background(), b)
	require.NoError(t, err)
	require.Equal(t, connector.Idle, status)
	require.Zero(t, b.N)
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(io.ErrClosedPipe)
	_, err = r.Read(ctx, b)
	require.ErrorIs(t, err, io.ErrClosedPipe)
}

func BenchmarkFill(b *testing.B) {
	for _, c := range []struct{ typ, options string }{
		{"BIGINT", "\n'fields.x.kind' = 'sequence'\n'fields.x.start' = '1'\n'fields.x.end' = '9223372036854775807'"},
		{"BIGINT", ""}, {"INT", "\n'fields.x.min' = '1'\n'fields.x.max' = '1000'"}, {"INT", "\n'fields.x.null-rate' = '0.1'"},
		{"DOUBLE", "\n'fields.x.min' = '0'\n'fields.x.max' = '1'"}, {"DECIMAL(10, 2)", ""}, {"DECIMAL(38, 2)", ""},
		{"STRING", ""}, {"STRING", "\n'fields.x.length' = '10'"}, {"STRING", "\n'fields.x.kind' = 'sequence'\n'fields.x.start' = '1'\n'fields.x.end' = '9223372036854775807'"},
		{"TIMESTAMP(3)", "\n'fields.x.max-past' = '1 d'"}, {"ARRAY<INT>", ""}, {"MAP<INT, INT>", ""}, {"ROW<a INT, b BIGINT>", ""},
	} {
		b.Run(c.typ+strings.ReplaceAll(strings.ReplaceAll(c.options, "\n'fields.x.", " "), "'", ""), func(b *testing.B) {
			def := connector.TableDef{Options: map[string]string{}}
			typ, err := types.ParseType(c.typ)
			require.NoError(b, err)
			def.Schema.Columns = []types.Column{{Name: "x", Type: typ}}
			for _, o := range strings.Split(strings.TrimPrefix(c.options, "\n"), "\n") {
				if k, v, ok := strings.Cut(strings.Trim(o, "'"), "' = '"); ok {
					def.Options[k] = v
				}
			}
			table, err := newTable(def, nil)
			require.NoError(b, err)
			v := column.New(typ, column.DefaultRows)
			rows := rows{n: column.DefaultRows, now: noon}
			for b.Loop() {
				v.Reset()
				table.generators[0].fill(v, rows)
				rows.row += column.DefaultRows
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/column.DefaultRows, "ns/row")
		})
	}
}
