package csv

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/format/text"
)

// splitter finds records and their values in a window.
type splitter struct {
	*dialect
	file string
	w    *text.Window
	line int64 // of w.Pos, from 1
	fits int   // the number of values that a record has to have; 0: any

	// stop are the bytes that end a run of ordinary ones in an unquoted value.
	stop [256]bool
	// slots says for each value of a record which of the columns wanted takes it; -1: none. The values of
	// column i, row by row, are cells[i*column.DefaultRows:]; the record to find is number row.
	slots []int
	cells []text.Field
	row   int
	// all says that record takes the values of one record, whatever their number; slots is empty.
	all    bool
	record []text.Field

	start int   // where the record found last begins
	blank int64 // the first of the blank lines just before, 0: none
}

// fault is what is wrong with a record, at a position of the window.
type fault struct {
	at  int
	msg string
	// skip is where the line after the one at fault begins, for tables that ignore errors.
	skip int
}

type status uint8

const (
	record     status = iota // a record was found
	nothing                  // a line that is no record, such as a comment
	incomplete               // the window ends within the record
	broken                   // the record is at fault
)

func newSplitter(d *dialect, file string, w *text.Window, line int64) *splitter {
	s := &splitter{dialect: d, file: file, w: w, line: line}
	for c := range s.stop {
		s.stop[c] = d.special(byte(c))
	}
	return s
}

// next finds the record at w.Pos, which is before w.End, and puts its values in cells. It moves w.Pos
// and line only when it found something.
func (s *splitter) next() (status, *fault) {
	w := s.w
	buf, start := w.Buf, w.Pos
	if s.comments && buf[start] == '#' {
		end := bytes.IndexByte(buf[start:w.End], '\n')
		if end < 0 {
			if !w.EOF {
				return incomplete, nil
			}
			w.Pos = w.End
			return nothing, nil
		}
		w.Pos, s.line = start+end+1, s.line+1
		return nothing, nil
	}
	i, col, lines := start, 0, int64(0)
	extra := 0 // where the first value that has no column begins
	for {
		var f text.Field
		from := i
		if s.quote != 0 && buf[i] == s.quote && i < w.End {
			end, form, at := s.quoted(i + 1)
			if at != nil {
				return broken, at
			}
			if end < 0 {
				if !w.EOF {
					return incomplete, nil
				}
				return broken, s.unclosed(from)
			}
			f = text.Field{Start: int32(from + 1), End: int32(end), Form: form}
			if inside := buf[from+1 : end]; bytes.IndexByte(inside, '\n') >= 0 {
				lines += int64(bytes.Count(inside, newline))
			}
			i = end + 1
			if i == w.End && !w.EOF {
				return incomplete, nil
			}
			if c := buf[i]; i < w.End && c != s.delimiter && c != '\n' && c != '\r' {
				msg := fmt.Sprintf("the quoted value that begins here ends at a quote before %s", text.Show(buf[i:min(i+1, w.End)]))
				if help := s.delimiterHelp(firstLine(buf[start:w.End])); help != "" {
					return broken, s.fault(from, msg+help)
				}
				if n := bytes.Count(buf[from:i], newline); n > 0 {
					line, _ := text.Locate(buf, start, i, s.line)
					msg += fmt.Sprintf(" in line %d", line)
				}
				return broken, s.fault(from, msg+s.quoteHelp())
			}
		} else {
			form := text.Plain
			for {
				for !s.stop[buf[i]] {
					i++
				}
				if i == w.End || s.escape == 0 || buf[i] != s.escape {
					break
				}
				// An escape and what it takes the meaning from.
				if i+1 >= w.End {
					if !w.EOF {
						return incomplete, nil
					}
					return broken, s.fault(i, "the escape character has nothing after it")
				}
				if buf[i+1] == '\n' {
					lines++
				}
				form = text.Escaped
				i += 2
			}
			if i == w.End && !w.EOF {
				return incomplete, nil
			}
			f = text.Field{Start: int32(from), End: int32(i), Form: form}
			if i < w.End && buf[i] != s.delimiter && buf[i] != '\n' && buf[i] != '\r' {
				if buf[i] == 0 {
					return broken, s.fault(i, "a NUL byte outside quotes; the file is not text, or it is UTF-16, which has to be converted to UTF-8 first")
				}
				return broken, s.fault(i, "a quote inside a value that is not quoted"+s.quoteOrDelimiterHelp(start))
			}
			if form == text.Plain && s.isNull(buf[from:i]) {
				f.Form = text.Null
			}
		}
		if col < len(s.slots) {
			if slot := s.slots[col]; slot >= 0 {
				s.cells[slot*column.DefaultRows+s.row] = f
			}
		} else if s.all {
			s.record = append(s.record, f)
		}
		if col == s.fits {
			extra = from
		}
		col++
		if i == w.End { // of the file: the last line may have no end
			break
		}
		c := buf[i]
		i++
		if c == s.delimiter {
			continue
		}
		if c == '\r' {
			if i == w.End && !w.EOF {
				return incomplete, nil
			}
			if i < w.End && buf[i] != '\n' {
				return broken, s.fault(i-1, "a carriage return that is not part of a line end; a value with one has to be quoted")
			}
			if i < w.End {
				i++
			}
		}
		lines++
		break
	}
	if col != s.fits && s.fits > 0 {
		if col == 1 && blankLine(buf[start:i]) {
			if s.blank == 0 {
				s.blank = s.line
			}
			w.Pos, s.line = i, s.line+lines
			return nothing, nil
		}
		if !s.ignore {
			if col < s.fits {
				extra = start + len(trimEnd(buf[start:i]))
			}
			return broken, &fault{at: extra, skip: i, msg: fmt.Sprintf("%s, but the table has %s: %s", plural(col, "value"), plural(s.fits, "column"), text.Show(trimEnd(buf[start:i]))) + s.delimiterHelp(firstLine(buf[start:i]))}
		}
	}
	for ; col < len(s.slots); col++ { // of a line that is too short
		if slot := s.slots[col]; slot >= 0 {
			s.cells[slot*column.DefaultRows+s.row] = text.Field{Form: text.Null}
		}
	}
	s.start, w.Pos, s.line = start, i, s.line+lines
	return record, nil
}

var newline = []byte{'\n'}

func blankLine(b []byte) bool { return len(trimEnd(b)) == 0 }

func trimEnd(b []byte) []byte { return bytes.TrimRight(b, "\r\n") }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// isNull reports whether the text of an unquoted value is NULL.
func (s *splitter) isNull(b []byte) bool { return string(b) == s.null }

// quoted finds the quote that closes a value; i is behind the opening one. It returns -1 when the window
// has none.
func (s *splitter) quoted(i int) (end int, form text.Form, f *fault) {
	w := s.w
	form = text.Plain
	for {
		if s.escape == 0 {
			n := bytes.IndexByte(w.Buf[i:w.End], s.quote)
			if n < 0 {
				return -1, form, nil
			}
			i += n
		} else {
			for i < w.End && w.Buf[i] != s.quote && w.Buf[i] != s.escape {
				i++
			}
			if i == w.End {
				return -1, form, nil
			}
			if w.Buf[i] == s.escape {
				if i+1 >= w.End {
					return -1, form, nil
				}
				form = text.Escaped
				i += 2
				continue
			}
		}
		if i+1 < w.End && w.Buf[i+1] == s.quote {
			form = text.Escaped
			i += 2
			continue
		}
		return i, form, nil
	}
}

func (s *splitter) fault(at int, msg string) *fault {
	skip := s.w.End
	if n := bytes.IndexByte(s.w.Buf[s.w.Pos:s.w.End], '\n'); n >= 0 {
		skip = s.w.Pos + n + 1
	}
	return &fault{at: at, msg: msg, skip: skip}
}

func (s *splitter) unclosed(at int) *fault {
	return s.fault(at, "the quoted value that begins here is never closed"+s.quoteHelp())
}

// quoteOrDelimiterHelp says what may be wrong with the line at start when a quote stands where none can.
func (s *splitter) quoteOrDelimiterHelp(start int) string {
	if help := s.delimiterHelp(firstLine(s.w.Buf[start:s.w.End])); help != "" {
		return help
	}
	return s.quoteHelp()
}

func (s *splitter) quoteHelp() string {
	q := string(rune(s.quote))
	if s.escape != 0 {
		return ""
	}
	return fmt.Sprintf("; a quote that is part of a value is doubled, in a value between quotes: %sa %s%s b%s", q, q, q, q)
}

// error places a fault of the record at w.Pos in the file.
func (s *splitter) error(f *fault) error {
	e := &text.Error{File: s.file, Msg: f.msg}
	e.Line, e.Character = text.Locate(s.w.Buf, s.w.Pos, f.at, s.line)
	return e
}

// tooLong explains an error of filling the window with the record at w.Pos.
func (s *splitter) tooLong(err error) error {
	if !text.TooLong(err) {
		return fmt.Errorf("%s: %w", s.file, err)
	}
	msg := "the row that begins here is too long: " + err.Error()
	return &text.Error{File: s.file, Line: s.line, Msg: msg + "; maybe a quote in it is never closed"}
}

// unescape appends the text of a value with doubled quotes or escapes.
func (d *dialect) unescape(dst, raw []byte) []byte {
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case d.escape != 0 && c == d.escape && i+1 < len(raw):
			i++
			c = raw[i]
			switch c {
			case 'n':
				c = '\n'
			case 'r':
				c = '\r'
			case 't':
				c = '\t'
			case '0':
				c = 0
			}
		case c == d.quote && d.quote != 0 && i+1 < len(raw) && raw[i+1] == d.quote:
			i++
		}
		dst = append(dst, c)
	}
	return dst
}

// begin skips a byte order mark at the beginning of a file.
func (s *splitter) begin() error {
	w := s.w
	if err := w.Fill(); err != nil {
		return s.tooLong(err)
	}
	b := w.Buf[w.Pos:w.End]
	switch {
	case bytes.HasPrefix(b, mark):
		w.Pos += 3
	case bytes.HasPrefix(b, []byte("\xff\xfe")), bytes.HasPrefix(b, []byte("\xfe\xff")):
		return &text.Error{File: s.file, Line: 1, Character: 1, Msg: "the file is UTF-16; convert it to UTF-8 first, as with iconv -f UTF-16 -t UTF-8"}
	}
	return nil
}

// one reads the next record of any number of values into record; false at the end. It serves header and
// inference, where speed does not matter.
func (s *splitter) one() (bool, error) {
	s.all = true
	for {
		s.record = s.record[:0]
		if s.w.Pos < s.w.End {
			st, f := s.next()
			switch st {
			case record:
				return true, nil
			case broken:
				return false, s.error(f)
			case nothing:
				continue
			case incomplete:
			}
		}
		if s.w.EOF {
			return false, nil
		}
		if err := s.w.Fill(); err != nil {
			return false, s.tooLong(err)
		}
	}
}

// value returns the text of a field.
func (s *splitter) value(f text.Field) string {
	raw := s.w.Buf[f.Start:f.End]
	if f.Form == text.Escaped {
		return string(s.unescape(nil, raw))
	}
	return string(raw)
}

// header reads the names in the first line; a column without a name is c and its position.
func (s *splitter) header() ([]string, error) {
	line := s.line
	ok, err := s.one()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, nil
	}
	var names []string
	seen := map[string]bool{}
	for i, f := range s.record {
		name := s.value(f)
		if name == "" {
			name = "c" + strconv.Itoa(i+1)
		}
		if len(s.record) == 1 && f.Start == f.End {
			return nil, &text.Error{File: s.file, Line: line, Msg: "the line is empty, but 'csv.header' = 'true' says that it has the names of the columns"}
		}
		if seen[name] {
			_, at := text.Locate(s.w.Buf, s.start, int(f.Start), line)
			return nil, &text.Error{File: s.file, Line: line, Character: at, Msg: fmt.Sprintf("the header names column %s twice", connector.QuoteName(name))}
		}
		seen[name] = true
		names = append(names, name)
	}
	return names, nil
}
