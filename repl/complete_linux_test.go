package repl

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chzyer/readline"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/sluice-sql/sluice/session"
	"github.com/sluice-sql/sluice/sqlparse"
)

const tab = "\t"

// startCompleting starts a shell on real files whose current database has some tables, without colours.
func startCompleting(t *testing.T, env ...string) (s *terminal, dir string) {
	dir = t.TempDir()
	in, out := openSQLite(t, filepath.Join(dir, "src.db")), openSQLite(t, filepath.Join(dir, "dst.db"))
	_, err := in.Exec("CREATE TABLE orders (id INT, customer TEXT, `total amount` INT); CREATE TABLE ordinary (x INT); " +
		"CREATE TABLE Customers (name TEXT); CREATE TABLE `we\"ird; drop table x; --` (y INT); CREATE TABLE `con\x1b[2Jtrol` (z INT); " +
		"CREATE TABLE `😀smile` (w INT); CREATE TABLE 表 (v INT)")
	require.NoError(t, err)
	require.NoError(t, in.Close())
	require.NoError(t, out.Close())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "one.sql"), []byte("SELECT 42;"), 0o600))
	s = startShell(t, append(env, "SLUICE_TEST_LIVE="+dir)...)
	s.expect("Sluice SQL> ")
	s.send("USE CATALOG i;\r")
	s.expect("succeeded.")
	s.expect("Sluice SQL> ")
	return s, dir
}

// drop gives up the statement begun.
func (s *terminal) drop() {
	s.t.Helper()
	s.send(ctrlC)
	s.expect("^C")
	s.expect("Sluice SQL> ")
}

func TestTab(t *testing.T) {
	s, dir := startCompleting(t, "NO_COLOR=1")
	for _, c := range []struct{ what, keys, shown string }{
		{"a keyword keeps its case", "sel" + tab, "> select "},
		{"and in capitals", "SHOW TAB" + tab, "> SHOW TABLES "},
		{"the start that tables have in common", "SELECT * FROM ord" + tab + "\x05", "FROM ord"},
		{"a table, spelt as it is stored", "SELECT * FROM cus" + tab, "FROM Customers"},
		{"a column, found behind the cursor", "SELECT cust FROM orders" + "\x01" + strings.Repeat("\x06", 11) + tab, "SELECT customer FROM orders"},
		{"a column that must be quoted", "SELECT tot FROM orders" + "\x01" + strings.Repeat("\x06", 10) + tab, "SELECT `total amount` FROM orders"},
		{"inside back-quotes", "DESCRIBE `ordi" + tab, "DESCRIBE `ordinary`"},
		{"an odd name", "SELECT * FROM we" + tab, "FROM `we\"ird; drop table x; --`"},
		{"a wide one", "SELECT * FROM 表" + tab + ".v", "FROM 表.v"},
		{"an option's key", "SET 'sluice.fo" + tab, "SET 'sluice.format' = '"},
		{"its value", "SET 'sluice.format' = 'mark" + tab, "SET 'sluice.format' = 'markdown'"},
		{"an option of a catalog", "CREATE CATALOG x WITH ('type' = 'jdbc', 'ba" + tab, "'base-url' = '"},
		{"a file", "SOURCE '" + dir + "/on" + tab, "/one.sql'"},
		{"an address", "CREATE CATALOG x WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:" + dir + "/sr" + tab, "/src.db'"},
		{"a short form's name", `\d Cus` + tab, `\d Customers`},
		{"a short form's file", `\i ` + dir + "/on" + tab, "/one.sql"},
		{"a short form's value", `\f mark` + tab, `\f markdown`},
	} {
		s.t.Log(c.what)
		s.sendSlowly(c.keys)
		s.expect(c.shown)
		s.drop()
	}
	s.send(ctrlD)
	require.Zero(t, s.code())
}

// sendSlowly sends keys as somebody does who types: a Tab with more behind it in one go is no key.
func (s *terminal) sendSlowly(keys string) {
	s.t.Helper()
	for {
		text, rest, found := strings.Cut(keys, tab)
		s.send(text)
		if !found {
			return
		}
		time.Sleep(100 * time.Millisecond)
		s.taken()
		s.send(tab)
		time.Sleep(50 * time.Millisecond)
		s.taken()
		keys = rest
	}
}

// taken waits until the shell has read the keys that it was sent a moment ago.
func (s *terminal) taken() {
	s.t.Helper()
	n, err := unix.IoctlGetInt(int(s.master.Fd()), unix.TIOCGPTN)
	require.NoError(s.t, err)
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(s.t, err)
	defer slave.Close()
	for {
		waiting, err := unix.IoctlGetInt(int(slave.Fd()), unix.TIOCINQ)
		require.NoError(s.t, err)
		if waiting == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// A second Tab lists the candidates and leaves the line as it is, which goes on to be what runs.
func TestTabLists(t *testing.T) {
	s, _ := startCompleting(t, "NO_COLOR=1")
	s.sendSlowly("SELECT COUNT(*) AS n FROM ord")
	s.sendSlowly(tab + tab)
	s.expect("orders    ordinary\r\n")
	s.expect("Sluice SQL> SELECT COUNT(*) AS n FROM ord")
	s.sendSlowly("e" + tab + ";\r")
	s.expect("| n |")
	s.expect("1 row in set")
	s.expect("Sluice SQL> ")

	// What is about a candidate stands beside it.
	s.sendSlowly("SET 'sluice.m" + tab + tab)
	s.expect("'sluice.max-rows' = '  Rows of a query that are shown on a terminal")
	s.expect("'sluice.memory' = '    Memory that")
	s.drop()

	// A name that a terminal would act on is shown and not typed.
	s.sendSlowly("SELECT * FROM con" + tab + tab)
	s.expect("`con␛[2Jtrol`")
	s.drop()
	require.NotContains(t, s.raw(), "con\x1b[2J")

	// While the history is searched Tab takes what is found, as every other key that is no letter.
	s.send(ctrlR + "COUNT")
	s.expect("bck-i-search: COUNT")
	s.sendSlowly(tab)
	s.send("\r")
	s.expect("1 row in set")
	s.expect("Sluice SQL> ")
	s.send(ctrlD)
	require.Zero(t, s.code())
}

// raw is all that the terminal got.
func (s *terminal) raw() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.String()
}

// The lines before belong to the statement; a comment and a paste have no completion.
func TestTabPlaces(t *testing.T) {
	s, _ := startCompleting(t, "NO_COLOR=1")
	s.send("SELECT *\rFROM orders AS o\r")
	s.expect("FROM orders AS o\r\n")
	s.sendSlowly("WHERE o.cus" + tab)
	s.expect("> WHERE o.customer")
	s.drop()
	s.send("SELECT 'open\r")
	s.expect("'> ")
	s.sendSlowly("' FROM ordi" + tab)
	s.expect("' FROM ordinary")
	s.drop()
	s.sendSlowly("SELECT 1 -- sel" + tab + tab + "x;\r")
	s.expect("-- selx;")
	s.expect("\r> ")
	s.drop()
	s.send(pasteStart + "SELECT 1 AS sel" + tab + "FROM ordi" + tab + ";" + pasteEnd)
	s.expect("SELECT 1 AS sel FROM ordi ;")
	s.drop()
}

func TestColours(t *testing.T) {
	const keyword = colourKeyword + "SELECT" + colourOff
	s, _ := startCompleting(t)
	s.send("SELECT 'text', 12, `name`, plain, 'open")
	s.expect(keyword + " " + colourString + "'text'" + colourOff + ", " + colourNumber + "12" + colourOff + ", " +
		colourName + "`name`" + colourOff + ", plain, " + colourOpen + "'open" + colourOff)
	s.send("\r")
	s.expect("'> ")
	s.send("still' AS x")
	s.expect("'> " + colourString + "still'" + colourOff + " " + colourKeyword + "AS" + colourOff + " x")
	s.drop()
	s.send("SET 'sluice.color' = 'never';\r")
	s.expect("succeeded.")
	s.expect("Sluice SQL> ")
	s.send("SELECT")
	s.expect("Sluice SQL> SELECT")
	require.NotContains(t, s.raw()[strings.LastIndex(s.raw(), "succeeded."):], colourKeyword)
	s.drop()

	for _, env := range []string{"NO_COLOR=1", "TERM=dumb"} {
		s, _ := startCompleting(t, env)
		s.send("SELECT 'a'")
		s.expect("Sluice SQL> SELECT 'a'")
		s.drop()
		require.NotRegexp(t, sgr, s.raw(), env)
	}
}

// sgr is an escape sequence that sets colours.
var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

// What readline draws with colours is what it draws without, but for the colours: at the edge of the screen, in
// lines that wrap, with wide and combining characters, and when the cursor moves.
func TestColoursKeepTheCursor(t *testing.T) {
	for _, columns := range []int{7, 20, 21, 22, 23, 80} {
		plain, painted := newDrawing(t, columns, false), newDrawing(t, columns, true)
		step := func(what string, f func(*readline.RuneBuffer)) {
			for _, d := range []*drawing{plain, painted} {
				d.out.Reset()
				f(d.buf)
			}
			require.Equal(t, plain.out.String(), sgr.ReplaceAllString(painted.out.String(), ""), "%s at %d columns", what, columns)
		}
		for _, r := range "SELECT 'abc', 12 /* 日本 */, `é`, e\u0301, 'x' FROM t -- end" {
			step(string(r), func(b *readline.RuneBuffer) { b.WriteRune(r) })
		}
		require.Contains(t, painted.out.String(), colourKeyword)
		for range 9 {
			step("left", (*readline.RuneBuffer).MoveBackward)
		}
		step("in the middle", func(b *readline.RuneBuffer) { b.WriteRunes([]rune("'open ")) })
		require.Contains(t, painted.out.String(), colourOpen)
		step("delete", (*readline.RuneBuffer).Backspace)
		step("home", (*readline.RuneBuffer).MoveToLineStart)
		step("end", (*readline.RuneBuffer).MoveToLineEnd)
		step("enter", func(b *readline.RuneBuffer) { b.WriteRune('\n') })
	}
}

// In a line that fits the screen the cursor stands where the next rune goes, whatever is behind it: readline
// goes back one column for each rune.
func TestCursorInWideText(t *testing.T) {
	for _, colours := range []bool{false, true} {
		d := newDrawing(t, 80, colours)
		line := []rune("SELECT '日本 😀', `e\u0301` AS 表, 'x'")
		d.buf.WriteRunes(line)
		for pos := len(line); pos >= 0; pos-- {
			require.Equal(t, pos, d.buf.Pos())
			require.Equal(t, len(promptNew)+width([]byte(string(line[:pos]))), cursorColumn(t, d.out.String()), "%q", string(line[:pos]))
			d.out.Reset()
			d.buf.MoveBackward()
		}
	}
}

// cursorColumn is where a terminal's cursor stands after an output of one row.
func cursorColumn(t *testing.T, output string) int {
	col := 0
	moves := regexp.MustCompile("\x1b\\[([0-9]*)([A-Za-z])|\r|\b")
	for output != "" {
		at := moves.FindStringSubmatchIndex(output)
		if at == nil {
			return col + width([]byte(output))
		}
		col += width([]byte(output[:at[0]]))
		move := output[at[0]:at[1]]
		n := 1
		if at[2] >= 0 && at[3] > at[2] {
			var err error
			n, err = strconv.Atoi(output[at[2]:at[3]])
			require.NoError(t, err)
		}
		switch {
		case move == "\r":
			col = 0
		case move == "\b", strings.HasSuffix(move, "D"):
			col = max(0, col-n)
		case strings.HasSuffix(move, "C"):
			col += n
		default:
			require.Contains(t, "mJK", move[len(move)-1:])
		}
		output = output[at[1]:]
	}
	return col
}

type drawing struct {
	out bytes.Buffer
	buf *readline.RuneBuffer
}

func newDrawing(t *testing.T, columns int, colours bool) *drawing {
	setting := "never"
	if colours {
		setting = "always"
	}
	e := newFake()
	e.options["sluice.color"] = setting
	in := &input{}
	d := &drawing{}
	keys := newTyping(e)
	keys.width = func() int { return columns }
	cfg := &readline.Config{Painter: editor{in, keys, &keyAtWork{}}, ForceUseInteractive: true}
	require.NoError(t, cfg.Init())
	d.buf = readline.NewRuneBuffer(&d.out, promptNew, cfg, columns)
	return d
}

func TestColoured(t *testing.T) {
	marks := strings.NewReplacer(colourKeyword, "<k>", colourName, "<n>", colourString, "<s>", colourNumber, "<1>",
		colourComment, "<c>", colourOpen, "<o>", colourOff, "</>")
	for _, c := range []struct{ before, line, want string }{
		{"", "select a from t", "<k>select</> a <k>from</> t"},
		{"", "SELECT 'it''s', 1.5e3 -- x", "<k>SELECT</> <s>'it''s'</>, <1>1.5e3</> <c>-- x</>"},
		{"", "SELECT /* open", "<k>SELECT</> <c>/* open</>"},
		{"/* before\n", "still */ 1", "<c>still */</> <1>1</>"},
		{"SELECT `a\n", "b` x", "<n>b`</> x"},
		{"SELECT 'a\n", "still open", "<o>still open</>"},
		{"'", "text' x", "<s>text'</> x"},
		{"SELECT 1\n", "from t", "<k>from</> t"},
		{"", `\d orders`, `<k>\d</> orders`},
		{"", "日本 '語'", "日本 <s>'語'</>"},
		{"", "SELECT 1" + newlineMark + "-- x" + newlineMark + "FROM t", "<k>SELECT</> <1>1</>" + newlineMark + "<c>-- x</>" + newlineMark + "<k>FROM</> t"},
		{"", "'a'\n", "<s>'a'</>\n"},
		{"", "", ""},
	} {
		require.Equal(t, c.want, marks.Replace(string(coloured([]rune(c.line), c.before))), c.line)
		require.Equal(t, c.line, sgr.ReplaceAllString(string(coloured([]rune(c.line), c.before)), ""))
	}
	require.Equal(t, "/*", opening(sqlparse.OpenComment))
}

func TestWantsColours(t *testing.T) {
	for _, c := range []struct {
		setting, term, noColour string
		want                    bool
	}{
		{"auto", "xterm", "", true}, {"", "xterm", "", true}, {"auto", "xterm", "1", false}, {"auto", "dumb", "", false},
		{"auto", "", "", false}, {"always", "dumb", "1", true}, {"never", "xterm", "", false},
	} {
		t.Setenv("TERM", c.term)
		t.Setenv("NO_COLOR", c.noColour)
		require.Equal(t, c.want, wantsColours(c.setting), "%+v", c)
	}
}

func TestCommon(t *testing.T) {
	items := func(texts ...string) []session.CompletionItem {
		var list []session.CompletionItem
		for _, s := range texts {
			list = append(list, session.CompletionItem{Text: s, Kind: session.CompleteTable})
		}
		return list
	}
	for _, c := range []struct {
		items []session.CompletionItem
		typed string
		want  string
	}{
		{items("orders"), "OR", "orders"},
		{items("orders", "ordinary"), "o", "ord"},
		{items("orders", "Ordinary"), "o", "ord"},
		{items("orders", "Orders"), "ord", "orders"},
		{items("Orders", "Orderly"), "orders", ""},
		{items("orders", "lines"), "", ""},
		{items("`a b`", "`a c`"), "a", "`a "},
		{items("`a b`", "abc"), "a", ""},
		{items("`a\x1bb`"), "a", ""},
		{items("`ab\x1bb`", "`ab\x1bc`"), "`a", "`ab"},
		{items("日本", "日曜"), "", "日"},
	} {
		require.Equal(t, c.want, common(c.items, c.typed), "%q %q", c.items, c.typed)
	}
}

func TestCandidateLines(t *testing.T) {
	var items []session.CompletionItem
	for _, s := range []string{"a", "bb", "ccc", "日本", "e\x1b"} {
		items = append(items, session.CompletionItem{Text: s, Kind: session.CompleteTable})
	}
	require.Equal(t, "a     日本\nbb    e␛\nccc\n", candidateLines(items, 15))
	require.Equal(t, "a     ccc   e␛\nbb    日本\n", candidateLines(items, 20))
	for i := range 300 {
		items = append(items, session.CompletionItem{Text: strings.Repeat("x", i)})
	}
	got := candidateLines(items, 40)
	require.Contains(t, got, "… and 105 more\n")
	for _, line := range strings.Split(got, "\n") {
		require.Less(t, width([]byte(line)), 40)
	}
	require.Equal(t, "one.sql  dir/\n", candidateLines([]session.CompletionItem{
		{Text: "'/tmp/one.sql'", Kind: session.CompleteFile}, {Text: "'/tmp/dir/", Kind: session.CompleteFile}}, 40))
}
