//go:build unix

package testserver

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// User and Password are those of the account that may do everything on the servers. The password is nowhere else:
// found in any output or file it is a leak.
const (
	User     = "sluice"
	Password = "canary-pw-7f3a'\"x"
)

// Server is a running server.
type Server struct {
	Kind string // "postgresql" or "mysql", as in jdbc addresses
	Dir  string // its files
	Port int
	bin  string // where the programs are
	// PID is of the server's first process.
	PID int
}

// Addr is host:port.
func (s *Server) Addr() string { return "127.0.0.1:" + strconv.Itoa(s.Port) }

// URL is the jdbc address of a database, or of the server when database is "".
func (s *Server) URL(database string) string {
	return "jdbc:" + s.Kind + "://" + s.Addr() + "/" + database
}

var (
	pgOnce, mariaOnce sync.Once
	pgServer, maria   *Server
	pgErr, mariaErr   error
)

// Start starts a server for a benchmark: one that keeps what it commits, as a user's does, and logs no statements.
// kind is that of [Server]. It ends with this process.
func Start(kind string) (*Server, error) {
	if kind == "postgresql" {
		return startPostgres(true)
	}
	return startMariaDB(true)
}

// missing says that the programs of a server are not there.
type missing struct{ what, pkg string }

func (e *missing) Error() string {
	return "this test needs " + e.what + " (Debian: apt-get install " + e.pkg + "; make test installs it when it runs as root there)"
}

// Postgres returns the test binary's PostgreSQL; the test is skipped where it is not installed, but for CI=true, where it fails.
func Postgres(t testing.TB) *Server {
	t.Helper()
	pgOnce.Do(func() { pgServer, pgErr = startPostgres(false) })
	return started(t, pgServer, pgErr)
}

// MariaDB returns the test binary's MariaDB; the test is skipped where it is not installed, but for CI=true, where it fails.
func MariaDB(t testing.TB) *Server {
	t.Helper()
	mariaOnce.Do(func() { maria, mariaErr = startMariaDB(false) })
	return started(t, maria, mariaErr)
}

func started(t testing.TB, s *Server, err error) *Server {
	t.Helper()
	if m, ok := err.(*missing); ok {
		if os.Getenv("CI") == "true" { // nothing is skipped there
			t.Fatal(m.Error())
		}
		t.Skip(m.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// account makes a command run as a user that is not root, which servers refuse to be.
func account(names ...string) (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{}
	if os.Getuid() != 0 {
		return attr, nil
	}
	for _, name := range append(names, "nobody") {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(u.Uid)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.Atoi(u.Gid)
		if err != nil {
			return nil, err
		}
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		return attr, nil
	}
	return nil, fmt.Errorf("there is none of the accounts %v", names)
}

// directory makes the server's directory; the path of a socket in it must be short.
func directory(prefix string, attr *syscall.SysProcAttr) (string, error) {
	dir, err := os.MkdirTemp("", prefix)
	if err == nil && attr.Credential != nil {
		err = os.Chown(dir, int(attr.Credential.Uid), int(attr.Credential.Gid))
	}
	return dir, err
}

// freePort returns a port that was free a moment ago.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}

// keepers hold the standard inputs by whose end the servers end.
var keepers []any

// supervise runs a server under a shell that ends it, and removes its directory, when this process is gone.
func (s *Server) supervise(attr *syscall.SysProcAttr, program string, args ...string) error {
	// The kill is the immediate one of each: nothing in the directory is wanted any more.
	script := `d=$1; shift; cd "$d" || exit 1
"$@" </dev/null >"$d/log" 2>&1 &
server=$!
echo "$server"
read -r line
kill -QUIT "$server" 2>/dev/null; kill -KILL "$server" 2>/dev/null
wait "$server" 2>/dev/null
cd /; rm -rf "$d"`
	c := exec.Command("/bin/sh", append([]string{"-c", script, "sh", s.Dir, program}, args...)...)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: attr.Credential, Setpgid: true}
	c.Env = append(os.Environ(), "LC_ALL=C", "TZ=UTC")
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	keepers = append(keepers, in)
	var line []byte
	for b := make([]byte, 1); ; {
		if n, err := out.Read(b); err != nil {
			return err
		} else if n == 1 && b[0] == '\n' {
			break
		} else if n == 1 {
			line = append(line, b[0])
		}
	}
	s.PID, err = strconv.Atoi(string(line))
	return err
}

// await waits until the server answers.
func (s *Server) await(answers func() error) error {
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		err := answers()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(s.Dir + "/log")
			return fmt.Errorf("the %s server does not answer: %w\n%s", s.Kind, err, log)
		}
	}
}

func startPostgres(durable bool) (*Server, error) {
	bin := ""
	if path, err := exec.LookPath("initdb"); err == nil {
		bin = filepath.Dir(path)
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // Debian's place, which is not in PATH
	if err != nil {
		return nil, err
	}
	sort.Strings(found)
	if len(found) > 0 {
		bin = filepath.Dir(found[len(found)-1])
	}
	if bin == "" {
		return nil, &missing{"PostgreSQL", "postgresql"}
	}
	attr, err := account("postgres")
	if err != nil {
		return nil, err
	}
	s := &Server{Kind: "postgresql", bin: bin}
	if s.Dir, err = directory("pg", attr); err != nil {
		return nil, err
	}
	if s.Port, err = freePort(); err != nil {
		return nil, err
	}
	pw := filepath.Join(s.Dir, "pw")
	if err := os.WriteFile(pw, []byte(Password+"\n"), 0o644); err != nil {
		return nil, err
	}
	init := exec.Command(filepath.Join(bin, "initdb"), "-D", s.Dir+"/data", "-U", User, "-A", "scram-sha-256", "--pwfile", pw, "-E", "UTF8", "--locale=C", "--no-sync")
	init.Dir, init.SysProcAttr = s.Dir, attr
	if out, err := init.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	if err := os.Remove(pw); err != nil {
		return nil, err
	}
	err = s.supervise(attr, filepath.Join(bin, "postgres"), s.arguments(durable)...)
	if err != nil {
		return nil, err
	}
	return s, s.await(func() error { _, err := s.query("postgres", "SELECT 1"); return err })
}

func startMariaDB(durable bool) (*Server, error) {
	install, err := exec.LookPath("mariadb-install-db")
	server := ""
	for _, p := range []string{"/usr/sbin/mariadbd", "/usr/bin/mariadbd", "/usr/local/bin/mariadbd"} {
		if _, err := os.Stat(p); err == nil {
			server = p
			break
		}
	}
	if err != nil || server == "" {
		return nil, &missing{"MariaDB", "mariadb-server"}
	}
	attr, err := account("mysql")
	if err != nil {
		return nil, err
	}
	s := &Server{Kind: "mysql"}
	if s.Dir, err = directory("my", attr); err != nil {
		return nil, err
	}
	if s.Port, err = freePort(); err != nil {
		return nil, err
	}
	init := exec.Command(install, "--no-defaults", "--datadir="+s.Dir+"/data", "--auth-root-authentication-method=normal", "--skip-test-db", "--innodb-flush-log-at-trx-commit=0")
	init.Dir, init.SysProcAttr = s.Dir, attr
	if out, err := init.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("mariadb-install-db: %w: %s", err, out)
	}
	// A directory of its own for temporary files, too: one server that starts removes those of others.
	args := []string{"--no-defaults", "--datadir=" + s.Dir + "/data", "--tmpdir=" + s.Dir, "--socket=" + s.Dir + "/s", "--port=" + strconv.Itoa(s.Port), "--bind-address=127.0.0.1",
		"--skip-name-resolve", "--innodb-buffer-pool-size=256M", "--default-time-zone=+00:00", "--max-connections=200"}
	if durable {
		args = append(args, "--innodb-log-file-size=1G", "--local-infile=1")
	} else {
		args = append(args, "--innodb-flush-method=nosync", "--general-log=1", "--general-log-file="+s.Dir+"/general.log")
	}
	err = s.supervise(attr, server, args...)
	if err != nil {
		return nil, err
	}
	if err := s.await(func() error {
		c := exec.Command("mariadb", "--no-defaults", "--socket="+s.Dir+"/s", "-u", "root", "-e", "CREATE USER IF NOT EXISTS '"+User+"'@'%' IDENTIFIED BY '"+strings.ReplaceAll(Password, "'", "''")+"'; GRANT ALL ON *.* TO '"+User+"'@'%' WITH GRANT OPTION")
		out, err := c.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	return s, nil
}

// Query runs a script with the server's own client (psql or mariadb) and returns what it prints: a line for each
// row, columns apart by a tab, NULL as psql is told (\N) and as mariadb does (NULL). The first error ends the
// script, and the test.
func (s *Server) Query(t testing.TB, database, script string) string {
	t.Helper()
	out, err := s.query(database, script)
	if err != nil {
		t.Fatalf("%s: %v\n%s", s.Kind, err, script)
	}
	return out
}

// TryQuery is Query that returns the error.
func (s *Server) TryQuery(database, script string) (string, error) { return s.query(database, script) }

func (s *Server) query(database, script string) (string, error) {
	c := s.Client(database)
	if s.Kind == "postgresql" {
		c.Args = append(c.Args, "-f", "-")
	}
	var out, problem bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(script), &out, &problem
	if err := c.Run(); err != nil {
		return out.String(), fmt.Errorf("%w: %s", err, problem.String())
	}
	return out.String(), nil
}

// Client is the server's own client, psql or mariadb, as [Server.Query] calls it, without its input.
func (s *Server) Client(database string) *exec.Cmd {
	var c *exec.Cmd
	if s.Kind == "postgresql" {
		c = exec.Command(filepath.Join(s.bin, "psql"), "-X", "-q", "-A", "-t", "-F", "\t", "-P", `null=\N`, "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", strconv.Itoa(s.Port), "-U", User, "-d", database)
		c.Env = append(os.Environ(), "PGPASSWORD="+Password, "PGAPPNAME=testserver", "PGTZ=UTC")
	} else {
		args := []string{"--no-defaults", "--default-character-set=utf8mb4", "--socket=" + s.Dir + "/s", "-u", "root", "--batch", "--skip-column-names"}
		if database != "" {
			args = append(args, database)
		}
		c = exec.Command("mariadb", args...)
	}
	return c
}

// Database makes an empty database of a fresh name, which is dropped with the test.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	b := make([]byte, 6)
	_, _ = rand.Read(b)
	name := "t" + hex.EncodeToString(b)
	if s.Kind == "postgresql" {
		s.Query(t, "postgres", "CREATE DATABASE "+name)
		t.Cleanup(func() { s.Query(t, "postgres", "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") })
	} else {
		s.Query(t, "", "CREATE DATABASE "+name+" CHARACTER SET utf8mb4")
		t.Cleanup(func() { s.Query(t, "", "DROP DATABASE IF EXISTS "+name) })
	}
	return name
}

// Sessions returns the sessions of the account User that the server has, but for those of this package: one line
// each, with what they do.
func (s *Server) Sessions(t testing.TB) []string {
	t.Helper()
	var out string
	if s.Kind == "postgresql" {
		out = s.Query(t, "postgres", "SELECT pid, datname, application_name, state, replace(query, chr(10), ' ') FROM pg_stat_activity WHERE usename = '"+User+"' AND backend_type = 'client backend' AND application_name <> 'testserver'")
	} else {
		out = s.Query(t, "", "SELECT id, db, command, state, replace(info, '\\n', ' ') FROM information_schema.processlist WHERE user = '"+User+"'")
	}
	return strings.FieldsFunc(out, func(r rune) bool { return r == '\n' })
}

// NoSessions waits a moment for the server's sessions to end, and fails the test if one stays.
func (s *Server) NoSessions(t testing.TB) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		left := s.Sessions(t)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("sessions are left on the %s server:\n%s", s.Kind, strings.Join(left, "\n"))
		}
	}
}
