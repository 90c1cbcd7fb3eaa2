package json

import (
	"context"
	"fmt"
	"io"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/format/text"
	"github.com/sluice-sql/sluice/types"
)

// Format is the format 'json'.
type Format struct{}

var _ connector.Format = Format{}

// Identifier returns json.
func (Format) Identifier() string { return "json" }

// The options.
const (
	optMissing   = "json.fail-on-missing-field"
	optIgnore    = "json.ignore-parse-errors"
	optTimestamp = "json.timestamp-format.standard"
	optPlain     = "json.encode.decimal-as-plain-number"
	optNoNulls   = "json.encode.ignore-null-fields"
	optMapMode   = "json.map-null-key.mode"
	optMapText   = "json.map-null-key.literal"
)

var truth = []string{"true", "false"}

// Options returns Flink's options.
func (Format) Options() []connector.Option {
	return []connector.Option{
		{Key: optMissing, Default: "false", Public: true, Allowed: truth, Doc: "an object without the key of a column is an error"},
		{Key: optIgnore, Default: "false", Public: true, Allowed: truth, Doc: "values that are not of their type become NULL, lines that cannot be read are skipped"},
		{Key: optTimestamp, Default: "SQL", Public: true, Allowed: []string{"SQL", "ISO-8601"}, Doc: "how timestamps are written, with a blank or with a T between date and time; both are read"},
		{Key: optPlain, Default: "true", Public: true, Doc: "DECIMALs are always written in plain digits: only 'true'"},
		{Key: optNoNulls, Default: "false", Public: true, Allowed: truth, Doc: "no key is written for a NULL"},
		{Key: optMapMode, Public: true, Doc: "not supported: a column cannot be a MAP yet"},
		{Key: optMapText, Public: true, Doc: "not supported: a column cannot be a MAP yet"},
	}
}

// codec is the format of one table.
type codec struct {
	schema          types.Schema
	missing, ignore bool
	noNulls         bool
	separator       byte // between date and time
	window          int  // the size of a decoder's window
}

// Codec binds the format to columns.
func (Format) Codec(schema types.Schema, options map[string]string) (connector.Codec, error) {
	c := &codec{schema: schema, separator: ' ', window: text.WindowSize}
	c.missing = options[optMissing] == "true"
	c.ignore = options[optIgnore] == "true"
	c.noNulls = options[optNoNulls] == "true"
	if options[optTimestamp] == "ISO-8601" {
		c.separator = 'T'
	}
	if c.missing && c.ignore {
		return nil, &connector.OptionError{Key: optIgnore, Msg: fmt.Sprintf("options '%s' and '%s' do not go together", optMissing, optIgnore)}
	}
	if v, ok := options[optPlain]; ok && v != "true" {
		return nil, &connector.OptionError{Key: optPlain, Msg: fmt.Sprintf("option '%s' can only be 'true': a DECIMAL is always written in plain digits", optPlain)}
	}
	for _, key := range []string{optMapMode, optMapText} {
		if _, ok := options[key]; ok {
			return nil, &connector.OptionError{Key: key, KeyAtFault: true, Msg: fmt.Sprintf("option '%s' is not supported: a column cannot be a MAP yet", key)}
		}
	}
	for _, col := range schema.Columns {
		if why := text.Supported(col.Type); why != "" {
			return nil, &connector.ColumnError{Column: col.Name, Msg: why}
		}
	}
	return c, nil
}

// Extension returns .json.
func (c *codec) Extension() string { return ".json" }

// Cuts returns nothing: where an object ends is only known from its beginning.
func (c *codec) Cuts(context.Context, io.ReaderAt, int64, int) ([]connector.Place, error) {
	return nil, nil
}

// Infer finds columns for the keys of the first objects, in the order in which they first appear. Keys whose
// values are objects or arrays, or of several kinds, are STRING.
func (Format) Infer(ctx context.Context, piece connector.Piece, _ map[string]string) (types.Schema, error) {
	w := text.NewWindow(piece.Data, text.WindowSize, piece.Memory)
	defer w.Close()
	s := newScanner(piece.Name, w, piece.Start)
	s.all = true
	var names []string
	guesses := map[string]*text.Guess{}
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
		for _, m := range s.members {
			g := guesses[m.key]
			if g == nil {
				g = &text.Guess{}
				guesses[m.key] = g
				names = append(names, m.key)
			}
			raw := w.Buf[m.value.Start:m.value.End]
			switch m.value.Form {
			case text.Null:
			case text.Literal:
				g.Add(raw)
			case text.Escaped:
				g.AddText(unescape(nil, raw))
			default:
				g.AddText(raw)
			}
		}
	}
	if names == nil {
		return types.Schema{}, fmt.Errorf("%s has no object with a key", piece.Name)
	}
	var schema types.Schema
	for _, name := range names {
		if name == "" {
			return types.Schema{}, fmt.Errorf("%s has objects with the key \"\", which cannot be the name of a column", piece.Name)
		}
		schema.Columns = append(schema.Columns, types.Column{Name: name, Type: guesses[name].Type()})
	}
	return schema, nil
}
