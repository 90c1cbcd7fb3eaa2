package sqlite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-sql/sluice/types"
)

// uniqueKey is an index over the columns of the primary key, be it that of the key itself or another: an ON CONFLICT
// that names the columns is answered by any of them, whatever its collations.
type uniqueKey struct {
	name       string
	origin     string            // pk, u (a UNIQUE constraint) or c (CREATE INDEX)
	collations map[string]string // of each column
}

// readUniques notes the indexes that an ON CONFLICT with the primary key's columns may mean, and the columns of another
// UNIQUE constraint. A rowid has no index.
func (t *TableInfo) readUniques(c *Conn) error {
	if len(t.PrimaryKey) == 0 || t.View || t.Virtual {
		return nil
	}
	rows, err := c.Rows(`SELECT l.name, l.origin, x.name, x.coll FROM pragma_index_list(?1, 'main') AS l, pragma_index_xinfo(l.name, 'main') AS x
		WHERE l."unique" AND NOT l.partial AND x.key ORDER BY l.seq, x.seqno`, t.Name)
	if err != nil {
		return err
	}
	for len(rows) > 0 {
		k := uniqueKey{collations: map[string]string{}}
		k.name, _ = rows[0][0].(string)
		k.origin, _ = rows[0][1].(string)
		var columns []string
		for len(rows) > 0 && rows[0][0] == k.name {
			name, _ := rows[0][2].(string) // NULL for an expression, which is no column of a key
			k.collations[name], _ = rows[0][3].(string)
			columns = append(columns, name)
			rows = rows[1:]
		}
		switch {
		case sameNames(columns, t.PrimaryKey):
			t.uniques = append(t.uniques, k)
		case k.origin == "u":
			t.beside = columns
		}
	}
	return nil
}

// resolves reports that a constraint of the table's statement has a clause by which SQLite itself replaces rows, or
// drops them.
func (t *TableInfo) resolves() bool {
	words := bareWords(t.SQL)
	for i := 2; i < len(words); i++ {
		if words[i-2] == "ON" && words[i-1] == "CONFLICT" && (words[i] == "REPLACE" || words[i] == "IGNORE") {
			return true
		}
	}
	return false
}

// replaceable says why a row cannot take the place of just that one which has its primary key. written are the columns
// that get values.
func (t *TableInfo) replaceable(written []types.Column) error {
	if t.beside != nil && t.resolves() {
		return fmt.Errorf("table %s: a row with another PRIMARY KEY could be overwritten or deleted, or not be stored: a UNIQUE constraint beside the PRIMARY KEY (%s) may have the clause ON CONFLICT REPLACE or IGNORE; CREATE TABLE another without the clause, and INSERT the rows INTO it",
			t.Name, strings.Join(t.beside, ", "))
	}
	for _, k := range t.uniques {
		for _, name := range t.PrimaryKey {
			collation := k.collations[name]
			if !t.holdsText(name, written) || strings.EqualFold(collation, "BINARY") {
				continue
			}
			where, remedy := "the PRIMARY KEY", "SQLite alters no key: CREATE TABLE another whose key has the collation BINARY, as those of Sluice have, and INSERT the rows INTO it"
			switch k.origin {
			case "u":
				where = "a UNIQUE constraint"
			case "c":
				where, remedy = "the unique index "+k.name, "DROP INDEX "+Quote(k.name)+" in SQLite's own shell has them told apart"
			}
			return fmt.Errorf("table %s: a row with another PRIMARY KEY could be overwritten or deleted: column %s of %s has the collation %s, under which texts are equal that differ here, such as 'a' and 'A', or 'a' and 'a '; %s",
				t.Name, name, where, collation, remedy)
		}
	}
	return nil
}

// holdsText reports whether a column has texts, which alone a collation compares.
func (t *TableInfo) holdsText(name string, written []types.Column) bool {
	c, _ := t.column(name)
	if i := slices.IndexFunc(written, func(w types.Column) bool { return w.Name == name }); i >= 0 {
		c.Type = written[i].Type
	}
	return c.Type.Kind == types.Char || c.Type.Kind == types.VarChar || c.Type.Kind == types.Null // declared without a type
}

// byKey returns columns of the primary key to be compared as its index does, which may have other collations than the
// columns themselves. It says so where a COLLATE was written only: SQLite does not use the index of several columns then.
func (t *TableInfo) byKey(names []string) string {
	if !strings.Contains(strings.ToUpper(t.SQL), "COLLATE") {
		return quoteAll(names)
	}
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = Quote(name)
		for _, k := range t.uniques {
			if k.origin == "pk" {
				list[i] += " COLLATE " + Quote(k.collations[name])
			}
		}
	}
	return strings.Join(list, ", ")
}
