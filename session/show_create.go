package session

import (
	"context"
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// showCreateTable prints the CREATE TABLE that makes the table again, in Flink 2's form. Secrets are
// masked; a masked value is refused when the statement is run.
func (s *Session) showCreateTable(ctx context.Context, st *sqlparse.ShowCreateTable) (*Result, error) {
	id := s.identify(st.Name)
	c, table, err := s.catalogs.Table(ctx, id)
	if err != nil {
		return nil, err
	}
	if table.Kind == catalog.KindView {
		return nil, refuse(st.Name.Span(), "SHOW CREATE TABLE is only supported for tables, but %s is a view. Please use SHOW CREATE VIEW instead.", id.SQL())
	}
	f, _ := s.tableFactory(c, table.Options)
	return one("result", createTableText(id, table, tableOptions(f))), nil
}

// createTableText is the statement for a table.
func createTableText(id connector.ObjectIdentifier, t *catalog.CatalogTable, declared []connector.Option) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE %sTABLE %s (\n", temporary(id), id.SQL())
	for i, c := range t.Columns() {
		if i > 0 {
			b.WriteString(",\n")
		}
		b.WriteString("  " + sqlparse.QuoteIdent(c.Name))
		if c.Virtual == nil || c.Virtual.Expr == "" {
			b.WriteString(" " + longType(c.Type))
		}
		if more := extras(c); more != "" {
			b.WriteString(" " + more)
		}
		if c.Comment != "" {
			fmt.Fprintf(&b, " COMMENT %s", sqlparse.QuoteString(c.Comment))
		}
	}
	if w := t.Watermark; w != nil {
		fmt.Fprintf(&b, ",\n  WATERMARK FOR %s AS %s", sqlparse.QuoteIdent(w.Column), w.Expr)
	}
	if len(t.Schema.PrimaryKey) > 0 {
		name := t.Schema.PrimaryKeyName
		if name == "" {
			name = "PK_" + strings.Join(t.Schema.PrimaryKey, "_")
		}
		fmt.Fprintf(&b, ",\n  CONSTRAINT %s PRIMARY KEY (%s) NOT ENFORCED", sqlparse.QuoteIdent(name), quotedList(t.Schema.PrimaryKey))
	}
	b.WriteString("\n)\n")
	if t.Comment != "" {
		fmt.Fprintf(&b, "COMMENT %s\n", sqlparse.QuoteString(t.Comment))
	}
	if d := t.Distribution; d != nil {
		b.WriteString(distributed(d) + "\n")
	}
	if len(t.PartitionKeys) > 0 {
		fmt.Fprintf(&b, "PARTITIONED BY (%s)\n", quotedList(t.PartitionKeys))
	}
	writeWith(&b, declared, t.Options)
	return b.String()
}

// distributed writes a DISTRIBUTED clause.
func distributed(d *catalog.Distribution) string {
	text := "DISTRIBUTED"
	if len(d.Columns) > 0 {
		text += " BY "
		if d.Kind != "" {
			text += d.Kind
		}
		text += "(" + quotedList(d.Columns) + ")"
	}
	if d.Buckets > 0 {
		text += fmt.Sprintf(" INTO %d BUCKETS", d.Buckets)
	}
	return text
}

// longType writes a type as SHOW CREATE TABLE does: STRING and BYTES by their lengths.
func longType(t types.Type) string {
	s := t.String()
	if t.Precision != types.MaxLength {
		return s
	}
	switch t.Kind {
	case types.VarChar:
		return strings.Replace(s, "STRING", fmt.Sprintf("VARCHAR(%d)", types.MaxLength), 1)
	case types.VarBinary:
		return strings.Replace(s, "BYTES", fmt.Sprintf("VARBINARY(%d)", types.MaxLength), 1)
	}
	return s
}

func quotedList(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = sqlparse.QuoteIdent(n)
	}
	return strings.Join(quoted, ", ")
}
