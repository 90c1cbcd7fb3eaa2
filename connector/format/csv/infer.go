package csv

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/format/text"
	"github.com/sluice-sql/sluice/types"
)

// Infer finds columns that the first rows fit. Where the options do not say whether the first line has
// names and it looks as if it had, that is an error, for the list would be another.
func (Format) Infer(ctx context.Context, piece connector.Piece, options map[string]string) (types.Schema, error) {
	d, err := newDialect(options)
	if err != nil {
		return types.Schema{}, err
	}
	w := text.NewWindow(piece.Data, text.WindowSize, piece.Memory)
	defer w.Close()
	s := newSplitter(d, piece.Name, w, 1)
	if err := s.begin(); err != nil {
		return types.Schema{}, err
	}
	if c := d.delimiterOf(w.Buf[w.Pos:w.End]); c != 0 && !d.hasDelimiter {
		return types.Schema{}, fmt.Errorf("the values of %s seem to stand between %s: add %s, or %s if they do not", piece.Name, characterName(c), delimiterOption(c), delimiterOption(d.delimiter))
	}
	var names, first []string
	if d.header {
		if names, err = s.header(); err != nil {
			return types.Schema{}, err
		}
	}
	// guesses are from all rows, rest from all but the first.
	guesses, rest := make([]text.Guess, len(names)), make([]text.Guess, len(names))
	named := false // the first line could have names
	var line int64
	for n := 0; n < text.InferRows; n++ {
		if err := ctx.Err(); err != nil {
			return types.Schema{}, err
		}
		line = s.line
		ok, err := s.one()
		if err != nil {
			return types.Schema{}, err
		}
		if !ok {
			break
		}
		fields := s.record
		if n == 0 && names == nil {
			guesses, rest = make([]text.Guess, len(fields)), make([]text.Guess, len(fields))
		}
		if len(fields) == 1 && fields[0].Form == text.Null && len(guesses) > 1 {
			continue // a blank line; whoever reads the file says whether it may be there
		}
		if len(fields) != len(guesses) {
			return types.Schema{}, &text.Error{File: piece.Name, Line: line, Msg: fmt.Sprintf("%s, where the lines before have %d", plural(len(fields), "value"), len(guesses))}
		}
		for i, f := range fields {
			if f.Form == text.Null {
				continue
			}
			value := []byte(s.value(f))
			guesses[i].Add(value)
			if n > 0 {
				rest[i].Add(value)
			}
		}
		if n == 0 && names == nil {
			for _, f := range fields {
				first = append(first, s.value(f))
			}
			named = canBeNames(first, guesses)
		}
	}
	if len(guesses) == 0 {
		return types.Schema{}, fmt.Errorf("%s is empty", piece.Name)
	}
	if _, said := options[optHeader]; !said && named && otherThanText(rest) {
		return types.Schema{}, fmt.Errorf("the first line of %s looks like the names of the columns (%s): add 'csv.header' = 'true', or 'csv.header' = 'false' if it is a row", piece.Name, strings.Join(first, ", "))
	}
	var schema types.Schema
	for i, g := range guesses {
		name := "c" + strconv.Itoa(i+1)
		if names != nil {
			name = names[i]
		}
		schema.Columns = append(schema.Columns, types.Column{Name: name, Type: g.Type()})
	}
	return schema, nil
}

// canBeNames reports whether the values of a line are different texts, none of them empty.
func canBeNames(line []string, guesses []text.Guess) bool {
	seen := map[string]bool{}
	for i, name := range line {
		if name == "" || seen[name] || !guesses[i].Text() {
			return false
		}
		seen[name] = true
	}
	return true
}

// otherThanText reports whether a column has values that are not texts.
func otherThanText(guesses []text.Guess) bool {
	for _, g := range guesses {
		if g.Seen() && !g.Text() {
			return true
		}
	}
	return false
}
