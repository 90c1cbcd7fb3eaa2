package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
)

func overwrite(s *Store, reads bool) *Transaction {
	return NewTransaction(Target{Store: s, Table: "old", Columns: numbersSchema().Columns, Overwrite: true, ReadsSame: reads})
}

// TestOverwrite: the rows take the place of all that were there, on every road, and the table stays what it is; when
// it fails the old rows stay.
func TestOverwrite(t *testing.T) {
	for _, kind := range kinds[1:] {
		s := fileOf(t, kind)
		exe(t, s.Path, "CREATE INDEX i ON old (s)", "CREATE VIEW v AS SELECT * FROM old")
		before := one(t, s.Path, "SELECT group_concat(rowid || name || rootpage || sql, ';') FROM sqlite_schema")
		_, out, err := write(overwrite(s, false), failAfter(14))
		require.ErrorIs(t, err, errStop)
		require.Equal(t, connector.NotDone, out)
		require.Equal(t, "1a2b3c", one(t, s.Path, "SELECT group_concat(id || s, '') FROM old"))
		_, _, err = write(overwrite(s, false), batches(numbers(1, 10), numbers(5, 1)))
		require.ErrorContains(t, err, "duplicate key id = 5")
		require.Equal(t, "1a2b3c", one(t, s.Path, "SELECT group_concat(id || s, '') FROM old"))
		for _, n := range []int{3000, 5, 0} { // with keys that were there before
			rows, out, err := write(overwrite(s, false), batches(numbers(1, n)))
			require.NoError(t, err)
			require.Equal(t, connector.Done, out)
			require.EqualValues(t, n, rows)
			require.Equal(t, fmt.Sprint(n), one(t, s.Path, "SELECT count(*) FROM old"))
		}
		require.Equal(t, before, one(t, s.Path, "SELECT group_concat(rowid || name || rootpage || sql, ';') FROM sqlite_schema"))
		require.Equal(t, "ok", one(t, s.Path, "PRAGMA integrity_check"))
		require.Equal(t, []string{"shop.db"}, names(t, filepath.Dir(s.Path)))
	}
}

// TestOverwriteOfItself: INSERT OVERWRITE t SELECT a + 1 FROM t reads the old rows to the end.
func TestOverwriteOfItself(t *testing.T) {
	for kind, want := range map[string]road{"rollback journal": scratch, "wal": direct} {
		s := fileOf(t, kind)
		_, _, err := write(overwrite(s, false), batches(numbers(1, 30000)))
		require.NoError(t, err)
		for n := range 3 {
			start, next := plusOne(t, s.Path)
			tx := overwrite(s, true)
			started := false
			_, _, err = write(tx, func() (*column.Batch, error) {
				if !started {
					start()
					started = true
				}
				return next()
			})
			require.NoError(t, err)
			require.Equal(t, want, tx.road)
			require.Equal(t, fmt.Sprintf("30000 %d %d", n+2, n+30001), one(t, s.Path, "SELECT count(*) || ' ' || min(id) || ' ' || max(id) FROM old"))
		}
	}
}

// TestOverwriteOfChanged: rows computed from those of the table do not take the place of what another session has
// written meanwhile, nor does a table of them; those that were computed from others do.
func TestOverwriteOfChanged(t *testing.T) {
	for i := range 4 {
		itself, replaced := i%2 == 0, i/2 == 0
		s := fileOf(t, "rollback journal")
		tx := overwrite(s, true)
		if replaced {
			schema := numbersSchema()
			tx = NewTransaction(Target{Store: s, Table: "old", Columns: schema.Columns, Create: &schema, Replace: ReplaceOld, ReadsSame: true})
		}
		if itself {
			tx.ReadsTarget()
		}
		n := 0
		_, out, err := write(tx, func() (*column.Batch, error) {
			if n++; n == 1 {
				exe(t, s.Path, "INSERT INTO old (id, s) VALUES (77, 'rival')")
				return numbers(1, 10), nil
			}
			return nil, nil
		})
		require.Equal(t, scratch, tx.road)
		if itself {
			require.EqualError(t, err, s.Path+" was written by another session while the job read table old of it; nothing was stored, run the statement again")
			require.Equal(t, connector.NotDone, out)
			require.Equal(t, "1a2b3c77rival", one(t, s.Path, "SELECT group_concat(id || s, '') FROM old"))
		} else {
			require.NoError(t, err)
			require.Equal(t, "10", one(t, s.Path, "SELECT count(*) FROM old"))
		}
		require.Equal(t, []string{"shop.db"}, names(t, filepath.Dir(s.Path)))
	}
}

// TestOverwriteTriggers: triggers and foreign keys act as SQLite's own; what would change rows of other tables is
// refused, and rows that stay are an error.
func TestOverwriteTriggers(t *testing.T) {
	ctx := context.Background()
	for _, kind := range kinds[1:] {
		for _, c := range []struct{ make, want, after string }{
			{"CREATE TRIGGER g AFTER DELETE ON old BEGIN INSERT INTO log VALUES (OLD.id); END", "", "2,3,4 1,2,3"},
			{"CREATE TRIGGER g BEFORE DELETE ON old WHEN OLD.id = 1 BEGIN SELECT RAISE(IGNORE); END", "1 of the rows of table old were not removed; table old has triggers: g", "1,2,3 "},
			{"CREATE TRIGGER g BEFORE INSERT ON old WHEN NEW.id = 4 BEGIN SELECT RAISE(IGNORE); END", "1 of 3 rows were not stored; table old has triggers: g", "1,2,3 "},
			{"CREATE TABLE child (a REFERENCES old (id)); INSERT INTO child VALUES (2), (3)", "", "2,3,4 "},
			{"CREATE TABLE child (a REFERENCES old (id) ON DELETE RESTRICT); INSERT INTO child VALUES (1)", "table old: FOREIGN KEY constraint failed: rows of table child refer to rows that would be gone: 1, the first has the rowid 1", "1,2,3 "},
			{"CREATE TABLE child (a REFERENCES old (id) ON DELETE CASCADE)", "the rows of table old cannot all be removed, since that would change rows of others that refer to it: table child (FOREIGN KEY … ON DELETE CASCADE); change those first, or DELETE FROM the table", "1,2,3 "},
			{"CREATE TABLE child (a REFERENCES OLD (id) ON DELETE SET NULL)", "the rows of table old cannot all be removed, since that would change rows of others that refer to it: table child (FOREIGN KEY … ON DELETE SET NULL); change those first, or DELETE FROM the table", "1,2,3 "},
		} {
			s := fileOf(t, kind)
			exe(t, s.Path, "CREATE TABLE log (x)", c.make)
			_, _, err := write(overwrite(s, false), batches(numbers(2, 3)))
			if c.want == "" {
				require.NoError(t, err, c.make)
			} else {
				require.EqualError(t, err, c.want)
			}
			require.Equal(t, c.after, one(t, s.Path, "SELECT group_concat(id) || ' ' || (SELECT coalesce(group_concat(x), '') FROM log) FROM old"), c.make)
			tab, _ := openIn(t, s, "old")
			if err := tab.CheckOverwrite(ctx); err != nil {
				require.EqualError(t, err, c.want)
			}
		}
		s := fileOf(t, kind)
		exe(t, s.Path, "CREATE VIEW v AS SELECT * FROM old")
		tab, _ := openIn(t, s, "v")
		require.EqualError(t, tab.CheckOverwrite(ctx), "v is a view of SQLite; it cannot be written")
		require.EqualError(t, tab.Truncate(ctx), "v is a view of SQLite; it cannot be written")
	}
}

// TestTruncate: all rows go in one transaction, which waits for others and hears a cancel meanwhile.
func TestTruncate(t *testing.T) {
	ctx := context.Background()
	for _, kind := range kinds[1:] {
		s := fileOf(t, kind)
		exe(t, s.Path, "CREATE TABLE seq (id INTEGER PRIMARY KEY AUTOINCREMENT)", "INSERT INTO seq VALUES (7)", "CREATE INDEX i ON old (s)")
		for _, table := range []string{"old", "old", "seq"} {
			tab, _ := openIn(t, s, table)
			require.NoError(t, tab.Truncate(ctx))
			require.Equal(t, "0", one(t, s.Path, "SELECT count(*) FROM "+table))
		}
		require.Equal(t, "ok", one(t, s.Path, "PRAGMA integrity_check"))
		require.Equal(t, []string{"shop.db"}, names(t, filepath.Dir(s.Path)))

		s = fileOf(t, kind)
		exe(t, s.Path, "CREATE TABLE child (a REFERENCES old (id))", "INSERT INTO child VALUES (2), (NULL)")
		tab, _ := openIn(t, s, "old")
		require.EqualError(t, tab.Truncate(ctx), "table old: FOREIGN KEY constraint failed: rows of table child refer to rows that would be gone: 1, the first has the rowid 1")
		require.Equal(t, "3", one(t, s.Path, "SELECT count(*) FROM old"))
		exe(t, s.Path, "DELETE FROM child WHERE a = 2")
		release := hold(t, s.Path)
		short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		err := tab.Truncate(short)
		require.ErrorIs(t, err, context.DeadlineExceeded, kind)
		cancel()
		time.AfterFunc(50*time.Millisecond, release)
		require.NoError(t, tab.Truncate(ctx))
		require.Equal(t, "0", one(t, s.Path, "SELECT count(*) FROM old"))

		exe(t, s.Path, "INSERT INTO old VALUES (1, 'a')", "CREATE TRIGGER g BEFORE DELETE ON old BEGIN SELECT RAISE(IGNORE); END")
		require.EqualError(t, tab.Truncate(ctx), "1 of the rows of table old were not removed; table old has triggers: g")
		exe(t, s.Path, "DROP TABLE old")
		require.EqualError(t, tab.Truncate(ctx), "table old does not exist in "+s.Path+" any more")
	}
}
