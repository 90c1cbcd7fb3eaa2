package json

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/format/text"
	"github.com/sluice-sql/sluice/types"
)

// A ROW is an object whose keys are its fields, an ARRAY an array, a MAP an object, and a MULTISET an object
// whose keys are its elements and whose values say how often each is there.

// supported says why a column of a type cannot be held as JSON; "" when it can.
func supported(t types.Type) string {
	if !t.IsNested() {
		return text.Supported(t)
	}
	if k := t.Fields[0].Type; (t.Kind == types.Map || t.Kind == types.Multiset) && !k.IsString() {
		what := "key of a MAP"
		if t.Kind == types.Multiset {
			what = "element of a MULTISET"
		}
		return fmt.Sprintf("the keys of JSON objects are texts: the %s has to be a STRING, not %s", what, k.AsNullable())
	}
	for _, f := range t.Fields {
		if why := supported(f.Type); why != "" {
			return why
		}
	}
	return ""
}

// part reads the values of one part of a nested type, or those of the whole column.
type part struct {
	text.Column
	parts   []*part
	keys    *keys // of a ROW
	seen    []bool
	scratch *column.Vector // for values of which a part may be at fault
	names   map[string]struct{}
}

func newPart(t types.Type, lenient bool) *part {
	p := &part{Column: text.Column{Type: t}}
	var names []string
	for _, f := range t.Fields {
		p.parts = append(p.parts, newPart(f.Type, lenient))
		names = append(names, f.Name)
	}
	switch t.Kind {
	case types.Row:
		p.keys, p.seen = newKeys(names), make([]bool, len(names))
	case types.Map:
		p.names = map[string]struct{}{}
	case types.Multiset:
		p.names = map[string]struct{}{}
		p.parts = append(p.parts, newPart(types.Of(types.Int).AsNotNull(), lenient))
	}
	if lenient && t.IsNested() {
		p.scratch = column.New(t, 1)
	}
	return p
}

// nested returns what reads the values of a column of a nested type.
func (d *decoder) nested(t types.Type) text.Nested {
	p := newPart(t, d.codec.ignore)
	return func(v *column.Vector, b *text.Block, f text.Field) string {
		if f.Form != text.Escaped || b.Buf[f.Start] == '"' {
			return notA(t)
		}
		return d.collect(p, v, b, int(f.Start))
	}
}

// notA says what a value of JSON was expected to be.
func notA(t types.Type) string {
	if t.Kind == types.Array {
		return "not a JSON array"
	}
	return "not a JSON object"
}

// readPart appends the value of JSON at i, which has been read before and is well formed, and returns the
// position behind it, or what is wrong.
func (d *decoder) readPart(p *part, v *column.Vector, b *text.Block, i int) (next int, why string) {
	next, f := d.value(i, 0)
	switch {
	case f.Form == text.Null || !p.Type.IsNested():
		one := [1]text.Field{f}
		if f.Form == text.Null && p.Type.IsNested() && !p.Type.NotNull {
			v.AppendNull()
		} else if f.Form == text.Null && p.Type.IsNested() {
			why = "NULL, but it is NOT NULL"
		} else if fault := p.Append(v, b, one[:]); fault != nil {
			if why = p.Message(fault); fault.Null {
				why = "NULL, but it is NOT NULL"
			}
		}
	case f.Form != text.Escaped || b.Buf[f.Start] == '"':
		why = text.Show(b.Buf[f.Start:f.End]) + " is " + notA(p.Type)
	default:
		why = d.collect(p, v, b, int(f.Start))
	}
	if why != "" && d.codec.ignore && !p.Type.NotNull {
		v.AppendNull()
		why = ""
	}
	return next, why
}

// collect appends the object or array at i. Where a part is at fault, v is afterwards as it was if values at
// fault are ignored, and is not to be appended to otherwise.
func (d *decoder) collect(p *part, v *column.Vector, b *text.Block, i int) string {
	into := v
	if p.scratch != nil {
		into = p.scratch
		into.Reset()
	}
	var why string
	switch isObject := b.Buf[i] == '{'; {
	case isObject == (p.Type.Kind == types.Array):
		return notA(p.Type)
	case p.Type.Kind == types.Array:
		why = d.readArray(p, into, b, i)
	case p.Type.Kind == types.Row:
		why = d.readRow(p, into, b, i)
	default:
		why = d.readEntries(p, into, b, i)
	}
	if why == "" && into != v {
		v.AppendFrom(into, 0)
	}
	return why
}

func (d *decoder) readArray(p *part, v *column.Vector, b *text.Block, i int) (why string) {
	i = blanks(b.Buf, i+1)
	for n := 1; b.Buf[i] != ']'; n++ {
		if i, why = d.readPart(p.parts[0], v.Children[0], b, i); why != "" {
			return within("element "+strconv.Itoa(n), why)
		}
		if i = blanks(b.Buf, i); b.Buf[i] == ',' {
			i = blanks(b.Buf, i+1)
		}
	}
	v.EndRow()
	return ""
}

// within says of which part of a value something is said.
func within(name, why string) string {
	if strings.HasPrefix(why, "element ") || strings.HasPrefix(why, "field ") || strings.HasPrefix(why, "the value of ") {
		return name + ", " + why
	}
	return name + ": " + why
}

// entry reads the key of the next member of an object at i, which is behind { or a comma; it returns the
// position of its value, 0 behind the last member.
func (d *decoder) entry(b *text.Block, i int) (key text.Field, value int) {
	i = blanks(b.Buf, i)
	if b.Buf[i] == ',' {
		i = blanks(b.Buf, i+1)
	}
	if b.Buf[i] == '}' {
		return key, 0
	}
	to, escaped := d.str(i + 1)
	key = text.Field{Start: int32(i + 1), End: int32(to), Form: text.Plain}
	if escaped {
		key.Start, key.Form = int32(i), text.Escaped // see unescape
	}
	return key, blanks(b.Buf, blanks(b.Buf, to+1)+1)
}

func keyText(b *text.Block, key text.Field) []byte {
	raw := b.Buf[key.Start:key.End]
	if key.Form == text.Escaped {
		return unescape(nil, raw)
	}
	return raw
}

func (d *decoder) readRow(p *part, v *column.Vector, b *text.Block, i int) (why string) {
	clear(p.seen)
	missing := len(p.seen)
	start := i + 1
	for i = start; ; {
		key, at := d.entry(b, i)
		if at == 0 {
			break
		}
		name := keyText(b, key)
		slot := p.keys.find(name)
		if slot < 0 {
			i, _ = d.value(at, 0)
			continue
		}
		if p.seen[slot] {
			return "the object has the key " + text.Show(name) + " twice"
		}
		p.seen[slot] = true
		missing--
		if i, why = d.readPart(p.parts[slot], v.Children[slot], b, at); why != "" {
			return within("field "+connector.QuoteName(p.Type.Fields[slot].Name), why)
		}
	}
	if missing > 0 {
		if why = d.fillMissing(p, v, b, start); why != "" {
			return why
		}
	}
	v.EndRow()
	return ""
}

// fillMissing makes NULL of the fields of a ROW that the object, whose first key is at i, has no key for.
func (d *decoder) fillMissing(p *part, v *column.Vector, b *text.Block, i int) string {
	similar := map[int]string{}
	if !d.codec.ignore {
		for {
			key, at := d.entry(b, i)
			if at == 0 {
				break
			}
			name := keyText(b, key)
			if slot := p.keys.similar(name); slot >= 0 && p.keys.find(name) < 0 {
				similar[slot] = string(name)
			}
			i, _ = d.value(at, 0)
		}
	}
	for slot, f := range p.Type.Fields {
		other, isSimilar := similar[slot]
		switch name := connector.QuoteName(f.Name); {
		case p.seen[slot]:
			continue
		case isSimilar:
			return fmt.Sprintf("the object has the key %s, but the field is called %s: upper and lower case are told apart", text.Show([]byte(other)), name)
		case d.codec.missing:
			return "the object has no key " + text.Show([]byte(f.Name))
		case f.Type.NotNull:
			return "field " + name + ": NULL, but it is NOT NULL"
		}
		v.Children[slot].AppendNull()
	}
	return ""
}

// readEntries appends a MAP or a MULTISET.
func (d *decoder) readEntries(p *part, v *column.Vector, b *text.Block, i int) (why string) {
	clear(p.names)
	keys := v.Children[0]
	for i++; ; {
		key, at := d.entry(b, i)
		if at == 0 {
			break
		}
		if fault := p.parts[0].Append(keys, b, []text.Field{key}); fault != nil {
			return "key " + p.parts[0].Message(fault)
		}
		name := string(keys.Value(keys.Len - 1))
		if _, twice := p.names[name]; twice {
			return "the object has the key " + text.Show([]byte(name)) + " twice"
		}
		p.names[name] = struct{}{}
		counts := v.Children[1]
		if i, why = d.readPart(p.parts[1], counts, b, at); why == "" && p.Type.Kind == types.Multiset && counts.I32[counts.Len-1] < 1 {
			why = "an element is there once or more often"
		}
		if why != "" {
			return within("the value of "+text.Show([]byte(name)), why)
		}
	}
	v.EndRow()
	return ""
}
