package session

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/sqlparse"
)

// help answers HELP and HELP topic. A topic is a statement or the words it begins with, a function, a data
// type, a connector, a format or a catalog type, an option or the part of its key before a dot; FUNCTIONS,
// OPTIONS, STATEMENTS, TYPES, CONNECTORS, FORMATS and CATALOG TYPES list what there is.
func (s *Session) help(st *sqlparse.Help) (*Result, error) {
	topic := strings.Trim(st.Topic, "'\"`")
	if topic == "" {
		return &Result{Kind: Help, Message: helpText()}, nil
	}
	words := strings.Fields(strings.ToUpper(topic))
	var parts []string
	switch strings.Join(words, " ") {
	case "FUNCTIONS", "FUNCTION":
		parts = []string{helpFunctions()}
	case "OPTIONS", "OPTION":
		parts = []string{s.helpOptions("")}
	case "STATEMENTS", "STATEMENT":
		parts = []string{helpStatements(sqlparse.Forms())}
	case "TYPES", "DATA TYPES", "DATA TYPE":
		parts = []string{helpTypes()}
	default:
		parts = s.helpOn(topic, words)
	}
	if len(parts) > 0 {
		return &Result{Kind: Help, Message: strings.TrimRight(strings.Join(parts, "\n"), "\n")}, nil
	}
	return nil, &sqlparse.Error{Span: st.TopicSpan, Msg: "there is no help on " + topic, Hint: s.helpHint(topic, words)}
}

// helpOn returns what there is on a topic, each part ending in a newline.
func (s *Session) helpOn(topic string, words []string) []string {
	var parts []string
	if forms := formsOf(words); len(forms) > 0 {
		parts = append(parts, helpStatements(forms))
	}
	if f, ok := findFunction(strings.TrimSuffix(strings.Join(words, " "), "()")); ok {
		parts = append(parts, helpFunction(f))
	}
	if c, ok := findClause(strings.Join(words, " ")); ok {
		parts = append(parts, c.help())
	}
	for _, t := range findTypes(strings.Join(words, " ")) {
		parts = append(parts, t.help())
	}
	parts = append(parts, s.helpDeclared(strings.Join(strings.Fields(topic), " "))...)
	if text := s.helpOptions(topic); text != "" {
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		if forms := formsWith(words); len(forms) > 0 {
			parts = append(parts, helpStatements(forms))
		}
	}
	return parts
}

// formsWith returns the few forms of statement that some words are a clause of.
func formsWith(words []string) []sqlparse.Form {
	var found []sqlparse.Form
	for _, f := range sqlparse.Forms() {
		list := strings.FieldsFunc(f.Syntax, func(r rune) bool { return !isWord(r) })
		for i := range list {
			if beginsWith(list[i:], words) && f.Supported() {
				found = append(found, f)
				break
			}
		}
	}
	if len(found) > 4 {
		return nil
	}
	return found
}

// helpText lists the statements that can be run.
func helpText() string {
	var b strings.Builder
	b.WriteString("Statements end with ; and may span lines.\n\n")
	width := 0
	for _, f := range families() {
		width = max(width, utf8.RuneCountInString(f.syntax))
	}
	for _, f := range families() {
		b.WriteString("  " + padded(f.syntax, width) + "  " + f.does + "\n")
	}
	b.WriteString("\nHELP says more: HELP CREATE TABLE, HELP SUBSTRING, HELP csv, HELP DECIMAL, HELP sluice.format.\n" +
		"HELP STATEMENTS, FUNCTIONS, TYPES, CONNECTORS, FORMATS, CATALOG TYPES and OPTIONS list all.")
	return b.String()
}

// formsOf returns the forms of statement that begin with some words, as they are named or as they are
// written: DESC for DESCRIBE, optional words present or not.
func formsOf(words []string) []sqlparse.Form {
	var found []sqlparse.Form
	for _, f := range sqlparse.Forms() {
		name := strings.Fields(f.Name)
		if beginsWith(name, words) || leadBeginsWith(strings.Fields(f.Lead), words) {
			found = append(found, f)
		}
	}
	return found
}

func beginsWith(list, words []string) bool {
	return len(words) <= len(list) && slices.Equal(list[:len(words)], words)
}

// leadBeginsWith matches words with the leading words of a form: a {B|C} stands for either, [A] may be
// missing.
func leadBeginsWith(lead, words []string) bool {
	if len(words) == 0 {
		return true
	}
	if len(lead) == 0 {
		return false
	}
	word := strings.Trim(lead[0], "[]{}")
	if slices.Contains(strings.Split(word, "|"), words[0]) && leadBeginsWith(lead[1:], words[1:]) {
		return true
	}
	return (lead[0][0] == '[' || strings.HasSuffix(lead[0], "]")) && leadBeginsWith(lead[1:], words)
}

// helpStatements prints the grammar of forms, and of those that cannot be run that they cannot.
func helpStatements(forms []sqlparse.Form) string {
	statements := statementsByForm()
	var b strings.Builder
	var later, whys []string
	reasons := map[string][]string{} // forms by what they are refused for
	for _, f := range forms {
		switch {
		case f.Why != "":
			if reasons[f.Why] == nil {
				whys = append(whys, f.Why)
			}
			reasons[f.Why] = append(reasons[f.Why], f.Name)
		case !f.Supported() || statements[f.Name].refusal != "":
			later = append(later, f.Name)
		default:
			b.WriteString(wrapped(f.Syntax, "  ", "      "))
		}
	}
	if b.Len() > 0 && len(later)+len(reasons) > 0 {
		b.WriteString("\n")
	}
	if len(later) > 0 {
		b.WriteString(wrapped("Not supported yet: "+strings.Join(later, ", "), "  ", "      "))
	}
	for _, why := range whys {
		b.WriteString(wrapped("Not supported: "+strings.Join(reasons[why], ", ")+": "+why, "  ", "      "))
	}
	return b.String()
}

func helpFunction(f function) string {
	var b strings.Builder
	b.WriteString(wrapped(f.syntax, "  ", "      "))
	b.WriteString(wrapped(f.doc, "      ", "      "))
	if f.example != "" {
		b.WriteString(wrapped(f.example+" is "+f.result, "      ", "      "))
	}
	if len(f.names) > 1 {
		b.WriteString(wrapped("also called "+strings.Join(f.names[1:], ", "), "      ", "      "))
	}
	return b.String()
}

// helpFunctions lists the names of the functions, group by group.
func helpFunctions() string {
	groups := map[string][]string{}
	for _, f := range allFunctions() {
		if name := f.names[0]; name != "NEG" { // written - as the difference is
			groups[f.group] = append(groups[f.group], name)
		}
	}
	var b strings.Builder
	for _, g := range slices.Sorted(maps.Keys(groups)) {
		b.WriteString(wrapped(fmt.Sprintf("%-12s %s", g, strings.Join(groups[g], "  ")), "  ", strings.Repeat(" ", 15)))
	}
	b.WriteString("\nHELP name says what a function returns.\n")
	return b.String()
}

// helpOptions prints the option of a key, or those whose keys begin with it; "" when there are none.
func (s *Session) helpOptions(topic string) string {
	topic = strings.ToLower(topic)
	var found []Option
	if o, ok := s.options.lookup(topic); ok {
		found = []Option{o}
	} else {
		for _, o := range Options() {
			if topic == "" || strings.HasPrefix(o.Key, strings.TrimSuffix(topic, ".")+".") {
				found = append(found, o)
			}
		}
		sort.Slice(found, func(i, j int) bool { return found[i].Key < found[j].Key })
	}
	var b strings.Builder
	for _, o := range found {
		value, _ := s.options.get(o.Key)
		if value == "" {
			value = "(empty)"
		}
		fmt.Fprintf(&b, "  %s  %s\n", o.Key, value)
		b.WriteString(wrapped(o.Doc, "      ", "      "))
		if len(found) == 1 || o.Allowed != nil {
			b.WriteString(wrapped("values: "+o.Values(), "      ", "      "))
		}
	}
	if len(found) == 1 {
		if o := found[0]; o.Startup {
			fmt.Fprintf(&b, "      It is set when the shell starts: sluice -D %s=…\n", o.Key)
		} else {
			fmt.Fprintf(&b, "      SET '%s' = '…' changes it, RESET '%s' takes that back.\n", o.Key, o.Key)
		}
	}
	return b.String()
}

// helpHint says what a topic was meant to be.
func (s *Session) helpHint(topic string, words []string) string {
	for n := len(words) - 1; n > 0; n-- {
		if len(formsOf(words[:n])) > 0 {
			return "HELP " + strings.Join(words[:n], " ") + " shows how it is written"
		}
	}
	if c := connector.Closest(topic, s.declaredNames()); c != "" && strings.ContainsAny(c, ".-") {
		return "did you mean HELP " + c + "?"
	}
	if len(words) == 1 && len(topic) > 2 {
		if hint := functionHint(words[0]); hint != lastResort {
			return hint
		}
	}
	names := s.declaredNames()
	for _, f := range sqlparse.Forms() {
		first, _, _ := strings.Cut(f.Name, " ")
		names = append(names, f.Name, first)
	}
	for _, o := range Options() {
		names = append(names, o.Key)
	}
	if c := connector.Closest(topic, names); c != "" {
		return "did you mean HELP " + c + "?"
	}
	return "HELP lists the statements, HELP FUNCTIONS the functions, HELP OPTIONS the options, HELP CONNECTORS the connectors, HELP TYPES the types"
}

// helpWidth is the length of a line of help.
const helpWidth = 100

// wrapped breaks a text into lines, the first after one indent, the others after another. What stands in
// brackets stays together where it is not long.
func wrapped(text, first, rest string) string {
	var b strings.Builder
	line, indent := "", first
	for _, word := range units(text) {
		if line != "" && utf8.RuneCountInString(indent)+utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > helpWidth {
			b.WriteString(indent + strings.TrimRight(line, " ") + "\n")
			line, indent = word, rest
			continue
		}
		if line != "" || word == "" {
			line += " "
		}
		line += word
	}
	b.WriteString(indent + strings.TrimRight(line, " ") + "\n")
	return b.String()
}

// units splits a text at its blanks, but for those in brackets that are no longer than half a line.
func units(text string) []string {
	var list []string
	depth, start := 0, 0
	end := func(i int) {
		unit := text[start:i]
		if utf8.RuneCountInString(unit) > helpWidth/2 {
			list = append(list, strings.Split(unit, " ")...)
		} else {
			list = append(list, unit)
		}
		start = i + 1
	}
	for i, r := range text {
		switch r {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ' ':
			if depth <= 0 {
				end(i)
			}
		}
	}
	end(len(text))
	return list
}

// padded fills a text up with blanks to a width.
func padded(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}
