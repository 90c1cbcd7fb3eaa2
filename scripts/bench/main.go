// Command bench compares the sluice binary with the sqlite3 command line on the same files, and on the roads to and from
// database servers with the clients of those, and prints ratios. Each ratio is the median of 7 paired rounds (15 when the limit lies between the least and the
// median); results are compared before times are printed. Absolute times mean little on a shared
// machine; the two programs take turns so that ratios do.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"time"
)

var (
	rows    = flag.Int("rows", 1_000_000, "rows of the source table")
	rounds  = flag.Int("rounds", 7, "paired rounds")
	only    = flag.String("only", "", "run only the rows whose name has this text")
	keepDir = flag.String("dir", "", "make the files here, and reuse them, instead of in a temporary directory")
)

func main() {
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: bench [-rows N] [-rounds N] [-only TEXT] [-dir DIR] ./sluice")
		os.Exit(2)
	}
	if err := run(flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type bench struct {
	sluice, dir string
}

func run(binary string) error {
	sluice, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	dir := *keepDir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "sluice-bench-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	b := &bench{sluice, dir}
	if strings.Contains("expressions", *only) {
		if err := b.expressions(); err != nil || *only != "" {
			return err
		}
	}
	if strings.Contains("streaming", *only) {
		if err := b.streaming(); err != nil || *only != "" {
			return err
		}
	}
	fmt.Printf("making the source files: %d rows × 16 columns\n", *rows)
	if err := b.make("src.db", func(p string) error { return load(p, "l", itemColumns, *rows, item) }); err != nil {
		return err
	}
	if !strings.HasPrefix(*only, "servers") {
		if err := b.make("typed.db", func(p string) error { return load(p, "typed", typedColumns, *rows, typedItem) }); err != nil {
			return err
		}
		if err := b.make("src5.db", func(p string) error { return multiply(p, b.path("src.db"), 5) }); err != nil {
			return err
		}
	}
	for _, row := range []struct {
		name string
		run  func() error
	}{
		{"explain", b.explain},
		{"ctas", func() error { return b.ctas("ctas", "src.db", "src", "l", 1.2) }},
		{"ctas-typed", func() error { return b.ctas("ctas-typed", "typed.db", "typed", "typed", 2.0) }},
		{"group-by", b.groupBy},
		{"start-up", b.startUp},
		{"memory", b.memory},
		{"servers", b.servers},
	} {
		if strings.Contains(row.name, *only) || row.name == "servers" && strings.HasPrefix(*only, "servers ") {
			if err := row.run(); err != nil {
				return fmt.Errorf("%s: %w", row.name, err)
			}
		}
	}
	return nil
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) make(name string, f func(string) error) error {
	if _, err := os.Stat(b.path(name)); err == nil {
		return nil
	}
	tmp := b.path(name + ".part")
	_ = os.Remove(tmp)
	if err := f(tmp); err != nil {
		return err
	}
	return os.Rename(tmp, b.path(name))
}

// catalogs is the SQL that makes a source file catalog s and, unless it is empty, a target file catalog d.
func (b *bench) catalogs(source, target string) string {
	one := func(name, file string) string {
		return fmt.Sprintf("CREATE CATALOG %s WITH ('type'='jdbc', 'base-url'='jdbc:sqlite:%s'); ", name, b.path(file))
	}
	sql := one("s", source)
	if target != "" {
		sql += one("d", target)
	}
	return sql
}

type outcome struct {
	out     string
	seconds float64
	maxRSS  int64 // bytes
}

func runOnce(name string, args ...string) (outcome, error) {
	cmd := exec.Command(name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	err := cmd.Run()
	t := time.Since(start).Seconds()
	if err != nil {
		return outcome{}, fmt.Errorf("%s: %w\n%s%s", filepath.Base(name), err, stdout.String(), stderr.String())
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return outcome{stdout.String(), t, usage.Maxrss * 1024}, nil
}

// pair runs ours and theirs in turn and prints the ratio of their times. Each is called once before
// the first round, untimed, so that files and programs are warm.
func pair(name string, limit float64, ours, theirs func() (outcome, error)) error {
	return pairOf(name, "sqlite3", limit, *rounds, ours, theirs)
}

// pairOf is pair with n rounds against something of another name; a limit of 0 is none.
func pairOf(name, other string, limit float64, n int, ours, theirs func() (outcome, error)) error {
	var ratios, a, t []float64
	for round := -1; round < n; round++ {
		first, second := ours, theirs
		if round%2 == 0 {
			first, second = theirs, ours
		}
		x, err := first()
		if err != nil {
			return err
		}
		y, err := second()
		if err != nil {
			return err
		}
		if round%2 == 0 {
			x, y = y, x
		}
		if round < 0 {
			continue
		}
		ratios, a, t = append(ratios, x.seconds/y.seconds), append(a, x.seconds), append(t, y.seconds)
		if round == n-1 && n < 15 {
			if lo, mid, _ := spread(ratios); lo < limit && limit < mid {
				n = 15
			}
		}
	}
	lo, mid, hi := spread(ratios)
	_, am, _ := spread(a)
	_, tm, _ := spread(t)
	fmt.Printf("%-12s sluice %.4f s  %s %.4f s  ratio %.2f (min %.2f, max %.2f, %d rounds)", name, am, other, tm, mid, lo, hi, len(ratios))
	switch {
	case limit == 0:
		fmt.Println()
	case mid > limit:
		fmt.Printf("  limit %.2f  OVER\n", limit)
	default:
		fmt.Printf("  limit %.2f  ok\n", limit)
	}
	return nil
}

func spread(xs []float64) (lo, mid, hi float64) {
	s := append([]float64(nil), xs...)
	sort.Float64s(s)
	return s[0], s[len(s)/2], s[len(s)-1]
}

func (b *bench) ctasSQL(source, db, table, target string) string {
	return b.catalogs(source, target) + fmt.Sprintf("CREATE TABLE d.%s.t AS SELECT * FROM s.%s.%s;", strings.TrimSuffix(target, ".db"), db, table)
}

func (b *bench) explain() error {
	sql := b.catalogs("src.db", "ours.db") + "EXPLAIN CREATE TABLE d.ours.t AS SELECT * FROM s.src.l;"
	o, err := runOnce(b.sluice, "-c", sql)
	if err != nil {
		return err
	}
	fmt.Println(o.out)
	return nil
}

// ctas copies a table into a new file, durably (rollback journal, synchronous EXTRA on both sides).
func (b *bench) ctas(name, source, db, table string, limit float64) error {
	ours := func() (outcome, error) {
		_ = os.Remove(b.path("ours.db"))
		return runOnce(b.sluice, "-c", b.ctasSQL(source, db, table, "ours.db"))
	}
	theirs := func() (outcome, error) {
		_ = os.Remove(b.path("theirs.db"))
		return runOnce("sqlite3", b.path("theirs.db"), "PRAGMA synchronous=EXTRA; ATTACH '"+b.path(source)+"' AS s; CREATE TABLE t AS SELECT * FROM s."+table+";")
	}
	for _, f := range []func() (outcome, error){ours, theirs} {
		if _, err := f(); err != nil {
			return err
		}
	}
	// Decimals are compared as numbers: ours keeps 12.50 as exactly that text, SQLite as a float.
	cols := "*"
	if table == "typed" {
		cols = "id, printf('%.2f', price), printf('%.2f', tax), ordered, shipped, received, note"
	}
	diff, err := runOnce("sqlite3", b.path("ours.db"), "ATTACH '"+b.path("theirs.db")+"' AS x; "+
		"SELECT (SELECT count(*) FROM main.t) = (SELECT count(*) FROM x.t), "+
		"(SELECT count(*) FROM (SELECT "+cols+" FROM main.t EXCEPT SELECT "+cols+" FROM x.t));")
	if err != nil {
		return err
	}
	if strings.TrimSpace(diff.out) != "1|0" {
		return fmt.Errorf("the two tables differ: %s", diff.out)
	}
	return pair(name, limit, ours, theirs)
}

func (b *bench) groupBy() error {
	const query = "select l_returnflag, l_linestatus, count(*), sum(l_quantity), avg(l_extendedprice) from %s where l_shipdate <= '1998-09-02' group by 1, 2"
	ours := func() (outcome, error) {
		return runOnce(b.sluice, "--format", "csv", "-c", b.catalogs("src.db", "")+fmt.Sprintf(query, "s.src.l")+";")
	}
	theirs := func() (outcome, error) {
		return runOnce("sqlite3", "-csv", b.path("src.db"), fmt.Sprintf(query, "l"))
	}
	o, err := ours()
	if err != nil {
		return err
	}
	t, err := theirs()
	if err != nil {
		return err
	}
	if err := sameGroups(o.out, t.out); err != nil {
		return err
	}
	return pair("group-by", 0.35, ours, theirs)
}

// sameGroups compares two csv results as sets of rows, numbers to 12 digits; ours has a header.
func sameGroups(ours, theirs string) error {
	canon := func(s string, skip int) []string {
		lines := strings.Split(strings.TrimSpace(s), "\n")[skip:]
		for i, l := range lines {
			fields := strings.Split(strings.TrimSpace(l), ",")
			for j, f := range fields {
				var x float64
				if _, err := fmt.Sscanf(f, "%g", &x); err == nil {
					fields[j] = fmt.Sprintf("%.11e", x)
				}
			}
			lines[i] = strings.Join(fields, ",")
		}
		sort.Strings(lines)
		return lines
	}
	a, t := canon(ours, 1), canon(theirs, 0)
	if strings.Join(a, "\n") != strings.Join(t, "\n") {
		return fmt.Errorf("the results differ:\n%s\n%s", ours, theirs)
	}
	return nil
}

func (b *bench) startUp() error {
	n := *rounds
	*rounds = 41 // a few milliseconds each
	defer func() { *rounds = n }()
	return pair("start-up", 2.5,
		func() (outcome, error) { return runOnce(b.sluice, "-c", "SELECT 1") },
		func() (outcome, error) { return runOnce("sqlite3", ":memory:", "SELECT 1") })
}

// memory prints the greatest resident set of the CTAS at one and five times the rows.
func (b *bench) memory() error {
	for _, f := range []string{"src.db", "src5.db"} {
		_ = os.Remove(b.path("ours.db"))
		o, err := runOnce(b.sluice, "-c", b.ctasSQL(f, strings.TrimSuffix(f, ".db"), "l", "ours.db"))
		if err != nil {
			return err
		}
		verdict := "ok"
		if o.maxRSS > 100<<20 {
			verdict = "OVER"
		}
		fmt.Printf("%-12s CTAS of %s: peak %.1f MB  limit 100 MB  %s\n", "memory", f, float64(o.maxRSS)/(1<<20), verdict)
	}
	return nil
}
