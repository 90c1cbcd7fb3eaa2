package mysql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// onConflict is the clause by which a row takes the place of the one with its key, or gives way to it.
func (t *Table) onConflict(columns []target, ignore bool) (string, error) {
	if err := t.t.replaceable(t.s.known().collation()); err != nil {
		return "", err
	}
	key := t.t.primary()
	var set []string
	for _, c := range columns {
		if !slices.Contains(key, c.name) {
			set = append(set, quote(c.name)+" = VALUES("+quote(c.name)+")")
		}
	}
	if ignore || len(set) == 0 {
		set = []string{quote(key[0]) + " = " + qualified(t.t.name, key[0])}
	}
	return " ON DUPLICATE KEY UPDATE " + strings.Join(set, ", "), nil
}

// replaceable says why a row cannot take the place of just that one which has its PRIMARY KEY; fit is a collation of
// the server that tells all texts apart.
func (t *table) replaceable(fit string) error {
	if len(t.primary()) == 0 {
		return fmt.Errorf("table %s has no PRIMARY KEY, by which a row could replace another", t.name)
	}
	for _, k := range t.keys {
		switch {
		case k.name != "PRIMARY" && k.unique:
			return fmt.Errorf("table %s has the unique index %s beside its PRIMARY KEY, and a row that meets another there would change that one: it has no other row identity than its PRIMARY KEY", t.name, k.name)
		case k.name != "PRIMARY":
			continue
		}
		for _, name := range k.columns {
			if fault := t.keyFault(k, t.column(name), fit); fault != "" {
				return fmt.Errorf("table %s: a row with another PRIMARY KEY could be overwritten or deleted: %s", t.name, fault)
			}
		}
	}
	return nil
}

// keyFault says why the server may take two values of a key's column for one.
func (t *table) keyFault(k key, c *tableColumn, fit string) string {
	switch {
	case c == nil || k.partial:
		return "the key has only the beginning of a column"
	case c.collation == "" || c.declared.name == "enum" || exact(c):
		return ""
	}
	return fmt.Sprintf("column %s has the collation %s, under which texts are equal that differ here, such as 'a' and 'A', or 'a' and 'a '; ALTER TABLE %s MODIFY %s %s CHARACTER SET utf8mb4 COLLATE %s NOT NULL on the server has them told apart",
		c.name, c.collation, quote(t.name), quote(c.name), c.text, fit)
}

// exact reports that the server tells the texts of a column apart by every character, trailing blanks too, and that
// its character set has one code for each of them.
func exact(c *tableColumn) bool {
	return oneCode(c.charset) && (strings.HasSuffix(c.collation, "_nopad_bin") || strings.HasSuffix(c.collation, "_0900_bin"))
}

// oneCode reports that no two codes of a character set are one character here.
func oneCode(charset string) bool {
	switch charset {
	case "big5", "cp932", "eucjpms", "euckr", "gb18030", "gb2312", "gbk", "sjis", "ujis":
		return false
	}
	return true
}

// upsert stores the rows of a batch, and deletes those that are to go: these come first.
func (w *work) upsert(ctx context.Context, b *column.Batch) error {
	kept := make([]uint16, 0, b.N)
	var gone []int
	for i := range b.N {
		if b.Kind != nil && (b.Kind[i] == types.Delete || b.Kind[i] == types.UpdateBefore) {
			gone = append(gone, i)
		} else {
			kept = append(kept, uint16(i))
		}
	}
	if len(gone) == 0 {
		return w.load.add(ctx, b)
	}
	if err := w.load.flush(ctx); err != nil {
		return err
	}
	if err := w.deleteRows(ctx, b, gone); err != nil {
		return err
	}
	for _, i := range kept {
		if err := w.load.addRow(ctx, b, int(i)); err != nil {
			return err
		}
	}
	return nil
}

// deleteRows deletes the rows with the keys of some rows of b.
func (w *work) deleteRows(ctx context.Context, b *column.Batch, rows []int) error {
	names := make([]string, len(w.key))
	for i, at := range w.key {
		names[i] = w.columns[at].name
	}
	const most = 500
	for len(rows) > 0 {
		n := min(most, len(rows))
		statement := []byte("DELETE FROM " + qualified(w.database, w.name) + " WHERE (" + quoteAll(names) + ") IN (")
		for i, r := range rows[:n] {
			if i > 0 {
				statement = append(statement, ',')
			}
			statement = append(statement, '(')
			for k, at := range w.key {
				if k > 0 {
					statement = append(statement, ',')
				}
				var err error
				if statement, err = w.columns[at].appendValue(statement, b.Cols[at], r); err != nil {
					return &RowError{Table: w.name, Column: w.columns[at].name, Msg: err.Error()}
				}
			}
			statement = append(statement, ')')
		}
		if _, err := w.c.exec(ctx, string(statement)+")"); err != nil {
			return fmt.Errorf("table %s: %w", w.name, err)
		}
		rows = rows[n:]
	}
	return nil
}

// Upsert returns a new transaction that inserts, replaces and deletes rows by their primary key.
func (t *Table) Upsert(ctx context.Context, u connector.Upsert) (connector.Transaction, error) {
	w, err := t.work(ctx, u.Columns)
	if err != nil {
		return nil, err
	}
	var key []string
	for _, at := range u.Key {
		key = append(key, w.columns[at].name)
	}
	primary := t.t.primary()
	if !sameNames(key, primary) {
		return nil, fmt.Errorf("table %s has the PRIMARY KEY (%s), and the rows have the key (%s)", t.t.name, strings.Join(primary, ", "), strings.Join(key, ", "))
	}
	if w.conflict, err = t.onConflict(w.columns, false); err != nil {
		return nil, err
	}
	w.key = u.Key
	return w, nil
}
