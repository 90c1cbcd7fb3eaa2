package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// describe gives a table's or view's columns in Flink's form; the comment column is there when some
// column has a comment. extras says of a column of a foreign store that the store computes it or has a
// default for it. EXTENDED adds what there is beside the columns.
func (s *Session) describe(ctx context.Context, st *sqlparse.Describe) (*Result, error) {
	id, table, err := s.described(ctx, st.Name)
	if err != nil {
		return nil, err
	}
	r := describeColumns(table, nil)
	if st.Extended {
		r.Message = beside(id, table)
	}
	return r, nil
}

// showColumns gives the columns as DESCRIBE does; LIKE picks them by name.
func (s *Session) showColumns(ctx context.Context, st *sqlparse.ShowColumns) (*Result, error) {
	_, table, err := s.described(ctx, st.Table)
	if err != nil {
		return nil, err
	}
	return describeColumns(table, st.Like), nil
}

// described finds the table or view that a statement describes.
func (s *Session) described(ctx context.Context, name sqlparse.ObjectName) (connector.ObjectIdentifier, *catalog.CatalogTable, error) {
	id := s.identify(name)
	_, table, err := s.catalogs.Table(ctx, id)
	var named *catalog.Error
	if errors.As(err, &named) && errors.Is(err, catalog.ErrTableNotExist) {
		e := *named
		e.Msg = fmt.Sprintf("Tables or views with the identifier '%s' doesn't exist.", id)
		return id, nil, &e
	}
	return id, table, err
}

// beside says what a definition has beside its columns.
func beside(id connector.ObjectIdentifier, t *catalog.CatalogTable) string {
	kind, shows := "table", "SHOW CREATE TABLE"
	if t.Kind == catalog.KindView {
		kind, shows = "view", "SHOW CREATE VIEW"
	}
	text := id.String() + " is a " + strings.ToLower(temporary(id)) + kind
	if len(t.PartitionKeys) > 0 {
		text += ", partitioned by " + strings.Join(t.PartitionKeys, ", ")
	}
	if name := t.Options["connector"]; name != "" {
		text += ", of connector '" + name + "'"
	}
	if t.Comment != "" {
		text += ": " + t.Comment
	}
	return text + "\n" + shows + " shows all of it."
}

// describeColumns gives the columns of a table whose names LIKE admits.
func describeColumns(t *catalog.CatalogTable, like *sqlparse.ShowLike) *Result {
	var kept []catalog.Column
	comments := false
	for _, c := range t.Columns() {
		if len(filterLike([]string{c.Name}, like)) == 1 {
			kept = append(kept, c)
			comments = comments || c.Comment != ""
		}
	}
	m := newMetadata("name", "type", "null", "key", "extras", "watermark")
	if comments {
		m.schema.Columns = append(m.schema.Columns, types.Column{Name: "comment", Type: types.String()})
	}
	m.boolean(2)
	for _, c := range kept {
		row := []any{c.Name, c.Type.AsNullable().String(), c.Type.Nullable(), "", extras(c), ""}
		if w := t.Watermark; w != nil && w.Column == c.Name {
			row[1] = row[1].(string) + " *ROWTIME*"
			row[5] = w.Expr
		}
		if c.Virtual != nil && c.Virtual.Expr == "PROCTIME()" {
			row[1] = row[1].(string) + " *PROCTIME*"
		}
		if contains(t.Schema.PrimaryKey, c.Name) {
			row[3] = "PRI(" + strings.Join(t.Schema.PrimaryKey, ", ") + ")"
		}
		switch {
		case contains(t.ReadOnly, c.Name):
			row[4] = "GENERATED"
		case contains(t.Defaults, c.Name):
			row[4] = "DEFAULT"
		}
		if comments {
			row = append(row, c.Comment)
		}
		m.add(row...)
	}
	return m.result()
}

// extras is what a column is beside its type, as a CREATE TABLE has it; "" for a physical column.
func extras(c catalog.Column) string {
	v := c.Virtual
	switch {
	case v == nil:
		return ""
	case v.Expr != "":
		return "AS " + v.Expr
	}
	text := "METADATA"
	if v.Key != v.Name {
		text += " FROM " + sqlparse.QuoteString(v.Key)
	}
	if !v.Stored {
		text += " VIRTUAL"
	}
	return text
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}
