package expr

import (
	"regexp"
	"strings"
)

// compileSimilar turns a SIMILAR TO pattern into a regular expression for the whole text. % and _ mean
// what they do in LIKE; | * + ? {m,n} ( ) and [ ] what they do in regular expressions; all else itself.
func compileSimilar(pattern string, escape rune) (*regexp.Regexp, error) {
	bad := func(why string) error {
		return failure("SIMILAR TO pattern '"+shorten([]byte(pattern))+"': "+why, "")
	}
	var b strings.Builder
	b.WriteString(`\A(?s:`)
	rs := []rune(pattern)
	for i := 0; i < len(rs); i++ {
		switch c := rs[i]; {
		case c == escape:
			i++
			if i == len(rs) {
				return nil, bad("the escape character stands at the end")
			}
			b.WriteString(regexp.QuoteMeta(string(rs[i])))
		case c == '%':
			b.WriteString(".*")
		case c == '_':
			b.WriteString(".")
		case c == '(':
			b.WriteString("(?:")
		case strings.ContainsRune("|*+?{})", c):
			b.WriteRune(c)
		case c == '[':
			end := bracketEnd(rs, i)
			if end < 0 {
				return nil, bad("a [ is not closed")
			}
			writeBracket(&b, rs[i+1:end])
			i = end
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	b.WriteString(`)\z`)
	re, err := regexp.Compile(b.String())
	if err != nil {
		return nil, bad("it is no valid pattern")
	}
	return re, nil
}

// bracketEnd returns where the bracket expression that begins at rs[i] is closed, or -1.
func bracketEnd(rs []rune, i int) int {
	depth := 0
	for ; i < len(rs); i++ {
		switch rs[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// writeBracket writes what stands between the outer brackets: ranges, characters and [:CLASS:].
func writeBracket(b *strings.Builder, rs []rune) {
	b.WriteByte('[')
	for i := 0; i < len(rs); i++ {
		c := rs[i]
		if c == '[' {
			end := bracketEnd(rs, i)
			b.WriteString(strings.ToLower(string(rs[i : end+1])))
			i = end
			continue
		}
		if c == '\\' {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	b.WriteByte(']')
}
