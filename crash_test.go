package main

import (
	"bytes"
	"database/sql"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3" // the checker's own road to the files
	"github.com/stretchr/testify/require"
)

// How often the binary is canceled. The default keeps `make test` short; `make proof` asks for the full number.
var cancels = flag.Int("cancels", 20, "SIGINTs spread over 1.2 times the length of an INSERT")

// buildSluice builds the binary that the test kills.
func buildSluice(t *testing.T) string {
	t.Helper()
	if raced {
		t.Skip("the binary that is killed has no race detector")
	}
	bin := filepath.Join(t.TempDir(), "sluice")
	out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	return bin
}

func openSQLite(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	return db
}

func execSQLite(t *testing.T, path string, statements ...string) {
	t.Helper()
	db := openSQLite(t, path)
	defer db.Close()
	for _, s := range statements {
		_, err := db.Exec(s)
		require.NoError(t, err, s)
	}
}

func queryText(t *testing.T, path, query string) string {
	t.Helper()
	db := openSQLite(t, path)
	defer db.Close()
	rows, err := db.Query(query)
	require.NoError(t, err, query)
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s sql.NullString
		require.NoError(t, rows.Scan(&s))
		out = append(out, s.String)
	}
	require.NoError(t, rows.Err())
	return strings.Join(out, "\n")
}

const series = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) " +
	"SELECT i AS id, 'row ' || i AS name, i * 0.5 AS half FROM n"

func catalogSQL(name, path string) string {
	return fmt.Sprintf("CREATE CATALOG %s WITH ('type'='jdbc', 'base-url'='jdbc:sqlite:%s');\n", name, path)
}

// run is what came of a run of the binary.
type run struct {
	stderr string
	code   int // exit code; -1 when a signal ended it
	took   time.Duration
}

// runSluice runs the binary with the statement and sends it sig after the delay; never, if that is negative.
func runSluice(t *testing.T, bin, statement string, delay time.Duration, sig syscall.Signal) run {
	t.Helper()
	cmd := exec.Command(bin, "-c", statement)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	start := time.Now()
	require.NoError(t, cmd.Start())
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	if delay >= 0 {
		select {
		case <-time.After(delay):
			_ = cmd.Process.Signal(sig) // it may have ended by itself
		case err := <-done:
			done <- err
		}
	}
	<-done
	return run{stderr.String(), cmd.ProcessState.ExitCode(), time.Since(start)}
}

// TestCases are two of the cases that need several runs of the binary.
//
// C18: Ctrl-C at random times during an INSERT into an existing table leaves the table as it was, unless the
// statement said success; the next statement works.
//
// C20: of eight processes that CREATE TABLE IF NOT EXISTS AS at once one makes the table, and the others say
// that it exists.
func TestCases(t *testing.T) {
	t.Run("C18", func(t *testing.T) {
		bin := buildSluice(t)
		dir := t.TempDir()
		target, source := filepath.Join(dir, "target.db"), filepath.Join(dir, "source.db")
		const rows = 60_000
		execSQLite(t, source, "CREATE TABLE big AS "+fmt.Sprintf(series, rows))
		execSQLite(t, target, "CREATE TABLE t (id INTEGER, name TEXT, half REAL)", "INSERT INTO t VALUES (-1, 'first', 0)")
		statement := catalogSQL("d", target) + catalogSQL("s", source) +
			"INSERT INTO d.target.t SELECT * FROM s.source.big;"
		r := runSluice(t, bin, statement, -1, 0)
		require.Equal(t, 0, r.code, r.stderr)
		length := r.took
		want, canceled, finished := rows+1, 0, 0
		for i := 0; i < *cancels || canceled == 0; i++ {
			delay := time.Duration((float64(i) + rand.Float64()) / float64(*cancels) * 1.2 * float64(length))
			if i >= *cancels { // the machine has become faster
				delay = 0
			}
			r := runSluice(t, bin, statement, delay, syscall.SIGINT)
			switch r.code {
			case 0:
				finished++
				want += rows
			case 130, -1: // -1: the signal came before the program could listen to it
				canceled++
			default:
				t.Fatalf("exit code %d: %s", r.code, r.stderr)
			}
			require.Equal(t, fmt.Sprint(want), queryText(t, target, "SELECT count(*) FROM t"), "exit code %d: %s", r.code, r.stderr)
		}
		require.Equal(t, "ok", queryText(t, target, "PRAGMA integrity_check"))
		t.Logf("canceled %d, finished %d of %d", canceled, finished, *cancels)
	})
	t.Run("C20", func(t *testing.T) {
		bin := buildSluice(t)
		target := filepath.Join(t.TempDir(), "target.db")
		execSQLite(t, target, "CREATE TABLE keep (a)")
		for range 3 {
			runs := make(chan run, 8)
			for range 8 {
				go func() {
					runs <- runSluice(t, bin, catalogSQL("d", target)+
						"CREATE TABLE IF NOT EXISTS d.target.t AS SELECT 1 AS a UNION ALL SELECT 2;", -1, 0)
				}()
			}
			creators, notices := 0, 0
			for range 8 {
				r := <-runs
				require.Equal(t, 0, r.code, r.stderr)
				creators += strings.Count(r.stderr, "2 rows written")
				notices += strings.Count(r.stderr, "already exists in Catalog d")
			}
			require.Equal(t, 1, creators)
			require.Equal(t, 7, notices)
			require.Equal(t, "2", queryText(t, target, "SELECT count(*) FROM t"))
			execSQLite(t, target, "DROP TABLE t")
		}
	})
}
