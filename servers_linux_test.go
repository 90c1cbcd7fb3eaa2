package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/sluice-sql/sluice/internal/testserver"
)

// A source whose session is ended at its 1,500th row fails the CREATE TABLE AS of several sources, whatever it writes
// to, and nothing of it is anywhere.
func TestSourceTerminated(t *testing.T) {
	x := tool{bin: buildSluice(t)}
	source := newServerSite(t, testserver.Postgres(t))
	source.server.Query(t, source.database, source.role()+`CREATE VIEW v AS SELECT i AS id, CASE WHEN i = 1500 THEN CAST(pg_terminate_backend(pg_backend_pid()) AS INT) ELSE 0 END AS x FROM generate_series(1, 5000) i`)
	other := filepath.Join(t.TempDir(), "other.db")
	execSQLite(t, other, "CREATE TABLE u AS "+fmt.Sprintf(series, 5000))
	from := "SELECT v.id AS id, u.name AS name, u.half AS half FROM src." + source.database + ".v JOIN o.other.u ON v.id = u.id WHERE v.x < 2"
	for _, s := range proofSiteList() {
		if !applies(rowShipped, s.name) {
			continue // goes with the process
		}
		t.Run(s.name, func(t *testing.T) {
			p := newProver(t, x, s, 0)
			p.site.reset(t, stCreate)
			state := statePath(t)
			script := p.site.setup(stCreate) + strings.Replace(source.catalog(), "CATALOG d", "CATALOG src", 1) + catalogSQL("o", other) +
				strings.Replace(p.site.statement(stCreate), querySQL, from, 1)
			o := p.run(t, script, state, "", "")
			require.Equal(t, 1, o.code, o.stderr)
			require.Contains(t, o.stderr, "terminating connection due to administrator command")
			require.Equal(t, absent, p.site.look(t, ""))
			require.Empty(t, p.site.leftovers(t))
			require.Empty(t, source.sessions(t))
			require.Empty(t, journals(t, state))
			require.Empty(t, o.left)
		})
	}
}

// A target whose session is ended once it has 1,500 rows fails the statement, and nothing of it is there.
func TestTargetTerminated(t *testing.T) {
	x := tool{bin: buildSluice(t)}
	for _, c := range []struct {
		server func(testing.TB) *testserver.Server
		victim string // a query that gives the session once it has the rows
		kill   string
	}{
		{testserver.Postgres, "SELECT pid FROM pg_stat_progress_copy WHERE datname = current_database() AND tuples_processed >= 1500", "SELECT pg_terminate_backend(%s)"},
		{testserver.MariaDB, "SELECT p.id FROM information_schema.processlist p WHERE p.user = '%s' AND EXISTS (SELECT 1 FROM information_schema.innodb_trx t WHERE t.trx_mysql_thread_id = p.id AND t.trx_rows_modified >= 1500)", "KILL %s"},
	} {
		s := newServerSite(t, c.server(t))
		t.Run(s.server.Kind, func(t *testing.T) {
			s.reset(t, stCreate)
			state := statePath(t)
			// Rows go on coming until the session is ended.
			slow := strings.NewReplacer("1000000000", "100000", "'5000'", "'2000000'").Replace(sourceSQL)
			r := x.start(t, strings.Replace(s.setup(stCreate), sourceSQL, slow, 1)+s.statement(stCreate), state, "", "")
			victim := ""
			for victim == "" && processState(r.Process.Pid) != 'Z' {
				query := c.victim
				if strings.Contains(query, "%s") {
					query = fmt.Sprintf(query, s.user)
				}
				victim = strings.TrimSpace(s.server.Query(t, s.database, query))
				time.Sleep(150 * time.Millisecond) // MariaDB shows what it had before when it is asked too often
			}
			if victim != "" {
				s.server.Query(t, s.database, fmt.Sprintf(c.kill, victim))
			}
			o := r.end(t)
			require.NotEmpty(t, victim, o.stderr)
			require.Equal(t, 1, o.code, o.stderr)
			require.Equal(t, absent, s.look(t, ""))
			use := x.run(t, s.use(), state, "", "")
			require.Zero(t, use.code, use.stderr)
			require.Empty(t, s.leftovers(t))
			require.Empty(t, journals(t, state))
		})
	}
}

// terminal is the shipped binary on a terminal of its own.
type terminal struct {
	cmd    *exec.Cmd
	master *os.File

	mu    sync.Mutex
	shown bytes.Buffer
}

func openTerminal(t *testing.T, bin, state string) *terminal {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals: %v", err)
	}
	x := &terminal{master: os.NewFile(uintptr(fd), "/dev/ptmx")}
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 200}))
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	x.cmd = exec.Command(bin, "--no-init", "--history", "")
	x.cmd.Stdin, x.cmd.Stdout, x.cmd.Stderr = slave, slave, slave
	x.cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state, "TERM=xterm")
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, x.cmd.Start())
	require.NoError(t, slave.Close())
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := x.master.Read(b)
			x.mu.Lock()
			x.shown.Write(b[:n])
			x.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = x.cmd.Process.Kill() // it may have ended
		_ = x.cmd.Wait()
		_ = x.master.Close()
	})
	return x
}

// text is what was shown from a place on.
func (x *terminal) text(from int) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return string(x.shown.Bytes()[from:])
}

// prompts waits for the prompt behind a place, and returns the place behind it.
func (x *terminal) prompts(t *testing.T, from int, limit time.Duration) int {
	t.Helper()
	const prompt = "Sluice SQL> "
	for deadline := time.Now().Add(limit); ; time.Sleep(2 * time.Millisecond) {
		text := x.text(from)
		if i := strings.LastIndex(text, prompt); i >= 0 {
			return from + i + len(prompt)
		}
		if time.Now().After(deadline) {
			t.Fatalf("no prompt within %v; the terminal has\n%q", limit, text)
		}
	}
}

func (x *terminal) types(t *testing.T, keys string) {
	_, err := x.master.WriteString(keys)
	require.NoError(t, err)
}

// sessions returns those of the site's account, but for those that end soon.
func (s *serverSite) sessions(t *testing.T) (list []string) {
	query := "SELECT pid, state, replace(query, chr(10), ' ') FROM pg_stat_activity WHERE usename = '" + s.user + "'"
	if !s.postgres() {
		query = "SELECT id, command, replace(info, '\n', ' ') FROM information_schema.processlist WHERE user = '" + s.user + "'"
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		list = strings.FieldsFunc(s.server.Query(t, s.database, query), func(r rune) bool { return r == '\n' })
		if len(list) == 0 || time.Now().After(deadline) {
			return list
		}
	}
}

// Ctrl-C while a server is at work for a long time: the prompt is back at once, and the server has no session
// of ours and does not go on with the work, while the shell stays.
func TestCancelReachesServer(t *testing.T) {
	bin := buildSluice(t)
	for _, c := range []struct {
		server func(testing.TB) *testserver.Server
		view   string
		active string // what shows that the view is read
	}{
		{testserver.Postgres, "CREATE VIEW slow AS SELECT 1 AS a FROM pg_sleep(60)", "PgSleep"},
		{testserver.MariaDB, "CREATE VIEW slow AS SELECT SLEEP(60) AS a", "User sleep"},
	} {
		s := newServerSite(t, c.server(t))
		t.Run(s.server.Kind, func(t *testing.T) {
			s.server.Query(t, s.database, s.role()+"CREATE TABLE keep (a INT);"+c.view)
			file := filepath.Join(t.TempDir(), "target.db")
			execSQLite(t, file, "CREATE TABLE keep (a)")
			x := openTerminal(t, bin, statePath(t))
			at := x.prompts(t, 0, hangs)
			for _, sql := range []string{s.catalog(), catalogSQL("f", file)} {
				x.types(t, strings.ReplaceAll(sql, "\n", "\r"))
				at = x.prompts(t, at, hangs)
			}
			slow := "d." + s.database + ".slow"
			for _, sql := range []string{
				"SELECT * FROM " + slow,
				"SELECT COUNT(*) FROM " + slow + " a JOIN " + slow + " b ON a.a = b.a",
				"CREATE TABLE f.target.t AS SELECT * FROM " + slow,
				"CREATE TABLE d." + s.database + ".t AS SELECT * FROM " + slow,
				"INSERT INTO d." + s.database + ".keep SELECT a FROM " + slow,
			} {
				x.types(t, sql+";\r")
				working := "SELECT count(*) FROM pg_stat_activity WHERE usename = '" + s.user + "' AND wait_event = '" + c.active + "'"
				if !s.postgres() {
					working = "SELECT count(*) FROM information_schema.processlist WHERE user = '" + s.user + "' AND state = '" + c.active + "'"
				}
				for deadline := time.Now().Add(hangs); strings.TrimSpace(s.server.Query(t, s.database, working)) == "0"; time.Sleep(10 * time.Millisecond) {
					require.True(t, time.Now().Before(deadline), "%s: %s", sql, x.text(at))
				}
				at += len(x.text(at)) // the editor shows its prompt again at each key
				begin := time.Now()
				x.types(t, "\x03")
				next := x.prompts(t, at, 20*time.Second) // a second, on a machine that does nothing else
				t.Logf("back after %v: %s", time.Since(begin).Round(time.Millisecond), sql)
				require.Contains(t, x.text(at), "canceled", sql)
				at = next
				require.Empty(t, s.sessions(t), sql)
			}
			x.types(t, "QUIT;\r")
			require.NoError(t, x.cmd.Wait())
			s.server.Query(t, s.database, "DROP VIEW slow")
			require.Equal(t, absent, s.look(t, ""))
			require.Empty(t, s.leftovers(t))
			require.Equal(t, "keep", queryText(t, file, "SELECT name FROM sqlite_master"))
			require.Equal(t, []string{"target.db"}, filesBeside(t, filepath.Dir(file)))
		})
	}
}

// While a session of the server moves amounts from one table to another and back, all that one query reads is of one
// moment: whatever it joins and however often, one worker or several.
func TestQueriesSeeOneMoment(t *testing.T) {
	x := tool{bin: buildSluice(t)}
	s := newServerSite(t, testserver.MariaDB(t))
	s.server.Query(t, s.database, "CREATE TABLE a (id INT PRIMARY KEY, n INT NOT NULL) ENGINE=InnoDB; INSERT INTO a SELECT seq, 1000 FROM seq_1_to_3000; CREATE TABLE b LIKE a; INSERT INTO b SELECT id, 0 FROM a; CREATE TABLE stop (i INT)")
	moved := func() string { return strings.TrimSpace(s.server.Query(t, s.database, "SELECT n FROM b WHERE id = 1")) }
	ended := make(chan error, 1)
	go func() {
		_, err := s.server.TryQuery(s.database, "DELIMITER //\nBEGIN NOT ATOMIC WHILE NOT EXISTS (SELECT 1 FROM stop) DO START TRANSACTION; UPDATE a SET n = n - 1 WHERE id IN (1, 3000); UPDATE b SET n = n + 1 WHERE id IN (1, 3000); COMMIT; END WHILE; END //\n")
		ended <- err
	}()
	defer func() {
		s.server.Query(t, s.database, "INSERT INTO stop VALUES (1)")
		require.NoError(t, <-ended)
	}()
	script := s.catalog() + "USE CATALOG d; USE " + s.database + "; SET 'sluice.format' = 'csv';\n"
	var want []string
	for _, parallelism := range []string{"1", "4"} {
		script += "SET 'parallelism.default' = '" + parallelism + "';\n"
		for _, q := range [][2]string{
			{"SELECT COUNT(*) FROM a JOIN b ON a.id = b.id WHERE a.n + b.n = 1000", "3000"},
			{"SELECT SUM(n) FROM (SELECT n FROM a UNION ALL SELECT n FROM b)", "3000000"},
			{"SELECT COUNT(*) FROM a x JOIN a y ON x.id = y.id AND x.n = y.n JOIN b z ON x.id = z.id AND x.n + z.n = 1000", "3000"},
			{"SELECT COUNT(*) FROM (SELECT * FROM a EXCEPT SELECT * FROM a)", "0"},
			{"SELECT COUNT(*) FROM a WHERE 3000 * 1000 = (SELECT SUM(n) FROM a) + (SELECT SUM(n) FROM b)", "3000"},
			// The first table is not read to its end.
			{"SELECT COUNT(*) FROM ((SELECT id FROM a WHERE CHAR_LENGTH(CAST(id AS STRING)) > 0 LIMIT 5) UNION ALL SELECT x.id FROM a x JOIN b y ON x.id = y.id AND x.n + y.n = 1000)", "3005"},
		} {
			script += q[0] + ";\n"
			want = append(want, q[1])
		}
	}
	for runs, from := 0, moved(); runs < 3 || moved() == from; runs++ {
		o := x.run(t, script, statePath(t), "", "")
		require.Zero(t, o.code, o.stderr)
		var got []string
		for i, line := range strings.Split(strings.TrimSpace(o.stdout), "\n") {
			if i%2 == 1 { // the other lines are names
				got = append(got, line)
			}
		}
		require.Equal(t, want, got, o.stdout)
	}
	require.Empty(t, s.sessions(t))
}
