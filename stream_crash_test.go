package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// twoStreams are two jobs that write into tables a and b of one file without end. The rows of both come in
// pairs whose sum is 0, and as batches are full and even no pair is parted: so the sum of each table is 0 after
// every checkpoint, and at no other moment of writing.
func twoStreams(path, interval string) string {
	s := catalogSQL("d", path) + `
SET 'execution.runtime-mode' = 'streaming';
SET 'execution.checkpointing.interval' = '` + interval + `';
SET 'sluice.batch-rows' = '1000';
CREATE TABLE g (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1000000000',
  'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '9000000000000000000');
`
	for _, table := range []string{"a", "b"} {
		s += "INSERT INTO d.target." + table + " SELECT IF(MOD(n, 2) = 1, n, 1 - n), 'some text' FROM g WHERE MOD((n - 1) / 2, 20000) = 0;\n"
	}
	return s
}

const streamSums = "SELECT (SELECT coalesce(sum(v), 0) FROM a) || ' ' || (SELECT coalesce(sum(v), 0) FROM b)"

// Two streaming jobs write into one file while another process reads it: nobody is told that the file is
// locked, and every read sees whole checkpoints.
func TestStreamsIntoOneFile(t *testing.T) {
	bin := buildSluice(t)
	// A commit keeps readers of a file in a rollback-journal mode out, and them alone.
	for mode, interval := range map[string]string{"delete": "200 ms", "wal": "20 ms"} {
		t.Run(mode, func(t *testing.T) {
			target := filepath.Join(t.TempDir(), "target.db")
			execSQLite(t, target, "PRAGMA journal_mode="+mode, "CREATE TABLE a (v BIGINT, s TEXT)", "CREATE TABLE b (v BIGINT, s TEXT)")
			cmd := exec.Command(bin, "-c", twoStreams(target, interval))
			cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
			said, err := os.Create(filepath.Join(t.TempDir(), "stderr")) // a file: it is read while the process writes
			require.NoError(t, err)
			defer said.Close()
			stderr := func() string {
				text, err := os.ReadFile(said.Name())
				require.NoError(t, err)
				return string(text)
			}
			cmd.Stderr = said
			require.NoError(t, cmd.Start())
			defer func() { _ = cmd.Process.Kill() }()

			db := openSQLite(t, target)
			defer db.Close()
			_, err = db.Exec("PRAGMA busy_timeout = 5000")
			require.NoError(t, err)
			sizes := map[string]bool{}
			reads := 0
			for deadline := time.Now().Add(5 * time.Minute); reads < 1000 || len(sizes) < 10; {
				require.True(t, time.Now().Before(deadline), "%d reads, %d sizes; %s", reads, len(sizes), stderr())
				var sums, size string
				require.NoError(t, db.QueryRow(streamSums+", (SELECT count(*) FROM a) || ' ' || (SELECT count(*) FROM b)").Scan(&sums, &size))
				require.Equal(t, "0 0", sums, "after %d reads, with %s rows", reads, size)
				a, b, _ := strings.Cut(size, " ")
				if a != "0" && b != "0" {
					reads++
					sizes[size] = true
				}
			}
			require.NoError(t, cmd.Process.Signal(os.Interrupt))
			_ = cmd.Wait()
			require.Equal(t, 130, cmd.ProcessState.ExitCode(), stderr())
			require.NotContains(t, stderr(), "ERROR")
			require.NotContains(t, stderr(), "locked")
			require.Equal(t, "0 0", queryText(t, target, streamSums))
			require.Equal(t, "ok", queryText(t, target, "PRAGMA integrity_check"))
			t.Logf("%s: %d reads saw %d different sizes; in the end %s rows", mode, reads, len(sizes), queryText(t, target, "SELECT (SELECT count(*) FROM a) + (SELECT count(*) FROM b)"))
		})
	}
}

// Two streaming jobs that write into one file are killed at any moment: the file is sound and holds whole
// checkpoints, what was there before is there, and nothing of ours is.
func TestKillStreams(t *testing.T) {
	bin := buildSluice(t)
	target := filepath.Join(t.TempDir(), "target.db")
	execSQLite(t, target, "CREATE TABLE a (v BIGINT, s TEXT)", "CREATE TABLE b (v BIGINT, s TEXT)")
	const count = "SELECT (SELECT count(*) FROM a) + (SELECT count(*) FROM b)"
	had, grown, still := 0, 0, 0
	kill := func(delay time.Duration) {
		r := runSluice(t, bin, twoStreams(target, "20 ms"), delay, syscall.SIGKILL)
		require.Equal(t, -1, r.code, r.stderr)
		require.Equal(t, "ok", queryText(t, target, "PRAGMA integrity_check"))
		require.Equal(t, "0 0", queryText(t, target, streamSums))
		var n int
		_, err := fmt.Sscan(queryText(t, target, count), &n)
		require.NoError(t, err)
		require.GreaterOrEqual(t, n, had)
		if n > had {
			grown++
		} else {
			still++
		}
		had = n
		require.Equal(t, "a\nb", queryText(t, target, "SELECT name FROM sqlite_master ORDER BY name"))
	}
	for i := range *kills {
		kill(time.Duration((float64(i) + rand.Float64()) / float64(*kills) * float64(time.Second)))
	}
	for delay := 2 * time.Second; grown == 0; delay *= 2 { // on a slow machine
		kill(delay)
	}
	r := runSluice(t, bin, catalogSQL("d", target)+"SHOW TABLES FROM d.target;", -1, 0)
	require.Equal(t, 0, r.code, r.stderr)
	left, err := filepath.Glob(target + ".sluice*")
	require.NoError(t, err)
	require.Empty(t, left)
	t.Logf("killed %d times: %d with rows committed, %d before the first; %d rows", grown+still, grown, still, had)
}
