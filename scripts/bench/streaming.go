package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"time"
)

// streaming measures jobs in streaming mode by the processor time they take: a job's source and its chain
// are two goroutines, so that rows a second of elapsed time would say how many cores there were. Each is run
// five times; what a run with a hundred rows takes is taken off.
func (b *bench) streaming() error {
	const few = 100
	datagen := func(fields string, rows int) string {
		return fmt.Sprintf("CREATE TABLE d (%s) WITH ('connector'='datagen', 'rows-per-second'='1000000000', 'number-of-rows'='%d', "+
			"'fields.k.min'='0', 'fields.k.max'='999'); ", fields, rows)
	}
	hole := "CREATE TABLE hole (k INT, v BIGINT) WITH ('connector'='blackhole'); "
	keyed := "CREATE TABLE counts (k INT, v BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector'='blackhole'); "
	for _, s := range []struct {
		name string
		rows int
		sql  func(rows int) string
	}{
		{"datagen → filter → blackhole", 50_000_000, func(n int) string {
			return datagen("k INT, v BIGINT", n) + hole + "INSERT INTO hole SELECT k, v FROM d WHERE MOD(k, 2) = 0"
		}},
		{"datagen → GROUP BY 1,000 keys → blackhole", 20_000_000, func(n int) string {
			return datagen("k INT, v BIGINT", n) + keyed + "INSERT INTO counts SELECT k, COUNT(*) FROM d GROUP BY k"
		}},
	} {
		var spent, idle []float64
		for range 5 {
			full, err := b.stream(s.sql(s.rows))
			if err != nil {
				return err
			}
			empty, err := b.stream(s.sql(few))
			if err != nil {
				return err
			}
			spent, idle = append(spent, full), append(idle, empty)
		}
		sort.Float64s(spent)
		sort.Float64s(idle)
		t := spent[2] - idle[2]
		fmt.Printf("%-45s %6.1f M rows/s a core (%.0f ns a row; %.2f–%.2f s of processor time for %d M rows)\n",
			s.name, float64(s.rows)/t/1e6, t/float64(s.rows)*1e9, spent[0], spent[4], s.rows/1_000_000)
	}
	return b.streamFiles()
}

// stream runs statements in streaming mode and returns the processor time.
func (b *bench) stream(sql string) (float64, error) {
	cmd := exec.Command(b.sluice, "-D", "execution.runtime-mode=streaming", "-D", "table.dml-sync=true", "-c", sql)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%w\n%s", err, out)
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime), nil
}

// streamFiles loads a directory of csv files into SQLite with a checkpoint a second.
func (b *bench) streamFiles() error {
	const files, lines = 20, 100_000
	dir := b.path("csv")
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for f := range files {
		var text strings.Builder
		for i := range lines {
			fmt.Fprintf(&text, "%d,name %d,%d.%02d\n", f*lines+i, i%1000, i%500, i%100)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.csv", f)), []byte(text.String()), 0o644); err != nil {
			return err
		}
	}
	var times []float64
	for range 5 {
		db := b.path("epochs.db")
		_ = os.Remove(db)
		sql := fmt.Sprintf("CREATE CATALOG s WITH ('type'='jdbc', 'base-url'='jdbc:sqlite:%s'); "+
			"CREATE TABLE lines (id BIGINT, name STRING, amount DECIMAL(10, 2)) WITH ('connector'='filesystem', 'path'='%s', 'format'='csv'); "+
			"CREATE TABLE s.epochs.t AS SELECT * FROM lines", db, dir)
		began := time.Now()
		if _, err := b.stream(sql); err != nil {
			return err
		}
		times = append(times, time.Since(began).Seconds())
		got, err := runOnce("sqlite3", db, "SELECT COUNT(*), COUNT(DISTINCT id) FROM t")
		if err != nil {
			return err
		}
		if want := fmt.Sprintf("%d|%d\n", files*lines, files*lines); got.out != want {
			return fmt.Errorf("csv → SQLite: %q instead of %q", got.out, want)
		}
	}
	sort.Float64s(times)
	fmt.Printf("%-45s %6.2f M rows/s (%.2f–%.2f s for %d M rows)\n", "csv directory → SQLite, checkpoints of 1 s",
		files*lines/times[2]/1e6, times[0], times[4], files*lines/1_000_000)
	return nil
}
