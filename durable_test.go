package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDurable watches the system calls of a CREATE TABLE AS into a rollback-journal file: success is
// reported only after the file is on disk, its journal is gone, and the directory that says so is on
// disk too (SQLite's synchronous=EXTRA; FULL leaves the last out).
func TestDurable(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("this test needs strace (Debian: apt-get install strace); .ci/run and make test install it")
	}
	require.NoError(t, err)
	bin := buildSluice(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	target, source, trace := filepath.Join(dir, "target.db"), filepath.Join(dir, "source.db"), filepath.Join(dir, "trace")
	execSQLite(t, source, "CREATE TABLE u AS "+fmt.Sprintf(series, 1000))
	execSQLite(t, target, "CREATE TABLE keep (a)")
	cmd := exec.Command(strace, "-f", "-y", "-e", "trace=fsync,fdatasync,unlink,unlinkat,write", "-o", trace,
		bin, "-c", catalogSQL("s", source)+catalogSQL("d", target)+"CREATE TABLE d.target.t AS SELECT * FROM s.source.u;")
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	calls, err := os.ReadFile(trace)
	require.NoError(t, err)
	quoted := regexp.QuoteMeta(target)
	at := 0
	for _, step := range []string{
		`f(data)?sync\(\d+<` + quoted + `-journal>\)`,
		`f(data)?sync\(\d+<` + quoted + `>\)`,
		`unlink(at)?\(.*"` + quoted + `-journal"`,
		`f(data)?sync\(\d+<` + regexp.QuoteMeta(dir) + `>\)`,
		`write\(2<[^>]*>, "\[INFO\] Complete execution`,
	} {
		loc := regexp.MustCompile(step).FindIndex(calls[at:])
		require.NotNil(t, loc, "%s does not follow in\n%s", step, calls)
		at += loc[1]
	}
}
