package sqlparse

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokEOF       tokenKind = iota
	tokWord                // name or keyword
	tokQuoted              // `name`
	tokNumber              // 1, 1.5, .5
	tokApprox              // 1e3
	tokString              // '…'
	tokUnicode             // U&'…'
	tokBinary              // X'…'
	tokOp                  // punctuation and operators
	tokHintBegin           // /*+
	tokHintEnd             // */ of a hint
	tokBad                 // anything that cannot be SQL; see badToken
)

// token is one lexical element. text is the source text of it; kw is the
// upper-case form of a word that is a keyword, else "".
type token struct {
	kind       tokenKind
	reserved   bool
	start, end int
	text       string
	kw         string
}

func (t *token) span() Span { return Span{t.start, t.end} }

// lexer cuts the text of one statement into tokens. It stops at nothing: what
// is no SQL becomes a tokBad.
type lexer struct {
	src    string
	pos    int
	inHint bool
}

// next returns the next token, skipping space and comments.
func (l *lexer) next() token {
	s := l.src
	i := l.pos
	for {
		if i >= len(s) {
			return l.token(tokEOF, len(s), len(s))
		}
		c := s[i]
		switch byteClasses[c] {
		case classSpace:
			i++
		case classSingle:
			return l.token(tokOp, i, i+1)
		case classWord:
			return l.word(i)
		case classDigit:
			return l.number(i)
		case classQuote:
			switch c {
			case '\'':
				return l.quoted(tokString, i, i+1, '\'')
			case '`':
				t := l.quoted(tokQuoted, i, i+1, '`')
				if t.text == "``" {
					t.kind = tokBad
				}
				return t
			}
			t := l.quoted(tokString, i, i+1, '"')
			t.kind = tokBad
			return t
		default:
			if c == '-' && strings.HasPrefix(s[i:], "--") {
				if i = scanLineComment(s, i+2); i < 0 {
					i = len(s)
				}
				continue
			}
			if c == '/' && strings.HasPrefix(s[i:], "/*") {
				if strings.HasPrefix(s[i:], "/*+") && !l.inHint {
					l.inHint = true
					return l.token(tokHintBegin, i, i+3)
				}
				end := scanBlockComment(s, i+2)
				if end < 0 {
					return l.token(tokBad, i, len(s))
				}
				i = end
				continue
			}
			return l.operator(i)
		}
	}
}

// word reads a name or keyword, or X'…' or U&'…'.
func (l *lexer) word(i int) token {
	s := l.src
	if i+1 < len(s) {
		switch s[i+1] {
		case '\'':
			if s[i]|0x20 == 'x' {
				return l.quoted(tokBinary, i, i+2, '\'')
			}
		case '&':
			if s[i]|0x20 == 'u' && strings.HasPrefix(s[i+2:], "'") {
				return l.quoted(tokUnicode, i, i+3, '\'')
			}
		}
	}
	t := l.token(tokWord, i, scanWord(s, i))
	t.kw, t.reserved = lookupKeyword(t.text)
	if t.kw == "" && !isASCII(t.text) && strings.ContainsAny(t.text, invisible+curlyQuotes+dashes) {
		t.kind = tokBad
	}
	return t
}

// invisible are characters that look like a space, or like nothing, and would
// make a name of what surrounds them: text pasted from a page has them.
const invisible = "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u200c\u200d\u202f\u205f\u2060\u3000\ufeff"

// invisibleName names one of them.
func invisibleName(r rune) string {
	switch r {
	case 0x00a0:
		return "no-break space"
	case 0x200b:
		return "zero-width space"
	case 0x200c:
		return "zero-width non-joiner"
	case 0x200d:
		return "zero-width joiner"
	case 0x202f:
		return "narrow no-break space"
	case 0x2060:
		return "word joiner"
	case 0x3000:
		return "ideographic space"
	case 0xfeff:
		return "byte order mark"
	}
	return "typographic space"
}

// dashes are the dashes and minus signs that word processors make of -.
const dashes = "‐‑‒–—―−"

// curlyQuotes are the quotes that word processors make of ' and ".
const curlyQuotes = "‘’‚‛“”„‟"

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// operator reads an operator that may have two characters.
func (l *lexer) operator(i int) token {
	s := l.src
	c := s[i]
	n := 1
	switch c {
	case '<':
		if i+1 < len(s) && (s[i+1] == '=' || s[i+1] == '>') {
			n = 2
		}
	case '>':
		if i+1 < len(s) && s[i+1] == '=' {
			n = 2
		}
	case '!':
		if i+1 < len(s) && s[i+1] == '=' {
			n = 2
		} else {
			return l.token(tokBad, i, i+1)
		}
	case '=':
		if i+1 < len(s) && s[i+1] == '>' {
			n = 2
		}
	case '|':
		if i+1 < len(s) && s[i+1] == '|' {
			n = 2
		}
	case '*':
		if l.inHint && i+1 < len(s) && s[i+1] == '/' {
			l.inHint = false
			return l.token(tokHintEnd, i, i+2)
		}
	case '.':
		if i+1 < len(s) && isDigit(s[i+1]) {
			return l.number(i)
		}
	case '-', '/':
	default:
		return l.token(tokBad, i, i+1)
	}
	return l.token(tokOp, i, i+n)
}

func (l *lexer) token(kind tokenKind, start, end int) token {
	l.pos = end
	return token{kind: kind, start: start, end: end, text: l.src[start:end]}
}

// quoted reads to the end of a quote that was opened before from.
func (l *lexer) quoted(kind tokenKind, start, from int, quote byte) token {
	for {
		end := scanQuoted(l.src, from, quote)
		if end < 0 {
			return l.token(tokBad, start, len(l.src))
		}
		if end < len(l.src) && l.src[end] == quote {
			from = end + 1
			continue
		}
		return l.token(kind, start, end)
	}
}

// number reads 1, 1.5, 1., .5, 1e3, 1.5E-3. Letters right behind it make it bad.
func (l *lexer) number(start int) token {
	end, kind := scanNumber(l.src, start)
	return l.token(kind, start, end)
}

// badToken says what is wrong with a tokBad.
func badToken(t token) *Error {
	e := &Error{Span: t.span()}
	switch c := t.text[0]; {
	case strings.HasPrefix(t.text, "/*"):
		e.Msg, e.Span.End = "the comment that starts here is not closed", t.start+2
		e.Hint = "close it with */"
	case c == '"' && !isClosed(t.text):
		e.Msg, e.Span.End = `the quote " that starts here is not closed`, t.start+1
		e.Hint = hintDoubleQuote
	case c == '"':
		e.Msg = "found " + t.text[:1] + strings.Trim(quoteFound(t.text), `"`) + `", but Flink SQL has no double quotes`
		e.Hint = hintDoubleQuote
	case t.text == "``":
		e.Msg = "found ``, but a name cannot be empty"
	case c == '`':
		e.Msg, e.Span.End = "the back-quoted name that starts here is not closed", t.start+1
		e.Hint = "close it with `; write a back-quote inside a name twice"
	case strings.Contains(t.text, "'"):
		q := strings.IndexByte(t.text, '\'')
		e.Span = Span{t.start + q, t.start + q + 1}
		e.Msg = "the string that starts here is not closed"
		e.Hint = "close it with '; a single quote inside a string is written twice, not with a backslash"
	case isDigit(c) || c == '.':
		e.Msg = "found " + quoteFound(t.text) + ", expected a number"
		e.Hint = "a name that starts with a digit is written in back-quotes"
	case isWordStart(c):
		at := strings.IndexAny(t.text, invisible+curlyQuotes+dashes)
		r, n := utf8.DecodeRuneInString(t.text[at:])
		e.Span = Span{t.start + at, t.start + at + n}
		if strings.ContainsRune(curlyQuotes, r) {
			e.Msg = fmt.Sprintf("found the typographic quote %c, which is not part of SQL", r)
			e.Hint = "write strings in straight single quotes: 'text'"
			break
		}
		if strings.ContainsRune(dashes, r) {
			e.Msg = fmt.Sprintf("found the typographic dash %c, which is not part of SQL", r)
			e.Hint = "write - for minus, -- before a comment; in names it needs back-quotes"
			break
		}
		e.Msg = fmt.Sprintf("found an invisible character that is no space: U+%04X, %s", r, invisibleName(r))
		e.Hint = "type the space anew; in names it needs back-quotes"
	case c == '!':
		e.Msg, e.Hint = `found "!"`, "not equal is <> or !="
	case c == '\\':
		e.Msg, e.Hint = `found "\"`, "a single quote inside a string is written twice, not with a backslash"
	default:
		e.Msg = "found " + quoteFound(t.text) + ", which is not part of SQL"
	}
	return e
}

// isClosed reports whether a text that starts with a quote ends with its
// closing quote, not with a doubled one or with something else.
func isClosed(s string) bool {
	quote := s[0]
	s = s[1:]
	return (len(s)-len(strings.TrimRight(s, string(quote))))%2 == 1
}

// hintMetaCommand answers the commands of other databases' shells.
const hintMetaCommand = "SHOW TABLES; lists the tables, DESCRIBE t; a table's columns, HELP; all statements"

const hintDoubleQuote = "use back-quotes for names and single quotes for strings"

// quoteFound shows a piece of the text in an error, shortened, on one line.
func quoteFound(s string) string {
	const max = 40
	cut := ""
	if len(s) > max {
		n := max
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s, cut = s[:n], "…"
	}
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' || r == '\t' {
			return ' '
		}
		if r < ' ' || r == 0x7f {
			return utf8.RuneError
		}
		return r
	}, s)
	return `"` + s + cut + `"`
}

// checkText refuses what no later stage should have to look for: too much,
// bytes that are not UTF-8, NUL.
func checkText(s string) *Error {
	if len(s) > MaxStatement {
		return &Error{Span: Span{0, 0}, Msg: fmt.Sprintf("the statement has more than %d MiB, the longest allowed", MaxStatement>>20),
			Hint: "split it into several statements"}
	}
	if i := strings.IndexByte(s, 0); i >= 0 {
		return &Error{Span: Span{i, i + 1}, Msg: "found a NUL byte, which SQL text cannot hold"}
	}
	if !utf8.ValidString(s) {
		i := 0
		for {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				break
			}
			i += n
		}
		return &Error{Span: Span{i, i + 1}, Msg: fmt.Sprintf("found byte 0x%02X, which is not UTF-8", s[i]),
			Hint: "save the text as UTF-8"}
	}
	return nil
}
