package session_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// anotherProcess starts TestReadFile in a process of its own, as "hold" or "read".
func anotherProcess(t *testing.T, what, path string) (out *bufio.Reader, end func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestReadFile$", "-test.v")
	cmd.Env = append(os.Environ(), "SLUICE_TEST_READ="+what, "SLUICE_TEST_FILE="+path)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	pipe, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	end = func() { _ = in.Close() }
	t.Cleanup(func() { end(); _ = cmd.Wait() })
	return bufio.NewReader(pipe), end
}

// until returns the first line with a prefix, without it.
func until(t *testing.T, r *bufio.Reader, prefix string) string {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		require.NoError(t, err, "the other process has ended without a word of %q", prefix)
		if _, text, ok := strings.Cut(line, prefix); ok {
			return strings.TrimSpace(text)
		}
	}
}

// TestReadFile is the other process of TestSlowReader: it holds a read transaction, or reads again and again,
// until its standard input ends.
func TestReadFile(t *testing.T) {
	what := os.Getenv("SLUICE_TEST_READ")
	if what == "" {
		t.Skip("it is run by TestSlowReader")
	}
	ended := make(chan struct{})
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); close(ended) }()
	db, err := sql.Open("sqlite3", os.Getenv("SLUICE_TEST_FILE")+"?_busy_timeout=20000")
	require.NoError(t, err)
	defer db.Close()
	if what == "hold" {
		tx, err := db.Begin()
		require.NoError(t, err)
		var n int
		require.NoError(t, tx.QueryRow("SELECT count(*) FROM a").Scan(&n))
		fmt.Printf("holding %d\n", n)
		<-ended
		require.NoError(t, tx.Rollback())
		return
	}
	for reads := 0; ; reads++ {
		if reads%20 == 0 {
			fmt.Println("reads", reads)
		}
		var rows, last, groups int
		err := db.QueryRow("SELECT (SELECT count(*) FROM a), (SELECT coalesce(max(n), 0) FROM a), (SELECT coalesce(sum(m), 0) FROM u)").Scan(&rows, &last, &groups)
		switch {
		case err != nil:
			fmt.Printf("result read %d: %v\n", reads, err)
			return
		case rows != last || groups != 0 && groups != 10:
			fmt.Printf("result read %d: %d rows up to %d, %d groups\n", reads, rows, last, groups)
			return
		}
		select {
		case <-ended:
			fmt.Println("result whole")
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// A reader that keeps a rollback-journal file for 3 s holds up the jobs that write it, which say so, but not
// the other readers of the file. Each checkpoint is written once, whole and in order.
func TestSlowReader(t *testing.T) {
	w := newStreamingWorld(t)
	out := w.script(t, `
		SET 'execution.checkpointing.interval' = '100 ms';
		CREATE CATALOG c WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:$TMP/shop.db');
		CREATE TABLE g (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '400', 'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '2000');
		SET 'execution.runtime-mode' = 'streaming';
		CREATE TABLE c.shop.a AS SELECT n FROM g;
		CREATE TABLE c.shop.u (PRIMARY KEY (c) NOT ENFORCED) AS SELECT c, COUNT(*) AS m FROM (SELECT MOD(n, 10) AS k, COUNT(*) AS c FROM g GROUP BY MOD(n, 10)) GROUP BY c`, false)
	require.Equal(t, 2, strings.Count(out, "submitted <job>"), out)
	path := filepath.Join(w.tmp, "shop.db")
	db, err := sql.Open("sqlite3", path+"?_busy_timeout=20000")
	require.NoError(t, err)
	defer db.Close()
	number := func(query string) (n int) {
		require.NoError(t, db.QueryRow(query).Scan(&n))
		return n
	}
	for number("SELECT count(*) FROM a") == 0 || number("SELECT count(*) FROM u") == 0 {
		time.Sleep(20 * time.Millisecond)
	}

	reads, stop := anotherProcess(t, "read", path)
	holds, release := anotherProcess(t, "hold", path)
	held := until(t, holds, "holding ")
	began := time.Now()
	var others atomic.Int64 // twenties of reads of the other process
	result := make(chan string, 1)
	go func() {
		defer close(result)
		for lines := bufio.NewScanner(reads); lines.Scan(); {
			if _, text, ok := strings.Cut(lines.Text(), "result "); ok {
				result <- text
				return
			} else if strings.Contains(lines.Text(), "reads ") {
				others.Add(1)
			}
		}
	}()
	waits, before := false, others.Load()
	for time.Since(began) < 3*time.Second || !waits || others.Load() < before+3 {
		require.Empty(t, result, "the other reader has ended")
		require.Equal(t, held, fmt.Sprint(number("SELECT count(*) FROM a")))
		for _, j := range w.RunningJobs() {
			waits = waits || strings.HasPrefix(j.Held, "database "+path+", locked by process ") &&
				strings.Contains(w.script(t, "DESCRIBE JOB '"+j.ID.String()+"'", false), " | database $TMP/shop.db, locked by process ")
		}
		time.Sleep(50 * time.Millisecond)
	}
	release()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	require.NoError(t, w.AwaitJobs(ctx))
	stop()
	require.Equal(t, "whole", <-result)
	require.NotContains(t, w.endings(), "FAILED")
	require.Equal(t, 2000, number("SELECT count(*) FROM a"))
	require.Equal(t, 2000, number("SELECT count(DISTINCT n) FROM a"))
	require.Equal(t, 0, number("SELECT count(*) FROM (SELECT n, lag(n, 1, 0) OVER (ORDER BY rowid) AS before FROM a) WHERE n <> before + 1"))
	require.Equal(t, 10, number("SELECT sum(m) FROM u WHERE c = 200"))
	require.Equal(t, 1, number("SELECT count(*) FROM u"))
}
