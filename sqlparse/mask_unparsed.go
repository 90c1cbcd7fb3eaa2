package sqlparse

import "strings"

// UnparsedSecrets returns what must not be shown of a statement that does not
// parse, in order: nobody can tell for certain where its secrets stand. It is
// what [MaskSecrets] masks; whatever follows a name that [IsSecretKey] knows, with
// or without quotes and whatever sign is between; and the values of all other
// options, in WITH (…), OPTIONS (…) and SET, but for those that public says may be
// shown (none when it is nil). The first word that public is given is the
// statement's word before the options: WITH, OPTIONS or SET.
func UnparsedSecrets(text string, public func(word, key string) bool) []Span {
	u := &unparsed{text: text, public: public}
	l := lexer{src: text, pos: skipBOM(text)}
	for {
		t := l.next()
		if t.kind == tokEOF {
			break
		}
		u.tokens = append(u.tokens, t)
	}
	u.query = len(u.tokens) > 0 && isOneOf(u.tokens[0].text, "SELECT", "INSERT", "WITH", "VALUES")
	for i := 0; i < len(u.tokens); {
		i = u.step(i)
	}
	return u.spans
}

// unparsed looks for the secrets of a text.
type unparsed struct {
	text   string
	public func(word, key string) bool
	tokens []token
	query  bool // it begins as a query does
	spans  []Span
}

// step looks at the token at i and returns where to go on.
func (u *unparsed) step(i int) int {
	t := u.tokens[i]
	if t.kind == tokWord && isOneOf(t.text, "WITH", "OPTIONS", "SET") {
		if u.isOp(i+1, "(") {
			return u.options(strings.ToUpper(t.text), i+2)
		}
		if i == 0 && strings.EqualFold(t.text, "SET") {
			return u.options("SET", i+1)
		}
	}
	if from, to, ok := stringContent(t); ok {
		maskURL(u.text, from, to, u.hide)
		if secretName(t.text) && u.isSign(i+1) {
			return u.value(i + 1)
		}
	} else if isName(t) && !u.query && secretName(t.text) && u.isSign(i+1) {
		return u.value(i + 1)
	}
	return i + 1
}

// options goes through a list of options, whose first is at i.
func (u *unparsed) options(word string, i int) int {
	for depth := 1; i < len(u.tokens); {
		// The name of an option is one string, or what stands before the sign.
		begin, key := i, ""
		for i < len(u.tokens) && !u.isSign(i) && !u.isOp(i, ",") && !u.isOp(i, ")") {
			key += u.tokens[i].text
			i++
			if _, _, ok := stringContent(u.tokens[i-1]); ok || secretName(key) {
				break
			}
		}
		if secretName(key) {
			if i = u.value(i); i >= len(u.tokens) {
				return i
			}
		}
		shown := u.public != nil && u.public(word, strings.Trim(key, "'\"`"))
		for ; i < len(u.tokens); i++ {
			t := u.tokens[i]
			if u.isOp(i, "(") {
				depth++
			} else if u.isOp(i, ")") {
				if depth--; depth == 0 {
					return i + 1
				}
			}
			if u.isOp(i, ",") && depth == 1 {
				i++
				break
			}
			from, to, ok := stringContent(t)
			if ok && i > begin+1 && u.isSign(i+1) && u.public != nil && u.public(word, u.text[from:to]) {
				break // a comma is missing
			}
			switch {
			case (ok || isName(t)) && secretName(t.text):
				if i = u.value(i+1) - 1; i >= len(u.tokens)-1 {
					return i + 1
				}
			case ok && shown:
				maskURL(u.text, from, to, u.hide)
				shown = false // it is one string
			case ok:
				u.hide(from, to)
			case !shown && t.kind != tokOp:
				u.hide(t.start, t.end)
			}
		}
		if i == begin { // nothing was taken
			i++
		}
	}
	return i
}

// value hides the value of a secret option, before which there may be signs from i on. When it is not just one
// string, nobody knows where it ends.
func (u *unparsed) value(i int) int {
	for i < len(u.tokens) && u.tokens[i].kind == tokOp && u.tokens[i].text != ")" && u.tokens[i].text != ";" {
		i++
	}
	if i >= len(u.tokens) || u.tokens[i].kind == tokOp {
		return i
	}
	t := u.tokens[i]
	end := i+1 >= len(u.tokens) || u.isOp(i+1, ",") || u.isOp(i+1, ")") || u.isOp(i+1, ";")
	if from, to, ok := stringContent(t); ok && end {
		u.hide(from, to)
		return i + 1
	}
	last := t.start
	for ; i < len(u.tokens); i++ {
		t := u.tokens[i]
		u.hideText(last, t.start) // what looks like a comment
		if from, to, ok := stringContent(t); ok {
			u.hide(from, to)
		} else {
			u.hide(t.start, t.end)
		}
		last = t.end
	}
	u.hideText(last, len(u.text))
	return i
}

func (u *unparsed) hide(from, to int) {
	if from < to {
		u.spans = append(u.spans, Span{from, to})
	}
}

// hideText hides what is between tokens, without the space around it.
func (u *unparsed) hideText(from, to int) {
	s := u.text[from:to]
	from += len(s) - len(strings.TrimLeft(s, " \t\r\n"))
	u.hide(from, from+len(strings.TrimSpace(s)))
}

func (u *unparsed) isOp(i int, op string) bool {
	return i < len(u.tokens) && u.tokens[i].kind == tokOp && u.tokens[i].text == op
}

// isSign reports whether a token may stand between the name of an option and its value.
func (u *unparsed) isSign(i int) bool {
	return i < len(u.tokens) && (u.tokens[i].kind == tokOp || u.tokens[i].kind == tokBad) && strings.ContainsAny(u.tokens[i].text[:1], "=:")
}

func isName(t token) bool { return t.kind == tokWord || t.kind == tokQuoted }

func isOneOf(word string, list ...string) bool {
	for _, w := range list {
		if strings.EqualFold(word, w) {
			return true
		}
	}
	return false
}

// secretName reports whether a name, in quotes or not, is one of a secret, whatever is between its letters.
func secretName(text string) bool {
	return IsSecretKey(strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return -1
	}, text))
}

// MaskUnparsed returns a statement that does not parse with asterisks in the place
// of what [UnparsedSecrets] finds, of the same length and the same lines.
func MaskUnparsed(text string, public func(word, key string) bool) string {
	masked := []byte(text)
	for _, s := range UnparsedSecrets(text, public) {
		for i := s.Start; i < s.End; i++ {
			if masked[i] != '\n' {
				masked[i] = '*'
			}
		}
	}
	return string(masked)
}
