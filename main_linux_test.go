package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// converse runs the program on a terminal of its own, types the keys once it shows the prompt, and returns
// all that the terminal has shown.
func converse(t *testing.T, keys string, args ...string) (code int, shown string) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals: %v", err)
	}
	master := os.NewFile(uintptr(fd), "/dev/ptmx")
	defer master.Close()
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 100}))
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	defer slave.Close()

	var mu sync.Mutex
	var all bytes.Buffer
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := master.Read(b)
			mu.Lock()
			all.Write(b[:n])
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	result := make(chan int, 1)
	go func() { result <- start(args, slave, slave, slave) }()
	text := func() string {
		mu.Lock()
		defer mu.Unlock()
		return all.String()
	}
	shows := func(what string) {
		for range 12_000 {
			if strings.Contains(text(), what) {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	shows("Sluice SQL> ")
	_, err = master.WriteString(keys)
	require.NoError(t, err)
	select {
	case code = <-result:
	case <-time.After(2 * time.Minute):
		t.Fatalf("the shell does not end; the terminal has\n%q", text())
	}
	const last = "<the last of it>"
	_, err = slave.WriteString(last)
	require.NoError(t, err)
	shows(last)
	return code, strings.TrimSuffix(text(), last)
}

// The user's own init file greets the user, an error in it does not lock anybody out, and the command line
// stands against it, too.
func TestOwnInitFile(t *testing.T) {
	inFolder(t, map[string]string{
		"config/sluice/init.sql": "SET 'sluice.format' = 'json'; SET 'sluice.max-rows' = '7'; nonsense; SET 'sluice.format' = 'csv';",
		"a.sql":                  "SET 'sluice.max-rows' = '8';",
		"h":                      "\"VALUES (123);\"\n",
	})
	code, shown := converse(t, "VALUES (1);\rQUIT;\r")
	require.Zero(t, code)
	require.Contains(t, shown, `{"EXPR$0":1}`)
	require.Contains(t, shown, "init.sql:1:60: found \"nonsense\", expected a statement\r\n")

	code, shown = converse(t, "VALUES (1);\rSET 'sluice.max-rows';\rQUIT;\r", "-i", "a.sql", "--format", "csv")
	require.Zero(t, code)
	require.Contains(t, shown, "EXPR$0\r\n1\r\n")
	require.Contains(t, shown, "sluice.max-rows,8,")

	code, shown = converse(t, "\x1b[A\rQUIT;\r", "--no-init", "--history", "h")
	require.Zero(t, code)
	require.Contains(t, shown, "| EXPR$0 |")
	require.Contains(t, shown, "|    123 |")
	require.NotContains(t, shown, "nonsense")
	kept, err := os.ReadFile("h")
	require.NoError(t, err)
	require.Equal(t, "\"VALUES (123);\"\n\"QUIT;\"\n", string(kept))

	require.NoError(t, os.Remove("state/sluice/history")) // of the first two
	code, _ = converse(t, "VALUES (1);\rQUIT;\r", "--no-init", "--history", "")
	require.Zero(t, code)
	require.NoFileExists(t, "state/sluice/history")
}

// A database that another process has locked is waited for, and whoever waits is told, from the opening on.
func TestLockedDatabase(t *testing.T) {
	inFolder(t, nil)
	code, _, errs := runStart(t, "-c", "CREATE CATALOG c WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:lock.db'); CREATE TABLE c.lock.t (x INT)")
	require.Zero(t, code, errs)
	db, err := sql.Open("sqlite3", "lock.db")
	require.NoError(t, err)
	defer db.Close()
	held, err := db.Conn(t.Context())
	require.NoError(t, err)
	_, err = held.ExecContext(t.Context(), "BEGIN EXCLUSIVE")
	require.NoError(t, err)
	said := t.TempDir()
	go func() { // once it says that it waits
		for text := ""; !strings.HasSuffix(text, "ends the wait.\n") && t.Context().Err() == nil; time.Sleep(10 * time.Millisecond) {
			b, _ := os.ReadFile(filepath.Join(said, "err"))
			text = string(b)
		}
		_, _ = held.ExecContext(context.Background(), "ROLLBACK")
	}()
	code, out, errs := runStartIn(t, said, "lock.db", "--format", "csv", "-c", "SELECT COUNT(*) AS n FROM t")
	require.Zero(t, code, errs)
	require.Equal(t, "n\n0\n", out)
	dir, err := os.Getwd()
	require.NoError(t, err)
	require.Equal(t, "[INFO] Waiting for "+dir+"/lock.db, locked by another statement of this process. There is no time limit; Ctrl-C ends the wait.\n1 row in set\n", errs)
}
