package sqlite

import (
	"strings"

	"github.com/sluice-sql/sluice/types"
)

// CreateSQL returns the statement that makes a table, with every name quoted. Columns of a primary key are
// NOT NULL. qualifier is "main." to run it, "" to show it. It returns the name and fault of a column that
// SQLite has no form for.
func CreateSQL(qualifier, table string, schema types.Schema) (sql, column, fault string) {
	key := map[string]bool{}
	for _, k := range schema.PrimaryKey {
		key[k] = true
	}
	var lines []string
	for _, c := range schema.Columns {
		declared, reason := DeclaredType(c.Type)
		if reason != "" {
			return "", c.Name, reason
		}
		line := "  " + Quote(c.Name) + " " + declared
		if c.Type.NotNull || key[c.Name] {
			line += " NOT NULL"
		}
		lines = append(lines, line)
	}
	if len(schema.PrimaryKey) > 0 {
		quoted := make([]string, len(schema.PrimaryKey))
		for i, k := range schema.PrimaryKey {
			quoted[i] = Quote(k)
		}
		line := "  "
		if schema.PrimaryKeyName != "" {
			line += "CONSTRAINT " + Quote(schema.PrimaryKeyName) + " "
		}
		lines = append(lines, line+"PRIMARY KEY ("+strings.Join(quoted, ", ")+")")
	}
	return "CREATE TABLE " + qualifier + Quote(table) + " (\n" + strings.Join(lines, ",\n") + "\n)", "", ""
}
