package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgproto3"
)

// With 'sink.on-conflict' the rows of a table that is made may have a key twice. They are copied into a temporary table
// first, where one of each key is kept. An INSERT from there would make rows that a snapshot older than COMMIT does not
// see, and nothing but COPY from a client makes others (see stage.go): so they are copied out and in again, some at a
// time.

// foldSize is about how many bytes of rows are on their way at a time.
const foldSize = 4 << 20

// fold is the way of rows by way of a temporary table.
type fold struct {
	key      []string
	conflict string // update or ignore
}

// prepare makes the temporary table, which refuses what the table itself would.
func (f *fold) prepare(ctx context.Context, c *conn, into *load) (*load, error) {
	rows := &load{name: "pg_temp." + quote(rowsTable), relation: rowsTable, columns: into.columns, numbered: true, table: into.table}
	_, err := c.exec(ctx, "CREATE TEMPORARY TABLE "+quote(rowsTable)+" ("+quote(rowNumber)+" pg_catalog.int8, LIKE "+into.name+" INCLUDING CONSTRAINTS) ON COMMIT DROP")
	return rows, err
}

// run copies one row of each key into the table and returns how many they are: the last with update, the first with
// ignore, in the order in which they came.
func (f *fold) run(ctx context.Context, c *conn, rows, into *load) (int64, error) {
	if rows.sent == 0 {
		return 0, nil
	}
	latest := ""
	if f.conflict == "update" {
		latest = " DESC"
	}
	kept := "pg_temp." + quote(keysTable)
	_, err := c.exec(ctx, "CREATE TEMPORARY TABLE "+quote(keysTable)+" ON COMMIT DROP AS SELECT DISTINCT ON ("+quoteAll(f.key)+") * FROM "+rows.name+" ORDER BY "+quoteAll(f.key)+", "+quote(rowNumber)+latest+
		"; ALTER TABLE "+kept+" ADD PRIMARY KEY ("+quote(rowNumber)+"); ANALYZE "+kept)
	if err != nil {
		return 0, rows.wordError(err)
	}
	some, err := c.one(ctx, "SELECT least(greatest($1::pg_catalog.int8 * count(*) / greatest(pg_catalog.pg_table_size($2::pg_catalog.regclass), '1'), '1'), '10000') FROM "+kept, foldSize, kept)
	if err != nil {
		return 0, err
	}
	names := make([]string, len(into.columns))
	for i, col := range into.columns {
		names[i] = col.name
	}
	var done int64
	for last := "0"; ; {
		next, err := c.row(ctx, 1, "SELECT max(n) FROM (SELECT "+quote(rowNumber)+" AS n FROM "+kept+" WHERE "+quote(rowNumber)+" > $1::pg_catalog.int8 ORDER BY 1 LIMIT $2::pg_catalog.int8) AS s", last, some)
		if err != nil || next[0] == nil {
			return done, err
		}
		n, err := c.copyOver(ctx, "SELECT "+quoteAll(names)+" FROM "+kept+" WHERE "+quote(rowNumber)+" > "+last+" AND "+quote(rowNumber)+" <= "+*next[0]+" ORDER BY "+quote(rowNumber), into)
		if err != nil {
			return 0, err
		}
		done += n
		last = *next[0]
	}
}

// copyOver copies the rows of a query into a table, and returns how many they are.
func (c *conn) copyOver(ctx context.Context, query string, into *load) (int64, error) {
	out, err := c.exec(ctx, "COPY ("+query+") TO STDOUT (FORMAT binary)")
	if err != nil {
		return 0, err
	}
	in, err := c.run(ctx, func() {
		c.fe.SendQuery(&pgproto3.Query{String: into.sql(false)})
		for rest := out.copied; len(rest) > 0; {
			n := min(len(rest), maxMessage)
			c.fe.Send(&pgproto3.CopyData{Data: rest[:n]})
			rest = rest[n:]
		}
		c.fe.Send(&pgproto3.CopyDone{})
	})
	if err == nil && in.affected() != out.affected() {
		err = lostRows(out.affected()-in.affected(), out.affected(), "stored", nil)
	}
	return in.affected(), err
}
