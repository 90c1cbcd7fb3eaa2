package json

import (
	"bytes"
	"encoding/binary"
	stdjson "encoding/json"
	"fmt"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/format/text"
)

// scanner finds objects and their values in a window.
type scanner struct {
	w    *text.Window
	file string

	line    int64 // of w.Pos, from 1
	lineAt  int64 // where that line begins among the reader's bytes
	inArray bool
	comma   bool // within the array an object has been read: a comma is to follow
	loose   bool // an element of the array was skipped: a comma may follow

	// The object found last begins at start, in a line that begins at lineAt.
	found place

	// keys are the names of all columns, slots the places among the columns wanted; -1: not wanted. order
	// says what key was last found at which position.
	keys  *keys
	slots []int
	order []expected
	// The values of column i, row by row, are cells[i*column.DefaultRows:]; the object to find is number row.
	cells []text.Field
	row   int
	seen  []int // by column: the row that last had it, plus 1
	want  []*text.Column
	must  bool // a column without a key is an error
	// similar are, by column, the keys found that differ from its name in case only; with strict, one
	// without the key itself is an error.
	similar []similar
	strict  bool

	all     bool // members takes what an object has; nothing else is wanted
	members []member

	fault fault
}

type place struct {
	start  int // in the window
	line   int64
	lineAt int64
}

type expected struct {
	key  string
	slot int // -1: not wanted
	near int // the slot of a column that the key would be of if case did not matter; -1: none
}

// similar is a key that was found in an object.
type similar struct {
	row int // plus 1
	key string
}

type member struct {
	key   string
	value text.Field
}

// fault is what is wrong, at a position of the window.
type fault struct {
	at  int
	msg string
}

type status uint8

const (
	object     status = iota // an object was found
	end                      // there is nothing more
	incomplete               // the window ends within the object
	broken                   // fault says what is wrong
)

// more and wrong are what functions that return a position return instead when the window ends, and when
// fault says what is wrong.
const (
	more  = -1
	wrong = -2
)

// maxDepth is how deep objects and arrays may be within each other.
const maxDepth = 1000

func newScanner(file string, w *text.Window, from connector.Place) *scanner {
	return &scanner{file: file, w: w, line: from.Lines + 1}
}

func (s *scanner) fail(at int, format string, args ...any) int {
	s.fault = fault{at, fmt.Sprintf(format, args...)}
	return wrong
}

// ended says what the end of the window at i means where something has to follow.
func (s *scanner) ended(i int) int {
	if !s.w.EOF {
		return more
	}
	line, _ := text.Locate(s.w.Buf, s.w.Pos, s.found.start, s.line)
	return s.fail(i, "the file ends within the object that begins in line %d", line)
}

// unexpected says that something else stands at i.
func (s *scanner) unexpected(i int, want string) int {
	if i >= s.w.End {
		return s.ended(i)
	}
	n := i + 1
	for n < s.w.End && n < i+20 && s.w.Buf[n] > ' ' && s.w.Buf[n] != ',' && s.w.Buf[n] != '}' && s.w.Buf[n] != ']' {
		n++
	}
	if n == s.w.End && !s.w.EOF {
		return more // to say what stands there
	}
	return s.fail(i, "expected %s, found %s", want, text.Show(s.w.Buf[i:n]))
}

func blanks(buf []byte, i int) int {
	for buf[i] == ' ' || buf[i] == '\n' || buf[i] == '\r' || buf[i] == '\t' {
		i++
	}
	return i
}

// next finds the next object and puts its values in cells. It moves w.Pos only when it found one, or the end.
func (s *scanner) next() status {
	buf, start := s.w.Buf, s.w.Pos
	inArray, comma, loose := s.inArray, s.comma, s.loose
	dangling := false // a comma was the last thing read
	i := blanks(buf, start)
	for {
		s.found.start = i
		switch c := buf[i]; {
		case i >= s.w.End && !s.w.EOF:
			return incomplete
		case i >= s.w.End && inArray:
			s.fail(i, "the file ends within an array: ] is missing")
			return broken
		case i >= s.w.End:
			s.w.Pos = i
			return end
		case !inArray && c == '[':
			inArray, comma, loose = true, false, false
		case inArray && c == ']' && !dangling:
			inArray, comma, loose = false, false, false
		case inArray && (comma || loose) && c == ',':
			comma, loose, dangling = false, false, true
		case inArray && comma:
			return s.status(s.unexpected(i, ", or ]"))
		case c == '{':
			s.found = s.placeOf(i)
			next := s.object(i)
			if next < 0 {
				return s.status(next)
			}
			s.inArray, s.comma, s.loose = inArray, inArray, false
			s.line, s.lineAt = s.found.line, s.found.lineAt
			if n := bytes.Count(buf[i:next], newline); n > 0 {
				s.line += int64(n)
				s.lineAt = s.w.Base() + int64(i+bytes.LastIndexByte(buf[i:next], '\n')+1)
			}
			s.w.Pos = next
			return object
		default:
			return s.status(s.unexpected(i, "a JSON object"))
		}
		i = blanks(buf, i+1)
	}
}

func (s *scanner) status(i int) status {
	if i == more {
		return incomplete
	}
	return broken
}

var newline = []byte{'\n'}

// placeOf returns the place of position i, which is not before w.Pos.
func (s *scanner) placeOf(i int) place {
	p := place{i, s.line, s.lineAt}
	for k, c := range s.w.Buf[s.w.Pos:i] {
		if c == '\n' {
			p.line++
			p.lineAt = s.w.Base() + int64(s.w.Pos+k) + 1
		}
	}
	return p
}

// locate returns the line and character of position at, which is not before p. What of the line has left the
// window counts by its bytes.
func (s *scanner) locate(p place, at int) (line, character int64) {
	line = p.line
	from := max(int(p.lineAt-s.w.Base()), 0)
	character = max(s.w.Base()-p.lineAt, 0)
	for k := p.start; k < at; k++ {
		if s.w.Buf[k] == '\n' {
			line, from, character = line+1, k+1, 0
		}
	}
	return line, character + int64(utf8.RuneCount(s.w.Buf[from:at])) + 1
}

// error places the fault of the object at w.Pos in the file.
func (s *scanner) error() error {
	e := &text.Error{File: s.file, Msg: s.fault.msg}
	e.Line, e.Character = s.locate(place{s.w.Pos, s.line, s.lineAt}, s.fault.at)
	return e
}

// skip moves to the line after the beginning of an object at fault; false: its end has yet to be read.
func (s *scanner) skip() bool {
	from := max(s.found.start, s.w.Pos)
	n := bytes.IndexByte(s.w.Buf[from:s.w.End], '\n')
	next := from + n + 1
	if n < 0 {
		if !s.w.EOF {
			return false
		}
		next = s.w.End
		s.inArray = false
	}
	p := s.placeOf(next)
	s.line, s.lineAt, s.w.Pos = p.line, p.lineAt, next
	s.comma, s.loose = false, s.inArray
	return true
}

// tooLong explains an error of filling the window with the object at w.Pos.
func (s *scanner) tooLong(err error) error {
	if !text.TooLong(err) {
		return fmt.Errorf("%s: %w", s.file, err)
	}
	return &text.Error{File: s.file, Line: s.placeOf(blanks(s.w.Buf, s.w.Pos)).line, Msg: "the object that begins here is too long: " + err.Error()}
}

// begin skips a byte order mark at the beginning of a file.
func (s *scanner) begin() error {
	if err := s.w.Fill(); err != nil {
		return s.tooLong(err)
	}
	b := s.w.Buf[s.w.Pos:s.w.End]
	switch {
	case bytes.HasPrefix(b, []byte("\xef\xbb\xbf")):
		s.w.Pos += 3
		s.lineAt += 3
	case bytes.HasPrefix(b, []byte("\xff\xfe")), bytes.HasPrefix(b, []byte("\xfe\xff")):
		return &text.Error{File: s.file, Line: 1, Character: 1, Msg: "the file is UTF-16; convert it to UTF-8 first, as with iconv -f UTF-16 -t UTF-8"}
	}
	return nil
}

// one finds the next object, reading on as needed; false at the end. It serves inference, where speed does
// not matter.
func (s *scanner) one() (bool, error) {
	if s.w.Offset() == 0 && s.w.End == 0 {
		if err := s.begin(); err != nil {
			return false, err
		}
	}
	for {
		switch s.next() {
		case object:
			return true, nil
		case end:
			return false, nil
		case broken:
			return false, s.error()
		case incomplete:
			if err := s.w.Fill(); err != nil {
				return false, s.tooLong(err)
			}
		}
	}
}

// object reads the object that begins at i, and returns the position behind it.
func (s *scanner) object(i int) int {
	buf := s.w.Buf
	s.members = s.members[:0]
	taken := 0
	i = blanks(buf, i+1)
	if buf[i] == '}' {
		return s.complete(i+1, taken)
	}
	for n := 0; ; n++ {
		if buf[i] != '"' {
			return s.unexpected(i, "a key between quotes")
		}
		from := i + 1
		to, escaped := s.str(from)
		if to < 0 {
			return to
		}
		slot := -1
		if !s.all {
			slot = s.slot(n, buf[from:to], escaped)
		}
		i = to + 1
		if buf[i] != ':' {
			if i = blanks(buf, i); buf[i] != ':' {
				return s.unexpected(i, ": after a key")
			}
		}
		if i++; buf[i] <= ' ' {
			i = blanks(buf, i)
		}
		var f text.Field
		i, f = s.value(i, 0)
		if i < 0 {
			return i
		}
		switch {
		case s.all:
			key := string(buf[from:to])
			if escaped {
				key = string(unescape(nil, buf[from-1:to]))
			}
			for _, m := range s.members {
				if m.key == key {
					return s.fail(from-1, "the object has the key %s twice", text.Show([]byte(key)))
				}
			}
			s.members = append(s.members, member{key, f})
		case slot >= 0:
			if s.seen[slot] > s.row {
				return s.fail(from-1, "the object has the key %s twice", text.Show([]byte(s.want[slot].Name)))
			}
			s.seen[slot] = s.row + 1
			s.cells[slot*column.DefaultRows+s.row] = f
			taken++
		}
		if buf[i] <= ' ' {
			i = blanks(buf, i)
		}
		if buf[i] == '}' {
			return s.complete(i+1, taken)
		}
		if buf[i] != ',' {
			return s.unexpected(i, ", or }")
		}
		if i++; buf[i] <= ' ' {
			i = blanks(buf, i)
		}
	}
}

// complete ends an object: the columns that it has no key for are NULL.
func (s *scanner) complete(i, taken int) int {
	if taken == len(s.want) {
		return i
	}
	for slot := range s.want {
		if s.seen[slot] > s.row {
			continue
		}
		if near := s.similar[slot]; near.row > s.row && s.strict {
			return s.fail(s.found.start, "the object has the key %s, but the column is called %s: upper and lower case are told apart",
				text.Show([]byte(near.key)), connector.QuoteName(s.want[slot].Name))
		}
		if s.must {
			return s.fail(s.found.start, "the object has no key %s", text.Show([]byte(s.want[slot].Name)))
		}
		s.cells[slot*column.DefaultRows+s.row] = text.Field{Start: int32(s.found.start), End: int32(s.found.start), Form: text.Null}
	}
	return i
}

// slot returns the column of the n-th key of an object, -1 when it has none.
func (s *scanner) slot(n int, key []byte, escaped bool) int {
	if n < len(s.order) && string(key) == s.order[n].key {
		if e := &s.order[n]; e.near >= 0 {
			s.similar[e.near] = similar{s.row + 1, e.key}
		}
		return s.order[n].slot
	}
	name := key
	if escaped {
		name = unescape(nil, append([]byte{'"'}, key...))
	}
	e := expected{string(name), -1, -1}
	if i := s.keys.find(name); i >= 0 {
		e.slot = s.slots[i]
	} else if i = s.keys.similar(name); i >= 0 && s.slots[i] >= 0 {
		e.near = s.slots[i]
		s.similar[e.near] = similar{s.row + 1, e.key}
	}
	if !escaped && n < 4096 {
		for len(s.order) <= n {
			s.order = append(s.order, expected{slot: -1, near: -1})
		}
		s.order[n] = e
	}
	return e.slot
}

// value reads the value at i and returns the position behind it, and where its text stands.
func (s *scanner) value(i, depth int) (int, text.Field) {
	buf := s.w.Buf
	f := text.Field{Start: int32(i), Form: text.Literal}
	switch c := buf[i]; {
	case c == '"':
		to, escaped := s.str(i + 1)
		if to < 0 {
			return to, f
		}
		if escaped {
			f.Form, f.End = text.Escaped, int32(to) // with the quote at its beginning: see unescape
		} else {
			f.Form, f.Start, f.End = text.Plain, int32(i+1), int32(to)
		}
		return to + 1, f
	case c == '-' || c-'0' <= 9:
		to := s.number(i)
		f.End = int32(to)
		return to, f
	case c == 't':
		i = s.word(i, "true")
	case c == 'f':
		i = s.word(i, "false")
	case c == 'n':
		f.Form = text.Null
		i = s.word(i, "null")
	case c == '{' || c == '[':
		f.Form = text.Escaped
		i = s.nested(i, depth+1)
	default:
		return s.unexpected(i, "a value"), f
	}
	f.End = int32(i)
	return i, f
}

func (s *scanner) word(i int, word string) int {
	for k := range len(word) {
		if s.w.Buf[i+k] != word[k] {
			if i+k >= s.w.End {
				return s.ended(i + k)
			}
			return s.unexpected(i, "a value")
		}
	}
	return i + len(word)
}

// nested reads an object or array within an object.
func (s *scanner) nested(i, depth int) int {
	if depth > maxDepth {
		return s.fail(i, "objects and arrays are more than %d deep within each other", maxDepth)
	}
	buf := s.w.Buf
	closing, isObject := byte(']'), false
	if buf[i] == '{' {
		closing, isObject = '}', true
	}
	i = blanks(buf, i+1)
	if buf[i] == closing {
		return i + 1
	}
	for {
		if isObject {
			if buf[i] != '"' {
				return s.unexpected(i, "a key between quotes")
			}
			to, _ := s.str(i + 1)
			if to < 0 {
				return to
			}
			if i = blanks(buf, to+1); buf[i] != ':' {
				return s.unexpected(i, ": after a key")
			}
			i = blanks(buf, i+1)
		}
		if i, _ = s.value(i, depth); i < 0 {
			return i
		}
		i = blanks(buf, i)
		if buf[i] == closing {
			return i + 1
		}
		if buf[i] != ',' {
			return s.unexpected(i, ", or "+string(rune(closing)))
		}
		i = blanks(buf, i+1)
	}
}

// number reads a number: -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)?
func (s *scanner) number(i int) int {
	buf, from := s.w.Buf, i
	if buf[i] == '-' {
		i++
	}
	digits := func() bool {
		first := i
		for buf[i]-'0' <= 9 {
			i++
		}
		return i > first
	}
	zero := buf[i] == '0'
	first := i
	ok := digits() && (!zero || i == first+1)
	if ok && buf[i] == '.' {
		i++
		ok = digits()
	}
	if ok && buf[i]|0x20 == 'e' {
		if i++; buf[i] == '+' || buf[i] == '-' {
			i++
		}
		ok = digits()
	}
	if i >= s.w.End && !s.w.EOF {
		return more
	}
	if !ok {
		return s.unexpected(from, "a number")
	}
	return i
}

// str finds the quote that closes a string; i is behind the opening one.
func (s *scanner) str(i int) (end int, escaped bool) {
	buf := s.w.Buf
	for {
		if i >= s.w.End {
			return s.ended(i), escaped
		}
		x := binary.LittleEndian.Uint64(buf[i:])
		mask := text.Zeros(x^'"'*text.EachByte) | text.Zeros(x^'\\'*text.EachByte) | text.Below32(x)
		if mask == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(mask) >> 3
		switch c := buf[i]; {
		case i >= s.w.End:
			return s.ended(i), escaped
		case c == '"':
			return i, escaped
		case c == '\\':
			escaped = true
			if i = s.escape(i); i < 0 {
				return i, escaped
			}
		default:
			return s.fail(i, "a control character (%02X) inside a string; JSON has \\u%04x for it", c, c), escaped
		}
	}
}

// escape reads the escape at i and returns the position behind it; of a surrogate it reads both halves.
func (s *scanner) escape(i int) int {
	buf := s.w.Buf
	if i+1 >= s.w.End {
		return s.ended(i + 1)
	}
	switch buf[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
	default:
		return s.fail(i, "%s is no escape of JSON", text.Show(buf[i:i+2]))
	}
	r, next := s.hex(i)
	if next < 0 {
		return next
	}
	switch {
	case !utf16.IsSurrogate(r):
		return next
	case r >= 0xdc00:
		return s.fail(i, "%s is the second half of a character whose first half is missing", text.Show(buf[i:next]))
	case next+1 >= s.w.End && !s.w.EOF:
		return more
	case buf[next] != '\\' || buf[next+1] != 'u':
		return s.fail(i, "%s is the first half of a character whose second half is missing", text.Show(buf[i:next]))
	}
	low, after := s.hex(next)
	if after < 0 {
		return after
	}
	if utf16.DecodeRune(r, low) == utf8.RuneError {
		return s.fail(i, "%s is the first half of a character whose second half is missing", text.Show(buf[i:next]))
	}
	return after
}

// hex reads \uXXXX at i.
func (s *scanner) hex(i int) (r rune, next int) {
	for k := i + 2; k < i+6; k++ {
		d := hexDigit(s.w.Buf[k])
		if d < 0 {
			if k >= s.w.End {
				return 0, s.ended(k)
			}
			return 0, s.fail(i, "\\u needs four hexadecimal digits")
		}
		r = r<<4 | d
	}
	return r, i + 6
}

func hexDigit(c byte) rune {
	switch {
	case c-'0' <= 9:
		return rune(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10
	}
	return -1
}

// unescape appends the text of a field that is not the text itself: a string with escapes, whose opening
// quote raw has, or an object or array, whose JSON text has its blanks removed.
func unescape(dst, raw []byte) []byte {
	if raw[0] != '"' {
		b := bytes.NewBuffer(dst)
		if err := stdjson.Compact(b, raw); err != nil {
			return append(dst, raw...) // cannot be: it has been read
		}
		return b.Bytes()
	}
	raw = raw[1:]
	for {
		n := bytes.IndexByte(raw, '\\')
		if n < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:n]...)
		c := raw[n+1]
		raw = raw[n+2:]
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
			r := unit(raw)
			raw = raw[4:]
			if utf16.IsSurrogate(r) {
				r = utf16.DecodeRune(r, unit(raw[2:]))
				raw = raw[6:]
			}
			dst = utf8.AppendRune(dst, r)
			continue
		}
		dst = append(dst, c)
	}
}

func unit(b []byte) (r rune) {
	for _, c := range b[:4] {
		r = r<<4 | hexDigit(c)
	}
	return r
}
