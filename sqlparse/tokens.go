package sqlparse

import "strings"

// Token is one lexical element of a text, for colours and completion.
type Token struct {
	Span
	Class TokenClass
}

// TokenClass sorts tokens.
type TokenClass uint8

// The classes of tokens.
const (
	Keyword   TokenClass = iota // a word of the grammar, where it stands for itself
	Name                        // a name, also in back-quotes, also of a function
	String                      // '…', U&'…', X'…'
	Number                      // 1, 1.5, 1e3
	Comment                     // -- … or /* … */
	Operator                    // operators, punctuation, ; and \G
	OpenToken                   // a quote or comment that is not closed, to the end of the text
)

// Tokens cuts a text of any number of statements, complete or not, into its
// tokens, comments among them, space left out. It never fails. Words that may be
// names or keywords, such as COMMENT, are told apart by the parser as far as it
// understands the statement, and are names from there on. A command of the shell
// is a Keyword and what the lexer makes of the rest, without keywords.
func Tokens(text string) []Token {
	t := tokenizer{text: text, list: make([]Token, 0, len(text)/4+1)}
	var s Splitter
	s.Feed(text)
	for {
		piece, ok, err := s.Next()
		if !ok && err == nil {
			piece, ok, err = s.Finish()
		}
		switch {
		case err != nil: // something is open, or there is more than MaxStatement
			piece.Text = text[piece.Offset:]
			t.statement(piece)
		case ok && piece.Command:
			t.command(piece)
		case ok:
			t.statement(piece)
			continue
		}
		if !ok {
			t.between(len(text))
			return t.list
		}
	}
}

type tokenizer struct {
	text string
	pos  int // all before it is in the list
	list []Token
}

func (t *tokenizer) add(from, to int, class TokenClass) {
	if from < to {
		t.list = append(t.list, Token{Span{from, to}, class})
	}
	t.pos = to
}

// between adds what is between two tokens: comments and ends of statements.
func (t *tokenizer) between(to int) {
	for i := t.pos; i < to; i = t.pos {
		s := t.text[:to]
		switch {
		case strings.HasPrefix(s[i:], "--"):
			end := scanLineComment(s, i+2)
			if end < 0 {
				end = to
			}
			t.add(i, i+len(strings.TrimRight(s[i:end], "\r\n")), Comment)
			t.pos = end
		case strings.HasPrefix(s[i:], "/*"):
			end := scanBlockComment(s, i+2)
			if end < 0 {
				end = to
			}
			t.add(i, end, Comment)
		case s[i] == ';':
			t.add(i, i+1, Operator)
		case strings.HasPrefix(s[i:], `\G`):
			t.add(i, i+2, Operator)
		default:
			t.pos++ // space, a byte order mark
		}
	}
}

// statement adds the tokens of a statement.
func (t *tokenizer) statement(piece StatementText) {
	t.between(piece.Offset)
	p := parser{lex: lexer{src: piece.Text, pos: skipBOM(piece.Text)}, plainNames: []int{}}
	p.next()
	p.statement(forms)
	p.end()
	understood := p.prev
	if p.err == nil {
		understood = len(piece.Text)
	}
	names := p.plainNames
	lead := understood == 0 // only words so far, such as CREATE TEMPORARY
	l := lexer{src: piece.Text, pos: skipBOM(piece.Text)}
	for {
		x := l.next()
		if x.kind == tokEOF {
			break
		}
		lead = lead && x.kw != ""
		from := piece.Offset + x.start
		t.between(from)
		class := tokenClass(x)
		if x.kind == tokWord && x.kw != "" {
			for len(names) > 0 && names[0] < x.start {
				names = names[1:]
			}
			isName := len(names) > 0 && names[0] == x.start
			if x.reserved || lead || x.end <= understood && !isName {
				class = Keyword
			}
		}
		t.add(from, piece.Offset+x.end, class)
	}
	t.between(piece.Offset + len(piece.Text))
}

// command adds the tokens of a command.
func (t *tokenizer) command(piece StatementText) {
	t.between(piece.Offset)
	word := strings.IndexAny(piece.Text, commandSpace)
	if word < 0 {
		word = len(piece.Text)
	}
	t.add(piece.Offset, piece.Offset+word, Keyword)
	l := lexer{src: piece.Text, pos: word}
	for {
		x := l.next()
		if x.kind == tokEOF {
			break
		}
		t.between(piece.Offset + x.start)
		t.add(piece.Offset+x.start, piece.Offset+x.end, tokenClass(x))
	}
	t.between(piece.Offset + len(piece.Text))
}

// tokenClass is the class of a token, words being names.
func tokenClass(t token) TokenClass {
	switch t.kind {
	case tokNumber, tokApprox:
		return Number
	case tokString, tokUnicode, tokBinary:
		return String
	case tokOp, tokHintBegin, tokHintEnd:
		return Operator
	case tokBad:
		switch c := t.text[0]; {
		case strings.HasPrefix(t.text, "/*"):
			return OpenToken
		case c == '"' || c == '`':
			if t.text == "``" {
				return Name
			}
			if c == '"' && isClosed(t.text) {
				return String
			}
			return OpenToken
		case strings.IndexByte(t.text, '\'') >= 0:
			return OpenToken
		case isDigit(c) || c == '.':
			return Number
		case isWordStart(c):
			return Name
		}
		return Operator
	}
	return Name
}
