package filestore

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/catalog"
)

// The files of the catalog store are YAML of one kind: a map of texts at the left margin.
//
//	# comment: "what COMMENT said"
//	base-url: "jdbc:sqlite:/data/shop.db"
//	type: "jdbc"
//
// That is what Flink's file store writes too, through a library that may also break a long text over lines.
// Read is: keys and values plain, in single or in double quotes; quoted values over several lines, as YAML
// folds them; comments, blank lines and a --- at the head. Everything else of YAML is refused by name and
// line: what these files are for has no need of it, and a misread catalog is worse than none.

const commentMark = "# comment: "

// printProperties returns the file of a catalog.
func printProperties(d catalog.Descriptor) (string, error) {
	var b strings.Builder
	put := func(name, key, value string) error {
		if !utf8.ValidString(key) || !utf8.ValidString(value) {
			return fmt.Errorf("the value of %s is not valid UTF-8, which is all that can be kept", strconv.Quote(name))
		}
		b.WriteString(key)
		writeQuoted(&b, value)
		b.WriteByte('\n')
		return nil
	}
	if d.Comment != "" {
		if err := put("COMMENT", commentMark, d.Comment); err != nil {
			return "", err
		}
	}
	for _, k := range slices.Sorted(maps.Keys(d.Properties)) {
		var key strings.Builder
		if plainKey(k) {
			key.WriteString(k)
		} else {
			writeQuoted(&key, k)
		}
		if err := put(k, key.String()+": ", d.Properties[k]); err != nil {
			return "", err
		}
	}
	if len(d.Properties) == 0 {
		b.WriteString("{}\n")
	}
	return b.String(), nil
}

// plainKey reports whether a key needs no quotes: as those of options do not.
func plainKey(k string) bool {
	for i, r := range k {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || !(r >= '0' && r <= '9' || strings.ContainsRune("._-", r))) {
			return false
		}
	}
	switch strings.ToLower(k) {
	case "", "y", "n", "yes", "no", "on", "off", "true", "false", "null": // what YAML takes for no text
		return false
	}
	return true
}

// writeQuoted writes a text in double quotes, without any character that does not show.
func writeQuoted(b *strings.Builder, s string) {
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == ' ' || unicode.IsPrint(r) && r != 0xFEFF:
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(b, `\u%04X`, r)
		default:
			fmt.Fprintf(b, `\U%08X`, r)
		}
	}
	b.WriteByte('"')
}

// parseProperties reads a file of the store.
func parseProperties(file, text string) (properties map[string]string, comment string, err error) {
	p := &yamlReader{file: file, text: strings.ReplaceAll(text, "\r\n", "\n"), line: 1}
	if !utf8.ValidString(text) {
		return nil, "", p.fault("the file is not valid UTF-8")
	}
	p.text = strings.TrimPrefix(p.text, "\ufeff")
	properties = map[string]string{}
	for first := true; p.text != ""; {
		line, _, _ := strings.Cut(p.text, "\n")
		switch trimmed := strings.TrimRight(line, " \t"); {
		case strings.TrimLeft(trimmed, " \t") == "":
			p.skipLine()
		case strings.HasPrefix(line, commentMark+`"`) && first && comment == "":
			p.text = p.text[len(commentMark):]
			if comment, err = p.quoted(false); err == nil {
				err = p.endOfLine()
			}
			if err != nil {
				return nil, "", err
			}
		case strings.HasPrefix(strings.TrimLeft(line, " \t"), "#"):
			p.skipLine()
		case trimmed == "---" && first:
			first = false
			p.skipLine()
		case trimmed == "{}" && first && len(properties) == 0:
			p.skipLine()
			first = false
		default:
			first = false
			if err := p.entry(properties); err != nil {
				return nil, "", err
			}
		}
	}
	return properties, comment, nil
}

// yamlReader stands before the rest of a file.
type yamlReader struct {
	file string
	text string
	line int
}

func (p *yamlReader) fault(format string, args ...any) error {
	return &Error{File: p.file, Line: p.line, Msg: fmt.Sprintf(format, args...)}
}

func (p *yamlReader) skipLine() {
	_, p.text, _ = strings.Cut(p.text, "\n")
	p.line++
}

// endOfLine skips blanks and a comment up to the end of the line.
func (p *yamlReader) endOfLine() error {
	rest, _, _ := strings.Cut(p.text, "\n")
	trimmed := strings.TrimLeft(rest, " \t")
	if trimmed != "" && (trimmed[0] != '#' || trimmed == rest) {
		return p.fault("nothing may follow the value on its line")
	}
	p.skipLine()
	return nil
}

// entry reads one key with its value.
func (p *yamlReader) entry(into map[string]string) error {
	if p.text[0] == ' ' || p.text[0] == '\t' {
		return p.fault("a line that is indented, where key: \"value\" is wanted at the left margin")
	}
	key, err := p.key()
	if err != nil {
		return err
	}
	if _, twice := into[key]; twice {
		return p.fault("the key '%s' stands there twice", key)
	}
	p.text = strings.TrimLeft(p.text, " \t")
	var value string
	switch {
	case p.text == "" || p.text[0] == '\n' || p.text[0] == '#':
		return p.fault("the key '%s' has no value on its line; an empty one is written \"\"", key)
	case p.text[0] == '"':
		value, err = p.quoted(true)
	case p.text[0] == '\'':
		value, err = p.single(true)
	default:
		value, err = p.plain(key)
	}
	if err == nil {
		err = p.endOfLine()
	}
	if err != nil {
		return err
	}
	into[key] = value
	return nil
}

// key reads up to behind the colon.
func (p *yamlReader) key() (key string, err error) {
	switch p.text[0] {
	case '"':
		key, err = p.quoted(false)
	case '\'':
		key, err = p.single(false)
	default:
		line, _, _ := strings.Cut(p.text, "\n")
		n := strings.Index(line+" ", ": ")
		if n < 0 || !plainStart(line) {
			return "", p.fault("key: \"value\" is wanted")
		}
		key = strings.TrimRight(line[:n], " ")
		if strings.Contains(key, " #") || strings.ContainsAny(key, "\t\"'{}[],") {
			return "", p.fault("a key with such characters stands in quotes")
		}
		p.text = p.text[n:]
	}
	if err != nil {
		return "", err
	}
	p.text = strings.TrimLeft(p.text, " ")
	if !strings.HasPrefix(p.text, ":") {
		return "", p.fault("a colon is wanted after the key '%s'", key)
	}
	p.text = p.text[1:]
	if p.text != "" && p.text[0] != ' ' && p.text[0] != '\n' {
		return "", p.fault("a blank is wanted after the colon")
	}
	if key == "" {
		return "", p.fault("a key is empty")
	}
	return key, nil
}

// plainStart reports whether a text without quotes may begin so.
func plainStart(s string) bool {
	return s != "" && !strings.ContainsRune("!&*-?|>%@`{}[],#:\t ", rune(s[0]))
}

// plain reads a value without quotes.
func (p *yamlReader) plain(key string) (string, error) {
	line, _, _ := strings.Cut(p.text, "\n")
	value := line
	if n := strings.Index(line, " #"); n >= 0 {
		value = line[:n]
	}
	value = strings.TrimRight(value, " \t")
	switch {
	case strings.ContainsRune("|>", rune(value[0])):
		return "", p.fault("the value of '%s' is a block of lines; write it in double quotes, with \\n for the end of a line", key)
	case value[0] == '-' && len(value) > 1 && value[1] != ' ': // a negative number, for one
	case !plainStart(value):
		return "", p.fault("the value of '%s' begins with %q, which means something else in YAML; write it in double quotes", key, value[:1])
	}
	if strings.Contains(value, ": ") || strings.HasSuffix(value, ":") || strings.ContainsAny(value, "\t\r") {
		return "", p.fault("the value of '%s' has characters that need double quotes", key)
	}
	switch strings.ToLower(value) {
	case "null", "~":
		return "", p.fault("the key '%s' has no value; an empty one is written \"\"", key)
	}
	next := p.text[len(line):]
	p.text = p.text[len(value):]
	if len(next) > 1 && (next[1] == ' ' || next[1] == '\t') {
		if rest, _, _ := strings.Cut(next[1:], "\n"); strings.TrimSpace(rest) != "" && strings.TrimSpace(rest)[0] != '#' {
			p.line++
			return "", p.fault("the value of '%s' goes on in a second line; write it in double quotes", key)
		}
	}
	return value, nil
}

// quoted reads a text in double quotes, over several lines where that is allowed.
func (p *yamlReader) quoted(lines bool) (string, error) {
	var b strings.Builder
	written := 0 // up to here blanks were written as such, and are no end of a line's
	rest := p.text[1:]
	for rest != "" {
		switch c := rest[0]; {
		case c == '"':
			p.text = rest[1:]
			return b.String(), nil
		case c == '\\' && strings.HasPrefix(rest, "\\\n") && lines:
			p.line++
			rest = strings.TrimLeft(rest[2:], " \t")
		case c == '\\':
			r, n, err := escape(rest)
			if err != nil {
				return "", p.fault("%s", err)
			}
			b.WriteRune(r)
			written = b.Len()
			rest = rest[n:]
		case c == '\n':
			var err error
			if rest, err = p.fold(&b, written, rest, lines); err != nil {
				return "", err
			}
		case c < ' ' && c != '\t' || c == 0x7f:
			return "", p.fault("a control character (%#02x) in a value; write it as \\u%04X", c, c)
		default:
			b.WriteByte(c)
			rest = rest[1:]
		}
	}
	return "", p.fault("the quote \" is not closed")
}

// single reads a text in single quotes, in which only a doubled quote is special.
func (p *yamlReader) single(lines bool) (string, error) {
	var b strings.Builder
	rest := p.text[1:]
	for rest != "" {
		switch c := rest[0]; {
		case strings.HasPrefix(rest, "''"):
			b.WriteByte('\'')
			rest = rest[2:]
		case c == '\'':
			p.text = rest[1:]
			return b.String(), nil
		case c == '\n':
			var err error
			if rest, err = p.fold(&b, 0, rest, lines); err != nil {
				return "", err
			}
		case c < ' ' && c != '\t' || c == 0x7f:
			return "", p.fault("a control character (%#02x) in a value; write it in double quotes, as \\u%04X", c, c)
		default:
			b.WriteByte(c)
			rest = rest[1:]
		}
	}
	return "", p.fault("the quote ' is not closed")
}

// fold reads the end of a line within quotes: one is a blank, and each empty line after it is a line's end.
// A line that goes on must be indented, or a forgotten quote would swallow what follows.
func (p *yamlReader) fold(b *strings.Builder, written int, rest string, lines bool) (string, error) {
	if !lines {
		return "", p.fault("a quote is not closed on its line")
	}
	so := b.String()
	b.Reset()
	b.WriteString(so[:written])
	b.WriteString(strings.TrimRight(so[written:], " \t"))
	empty := 0
	rest = rest[1:]
	p.line++
	for {
		line, after, more := strings.Cut(rest, "\n")
		if strings.TrimLeft(line, " \t") != "" {
			if line[0] != ' ' && line[0] != '\t' {
				return "", p.fault("the value of the line before is not closed, and this one is not indented")
			}
			break
		}
		if !more {
			return "", p.fault("a quote is not closed")
		}
		empty++
		p.line++
		rest = after
	}
	if empty == 0 {
		b.WriteByte(' ')
	}
	b.WriteString(strings.Repeat("\n", empty))
	return strings.TrimLeft(rest, " \t"), nil
}

// escape reads a character written with a backslash, and returns how long that is.
func escape(s string) (r rune, n int, err error) {
	if len(s) < 2 {
		return 0, 0, errors.New("a backslash at the end")
	}
	switch s[1] {
	case '0':
		return 0, 2, nil
	case 'a':
		return '\a', 2, nil
	case 'b':
		return '\b', 2, nil
	case 't', '\t':
		return '\t', 2, nil
	case 'n':
		return '\n', 2, nil
	case 'v':
		return '\v', 2, nil
	case 'f':
		return '\f', 2, nil
	case 'r':
		return '\r', 2, nil
	case 'e':
		return 0x1b, 2, nil
	case ' ', '"', '/', '\\':
		return rune(s[1]), 2, nil
	case 'N':
		return 0x85, 2, nil
	case '_':
		return 0xa0, 2, nil
	case 'L':
		return 0x2028, 2, nil
	case 'P':
		return 0x2029, 2, nil
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[1]]
	if digits == 0 {
		return 0, 0, fmt.Errorf(`the escape \%c is not one of YAML's`, s[1])
	}
	if len(s) < 2+digits {
		return 0, 0, fmt.Errorf(`the escape \%c wants %d hexadecimal digits`, s[1], digits)
	}
	v, err := strconv.ParseUint(s[2:2+digits], 16, 32)
	if err != nil {
		return 0, 0, fmt.Errorf(`the escape \%c wants %d hexadecimal digits`, s[1], digits)
	}
	// Beyond the first 65,536 characters a text may be written as two halves.
	if high := rune(v); digits == 4 && high >= 0xd800 && high < 0xdc00 && strings.HasPrefix(s[6:], `\u`) && len(s) >= 12 {
		if low, err := strconv.ParseUint(s[8:12], 16, 32); err == nil && low >= 0xdc00 && low < 0xe000 {
			return 0x10000 + (high-0xd800)<<10 + rune(low) - 0xdc00, 12, nil
		}
	}
	if v > unicode.MaxRune || !utf8.ValidRune(rune(v)) {
		return 0, 0, fmt.Errorf(`the escape %s is no character`, s[:2+digits])
	}
	return rune(v), 2 + digits, nil
}
