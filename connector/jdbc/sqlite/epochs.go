package sqlite

import (
	"context"
	"fmt"

	"github.com/sluice-sql/sluice/connector"
)

var _ connector.EpochChecker = (*Transaction)(nil)

// checkKey refuses a primary key by which SQLite takes different texts for the same.
func (t *Transaction) checkKey(ctx context.Context) error {
	return t.target.Store.Read(ctx, func(c *Conn) error { return binaryKey(c, t.target.Table) })
}

func binaryKey(c *Conn, table string) error {
	rows, err := c.Rows(`SELECT x.name, x.coll FROM pragma_index_list(?1, 'main') AS l, pragma_index_xinfo(l.name, 'main') AS x
		WHERE l.origin = 'pk' AND x.key = 1 AND x.coll <> 'BINARY'`, table)
	if err != nil || len(rows) == 0 {
		return err
	}
	return fmt.Errorf("table %s: column %s of the PRIMARY KEY has COLLATE %s, so that SQLite takes different texts for one key; rows cannot be replaced by it", table, rows[0][0], rows[0][1])
}

// CheckEpochs refuses a primary key that does not tell texts apart, and a streaming job that reads the file it writes, unless the file has a write-ahead log:
// with a rollback journal nothing can be committed while anybody reads, and the job reads all the time.
func (t *Transaction) CheckEpochs(ctx context.Context) error {
	if t.target.Key != nil {
		if err := t.checkKey(ctx); err != nil {
			return err
		}
	}
	if !t.target.ReadsSame {
		return nil
	}
	road, err := t.chooseRoad(ctx)
	if err != nil || road == direct {
		return err
	}
	return fmt.Errorf("a streaming job cannot read and write %s, which has a rollback journal: write to another file, "+
		"give this one a write-ahead log with PRAGMA journal_mode = WAL, or SET 'execution.runtime-mode' = 'batch'", t.target.Store.Path)
}
