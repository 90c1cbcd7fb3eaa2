package postgres

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
)

// UPDATE and DELETE. A lock that lets others read keeps them from changing the table before the job reads it, so that
// the rows it reads are those that it changes, and stay at their place. What it makes of them is collected in a
// temporary table; when all have been read, one statement changes them.

var _ connector.Modifiable = (*Table)(nil)

// change is the work of UPDATE and DELETE.
type change struct {
	table  *Table
	key    []string      // columns that tell a row; nil: its place does
	set    []string      // columns that get new values; none: the rows are deleted
	stored []*columnInfo // of both
	load   *load         // of key and values
}

// RowKey says how rows are told apart: by their place, or where the table has parts by the primary key.
func (t *Table) RowKey(context.Context) (connector.RowKey, error) {
	if err := t.info.writable(); err != nil {
		return connector.RowKey{}, err
	}
	if t.hasRowid() == nil {
		return connector.RowKey{Rowid: rowidType()}, nil
	}
	if len(t.info.key) == 0 {
		return connector.RowKey{}, fmt.Errorf("table %s is kept in parts and has no PRIMARY KEY: there is nothing that tells a row from the others", t.info.rel)
	}
	if t.info.kind == ordinary {
		return connector.RowKey{}, fmt.Errorf("other tables inherit from table %s, and its PRIMARY KEY does not tell their rows from its own: change them in the tables that they are in", t.info.rel)
	}
	var key connector.RowKey
	for _, name := range t.info.key {
		i := t.schema.Index(name)
		if i < 0 {
			return connector.RowKey{}, fmt.Errorf("table %s: the definition lacks the column %s, which is part of the PRIMARY KEY in PostgreSQL", t.info.rel, connector.QuoteName(name))
		}
		key.Columns = append(key.Columns, i)
	}
	return key, nil
}

// Modify returns a new transaction that updates or deletes rows.
func (t *Table) Modify(ctx context.Context, m connector.Modify) (connector.Transaction, error) {
	key, err := t.RowKey(ctx)
	if err != nil {
		return nil, err
	}
	w := &change{table: t, load: &load{name: "pg_temp." + quote(rowsTable), relation: rowsTable, table: t.info.rel.String()}}
	if key.Columns == nil {
		w.load.columns = append(w.load.columns, writePlan{name: keyColumn(0), shown: "tid", binary: encodeTid, text: textTid})
	}
	stored, plans, err := t.written(append(slices.Clone(key.Columns), m.Set...))
	if err != nil {
		return nil, err
	}
	w.stored = stored
	for i, p := range plans {
		if n := len(key.Columns); i < n {
			w.key = append(w.key, p.name)
			p.name = keyColumn(i)
		} else {
			w.set = append(w.set, p.name)
			p.name = valueColumn(i - n)
		}
		w.load.columns = append(w.load.columns, p)
	}
	return &Transaction{server: t.server, database: t.database, work: w}, nil
}

func keyColumn(i int) string   { return "k" + strconv.Itoa(i) }
func valueColumn(i int) string { return "v" + strconv.Itoa(i) }

func (w *change) begin(ctx context.Context, t *Transaction, _ connector.JobID) error {
	info, err := w.table.hold(ctx, t.c, tableLock, w.stored)
	if err != nil {
		return err
	}
	switch {
	case w.key == nil && (info.kind != ordinary || info.parts):
		return fmt.Errorf("table %s has got parts from another session; nothing was changed", info.rel)
	case w.key != nil && !slices.Equal(w.key, info.key):
		return fmt.Errorf("table %s has got another PRIMARY KEY from another session; nothing was changed", info.rel)
	}
	list := make([]string, 0, len(w.load.columns))
	if w.key == nil {
		list = append(list, "t.ctid AS "+keyColumn(0))
	}
	for i, k := range w.key {
		list = append(list, "t."+quote(k)+" AS "+keyColumn(i))
	}
	for i, c := range w.set {
		list = append(list, "t."+quote(c)+" AS "+valueColumn(i))
	}
	return t.c.temporary(ctx, rowsTable, "SELECT "+strings.Join(list, ", ")+" FROM "+info.rel.sql()+" AS t")
}

func (w *change) write(ctx context.Context, t *Transaction, next func() (*column.Batch, error)) error {
	return t.c.copyIn(ctx, w.load, next)
}

// sql is the statement that changes the rows.
func (w *change) sql() string {
	rel := w.table.info.rel.sql()
	same := make([]string, 0, len(w.key))
	if w.key == nil {
		rel, same = "ONLY "+rel, append(same, "t.ctid = r."+keyColumn(0))
	}
	for i, k := range w.key {
		same = append(same, "t."+quote(k)+" = r."+keyColumn(i))
	}
	where := w.load.name + " AS r WHERE " + strings.Join(same, " AND ")
	if len(w.set) == 0 {
		return "DELETE FROM " + rel + " AS t USING " + where
	}
	set := make([]string, len(w.set))
	for i, c := range w.set {
		set[i] = quote(c) + " = r." + valueColumn(i)
	}
	return "UPDATE " + rel + " AS t SET " + strings.Join(set, ", ") + " FROM " + where
}

func (w *change) seal(ctx context.Context, t *Transaction) (int64, error) {
	if w.load.sent == 0 {
		return 0, nil
	}
	if _, err := t.c.exec(ctx, "SET CONSTRAINTS ALL DEFERRED; ANALYZE "+w.load.name); err != nil {
		return 0, err
	}
	var changed int64
	err := t.c.locked(ctx, w.load.table, func(ctx context.Context) error {
		r, err := t.c.exec(ctx, w.sql())
		if err == nil {
			changed = r.affected()
		}
		return err
	})
	switch {
	case err != nil:
		return 0, w.load.wordError(err)
	case changed != w.load.sent:
		what := "updated"
		if len(w.set) == 0 {
			what = "deleted"
		}
		return 0, lostRows(w.load.sent-changed, w.load.sent, what, w.table.info)
	}
	return changed, nil
}

// The place of a row as decodeTid has read it: the page, and in the lowest 16 bits the line in it.

func encodeTid(dst []byte, v *column.Vector, i int) ([]byte, string) {
	x := v.I64[i]
	return append(dst, byte(x>>40), byte(x>>32), byte(x>>24), byte(x>>16), byte(x>>8), byte(x)), ""
}

func textTid(dst []byte, v *column.Vector, i int) ([]byte, string) {
	x := v.I64[i]
	return fmt.Appendf(dst, "(%d,%d)", uint64(x)>>16, x&0xffff), ""
}
