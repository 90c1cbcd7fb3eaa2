package postgres

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/types"
)

// benchRows is the number of rows that the benchmarks move.
const benchRows = 100_000

// wide is a schema of 16 columns, and a batch of 2,048 rows of it.
func wide(b *testing.B) (types.Schema, *column.Batch) {
	var names []string
	for i, t := range []string{"BIGINT", "INT", "INT", "INT", "DOUBLE", "DOUBLE", "DECIMAL(12, 2)", "DECIMAL(12, 2)", "STRING", "STRING", "STRING", "VARCHAR(10)", "VARCHAR(30)", "STRING", "DATE", "TIMESTAMP(3)"} {
		names = append(names, fmt.Sprintf("c%d %s", i, t))
	}
	sch := schema(b, names...)
	batch := column.NewBatch(typesOf(sch), column.DefaultRows)
	for n := range column.DefaultRows {
		for i, v := range batch.Cols {
			switch {
			case v.Type.IsFloat():
				v.AppendF64(float64(n) * 1.1)
			case v.Type.Kind == types.Decimal:
				v.AppendI128(types.Int128From(int64(n * 137)))
			case v.Type.IsString():
				v.AppendString(fmt.Sprintf("%d-%d", i, n%1000))
			case v.Type.Kind == types.Timestamp:
				v.AppendI64(int64(n) * 1000)
			default:
				v.AppendI64(int64(n))
			}
		}
		batch.N++
	}
	return sch, batch
}

func typesOf(s types.Schema) (list []types.Type) {
	for _, c := range s.Columns {
		list = append(list, c.Type)
	}
	return list
}

// BenchmarkCreate makes a table of 16 columns with its rows.
func BenchmarkCreate(b *testing.B) {
	f := setUp(b)
	sch, batch := wide(b)
	b.ResetTimer()
	for range b.N {
		b.StopTimer()
		f.sql("DROP TABLE IF EXISTS t")
		b.StartTimer()
		left := benchRows
		tx := f.stage("t", server.Create, sch)
		_, err := f.writeFrom(f.ctx, tx, func() (*column.Batch, error) {
			if left <= 0 {
				return nil, nil
			}
			left -= batch.N
			return batch, nil
		})
		require.NoError(b, err)
		_, err = tx.Commit(f.ctx)
		require.NoError(b, err)
	}
	b.ReportMetric(benchRows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkRead reads such a table.
func BenchmarkRead(b *testing.B) {
	f := setUp(b)
	sch, batch := wide(b)
	var list []*column.Batch
	for range benchRows / batch.N {
		list = append(list, batch)
	}
	f.done(f.stage("t", server.Create, sch), list...)
	tab := f.open("t")
	b.ResetTimer()
	for range b.N {
		src, err := tab.Source(f.ctx, connector.Scan{Columns: all(tab), Limit: -1})
		require.NoError(b, err)
		splits, err := src.Splits(f.ctx, 1)
		require.NoError(b, err)
		r, err := src.Reader(f.ctx, splits)
		require.NoError(b, err)
		into := &column.Batch{}
		for status := connector.More; status != connector.End; {
			status, err = r.Read(f.ctx, into)
			require.NoError(b, err)
		}
		require.NoError(b, r.Close())
		require.NoError(b, src.Close())
	}
	b.ReportMetric(benchRows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkEncode makes COPY's form of the rows, without a server.
func BenchmarkEncode(b *testing.B) {
	sch, batch := wide(b)
	l := &load{}
	for _, c := range sch.Columns {
		p, err := planWrite(ownColumn(c), c.Type)
		require.NoError(b, err)
		l.columns = append(l.columns, p)
	}
	s := &sender{l: l}
	b.ReportAllocs()
	for range b.N {
		s.buf = s.buf[:0]
		for i := range batch.N {
			if err := s.row(batch, i); err != nil {
				b.Fatal(err)
			}
		}
		b.SetBytes(int64(len(s.buf)))
	}
	b.ReportMetric(float64(batch.N)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
