package main

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"strconv"
	"syscall"
	"time"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/types"
)

// expressionRows are the rows over which every expression is evaluated.
const expressionRows = 10_000_000

// expressionColumns are those of the batches, by their place.
var expressionColumns = []types.Column{
	{Name: "k", Type: types.Of(types.BigInt).AsNotNull()},
	{Name: "i", Type: types.Of(types.Int)}, // every tenth is NULL
	{Name: "p", Type: types.Of(types.Double)},
	{Name: "m", Type: types.DecimalOf(12, 2)},
	{Name: "flag", Type: types.String()},
	{Name: "text", Type: types.String()},
	{Name: "day", Type: types.Of(types.Date)},
	{Name: "ts", Type: types.WithPrecision(types.Timestamp, 6)},
	{Name: "digits", Type: types.String()},
}

// expressionBatch makes 2048 rows.
func expressionBatch(r *rand.Rand) *column.Batch {
	const n = 2048
	b := column.NewBatch(types.Schema{Columns: expressionColumns}.Types(), n)
	for j := range n {
		b.Cols[0].AppendI64(r.Int64N(1 << 40))
		if j%10 == 0 {
			b.Cols[1].AppendNull()
		} else {
			b.Cols[1].AppendI64(r.Int64N(1000))
		}
		b.Cols[2].AppendF64(r.Float64() * 1e5)
		b.Cols[3].AppendI64(r.Int64N(1e7))
		b.Cols[4].AppendString([]string{"A", "N", "R"}[r.IntN(3)])
		b.Cols[5].AppendString(fmt.Sprintf("row %d of the bench", r.IntN(1e6)))
		b.Cols[6].AppendI64(8000 + r.Int64N(2500))
		b.Cols[7].AppendI64(r.Int64N(2e15))
		b.Cols[8].AppendString(strconv.FormatInt(r.Int64N(1<<40), 10))
		b.N++
	}
	return b
}

// tree builds expressions; it panics where one is wrong, which only a change of this file can make it.
type tree struct{}

func (tree) col(name string) expr.Expr {
	for i, c := range expressionColumns {
		if c.Name == name {
			return &expr.Column{Index: i, Name: name, T: c.Type}
		}
	}
	panic("no column " + name)
}

func (tree) call(name string, args ...expr.Expr) expr.Expr {
	e, err := expr.NewCall(name, args, expr.Span{})
	if err != nil {
		panic(err)
	}
	return e
}

func (tree) cast(x expr.Expr, t types.Type) expr.Expr {
	e, err := expr.NewCast(x, t, false, expr.Span{})
	if err != nil {
		panic(err)
	}
	return e
}

func (tree) int(n int) expr.Expr { return expr.NewLiteral(types.Of(types.Int), n, expr.Span{}) }

func (tree) text(s string) expr.Expr {
	return expr.NewLiteral(types.WithPrecision(types.Char, len(s)), s, expr.Span{})
}

// decimal is the DECIMAL of two decimals with the given hundredths.
func (tree) decimal(hundredths int64) expr.Expr {
	return expr.NewLiteral(types.DecimalOf(3, 2), hundredths, expr.Span{})
}

// expressions prints what common expressions take a row, each the median of some runs; regular expressions and
// JSON, which have no limit, stand last.
func (b *bench) expressions() error {
	const limit = 30.0
	var t tree
	k, i, p, m := t.col("k"), t.col("i"), t.col("p"), t.col("m")
	flag, text, day, ts := t.col("flag"), t.col("text"), t.col("day"), t.col("ts")
	list := []expr.Expr{
		t.call("+", k, t.int(1)),
		t.call("-", t.call("*", i, t.int(3)), t.int(7)),
		t.call("*", p, t.call("-", t.int(1), p)),
		t.call("*", m, t.call("-", t.int(1), t.decimal(5))),
		t.call("+", m, m),
		t.call("/", k, t.int(7)),
		t.call("ROUND", p, t.int(2)),
		t.call("AND", t.call(">", i, t.int(100)), t.call("<", p, t.int(50_000))),
		t.call("BETWEEN", i, t.int(100), t.int(900)),
		t.call("IN", i, t.int(1), t.int(5), t.int(9), t.int(100)),
		t.call("=", flag, t.text("A")),
		t.call("CASE", t.call(">", i, t.int(500)), p, t.cast(t.int(0), types.Of(types.Double))),
		t.call("COALESCE", i, t.int(0)),
		t.call("UPPER", text),
		t.call("SUBSTRING", text, t.int(5), t.int(6)),
		t.call("||", flag, text),
		t.call("CHAR_LENGTH", text),
		t.call("LIKE", text, t.text("%99%")),
		t.call("EXTRACT", t.text("YEAR"), day),
		t.call("FLOOR", ts, t.text("HOUR")),
		t.call("DATE_FORMAT", ts, t.text("yyyy-MM-dd")),
		t.call("CONCAT_WS", t.text(","), flag, text),
		t.call("REPLACE", text, t.text("bench"), t.text("test")),
		t.call("TRIM", text),
		t.cast(i, types.String()),
		t.cast(m, types.String()),
		t.cast(m, types.Of(types.Double)),
		t.cast(k, types.String()),
		t.cast(t.col("digits"), types.Of(types.BigInt)),
		t.cast(day, types.String()),
		t.call("REGEXP_EXTRACT", text, t.text("row ([0-9]+)"), t.int(1)),
	}
	r := rand.New(rand.NewPCG(1, 2))
	batches := make([]*column.Batch, 16)
	for j := range batches {
		batches[j] = expressionBatch(r)
	}
	env := &expr.Env{Now: time.Now(), Zone: time.UTC, Seed: 1}
	fmt.Printf("expressions over %d rows, ns of processor time a row\n", expressionRows)
	for _, e := range list {
		ev, err := expr.Compile(e, env)
		if err != nil {
			return fmt.Errorf("%s: %w", expr.String(e), err)
		}
		var runs []float64
		for range max(1, min(*rounds, 3)) {
			start := processorTime()
			done := 0
			for done < expressionRows {
				batch := batches[(done>>11)%len(batches)]
				if _, err := ev.Eval(batch); err != nil {
					return fmt.Errorf("%s: %w", expr.String(e), err)
				}
				done += batch.N
			}
			runs = append(runs, float64((processorTime()-start).Nanoseconds())/float64(done))
		}
		sort.Float64s(runs)
		verdict := "ok"
		switch ns := runs[len(runs)/2]; {
		case isRegexOrJSON(e):
			verdict = "no limit"
		case ns > limit:
			verdict = "OVER"
		}
		fmt.Printf("  %-48s %6.1f  limit %.0f  %s\n", expr.String(e), runs[len(runs)/2], limit, verdict)
	}
	return nil
}

// processorTime is the time that the processors spent on this program: what else runs on the machine does not count.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func isRegexOrJSON(e expr.Expr) bool {
	c, ok := e.(*expr.Call)
	return ok && (c.Func.Name == "REGEXP_EXTRACT" || c.Func.Group == "json")
}
