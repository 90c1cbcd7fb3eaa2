package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// UPDATE and DELETE. The write lock is taken before the job reads, so that the rows it reads are those that it
// changes; what it makes of them is collected in a temporary table, which SQLite keeps in a file; when all have been
// read, one statement changes them. Only then is anything written to the database: as long as the job reads a
// rollback-journal file its cache could not be emptied, and memory would grow with the table. In a WAL file rows are
// changed as they come where that is the same.

var _ connector.Modifiable = (*Table)(nil)

// Change says what becomes of rows that are there.
type Change struct {
	// Keys is how many of the target's columns, the first, tell the row; the others get new values. When there
	// are no others the rows are deleted.
	Keys int
	// Rowid is the name of the rowid when that is the key.
	Rowid string
}

// changed is the temporary table of rows: k0, k1 … are the key, v0, v1 … the new values.
const changed = "temp._sluice_rows"

// RowKey says how rows are told apart: by rowid, or where there is none by the primary key.
func (t *Table) RowKey(context.Context) (connector.RowKey, error) {
	switch {
	case t.info.View:
		return connector.RowKey{}, fmt.Errorf("%s is a view of SQLite; its rows cannot be changed", t.info.Name)
	case t.info.Virtual:
		return connector.RowKey{}, fmt.Errorf("%s is a virtual table of SQLite; change its rows with SQLite's own tools", t.info.Name)
	case t.info.Rowid != "":
		return connector.RowKey{Rowid: types.Of(types.BigInt).AsNotNull(), RowidName: t.info.Rowid}, nil
	case len(t.info.PrimaryKey) == 0:
		return connector.RowKey{}, fmt.Errorf("table %s has no PRIMARY KEY, and its columns have all the names under which SQLite gives the rowid: there is nothing that tells a row from the others", t.info.Name)
	}
	var key connector.RowKey
	for _, name := range t.info.PrimaryKey {
		i := t.schema.Index(name)
		if i < 0 {
			return connector.RowKey{}, fmt.Errorf("table %s: the definition lacks the column %s, which is part of the PRIMARY KEY in SQLite", t.info.Name, connector.QuoteName(name))
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
	change := &Change{Keys: len(key.Columns)}
	var cols []types.Column
	if key.Columns == nil {
		change.Keys, change.Rowid = 1, t.info.Rowid
		cols = append(cols, types.Column{Name: t.info.Rowid, Type: key.Rowid})
	}
	for _, i := range key.Columns {
		cols = append(cols, t.schema.Columns[i])
	}
	for _, i := range m.Set {
		col := t.schema.Columns[i]
		had, ok := t.info.column(col.Name)
		if ok && had.Generated {
			return nil, &connector.ColumnError{Column: col.Name, Msg: fmt.Sprintf("table %s: column %s is computed by SQLite and cannot be written", t.info.Name, col.Name)}
		}
		if fault := writeFault(col.Type, affinityOf(had.Declared)); fault != "" {
			return nil, &connector.ColumnError{Column: col.Name, Msg: fmt.Sprintf("table %s, column %s (declared %s): %s", t.info.Name, col.Name, had.Declared, fault)}
		}
		cols = append(cols, col)
	}
	tx := NewTransaction(Target{Store: t.store, Table: t.info.Name, Columns: cols, Change: change, ReadsSame: true})
	tx.table = t
	return tx, nil
}

// written are the columns that get values.
func (t *Transaction) written() []types.Column {
	if t.target.Change != nil {
		return t.target.Columns[t.target.Change.Keys:]
	}
	return t.target.Columns
}

// checkKey makes sure that rows are still told apart as they were read.
func (t *Transaction) checkChange(info *TableInfo) error {
	change := t.target.Change
	if change.Rowid != "" && info.Rowid == change.Rowid {
		return nil
	}
	var key []string
	for _, c := range t.target.Columns[:change.Keys] {
		key = append(key, c.Name)
	}
	if change.Rowid != "" || !sameNames(key, info.PrimaryKey) {
		return fmt.Errorf("table %s has another key since another session changed it; nothing was changed", info.Name)
	}
	return nil
}

// prepareChange returns the statement that takes rows from the feed, and makes the temporary table where it is one
// that fills that.
func (t *Transaction) prepareChange(feed string) (string, error) {
	sql, err := t.atOnce(feed)
	if err != nil || sql != "" {
		t.changes = sql != ""
		t.conn.setLastRowid(noRowid)
		return sql, err
	}
	change := t.target.Change
	var lines, key, cells []string
	for i, c := range t.target.Columns {
		had, _ := t.info.column(c.Name)
		declared := affinityName(affinityOf(had.Declared))
		if i >= change.Keys {
			lines = append(lines, fmt.Sprintf("v%d %s", i-change.Keys, declared))
		} else if key = append(key, fmt.Sprintf("k%d", i)); change.Rowid != "" {
			lines = append(lines, "k0 INTEGER PRIMARY KEY")
		} else {
			lines = append(lines, key[i]+" "+declared)
		}
		cells = append(cells, fmt.Sprintf("c%d", i))
	}
	if change.Rowid == "" {
		lines = append(lines, "PRIMARY KEY ("+strings.Join(key, ", ")+")")
	}
	if err := t.conn.Exec("CREATE TEMP TABLE _sluice_rows (" + strings.Join(lines, ", ") + ")"); err != nil {
		return "", err
	}
	return "INSERT INTO " + changed + " SELECT " + strings.Join(cells, ", ") + " FROM " + Quote(feed), nil
}

// apply changes the rows that were collected, all of which have to be there. A cancel ends it.
func (t *Transaction) apply(ctx context.Context) error {
	if t.stored == 0 || t.changes {
		return t.sameRows()
	}
	deletes := len(t.written()) == 0
	sql, err := t.fastest()
	if err != nil {
		return err
	}
	counts := !deletes && t.info.conflictClause() // REPLACE takes other rows' place
	before, after := int64(0), int64(0)
	count := "SELECT count(*) FROM main." + Quote(t.target.Table)
	if counts {
		if before, err = t.conn.Int(count); err != nil {
			return err
		}
	}
	t.conn.setLastRowid(noRowid)
	if err := t.conn.whole(func() error { return t.conn.execUntil(ctx, sql) }); err != nil {
		return t.changeError(ctx, err)
	}
	n := t.conn.Changes()
	if err := t.sameRows(); err != nil {
		return err
	}
	if deletes && n != t.stored && (t.keys || len(t.info.Triggers) > 0) { // which may have been faster
		left, err := t.conn.Int(strings.Replace(t.changeSQL(false), "DELETE FROM", "SELECT count(*) FROM", 1))
		if err != nil {
			return err
		}
		n = t.stored - left
	}
	if n != t.stored {
		return t.unchanged(t.stored - n)
	}
	if counts {
		if after, err = t.conn.Int(count); err == nil && after < before {
			err = fmt.Errorf("%s other rows would have been lost: table %s has the clause ON CONFLICT REPLACE, and the rows changed would have taken their place", groups(before-after), t.target.Table)
		}
	}
	return err
}

// sameRows makes sure that no row was inserted instead of changed. What triggers insert does not show here.
func (t *Transaction) sameRows() error {
	if t.stored > 0 && t.conn.LastRowid() != noRowid {
		return fmt.Errorf("table %s: rows to change were not there any more; nothing was changed", t.target.Table)
	}
	return nil
}

// unchanged is the error of rows that were to be changed and were not.
func (t *Transaction) unchanged(lost int64) error {
	verb := "changed"
	if len(t.written()) == 0 {
		verb = "deleted"
	}
	why := t.info.triggerText()
	switch {
	case len(t.info.Triggers) > 0:
	case t.info.conflictClause():
		why = "table " + t.info.Name + " has the clause ON CONFLICT REPLACE or IGNORE"
	case t.target.Change.Rowid == "":
		why = "their PRIMARY KEY was not found again as it was read: is it kept in another form than that of its type?"
	}
	return fmt.Errorf("%s of %s rows were not %s; %s", groups(lost), groups(t.stored), verb, why)
}

// isAll reports whether the rows to delete are all that the table has, where that is seen without counting: when they
// are as many as the rowids between the table's first and its last, and begin and end with those.
func (t *Transaction) isAll() (bool, error) {
	id := t.target.Change.Rowid
	if id == "" {
		return false, nil
	}
	id, table := Quote(id), "main."+Quote(t.target.Table)
	rows, err := t.conn.Rows("SELECT (SELECT min(" + id + ") FROM " + table + "), (SELECT max(" + id + ") FROM " + table + "), (SELECT min(k0) FROM " + changed + "), (SELECT max(k0) FROM " + changed + ")")
	if err != nil {
		return false, err
	}
	first, ok := rows[0][0].(int64)
	last, _ := rows[0][1].(int64)
	return ok && rows[0][2] == first && rows[0][3] == last && uint64(last)-uint64(first) == uint64(t.stored)-1, nil
}

// changeError names the row at which the statement failed. SQLite does not say: the rows are changed again, in
// steps, in the transaction that is lost anyway.
func (t *Transaction) changeError(ctx context.Context, err error) error {
	var own *Error
	if !errors.As(err, &own) || own.Primary() != codeConstraint {
		return err
	}
	e := &RowError{Table: t.target.Table, Msg: own.Msg, Err: own}
	if !t.conn.InTransaction() {
		return e
	}
	some := t.changeSQL(true)
	at, step := int64(-1)<<63, copyStep
	for {
		// The range holds the next rows, step of them at most.
		rows, err := t.conn.Rows("SELECT min(r), max(r) FROM (SELECT rowid AS r FROM "+changed+" WHERE rowid >= ?1 ORDER BY rowid LIMIT ?2)", at, step)
		if err != nil || rows[0][0] == nil {
			return e
		}
		from, _ := rows[0][0].(int64)
		to, _ := rows[0][1].(int64)
		again := t.conn.whole(func() error { return t.conn.execUntil(ctx, some, from, to) })
		switch {
		case !t.conn.InTransaction(): // whatever follows would commit
			return e
		case again == nil:
			if to == 1<<63-1 {
				return e
			}
			at = to + 1
		case primary(again) != codeConstraint:
			return e
		case step > 1:
			step = 1
		default:
			e.Key = t.changedKey(from)
			e.Msg = wordConstraint(own, t.changedValues(own, from))
			return e
		}
	}
}

// changedKey names a row of the temporary table.
func (t *Transaction) changedKey(row int64) string {
	if t.target.Change.Rowid != "" {
		return fmt.Sprintf("rowid %d", row)
	}
	var list []string
	for i, c := range t.target.Columns[:t.target.Change.Keys] {
		text, err := t.conn.Text(fmt.Sprintf("SELECT quote(k%d) FROM %s WHERE rowid = ?1", i, changed), row)
		if err != nil {
			return ""
		}
		list = append(list, c.Name+" = "+clip(text, 60))
	}
	return "key " + strings.Join(list, ", ")
}

// changedValues returns the values, with those that the row was to get, of the columns that a message names.
func (t *Transaction) changedValues(own *Error, row int64) string {
	var values, keys []string
	for i := range t.target.Change.Keys {
		keys = append(keys, fmt.Sprintf("k%d", i))
	}
	set := t.written()
	columns := make([]string, 0, len(t.info.Columns))
	for _, c := range t.info.Columns {
		columns = append(columns, c.Name)
	}
	for _, name := range columns {
		if !mentions(own.Msg, t.target.Table+"."+name) {
			continue
		}
		sql := "SELECT quote(" + Quote(name) + ") FROM main." + Quote(t.target.Table) + " WHERE (" + t.keyNames() +
			") IN (SELECT " + strings.Join(keys, ", ") + " FROM " + changed + " WHERE rowid = ?1)"
		if i := slices.IndexFunc(set, func(c types.Column) bool { return c.Name == name }); i >= 0 {
			sql = fmt.Sprintf("SELECT quote(v%d) FROM %s WHERE rowid = ?1", i, changed)
		}
		text, err := t.conn.Text(sql, row)
		if err != nil {
			return ""
		}
		values = append(values, name+" = "+clip(text, 60))
	}
	return strings.Join(values, ", ")
}
