package main

import (
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/internal/testserver"
)

// The statements of the proof. Each is a way to write table t; see statement.text and statement.after.
const (
	stCreate       = "CREATE TABLE AS"
	stIfNotExists  = "CREATE TABLE IF NOT EXISTS AS"
	stInsert       = "INSERT"
	stReplace      = "REPLACE TABLE AS"
	stCreateOr     = "CREATE OR REPLACE TABLE AS"
	stCreateOrNone = "CREATE OR REPLACE TABLE AS (of none)"
	stOverwrite    = "INSERT OVERWRITE"
	stUpdate       = "UPDATE"
	stDelete       = "DELETE"
)

var proofStatements = []string{stCreate, stIfNotExists, stInsert, stReplace, stCreateOr, stCreateOrNone, stOverwrite, stUpdate, stDelete}

// The rows of table t before the statement have the ids -1 to -oldRows, those of the query 1 to newRows.
const (
	oldRows = 100
	newRows = 5000
)

// sums is what is looked at of a table: number of rows, sums of id, of twice half, and of the lengths of name.
type sums struct{ n, id, half2, length int64 }

func (s *sums) add(id int64, half2 int64) {
	s.n++
	s.id += id
	s.half2 += half2
	s.length += int64(len(nameOf(id)))
}

func nameOf(id int64) string { return "row " + strconv.FormatInt(id, 10) }

func (s sums) String() string { return fmt.Sprintf("%d %d %d %d", s.n, s.id, s.half2, s.length) }

const absent = "absent"

// startsAbsent reports whether there is no table before the statement.
func startsAbsent(st string) bool {
	return st == stCreate || st == stIfNotExists || st == stCreateOrNone
}

// before and after are what table t is before the statement and once it has succeeded.
func before(st string) string {
	if startsAbsent(st) {
		return absent
	}
	var s sums
	for i := int64(1); i <= oldRows; i++ {
		s.add(-i, -i)
	}
	return s.String()
}

func after(st string) string { return afterTimes(st, 1) }

// afterTimes is what table t is once the statement has succeeded so many times.
func afterTimes(st string, times int) string {
	if times == 0 {
		return before(st)
	}
	var s sums
	for i := int64(1); i <= oldRows; i++ {
		switch {
		case st == stInsert, st == stDelete && i > 50:
			s.add(-i, -i)
		case st == stUpdate && i > 50:
			s.add(-i, -i+2*int64(times))
		case st == stUpdate:
			s.add(-i, -i)
		}
	}
	if st == stUpdate || st == stDelete {
		return s.String()
	}
	if st != stInsert {
		times = 1
	}
	for range times {
		for i := int64(1); i <= newRows; i++ {
			s.add(i, i)
		}
	}
	return s.String()
}

// rivals is what table t is when somebody else has made it, see rival.
func rivals() string {
	var s sums
	s.add(7, 7)
	return s.String()
}

// sourceSQL makes the table that the statements read. It has several batches.
const sourceSQL = "CREATE TEMPORARY TABLE g (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1000000000', 'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '5000');\n"

const querySQL = "SELECT id, 'row ' || CAST(id AS STRING) AS name, CAST(id AS DOUBLE) * 0.5 AS half FROM g"

// text is the statement on a table; with is a WITH clause of a table that is made.
func text(st, table, with string) string {
	switch st {
	case stCreate:
		return "CREATE TABLE " + table + with + " AS " + querySQL + ";\n"
	case stIfNotExists:
		return "CREATE TABLE IF NOT EXISTS " + table + with + " AS " + querySQL + ";\n"
	case stInsert:
		return "INSERT INTO " + table + " " + querySQL + ";\n"
	case stReplace:
		return "REPLACE TABLE " + table + with + " AS " + querySQL + ";\n"
	case stCreateOr, stCreateOrNone:
		return "CREATE OR REPLACE TABLE " + table + with + " AS " + querySQL + ";\n"
	case stOverwrite:
		return "INSERT OVERWRITE " + table + " " + querySQL + ";\n"
	case stUpdate:
		return "UPDATE " + table + " SET half = half + 1 WHERE id < -50;\n"
	}
	return "DELETE FROM " + table + " WHERE id >= -50;\n"
}

// keyed reports whether the table of a statement has a primary key, which tells its rows apart.
func keyed(st string) bool { return st == stUpdate || st == stDelete }

// site is a place where the statements run: one kind of sink, and how to look at it from outside.
type site interface {
	// reset makes table t what it is before the statement, and removes all else.
	reset(t *testing.T, st string)
	// setup is SQL that comes before the statement in every run.
	setup(st string) string
	// statement is the statement itself.
	statement(st string) string
	// look returns what the store's own client finds: "absent", sums, "locked" when it is kept out, or what is
	// wrong. stdout is that of the run, for a store that has no other client.
	look(t *testing.T, stdout string) string
	// use is SQL that uses the catalog, whereupon what dead jobs left is removed.
	use() string
	// leftovers returns what is there beside the table, looked up with the store's own client.
	leftovers(t *testing.T) []string
}

// live is a site whose table goes with the process.
type live interface{ peek() string }

// contested is a site whose table others can make or replace.
type contested interface {
	// rival makes table t with one row, with the store's own client; one that is there is dropped first. It
	// reports whether it could, and waits for nobody for long.
	rival(t *testing.T, st string) bool
}

const rivalRow = "INSERT INTO t VALUES (7, 'row 7', 3.5);"

// sqliteSite is a SQLite file.
type sqliteSite struct {
	dir     string
	wal     bool
	staging bool
}

func (s *sqliteSite) path() string { return filepath.Join(s.dir, "target.db") }

const tableDDL = "CREATE TABLE t (id BIGINT, name TEXT, half DOUBLE)"

const keyedDDL = "CREATE TABLE t (id BIGINT PRIMARY KEY NOT NULL, name TEXT, half DOUBLE)"

func ddl(st string) string {
	if keyed(st) {
		return keyedDDL
	}
	return tableDDL
}

func (s *sqliteSite) reset(t *testing.T, st string) {
	require.NoError(t, os.RemoveAll(s.dir))
	require.NoError(t, os.Mkdir(s.dir, 0o755))
	statements := []string{"CREATE TABLE keep (a)", "INSERT INTO keep VALUES (1)"}
	if s.wal {
		statements = append([]string{"PRAGMA journal_mode = WAL"}, statements...)
	}
	if !startsAbsent(st) {
		statements = append(statements, ddl(st), fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT -1 UNION ALL SELECT i - 1 FROM n WHERE i > -%d) INSERT INTO t SELECT i, 'row ' || i, i * 0.5 FROM n", oldRows))
	}
	execSQLite(t, s.path(), statements...)
}

func (s *sqliteSite) catalog() string {
	more := ""
	if s.staging {
		more = ", 'sink.staging' = 'true'"
	}
	return fmt.Sprintf("CREATE CATALOG d WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:%s'%s);\n", s.path(), more)
}

func (s *sqliteSite) setup(string) string        { return sourceSQL + s.catalog() }
func (s *sqliteSite) statement(st string) string { return text(st, "d.target.t", "") }
func (s *sqliteSite) use() string                { return s.catalog() + "SHOW TABLES FROM d.target;\n" }

func (s *sqliteSite) look(t *testing.T, _ string) string {
	db := openSQLite(t, s.path()+"?_busy_timeout=50")
	defer db.Close()
	one := func(query string) (string, error) {
		var text sql.NullString
		err := db.QueryRow(query).Scan(&text)
		return text.String, err
	}
	found, err := one("SELECT count(*) FROM sqlite_master WHERE name = 't'")
	if err == nil && found == "1" {
		found, err = one("SELECT count(*) || ' ' || coalesce(sum(id), 0) || ' ' || coalesce(CAST(sum(half * 2) AS INTEGER), 0) || ' ' || coalesce(sum(length(name)), 0) FROM t")
	}
	if err == nil {
		var sound, kept string
		if sound, err = one("PRAGMA integrity_check"); err == nil && sound != "ok" {
			return "the file is corrupt: " + sound
		}
		if kept, err = one("SELECT count(*) FROM keep"); err == nil && kept != "1" {
			return "another table lost its rows"
		}
	}
	switch {
	case err != nil && (strings.Contains(err.Error(), "locked") || strings.Contains(err.Error(), "busy") ||
		strings.Contains(err.Error(), "locking protocol")): // a process was stopped while it had a lock of the WAL
		return "locked"
	case err != nil:
		return err.Error()
	case found == "0":
		return absent
	}
	return found
}

func (s *sqliteSite) rival(t *testing.T, st string) bool {
	db := openSQLite(t, s.path()+"?_busy_timeout=50")
	defer db.Close()
	script := "BEGIN IMMEDIATE; " + tableDDL + "; " + rivalRow + " COMMIT;"
	if !startsAbsent(st) {
		script = strings.Replace(script, "IMMEDIATE;", "IMMEDIATE; DROP TABLE t;", 1)
	}
	_, err := db.Exec(script)
	return err == nil
}

func (s *sqliteSite) leftovers(t *testing.T) []string {
	// A journal that was never synced is no remains: SQLite ignores it, and its next writer takes it over.
	left := filesBeside(t, s.dir, "target.db", "target.db-journal")
	names := queryText(t, s.path(), "SELECT type || ' ' || name FROM sqlite_master WHERE name NOT IN ('t', 'keep') AND name NOT LIKE 'sqlite_autoindex_t_%'")
	return append(left, strings.Fields(names)...)
}

// filesBeside lists what a directory has beside these files.
func filesBeside(t *testing.T, dir string, files ...string) []string {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var left []string
	for _, e := range entries {
		if !slices.Contains(files, e.Name()) {
			left = append(left, e.Name())
		}
	}
	return left
}

// filesSite is a directory of csv files.
type filesSite struct{ dir string }

func (s *filesSite) out() string { return filepath.Join(s.dir, "out") }

func (s *filesSite) reset(t *testing.T, st string) {
	require.NoError(t, os.RemoveAll(s.dir))
	require.NoError(t, os.Mkdir(s.dir, 0o755))
	if startsAbsent(st) {
		return
	}
	require.NoError(t, os.Mkdir(s.out(), 0o755))
	var b strings.Builder
	for i := 1; i <= oldRows; i++ {
		fmt.Fprintf(&b, "%d,%s,%v\n", -i, nameOf(int64(-i)), float64(-i)/2)
	}
	require.NoError(t, os.WriteFile(filepath.Join(s.out(), "old.csv"), []byte(b.String()), 0o644))
}

func (s *filesSite) with() string {
	return fmt.Sprintf(" WITH ('connector' = 'filesystem', 'path' = '%s', 'format' = 'csv')", s.out())
}

func (s *filesSite) setup(st string) string {
	if startsAbsent(st) {
		return sourceSQL
	}
	return sourceSQL + "CREATE TABLE t (id BIGINT, name STRING, half DOUBLE)" + s.with() + ";\n"
}

func (s *filesSite) statement(st string) string { return text(st, "t", s.with()) }

// use writes another table beside, and reads this one if it is there: what a job has left is swept by whoever
// comes that way.
func (s *filesSite) use() string {
	columns := " (id BIGINT, name STRING, half DOUBLE)"
	script := "CREATE TABLE other" + columns + strings.Replace(s.with(), s.out(), filepath.Join(s.dir, "other"), 1) +
		";\nINSERT INTO other SELECT * FROM (VALUES (1, '', 1.0)) AS v (id, name, half) WHERE FALSE;\n"
	if _, err := os.Stat(s.out()); err == nil {
		script += "CREATE TABLE u" + columns + s.with() + ";\nSELECT COUNT(*) FROM u;\n"
	}
	return script
}

func (s *filesSite) look(t *testing.T, _ string) string {
	if _, err := os.Stat(s.out()); errors.Is(err, os.ErrNotExist) {
		return absent
	}
	var total sums
	for _, path := range visible(t, s.out()) {
		f, err := os.Open(path)
		require.NoError(t, err)
		rows, err := csv.NewReader(f).ReadAll()
		_ = f.Close()
		if err != nil {
			return fmt.Sprintf("%s: %v", filepath.Base(path), err)
		}
		for _, r := range rows {
			id, err1 := strconv.ParseInt(r[0], 10, 64)
			half, err2 := strconv.ParseFloat(r[2], 64)
			if err := errors.Join(err1, err2); err != nil || len(r) != 3 || r[1] != nameOf(id) {
				return fmt.Sprintf("%s has the row %v", filepath.Base(path), r)
			}
			total.add(id, int64(half*2))
		}
	}
	return total.String()
}

func (s *filesSite) rival(t *testing.T, _ string) bool {
	if os.Mkdir(s.out(), 0o755) != nil {
		return false
	}
	require.NoError(t, os.WriteFile(filepath.Join(s.out(), "rival.csv"), []byte("7,row 7,3.5\n"), 0o644))
	return true
}

func (s *filesSite) leftovers(t *testing.T) []string {
	_, hidden := filesBelow(t, s.dir)
	return append(hidden, filesBeside(t, s.dir, "out", "other")...)
}

// memorySite is the session's own catalog. Its tables are looked at by the session, and gone with it.
type memorySite struct{}

func (memorySite) reset(*testing.T, string) {}

func (memorySite) setup(st string) string {
	if startsAbsent(st) {
		return sourceSQL
	}
	key := ""
	if keyed(st) {
		key = ", PRIMARY KEY (id) NOT ENFORCED"
	}
	return sourceSQL + "CREATE TABLE t (id BIGINT NOT NULL, name STRING, half DOUBLE" + key + ");\n" +
		fmt.Sprintf("INSERT INTO t SELECT -id, 'row -' || CAST(id AS STRING), CAST(id AS DOUBLE) * -0.5 FROM g WHERE id <= %d;\n", oldRows)
}

func (memorySite) statement(st string) string { return text(st, "t", "") }
func (memorySite) use() string                { return "SHOW TABLES;\n" }

func (memorySite) peek() string {
	return "SELECT 'found ' || CAST(COUNT(*) AS STRING) || ' ' || CAST(COALESCE(SUM(id), 0) AS STRING) || ' ' || CAST(CAST(COALESCE(SUM(half * 2), 0) AS BIGINT) AS STRING) || ' ' || CAST(COALESCE(SUM(CHAR_LENGTH(name)), 0) AS STRING) AS s FROM t;\n"
}

func (memorySite) look(_ *testing.T, stdout string) string {
	for _, line := range strings.Split(stdout, "\n") {
		if found, ok := strings.CutPrefix(line, "found "); ok {
			return found
		}
	}
	return absent
}

func (memorySite) leftovers(*testing.T) []string { return nil }

// serverSite is a database of a server.
type serverSite struct {
	server   *testserver.Server
	database string
	// user is an account of this site alone, by which its sessions are told from those of others.
	user string
	// addr is where the binary connects to; "" is the server itself.
	addr string
}

// newServerSite makes a database and its account.
func newServerSite(t *testing.T, server *testserver.Server) *serverSite {
	s := &serverSite{server: server, database: server.Database(t)}
	s.user = "u" + s.database
	password := strings.ReplaceAll(testserver.Password, "'", "''")
	if s.postgres() {
		server.Query(t, "postgres", fmt.Sprintf("CREATE ROLE %[1]s LOGIN PASSWORD '%[2]s'; ALTER DATABASE %[3]s OWNER TO %[1]s; ALTER ROLE %[1]s SUPERUSER;", s.user, password, s.database))
		t.Cleanup(func() {
			server.Query(t, "postgres", fmt.Sprintf("DROP DATABASE IF EXISTS %s WITH (FORCE); DROP ROLE %s;", s.database, s.user))
		})
	} else {
		server.Query(t, "", fmt.Sprintf("CREATE USER '%s'@'%%' IDENTIFIED BY '%s'; GRANT ALL ON *.* TO '%[1]s'@'%%';", s.user, password))
		t.Cleanup(func() { server.Query(t, "", fmt.Sprintf("DROP USER '%s'@'%%';", s.user)) })
	}
	return s
}

func (s *serverSite) postgres() bool { return s.server.Kind == "postgresql" }

func (s *serverSite) reset(t *testing.T, st string) {
	script := s.role() + "DROP TABLE IF EXISTS t; CREATE TABLE IF NOT EXISTS keep (a INT);\n"
	for _, l := range s.leftovers(t) {
		if name, ok := strings.CutPrefix(l, note); ok {
			script += "DROP TABLE _sluice_" + name + ";\n" // the session that has the journal will not come
		}
	}
	if !startsAbsent(st) {
		d := strings.ReplaceAll(ddl(st), "DOUBLE", "DOUBLE PRECISION")
		if s.postgres() {
			script += d + fmt.Sprintf("; INSERT INTO t SELECT -i, 'row ' || -i, i * -0.5 FROM generate_series(1, %d) i;", oldRows)
		} else {
			script += d + fmt.Sprintf("; INSERT INTO t SELECT CAST(seq AS SIGNED) * -1, concat('row -', seq), seq * -0.5 FROM seq_1_to_%d;", oldRows)
		}
	}
	s.server.Query(t, s.database, script)
}

// role makes what the checker makes the account's own: a table of another owner is not replaced.
func (s *serverSite) role() string {
	if s.postgres() {
		return "SET ROLE " + s.user + ";\n"
	}
	return ""
}

func (s *serverSite) catalog() string {
	addr := s.addr
	if addr == "" {
		addr = s.server.Addr()
	}
	return fmt.Sprintf("CREATE CATALOG d WITH ('type' = 'jdbc', 'base-url' = 'jdbc:%s://%s', 'default-database' = '%s', 'username' = '%s', 'password' = '%s');\n",
		s.server.Kind, addr, s.database, s.user, strings.ReplaceAll(testserver.Password, "'", "''"))
}

func (s *serverSite) table() string              { return "d." + s.database + ".t" }
func (s *serverSite) setup(string) string        { return sourceSQL + s.catalog() }
func (s *serverSite) statement(st string) string { return text(st, s.table(), "") }
func (s *serverSite) use() string                { return s.catalog() + "SHOW TABLES FROM d." + s.database + ";\n" }

func (s *serverSite) look(t *testing.T, _ string) string { return s.lookAt(t, "t") }

// keptTable is a table that a statement has replaced and kept, "" where there is none.
func (s *serverSite) keptTable(t *testing.T) string {
	for _, l := range s.leftovers(t) {
		if name, ok := strings.CutPrefix(l, "table "+s.database+"."); ok && strings.HasSuffix(name, "_kept") {
			return name
		}
	}
	return ""
}

func (s *serverSite) lookAt(t *testing.T, table string) string {
	integer, limit := "bigint", "SET lock_timeout = '1s';"
	if !s.postgres() {
		integer, limit = "SIGNED", "SET lock_wait_timeout = 1;"
	}
	out, err := s.server.TryQuery(s.database, limit+"SELECT count(*), coalesce(sum(id), 0), CAST(coalesce(sum(half * 2), 0) AS "+integer+"), coalesce(sum(length(name)), 0) FROM "+table+";")
	switch {
	case err == nil:
		return strings.ReplaceAll(strings.TrimSpace(out), "\t", " ")
	case strings.Contains(err.Error(), "does not exist"), strings.Contains(err.Error(), "doesn't exist"):
		return absent
	case strings.Contains(err.Error(), "lock timeout"), strings.Contains(err.Error(), "Lock wait timeout"):
		return "locked"
	}
	return err.Error()
}

func (s *serverSite) rival(t *testing.T, st string) bool {
	script := strings.ReplaceAll(tableDDL, "DOUBLE", "DOUBLE PRECISION") + "; " + rivalRow
	if !startsAbsent(st) {
		script = "DROP TABLE t; " + script
	}
	if s.postgres() {
		script = s.role() + "SET lock_timeout = '300ms'; BEGIN; " + script + " COMMIT;"
	} else {
		script = "SET lock_wait_timeout = 1; " + script
	}
	_, err := s.server.TryQuery(s.database, script)
	return err == nil
}

// note begins what leftovers says of a table that tells a journal what became of a commit that happened: it waits for
// the session that has the journal.
const note = "note of a commit: "

func withoutNotes(left []string) []string {
	return slices.DeleteFunc(left, func(l string) bool { return strings.HasPrefix(l, note) })
}

// leftovers waits a moment for sessions, which the server ends when it notices that the other side is gone.
func (s *serverSite) leftovers(t *testing.T) []string {
	script := `SELECT 'relation ' || n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname NOT LIKE 'pg\_%' AND n.nspname <> 'information_schema' AND NOT (n.nspname = 'public' AND c.relname IN ('t', 'keep', 't_pkey'));
SELECT 'schema ' || nspname FROM pg_namespace WHERE nspname ~ 'sluice';
SELECT 'comment ' || description FROM pg_description WHERE description ~ 'sluice';
SELECT 'lock ' || locktype || ' ' || mode FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database());
SELECT 'prepared ' || gid FROM pg_prepared_xacts WHERE database = current_database();
SELECT 'session ' || state || ' ' || replace(query, chr(10), ' ') FROM pg_stat_activity WHERE usename = '` + s.user + "';"
	if !s.postgres() {
		script = fmt.Sprintf(`SELECT concat('table ', table_schema, '.', table_name) FROM information_schema.tables WHERE table_schema = '%[1]s' AND table_name NOT IN ('t', 'keep') OR table_schema LIKE '%%sluice%%';
SELECT concat('schema ', schema_name) FROM information_schema.schemata WHERE schema_name LIKE '%%sluice%%';
SELECT concat('comment ', table_comment) FROM information_schema.tables WHERE table_schema = '%[1]s' AND table_comment LIKE '%%sluice%%';
SELECT concat('session ', command, ' ', coalesce(info, '')) FROM information_schema.processlist WHERE user = '%[2]s';`, s.database, s.user)
	}
	for deadline := time.Now().Add(15 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		left := strings.FieldsFunc(s.server.Query(t, s.database, script), func(r rune) bool { return r == '\n' })
		sessions := false
		for i, l := range left {
			sessions = sessions || strings.HasPrefix(l, "session ") || strings.HasPrefix(l, "lock ")
			name, ours := strings.CutPrefix(l, "table "+s.database+"._sluice_")
			if ours && (strings.HasSuffix(name, "_done") || strings.HasSuffix(name, "_mark") && strings.TrimSpace(s.server.Query(t, s.database, "SELECT COUNT(*) FROM _sluice_"+name)) == "1") {
				left[i] = note + name
			}
		}
		if !sessions || time.Now().After(deadline) {
			return left
		}
	}
}
