package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

var _ connector.Upserter = (*Table)(nil)

// upsert puts rows into a table by its primary key, and deletes others. Rows and keys are collected in temporary
// tables.
type upsert struct {
	table   *Table
	columns []writePlan
	stored  []*columnInfo
	typed   []types.Column // columns as their values come
	key     []int          // positions in columns
	rows    *load
	merge   *merge
	keys    *load // of rows to delete; nil up to the first
}

// Upsert returns a new transaction that puts rows into the table by key.
func (t *Table) Upsert(_ context.Context, up connector.Upsert) (connector.Transaction, error) {
	w := &upsert{table: t, key: up.Key, typed: t.typed(up.Columns)}
	var err error
	if w.stored, w.columns, err = t.written(up.Columns); err != nil {
		return nil, err
	}
	return &Transaction{server: t.server, database: t.database, work: w}, w.checkKey(t.info)
}

// checkKey makes sure that the rows' key is the table's, and tells its rows apart.
func (w *upsert) checkKey(info *tableInfo) error {
	var names []string
	for _, at := range w.key {
		names = append(names, w.columns[at].name)
	}
	if sameNames(names, info.key) {
		return info.replaceable(w.typed)
	}
	if len(info.key) == 0 {
		return fmt.Errorf("table %s has no PRIMARY KEY, by which its rows could be replaced and deleted", info.rel)
	}
	return fmt.Errorf("the rows have the key (%s), and table %s the PRIMARY KEY (%s)", quoteAll(names), info.rel, quoteAll(info.key))
}

func sameNames(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func (w *upsert) begin(ctx context.Context, t *Transaction, _ connector.JobID) error {
	info, err := w.table.hold(ctx, t.c, rowsLock, w.stored)
	if err != nil {
		return err
	}
	if err := w.checkKey(info); err != nil {
		return err
	}
	w.merge = &merge{into: info.rel.sql(), key: info.key, keyName: info.keyName, columns: w.columns, conflict: "update"}
	w.rows, err = w.merge.prepare(ctx, t.c, info.rel.String())
	return err
}

// piece is a part of a batch: rows to store, or keys of rows to delete.
type piece struct {
	rows *column.Batch
	gone bool
}

// write copies rows and keys to their tables. They come in runs, each of which is one COPY.
func (w *upsert) write(ctx context.Context, t *Transaction, next func() (*column.Batch, error)) error {
	var queue []piece
	var end bool
	var failed error
	fill := func() error {
		for len(queue) == 0 && !end {
			b, err := next()
			if err != nil {
				failed = err
				return err
			}
			end = b == nil
			queue = append(queue, w.split(b)...)
		}
		return nil
	}
	for {
		if err := fill(); err != nil || len(queue) == 0 {
			return err
		}
		gone := queue[0].gone
		into := w.rows
		if gone {
			if err := w.prepareKeys(ctx, t.c); err != nil {
				return err
			}
			into = w.keys
		}
		err := t.c.copyIn(ctx, into, func() (*column.Batch, error) {
			if err := fill(); err != nil || len(queue) == 0 || queue[0].gone != gone {
				return nil, err
			}
			b := queue[0].rows
			queue = queue[1:]
			return b, nil
		})
		if err != nil {
			return err
		}
		if failed != nil {
			return failed
		}
	}
}

// split cuts a batch into the rows to delete, of which the key alone is kept, and the others.
func (w *upsert) split(b *column.Batch) []piece {
	if b == nil || b.N == 0 {
		return nil
	}
	gone := func(i int) bool {
		return b.Kind != nil && (b.Kind[i] == types.Delete || b.Kind[i] == types.UpdateBefore)
	}
	var list []piece
	for from := 0; from < b.N; {
		to := from + 1
		for to < b.N && gone(to) == gone(from) {
			to++
		}
		p := piece{b, gone(from)}
		if to-from < b.N {
			p.rows = b.Slice(from, to)
		}
		if p.gone {
			keys := *p.rows
			keys.Cols = nil
			for _, at := range w.key {
				keys.Cols = append(keys.Cols, p.rows.Cols[at])
			}
			p.rows = &keys
		}
		list = append(list, p)
		from = to
	}
	return list
}

// prepareKeys makes the table of keys.
func (w *upsert) prepareKeys(ctx context.Context, c *conn) error {
	if w.keys != nil {
		return nil
	}
	l := &load{name: "pg_temp." + quote(keysTable), relation: keysTable, table: w.table.info.rel.String()}
	var names []string
	for _, at := range w.key {
		l.columns = append(l.columns, w.columns[at])
		names = append(names, w.columns[at].name)
	}
	w.keys = l
	return c.temporary(ctx, keysTable, "SELECT "+quoteAll(names)+" FROM "+w.table.info.rel.sql())
}

func (w *upsert) seal(ctx context.Context, t *Transaction) (int64, error) {
	rel := w.table.info.rel
	if w.keys != nil && w.keys.sent > 0 {
		sql := "DELETE FROM " + rel.sql() + " AS t USING " + w.keys.name + " AS k WHERE "
		for i, p := range w.keys.columns {
			if i > 0 {
				sql += " AND "
			}
			sql += "t." + quote(p.name) + " = k." + quote(p.name)
		}
		err := t.c.locked(ctx, rel.String(), func(ctx context.Context) error {
			_, err := t.c.exec(ctx, sql)
			return err
		})
		if err != nil {
			return 0, w.keys.wordError(err)
		}
	}
	rows, err := w.merge.run(ctx, t.c)
	if err == nil && rows != w.rows.sent {
		err = lostRows(w.rows.sent-rows, w.rows.sent, "stored", w.table.info)
	}
	if w.keys != nil {
		rows += w.keys.sent
	}
	return rows, err
}
