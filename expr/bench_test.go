package expr

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// lineitem makes a batch like those of the aggregation benchmark.
func lineitem(n int) ([]types.Column, *column.Batch) {
	cols := []types.Column{
		{Name: "k", Type: types.Of(types.BigInt).AsNotNull()},
		{Name: "i", Type: types.Of(types.Int)},
		{Name: "q", Type: types.Of(types.Double)},
		{Name: "p", Type: types.Of(types.Double)},
		{Name: "d", Type: types.Of(types.Double)},
		{Name: "m", Type: types.DecimalOf(12, 2)},
		{Name: "flag", Type: types.String()},
		{Name: "text", Type: types.String()},
		{Name: "day", Type: types.Of(types.Date)},
		{Name: "ts", Type: types.WithPrecision(types.Timestamp, 6)},
		{Name: "n", Type: types.Of(types.Int)},
		{Name: "dayText", Type: types.String()},
	}
	b := column.NewBatch(types.Schema{Columns: cols}.Types(), n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := 0; i < n; i++ {
		b.Cols[0].AppendI64(r.Int64N(1 << 40))
		b.Cols[1].AppendI64(r.Int64N(1000))
		b.Cols[2].AppendF64(float64(r.IntN(50)))
		b.Cols[3].AppendF64(r.Float64() * 1e5)
		b.Cols[4].AppendF64(float64(r.IntN(10)) / 100)
		b.Cols[5].AppendI64(r.Int64N(1e7))
		b.Cols[6].AppendString([]string{"A", "N", "R"}[r.IntN(3)])
		b.Cols[7].AppendString(fmt.Sprintf("row %d of the bench", r.IntN(1e6)))
		b.Cols[8].AppendI64(8000 + r.Int64N(2500))
		b.Cols[9].AppendI64(r.Int64N(2e15))
		b.Cols[11].AppendBytes(types.AppendDate(nil, 8000+r.Int32N(2500)))
		if i%10 == 0 {
			b.Cols[10].AppendNull()
		} else {
			b.Cols[10].AppendI64(r.Int64N(1000))
		}
		b.N++
	}
	return cols, b
}

func perRow(b *testing.B, rows int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
}

func BenchmarkEval(b *testing.B) {
	cols, batch := lineitem(2048)
	for _, src := range []string{
		"p * (1 - d)", "k + 1", "i + n", "i * 3 - n", "m * (1 - 0.05)", "m + m", "k / 7", "i > 500", "flag = 'A'",
		"CASE WHEN i > 500 THEN p ELSE 0 END", "COALESCE(n, 0)", "UPPER(text)", "SUBSTRING(text FROM 5 FOR 6)", "text LIKE '%99%'",
		"EXTRACT(YEAR FROM day)", "CAST(i AS STRING)", "CAST(m AS DOUBLE)", "CAST(CAST(k AS STRING) AS BIGINT)", "flag || text",
		"DATE_FORMAT(ts, 'yyyy-MM-dd')", "ROUND(p, 2)", "FLOOR(ts TO HOUR)", "i IN (1, 5, 9, 100)", "i > 10 AND n < 900 OR q = 3", "ts + INTERVAL '1' DAY",
	} {
		b.Run(src, func(b *testing.B) {
			e, err := parseSQL(src, cols)
			require.NoError(b, err)
			ev, err := Compile(e, testEnv(b))
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ev.Eval(batch); err != nil {
					b.Fatal(err)
				}
			}
			perRow(b, batch.N)
		})
	}
}

func BenchmarkFilter(b *testing.B) {
	cols, batch := lineitem(2048)
	for _, src := range []string{
		"day <= DATE '1998-09-02'", "i BETWEEN 100 AND 900", "n > 100", "i > 100 AND q < 40 AND flag = 'A'", "flag = 'A' OR flag = 'R'", "dayText <= '1998-09-02'",
		"text LIKE 'row 9%'", "n IS NOT NULL", "m > 24",
	} {
		b.Run(src, func(b *testing.B) {
			e, err := parseSQL(src, cols)
			require.NoError(b, err)
			f, err := CompileFilter(e, testEnv(b))
			require.NoError(b, err)
			buf := make([]uint16, 2048)
			b.ReportAllocs()
			for b.Loop() {
				if buf, err = f.Select(batch, buf); err != nil {
					b.Fatal(err)
				}
			}
			perRow(b, batch.N)
		})
	}
}

func BenchmarkAggregate(b *testing.B) {
	cols, batch := lineitem(2048)
	groups := make([]uint32, batch.N)
	for i := range groups {
		groups[i] = uint32(i*7) % 4
	}
	for _, x := range []struct {
		name, arg string
		grouped   bool
	}{
		{"COUNT", "", true}, {"SUM", "k", false}, {"SUM", "k", true}, {"SUM", "i", false}, {"SUM", "p", false}, {"SUM", "p", true},
		{"AVG", "m", true}, {"SUM", "n", true}, {"MAX", "i", true}, {"MIN", "text", true},
	} {
		b.Run(fmt.Sprintf("%s(%s)/grouped=%v", x.name, x.arg, x.grouped), func(b *testing.B) {
			var args []Expr
			var vecs []*column.Vector
			for i, c := range cols {
				if c.Name == x.arg {
					args = append(args, &Column{Index: i, T: c.Type})
					vecs = append(vecs, batch.Cols[i])
				}
			}
			c, err := NewAggregate(x.name, args, false, nil, Span{})
			require.NoError(b, err)
			acc := c.NewAccumulator(false)
			acc.Grow(4)
			g := groups
			if !x.grouped {
				g = nil
			}
			for b.Loop() {
				if err := acc.Update(g, vecs, nil, batch.N); err != nil {
					b.Fatal(err)
				}
			}
			perRow(b, batch.N)
		})
	}
}
