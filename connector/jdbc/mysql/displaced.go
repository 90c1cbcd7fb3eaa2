package mysql

import (
	"context"
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
)

// KeptError says that a table which was replaced is kept, since it has what would be lost with it.
type KeptError struct {
	Table         string // that was replaced, "" where nobody knows any more
	Database, Old string // where the old one is
	Has           string
}

// Error says what to do.
func (e *KeptError) Error() string {
	what := "a table of database " + e.Database
	if e.Table != "" {
		what = "table " + e.Database + "." + e.Table
	}
	return fmt.Sprintf("%s is replaced, but the old one has got %s, which would be lost with it: it is kept as %s; take from it what is needed, then DROP TABLE it on the server",
		what, e.Has, qualified(e.Database, e.Old))
}

// dropOwn drops a table of a job. The table that was replaced had nothing to lose when it was looked at; what it has
// got between that look and the RENAME is not dropped with it.
func (c *conn) dropOwn(ctx context.Context, database string, job connector.JobID, ending, replaced string) error {
	name := ownName(job, ending)
	keep := func(has string) error { return &KeptError{replaced, database, name, has} }
	if ending == displacedName {
		old, _, err := c.describe(ctx, database, name)
		if err != nil || old == nil {
			return err
		}
		// Its own definition is no loss but for what no definition of ours has.
		info := old.info()
		loses, err := c.wouldLose(ctx, old, server.Definition{Schema: info.Schema, Comment: info.Comment, Comments: info.Comments})
		if err != nil {
			return err
		}
		if len(loses) > 0 {
			return keep(strings.Join(loses, ", "))
		}
	}
	_, err := c.exec(ctx, "DROP TABLE IF EXISTS "+qualified(database, name))
	if ending == displacedName && isReferenced(err) {
		return keep("foreign keys of other tables")
	}
	return err
}

// isReferenced reports that a table is not dropped because foreign keys of others lead to it.
func isReferenced(err error) bool {
	switch numberOf(err) {
	case errRowReferenced, 1217, 3730:
		return true
	}
	return false
}
