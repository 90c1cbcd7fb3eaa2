package json

import (
	"context"
	"fmt"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/format/text"
	"github.com/sluice-sql/sluice/types"
)

// Infer finds columns for the keys of the first objects, in the order in which they first appear. Keys whose
// values are of several kinds are STRING.
func (Format) Infer(ctx context.Context, piece connector.Piece, _ map[string]string) (types.Schema, error) {
	w := text.NewWindow(piece.Data, text.WindowSize, piece.Memory)
	defer w.Close()
	s := newScanner(piece.Name, w, piece.Start)
	s.all = true
	top := &guess{}
	for range text.InferRows {
		if err := ctx.Err(); err != nil {
			return types.Schema{}, err
		}
		ok, err := s.one()
		if err != nil {
			return types.Schema{}, err
		}
		if !ok {
			break
		}
		for _, m := range append([]member(nil), s.members...) {
			s.guess(top.field(m.key), m.value, 1)
		}
	}
	if top.names == nil {
		return types.Schema{}, fmt.Errorf("%s has no object with a key", piece.Name)
	}
	var schema types.Schema
	for _, name := range top.names {
		if name == "" {
			return types.Schema{}, fmt.Errorf("%s has objects with the key \"\", which cannot be the name of a column", piece.Name)
		}
		schema.Columns = append(schema.Columns, types.Column{Name: name, Type: top.fields[name].Type()})
	}
	return schema, nil
}

// guess finds a type that some values of JSON fit.
type guess struct {
	text.Guess                   // of those that are neither objects nor arrays
	fields     map[string]*guess // of the objects
	names      []string
	element    *guess // of the arrays
	object     bool   // there was an object
	deep       bool   // there was a value too deep to look at
}

func (g *guess) field(name string) *guess {
	f := g.fields[name]
	if f == nil {
		f = &guess{}
		if g.fields == nil {
			g.fields = map[string]*guess{}
		}
		g.fields[name] = f
		g.names = append(g.names, name)
	}
	return f
}

// deepGuess is how deep types are proposed: what is below is the text of JSON.
const deepGuess = 8

// manyKeys is from how many different keys on objects are taken for maps and not for rows.
const manyKeys = 200

// guess takes a value into account that stands in the window.
func (s *scanner) guess(g *guess, f text.Field, depth int) {
	buf := s.w.Buf
	raw := buf[f.Start:f.End]
	switch {
	case f.Form == text.Null:
	case f.Form == text.Literal:
		g.Add(raw)
	case f.Form == text.Plain:
		g.AddText(raw)
	case raw[0] == '"':
		g.AddText(unescape(nil, raw))
	case depth == deepGuess:
		g.deep = true
	case raw[0] == '[':
		if g.element == nil {
			g.element = &guess{}
		}
		for i := blanks(buf, int(f.Start)+1); buf[i] != ']'; {
			var e text.Field
			i, e = s.value(i, 0)
			s.guess(g.element, e, depth+1)
			if i = blanks(buf, i); buf[i] == ',' {
				i = blanks(buf, i+1)
			}
		}
	default:
		g.object = true
		b := &text.Block{Buf: buf}
		d := decoder{scanner: s}
		for i := int(f.Start) + 1; ; {
			key, at := d.entry(b, i)
			if at == 0 {
				break
			}
			var v text.Field
			i, v = s.value(at, 0)
			s.guess(g.field(string(keyText(b, key))), v, depth+1)
		}
	}
}

// Type returns the type: STRING for what is not always an object, an array or neither.
func (g *guess) Type() types.Type {
	switch {
	case g.deep || g.object && (g.element != nil || g.Seen()) || g.element != nil && g.Seen():
		return types.String()
	case g.element != nil:
		return types.ArrayOf(g.element.Type())
	case !g.object:
		return g.Guess.Type()
	case len(g.names) == 0 || len(g.names) > manyKeys || g.fields[""] != nil:
		return types.MapOf(types.String().AsNotNull(), types.String())
	}
	var fields []types.Field
	for _, name := range g.names {
		fields = append(fields, types.Field{Name: name, Type: g.fields[name].Type()})
	}
	return types.RowOf(fields...)
}
