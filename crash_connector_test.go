package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestKillFiles kills the binary at any moment of a CREATE TABLE AS into files: the directory is absent, or
// empty as it was, or has the whole table; and the next use leaves nothing of ours behind.
func TestKillFiles(t *testing.T) {
	bin := buildSluice(t)
	source := filepath.Join(t.TempDir(), "source.db")
	execSQLite(t, source, fmt.Sprintf("CREATE TABLE src AS "+series, crashRows))
	for _, there := range []bool{false, true} {
		t.Run(map[bool]string{false: "new directory", true: "empty directory"}[there], func(t *testing.T) {
			dir := t.TempDir()
			out := filepath.Join(dir, "out")
			prepare := func() {
				require.NoError(t, os.RemoveAll(out))
				if there {
					require.NoError(t, os.Mkdir(out, 0o755))
				}
			}
			statement := catalogSQL("s", source) + fmt.Sprintf("CREATE TABLE t WITH ('connector' = 'filesystem', 'path' = '%s', 'format' = 'csv') AS SELECT * FROM s.`source`.src;", out)
			prepare()
			whole := runSluice(t, bin, statement, -1, 0)
			require.Zero(t, whole.code, whole.stderr)
			var killed, early int
			for range *kills {
				prepare()
				r := runSluice(t, bin, statement, time.Duration(rand.Int64N(int64(whole.took)*6/5)), syscall.SIGKILL)
				if r.code == -1 {
					killed++
				}
				seen := visible(t, dir)
				switch len(seen) {
				case 0:
					require.NotEqual(t, 0, r.code, "reported as done, and not there")
					early++
				case 1:
					require.Equal(t, crashRows, lines(t, seen[0]), "the table has a part of its rows")
				default:
					t.Fatalf("files of the table: %v", seen)
				}
				_, err := os.Stat(out)
				require.True(t, there || len(seen) == 1 || os.IsNotExist(err), "a directory is left")
			}
			t.Logf("%d of %d killed, %d before the table was there", killed, *kills, early)

			prepare()
			again := runSluice(t, bin, statement, -1, 0)
			require.Zero(t, again.code, again.stderr)
			seen, hidden := filesBelow(t, dir)
			require.Len(t, seen, 1)
			require.Empty(t, hidden)
		})
	}
}

// visible returns the files below a directory that a reader of its tables would see.
func visible(t *testing.T, dir string) []string {
	t.Helper()
	seen, _ := filesBelow(t, dir)
	return seen
}

// filesBelow returns the files below a directory, and apart what is hidden, or in something that is.
func filesBelow(t *testing.T, dir string) (seen, hidden []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case strings.Contains(strings.TrimPrefix(path, dir), "/."):
			hidden = append(hidden, path)
		case err == nil && !e.IsDir():
			seen = append(seen, path)
		}
		return err
	}))
	return seen, hidden
}

func lines(t *testing.T, path string) int {
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return strings.Count(string(b), "\n")
}
