package expr

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// What is JSON, jsontext decides: the text of one value as RFC 8259 has it, nothing after it. What is in
// it stands in a jsonDoc, an index of the text that is filled anew for each row: no value is converted
// before it is wanted, so that numbers keep the digits they are written with.

// maxJSONDepth is how deep arrays and objects may nest, as in Flink's parser.
const maxJSONDepth = 1000

var (
	errJSONDepth = fmt.Errorf("arrays and objects nest more than %d levels deep", maxJSONDepth)
	errJSONNull  = errors.New("the JSON text is null, in which no path leads anywhere")
)

// validJSON reports whether b is a JSON text.
func validJSON(b []byte) bool {
	return jsontext.Value(b).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// jsonFault says why b is no JSON text.
func jsonFault(b []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(b), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	_, err := d.ReadValue()
	at := d.InputOffset()
	if err == nil {
		rest := len(b) - len(bytes.TrimLeft(b[at:], " \t\r\n"))
		return fmt.Errorf("something follows the JSON value at byte %d", rest+1)
	}
	var syntax *jsontext.SyntacticError
	switch {
	case len(bytes.TrimSpace(b)) == 0:
		return errors.New("an empty text is no JSON")
	case !errors.As(err, &syntax):
		return errors.New("the JSON text ends too early")
	}
	return fmt.Errorf("%s at byte %d", strings.TrimPrefix(syntax.Err.Error(), "jsontext: "), syntax.ByteOffset+1)
}

// jsonDoc is a JSON text and where its values stand. The nodes of an array or object follow it: elements,
// or names and values in turn.
type jsonDoc struct {
	text  []byte
	nodes []jsonNode
	open  []int32
}

// jsonNode is a value, or the name of a member.
type jsonNode struct {
	start, end int32 // of the text
	next       int32 // the node after this one and all that is in it
	kind       byte  // { [ " t f n, or 0 for a number
	escaped    bool  // a string with a backslash
}

// parse makes d the index of a text, which must stay as it is while d is used.
func (d *jsonDoc) parse(b []byte) error {
	if !validJSON(b) {
		return jsonFault(b)
	}
	nodes, open := d.nodes[:0], d.open[:0]
	for i := 0; i < len(b); {
		start, kind, escaped := i, b[i], false
		switch kind {
		case ' ', '\t', '\r', '\n', ',', ':':
			i++
			continue
		case '{', '[':
			if len(open) == maxJSONDepth {
				return errJSONDepth
			}
			open = append(open, int32(len(nodes)))
			i++
		case '}', ']':
			top := &nodes[open[len(open)-1]]
			open = open[:len(open)-1]
			i++
			top.end, top.next = int32(i), int32(len(nodes))
			continue
		case '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					escaped = true
					i++
				}
			}
			i++
		case 't', 'n':
			i += 4
		case 'f':
			i += 5
		default:
			kind = 0
			for i < len(b) && (b[i] >= '0' && b[i] <= '9' || b[i] == '-' || b[i] == '+' || b[i] == '.' || b[i]|0x20 == 'e') {
				i++
			}
		}
		nodes = append(nodes, jsonNode{int32(start), int32(i), int32(len(nodes) + 1), kind, escaped})
	}
	d.text, d.nodes, d.open = b, nodes, open
	return nil
}

// tooDeep reports whether a JSON text nests too deep.
func (d *jsonDoc) tooDeep(b []byte) bool { return len(b) > 2*maxJSONDepth && d.parse(b) != nil }

// raw returns the text of a node as it is written.
func (d *jsonDoc) raw(at int32) []byte { return d.text[d.nodes[at].start:d.nodes[at].end] }

func (d *jsonDoc) kind(at int32) byte { return d.nodes[at].kind }

func (d *jsonDoc) scalar(at int32) bool { return d.kind(at) != '{' && d.kind(at) != '[' }

// size counts the elements of an array or the members of an object.
func (d *jsonDoc) size(at int32) (n int) {
	if d.kind(at) == '{' {
		for m := at + 1; m < d.nodes[at].next; m = d.nodes[m+1].next {
			n++
		}
		return n
	}
	for e := at + 1; e < d.nodes[at].next; e = d.nodes[e].next {
		n++
	}
	return n
}

// members counts the elements of an array, or the names of an object, each once.
func (d *jsonDoc) members(at int32) int {
	n := d.size(at)
	if d.kind(at) == '[' || n < 2 {
		return n
	}
	var w jsonWriter
	w.collect(d, at)
	for k := 1; k < len(w.members); k++ {
		if bytes.Equal(w.members[k-1].name, w.members[k].name) {
			n--
		}
	}
	return n
}

// element returns the k-th element of an array, counted from 0; -1 when there is none.
func (d *jsonDoc) element(at int32, k int) int32 {
	for e := at + 1; e < d.nodes[at].next; e = d.nodes[e].next {
		if k == 0 {
			return e
		}
		k--
	}
	return -1
}

// member returns the value of an object's member, of equal names the last one's; -1 when there is none.
func (d *jsonDoc) member(at int32, name string) int32 {
	found := int32(-1)
	for m := at + 1; m < d.nodes[at].next; m = d.nodes[m+1].next {
		n := &d.nodes[m]
		if !n.escaped {
			if string(d.text[n.start+1:n.end-1]) == name {
				found = m + 1
			}
		} else if string(d.appendString(nil, m)) == name {
			found = m + 1
		}
	}
	return found
}

// appendString appends the characters of a string.
func (d *jsonDoc) appendString(dst []byte, at int32) []byte {
	if n := &d.nodes[at]; !n.escaped {
		return append(dst, d.text[n.start+1:n.end-1]...)
	}
	// The only error left is a surrogate or a byte that is no character: U+FFFD stands for it.
	dst, _ = jsontext.AppendUnquote(dst, d.raw(at))
	return dst
}

// appendScalar appends a scalar as text, a string without its quotes.
func (d *jsonDoc) appendScalar(dst []byte, at int32) []byte {
	if d.kind(at) == '"' {
		return d.appendString(dst, at)
	}
	return append(dst, d.raw(at)...)
}

// jsonMember is a member of an object that is being written.
type jsonMember struct {
	name  []byte
	value int32
}

// jsonWriter writes values in the one form that all functions have: no blanks, the members of an object by
// their names, each once. It keeps memory between rows.
type jsonWriter struct{ members []jsonMember }

// append appends a value.
func (w *jsonWriter) append(dst []byte, d *jsonDoc, at int32) []byte {
	switch d.kind(at) {
	case '"':
		if !d.nodes[at].escaped {
			return append(dst, d.raw(at)...)
		}
		return appendJSONString(dst, d.appendString(nil, at))
	case '[':
		dst = append(dst, '[')
		for e := at + 1; e < d.nodes[at].next; e = d.nodes[e].next {
			if e > at+1 {
				dst = append(dst, ',')
			}
			dst = w.append(dst, d, e)
		}
		return append(dst, ']')
	case '{':
		base := len(w.members)
		w.collect(d, at)
		end := len(w.members)
		dst = append(dst, '{')
		for k := base; k < end; k++ {
			m := w.members[k]
			if k+1 < end && bytes.Equal(m.name, w.members[k+1].name) {
				continue // the last one counts
			}
			if dst[len(dst)-1] != '{' {
				dst = append(dst, ',')
			}
			dst = append(appendJSONString(dst, m.name), ':')
			dst = w.append(dst, d, m.value)
		}
		w.members = w.members[:base]
		return append(dst, '}')
	}
	return append(dst, d.raw(at)...)
}

// collect pushes the members of an object in the order of their names.
func (w *jsonWriter) collect(d *jsonDoc, at int32) {
	base, sorted := len(w.members), true
	for m := at + 1; m < d.nodes[at].next; m = d.nodes[m+1].next {
		n := &d.nodes[m]
		name := d.text[n.start+1 : n.end-1]
		if n.escaped {
			name = d.appendString(nil, m)
		}
		if k := len(w.members); k > base && sorted {
			sorted = compareUTF16(w.members[k-1].name, name) <= 0
		}
		w.members = append(w.members, jsonMember{name, m + 1})
	}
	if !sorted {
		slices.SortStableFunc(w.members[base:], func(a, b jsonMember) int { return compareUTF16(a.name, b.name) })
	}
}

// compareUTF16 compares texts by their UTF-16 code units, as Flink sorts names.
func compareUTF16(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		// Characters beyond U+FFFF have surrogates, which are below U+E000.
		switch {
		case x >= 0xf0 && y >= 0xee && y < 0xf0:
			return -1
		case y >= 0xf0 && x >= 0xee && x < 0xf0:
			return 1
		}
		return int(x) - int(y)
	}
	return len(a) - len(b)
}

// appendJSONString appends a text as a JSON string.
func appendJSONString(dst, s []byte) []byte {
	dst = append(dst, '"')
	from := 0
	for i, c := range s {
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		dst = appendJSONEscape(dst, c)
		from = i + 1
	}
	return append(append(dst, s[from:]...), '"')
}

// appendJSONEscape appends the escape of a character below U+0080.
func appendJSONEscape(dst []byte, c byte) []byte {
	switch c {
	case '\b':
		c = 'b'
	case '\f':
		c = 'f'
	case '\n':
		c = 'n'
	case '\r':
		c = 'r'
	case '\t':
		c = 't'
	case '"', '\\', '/':
	default:
		const hex = "0123456789ABCDEF"
		return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
	}
	return append(dst, '\\', c)
}
