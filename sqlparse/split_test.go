package sqlparse

import (
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// splitTokens is the slow splitter that the quick one is compared with: it asks
// the lexer for every token.
func splitTokens(text string) (list []StatementText, open bool) {
	l := lexer{src: text, pos: skipBOM(text)}
	var tokens []token
	inside, atStart := false, false
	add := func(from, to int) *StatementText {
		line, column := Source{Text: text}.Position(from)
		list = append(list, StatementText{Text: text[from:to], Offset: from, Line: line, Column: column})
		return &list[len(list)-1]
	}
	emit := func(vertical bool) {
		if len(tokens) > 0 {
			add(tokens[0].start, tokens[len(tokens)-1].end).Vertical = vertical
		}
		tokens, inside, atStart, l.inHint = nil, false, false, false
	}
	for {
		t := l.next()
		switch {
		case t.kind == tokEOF:
			emit(false)
			return list, false
		case t.text == "\\" && len(tokens) == 0:
			line, _, _ := strings.Cut(text[t.start:], "\n")
			l.pos = t.start + len(line)
			line = strings.TrimRight(line, commandSpace)
			line = strings.TrimRight(strings.TrimSuffix(line, ";"), commandSpace)
			add(t.start, t.start+len(line)).Command = true
			continue
		case t.text == "\\" && strings.HasPrefix(text[t.end:], "G"):
			l.pos++
			emit(true)
			continue
		case t.kind == tokBad && isOpen(t):
			return list, true
		case t.kind == tokOp && t.text == ";":
			if inside {
				atStart = true
				tokens = append(tokens, t)
			} else {
				emit(false)
			}
			continue
		}
		tokens = append(tokens, t)
		if inside {
			if atStart && strings.EqualFold(t.text, "end") {
				inside = false
				tokens[0].kw = "" // no second block in one statement
			}
			atStart = false
			continue
		}
		if n := len(tokens); n >= 4 && t.kw == "BEGIN" && tokens[n-2].kw == "SET" && tokens[n-3].kw == "STATEMENT" {
			switch tokens[0].kw {
			case "EXECUTE", "EXPLAIN", "COMPILE":
				inside, atStart = true, true
			}
		}
	}
}

// isOpen tells a quote or comment that the text ends in from other bad tokens.
func isOpen(t token) bool {
	e := badToken(t)
	return strings.Contains(e.Msg, "not closed")
}

// splitPieces feeds the text in pieces of random length.
func splitPieces(text string, r *rand.Rand, max int) ([]StatementText, error) {
	var s Splitter
	var list []StatementText
	for text != "" {
		n := min(1+r.Intn(max), len(text))
		s.Feed(text[:n])
		text = text[n:]
		for {
			t, ok, err := s.Next()
			if err != nil {
				return list, err
			}
			if !ok {
				break
			}
			list = append(list, t)
		}
	}
	t, ok, err := s.Finish()
	if err == nil && ok {
		list = append(list, t)
	}
	return list, err
}

// checkSplit compares all ways to split a text, and the parser's idea of where
// statements end.
func checkSplit(t *testing.T, text string) {
	want, open := splitTokens(text)
	got, err := split(text)
	require.Equal(t, open, err != nil, "%q", text)
	require.Equal(t, want, got, "%q", text)
	r := rand.New(rand.NewSource(int64(len(text))))
	for _, max := range []int{1, 3, 20} {
		got, err = splitPieces(text, r, max)
		require.Equal(t, open, err != nil, "%q in pieces of %d", text, max)
		require.Equal(t, want, got, "%q in pieces of %d", text, max)
	}
	for _, s := range want {
		if s.Command {
			_, err := Parse(s.Text)
			require.Error(t, err)
			continue
		}
		require.False(t, strings.HasSuffix(s.Text, `\G`), "%q", text)
		p, err := newParser(text[s.Offset:])
		if err != nil {
			continue
		}
		if p.statement(forms); p.err != nil {
			continue
		}
		if p.tok.kind != tokEOF && !p.isOp(";") {
			continue // something follows that does not belong to the statement
		}
		require.Equal(t, len(s.Text), p.prev, "%q: the parser does not stop where the splitter does", text)
		_, err2 := Parse(s.Text)
		require.NoError(t, err2)
	}
}

func TestSplitAgrees(t *testing.T) {
	for _, text := range corpus(t) {
		checkSplit(t, text)
	}
	all := strings.Join(corpus(t), "\n;\n")
	want, open := splitTokens(all)
	got, err := splitPieces(all, rand.New(rand.NewSource(1)), 100)
	require.Equal(t, open, err != nil)
	require.Equal(t, want, got)
}

// Pending tells a prompt what is missing.
func TestPending(t *testing.T) {
	for _, c := range []struct {
		input string
		want  Open
	}{
		{"", OpenNothing},
		{"  \n-- x\n", OpenNothing},
		{"-- x", OpenNothing},
		{"select 1;", OpenNothing},
		{"select 1; /* c */ ", OpenNothing},
		{"select 1", OpenStatement},
		{"select (1\n", OpenStatement},
		{"s", OpenStatement},
		{"-", OpenStatement},
		{"select 'a;\n", OpenString},
		{"select `a;\n", OpenName},
		{"select \"a;\n", OpenDoubleQuote},
		{"select /* a;\n", OpenComment},
		{"/* a;\n*", OpenComment},
		{"execute statement set begin insert into t values (1);\n", OpenStatementSet},
		{"execute statement set begin insert into t values (1); end\n", OpenStatement},
		{"select 1\\G", OpenNothing},
		{"select 1\\", OpenStatement},
		{"select 'a\\G", OpenString},
		{"execute statement set begin insert\\G", OpenNothing},
		{"\\d", OpenStatement}, // the line may go on
		{"\\d 'a\n", OpenNothing},
		{"begin statement set;\n", OpenNothing},
	} {
		var s Splitter
		s.Feed(c.input)
		for {
			_, ok, err := s.Next()
			require.NoError(t, err)
			if !ok {
				break
			}
		}
		require.Equal(t, c.want, s.Pending(), "%q", c.input)
		s.Reset()
		require.Equal(t, OpenNothing, s.Pending())
	}
}

// Finish gives the error's span within the text returned with it.
func TestFinishError(t *testing.T) {
	var s Splitter
	s.Feed("select 1;\n  select 'abc;\n")
	st, ok, err := s.Next()
	require.True(t, ok)
	require.NoError(t, err)
	require.Equal(t, "select 1", st.Text)
	_, ok, _ = s.Next()
	require.False(t, ok)
	st, ok, err = s.Finish()
	require.False(t, ok)
	require.Equal(t, "stdin:2:10: the string that starts here is not closed\n  select 'abc;\n         ^\n"+
		"hint: close it with '; a single quote inside a string is written twice, not with a backslash\n", err.(*Error).Render(st.Source("stdin")))
}

// Each byte is looked at once, however the input arrives: a second look at
// everything for each of the 200,000 pieces would not end in a day.
func TestSplitLinear(t *testing.T) {
	text := "insert into t values ('" + strings.Repeat("a line of text in one literal\n", 200_000) + "');"
	list, err := splitPieces(text, rand.New(rand.NewSource(1)), 60)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, text[:len(text)-1], list[0].Text)
}

// TestCases names the cases of public bug reports that end in this package.
func TestCases(t *testing.T) {
	texts := func(list []StatementText) (out []string) {
		for _, s := range list {
			out = append(out, s.Text)
		}
		return out
	}
	forms := func(t *testing.T, list []StatementText) (out []string) {
		for _, s := range list {
			st, err := Parse(s.Text)
			require.NoError(t, err, s.Text)
			out = append(out, st.Form())
		}
		return out
	}
	t.Run("C1", func(t *testing.T) {
		list, err := split("-- it's; here\n/* ; ' */ SET 'execution.runtime-mode'='batch'; select 123; -- c\n" +
			"select '--' as a, 1 as `1--`;\nselect '1;\n';\n-- t\ninsert into mem_t select 'a;b''c';\n;;\n-- end")
		require.NoError(t, err)
		require.Equal(t, []string{"SET", "SELECT", "SELECT", "SELECT", "INSERT INTO"}, forms(t, list))
	})
	t.Run("C2a", func(t *testing.T) {
		for _, end := range []string{"", "\n", "\r\n", " -- c"} {
			list, err := split("select 1;\ncreate table t as select 2 as x" + end)
			require.NoError(t, err)
			require.Equal(t, []string{"SELECT", "CREATE TABLE AS"}, forms(t, list))
		}
	})
	t.Run("C2b", func(t *testing.T) {
		list, err := split("select 1;\nselect 'abc;")
		require.Equal(t, []string{"select 1"}, texts(list))
		require.Equal(t, Span{17, 18}, err.(*Error).Span)
	})
	t.Run("C2c", func(t *testing.T) {
		list, err := split("select 1; select /* x;")
		require.Equal(t, []string{"select 1"}, texts(list))
		require.Equal(t, Span{17, 19}, err.(*Error).Span)
	})
	t.Run("C3", func(t *testing.T) {
		list, err := split("\ufeffselect 7;\r\n-- c\r\nselect 'x\r\ny';\r\n")
		require.NoError(t, err)
		require.Equal(t, []string{"select 7", "select 'x\r\ny'"}, texts(list))
		s, err := Parse(list[1].Text)
		require.NoError(t, err)
		require.Equal(t, "x\r\ny", s.(*QueryStatement).Query.(*Select).Items[0].Expr.(*Literal).Text)
	})
	t.Run("C4", func(t *testing.T) {
		text := bigInsert(20 << 20)
		list, err := split(text + ";")
		require.NoError(t, err)
		require.Equal(t, []string{"INSERT INTO"}, forms(t, list))
		e := parseError(t, text+", (1")
		require.Less(t, len(e.Render(Source{Text: text + ", (1"})), 500)
	})
	t.Run("C5", func(t *testing.T) {
		text := "select 1; select nosuch; create table t as select 1 as x;"
		list, err := split(text)
		require.NoError(t, err)
		require.Equal(t, []string{"SELECT", "SELECT", "CREATE TABLE AS"}, forms(t, list))
		s, err := Parse(list[1].Text)
		require.NoError(t, err)
		column := s.(*QueryStatement).Query.(*Select).Items[0].Expr
		require.Equal(t, "c5.sql:1:18: there is no column nosuch\n  "+text+"\n                   ^^^^^^\n",
			(&Error{Span: column.Span(), Msg: "there is no column nosuch"}).Render(Source{Name: "c5.sql", Text: text, Offset: list[1].Offset}))
	})
	t.Run("C6", func(t *testing.T) {
		s, err := Parse("create table t as select 1 as a, 2 as a")
		require.NoError(t, err)
		items := s.(*CreateTable).As.(*Select).Items
		require.Equal(t, Span{30, 31}, items[0].Alias.Span())
		require.Equal(t, Span{38, 39}, items[1].Alias.Span())
	})
	t.Run("C7a", func(t *testing.T) {
		s, err := Parse("create table t as select null, 1+1, now(), count(*) from x")
		require.NoError(t, err)
		items := s.(*CreateTable).As.(*Select).Items
		require.Len(t, items, 4)
		require.Equal(t, Span{25, 29}, items[0].Span())
		require.Equal(t, Span{31, 34}, items[1].Span())
	})
}

// bigInsert is an INSERT of about n bytes on one line.
func bigInsert(n int) string {
	var b strings.Builder
	b.WriteString("INSERT INTO t VALUES ")
	sep := ""
	for i := 0; b.Len() < n; i++ {
		b.WriteString(sep)
		b.WriteString("(12345, 'some text here', 1.5, NULL, DATE '2024-01-31', -7)")
		sep = ", "
	}
	return b.String()
}
