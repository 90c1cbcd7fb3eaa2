package sqlparse

import (
	"runtime"
	"testing"
)

// BenchmarkParseInsert parses one VALUES of 20 MB; the figures of interest are
// MB/s and the bytes kept for a literal.
func BenchmarkParseInsert(b *testing.B) {
	text := bigInsert(20 << 20)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	var s Statement
	for b.Loop() {
		var err error
		if s, err = Parse(text); err != nil {
			b.Fatal(err)
		}
	}
	rows := s.(*Insert).Query.(*Values).Rows
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapAlloc-uint64(len(text)))/float64(len(rows)*6), "kept-B/literal")
	runtime.KeepAlive(s)
}

func BenchmarkSplitInsert(b *testing.B) {
	text := bigInsert(20<<20) + ";"
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if list, err := split(text); err != nil || len(list) != 1 {
			b.Fatal(err)
		}
	}
}

func BenchmarkSplitLines(b *testing.B) {
	text := ""
	for len(text) < 1<<20 {
		text += "select a, b, 'some text' from t where x = 1 -- comment\n group by a;\n"
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := split(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseSelect(b *testing.B) {
	text := "select l_returnflag, l_linestatus, count(*), sum(l_quantity), avg(l_extendedprice) from l where l_shipdate <= '1998-09-02' group by 1, 2"
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTokens(b *testing.B) {
	lines := ""
	for len(lines) < 1<<20 {
		lines += "select a, b, 'some text' from t where x = 1 -- comment\n group by a;\n"
	}
	for _, c := range []struct{ name, text string }{
		{"insert", bigInsert(1 << 20)}, {"lines", lines}, {"wrong", "selec" + bigInsert(1<<20)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				Tokens(c.text)
			}
		})
	}
}
