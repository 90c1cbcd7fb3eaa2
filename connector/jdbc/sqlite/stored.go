package sqlite

import (
	"context"
	"fmt"
	"strings"
)

// lock takes the write lock on c. Foreign keys of a table to write into are enforced, and those that refer to a table
// whose rows go or change, which SQLite does not do unless told, and must be told outside of a transaction; they are
// checked when all rows are there.
func (t *Transaction) lock(ctx context.Context, c *Conn) error {
	for {
		if err := beginImmediate(ctx, c); err != nil || t.target.Create != nil {
			return err
		}
		keys, err := c.Int("SELECT count(*) FROM pragma_foreign_key_list(?1)", t.target.Table)
		if err == nil && (t.target.Overwrite || t.target.Change != nil) {
			var refs []reference
			refs, err = c.references(t.target.Table)
			keys += int64(len(refs))
		}
		if err != nil {
			return err
		}
		on, err := c.Int("PRAGMA foreign_keys")
		if err != nil {
			return err
		}
		if t.keys = keys > 0; !t.keys {
			return nil
		}
		if on == 1 {
			return c.Exec("PRAGMA defer_foreign_keys = ON")
		}
		for _, sql := range []string{"ROLLBACK", "PRAGMA foreign_keys = ON"} {
			if err := c.Exec(sql); err != nil {
				return err
			}
		}
	}
}

// countRows notes how many rows a table has that may lose rows without saying so: by a trigger that
// deletes, or by a clause that replaces. It costs a scan, there only.
func (t *Transaction) countRows() (err error) {
	t.counted = t.target.Create == nil && t.target.Change == nil && !t.mayDrop() && t.target.Key == nil && (len(t.info.Triggers) > 0 || t.info.conflictClause())
	if t.counted {
		t.rowsBefore, err = t.conn.Int("SELECT count(*) FROM main." + Quote(t.target.Table))
	}
	return err
}

// checkStored makes sure that the rows that SQLite took are there, each a row of its own, and have the
// parents that foreign keys ask for.
func (t *Transaction) checkStored() error {
	if t.counted {
		now, err := t.conn.Int("SELECT count(*) FROM main." + Quote(t.target.Table))
		if err != nil {
			return err
		}
		if kept := now - t.rowsBefore; kept < t.stored {
			return t.lostRows(t.stored-kept, t.stored, true)
		}
	}
	if t.keys && t.conn.brokenKeys() {
		return t.orphan()
	}
	return nil
}

// conflictClause reports whether the table's statement may have a clause ON CONFLICT.
func (t *TableInfo) conflictClause() bool {
	return strings.Contains(strings.ToUpper(t.SQL), "CONFLICT")
}

// lostRows is the error of rows that were sent and are not there; replaced says that they may have taken
// the place of others.
func (t *Transaction) lostRows(lost, sent int64, replaced bool) error {
	why := "the table has no triggers"
	if t.info != nil {
		why = t.info.triggerText()
		if len(t.info.Triggers) == 0 && t.info.conflictClause() {
			why = "table " + t.info.Name + " has the clause ON CONFLICT REPLACE or IGNORE"
			option := "ignore"
			if replaced {
				option = "update"
			}
			if len(t.info.PrimaryKey) > 0 {
				why += fmt.Sprintf("; 'sink.on-conflict' = '%s' allows it for the primary key", option)
			}
		}
	}
	what := "were not stored"
	if replaced && t.info != nil && len(t.info.Triggers) == 0 {
		what += ", or took the place of others"
	}
	return fmt.Errorf("%s of %s rows %s; %s", groups(lost), groups(sent), what, why)
}

// orphan names a row whose foreign key finds no parent: of those that the file has, the last.
func (t *Transaction) orphan() error {
	e := &RowError{Table: t.target.Table, Msg: "FOREIGN KEY constraint failed"}
	rows, err := t.conn.Rows(`SELECT "rowid", "parent", fkid FROM pragma_foreign_key_check(?1) ORDER BY 1 DESC LIMIT 1`, t.target.Table)
	if err == nil && len(rows) == 0 {
		return t.childless(e)
	}
	if err != nil {
		return e
	}
	parent, _ := rows[0][1].(string)
	e.Msg += ": a row has no parent in table " + parent
	if rows[0][0] == nil || t.info.Rowid == "" {
		return e
	}
	keys, err := t.conn.Rows(`SELECT "from", coalesce("to", (SELECT name FROM pragma_table_info(?3) WHERE pk = seq + 1)) FROM pragma_foreign_key_list(?1) WHERE id = ?2 ORDER BY seq`,
		t.target.Table, rows[0][2], parent)
	if err != nil {
		return e
	}
	var has, of []string
	for _, k := range keys {
		from, _ := k[0].(string)
		to, _ := k[1].(string)
		value, err := t.conn.Text("SELECT quote("+Quote(from)+") FROM main."+Quote(t.target.Table)+" WHERE "+Quote(t.info.Rowid)+" = ?1", rows[0][0])
		if err != nil {
			return e
		}
		has = append(has, to+" = "+clip(value, 60))
		of = append(of, from)
	}
	e.Msg = fmt.Sprintf("FOREIGN KEY constraint failed: no row of table %s has %s (%s of table %s)", parent, strings.Join(has, ", "), strings.Join(of, ", "), t.target.Table)
	return e
}

// childless names rows of other tables that refer to rows of this one which are gone.
func (t *Transaction) childless(e *RowError) error {
	refs, err := t.conn.references(t.target.Table)
	if err != nil {
		return e
	}
	for _, r := range refs {
		rows, err := t.conn.Rows(`SELECT count(*), min("rowid") FROM pragma_foreign_key_check(?1) WHERE "parent" = ?2 COLLATE NOCASE`, r.table, t.target.Table)
		if err != nil {
			return e
		}
		if n, _ := rows[0][0].(int64); n > 0 {
			e.Msg += fmt.Sprintf(": rows of table %s refer to rows that would be gone: %s", r.table, groups(n))
			if id, ok := rows[0][1].(int64); ok {
				e.Msg += fmt.Sprintf(", the first has the rowid %d", id)
			}
			return e
		}
	}
	return e
}
