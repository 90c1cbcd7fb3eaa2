package csv

import (
	"fmt"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/format/text"
	"github.com/sluice-sql/sluice/types"
)

// Format is the format 'csv'.
type Format struct{}

var _ connector.Format = Format{}

// Identifier returns csv.
func (Format) Identifier() string { return "csv" }

// The options.
const (
	optDelimiter  = "csv.field-delimiter"
	optQuote      = "csv.quote-character"
	optNoQuote    = "csv.disable-quote-character"
	optComments   = "csv.allow-comments"
	optIgnore     = "csv.ignore-parse-errors"
	optEscape     = "csv.escape-character"
	optNull       = "csv.null-literal"
	optScientific = "csv.write-bigdecimal-in-scientific-notation"
	optHeader     = "csv.header"
	optArray      = "csv.array-element-delimiter"
)

var truth = []string{"true", "false"}

// Options returns Flink's options and csv.header.
func (Format) Options() []connector.Option {
	return []connector.Option{
		{Key: optHeader, Default: "false", Public: true, Allowed: truth, Doc: "the first line has the names of the columns, in any order; written, too"},
		{Key: optDelimiter, Default: ",", Public: true, Doc: `what stands between two values: one ASCII character, or \t`},
		{Key: optQuote, Default: `"`, Public: true, Doc: "what values are put between that could not stand without: one ASCII character"},
		{Key: optNoQuote, Default: "false", Public: true, Allowed: truth, Doc: "quotes are characters like others"},
		{Key: optEscape, Public: true, Doc: "takes the meaning from the character after it: one ASCII character"},
		{Key: optNull, Public: true, Doc: "the unquoted text that is NULL; without it NULL is an empty value that is not quoted"},
		{Key: optComments, Default: "false", Public: true, Allowed: truth, Doc: "lines that begin with # are skipped"},
		{Key: optIgnore, Default: "false", Public: true, Allowed: truth, Doc: "values that are not of their type become NULL, lines that cannot be read are skipped"},
		{Key: optScientific, Default: "false", Public: true, Doc: "DECIMALs are always written in plain digits: only 'false'"},
		{Key: optArray, Public: true, Doc: "not supported: a column cannot be an ARRAY; 'format' = 'json' has them"},
	}
}

// dialect is what the options say.
type dialect struct {
	delimiter, quote, escape byte // quote and escape may be 0: none
	null                     string
	hasNull                  bool // null was given
	header, comments, ignore bool
	hasHeader                bool // header was given
	hasDelimiter             bool // delimiter was given
}

func newDialect(options map[string]string) (*dialect, error) {
	d := &dialect{delimiter: ',', quote: '"'}
	character := func(key string, at *byte) error {
		v, ok := options[key]
		if !ok {
			return nil
		}
		if v == `\t` {
			v = "\t"
		}
		if len(v) != 1 || v[0] >= 0x80 || v[0] < ' ' && v[0] != '\t' {
			return &connector.OptionError{Key: key, Msg: fmt.Sprintf("option '%s' = '%s' is not one ASCII character", key, v)}
		}
		*at = v[0]
		return nil
	}
	for _, o := range []struct {
		key string
		at  *byte
	}{{optDelimiter, &d.delimiter}, {optQuote, &d.quote}, {optEscape, &d.escape}} {
		if err := character(o.key, o.at); err != nil {
			return nil, err
		}
	}
	if options[optNoQuote] == "true" {
		if _, ok := options[optQuote]; ok {
			return nil, &connector.OptionError{Key: optNoQuote, Msg: fmt.Sprintf("option '%s' = 'true' does not go with '%s'", optNoQuote, optQuote)}
		}
		d.quote = 0
	}
	d.header = options[optHeader] == "true"
	_, d.hasHeader = options[optHeader]
	_, d.hasDelimiter = options[optDelimiter]
	d.comments = options[optComments] == "true"
	d.ignore = options[optIgnore] == "true"
	d.null, d.hasNull = options[optNull]
	same := func(a, b string) error {
		return &connector.OptionError{Key: b, Msg: fmt.Sprintf("options '%s' and '%s' are the same character", a, b)}
	}
	switch {
	case d.delimiter == d.quote:
		return nil, same(optDelimiter, optQuote)
	case d.delimiter == d.escape:
		return nil, same(optDelimiter, optEscape)
	case d.quote == d.escape && d.quote != 0:
		return nil, same(optQuote, optEscape)
	case d.comments && (d.delimiter == '#' || d.quote == '#' || d.escape == '#'):
		return nil, &connector.OptionError{Key: optComments, Msg: fmt.Sprintf("option '%s': # already has another meaning in this table", optComments)}
	}
	for i := range len(d.null) {
		if d.special(d.null[i]) {
			return nil, &connector.OptionError{Key: optNull, Msg: fmt.Sprintf("option '%s' = '%s' has a character with a meaning of its own", optNull, d.null)}
		}
	}
	if d.comments && len(d.null) > 0 && d.null[0] == '#' {
		return nil, &connector.OptionError{Key: optNull, Msg: fmt.Sprintf("option '%s' = '%s' looks like a comment", optNull, d.null)}
	}
	if v, ok := options[optScientific]; ok && v != "false" {
		return nil, &connector.OptionError{Key: optScientific, Msg: fmt.Sprintf("option '%s' can only be 'false': a DECIMAL is always written in plain digits", optScientific)}
	}
	if _, ok := options[optArray]; ok {
		return nil, &connector.OptionError{Key: optArray, KeyAtFault: true, Msg: fmt.Sprintf("option '%s' is not supported: a column cannot be an ARRAY; 'format' = 'json' has them", optArray)}
	}
	return d, nil
}

// special reports whether a byte has a meaning in an unquoted value.
func (d *dialect) special(c byte) bool {
	return c == d.delimiter || c == '\n' || c == '\r' || c == 0 || c == d.quote || c == d.escape
}

// Codec binds the format to columns.
func (Format) Codec(schema types.Schema, options map[string]string) (connector.Codec, error) {
	d, err := newDialect(options)
	if err != nil {
		return nil, err
	}
	for _, c := range schema.Columns {
		if why := text.Supported(c.Type); why != "" {
			return nil, &connector.ColumnError{Column: c.Name, Msg: why}
		}
	}
	c := &codec{dialect: d, schema: schema, window: text.WindowSize}
	if d.header {
		e := c.Encoder().(*encoder)
		for i, col := range schema.Columns {
			if _, why := e.text(nil, []byte(col.Name), i == 0); why != "" {
				return nil, &connector.ColumnError{Column: col.Name, Msg: "the column's name " + why + ", which 'csv.header' needs"}
			}
		}
	}
	return c, nil
}

// codec is the format of one table.
type codec struct {
	*dialect
	schema types.Schema
	window int // the size of a decoder's window
}

// Extension returns .csv.
func (c *codec) Extension() string { return ".csv" }
