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
		{Key: optMapMode, Default: "FAIL", Public: true, Allowed: []string{"FAIL", "DROP", "LITERAL"}, Doc: "what is written of an entry of a MAP whose key is NULL: an error, nothing, or the text of 'json.map-null-key.literal' as key"},
		{Key: optMapText, Default: "null", Public: true, Doc: "the key that is written for NULL, with 'json.map-null-key.mode' = 'LITERAL'"},
	}
}

// codec is the format of one table.
type codec struct {
	schema          types.Schema
	missing, ignore bool
	noNulls         bool
	keys            *keys
	nullKey         string // LITERAL: what to write for a key that is NULL
	nullMode        string
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
	c.nullMode, c.nullKey = options[optMapMode], "null"
	if literal, ok := options[optMapText]; ok {
		if c.nullKey = literal; c.nullMode != "LITERAL" {
			return nil, &connector.OptionError{Key: optMapText, KeyAtFault: true, Msg: fmt.Sprintf("option '%s' goes with '%s' = 'LITERAL' only", optMapText, optMapMode)}
		}
	}
	for _, col := range schema.Columns {
		if why := supported(col.Type); why != "" {
			return nil, &connector.ColumnError{Column: col.Name, Msg: why}
		}
	}
	c.keys = newKeys(schema.Names())
	return c, nil
}

// Extension returns .json.
func (c *codec) Extension() string { return ".json" }

// Cuts returns nothing: where an object ends is only known from its beginning.
func (c *codec) Cuts(context.Context, io.ReaderAt, int64, int) ([]connector.Place, error) {
	return nil, nil
}
