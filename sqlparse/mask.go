package sqlparse

import "strings"

// secretKeys are the parts of option names whose values are secret, without the
// signs that part words.
var secretKeys = [...]string{"password", "passwd", "pwd", "passphrase", "secret", "token", "apikey", "accesskey", "privatekey", "credential"}

// IsSecretKey reports whether the option of that name holds a secret.
func IsSecretKey(key string) bool {
	key = strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(key))
	for _, k := range secretKeys {
		if strings.Contains(key, k) {
			return true
		}
	}
	return false
}

// isReference reports whether the value of a secret option says only where the
// secret is kept: in a variable of the environment, or a file.
func isReference(value string) bool {
	return strings.HasPrefix(value, "env:") || strings.HasPrefix(value, "file:")
}

// MaskSecrets returns the text with every secret replaced by as many asterisks:
// the value of 'key' = 'value' where the key is secret (in WITH, OPTIONS, SET)
// and the value is not just the place of one, env:NAME or file:PATH,
// the password of URLs (user:password@, password=…) in any string. The result
// has the same length, so that all spans stay valid. It works on any text, also
// on one that does not parse.
func MaskSecrets(text string) string {
	var out []byte // a copy, once there is something to mask
	mask := func(from, to int) {
		if from >= to {
			return
		}
		if out == nil {
			out = []byte(text)
		}
		for i := from; i < to; i++ {
			if out[i] != '\n' { // lines stay lines
				out[i] = '*'
			}
		}
	}
	var before, last token // the two tokens before t
	l := lexer{src: text, pos: skipBOM(text)}
	for {
		t := l.next()
		if t.kind == tokEOF {
			break
		}
		if from, to, ok := stringContent(t); ok {
			_, _, key := stringContent(before)
			if key && last.kind == tokOp && last.text == "=" && IsSecretKey(before.text) {
				if !isReference(text[from:to]) {
					mask(from, to)
				}
			} else {
				maskURL(text, from, to, mask)
			}
		}
		before, last = last, t
	}
	if out == nil {
		return text
	}
	return string(out)
}

// Masked reports, for MaskSpans, the bytes of a piece of text to mask.
type Masked func(piece string) []Span

// MaskSpans returns the text with the bytes replaced by asterisks that the
// functions name in its strings and in its comments; names, numbers and keywords
// stay. A nil function leaves its pieces alone. The result has the same length
// and the same lines.
func MaskSpans(text string, inStrings, inComments Masked) string {
	var out []byte
	apply := func(f Masked, from, to int) {
		if f == nil || from >= to {
			return
		}
		for _, s := range f(text[from:to]) {
			if out == nil {
				out = []byte(text)
			}
			for i := from + s.Start; i < from+s.End; i++ {
				if out[i] != '\n' {
					out[i] = '*'
				}
			}
		}
	}
	l := lexer{src: text, pos: skipBOM(text)}
	for last := 0; ; {
		t := l.next()
		apply(inComments, last, t.start) // comments and spaces
		if t.kind == tokEOF {
			break
		}
		if from, to, ok := stringContent(t); ok {
			apply(inStrings, from, to)
		} else if t.kind == tokBad {
			apply(inComments, t.start, t.end)
		}
		last = t.end
	}
	if out == nil {
		return text
	}
	return string(out)
}

// stringContent returns what is between the quotes of a string, also of one
// that is not closed or is in double quotes.
func stringContent(t token) (from, to int, ok bool) {
	switch t.kind {
	case tokString, tokUnicode:
	case tokBad:
		if strings.HasPrefix(t.text, "/*") || t.text[0] == '`' {
			return 0, 0, false
		}
	default:
		return 0, 0, false
	}
	q := strings.IndexAny(t.text, `'"`)
	if q < 0 {
		return 0, 0, false
	}
	from, to = t.start+q+1, t.end
	if t.kind != tokBad || isClosed(t.text[q:]) {
		to--
	}
	return from, to, true
}

// maskURL masks user:PASSWORD@ and secret parameters of a URL in text[from:to].
func maskURL(text string, from, to int, mask func(from, to int)) {
	s := text[from:to]
	scheme := strings.Index(s, "://")
	if scheme < 0 && !strings.HasPrefix(s, "jdbc:") {
		return
	}
	if scheme >= 0 {
		// A password may hold any character: all up to the last @ is taken for it.
		rest := s[scheme+3:]
		if at := strings.LastIndexByte(rest, '@'); at >= 0 {
			if colon := strings.IndexByte(rest[:at], ':'); colon >= 0 {
				mask(from+scheme+3+colon+1, from+scheme+3+at)
			}
		}
	}
	for i := 0; i < len(s); {
		n := strings.IndexAny(s[i:], "?&;")
		if n < 0 {
			break
		}
		i += n + 1
		separator := "&"
		if s[i-1] == ';' {
			separator = ";"
		}
		key, _, ok := strings.Cut(s[i:], "=")
		if !ok || strings.ContainsAny(key, "?&;") || !IsSecretKey(key) {
			continue
		}
		value := i + len(key) + 1
		stop := strings.Index(s[value:], separator)
		if stop < 0 {
			stop = len(s) - value
		}
		mask(from+value, from+value+stop)
	}
}
