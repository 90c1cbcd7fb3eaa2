package postgres

import (
	"context"
	"slices"
	"strconv"

	"github.com/sluice-sql/sluice/types"
)

// The primary key of a table that is made is added when its rows are there. An index that is built at once takes a
// third of the time of one that grows with each row, where the keys come in no order.

// keyless is a schema without its primary key, whose columns stay NOT NULL.
func keyless(s types.Schema) types.Schema {
	columns := slices.Clone(s.Columns)
	for i, c := range columns {
		if slices.Contains(s.PrimaryKey, c.Name) {
			columns[i].Type = c.Type.AsNotNull()
		}
	}
	return types.Schema{Columns: columns}
}

// addKey adds the primary key to a table of this transaction into which l has copied the rows.
func addKey(ctx context.Context, c *conn, l *load, key []string) error {
	if len(key) == 0 {
		return nil
	}
	_, err := c.exec(ctx, "SAVEPOINT "+rowsTable+"; ALTER TABLE "+l.name+" ADD PRIMARY KEY ("+quoteAll(key)+")")
	if code(err) != codeUnique {
		return l.wordError(err)
	}
	l.before = 0
	row := l.wordError(err)
	if own, ok := row.(*RowError); ok {
		own.Row = secondOf(ctx, c, l, key)
	}
	return row
}

// secondOf returns which row, from 1, is the first whose key an earlier one has, 0 when it cannot be told. The rows
// are where COPY has put them, one behind the other.
func secondOf(ctx context.Context, c *conn, l *load, key []string) int64 {
	text, err := c.exec(ctx, "ROLLBACK TO SAVEPOINT "+rowsTable+"; WITH n AS (SELECT ctid AS at, pg_catalog.row_number() OVER (PARTITION BY "+quoteAll(key)+" ORDER BY ctid) AS nth FROM "+l.name+
		") SELECT count(*) FROM "+l.name+" WHERE ctid <= (SELECT at FROM n WHERE nth = 2 ORDER BY at LIMIT 1)")
	if err != nil || len(text.rows) != 1 || text.rows[0][0] == nil {
		return 0
	}
	n, err := strconv.ParseInt(*text.rows[0][0], 10, 64)
	if err != nil {
		return 0
	}
	return n
}
