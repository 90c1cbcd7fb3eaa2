package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// Upsert returns a new transaction that inserts, replaces and deletes rows by their primary key.
func (t *Table) Upsert(_ context.Context, u connector.Upsert) (connector.Transaction, error) {
	tx, err := t.transaction(connector.Insert{Columns: u.Columns, ReadsSame: u.ReadsSame}, false)
	if err != nil {
		return nil, err
	}
	upsert := tx.(*Transaction)
	var key []string
	for _, at := range u.Key {
		key = append(key, upsert.target.Columns[at].Name)
		upsert.target.Key = append(upsert.target.Key, at)
	}
	if !sameNames(key, t.info.PrimaryKey) {
		return nil, fmt.Errorf("table %s has the PRIMARY KEY (%s), and the rows have the key (%s)", t.info.Name, strings.Join(t.info.PrimaryKey, ", "), strings.Join(key, ", "))
	}
	return upsert, nil
}

// sameNames reports whether two lists have the same names in any order.
func sameNames(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

// replaceByKey is the clause by which a row takes the place of the one with its key. A row that is nothing
// but its key replaces itself, so that it counts as stored.
func (t *Transaction) replaceByKey() string {
	var key, set []string
	for i, c := range t.target.Columns {
		if slices.Contains(t.target.Key, i) {
			key = append(key, c.Name)
		} else {
			set = append(set, Quote(c.Name)+" = excluded."+Quote(c.Name))
		}
	}
	if len(set) == 0 {
		set = append(set, Quote(key[0])+" = excluded."+Quote(key[0]))
	}
	return " WHERE true ON CONFLICT (" + quoteAll(key) + ") DO UPDATE SET " + strings.Join(set, ", ")
}

// prepareDelete makes the statement that deletes rows by key, with a feed of its own.
func (t *Transaction) prepareDelete() error {
	var names, cells []string
	var ts []types.Type
	var numeric []bool
	for i, at := range t.target.Key {
		c := t.target.Columns[at]
		had, _ := t.info.column(c.Name)
		a := affinityOf(had.Declared)
		names, ts = append(names, c.Name), append(ts, c.Type)
		numeric = append(numeric, a != affinityText && a != affinityBlob)
		cells = append(cells, fmt.Sprintf("c%d", i))
	}
	var err error
	if t.deleted, err = newFeed(t.conn, "_sluice_keys", t.target.Table, names, ts, numeric); err != nil {
		return err
	}
	t.remove, err = t.conn.prepare("DELETE FROM main." + Quote(t.target.Table) + " WHERE (" + quoteAll(names) + ") IN (SELECT " +
		strings.Join(cells, ", ") + " FROM " + Quote(t.deleted.name) + ")")
	return err
}

// upsert stores the rows that next yields: those to insert or replace go on to the INSERT as they come, the
// keys of those to delete are kept until its end.
func (t *Transaction) upsert(next func() (*column.Batch, error)) error {
	keys := make([]types.Type, len(t.target.Key))
	for i, at := range t.target.Key {
		keys[i] = t.target.Columns[at].Type
	}
	gone := column.NewBatch(keys, 0)
	err := t.feed.run(t.insert, func() (*column.Batch, error) {
		for {
			b, err := next()
			if b == nil || err != nil || b.Kind == nil {
				return b, err
			}
			if b = t.split(b, gone); b.Rows() > 0 {
				return b, nil
			}
		}
	})
	if err != nil {
		return err
	}
	t.stored += t.conn.Changes()
	if gone.N == 0 {
		return nil
	}
	rows := gone
	return t.deleted.run(t.remove, func() (*column.Batch, error) {
		b := rows
		rows = nil
		return b, nil
	})
}

// split returns the rows of b to insert or replace, as plain rows, and appends the keys of those to delete.
func (t *Transaction) split(b, gone *column.Batch) *column.Batch {
	kept := make([]uint16, 0, b.N)
	for i := range b.N {
		switch b.Kind[i] {
		case types.Delete, types.UpdateBefore:
			for k, at := range t.target.Key {
				gone.Cols[k].AppendFrom(b.Cols[at], i)
			}
			gone.N++
		default:
			kept = append(kept, uint16(i))
		}
	}
	plain := &column.Batch{Cols: b.Cols, N: b.N, Shared: b.Shared}
	if len(kept) < b.N {
		plain.Sel = kept
		plain = plain.Copy()
	}
	return plain
}

// errStagedUpsert refuses the road that can only add rows.
var errStagedUpsert = errors.New("a streaming job cannot replace rows of a SQLite file that it also reads, unless the file is in WAL mode: PRAGMA journal_mode = WAL")
