package sqlparse

import "strings"

// The functions of this file know where the lexical elements end. The lexer
// and the splitter are built on them and so cannot disagree. Each takes the
// offset behind the opening mark and returns the offset behind the closing one,
// or -1 where the text ends first.

// scanQuoted finds the end of '…', `…` or "…", given the offset behind the
// opening quote. A doubled quote is taken for an end; the caller looks for the
// next opening one (which makes resuming in the middle of a quote simple).
func scanQuoted(s string, from int, quote byte) int {
	i := strings.IndexByte(s[from:], quote)
	if i < 0 {
		return -1
	}
	return from + i + 1
}

// scanBlockComment finds the end of /* … */; comments do not nest.
func scanBlockComment(s string, from int) int {
	i := strings.Index(s[from:], "*/")
	if i < 0 {
		return -1
	}
	return from + i + 2
}

// scanLineComment finds the newline that ends a -- comment.
func scanLineComment(s string, from int) int {
	i := strings.IndexByte(s[from:], '\n')
	if i < 0 {
		return -1
	}
	return from + i + 1
}

// scanWord finds the end of a name or keyword (never -1).
func scanWord(s string, from int) int {
	for from < len(s) && isWordByte(s[from]) {
		from++
	}
	return from
}

// scanNumber finds the end of a number and its kind; with letters right behind
// it, it is a tokBad that takes them in.
func scanNumber(s string, from int) (end int, kind tokenKind) {
	i, kind := from, tokNumber
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	if i < len(s) && s[i] == '.' {
		i++
		for i < len(s) && isDigit(s[i]) {
			i++
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		if j < len(s) && isDigit(s[j]) {
			kind = tokApprox
			for j < len(s) && isDigit(s[j]) {
				j++
			}
			i = j
		}
	}
	if i < len(s) && isWordStart(s[i]) {
		kind, i = tokBad, scanWord(s, i)
	}
	return i, kind
}

// byteClass sorts bytes by what may start with them.
type byteClass uint8

const (
	classOther  byteClass = iota
	classSpace            // between tokens
	classSingle           // an operator of one character, always
	classWord             // letters, _, $ and all of UTF-8 beyond ASCII
	classDigit
	classQuote
)

// byteClasses is never changed once made.
var byteClasses = func() (t [256]byteClass) {
	set := func(chars string, c byteClass) {
		for i := range len(chars) {
			t[chars[i]] = c
		}
	}
	set(" \n\t\r\f\v", classSpace)
	set("(),;+%[]{}?:", classSingle)
	set("0123456789", classDigit)
	set("'`\"", classQuote)
	set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$", classWord)
	for c := 0x80; c < 0x100; c++ {
		t[c] = classWord
	}
	return t
}()

// isWordByte holds for the bytes that go on a name.
func isWordByte(c byte) bool {
	return byteClasses[c] == classWord || byteClasses[c] == classDigit
}

func isWordStart(c byte) bool { return byteClasses[c] == classWord }
func isDigit(c byte) bool     { return '0' <= c && c <= '9' }
func isSpace(c byte) bool     { return byteClasses[c] == classSpace }

// skipBOM returns the length of a UTF-8 byte order mark at the start of s.
func skipBOM(s string) int {
	if strings.HasPrefix(s, "\ufeff") {
		return len("\ufeff")
	}
	return 0
}
