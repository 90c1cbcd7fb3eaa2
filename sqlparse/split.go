package sqlparse

import (
	"strings"
	"unicode/utf8"
)

// StatementText is the text of one statement of a script: from its first to its
// last token, without comments around it and without the semicolon or \G; or one
// command of the shell.
type StatementText struct {
	Text   string
	Offset int // byte offset in the whole text
	// Line and Column are the 1-based position of the first character.
	Line, Column int
	// Vertical is set where \G ended the statement, not a semicolon.
	Vertical bool
	// Command is set where the text is no SQL but a command of the shell, such as
	// \d orders: where a statement would begin, a backslash makes one of the rest
	// of the line. Text is that without space and one semicolon at its end.
	Command bool
}

// Source is the statement alone as the text errors point into; where the whole
// text is at hand, showing it is better: Source{Name, Text, Offset: t.Offset}.
func (t StatementText) Source(name string) Source {
	return Source{Name: name, Text: t.Text, Line: t.Line, Column: t.Column}
}

// Open says what an input is in the middle of.
type Open uint8

// What may be open.
const (
	OpenNothing      Open = iota // only space and comments since the last semicolon
	OpenStatement                // a statement without its semicolon
	OpenString                   // '…
	OpenName                     // `…
	OpenDoubleQuote              // "… (which will be an error)
	OpenComment                  // /* …
	OpenStatementSet             // STATEMENT SET BEGIN … without END
)

// Splitter cuts input that arrives in pieces. Each byte is looked at once,
// however small the pieces are. The zero value is ready for use.
//
// Outside of quotes, names and comments \G ends a statement as a semicolon does,
// also the one that STATEMENT SET BEGIN has left open.
type Splitter struct {
	text  string           // what is not yet returned, and somewhat more
	own   *strings.Builder // holds text, where text was put together from pieces
	base  int              // offset of text[0] in the whole input
	start int              // where in text the current statement's leading space starts
	pos   int              // everything before is scanned
	first int              // first token of the current statement, 1-based; 0: none yet
	last  int              // end of its last token

	mode   byte // what pos is inside of: 0, a quote, 'w' word, '-' or '*' comment, '\\' command
	openAt int  // where that starts
	// A quote that opens where one of its kind has just closed is the second
	// half of a doubled quote: the literal goes on.
	closedAt   int
	closedMark byte
	closedOpen int
	inHint     bool
	block      blockState

	// line and column are the position of text[counted].
	line, column, counted int
	started               bool
}

// blockState follows STATEMENT SET BEGIN … END, inside which a semicolon does
// not end the statement.
type blockState struct {
	head    bool  // the statement starts with EXECUTE, EXPLAIN or COMPILE
	seen    uint8 // how many of STATEMENT, SET, BEGIN came one after the other
	inside  bool
	atStart bool // inside: no token since BEGIN or the last semicolon
}

// Feed adds a piece of the input.
func (s *Splitter) Feed(piece string) {
	if piece == "" {
		return
	}
	if s.first == 0 && s.mode == 0 {
		s.start = s.pos // space and comments are not kept
	}
	if s.start == len(s.text) {
		s.drop()
	}
	switch {
	case s.text == "":
		s.text, s.own = piece, nil
	default:
		if s.own == nil || s.start > len(s.text)/2 {
			s.drop()
			b := new(strings.Builder)
			b.WriteString(s.text)
			s.own = b
		}
		s.own.WriteString(piece)
		s.text = s.own.String()
	}
}

// drop forgets the text before the current statement.
func (s *Splitter) drop() {
	s.count(s.start)
	n := s.start
	s.text, s.own = s.text[n:], nil
	s.base += n
	s.start, s.counted = 0, 0
	s.pos -= n
	s.openAt -= n
	s.closedAt -= n
	s.closedOpen -= n
	s.last -= n
	if s.first > 0 {
		s.first -= n
	}
}

// count moves line and column to text[to].
func (s *Splitter) count(to int) {
	if s.line == 0 {
		s.line, s.column = 1, 1
	}
	if to <= s.counted {
		return
	}
	part := s.text[s.counted:to]
	if s.base+s.counted == 0 {
		part = part[skipBOM(part):]
	}
	if n := strings.Count(part, "\n"); n > 0 {
		s.line += n
		s.column = 1
		part = part[strings.LastIndexByte(part, '\n')+1:]
	}
	s.column += utf8.RuneCountInString(part)
	s.counted = to
}

// Next returns the next statement that is complete, ok false when there is none
// yet. An error ends the splitting: it is an *Error whose span counts from the
// start of the StatementText returned with it.
func (s *Splitter) Next() (t StatementText, ok bool, err error) {
	return s.next(false)
}

// Finish is called at the end of the input, when Next has nothing more. It
// returns the last statement, which lacks its semicolon, if there is one. What
// is still open is an *Error, its span counting from the start of the
// StatementText returned with it.
func (s *Splitter) Finish() (t StatementText, ok bool, err error) {
	t, ok, err = s.next(true)
	if ok || err != nil {
		return t, ok, err
	}
	if s.mode != 0 && s.mode != '-' { // a quote or a comment: words and commands end with the text
		from := s.openAt
		if s.first > 0 {
			from = min(from, s.first-1)
		}
		t = s.piece(from, len(s.text))
		bad := token{kind: tokBad, start: s.openAt - from, end: len(s.text) - from, text: s.text[s.openAt:]}
		*s = Splitter{}
		return t, false, badToken(bad)
	}
	if s.first > 0 {
		t = s.piece(s.first-1, s.last)
		*s = Splitter{}
		return t, true, nil
	}
	*s = Splitter{}
	return StatementText{}, false, nil
}

// Reset forgets what is pending, as after Ctrl-C at a prompt.
func (s *Splitter) Reset() { *s = Splitter{} }

// Pending says what the input so far is in the middle of, once Next has nothing
// more. Parentheses do not count.
func (s *Splitter) Pending() Open {
	switch s.mode {
	case '\'':
		return OpenString
	case '`':
		return OpenName
	case '"':
		return OpenDoubleQuote
	case '*':
		return OpenComment
	}
	if s.block.inside {
		return OpenStatementSet
	}
	if s.first > 0 || s.mode == 'w' {
		return OpenStatement
	}
	for i := s.pos; i < len(s.text); i++ { // a piece of a token that is waited for
		if !isSpace(s.text[i]) {
			return OpenStatement
		}
	}
	return OpenNothing
}

func (s *Splitter) piece(from, to int) StatementText {
	s.count(from)
	return StatementText{Text: s.text[from:to], Offset: s.base + from, Line: s.line, Column: s.column}
}

// cut ends the current statement and starts the next one at pos; false: it is
// empty.
func (s *Splitter) cut() (StatementText, bool) {
	first, last := s.first, s.last
	s.first, s.mode, s.inHint, s.block = 0, 0, false, blockState{}
	s.start = s.pos
	if first == 0 {
		return StatementText{}, false
	}
	return s.piece(first-1, last), true
}

// command reads to the end of the line that a command is on.
func (s *Splitter) command(final bool) (StatementText, bool) {
	end := scanLineComment(s.text, s.pos)
	if end < 0 {
		end = len(s.text)
		if !final {
			s.pos = end
			return StatementText{}, false
		}
	}
	s.pos = end
	at := s.first - 1
	line := strings.TrimRight(s.text[at:end], commandSpace)
	line = strings.TrimRight(strings.TrimSuffix(line, ";"), commandSpace)
	s.last = at + len(line)
	t, ok := s.cut()
	t.Command = true
	return t, ok
}

const commandSpace = " \t\r\n\f\v"

// next scans to the next end of a statement. A token that more input could make
// longer is left for later unless final is set.
func (s *Splitter) next(final bool) (StatementText, bool, error) {
	if !s.started {
		if len(s.text) < len("\ufeff") && !final && strings.HasPrefix("\ufeff", s.text) {
			return StatementText{}, false, nil
		}
		s.started = true
		s.pos += skipBOM(s.text)
	}
	text := s.text
	for s.pos < len(text) || final && (s.mode == 'w' || s.mode == '\\') {
		if s.first > 0 && s.pos-s.first > MaxStatement {
			break
		}
		if s.mode == '\\' {
			if t, ok := s.command(final); ok {
				return t, true, nil
			}
			continue
		}
		if s.mode != 0 {
			if !s.resume(final) {
				break
			}
			continue
		}
		c := text[s.pos]
		if isSpace(c) {
			s.pos++
			continue
		}
		wait := s.pos+1 == len(text) && !final
		var next byte
		if s.pos+1 < len(text) {
			next = text[s.pos+1]
		}
		switch {
		case c == '-' && wait, c == '/' && wait, c == '.' && wait, c == '*' && wait && s.inHint, c == '\\' && wait && s.first > 0:
			return StatementText{}, false, nil
		case c == '\\' && s.first == 0:
			s.mode, s.first = '\\', s.pos+1
		case c == '\\' && next == 'G':
			s.pos += 2
			t, ok := s.cut()
			t.Vertical = true
			return t, ok, nil
		case c == '-' && next == '-':
			s.mode, s.openAt = '-', s.pos
			s.pos += 2
		case c == '/' && next == '*':
			if s.pos+2 == len(text) && !final {
				return StatementText{}, false, nil
			}
			if !s.inHint && s.pos+2 < len(text) && text[s.pos+2] == '+' {
				s.inHint = true
				s.token(s.pos+3, "")
				continue
			}
			s.mode, s.openAt = '*', s.pos
			s.pos += 2
		case c == '*' && next == '/' && s.inHint:
			s.inHint = false
			s.token(s.pos+2, "")
		case c == '\'' || c == '`' || c == '"':
			if s.closedMark == c && s.closedAt == s.pos {
				s.openAt = s.closedOpen
			} else {
				s.openAt = s.pos
			}
			s.mode = c
			s.token(s.pos+1, "")
		case isDigit(c), c == '.' && isDigit(next):
			end, _ := scanNumber(text, s.pos)
			exponent := end+1 == len(text) && (text[end] == '-' || text[end] == '+') && text[end-1]|0x20 == 'e'
			if (end == len(text) || exponent) && !final {
				return StatementText{}, false, nil
			}
			s.token(end, "")
		case isWordStart(c):
			s.mode, s.openAt = 'w', s.pos
		case c == ';':
			s.pos++
			if s.block.inside {
				s.block.atStart = true
				s.last = s.pos
				continue
			}
			if t, ok := s.cut(); ok {
				return t, true, nil
			}
		default:
			s.token(s.pos+1, "")
		}
	}
	if s.first > 0 && s.pos-s.first > MaxStatement {
		t := s.piece(s.first-1, s.pos)
		*s = Splitter{}
		return t, false, checkText(t.Text)
	}
	return StatementText{}, false, nil
}

// resume goes on inside a quote, comment or word; false: the text ends in it.
func (s *Splitter) resume(final bool) bool {
	var end int
	switch s.mode {
	case 'w':
		end = scanWord(s.text, s.pos)
		if end == len(s.text) && !final {
			s.pos = end
			return false
		}
		at := s.openAt
		s.mode = 0
		s.pos = at
		s.token(end, s.text[at:end])
		return true
	case '-':
		end = scanLineComment(s.text, s.pos)
	case '*':
		end = scanBlockComment(s.text, s.pos)
	default:
		end = scanQuoted(s.text, s.pos, s.mode)
	}
	if end < 0 {
		s.pos = len(s.text)
		if s.mode == '*' && s.text[s.pos-1] == '*' && s.pos-1 >= s.openAt+2 {
			s.pos-- // its slash may follow
		}
		return false
	}
	s.pos = end
	if s.mode != '-' && s.mode != '*' {
		s.closedAt, s.closedMark, s.closedOpen = end, s.mode, s.openAt
		s.last = end
	}
	s.mode = 0
	return true
}

// token notes a token from pos to end; word is set for names and keywords.
func (s *Splitter) token(end int, word string) {
	if s.first == 0 {
		s.first = s.pos + 1
		kw, _ := lookupKeyword(word)
		s.block.head = kw == "EXECUTE" || kw == "EXPLAIN" || kw == "COMPILE"
	} else if s.block.inside {
		if s.block.atStart && len(word) == 3 && strings.EqualFold(word, "END") {
			s.block = blockState{}
		}
		s.block.atStart = false
	} else if s.block.head {
		kw, _ := lookupKeyword(word)
		switch {
		case s.block.seen == 1 && kw == "SET":
			s.block.seen = 2
		case s.block.seen == 2 && kw == "BEGIN":
			s.block = blockState{inside: true, atStart: true}
		case kw == "STATEMENT":
			s.block.seen = 1
		default:
			s.block.seen = 0
		}
	}
	s.pos, s.last = end, end
}
