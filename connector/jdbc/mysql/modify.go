package mysql

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-sql/sluice/connector"
)

// modification changes or deletes single rows: their keys and new values are gathered in a temporary table, which is
// the session's own and hidden from all others, and are applied by one statement.
type modification struct {
	key []string // columns by which a row is known
	set []string // columns that get new values; nil: the rows are deleted
}

// temporary is the name of the table of keys and values.
const temporary = ours + "_rows"

// RowKey is the primary key, or else a unique index without NULLs.
func (t *Table) RowKey(context.Context) (connector.RowKey, error) {
	var faults []string
	if t.t.view() {
		return connector.RowKey{}, fmt.Errorf("%s is a view of MySQL; its rows cannot be told apart", t.t.name)
	}
	keys := slices.Clone(t.t.keys)
	slices.SortStableFunc(keys, func(a, b key) int {
		if (a.name == "PRIMARY") != (b.name == "PRIMARY") {
			if a.name == "PRIMARY" {
				return -1
			}
			return 1
		}
		return 0
	})
	for _, k := range keys {
		if !k.unique || k.partial {
			continue
		}
		positions, fault := t.keyPositions(k)
		if fault == "" {
			return connector.RowKey{Columns: positions}, nil
		}
		faults = append(faults, fault)
	}
	msg := fmt.Sprintf("table %s has no PRIMARY KEY and no unique index over NOT NULL columns, by which its rows could be told apart", t.t.name)
	if len(faults) > 0 {
		msg += " (" + strings.Join(faults, "; ") + ")"
	}
	return connector.RowKey{}, fmt.Errorf("%s", msg)
}

func (t *Table) keyPositions(k key) (positions []int, fault string) {
	for _, name := range k.columns {
		c, at := t.t.column(name), t.schema.Index(name)
		switch {
		case c == nil || at < 0:
			return nil, "index " + k.name + ": column " + name + " is not in the table's definition"
		case c.nullable:
			return nil, "index " + k.name + ": column " + name + " may be NULL"
		case !oneCode(c.charset):
			return nil, "index " + k.name + ": column " + name + " has the character set " + c.charset + ", which has two codes for some characters"
		case c.t.IsFloat():
			return nil, "index " + k.name + ": column " + name + " is a " + c.t.AsNullable().String()
		}
		if _, err := newTarget(t.schema.Columns[at], c); err != nil {
			return nil, "index " + k.name + ": column " + name + ": " + err.Error()
		}
		positions = append(positions, at)
	}
	return positions, ""
}

// Modify returns a transaction that changes or deletes rows.
func (t *Table) Modify(ctx context.Context, m connector.Modify) (connector.Transaction, error) {
	key, err := t.RowKey(ctx)
	if err != nil {
		return nil, err
	}
	w, err := t.work(ctx, append(slices.Clone(key.Columns), m.Set...))
	if err != nil {
		return nil, err
	}
	mod := &modification{}
	for i, g := range w.columns {
		if i < len(key.Columns) {
			mod.key = append(mod.key, g.name)
			w.columns[i].name = keyColumn(i)
		} else {
			mod.set = append(mod.set, g.name)
			w.columns[i].name = valueColumn(i - len(key.Columns))
		}
	}
	w.modify = mod
	return w, nil
}

func keyColumn(i int) string   { return "k" + strconv.Itoa(i) }
func valueColumn(i int) string { return "v" + strconv.Itoa(i) }

// prepare makes the temporary table, whose columns are of the very types of the table's, and returns its quoted name.
func (m *modification) prepare(ctx context.Context, w *work) (string, error) {
	var list, keys []string
	for i, k := range m.key {
		list = append(list, quote(k)+" AS "+quote(keyColumn(i)))
		keys = append(keys, keyColumn(i))
	}
	for i, c := range m.set {
		list = append(list, quote(c)+" AS "+quote(valueColumn(i)))
	}
	name := qualified(w.database, temporary)
	_, err := w.c.exec(ctx, "CREATE TEMPORARY TABLE "+name+" (PRIMARY KEY ("+quoteAll(keys)+")) ENGINE=InnoDB SELECT "+strings.Join(list, ", ")+" FROM "+qualified(w.database, w.name)+" LIMIT 0")
	return name, privilege(err, "UPDATE and DELETE need the right CREATE TEMPORARY TABLES on the database "+w.database)
}

// hold locks all rows, and the gaps between them, so that nobody else changes the table until the end. Reading goes on.
func (m *modification) hold(ctx context.Context, w *work) error {
	_, err := w.c.query(ctx, "SELECT COUNT(*) FROM "+qualified(w.database, w.name)+" FOR UPDATE")
	if err != nil {
		return fmt.Errorf("table %s: %w", w.name, err)
	}
	return nil
}

// apply changes the rows.
func (m *modification) apply(ctx context.Context, w *work) error {
	var same, set []string
	for i, k := range m.key {
		same = append(same, "t."+quote(k)+" = r."+quote(keyColumn(i)))
	}
	for i, c := range m.set {
		set = append(set, "t."+quote(c)+" = r."+quote(valueColumn(i)))
	}
	from := qualified(w.database, temporary) + " AS r STRAIGHT_JOIN " + qualified(w.database, w.name) + " AS t ON " + strings.Join(same, " AND ")
	if m.set == nil {
		return m.remove(ctx, w, from)
	}
	n, err := w.c.exec(ctx, "UPDATE "+from+" SET "+strings.Join(set, ", "))
	if err != nil {
		return &RowError{Table: w.name, Msg: wordRow(err), Err: err}
	}
	if n != w.load.sent {
		return fmt.Errorf("%d rows of table %s were to be changed, and %d were: others were at it", w.load.sent, w.name, n)
	}
	return nil
}

// remove deletes the rows. The server does not count those that a cascade has deleted before their turn: so they are
// counted before, and none may be left. FOR UPDATE counts what is there now, not what was when the transaction began.
func (m *modification) remove(ctx context.Context, w *work, from string) error {
	there, err := w.c.value(ctx, "SELECT COUNT(*) FROM "+from+" FOR UPDATE")
	if err != nil {
		return fmt.Errorf("table %s: %w", w.name, err)
	}
	if there.text != strconv.FormatInt(w.load.sent, 10) {
		return fmt.Errorf("%d rows of table %s were to be deleted, and %s of them are there: others were at it", w.load.sent, w.name, there.text)
	}
	n, err := w.c.exec(ctx, "DELETE t FROM "+from)
	if err != nil {
		return &RowError{Table: w.name, Msg: wordRow(err), Err: err}
	}
	if n == w.load.sent {
		return nil
	}
	left, err := w.c.value(ctx, "SELECT COUNT(*) FROM "+from+" FOR UPDATE")
	if err == nil && left.text != "0" {
		err = fmt.Errorf("the server deleted %d rows, and %s that were to go are still there", n, left.text)
	}
	if err != nil {
		return fmt.Errorf("table %s: %w", w.name, err)
	}
	return nil
}

// sameNames reports whether two lists have the same names in any order.
func sameNames(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
