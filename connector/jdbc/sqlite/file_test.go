package sqlite

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// TestLink: the shim calls the very library that go-sqlite3 links in.
func TestLink(t *testing.T) {
	path := file(t)
	require.Equal(t, one(t, path, "SELECT sqlite_version()"), Version())
}

// TestNothingElseOpensDatabases: in this folder and the catalog's no file is opened but by SQLite, except
// the side file of a scratch file and what /proc tells of locks. The connector that reads the files which a user names
// opens them in one place, after it has asked; elsewhere it opens directories and what itself makes.
func TestNothingElseOpensDatabases(t *testing.T) {
	open := regexp.MustCompile(`\b(os\.(Open|OpenFile|Create|ReadFile|WriteFile|OpenRoot)|syscall\.Open|unix\.Open|ioutil\.\w+|sql\.Open)\(`)
	allowed := map[string][]string{
		"scratch.go":    {"f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)"},
		"outcome.go":    {"d, err := os.Open(dir)"},
		"open.go":       {"f, err := os.Open(name)"},
		"hold_linux.go": {"held, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)"},
		"create.go":     {"d, err := os.Open(dir)"},
		"staging.go": {"d, err := os.Open(dir)", "return os.Open(s.treePath())", "return os.OpenFile(s.staged(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)",
			"f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW, 0)"},
		"locks.go": {`list, err := os.ReadFile("/proc/locks")`, `name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))`},
	}
	seen := 0
	for _, dir := range []string{".", "..", "../../../catalog/jdbc", "../../filesystem", "../../format/csv", "../../format/json", "../../format/text"} {
		files, err := filepath.Glob(dir + "/*.go")
		require.NoError(t, err)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			seen++
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			for i, line := range strings.Split(string(text), "\n") {
				if open.MatchString(line) {
					require.Contains(t, allowed[filepath.Base(name)], strings.TrimSpace(line), "%s:%d opens a file", name, i+1)
				}
			}
		}
	}
	require.Greater(t, seen, 15)
}

// TestForeignFiles: UTF-16 text both ways, and a virtual table whose module is missing does not hide the
// others.
func TestForeignFiles(t *testing.T) {
	path := file(t, "PRAGMA encoding = 'UTF-16le'", "CREATE TABLE a (s TEXT, d DECIMAL_TEXT(4,2))", "INSERT INTO a VALUES ('žluť 😀', '1.50')")
	s := NewStore(path, nil, newEnv())
	b := column.NewBatch([]types.Type{types.String(), types.DecimalOf(4, 2)}, 1)
	b.Cols[0].AppendString("кот 🐈")
	b.Cols[1].AppendI64(-5)
	b.N = 1
	_, _, err := write(NewTransaction(Target{Store: s, Table: "a", Columns: []types.Column{{Name: "s", Type: types.String()}, {Name: "d", Type: types.DecimalOf(4, 2)}}}), batches(b))
	require.NoError(t, err)
	rows, _, err := readStore(s, "a")
	require.NoError(t, err)
	require.Equal(t, [][]string{{"žluť 😀", "1.50"}, {"кот 🐈", "-0.05"}}, rows)

	path = file(t, "CREATE TABLE a (x INT)", "INSERT INTO a VALUES (1)", "PRAGMA writable_schema = ON",
		"INSERT INTO sqlite_schema VALUES ('table', 'f', 'f', 0, 'CREATE VIRTUAL TABLE f USING missing(x)')")
	rows, _, err = readStore(NewStore(path, nil, nil), "a")
	require.NoError(t, err)
	require.Equal(t, "1", rows[0][0])
	_, _, err = readStore(NewStore(path, nil, nil), "f")
	require.ErrorContains(t, err, "no such module: missing")
}

// TestFeedName: a user's table may have the feed's name.
func TestFeedName(t *testing.T) {
	path := file(t, "CREATE TABLE _sluice_feed (c0)", "INSERT INTO _sluice_feed VALUES (77)")
	_, _, err := write(ctas(path, numbersSchema()), batches(numbers(1, 3)))
	require.NoError(t, err)
	require.Equal(t, "1,2,3", one(t, path, "SELECT group_concat(id) FROM t"))
}

// TestKilled kills a process that writes, at random times on every road. The table is absent or whole,
// the rest is as it was, and scratch files go with a sweep.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	for _, kind := range kinds {
		s := fileOf(t, kind)
		for i := range 14 {
			cmd := exec.Command(self, "-test.run=^TestKilledHelper$")
			cmd.Env = append(os.Environ(), "WRITE_INTO="+s.Path, fmt.Sprintf("WRITE_STAGED=%t", s.Staging), fmt.Sprintf("WRITE_TABLE=t%d", i))
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			if i == 0 {
				cmd.Env = append(cmd.Env, "WRITE_HALF=true")
			}
			require.NoError(t, cmd.Start())
			_, err = out.Read(make([]byte, 1)) // it has begun
			require.NoError(t, err)
			if i < 12 {
				time.Sleep(time.Duration(i*i) * time.Millisecond)
				_ = cmd.Process.Kill()
			}
			err = cmd.Wait()
			if i >= 12 {
				require.NoError(t, err)
			}
			exists := one(t, s.Path, fmt.Sprintf("SELECT count(*) FROM sqlite_schema WHERE name = 't%d'", i))
			if exists == "0" {
				require.Less(t, i, 12, "what was not killed is not there")
			} else {
				require.Equal(t, "60000", one(t, s.Path, fmt.Sprintf("SELECT count(*) FROM t%d", i)))
			}
			require.True(t, exists == "0" || i > 0, "what was half written is there")
			require.Equal(t, "ok", one(t, s.Path, "PRAGMA integrity_check"))
			if kind != "new file" {
				require.Equal(t, "1a2b3c", one(t, s.Path, "SELECT group_concat(id || s, '') FROM old"))
			}
		}
		_, _, err := Sweep(context.Background(), s.Path, noneKept)
		require.NoError(t, err)
		for _, name := range names(t, filepath.Dir(s.Path)) {
			require.NotContains(t, name, scratchMark)
		}
	}
}

// TestKilledHelper is the process that is killed.
func TestKilledHelper(t *testing.T) {
	path := os.Getenv("WRITE_INTO")
	if path == "" {
		return // runs only as the process that another test starts
	}
	s := NewStore(path, map[string]string{"sink.staging": os.Getenv("WRITE_STAGED")}, newEnv())
	schema := numbersSchema()
	tx := NewTransaction(Target{Store: s, Table: os.Getenv("WRITE_TABLE"), Columns: schema.Columns, Create: &schema})
	i := 0
	_, _, err := write(tx, func() (*column.Batch, error) {
		if i == 0 {
			_, _ = os.Stdout.WriteString("x")
		}
		if i == 30 && os.Getenv("WRITE_HALF") != "" {
			time.Sleep(time.Hour) // until it is killed
		}
		if i == 60 {
			return nil, nil
		}
		i++
		return numbers(i*1000, 1000), nil
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// TestBlockedJournal: where SQLite could keep no journal, no empty file is left either.
func TestBlockedJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.db")
	require.NoError(t, os.Mkdir(path+journalSuffix, 0o700))
	want := "database " + path + ": " + path + "-journal is a directory, and SQLite keeps its journal there"
	require.EqualError(t, Writable(path), want)
	_, _, err := write(ctas(path, numbersSchema()), batches(numbers(1, 3)))
	require.EqualError(t, err, want)
	_, err = NewStore(path, nil, newEnv()).CreateTable(context.Background(), "t", numbersSchema())
	require.EqualError(t, err, want)
	require.Equal(t, []string{"shop.db-journal"}, names(t, filepath.Dir(path)))
}

// TestScratchFiles: a job that writes on the scratch road has its scratch file and the lock of it beside
// the database, and no journal.
func TestScratchFiles(t *testing.T) {
	s := fileOf(t, "staging")
	tx := create(s, numbersSchema())
	i := 0
	_, _, err := write(tx, func() (*column.Batch, error) {
		i++
		if i > 400 {
			require.Len(t, names(t, filepath.Dir(s.Path)), 3)
			return nil, nil
		}
		return numbers(i*1000, 1000), nil
	})
	require.NoError(t, err)
	require.Equal(t, []string{"shop.db"}, names(t, filepath.Dir(s.Path)))
}

// TestFilesOfOpenDatabases: while a connection is open, nothing else may open the database or what is beside it.
func TestFilesOfOpenDatabases(t *testing.T) {
	path := file(t, "PRAGMA journal_mode = WAL", "CREATE TABLE t (a INT)")
	env := newEnv()
	c, err := Open(env.Files, path, Read)
	require.NoError(t, err)
	require.NoError(t, touch(c))
	of := func(suffix string) string {
		info, err := os.Stat(path + suffix)
		require.NoError(t, err)
		release, database := env.Files.Plain(info)
		if database == "" {
			release()
		}
		return database
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		require.Equal(t, path, of(suffix))
	}
	require.NoError(t, c.Close())
	require.Empty(t, of(""))

	info, err := os.Stat(path)
	require.NoError(t, err)
	release, _ := env.Files.Plain(info)
	for _, mode := range []Mode{Read, Write, Create} {
		_, err = Open(env.Files, path, mode)
		require.ErrorContains(t, err, "this process reads it as a plain file at the moment")
	}
	release()
	_, err = Open(env.Files, filepath.Join(path, "none"), Read)
	require.Error(t, err)
	require.Empty(t, of(""))
}
