package planner_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/planner"
	"github.com/sluice-sql/sluice/sqlparse"
)

// planAndEncode plans a statement and sends its graph through the serialised form.
func planAndEncode(t testing.TB, s *session, sql string) *job.Graph {
	p, err := plan(sql, s.env(sql))
	require.NoError(t, err)
	g, err := p.Graph()
	require.NoError(t, err)
	encoded, err := job.Encode(g)
	require.NoError(t, err)
	back, err := job.Decode(encoded)
	require.NoError(t, err)
	return back
}

func limitsSession(t *testing.T) *session {
	s := newSession(t)
	sql := "CREATE TABLE t (id BIGINT NOT NULL, k INT, s STRING)"
	s.create(t, sql, s.env(sql))
	return s
}

// Long chains are statements that programs write.
func TestLongChains(t *testing.T) {
	const n = 10_000
	s := limitsSession(t)
	list := func(sep string, item func(i int) string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = item(i)
		}
		return strings.Join(parts, sep)
	}
	eq := func(i int) string { return "k <> " + strconv.Itoa(i) }
	var from, where []string
	for i := range 400 {
		from = append(from, fmt.Sprintf("(VALUES (%d)) t%d(c%d)", i, i, i))
		where = append(where, fmt.Sprintf("c%d = c%d", max(i-1, 0), i))
	}
	for name, sql := range map[string]string{
		"joins":     "SELECT * FROM " + strings.Join(from, ", ") + " WHERE " + strings.Join(where, " AND "),
		"UNION":     list(" UNION ", func(i int) string { return "SELECT id FROM t WHERE k = " + strconv.Itoa(i) }),
		"AND":       "SELECT id FROM t WHERE " + list(" AND ", eq),
		"OR":        "SELECT id FROM t WHERE " + list(" OR ", eq),
		"IN":        "SELECT id FROM t WHERE k IN (" + list(", ", strconv.Itoa) + ")",
		"UNION ALL": list(" UNION ALL ", func(i int) string { return "SELECT id FROM t WHERE k = " + strconv.Itoa(i) }),
		"CASE":      "SELECT CASE k " + list(" ", func(i int) string { return "WHEN " + strconv.Itoa(i) + " THEN 'x'" }) + " END FROM t",
	} {
		t.Run(name, func(t *testing.T) { planAndEncode(t, s, sql) })
	}
}

// An INSERT of many literals is batches in the graph, not a node a value.
func TestManyLiterals(t *testing.T) {
	s := limitsSession(t)
	const rows = 100_000
	var b strings.Builder
	b.WriteString("INSERT INTO t VALUES ")
	for i := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("(" + strconv.Itoa(i) + ", " + strconv.Itoa(-i) + ", 'row number " + strconv.Itoa(i) + "')")
	}
	g := planAndEncode(t, s, b.String())
	require.Len(t, g.Vertices, 2)
	v := g.Vertices[0].Spec.(*job.Values)
	require.EqualValues(t, rows, v.Rows)
	require.Len(t, v.Batches, (rows+2047)/2048)
}

// What the serialised form cannot nest is refused while planning; what nests because subqueries are put
// into each other is kept apart.
func TestDeepExpressions(t *testing.T) {
	s := limitsSession(t)
	planAndEncode(t, s, "SELECT "+strings.Repeat("id + ", 1900)+"id FROM t")
	planAndEncode(t, s, "SELECT "+strings.Repeat("ABS(", 900)+"id"+strings.Repeat(")", 900)+" FROM t")
	deep := strings.Repeat("1 + ", 1500) + "id AS id FROM "
	planAndEncode(t, s, "SELECT "+deep+"(SELECT "+deep+"(SELECT "+deep+"(SELECT "+deep+"t)))")
	planAndEncode(t, s, strings.Repeat("SELECT * FROM (", 300)+"SELECT * FROM t"+strings.Repeat(")", 300))

	sql := "SELECT " + strings.Repeat("id + ", 5000) + "id FROM t"
	_, err := plan(sql, s.env(sql))
	require.ErrorContains(t, err, "This expression nests more than 2000 levels deep")
}

// Queries of WITH that use each other twice are planned as often as they are used, and that is bounded.
func TestWithUses(t *testing.T) {
	s := limitsSession(t)
	sql := "WITH q0 AS (SELECT id FROM t)"
	for i := 1; i < 30; i++ {
		prev := "q" + strconv.Itoa(i-1)
		sql += ", q" + strconv.Itoa(i) + " AS (SELECT * FROM " + prev + " UNION ALL SELECT * FROM " + prev + ")"
	}
	_, err := plan(sql+" SELECT * FROM q29", s.env(sql))
	require.ErrorContains(t, err, "The queries of WITH are used more than 10000 times")
}

// The query of an IN is planned twice where NULL is possible and matters, so that INs inside each other
// double; that is bounded, and where only TRUE counts nothing doubles.
func TestNestedIn(t *testing.T) {
	s := limitsSession(t)
	nested := func(in string, depth int) string {
		return "SELECT id FROM t WHERE " + strings.Repeat("k "+in+" (SELECT k FROM t WHERE ", depth) + "k > 0" + strings.Repeat(")", depth)
	}
	planAndEncode(t, s, nested("IN", 100))
	planAndEncode(t, s, nested("NOT IN", 5))
	sql := nested("NOT IN", 30)
	_, err := plan(sql, s.env(sql))
	require.ErrorContains(t, err, "Too many subqueries of IN stand inside each other")
	wide := "SELECT id FROM t WHERE " + strings.Repeat("k NOT IN (SELECT k FROM t) AND ", 50) + "id > 0"
	planAndEncode(t, s, wide)
}

// countdown is a context that ends after some looks at it.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// A cancel ends planning wherever it is.
func TestPlanningIsCanceled(t *testing.T) {
	s := limitsSession(t)
	sql := "SELECT a.id FROM t a JOIN t b ON a.id = b.id WHERE a.k NOT IN (SELECT k FROM t) AND b.k > 1 + 1"
	stmt, err := sqlparse.Parse(sql)
	require.NoError(t, err)
	looks := 0
	for ; ; looks++ {
		_, err := planner.Query(&countdown{context.Background(), looks}, stmt.(*sqlparse.QueryStatement).Query, s.env(sql))
		if err == nil {
			break
		}
		require.ErrorIs(t, err, context.Canceled)
	}
	require.Greater(t, looks, 50)
}

// A row of VALUES is compared with few of the expressions that are computed when the job runs.
func TestOpenCells(t *testing.T) {
	s := limitsSession(t)
	rows := make([]string, 40)
	for i := range rows {
		rows[i] = fmt.Sprintf("(RAND(%d))", i)
	}
	g := planAndEncode(t, s, "VALUES "+strings.Join(rows, ", "))
	require.Contains(t, g.Vertices[1].Spec.Describe(), "CASE WHEN `$row` < 20 THEN CASE WHEN `$row` < 10 THEN CASE WHEN `$row` < 5 THEN")
}
