package main

import (
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-sql/sluice/internal/testserver"
)

// servers compares the roads between SQLite and a database server with those of the programs that come with both:
// an export to a file and an import of that file.
func (b *bench) servers() error {
	for _, kind := range []string{"postgresql", "mysql"} {
		if !strings.Contains("servers "+kind, *only) {
			continue
		}
		s, err := testserver.Start(kind)
		if err != nil {
			fmt.Printf("%s is left out: %v\n", kind, err)
			continue
		}
		r := &road{bench: b, server: s}
		if err := r.run(); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	return nil
}

// road is the benchmark of one server.
type road struct {
	*bench
	server *testserver.Server
}

func (r *road) run() error {
	if _, err := r.server.TryQuery(r.any(), "CREATE DATABASE bench"); err != nil {
		return err
	}
	// The source on the server is made by our own CREATE TABLE AS; its rows are compared below.
	if _, err := r.ctas("s.src.l", "x.bench.l", ""); err != nil {
		return err
	}
	for _, p := range []struct {
		name         string
		ours, theirs func() (outcome, error)
	}{
		{"sqlite → " + r.server.Kind, r.in, r.theirIn},
		{r.server.Kind + " → sqlite", r.out, r.theirOut},
	} {
		if err := pairOf(p.name, "the two clients", 0, *rounds, p.ours, p.theirs); err != nil {
			return err
		}
	}
	return r.cost()
}

// any is a database that the server has from the beginning.
func (r *road) any() string {
	if r.server.Kind == "postgresql" {
		return "postgres"
	}
	return ""
}

func (r *road) catalog(addr string) string {
	return fmt.Sprintf("CREATE CATALOG x WITH ('type'='jdbc', 'base-url'='jdbc:%s://%s/bench', 'username'='%s', 'password'='%s'); ",
		r.server.Kind, addr, testserver.User, strings.ReplaceAll(testserver.Password, "'", "''"))
}

// ctas runs one CREATE TABLE AS between the server's catalog x, the source file's s and the target file's d.
func (r *road) ctas(from, to, addr string) (outcome, error) {
	if addr == "" {
		addr = r.server.Addr()
	}
	return r.script(r.catalogs("src.db", "ours.db") + r.catalog(addr) + "CREATE TABLE " + to + " AS SELECT * FROM " + from + ";")
}

// script runs SQL from a file that only we can read: it has the password in it.
func (r *road) script(sql string) (outcome, error) {
	f := r.path("bench.sql")
	if err := os.WriteFile(f, []byte(sql), 0o600); err != nil {
		return outcome{}, err
	}
	return runOnce(r.sluice, "-f", f)
}

func (r *road) in() (outcome, error) {
	if _, err := r.server.TryQuery("bench", "DROP TABLE IF EXISTS t"); err != nil {
		return outcome{}, err
	}
	o, err := r.ctas("s.src.l", "x.bench.t", "")
	if err == nil {
		err = r.equal("t")
	}
	return o, err
}

// equal compares a table of the server with the source there.
func (r *road) equal(table string) error {
	digest := func(t string) (string, error) {
		return r.server.TryQuery("bench", "SELECT count(*), sum(l_orderkey), sum(l_quantity), min(l_comment), max(l_comment), max(l_shipdate) FROM "+t)
	}
	want, err := digest("l")
	if err != nil {
		return err
	}
	got, err := digest(table)
	if err == nil && (got != want || !strings.HasPrefix(got, fmt.Sprint(*rows))) {
		err = fmt.Errorf("table %s has %s, not %s", table, strings.TrimSpace(got), strings.TrimSpace(want))
	}
	return err
}

func (r *road) out() (outcome, error) {
	_ = os.Remove(r.path("ours.db"))
	return r.ctas("x.bench.l", "d.ours.t", "")
}

// ddl is the target's statement as our own DDL has it, so that both sides write the same table.
func (r *road) ddl() (string, error) {
	if r.server.Kind == "postgresql" {
		return "CREATE TABLE u (LIKE l)", nil
	}
	return "CREATE TABLE u LIKE l", nil
}

// theirIn is the export of the sqlite3 command line and the import of the server's client.
func (r *road) theirIn() (outcome, error) {
	ddl, err := r.ddl()
	if err != nil {
		return outcome{}, err
	}
	if _, err := r.server.TryQuery("bench", "DROP TABLE IF EXISTS u"); err != nil {
		return outcome{}, err
	}
	file := r.path("pipe.csv")
	start := time.Now()
	// Versions of the command line differ in how they end lines of csv.
	if _, err := runOnce("sqlite3", "-csv", "-newline", "\n", r.path("src.db"), ".once "+file, "SELECT * FROM l"); err != nil {
		return outcome{}, err
	}
	load := "BEGIN; " + ddl + "; \\copy u FROM '" + file + "' (FORMAT csv)\nCOMMIT;"
	if r.server.Kind == "mysql" {
		load = ddl + "; LOAD DATA LOCAL INFILE '" + file + "' INTO TABLE u CHARACTER SET utf8mb4 FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' ESCAPED BY '' LINES TERMINATED BY '\\n';"
	} else {
		load = strings.Replace(load, "; \\copy", ";\n\\copy", 1)
	}
	if _, err := r.server.TryQuery("bench", load); err != nil {
		return outcome{}, err
	}
	o := outcome{seconds: time.Since(start).Seconds()}
	return o, r.equal("u")
}

// theirOut is the export of the server's client and the import of the sqlite3 command line.
func (r *road) theirOut() (outcome, error) {
	file, db := r.path("pipe.csv"), r.path("theirs.db")
	_ = os.Remove(db)
	schema, err := runOnce("sqlite3", r.path("src.db"), ".schema l")
	if err != nil {
		return outcome{}, err
	}
	if _, err := runOnce("sqlite3", db, schema.out); err != nil {
		return outcome{}, err
	}
	start := time.Now()
	if r.server.Kind == "postgresql" {
		if _, err := r.server.TryQuery("bench", "\\copy l TO '"+file+"' (FORMAT csv)"); err != nil {
			return outcome{}, err
		}
		_, err = runOnce("sqlite3", "-cmd", "PRAGMA synchronous=EXTRA", db, ".import --csv "+file+" l")
	} else {
		c := r.server.Client("bench")
		c.Args = append(c.Args, "--quick", "-e", "SELECT * FROM l")
		var f *os.File
		if f, err = os.Create(file); err != nil {
			return outcome{}, err
		}
		c.Stdout = f
		if err = c.Run(); err == nil {
			err = f.Close()
		}
		if err == nil {
			_, err = runOnce("sqlite3", "-cmd", "PRAGMA synchronous=EXTRA", db, ".mode tabs", ".import "+file+" l")
		}
	}
	o := outcome{seconds: time.Since(start).Seconds()}
	if err != nil {
		return o, err
	}
	n, err := runOnce("sqlite3", db, "SELECT count(*) FROM l")
	if err == nil && strings.TrimSpace(n.out) != fmt.Sprint(*rows) {
		err = fmt.Errorf("the import has %s rows", strings.TrimSpace(n.out))
	}
	return o, err
}

// cost is what all or nothing costs: against an INSERT into a table that was made before, which needs neither staging nor a
// rename, in time, and for each of the two in round trips, bytes and calls of fsync.
func (r *road) cost() error {
	plain := func() (outcome, error) {
		ddl, err := r.ddl()
		if err == nil {
			_, err = r.server.TryQuery("bench", "DROP TABLE IF EXISTS u; "+ddl)
		}
		if err != nil {
			return outcome{}, err
		}
		return r.script(r.catalogs("src.db", "") + r.catalog(r.server.Addr()) + "INSERT INTO x.bench.u SELECT * FROM s.src.l;")
	}
	limit := 0.0
	if r.server.Kind == "postgresql" {
		limit = 1.15
	}
	if err := pairOf("atomic "+r.server.Kind, "INSERT", limit, 11, r.in, plain); err != nil {
		return err
	}
	for _, c := range []struct{ what, before, sql string }{
		{"CREATE TABLE AS", "DROP TABLE IF EXISTS t", "CREATE TABLE x.bench.t AS SELECT * FROM s.src.l;"},
		{"INSERT", "DELETE FROM u", "INSERT INTO x.bench.u SELECT * FROM s.src.l;"},
	} {
		if _, err := r.server.TryQuery("bench", c.before); err != nil {
			return err
		}
		counted, err := newCounter(r.server.Addr())
		if err != nil {
			return err
		}
		f := r.path("bench.sql")
		if err := os.WriteFile(f, []byte(r.catalogs("src.db", "")+r.catalog(counted.addr())+c.sql), 0o600); err != nil {
			return err
		}
		trace := r.path("fsyncs")
		_, err = runOnce("strace", "-f", "-o", trace, "-e", "trace=fsync,fdatasync", r.sluice, "-f", f)
		counted.close()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(trace)
		if err != nil {
			return err
		}
		fmt.Printf("%-24s %-16s %d fsyncs here, %d round trips, %.1f MB to the server, %.1f kB from it, %d connections\n", "cost "+r.server.Kind, c.what,
			strings.Count(string(data), "sync("), counted.turns.Load(), float64(counted.sent.Load())/1e6, float64(counted.received.Load())/1e3, counted.conns.Load())
	}
	return nil
}

// counter passes connections on to a server and counts.
type counter struct {
	listener                     net.Listener
	target                       string
	sent, received, turns, conns atomic.Int64
	wg                           sync.WaitGroup
}

func newCounter(target string) (*counter, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &counter{listener: l, target: target}
	c.wg.Add(1)
	go c.accept()
	return c, nil
}

func (c *counter) addr() string { return c.listener.Addr().String() }

func (c *counter) close() { _ = c.listener.Close(); c.wg.Wait() }

func (c *counter) accept() {
	defer c.wg.Done()
	for {
		client, err := c.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", c.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		c.conns.Add(1)
		var asked atomic.Bool // the server has not answered since
		c.wg.Add(2)
		go c.pump(client, server, func(n int) { c.sent.Add(int64(n)); asked.Store(true) })
		go c.pump(server, client, func(n int) {
			c.received.Add(int64(n))
			if asked.Swap(false) {
				c.turns.Add(1)
			}
		})
	}
}

func (c *counter) pump(from, to net.Conn, count func(int)) {
	defer c.wg.Done()
	defer to.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			count(n)
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
