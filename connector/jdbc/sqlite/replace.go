package sqlite

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-sql/sluice/internal/failpoint"
)

// Replace says what becomes of a table that has the name of the one to make.
type Replace uint8

// The ways.
const (
	ReplaceNever Replace = iota // the name has to be free
	ReplaceOld                  // there has to be one, which gives way
	ReplaceAny                  // one that is there gives way
)

// LostError says what a table to replace has that the new one would not have.
type LostError struct {
	Table string
	Lost  []string
}

// Error names each thing.
func (e *LostError) Error() string {
	const most = 5
	list := e.Lost
	if len(list) > most {
		list = append(slices.Clone(list[:most]), fmt.Sprintf("and %d more", len(list)-most))
	}
	return fmt.Sprintf("table %s cannot be replaced, the new table would not have what this one has: %s; drop that first, or INSERT OVERWRITE the table, which keeps it",
		e.Table, strings.Join(list, ", "))
}

// oldTable is a table to replace as it was found. A table made later has another identity, as far as the file
// tells: SQLite uses a root page and the number of a schema row again once they are free.
type oldTable struct {
	row, root int64
	sql       string
	version   int64 // of the schema: goes up with every change of it
	// next is the schema row behind this one, and nextName its name; 0 when this is the last. While it stands, a
	// table made anew comes behind it.
	next     int64
	nextName string
}

// findOld returns the table that is to give way, nil when there is none. A name that something else has, or
// a table in another case, is an *ExistsError.
func findOld(c *Conn, table string, how Replace) (*oldTable, error) {
	rows, err := c.Rows("SELECT rowid, rootpage, sql FROM main.sqlite_schema WHERE name = ?1 AND type = 'table'", table)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || Reserved(table) {
		if err := Taken(c, table); err != nil {
			return nil, err
		}
		if how == ReplaceOld {
			return nil, ErrNotThere
		}
		return nil, nil
	}
	old := &oldTable{}
	old.row, _ = rows[0][0].(int64)
	old.root, _ = rows[0][1].(int64)
	old.sql, _ = rows[0][2].(string)
	if old.version, err = c.Int("PRAGMA main.schema_version"); err != nil {
		return nil, err
	}
	rows, err = c.Rows("SELECT rowid, name FROM main.sqlite_schema WHERE rowid > ?1 AND tbl_name <> ?2 ORDER BY rowid LIMIT 1", old.row, table)
	if err == nil && len(rows) > 0 {
		old.next, _ = rows[0][0].(int64)
		old.nextName, _ = rows[0][1].(string)
	}
	return old, err
}

// still reports whether now is certainly the same table as before.
func (before *oldTable) still(now *oldTable, c *Conn) (bool, error) {
	switch {
	case before == nil || now == nil:
		return before == now, nil
	case before.version == now.version:
		return true, nil
	case before.row != now.row || before.root != now.root || before.sql != now.sql || before.next == 0:
		return false, nil
	}
	name, err := c.Text("SELECT name FROM main.sqlite_schema WHERE rowid = ?1", before.next)
	return err == nil && name == before.nextName, err
}

// CheckReplace says whether there is a table to replace, and refuses one that has what the new one would not.
// It returns ErrNotThere, *ExistsError and *LostError.
func CheckReplace(c *Conn, table string, how Replace) (found bool, err error) {
	old, err := findOld(c, table, how)
	if err != nil || old == nil {
		return false, err
	}
	lost, err := c.wouldLose(table, old.sql)
	if err == nil && len(lost) > 0 {
		err = &LostError{table, lost}
	}
	return true, err
}

// makeRoom drops the table to replace within the open transaction of c, which holds the write lock.
func (t *Transaction) makeRoom(c *Conn) error {
	found, err := CheckReplace(c, t.target.Table, t.target.Replace)
	if err == nil && found {
		err = c.Exec("DROP TABLE main." + Quote(t.target.Table))
	}
	if err == nil && failpoint.Mutant("drop-then-rename") {
		if err = c.Exec("COMMIT"); err == nil {
			err = c.Exec("BEGIN IMMEDIATE")
		}
	}
	return err
}

// noteOld notes the table to replace, or makes sure that it is the one noted before. Nothing has been written.
func (t *Transaction) noteOld(c *Conn, again bool) error {
	if t.target.Replace == ReplaceNever {
		return nil
	}
	old, err := findOld(c, t.target.Table, t.target.Replace)
	if again && (errors.Is(err, ErrNotThere) || errors.As(err, new(*ExistsError))) {
		return ErrChanged
	}
	if err != nil {
		return err
	}
	if again {
		same, err := t.old.still(old, c)
		if err != nil {
			return err
		}
		if !same {
			return ErrChanged
		}
	}
	t.old = old
	return nil
}

// wouldLose lists what belongs to a table, or goes by its name, and would not be there, or be something else, once
// another table has the name.
func (c *Conn) wouldLose(table, sql string) ([]string, error) {
	var lost []string
	for _, f := range []func(table string) ([]string, error){c.kindOf, c.extrasOf, c.indexesOf, c.keysTo, c.readersOf} {
		more, err := f(table)
		if err != nil {
			return nil, err
		}
		lost = append(lost, more...)
	}
	return append(lost, clausesOf(sql)...), nil
}

// kindOf says what is special about the table as a whole.
func (c *Conn) kindOf(table string) (list []string, err error) {
	rows, err := c.Rows(`SELECT type, wr, strict FROM pragma_table_list WHERE "schema" = 'main' AND name = ?1`, table)
	for _, r := range rows {
		switch r[0] {
		case "virtual":
			list = append(list, "its being a virtual table")
		case "shadow":
			list = append(list, "its being part of a virtual table")
		}
		if r[1] == int64(1) {
			list = append(list, "WITHOUT ROWID")
		}
		if r[2] == int64(1) {
			list = append(list, "STRICT")
		}
	}
	return list, err
}

// extrasOf lists what columns have beyond type, NOT NULL and key, and the foreign keys of the table.
func (c *Conn) extrasOf(table string) (list []string, err error) {
	rows, err := c.Rows("SELECT name, dflt_value, hidden FROM pragma_table_xinfo(?1, 'main') ORDER BY cid", table)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		name, _ := r[0].(string)
		if r[1] != nil {
			list = append(list, "DEFAULT of column "+name)
		}
		if hidden, _ := r[2].(int64); hidden >= 2 {
			list = append(list, "generated column "+name)
		}
	}
	rows, err = c.Rows(`SELECT DISTINCT "table" FROM pragma_foreign_key_list(?1, 'main') ORDER BY 1`, table)
	for _, r := range rows {
		parent, _ := r[0].(string)
		list = append(list, "FOREIGN KEY to table "+parent)
	}
	return list, err
}

// indexesOf lists indexes that are not the primary key's.
func (c *Conn) indexesOf(table string) (list []string, err error) {
	rows, err := c.Rows("SELECT name, origin FROM pragma_index_list(?1, 'main') WHERE origin <> 'pk' ORDER BY seq DESC", table)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		name, _ := r[0].(string)
		if r[1] == "c" {
			list = append(list, "index "+name)
			continue
		}
		cols, err := c.Rows("SELECT name FROM pragma_index_info(?1, 'main') ORDER BY seqno", name)
		if err != nil {
			return nil, err
		}
		var of []string
		for _, r := range cols {
			col, _ := r[0].(string)
			of = append(of, col)
		}
		list = append(list, "UNIQUE ("+strings.Join(of, ", ")+")")
	}
	return list, nil
}

// keysTo lists the foreign keys of other tables that refer to the table.
func (c *Conn) keysTo(table string) (list []string, err error) {
	refs, err := c.references(table)
	for _, r := range refs {
		if !strings.EqualFold(r.table, table) {
			list = append(list, "FOREIGN KEY of table "+r.table)
		}
	}
	return slices.Compact(list), err
}

// reference is a foreign key of some table that refers to another.
type reference struct{ table, onDelete, onUpdate string }

// references returns the foreign keys that refer to a table, its own among them.
func (c *Conn) references(table string) (list []reference, err error) {
	rows, err := c.Rows(`SELECT DISTINCT m.name, f.on_delete, f.on_update FROM main.sqlite_schema AS m, pragma_foreign_key_list(m.name, 'main') AS f
		WHERE m.type = 'table' AND f."table" = ?1 COLLATE NOCASE ORDER BY m.name`, table)
	for _, r := range rows {
		var f reference
		f.table, _ = r[0].(string)
		f.onDelete, _ = r[1].(string)
		f.onUpdate, _ = r[2].(string)
		list = append(list, f)
	}
	return list, err
}

// readersOf lists the triggers on a table, and the views and other tables' triggers that use it, themselves or
// by way of views.
func (c *Conn) readersOf(table string) (list []string, err error) {
	rows, err := c.Rows("SELECT type, name, tbl_name FROM main.sqlite_schema WHERE type IN ('view', 'trigger') ORDER BY type = 'trigger', name")
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, r := range rows {
		kind, _ := r[0].(string)
		name, _ := r[1].(string)
		on, _ := r[2].(string)
		switch {
		case kind == "view":
			uses, err := c.uses("SELECT * FROM main."+Quote(name), table)
			if err != nil {
				return nil, err
			}
			if len(uses) > 0 {
				list = append(list, "view "+name)
			}
		case strings.EqualFold(on, table):
			list = append(list, "trigger "+name)
		case !seen[on]:
			seen[on] = true
			more, err := c.triggersUsing(on, table)
			if err != nil {
				return nil, err
			}
			list = append(list, more...)
		}
	}
	return list, nil
}

// triggersUsing lists the triggers on a table or view that use another table.
func (c *Conn) triggersUsing(on, table string) (list []string, err error) {
	writes, err := c.writesOf(on)
	if err != nil {
		return nil, err
	}
	for _, sql := range writes {
		uses, err := c.uses(sql, table)
		if err != nil {
			return nil, err
		}
		for _, u := range uses {
			if u != "" {
				list = append(list, "trigger "+u)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// clausesOf lists the clauses of a CREATE TABLE statement that no PRAGMA tells of.
func clausesOf(sql string) (list []string) {
	words := bareWords(sql)
	for i, w := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch {
		case w == "CHECK", w == "AUTOINCREMENT":
			list = append(list, w)
		case w == "COLLATE" && next != "BINARY":
			list = append(list, w)
		case w == "ON" && next == "CONFLICT":
			list = append(list, "ON CONFLICT")
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// bareWords returns the words of a statement in capitals, quoted ones as "", without texts and comments.
func bareWords(sql string) (words []string) {
	for i := 0; i < len(sql); {
		end := i + 1
		switch ch := sql[i]; {
		case ch == '\'' || ch == '"' || ch == '`' || ch == '[':
			if ch == '[' {
				ch = ']'
			}
			if n := strings.IndexByte(sql[i+1:], ch); n >= 0 {
				end = i + n + 2
			} else {
				end = len(sql)
			}
			words = append(words, "")
		case strings.HasPrefix(sql[i:], "--"):
			if n := strings.IndexByte(sql[i:], '\n'); n >= 0 {
				end = i + n
			} else {
				end = len(sql)
			}
		case strings.HasPrefix(sql[i:], "/*"):
			if n := strings.Index(sql[i+2:], "*/"); n >= 0 {
				end = i + n + 4
			} else {
				end = len(sql)
			}
		case wordByte(ch):
			for end < len(sql) && wordByte(sql[end]) {
				end++
			}
			words = append(words, strings.ToUpper(sql[i:end]))
		}
		i = end
	}
	return words
}

func wordByte(b byte) bool {
	return b == '_' || b == '$' || b >= 0x80 || b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z'
}
