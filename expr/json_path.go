package expr

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// jsonPath is a compiled path: [strict | lax] $.name, ['name'], [0], [-1], [0, 2], [1:3], .*, [*], ..name,
// [?(condition)], and a function such as .length() at the end. Its meaning is that of the path library
// that Flink uses, which no Go library shares: a path that may lead to several values (indefinite) gives
// an array of them, a filter on an object tests the object itself, and only a definite step can fail.
type jsonPath struct {
	text     string
	lax      bool
	moded    bool // lax or strict is written
	steps    []jsonStep
	definite bool
}

type jsonStepKind uint8

const (
	jsonNames    jsonStepKind = iota // .name, ['a', 'b']
	jsonIndexes                      // [0], [0, -1]
	jsonSlice                        // [from:to]
	jsonAll                          // .*, [*]
	jsonScan                         // .., the next step at every array and object below
	jsonFilter                       // [?(…)]
	jsonFunction                     // .length()
)

type jsonStep struct {
	kind    jsonStepKind
	names   []string
	indexes []int
	from    *int // of a slice
	to      *int
	cond    jsonCond
	// fn is a function's name; it takes all that the steps before it found when scanned is set.
	fn      string
	arg     int
	scanned bool
	// before says whether the steps before lead to one value at most.
	before bool
	// path is how a message shows the way up to here, this step included.
	path string
}

// jsonPathError is a path that cannot be read.
type jsonPathError struct {
	path string
	at   int // byte
	msg  string
}

func (e *jsonPathError) Error() string {
	if e.at >= len(e.path) {
		return fmt.Sprintf("The JSON path '%s' is wrong at its end: %s", e.path, e.msg)
	}
	return fmt.Sprintf("The JSON path '%s' is wrong at character %d: %s", e.path, utf8.RuneCountInString(e.path[:e.at])+1, e.msg)
}

const jsonPathHint = "paths are '$.name', '$.list[0]', 'lax $.list[*].name', '$.list[?(@.price > 1)].name'"

// compileJSONPath reads a path; the error is a *jsonPathError.
func compileJSONPath(text string) (*jsonPath, error) {
	p := &jsonPath{text: text}
	rest := strings.TrimLeft(text, " \t\r\n")
	for _, mode := range []string{"strict", "lax"} {
		if len(rest) > len(mode) && strings.EqualFold(rest[:len(mode)], mode) && strings.IndexByte(" \t\r\n", rest[len(mode)]) >= 0 {
			p.lax, p.moded = mode == "lax", true
			rest = rest[len(mode):]
			break
		}
	}
	s := &jsonPathScanner{text: strings.TrimRight(text, " \t\r\n"), start: text}
	s.pos = len(text) - len(rest)
	s.blanks()
	if s.end() {
		return nil, s.fail("a path begins with $")
	}
	steps, definite, err := s.path(false)
	if err != nil {
		return nil, err
	}
	if n := len(steps); n > 0 && steps[n-1].kind == jsonFunction && !s.end() {
		return nil, s.fail("nothing may follow the function " + steps[n-1].fn + "()")
	}
	if !s.end() {
		return nil, s.fail(fmt.Sprintf("a step begins with . or [, not with %q", s.rune()))
	}
	p.steps, p.definite = steps, definite
	return p, nil
}

// jsonPathScanner reads paths and the conditions in them.
type jsonPathScanner struct {
	text  string
	start string // as the user wrote it
	pos   int
	depth int
}

func (s *jsonPathScanner) end() bool { return s.pos >= len(s.text) }

func (s *jsonPathScanner) peek() byte {
	if s.end() {
		return 0
	}
	return s.text[s.pos]
}

func (s *jsonPathScanner) rune() rune {
	r, _ := utf8.DecodeRuneInString(s.text[s.pos:])
	return r
}

func (s *jsonPathScanner) blanks() {
	for !s.end() && strings.IndexByte(" \t\r\n", s.text[s.pos]) >= 0 {
		s.pos++
	}
}

func (s *jsonPathScanner) accept(what string) bool {
	if strings.HasPrefix(s.text[s.pos:], what) {
		s.pos += len(what)
		return true
	}
	return false
}

func (s *jsonPathScanner) fail(msg string) error {
	return &jsonPathError{path: s.start, at: s.pos, msg: msg}
}

// path reads $ or @ and the steps. Inside of a condition a path ends where the condition goes on.
func (s *jsonPathScanner) path(inside bool) (steps []jsonStep, definite bool, err error) {
	show := "$"
	switch {
	case s.accept("$"):
	case inside && s.accept("@"):
		show = "@"
	case inside:
		return nil, false, s.fail("a path begins with @ or $")
	case s.peek() == '@':
		return nil, false, s.fail("@ is what a condition tests; a path begins with $")
	case s.peek() == '[':
	default: // name is $.name
		var st jsonStep
		if err := s.name(&st, inside); err != nil {
			return nil, false, err
		}
		steps = append(steps, st)
	}
	for !s.end() {
		var st jsonStep
		switch c := s.peek(); {
		case c == '.':
			if s.accept("..") {
				steps = append(steps, jsonStep{kind: jsonScan})
				if s.peek() == '[' {
					continue
				}
			} else {
				s.pos++
			}
			if s.end() {
				return nil, false, s.fail("a name is missing after the dot")
			}
			if s.accept("*") {
				st.kind = jsonAll
			} else if s.peek() == '[' {
				if err := s.bracket(&st); err != nil {
					return nil, false, err
				}
			} else if err := s.name(&st, inside); err != nil {
				return nil, false, err
			}
		case c == '[':
			if err := s.bracket(&st); err != nil {
				return nil, false, err
			}
		default:
			goto done
		}
		if steps = append(steps, st); st.kind == jsonFunction {
			break
		}
		if len(steps) > maxJSONSteps {
			return nil, false, s.fail(fmt.Sprintf("a path has at most %d steps", maxJSONSteps))
		}
	}
done:
	if n := len(steps); n > 0 && steps[n-1].kind == jsonScan {
		return nil, false, s.fail("a name is missing after ..")
	}
	definite = finishJSONSteps(steps, show)
	if n := len(steps); n > 0 && steps[n-1].kind == jsonFunction && !steps[n-1].before {
		last := &steps[n-1]
		if last.scanned = steps[0].kind == jsonScan; !last.scanned {
			return nil, false, s.fail("the function " + last.fn + "() needs one array before it, and this path leads to several values")
		}
	}
	return steps, definite, nil
}

// finishJSONSteps notes for each step whether those before it are definite, and returns whether all are.
func finishJSONSteps(steps []jsonStep, show string) bool {
	definite := true
	for k := range steps {
		st := &steps[k]
		st.before = definite
		switch st.kind {
		case jsonNames:
			definite = definite && (len(st.names) == 1 || k == len(steps)-1)
			show += "['" + strings.Join(st.names, "','") + "']"
		case jsonIndexes:
			definite = definite && len(st.indexes) == 1
			show += "[" + strconv.Itoa(st.indexes[0]) + "]"
		case jsonFunction:
			definite = true
			show += "." + st.fn + "()"
		default:
			definite = false
		}
		st.path = show
	}
	return definite
}

// name reads .name or .function().
func (s *jsonPathScanner) name(st *jsonStep, inside bool) error {
	from := s.pos
	for !s.end() {
		c := s.peek()
		if c == '.' || c == '[' || c == '(' || inside && strings.IndexByte(" )=<>!~&|,", c) >= 0 {
			break
		}
		if c == ' ' || c == '\t' || c == '\n' || c == '\r' {
			return s.fail("a name with blanks is written ['my name']")
		}
		s.pos++
	}
	name := s.text[from:s.pos]
	if s.peek() == '(' {
		return s.function(st, name, from)
	}
	if name == "" {
		return s.fail("a name is missing after the dot")
	}
	st.kind, st.names = jsonNames, []string{name}
	return nil
}

func (s *jsonPathScanner) function(st *jsonStep, name string, from int) error {
	s.pos++
	st.kind, st.fn = jsonFunction, name
	switch name {
	case "length", "size", "min", "max", "sum", "avg", "stddev", "keys", "first", "last":
	case "index":
		s.blanks()
		n, err := s.integer()
		if err != nil {
			return err
		}
		st.arg = n
	case "concat", "append":
		s.pos = from
		return s.fail("the function " + name + "() of paths is not supported; use CONCAT or JSON_ARRAY around JSON_VALUE and JSON_QUERY")
	default:
		s.pos = from
		return s.fail("there is no function " + name + "(); those of paths are length, size, min, max, sum, avg, stddev, keys, first, last, index")
	}
	s.blanks()
	if !s.accept(")") {
		return s.fail("the function " + name + "() takes no arguments here; ) is missing")
	}
	return nil
}

func (s *jsonPathScanner) integer() (int, error) {
	from := s.pos
	s.accept("-")
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		s.pos++
	}
	n, err := strconv.ParseInt(s.text[from:s.pos], 10, 32)
	if err != nil {
		s.pos = from
		return 0, s.fail("an integer belongs here")
	}
	return int(n), nil
}

// bracket reads […].
func (s *jsonPathScanner) bracket(st *jsonStep) error {
	s.pos++
	s.blanks()
	switch c := s.peek(); {
	case c == '\'' || c == '"':
		st.kind = jsonNames
		for {
			name, err := s.quoted()
			if err != nil {
				return err
			}
			st.names = append(st.names, name)
			s.blanks()
			if !s.accept(",") {
				break
			}
			s.blanks()
			if c := s.peek(); c != '\'' && c != '"' {
				return s.fail("a quoted name belongs after the comma")
			}
		}
	case c == '*':
		s.pos++
		st.kind = jsonAll
	case c == '?':
		s.pos++
		s.blanks()
		if s.peek() != '(' {
			return s.fail("a condition is written [?(…)]")
		}
		s.pos++
		cond, err := s.condition()
		if err != nil {
			return err
		}
		s.blanks()
		if !s.accept(")") {
			return s.fail("&&, || or ) belongs here")
		}
		st.kind, st.cond = jsonFilter, cond
	case c == '-' || c == ':' || c >= '0' && c <= '9':
		if err := s.positions(st); err != nil {
			return err
		}
	default:
		return s.fail("a number, a quoted name, * or ?(…) belongs after [")
	}
	s.blanks()
	if !s.accept("]") {
		return s.fail("] is missing")
	}
	return nil
}

// positions reads 0, or 0, 2, or from:to.
func (s *jsonPathScanner) positions(st *jsonStep) error {
	st.kind = jsonIndexes
	for {
		s.blanks()
		if s.accept(":") {
			st.kind = jsonSlice
			s.blanks()
			if c := s.peek(); c == '-' || c >= '0' && c <= '9' {
				n, err := s.integer()
				if err != nil {
					return err
				}
				st.to = &n
			}
			s.blanks()
			if s.peek() == ':' {
				return s.fail("a slice has no step: write [from:to]")
			}
			if st.from == nil && st.to == nil {
				return s.fail("a slice has a begin or an end: write [1:], [:2] or [1:2]")
			}
			return nil
		}
		n, err := s.integer()
		if err != nil {
			return err
		}
		st.indexes = append(st.indexes, n)
		s.blanks()
		if s.peek() == ':' && len(st.indexes) == 1 {
			st.from = &st.indexes[0]
			continue
		}
		if !s.accept(",") {
			return nil
		}
	}
}

// quoted reads '…' or "…"; a backslash takes the next character, or is an escape of JSON.
func (s *jsonPathScanner) quoted() (string, error) {
	from, quote := s.pos, s.peek()
	var b strings.Builder
	for s.pos++; !s.end(); {
		c := s.peek()
		s.pos++
		switch {
		case c == quote:
			return b.String(), nil
		case c != '\\' || s.end():
			b.WriteByte(c)
			continue
		}
		c = s.peek()
		s.pos++
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			n, err := strconv.ParseUint(s.text[s.pos:min(s.pos+4, len(s.text))], 16, 16)
			if err != nil || s.pos+4 > len(s.text) {
				return "", s.fail("four hexadecimal digits belong after \\u")
			}
			s.pos += 4
			b.WriteRune(rune(n))
			continue
		}
		b.WriteByte(c)
	}
	s.pos = from
	return "", s.fail("this quote is not closed")
}

// jsonCond is a condition of a filter.
type jsonCond interface {
	holds(ev *jsonEval, at jsonItem) bool
}

type (
	jsonAnd []jsonCond
	jsonOr  []jsonCond
	jsonNot struct{ cond jsonCond }
	// jsonExists is a path alone.
	jsonExists struct{ path jsonOperand }
	// jsonCompare is a comparison.
	jsonCompare struct {
		op          string
		left, right jsonOperand
		re          *regexp.Regexp // of =~
	}
)

// jsonOperand is a path from the value at hand or from the root, or a constant.
type jsonOperand struct {
	isPath, root bool
	steps        []jsonStep
	definite     bool
	doc          *jsonDoc // a constant
}

// maxJSONSteps is how many steps a path may have: no document is deeper, but for two of each ..
const maxJSONSteps = 2 * maxJSONDepth

// maxJSONConds is how deep parentheses of conditions may nest.
const maxJSONConds = 100

func (s *jsonPathScanner) condition() (jsonCond, error) {
	if s.depth++; s.depth > maxJSONConds {
		return nil, s.fail(fmt.Sprintf("conditions nest more than %d levels deep", maxJSONConds))
	}
	defer func() { s.depth-- }()
	var any jsonOr
	for {
		var all jsonAnd
		for {
			c, err := s.factor()
			if err != nil {
				return nil, err
			}
			all = append(all, c)
			if s.blanks(); !s.accept("&&") {
				break
			}
		}
		if len(all) == 1 {
			any = append(any, all[0])
		} else {
			any = append(any, all)
		}
		if s.blanks(); !s.accept("||") {
			break
		}
	}
	if len(any) == 1 {
		return any[0], nil
	}
	return any, nil
}

func (s *jsonPathScanner) factor() (jsonCond, error) {
	s.blanks()
	switch {
	case s.accept("!"):
		if s.depth++; s.depth > maxJSONConds {
			return nil, s.fail(fmt.Sprintf("conditions nest more than %d levels deep", maxJSONConds))
		}
		defer func() { s.depth-- }()
		c, err := s.factor()
		return jsonNot{c}, err
	case s.accept("("):
		c, err := s.condition()
		if err != nil {
			return nil, err
		}
		if s.blanks(); !s.accept(")") {
			return nil, s.fail("&&, || or ) belongs here")
		}
		return c, nil
	}
	left, _, err := s.operand(false)
	if err != nil {
		return nil, err
	}
	s.blanks()
	if c := s.peek(); c == ')' || c == '&' || c == '|' {
		if !left.isPath {
			return nil, s.fail("a constant alone is no condition: compare it with a path")
		}
		return jsonExists{left}, nil
	}
	at := s.pos
	op := s.operator()
	if op == "" {
		s.pos = at
		return nil, s.fail("==, !=, <, <=, >, >=, =~, in, nin, subsetof, anyof, noneof, all, contains, size or empty belongs here")
	}
	s.blanks()
	at = s.pos
	right, re, err := s.operand(op == "=~")
	if err != nil {
		return nil, err
	}
	c := jsonCompare{op: op, left: left, right: right, re: re}
	switch op {
	case "in", "nin", "subsetof", "anyof", "noneof", "all":
		if !right.isPath && right.doc.kind(0) != '[' {
			s.pos = at
			return nil, s.fail("a list such as ['a', 'b'] belongs after " + op)
		}
	case "size":
		if !right.isPath && right.doc.kind(0) != 0 {
			s.pos = at
			return nil, s.fail("a number belongs after size")
		}
	case "empty":
		if right.isPath || right.doc.kind(0) != 't' && right.doc.kind(0) != 'f' {
			s.pos = at
			return nil, s.fail("true or false belongs after empty")
		}
	}
	return c, nil
}

func (s *jsonPathScanner) operator() string {
	for _, op := range []string{"===", "!==", "==", "!=", "<=", ">=", "=~", "<", ">"} {
		if s.accept(op) {
			return op
		}
	}
	from := s.pos
	for c := s.peek() | 0x20; c >= 'a' && c <= 'z'; c = s.peek() | 0x20 {
		s.pos++
	}
	switch op := strings.ToLower(s.text[from:s.pos]); op {
	case "in", "nin", "subsetof", "anyof", "noneof", "all", "contains", "size", "empty":
		return op
	}
	return ""
}

// operand reads a path, a constant, or a regular expression where one belongs.
func (s *jsonPathScanner) operand(pattern bool) (o jsonOperand, re *regexp.Regexp, err error) {
	s.blanks()
	at := s.pos
	switch c := s.peek(); {
	case pattern && c != '/':
		return o, nil, s.fail("a regular expression is written /…/ or /…/i")
	case pattern:
		re, err = s.pattern()
		return o, re, err
	case c == '@' || c == '$':
		o.isPath, o.root = true, c == '$'
		o.steps, o.definite, err = s.path(true)
		return o, nil, err
	case c == '\'':
		var text string
		if text, err = s.quoted(); err != nil {
			return o, nil, err
		}
		o.doc = &jsonDoc{}
		return o, nil, o.doc.parse(appendJSONString(nil, []byte(text)))
	case c == '[' || c == '{' || c == '"':
		s.pos = s.closing()
	default:
		for !s.end() && strings.IndexByte(" \t\r\n)&|=<>!~", s.peek()) < 0 {
			s.pos++
		}
	}
	text := s.text[at:s.pos]
	o.doc = &jsonDoc{}
	if o.doc.parse([]byte(jsonQuotes(text))) != nil {
		s.pos = at
		return o, nil, s.fail("a path, a number, a text in quotes, true, false, null or a list belongs here")
	}
	return o, nil, nil
}

// closing returns the end of the list, object or string that begins here.
func (s *jsonPathScanner) closing() int {
	depth, quote := 0, byte(0)
	for i := s.pos; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0 && c == quote:
			if quote = 0; depth == 0 {
				return i + 1
			}
		case quote != 0:
		case c == '"' || c == '\'':
			quote = c
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			if depth--; depth <= 0 {
				return i + 1
			}
		}
	}
	return len(s.text)
}

// jsonQuotes makes JSON of a list whose texts are in single quotes.
func jsonQuotes(s string) string {
	if !strings.Contains(s, "'") {
		return s
	}
	var b []byte
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			from := i
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
			b = append(b, s[from:min(i+1, len(s))]...)
		case '\'':
			q := jsonPathScanner{text: s, pos: i}
			text, err := q.quoted()
			if err != nil {
				return "" // no JSON
			}
			b = appendJSONString(b, []byte(text))
			i = q.pos - 1
		default:
			b = append(b, s[i])
		}
	}
	return string(b)
}

// pattern reads /…/ or /…/i. It must match the whole text.
func (s *jsonPathScanner) pattern() (*regexp.Regexp, error) {
	from := s.pos
	for s.pos++; !s.end() && s.peek() != '/'; s.pos++ {
		if s.peek() == '\\' {
			s.pos++
		}
	}
	if s.end() {
		s.pos = from
		return nil, s.fail("this regular expression is not closed by /")
	}
	body := strings.ReplaceAll(s.text[from+1:s.pos], `\/`, "/")
	s.pos++
	flags := ""
	for c := s.peek(); c >= 'a' && c <= 'z'; c = s.peek() {
		if c != 'i' && c != 's' && c != 'm' {
			return nil, s.fail("a regular expression has the flags i, m and s")
		}
		flags += string(c)
		s.pos++
	}
	if flags != "" {
		flags = "(?" + flags + ")"
	}
	re, err := regexp.Compile(flags + `\A(?:` + body + `)\z`)
	if err != nil {
		s.pos = from
		return nil, s.fail("this is no regular expression: " + strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return re, nil
}
