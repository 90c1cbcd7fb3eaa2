//go:build unix

package testserver

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// Standby starts a standby of a PostgreSQL server, which follows it until it is promoted. It is ended with the test.
func (s *Server) Standby(t testing.TB) *Server {
	t.Helper()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	attr, err := account("postgres")
	ok(err)
	standby := &Server{Kind: s.Kind, bin: s.bin}
	standby.Dir, err = directory("pg", attr)
	ok(err)
	standby.Port, err = freePort()
	ok(err)
	backup := exec.Command(filepath.Join(s.bin, "pg_basebackup"), "-D", standby.Dir+"/data", "-h", "127.0.0.1", "-p", strconv.Itoa(s.Port), "-U", User, "-c", "fast", "-R", "--no-sync")
	backup.Dir, backup.SysProcAttr = standby.Dir, attr
	backup.Env = append(os.Environ(), "PGPASSWORD="+Password)
	if out, err := backup.CombinedOutput(); err != nil {
		t.Fatalf("pg_basebackup: %v: %s", err, out)
	}
	ok(standby.supervise(attr, filepath.Join(s.bin, "postgres"), standby.arguments(false)...))
	t.Cleanup(func() { _ = syscall.Kill(standby.PID, syscall.SIGQUIT) })
	ok(standby.await(func() error { _, err := standby.query("postgres", "SELECT 1"); return err }))
	return standby
}

// arguments are those of postgres.
func (s *Server) arguments(durable bool) []string {
	args := []string{"-D", s.Dir + "/data", "-k", s.Dir, "-p", strconv.Itoa(s.Port), "-c", "listen_addresses=127.0.0.1", "-c", "timezone=UTC", "-c", "max_connections=200"}
	if durable {
		return append(args, "-c", "max_wal_size=4GB", "-c", "shared_buffers=256MB")
	}
	return append(args, "-c", "fsync=off", "-c", "autovacuum=off", "-c", "max_prepared_transactions=10", "-c", "log_statement=all", "-c", "log_connections=on")
}
