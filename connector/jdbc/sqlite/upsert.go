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
	return upsert, t.info.replaceable(upsert.target.Columns)
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
	var names []string
	var ts []types.Type
	var numeric []bool
	for _, at := range t.target.Key {
		c := t.target.Columns[at]
		had, _ := t.info.column(c.Name)
		a := affinityOf(had.Declared)
		names, ts = append(names, c.Name), append(ts, c.Type)
		numeric = append(numeric, a != affinityText && a != affinityBlob)
	}
	var err error
	if t.deleted, err = newFeed(t.conn, "_sluice_keys", t.target.Table, names, ts, numeric); err != nil {
		return err
	}
	t.remove, err = t.conn.prepare("DELETE FROM main." + Quote(t.target.Table) + " WHERE " + t.keyIn())
	return err
}

// upsert stores the rows that next yields. Those to delete that come first go first, so that a row may have
// what must be unique and one of them had; the keys of others are kept until the end of the INSERT.
func (t *Transaction) upsert(next func() (*column.Batch, error)) error {
	keys := make([]types.Type, len(t.target.Key))
	for i, at := range t.target.Key {
		keys[i] = t.target.Columns[at].Type
	}
	gone := column.NewBatch(keys, 0)
	// plain returns the next rows to insert or replace.
	plain := func() (*column.Batch, error) {
		for {
			b, err := next()
			if b == nil || err != nil || b.Kind == nil {
				return b, err
			}
			if b = t.split(b, gone); b.Rows() > 0 {
				return b, nil
			}
		}
	}
	first, err := plain()
	if err != nil {
		return err
	}
	if err := t.deleteRows(gone); err != nil || first == nil {
		return err
	}
	gone = column.NewBatch(keys, 0)
	err = t.feed.run(t.insert, func() (*column.Batch, error) {
		if b := first; b != nil {
			first = nil
			return b, nil
		}
		return plain()
	})
	if err != nil {
		return err
	}
	t.stored += t.conn.Changes()
	return t.deleteRows(gone)
}

// deleteRows deletes the rows with these keys. A row that a trigger keeps is an error.
func (t *Transaction) deleteRows(gone *column.Batch) error {
	if gone.N == 0 {
		return nil
	}
	run := func(s *stmt) error {
		rows := gone
		return t.deleted.run(s, func() (*column.Batch, error) {
			b := rows
			rows = nil
			return b, nil
		})
	}
	if err := run(t.remove); err != nil || len(t.info.Triggers) == 0 {
		return err
	}
	if t.left == nil {
		if err := t.conn.Exec("CREATE TEMP TABLE _sluice_left (n)"); err != nil {
			return err
		}
		var err error
		if t.left, err = t.conn.prepare("INSERT INTO temp._sluice_left SELECT count(*) FROM main." + Quote(t.target.Table) + " WHERE " + t.keyIn()); err != nil {
			return err
		}
	}
	if err := run(t.left); err != nil {
		return err
	}
	n, err := t.conn.Int("SELECT coalesce(sum(n), 0) FROM temp._sluice_left")
	if err == nil && n > 0 {
		err = fmt.Errorf("%s of %s rows to delete were not deleted; table %s has triggers: %s", groups(n), groups(int64(gone.N)), t.target.Table, strings.Join(t.info.Triggers, ", "))
	}
	return err
}

// keyIn is the condition that a row's key is among those that deleted yields.
func (t *Transaction) keyIn() string {
	var names, cells []string
	for i, at := range t.target.Key {
		names, cells = append(names, t.target.Columns[at].Name), append(cells, fmt.Sprintf("c%d", i))
	}
	return "(" + t.info.byKey(names) + ") IN (SELECT " + strings.Join(cells, ", ") + " FROM " + Quote(t.deleted.name) + ")"
}

// closeDelete closes the statements of deletes.
func (t *Transaction) closeDelete() {
	for _, s := range []**stmt{&t.remove, &t.left} {
		if *s != nil {
			(*s).close()
			*s = nil
		}
	}
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
