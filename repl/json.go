package repl

import (
	"encoding/base64"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// jsonPrinter prints one object a row, one row a line. Numbers are JSON numbers with all their digits
// (readers that keep a number in a double may round them), NaN and the infinities are strings, since
// JSON has no such number; bytes are base64; dates, times and intervals are text as in CAST. An ARRAY is an
// array, a ROW an object, and so are a MAP and a MULTISET, whose keys are text. The second
// column of a name a is a1, since readers of JSON keep one value of a key.
type jsonPrinter struct {
	layout
	keys    [][]byte // `{"a":` and `,"b":`
	line    []byte
	scratch []byte
}

func (p *jsonPrinter) begin(s types.Schema) error {
	names := distinctNames(s)
	for i := range s.Columns {
		key := []byte{','}
		if i == 0 {
			key = []byte{'{'}
		}
		p.keys = append(p.keys, append(p.text(key, []byte(names[i])), ':'))
	}
	return nil
}

// distinctNames returns the names of columns, a number behind each that a column before it has already.
func distinctNames(s types.Schema) []string {
	taken := map[string]bool{}
	for _, c := range s.Columns {
		taken[c.Name] = true
	}
	seen, names := map[string]bool{}, make([]string, len(s.Columns))
	for i, c := range s.Columns {
		name := c.Name
		for n := 1; seen[c.Name] && taken[name]; n++ {
			name = c.Name + strconv.Itoa(n)
		}
		seen[c.Name], taken[name], names[i] = true, true, name
	}
	return names
}

func (p *jsonPrinter) batch(b *column.Batch) error {
	for i := range b.Rows() {
		row := b.Row(i)
		for c, v := range b.Cols {
			p.line = append(p.line, p.keys[c]...)
			p.value(v, row)
		}
		p.line = append(p.line, "}\n"...)
		if len(p.line) > writeSize {
			if err := p.write(); err != nil {
				return err
			}
		}
	}
	return p.write()
}

func (p *jsonPrinter) end() error { return nil }

func (p *jsonPrinter) value(v *column.Vector, i int) {
	if v.IsNull(i) {
		p.line = append(p.line, "null"...)
		return
	}
	t := v.Type
	switch {
	case t.Kind == types.Boolean && v.Bool[i]:
		p.line = append(p.line, "true"...)
	case t.Kind == types.Boolean:
		p.line = append(p.line, "false"...)
	case t.Kind == types.Float && !finite(float64(v.F32[i])), t.Kind == types.Double && !finite(v.F64[i]):
		p.line = append(p.line, '"')
		p.line = column.AppendText(p.line, v, i, p.zone)
		p.line = append(p.line, '"')
	case t.IsNumeric():
		p.line = column.AppendText(p.line, v, i, p.zone)
	case t.IsString():
		p.line = p.text(p.line, v.Value(i))
	case t.IsBinary():
		p.line = append(p.line, '"')
		p.line = base64.StdEncoding.AppendEncode(p.line, v.Value(i))
		p.line = append(p.line, '"')
	case t.IsNested():
		p.nested(v, i)
	default:
		p.scratch = column.AppendText(p.scratch[:0], v, i, p.zone)
		p.line = p.text(p.line, p.scratch)
	}
}

// nested appends a value that is made of others.
func (p *jsonPrinter) nested(v *column.Vector, i int) {
	if v.Type.Kind == types.Row {
		p.line = append(p.line, '{')
		for c, f := range v.Type.Fields {
			if c > 0 {
				p.line = append(p.line, ',')
			}
			p.line = append(p.text(p.line, []byte(f.Name)), ':')
			p.value(v.Children[c], i)
		}
		p.line = append(p.line, '}')
		return
	}
	ends := "{}"
	if v.Type.Kind == types.Array {
		ends = "[]"
	}
	p.line = append(p.line, ends[0])
	from, to := v.Elements(i)
	for e := from; e < to; e++ {
		if e > from {
			p.line = append(p.line, ',')
		}
		if keys := v.Children[0]; v.Type.Kind != types.Array {
			p.scratch = append(p.scratch[:0], "NULL"...)
			if !keys.IsNull(e) {
				p.scratch = column.AppendText(p.scratch[:0], keys, e, p.zone)
			}
			p.line = append(p.text(p.line, p.scratch), ':')
		}
		p.value(v.Children[len(v.Children)-1], e)
	}
	p.line = append(p.line, ends[1])
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// text appends a JSON string. On a terminal whatever it would act on is escaped.
func (p *jsonPrinter) text(dst, s []byte) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < 0x7f && c != '"' && c != '\\' || c >= 0x7f && !p.terminal {
			i++
			continue
		}
		r, n := utf8.DecodeRune(s[i:])
		if r >= 0x7f && !hidden(r) && !(r == utf8.RuneError && n == 1) {
			i += n
			continue
		}
		dst = append(dst, s[from:i]...)
		switch r {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			units := []rune{r}
			if r > 0xffff {
				units = []rune{0xd800 + (r-0x10000)>>10, 0xdc00 + (r-0x10000)&0x3ff}
			}
			for _, u := range units {
				dst = append(dst, '\\', 'u', digits[u>>12&15], digits[u>>8&15], digits[u>>4&15], digits[u&15])
			}
		}
		i += n
		from = i
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

func (p *jsonPrinter) write() error {
	_, err := p.w.Write(p.line)
	p.line = p.line[:0]
	return err
}
