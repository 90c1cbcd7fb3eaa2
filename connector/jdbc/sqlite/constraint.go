package sqlite

import (
	"fmt"
	"strings"
)

// Extended codes of constraints.
const (
	constraintNotNull    = 1299
	constraintPrimaryKey = 1555
	constraintUnique     = 2067
	constraintRowid      = 2579
)

// wordConstraint says what a constraint failure is, with the values of the row that broke it.
func wordConstraint(err *Error, values string) string {
	switch err.Code {
	case constraintUnique, constraintPrimaryKey, constraintRowid:
		return "duplicate key " + values
	case constraintNotNull:
		return "NULL in a NOT NULL column (" + values + ")"
	}
	if values != "" {
		return err.Msg + " (" + values + ")"
	}
	return err.Msg
}

// mentions reports whether "t.c" stands in a message such as "UNIQUE constraint failed: t.a, t.b".
func mentions(msg, name string) bool {
	for i := 0; i+len(name) <= len(msg); i++ {
		if msg[i:i+len(name)] == name {
			end := i + len(name)
			if (end == len(msg) || msg[end] == ',') && i > 0 && msg[i-1] == ' ' {
				return true
			}
		}
	}
	return false
}

// copyError finds the scratch row that broke a constraint when it was copied. The failed statement is
// undone and its transaction still open; this only reads.
func (t *Transaction) copyError(err *Error) error {
	e := &RowError{Table: t.target.Table, Msg: err.Msg, Err: err}
	var cols []string
	taken := map[string]bool{}
	for _, c := range t.target.Columns {
		taken[strings.ToLower(c.Name)] = true
		if mentions(err.Msg, t.target.Table+"."+c.Name) {
			cols = append(cols, c.Name)
		}
	}
	id := ""
	for _, alias := range []string{"rowid", "_rowid_", "oid"} {
		if !taken[alias] {
			id = alias
		}
	}
	if len(cols) == 0 || id == "" {
		return e
	}
	from := scratchName + "." + Quote(t.target.Table) + " AS s"
	same, list := make([]string, len(cols)), make([]string, len(cols))
	for i, c := range cols {
		list[i] = "s." + Quote(c)
		same[i] = "m." + Quote(c) + " = s." + Quote(c)
	}
	var queries []string
	switch err.Code {
	case constraintUnique, constraintPrimaryKey, constraintRowid:
		queries = []string{
			fmt.Sprintf("SELECT s.%s FROM %s WHERE EXISTS (SELECT 1 FROM main.%s AS m WHERE %s) ORDER BY 1 LIMIT 1", id, from, Quote(t.target.Table), strings.Join(same, " AND ")),
			fmt.Sprintf("SELECT i FROM (SELECT s.%s AS i, row_number() OVER (PARTITION BY %s ORDER BY s.%s) AS n FROM %s) WHERE n = 2 ORDER BY i LIMIT 1", id, strings.Join(list, ", "), id, from),
		}
	case constraintNotNull:
		queries = []string{fmt.Sprintf("SELECT s.%s FROM %s WHERE %s IS NULL ORDER BY 1 LIMIT 1", id, from, list[0])}
	default:
		return e
	}
	for _, q := range queries {
		if n, err := t.conn.Int(q); err == nil && n > 0 && (e.Row == 0 || n < e.Row) {
			e.Row = n
		}
	}
	if e.Row == 0 {
		return e
	}
	cells := make([]string, len(cols))
	for i := range cols {
		cells[i] = "quote(" + list[i] + ")"
	}
	rows, readErr := t.conn.Rows(fmt.Sprintf("SELECT %s FROM %s WHERE s.%s = ?1", strings.Join(cells, ", "), from, id), e.Row)
	if readErr != nil || len(rows) == 0 {
		return e
	}
	values := make([]string, len(cols))
	for i, c := range cols {
		text, _ := rows[0][i].(string)
		values[i] = c + " = " + clip(text, 60)
	}
	e.Msg = wordConstraint(err, strings.Join(values, ", "))
	return e
}
