package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// onConflict is what is done with a row whose key is there: "" (an error), update or ignore.
func (s *Server) onConflict() string { return s.config.Options["sink.on-conflict"] }

func errNoKeyFor(table, conflict string) error {
	return fmt.Errorf("table %s has no PRIMARY KEY, which 'sink.on-conflict' = '%s' needs", table, conflict)
}

// merge puts rows into a table by an INSERT from a temporary table that they were copied into. COPY itself knows no
// ON CONFLICT, does not run rules and does not go with row-level security.
type merge struct {
	into     string // quoted
	key      []string
	keyName  string // of its constraint: the key's columns alone could mean other unique indexes, too
	columns  []writePlan
	conflict string // update or ignore; "": a duplicate key is an error
	load     *load
}

// prepare makes the temporary table, which goes with the transaction.
func (m *merge) prepare(ctx context.Context, c *conn, table string) (*load, error) {
	names := make([]string, len(m.columns))
	for i, col := range m.columns {
		names[i] = col.name
	}
	m.load = &load{name: "pg_temp." + quote(rowsTable), relation: rowsTable, columns: m.columns, numbered: true, table: table}
	return m.load, c.temporary(ctx, rowsTable, "SELECT 0::pg_catalog.int8 AS "+quote(rowNumber)+list(names)+" FROM "+m.into)
}

// list is names as the rest of a list.
func list(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ", " + quoteAll(names)
}

// temporary makes an empty temporary table with the columns of a query, which goes with the transaction.
func (c *conn) temporary(ctx context.Context, name, query string) error {
	_, err := c.exec(ctx, "CREATE TEMPORARY TABLE "+quote(name)+" ON COMMIT DROP AS "+query+" WITH NO DATA")
	return err
}

// run stores the rows and returns how many that were. Of rows with one key the last counts with update, the first
// with ignore, as if one came after the other.
func (m *merge) run(ctx context.Context, c *conn) (int64, error) {
	if m.load.sent == 0 {
		return 0, nil
	}
	names := make([]string, len(m.columns))
	var set []string
	for i, col := range m.columns {
		names[i] = col.name
		if !slices.Contains(m.key, col.name) {
			set = append(set, quote(col.name)+" = excluded."+quote(col.name))
		}
	}
	sql := "INSERT INTO " + m.into + " (" + quoteAll(names) + ") SELECT " + quoteAll(names) + " FROM "
	rows := m.load.name
	switch {
	case m.conflict == "":
		sql += rows + " ORDER BY " + quote(rowNumber)
	case m.conflict == "ignore" || len(set) == 0:
		sql += rows + " ORDER BY " + quote(rowNumber) + " ON CONFLICT ON CONSTRAINT " + quote(m.keyName) + " DO NOTHING"
	default:
		sql += "(SELECT DISTINCT ON (" + quoteAll(m.key) + ") * FROM " + rows + " ORDER BY " + quoteAll(m.key) + ", " + quote(rowNumber) + " DESC) AS s ORDER BY " + quote(rowNumber) +
			" ON CONFLICT ON CONSTRAINT " + quote(m.keyName) + " DO UPDATE SET " + strings.Join(set, ", ")
	}
	var stored int64
	err := c.locked(ctx, m.load.table, func(ctx context.Context) error {
		r, err := c.exec(ctx, sql)
		if err == nil {
			stored = r.affected()
		}
		return err
	})
	if err != nil {
		return 0, m.load.wordError(err)
	}
	return stored, nil
}
