package session_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/internal/testfile"
	"github.com/sluice-sql/sluice/sqlparse"
)

// Every form of the parser's table is in some script: run, or refused by name.
func TestEveryFormHasAScript(t *testing.T) {
	seen := map[string]bool{}
	for _, dir := range []string{"testdata/scripts", "testdata/stores", "testdata/cases"} {
		testfile.Walk(t, dir, ".test", func(t *testing.T, path string) {
			testfile.Run(t, path, func(t *testing.T, c *testfile.Case) string {
				texts, _ := split(c.Input)
				for _, text := range texts {
					seen[formOf(text.Text)] = true
				}
				return c.Expected
			})
		})
	}
	for _, f := range sqlparse.Forms() {
		require.True(t, seen[f.Name], "no script has a statement of the form %s", f.Name)
	}
}

// formOf names the form of a statement, also of one that is refused; "" when it is none.
func formOf(text string) string {
	stmt, err := sqlparse.Parse(text)
	var e *sqlparse.Error
	if errors.As(err, &e) {
		for _, f := range sqlparse.Forms() {
			if strings.HasPrefix(e.Msg, f.Name+" is not supported") {
				return f.Name
			}
		}
		return ""
	}
	first := strings.ToUpper(strings.Fields(text[stmt.Span().Start:])[0])
	switch st := stmt.(type) {
	case *sqlparse.QueryStatement:
		if first == "WITH" || first == "VALUES" || first == "TABLE" {
			return first
		}
	case *sqlparse.Insert:
		if first == "EXECUTE" {
			return "EXECUTE INSERT"
		}
	case *sqlparse.Explain:
		if _, ok := st.Statement.(*sqlparse.StatementSet); ok {
			return "EXPLAIN STATEMENT SET"
		}
	}
	return stmt.Form()
}
