package mysql

import (
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/types"
)

// CheckTable says how a table would be declared.
func (s *Server) CheckTable(table string, def server.Definition) (ddl string, stored []string, err error) {
	if err := checkNew(table); err != nil {
		return "", nil, err
	}
	f := s.known()
	ddl, stored, err = createTable(quote(table), def, f)
	return ddl, stored, err
}

// createTable writes the statement that makes a table under a name that is quoted already.
func createTable(name string, def server.Definition, f *facts) (ddl string, stored []string, err error) {
	if len(def.Schema.Columns) == 0 {
		return "", nil, fmt.Errorf("a table of MySQL has at least one column")
	}
	if !f.hasCollation() {
		return "", nil, fmt.Errorf("%s has no collation that tells all texts apart: it takes MySQL 8.0.17, with utf8mb4_0900_bin, or MariaDB", f.product())
	}
	key := map[string]bool{}
	for _, k := range def.Schema.PrimaryKey {
		key[k] = true
	}
	seen := map[string]string{}
	total, keyBytes := 0, 0
	var b strings.Builder
	b.WriteString("CREATE TABLE " + name + " (")
	for i, c := range def.Schema.Columns {
		refuse := func(format string, args ...any) (string, []string, error) {
			return "", nil, &connector.ColumnError{Column: c.Name, Msg: "column " + connector.QuoteName(c.Name) + ": " + fmt.Sprintf(format, args...)}
		}
		if fault := nameFault(c.Name); fault != "" {
			return refuse("%s", fault)
		}
		folded := strings.ToLower(c.Name)
		if twin, ok := seen[folded]; ok {
			return refuse("MySQL does not tell it from column %s: give one of them another name", connector.QuoteName(twin))
		}
		seen[folded] = c.Name
		declared, reason := declaredType(c.Type, f)
		if reason != "" {
			return refuse("%s", reason)
		}
		if key[c.Name] {
			if declared == "LONGTEXT" || declared == "LONGBLOB" {
				short := map[string]string{"LONGTEXT": "VARCHAR(n), n up to 768", "LONGBLOB": "VARBINARY(n), n up to 3072"}[declared]
				return refuse("MySQL has no PRIMARY KEY over %s; CAST it to %s", c.Type.AsNullable(), short)
			}
			if keyBytes += keyWidth(c.Type); keyBytes > maxKey {
				return refuse("the PRIMARY KEY would have more than MySQL's %d bytes, at %d for each character", maxKey, charBytes)
			}
		}
		if total += rowBytes(c.Type); total > maxRow-len(def.Schema.Columns)/8-1 {
			return refuse("up to here a row may have more than MySQL's %d bytes, at %d for each character; CAST long ones to STRING or BYTES", maxRow, charBytes)
		}
		stored = append(stored, declared)
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n  " + quote(c.Name) + " " + declared)
		switch {
		case c.Type.NotNull || key[c.Name]:
			b.WriteString(" NOT NULL")
		case c.Type.Kind == types.TimestampLTZ:
			b.WriteString(" NULL DEFAULT NULL") // older servers take it for NOT NULL otherwise
		}
		if text := columnComment(def, c); text != "" {
			b.WriteString(" COMMENT " + literal(text))
		}
	}
	if len(def.Schema.PrimaryKey) > 0 {
		b.WriteString(",\n  PRIMARY KEY (" + quoteAll(def.Schema.PrimaryKey) + ")")
	}
	b.WriteString("\n) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE " + f.collation())
	if def.Comment != "" {
		if err := checkComment(def.Comment); err != nil {
			return "", nil, err
		}
		b.WriteString(" COMMENT=" + literal(def.Comment))
	}
	return b.String(), stored, nil
}

func columnComment(def server.Definition, c types.Column) string {
	if text, ok := def.Comments[c.Name]; ok {
		return text
	}
	return c.Comment
}

// maxComment is the most characters of a table's comment.
const maxComment = 2048

func checkComment(text string) error {
	if n := len([]rune(text)); n > maxComment {
		return fmt.Errorf("the comment has %d characters, and a table of MySQL takes %d", n, maxComment)
	}
	return nil
}
