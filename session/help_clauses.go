package session

import (
	"slices"
	"strings"
)

// clause is a part of a query as HELP knows it.
type clause struct {
	names       []string
	syntax, doc string
}

// clauses returns the parts of a query that its grammar in one line leaves open.
func clauses() []clause {
	return []clause{
		{[]string{"FROM"}, "FROM {table | view | (query)} [[AS] alias [(column, …)]], …",
			"What rows are read. A table is written as [catalog.][database.]table."},
		{[]string{"JOIN", "INNER JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN", "LEFT", "RIGHT", "FULL", "CROSS", "INNER", "NATURAL"},
			"FROM table [NATURAL] [INNER | {LEFT | RIGHT | FULL} [OUTER]] JOIN table {ON condition | USING (column, …)} | FROM table CROSS JOIN table",
			"Pairs of rows for which the condition holds; LEFT, RIGHT and FULL also keep the rows of a side that have no partner, with NULLs."},
		{[]string{"UNION", "UNION ALL", "EXCEPT", "INTERSECT", "MINUS"}, "query {UNION | EXCEPT | INTERSECT} [ALL] query",
			"The rows of both queries, those of the first that the second does not have, or those that both have; without ALL each row once. INTERSECT binds more than the others."},
		{[]string{"UNNEST", "WITH ORDINALITY"}, "FROM table CROSS JOIN UNNEST(column) [WITH ORDINALITY] AS alias (column, …)",
			"A row for each element of an ARRAY or MULTISET, and for each key and value of a MAP, beside the columns of its row; the fields of a ROW become columns. WITH ORDINALITY adds the position."},
		{[]string{"ORDER BY", "NULLS FIRST", "NULLS LAST"}, "ORDER BY expr [ASC | DESC] [NULLS {FIRST | LAST}], …",
			"The order of the rows; NULL is less than every value."},
		{[]string{"LIMIT", "OFFSET", "FETCH"}, "[LIMIT n] [OFFSET n]", "How many rows there are, and how many are skipped before them; the same as OFFSET n ROWS FETCH NEXT n ROWS ONLY."},
	}
}

// findClause finds a part of a query by any of its names.
func findClause(name string) (clause, bool) {
	for _, c := range clauses() {
		if slices.Contains(c.names, strings.ToUpper(name)) {
			return c, true
		}
	}
	return clause{}, false
}

func (c clause) help() string {
	return wrapped(c.syntax, "  ", "      ") + wrapped(c.doc, "      ", "      ")
}
