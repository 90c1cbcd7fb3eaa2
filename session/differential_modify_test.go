package session_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/session"
)

// TestModifyAgainstSQLite changes the same random rows here and in SQLite, and compares how many were changed and
// what the table has then.
//
// A subquery in SET, which SQLite asks when the first row needs it and other rows may be changed already, there
// reads a copy of the table as it was; so do those in WHERE.
func TestModifyAgainstSQLite(t *testing.T) {
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", s)
	g := &generator{r: rand.New(rand.NewPCG(s, 2))}

	db, err := sql.Open("sqlite3", ":memory:")
	require.NoError(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	script := func(statements ...string) {
		for _, text := range statements {
			_, err := db.Exec(text)
			require.NoError(t, err, text)
		}
	}
	changed := testTable{"v", append([]testColumn{{"id", "BIGINT"}}, tables()[0].columns...), 40}
	columns := strings.ReplaceAll("a BIGINT, b BIGINT, s STRING, f DOUBLE", "STRING", "TEXT")
	script("PRAGMA case_sensitive_like = ON", "CREATE TABLE t ("+columns+")", "CREATE TABLE one_row ("+columns+")",
		"CREATE TABLE v (id BIGINT PRIMARY KEY, "+columns+")", "CREATE TABLE old (id BIGINT PRIMARY KEY, "+columns+")")
	var worlds []*world
	list := everyStore()
	for _, way := range list {
		w := newWorld(t, way.options)
		w.setUp(t, way)
		worlds = append(worlds, w)
		w.script(t, strings.ReplaceAll("CREATE TABLE t ("+columns+"); CREATE TABLE one_row ("+columns+"); CREATE TABLE v (id BIGINT, "+columns+", PRIMARY KEY (id) NOT ENFORCED)", "TEXT", "STRING"), false)
	}
	for _, table := range tables() {
		if table.name == "u" { // stands for the table that is changed
			continue
		}
		insert := fmt.Sprintf("INSERT INTO %s VALUES %s", table.name, g.rows(table))
		script(insert)
		for _, w := range worlds {
			require.Contains(t, w.script(t, insert, false), "rows written")
		}
	}
	own := regexp.MustCompile(`\bFROM u\b`)
	some, affected := 0, 0
	for block := 0; block < *queries/20; block++ {
		at := block % len(worlds)
		rows := make([]string, changed.rows)
		for i := range rows {
			rows[i] = fmt.Sprintf("(%d, %s", i, strings.TrimPrefix(g.rows(testTable{"v", changed.columns[1:], 1}), "("))
		}
		insert := "INSERT INTO v VALUES " + strings.Join(rows, ", ")
		script("DELETE FROM v", insert)
		require.Contains(t, worlds[at].script(t, g.one("TRUNCATE TABLE v; ", "DELETE FROM v; ")+insert, false), "40 rows written")
		for range 5 {
			q := g.change(changed.columns)
			script("DELETE FROM old", "INSERT INTO old SELECT * FROM v")
			res, err := db.Exec(own.ReplaceAllString(q, "FROM old"))
			require.NoError(t, err, "SQLite cannot run this of seed %d:\n%s", s, q)
			want, err := res.RowsAffected()
			require.NoError(t, err)
			ours := own.ReplaceAllString(q, "FROM v")
			fail := fmt.Sprintf("seed %d, %s:\n%s", s, list[at].name, ours)
			got, err := worlds[at].Execute(context.Background(), session.Text{SQL: ours})
			var e *session.Error
			if errors.As(err, &e) {
				t.Fatalf("%s\n%v\n%s", fail, err, e.Internal)
			}
			require.NoError(t, err, fail)
			require.Equal(t, want, got.Affected, fail)
			require.NoError(t, got.Close())
			wantRows, err := askSQLite(db, "SELECT * FROM v")
			require.NoError(t, err)
			gotRows, err := askSluice(worlds[at].Session, "SELECT * FROM v")
			require.NoError(t, err, fail)
			require.Equal(t, wantRows, gotRows, fail)
			if affected++; want > 0 && want < int64(changed.rows) {
				some++
			}
		}
	}
	require.Greater(t, some, affected/3, "most statements of seed %d change no row or all: the comparison says little", s)
}

// change is an UPDATE or DELETE of table v. Table u in it stands for v as it was.
func (g *generator) change(cols scope) string {
	name, as := "v", ""
	if g.chance(30) {
		name, as = "x", " AS x"
	}
	var in scope
	for _, c := range cols {
		in = append(in, testColumn{g.one(c.name, name+"."+c.name), c.typ})
	}
	where := ""
	if g.chance(90) {
		where = " WHERE " + g.where(in)
	}
	if g.chance(25) {
		return "DELETE FROM v" + as + where
	}
	var set []string
	for _, i := range g.r.Perm(len(cols) - 1)[:1+g.r.IntN(3)] {
		c := cols[i+1]
		set = append(set, c.name+" = "+g.expr(in, c.typ, 2))
	}
	return "UPDATE v" + as + " SET " + strings.Join(set, ", ") + where
}
