package repl

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// startPaging starts a shell whose results go through a pager.
func startPaging(t *testing.T, pager string) *terminal {
	s := startShell(t)
	s.expect("Sluice SQL> ")
	s.send("SET 'sluice.pager' = '" + pager + "';\r")
	s.expect("succeeded")
	s.expect("Sluice SQL> ")
	return s
}

func needLess(t *testing.T) {
	if _, err := exec.LookPath("less"); err != nil {
		t.Skip("there is no less")
	}
	t.Setenv("LESS", "-SX")
}

// bye leaves the shell and checks that the terminal is as it was found.
func (s *terminal) bye(before *unix.Termios) {
	s.t.Helper()
	s.send(ctrlD)
	require.Zero(s.t, s.code())
	require.Equal(s.t, before, s.modes())
}

// press sends a key until text shows.
func (s *terminal) press(key, text string) {
	s.t.Helper()
	for range 50 {
		s.send(key)
		time.Sleep(100 * time.Millisecond)
		s.mu.Lock()
		shown := strings.Contains(s.seen.String(), text)
		s.mu.Unlock()
		if shown {
			break
		}
	}
	s.expect(text)
}

func (s *terminal) modes() *unix.Termios {
	m, err := unix.IoctlGetTermios(int(s.master.Fd()), unix.TCGETS)
	require.NoError(s.t, err)
	return m
}

// modesOf returns the modes of a terminal that nobody has touched.
func modesOf(t *testing.T) *unix.Termios {
	master, slave := openPTY(t)
	defer master.Close()
	defer slave.Close()
	return (&terminal{t: t, master: master}).modes()
}

// What does not fit the screen goes to the pager, whose keys are its own; leaving it early is no error.
func TestPager(t *testing.T) {
	needLess(t)
	s := startPaging(t, "less")
	s.send("ROWS 5;\r")
	s.expect("5 rows in set")
	s.expect("Sluice SQL> ")
	s.send("ROWS 5000;\r")
	s.expect("|   36 |")
	s.send(ctrlC)            // is a key
	s.press("G", "| 5000 |") // which less may still be busy with
	s.send("q")
	s.expect("5000 rows in set (0.12 seconds)")
	s.expect("Sluice SQL> ")
	s.send("ROWS 5000;\r")
	s.expect("|   36 |")
	s.send("q")
	s.expect("5000 rows in set")
	s.expect("Sluice SQL> ")
	s.send("ROWS 100000;\r")
	s.expect("|    36 |")
	s.send("q")
	s.expect("The first 10000 rows (0.12 seconds); the query was ended there.")
	s.expect("Sluice SQL> ")
	s.send("ECHO 'a\tb';\r")
	s.expect("1 row in set")
	require.NotContains(t, s.transcript(), "anceled")
	s.bye(modesOf(t))
}

// The size is that of the terminal when the result is there, folded lines counted.
func TestPagerFits(t *testing.T) {
	s := startPaging(t, "tail -n 1; echo PAGED")
	format := ""
	for _, c := range []struct {
		rows, columns uint16
		format, sql   string
		paged         bool
	}{
		{40, 100, "csv", "ROWS 37", false}, {40, 100, "csv", "ROWS 38", true}, {80, 100, "csv", "ROWS 38", false},
		{104, 2, "csv", "ROWS 100", false}, {103, 2, "csv", "ROWS 100", true}, {0, 0, "csv", "ROWS 100", false},
		// A table is paged when it is too wide, too.
		{40, 100, "tableau", "ROWS 34", false}, {40, 100, "tableau", "ROWS 35", true}, {80, 100, "tableau", "ROWS 35", false},
		{40, 5, "tableau", "ROWS 1", false}, {40, 4, "tableau", "ROWS 1", true}, {0, 0, "tableau", "ROWS 100", false},
	} {
		if c.format != format {
			format = c.format
			s.send("SET 'sluice.format' = '" + format + "';\r")
			s.expect("succeeded.")
			s.expect("SQL> ")
		}
		require.NoError(t, unix.IoctlSetWinsize(int(s.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: c.rows, Col: c.columns}))
		s.mu.Lock()
		s.all.Reset()
		s.mu.Unlock()
		s.send(c.sql + ";\r")
		s.expect(" in set")
		s.expect("SQL> ")
		require.Equal(t, c.paged, strings.Contains(s.transcript(), "PAGED"), c)
	}
	s.send(ctrlD)
	require.Zero(t, s.code())
}

// What came of a query before Ctrl-C is paged as well.
func TestPagerAfterCancel(t *testing.T) {
	s := startPaging(t, "head -n 6; echo PAGED")
	s.send("SET 'sluice.max-rows' = '1000000000';\r")
	s.expect("succeeded")
	s.expect("Sluice SQL> ")
	runs := func() bool { return s.modes().Lflag&unix.ISIG != 0 }
	for runs() {
		time.Sleep(time.Millisecond)
	}
	s.send("ROWS 1000000000;\r")
	for !runs() {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(300 * time.Millisecond)
	s.send(ctrlC)
	s.expect("PAGED")
	s.expect("[INFO] Query canceled, received a total of ")
	s.expect("Sluice SQL> ")
	require.NotContains(t, s.transcript(), "WARN")
	s.bye(modesOf(t))
}

// A pager that cannot be started is named, and the rows are shown without it.
func TestPagerMissing(t *testing.T) {
	for pager, says := range map[string]string{
		"nosuchpager -x":       "[WARN] The pager nosuchpager was not found. The result is shown without it; SET 'sluice.pager' = 'off' does so from now on.",
		"exec nosuchpager; #":  "[WARN] The pager exec nosuchpager; # was not found.",
		"/dev/null":            "[WARN] The pager /dev/null cannot be run: permission denied.",
		"LESS=x /dev/null":     "[WARN] The pager LESS=x /dev/null cannot be run.",
		"/no/such/pager --now": "[WARN] The pager /no/such/pager was not found.",
	} {
		t.Run(pager, func(t *testing.T) {
			s := startPaging(t, pager)
			s.send("ROWS 100;\r")
			s.expect(says)
			s.expect("| 100 |")
			s.expect("100 rows in set")
			s.expect("Sluice SQL> ")
			s.bye(modesOf(t))
		})
	}
}

// A pager that dies leaves a terminal that works.
func TestPagerDies(t *testing.T) {
	s := startPaging(t, `stty raw -echo; printf "HERE"; kill -9 $$`)
	s.send("ROWS 100;\r")
	s.expect("HERE")
	s.expect("100 rows in set")
	s.expect("Sluice SQL> ")
	s.send("ECHO 1;\r")
	s.expect("1 row in set")
	s.expect("Sluice SQL> ")
	s.bye(modesOf(t))
}

// A signal that ends the shell ends its pager.
func TestPagerTerminated(t *testing.T) {
	for sig, code := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		s := startPaging(t, "head -n 1; exec sleep 1000")
		s.send("ROWS 100;\r")
		s.expect("+-----+")
		require.NoError(t, s.cmd.Process.Signal(sig))
		require.Equal(t, code, s.code())
		require.Equal(t, modesOf(t), s.modes())
	}
}

// What jobs say while a pager shows is said afterwards.
func TestPagerHoldsMessages(t *testing.T) {
	s := startPaging(t, "kill -USR1 $PPID; sleep 0.6; echo; echo CLOSED")
	s.send("LATER;\rROWS 100;\r")
	s.expect("CLOSED")
	s.expect("job x has failed")
	s.expect("100 rows in set")
	s.send(ctrlD)
	require.Zero(t, s.code())
}

// A pipeline that leaves early ends as it would under any shell, and help is paged too.
func TestPagerPipeline(t *testing.T) {
	s := startPaging(t, "yes | head -n 1; echo status ${PIPESTATUS:-none} >&2")
	s.send("ROWS 100;\r")
	s.expect("y\r\n")
	s.expect("status")
	s.expect("100 rows in set")
	require.NotContains(t, s.transcript(), "roken pipe")
	s.send(ctrlD)
	require.Zero(t, s.code())
}

// While somebody reads, nothing of the query is open: another process can write the file it read.
func TestPagerHoldsNoLock(t *testing.T) {
	t.Setenv("SLUICE_PAGER", "head -n 1; exec sleep 1000")
	s, dir := startLive(t)
	s.send("SELECT x FROM i.src.million WHERE x <= 100;\r")
	s.expect("+-----+")
	db := openSQLite(t, dir+"/src.db")
	_, err := db.Exec("PRAGMA busy_timeout = 0; CREATE TABLE written (x INT)")
	require.NoError(t, err)
	s.press(ctrlC, "100 rows in set")
	s.expect("Sluice SQL> ")
	s.send(ctrlD)
	require.Zero(t, s.code())
}

// Off a terminal there is no pager.
func TestPagerOffTerminal(t *testing.T) {
	e := newFake()
	e.options["sluice.pager"] = "echo PAGED"
	_, out, errs := capture(t, nil, func(c Config) int { return runCommand(ctx, e, c, "ROWS 1000; HELP") })
	require.NotContains(t, out+errs, "PAGED")
}

// A result of any size takes a megabyte of memory, and comes out as it went in.
func TestSpoolMemory(t *testing.T) {
	sh := &shell{screen: &Screen{}}
	d := &spool{sh: sh}
	line := bytes.Repeat([]byte("0123456789"), 1000)
	var m runtime.MemStats
	for range 6000 {
		n, err := d.Write(line)
		require.NoError(t, err)
		require.Equal(t, len(line), n)
	}
	runtime.GC()
	runtime.ReadMemStats(&m)
	require.Less(t, m.HeapAlloc, uint64(24<<20))
	require.NoError(t, d.toFile())
	_, err := d.file.Seek(0, io.SeekStart)
	require.NoError(t, err)
	n, err := io.Copy(io.Discard, d.file)
	require.NoError(t, err)
	require.Equal(t, int64(60_000_000), n)
	d.drop()
}

// Where a result cannot be kept it is shown without a pager, whole.
func TestSpoolWithoutDisk(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()+"/nosuch")
	_, out, errs := capture(t, nil, func(c Config) int {
		d := &spool{sh: &shell{screen: c.Screen}, pager: "cat"}
		for range 3 {
			_, err := d.Write(bytes.Repeat([]byte("x"), spoolSize-1))
			require.NoError(t, err)
		}
		require.NoError(t, d.commit(ctx))
		return 0
	})
	require.Equal(t, 3*(spoolSize-1), len(out))
	require.Contains(t, errs, "[WARN] The result is shown without the pager, since it cannot be kept in")
}

func TestAutoPager(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		have string
		want string
	}{
		{nil, "less more", "less"}, {nil, "more", "more"}, {nil, "", ""},
		{map[string]string{"PAGER": "most"}, "less", "most"},
		{map[string]string{"PAGER": "most", "SLUICE_PAGER": "less -R"}, "", "less -R"},
		{map[string]string{"PAGER": "most", "SLUICE_PAGER": ""}, "less", ""},
		{map[string]string{"PAGER": " cat "}, "less", ""},
	} {
		got := autoPager(func(k string) (string, bool) { v, ok := c.env[k]; return v, ok }, func(name string) (string, error) {
			if strings.Contains(c.have, name) {
				return name, nil
			}
			return "", errors.New("none")
		})
		require.Equal(t, c.want, got, c)
	}
	_, set := os.LookupEnv("LESSCHARSET")
	require.Equal(t, !set, strings.Contains(strings.Join(pagerEnv(nil), " "), "LESSCHARSET=utf-8"))
}

// On a terminal every format ends at the row limit and says so; only those that draw a table cut values.
func TestFormatsOnTerminal(t *testing.T) {
	s := startPaging(t, "off")
	s.send("SET 'sluice.max-rows' = '5';\r")
	s.expect("succeeded")
	long := strings.Repeat("w", 40)
	for _, format := range formats() {
		s.expect("Sluice SQL> ")
		s.send("SET 'sluice.format' = '" + format + "';\r")
		s.expect("succeeded")
		s.expect("Sluice SQL> ")
		s.send("ROWS 6;\r")
		s.expect("The first 5 rows (0.12 seconds); the query was ended there. SET 'sluice.max-rows' = '…' shows more.")
		s.expect("Sluice SQL> ")
		s.send("ECHO " + long + ";\r")
		switch format {
		case "tableau", "box", "markdown":
			s.expect(long[:29] + "… ")
			s.expect("1 value was cut to 30 columns, shown by …")
		default:
			s.expect(long + ";\r\n")
			s.expect(long)
			s.expect("1 row in set")
		}
	}
	s.expect("Sluice SQL> ")
	s.send("SET 'sluice.timing' = 'false';\r")
	s.expect("Sluice SQL> ")
	s.send("ROWS 2;\r")
	s.expect("2 rows in set\r\n")
	s.send(ctrlD)
	require.Zero(t, s.code())
}
