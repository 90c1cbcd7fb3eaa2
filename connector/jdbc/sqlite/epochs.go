package sqlite

import (
	"context"
	"fmt"

	"github.com/sluice-sql/sluice/connector"
)

var _ connector.EpochChecker = (*Transaction)(nil)

// CheckEpochs refuses a streaming job that reads the file it writes, unless the file has a write-ahead log:
// with a rollback journal nothing can be committed while anybody reads, and the job reads all the time.
func (t *Transaction) CheckEpochs(ctx context.Context) error {
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
