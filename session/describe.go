package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// describe gives a table's or view's columns in Flink's form; the comment column is there when some
// column has a comment. extras says of a column of a foreign store that the store computes it or has a
// default for it.
func (s *Session) describe(ctx context.Context, st *sqlparse.Describe) (*Result, error) {
	if st.Extended {
		return nil, &sqlparse.Error{Span: st.Span(), Msg: "DESCRIBE EXTENDED is not supported yet", Hint: "DESCRIBE gives the columns, SHOW CREATE TABLE everything"}
	}
	id := s.identify(st.Name)
	_, table, err := s.catalogs.Table(ctx, id)
	if err != nil {
		var named *catalog.Error
		if errors.As(err, &named) && errors.Is(err, catalog.ErrTableNotExist) {
			e := *named
			e.Msg = fmt.Sprintf("Tables or views with the identifier '%s' doesn't exist.", id)
			return nil, &e
		}
		return nil, err
	}
	m := newMetadata("name", "type", "null", "key", "extras", "watermark")
	m.schema.Columns[2].Type = types.Of(types.Boolean)
	comments := false
	for _, c := range table.Schema.Columns {
		comments = comments || c.Comment != ""
	}
	if comments {
		m.schema.Columns = append(m.schema.Columns, types.Column{Name: "comment", Type: types.String()})
	}
	m.batch = column.NewBatch(m.schema.Types(), len(table.Schema.Columns))
	for _, c := range table.Schema.Columns {
		row := []any{c.Name, c.Type.AsNullable().String(), c.Type.Nullable(), "", "", ""}
		if contains(table.Schema.PrimaryKey, c.Name) {
			row[3] = "PRI(" + strings.Join(table.Schema.PrimaryKey, ", ") + ")"
		}
		switch {
		case contains(table.ReadOnly, c.Name):
			row[4] = "GENERATED"
		case contains(table.Defaults, c.Name):
			row[4] = "DEFAULT"
		}
		if comments {
			row = append(row, c.Comment)
		}
		m.add(row...)
	}
	return m.result(), nil
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}
