package sqlite

import (
	"fmt"
	"math"
	"strings"
)

// The statements by which the rows of the temporary table of an UPDATE or DELETE are changed.

// noRowid is a rowid that no row changed by an INSERT leaves behind: that of none.
const noRowid = math.MinInt64

// changeSQL returns the statement that changes the rows of the temporary table, those of a range of its rowids ?1 to
// ?2 or all.
func (t *Transaction) changeSQL(ranged bool) string {
	change := t.target.Change
	var keys, same []string
	table := "main." + Quote(t.target.Table)
	for i, c := range t.target.Columns[:change.Keys] {
		k := fmt.Sprintf("k%d", i)
		keys = append(keys, k)
		same = append(same, "r."+k+" = "+Quote(t.target.Table)+"."+Quote(c.Name))
	}
	where := " WHERE (" + t.keyNames() + ") IN (SELECT " + strings.Join(keys, ", ") + " FROM " + changed
	if ranged {
		where += " WHERE rowid BETWEEN ?1 AND ?2"
	}
	where += ")"
	set := t.written()
	if len(set) == 0 {
		return "DELETE FROM " + table + where
	}
	var to, values []string
	for i, c := range set {
		to, values = append(to, Quote(c.Name)), append(values, fmt.Sprintf("r.v%d", i))
	}
	return "UPDATE " + table + " SET (" + strings.Join(to, ", ") + ") = (SELECT " + strings.Join(values, ", ") +
		" FROM " + changed + " AS r WHERE " + strings.Join(same, " AND ") + ")" + where
}

// keyNames are the columns that tell the row to change.
func (t *Transaction) keyNames() string {
	if id := t.target.Change.Rowid; id != "" {
		return Quote(id)
	}
	var names []string
	for _, c := range t.target.Columns[:t.target.Change.Keys] {
		names = append(names, c.Name)
	}
	return t.info.byKey(names)
}

// fastest returns the statement that changes all rows with the least work, to the same effect as that of changeSQL.
func (t *Transaction) fastest() (string, error) {
	if len(t.written()) == 0 {
		all, err := t.isAll()
		if err == nil && all { // SQLite then frees the table's pages as they are
			return "DELETE FROM main." + Quote(t.target.Table), nil
		}
		return t.changeSQL(false), err
	}
	sql, err := t.collisions(changed, func(i int) string {
		if i == 0 {
			return "k0"
		}
		return fmt.Sprintf("v%d", i-1)
	})
	if err == nil && sql == "" {
		sql = t.changeSQL(false)
	}
	return sql, err
}

// collisions returns an INSERT whose every row finds its rowid taken and changes the row that has it, "" for a table
// where that could do anything else. It goes through the two tables side by side; an UPDATE with a subquery, or FROM
// another table, makes a third one of the rows first. A NOT NULL column that is not set gets a value that is used for
// nothing: SQLite looks at NULLs, CHECKs and types before rowids, and at what is unique behind. The rows come from a
// table, whose column of the target's ith is cell(i).
func (t *Transaction) collisions(from string, cell func(i int) string) (string, error) {
	if t.target.Change.Rowid == "" || t.keys || len(t.info.Triggers) > 0 {
		return "", nil
	}
	for _, clause := range clausesOf(t.info.SQL) {
		if clause != "COLLATE" {
			return "", nil
		}
	}
	strict, err := t.conn.Int(`SELECT strict FROM pragma_table_list WHERE "schema" = 'main' AND name = ?1`, t.info.Name)
	if err != nil || strict != 0 {
		return "", err
	}
	into, values, taken := []string{Quote(t.target.Change.Rowid)}, []string{cell(0)}, []string{}
	sets := map[string]bool{}
	for i, c := range t.written() {
		name := Quote(c.Name)
		sets[c.Name] = true
		into, values, taken = append(into, name), append(values, cell(i+1)), append(taken, name+" = excluded."+name)
	}
	rows, err := t.conn.Rows(`SELECT name, "notnull", pk, dflt_value FROM pragma_table_xinfo(?1, 'main')`, t.info.Name)
	if err != nil {
		return "", err
	}
	for _, r := range rows {
		name, _ := r[0].(string)
		c, _ := t.info.column(name)
		switch {
		case c.Generated, sets[name] && r[2] != int64(0):
			return "", nil
		case r[1] == int64(1) && r[2] == int64(0) && !sets[name]:
			into, values = append(into, Quote(name)), append(values, "0")
		case r[1] == int64(1) && r[2] != int64(0) && (!c.Default || r[3] != nil):
			return "", nil // a key that is not the rowid
		}
	}
	return "INSERT INTO main." + Quote(t.target.Table) + " (" + strings.Join(into, ", ") + ") SELECT " + strings.Join(values, ", ") +
		" FROM " + from + " WHERE true ON CONFLICT (" + into[0] + ") DO UPDATE SET " + strings.Join(taken, ", "), nil
}

// atOnce returns the statement that changes rows as they come from the feed, "" where they have to be collected: in a
// rollback-journal file, which the job still reads, and where the order of the rows could matter or one of them fail.
// Readers of a WAL file see what was there when they began.
func (t *Transaction) atOnce(feed string) (string, error) {
	if !t.before.wal || len(t.written()) == 0 {
		return "", nil
	}
	unique, err := t.conn.Int(`SELECT count(*) FROM pragma_index_list(?1, 'main') WHERE "unique" AND origin <> 'pk'`, t.info.Name)
	if err != nil || unique > 0 {
		return "", err
	}
	for _, c := range t.written() {
		notNull, err := t.conn.Int(`SELECT "notnull" FROM pragma_table_xinfo(?1, 'main') WHERE name = ?2`, t.info.Name, c.Name)
		if err != nil || notNull != 0 {
			return "", err
		}
	}
	return t.collisions(Quote(feed), func(i int) string { return fmt.Sprintf("c%d", i) })
}
