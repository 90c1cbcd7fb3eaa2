//go:build unix

package session_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/session"
)

var calls = flag.Int("calls", 100, "how many random calls of each expression are compared with PostgreSQL")

// postgresBatch is how many rows are in the table at a time at most.
const postgresBatch = 500

// alike says when two texts of a result are the same value.
type alike int

const (
	exact  alike = iota // the same text; truths in any case, times with any number of zeros at their end
	double              // the same number of DOUBLE
	single              // the same number of FLOAT
	near                // the same number of DOUBLE but for its last digits
	about               // near, where both add up what may cancel out
	asJSON              // the same JSON value
)

// sameInPostgres is an expression here and in PostgreSQL.
type sameInPostgres struct {
	ours, theirs string // theirs may be empty where the text is the same
	alike        alike
	except       []difference
}

// difference explains where an expression gives something else in PostgreSQL: in rows for which the condition holds
// in PostgreSQL (empty: all), and where the results fit the patterns (empty: any). NULL is the text NULL, an error "error"
// and a blank and our message, or PostgreSQL's code.
type difference struct {
	when, ours, theirs string
	why                string
}

// TestFunctionsAgainstPostgreSQL makes random calls of functions here and in PostgreSQL, where both mean the same;
// an error must be one in both.
func TestFunctionsAgainstPostgreSQL(t *testing.T) {
	pg := startPostgres(t)
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", s)
	r := &postgresRows{r: rand.New(rand.NewPCG(s, 7))}
	var ours, theirs []string
	for _, c := range postgresColumns {
		ours, theirs = append(ours, c.name+" "+c.ours), append(theirs, c.name+" "+c.theirs)
	}
	w := newWorld(t, nil)
	_, err := pg.psql("CREATE TABLE f (" + strings.Join(theirs, ", ") + ", PRIMARY KEY (id));" + postgresAsk)
	require.NoError(t, err)

	groups := postgresGroups()
	counts, explained, wrong := map[string]int{}, map[string]int{}, map[string][]string{}
	used := map[string]bool{}
	for done := 0; done < *calls; done += postgresBatch {
		out := w.script(t, "DROP TABLE IF EXISTS f; CREATE TABLE f ("+strings.Join(ours, ", ")+");", false)
		require.True(t, strings.HasSuffix(out, "ok\nok\n"), out)
		n := min(postgresBatch, *calls-done)
		mine, its := r.rows(n)
		require.Equal(t, fmt.Sprintf("%d rows written\n", n), w.script(t, "INSERT INTO f VALUES "+mine+";", false))
		_, err := pg.psql("TRUNCATE f; INSERT INTO f VALUES " + its + "; ANALYZE f;")
		require.NoError(t, err)
		for _, g := range groups {
			var script strings.Builder
			for i, p := range g.pairs {
				fmt.Fprintf(&script, "COPY (SELECT %d, * FROM ask(%s, %s, %s, %t)) TO STDOUT;\n", i, quoteSQL(g.key), quoteSQL(p.text()), quoteSQL(g.theirs), g.grouped)
			}
			out, err := pg.psql(script.String())
			require.NoError(t, err)
			want := make([]map[int]string, len(g.pairs))
			for _, line := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
				cells := strings.Split(line, "\t")
				require.Len(t, cells, 3, line)
				pair, err := strconv.Atoi(cells[0])
				require.NoError(t, err)
				key, err := strconv.Atoi(cells[1])
				require.NoError(t, err)
				if want[pair] == nil {
					want[pair] = map[int]string{}
				}
				want[pair][key] = copiedText(cells[2])
			}
			for i, p := range g.pairs {
				var keys []int
				for k, v := range want[i] {
					if strings.HasPrefix(v, "error 42") {
						t.Errorf("PostgreSQL cannot run %s: %s", p.text(), v)
						break
					}
					keys = append(keys, k)
				}
				sort.Ints(keys)
				got := w.ask(t, g, p.ours, want[i])
				counts[g.name] += len(keys)
				var differ []int
				for _, k := range keys {
					if _, there := got[k]; !there {
						got[k] = "no row"
					}
					if !same(p.alike, got[k], want[i][k]) {
						differ = append(differ, k)
					}
				}
				left := differ
				for n, e := range append(p.except, g.except...) {
					var still []int
					holds := pg.holds(t, g, e.when, left)
					for _, k := range left {
						if holds[k] && fits(e.ours, got[k]) && fits(e.theirs, want[i][k]) {
							explained[g.name+": "+e.why]++
							used[fmt.Sprint(g.name, p.ours, n)] = true
							continue
						}
						still = append(still, k)
					}
					left = still
				}
				for n, k := range left {
					if n == 3 {
						wrong[g.name] = append(wrong[g.name], fmt.Sprintf("... and %d more", len(left)-n))
						break
					}
					row, err := pg.psql(fmt.Sprintf("SELECT %s FROM f WHERE %s = %d ORDER BY id", columnsIn(p.ours), g.key, k))
					require.NoError(t, err)
					wrong[g.name] = append(wrong[g.name], fmt.Sprintf("%s gives %q, PostgreSQL's %s %q, of %s", p.ours, got[k], p.text(), want[i][k], strings.ReplaceAll(strings.TrimSpace(row), "\n", "; ")))
				}
			}
		}
	}
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			t.Logf("%d calls of %d expressions", counts[g.name], len(g.pairs))
			for why, n := range explained {
				if strings.HasPrefix(why, g.name+": ") {
					t.Logf("%d explained: %s", n, strings.TrimPrefix(why, g.name+": "))
				}
			}
			for _, text := range wrong[g.name] {
				t.Errorf("%s (seed %d)", text, s)
			}
			if *calls < 10_000 {
				return
			}
			for _, p := range g.pairs {
				for n, e := range p.except {
					if !used[fmt.Sprint(g.name, p.ours, n)] {
						t.Errorf("%s: there is no difference where %q, %q, %q: %s", p.ours, e.when, e.ours, e.theirs, e.why)
					}
				}
			}
		})
	}
}

// postgresAsk is a function that evaluates an expression for each row, or each group of rows, with the code of the error
// where there is one.
const postgresAsk = `
CREATE FUNCTION ask(key text, expr text, source text, grouped boolean) RETURNS TABLE (k int, r text) LANGUAGE plpgsql AS $$
DECLARE
  list int[];
  results text[];
  tail text := CASE WHEN grouped THEN ' GROUP BY ' || key ELSE '' END;
BEGIN
  EXECUTE 'SELECT array_agg(k), array_agg(r) FROM (SELECT ' || key || ', (' || expr || ')::text FROM ' || source || tail || ') x (k, r)' INTO list, results;
  RETURN QUERY SELECT * FROM unnest(list, results);
EXCEPTION WHEN OTHERS THEN
  FOR k IN EXECUTE 'SELECT DISTINCT ' || key || ' FROM f' LOOP
    BEGIN
      EXECUTE 'SELECT (' || expr || ')::text FROM ' || source || ' WHERE ' || key || ' = $1' || tail INTO r USING k;
    EXCEPTION WHEN OTHERS THEN
      r := 'error ' || SQLSTATE;
    END;
    RETURN NEXT;
  END LOOP;
END $$;`

// holds says for which keys a condition is true in PostgreSQL.
func (pg *postgres) holds(t *testing.T, g postgresGroup, when string, keys []int) map[int]bool {
	t.Helper()
	all := map[int]bool{}
	if when == "" {
		for _, k := range keys {
			all[k] = true
		}
		return all
	}
	if len(keys) == 0 {
		return nil
	}
	out, err := pg.psql(fmt.Sprintf("COPY (SELECT k FROM ask(%s, %s, %s, %t) WHERE r = 'true') TO STDOUT", quoteSQL(g.key), quoteSQL(when), quoteSQL(g.theirs), g.grouped))
	require.NoError(t, err)
	for _, line := range strings.Fields(out) {
		k, err := strconv.Atoi(line)
		require.NoError(t, err)
		all[k] = true
	}
	return all
}

// ask evaluates an expression here for each key.
//
// An error does not say in which row it is. So the rows without an error in PostgreSQL come first, all at once, and are
// halved while one fails; then those with one, which fail one by one.
func (w *world) ask(t *testing.T, g postgresGroup, expr string, want map[int]string) map[int]string {
	t.Helper()
	var fine, failed []int
	for k, v := range want {
		if strings.HasPrefix(v, "error ") {
			failed = append(failed, k)
		} else {
			fine = append(fine, k)
		}
	}
	sort.Ints(fine)
	sort.Ints(failed)
	into := map[int]string{}
	tail := ""
	if g.grouped {
		tail = " GROUP BY " + g.key
	}
	var ask func(keys []int, parts int)
	ask = func(keys []int, parts int) {
		if len(keys) == 0 {
			return
		}
		err := w.rowsOf(t, fmt.Sprintf("SELECT %s, %s AS r FROM %s WHERE %s IN (%s)%s", g.key, expr, g.ours, g.key, strings.Trim(strings.ReplaceAll(fmt.Sprint(keys), " ", ", "), "[]"), tail), into)
		switch {
		case err == nil:
		case len(keys) == 1:
			into[keys[0]] = "error " + err.Error()
		default:
			for n := max(1, len(keys)/parts); len(keys) > 0; keys = keys[min(n, len(keys)):] {
				ask(keys[:min(n, len(keys))], 2)
			}
		}
	}
	if err := w.rowsOf(t, fmt.Sprintf("SELECT %s, %s AS r FROM %s WHERE %s < 0%s", g.key, expr, g.ours, g.key, tail), into); err != nil {
		return map[int]string{fine[0]: "error " + err.Error()}
	}
	ask(fine, 2)
	ask(failed, len(failed))
	return into
}

// rowsOf adds the rows of a query, of a key and a value, to a map.
func (w *world) rowsOf(t *testing.T, query string, into map[int]string) error {
	res, err := w.Execute(t.Context(), session.Text{SQL: query})
	if err != nil {
		return err
	}
	defer res.Close()
	rows, err := fetch(t.Context(), res)
	if err != nil {
		return err
	}
	for _, row := range rows {
		key, text, _ := strings.Cut(row, " | ")
		k, err := strconv.Atoi(key)
		require.NoError(t, err)
		if text == "<NULL>" {
			text = "NULL"
		}
		into[k] = text
	}
	return nil
}

func (p sameInPostgres) text() string {
	if p.theirs == "" {
		return p.ours
	}
	return p.theirs
}

// columnsIn lists the columns that an expression is of.
func columnsIn(expr string) string {
	list := []string{"id"}
	for _, c := range postgresColumns {
		if regexp.MustCompile(`\b` + c.name + `\b`).MatchString(expr) {
			list = append(list, c.name)
		}
	}
	return strings.Join(list, ", ")
}

func quoteSQL(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// copiedText reads a value of COPY's text format.
func copiedText(s string) string {
	if s == `\N` {
		return "NULL"
	}
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r", `\b`, "\b", `\f`, "\f", `\v`, "\v").Replace(s)
}

var clockText = regexp.MustCompile(`^(.*\d\d:\d\d:\d\d)(\.\d*?)0*$`)

func same(how alike, ours, theirs string) bool {
	if ours == theirs {
		return true
	}
	if strings.HasPrefix(ours, "error ") || strings.HasPrefix(theirs, "error ") {
		return strings.HasPrefix(ours, "error ") && strings.HasPrefix(theirs, "error ")
	}
	if ours == "NULL" || theirs == "NULL" {
		return false
	}
	switch how {
	case single, double, near, about:
		bits := 64
		if how == single {
			bits = 32
		}
		a, err := strconv.ParseFloat(ours, bits)
		b, err2 := strconv.ParseFloat(theirs, bits)
		if err != nil || err2 != nil {
			return false
		}
		if a == b || math.IsNaN(a) && math.IsNaN(b) {
			return true
		}
		most := 0.0
		switch how {
		case near:
			most = 1e-14
		case about:
			most = 1e-9
		}
		size := math.Max(math.Abs(a), math.Abs(b))
		if how == about {
			size = math.Max(size, 1e-3)
		}
		return math.Abs(a-b) <= most*size
	case asJSON:
		var a, b any
		return json.Unmarshal([]byte(ours), &a) == nil && json.Unmarshal([]byte(theirs), &b) == nil && reflect.DeepEqual(a, b)
	}
	if theirs == "true" || theirs == "false" {
		return strings.EqualFold(ours, theirs)
	}
	trim := func(s string) string {
		if m := clockText.FindStringSubmatch(s); m != nil {
			return m[1] + strings.TrimSuffix(m[2], ".")
		}
		return s
	}
	return trim(ours) == trim(theirs)
}

func fits(pattern, text string) bool {
	ok, err := regexp.MatchString("^(?s:"+pattern+")$", text)
	return pattern == "" || err == nil && ok
}
