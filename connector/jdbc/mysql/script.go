package mysql

import "strings"

// The server tells how a table is defined by the statement that would make it (SHOW CREATE TABLE). It has names in
// back-quotes, texts in quotes, and either may hold anything.

// body is what follows CREATE TABLE `name` (, "" when the statement is none of that form.
func body(statement string) string {
	from := strings.IndexByte(statement, '`')
	if from < 0 {
		return ""
	}
	rest, ok := strings.CutPrefix(statement[from+quoted(statement[from:]):], " (")
	if !ok {
		return ""
	}
	return rest
}

// quoted is the length of the quoted text that s begins with.
func quoted(s string) int {
	mark := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && mark == '\'':
			i++
		case s[i] == mark && i+1 < len(s) && s[i+1] == mark:
			i++
		case s[i] == mark:
			return i + 1
		}
	}
	return len(s)
}

// columnDefinitions returns what each column's line says behind its name.
func columnDefinitions(statement string) map[string]string {
	defs := map[string]string{}
	for _, line := range parts(body(statement)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] != '`' {
			continue // a key or a constraint
		}
		n := quoted(line)
		defs[strings.ReplaceAll(line[1:n-1], "``", "`")] = strings.TrimSpace(line[n:])
	}
	return defs
}

// parts cuts a list at its commas, up to the bracket that ends it.
func parts(s string) (list []string) {
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '`', '\'', '"':
			i += quoted(s[i:]) - 1
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return append(list, s[from:i])
			}
		case ',':
			if depth == 0 {
				list, from = append(list, s[from:i]), i+1
			}
		}
	}
	return append(list, s[from:])
}

// withComment puts another comment into a column's definition, before a CHECK, which has to be the last.
func withComment(def, text string) string {
	var b strings.Builder
	depth, done := 0, text == ""
	put := func() {
		if !done {
			done = true
			b.WriteString(" COMMENT " + literal(text))
		}
	}
	for i := 0; i < len(def); {
		rest := def[i:]
		n := 1
		switch {
		case rest[0] == '`' || rest[0] == '\'' || rest[0] == '"':
			n = quoted(rest)
		case rest[0] == '(':
			depth++
		case rest[0] == ')':
			depth--
		case depth == 0 && strings.HasPrefix(rest, " COMMENT '"):
			put()
			i += len(" COMMENT ")
			i += quoted(def[i:])
			continue
		case depth == 0 && strings.HasPrefix(rest, " CHECK ("):
			put()
		}
		b.WriteString(rest[:n])
		i += n
	}
	put()
	return b.String()
}
