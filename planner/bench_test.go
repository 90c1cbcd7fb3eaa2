package planner_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/planner"
	"github.com/sluice-sql/sluice/sqlparse"
)

// BenchmarkInsertLiterals plans an INSERT of 100,000 rows of three literals, parsing apart.
func BenchmarkInsertLiterals(b *testing.B) {
	s := newSession(b)
	sql := "CREATE TABLE t (id BIGINT NOT NULL, k INT, s STRING)"
	s.create(b, sql, s.env(sql))
	var text strings.Builder
	text.WriteString("INSERT INTO t VALUES ")
	for i := range 100_000 {
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString("(" + strconv.Itoa(i) + ", " + strconv.Itoa(-i) + ", 'row number " + strconv.Itoa(i) + "')")
	}
	stmt, err := sqlparse.Parse(text.String())
	require.NoError(b, err)
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		_, err := planner.Insert(context.Background(), stmt.(*sqlparse.Insert), s.env(""))
		require.NoError(b, err)
	}
}

// BenchmarkSelect plans a small query, which is most of what a session does.
func BenchmarkSelect(b *testing.B) {
	s := newSession(b)
	sql := "CREATE TABLE t (id BIGINT NOT NULL, k INT, s STRING)"
	s.create(b, sql, s.env(sql))
	sql = "SELECT k, COUNT(*), SUM(id) FROM t WHERE id > 10 GROUP BY k ORDER BY 2 DESC LIMIT 3"
	b.ReportAllocs()
	for b.Loop() {
		p, err := plan(sql, s.env(sql))
		require.NoError(b, err)
		_, err = p.Graph()
		require.NoError(b, err)
	}
}
