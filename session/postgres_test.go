//go:build unix

package session_test

import (
	"bytes"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// postgres is a private PostgreSQL server: its files are in a directory of its own, and it listens on a socket
// in it and nowhere else.
type postgres struct {
	dir, bin string
}

// startPostgres starts a server that ends with the test, or skips the test where PostgreSQL is not installed.
// PostgreSQL does not run as root: there it is the user postgres, or nobody.
func startPostgres(t *testing.T) *postgres {
	t.Helper()
	bin := ""
	if path, err := exec.LookPath("initdb"); err == nil {
		bin = filepath.Dir(path)
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // Debian's place, which is not in PATH
	require.NoError(t, err)
	sort.Strings(found)
	if len(found) > 0 {
		bin = filepath.Dir(found[len(found)-1])
	}
	if bin == "" {
		t.Skip("this test needs PostgreSQL (Debian: apt-get install postgresql)")
	}
	dir, err := os.MkdirTemp("", "pg") // the path of a socket must be short
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	pg := &postgres{dir: dir, bin: bin}
	attr := &syscall.SysProcAttr{}
	if os.Getuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			u, err = user.Lookup("nobody")
		}
		require.NoError(t, err)
		uid, err := strconv.Atoi(u.Uid)
		require.NoError(t, err)
		gid, err := strconv.Atoi(u.Gid)
		require.NoError(t, err)
		require.NoError(t, os.Chown(dir, uid, gid))
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	run := func(name string, args ...string) *exec.Cmd {
		c := exec.Command(name, args...)
		c.Dir, c.SysProcAttr = dir, attr
		c.Env = append(os.Environ(), "LC_ALL=C", "TZ=UTC")
		return c
	}
	out, err := run(filepath.Join(bin, "initdb"), "-D", dir+"/data", "-U", "sluice", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync").CombinedOutput()
	require.NoError(t, err, "initdb says %s", out)

	// The shell ends the server when its input does: also when this process is killed.
	server := run("/bin/sh", "-c", `"$0" -D data -k "$1" -c listen_addresses= -c fsync=off -c timezone=UTC -c autovacuum=off </dev/null >log 2>&1 &
server=$!
read -r line
kill -INT "$server"
wait "$server"`, filepath.Join(bin, "postgres"), dir)
	stop, err := server.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = stop.Close()
		_ = server.Wait() // what the shell makes of its child's end
	})
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if _, err = pg.psql("SELECT 1"); err == nil {
			return pg
		}
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(dir + "/log")
			t.Fatalf("PostgreSQL does not answer: %v\n%s", err, log)
		}
	}
}

// psql runs a script; the first error ends it.
func (pg *postgres) psql(script string) (string, error) {
	c := exec.Command(filepath.Join(pg.bin, "psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", pg.dir, "-U", "sluice", "-d", "postgres", "-f", "-")
	var out, problem bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(script), &out, &problem
	if err := c.Run(); err != nil {
		return "", &postgresError{err, problem.String()}
	}
	return out.String(), nil
}

type postgresError struct {
	err  error
	text string
}

func (e *postgresError) Error() string { return e.err.Error() + ": " + e.text }
