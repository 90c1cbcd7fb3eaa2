package mysql

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/connector"
)

// maxName is the most characters of a name.
const maxName = 64

// quote writes a name, which checkName has accepted or which the server itself gave, as an identifier.
func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// qualified writes database.table.
func qualified(database, table string) string { return quote(database) + "." + quote(table) }

func quoteAll(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = quote(n)
	}
	return strings.Join(quoted, ", ")
}

// literal writes a text as a string literal. The session's sql_mode has backslashes escape, see setup.
func literal(text string) string { return string(appendText(nil, []byte(text))) }

// appendText appends a text literal.
func appendText(dst, text []byte) []byte {
	dst = append(dst, '\'')
	from := 0
	for i, c := range text {
		if c > '\\' || c != '\'' && c != '\\' && c != 0 && c != '\n' && c != '\r' && c != 0x1a {
			continue
		}
		dst = append(dst, text[from:i]...)
		from = i + 1
		switch c {
		case 0:
			dst = append(dst, '\\', '0')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case 0x1a:
			dst = append(dst, '\\', 'Z')
		default:
			dst = append(dst, '\\', c)
		}
	}
	return append(append(dst, text[from:]...), '\'')
}

// checkName says what keeps a name from being one on the server.
func checkName(what, name string) error {
	fault := nameFault(name)
	if fault == "" {
		return nil
	}
	return fmt.Errorf("%s %s: %s", what, connector.QuoteName(name), fault)
}

func nameFault(name string) string {
	switch {
	case name == "":
		return "MySQL has no empty names"
	case !utf8.ValidString(name):
		return "the name is not valid UTF-8"
	case strings.ContainsRune(name, 0):
		return "MySQL names cannot have a NUL character"
	case strings.ContainsRune(" \t\n\v\f\r", rune(name[len(name)-1])):
		return "MySQL names cannot end with a blank or the end of a line"
	case utf8.RuneCountInString(name) > maxName:
		return fmt.Sprintf("the name has %d characters, and MySQL takes %d at most", utf8.RuneCountInString(name), maxName)
	}
	for _, r := range name {
		if r > 0xffff {
			return fmt.Sprintf("MySQL names cannot have the character %q", r)
		}
	}
	return ""
}

// ours is what our own names begin with; the server may fold case.
const ours = "_sluice"

func isOurs(name string) bool {
	return len(name) >= len(ours) && strings.EqualFold(name[:len(ours)], ours)
}

// checkNew says what keeps a table from being made under a name.
func checkNew(name string) error {
	if isOurs(name) {
		return fmt.Errorf("table %s: names that begin with %s are kept for Sluice's own", connector.QuoteName(name), ours)
	}
	return checkName("table", name)
}
