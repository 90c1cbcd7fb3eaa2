package bind

import (
	"errors"
	"strings"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/sqlparse"
)

// proposeColumns is the error of a CREATE TABLE without columns. Where the connector can look at the data, the
// hint has a list of columns that fits it, ready to be pasted.
func (b *Binder) proposeColumns(s *sqlparse.CreateTable) error {
	const missing = "The table has no columns"
	t, err := b.createTarget(s)
	if err != nil {
		return err
	}
	f, ok := b.tableFactory(t).(connector.SchemaInferrer)
	if !ok {
		return withHint(errAt(s.Name.Span(), missing), "list the columns with their types")
	}
	schema, err := f.Infer(b.ctx, t.table.Options)
	if err != nil {
		given, _ := optionsOf(s.Options) // has been read before
		if err = placeOption(err, given, s.Name.Span()); b.ctx.Err() != nil {
			return err
		}
		var placed *sqlparse.Error
		if errors.As(err, &placed) {
			return err
		}
		return errAt(s.Name.Span(), "%s, and none could be taken from the data: %s", missing, err)
	}
	var list strings.Builder
	for i, c := range schema.Columns {
		if i > 0 {
			list.WriteString(", ")
		}
		list.WriteString(connector.QuoteName(c.Name) + " " + c.Type.String())
	}
	return withHint(errAt(s.Name.Span(), "%s", missing), "by the first rows of the data they are (%s); write this list behind the table's name", list.String())
}

// checkDefinition asks the connector of a table, where it has a say, whether there can be such a table.
func (b *Binder) checkDefinition(s *sqlparse.CreateTable, t *target) error {
	f, ok := b.tableFactory(t).(connector.DefinitionChecker)
	if !ok {
		return nil
	}
	err := f.CheckDefinition(t.table.Def(t.id))
	var ce *connector.ColumnError
	if errors.As(err, &ce) {
		at, ok := t.places[ce.Column]
		if !ok {
			at = s.Name.Span()
		}
		return errAt(at, "%s", ce.Msg)
	}
	given, _ := optionsOf(s.Options) // has been read before
	if err = placeOption(err, given, s.Name.Span()); err != nil {
		var placed *sqlparse.Error
		if !errors.As(err, &placed) {
			return errAt(s.Name.Span(), "%s", err)
		}
	}
	return err
}
